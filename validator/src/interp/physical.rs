//! Physical pointers (SPIR-V, PhysicalStorageBuffer): addresses, which are looked up at the access.

use super::chain::Way;
use super::machine::{fault, Machine, Step};
use super::{PhysicalPointer, Pointer, Stop};
use crate::event::{UndefinedKind, INDEX_OUT_OF_BOUNDS};
use crate::ir::{Chain, Decorations, Line, Operand};
use crate::value::Scalar;

impl Machine<'_> {
    fn physical(&self, operand: Operand) -> Option<PhysicalPointer> {
        PhysicalPointer::decode([self.value(operand), self.value(operand.offset(1))])
    }

    /// The object and the offset that an address stands for.
    pub(super) fn resolve_physical(&self, operand: Operand, line: Line) -> Result<Pointer, Box<Stop>> {
        let Some(pointer) = self.physical(operand) else {
            return Err(fault(UndefinedKind::UndefinedAddress, line, "the pointer is undefined"));
        };
        if pointer.address == 0 {
            return Err(fault(UndefinedKind::NullAccess, line, "the pointer is null"));
        }
        if pointer.out_of_bounds {
            return Err(fault(UndefinedKind::OutOfBounds, line, INDEX_OUT_OF_BOUNDS));
        }
        let Some((object, offset)) = self.dispatch.object_at(pointer.address) else {
            let detail = format!("the address {:#x} lies in no buffer", pointer.address);
            return Err(fault(UndefinedKind::OutOfBounds, line, detail));
        };
        let decorations = pointer.decorations;
        // Only RestrictPointer promises that nothing else reaches the memory: what comes from an
        // integer or from memory is in no variable that could be decorated.
        let decorations =
            Decorations { aliased: decorations.aliased || !decorations.restrict, ..decorations };
        Ok(Pointer {
            object,
            offset,
            declaration: Pointer::PHYSICAL,
            decorations,
            out_of_bounds: false,
            indexed: false,
        })
    }

    /// An access chain through a physical pointer.
    pub(super) fn physical_chain(&mut self, chain: &Chain, line: Line) -> Step {
        let Some(mut pointer) = self.physical(chain.base) else {
            self.set_all(chain.dst, &[Scalar::undefined(64); 2]);
            return Ok(());
        };
        if pointer.address != 0 {
            let way = self.way(Way::from(!pointer.out_of_bounds), chain, None, false, line)?;
            pointer.out_of_bounds = !way.in_bounds;
            pointer.address = pointer.address.wrapping_add_signed(way.bytes);
        }
        pointer.decorations = pointer.decorations.union(chain.decorations);
        self.set_all(chain.dst, &pointer.encode());
        Ok(())
    }
}

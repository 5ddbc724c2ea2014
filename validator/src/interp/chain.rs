//! Access chains (SPIR-V 3.3.8, "Memory Instructions").
//!
//! Deviation: the specification makes an access chain with an index out of bounds undefined
//! behaviour by itself. Here the pointer is marked, and the access through it is the fault, so that
//! a pass may compute chains early; a module that makes such a pointer without using it is
//! compared like any other.

use super::machine::{Machine, Step};
use super::{robust, Pointer, Stop};
use crate::ir::{Bound, Chain, Line};
use crate::value::Scalar;

/// Of the values of an index with so many undefined bits, some leave every object.
const MANY_BITS: u32 = 24;

impl Machine<'_> {
    /// An access chain through a logical pointer.
    pub(super) fn chain(&mut self, chain: &Chain, line: Line) -> Step {
        let base = [self.value(chain.base), self.value(chain.base.offset(1))];
        let Some(mut pointer) = Pointer::decode(base) else {
            self.set_all(chain.dst, &[Scalar::undefined(64); 2]);
            return Ok(());
        };
        if !pointer.is_null() {
            let start = Way::from(!pointer.out_of_bounds);
            let checked = self.is_checked(pointer);
            let way = self.way(start, chain, Some(pointer), checked, line)?;
            pointer.out_of_bounds = !way.in_bounds;
            pointer.object += way.objects;
            pointer.indexed |= way.indexed;
            if checked {
                pointer.offset = robust::moved(pointer.offset, way.bytes);
            } else {
                match u32::try_from(i64::from(pointer.offset).saturating_add(way.bytes)) {
                    Ok(offset) => pointer.offset = offset,
                    Err(_) => pointer.out_of_bounds = true,
                }
            }
        }
        pointer.decorations = pointer.decorations.union(chain.decorations);
        self.set_all(chain.dst, &pointer.encode());
        Ok(())
    }

    /// Where the indices of a chain lead from a pointer, `None` for a physical one. An undefined index whose values
    /// are all in bounds is chosen. Where accesses are `checked` by their addresses, an index may leave an array.
    pub(super) fn way(
        &mut self,
        mut way: Way,
        chain: &Chain,
        from: Option<Pointer>,
        checked: bool,
        line: Line,
    ) -> Result<Way, Box<Stop>> {
        way.bytes = way.bytes.saturating_add(i64::from(chain.offset));
        for step in &chain.indices {
            let index = self.value(step.index);
            let bound = match step.bound {
                Bound::Held(matrix) => u64::from(self.held(matrix.scope).length(matrix.count())),
                Bound::Elements(count) | Bound::Descriptor(count) => u64::from(count),
                Bound::RuntimeArray { start } => {
                    // Elements of an array of descriptors have lengths of their own.
                    let of = |from: Pointer| Pointer { object: from.object + way.objects, ..from };
                    let size = from.map_or(0, |from| self.object_size(of(from)));
                    let bytes = size.saturating_sub(start);
                    u64::from(bytes.checked_div(step.stride).unwrap_or(0))
                }
                Bound::Unbounded => {
                    if !way.in_bounds || index.undef.count_ones() >= MANY_BITS {
                        self.state.lost |= !index.is_defined();
                        way.in_bounds = false;
                        continue;
                    }
                    let index = self.choose_bits(index, line)?.bits;
                    let index = super::arithmetic::sign_extend(index, u32::from(step.width));
                    way.bytes = way.bytes.saturating_add(index.saturating_mul(i64::from(step.stride)));
                    continue;
                }
            };
            // Indices are signed: one whose sign bit may be set is beyond every bound.
            let greatest = super::arithmetic::unsigned_max(index);
            let negative = greatest >> (step.width - 1) != 0;
            let in_array = matches!(step.bound, Bound::Elements(_) | Bound::RuntimeArray { .. });
            if checked && way.in_bounds && in_array && index.is_defined() {
                let index = super::arithmetic::sign_extend(index.bits, u32::from(step.width));
                way.bytes = way.bytes.saturating_add(index.saturating_mul(i64::from(step.stride)));
                continue;
            }
            if !way.in_bounds || negative || greatest >= bound {
                self.state.lost |= !index.is_defined();
                way.in_bounds = false;
                continue;
            }
            let index = self.choose_bits(index, line)?.bits;
            match step.bound {
                Bound::Descriptor(_) => {
                    way.objects += index as u32;
                    way.indexed |= !step.index.is_constant();
                }
                Bound::Held(_) | Bound::Elements(_) | Bound::RuntimeArray { .. } | Bound::Unbounded => {
                    let bytes = (index as i64).saturating_mul(i64::from(step.stride));
                    way.bytes = way.bytes.saturating_add(bytes);
                }
            }
        }
        Ok(way)
    }
}

/// Where the indices of an access chain lead.
pub(super) struct Way {
    pub(super) bytes: i64,
    /// Objects further, in an array of descriptors.
    pub(super) objects: u32,
    /// By an index that is no constant.
    pub(super) indexed: bool,
    pub(super) in_bounds: bool,
}

impl Way {
    /// From a pointer that is in bounds, or is not.
    pub(super) const fn from(in_bounds: bool) -> Self {
        Way { bytes: 0, objects: 0, indexed: false, in_bounds }
    }
}

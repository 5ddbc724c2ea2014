//! Views of memory instructions: what they access, their operand masks, semantics and scopes.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{MemoryAccess, MemorySemantics, Op, Scope, StorageClass, Word};

use crate::module::Module;

/// Bits of a memory-operand mask with an operand behind the mask, in the order of these operands.
const WITH_OPERAND: [MemoryAccess; 5] = [
    MemoryAccess::ALIGNED,
    MemoryAccess::MAKE_POINTER_AVAILABLE,
    MemoryAccess::MAKE_POINTER_VISIBLE,
    MemoryAccess::ALIAS_SCOPE_INTEL_MASK,
    MemoryAccess::NO_ALIAS_INTEL_MASK,
];

/// Where the masks of memory operands are among an instruction's operands (OpCopyMemory may have two).
pub(crate) fn access_masks(inst: &Instruction) -> Vec<(usize, MemoryAccess)> {
    let masks = inst.operands.iter().enumerate();
    masks
        .filter_map(|(index, operand)| match operand {
            Operand::MemoryAccess(mask) => Some((index, *mask)),
            _ => None,
        })
        .collect()
}

/// Where the operand of one bit of the mask at `index` is.
pub(crate) fn access_operand(index: usize, mask: MemoryAccess, bit: MemoryAccess) -> Option<usize> {
    let before = WITH_OPERAND.iter().take_while(|other| **other != bit);
    let skipped = before.filter(|other| mask.contains(**other)).count();
    (mask.contains(bit) && WITH_OPERAND.contains(&bit)).then_some(index + 1 + skipped)
}

/// The instruction without these bits in the mask at `index`, and without their operands.
pub(crate) fn without_access_bits(inst: &Instruction, index: usize, bits: MemoryAccess) -> Instruction {
    let mut changed = inst.clone();
    let Some(Operand::MemoryAccess(mask)) = inst.operands.get(index) else { return changed };
    let dropped = WITH_OPERAND.iter().filter(|bit| bits.contains(**bit));
    let mut positions: Vec<_> = dropped.filter_map(|bit| access_operand(index, *mask, *bit)).collect();
    while let Some(position) = positions.pop() {
        changed.operands.remove(position);
    }
    let left = *mask - bits;
    // The last mask goes where nothing is left of it; an empty first one of two says which is which.
    if left.is_empty() && access_masks(inst).len() == 1 {
        changed.operands.remove(index);
    } else if let Some(operand) = changed.operands.get_mut(index) {
        *operand = Operand::MemoryAccess(left);
    }
    changed
}

/// Whether the instruction is an atomic.
pub(crate) fn is_atomic(opcode: Op) -> bool {
    is_read_modify_write(opcode)
        || matches!(opcode, Op::AtomicLoad | Op::AtomicStore | Op::AtomicFlagTestAndSet | Op::AtomicFlagClear)
}

/// Whether the instruction is an atomic read-modify-write with a pointer to what it changes.
pub(crate) fn is_read_modify_write(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::AtomicExchange
            | Op::AtomicCompareExchange
            | Op::AtomicCompareExchangeWeak
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
            | Op::AtomicFAddEXT
            | Op::AtomicFMinEXT
            | Op::AtomicFMaxEXT
    )
}

/// Whether the instruction is a memory barrier, be it a control barrier too.
pub(crate) fn is_barrier(opcode: Op) -> bool {
    matches!(opcode, Op::MemoryBarrier | Op::ControlBarrier)
}

/// The pointers that the instruction accesses memory through; empty where it accesses none.
pub(crate) fn accessed_pointers(inst: &Instruction) -> Vec<Word> {
    let count = match inst.class.opcode {
        Op::Load | Op::Store => 1,
        Op::CopyMemory | Op::CopyMemorySized => 2,
        opcode if is_atomic(opcode) => 1,
        _ => 0,
    };
    inst.operands.iter().take(count).filter_map(Operand::id_ref_any).collect()
}

/// Whether invocations share memory of this class.
pub(crate) fn is_shared(class: StorageClass) -> bool {
    !matches!(
        class,
        StorageClass::Function
            | StorageClass::Private
            | StorageClass::Input
            | StorageClass::Output
            | StorageClass::PushConstant
            | StorageClass::Generic
    )
}

/// Whether the instruction accesses memory that invocations share.
pub(crate) fn accesses_shared(module: &Module, inst: &Instruction) -> bool {
    let mut pointers = accessed_pointers(inst).into_iter();
    pointers.any(|pointer| module.pointer(pointer).is_some_and(|(class, _)| is_shared(class)))
}

/// Where the semantics of an atomic or barrier are among its operands, with their values. A
/// compare-exchange has two.
pub(crate) fn semantics(module: &Module, inst: &Instruction) -> Vec<(usize, MemorySemantics)> {
    let operands = inst.operands.iter().enumerate();
    operands
        .filter_map(|(index, operand)| match operand {
            Operand::IdMemorySemantics(id) => {
                Some((index, MemorySemantics::from_bits_retain(module.constant_value(*id)?)))
            }
            _ => None,
        })
        .collect()
}

/// A copy of the module where the semantics or scopes at these operands of the instruction have other values.
pub(crate) fn with_constants(
    module: &Module,
    site: crate::Site,
    inst: &Instruction,
    values: &[(usize, u32)],
) -> Option<Module> {
    let mut changed = module.clone();
    let mut inst = inst.clone();
    for (index, value) in values {
        let id = inst.operands.get_mut(*index)?.id_ref_any_mut()?;
        let of_type = module.type_of(*id)?;
        *id = changed.constant(of_type, *value);
    }
    Some(changed.replacing(site, vec![inst]))
}

/// The scope that a constant names.
pub(crate) fn scope(module: &Module, id: Word) -> Option<Scope> {
    module.constant_value(id).and_then(Scope::from_u32)
}

/// The order bits of memory semantics.
pub(crate) const ORDERS: MemorySemantics = MemorySemantics::ACQUIRE
    .union(MemorySemantics::RELEASE)
    .union(MemorySemantics::ACQUIRE_RELEASE)
    .union(MemorySemantics::SEQUENTIALLY_CONSISTENT);

/// What is left of semantics at the order `order` (no bit for relaxed): the flags and storage classes
/// that mean nothing there go, and would make the module invalid.
pub(crate) fn at_order(semantics: MemorySemantics, order: MemorySemantics) -> MemorySemantics {
    if order.is_empty() {
        return semantics & MemorySemantics::VOLATILE;
    }
    let mut left = (semantics - ORDERS) | order;
    if order == MemorySemantics::ACQUIRE {
        left -= MemorySemantics::MAKE_AVAILABLE;
    }
    if order == MemorySemantics::RELEASE {
        left -= MemorySemantics::MAKE_VISIBLE;
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_go_with_their_operands() {
        let mask =
            MemoryAccess::ALIGNED | MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::NON_PRIVATE_POINTER;
        let store = Instruction::new(
            Op::Store,
            None,
            None,
            vec![
                Operand::IdRef(1),
                Operand::IdRef(2),
                Operand::MemoryAccess(mask),
                Operand::LiteralBit32(4),
                Operand::IdScope(3),
            ],
        );
        let kept = &without_access_bits(&store, 2, MemoryAccess::MAKE_POINTER_AVAILABLE).operands[2..];
        let left = MemoryAccess::ALIGNED | MemoryAccess::NON_PRIVATE_POINTER;
        assert_eq!(kept, [Operand::MemoryAccess(left), Operand::LiteralBit32(4)]);
        assert_eq!(without_access_bits(&store, 2, MemoryAccess::all()).operands.len(), 2);
    }

    #[test]
    fn weaker_orders_drop_what_they_cannot_have() {
        let semantics = MemorySemantics::from_bits_retain(0x6048 | 0x8000);
        assert_eq!(at_order(semantics, MemorySemantics::ACQUIRE).bits(), 0xC042);
        assert_eq!(at_order(semantics, MemorySemantics::RELEASE).bits(), 0xA044);
        assert_eq!(at_order(semantics, MemorySemantics::RELAXED).bits(), 0x8000);
    }
}

//! Barriers and atomic operations for which simpler ones can stand.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::masks::{ACQUIRE, ACQUIRE_RELEASE, ORDERS, RELEASE};
use super::Edit;
use crate::cost::{scope_rank, value_of};
use crate::module::{Inst, Key, Module};

/// Semantics that belong to an acquire alone, and to a release alone.
const VISIBLE: u32 = 0x4000;
const AVAILABLE: u32 = 0x2000;

/// Memory barriers that another barrier of their block can take over, and read-modify-writes that can be loads or stores.
pub(super) fn barriers(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for inst in module.insts.iter().skip(module.code_begins()).rev() {
        match inst.op() {
            Op::MemoryBarrier => edits.extend([true, false].map(|next| Edit::Absorb(inst.key, next))),
            op if modifies(op) => edits.extend([true, false].map(|loads| Edit::Halve(inst.key, loads))),
            _ => {}
        }
    }
    edits
}

fn modifies(op: Op) -> bool {
    let is_other =
        matches!(op, Op::AtomicLoad | Op::AtomicStore | Op::AtomicFlagClear | Op::AtomicFlagTestAndSet);
    format!("{op:?}").starts_with("Atomic") && !is_other
}

/// Removes a memory barrier, and lets the next barrier of its block, or the last one before it, order what it ordered.
pub(super) fn absorb(module: &mut Module, key: Key, next: bool) -> Option<()> {
    let at = module.index(key)?;
    let barrier = module.insts.get(at).filter(|inst| inst.op() == Op::MemoryBarrier)?;
    let (scope, semantics) = (barrier.id(0)?, barrier.id(1)?);
    let (_, block) = module.block_of(at)?;
    let is_barrier = |inst: &Inst| matches!(inst.op(), Op::MemoryBarrier | Op::ControlBarrier);
    let mut others = block.range.clone().filter(|other| module.insts.get(*other).is_some_and(is_barrier));
    let other =
        if next { others.find(|other| *other > at) } else { others.take_while(|other| *other < at).last() }?;
    let first = if module.insts.get(other)?.op() == Op::ControlBarrier { 1 } else { 0 };
    let (other_scope, other_semantics) =
        (module.insts.get(other)?.id(first)?, module.insts.get(other)?.id(first + 1)?);
    let wider = match (value_of(module, scope)?, value_of(module, other_scope)?) {
        (own, others) if scope_rank(own) > scope_rank(others) => scope,
        _ => other_scope,
    };
    let joined = join(value_of(module, semantics)?, value_of(module, other_semantics)?);
    let target = module.insts.get(other)?.key;
    module.insts.remove(at);
    let joined = scalar(module, semantics, joined)?;
    let at = module.index(target)?;
    let operands = &mut module.insts.get_mut(at)?.code.operands;
    *operands.get_mut(first)? = Operand::IdScope(wider);
    *operands.get_mut(first + 1)? = Operand::IdMemorySemantics(joined);
    Some(())
}

/// The semantics of both.
fn join(one: u32, other: u32) -> u32 {
    let all = one | other;
    match (all & ORDERS).count_ones() {
        0 | 1 => all,
        _ => (all & !ORDERS) | ACQUIRE_RELEASE,
    }
}

/// A constant of the same type as another one.
fn scalar(module: &mut Module, like: Word, value: u32) -> Option<Word> {
    let ty = module.definition(like)?.code.result_type;
    Some(module.declared(Op::Constant, ty, vec![Operand::LiteralBit32(value)]))
}

/// Makes a read-modify-write a load, or a store, of which nobody takes a result.
pub(super) fn halve(module: &mut Module, key: Key, loads: bool) -> Option<()> {
    let at = module.index(key)?;
    let code = module.insts.get(at).filter(|inst| modifies(inst.op()))?.code.clone();
    let result = code.result_id?;
    let is_taken = super::is_used(module, result);
    let (pointer, scope) = (code.operands.first()?.clone(), code.operands.get(1)?.clone());
    let semantics = code.operands.get(2)?.id_ref_any()?;
    let value = value_of(module, semantics)?;
    let (own, lost) = if loads { (ACQUIRE, AVAILABLE) } else { (RELEASE, VISIBLE) };
    let order = if value & (own | ACQUIRE_RELEASE) != 0 { own } else { 0 };
    // Without an order there is nothing to order.
    let left = if order == 0 { 0 } else { (value & !ORDERS & !lost) | order };
    let semantics = Operand::IdMemorySemantics(scalar(module, semantics, left)?);
    let new = match loads {
        true => {
            Instruction::new(Op::AtomicLoad, code.result_type, Some(result), vec![pointer, scope, semantics])
        }
        false => {
            (!is_taken).then_some(())?;
            // A comparison has semantics of its own for where it is not met.
            let place = if code.class.opcode == Op::AtomicCompareExchange { 4 } else { 3 };
            let stored = match (code.operands.get(place).cloned(), code.result_type) {
                (Some(stored), _) => stored,
                (None, ty) => Operand::IdRef(module.zero(ty?)?),
            };
            Instruction::new(Op::AtomicStore, None, None, vec![pointer, scope, semantics, stored])
        }
    };
    let at = module.index(key)?;
    module.insts.get_mut(at)?.code = new;
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::edited;
    use super::super::Family;
    use super::*;
    use crate::module::tests::{module, DECLARATIONS};

    fn with_scopes(code: &str) -> Module {
        let more = "%release = OpConstant %uint 0x2144
            %acquire = OpConstant %uint 0x4142
            %Block = OpTypeStruct";
        let text = DECLARATIONS.replace("%Block = OpTypeStruct", more);
        module(&format!("{text}{code}\nOpReturn\nOpFunctionEnd\n"))
    }

    #[test]
    fn a_barrier_takes_over_what_another_one_orders() {
        let module = with_scopes(
            "OpMemoryBarrier %uint_1 %release
            OpControlBarrier %uint_2 %uint_2 %uint_0
            OpMemoryBarrier %uint_2 %acquire",
        );
        let barriers = module.insts.iter().filter(|inst| inst.op() == Op::MemoryBarrier);
        let keys: Vec<Key> = barriers.map(|inst| inst.key).collect();
        let next = edited(&module, Family::Barriers, |edit| *edit == Edit::Absorb(keys[0], true));
        // The wider scope, the same semantics.
        assert!(next.contains("OpControlBarrier %uint_2 %uint_1 %uint_8516\n"), "{next}");
        let last = edited(&module, Family::Barriers, |edit| *edit == Edit::Absorb(keys[1], false));
        assert!(last.contains("OpControlBarrier %uint_2 %uint_2 %uint_16706\n"), "{last}");
        assert_eq!(join(0x2144, 0x4142), 0x6148);
    }

    #[test]
    fn what_reads_and_writes_does_one_of_them() {
        let module = shader_with("OpAtomicIAdd %uint %a %uint_1 %acquire_release %uint_100");
        let load = edited(&module, Family::Barriers, |edit| matches!(edit, Edit::Halve(_, true)));
        assert!(load.contains("OpAtomicLoad %uint") && load.contains("%uint_16706"), "{load}");
        let store = edited(&module, Family::Barriers, |edit| matches!(edit, Edit::Halve(_, false)));
        assert!(store.contains("OpAtomicStore %a %uint_1 %uint_8516 %uint_100\n"), "{store}");
    }

    fn shader_with(operation: &str) -> Module {
        with_scopes(&format!("%old = {operation}"))
    }
}

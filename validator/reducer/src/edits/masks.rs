//! Masks of accesses and of control flow, memory semantics, scopes, and atomic accesses.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{FunctionControl, ImageOperands, LoopControl, MemoryAccess, Op, SelectionControl, Word};

use super::Edit;
use crate::cost::{scope_rank, value_of};
use crate::module::{Key, Module};

/// The semantics that order memory, and one of both sides.
pub(super) const ACQUIRE: u32 = 0x2;
pub(super) const RELEASE: u32 = 0x4;
pub(super) const ACQUIRE_RELEASE: u32 = 0x8;
pub(super) const ORDERS: u32 = 0x1e;

/// Scopes that may stand for another one.
const SCOPES: [u32; 5] = [4, 3, 2, 5, 1];

/// What can be taken out of masks, semantics and scopes.
pub(super) fn masks(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    for inst in module.insts.iter().skip(module.code_begins()).rev() {
        if matches!(inst.op(), Op::AtomicLoad | Op::AtomicStore) {
            edits.push(Edit::Plain(inst.key));
        }
        for (number, operand) in inst.code.operands.iter().enumerate() {
            match operand {
                Operand::IdScope(id) => {
                    let Some(scope) = value_of(module, *id) else { continue };
                    let narrower = SCOPES.iter().filter(|other| scope_rank(**other) < scope_rank(scope));
                    edits.extend(narrower.map(|other| Edit::SetScalar(inst.key, number, *other)));
                }
                Operand::IdMemorySemantics(id) => {
                    let Some(value) = value_of(module, *id) else { continue };
                    let smaller = smaller_semantics(value).into_iter();
                    edits.extend(smaller.map(|other| Edit::SetScalar(inst.key, number, other)));
                }
                other => {
                    let bits = mask_bits(other);
                    let single = (0..u32::BITS).map(|bit| 1 << bit).filter(|bit| bits & bit != 0);
                    edits.extend((bits.count_ones() > 1).then_some(Edit::ClearBits(inst.key, number, bits)));
                    edits.extend(single.map(|bit| Edit::ClearBits(inst.key, number, bit)));
                }
            }
        }
    }
    edits
}

/// Semantics with less: none, without the classes of memory, one side of both, without single bits.
fn smaller_semantics(value: u32) -> Vec<u32> {
    let mut all = vec![0];
    if value & ACQUIRE_RELEASE != 0 {
        let without = value & !ORDERS;
        // Availability belongs to a release, visibility to an acquire.
        all.extend([(without & !0x4000) | RELEASE, (without & !0x2000) | ACQUIRE]);
    }
    all.extend(
        (0..u32::BITS).map(|bit| 1 << bit).filter(|bit| value & bit & !ORDERS != 0).map(|bit| value & !bit),
    );
    all.retain(|other| *other != value);
    all
}

/// The bits of a mask; 0 for other operands.
fn mask_bits(operand: &Operand) -> u32 {
    match operand {
        Operand::MemoryAccess(mask) => mask.bits(),
        Operand::ImageOperands(mask) => mask.bits(),
        Operand::FunctionControl(mask) => mask.bits(),
        Operand::LoopControl(mask) => mask.bits(),
        Operand::SelectionControl(mask) => mask.bits(),
        _ => 0,
    }
}

/// How many operands stand behind a mask for one of its bits.
fn parameters(mask: &Operand, bit: u32) -> usize {
    match mask {
        Operand::MemoryAccess(_) => match MemoryAccess::from_bits_truncate(bit) {
            MemoryAccess::VOLATILE | MemoryAccess::NONTEMPORAL | MemoryAccess::NON_PRIVATE_POINTER => 0,
            _ => 1,
        },
        Operand::ImageOperands(_) => match ImageOperands::from_bits_truncate(bit) {
            ImageOperands::GRAD => 2,
            ImageOperands::NON_PRIVATE_TEXEL
            | ImageOperands::VOLATILE_TEXEL
            | ImageOperands::SIGN_EXTEND
            | ImageOperands::ZERO_EXTEND
            | ImageOperands::NONTEMPORAL => 0,
            _ => 1,
        },
        Operand::LoopControl(_) => {
            let plain = LoopControl::UNROLL | LoopControl::DONT_UNROLL | LoopControl::DEPENDENCY_INFINITE;
            usize::from(!plain.contains(LoopControl::from_bits_truncate(bit)))
        }
        _ => 0,
    }
}

/// Takes bits out of a mask, with the operands that belong to them.
pub(super) fn clear(module: &mut Module, key: Key, number: usize, cleared: u32) -> Option<()> {
    let at = module.index(key)?;
    let inst = module.insts.get_mut(at)?;
    let mask = inst.code.operands.get(number)?.clone();
    let bits = mask_bits(&mask);
    if bits & cleared == 0 {
        return None;
    }
    let mut place = number + 1;
    for bit in (0..u32::BITS).map(|bit| 1 << bit).filter(|bit| bits & bit != 0) {
        let count = parameters(&mask, bit);
        match cleared & bit {
            0 => place += count,
            _ => drop(inst.code.operands.drain(place..(place + count).min(inst.code.operands.len()))),
        }
    }
    let left = bits & !cleared;
    let new = match mask {
        Operand::MemoryAccess(_) => Operand::MemoryAccess(MemoryAccess::from_bits_truncate(left)),
        Operand::ImageOperands(_) => Operand::ImageOperands(ImageOperands::from_bits_truncate(left)),
        Operand::FunctionControl(_) => Operand::FunctionControl(FunctionControl::from_bits_truncate(left)),
        Operand::LoopControl(_) => Operand::LoopControl(LoopControl::from_bits_truncate(left)),
        Operand::SelectionControl(_) => Operand::SelectionControl(SelectionControl::from_bits_truncate(left)),
        other => other,
    };
    let is_optional = matches!(new, Operand::MemoryAccess(_) | Operand::ImageOperands(_));
    match left == 0 && is_optional && number + 1 == inst.code.operands.len() {
        true => drop(inst.code.operands.remove(number)),
        false => *inst.code.operands.get_mut(number)? = new,
    }
    Some(())
}

/// Makes an operand the constant with this value of its type.
pub(super) fn set_scalar(module: &mut Module, key: Key, number: usize, value: u32) -> Option<()> {
    let id = module.keyed(key)?.id(number)?;
    let old = module.definition(id)?;
    if value_of(module, id)? == value {
        return None;
    }
    let new = module.declared(Op::Constant, old.code.result_type, vec![Operand::LiteralBit32(value)]);
    let at = module.index(key)?;
    *module.insts.get_mut(at)?.code.operands.get_mut(number)?.id_ref_any_mut()? = new;
    Some(())
}

/// Makes an atomic load or store a plain one.
pub(super) fn plain(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key)?;
    let code = &mut module.insts.get_mut(at)?.code;
    let id = |number: usize| code.operands.get(number).and_then(Operand::id_ref_any);
    let operands = |ids: &[Word]| ids.iter().map(|id| Operand::IdRef(*id)).collect::<Vec<_>>();
    *code = match code.class.opcode {
        Op::AtomicLoad => Instruction::new(Op::Load, code.result_type, code.result_id, operands(&[id(0)?])),
        Op::AtomicStore => Instruction::new(Op::Store, None, None, operands(&[id(0)?, id(3)?])),
        _ => return None,
    };
    Some(())
}

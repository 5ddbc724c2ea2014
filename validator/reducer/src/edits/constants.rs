//! Values of constants.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, Op, Word};

use super::{replace_everywhere, Edit};
use crate::module::{is_constant, is_type, Inst, Key, Module};

/// One as a float of 16, 32 and 64 bits.
const ONES: [(u32, u64); 3] = [(16, 0x3c00), (32, 0x3f80_0000), (64, 0x3ff0_0000_0000_0000)];

/// The constant that is one of a type of numbers, or true.
pub(super) fn one(module: &mut Module, ty: Word) -> Option<Word> {
    let of = module.definition(ty)?;
    let Some(Operand::LiteralBit32(width)) = of.code.operands.first() else {
        let is_truth = of.op() == Op::TypeBool;
        return is_truth.then(|| module.declared(Op::ConstantTrue, Some(ty), Vec::new()));
    };
    let value = match of.op() {
        Op::TypeInt => 1,
        Op::TypeFloat => ONES.iter().find(|(bits, _)| bits == width)?.1,
        _ => return None,
    };
    let literal = match *width > 32 {
        true => Operand::LiteralBit64(value),
        false => Operand::LiteralBit32(u32::try_from(value).ok()?),
    };
    Some(module.declared(Op::Constant, Some(ty), vec![literal]))
}

/// Smaller values, zero in the place of composites, and constants in that of specialisation constants.
pub(super) fn constants(module: &Module) -> Vec<Edit> {
    let mut edits = Vec::new();
    let globals = module.insts.get(..module.code_begins()).unwrap_or_default();
    for (index, inst) in globals.iter().enumerate() {
        if earlier(globals.get(..index).unwrap_or_default(), inst).is_some() {
            edits.push(Edit::Share(inst.key));
        }
        match inst.op() {
            Op::Constant | Op::SpecConstant => {
                let value = match inst.code.operands.first() {
                    Some(Operand::LiteralBit32(value)) => u64::from(*value),
                    Some(Operand::LiteralBit64(value)) => *value,
                    _ => continue,
                };
                let ty = inst.code.result_type.and_then(|ty| module.definition(ty));
                let width = ty.and_then(|ty| match ty.code.operands.first() {
                    Some(Operand::LiteralBit32(width)) => Some(*width),
                    _ => None,
                });
                let one = ONES.iter().find(|(bits, _)| Some(*bits) == width).map(|(_, one)| *one);
                let mut smaller = match ty.map(|ty| ty.op()) {
                    Some(Op::TypeFloat) => vec![0, one.unwrap_or(0)],
                    _ => vec![0, 1, value / 2, value.saturating_sub(1)],
                };
                smaller.retain(|other| *other != value);
                smaller.dedup();
                edits.extend(smaller.into_iter().map(|other| Edit::SetLiteral(inst.key, 0, other)));
            }
            Op::ConstantComposite => edits.push(Edit::Zero(inst.key)),
            _ => {}
        }
        if matches!(
            inst.op(),
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse | Op::SpecConstantComposite
        ) {
            edits.push(Edit::Freeze(inst.key));
        }
        if matches!(inst.op(), Op::SpecConstantOp) {
            edits.push(Edit::Zero(inst.key));
        }
    }
    edits
}

/// The declaration in front that is the same.
fn earlier(before: &[Inst], inst: &Inst) -> Option<Word> {
    let can_be = is_constant(inst.op()) || is_type(inst.op());
    let is_same = |other: &&Inst| {
        other.op() == inst.op()
            && other.code.result_type == inst.code.result_type
            && other.code.operands == inst.code.operands
    };
    before.iter().find(is_same).filter(|_| can_be)?.code.result_id
}

/// Puts the declaration in front that is the same in the place of one.
pub(super) fn share(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key)?;
    let inst = module.insts.get(at)?;
    let id = inst.code.result_id?;
    let other = earlier(module.insts.get(..at)?, inst)?;
    module.insts.remove(at);
    replace_everywhere(module, id, other);
    Some(())
}

/// Does so for all types that there are twice: those that are no aggregates may be there once.
pub(super) fn share_all(module: &mut Module) {
    let mut at = 0;
    while let Some(inst) = module.insts.get(at).filter(|_| at < module.code_begins()) {
        let is_single =
            is_type(inst.op()) && !matches!(inst.op(), Op::TypeStruct | Op::TypeArray | Op::TypeRuntimeArray);
        let key = inst.key;
        if !(is_single && share(module, key).is_some()) {
            at += 1;
        }
    }
}

/// Gives a literal another value.
pub(super) fn set(module: &mut Module, key: Key, number: usize, value: u64) -> Option<()> {
    let at = module.index(key)?;
    let operand = module.insts.get_mut(at)?.code.operands.get_mut(number)?;
    let new = match operand {
        Operand::LiteralBit32(_) => Operand::LiteralBit32(u32::try_from(value).ok()?),
        Operand::LiteralBit64(_) => Operand::LiteralBit64(value),
        _ => return None,
    };
    if *operand == new {
        return None;
    }
    *operand = new;
    Some(())
}

/// Makes a specialisation constant a constant.
pub(super) fn freeze(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key)?;
    let code = &mut module.insts.get_mut(at)?.code;
    let op = match code.class.opcode {
        Op::SpecConstant => Op::Constant,
        Op::SpecConstantTrue => Op::ConstantTrue,
        Op::SpecConstantFalse => Op::ConstantFalse,
        Op::SpecConstantComposite => Op::ConstantComposite,
        _ => return None,
    };
    let id = code.result_id;
    *code = Instruction::new(op, code.result_type, id, std::mem::take(&mut code.operands));
    module.insts.retain(|inst| {
        let is_number = inst.op() == Op::Decorate
            && inst.code.operands.get(1) == Some(&Operand::Decoration(Decoration::SpecId));
        !(is_number && inst.id(0) == id)
    });
    Some(())
}

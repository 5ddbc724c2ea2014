//! Members of structs.

use rspirv::dr::Operand;
use rspirv::spirv::{Decoration, Op, Word};

use super::Edit;
use crate::cost::value_of;
use crate::module::{Inst, Key, Module};

/// Every member of structs that have several, the last first; and offsets that can be zero.
pub(super) fn members(module: &Module) -> Vec<Edit> {
    let structs = module.insts.iter().filter(|inst| inst.op() == Op::TypeStruct);
    let several = structs.filter(|inst| inst.code.operands.len() > 1);
    let removed = several.flat_map(|inst| {
        (0..inst.code.operands.len()).rev().map(|number| Edit::RemoveMember(inst.key, number))
    });
    let offsets = module.insts.iter().filter(|inst| {
        inst.op() == Op::MemberDecorate
            && inst.code.operands.get(2) == Some(&Operand::Decoration(Decoration::Offset))
    });
    let is_far = |inst: &&Inst| inst.code.operands.get(3) != Some(&Operand::LiteralBit32(0));
    removed.chain(offsets.filter(is_far).map(|inst| Edit::SetLiteral(inst.key, 3, 0))).collect()
}

/// A step into the struct: the instruction, the number of the operand, and the member.
struct Step {
    key: Key,
    operand: usize,
    member: usize,
}

/// Removes a member that no instruction leads to; those behind it move up.
pub(super) fn remove(module: &mut Module, key: Key, member: usize) -> Option<()> {
    let inst = module.keyed(key).filter(|inst| inst.op() == Op::TypeStruct)?;
    let (of, count) = (inst.code.result_id?, inst.code.operands.len());
    if count < 2 || member >= count {
        return None;
    }
    let steps = steps(module, of)?;
    if steps.iter().any(|step| step.member == member) {
        return None;
    }
    for step in steps.iter().filter(|step| step.member > member) {
        move_up(module, step)?;
    }
    for inst in &mut module.insts {
        let builds =
            matches!(inst.op(), Op::CompositeConstruct | Op::ConstantComposite | Op::SpecConstantComposite)
                && inst.code.result_type == Some(of);
        let is_it = inst.op() == Op::TypeStruct && inst.code.result_id == Some(of);
        if (builds || is_it) && member < inst.code.operands.len() {
            inst.code.operands.remove(member);
        }
    }
    let number = u32::try_from(member).ok()?;
    let tells = |inst: &Inst| match (inst.op(), inst.code.operands.get(1)) {
        (
            Op::MemberName | Op::MemberDecorate | Op::MemberDecorateString,
            Some(Operand::LiteralBit32(other)),
        ) if inst.id(0) == Some(of) => Some(*other),
        _ => None,
    };
    module.insts.retain(|inst| tells(inst) != Some(number));
    for inst in &mut module.insts {
        if tells(inst).is_some_and(|other| other > number) {
            if let Some(Operand::LiteralBit32(other)) = inst.code.operands.get_mut(1) {
                *other -= 1;
            }
        }
    }
    Some(())
}

/// Lets a step lead to the member in front of its own.
fn move_up(module: &mut Module, step: &Step) -> Option<()> {
    let new = u32::try_from(step.member.checked_sub(1)?).ok()?;
    let operand = module.keyed(step.key)?.code.operands.get(step.operand)?.clone();
    let moved = match operand {
        Operand::LiteralBit32(_) => Operand::LiteralBit32(new),
        other => {
            let ty = module.definition(other.id_ref_any()?)?.code.result_type;
            Operand::IdRef(module.declared(Op::Constant, ty, vec![Operand::LiteralBit32(new)]))
        }
    };
    let at = module.index(step.key)?;
    *module.insts.get_mut(at)?.code.operands.get_mut(step.operand)? = moved;
    Some(())
}

/// Every step into a struct; `None` where an instruction is not understood.
fn steps(module: &Module, of: Word) -> Option<Vec<Step>> {
    let mut all = Vec::new();
    for inst in &module.insts {
        let (base, first) = match inst.op() {
            Op::AccessChain | Op::InBoundsAccessChain => (0, 1),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => (0, 2),
            Op::CompositeExtract => (0, 1),
            Op::CompositeInsert => (1, 2),
            Op::ArrayLength => (0, 1),
            _ => continue,
        };
        let ty = module.definition(inst.id(base)?)?.code.result_type?;
        let ty_inst = module.definition(ty)?;
        let mut ty = if ty_inst.op() == Op::TypePointer { ty_inst.id(1)? } else { ty };
        for operand in first..inst.code.operands.len() {
            let inside = module.definition(ty)?;
            ty = match inside.op() {
                Op::TypeStruct => {
                    let member = match inst.code.operands.get(operand)? {
                        Operand::LiteralBit32(member) => *member,
                        other => value_of(module, other.id_ref_any()?)?,
                    };
                    let member = usize::try_from(member).ok()?;
                    if ty == of {
                        all.push(Step { key: inst.key, operand, member });
                    }
                    inside.id(member)?
                }
                Op::TypeVector | Op::TypeMatrix | Op::TypeArray | Op::TypeRuntimeArray => inside.id(0)?,
                _ => return None,
            };
        }
    }
    Some(all)
}

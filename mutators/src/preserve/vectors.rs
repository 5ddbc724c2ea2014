use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::edit::{ids, once, replace_each, with_ids};
use crate::{Module, Mutant, Mutator};

/// Computes vectors component by component.
pub struct VectorsScalarised;

/// Writes composites that are constructed, shuffled or read at several levels as chains of single steps.
pub struct CompositesSplit;

impl Mutator for VectorsScalarised {
    fn name(&self) -> &'static str {
        "vectors-scalarised"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| replace_each(changed, scalarised))
    }
}

impl Mutator for CompositesSplit {
    fn name(&self) -> &'static str {
        "composites-split"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| replace_each(changed, split))
    }
}

/// The component type and number of a vector type.
fn vector(module: &Module, of_type: Word) -> Option<(Word, u32)> {
    let inst = module.global(of_type).filter(|inst| inst.class.opcode == Op::TypeVector)?;
    match inst.operands.as_slice() {
        [Operand::IdRef(component), Operand::LiteralBit32(count)] => Some((*component, *count)),
        _ => None,
    }
}

fn extract(of_type: Word, result: Word, from: Word, index: u32) -> Instruction {
    let operands = vec![Operand::IdRef(from), Operand::LiteralBit32(index)];
    Instruction::new(Op::CompositeExtract, Some(of_type), Some(result), operands)
}

/// Whether the instruction computes each component of its result from the same components of its operands.
/// Floats are not among them: their decorations would have to follow.
fn is_by_component(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::SNegate
            | Op::IAdd
            | Op::ISub
            | Op::IMul
            | Op::UDiv
            | Op::UMod
            | Op::SDiv
            | Op::ShiftLeftLogical
            | Op::ShiftRightLogical
            | Op::ShiftRightArithmetic
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::BitwiseAnd
            | Op::Not
            | Op::LogicalAnd
            | Op::LogicalOr
            | Op::LogicalNot
            | Op::IEqual
            | Op::INotEqual
            | Op::ULessThan
            | Op::SLessThan
            | Op::UGreaterThan
            | Op::SGreaterThan
            | Op::ULessThanEqual
            | Op::SLessThanEqual
            | Op::UGreaterThanEqual
            | Op::SGreaterThanEqual
            | Op::Select
    )
}

fn scalarised(module: &mut Module, inst: &Instruction) -> Option<Vec<Instruction>> {
    if !is_by_component(inst.class.opcode) {
        return None;
    }
    let (of_type, result) = (inst.result_type?, inst.result_id?);
    let (component, count) = vector(module, of_type)?;
    let operands: Vec<Word> = inst.operands.iter().filter_map(Operand::id_ref_any).collect();
    let mut code = Vec::new();
    let mut parts = Vec::new();
    for index in 0..count {
        let mut scalars = Vec::new();
        for operand in &operands {
            match vector(module, module.type_of(*operand)?) {
                Some((of_type, _)) => {
                    let id = module.fresh_id();
                    code.push(extract(of_type, id, *operand, index));
                    scalars.push(id);
                }
                // The condition of OpSelect may be one for all.
                None => scalars.push(*operand),
            }
        }
        let id = module.fresh_id();
        code.push(with_ids(inst.class.opcode, Some(component), Some(id), &scalars));
        parts.push(id);
    }
    code.push(with_ids(Op::CompositeConstruct, Some(of_type), Some(result), &parts));
    Some(code)
}

/// The type of a member of a composite type.
fn member(module: &Module, of_type: Word, index: u32) -> Option<Word> {
    let inst = module.global(of_type)?;
    let place = match inst.class.opcode {
        Op::TypeStruct => index as usize,
        Op::TypeVector | Op::TypeMatrix | Op::TypeArray => 0,
        _ => return None,
    };
    inst.operands.get(place)?.id_ref_any()
}

fn literal(operand: &Operand) -> Option<u32> {
    match operand {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    }
}

fn split(module: &mut Module, inst: &Instruction) -> Option<Vec<Instruction>> {
    let (of_type, result) = (inst.result_type?, inst.result_id?);
    match inst.class.opcode {
        Op::CompositeConstruct => constructed(module, inst, of_type, result),
        Op::CompositeExtract => extracted(module, inst, result),
        Op::VectorShuffle => shuffled(module, inst, of_type, result),
        _ => None,
    }
}

/// Inserts one member after the other.
fn constructed(
    module: &mut Module,
    inst: &Instruction,
    of_type: Word,
    result: Word,
) -> Option<Vec<Instruction>> {
    let parts: Vec<Word> = inst.operands.iter().filter_map(Operand::id_ref_any).collect();
    // Vectors may be constructed of vectors.
    for (index, part) in (0..).zip(&parts) {
        if module.type_of(*part)? != member(module, of_type, index)? {
            return None;
        }
    }
    let mut whole = module.fresh_id();
    let mut code = vec![Instruction::new(Op::Undef, Some(of_type), Some(whole), vec![])];
    for (index, part) in (0..).zip(&parts) {
        let next = if index as usize + 1 == parts.len() { result } else { module.fresh_id() };
        let operands = [ids(&[*part, whole]), vec![Operand::LiteralBit32(index)]].concat();
        code.push(Instruction::new(Op::CompositeInsert, Some(of_type), Some(next), operands));
        whole = next;
    }
    Some(code)
}

/// Goes down one level at a time.
fn extracted(module: &mut Module, inst: &Instruction, result: Word) -> Option<Vec<Instruction>> {
    let (from, indices) = inst.operands.split_first()?;
    let mut from = from.id_ref_any()?;
    let mut of_type = module.type_of(from)?;
    let mut code = Vec::new();
    for (level, index) in indices.iter().enumerate() {
        let index = literal(index)?;
        of_type = member(module, of_type, index)?;
        let next = if level + 1 == indices.len() { result } else { module.fresh_id() };
        code.push(extract(of_type, next, from, index));
        from = next;
    }
    (code.len() > 1).then_some(code)
}

/// Takes every component by itself; those that the shuffle leaves undefined are undefined.
fn shuffled(
    module: &mut Module,
    inst: &Instruction,
    of_type: Word,
    result: Word,
) -> Option<Vec<Instruction>> {
    let [first, second, components @ ..] = inst.operands.as_slice() else { return None };
    let (first, second) = (first.id_ref_any()?, second.id_ref_any()?);
    let (_, count) = vector(module, module.type_of(first)?)?;
    let (component, _) = vector(module, of_type)?;
    let mut code = Vec::new();
    let mut parts = Vec::new();
    for index in components {
        let id = module.fresh_id();
        code.push(match literal(index)? {
            u32::MAX => Instruction::new(Op::Undef, Some(component), Some(id), vec![]),
            index if index < count => extract(component, id, first, index),
            index => extract(component, id, second, index - count),
        });
        parts.push(id);
    }
    code.push(with_ids(Op::CompositeConstruct, Some(of_type), Some(result), &parts));
    Some(code)
}

use fastrand::Rng;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::edit::{once, replace_each, with_ids};
use crate::{Module, Mutant, Mutator};

/// Computes integers and bools in a roundabout way: a sum and a difference, twice the opposite, something that
/// changes nothing.
pub struct Identities;

/// Gives results a copy, by OpCopyObject, that is used in their place.
pub struct Copies;

/// Writes constants that instructions compute with as sums of others.
pub struct ConstantsSummed;

impl Mutator for Identities {
    fn name(&self) -> &'static str {
        "identities"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mut random = Rng::with_seed(seed);
        once(self.name(), module, move |changed| {
            replace_each(changed, |module, inst| {
                let (of_type, result) = computed(module, inst)?;
                let kind = kind(module, of_type)?;
                let first = module.fresh_id();
                let mut original = inst.clone();
                original.result_id = Some(first);
                let mut code = vec![original];
                code.extend(detour(module, kind, of_type, first, result, &mut random));
                Some(code)
            });
        })
    }
}

impl Mutator for Copies {
    fn name(&self) -> &'static str {
        "copies"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mut random = Rng::with_seed(seed);
        once(self.name(), module, move |changed| {
            replace_each(changed, |module, inst| {
                let (of_type, result) = computed(module, inst)?;
                if random.bool() {
                    return None;
                }
                let mut original = inst.clone();
                original.result_id = Some(module.fresh_id());
                let copied = original.result_id?;
                Some(vec![original, with_ids(Op::CopyObject, Some(of_type), Some(result), &[copied])])
            });
        })
    }
}

impl Mutator for ConstantsSummed {
    fn name(&self) -> &'static str {
        "constants-summed"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mut random = Rng::with_seed(seed);
        once(self.name(), module, move |changed| {
            replace_each(changed, |module, inst| {
                if !crate::pure::is_pure(inst.class.opcode) || inst.class.opcode == Op::ExtInst {
                    return None;
                }
                let (mut code, mut rewritten) = (Vec::new(), inst.clone());
                for id in rewritten.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
                    let Some(value) = module.constant_value(*id) else { continue };
                    let Some(of_type) = module.type_of(*id) else { continue };
                    if kind(module, of_type) != Some(Kind::Integer(32)) {
                        continue;
                    }
                    let part = random.u32(..);
                    let parts = [value.wrapping_sub(part), part].map(|part| module.constant(of_type, part));
                    *id = module.fresh_id();
                    code.push(with_ids(Op::IAdd, Some(of_type), Some(*id), &parts));
                }
                code.push(rewritten);
                Some(code)
            });
        })
    }
}

/// The type and the result of an instruction that computes, whose result may have another id: nothing is said of it
/// by decorations that would be lost.
fn computed(module: &Module, inst: &Instruction) -> Option<(Word, Word)> {
    let is_computed = crate::pure::is_total(inst.class.opcode) && inst.class.opcode != Op::Undef;
    let loaded = matches!(inst.class.opcode, Op::AtomicIAdd | Op::AtomicExchange | Op::AtomicLoad);
    let (of_type, result) = (inst.result_type?, inst.result_id?);
    let named = Operand::IdRef(result);
    let is_decorated = module.data.annotations.iter().any(|inst| inst.operands.first() == Some(&named));
    ((is_computed || loaded) && !is_decorated).then_some((of_type, result))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool,
    Integer(u32),
}

/// The kind of a scalar type.
fn kind(module: &Module, of_type: Word) -> Option<Kind> {
    let inst = module.global(of_type)?;
    match (inst.class.opcode, inst.operands.first()) {
        (Op::TypeBool, _) => Some(Kind::Bool),
        (Op::TypeInt, Some(Operand::LiteralBit32(width))) => Some(Kind::Integer(*width)),
        _ => None,
    }
}

/// Code that computes `result` from an equal value.
fn detour(
    module: &mut Module,
    kind: Kind,
    of_type: Word,
    from: Word,
    result: Word,
    random: &mut Rng,
) -> Vec<Instruction> {
    let of_type = Some(of_type);
    let between = module.fresh_id();
    let two = |first: Op, second: Op| {
        vec![
            with_ids(first, of_type, Some(between), &[from]),
            with_ids(second, of_type, Some(result), &[between]),
        ]
    };
    let zero = module.declare_null(of_type);
    match (kind, random.u32(..4)) {
        (Kind::Bool, 0) => two(Op::LogicalNot, Op::LogicalNot),
        (Kind::Bool, 1) => vec![with_ids(Op::LogicalOr, of_type, Some(result), &[from, zero])],
        (Kind::Bool, 2) => vec![with_ids(Op::LogicalNotEqual, of_type, Some(result), &[from, zero])],
        (Kind::Bool, _) => vec![with_ids(Op::LogicalOr, of_type, Some(result), &[zero, from])],
        (Kind::Integer(_), 0) => two(Op::Not, Op::Not),
        (Kind::Integer(_), 1) => two(Op::SNegate, Op::SNegate),
        (Kind::Integer(_), 2) => vec![with_ids(Op::BitwiseXor, of_type, Some(result), &[from, zero])],
        (Kind::Integer(_), _) => vec![with_ids(Op::IAdd, of_type, Some(result), &[zero, from])],
    }
}

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::each_instruction;
use crate::site::Site;
use crate::{Module, Mutant, Mutator};

/// Takes what a signed comparison of 64 bits compares with a constant for the greatest number that there is, and also what was widened
/// right before, in modules that widen numbers so far. Compilers that narrow such comparisons get there.
pub struct WidenedComparison;

impl Mutator for WidenedComparison {
    fn name(&self) -> &'static str {
        "widened-comparison"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        if !widens(module) {
            return Box::new(std::iter::empty());
        }
        each_instruction(self.name(), module, |site, inst| {
            if !matches!(
                inst.class.opcode,
                Op::SGreaterThan | Op::SGreaterThanEqual | Op::SLessThan | Op::SLessThanEqual
            ) {
                return Vec::new();
            }
            let side = side(module, inst);
            let mutant =
                |(what, index): (&str, usize)| Some((what.to_owned(), made(module, site, inst, index)?));
            side.and_then(mutant).into_iter().collect()
        })
    }
}

/// The side that is widened, or else that stands against a constant; `None` where both are constants or none is.
fn side(module: &Module, inst: &Instruction) -> Option<(&'static str, usize)> {
    let opcodes: Vec<Op> = inst
        .operands
        .iter()
        .filter_map(|operand| Some(module.definition(operand.id_ref_any()?)?.class.opcode))
        .collect();
    let [first, second] = opcodes[..] else { return None };
    let is_constant = |opcode: Op| matches!(opcode, Op::Constant | Op::ConstantComposite | Op::ConstantNull);
    match (is_constant(first), is_constant(second)) {
        (true, true) => None,
        (false, true) => Some(("first", 0)),
        (true, false) => Some(("second", 1)),
        (false, false) if first == Op::SConvert => Some(("first", 0)),
        (false, false) => (second == Op::SConvert).then_some(("second", 1)),
    }
}

/// Whether a number is widened to 64 bits.
fn widens(module: &Module) -> bool {
    let is_long = |ty: Word| element(module, ty).is_some_and(|(scalar, _)| is_long(module, scalar));
    let mut all = module.data.all_inst_iter();
    all.any(|inst| inst.class.opcode == Op::SConvert && inst.result_type.is_some_and(is_long))
}

/// The scalar of a type, and how many of them a vector has.
fn element(module: &Module, ty: Word) -> Option<(Word, Option<u32>)> {
    let of = module.global(ty)?;
    match of.operands.as_slice() {
        [Operand::IdRef(scalar), Operand::LiteralBit32(count)] if of.class.opcode == Op::TypeVector => {
            Some((*scalar, Some(*count)))
        }
        _ => Some((ty, None)),
    }
}

fn is_long(module: &Module, scalar: Word) -> bool {
    let of = module.global(scalar).filter(|of| of.class.opcode == Op::TypeInt);
    of.is_some_and(|of| of.operands.first() == Some(&Operand::LiteralBit32(64)))
}

/// The comparison with the greatest number in the place of an operand.
fn made(module: &Module, site: Site, inst: &Instruction, index: usize) -> Option<Module> {
    let Operand::IdRef(operand) = inst.operands.get(index)? else { return None };
    let ty = module.type_of(*operand)?;
    let (scalar, count) = element(module, ty)?;
    if !is_long(module, scalar) {
        return None;
    }
    let mut changed = module.clone();
    let bits = Operand::LiteralBit64(i64::MAX.cast_unsigned());
    let one = changed.declare(Op::Constant, Some(scalar), vec![bits]);
    let greatest = match count {
        Some(count) => {
            let parts = vec![Operand::IdRef(one); count as usize];
            changed.declare(Op::ConstantComposite, Some(ty), parts)
        }
        None => one,
    };
    let mut inst = inst.clone();
    inst.operands[index] = Operand::IdRef(greatest);
    Some(changed.replacing(site, vec![inst]))
}

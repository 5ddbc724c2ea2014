use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::each_instruction;
use crate::{Module, Mutant, Mutator};

/// Replaces a constant operand: an integer by the next one or the one before, a float by twice as
/// much or by its opposite, a truth value by the other one. Of a vector one component is changed. Indices of access
/// chains are left to [`super::index::WrongIndex`].
pub struct WrongConstant;

/// How a constant changes.
#[derive(Clone, Copy)]
enum Change {
    /// The next integer; twice the float.
    More,
    /// The integer before; the opposite float.
    Less,
}

impl Mutator for WrongConstant {
    fn name(&self) -> &'static str {
        "wrong-constant"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            if matches!(inst.class.opcode, Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain) {
                return Vec::new();
            }
            let mut changes = Vec::new();
            for (index, operand) in inst.operands.iter().enumerate() {
                let Operand::IdRef(id) = operand else { continue };
                for change in [Change::More, Change::Less] {
                    for component in 0..components(module, *id) {
                        let mut changed = module.clone();
                        let Some((what, other)) = replaced(&mut changed, *id, component, change) else {
                            continue;
                        };
                        let mut inst = inst.clone();
                        inst.operands[index] = Operand::IdRef(other);
                        let what = format!("operand {index}, component {component}: {what}");
                        changes.push((what, changed.replacing(site, vec![inst])));
                    }
                }
            }
            changes
        })
    }
}

/// How many components a constant has; none for what is no constant.
fn components(module: &Module, id: Word) -> usize {
    match module.global(id) {
        Some(inst) if inst.class.opcode == Op::ConstantComposite => inst.operands.len(),
        Some(inst) if matches!(inst.class.opcode, Op::Constant | Op::ConstantTrue | Op::ConstantFalse) => 1,
        _ => 0,
    }
}

/// The id of a constant that differs in one component, declared if it is new, and the change in words.
fn replaced(module: &mut Module, id: Word, component: usize, change: Change) -> Option<(String, Word)> {
    let inst = module.global(id)?.clone();
    let of_type = inst.result_type?;
    match inst.class.opcode {
        Op::ConstantComposite => {
            let part = inst.operands.get(component)?.id_ref_any()?;
            // Components of components are not looked into.
            module.global(part).filter(|part| part.class.opcode != Op::ConstantComposite)?;
            let (what, part) = replaced(module, part, 0, change)?;
            let mut operands = inst.operands;
            *operands.get_mut(component)? = Operand::IdRef(part);
            Some((what, module.declare(Op::ConstantComposite, Some(of_type), operands)))
        }
        Op::Constant => {
            let (what, value) = changed_value(module, &inst, change)?;
            Some((what, module.constant(of_type, value)))
        }
        Op::ConstantTrue => flipped(module, of_type, "false", Op::ConstantFalse, change),
        Op::ConstantFalse => flipped(module, of_type, "true", Op::ConstantTrue, change),
        _ => None,
    }
}

/// There is one way only to change a truth value.
fn flipped(
    module: &mut Module,
    of_type: Word,
    what: &str,
    opcode: Op,
    change: Change,
) -> Option<(String, Word)> {
    matches!(change, Change::More)
        .then(|| (what.to_owned(), module.declare(opcode, Some(of_type), Vec::new())))
}

/// The changed value of a 32-bit constant, or of a 16-bit float.
fn changed_value(module: &Module, inst: &Instruction, change: Change) -> Option<(String, u32)> {
    let [Operand::LiteralBit32(value)] = inst.operands.as_slice() else { return None };
    let value = *value;
    let of_type = module.global(inst.result_type?)?;
    let width = of_type.operands.first()?;
    match (of_type.class.opcode, width, change) {
        (Op::TypeInt, Operand::LiteralBit32(32), _) => {
            let (what, other) = match change {
                Change::More => ("plus 1", value.wrapping_add(1)),
                Change::Less => ("minus 1", value.wrapping_sub(1)),
            };
            Some((format!("{} {what}", value.cast_signed()), other))
        }
        (Op::TypeFloat, Operand::LiteralBit32(32), _) => {
            let float = f32::from_bits(value);
            let (what, other) = match change {
                Change::More if float == 0.0 => ("to 1", 1.0),
                Change::More => ("twice", float * 2.0),
                Change::Less => ("negated", -float),
            };
            // The sign of zero is no mistake that anybody would notice.
            (float != other).then(|| (format!("{float} {what}"), other.to_bits()))
        }
        (Op::TypeFloat, Operand::LiteralBit32(16), Change::Less) if value & 0x7FFF != 0 => {
            Some((format!("{value:#x} negated"), value ^ 0x8000))
        }
        _ => None,
    }
}

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::each_instruction;
use crate::site::Site;
use crate::{Module, Mutant, Mutator};

/// Takes an operand that is a zero for one without a sign: the sum of x and 0 is x, the difference of 0 and x is -x, the product
/// of x and 0 is 0. Compilers do so, and must not where a module declares SignedZeroInfNanPreserve.
pub struct SignedZero;

impl Mutator for SignedZero {
    fn name(&self) -> &'static str {
        "signed-zero"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let (Some(ty), [Operand::IdRef(first), Operand::IdRef(second)]) =
                (inst.result_type, inst.operands.as_slice())
            else {
                return Vec::new();
            };
            // Which operand is a zero, and the zeros that stand for the operands then.
            let cases: &[(&str, usize, [Option<Zero>; 2])] = match inst.class.opcode {
                Op::FAdd => {
                    &[("first", 0, [Some(Zero::Negative), None]), ("second", 1, [None, Some(Zero::Negative)])]
                }
                Op::FSub => {
                    &[("first", 0, [Some(Zero::Negative), None]), ("second", 1, [None, Some(Zero::Positive)])]
                }
                Op::FMul => {
                    &[("first", 0, [Some(Zero::Positive); 2]), ("second", 1, [Some(Zero::Positive); 2])]
                }
                _ => return Vec::new(),
            };
            let cases = cases.iter().filter_map(|(what, tested, zeros)| {
                let edit = Edit { ty, operands: [*first, *second], tested: *tested, zeros: *zeros };
                Some(((*what).to_owned(), edit.made(module, site, inst)?))
            });
            cases.collect()
        })
    }
}

#[derive(Clone, Copy, Debug)]
enum Zero {
    Positive,
    Negative,
}

struct Edit {
    ty: Word,
    operands: [Word; 2],
    /// The number of the operand of which it is asked whether it is a zero.
    tested: usize,
    zeros: [Option<Zero>; 2],
}

impl Edit {
    /// The arithmetic, on other zeros where the operand is one.
    fn made(&self, module: &Module, site: Site, inst: &Instruction) -> Option<Module> {
        let mut changed = module.clone();
        let of = changed.global(self.ty)?.clone();
        let boolean = changed.type_id(Op::TypeBool, Vec::new());
        let (scalar, truth) = match of.operands.as_slice() {
            [Operand::IdRef(scalar), Operand::LiteralBit32(count)] if of.class.opcode == Op::TypeVector => {
                let operands = vec![Operand::IdRef(boolean), Operand::LiteralBit32(*count)];
                (*scalar, changed.type_id(Op::TypeVector, operands))
            }
            _ => (self.ty, boolean),
        };
        let positive = changed.declare_null(Some(self.ty));
        let is_zero = changed.fresh_id();
        let compared = vec![Operand::IdRef(*self.operands.get(self.tested)?), Operand::IdRef(positive)];
        let mut code = vec![Instruction::new(Op::FOrdEqual, Some(truth), Some(is_zero), compared)];
        let mut arithmetic = inst.clone();
        arithmetic.operands.clear();
        for (operand, zero) in self.operands.into_iter().zip(self.zeros) {
            let zero = match zero {
                None => {
                    arithmetic.operands.push(Operand::IdRef(operand));
                    continue;
                }
                Some(Zero::Positive) => positive,
                Some(Zero::Negative) => negative(&mut changed, self.ty, scalar)?,
            };
            let chosen = changed.fresh_id();
            let operands = [is_zero, zero, operand].map(Operand::IdRef).to_vec();
            code.push(Instruction::new(Op::Select, Some(self.ty), Some(chosen), operands));
            arithmetic.operands.push(Operand::IdRef(chosen));
        }
        code.push(arithmetic);
        Some(changed.replacing(site, code))
    }
}

/// The constant -0 of a type of floats or of vectors of them.
fn negative(module: &mut Module, ty: Word, scalar: Word) -> Option<Word> {
    let bits = match module.global(scalar)?.operands.first()? {
        Operand::LiteralBit32(width @ (16 | 32)) => Operand::LiteralBit32(1 << (width - 1)),
        Operand::LiteralBit32(64) => Operand::LiteralBit64(1 << 63),
        _ => return None,
    };
    let zero = module.declare(Op::Constant, Some(scalar), vec![bits]);
    if scalar == ty {
        return Some(zero);
    }
    let count = match module.global(ty)?.operands.get(1)? {
        Operand::LiteralBit32(count) => *count as usize,
        _ => return None,
    };
    Some(module.declare(Op::ConstantComposite, Some(ty), vec![Operand::IdRef(zero); count]))
}

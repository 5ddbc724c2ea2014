use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::each_instruction;
use crate::site::Site;
use crate::{Module, Mutant, Mutator};

/// The module, but that each zero among the floats that it stores, or takes the bits of, has one sign. Where two such modules
/// differ, there is the sign of a zero.
pub fn with_zeros(module: &Module, are_negative: bool) -> Module {
    let zero = if are_negative { Zero::Negative } else { Zero::Positive };
    // The places before one that was changed stay what they are.
    module.sites().into_iter().rev().fold(module.clone(), |changed, (site, inst)| {
        let index = match inst.class.opcode {
            Op::Store => 1,
            Op::Bitcast => 0,
            _ => return changed,
        };
        signed(&changed, site, inst, index, zero).unwrap_or(changed)
    })
}

/// The instruction with another operand where that is a zero; `None` where it is neither a float nor a vector of them.
fn signed(module: &Module, site: Site, inst: &Instruction, index: usize, zero: Zero) -> Option<Module> {
    let Operand::IdRef(written) = inst.operands.get(index)? else { return None };
    let ty = module.type_of(*written)?;
    let mut changed = module.clone();
    let types = Types::of(&mut changed, ty)?;
    let (asked, is_zero) = types.is_zero(&mut changed, *written);
    let zero = types.zero(&mut changed, zero)?;
    let (selected, chosen) = types.select(&mut changed, [is_zero, zero, *written]);
    let mut inst = inst.clone();
    inst.operands[index] = Operand::IdRef(chosen);
    Some(changed.replacing(site, vec![asked, selected, inst]))
}

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
        let types = Types::of(&mut changed, self.ty)?;
        let (asked, is_zero) = types.is_zero(&mut changed, *self.operands.get(self.tested)?);
        let mut code = vec![asked];
        let mut arithmetic = inst.clone();
        arithmetic.operands.clear();
        for (operand, zero) in self.operands.into_iter().zip(self.zeros) {
            let operand = match zero {
                None => operand,
                Some(zero) => {
                    let zero = types.zero(&mut changed, zero)?;
                    let (selected, chosen) = types.select(&mut changed, [is_zero, zero, operand]);
                    code.push(selected);
                    chosen
                }
            };
            arithmetic.operands.push(Operand::IdRef(operand));
        }
        code.push(arithmetic);
        Some(changed.replacing(site, code))
    }
}

/// The types of floats, or of vectors of them, that are compared.
struct Types {
    /// Theirs.
    ty: Word,
    /// That of each of them.
    scalar: Word,
    /// How wide that is, in bits.
    width: u32,
    /// How many a vector has.
    count: Option<u32>,
    /// That of the comparison's result.
    truth: Word,
}

impl Types {
    fn of(module: &mut Module, ty: Word) -> Option<Types> {
        let of = module.global(ty)?.clone();
        let (scalar, count) = match of.operands.as_slice() {
            [Operand::IdRef(scalar), Operand::LiteralBit32(count)] if of.class.opcode == Op::TypeVector => {
                (*scalar, Some(*count))
            }
            _ => (ty, None),
        };
        let float = module.global(scalar).filter(|inst| inst.class.opcode == Op::TypeFloat)?;
        let Operand::LiteralBit32(width) = *float.operands.first()? else { return None };
        let boolean = module.type_id(Op::TypeBool, Vec::new());
        let truth = match count {
            Some(count) => {
                let operands = vec![Operand::IdRef(boolean), Operand::LiteralBit32(count)];
                module.type_id(Op::TypeVector, operands)
            }
            None => boolean,
        };
        Some(Types { ty, scalar, width, count, truth })
    }

    /// The question whether a value is a zero, and its result.
    fn is_zero(&self, module: &mut Module, value: Word) -> (Instruction, Word) {
        let (null, id) = (module.declare_null(Some(self.ty)), module.fresh_id());
        let compared = vec![Operand::IdRef(value), Operand::IdRef(null)];
        (Instruction::new(Op::FOrdEqual, Some(self.truth), Some(id), compared), id)
    }

    /// The choice by a condition between two values, and its result.
    fn select(&self, module: &mut Module, operands: [Word; 3]) -> (Instruction, Word) {
        let id = module.fresh_id();
        let operands = operands.map(Operand::IdRef).to_vec();
        (Instruction::new(Op::Select, Some(self.ty), Some(id), operands), id)
    }

    /// The constant of a zero, or of a vector of zeros.
    fn zero(&self, module: &mut Module, zero: Zero) -> Option<Word> {
        if let Zero::Positive = zero {
            return Some(module.declare_null(Some(self.ty)));
        }
        let bits = match self.width {
            16 | 32 => Operand::LiteralBit32(1 << (self.width - 1)),
            64 => Operand::LiteralBit64(1 << 63),
            _ => return None,
        };
        let zero = module.declare(Op::Constant, Some(self.scalar), vec![bits]);
        let Some(count) = self.count else { return Some(zero) };
        let zeros = vec![Operand::IdRef(zero); count as usize];
        Some(module.declare(Op::ConstantComposite, Some(self.ty), zeros))
    }
}

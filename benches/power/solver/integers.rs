//! Scalars: integers, truth values, and comparisons of floats.

use rspirv::dr::Instruction;
use rspirv::spirv::{GlslStd450Op, Op};

use super::evaluate::{function, Asides};
use super::side::Side;
use super::terms::{Term, Terms};

/// The operation of SMT-LIB that an instruction is.
fn operation(opcode: Op) -> Option<&'static str> {
    Some(match opcode {
        Op::SNegate => "bvneg",
        Op::Not => "bvnot",
        Op::IAdd => "bvadd",
        Op::ISub => "bvsub",
        Op::IMul => "bvmul",
        Op::UDiv => "bvudiv",
        Op::SDiv => "bvsdiv",
        Op::UMod => "bvurem",
        Op::SRem => "bvsrem",
        Op::SMod => "bvsmod",
        Op::ShiftLeftLogical => "bvshl",
        Op::ShiftRightLogical => "bvlshr",
        Op::ShiftRightArithmetic => "bvashr",
        Op::BitwiseAnd => "bvand",
        Op::BitwiseOr => "bvor",
        Op::BitwiseXor => "bvxor",
        Op::IEqual | Op::LogicalEqual => "=",
        Op::INotEqual | Op::LogicalNotEqual => "distinct",
        Op::ULessThan => "bvult",
        Op::ULessThanEqual => "bvule",
        Op::UGreaterThan => "bvugt",
        Op::UGreaterThanEqual => "bvuge",
        Op::SLessThan => "bvslt",
        Op::SLessThanEqual => "bvsle",
        Op::SGreaterThan => "bvsgt",
        Op::SGreaterThanEqual => "bvsge",
        Op::LogicalNot => "not",
        Op::LogicalAnd => "and",
        Op::LogicalOr => "or",
        _ => return None,
    })
}

/// The comparison that a comparison of floats is, and whether it is that of the opposite, which NaNs pass.
fn comparison(opcode: Op) -> Option<(&'static str, bool)> {
    Some(match opcode {
        Op::FOrdEqual => ("fp.eq", false),
        Op::FUnordNotEqual => ("fp.eq", true),
        Op::FOrdLessThan => ("fp.lt", false),
        Op::FOrdLessThanEqual => ("fp.leq", false),
        Op::FOrdGreaterThan => ("fp.gt", false),
        Op::FOrdGreaterThanEqual => ("fp.geq", false),
        Op::FUnordLessThan => ("fp.geq", true),
        Op::FUnordLessThanEqual => ("fp.gt", true),
        Op::FUnordGreaterThan => ("fp.leq", true),
        Op::FUnordGreaterThanEqual => ("fp.lt", true),
        Op::IsNan => ("fp.isNaN", false),
        Op::IsInf => ("fp.isInfinite", false),
        _ => return None,
    })
}

pub fn computes(opcode: Op) -> bool {
    let others = matches!(
        opcode,
        Op::UConvert
            | Op::SConvert
            | Op::ConvertUToF
            | Op::ConvertSToF
            | Op::BitFieldUExtract
            | Op::BitFieldSExtract
            | Op::BitFieldInsert
            | Op::FOrdNotEqual
            | Op::FUnordEqual
    );
    others || operation(opcode).is_some() || comparison(opcode).is_some()
}

/// What an instruction makes of scalars; `None` where only its name is known.
pub fn scalar(
    inst: &Instruction,
    of: &[Term],
    bits: u32,
    side: &Side<'_>,
    terms: &mut Terms,
    asides: &mut Asides,
) -> Option<Term> {
    let opcode = inst.class.opcode;
    if opcode == Op::ExtInst {
        return extended(function(inst)?, of, side, terms, asides);
    }
    if let Some((name, is_opposite)) = comparison(opcode) {
        let holds = terms.floats(name, of)?;
        return Some(if is_opposite { terms.not(holds) } else { holds });
    }
    match (opcode, of) {
        (Op::FOrdNotEqual | Op::FUnordEqual, [one, other]) => {
            // Neither is less: they are equal, or one is a NaN.
            let less = terms.floats("fp.lt", &[*one, *other])?;
            let greater = terms.floats("fp.gt", &[*one, *other])?;
            let differ = terms.apply("or", &[less, greater], 0);
            Some(if opcode == Op::FOrdNotEqual { differ } else { terms.not(differ) })
        }
        (Op::UConvert, [one]) => Some(terms.resized(*one, bits, false)),
        (Op::SConvert, [one]) => Some(terms.resized(*one, bits, true)),
        // What the float is depends on the number alone, however it was written.
        (Op::ConvertUToF | Op::ConvertSToF, [one]) => {
            let number = terms.resized(*one, 65, opcode == Op::ConvertSToF);
            Some(terms.unknown(&format!("float of {}", side.place), &[number], bits))
        }
        (Op::BitFieldUExtract | Op::BitFieldSExtract | Op::BitFieldInsert, _) => {
            field(opcode, of, side, terms, asides)
        }
        (Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic, [one, by]) => {
            if by.bits() > one.bits() {
                return None;
            }
            let by = terms.resized(*by, one.bits(), false);
            let width = terms.number(one.bits(), u64::from(one.bits()));
            let is_defined = terms.apply("bvult", &[by, width], 0);
            let shifted = terms.apply(operation(opcode)?, &[*one, by], bits);
            Some(asides.defined_if(&[is_defined], shifted, of, side, terms))
        }
        (Op::UDiv | Op::UMod | Op::SDiv | Op::SRem | Op::SMod, [one, by]) => {
            divides(!matches!(opcode, Op::UDiv | Op::UMod), *one, *by, terms, &mut asides.defined);
            if opcode == Op::UMod && terms.literal(*by).is_none() {
                masks(*one, *by, terms);
            }
            if opcode == Op::UDiv && terms.literal(*by).is_none() {
                vanishes(*one, *by, terms);
            }
            Some(terms.apply(operation(opcode)?, of, bits))
        }
        _ => {
            let alike = of.iter().all(|term| term.bits() == of[0].bits());
            alike.then(|| operation(opcode))?.map(|name| terms.apply(name, of, bits))
        }
    }
}

/// States that nothing is left of what is less than its divisor, which is hard to find out for products.
fn vanishes(one: Term, by: Term, terms: &mut Terms) {
    let bits = one.bits();
    let zero = terms.number(bits, 0);
    let is_less = terms.apply("bvult", &[one, by], 0);
    let quotient = terms.apply("bvudiv", &[one, by], bits);
    let is_zero = terms.apply("=", &[quotient, zero], 0);
    let fact = terms.apply("=>", &[is_less, is_zero], 0);
    terms.fact(fact);
}

/// States that what is left of a division by a power of two are bits, which is hard to find out.
fn masks(one: Term, by: Term, terms: &mut Terms) {
    let bits = one.bits();
    let (zero, unit) = (terms.number(bits, 0), terms.number(bits, 1));
    let below = terms.apply("bvsub", &[by, unit], bits);
    let common = terms.apply("bvand", &[by, below], bits);
    let is_power = terms.apply("=", &[common, zero], 0);
    let (left, masked) = (terms.apply("bvurem", &[one, by], bits), terms.apply("bvand", &[one, below], bits));
    let is_mask = terms.apply("=", &[left, masked], 0);
    let fact = terms.apply("=>", &[is_power, is_mask], 0);
    terms.fact(fact);
}

/// A division by zero has undefined behaviour, and so has one whose quotient does not fit.
fn divides(is_signed: bool, one: Term, by: Term, terms: &mut Terms, defined: &mut Vec<Term>) {
    let bits = one.bits();
    let zero = terms.number(bits, 0);
    defined.push(terms.apply("distinct", &[by, zero], 0));
    if is_signed {
        let (least, minus) = (terms.number(bits, 1 << (bits - 1)), terms.number(bits, u64::MAX));
        let fits = [terms.apply("distinct", &[one, least], 0), terms.apply("distinct", &[by, minus], 0)];
        defined.push(terms.apply("or", &fits, 0));
    }
}

fn field(opcode: Op, of: &[Term], side: &Side<'_>, terms: &mut Terms, asides: &mut Asides) -> Option<Term> {
    let (base, offset, count) = match *of {
        [base, offset, count] => (base, offset, count),
        [base, _, offset, count] => (base, offset, count),
        _ => return None,
    };
    let bits = base.bits();
    if offset.bits() > bits || count.bits() > bits {
        return None;
    }
    let (offset, count) = (terms.resized(offset, bits, false), terms.resized(count, bits, false));
    let width = terms.number(bits, u64::from(bits));
    let left = terms.apply("bvsub", &[width, offset], bits);
    let is_defined = [terms.apply("bvule", &[offset, width], 0), terms.apply("bvule", &[count, left], 0)];
    let (zero, one) = (terms.number(bits, 0), terms.number(bits, 1));
    let power = terms.apply("bvshl", &[one, count], bits);
    let mask = terms.apply("bvsub", &[power, one], bits);
    let value = match opcode {
        Op::BitFieldUExtract => {
            let shifted = terms.apply("bvlshr", &[base, offset], bits);
            terms.apply("bvand", &[shifted, mask], bits)
        }
        Op::BitFieldSExtract => {
            let above = terms.apply("bvsub", &[left, count], bits);
            let rest = terms.apply("bvsub", &[width, count], bits);
            let high = terms.apply("bvshl", &[base, above], bits);
            let extended = terms.apply("bvashr", &[high, rest], bits);
            let none = terms.apply("=", &[count, zero], 0);
            terms.choose(none, zero, extended)
        }
        _ => {
            let mask = terms.apply("bvshl", &[mask, offset], bits);
            let inserted = terms.apply("bvshl", &[of[1], offset], bits);
            let inserted = terms.apply("bvand", &[inserted, mask], bits);
            let others = terms.apply("bvnot", &[mask], bits);
            let kept = terms.apply("bvand", &[base, others], bits);
            terms.apply("bvor", &[kept, inserted], bits)
        }
    };
    Some(asides.defined_if(&is_defined, value, of, side, terms))
}

fn extended(
    function: GlslStd450Op,
    of: &[Term],
    side: &Side<'_>,
    terms: &mut Terms,
    asides: &mut Asides,
) -> Option<Term> {
    use GlslStd450Op as Gl;
    let bits = of.first()?.bits();
    let less = |name: &str, one: Term, other: Term, terms: &mut Terms| {
        let holds = terms.apply(name, &[one, other], 0);
        terms.choose(holds, one, other)
    };
    Some(match (function, of) {
        (Gl::UMin, [one, other]) => less("bvult", *one, *other, terms),
        (Gl::SMin, [one, other]) => less("bvslt", *one, *other, terms),
        (Gl::UMax, [one, other]) => less("bvugt", *one, *other, terms),
        (Gl::SMax, [one, other]) => less("bvsgt", *one, *other, terms),
        (Gl::UClamp | Gl::SClamp, [one, low, high]) => {
            let (below, above) = if function == Gl::UClamp { ("bvult", "bvugt") } else { ("bvslt", "bvsgt") };
            let raised = less(above, *one, *low, terms);
            let clamped = less(below, raised, *high, terms);
            let empty = terms.apply(above, &[*low, *high], 0);
            let is_defined = terms.not(empty);
            asides.defined_if(&[is_defined], clamped, of, side, terms)
        }
        (Gl::SAbs, [one]) => {
            let zero = terms.number(bits, 0);
            let negative = terms.apply("bvslt", &[*one, zero], 0);
            let negated = terms.apply("bvneg", &[*one], bits);
            terms.choose(negative, negated, *one)
        }
        _ => return None,
    })
}

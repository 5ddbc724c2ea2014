//! Floats: what GLSL.std.450 leaves undefined, what clamps, and what is no less than something else.

use std::collections::{HashMap, HashSet};

use rspirv::dr::Instruction;
use rspirv::spirv::{GlslStd450Op, Op};

use super::evaluate::{function, Asides};
use super::side::Side;
use super::terms::{Term, Terms};

/// What is known of the floats of a module.
#[derive(Default)]
pub struct Floats {
    /// Those that have no sign bit, or are NaNs.
    positive: HashSet<Term>,
    /// Sums and differences, by their operands.
    sums: HashMap<(Term, Term), Term>,
    differences: HashMap<(Term, Term), Term>,
}

impl Floats {
    /// Notes what an instruction makes of these scalars.
    pub fn note(&mut self, inst: &Instruction, of: &[Term], result: Term, terms: &mut Terms) {
        let is_positive = |term: &Term| self.positive.contains(term) || is_number(*term, terms);
        match inst.class.opcode {
            Op::Fwidth | Op::FwidthFine | Op::FwidthCoarse => _ = self.positive.insert(result),
            Op::FMul | Op::FAdd if of.iter().all(is_positive) => _ = self.positive.insert(result),
            Op::ExtInst if is_length(inst) => _ = self.positive.insert(result),
            _ => {}
        }
        let [one, other] = *of else { return };
        let of = (one, other);
        match inst.class.opcode {
            Op::FAdd => _ = self.sums.insert(of, result),
            Op::FSub => _ = self.differences.insert(of, result),
            _ => return,
        }
        // Rounding keeps the order, whichever way it goes (Vulkan, "Precision and Operation of SPIR-V Instructions").
        let (Some(sum), Some(difference)) = (self.sums.get(&of), self.differences.get(&of)) else { return };
        if !self.positive.contains(&other) {
            return;
        }
        if let Some(less) = terms.floats("fp.lt", &[*sum, *difference]) {
            let fact = terms.not(less);
            terms.fact(fact);
        }
    }
}

/// Whether the value is an absolute one, or a root.
fn is_length(inst: &Instruction) -> bool {
    use GlslStd450Op as Gl;
    matches!(function(inst), Some(Gl::FAbs | Gl::Length | Gl::Distance | Gl::Sqrt))
}

/// Whether a term is a literal number, positive or zero without a sign.
fn is_number(term: Term, terms: &Terms) -> bool {
    let infinity = match term.bits() {
        16 => 0x7c00,
        32 => 0x7f80_0000,
        64 => 0x7ff0_0000_0000_0000,
        _ => return false,
    };
    terms.literal(term).is_some_and(|bits| bits <= infinity)
}

/// Minima, maxima and clamps of numbers, and what SmoothStep leaves undefined; `None` where only the name is known.
pub fn extended(
    inst: &Instruction,
    of: &[Term],
    side: &Side<'_>,
    terms: &mut Terms,
    asides: &mut Asides,
) -> Option<Term> {
    use GlslStd450Op as Gl;
    let (conditions, value) = match (function(inst)?, of) {
        (Gl::FMin, [one, other]) => bounded(("fp.gt", *one, *other), terms)?,
        (Gl::FMax, [one, other]) => bounded(("fp.lt", *one, *other), terms)?,
        (Gl::FClamp, [one, low, high]) => {
            let (mut conditions, raised) = bounded(("fp.lt", *one, *low), terms)?;
            let (others, clamped) = bounded(("fp.gt", raised, *high), terms)?;
            conditions.extend(others);
            conditions.push(terms.floats("fp.leq", &[*low, *high])?);
            (conditions, clamped)
        }
        (Gl::SmoothStep, [low, high, _]) => {
            let value = terms.unknown(&format!("SmoothStep of {}", side.place), of, low.bits());
            (vec![terms.floats("fp.lt", &[*low, *high])?], value)
        }
        _ => return None,
    };
    Some(asides.defined_if(&conditions, value, of, side, terms))
}

/// A number, or its bound where it is on the other side of that; and what this takes: neither is a NaN, nor are they zeros
/// with different signs.
fn bounded((beyond, one, bound): (&str, Term, Term), terms: &mut Terms) -> Option<(Vec<Term>, Term)> {
    let is_beyond = terms.floats(beyond, &[one, bound])?;
    let equal = terms.floats("fp.eq", &[one, bound])?;
    let (nans, same) = (
        [terms.floats("fp.isNaN", &[one])?, terms.floats("fp.isNaN", &[bound])?],
        terms.apply("=", &[one, bound], 0),
    );
    let mut conditions: Vec<Term> = nans.into_iter().map(|nan| terms.not(nan)).collect();
    let differ = terms.not(equal);
    conditions.push(terms.apply("or", &[differ, same], 0));
    Some((conditions, terms.choose(is_beyond, bound, one)))
}

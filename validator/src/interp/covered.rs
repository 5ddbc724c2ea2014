//! Which ways the instructions that tell values apart went, for [`Coverage`]: truth values that were false and true, lesser
//! and greater values and bounds that were the result.

use super::machine::Machine;
use crate::coverage::Coverage;
use crate::ir::{FloatFunction2, FloatFunction3, GlslFunction, Inst, InstId, Op, Operand};

/// The ways of an instruction: of each component, so many.
struct Ways {
    count: u32,
    ways: u32,
}

/// The operands of a function that has one of them as its result.
fn choice(function: &GlslFunction) -> Option<&[Operand]> {
    match function {
        GlslFunction::Float2(
            FloatFunction2::Min | FloatFunction2::Max | FloatFunction2::NMin | FloatFunction2::NMax,
            operands,
        )
        | GlslFunction::Integer2(_, operands) => Some(operands),
        GlslFunction::Float3(FloatFunction3::Clamp | FloatFunction3::NClamp, operands)
        | GlslFunction::Clamp { operands, .. } => Some(operands),
        GlslFunction::Float(..)
        | GlslFunction::Float2(..)
        | GlslFunction::Float3(..)
        | GlslFunction::Transcendental(..)
        | GlslFunction::Integer(..)
        | GlslFunction::FindBit { .. }
        | GlslFunction::ModfStruct(_)
        | GlslFunction::FrexpStruct { .. }
        | GlslFunction::Ldexp { .. }
        | GlslFunction::Pack(..)
        | GlslFunction::Unpack(..)
        | GlslFunction::PackDouble(_)
        | GlslFunction::UnpackDouble(_)
        | GlslFunction::Vector(_) => None,
    }
}

impl Ways {
    fn of(op: &Op) -> Option<Ways> {
        match op {
            Op::Binary { op, count, .. } if op.is_condition() => Some(Ways { count: *count, ways: 2 }),
            Op::Any { .. } | Op::All { .. } => Some(Ways { count: 1, ways: 2 }),
            Op::Glsl(op) => {
                choice(&op.function).map(|operands| Ways { count: op.count, ways: operands.len() as u32 })
            }
            // All others have one way.
            _ => None,
        }
    }

    fn side(&self, component: u32, way: u32) -> u32 {
        component * self.ways + way
    }
}

/// Whether an instruction was executed, and a component of it never went one of its ways.
pub fn is_half_covered(coverage: &Coverage, at: InstId, op: &Op) -> bool {
    let Some(ways) = Ways::of(op) else { return false };
    (0..ways.count).any(|component| {
        let taken = (0..ways.ways).filter(|way| coverage.has(at, ways.side(component, *way))).count();
        taken != 0 && taken < ways.ways as usize
    })
}

impl Machine<'_> {
    /// Notes truth values that an instruction has computed.
    #[inline]
    pub(super) fn cover_truths(&self, dst: u32, count: u32) {
        let ways = Ways { count, ways: 2 };
        for component in 0..count {
            let value = self.state.register(dst + component);
            if value.is_defined() {
                self.cover_way(ways.side(component, (value.bits & 1) as u32));
            }
        }
    }

    /// Notes the ways of an instruction that has computed.
    #[inline]
    pub(super) fn cover(&self, inst: &Inst) {
        match &inst.op {
            Op::Binary { op, count, dst, .. } if op.is_condition() => self.cover_truths(*dst, *count),
            Op::Any { dst, .. } | Op::All { dst, .. } => self.cover_truths(*dst, 1),
            Op::Glsl(op) => {
                if let (Some(operands), Some(ways)) = (choice(&op.function), Ways::of(&inst.op)) {
                    self.cover_choice(op.dst, &ways, operands);
                }
            }
            // All others have one way.
            _ => {}
        }
    }

    /// Notes which operand each component of the result is: the first that it equals.
    fn cover_choice(&self, dst: u32, ways: &Ways, operands: &[Operand]) {
        for component in 0..ways.count {
            let result = self.state.register(dst + component);
            let taken = operands.iter().position(|operand| self.value(operand.offset(component)) == result);
            if let Some(taken) = taken {
                self.cover_way(ways.side(component, taken as u32));
            }
        }
    }

    fn cover_way(&self, side: u32) {
        self.dispatch.coverage.take(self.state.frame.instruction(), side);
    }
}

//! Which executed float operations might have given another result than they did.
//!
//! The interpreter computes IEEE 754 results, rounded to nearest even. The SPIR-V environment for
//! Vulkan ("Precision and Operation of SPIR-V Instructions") demands less: the direction of rounding is
//! the implementation's unless RoundingModeRTE asks for it, division has an error, denormals may be
//! flushed, NaNs, infinities and the sign of zero need not be kept, and what is not decorated
//! NoContraction may be contracted and reassociated. An operation is recorded where that freedom
//! reaches the operands at hand. For GLSL.std.450, see `glsl/inexact.rs`.

use super::float::{to_double, Format};
use super::invocation::Invocation;
use super::machine::Machine;
use crate::ir::{
    BinaryKind, BinaryOp, ConvertOp, FloatBinary, FloatModes, Inst, InstId, MatrixOp, Operand, UnaryOp,
};
use crate::value::Scalar;

/// What role a value has in an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Operand,
    /// Of a comparison, which does not see the sign of zero.
    Compared,
    /// Of arithmetic: a zero may have either sign.
    Result,
}

/// Instructions that an invocation has recorded: most of them, and no others. Nothing more is to be found out
/// about these.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorded(Option<Box<[Option<InstId>; RECORDED]>>);

/// Neighbouring instructions have different places: no loop with fewer has to ask twice.
const RECORDED: usize = 64;

impl Recorded {
    #[inline]
    fn contains(&self, at: InstId) -> bool {
        self.0.as_ref().is_some_and(|table| table[at.index as usize % RECORDED] == Some(at))
    }

    fn insert(&mut self, at: InstId) {
        let table = self.0.get_or_insert_with(|| Box::new([None; RECORDED]));
        table[at.index as usize % RECORDED] = Some(at);
    }

    fn remove(&mut self, at: InstId) {
        if let Some(table) = &mut self.0 {
            table[at.index as usize % RECORDED] = None;
        }
    }
}

impl Invocation {
    /// Whether the instruction at `at`, which has run, might have given another result. Each time that it runs it is found out
    /// anew.
    pub(super) fn take_open(&mut self, at: InstId) -> bool {
        let is_open = !self.take_inexact().is_empty();
        if is_open {
            self.recorded.remove(at);
        }
        is_open
    }
}

impl Machine<'_> {
    /// Whether the instruction that runs is recorded already.
    #[inline]
    fn is_recorded(&self) -> bool {
        self.state.recorded.contains(self.state.frame.instruction())
    }

    /// Records the instruction.
    #[cold]
    pub(super) fn record(&mut self, inst: &Inst) {
        self.state.recorded.insert(self.state.frame.instruction());
        self.state.inexact.insert(inst.named());
    }

    /// Records the instruction that runs: an atomic on floats, whose rounding, NaNs and zeros are open, or a
    /// conversion or filtering of texels.
    pub(super) fn note_here(&mut self) {
        let program = self.program;
        if let Some(inst) = self.state.function(program).code.get(self.state.frame.pc as usize) {
            self.record(inst);
        }
    }

    /// Records a unary operation if it is an inexact one of floats.
    pub(super) fn note_unary(&mut self, inst: &Inst, op: UnaryOp, width: u8, a: Scalar, result: Scalar) {
        let modes = self.program.modes.floats;
        let inexact = match op {
            UnaryOp::SNegate
            | UnaryOp::Not
            | UnaryOp::LogicalNot
            | UnaryOp::BitReverse
            | UnaryOp::BitCount
            | UnaryOp::CountLeadingZeros
            | UnaryOp::CountTrailingZeros => false,
            UnaryOp::FNegate => {
                is_free(modes, width, a, Role::Operand) || is_free(modes, width, result, Role::Result)
            }
            UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite | UnaryOp::IsNormal => {
                is_free(modes, width, a, Role::Compared)
            }
            UnaryOp::SignBitSet => is_free(modes, width, a, Role::Result),
            UnaryOp::QuantizeToF16 => a != result || is_free(modes, width, a, Role::Operand),
        };
        if inexact {
            self.record(inst);
        }
    }

    /// The operation that runs, if it is one of floats and not recorded yet: [`Machine::note_binary`] is for these.
    #[inline]
    pub(super) fn unrecorded_float(&self, op: BinaryOp) -> Option<FloatBinary> {
        match op.kind() {
            BinaryKind::Float(op) => (!self.is_recorded()).then_some(op),
            BinaryKind::IntegerDivision | BinaryKind::Other => None,
        }
    }

    /// Records a binary operation of floats if it is an inexact one.
    pub(super) fn note_binary(&mut self, inst: &Inst, op: FloatBinary, width: u8, values: [Scalar; 3]) {
        let modes = self.program.modes.floats;
        let [a, b, result] = values;
        let inexact = match op {
            FloatBinary::Add | FloatBinary::Subtract | FloatBinary::Multiply => {
                let contracts = !inst.no_contraction || modes.fast_math;
                let steady = is_tame(width, a) && is_tame(width, b);
                let free = if contracts {
                    !steady
                } else {
                    !steady && !modes.fixes_rounding(width) && is_rounded(op, width, values)
                };
                free || is_free(modes, width, a, Role::Operand)
                    || is_free(modes, width, b, Role::Operand)
                    || is_free(modes, width, result, Role::Result)
            }
            FloatBinary::Divide | FloatBinary::Remainder | FloatBinary::Modulo => true,
            FloatBinary::Compare | FloatBinary::Order => {
                is_free(modes, width, a, Role::Compared) || is_free(modes, width, b, Role::Compared)
            }
        };
        if inexact {
            self.record(inst);
        }
    }

    /// Records a conversion from a float if its operand is one that need not be kept. A conversion to an
    /// integer is asked before it is evaluated: it may be a fault.
    pub(super) fn note_converted(&mut self, inst: &Inst, op: ConvertOp, from: u8, a: Scalar) {
        let role = match op {
            ConvertOp::ConvertFToU | ConvertOp::ConvertFToS => Role::Compared,
            ConvertOp::FConvert => Role::Operand,
            ConvertOp::ConvertSToF
            | ConvertOp::ConvertUToF
            | ConvertOp::UConvert
            | ConvertOp::SConvert
            | ConvertOp::Bitcast => return,
        };
        if is_free(self.program.modes.floats, from, a, role) {
            self.record(inst);
        }
    }

    /// Records a conversion to a float if it rounded, or gave what need not be kept.
    pub(super) fn note_conversion(
        &mut self,
        inst: &Inst,
        op: ConvertOp,
        [from, to]: [u8; 2],
        a: Scalar,
        result: Scalar,
    ) {
        let modes = self.program.modes.floats;
        let integer = match op {
            ConvertOp::ConvertSToF => {
                let unused = 64 - u32::from(from);
                i128::from(((a.bits << unused) as i64) >> unused)
            }
            ConvertOp::ConvertUToF => i128::from(a.bits),
            ConvertOp::FConvert => 0,
            ConvertOp::ConvertFToU
            | ConvertOp::ConvertFToS
            | ConvertOp::UConvert
            | ConvertOp::SConvert
            | ConvertOp::Bitcast => return,
        };
        let rounds = a.is_defined()
            && to_double(to, result.bits).is_ok_and(|value| match op {
                ConvertOp::FConvert => to_double(from, a.bits).is_ok_and(|exact| exact != value),
                _ => value as i128 != integer,
            });
        if rounds && !modes.fixes_rounding(to) || is_free(modes, to, result, Role::Operand) {
            self.record(inst);
        }
    }

    /// Records a product of vectors or matrices, whose terms may be rounded and added in any order, unless
    /// that cannot matter.
    pub(super) fn note_matrix(&mut self, inst: &Inst, op: &MatrixOp) {
        let (width, dst, results, operands): (u8, u32, u32, [(Operand, u32); 2]) = match *op {
            MatrixOp::Dot { dst, width, count, a, b } => (width, dst, 1, [(a, count), (b, count)]),
            MatrixOp::TimesScalar { dst, width, count, a, scalar } => {
                // Products of components, like any others.
                for i in 0..count {
                    let result = self.value(Operand::register(dst + i));
                    let values = [self.value(a.offset(i)), self.value(scalar), result];
                    self.note_binary(inst, FloatBinary::Multiply, width, values);
                }
                return;
            }
            MatrixOp::VectorTimesMatrix { dst, width, rows, columns, a, b } => {
                (width, dst, columns, [(a, rows), (b, rows * columns)])
            }
            MatrixOp::MatrixTimesVector { dst, width, rows, columns, a, b } => {
                (width, dst, rows, [(a, rows * columns), (b, columns)])
            }
            MatrixOp::MatrixTimesMatrix { dst, width, rows, inner, columns, a, b } => {
                (width, dst, rows * columns, [(a, rows * inner), (b, inner * columns)])
            }
            MatrixOp::OuterProduct { dst, width, rows, columns, a, b } => {
                (width, dst, rows * columns, [(a, rows), (b, columns)])
            }
            MatrixOp::Transpose { .. } => return,
        };
        if self.is_recorded() {
            return;
        }
        let modes = self.program.modes.floats;
        let operand = |(first, count): (Operand, u32)| {
            (0..count).any(|i| {
                let value = self.value(first.offset(i));
                !is_tame(width, value) || is_free(modes, width, value, Role::Operand)
            })
        };
        let result = |i| is_free(modes, width, self.value(Operand::register(dst + i)), Role::Result);
        if operands.into_iter().any(operand) || (0..results).any(result) {
            self.record(inst);
        }
    }
}

/// Whether an implementation may treat this very value as another one, whatever is done with it.
#[inline]
pub(super) fn is_free(modes: FloatModes, width: u8, a: Scalar, role: Role) -> bool {
    let Ok(format) = Format::of_width(width) else { return true };
    if !a.is_defined() {
        return false;
    }
    let exponent = a.bits & format.exponent;
    if exponent != 0 && exponent != format.exponent {
        return false;
    }
    let is_zero = a.bits & !format.sign == 0;
    if exponent == 0 && !is_zero {
        return !modes.preserves_denormals(width);
    }
    let matters = match role {
        Role::Compared => !is_zero,
        Role::Operand => !is_zero || a.bits & format.sign != 0,
        Role::Result => true,
    };
    matters && (modes.fast_math || !modes.preserves_special_values(width))
}

/// Whether an implementation may take another value for this operand.
pub(super) fn is_free_operand(modes: FloatModes, width: u8, a: Scalar) -> bool {
    is_free(modes, width, a, Role::Operand)
}

/// Whether an implementation may give another value than this result.
pub(super) fn is_free_result(modes: FloatModes, width: u8, a: Scalar) -> bool {
    is_free(modes, width, a, Role::Result)
}

/// Whether the value is so small and round that sums and products of a few such values are exact in
/// any order, contracted or not: then no rearrangement of an expression changes its result. For 32
/// bits the sum of 2^14 of them is exact, and so is the sum of 16 products of two.
#[inline]
pub(super) fn is_tame(width: u8, a: Scalar) -> bool {
    let (unit, most) = tame(width);
    is_multiple(width, a, unit, most)
}

/// Of what fraction such values are multiples, and their greatest magnitude.
pub(super) const fn tame(width: u8) -> (f64, f64) {
    if width == 16 {
        (2.0, 4.0)
    } else {
        (8.0, 128.0)
    }
}

/// Whether the value is a multiple of 1 / `unit` of at most this magnitude, or undefined.
pub(super) fn is_multiple(width: u8, a: Scalar, unit: f64, most: f64) -> bool {
    if !a.is_defined() {
        // The result is undefined whatever is done.
        return true;
    }
    to_double(width, a.bits).is_ok_and(|value| value.abs() <= most && (value * unit).fract() == 0.0)
}

/// Whether the result of a sum, difference or product is not the exact one.
pub(super) fn is_rounded(op: FloatBinary, width: u8, [a, b, result]: [Scalar; 3]) -> bool {
    if !(a.is_defined() && b.is_defined()) {
        return false;
    }
    let (Ok(a), Ok(b), Ok(result)) =
        (to_double(width, a.bits), to_double(width, b.bits), to_double(width, result.bits))
    else {
        return true;
    };
    if !(a.is_finite() && b.is_finite()) {
        return false;
    }
    if op == FloatBinary::Multiply {
        let product = a * b;
        // Products of narrower formats are exact in 64 bits. Near the smallest doubles the error itself
        // would be lost.
        let exact =
            width < 64 || a == 0.0 || b == 0.0 || product.abs() > 1e-280 && a.mul_add(b, -product) == 0.0;
        return !(exact && product == result);
    }
    let b = if op == FloatBinary::Subtract { -b } else { b };
    let sum = a + b;
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    !(error == 0.0 && sum == result)
}

//! Runs that are watched: what an invocation compares, and what its instructions give.

use super::float::to_double;
use super::machine::Machine;
use super::{Invocation, SharedMemory, Stop};
use crate::dispatch::Dispatch;
use crate::ir::{
    BinaryKind, ControlOp, ConvertOp, ExtendedOp, FloatBinary, FloatFunction2, FloatFunction3, GlslFunction,
    GlslOp, Inst, InstId, IntegerFunction2, Line, Op, Operand, Program,
};
use crate::value::Scalar;

/// Two values that an instruction tells apart by their order: the operands of a comparison, a value and a bound that it is
/// clamped to, a selector and a case; zero and an integer whose sign matters; a number and what it is divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compared {
    /// The instruction.
    pub at: InstId,
    /// Which of the pairs that it compares.
    pub number: u32,
    /// The two.
    pub values: [f64; 2],
    /// What hangs on their order.
    pub about: About,
}

/// What hangs on the order of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// What is made of the two: the truth of a comparison, the result of a clamp.
    Order,
    /// How an integer is taken that is negative if it is taken for a signed one. The other one is zero.
    Sign,
    /// Whether a quotient is zero, and a remainder what was divided.
    Quotient,
}

/// How values are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Unsigned,
    Signed,
    Floats,
}

/// What a value is compared with.
#[derive(Clone, Copy)]
enum With {
    Operand(Operand),
    Literal(u64),
    /// Zero: its sign is what matters.
    Zero,
    /// What it is divided by.
    Divisor(Operand),
    /// Two to the power of what it is shifted by.
    Shift(Operand),
}

/// Components that are compared, one by one.
struct Pairs {
    width: u8,
    count: u32,
    operands: Vec<(Order, Operand, With)>,
}

/// An integer whose sign matters.
const fn sign_of(operand: Operand) -> (Order, Operand, With) {
    (Order::Signed, operand, With::Zero)
}

impl Invocation {
    /// As [`Invocation::run`], and tells what is compared before each instruction that compares; ends early, as if fuel were
    /// spent, once it is told that this is enough.
    pub fn run_watched(
        &mut self,
        program: &Program,
        dispatch: &Dispatch,
        memory: &mut dyn SharedMemory,
        fuel: &mut u64,
        watch: &mut dyn FnMut(Compared) -> Enough,
    ) -> Stop {
        while *fuel > 0 && !self.finished {
            let (function, index) = (self.frame.function, self.frame.pc);
            let inst = &self.function(program).code[index as usize];
            if let Some(pairs) = pairs(inst) {
                let machine = Machine { state: &mut *self, program, dispatch, memory: &mut *memory };
                let found = values(&machine, &pairs);
                for (number, (values, about)) in (0..).zip(found) {
                    let at = InstId { function, index };
                    let compared = values.map(|values| Compared { at, number, values, about });
                    if compared.is_some_and(|compared| watch(compared) == Enough::Yes) {
                        return Stop::OutOfFuel;
                    }
                }
            }
            *fuel -= 1;
            let stop = self.run(program, dispatch, &mut *memory, &mut 1);
            if !matches!(stop, Stop::OutOfFuel) {
                return stop;
            }
        }
        if self.finished {
            Stop::Finished
        } else {
            Stop::OutOfFuel
        }
    }
}

impl Invocation {
    /// As [`Invocation::run`], and tells what each instruction gave, by its line.
    pub fn run_traced(
        &mut self,
        program: &Program,
        dispatch: &Dispatch,
        memory: &mut dyn SharedMemory,
        fuel: &mut u64,
        trace: &mut dyn FnMut(Line, &[Scalar]),
    ) -> Stop {
        while *fuel > 0 && !self.finished {
            let (line, depth) = (self.instruction(program).map(|inst| inst.line), self.callers.len());
            *fuel -= 1;
            let stop = self.run(program, dispatch, &mut *memory, &mut 1);
            if let Some(line) = line.filter(|_| self.callers.len() == depth) {
                if let Some(result) = self.result_on(program, line) {
                    trace(line, &result);
                }
            }
            if !matches!(stop, Stop::OutOfFuel) {
                return stop;
            }
        }
        if self.finished {
            Stop::Finished
        } else {
            Stop::OutOfFuel
        }
    }
}

/// Whether what was told is all that was wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enough {
    No,
    Yes,
}

/// Of each pair, and what hangs on it; `None` where one is undefined or no number.
fn values(machine: &Machine<'_>, pairs: &Pairs) -> Vec<(Option<[f64; 2]>, About)> {
    let number = |order: Order, value: Scalar| {
        let unused = 64 - u32::from(pairs.width.clamp(1, 64));
        let number = match order {
            Order::Unsigned => value.bits as f64,
            Order::Signed => (((value.bits << unused) as i64) >> unused) as f64,
            Order::Floats => to_double(pairs.width, value.bits).ok()?,
        };
        (value.is_defined() && !number.is_nan()).then_some(number)
    };
    let of = |(order, a, with): (Order, Operand, With), i: u32| {
        let b = match with {
            With::Operand(b) | With::Divisor(b) => machine.value(b.offset(i)),
            With::Literal(bits) => Scalar::new(bits),
            With::Zero => Scalar::new(0),
            With::Shift(by) => power(machine.value(by.offset(i)))?,
        };
        let values = [number(order, machine.value(a.offset(i)))?, number(order, b)?];
        values.iter().all(|value| value.is_finite()).then_some(values)
    };
    let mut all = Vec::new();
    for pair in &pairs.operands {
        let about = match pair.2 {
            With::Operand(_) | With::Literal(_) => About::Order,
            With::Zero => About::Sign,
            With::Divisor(_) | With::Shift(_) => About::Quotient,
        };
        all.extend((0..pairs.count).map(|i| (of(*pair, i), about)));
    }
    all
}

/// Two to this power, if that is a number.
fn power(by: Scalar) -> Option<Scalar> {
    let by = u32::try_from(by.bits).ok().filter(|_| by.is_defined())?;
    1_u64.checked_shl(by).map(Scalar::new)
}

/// What an instruction compares, if it compares numbers.
fn pairs(inst: &Inst) -> Option<Pairs> {
    match &inst.op {
        Op::Binary { op, width, count, a, b, .. } => {
            let operands = match op.kind() {
                BinaryKind::Float(FloatBinary::Compare) => vec![(Order::Floats, *a, With::Operand(*b))],
                BinaryKind::Other if op.compares_equality() => {
                    vec![(Order::Unsigned, *a, With::Operand(*b))]
                }
                BinaryKind::Other if op.compares_integers() => {
                    let order = if op.compares_signed() { Order::Signed } else { Order::Unsigned };
                    vec![(order, *a, With::Operand(*b)), sign_of(*a), sign_of(*b)]
                }
                BinaryKind::Other if op.shifts_right() => {
                    vec![sign_of(*a), (Order::Unsigned, *a, With::Shift(*b))]
                }
                BinaryKind::IntegerDivision => {
                    vec![sign_of(*a), sign_of(*b), (Order::Unsigned, *a, With::Divisor(*b))]
                }
                BinaryKind::Other | BinaryKind::Float(_) => return None,
            };
            Some(Pairs { width: *width, count: *count, operands })
        }
        Op::Extended {
            op: ExtendedOp::UMulExtended | ExtendedOp::SMulExtended, width, count, a, b, ..
        } => Some(Pairs { width: *width, count: *count, operands: vec![sign_of(*a), sign_of(*b)] }),
        Op::Convert { op, from, count, a, .. } => match op {
            ConvertOp::ConvertSToF | ConvertOp::ConvertUToF | ConvertOp::UConvert | ConvertOp::SConvert => {
                Some(Pairs { width: *from, count: *count, operands: vec![sign_of(*a)] })
            }
            ConvertOp::ConvertFToU | ConvertOp::ConvertFToS | ConvertOp::FConvert | ConvertOp::Bitcast => {
                None
            }
        },
        Op::Glsl(op) => bounds(op),
        Op::Control(ControlOp::Switch { selector, width, cases, .. }) => {
            let case = |(case, _): &(u64, _)| (Order::Unsigned, *selector, With::Literal(*case));
            Some(Pairs { width: *width, count: 1, operands: cases.iter().map(case).collect() })
        }
        Op::Control(_)
        | Op::Unary { .. }
        | Op::Extended { .. }
        | Op::BitField(_)
        | Op::IntegerDot(_)
        | Op::Encoded(_)
        | Op::Matrix(_)
        | Op::Composite(_)
        | Op::Select { .. }
        | Op::Copy { .. }
        | Op::Undef { .. }
        | Op::Any { .. }
        | Op::All { .. }
        | Op::Memory(_)
        | Op::Atomic(_)
        | Op::Image(_)
        | Op::Barrier(_)
        | Op::Subgroup(_)
        | Op::Cooperative(_)
        | Op::Tensor(_)
        | Op::Ray(_)
        | Op::Assume { .. }
        | Op::Require { .. }
        | Op::Nop => None,
    }
}

/// What a function of GLSL.std.450 compares: values with bounds and edges, or the lesser with the greater.
fn bounds(op: &GlslOp) -> Option<Pairs> {
    let pair = |order: Order, a: Operand, b: Operand| (order, a, With::Operand(b));
    let operands = match op.function {
        GlslFunction::Float2(function, [a, b]) => match function {
            FloatFunction2::Min
            | FloatFunction2::Max
            | FloatFunction2::NMin
            | FloatFunction2::NMax
            | FloatFunction2::Step => vec![pair(Order::Floats, a, b)],
            FloatFunction2::Atan2 | FloatFunction2::Pow => return None,
        },
        GlslFunction::Float3(function, [a, b, c]) => match function {
            FloatFunction3::Clamp | FloatFunction3::NClamp => {
                vec![pair(Order::Floats, a, b), pair(Order::Floats, a, c)]
            }
            FloatFunction3::SmoothStep => {
                vec![pair(Order::Floats, c, a), pair(Order::Floats, c, b)]
            }
            FloatFunction3::Mix | FloatFunction3::Fma => return None,
        },
        GlslFunction::Integer2(function, [a, b]) => {
            let order = match function {
                IntegerFunction2::UMin | IntegerFunction2::UMax => Order::Unsigned,
                IntegerFunction2::SMin | IntegerFunction2::SMax => Order::Signed,
            };
            vec![pair(order, a, b)]
        }
        GlslFunction::Clamp { signed, operands: [a, b, c] } => {
            let order = if signed { Order::Signed } else { Order::Unsigned };
            vec![pair(order, a, b), pair(order, a, c)]
        }
        GlslFunction::Float(..)
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
        | GlslFunction::Vector(_) => return None,
    };
    Some(Pairs { width: op.width, count: op.count, operands })
}

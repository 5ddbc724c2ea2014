//! One step: the match over all operations, and what the instruction families share.

use smallvec::SmallVec;

use super::evaluate::{self, EvaluationError};
use super::{integer_dot, Invocation, SharedMemory, Stop};
use crate::dispatch::Dispatch;
use crate::event::{Fault, UndefinedKind};
use crate::ir::{BinaryOp, BitFieldOp, ConvertOp, Inst, Line, Op, Operand, Program, UnaryOp};
use crate::value::Scalar;

/// What an instruction comes to: the next one can run, or the invocation stops.
pub(super) type Step = Result<(), Box<Stop>>;

/// Components of a vector, at most, whose operations have a way of their own.
const FEW: u32 = 4;

/// Components of a value on their way.
pub(super) type Components = SmallVec<[Scalar; 16]>;

/// An invocation and its surroundings, while it runs.
pub(super) struct Machine<'a> {
    pub(super) state: &'a mut Invocation,
    pub(super) program: &'a Program,
    pub(super) dispatch: &'a Dispatch,
    pub(super) memory: &'a mut dyn SharedMemory,
}

impl<'a> Machine<'a> {
    /// Runs the next instruction. Where it stops, the position says what to do on going on:
    /// still at the instruction if it needs an answer, else behind it.
    #[inline]
    pub(super) fn step(&mut self) -> Step {
        let program = self.program;
        let inst = &self.state.function(program).code[self.state.frame.pc as usize];
        self.state.used_choices = 0;
        match &inst.op {
            Op::Control(op) => return self.control(op, inst.line),
            Op::Memory(op) => return self.memory_op(op, inst.line),
            Op::Atomic(op) => return self.atomic(op, inst.line),
            Op::Image(op) => return self.image_op(op, inst.line),
            Op::Barrier(op) => return self.barrier(op, inst.line),
            Op::Subgroup(op) => return self.subgroup(op, inst.line),
            Op::Cooperative(op) => return self.cooperative(op, inst.line),
            Op::Binary { op, width, count, dst, a, b } if *count <= FEW && inst.evaluation.is_none() => {
                self.few_components(inst, (*op, *width), *count, *dst, [*a, *b])?;
                if op.is_condition() {
                    self.cover_truths(*dst, *count);
                }
            }
            _ => {
                match &inst.evaluation {
                    None => self.compute(inst)?,
                    Some(evaluation) => self.otherwise(inst, evaluation)?,
                }
                self.cover(inst);
            }
        }
        self.state.advance();
        Ok(())
    }

    /// A binary operation on scalars and vectors that fit in registers of ours.
    #[inline]
    fn few_components(
        &mut self,
        inst: &Inst,
        (op, width): (BinaryOp, u8),
        count: u32,
        dst: u32,
        [a, b]: [Operand; 2],
    ) -> Step {
        if matches!(op, BinaryOp::PtrEqual | BinaryOp::PtrNotEqual) {
            return self.compute(inst);
        }
        let mut results = [Scalar::default(); FEW as usize];
        let results = &mut results[..count as usize];
        let (a, b) = (self.components(a, count), self.components(b, count));
        if let Err(error) = evaluate::binary_each(op, width, [a, b], results) {
            return Err(stop(error, inst.line));
        }
        if let Some(op) = self.unrecorded_float(op) {
            let all: SmallVec<[[Scalar; 3]; FEW as usize]> =
                a.iter().zip(b).zip(&*results).map(|((a, b), result)| [*a, *b, *result]).collect();
            for values in all {
                self.note_binary(inst, op, width, values);
            }
        }
        self.set_all(dst, results);
        Ok(())
    }

    /// The operations that only compute.
    #[inline(never)]
    pub(super) fn compute(&mut self, inst: &Inst) -> Step {
        let line = inst.line;
        match &inst.op {
            Op::Unary { op, width, count, dst, a } => {
                for i in 0..*count {
                    let mut value =
                        self.evaluated(evaluate::unary(*op, *width, self.value(a.offset(i))), line)?;
                    self.note_unary(inst, *op, *width, self.value(a.offset(i)), value);
                    if *op == UnaryOp::QuantizeToF16 && self.value(a.offset(i)).is_defined() {
                        value = self.choose_bits(value, line)?;
                    }
                    self.state.set(dst + i, value);
                }
            }
            Op::Binary { op: op @ (BinaryOp::PtrEqual | BinaryOp::PtrNotEqual), dst, a, b, .. } => {
                let equal = self.pointers_equal(*a, *b);
                let value = if *op == BinaryOp::PtrEqual { equal } else { super::bits::not(1, equal) };
                self.state.set(*dst, value);
            }
            Op::Binary { op, width, count, dst, a, b } => {
                let of_floats = self.unrecorded_float(*op);
                for i in 0..*count {
                    let (a, b) = (self.value(a.offset(i)), self.value(b.offset(i)));
                    let value = self.evaluated(evaluate::binary(*op, *width, a, b), line)?;
                    if let Some(op) = of_floats {
                        self.note_binary(inst, op, *width, [a, b, value]);
                    }
                    self.state.set(dst + i, value);
                }
            }
            Op::Extended { op, width, count, dst, a, b } => {
                for i in 0..*count {
                    let (a, b) = (self.value(a.offset(i)), self.value(b.offset(i)));
                    let [first, second] = evaluate::extended(*op, *width, a, b);
                    self.state.set(dst + i, first);
                    self.state.set(dst + count + i, second);
                }
            }
            Op::Convert { op: ConvertOp::Bitcast, from, to, count, dst, a } if from != to => {
                let components = self.values(*a, *count);
                let total = *count * u32::from(*from) / u32::from(*to);
                let mut result = Components::from_elem(Scalar::default(), total as usize);
                evaluate::bitcast(*from, *to, &components, &mut result);
                self.set_all(*dst, &result);
            }
            Op::Convert { op, from, to, count, dst, a } => {
                for i in 0..*count {
                    let a = self.value(a.offset(i));
                    self.note_converted(inst, *op, *from, a);
                    let value = self.evaluated(evaluate::convert(*op, *from, *to, a), line)?;
                    self.note_conversion(inst, *op, [*from, *to], a, value);
                    self.state.set(dst + i, value);
                }
            }
            Op::BitField(op) => self.bit_field(op),
            Op::Matrix(op) => {
                self.matrix(op, line)?;
                self.note_matrix(inst, op);
            }
            Op::IntegerDot(op) => {
                let sum = integer_dot::evaluate(op, |operand| self.value(operand));
                self.state.set(op.dst, sum);
            }
            Op::Glsl(op) => self.glsl(op, inst)?,
            Op::Encoded(op) => self.encoded(op, inst)?,
            Op::Assume { condition } => {
                if self.value(*condition) != Scalar::new(1) {
                    let detail = "what the module assumes is, or may be, false";
                    return Err(fault(UndefinedKind::FalseAssumption, line, detail));
                }
            }
            Op::Ray(op) => self.ray(op, inst)?,
            Op::Tensor(op) => self.tensor(op),
            Op::Composite(op) => self.composite(op, line)?,
            Op::Select { dst, condition, scalar_condition, count, a, b } => {
                self.select(*dst, *condition, *scalar_condition, *count, [*a, *b], line)?;
            }
            Op::Copy { dst, a, count } => {
                for i in 0..*count {
                    self.state.set(dst + i, self.value(a.offset(i)));
                }
            }
            Op::Undef { dst, widths } => {
                for (register, width) in (*dst..).zip(widths) {
                    self.state.set(register, Scalar::undefined(u32::from(*width)));
                }
            }
            Op::Any { dst, a, count } => {
                let any = self.values(*a, *count).into_iter().fold(Scalar::new(0), super::bits::or);
                self.state.set(*dst, any);
            }
            Op::All { dst, a, count } => {
                let all = self.values(*a, *count).into_iter().fold(Scalar::new(1), super::bits::and);
                self.state.set(*dst, all);
            }
            Op::Require { a, b } => {
                if self.value(*a) != self.value(*b) {
                    return Err(Box::new(Stop::Discarded));
                }
            }
            Op::Nop
            | Op::Control(_)
            | Op::Memory(_)
            | Op::Atomic(_)
            | Op::Image(_)
            | Op::Barrier(_)
            | Op::Subgroup(_)
            | Op::Cooperative(_) => {}
        }
        Ok(())
    }

    fn bit_field(&mut self, op: &BitFieldOp) {
        match *op {
            BitFieldOp::Insert { dst, width, count, base, insert, offset, bits } => {
                let (offset, bits) = (self.value(offset), self.value(bits));
                for i in 0..count {
                    let (base, insert) = (self.value(base.offset(i)), self.value(insert.offset(i)));
                    self.state.set(dst + i, evaluate::bit_field_insert(width, base, insert, offset, bits));
                }
            }
            BitFieldOp::Extract { dst, width, count, signed, base, offset, bits } => {
                let (offset, bits) = (self.value(offset), self.value(bits));
                for i in 0..count {
                    let base = self.value(base.offset(i));
                    self.state.set(dst + i, evaluate::bit_field_extract(width, signed, base, offset, bits));
                }
            }
        }
    }

    /// A component of an operand.
    #[inline]
    pub(super) fn value(&self, operand: Operand) -> Scalar {
        if operand.is_constant() {
            self.program.constants[operand.index() as usize]
        } else {
            self.state.register(operand.index())
        }
    }

    /// Components of an operand, where they are.
    #[inline]
    pub(super) fn components(&self, operand: Operand, count: u32) -> &[Scalar] {
        let first = operand.index() as usize;
        if operand.is_constant() {
            &self.program.constants[first..][..count as usize]
        } else {
            &self.state.registers[self.state.frame.registers as usize + first..][..count as usize]
        }
    }

    /// Components of an operand.
    pub(super) fn values(&self, operand: Operand, count: u32) -> Components {
        Components::from_slice(self.components(operand, count))
    }

    /// Sets registers one after the other. Where there are none, `dst` may be anything.
    #[inline]
    pub(super) fn set_all(&mut self, dst: u32, values: &[Scalar]) {
        if values.is_empty() {
            return;
        }
        let first = (self.state.frame.registers + dst) as usize;
        self.state.registers[first..][..values.len()].copy_from_slice(values);
    }

    /// The value, or the stop that the error means at this line.
    #[inline]
    pub(super) fn evaluated(&self, value: evaluate::Evaluated, line: Line) -> Result<Scalar, Box<Stop>> {
        value.map_err(|error| stop(error, line))
    }

    /// One of `ways` for the instruction that runs. It is started again after each choice, and
    /// finds the earlier ones here; so nothing that it did before may depend on being done once.
    pub(super) fn choose(&mut self, ways: u32, line: Line) -> Result<u32, Box<Stop>> {
        if ways == 1 {
            return Ok(0);
        }
        match self.state.choices.get(self.state.used_choices) {
            Some(way) => {
                self.state.used_choices += 1;
                Ok(*way)
            }
            None => Err(Box::new(Stop::Choose { ways, line })),
        }
    }

    /// One of the values that this may have.
    pub(super) fn choose_bits(&mut self, value: Scalar, line: Line) -> Result<Scalar, Box<Stop>> {
        if value.is_defined() {
            return Ok(value);
        }
        let ways = 1_u32.checked_shl(value.undef.count_ones()).ok_or_else(|| {
            Box::new(Stop::Unsupported {
                line,
                what: "an undefined value with more than 2^31 possible values",
            })
        })?;
        let mut way = u64::from(self.choose(ways, line)?);
        let mut bits = value.bits;
        let mut undef = value.undef;
        while undef != 0 {
            let lowest = undef & undef.wrapping_neg();
            if way & 1 != 0 {
                bits |= lowest;
            }
            way >>= 1;
            undef ^= lowest;
        }
        Ok(Scalar::new(bits))
    }
}

/// The stop that an error means at this line.
#[cold]
pub(super) fn stop(error: EvaluationError, line: Line) -> Box<Stop> {
    Box::new(match error {
        EvaluationError::Undefined { kind, detail } => {
            Stop::Fault(Fault { kind, line, detail: detail.to_owned() })
        }
        EvaluationError::Unsupported(what) => Stop::Unsupported { line, what },
    })
}

/// The stop for an undefined behaviour.
pub(super) fn fault(kind: UndefinedKind, line: Line, detail: impl Into<String>) -> Box<Stop> {
    Box::new(Stop::Fault(Fault { kind, line, detail: detail.into() }))
}

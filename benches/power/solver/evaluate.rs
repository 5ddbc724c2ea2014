//! Instructions that only compute, as terms.
//!
//! Integers and truth values have their meaning, comparisons of floats that of IEEE 754. Whatever else is computed is a
//! function of which nothing is known: the same one for the same instruction of both modules, since another instruction with the same operands may
//! round otherwise.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{GlslStd450Op, Op, Word};

use super::floats;
use super::integers;
use super::side::Side;
use super::terms::{Term, Terms};
use super::value::{each, Value};

/// What an instruction is to the proof.
pub enum Meaning {
    /// Only this value.
    Value(Value),
    /// It may do something, or depends on more than its operands.
    Effect,
}

/// What an instruction has besides a value.
#[derive(Default)]
pub struct Asides {
    /// What its behaviour is undefined without.
    pub defined: Vec<Term>,
    /// Stands for values of any bits, one for each scalar that may be undefined.
    pub any: Vec<Term>,
}

impl Asides {
    /// The value where these hold, and any value elsewhere: the same one in both modules for the same operands.
    pub fn defined_if(
        &mut self,
        conditions: &[Term],
        value: Term,
        of: &[Term],
        side: &Side<'_>,
        terms: &mut Terms,
    ) -> Term {
        let condition = terms.all(conditions);
        let any = terms.unknown(&format!("undefined in {}", side.place), of, value.bits());
        self.any.push(any);
        terms.choose(condition, value, any)
    }
}

pub fn ids(inst: &Instruction) -> impl Iterator<Item = Word> + Clone + '_ {
    inst.operands.iter().filter_map(|operand| match operand {
        Operand::IdRef(id) => Some(*id),
        _ => None,
    })
}

fn literals(inst: &Instruction) -> Vec<u32> {
    let literal = |operand: &Operand| match operand {
        Operand::LiteralBit32(value) => Some(*value),
        _ => None,
    };
    inst.operands.iter().filter_map(literal).collect()
}

/// Evaluates an instruction other than OpPhi; `None` where it cannot be expressed.
pub fn evaluate(
    inst: &Instruction,
    side: &mut Side<'_>,
    terms: &mut Terms,
    asides: &mut Asides,
) -> Option<Meaning> {
    let opcode = inst.class.opcode;
    if !computes(opcode) && !is_unknown(inst, side) {
        return Some(Meaning::Effect);
    }
    let skipped = usize::from(opcode == Op::ExtInst);
    let ids: Vec<Word> = ids(inst).skip(skipped).collect();
    let values: Vec<Value> = ids.iter().map(|id| side.value(*id, terms)).collect::<Option<_>>()?;
    let value = match opcode {
        Op::Load => match loaded(inst, &values, side, terms) {
            Some(value) => Some(value),
            None => return Some(Meaning::Effect),
        },
        Op::Undef => side.value(inst.result_id?, terms),
        _ => computed(inst, &values, side, terms, asides),
    };
    let value = value.or_else(|| unknown(inst, &values, side, terms))?;
    side.note(inst, &values, &value, terms);
    Some(Meaning::Value(value))
}

/// A load of memory that nobody writes.
fn loaded(inst: &Instruction, values: &[Value], side: &Side<'_>, terms: &mut Terms) -> Option<Value> {
    if inst.operands.len() > 1 {
        return None;
    }
    let (name, mut place) = side.constant_memory(values.first()?, terms)?;
    let shape = side.shape(inst.result_type?)?;
    Some(shape.fill(&mut place, &mut |place, bits| terms.symbol(&format!("{name} {place:?}"), bits)))
}

fn computes(opcode: Op) -> bool {
    let others = matches!(
        opcode,
        Op::Load
            | Op::Undef
            | Op::CopyObject
            | Op::CopyLogical
            | Op::AccessChain
            | Op::InBoundsAccessChain
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::VectorShuffle
            | Op::Select
            | Op::Any
            | Op::All
            | Op::Bitcast
    );
    others || integers::computes(opcode)
}

/// Whether an instruction computes something of its operands alone.
fn is_unknown(inst: &Instruction, side: &Side<'_>) -> bool {
    if inst.class.opcode == Op::ExtInst {
        return side.glsl.is_some() && ids(inst).next() == side.glsl && {
            let function = function(inst);
            !matches!(
                function,
                None | Some(
                    GlslStd450Op::Modf
                        | GlslStd450Op::Frexp
                        | GlslStd450Op::InterpolateAtCentroid
                        | GlslStd450Op::InterpolateAtSample
                        | GlslStd450Op::InterpolateAtOffset
                )
            )
        };
    }
    matches!(
        inst.class.opcode,
        Op::FNegate
            | Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FRem
            | Op::FMod
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::OuterProduct
            | Op::Transpose
            | Op::Dot
            | Op::FConvert
            | Op::ConvertFToS
            | Op::ConvertFToU
            | Op::QuantizeToF16
            | Op::BitReverse
            | Op::BitCount
            | Op::IAddCarry
            | Op::ISubBorrow
            | Op::UMulExtended
            | Op::SMulExtended
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
    )
}

pub fn function(inst: &Instruction) -> Option<GlslStd450Op> {
    match inst.operands.get(1) {
        Some(Operand::LiteralExtInstInteger(number)) => GlslStd450Op::from_u32(*number),
        _ => None,
    }
}

/// How many bits become one component.
fn unpacked(inst: &Instruction) -> Option<u32> {
    match function(inst)? {
        GlslStd450Op::UnpackHalf2x16 | GlslStd450Op::UnpackSnorm2x16 | GlslStd450Op::UnpackUnorm2x16 => {
            Some(16)
        }
        GlslStd450Op::UnpackSnorm4x8 | GlslStd450Op::UnpackUnorm4x8 => Some(8),
        _ => None,
    }
}

fn unknown(inst: &Instruction, values: &[Value], side: &Side<'_>, terms: &mut Terms) -> Option<Value> {
    let arguments: Vec<Term> = values.iter().flat_map(Value::leaves).collect();
    let literals = literals(inst);
    let name = format!("{:?} {:?} {literals:?} of {}", inst.class.opcode, function(inst), side.place);
    let shape = side.shape(inst.result_type?)?;
    Some(shape.fill(&mut Vec::new(), &mut |part, bits| {
        terms.unknown(&format!("{name} {part:?}"), &arguments, bits)
    }))
}

fn computed(
    inst: &Instruction,
    values: &[Value],
    side: &Side<'_>,
    terms: &mut Terms,
    asides: &mut Asides,
) -> Option<Value> {
    let refs: Vec<&Value> = values.iter().collect();
    match inst.class.opcode {
        Op::CopyObject | Op::CopyLogical => values.first().cloned(),
        Op::AccessChain | Op::InBoundsAccessChain => pointer(values),
        Op::CompositeConstruct => {
            let is_vector = side.instructions.get(&inst.result_type?)?.class.opcode == Op::TypeVector;
            if is_vector {
                Some(Value::of(values.iter().flat_map(Value::leaves).map(Value::One).collect()))
            } else {
                Some(Value::of(values.to_vec()))
            }
        }
        Op::CompositeExtract => values.first()?.part(&literals(inst)).cloned(),
        Op::CompositeInsert => values.get(1)?.with(&literals(inst), values.first()?.clone()),
        Op::VectorShuffle => {
            let parts: Vec<Value> = values.iter().flat_map(Value::leaves).map(Value::One).collect();
            let chosen = literals(inst).into_iter().map(|at| parts.get(at as usize).cloned());
            chosen.collect::<Option<Vec<_>>>().map(Value::of)
        }
        Op::Select => match values {
            [Value::One(condition), holds, fails] => {
                let condition = *condition;
                each(terms, &[holds, fails], &mut |terms, of| Some(terms.choose(condition, of[0], of[1])))
            }
            _ => each(terms, &refs, &mut |terms, of| Some(terms.choose(of[0], of[1], of[2]))),
        },
        Op::Any => Some(Value::One(terms.apply("or", &values.first()?.leaves(), 0))),
        Op::All => Some(Value::One(terms.apply("and", &values.first()?.leaves(), 0))),
        Op::Bitcast => bitcast(inst, values.first()?, side, terms),
        Op::ExtInst if unpacked(inst).is_some() => {
            let (shape, packed) = (side.shape(inst.result_type?)?, values.first()?.one()?);
            let width = unpacked(inst)?;
            let name = format!("{:?} of {}", function(inst), side.place);
            // Each component depends on its own bits.
            Some(shape.fill(&mut Vec::new(), &mut |part, bits| {
                let low = part.first().map_or(0, |at| *at as u32 * width);
                let own = terms.indexed("extract", &[low + width - 1, low], packed, width);
                terms.unknown(&name, &[own], bits)
            }))
        }
        _ => {
            let bits = side.shape(inst.result_type?)?.bits();
            each(terms, &refs, &mut |terms, of| {
                let float = match inst.class.opcode {
                    Op::ExtInst => floats::extended(inst, of, side, terms, asides),
                    _ => None,
                };
                match float {
                    Some(term) => Some(term),
                    None => integers::scalar(inst, of, bits, side, terms, asides),
                }
            })
        }
    }
}

/// Indices as numbers of 32 bits, so that their types do not matter.
fn pointer(values: &[Value]) -> Option<Value> {
    let (base, indices) = values.split_first()?;
    let mut parts = match base {
        Value::One(_) => vec![base.clone()],
        Value::Many(parts) => parts.to_vec(),
    };
    for index in indices {
        index.one().filter(|index| index.bits() == 32)?;
        parts.push(index.clone());
    }
    Some(Value::of(parts))
}

fn bitcast(inst: &Instruction, value: &Value, side: &Side<'_>, terms: &mut Terms) -> Option<Value> {
    let shape = side.shape(inst.result_type?)?;
    let (bits, parts) = (shape.bits(), value.leaves());
    let first = parts.first()?.bits();
    if bits == 0 || first == 0 {
        return None;
    }
    // Components of lower numbers have the bits of lower order.
    let mut scalars = Vec::new();
    if bits <= first {
        for part in parts {
            for at in 0..first / bits {
                let piece = if bits == first {
                    part
                } else {
                    terms.indexed("extract", &[(at + 1) * bits - 1, at * bits], part, bits)
                };
                scalars.push(piece);
            }
        }
    } else {
        for pieces in parts.chunks((bits / first) as usize) {
            let high_first: Vec<Term> = pieces.iter().rev().copied().collect();
            scalars.push(terms.apply("concat", &high_first, bits));
        }
    }
    let mut next = scalars.into_iter();
    let mut missing = false;
    let filled = shape.fill(&mut Vec::new(), &mut |_, bits| {
        let term = next.next();
        missing |= term.is_none();
        term.unwrap_or(terms.number(bits, 0))
    });
    (!missing).then_some(filled)
}

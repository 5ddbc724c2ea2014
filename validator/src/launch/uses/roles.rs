//! What instructions use their operands as.

use super::flow::Flow;
use super::graph::Step;
use super::usage::Field;
use super::Role;
use crate::ir::image::{ImageAction, ImageOp, TexelKind};
use crate::ir::{
    BinaryKind, BinaryOp, BitFieldOp, Bound, Chain, ConvertOp, EncodedOp, FloatBinary, FloatFunction2,
    FloatFunction3, GlslFunction, MatrixOp, NumberFormat, Op, Operand, SubgroupArithmetic, SubgroupKind,
    UnaryOp, VectorFunction,
};

/// Shifts by at least so many bits take fields out of an integer.
const FIELD_SHIFT: u64 = 4;

/// Of an operation that computes a value from values.
pub fn of_computation(flow: &mut Flow<'_>, function: u32, op: &Op) {
    match op {
        Op::Unary { op, count, dst, a, .. } => of_unary(flow, function, *op, (*a, *dst, *count)),
        Op::Binary { op, count, dst, a, b, .. } => of_binary(flow, function, *op, [*a, *b], (*dst, *count)),
        Op::Extended { count, dst, a, b, .. } => {
            for operand in [*a, *b] {
                flow.role(function, operand, *count, Role::Integer);
                flow.role(function, operand, *count, Role::Reciprocal);
                flow.flow(function, operand, *dst, *count, Step::Arithmetic);
            }
        }
        Op::Convert { op, from, to, count, dst, a } => match op {
            ConvertOp::ConvertFToU | ConvertOp::ConvertFToS | ConvertOp::FConvert => {
                flow.role(function, *a, *count, Role::Float);
                flow.flow(function, *a, *dst, *count, Step::Float);
            }
            ConvertOp::ConvertSToF | ConvertOp::ConvertUToF => {
                flow.role(function, *a, *count, Role::Integer);
            }
            ConvertOp::UConvert | ConvertOp::SConvert => {
                flow.role(function, *a, *count, Role::Integer);
                let is_widened = *op == ConvertOp::UConvert && from < to;
                flow.flow(
                    function,
                    *a,
                    *dst,
                    *count,
                    if is_widened { Step::Widened } else { Step::Arithmetic },
                );
                if to < from {
                    flow.narrow(function, *dst, *count, (*to).into());
                }
            }
            ConvertOp::Bitcast => bitcast(flow, function, [*from, *to], (*a, *dst, *count)),
        },
        Op::BitField(BitFieldOp::Insert { base, insert, count, dst, .. }) => {
            for operand in [*base, *insert] {
                flow.role(function, operand, *count, Role::Integer);
                flow.flow(function, operand, *dst, *count, Step::Arithmetic);
            }
        }
        Op::BitField(BitFieldOp::Extract { base, dst, count, signed, offset, bits, .. }) => {
            flow.role(function, *base, *count, Role::Packed);
            let part = |operand| u8::try_from(super::addresses::constant(flow.program, operand)?).ok();
            let (first, bits) = (part(*offset), part(*bits));
            let field = first.zip(bits).map(|(first, bits)| Step::Field(Field { first, bits }));
            flow.flow(function, *base, *dst, *count, field.unwrap_or(Step::Bits));
            if let (Some(bits), false) = (bits, *signed) {
                flow.narrow(function, *dst, *count, bits.into());
            }
        }
        Op::IntegerDot(dot) => {
            let (count, role) = if dot.packed { (1, Role::Packed) } else { (dot.count, Role::Integer) };
            flow.role(function, dot.a, count, role);
            flow.role(function, dot.b, count, role);
        }
        Op::Glsl(op) => {
            of_glsl(flow, function, &op.function, op.count);
            if let GlslFunction::Float(..) | GlslFunction::Float2(..) | GlslFunction::Float3(..) = op.function
            {
                op.function
                    .operands()
                    .for_each(|operand| flow.flow(function, operand, op.dst, op.count, Step::Float));
            }
        }
        Op::Encoded(EncodedOp::Convert { from: NumberFormat::Float(_), count, a, .. }) => {
            flow.role(function, *a, *count, Role::Float);
        }
        Op::Matrix(op) => of_matrix(flow, function, op),
        Op::Image(op) => of_image(flow, function, op),
        // Encoded floats have values of any bits; the others are no computations, or only copy.
        Op::Encoded(_)
        | Op::Composite(_)
        | Op::Select { .. }
        | Op::Copy { .. }
        | Op::Undef { .. }
        | Op::Any { .. }
        | Op::All { .. }
        | Op::Control(_)
        | Op::Memory(_)
        | Op::Atomic(_)
        | Op::Barrier(_)
        | Op::Subgroup(_)
        | Op::Cooperative(_)
        | Op::Tensor(_)
        | Op::Ray(_)
        | Op::Assume { .. }
        | Op::Require { .. }
        | Op::Nop => {}
    }
}

/// Whether the operation tells NaNs or infinities from numbers.
pub fn tells_nans(op: &Op) -> bool {
    match op {
        Op::Unary { op, .. } => matches!(
            op,
            UnaryOp::IsNan | UnaryOp::IsInf | UnaryOp::IsFinite | UnaryOp::IsNormal | UnaryOp::SignBitSet
        ),
        Op::Binary { op, .. } => matches!(
            op,
            BinaryOp::FUnordEqual
                | BinaryOp::FUnordNotEqual
                | BinaryOp::FUnordLessThan
                | BinaryOp::FUnordGreaterThan
                | BinaryOp::FUnordLessThanEqual
                | BinaryOp::FUnordGreaterThanEqual
                | BinaryOp::Ordered
                | BinaryOp::Unordered
        ),
        Op::Glsl(op) => matches!(
            op.function,
            GlslFunction::Float2(FloatFunction2::NMin | FloatFunction2::NMax, _)
                | GlslFunction::Float3(FloatFunction3::NClamp, _)
        ),
        _ => false,
    }
}

fn of_unary(flow: &mut Flow<'_>, function: u32, op: UnaryOp, (a, dst, count): (Operand, u32, u32)) {
    match op {
        UnaryOp::FNegate
        | UnaryOp::IsNan
        | UnaryOp::IsInf
        | UnaryOp::IsFinite
        | UnaryOp::IsNormal
        | UnaryOp::SignBitSet
        | UnaryOp::QuantizeToF16 => {
            flow.role(function, a, count, Role::Float);
            flow.flow(function, a, dst, count, Step::Float);
        }
        UnaryOp::SNegate | UnaryOp::Not => {
            flow.role(function, a, count, Role::Integer);
            flow.flow(function, a, dst, count, Step::Arithmetic);
        }
        UnaryOp::BitReverse
        | UnaryOp::BitCount
        | UnaryOp::CountLeadingZeros
        | UnaryOp::CountTrailingZeros => flow.role(function, a, count, Role::Integer),
        UnaryOp::LogicalNot => {}
    }
}

fn of_binary(
    flow: &mut Flow<'_>,
    function: u32,
    op: BinaryOp,
    [a, b]: [Operand; 2],
    (dst, count): (u32, u32),
) {
    match op.kind() {
        BinaryKind::Float(kind) => {
            flow.role(function, a, count, Role::Float);
            flow.role(function, b, count, Role::Float);
            if kind == FloatBinary::Compare {
                flow.compare(function, [a, b], count);
            } else {
                flow.flow(function, a, dst, count, Step::Float);
                flow.flow(function, b, dst, count, Step::Float);
            }
        }
        BinaryKind::IntegerDivision | BinaryKind::Other => {
            of_integers(flow, function, op, [a, b], (dst, count))
        }
    }
}

fn of_integers(
    flow: &mut Flow<'_>,
    function: u32,
    op: BinaryOp,
    [a, b]: [Operand; 2],
    (dst, count): (u32, u32),
) {
    flow.computed(function, op, [a, b], (dst, count));
    if let Some(by) = remainder(flow, op, b) {
        flow.quotient(function, a, count, by);
    }
    if let Some(field) = field(flow, op, b) {
        flow.flow(function, a, dst, count, Step::Part(field));
    }
    match op {
        BinaryOp::LogicalEqual
        | BinaryOp::LogicalNotEqual
        | BinaryOp::LogicalOr
        | BinaryOp::LogicalAnd
        | BinaryOp::PtrEqual
        | BinaryOp::PtrNotEqual => {}
        _ if op.compares_integers() => {
            flow.role(function, a, count, Role::Integer);
            flow.role(function, b, count, Role::Integer);
            flow.compare(function, [a, b], count);
        }
        BinaryOp::ShiftRightLogical | BinaryOp::ShiftRightArithmetic if is_field_shift(flow, b) => {
            flow.role(function, a, count, Role::Packed);
            let step = divisor(flow, op, b).map_or(Step::Arithmetic, Step::Divided);
            flow.flow(function, a, dst, count, step);
        }
        _ => {
            flow.role(function, a, count, Role::Integer);
            flow.role(function, b, count, Role::Integer);
            let step = divisor(flow, op, b).map_or(Step::Arithmetic, Step::Divided);
            let shifted = |operand: Operand| added(flow, op, operand).map(Step::Shifted);
            let (of_a, of_b) = (shifted(b).unwrap_or(step), shifted(a).filter(|_| op == BinaryOp::IAdd));
            flow.flow(function, a, dst, count, of_a);
            flow.flow(function, b, dst, count, of_b.unwrap_or(Step::Arithmetic));
            if is_field_mask(flow, op, b) {
                flow.role(function, a, count, Role::Packed);
            }
            let [of_a, of_b] = parts(op);
            of_a.into_iter().for_each(|role| flow.role(function, a, count, role));
            of_b.into_iter().for_each(|role| flow.role(function, b, count, role));
            if op == BinaryOp::IAdd || op == BinaryOp::ISub {
                flow.step(function, [a, b], dst);
            }
            if op == BinaryOp::IAdd {
                flow.step(function, [b, a], dst);
            }
        }
    }
}

/// What the operands are to each other.
fn parts(op: BinaryOp) -> [Option<Role>; 2] {
    match op {
        BinaryOp::UDiv | BinaryOp::SDiv | BinaryOp::UMod | BinaryOp::SRem | BinaryOp::SMod => {
            [None, Some(Role::Divisor)]
        }
        BinaryOp::ShiftRightLogical | BinaryOp::ShiftRightArithmetic => [None, Some(Role::Shift)],
        BinaryOp::IMul => [Some(Role::Factor); 2],
        _ => [None; 2],
    }
}

/// Whether the operation takes the lower bits of a word, fewer than it has.
fn is_field_mask(flow: &Flow<'_>, op: BinaryOp, b: Operand) -> bool {
    let mask = super::addresses::constant(flow.program, b).and_then(|mask| u32::try_from(mask).ok());
    op == BinaryOp::BitwiseAnd
        && mask.is_some_and(|mask| mask > 1 && mask < u32::MAX && (mask + 1).is_power_of_two())
}

/// What the operation divides by, where that is a constant.
fn divisor(flow: &Flow<'_>, op: BinaryOp, b: Operand) -> Option<u32> {
    let value = super::addresses::constant(flow.program, b)?;
    match op {
        BinaryOp::UDiv | BinaryOp::SDiv => u32::try_from(value).ok(),
        BinaryOp::ShiftRightLogical | BinaryOp::ShiftRightArithmetic => 1_u32.checked_shl(value as u32),
        _ => None,
    }
}

/// What of which the operation takes the remainder, where that is a constant.
fn remainder(flow: &Flow<'_>, op: BinaryOp, b: Operand) -> Option<u32> {
    let takes = matches!(op, BinaryOp::UMod | BinaryOp::SRem | BinaryOp::SMod);
    u32::try_from(super::addresses::constant(flow.program, b)?).ok().filter(|_| takes)
}

/// The bits of a word that the operation takes, where that is known.
fn field(flow: &Flow<'_>, op: BinaryOp, b: Operand) -> Option<Field> {
    let value = super::addresses::constant(flow.program, b)?;
    match op {
        BinaryOp::BitwiseAnd if is_field_mask(flow, op, b) => {
            Some(Field { first: 0, bits: value.trailing_ones() as u8 })
        }
        BinaryOp::ShiftRightLogical if (FIELD_SHIFT..32).contains(&value) => {
            Some(Field { first: value as u8, bits: 32 - value as u8 })
        }
        _ => None,
    }
}

/// What the operation adds, where that is a constant.
fn added(flow: &Flow<'_>, op: BinaryOp, b: Operand) -> Option<i64> {
    let value = i64::from(super::addresses::constant(flow.program, b)? as u32 as i32);
    match op {
        BinaryOp::IAdd => Some(value),
        BinaryOp::ISub => Some(-value),
        _ => None,
    }
}

fn is_field_shift(flow: &Flow<'_>, bits: Operand) -> bool {
    super::addresses::constant(flow.program, bits).is_some_and(|bits| bits >= FIELD_SHIFT)
}

fn bitcast(flow: &mut Flow<'_>, function: u32, [from, to]: [u8; 2], (a, dst, count): (Operand, u32, u32)) {
    let parts = u32::from(from) / u32::from(to.max(1));
    for (component, part) in (0..count).flat_map(|component| (0..parts).map(move |part| (component, part))) {
        flow.flow(function, a.offset(component), dst + component * parts + part, 1, Step::Split);
        flow.narrow(function, dst + component * parts + part, 1, to.into());
    }
}

fn of_glsl(flow: &mut Flow<'_>, function: u32, glsl: &GlslFunction, count: u32) {
    let mut all = |role: Role, count: u32| {
        for operand in glsl.operands() {
            flow.role(function, operand, count, role);
        }
    };
    match *glsl {
        GlslFunction::Float(..)
        | GlslFunction::Transcendental(..)
        | GlslFunction::Float2(..)
        | GlslFunction::Float3(..)
        | GlslFunction::ModfStruct(_)
        | GlslFunction::FrexpStruct { .. }
        | GlslFunction::Pack(..) => all(Role::Float, count),
        GlslFunction::Integer(..)
        | GlslFunction::Integer2(..)
        | GlslFunction::Clamp { .. }
        | GlslFunction::FindBit { .. } => all(Role::Integer, count),
        GlslFunction::Ldexp { significand, exponent, .. } => {
            flow.role(function, significand, count, Role::Float);
            flow.role(function, exponent, count, Role::PartOfIndex);
        }
        GlslFunction::Unpack(packing, value) => {
            let role = if packing.one().is_none() { Role::Halves } else { Role::Packed };
            flow.role(function, value, 1, role);
        }
        GlslFunction::UnpackDouble(value) => flow.role(function, value, 1, Role::Float),
        // Two halves of a double are no numbers by themselves.
        GlslFunction::PackDouble(_) => {}
        GlslFunction::Vector(VectorFunction::Refract { incident, normal, eta, .. }) => {
            flow.role(function, incident, count, Role::Float);
            flow.role(function, normal, count, Role::Float);
            flow.role(function, eta, 1, Role::Float);
        }
        GlslFunction::Vector(VectorFunction::Determinant(_) | VectorFunction::MatrixInverse(_)) => {
            all(Role::Float, count * count);
        }
        GlslFunction::Vector(
            VectorFunction::Length(_)
            | VectorFunction::Distance(_)
            | VectorFunction::Cross(_)
            | VectorFunction::Normalize(_)
            | VectorFunction::FaceForward(_)
            | VectorFunction::Reflect(_),
        ) => all(Role::Float, count),
    }
}

fn of_matrix(flow: &mut Flow<'_>, function: u32, op: &MatrixOp) {
    if let MatrixOp::TimesScalar { dst, count, a, scalar, .. } = *op {
        flow.flow(function, a, dst, count, Step::Float);
        (0..count)
            .for_each(|component| flow.flow(function, scalar, dst.saturating_add(component), 1, Step::Float));
    }
    let operands = match *op {
        MatrixOp::Dot { count, a, b, .. } => [(a, count), (b, count)],
        MatrixOp::TimesScalar { count, a, scalar, .. } => [(a, count), (scalar, 1)],
        MatrixOp::VectorTimesMatrix { rows, columns, a, b, .. } => [(a, rows), (b, rows * columns)],
        MatrixOp::MatrixTimesVector { rows, columns, a, b, .. } => [(a, rows * columns), (b, columns)],
        MatrixOp::MatrixTimesMatrix { rows, inner, columns, a, b, .. } => {
            [(a, rows * inner), (b, inner * columns)]
        }
        MatrixOp::OuterProduct { rows, columns, a, b, .. } => [(a, rows), (b, columns)],
        MatrixOp::Transpose { .. } => return,
    };
    for (operand, count) in operands {
        flow.role(function, operand, count, Role::Float);
    }
}

fn of_image(flow: &mut Flow<'_>, function: u32, op: &ImageOp) {
    if let Some(coordinate) = op.coordinate {
        for component in 0..coordinate.count {
            let operand = coordinate.first.offset(component);
            match coordinate.float {
                true => {
                    flow.role(function, operand, 1, Role::Float);
                    flow.role(function, operand, 1, Role::Coordinate);
                }
                false => flow.index(function, operand, None),
            }
        }
    }
    if let Some((lod, _)) = op.operands.lod {
        let uses_sampler = matches!(op.action, ImageAction::Sample { .. } | ImageAction::Gather { .. });
        flow.role(function, lod, 1, if uses_sampler { Role::Float } else { Role::PartOfIndex });
    }
    if let Some(bias) = op.operands.bias {
        flow.role(function, bias, 1, Role::Float);
    }
    if let Some((dx, dy, count)) = op.operands.grad {
        flow.role(function, dx, count, Role::Float);
        flow.role(function, dy, count, Role::Float);
    }
    match op.action {
        ImageAction::Write { texel, count } => {
            let role = if op.ty.texel == TexelKind::Float { Role::Float } else { Role::Integer };
            flow.role(function, texel, count, role);
        }
        ImageAction::Sample { reference: Some(reference), .. }
        | ImageAction::Gather { reference: Some(reference), .. } => {
            flow.role(function, reference, 1, Role::Float);
            flow.role(function, reference, 1, Role::Coordinate);
        }
        ImageAction::TexelPointer { sample, .. } => flow.index(function, sample, Some(1)),
        ImageAction::Read { .. }
        | ImageAction::Sample { .. }
        | ImageAction::Gather { .. }
        | ImageAction::QuerySize { .. }
        | ImageAction::QueryLevels
        | ImageAction::QuerySamples
        | ImageAction::QueryLod => {}
    }
}

/// Of the indices of an access chain.
pub fn of_chain(flow: &mut Flow<'_>, function: u32, chain: &Chain) {
    for index in &chain.indices {
        let limit = match index.bound {
            Bound::Elements(count) | Bound::Descriptor(count) => Some(count),
            Bound::RuntimeArray { .. } | Bound::Unbounded | Bound::Held(_) => None,
        };
        flow.index(function, index.index, limit);
    }
}

/// Of an operation of a subgroup.
pub fn of_subgroup(flow: &mut Flow<'_>, function: u32, kind: &SubgroupKind) {
    match kind {
        SubgroupKind::Arithmetic { op, value, .. } => {
            let is_float = match op {
                SubgroupArithmetic::Binary(op) => matches!(op.kind(), BinaryKind::Float(_)),
                SubgroupArithmetic::FMin | SubgroupArithmetic::FMax => true,
                SubgroupArithmetic::SMin
                | SubgroupArithmetic::UMin
                | SubgroupArithmetic::SMax
                | SubgroupArithmetic::UMax => false,
            };
            let role = if is_float { Role::Float } else { Role::Integer };
            flow.role(function, value.value, value.count, role);
        }
        SubgroupKind::AllEqual { value, float } | SubgroupKind::Partition { value, float } => {
            flow.role(function, value.value, value.count, if *float { Role::Float } else { Role::Integer });
        }
        SubgroupKind::Broadcast { id, .. } | SubgroupKind::Shuffle { operand: id, .. } => {
            flow.index(function, *id, None);
        }
        SubgroupKind::QuadBroadcast { index, .. } => flow.index(function, *index, Some(4)),
        SubgroupKind::BallotBitExtract { index, .. } => flow.index(function, *index, None),
        SubgroupKind::Elect
        | SubgroupKind::Vote { .. }
        | SubgroupKind::BroadcastFirst { .. }
        | SubgroupKind::Ballot { .. }
        | SubgroupKind::InverseBallot { .. }
        | SubgroupKind::BallotBitCount { .. }
        | SubgroupKind::BallotFind { .. }
        | SubgroupKind::QuadSwap { .. }
        | SubgroupKind::QuadVote { .. }
        | SubgroupKind::Matrix(_) => {}
        SubgroupKind::Derivative { value, .. } => flow.role(function, value.value, value.count, Role::Float),
    }
}

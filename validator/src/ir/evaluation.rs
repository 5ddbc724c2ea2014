//! How float operations are computed, where not as IEEE 754 has it by default: since the module asks for it, or in
//! one of the ways that it leaves to an implementation.

use std::collections::HashMap;

use super::{
    BinaryKind, BinaryOp, CompositeOp, ConvertOp, FloatBinary, FloatModes, Function, GlslFunction, Inst,
    Line, MatrixOp, Op, Operand, Program, UnaryOp,
};

/// The direction of rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rounding {
    #[default]
    NearestEven,
    TowardZero,
    Upward,
    Downward,
}

/// Which denormals of an operation become zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flushes {
    #[default]
    None,
    /// The result.
    Result,
    /// Operands, too.
    All,
}

/// What is done with NaNs, infinities and the sign of zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Specials {
    #[default]
    Kept,
    /// A zero that is computed is a positive one.
    PositiveZeros,
    /// As if there were no NaNs and infinities: a product with zero is zero, and so is the difference of equal values.
    Finite,
}

/// The product that a sum or difference is computed with in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fused {
    /// It is the first operand.
    pub first: bool,
    pub factors: [Operand; 2],
    /// The second factor is a scalar beside a vector.
    pub scalar: bool,
}

/// How one instruction is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Evaluation {
    pub rounding: Rounding,
    pub flushes: Flushes,
    pub specials: Specials,
    /// With 16 bits.
    pub half: bool,
    pub fused: Option<Fused>,
}

/// A way to compute the floats of a module that its decorations and modes permit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As the interpreter does.
    AsWritten,
    /// Products that are added or subtracted are not rounded; of two, the first or the second.
    Fused {
        first: bool,
    },
    Rounded(Rounding),
    /// Denormals become zeros.
    Flushed,
    Specials(Specials),
    /// What is decorated RelaxedPrecision has 16 bits.
    Half,
}

/// FPFastMathMode: NotNaN and NotInf, or all of it (Fast).
const NOT_SPECIAL: u32 = 0x1 | 0x2 | 0x10;
/// NSZ, or Fast.
const NO_SIGNED_ZERO: u32 = 0x4 | 0x10;
/// AllowContract, or Fast.
const ALLOW_CONTRACT: u32 = 0x1_0000 | 0x10;

/// Gives every float operation the rounding and flushing that the modes demand.
pub fn apply_float_modes(functions: &mut [Function], modes: FloatModes) {
    if modes.rounding_mode_rtz | modes.denorm_flush_to_zero == 0 {
        return;
    }
    for inst in functions.iter_mut().flat_map(|function| &mut function.code) {
        let Some(width) = arithmetic_width(&inst.op) else { continue };
        let rounding = match modes.rounds_to_zero(width) {
            true => Rounding::TowardZero,
            false => Rounding::NearestEven,
        };
        let flushes = if modes.flushes_denormals(width) { Flushes::Result } else { Flushes::None };
        let evaluation = Evaluation { rounding, flushes, ..Evaluation::default() };
        inst.evaluation = (evaluation != Evaluation::default()).then(|| Box::new(evaluation));
    }
}

impl Program {
    /// Whether floats of this width are computed, or told apart.
    pub fn computes(&self, width: u8) -> bool {
        let mut code = self.functions.iter().flat_map(|function| &function.code);
        code.any(|inst| {
            let of = [arithmetic_width, compared_width, classified_width].map(|width| width(&inst.op));
            of.contains(&Some(width))
        })
    }

    /// The program whose floats of these widths (in bits, or-ed) are computed in a permitted way, and the lines of
    /// the instructions that this changes; `None` where it changes none.
    pub fn computed(&self, way: Way, widths: u32) -> Option<(Program, Vec<Line>)> {
        let mut program = self.clone();
        let modes = self.modes.floats;
        let mut lines = Vec::new();
        for function in &mut program.functions {
            let products = match way {
                Way::Fused { .. } => Products::of(&function.code),
                Way::AsWritten | Way::Rounded(_) | Way::Flushed | Way::Specials(_) | Way::Half => {
                    Products::default()
                }
            };
            for inst in &mut function.code {
                let Some(evaluation) = permitted(inst, way, widths, modes, &products) else { continue };
                if inst.evaluation.as_deref() != Some(&evaluation) {
                    lines.push(inst.line);
                    inst.evaluation = Some(Box::new(evaluation));
                }
            }
        }
        lines.sort_unstable();
        lines.dedup();
        (!lines.is_empty()).then_some((program, lines))
    }
}

/// How an instruction is computed in this way; `None` where the way is not about it, or not permitted.
fn permitted(
    inst: &Inst,
    way: Way,
    widths: u32,
    modes: FloatModes,
    products: &Products,
) -> Option<Evaluation> {
    let own = inst.evaluation.as_deref().copied().unwrap_or_default();
    let of_width = |width: &u8| widths & u32::from(*width) != 0;
    match way {
        Way::AsWritten => None,
        Way::Fused { first } => {
            let fused = products.fused(inst, first)?;
            Some(Evaluation { fused: Some(fused), ..own })
        }
        Way::Rounded(rounding) => {
            arithmetic_width(&inst.op).filter(of_width).filter(|width| !modes.fixes_rounding(*width))?;
            Some(Evaluation { rounding, ..own })
        }
        Way::Flushed => {
            let width = arithmetic_width(&inst.op).or_else(|| compared_width(&inst.op)).filter(of_width)?;
            // An operand of another width has a mode of its own.
            let flushes = match &inst.op {
                Op::Convert { op: ConvertOp::FConvert, from, .. } if modes.preserves_denormals(*from) => {
                    Flushes::Result
                }
                _ => Flushes::All,
            };
            let kept = modes.preserves_denormals(width);
            (!kept).then_some(Evaluation { flushes, ..own })
        }
        Way::Specials(specials) => {
            let classified = classified_width(&inst.op).filter(|_| specials == Specials::Finite);
            let width = arithmetic_width(&inst.op).or(classified).filter(of_width)?;
            let flags = match specials {
                Specials::Kept => 0,
                Specials::PositiveZeros => NO_SIGNED_ZERO,
                Specials::Finite => NOT_SPECIAL,
            };
            let kept = match inst.fast_math {
                Some(mode) => mode & flags == 0,
                None => modes.preserves_special_values(width),
            };
            (!kept).then_some(Evaluation { specials, ..own })
        }
        Way::Half => inst.relaxed.then_some(Evaluation { half: true, ..own }),
    }
}

/// Bits of the result, for operations that are rounded correctly.
fn arithmetic_width(op: &Op) -> Option<u8> {
    match op {
        Op::Binary { op, width, .. } => match op.kind() {
            BinaryKind::Float(FloatBinary::Add | FloatBinary::Subtract | FloatBinary::Multiply) => {
                Some(*width)
            }
            BinaryKind::Float(
                FloatBinary::Divide
                | FloatBinary::Remainder
                | FloatBinary::Modulo
                | FloatBinary::Compare
                | FloatBinary::Order,
            )
            | BinaryKind::IntegerDivision
            | BinaryKind::Other => None,
        },
        Op::Convert {
            op: ConvertOp::FConvert | ConvertOp::ConvertSToF | ConvertOp::ConvertUToF, to, ..
        } => Some(*to),
        Op::Matrix(MatrixOp::TimesScalar { width, .. }) => Some(*width),
        _ => None,
    }
}

fn compared_width(op: &Op) -> Option<u8> {
    match op {
        Op::Binary { op, width, .. } if op.kind() == BinaryKind::Float(FloatBinary::Compare) => Some(*width),
        _ => None,
    }
}

fn classified_width(op: &Op) -> Option<u8> {
    match op {
        Op::Unary { op: UnaryOp::IsNan | UnaryOp::IsInf, width, .. } => Some(*width),
        _ => None,
    }
}

/// The products of a function that may be contracted, and what else the operands of sums are made by.
#[derive(Default)]
struct Products {
    /// By the first register of the result.
    made: HashMap<u32, Made>,
}

#[derive(Clone, Copy)]
enum Made {
    Product {
        width: u8,
        count: u32,
        factors: [Operand; 2],
        scalar: bool,
    },
    /// Components of something else.
    Moved {
        from: Operand,
        count: u32,
    },
}

/// Moves that are followed to the product that a sum adds.
const MOVES: usize = 8;

impl Products {
    fn of(code: &[Inst]) -> Self {
        let made = code.iter().filter_map(|inst| match &inst.op {
            Op::Binary { op: BinaryOp::FMul, width, count, dst, a, b } if may_contract(inst) => {
                let (width, count) = (*width, *count);
                Some((*dst, Made::Product { width, count, factors: [*a, *b], scalar: false }))
            }
            Op::Matrix(MatrixOp::TimesScalar { dst, width, count, a, scalar }) if may_contract(inst) => {
                let (width, count) = (*width, *count);
                Some((*dst, Made::Product { width, count, factors: [*a, *scalar], scalar: true }))
            }
            Op::Composite(CompositeOp::Extract { dst, a, start, count }) => {
                Some((*dst, Made::Moved { from: a.offset(*start), count: *count }))
            }
            Op::Copy { dst, a, count } => Some((*dst, Made::Moved { from: *a, count: *count })),
            _ => None,
        });
        Products { made: made.collect() }
    }

    /// What a sum or difference may be fused with.
    fn fused(&self, inst: &Inst, prefer_first: bool) -> Option<Fused> {
        let Op::Binary { op: BinaryOp::FAdd | BinaryOp::FSub, width, count, a, b, .. } = inst.op else {
            return None;
        };
        if !may_contract(inst) {
            return None;
        }
        let of_first =
            self.factors(a, width, count).map(|(factors, scalar)| Fused { first: true, factors, scalar });
        let of_second =
            self.factors(b, width, count).map(|(factors, scalar)| Fused { first: false, factors, scalar });
        if prefer_first {
            of_first.or(of_second)
        } else {
            of_second.or(of_first)
        }
    }

    /// The factors of the product that these components are. Registers are given values once, so that the factors
    /// are still what they were.
    fn factors(&self, mut operand: Operand, sum_width: u8, sum_count: u32) -> Option<([Operand; 2], bool)> {
        for _ in 0..MOVES {
            if operand.is_constant() {
                return None;
            }
            match self.around(operand.index(), sum_count)? {
                (start, Made::Product { width, factors: [a, b], scalar, .. }) if width == sum_width => {
                    let at = operand.index() - start;
                    return Some(([a.offset(at), if scalar { b } else { b.offset(at) }], scalar));
                }
                (_, Made::Product { .. }) => return None,
                (start, Made::Moved { from, .. }) => operand = from.offset(operand.index() - start),
            }
        }
        None
    }

    /// What made these components, all of them, and its first register.
    fn around(&self, register: u32, count: u32) -> Option<(u32, Made)> {
        let first = register.saturating_sub(LARGEST_VECTOR);
        (first..=register).rev().find_map(|start| {
            let made = *self.made.get(&start)?;
            let (Made::Product { count: total, .. } | Made::Moved { count: total, .. }) = made;
            (register + count <= start + total).then_some((start, made))
        })
    }
}

const LARGEST_VECTOR: u32 = 4;

fn may_contract(inst: &Inst) -> bool {
    !inst.no_contraction && inst.fast_math.is_none_or(|mode| mode & ALLOW_CONTRACT != 0)
}

/// Whether the result has floats of 32 bits, and how many components from its first register on.
pub fn single_results(op: &Op) -> Option<(u32, u32)> {
    match op {
        Op::Unary { op: UnaryOp::FNegate | UnaryOp::QuantizeToF16, width: 32, count, dst, .. } => {
            Some((*dst, *count))
        }
        Op::Binary { op, width: 32, count, dst, .. } => match op.kind() {
            BinaryKind::Float(FloatBinary::Compare | FloatBinary::Order)
            | BinaryKind::IntegerDivision
            | BinaryKind::Other => None,
            BinaryKind::Float(
                FloatBinary::Add
                | FloatBinary::Subtract
                | FloatBinary::Multiply
                | FloatBinary::Divide
                | FloatBinary::Remainder
                | FloatBinary::Modulo,
            ) => Some((*dst, *count)),
        },
        Op::Convert { op, to: 32, count, dst, .. } => match op {
            ConvertOp::FConvert | ConvertOp::ConvertSToF | ConvertOp::ConvertUToF => Some((*dst, *count)),
            ConvertOp::ConvertFToU
            | ConvertOp::ConvertFToS
            | ConvertOp::UConvert
            | ConvertOp::SConvert
            | ConvertOp::Bitcast => None,
        },
        Op::Matrix(op) => match *op {
            MatrixOp::Dot { dst, width: 32, .. } => Some((dst, 1)),
            MatrixOp::TimesScalar { dst, width: 32, count, .. } => Some((dst, count)),
            MatrixOp::VectorTimesMatrix { dst, width: 32, columns, .. } => Some((dst, columns)),
            MatrixOp::MatrixTimesVector { dst, width: 32, rows, .. } => Some((dst, rows)),
            MatrixOp::MatrixTimesMatrix { dst, width: 32, rows, columns, .. }
            | MatrixOp::OuterProduct { dst, width: 32, rows, columns, .. } => Some((dst, rows * columns)),
            _ => None,
        },
        Op::Glsl(op) if op.width == 32 => match op.function {
            GlslFunction::Float(..)
            | GlslFunction::Transcendental(..)
            | GlslFunction::Float2(..)
            | GlslFunction::Float3(..) => Some((op.dst, op.count)),
            _ => None,
        },
        _ => None,
    }
}

//! Which operands an operation reads and where its result goes.

use super::{
    AtomicKind, AtomicOp, BarrierOp, BitFieldOp, CompositeOp, ControlOp, CooperativeOp, Edge, FunctionId,
    MatrixOp, MemoryOp, NumberedWait, Op, Operand,
};

impl Op {
    /// Visits the first component of every operand that the operation reads. The φ moves of edges
    /// are not among them: see [`Op::edges`].
    pub fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            Op::Unary { a, .. }
            | Op::Convert { a, .. }
            | Op::Copy { a, .. }
            | Op::Any { a, .. }
            | Op::All { a, .. } => visit(*a),
            Op::Binary { a, b, .. } | Op::Extended { a, b, .. } => [*a, *b].into_iter().for_each(visit),
            Op::BitField(op) => op.visit_operands(visit),
            Op::IntegerDot(op) => {
                [Some(op.a), Some(op.b), op.accumulator].into_iter().flatten().for_each(visit);
            }
            Op::Glsl(op) => op.function.operands().for_each(visit),
            Op::Encoded(op) => op.operands().for_each(visit),
            Op::Ray(op) => op.visit_operands(visit),
            Op::Assume { condition } => visit(*condition),
            Op::Matrix(op) => op.operands().into_iter().flatten().for_each(visit),
            Op::Composite(op) => op.visit_operands(visit),
            Op::Select { condition, a, b, .. } => [*condition, *a, *b].into_iter().for_each(visit),
            Op::Undef { .. }
            | Op::Barrier(BarrierOp::Memory { .. } | BarrierOp::Control { .. } | BarrierOp::Device(_))
            | Op::Nop => {}
            Op::Barrier(BarrierOp::Numbered(barrier)) => {
                visit(barrier.number);
                match barrier.waits {
                    NumberedWait::Nobody => {}
                    NumberedWait::Users { id } => visit(id),
                    NumberedWait::Quorum { id, count } => [id, count].into_iter().for_each(visit),
                }
            }
            Op::Require { a, b } => [*a, *b].into_iter().for_each(visit),
            Op::Control(op) => op.visit_operands(visit),
            Op::Memory(op) => op.visit_operands(visit),
            Op::Atomic(op) => op.visit_operands(visit),
            Op::Image(op) => op.visit_operands(visit),
            Op::Subgroup(op) => op.visit_operands(visit),
            Op::Cooperative(op) => op.visit_operands(visit),
            Op::Tensor(op) => op.visit_operands(visit),
        }
    }

    /// The first register of the result.
    pub fn destination(&self) -> Option<u32> {
        match self {
            Op::Unary { dst, .. }
            | Op::Binary { dst, .. }
            | Op::Extended { dst, .. }
            | Op::Convert { dst, .. }
            | Op::Select { dst, .. }
            | Op::Copy { dst, .. }
            | Op::Undef { dst, .. }
            | Op::Any { dst, .. }
            | Op::All { dst, .. }
            | Op::BitField(BitFieldOp::Insert { dst, .. } | BitFieldOp::Extract { dst, .. })
            | Op::Control(ControlOp::Call { dst, .. } | ControlOp::IsHelper { dst })
            | Op::Memory(
                MemoryOp::Variable { dst, .. }
                | MemoryOp::Load { dst, .. }
                | MemoryOp::ArrayLength { dst, .. }
                | MemoryOp::Difference { dst, .. },
            ) => Some(*dst),
            Op::Memory(MemoryOp::Chain(chain)) => Some(chain.dst),
            Op::IntegerDot(op) => Some(op.dst),
            Op::Glsl(op) => Some(op.dst),
            Op::Encoded(op) => Some(op.destination()),
            Op::Matrix(op) => Some(op.destination()),
            Op::Composite(op) => Some(op.destination()),
            Op::Ray(op) => op.destination(),
            Op::Atomic(AtomicOp { kind: AtomicKind::Store { .. }, .. })
            | Op::Control(
                ControlOp::Branch(_)
                | ControlOp::BranchConditional { .. }
                | ControlOp::Switch { .. }
                | ControlOp::Return
                | ControlOp::ReturnValue { .. }
                | ControlOp::Unreachable
                | ControlOp::Kill
                | ControlOp::Demote,
            )
            | Op::Memory(MemoryOp::Uniform { .. } | MemoryOp::Store { .. } | MemoryOp::Copy { .. })
            | Op::Barrier(_)
            | Op::Assume { .. }
            | Op::Require { .. }
            | Op::Nop => None,
            Op::Atomic(op) => Some(op.dst),
            Op::Image(op) => op.destination(),
            Op::Subgroup(op) => Some(op.dst),
            Op::Cooperative(op) => op.destination(),
            Op::Tensor(op) => Some(op.dst),
        }
    }

    /// The function that the operation calls, once or more often.
    pub fn callee(&self) -> Option<FunctionId> {
        match self {
            Op::Control(ControlOp::Call { function, .. }) => Some(*function),
            Op::Cooperative(CooperativeOp::Each(each)) => Some(each.function),
            Op::Subgroup(op) => op.callee(),
            _ => None,
        }
    }

    /// The edges that leave the block here.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Op::Control(ControlOp::Branch(edge)) => vec![edge],
            Op::Control(ControlOp::BranchConditional { yes, no, .. }) => vec![yes, no],
            Op::Control(ControlOp::Switch { default, cases, .. }) => {
                std::iter::once(default).chain(cases.iter().map(|(_, edge)| edge)).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl BitFieldOp {
    fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            BitFieldOp::Insert { base, insert, offset, bits, .. } => {
                [*base, *insert, *offset, *bits].into_iter().for_each(visit);
            }
            BitFieldOp::Extract { base, offset, bits, .. } => {
                [*base, *offset, *bits].into_iter().for_each(visit);
            }
        }
    }
}

impl MatrixOp {
    fn operands(&self) -> [Option<Operand>; 2] {
        match self {
            MatrixOp::Dot { a, b, .. }
            | MatrixOp::VectorTimesMatrix { a, b, .. }
            | MatrixOp::MatrixTimesVector { a, b, .. }
            | MatrixOp::MatrixTimesMatrix { a, b, .. }
            | MatrixOp::OuterProduct { a, b, .. } => [Some(*a), Some(*b)],
            MatrixOp::TimesScalar { a, scalar, .. } => [Some(*a), Some(*scalar)],
            MatrixOp::Transpose { a, .. } => [Some(*a), None],
        }
    }

    fn destination(&self) -> u32 {
        match self {
            MatrixOp::Dot { dst, .. }
            | MatrixOp::TimesScalar { dst, .. }
            | MatrixOp::VectorTimesMatrix { dst, .. }
            | MatrixOp::MatrixTimesVector { dst, .. }
            | MatrixOp::MatrixTimesMatrix { dst, .. }
            | MatrixOp::OuterProduct { dst, .. }
            | MatrixOp::Transpose { dst, .. } => *dst,
        }
    }
}

impl CompositeOp {
    fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            CompositeOp::Construct { parts, .. } => parts.iter().for_each(|(part, _)| visit(*part)),
            CompositeOp::Extract { a, .. } => visit(*a),
            CompositeOp::Insert { a, object, .. } => [*a, *object].into_iter().for_each(visit),
            CompositeOp::Shuffle { components, .. } => {
                components.iter().flatten().for_each(|component| visit(*component));
            }
            CompositeOp::ExtractDynamic { a, index, .. } => [*a, *index].into_iter().for_each(visit),
            CompositeOp::InsertDynamic { a, object, index, .. } => {
                [*a, *object, *index].into_iter().for_each(visit);
            }
        }
    }

    fn destination(&self) -> u32 {
        match self {
            CompositeOp::Construct { dst, .. }
            | CompositeOp::Extract { dst, .. }
            | CompositeOp::Insert { dst, .. }
            | CompositeOp::Shuffle { dst, .. }
            | CompositeOp::ExtractDynamic { dst, .. }
            | CompositeOp::InsertDynamic { dst, .. } => *dst,
        }
    }
}

impl ControlOp {
    fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            ControlOp::BranchConditional { condition, .. } => visit(*condition),
            ControlOp::Switch { selector, .. } => visit(*selector),
            ControlOp::Call { arguments, .. } => arguments.iter().copied().for_each(visit),
            ControlOp::ReturnValue { value, .. } => visit(*value),
            ControlOp::Branch(_)
            | ControlOp::Return
            | ControlOp::Unreachable
            | ControlOp::Kill
            | ControlOp::Demote
            | ControlOp::IsHelper { .. } => {}
        }
    }
}

impl MemoryOp {
    fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            MemoryOp::Variable { .. } => {}
            MemoryOp::Chain(chain) => {
                visit(chain.base);
                chain.indices.iter().for_each(|index| visit(index.index));
            }
            MemoryOp::Load { pointer, .. }
            | MemoryOp::Uniform { pointer }
            | MemoryOp::ArrayLength { pointer, .. } => visit(*pointer),
            MemoryOp::Store { pointer, object, .. } => [*pointer, *object].into_iter().for_each(visit),
            MemoryOp::Copy { target, source, .. } => [*target, *source].into_iter().for_each(visit),
            MemoryOp::Difference { a, b, .. } => [*a, *b].into_iter().for_each(visit),
        }
    }
}

impl AtomicOp {
    fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        visit(self.pointer);
        match self.kind {
            AtomicKind::Load | AtomicKind::IIncrement | AtomicKind::IDecrement => {}
            AtomicKind::CompareExchange { value, comparator } => {
                visit(value);
                visit(comparator);
            }
            AtomicKind::Store { value }
            | AtomicKind::Exchange { value }
            | AtomicKind::IAdd { value }
            | AtomicKind::ISub { value }
            | AtomicKind::SMin { value }
            | AtomicKind::UMin { value }
            | AtomicKind::SMax { value }
            | AtomicKind::UMax { value }
            | AtomicKind::And { value }
            | AtomicKind::Or { value }
            | AtomicKind::Xor { value }
            | AtomicKind::FAdd { value }
            | AtomicKind::FMin { value }
            | AtomicKind::FMax { value }
            | AtomicKind::IMul { value }
            | AtomicKind::SDiv { value } => visit(value),
        }
    }
}

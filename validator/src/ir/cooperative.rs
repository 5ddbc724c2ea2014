//! Cooperative matrices (SPV_KHR_cooperative_matrix, SPV_NV_cooperative_matrix2). Each invocation of the scope
//! *holds* some components; a value has register components for these, in ascending order, and perhaps a few
//! more, which nobody ever reads.

use super::{FloatEncoding, FunctionId, LeafKind, MemoryOperands, Operand, TensorLayout, TensorView};
use crate::event::{Scope, StorageClass};

/// Whose invocations hold the components of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MatrixScope {
    Subgroup,
    Workgroup,
}

impl MatrixScope {
    pub const fn scope(self) -> Scope {
        match self {
            MatrixScope::Subgroup => Scope::Subgroup,
            MatrixScope::Workgroup => Scope::Workgroup,
        }
    }
}

/// A matrix's size, and who holds its components, which are numbered row after row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    pub rows: u32,
    pub columns: u32,
    pub scope: MatrixScope,
    /// Register components of a value.
    pub slots: u32,
}

impl Spread {
    /// Number of components.
    pub const fn count(self) -> u32 {
        self.rows * self.columns
    }
}

/// What an invocation does with the components that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CooperativeOp {
    /// OpCooperativeMatrixLengthKHR: how many components the invocation holds.
    Length {
        dst: u32,
        matrix: Spread,
    },
    /// The component of this index among those that the invocation holds.
    Extract {
        dst: u32,
        width: u8,
        a: Operand,
        matrix: Spread,
        index: u32,
    },
    Insert {
        dst: u32,
        a: Operand,
        matrix: Spread,
        object: Operand,
        index: u32,
    },
    /// The next instruction is for those who hold components: the others leave it out.
    IfHeld {
        matrix: Spread,
    },
    Load {
        dst: u32,
        access: CooperativeAccess,
    },
    Store {
        object: Operand,
        access: CooperativeAccess,
    },
    /// Components that a tensor view clips are those of another matrix.
    Unclip {
        dst: u32,
        object: Operand,
        view: (Operand, TensorView),
        matrix: Spread,
    },
    /// A call of a function for each component: the instruction runs again until all are done.
    Each(Box<EachComponent>),
}

/// Where a matrix lies in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CooperativeAccess {
    pub pointer: Operand,
    pub class: StorageClass,
    pub operands: MemoryOperands,
    pub matrix: Spread,
    pub kind: LeafKind,
    pub arrangement: Arrangement,
}

/// Where the components lie, from the pointer on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Row by row, or column by column (Cooperative Matrix Layout).
    Lines(Lines),
    /// As a tensor layout says (SPV_NV_tensor_addressing).
    Tensor(Box<TensorAddress>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines {
    pub row_major: bool,
    /// From one row (column) to the next, in units of `unit` bytes; width in bits.
    pub stride: Option<(Operand, u8)>,
    /// Size of what the pointer points to.
    pub unit: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorAddress {
    pub layout: (Operand, TensorLayout),
    pub view: Option<(Operand, TensorView)>,
}

/// OpCooperativeMatrixPerElementOpNV, or the decoding of OpCooperativeMatrixLoadTensorNV.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EachComponent {
    pub dst: u32,
    pub function: FunctionId,
    pub matrix: Spread,
    pub calls: Calls,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Calls {
    /// With row, column and these: of matrices, the component at that place.
    PerElement(Vec<ElementArgument>),
    /// With a pointer to a block, the block's coordinates and those within it.
    Decode { access: CooperativeAccess, block_size: u32 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementArgument {
    Value(Operand, u32),
    Component(Operand),
}

/// What all invocations of a matrix's scope do together, and only together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixStep {
    pub scope: MatrixScope,
    /// Operands that must be dynamically uniform.
    pub uniform: Vec<Uniform>,
    pub action: MatrixAction,
}

/// So many components that all bring alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    pub value: Operand,
    pub count: u32,
    /// What it is, for messages.
    pub name: &'static str,
    /// Undefined, it may be alike.
    pub lenient: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatrixAction {
    /// Nothing but that.
    Meet,
    /// Components go from who loaded them to who holds them.
    TakeLoaded {
        value: Operand,
        matrix: Spread,
    },
    /// Components go from who holds them to who stores them.
    GiveStored {
        value: Operand,
        matrix: Spread,
    },
    MulAdd(MulAdd),
    Reduce(Reduction),
    /// OpCooperativeMatrixTransposeNV.
    Transpose {
        value: Operand,
        from: Spread,
        to: Spread,
    },
}

/// OpCooperativeMatrixReduceNV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reduction {
    pub value: Operand,
    pub from: Spread,
    pub to: Spread,
    pub mode: ReduceMode,
    /// Combines two components.
    pub function: FunctionId,
    pub float: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceMode {
    Row,
    Column,
    RowAndColumn,
    TwoByTwo,
}

/// OpCooperativeMatrixMulAddKHR: the product of `m` × `k` and `k` × `n`, and an `m` × `n` matrix added.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MulAdd {
    pub a: Factor,
    pub b: Factor,
    pub c: Factor,
    pub result: Factor,
    pub saturates: bool,
}

/// A matrix of a multiplication; of the result, `value` is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Factor {
    pub value: Operand,
    pub matrix: Spread,
    pub width: u8,
    pub float: bool,
    /// Of floats of another format than IEEE 754's.
    pub encoding: Option<FloatEncoding>,
    /// Integer components are signed.
    pub signed: bool,
}

impl CooperativeAccess {
    fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        visit(self.pointer);
        match &self.arrangement {
            Arrangement::Lines(lines) => lines.stride.iter().for_each(|(stride, _)| visit(*stride)),
            Arrangement::Tensor(address) => {
                visit(address.layout.0);
                address.view.iter().for_each(|(view, _)| visit(*view));
            }
        }
    }
}

impl CooperativeOp {
    pub(super) fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        match self {
            CooperativeOp::Length { .. } | CooperativeOp::IfHeld { .. } => {}
            CooperativeOp::Load { access, .. } => access.visit_operands(visit),
            CooperativeOp::Store { object, access } => {
                access.visit_operands(visit);
                visit(*object);
            }
            CooperativeOp::Extract { a, .. } => visit(*a),
            CooperativeOp::Unclip { dst, object, view, .. } => {
                [Operand::register(*dst), *object, view.0].into_iter().for_each(visit);
            }
            CooperativeOp::Insert { a, object, .. } => [*a, *object].into_iter().for_each(visit),
            CooperativeOp::Each(each) => match &each.calls {
                Calls::PerElement(arguments) => arguments.iter().for_each(|argument| match argument {
                    ElementArgument::Value(value, _) | ElementArgument::Component(value) => visit(*value),
                }),
                Calls::Decode { access, .. } => access.visit_operands(visit),
            },
        }
    }

    pub(super) fn destination(&self) -> Option<u32> {
        match self {
            CooperativeOp::Length { dst, .. }
            | CooperativeOp::Extract { dst, .. }
            | CooperativeOp::Insert { dst, .. }
            | CooperativeOp::Unclip { dst, .. }
            | CooperativeOp::Load { dst, .. } => Some(*dst),
            CooperativeOp::Each(each) => Some(each.dst),
            CooperativeOp::IfHeld { .. } | CooperativeOp::Store { .. } => None,
        }
    }

    /// The scope of the matrix.
    pub fn scope(&self) -> Scope {
        let matrix = match self {
            CooperativeOp::Length { matrix, .. }
            | CooperativeOp::Extract { matrix, .. }
            | CooperativeOp::Insert { matrix, .. }
            | CooperativeOp::Unclip { matrix, .. }
            | CooperativeOp::IfHeld { matrix } => matrix,
            CooperativeOp::Load { access, .. } | CooperativeOp::Store { access, .. } => &access.matrix,
            CooperativeOp::Each(each) => &each.matrix,
        };
        matrix.scope.scope()
    }

    /// What it accesses, other than through calls.
    pub fn access(&self) -> Option<&CooperativeAccess> {
        match self {
            CooperativeOp::Load { access, .. } | CooperativeOp::Store { access, .. } => Some(access),
            CooperativeOp::Length { .. }
            | CooperativeOp::Extract { .. }
            | CooperativeOp::Insert { .. }
            | CooperativeOp::IfHeld { .. }
            | CooperativeOp::Unclip { .. }
            | CooperativeOp::Each(_) => None,
        }
    }
}

impl MatrixStep {
    pub(super) fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        self.uniform.iter().for_each(|uniform| visit(uniform.value));
        match &self.action {
            MatrixAction::Meet => {}
            MatrixAction::TakeLoaded { value, .. }
            | MatrixAction::GiveStored { value, .. }
            | MatrixAction::Transpose { value, .. } => visit(*value),
            MatrixAction::MulAdd(product) => {
                [product.a, product.b, product.c].iter().for_each(|factor| visit(factor.value));
            }
            MatrixAction::Reduce(reduction) => visit(reduction.value),
        }
    }
}

//! Tensor layouts and views (SPV_NV_tensor_addressing): what they consist of, and the instructions that make
//! them. A value has a 32-bit register component for each number of its state.

use super::Operand;

/// Most dimensions of a tensor.
pub const MAX_DIMENSIONS: usize = 5;

/// A type of tensor layouts. The state: block sizes, dimensions, strides, offsets and spans, as many of each as
/// there are dimensions, then the clamp value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorLayout {
    pub dimensions: u32,
    pub clamp: ClampMode,
}

impl TensorLayout {
    pub const BLOCK_SIZE: u32 = 0;
    pub const DIMENSION: u32 = 1;
    pub const STRIDE: u32 = 2;
    pub const OFFSET: u32 = 3;
    pub const SPAN: u32 = 4;

    /// Numbers in the state.
    pub const fn size(self) -> u32 {
        self.dimensions * 5 + 1
    }

    /// Where the numbers of one kind begin.
    pub const fn at(self, kind: u32) -> u32 {
        self.dimensions * kind
    }

    pub const fn clamp_value(self) -> u32 {
        self.dimensions * 5
    }
}

/// What becomes of coordinates outside of the tensor (Tensor Clamp Mode).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClampMode {
    Undefined,
    Constant,
    ClampToEdge,
    Repeat,
    RepeatMirrored,
}

/// A type of tensor views. The state: dimensions and strides, then offset and span of the rows and of the columns
/// that are not clipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorView {
    pub dimensions: u32,
    /// It has dimensions of its own; else those of the layout's span count.
    pub has_dimensions: bool,
    pub permutation: [u32; MAX_DIMENSIONS],
}

impl TensorView {
    pub const fn size(self) -> u32 {
        self.dimensions * 2 + 4
    }

    pub const fn strides(self) -> u32 {
        self.dimensions
    }

    pub const fn clip(self) -> u32 {
        self.dimensions * 2
    }
}

/// A new layout or view, like another one but for some of its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorOp {
    pub dst: u32,
    pub change: TensorChange,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorChange {
    CreateLayout(TensorLayout),
    CreateView(TensorView),
    Layout { from: Operand, layout: TensorLayout, change: LayoutChange },
    View { from: Operand, view: TensorView, change: ViewChange },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayoutChange {
    BlockSize(Vec<Operand>),
    Dimension(Vec<Operand>),
    Stride(Vec<Operand>),
    /// Offset and span of each dimension in turn.
    Slice(Vec<Operand>),
    ClampValue(Operand),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewChange {
    Dimension(Vec<Operand>),
    Stride(Vec<Operand>),
    Clip([Operand; 4]),
}

impl TensorOp {
    pub(super) fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        match &self.change {
            TensorChange::CreateLayout(_) | TensorChange::CreateView(_) => {}
            TensorChange::Layout { from, change, .. } => {
                visit(*from);
                match change {
                    LayoutChange::BlockSize(numbers)
                    | LayoutChange::Dimension(numbers)
                    | LayoutChange::Stride(numbers)
                    | LayoutChange::Slice(numbers) => numbers.iter().copied().for_each(visit),
                    LayoutChange::ClampValue(value) => visit(*value),
                }
            }
            TensorChange::View { from, change, .. } => {
                visit(*from);
                match change {
                    ViewChange::Dimension(numbers) | ViewChange::Stride(numbers) => {
                        numbers.iter().copied().for_each(visit);
                    }
                    ViewChange::Clip(numbers) => numbers.iter().copied().for_each(visit),
                }
            }
        }
    }
}

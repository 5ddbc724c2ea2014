//! Tensor layouts and views (SPV_NV_tensor_addressing): their state, and where they say that the components of a
//! cooperative matrix lie (SPV_NV_cooperative_matrix2, "Tensor Layout and View").
//!
//! Strides that the specification does not permit make a layout with undefined strides: its use is undefined
//! behaviour, its making is not, so that an optimiser may compute it early.

use super::machine::{fault, Components, Machine};
use super::Stop;
use crate::event::UndefinedKind;
use crate::ir::{
    ClampMode, LayoutChange, Line, Operand, TensorAddress, TensorChange, TensorLayout, TensorOp, TensorView,
    ViewChange, MAX_DIMENSIONS,
};
use crate::value::{mask, Scalar};

type Coordinates = [u32; MAX_DIMENSIONS];

/// Where a component of a matrix lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TensorPlace {
    Element(Element),
    /// Outside of the tensor: a load gives the clamp value, a store does nothing.
    Outside {
        clamp_value: u32,
    },
    /// The view leaves it out.
    Clipped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element {
    /// In elements, or in blocks.
    pub(super) index: u32,
    pub(super) block: Coordinates,
    pub(super) within: Coordinates,
}

/// What a tensor's state forbids, in words.
type Forbidden = (UndefinedKind, &'static str);

const NO_EXTENT: Forbidden =
    (UndefinedKind::UndefinedOperand, "a span, dimension or block size of the tensor is 0");

impl Machine<'_> {
    pub(super) fn tensor(&mut self, op: &TensorOp) {
        let state = match &op.change {
            TensorChange::CreateLayout(layout) => new_layout(*layout),
            TensorChange::CreateView(view) => new_view(*view),
            TensorChange::Layout { from, layout, change } => {
                let mut state = self.values(*from, layout.size());
                self.change_layout(&mut state, *layout, change);
                state
            }
            TensorChange::View { from, view, change } => {
                let mut state = self.values(*from, view.size());
                self.change_view(&mut state, *view, change);
                state
            }
        };
        self.set_all(op.dst, &state);
    }

    fn change_layout(&self, state: &mut Components, layout: TensorLayout, change: &LayoutChange) {
        let dimensions = layout.dimensions;
        let mut set = |kind: u32, dimension: u32, value: Scalar| {
            if let Some(slot) = state.get_mut((layout.at(kind) + dimension) as usize) {
                *slot = value;
            }
        };
        match change {
            LayoutChange::BlockSize(sizes) => {
                for (dimension, size) in (0..).zip(sizes) {
                    set(TensorLayout::BLOCK_SIZE, dimension, self.value(*size));
                }
            }
            LayoutChange::Dimension(numbers) => {
                for (dimension, number) in (0..).zip(numbers) {
                    set(TensorLayout::DIMENSION, dimension, self.value(*number));
                    set(TensorLayout::SPAN, dimension, self.value(*number));
                    set(TensorLayout::OFFSET, dimension, Scalar::new(0));
                }
                let mut stride = Scalar::new(1);
                for dimension in (0..dimensions).rev() {
                    set_number(state, layout, TensorLayout::STRIDE, dimension, stride);
                    stride = product(stride, blocks(state, layout, dimension));
                }
            }
            LayoutChange::Stride(strides) => {
                let strides: Components = strides.iter().map(|stride| self.value(*stride)).collect();
                let permitted = (1..dimensions).all(|inner| {
                    let least = product(strides[inner as usize], blocks(state, layout, inner));
                    let stride = strides[inner as usize - 1];
                    stride.is_defined() && least.is_defined() && stride.bits >= least.bits
                });
                for (dimension, stride) in (0..).zip(&strides) {
                    let stride = if permitted { *stride } else { Scalar::undefined(32) };
                    set_number(state, layout, TensorLayout::STRIDE, dimension, stride);
                }
            }
            LayoutChange::Slice(numbers) => {
                for (dimension, pair) in (0..).zip(numbers.chunks_exact(2)) {
                    let [offset, span] = [0, 1].map(|at| self.value(pair[at]));
                    let before = number(state, layout, TensorLayout::OFFSET, dimension);
                    set_number(state, layout, TensorLayout::OFFSET, dimension, sum(before, offset));
                    set_number(state, layout, TensorLayout::SPAN, dimension, span);
                }
            }
            LayoutChange::ClampValue(value) => {
                if let Some(slot) = state.get_mut(layout.clamp_value() as usize) {
                    *slot = self.value(*value);
                }
            }
        }
    }

    fn change_view(&self, state: &mut Components, view: TensorView, change: &ViewChange) {
        let mut set = |at: u32, value: Scalar| {
            if let Some(slot) = state.get_mut(at as usize) {
                *slot = value;
            }
        };
        match change {
            ViewChange::Dimension(numbers) => {
                let mut stride = Scalar::new(1);
                for (dimension, number) in (0..view.dimensions).zip(numbers).rev() {
                    let number = self.value(*number);
                    set(dimension, number);
                    set(view.strides() + dimension, stride);
                    stride = product(stride, number);
                }
            }
            ViewChange::Stride(strides) => {
                for (dimension, stride) in (0..).zip(strides) {
                    set(view.strides() + dimension, self.value(*stride));
                }
            }
            ViewChange::Clip(numbers) => {
                for (at, number) in (view.clip()..).zip(numbers) {
                    set(at, self.value(*number));
                }
            }
        }
    }

    /// Where a component lies, of a matrix with so many columns. `store`: it is to be stored there.
    pub(super) fn tensor_place(
        &self,
        address: &TensorAddress,
        [row, column]: [u32; 2],
        columns: u32,
        store: bool,
        line: Line,
    ) -> Result<TensorPlace, Box<Stop>> {
        let (layout, layout_type) = address.layout;
        let tensor = Tensor { machine: self, layout, layout_type };
        tensor
            .place(address.view, [row, column], columns, store)
            .map_err(|(kind, what)| fault(kind, line, what))
    }

    /// Whether a view leaves a component out.
    pub(super) fn is_clipped(&self, (view, ty): (Operand, TensorView), [row, column]: [u32; 2]) -> bool {
        let [row_offset, row_span, column_offset, column_span] =
            [0, 1, 2, 3].map(|at| self.value(view.offset(ty.clip() + at)).bits as u32);
        row < row_offset
            || row >= row_offset.wrapping_add(row_span)
            || column < column_offset
            || column >= column_offset.wrapping_add(column_span)
    }
}

fn new_layout(layout: TensorLayout) -> Components {
    let ones = layout.at(TensorLayout::BLOCK_SIZE)..layout.at(TensorLayout::DIMENSION);
    (0..layout.size()).map(|at| Scalar::new(u64::from(ones.contains(&at)))).collect()
}

fn new_view(view: TensorView) -> Components {
    let spans = [view.clip() + 1, view.clip() + 3];
    let number = |at: u32| if spans.contains(&at) { u64::from(u32::MAX) } else { 0 };
    (0..view.size()).map(|at| Scalar::new(number(at))).collect()
}

fn number(state: &Components, layout: TensorLayout, kind: u32, dimension: u32) -> Scalar {
    state.get((layout.at(kind) + dimension) as usize).copied().unwrap_or_default()
}

fn set_number(state: &mut Components, layout: TensorLayout, kind: u32, dimension: u32, value: Scalar) {
    if let Some(slot) = state.get_mut((layout.at(kind) + dimension) as usize) {
        *slot = value;
    }
}

/// How many blocks a dimension has.
fn blocks(state: &Components, layout: TensorLayout, dimension: u32) -> Scalar {
    let extent = number(state, layout, TensorLayout::DIMENSION, dimension);
    let size = number(state, layout, TensorLayout::BLOCK_SIZE, dimension);
    match extent.is_defined() && size.is_defined() && size.bits != 0 {
        true => Scalar::new(extent.bits.div_ceil(size.bits)),
        false => Scalar::undefined(32),
    }
}

fn product(a: Scalar, b: Scalar) -> Scalar {
    combined(a, b, u64::wrapping_mul)
}

fn sum(a: Scalar, b: Scalar) -> Scalar {
    combined(a, b, u64::wrapping_add)
}

/// A number of 32 bits made of two.
fn combined(a: Scalar, b: Scalar, operation: fn(u64, u64) -> u64) -> Scalar {
    match a.is_defined() && b.is_defined() {
        true => Scalar::new(operation(a.bits, b.bits) & mask(32)),
        false => Scalar::undefined(32),
    }
}

/// A tensor layout, while a component is looked up.
struct Tensor<'t, 'm> {
    machine: &'t Machine<'m>,
    layout: Operand,
    layout_type: TensorLayout,
}

impl Tensor<'_, '_> {
    fn number(&self, kind: u32, dimension: u32) -> u32 {
        self.machine.value(self.layout.offset(self.layout_type.at(kind) + dimension)).bits as u32
    }

    fn place(
        &self,
        view: Option<(Operand, TensorView)>,
        [row, column]: [u32; 2],
        columns: u32,
        store: bool,
    ) -> Result<TensorPlace, Forbidden> {
        let mut index = row.wrapping_mul(columns).wrapping_add(column);
        if let Some((state, view)) = view {
            if self.machine.is_clipped((state, view), [row, column]) {
                return Ok(TensorPlace::Clipped);
            }
            let at = |at: u32| self.machine.value(state.offset(at)).bits as u32;
            let (row, column) = (row - at(view.clip()), column - at(view.clip() + 2));
            let width = columns.min(at(view.clip() + 3));
            index = row.wrapping_mul(width).wrapping_add(column);
            index = self.through_view(view, at, index)?;
        }
        let mut coordinates = [0; MAX_DIMENSIONS];
        for dimension in (0..self.layout_type.dimensions).rev() {
            let span = self.number(TensorLayout::SPAN, dimension);
            coordinates[dimension as usize] = index.checked_rem(span).ok_or(NO_EXTENT)?;
            index /= span;
        }
        self.element(coordinates, store)
    }

    /// From an index that counts through the permuted view to one in its memory.
    fn through_view(
        &self,
        view: TensorView,
        state: impl Fn(u32) -> u32,
        mut index: u32,
    ) -> Result<u32, Forbidden> {
        let extent = |dimension: u32| match view.has_dimensions {
            true => state(dimension),
            false => self.number(TensorLayout::SPAN, dimension),
        };
        let mut coordinates = [0; MAX_DIMENSIONS];
        for position in (0..view.dimensions as usize).rev() {
            let dimension = view.permutation[position];
            let extent = extent(dimension);
            coordinates[dimension as usize] = index.checked_rem(extent).ok_or(NO_EXTENT)?;
            index /= extent;
        }
        let mut stride: u32 = 1;
        let mut linear: u32 = 0;
        for dimension in (0..view.dimensions).rev() {
            let own = if view.has_dimensions { state(view.strides() + dimension) } else { stride };
            linear = linear.wrapping_add(coordinates[dimension as usize].wrapping_mul(own));
            stride = stride.wrapping_mul(extent(dimension));
        }
        Ok(linear)
    }

    /// From coordinates within the span to the element, or to its block.
    fn element(&self, coordinates: Coordinates, store: bool) -> Result<TensorPlace, Forbidden> {
        let mut element = Element { index: 0, block: [0; MAX_DIMENSIONS], within: [0; MAX_DIMENSIONS] };
        for dimension in 0..self.layout_type.dimensions {
            let at = dimension as usize;
            let extent = i64::from(self.number(TensorLayout::DIMENSION, dimension));
            let offset = self.number(TensorLayout::OFFSET, dimension);
            let mut coordinate = i64::from(coordinates[at].wrapping_add(offset) as i32);
            if coordinate < 0 || coordinate >= extent {
                let clamp = match self.layout_type.clamp {
                    ClampMode::Undefined => ClampMode::Undefined,
                    // A store outside is left out.
                    _ if store => ClampMode::Constant,
                    clamp => clamp,
                };
                coordinate = match clamp {
                    ClampMode::Undefined => {
                        let what = "a component of the matrix lies outside of the tensor";
                        return Err((UndefinedKind::OutOfBounds, what));
                    }
                    ClampMode::Constant => {
                        let value = self.machine.value(self.layout.offset(self.layout_type.clamp_value()));
                        return Ok(TensorPlace::Outside { clamp_value: value.bits as u32 });
                    }
                    ClampMode::ClampToEdge => coordinate.max(0).min(extent - 1),
                    ClampMode::Repeat => coordinate.checked_rem_euclid(extent).ok_or(NO_EXTENT)?,
                    ClampMode::RepeatMirrored => {
                        let period = 2 * extent - 2;
                        let repeated = coordinate.checked_rem_euclid(period).ok_or(NO_EXTENT)?;
                        if repeated >= extent {
                            period - repeated
                        } else {
                            repeated
                        }
                    }
                };
            }
            let coordinate = u32::try_from(coordinate).map_err(|_| NO_EXTENT)?;
            let size = self.number(TensorLayout::BLOCK_SIZE, dimension);
            if store && size > 1 {
                let what = "a matrix is stored to a tensor in blocks";
                return Err((UndefinedKind::UndefinedOperand, what));
            }
            element.within[at] = coordinate.checked_rem(size).ok_or(NO_EXTENT)?;
            element.block[at] = coordinate / size;
            let stride = self.number(TensorLayout::STRIDE, dimension);
            element.index = element.index.wrapping_add(element.block[at].wrapping_mul(stride));
        }
        Ok(TensorPlace::Element(element))
    }
}

//! Cooperative matrices: what one invocation does with the components that it holds (SPV_KHR_cooperative_matrix,
//! SPV_NV_cooperative_matrix2).
//!
//! The component of row `r` and column `c` is held by invocation `(r × columns + c) mod n` of the `n` in the
//! scope, in one register component after the other. What is left over in its last ones are copies of its first,
//! so that what is done component by component goes for them as it goes for that one.

use std::collections::BTreeMap;

use super::access::components_of;
use super::machine::{fault, Components, Machine, Step};
use super::memory::Target;
use super::tensor::TensorPlace;
use super::{PhysicalPointer, Stop};
use crate::dispatch::{Dispatch, Place};
use crate::event::{StorageClass, UndefinedKind};
use crate::ir::{
    Arrangement, Calls, CooperativeAccess, CooperativeOp, EachComponent, ElementArgument, Leaf, Line, Lines,
    MatrixScope, Operand, Shape, ShapeId, Spread,
};
use crate::value::{mask, Byte, Scalar};

/// Which components of matrices an invocation holds: every `step`-th from `first` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Held {
    pub(super) first: u32,
    pub(super) step: u32,
}

impl Held {
    pub(super) fn by(dispatch: &Dispatch, place: &Place, scope: MatrixScope) -> Self {
        let local =
            dispatch.local_size.iter().fold(1, |product: u32, extent| product.saturating_mul(*extent));
        match scope {
            MatrixScope::Workgroup => Held { first: place.local_index, step: local.max(1) },
            MatrixScope::Subgroup => {
                let size = dispatch.subgroup_size.max(1);
                let before = place.subgroup_id.saturating_mul(size);
                Held { first: place.subgroup_lane, step: local.saturating_sub(before).clamp(1, size) }
            }
        }
    }

    /// What the invocation holds that is so many places before this one.
    pub(super) const fn before(self, places: u32) -> Self {
        Held { first: (self.first + self.step - places % self.step) % self.step, ..self }
    }

    /// How many of `count` components these are.
    pub(super) const fn length(self, count: u32) -> u32 {
        count.saturating_sub(self.first).div_ceil(self.step)
    }

    /// The component of this index among those held, of `count`.
    pub(super) fn component(self, index: u64, count: u32) -> Option<u32> {
        (index < u64::from(self.length(count))).then(|| index as u32 * self.step + self.first)
    }

    pub(super) fn components(self, count: u32) -> impl Iterator<Item = u32> {
        (self.first..count).step_by(self.step as usize)
    }
}

/// Fills what is left over behind the first `length` components.
fn fill(components: &mut [Scalar], length: u32) {
    let Some(first) = components.first().copied().filter(|_| length > 0) else { return };
    components.iter_mut().skip(length as usize).for_each(|component| *component = first);
}

/// Loads are done so many places behind who holds the component, stores so many, where the dispatch has matrix
/// accesses displaced.
pub(super) const LOAD_PLACES: u32 = 1;
pub(super) const STORE_PLACES: u32 = 2;

/// What an invocation accesses for its own or other invocations.
struct Accessed {
    /// How the components lie in memory.
    shape: Shape,
    /// Register component and leaf of each.
    leaf_of: Vec<(u32, usize)>,
    /// Components that no memory gives.
    given: Vec<(u32, Scalar)>,
}

impl Machine<'_> {
    pub(super) fn held(&self, scope: MatrixScope) -> Held {
        Held::by(self.dispatch, &self.dispatch.places[self.state.index as usize], scope)
    }

    /// The components that the invocation loads, or stores.
    fn accessed(&self, matrix: Spread, places: u32) -> Held {
        self.held(matrix.scope).before(if self.dispatch.displaced { places } else { 0 })
    }

    pub(super) fn cooperative(&mut self, op: &CooperativeOp, line: Line) -> Step {
        match op {
            CooperativeOp::Length { dst, matrix } => {
                let length = self.held(matrix.scope).length(matrix.count());
                self.state.set(*dst, Scalar::new(u64::from(length)));
            }
            CooperativeOp::Extract { dst, width, a, matrix, index } => {
                let held = *index < self.held(matrix.scope).length(matrix.count());
                let value = match held {
                    true => self.value(a.offset(*index)),
                    false => Scalar::undefined(u32::from(*width)),
                };
                self.state.set(*dst, value);
            }
            CooperativeOp::Insert { dst, a, matrix, object, index } => {
                let length = self.held(matrix.scope).length(matrix.count());
                let mut components = self.values(*a, matrix.slots);
                if let Some(slot) = components.get_mut(*index as usize) {
                    *slot = self.value(*object);
                }
                fill(&mut components, length);
                self.set_all(*dst, &components);
            }
            CooperativeOp::IfHeld { matrix } => {
                if self.held(matrix.scope).length(matrix.count()) == 0 {
                    self.state.advance();
                }
            }
            CooperativeOp::Load { dst, access } => {
                let components = self.load_matrix(access, line)?;
                self.set_all(*dst, &components);
            }
            CooperativeOp::Store { object, access } => return self.store_matrix(*object, access, line),
            CooperativeOp::Unclip { dst, object, view, matrix } => {
                let held = self.held(matrix.scope);
                let mut components = self.values(Operand::register(*dst), matrix.slots);
                for (slot, component) in (0..).zip(held.components(matrix.count())) {
                    let place = [component / matrix.columns, component % matrix.columns];
                    if self.is_clipped(*view, place) {
                        components[slot as usize] = self.value(object.offset(slot));
                    }
                }
                fill(&mut components, held.length(matrix.count()));
                self.set_all(*dst, &components);
            }
            CooperativeOp::Each(each) => return self.each(each, line),
        }
        self.state.advance();
        Ok(())
    }

    /// Makes the next call, or ends the instruction.
    fn each(&mut self, each: &EachComponent, line: Line) -> Step {
        let matrix = each.matrix;
        let held = match &each.calls {
            Calls::PerElement(_) => self.held(matrix.scope),
            Calls::Decode { .. } => self.accessed(matrix, LOAD_PLACES),
        };
        while let Some(component) = held.component(u64::from(self.state.frame.element), matrix.count()) {
            let slot = self.state.frame.element;
            let arguments = match &each.calls {
                Calls::PerElement(arguments) => self.element_arguments(arguments, matrix, component, slot),
                Calls::Decode { access, block_size } => {
                    match self.decode_arguments(access, *block_size, component, line)? {
                        Ok(arguments) => arguments,
                        Err(value) => {
                            self.state.set(each.dst + slot, value);
                            self.state.frame.element += 1;
                            continue;
                        }
                    }
                }
            };
            if let Some(convergence) = &mut self.state.convergence {
                convergence.hold();
            }
            self.call_with(each.function, arguments);
            return Ok(());
        }
        if let Some(convergence) = &mut self.state.convergence {
            convergence.go_on();
        }
        self.state.frame.element = 0;
        let length = held.length(matrix.count());
        let mut components = self.values(Operand::register(each.dst), matrix.slots);
        if length == 0 {
            // Nobody reads these.
            components.iter_mut().for_each(|component| *component = Scalar::default());
        }
        fill(&mut components, length);
        self.set_all(each.dst, &components);
        self.state.advance();
        Ok(())
    }

    fn element_arguments(
        &self,
        arguments: &[ElementArgument],
        matrix: Spread,
        component: u32,
        slot: u32,
    ) -> Components {
        let place = [component / matrix.columns, component % matrix.columns];
        let mut values: Components = place.into_iter().map(|number| Scalar::new(u64::from(number))).collect();
        for argument in arguments {
            match argument {
                ElementArgument::Value(value, count) => values.extend(self.values(*value, *count)),
                ElementArgument::Component(value) => values.push(self.value(value.offset(slot))),
            }
        }
        values
    }

    /// The arguments of a decode function, or the component's value where nothing is decoded.
    fn decode_arguments(
        &self,
        access: &CooperativeAccess,
        block_size: u32,
        component: u32,
        line: Line,
    ) -> Result<Result<Components, Scalar>, Box<Stop>> {
        let width = access.kind.width();
        let Arrangement::Tensor(address) = &access.arrangement else {
            return Ok(Err(Scalar::undefined(width)));
        };
        let matrix = access.matrix;
        let place = [component / matrix.columns, component % matrix.columns];
        let element = match self.tensor_place(address, place, matrix.columns, false, line)? {
            TensorPlace::Element(element) => element,
            TensorPlace::Outside { clamp_value } => return Ok(Err(clamped(clamp_value, width))),
            TensorPlace::Clipped => return Ok(Err(Scalar::undefined(width))),
        };
        let mut pointer = self.tensor_pointer(access, line)?;
        let offset = u64::from(element.index) * u64::from(block_size);
        pointer.address = pointer.address.wrapping_add(offset);
        let mut values: Components = pointer.encode().into_iter().collect();
        let dimensions = address.layout.1.dimensions as usize;
        for coordinates in [element.block, element.within] {
            values.extend(coordinates.iter().take(dimensions).map(|one| Scalar::new(u64::from(*one))));
        }
        Ok(Ok(values))
    }

    /// The address that a tensor begins at.
    fn tensor_pointer(&self, access: &CooperativeAccess, line: Line) -> Result<PhysicalPointer, Box<Stop>> {
        let resolved = self.resolve_in(access.class, access.pointer, line)?;
        check_tensor_alignment(access.class, resolved.offset, line)?;
        let base = self.dispatch.address_of(resolved.object).ok_or_else(|| {
            let what = "a decode function on a buffer without an address";
            Box::new(Stop::Unsupported { line, what })
        })?;
        let address = base.wrapping_add(u64::from(resolved.offset));
        Ok(PhysicalPointer { address, decorations: resolved.decorations, out_of_bounds: false })
    }

    fn store_matrix(&mut self, object: Operand, access: &CooperativeAccess, line: Line) -> Step {
        let held = self.accessed(access.matrix, STORE_PLACES);
        let Accessed { shape, leaf_of, .. } = self.matrix_shape(access, held, true, line)?;
        if leaf_of.len() > shape.leaves.len() {
            let detail = "two components of the matrix are stored to one place";
            return Err(fault(UndefinedKind::UndefinedOperand, line, detail));
        }
        let mut components = Components::from_elem(Scalar::default(), shape.leaves.len());
        for (slot, leaf) in leaf_of {
            if let Some(component) = components.get_mut(leaf) {
                *component = self.value(object.offset(slot));
            }
        }
        if components.is_empty() {
            self.state.advance();
            return Ok(());
        }
        self.store_shaped(target(access), &shape, &components, line)
    }

    /// The components that the invocation loads, from memory.
    fn load_matrix(&mut self, access: &CooperativeAccess, line: Line) -> Result<Components, Box<Stop>> {
        let held = self.accessed(access.matrix, LOAD_PLACES);
        let Accessed { shape, leaf_of, given } = self.matrix_shape(access, held, false, line)?;
        let loaded = match self.state.copied.take() {
            // What was supplied, a byte a component.
            Some(copied) => {
                let byte = |scalar: &Scalar| match scalar.is_defined() {
                    true => Byte::Known(scalar.bits as u8),
                    false => Byte::Undef,
                };
                let bytes: Vec<Byte> = copied.0.iter().map(byte).collect();
                components_of(&shape, &bytes)
            }
            None if shape.leaves.is_empty() => Components::new(),
            None => self.load_shaped(target(access), &shape, line)?,
        };
        let matrix = access.matrix;
        let mut components =
            Components::from_elem(Scalar::undefined(access.kind.width()), matrix.slots as usize);
        let found = leaf_of.into_iter().filter_map(|(slot, leaf)| Some((slot, *loaded.get(leaf)?)));
        for (slot, value) in found.chain(given) {
            if let Some(component) = components.get_mut(slot as usize) {
                *component = value;
            }
        }
        fill(&mut components, held.length(matrix.count()));
        Ok(components)
    }

    /// How components lie in memory.
    fn matrix_shape(
        &self,
        access: &CooperativeAccess,
        held: Held,
        store: bool,
        line: Line,
    ) -> Result<Accessed, Box<Stop>> {
        let (matrix, bytes) = (access.matrix, access.kind.bytes());
        let mut given = Vec::new();
        let mut leaves: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        if let Arrangement::Tensor(_) = &access.arrangement {
            let resolved = self.resolve_in(access.class, access.pointer, line)?;
            check_tensor_alignment(access.class, resolved.offset, line)?;
        }
        for (slot, component) in (0..).zip(held.components(matrix.count())) {
            let place = [component / matrix.columns, component % matrix.columns];
            let offset = match &access.arrangement {
                Arrangement::Lines(lines) => self.line_offset(lines, access, place, store, line)?,
                Arrangement::Tensor(address) => {
                    match self.tensor_place(address, place, matrix.columns, store, line)? {
                        TensorPlace::Element(element) => u64::from(element.index) * u64::from(bytes),
                        TensorPlace::Outside { clamp_value } => {
                            given.push((slot, clamped(clamp_value, access.kind.width())));
                            continue;
                        }
                        TensorPlace::Clipped => continue,
                    }
                }
            };
            let Ok(offset) = u32::try_from(offset) else {
                let detail = "a component of the matrix lies outside of every object";
                return Err(fault(UndefinedKind::OutOfBounds, line, detail));
            };
            leaves.entry(offset).or_default().push(slot);
        }
        let leaf_of = leaves.values().enumerate();
        let leaf_of = leaf_of.flat_map(|(leaf, slots)| slots.iter().map(move |slot| (*slot, leaf))).collect();
        let size = leaves.keys().last().map_or(0, |offset| offset.saturating_add(bytes));
        let leaves = leaves.keys().map(|offset| Leaf { offset: *offset, kind: access.kind }).collect();
        Ok(Accessed { shape: Shape { leaves, size }, leaf_of, given })
    }

    /// Bytes from the pointer to a component.
    fn line_offset(
        &self,
        lines: &Lines,
        access: &CooperativeAccess,
        [row, column]: [u32; 2],
        store: bool,
        line: Line,
    ) -> Result<u64, Box<Stop>> {
        let (major, minor, length) = match lines.row_major {
            true => (row, column, access.matrix.columns),
            false => (column, row, access.matrix.rows),
        };
        let bytes = u64::from(access.kind.bytes());
        let stride = match lines.stride {
            Some((operand, width)) => {
                let stride = self.value(operand).bits & mask(u32::from(width));
                if store && stride == 0 {
                    let detail = "a matrix is stored with a stride of 0";
                    return Err(fault(UndefinedKind::UndefinedOperand, line, detail));
                }
                stride.saturating_mul(u64::from(lines.unit))
            }
            None => u64::from(length) * bytes,
        };
        Ok(u64::from(major).saturating_mul(stride).saturating_add(u64::from(minor) * bytes))
    }
}

/// The pointer to a tensor is a multiple of 16 bytes, where the module says where memory lies.
fn check_tensor_alignment(class: StorageClass, offset: u32, line: Line) -> Result<(), Box<Stop>> {
    if class != StorageClass::Workgroup && !offset.is_multiple_of(16) {
        let detail = format!("a tensor begins at byte {offset} of the object, which is no multiple of 16");
        return Err(fault(UndefinedKind::Misaligned, line, detail));
    }
    Ok(())
}

/// The clamp value as a component of this width.
fn clamped(value: u32, width: u32) -> Scalar {
    Scalar::new(u64::from(value) & mask(width))
}

/// The shape is made anew for each access: the number stands for none.
fn target(access: &CooperativeAccess) -> Target {
    let CooperativeAccess { pointer, class, operands, .. } = access;
    Target { pointer: *pointer, class: *class, shape: ShapeId(u32::MAX), operands: *operands }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_component_is_held_once() {
        for places in 0..6 {
            let mut seen = [0; 10];
            for first in 0..4 {
                let held = Held { first, step: 4 }.before(places);
                let components: Vec<u32> = held.components(10).collect();
                assert_eq!(components.len() as u32, held.length(10));
                for (index, component) in (0..).zip(components) {
                    assert_eq!(held.component(index, 10), Some(component));
                    seen[component as usize] += 1;
                }
                assert_eq!(held.component(u64::from(held.length(10)), 10), None);
            }
            assert_eq!(seen, [1; 10]);
        }
    }

    #[test]
    fn places_are_counted_in_a_circle() {
        let held = |first| Held { first, step: 4 };
        assert_eq!(held(2).before(1), held(1));
        assert_eq!(held(0).before(1), held(3));
        assert_eq!(held(1).before(6), held(3));
    }
}

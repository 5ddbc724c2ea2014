//! Cooperative matrices: what one invocation does with the components that it holds
//! (SPV_KHR_cooperative_matrix). The components that it does not hold are copies of its first, so that what is done
//! component by component goes for them as it goes for that one.

use std::collections::BTreeMap;

use super::access::components_of;
use super::machine::{fault, Components, Machine, Step};
use super::memory::Target;
use super::Stop;
use crate::dispatch::{Dispatch, Place};
use crate::event::UndefinedKind;
use crate::ir::{CooperativeAccess, CooperativeOp, Leaf, Line, Shape, ShapeId};
use crate::value::{Byte, Scalar};

/// Which components of matrices an invocation holds: every `step`-th from `first` on.
#[derive(Clone, Copy)]
pub(super) struct Held {
    pub(super) first: u32,
    pub(super) step: u32,
}

impl Held {
    pub(super) fn by(dispatch: &Dispatch, place: &Place) -> Self {
        let local =
            dispatch.local_size.iter().fold(1, |product: u32, extent| product.saturating_mul(*extent));
        let size = dispatch.subgroup_size.max(1);
        let before = place.subgroup_id.saturating_mul(size);
        Held { first: place.subgroup_lane, step: local.saturating_sub(before).clamp(1, size) }
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

    /// Gives the components that are not held the value of the first that is.
    pub(super) fn fill(self, components: &mut [Scalar]) {
        let Some(first) = components.get(self.first as usize).copied() else { return };
        for (number, component) in (0..).zip(components) {
            if number % self.step != self.first {
                *component = first;
            }
        }
    }
}

/// Components, each with the number of its leaf.
type LeafNumbers = Vec<(u32, usize)>;

impl Machine<'_> {
    pub(super) fn held(&self) -> Held {
        Held::by(self.dispatch, &self.dispatch.places[self.state.index as usize])
    }

    pub(super) fn cooperative(&mut self, op: &CooperativeOp, line: Line) -> Step {
        let held = self.held();
        match op {
            CooperativeOp::Length { dst, count } => {
                self.state.set(*dst, Scalar::new(u64::from(held.length(*count))));
            }
            CooperativeOp::Extract { dst, width, a, count, index } => {
                let value = match held.component(u64::from(*index), *count) {
                    Some(component) => self.value(a.offset(component)),
                    None => Scalar::undefined(u32::from(*width)),
                };
                self.state.set(*dst, value);
            }
            CooperativeOp::Insert { dst, a, count, object, index } => {
                let mut components = self.values(*a, *count);
                if let Some(component) = held.component(u64::from(*index), *count) {
                    if let Some(slot) = components.get_mut(component as usize) {
                        *slot = self.value(*object);
                    }
                }
                held.fill(&mut components);
                self.set_all(*dst, &components);
            }
            CooperativeOp::Load { dst, access } => {
                let components = self.load_matrix(access, held, line)?;
                self.set_all(*dst, &components);
            }
            CooperativeOp::Store { object, access } => {
                let (shape, leaf_of) = self.matrix_shape(access, held, line)?;
                let mut components = Components::from_elem(Scalar::default(), shape.leaves.len());
                for (component, leaf) in leaf_of {
                    if let Some(slot) = components.get_mut(leaf) {
                        *slot = self.value(object.offset(component));
                    }
                }
                if components.is_empty() {
                    self.state.advance();
                    return Ok(());
                }
                return self.store_shaped(target(access), &shape, &components, line);
            }
        }
        self.state.advance();
        Ok(())
    }

    /// The components that the invocation holds, from memory.
    fn load_matrix(
        &mut self,
        access: &CooperativeAccess,
        held: Held,
        line: Line,
    ) -> Result<Components, Box<Stop>> {
        let (shape, leaf_of) = self.matrix_shape(access, held, line)?;
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
        let width = access.kind.width();
        let count = (access.rows * access.columns) as usize;
        let mut components = Components::from_elem(Scalar::undefined(width), count);
        for (component, leaf) in leaf_of {
            if let (Some(slot), Some(value)) = (components.get_mut(component as usize), loaded.get(leaf)) {
                *slot = *value;
            }
        }
        held.fill(&mut components);
        Ok(components)
    }

    /// How the components that are held lie in memory, and the leaf of each.
    fn matrix_shape(
        &mut self,
        access: &CooperativeAccess,
        held: Held,
        line: Line,
    ) -> Result<(Shape, LeafNumbers), Box<Stop>> {
        let (lines, length) = match access.row_major {
            true => (access.rows, access.columns),
            false => (access.columns, access.rows),
        };
        let bytes = access.kind.bytes();
        let stride = match access.stride {
            Some((operand, _)) => {
                let stride = self.choose_bits(self.value(operand), line)?.bits;
                stride.saturating_mul(u64::from(access.unit))
            }
            None => u64::from(length) * u64::from(bytes),
        };
        let mut leaves: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for component in held.components(lines * length) {
            let (row, column) = (component / access.columns, component % access.columns);
            let (major, minor) = if access.row_major { (row, column) } else { (column, row) };
            let offset = u64::from(major).saturating_mul(stride) + u64::from(minor) * u64::from(bytes);
            let Ok(offset) = u32::try_from(offset) else {
                let detail = "a row or column of the matrix lies outside of every object";
                return Err(fault(UndefinedKind::OutOfBounds, line, detail));
            };
            leaves.entry(offset).or_default().push(component);
        }
        let leaf_of = leaves.values().enumerate();
        let leaf_of = leaf_of.flat_map(|(leaf, components)| components.iter().map(move |one| (*one, leaf)));
        let leaf_of: LeafNumbers = leaf_of.collect();
        let size = leaves.keys().last().map_or(0, |offset| offset.saturating_add(bytes));
        let leaves = leaves.keys().map(|offset| Leaf { offset: *offset, kind: access.kind }).collect();
        Ok((Shape { leaves, size }, leaf_of))
    }
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
        let mut seen = [0; 10];
        for first in 0..4 {
            let held = Held { first, step: 4 };
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

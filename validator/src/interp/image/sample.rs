//! From coordinates to texels (Vulkan, "Normalized Texel Coordinate Operations" to "Image Sample
//! Operations"): which texels a lookup takes, and with what weights.
//!
//! An implementation computes positions and weights with a few bits of fraction only. Where that can
//! matter the lookup is inexact: near the boundary between two texels, and wherever texels of different
//! values are mixed.

use smallvec::SmallVec;

use crate::interp::float::to_double;
use crate::interp::machine::Machine;
use crate::interp::Stop;
use crate::ir::image::{
    AddressMode, Border, Dim, Filter, ImageLayout, ImageOp, Position, Sampler, TexelKind,
};
use crate::ir::{Line, Operand};

use super::cube::{cube_texels, face_of};
use super::level::{LevelOfDetail, Levels};
use super::lookup::{Lookup, Tap};

/// Implementations round texel coordinates to at least 4 bits of fraction (subTexelPrecisionBits).
pub(in crate::interp) const SUBTEXEL: f64 = 1.0 / 16.0;

/// Where a lookup goes in one level: unnormalised coordinates of a layer.
#[derive(Clone, Copy)]
struct LevelCoordinates {
    at: [f64; 3],
    layer: i64,
    level: u32,
}

impl Machine<'_> {
    /// The value of a float operand; `None` where it is undefined, infinite or a NaN.
    pub(super) fn finite(&self, operand: Operand, width: u8) -> Option<f64> {
        let value = self.value(operand);
        to_double(width, value.bits).ok().filter(|number| value.is_defined() && number.is_finite())
    }

    /// What a sampling instruction looks up; `None` where its result is undefined.
    pub(super) fn sampled(
        &self,
        op: &ImageOp,
        layout: ImageLayout,
        (projective, reference, implicit): (bool, Option<Operand>, bool),
        line: Line,
    ) -> Result<Option<Lookup>, Box<Stop>> {
        let sampler = self.sampler_for(op, layout, line)?;
        if implicit && layout.levels > 1 && op.operands.grad.is_none() {
            return Err(Box::new(Stop::Unsupported {
                line,
                what: "an implicit level of detail in an image of several levels",
            }));
        }
        let Some((mut numbers, width)) = self.coordinates(op) else { return Ok(None) };
        let Some(mut lookup) = self.lookup(&sampler, reference, width) else { return Ok(None) };
        let directions = layout.dim.coordinates();
        if projective {
            let Some(&q) = numbers.get(directions) else { return Ok(None) };
            if q == 0.0 {
                return Ok(None);
            }
            lookup.exact &= q == 1.0;
            numbers.iter_mut().take(directions).for_each(|number| *number /= q);
            if let Some((reference, _)) = &mut lookup.compare {
                *reference /= q;
            }
        }
        let level_of_detail = match layout.levels {
            // One level is all that there is to choose from.
            1 => LevelOfDetail::exactly(0.0),
            _ => match self.level_of_detail(op, layout, &sampler) {
                Some(level_of_detail) => level_of_detail,
                None => return Ok(None),
            },
        };
        let offset = match op.operands.offset {
            Some(offset) => match self.texel_offset(offset, 0) {
                Some(offset) => offset,
                None => return Ok(None),
            },
            None => [0; 3],
        };
        let Levels { chosen, exact } = level_of_detail.levels(layout, &sampler);
        lookup.exact &= exact;
        for (level, weight) in chosen {
            let place = place(&numbers, directions, (layout, op.ty.arrayed), &sampler, level, &mut lookup);
            match sampler.filter {
                Filter::Nearest => nearest(place, offset, layout, &sampler, weight, &mut lookup),
                Filter::Linear => linear(place, offset, layout, &sampler, weight, &mut lookup),
            }
        }
        Ok(Some(lookup))
    }

    /// The four texels of a gather, in its order; `None` where its result is undefined.
    pub(super) fn gathered(
        &self,
        op: &ImageOp,
        layout: ImageLayout,
        reference: Option<Operand>,
        line: Line,
    ) -> Result<Option<Lookup>, Box<Stop>> {
        let sampler = self.sampler_for(op, layout, line)?;
        let Some((numbers, width)) = self.coordinates(op) else { return Ok(None) };
        let Some(mut lookup) = self.lookup(&sampler, reference, width) else { return Ok(None) };
        let directions = layout.dim.coordinates();
        let place = place(&numbers, directions, (layout, op.ty.arrayed), &sampler, 0, &mut lookup);
        let mut base = [0_i64; 2];
        for (base, at) in base.iter_mut().zip(place.at) {
            *base = (at - 0.5).floor() as i64;
            lookup.exact &= !is_near_boundary(at - 0.5);
        }
        for (number, corner) in [[0, 1], [1, 1], [1, 0], [0, 0]].into_iter().enumerate() {
            let by = match (op.operands.offsets, op.operands.offset) {
                (Some(offsets), _) => self.texel_offset(offsets, 2 * number as u32),
                (None, Some(offset)) => self
                    .texel_offset(offset, 0)
                    .map(|by| [by[0].saturating_add(corner[0]), by[1].saturating_add(corner[1]), 0]),
                (None, None) => Some([corner[0], corner[1], 0]),
            };
            let Some(by) = by else { return Ok(None) };
            let at = [base[0].saturating_add(by[0]), base[1].saturating_add(by[1]), 0];
            tap(at, place, layout, &sampler, 1.0, &mut lookup);
        }
        Ok(Some(lookup))
    }

    pub(super) fn sampler_for(
        &self,
        op: &ImageOp,
        layout: ImageLayout,
        line: Line,
    ) -> Result<Sampler, Box<Stop>> {
        let sampler = self.sampler(op, line)?;
        if sampler.filter == Filter::Linear && layout.format.kind() != TexelKind::Float {
            return Err(Box::new(Stop::Unsupported { line, what: "linear filtering of integers" }));
        }
        Ok(sampler)
    }

    /// The coordinates and the width of their components.
    fn coordinates(&self, op: &ImageOp) -> Option<(SmallVec<[f64; 4]>, u8)> {
        let coordinate = op.coordinate.filter(|coordinate| coordinate.float)?;
        let component = |number| self.finite(coordinate.first.offset(number), coordinate.width);
        let numbers = (0..coordinate.count).map(component).collect::<Option<_>>()?;
        Some((numbers, coordinate.width))
    }

    fn lookup(&self, sampler: &Sampler, reference: Option<Operand>, width: u8) -> Option<Lookup> {
        let compare = match reference {
            Some(reference) => Some((self.finite(reference, width.max(32))?, sampler.compare)),
            None => None,
        };
        let border = match sampler.address {
            AddressMode::ClampToBorder(border) => border,
            AddressMode::ClampToEdge
            | AddressMode::Repeat
            | AddressMode::MirroredRepeat
            | AddressMode::MirrorClampToEdge => Border::TransparentBlack,
        };
        Some(Lookup { taps: SmallVec::new(), exact: true, border, compare })
    }
}

/// Scales coordinates to texels of a level, and chooses the layer: for a cube, the face.
fn place(
    numbers: &[f64],
    directions: usize,
    (layout, arrayed): (ImageLayout, bool),
    sampler: &Sampler,
    level: u32,
    lookup: &mut Lookup,
) -> LevelCoordinates {
    let extent = layout.level_extent(level);
    let last_element = i64::from(layout.layers / layout.dim.faces()) - 1;
    let element = match numbers.get(directions) {
        Some(element) if arrayed => (element.round_ties_even() as i64).clamp(0, last_element),
        Some(_) | None => 0,
    };
    let mut at = [0.0; 3];
    let mut layer = element;
    if layout.dim == Dim::Cube {
        let mut direction = [0.0; 3];
        direction.iter_mut().zip(numbers).for_each(|(place, number)| *place = *number);
        let (face, [s, t], unique) = face_of(direction);
        lookup.exact &= unique;
        layer = element * 6 + face;
        at = [s * f64::from(extent[0]), t * f64::from(extent[1]), 0.0];
    } else {
        let unnormalized = sampler.unnormalized || layout.dim == Dim::Rect;
        for ((place, number), size) in at.iter_mut().zip(numbers.iter().take(directions)).zip(extent) {
            *place = if unnormalized { *number } else { number * f64::from(size) };
        }
    }
    LevelCoordinates { at, layer, level }
}

/// Whether an implementation may see a coordinate on the other side of a whole number.
fn is_near_boundary(at: f64) -> bool {
    let distance = (at - at.round()).abs();
    distance != 0.0 && distance < SUBTEXEL
}

fn nearest(
    place: LevelCoordinates,
    offset: [i64; 3],
    layout: ImageLayout,
    sampler: &Sampler,
    weight: f64,
    lookup: &mut Lookup,
) {
    let mut at = [0; 3];
    let dimensions = layout.dim.dimensions();
    for ((at, number), by) in at.iter_mut().zip(place.at).zip(offset).take(dimensions) {
        *at = (number.floor() as i64).saturating_add(by);
        lookup.exact &= !is_near_boundary(number);
    }
    let extent = layout.level_extent(place.level);
    if layout.dim == Dim::Cube {
        // On the edge of a face there is no neighbour for a single texel.
        at.iter_mut().zip(extent).for_each(|(at, size)| *at = (*at).clamp(0, i64::from(size) - 1));
    }
    tap(at, place, layout, sampler, weight, lookup);
}

fn linear(
    place: LevelCoordinates,
    offset: [i64; 3],
    layout: ImageLayout,
    sampler: &Sampler,
    weight: f64,
    lookup: &mut Lookup,
) {
    let dimensions = layout.dim.dimensions();
    let lowest = place.at.map(|at| (at - 0.5).floor());
    for corner in 0..1_usize << dimensions {
        let mut at = [0; 3];
        let mut share = weight;
        for dimension in 0..dimensions {
            let fraction = place.at[dimension] - 0.5 - lowest[dimension];
            let upper = corner >> dimension & 1;
            at[dimension] =
                (lowest[dimension] as i64).saturating_add(offset[dimension].saturating_add(upper as i64));
            share *= if upper == 1 { fraction } else { 1.0 - fraction };
        }
        if share > 0.0 {
            tap(at, place, layout, sampler, share, lookup);
        }
    }
}

/// Adds the texel at integer coordinates, brought into the image by the address mode.
fn tap(
    at: [i64; 3],
    place: LevelCoordinates,
    layout: ImageLayout,
    sampler: &Sampler,
    weight: f64,
    lookup: &mut Lookup,
) {
    let extent = layout.level_extent(place.level).map(i64::from);
    let position =
        |at: [i64; 3], layer: i64| Position { at, layer, level: i64::from(place.level), sample: 0 };
    if layout.dim == Dim::Cube {
        let taps = cube_texels(at, place.layer, extent[0]);
        // Implementations may make the corner of a cube of its neighbours in other ways.
        lookup.exact &= taps.len() == 1;
        let share = weight / taps.len() as f64;
        for (at, layer) in taps {
            lookup.taps.push(Tap { offset: layout.offset(position(at, layer)), weight: share });
        }
        return;
    }
    let mut inside = [0; 3];
    let mut offset = None;
    let dimensions = layout.dim.dimensions();
    let wrapped = at
        .iter()
        .zip(extent)
        .zip(&mut inside)
        .take(dimensions)
        .all(|((at, size), place)| wrap(*at, size, sampler.address).map(|at| *place = at).is_some());
    if wrapped {
        offset = layout.offset(position(inside, place.layer));
    }
    lookup.taps.push(Tap { offset, weight });
}

/// Brings an index into the image; `None` for the border.
pub(super) fn wrap(index: i64, size: i64, mode: AddressMode) -> Option<i64> {
    let mirror = |index: i64| if index >= 0 { index } else { -(1 + index) };
    match mode {
        AddressMode::ClampToEdge => Some(index.clamp(0, size - 1)),
        AddressMode::Repeat => Some(index.rem_euclid(size)),
        AddressMode::MirroredRepeat => Some(size - 1 - mirror(index.rem_euclid(2 * size) - size)),
        AddressMode::MirrorClampToEdge => Some(mirror(index).clamp(0, size - 1)),
        AddressMode::ClampToBorder(_) => (0..size).contains(&index).then_some(index),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_outside_are_brought_in_by_the_address_mode() {
        let border = AddressMode::ClampToBorder(Border::OpaqueBlack);
        for (mode, expected) in [
            (AddressMode::ClampToEdge, [0, 0, 0, 3, 3, 3]),
            (AddressMode::Repeat, [3, 1, 0, 3, 0, 1]),
            (AddressMode::MirroredRepeat, [0, 2, 0, 3, 3, 2]),
            (AddressMode::MirrorClampToEdge, [0, 2, 0, 3, 3, 3]),
        ] {
            let found = [-1, -3, 0, 3, 4, 5].map(|index| wrap(index, 4, mode));
            assert_eq!(found, expected.map(Some), "{mode:?}");
        }
        assert_eq!([-1, 0, 3, 4].map(|index| wrap(index, 4, border)), [None, Some(0), Some(3), None]);
        // A period of a mirrored image is twice its size.
        assert_eq!(
            [7, 8, -8, -9].map(|index| wrap(index, 4, AddressMode::MirroredRepeat)),
            [0, 0, 0, 0].map(Some)
        );
    }
}

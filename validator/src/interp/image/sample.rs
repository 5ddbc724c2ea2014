//! From coordinates to texels (Vulkan, "Normalized Texel Coordinate Operations" to "Image Sample
//! Operations"): which texels a lookup takes, and with what weights.
//!
//! An implementation computes positions and weights with a few bits of fraction only. Where that can
//! matter the lookup is inexact: near the boundary between two texels, and wherever texels of different
//! values are mixed.

use smallvec::SmallVec;

use crate::interp::float::{single, to_double};
use crate::interp::machine::Machine;
use crate::interp::Stop;
use crate::ir::image::{
    AddressMode, Border, CompareOp, Dim, Encoding, Filter, ImageFormat, ImageLayout, ImageOp, Position,
    Sampler, TexelKind,
};
use crate::ir::{Line, Operand};
use crate::value::Scalar;

use super::codec::Texel;

/// Implementations round texel coordinates to at least 4 bits of fraction (subTexelPrecisionBits).
const SUBTEXEL: f64 = 1.0 / 16.0;

/// A texel of a lookup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    /// Its first byte; `None` for a border texel.
    pub(super) offset: Option<u32>,
    weight: f64,
}

/// What a sampling instruction looks up.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    pub(super) taps: SmallVec<[Tap; 8]>,
    /// Whether every implementation looks up these texels.
    pub(super) exact: bool,
    border: Border,
    /// Value and operation of a depth comparison.
    compare: Option<(f64, CompareOp)>,
}

/// Where a lookup goes in one level: unnormalised coordinates of a layer.
#[derive(Clone, Copy)]
struct Place {
    at: [f64; 3],
    layer: i64,
    level: u32,
}

impl Lookup {
    /// The texel that the tap with this number stands for: a border's colour, or the outcome of a
    /// comparison where there is one.
    pub(super) fn texel(&self, number: usize, texels: &[Texel], format: ImageFormat) -> Option<Texel> {
        let tap = self.taps.get(number)?;
        let texel = match tap.offset {
            Some(_) => *texels.get(number)?,
            None => border_texel(self.border, format),
        };
        let Some((reference, operation)) = self.compare else { return Some(texel) };
        let depth = texel[0];
        if !depth.is_defined() {
            return Some([Scalar::undefined(32); 4]);
        }
        let clamps = matches!(format.encoding(), Encoding::Unorm(_));
        let reference = if clamps { reference.clamp(0.0, 1.0) } else { reference };
        let depth = f64::from(f32::from_bits(depth.bits as u32));
        let holds = match operation {
            CompareOp::Never => false,
            CompareOp::Less => reference < depth,
            CompareOp::Equal => reference == depth,
            CompareOp::LessOrEqual => reference <= depth,
            CompareOp::Greater => reference > depth,
            CompareOp::NotEqual => reference != depth,
            CompareOp::GreaterOrEqual => reference >= depth,
            CompareOp::Always => true,
        };
        let result = single(f32::from(u8::from(holds)));
        Some([result, single(0.0), single(0.0), single(1.0)])
    }

    /// The weighted sum of the texels, and whether every implementation gives it.
    pub(super) fn filter(&self, texels: &[Texel], format: ImageFormat) -> (Texel, bool) {
        let texel = |number| self.texel(number, texels, format);
        let Some(first) = texel(0) else { return ([Scalar::undefined(32); 4], true) };
        let others = (1..self.taps.len()).filter_map(texel);
        if others.clone().all(|other| other == first) {
            return (first, self.exact);
        }
        let mut result = [Scalar::undefined(32); 4];
        for (component, place) in result.iter_mut().enumerate() {
            let mut sum = 0.0;
            let mut defined = true;
            for (number, tap) in self.taps.iter().enumerate() {
                let value = texel(number).map_or(Scalar::undefined(32), |texel| texel[component]);
                defined &= value.is_defined();
                sum += tap.weight * f64::from(f32::from_bits(value.bits as u32));
            }
            if defined {
                *place = single(sum as f32);
            }
        }
        (result, false)
    }
}

/// A border's colour; components that the format lacks are as they would be read.
fn border_texel(border: Border, format: ImageFormat) -> Texel {
    let one = match format.kind() {
        TexelKind::Float => single(1.0),
        TexelKind::Sint | TexelKind::Uint => Scalar::new(1),
    };
    let zero = Scalar::new(0);
    let colour = match border {
        Border::TransparentBlack => [zero; 4],
        Border::OpaqueBlack => [zero, zero, zero, one],
        Border::OpaqueWhite => [one; 4],
    };
    let mut texel = [zero, zero, zero, one];
    for (component, colour) in texel.iter_mut().zip(colour).take(format.components() as usize) {
        *component = colour;
    }
    texel
}

impl Machine<'_> {
    /// The value of a float operand; `None` where it is undefined, infinite or a NaN.
    fn finite(&self, operand: Operand, width: u8) -> Option<f64> {
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
        if implicit && layout.levels > 1 {
            return Err(Box::new(Stop::Unsupported {
                line,
                what: "an implicit level of detail in an image of several levels",
            }));
        }
        let Some((mut numbers, width)) = self.coordinates(op) else { return Ok(None) };
        let Some(mut lookup) = self.lookup(&sampler, reference, width) else { return Ok(None) };
        let directions = if layout.dim == Dim::Cube { 3 } else { layout.dim.dimensions() };
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
        let Some(level_of_detail) = self.level_of_detail(op, layout) else { return Ok(None) };
        let offset = match op.operands.offset {
            Some(offset) => match self.texel_offset(offset, 0) {
                Some(offset) => offset,
                None => return Ok(None),
            },
            None => [0; 3],
        };
        for (level, weight) in levels(level_of_detail, layout, &sampler, &mut lookup) {
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
        let directions = if layout.dim == Dim::Cube { 3 } else { 2 };
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

    fn sampler_for(&self, op: &ImageOp, layout: ImageLayout, line: Line) -> Result<Sampler, Box<Stop>> {
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

    /// λ, before it is clamped to the levels of the image.
    fn level_of_detail(&self, op: &ImageOp, layout: ImageLayout) -> Option<f64> {
        let least = match op.operands.min_lod {
            Some(least) => self.finite(least, 32)?,
            None => 0.0,
        };
        let lod = match (op.operands.lod, op.operands.grad) {
            (Some((lod, width)), _) => self.finite(lod, width)?,
            (None, Some((dx, dy, count))) => {
                // The scale factor is that of the longer derivative, in texels. For a cube, whose derivatives
                // are of the direction, this is an approximation.
                let length = |derivative: Operand| -> Option<f64> {
                    let mut square = 0.0;
                    for (component, size) in (0..count).zip(layout.extent) {
                        let size = if layout.dim == Dim::Cube { layout.extent[0] / 2 } else { size };
                        square += (self.finite(derivative.offset(component), 32)? * f64::from(size)).powi(2);
                    }
                    Some(square.sqrt())
                };
                let scale = length(dx)?.max(length(dy)?);
                // One level is all that there is to choose from.
                if layout.levels == 1 || scale == 0.0 {
                    0.0
                } else {
                    scale.log2()
                }
            }
            (None, None) => 0.0,
        };
        Some(lod.max(least))
    }
}

/// The levels to look at, with their weights.
fn levels(
    level_of_detail: f64,
    layout: ImageLayout,
    sampler: &Sampler,
    lookup: &mut Lookup,
) -> SmallVec<[(u32, f64); 2]> {
    let clamped = level_of_detail.clamp(0.0, f64::from(layout.levels - 1));
    let (below, fraction) = (clamped.floor() as u32, clamped.fract());
    let mut result = SmallVec::new();
    match sampler.mipmap {
        _ if fraction == 0.0 => result.push((below, 1.0)),
        Filter::Nearest => {
            lookup.exact &= (fraction - 0.5).abs() >= SUBTEXEL;
            result.push((if fraction > 0.5 { below + 1 } else { below }, 1.0));
        }
        Filter::Linear => result.extend([(below, 1.0 - fraction), (below + 1, fraction)]),
    }
    result
}

/// Scales coordinates to texels of a level, and chooses the layer: for a cube, the face.
fn place(
    numbers: &[f64],
    directions: usize,
    (layout, arrayed): (ImageLayout, bool),
    sampler: &Sampler,
    level: u32,
    lookup: &mut Lookup,
) -> Place {
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
    Place { at, layer, level }
}

/// The face that a direction points to, the coordinates in it from 0 to 1, and whether every implementation
/// chooses this face.
fn face_of(direction: [f64; 3]) -> (i64, [f64; 2], bool) {
    let [x, y, z] = direction;
    let [ax, ay, az] = direction.map(f64::abs);
    let greatest = ax.max(ay).max(az);
    let unique = [ax, ay, az].into_iter().filter(|size| *size == greatest).count() == 1;
    let (face, s, t) = if az == greatest {
        if z >= 0.0 {
            (4, x, -y)
        } else {
            (5, -x, -y)
        }
    } else if ay == greatest {
        if y >= 0.0 {
            (2, x, z)
        } else {
            (3, x, -z)
        }
    } else if x >= 0.0 {
        (0, -z, -y)
    } else {
        (1, z, -y)
    };
    let scaled = |number: f64| if greatest == 0.0 { 0.5 } else { 0.5 * number / greatest + 0.5 };
    (face, [scaled(s), scaled(t)], unique)
}

/// The direction of a point of a face, the inverse of [`face_of`]; beyond its edges, of a point beside it.
fn direction_of(face: i64, [s, t]: [f64; 2]) -> [f64; 3] {
    let (s, t) = (2.0 * s - 1.0, 2.0 * t - 1.0);
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// Whether an implementation may see a coordinate on the other side of a whole number.
fn is_near_boundary(at: f64) -> bool {
    let distance = (at - at.round()).abs();
    distance != 0.0 && distance < SUBTEXEL
}

fn nearest(
    place: Place,
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
    place: Place,
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
fn tap(at: [i64; 3], place: Place, layout: ImageLayout, sampler: &Sampler, weight: f64, lookup: &mut Lookup) {
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

/// The texels that a position of a cube's face stands for: one, over an edge one of the next face, and at a
/// corner the three that meet there.
fn cube_texels([i, j, _]: [i64; 3], layer: i64, size: i64) -> SmallVec<[([i64; 3], i64); 3]> {
    let inside = |index: i64| (0..size).contains(&index);
    let clamped = |index: i64| index.clamp(0, size - 1);
    let over_edge = |i: i64, j: i64| {
        let centre = |index: i64| (index as f64 + 0.5) / size as f64;
        let (face, [s, t], _) = face_of(direction_of(layer.rem_euclid(6), [centre(i), centre(j)]));
        let texel = |number: f64| clamped((number * size as f64).floor() as i64);
        ([texel(s), texel(t), 0], layer - layer.rem_euclid(6) + face)
    };
    match (inside(i), inside(j)) {
        (true, true) => SmallVec::from_elem(([i, j, 0], layer), 1),
        (false, true) | (true, false) => SmallVec::from_elem(over_edge(i, j), 1),
        (false, false) => {
            let own = ([clamped(i), clamped(j), 0], layer);
            [own, over_edge(i, clamped(j)), over_edge(clamped(i), j)].into_iter().collect()
        }
    }
}

/// Brings an index into the image; `None` for the border.
fn wrap(index: i64, size: i64, mode: AddressMode) -> Option<i64> {
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

    #[test]
    fn directions_choose_faces() {
        for (direction, face, at) in [
            ([2.0, 0.0, 1.0], 0, [0.25, 0.5]),
            ([-2.0, 0.0, 1.0], 1, [0.75, 0.5]),
            ([1.0, 2.0, 0.0], 2, [0.75, 0.5]),
            ([0.0, -2.0, 1.0], 3, [0.5, 0.25]),
            ([1.0, -1.0, 2.0], 4, [0.75, 0.75]),
            ([1.0, 0.0, -2.0], 5, [0.25, 0.5]),
        ] {
            assert_eq!(face_of(direction), (face, at, true));
            let back = direction_of(face, at).map(|number| number * 2.0);
            assert_eq!(back, direction);
        }
        // z wins over y, and y over x; other rules are permitted.
        assert_eq!(face_of([1.0, 1.0, 1.0]), (4, [1.0, 0.0], false));
        assert_eq!(face_of([1.0, 1.0, 0.0]).0, 2);
    }

    #[test]
    fn texels_beyond_an_edge_of_a_cube_are_those_of_the_next_face() {
        // To the right of +z lies +x, above it +y.
        assert_eq!(cube_texels([4, 1, 0], 4, 4)[..], [([0, 1, 0], 0)]);
        assert_eq!(cube_texels([1, -1, 0], 4, 4)[..], [([1, 3, 0], 2)]);
        assert_eq!(cube_texels([-1, 2, 0], 6 + 4, 4)[..], [([3, 2, 0], 6 + 1)]);
        assert_eq!(cube_texels([2, 3, 0], 4, 4)[..], [([2, 3, 0], 4)]);
        // At a corner three faces meet.
        let corner = cube_texels([4, -1, 0], 4, 4);
        assert_eq!(corner[..], [([3, 0, 0], 4), ([0, 0, 0], 0), ([3, 3, 0], 2)]);
    }
}

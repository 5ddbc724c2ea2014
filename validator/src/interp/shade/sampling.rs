//! Instructions that look up texels by a sampler (Vulkan, "Texel Filtering"): bounds of what they may give.
//!
//! A result is a weighted mean of texels and of the border's colour, so it lies between the least and the greatest of
//! those that may be looked up. Under linear filtering it is as near to the one that was computed as the coordinates are
//! to those that were, by weights of a few bits of fraction.

use smallvec::SmallVec;

use super::computations::Elsewhere;
use super::float::number;
use super::interval::Interval;
use super::{Observer, Shade};
use crate::dispatch::Object;
use crate::interp::image::{border_texel, compares, decode, sizes, Range, Texels, Whereabouts, SUBTEXEL};
use crate::ir::image::{
    AddressMode, CompareOp, Dim, Filter, ImageAction, ImageFormat, ImageLayout, ImageOp, Sampler, TexelKind,
};
use crate::ir::{Inst, Operand};
use crate::value::Scalar;

/// Components of any texel.
const COMPONENTS: usize = 4;

/// All that a number may be.
const ALL: Range = [f64::NEG_INFINITY, f64::INFINITY];

/// What is known of the result of a lookup.
struct Bounds {
    /// Of each component, as if all texels weighed what they like; nothing where they are all the same.
    components: [Shade; COMPONENTS],
    /// How far the result may be from the one that was computed, as a share of the difference between the greatest and
    /// the least texel; `None` where that is not known.
    share: Option<f64>,
}

impl Observer<'_, '_> {
    /// `shaded`: an operand is a float that may be another one; `open`: texels were filtered, or are near to others
    /// that may be looked up for them.
    pub(super) fn sample(&mut self, inst: &Inst, op: &ImageOp, shaded: bool, open: bool) {
        let count = match op.action {
            ImageAction::Sample { count, .. } => count,
            _ => COMPONENTS as u32,
        };
        if self.is_shaded(op.image, 2) {
            self.depend(inst);
        }
        let results: Vec<Operand> = (op.dst..op.dst + count).map(Operand::register).collect();
        let values: Vec<Scalar> = results.iter().map(|result| self.value(*result)).collect();
        let elsewhere = self.elsewhere(inst, inst.opcode, op.ty.width, &values);
        let image = self.machine.resolve(op.image, inst.line).ok();
        let Some(object) = image.and_then(|image| self.machine.dispatch.objects.get(image.object as usize))
        else {
            self.depend(inst);
            return;
        };
        let is_written = self.shared.of_space(object.memory).next().is_some();
        let is_open = shaded || open || is_written;
        let bounds = (is_open && !is_written && elsewhere != Elsewhere::Equally)
            .then(|| self.bounds(inst, op, object));
        let bounds = bounds.flatten();
        for (component, register) in (op.dst..op.dst + count).enumerate() {
            let shade: Shade = match (is_open, &bounds) {
                (false, _) => None,
                (true, None) => Some(Interval::ANY),
                (true, Some(Bounds { components, share })) => components[component].and_then(|bound| {
                    let interval = match share {
                        Some(share) if !bound.is_any() => {
                            let computed = number(32, self.value(Operand::register(register)));
                            let near = computed.widen(share * (bound.high - bound.low));
                            Interval::between(near.low.max(bound.low), near.high.min(bound.high))
                        }
                        _ => bound,
                    };
                    self.around(32, register, interval)
                }),
            };
            self.set(register, self.side_by_side_shade(elsewhere, op.ty.width, register, shade));
        }
    }

    /// `None` where nothing is known.
    fn bounds(&self, inst: &Inst, op: &ImageOp, object: &Object) -> Option<Bounds> {
        let layout = object.image?;
        let objects = &self.machine.dispatch.objects;
        let is_shared = objects.iter().filter(|other| other.memory == object.memory).count() > 1;
        if op.ty.width != 32 || object.observed || is_shared {
            return None;
        }
        let sampler = self.machine.sampler(op, inst.line).ok()?;
        let (reference, projective, is_gather) = match op.action {
            ImageAction::Sample { reference, projective, .. } => (reference, projective, false),
            ImageAction::Gather { reference, .. } => (reference, false, true),
            _ => return None,
        };
        let divisor = if projective { Some(self.projection(op, layout)?) } else { None };
        let whereabouts = self.whereabouts(op, layout, &sampler, divisor)?;
        let texels = whereabouts.texels(layout, &sampler);
        let mut found: Vec<[Scalar; COMPONENTS]> = Vec::with_capacity(texels.offsets.len() + 1);
        let size = layout.format.bytes() as usize;
        for offset in &texels.offsets {
            let bytes = object.initial.get(*offset as usize..*offset as usize + size)?;
            found.push(decode(layout.format, bytes, op.ty.width, op.operands.extend));
        }
        if let (Texels { border: true, .. }, AddressMode::ClampToBorder(border)) = (&texels, sampler.address)
        {
            found.push(border_texel(border, layout.format));
        }
        let components = match reference {
            Some(reference) => {
                let width = op.coordinate.map_or(32, |coordinate| coordinate.width.max(32));
                let mut range = self.interval(width, reference);
                if let Some(divisor) = divisor {
                    range = range.divide(divisor);
                }
                compared(&found, range, sampler.compare, layout.format)
            }
            None if is_gather => {
                // One component, whichever it is, of four texels.
                let flat: Vec<[Scalar; COMPONENTS]> =
                    found.iter().flatten().map(|value| [*value; COMPONENTS]).collect();
                hulls(&flat, layout.format)
            }
            None => hulls(&found, layout.format),
        };
        let share = (reference.is_none() && !is_gather)
            .then(|| self.share(op, layout, &sampler, &whereabouts, divisor))
            .flatten();
        Some(Bounds { components, share })
    }

    /// What the coordinates of a projective lookup are divided by.
    fn projection(&self, op: &ImageOp, layout: ImageLayout) -> Option<Interval> {
        let coordinate = op.coordinate?;
        let number = layout.dim.dimensions() as u32;
        let divisor = self.interval(coordinate.width, coordinate.first.offset(number));
        (!divisor.is_any() && !divisor.contains(0.0)).then_some(divisor)
    }

    fn whereabouts(
        &self,
        op: &ImageOp,
        layout: ImageLayout,
        sampler: &Sampler,
        divisor: Option<Interval>,
    ) -> Option<Whereabouts> {
        let coordinate = op.coordinate.filter(|coordinate| coordinate.float)?;
        let range = |component: u32| {
            let interval = self.interval(coordinate.width, coordinate.first.offset(component));
            let interval = divisor.map_or(interval, |divisor| interval.divide(divisor));
            [interval.low, interval.high]
        };
        let coordinates: SmallVec<[Range; 4]> = (0..coordinate.count).map(range).collect();
        // Such a coordinate may be a NaN, which looks up nothing that is known.
        let used = layout.dim.coordinates() + usize::from(op.ty.arrayed);
        if coordinates.iter().take(used).any(|range| *range == ALL) {
            return None;
        }
        let is_gather = matches!(op.action, ImageAction::Gather { .. });
        let level_of_detail = if layout.levels == 1 || is_gather {
            [0.0; 2]
        } else {
            self.level_of_detail(op, layout, sampler)
        };
        Some(Whereabouts {
            coordinates,
            arrayed: op.ty.arrayed,
            level_of_detail,
            offsets: self.offsets(op)?,
            filter: if is_gather { Filter::Linear } else { sampler.filter },
        })
    }

    /// The least and the greatest offset in each dimension; `None` where they hang on a float or are undefined.
    fn offsets(&self, op: &ImageOp) -> Option<[[i64; 2]; 3]> {
        let mut offsets = [[0; 2]; 3];
        if let Some(offset) = op.operands.offset {
            if self.is_shaded(offset.first, offset.count) {
                return None;
            }
            offsets = self.machine.texel_offset(offset, 0)?.map(|by| [by; 2]);
        }
        if let Some(each) = op.operands.offsets {
            let four: Option<SmallVec<[[i64; 3]; 4]>> =
                (0..4).map(|number| self.machine.texel_offset(each, 2 * number)).collect();
            let four = four?;
            offsets = std::array::from_fn(|dimension| {
                let by = || four.iter().map(|offset| offset[dimension]);
                [by().min().unwrap_or(0), by().max().unwrap_or(0)]
            });
        }
        Some(offsets)
    }

    /// λ of all that an implementation may compute.
    fn level_of_detail(&self, op: &ImageOp, layout: ImageLayout, sampler: &Sampler) -> Range {
        let range = |operand: Option<Operand>, otherwise: Range| match operand {
            Some(operand) => {
                let interval = self.interval(32, operand);
                [interval.low, interval.high]
            }
            None => otherwise,
        };
        let [bias, least] =
            [range(op.operands.bias, [0.0; 2]), range(op.operands.min_lod, [f64::NEG_INFINITY; 2])];
        let base = match (op.operands.lod, op.operands.grad) {
            (Some((lod, width)), _) => {
                let interval = self.interval(width, lod);
                [interval.low, interval.high]
            }
            // Nothing is said about how derivatives of a direction come to a face.
            (None, Some(_)) if layout.dim == Dim::Cube => ALL,
            (None, Some((dx, dy, count))) => {
                let width = op.coordinate.map_or(32, |coordinate| coordinate.width);
                let sizes = sizes(layout, sampler);
                let of = |[x, y]: [u32; 2]| {
                    let derivatives = [dx.offset(x * count), dy.offset(y * count)];
                    self.level_of(derivatives, count, width, sizes)
                };
                // Derivatives of the other row and column may be taken as well.
                let others: &[[u32; 2]] = if op.is_implicit() { &[[2, 0], [0, 2], [2, 2]] } else { &[] };
                others.iter().fold(of([0, 0]), |[low, high], other| {
                    let [least, greatest] = of(*other);
                    [low.min(least), high.max(greatest)]
                })
            }
            (None, None) => [0.0; 2],
        };
        let sum: Range = std::array::from_fn(|end| (base[end] + bias[end]).max(least[end]));
        if sum.iter().any(|end| end.is_nan()) {
            return ALL;
        }
        sum
    }

    /// The level of detail of derivatives by x and y (Vulkan, "Scale Factor Operation").
    fn level_of(&self, derivatives: [Operand; 2], count: u32, width: u8, sizes: [f64; 3]) -> Range {
        let [mut largest, mut greatest] = [0.0_f64; 2];
        for derivative in derivatives {
            let mut sum = 0.0;
            for (component, size) in (0..count).zip(sizes) {
                let interval = self.interval(width, derivative.offset(component));
                let least =
                    if interval.contains(0.0) { 0.0 } else { interval.low.abs().min(interval.high.abs()) };
                largest = largest.max(least * size);
                sum += interval.magnitude() * size;
            }
            greatest = greatest.max(sum);
        }
        [largest, greatest * std::f64::consts::SQRT_2].map(f64::log2)
    }

    /// See [`Bounds`].
    fn share(
        &self,
        op: &ImageOp,
        layout: ImageLayout,
        sampler: &Sampler,
        whereabouts: &Whereabouts,
        divisor: Option<Interval>,
    ) -> Option<f64> {
        // A cube's coordinates may be on another face.
        if sampler.filter != Filter::Linear || layout.dim == Dim::Cube {
            return None;
        }
        let coordinate = op.coordinate?;
        let value_of = |number: u32| {
            let operand = coordinate.first.offset(number);
            self::number(coordinate.width, self.value(operand)).low
        };
        let by = divisor.map_or(1.0, |_| value_of(layout.dim.dimensions() as u32));
        let unnormalized = sampler.unnormalized || layout.dim == Dim::Rect;
        let mut share = 0.0;
        for (number, size) in (0..layout.dim.dimensions() as u32).zip(layout.extent) {
            let [low, high] = *whereabouts.coordinates.get(number as usize)?;
            let at = value_of(number) / by;
            let size = if unnormalized { 1.0 } else { f64::from(size) };
            share += SUBTEXEL + (high - at).abs().max((at - low).abs()) * size;
        }
        if whereabouts.arrayed {
            let [low, high] = *whereabouts.coordinates.get(layout.dim.dimensions())?;
            if low.round_ties_even() != high.round_ties_even() {
                return None;
            }
        }
        let [least, greatest] = whereabouts.level_of_detail;
        let levels = whereabouts.levels(layout, sampler.mipmap);
        if levels.start() != levels.end() {
            // The nearest one may be either of two.
            share +=
                if least == greatest && sampler.mipmap == Filter::Linear { SUBTEXEL } else { return None };
        }
        share.is_finite().then_some(share)
    }
}

/// Between the least and the greatest of each component.
fn hulls(texels: &[[Scalar; COMPONENTS]], format: ImageFormat) -> [Shade; COMPONENTS] {
    std::array::from_fn(|component| {
        let mut values = texels.iter().map(|texel| texel[component]);
        let first = values.next()?;
        if first.is_defined() && values.clone().all(|value| value == first) {
            return None;
        }
        if format.kind() != TexelKind::Float {
            return Some(Interval::ANY);
        }
        Some(values.map(|value| number(32, value)).fold(number(32, first), Interval::hull))
    })
}

/// The outcomes of comparisons with all of these depths; each component of a gather is one of them.
fn compared(
    texels: &[[Scalar; COMPONENTS]],
    reference: Interval,
    operation: CompareOp,
    format: ImageFormat,
) -> [Shade; COMPONENTS] {
    let (mut holds, mut fails) = (false, false);
    for [depth, ..] in texels {
        let Interval { low, high } = number(32, *depth);
        let is_clear = depth.is_defined()
            && low == high
            && (!reference.contains(low) || reference.low == reference.high);
        if !is_clear {
            (holds, fails) = (true, true);
        } else if compares(reference.low, operation, low, format) {
            holds = true;
        } else {
            fails = true;
        }
    }
    let result = if holds && fails { Some(Interval::between(0.0, 1.0)) } else { None };
    [result; COMPONENTS]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interp::float::single;

    fn outcomes(depths: &[f32], [low, high]: [f64; 2], operation: CompareOp) -> [Shade; COMPONENTS] {
        let texels: Vec<[Scalar; COMPONENTS]> =
            depths.iter().map(|depth| [single(*depth), single(0.0), single(0.0), single(1.0)]).collect();
        compared(&texels, Interval::between(low, high), operation, "r32f".parse().unwrap())
    }

    #[test]
    fn comparisons_are_open_in_every_component_where_depths_or_the_reference_decide_otherwise() {
        let open = [Some(Interval::between(0.0, 1.0)); COMPONENTS];
        let less = |depths: &[f32], reference| outcomes(depths, reference, CompareOp::Less);
        assert_eq!(less(&[0.5, 0.75], [0.25, 0.375]), [None; COMPONENTS]);
        assert_eq!(less(&[0.5, 0.125], [0.25, 0.375]), open);
        assert_eq!(less(&[0.5], [0.375, 0.625]), open);
        assert_eq!(less(&[0.5], [0.5, 0.5]), [None; COMPONENTS]);
        assert_eq!(outcomes(&[0.5], [0.375, 0.625], CompareOp::Equal), open);
    }
}

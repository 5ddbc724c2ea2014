//! Levels of detail (Vulkan, "Scale Factor Operation", "Level-of-Detail Operation" and "Image Level(s) Selection").
//!
//! The specification lets implementations compute the scale factor of a direction as anything between its largest
//! component and √2 times the sum of its components, and gives none for how a cube's derivatives come to its face. So there
//! is the level of detail that is computed here, and bounds of what may be computed.

use smallvec::SmallVec;

use super::sample::SUBTEXEL;
use crate::interp::float::single;
use crate::interp::machine::{Machine, Step};
use crate::ir::image::{Dim, Filter, ImageLayout, ImageOp, Sampler};
use crate::ir::{Line, Operand};
use crate::value::Scalar;

/// λ, before it is clamped to the levels of the image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LevelOfDetail {
    value: f64,
    /// The least and the greatest one that an implementation may compute.
    bounds: [f64; 2],
}

/// The levels to look at, with their weights.
pub(super) struct Levels {
    pub(super) chosen: SmallVec<[(u32, f64); 2]>,
    /// Whether every implementation looks at these.
    pub(super) exact: bool,
}

impl LevelOfDetail {
    pub(super) const fn exactly(value: f64) -> Self {
        LevelOfDetail { value, bounds: [value; 2] }
    }

    fn is_exact(self) -> bool {
        self.bounds[0] == self.bounds[1]
    }

    fn map(self, change: impl Fn(f64) -> f64) -> Self {
        LevelOfDetail { value: change(self.value), bounds: self.bounds.map(&change) }
    }

    pub(super) fn levels(self, layout: ImageLayout, sampler: &Sampler) -> Levels {
        let clamped = self.map(|value| value.clamp(0.0, f64::from(layout.levels - 1)));
        let (below, fraction) = (clamped.value.floor() as u32, clamped.value.fract());
        let mut chosen = SmallVec::new();
        let exact = match sampler.mipmap {
            Filter::Nearest => {
                let nearest = |value: f64| (value - 0.5).ceil().max(0.0);
                let is_clear = |value: f64| (value.fract() - 0.5).abs() >= SUBTEXEL;
                chosen.push((nearest(clamped.value) as u32, 1.0));
                let [least, greatest] = clamped.bounds;
                is_clear(least) && is_clear(greatest) && nearest(least) == nearest(greatest)
            }
            Filter::Linear if fraction == 0.0 => {
                chosen.push((below, 1.0));
                clamped.is_exact()
            }
            Filter::Linear => {
                chosen.extend([(below, 1.0 - fraction), (below + 1, fraction)]);
                clamped.is_exact()
            }
        };
        Levels { chosen, exact }
    }
}

impl Machine<'_> {
    /// λ; `None` where it is undefined.
    pub(super) fn level_of_detail(
        &self,
        op: &ImageOp,
        layout: ImageLayout,
        sampler: &Sampler,
    ) -> Option<LevelOfDetail> {
        let least = match op.operands.min_lod {
            Some(least) => self.finite(least, 32)?,
            None => f64::NEG_INFINITY,
        };
        let base = match (op.operands.lod, op.operands.grad) {
            (Some((lod, width)), _) => LevelOfDetail::exactly(self.finite(lod, width)?),
            (None, Some((dx, dy, count))) => {
                let width = op.coordinate.map_or(32, |coordinate| coordinate.width);
                let sizes = sizes(layout, sampler);
                let mut found = self.level_of([dx, dy], count, width, sizes)?;
                if op.is_implicit() {
                    // Derivatives of the other row and column may be taken as well.
                    for [x, y] in [[2, 0], [0, 2], [2, 2]] {
                        let other = [dx.offset(x * count), dy.offset(y * count)];
                        let other = self.level_of(other, count, width, sizes)?;
                        found.bounds[0] = found.bounds[0].min(other.bounds[0]);
                        found.bounds[1] = found.bounds[1].max(other.bounds[1]);
                    }
                }
                if layout.dim == Dim::Cube {
                    found.bounds = [f64::NEG_INFINITY, f64::INFINITY];
                }
                found
            }
            (None, None) => LevelOfDetail::exactly(0.0),
        };
        let bias = match op.operands.bias {
            Some(bias) => self.finite(bias, 32)?,
            None => 0.0,
        };
        Some(base.map(|value| (value + bias).max(least)))
    }

    /// The level of detail of derivatives by x and y.
    fn level_of(
        &self,
        derivatives: [Operand; 2],
        count: u32,
        width: u8,
        sizes: [f64; 3],
    ) -> Option<LevelOfDetail> {
        let [mut length, mut largest, mut sum] = [0.0_f64; 3];
        for derivative in derivatives {
            let mut texels = SmallVec::<[f64; 3]>::new();
            for (component, size) in (0..count).zip(sizes) {
                texels.push((self.finite(derivative.offset(component), width)? * size).abs());
            }
            length = length.max(texels.iter().map(|part| part * part).sum::<f64>().sqrt());
            largest = texels.iter().copied().fold(largest, f64::max);
            sum = sum.max(texels.iter().sum());
        }
        let bounds = [largest, sum * std::f64::consts::SQRT_2].map(f64::log2);
        Some(LevelOfDetail { value: length.log2(), bounds })
    }

    /// OpImageQueryLod: the level that is looked at, and the level of detail.
    pub(super) fn query_lod(&mut self, op: &ImageOp, layout: ImageLayout, line: Line) -> Step {
        let sampler = self.sampler_for(op, layout, line)?;
        let Some(found) = self.level_of_detail(op, layout, &sampler) else {
            self.set_all(op.dst, &[Scalar::undefined(32); 2]);
            return Ok(());
        };
        let Levels { chosen, .. } = found.levels(layout, &sampler);
        let level: f64 = chosen.iter().map(|(level, weight)| f64::from(*level) * weight).sum();
        if !found.is_exact() {
            self.note_here();
        }
        self.set_all(op.dst, &[level, found.value].map(|value| single(value as f32)));
        Ok(())
    }
}

/// Texels in each direction of a unit of the coordinates.
pub(in crate::interp) fn sizes(layout: ImageLayout, sampler: &Sampler) -> [f64; 3] {
    // For a cube, whose derivatives are of the direction, this is an approximation.
    match layout.dim {
        Dim::Cube => [f64::from(layout.extent[0] / 2); 3],
        Dim::Rect => [1.0; 3],
        Dim::One | Dim::Two | Dim::Three | Dim::Buffer if sampler.unnormalized => [1.0; 3],
        Dim::One | Dim::Two | Dim::Three | Dim::Buffer => layout.extent.map(f64::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(levels: u32) -> ImageLayout {
        let format = "r32f".parse().unwrap();
        ImageLayout { format, dim: Dim::Two, extent: [8, 8, 1], layers: 1, levels, samples: 1 }
    }

    fn levels(value: f64, bounds: [f64; 2], mipmap: Filter) -> (Vec<(u32, f64)>, bool) {
        let sampler = Sampler { mipmap, ..Sampler::default() };
        let Levels { chosen, exact } = LevelOfDetail { value, bounds }.levels(layout(3), &sampler);
        (chosen.to_vec(), exact)
    }

    #[test]
    fn the_nearest_level_is_exact_if_all_that_may_be_computed_are_nearest_to_it() {
        let nearest = |value: f64, bounds| levels(value, bounds, Filter::Nearest);
        assert_eq!(nearest(0.9, [0.75, 1.25]), (vec![(1, 1.0)], true));
        assert_eq!(nearest(1.2, [1.0, 1.6]), (vec![(1, 1.0)], false));
        assert_eq!(nearest(1.45, [1.45; 2]), (vec![(1, 1.0)], false));
        // Beyond the first and the last there is nothing to choose.
        assert_eq!(nearest(-3.0, [f64::NEG_INFINITY, 0.0]), (vec![(0, 1.0)], true));
        assert_eq!(nearest(5.0, [4.0, 6.0]), (vec![(2, 1.0)], true));
    }

    #[test]
    fn levels_are_mixed_by_the_fraction() {
        let linear = |value: f64, bounds| levels(value, bounds, Filter::Linear);
        assert_eq!(linear(0.25, [0.25; 2]), (vec![(0, 0.75), (1, 0.25)], true));
        assert_eq!(linear(0.25, [0.0, 0.5]), (vec![(0, 0.75), (1, 0.25)], false));
        assert_eq!(linear(1.0, [1.0, 1.5]), (vec![(1, 1.0)], false));
        assert_eq!(linear(-2.0, [-2.5, -1.5]), (vec![(0, 1.0)], true));
    }
}

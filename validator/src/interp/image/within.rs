//! The texels that a lookup may take where its coordinates or its level of detail may be others (Vulkan, "Normalized
//! Texel Coordinate Operations" to "Image Sample Operations").

use smallvec::SmallVec;

use super::cube::{candidate_faces, cube_texels};
use super::sample::{wrap, SUBTEXEL};
use crate::ir::image::{Dim, Filter, ImageLayout, Position, Sampler};

/// The least and the greatest of what a number may be.
pub(in crate::interp) type Range = [f64; 2];

/// Beyond these no index is told from another one.
const FAR: f64 = 1e9;

/// What is known of a lookup.
#[derive(Clone, Debug)]
pub(in crate::interp) struct Whereabouts {
    /// Of all coordinates; of an arrayed image the layer is the last one.
    pub coordinates: SmallVec<[Range; 4]>,
    pub arrayed: bool,
    /// λ, before it is clamped.
    pub level_of_detail: Range,
    /// What is added to the index of a texel, in each dimension.
    pub offsets: [[i64; 2]; 3],
    /// The filter within a level.
    pub filter: Filter,
}

/// The texels that may be looked up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::interp) struct Texels {
    /// The first byte of each, in order.
    pub offsets: Vec<u32>,
    /// Whether the border's colour is among them.
    pub border: bool,
}

impl Whereabouts {
    /// All texels that an implementation may look up.
    pub(in crate::interp) fn texels(&self, layout: ImageLayout, sampler: &Sampler) -> Texels {
        let mut texels = Texels::default();
        for level in self.levels(layout, sampler.mipmap) {
            if layout.dim == Dim::Cube {
                self.of_cube(layout, level, &mut texels);
            } else {
                self.of_level(layout, sampler, level, &mut texels);
            }
        }
        texels.offsets.sort_unstable();
        texels.offsets.dedup();
        texels
    }

    /// The levels that may be looked at.
    pub(in crate::interp) fn levels(
        &self,
        layout: ImageLayout,
        mipmap: Filter,
    ) -> std::ops::RangeInclusive<u32> {
        let last = f64::from(layout.levels - 1);
        let [least, greatest] = self.level_of_detail;
        let range = match mipmap {
            Filter::Nearest => [(least - 0.5 - SUBTEXEL).ceil(), (greatest - 0.5 + SUBTEXEL).ceil()],
            Filter::Linear => [(least - SUBTEXEL).floor(), (greatest + SUBTEXEL).ceil()],
        };
        let [first, end] = range.map(|level| level.clamp(0.0, last) as u32);
        first..=end
    }

    fn of_level(&self, layout: ImageLayout, sampler: &Sampler, level: u32, texels: &mut Texels) {
        let dimensions = layout.dim.dimensions();
        let unnormalized = sampler.unnormalized || layout.dim == Dim::Rect;
        let extent = layout.level_extent(level).map(i64::from);
        let mut indices: [SmallVec<[Option<i64>; 8]>; 3] = Default::default();
        for (dimension, indices) in indices.iter_mut().enumerate() {
            if dimension >= dimensions {
                indices.push(Some(0));
                continue;
            }
            let size = extent[dimension];
            let scale = if unnormalized { 1.0 } else { size as f64 };
            let range =
                self.coordinates.get(dimension).map_or([-FAR, FAR], |range| range.map(|it| it * scale));
            let [least, greatest] = self.indices(range, self.offsets[dimension], size);
            for index in least..=greatest {
                let wrapped = wrap(index, size, sampler.address);
                if !indices.contains(&wrapped) {
                    indices.push(wrapped);
                }
            }
        }
        let layers = self.elements(dimensions, layout.layers);
        for (z, y, x) in indices[2].iter().flat_map(|z| {
            let [xs, ys] = [&indices[0], &indices[1]];
            ys.iter().flat_map(move |y| xs.iter().map(move |x| (*z, *y, *x)))
        }) {
            let (Some(x), Some(y), Some(z)) = (x, y, z) else {
                texels.border = true;
                continue;
            };
            let at = |layer| Position { at: [x, y, z], layer, level: i64::from(level), sample: 0 };
            texels.offsets.extend(layers.clone().filter_map(|layer| layout.offset(at(layer))));
        }
    }

    fn of_cube(&self, layout: ImageLayout, level: u32, texels: &mut Texels) {
        let size = i64::from(layout.level_extent(level)[0]);
        let direction = [0, 1, 2].map(|number| self.coordinates.get(number).copied().unwrap_or([-FAR, FAR]));
        for (face, ranges) in candidate_faces(direction) {
            let [columns, rows] = ranges.map(|range| {
                let [least, greatest] = self.indices(range.map(|it| it * size as f64), [0; 2], size);
                least..=greatest
            });
            for (i, j) in rows.flat_map(|j| columns.clone().map(move |i| (i, j))) {
                for element in self.elements(3, layout.layers / Dim::Cube.faces()) {
                    for (at, layer) in cube_texels([i, j, 0], 6 * element + face, size) {
                        let position = Position { at, layer, level: i64::from(level), sample: 0 };
                        texels.offsets.extend(layout.offset(position));
                    }
                }
            }
        }
    }

    /// The first and the last index in a dimension, for coordinates that are scaled to texels. All that there are stand
    /// for more than those.
    fn indices(&self, range: Range, offset: [i64; 2], size: i64) -> [i64; 2] {
        // One texel beyond each end stands for the border, and twice as many for any mirror image.
        let all = [-1 - size, 2 * size];
        let [least, greatest] = range;
        if !(least > -FAR && greatest < FAR) {
            return all;
        }
        let [least, greatest] = match self.filter {
            Filter::Nearest => floors(range),
            Filter::Linear => {
                let [least, greatest] = floors(range.map(|at| at - 0.5));
                [least, greatest.saturating_add(1)]
            }
        };
        let [least, greatest] = [least.saturating_add(offset[0]), greatest.saturating_add(offset[1])];
        if greatest.saturating_sub(least) >= 2 * size {
            all
        } else {
            [least, greatest]
        }
    }

    /// The elements of an arrayed image that the coordinate with this number may choose.
    fn elements(&self, number: usize, count: u32) -> std::ops::RangeInclusive<i64> {
        let last = i64::from(count) - 1;
        let Some([least, greatest]) = self.coordinates.get(number).filter(|_| self.arrayed) else {
            return 0..=0;
        };
        let chosen = |number: f64| (number.round_ties_even() as i64).clamp(0, last);
        chosen(*least)..=chosen(*greatest)
    }
}

/// The whole numbers below positions within a range, for an implementation that computes these with few bits of fraction.
/// Only a position that is known to be on the boundary of two texels is where it is.
fn floors([least, greatest]: Range) -> [i64; 2] {
    if least == greatest && least.fract() == 0.0 {
        return [least as i64; 2];
    }
    [least - SUBTEXEL, greatest + SUBTEXEL].map(|at| at.floor() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::image::{AddressMode, Border};

    fn layout(dim: Dim, extent: [u32; 3], layers: u32, levels: u32) -> ImageLayout {
        ImageLayout { format: "r32f".parse().unwrap(), dim, extent, layers, levels, samples: 1 }
    }

    fn at(coordinates: &[Range]) -> Whereabouts {
        Whereabouts {
            coordinates: coordinates.iter().copied().collect(),
            arrayed: false,
            level_of_detail: [0.0; 2],
            offsets: [[0; 2]; 3],
            filter: Filter::Nearest,
        }
    }

    /// Numbers of the texels, which have four bytes.
    fn found(texels: &Texels) -> Vec<u32> {
        texels.offsets.iter().map(|offset| offset / 4).collect()
    }

    fn of(place: &Whereabouts, layout: ImageLayout, sampler: &Sampler) -> Vec<u32> {
        found(&place.texels(layout, sampler))
    }

    #[test]
    fn a_range_of_coordinates_has_the_texels_between() {
        let line = layout(Dim::One, [8, 1, 1], 1, 1);
        let sampler = Sampler::default();
        // Texel 2 is from 0.25 to 0.375.
        assert_eq!(of(&at(&[[0.30, 0.31]]), line, &sampler), [2]);
        assert_eq!(of(&at(&[[0.30, 0.40]]), line, &sampler), [2, 3]);
        // Within a sixteenth of a texel of the boundary, which alone is where it is.
        assert_eq!(of(&at(&[[0.256, 0.26]]), line, &sampler), [1, 2]);
        assert_eq!(of(&at(&[[0.25, 0.25]]), line, &sampler), [2]);
        assert_eq!(of(&at(&[[0.25, 0.26]]), line, &sampler), [1, 2]);
        assert_eq!(of(&at(&[[0.36, 0.37]]), line, &sampler), [2, 3]);
        let linear = Whereabouts { filter: Filter::Linear, ..at(&[[0.30, 0.31]]) };
        assert_eq!(of(&linear, line, &sampler), [1, 2, 3]);
        let moved = Whereabouts { offsets: [[1, 2], [0; 2], [0; 2]], ..at(&[[0.30, 0.31]]) };
        assert_eq!(of(&moved, line, &sampler), [3, 4]);
        // Whatever it is.
        assert_eq!(of(&at(&[[f64::NEG_INFINITY, f64::INFINITY]]), line, &sampler), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(of(&at(&[[-3.0, 5.0]]), line, &sampler), [0, 1, 2, 3, 4, 5, 6, 7]);
        let unnormalized = Sampler { unnormalized: true, ..sampler };
        assert_eq!(of(&at(&[[4.5, 5.5]]), line, &unnormalized), [4, 5]);
    }

    #[test]
    fn what_lies_outside_is_brought_in_or_the_border() {
        let line = layout(Dim::One, [4, 1, 1], 1, 1);
        let outside = at(&[[1.05, 1.30]]);
        let with = |address| outside.texels(line, &Sampler { address, ..Sampler::default() });
        assert_eq!(found(&with(AddressMode::ClampToEdge)), [3]);
        assert_eq!(found(&with(AddressMode::Repeat)), [0, 1]);
        let border = with(AddressMode::ClampToBorder(Border::OpaqueBlack));
        assert_eq!(border, Texels { offsets: Vec::new(), border: true });
        let all = at(&[[-9.0, 9.0]]);
        let address = AddressMode::ClampToBorder(Border::OpaqueBlack);
        let all = all.texels(line, &Sampler { address, ..Sampler::default() });
        assert_eq!((found(&all), all.border), (vec![0, 1, 2, 3], true));
    }

    #[test]
    fn all_dimensions_layers_and_levels_count() {
        let arrayed = layout(Dim::Two, [2, 2, 1], 3, 2);
        let sampler = Sampler::default();
        let place = |layer: Range, level_of_detail: Range| Whereabouts {
            arrayed: true,
            level_of_detail,
            ..at(&[[0.1, 0.2], [0.6, 0.7], layer])
        };
        // Level 0 has 12 texels, four in a layer, and level 1 one in each.
        assert_eq!(of(&place([1.0, 1.0], [0.0, 0.0]), arrayed, &sampler), [6]);
        assert_eq!(of(&place([0.9, 1.6], [0.0, 0.0]), arrayed, &sampler), [6, 10]);
        assert_eq!(of(&place([1.0, 1.0], [0.2, 0.7]), arrayed, &sampler), [6, 13]);
        assert_eq!(of(&place([1.0, 1.0], [0.7, 5.0]), arrayed, &sampler), [13]);
        let linear = Sampler { mipmap: Filter::Linear, ..sampler };
        assert_eq!(of(&place([1.0, 1.0], [0.2, 0.3]), arrayed, &linear), [6, 13]);
        assert_eq!(of(&place([1.0, 1.0], [-2.0, -1.0]), arrayed, &linear), [6]);
    }

    #[test]
    fn a_direction_has_texels_of_the_faces_that_it_may_point_to() {
        let cube = layout(Dim::Cube, [2, 2, 1], 6, 1);
        let sampler = Sampler::default();
        // +x: s is −z, t is −y.
        let texel = at(&[[1.9, 2.0], [-1.1, -1.0], [-1.1, -1.0]]);
        assert_eq!(of(&texel, cube, &sampler), [3]);
        let two = at(&[[1.9, 2.0], [-1.1, -1.0], [-0.2, 0.2]]);
        assert_eq!(of(&two, cube, &sampler), [2, 3]);
        // Either +x or −z: the texels there that are near to the edge.
        let edge = of(&at(&[[1.9, 2.1], [-1.1, -1.0], [-2.1, -1.9]]), cube, &sampler);
        assert_eq!(edge, [3, 22]);
        let all: Vec<u32> = (0..24).collect();
        assert_eq!(of(&at(&[[-1.0, 1.0]; 3]), cube, &sampler), all);
        let whole = [f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(of(&at(&[whole; 3]), cube, &sampler), all);
        let near = at(&[[1.95, 2.0], [-1.3, -1.2], [-1.3, -1.2]]);
        let linear = Whereabouts { filter: Filter::Linear, ..near };
        let around = of(&linear, cube, &sampler);
        // At a corner three faces meet.
        assert_eq!(around, [3, 15, 22]);
    }
}

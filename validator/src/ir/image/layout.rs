//! Where the texels of an image lie: level after level, in each layer after layer, slice after slice,
//! row after row, texel after texel, sample after sample, without gaps.

use std::fmt;

use super::{Dim, ImageFormat};

/// A bound image: format and sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageLayout {
    pub format: ImageFormat,
    pub dim: Dim,
    /// Width, height and depth of level 0, in texels; 1 where there is no such dimension.
    pub extent: [u32; 3],
    /// Layers of an array, faces of cubes counted singly; 1 without.
    pub layers: u32,
    /// Mipmap levels, each half of the one before.
    pub levels: u32,
    /// Samples of a texel.
    pub samples: u32,
}

/// A texel of an image, or where one would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    pub at: [i64; 3],
    pub layer: i64,
    pub level: i64,
    pub sample: i64,
}

impl ImageLayout {
    /// Width, height and depth of a level.
    pub fn level_extent(&self, level: u32) -> [u32; 3] {
        self.extent.map(|size| size.checked_shr(level).unwrap_or(0).max(1))
    }

    fn level_bytes(&self, level: u32) -> u64 {
        let [width, height, depth] = self.level_extent(level);
        let factors = [width, height, depth, self.layers, self.samples, self.format.bytes()];
        factors.into_iter().fold(1, |bytes: u64, factor| bytes.saturating_mul(u64::from(factor)))
    }

    /// Bytes of the whole image.
    pub fn bytes(&self) -> u64 {
        (0..self.levels).fold(0, |sum, level| sum.saturating_add(self.level_bytes(level)))
    }

    /// The first byte of a texel; `None` where the image does not have it.
    pub fn offset(&self, position: Position) -> Option<u32> {
        let within = |value: i64, count: u32| u32::try_from(value).ok().filter(|value| *value < count);
        let level = within(position.level, self.levels)?;
        let [width, height, depth] = self.level_extent(level);
        let [x, y, z] = position.at;
        let (x, y, z) = (within(x, width)?, within(y, height)?, within(z, depth)?);
        let layer = within(position.layer, self.layers)?;
        let sample = within(position.sample, self.samples)?;
        let before = (0..level).fold(0, |sum: u64, level| sum.saturating_add(self.level_bytes(level)));
        let mut texel = u64::from(layer);
        for (size, index) in [(depth, z), (height, y), (width, x), (self.samples, sample)] {
            texel = texel.saturating_mul(u64::from(size)).saturating_add(u64::from(index));
        }
        let offset = before.saturating_add(texel.saturating_mul(u64::from(self.format.bytes())));
        u32::try_from(offset).ok()
    }

    /// The texel that a byte belongs to: `texel (1,2)`, with layer, level and sample where there are
    /// several.
    pub fn texel_name(&self, offset: u32) -> String {
        let mut rest = u64::from(offset);
        let mut level = 0;
        while level + 1 < self.levels && rest >= self.level_bytes(level) {
            rest -= self.level_bytes(level);
            level += 1;
        }
        let mut texel = rest / u64::from(self.format.bytes().max(1));
        let mut digit = |size: u32| {
            let index = texel % u64::from(size.max(1));
            texel /= u64::from(size.max(1));
            index
        };
        let [width, height, depth] = self.level_extent(level);
        let sample = digit(self.samples);
        let at = [digit(width), digit(height), digit(depth)];
        let layer = digit(self.layers);
        let at: Vec<String> = at.iter().take(self.dim.dimensions()).map(u64::to_string).collect();
        let mut name = format!("texel ({})", at.join(","));
        for (what, index, count) in [
            ("layer", layer, self.layers),
            ("level", u64::from(level), self.levels),
            ("sample", sample, self.samples),
        ] {
            if count > 1 {
                name.push_str(&format!(" {what} {index}"));
            }
        }
        name
    }
}

/// As `--image` takes it: `rgba8:4x4,layers=2`.
impl fmt::Display for ImageLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extent: Vec<String> =
            self.extent.iter().take(self.dim.dimensions()).map(u32::to_string).collect();
        write!(f, "{}:{}", self.format, extent.join("x"))?;
        let plain = [self.dim.faces(), 1, 1];
        let counts = [("layers", self.layers), ("levels", self.levels), ("samples", self.samples)];
        for ((what, count), usual) in counts.into_iter().zip(plain) {
            if count != usual {
                write!(f, ",{what}={count}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(dim: Dim, extent: [u32; 3], layers: u32, levels: u32, samples: u32) -> ImageLayout {
        ImageLayout { format: ImageFormat::RGBA32F, dim, extent, layers, levels, samples }
    }

    #[test]
    fn every_texel_has_bytes_of_its_own_and_a_name() {
        for image in [
            layout(Dim::One, [5, 1, 1], 3, 1, 1),
            layout(Dim::Two, [5, 3, 1], 2, 3, 1),
            layout(Dim::Two, [2, 3, 1], 2, 1, 4),
            layout(Dim::Three, [3, 2, 4], 1, 2, 1),
            layout(Dim::Cube, [2, 2, 1], 12, 1, 1),
        ] {
            let mut next = 0;
            for level in 0..image.levels {
                let [width, height, depth] = image.level_extent(level).map(i64::from);
                for layer in 0..i64::from(image.layers) {
                    for texel in 0..width * height * depth {
                        let at = [texel % width, texel / width % height, texel / width / height];
                        for sample in 0..i64::from(image.samples) {
                            let position = Position { at, layer, level: i64::from(level), sample };
                            assert_eq!(image.offset(position), Some(next), "{position:?}");
                            next += 16;
                        }
                    }
                }
            }
            assert_eq!(u64::from(next), image.bytes());
        }
    }

    #[test]
    fn what_lies_outside_has_no_offset() {
        let image = layout(Dim::Two, [4, 3, 1], 2, 2, 1);
        let inside = Position { at: [3, 2, 0], layer: 1, level: 0, sample: 0 };
        assert!(image.offset(inside).is_some());
        for outside in [
            Position { at: [4, 2, 0], ..inside },
            Position { at: [3, 3, 0], ..inside },
            Position { at: [3, 2, 1], ..inside },
            Position { at: [-1, 2, 0], ..inside },
            Position { layer: 2, ..inside },
            Position { level: 2, ..inside },
            // Level 1 is 2 by 1.
            Position { level: 1, ..inside },
            Position { sample: 1, ..inside },
        ] {
            assert_eq!(image.offset(outside), None, "{outside:?}");
        }
    }

    #[test]
    fn names_and_sizes_are_told_briefly() {
        let image = layout(Dim::Two, [4, 3, 1], 2, 2, 1);
        let position = Position { at: [1, 2, 0], layer: 1, level: 0, sample: 0 };
        let offset = image.offset(position).unwrap_or(0);
        assert_eq!(image.texel_name(offset + 5), "texel (1,2) layer 1 level 0");
        let small = Position { at: [1, 0, 0], layer: 1, level: 1, sample: 0 };
        assert_eq!(image.texel_name(image.offset(small).unwrap_or(0)), "texel (1,0) layer 1 level 1");
        assert_eq!(image.to_string(), "rgba32f:4x3,layers=2,levels=2");
        let plain = layout(Dim::Cube, [4, 4, 1], 6, 1, 1);
        assert_eq!(plain.to_string(), "rgba32f:4x4");
    }
}

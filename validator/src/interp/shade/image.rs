//! Instructions on images: intervals of texels that are written and read.
//!
//! Of floats, memory has the interval as it has it elsewhere; of normalised components that of the integers that they
//! are encoded as; of components that share bytes with others nothing is known.

use super::interval::{Interval, Permitted};
use super::{Observer, Shade};
use crate::ir::image::{Encoding, ImageAction, ImageFormat, ImageOp};
use crate::ir::{Inst, Operand};

/// A texel of an image: the space of its memory, and its first byte.
#[derive(Clone, Copy)]
struct TexelAddress {
    space: u32,
    start: u32,
    format: ImageFormat,
    /// The memory is also reached through what is no such image.
    shared: bool,
}

impl Observer<'_, '_> {
    /// `open`: what was written was rounded, or texels were filtered.
    pub(super) fn image(&mut self, inst: &Inst, op: &ImageOp, open: bool) {
        let texel = match op.action {
            ImageAction::Write { texel, .. } => Some(texel),
            ImageAction::Read { .. }
            | ImageAction::TexelPointer { .. }
            | ImageAction::Sample { .. }
            | ImageAction::Gather { .. }
            | ImageAction::QuerySize { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples
            | ImageAction::QueryLod => None,
        };
        let mut depends = false;
        op.visit_operands(&mut |operand| {
            depends |= Some(operand) != texel && self.is_shaded(operand, LARGEST_COORDINATE);
        });
        match op.action {
            ImageAction::Write { texel, count } if !depends => {
                self.write_texel(inst, op, (texel, count), open)
            }
            ImageAction::Read { count } if !depends => self.read_texel(inst, op, count),
            ImageAction::Sample { .. } | ImageAction::Gather { .. } => {
                self.sample(inst, op, depends, open);
                return;
            }
            // Levels of detail are not followed, either.
            ImageAction::QueryLod => depends |= open,
            ImageAction::Write { .. }
            | ImageAction::Read { .. }
            | ImageAction::TexelPointer { .. }
            | ImageAction::QuerySize { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples => {}
        }
        if depends {
            self.depend(inst);
        }
    }

    /// The texel that the instruction has accessed; `None` where there is none.
    fn texel(&self, inst: &Inst, op: &ImageOp) -> Option<TexelAddress> {
        let image = self.machine.resolve(op.image, inst.line).ok()?;
        let (layout, offset) = self.machine.texel_at(op, image, inst.line)?;
        let objects = &self.machine.dispatch.objects;
        let space = objects.get(image.object as usize)?.memory;
        let format = Some(layout.format);
        let shared = objects
            .iter()
            .any(|other| other.memory == space && other.image.map(|layout| layout.format) != format);
        Some(TexelAddress { space, start: offset, format: layout.format, shared })
    }

    fn write_texel(&mut self, inst: &Inst, op: &ImageOp, (texel, count): (Operand, u32), open: bool) {
        if self.machine.state.helper {
            return;
        }
        let Some(place) = self.texel(inst, op) else { return };
        let TexelAddress { space, start, format, shared } = place;
        let shaded = open || (0..count).any(|component| self.shade(texel.offset(component)).is_some());
        let encoding = format.encoding();
        let Some(bytes) = component_bytes(encoding) else {
            self.shared.store(space, start, format.bytes(), shaded.then_some(Interval::ANY));
            return;
        };
        for component in 0..format.components() {
            let at = start + component * bytes;
            let shade = if component < count && shaded {
                let operand = texel.offset(component);
                encoded(encoding, self.shade(operand), self.interval(32, operand))
            } else {
                None
            };
            let known = !shared || matches!(encoding, Encoding::Float(_));
            self.shared.store(space, at, bytes, shade.map(|it| if known { it } else { Interval::ANY }));
        }
    }

    fn read_texel(&mut self, inst: &Inst, op: &ImageOp, count: u32) {
        let Some(TexelAddress { space, start, format, shared }) = self.texel(inst, op) else {
            self.set_all(op.dst, (0..count).map(|_| None));
            return;
        };
        let encoding = format.encoding();
        for component in 0..count {
            let shade = match component_bytes(encoding) {
                Some(_) if component >= format.components() => None,
                Some(bytes) => {
                    let shade = self.shared.load(space, start + component * bytes, bytes);
                    shade.map(|it| if shared { Interval::ANY } else { decoded(encoding, it) })
                }
                None => self.shared.load(space, start, format.bytes()).map(|_| Interval::ANY),
            };
            let shade = match shade {
                Some(interval) if op.ty.width == 32 => self.around(32, op.dst + component, interval),
                other => other,
            };
            self.set(op.dst + component, shade);
        }
    }
}

/// Components of texel coordinates and offsets, at most.
const LARGEST_COORDINATE: u32 = 4;

/// Bytes of a component; `None` where it shares some with another one.
fn component_bytes(encoding: Encoding) -> Option<u32> {
    match encoding {
        Encoding::Float(bits)
        | Encoding::Unorm(bits)
        | Encoding::Snorm(bits)
        | Encoding::Sint(bits)
        | Encoding::Uint(bits) => Some(bits / 8),
        Encoding::PackedFloat | Encoding::PackedUnorm | Encoding::PackedUint => None,
    }
}

/// The integer that stands for 1, and the least one, of a normalised encoding.
fn normalised(encoding: Encoding) -> Option<(f64, f64)> {
    match encoding {
        Encoding::Unorm(bits) => Some((f64::from((1_u32 << bits) - 1), 0.0)),
        Encoding::Snorm(bits) => {
            let one = f64::from((1_u32 << (bits - 1)) - 1);
            Some((one, -one))
        }
        Encoding::Float(_)
        | Encoding::Sint(_)
        | Encoding::Uint(_)
        | Encoding::PackedFloat
        | Encoding::PackedUnorm
        | Encoding::PackedUint => None,
    }
}

/// What is in memory where a component may be any of `interval`.
fn encoded(encoding: Encoding, shade: Shade, interval: Interval) -> Shade {
    if let Some((one, least)) = normalised(encoding) {
        if interval.is_any() {
            return Some(interval);
        }
        // A value between two integers becomes either.
        let codes = Interval::between((interval.low * one).floor(), (interval.high * one).ceil());
        let codes = Interval::between(codes.low.clamp(least, one), codes.high.clamp(least, one));
        return (codes.low != codes.high).then_some(codes);
    }
    match encoding {
        Encoding::Float(32) => shade,
        Encoding::Float(_) => {
            let rounded = Permitted::new(16, false).rounded(interval);
            (rounded.low != rounded.high).then_some(rounded)
        }
        Encoding::Unorm(_)
        | Encoding::Snorm(_)
        | Encoding::Sint(_)
        | Encoding::Uint(_)
        | Encoding::PackedFloat
        | Encoding::PackedUnorm
        | Encoding::PackedUint => shade.map(|_| Interval::ANY),
    }
}

/// What a component is read as.
fn decoded(encoding: Encoding, memory: Interval) -> Interval {
    match (normalised(encoding), encoding) {
        (Some((one, _)), _) => Permitted::new(32, false).rounded(memory.monotone(|code| code / one)),
        (None, Encoding::Float(_)) => memory,
        _ => Interval::ANY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalised_components_are_integers_in_memory() {
        let third = Interval::between(0.333, 0.334);
        assert_eq!(encoded(Encoding::Unorm(8), Some(third), third), Some(Interval::between(84.0, 86.0)));
        let half = Interval::between(0.4981, 0.4982);
        assert_eq!(encoded(Encoding::Unorm(8), Some(half), half), Some(Interval::between(127.0, 128.0)));
        // Both ends are beyond the greatest.
        let large = Interval::between(1.5, 2.0);
        assert_eq!(encoded(Encoding::Unorm(8), Some(large), large), None);
        assert_eq!(encoded(Encoding::Snorm(8), Some(large.negate()), large.negate()), None);
        assert_eq!(
            encoded(Encoding::Snorm(8), None, Interval::point(-0.5)),
            Some(Interval::between(-64.0, -63.0))
        );
        let read = decoded(Encoding::Unorm(8), Interval::between(84.0, 86.0));
        assert!(read.contains(84.0 / 255.0) && read.contains(86.0 / 255.0) && !read.contains(83.0 / 255.0));
        assert_eq!(encoded(Encoding::Unorm(8), Some(Interval::ANY), Interval::ANY), Some(Interval::ANY));
    }

    #[test]
    fn halves_are_rounded_and_other_encodings_unknown() {
        let third = Interval::between(0.3333, 0.3334);
        let half = encoded(Encoding::Float(16), Some(third), third).unwrap();
        assert!(half.contains(0.3333) && !half.contains(0.334));
        assert_eq!(
            encoded(Encoding::Float(16), None, Interval::point(0.5)).map(|it| it.contains(0.5)),
            Some(true)
        );
        assert_eq!(encoded(Encoding::Float(32), Some(third), third), Some(third));
        assert_eq!(encoded(Encoding::Uint(32), Some(third), third), Some(Interval::ANY));
        assert_eq!(encoded(Encoding::Uint(32), None, third), None);
    }
}

//! What a lookup makes of its texels: comparisons and weighted sums.

use smallvec::SmallVec;

use super::codec::Texel;
use crate::interp::float::single;
use crate::ir::image::{Border, CompareOp, Encoding, ImageFormat, TexelKind};
use crate::value::Scalar;

/// A texel of a lookup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tap {
    /// Its first byte; `None` for a border texel.
    pub(super) offset: Option<u32>,
    pub(super) weight: f64,
}

/// What a sampling instruction looks up.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    pub(super) taps: SmallVec<[Tap; 8]>,
    /// Whether every implementation looks up these texels.
    pub(super) exact: bool,
    pub(super) border: Border,
    /// Value and operation of a depth comparison.
    pub(super) compare: Option<(f64, CompareOp)>,
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
        let depth = f64::from(f32::from_bits(depth.bits as u32));
        let holds = compares(reference, operation, depth, format);
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

/// The outcome of a depth comparison (Vulkan, "Depth Compare Operation").
pub(in crate::interp) fn compares(
    reference: f64,
    operation: CompareOp,
    depth: f64,
    format: ImageFormat,
) -> bool {
    let clamps = matches!(format.encoding(), Encoding::Unorm(_));
    let reference = if clamps { reference.clamp(0.0, 1.0) } else { reference };
    match operation {
        CompareOp::Never => false,
        CompareOp::Less => reference < depth,
        CompareOp::Equal => reference == depth,
        CompareOp::LessOrEqual => reference <= depth,
        CompareOp::Greater => reference > depth,
        CompareOp::NotEqual => reference != depth,
        CompareOp::GreaterOrEqual => reference >= depth,
        CompareOp::Always => true,
    }
}

/// A border's colour; components that the format lacks are as they would be read.
pub(in crate::interp) fn border_texel(border: Border, format: ImageFormat) -> Texel {
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

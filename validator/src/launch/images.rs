//! The images and samplers of a program: those that are bound, and automatic images.

use std::collections::BTreeMap;

use super::image_options::ImageContents;
use super::values::{Use, Words};
use super::{LaunchError, Slot};
use crate::interp::encode_texel;
use crate::ir::image::{Dim, Encoding, ImageAction, ImageLayout, ImageOp, ImageType};
use crate::ir::{Line, Op, Program};
use crate::value::Byte;

/// Width, height, and the size of a third dimension of an image that nothing gives a size.
const USUAL_EXTENT: [u32; 3] = [8, 8, 4];
/// Texels of a one-dimensional one, or of a texel buffer.
const USUAL_LENGTH: u32 = 64;
/// Levels of images that fragments of a quad sample.
const USUAL_LEVELS: u32 = 3;
/// Elements of an array.
const USUAL_COUNT: u32 = 2;
/// Samples of a multisampled one: every device has four.
const USUAL_SAMPLES: u32 = 4;

/// The images of a slot, as its variables see them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageBound {
    /// Type and line of each variable.
    pub types: Vec<(ImageType, Line)>,
}

/// The slots of a program that are images, combined image samplers among them.
pub fn images(program: &Program) -> BTreeMap<Slot, ImageBound> {
    let mut images: BTreeMap<Slot, ImageBound> = BTreeMap::new();
    for variable in &program.variables {
        let Some(ty) = variable.resource.and_then(|resource| resource.image()) else { continue };
        for slot in Slot::of(variable) {
            let bound = images.entry(slot).or_insert(ImageBound { types: Vec::new() });
            bound.types.push((ty, variable.line));
        }
    }
    images
}

/// The slots of a program that have a sampler, with the line of a variable.
pub fn samplers(program: &Program) -> BTreeMap<Slot, Line> {
    let with_sampler =
        program.variables.iter().filter(|variable| variable.resource.is_some_and(|one| one.has_sampler()));
    with_sampler
        .flat_map(|variable| Slot::of(variable).into_iter().map(|slot| (slot, variable.line)))
        .collect()
}

/// Whether the program asks for sizes of images, or uses coordinates relative to them.
pub fn depends_on_sizes(program: &Program) -> bool {
    program.functions.iter().flat_map(|function| &function.code).any(|inst| match &inst.op {
        Op::Image(op) => match op.action {
            ImageAction::QuerySize { .. }
            | ImageAction::Sample { .. }
            | ImageAction::Gather { .. }
            | ImageAction::QueryLod => true,
            ImageAction::Read { .. }
            | ImageAction::Write { .. }
            | ImageAction::TexelPointer { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples => false,
        },
        _ => false,
    })
}

/// Whether lookups name levels of detail and none needs derivatives, which only fragments of a quad have.
pub fn names_levels(program: &Program) -> bool {
    let code = program.functions.iter().flat_map(|function| &function.code);
    let ops: Vec<&ImageOp> = code
        .filter_map(|inst| match &inst.op {
            Op::Image(op) => Some(&**op),
            _ => None,
        })
        .collect();
    let names = |op: &&&ImageOp| {
        let samples = matches!(op.action, ImageAction::Sample { .. });
        let queries = matches!(op.action, ImageAction::QueryLevels);
        queries || samples && (op.operands.lod.is_some() || op.operands.grad.is_some())
    };
    ops.iter().any(|op| names(&op)) && !ops.iter().any(|op| op.is_implicit())
}

impl ImageBound {
    /// Whether the module may store to it: then its contents are part of an outcome.
    pub fn is_storage(&self) -> bool {
        self.types.iter().any(|(ty, _)| ty.storage)
    }

    /// The type that says most: the first with a format, or else the first.
    pub fn ty(&self) -> Option<ImageType> {
        let with_format = self.types.iter().find(|(ty, _)| ty.format.is_some());
        with_format.or(self.types.first()).map(|(ty, _)| *ty)
    }

    /// Why an image of this layout cannot be bound here, with the line of the variable.
    pub fn objection(&self, layout: &ImageLayout) -> Option<(Line, String)> {
        self.types.iter().find_map(|(ty, line)| {
            if let Some(declared) = ty.format.filter(|declared| *declared != layout.format) {
                return Some((*line, format!("has the format {declared}, not {}", layout.format)));
            }
            if !ty.accepts(layout.format) {
                let what = format!("holds {}-bit {}, not {}", ty.width, ty.texel.name(), layout.format);
                return Some((*line, what));
            }
            let several = layout.layers != ty.dim.faces() && !ty.arrayed;
            if ty.dim != layout.dim || several || layout.samples > 1 && !ty.multisampled {
                return Some((
                    *line,
                    format!("has Dim {}, which is not the shape of {layout}", ty.dim.name()),
                ));
            }
            None
        })
    }

    /// Whether no image can be bound here: its variables want different ones.
    pub fn contradicts_itself(&self) -> bool {
        self.usual_layout().is_some_and(|layout| self.objection(&layout).is_some())
    }

    /// The same with several levels, where the image is one that levels of detail are computed for.
    pub fn layout_with_levels(&self) -> Option<ImageLayout> {
        let layout = self.usual_layout()?;
        let has_levels = match layout.dim {
            Dim::One | Dim::Two | Dim::Three | Dim::Cube => !self.is_storage() && layout.samples == 1,
            Dim::Rect | Dim::Buffer => false,
        };
        Some(ImageLayout { levels: if has_levels { USUAL_LEVELS } else { 1 }, ..layout })
    }

    /// The layout of an automatic image of usual size.
    pub fn usual_layout(&self) -> Option<ImageLayout> {
        let ty = self.ty()?;
        let mut extent = [1; 3];
        match ty.dim {
            Dim::One | Dim::Buffer => extent[0] = USUAL_LENGTH,
            Dim::Two | Dim::Three | Dim::Cube | Dim::Rect => {
                extent
                    .iter_mut()
                    .zip(USUAL_EXTENT)
                    .take(ty.dim.dimensions())
                    .for_each(|(size, usual)| *size = usual);
            }
        }
        Some(ImageLayout {
            format: ty.default_format(),
            dim: ty.dim,
            extent,
            layers: ty.dim.faces() * if ty.arrayed { USUAL_COUNT } else { 1 },
            levels: 1,
            samples: if ty.multisampled { USUAL_SAMPLES } else { 1 },
        })
    }

    /// An image of usual size with undefined contents.
    pub fn undefined(&self) -> Option<ImageContents> {
        let layout = self.usual_layout()?;
        Some(ImageContents { layout, bytes: vec![Byte::Undef; layout.bytes() as usize] })
    }

    /// What a launch says is bound here, or an image of usual size.
    ///
    /// # Errors
    /// [`LaunchError::Unsupported`]: the image does not fit a variable of this program.
    pub fn contents(&self, slot: Slot, given: Option<&ImageContents>) -> Result<ImageContents, LaunchError> {
        let line = self.types.first().map_or(0, |(_, line)| *line);
        let contents = match given {
            Some(given) => Some(given.clone()),
            None => self.undefined(),
        };
        let contents = contents
            .ok_or_else(|| LaunchError::Unsupported { line, what: format!("image {slot} without data") })?;
        match self.objection(&contents.layout) {
            None => Ok(contents),
            Some((line, why)) => {
                Err(LaunchError::Unsupported { line, what: format!("image {slot}, which {why},") })
            }
        }
    }
}

/// A layout that has these texels, too: one past the greatest x, y, z and layer.
pub fn grown(layout: ImageLayout, touched: [u32; 4]) -> ImageLayout {
    resized(layout, touched, u32::max)
}

/// The layout that has just these texels.
pub fn fitted(layout: ImageLayout, touched: [u32; 4]) -> ImageLayout {
    resized(layout, touched, |_, touched| touched.max(1))
}

fn resized(layout: ImageLayout, touched: [u32; 4], size: fn(u32, u32) -> u32) -> ImageLayout {
    let mut result = layout;
    for (extent, touched) in result.extent.iter_mut().zip(touched).take(layout.dim.dimensions()) {
        *extent = size(*extent, touched);
    }
    if layout.dim == Dim::Cube {
        let side = result.extent[0].max(result.extent[1]);
        result.extent = [side, side, 1];
    }
    let faces = layout.dim.faces();
    if layout.layers > faces {
        result.layers = size(layout.layers, touched[3]).div_ceil(faces).saturating_mul(faces);
    }
    result
}

/// Contents of an automatic image: small values of floats, or colours, any bits of other formats.
pub fn automatic(layout: ImageLayout, colours: bool, words: &mut Words, salt: u64) -> ImageContents {
    let size = layout.bytes() as u32;
    let bytes = match layout.format.encoding() {
        Encoding::Float(_) | Encoding::PackedFloat => {
            let texel_size = layout.format.bytes().max(1);
            let components = layout.format.components();
            let values = words.take(salt, size / texel_size * components * 4, Use::Data);
            let largest = if texel_size / components.max(1) < 4 { LARGE.len() - 1 } else { LARGE.len() };
            let float = |word: &[Byte]| match colours {
                true => colour_of(number_of(word)),
                false => float_of(number_of(word), &LARGE[..largest]),
            };
            let values: Vec<u32> = values.chunks(4).map(float).collect();
            let texels = values.chunks(components as usize).map(|texel| {
                let mut components = [0; 4];
                components.iter_mut().zip(texel).for_each(|(place, value)| *place = *value);
                encode_texel(layout.format, components)
            });
            texels.flatten().collect()
        }
        Encoding::Unorm(_)
        | Encoding::Snorm(_)
        | Encoding::Sint(_)
        | Encoding::Uint(_)
        | Encoding::PackedUnorm
        | Encoding::PackedUint => words.take(salt, size, Use::Data),
    };
    ImageContents { layout, bytes }
}

/// Exponents of what few texels hold: what is brighter than white, and beyond what is clamped to integers. The last one is
/// for floats of 32 bits.
const LARGE: [i32; 4] = [4, 8, 15, 32];

/// The same of what is nearly black: colours are converted by other formulas there.
const TINY: [i32; 2] = [-10, -14];

/// Bits of a word that say whether it stands for such a float, and how they look then.
const EXTREME_MASK: u32 = 0x1f << 18;
const IS_LARGE: u32 = 0x0d << 18;
const IS_TINY: u32 = 0x15 << 18;

/// A float for a word: of small magnitude, in eighths, 0 for 0, and different ones for small words; or one of these
/// powers of two, or a tiny one.
fn float_of(word: u32, large: &[i32]) -> u32 {
    let power = |exponents: &[i32]| libm::scalbnf(1.0, exponents[(word >> 8) as usize % exponents.len()]);
    let magnitude = match word & EXTREME_MASK {
        IS_LARGE => power(large),
        IS_TINY => power(&TINY),
        _ => ((word ^ word >> 23) & 0x3f) as f32 * 0.125,
    };
    let value = if word >> 31 == 1 && magnitude != 0.0 { -magnitude } else { magnitude };
    value.to_bits()
}

/// Steps from black to white.
const SHADES: u32 = 16;

/// A float from 0 to 1 for a word, 0 for 0.
fn colour_of(word: u32) -> u32 {
    let mixed = word.wrapping_mul(0x9e37_79b1) >> 16;
    (((mixed % (SHADES + 1)) as f32) / SHADES as f32).to_bits()
}

fn number_of(word: &[Byte]) -> u32 {
    word.iter().rev().fold(0_u32, |word, byte| match byte {
        Byte::Known(byte) => word << 8 | u32::from(*byte),
        Byte::Undef => word << 8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::image::{ImageFormat, Resource, TexelKind};
    use crate::ir::Variable;
    use crate::launch::build::tests::{buffer, launch, program};
    use crate::launch::inputs::Touched;
    use crate::launch::{build_dispatch, inputs};

    fn ty(dim: Dim, format: Option<&str>) -> ImageType {
        let format: Option<ImageFormat> = format.map(|name| name.parse().unwrap());
        let texel = format.map_or(TexelKind::Float, ImageFormat::kind);
        ImageType { dim, arrayed: false, multisampled: false, storage: true, format, texel, width: 32 }
    }

    fn image(id: u32, binding: u32, ty: ImageType) -> Variable {
        let class = crate::event::StorageClass::UniformConstant;
        Variable { class, resource: Some(Resource::Image(ty)), line: id, ..buffer(id, 0, binding) }
    }

    fn slot(binding: u32) -> Slot {
        Slot { set: 0, binding, element: None }
    }

    #[test]
    fn an_automatic_image_is_as_large_as_a_trial_run_goes() {
        let program =
            program(vec![image(1, 0, ty(Dim::Two, Some("r32ui"))), image(2, 1, ty(Dim::Three, None))]);
        let made = |texels: Vec<[u32; 4]>| {
            let touched = Touched { ends: vec![0; 2], texels, ..Touched::default() };
            let mut trial = |_: &crate::dispatch::Dispatch, _: &[u32]| Some(touched.clone());
            let made = inputs::inputs(&program, None, &launch(1, 2, 2), 1, 0, &mut trial).unwrap();
            [0, 1].map(|binding| made[0].images[&slot(binding)].layout.to_string())
        };
        assert_eq!(made(vec![[12, 1, 1, 1], [2, 3, 1, 1]]), ["r32ui:12x1", "rgba32f:2x3x1"]);
        // Nothing was named, or too much.
        assert_eq!(made(vec![[0; 4], [u32::MAX; 4]]), ["r32ui:8x8", "rgba32f:8x8x4"]);
    }

    #[test]
    fn contents_of_floats_are_small_but_for_few() {
        for word in [0_u32, 1, 5, 63, 64, 0x7fff_ffff, u32::MAX, 0x8000_0000, 0x7fc0_0000] {
            let value = f32::from_bits(float_of(word, &LARGE));
            assert!(value.abs() < 8.0 && (value != 0.0 || value.is_sign_positive()), "{word}: {value}");
        }
        let large = |word: u32, large: &[i32]| f32::from_bits(float_of(IS_LARGE | word << 8, large));
        assert_eq!((large(0, &LARGE), large(3, &LARGE)), (16.0, 4_294_967_296.0));
        assert!((0..8).all(|word| large(word, &LARGE[..LARGE.len() - 1]) <= 32_768.0));
        let tiny = |word: u32| f32::from_bits(float_of(IS_TINY | word << 8, &LARGE));
        assert_eq!((tiny(0), tiny(1)), (1.0 / 1024.0, 1.0 / 16384.0));
        let distinct: Vec<u32> = (0..64_u32).map(|word| float_of(word, &LARGE)).collect();
        assert!(distinct.iter().enumerate().all(|(place, value)| !distinct[..place].contains(value)));
    }

    #[test]
    fn colours_are_from_black_to_white() {
        let colours = |words: [u32; 6]| words.map(|word| f32::from_bits(colour_of(word)));
        let all = colours([1, 3, 31, 32, u32::MAX, 0x7fc0_0000]);
        assert!(all.iter().all(|colour| (0.0..=1.0).contains(colour)), "{all:?}");
        assert!(all.iter().enumerate().all(|(at, colour)| !all[..at].contains(colour)), "{all:?}");
        assert_eq!(colour_of(0), 0);
    }

    #[test]
    fn variables_of_one_slot_see_one_image() {
        let program = program(vec![image(1, 0, ty(Dim::Two, None)), image(2, 0, ty(Dim::Two, Some("r32f")))]);
        let mut untried = |_: &crate::dispatch::Dispatch, _: &[u32]| Some(Touched::default());
        let launch = launch(1, 2, 2);
        let made = inputs::inputs(&program, None, &launch, 1, 0, &mut untried).unwrap();
        let dispatch = build_dispatch(&program, &launch, &made[0]).unwrap();
        assert_eq!(dispatch.object_of[0], dispatch.object_of[1]);
        let [object] = &dispatch.objects[..] else { panic!() };
        assert_eq!((object.key.as_str(), object.observed, object.constant), ("image:0.0", true, false));
        assert_eq!(object.image.map(|layout| layout.to_string()).as_deref(), Some("r32f:8x8"));
    }

    #[test]
    fn an_image_of_another_format_or_shape_is_not_bound() {
        let bound = |ty| ImageBound { types: vec![(ty, 7)] };
        let layout = bound(ty(Dim::Two, Some("r32f"))).usual_layout().unwrap();
        assert_eq!(bound(ty(Dim::Two, Some("r32f"))).objection(&layout), None);
        assert_eq!(bound(ty(Dim::Two, None)).objection(&layout), None);
        for other in [ty(Dim::Two, Some("rgba8")), ty(Dim::Three, Some("r32f")), ty(Dim::Two, Some("r32ui"))]
        {
            let line = bound(other).objection(&layout).map(|(line, _)| line);
            assert_eq!(line, Some(7), "{other:?}");
        }
        let given = ImageContents { layout, bytes: Vec::new() };
        let error = bound(ty(Dim::Two, Some("rgba8"))).contents(slot(0), Some(&given));
        assert!(matches!(error, Err(LaunchError::Unsupported { line: 7, .. })));
    }
}

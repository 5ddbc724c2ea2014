//! `--image` and `--sampler`, parsed but not yet resolved against a module.

use std::path::Path;
use std::str::FromStr;

use super::contents::MAX_BYTES;
use super::options::halves;
use super::{Contents, LaunchError, Target};
use crate::ir::image::{Dim, ImageFormat, ImageLayout, ImageType, Sampler};
use crate::value::Byte;

/// `TARGET=FORMAT:WxH[xD][,layers=N][,levels=N][,samples=N]:SPEC` of `--image`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSetting {
    /// The binding of the image.
    pub target: Target,
    /// Its format and sizes.
    pub size: ImageSize,
    /// What its texels hold at first.
    pub contents: ImageFill,
}

/// Format and sizes as given, whatever the dimension of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageSize {
    format: ImageFormat,
    extent: Vec<u32>,
    layers: Option<u32>,
    levels: u32,
    samples: u32,
}

/// Initial contents: an image's size says how many bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageFill {
    /// Every byte is 0.
    Zeros,
    /// Every byte is undefined.
    Undef,
    /// These bytes, texel after texel.
    Given(Contents),
}

/// An image with its initial contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageContents {
    /// Where the texels lie.
    pub layout: ImageLayout,
    /// The bytes of all texels, as the layout has them.
    pub bytes: Vec<Byte>,
}

impl FromStr for ImageSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "TARGET=FORMAT:WxH[xD][,layers=N][,levels=N][,samples=N]:SPEC";
        let (target, image) = halves(text, FORM)?;
        let wrong = || format!("'{image}' is not {}", FORM.trim_start_matches("TARGET="));
        let (format, rest) = image.split_once(':').ok_or_else(wrong)?;
        let (size, contents) = rest.split_once(':').ok_or_else(wrong)?;
        Ok(ImageSetting {
            target: target.parse()?,
            size: ImageSize::parse(format.trim().parse()?, size)?,
            contents: contents.trim().parse()?,
        })
    }
}

impl ImageSize {
    fn parse(format: ImageFormat, text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            let number = text.trim().parse::<u32>().ok().filter(|number| *number > 0);
            number.ok_or_else(|| format!("'{text}' is not a number of 1 or more"))
        };
        let mut words = text.split(',');
        let extent: Vec<u32> =
            words.next().unwrap_or("").split('x').map(number).collect::<Result<_, String>>()?;
        if extent.len() > 3 {
            return Err(format!("'{text}' has more than three dimensions"));
        }
        let mut size = ImageSize { format, extent, layers: None, levels: 1, samples: 1 };
        for word in words {
            match word.trim().split_once('=') {
                Some(("layers", count)) => size.layers = Some(number(count)?),
                Some(("levels", count)) => size.levels = number(count)?,
                Some(("samples", count)) => size.samples = number(count)?,
                Some(_) | None => {
                    return Err(format!("'{word}' is none of layers=N, levels=N, samples=N"));
                }
            }
        }
        Ok(size)
    }

    /// The layout of an image of this size, or why an image of this type cannot have it.
    pub fn layout(&self, ty: ImageType) -> Result<ImageLayout, String> {
        let dimensions = ty.dim.dimensions();
        if self.extent.len() != dimensions {
            return Err(format!(
                "has Dim {}, which takes {dimensions} {}, not {}",
                ty.dim.name(),
                if dimensions == 1 { "size" } else { "sizes" },
                self.extent.len()
            ));
        }
        let mut extent = [1; 3];
        extent.iter_mut().zip(&self.extent).for_each(|(size, given)| *size = *given);
        let faces = ty.dim.faces();
        let layers = self.layers.unwrap_or(faces);
        let greatest = extent.iter().copied().max().unwrap_or(1);
        if extent[0] != extent[1] && faces > 1 {
            return Err("is a cube, whose faces are square".to_owned());
        }
        if !layers.is_multiple_of(faces) || !ty.arrayed && layers != faces {
            return Err(match (ty.arrayed, faces) {
                (true, _) => format!("is made of cubes: layers come in sixes, not {layers}"),
                (false, 1) => "is not arrayed: it has no layers".to_owned(),
                (false, _) => format!("is not arrayed: it has {faces} layers, its faces"),
            });
        }
        if self.levels > greatest.ilog2() + 1
            || self.levels > 1 && (ty.multisampled || ty.storage || ty.dim == Dim::Buffer)
        {
            return Err(format!("cannot have {} levels", self.levels));
        }
        if self.samples > 1 && !ty.multisampled || self.samples > 64 || !self.samples.is_power_of_two() {
            return Err(format!("cannot have {} samples", self.samples));
        }
        Ok(ImageLayout {
            format: self.format,
            dim: ty.dim,
            extent,
            layers,
            levels: self.levels,
            samples: self.samples,
        })
    }
}

impl FromStr for ImageFill {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "zeros" => Ok(ImageFill::Zeros),
            "undef" => Ok(ImageFill::Undef),
            _ => match text.parse() {
                Ok(contents) => Ok(ImageFill::Given(contents)),
                Err(_) if !text.contains(':') && !text.starts_with('@') => {
                    Err(format!("'{text}' is none of zeros, undef, words:1,2,0xff, @FILE"))
                }
                Err(reason) => Err(reason),
            },
        }
    }
}

impl ImageFill {
    /// The contents that are given, if some are.
    pub fn given(&self) -> Option<&Contents> {
        match self {
            ImageFill::Given(contents) => Some(contents),
            ImageFill::Zeros | ImageFill::Undef => None,
        }
    }

    /// These contents where a relative file name starts from the folder `base`.
    #[must_use]
    pub fn under(self, base: &Path) -> ImageFill {
        match self {
            ImageFill::Given(contents) => ImageFill::Given(contents.under(base)),
            ImageFill::Zeros | ImageFill::Undef => self,
        }
    }

    /// The contents of an image of this layout.
    pub fn fill(&self, layout: ImageLayout, slot: &str) -> Result<ImageContents, LaunchError> {
        let size = layout.bytes();
        if size > MAX_BYTES {
            return Err(LaunchError::TooLarge {
                what: format!("--image: {slot} of {size} bytes"),
                limit: MAX_BYTES,
                remedy: "give a smaller image",
            });
        }
        let bytes = match self {
            ImageFill::Zeros => vec![Byte::Known(0); size as usize],
            ImageFill::Undef => vec![Byte::Undef; size as usize],
            ImageFill::Given(contents) => contents.bytes()?,
        };
        if bytes.len() as u64 != size {
            return Err(LaunchError::WrongTarget {
                option: "--image",
                what: format!("{slot} is {layout}, which takes {size} bytes, not {}", bytes.len()),
            });
        }
        Ok(ImageContents { layout, bytes })
    }
}

/// `TARGET=nearest|linear,…` of `--sampler`; see [`Sampler`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SamplerSetting {
    /// The binding of the sampler.
    pub target: Target,
    /// How it reads images.
    pub sampler: Sampler,
}

impl FromStr for SamplerSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (target, sampler) = halves(text, "TARGET=nearest|linear,clamp|repeat")?;
        Ok(SamplerSetting { target: target.parse()?, sampler: sampler.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::image::{Filter, TexelKind};

    fn ty(dim: Dim, arrayed: bool, multisampled: bool, storage: bool) -> ImageType {
        ImageType { dim, arrayed, multisampled, storage, format: None, texel: TexelKind::Float, width: 32 }
    }

    fn layout(text: &str, ty: ImageType) -> Result<String, String> {
        let setting: ImageSetting = text.parse()?;
        setting.size.layout(ty).map(|layout| layout.to_string())
    }

    #[test]
    fn sizes_fit_the_type_of_the_image() {
        let plane = ty(Dim::Two, false, false, false);
        for (text, ty) in [
            ("0.0=rgba8:4x2:zeros", plane),
            ("0.0=rgba8:4x4,levels=3:undef", plane),
            ("0.0=rgba8:4x2,layers=3:zeros", ty(Dim::Two, true, false, true)),
            ("0.0=r32f:4x4,layers=12:zeros", ty(Dim::Cube, true, false, false)),
            ("0.0=r32f:4x4:zeros", ty(Dim::Cube, false, false, false)),
            ("0.0=r32f:7:words:1", ty(Dim::Buffer, false, false, true)),
            ("0.0=r32f:7x1x2:words:1", ty(Dim::Three, false, false, true)),
            ("0.0=r32f:2x2,samples=4:@texels.bin", ty(Dim::Two, false, true, false)),
        ] {
            let expected = text.split('=').skip(1).collect::<Vec<_>>().join("=");
            let found = layout(text, ty).unwrap();
            assert!(expected.starts_with(&format!("{found}:")), "{text}: {found}");
        }
        for (text, ty) in [
            ("0.0=r32f:4:zeros", plane),
            ("0.0=r32f:4x4x4:zeros", plane),
            ("0.0=r32f:4x4,layers=2:zeros", plane),
            ("0.0=r32f:4x4,levels=4:zeros", plane),
            ("0.0=r32f:4x4,samples=2:zeros", plane),
            ("0.0=r32f:4x4,samples=3:zeros", ty(Dim::Two, false, true, false)),
            ("0.0=r32f:4x4,levels=2:zeros", ty(Dim::Two, false, false, true)),
            ("0.0=r32f:4,levels=2:zeros", ty(Dim::Buffer, false, false, false)),
            ("0.0=r32f:4x3:zeros", ty(Dim::Cube, false, false, false)),
            ("0.0=r32f:4x4,layers=8:zeros", ty(Dim::Cube, true, false, false)),
        ] {
            assert!(layout(text, ty).is_err(), "{text}");
        }
    }

    #[test]
    fn settings_are_parsed_strictly() {
        for wrong in [
            "",
            "0.0",
            "0.0=r32f",
            "0.0=r32f:4x4",
            "0.0=r32f:4x4:",
            "0.0=r32f:0x4:zeros",
            "0.0=r32f:4xx4:zeros",
            "0.0=r32f:1x1x1x1:zeros",
            "0.0=r32f:4x4,layers:zeros",
            "0.0=r32f:4x4,faces=2:zeros",
            "0.0=r33f:4x4:zeros",
            "0.0=r32f:4x4:zeros:4x",
        ] {
            assert!(wrong.parse::<ImageSetting>().is_err(), "{wrong}");
        }
        let given: Result<ImageSetting, String> = "0.0=r32f:1x1:zeros:1".parse();
        assert_eq!(given.map(|given| given.contents), Ok(ImageFill::Given(Contents::Zeros(1))));
        let sampler: Result<SamplerSetting, String> = "%s=linear,repeat".parse();
        assert_eq!(sampler.map(|setting| setting.sampler.filter), Ok(Filter::Linear));
    }

    #[test]
    fn contents_have_the_size_of_the_image() {
        let layout = "0.0=r8ui:5x1:undef".parse::<ImageSetting>().unwrap().size;
        let layout = layout.layout(ty(Dim::Two, false, false, true)).unwrap();
        let bytes = |fill: ImageFill| fill.fill(layout, "0.0").map(|contents| contents.bytes).ok();
        assert_eq!(bytes(ImageFill::Zeros), Some(vec![Byte::Known(0); 5]));
        assert_eq!(bytes(ImageFill::Undef), Some(vec![Byte::Undef; 5]));
        assert_eq!(bytes(ImageFill::Given(Contents::Words(vec![1]))), None);
    }
}

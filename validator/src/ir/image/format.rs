//! Texel formats: the formats that OpTypeImage can name, with the bits of the Vulkan formats that they
//! are compatible with.

use std::fmt;
use std::str::FromStr;

/// A texel format, by its place in the table of SPIR-V's image formats (Unknown left out).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ImageFormat(u8);

/// What the components of a texel are to the shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TexelKind {
    Float,
    Sint,
    Uint,
}

impl TexelKind {
    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            TexelKind::Float => "floats",
            TexelKind::Sint => "signed integers",
            TexelKind::Uint => "unsigned integers",
        }
    }
}

/// How components are encoded; with their bits, where all have equally many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Float(u32),
    Unorm(u32),
    Snorm(u32),
    Sint(u32),
    Uint(u32),
    /// Unsigned floats of 11, 11 and 10 bits, red in the lowest bits (B10G11R11_UFLOAT_PACK32).
    PackedFloat,
    /// 10, 10, 10 and 2 bits, red in the lowest bits (A2B10G10R10_UNORM_PACK32).
    PackedUnorm,
    /// The same of unsigned integers.
    PackedUint,
}

/// Name, components, encoding: in the order of SPIR-V's numbers, from 1 on.
const FORMATS: [(&str, u32, Encoding); 41] = [
    ("rgba32f", 4, Encoding::Float(32)),
    ("rgba16f", 4, Encoding::Float(16)),
    ("r32f", 1, Encoding::Float(32)),
    ("rgba8", 4, Encoding::Unorm(8)),
    ("rgba8snorm", 4, Encoding::Snorm(8)),
    ("rg32f", 2, Encoding::Float(32)),
    ("rg16f", 2, Encoding::Float(16)),
    ("r11fg11fb10f", 3, Encoding::PackedFloat),
    ("r16f", 1, Encoding::Float(16)),
    ("rgba16", 4, Encoding::Unorm(16)),
    ("rgb10a2", 4, Encoding::PackedUnorm),
    ("rg16", 2, Encoding::Unorm(16)),
    ("rg8", 2, Encoding::Unorm(8)),
    ("r16", 1, Encoding::Unorm(16)),
    ("r8", 1, Encoding::Unorm(8)),
    ("rgba16snorm", 4, Encoding::Snorm(16)),
    ("rg16snorm", 2, Encoding::Snorm(16)),
    ("rg8snorm", 2, Encoding::Snorm(8)),
    ("r16snorm", 1, Encoding::Snorm(16)),
    ("r8snorm", 1, Encoding::Snorm(8)),
    ("rgba32i", 4, Encoding::Sint(32)),
    ("rgba16i", 4, Encoding::Sint(16)),
    ("rgba8i", 4, Encoding::Sint(8)),
    ("r32i", 1, Encoding::Sint(32)),
    ("rg32i", 2, Encoding::Sint(32)),
    ("rg16i", 2, Encoding::Sint(16)),
    ("rg8i", 2, Encoding::Sint(8)),
    ("r16i", 1, Encoding::Sint(16)),
    ("r8i", 1, Encoding::Sint(8)),
    ("rgba32ui", 4, Encoding::Uint(32)),
    ("rgba16ui", 4, Encoding::Uint(16)),
    ("rgba8ui", 4, Encoding::Uint(8)),
    ("r32ui", 1, Encoding::Uint(32)),
    ("rgb10a2ui", 4, Encoding::PackedUint),
    ("rg32ui", 2, Encoding::Uint(32)),
    ("rg16ui", 2, Encoding::Uint(16)),
    ("rg8ui", 2, Encoding::Uint(8)),
    ("r16ui", 1, Encoding::Uint(16)),
    ("r8ui", 1, Encoding::Uint(8)),
    ("r64ui", 1, Encoding::Uint(64)),
    ("r64i", 1, Encoding::Sint(64)),
];

impl ImageFormat {
    pub const RGBA32F: ImageFormat = ImageFormat(0);
    pub const RGBA32I: ImageFormat = ImageFormat(20);
    pub const RGBA32UI: ImageFormat = ImageFormat(29);
    pub const R64UI: ImageFormat = ImageFormat(39);
    pub const R64I: ImageFormat = ImageFormat(40);

    /// The format with this number in SPIR-V; `None` for Unknown (0) and numbers that it does not have.
    pub fn from_spirv(number: u32) -> Option<Self> {
        let place = number.checked_sub(1)?;
        ((place as usize) < FORMATS.len()).then_some(ImageFormat(place as u8))
    }

    /// All formats.
    pub fn all() -> impl Iterator<Item = ImageFormat> {
        (0..FORMATS.len() as u8).map(ImageFormat)
    }

    /// Its name: that of SPIR-V in lower case.
    pub const fn name(self) -> &'static str {
        FORMATS[self.0 as usize].0
    }

    /// Components of a texel.
    pub const fn components(self) -> u32 {
        FORMATS[self.0 as usize].1
    }

    pub const fn encoding(self) -> Encoding {
        FORMATS[self.0 as usize].2
    }

    /// Bytes of a texel.
    pub const fn bytes(self) -> u32 {
        match self.encoding() {
            Encoding::Float(bits)
            | Encoding::Unorm(bits)
            | Encoding::Snorm(bits)
            | Encoding::Sint(bits)
            | Encoding::Uint(bits) => self.components() * bits / 8,
            Encoding::PackedFloat | Encoding::PackedUnorm | Encoding::PackedUint => 4,
        }
    }

    /// Lowest bit and number of bits of a component.
    pub const fn bits_of(self, component: u32) -> (u32, u32) {
        match self.encoding() {
            Encoding::Float(bits)
            | Encoding::Unorm(bits)
            | Encoding::Snorm(bits)
            | Encoding::Sint(bits)
            | Encoding::Uint(bits) => (component * bits, bits),
            Encoding::PackedFloat => (component * 11, if component == 2 { 10 } else { 11 }),
            Encoding::PackedUnorm | Encoding::PackedUint => {
                (component * 10, if component == 3 { 2 } else { 10 })
            }
        }
    }

    /// What a shader reads from it and writes to it.
    pub const fn kind(self) -> TexelKind {
        match self.encoding() {
            Encoding::Float(_)
            | Encoding::Unorm(_)
            | Encoding::Snorm(_)
            | Encoding::PackedFloat
            | Encoding::PackedUnorm => TexelKind::Float,
            Encoding::Sint(_) => TexelKind::Sint,
            Encoding::Uint(_) | Encoding::PackedUint => TexelKind::Uint,
        }
    }
}

impl fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for ImageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ImageFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.to_ascii_lowercase();
        ImageFormat::all().find(|format| format.name() == wanted).ok_or_else(|| {
            let names: Vec<&str> = ImageFormat::all().map(ImageFormat::name).collect();
            format!("'{text}' is no image format; there are {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_spirv() {
        use rspirv::spirv::ImageFormat as Number;
        assert_eq!(ImageFormat::from_spirv(0), None);
        assert_eq!(ImageFormat::from_spirv(42), None);
        for format in ImageFormat::all() {
            let number = u32::from(format.0) + 1;
            let named = Number::from_u32(number).map(|number| format!("{number:?}").to_ascii_lowercase());
            assert_eq!(named.as_deref(), Some(format.name()));
            assert_eq!(ImageFormat::from_spirv(number), Some(format));
            assert_eq!(format.name().parse(), Ok(format));
        }
        assert!("rgba31f".parse::<ImageFormat>().is_err());
    }

    #[test]
    fn texels_are_as_large_as_their_components() {
        for format in ImageFormat::all() {
            let bits: u32 = (0..format.components()).map(|component| format.bits_of(component).1).sum();
            assert_eq!(bits, format.bytes() * 8, "{format}");
            let (last, width) = format.bits_of(format.components() - 1);
            assert_eq!(last + width, bits, "{format}");
        }
    }
}

//! Samplers (Vulkan, "Samplers").

use std::fmt;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    #[default]
    Nearest,
    Linear,
}

/// What coordinates outside the image become; one mode for all dimensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddressMode {
    #[default]
    ClampToEdge,
    Repeat,
    MirroredRepeat,
    MirrorClampToEdge,
    ClampToBorder(Border),
}

/// The colour of the border.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    TransparentBlack,
    OpaqueBlack,
    OpaqueWhite,
}

/// How a reference value is compared with a texel's depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CompareOp {
    Never,
    Less,
    Equal,
    #[default]
    LessOrEqual,
    Greater,
    NotEqual,
    GreaterOrEqual,
    Always,
}

/// A sampler. Magnification and minification have one filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sampler {
    pub filter: Filter,
    pub mipmap: Filter,
    pub address: AddressMode,
    pub unnormalized: bool,
    /// For the Dref instructions; other instructions do not look at it.
    pub compare: CompareOp,
}

const FILTERS: [(&str, Filter); 2] = [("nearest", Filter::Nearest), ("linear", Filter::Linear)];
const MIPMAPS: [(&str, Filter); 2] = [("mip-nearest", Filter::Nearest), ("mip-linear", Filter::Linear)];
const ADDRESSES: [(&str, AddressMode); 7] = [
    ("clamp", AddressMode::ClampToEdge),
    ("repeat", AddressMode::Repeat),
    ("mirror", AddressMode::MirroredRepeat),
    ("mirror-clamp", AddressMode::MirrorClampToEdge),
    ("border", AddressMode::ClampToBorder(Border::TransparentBlack)),
    ("border-black", AddressMode::ClampToBorder(Border::OpaqueBlack)),
    ("border-white", AddressMode::ClampToBorder(Border::OpaqueWhite)),
];
const COMPARISONS: [(&str, CompareOp); 8] = [
    ("never", CompareOp::Never),
    ("less", CompareOp::Less),
    ("equal", CompareOp::Equal),
    ("less-equal", CompareOp::LessOrEqual),
    ("greater", CompareOp::Greater),
    ("not-equal", CompareOp::NotEqual),
    ("greater-equal", CompareOp::GreaterOrEqual),
    ("always", CompareOp::Always),
];

fn find<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

fn name_of<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
}

/// As `--sampler` takes it: words separated by commas, in any order.
impl FromStr for Sampler {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut sampler = Sampler::default();
        for word in text.split(',').map(str::trim) {
            if let Some(filter) = find(&FILTERS, word) {
                sampler.filter = filter;
            } else if let Some(filter) = find(&MIPMAPS, word) {
                sampler.mipmap = filter;
            } else if let Some(mode) = find(&ADDRESSES, word) {
                sampler.address = mode;
            } else if let Some(comparison) = find(&COMPARISONS, word) {
                sampler.compare = comparison;
            } else if word == "unnormalized" {
                sampler.unnormalized = true;
            } else {
                let names = |words: Vec<&str>| words.join(", ");
                return Err(format!(
                    "'{word}' is none of {}, {}, {}, unnormalized, {}",
                    names(FILTERS.map(|(name, _)| name).to_vec()),
                    names(ADDRESSES.map(|(name, _)| name).to_vec()),
                    names(MIPMAPS.map(|(name, _)| name).to_vec()),
                    names(COMPARISONS.map(|(name, _)| name).to_vec()),
                ));
            }
        }
        Ok(sampler)
    }
}

impl fmt::Display for Sampler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", name_of(&FILTERS, &self.filter), name_of(&ADDRESSES, &self.address))?;
        if self.mipmap != Filter::default() {
            write!(f, ",{}", name_of(&MIPMAPS, &self.mipmap))?;
        }
        if self.unnormalized {
            f.write_str(",unnormalized")?;
        }
        if self.compare != CompareOp::default() {
            write!(f, ",{}", name_of(&COMPARISONS, &self.compare))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samplers_are_read_back_as_they_are_written() {
        for text in [
            "nearest,clamp",
            "linear,repeat",
            "linear,mirror,mip-linear",
            "nearest,border-white,unnormalized",
            "nearest,mirror-clamp,greater-equal",
        ] {
            assert_eq!(text.parse::<Sampler>().map(|sampler| sampler.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("repeat".parse::<Sampler>().map(|sampler| sampler.filter), Ok(Filter::Nearest));
        assert!("bicubic".parse::<Sampler>().is_err_and(|error| error.contains("nearest, linear")));
    }
}

//! Initial contents in the user's notation: `zeros:WORDS`, `words:1,2,0xff`, `floats:1,0.5`, `halves:1,0.5`,
//! `bytes:1,0xff`, `@FILE`, `undef:WORDS`. All numbers of one list are of one kind.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use rustc_apfloat::ieee::{Half, Single};
use rustc_apfloat::{Float, FloatConvert};

use super::LaunchError;
use crate::files;
use crate::value::Byte;

/// Largest buffer, in bytes: enough for every dispatch that can be explored, small enough that a
/// mistyped size is told instead of filling the memory.
pub const MAX_BYTES: u64 = 1 << 26;

/// What contents may be.
const FORMS: &str =
    "zeros:WORDS, words:1,2,0xff, floats:1,0.5, halves:1,0.5, bytes:1,0xff, @FILE, undef:WORDS";

/// Initial contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contents {
    /// This many 32-bit words of zero.
    Zeros(u32),
    /// These 32-bit words, little-endian.
    Words(Vec<u32>),
    /// These bytes, of numbers of another size or kind.
    Bytes(Vec<u8>),
    /// The bytes of a file.
    File(PathBuf),
    /// This many undefined 32-bit words.
    Undef(u32),
}

impl Contents {
    /// These contents where a relative file name starts from the folder `base`.
    #[must_use]
    pub fn under(self, base: &Path) -> Contents {
        match self {
            Contents::File(path) => Contents::File(base.join(path)),
            Contents::Zeros(_) | Contents::Words(_) | Contents::Bytes(_) | Contents::Undef(_) => self,
        }
    }

    /// These contents with the bytes of the file in the place of its name.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub fn read(self) -> Result<Contents, LaunchError> {
        match &self {
            Contents::File(path) => {
                let unreadable = |error| LaunchError::Unreadable { path: path.clone(), error };
                files::read(path, MAX_BYTES).map(Contents::Bytes).map_err(unreadable)
            }
            Contents::Zeros(_) | Contents::Words(_) | Contents::Bytes(_) | Contents::Undef(_) => Ok(self),
        }
    }

    /// The file that holds them, if one does.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Contents::File(path) => Some(path),
            Contents::Zeros(_) | Contents::Words(_) | Contents::Bytes(_) | Contents::Undef(_) => None,
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> Result<Vec<Byte>, LaunchError> {
        match self {
            Contents::Zeros(words) => Ok(vec![Byte::Known(0); *words as usize * 4]),
            Contents::Undef(words) => Ok(vec![Byte::Undef; *words as usize * 4]),
            Contents::Words(words) => {
                Ok(words.iter().flat_map(|word| word.to_le_bytes()).map(Byte::Known).collect())
            }
            Contents::Bytes(bytes) => Ok(bytes.iter().copied().map(Byte::Known).collect()),
            Contents::File(path) => {
                let unreadable = |error| LaunchError::Unreadable { path: path.clone(), error };
                match files::read(path, MAX_BYTES) {
                    Ok(bytes) => Ok(bytes.into_iter().map(Byte::Known).collect()),
                    Err(error) if error.kind() == ErrorKind::FileTooLarge => Err(LaunchError::TooLarge {
                        what: format!("{}: more bytes than that", path.display()),
                        limit: MAX_BYTES,
                        remedy: "give a smaller file",
                    }),
                    Err(error) => Err(unreadable(error)),
                }
            }
        }
    }
}

impl FromStr for Contents {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix('@') {
            return if path.is_empty() {
                Err("a file name must follow '@'".to_owned())
            } else {
                Ok(Contents::File(path.into()))
            };
        }
        match text.split_once(':') {
            Some(("zeros", count)) => count_of_words(count).map(Contents::Zeros),
            Some(("undef", count)) => count_of_words(count).map(Contents::Undef),
            Some(("words", list)) => words(list).map(Contents::Words),
            Some(("floats", list)) => bytes(list, float).map(Contents::Bytes),
            Some(("halves", list)) => bytes(list, half).map(Contents::Bytes),
            Some(("bytes", list)) => bytes(list, byte).map(Contents::Bytes),
            _ => Err(format!("'{text}' is none of {FORMS}")),
        }
    }
}

fn count_of_words(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(words) if u64::from(words) * 4 <= MAX_BYTES => Ok(words),
        Ok(_) => Err(format!("'{text}' words are more than the {MAX_BYTES} bytes that a buffer may have")),
        Err(_) => Err(format!("'{text}' is not a number of 32-bit words")),
    }
}

/// 32-bit words of one kind: integers, or numbers with a point, which are floats.
fn words(list: &str) -> Result<Vec<u32>, String> {
    let is_float = |text: &&str| text.contains('.');
    let numbers: Vec<&str> = list.split(',').map(str::trim).collect();
    match (numbers.iter().any(is_float), numbers.iter().find(|text| !is_float(text))) {
        (true, Some(integer)) => Err(format!(
            "words: mixes floats with '{integer}'; give all of them as floats (floats:1,0.5) or as integers"
        )),
        (true, None) => numbers.into_iter().map(|text| float(text).map(u32::from_le_bytes)).collect(),
        (false, _) => numbers.into_iter().map(word).collect(),
    }
}

/// The bytes of numbers of one kind.
fn bytes<const N: usize>(
    list: &str,
    number: impl Fn(&str) -> Result<[u8; N], String>,
) -> Result<Vec<u8>, String> {
    let numbers = list.split(',').map(|text| number(text.trim()));
    Ok(numbers.collect::<Result<Vec<[u8; N]>, String>>()?.concat())
}

/// A float as a decimal number, also one without a point, `inf`, `-inf` or `nan`.
fn float_value(text: &str, what: &str) -> Result<f32, String> {
    let is_hexadecimal = text.contains(['x', 'X']);
    let value = text.parse::<f32>().ok().filter(|_| !is_hexadecimal);
    value.ok_or_else(|| format!("'{text}' is not a {what} (a decimal number, inf, -inf or nan)"))
}

fn float(text: &str) -> Result<[u8; 4], String> {
    Ok(float_value(text, "float")?.to_bits().to_le_bytes())
}

fn half(text: &str) -> Result<[u8; 2], String> {
    let mut loses = false;
    let single = Single::from_bits(u128::from(float_value(text, "16-bit float")?.to_bits()));
    let half: Half = single.convert(&mut loses).value;
    Ok((half.to_bits() as u16).to_le_bytes())
}

fn byte(text: &str) -> Result<[u8; 1], String> {
    let wrong = || format!("'{text}' is not a byte (an integer from -128 to 255, or 0x…)");
    let value = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            u8::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => text.parse::<u8>().ok().or_else(|| text.parse::<i8>().ok().map(i8::cast_unsigned)),
    };
    Ok([value.ok_or_else(wrong)?])
}

/// One 32-bit word: an unsigned or negative integer, decimal or `0x…`.
fn word(text: &str) -> Result<u32, String> {
    let wrong = || format!("'{text}' is not a 32-bit word (an integer, 0x…, or a float with a point)");
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) if hex.bytes().all(|byte| byte.is_ascii_hexdigit()) => u32::from_str_radix(hex, 16).ok(),
        Some(_) => None,
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok(),
        None => None,
    };
    match magnitude {
        // The most negative number has the sign bit alone.
        Some(magnitude) if negative && magnitude <= 1 << 31 => Ok(magnitude.wrapping_neg()),
        Some(magnitude) if !negative => Ok(magnitude),
        Some(_) | None => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_parsed_strictly() {
        assert_eq!("zeros:3".parse(), Ok(Contents::Zeros(3)));
        assert_eq!("undef:2".parse(), Ok(Contents::Undef(2)));
        assert_eq!("words:1,0xff,-1".parse(), Ok(Contents::Words(vec![1, 255, u32::MAX])));
        assert_eq!("words:1.0,-.5".parse(), Ok(Contents::Words(vec![0x3f80_0000, 0xbf00_0000])));
        assert_eq!("floats:1, -0.5".parse(), Ok(Contents::Bytes(vec![0, 0, 0x80, 0x3f, 0, 0, 0, 0xbf])));
        assert_eq!("halves:1,0.5,inf".parse(), Ok(Contents::Bytes(vec![0, 0x3c, 0, 0x38, 0, 0x7c])));
        assert_eq!("bytes:1,0xff,-1".parse(), Ok(Contents::Bytes(vec![1, 255, 255])));
        assert_eq!("@data.bin".parse(), Ok(Contents::File("data.bin".into())));
        for wrong in [
            "",
            "zeros",
            "zeros:",
            "zeros:-1",
            "zeros:99999999999",
            "words:",
            "words:1,,2",
            "words:0x",
            "@",
            "x:1",
            "words:1,2.0",
            "words:0x1,.5",
            "floats:",
            "floats:0x1",
            "floats:one",
            "halves:1,,2",
            "bytes:256",
            "bytes:-129",
            "bytes:1.0",
            "bytes:0xfff",
        ] {
            assert!(wrong.parse::<Contents>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_keep_to_32_bits() {
        assert_eq!(word("4294967295"), Ok(0xffff_ffff));
        assert_eq!(word("-2147483648"), Ok(0x8000_0000));
        for wrong in ["4294967296", "-2147483649", "0x1_0", "0x+1", "--1", "inf", "NaN", "1.5", "-"] {
            assert!(word(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_are_little_endian_bytes() {
        let bytes = Contents::Words(vec![0x0403_0201]).bytes();
        assert_eq!(bytes.ok(), Some([1, 2, 3, 4].map(Byte::Known).to_vec()));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Contents::File("no-such-file.bin".into()).under(Path::new("/nowhere")).bytes();
        assert!(error.is_err_and(|error| error.to_string().starts_with("/nowhere/no-such-file.bin: ")));
    }
}

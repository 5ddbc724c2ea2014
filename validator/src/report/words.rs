//! Memory as text: 32-bit little-endian words, `??` for an undefined byte.

use std::fmt::Write;

use crate::value::Byte;

/// The words of some bytes; a short last one where their number is no multiple of 4.
pub fn words(bytes: &[Byte]) -> Vec<String> {
    bytes.chunks(4).map(word).collect()
}

/// Some bytes as one little-endian number.
pub fn word(bytes: &[Byte]) -> String {
    let mut text = String::with_capacity(2 + 2 * bytes.len());
    text.push_str("0x");
    for byte in bytes.iter().rev() {
        match byte {
            // Writing to a string cannot fail.
            Byte::Known(value) => drop(write!(text, "{value:02x}")),
            Byte::Undef => text.push_str("??"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_little_endian_with_marks_for_undefined_bytes() {
        let bytes = [
            Byte::Known(1),
            Byte::Undef,
            Byte::Known(0),
            Byte::Known(0),
            Byte::Known(0xab),
            Byte::Known(0xcd),
        ];
        assert_eq!(words(&bytes), ["0x0000??01", "0xcdab"]);
        assert_eq!(words(&[]), Vec::<String>::new());
    }
}

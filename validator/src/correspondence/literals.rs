//! Literals that mean the same, however they are written: `0x10` and `16`, `1.0` and `1`.

use std::borrow::Cow;

use super::listing::Inst;

/// A literal as it is compared where its type is not known; other words as they are.
pub(super) fn canonical(word: &str) -> Cow<'_, str> {
    if word.starts_with(['%', '"']) {
        return Cow::Borrowed(word);
    }
    if let Some(number) = integer(word) {
        return Cow::Owned(number.to_string());
    }
    // Bits of a mask have no order.
    if word.contains('|') {
        let mut bits: Vec<&str> = word.split('|').collect();
        bits.sort_unstable();
        return Cow::Owned(bits.join("|"));
    }
    Cow::Borrowed(word)
}

/// The bits of the literal of a constant, of the type that `ty` declares; `None` where it is no number of at most 64 bits.
pub(crate) fn bits(literal: &str, ty: &Inst<'_>) -> Option<u64> {
    let width: u32 = ty.operands.first()?.parse().ok()?;
    let mask = u64::MAX >> 64_u32.checked_sub(width).filter(|unused| *unused < 64)?;
    match (ty.opcode, width, ty.operands.len()) {
        ("OpTypeInt", _, _) => integer(literal).map(|number| number as u64 & mask),
        // Each width is rounded to at once.
        ("OpTypeFloat", 32, 1) => {
            let value = hexadecimal(literal).map(|value| value as f32);
            let value = value.or_else(|| literal.parse().ok().filter(|_| is_decimal(literal)));
            value.map(|value: f32| u64::from(value.to_bits()))
        }
        ("OpTypeFloat", 64, 1) => {
            let value = hexadecimal(literal);
            let value = value.or_else(|| literal.parse().ok().filter(|_| is_decimal(literal)));
            value.map(f64::to_bits)
        }
        _ => None,
    }
}

/// A whole number in decimals or hexadecimal digits.
fn integer(word: &str) -> Option<i128> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word),
    };
    let number = match digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
        None if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok()?,
        None => return None,
    };
    Some(sign * number)
}

/// A hexadecimal float that is exact in 64 bits, as the disassembler writes what decimals do not tell.
fn hexadecimal(literal: &str) -> Option<f64> {
    let (sign, digits) = match literal.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, literal),
    };
    let (mantissa, exponent) = digits.strip_prefix("0x")?.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let number = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    let scale = exponent.checked_sub(i32::try_from(fraction.len()).ok()?.checked_mul(4)?)?;
    (number < 1 << f64::MANTISSA_DIGITS).then(|| sign * number as f64 * f64::from(scale).exp2())
}

/// Whether a literal is decimal; words such as `inf` are none.
fn is_decimal(literal: &str) -> bool {
    literal.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit() || first == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_equal_however_they_are_written() {
        for (one, other) in [("0x10", "16"), ("0X1f", "31"), ("-0x2", "-2"), ("007", "7"), ("B|A", "A|B")] {
            assert_eq!(canonical(one), canonical(other));
        }
        for (one, other) in [("0x10", "10"), ("1.0", "1"), ("Aligned", "aligned"), ("-1", "1")] {
            assert_ne!(canonical(one), canonical(other));
        }
    }

    #[test]
    fn constants_are_their_bits() {
        let ty = |text: &'static str| Inst::parse(1, text).unwrap();
        let of = |literal: &str, text: &'static str| bits(literal, &ty(text));
        assert_eq!(of("0xffffffff", "%1 = OpTypeInt 32 1"), of("-1", "%1 = OpTypeInt 32 1"));
        assert_eq!(of("0xffff", "%1 = OpTypeInt 16 1"), of("-1", "%1 = OpTypeInt 16 1"));
        for one in ["1.0", "1", "0x1p+0", "0x1p0", "1e0"] {
            assert_eq!(of(one, "%1 = OpTypeFloat 32"), Some(0x3f80_0000), "{one}");
        }
        assert_eq!(of("-0x1.8p+1", "%1 = OpTypeFloat 64"), Some((-3.0_f64).to_bits()));
        assert_ne!(of("0.0", "%1 = OpTypeFloat 32"), of("-0.0", "%1 = OpTypeFloat 32"));
        assert_eq!(of("1.0", "%1 = OpTypeFloat 16"), None);
        assert_eq!(of("!0x3f800000", "%1 = OpTypeFloat 32"), None);
    }
}

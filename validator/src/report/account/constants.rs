//! Constants of a module's text as values.

use super::Code;
use crate::value::Scalar;

/// Composites in each other, beyond which nobody looks.
const DEPTH: usize = 16;

/// The components of a constant; `None` for what specialisation may change, and for floats that are not of 32 or 64 bits.
pub(super) fn components(code: &Code<'_>, id: &str) -> Option<Vec<Scalar>> {
    let mut found = Vec::new();
    collect(code, id, DEPTH, &mut found)?;
    Some(found)
}

fn collect(code: &Code<'_>, id: &str, depth: usize, found: &mut Vec<Scalar>) -> Option<()> {
    let inst = code.defines(id)?;
    match inst.opcode {
        "OpConstantTrue" => found.push(Scalar::new(1)),
        "OpConstantFalse" => found.push(Scalar::new(0)),
        "OpConstant" => {
            let ty = code.defines(inst.operands.first()?)?;
            let width: u32 = ty.operands.first()?.parse().ok()?;
            found.push(Scalar::new(bits(ty.opcode, width, inst.operands.get(1)?)?));
        }
        "OpConstantComposite" => {
            let depth = depth.checked_sub(1)?;
            inst.operands.iter().skip(1).try_for_each(|part| collect(code, part, depth, found))?;
        }
        _ => return None,
    }
    Some(())
}

/// The bits of a literal of a type.
fn bits(opcode: &str, width: u32, literal: &str) -> Option<u64> {
    let mask = u64::MAX >> (64 - width.clamp(1, 64));
    match (opcode, width) {
        ("OpTypeInt", _) => match literal.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => literal.parse::<i128>().ok().map(|value| value as u64 & mask),
        },
        ("OpTypeFloat", 32) => float(literal).map(|value| u64::from((value as f32).to_bits())),
        ("OpTypeFloat", 64) => float(literal).map(f64::to_bits),
        _ => None,
    }
}

/// A decimal or hexadecimal float, as the disassembler writes them.
fn float(literal: &str) -> Option<f64> {
    let (sign, digits) = match literal.strip_prefix('-') {
        Some(digits) => (-1.0, digits),
        None => (1.0, literal),
    };
    let Some(digits) = digits.strip_prefix("0x") else { return literal.parse().ok() };
    let (mantissa, exponent) = digits.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let number = u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok()?;
    let exponent = exponent.parse::<i32>().ok()? - 4 * i32::try_from(fraction.len()).ok()?;
    Some(sign * number as f64 * f64::from(exponent).exp2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_have_their_bits() {
        assert_eq!(bits("OpTypeInt", 32, "-1"), Some(0xffff_ffff));
        assert_eq!(bits("OpTypeInt", 16, "0x1f"), Some(31));
        assert_eq!(bits("OpTypeFloat", 32, "0.5"), Some(u64::from(0.5_f32.to_bits())));
        let third = f32::from_bits(0x3eaa_aaab);
        assert_eq!(bits("OpTypeFloat", 32, "0x1.555556p-2"), Some(u64::from(third.to_bits())));
        assert_eq!(bits("OpTypeFloat", 64, "-0x1p+3"), Some((-8.0_f64).to_bits()));
        assert_eq!(bits("OpTypeFloat", 16, "1"), None);
    }
}

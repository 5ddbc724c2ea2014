//! Operands at which instructions change their ways.

use super::case::Lane;
use super::text::Type;

/// The mask of the low bits.
pub fn mask(width: u8) -> u64 {
    u64::MAX >> (64 - u32::from(width))
}

/// Integers of this width.
pub fn integers(width: u8) -> Vec<u64> {
    let top = 1_u64 << (width - 1);
    let mut values = vec![
        0,
        1,
        2,
        3,
        7,
        mask(width),
        mask(width) - 1,
        top,
        top - 1,
        top + 1,
        0x5555_5555_5555_5555 & mask(width),
        0xdead_beef_1234_9786 & mask(width),
        u64::from(width),
        u64::from(width) - 1,
    ];
    values.sort_unstable();
    values.dedup();
    values
}

/// Sign, exponent and significand bits of a float format.
pub fn format(width: u8) -> (u64, u64, u64) {
    match width {
        16 => (0x8000, 0x7c00, 0x3ff),
        32 => (0x8000_0000, 0x7f80_0000, 0x7f_ffff),
        _ => (1 << 63, 0x7ff << 52, (1 << 52) - 1),
    }
}

pub fn is_denormal(width: u8, bits: u64) -> bool {
    let (_, exponent, significand) = format(width);
    bits & exponent == 0 && bits & significand != 0
}

pub fn is_nan(width: u8, bits: u64) -> bool {
    let (_, exponent, significand) = format(width);
    bits & exponent == exponent && bits & significand != 0
}

/// The bits of the float nearest to a value that is far from the format's limits.
pub fn float(width: u8, value: f64) -> u64 {
    match width {
        16 => {
            let single = (value as f32).to_bits();
            let sign = (single >> 16) & 0x8000;
            if value == 0.0 {
                return u64::from(sign);
            }
            let exponent = ((single >> 23) & 0xff) as i32 - 127 + 15;
            assert!((1..31).contains(&exponent), "{value} as a normal 16-bit float");
            u64::from(sign | ((exponent as u32) << 10) | ((single >> 13) & 0x3ff))
        }
        32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

/// Floats of this width that arithmetic likes to get wrong.
pub fn floats(width: u8) -> Vec<u64> {
    let (sign, exponent, significand) = format(width);
    let unit = significand + 1;
    let mut values: Vec<u64> =
        [0.0, 1.0, 0.5, 1.5, 2.5, 3.0, 0.1, 7.75, 100.0, 1024.0].iter().map(|v| float(width, *v)).collect();
    values.extend([
        // The neighbours of 1, the largest, the smallest normal, denormals.
        float(width, 1.0) + 1,
        float(width, 1.0) - 1,
        exponent - 1,
        unit,
        significand,
        1,
        exponent,
        exponent | unit >> 1,
    ]);
    // Half an ulp of 1: ties.
    let half_ulp = float(width, 1.0) - (u64::from(significand.count_ones()) + 1) * unit;
    values.push(half_ulp);
    let negative: Vec<u64> = values.iter().map(|bits| bits | sign).collect();
    values.extend(negative);
    values
}

/// A few of them, for operations with many operands.
pub fn few_floats(width: u8) -> Vec<u64> {
    let (sign, exponent, significand) = format(width);
    let mut values: Vec<u64> =
        [0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 0.1].iter().map(|v| float(width, *v)).collect();
    values.extend([sign, exponent, exponent | sign, exponent | (significand + 1) >> 1, significand + 1]);
    values
}

/// Small integers and halves: sums and products of a few are exact.
pub fn exact_floats(width: u8) -> Vec<u64> {
    [0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1.5, -4.0].iter().map(|v| float(width, *v)).collect()
}

/// One value a combination.
pub fn singles(values: &[u64]) -> Vec<Vec<u64>> {
    values.iter().map(|value| vec![*value]).collect()
}

/// Every combination of one value from each list.
pub fn combinations(lists: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for list in lists {
        all = all
            .iter()
            .flat_map(|start: &Vec<u64>| list.iter().map(move |value| [&start[..], &[*value]].concat()))
            .collect();
    }
    all
}

/// Every `n`-th, where there would be more than `most`.
pub fn thin<T: Clone>(values: Vec<T>, most: usize) -> Vec<T> {
    let step = values.len().div_ceil(most).max(1);
    // A step that shares a factor with the lists' lengths would skip some values altogether.
    let step = if step.is_multiple_of(2) { step + 1 } else { step };
    if values.len() <= most {
        return values;
    }
    values.into_iter().step_by(step).collect()
}

/// Lanes from combinations, one value per operand: vectors take the combinations in turn, so that each
/// component sees others; scalars beside them take that of the first component.
pub fn lanes(types: &[Type], combinations: &[Vec<u64>]) -> Vec<Lane> {
    let widest = types.iter().map(|ty| ty.count).max().unwrap_or(1) as usize;
    let count = combinations.len();
    (0..count.div_ceil(widest))
        .map(|lane| {
            types
                .iter()
                .enumerate()
                .map(|(operand, ty)| {
                    (0..ty.count as usize)
                        .map(|component| combinations[(lane * widest + component) % count][operand])
                        .collect()
                })
                .collect()
        })
        .collect()
}

//! Integer instructions.

use super::case::Case;
use super::text::{Scalar, Text, Type};
use super::tolerance::Tolerance;
use super::values::{combinations, integers, lanes, singles, thin};

const WIDTHS: [u8; 4] = [8, 16, 32, 64];

/// A case of one instruction whose operands are all values.
pub fn plain(opcode: &'static str, operands: &[Type], result: Type, values: &[Vec<u64>]) -> Case {
    let signature: Vec<String> = operands.iter().map(ToString::to_string).collect();
    Case {
        name: format!("{opcode} {} -> {result}", signature.join(" ")),
        operands: operands.to_vec(),
        results: vec![result],
        lanes: lanes(operands, values),
        tolerance: Tolerance::Exact,
        body: Box::new(move |text: &mut Text, ids: &[String]| {
            let ty = text.ty(result);
            vec![text.op(&ty, opcode, &ids.join(" "))]
        }),
    }
}

/// Component-wise integer instructions on every width and vector size.
pub fn arithmetic() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in WIDTHS {
        let signed = Scalar::Signed(width);
        let unsigned = Scalar::Unsigned(width);
        let values = integers(width);
        let pairs = combinations(&[values.clone(), values.clone()]);
        let least = 1_u64 << (width - 1);
        let minus_one = super::values::mask(width);
        let divisible: Vec<_> = pairs.iter().filter(|pair| pair[1] != 0).cloned().collect();
        // The quotient of the least number and -1 does not fit.
        let is_signed_divisible = |pair: &&Vec<u64>| !(pair[0] == least && pair[1] == minus_one);
        let signed_divisible: Vec<_> = divisible.iter().filter(is_signed_divisible).cloned().collect();
        for count in 1..=4 {
            for opcode in ["OpIAdd", "OpISub", "OpIMul", "OpBitwiseOr", "OpBitwiseXor", "OpBitwiseAnd"] {
                let ty = Type::new(if count % 2 == 0 { signed } else { unsigned }, count);
                cases.push(plain(opcode, &[ty, ty], ty, &pairs));
            }
            let ty = Type::new(unsigned, count);
            for opcode in ["OpUDiv", "OpUMod"] {
                cases.push(plain(opcode, &[ty, ty], ty, &divisible));
            }
            let ty = Type::new(signed, count);
            for opcode in ["OpSDiv", "OpSRem", "OpSMod"] {
                cases.push(plain(opcode, &[ty, ty], ty, &signed_divisible));
            }
            for opcode in ["OpSNegate", "OpNot"] {
                cases.push(plain(opcode, &[ty], ty, &singles(&values)));
            }
        }
    }
    cases
}

/// Comparisons on every width and vector size.
pub fn comparisons() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in WIDTHS {
        let values = integers(width);
        let pairs = combinations(&[values.clone(), values]);
        for count in 1..=4 {
            for opcode in [
                "OpIEqual",
                "OpINotEqual",
                "OpUGreaterThan",
                "OpSGreaterThan",
                "OpUGreaterThanEqual",
                "OpSGreaterThanEqual",
                "OpULessThan",
                "OpSLessThan",
                "OpULessThanEqual",
                "OpSLessThanEqual",
            ] {
                let ty = Type::new(Scalar::Signed(width), count);
                cases.push(plain(opcode, &[ty, ty], Type::bools(count), &pairs));
            }
        }
    }
    cases
}

/// Shifts, with shift amounts of every width.
pub fn shifts() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in WIDTHS {
        for shift_width in WIDTHS {
            let amounts: Vec<u64> = [0, 1, 5, u64::from(width) / 2, u64::from(width) - 1].to_vec();
            let pairs = combinations(&[integers(width), amounts]);
            for count in 1..=4 {
                if shift_width != width && count != 1 + u32::from(shift_width).ilog2() % 4 {
                    continue;
                }
                let shift = Type::new(Scalar::Unsigned(shift_width), count);
                for opcode in ["OpShiftRightLogical", "OpShiftRightArithmetic", "OpShiftLeftLogical"] {
                    let ty = Type::new(Scalar::Signed(width), count);
                    cases.push(plain(opcode, &[ty, shift], ty, &pairs));
                }
            }
        }
    }
    cases
}

/// Bit counts, reversal and fields, which Vulkan has for 32 bits only.
pub fn bits() -> Vec<Case> {
    let mut cases = Vec::new();
    let width = 32;
    let values = integers(width);
    let fields: Vec<[u64; 2]> = (0..=32)
        .flat_map(|offset| (0..=32 - offset).map(move |count| [offset, count]))
        .filter(|[offset, count]| {
            [0, 1, 5, 16, 31, 32].contains(offset) && [0, 1, 4, 15, 16, 31, 32].contains(count)
        })
        .collect();
    for count in 1..=4 {
        let ty = Type::new(Scalar::Signed(width), count);
        let unsigned = Type::new(Scalar::Unsigned(width), count);
        let place = Type::new(Scalar::Unsigned(32), 1);
        for opcode in ["OpBitReverse", "OpBitCount"] {
            cases.push(plain(opcode, &[ty], ty, &singles(&values)));
        }
        let extracted: Vec<Vec<u64>> = values
            .iter()
            .flat_map(|base| fields.iter().map(move |[at, size]| vec![*base, *at, *size]))
            .collect();
        // Offset and count are scalars: a field a lane.
        let extracted = spread(&extracted, count);
        cases.push(plain("OpBitFieldSExtract", &[ty, place, place], ty, &extracted));
        cases.push(plain("OpBitFieldUExtract", &[unsigned, place, place], unsigned, &extracted));
        let inserted: Vec<Vec<u64>> = values
            .iter()
            .flat_map(|base| values.iter().map(move |insert| [*base, *insert]))
            .flat_map(|[base, insert]| fields.iter().map(move |[at, size]| vec![base, insert, *at, *size]))
            .collect();
        let inserted = spread(&thin(inserted, 400), count);
        cases.push(plain("OpBitFieldInsert", &[ty, ty, place, place], ty, &inserted));
    }
    cases
}

/// Repeats every combination, so that each component of a vector gets it.
fn spread(combinations: &[Vec<u64>], count: u32) -> Vec<Vec<u64>> {
    combinations.iter().flat_map(|values| std::iter::repeat_n(values.clone(), count as usize)).collect()
}

/// Instructions with two results.
pub fn extended() -> Vec<Case> {
    let values = integers(32);
    let pairs = combinations(&[values.clone(), values]);
    let mut cases = Vec::new();
    for count in 1..=4 {
        for opcode in ["OpIAddCarry", "OpISubBorrow", "OpUMulExtended", "OpSMulExtended"] {
            let scalar = if opcode == "OpSMulExtended" { Scalar::Signed(32) } else { Scalar::Unsigned(32) };
            let ty = Type::new(scalar, count);
            cases.push(Case {
                name: format!("{opcode} {ty}"),
                operands: vec![ty, ty],
                results: vec![ty, ty],
                lanes: lanes(&[ty, ty], &pairs),
                tolerance: Tolerance::Exact,
                body: Box::new(move |text, ids| {
                    let structure = text.structure(&[ty, ty]);
                    let both = text.op(&structure, opcode, &ids.join(" "));
                    let ty = text.ty(ty);
                    (0..2)
                        .map(|member| text.op(&ty, "OpCompositeExtract", &format!("{both} {member}")))
                        .collect()
                }),
            });
        }
    }
    cases
}

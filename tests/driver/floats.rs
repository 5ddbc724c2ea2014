//! Float instructions, conversions, products of vectors and matrices.

use super::case::Case;
use super::integers::plain;
use super::text::{Scalar, Type};
use super::tolerance::{value, Tolerance};
use super::values::{
    combinations, exact_floats, few_floats, float, floats, integers, lanes, mask, singles, thin,
};

const WIDTHS: [u8; 3] = [16, 32, 64];

/// Component-wise arithmetic.
pub fn arithmetic() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in WIDTHS {
        let values = floats(width);
        let pairs = thin(combinations(&[values.clone(), values.clone()]), 400);
        // Division is precise only by divisors whose inverse is a normal number.
        let has_inverse = |pair: &&Vec<u64>| {
            let divisor = value(width, pair[1]).abs();
            let most = if width == 16 { 2_f64.powi(14) } else { 2_f64.powi(126) };
            divisor <= most && divisor >= 1.0 / most
        };
        let divisible: Vec<_> = pairs.iter().filter(has_inverse).cloned().collect();
        let numbers: Vec<u64> =
            [5.3, -5.3, 7.5, -7.25, 0.25, 1.7, -0.6].iter().map(|v| float(width, *v)).collect();
        // Near a whole quotient the error of the division makes the remainder another one altogether.
        let is_steady = |pair: &&Vec<u64>| {
            let quotient = value(width, pair[0]) / value(width, pair[1]);
            (0.02..0.98).contains(&quotient.abs().fract())
        };
        let steady: Vec<_> =
            combinations(&[numbers.clone(), numbers]).iter().filter(is_steady).cloned().collect();
        for count in 1..=4 {
            let ty = Type::new(Scalar::Float(width), count);
            for opcode in ["OpFAdd", "OpFSub", "OpFMul"] {
                let rounded = Tolerance::Ulp(0.5);
                cases.push(Case { tolerance: rounded, ..plain(opcode, &[ty, ty], ty, &pairs) });
            }
            let quotient = plain("OpFDiv", &[ty, ty], ty, &divisible);
            cases.push(Case { tolerance: Tolerance::Ulp(2.5), ..quotient });
            let error = 16.0 * 2_f64.powi(if width == 16 { -10 } else { -23 });
            for opcode in ["OpFRem", "OpFMod"] {
                let case = plain(opcode, &[ty, ty], ty, &steady);
                cases.push(Case { tolerance: Tolerance::Absolute(error), ..case });
            }
            cases.push(plain("OpFNegate", &[ty], ty, &singles(&values)));
            for opcode in ["OpIsNan", "OpIsInf"] {
                cases.push(plain(opcode, &[ty], Type::bools(count), &singles(&values)));
            }
        }
    }
    cases
}

/// Comparisons.
pub fn comparisons() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in WIDTHS {
        let values = few_floats(width);
        let pairs = combinations(&[values.clone(), values]);
        for count in if width == 32 { vec![1, 2, 3, 4] } else { vec![1, 3] } {
            for opcode in [
                "OpFOrdEqual",
                "OpFUnordEqual",
                "OpFOrdNotEqual",
                "OpFUnordNotEqual",
                "OpFOrdLessThan",
                "OpFUnordLessThan",
                "OpFOrdGreaterThan",
                "OpFUnordGreaterThan",
                "OpFOrdLessThanEqual",
                "OpFUnordLessThanEqual",
                "OpFOrdGreaterThanEqual",
                "OpFUnordGreaterThanEqual",
            ] {
                let ty = Type::new(Scalar::Float(width), count);
                cases.push(plain(opcode, &[ty, ty], Type::bools(count), &pairs));
            }
        }
    }
    cases
}

/// Conversions between integers and floats of all widths, and bit casts.
pub fn conversions() -> Vec<Case> {
    let mut cases = Vec::new();
    let integer_widths = [8, 16, 32, 64];
    for (index, from) in integer_widths.into_iter().enumerate() {
        let count = 1 + index as u32;
        let values = singles(&integers(from));
        for to in integer_widths.into_iter().filter(|to| *to != from) {
            let unsigned = |width| Type::new(Scalar::Unsigned(width), count);
            let signed = |width| Type::new(Scalar::Signed(width), count);
            cases.push(plain("OpUConvert", &[unsigned(from)], unsigned(to), &values));
            cases.push(plain("OpSConvert", &[signed(from)], signed(to), &values));
        }
        for to in WIDTHS {
            let count = 1 + (count + u32::from(to).ilog2()) % 4;
            let result = Type::new(Scalar::Float(to), count);
            // 65,520 and more overflow 16 bits, in a direction that depends on the rounding.
            let fits = |values: &&Vec<u64>, signed: bool| {
                let unused = 64 - u32::from(from);
                let number = match signed {
                    true => (((values[0] << unused) as i64) >> unused) as f64,
                    false => values[0] as f64,
                };
                to != 16 || number.abs() < 65_504.0
            };
            let signed: Vec<_> = values.iter().filter(|value| fits(value, true)).cloned().collect();
            let unsigned: Vec<_> = values.iter().filter(|value| fits(value, false)).cloned().collect();
            let rounded = Tolerance::Ulp(0.5);
            let operand = Type::new(Scalar::Signed(from), count);
            cases.push(Case { tolerance: rounded, ..plain("OpConvertSToF", &[operand], result, &signed) });
            let operand = Type::new(Scalar::Unsigned(from), count);
            cases.push(Case { tolerance: rounded, ..plain("OpConvertUToF", &[operand], result, &unsigned) });
        }
    }
    for from in WIDTHS {
        for (index, to) in integer_widths.into_iter().enumerate() {
            let count = 1 + (index as u32 + u32::from(from).ilog2()) % 4;
            let operand = Type::new(Scalar::Float(from), count);
            let fits = |values: &&Vec<u64>, least: f64, most: f64| {
                let number = value(from, values[0]).trunc();
                number >= least && number < most
            };
            let power = 2_f64.powi(i32::from(to));
            let all = singles(&floats(from));
            let signed: Vec<_> =
                all.iter().filter(|value| fits(value, -power / 2.0, power / 2.0)).cloned().collect();
            let unsigned: Vec<_> = all.iter().filter(|value| fits(value, 0.0, power)).cloned().collect();
            cases.push(plain("OpConvertFToS", &[operand], Type::new(Scalar::Signed(to), count), &signed));
            cases.push(plain("OpConvertFToU", &[operand], Type::new(Scalar::Unsigned(to), count), &unsigned));
        }
        for to in WIDTHS.into_iter().filter(|to| *to != from) {
            for count in [1, 3] {
                let (operand, result) =
                    (Type::new(Scalar::Float(from), count), Type::new(Scalar::Float(to), count));
                let case = plain("OpFConvert", &[operand], result, &singles(&narrowed(from, to)));
                cases.push(Case { tolerance: Tolerance::Ulp(0.5), ..case });
            }
        }
        let (operand, result) = (Type::new(Scalar::Float(from), 2), Type::new(Scalar::Unsigned(from), 2));
        cases.push(plain("OpBitcast", &[operand], result, &singles(&floats(from))));
        cases.push(plain("OpBitcast", &[result], operand, &singles(&floats(from))));
    }
    let bits = |width: u8, count| Type::new(Scalar::Unsigned(width), count);
    for (from, to) in [
        (bits(64, 1), bits(32, 2)),
        (bits(32, 2), bits(64, 1)),
        (bits(32, 1), bits(16, 2)),
        (bits(16, 4), bits(64, 1)),
        (bits(32, 1), bits(8, 4)),
        (bits(8, 4), bits(32, 1)),
        (bits(64, 2), bits(32, 4)),
        (bits(32, 4), bits(64, 2)),
        (Type::new(Scalar::Float(64), 1), bits(32, 2)),
        (bits(32, 2), Type::new(Scalar::Float(16), 4)),
    ] {
        cases.push(plain("OpBitcast", &[from], to, &singles(&integers(from.scalar.width()))));
    }
    for count in 1..=4 {
        let ty = Type::new(Scalar::Float(32), count);
        // The sign of what is too small for 16 bits is open, which makes too many outcomes of many lanes.
        let is_kept = |bits: &u64| value(32, *bits) == 0.0 || value(32, *bits).abs() >= 2_f64.powi(-14);
        let values: Vec<u64> =
            narrowed(32, 16).into_iter().filter(|bits| !value(32, *bits).is_nan() && is_kept(bits)).collect();
        let case = plain("OpQuantizeToF16", &[ty], ty, &singles(&values));
        cases.push(Case { tolerance: Tolerance::Ulp(2_f64.powi(12)), ..case });
    }
    cases
}

/// Floats at the edges of a narrower format, and some others.
fn narrowed(from: u8, to: u8) -> Vec<u64> {
    let mut values = floats(from);
    if to < from {
        let limits = if to == 16 {
            [65_504.0, 65_519.0, 6.104e-5, 1.0 + 2_f64.powi(-11), 1.0 + 3.0 * 2_f64.powi(-11), 5.97e-8]
        } else {
            [3.4028234e38, 1e30, 1.1754944e-38, 1.0 + 2_f64.powi(-24), 1.0 + 3.0 * 2_f64.powi(-24), 1e-44]
        };
        for limit in limits {
            values.extend([float(from, limit), float(from, -limit)]);
        }
    }
    values
}

/// Products of vectors and matrices, on values that no order of additions rounds.
pub fn products() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in WIDTHS {
        let values = exact_floats(width);
        let scalar = Type::new(Scalar::Float(width), 1);
        let vector = |count| Type::new(Scalar::Float(width), count);
        let pairs = combinations(&[values.clone(), values.clone()]);
        for rows in 2..=4 {
            cases.push(plain("OpDot", &[vector(rows), vector(rows)], scalar, &pairs));
            cases.push(plain("OpVectorTimesScalar", &[vector(rows), scalar], vector(rows), &pairs));
            // Every size of 32 bits, the square ones of others.
            for columns in (2..=4).filter(|&columns| width == 32 || columns == rows) {
                cases.extend(matrices(width, rows, columns));
            }
        }
    }
    cases
}

/// The instructions on matrices of this size. Matrices are made of columns, which are operands and results.
fn matrices(width: u8, rows: u32, columns: u32) -> Vec<Case> {
    let vector = |count| Type::new(Scalar::Float(width), count);
    let (column, row) = (vector(rows), vector(columns));
    let make = |name: &'static str, operands: Vec<Type>, results: Vec<Type>, body: super::case::Body| {
        let values = exact_floats(width);
        let varied: Vec<Vec<u64>> = (0..24)
            .map(|lane| {
                (0..operands.len()).map(|i| values[(lane * 7 + i * 3 + lane / 5) % values.len()]).collect()
            })
            .collect();
        Case {
            name: format!("{name} f{width} {columns}x{rows}"),
            lanes: lanes(&operands, &varied),
            operands,
            results,
            tolerance: Tolerance::Exact,
            body,
        }
    };
    let matrix = vec![column; columns as usize];
    let with = |extra: Type| [&matrix[..], &[extra]].concat();
    let split = columns as usize;
    vec![
        make(
            "OpMatrixTimesVector",
            with(row),
            vec![column],
            Box::new(move |text, ids| {
                let ty = text.matrix(column, columns);
                let matrix = text.op(&ty, "OpCompositeConstruct", &ids[..split].join(" "));
                let result = text.ty(column);
                vec![text.op(&result, "OpMatrixTimesVector", &format!("{matrix} {}", ids[split]))]
            }),
        ),
        make(
            "OpVectorTimesMatrix",
            with(column),
            vec![row],
            Box::new(move |text, ids| {
                let ty = text.matrix(column, columns);
                let matrix = text.op(&ty, "OpCompositeConstruct", &ids[..split].join(" "));
                let result = text.ty(row);
                vec![text.op(&result, "OpVectorTimesMatrix", &format!("{} {matrix}", ids[split]))]
            }),
        ),
        make(
            "OpMatrixTimesScalar",
            with(vector(1)),
            matrix.clone(),
            Box::new(move |text, ids| {
                let ty = text.matrix(column, columns);
                let matrix = text.op(&ty, "OpCompositeConstruct", &ids[..split].join(" "));
                let product = text.op(&ty, "OpMatrixTimesScalar", &format!("{matrix} {}", ids[split]));
                columns_of(text, column, columns, &product)
            }),
        ),
        make(
            "OpTranspose",
            matrix.clone(),
            vec![row; rows as usize],
            Box::new(move |text, ids| {
                let ty = text.matrix(column, columns);
                let matrix = text.op(&ty, "OpCompositeConstruct", &ids.join(" "));
                let ty = text.matrix(row, rows);
                let transposed = text.op(&ty, "OpTranspose", &matrix);
                columns_of(text, row, rows, &transposed)
            }),
        ),
        make(
            "OpOuterProduct",
            vec![column, row],
            matrix.clone(),
            Box::new(move |text, ids| {
                let ty = text.matrix(column, columns);
                let product = text.op(&ty, "OpOuterProduct", &ids.join(" "));
                columns_of(text, column, columns, &product)
            }),
        ),
        // The right operand is the left one transposed, which gives columns of `rows`, `rows` of them.
        make(
            "OpMatrixTimesMatrix",
            matrix.clone(),
            vec![column; rows as usize],
            Box::new(move |text, ids| {
                let ty = text.matrix(column, columns);
                let matrix = text.op(&ty, "OpCompositeConstruct", &ids.join(" "));
                let ty = text.matrix(row, rows);
                let transposed = text.op(&ty, "OpTranspose", &matrix);
                let ty = text.matrix(column, rows);
                let product = text.op(&ty, "OpMatrixTimesMatrix", &format!("{matrix} {transposed}"));
                columns_of(text, column, rows, &product)
            }),
        ),
    ]
}

fn columns_of(text: &mut super::text::Text, column: Type, columns: u32, matrix: &str) -> Vec<String> {
    let ty = text.ty(column);
    (0..columns).map(|index| text.op(&ty, "OpCompositeExtract", &format!("{matrix} {index}"))).collect()
}

/// Integer dot products of vectors, and of packed ones.
pub fn integer_dots() -> Vec<Case> {
    let mut cases = Vec::new();
    let signs = [("OpSDot", true, true), ("OpUDot", false, false), ("OpSUDot", true, false)];
    for (opcode, a_signed, b_signed) in signs {
        let scalar = |width, signed| if signed { Scalar::Signed(width) } else { Scalar::Unsigned(width) };
        let saturating: &'static str = match opcode {
            "OpSDot" => "OpSDotAccSat",
            "OpUDot" => "OpUDotAccSat",
            _ => "OpSUDotAccSat",
        };
        let result_signed = a_signed || b_signed;
        for (width, count, result) in [
            (8, 2, 8),
            (8, 4, 32),
            (8, 3, 16),
            (16, 2, 32),
            (16, 4, 64),
            (32, 2, 32),
            (32, 3, 64),
            (64, 2, 64),
        ] {
            let a = Type::new(scalar(width, a_signed), count);
            let b = Type::new(scalar(width, b_signed), count);
            let result = Type::new(scalar(result, result_signed), 1);
            let values = integers(width);
            let pairs = combinations(&[values.clone(), values.clone()]);
            let capability =
                if width == 8 && count == 4 { "DotProductInput4x8Bit" } else { "DotProductInputAll" };
            cases.push(dot(opcode, capability, &[a, b], result, &pairs, ""));
            let accumulators = integers(result.scalar.width());
            let triples = thin(combinations(&[values.clone(), values, accumulators]), 300);
            cases.push(dot(saturating, capability, &[a, b, result], result, &triples, ""));
        }
        let packed = Type::new(scalar(32, result_signed), 1);
        let pairs = combinations(&[integers(32), integers(32)]);
        let capability = "DotProductInput4x8BitPacked";
        cases.push(dot(opcode, capability, &[packed, packed], packed, &pairs, "PackedVectorFormat4x8Bit"));
        let triples = thin(combinations(&[integers(32), integers(32), integers(32)]), 300);
        let operands = [packed, packed, packed];
        cases.push(dot(saturating, capability, &operands, packed, &triples, "PackedVectorFormat4x8Bit"));
    }
    cases
}

fn dot(
    opcode: &'static str,
    capability: &'static str,
    operands: &[Type],
    result: Type,
    values: &[Vec<u64>],
    format: &'static str,
) -> Case {
    let values: Vec<Vec<u64>> = values
        .iter()
        .map(|values| values.iter().zip(operands).map(|(v, ty)| v & mask(ty.scalar.width())).collect())
        .collect();
    let case = plain(opcode, operands, result, &values);
    let name = format!("{} {format}", case.name);
    let body = Box::new(move |text: &mut super::text::Text, ids: &[String]| {
        text.capability("DotProduct");
        text.capability(capability);
        let ty = text.ty(result);
        vec![text.op(&ty, opcode, &format!("{} {format}", ids.join(" ")))]
    });
    Case { name, body, ..case }
}

//! GLSL.std.450: every instruction but those on interpolants, which compute modules don't have.
//!
//! Errors are those of the Vulkan specification, "Precision of GLSL.std.450 Instructions"; where a result
//! is inherited from a formula, what the formula's operations permit at these operands, rounded up.

use super::case::{Body, Case, Lane};
use super::text::{Scalar, Text, Type, F32, I32, U32};
use super::tolerance::Tolerance;
use super::values::{combinations, few_floats, float, floats, integers, lanes, singles, thin};

fn case(
    name: &str,
    operands: &[Type],
    results: Vec<Type>,
    values: &[Vec<u64>],
    tolerance: Tolerance,
    body: Body,
) -> Case {
    let signature: Vec<String> = operands.iter().map(ToString::to_string).collect();
    Case {
        name: format!("{name} {}", signature.join(" ")),
        lanes: lanes(operands, values),
        operands: operands.to_vec(),
        results,
        tolerance,
        body,
    }
}

/// Appends an extended instruction.
fn extended(text: &mut Text, result: &str, name: &str, operands: &[String]) -> String {
    let set = text.import("GLSL.std.450");
    text.op(result, "OpExtInst", &format!("{set} {name} {}", operands.join(" ")))
}

/// An instruction whose operands and result are values.
fn plain(
    name: &'static str,
    operands: &[Type],
    result: Type,
    values: &[Vec<u64>],
    tolerance: Tolerance,
) -> Case {
    let body = Box::new(move |text: &mut Text, ids: &[String]| {
        let ty = text.ty(result);
        vec![extended(text, &ty, name, ids)]
    });
    case(name, operands, vec![result], values, tolerance, body)
}

/// Trunc of doubles, on these lanes.
pub fn trunc(lanes: Vec<Lane>) -> Case {
    let double = Type::new(Scalar::Float(64), 1);
    Case { lanes, ..plain("Trunc", &[double], double, &[], Tolerance::Exact) }
}

fn as_floats(width: u8, values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| float(width, *value)).collect()
}

fn epsilon(width: u8) -> f64 {
    match width {
        16 => 2_f64.powi(-10),
        32 => 2_f64.powi(-23),
        // Doubles need be no more precise than singles.
        _ => 2_f64.powi(-23),
    }
}

/// Units in the last place of the format that an error of singles amounts to.
fn ulp(width: u8, single: f64) -> Tolerance {
    Tolerance::Ulp(if width == 64 { single * 2_f64.powi(29) } else { single })
}

/// Instructions whose results are exact or correctly rounded.
pub fn exact() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [16, 32, 64] {
        let all = floats(width);
        let few = few_floats(width);
        let pairs = combinations(&[few.clone(), few.clone()]);
        let numbers: Vec<u64> = as_floats(width, &[-3.0, -1.0, -0.5, 0.5, 1.0, 2.0, 7.75]);
        let ordered: Vec<Vec<u64>> = combinations(&[few.clone(), numbers.clone(), numbers.clone()])
            .into_iter()
            .filter(|values| {
                super::tolerance::value(width, values[1]) <= super::tolerance::value(width, values[2])
            })
            .collect();
        let ordered = thin(ordered, 160);
        for count in if width == 32 { vec![1, 2, 3, 4] } else { vec![1, 3] } {
            let ty = Type::new(Scalar::Float(width), count);
            for name in ["Round", "RoundEven", "Trunc", "FAbs", "FSign", "Floor", "Ceil", "Fract"] {
                cases.push(plain(name, &[ty], ty, &singles(&all), Tolerance::Exact));
            }
            // They take zeros for equal: which of two zeros is the result is not compared.
            for name in ["FMin", "FMax", "NMin", "NMax"] {
                cases.push(plain(name, &[ty, ty], ty, &pairs, Tolerance::UpToSignOfZero));
            }
            cases.push(plain("Step", &[ty, ty], ty, &pairs, Tolerance::Exact));
            for name in ["FClamp", "NClamp"] {
                cases.push(plain(name, &[ty, ty, ty], ty, &ordered, Tolerance::UpToSignOfZero));
            }
        }
    }
    for width in [8, 16, 32, 64] {
        let values = integers(width);
        let pairs = thin(combinations(&[values.clone(), values.clone()]), 100);
        let triples = combinations(&[values.clone(), values.clone(), values.clone()]);
        let sign = |bits: u64| ((bits << (64 - width)) as i64) >> (64 - width);
        let signed: Vec<_> = triples.iter().filter(|v| sign(v[1]) <= sign(v[2])).cloned().collect();
        let unsigned: Vec<_> = triples.iter().filter(|v| v[1] <= v[2]).cloned().collect();
        for count in [1, 3] {
            let (i, u) = (Type::new(Scalar::Signed(width), count), Type::new(Scalar::Unsigned(width), count));
            for name in ["SAbs", "SSign"] {
                cases.push(plain(name, &[i], i, &singles(&values), Tolerance::Exact));
            }
            for name in ["SMin", "SMax"] {
                cases.push(plain(name, &[i, i], i, &pairs, Tolerance::Exact));
            }
            for name in ["UMin", "UMax"] {
                cases.push(plain(name, &[u, u], u, &pairs, Tolerance::Exact));
            }
            cases.push(plain("SClamp", &[i, i, i], i, &thin(signed.clone(), 100), Tolerance::Exact));
            cases.push(plain("UClamp", &[u, u, u], u, &thin(unsigned.clone(), 100), Tolerance::Exact));
        }
    }
    let (values, powers): (Vec<u64>, Vec<u64>) =
        (integers(32), (0..32).flat_map(|bit| [1 << bit, !(1 << bit) & 0xffff_ffff]).collect());
    let values = singles(&[values, powers].concat());
    for count in 1..=4 {
        let (i, u) = (Type::new(I32, count), Type::new(U32, count));
        cases.push(plain("FindILsb", &[u], i, &values, Tolerance::Exact));
        cases.push(plain("FindSMsb", &[i], i, &values, Tolerance::Exact));
        cases.push(plain("FindUMsb", &[u], i, &values, Tolerance::Exact));
    }
    cases
}

/// Exponentials, logarithms, powers, roots and angles.
pub fn approximate() -> Vec<Case> {
    let mut cases = Vec::new();
    let turn = [0.0, 0.1, -0.1, 0.5, -0.7, 1.0, -1.5, 2.0, 3.0, -3.1];
    let small = [0.0, 0.25, -0.25, 0.5, -1.0, 1.5, 2.0, -3.0, 4.0, -4.5];
    let unit = [0.0, 0.1, -0.1, 0.3, -0.5, 0.75, -0.9, 0.99];
    let positive = [0.01, 0.25, 0.6, 0.9, 1.0, 1.3, 2.0, 3.5, 10.0, 1000.0];
    for width in [16, 32] {
        let error = epsilon(width);
        let waves = Tolerance::Absolute(if width == 16 { 2_f64.powi(-7) } else { 2_f64.powi(-11) });
        let (angle_ulp, angle_error) =
            if width == 16 { (5.0, 8.0 * error) } else { (4096.0, 4096.0 * error) };
        let logarithm =
            Tolerance::AbsoluteOrUlp(if width == 16 { 2_f64.powi(-7) } else { 2_f64.powi(-21) }, 3.0);
        let rows: [(&'static str, &[f64], Tolerance); 23] = [
            ("Sin", &turn, waves),
            ("Cos", &turn, waves),
            // A quotient of two such waves, where the cosine is at least 0.07 or the error is relative to it.
            (
                "Tan",
                &[0.0, 0.1, -0.1, 0.5, -0.7, 1.0],
                Tolerance::Absolute(if width == 16 { 0.08 } else { 0.004 }),
            ),
            ("Asin", &unit, Tolerance::AbsoluteOrUlp(2.0 * angle_error, angle_ulp)),
            ("Acos", &unit, Tolerance::AbsoluteOrUlp(2.0 * angle_error, angle_ulp)),
            ("Atan", &small, Tolerance::Ulp(angle_ulp)),
            ("Sinh", &small, Tolerance::AbsoluteOrUlp(20.0 * error, 16.0)),
            ("Cosh", &small, Tolerance::AbsoluteOrUlp(20.0 * error, 16.0)),
            ("Tanh", &small, Tolerance::AbsoluteOrUlp(20.0 * error, 36.0)),
            ("Asinh", &small, Tolerance::Absolute(64.0 * error)),
            ("Acosh", &[1.0, 1.5, 2.0, 5.0, 40.0], Tolerance::Absolute(64.0 * error)),
            ("Atanh", &unit, Tolerance::Absolute(200.0 * error)),
            ("Exp", &small, Tolerance::Ulp(3.0 + 2.0 * 4.5)),
            ("Exp2", &small, Tolerance::Ulp(3.0 + 2.0 * 4.5)),
            ("Log", &positive, logarithm),
            ("Log2", &positive, logarithm),
            ("Sqrt", &positive, Tolerance::Ulp(2.0 + 2.5)),
            ("InverseSqrt", &positive, Tolerance::Ulp(2.0)),
            ("Radians", &small, Tolerance::Ulp(2.0)),
            ("Degrees", &small, Tolerance::Ulp(2.0)),
            ("Sqrt", &[0.0, 4.0, 9.0, 0.25], Tolerance::Ulp(2.0 + 2.5)),
            ("Exp", &[0.0, -0.0], Tolerance::Ulp(3.0)),
            ("Tanh", &[8.0, -8.0], Tolerance::Ulp(36.0)),
        ];
        for (row, (name, values, tolerance)) in rows.into_iter().enumerate() {
            for count in [1, 2 + row as u32 % 3] {
                let ty = Type::new(Scalar::Float(width), count);
                cases.push(plain(name, &[ty], ty, &singles(&as_floats(width, values)), tolerance));
            }
        }
        for count in 1..=4 {
            let ty = Type::new(Scalar::Float(width), count);
            // Vulkan leaves atan2 open where both operands are zeros.
            let angles: Vec<_> = combinations(&[as_floats(width, &small), as_floats(width, &small)])
                .into_iter()
                .filter(|pair| pair[0] != 0 || pair[1] != 0)
                .collect();
            cases.push(plain(
                "Atan2",
                &[ty, ty],
                ty,
                &angles,
                Tolerance::AbsoluteOrUlp(angle_error, angle_ulp),
            ));
            // exp2(y · log2(x)): the error of the product counts as many times as it is large.
            let powers =
                combinations(&[as_floats(width, &[0.5, 0.9, 1.0, 1.5, 2.0, 3.0]), as_floats(width, &small)]);
            cases.push(plain(
                "Pow",
                &[ty, ty],
                ty,
                &powers,
                Tolerance::Ulp(if width == 16 { 96.0 } else { 40.0 }),
            ));
        }
    }
    for width in [16, 32, 64] {
        let error = epsilon(width);
        for count in 1..=4 {
            let ty = Type::new(Scalar::Float(width), count);
            let triples = combinations(&[
                as_floats(width, &small),
                as_floats(width, &[-2.5, 0.1, 3.0]),
                as_floats(width, &[0.0, 0.3, 1.0]),
            ]);
            cases.push(plain(
                "FMix",
                &[ty, ty, ty],
                ty,
                &triples,
                Tolerance::AbsoluteOrUlp(12.0 * error, 2.0),
            ));
            cases.push(plain(
                "Fma",
                &[ty, ty, ty],
                ty,
                &triples,
                Tolerance::AbsoluteOrUlp(16.0 * error, 1.0),
            ));
            let steps = combinations(&[
                as_floats(width, &[-1.0, 0.0]),
                as_floats(width, &[0.5, 2.0]),
                as_floats(width, &small),
            ]);
            let smooth = Tolerance::AbsoluteOrUlp(16.0 * error, 8.0);
            cases.push(plain("SmoothStep", &[ty, ty, ty], ty, &steps, smooth));
        }
        if width == 64 {
            let ty = Type::new(Scalar::Float(64), 2);
            let values = singles(&as_floats(64, &positive));
            cases.push(plain("Sqrt", &[ty], ty, &values, ulp(64, 4.5)));
            cases.push(plain("InverseSqrt", &[ty], ty, &values, ulp(64, 2.0)));
        }
    }
    cases
}

/// Packing and unpacking.
pub fn packing() -> Vec<Case> {
    let mut cases = Vec::new();
    let normal = [0.0, 1.0, -1.0, 0.5, -0.5, 0.25, 2.0, -3.0, 0.1, 0.7];
    let values = singles(&as_floats(32, &normal));
    let word = Type::new(U32, 1);
    let vector = |count| Type::new(F32, count);
    for (name, count) in
        [("PackSnorm4x8", 4), ("PackUnorm4x8", 4), ("PackSnorm2x16", 2), ("PackUnorm2x16", 2)]
    {
        cases.push(plain(name, &[vector(count)], word, &values, Tolerance::Exact));
    }
    let halves = [0.0, 1.0, -1.5, 0.1, 100.0, 65_504.0, 1024.5, 6.2e-5];
    cases.push(plain(
        "PackHalf2x16",
        &[vector(2)],
        word,
        &singles(&as_floats(32, &halves)),
        Tolerance::Exact,
    ));
    let words = singles(&[integers(32), vec![0x3c00_0001, 0x7c00_fc00, 0x0400_7bff, 0x8080_7f81]].concat());
    for (name, count) in [
        ("UnpackSnorm4x8", 4),
        ("UnpackUnorm4x8", 4),
        ("UnpackSnorm2x16", 2),
        ("UnpackUnorm2x16", 2),
        ("UnpackHalf2x16", 2),
    ] {
        cases.push(plain(name, &[word], vector(count), &words, Tolerance::Ulp(2.5)));
    }
    let (double, pair) = (Type::new(Scalar::Float(64), 1), Type::new(U32, 2));
    cases.push(plain("PackDouble2x32", &[pair], double, &singles(&integers(32)), Tolerance::Exact));
    cases.push(plain("UnpackDouble2x32", &[double], pair, &singles(&floats(64)), Tolerance::Exact));
    cases
}

/// Lengths, reflections, matrices.
pub fn geometric() -> Vec<Case> {
    let mut cases = Vec::new();
    let values = [0.5, -1.0, 2.0, 1.5, -0.25, 3.0, 0.75];
    for width in [16, 32, 64] {
        let error = epsilon(width);
        let rounded = Tolerance::AbsoluteOrUlp(64.0 * error, 8.0);
        let scalar = Type::new(Scalar::Float(width), 1);
        let pairs = combinations(&[as_floats(width, &values), as_floats(width, &values)]);
        let single = singles(&as_floats(width, &values));
        for count in 1..=4 {
            let ty = Type::new(Scalar::Float(width), count);
            cases.push(plain("Length", &[ty], scalar, &single, rounded));
            cases.push(plain("Distance", &[ty, ty], scalar, &pairs, rounded));
            cases.push(plain("Normalize", &[ty], ty, &single, rounded));
            let triples = thin(
                combinations(&[
                    as_floats(width, &values),
                    as_floats(width, &values),
                    as_floats(width, &values),
                ]),
                64,
            );
            cases.push(plain("FaceForward", &[ty, ty, ty], ty, &triples, Tolerance::Exact));
            cases.push(plain("Reflect", &[ty, ty], ty, &pairs, Tolerance::AbsoluteOrUlp(256.0 * error, 8.0)));
            // Ratios of refraction that keep the radicand away from zero.
            let refracted: Vec<Vec<u64>> = combinations(&[
                as_floats(width, &[0.1, -0.2, 0.3]),
                as_floats(width, &[0.4, 0.3]),
                as_floats(width, &[0.5, 0.25, 8.0]),
            ]);
            let ratio = if width == 64 { Scalar::Float(64) } else { Scalar::Float(width) };
            let operands = [ty, ty, Type::new(ratio, 1)];
            cases.push(plain(
                "Refract",
                &operands,
                ty,
                &refracted,
                Tolerance::AbsoluteOrUlp(256.0 * error, 16.0),
            ));
        }
        let three = Type::new(Scalar::Float(width), 3);
        cases.push(plain(
            "Cross",
            &[three, three],
            three,
            &pairs,
            Tolerance::AbsoluteOrUlp(32.0 * error, 2.0),
        ));
        for size in 2..=4 {
            cases.extend(square(width, size));
        }
    }
    cases
}

/// Determinant and inverse of well-conditioned matrices.
fn square(width: u8, size: u32) -> Vec<Case> {
    let column = Type::new(Scalar::Float(width), size);
    let operands = vec![column; size as usize];
    let lanes: Vec<Vec<Vec<u64>>> = (0..12_u32)
        .map(|lane| {
            (0..size)
                .map(|x| {
                    (0..size)
                        .map(|y| {
                            let small = f64::from((lane * 5 + x * 3 + y * 7) % 8) * 0.25 - 1.0;
                            float(width, if x == y { small + 6.0 } else { small })
                        })
                        .collect()
                })
                .collect()
        })
        .collect();
    let error = epsilon(width);
    let make = move |text: &mut Text, ids: &[String]| {
        let ty = text.matrix(column, size);
        (ty.clone(), text.op(&ty, "OpCompositeConstruct", &ids.join(" ")))
    };
    vec![
        Case {
            name: format!("Determinant f{width} {size}"),
            operands: operands.clone(),
            results: vec![Type::new(Scalar::Float(width), 1)],
            lanes: lanes.clone(),
            tolerance: Tolerance::Absolute(8192.0 * error),
            body: Box::new(move |text, ids| {
                let (_, matrix) = make(text, ids);
                let ty = text.ty(column.scalar);
                vec![extended(text, &ty, "Determinant", &[matrix])]
            }),
        },
        Case {
            name: format!("MatrixInverse f{width} {size}"),
            operands: operands.clone(),
            results: operands,
            lanes,
            tolerance: Tolerance::Absolute(64.0 * error),
            body: Box::new(move |text, ids| {
                let (ty, matrix) = make(text, ids);
                let inverse = extended(text, &ty, "MatrixInverse", &[matrix]);
                let column = text.ty(column);
                (0..size)
                    .map(|index| text.op(&column, "OpCompositeExtract", &format!("{inverse} {index}")))
                    .collect()
            }),
        },
    ]
}

/// Instructions with two results, as a struct and through a pointer, and OpLdexp's relatives.
pub fn parts() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [16, 32, 64] {
        let (sign, exponent, _) = super::values::format(width);
        let finite: Vec<u64> = floats(width).into_iter().filter(|bits| bits & exponent != exponent).collect();
        let whole: Vec<u64> = [floats(width), vec![exponent, exponent | sign]].concat();
        for count in 1..=4 {
            let ty = Type::new(Scalar::Float(width), count);
            let exponents = Type::new(I32, count);
            cases.extend(two_results("Modf", "ModfStruct", ty, ty, &singles(&whole)));
            cases.extend(two_results("Frexp", "FrexpStruct", ty, exponents, &singles(&finite)));
            let shifts: Vec<u64> =
                [0_i32, 1, -1, 5, -7, 14].iter().map(|shift| u64::from(*shift as u32)).collect();
            let numbers = as_floats(width, &[1.0, -1.5, 0.75, 3.0, 0.0]);
            let scaled = combinations(&[numbers, shifts]);
            cases.push(plain("Ldexp", &[ty, exponents], ty, &scaled, Tolerance::Ulp(0.5)));
        }
    }
    cases
}

fn two_results(
    pointer: &'static str,
    structure: &'static str,
    ty: Type,
    second: Type,
    values: &[Vec<u64>],
) -> [Case; 2] {
    let through = Box::new(move |text: &mut Text, ids: &[String]| {
        let (first, pointee) = (text.ty(ty), text.ty(second));
        let variable = text.variable("Private", &pointee);
        let result = extended(text, &first, pointer, &[ids[0].clone(), variable.clone()]);
        let other = text.op(&pointee, "OpLoad", &variable);
        vec![result, other]
    });
    let whole = Box::new(move |text: &mut Text, ids: &[String]| {
        let both = text.structure(&[ty, second]);
        let result = extended(text, &both, structure, ids);
        let (first, other) = (text.ty(ty), text.ty(second));
        vec![
            text.op(&first, "OpCompositeExtract", &format!("{result} 0")),
            text.op(&other, "OpCompositeExtract", &format!("{result} 1")),
        ]
    });
    [
        case(pointer, &[ty], vec![ty, second], values, Tolerance::Exact, through),
        case(structure, &[ty], vec![ty, second], values, Tolerance::Exact, whole),
    ]
}

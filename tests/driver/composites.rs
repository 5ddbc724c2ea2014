//! Composites, selections, logic.

use super::case::{Body, Case};
use super::integers::plain;
use super::text::{Scalar, Text, Type, F32, I32, U32};
use super::tolerance::Tolerance;
use super::values::{combinations, few_floats, integers, lanes, singles, thin};

fn case(name: &str, operands: Vec<Type>, results: Vec<Type>, values: &[Vec<u64>], body: Body) -> Case {
    Case {
        name: name.to_owned(),
        lanes: lanes(&operands, values),
        operands,
        results,
        tolerance: Tolerance::Exact,
        body,
    }
}

/// Logic on bools and vectors of bools.
pub fn logic() -> Vec<Case> {
    let bits = vec![0, 1];
    let pairs = combinations(&[bits.clone(), bits.clone()]);
    let mut cases = Vec::new();
    for count in 1..=4 {
        let ty = Type::bools(count);
        for opcode in ["OpLogicalEqual", "OpLogicalNotEqual", "OpLogicalOr", "OpLogicalAnd"] {
            cases.push(plain(opcode, &[ty, ty], ty, &pairs));
        }
        cases.push(plain("OpLogicalNot", &[ty], ty, &singles(&bits)));
        if count > 1 {
            // Every vector once.
            let vectors: Vec<Vec<u64>> = (0..1_u64 << count)
                .flat_map(|vector| (0..count).map(move |component| vec![vector >> component & 1]))
                .collect();
            for opcode in ["OpAny", "OpAll"] {
                cases.push(plain(opcode, &[ty], Type::bools(1), &vectors));
            }
        }
    }
    cases
}

/// OpSelect and copies, on every kind of component.
pub fn selections() -> Vec<Case> {
    let mut cases = Vec::new();
    let scalars = [
        Scalar::Unsigned(8),
        Scalar::Signed(16),
        I32,
        Scalar::Unsigned(64),
        Scalar::Float(16),
        F32,
        Scalar::Float(64),
    ];
    for scalar in scalars {
        let values = match scalar {
            Scalar::Float(width) => few_floats(width),
            Scalar::Bool | Scalar::Unsigned(_) | Scalar::Signed(_) => integers(scalar.width()),
        };
        let triples = thin(combinations(&[vec![0, 1], values.clone(), values.clone()]), 60);
        for count in 1..=4 {
            let ty = Type::new(scalar, count);
            cases.push(plain("OpSelect", &[Type::bools(count), ty, ty], ty, &triples));
            if count > 1 {
                cases.push(plain("OpSelect", &[Type::bools(1), ty, ty], ty, &triples));
            }
            cases.push(plain("OpCopyObject", &[ty], ty, &singles(&values)));
        }
    }
    cases
}

/// Making, taking apart and shuffling vectors, structs, arrays and matrices.
pub fn composites() -> Vec<Case> {
    let mut cases = Vec::new();
    for scalar in [U32, Scalar::Unsigned(8), Scalar::Signed(16), Scalar::Float(64)] {
        let values = match scalar {
            Scalar::Float(width) => few_floats(width),
            Scalar::Bool | Scalar::Unsigned(_) | Scalar::Signed(_) => integers(scalar.width()),
        };
        let vector = move |count| Type::new(scalar, count);
        let pairs = combinations(&[values.clone(), values.clone()]);
        for count in 2..=4 {
            cases.extend(vectors(scalar, count, &pairs));
        }
        let parts = vec![vector(1), vector(2), vector(1)];
        let triples = thin(combinations(&[values.clone(), values.clone(), values.clone()]), 64);
        cases.push(case(
            &format!("OpCompositeConstruct {scalar:?} of parts"),
            parts,
            vec![vector(4)],
            &triples,
            Box::new(move |text, ids| {
                let ty = text.ty(vector(4));
                vec![text.op(&ty, "OpCompositeConstruct", &ids.join(" "))]
            }),
        ));
        cases.extend(aggregates(scalar, &triples));
    }
    cases
}

fn vectors(scalar: Scalar, count: u32, pairs: &[Vec<u64>]) -> Vec<Case> {
    let (ty, one) = (Type::new(scalar, count), Type::new(scalar, 1));
    let mut cases = Vec::new();
    let shuffles: [&'static str; 4] = match count {
        2 => ["1 0", "0 2 3 1", "3 3", "2 1 0"],
        3 => ["2 1 0", "5 0 4 1", "1 1", "3 4 5"],
        _ => ["3 2 1 0", "0 5 2 7", "7 6", "1 4 1"],
    };
    for indices in shuffles {
        let result = Type::new(scalar, indices.split(' ').count() as u32);
        let name = format!("OpVectorShuffle {ty} {indices}");
        cases.push(case(
            &name,
            vec![ty, ty],
            vec![result],
            pairs,
            Box::new(move |text, ids| {
                let ty = text.ty(result);
                vec![text.op(&ty, "OpVectorShuffle", &format!("{} {indices}", ids.join(" ")))]
            }),
        ));
    }
    let undefined = format!("OpVectorShuffle {ty} with an undefined component");
    cases.push(case(
        &undefined,
        vec![ty, ty],
        vec![ty],
        pairs,
        Box::new(move |text, ids| {
            let result = text.ty(ty);
            let indices: Vec<String> = (0..count)
                .map(|index| if index == 1 { "0xffffffff".to_owned() } else { index.to_string() })
                .collect();
            vec![text.op(&result, "OpVectorShuffle", &format!("{} {}", ids.join(" "), indices.join(" ")))]
        }),
    ));
    let indexed: Vec<Vec<u64>> = pairs
        .iter()
        .take(64)
        .enumerate()
        .flat_map(|(number, pair)| {
            let index = number as u64 % u64::from(count);
            (0..count as usize).map(move |_| vec![pair[0], pair[1], index])
        })
        .collect();
    let index = Type::new(U32, 1);
    let dynamic = format!("OpVectorExtractDynamic {ty}");
    cases.push(case(
        &dynamic,
        vec![ty, one, index],
        vec![one],
        &indexed,
        Box::new(move |text, ids| {
            let result = text.ty(one);
            vec![text.op(&result, "OpVectorExtractDynamic", &format!("{} {}", ids[0], ids[2]))]
        }),
    ));
    let dynamic = format!("OpVectorInsertDynamic {ty}");
    cases.push(case(
        &dynamic,
        vec![ty, one, index],
        vec![ty],
        &indexed,
        Box::new(move |text, ids| {
            let result = text.ty(ty);
            vec![text.op(&result, "OpVectorInsertDynamic", &ids.join(" "))]
        }),
    ));
    for position in 0..count {
        let name = format!("OpCompositeInsert {ty} {position}");
        cases.push(case(
            &name,
            vec![one, ty],
            vec![ty],
            pairs,
            Box::new(move |text, ids| {
                let result = text.ty(ty);
                vec![text.op(&result, "OpCompositeInsert", &format!("{} {position}", ids.join(" ")))]
            }),
        ));
    }
    cases
}

/// A struct of a vector, an array and a scalar.
fn aggregates(scalar: Scalar, values: &[Vec<u64>]) -> Vec<Case> {
    let (one, two) = (Type::new(scalar, 1), Type::new(scalar, 2));
    let declare = move |text: &mut Text| {
        let element = text.ty(one);
        let length = text.constant(3);
        let array = text.global(&format!("OpTypeArray {element} {length}"));
        let vector = text.ty(two);
        let uint = text.ty(U32);
        let structure = text.global(&format!("OpTypeStruct {vector} {array} {uint}"));
        (array, structure)
    };
    let operands = vec![two, one, one];
    let results = vec![one, one, two, one];
    vec![
        case(
            &format!("OpCompositeConstruct {scalar:?} nested"),
            operands.clone(),
            results.clone(),
            values,
            Box::new(move |text, ids| {
                let (array, structure) = declare(text);
                let seven = text.constant(7);
                let elements =
                    text.op(&array, "OpCompositeConstruct", &format!("{} {} {}", ids[1], ids[2], ids[1]));
                let whole =
                    text.op(&structure, "OpCompositeConstruct", &format!("{} {elements} {seven}", ids[0]));
                let whole = text.op(&structure, "OpCompositeInsert", &format!("{} {whole} 1 2", ids[2]));
                let (element, vector) = (text.ty(one), text.ty(two));
                vec![
                    text.op(&element, "OpCompositeExtract", &format!("{whole} 0 1")),
                    text.op(&element, "OpCompositeExtract", &format!("{whole} 1 2")),
                    text.op(&vector, "OpCompositeExtract", &format!("{whole} 0")),
                    text.op(&element, "OpCompositeExtract", &format!("{whole} 1 0")),
                ]
            }),
        ),
        // Nothing is known of what is left of an undefined composite.
        case(
            &format!("OpUndef {scalar:?}"),
            operands,
            results,
            values,
            Box::new(move |text, ids| {
                let (_, structure) = declare(text);
                let whole = text.op(&structure, "OpUndef", "");
                let whole = text.op(&structure, "OpCompositeInsert", &format!("{} {whole} 1 0", ids[1]));
                let (element, vector) = (text.ty(one), text.ty(two));
                vec![
                    text.op(&element, "OpCompositeExtract", &format!("{whole} 1 0")),
                    text.op(&element, "OpCompositeExtract", &format!("{whole} 1 1")),
                    text.op(&vector, "OpCompositeExtract", &format!("{whole} 0")),
                    text.op(&element, "OpCompositeExtract", &format!("{whole} 1 0")),
                ]
            }),
        ),
        case(
            &format!("OpCopyLogical {scalar:?}"),
            vec![two, one, one],
            vec![one, two],
            values,
            Box::new(move |text, ids| {
                let (array, structure) = declare(text);
                let vector = text.ty(two);
                let uint = text.ty(U32);
                // Equal members make another type all the same.
                let other = text.own_global(&format!("OpTypeStruct {vector} {array} {uint}"));
                let seven = text.constant(7);
                let elements =
                    text.op(&array, "OpCompositeConstruct", &format!("{} {} {}", ids[1], ids[2], ids[1]));
                let whole =
                    text.op(&structure, "OpCompositeConstruct", &format!("{} {elements} {seven}", ids[0]));
                let copy = text.op(&other, "OpCopyLogical", &whole);
                let element = text.ty(one);
                vec![
                    text.op(&element, "OpCompositeExtract", &format!("{copy} 1 1")),
                    text.op(&vector, "OpCompositeExtract", &format!("{copy} 0")),
                ]
            }),
        ),
    ]
}

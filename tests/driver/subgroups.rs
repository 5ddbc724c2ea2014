//! Subgroup instructions in uniform control flow: the lanes of a case are the invocations of subgroups.
//! Divergent flow is in `programs/subgroups.comp`.

use super::case::{Body, Case};
use super::text::{Scalar, Text, Type, F32, I32, U32};
use super::tolerance::Tolerance;
use super::values::{combinations, exact_floats, integers, lanes, singles};

fn case(name: String, operands: &[Type], result: Type, values: &[Vec<u64>], body: Body) -> Case {
    Case {
        name,
        operands: operands.to_vec(),
        results: vec![result],
        lanes: lanes(operands, values),
        tolerance: Tolerance::Exact,
        body,
    }
}

/// An instruction with the scope Subgroup, some literals and the operands.
fn plain(
    opcode: &'static str,
    capability: &'static str,
    literals: &'static str,
    operands: &[Type],
    result: Type,
    values: &[Vec<u64>],
) -> Case {
    let name = format!(
        "{opcode} {literals} {}",
        operands.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    );
    let body = Box::new(move |text: &mut Text, ids: &[String]| {
        text.capability("GroupNonUniform");
        text.capability(capability);
        let (scope, ty) = (text.constant(3), text.ty(result));
        vec![text.op(&ty, opcode, &format!("{scope} {literals} {}", ids.join(" ")))]
    });
    case(name, operands, result, values, body)
}

const GROUPS: [&str; 3] = ["Reduce", "InclusiveScan", "ExclusiveScan"];

/// All of them.
pub fn subgroups() -> Vec<Case> {
    let mut cases = arithmetic();
    cases.extend(moves());
    cases.extend(votes());
    cases
}

fn arithmetic() -> Vec<Case> {
    const ARITHMETIC: &str = "GroupNonUniformArithmetic";
    let mut cases = Vec::new();
    for group in GROUPS {
        for (width, count) in [(32, 1), (32, 3), (64, 1), (16, 2), (8, 1)] {
            let ty = Type::new(Scalar::Signed(width), count);
            let unsigned = Type::new(Scalar::Unsigned(width), count);
            let values = singles(&integers(width));
            for opcode in [
                "OpGroupNonUniformIAdd",
                "OpGroupNonUniformIMul",
                "OpGroupNonUniformSMin",
                "OpGroupNonUniformSMax",
                "OpGroupNonUniformBitwiseAnd",
                "OpGroupNonUniformBitwiseOr",
                "OpGroupNonUniformBitwiseXor",
            ] {
                cases.push(plain(opcode, ARITHMETIC, group, &[ty], ty, &values));
            }
            for opcode in ["OpGroupNonUniformUMin", "OpGroupNonUniformUMax"] {
                cases.push(plain(opcode, ARITHMETIC, group, &[unsigned], unsigned, &values));
            }
        }
        for (width, count) in [(32, 1), (32, 2), (64, 1)] {
            let ty = Type::new(Scalar::Float(width), count);
            // Sums and products that no order rounds.
            let values = singles(&exact_floats(width));
            for opcode in [
                "OpGroupNonUniformFAdd",
                "OpGroupNonUniformFMul",
                "OpGroupNonUniformFMin",
                "OpGroupNonUniformFMax",
            ] {
                cases.push(plain(opcode, ARITHMETIC, group, &[ty], ty, &values));
            }
        }
        let bools = Type::bools(1);
        let values: Vec<Vec<u64>> =
            [1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1].map(|bit| vec![bit]).to_vec();
        for opcode in
            ["OpGroupNonUniformLogicalAnd", "OpGroupNonUniformLogicalOr", "OpGroupNonUniformLogicalXor"]
        {
            cases.push(plain(opcode, ARITHMETIC, group, &[bools], bools, &values));
        }
    }
    cases
}

fn moves() -> Vec<Case> {
    const SHUFFLE: &str = "GroupNonUniformShuffle";
    let mut cases = Vec::new();
    let index = Type::new(U32, 1);
    for scalar in [
        U32,
        I32,
        F32,
        Scalar::Unsigned(64),
        Scalar::Unsigned(16),
        Scalar::Unsigned(8),
        Scalar::Float(64),
        Scalar::Bool,
    ] {
        for count in [1, 3] {
            let ty = Type::new(scalar, count);
            let values = match scalar {
                Scalar::Bool => vec![1, 0, 0, 1, 1, 1, 0, 1],
                Scalar::Float(width) => exact_floats(width),
                Scalar::Unsigned(width) | Scalar::Signed(width) => integers(width),
            };
            let indices: Vec<u64> = vec![3, 0, 7, 1, 6, 2];
            let pairs = combinations(&[indices, values.clone()]);
            let pairs: Vec<Vec<u64>> = pairs.iter().map(|pair| vec![pair[1], pair[0]]).collect();
            cases.push(plain("OpGroupNonUniformShuffle", SHUFFLE, "", &[ty, index], ty, &pairs));
            for (opcode, literals, capability) in [
                ("OpGroupNonUniformShuffleXor", 5, SHUFFLE),
                ("OpGroupNonUniformBroadcast", 6, "GroupNonUniformBallot"),
                ("OpGroupNonUniformQuadBroadcast", 2, "GroupNonUniformQuad"),
                ("OpGroupNonUniformQuadSwap", 0, "GroupNonUniformQuad"),
                ("OpGroupNonUniformQuadSwap", 1, "GroupNonUniformQuad"),
                ("OpGroupNonUniformQuadSwap", 2, "GroupNonUniformQuad"),
            ] {
                let body = Box::new(move |text: &mut Text, ids: &[String]| {
                    text.capability("GroupNonUniform");
                    text.capability(capability);
                    let (scope, which, ty) = (text.constant(3), text.constant(literals), text.ty(ty));
                    vec![text.op(&ty, opcode, &format!("{scope} {} {which}", ids[0]))]
                });
                cases.push(case(format!("{opcode} {literals} {ty}"), &[ty], ty, &singles(&values), body));
            }
            cases.push(plain(
                "OpGroupNonUniformBroadcastFirst",
                "GroupNonUniformBallot",
                "",
                &[ty],
                ty,
                &singles(&values),
            ));
        }
    }
    cases
}

fn votes() -> Vec<Case> {
    const BALLOT: &str = "GroupNonUniformBallot";
    const VOTE: &str = "GroupNonUniformVote";
    let bits: Vec<Vec<u64>> = (0..64_u64)
        .map(|lane| vec![[0xb4, 0xff, 0, 0x81, 0x7f, 1, 0xfe, 0x55][lane as usize / 8] >> (lane % 8) & 1])
        .collect();
    let (bools, word, ballot) = (Type::bools(1), Type::new(U32, 1), Type::new(U32, 4));
    let mut cases = vec![
        plain("OpGroupNonUniformElect", "GroupNonUniform", "", &[], bools, &vec![Vec::new(); 16]),
        plain("OpGroupNonUniformAll", VOTE, "", &[bools], bools, &bits),
        plain("OpGroupNonUniformAny", VOTE, "", &[bools], bools, &bits),
        plain("OpGroupNonUniformBallot", BALLOT, "", &[bools], ballot, &bits),
    ];
    for scalar in [U32, F32, Scalar::Unsigned(64), Scalar::Bool] {
        let ty = Type::new(scalar, 1);
        let one = match scalar {
            Scalar::Float(width) => exact_floats(width)[1],
            Scalar::Bool | Scalar::Unsigned(_) | Scalar::Signed(_) => 1,
        };
        let values: Vec<Vec<u64>> = bits.iter().map(|bit| vec![bit[0] * one]).collect();
        cases.push(plain("OpGroupNonUniformAllEqual", VOTE, "", &[ty], bools, &values));
    }
    // Bits of invocations that do not exist must not be set: the ballots are those of the subgroup.
    for (opcode, literals, extra) in [
        ("OpGroupNonUniformBallotBitCount", "Reduce", None),
        ("OpGroupNonUniformBallotBitCount", "InclusiveScan", None),
        ("OpGroupNonUniformBallotBitCount", "ExclusiveScan", None),
        ("OpGroupNonUniformBallotFindLSB", "", None),
        ("OpGroupNonUniformBallotFindMSB", "", None),
        ("OpGroupNonUniformInverseBallot", "", None),
        ("OpGroupNonUniformBallotBitExtract", "", Some(5)),
    ] {
        let result = if opcode.contains("Inverse") || opcode.contains("Extract") { bools } else { word };
        let body = Box::new(move |text: &mut Text, ids: &[String]| {
            text.capability("GroupNonUniform");
            text.capability(BALLOT);
            let (scope, vector, ty) = (text.constant(3), text.ty(ballot), text.ty(result));
            let votes = text.op(&vector, "OpGroupNonUniformBallot", &format!("{scope} {}", ids[0]));
            let extra = extra.map(|index| text.constant(index)).unwrap_or_default();
            vec![text.op(&ty, opcode, &format!("{scope} {literals} {votes} {extra}"))]
        });
        // Where nobody votes there is no lowest and no highest bit.
        let some: Vec<_> =
            bits.iter().enumerate().filter(|(lane, _)| lane / 8 != 2).map(|(_, bit)| bit.clone()).collect();
        cases.push(case(format!("{opcode} {literals}"), &[bools], result, &some, body));
    }
    cases
}

//! What each instruction gives.

use spirv_tv::event::UndefinedKind;

use crate::programs::Program;
use crate::{behaviours, known, result, words};

/// A program whose `%v` of this type is what the line gives.
fn gives(ty: &str, body: &str, expected: &[u32]) {
    assert_eq!(result(&Program::of_type(ty, body)), known(expected), "{body}");
}

/// As [`gives`], with `None` for undefined results.
fn gives_partly(ty: &str, body: &str, expected: &[Option<u32>]) {
    assert_eq!(result(&Program::of_type(ty, body)), expected, "{body}");
}

fn is_undefined(program: &Program, kind: UndefinedKind) {
    let found = behaviours(program);
    let kinds: Vec<UndefinedKind> = found.undefined.iter().map(|(undefined, _)| undefined.kind).collect();
    assert_eq!(kinds, [kind], "{}", program.body);
}

#[test]
fn the_first_invocation_is_elected() {
    gives("bool", "%v = OpGroupNonUniformElect %bool %sg", &[1, 0, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn votes_are_taken_by_subgroup() {
    let below = |bound: &str| format!("%c = OpULessThan %bool %i {bound}\n");
    let vote = |op: &str, bound: &str| format!("{}%v = {op} %c", below(bound));
    gives("bool", &vote("OpGroupNonUniformAll %bool %sg", "%u4"), &[1, 1, 1, 1, 0, 0, 0, 0]);
    gives("bool", &vote("OpGroupNonUniformAll %bool %sg", "%u5"), &[1, 1, 1, 1, 0, 0, 0, 0]);
    gives("bool", &vote("OpGroupNonUniformAny %bool %sg", "%u4"), &[1, 1, 1, 1, 0, 0, 0, 0]);
    gives("bool", &vote("OpGroupNonUniformAny %bool %sg", "%u5"), &[1; 8]);
    gives("bool", &vote("OpSubgroupAllKHR %bool", "%u5"), &[1, 1, 1, 1, 0, 0, 0, 0]);
    gives("bool", &vote("OpSubgroupAnyKHR %bool", "%u5"), &[1; 8]);
    gives("bool", &vote("OpSubgroupAllEqualKHR %bool", "%u5"), &[1, 1, 1, 1, 0, 0, 0, 0]);
}

#[test]
fn equality_is_that_of_the_type() {
    let half = "%w = OpShiftRightLogical %uint %i %u2\n";
    gives("bool", &format!("{half}%v = OpGroupNonUniformAllEqual %bool %sg %w"), &[1; 8]);
    gives("bool", "%v = OpGroupNonUniformAllEqual %bool %sg %i", &[0; 8]);
    // The second components differ.
    let pair = format!("{half}%p = OpCompositeConstruct %uint2 %w %i\n");
    gives("bool", &format!("{pair}%v = OpGroupNonUniformAllEqual %bool %sg %p"), &[0; 8]);
    // Zeros of either sign are equal floats, a NaN equals nothing.
    let zero = "%c = OpIEqual %bool %lane %u0\n%f = OpSelect %float %c %f_zero %f_negative_zero\n";
    gives("bool", &format!("{zero}%v = OpGroupNonUniformAllEqual %bool %sg %f"), &[1; 8]);
    gives("bool", "%v = OpGroupNonUniformAllEqual %bool %sg %f_nan", &[0; 8]);
}

#[test]
fn broadcasts_take_the_value_of_one() {
    gives("uint", "%v = OpGroupNonUniformBroadcast %uint %sg %i %u2", &[2, 2, 2, 2, 6, 6, 6, 6]);
    gives("uint", "%v = OpGroupNonUniformBroadcastFirst %uint %sg %i", &[0, 0, 0, 0, 4, 4, 4, 4]);
    gives("uint", "%v = OpSubgroupFirstInvocationKHR %uint %i", &[0, 0, 0, 0, 4, 4, 4, 4]);
    gives("uint", "%v = OpSubgroupReadInvocationKHR %uint %i %u3", &[3, 3, 3, 3, 7, 7, 7, 7]);
    // Nobody has this number.
    gives_partly("uint", "%v = OpGroupNonUniformBroadcast %uint %sg %i %u4", &[None; 8]);
    // The result of an id that differs is undefined for one, the behaviour for the other.
    gives_partly("uint", "%v = OpSubgroupReadInvocationKHR %uint %i %lane", &[None; 8]);
    let differs = Program::of_type("uint", "%v = OpGroupNonUniformBroadcast %uint %sg %i %lane");
    is_undefined(&differs, UndefinedKind::UndefinedOperand);
}

#[test]
fn a_partial_subgroup_has_fewer_invocations() {
    let last_two = |body: &str| result(&Program::of_type("uint", body).sized(6, 4));
    assert_eq!(last_two("%v = OpGroupNonUniformIAdd %uint %sg Reduce %u1"), known(&[4, 4, 4, 4, 2, 2]));
    let broadcast = last_two("%v = OpGroupNonUniformBroadcast %uint %sg %i %u1");
    assert_eq!(broadcast, known(&[1, 1, 1, 1, 5, 5]));
    let absent = last_two("%v = OpGroupNonUniformBroadcast %uint %sg %i %u2");
    assert_eq!(absent, [Some(2), Some(2), Some(2), Some(2), None, None]);
    let shuffled = last_two("%v = OpGroupNonUniformShuffleXor %uint %sg %i %u2");
    assert_eq!(shuffled, [Some(2), Some(3), Some(0), Some(1), None, None]);
    let size = last_two("%v = OpLoad %uint %size_id");
    assert_eq!(size, known(&[4; 6]));
    let count = last_two("%v = OpLoad %uint %count_id");
    assert_eq!(count, known(&[2; 6]));
    let bits = "%b = OpGroupNonUniformBallot %uint4 %sg %true\n%v = OpCompositeExtract %uint %b 0";
    assert_eq!(last_two(bits), known(&[15, 15, 15, 15, 3, 3]));
}

#[test]
fn ballots_have_a_bit_for_each_invocation() {
    let odd = "%o = OpBitwiseAnd %uint %i %u1\n%c = OpIEqual %bool %o %u1\n";
    for ballot in ["OpGroupNonUniformBallot %uint4 %sg %c", "OpSubgroupBallotKHR %uint4 %c"] {
        gives("uint", &format!("{odd}%b = {ballot}\n%v = OpCompositeExtract %uint %b 0"), &[10; 8]);
        gives("uint", &format!("{odd}%b = {ballot}\n%v = OpCompositeExtract %uint %b 1"), &[0; 8]);
    }
    // Of 64 invocations, the upper half is in the second word.
    let upper = "%c = OpUGreaterThan %bool %lane %u4\n%b = OpGroupNonUniformBallot %uint4 %sg %c\n";
    for (word, expected) in [(0, 0xffff_ffe0_u32), (1, 0xffff_ffff), (2, 0), (3, 0)] {
        let program = Program::of_type("uint", &format!("{upper}%v = OpCompositeExtract %uint %b {word}"));
        assert_eq!(result(&program.sized(64, 64)), known(&[expected; 64]));
    }
}

#[test]
fn ballots_are_read_up_to_the_size_of_the_subgroup() {
    let ballot = "%b = OpCompositeConstruct %uint4 %u0x0f0f %ones %ones %ones\n";
    let with = |line: &str| format!("{ballot}{line}");
    let inverse = with("%v = OpGroupNonUniformInverseBallot %bool %sg %b");
    gives("bool", &inverse, &[1; 8]);
    let odd = "%b = OpCompositeConstruct %uint4 %u2 %u0 %u0 %u0\n";
    gives(
        "bool",
        &format!("{odd}%v = OpGroupNonUniformInverseBallot %bool %sg %b"),
        &[0, 1, 0, 0, 0, 1, 0, 0],
    );
    gives("bool", &format!("{odd}%v = OpGroupNonUniformBallotBitExtract %bool %sg %b %u1"), &[1; 8]);
    gives("bool", &format!("{odd}%v = OpGroupNonUniformBallotBitExtract %bool %sg %b %u2"), &[0; 8]);
    // A bit beyond the subgroup is undefined: it selects either.
    let beyond = format!("{odd}%v = OpGroupNonUniformBallotBitExtract %bool %sg %b %u1");
    let either = words(&behaviours(&Program::of_type("bool", &beyond).sized(1, 1)));
    assert_eq!(either, [known(&[0]), known(&[1])]);
    gives("uint", &with("%v = OpGroupNonUniformBallotBitCount %uint %sg Reduce %b"), &[4; 8]);
    gives(
        "uint",
        &with("%v = OpGroupNonUniformBallotBitCount %uint %sg InclusiveScan %b"),
        &[1, 2, 3, 4, 1, 2, 3, 4],
    );
    gives(
        "uint",
        &with("%v = OpGroupNonUniformBallotBitCount %uint %sg ExclusiveScan %b"),
        &[0, 1, 2, 3, 0, 1, 2, 3],
    );
    gives("uint", &with("%v = OpGroupNonUniformBallotFindLSB %uint %sg %b"), &[0; 8]);
    gives("uint", &with("%v = OpGroupNonUniformBallotFindMSB %uint %sg %b"), &[3; 8]);
    gives("uint", &format!("{odd}%v = OpGroupNonUniformBallotFindMSB %uint %sg %b"), &[1; 8]);
    let beyond = "%b = OpCompositeConstruct %uint4 %u0 %ones %u0 %u0\n";
    gives_partly("uint", &format!("{beyond}%v = OpGroupNonUniformBallotFindLSB %uint %sg %b"), &[None; 8]);
    // Ballots that differ between the invocations.
    let own = "%b = OpCompositeConstruct %uint4 %lane %u0 %u0 %u0\n";
    let differs = format!("{own}%v = OpGroupNonUniformInverseBallot %bool %sg %b");
    is_undefined(&Program::of_type("bool", &differs), UndefinedKind::UndefinedOperand);
}

#[test]
fn shuffles_take_values_from_others() {
    let (n, some) = (None, Some);
    gives(
        "uint",
        "%x = OpBitwiseXor %uint %lane %u3\n%v = OpGroupNonUniformShuffle %uint %sg %i %x",
        &[3, 2, 1, 0, 7, 6, 5, 4],
    );
    gives_partly(
        "uint",
        "%x = OpIAdd %uint %lane %u2\n%v = OpGroupNonUniformShuffle %uint %sg %i %x",
        &[some(2), some(3), n, n, some(6), some(7), n, n],
    );
    gives("uint", "%v = OpGroupNonUniformShuffleXor %uint %sg %i %u1", &[1, 0, 3, 2, 5, 4, 7, 6]);
    gives_partly("uint", "%v = OpGroupNonUniformShuffleXor %uint %sg %i %u4", &[n; 8]);
    gives_partly(
        "uint",
        "%v = OpGroupNonUniformShuffleUp %uint %sg %i %u1",
        &[n, some(0), some(1), some(2), n, some(4), some(5), some(6)],
    );
    gives_partly(
        "uint",
        "%v = OpGroupNonUniformShuffleDown %uint %sg %i %u1",
        &[some(1), some(2), some(3), n, some(5), some(6), some(7), n],
    );
    // The deltas are unsigned.
    gives_partly("uint", "%v = OpGroupNonUniformShuffleDown %uint %sg %i %ones", &[n; 8]);
    gives_partly("uint", "%v = OpGroupNonUniformShuffleUp %uint %sg %i %ones", &[n; 8]);
}

#[test]
fn shuffles_take_whole_vectors_and_any_type() {
    let pair = "%j = OpIAdd %uint %i %u1\n%p = OpCompositeConstruct %uint2 %i %j\n";
    let swapped = "%s = OpGroupNonUniformShuffleXor %uint2 %sg %p %u1\n";
    gives("uint", &format!("{pair}{swapped}%v = OpCompositeExtract %uint %s 1"), &[2, 1, 4, 3, 6, 5, 8, 7]);
    gives(
        "bool",
        "%c = OpULessThan %bool %lane %u1\n%v = OpGroupNonUniformShuffleXor %bool %sg %c %u1",
        &[0, 1, 0, 0, 0, 1, 0, 0],
    );
    gives(
        "long",
        "%w = OpUConvert %long %i\n%v = OpGroupNonUniformShuffleXor %long %sg %w %u1",
        &[1, 0, 3, 2, 5, 4, 7, 6],
    );
}

#[test]
fn rotations_go_round_within_their_cluster() {
    let line = "%v = OpGroupNonUniformRotateKHR %uint %sg %i";
    gives("uint", &format!("{line} %u1"), &[1, 2, 3, 0, 5, 6, 7, 4]);
    gives("uint", &format!("{line} %u7"), &[3, 0, 1, 2, 7, 4, 5, 6]);
    gives("uint", &format!("{line} %u1 %u2"), &[1, 0, 3, 2, 5, 4, 7, 6]);
    let differs = Program::of_type("uint", "%v = OpGroupNonUniformRotateKHR %uint %sg %i %lane");
    is_undefined(&differs, UndefinedKind::UndefinedOperand);
    let larger = Program::of_type("uint", &format!("{line} %u1 %u8"));
    is_undefined(&larger, UndefinedKind::UndefinedOperand);
}

#[test]
fn quads_are_four_neighbours() {
    let eight = |body: &str| result(&Program::of_type("uint", body).sized(8, 8));
    let of_quad = |index: u32| eight(&format!("%v = OpGroupNonUniformQuadBroadcast %uint %sg %i %u{index}"));
    assert_eq!(of_quad(2), known(&[2, 2, 2, 2, 6, 6, 6, 6]));
    assert_eq!(of_quad(4), [None; 8]);
    let swapped = |way: u32| eight(&format!("%v = OpGroupNonUniformQuadSwap %uint %sg %i %u{way}"));
    assert_eq!(swapped(0), known(&[1, 0, 3, 2, 5, 4, 7, 6]));
    assert_eq!(swapped(1), known(&[2, 3, 0, 1, 6, 7, 4, 5]));
    assert_eq!(swapped(2), known(&[3, 2, 1, 0, 7, 6, 5, 4]));
    let vote = |op: &str| {
        let body = format!("%c = OpULessThan %bool %i %u5\n%v = {op} %bool %c");
        result(&Program::of_type("bool", &body).sized(8, 8))
    };
    assert_eq!(vote("OpGroupNonUniformQuadAllKHR"), known(&[1, 1, 1, 1, 0, 0, 0, 0]));
    assert_eq!(vote("OpGroupNonUniformQuadAnyKHR"), known(&[1; 8]));
    let differs = Program::of_type("uint", "%v = OpGroupNonUniformQuadBroadcast %uint %sg %i %lane");
    is_undefined(&differs, UndefinedKind::UndefinedOperand);
}

#[test]
fn integers_are_reduced_and_scanned() {
    let line = |op: &str, operation: &str| format!("%v = OpGroupNonUniform{op} %uint %sg {operation} %i");
    gives("uint", &line("IAdd", "Reduce"), &[6, 6, 6, 6, 22, 22, 22, 22]);
    gives("uint", &line("IAdd", "InclusiveScan"), &[0, 1, 3, 6, 4, 9, 15, 22]);
    gives("uint", &line("IAdd", "ExclusiveScan"), &[0, 0, 1, 3, 0, 4, 9, 15]);
    gives("uint", &line("IMul", "InclusiveScan"), &[0, 0, 0, 0, 4, 20, 120, 840]);
    gives("uint", &line("IMul", "ExclusiveScan"), &[1, 0, 0, 0, 1, 4, 20, 120]);
    gives("uint", &line("UMin", "Reduce"), &[0, 0, 0, 0, 4, 4, 4, 4]);
    gives("uint", &line("UMax", "Reduce"), &[3, 3, 3, 3, 7, 7, 7, 7]);
    gives("uint", &line("UMin", "ExclusiveScan"), &[u32::MAX, 0, 0, 0, u32::MAX, 4, 4, 4]);
    gives("uint", &line("UMax", "ExclusiveScan"), &[0, 0, 1, 2, 0, 4, 5, 6]);
    gives("uint", &line("BitwiseAnd", "Reduce"), &[0, 0, 0, 0, 4, 4, 4, 4]);
    gives("uint", &line("BitwiseOr", "Reduce"), &[3, 3, 3, 3, 7, 7, 7, 7]);
    gives("uint", &line("BitwiseXor", "InclusiveScan"), &[0, 1, 3, 0, 4, 1, 7, 0]);
    gives("uint", &line("BitwiseAnd", "ExclusiveScan"), &[u32::MAX, 0, 0, 0, u32::MAX, 4, 4, 4]);
    gives("uint", &line("BitwiseOr", "ExclusiveScan"), &[0, 0, 1, 3, 0, 4, 5, 7]);
    gives("uint", &line("BitwiseXor", "ExclusiveScan"), &[0, 0, 1, 3, 0, 4, 1, 7]);
}

#[test]
fn signed_minima_know_the_sign() {
    let signed = "%n = OpISub %uint %u2 %i\n%w = OpBitcast %int %n\n";
    let line =
        |op: &str, operation: &str| format!("{signed}%v = OpGroupNonUniform{op} %int %sg {operation} %w");
    let of = |values: [i32; 8]| values.map(|value| value as u32);
    gives("int", &line("SMin", "Reduce"), &of([-1, -1, -1, -1, -5, -5, -5, -5]));
    gives("int", &line("SMax", "Reduce"), &of([2, 2, 2, 2, -2, -2, -2, -2]));
    let least = [i32::MAX, 2, 1, 0, i32::MAX, -2, -3, -4];
    gives("int", &line("SMin", "ExclusiveScan"), &of(least));
    let greatest = [i32::MIN, 2, 2, 2, i32::MIN, -2, -2, -2];
    gives("int", &line("SMax", "ExclusiveScan"), &of(greatest));
}

#[test]
fn narrow_and_wide_integers_keep_their_width() {
    let of = |ty: &str, line: &str| {
        let convert = if ty == "long" { "OpUConvert" } else { "OpSConvert" };
        format!("%w = {convert} %{ty} %i\n{line}")
    };
    let add = "%v = OpGroupNonUniformIMul %char %sg InclusiveScan %w";
    // 840 is 0x348, 72 in 8 bits.
    gives("char", &of("char", add), &[0, 0, 0, 0, 4, 20, 120, 72]);
    let least = "%v = OpGroupNonUniformSMin %char %sg ExclusiveScan %w";
    gives("char", &of("char", least), &[127, 0, 0, 0, 127, 4, 4, 4]);
    let most = "%v = OpGroupNonUniformSMax %short %sg ExclusiveScan %w";
    gives("short", &of("short", most), &[0xffff_8000, 0, 1, 2, 0xffff_8000, 4, 5, 6]);
    let long = "%v = OpGroupNonUniformIAdd %long %sg Reduce %w";
    gives("long", &of("long", long), &[6, 6, 6, 6, 22, 22, 22, 22]);
}

#[test]
fn predicates_are_reduced_and_scanned() {
    let line = |op: &str, operation: &str| {
        format!("%c = OpULessThan %bool %i %u5\n%v = OpGroupNonUniformLogical{op} %bool %sg {operation} %c")
    };
    gives("bool", &line("And", "Reduce"), &[1, 1, 1, 1, 0, 0, 0, 0]);
    gives("bool", &line("Or", "Reduce"), &[1; 8]);
    gives("bool", &line("Xor", "Reduce"), &[0, 0, 0, 0, 1, 1, 1, 1]);
    gives("bool", &line("And", "ExclusiveScan"), &[1, 1, 1, 1, 1, 1, 0, 0]);
    gives("bool", &line("Or", "ExclusiveScan"), &[0, 1, 1, 1, 0, 1, 1, 1]);
    gives("bool", &line("Xor", "InclusiveScan"), &[1, 0, 1, 0, 1, 1, 1, 1]);
}

#[test]
fn floats_are_reduced_and_scanned() {
    let line = |op: &str, operation: &str| {
        format!("%w = OpConvertUToF %float %i\n%v = OpGroupNonUniform{op} %float %sg {operation} %w")
    };
    let of = |values: [f32; 8]| values.map(f32::to_bits);
    gives("float", &line("FAdd", "Reduce"), &of([6.0, 6.0, 6.0, 6.0, 22.0, 22.0, 22.0, 22.0]));
    gives("float", &line("FAdd", "ExclusiveScan"), &of([0.0, 0.0, 1.0, 3.0, 0.0, 4.0, 9.0, 15.0]));
    gives("float", &line("FMul", "InclusiveScan"), &of([0.0, 0.0, 0.0, 0.0, 4.0, 20.0, 120.0, 840.0]));
    gives("float", &line("FMul", "ExclusiveScan"), &of([1.0, 0.0, 0.0, 0.0, 1.0, 4.0, 20.0, 120.0]));
    gives("float", &line("FMin", "Reduce"), &of([0.0, 0.0, 0.0, 0.0, 4.0, 4.0, 4.0, 4.0]));
    gives("float", &line("FMax", "InclusiveScan"), &of([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]));
    let (most, least) = (f32::INFINITY, f32::NEG_INFINITY);
    gives("float", &line("FMin", "ExclusiveScan"), &of([most, 0.0, 0.0, 0.0, most, 4.0, 4.0, 4.0]));
    gives("float", &line("FMax", "ExclusiveScan"), &of([least, 0.0, 1.0, 2.0, least, 4.0, 5.0, 6.0]));
    let half = "%w = OpConvertUToF %half %i\n%v = OpGroupNonUniformFMax %half %sg Reduce %w";
    gives("half", half, &[0x4200, 0x4200, 0x4200, 0x4200, 0x4700, 0x4700, 0x4700, 0x4700]);
    let double = "%w = OpConvertUToF %double %i\n%v = OpGroupNonUniformFAdd %double %sg Reduce %w";
    gives("double", double, &of([6.0, 6.0, 6.0, 6.0, 22.0, 22.0, 22.0, 22.0]));
}

#[test]
fn vectors_are_reduced_by_component() {
    let pair = "%j = OpIMul %uint %i %u2\n%p = OpCompositeConstruct %uint2 %i %j\n";
    let sums = "%s = OpGroupNonUniformIAdd %uint2 %sg Reduce %p\n";
    gives(
        "uint",
        &format!("{pair}{sums}%v = OpCompositeExtract %uint %s 1"),
        &[12, 12, 12, 12, 44, 44, 44, 44],
    );
}

#[test]
fn of_a_nan_and_a_number_the_number_is_chosen() {
    let odd = "%c = OpIEqual %bool %lane %u0\n%w = OpSelect %float %c %f_nan %f1\n";
    let of = |op: &str, operation: &str| format!("{odd}%v = OpGroupNonUniform{op} %float %sg {operation} %w");
    let one = 1.0_f32.to_bits();
    gives("float", &of("FMin", "Reduce"), &[one; 8]);
    gives("float", &of("FMax", "Reduce"), &[one; 8]);
    let (n, some) = (None, Some(one));
    gives_partly("float", &of("FMin", "InclusiveScan"), &[n, some, some, some, n, some, some, some]);
}

#[test]
fn float_sums_are_inexact_unless_every_order_gives_the_same() {
    let line = |value: &str, op: &str| {
        Program::of_type("float", &format!("%v = OpGroupNonUniform{op} %float %sg Reduce {value}"))
    };
    let inexact = |value: &str, op: &str| !behaviours(&line(value, op)).inexact.is_empty();
    assert!(!inexact("%f1_5", "FAdd"));
    assert!(inexact("%f_third", "FAdd"));
    assert!(inexact("%f_third", "FMul"));
    assert!(!inexact("%f1", "FMul"));
    assert!(!inexact("%f_third", "FMin"));
    let zeros = "%c = OpIEqual %bool %lane %u0\n%w = OpSelect %float %c %f_zero %f_negative_zero\n";
    let least = format!("{zeros}%v = OpGroupNonUniformFMin %float %sg Reduce %w");
    assert!(!behaviours(&Program::of_type("float", &least)).inexact.is_empty());
}

#[test]
fn clusters_are_reduced_apart() {
    let line = |size: &str| format!("%v = OpGroupNonUniformIAdd %uint %sg ClusteredReduce %i {size}");
    gives("uint", &line("%u1"), &[0, 1, 2, 3, 4, 5, 6, 7]);
    gives("uint", &line("%u2"), &[1, 1, 5, 5, 9, 9, 13, 13]);
    gives("uint", &line("%u4"), &[6, 6, 6, 6, 22, 22, 22, 22]);
    for wrong in ["%u3", "%u8"] {
        is_undefined(&Program::of_type("uint", &line(wrong)), UndefinedKind::UndefinedOperand);
    }
}

#[test]
fn partitions_are_reduced_apart() {
    let odd = "%o = OpBitwiseAnd %uint %i %u1\n%b = OpGroupNonUniformPartitionNV %uint4 %o\n";
    gives("uint", &format!("{odd}%v = OpCompositeExtract %uint %b 0"), &[5, 10, 5, 10, 5, 10, 5, 10]);
    let of = |operation: &str| format!("{odd}%v = OpGroupNonUniformIAdd %uint %sg {operation} %i %b");
    gives("uint", &of("PartitionedReduceNV"), &[2, 4, 2, 4, 10, 12, 10, 12]);
    gives("uint", &of("PartitionedInclusiveScanNV"), &[0, 1, 2, 4, 4, 5, 10, 12]);
    gives("uint", &of("PartitionedExclusiveScanNV"), &[0, 0, 0, 1, 0, 0, 4, 5]);
    let overlapping = "%b = OpCompositeConstruct %uint4 %u3 %u0 %u0 %u0\n\
                       %v = OpGroupNonUniformIAdd %uint %sg PartitionedReduceNV %i %b";
    is_undefined(&Program::of_type("uint", overlapping), UndefinedKind::UndefinedOperand);
}

#[test]
fn masks_are_of_the_invocations_number() {
    let of = |mask: &str| format!("%b = OpLoad %uint4 %{mask}\n%v = OpCompositeExtract %uint %b 0");
    gives("uint", &of("eq_mask"), &[1, 2, 4, 8, 1, 2, 4, 8]);
    gives("uint", &of("ge_mask"), &[15, 14, 12, 8, 15, 14, 12, 8]);
    gives("uint", &of("gt_mask"), &[14, 12, 8, 0, 14, 12, 8, 0]);
    gives("uint", &of("le_mask"), &[1, 3, 7, 15, 1, 3, 7, 15]);
    gives("uint", &of("lt_mask"), &[0, 1, 3, 7, 0, 1, 3, 7]);
    gives("uint", "%v = OpLoad %uint %number_id", &[0, 0, 0, 0, 1, 1, 1, 1]);
    gives("uint", "%v = OpLoad %uint %lane_id", &[0, 1, 2, 3, 0, 1, 2, 3]);
}

#[test]
fn operands_that_all_bring_undefined_are_not_uniform() {
    let unknown =
        Program::of_type("uint", "%u = OpUndef %uint\n%v = OpGroupNonUniformBroadcast %uint %sg %i %u");
    is_undefined(&unknown, UndefinedKind::UndefinedOperand);
}

#[test]
fn a_nan_alone_may_equal_itself() {
    // Subgroups of one.
    let alone = |value: &str| {
        let body = format!("%v = OpGroupNonUniformAllEqual %bool %sg {value}");
        words(&behaviours(&Program::of_type("bool", &body).sized(2, 1)))
    };
    assert_eq!(alone("%f_zero"), [known(&[1; 2])]);
    // Each of the two either way.
    assert_eq!(alone("%f_nan").len(), 4);
    // Among others, it is unequal even where it comes first.
    let first = "%c = OpIEqual %bool %lane %u0\n%f = OpSelect %float %c %f_nan %f_zero\n";
    gives("bool", &format!("{first}%v = OpGroupNonUniformAllEqual %bool %sg %f"), &[0; 8]);
}

#[test]
fn clusters_are_told_by_the_number_of_an_invocation() {
    // The first one of each subgroup does not take part.
    let body = "%some = OpUGreaterThan %bool %lane %u0
OpSelectionMerge %behind None
OpBranchConditional %some %then %behind
%then = OpLabel
%sum = OpGroupNonUniformIAdd %uint %sg ClusteredReduce %lane %u2
OpBranch %behind
%behind = OpLabel
%v = OpPhi %uint %u0 %entry %sum %then";
    gives("uint", body, &[0, 1, 5, 5, 0, 1, 5, 5]);
    // And none but the last.
    let last = body.replace("OpUGreaterThan %bool %lane %u0", "OpUGreaterThan %bool %lane %u2");
    gives("uint", &last, &[0, 0, 0, 3, 0, 0, 0, 3]);
}

#[test]
fn unsigned_minima_know_no_sign() {
    let numbers = "%c = OpIEqual %bool %lane %u1\n%n = OpSelect %uint %c %ones %lane\n";
    gives("uint", &format!("{numbers}%v = OpGroupNonUniformUMax %uint %sg Reduce %n"), &[u32::MAX; 8]);
    let numbers = "%c = OpIEqual %bool %lane %u1\n%n = OpSelect %uint %c %u1 %ones\n";
    gives("uint", &format!("{numbers}%v = OpGroupNonUniformUMin %uint %sg Reduce %n"), &[1; 8]);
}

#[test]
fn nothing_is_the_identity_of_float_minima() {
    let infinity = 0x7f80_0000;
    let scanned = "%v = OpGroupNonUniformFMin %float %sg ExclusiveScan %f_zero";
    gives("float", scanned, &[infinity, 0, 0, 0, infinity, 0, 0, 0]);
    // A NaN in front of a number, and behind one.
    for lane in ["%u0", "%u1", "%u3"] {
        let one = format!("%c = OpIEqual %bool %lane {lane}\n%f = OpSelect %float %c %f_nan %f_zero\n");
        gives("float", &format!("{one}%v = OpGroupNonUniformFMax %float %sg Reduce %f"), &[0; 8]);
    }
}

#[test]
fn inverse_ballots_know_all_words() {
    let body = "%b = OpCompositeConstruct %uint4 %u0 %u2 %u0 %u0
%v = OpGroupNonUniformInverseBallot %bool %sg %b";
    let expected: Vec<u32> = (0..64).map(|lane| u32::from(lane == 33)).collect();
    assert_eq!(result(&Program::of_type("bool", body).sized(64, 64)), known(&expected));
}

#[test]
fn a_nan_is_a_subset_of_its_own() {
    let body = "%b = OpGroupNonUniformPartitionNV %uint4 %f_nan\n%v = OpCompositeExtract %uint %b 0";
    gives("uint", body, &[1, 2, 4, 8, 1, 2, 4, 8]);
}

#[test]
fn ballots_that_are_no_partition() {
    let reduced = |ballot: &str| {
        let body = format!("{ballot}\n%v = OpGroupNonUniformIAdd %uint %sg PartitionedReduceNV %i %b");
        is_undefined(&Program::of_type("uint", &body), UndefinedKind::UndefinedOperand);
    };
    reduced("%b = OpUndef %uint4");
    // Each has itself, the first one the others, too.
    reduced(
        "%c = OpIEqual %bool %lane %u0
%own = OpShiftLeftLogical %uint %u1 %lane
%w = OpSelect %uint %c %u7 %own
%b = OpCompositeConstruct %uint4 %w %u0 %u0 %u0",
    );
}

#[test]
fn the_sign_of_a_least_zero_is_open() {
    let zeros = "%c = OpIEqual %bool %lane %u0\n%f = OpSelect %float %c %f_negative_zero %f_zero\n";
    let least = Program::of_type("float", &format!("{zeros}%v = OpGroupNonUniformFMin %float %sg Reduce %f"));
    assert!(!behaviours(&least).inexact.is_empty());
}

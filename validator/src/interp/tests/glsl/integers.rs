//! The instructions on integers.

use super::*;

const LEAST: u32 = 0x8000_0000;

fn word(value: u32) -> Scalar {
    Scalar::new(u64::from(value))
}

fn one(function: IntegerFunction, a: Scalar) -> Scalar {
    results(GlslFunction::Integer(function, operand(0)), 32, 1, &[a], 1)[0]
}

fn two(function: IntegerFunction2, a: Scalar, b: Scalar) -> Scalar {
    let function = GlslFunction::Integer2(function, [operand(0), operand(1)]);
    results(function, 32, 1, &[a, b], 1)[0]
}

fn clamp(signed: bool, values: [Scalar; 3]) -> Scalar {
    let function = GlslFunction::Clamp { signed, operands: [operand(0), operand(1), operand(2)] };
    results(function, 32, 1, &values, 1)[0]
}

fn find(bit: FoundBit, a: Scalar) -> Scalar {
    results(GlslFunction::FindBit { bit, to: 32, value: operand(0) }, 32, 1, &[a], 1)[0]
}

#[test]
fn bits_below_a_known_one_do_not_matter() {
    let partly = Scalar { bits: 0x80, undef: 1 };
    assert_eq!(find(FoundBit::Highest, partly), word(7));
    assert_eq!(find(FoundBit::HighestSigned, partly), word(7));
}

#[test]
fn magnitudes_and_signs() {
    for (a, magnitude, sign) in [
        (0, 0, 0),
        (7, 7, 1),
        (u32::MAX, 1, u32::MAX),
        (0x7fff_ffff, 0x7fff_ffff, 1),
        // Its negation is itself.
        (LEAST, LEAST, u32::MAX),
    ] {
        assert_eq!(one(IntegerFunction::Abs, word(a)), word(magnitude), "{a:#x}");
        assert_eq!(one(IntegerFunction::Sign, word(a)), word(sign), "{a:#x}");
    }
    let byte = GlslFunction::Integer(IntegerFunction::Abs, operand(0));
    assert_eq!(results(byte, 8, 2, &[word(0xfe), word(0x80)], 2), [word(2), word(0x80)]);
}

#[test]
fn signs_decide_which_is_smaller() {
    let (minus, plus) = (word(u32::MAX), word(1));
    for (function, expected) in [
        (IntegerFunction2::UMin, plus),
        (IntegerFunction2::SMin, minus),
        (IntegerFunction2::UMax, minus),
        (IntegerFunction2::SMax, plus),
    ] {
        assert_eq!(two(function, minus, plus), expected, "{function:?}");
        assert_eq!(two(function, plus, minus), expected, "{function:?}");
        assert_eq!(two(function, plus, plus), plus, "{function:?}");
    }
    let bytes = GlslFunction::Integer2(IntegerFunction2::SMax, [operand(0), operand(1)]);
    assert_eq!(results(bytes, 8, 1, &[word(0x80), word(0x7f)], 1), [word(0x7f)]);
}

#[test]
fn clamps_in_either_order() {
    let clamp = |signed, values: [u32; 3]| clamp(signed, values.map(word));
    assert_eq!(clamp(false, [5, 1, 3]), word(3));
    assert_eq!(clamp(false, [0, 1, 3]), word(1));
    assert_eq!(clamp(false, [2, 1, 3]), word(2));
    assert_eq!(clamp(false, [u32::MAX, 1, 3]), word(3));
    assert_eq!(clamp(true, [u32::MAX, 1, 3]), word(1));
    assert_eq!(clamp(true, [0, LEAST, u32::MAX]), word(u32::MAX));
    assert_eq!(clamp(false, [2, 3, 1]), undefined(32));
    assert_eq!(clamp(true, [2, 1, u32::MAX]), undefined(32));
    assert_eq!(clamp(false, [7, 3, 3]), word(3));
}

#[test]
fn bits_that_are_found() {
    let none = u32::MAX;
    for (a, lowest, highest, signed) in [
        (0, none, none, none),
        (u32::MAX, 0, 31, none),
        (1, 0, 0, 0),
        (LEAST, 31, 31, 30),
        (0x00f0, 4, 7, 7),
        (0xffff_ff00, 8, 31, 7),
        (0x7fff_ffff, 0, 30, 30),
        (0xffff_fffe, 1, 31, 0),
    ] {
        assert_eq!(find(FoundBit::Lowest, word(a)), word(lowest), "{a:#x}");
        assert_eq!(find(FoundBit::Highest, word(a)), word(highest), "{a:#x}");
        assert_eq!(find(FoundBit::HighestSigned, word(a)), word(signed), "{a:#x}");
    }
    // In another width than the operand's.
    let wide = GlslFunction::FindBit { bit: FoundBit::Highest, to: 32, value: operand(0) };
    assert_eq!(results(wide, 64, 2, &[Scalar::new(1 << 40), word(0)], 2), [word(40), word(none)]);
    let narrow = GlslFunction::FindBit { bit: FoundBit::HighestSigned, to: 16, value: operand(0) };
    assert_eq!(results(narrow, 16, 2, &[word(0xff7f), word(0xffff)], 2), [word(7), word(0xffff)]);
}

/// Every value that an operand of four bits may have.
fn values(a: Scalar) -> impl Iterator<Item = u64> {
    (0..16_u64).filter(move |value| value & !a.undef == a.bits)
}

fn covers(mask: Scalar, value: u64, what: &str) {
    assert_eq!(value & !mask.undef, mask.bits, "{what}: {mask:?} does not cover {value:#x}");
}

/// Every operand of four bits, of which any may be undefined.
fn partial() -> impl Iterator<Item = Scalar> {
    let pairs = (0..16_u64).flat_map(|undef| (0..16_u64).map(move |bits| (bits, undef)));
    pairs.filter(|(bits, undef)| bits & undef == 0).map(|(bits, undef)| Scalar { bits, undef })
}

#[test]
fn undefined_bits_cover_every_possible_result() {
    let run = |function, operands: &[Scalar]| results(function, 4, 1, operands, 1)[0];
    let pair = [operand(0), operand(1)];
    for a in partial() {
        for (integer, bit) in [
            (IntegerFunction::Abs, FoundBit::Lowest),
            (IntegerFunction::Sign, FoundBit::Highest),
            (IntegerFunction::Sign, FoundBit::HighestSigned),
        ] {
            let functions = [
                GlslFunction::Integer(integer, operand(0)),
                GlslFunction::FindBit { bit, to: 4, value: operand(0) },
            ];
            for function in functions {
                let mask = run(function, &[a]);
                for value in values(a) {
                    covers(mask, run(function, &[Scalar::new(value)]).bits, &format!("{function:?} {a:?}"));
                }
            }
        }
        for b in partial().step_by(7) {
            for function in [
                IntegerFunction2::UMin,
                IntegerFunction2::SMin,
                IntegerFunction2::UMax,
                IntegerFunction2::SMax,
            ] {
                let function = GlslFunction::Integer2(function, pair);
                let mask = run(function, &[a, b]);
                for (x, y) in values(a).flat_map(|x| values(b).map(move |y| (x, y))) {
                    let exact = run(function, &[Scalar::new(x), Scalar::new(y)]).bits;
                    covers(mask, exact, &format!("{function:?} {a:?} {b:?}"));
                }
            }
        }
    }
}

#[test]
fn what_is_known_of_undefined_operands() {
    // An index that is clamped is in bounds.
    assert_eq!(two(IntegerFunction2::UMin, undefined(32), word(7)), Scalar { bits: 0, undef: 7 });
    assert_eq!(clamp(true, [undefined(32), word(0), word(3)]), Scalar { bits: 0, undef: 3 });
    assert_eq!(two(IntegerFunction2::UMax, undefined(32), word(u32::MAX)), word(u32::MAX));
    assert_eq!(one(IntegerFunction::Sign, Scalar { bits: LEAST.into(), undef: 1 }), word(u32::MAX));
    assert_eq!(find(FoundBit::Lowest, Scalar { bits: 1, undef: 0xfffe }), word(0));
    assert_eq!(clamp(false, [word(1), undefined(32), word(3)]), undefined(32));
}

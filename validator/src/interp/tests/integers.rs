//! Integer and bit operations, compared on all masks of a small width with a concrete oracle.

use super::*;
use crate::interp::evaluate::{self, EvaluationError};
use crate::value::mask;

const WIDTH: u32 = 3;

/// All masks of the width.
fn scalars() -> impl Iterator<Item = Scalar> + Clone {
    let all = 0..=mask(WIDTH);
    all.clone().flat_map(move |undef| {
        all.clone().filter(move |bits| bits & undef == 0).map(move |bits| Scalar { bits, undef })
    })
}

/// All values that a mask admits.
fn values(a: Scalar) -> Vec<u64> {
    (0..=mask(WIDTH)).filter(|value| (value ^ a.bits) & !a.undef == 0).collect()
}

fn signed(value: u64) -> i64 {
    let value = value as i64;
    if value >= 1 << (WIDTH - 1) {
        value - (1 << WIDTH)
    } else {
        value
    }
}

/// What the mask of all these results is.
fn hull(results: &[u64]) -> Scalar {
    let first = results[0];
    let undef = results.iter().fold(0, |undef, result| undef | (result ^ first));
    Scalar { bits: first & !undef, undef }
}

/// `None` is undefined behaviour.
fn oracle(op: BinaryOp, a: u64, b: u64) -> Option<u64> {
    let modulus = 1 << WIDTH;
    let (x, y) = (signed(a), signed(b));
    let wrap = |value: i64| value.rem_euclid(modulus) as u64;
    let overflows = x == -4 && y == -1;
    Some(match op {
        BinaryOp::IAdd => wrap(x + y),
        BinaryOp::ISub => wrap(x - y),
        BinaryOp::IMul => wrap(x * y),
        BinaryOp::UDiv => a.checked_div(b)?,
        BinaryOp::UMod => a.checked_rem(b)?,
        BinaryOp::SDiv if y == 0 || overflows => return None,
        BinaryOp::SRem | BinaryOp::SMod if y == 0 || overflows => return None,
        BinaryOp::SDiv => wrap(x / y),
        BinaryOp::SRem => wrap(x - y * (x / y)),
        BinaryOp::SMod => wrap(x - y * (x as f64 / y as f64).floor() as i64),
        BinaryOp::BitwiseAnd => a & b,
        BinaryOp::BitwiseOr => a | b,
        BinaryOp::BitwiseXor => a ^ b,
        BinaryOp::IEqual => u64::from(a == b),
        BinaryOp::INotEqual => u64::from(a != b),
        BinaryOp::UGreaterThan => u64::from(a > b),
        BinaryOp::UGreaterThanEqual => u64::from(a >= b),
        BinaryOp::ULessThan => u64::from(a < b),
        BinaryOp::ULessThanEqual => u64::from(a <= b),
        BinaryOp::SGreaterThan => u64::from(x > y),
        BinaryOp::SGreaterThanEqual => u64::from(x >= y),
        BinaryOp::SLessThan => u64::from(x < y),
        BinaryOp::SLessThanEqual => u64::from(x <= y),
        other => panic!("no oracle for {other:?}"),
    })
}

/// Compares on all pairs of masks. The result must admit every concrete one; where `exact`, it
/// must be the least mask that does.
fn compare(op: BinaryOp, exact: bool) {
    for (a, b) in scalars().flat_map(|a| scalars().map(move |b| (a, b))) {
        let concrete: Vec<Option<u64>> = values(a)
            .into_iter()
            .flat_map(|a| values(b).into_iter().map(move |b| oracle(op, a, b)))
            .collect();
        let result = evaluate::binary(op, WIDTH as u8, a, b);
        match concrete.into_iter().collect::<Option<Vec<u64>>>() {
            None => assert!(
                matches!(result, Err(EvaluationError::Undefined { .. })),
                "{op:?} {a:?} {b:?} {result:?}"
            ),
            Some(concrete) => {
                let result = result.unwrap();
                let hull = hull(&concrete);
                assert_eq!(result.bits & result.undef, 0);
                assert_eq!(hull.undef & !result.undef, 0, "{op:?} {a:?} {b:?} {result:?}");
                assert_eq!(hull.bits & !result.undef, result.bits, "{op:?} {a:?} {b:?} {result:?}");
                if exact || (a.is_defined() && b.is_defined()) {
                    assert_eq!(result, hull, "{op:?} {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn exact_operations() {
    for op in [
        BinaryOp::IAdd,
        BinaryOp::ISub,
        BinaryOp::BitwiseAnd,
        BinaryOp::BitwiseOr,
        BinaryOp::BitwiseXor,
        BinaryOp::IEqual,
        BinaryOp::INotEqual,
        BinaryOp::UGreaterThan,
        BinaryOp::UGreaterThanEqual,
        BinaryOp::ULessThan,
        BinaryOp::ULessThanEqual,
        BinaryOp::SGreaterThan,
        BinaryOp::SGreaterThanEqual,
        BinaryOp::SLessThan,
        BinaryOp::SLessThanEqual,
    ] {
        compare(op, true);
    }
}

#[test]
fn covering_operations() {
    for op in [BinaryOp::IMul, BinaryOp::UDiv, BinaryOp::UMod, BinaryOp::SDiv, BinaryOp::SRem, BinaryOp::SMod]
    {
        compare(op, false);
    }
}

#[test]
fn results_that_do_not_depend_on_undefined_operands() {
    let undefined = Scalar::undefined(32);
    let (zero, one, minus_one) = (Scalar::new(0), Scalar::new(1), Scalar::new(mask(32)));
    let check = |op: BinaryOp, a: Scalar, b: Scalar, result: Scalar| {
        assert_eq!(evaluate::binary(op, 32, a, b), Ok(result), "{op:?}");
    };
    check(BinaryOp::IMul, undefined, zero, zero);
    check(BinaryOp::IMul, undefined, Scalar::new(4), Scalar { bits: 0, undef: mask(32) & !3 });
    check(BinaryOp::BitwiseAnd, undefined, zero, zero);
    check(BinaryOp::BitwiseAnd, undefined, Scalar::new(3), Scalar { bits: 0, undef: 3 });
    check(BinaryOp::BitwiseOr, undefined, minus_one, minus_one);
    check(BinaryOp::UMod, undefined, one, zero);
    check(BinaryOp::UMod, undefined, Scalar::new(8), Scalar { bits: 0, undef: 7 });
    check(BinaryOp::UDiv, undefined, one, undefined);
    check(BinaryOp::SRem, undefined, one, zero);
    check(BinaryOp::IAdd, undefined, one, undefined);
    check(BinaryOp::ISub, undefined, undefined, undefined);
    check(BinaryOp::ULessThan, undefined, zero, zero);
    check(BinaryOp::UGreaterThanEqual, undefined, zero, one);
    check(BinaryOp::LogicalAnd, Scalar::undefined(1), zero, zero);
    check(BinaryOp::LogicalOr, Scalar::undefined(1), one, one);
    check(BinaryOp::LogicalAnd, Scalar::undefined(1), one, Scalar::undefined(1));
    check(BinaryOp::LogicalEqual, Scalar::undefined(1), one, Scalar::undefined(1));
    check(BinaryOp::LogicalEqual, zero, zero, one);
    check(BinaryOp::LogicalNotEqual, zero, one, one);
}

#[test]
fn division_faults_by_kind() {
    let kind = |op: BinaryOp, a: Scalar, b: Scalar| match evaluate::binary(op, 32, a, b) {
        Err(EvaluationError::Undefined { kind, .. }) => Some(kind),
        _ => None,
    };
    let (least, minus_one) = (Scalar::new(0x8000_0000), Scalar::new(0xffff_ffff));
    for op in [BinaryOp::SDiv, BinaryOp::SRem, BinaryOp::SMod] {
        assert_eq!(kind(op, least, minus_one), Some(UndefinedKind::SignedOverflow));
        assert_eq!(kind(op, least, Scalar::new(0)), Some(UndefinedKind::DivisionByZero));
        assert_eq!(kind(op, least, Scalar::new(1)), None);
        assert_eq!(kind(op, Scalar::new(5), minus_one), None);
        assert_eq!(kind(op, Scalar::undefined(32), minus_one), Some(UndefinedKind::SignedOverflow));
    }
    assert_eq!(kind(BinaryOp::UDiv, least, minus_one), None);
    assert_eq!(kind(BinaryOp::UDiv, least, Scalar::undefined(32)), Some(UndefinedKind::DivisionByZero));
    let odd = Scalar { bits: 1, undef: 0xffff_fffe };
    assert_eq!(kind(BinaryOp::UMod, least, odd), None);
}

#[test]
fn shifts() {
    for a in scalars() {
        for amount in scalars() {
            let amounts = values(amount);
            for (op, by) in [
                (BinaryOp::ShiftLeftLogical, (|a, n| (a << n) & mask(WIDTH)) as fn(u64, u64) -> u64),
                (BinaryOp::ShiftRightLogical, |a, n| a >> n),
                (BinaryOp::ShiftRightArithmetic, |a, n| (signed(a) >> n) as u64 & mask(WIDTH)),
            ] {
                let result = evaluate::binary(op, WIDTH as u8, a, amount).unwrap();
                if amounts.iter().any(|amount| *amount >= u64::from(WIDTH)) {
                    assert_eq!(result, Scalar::undefined(WIDTH));
                    continue;
                }
                let concrete: Vec<u64> = values(a)
                    .into_iter()
                    .flat_map(|a| amounts.iter().map(move |amount| by(a, *amount)))
                    .collect();
                assert_eq!(result, hull(&concrete), "{op:?} {a:?} {amount:?}");
            }
        }
    }
    let huge = Scalar::new(u64::MAX);
    let shifted = evaluate::binary(BinaryOp::ShiftLeftLogical, 32, Scalar::new(1), huge);
    assert_eq!(shifted, Ok(Scalar::undefined(32)));
}

#[test]
fn unary_operations() {
    let check = |op: UnaryOp, of: fn(u64) -> u64| {
        for a in scalars() {
            let concrete: Vec<u64> = values(a).into_iter().map(of).collect();
            assert_eq!(evaluate::unary(op, WIDTH as u8, a), Ok(hull(&concrete)), "{op:?} {a:?}");
        }
    };
    check(UnaryOp::Not, |a| a ^ mask(WIDTH));
    check(UnaryOp::SNegate, |a| ((1 << WIDTH) - a) & mask(WIDTH));
    check(UnaryOp::BitReverse, |a| a >> 2 | a & 2 | (a & 1) << 2);
    check(UnaryOp::BitCount, |a| u64::from(a.count_ones()));
    assert_eq!(evaluate::unary(UnaryOp::LogicalNot, 1, Scalar::new(0)), Ok(Scalar::new(1)));
    assert_eq!(evaluate::unary(UnaryOp::BitReverse, 32, Scalar::new(1)), Ok(Scalar::new(1 << 31)));
}

#[test]
fn extended_operations() {
    type Oracle = fn(u64, u64) -> [u64; 2];
    let exact: [(ExtendedOp, Oracle); 2] = [
        (ExtendedOp::IAddCarry, |a, b| [(a + b) & mask(WIDTH), (a + b) >> WIDTH]),
        (ExtendedOp::ISubBorrow, |a, b| [a.wrapping_sub(b) & mask(WIDTH), u64::from(a < b)]),
    ];
    let covering: [(ExtendedOp, Oracle); 2] = [
        (ExtendedOp::UMulExtended, |a, b| [(a * b) & mask(WIDTH), (a * b) >> WIDTH]),
        (ExtendedOp::SMulExtended, |a, b| {
            let product = (signed(a) * signed(b)) as u64;
            [product & mask(WIDTH), product >> WIDTH & mask(WIDTH)]
        }),
    ];
    for (index, (op, oracle)) in exact.into_iter().chain(covering).enumerate() {
        for (a, b) in scalars().flat_map(|a| scalars().map(move |b| (a, b))) {
            let results = evaluate::extended(op, WIDTH as u8, a, b);
            for (member, result) in results.into_iter().enumerate() {
                let concrete: Vec<u64> = values(a)
                    .into_iter()
                    .flat_map(|a| values(b).into_iter().map(move |b| oracle(a, b)[member]))
                    .collect();
                let hull = hull(&concrete);
                assert_eq!(hull.undef & !result.undef, 0, "{op:?} {a:?} {b:?} {result:?}");
                assert_eq!(hull.bits & !result.undef, result.bits, "{op:?} {a:?} {b:?} {result:?}");
                if index < 2 || (a.is_defined() && b.is_defined()) {
                    assert_eq!(result, hull, "{op:?} {a:?} {b:?}");
                }
            }
        }
    }
}

#[test]
fn bit_fields() {
    let number = Scalar::new;
    let insert = |base, insert, offset, count| {
        evaluate::bit_field_insert(32, number(base), insert, number(offset), number(count))
    };
    assert_eq!(insert(0xffff_ffff, number(0), 8, 4), number(0xffff_f0ff));
    assert_eq!(insert(7, Scalar::undefined(32), 4, 2), Scalar { bits: 7, undef: 0x30 });
    assert_eq!(insert(7, Scalar::undefined(32), 32, 0), number(7));
    assert_eq!(insert(7, number(9), 0, 32), number(9));
    assert_eq!(insert(7, number(9), 31, 2), Scalar::undefined(32));
    assert_eq!(insert(7, number(9), u64::MAX, 1), Scalar::undefined(32));
    let extract = |signed, base, offset, count| {
        evaluate::bit_field_extract(32, signed, base, number(offset), number(count))
    };
    assert_eq!(extract(false, number(0xabcd), 4, 8), number(0xbc));
    assert_eq!(extract(true, number(0xabcd), 4, 8), number(0xffff_ffbc));
    assert_eq!(extract(true, number(0xabcd), 4, 0), number(0));
    assert_eq!(extract(true, number(0x8000_0000), 0, 32), number(0x8000_0000));
    assert_eq!(extract(true, Scalar { bits: 0, undef: 8 }, 2, 2), Scalar { bits: 0, undef: 0xffff_fffe });
    assert_eq!(extract(false, number(1), 30, 3), Scalar::undefined(32));
    let unknown = evaluate::bit_field_extract(32, false, number(1), Scalar::undefined(32), number(1));
    assert_eq!(unknown, Scalar::undefined(32));
}

#[test]
fn conversions_between_integers() {
    let convert = |op, from, to, a| evaluate::convert(op, from, to, a).unwrap();
    assert_eq!(convert(ConvertOp::UConvert, 32, 8, Scalar::new(0x1ff)), Scalar::new(0xff));
    assert_eq!(convert(ConvertOp::UConvert, 8, 32, Scalar::new(0xff)), Scalar::new(0xff));
    assert_eq!(convert(ConvertOp::SConvert, 8, 32, Scalar::new(0x80)), Scalar::new(0xffff_ff80));
    let sign_unknown = Scalar { bits: 1, undef: 0x80 };
    assert_eq!(convert(ConvertOp::SConvert, 8, 16, sign_unknown), Scalar { bits: 1, undef: 0xff80 });
}

#[test]
fn bitcasts_put_low_components_into_low_bits() {
    let cast = |from: u8, to: u8, components: &[Scalar]| {
        let total = components.len() * usize::from(from) / usize::from(to);
        let mut out = vec![Scalar::default(); total];
        evaluate::bitcast(from, to, components, &mut out);
        out
    };
    let wide = Scalar { bits: 0x1234_0000_0000_5678, undef: 0xff_0000_0000 };
    let narrow = [Scalar::new(0x5678), Scalar { bits: 0x1234_0000, undef: 0xff }];
    assert_eq!(cast(64, 32, &[wide]), narrow);
    assert_eq!(cast(32, 64, &narrow), [wide]);
    assert_eq!(cast(16, 64, &[1, 2, 3, 4].map(Scalar::new)), [Scalar::new(0x0004_0003_0002_0001)]);
}

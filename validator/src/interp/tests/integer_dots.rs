//! Integer dot products, by their definitions in SPIR-V 3.3.13.

use super::*;
use crate::interp::integer_dot::evaluate;

/// The dot product of vectors of `component_width` bits, of constants alone.
fn dot(
    signs: DotSigns,
    [component_width, width]: [u8; 2],
    a: &[u64],
    b: &[u64],
    accumulator: Option<u64>,
) -> Scalar {
    let pool: Vec<Scalar> = a.iter().chain(b).copied().chain(accumulator).map(Scalar::new).collect();
    on(signs, [component_width, width], a.len() as u32, false, &pool)
}

/// The same of operands that follow one another in a pool.
fn on(
    signs: DotSigns,
    [component_width, width]: [u8; 2],
    count: u32,
    packed: bool,
    pool: &[Scalar],
) -> Scalar {
    let places = if packed { 1 } else { count };
    let accumulator = (pool.len() as u32 > 2 * places).then_some(Operand::constant(2 * places));
    let op = IntegerDot {
        dst: 0,
        width,
        component_width,
        count,
        packed,
        signs,
        a: Operand::constant(0),
        b: Operand::constant(places),
        accumulator,
    };
    evaluate(&op, |operand| pool[operand.index() as usize])
}

fn packed(signs: DotSigns, width: u8, operands: &[u64]) -> Scalar {
    let pool: Vec<Scalar> = operands.iter().copied().map(Scalar::new).collect();
    on(signs, [8, width], 4, true, &pool)
}

#[test]
fn components_are_extended_by_the_instructions_signs() {
    let (a, b) = ([0xff, 0x80], [0x02, 0xff]);
    // -1 × 2 + -128 × -1
    assert_eq!(dot(DotSigns::Signed, [8, 32], &a, &b, None), Scalar::new(126));
    assert_eq!(dot(DotSigns::Unsigned, [8, 32], &a, &b, None), Scalar::new(255 * 2 + 128 * 255));
    // -1 × 2 + -128 × 255
    let mixed = (-2_i32 - 128 * 255) as u32;
    assert_eq!(dot(DotSigns::Mixed, [8, 32], &a, &b, None), Scalar::new(u64::from(mixed)));
}

#[test]
fn the_result_has_the_low_bits_of_the_exact_sum() {
    assert_eq!(
        dot(DotSigns::Unsigned, [8, 8], &[255, 2], &[255, 3], None),
        Scalar::new((255 * 255 + 6) & 0xff)
    );
    assert_eq!(dot(DotSigns::Signed, [8, 8], &[0x80, 0x80], &[0x80, 0x80], None), Scalar::new(0));
    let all = u64::MAX;
    assert_eq!(dot(DotSigns::Unsigned, [64, 64], &[all, all], &[all, all], None), Scalar::new(2));
    assert_eq!(
        dot(DotSigns::Mixed, [32, 64], &[0xffff_ffff], &[0xffff_ffff], None),
        Scalar::new((-0xffff_ffff_i64) as u64)
    );
}

#[test]
fn the_first_component_of_a_packed_vector_is_in_the_low_bits() {
    assert_eq!(packed(DotSigns::Unsigned, 32, &[0x0403_0201, 0x0000_0001]), Scalar::new(1));
    assert_eq!(packed(DotSigns::Unsigned, 32, &[0x0403_0201, 0x0100_0000]), Scalar::new(4));
    assert_eq!(packed(DotSigns::Signed, 32, &[0xffff_ffff, 0x0403_0201]), Scalar::new(0xffff_fff6));
    assert_eq!(packed(DotSigns::Mixed, 32, &[0xffff_ffff, 0xffff_ffff]), Scalar::new(0xffff_fc04));
    assert_eq!(packed(DotSigns::Mixed, 8, &[0x0000_0001, 0x0000_00ff]), Scalar::new(0xff));
    assert_eq!(packed(DotSigns::Signed, 64, &[0x0000_0080, 0x0000_0001]), Scalar::new((-128_i64) as u64));
}

#[test]
fn the_sum_with_the_accumulator_saturates() {
    let max = i32::MAX as u64;
    let min = u64::from(i32::MIN as u32);
    assert_eq!(dot(DotSigns::Signed, [8, 32], &[3, 1], &[5, 0], Some(max - 15)), Scalar::new(max));
    assert_eq!(dot(DotSigns::Signed, [8, 32], &[3, 1], &[5, 0], Some(max - 14)), Scalar::new(max));
    assert_eq!(dot(DotSigns::Signed, [8, 32], &[0xff, 0], &[1, 0], Some(min)), Scalar::new(min));
    assert_eq!(dot(DotSigns::Mixed, [8, 32], &[0xff, 0], &[255, 0], Some(min + 254)), Scalar::new(min));
    assert_eq!(
        dot(DotSigns::Unsigned, [8, 32], &[255, 0], &[255, 0], Some(0xffff_8000)),
        Scalar::new(0xffff_ffff)
    );
    assert_eq!(dot(DotSigns::Unsigned, [8, 8], &[2, 3], &[4, 5], Some(7)), Scalar::new(30));
    assert_eq!(packed(DotSigns::Signed, 32, &[0x0101_0101, 0x0101_0101, max]), Scalar::new(max));
    assert_eq!(packed(DotSigns::Unsigned, 32, &[0x0101_0101, 0x0101_0101, 5]), Scalar::new(9));
}

#[test]
fn an_overflow_before_the_accumulator_leaves_the_result_undefined() {
    let undefined = |width| Scalar::undefined(width);
    assert_eq!(dot(DotSigns::Unsigned, [8, 8], &[16, 0], &[16, 0], Some(0)), undefined(8));
    assert_eq!(dot(DotSigns::Signed, [8, 8], &[64, 0xc0], &[2, 2], Some(0)), undefined(8));
    // 127 + 127 - 127: whether it overflows depends on the order.
    assert_eq!(dot(DotSigns::Signed, [8, 8], &[127, 127, 129], &[1, 1, 1], Some(0)), undefined(8));
    assert_eq!(dot(DotSigns::Unsigned, [64, 64], &[u64::MAX], &[u64::MAX], Some(0)), undefined(64));
    assert_eq!(dot(DotSigns::Signed, [64, 64], &[1 << 63], &[1 << 63], Some(0)), undefined(64));
}

#[test]
fn undefined_bits_spread() {
    let pool = [Scalar { bits: 0, undef: 0xff00 }, Scalar::new(0x0000_0001)];
    assert_eq!(on(DotSigns::Unsigned, [8, 32], 4, true, &pool), Scalar::new(0));
    let pool = [Scalar { bits: 0, undef: 0xff00 }, Scalar::new(0x0000_0100)];
    assert_eq!(on(DotSigns::Unsigned, [8, 32], 4, true, &pool), Scalar::undefined(32));
    assert_eq!(on(DotSigns::Signed, [8, 32], 4, true, &pool), Scalar::undefined(32));
    let pool = [Scalar::new(1), Scalar::new(1), Scalar::undefined(32)];
    assert_eq!(on(DotSigns::Signed, [8, 32], 4, true, &pool), Scalar::undefined(32));
}

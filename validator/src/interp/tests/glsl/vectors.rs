//! Geometry and matrices.

use super::*;
use VectorFunction as V;

fn vectors(function: V, count: u32, values: &[f32], total: usize) -> Vec<Scalar> {
    let values: Vec<Scalar> = values.iter().copied().map(single).collect();
    results(GlslFunction::Vector(function), 32, count, &values, total)
}

fn singles(values: &[f32]) -> Vec<Scalar> {
    values.iter().copied().map(single).collect()
}

#[test]
fn lengths_and_distances() {
    assert_eq!(vectors(V::Length(operand(0)), 2, &[3.0, 4.0], 1), singles(&[5.0]));
    assert_eq!(vectors(V::Length(operand(0)), 1, &[-3.0], 1), singles(&[3.0]));
    assert_eq!(vectors(V::Length(operand(0)), 3, &[0.0, -0.0, 0.0], 1), singles(&[0.0]));
    // The squares overflow.
    assert_eq!(vectors(V::Length(operand(0)), 2, &[1e30, 0.0], 1), singles(&[INFINITY]));
    let distance = V::Distance([operand(0), operand(2)]);
    assert_eq!(vectors(distance, 2, &[1.0, 1.0, 4.0, 5.0], 1), singles(&[5.0]));
}

#[test]
fn directions() {
    assert_eq!(vectors(V::Normalize(operand(0)), 2, &[3.0, -4.0], 2), singles(&[0.6, -0.8]));
    assert_eq!(vectors(V::Normalize(operand(0)), 1, &[-7.0], 1), singles(&[-1.0]));
    assert_eq!(vectors(V::Normalize(operand(0)), 2, &[0.0, -0.0], 2), [undefined(32); 2]);
}

#[test]
fn products_across() {
    let cross = V::Cross([operand(0), operand(3)]);
    assert_eq!(vectors(cross, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0], 3), singles(&[0.0, 0.0, 1.0]));
    assert_eq!(vectors(cross, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), singles(&[-3.0, 6.0, -3.0]));
}

#[test]
fn faces_turn_against_the_light() {
    let face = V::FaceForward([operand(0), operand(2), operand(4)]);
    let turned = |reference: f32| vectors(face, 2, &[1.0, -2.0, 0.0, 1.0, 0.0, reference], 2);
    assert_eq!(turned(-1.0), singles(&[1.0, -2.0]));
    assert_eq!(turned(1.0), singles(&[-1.0, 2.0]));
    // A right angle is not negative.
    assert_eq!(turned(0.0), singles(&[-1.0, 2.0]));
    let partly = [1.0, -2.0, 0.0, 1.0, 0.0].map(single);
    let values: Vec<Scalar> = partly.into_iter().chain([undefined(32)]).collect();
    let either = results(GlslFunction::Vector(face), 32, 2, &values, 1)[0];
    assert_eq!(either, Scalar { bits: 0x3f80_0000, undef: 0x8000_0000 });
}

#[test]
fn reflections_and_refractions() {
    let reflect = V::Reflect([operand(0), operand(2)]);
    assert_eq!(vectors(reflect, 2, &[1.0, -1.0, 0.0, 1.0], 2), singles(&[1.0, 1.0]));
    let refract = |eta_width, eta| {
        let function = V::Refract { incident: operand(0), normal: operand(2), eta: operand(4), eta_width };
        let values: Vec<Scalar> = [0.0, -1.0, 0.0, 1.0].map(single).into_iter().chain([eta]).collect();
        results(GlslFunction::Vector(function), 32, 2, &values, 2)
    };
    assert_eq!(refract(32, single(0.5)), singles(&[0.0, -1.0]));
    assert_eq!(refract(16, half(0x3800)), singles(&[0.0, -1.0]));
    // Total reflection.
    let function = V::Refract { incident: operand(0), normal: operand(2), eta: operand(4), eta_width: 32 };
    assert_eq!(vectors(function, 2, &[0.8, -0.6, 0.0, 1.0, 2.0], 2), singles(&[0.0, 0.0]));
    // k is 0, and then 1/4.
    assert_eq!(vectors(function, 2, &[1.0, 0.0, 0.0, 1.0, 1.0], 2), singles(&[1.0, 0.0]));
    assert_eq!(vectors(function, 2, &[1.0, -0.5, 0.0, 1.0, 1.0], 2), singles(&[1.0, -0.5]));
    let narrow = V::Refract { incident: operand(0), normal: operand(2), eta: operand(4), eta_width: 16 };
    let along = [1.0, 0.0, 0.0, 1.0].map(single).into_iter().chain([half(0x3800)]);
    let refracted = results(GlslFunction::Vector(narrow), 32, 2, &along.collect::<Vec<_>>(), 1);
    assert_eq!(refracted, singles(&[0.5]));
}

#[test]
fn determinants() {
    let determinant = |count, values: &[f32]| vectors(V::Determinant(operand(0)), count, values, 1)[0];
    assert_eq!(determinant(2, &[1.0, 2.0, 3.0, 4.0]), single(-2.0));
    assert_eq!(determinant(3, &[2.0, 0.0, 1.0, 1.0, 3.0, 2.0, 1.0, 1.0, 4.0]), single(18.0));
    let four = [1.0, 0.0, 2.0, -1.0, 3.0, 0.0, 0.0, 5.0, 2.0, 1.0, 4.0, -3.0, 1.0, 0.0, 5.0, 0.0];
    assert_eq!(determinant(4, &four), single(30.0));
    let function = GlslFunction::Vector(V::Determinant(operand(0)));
    assert_eq!(results(function, 32, 2, &[undefined(32); 4], 1), [undefined(32)]);
}

#[test]
fn inverses() {
    let inverse =
        |count: u32, values: &[f32]| vectors(V::MatrixInverse(operand(0)), count, values, values.len());
    // Columns (1, 3) and (2, 4): the inverse's are (-2, 1.5) and (1, -0.5).
    assert_eq!(inverse(2, &[1.0, 3.0, 2.0, 4.0]), singles(&[-2.0, 1.5, 1.0, -0.5]));
    let shear = [1.0, 0.0, 0.0, 2.0, 1.0, 0.0, 3.0, 4.0, 1.0];
    let back = [1.0, -0.0, 0.0, -2.0, 1.0, -0.0, 5.0, -4.0, 1.0];
    for (actual, expected) in inverse(3, &shear).iter().zip(back) {
        assert_eq!(f32::from_bits(actual.bits as u32), expected);
    }
    let mut scale = [0.0; 16];
    for (i, factor) in [2.0, 4.0, 8.0, -0.5].into_iter().enumerate() {
        scale[5 * i] = factor;
    }
    let halves = inverse(4, &scale);
    for (i, factor) in [0.5, 0.25, 0.125, -2.0].into_iter().enumerate() {
        assert_eq!(halves[5 * i], single(factor));
    }
    assert_eq!(inverse(2, &[1.0, 2.0, 2.0, 4.0]), [undefined(32); 4]);
    let doubles = [1.0, 3.0, 2.0, 4.0].map(double);
    let function = GlslFunction::Vector(V::MatrixInverse(operand(0)));
    assert_eq!(results(function, 64, 2, &doubles, 4), [-2.0, 1.5, 1.0, -0.5].map(double));
}

//! Float formats, modes and constants.

use super::*;
use crate::ir::{EncodedOp, FloatEncoding, NumberFormat};
use crate::value::Scalar;

#[test]
fn fast_math_and_rounding_modes_are_noted() {
    let modes = |decoration: &str, mode: &str| {
        let source = text("", "%sum = OpFAdd %float %f1 %f1\nOpReturn")
            .replace("OpDecorate %Block Block", &format!("{decoration}\nOpDecorate %Block Block"))
            .replace("OpExecutionMode", &format!("{mode}\nOpExecutionMode"));
        lower(&read_leniently(&source), &LowerOptions::default()).unwrap().modes.floats
    };
    assert!(modes("OpDecorate %sum FPFastMathMode NotNaN", "").fast_math);
    let plain = modes("", "");
    assert!(!plain.fast_math && plain.always_inexact.is_none());
    assert!(modes("OpDecorate %sum RelaxedPrecision", "").always_inexact.is_some());
    let modes =
        modes("", "OpExecutionMode %main DenormPreserve 32\nOpExecutionMode %main RoundingModeRTE 16");
    assert!(modes.preserves_denormals(32) && !modes.preserves_denormals(16));
    assert!(modes.rounds_to_even(16) && !modes.preserves_special_values(32));
}

#[test]
fn float_constants_are_folded() {
    let declarations = "%half = OpTypeFloat 16
        %s = OpSpecConstant %float 0.1
        %n = OpSpecConstantOp %half FConvert %s
        %q = OpSpecConstantOp %float QuantizeToF16 %s";
    let body = "%a = OpFAdd %half %n %n\n%b = OpFAdd %float %q %q\nOpReturn";
    let source = text(declarations, body)
        .replace("OpCapability Shader", "OpCapability Shader\nOpCapability Float16")
        .replace("OpDecorate %Block Block", "OpDecorate %s SpecId 1\nOpDecorate %Block Block");
    let with = |value: &str| {
        let specialisations = vec![value.parse().unwrap()];
        let options = LowerOptions { specialisations, ..LowerOptions::default() };
        let program = lower(&read_leniently(&source), &options).unwrap();
        // What constants are rounded to is the implementation's choice, too.
        assert!(program.modes.floats.always_inexact.is_some());
        let value = |op: &Op| match op {
            Op::Binary { a, .. } => program.constants[a.index() as usize],
            other => panic!("{other:?}"),
        };
        [value(operations(&program)[0]), value(operations(&program)[1])]
    };
    assert_eq!(with("1=0.1"), [Scalar::new(0x2e66), Scalar::new(u64::from(0.099_975_586_f32.to_bits()))]);
    assert_eq!(with("1=65520"), [Scalar::new(0x7c00), Scalar::new(0x7f80_0000)]);
}

const ENCODED: &str = "%brain = OpTypeFloat 16 BFloat16KHR
    %brain2 = OpTypeVector %brain 2
    %tiny = OpTypeFloat 8 Float8E4M3EXT
    %b1 = OpConstant %brain 1
    %b2 = OpConstantComposite %brain2 %b1 %b1
    %i1 = OpConstant %int 1";

fn encoded(body: &str) -> Result<Program, LowerError> {
    let source = text(ENCODED, body)
        .replace(
            "OpCapability Shader\n",
            "OpCapability Shader\nOpCapability BFloat16TypeKHR\nOpCapability BFloat16DotProductKHR
OpCapability Float8EXT\n",
        )
        .replacen(
            "OpExtension",
            "OpExtension \"SPV_KHR_bfloat16\"\nOpExtension \"SPV_EXT_float8\"\nOpExtension",
            1,
        )
        .replace(
            "OpDecorate %Block Block",
            "OpDecorate %narrow SaturatedToLargestFloat8NormalConversionEXT\nOpDecorate %Block Block",
        );
    lower(&read_leniently(&source), &LowerOptions::default())
}

#[test]
fn encoded_floats_are_converted_and_multiplied() {
    let program = encoded(
        "%wide = OpFConvert %float %b1
         %narrow = OpFConvert %tiny %wide
         %integer = OpConvertFToS %int %b1
         %back = OpConvertSToF %brain %i1
         %dot = OpDot %brain %b2 %b2
         %bits = OpCopyObject %brain %dot
         OpReturn",
    )
    .unwrap();
    let operations = operations(&program);
    let formats: Vec<(NumberFormat, NumberFormat, bool)> = operations
        .iter()
        .filter_map(|op| match op {
            Op::Encoded(EncodedOp::Convert { from, to, saturates, .. }) => Some((*from, *to, *saturates)),
            _ => None,
        })
        .collect();
    let brain = NumberFormat::Encoded(FloatEncoding::BFloat16);
    assert_eq!(
        formats,
        [
            (brain, NumberFormat::Float(32), false),
            (NumberFormat::Float(32), NumberFormat::Encoded(FloatEncoding::Float8E4M3), true),
            (brain, NumberFormat::Signed(32), false),
            (NumberFormat::Signed(32), brain, false),
        ]
    );
    assert!(operations.iter().any(|op| matches!(op, Op::Encoded(EncodedOp::Dot { count: 2, .. }))));
}

#[test]
fn encoded_floats_are_not_computed_with() {
    for body in ["%x = OpFAdd %brain %b1 %b1\nOpReturn", "%x = OpFOrdLessThan %bool %b1 %b1\nOpReturn"] {
        assert!(matches!(encoded(body), Err(LowerError::Invalid { .. })), "{body}");
    }
}

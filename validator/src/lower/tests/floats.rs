//! Float formats, modes and constants.

use super::*;
use crate::ir::{EncodedOp, Evaluation, FloatEncoding, Flushes, NumberFormat, Rounding, Specials, Way};
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
fn modes_that_demand_an_evaluation_give_it_to_operations_of_their_width() {
    let evaluations = |mode: &str| {
        let body = "%sum = OpFAdd %float %f1 %f1\n%quotient = OpFDiv %float %f1 %f1\nOpReturn";
        let source = text("", body).replace("OpExecutionMode", &format!("{mode}\nOpExecutionMode"));
        let program = lower(&read_leniently(&source), &LowerOptions::default()).unwrap();
        let code = &program.functions[0].code;
        [0, 1].map(|at| code[at].evaluation.as_deref().copied())
    };
    let towards_zero = Evaluation { rounding: Rounding::TowardZero, ..Evaluation::default() };
    let flushed = Evaluation { flushes: Flushes::Result, ..Evaluation::default() };
    assert_eq!(evaluations("OpExecutionMode %main RoundingModeRTZ 32"), [Some(towards_zero), None]);
    assert_eq!(evaluations("OpExecutionMode %main DenormFlushToZero 32"), [Some(flushed), None]);
    assert_eq!(evaluations("OpExecutionMode %main RoundingModeRTZ 16"), [None, None]);
    assert_eq!(evaluations("OpExecutionMode %main RoundingModeRTE 32"), [None, None]);
}

#[test]
fn relaxed_precision_has_a_bound_on_results_of_instructions_alone() {
    let modes = |decoration: &str| {
        let body = "%local = OpVariable %ptr_Function_float Function\n%sum = OpFAdd %float %f1 %f1\nOpReturn";
        let types = "%ptr_Function_float = OpTypePointer Function %float\n%Pair = OpTypeStruct %uint %float2";
        let source = text(types, body)
            .replace("OpDecorate %Block Block", &format!("{decoration}\nOpDecorate %Block Block"));
        lower(&read_leniently(&source), &LowerOptions::default()).unwrap()
    };
    let relaxed = |program: &Program| program.functions[0].code.iter().any(|inst| inst.relaxed);
    let sum = modes("OpDecorate %sum RelaxedPrecision");
    assert!(sum.modes.floats.always_inexact.is_some() && !sum.modes.floats.unbounded && relaxed(&sum));
    let grouped =
        "OpDecorate %group RelaxedPrecision\n%group = OpDecorationGroup\nOpGroupDecorate %group %local";
    for elsewhere in
        ["OpDecorate %local RelaxedPrecision", "OpMemberDecorate %Pair 1 RelaxedPrecision", grouped]
    {
        let program = modes(elsewhere);
        assert!(program.modes.floats.unbounded, "{elsewhere}");
    }
    assert!(!modes("").modes.floats.unbounded);
    // Integers are exact.
    for of_integers in ["OpDecorate %local_id RelaxedPrecision", "OpMemberDecorate %Pair 0 RelaxedPrecision"]
    {
        let modes = modes(of_integers).modes.floats;
        assert!(modes.always_inexact.is_none() && !modes.unbounded, "{of_integers}");
    }
}

/// The lines of what the way changes, counted from that of %a.
fn computed(decorations: &str, modes: &str, body: &str, way: Way) -> Vec<u32> {
    let source = text("", &format!("{body}\nOpReturn"))
        .replace("OpDecorate %Block Block", &format!("{decorations}\nOpDecorate %Block Block"))
        .replace("OpExecutionMode", &format!("{modes}\nOpExecutionMode"));
    let program = lower(&read_leniently(&source), &LowerOptions::default()).unwrap();
    let first = source.lines().position(|line| line.starts_with("%a = ")).unwrap() as u32;
    let lines = program.computed(way, 32).map_or(Vec::new(), |(_, lines)| lines);
    lines.into_iter().map(|line| line - first - 1).collect()
}

#[test]
fn what_is_not_decorated_may_be_fused() {
    let body = "%a = OpFMul %float %f1 %f1\n%b = OpFMul %float %f1 %f1\n%c = OpFSub %float %a %b
        %d = OpFAdd %float %c %f1\n%e = OpCopyObject %float %b\n%f = OpFAdd %float %f1 %e";
    let fused = |decorations: &str| computed(decorations, "", body, Way::Fused { first: true });
    assert_eq!(fused(""), [2, 5]);
    assert_eq!(fused("OpDecorate %f NoContraction"), [2]);
    // The other product is still there.
    assert_eq!(fused("OpDecorate %a NoContraction"), [2, 5]);
    assert_eq!(fused("OpDecorate %b NoContraction"), [2]);
    assert_eq!(fused("OpDecorate %a NoContraction\nOpDecorate %b NoContraction"), [0; 0]);
    // FPFastMathMode says for itself what is allowed.
    assert_eq!(fused("OpDecorate %f FPFastMathMode NSZ"), [2]);
    assert_eq!(fused("OpDecorate %f FPFastMathMode AllowContract|NSZ"), [2, 5]);
}

#[test]
fn ways_are_permitted_by_what_the_modes_leave_open() {
    let body = "%a = OpFMul %float %f1 %f1\n%b = OpFDiv %float %a %a\n%c = OpIsNan %bool %a
        %d = OpFOrdLessThan %bool %a %f1";
    let lines = |decorations: &str, mode: &str, way| {
        let mode = if mode.is_empty() { String::new() } else { format!("OpExecutionMode %main {mode} 32") };
        computed(decorations, &mode, body, way)
    };
    let (rounded, flushed) = (Way::Rounded(Rounding::Upward), Way::Flushed);
    let (zeros, finite) = (Way::Specials(Specials::PositiveZeros), Way::Specials(Specials::Finite));
    assert_eq!(lines("", "", rounded), [0]);
    assert!(
        lines("", "RoundingModeRTE", rounded).is_empty() && lines("", "RoundingModeRTZ", rounded).is_empty()
    );
    assert_eq!(lines("", "", flushed), [0, 3]);
    assert!(lines("", "DenormPreserve", flushed).is_empty());
    let narrow = "%n = OpTypeFloat 16";
    let source = text(narrow, "%a = OpFConvert %n %f1\nOpReturn")
        .replace("OpCapability Shader", "OpCapability Shader\nOpCapability Float16")
        .replace("OpExecutionMode", "OpExecutionMode %main DenormPreserve 32\nOpExecutionMode");
    let program = lower(&read_leniently(&source), &LowerOptions::default()).unwrap();
    let (program, _) = program.computed(flushed, 16).unwrap();
    let evaluation = program.functions[0].code[0].evaluation.as_deref().copied().unwrap();
    // The operand's width keeps its denormals.
    assert_eq!(evaluation.flushes, Flushes::Result);
    assert_eq!((lines("", "", zeros), lines("", "", finite)), (vec![0], vec![0, 2]));
    let kept = "SignedZeroInfNanPreserve";
    assert!(lines("", kept, zeros).is_empty() && lines("", kept, finite).is_empty());
    assert_eq!(lines("OpDecorate %a FPFastMathMode NSZ", kept, zeros), [0]);
    assert!(lines("OpDecorate %a FPFastMathMode NSZ", kept, finite).is_empty());
    assert_eq!(lines("OpDecorate %a FPFastMathMode NotNaN", "", finite), [0, 2]);
    assert!(lines("OpDecorate %a FPFastMathMode NotNaN", "", zeros).is_empty());
    assert_eq!(lines("OpDecorate %b RelaxedPrecision", "", Way::Half), [1]);
    assert!(lines("", "", Way::Half).is_empty());
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

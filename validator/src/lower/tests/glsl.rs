//! Instructions of GLSL.std.450, from their text.

use std::collections::BTreeSet;

use rspirv::spirv::GlslStd450Op;

use super::*;
use crate::ir::{FloatFunction, FloatFunction2, FloatFunction3, FoundBit, GlslFunction};

const DECLARATIONS: &str = "%double = OpTypeFloat 64
%int2 = OpTypeVector %int 2
%float4 = OpTypeVector %float 4
%matrix = OpTypeMatrix %float2 2
%modf = OpTypeStruct %float %float
%frexp = OpTypeStruct %float2 %int2
%pointer_float = OpTypePointer Function %float
%pointer_int2 = OpTypePointer Function %int2
%i1 = OpConstant %int 1
%d1 = OpConstant %double 1
%f2 = OpConstantComposite %float2 %f1 %f1
%f3 = OpConstantComposite %float3 %f1 %f1 %f1
%f4 = OpConstantComposite %float4 %f1 %f1 %f1 %f1
%u11 = OpConstantComposite %uint2 %u1 %u1
%identity = OpConstantComposite %matrix %f2 %f2";

/// Result type, and the instruction with its operands.
const INSTRUCTIONS: &str = "float Round %f1
float RoundEven %f1
float Trunc %f1
float FAbs %f1
int SAbs %i1
float FSign %f1
int SSign %i1
float Floor %f1
float Ceil %f1
float Fract %f1
float Radians %f1
float Degrees %f1
float Sin %f1
float Cos %f1
float Tan %f1
float Asin %f1
float Acos %f1
float Atan %f1
float Sinh %f1
float Cosh %f1
float Tanh %f1
float Asinh %f1
float Acosh %f1
float Atanh %f1
float Atan2 %f1 %f1
float Pow %f1 %f1
float Exp %f1
float Log %f1
float Exp2 %f1
float Log2 %f1
float Sqrt %f1
float InverseSqrt %f1
float Determinant %identity
matrix MatrixInverse %identity
float Modf %f1 %whole
modf ModfStruct %f1
float FMin %f1 %f1
uint UMin %u1 %u1
int SMin %i1 %i1
float FMax %f1 %f1
uint UMax %u1 %u1
int SMax %i1 %i1
float FClamp %f1 %f1 %f1
uint UClamp %u1 %u1 %u1
int SClamp %i1 %i1 %i1
float2 FMix %f2 %f2 %f2
float Step %f1 %f1
float SmoothStep %f1 %f1 %f1
float3 Fma %f3 %f3 %f3
float2 Frexp %f2 %exponents
frexp FrexpStruct %f2
float Ldexp %f1 %i1
uint PackSnorm4x8 %f4
uint PackUnorm4x8 %f4
uint PackSnorm2x16 %f2
uint PackUnorm2x16 %f2
uint PackHalf2x16 %f2
double PackDouble2x32 %u11
float2 UnpackSnorm2x16 %u1
float2 UnpackUnorm2x16 %u1
float2 UnpackHalf2x16 %u1
float4 UnpackSnorm4x8 %u1
float4 UnpackUnorm4x8 %u1
uint2 UnpackDouble2x32 %d1
float Length %f3
float Distance %f3 %f3
float3 Cross %f3 %f3
float3 Normalize %f3
float3 FaceForward %f3 %f3 %f3
float3 Reflect %f3 %f3
float3 Refract %f3 %f3 %f1
int FindILsb %u1
int FindSMsb %i1
int FindUMsb %u1
float NMin %f1 %f1
float NMax %f1 %f1
float NClamp %f1 %f1 %f1";

/// A module whose body is these lines of [`INSTRUCTIONS`].
fn with_set(lines: &str) -> String {
    let mut body = String::from(
        "%whole = OpVariable %pointer_float Function\n%exponents = OpVariable %pointer_int2 Function\n",
    );
    for (number, line) in lines.lines().enumerate() {
        let (ty, rest) = line.split_once(' ').unwrap();
        body += &format!("%r{number} = OpExtInst %{ty} %glsl {rest}\n");
    }
    text(DECLARATIONS, &(body + "OpReturn"))
        .replace("OpCapability Shader", "OpCapability Shader\nOpCapability Float64")
        .replace("OpMemoryModel", "%glsl = OpExtInstImport \"GLSL.std.450\"\nOpMemoryModel")
}

#[test]
fn the_whole_set_is_lowered() {
    let source = with_set(INSTRUCTIONS);
    let program = lower(&read(&source), &LowerOptions::default()).unwrap();
    let numbers: BTreeSet<u8> = operations(&program)
        .iter()
        .filter_map(|op| match op {
            Op::Glsl(op) => Some(op.number),
            _ => None,
        })
        .collect();
    // IMix was withdrawn; the others interpolate, in fragment shaders.
    let without = [47, 76, 77, 78];
    let expected: BTreeSet<u8> = (1..=81).filter(|number| !without.contains(number)).collect();
    assert_eq!(numbers, expected);
}

/// What the set calls an instruction with this function.
fn name_of(function: &GlslFunction) -> String {
    let word = |debug: String| debug.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("").to_owned();
    match function {
        GlslFunction::Float(FloatFunction::Abs, _) => "FAbs".into(),
        GlslFunction::Float(FloatFunction::Sign, _) => "FSign".into(),
        GlslFunction::Float(function, _) => word(format!("{function:?}")),
        GlslFunction::Transcendental(function, _) => word(format!("{function:?}")),
        GlslFunction::Float2(FloatFunction2::Min, _) => "FMin".into(),
        GlslFunction::Float2(FloatFunction2::Max, _) => "FMax".into(),
        GlslFunction::Float2(function, _) => word(format!("{function:?}")),
        GlslFunction::Float3(FloatFunction3::Clamp, _) => "FClamp".into(),
        GlslFunction::Float3(FloatFunction3::Mix, _) => "FMix".into(),
        GlslFunction::Float3(function, _) => word(format!("{function:?}")),
        GlslFunction::Integer(function, _) => format!("S{function:?}"),
        GlslFunction::Integer2(function, _) => word(format!("{function:?}")),
        GlslFunction::Clamp { signed: true, .. } => "SClamp".into(),
        GlslFunction::Clamp { signed: false, .. } => "UClamp".into(),
        GlslFunction::FindBit { bit: FoundBit::Lowest, .. } => "FindILsb".into(),
        GlslFunction::FindBit { bit: FoundBit::Highest, .. } => "FindUMsb".into(),
        GlslFunction::FindBit { bit: FoundBit::HighestSigned, .. } => "FindSMsb".into(),
        GlslFunction::Pack(packing, _) => format!("Pack{packing:?}"),
        GlslFunction::Unpack(packing, _) => format!("Unpack{packing:?}"),
        GlslFunction::PackDouble(_) => "PackDouble2x32".into(),
        GlslFunction::UnpackDouble(_) => "UnpackDouble2x32".into(),
        GlslFunction::Vector(function) => word(format!("{function:?}")),
        GlslFunction::ModfStruct(_) | GlslFunction::FrexpStruct { .. } | GlslFunction::Ldexp { .. } => {
            word(format!("{function:?}"))
        }
    }
}

#[test]
fn every_instruction_computes_what_its_name_says() {
    let program = lower(&read(&with_set(INSTRUCTIONS)), &LowerOptions::default()).unwrap();
    for op in operations(&program) {
        let Op::Glsl(op) = op else { continue };
        let name = format!("{:?}", GlslStd450Op::from_u32(op.number.into()).unwrap());
        let with_pointer = matches!(name.as_str(), "Modf" | "Frexp");
        let expected = if with_pointer { format!("{name}Struct") } else { name };
        assert_eq!(name_of(&op.function), expected);
    }
}

#[test]
fn the_second_part_is_stored_through_the_pointer() {
    let source = with_set("float Modf %f1 %whole");
    let program = lower(&read(&source), &LowerOptions::default()).unwrap();
    let line = line_of(&source, "Modf");
    let of_line: Vec<&Op> =
        main_of(&program).code.iter().filter(|inst| inst.line == line).map(|inst| &inst.op).collect();
    let [Op::Glsl(split), Op::Composite(_), Op::Memory(MemoryOp::Store { object, .. })] = of_line[..] else {
        panic!("{of_line:?}")
    };
    assert_eq!(object.index(), split.dst + 1);
}

#[test]
fn interpolation_is_named() {
    let source = with_set("float InterpolateAtCentroid %whole");
    let Err(LowerError::Unsupported(list)) = lower(&read_leniently(&source), &LowerOptions::default()) else {
        panic!()
    };
    assert_eq!(list[0].what, "OpExtInst GLSL.std.450 InterpolateAtCentroid");
    assert_eq!(list[0].line, line_of(&source, "Interpolate"));
}

#[test]
fn types_that_contradict_the_set_are_invalid() {
    for line in [
        "float FAbs %u1",
        "uint UMin %u1 %f1",
        "float FMin %f1 %d1",
        "float2 Cross %f2 %f2",
        "float Length %u11",
        "uint PackUnorm4x8 %f2",
        "float2 ModfStruct %f1",
        "float Modf %f1 %exponents",
        "float Determinant %f2",
        "double PackDouble2x32 %u1",
        "float Refract %f1 %f1 %f2",
        "int FindUMsb %f1",
        "float Ldexp %f1 %f1",
    ] {
        let result = lower(&read_leniently(&with_set(line)), &LowerOptions::default());
        assert!(matches!(result, Err(LowerError::Invalid { .. })), "{line}: {result:?}");
    }
}

//! Small modules and what they are lowered to.

mod control_flow;
mod floats;
mod glsl;
mod images;
mod interfaces;
mod memory;
mod reporting;
mod specialisation;
mod values;

use super::*;
use crate::ir::{Function, Inst, MemoryOp, Op};
use crate::module::ReadOptions;

/// The head of a compute module with a storage buffer of 32-bit integers.
const HEAD: &str = r#"
OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpExtension "SPV_KHR_storage_buffer_storage_class"
OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main "main" %buffer %local_id
OpExecutionMode %main LocalSize 2 1 1
OpName %buffer "data"
OpName %Block "Block"
OpDecorate %local_id BuiltIn LocalInvocationId
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 3
OpDecorate %Block Block
OpMemberDecorate %Block 0 Offset 0
OpMemberDecorate %Block 1 Offset 16
OpMemberDecorate %Block 1 NonWritable
OpDecorate %array ArrayStride 4
%void = OpTypeVoid
%bool = OpTypeBool
%int = OpTypeInt 32 1
%uint = OpTypeInt 32 0
%float = OpTypeFloat 32
%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%float2 = OpTypeVector %float 2
%float3 = OpTypeVector %float 3
%function = OpTypeFunction %void
%true = OpConstantTrue %bool
%u0 = OpConstant %uint 0
%u1 = OpConstant %uint 1
%u2 = OpConstant %uint 2
%u5 = OpConstant %uint 5
%u72 = OpConstant %uint 72
%f1 = OpConstant %float 1
%array = OpTypeRuntimeArray %uint
%Block = OpTypeStruct %uint %array
%pointer_block = OpTypePointer StorageBuffer %Block
%pointer_uint = OpTypePointer StorageBuffer %uint
%pointer_input = OpTypePointer Input %uint3
%buffer = OpVariable %pointer_block StorageBuffer
%local_id = OpVariable %pointer_input Input
"#;

/// A module with these declarations and this body of `main`.
fn text(declarations: &str, body: &str) -> String {
    format!(
        "{HEAD}{declarations}\n%main = OpFunction %void None %function\n%entry = OpLabel\n{body}\nOpFunctionEnd\n"
    )
}

fn read(text: &str) -> Module {
    Module::from_text(text, "test.spvasm", &ReadOptions::default()).unwrap()
}

fn read_leniently(text: &str) -> Module {
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    Module::from_text(text, "test.spvasm", &options).unwrap()
}

fn program(declarations: &str, body: &str) -> Program {
    // Private and Workgroup variables are not in the interface, which is all that spirv-val minds.
    let module = read_leniently(&text(declarations, body));
    if let Some(objection) = &module.objection {
        assert!(objection.message.contains("not listed as an interface"), "{objection}");
    }
    lower(&module, &LowerOptions::default()).unwrap()
}

fn main_of(program: &Program) -> &Function {
    &program.functions[program.entry.function.0 as usize]
}

/// The operations of `main` after those that make addresses of variables.
fn operations(program: &Program) -> Vec<&Op> {
    let is_address = |op: &&Op| matches!(op, Op::Memory(MemoryOp::Variable { .. }));
    main_of(program).code.iter().map(|inst| &inst.op).filter(|op| !is_address(op)).collect()
}

/// The line of the text with this content.
fn line_of(text: &str, content: &str) -> u32 {
    text.lines().position(|line| line.contains(content)).unwrap() as u32 + 1
}

fn find(program: &Program, wanted: impl Fn(&Op) -> bool) -> &Inst {
    main_of(program).code.iter().find(|inst| wanted(&inst.op)).unwrap()
}

//! What the host fills and gets: physical pointers in memory, inputs and outputs of stages.

use super::*;
use crate::ir::InterfacePart;

const PHYSICAL: &str = r#"
OpCapability Shader
OpCapability Int64
OpCapability PhysicalStorageBufferAddresses
OpMemoryModel PhysicalStorageBuffer64 GLSL450
OpEntryPoint GLCompute %main "main" %push
OpExecutionMode %main LocalSize 1 1 1
OpMemberName %Push 1 "head"
OpMemberName %Node 1 "next"
OpDecorate %Push Block
OpMemberDecorate %Push 0 Offset 0
OpMemberDecorate %Push 1 Offset 8
OpDecorate %Node Block
OpMemberDecorate %Node 0 Offset 0
OpMemberDecorate %Node 1 Offset 8
OpMemberDecorate %Node 2 Offset 16
OpDecorate %nodes ArrayStride 8
%void = OpTypeVoid
%function = OpTypeFunction %void
%int = OpTypeInt 32 1
%long = OpTypeInt 64 0
%two = OpConstant %int 2
%one = OpConstant %int 1
OpTypeForwardPointer %p_node PhysicalStorageBuffer
%nodes = OpTypeArray %p_node %two
%Node = OpTypeStruct %int %p_node %nodes
%p_node = OpTypePointer PhysicalStorageBuffer %Node
%Push = OpTypeStruct %long %p_node
%p_push = OpTypePointer PushConstant %Push
%p_member = OpTypePointer PushConstant %p_node
%push = OpVariable %p_push PushConstant
%main = OpFunction %void None %function
%entry = OpLabel
%at = OpAccessChain %p_member %push %one
%head = OpLoad %p_node %at
OpReturn
OpFunctionEnd
"#;

#[test]
fn pointers_in_memory_are_found_at_any_depth() {
    let program = lower(&read(PHYSICAL), &LowerOptions::default()).unwrap();
    let places = |members: &[crate::ir::PointerMember]| {
        members.iter().map(|one| (one.offset, one.name.clone(), one.pointee)).collect::<Vec<_>>()
    };
    assert_eq!(places(&program.variables[0].pointers), [(8, Some("head".into()), 0)]);
    let [node] = &program.pointees[..] else { panic!("{:?}", program.pointees) };
    assert_eq!(node.size, 32);
    let next = (8, Some("next".into()), 0);
    assert_eq!(places(&node.pointers), [next, (16, None, 0), (24, None, 0)]);
    // An address takes 8 bytes in memory, and two components in registers.
    assert_eq!(program.variables[0].size, 16);
    let load = find(&program, |op| matches!(op, Op::Memory(MemoryOp::Load { .. })));
    let Op::Memory(MemoryOp::Load { shape, .. }) = load.op else { unreachable!() };
    let kinds = program.shapes[shape.0 as usize].leaves.iter().map(|leaf| leaf.kind.bytes());
    assert_eq!(kinds.collect::<Vec<_>>(), [8, 0]);
}

/// A stage with these decorations, types and variables; `x` is its only interface variable.
fn stage(model: &str, decorations: &str, declarations: &str, class: &str) -> String {
    let mode = if model == "Fragment" { "OpExecutionMode %main OriginUpperLeft\n" } else { "" };
    format!(
        "OpCapability Shader\nOpCapability Float64\nOpMemoryModel Logical GLSL450\n\
         OpEntryPoint {model} %main \"main\" %x\n{mode}{decorations}\n\
         %void = OpTypeVoid\n%function = OpTypeFunction %void\n%uint = OpTypeInt 32 0\n\
         %two = OpConstant %uint 2\n%float = OpTypeFloat 32\n%double = OpTypeFloat 64\n{declarations}\n\
         %p = OpTypePointer {class} %T\n%x = OpVariable %p {class}\n\
         %main = OpFunction %void None %function\n%entry = OpLabel\n%loaded = OpLoad %T %x\nOpReturn\nOpFunctionEnd\n"
    )
}

fn parts(model: &str, decorations: &str, declarations: &str, class: &str) -> Vec<InterfacePart> {
    let module = read_leniently(&stage(model, decorations, declarations, class));
    lower(&module, &LowerOptions::default()).unwrap().variables[0].interface.clone()
}

fn part(name: &str, offset: u32, size: u32) -> InterfacePart {
    InterfacePart { name: name.to_owned(), offset, size, varies: None }
}

#[test]
fn every_location_is_a_part() {
    let array = "%v = OpTypeVector %float 3\n%T = OpTypeArray %v %two";
    let location = "OpDecorate %x Location 2";
    assert_eq!(parts("Vertex", location, array, "Output"), [part("2", 0, 12), part("3", 12, 12)]);
    let matrix = "%v = OpTypeVector %float 4\n%T = OpTypeMatrix %v 3";
    let columns = [part("2", 0, 16), part("3", 16, 16), part("4", 32, 16)];
    assert_eq!(parts("Vertex", location, matrix, "Input"), columns);
    // A vector of three doubles takes two locations.
    let wide = "%v = OpTypeVector %double 3\n%T = OpTypeArray %v %two";
    assert_eq!(parts("Vertex", location, wide, "Output"), [part("2", 0, 24), part("4", 24, 24)]);
    let component = "OpDecorate %x Location 1\nOpDecorate %x Component 2\nOpDecorate %x Index 1";
    assert_eq!(parts("Fragment", component, "%T = OpTypeVector %float 2", "Output"), [part("1.2.1", 0, 8)]);
}

#[test]
fn blocks_come_apart_into_their_members() {
    let block = "%v = OpTypeVector %float 4\n%T = OpTypeStruct %v %float";
    let built_ins = "OpDecorate %T Block\nOpMemberDecorate %T 0 BuiltIn Position\nOpMemberDecorate %T 1 BuiltIn PointSize";
    assert_eq!(
        parts("Vertex", built_ins, block, "Output"),
        [part("Position", 0, 16), part("PointSize", 16, 4)]
    );
    let counted = "OpDecorate %T Block\nOpDecorate %x Location 5";
    assert_eq!(parts("Vertex", counted, block, "Output"), [part("5", 0, 16), part("6", 16, 4)]);
    let own = "OpDecorate %T Block\nOpMemberDecorate %T 0 Location 1\nOpMemberDecorate %T 1 Location 7";
    assert_eq!(parts("Vertex", own, block, "Output"), [part("1", 0, 16), part("7", 16, 4)]);
}

#[test]
fn other_stages_and_built_ins_are_refused_by_name() {
    let refused = |model, decorations, class| {
        let text = stage(model, decorations, "%T = OpTypeVector %float 4", class);
        lower(&read_leniently(&text), &LowerOptions::default()).unwrap_err().to_string()
    };
    let error = refused("Geometry", "OpDecorate %x Location 0", "Output");
    assert!(error.contains("execution model Geometry"), "{error}");
    let error = refused("Vertex", "OpDecorate %x BuiltIn TessCoord", "Input");
    assert!(error.contains("BuiltIn TessCoord"), "{error}");
}

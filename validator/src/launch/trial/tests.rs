use super::*;
use std::cell::Cell;

use crate::event::{Access, StorageClass};
use crate::interp::{SharedMemory, Written};
use crate::ir::FunctionId;
use crate::launch::build::tests::{buffer, launch, program, slot};
use crate::launch::inputs::{Chosen, Inputs};
use crate::launch::{build_dispatch, Input, Launch, LaunchOptions};
use crate::lower::{self, LowerOptions};
use crate::module::{Module, ReadOptions};
use crate::value::Byte;
use std::collections::BTreeMap;

#[test]
fn aliased_objects_share_bytes_and_touches_are_remembered() {
    let mut launch = launch(1, 1, 1);
    launch.aliases = BTreeMap::from([(slot(0), slot(0)), (slot(1), slot(0))]);
    let bytes = vec![Byte::Known(0); 8];
    let input = Input {
        acceleration_structures: Default::default(),
        name: "zeros".into(),
        buffers: BTreeMap::from([(slot(0), bytes.clone()), (slot(1), bytes)]),
        images: BTreeMap::new(),
        push: Vec::new(),
        physical: Vec::new(),
        interface: BTreeMap::new(),
    };
    let dispatch = build_dispatch(&program(vec![buffer(1, 0, 0), buffer(2, 0, 1)]), &launch, &input).unwrap();
    let mut memory = TrialMemory::new(&dispatch);
    assert_eq!(
        memory.write(&access(0, &[(0, 1), (4, 2)]), None, &[1, 2, 3].map(Byte::Known)),
        Written::Changed
    );
    let mut out = [Byte::Undef; 6];
    assert!(memory.read(&access(1, &[(0, 6)]), None, &mut out));
    assert_eq!(out, [1, 0, 0, 0, 2, 3].map(Byte::Known));
    assert_eq!(memory.ends, [6, 6]);
    assert_eq!(memory.size(1), 8);
}

#[test]
fn memory_grows_up_to_its_limit_and_keeps_the_size_that_programs_are_told() {
    let input = Input {
        acceleration_structures: Default::default(),
        name: "zeros".into(),
        buffers: BTreeMap::from([(slot(0), vec![Byte::Known(1); 8])]),
        images: BTreeMap::new(),
        push: Vec::new(),
        physical: Vec::new(),
        interface: BTreeMap::new(),
    };
    let dispatch = build_dispatch(&program(vec![buffer(1, 0, 0)]), &launch(1, 1, 1), &input).unwrap();
    let mut memory = TrialMemory { limits: vec![16], ..TrialMemory::new(&dispatch) };
    assert_eq!((memory.size(0), memory.told_size(0)), (16, 8));
    let mut out = [Byte::Undef; 2];
    assert!(memory.read(&access(0, &[(7, 1), (12, 1)]), None, &mut out));
    assert_eq!((out, memory.ends[0]), ([Byte::Known(1), Byte::Known(0)], 13));
    assert_eq!(memory.size(0), 16);
}

fn access(object: u32, ranges: &[(u32, u32)]) -> Access {
    Access {
        object,
        declaration: 0,
        ranges: ranges.iter().copied().collect(),
        class: StorageClass::StorageBuffer,
        non_private: false,
        available: None,
        visible: None,
        volatile: false,
        aliased: false,
        inst: InstId { function: FunctionId(0), index: 0 },
        line: 1,
    }
}

/// Four invocations write far beyond a runtime array, each behind a texel: the first one behind the farthest.
const FAR: &str = "OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %id BuiltIn LocalInvocationIndex
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
OpDecorate %image DescriptorSet 0
OpDecorate %image Binding 1
OpDecorate %image NonReadable
%void = OpTypeVoid
%function = OpTypeFunction %void
%uint = OpTypeInt 32 0
%v2uint = OpTypeVector %uint 2
%v4uint = OpTypeVector %uint 4
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%p_block = OpTypePointer StorageBuffer %block
%p_uint = OpTypePointer StorageBuffer %uint
%p_input = OpTypePointer Input %uint
%texels = OpTypeImage %uint 2D 0 0 0 2 R32ui
%p_texels = OpTypePointer UniformConstant %texels
%zero = OpConstant %uint 0
%three = OpConstant %uint 3
%far = OpConstant %uint 10000000
%black = OpConstantComposite %v4uint %zero %zero %zero %zero
%id = OpVariable %p_input Input
%buffer = OpVariable %p_block StorageBuffer
%image = OpVariable %p_texels UniformConstant
%main = OpFunction %void None %function
%entry = OpLabel
%index = OpLoad %uint %id
%x = OpISub %uint %three %index
TEXEL
%element = OpAccessChain %p_uint %buffer %zero %far
OpStore %element %zero
OpReturn
OpFunctionEnd
";

/// What it touches, and how many turns that took.
fn tried(text: &str) -> (Touched, u32) {
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let module = Module::from_text(text, "far.spvasm", &options).unwrap();
    let program = lower::lower(&module, &LowerOptions::default()).unwrap();
    let launch = Launch::resolve(&LaunchOptions::default(), &program, None).unwrap();
    let (mut dispatches, turns) = (Vec::new(), Cell::new(0));
    let mut inputs = Inputs::new(&program, None, &launch, 1, 0, Chosen::default());
    // The first dispatch that is tried is enough.
    inputs
        .next(&mut |dispatch, _| {
            dispatches.push(dispatch.clone());
            None
        })
        .unwrap();
    let count = || {
        turns.set(turns.get() + 1);
        false
    };
    (touched(&program, &dispatches[0], &[], &count).unwrap(), turns.get())
}

#[test]
fn an_access_out_of_bounds_ends_a_trial_that_sizes_no_image() {
    let (touched, turns) = tried(&FAR.replace("TEXEL", ""));
    assert!(touched.out_of_bounds);
    assert_eq!(turns, 1);
    let texel = "%at = OpCompositeConstruct %v2uint %x %zero
%loaded = OpLoad %texels %image
OpImageWrite %loaded %at %black";
    let (touched, turns) = tried(&FAR.replace("TEXEL", texel));
    assert!(touched.out_of_bounds && touched.texels.iter().any(|ends| ends[0] == 4));
    assert_eq!(turns, 8);
}

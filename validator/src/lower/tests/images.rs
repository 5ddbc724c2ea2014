//! Images, samplers and their instructions.

use super::*;
use crate::event::{Scope, StorageClass};
use crate::ir::image::{Dim, ImageAction, ImageOp, Resource, TexelKind};

/// A compute module whose interface is these declarations.
fn module(capabilities: &str, declarations: &str, body: &str) -> String {
    let capabilities: String =
        capabilities.split_whitespace().map(|name| format!("OpCapability {name}\n")).collect();
    format!(
        "OpCapability Shader\nOpCapability VulkanMemoryModel\nOpCapability VulkanMemoryModelDeviceScope\n{capabilities}\
         OpMemoryModel Logical Vulkan\nOpEntryPoint GLCompute %main \"main\"\nOpExecutionMode %main LocalSize 1 1 1\n\
         OpDecorate %image DescriptorSet 0\nOpDecorate %image Binding 1\n\
         OpDecorate %sampler DescriptorSet 0\nOpDecorate %sampler Binding 2\n\
         %void = OpTypeVoid\n%uint = OpTypeInt 32 0\n%int = OpTypeInt 32 1\n%float = OpTypeFloat 32\n\
         %uint2 = OpTypeVector %uint 2\n%uint4 = OpTypeVector %uint 4\n%int4 = OpTypeVector %int 4\n\
         %float2 = OpTypeVector %float 2\n%float4 = OpTypeVector %float 4\n\
         %u0 = OpConstant %uint 0\n%u1 = OpConstant %uint 1\n%f0 = OpConstant %float 0\n\
         %at = OpConstantComposite %uint2 %u1 %u0\n%place = OpConstantComposite %float2 %f0 %f0\n\
         %texel = OpConstantComposite %uint4 %u1 %u0 %u0 %u1\n%Sampler = OpTypeSampler\n\
         %pointer_sampler = OpTypePointer UniformConstant %Sampler\n%sampler = OpVariable %pointer_sampler UniformConstant\n\
         {declarations}\n%function = OpTypeFunction %void\n%main = OpFunction %void None %function\n\
         %entry = OpLabel\n{body}\nOpReturn\nOpFunctionEnd\n"
    )
}

const STORAGE: &str = "%Image = OpTypeImage %uint 2D 0 0 0 2 R32ui\n\
     %pointer = OpTypePointer UniformConstant %Image\n%image = OpVariable %pointer UniformConstant";

const SAMPLED: &str = "%Image = OpTypeImage %float 2D 0 0 0 1 Unknown\n\
     %pointer = OpTypePointer UniformConstant %Image\n%image = OpVariable %pointer UniformConstant\n\
     %Sampled = OpTypeSampledImage %Image";

fn lowered(capabilities: &str, declarations: &str, body: &str) -> Program {
    lower(&read_leniently(&module(capabilities, declarations, body)), &LowerOptions::default()).unwrap()
}

fn image_ops(program: &Program) -> Vec<&ImageOp> {
    let code = main_of(program).code.iter();
    code.filter_map(|inst| if let Op::Image(op) = &inst.op { Some(&**op) } else { None }).collect()
}

#[test]
fn a_storage_image_is_a_resource_with_a_binding() {
    let body = "%handle = OpLoad %Image %image\nOpImageWrite %handle %at %texel \
         MakeTexelAvailable|NonPrivateTexel|VolatileTexel %u1";
    let program = lowered("", STORAGE, body);
    let [variable] = &program.variables[..] else { panic!() };
    assert_eq!((variable.class, variable.binding), (StorageClass::UniformConstant, Some((0, 1))));
    let Some(Resource::Image(ty)) = variable.resource else { panic!() };
    assert_eq!((ty.dim, ty.storage, ty.texel), (Dim::Two, true, TexelKind::Uint));
    assert_eq!(ty.format.map(|format| format.name()), Some("r32ui"));
    let [op] = image_ops(&program)[..] else { panic!() };
    assert!(matches!(op.action, ImageAction::Write { count: 4, .. }));
    let memory = op.operands.memory;
    assert_eq!((memory.make_available, memory.make_visible), (Some(Scope::Device), None));
    assert!(memory.non_private && memory.volatile);
}

#[test]
fn a_sampled_image_is_two_handles() {
    let body = "%handle = OpLoad %Image %image\n%with = OpLoad %Sampler %sampler\n\
         %both = OpSampledImage %Sampled %handle %with\n\
         %colour = OpImageSampleExplicitLod %float4 %both %place Lod %f0\n\
         %alone = OpImage %Image %both\n%fetched = OpImageFetch %float4 %alone %at Lod %u0";
    let program = lowered("", SAMPLED, body);
    assert_eq!(program.variables.iter().filter(|variable| variable.resource.is_some()).count(), 2);
    let [sample, fetch] = image_ops(&program)[..] else { panic!() };
    assert!(matches!(
        sample.action,
        ImageAction::Sample { projective: false, reference: None, implicit: false, count: 4 }
    ));
    assert_eq!(sample.operands.lod.map(|(_, width)| width), Some(32));
    assert!(sample.coordinate.is_some_and(|coordinate| coordinate.float && coordinate.count == 2));
    assert!(matches!(fetch.action, ImageAction::Read { count: 4 }));
    assert!(!fetch.ty.storage && fetch.coordinate.is_some_and(|coordinate| !coordinate.float));
}

#[test]
fn operands_are_taken_in_the_order_of_their_bits() {
    let body = "%handle = OpLoad %Image %image\n%with = OpLoad %Sampler %sampler\n\
         %both = OpSampledImage %Sampled %handle %with\n\
         %colour = OpImageSampleExplicitLod %float4 %both %place Grad|ConstOffset|MinLod %place %place %at %f0\n\
         %read = OpImageGather %float4 %both %place %u1 ConstOffsets %four";
    let declarations = format!(
        "{SAMPLED}\n%u4 = OpConstant %uint 4\n%Four = OpTypeArray %uint2 %u4\n\
         %four = OpConstantComposite %Four %at %at %at %at"
    );
    let program = lowered("MinLod ImageGatherExtended", &declarations, body);
    let [sample, gather] = image_ops(&program)[..] else { panic!() };
    assert!(sample.operands.grad.is_some_and(|(_, _, count)| count == 2));
    assert!(sample.operands.offset.is_some_and(|offset| offset.count == 2));
    assert!(sample.operands.min_lod.is_some() && sample.operands.lod.is_none());
    assert!(gather.operands.offsets.is_some_and(|offset| (offset.count, offset.width) == (2, 32)));
    assert!(matches!(gather.action, ImageAction::Gather { component: Some(_), reference: None }));
}

#[test]
fn an_element_of_an_array_of_images_is_an_object_of_its_own() {
    let declarations = "%Image = OpTypeImage %uint 2D 0 0 0 2 R32ui\n%many = OpTypeRuntimeArray %Image\n\
         %pointers = OpTypePointer UniformConstant %many\n%pointer = OpTypePointer UniformConstant %Image\n\
         %image = OpVariable %pointers UniformConstant";
    let body = "%chosen = OpAccessChain %pointer %image %u1\n%handle = OpLoad %Image %chosen\n\
         %read = OpImageRead %uint4 %handle %at";
    let text = module("RuntimeDescriptorArray", declarations, body);
    let descriptors = |runtime_descriptors| {
        let options = LowerOptions { runtime_descriptors, ..LowerOptions::default() };
        lower(&read_leniently(&text), &options).unwrap().variables[0].descriptors
    };
    assert_eq!(descriptors(None), Some(4));
    assert_eq!(descriptors(Some(7)), Some(7));
}

#[test]
fn what_images_cannot_do_here_is_named_with_its_line() {
    for (capabilities, declarations, body, what) in [
        ("InputAttachment", "%Image = OpTypeImage %float SubpassData 0 0 0 2 Unknown", "", "SubpassData"),
        (
            "",
            SAMPLED,
            "%handle = OpLoad %Image %image\n%with = OpLoad %Sampler %sampler\n\
             %both = OpSampledImage %Sampled %handle %with\n\
             %lod = OpImageQueryLod %float2 %both %place",
            "OpImageQueryLod",
        ),
        (
            "SparseResidency",
            &format!("{SAMPLED}\n%pair = OpTypeStruct %uint %float4"),
            "%handle = OpLoad %Image %image\n%got = OpImageSparseFetch %pair %handle %at",
            "OpImageSparseFetch",
        ),
    ] {
        let pointer =
            "\n%pointer = OpTypePointer UniformConstant %Image\n%image = OpVariable %pointer UniformConstant";
        let declarations = match declarations.contains("OpVariable") {
            true => declarations.to_owned(),
            false => format!("{declarations}{pointer}"),
        };
        let body = if body.is_empty() { "%handle = OpLoad %Image %image" } else { body };
        let text = module(capabilities, &declarations, body);
        let Err(LowerError::Unsupported(list)) = lower(&read_leniently(&text), &LowerOptions::default())
        else {
            panic!("{what}")
        };
        assert!(list[0].what.contains(what), "{list:?}");
        assert_eq!(list[0].line, line_of(&text, what), "{what}");
    }
}

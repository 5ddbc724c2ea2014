//! Storage images of every format: what is read from each texel, and what is written.

use rspirv::spirv::ImageFormat as Number;
use spirv_tv::check::CheckOptions;
use spirv_tv::ir::image::{Encoding, ImageFormat, TexelKind};
use spirv_tv::launch::options::BufferSetting;
use spirv_tv::launch::{Contents, LaunchOptions, Slot, Target};
use spirv_tv_driver::{format_named, vk, Device};

use super::case::{words, Findings};
use super::oracle;
use super::programs::compare;

/// Texels of an image, and invocations.
const TEXELS: u32 = 16;

/// All formats.
pub fn all() -> Vec<ImageFormat> {
    ImageFormat::all().collect()
}

/// The name that assembly has for a format.
fn spelling(format: ImageFormat) -> String {
    let number =
        (1..).zip(ImageFormat::all()).find(|(_, known)| *known == format).map_or(0, |(number, _)| number);
    Number::from_u32(number).map_or_else(String::new, |number| format!("{number:?}"))
}

/// Reads an image and writes another of one format.
pub fn run(device: &Device, format: ImageFormat) -> Findings {
    let mut findings = Findings::default();
    let storage = vk::FormatFeatureFlags::STORAGE_IMAGE;
    let known = format_named(format.name())
        .is_some_and(|known| device.format(known).optimal_tiling_features.contains(storage));
    if !known {
        println!("skipped: the device has no storage images of {format}");
        return findings;
    }
    let name = format!("storage images of {format}");
    let result = oracle::module(&name, &text(format)).and_then(|module| {
        let options = CheckOptions { launch: launch(format), ..CheckOptions::default() };
        compare(device, &module, &options, Some(1e-6), &name, &mut findings)
    });
    findings.complaints.extend(result.err().map(|error| format!("{name}: {error}")));
    findings
}

/// Counts the instructions without running them.
pub fn count(format: ImageFormat) -> Findings {
    let mut findings = Findings::default();
    match oracle::module(format.name(), &text(format)) {
        Ok(module) => findings.count(&module),
        Err(error) => findings.complaints.push(error),
    }
    findings
}

fn text(format: ImageFormat) -> String {
    let wide = format.bytes() == 8 && format.components() == 1;
    let (texel, capabilities) = match (format.kind(), wide) {
        (TexelKind::Float, _) => ("OpTypeFloat 32", ""),
        (TexelKind::Sint, false) => ("OpTypeInt 32 1", ""),
        (TexelKind::Uint, false) => ("OpTypeInt 32 0", ""),
        (TexelKind::Sint, true) => ("OpTypeInt 64 1", "OpCapability Int64\nOpCapability Int64ImageEXT\n"),
        (TexelKind::Uint, true) => ("OpTypeInt 64 0", "OpCapability Int64\nOpCapability Int64ImageEXT\n"),
    };
    let extension = if wide { "OpExtension \"SPV_EXT_shader_image_int64\"\n" } else { "" };
    let stride = if wide { 32 } else { 16 };
    // The type of texels may be that of indices.
    let uint = if texel == "OpTypeInt 32 0" { "%texel" } else { "%uint" };
    let declared = if uint == "%uint" { "%uint = OpTypeInt 32 0\n" } else { "" };
    format!(
        "OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability StorageImageExtendedFormats
{capabilities}{extension}OpMemoryModel Logical Vulkan
OpEntryPoint GLCompute %main \"main\" %index %values %results %source %target
OpExecutionMode %main LocalSize {TEXELS} 1 1
OpDecorate %index BuiltIn LocalInvocationIndex
OpDecorate %array ArrayStride {stride}
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %values DescriptorSet 0
OpDecorate %values Binding 0
OpDecorate %results DescriptorSet 0
OpDecorate %results Binding 1
OpDecorate %source DescriptorSet 0
OpDecorate %source Binding 2
OpDecorate %target DescriptorSet 0
OpDecorate %target Binding 3
%void = OpTypeVoid
%function = OpTypeFunction %void
%texel = {texel}
{declared}%vector = OpTypeVector %texel 4
%place = OpTypeVector {uint} 2
%array = OpTypeRuntimeArray %vector
%block = OpTypeStruct %array
%blocks = OpTypePointer StorageBuffer %block
%vectors = OpTypePointer StorageBuffer %vector
%input = OpTypePointer Input {uint}
%image = OpTypeImage %texel 2D 0 0 0 2 {}
%images = OpTypePointer UniformConstant %image
%zero = OpConstant {uint} 0
%four = OpConstant {uint} 4
%index = OpVariable %input Input
%values = OpVariable %blocks StorageBuffer
%results = OpVariable %blocks StorageBuffer
%source = OpVariable %images UniformConstant
%target = OpVariable %images UniformConstant
%main = OpFunction %void None %function
%entry = OpLabel
%i = OpLoad {uint} %index
%x = OpUMod {uint} %i %four
%y = OpUDiv {uint} %i %four
%at = OpCompositeConstruct %place %x %y
%from = OpLoad %image %source
%read = OpImageRead %vector %from %at
%result = OpAccessChain %vectors %results %zero %i
OpStore %result %read
%value = OpAccessChain %vectors %values %zero %i
%written = OpLoad %vector %value
%to = OpLoad %image %target
OpImageWrite %to %at %written
OpReturn
OpFunctionEnd
",
        spelling(format)
    )
}

fn launch(format: ImageFormat) -> LaunchOptions {
    // No ties between two values of a normalised format; for floats, none that would have to be rounded.
    let floats =
        [0.0_f32, 1.0, -1.0, 2.0, -3.0, 0.2, 0.6, -0.2, 0.8, 0.4, -0.6, 0.123, 1024.0, 0.0625, 3.5, -0.75];
    let wide = format.bytes() == 8 && format.components() == 1;
    let component = |number: u32| -> Vec<u8> {
        let narrow = (number.wrapping_mul(0x9e37_79b9) >> (number % 28))
            & if number.is_multiple_of(3) { 1 } else { u32::MAX };
        match (format.kind(), wide) {
            (TexelKind::Float, _) => {
                let value = floats[(number as usize * 7 + number as usize / 16) % 16];
                let is_float = matches!(format.encoding(), Encoding::Float(_) | Encoding::PackedFloat);
                let value = if is_float { (value * 16.0).round() / 16.0 } else { value };
                value.to_le_bytes().to_vec()
            }
            (_, true) => (u64::from(narrow) << 17 ^ u64::from(number)).to_le_bytes().to_vec(),
            // Integers that do not fit wrap or not, as the implementation likes.
            (TexelKind::Uint, false) => {
                let bits =
                    (0..format.components()).map(|component| format.bits_of(component).1).min().unwrap_or(32);
                (narrow & (u32::MAX >> (32 - bits))).to_le_bytes().to_vec()
            }
            (TexelKind::Sint, false) => {
                let bits = format.bits_of(0).1;
                (((narrow << (32 - bits)) as i32) >> (32 - bits)).to_le_bytes().to_vec()
            }
        }
    };
    let values: Vec<u8> = (0..TEXELS * 4).flat_map(component).collect();
    let size = (TEXELS * format.bytes()) as usize;
    // Texels without NaNs, whose bits need not be kept.
    let texels: Vec<u8> = (0..size)
        .map(|byte| {
            let value = (byte as u32).wrapping_mul(0x6c07_8965) >> 11;
            let top = format.kind() == TexelKind::Float
                && byte % (format.bytes() / format.components()).max(1) as usize + 1
                    == (format.bytes() / format.components()) as usize;
            (value as u8) & if top { 0xbf } else { 0xff }
        })
        .map(|byte| if format.name() == "r11fg11fb10f" { byte & 0x3b } else { byte })
        .collect();
    let buffer = |binding, contents| BufferSetting {
        target: Target::Slot(Slot { set: 0, binding, element: None }),
        contents,
    };
    let list = |bytes: &[u8]| words(bytes).iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let image = |binding: u32, contents: String| {
        format!("0.{binding}={format}:4x4:{contents}").parse().unwrap_or_else(|error| panic!("{error}"))
    };
    LaunchOptions {
        buffers: vec![
            buffer(0, Contents::Words(words(&values))),
            buffer(1, Contents::Zeros(TEXELS * 4 * if wide { 2 } else { 1 })),
        ],
        images: vec![image(2, format!("words:{}", list(&texels))), image(3, "zeros".to_owned())],
        ..LaunchOptions::default()
    }
}

//! AmberScript, as docs/amber_script.md of google/amber describes it.

use spirv_tv_executor::case::{Case, Kind};
use spirv_tv_toolchain::{disassemble_with, DisassembleOptions};

use super::{memory_of, needed, numbers, remarks, unit, Demand, EXTENSIONS, FEATURES, WORD};

/// Numbers of a buffer on a line.
const PER_LINE: usize = 8;

/// What ends a block, the text of a shader among them, wherever it stands.
const END: &str = "END";

/// What of debug information has words of the user.
const NAMES: [&str; 6] = ["OpName", "OpMemberName", "OpSource", "OpString", "OpModuleProcessed", "OpLine"];

/// What the buffers, the shader and the pipeline are called.
const SHADER: &str = "shader";
const PIPELINE: &str = "pipeline";
const PUSH: &str = "push";

/// The script. Offsets behind IDX are in bytes.
pub(super) fn script(case: &Case, demands: &[Demand], outcomes: usize) -> Result<String, String> {
    let mut lines = vec!["#!amber".to_owned()];
    lines.extend(remarks(case, demands, outcomes).into_iter().map(|line| format!("# {line}")));
    lines.push(String::new());
    lines.extend(needed(case, &FEATURES).into_iter().map(|feature| format!("DEVICE_FEATURE {feature}")));
    lines.extend(needed(case, &OWN_FEATURES).into_iter().map(|feature| format!("DEVICE_FEATURE {feature}")));
    lines.extend(needed(case, &EXTENSIONS).into_iter().map(|name| format!("DEVICE_EXTENSION {name}")));
    if case.subgroup_size.is_some() {
        lines.push("DEVICE_FEATURE SubgroupSizeControl.subgroupSizeControl".to_owned());
        lines.push("DEVICE_EXTENSION VK_EXT_subgroup_size_control".to_owned());
    }
    let time = case.time.as_millis();
    lines.push(format!("SET ENGINE_DATA fence_timeout_ms {time}"));
    lines.push(String::new());
    lines.push(format!("SHADER compute {SHADER} SPIRV-ASM TARGET_ENV {}", environment(case)));
    lines.extend(assembly(case)?.lines().map(str::to_owned));
    lines.extend([END.to_owned(), String::new()]);
    for (number, resource) in case.resources.iter().enumerate() {
        if memory_of(case, number) == number {
            lines.extend(buffer(&name(number), &resource.bytes, unit(resource)));
        }
    }
    if !case.push.is_empty() {
        let unit = if case.push.len().is_multiple_of(WORD) { WORD } else { 1 };
        lines.extend(buffer(PUSH, &case.push, unit));
    }
    lines.push(format!("PIPELINE compute {PIPELINE}"));
    let mut attached = format!("  ATTACH {SHADER} ENTRY_POINT {}", case.entry);
    for value in &case.specialisation {
        let [a, b, c, d] = value.bytes[..] else {
            return Err(format!("SpecId {} is not 32 bits wide, which AmberScript cannot say", value.id));
        };
        attached.push_str(&format!(
            " SPECIALIZE {} AS uint32 {}",
            value.id,
            u32::from_le_bytes([a, b, c, d])
        ));
    }
    lines.push(attached);
    for (number, resource) in case.resources.iter().enumerate() {
        let Some(slot) = resource.slot else { continue };
        let kind = match resource.kind {
            Kind::UniformBuffer => "uniform",
            _ => "storage",
        };
        let buffer = name(memory_of(case, number));
        let place = format!("DESCRIPTOR_SET {} BINDING {}", slot.set, slot.binding);
        lines.push(format!("  BIND BUFFER {buffer} AS {kind} {place}"));
    }
    if !case.push.is_empty() {
        lines.push(format!("  BIND BUFFER {PUSH} AS push_constant"));
    }
    if let Some(size) = case.subgroup_size {
        lines.push(format!("  SUBGROUP {SHADER}"));
        lines.push(format!("    REQUIRED_SIZE {size}"));
        lines.push(format!("  {END}"));
    }
    lines.push(END.to_owned());
    lines.push(String::new());
    let [x, y, z] = case.workgroups;
    lines.push(format!("RUN {PIPELINE} {x} {y} {z}"));
    lines.push(String::new());
    for (number, (demand, resource)) in demands.iter().zip(&case.resources).enumerate() {
        for (at, bytes) in &demand.runs {
            lines.push(format!(
                "EXPECT {} IDX {at} EQ {}",
                name(number),
                numbers(bytes, unit(resource)).join(" ")
            ));
        }
    }
    Ok(lines.join("\n") + "\n")
}

/// The environment whose assembler gives the module its version.
fn environment(case: &Case) -> String {
    let version = case.words.get(1).copied().unwrap_or(0);
    format!("spv{}.{}", version >> 16 & 0xff, version >> 8 & 0xff)
}

/// The module as text. Names that have what ends a shader are left out, with all others.
///
/// # Errors
/// It has that elsewhere.
fn assembly(case: &Case) -> Result<String, String> {
    let text = |friendly_names: bool| {
        let options = DisassembleOptions { friendly_names, indent: true, header: false, comments: false };
        disassemble_with(&case.words, options).map_err(|error| error.to_string())
    };
    let named = text(true)?;
    if !named.contains(END) {
        return Ok(named);
    }
    let is_name = |line: &&str| line.split_whitespace().any(|word| NAMES.contains(&word));
    let plain: Vec<String> = text(false)?.lines().filter(|line| !is_name(line)).map(str::to_owned).collect();
    match plain.iter().any(|line| line.contains(END)) {
        true => Err(format!("the module has {END} in a text, which ends a shader in AmberScript")),
        false => Ok(plain.join("\n") + "\n"),
    }
}

/// What the buffer of a resource is called.
fn name(number: usize) -> String {
    format!("buffer_{number}")
}

fn buffer(name: &str, bytes: &[u8], unit: usize) -> Vec<String> {
    let kind = if unit == WORD { "uint32" } else { "uint8" };
    let mut lines = vec![format!("BUFFER {name} DATA_TYPE {kind} DATA")];
    lines.extend(numbers(bytes, unit).chunks(PER_LINE).map(|numbers| format!("  {}", numbers.join(" "))));
    lines.extend([END.to_owned(), String::new()]);
    lines
}

/// The features that AmberScript has names of its own for, by capability.
const OWN_FEATURES: [(&str, &str); 17] = [
    ("VariablePointers", "VariablePointerFeatures.variablePointers"),
    ("VariablePointersStorageBuffer", "VariablePointerFeatures.variablePointersStorageBuffer"),
    ("Float16", "Float16Int8Features.shaderFloat16"),
    ("Int8", "Float16Int8Features.shaderInt8"),
    ("StorageBuffer8BitAccess", "Storage8BitFeatures.storageBuffer8BitAccess"),
    ("UniformAndStorageBuffer8BitAccess", "Storage8BitFeatures.uniformAndStorageBuffer8BitAccess"),
    ("StoragePushConstant8", "Storage8BitFeatures.storagePushConstant8"),
    ("StorageBuffer16BitAccess", "Storage16BitFeatures.storageBuffer16BitAccess"),
    ("StorageUniform16", "Storage16BitFeatures.uniformAndStorageBuffer16BitAccess"),
    ("StoragePushConstant16", "Storage16BitFeatures.storagePushConstant16"),
    ("GroupNonUniform", "SubgroupSupportedOperations.basic"),
    ("GroupNonUniformVote", "SubgroupSupportedOperations.vote"),
    ("GroupNonUniformArithmetic", "SubgroupSupportedOperations.arithmetic"),
    ("GroupNonUniformBallot", "SubgroupSupportedOperations.ballot"),
    ("GroupNonUniformShuffle", "SubgroupSupportedOperations.shuffle"),
    ("GroupNonUniformShuffleRelative", "SubgroupSupportedOperations.shuffleRelative"),
    ("GroupNonUniformQuad", "SubgroupSupportedOperations.quad"),
];

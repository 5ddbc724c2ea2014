//! AmberScript, as docs/amber_script.md of google/amber describes it.

use spirv_tv_executor::case::{Case, Kind};

use super::{memory_of, needed, numbers, remarks, unit, Demand, EXTENSIONS, FEATURES, WORD};

/// Words of the module on a line, and numbers of a buffer.
const PER_LINE: usize = 8;

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
    lines.extend(needed(case, &EXTENSIONS).into_iter().map(|name| format!("DEVICE_EXTENSION {name}")));
    let time = case.time.as_millis();
    lines.push(format!("SET ENGINE_DATA fence_timeout_ms {time}"));
    lines.push(String::new());
    // The binary as it is: the assembler of a runner would choose another version.
    let text = spirv_tv_toolchain::disassemble(&case.words).map_err(|error| error.to_string())?;
    lines.extend(text.lines().map(|line| format!("# {line}").trim_end().to_owned()));
    lines.push(format!("SHADER compute {SHADER} SPIRV-HEX"));
    let words: Vec<String> = case.words.iter().map(|word| format!("{word:#010x}")).collect();
    lines.extend(words.chunks(PER_LINE).map(|words| words.join(" ")));
    lines.push("END".to_owned());
    lines.push(String::new());
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
    lines.push("END".to_owned());
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

/// What the buffer of a resource is called.
fn name(number: usize) -> String {
    format!("buffer_{number}")
}

fn buffer(name: &str, bytes: &[u8], unit: usize) -> Vec<String> {
    let kind = if unit == WORD { "uint32" } else { "uint8" };
    let mut lines = vec![format!("BUFFER {name} DATA_TYPE {kind} DATA")];
    lines.extend(numbers(bytes, unit).chunks(PER_LINE).map(|numbers| format!("  {}", numbers.join(" "))));
    lines.extend(["END".to_owned(), String::new()]);
    lines
}

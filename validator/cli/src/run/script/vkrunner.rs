//! A shader test, as the README of Igalia/vkrunner describes it.

use spirv_tv_executor::case::{Case, Kind};
use spirv_tv_toolchain::{disassemble_with, DisassembleOptions};

use super::{needed, numbers, remarks, unit, Demand, EXTENSIONS, FEATURES, WORD};

/// Numbers on a line.
const PER_LINE: usize = 8;

/// The script. Offsets are in bytes.
pub(super) fn script(case: &Case, demands: &[Demand], outcomes: usize) -> Result<String, String> {
    if let Some(value) = case.specialisation.first() {
        return Err(format!("SpecId {} has a value, which a script of vkrunner cannot say", value.id));
    }
    let mut lines: Vec<String> =
        remarks(case, demands, outcomes).into_iter().map(|line| format!("# {line}")).collect();
    let needs: Vec<&str> = needed(case, &FEATURES).into_iter().chain(needed(case, &EXTENSIONS)).collect();
    if !needs.is_empty() {
        lines.extend([String::new(), "[require]".to_owned()]);
        lines.extend(needs.into_iter().map(str::to_owned));
    }
    lines.extend([String::new(), "[compute shader spirv]".to_owned()]);
    let plain = DisassembleOptions { friendly_names: true, indent: true, header: false, comments: false };
    let text = disassemble_with(&case.words, plain).map_err(|error| error.to_string())?;
    lines.extend(text.lines().map(str::to_owned));
    lines.extend([String::new(), "[test]".to_owned(), format!("compute entrypoint {}", case.entry)]);
    for resource in &case.resources {
        let Some(slot) = resource.slot else { continue };
        if slot.set != 0 {
            return Err(format!("{} is not in set 0, where vkrunner has its buffers", resource.name));
        }
        let command = match resource.kind {
            Kind::UniformBuffer => format!("uniform ubo {}", slot.binding),
            Kind::SameAs { .. } => {
                return Err(format!(
                    "{} is the memory of another binding, which vkrunner cannot bind",
                    resource.name
                ))
            }
            _ => format!("ssbo {} subdata", slot.binding),
        };
        if matches!(resource.kind, Kind::StorageBuffer) {
            lines.push(format!("ssbo {} {}", slot.binding, resource.bytes.len()));
        }
        lines.extend(set(&command, &resource.bytes, unit(resource)));
    }
    let unit_of_push = if case.push.len().is_multiple_of(WORD) { WORD } else { 1 };
    lines.extend(set("uniform", &case.push, unit_of_push));
    let [x, y, z] = case.workgroups;
    lines.push(format!("compute {x} {y} {z}"));
    for (demand, resource) in demands.iter().zip(&case.resources) {
        let Some(slot) = resource.slot else { continue };
        let unit = unit(resource);
        for (at, bytes) in &demand.runs {
            let values = numbers(bytes, unit).join(" ");
            lines.push(format!("probe ssbo {} {} {at} == {values}", kind(unit), slot.binding));
        }
    }
    Ok(lines.join("\n") + "\n")
}

fn kind(unit: usize) -> &'static str {
    if unit == WORD {
        "uint"
    } else {
        "uint8_t"
    }
}

/// Commands that set contents.
fn set(command: &str, bytes: &[u8], unit: usize) -> Vec<String> {
    let lines = bytes.chunks(PER_LINE * unit).enumerate();
    lines
        .map(|(number, part)| {
            let at = number * PER_LINE * unit;
            format!("{command} {} {at} {}", kind(unit), numbers(part, unit).join(" "))
        })
        .collect()
}

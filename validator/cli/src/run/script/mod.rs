//! A case with what it may end with, as a script for a runner that conformance suites and driver teams have.

mod amber;
mod vkrunner;

#[cfg(test)]
mod tests;

use clap::ValueEnum;
use rspirv::spirv::{Capability, Op};
use spirv_tv::dispatch::Dispatch;
use spirv_tv::value::Byte;
use spirv_tv_executor::case::{Case, Kind, Resource, Robustness};

use super::allowed::Allowed;
use super::judge::places;

/// For which runner a script is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScriptFormat {
    /// AmberScript, as docs/amber_script.md of google/amber describes it.
    Amber,
    /// A shader test, as the README of Igalia/vkrunner describes it.
    Vkrunner,
}

/// What memory may hold at the end: each outcome has for each resource of the case its bytes, or `None` where nothing is known
/// of it.
pub type Outcomes = Vec<Vec<Option<Vec<Byte>>>>;

/// The script that runs a case once and passes only where memory ends as one of `outcomes`, as far as a script can say that:
/// it demands what all of them have in common. `shown` is what an executor showed and they do not allow: the script must fail
/// with it.
///
/// # Errors
/// What the case needs and the format does not have; that nothing can be demanded; that the script would pass with `shown`.
pub fn script(
    format: ScriptFormat,
    case: &Case,
    outcomes: &Outcomes,
    shown: Option<&[Option<Vec<Byte>>]>,
) -> Result<String, String> {
    refuse(case)?;
    let demands = demands(case, outcomes);
    if demands.iter().all(|demand| demand.runs.is_empty()) {
        let why = match outcomes.len() {
            0 => "no outcome is known",
            _ => "no word of memory is the same in all outcomes, and a script cannot say that one of several must hold",
        };
        return Err(why.to_owned());
    }
    if shown.is_some_and(|shown| passes(&demands, shown)) {
        return Err("what was shown differs from each outcome that is allowed, but has every word that all of them have, and a \
                    script cannot say that one of several must hold"
            .to_owned());
    }
    match format {
        ScriptFormat::Amber => amber::script(case, &demands, outcomes.len()),
        ScriptFormat::Vkrunner => vkrunner::script(case, &demands, outcomes.len()),
    }
}

/// What a run may end with, in the resources of its case.
///
/// # Errors
/// Why that is not known, or cannot be listed.
pub(super) fn outcomes_of(case: &Case, dispatch: &Dispatch, allowed: &Allowed) -> Result<Outcomes, String> {
    if let Some(what) = allowed.undefined.first() {
        return Err(format!("the module is undefined, so that any outcome is allowed: {what}"));
    }
    if let Some(cut) = &allowed.cut {
        return Err(format!("other outcomes may be allowed: {cut}"));
    }
    if allowed.hangs {
        return Err("the module may run for ever".to_owned());
    }
    if let Some(what) = allowed.open_floats.first() {
        return Err(format!("the environment leaves the results of {what} open"));
    }
    if !allowed.factored.is_empty() {
        return Err("the outcomes are too many to be listed".to_owned());
    }
    allowed.listed.iter().map(|outcome| in_resources(case, dispatch, &outcome.memory)).collect()
}

/// The memory of an outcome in the resources of a case.
///
/// # Errors
/// What no executor tells.
pub(super) fn in_resources(
    case: &Case,
    dispatch: &Dispatch,
    memory: &[Vec<Byte>],
) -> Result<Vec<Option<Vec<Byte>>>, String> {
    let mut all: Vec<Option<Vec<Byte>>> = vec![None; case.resources.len()];
    for ((number, range), bytes) in places(case, dispatch)?.into_iter().zip(memory) {
        let Some(resource) = case.resources.get(number) else { continue };
        let whole = all.get_mut(number).map(|whole| {
            whole.get_or_insert_with(|| resource.bytes.iter().copied().map(Byte::Known).collect())
        });
        if let Some(part) = whole.and_then(|whole| whole.get_mut(range)) {
            part.copy_from_slice(bytes);
        }
    }
    Ok(all)
}

/// What is demanded of a resource.
struct Demand {
    /// The offset and the bytes of each run of words that all outcomes have.
    runs: Vec<(usize, Vec<u8>)>,
    /// How many words differ from one outcome to another, or are undefined.
    open: usize,
}

/// Bytes of a word; what is not a multiple of it is told byte by byte.
const WORD: usize = 4;

/// How many bytes are demanded at once: a script line has a length that people can read.
const LONGEST: usize = 8 * WORD;

/// What outcomes have in common, for each resource that a module may write.
fn demands(case: &Case, outcomes: &Outcomes) -> Vec<Demand> {
    let demand = |(number, resource): (usize, &Resource)| {
        let mut demand = Demand { runs: Vec::new(), open: 0 };
        if !resource.is_writable() {
            return demand;
        }
        let unit = unit(resource);
        for at in (0..resource.bytes.len()).step_by(unit) {
            match common(outcomes, number, at..at + unit) {
                None => demand.open += 1,
                Some(bytes) => match demand.runs.last_mut() {
                    Some((begun, run)) if *begun + run.len() == at && run.len() < LONGEST => {
                        run.extend(bytes)
                    }
                    _ => demand.runs.push((at, bytes)),
                },
            }
        }
        demand
    };
    case.resources.iter().enumerate().map(demand).collect()
}

/// The unit in which a resource is told, in bytes.
fn unit(resource: &Resource) -> usize {
    if resource.bytes.len().is_multiple_of(WORD) {
        WORD
    } else {
        1
    }
}

/// The bytes in this place, if all outcomes have the same there.
fn common(outcomes: &Outcomes, resource: usize, range: std::ops::Range<usize>) -> Option<Vec<u8>> {
    let of = |outcome: &Vec<Option<Vec<Byte>>>| -> Option<Vec<u8>> {
        let bytes = outcome.get(resource)?.as_ref()?.get(range.clone())?;
        bytes
            .iter()
            .map(|byte| match byte {
                Byte::Known(value) => Some(*value),
                Byte::Undef => None,
            })
            .collect()
    };
    let first = of(outcomes.first()?)?;
    outcomes.iter().all(|outcome| of(outcome).as_ref() == Some(&first)).then_some(first)
}

/// Whether memory has everything that is demanded.
fn passes(demands: &[Demand], shown: &[Option<Vec<Byte>>]) -> bool {
    demands.iter().zip(shown).all(|(demand, shown)| {
        let Some(shown) = shown else { return true };
        demand.runs.iter().all(|(at, bytes)| {
            let there = shown.get(*at..at + bytes.len()).unwrap_or_default();
            there.iter().zip(bytes).all(|(there, byte)| *there == Byte::Known(*byte))
        })
    })
}

/// What neither format has.
fn refuse(case: &Case) -> Result<(), String> {
    for resource in &case.resources {
        let what = match resource.kind {
            Kind::StorageBuffer | Kind::UniformBuffer | Kind::SameAs { .. } => continue,
            Kind::StorageTexelBuffer { .. } | Kind::UniformTexelBuffer { .. } => "a texel buffer",
            Kind::StorageImage { .. } | Kind::SampledImage { .. } | Kind::CombinedImageSampler { .. } => {
                "an image"
            }
            Kind::Sampler { .. } => "a sampler",
            Kind::Buffer => "a buffer that addresses lead to",
        };
        return Err(format!("{} is {what}, which scripts are not written for", resource.name));
    }
    if !case.addresses.is_empty() {
        return Err("memory holds addresses, which scripts cannot say".to_owned());
    }
    if case.robustness != Robustness::None {
        return Err("robust access cannot be asked for in a script".to_owned());
    }
    let other = case.resources.iter().find(|resource| resource.slot.is_some_and(|slot| slot.element != 0));
    if let Some(other) = other {
        return Err(format!(
            "{} is an element of an array of descriptors, which scripts are not written for",
            other.name
        ));
    }
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic() && c != '#');
    match is_name(&case.entry) {
        true => Ok(()),
        false => Err(format!("'{}' is no name in a script", case.entry)),
    }
}

/// What a script begins with, as comments: what it demands of the device, and what it cannot say.
fn remarks(case: &Case, demands: &[Demand], outcomes: usize) -> Vec<String> {
    let mut lines = vec![format!("written by spirv-tv {}", env!("CARGO_PKG_VERSION"))];
    let needs = capabilities(case);
    if !needs.is_empty() {
        lines.push(format!("the device needs: {}", needs.join(", ")));
    }
    if let Some(size) = case.subgroup_size {
        lines.push(format!("subgroups have {size} invocations"));
    }
    lines.push(match outcomes {
        1 => "the module allows one outcome".to_owned(),
        several => {
            format!("the module allows {several} outcomes: what all of them have in common is expected")
        }
    });
    for (resource, demand) in case.resources.iter().zip(demands).filter(|(_, demand)| demand.open > 0) {
        let unit = if unit(resource) == WORD { "word" } else { "byte" };
        let (plural, are) = if demand.open == 1 { ("", "is") } else { ("s", "are") };
        let what = format!("{} {unit}{plural} of {}", demand.open, resource.name);
        lines.push(format!("not expected: {what}, which {are} not the same in all outcomes"));
    }
    lines
}

/// The capabilities of the module beyond Shader.
fn capabilities(case: &Case) -> Vec<String> {
    // They stand behind the header, two words each.
    let code = case.words.get(5..).unwrap_or_default();
    let head = 2 << 16 | Op::Capability as u32;
    let all = code.chunks(2).take_while(|inst| inst.first() == Some(&head)).filter_map(|inst| inst.get(1));
    let all = all.filter_map(|number| Capability::from_u32(*number));
    all.filter(|capability| *capability != Capability::Shader)
        .map(|capability| format!("{capability:?}"))
        .collect()
}

/// Contents as numbers: words as hexadecimal numbers, or single bytes.
fn numbers(bytes: &[u8], unit: usize) -> Vec<String> {
    let number = |unit: &[u8]| {
        let value = unit.iter().rev().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
        value.to_string()
    };
    bytes.chunks(unit).map(number).collect()
}

/// The resource that the memory of a resource is, and the name of its buffer in a script.
fn memory_of(case: &Case, number: usize) -> usize {
    match case.resources.get(number).map(|resource| &resource.kind) {
        Some(Kind::SameAs { resource }) => *resource,
        _ => number,
    }
}

/// The features of `VkPhysicalDeviceFeatures` that capabilities need.
const FEATURES: [(&str, &str); 9] = [
    ("Int64", "shaderInt64"),
    ("Int16", "shaderInt16"),
    ("Float64", "shaderFloat64"),
    ("StorageImageReadWithoutFormat", "shaderStorageImageReadWithoutFormat"),
    ("StorageImageWriteWithoutFormat", "shaderStorageImageWriteWithoutFormat"),
    ("ImageGatherExtended", "shaderImageGatherExtended"),
    ("StorageBufferArrayDynamicIndexing", "shaderStorageBufferArrayDynamicIndexing"),
    ("UniformBufferArrayDynamicIndexing", "shaderUniformBufferArrayDynamicIndexing"),
    ("StorageImageArrayDynamicIndexing", "shaderStorageImageArrayDynamicIndexing"),
];

/// The extensions whose features capabilities need.
const EXTENSIONS: [(&str, &str); 3] = [
    ("VulkanMemoryModel", "VK_KHR_vulkan_memory_model"),
    ("StorageBuffer16BitAccess", "VK_KHR_16bit_storage"),
    ("StorageBuffer8BitAccess", "VK_KHR_8bit_storage"),
];

/// What of a table a case needs.
fn needed<'t>(case: &Case, table: &[(&str, &'t str)]) -> Vec<&'t str> {
    let needs = capabilities(case);
    table.iter().filter(|(name, _)| needs.iter().any(|need| need == name)).map(|(_, word)| *word).collect()
}

//! Runs a module on the interpreter and on the driver, on the same launch.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::images;
use super::require::{skipped, Need};
use spirv_tv::behaviour::{End, Outcome};
use spirv_tv::check::{outcomes, CheckOptions, Watch};
use spirv_tv::dispatch::{Dispatch, Object};
use spirv_tv::event::StorageClass;
use spirv_tv::ir::image::Resource as Kind;
use spirv_tv::ir::{Program, SpecConstant, Variable};
use spirv_tv::launch::{LaunchOptions, Slot};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;
use spirv_tv_driver::{Address, Binding, Device, Job, Resource, Support};
use spirv_tv_toolchain::TargetEnv;

/// What undefined bytes of a buffer hold on the device.
const FILLER: u8 = 0xa5;

/// The device of this process; `None`, and a line that says why, where there is none.
pub fn device() -> Option<&'static Device> {
    static DEVICE: OnceLock<Option<Device>> = OnceLock::new();
    DEVICE
        .get_or_init(|| match Device::open() {
            Ok(device) => Some(device),
            Err(error) => {
                skipped(Need::Device, &format!("there is no Vulkan device ({error})"));
                None
            }
        })
        .as_ref()
}

/// Final contents of memory by the keys of reports.
pub type Memory<T> = BTreeMap<String, Vec<T>>;

/// What both made of a module.
pub struct Ran {
    /// The outcomes that the interpreter allows.
    pub ours: Vec<Memory<Byte>>,
    /// The driver's result; `None` where the device lacks capabilities that the module declares.
    pub theirs: Option<Memory<u8>>,
}

/// Reads a text that must be valid for Vulkan 1.3.
pub fn module(name: &str, text: &str) -> Result<Module, String> {
    let mut options = ReadOptions::for_env(TargetEnv::Vulkan1_3);
    // SPIR-V of a newer version than the device takes is no use.
    options.assemble_env = Some(TargetEnv::Universal1_6);
    Module::from_text(text, name, &options).map_err(|error| error.to_string())
}

/// Runs the module on both.
///
/// # Errors
/// The module is not supported, is undefined on this launch, or a run failed.
pub fn run(device: &Device, module: &Module, options: &CheckOptions) -> Result<Ran, String> {
    let launch = LaunchOptions { subgroup_size: Some(device.subgroup_size()), ..options.launch.clone() };
    let mut options = CheckOptions { launch, ..options.clone() };
    options.bounds.jobs = 1;
    let report = outcomes(module, &options, &Watch::default()).map_err(|error| error.to_string())?;
    if !report.unsupported.is_empty() {
        let list = report.unsupported.iter().map(|item| format!("{} (line {})", item.what, item.line));
        return Err(format!("not supported: {}", list.collect::<Vec<_>>().join(", ")));
    }
    let [run] = &report.runs[..] else { return Err(format!("{} runs", report.runs.len())) };
    let behaviours = &run.explored.behaviours;
    if let Some((undefined, _)) = behaviours.undefined.first() {
        return Err(format!("undefined: {undefined:?}"));
    }
    if !behaviours.complete {
        return Err(format!("incomplete: {:?} {:?}", behaviours.stopped, behaviours.undecided));
    }
    let dispatch = &run.explored.dispatch;
    let ours = behaviours.outcomes.iter().filter_map(|(outcome, _)| memory(outcome, dispatch)).collect();
    let theirs = match device.support(&module.words) {
        Support::Lacks(_) => None,
        Support::Yes => Some(run_on_device(device, module, &options.launch, dispatch)?),
    };
    Ok(Ran { ours, theirs })
}

fn memory(outcome: &Outcome, dispatch: &Dispatch) -> Option<Memory<Byte>> {
    let observed = dispatch.objects.iter().filter(|object| object.observed);
    (outcome.end == End::Terminated)
        .then(|| observed.map(|object| object.key.clone()).zip(outcome.memory.iter().cloned()).collect())
}

fn run_on_device(
    device: &Device,
    module: &Module,
    launch: &LaunchOptions,
    dispatch: &Dispatch,
) -> Result<Memory<u8>, String> {
    let options = LowerOptions {
        entry: launch.entry.clone(),
        specialisations: launch.spec.clone(),
        local_size: launch.local_size.map(|size| size.0),
        ..LowerOptions::default()
    };
    let program = lower(module, &options).map_err(|error| error.to_string())?;
    let (keys, job) = job(module, &program, dispatch)?;
    let mut results = device.run(&job).map_err(|error| error.to_string())?;
    // The device's addresses are others than ours.
    for address in &job.addresses {
        let ours = address.within.and_then(|index| address_bytes(dispatch, &keys[index], address.offset));
        let theirs =
            address.within.and_then(|index| results[index].get_mut(address.offset..address.offset + 8));
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            theirs.copy_from_slice(&ours);
        }
    }
    Ok(keys.into_iter().zip(results).collect())
}

fn address_bytes(dispatch: &Dispatch, key: &str, offset: usize) -> Option<Vec<u8>> {
    let object = dispatch.objects.iter().find(|object| object.key == key)?;
    initial(object).get(offset..offset + 8).map(<[u8]>::to_vec)
}

/// The addresses in the memory that the host fills; what they lead to is one of the job's buffers, by memory.
fn addresses(
    dispatch: &Dispatch,
    within: Option<usize>,
    bytes: &[u8],
    memories: &[(u32, usize)],
) -> Vec<Address> {
    let place = |(word, bytes): (usize, &[u8])| {
        let value = u64::from_le_bytes(bytes.try_into().ok()?);
        let (object, byte) = dispatch.object_at(value)?;
        let memory = dispatch.objects.get(object as usize)?.memory;
        let (_, target) = memories.iter().find(|(known, _)| *known == memory)?;
        Some(Address { within, offset: word * 8, target: *target, byte: u64::from(byte) })
    };
    bytes.chunks(8).enumerate().filter_map(place).collect()
}

/// The job that is this dispatch, and the key of each of its bindings.
fn job<'a>(
    module: &'a Module,
    program: &'a Program,
    dispatch: &Dispatch,
) -> Result<(Vec<String>, Job<'a>), String> {
    let mut bindings = Vec::new();
    let mut keys: Vec<String> = Vec::new();
    let mut memories: Vec<(u32, usize)> = Vec::new();
    for variable in &program.variables {
        for slot in Slot::of(variable) {
            let key = match variable.resource {
                Some(Kind::Image(_) | Kind::SampledImage(_)) => format!("image:{slot}"),
                Some(Kind::Sampler) => format!("sampler:{slot}"),
                Some(Kind::AccelerationStructure) => {
                    return Err(format!("{slot} is an acceleration structure, which the driver is not given"))
                }
                None => slot.to_string(),
            };
            if keys.contains(&key) {
                continue;
            }
            let object = dispatch.objects.iter().find(|object| object.key == key);
            let object = object.ok_or_else(|| format!("nothing is bound to {key}"))?;
            let first = memories.iter().find(|(memory, _)| *memory == object.memory).map(|(_, index)| *index);
            let resource = match first {
                Some(first) => Resource::Alias(first),
                None => resource(variable, object)?,
            };
            memories.push((object.memory, keys.len()));
            keys.push(key);
            let element = slot.element.unwrap_or(0);
            bindings.push(Binding { set: slot.set, binding: slot.binding, element, resource });
        }
    }
    let mut unbound = Vec::new();
    for range in &dispatch.physical {
        let Some(object) = dispatch.objects.get(range.object as usize) else { continue };
        if !memories.iter().any(|(memory, _)| *memory == object.memory) {
            memories.push((object.memory, keys.len()));
            keys.push(object.key.clone());
            unbound.push(initial(object));
        }
    }
    let push = dispatch.objects.iter().find(|object| object.key == "push").map(initial).unwrap_or_default();
    let mut pointers = addresses(dispatch, None, &push, &memories);
    for (index, key) in keys.iter().enumerate() {
        if let Some(object) = dispatch.objects.iter().find(|object| object.key == *key) {
            pointers.extend(addresses(dispatch, Some(index), &initial(object), &memories));
        }
    }
    let specialisation = program
        .spec_constants
        .iter()
        .filter_map(|constant| Some((constant.spec_id?, value(constant))))
        .collect();
    let job = Job {
        words: &module.words,
        entry: &program.entry.name,
        workgroups: dispatch.workgroups,
        specialisation,
        push,
        bindings,
        unbound,
        addresses: pointers,
    };
    Ok((keys, job))
}

fn resource(variable: &Variable, object: &Object) -> Result<Resource, String> {
    if let Some(kind) = variable.resource {
        return images::resource(kind, object, initial(object));
    }
    match variable.class {
        StorageClass::Uniform if variable.constant => Ok(Resource::UniformBuffer(initial(object))),
        StorageClass::Uniform | StorageClass::StorageBuffer => Ok(Resource::StorageBuffer(initial(object))),
        class => Err(format!("{} is in storage class {class:?}", object.key)),
    }
}

fn initial(object: &Object) -> Vec<u8> {
    let byte = |byte: &Byte| match byte {
        Byte::Known(value) => *value,
        Byte::Undef => FILLER,
    };
    object.initial.iter().map(byte).collect()
}

/// The bytes that Vulkan takes for a specialisation constant.
fn value(constant: &SpecConstant) -> Vec<u8> {
    let bytes = match constant.width {
        1 => 4,
        width => (width / 8) as usize,
    };
    constant.value.to_le_bytes()[..bytes].to_vec()
}

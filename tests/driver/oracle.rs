//! Runs a module on the interpreter and on the driver, on the same launch.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::Duration;

use super::require::{skipped, Need};
use spirv_tv::behaviour::{End, Outcome};
use spirv_tv::check::{outcomes, CheckOptions, OutcomesRun, Watch};
use spirv_tv::dispatch::Dispatch;
use spirv_tv::launch::{LaunchOptions, OutOfBounds};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;
use spirv_tv_cli::{case_of, Wanted};
use spirv_tv_driver::Device;
use spirv_tv_executor::Execution;
use spirv_tv_toolchain::TargetEnv;

/// How long a dispatch may take.
const TIME: Duration = Duration::from_secs(60);

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
    Ok(Ran { ours, theirs: run_on_device(device, module, &options.launch, run)? })
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
    run: &OutcomesRun,
) -> Result<Option<Memory<u8>>, String> {
    let dispatch = &run.explored.dispatch;
    let wanted = Wanted { launch, out_of_bounds: OutOfBounds::Undefined, times: 1, time: TIME };
    let case = case_of(module, &run.program, dispatch, wanted)?;
    let mut results = match device.execute(&case) {
        Execution::Finished(mut observations) => observations.remove(0).memory,
        Execution::Unsupported(_) => return Ok(None),
        failure => return Err(failure.to_string()),
    };
    // The device's addresses are others than ours.
    for address in &case.addresses {
        let Some(index) = address.within else { continue };
        let range = address.offset..address.offset + 8;
        let ours = case.resources[index].bytes.get(range.clone());
        let theirs = results[index].as_mut().and_then(|bytes| bytes.get_mut(range));
        if let (Some(ours), Some(theirs)) = (ours, theirs) {
            theirs.copy_from_slice(ours);
        }
    }
    let all = case.resources.into_iter().zip(results);
    Ok(Some(all.filter_map(|(resource, bytes)| Some((resource.name, bytes?))).collect()))
}

//! `spirv-tv run`: what a Vulkan device or another executor does with a module, in the words of `outcomes`.

mod allowed;
mod arguments;
mod case;
mod factored;
mod hold;
mod images;
mod judge;
mod report;
mod script;
mod signature;
mod verdict;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use spirv_tv::check::{dispatches, outcomes, CheckOptions, Floats, OutcomesReport, OutcomesRun, Watch};
use spirv_tv::files;
use spirv_tv::module::Module;
use spirv_tv::report::json;
use spirv_tv_driver::runner;
use spirv_tv_executor::program::{ExecutorCommand, ExecutorProgram};
use spirv_tv_executor::{Description, Execution, Executor};

use super::memory::MemoryLimit;
use super::progress::ProgressLine;
use super::{asm, painter, print, CliError, TextOrJson};
use allowed::{Allowed, OutcomesFile, RunJson};
use report::{RunReport, Told};

pub use arguments::RunArguments;
pub use case::{case_of, Wanted};
pub(crate) use hold::{hold, Held, Question};
pub use script::{script, Outcomes, ScriptFormat};
pub(crate) use signature::said;
pub(crate) use verdict::RunVerdict;

/// The hidden subcommand that is an executor on a Vulkan device: what a driver does to its process ends that one alone.
const RUNNER: &str = "__runner";

/// Bytes of a set of outcomes, at most.
const LONGEST_SET: u64 = 1 << 30;

/// Serves [`RUNNER`] if it is the first of `arguments` (without the program's name); `None` is any other command line.
pub(super) fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    (arguments.next()? == RUNNER).then(|| runner::main(arguments))
}

pub(super) fn run(arguments: &RunArguments) -> Result<u8, CliError> {
    let options = arguments.options()?;
    if arguments.features {
        let (_, description) = arguments.start()?;
        print(&match arguments.format {
            TextOrJson::Json => features_json(&description),
            TextOrJson::Text => report::features(&description, painter(arguments.color)),
        })?;
        return Ok(0);
    }
    let Some(path) = &arguments.module else { return Err(CliError::usage("run wants a MODULE")) };
    let given = arguments.allowed.as_deref().map(read_allowed).transpose()?;
    let watch = Arc::new(Watch::default());
    let mut progress = Some(ProgressLine::start(&watch, arguments.color));
    let _limit = MemoryLimit::start(&watch, options.bounds.max_memory);
    watch.enter("reading");
    let module = Module::load(path, &arguments.read.options())?;
    if let Some(folder) = &arguments.read.emit_asm {
        asm::emit(folder, "module", &module.text)?;
    }
    // A script needs no device to be written.
    let is_run = arguments.emit.is_none() || arguments.executor.is_some() || arguments.device.is_some();
    let executor = is_run.then(|| arguments.start()).transpose()?;
    let unknown = Description::default();
    let description = executor.as_ref().map_or(&unknown, |(_, description)| description);
    let options = with_subgroups(options, given.as_ref(), description);
    let (found, set) = match given {
        Some(set) => (dispatches(&module, &options, &watch)?, set),
        None => {
            let found = outcomes(&module, &options, &watch)?;
            let set = OutcomesFile::read(&json::outcomes(&found)).map_err(nothing_runs)?;
            (found, set)
        }
    };
    if let Some(file) = &arguments.allowed {
        let launches = json::rests_on(&found.choices);
        let launches = launches.get("launch").unwrap_or(&serde_json::Value::Null);
        if let Some(why) = set.is_of_other(launches).or_else(|| is_of_other(&set, &found)) {
            return Err(CliError::Usage(format!("{}: it is of another launch: {why}", file.display())));
        }
    }
    let open_floats = options.floats != Floats::Exact && !set.is_exact();
    let Some((executor, description)) = executor else {
        drop(progress.take());
        return emit(arguments, &options, &module, &found, &set);
    };
    let mut runs = Vec::new();
    for (run, json) in found.runs.iter().zip(set.runs()) {
        watch.enter(format!("{}, input '{}' on {}", run.entry, run.input.name, description.name));
        runs.push(told(arguments, &options, &module, &executor, run, json, open_floats)?);
    }
    drop(progress.take());
    let report = whole(&found, description, runs);
    if let Some(format) = arguments.emit {
        let wrong = report.runs.iter().find(|told| told.judged.verdict == RunVerdict::Violates);
        let told = wrong.or(report.runs.first()).ok_or_else(|| nothing_to_emit("there is nothing to run"))?;
        print(&script_of(arguments, &options, &module, told, format)?)?;
        crate::tell(&format!("{}: {}: {}", found.module.name, report.verdict.name(), report.line()));
        return Ok(report.verdict.exit_code(arguments.strict));
    }
    print(&match arguments.format {
        TextOrJson::Json => format!("{}\n", report.json()),
        TextOrJson::Text if arguments.quiet => {
            format!("{}: {}: {}\n", found.module.name, report.verdict.name(), report.line())
        }
        TextOrJson::Text => report.text(arguments.full, painter(arguments.color)),
    })?;
    Ok(report.verdict.exit_code(arguments.strict))
}

/// Prints the script of the first run, of which nothing is run.
fn emit(
    arguments: &RunArguments,
    options: &CheckOptions,
    module: &Module,
    found: &OutcomesReport,
    set: &OutcomesFile,
) -> Result<u8, CliError> {
    let first = found.runs.iter().zip(set.runs()).next();
    let (Some((run, json)), Some(format)) = (first, arguments.emit) else {
        return Err(nothing_to_emit("there is nothing to run"));
    };
    let allowed = Allowed::of(json, &run.explored.dispatch).map_err(nothing_to_emit)?;
    let told = Told { run, allowed, judged: judge::Judged::default() };
    print(&script_of(arguments, options, module, &told, format)?)?;
    Ok(0)
}

/// The script of a run; it fails with what was shown and is not allowed, if there is something.
fn script_of(
    arguments: &RunArguments,
    options: &CheckOptions,
    module: &Module,
    told: &Told<'_>,
    format: ScriptFormat,
) -> Result<String, CliError> {
    let dispatch = &told.run.explored.dispatch;
    let wanted = wanted(arguments, options);
    let case = case_of(module, &told.run.program, dispatch, wanted).map_err(nothing_to_emit)?;
    let outcomes = script::outcomes_of(&case, dispatch, &told.allowed).map_err(nothing_to_emit)?;
    let wrong = told.judged.seen.iter().find(|seen| !seen.is_allowed);
    let shown = wrong.map(|seen| script::in_resources(&case, dispatch, &seen.outcome.memory));
    let shown = shown.transpose().map_err(nothing_to_emit)?;
    script(format, &case, &outcomes, shown.as_deref()).map_err(nothing_to_emit)
}

/// What a case needs beyond the module and the dispatch.
fn wanted<'a>(arguments: &RunArguments, options: &'a CheckOptions) -> Wanted<'a> {
    Wanted {
        launch: &options.launch,
        out_of_bounds: options.out_of_bounds,
        times: arguments.times,
        time: arguments.time(),
    }
}

/// There is no script.
fn nothing_to_emit(why: impl std::fmt::Display) -> CliError {
    CliError::Usage(format!("no script can be written: {why}"))
}

/// The executor is not there, or does not say what it is.
pub(crate) fn nothing_runs(why: impl std::fmt::Display) -> CliError {
    CliError::Usage(format!("nothing can be run: {why}"))
}

/// The executor that is asked for, and what it is; `time` is how long it may take to start and to say so.
pub(crate) fn started(
    command: Option<&str>,
    device: Option<&str>,
    time: Duration,
) -> Result<(ExecutorProgram, Description), CliError> {
    started_with((command, device), false, time)
}

/// The same; a device has Vulkan's validation layer where it `validates`.
fn started_with(
    (command, device): (Option<&str>, Option<&str>),
    validates: bool,
    time: Duration,
) -> Result<(ExecutorProgram, Description), CliError> {
    let launcher = std::env::current_exe().map_err(nothing_runs)?;
    let is_device = command.is_none();
    let asked = match (command, device) {
        (Some(command), _) => format!("--executor '{command}': "),
        (None, Some(device)) => format!("--device '{device}': "),
        (None, None) => String::new(),
    };
    let command = match command {
        Some(command) => command.parse().map_err(|error| CliError::Usage(format!("--executor: {error}")))?,
        None => {
            let mut words: Vec<OsString> = vec![launcher.clone().into(), RUNNER.into()];
            if let Some(device) = device {
                words.extend(["--device".into(), device.into()]);
            }
            if validates {
                words.push("--validation".into());
            }
            ExecutorCommand::of(words)
        }
    };
    let executor = ExecutorProgram::new(command, launcher).map_err(nothing_runs)?;
    let description = executor.describe_within(time).map_err(|failure| {
        let why = match failure {
            Execution::TimedOut(_) => {
                let seconds = time.as_secs_f64();
                format!("the executor had not said what it is after {seconds} s (--start-timeout)")
            }
            // The runner's own words of devices.
            Execution::Failed(why) if is_device => why,
            other => other.to_string(),
        };
        nothing_runs(format!("{asked}{why}"))
    })?;
    Ok((executor, description))
}

fn read_allowed(path: &Path) -> Result<OutcomesFile, CliError> {
    let failed = |why: String| CliError::of_option("--allowed", format!("{}: {why}", path.display()));
    let bytes = files::read(path, LONGEST_SET).map_err(|error| failed(error.to_string()))?;
    OutcomesFile::read(&String::from_utf8_lossy(&bytes)).map_err(failed)
}

/// Where the user does not say how large subgroups are, they are as large as in the set of outcomes, or on the device.
fn with_subgroups(
    mut options: CheckOptions,
    given: Option<&OutcomesFile>,
    description: &Description,
) -> CheckOptions {
    let Some(set) = given else { return with_subgroups_of(options, description) };
    options.launch.subgroup_size = options.launch.subgroup_size.or(set.subgroup_size());
    options
}

/// Where the user does not say how large subgroups are, they are as large as on the device.
pub(crate) fn with_subgroups_of(mut options: CheckOptions, description: &Description) -> CheckOptions {
    let of_device = Some(description.subgroup_size).filter(|size| *size > 0);
    options.launch.subgroup_size = options.launch.subgroup_size.or(of_device);
    options
}

/// Why a set of outcomes has other inputs.
fn is_of_other(set: &OutcomesFile, found: &OutcomesReport) -> Option<String> {
    let theirs = set.runs();
    if theirs.len() != found.runs.len() {
        return Some(format!("it has {} runs, and there are {}", theirs.len(), found.runs.len()));
    }
    let mut pairs = found.runs.iter().zip(theirs);
    pairs.find_map(|(run, theirs)| theirs.is_of_other(&run.entry, &json::input(&run.input)))
}

fn told<'r>(
    arguments: &RunArguments,
    options: &CheckOptions,
    module: &Module,
    executor: &dyn Executor,
    run: &'r OutcomesRun,
    json: &RunJson,
    open_floats: bool,
) -> Result<Told<'r>, CliError> {
    let dispatch = &run.explored.dispatch;
    let allowed = match Allowed::of(json, dispatch) {
        Ok(allowed) => allowed,
        Err(why) => match &arguments.allowed {
            Some(file) => return Err(CliError::Usage(format!("{}: {why}", file.display()))),
            None => return Err(nothing_runs(why)),
        },
    };
    let judged = match case_of(module, &run.program, dispatch, wanted(arguments, options)) {
        Ok(case) => judge::judge(executor, &case, &allowed, dispatch, open_floats),
        Err(why) => judge::Judged::unknown(why),
    };
    Ok(Told { run, allowed, judged })
}

/// All runs together, with what was not run.
fn whole<'r>(found: &'r OutcomesReport, executor: Description, runs: Vec<Told<'r>>) -> RunReport<'r> {
    let unsupported =
        found.unsupported.iter().map(|one| format!("{} (line {}) is not supported", one.what, one.line));
    let untried = found.untried.iter().map(|untried| untried.reason().to_string());
    let mut reasons: Vec<String> = unsupported.chain(untried).collect();
    if runs.is_empty() && reasons.is_empty() {
        reasons.push("there is nothing to run".to_owned());
    }
    let first = if reasons.is_empty() { RunVerdict::Vacuous } else { RunVerdict::Inconclusive };
    let verdict = runs.iter().map(|told| told.judged.verdict).fold(first, RunVerdict::worse);
    RunReport { report: found, executor, runs, reasons, verdict }
}

fn features_json(description: &Description) -> String {
    let limits: serde_json::Map<String, serde_json::Value> =
        description.limits.iter().map(|(what, most)| (what.clone(), (*most).into())).collect();
    let object = serde_json::json!({
        "schema": "spirv-tv.executor/1",
        "name": description.name,
        "subgroup_size": description.subgroup_size,
        "capabilities": description.capabilities,
        "lacks": description.lacks,
        "limits": limits,
        "notes": description.notes,
    });
    format!("{object}\n")
}

//! What would be wrong in every case is told once, before any case runs.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;

use spirv_tv::launch::file;
use spirv_tv_toolchain::check_flag;

use super::arguments::GateArguments;
use super::cached::Answers;
use super::make::flags_of;
use super::options::{self, CaseOptions};
use super::plan::Plan;
use crate::arguments::{PairArguments, YesNo};
use crate::optimiser::Tool;
use crate::{help, html, CliError};

/// Options of a check that are those of a case as well.
const OF_CASES: [&str; 1] = ["jobs"];

/// Options of the executor, which runs all cases alike.
const OF_EXECUTOR: [&str; 5] = ["executor", "device", "times", "run_timeout", "start_timeout"];

/// Looks at the options of the command line.
pub(super) fn options(arguments: &GateArguments) -> Result<(), CliError> {
    options::of(arguments)?;
    if arguments.executor.is_given() {
        of_executor(arguments)?;
    }
    // The folder of answers is made, or refused, here.
    Answers::of(arguments)?;
    let compilers = &arguments.compilers;
    let commands = [&compilers.before_cmd, &compilers.after_cmd, &compilers.reference];
    let mut programs: Vec<_> = commands.into_iter().flatten().cloned().collect();
    if let Tool::Program(program) = compilers.choice.tool()? {
        programs.push(program);
    }
    if let Some(path) = &arguments.comparison.read.spirv_val {
        programs.push(html::quoted(&path.to_string_lossy()).parse().map_err(CliError::usage)?);
    }
    for program in programs {
        program.look_for().map_err(CliError::usage)?;
    }
    let shares = [arguments.expectations.min_decided, arguments.expectations.min_exercised];
    if shares.into_iter().flatten().any(|share| !(0.0..=100.0).contains(&share)) {
        return Err(CliError::usage("--min-decided and --min-exercised are numbers from 0 to 100"));
    }
    if arguments.selected.fraction_start == 0 {
        return Err(CliError::usage("--fraction-start 0: cases are counted from 1"));
    }
    if arguments.selected.max_fails == Some(0) {
        return Err(CliError::usage("--max-fails 0: it ends behind the first failure with 1"));
    }
    Ok(())
}

/// Refuses what is about comparisons of two modules where modules are run.
fn of_executor(arguments: &GateArguments) -> Result<(), CliError> {
    let PairArguments {
        ignore,
        spec_may_freeze,
        after_out_of_bounds,
        both_ways,
        all,
        self_check,
        full: _,
        save_failing: _,
    } = &arguments.comparison.pair;
    let given = [
        (arguments.compilers.reference.is_some(), "reference"),
        (arguments.expectations.min_exercised.is_some(), "min-exercised"),
        (!ignore.is_empty(), "ignore"),
        (*spec_may_freeze == YesNo::No, "spec-may-freeze"),
        (after_out_of_bounds.is_some(), "after-out-of-bounds"),
        (*both_ways, "both-ways"),
        (*all, "all"),
        (*self_check, "self-check"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, name)) => Err(CliError::Usage(format!(
            "--{name} is about comparing two modules, and --executor and --device run them"
        ))),
        None => Ok(()),
    }
}

/// Looks at what cases add: options, launch files, and flags.
pub(super) fn cases(
    arguments: &GateArguments,
    command_line: &[OsString],
    plan: &Plan,
) -> Result<(), CliError> {
    let is_bundled = matches!(arguments.compilers.choice.tool()?, Tool::Bundled);
    let mut parsed = CaseOptions::new(arguments, command_line.to_vec())?;
    let (mut options, mut launches, mut pipelines) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for case in plan.planned.iter().map(|one| &one.case) {
        if options.insert(&case.options) && !case.options.is_empty() {
            let words: Vec<OsString> = case.options.iter().map(OsString::from).collect();
            let without: Vec<&str> = OF_CASES.to_vec();
            let others = [&super::plan::DECIDES_NOTHING[..], &OF_EXECUTOR].concat();
            let foreign = help::foreign(&words, &others, &without);
            if let Some(option) = foreign.first() {
                return Err(CliError::usage(format!(
                    "options of '{}': --{option} is no option of a check",
                    case.name
                )));
            }
            parsed
                .of(case)
                .map_err(|error| CliError::usage(format!("options of '{}': {error}", case.name)))?;
        }
        if let Some(launch) = case.launch.as_ref().filter(|launch| launches.insert(PathBuf::clone(launch))) {
            file::read(launch)?;
        }
        if is_bundled && pipelines.insert(&case.pipeline) {
            let flags = flags_of(&case.pipeline).map_err(|failed| CliError::usage(failed.detail))?;
            for flag in &flags.passes {
                check_flag(flag).map_err(|error| CliError::usage(format!("{flag}: {error}")))?;
            }
        }
    }
    Ok(())
}

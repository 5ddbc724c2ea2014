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
use crate::optimiser::Tool;
use crate::{help, html, CliError};

/// Options of a check that are those of a case as well.
const OF_CASES: [&str; 1] = ["jobs"];

/// Looks at the options of the command line.
pub(super) fn options(arguments: &GateArguments) -> Result<(), CliError> {
    options::of(arguments)?;
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
            let foreign = help::foreign(&words, &super::plan::DECIDES_NOTHING, &without);
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

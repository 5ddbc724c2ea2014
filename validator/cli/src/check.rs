//! `spirv-tv check`.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;

use super::arguments::{RUN, SHOW};
use super::memory::MemoryLimit;
use super::progress::ProgressLine;
use super::{asm, caught, format, html, print, save, CliError, ComparisonArguments, Format, OutputArguments};
use spirv_tv::check::{check, CheckOptions, CheckReport, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::module::{self, Mapping, Module, ReadOptions};
use spirv_tv::report::{self, json, stats};

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The module before the optimisation
    #[arg(value_name = "BEFORE")]
    pub(crate) before: String,
    /// The module after it
    #[arg(value_name = "AFTER")]
    pub(crate) after: String,
    /// What AFTER calls otherwise: entry points, bindings as in 0.1=1.3, SpecIds as in spec:3=spec:7, or names
    #[arg(long, value_name = "BEFORE=AFTER", help_heading = RUN)]
    pub(crate) map: Vec<Mapping>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// Say what each search cost: explored and blocked executions, speculated values, and how its paths ended
    #[arg(long, help_heading = SHOW, hide_short_help = true)]
    pub(crate) stats: bool,
}

impl CheckArguments {
    /// The options of the check.
    ///
    /// # Errors
    /// Options that contradict each other or are not built.
    pub fn options(&self) -> Result<CheckOptions, CliError> {
        self.comparison.options()
    }

    /// How the modules are read.
    pub fn read_options(&self) -> ReadOptions {
        self.comparison.read.options()
    }
}

pub(super) fn run(arguments: &CheckArguments) -> Result<u8, CliError> {
    if arguments.before == "-" && arguments.after == "-" {
        return Err(CliError::usage("only one of BEFORE and AFTER can be standard input"));
    }
    let begun = Instant::now();
    let options = arguments.options()?;
    let compared = caught(|| compare(arguments, &options)).unwrap_or_else(|bug| Err(bug.into()));
    let (before, after, report) = match compared {
        Ok(done) => done,
        Err(error) => {
            // Programs read the object, people the message.
            if arguments.output.format.is_json() {
                let names = [arguments.before.as_str(), arguments.after.as_str()];
                let object = match error.bug() {
                    Some(bug) => json::check_bug(names, bug, &options),
                    None => json::check_error(names, &error.to_string(), &options),
                };
                print(&format!("{object}\n"))?;
            }
            return Err(error);
        }
    };
    if let Some(folder) = &arguments.comparison.pair.save_failing {
        if report.verdict == Verdict::Violates {
            save::failing(folder, None, &before, &after, &report, &options, &arguments.comparison.read)?;
        }
    }
    if let Some(path) = &arguments.output.html {
        let names = [arguments.before.clone(), arguments.after.clone()];
        let alone = save::alone(names, &report, &options, &arguments.comparison.read);
        let extent = html::extent(alone, &options.bounds, begun, arguments.comparison.pair.full);
        html::write(path, &report::html::check(&report, &extent))?;
    }
    print(&format::check(&report, &arguments.output, arguments.comparison.pair.full))?;
    if arguments.stats && arguments.output.format == Format::Text {
        print(&stats::check(&report))?;
    }
    let code = report.exit_code(arguments.output.strict);
    // The process ends: to free millions of outcomes one by one would take a part of the search's time.
    std::mem::forget(report);
    Ok(code)
}

/// After with the names and numbers that before has for what is mapped.
pub(super) fn mapped(
    before: &Module,
    after: Module,
    map: &[Mapping],
    read: &ReadOptions,
) -> Result<Module, CliError> {
    if map.is_empty() {
        return Ok(after);
    }
    let words = module::mapped(before, &after, map).map_err(CliError::usage)?;
    Ok(Module::from_words(words, &after.name, read)?)
}

fn compare(
    arguments: &CheckArguments,
    options: &CheckOptions,
) -> Result<(Module, Module, CheckReport), CliError> {
    let watch = Arc::new(Watch::default());
    let _progress = ProgressLine::start(&watch, arguments.output.color);
    let _limit = MemoryLimit::start(&watch, options.bounds.max_memory);
    watch.enter("reading");
    let read = arguments.comparison.read.options();
    let before = Module::load(&arguments.before, &read)?;
    let after = mapped(&before, Module::load(&arguments.after, &read)?, &arguments.map, &read)?;
    if let Some(folder) = &arguments.comparison.read.emit_asm {
        for (name, module) in [("before", &before), ("after", &after)] {
            asm::emit(folder, name, &module.text)?;
        }
    }
    let report = check(&before, &after, options, &watch)?;
    Ok((before, after, report))
}

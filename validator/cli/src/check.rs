//! `spirv-tv check`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;

use super::arguments::{OutOfBoundsChoice, YesNo, COUNTS, FAR, RUN, SHOW};
use super::memory::MemoryLimit;
use super::progress::ProgressLine;
use super::{
    asm, caught, format, html, print, save, ChoiceArguments, CliError, Format, LaunchArguments,
    OutputArguments, ReadArguments,
};
use spirv_tv::check::{check, CheckOptions, CheckReport, Watch};
use spirv_tv::compare::{Verdict, ViolationKind};
use spirv_tv::launch::OutOfBounds;
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
    pub(crate) launch: LaunchArguments,
    #[command(flatten)]
    pub(crate) pair: PairArguments,
    #[command(flatten)]
    pub(crate) choices: ChoiceArguments,
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// Say what each search cost: explored and blocked executions, speculated values, and how its paths ended
    #[arg(long, help_heading = SHOW, hide_short_help = true)]
    pub(crate) stats: bool,
}

/// Options of everything that compares pairs.
#[derive(Debug, Args)]
pub struct PairArguments {
    /// Kinds of violations that are not reported: new-race, new-undefined, new-outcome, new-hang, volatile-trace
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', help_heading = COUNTS)]
    pub(crate) ignore: Vec<ViolationKind>,
    /// Whether after may lack a SpecId that matters to before; it is compared at the default then
    #[arg(long, value_enum, value_name = "yes|no", default_value_t = YesNo::Yes, hide_possible_values = true,
        help_heading = COUNTS, hide_short_help = true)]
    pub(crate) spec_may_freeze: YesNo,
    /// What accesses outside of buffers and images do in after, where that is not what they do in before
    #[arg(long, value_enum, value_name = "undefined|robust|robust2", hide_possible_values = true,
        help_heading = COUNTS, hide_short_help = true)]
    pub(crate) after_out_of_bounds: Option<OutOfBoundsChoice>,
    /// Say whether after lost behaviours, too
    #[arg(long, help_heading = FAR)]
    pub(crate) both_ways: bool,
    /// Find everything that after does, also behind the first behaviour that violates
    #[arg(long, help_heading = FAR)]
    pub(crate) all: bool,
    /// Compare each module with itself first, without shortcuts
    #[arg(long, help_heading = FAR, hide_short_help = true)]
    pub(crate) self_check: bool,
    /// Report violations in full, not on at most 60 lines: every event, the whole memory, every difference
    #[arg(long, help_heading = SHOW)]
    pub(crate) full: bool,
    /// Keep violating pairs with their launch and a command to replay
    #[arg(long, value_name = "DIR", help_heading = SHOW)]
    pub(crate) save_failing: Option<PathBuf>,
}

impl PairArguments {
    /// These options added to others.
    pub fn apply(&self, options: CheckOptions) -> CheckOptions {
        CheckOptions {
            ignore: self.ignore.iter().copied().collect(),
            after_out_of_bounds: self.after_out_of_bounds.map(OutOfBounds::from),
            spec_must_stay: self.spec_may_freeze == YesNo::No,
            self_check: self.self_check,
            both_ways: self.both_ways,
            all: self.all,
            ..options
        }
    }
}

impl CheckArguments {
    /// The options of the check.
    ///
    /// # Errors
    /// Options that contradict each other or are not built.
    pub fn options(&self) -> Result<CheckOptions, CliError> {
        let options = self.choices.options(self.launch.options()?, self.read.target_env_name())?;
        Ok(self.pair.apply(options))
    }

    /// How the modules are read.
    pub fn read_options(&self) -> ReadOptions {
        self.read.options()
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
    if let Some(folder) = &arguments.pair.save_failing {
        if report.verdict == Verdict::Violates {
            save::failing(folder, None, &before, &after, &report, &options, &arguments.read)?;
        }
    }
    if let Some(path) = &arguments.output.html {
        let names = [arguments.before.clone(), arguments.after.clone()];
        let alone = save::alone(names, &report, &options, &arguments.read);
        let extent = html::extent(alone, &options.bounds, begun, arguments.pair.full);
        html::write(path, &report::html::check(&report, &extent))?;
    }
    print(&format::check(&report, &arguments.output, arguments.pair.full))?;
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
    let read = arguments.read.options();
    let before = Module::load(&arguments.before, &read)?;
    let after = mapped(&before, Module::load(&arguments.after, &read)?, &arguments.map, &read)?;
    if let Some(folder) = &arguments.read.emit_asm {
        for (name, module) in [("before", &before), ("after", &after)] {
            asm::emit(folder, name, &module.text)?;
        }
    }
    let report = check(&before, &after, options, &watch)?;
    Ok((before, after, report))
}

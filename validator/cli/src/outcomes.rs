//! `spirv-tv outcomes`.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;

use super::arguments::{FAR, SHOW};
use super::memory::MemoryLimit;
use super::progress::ProgressLine;
use super::{
    asm, format, html, print, ChoiceArguments, CliError, Format, LaunchArguments, OutputArguments,
    ReadArguments,
};
use spirv_tv::check::{outcomes, CheckOptions, ObserveOption, Watch};
use spirv_tv::launch::Target;
use spirv_tv::module::Module;
use spirv_tv::report::{self, stats};

/// Options of `outcomes`.
#[derive(Debug, Args)]
pub struct OutcomesArguments {
    /// The module
    #[arg(value_name = "MODULE")]
    pub(crate) module: String,
    #[command(flatten)]
    pub(crate) launch: LaunchArguments,
    #[command(flatten)]
    pub(crate) choices: ChoiceArguments,
    /// Find every undefined behaviour, not only the first one, which decides
    #[arg(long, help_heading = FAR)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Workgroup variables to show, by %id or name, or all
    #[arg(long, value_name = "%ID|all", value_delimiter = ',', help_heading = SHOW)]
    pub(crate) observe: Vec<String>,
    /// Show buffers that the module never writes, too
    #[arg(long, help_heading = SHOW)]
    pub(crate) read_only: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// Say what each search cost: explored and blocked executions, speculated values, and how its paths ended
    #[arg(long, help_heading = SHOW, hide_short_help = true)]
    pub(crate) stats: bool,
}

impl OutcomesArguments {
    /// The options of the search.
    ///
    /// # Errors
    /// Options that contradict each other or are not built.
    pub fn options(&self) -> Result<CheckOptions, CliError> {
        let options = self.choices.options(self.launch.options()?, self.read.target_env_name())?;
        let observe = if self.observe.iter().any(|name| name == "all") {
            ObserveOption::All
        } else if self.observe.is_empty() {
            ObserveOption::External
        } else {
            let targets: Result<Vec<Target>, String> = self.observe.iter().map(|name| name.parse()).collect();
            ObserveOption::Variables(targets.map_err(|error| CliError::Usage(format!("--observe: {error}")))?)
        };
        Ok(CheckOptions { observe, all: self.all, ..options })
    }
}

pub(super) fn run(arguments: &OutcomesArguments) -> Result<u8, CliError> {
    let begun = Instant::now();
    let options = arguments.options()?;
    let watch = Arc::new(Watch::default());
    let progress = ProgressLine::start(&watch, arguments.output.color);
    let _limit = MemoryLimit::start(&watch, options.bounds.max_memory);
    watch.enter("reading");
    let module = Module::load(&arguments.module, &arguments.read.options())?;
    if let Some(folder) = &arguments.read.emit_asm {
        asm::emit(folder, "module", &module.text)?;
    }
    let report = outcomes(&module, &options, &watch)?;
    drop(progress);
    if let Some(path) = &arguments.output.html {
        let extent = html::extent(None, &options.bounds, begun, false);
        html::write(path, &report::html::outcomes(&report, &extent))?;
    }
    print(&format::outcomes(&report, &arguments.output, arguments.read_only))?;
    if arguments.stats && arguments.output.format == Format::Text {
        print(&stats::outcomes(&report))?;
    }
    let code = report.exit_code(arguments.output.strict);
    // The process ends: to free millions of outcomes one by one would take a part of the search's time.
    std::mem::forget(report);
    Ok(code)
}

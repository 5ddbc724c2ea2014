//! Options of `run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::super::arguments::{parse_limit, SHOW};
use super::super::{ChoiceArguments, CliError, ColorChoice, LaunchArguments, ReadArguments, TextOrJson};
use super::script::ScriptFormat;
use spirv_tv::check::{CheckOptions, Floats};
use spirv_tv_executor::program::ExecutorProgram;
use spirv_tv_executor::Description;

/// The group of what runs the module.
const EXECUTOR: &str = "Choose what runs the module";

/// How long a case may take where the user does not say it.
const TIME: Duration = Duration::from_secs(60);

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The module
    #[arg(value_name = "MODULE", required_unless_present = "features")]
    pub(crate) module: Option<String>,
    /// A Vulkan device: a part of its name, or its number from 0 [default: the first one]
    #[arg(long, value_name = "NAME|NUMBER", conflicts_with = "executor", help_heading = EXECUTOR)]
    pub(crate) device: Option<String>,
    /// A program that runs the module instead of a Vulkan device (docs/executor.md)
    #[arg(long, value_name = "COMMAND", help_heading = EXECUTOR)]
    pub(crate) executor: Option<String>,
    /// What runs fails where Vulkan's validation layer (VK_LAYER_KHRONOS_validation) objects to anything
    #[arg(long, conflicts_with = "executor", help_heading = EXECUTOR)]
    pub(crate) validation: bool,
    /// How often it is run, each time with memory as it was at first
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..),
        help_heading = EXECUTOR)]
    pub(crate) times: u32,
    /// How long the executor may take to answer; it may run the module less often then, and is asked again
    /// [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, help_heading = EXECUTOR)]
    pub(crate) run_timeout: Option<Duration>,
    /// How long the executor may take to start and to say what it is
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "60", help_heading = EXECUTOR)]
    pub(crate) start_timeout: Duration,
    /// The allowed outcomes, as outcomes --format json printed them for these options: nothing is searched
    #[arg(long, value_name = "FILE", help_heading = EXECUTOR)]
    pub(crate) allowed: Option<PathBuf>,
    /// Say what the device or executor is, what it can do, and what is known of it; run nothing
    #[arg(long, help_heading = EXECUTOR)]
    pub(crate) features: bool,
    /// Print a script that expects what the module allows: of the first run that is not allowed, or of the first; nothing is
    /// run without --device or --executor
    #[arg(long, value_enum, value_name = "amber|vkrunner", hide_possible_values = true, help_heading = EXECUTOR)]
    pub(crate) emit: Option<ScriptFormat>,
    #[command(flatten)]
    pub(crate) launch: LaunchArguments,
    #[command(flatten)]
    pub(crate) choices: ChoiceArguments,
    #[command(flatten)]
    pub(crate) read: ReadArguments,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, value_name = "text|json", hide_possible_values = true,
        default_value_t = TextOrJson::Text, help_heading = SHOW)]
    pub(crate) format: TextOrJson,
    /// One line
    #[arg(long, short, help_heading = SHOW)]
    pub(crate) quiet: bool,
    /// Show buffers that the module never writes, and every outcome that was never seen
    #[arg(long, help_heading = SHOW)]
    pub(crate) full: bool,
    /// Colours and the progress line
    #[arg(long, value_enum, value_name = "auto|always|never", hide_possible_values = true,
        default_value_t = ColorChoice::Auto, help_heading = SHOW)]
    pub(crate) color: ColorChoice,
    /// Exit with 4 where the module is undefined on every input
    #[arg(long, help_heading = SHOW)]
    pub(crate) strict: bool,
}

impl RunArguments {
    /// The options of the search.
    ///
    /// # Errors
    /// Options that contradict each other or are not built.
    pub(super) fn options(&self) -> Result<CheckOptions, CliError> {
        self.choices.bounds.has_time()?;
        let options = self.choices.options(self.launch.options()?, self.read.target_env_name())?;
        if matches!(options.floats, Floats::Ulp(_)) {
            return Err(CliError::usage(
                "run takes --float spec or exact: it does not know which bytes are floats",
            ));
        }
        Ok(options)
    }

    /// Starts the executor; gives it and what it is.
    ///
    /// # Errors
    /// It cannot be started, or does not say what it is.
    pub(super) fn start(&self) -> Result<(ExecutorProgram, Description), CliError> {
        super::started_with(
            (self.executor.as_deref(), self.device.as_deref()),
            self.validation,
            self.start_timeout,
        )
    }

    /// How long a case may take.
    pub(super) fn time(&self) -> Duration {
        self.run_timeout.unwrap_or(TIME)
    }
}

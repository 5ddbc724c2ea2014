//! Options of `reduce` and `interesting`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgGroup, Args};

use super::super::arguments::{parse_limit, FAR, SHOW};
use super::super::optimiser::OptimiserChoice;
use super::super::{CliError, ColorChoice, ComparisonArguments, TextOrJson};

/// The group of what decides.
const SHOWN: &str = "Choose what the failure is";

/// What the failure of a case is, and how it is found.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("runner").args(["executor", "device"]))]
pub(crate) struct SubjectArguments {
    /// The module before; with an optimiser or an executor the only one
    #[arg(value_name = "BEFORE")]
    pub(crate) before: String,
    /// The module after, of a pair
    #[arg(value_name = "AFTER")]
    pub(crate) after: Option<String>,
    /// The failure, as interesting and gate name it, or its first parts (new-outcome)
    #[arg(long, value_name = "BUCKET", allow_hyphen_values = true, help_heading = SHOWN)]
    pub(crate) bucket: Option<String>,
    /// Flags for the optimiser: after is made anew of each before [default: -O, or none for a command with {in} and {out}]
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = SHOWN)]
    pub(crate) pipeline: Option<String>,
    #[command(flatten)]
    pub(crate) optimiser: OptimiserChoice,
    /// A program that runs the module, whose outcomes are held against what it allows (docs/executor.md)
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["device", "pipeline", "optimizer", "spirv_opt"],
        help_heading = SHOWN)]
    pub(crate) executor: Option<String>,
    /// A Vulkan device that runs it: a part of its name, or its number from 0
    #[arg(long, value_name = "NAME|NUMBER", conflicts_with_all = ["pipeline", "optimizer", "spirv_opt"],
        help_heading = SHOWN)]
    pub(crate) device: Option<String>,
    /// How often an executor runs each module
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..),
        requires = "runner", help_heading = SHOWN)]
    pub(crate) times: u32,
    /// How long an executor may take to answer
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "60", requires = "runner",
        help_heading = SHOWN)]
    pub(crate) run_timeout: Duration,
    /// How long an executor may take to start and to say what it is
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "60", requires = "runner",
        help_heading = SHOWN, hide_short_help = true)]
    pub(crate) start_timeout: Duration,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
}

impl SubjectArguments {
    /// The flags for the optimiser; `None` where after is not made.
    ///
    /// # Errors
    /// Flags that are no words of a command line, and an AFTER beside them.
    pub(super) fn flags(&self) -> Result<Option<Vec<String>>, CliError> {
        let OptimiserChoice { optimizer, spirv_opt, .. } = &self.optimiser;
        let is_made = self.pipeline.is_some() || optimizer.is_some() || spirv_opt.is_some();
        if (is_made || self.is_run()) && self.after.is_some() {
            let what = if is_made { "an optimiser makes AFTER" } else { "an executor runs one module" };
            return Err(CliError::Usage(format!("{what}: give one module")));
        }
        if !is_made {
            return Ok(None);
        }
        let text = match (&self.pipeline, optimizer) {
            (Some(flags), _) => flags.as_str(),
            (None, Some(command)) if !command.is_like_spirv_opt() => "",
            (None, _) => "-O",
        };
        let words = shlex::split(text);
        words.map(Some).ok_or_else(|| CliError::Usage(format!("--pipeline '{text}' cannot be taken apart")))
    }

    /// Whether an executor runs the module.
    pub(super) fn is_run(&self) -> bool {
        self.executor.is_some() || self.device.is_some()
    }
}

/// Options of `reduce`.
#[derive(Debug, Args)]
pub struct ReduceArguments {
    #[command(flatten)]
    pub(super) subject: SubjectArguments,
    /// The folder of the result
    #[arg(long, short, value_name = "DIR", default_value = "reduced", help_heading = SHOW)]
    pub(super) out: PathBuf,
    /// Go on in the folder of a reduction that was ended
    #[arg(long, help_heading = FAR)]
    pub(super) resume: bool,
    /// Time for each check of a smaller case
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "30", help_heading = FAR)]
    pub(super) step_timeout: Duration,
    /// Check so many smaller cases at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = FAR)]
    pub(super) max_checks: Option<u64>,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, value_name = "text|json", hide_possible_values = true,
        default_value_t = TextOrJson::Text, help_heading = SHOW)]
    pub(super) format: TextOrJson,
    /// One line
    #[arg(long, short, help_heading = SHOW)]
    pub(super) quiet: bool,
    /// Colours and the progress line
    #[arg(long, value_enum, value_name = "auto|always|never", hide_possible_values = true,
        default_value_t = ColorChoice::Auto, help_heading = SHOW)]
    pub(super) color: ColorChoice,
}

/// Options of `interesting`.
#[derive(Debug, Args)]
pub struct InterestingArguments {
    #[command(flatten)]
    pub(super) subject: SubjectArguments,
    /// Print nothing
    #[arg(long, short, help_heading = SHOW)]
    pub(super) quiet: bool,
}

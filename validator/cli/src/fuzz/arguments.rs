//! Options of `fuzz`.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use spirv_tv_executor::program::ExecutorProgram;
use spirv_tv_executor::Description;
use spirv_tv_gate::selection::Partition;

use crate::arguments::{parse_limit, SHOW};
use crate::{CliError, ColorChoice, TextOrJson};

/// The group of what runs the modules.
const EXECUTOR: &str = "Choose what runs the modules";

/// The group of what is run.
const CASES: &str = "Choose the cases";

/// The group of files.
const RESULTS: &str = "Results";

/// Options of `fuzz`.
#[derive(Debug, Args)]
pub struct FuzzArguments {
    #[command(subcommand)]
    pub(crate) command: FuzzCommand,
}

/// What is fuzzed.
#[derive(Debug, Subcommand)]
pub enum FuzzCommand {
    /// Run generated programs on a Vulkan device or another executor: does it only what they allow?
    Driver(Box<DriverArguments>),
}

/// A kind of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kind {
    /// Litmus programs, many instances of each at once
    Concurrent,
    /// Generated programs with one outcome
    Generated,
    /// The modules on the command line
    Modules,
}

/// `I/N`.
#[derive(Clone, Copy, Debug)]
pub struct Part(pub Partition);

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix("hash:").unwrap_or(text);
        let partition = format!("hash:{text}").parse();
        partition.map(Part).map_err(|_| format!("'{text}' is no partition: I/N is part I, from 1, of N"))
    }
}

/// Options of `fuzz driver`.
#[derive(Debug, Args)]
pub struct DriverArguments {
    /// Modules to be run, too, also rewritten and optimised. The launch of NAME.spv or NAME.spvasm is NAME.toml, if it is
    /// there
    #[arg(value_name = "MODULE")]
    pub(crate) modules: Vec<String>,
    /// A Vulkan device: a part of its name, or its number from 0 [default: the first one]
    #[arg(long, value_name = "NAME|NUMBER", conflicts_with = "executor", help_heading = EXECUTOR)]
    pub(crate) device: Option<String>,
    /// A program that runs the modules instead of a Vulkan device (docs/executor.md)
    #[arg(long, value_name = "COMMAND", help_heading = EXECUTOR)]
    pub(crate) executor: Option<String>,
    /// How long the executor may take to answer
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "20", help_heading = EXECUTOR)]
    pub(crate) run_timeout: Duration,
    /// How long the executor may take to start and to say what it is
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "60", help_heading = EXECUTOR)]
    pub(crate) start_timeout: Duration,
    /// Executors that work side by side
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..),
        help_heading = EXECUTOR)]
    pub(crate) jobs: u16,
    /// After how long no more cases are begun [default: 60, without --count and --case]
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, help_heading = CASES)]
    pub(crate) seconds: Option<Duration>,
    /// How many cases there are
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = CASES)]
    pub(crate) count: Option<u64>,
    /// The seed that all cases are made from
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = CASES)]
    pub(crate) seed: u64,
    /// Only part I of N of the cases
    #[arg(long, value_name = "I/N", help_heading = CASES)]
    pub(crate) partition: Option<Part>,
    /// Only this case, by its number; nothing is resumed and no results are kept
    #[arg(long, value_name = "NUMBER", help_heading = CASES,
        conflicts_with_all = ["count", "seconds", "partition", "resume", "max_findings"])]
    pub(crate) case: Option<u64>,
    /// Only these kinds of cases
    #[arg(long, value_enum, value_name = "KIND", value_delimiter = ',', help_heading = CASES)]
    pub(crate) only: Vec<Kind>,
    /// Only litmus programs with this in their names, such as sb-relaxed-buffer
    #[arg(long, value_name = "TEXT", help_heading = CASES)]
    pub(crate) program: Option<String>,
    /// Invocations that play litmus programs at once: 2 to this power
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(8..=20),
        help_heading = CASES)]
    pub(crate) invocations: u32,
    /// How often each litmus program is run
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..),
        help_heading = CASES)]
    pub(crate) times: u32,
    /// The folder of the results
    #[arg(long, value_name = "DIR", default_value = "spirv-tv-fuzz", help_heading = RESULTS)]
    pub(crate) out: PathBuf,
    /// Go on with the results in the folder
    #[arg(long, help_heading = RESULTS)]
    pub(crate) resume: bool,
    /// Findings of one bucket that are saved
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = RESULTS)]
    pub(crate) max_per_bucket: usize,
    /// No more cases are begun when there are so many findings that are not known
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = CASES)]
    pub(crate) max_findings: Option<u64>,
    /// How long the reason of a finding is looked for, which its bucket names; 0: it is not
    #[arg(long, value_name = "SECONDS", default_value_t = 20, help_heading = RESULTS)]
    pub(crate) explain: u64,
    /// Findings that are known: failures.csv of another run, with failures.json beside it
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    pub(crate) baseline: Option<PathBuf>,
    /// Text for people, or one JSON object
    #[arg(long, value_enum, value_name = "text|json", hide_possible_values = true,
        default_value_t = TextOrJson::Text, help_heading = SHOW)]
    pub(crate) format: TextOrJson,
    /// Colours and the progress line
    #[arg(long, value_enum, value_name = "auto|always|never", hide_possible_values = true,
        default_value_t = ColorChoice::Auto, help_heading = SHOW)]
    pub(crate) color: ColorChoice,
}

/// How long it takes where the user says nothing.
const SECONDS: Duration = Duration::from_secs(60);

impl DriverArguments {
    /// Starts the executor; gives it and what it is.
    ///
    /// # Errors
    /// It cannot be started, or does not say what it is.
    pub(super) fn start(&self) -> Result<(ExecutorProgram, Description), CliError> {
        crate::run::started(self.executor.as_deref(), self.device.as_deref(), self.start_timeout)
    }

    /// After how long no more cases are begun.
    pub(super) fn time(&self) -> Option<Duration> {
        self.seconds.or((self.count.is_none() && self.case.is_none()).then_some(SECONDS))
    }

    /// The options that decide what becomes of a case, as on a command line.
    pub(super) fn decisive(&self) -> Vec<String> {
        let mut words = vec![format!("--seed={}", self.seed)];
        words.extend(self.device.as_ref().map(|device| format!("--device={device}")));
        words.extend(self.executor.as_ref().map(|executor| format!("--executor={executor}")));
        words.push(format!("--invocations={}", self.invocations));
        words.push(format!("--times={}", self.times));
        words.push(format!("--run-timeout={}", self.run_timeout.as_secs_f64()));
        words.extend(self.program.iter().map(|text| format!("--program={text}")));
        words.extend(self.only.iter().map(|kind| format!("--only={}", kind.name())));
        words.extend(self.partition.as_ref().map(|part| format!("--partition={}", part.0)));
        words.extend(self.modules.iter().cloned());
        words
    }
}

impl Kind {
    /// Its name on the command line and in names of cases.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Kind::Concurrent => "concurrent",
            Kind::Generated => "generated",
            Kind::Modules => "modules",
        }
    }
}

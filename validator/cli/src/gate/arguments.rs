//! Options of `gate`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use spirv_tv::module::Mapping;
use spirv_tv_gate::program::Program;
use spirv_tv_gate::selection::Partition;
use spirv_tv_gate::Status;

use crate::arguments::{parse_limit, ColorChoice, RUN, SHOW};
use crate::optimiser::OptimiserChoice;
use crate::ComparisonArguments;

/// The group of cases.
const CASES: &str = "Choose the cases";

/// The group of what is expected.
const EXPECT: &str = "Choose what is expected";

/// Options of `gate`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "spirv-tv gate [OPTIONS] CASE... --pipeline FLAGS\n       \
                      spirv-tv gate [OPTIONS] MANIFEST.toml\n       \
                      spirv-tv gate merge [OPTIONS] RESULTS..."
)]
pub struct GateArguments {
    #[command(subcommand)]
    pub(crate) command: Option<GateCommand>,
    /// Modules, folders of them, folders with a before and an after, Fossilize databases (.foz), manifests (.toml); with
    /// --before-cmd sources
    #[arg(value_name = "CASE")]
    pub(crate) cases: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) selected: SelectionArguments,
    #[command(flatten)]
    pub(crate) compilers: CompilerArguments,
    #[command(flatten)]
    pub(crate) executor: ExecutorArguments,
    #[command(flatten)]
    pub(crate) expectations: ExpectationArguments,
    #[command(flatten)]
    pub(crate) results: ResultArguments,
    #[command(flatten)]
    pub(crate) reports: ReportArguments,
    /// Only cases with this bucket count: exit with 1 where one is there, 0 where nothing fails, 125 otherwise, as `git
    /// bisect run` understands it
    #[arg(long, value_name = "BUCKET", help_heading = EXPECT, hide_short_help = true)]
    pub(crate) bisect: Option<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
}

/// What `gate` does beside running cases.
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// Join the results of shards, judge them together and write the reports
    Merge(MergeArguments),
}

/// Options of `gate merge`.
#[derive(Debug, Args)]
pub struct MergeArguments {
    /// Folders of results, or their results.jsonl
    #[arg(value_name = "RESULTS", required = true)]
    pub(crate) results: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) expectations: ExpectationArguments,
    /// The folder for the joined results, which must not have any yet
    #[arg(long, value_name = "DIR", help_heading = SHOW)]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) reports: ReportArguments,
}

/// Which cases are run.
#[derive(Debug, Args)]
pub struct SelectionArguments {
    /// A file that names cases, one a line, relative to itself
    #[arg(long, value_name = "FILE", help_heading = CASES)]
    pub(crate) list: Vec<PathBuf>,
    /// Every Nth case only
    #[arg(long, value_name = "N", help_heading = CASES)]
    pub(crate) fraction: Option<usize>,
    /// The first case of --fraction, from 1
    #[arg(long, value_name = "K", default_value_t = 1, help_heading = CASES, hide_short_help = true)]
    pub(crate) fraction_start: usize,
    /// Part I of N, by the hashes of names [default: what CI_NODE_INDEX, GTEST_SHARD_INDEX, TEST_SHARD_INDEX or
    /// SLURM_ARRAY_TASK_ID say]
    #[arg(long, value_name = "hash:I/N", help_heading = CASES)]
    pub(crate) partition: Option<Partition>,
    /// Regular expressions of cases that are not run, one a line
    #[arg(long, value_name = "FILE", help_heading = CASES)]
    pub(crate) skips: Vec<PathBuf>,
    /// End after so many unexpected failures
    #[arg(long, value_name = "N", help_heading = CASES)]
    pub(crate) max_fails: Option<usize>,
}

/// What makes the modules after.
#[derive(Debug, Args)]
pub struct CompilerArguments {
    /// Flags for the optimiser; several are several cases a module [default: -O]
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = RUN)]
    pub(crate) pipeline: Vec<String>,
    /// What the module after calls otherwise: entry points, bindings as in 0.1=1.3, SpecIds as in spec:3=spec:7, or names
    #[arg(long, value_name = "BEFORE=AFTER", help_heading = RUN)]
    pub(crate) map: Vec<Mapping>,
    #[command(flatten)]
    pub(crate) choice: OptimiserChoice,
    /// An optimiser that is known: only what it does not do fails
    #[arg(long, value_name = "CMD", help_heading = RUN)]
    pub(crate) reference: Option<Program>,
    /// CASES are sources; this command makes the module before, with {in} and {out}
    #[arg(long, value_name = "CMD", requires = "after_cmd", conflicts_with_all = ["optimizer", "spirv_opt", "pipeline"],
        help_heading = RUN)]
    pub(crate) before_cmd: Option<Program>,
    /// This command makes the module after
    #[arg(long, value_name = "CMD", requires = "before_cmd", help_heading = RUN)]
    pub(crate) after_cmd: Option<Program>,
}

/// What runs the modules, where they are not compared.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("runner").args(["executor", "device"]))]
pub struct ExecutorArguments {
    /// A program that runs the module after (docs/executor.md); what it shows must be allowed by the module before. Without
    /// --pipeline or an optimiser that is the case's own module
    #[arg(long, value_name = "COMMAND", help_heading = RUN)]
    pub(crate) executor: Option<String>,
    /// The same on a Vulkan device: a part of its name, or its number from 0
    #[arg(long, value_name = "NAME|NUMBER", conflicts_with = "executor", help_heading = RUN)]
    pub(crate) device: Option<String>,
    /// How often it runs each module
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..),
        requires = "runner", help_heading = RUN, hide_short_help = true)]
    pub(crate) times: u32,
    /// How long it may take to answer
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "60", requires = "runner",
        help_heading = RUN, hide_short_help = true)]
    pub(crate) run_timeout: Duration,
    /// How long it may take to start and to say what it is
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, default_value = "60", requires = "runner",
        help_heading = RUN, hide_short_help = true)]
    pub(crate) start_timeout: Duration,
}

impl ExecutorArguments {
    /// Whether modules are run.
    pub(crate) fn is_given(&self) -> bool {
        self.executor.is_some() || self.device.is_some()
    }

    /// The options of `run` that say the same.
    pub(super) fn command_line(&self) -> Vec<String> {
        let option = |name: &str, value: &String| format!("--{name} {}", crate::html::quoted(value));
        let mut words: Vec<String> = Vec::new();
        words.extend(self.executor.as_ref().map(|command| option("executor", command)));
        words.extend(self.device.as_ref().map(|device| option("device", device)));
        words.push(format!("--times {}", self.times));
        words.push(format!("--run-timeout {}", self.run_timeout.as_secs_f64()));
        words
    }
}

/// What is expected.
#[derive(Debug, Args)]
pub struct ExpectationArguments {
    /// Known failures, as CSV of case and status; their buckets are in the .json beside it
    #[arg(long, value_name = "FILE", help_heading = EXPECT)]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the baseline anew, so that this run meets it
    #[arg(long, requires = "baseline", help_heading = EXPECT)]
    pub(crate) bless: bool,
    /// Regular expressions of cases that fail at times, one a line
    #[arg(long, value_name = "FILE", help_heading = EXPECT)]
    pub(crate) flakes: Vec<PathBuf>,
    /// Statuses that fail, too, such as Inconclusive,Hollow
    #[arg(long, value_name = "STATUS,…", value_delimiter = ',', help_heading = EXPECT)]
    pub(crate) fail_on: Vec<Status>,
    /// Fail where fewer of a hundred cases have an answer
    #[arg(long, value_name = "PCT", help_heading = EXPECT)]
    pub(crate) min_decided: Option<f64>,
    /// Fail where in fewer of a hundred cases the changed code ran
    #[arg(long, value_name = "PCT", help_heading = EXPECT)]
    pub(crate) min_exercised: Option<f64>,
}

/// Where results are kept.
#[derive(Debug, Args)]
pub struct ResultArguments {
    /// The folder for results.csv, failures.csv, results.jsonl and what fails
    #[arg(long, value_name = "DIR", default_value = "gate-results", help_heading = SHOW)]
    pub(crate) out: PathBuf,
    /// Go on with a run that was ended, in the same folder
    #[arg(long, help_heading = SHOW)]
    pub(crate) resume: bool,
    /// Answers of earlier runs, shared by any number of processes and machines
    #[arg(long, value_name = "DIR", help_heading = RUN)]
    pub(crate) cache: Option<PathBuf>,
    /// Take answers from the cache and add none
    #[arg(long, requires = "cache", help_heading = RUN)]
    pub(crate) cache_readonly: bool,
}

/// What is written for people and systems.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// JUnit's XML
    #[arg(long, value_name = "FILE", help_heading = SHOW)]
    pub(crate) junit: Option<PathBuf>,
    /// SARIF, for modules that are in the repository
    #[arg(long, value_name = "FILE", help_heading = SHOW)]
    pub(crate) sarif: Option<PathBuf>,
    /// Markdown for the page of a job
    #[arg(long, value_name = "FILE", help_heading = SHOW)]
    pub(crate) summary: Option<PathBuf>,
    /// Pages: an index, and one for each violation
    #[arg(long, value_name = "DIR", help_heading = SHOW)]
    pub(crate) html: Option<PathBuf>,
    /// Text for people, or one JSON object a case as it is known
    #[arg(long, value_enum, value_name = "text|jsonl", hide_possible_values = true,
        default_value_t = GateFormat::Text, help_heading = SHOW)]
    pub(crate) format: GateFormat,
    /// Only what is unexpected
    #[arg(long, short, help_heading = SHOW)]
    pub(crate) quiet: bool,
    /// Colours and the progress line
    #[arg(long, value_enum, value_name = "auto|always|never", hide_possible_values = true,
        default_value_t = ColorChoice::Auto, help_heading = SHOW)]
    pub(crate) color: ColorChoice,
    /// Results of an earlier run: say what the compiler changed since then, and what spirv-tv did
    #[arg(long, value_name = "RESULTS", help_heading = SHOW, hide_short_help = true)]
    pub(crate) explain_drift: Option<PathBuf>,
}

/// The form of what `gate` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum GateFormat {
    /// For people.
    Text,
    /// The records of cases.
    Json,
    /// The same.
    Jsonl,
}

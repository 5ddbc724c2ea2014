//! Options of everything that compares modules.

use std::path::PathBuf;

use clap::Args;
use spirv_tv::check::CheckOptions;
use spirv_tv::compare::ViolationKind;
use spirv_tv::launch::OutOfBounds;

use super::{ChoiceArguments, LaunchArguments, OutOfBoundsChoice, ReadArguments, YesNo, COUNTS, FAR, SHOW};
use crate::CliError;

/// Options of a comparison: what is run, what counts, how far the search goes, and how modules are read.
#[derive(Debug, Args)]
pub struct ComparisonArguments {
    #[command(flatten)]
    pub(crate) launch: LaunchArguments,
    #[command(flatten)]
    pub(crate) pair: PairArguments,
    #[command(flatten)]
    pub(crate) choices: ChoiceArguments,
    #[command(flatten)]
    pub(crate) read: ReadArguments,
}

impl ComparisonArguments {
    /// The options of a check.
    ///
    /// # Errors
    /// Options that contradict each other or are not built.
    pub(crate) fn options(&self) -> Result<CheckOptions, CliError> {
        let options = self.choices.options(self.launch.options()?, self.read.target_env_name())?;
        Ok(self.pair.apply(options))
    }
}

/// Options of everything that compares pairs.
#[derive(Debug, Args)]
pub struct PairArguments {
    /// Kinds of violations that are not reported: new-race, new-undefined, new-hang, new-outcome, volatile-trace
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
    fn apply(&self, options: CheckOptions) -> CheckOptions {
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

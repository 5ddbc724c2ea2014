//! Options that several subcommands share, in groups by what a user wants to do. `--help` lists what most users need,
//! `--help-all` everything.

mod bounds;
mod choices;
mod comparison;
mod launch;
mod output;
mod read;

pub use bounds::BoundArguments;
pub(crate) use bounds::{parse_bytes, parse_limit};
pub use choices::{ChoiceArguments, ModelArguments, OutOfBoundsChoice, YesNo};
pub use comparison::{ComparisonArguments, PairArguments};
pub use launch::LaunchArguments;
pub use output::{ColorChoice, OutputArguments};
pub use read::ReadArguments;

/// The group of what is dispatched.
pub(crate) const RUN: &str = "Choose what is run";

/// The group of initial contents.
pub(crate) const MEMORY: &str = "Choose what memory holds at first";

/// The group of what is compared, and how.
pub(crate) const COUNTS: &str = "Choose what counts as a violation";

/// The group of bounds and budgets, and of what is looked for.
pub(crate) const FAR: &str = "Choose how far the search goes";

/// The group of reading and validation.
pub(crate) const READ: &str = "Choose how modules are read";

/// The group of output and exit codes.
pub(crate) const SHOW: &str = "Choose what is printed";

//! `spirv-tv opt`: runs the passes of the bundled optimiser one by one, and checks each result.
//!
//! The assertions of the optimiser are enabled and abort the process, so every pass runs in a child process:
//! [`process`] starts this program again with the hidden subcommand that [`child`] serves. [`plan`] turns
//! spirv-opt's command line into single passes, [`pipeline`] runs them and hands each step that changed the
//! module to a [`Checker`], [`table`] writes the rows and the summary, and [`report`] the JSON objects.

pub mod child;
mod frame;
pub mod pipeline;
pub mod plan;
pub mod process;
pub mod report;
mod session;
pub mod table;

pub use child::{from_bytes, to_bytes};
pub use pipeline::{CheckResult, Checker, Mode, Optimiser, Outcome, Pipeline, Report, Step};
pub use plan::{take_optimiser_arguments, OptimiserArguments, PlanError, PlannedPass};
pub use process::{OptimiserFailure, OptimiserProcess};
pub use session::Session;

//! Checks: a pair of modules, a launch and its inputs, one verdict; and the outcomes of one module.
//!
//! [`crate::check()`] does the same with bytes or text. Here the caller reads the modules, and may have another thread
//! watch ([`Watch`]).

pub(crate) mod bytes;
mod choices;
mod conjunctions;
mod contention;
mod diverging;
mod error;
mod exercised;
mod intervals;
mod launched;
mod launches;
mod options;
mod outcomes;
mod pair;
mod prepare;
mod reason;
mod result;
mod run;
mod scout;
mod scouted;
mod scouting;
mod searches;
mod self_check;
mod series;
mod shares;
mod solving;
mod source;
mod specialisations;
mod sweeping;
mod tried;
mod varied;
mod watch;
mod widened;

pub use choices::{reconvergence_name, BoundsChoice, Choices, InputChoice, LaunchChoice, Parameters};
pub use error::CheckError;
pub use exercised::{Exercised, ExercisedModule};
pub use launches::PassedOver;
pub use options::{Bounds, CheckOptions, Floats, Legacy, ObserveOption};
pub use outcomes::{dispatches, outcomes};
pub use pair::{check, check_each, check_in_series};
pub use prepare::settle;
pub use reason::Reason;
pub use result::{
    CheckReport, Explored, FrozenSpec, LegacyRun, Missed, OutcomesReport, OutcomesRun, Role, Run, Source,
    UnsupportedConstruct, Untried,
};
pub use searches::Searches;
pub use tried::Tried;
pub use watch::Watch;

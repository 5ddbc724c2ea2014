//! Checks: a pair of modules, a launch and its inputs, one verdict.

mod choices;
mod result;

pub use choices::{BoundsChoice, Choices, InputChoice, LaunchChoice};
pub use result::{CheckReport, Explored, OutcomesReport, Role, Run, Source, UnsupportedConstruct};

//! Why a check is inconclusive, beyond the reasons of its runs.

use std::fmt;

use crate::behaviour::Stopped;
use crate::ir::Program;
use crate::launch::Size3;

/// What keeps the modules from being compared on one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// After has no entry point of this name.
    NoEntryPoint {
        /// The name of the entry point of before.
        name: String,
        /// The names of those that after has.
        known: Vec<String>,
    },
    /// The entry point's execution models differ.
    ExecutionModel {
        /// The entry point's name.
        entry: String,
        /// The execution models of before and after, by their numbers in SPIR-V.
        models: [u32; 2],
    },
    /// The entry point's workgroups differ in size.
    LocalSize {
        /// The entry point's name.
        entry: String,
        /// The sizes in before and after, in x, y and z.
        sizes: [[u32; 3]; 2],
    },
    /// After lacks a SpecId that matters to before, and to which the launch gives another value than the default.
    FrozenAt {
        /// The SpecId.
        spec_id: u32,
    },
    /// After lacks a SpecId that matters to before, and must not.
    Frozen {
        /// The SpecId.
        spec_id: u32,
    },
    /// The modules cannot be compared at values of specialisation constants that nobody gave.
    At {
        /// The values, as `--spec` takes them.
        specs: Vec<String>,
        /// Why not.
        reason: Box<Reason>,
    },
    /// There was no time for too many inputs.
    OutOfTime {
        /// The entry point's name.
        entry: String,
        /// How many inputs there was no time for.
        inputs: usize,
        /// The option that says how much there was.
        option: Stopped,
    },
    /// Most of the inputs of a launch are not tried again.
    NotTriedAgain {
        /// The entry point's name.
        entry: String,
        /// How many inputs these are.
        inputs: usize,
    },
}

impl Reason {
    /// What keeps the two from being compared on one launch.
    pub(super) fn differences(before: &Program, after: &Program) -> Vec<Reason> {
        let (b, a) = (&before.entry, &after.entry);
        let mut differences = Vec::new();
        if b.execution_model != a.execution_model {
            let models = [b, a].map(|entry| entry.execution_model);
            differences.push(Reason::ExecutionModel { entry: b.name.clone(), models });
        }
        if b.local_size != a.local_size {
            let sizes = [b, a].map(|entry| entry.local_size);
            differences.push(Reason::LocalSize { entry: b.name.clone(), sizes });
        }
        differences
    }

    /// What kind of reason it is, in a word.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::NoEntryPoint { .. } => "entry-point",
            Reason::ExecutionModel { .. } => "execution-model",
            Reason::LocalSize { .. } => "local-size",
            Reason::FrozenAt { .. } | Reason::Frozen { .. } => "frozen-spec-id",
            Reason::At { reason, .. } => reason.name(),
            Reason::OutOfTime { .. } => "timeout",
            Reason::NotTriedAgain { .. } => "not-tried-again",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::NoEntryPoint { name, known } => {
                write!(f, "after has no entry point '{name}'; it has {}", known.join(", "))
            }
            Reason::ExecutionModel { entry, models: [before, after] } => {
                write!(f, "entry point '{entry}' has execution model {before} in before and {after} in after")
            }
            Reason::LocalSize { entry, sizes: [before, after] } => write!(
                f,
                "entry point '{entry}' has local size {} in before and {} in after",
                Size3(*before),
                Size3(*after)
            ),
            Reason::FrozenAt { spec_id } => write!(
                f,
                "after has frozen SpecId {spec_id}, so that the modules can be compared at its default only, not at \
                 the given value"
            ),
            Reason::Frozen { spec_id } => {
                write!(f, "after has frozen SpecId {spec_id}, which matters to before (--spec-may-freeze no)")
            }
            Reason::At { specs, reason } => write!(f, "at --spec {}: {reason}", specs.join(" --spec ")),
            Reason::OutOfTime { entry, inputs, option } => {
                let plural = if *inputs == 1 { "" } else { "s" };
                write!(f, "{option} left no time for {inputs} input{plural} of entry point '{entry}'")
            }
            Reason::NotTriedAgain { entry, inputs } => {
                let [were, them] = if *inputs == 1 { ["was", "it"] } else { ["were", "them"] };
                let plural = if *inputs == 1 { "" } else { "s" };
                write!(
                    f,
                    "{inputs} input{plural} of entry point '{entry}' {were} not tried again, as the step before has not \
                     finished {them}"
                )
            }
        }
    }
}

//! The options of a check: choices, bounds, launch.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use crate::behaviour::{Deadline, Stopped};
use crate::compare::ViolationKind;
use crate::explore::{Races, Reductions, Settings};
use crate::launch::{LaunchOptions, OutOfBounds, Target};
use crate::model::memory_model::Model;

/// How GLSL450 and Simple modules are read (docs/semantics.md, section 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Legacy {
    /// Coherent accesses are non-private, others are private.
    #[default]
    Spec,
    /// Every shared access counts as coherent.
    Coherent,
}

impl Legacy {
    /// Its name in reports and for `--legacy`.
    pub const fn name(self) -> &'static str {
        match self {
            Legacy::Spec => "spec",
            Legacy::Coherent => "coherent",
        }
    }
}

/// How results of float operations are compared (docs/semantics.md, section 5.2; docs/floats.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Floats {
    /// Bit by bit; where that fails and the environment leaves results open, by the intervals of what it
    /// permits.
    #[default]
    Spec,
    /// Bit by bit.
    Exact,
    /// As `Spec`, but open results are alike within so many units in the last place.
    Ulp(u32),
}

impl Floats {
    /// Its name in reports and for `--float`.
    pub fn name(self) -> String {
        match self {
            Floats::Spec => "spec".to_owned(),
            Floats::Exact => "exact".to_owned(),
            Floats::Ulp(units) => format!("ulp:{units}"),
        }
    }
}

/// Which memory `outcomes` shows beside what is externally visible.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum ObserveOption {
    /// Nothing else.
    #[default]
    External,
    /// These Workgroup variables.
    Variables(Vec<Target>),
    /// All Workgroup variables.
    All,
}

/// Everything that a check depends on beside the modules.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// What is dispatched, on which inputs.
    pub launch: LaunchOptions,
    /// What judges executions.
    pub model: Model,
    /// What a data race does.
    pub races: Races,
    /// `--hang strict`.
    pub strict_hangs: bool,
    /// How GLSL450 and Simple modules are read.
    pub legacy: Legacy,
    /// What an access outside of a buffer or image does.
    pub out_of_bounds: OutOfBounds,
    /// The same in after, where that is something else: `--after-out-of-bounds`.
    pub after_out_of_bounds: Option<OutOfBounds>,
    /// How results of float operations are compared.
    pub floats: Floats,
    /// `--reconvergence structural`.
    pub structural_reconvergence: bool,
    /// Where searches end.
    pub bounds: Bounds,
    /// Kinds of violations that are not reported: `--ignore`.
    pub ignore: BTreeSet<ViolationKind>,
    /// Whether each module is also checked against itself, with searches of different kinds: `--self-check`.
    pub self_check: bool,
    /// A SpecId that matters to before and that after lacks is a violation: `--spec-may-freeze no`.
    pub spec_must_stay: bool,
    /// Whether it is also said which behaviours after lost: `--both-ways`.
    pub both_ways: bool,
    /// Find everything that after does, also behind the first behaviour that violates; of a module alone, every
    /// undefined behaviour, not only the first one.
    pub all: bool,
    /// Which memory counts in the outcomes of a module alone.
    pub observe: ObserveOption,
    /// The modules were given another local size before they came here.
    pub local_size_rewritten: bool,
    /// What the modules were validated for, for the report.
    pub target_env: String,
}

impl CheckOptions {
    /// What an access outside of a buffer or image does in after.
    pub fn out_of_bounds_after(&self) -> OutOfBounds {
        self.after_out_of_bounds.unwrap_or(self.out_of_bounds)
    }
}

/// Where a search ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    /// Iterations of one loop with events in each before a run is cut.
    pub spin_bound: u32,
    /// Instructions of one execution, over all invocations.
    pub max_instructions: u64,
    /// Executions of one search.
    pub max_executions: u64,
    /// Bytes.
    pub max_memory: u64,
    /// Outcomes up to which those of independent groups of invocations are multiplied out before they are compared.
    pub multiply_out: u64,
    /// Executions up to which those that differ in who has which place are told one by one.
    pub factored_from: u64,
    /// For the whole check, or all of a series.
    pub timeout: Option<Duration>,
    /// When the first of them began, unless that is each one's own beginning.
    pub begun: Option<Instant>,
    /// For each check of a series besides.
    pub step_timeout: Option<Duration>,
    /// Threads; 0 for as many as there are cores.
    pub jobs: usize,
    /// Every judgement is held against the declared relations.
    pub verify_engine: bool,
    /// Reductions that searches do without.
    pub without: Reductions,
}

/// So many outcomes cost less than anything else.
const LISTED: u64 = 1 << 12;

impl Default for Bounds {
    fn default() -> Self {
        let settings = crate::explore::Settings::default();
        Bounds {
            spin_bound: settings.spin_bound,
            max_instructions: settings.max_instructions,
            max_executions: settings.max_executions,
            max_memory: settings.max_memory,
            multiply_out: LISTED,
            factored_from: LISTED,
            timeout: settings.timeout,
            begun: None,
            step_timeout: None,
            jobs: settings.jobs,
            verify_engine: settings.verify_engine,
            without: settings.without,
        }
    }
}

impl Bounds {
    /// When a check that begins now must have ended.
    pub fn deadline(&self) -> Option<Deadline> {
        let now = Instant::now();
        let whole = self.timeout.and_then(|timeout| self.begun.unwrap_or(now).checked_add(timeout));
        let whole = whole.map(|at| Deadline { at, option: Stopped::Timeout });
        let step = self.step_timeout.and_then(|timeout| now.checked_add(timeout));
        let step = step.map(|at| Deadline { at, option: Stopped::StepTimeout });
        [whole, step].into_iter().flatten().min()
    }

    /// The settings of a search within these bounds. How outcomes are kept is what a caller says.
    pub fn settings(&self) -> Settings {
        Settings {
            spin_bound: self.spin_bound,
            max_instructions: self.max_instructions,
            max_executions: self.max_executions,
            max_memory: self.max_memory,
            timeout: self.timeout,
            jobs: self.jobs,
            verify_engine: self.verify_engine,
            without: self.without,
            ..Settings::default()
        }
    }

    /// How much time there is left for a whole series, if that is bounded.
    pub fn left(&self) -> Option<Duration> {
        self.timeout.zip(self.begun).map(|(timeout, begun)| timeout.saturating_sub(begun.elapsed()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_that_ends_first_is_named() {
        let seconds = |whole, step| {
            let time = |seconds: Option<u64>| seconds.map(Duration::from_secs);
            let bounds = Bounds { timeout: time(whole), step_timeout: time(step), ..Bounds::default() };
            bounds.deadline().map(|deadline| deadline.option)
        };
        assert_eq!(seconds(None, None), None);
        assert_eq!(seconds(Some(900), None), Some(Stopped::Timeout));
        assert_eq!(seconds(Some(900), Some(800)), Some(Stopped::StepTimeout));
        assert_eq!(seconds(Some(700), Some(800)), Some(Stopped::Timeout));
    }
}

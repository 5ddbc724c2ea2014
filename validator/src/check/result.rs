//! The results of checks and searches, from which reports are made.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use super::choices::{Choices, LaunchChoice};
use super::exercised::Exercised;
use super::launches::{self, PassedOver};
use super::reason::Reason;
use super::tried::Tried;
use crate::behaviour::{Behaviours, Bound, Stopped, Undefined};
use crate::compare::{Comparison, Cut, Verdict, ViolationKind};
use crate::dispatch::Dispatch;
use crate::event::{Scope, UndefinedKind};
use crate::explain::{self, DispatchNames, Explanation, Why};
use crate::ir::{Line, Program};
use crate::launch::Input;
use crate::model::memory_model::Model;
use crate::module::{Places, Text};
use crate::witness::Witness;

/// A module's name and the text that lines refer to.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// What the user calls the module.
    pub name: String,
    /// The text.
    pub text: Text,
    /// Where its instructions come from.
    pub places: Places,
    /// The text is not the user's own.
    pub is_disassembly: bool,
}

impl Source {
    /// The text of a line, without the space around it.
    pub fn line(&self, line: Line) -> Option<&str> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        self.text.lines().nth(index).map(str::trim)
    }

    /// The text of a line with where it comes from, as far as that is known.
    pub fn cited(&self, line: Line) -> Option<String> {
        let text = self.line(line).filter(|text| !text.is_empty())?;
        Some(match self.places.told(line) {
            Some(place) => format!("{text}  ; {place}"),
            None => text.to_owned(),
        })
    }
}

/// Which module of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// The module before the optimisation.
    Before,
    /// The module after it.
    After,
    /// The only module, where there is no pair.
    Module,
}

impl Role {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Before => "before",
            Role::After => "after",
            Role::Module => "module",
        }
    }
}

/// A construct that is not supported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnsupportedConstruct {
    /// The module that has it.
    pub module: Role,
    /// Its line, 1-based; 0 where it is not known.
    pub line: Line,
    /// What it is, in a few words.
    pub what: String,
}

/// A module's behaviours, with the dispatch that they are told in.
#[derive(Clone, Debug)]
pub struct Explored {
    /// Which module it is.
    pub role: Role,
    /// What the search found.
    pub behaviours: Arc<Behaviours>,
    /// The objects and invocations that the behaviours are told in.
    pub dispatch: Dispatch,
    /// What its behaviours are judged by.
    pub model: Model,
    /// Whether the module declares accesses Coherent, as those of older memory models do.
    pub declares_coherence: bool,
    /// The behaviours are those of another search, of the same program but for ids, names and lines: of before, or
    /// of the step before in a pipeline.
    pub reused: bool,
}

impl Explored {
    /// What was found of `program` on `dispatch`.
    pub fn new(
        role: Role,
        program: &Program,
        dispatch: Dispatch,
        behaviours: Arc<Behaviours>,
        model: Model,
    ) -> Explored {
        let declares_coherence = DispatchNames::of(&dispatch, program, &*model).declares_coherence;
        Explored { role, behaviours, dispatch, model, declares_coherence, reused: false }
    }

    /// Why an undefined behaviour is one and what would mend it, for data races. It is worked out here, so
    /// that only what is reported costs something.
    pub fn why(&self, undefined: &Undefined, witness: &Witness) -> Option<Explanation> {
        if undefined.kind != UndefinedKind::DataRace {
            return None;
        }
        let model = &*self.model;
        let Explored { dispatch, declares_coherence, .. } = self;
        let names = DispatchNames { dispatch, declares_coherence: *declares_coherence, model };
        explain::race_of(witness, &undefined.lines, model, &names)
    }
}

/// One input's run.
#[derive(Clone, Debug)]
pub struct Run {
    /// Entry point.
    pub entry: String,
    /// The number of its launch among [`Choices::launch`].
    pub launch: usize,
    /// The input that was run.
    pub input: Input,
    /// How the behaviours of the two modules compare.
    pub comparison: Comparison,
    /// What before does.
    pub before: Explored,
    /// `None` where before is undefined, so that after does not matter.
    pub after: Option<Explored>,
    /// Why before forbids what is new.
    pub why: Why,
    /// `--both-ways`: what after lost; `Refines` where nothing.
    pub reverse: Option<Comparison>,
    /// Where before is racy as the specification reads an older memory model, but not when all accesses
    /// count as coherent: the result then.
    pub legacy: Option<LegacyRun>,
}

/// What follows the name of an input in the run whose matrix accesses are displaced.
pub(super) const DISPLACED: &str = ", matrices displaced";

impl Run {
    /// Drops outcomes that nobody looks at any more, if they are many: those of many inputs may be too large together.
    pub(super) fn forget_outcomes(&mut self) {
        for explored in std::iter::once(&mut self.before).chain(&mut self.after) {
            if explored.behaviours.count() > KEPT_OUTCOMES {
                explored.behaviours = Arc::new(explored.behaviours.without_outcomes());
            }
        }
    }

    /// The number of workgroups that it ran, in x, y and z.
    pub fn workgroups(&self) -> [u32; 3] {
        self.before.dispatch.workgroups
    }

    /// Executions that it visited.
    pub(super) fn explored(&self) -> u64 {
        let after = self.after.as_ref().map_or(0, |after| after.behaviours.explored);
        self.before.behaviours.explored.saturating_add(after)
    }

    /// The input's name without what tells its runs apart.
    pub fn own_input(&self) -> &str {
        self.input.name.trim_end_matches(DISPLACED)
    }
}

/// A comparison under `--legacy coherent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LegacyRun {
    /// The verdict.
    pub verdict: Verdict,
    /// What is new in after, where the verdict is `Violates`.
    pub kind: Option<ViolationKind>,
    /// No budget ended it.
    pub finished: bool,
}

/// What the readings of the older memory models say together, where before is racy under one only. These inputs say
/// nothing under the reading of the verdict, so that the two do not contradict each other.
pub(super) fn legacy_warning(runs: &[&Run]) -> Option<String> {
    let all = || runs.iter().filter_map(|run| run.legacy.as_ref());
    let finished: Vec<&LegacyRun> = all().filter(|run| run.finished).collect();
    let verdicts = if finished.is_empty() { all().collect() } else { finished };
    let verdict = verdicts.iter().map(|run| run.verdict).min()?;
    let kind = verdicts.iter().filter(|run| run.verdict == verdict).find_map(|run| run.kind);
    let kind = kind.map_or_else(String::new, |kind| format!(" ({kind})"));
    let found = match verdict {
        Verdict::Refines => "after refines before there".to_owned(),
        Verdict::Violates => format!("after violates there{kind}"),
        Verdict::Inconclusive | Verdict::Vacuous | Verdict::Error => {
            format!("the comparison there is {verdict}")
        }
    };
    let on = match (all().count(), runs.len()) {
        (_, 1) => "on the input".to_owned(),
        (racy, inputs) if racy == inputs => format!("on all {inputs} inputs"),
        (racy, inputs) => format!("on {racy} of {inputs} inputs"),
    };
    Some(format!(
        "{on} before has a data race as the specification reads it, so that the verdict says nothing of what after does \
         there. Under another reading, with every access coherent (--legacy coherent), before has no race there, and \
         {found}"
    ))
}

/// So many outcomes take little memory.
const KEPT_OUTCOMES: u64 = 1 << 10;

/// Why inputs were not tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missed {
    /// This option left no time for them.
    NoTime(Stopped),
    /// The step before in a pipeline has not finished them, for these reasons.
    StepBefore(BTreeSet<Cut>),
}

/// Inputs of an entry point that were not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Untried {
    /// The entry point's name.
    pub entry: String,
    /// The number of the launch that they were for, among [`Choices::launch`].
    #[serde(skip)]
    pub launch: usize,
    /// How many inputs these are.
    pub inputs: usize,
    /// Why they were not tried.
    #[serde(skip)]
    pub why: Missed,
}

impl Untried {
    /// Why they say nothing.
    pub fn reason(&self) -> Reason {
        let (entry, inputs) = (self.entry.clone(), self.inputs);
        match self.why {
            Missed::NoTime(option) => Reason::OutOfTime { entry, inputs, option },
            Missed::StepBefore(_) => Reason::NotTriedAgain { entry, inputs },
        }
    }

    /// What kept them from being finished.
    pub(super) fn cuts(&self) -> BTreeSet<Cut> {
        match &self.why {
            Missed::NoTime(option) => BTreeSet::from([Cut::Stopped(*option)]),
            Missed::StepBefore(cuts) => cuts.clone(),
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug)]
pub struct CheckReport {
    /// The module before, as lines refer to it.
    pub before: Source,
    /// The module after, as lines refer to it.
    pub after: Source,
    /// The texts for the diff, where they differ in kind from those that lines refer to.
    pub diff: Option<(String, String)>,
    /// The verdict over all entry points and inputs (docs/semantics.md, section 1.5).
    pub verdict: Verdict,
    /// What was run, in order.
    pub runs: Vec<Run>,
    /// What there was no time for.
    pub untried: Vec<Untried>,
    /// Everything that is not supported, of both modules.
    pub unsupported: Vec<UnsupportedConstruct>,
    /// Why the verdict is inconclusive or an error, beside what the runs say.
    pub reasons: Vec<Reason>,
    /// What the user should know besides.
    pub warnings: Vec<String>,
    /// Scopes that the launch does not tell apart.
    pub undistinguished: Vec<(Scope, Scope)>,
    /// SpecIds that matter to before and that after lacks: compared at their defaults.
    pub frozen: Vec<FrozenSpec>,
    /// After is the same program as before but for ids, names and lines, at every entry point that was compared and
    /// whatever the specialisation constants are: then it refines before on every input.
    pub same_program: bool,
    /// What the runs executed that the verdict rests on.
    pub exercised: Exercised,
    /// What the verdict depends on beside the modules.
    pub choices: Choices,
}

/// A SpecId that matters to before and that after lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FrozenSpec {
    /// The SpecId.
    pub spec_id: u32,
    /// The bits of its default in before.
    pub default: u64,
}

impl CheckReport {
    /// The texts that are compared, before first. Lines are those of `before` and `after` unless there is a `diff`.
    pub fn compared_texts(&self) -> [&str; 2] {
        match &self.diff {
            Some((before, after)) => [before, after],
            None => [self.before.text.as_str(), self.after.text.as_str()],
        }
    }

    /// The runs of the launches that the verdict rests on.
    pub fn counted(&self) -> impl Iterator<Item = &Run> + Clone {
        let launches = &self.choices.launch;
        self.runs.iter().filter(|run| launches::counts(launches, run.launch))
    }

    /// Those among them with the specialisation of the user and the defaults.
    pub fn usual(&self) -> impl Iterator<Item = &Run> + Clone {
        let launches = &self.choices.launch;
        self.counted().filter(|run| launches::is_usual(launches, run.launch))
    }

    /// At how many further specialisations after refines before.
    pub fn specialisations(&self) -> usize {
        let launches = self.choices.launch.iter();
        launches.filter(|launch| launch.is_varied() && launch.passed_over.is_none()).count()
    }

    /// The values of specialisation constants that the tool chose for a run, each as `--spec` takes it.
    pub fn varied_specs(&self, run: &Run) -> Vec<String> {
        self.choices.launch.get(run.launch).map(LaunchChoice::varied_specs).unwrap_or_default()
    }

    /// Whether a bound cut something in some run, or an input was not tried.
    pub fn bounded(&self) -> bool {
        self.tried().unfinished().is_some() || self.counted().any(|run| run.comparison.bounded)
    }

    /// The inputs that were tried.
    pub fn tried(&self) -> Tried {
        let launches = &self.choices.launch;
        let untried = self.untried.iter().filter(|one| launches::counts(launches, one.launch));
        Tried::of(self.usual(), untried)
    }

    /// The bounds that cut something.
    pub fn bounds_hit(&self) -> BTreeSet<Bound> {
        self.counted()
            .flat_map(|run| std::iter::once(&run.before).chain(&run.after))
            .filter_map(|explored| explored.behaviours.bounded)
            .collect()
    }

    /// Kinds of violations that occurred and were ignored.
    pub fn ignored(&self) -> BTreeSet<ViolationKind> {
        self.counted().flat_map(|run| run.comparison.ignored.iter().copied()).collect()
    }

    /// The first run with the verdict of the whole, one that was finished where there is one.
    pub fn decisive(&self) -> Option<&Run> {
        let mut alike = self.counted().filter(|run| run.comparison.verdict == self.verdict);
        let first = alike.clone().next();
        alike.find(|run| run.comparison.unfinished.is_none()).or(first)
    }

    /// The first run of a launch that the verdict does not rest on because before is undefined there.
    pub fn passed_over_as_vacuous(&self) -> Option<&Run> {
        let is_one = |run: &&Run| {
            let launch = self.choices.launch.get(run.launch);
            launch.is_some_and(|one| !one.is_varied() && one.passed_over == Some(PassedOver::Vacuous))
        };
        self.runs.iter().find(is_one)
    }

    /// Whether the verdict rests on a later launch of an entry point than the first.
    fn rests_on_later(&self) -> bool {
        let launches: Vec<_> = self.choices.launch.iter().filter(|launch| !launch.is_varied()).collect();
        let mut of_entries = launches.chunk_by(|one, next| one.entry == next.entry);
        of_entries.any(|of_entry| of_entry.first().is_some_and(|first| first.passed_over.is_some()))
    }

    /// The exit code (docs/semantics.md, section 1.2).
    pub fn exit_code(&self, strict: bool) -> u8 {
        let compared_in_part =
            !self.undistinguished.is_empty() || !self.frozen.is_empty() || self.exercised.is_hollow();
        let qualified = self.bounded() || compared_in_part || self.rests_on_later();
        match self.verdict {
            Verdict::Violates => 1,
            Verdict::Error => 2,
            Verdict::Inconclusive => 3,
            Verdict::Refines if strict && qualified => 4,
            Verdict::Vacuous if strict => 4,
            Verdict::Refines | Verdict::Vacuous => 0,
        }
    }
}

/// One entry point's behaviours on one input.
#[derive(Clone, Debug)]
pub struct OutcomesRun {
    /// The entry point's name.
    pub entry: String,
    /// The program that was run.
    pub program: Arc<Program>,
    /// The input that was run.
    pub input: Input,
    /// What the module does on it.
    pub explored: Explored,
    /// The buffers and images that the module never writes, by the numbers of their objects: in each outcome they hold
    /// what they held at first.
    pub unwritten: BTreeSet<usize>,
}

/// The result of `outcomes`.
#[derive(Clone, Debug)]
pub struct OutcomesReport {
    /// The module, as lines refer to it.
    pub module: Source,
    /// What was run, in order.
    pub runs: Vec<OutcomesRun>,
    /// What there was no time for.
    pub untried: Vec<Untried>,
    /// Everything that is not supported.
    pub unsupported: Vec<UnsupportedConstruct>,
    /// What the user should know besides.
    pub warnings: Vec<String>,
    /// Scopes that the launch does not tell apart.
    pub undistinguished: Vec<(Scope, Scope)>,
    /// What the outcomes depend on beside the module.
    pub choices: Choices,
}

impl OutcomesReport {
    /// The exit code: 3 where something is missing, with `strict` 4 where a bound cut something or scopes
    /// are not told apart.
    pub fn exit_code(&self, strict: bool) -> u8 {
        let behaviours = || self.runs.iter().map(|run| &run.explored.behaviours);
        let missing = self.runs.is_empty()
            || !self.untried.is_empty()
            || !self.unsupported.is_empty()
            || behaviours().any(|found| found.stopped.is_some() || !found.undecided.is_empty());
        let bounded = behaviours().any(|found| found.bounded.is_some());
        match (missing, strict && (bounded || !self.undistinguished.is_empty())) {
            (true, _) => 3,
            (false, true) => 4,
            (false, false) => 0,
        }
    }
}

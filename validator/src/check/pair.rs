//! A check of two modules: every entry point, every input.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::choices::{Choices, LaunchChoice};
use super::error::CheckError;
use super::exercised::Exercised;
use super::launches;
use super::options::{CheckOptions, Legacy};
use super::prepare::{self, Lowered};
use super::reason::Reason;
use super::result::{
    legacy_warning, CheckReport, FrozenSpec, LegacyRun, Role, Run, UnsupportedConstruct, Untried, DISPLACED,
};
use super::run::{Pair, Runner};
use super::searches::{Known, Searches};
use super::self_check::{self_check, Failure};
use super::tried::{combined, Tried};
use super::watch::Watch;
use crate::behaviour::{Bug, Deadline, Stopped};
use crate::compare::Verdict;
use crate::coverage::{Coverage, Executed};
use crate::dispatch::Dispatch;
use crate::event::{Scope, UndefinedKind};
use crate::explore::{Races, ReductionName, Settings};
use crate::ir::{CooperativeOp, Line, MemoryModel, Op, Program};
use crate::launch::{Input, Launch};
use crate::lower::{LowerError, SpecTarget};
use crate::module::Module;

/// Checks whether `after` refines `before`.
///
/// # Errors
/// [`CheckError`], where the pair or the launch makes no sense. What is merely not supported, or differs
/// between the modules, makes an inconclusive report.
pub fn check(
    before: &Module,
    after: &Module,
    options: &CheckOptions,
    watch: &Watch,
) -> Result<CheckReport, CheckError> {
    check_all(before, after, options, watch, &mut Searches::default(), &mut |_| ())
}

/// As [`check`], and hands over each run as soon as it is final. The report has the same runs in the same order.
///
/// # Errors
/// As for [`check`].
pub fn check_each(
    before: &Module,
    after: &Module,
    options: &CheckOptions,
    watch: &Watch,
    each: &mut dyn FnMut(&Run),
) -> Result<CheckReport, CheckError> {
    check_all(before, after, options, watch, &mut Searches::default(), each)
}

/// As [`check`], one of several that may have modules in common: what the check before this one found out need
/// not be found again.
///
/// # Errors
/// As for [`check`].
pub fn check_in_series(
    before: &Module,
    after: &Module,
    options: &CheckOptions,
    watch: &Watch,
    searches: &mut Searches,
) -> Result<CheckReport, CheckError> {
    check_all(before, after, options, watch, searches, &mut |_| ())
}

fn check_all(
    before: &Module,
    after: &Module,
    options: &CheckOptions,
    watch: &Watch,
    searches: &mut Searches,
    each: &mut dyn FnMut(&Run),
) -> Result<CheckReport, CheckError> {
    searches.start_check();
    let mut checker = Checker {
        before,
        after,
        options,
        runner: Runner {
            options,
            texts: [before, after].map(|module| module.text.clone()),
            watch,
            deadline: options.bounds.deadline(),
            searches,
            max_executions: options.bounds.max_executions,
        },
        found: Found::default(),
        covered: Default::default(),
        changed: OnceCell::new(),
        works: None,
        wide: None,
        each,
    };
    for module in [before, after] {
        if let Some(objection) = &module.objection {
            let message = format!("{}:{objection} (accepted by --lenient)", module.name);
            checker.found.warnings.push(message);
        }
    }
    for entry in prepare::entries(before, &options.launch) {
        checker.entry(entry)?;
    }
    Ok(checker.finish()?)
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Found {
    pub(super) runs: Vec<Run>,
    pub(super) untried: Vec<Untried>,
    pub(super) unsupported: Vec<UnsupportedConstruct>,
    /// Why the whole is inconclusive.
    pub(super) reasons: Vec<Reason>,
    pub(super) warnings: Vec<String>,
    /// Of each launch.
    pub(super) undistinguished: Vec<Vec<(Scope, Scope)>>,
    pub(super) launches: Vec<LaunchChoice>,
    /// Inputs on which both ran once.
    pub(super) looked_at: usize,
    /// Of those of an entry point, so many were not searched, as after alone takes long on them.
    pub(super) later: u32,
    /// What each launch executed of both modules.
    pub(super) executed: Vec<[Executed; 2]>,
    /// SpecIds that after has frozen.
    pub(super) frozen: Vec<FrozenSpec>,
    /// Why other specialisations were passed over, each with all that were.
    pub(super) passed_over: Vec<(String, Vec<String>)>,
    /// Something was compared that is not the same program, or is it at some specialisations only.
    pub(super) differs: bool,
}

/// An entry point of both modules, lowered.
pub(super) struct Programs {
    pub(super) before: Program,
    pub(super) after: Program,
    pub(super) known: [Known; 2],
}

pub(super) struct Checker<'a> {
    pub(super) before: &'a Module,
    pub(super) after: &'a Module,
    pub(super) options: &'a CheckOptions,
    pub(super) runner: Runner<'a>,
    pub(super) found: Found,
    /// What the runs of this launch covered of both programs.
    pub(super) covered: [Coverage; 2],
    /// Whether before changed something on an input of this launch that was looked at; `None` where none was.
    pub(super) works: Option<bool>,
    /// The lines of both modules to which nothing in the other one corresponds, once that was asked.
    pub(super) changed: OnceCell<[BTreeSet<Line>; 2]>,
    /// See [`Launch::wide`]; of the last launch.
    pub(super) wide: Option<[u32; 3]>,
    /// Hears of every run that is final.
    pub(super) each: &'a mut dyn FnMut(&Run),
}

impl Checker<'_> {
    fn entry(&mut self, entry: Option<String>) -> Result<(), CheckError> {
        let Some((before, after)) = self.programs(entry)? else { return Ok(()) };
        let uses = self.spec_uses(&before, &after)?;
        let known = [&before, &after].map(|program| self.runner.searches.known(program));
        let programs = Programs { before, after, known };
        let Programs { before, after, .. } = &programs;
        let differences = Reason::differences(before, after);
        if !differences.is_empty() {
            self.found.reasons.extend(differences);
            return Ok(());
        }
        let Some(uses) = uses else { return Ok(()) };
        let [old, new] = &programs.known;
        self.found.differs |= !old.is_same(new) || self.is_specialised(before, after);
        let Some((index, came)) = self.usual_launches(&programs)? else { return Ok(()) };
        if self.options.launch.inputs.is_none() {
            self.looked_at_launches(&programs, index)?;
        }
        if !uses.is_empty() {
            self.vary(&programs, &uses, index, came)?;
        }
        match std::mem::take(&mut self.found.later) {
            0 => {}
            later => self.found.warnings.push(format!(
                "{}: {later} further {} not searched on which after takes much longer than before",
                programs.before.entry.name,
                if later == 1 { "input was" } else { "inputs were" }
            )),
        }
        Ok(())
    }

    /// Both modules lowered; everything unsupported in either is collected.
    fn programs(&mut self, entry: Option<String>) -> Result<Option<(Program, Program)>, CheckError> {
        let launch = &self.options.launch;
        let lower = prepare::lower_options(launch, entry.clone(), launch.spec.clone());
        let before = prepare::lower_module(self.before, Role::Before, &lower)?;
        let (name, specialisation) = match &before {
            Lowered::Program(program) => (
                Some(program.entry.name.clone()),
                prepare::specialisation_of_after(launch, self.before, program)?,
            ),
            Lowered::Unsupported(_) => {
                let by_id = launch.spec.iter().filter(|one| matches!(one.target, SpecTarget::SpecId(_)));
                (entry, by_id.cloned().collect())
            }
        };
        let lower = prepare::lower_options(launch, name, specialisation);
        let after = match prepare::lower_module(self.after, Role::After, &lower) {
            Err(CheckError::Lower { error: LowerError::UnknownEntryPoint { name, known }, .. }) => {
                self.found.reasons.push(Reason::NoEntryPoint { name, known });
                None
            }
            lowered => Some(lowered?),
        };
        let mut programs = Vec::new();
        for lowered in std::iter::once(before).chain(after) {
            match lowered {
                Lowered::Program(program) => programs.push(*program),
                Lowered::Unsupported(list) => self.found.unsupported.extend(list),
            }
        }
        let mut programs = programs.into_iter();
        Ok(programs.next().zip(programs.next()))
    }

    /// Runs one input; true where the rest need not be run.
    pub(super) fn input(
        &mut self,
        programs: &Programs,
        launch: &Launch,
        input: Input,
    ) -> Result<bool, CheckError> {
        let Programs { before, after, .. } = programs;
        let name = format!("{}, input '{}'", before.entry.name, input.name);
        let Some(pair) = self.pair(programs, launch, &input, name)? else { return Ok(true) };
        if self.options.self_check {
            self.self_checks(&pair)?;
        }
        self.found.differs |= !pair.is_same_program();
        let mut run = self.runner.run(&pair, input)?;
        self.cover_if_compared(&pair, &run);
        let racy =
            run.before.behaviours.undefined.iter().any(|(found, _)| found.kind == UndefinedKind::DataRace);
        let legacy = matches!(before.memory_model, MemoryModel::Glsl450 | MemoryModel::Simple);
        if racy && legacy && self.options.legacy == Legacy::Spec && self.options.races == Races::Undefined {
            run.legacy = self.legacy_run(programs, launch, &run.input)?;
        }
        let mut done = run.comparison.verdict == Verdict::Violates;
        let decided = run.comparison.verdict != Verdict::Vacuous;
        let input = run.input.clone();
        if run.comparison.violation.is_none() && run.comparison.verdict != Verdict::Inconclusive {
            run.forget_outcomes();
        }
        self.found.runs.push(run);
        if !done && decided && [before, after].into_iter().any(accesses_matrices) {
            done = self.displaced_run(programs, launch, input)?;
        }
        Ok(done)
    }

    /// The run with cooperative matrices loaded and stored by other invocations than those that hold them; true
    /// where it violates.
    fn displaced_run(
        &mut self,
        programs: &Programs,
        launch: &Launch,
        mut input: Input,
    ) -> Result<bool, CheckError> {
        let displaced = Launch { displaced: true, ..launch.clone() };
        let name = format!("{}, input '{}{DISPLACED}'", programs.before.entry.name, input.name);
        let Some(pair) = self.pair(programs, &displaced, &input, name)? else { return Ok(true) };
        input.name += DISPLACED;
        let run = self.runner.run(&pair, input)?;
        self.cover_if_compared(&pair, &run);
        let violates = run.comparison.verdict == Verdict::Violates;
        self.found.runs.push(run);
        Ok(violates)
    }

    /// The programs with their dispatches, unless what they need is not supported.
    pub(super) fn pair<'p>(
        &mut self,
        programs: &'p Programs,
        launch: &Launch,
        input: &Input,
        name: String,
    ) -> Result<Option<Pair<'p>>, CheckError> {
        let Programs { before, after, known } = programs;
        let sides = [(before, Role::Before), (after, Role::After)];
        let mut dispatches = Vec::new();
        for (program, role) in sides {
            match prepare::dispatch_of(program, role, launch, input)? {
                Ok(dispatch) => dispatches.push(Dispatch { coverage: Coverage::of(program), ..dispatch }),
                Err(unsupported) => self.found.unsupported.push(unsupported),
            }
        }
        let mut dispatches: std::vec::IntoIter<Dispatch> = dispatches.into_iter();
        let both = dispatches.next().zip(dispatches.next());
        Ok(both.map(|(before_dispatch, after_dispatch)| Pair {
            before,
            after,
            known,
            before_dispatch,
            after_dispatch,
            // Launches are run one after the other.
            launch: self.found.launches.len() - 1,
            name,
        }))
    }

    /// Adds what a run covered that compared something: where before is undefined, or undecided, nothing was.
    fn cover_if_compared(&self, pair: &Pair<'_>, run: &Run) {
        if run.comparison.verdict == Verdict::Refines {
            self.cover(pair);
        }
    }

    /// Adds what a run covered. Returns whether something of it was not covered yet.
    pub(super) fn cover(&self, pair: &Pair<'_>) -> bool {
        let [before, after] = &self.covered;
        before.add(&pair.before_dispatch.coverage) | after.add(&pair.after_dispatch.coverage)
    }

    fn self_checks(&mut self, pair: &Pair<'_>) -> Result<(), Bug> {
        for (role, side) in [(Role::Before, pair.before_side()), (Role::After, pair.after_side())] {
            self.runner.watch.enter(format!("{}: {} against itself", pair.name, role.name()));
            let settings = Settings { stop_at_undefined: false, ..self.runner.settings() };
            let result =
                self_check(role, side.program, side.dispatch, &settings, &self.runner.compare_options());
            match result {
                Ok(()) => {}
                Err(Failure::Undecided(why)) => self.found.warnings.push(why),
                Err(Failure::Bug(bug)) => return Err(bug),
            }
        }
        Ok(())
    }

    /// The run with every access coherent, where before has no race then.
    fn legacy_run(
        &mut self,
        programs: &Programs,
        launch: &Launch,
        input: &Input,
    ) -> Result<Option<LegacyRun>, CheckError> {
        let coherent = Launch { legacy_coherent: true, ..launch.clone() };
        let name = format!("{}, input '{}', legacy coherent", programs.before.entry.name, input.name);
        let Some(pair) = self.pair(programs, &coherent, input, name)? else { return Ok(None) };
        let run = self.runner.run(&pair, input.clone())?;
        // Another undefined behaviour may hide a race, and says nothing either.
        let decided = run.comparison.verdict != Verdict::Vacuous;
        Ok(decided.then(|| LegacyRun {
            verdict: run.comparison.verdict,
            kind: run.comparison.violation.as_ref().map(|violation| violation.kind),
            finished: run.comparison.unfinished.is_none(),
        }))
    }

    fn finish(mut self) -> Result<CheckReport, Bug> {
        let Found {
            runs,
            untried,
            mut unsupported,
            mut reasons,
            mut warnings,
            undistinguished,
            launches,
            looked_at,
            executed,
            frozen,
            passed_over,
            differs,
            later: _,
        } = std::mem::take(&mut self.found);
        unsupported.sort();
        unsupported.dedup();
        let counted: Vec<&Run> = runs.iter().filter(|run| launches::counts(&launches, run.launch)).collect();
        let missed: Vec<&Untried> =
            untried.iter().filter(|one| launches::counts(&launches, one.launch)).collect();
        let of_launches = || counted.iter().copied();
        let mut verdict = combined(of_launches(), missed.iter().copied());
        if !unsupported.is_empty() || !reasons.is_empty() {
            verdict = verdict.min(Verdict::Inconclusive);
        }
        if frozen.iter().any(|_| self.options.spec_must_stay) {
            reasons.extend(frozen.iter().map(|one| Reason::Frozen { spec_id: one.spec_id }));
            verdict = verdict.min(Verdict::Violates);
        }
        let tried = Tried::of(of_launches(), missed.iter().copied());
        if tried.too_few && verdict == Verdict::Inconclusive {
            reasons.extend(missed.iter().map(|one| one.reason()));
        }
        let explains = |run: &&Run| !run.comparison.reasons.is_empty();
        let explained = !unsupported.is_empty() || !reasons.is_empty() || counted.iter().any(explains);
        if verdict == Verdict::Inconclusive && !explained {
            return Err(Bug::NoReason);
        }
        let passed_over = passed_over.into_iter();
        warnings.extend(passed_over.map(|(why, specs)| format!("passed over: {}: {why}", specs.join(", "))));
        warnings.extend(legacy_warning(&counted));
        let usual = counted.iter().filter(|run| launches::is_usual(&launches, run.launch));
        let inputs = usual.map(|run| run.own_input()).collect::<BTreeSet<_>>().len();
        let mut pairs: Vec<(Scope, Scope)> = Vec::new();
        let rests_on = launches
            .iter()
            .zip(undistinguished)
            .filter(|(one, _)| one.passed_over.is_none() && !one.is_varied());
        for pair in rests_on.flat_map(|(_, pairs)| pairs) {
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        let mut choices = Choices::of(self.options, launches, inputs);
        choices.inputs.looked_at = looked_at;
        let [before, after] = [self.before, self.after].map(super::source::source);
        let counted =
            executed.iter().enumerate().filter(|(number, _)| launches::counts(&choices.launch, *number));
        let counted: Vec<&[Executed; 2]> = counted.map(|(_, executed)| executed).collect();
        let exercised = match verdict {
            Verdict::Refines => Exercised::of(&counted, || self.changed()),
            Verdict::Violates | Verdict::Inconclusive | Verdict::Vacuous | Verdict::Error => {
                Exercised::default()
            }
        };
        Ok(CheckReport {
            diff: super::source::comparable_texts(self.before, self.after),
            before,
            after,
            verdict,
            runs,
            untried,
            unsupported,
            reasons,
            warnings,
            undistinguished: pairs,
            frozen,
            same_program: !differs && matches!(verdict, Verdict::Refines | Verdict::Vacuous),
            exercised,
            choices,
        })
    }
}

/// Whether a program loads or stores cooperative matrices.
fn accesses_matrices(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|inst| match &inst.op {
        Op::Cooperative(op) => op.access().is_some() || matches!(op, CooperativeOp::Each(_)),
        _ => false,
    })
}

/// The option that ends something.
pub(super) fn timed_by(deadline: Option<Deadline>) -> Stopped {
    deadline.map_or(Stopped::Timeout, |deadline| deadline.option)
}

impl CheckOptions {
    /// The settings of a search that must end at `deadline`.
    pub(super) fn settings(&self, deadline: Option<Deadline>, watch: &Watch) -> Settings {
        Settings {
            model: self.model.clone(),
            races: self.races,
            strict_hangs: self.strict_hangs,
            structural_reconvergence: self.structural_reconvergence,
            timeout: deadline.map(|deadline| deadline.left()),
            timed_by: timed_by(deadline),
            progress: watch.progress.clone(),
            ..self.bounds.settings()
        }
    }

    /// From how many executions on those that differ in who has which place are kept in factored form.
    pub(super) fn factored_from(&self) -> u64 {
        match self.bounds.without.contains(ReductionName::Merging) {
            true => u64::MAX,
            false => self.bounds.factored_from,
        }
    }
}

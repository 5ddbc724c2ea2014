//! Runs the planned passes and calls the checker for each step.

use std::time::{Duration, Instant};

use spirv_tv_toolchain::passes::{find_pass, Class};
use spirv_tv_toolchain::{Validator, ValidatorOptions};

use super::plan::PlannedPass;
use super::process::OptimiserFailure;
use crate::behaviour::Bug;
use crate::compare::Verdict;

/// What comparing two modules gives.
pub trait CheckResult {
    /// `None` for a bug of ours, behind which nothing is run.
    fn verdict(&self) -> Option<Verdict>;

    /// The exit code of the comparison alone.
    fn exit_code(&self) -> u8;

    /// The comparison's `spirv-tv.check` object.
    fn check_object(&self) -> serde_json::Value;

    /// What stands beside the verdict in a table, in a few words.
    fn gist(&self) -> String;

    /// Whether both modules are the same program but for ids, names and lines.
    fn is_proved(&self) -> bool;

    /// The number of inputs that were run.
    fn inputs(&self) -> usize;
}

/// What runs passes.
pub trait Optimiser {
    /// Runs the passes that `flags` name on a module, for no longer than `timeout`.
    ///
    /// # Errors
    /// Everything but [`OptimiserFailure::Invalid`]: the result is not validated here.
    fn run(
        &mut self,
        words: &[u32],
        flags: &[String],
        timeout: Duration,
    ) -> Result<Vec<u32>, OptimiserFailure>;
}

impl<O: Optimiser + ?Sized> Optimiser for &mut O {
    fn run(
        &mut self,
        words: &[u32],
        flags: &[String],
        timeout: Duration,
    ) -> Result<Vec<u32>, OptimiserFailure> {
        (**self).run(words, flags, timeout)
    }
}

/// Compares modules for the pipeline, and hears how it gets on.
pub trait Checker {
    /// What a comparison gives.
    type Result: CheckResult;

    /// Compares two modules; `label` is the pass or the list of passes between them.
    fn check(&mut self, before: &[u32], after: &[u32], label: &str) -> Self::Result;

    /// Step `number` (from 1) of `total` begins.
    fn step_started(&mut self, _number: usize, _total: usize, _pass: &str) {}

    /// A step has ended; with [`Mode::Ends`] it may be checked later.
    fn step_finished(&mut self, _number: usize, _step: &Step<Self::Result>) {}
}

impl<R: CheckResult, F: FnMut(&[u32], &[u32], &str) -> R> Checker for F {
    type Result = R;

    fn check(&mut self, before: &[u32], after: &[u32], label: &str) -> R {
        self(before, after, label)
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Each step that changes the module.
    #[default]
    EachStep,
    /// The first module against the last; if that violates, bisection finds the step (`--ends`).
    Ends,
}

/// A list of passes to run and check.
#[derive(Clone, Debug)]
pub struct Pipeline<'a> {
    /// The passes, in order.
    pub plan: &'a [PlannedPass],
    /// How long a pass may run.
    pub timeout: Duration,
    /// What every result is validated with; `None` checks results that may be invalid.
    pub validate: Option<&'a ValidatorOptions>,
    /// What validates it.
    pub validator: &'a Validator,
    /// What is compared.
    pub mode: Mode,
    /// Leave a pass that fails out and go on with the next, instead of ending there.
    pub keep_going: bool,
    /// The flags of a run of all passes at once, which is checked besides: a pass may go wrong there alone, because of what
    /// another one left behind.
    pub whole: Option<&'a [String]>,
}

/// How a step ended.
#[derive(Clone, Debug)]
pub enum Outcome<R> {
    /// The words are the same.
    Unchanged,
    /// The module changed and was compared with the step's input.
    Checked(R),
    /// The module changed; [`Mode::Ends`] did not need this step's comparison.
    NotChecked,
    /// There is no result to go on with.
    Failed(OptimiserFailure),
    /// A step before it failed.
    NotRun,
    /// There was no time left for it.
    OutOfTime,
}

/// A pass of the pipeline and what became of it.
#[derive(Clone, Debug)]
pub struct Step<R> {
    /// The pass, as the command line has it.
    pub pass: String,
    /// What became of it.
    pub outcome: Outcome<R>,
    /// Wall-clock time of the optimiser with its process and of spirv-val.
    pub optimise_time: Duration,
    /// Wall-clock time of the comparison.
    pub check_time: Duration,
}

impl<R: CheckResult> Step<R> {
    fn new(planned: &PlannedPass, outcome: Outcome<R>) -> Self {
        Step {
            pass: planned.label.clone(),
            outcome,
            optimise_time: Duration::ZERO,
            check_time: Duration::ZERO,
        }
    }

    /// Did the pass write other words than it read?
    pub fn changed(&self) -> bool {
        matches!(self.outcome, Outcome::Checked(_) | Outcome::NotChecked)
    }

    /// Is this the pass that introduced a violation?
    pub fn is_guilty(&self) -> bool {
        self.verdict() == Some(Verdict::Violates)
    }

    /// The comparison's verdict, where there was one.
    pub fn verdict(&self) -> Option<Verdict> {
        match &self.outcome {
            Outcome::Checked(result) => result.verdict(),
            Outcome::OutOfTime => Some(Verdict::Inconclusive),
            Outcome::Unchanged | Outcome::NotChecked | Outcome::Failed(_) | Outcome::NotRun => None,
        }
    }

    /// What the pass promises, from the table of passes.
    pub fn class(&self) -> Option<Class> {
        find_pass(&self.pass).map(|pass| pass.class)
    }

    fn exit_code(&self) -> u8 {
        match &self.outcome {
            Outcome::Checked(result) => result.exit_code(),
            Outcome::Failed(OptimiserFailure::Bug { .. }) => Bug::EXIT_CODE,
            Outcome::Failed(failure) if failure.is_optimisers() => EXIT_OPTIMISER_FAILED,
            Outcome::Failed(_) => EXIT_ERROR,
            Outcome::OutOfTime => EXIT_INCONCLUSIVE,
            Outcome::Unchanged | Outcome::NotChecked | Outcome::NotRun => 0,
        }
    }
}

/// The exit code of `error`.
const EXIT_ERROR: u8 = 2;

/// The exit code of `inconclusive`.
const EXIT_INCONCLUSIVE: u8 = 3;

/// The exit code of `optimiser-failed`.
pub const EXIT_OPTIMISER_FAILED: u8 = 5;

/// The worst of several exit codes.
pub fn worst(codes: &[u8]) -> u8 {
    WORST_FIRST.into_iter().find(|code| codes.contains(code)).unwrap_or(0)
}

/// Exit codes from the worst to the best: a bug of ours, error, violates, optimiser-failed, inconclusive, bounded.
const WORST_FIRST: [u8; 6] = [Bug::EXIT_CODE, EXIT_ERROR, 1, EXIT_OPTIMISER_FAILED, EXIT_INCONCLUSIVE, 4];

/// What a pipeline did.
#[derive(Clone, Debug)]
pub struct Report<R> {
    /// One for each planned pass, in order.
    pub steps: Vec<Step<R>>,
    /// [`Mode::Ends`]: the first module against the last, unless nothing changed.
    pub ends: Option<R>,
    /// The run of all passes at once, where it gave another module than the passes one by one, or none.
    pub whole: Option<Step<R>>,
    /// The module after the last pass that gave one.
    pub words: Vec<u32>,
}

impl<R> Report<R> {
    /// The steps, and behind them the run of all passes at once.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step<R>> {
        self.steps.iter().chain(&self.whole)
    }
}

impl<R: CheckResult> Report<R> {
    /// The passes that introduced a violation.
    pub fn guilty(&self) -> impl Iterator<Item = &Step<R>> {
        self.all_steps().filter(|step| step.is_guilty())
    }

    /// The worst exit code of all steps.
    pub fn exit_code(&self) -> u8 {
        let codes: Vec<u8> = self
            .all_steps()
            .map(Step::exit_code)
            .chain(self.ends.iter().map(CheckResult::exit_code))
            .collect();
        worst(&codes)
    }

    /// What the comparison of both ends is about.
    pub fn ends_label(&self) -> &'static str {
        if self.all_ran() {
            ALL_PASSES
        } else {
            PASSES_THAT_RAN
        }
    }

    fn all_ran(&self) -> bool {
        let ran = |step: &Step<R>| match step.outcome {
            Outcome::Failed(_) | Outcome::OutOfTime | Outcome::NotRun => false,
            Outcome::Unchanged | Outcome::NotChecked | Outcome::Checked(_) => true,
        };
        self.steps.iter().all(ran)
    }
}

/// The label of the comparison of both ends.
pub const ALL_PASSES: &str = "all passes";

/// The same where some passes failed, or had no time left.
pub const PASSES_THAT_RAN: &str = "passes that ran";

/// What the run of all passes at once is called.
pub const WHOLE_RUN: &str = "all passes in one run";

impl Pipeline<'_> {
    /// Runs the passes on a module, each on the result of the one before. `left` says how much time there is left, if
    /// that is bounded.
    pub fn run<C: Checker>(
        &self,
        words: &[u32],
        optimiser: &mut dyn Optimiser,
        checker: &mut C,
        left: &dyn Fn() -> Option<Duration>,
    ) -> Report<C::Result> {
        let steps = Vec::with_capacity(self.plan.len());
        let mut report = Report { steps, ends: None, whole: None, words: words.to_vec() };
        // For `Mode::Ends`: the steps that changed the module, with their results.
        let mut changes: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut stopped = false;
        for (index, planned) in self.plan.iter().enumerate() {
            if stopped {
                report.steps.push(Step::new(planned, Outcome::NotRun));
                continue;
            }
            let is_over = || left() == Some(Duration::ZERO);
            if is_over() {
                let step = Step::new(planned, Outcome::OutOfTime);
                checker.step_finished(index + 1, &step);
                report.steps.push(step);
                continue;
            }
            checker.step_started(index + 1, self.plan.len(), &planned.label);
            let start = Instant::now();
            let result = self.run_pass(optimiser, planned, &report.words, left());
            let optimise_time = start.elapsed();
            let start = Instant::now();
            let outcome = match result {
                Ok(after) if after == report.words => Outcome::Unchanged,
                Ok(after) => {
                    let outcome = match self.mode {
                        Mode::EachStep => {
                            let result = checker.check(&report.words, &after, &planned.label);
                            stopped = result.verdict().is_none();
                            Outcome::Checked(result)
                        }
                        Mode::Ends => {
                            changes.push((index, after.clone()));
                            Outcome::NotChecked
                        }
                    };
                    report.words = after;
                    outcome
                }
                Err(OptimiserFailure::TimedOut { .. }) if is_over() => Outcome::OutOfTime,
                Err(failure) => {
                    stopped = !self.keep_going;
                    Outcome::Failed(failure)
                }
            };
            let step = Step { optimise_time, check_time: start.elapsed(), ..Step::new(planned, outcome) };
            checker.step_finished(index + 1, &step);
            report.steps.push(step);
        }
        self.check_ends(words, &changes, checker, &mut report);
        report.whole = self.check_whole(words, optimiser, checker, &report, left);
        report
    }

    /// Runs all passes at once, where none of them did wrong by itself, and compares what they make of the module then.
    fn check_whole<C: Checker>(
        &self,
        first: &[u32],
        optimiser: &mut dyn Optimiser,
        checker: &mut C,
        report: &Report<C::Result>,
        left: &dyn Fn() -> Option<Duration>,
    ) -> Option<Step<C::Result>> {
        let flags = self.whole.filter(|_| self.plan.len() > 1)?;
        if !report.all_ran() || report.guilty().next().is_some() || left() == Some(Duration::ZERO) {
            return None;
        }
        let legalizing = self.plan.iter().any(|planned| planned.legalizing);
        let planned = PlannedPass { label: WHOLE_RUN.to_owned(), flags: flags.to_vec(), legalizing };
        let number = self.plan.len() + 1;
        checker.step_started(number, number, WHOLE_RUN);
        let start = Instant::now();
        let result = self.run_pass(optimiser, &planned, first, left());
        let optimise_time = start.elapsed();
        let start = Instant::now();
        let outcome = match result {
            Ok(after) if after == report.words => return None,
            Ok(after) => Outcome::Checked(checker.check(first, &after, WHOLE_RUN)),
            Err(OptimiserFailure::TimedOut { .. }) if left() == Some(Duration::ZERO) => Outcome::OutOfTime,
            Err(failure) => Outcome::Failed(failure),
        };
        let step = Step { optimise_time, check_time: start.elapsed(), ..Step::new(&planned, outcome) };
        checker.step_finished(number, &step);
        Some(step)
    }

    /// Runs one pass and validates what it wrote.
    fn run_pass(
        &self,
        optimiser: &mut dyn Optimiser,
        planned: &PlannedPass,
        words: &[u32],
        left: Option<Duration>,
    ) -> Result<Vec<u32>, OptimiserFailure> {
        let timeout = left.map_or(self.timeout, |left| left.min(self.timeout));
        let after = optimiser.run(words, &planned.flags, timeout)?;
        if after != words {
            if let Some(options) = self.validate {
                let legalizing = ValidatorOptions {
                    before_hlsl_legalization: options.before_hlsl_legalization || planned.legalizing,
                    ..options.clone()
                };
                self.validator.validate(&after, &legalizing).map_err(|error| match error.program {
                    // Nothing is known of what the pass wrote.
                    Some(program) => OptimiserFailure::NotRun { message: program.to_string() },
                    None => OptimiserFailure::Invalid { message: error.to_string() },
                })?;
            }
        }
        Ok(after)
    }

    /// Compares the first module with the last; where that violates, looks for the step that made it so
    /// and checks that step alone.
    fn check_ends<C: Checker>(
        &self,
        first: &[u32],
        changes: &[(usize, Vec<u32>)],
        checker: &mut C,
        report: &mut Report<C::Result>,
    ) {
        let Some((_, last)) = changes.last() else { return };
        let ends = checker.check(first, last, report.ends_label());
        let verdict = ends.verdict();
        report.ends = Some(ends);
        if verdict != Some(Verdict::Violates) {
            return;
        }
        let first_violating = first_violating(changes, |index, words| {
            let label = self.plan.get(index).map_or(ALL_PASSES, |planned| &planned.label);
            checker.check(first, words, &format!("all passes up to {label}")).verdict()
        });
        let Some(guilty) = first_violating else { return };
        let Some((index, after)) = changes.get(guilty) else { return };
        let before = guilty.checked_sub(1).and_then(|previous| changes.get(previous));
        let before = before.map_or(first, |(_, words)| words);
        if let Some(step) = report.steps.get_mut(*index) {
            let start = Instant::now();
            step.outcome = Outcome::Checked(checker.check(before, after, &step.pass));
            step.check_time = start.elapsed();
            checker.step_finished(*index + 1, step);
        }
    }
}

/// The position of a change up to which the first module is refined and from which on it is violated,
/// by bisection. The last change is known to violate. `None` where a comparison has no verdict.
pub fn first_violating(
    changes: &[(usize, Vec<u32>)],
    mut verdict: impl FnMut(usize, &[u32]) -> Option<Verdict>,
) -> Option<usize> {
    // Everything before `low` refines (or cannot be judged), `high` violates.
    let (mut low, mut high) = (0, changes.len().saturating_sub(1));
    while low < high {
        let middle = low + (high - low) / 2;
        let (index, words) = changes.get(middle)?;
        if verdict(*index, words)? == Verdict::Violates {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bisection_finds_the_first_violating_change() {
        for length in 1..12 {
            let changes: Vec<(usize, Vec<u32>)> = (0..length).map(|index| (index * 3, vec![])).collect();
            for guilty in 0..length {
                let mut asked = 0;
                let found = first_violating(&changes, |index, _| {
                    asked += 1;
                    if index >= guilty * 3 {
                        Some(Verdict::Violates)
                    } else {
                        Some(Verdict::Inconclusive)
                    }
                });
                assert_eq!(found, Some(guilty));
                assert!(asked <= 4, "{asked} comparisons among {length}");
            }
        }
    }

    #[test]
    fn bisection_accuses_nobody_where_a_comparison_went_wrong() {
        let changes: Vec<(usize, Vec<u32>)> = (0..4).map(|index| (index, vec![])).collect();
        assert_eq!(first_violating(&changes, |_, _| None), None);
    }
}

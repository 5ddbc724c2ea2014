//! The launches of an entry point: those that are searched, with the inputs of each, and one that is only looked at.

use super::error::CheckError;
use super::launches::{self, Came};
use super::options::CheckOptions;
use super::pair::{timed_by, Checker, Programs};
use super::prepare::{self, Prepared};
use super::result::{Missed, Role, Run, Untried};
use super::scouted::LARGE;
use super::scouting::{FUEL, SCOUTED};
use super::series::STEP_FUEL;
use crate::behaviour::{Deadline, Undefined};
use crate::compare::{Comparison, Verdict};
use crate::coverage::Coverage;
use crate::dispatch::Dispatch;
use crate::event::UndefinedKind;
use crate::launch::inputs::{Inputs, Next, DEFAULT_INPUTS};
use crate::launch::kept::Was;
use crate::launch::values::Kind;
use crate::launch::{trial, Launch, Size3};

/// Where the user gives no number of inputs: this many at least, and more until they have cost so many
/// executions of single invocations. (Time would make the result depend on the machine.)
const LEAST_INPUTS: u32 = 3;
pub(super) const DEAR: u64 = 1_000;

/// Inputs of a launch with too many workgroups to be searched, and what they may cost in instructions.
const WIDE: u32 = 192;
const WIDE_FUEL: u64 = 3_000_000;

/// What inputs of a launch with fewer workgroups, which is only looked at, may cost in instructions, and those of all.
const NARROW_FUEL: u64 = 14_000_000;
const ALL_NARROW_FUEL: u64 = 42_000_000;

/// What looks may cost that take long with one workgroup already.
const DEEP_FUEL: u64 = 40_000_000;

/// For each of them, up to so many, the launch that is searched keeps this part.
const MOST_NARROW: usize = 3;
const PART_OF_NARROW: u64 = 9;

/// What is tried where several workgroups decide nothing: what is beside each other in y or z may be in each other's way.
const ONE_DIMENSION: [u32; 3] = [2, 1, 1];
const ONE: [u32; 3] = [1; 3];

/// Workgroups beside each other where one dimension alone has several, and the launch is only looked at.
const IN_ROW: u32 = 4;

/// The numbers of workgroups with several in one of the dimensions that have several in either of these, and that with one.
fn narrower(usual: [u32; 3], wide: [u32; 3]) -> Vec<[u32; 3]> {
    let several = (0..3).filter(|axis| usual[*axis].max(wide[*axis]) > 1);
    let along = |axis: usize| {
        let mut count = ONE;
        count[axis] = IN_ROW;
        count
    };
    several.map(along).chain([ONE]).filter(|count| *count != usual).collect()
}

/// Whether an access was beyond what it is into.
fn is_out_of_bounds(undefined: &Undefined) -> bool {
    undefined.kind == UndefinedKind::OutOfBounds
}

/// Which inputs a launch gets.
pub(super) struct Plan {
    /// At least so many, and others as long as they cost little.
    pub(super) least: u32,
    /// At most so many.
    pub(super) most: u32,
    /// Without the zeros.
    pub(super) without_zeros: bool,
    /// So many more are looked at.
    pub(super) scouted: u32,
    /// What that may cost in instructions, with what is kept for others.
    pub(super) fuel: u64,
    /// Of these, so many are kept for launches that are only looked at.
    pub(super) kept: u64,
    /// What looks at repaired inputs may cost beside that, which take more than others may.
    pub(super) deep_fuel: u64,
    /// A launch with fewer workgroups may follow.
    pub(super) may_be_followed: bool,
}

/// The plan of a launch that is only looked at.
const LOOKED_AT: Plan = Plan {
    least: 0,
    most: 0,
    without_zeros: false,
    scouted: 0,
    fuel: 0,
    kept: 0,
    deep_fuel: 0,
    may_be_followed: false,
};

impl Plan {
    /// Whether no input is searched on which both do not end differently.
    pub(super) fn is_only_looked_at(&self) -> bool {
        self.most == 0
    }
}

impl Checker<'_> {
    /// Runs the launch that the options ask for, and fewer workgroups where that decides nothing: the one that the verdict
    /// rests on.
    pub(super) fn usual_launches(
        &mut self,
        programs: &Programs,
    ) -> Result<Option<(usize, Came)>, CheckError> {
        let automatic = self.options.launch.workgroups.is_none() && programs.before.entry.is_compute();
        let whole = self.runner.deadline;
        let inputs = self.options.launch.inputs;
        let plan = |may_be_followed| Plan {
            least: inputs.unwrap_or(LEAST_INPUTS),
            most: inputs.unwrap_or(DEFAULT_INPUTS),
            without_zeros: false,
            scouted: if inputs.is_none() { SCOUTED } else { 0 },
            fuel: FUEL,
            kept: 0,
            deep_fuel: 0,
            may_be_followed,
        };
        let first = self.launch(programs, self.options, &plan(automatic))?;
        let wide = self.wide;
        self.runner.deadline = whole;
        let Some(mut best) = first else { return Ok(None) };
        let mut tried = self.found.launches[best.0].workgroups;
        for fewer in [ONE_DIMENSION, ONE] {
            let is_over = whole.is_some_and(|whole| whole.is_over());
            let is_fewer = fewer != tried && fewer.iter().zip(tried).all(|(fewer, tried)| *fewer <= tried);
            if !automatic || !is_fewer || !best.1.asks_for_another() || is_over {
                continue;
            }
            tried = fewer;
            let mut options = self.options.clone();
            options.launch.workgroups = Some(Size3(fewer));
            let next = self.launch(programs, &options, &plan(fewer != ONE))?;
            self.runner.deadline = whole;
            self.wide = wide;
            let Some(next) = next else { continue };
            let [of_best, of_next] = launches::passed_over(best.1, next.1);
            self.found.launches[best.0].passed_over = of_best;
            self.found.launches[next.0].passed_over = of_next;
            if of_best.is_some() {
                best = next;
            }
        }
        Ok(Some(best))
    }

    /// Looks at launches that are not searched: with several workgroups in the dimensions in which they would be too many for
    /// that, then with two in one dimension alone, and with one. Who is beside another in one of several dimensions may be in
    /// its way, so that before is undefined on most inputs, and each input costs more. Only a run that tells both modules
    /// apart counts.
    pub(super) fn looked_at_launches(&mut self, programs: &Programs, usual: usize) -> Result<(), CheckError> {
        let [before, after] = &programs.known;
        let is_seen = self.runner.searches.shares_looks() && !self.misses_changed(programs);
        if before.is_same(after) || is_seen {
            return Ok(());
        }
        let wide = self.wide;
        let of_wide =
            |wide| (wide, Plan { scouted: WIDE, fuel: WIDE_FUEL, without_zeros: true, ..LOOKED_AT });
        let mut all: Vec<([u32; 3], Plan)> = wide.map(of_wide).into_iter().collect();
        if self.options.launch.workgroups.is_none() && programs.before.entry.is_compute() {
            let usual = self.found.launches[usual].workgroups;
            let tried = |count: &[u32; 3]| {
                let mut launches = self.found.launches.iter();
                launches.any(|it| it.entry == programs.before.entry.name && it.workgroups == *count)
            };
            let size = programs.before.entry.local_size.into_iter().map(u64::from);
            let is_large = size.fold(1, u64::saturating_mul) >= LARGE;
            let mut narrow = narrower(usual, wide.unwrap_or(ONE));
            // Where nothing was decided, it may be that looks took too long.
            let of_entry = |run: &&Run| run.entry == programs.before.entry.name;
            let is_vacuous = |run: &Run| run.comparison.verdict == Verdict::Vacuous;
            let is_vain = is_large && self.found.runs.iter().filter(of_entry).all(is_vacuous);
            narrow.retain(|count| *count != ONE && !tried(count));
            narrow.extend((is_vain || !tried(&ONE)).then_some(ONE));
            if is_large {
                // One workgroup costs most of what there is already.
                narrow.reverse();
            }
            let fuel = NARROW_FUEL.min(ALL_NARROW_FUEL / narrow.len().max(1) as u64);
            let of_narrow = |count| {
                let deep_fuel = if count == ONE { DEEP_FUEL } else { 0 };
                (count, Plan { scouted: SCOUTED, fuel, deep_fuel, ..LOOKED_AT })
            };
            all.extend(narrow.into_iter().map(of_narrow));
        }
        let [mut late, mut spent] = [Vec::new(), Vec::new()];
        for (count, mut plan) in all {
            let is_over = self.runner.deadline.is_some_and(|deadline| deadline.is_over());
            let is_violated = self.found.runs.iter().any(|run| run.comparison.verdict == Verdict::Violates);
            if is_violated {
                break;
            }
            if is_over {
                late.push(Size3(count).to_string());
                continue;
            }
            plan.fuel = self.runner.searches.draw(plan.fuel);
            if plan.fuel < STEP_FUEL {
                spent.push(Size3(count).to_string());
                continue;
            }
            plan.deep_fuel = self.runner.searches.draw(plan.deep_fuel);
            self.look_at_launch(programs, (count, usual), &plan)?;
        }
        let no_time = format!("{} left no time", timed_by(self.runner.deadline));
        let no_fuel = "the steps before have used what all share for that".to_owned();
        for (left, why) in
            [(late, no_time), (spent, no_fuel)].into_iter().filter(|(left, _)| !left.is_empty())
        {
            let (entry, left) = (&programs.before.entry.name, left.join(" or "));
            self.found.warnings.push(format!("{entry}: not looked at with {left} workgroups, as {why}"));
        }
        Ok(())
    }

    /// Looks at so many workgroups. Where nothing was found, what was executed counts for the usual launch.
    fn look_at_launch(
        &mut self,
        programs: &Programs,
        (count, usual): ([u32; 3], usize),
        plan: &Plan,
    ) -> Result<(), CheckError> {
        let mut options = self.options.clone();
        options.launch.workgroups = Some(Size3(count));
        let (runs, launches) = (self.found.runs.len(), self.found.launches.len());
        let (untried, unsupported) = (self.found.untried.len(), self.found.unsupported.len());
        self.launch(programs, &options, plan)?;
        if self.found.runs.len() == runs && self.found.untried.len() == untried {
            self.found.unsupported.truncate(unsupported);
            self.found.launches.truncate(launches);
            self.found.undistinguished.truncate(launches);
            let looked_at = self.found.executed.split_off(launches.min(self.found.executed.len()));
            let of_usual = self.found.executed.get_mut(usual).into_iter().flatten();
            of_usual.zip(looked_at.into_iter().flatten()).for_each(|(known, other)| known.merge(other));
        }
        Ok(())
    }

    /// Runs one launch of an entry point: its index, and what it came to; `None` where something is unsupported.
    pub(super) fn launch(
        &mut self,
        programs: &Programs,
        options: &CheckOptions,
        plan: &Plan,
    ) -> Result<Option<(usize, Came)>, CheckError> {
        let Programs { before, after, .. } = programs;
        let prepared = prepare::prepare(self.before, before, Some(after), options);
        let Prepared { mut launch, choice, warnings } = match prepare::supported(prepared, Role::Before)? {
            Ok(prepared) => prepared,
            Err(unsupported) => {
                self.found.unsupported.push(unsupported);
                return Ok(None);
            }
        };
        if plan.may_be_followed && launch.workgroups != ONE {
            self.runner.deadline = self.runner.deadline.map(Deadline::earlier);
        }
        launch.is_only_looked_at = plan.is_only_looked_at();
        let index = self.found.launches.len();
        self.found.launches.push(choice);
        self.wide = launch.wide;
        for warning in warnings {
            if !self.found.warnings.contains(&warning) {
                self.found.warnings.push(warning);
            }
        }
        self.found.undistinguished.push(launch.undistinguished.clone());
        let (runs, untried, unsupported) =
            (self.found.runs.len(), self.found.untried.len(), self.found.unsupported.len());
        self.covered = [before, after].map(Coverage::of);
        self.works = None;
        let chosen = self.runner.searches.chosen();
        let mut inputs = Inputs::new(before, Some(after), &launch, plan.most, prepare::seed(options), chosen);
        if plan.without_zeros {
            inputs.without_zeros();
        }
        if self.runner.searches.shares_looks() && !plan.is_only_looked_at() {
            self.keep_inputs(programs, &launch, &mut inputs, (options, plan));
        }
        let least = plan.least.min(inputs.count());
        let narrow = match plan.may_be_followed {
            true => narrower(launch.workgroups, launch.wide.unwrap_or(ONE)).len().min(MOST_NARROW) as u64,
            false => 0,
        };
        let plan = &Plan { kept: plan.fuel / PART_OF_NARROW * narrow, ..*plan };
        let whole = self.runner.deadline;
        if plan.scouted > 0 && !plan.is_only_looked_at() {
            // Looks may show what searches have no time for.
            self.runner.deadline = whole.map(Deadline::earlier);
        }
        let goes_on = plan.is_only_looked_at() || self.inputs(programs, &launch, &mut inputs, least)?;
        self.runner.deadline = whole;
        if goes_on && plan.scouted > 0 {
            let plan = self.shared(programs, plan, runs);
            self.scout(programs, &launch, &mut inputs, runs, &plan)?;
        }
        if !plan.is_only_looked_at() {
            // Sizes fit one launch: those of the one that is searched serve the next step.
            let chosen = inputs.into_chosen(&mut self.runner.searches.kept);
            self.runner.searches.choose(chosen);
        }
        let [of_before, of_after] = &self.covered;
        self.found.executed.push([of_before.executed(before), of_after.executed(after)]);
        let is_idle = self.works == Some(false);
        let came = Came::of(&self.found.runs[runs..], &self.found.untried[untried..], is_idle);
        Ok((self.found.unsupported.len() == unsupported).then_some((index, came)))
    }

    /// Runs at least so many inputs, and more as long as they cost little and there is time; false where others need not or
    /// cannot be run.
    fn inputs(
        &mut self,
        programs: &Programs,
        launch: &Launch,
        inputs: &mut Inputs<'_>,
        least: u32,
    ) -> Result<bool, CheckError> {
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let mut trial = |dispatch: &Dispatch, limits: &[u32]| {
            trial::touched(&programs.before, dispatch, limits, &is_over)
        };
        // That there are several workgroups costs no inputs, unless the user wants them.
        let is_wanted = self.options.launch.workgroups.is_some();
        let invocations = if is_wanted { launch.invocations() } else { launch.local_invocations() };
        let mut cost = 0_u64;
        while inputs.begun() < least || cost < DEAR {
            let left = least.saturating_sub(inputs.begun()).max(u32::from(inputs.left() > 0));
            let next = if is_over() { Ok(Next::OutOfTime) } else { inputs.next(&mut trial) };
            let mut next = prepare::supported(next, Role::Before)?;
            let mut ended = false;
            // Once more where it was too small.
            let known = self.found.runs.len();
            while let Ok(Next::Input(input)) = next {
                let input = self.calmed(programs, launch, inputs, input, &mut trial)?;
                let whole = self.runner.deadline;
                if input.name == Kind::Zeros.name() && inputs.left() > 0 {
                    // Zeros show least.
                    self.runner.deadline = whole.map(Deadline::sooner);
                }
                ended = self.input(programs, launch, input)?;
                self.runner.deadline = whole;
                let undefined = self.found.runs.get(known).map(|run| &run.before.behaviours.undefined);
                let is_too_small =
                    undefined.is_some_and(|found| found.iter().any(|(found, _)| is_out_of_bounds(found)));
                next = Ok(if is_too_small { inputs.resized(&mut trial)? } else { Next::Over });
                if !matches!(next, Ok(Next::Over)) {
                    self.found.runs.truncate(known);
                }
            }
            let is_defined = |run: &Run| run.comparison.verdict != Verdict::Vacuous;
            if self.found.runs.get(known).is_some_and(is_defined) {
                inputs.serve(true, false);
            }
            inputs.came(match self.found.runs.get(known) {
                Some(Run { entry, comparison: Comparison { unfinished: Some(cut), .. }, .. }) => {
                    self.runner.searches.cut(entry, *cut);
                    Was::Unfinished
                }
                Some(run) if is_defined(run) => Was::Defined,
                Some(_) | None => Was::Undefined,
            });
            self.found.runs.iter().skip(known).for_each(&mut *self.each);
            match next {
                Ok(Next::OutOfTime) => {
                    let entry = programs.before.entry.name.clone();
                    let launch = self.found.launches.len() - 1;
                    let why = Missed::NoTime(timed_by(deadline));
                    let untried = Untried { entry, launch, inputs: left as usize, why };
                    self.found.untried.extend((left > 0).then_some(untried));
                    return Ok(true);
                }
                Ok(Next::Input(_) | Next::Over) => {}
                Err(unsupported) => {
                    self.found.unsupported.push(unsupported);
                    return Ok(false);
                }
            }
            if ended || inputs.left() == 0 {
                return Ok(!ended);
            }
            let explored = self.found.runs.last().map_or(0, Run::explored);
            cost = explored.saturating_mul(invocations).saturating_add(cost);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_narrower_along_each_dimension_that_is_read() {
        assert_eq!(narrower([2, 2, 1], ONE), [[4, 1, 1], [1, 4, 1], ONE]);
        assert_eq!(narrower([4, 1, 1], ONE), [ONE]);
        // In y and z, more would be too many.
        assert_eq!(narrower([2, 1, 1], [1, 2, 3]), [[4, 1, 1], [1, 4, 1], [1, 1, 4], ONE]);
        assert_eq!(narrower(ONE, ONE), [ONE; 0]);
    }
}

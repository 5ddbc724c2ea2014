//! Specialisation constants as inputs: after the usual launch, both modules are specialised with other values of the
//! SpecIds that matter to before, by SpecId alike, lowered and launched again (docs/semantics.md, section 3.7).

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::choices::LaunchChoice;
use super::error::CheckError;
use super::launched::{Plan, DEAR};
use super::launches::{Came, PassedOver};
use super::pair::{Checker, Programs};
use super::prepare::{self, Lowered};
use super::reason::Reason;
use super::result::{FrozenSpec, Role, Run};
use super::specialisations::{specialisations, Specialised};
use crate::check::CheckOptions;
use crate::compare::Verdict;
use crate::coverage;
use crate::ir::{Line, Program};
use crate::launch::{given_specialisation, Size3};
use crate::lower::{self, SpecTarget, SpecUse, SpecValue, Specialisation};

/// Inputs of each further specialisation: searched, where they cost little, and looked at besides.
const SEARCHED: u32 = 2;
const LOOKED_AT: u32 = 12;

/// What those looks may cost in instructions.
const FUEL_OF_LOOKS: u64 = 600_000;

/// The same where what was changed and never ran may run.
const LOOKED_AT_TO_RUN: u32 = 512;
const FUEL_TO_RUN: u64 = 8_000_000;

/// Most invocations of a workgroup whose size was chosen.
const MOST_INVOCATIONS: u32 = 1 << 10;

/// Executions that a search of a specialisation may have in any case.
const LEAST_EXECUTIONS: u64 = 1 << 16;

impl Checker<'_> {
    /// The SpecIds that can be varied. Those that after has frozen are noted; `None` where the launch gives one of them
    /// another value than its default.
    pub(super) fn spec_uses(
        &mut self,
        before: &Program,
        after: &Program,
    ) -> Result<Option<Vec<SpecUse>>, CheckError> {
        if before.spec_constants.iter().all(|constant| constant.spec_id.is_none()) {
            return Ok(Some(Vec::new()));
        }
        let launch = &self.options.launch;
        let fixed = given_specialisation(launch, |name| self.before.id_named(name), before)?;
        let uses = lower::spec_uses(self.before, &before.entry.name);
        let (kept, frozen): (Vec<SpecUse>, Vec<SpecUse>) = uses
            .into_iter()
            .partition(|one| after.spec_constants.iter().any(|other| other.spec_id == Some(one.spec_id)));
        let mut can_compare = true;
        for SpecUse { spec_id, default, .. } in frozen {
            let given = fixed.get(&spec_id).filter(|_| launch.local_size.is_none());
            if given.is_some_and(|given| *given != default) {
                self.found.reasons.push(Reason::FrozenAt { spec_id });
                can_compare = false;
            }
            let frozen = FrozenSpec { spec_id, default };
            if !self.found.frozen.contains(&frozen) {
                self.found.frozen.push(frozen);
            }
        }
        let free = kept.into_iter().filter(|one| !fixed.contains_key(&one.spec_id)).collect();
        Ok(can_compare.then_some(free))
    }

    /// Whether a SpecId matters to either module.
    pub(super) fn is_specialised(&self, before: &Program, after: &Program) -> bool {
        [(self.before, before), (self.after, after)].into_iter().any(|(module, program)| {
            let has_ids = program.spec_constants.iter().any(|constant| constant.spec_id.is_some());
            has_ids && !lower::spec_uses(module, &program.entry.name).is_empty()
        })
    }

    /// Tries other specialisations than that of the launch with this number, which came to this.
    pub(super) fn vary(
        &mut self,
        usual: &Programs,
        uses: &[SpecUse],
        number: usize,
        came: Came,
    ) -> Result<(), CheckError> {
        // A before that is undefined with what it was compiled for is told as such, whatever it is with other values.
        let says_nothing = matches!(came.undecided(), Some(PassedOver::Unfinished | PassedOver::Vacuous));
        if came.verdict() == Verdict::Violates || says_nothing {
            return Ok(());
        }
        let of_launch = |number: usize| move |run: &&Run| run.launch == number;
        let cost_of = |runs: &[Run], number| {
            let runs = runs.iter().filter(of_launch(number));
            runs.map(|run| run.explored().saturating_mul(run.before.dispatch.places.len() as u64))
                .sum::<u64>()
        };
        let runs = &self.found.runs;
        let (cost, largest) =
            (cost_of(runs, number), runs.iter().filter(of_launch(number)).map(Run::explored).max());
        // A power of two, so that steps of a pipeline with much the same searches have the same bound.
        let bound =
            largest.unwrap_or(0).saturating_mul(2).clamp(LEAST_EXECUTIONS, 1 << 62).next_power_of_two();
        let is_dear = cost >= DEAR;
        let searched = if is_dear { 1 } else { SEARCHED };
        let is_scouted = self.options.launch.inputs.is_none();
        let plan = |(looks, fuel): (u32, u64)| Plan {
            least: searched + 1,
            most: searched + 1,
            without_zeros: true,
            scouted: if is_scouted { looks } else { 0 },
            fuel,
            kept: 0,
            deep_fuel: 0,
            may_be_followed: false,
        };
        let workgroups = Size3(self.found.launches[number].workgroups);
        let unseen = self.changed_and_unseen();
        let all = specialisations(uses, prepare::seed(self.options)).into_iter();
        let mut all: Vec<(usize, Specialised)> =
            all.map(|values| (self.may_run(usual, workgroups, &values, &unseen), values)).collect();
        // Those first in which what was changed and never ran may run.
        all.sort_by_key(|(may_run, _)| Reverse(*may_run));
        let (mut spent, mut left) = (0_u64, all.len());
        self.runner.max_executions = bound;
        for (may_run, values) in all {
            let is_over = self.runner.deadline.is_some_and(|deadline| deadline.is_over());
            if is_over || spent >= DEAR.max(cost / 2) {
                self.found
                    .warnings
                    .push(format!("{left} more specialisations were not tried: they take too long"));
                break;
            }
            left -= 1;
            let first = self.found.launches.len();
            let looks = match may_run {
                0 if self.runner.searches.shares_looks() => (0, 0),
                0 => (LOOKED_AT, FUEL_OF_LOOKS),
                _ => (LOOKED_AT_TO_RUN, FUEL_TO_RUN),
            };
            let ended = self.specialised(usual, workgroups, values, &plan(looks))?;
            spent = spent.saturating_add(cost_of(&self.found.runs, first));
            if ended {
                break;
            }
        }
        self.runner.max_executions = self.options.bounds.max_executions;
        Ok(())
    }

    /// Runs one specialisation; true where it violates.
    fn specialised(
        &mut self,
        usual: &Programs,
        workgroups: Size3,
        values: Specialised,
        plan: &Plan,
    ) -> Result<bool, CheckError> {
        let specs: Vec<String> = values.iter().map(|(id, value)| format!("{id}={value}")).collect();
        let options = self.options_with(usual, workgroups, &values);
        let programs = match self.respecialised(usual, &options) {
            Ok(programs) => programs,
            Err(why) => {
                self.pass_over(&specs, &why);
                return Ok(false);
            }
        };
        let differences = Reason::differences(&programs.before, &programs.after);
        if !differences.is_empty() {
            let at = |reason| Reason::At { specs: specs.clone(), reason: Box::new(reason) };
            self.found.reasons.extend(differences.into_iter().map(at));
            return Ok(false);
        }
        let marks = (self.found.launches.len(), self.found.runs.len(), self.found.unsupported.len());
        let (came, why) = match self.launch(&programs, &options, plan) {
            Ok(came) => (came, String::new()),
            Err(CheckError::Launch(error)) => (None, error.to_string()),
            Err(error) => return Err(error),
        };
        let Some((index, came)) = came else {
            let unsupported = self.found.unsupported.drain(marks.2..).map(|one| one.what).next();
            self.found.launches.truncate(marks.0);
            self.found.undistinguished.truncate(marks.0);
            self.found.executed.truncate(marks.0);
            self.found.runs.truncate(marks.1);
            self.found.untried.retain(|one| one.launch < marks.0);
            self.pass_over(&specs, &unsupported.unwrap_or(why));
            return Ok(false);
        };
        let runs = self.found.runs.get(marks.1..).unwrap_or(&[]);
        let is_cut = runs.iter().any(|run| run.comparison.unfinished.is_some() || run.comparison.bounded)
            || self.found.untried.iter().any(|one| one.launch == index);
        let launch = &mut self.found.launches[index];
        launch.varied = values;
        launch.passed_over = match came.verdict() {
            Verdict::Violates => None,
            Verdict::Refines if is_cut => Some(PassedOver::Unfinished),
            Verdict::Refines | Verdict::Error | Verdict::Vacuous | Verdict::Inconclusive => came.undecided(),
        };
        Ok(came.verdict() == Verdict::Violates)
    }

    /// The options of a launch with these values.
    fn options_with(&self, usual: &Programs, workgroups: Size3, values: &Specialised) -> CheckOptions {
        let mut options = self.options.clone();
        options.launch.entry = Some(usual.before.entry.name.clone());
        options.launch.spec.extend(values.iter().map(|(id, value)| Specialisation {
            target: SpecTarget::SpecId(*id),
            value: SpecValue::Text(value.clone()),
        }));
        // How many workgroups there are depends on their size, unless the verdict rests on a number.
        let is_usual =
            |launch: &&LaunchChoice| !launch.is_varied() && launch.entry == usual.before.entry.name;
        let first = self.found.launches.iter().find(is_usual).map(|first| first.workgroups);
        let rests_on_fewer = workgroups.0 == [1; 3] || first.is_some_and(|first| first != workgroups.0);
        if rests_on_fewer && self.options.launch.workgroups.is_none() && usual.before.entry.is_compute() {
            options.launch.workgroups = Some(workgroups);
        }
        options
    }

    /// The lines of each module to which none of the other one corresponds, and which no launch has executed.
    pub(super) fn changed_and_unseen(&self) -> [BTreeSet<Line>; 2] {
        let mut changed = self.changed();
        for executed in &self.found.executed {
            for (lines, executed) in changed.iter_mut().zip(executed) {
                lines.retain(|line| !executed.ran.contains(line));
            }
        }
        changed
    }

    /// How many blocks with these lines some input may lead to, with these values.
    fn may_run(
        &mut self,
        usual: &Programs,
        workgroups: Size3,
        values: &Specialised,
        lines: &[BTreeSet<Line>; 2],
    ) -> usize {
        if lines.iter().all(BTreeSet::is_empty) {
            return 0;
        }
        let options = self.options_with(usual, workgroups, values);
        let Ok(programs) = self.respecialised(usual, &options) else { return 0 };
        let sides = [&programs.before, &programs.after].into_iter().zip(lines);
        let blocks = sides.map(|(program, lines)| {
            let reached = coverage::may_be_reached(program);
            coverage::blocks_on(program, lines).intersection(&reached).count()
        });
        blocks.sum()
    }

    /// Both modules lowered with other values, or why that is not possible.
    fn respecialised(&mut self, usual: &Programs, options: &CheckOptions) -> Result<Programs, String> {
        let launch = &options.launch;
        let lowered = |module, role, specialisation| {
            let lower = prepare::lower_options(launch, launch.entry.clone(), specialisation);
            match prepare::lower_module(module, role, &lower) {
                Ok(Lowered::Program(program)) => Ok(*program),
                Ok(Lowered::Unsupported(list)) => {
                    Err(list.into_iter().map(|one| one.what).collect::<Vec<_>>().join("; "))
                }
                Err(error) => Err(error.to_string()),
            }
        };
        let before = lowered(self.before, Role::Before, launch.spec.clone())?;
        let specialisation = prepare::specialisation_of_after(launch, self.before, &before);
        let after = lowered(self.after, Role::After, specialisation.map_err(|error| error.to_string())?)?;
        let size = |program: &Program| {
            program.entry.local_size.iter().fold(1_u32, |product, extent| product.saturating_mul(*extent))
        };
        if size(&before) > MOST_INVOCATIONS.max(size(&usual.before)) {
            return Err(format!("a workgroup has more than {MOST_INVOCATIONS} invocations"));
        }
        let known = [&before, &after].map(|program| self.runner.searches.known(program));
        Ok(Programs { before, after, known })
    }

    fn pass_over(&mut self, specs: &[String], why: &str) {
        let specs = format!("--spec {}", specs.join(" --spec "));
        match self.found.passed_over.iter_mut().find(|(known, _)| known == why) {
            Some((_, all)) => all.push(specs),
            None => self.found.passed_over.push((why.to_owned(), vec![specs])),
        }
    }
}

//! Steps of a pipeline: each begins with the inputs of those before it, and further ones are looked at where what was changed
//! does not run on these, or before is undefined on them. Steps share the instructions for that.

use super::launched::Plan;
use super::options::CheckOptions;
use super::pair::{Checker, Programs};
use super::result::{Missed, Run, Untried};
use crate::compare::Verdict;
use crate::coverage;
use crate::launch::inputs::Inputs;
use crate::launch::Launch;

/// Instructions that looks of a step may cost in any case.
pub(super) const STEP_FUEL: u64 = 60_000;

impl Checker<'_> {
    /// The first inputs of a launch are those of the checks before, unless the user wants a number of them.
    pub(super) fn keep_inputs(
        &mut self,
        programs: &Programs,
        launch: &Launch,
        inputs: &mut Inputs<'_>,
        (options, plan): (&CheckOptions, &Plan),
    ) {
        if options.launch.inputs.is_some() {
            return;
        }
        let kept = &mut self.runner.searches.kept;
        let specialised = (launch, &options.launch.spec[..]);
        let left_out = inputs.keep(kept, (&programs.before, &programs.after), specialised, plan.least);
        if left_out.inputs == 0 {
            return;
        }
        let entry = programs.before.entry.name.clone();
        let why = Missed::StepBefore(self.runner.searches.cuts(&entry));
        let launch = self.found.launches.len() - 1;
        let untried = Untried { entry, launch, inputs: left_out.inputs, why };
        match left_out.are_most {
            true => self.found.untried.push(untried),
            // The others say enough.
            false => self.found.warnings.push(untried.reason().to_string()),
        }
    }

    /// What is looked at in a launch whose runs begin with this one, as far as checks share that.
    pub(super) fn shared(&mut self, programs: &Programs, plan: &Plan, first: usize) -> Plan {
        let [before, after] = &programs.known;
        if !self.runner.searches.shares_looks() || plan.is_only_looked_at() || before.is_same(after) {
            return Plan { ..*plan };
        }
        let mut runs = self.found.runs.iter().skip(first);
        let is_vacuous = |run: &Run| run.comparison.verdict == Verdict::Vacuous;
        let fuel = match runs.all(is_vacuous) || self.misses_changed(programs) {
            true => self.runner.searches.draw(plan.fuel).max(STEP_FUEL),
            false => STEP_FUEL,
        };
        Plan { fuel: fuel.min(plan.fuel), kept: 0, ..*plan }
    }

    /// Whether something that was changed, and that may run, has not run in any launch, this one included.
    pub(super) fn misses_changed(&self, programs: &Programs) -> bool {
        let Programs { before, after, .. } = programs;
        let unseen = self.changed_and_unseen();
        let sides = unseen.into_iter().zip([before, after]).zip(&self.covered);
        sides.into_iter().any(|((mut lines, program), covered)| {
            let ran = covered.executed(program).ran;
            lines.retain(|line| !ran.contains(line));
            let blocks = coverage::blocks_on(program, &lines);
            !blocks.is_disjoint(&coverage::may_be_reached(program))
        })
    }
}

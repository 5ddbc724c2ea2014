//! Differences in floats. If floats may be the cause of a difference, both modules are run once more, with an
//! interval for every float that an implementation may compute otherwise. Then the intervals in the final memory
//! are compared.
//!
//! Such a run is one interleaving, so it is meaningful only for modules that have one outcome each. It must end
//! with that outcome, and only float values may depend on floats.
//!
//! Where that decides nothing, the two are followed side by side: what both compute of the same bits is what was
//! computed, and only behind what differs there are intervals.

mod final_memory;
mod outside;
mod quads;
mod run;
#[cfg(test)]
mod tests;

use crate::behaviour::{Behaviours, End, Outcome};
use crate::compare::{Comparison, Difference, Names, Obstacle, Subject, ViolationKind};
use crate::dispatch::Dispatch;
use crate::interp::Following;
use crate::ir::Program;

pub(super) use outside::Permissions;
use run::{Run, Seen};

/// One side, as it was explored.
#[derive(Clone, Copy)]
pub(super) struct IntervalSide<'a> {
    pub program: &'a Program,
    pub dispatch: &'a Dispatch,
    pub behaviours: &'a Behaviours,
}

/// Which results of floats may stand for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tolerance {
    /// What the environment permits.
    Permitted,
    /// So many units in the last place.
    Units(u32),
}

/// What the intervals say of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Every result of after is one that before may have.
    Permitted,
    /// No permitted result explains it; for memory, where.
    Violates(Option<Difference>),
    /// Nothing.
    Unknown(Obstacle),
}

/// Judges the violation that the comparison found.
pub(super) fn judge(
    [before, after]: [IntervalSide<'_>; 2],
    names: Names,
    comparison: &Comparison,
    tolerance: Tolerance,
) -> Judgement {
    let judging = Judging { before, after, names, comparison, tolerance };
    judging.judge().unwrap_or_else(Judgement::Unknown)
}

/// Whether nothing was cut.
fn is_whole(behaviours: &Behaviours) -> bool {
    behaviours.complete && behaviours.bounded.is_none() && behaviours.stopped.is_none()
}

fn only_outcome(behaviours: &Behaviours) -> Option<&Outcome> {
    let [(outcome, _)] = &behaviours.outcomes[..] else { return None };
    (outcome.end == End::Terminated && behaviours.undefined.is_empty()).then_some(outcome)
}

/// The outcome of a side that one run stands for.
fn outcome_of<'a>(side: IntervalSide<'a>, name: &'static str) -> Result<&'a Outcome, Obstacle> {
    if !is_whole(side.behaviours) {
        return Err(Obstacle::Unfinished { side: name });
    }
    only_outcome(side.behaviours).ok_or(Obstacle::SeveralOutcomes { side: name })
}

struct Judging<'a> {
    before: IntervalSide<'a>,
    after: IntervalSide<'a>,
    names: Names,
    comparison: &'a Comparison,
    tolerance: Tolerance,
}

impl Judging<'_> {
    fn judge(&self) -> Result<Judgement, Obstacle> {
        let Judging { before, after, names, .. } = *self;
        outcome_of(before, names.before)?;
        let modes = before.program.modes.floats;
        // With instructions decorated alone, the intervals hold what these may lose.
        let ways = [run::ways(before, names.before), run::ways(after, names.after)];
        match self.judge_ways(ways, modes.unbounded) {
            Ok(Judgement::Unknown(_)) | Err(_) => {}
            Ok(judgement) => return Ok(judgement),
        }
        let counted = [before, after].map(|side| run::run(side, Following::Counting).computations);
        let common = counted[0].common(&counted[1]);
        let side_by_side = Following::SideBySide(&common);
        let beside = [before, after].map(|side| run::run(side, side_by_side));
        self.judge_runs(beside, modes.always_inexact.is_some())
    }

    /// Judges all ways of both sides: a violation is one between every way of after and every way of before; permitted is
    /// what some way of before permits, whichever way after goes.
    fn judge_ways(
        &self,
        [before, after]: [Result<Vec<Seen>, Obstacle>; 2],
        relaxed: bool,
    ) -> Result<Judgement, Obstacle> {
        let (before, after) = (before?, after?);
        let (mut violates, mut permitted) = (None, true);
        let mut all_violate = true;
        for (number, way) in after.iter().enumerate() {
            let mut is_permitted = false;
            for (other, of_before) in before.iter().enumerate() {
                match self.judge_pair([of_before, way], [other == 0, number == 0], relaxed) {
                    Ok(Judgement::Violates(place)) => violates = violates.or(Some(place)),
                    Ok(Judgement::Permitted) => (all_violate, is_permitted) = (false, true),
                    other @ (Ok(Judgement::Unknown(_)) | Err(_)) if before.len() * after.len() == 1 => {
                        return other;
                    }
                    Ok(Judgement::Unknown(_)) | Err(_) => all_violate = false,
                }
            }
            permitted &= is_permitted;
        }
        match violates.filter(|_| all_violate) {
            Some(place) => Ok(Judgement::Violates(place)),
            None if permitted => Ok(Judgement::Permitted),
            None => Err(Obstacle::OtherEnd { side: self.names.after }),
        }
    }

    /// `relaxed`: see [`final_memory::compare`].
    fn judge_runs(&self, [run_before, run_after]: [Run; 2], relaxed: bool) -> Result<Judgement, Obstacle> {
        let seen_before = run_before.end(self.names.before)?;
        let seen_after = run_after.end(self.names.after)?;
        self.judge_pair([&seen_before, &seen_after], [true; 2], relaxed)
    }

    /// `as_computed`: whether all branches of each go as they were computed, so that it ends as its search did.
    fn judge_pair(
        &self,
        [seen_before, seen_after]: [&Seen; 2],
        as_computed: [bool; 2],
        relaxed: bool,
    ) -> Result<Judgement, Obstacle> {
        let Judging { before, after, names, comparison, tolerance } = *self;
        let Some(violation) = &comparison.violation else {
            return Err(Obstacle::OtherEnd { side: names.after });
        };
        let first = outcome_of(before, names.before)?;
        let ends_otherwise = as_computed[0] && seen_before.outcome(before.dispatch) != first.memory;
        if seen_before.fault.is_some() || ends_otherwise {
            return Err(Obstacle::OtherEnd { side: names.before });
        }
        match (violation.kind, violation.subject) {
            (ViolationKind::NewOutcome, Subject::Outcome(_)) => {
                let second = outcome_of(after, names.after)?;
                for (side, outcome) in [(names.before, first), (names.after, second)] {
                    if !outcome.volatile.iter().all(Vec::is_empty) {
                        return Err(Obstacle::VolatileAccesses { side });
                    }
                }
                let ends_otherwise = as_computed[1] && seen_after.outcome(after.dispatch) != second.memory;
                if seen_after.fault.is_some() || ends_otherwise {
                    return Err(Obstacle::OtherEnd { side: names.after });
                }
                final_memory::compare(
                    [(before.dispatch, seen_before), (after.dispatch, seen_after)],
                    tolerance,
                    relaxed,
                )
            }
            (ViolationKind::NewUndefined, Subject::Undefined(index)) => {
                let found = after.behaviours.undefined.get(index).map(|(undefined, _)| undefined.kind);
                if found.is_some() && found == seen_after.fault {
                    Ok(Judgement::Violates(None))
                } else {
                    Err(Obstacle::OtherEnd { side: names.after })
                }
            }
            // Who races hangs on no float: nobody communicates where a branch may go otherwise.
            (ViolationKind::NewRace, Subject::Undefined(_)) => match seen_after.fault {
                None => Ok(Judgement::Violates(None)),
                Some(_) => Err(Obstacle::OtherEnd { side: names.after }),
            },
            (
                ViolationKind::NewHang
                | ViolationKind::VolatileTrace
                | ViolationKind::NewOutcome
                | ViolationKind::NewUndefined
                | ViolationKind::NewRace,
                Subject::Outcome(_) | Subject::Part(..) | Subject::Undefined(_),
            ) => Err(Obstacle::OtherEnd { side: names.after }),
        }
    }
}

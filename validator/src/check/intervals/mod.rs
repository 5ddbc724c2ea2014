//! Differences in floats. If floats may be the cause of a difference, both modules are run once more, with an
//! interval for every float that an implementation may compute otherwise. Then the intervals in the final memory
//! are compared.
//!
//! Such a run is one interleaving. It is meaningful where it comes to all outcomes that the search found: to the only one,
//! or in several ways to as many, where undefined values are any and nobody sees what another invocation writes. A branch
//! that may go otherwise for floats is followed both ways; beside that only values of floats may depend on floats.
//!
//! Where that decides nothing, the two are followed side by side: what both compute of the same bits is what was
//! computed, and only behind what differs there are intervals.

mod final_memory;
mod outside;
mod quads;
mod run;
#[cfg(test)]
mod subgroup_tests;
#[cfg(test)]
mod tests;

use crate::behaviour::{Behaviours, Deadline, End, Outcome};
use crate::compare::{Comparison, Difference, Names, Obstacle, Subject, ViolationKind};
use crate::dispatch::Dispatch;
use crate::interp::Following;
use crate::ir::Program;

pub(super) use outside::Permissions;
use run::{Run, Seen, Unfollowed, Way, Ways};

/// One side, as it was explored.
#[derive(Clone, Copy)]
pub(super) struct IntervalSide<'a> {
    pub program: &'a Program,
    pub dispatch: &'a Dispatch,
    pub behaviours: &'a Behaviours,
    /// When runs with intervals must have ended.
    pub deadline: Option<Deadline>,
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

/// The outcomes of a side whose search was not cut; it terminates in each, without undefined behaviour.
fn outcomes_of<'a>(side: IntervalSide<'a>, name: &'static str) -> Result<Vec<&'a Outcome>, Obstacle> {
    if !is_whole(side.behaviours) {
        return Err(Obstacle::Unfinished { side: name });
    }
    let outcomes: Vec<&Outcome> = side.behaviours.outcomes.iter().map(|(outcome, _)| outcome).collect();
    let all_end = outcomes.iter().all(|outcome| outcome.end == End::Terminated);
    match side.behaviours.undefined.is_empty() && all_end && !outcomes.is_empty() {
        true => Ok(outcomes),
        false => Err(Obstacle::SeveralOutcomes { side: name }),
    }
}

/// The outcome of a side that one run stands for.
fn outcome_of<'a>(side: IntervalSide<'a>, name: &'static str) -> Result<&'a Outcome, Obstacle> {
    match outcomes_of(side, name)?[..] {
        [outcome] => Ok(outcome),
        _ => Err(Obstacle::SeveralOutcomes { side: name }),
    }
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
        outcomes_of(before, names.before)?;
        let modes = before.program.modes.floats;
        // With instructions decorated alone, the intervals hold what these may lose.
        let ways = [run::ways(before, names.before), run::ways(after, names.after)];
        match self.judge_ways(ways, modes.unbounded) {
            Ok(Judgement::Unknown(_)) => {}
            // They run as long then.
            Err(obstacle @ (Obstacle::TooLong { .. } | Obstacle::OutOfTime { .. })) => return Err(obstacle),
            Err(_) => {}
            Ok(judgement) => return Ok(judgement),
        }
        // There is one way alone from here on.
        outcome_of(before, names.before)?;
        if after.behaviours.undefined.is_empty() {
            outcome_of(after, names.after)?;
        }
        let counted = [before, after].map(|side| run::run(side, Following::Counting).computations);
        let common = counted[0].common(&counted[1]);
        let side_by_side = Following::SideBySide(&common);
        let beside = [before, after].map(|side| run::run(side, side_by_side));
        self.judge_runs(beside, modes.always_inexact.is_some())
    }

    /// Judges all ways of both sides. Of before's, all together enclose what it may do. One of after's that is possible and
    /// violates against each of these is enough; where its branches may go otherwise, none is known to be possible, so that
    /// all of them have to. Permitted is what some way of before permits, whichever way after goes, where before is known
    /// to go it.
    fn judge_ways(
        &self,
        [before, after]: [Result<Ways, Unfollowed>; 2],
        relaxed: bool,
    ) -> Result<Judgement, Obstacle> {
        let before = before.map_err(|before| before.obstacle)?;
        self.is_all(self.before, &before, self.names.before)?;
        let after = match after {
            Ok(after) => after,
            Err(after) if after.is_as_computed && self.is_about_end() => {
                let outcomes = outcomes_of(self.before, self.names.before)?;
                return match before.ways.iter().all(|way| is_searched(self.before, way, &outcomes)) {
                    true => Ok(Judgement::Violates(None)),
                    false => Err(Obstacle::OtherEnd { side: self.names.before }),
                };
            }
            Err(after) => return Err(after.obstacle),
        };
        let (mut place, mut all_violate, mut all_permitted) = (None, true, !before.has_flips);
        for way in &after.ways {
            let (mut violates, mut is_permitted) = (None, false);
            let mut all = true;
            for of_before in &before.ways {
                match self.judge_pair([of_before, way], relaxed) {
                    Ok(Judgement::Violates(place)) => violates = violates.or(Some(place)),
                    Ok(Judgement::Permitted) => (all, is_permitted) = (false, true),
                    other @ (Ok(Judgement::Unknown(_)) | Err(_))
                        if before.ways.len() * after.ways.len() == 1 =>
                    {
                        return other;
                    }
                    Ok(Judgement::Unknown(_)) | Err(_) => all = false,
                }
            }
            match violates.filter(|_| all) {
                Some(found) => place = place.or(Some(found)),
                None => all_violate = false,
            }
            all_permitted &= is_permitted;
        }
        match place.filter(|_| all_violate || !after.has_flips) {
            Some(place) => Ok(Judgement::Violates(place)),
            None if all_permitted => {
                self.is_all(self.after, &after, self.names.after)?;
                Ok(Judgement::Permitted)
            }
            None => Err(Obstacle::OtherEnd { side: self.names.after }),
        }
    }

    /// Whether the ways that go as computed came to all outcomes that the search did.
    fn is_all(&self, side: IntervalSide<'_>, ways: &Ways, name: &'static str) -> Result<(), Obstacle> {
        let computed = || ways.ways.iter().filter(|way| way.is_as_computed && way.seen.fault.is_none());
        let came_to: Vec<_> = computed().map(|way| way.seen.outcome(side.dispatch)).collect();
        let outcomes = &side.behaviours.outcomes;
        match outcomes.iter().all(|(outcome, _)| came_to.contains(&outcome.memory)) {
            true => Ok(()),
            false if outcomes.len() == 1 => Err(Obstacle::OtherEnd { side: name }),
            false => Err(Obstacle::SeveralOutcomes { side: name }),
        }
    }

    /// `relaxed`: see [`final_memory::compare`].
    fn judge_runs(&self, [run_before, run_after]: [Run; 2], relaxed: bool) -> Result<Judgement, Obstacle> {
        let way = |seen| Way { seen, is_as_computed: true };
        let [before, after] = [run_before.end(self.names.before)?, run_after.end(self.names.after)?].map(way);
        self.judge_pair([&before, &after], relaxed)
    }

    /// Whether the violation is that after has an undefined behaviour or hangs. The search found that where floats are as
    /// computed, which is permitted; where after does that whatever its floats are, it need not be followed so far.
    fn is_about_end(&self) -> bool {
        match self.comparison.violation.as_ref().map(|violation| violation.kind) {
            Some(ViolationKind::NewUndefined | ViolationKind::NewRace | ViolationKind::NewHang) => true,
            Some(ViolationKind::NewOutcome | ViolationKind::VolatileTrace) | None => false,
        }
    }

    fn judge_pair(&self, [of_before, of_after]: [&Way; 2], relaxed: bool) -> Result<Judgement, Obstacle> {
        let Judging { before, after, names, comparison, tolerance } = *self;
        let Some(violation) = &comparison.violation else {
            return Err(Obstacle::OtherEnd { side: names.after });
        };
        let outcomes = outcomes_of(before, names.before)?;
        if !is_searched(before, of_before, &outcomes) {
            return Err(Obstacle::OtherEnd { side: names.before });
        }
        let (seen_before, seen_after) = (&of_before.seen, &of_after.seen);
        match (violation.kind, violation.subject) {
            (ViolationKind::NewOutcome, Subject::Outcome(_)) => {
                let second = outcomes_of(after, names.after)?;
                for (side, outcomes) in [(names.before, &outcomes), (names.after, &second)] {
                    if outcomes.iter().any(|outcome| !outcome.volatile.iter().all(Vec::is_empty)) {
                        return Err(Obstacle::VolatileAccesses { side });
                    }
                }
                if !is_searched(after, of_after, &second) {
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
            // Who races hangs on no float: nobody communicates where a branch may go otherwise. If the run met a fault
            // before that, after is undefined all the same, and before is not.
            (ViolationKind::NewRace, Subject::Undefined(_)) => Ok(Judgement::Violates(None)),
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

/// Whether a way ends, and as the search did if its branches go as they were computed.
fn is_searched(side: IntervalSide<'_>, way: &Way, outcomes: &[&Outcome]) -> bool {
    let found = || way.seen.outcome(side.dispatch);
    way.seen.fault.is_none()
        && (!way.is_as_computed || outcomes.iter().any(|outcome| outcome.memory == found()))
}

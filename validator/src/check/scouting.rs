//! Inputs that are worth a search: both modules run once, one invocation after the other, on more inputs than are
//! searched. An input on which they end differently is searched, too.
//!
//! Such a run is one interleaving and decides nothing. That a change of what each invocation computes shows in it is
//! likely, and it costs a fraction of a search.

use super::error::CheckError;
use super::pair::{Checker, Programs};
use super::prepare;
use super::result::{Role, Run};
use super::run::Pair;
use crate::compare::Verdict;
use crate::dispatch::Dispatch;
use crate::ir::{Op, Program};
use crate::launch::inputs::{Inputs, Next};
use crate::launch::trial::{self, Ended};
use crate::launch::{Input, Launch};
use crate::value::Byte;

/// Inputs that are looked at beyond those that may be searched.
const SCOUTED: u32 = 96;

/// Instructions of all such runs of a pair.
const FUEL: u64 = 4_000_000;

/// What it costs to make an input and its memory, in instructions.
const LOOK: u64 = 30_000;

/// Of each workgroup whose invocations do not communicate, so many of the first and of the last ones run.
const RUN: usize = 6;

/// Inputs that are searched since both end differently on them, at most: where all of them turn out to be permitted, as
/// floats are, others are likely to be.
const MOST_SEARCHED: u32 = 4;

/// Of these, how many that are decided are enough.
const ENOUGH: u32 = 2;

impl Checker<'_> {
    /// Looks at further inputs, and searches those on which both modules end differently.
    pub(super) fn scout(
        &mut self,
        programs: &Programs,
        launch: &Launch,
        inputs: &mut Inputs<'_>,
    ) -> Result<(), CheckError> {
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let mut trial = |dispatch: &Dispatch| trial::touched(&programs.before, dispatch, &is_over);
        let [before, after] = &programs.known;
        if before.is_same(after) {
            return Ok(());
        }
        inputs.extend(SCOUTED);
        let (mut fuel, mut searched, mut decided) = (FUEL, 0, 0);
        let mut open = None;
        while inputs.left() > 0 && searched < MOST_SEARCHED && decided < ENOUGH {
            let Ok(Next::Input(mut input)) = prepare::supported(inputs.next(&mut trial), Role::Before)?
            else {
                break;
            };
            let mut look = self.look(programs, launch, &input)?;
            if matches!(look, Some((Look::Undefined, _))) {
                if let Ok(Next::Input(larger)) = prepare::supported(inputs.resized(&mut trial), Role::Before)?
                {
                    input = larger;
                    look = self.look(programs, launch, &input)?;
                }
            }
            let Some((look, cost)) = look else { break };
            self.found.looked_at += 1;
            let is_first = || self.found.runs.iter().all(|run| run.comparison.verdict == Verdict::Vacuous);
            if look == Look::Differently || look == Look::Alike && is_first() {
                searched += 1;
                let known = self.found.runs.len();
                let ended = self.input(programs, launch, input)?;
                match self.found.runs.get(known).map(|run| run.comparison.verdict) {
                    Some(Verdict::Violates | Verdict::Refines) => {
                        decided += 1;
                        self.found.runs.iter().skip(known).for_each(&mut *self.each);
                    }
                    // Another input may decide.
                    Some(Verdict::Inconclusive | Verdict::Vacuous | Verdict::Error) | None => {
                        let runs = self.found.runs.split_off(known);
                        let is_open = |run: &Run| run.comparison.verdict == Verdict::Inconclusive;
                        open = open.or_else(|| runs.into_iter().find(is_open));
                    }
                }
                if ended {
                    return Ok(());
                }
            }
            match fuel.checked_sub(cost) {
                Some(left) => fuel = left,
                None => break,
            }
        }
        if let Some(run) = open.filter(|_| decided == 0) {
            (self.each)(&run);
            self.found.runs.push(run);
        }
        Ok(())
    }

    /// How both end on an input, and what that cost; `None` where it cannot be seen.
    fn look(
        &mut self,
        programs: &Programs,
        launch: &Launch,
        input: &Input,
    ) -> Result<Option<(Look, u64)>, CheckError> {
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let pair = self.pair(programs, launch, input, String::new())?;
        Ok(pair.and_then(|pair| look(&pair, &is_over)))
    }
}

/// How both end on an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Alike,
    Differently,
    /// Before meets undefined behaviour, or may.
    Undefined,
}

/// Looks at how both end, and what that cost in instructions; `None` where there is no time or it cannot be seen.
fn look(pair: &Pair<'_>, is_over: &dyn Fn() -> bool) -> Option<(Look, u64)> {
    let invocations = invocations(pair);
    let synchronizes = has(pair.before, &|op| matches!(op, Op::Atomic(_)));
    let before = trial::ended(pair.before, &pair.before_dispatch, &invocations, is_over)?;
    let mut cost = before.executed.saturating_add(LOOK);
    if before.faulted || before.conflicts && !synchronizes {
        return Some((Look::Undefined, cost));
    }
    let after = trial::ended(pair.after, &pair.after_dispatch, &invocations, is_over)?;
    cost = cost.saturating_add(after.executed);
    if !before.whole || !after.whole && !after.faulted {
        return None;
    }
    let differ = after.faulted || differs(&pair.before_dispatch, &before, &pair.after_dispatch, &after);
    Some((if differ { Look::Differently } else { Look::Alike }, cost))
}

/// The invocations that run: all of the first workgroup where they communicate, else some of each.
fn invocations(pair: &Pair<'_>) -> Vec<u32> {
    let places = &pair.before_dispatch.places;
    let all = 0..places.len() as u32;
    let communicates = |program| {
        has(program, &|op| {
            matches!(
                op,
                Op::Barrier(_) | Op::Subgroup(_) | Op::Cooperative(_) | Op::Tensor(_) | Op::Atomic(_)
            )
        })
    };
    let group = |index: &u32| places.get(*index as usize).map(|place| place.workgroup);
    if communicates(pair.before) || communicates(pair.after) {
        return all.take_while(|index| group(index) == group(&0)).collect();
    }
    let indices: Vec<u32> = all.collect();
    let of_group = |members: &[u32]| {
        let last = members.len().saturating_sub(RUN).max(RUN.min(members.len()));
        let ends = members.iter().take(RUN).chain(members.iter().skip(last));
        ends.copied().collect::<Vec<u32>>()
    };
    indices.chunk_by(|a, b| group(a) == group(b)).flat_map(of_group).collect()
}

fn has(program: &Program, what: &dyn Fn(&Op) -> bool) -> bool {
    program.functions.iter().flat_map(|function| &function.code).any(|inst| what(&inst.op))
}

/// Whether after leaves something that before does not, in an object that outcomes show.
fn differs(before: &Dispatch, ended: &Ended, after: &Dispatch, other: &Ended) -> bool {
    let shown = before.objects.iter().enumerate().filter(|(_, object)| object.observed);
    shown.into_iter().any(|(index, object)| {
        let matching = after.objects.iter().position(|other| other.observed && other.key == object.key);
        // What after does not have is not compared here.
        matching.is_some_and(|matching| {
            let (old, new) = (bytes(before, ended, index), bytes(after, other, matching));
            old.iter().zip(new).any(|(old, new)| *old != Byte::Undef && old != new)
        })
    })
}

/// The final contents of an object.
fn bytes<'e>(dispatch: &Dispatch, ended: &'e Ended, object: usize) -> &'e [Byte] {
    let Some(object) = dispatch.objects.get(object) else { return &[] };
    let space = ended.memory.get(object.memory as usize).map_or(&[][..], Vec::as_slice);
    let start = object.view.unwrap_or(0) as usize;
    space.get(start..start + object.initial.len()).unwrap_or_default()
}

//! Single runs of both modules on an input: whose invocations run, how both end, and whether before does anything.

use std::collections::BTreeSet;

use super::pair::Programs;
use super::run::Pair;
use crate::dispatch::Dispatch;
use crate::ir::{Op, Program};
use crate::launch::trial::{self, Ended, BUDGET};
use crate::value::Byte;

/// What it costs to make an input and its memory, in instructions.
pub(super) const LOOK: u64 = 8_000;

/// Of each workgroup whose invocations do not communicate, so many of the first and of the last ones run.
const RUN: usize = 6;

/// So many of the first inputs that are looked at are no grafts.
const FIRST_PLAIN: u32 = 8;

/// Invocations of each workgroup that run in a repair at first.
const FEW: usize = 4;

/// Invocations that run, at most, where it is asked whether any conflict.
const WIDELY: usize = 1024;

/// Of so many workgroups, at most.
const FEW_GROUPS: usize = 4;

/// How both end on an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Alike,
    Differently,
    /// Before meets undefined behaviour, or may.
    Undefined,
    /// Before was not followed to its end: it took too long, or goes on forever.
    Endless,
    /// Before was, and after was not in the little time that it was given.
    Late,
    /// One of them was not followed to its end, for another reason.
    Unseen,
}

impl Look {
    /// Whether both were followed to an end.
    pub(super) const fn is_defined(self) -> bool {
        matches!(self, Look::Alike | Look::Differently)
    }

    /// Whether it ended before that.
    pub(super) const fn is_cut(self) -> bool {
        matches!(self, Look::Endless | Look::Late | Look::Unseen)
    }
}

/// What a look came to.
pub(super) struct Seen {
    pub(super) look: Look,
    /// Before leaves something else in memory than it found.
    pub(super) works: bool,
    /// One of them was cut for what it takes.
    pub(super) is_cut: bool,
    /// Instructions.
    pub(super) cost: u64,
}

/// Which workgroups run, where their invocations communicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    First,
    /// The first one and the last one.
    Both,
}

/// Inputs that were looked at and are no grafts.
#[derive(Default)]
pub(super) struct Plain {
    count: u32,
    /// Of these, on so many before is defined and works.
    defined: u32,
}

impl Plain {
    pub(super) fn note(&mut self, serves: bool) {
        self.count += 1;
        self.defined += u32::from(serves);
    }

    /// Whether before is undefined, or does nothing, on three in four.
    pub(super) fn are_mostly_undefined(&self) -> bool {
        self.count >= FIRST_PLAIN / 2 && self.defined * 4 < self.count
    }

    /// Whether the next input, of this number, should be a graft: every other one, and most where before is undefined, or
    /// does nothing, on what is none.
    pub(super) fn asks_for_grafts(&self, number: u32) -> bool {
        match self.count >= FIRST_PLAIN {
            true if self.defined * 4 < self.count => !number.is_multiple_of(8),
            true => !number.is_multiple_of(2),
            false => false,
        }
    }
}

/// What both modules need of a run.
pub(super) struct Scout {
    /// Invocations of a workgroup communicate by more than plain accesses.
    pub(super) communicate: bool,
    /// Before has atomic instructions, which may order what conflicts.
    pub(super) synchronizes: bool,
}

impl Scout {
    pub(super) fn of(programs: &Programs) -> Self {
        let communicates = |program| {
            has(program, &|op| {
                matches!(
                    op,
                    Op::Barrier(_) | Op::Subgroup(_) | Op::Cooperative(_) | Op::Tensor(_) | Op::Atomic(_)
                )
            })
        };
        Scout {
            communicate: communicates(&programs.before) || communicates(&programs.after),
            synchronizes: has(&programs.before, &|op| matches!(op, Op::Atomic(_))),
        }
    }

    /// Looks at how both end, each within so many instructions; `None` where there is no time.
    pub(super) fn look(
        &self,
        pair: &Pair<'_>,
        (ends, budget): (Ends, u64),
        is_over: &dyn Fn() -> bool,
    ) -> Option<Seen> {
        let invocations = self.invocations(&pair.before_dispatch, ends);
        let before = trial::ended(pair.before, &pair.before_dispatch, (&invocations, budget), is_over)?;
        let mut cost = before.executed.saturating_add(LOOK);
        if before.faulted > 0 || before.conflicts && !self.synchronizes {
            return Some(Seen { look: Look::Undefined, works: false, is_cut: false, cost });
        }
        let works = works(&pair.before_dispatch, &before);
        if before.unfinished > 0 {
            return Some(Seen { look: Look::Endless, works, is_cut: true, cost });
        }
        let after = trial::ended(pair.after, &pair.after_dispatch, (&invocations, budget), is_over)?;
        cost = cost.saturating_add(after.executed);
        let look = match (before.whole, after.whole) {
            // It might end within the whole budget.
            (true, _) if after.is_cut && after.faulted == 0 && budget < BUDGET => Look::Late,
            // Before ends, and after may not.
            (true, _) if after.faulted > 0 || after.unfinished > 0 => Look::Differently,
            (true, _) if after.conflicts && !before.conflicts => Look::Differently,
            (true, true) if differs(&pair.before_dispatch, &before, &pair.after_dispatch, &after) => {
                Look::Differently
            }
            (true, true) => Look::Alike,
            (true, false) | (false, _) => Look::Unseen,
        };
        Some(Seen { look, works, is_cut: after.is_cut && after.faulted == 0, cost })
    }

    /// Few invocations, in all corners of the first workgroups.
    pub(super) fn few(dispatch: &Dispatch) -> Vec<u32> {
        let group = |index: &u32| dispatch.places.get(*index as usize).map(|place| place.workgroup);
        let indices: Vec<u32> = (0..dispatch.places.len() as u32).collect();
        let of_group = |members: &[u32]| {
            let part = (members.len() / FEW).max(1);
            let is_end = |at: usize| at < 2 || at + 2 >= members.len();
            let chosen = members.iter().enumerate().filter(|(at, _)| is_end(*at) || at % part == part / 2);
            chosen.map(|(_, index)| *index).collect::<Vec<u32>>()
        };
        indices.chunk_by(|a, b| group(a) == group(b)).take(FEW_GROUPS).flat_map(of_group).collect()
    }

    /// The first two and the last invocation of the first workgroup, and the first of the last one.
    pub(super) fn handful(dispatch: &Dispatch) -> Vec<u32> {
        let group = |index: u32| dispatch.places.get(index as usize).map(|place| place.workgroup);
        let count = dispatch.places.len() as u32;
        let last = (0..count).take_while(|index| group(*index) == group(0)).last();
        let first_of_last = (0..count).rev().take_while(|index| group(*index) == group(count - 1)).last();
        let chosen: BTreeSet<u32> = [0, 1.min(count.saturating_sub(1))]
            .into_iter()
            .chain(last)
            .chain(first_of_last)
            .filter(|index| *index < count)
            .collect();
        chosen.into_iter().collect()
    }

    /// All invocations, where they are not too many.
    pub(super) fn widely(dispatch: &Dispatch) -> Vec<u32> {
        (0..dispatch.places.len().min(WIDELY) as u32).collect()
    }

    /// The invocations that run: all of the first workgroup, and of the last one, where they communicate, else some of each.
    pub(super) fn invocations(&self, dispatch: &Dispatch, ends: Ends) -> Vec<u32> {
        let group = |index: &u32| dispatch.places.get(*index as usize).map(|place| place.workgroup);
        let indices: Vec<u32> = (0..dispatch.places.len() as u32).collect();
        let mut groups = indices.chunk_by(|a, b| group(a) == group(b));
        if self.communicate {
            let first = groups.next().into_iter();
            let last = groups.next_back().filter(|_| ends == Ends::Both);
            return first.chain(last).flatten().copied().collect();
        }
        let of_group = |members: &[u32]| {
            let last = members.len().saturating_sub(RUN).max(RUN.min(members.len()));
            let ends = members.iter().take(RUN).chain(members.iter().skip(last));
            ends.copied().collect::<Vec<u32>>()
        };
        groups.flat_map(of_group).collect()
    }
}

fn has(program: &Program, what: &dyn Fn(&Op) -> bool) -> bool {
    program.functions.iter().flat_map(|function| &function.code).any(|inst| what(&inst.op))
}

/// Whether something that outcomes show is left that was not there.
fn works(before: &Dispatch, ended: &Ended) -> bool {
    // What a vertex or a fragment hands on is all that it does.
    if !before.inputs.is_empty() {
        return true;
    }
    let shown = before.objects.iter().enumerate().filter(|(_, object)| object.observed);
    let initial = before.initial_memory();
    shown
        .into_iter()
        .any(|(index, _)| before.contents(index, &ended.memory) != before.contents(index, &initial))
}

/// Whether after leaves something that before does not, in an object that outcomes show.
fn differs(before: &Dispatch, ended: &Ended, after: &Dispatch, other: &Ended) -> bool {
    let shown = before.objects.iter().enumerate().filter(|(_, object)| object.observed);
    shown.into_iter().any(|(index, object)| {
        let matching = after.objects.iter().position(|other| other.observed && other.key == object.key);
        // What after does not have is not compared here.
        matching.is_some_and(|matching| {
            let old = before.contents(index, &ended.memory);
            let new = after.contents(matching, &other.memory);
            old.iter().zip(new).any(|(old, new)| *old != Byte::Undef && old != new)
        })
    })
}

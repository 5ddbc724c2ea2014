//! Who may release a waiting read, and whether cycles of load buffering can go through it.
//!
//! A waiting read takes its value from a write to come, of an invocation that may itself wait. Where
//! nobody who can go on releases it, the executions behind it need a cycle of program order, reads-from and
//! barriers among those who wait. Which of these the axioms forbid: [`cycles`](super::cycles). What
//! load buffering may speculate: docs/semantics.md, section 3.6.

use smallvec::{smallvec, SmallVec};

use super::barriers::is_at_barrier;
use super::found::Found;
use super::search::Search;
use super::state::{self, State};
use crate::model::graph::Unit;
use crate::model::relation::Relation;

/// The invocations that wait, and for what.
pub(super) struct Waiting {
    /// Per invocation, the units whose writes to come would release it.
    pub(super) units: Vec<SmallVec<[Unit; 2]>>,
    /// Waits for a write.
    pub(super) reads: Vec<bool>,
    /// Can go on without anybody's help.
    pub(super) is_free: Vec<bool>,
    /// Row `a`: who may release `a`.
    pub(super) directly_released_by: Relation,
    /// Row `a`: who may release `a`, and who may release those.
    released_by: Relation,
    /// Per invocation, whether it is in a cycle that the axioms may allow.
    in_cycle: Vec<Option<bool>>,
}

impl Search<'_> {
    /// The waiting reads through which a cycle of load buffering may go.
    pub(super) fn buffered_loads(&self, state: &State, found: &mut Found) -> Vec<usize> {
        let mut waiting = self.waiting(state, found);
        (0..state.threads.len())
            .filter(|index| waiting.reads[*index] && self.in_cycle(state, &mut waiting, *index, found))
            .collect()
    }

    /// Whether a read may wait: something can still release it, and all others that wait.
    pub(super) fn can_be_released(&self, state: &State, reader: usize, found: &mut Found) -> bool {
        let mut waiting = self.who_waits(state, Some(reader), found);
        let count = state.threads.len();
        let is_released_at_once = |index: usize| {
            (0..count).any(|other| waiting.is_free[other] && self.may_release(state, &waiting, index, other))
        };
        // Mostly somebody can go on who releases them, and nothing else is to be known.
        if (0..count).all(|index| !waiting.reads[index] || is_released_at_once(index)) {
            return true;
        }
        self.relate(state, &mut waiting);
        (0..count).all(|index| {
            if !waiting.reads[index] {
                return true;
            }
            let spins =
                |index| self.reader(state, index).is_some_and(|other| self.is_spinning(state, &other));
            if index != reader && spins(index) {
                return true;
            }
            let releasing: Vec<usize> =
                std::iter::once(index).chain(waiting.released_by.row(index)).collect();
            releasing.iter().any(|other| waiting.is_free[*other])
                || releasing.iter().any(|other| self.in_cycle(state, &mut waiting, *other, found))
        })
    }

    /// Who waits, and who may release whom.
    fn waiting(&self, state: &State, found: &mut Found) -> Waiting {
        let mut waiting = self.who_waits(state, None, found);
        self.relate(state, &mut waiting);
        waiting
    }

    /// Who waits, if `also` does, too.
    fn who_waits(&self, state: &State, also: Option<usize>, found: &mut Found) -> Waiting {
        let count = state.threads.len();
        let mut waiting = Waiting {
            units: vec![SmallVec::new(); count],
            reads: vec![false; count],
            is_free: vec![false; count],
            directly_released_by: Relation::new(count),
            released_by: Relation::default(),
            in_cycle: vec![None; count],
        };
        for index in 0..count {
            let thread = &state.threads[index];
            let since = thread.waits_since.filter(|since| !self.has_new_source(state, index, *since));
            waiting.reads[index] = since.is_some() || also == Some(index);
            let stands = waiting.reads[index] || is_at_barrier(&thread.status) || thread.status.is_over();
            waiting.is_free[index] = !stands || waiting.reads[index] && self.may_be_excused(state, index);
            if waiting.reads[index] {
                let units = self
                    .reader(state, index)
                    .and_then(|reader| state::units_of(reader.access, reader.memory, self.knowledge, |_| {}));
                waiting.units[index] = units.into_iter().flatten().map(|(unit, _)| unit).collect();
                let keys = waiting.units[index].iter().map(|unit| self.knowledge.key(*unit));
                found.discoveries.wanted_writers.extend(keys);
            }
        }
        for index in 0..count {
            let gate = self.gate(state, index).filter(|(gate, _)| !waiting.is_free[*gate]);
            if let Some((gate, unit)) = gate {
                // It cannot read before the other has.
                waiting.is_free[index] = false;
                waiting.reads[index] = true;
                waiting.units[index] = smallvec![unit];
                waiting.directly_released_by.insert(index, gate);
                found.discoveries.wanted_writers.insert(self.knowledge.key(unit));
            }
        }
        waiting
    }

    /// Adds who may release whom.
    fn relate(&self, state: &State, waiting: &mut Waiting) {
        for index in 0..state.threads.len() {
            for other in 0..state.threads.len() {
                if self.may_release(state, waiting, index, other) {
                    waiting.directly_released_by.insert(index, other);
                }
            }
        }
        waiting.released_by = waiting.directly_released_by.clone();
        waiting.released_by.close();
    }

    /// Whether what another may still do lets an invocation go on from where it stands.
    fn may_release(&self, state: &State, waiting: &Waiting, index: usize, other: usize) -> bool {
        if index == other {
            return false;
        }
        match waiting.reads[index] {
            true => {
                let may_write = |unit: &Unit| {
                    self.may_write(state, other, *unit, None)
                        && (waiting.is_free[other] || self.is_in_outlook(state, other, *unit, None))
                };
                !self.follows(state, other, index) && waiting.units[index].iter().any(may_write)
            }
            // Whoever may still come to where it stands.
            false => is_at_barrier(&state.threads[index].status) && !state.threads[other].status.is_over(),
        }
    }

    /// Whether an invocation is in a cycle of those who release each other that the axioms may allow.
    fn in_cycle(&self, state: &State, waiting: &mut Waiting, index: usize, found: &mut Found) -> bool {
        if let Some(known) = waiting.in_cycle[index] {
            return known;
        }
        let axioms = self.context.settings.axioms;
        let released_by = &waiting.released_by;
        let members = released_by.row(index).filter(|other| released_by.contains(*other, index));
        let members: Vec<usize> = members.collect();
        let reads_again = |reader: usize| {
            // Through another reference it may release itself.
            self.reader(state, reader).is_some_and(|reader| !self.has_one_reference(reader.memory))
        };
        let answers = if waiting.reads[index] && (reads_again(index) || !axioms) {
            vec![(index, true)]
        } else if members.is_empty() || !axioms {
            vec![(index, !members.is_empty())]
        } else {
            self.in_open_cycles(state, waiting, &members, index, found)
        };
        if self.in_group && !members.is_empty() && answers.iter().any(|(_, answer)| !answer) {
            let units = waiting.units.iter().flatten();
            found.discoveries.closed.extend(units.map(|unit| {
                let (memory, offset) = self.knowledge.key(*unit);
                (memory, offset / 4 * 4)
            }));
        }
        for (member, answer) in answers {
            waiting.in_cycle[member].get_or_insert(answer || waiting.reads[member] && reads_again(member));
        }
        waiting.in_cycle[index].unwrap_or(true)
    }
}

//! States with the same future, explored once.
//!
//! Two orders of events may lead to states from which the same follows: the same invocations stand at the same places
//! with the same values, memory holds the same, and what the graphs leave open is the same
//! ([`future`](crate::model::future)). Three invocations that pass a lock have six orders; once two of them are through,
//! three of these states are left for the third. So each state at which a search branches is turned into a number of 128
//! bits, and a path that comes to a number that is known ends there. `executions` then counts what was visited.
//!
//! This is stateful model checking as of sequential programs, where the state of memory is the part of the execution graph
//! that still matters. As there, a path that never ends may be lost: one that leads from a state to one with the same future.
//! Every step from one number to the next is kept; where these steps have a cycle the round is repeated without any of
//! this, and [lassos](super::lasso) are found as usual.
//!
//! The search goes on in batches, each of so many of the next branches, that do not hang on the number of threads: what one
//! of them comes to is known to the others of the next batch.

use std::hash::{Hash, Hasher};

use indexmap::IndexMap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;
use siphasher::sip128::{Hasher128, SipHasher13};
use smallvec::SmallVec;

use super::aliasing::Declarations;
use super::context::Context;
use super::found::Found;
use super::knowledge::{Knowledge, UnitKey};
use super::search::Search;
use super::spin::own_events;
use super::state::{Arrival, State, Status, Thread};
use super::unseen::Writers;
use super::Races;
use crate::behaviour::PathEnd;
use crate::interp::{Invocation, Pauses};
use crate::ir::InstId;
use crate::model::future::Onlookers;
use crate::model::graph::{EventId, Unit};

/// Branches of a batch, and nodes that each of them visits at most.
const BATCH: usize = 32;
const NODES: u64 = 64;

/// Nodes of the first batch, which has one branch.
const FIRST_NODES: u64 = 512;

/// Bytes that a number and a step take up.
const STORED: u64 = 96;

/// What is known of a program for comparisons of its states.
pub(super) struct Merging<'a> {
    pauses: &'a Pauses<'a>,
    /// Per unit, the plain accesses that may race there.
    racing: Vec<Vec<InstId>>,
    /// Per unit, the accesses that may read it and do not write it.
    looking: Vec<Vec<InstId>>,
    /// Invocations meet at barriers.
    meets: bool,
}

impl<'a> Merging<'a> {
    /// `None` where states are not compared.
    pub(super) fn new(context: &'a Context<'a>, knowledge: &Knowledge) -> Option<Merging<'a>> {
        let Context { settings, dispatch, program, .. } = *context;
        let applies = settings.merges
            && settings.shortcuts
            && settings.axioms
            && settings.remark.is_none()
            && dispatch.system_synchronizes_with.is_empty()
            && !program.modes.tangles
            && !context.may_discard
            && knowledge.has_units()
            && !knowledge.orders_matter
            && !knowledge.goes_round
            && knowledge.suspect.is_none()
            && Declarations::new(dispatch).are_single();
        if !applies {
            return None;
        }
        // Where an access leads hangs on the workgroup alone.
        let of_unit = |accesses: &Writers, key: &UnitKey| {
            let word = (key.0, key.1 / 4 * 4);
            let first = context.workgroups.iter().filter_map(|members| members.first());
            let mut all: Vec<InstId> =
                first.flat_map(|index| accesses.of_word(dispatch, *index, word)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        Some(Merging {
            pauses: &context.pauses,
            racing: knowledge.units().iter().map(|key| of_unit(&context.plain, key)).collect(),
            looking: knowledge.units().iter().map(|key| of_unit(&context.looking, key)).collect(),
            meets: !context.meetings.is_empty(),
        })
    }
}

/// Per invocation, the accesses that count, by number, which it has declined: it waited for others. A bit each, the first
/// for the initial value.
type Declined = SmallVec<[u64; 8]>;

/// Accesses that count, up to which states are compared.
const MAX_ACCESSES: usize = 63;

/// The states that a search has come to, as numbers.
#[derive(Default)]
pub(super) struct Futures {
    known: IndexMap<u128, Known, FxBuildHasher>,
}

impl Merging<'_> {
    /// Feeds a hasher what the future of an invocation depends on. False where there is more to it.
    pub(super) fn hash_invocation(&self, invocation: &Invocation, hasher: &mut impl Hasher) -> bool {
        invocation.hash_future(self.pauses, self.meets, hasher)
    }
}

/// What is known of states with one future.
#[derive(Default)]
struct Known {
    /// What was declined when they were explored.
    declined: SmallVec<[Declined; 1]>,
    /// The numbers that steps lead to.
    steps: SmallVec<[u128; 2]>,
}

impl Known {
    /// Whether this was explored where nothing was declined but this.
    fn covers(&self, declined: &Declined) -> bool {
        let is_within = |known: &Declined| known.iter().zip(declined).all(|(known, now)| known & !now == 0);
        self.declined.iter().any(is_within)
    }

    fn add(&mut self, declined: Declined) {
        if !self.covers(&declined) {
            self.declined.push(declined);
        }
    }
}

impl Futures {
    fn covers(&self, future: u128, declined: &Declined) -> bool {
        self.known.get(&future).is_some_and(|known| known.covers(declined))
    }

    /// Adds a step.
    fn step(&mut self, from: u128, to: u128) {
        let steps = &mut self.known.entry(from).or_default().steps;
        if !steps.contains(&to) {
            steps.push(to);
        }
    }

    fn merge(&mut self, other: Futures) {
        for (future, new) in other.known {
            let known = self.known.entry(future).or_default();
            new.declined.into_iter().for_each(|declined| known.add(declined));
            for to in new.steps {
                if !known.steps.contains(&to) {
                    known.steps.push(to);
                }
            }
        }
    }

    /// Whether some steps lead back to where they begin.
    fn go_round(&self) -> bool {
        let mut incoming: Vec<u32> = vec![0; self.known.len()];
        let index = |number: &u128| self.known.get_index_of(number);
        for to in self.known.values().flat_map(|known| &known.steps).filter_map(index) {
            incoming[to] += 1;
        }
        let mut rest: Vec<usize> = (0..incoming.len()).filter(|node| incoming[*node] == 0).collect();
        let mut done = 0;
        while let Some(node) = rest.pop() {
            done += 1;
            for to in self.known[node].steps.iter().filter_map(index) {
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    rest.push(to);
                }
            }
        }
        done < incoming.len()
    }
}

/// What is known to one branch of a batch.
pub(super) struct Trail<'t> {
    before: &'t Futures,
    own: Futures,
}

/// What one branch of a batch found, the states that it came to, and what is left of it.
type Explored = (Found, Futures, Vec<(State, f64)>);

impl Search<'_> {
    /// Explores what follows states, each with its share of the whole tree, the first one last; those with the same future
    /// once.
    pub(super) fn explore_futures(&self, mut rest: Vec<(State, f64)>, found: &mut Found) {
        let mut futures = Futures::default();
        let mut nodes = FIRST_NODES;
        let mut asks_at = FIRST_NODES;
        while !rest.is_empty() && !found.stop && self.context.budget.stopped().is_none() {
            let count = if nodes == FIRST_NODES { 1 } else { BATCH };
            let batch: Vec<_> = rest.drain(rest.len().saturating_sub(count)..).rev().collect();
            let work = |(state, share): (State, f64)| self.explore_some(state, share, nodes, &futures);
            // A thread of a pool would begin with other work while it waits for a batch, again and again.
            let is_alone = batch.len() == 1
                || self.context.settings.jobs == 1
                || rayon::current_thread_index().is_some();
            let pool = if is_alone { None } else { self.context.pool() };
            let done: Vec<Explored> = match pool {
                _ if is_alone => batch.into_iter().map(work).collect(),
                None => batch.into_par_iter().with_max_len(1).map(work).collect(),
                Some(pool) => pool.install(|| batch.into_par_iter().with_max_len(1).map(work).collect()),
            };
            let known = futures.known.len();
            let mut left = Vec::new();
            for (part, trail, more) in done {
                if !found.stop {
                    found.merge(part);
                    found.overfed |= self.knowledge.is_overfed(found.judged_anew, found.explored);
                    found.stop |= found.overfed;
                    futures.merge(trail);
                    left.push(more);
                }
            }
            rest.extend(left.into_iter().rev().flatten());
            self.context.budget.store((futures.known.len() - known) as u64 * STORED);
            nodes = NODES;
            if found.paths.ended_in_all() >= asks_at {
                // What the whole round would find is found anew.
                found.stop |= self.knowledge.is_outdated_by(&found.discoveries);
                asks_at *= 2;
            }
        }
        if !found.stop && futures.go_round() {
            found.discoveries.goes_round = true;
            found.stop = true;
        }
    }

    /// Explores so many nodes of what follows a state; what is left, the first one last.
    fn explore_some(&self, state: State, share: f64, nodes: u64, before: &Futures) -> Explored {
        let mut found = Found::default();
        let mut trail = Trail { before, own: Futures::default() };
        let mut rest = vec![(state, share)];
        for _ in 0..nodes {
            let Some((state, share)) = rest.pop() else { break };
            let children = self.follow(state, share, None, Some(&mut trail), &mut found);
            let share = share / children.len() as f64;
            rest.extend(children.into_iter().rev().map(|child| (child, share)));
            if found.stop {
                break;
            }
        }
        (found, trail.own, rest)
    }

    /// Whether a state with the same future was there before.
    pub(super) fn was_there(&self, state: &mut State, trail: &mut Trail, found: &mut Found) -> bool {
        let compared = self.merging.as_ref().and_then(|merging| self.future(merging, state, found));
        let Some((future, accesses)) = compared.filter(|(_, accesses)| accesses.len() <= MAX_ACCESSES) else {
            return false;
        };
        match state.future.replace(future) {
            // Somebody has begun to wait: that is a part of what follows the state before.
            Some(from) if from == future => return false,
            Some(from) => trail.own.step(from, future),
            None => {}
        }
        let declines = |since: EventId| {
            let old = (1..).zip(&accesses).filter(|(_, access)| **access < since);
            old.fold(1, |bits, (number, _)| bits | 1 << number)
        };
        let declined: Declined =
            state.threads.iter().map(|thread| thread.waits_since.map_or(0, declines)).collect();
        if trail.before.covers(future, &declined) || trail.own.covers(future, &declined) {
            found.paths.end(PathEnd::SameFuture);
            return true;
        }
        trail.own.known.entry(future).or_default().add(declined);
        false
    }

    /// What the future of a state depends on, as a number, and the accesses of its graph that count; `None` where there is
    /// more to it than is compared.
    fn future(
        &self,
        merging: &Merging,
        state: &mut State,
        found: &mut Found,
    ) -> Option<(u128, Vec<EventId>)> {
        if state.dirty
            || state.excused
            || state.closing.is_some()
            || !state.pending.is_empty()
            || !state.segments.is_empty()
            || !state.meetings.is_empty()
            || state.has_parted()
            || !self.grow(state)
        {
            return None;
        }
        let mut hasher = SipHasher13::new();
        let mut agents: SmallVec<[u32; 8]> = SmallVec::new();
        let mut positions: SmallVec<[_; 8]> = SmallVec::new();
        for (index, thread) in state.threads.iter().enumerate() {
            let future = *thread.future.get_or_init(|| self.future_of(merging, thread));
            future?.hash(&mut hasher);
            for arrival in &thread.loops {
                self.hash_turn(state, index, arrival, &mut hasher);
            }
            if !thread.status.is_over() {
                agents.push(index as u32);
                positions.push(thread.invocation.position());
            }
        }
        state.contents.hash_future(&mut hasher);
        (&state.phases, state.instances, state.diverged).hash(&mut hasher);
        state.attempted.hash(&mut hasher);
        self.hash_new_values(state, &mut hasher);
        let may_come = |accesses: &[InstId]| {
            let mut ways =
                accesses.iter().flat_map(|inst| positions.iter().map(move |position| (position, inst)));
            ways.any(|(position, inst)| self.context.reach.may_reach(position, *inst))
        };
        let may_race = |unit: Unit| may_come(&merging.racing[unit as usize]);
        let graph = &state.graph;
        let standing: Vec<_> =
            agents.iter().map(|agent| self.standing(state, *agent as usize, &agents, found)).collect();
        let onlookers = Onlookers {
            agents: &agents,
            standing: &standing,
            includes_all: &|scope| scope >= self.context.everybody,
            has_one_reference: &|unit| state.contents.has_one_reference(self.knowledge.key(unit).0),
            may_race: (self.context.settings.races == Races::Undefined).then_some(&may_race),
            may_look: &|unit| may_come(&merging.looking[unit as usize]),
            fences: self.context.has_fences || merging.meets,
        };
        let growing = state.growing.as_ref()?;
        let accesses = growing.hash_future(graph, &onlookers, &mut hasher)?;
        Some((hasher.finish128().as_u128(), accesses))
    }

    /// What the future of an invocation depends on.
    fn future_of(&self, merging: &Merging, thread: &Thread) -> Option<u128> {
        let mut hasher = SipHasher13::new();
        let is_unusual = thread.reads_unknown.is_some()
            || thread.fault.is_some()
            || thread.idle.is_some()
            || !thread.arrivals.is_empty()
            || !merging.hash_invocation(&thread.invocation, &mut hasher);
        if is_unusual {
            return None;
        }
        match &thread.status {
            Status::Reading { access, atomic, may_write } => {
                (0, access, atomic, may_write).hash(&mut hasher);
            }
            Status::Barrier(arrived) => {
                (1, arrived.execution, arrived.fence, &arrived.name, arrived.waits).hash(&mut hasher);
            }
            Status::Finished => 2.hash(&mut hasher),
            Status::Forever => 3.hash(&mut hasher),
            Status::Running | Status::Subgroup(_) | Status::Faulted => return None,
        }
        (thread.has_decided, thread.history, &thread.trace).hash(&mut hasher);
        for arrival in &thread.loops {
            if arrival.restless > 0 || !arrival.configurations.is_empty() || !arrival.met.is_empty() {
                return None;
            }
            (arrival.depth, arrival.loop_id).hash(&mut hasher);
            if !merging.hash_invocation(&arrival.invocation, &mut hasher) {
                return None;
            }
            (arrival.changes == thread.changes, arrival.passes == thread.passes).hash(&mut hasher);
            thread.trace[arrival.traced..].hash(&mut hasher);
            (arrival.invocation.effects() == thread.invocation.effects()).hash(&mut hasher);
        }
        Some(hasher.finish128().as_u128())
    }

    /// What tells the end of a turn how the turn went so far.
    fn hash_turn(&self, state: &State, index: usize, arrival: &Arrival, hasher: &mut impl Hasher) {
        let events = || own_events(state, index, arrival.events);
        events().any(|event| event.accesses()).hash(hasher);
        let is_idle = events().all(|event| self.changes_nothing(state, event, arrival.events));
        is_idle.hash(hasher);
        if is_idle {
            let reads = events().filter(|event| event.reads());
            let mut reads: SmallVec<[_; 4]> = reads.map(|event| (event.inst, &event.units)).collect();
            reads.sort_unstable();
            reads.dedup();
            reads.hash(hasher);
        }
    }

    /// The values that writes give of which it is not known yet that they do.
    fn hash_new_values(&self, state: &State, hasher: &mut impl Hasher) {
        let writes = state.graph.events.iter().filter(|event| event.writes());
        let written = writes.flat_map(|event| event.units.iter().zip(&event.written));
        let mut new: SmallVec<[_; 8]> =
            written.filter(|(unit, bytes)| !self.knowledge.is_produced(**unit, bytes)).collect();
        new.sort_unstable();
        new.dedup();
        new.hash(hasher);
    }
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::{Declined, Futures};

    #[test]
    fn steps_that_lead_back_go_round() {
        let mut futures = Futures::default();
        for (from, to) in [(1, 2), (2, 3), (1, 3), (3, 4)] {
            futures.step(from, to);
        }
        assert!(!futures.go_round());
        // What two branches of a batch came to may close a cycle that none of them has.
        let mut other = Futures::default();
        other.step(4, 2);
        assert!(!other.go_round());
        futures.merge(other);
        assert!(futures.go_round());
    }

    #[test]
    fn a_state_is_known_where_no_more_was_declined() {
        let mut futures = Futures::default();
        let declined: Declined = smallvec![0b011, 0];
        futures.known.entry(7).or_default().add(declined);
        assert!(futures.covers(7, &smallvec![0b011, 0]) && futures.covers(7, &smallvec![0b111, 1]));
        assert!(!futures.covers(7, &smallvec![0b001, 0]) && !futures.covers(7, &smallvec![0b100, 1]));
        assert!(!futures.covers(8, &smallvec![0b011, 0]));
    }
}

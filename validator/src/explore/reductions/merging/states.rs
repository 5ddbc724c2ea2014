//! The future of a state as a number of 128 bits: a hash of everything on which its continuations depend.

use std::hash::{Hash, Hasher};

use siphasher::sip128::{Hasher128, SipHasher13};
use smallvec::SmallVec;

use crate::explore::oracle;
use crate::explore::reductions::merging::known::{Comparison, Declined, Trail, MAX_ACCESSES};
use crate::explore::reductions::merging::standing;
use crate::explore::settings::Races;
use crate::explore::state::{Arrival, Found, Round, State, Status, Thread};
use crate::explore::step::loops::turns;
use crate::ir::InstId;
use crate::model::future::{Future, Onlookers};
use crate::model::graph::{EventId, Unit};

/// Whether a state with the same future was explored before, with no more sources declined.
pub(crate) fn was_there(round: &Round, state: &mut State, trail: &mut Trail, found: &mut Found) -> bool {
    let compared = round.merging.as_ref().and_then(|merging| future(round, merging, state, found));
    let Some((future, accesses)) = compared.filter(|(_, accesses)| accesses.len() <= MAX_ACCESSES) else {
        return false;
    };
    match state.future.replace(future) {
        // An invocation has begun to wait. That is a part of what follows the earlier state.
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
        return true;
    }
    trail.own.known.entry(future).or_default().add(declined);
    false
}

/// A number for what the future of a state depends on, and the accesses of its graph that count. It is `None` if the
/// future depends on more than is compared.
fn future(
    round: &Round,
    merging: &Comparison,
    state: &mut State,
    found: &mut Found,
) -> Option<(u128, Vec<EventId>)> {
    if state.dirty
        || state.excused
        || state.closing.is_some()
        || !state.promises.is_empty()
        || !state.segments.is_empty()
        || !state.meetings.is_empty()
        || state.has_parted()
        || !oracle::grow(round, state)
    {
        return None;
    }
    let mut hasher = SipHasher13::new();
    let mut agents: SmallVec<[u32; 8]> = SmallVec::new();
    let mut positions: SmallVec<[_; 8]> = SmallVec::new();
    for (index, thread) in state.threads.iter().enumerate() {
        let future = *thread.future.get_or_init(|| future_of(merging, thread));
        future?.hash(&mut hasher);
        for arrival in &thread.loops {
            hash_turn(round, state, index, arrival, &mut hasher);
        }
        if !thread.status.is_over() {
            agents.push(index as u32);
            positions.push(thread.invocation.position());
        }
    }
    state.contents.hash_future(&mut hasher);
    (&state.epochs, state.instances, state.diverged).hash(&mut hasher);
    state.attempted.hash(&mut hasher);
    hash_new_values(round, state, &mut hasher);
    let may_come = |accesses: &[InstId]| {
        let mut ways =
            accesses.iter().flat_map(|inst| positions.iter().map(move |position| (position, inst)));
        ways.any(|(position, inst)| round.context.reach.may_reach(position, *inst))
    };
    let may_race = |unit: Unit| may_come(&merging.racing[unit as usize]);
    let graph = &state.graph;
    let standing: Vec<_> = agents
        .iter()
        .map(|agent| standing::standing(round, state, *agent as usize, &agents, found))
        .collect();
    let onlookers = Onlookers {
        agents: &agents,
        standing: &standing,
        includes_all: &|scope| scope >= round.context.widest_scope,
        has_one_reference: &|unit| state.contents.has_one_reference(round.knowledge.key(unit).0),
        may_race: (round.context.settings.races == Races::Undefined).then_some(&may_race),
        may_look: &|unit| may_come(&merging.looking[unit as usize]),
        fences: round.context.has_fences || merging.meets,
    };
    let growing = state.growing.as_ref()?;
    let Future { hash, accesses } = growing.future(graph, &onlookers)?;
    hash.hash(&mut hasher);
    Some((hasher.finish128().as_u128(), accesses))
}

/// A number for what the future of an invocation depends on. It is `None` if the future depends on more than is
/// compared.
fn future_of(merging: &Comparison, thread: &Thread) -> Option<u128> {
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

/// What the end of a turn needs to know about the turn so far.
fn hash_turn(round: &Round, state: &State, index: usize, arrival: &Arrival, hasher: &mut impl Hasher) {
    let events = || turns::own_events(state, index, arrival.events);
    events().any(|event| event.accesses()).hash(hasher);
    let is_idle = events().all(|event| turns::changes_nothing(round, state, event, arrival.events));
    is_idle.hash(hasher);
    if is_idle {
        let reads = events().filter(|event| event.reads());
        let mut reads: SmallVec<[_; 4]> = reads.map(|event| (event.inst, &event.units)).collect();
        reads.sort_unstable();
        reads.dedup();
        reads.hash(hasher);
    }
}

/// The values that writes give and that no execution is known to have given yet.
fn hash_new_values(round: &Round, state: &State, hasher: &mut impl Hasher) {
    let writes = state.graph.events.iter().filter(|event| event.writes());
    let written = writes.flat_map(|event| event.units.iter().zip(&event.written));
    let mut new: SmallVec<[_; 8]> =
        written.filter(|(unit, bytes)| !round.knowledge.is_produced(**unit, bytes)).collect();
    new.sort_unstable();
    new.dedup();
    new.hash(hasher);
}

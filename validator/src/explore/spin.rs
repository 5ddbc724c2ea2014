//! Spin loops. An iteration that changes nothing and comes back to the same state is left out: the
//! execution without it has the same outcome. What remains is the read that leaves the loop, or
//! waits for a write that lets it; where the latest writes do not, it waits for ever. One that comes back to the same
//! state but wrote is compared with the configurations of earlier turns, for a [`lasso`](super::lasso).

use std::sync::Arc;

use smallvec::SmallVec;

use super::found::Found;
use super::resolve::Reader;
use super::search::Search;
use super::state::{self, Arrival, Idle, State, Status, Thread};
use super::Races;
use crate::behaviour::{Bound, PathEnd, VolatileAccess};
use crate::interp::Stop;
use crate::ir::{InstId, LoopId};
use crate::model::consistency::{DataRace, Judge};
use crate::model::graph::{Event, EventId, Kind, Source, Unit};
use crate::value::Byte;

/// Stops of one iteration before a simulation gives up.
const MAX_STOPS: usize = 10_000;

/// The loops that the invocation is in and in whose iterations it accessed no shared memory so far, innermost
/// first.
pub(super) fn arrivals_without_accesses(state: &State, index: usize) -> impl Iterator<Item = &Arrival> {
    let accesses = move |arrival: &&Arrival| {
        let mut events = state.graph.events.iter().skip(arrival.events as usize);
        events.any(|event| event.agent as usize == index && event.accesses())
    };
    state.threads[index].loops.iter().rev().take_while(move |arrival| !accesses(arrival))
}

/// How a turn of a loop ends.
pub(super) enum Turn {
    GoesOn,
    Ends(PathEnd),
    Races(DataRace),
    /// All turns that follow are like the one that ends.
    Endless {
        has_effects: bool,
    },
}

/// The events of an invocation from a number of events on.
pub(super) fn own_events(state: &State, index: usize, since: u32) -> impl Iterator<Item = &Event> {
    let events = state.graph.events.iter().skip(since as usize).map(Arc::as_ref);
    events.filter(move |event| event.agent as usize == index)
}

/// Whether what an invocation did in its last idle turn hung on what it read.
fn decides(state: &State, index: usize) -> bool {
    state.threads[index].idle.is_none_or(|idle| idle.decided)
}

/// Whether what an update writes is what its invocation wrote there last, of so many events.
fn wrote_that_last(state: &State, update: &Event, events: u32) -> bool {
    let earlier = state.graph.events.iter().take(events as usize).rev();
    let own = earlier.filter(|event| event.agent == update.agent && event.writes());
    let last = |unit: Unit| own.clone().find_map(|event| event.written_to(unit));
    update.units.iter().all(|unit| last(*unit) == update.written_to(*unit))
}

impl Search<'_> {
    /// An invocation arrives at a loop header.
    pub(super) fn arrive(
        &self,
        state: &mut State,
        index: usize,
        depth: u32,
        loop_id: LoopId,
        found: &mut Found,
    ) -> Turn {
        let thread = &state.threads[index];
        let known =
            thread.loops.iter().position(|arrival| arrival.depth == depth && arrival.loop_id == loop_id);
        let mut restless = 0;
        if let Some(position) = known {
            let last = &thread.loops[position];
            let is_same = thread.invocation.same_state(&last.invocation, self.context.program);
            let is_idle = is_same && self.changed_nothing(state, index, last);
            if state.closing.is_some() {
                if is_idle {
                    self.note_spin(state, index, last, found);
                }
                // A turn that writes is one of a path in which its read does not wait.
                let since = last.events;
                if is_same && !(is_idle && self.comes_round(state, index, since)) {
                    return Turn::Ends(PathEnd::Fairness);
                }
            } else if is_idle {
                return self.idle_turn(state, index, position, found);
            } else if is_same {
                restless = last.restless + 1;
                if restless >= self.context.settings.spin_bound {
                    found.bounded.get_or_insert(Bound::SpinBound);
                    return Turn::Ends(PathEnd::SpinBound);
                }
                return self.restless_turn(state, index, position, restless, found);
            }
        }
        self.note_arrival(state, index, depth, loop_id, restless);
        Turn::GoesOn
    }

    /// A turn that wrote came back to the state in which it began.
    fn restless_turn(
        &self,
        state: &mut State,
        index: usize,
        position: usize,
        restless: u32,
        found: &mut Found,
    ) -> Turn {
        let last = state.threads[index].loops[position].clone();
        let now = Arc::new(self.configuration(state));
        let mut earlier = last.configurations.iter().rev();
        if let Some(segment) = earlier.find_map(|earlier| self.repeats_from(state, earlier, &now)) {
            self.break_symmetries(found);
            state.repeat(segment);
            return Turn::GoesOn;
        }
        self.note_arrival(state, index, last.depth, last.loop_id, restless);
        if let Some(arrival) = state.threads[index].loops.last_mut() {
            arrival.configurations = last.configurations;
            arrival.configurations.push(now);
        }
        Turn::GoesOn
    }

    /// A turn that changed nothing came back to the state in which it began.
    fn idle_turn(&self, state: &mut State, index: usize, position: usize, found: &mut Found) -> Turn {
        let last = state.threads[index].loops[position].clone();
        if state.has_parted() {
            self.break_symmetries(found);
        }
        let reads = own_events(state, index, last.events).any(|event| event.reads());
        if reads {
            self.note_spin(state, index, &last, found);
        }
        let thread = &state.threads[index];
        if thread.passes == last.passes {
            if !reads {
                return self.turn_for_ever(state, index, &last);
            }
            return self.end_of_idle_turn(state, found);
        }
        let events = state.graph.events.len() as u32;
        let idle = Idle { events, changes: thread.changes, decided: reads };
        state.threads[index].idle = Some(idle);
        let together = self.idle_together(state, &last.met, index);
        let Arrival { depth, loop_id, restless, .. } = last;
        self.note_arrival(state, index, depth, loop_id, restless);
        match together {
            None => Turn::GoesOn,
            Some(members) if members.iter().all(|member| !decides(state, *member)) => {
                for member in members {
                    state.threads[member].status = Status::Forever;
                }
                Turn::GoesOn
            }
            Some(_) => self.end_of_idle_turn(state, found),
        }
    }

    /// How a path with an idle turn ends: like that without it, unless the turn races where races are judged last.
    fn end_of_idle_turn(&self, state: &mut State, found: &mut Found) -> Turn {
        let judged_late = self.knowledge.orders_matter && self.context.settings.races == Races::Undefined;
        if !judged_late || !state.pending.is_empty() {
            return Turn::Ends(PathEnd::IdleTurn);
        }
        match self.executions(state, found) {
            Ok(executions) => match self.race(state, &executions) {
                Some(race) => Turn::Races(race),
                None => Turn::Ends(PathEnd::IdleTurn),
            },
            Err(end) => Turn::Ends(end),
        }
    }

    /// With whom an invocation has been round its loop, if nobody of them changed anything, and all may go on so.
    fn idle_together(&self, state: &State, met: &[Arc<[usize]>], index: usize) -> Option<Vec<usize>> {
        let mut members: Vec<usize> = met.iter().flat_map(|met| met.iter().copied()).collect();
        members.push(index);
        members.sort_unstable();
        members.dedup();
        let is_idle = |member: &usize| {
            let thread = &state.threads[*member];
            !thread.status.is_over()
                && thread.idle.is_some_and(|idle| {
                    thread.changes == idle.changes
                        && own_events(state, *member, idle.events)
                            .all(|event| self.changes_nothing(state, event, idle.events))
                })
        };
        members.iter().all(is_idle).then_some(members)
    }

    /// All turns that follow are like the one that ends.
    fn turn_for_ever(&self, state: &mut State, index: usize, last: &Arrival) -> Turn {
        let has_effects = own_events(state, index, last.events).next().is_some()
            || state.threads[index].trace.len() != last.traced
            || state.threads[index].invocation.effects() != last.invocation.effects();
        let thread = &mut state.threads[index];
        Arc::make_mut(&mut thread.trace).truncate(last.traced);
        Turn::Endless { has_effects }
    }

    /// An invocation enters a loop.
    pub(super) fn enter(&self, state: &mut State, index: usize, depth: u32, loop_id: LoopId) {
        self.note_arrival(state, index, depth, loop_id, 0);
    }

    fn note_arrival(&self, state: &mut State, index: usize, depth: u32, loop_id: LoopId, restless: u32) {
        let events = state.graph.events.len() as u32;
        let thread = &mut state.threads[index];
        thread
            .loops
            .retain(|arrival| arrival.depth < depth || arrival.depth == depth && arrival.loop_id < loop_id);
        let position = thread.invocation.position().last().copied();
        let group = position.and_then(|at| self.knowledge.spin_traces.get(&(index as u32, at)));
        if let Some(group) = group {
            Arc::make_mut(&mut thread.trace).push(VolatileAccess::Repeated(group.clone()));
        }
        let (invocation, traced) = (thread.invocation.clone(), thread.trace.len());
        let Thread { changes, passes, .. } = *thread;
        thread.loops.push(Arrival {
            depth,
            loop_id,
            invocation,
            events,
            changes,
            passes,
            traced,
            met: SmallVec::new(),
            restless,
            configurations: Vec::new(),
        });
    }

    /// Whether the invocation's accesses since then are reads, and writes of what was there.
    fn changed_nothing(&self, state: &State, index: usize, since: &Arrival) -> bool {
        state.threads[index].changes == since.changes
            && own_events(state, index, since.events)
                .all(|event| self.changes_nothing(state, event, since.events))
    }

    /// Whether others notice nothing of an event of a turn, since that many events, but that it synchronizes, or orders
    /// invocations.
    pub(super) fn changes_nothing(&self, state: &State, event: &Event, since: u32) -> bool {
        match event.kind {
            Kind::Read | Kind::Fence | Kind::Barrier { .. } => true,
            Kind::Update => {
                event.read == event.written
                    && (self.is_ordered_among_writes(state, event) || wrote_that_last(state, event, since))
            }
            Kind::Availability | Kind::Visibility => true,
            Kind::Write | Kind::DeviceAvailability | Kind::DeviceVisibility => false,
        }
    }

    /// Whether no write of another invocation is one that an update is not mutually ordered with: what such an update
    /// leaves is a latest value beside that of the other. They race, too.
    pub(super) fn is_ordered_among_writes(&self, state: &State, update: &Event) -> bool {
        if self.context.settings.races == Races::Undefined {
            return true;
        }
        let is_ordered = |agent: usize, inst: InstId| {
            let mut write = update.clone();
            write.agent = agent as u32;
            self.atomic(inst).is_some_and(|op| {
                write.scope = self.context.program.memory_model.memory_scope(op.scope);
                state.graph.in_each_others_scope(update, &write)
            })
        };
        update.units.iter().all(|unit| {
            let others = (0..state.threads.len()).filter(|other| *other != update.agent as usize);
            let writers = others.flat_map(|other| self.knowledge.writers(*unit, other as u32));
            writers.copied().all(|(agent, inst)| is_ordered(agent as usize, inst))
        })
    }

    fn note_spin(&self, state: &State, index: usize, since: &Arrival, found: &mut Found) {
        let reads = || own_events(state, index, since.events).filter(|event| event.reads());
        found.discoveries.spin_reads.extend(reads().map(|event| event.inst));
        let polled = reads().flat_map(|event| event.units.iter().map(|unit| self.knowledge.key(*unit)));
        if let Some(first) = reads().next() {
            let units = found.discoveries.spin_units.entry((index as u32, first.inst)).or_default();
            units.extend(polled);
        }
        let trace = &state.threads[index].trace[since.traced..];
        // The invocation stands at the header again.
        let header = state.threads[index].invocation.position().last().copied();
        if let (Some(header), false) = (header, trace.is_empty()) {
            let traces = found.discoveries.spin_traces.entry((index as u32, header)).or_default();
            traces.insert(trace.to_vec());
        }
    }

    /// Whether a spinning read may spin for ever if nobody writes any more.
    pub(super) fn may_spin_for_ever(&self, state: &State, reader: &Reader, found: &mut Found) -> bool {
        if self.others_may_write_in_turn(state, reader, found) {
            return true;
        }
        let latest = self.latest_writes(state);
        if self.polled_beside(reader).any(|unit| latest(unit).len() > 1) {
            return true;
        }
        let spans = state::units_of(reader.access, reader.memory, self.knowledge, |_| {});
        let ways = spans.into_iter().flatten().map(|(unit, _)| latest(unit).len()).max().unwrap_or(0);
        (0..ways.max(1))
            .any(|choice| self.spins_on(state, reader.index, choice, &latest, found) != Some(false))
    }

    /// Whether a spinning read, the only one of its turns, leaves its loop whichever latest write it sees.
    pub(super) fn leaves_with_latest(&self, state: &State, index: usize, found: &mut Found) -> bool {
        let Some(reader) = self.reader(state, index) else { return false };
        let spans = state::units_of(reader.access, reader.memory, self.knowledge, |_| {});
        let Some([(unit, _)]) = spans.as_deref() else { return false };
        if self.polled_beside(&reader).next().is_some() {
            return false;
        }
        let latest = self.latest_writes(state);
        let ways = latest(*unit).len();
        (0..ways.max(1)).all(|choice| self.spins_on(state, index, choice, &latest, found) == Some(false))
    }

    /// Whether others may still write where the turns of a spinning read look beside its own place.
    fn others_may_write_in_turn(&self, state: &State, reader: &Reader, found: &mut Found) -> bool {
        self.polled_beside(reader).any(|unit| {
            found.discoveries.wanted_writers.insert(self.knowledge.key(unit));
            let mut others = (0..state.threads.len()).filter(|other| *other != reader.index);
            others.any(|other| self.may_write(state, other, unit, None))
        })
    }

    /// Where the turns of a spinning read look, if that is more than its own place.
    fn polled_beside(&self, reader: &Reader) -> impl Iterator<Item = Unit> + '_ {
        let polled = self.knowledge.spin_units.get(&(reader.index as u32, reader.access.inst));
        let units = (0..).zip(self.knowledge.units().iter());
        polled.into_iter().filter(|polled| polled.len() > 1).flat_map(move |polled| {
            units.clone().filter(|(_, key)| polled.contains(key)).map(|(unit, _)| unit)
        })
    }

    /// Whether a spinning read goes on spinning when it sees the latest write of this number of each unit.
    fn spins_on(
        &self,
        state: &State,
        index: usize,
        choice: usize,
        latest: &dyn Fn(Unit) -> Vec<EventId>,
        found: &mut Found,
    ) -> Option<bool> {
        let pick = |unit| {
            let writes = latest(unit);
            writes.get(choice).or(writes.last()).copied()
        };
        let answer = &mut |simulation: &mut State, found: &mut Found| {
            self.answer_with_latest(state, simulation, index, &pick, found)
        };
        self.repeats(state, index, answer, found)
    }

    /// The latest writes of each unit.
    pub(super) fn latest_writes<'s>(&'s self, state: &'s State) -> Box<dyn Fn(Unit) -> Vec<EventId> + 's> {
        let grown = state.growing.as_ref().filter(|growing| growing.covers(&state.graph));
        if let Some(growing) = grown.filter(|_| !self.knowledge.orders_matter) {
            return Box::new(|unit| growing.latest_writes(unit));
        }
        let variant = self.context.settings.variant;
        let relations = self.relations(&state.graph);
        Box::new(move |unit| {
            Judge { graph: &state.graph, relations: &relations, variant }.latest_writes(unit)
        })
    }

    /// Whether the iteration of a spinning read, the only one in it, changes nothing if it reads these bytes.
    pub(super) fn repeats_with(
        &self,
        state: &State,
        index: usize,
        bytes: &[Byte],
        found: &mut Found,
    ) -> bool {
        let mut answered = false;
        let answer = &mut |simulation: &mut State, _: &mut Found| {
            !std::mem::replace(&mut answered, true) && self.supply_again(simulation, index, bytes)
        };
        self.repeats(state, index, answer, found) == Some(true)
    }

    /// Whether an iteration whose reads `answer` supplies comes back to where it started, and changes nothing;
    /// `None` where that hangs on more than its reads, or is not told for want of instructions. `answer` says whether it is still possible.
    fn repeats(
        &self,
        state: &State,
        index: usize,
        answer: &mut dyn FnMut(&mut State, &mut Found) -> bool,
        found: &mut Found,
    ) -> Option<bool> {
        let mut simulation = state.without_graph();
        for _ in 0..MAX_STOPS {
            let answered = match &simulation.threads[index].status {
                Status::Reading { .. } => answer(&mut simulation, found),
                _ => true,
            };
            if !answered {
                return Some(false);
            }
            match self.run_invocation(&mut simulation, index, found) {
                Stop::Read(access) => {
                    simulation.threads[index].status =
                        Status::Reading { access: Arc::new(access), atomic: None, may_write: false };
                }
                Stop::AtomicRead { access, atomicity, may_write } => {
                    simulation.threads[index].status =
                        Status::Reading { access: Arc::new(access), atomic: Some(atomicity), may_write };
                }
                Stop::Fence(_) | Stop::Device(..) | Stop::LoopEntry { .. } => {}
                Stop::Iteration { function_depth, loop_id, .. } => {
                    let arrival = arrivals_without_accesses(state, index)
                        .find(|arrival| (arrival.depth, arrival.loop_id) == (function_depth, loop_id));
                    if let Some(arrival) = arrival {
                        let thread = &simulation.threads[index];
                        let is_same = thread.changes == arrival.changes
                            && thread.invocation.same_state(&arrival.invocation, self.context.program);
                        // Others need it at the barriers of the turn.
                        let is_alone = thread.passes == arrival.passes;
                        return (is_alone || !is_same).then_some(is_same);
                    }
                }
                Stop::Write(..)
                | Stop::AtomicWrite { .. }
                | Stop::Finished
                | Stop::Fault(_)
                | Stop::Discarded
                | Stop::Forever { .. } => return Some(false),
                Stop::Barrier { .. }
                | Stop::Subgroup { .. }
                | Stop::Choose { .. }
                | Stop::OutOfFuel
                | Stop::Unsupported { .. } => return None,
            }
        }
        None
    }

    /// Answers a read of a simulation with the latest writes of a state. False where a read-modify-write changes
    /// something.
    fn answer_with_latest(
        &self,
        state: &State,
        simulation: &mut State,
        index: usize,
        latest: &dyn Fn(Unit) -> Option<EventId>,
        found: &mut Found,
    ) -> bool {
        let Some(reader) = self.reader(simulation, index) else { return false };
        let Some(spans) = state::units_of(reader.access, reader.memory, self.knowledge, |_| {}) else {
            return false;
        };
        let len: u32 = reader.access.ranges.iter().map(|(_, len)| len).sum();
        let mut bytes = vec![Byte::Undef; len as usize];
        let access = reader.access.clone();
        let memory = reader.memory;
        let by = self.by(index, reader.atomic.is_some());
        simulation.read_unshared(&access, memory, by, &mut found.discoveries, &mut bytes);
        for (unit, indices) in &spans {
            let source = latest(*unit).map_or(Source::Initial, Source::Event);
            let value = state::source_bytes(state, self.knowledge, *unit, indices.len(), source);
            for (position, byte) in indices.iter().zip(value) {
                bytes[*position as usize] = byte;
            }
        }
        self.supply_again(simulation, index, &bytes)
    }

    /// Answers a read with bytes. False where a read-modify-write changes something.
    fn supply_again(&self, state: &mut State, index: usize, bytes: &[Byte]) -> bool {
        let program = self.context.program;
        let thread = &mut state.threads[index];
        let is_atomic = matches!(thread.status, Status::Reading { atomic: Some(_), .. });
        thread.status = Status::Running;
        let invocation = Arc::make_mut(&mut thread.invocation);
        if !is_atomic {
            invocation.supply(program, bytes);
            return true;
        }
        if invocation.atomic_ways(program, bytes) > 1 {
            return false;
        }
        invocation.supply_atomic(program, bytes).is_none_or(|written| written == bytes)
    }
}

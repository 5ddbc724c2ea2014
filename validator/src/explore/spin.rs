//! Spin loops. An iteration that changes nothing and comes back to the same state is left out: the
//! execution without it has the same outcome. What remains is the read that leaves the loop, or
//! waits for a write that lets it; where the latest writes do not, it waits for ever.

use std::sync::Arc;

use super::found::Found;
use super::resolve::Reader;
use super::search::Search;
use super::state::{self, Arrival, State, Status};
use crate::behaviour::{Bound, VolatileAccess};
use crate::interp::{Invocation, Stop};
use crate::ir::LoopId;
use crate::model::consistency::Judge;
use crate::model::graph::{EventId, Kind, Source, Unit};
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

impl Search<'_> {
    /// An invocation arrives at a loop header. False where the iteration that ends changed nothing, and another
    /// might: it had a read, or made a choice (`chosen`).
    pub(super) fn arrive(
        &self,
        state: &mut State,
        index: usize,
        depth: u32,
        loop_id: LoopId,
        chosen: bool,
        found: &mut Found,
    ) -> bool {
        let thread = &state.threads[index];
        let known =
            thread.loops.iter().position(|arrival| arrival.depth == depth && arrival.loop_id == loop_id);
        let mut count = 1;
        if let Some(position) = known {
            let last = &thread.loops[position];
            count = last.count + 1;
            if count > self.context.settings.spin_bound {
                found.bounded.get_or_insert(Bound::SpinBound);
                return false;
            }
            if self.changed_nothing(state, index, last)
                && thread.invocation.same_state(&last.invocation, self.context.program)
            {
                self.note_spin(state, index, last, found);
                if self.has_parted(state, index) {
                    self.break_symmetries(found);
                }
                return !chosen && self.turns_for_ever(state, index, position);
            }
        }
        self.note_arrival(state, index, depth, loop_id, count);
        true
    }

    /// Where the iteration that ends changed nothing and read nothing, all that follow are like it.
    fn turns_for_ever(&self, state: &mut State, index: usize, loop_position: usize) -> bool {
        let thread = &mut state.threads[index];
        let Some(last) = thread.loops.get(loop_position) else { return false };
        let mut own =
            state.graph.events.iter().skip(last.events as usize).filter(|e| e.agent as usize == index);
        if own.any(|event| event.reads()) {
            return false;
        }
        Arc::make_mut(&mut thread.trace).truncate(last.traced);
        let header = thread.invocation.position().last().copied();
        let functions = &self.context.program.functions;
        let inst = header.and_then(|at| functions.get(at.function.0 as usize)?.code.get(at.index as usize));
        // It had an event, or it would not have stopped.
        thread.status = Status::Forever { line: inst.map_or(0, |inst| inst.line), has_effects: true };
        true
    }

    /// An invocation enters a loop.
    pub(super) fn enter(&self, state: &mut State, index: usize, depth: u32, loop_id: LoopId) {
        self.note_arrival(state, index, depth, loop_id, 1);
    }

    fn note_arrival(&self, state: &mut State, index: usize, depth: u32, loop_id: LoopId, count: u32) {
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
        let (invocation, changes, traced) = (thread.invocation.clone(), thread.changes, thread.trace.len());
        thread.loops.push(Arrival { depth, loop_id, invocation, events, changes, traced, count });
    }

    /// Whether the invocation's accesses since then are reads, and writes of what was there.
    fn changed_nothing(&self, state: &State, index: usize, since: &Arrival) -> bool {
        if state.threads[index].changes != since.changes {
            return false;
        }
        let own = state.graph.events.iter().skip(since.events as usize).filter(|e| e.agent as usize == index);
        own.clone().all(|event| match event.kind {
            Kind::Read | Kind::Fence => true,
            Kind::Update => event.read == event.written,
            Kind::Availability | Kind::Visibility => true,
            Kind::Write | Kind::Barrier { .. } | Kind::DeviceAvailability | Kind::DeviceVisibility => false,
        })
    }

    fn note_spin(&self, state: &State, index: usize, since: &Arrival, found: &mut Found) {
        let own = state
            .graph
            .events
            .iter()
            .skip(since.events as usize)
            .filter(|e| e.agent as usize == index && e.reads());
        let reads: Vec<_> = own.map(|event| event.inst).collect();
        found.discoveries.spin_reads.extend(reads.iter().copied());
        let trace = &state.threads[index].trace[since.traced..];
        // The invocation stands at the header again.
        let header = state.threads[index].invocation.position().last().copied();
        if let (Some(header), false) = (header, trace.is_empty()) {
            let traces = found.discoveries.spin_traces.entry((index as u32, header)).or_default();
            traces.insert(trace.to_vec());
        }
    }

    /// Whether a waiting read spins, and goes on spinning when it sees the latest writes: the first ones, where
    /// a unit has several.
    pub(super) fn spins_for_ever(&self, state: &State, index: usize, found: &mut Found) -> bool {
        let spins = self.reader(state, index).is_some_and(|reader| self.is_spinning(state, &reader));
        spins && self.spins_on(state, index, 0, &self.latest_writes(state), found)
    }

    /// Whether a spinning read may spin for ever if nobody writes any more.
    pub(super) fn may_spin_for_ever(&self, state: &State, reader: &Reader, found: &mut Found) -> bool {
        let latest = self.latest_writes(state);
        let spans = state::units_of(reader.access, reader.memory, self.knowledge, |_| {});
        let ways = spans.into_iter().flatten().map(|(unit, _)| latest(unit).len()).max().unwrap_or(0);
        // What follows in the iteration may have more.
        (0..ways.max(1)).any(|choice| self.spins_on(state, reader.index, choice, &latest, found))
    }

    /// Whether a spinning read goes on spinning when it sees the latest write of this number of each unit.
    fn spins_on(
        &self,
        state: &State,
        index: usize,
        choice: usize,
        latest: &dyn Fn(Unit) -> Vec<EventId>,
        found: &mut Found,
    ) -> bool {
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
    fn latest_writes<'s>(&'s self, state: &'s State) -> Box<dyn Fn(Unit) -> Vec<EventId> + 's> {
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
        self.repeats(state, index, answer, found)
    }

    /// Whether an iteration whose reads `answer` supplies comes back to where it started, and changes nothing.
    /// `answer` says whether that is still possible.
    fn repeats(
        &self,
        state: &State,
        index: usize,
        answer: &mut dyn FnMut(&mut State, &mut Found) -> bool,
        found: &mut Found,
    ) -> bool {
        let mut simulation = state.without_graph();
        for _ in 0..MAX_STOPS {
            let answered = match &simulation.threads[index].status {
                Status::Reading { .. } => answer(&mut simulation, found),
                _ => true,
            };
            if !answered {
                return false;
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
                        let now: &Invocation = &simulation.threads[index].invocation;
                        return simulation.threads[index].changes == arrival.changes
                            && now.same_state(&arrival.invocation, self.context.program);
                    }
                }
                Stop::Write(..)
                | Stop::AtomicWrite { .. }
                | Stop::Barrier { .. }
                | Stop::Subgroup { .. }
                | Stop::Choose { .. }
                | Stop::Finished
                | Stop::Fault(_)
                | Stop::Discarded
                | Stop::OutOfFuel
                | Stop::Unsupported { .. }
                | Stop::Forever { .. } => return false,
            }
        }
        false
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

//! Runs a module with the values that an execution read: before with those of after, or after itself once more.

mod quiet;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::account::{Ended, LastRead, Tracer};
use super::Side;
use crate::compare::ObjectMatch;
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, InstanceName, Scope};
use crate::explore::events::{access_event, device_event, fence_event};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{subgroup, Invocation, Stop};
use crate::model::graph::{Event, EventId, Graph, Kind, Source, Unit, UnitBytes};
use crate::value::Byte;
use crate::witness::Witness;
use quiet::{bytes_of, Quiet};

/// Before's graph for an execution of after.
pub(super) struct Replay {
    pub(super) graph: Graph,
    /// For each event of the graph, the event of after that it was matched with.
    pub(super) of_after: Vec<Option<EventId>>,
    /// How the invocations ended.
    pub(super) runs: Vec<(Invocation, Ended)>,
    /// Who wrote the byte last that was asked for, and what.
    pub(super) writer: Option<(u32, Byte)>,
}

/// What is replayed.
#[derive(Clone, Copy)]
pub(super) struct Played<'a> {
    /// The module that is run.
    pub(super) before: Side<'a>,
    /// The dispatch of the witness.
    pub(super) after: &'a Dispatch,
    pub(super) witness: &'a Witness,
    pub(super) kin: Kin,
    /// Which way is gone where something is undefined: the last, if there are not so many.
    pub(super) way: u32,
    /// A byte of an object of `before` whose writer is wanted.
    pub(super) target: Option<(u32, u32)>,
}

/// Which module is run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kin {
    /// Another module than the witness's: nobody waits at barriers.
    Other,
    /// The witness's own module.
    Own,
    /// The same, where the witness waits for ever: who comes to a barrier that the witness does not pass, or reads what it
    /// does not read, goes no further.
    OwnThatHangs,
}

/// Instructions of one invocation.
const FUEL: u64 = 1_000_000;
/// Instructions of all invocations together.
const FUEL_OF_ALL: u64 = 1 << 25;
/// Reads of one invocation that after did not do: it is in a loop that waits for something else.
const MAX_UNMATCHED: u32 = 8;
/// Stops of one invocation.
const MAX_STOPS: usize = 1_000;
/// The same on the witness's own module.
const MAX_STOPS_OF_OWN: usize = 100_000;

/// Replays the witness, and lets `tracer` watch it. `None` where that is not done when time is over.
pub(super) fn run(played: Played, tracer: &mut Tracer, is_over: &dyn Fn() -> bool) -> Option<Replay> {
    let Played { before, after, witness, kin, way, target } = played;
    let witnessed = witness.graph();
    let mut replay = Replayer {
        before,
        after,
        witness,
        witnessed: &witnessed,
        graph: Graph { agents: witnessed.agents.clone(), ..Graph::default() },
        of_after: Vec::new(),
        used: BTreeSet::new(),
        memory: Quiet::of(before.dispatch),
        kin,
        way,
        tracer,
        left: FUEL_OF_ALL,
        is_over,
    };
    target.into_iter().for_each(|target| replay.memory.watch(target));
    let runs = replay.everybody();
    replay.mark_written();
    let writer = replay.memory.writer();
    if is_over() {
        return None;
    }
    replay.connect();
    let runs = runs.into_iter().map(|run| (run.invocation, run.ended)).collect();
    Some(Replay { graph: replay.graph, of_after: replay.of_after, runs, writer })
}

struct Replayer<'a> {
    before: Side<'a>,
    after: &'a Dispatch,
    witness: &'a Witness,
    /// The graph of the witness.
    witnessed: &'a Graph,
    graph: Graph,
    of_after: Vec<Option<EventId>>,
    used: BTreeSet<EventId>,
    memory: Quiet<'a>,
    kin: Kin,
    way: u32,
    tracer: &'a mut Tracer,
    /// Instructions that are left for all invocations.
    left: u64,
    /// Whether there is no time left.
    is_over: &'a dyn Fn() -> bool,
}

/// An invocation of before, as far as it came.
struct Run {
    agent: u32,
    invocation: Invocation,
    /// How it ended; where it goes on, how it would have.
    ended: Ended,
    fuel: u64,
    stops: usize,
    unmatched_reads: u32,
    barriers: u32,
    /// What the atomic instruction accesses that it stands at.
    stands_at: Option<Access>,
    /// The operation that it stands at, and whose invocations act together there.
    waits_at: Option<(InstanceName, Scope)>,
    /// The barrier at which it stands and from which it may go on.
    at_barrier: Option<(InstanceName, Scope)>,
    /// It goes on when all others stand somewhere.
    goes_on: bool,
}

/// One invocation on its way.
struct Replaying<'r, 'a> {
    replayer: &'r mut Replayer<'a>,
    run: &'r mut Run,
    units: &'r [Option<(u32, u32)>],
}

impl Replaying<'_, '_> {
    /// What a read gives; none where the invocation waits there.
    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>) -> Option<Vec<Byte>> {
        let Replaying { replayer, run, units } = self;
        let event = replayer.access(run.agent, Kind::Read, access, atomicity, units);
        let is_shared = !event.units.is_empty();
        let (id, bytes) = replayer.read(event, access, units);
        let is_unmatched = replayer.of_after[id].is_none();
        run.unmatched_reads += u32::from(is_unmatched);
        let waits = replayer.kin == Kin::OwnThatHangs && is_unmatched && is_shared;
        let program = replayer.before.program;
        let place = access.ranges.first().map(|(offset, _)| (access.object, *offset));
        let line = run.invocation.instruction(program).map(|inst| inst.line);
        if let Some((place, line)) = place.zip(line) {
            let loop_line = run.invocation.loop_line(program);
            let bytes =
                if waits { replayer.lasting(id, access, place, &run.ended) } else { Some(bytes.clone()) };
            run.ended = Ended::Waits(Some(LastRead { line, loop_line, place, bytes }));
        }
        (!waits).then_some(bytes)
    }
}

impl Driver for Replaying<'_, '_> {
    type End = ();

    fn run(&mut self) -> Stop {
        let Replayer { before: Side { program, dispatch }, memory, tracer, kin, left, is_over, .. } =
            &mut *self.replayer;
        let Run { agent, invocation, fuel, stops, unmatched_reads, .. } = &mut *self.run;
        let most = if *kin == Kin::Other { MAX_STOPS } else { MAX_STOPS_OF_OWN };
        if *stops == most || *unmatched_reads > MAX_UNMATCHED || is_over() {
            return Stop::OutOfFuel;
        }
        *stops += 1;
        let allowed = (*fuel).min(*left);
        let mut unused = allowed;
        let mut stop = Stop::OutOfFuel;
        while tracer.watches(*agent) && unused > 0 && matches!(stop, Stop::OutOfFuel) {
            if tracer.records() == Some(*agent) && memory.take_write_of(*agent) {
                tracer.mark();
            }
            tracer.note(*agent, program, invocation);
            unused -= 1;
            stop = invocation.run(program, dispatch, memory, &mut 1);
        }
        if matches!(stop, Stop::OutOfFuel) {
            stop = invocation.run(program, dispatch, memory, &mut unused);
        }
        *fuel -= allowed - unused;
        *left -= allowed - unused;
        stop
    }

    fn invocation(&mut self) -> &mut Invocation {
        &mut self.run.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<()> {
        let agent = self.run.agent;
        match stop {
            Stop::Read(access) => {
                return self.read(&access, None).map_or(Decision::End(()), Decision::Read);
            }
            Stop::AtomicRead { access, atomicity, .. } => {
                let Some(bytes) = self.read(&access, Some(&atomicity)) else { return Decision::End(()) };
                let ways = self.run.invocation.atomic_ways(self.replayer.before.program, &bytes);
                self.run.stands_at = Some(access);
                return Decision::AtomicRead { bytes, way: (ways > 1).then_some(0) };
            }
            Stop::Write(access, bytes) => self.replayer.write(agent, &access, None, self.units, &bytes),
            Stop::AtomicWrite { access, atomicity, bytes } => {
                self.replayer.write(agent, &access, Some(&atomicity), self.units, &bytes);
            }
            Stop::Fence(fence) => self.replayer.push(fence_event(agent, Kind::Fence, &fence)),
            Stop::Device(operation, fence) => {
                self.replayer.push(device_event(agent, operation, &fence));
            }
            Stop::Barrier { execution, fence, name, line, .. } => {
                let kind = Kind::Barrier { instance: self.run.barriers, execution };
                self.replayer.push(fence_event(agent, kind, &fence));
                self.run.barriers += 1;
                self.run.ended = Ended::Barrier(line);
                let is_matched = self.replayer.of_after.last().is_some_and(Option::is_some);
                match self.replayer.kin {
                    Kin::Other => self.run.goes_on = true,
                    Kin::Own => self.run.at_barrier = Some((name, execution)),
                    Kin::OwnThatHangs => self.run.goes_on = is_matched,
                }
                return Decision::End(());
            }
            Stop::Subgroup { name, scope, .. } => {
                self.run.waits_at = Some((name, scope));
                return Decision::End(());
            }
            Stop::Choose { ways, .. } => {
                return Decision::Choose(self.replayer.way.min(ways.saturating_sub(1)));
            }
            Stop::LoopEntry { .. } | Stop::Iteration { .. } => {}
            // An explanation does with the events up to here.
            Stop::Finished => {
                self.run.ended = Ended::Finished;
                return Decision::End(());
            }
            Stop::Fault(fault) => {
                self.run.ended = Ended::Fault(fault);
                return Decision::End(());
            }
            Stop::OutOfFuel | Stop::Forever { .. } => {
                if !matches!(self.run.ended, Ended::Waits(_)) {
                    self.run.ended = Ended::Waits(None);
                }
                return Decision::End(());
            }
            Stop::Discarded | Stop::Unsupported { .. } => {
                self.run.ended = Ended::Unknown;
                return Decision::End(());
            }
        }
        Decision::GoOn
    }

    fn updated(&mut self, _: &[Byte], written: Vec<Byte>) -> Option<()> {
        let access = self.run.stands_at.take()?;
        let Replayer { before, graph, .. } = &mut *self.replayer;
        if let Some(event) = graph.events.last_mut().map(Arc::make_mut) {
            event.kind = Kind::Update;
            event.written = unit_bytes(&event.units, &access, before, self.units, &written);
        }
        self.replayer.memory.set(&access, &written);
        None
    }
}

impl Replayer<'_> {
    /// The witness's units in before: memory and first byte.
    fn units(&self) -> Vec<Option<(u32, u32)>> {
        let before = self.before.dispatch;
        let matched = ObjectMatch::new(before, self.after);
        // The first object of each memory of after says which memory of before that is.
        let mut memories: BTreeMap<u32, u32> = BTreeMap::new();
        for (number, object) in self.after.objects.iter().enumerate().rev() {
            match before.objects.get(matched.of_after(number as u32) as usize) {
                Some(other) => memories.insert(object.memory, other.memory),
                None => memories.remove(&object.memory),
            };
        }
        let units = self.witness.units.iter();
        units.map(|(memory, offset)| Some((*memories.get(memory)?, *offset))).collect()
    }

    /// Runs each invocation to its end, to the next subgroup operation or to the next control barrier. Those of a subgroup
    /// that stand at one operation go on together; when nobody stands at one, those at barriers go on.
    fn everybody(&mut self) -> Vec<Run> {
        let units = self.units();
        self.memory.share(units.iter().flatten().copied());
        let Side { program, dispatch } = self.before;
        let count = dispatch.places.len().min(self.graph.agents.len());
        let mut runs: Vec<Run> = (0..count as u32)
            .map(|agent| Run {
                agent,
                invocation: Invocation::new(program, dispatch, agent),
                ended: Ended::Unknown,
                fuel: FUEL,
                stops: 0,
                unmatched_reads: 0,
                barriers: 0,
                stands_at: None,
                waits_at: None,
                at_barrier: None,
                goes_on: true,
            })
            .collect();
        while runs.iter().any(|run| run.goes_on || run.waits_at.is_some()) {
            match runs.iter().position(|run| run.waits_at.is_some()) {
                Some(first) => self.together(first, &mut runs, &units),
                None => {
                    for run in &mut runs {
                        if std::mem::take(&mut run.goes_on) {
                            self.advance(run, &units);
                        }
                    }
                    self.pass_barriers(&mut runs);
                }
            }
        }
        runs
    }

    /// Lets those go on that stand at a barrier to which all invocations of its scope have come.
    fn pass_barriers(&self, runs: &mut [Run]) {
        if runs.iter().any(|run| run.goes_on || run.waits_at.is_some()) {
            return;
        }
        for index in 0..runs.len() {
            let Some(barrier) = runs[index].at_barrier.clone() else { continue };
            let is_member = |run: &&mut Run| self.graph.in_scope_instance(index as u32, barrier.1, run.agent);
            let mut members: Vec<&mut Run> = runs.iter_mut().filter(is_member).collect();
            // Of a subgroup those go on that are there.
            let joins = barrier.1 <= Scope::Subgroup;
            if joins || members.iter().all(|run| run.at_barrier.as_ref() == Some(&barrier)) {
                let here = members.iter_mut().filter(|run| run.at_barrier.as_ref() == Some(&barrier));
                here.for_each(|run| {
                    run.at_barrier = None;
                    run.goes_on = true;
                });
            }
        }
    }

    /// Tells the tracer where the invocation that it records wrote the byte that is asked for.
    fn mark_written(&mut self) {
        if self.tracer.records().is_some_and(|agent| self.memory.take_write_of(agent)) {
            self.tracer.mark();
        }
    }

    /// Lets those go on that stand at the subgroup operation of `first`.
    fn together(&mut self, first: usize, runs: &mut [Run], units: &[Option<(u32, u32)>]) {
        let Side { program, dispatch } = self.before;
        let waits_at = runs[first].waits_at.clone();
        let of_workgroup = waits_at.as_ref().is_some_and(|(_, scope)| *scope == Scope::Workgroup);
        let group = |index: usize| match of_workgroup {
            true => dispatch.places[index].workgroup,
            false => dispatch.places[index].subgroup,
        };
        let mut tangle: Vec<&mut Run> = runs
            .iter_mut()
            .filter(|run| run.waits_at == waits_at)
            .filter(|run| group(run.agent as usize) == group(first))
            .collect();
        let mut together: Vec<&mut Invocation> = tangle.iter_mut().map(|run| &mut run.invocation).collect();
        let goes_on = subgroup::go_on_together(program, dispatch, &mut together);
        for run in tangle {
            run.waits_at = None;
            if goes_on {
                self.advance(run, units);
            }
        }
    }

    /// Runs an invocation to its end, to the next subgroup operation, or until it stands in a loop that waits for something
    /// else than after read.
    fn advance(&mut self, run: &mut Run, units: &[Option<(u32, u32)>]) {
        self.mark_written();
        self.memory.agent = run.agent;
        runner::drive(self.before.program, &mut Replaying { replayer: self, run, units }, Decision::GoOn);
    }

    fn access(
        &self,
        agent: u32,
        kind: Kind,
        access: &Access,
        atomic: Option<&Atomicity>,
        units: &[Option<(u32, u32)>],
    ) -> Event {
        let object = self.before.dispatch.objects.get(access.object as usize);
        let (memory, reference) = object.map_or((u32::MAX, 0), |object| (object.memory, object.reference));
        let covered = units.iter().enumerate().filter(|(_, unit)| {
            unit.is_some_and(|(other, offset)| other == memory && bytes_of(access).any(|byte| byte == offset))
        });
        let covered: Vec<Unit> = covered.map(|(unit, _)| unit as Unit).collect();
        access_event(agent, kind, access, atomic, reference, covered.into_iter())
    }

    fn push(&mut self, event: Event) {
        let matched = self.find(&event);
        self.graph.events.push(Arc::new(event));
        self.of_after.push(matched);
    }

    /// The next event of after by the same invocation that does the same to the same place.
    fn find(&mut self, event: &Event) -> Option<EventId> {
        let same = |other: &Event| {
            other.agent == event.agent
                && other.units == event.units
                && match event.kind {
                    Kind::Read => other.reads(),
                    Kind::Write | Kind::Update => other.writes(),
                    Kind::Fence => other.kind == Kind::Fence,
                    Kind::Barrier { .. } => matches!(other.kind, Kind::Barrier { .. }),
                    Kind::Availability
                    | Kind::Visibility
                    | Kind::DeviceAvailability
                    | Kind::DeviceVisibility => other.kind == event.kind,
                }
        };
        let events = self.witnessed.events.iter().enumerate();
        let free = |(id, other): (usize, &Arc<Event>)| {
            let id = id as EventId;
            (same(other) && !self.used.contains(&id)).then_some((id, other.written == event.written))
        };
        let candidates: Vec<(EventId, bool)> = events.filter_map(free).collect();
        // Of several writes, one of the same value.
        let exact = candidates.iter().find(|(_, equal)| *equal && event.writes());
        let (found, _) = exact.or(candidates.first())?;
        self.used.insert(*found);
        Some(*found)
    }

    fn read(
        &mut self,
        mut event: Event,
        access: &Access,
        units: &[Option<(u32, u32)>],
    ) -> (usize, Vec<Byte>) {
        let matched = self.find(&event);
        let mut bytes: Vec<Byte> =
            bytes_of(access).map(|byte| self.memory.byte(access.object, byte)).collect();
        if let Some(other) = matched.and_then(|id| self.witnessed.events.get(id as usize)) {
            for (unit, value) in other.units.iter().zip(&other.read) {
                let Some(Some((_, offset))) = units.get(*unit as usize) else { continue };
                for (slot, byte) in bytes.iter_mut().zip(bytes_of(access)) {
                    if let Some(known) = byte.checked_sub(*offset).and_then(|at| value.get(at as usize)) {
                        *slot = *known;
                    }
                }
            }
        }
        event.read = unit_bytes(&event.units, access, &self.before, units, &bytes);
        event.sources = event.units.iter().map(|_| Source::Pending).collect();
        self.graph.events.push(Arc::new(event));
        self.of_after.push(matched);
        (self.graph.events.len() - 1, bytes)
    }

    /// What a read that waits finds for ever: what the only write left, or what the invocation read there last.
    fn lasting(&self, read: usize, access: &Access, place: (u32, u32), last: &Ended) -> Option<Vec<Byte>> {
        let units = &self.graph.events[read].units;
        let mut writes = self
            .witnessed
            .events
            .iter()
            .filter(|event| event.writes() && event.units.iter().any(|unit| units.contains(unit)));
        match (writes.next(), writes.next()) {
            (None, _) => Some(bytes_of(access).map(|byte| self.memory.byte(access.object, byte)).collect()),
            (Some(write), None) if write.units == *units => {
                let bytes: Vec<Byte> = write.written.iter().flatten().copied().collect();
                (bytes.len() == bytes_of(access).count()).then_some(bytes)
            }
            (Some(_), _) => match last {
                Ended::Waits(Some(read)) if read.place == place => read.bytes.clone(),
                _ => None,
            },
        }
    }

    fn write(
        &mut self,
        agent: u32,
        access: &Access,
        atomic: Option<&Atomicity>,
        units: &[Option<(u32, u32)>],
        bytes: &[Byte],
    ) {
        let mut event = self.access(agent, Kind::Write, access, atomic, units);
        event.written = unit_bytes(&event.units, access, &self.before, units, bytes);
        self.memory.set(access, bytes);
        self.push(event);
    }

    /// Reads-from, as after has it.
    fn connect(&mut self) {
        let of_before = |event: EventId| self.of_after.iter().position(|other| *other == Some(event));
        let mut sources = Vec::new();
        for (id, event) in self.graph.events.iter().enumerate() {
            let other = self.of_after[id].and_then(|other| self.witnessed.events.get(other as usize));
            let Some(other) = other.filter(|_| event.reads()) else { continue };
            let mapped = event.units.iter().map(|unit| match other.source(*unit) {
                Some(Source::Initial) => Source::Initial,
                Some(Source::Event(write)) => {
                    of_before(write).map_or(Source::Pending, |write| Source::Event(write as EventId))
                }
                Some(Source::Pending) | None => Source::Pending,
            });
            sources.push((id, mapped.collect()));
        }
        for (id, mapped) in sources {
            Arc::make_mut(&mut self.graph.events[id]).sources = mapped;
        }
    }
}

/// The bytes of each unit out of those of an access.
fn unit_bytes<A>(
    event_units: &[Unit],
    access: &Access,
    before: &Side,
    units: &[Option<(u32, u32)>],
    bytes: &[Byte],
) -> smallvec::SmallVec<A>
where
    A: smallvec::Array<Item = UnitBytes>,
{
    let memory = before.dispatch.objects.get(access.object as usize).map(|object| object.memory);
    let firsts: BTreeSet<u32> = units
        .iter()
        .flatten()
        .filter(|(other, _)| Some(*other) == memory)
        .map(|(_, offset)| *offset)
        .collect();
    let of_unit = |unit: &Unit| {
        let Some(Some((_, offset))) = units.get(*unit as usize) else { return UnitBytes::new() };
        let end = firsts.range(offset + 1..).next().copied().unwrap_or(u32::MAX).min(offset + 4);
        let within = bytes_of(access).zip(bytes).filter(|(byte, _)| (*offset..end).contains(byte));
        within.map(|(_, value)| *value).collect()
    };
    event_units.iter().map(of_unit).collect()
}

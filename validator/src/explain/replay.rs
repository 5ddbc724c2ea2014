//! Runs before with the values that an execution of after read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Side;
use crate::compare::ObjectMatch;
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, InstanceName, Order, Scope};
use crate::explore::events::{access_event, device_event, fence_event};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{subgroup, Invocation, SharedMemory, Stop, Written};
use crate::model::graph::{Event, EventId, Graph, Kind, Source, Unit, UnitBytes};
use crate::value::Byte;
use crate::witness::Witness;

/// Before's graph for an execution of after.
pub(super) struct Replay {
    pub(super) graph: Graph,
    /// For each event of the graph, the event of after that it was matched with.
    pub(super) of_after: Vec<Option<EventId>>,
}

/// Instructions of one invocation.
const FUEL: u64 = 1_000_000;
/// Reads of one invocation that after did not do: it is in a loop that waits for something else.
const MAX_UNMATCHED: u32 = 8;
/// Stops of one invocation.
const MAX_STOPS: usize = 1_000;

/// Replays `witness`, an execution on `after`, on `before`. `None` where that is not done when time is over.
pub(super) fn run(
    before: Side,
    after: &Dispatch,
    witness: &Witness,
    is_over: &dyn Fn() -> bool,
) -> Option<Replay> {
    let witnessed = witness.graph();
    let mut replay = Replayer {
        before,
        after,
        witness,
        witnessed: &witnessed,
        graph: Graph { agents: witnessed.agents.clone(), ..Graph::default() },
        of_after: Vec::new(),
        used: BTreeSet::new(),
        is_over,
    };
    replay.everybody();
    if is_over() {
        return None;
    }
    replay.connect();
    Some(Replay { graph: replay.graph, of_after: replay.of_after })
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
    /// Whether there is no time left.
    is_over: &'a dyn Fn() -> bool,
}

/// Memory that nobody else shares in the witness, and the initial contents.
struct Quiet<'a> {
    before: &'a Dispatch,
    /// Keys and first bytes of the witness's units.
    shared: &'a BTreeSet<(u32, u32)>,
    written: BTreeMap<(u32, u32), Byte>,
}

/// An invocation of before, as far as it came.
struct Run<'a> {
    agent: u32,
    invocation: Invocation,
    memory: Quiet<'a>,
    fuel: u64,
    stops: usize,
    unmatched_reads: u32,
    barriers: u32,
    /// What the atomic instruction accesses that it stands at.
    stands_at: Option<Access>,
    /// The operation that it stands at, and whose invocations act together there.
    waits_at: Option<(InstanceName, Scope)>,
}

impl Quiet<'_> {
    fn is_quiet(&self, access: &Access, atomicity: Option<&Atomicity>) -> bool {
        let Some(object) = self.before.objects.get(access.object as usize) else { return true };
        let orders = atomicity.is_some_and(|atomicity| atomicity.semantics.order != Order::Relaxed);
        !orders && !bytes_of(access).any(|byte| self.shared.contains(&(object.memory, byte / 4 * 4)))
    }

    fn byte(&self, object: u32, byte: u32) -> Byte {
        let Some(object) = self.before.objects.get(object as usize) else { return Byte::Undef };
        let written = self.written.get(&(object.memory, byte)).copied();
        written.or_else(|| object.initial.get(byte as usize).copied()).unwrap_or(Byte::Undef)
    }
}

fn bytes_of(access: &Access) -> impl Iterator<Item = u32> + '_ {
    access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len)
}

impl SharedMemory for Quiet<'_> {
    fn size(&self, object: u32) -> u32 {
        self.before.objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        if !self.is_quiet(access, atomicity) {
            return false;
        }
        for (slot, byte) in out.iter_mut().zip(bytes_of(access)) {
            *slot = self.byte(access.object, byte);
        }
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        let Some(object) = self.before.objects.get(access.object as usize) else { return Written::Changed };
        if !self.is_quiet(access, atomicity) {
            return Written::Event;
        }
        for (value, byte) in bytes.iter().zip(bytes_of(access)) {
            self.written.insert((object.memory, byte), *value);
        }
        Written::Changed
    }
}

/// One invocation on its way.
struct Replaying<'r, 'a, 'm> {
    replayer: &'r mut Replayer<'a>,
    run: &'r mut Run<'m>,
    units: &'r [Option<(u32, u32)>],
}

impl Replaying<'_, '_, '_> {
    /// What a read gives.
    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>) -> Vec<Byte> {
        let Replaying { replayer, run, units } = self;
        let event = replayer.access(run.agent, Kind::Read, access, atomicity, units);
        let (id, bytes) = replayer.read(event, access, units, &run.memory);
        run.unmatched_reads += u32::from(replayer.of_after[id].is_none());
        bytes
    }
}

impl Driver for Replaying<'_, '_, '_> {
    type End = ();

    fn run(&mut self) -> Stop {
        let Side { program, dispatch } = self.replayer.before;
        let Run { invocation, memory, fuel, stops, unmatched_reads, .. } = &mut *self.run;
        if *stops == MAX_STOPS || *unmatched_reads > MAX_UNMATCHED || (self.replayer.is_over)() {
            return Stop::OutOfFuel;
        }
        *stops += 1;
        invocation.run(program, dispatch, memory, fuel)
    }

    fn invocation(&mut self) -> &mut Invocation {
        &mut self.run.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<()> {
        let agent = self.run.agent;
        match stop {
            Stop::Read(access) => return Decision::Read(self.read(&access, None)),
            Stop::AtomicRead { access, atomicity, .. } => {
                let bytes = self.read(&access, Some(&atomicity));
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
            Stop::Barrier { execution, fence, .. } => {
                let kind = Kind::Barrier { instance: self.run.barriers, execution };
                self.replayer.push(fence_event(agent, kind, &fence));
                self.run.barriers += 1;
            }
            Stop::Subgroup { name, scope, .. } => {
                self.run.waits_at = Some((name, scope));
                return Decision::End(());
            }
            Stop::Choose { .. } => return Decision::Choose(0),
            Stop::LoopEntry { .. } | Stop::Iteration { .. } => {}
            // An explanation does with the events up to here.
            _ => return Decision::End(()),
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

    /// Runs each invocation to its end, or to the next subgroup operation; there those of a subgroup that
    /// stand at one name go on together.
    fn everybody(&mut self) {
        let units = self.units();
        let shared: BTreeSet<(u32, u32)> =
            units.iter().flatten().map(|(memory, offset)| (*memory, offset / 4 * 4)).collect();
        let Side { program, dispatch } = self.before;
        let count = dispatch.places.len().min(self.graph.agents.len());
        let mut runs: Vec<Run> = (0..count as u32)
            .map(|agent| Run {
                agent,
                invocation: Invocation::new(program, dispatch, agent),
                memory: Quiet { before: dispatch, shared: &shared, written: Default::default() },
                fuel: FUEL,
                stops: 0,
                unmatched_reads: 0,
                barriers: 0,
                stands_at: None,
                waits_at: None,
            })
            .collect();
        runs.iter_mut().for_each(|run| self.advance(run, &units));
        while let Some(first) = runs.iter().position(|run| run.waits_at.is_some()) {
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
            let mut together: Vec<&mut Invocation> =
                tangle.iter_mut().map(|run| &mut run.invocation).collect();
            let goes_on = subgroup::go_on_together(program, dispatch, &mut together);
            for run in tangle {
                run.waits_at = None;
                if goes_on {
                    self.advance(run, &units);
                }
            }
        }
    }

    /// Runs an invocation to its end, to the next subgroup operation, or until it stands in a loop that waits for something
    /// else than after read.
    fn advance(&mut self, run: &mut Run, units: &[Option<(u32, u32)>]) {
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
        memory: &Quiet,
    ) -> (usize, Vec<Byte>) {
        let matched = self.find(&event);
        let mut bytes: Vec<Byte> = bytes_of(access).map(|byte| memory.byte(access.object, byte)).collect();
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

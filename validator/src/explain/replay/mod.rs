//! Runs a module with the values that an execution read: before with those of after, or after itself once more.

mod driver;
mod quiet;
mod units;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::account::{Bound, Ended, Tracer};
use super::Side;
use crate::behaviour::Undefined;
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Scope};
use crate::explore::events::access_event;
use crate::interp::runner::{self, Decision};
use crate::interp::{subgroup, Invocation};
use crate::model::graph::{Event, EventId, Graph, Kind, Source};
use crate::value::Byte;
use crate::witness::Witness;
use driver::{Replaying, Run, FUEL_OF_ALL};
use quiet::{bytes_of, Quiet};
use units::Units;

/// Before's graph for an execution of after.
pub(super) struct Replay {
    pub(super) graph: Graph,
    /// For each event of the graph, the event of after that it was matched with.
    pub(super) of_after: Vec<Option<EventId>>,
    /// How the invocations ended.
    pub(super) runs: Vec<(Invocation, Ended)>,
    /// Who wrote the byte last that was asked for, and what.
    pub(super) writer: Option<(u32, Byte)>,
    /// Something undefined went one of several ways.
    pub(super) chose: bool,
    /// Somebody came to a barrier or to an operation that invocations do together.
    pub(super) met: bool,
}

impl Replay {
    /// A bound at which an invocation was given up, if there is one.
    pub(super) fn cut(&self) -> Option<Bound> {
        self.runs.iter().find_map(|(_, ended)| match ended {
            Ended::Cut(bound) => Some(*bound),
            _ => None,
        })
    }
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
    pub(super) until: Until<'a>,
}

/// How far is replayed.
#[derive(Clone, Copy)]
pub(super) enum Until<'a> {
    /// As far as the witness goes.
    End,
    /// Until somebody has this undefined behaviour.
    Undefined(&'a Undefined),
    /// Until this invocation goes no further.
    EndOf(u32),
    /// This invocation alone.
    Only(u32),
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

/// Replays the witness, and lets `tracer` watch it. `None` where that is not done when time is over.
pub(super) fn run(played: Played, tracer: &mut Tracer, is_over: &dyn Fn() -> bool) -> Option<Replay> {
    let Played { before, after, witness, kin, way, target, until } = played;
    let witnessed = witness.graph();
    let mut replay = Replayer {
        before,
        witnessed: &witnessed,
        of_agent: of_agents(&witnessed),
        units: Units::of(witness, after, before.dispatch),
        graph: Graph { agents: witnessed.agents.clone(), ..Graph::default() },
        of_after: Vec::new(),
        used: BTreeSet::new(),
        memory: Quiet::of(before.dispatch),
        kin,
        way,
        until,
        tracer,
        left: FUEL_OF_ALL,
        is_over,
        is_done: false,
        chose: false,
        met: false,
    };
    target.into_iter().for_each(|target| replay.memory.watch(target));
    let runs = replay.everybody();
    replay.mark_written();
    let writer = replay.memory.writer();
    if is_over() {
        return None;
    }
    // Its own graph is the witness's.
    if kin == Kin::Other {
        replay.connect();
    }
    let runs = runs.into_iter().map(|run| (run.invocation, run.ended)).collect();
    let Replayer { graph, of_after, chose, met, .. } = replay;
    Some(Replay { graph, of_after, runs, writer, chose, met })
}

/// The events of each invocation.
fn of_agents(graph: &Graph) -> Vec<Vec<EventId>> {
    let mut all = vec![Vec::new(); graph.agents.len()];
    for (id, event) in graph.events.iter().enumerate() {
        all.get_mut(event.agent as usize)
            .into_iter()
            .for_each(|own: &mut Vec<EventId>| own.push(id as EventId));
    }
    all
}

struct Replayer<'a> {
    before: Side<'a>,
    /// The graph of the witness.
    witnessed: &'a Graph,
    /// Its events by invocation.
    of_agent: Vec<Vec<EventId>>,
    /// Its units in before.
    units: Units,
    graph: Graph,
    of_after: Vec<Option<EventId>>,
    used: BTreeSet<EventId>,
    memory: Quiet<'a>,
    kin: Kin,
    way: u32,
    until: Until<'a>,
    tracer: &'a mut Tracer,
    /// Instructions that are left for all invocations.
    left: u64,
    /// Whether there is no time left.
    is_over: &'a dyn Fn() -> bool,
    /// What is wanted was replayed.
    is_done: bool,
    /// Something undefined went one of several ways.
    chose: bool,
    /// Somebody came to a barrier or to an operation that invocations do together.
    met: bool,
}

impl Replayer<'_> {
    /// Runs each invocation to its end, to the next subgroup operation or to the next control barrier. Those of a subgroup
    /// that stand at one operation go on together; when nobody stands at one, those at barriers go on.
    fn everybody(&mut self) -> Vec<Run> {
        self.memory.share(self.units.places());
        let count = self.before.dispatch.places.len().min(self.graph.agents.len());
        let mut runs: Vec<Run> = (0..count as u32)
            .map(|agent| {
                let goes_on = !matches!(self.until, Until::Only(only) if only != agent);
                Run::of(agent, self.before, goes_on)
            })
            .collect();
        while !self.is_done && runs.iter().any(|run| run.goes_on || run.waits_at.is_some()) {
            match runs.iter().position(|run| run.waits_at.is_some()) {
                Some(first) => self.together(first, &mut runs),
                None => {
                    for run in &mut runs {
                        if !self.is_done && std::mem::take(&mut run.goes_on) {
                            self.advance(run);
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
    fn together(&mut self, first: usize, runs: &mut [Run]) {
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
            if goes_on && !self.is_done {
                self.advance(run);
            }
        }
    }

    /// Runs an invocation to its end, to the next subgroup operation, or until it stands in a loop that waits for something
    /// else than after read.
    fn advance(&mut self, run: &mut Run) {
        self.mark_written();
        self.memory.agent = run.agent;
        runner::drive(self.before.program, &mut Replaying { replayer: self, run }, Decision::GoOn);
        let stands = run.goes_on || run.waits_at.is_some() || run.at_barrier.is_some();
        self.is_done |= matches!(self.until, Until::EndOf(agent) if agent == run.agent && !stands);
    }

    fn access(&self, agent: u32, kind: Kind, access: &Access, atomic: Option<&Atomicity>) -> Event {
        let object = self.before.dispatch.objects.get(access.object as usize);
        let (memory, reference) = object.map_or((u32::MAX, 0), |object| (object.memory, object.reference));
        let covered = self.units.covered(memory, access);
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
            other.units == event.units
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
        let own = self.of_agent.get(event.agent as usize).into_iter().flatten();
        let free = |id: &EventId| {
            let (id, other) = (*id, &self.witnessed.events[*id as usize]);
            (same(other) && !self.used.contains(&id)).then_some((id, other.written == event.written))
        };
        let candidates: Vec<(EventId, bool)> = own.filter_map(free).collect();
        // Of several writes, one of the same value.
        let exact = candidates.iter().find(|(_, equal)| *equal && event.writes());
        let (found, _) = exact.or(candidates.first())?;
        self.used.insert(*found);
        self.tracer.matched(event.agent, *found);
        Some(*found)
    }

    fn read(&mut self, mut event: Event, access: &Access) -> (usize, Vec<Byte>) {
        let matched = self.find(&event);
        let mut bytes: Vec<Byte> =
            bytes_of(access).map(|byte| self.memory.byte(access.object, byte)).collect();
        if let Some(other) = matched.and_then(|id| self.witnessed.events.get(id as usize)) {
            for (unit, value) in other.units.iter().zip(&other.read) {
                let Some(first) = self.units.first_byte(*unit) else { continue };
                for (slot, byte) in bytes.iter_mut().zip(bytes_of(access)) {
                    if let Some(known) = byte.checked_sub(first).and_then(|at| value.get(at as usize)) {
                        *slot = *known;
                    }
                }
            }
        }
        event.read = self.units.bytes(&event.units, access, &bytes);
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

    fn write(&mut self, agent: u32, access: &Access, atomic: Option<&Atomicity>, bytes: &[Byte]) -> Event {
        let mut event = self.access(agent, Kind::Write, access, atomic);
        event.written = self.units.bytes(&event.units, access, bytes);
        self.memory.set(access, bytes);
        event
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

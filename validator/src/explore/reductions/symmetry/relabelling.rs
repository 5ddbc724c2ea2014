//! Relabelling: invocations may change places although they write values that distinguish them.
//!
//! Some instructions write values that depend on which invocation of a class has the place. Their writes are *varied*.
//! All other writes of a class are assumed to be independent of that. An invocation *parts* where it makes a varied
//! write or reads from one. From there on it need not do the same as other members of its class. But if what it does
//! has the same *shape*, that is, events that differ only in what varied writes give, then the axioms do not
//! distinguish the executions.
//!
//! For example, each invocation takes a ticket lock and stores its own number to `last`. The stores are varied. The
//! critical sections of all orders have the same shape, so one order is visited.
//!
//! So each complete execution is run again with every choice of places, and each read has the same source. If the
//! shapes agree, and writes that are not varied give the same, then these are executions. There are no others: the
//! events of any execution, taken in an order of program order and reads-from, have the shape of events of an execution
//! with the invocations in the order of their numbers. This requires that nothing which is left out before an execution
//! is complete depends on such values. [`gates`](crate::explore::reductions::symmetry::gates) ensures this for turns of
//! spin loops, compare-exchanges and undefined behaviour.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::event::Access;
use crate::explore::reductions::symmetry::classes::Symmetry;
use crate::explore::reductions::symmetry::replay::{self, Deed, End, Ground, Run};
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::Parting;
use crate::ir::InstId;
use crate::model::graph::{EventId, Graph, Source, UnitBytes};
use crate::value::Byte;

/// Why the invocations in other places do not give an execution of the same shape.
pub(crate) enum Mismatch {
    Shape,
    /// An instruction that is not known to be varied writes another value.
    Values(InstId),
}

/// What a write gives each of its units.
pub(crate) type Written = SmallVec<[UnitBytes; 1]>;

/// A complete execution, prepared to be run again with other members in the places of those that part.
pub(crate) struct Relabelling {
    /// What each invocation that parts does.
    pub(crate) parts: Vec<Part>,
    /// Steps, as part and number, in an order in which everything is written before it is read.
    pub(crate) order: Vec<(usize, usize)>,
    /// The varied writes.
    pub(crate) varied: Arc<[EventId]>,
    /// What the varied writes give in the execution.
    pub(crate) written: Vec<Written>,
}

/// What the invocation in one place does after it parts.
pub(crate) struct Part {
    pub(crate) agent: u32,
    /// For each member of the class, its run up to the point where the invocation parts.
    begun: Arc<Vec<Run>>,
    /// The read at which the members stand then.
    end: End,
    steps: Vec<Step>,
}

/// What the invocation does from one read to the next one.
struct Step {
    bytes: Vec<Byte>,
    /// Bytes that come from a varied write: the number of the write, the number of the unit in it, and the indices of
    /// the bytes.
    varied: Vec<(usize, usize, SmallVec<[u32; 4]>)>,
    done: (Vec<Deed>, End),
    writes: Vec<Write>,
}

struct Write {
    spans: UnitSpans,
    /// The number of the write among the varied ones, or else what it gives.
    gives: Result<usize, Written>,
}

impl Part {
    pub(crate) fn is_last(&self, step: usize) -> bool {
        step + 1 == self.steps.len()
    }

    /// The run of a member of the class, by its number, up to the point where it parts.
    pub(crate) fn begun(&self, member: usize) -> &Run {
        &self.begun[member]
    }

    /// Performs the step of this number. What varied writes give goes to `written`.
    pub(crate) fn step(
        &self,
        ground: &Ground,
        number: usize,
        run: &mut Run,
        written: &mut [Written],
    ) -> Result<(), Mismatch> {
        let step = &self.steps[number];
        let mut bytes: SmallVec<[Byte; 16]> = SmallVec::from_slice(&step.bytes);
        for (write, unit, indices) in &step.varied {
            for (index, byte) in indices.iter().zip(&written[*write][*unit]) {
                bytes[*index as usize] = *byte;
            }
        }
        let end = match number {
            0 => &self.end,
            _ => &self.steps[number - 1].done.1,
        };
        let done = run.answer(ground, end, &bytes).ok_or(Mismatch::Shape)?;
        if !replay::have_same_shape(&done, &step.done) {
            return Err(Mismatch::Shape);
        }
        for ((inst, bytes), write) in done.0.iter().filter_map(Deed::write).zip(&step.writes) {
            let given = accesses::split_bytes(&write.spans, bytes);
            match &write.gives {
                Ok(varied) => written[*varied] = given.collect(),
                Err(same) if !given.eq(same.iter().cloned()) => return Err(Mismatch::Values(inst)),
                Err(_) => {}
            }
        }
        Ok(())
    }
}

impl Relabelling {
    /// Prepares an execution. `partings` has an entry for each invocation that parts.
    pub(crate) fn new(
        ground: &Ground,
        symmetry: &Symmetry,
        graph: &Graph,
        partings: &[(usize, Parting)],
    ) -> Result<Relabelling, Mismatch> {
        let mut casting =
            Relabeller { ground, symmetry, graph, numbers: FxHashMap::default(), varied: Vec::new() };
        for (agent, parting) in partings {
            casting.number_writes(*agent, *parting);
        }
        let parts: Result<Vec<Part>, Mismatch> =
            partings.iter().map(|(agent, parting)| casting.part(*agent, *parting)).collect();
        let parts = parts?;
        let mut maker = vec![(0, 0); casting.varied.len()];
        for (part, step, write) in parts.iter().enumerate().flat_map(|(number, part)| {
            let steps = part.steps.iter().enumerate();
            steps.flat_map(move |(step, done)| done.writes.iter().map(move |write| (number, step, write)))
        }) {
            if let Ok(varied) = write.gives {
                maker[varied] = (part, step);
            }
        }
        let mut order = Order { parts: &parts, maker, done: vec![0; parts.len()], order: Vec::new() };
        for (number, part) in parts.iter().enumerate() {
            order.go_to(number, part.steps.len());
        }
        let order = order.order;
        let written =
            casting.varied.iter().map(|event| graph.events[*event as usize].written.clone()).collect();
        Ok(Relabelling { order, varied: casting.varied.into(), written, parts })
    }
}

/// Divides an execution into parts and steps.
struct Relabeller<'a> {
    ground: &'a Ground<'a>,
    symmetry: &'a Symmetry,
    graph: &'a Graph,
    /// The number of each varied write.
    numbers: FxHashMap<EventId, usize>,
    varied: Vec<EventId>,
}

impl Relabeller<'_> {
    /// The events of an invocation from where it parts.
    fn events(&self, agent: usize, parting: Parting) -> impl Iterator<Item = EventId> + '_ {
        let events = (parting.read..).zip(&self.graph.events[parting.read as usize..]);
        events.filter(move |(_, event)| event.agent as usize == agent).map(|(id, _)| id)
    }

    fn number_writes(&mut self, agent: usize, parting: Parting) {
        let is_varied = |event: &EventId| {
            let event = &self.graph.events[*event as usize];
            event.writes() && self.ground.knowledge.varied.contains(&event.inst)
        };
        let varied: Vec<EventId> = self.events(agent, parting).filter(is_varied).collect();
        for event in varied {
            self.numbers.insert(event, self.varied.len());
            self.varied.push(event);
        }
    }

    fn part(&self, agent: usize, parting: Parting) -> Result<Part, Mismatch> {
        let (class, member) = self.symmetry.place_number(agent).ok_or(Mismatch::Shape)?;
        let (begun, end) = self.symmetry.classes[class].runs(parting.history).ok_or(Mismatch::Shape)?;
        let mut run = begun.get(member).ok_or(Mismatch::Shape)?.clone();
        let mut at = end.clone();
        let mut steps = Vec::new();
        let mut events = self.events(agent, parting).peekable();
        while let Some(read) = events.next() {
            let mut writes: SmallVec<[EventId; 4]> = SmallVec::new();
            let event = |id: EventId| &self.graph.events[id as usize];
            writes.extend(Some(read).filter(|read| event(*read).writes()));
            while let Some(next) = events.next_if(|next| !event(*next).reads()) {
                writes.extend(Some(next).filter(|next| event(*next).writes()));
            }
            let step = self.step(&mut run, &at, read, &writes)?;
            at = step.done.1.clone();
            steps.push(step);
        }
        match at {
            End::Finished => Ok(Part { agent: agent as u32, begun, end, steps }),
            End::Reading { .. } | End::Spins => Err(Mismatch::Shape),
        }
    }

    /// The step of an invocation that stands at a read, as it is in the execution.
    fn step(&self, run: &mut Run, at: &End, read: EventId, writes: &[EventId]) -> Result<Step, Mismatch> {
        let Ground { dispatch, knowledge, .. } = *self.ground;
        let spans = |access: &Access| {
            let memory = dispatch.objects.get(access.object as usize)?.memory;
            accesses::units_of(access, memory, knowledge, |_| {})
        };
        let End::Reading { access, .. } = at else { return Err(Mismatch::Shape) };
        let read_spans = spans(access).ok_or(Mismatch::Shape)?;
        let event = &self.graph.events[read as usize];
        let len: u32 = access.ranges.iter().map(|(_, len)| len).sum();
        let mut bytes = vec![Byte::Undef; len as usize];
        let mut varied = Vec::new();
        for (((unit, indices), source), read) in read_spans.iter().zip(&event.sources).zip(&event.read) {
            for (index, byte) in indices.iter().zip(read) {
                bytes[*index as usize] = *byte;
            }
            let Source::Event(write) = source else { continue };
            if let Some(number) = self.numbers.get(write) {
                let mut units = self.graph.events[*write as usize].units.iter();
                let position = units.position(|candidate| candidate == unit).ok_or(Mismatch::Shape)?;
                varied.push((*number, position, indices.clone()));
            }
        }
        let done = run.answer(self.ground, at, &bytes).ok_or(Mismatch::Shape)?;
        let deeds: Vec<_> = done.0.iter().filter_map(|deed| Some((deed, deed.write()?.1))).collect();
        if deeds.len() != writes.len() {
            return Err(Mismatch::Shape);
        }
        let mut made = Vec::new();
        for ((deed, bytes), id) in deeds.into_iter().zip(writes) {
            let spans = match deed {
                Deed::Write(access, ..) => spans(access).ok_or(Mismatch::Shape)?,
                Deed::Updated(..) | Deed::Fence(_) | Deed::Device(..) => read_spans.clone(),
            };
            let written = &self.graph.events[*id as usize].written;
            if !accesses::split_bytes(&spans, bytes).eq(written.iter().cloned()) {
                return Err(Mismatch::Shape);
            }
            let gives = self.numbers.get(id).copied().ok_or_else(|| written.clone());
            made.push(Write { spans, gives });
        }
        Ok(Step { bytes, varied, done, writes: made })
    }
}

/// Finds an order of steps in which the steps of one part follow each other as far as possible. What the executions
/// have in common is then run once.
struct Order<'a> {
    parts: &'a [Part],
    /// For each varied write, its part and step.
    maker: Vec<(usize, usize)>,
    /// The number of steps of each part so far.
    done: Vec<usize>,
    order: Vec<(usize, usize)>,
}

impl Order<'_> {
    /// Adds the steps of a part up to step `end`.
    fn go_to(&mut self, part: usize, end: usize) {
        let parts = self.parts;
        while self.done[part] < end {
            let step = self.done[part];
            for (write, ..) in &parts[part].steps[step].varied {
                let (other, before) = self.maker[*write];
                // A step may read what an earlier step of its own part wrote, and that one is already in the order.
                if other != part {
                    self.go_to(other, before + 1);
                }
            }
            self.done[part] = step + 1;
            self.order.push((part, step));
        }
    }
}

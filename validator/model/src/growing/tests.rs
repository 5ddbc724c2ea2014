//! Random graphs that grow, held against the relations as they are declared.

use std::sync::Arc;

use smallvec::{smallvec, SmallVec};

use super::Growing;
use crate::consistency::{executions, DataRace, Judge};
use crate::event::{ClassSet, Order, Scope};
use crate::event::{FunctionId, InstId};
use crate::graph::{Agent, Event, EventId, Graph, Kind, Source, Unit};
use crate::release_sequence::{depend_on_order, depend_on_plain_sources};
use crate::value::Byte;
use crate::vulkan::{self, Relations, Revision, Variant};

const GRAPHS: u64 = 4_000;
const BATCHES: usize = 16;

const VARIANTS: [Variant; 4] = [
    Variant { revision: Revision::R2025, chains: true },
    Variant { revision: Revision::R2025, chains: true },
    Variant { revision: Revision::R2024, chains: true },
    Variant { revision: Revision::R2025, chains: false },
];

/// References with the storage class and the units of what they lead to: two of them to the same memory.
const REFERENCES: [(ClassSet, &[Unit]); 3] =
    [(ClassSet::UNIFORM, &[0, 1]), (ClassSet::IMAGE, &[0, 1]), (ClassSet::WORKGROUP, &[2])];

const CLASSES: [ClassSet; 6] = [
    ClassSet::ALL,
    ClassSet::ALL,
    ClassSet(ClassSet::UNIFORM.0 | ClassSet::WORKGROUP.0),
    ClassSet(ClassSet::UNIFORM.0 | ClassSet::IMAGE.0),
    ClassSet::UNIFORM,
    ClassSet::WORKGROUP,
];

const SCOPES: [Scope; 7] = [
    Scope::Device,
    Scope::Device,
    Scope::Device,
    Scope::QueueFamily,
    Scope::Workgroup,
    Scope::Workgroup,
    Scope::Subgroup,
];

const ORDERS: [Order; 4] = [Order::AcquireRelease, Order::AcquireRelease, Order::Acquire, Order::Release];

/// Numbers that look random (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn once_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// What the graphs of a run had.
#[derive(Debug, Default)]
struct Seen {
    judged: usize,
    inconsistent: usize,
    racy: usize,
    /// Some access of one agent is location-ordered before one of another.
    ordered: usize,
    /// The same for a write that is published.
    published: usize,
    /// Left to the declared relations.
    declined: usize,
    /// Plain reads with several sources.
    chooses: usize,
    refused: usize,
    /// No executions for any order of writes, as what grows tells.
    shadowed: usize,
}

/// A graph in the making.
struct Maker {
    numbers: Numbers,
    graph: Graph,
    /// With what only the declared relations are for.
    specials: bool,
    /// Mostly atomics of one unit.
    contended: bool,
    /// The scope of all atomics and fences, if they have one.
    scope: Option<Scope>,
    barriers: u32,
}

impl Maker {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        let count = 3 + numbers.below(2) as u32;
        let mut at = Agent { subgroup: 0, workgroup: 0, queue_family: 0 };
        let mut agents = vec![at];
        for _ in 1..count {
            let level = numbers.below(6);
            at.subgroup += u32::from(level > 0);
            at.workgroup += u32::from(level > 1);
            at.queue_family += u32::from(level > 4);
            agents.push(at);
        }
        let graph = Graph { agents: agents.into(), ..Graph::default() };
        let (specials, contended) = (numbers.once_in(6), numbers.once_in(4));
        let scope = numbers.once_in(3).then(|| numbers.pick(&SCOPES));
        Maker { graph, specials, contended, scope, numbers, barriers: 0 }
    }

    fn event(&self, agent: usize, kind: Kind) -> Event {
        Event {
            agent: agent as u32,
            kind,
            units: smallvec![],
            sources: smallvec![],
            read: smallvec![],
            written: smallvec![],
            reference: u32::MAX,
            class: ClassSet::default(),
            atomic: false,
            scope: Scope::Invocation,
            order: Order::Relaxed,
            semantics: ClassSet::default(),
            make_available: false,
            make_visible: false,
            non_private: false,
            available: None,
            visible: None,
            volatile: false,
            inst: InstId { function: FunctionId(0), index: 0 },
            line: 0,
            place: None,
        }
    }

    /// Scope and semantics of an atomic or a fence.
    fn order(&mut self, event: &mut Event) {
        let numbers = &mut self.numbers;
        event.scope = self.scope.unwrap_or(numbers.pick(&SCOPES));
        event.order = numbers.pick(&ORDERS);
        event.semantics = numbers.pick(&CLASSES);
        event.make_available = !numbers.once_in(3);
        event.make_visible = !numbers.once_in(3);
    }

    fn source_of(&mut self, agent: usize, unit: Unit) -> Source {
        let events = self.graph.events.iter().enumerate();
        let writes = events.filter(|(_, event)| event.writes() && event.units.contains(&unit));
        let writes: Vec<_> = writes.map(|(id, event)| (id as EventId, event.agent as usize)).collect();
        let mut others = writes.iter().rev().filter(|(_, writer)| *writer != agent);
        match others.next() {
            Some((write, _)) if !self.contended && !self.numbers.once_in(3) => Source::Event(*write),
            _ if writes.is_empty() || self.numbers.once_in(5) => Source::Initial,
            _ => Source::Event(self.numbers.pick(&writes).0),
        }
    }

    fn access(&mut self, agent: usize) -> Event {
        let kind = self.numbers.pick(&[Kind::Read, Kind::Read, Kind::Write, Kind::Write, Kind::Update]);
        let mut event = self.event(agent, kind);
        let reference = if self.contended { 2 } else { self.numbers.pick(&[0, 0, 0, 0, 1, 2]) };
        let (class, units) = REFERENCES[reference];
        let is_plain = self.numbers.once_in(if self.contended { 16 } else { 2 });
        event.atomic = kind == Kind::Update || !is_plain;
        let is_wide = self.numbers.once_in(6) && (!event.atomic || self.specials);
        event.units = match is_wide {
            true => SmallVec::from_slice(units),
            false => smallvec![self.numbers.pick(units)],
        };
        event.reference = reference as u32;
        event.class = class;
        event.non_private = event.atomic || !self.numbers.once_in(6);
        if event.atomic {
            event.scope = self.scope.unwrap_or(self.numbers.pick(&SCOPES));
            if !self.numbers.once_in(3) {
                self.order(&mut event);
            }
        }
        if event.non_private && (event.atomic || self.numbers.once_in(2)) {
            let scope = if event.atomic { event.scope } else { self.numbers.pick(&SCOPES) };
            event.available = event.writes().then_some(scope);
            event.visible = event.reads().then_some(scope);
        }
        let units = event.units.clone();
        if event.reads() {
            event.sources = units.iter().map(|unit| self.source_of(agent, *unit)).collect();
        }
        if event.writes() {
            event.written =
                units.iter().map(|_| smallvec![Byte::Known(self.numbers.below(3) as u8)]).collect();
        }
        event
    }

    /// What comes next: an event, or those of one control barrier.
    fn next(&mut self) -> Vec<Event> {
        let agent = self.numbers.below(self.graph.agents.len());
        if let Some(answer) = self.answer() {
            return vec![answer];
        }
        match self.numbers.below(20) {
            0..=12 => vec![self.access(agent)],
            13..=16 => {
                let mut fence = self.event(agent, Kind::Fence);
                self.order(&mut fence);
                vec![fence]
            }
            17 if self.specials => {
                let kind = self.numbers.pick(&[Kind::DeviceAvailability, Kind::DeviceVisibility]);
                vec![self.event(agent, kind)]
            }
            18 if self.numbers.once_in(8) => {
                // More operations than fit into a word of bits.
                (0..70).map(|_| self.event(agent, Kind::Fence)).collect()
            }
            _ => self.barrier(),
        }
    }

    /// An update that reads what somebody wrote without an atomic.
    fn update_of_plain(&mut self) -> Option<Event> {
        let plain = |event: &&Arc<Event>| event.writes() && event.units.len() == 1;
        let writes = self.graph.events.iter().enumerate().filter(|(_, event)| plain(event));
        let writes: Vec<usize> =
            writes.filter(|(_, event)| !event.atomic || self.specials).map(|(id, _)| id).collect();
        let write = *writes.get(self.numbers.below(writes.len().max(1)))?;
        let agent = self.numbers.below(self.graph.agents.len());
        let mut event = self.event(agent, Kind::Update);
        self.order(&mut event);
        event.units = self.graph.events[write].units.clone();
        event.reference = self.graph.events[write].reference;
        event.class = self.graph.events[write].class;
        (event.atomic, event.non_private) = (true, true);
        (event.available, event.visible) = (Some(event.scope), Some(event.scope));
        event.sources = smallvec![Source::Event(write as EventId)];
        event.written = smallvec![smallvec![Byte::Known(1)]];
        Some(event)
    }

    /// Often, another invocation reads an atomic write at once, and acquires.
    fn answer(&mut self) -> Option<Event> {
        let write = self.graph.events.last().filter(|last| last.atomic && last.writes()).cloned()?;
        let agent = self.numbers.below(self.graph.agents.len());
        if self.contended || agent == write.agent as usize || self.numbers.once_in(2) {
            return None;
        }
        let mut event =
            Event { agent: agent as u32, kind: Kind::Read, written: smallvec![], ..Event::clone(&write) };
        self.order(&mut event);
        event.scope = write.scope;
        event.available = None;
        event.visible = Some(event.scope);
        event.sources =
            write.units.iter().map(|_| Source::Event(self.graph.events.len() as EventId - 1)).collect();
        Some(event)
    }

    fn barrier(&mut self) -> Vec<Event> {
        let again = self.specials && self.numbers.once_in(3);
        self.barriers += u32::from(!again);
        let kind = Kind::Barrier {
            instance: self.barriers,
            execution: self.numbers.pick(&[
                Scope::Device,
                Scope::Workgroup,
                Scope::Workgroup,
                Scope::Subgroup,
            ]),
        };
        let mut first = self.event(0, kind);
        if !self.numbers.once_in(4) {
            self.order(&mut first);
        }
        let varies = self.numbers.once_in(4);
        let mut events = Vec::new();
        for agent in 0..self.graph.agents.len() {
            if agent > 0 && self.numbers.once_in(4) {
                continue;
            }
            for _ in 0..1 + usize::from(self.numbers.once_in(16)) {
                let mut event = Event { agent: agent as u32, ..first.clone() };
                if varies {
                    self.order(&mut event);
                }
                events.push(event);
            }
        }
        events
    }

    /// The graph with what comes next.
    fn proposal(&mut self) -> Graph {
        let mut graph = self.graph.clone();
        graph.events.extend(self.next().into_iter().map(Arc::new));
        let len = graph.events.len();
        if self.specials && len > 1 && self.numbers.once_in(8) {
            let (a, b) = (self.numbers.below(len - 1), len - 1);
            graph.system_synchronizes_with.push((a as EventId, b as EventId));
        }
        graph
    }
}

/// Whether the relations of a graph are settled as it grows, if they were with its first events.
fn is_settled(graph: &Graph, first: usize) -> bool {
    let instance = |event: &Arc<Event>| match event.kind {
        Kind::Barrier { instance, .. } => Some(instance),
        _ => None,
    };
    let (old, new) = graph.events.split_at(first);
    let is_split =
        new.iter().filter_map(instance).any(|new| old.iter().filter_map(instance).any(|old| old == new));
    let is_settled = |event: &Arc<Event>| {
        let is_wide = event.atomic && event.units.len() > 1;
        !is_wide && !matches!(event.kind, Kind::DeviceAvailability | Kind::DeviceVisibility)
    };
    graph.system_synchronizes_with.is_empty() && !is_split && new.iter().all(is_settled)
}

/// Holds the relations themselves against the declared ones.
fn compare_relations(growing: &Growing, graph: &Graph, relations: &Relations, what: &str) {
    for a in 0..graph.events.len() {
        for b in 0..graph.events.len() {
            let pair = (a as EventId, b as EventId);
            let synchronizes = growing.synchronizes_with.contains(&pair);
            assert_eq!(synchronizes, relations.synchronizes_with.contains(a, b), "{what}: sw {a} {b}");
            let happens_before = match growing.synchronizes_with.is_empty() {
                true => graph.program_ordered(a, b),
                false => growing.hb.contains(growing.operation_of(a), growing.operation_of(b)),
            };
            assert_eq!(happens_before, relations.happens_before.contains(a, b), "{what}: hb {a} {b}");
        }
    }
    let units: Vec<Unit> = growing.locations.iter().map(|location| location.unit).collect();
    let declared: Vec<Unit> = relations.locations.iter().map(|location| location.unit).collect();
    assert_eq!(units, declared, "{what}");
    for (location, declared) in growing.locations.iter().zip(&relations.locations) {
        assert_eq!(location.events[..], declared.events, "{what}");
        for a in 0..declared.events.len() {
            let row: Vec<usize> = location.location_ordered.row(a).collect();
            let expected: Vec<usize> = declared.location_ordered.row(a).collect();
            assert_eq!(row, expected, "{what}: unit {}, after {}", location.unit, declared.events[a]);
        }
    }
}

/// Holds a graph that was taken in against the declared relations; whether it is an execution.
fn compare(growing: &mut Growing, graph: &Graph, variant: Variant, seen: &mut Seen, what: &str) -> bool {
    let relations = vulkan::relations(graph, variant);
    let judge = Judge { graph, relations: &relations, variant };
    assert!(growing.covers(graph), "{what}");
    compare_relations(growing, graph, &relations, what);
    let races: Vec<DataRace> = judge.data_races();
    assert_eq!(growing.data_race(), races.first().copied(), "{what}");
    let is_consistent = judge.is_consistent();
    assert_eq!(growing.is_consistent(), is_consistent, "{what}: whether it is an execution");
    seen.judged += 1;
    seen.racy += usize::from(!races.is_empty());
    seen.inconsistent += usize::from(!is_consistent);
    let across = |published: bool| {
        relations.locations.iter().any(|location| {
            let event = |index: usize| &graph.events[location.events[index] as usize];
            let later = |a: usize| location.location_ordered.row(a).map(move |b| (event(a), event(b)));
            let mut pairs = (0..location.events.len()).flat_map(later);
            pairs.any(|(a, b)| a.agent != b.agent && (a.writes() || !published))
        })
    };
    seen.ordered += usize::from(across(false));
    seen.published += usize::from(across(true));
    if is_consistent {
        for observed in [|_: Unit| true, |unit: Unit| unit == 1] {
            assert_eq!(growing.final_values(graph, &observed), judge.final_values(&observed), "{what}");
        }
        for unit in 0..4 {
            let latest = judge.latest_writes(unit);
            assert_eq!(growing.latest_writes(unit), latest, "{what}: the latest writes of {unit}");
            let is_racy = races.iter().any(|race| race.unit == unit);
            assert!(
                !growing.writes_are_ordered(unit) || is_racy || latest.len() <= 1,
                "{what}: {unit} is ordered"
            );
        }
    }
    is_consistent
}

/// What a plain read that `graph` ends with may see of one unit, by the declared relations: what is shadowed by a
/// write in front of it is gone, the initial value by any.
fn visible_to_last(graph: &Graph, relations: &Relations, unit: Unit) -> Vec<Source> {
    let Some(location) = relations.locations.iter().find(|location| location.unit == unit) else {
        return Vec::new();
    };
    let last = location.events.len() - 1;
    let order = &location.location_ordered;
    let writes: Vec<usize> =
        (0..last).filter(|index| graph.events[location.events[*index] as usize].writes()).collect();
    let shadows =
        |w: usize, z: usize| order.contains(w, last) && order.contains(w, z) && order.contains(z, last);
    let initial = writes.iter().all(|write| !order.contains(*write, last)).then_some(Source::Initial);
    let seen = writes.iter().filter(|w| !writes.iter().any(|z| shadows(**w, *z)));
    initial.into_iter().chain(seen.map(|write| Source::Event(location.events[*write]))).collect()
}

/// Holds what is said of an access before it is there against what is then true. `behind` may be behind `growing`.
fn compare_beforehand(
    growing: &Growing,
    behind: &Growing,
    (before, graph): (&Graph, &Graph),
    variant: Variant,
    seen: &mut Seen,
    what: &str,
) {
    let Some(event) = graph.events.last() else { return };
    if !event.reads() || !is_settled(graph, before.events.len()) {
        return;
    }
    let read = Event { kind: Kind::Read, ..Event::clone(event) };
    let admits = event.units.iter().zip(&event.sources).all(|(unit, source)| {
        let admission = growing.admission(before, &read, *unit);
        admission.admits(*source) && (!event.writes() || admission.admits_update(*source))
    });
    if !admits {
        let relations = vulkan::relations(graph, variant);
        seen.refused += 1;
        let is_consistent = Judge { graph, relations: &relations, variant }.is_consistent();
        assert!(!is_consistent, "{what}: refused, and an execution");
    }
    if event.atomic {
        return;
    }
    let mut open = graph.clone();
    let sources = event.units.iter().map(|_| Source::Pending).collect();
    *open.events.last_mut().expect("an event") = Arc::new(Event { sources, ..Event::clone(event) });
    let relations = vulkan::relations(&open, variant);
    let expected: Vec<Vec<Source>> =
        event.units.iter().map(|unit| visible_to_last(&open, &relations, *unit)).collect();
    seen.chooses += usize::from(expected.iter().any(|sources| sources.len() > 1));
    for relations in [growing, behind] {
        assert_eq!(relations.visible_sources(&open), Some(expected.clone()), "{what}: what it sees");
    }
}

fn grow_one(seed: u64, seen: &mut Seen) {
    let mut maker = Maker::new(seed);
    let variant = VARIANTS[seed as usize % VARIANTS.len()];
    let mut growing = Growing::new(&maker.graph, variant);
    let mut behind = growing.clone();
    for batch in 0..BATCHES {
        let graph = maker.proposal();
        let what = format!("graph {seed}, batch {batch}");
        if let Some(update) = maker.update_of_plain() {
            let mut events = maker.graph.events.clone();
            events.push(update.into());
            let graph = Graph { events, ..maker.graph.clone() };
            let mut next = growing.clone();
            let is_known = depend_on_plain_sources(&graph) && next.extend(&graph);
            if is_known && !next.is_consistent() {
                let all = executions(&graph, variant);
                assert!(all.is_none_or(|all| all.is_empty()), "{what}: refused, and an execution");
                seen.shadowed += 1;
            }
        }
        if depend_on_order(&graph) {
            continue;
        }
        compare_beforehand(&growing, &behind, (&maker.graph, &graph), variant, seen, &what);
        assert!(!growing.covers(&graph), "{what}");
        let mut next = growing.clone();
        if !next.extend(&graph) {
            assert!(!is_settled(&graph, maker.graph.events.len()), "{what}: left to the declared relations");
            seen.declined += 1;
            return;
        }
        if compare(&mut next, &graph, variant, seen, &what) {
            if maker.numbers.once_in(3) {
                behind = growing;
            }
            growing = next;
            maker.graph = graph;
        }
    }
}

#[test]
fn what_grows_is_what_is_declared() {
    let mut seen = Seen::default();
    for seed in 0..GRAPHS {
        grow_one(seed, &mut seen);
    }
    let tenth = seen.judged / 10;
    let often = [seen.racy, seen.judged - seen.racy, seen.ordered, seen.published];
    assert!(often.iter().all(|count| *count > tenth), "{seen:?}");
    assert!(seen.inconsistent > 1_000 && seen.refused > 1_000 && seen.chooses > 1_000, "{seen:?}");
    assert!(seen.declined > 100 && seen.shadowed > 50, "{seen:?}");
}

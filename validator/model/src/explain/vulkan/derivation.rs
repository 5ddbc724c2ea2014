//! How the model comes to an ordering: the steps from one event to another, with the availability and
//! visibility operations on the way.
//!
//! Derives what [`vulkan`] derives, but keeps the shortest derivation. Nothing is judged by it: a test
//! holds it against the model's relations.

use std::collections::VecDeque;

use crate::graph::{EventId, Graph, Kind, Source, Unit};
use crate::location_order::{availability_operation, visibility_operation, DOMAINS};
use crate::operations::Operations;
use crate::relation::Relation;
use crate::vulkan::{self, Relations, Variant};

/// How one event happens before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    ProgramOrder,
    SynchronizesWith,
    SystemSynchronizesWith,
}

/// A step and the event that it leads to.
pub(super) type Link = (Step, usize);

/// What a synchronization with barriers goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    Barrier(usize),
    /// A write, and a read from it.
    Atomics(usize, usize),
}

/// Why one access is location-ordered before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Derived {
    /// From the first access (not listed) to the second.
    pub(super) links: Vec<Link>,
    /// Events whose availability operations form the chain; empty where none is needed.
    pub(super) available: Vec<usize>,
    /// Events whose visibility operations form the chain.
    pub(super) visible: Vec<usize>,
}

/// Derives orderings of one graph.
pub(super) struct Deriver<'a> {
    pub(super) graph: &'a Graph,
    /// The graph with its implicit operations, over which the rest is.
    operations: Operations<'a>,
    synchronizes_with: Relation,
    happens_before: Relation,
    variant: Variant,
    system: Relation,
    /// For each storage-class set, the steps of inter-thread-happens-before.
    steps: Vec<Relation>,
}

/// An availability or visibility operation of a chain.
struct Element {
    event: usize,
    /// Its domains, a bit for each of [`DOMAINS`].
    domains: u8,
    /// The one that it extends.
    previous: Option<usize>,
}

impl<'a> Deriver<'a> {
    pub(super) fn new(graph: &'a Graph, relations: &'a Relations, variant: Variant) -> Self {
        let operations = Operations::of(graph);
        let all = &*operations.graph;
        let agents = vulkan::events_of_agents(all);
        let sw = operations.expand(&relations.synchronizes_with).into_owned();
        let sets = vulkan::storage_class_sets(all, &sw);
        Deriver {
            graph,
            variant,
            system: vulkan::system_synchronizes_with(all),
            steps: sets.iter().map(|set| vulkan::inter_thread_steps(all, &sw, &agents, *set)).collect(),
            happens_before: vulkan::happens_before(all, &sw),
            synchronizes_with: sw,
            operations,
        }
    }

    /// The graph with its implicit operations.
    fn all(&self) -> &Graph {
        &self.operations.graph
    }

    fn operation_of(&self, event: usize) -> Option<usize> {
        self.operations.operation_of.get(event).map(|operation| *operation as usize)
    }

    fn event_of(&self, operation: usize) -> usize {
        self.operations.event_of[operation] as usize
    }

    /// A shortest way by which `a` happens before `b`.
    #[cfg(test)]
    pub(super) fn happens_before(&self, a: usize, b: usize) -> Option<Vec<Link>> {
        let links = self.between(self.operation_of(a)?, self.operation_of(b)?)?;
        Some(self.of_events(a, links))
    }

    /// Links between operations as ones between their events.
    fn of_events(&self, from: usize, links: Vec<Link>) -> Vec<Link> {
        let mut at = from;
        let mut told = Vec::new();
        for (step, operation) in links {
            let event = self.event_of(operation);
            if event != at {
                told.push((step, event));
                at = event;
            }
        }
        told
    }

    /// A shortest way by which one operation happens before another.
    fn between(&self, a: usize, b: usize) -> Option<Vec<Link>> {
        if self.all().program_ordered(a, b) {
            return Some(vec![(Step::ProgramOrder, b)]);
        }
        if !self.happens_before.contains(a, b) {
            return None;
        }
        let ways = self.steps.iter().filter_map(|steps| shortest_path(steps, a, b));
        let way = ways.min_by_key(Vec::len)?;
        let mut from = a;
        let mut links = Vec::new();
        for to in way {
            links.push((self.step(from, to), to));
            from = to;
        }
        Some(links)
    }

    fn step(&self, a: usize, b: usize) -> Step {
        if self.all().program_ordered(a, b) {
            Step::ProgramOrder
        } else if self.synchronizes_with.contains(a, b) {
            Step::SynchronizesWith
        } else {
            Step::SystemSynchronizesWith
        }
    }

    /// Through what a barrier synchronizes: the control barrier, or the atomic write and the atomic read of
    /// it. `None` where the synchronizing events are those themselves.
    pub(super) fn through(&self, a: usize, b: usize) -> Option<Through> {
        let events = &self.graph.events;
        let (first, last) = (events.get(a)?, events.get(b)?);
        if !first.is_fence() && !last.is_fence() {
            return None;
        }
        let after = (a..events.len()).filter(|id| events[*id].agent == first.agent);
        let before = || (0..b + 1).rev().filter(|id| events[*id].agent == last.agent);
        let instance = |id: usize| match events[id].kind {
            Kind::Barrier { instance, .. } => Some(instance),
            Kind::Read
            | Kind::Write
            | Kind::Update
            | Kind::Fence
            | Kind::Availability
            | Kind::Visibility
            | Kind::DeviceAvailability
            | Kind::DeviceVisibility => None,
        };
        let mut found = None;
        for x in after {
            let common = instance(x);
            if common.is_some() && before().any(|y| instance(y) == common) {
                return (x != a || instance(b) != common).then_some(Through::Barrier(x));
            }
            let source = Source::Event(x as EventId);
            let reads = |y: &usize| events[*y].atomic && events[*y].sources.contains(&source);
            if found.is_none() && events[x].atomic {
                found = before().find(reads).map(|y| Through::Atomics(x, y));
            }
        }
        found
    }

    /// Why `x` is location-ordered before `y` at a unit; `None` where it is not.
    pub(super) fn location_ordered(&self, x: usize, y: usize, unit: Unit) -> Option<Derived> {
        let derived = self.ordered(self.operation_of(x)?, self.operation_of(y)?, unit)?;
        let events = |operations: Vec<usize>| operations.into_iter().map(|id| self.event_of(id)).collect();
        Some(Derived {
            links: self.of_events(x, derived.links),
            available: events(derived.available),
            visible: events(derived.visible),
        })
    }

    /// The same for operations.
    fn ordered(&self, x: usize, y: usize, unit: Unit) -> Option<Derived> {
        let (a, b) = (self.all().events.get(x)?, self.all().events.get(y)?);
        let plainly = |links| Derived { links, available: Vec::new(), visible: Vec::new() };
        let same = a.agent == b.agent && a.reference == b.reference;
        let read_first = a.reads() && a.non_private && b.non_private;
        if same || read_first {
            if let Some(links) = self.between(x, y) {
                return Some(plainly(links));
            }
        }
        if a.reads() && self.system.contains(x, y) {
            return Some(plainly(vec![(Step::SystemSynchronizesWith, y)]));
        }
        let published = a.writes() && a.reference == b.reference && a.non_private && b.non_private;
        let mut ways = Vec::new();
        if published {
            ways.extend(self.through_chains(x, y, unit));
        }
        if a.writes() {
            ways.extend(self.through_device_domain(x, y));
        }
        ways.into_iter().min_by_key(|way| way.links.len())
    }

    /// By an availability chain to a domain of both agents, and for a read a visibility chain from it.
    fn through_chains(&self, x: usize, y: usize, unit: Unit) -> Vec<Derived> {
        let events = &self.all().events;
        let (Some(write), Some(last)) = (events.get(x), events.get(y)) else { return Vec::new() };
        let makes_available = |id: usize| availability_operation(&events[id], write, unit);
        let first = self.own(x..events.len(), x, &makes_available);
        let hb = &self.happens_before;
        let available = self.chain(first, |end, next| hb.contains(end, next), &makes_available);
        let makes_visible = |id: usize| visibility_operation(&events[id], last, unit);
        let visible = match last.reads() {
            true => {
                let first = self.own(0..y + 1, y, &makes_visible);
                self.chain(first, |end, next| hb.contains(next, end), &makes_visible)
            }
            false => Vec::new(),
        };
        let mut ways = Vec::new();
        for (end, element) in available.iter().enumerate() {
            for domain in self.common_domains(element, x) {
                if last.writes() && self.reaches(element.event, domain, y) {
                    ways.extend(self.way(x, y, &back(&available, end), &[]));
                }
                for (start, other) in visible.iter().enumerate() {
                    let shared = self.common_domains(other, y).any(|common| common == domain);
                    if shared && self.reaches(element.event, domain, other.event) {
                        let mut after = back(&visible, start);
                        after.reverse();
                        ways.extend(self.way(x, y, &back(&available, end), &after));
                    }
                }
            }
        }
        ways
    }

    /// Operations by `agent_of`'s agent among these events.
    fn own(
        &self,
        range: std::ops::Range<usize>,
        agent_of: usize,
        operation: &impl Fn(usize) -> u8,
    ) -> Vec<Element> {
        let agent = self.all().events[agent_of].agent;
        range
            .filter(|id| self.all().events[*id].agent == agent)
            .map(|event| Element { event, domains: operation(event), previous: None })
            .filter(|element| element.domains != 0)
            .collect()
    }

    /// Adds elements with broader domains, next to the chain's ends.
    fn chain(
        &self,
        mut chain: Vec<Element>,
        next_to: impl Fn(usize, usize) -> bool,
        operation: &impl Fn(usize) -> u8,
    ) -> Vec<Element> {
        let mut at = 0;
        while self.variant.chains && at < chain.len() {
            let (end, reached) = (chain[at].event, chain[at].domains);
            for event in (0..self.all().events.len()).filter(|event| next_to(end, *event)) {
                let domains = operation(event);
                let extends = (0..DOMAINS.len()).any(|domain| {
                    reached >> domain & 1 == 1
                        && domains >> (domain + 1) != 0
                        && self.in_instance(end, domain, event)
                });
                if extends && chain.iter().all(|element| element.event != event) {
                    chain.push(Element { event, domains, previous: Some(at) });
                }
            }
            at += 1;
        }
        chain
    }

    fn in_instance(&self, a: usize, domain: usize, b: usize) -> bool {
        let agent = |event: usize| self.all().events[event].agent;
        self.all().in_scope_instance(agent(a), DOMAINS[domain], agent(b))
    }

    /// The domains of an element that the agent of `event` accesses, too.
    fn common_domains<'s>(&'s self, element: &'s Element, event: usize) -> impl Iterator<Item = usize> + 's {
        (0..DOMAINS.len()).filter(move |domain| {
            element.domains >> domain & 1 == 1 && self.in_instance(element.event, *domain, event)
        })
    }

    fn reaches(&self, element: usize, domain: usize, event: usize) -> bool {
        self.in_instance(element, domain, event) && self.happens_before.contains(element, event)
    }

    /// The links from `x` to `y` through these operations.
    fn way(&self, x: usize, y: usize, available: &[usize], visible: &[usize]) -> Option<Derived> {
        let mut links = Vec::new();
        let mut at = x;
        for event in available.iter().chain(visible).chain([&y]) {
            if *event != at {
                links.extend(self.between(at, *event)?);
                at = *event;
            }
        }
        Some(Derived { links, available: available.to_vec(), visible: visible.to_vec() })
    }

    /// By operations of the device domain.
    fn through_device_domain(&self, x: usize, y: usize) -> Vec<Derived> {
        let of_kind = |kind: Kind| {
            let events = self.all().events.iter().enumerate();
            events.filter(move |(_, event)| event.kind == kind).map(|(id, _)| id)
        };
        let mut ways = Vec::new();
        for available in of_kind(Kind::DeviceAvailability) {
            if self.all().events[y].writes() {
                ways.extend(self.way(x, y, &[available], &[]));
            }
            if self.all().events[y].reads() {
                ways.extend(
                    of_kind(Kind::DeviceVisibility)
                        .filter_map(|visible| self.way(x, y, &[available], &[visible])),
                );
            }
        }
        ways
    }
}

/// The events of a chain up to the element `end`, the first one first.
fn back(chain: &[Element], end: usize) -> Vec<usize> {
    let mut events = Vec::new();
    let mut at = Some(end);
    while let Some(element) = at.and_then(|at| chain.get(at)) {
        events.push(element.event);
        at = element.previous;
    }
    events.reverse();
    events
}

/// The events of a shortest path, without its start.
pub(super) fn shortest_path(relation: &Relation, from: usize, to: usize) -> Option<Vec<usize>> {
    let mut previous: Vec<Option<usize>> = vec![None; relation.len()];
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for next in relation.row(at) {
            if previous[next].is_none() {
                previous[next] = Some(at);
                queue.push_back(next);
            }
        }
        if previous[to].is_some() {
            break;
        }
    }
    let mut path = vec![to];
    let mut at = previous[to]?;
    while at != from {
        path.push(at);
        at = previous[at]?;
    }
    path.reverse();
    Some(path)
}

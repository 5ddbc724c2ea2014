//! Compares the cycles that count as forbidden with the declared relations of the model.

use smallvec::smallvec;

use super::{in_open_cycles, link, Link};
use crate::event::{ClassSet, Order, Scope};
use crate::ir::{FunctionId, InstId};
use crate::model::consistency::Judge;
use crate::model::graph::{Agent, Event, Graph, Kind, Source, Unit};
use crate::model::vulkan::{relations, Revision, Variant};

const A: ClassSet = ClassSet::UNIFORM;
const B: ClassSet = ClassSet::WORKGROUP;
const NONE: ClassSet = ClassSet(0);
const VARIANTS: [Variant; 3] = [
    Variant { revision: Revision::R2025, chains: true },
    Variant { revision: Revision::R2024, chains: true },
    Variant { revision: Revision::R2025, chains: false },
];

/// An atomic of a ring, by what it releases or acquires. It is relaxed if that is nothing. A write acquires nothing,
/// and a read releases nothing.
#[derive(Clone, Copy, Debug)]
struct Atomic {
    semantics: ClassSet,
    order: Order,
    scope: Scope,
    /// The write is a plain one, private or not.
    plain: Option<Privacy>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Privacy {
    Private,
    NonPrivate,
}

/// Invocations, each in a workgroup of its own. Each reads what the one before it writes behind its read.
#[derive(Debug)]
struct Ring {
    /// The unit that each invocation reads, and the storage class of each unit.
    units: Vec<Unit>,
    classes: Vec<ClassSet>,
    reads: Vec<Atomic>,
    writes: Vec<Atomic>,
    /// Whether an invocation that reads and writes the same unit does both in one update.
    updates: bool,
}

impl Ring {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn event(&self, agent: usize, kind: Kind, unit: Unit, atomic: Atomic) -> Event {
        let order = if atomic.semantics.is_empty() { Order::Relaxed } else { atomic.order };
        let reads = kind != Kind::Write;
        let plain = atomic.plain.filter(|_| kind == Kind::Write);
        Event {
            agent: agent as u32,
            kind,
            units: smallvec![unit],
            sources: if reads { smallvec![Source::Initial] } else { smallvec![] },
            read: smallvec![],
            written: smallvec![],
            reference: unit,
            class: self.classes[unit as usize],
            atomic: plain.is_none(),
            scope: atomic.scope,
            order,
            semantics: atomic.semantics,
            make_available: false,
            make_visible: false,
            non_private: plain != Some(Privacy::Private),
            available: (kind != Kind::Read && plain.is_none()).then_some(atomic.scope),
            visible: reads.then_some(atomic.scope),
            volatile: false,
            inst: InstId { function: FunctionId(0), index: 0 },
            line: 0,
            place: None,
        }
    }

    /// The graph of the ring, with the read and the write of each invocation.
    fn graph(&self) -> (Graph, Vec<(usize, usize)>) {
        let agents =
            (0..self.len() as u32).map(|workgroup| Agent { subgroup: workgroup, workgroup, queue_family: 0 });
        let mut graph = Graph { agents: agents.collect(), ..Graph::default() };
        let mut places = Vec::new();
        let mut events = Vec::new();
        for agent in 0..self.len() {
            let (unit, next) = (self.units[agent], self.units[(agent + 1) % self.len()]);
            let first = events.len();
            if self.updates && unit == next {
                events.push(self.event(agent, Kind::Update, unit, self.writes[agent]));
                places.push((first, first));
            } else {
                events.push(self.event(agent, Kind::Read, unit, self.reads[agent]));
                events.push(self.event(agent, Kind::Write, next, self.writes[agent]));
                places.push((first, first + 1));
            }
        }
        for agent in 0..self.len() {
            let before = places[(agent + self.len() - 1) % self.len()].1;
            events[places[agent].0].sources = smallvec![Source::Event(before as u32)];
        }
        graph.events = events.into_iter().map(Into::into).collect();
        (graph, places)
    }

    /// Whether the rule lets the invocations wait for each other, given the storage class of the read of `index`.
    fn is_open(&self, graph: &Graph, places: &[(usize, usize)], index: usize) -> bool {
        let class = self.classes[self.units[index] as usize];
        let links: Vec<_> = (0..self.len())
            .map(|from| {
                let to = (from + 1) % self.len();
                let (write, read) = (&graph.events[places[from].1], &graph.events[places[to].0]);
                (from, to, Some(self.units[to]), link(graph, write, read, class))
            })
            .collect();
        let members: Vec<usize> = (0..self.len()).collect();
        in_open_cycles(&links, &members)[index]
    }

    /// Whether an execution is lost, and whether the search looks for an execution that is forbidden.
    fn judge(&self) -> (bool, bool) {
        let (graph, places) = self.graph();
        let open: Vec<bool> = (0..self.len()).map(|index| self.is_open(&graph, &places, index)).collect();
        let allowed = VARIANTS.map(|variant| {
            let relations = relations(&graph, variant);
            Judge { graph: &graph, relations: &relations, variant }.is_consistent()
        });
        (allowed.contains(&true) && open.contains(&false), open.contains(&true) && !allowed.contains(&true))
    }
}

/// Calls back with every choice of `count` of `options`.
fn for_each_choice<T: Copy>(options: &[T], count: usize, visit: &mut dyn FnMut(&[T])) {
    let mut chosen = Vec::new();
    for number in 0..options.len().pow(count as u32) {
        chosen.clear();
        chosen.extend(
            (0..count as u32).map(|digit| options[number / options.len().pow(digit) % options.len()]),
        );
        visit(&chosen);
    }
}

/// Checks that no execution of a ring of this length is lost. It returns for how many rings the search looks in vain,
/// and how many there are.
fn judge_all(
    len: usize,
    atomics: &[Atomic],
    units: &[Unit],
    classes: &[ClassSet],
    updates: bool,
) -> (usize, usize) {
    let (mut idle, mut all) = (0, 0);
    for_each_choice(units, len, &mut |units| {
        for_each_choice(classes, units.iter().max().map_or(0, |unit| *unit as usize + 1), &mut |classes| {
            for_each_choice(atomics, 2 * len, &mut |atomics| {
                let ring = Ring {
                    units: units.to_vec(),
                    classes: classes.to_vec(),
                    reads: atomics[..len].to_vec(),
                    writes: atomics[len..].to_vec(),
                    updates,
                };
                let (loses, idles) = ring.judge();
                assert!(!loses, "{ring:?}");
                (idle, all) = (idle + usize::from(idles), all + 1);
            });
        });
    });
    (idle, all)
}

const fn wide(semantics: ClassSet) -> Atomic {
    Atomic { semantics, order: Order::AcquireRelease, scope: Scope::Device, plain: None }
}

const fn narrow(semantics: ClassSet) -> Atomic {
    Atomic { scope: Scope::Workgroup, ..wide(semantics) }
}

#[test]
fn closed_cycles_of_two_are_forbidden() {
    let both = A.union(B);
    let atomics = [wide(NONE), wide(A), wide(B), wide(both), narrow(NONE), narrow(A)];
    for updates in [false, true] {
        let (_, all) = judge_all(2, &atomics, &[0, 1], &[A, B], updates);
        assert!(all > 10_000);
    }
}

/// Some of the writes are plain ones that other events release.
#[test]
fn closed_cycles_through_plain_writes_are_forbidden() {
    let plain = |privacy| Atomic { plain: Some(privacy), ..wide(NONE) };
    let [private, non_private] = [Privacy::Private, Privacy::NonPrivate].map(plain);
    judge_all(2, &[wide(NONE), wide(A), private, non_private], &[0, 1], &[A, B], false);
    judge_all(3, &[wide(NONE), wide(A), private, non_private], &[0, 1], &[A], false);
    // Without private writes the rule is exact.
    let (idle, all) = judge_all(3, &[wide(NONE), wide(A), non_private], &[0, 1, 2], &[A], false);
    assert_eq!((idle, all), (0, 19_683));
}

/// What a read-modify-write writes is not released if it only acquires, and what it reads is not acquired if it only
/// releases.
#[test]
fn half_of_the_order_closes_no_cycle() {
    let half = |order| Atomic { order, ..wide(A) };
    let atomics = [wide(NONE), wide(A), half(Order::Acquire), half(Order::Release)];
    for updates in [false, true] {
        assert_eq!(judge_all(2, &atomics, &[0, 1], &[A], updates).1, 4 * 256);
    }
}

#[test]
fn closed_cycles_of_three_are_forbidden() {
    for updates in [false, true] {
        judge_all(3, &[wide(NONE), wide(A), wide(B)], &[0, 1], &[A, B], updates);
        judge_all(3, &[wide(NONE), wide(A)], &[0, 1, 2], &[A, B], updates);
    }
}

/// With one storage class and one scope the rule is exact: if two units are read without synchronizing, the axioms
/// allow the cycle.
#[test]
fn open_cycles_of_four_are_allowed() {
    let (idle, all) = judge_all(4, &[wide(NONE), wide(A)], &[0, 1, 2, 3], &[A], false);
    assert_eq!((idle, all), (0, 65_536));
}

/// Without a cycle no speculation is needed, whatever is known about the links.
#[test]
fn only_those_in_a_cycle_count() {
    let unknown = |from, to| (from, to, Some(0), Link::Unknown);
    assert_eq!(in_open_cycles(&[unknown(0, 1), unknown(1, 2)], &[0, 1, 2]), [false; 3]);
    assert_eq!(
        in_open_cycles(&[unknown(0, 1), unknown(1, 0), unknown(1, 2)], &[0, 1, 2]),
        [true, true, false]
    );
    let loose = |from, to, unit| (from, to, Some(unit), Link::Loose);
    assert_eq!(in_open_cycles(&[loose(0, 1, 5), loose(1, 0, 5)], &[0, 1]), [false; 2]);
    assert_eq!(in_open_cycles(&[loose(0, 1, 5), loose(1, 0, 6)], &[0, 1]), [true; 2]);
    assert_eq!(in_open_cycles(&[loose(0, 1, 5), (1, 0, Some(6), Link::Ordered)], &[0, 1]), [false; 2]);
}

use std::sync::Arc;

use siphasher::sip128::{Hasher128, SipHasher13};
use smallvec::smallvec;

use super::{Onlookers, Standing};
use crate::event::{ClassSet, Order, Scope};
use crate::event::{FunctionId, InstId};
use crate::graph::{Agent, Event, EventId, Graph, Kind, Source, Unit};
use crate::growing::Growing;
use crate::value::Byte;
use crate::vulkan::Variant;

/// Units up to here are atomic, the others plain.
const ATOMIC: Unit = 2;

/// An event of an agent at a unit, at Device scope.
fn event(agent: u32, kind: Kind, unit: Unit, order: Order) -> Event {
    let atomic = unit < ATOMIC || kind == Kind::Fence;
    let orders = order != Order::Relaxed;
    Event {
        agent,
        kind,
        units: if kind == Kind::Fence { smallvec![] } else { smallvec![unit] },
        sources: smallvec![],
        read: smallvec![],
        written: smallvec![],
        reference: 0,
        class: ClassSet::UNIFORM,
        atomic: atomic && kind != Kind::Fence,
        scope: Scope::Device,
        order,
        semantics: if orders { ClassSet::UNIFORM } else { ClassSet::default() },
        make_available: orders,
        make_visible: orders,
        non_private: true,
        available: atomic.then_some(Scope::Device),
        visible: atomic.then_some(Scope::Device),
        volatile: false,
        inst: InstId { function: FunctionId(0), index: unit },
        line: 1,
        place: None,
    }
}

fn write(agent: u32, unit: Unit, value: u8, order: Order) -> Event {
    Event { written: smallvec![smallvec![Byte::Known(value); 4]], ..event(agent, Kind::Write, unit, order) }
}

fn read(agent: u32, unit: Unit, source: Source, order: Order) -> Event {
    let read = smallvec![smallvec![Byte::Known(0); 4]];
    Event { sources: smallvec![source], read, ..event(agent, Kind::Read, unit, order) }
}

fn update(agent: u32, unit: Unit, source: Source, value: u8, order: Order) -> Event {
    let written = smallvec![smallvec![Byte::Known(value); 4]];
    Event { kind: Kind::Update, written, ..read(agent, unit, source, order) }
}

fn fence(agent: u32, order: Order) -> Event {
    event(agent, Kind::Fence, 0, order)
}

const RELAXED: Order = Order::Relaxed;
const ACQUIRE: Order = Order::Acquire;
const RELEASE: Order = Order::Release;

fn of(write: EventId) -> Source {
    Source::Event(write)
}

/// What follows depends on, where the last of four agents goes on, or others do as well.
fn future_for(agents: &[u32], may_look: bool, events: &[Event]) -> Option<u128> {
    future_of_standing(agents, &[], may_look, events)
}

/// The same, where agents stand at acquiring reads.
fn future_of_standing(
    agents: &[u32],
    standing: &[Option<Standing>],
    may_look: bool,
    events: &[Event],
) -> Option<u128> {
    let agent = Agent { subgroup: 0, workgroup: 0, queue_family: 0 };
    let agents_of: Vec<Agent> =
        (0..4).map(|index| Agent { subgroup: index, workgroup: index, ..agent }).collect();
    let mut graph = Graph { agents: agents_of.into(), ..Graph::default() };
    graph.events = events.iter().cloned().map(Arc::new).collect();
    let mut growing = Growing::new(&graph, Variant::default());
    assert!(growing.extend(&graph) && growing.is_consistent());
    let onlookers = Onlookers {
        standing,
        agents,
        includes_all: &|scope| scope == Scope::Device,
        has_one_reference: &|_| true,
        may_race: Some(&|unit| unit >= ATOMIC),
        may_look: &|_| may_look,
        fences: true,
    };
    let mut hasher = SipHasher13::new();
    growing.hash_future(&graph, &onlookers, &mut hasher)?;
    Some(hasher.finish128().as_u128())
}

fn future(events: &[Event]) -> Option<u128> {
    future_for(&[3], true, events)
}

fn same(a: &[Event], b: &[Event]) {
    assert!(future(a).is_some());
    assert_eq!(future(a), future(b));
}

fn differ(a: &[Event], b: &[Event]) {
    assert!(future(a).is_some() && future(b).is_some());
    assert_ne!(future(a), future(b));
}

#[test]
fn who_made_an_event_does_not_count() {
    let pass = |agent, before| [update(agent, 0, before, 1, ACQUIRE), write(agent, 0, 0, RELEASE)];
    let both = |a, b| [pass(a, Source::Initial), pass(b, of(1))].concat();
    same(&both(0, 1), &both(1, 0));
    same(
        &[write(0, 0, 1, RELAXED), write(1, 1, 2, RELAXED)],
        &[write(2, 1, 2, RELAXED), write(0, 0, 1, RELAXED)],
    );
}

#[test]
fn values_and_their_order_count() {
    differ(&[write(0, 0, 1, RELAXED)], &[write(0, 0, 2, RELAXED)]);
    differ(&[write(0, 0, 1, RELAXED)], &[write(0, 1, 1, RELAXED)]);
    // One after the other, or in any order.
    differ(
        &[write(0, 0, 1, RELAXED), write(0, 0, 2, RELAXED)],
        &[write(0, 0, 1, RELAXED), write(1, 0, 2, RELAXED)],
    );
    differ(
        &[write(0, 0, 1, RELAXED), write(0, 0, 2, RELAXED)],
        &[write(0, 0, 2, RELAXED), write(0, 0, 1, RELAXED)],
    );
}

#[test]
fn what_was_seen_counts_and_how_often_it_was_read_does_not() {
    let writes = [write(0, 0, 1, RELAXED), write(0, 0, 2, RELAXED)];
    let seen = |reads: &[Source]| {
        let reads = reads.iter().map(|source| read(3, 0, *source, RELAXED));
        writes.iter().cloned().chain(reads).collect::<Vec<_>>()
    };
    differ(&seen(&[]), &seen(&[of(0)]));
    differ(&seen(&[of(0)]), &seen(&[of(1)]));
    same(&seen(&[of(1)]), &seen(&[of(0), of(1)]));
    // By somebody else it is nothing.
    same(&writes, &[&writes[..], &[read(1, 0, of(1), RELAXED)]].concat());
    // What everybody is behind is gone, be it one write or two.
    same(&seen(&[of(1)]), &[write(0, 0, 2, RELAXED), read(3, 0, of(0), RELAXED)]);
}

#[test]
fn what_a_read_would_add_counts() {
    let handed = |order| [write(0, 1, 7, RELAXED), write(0, 0, 1, order)];
    differ(&handed(RELAXED), &handed(RELEASE));
    // Through a release sequence.
    let through = |order| [&handed(order)[..], &[update(1, 0, of(1), 2, RELAXED)]].concat();
    differ(&through(RELAXED), &through(RELEASE));
    // Acquired already, or not yet.
    let with = |order| [&handed(RELEASE)[..], &[read(3, 0, of(1), order)]].concat();
    differ(&with(RELAXED), &with(ACQUIRE));
    // What was read before an acquire barrier to come.
    let relaxed_after = |order| [&handed(order)[..], &[read(3, 0, of(1), RELAXED)]].concat();
    differ(&relaxed_after(RELAXED), &relaxed_after(RELEASE));
}

#[test]
fn what_the_next_read_tells_is_seen_already() {
    let stands = |sources: &[EventId], writers: &[usize]| {
        let (sources, writers) = (sources.into(), writers.into());
        Some(Standing { sources, writers, classes: ClassSet::UNIFORM, publishes: true })
    };
    let handed = |order, sees: bool| {
        let mut events = vec![write(0, 1, 7, RELAXED), write(0, 0, 1, order)];
        events.extend(sees.then(|| read(3, 1, of(0), RELAXED)));
        events
    };
    let differs = |agents: &[u32], standing: &dyn Fn() -> Vec<Option<Standing>>, order| {
        let [with, without] =
            [true, false].map(|sees| future_of_standing(agents, &standing(), true, &handed(order, sees)));
        assert!(with.is_some());
        with != without
    };
    assert!(differs(&[3], &|| vec![None], RELEASE));
    assert!(!differs(&[3], &|| vec![stands(&[1], &[])], RELEASE));
    // A relaxed write tells nothing, nor does another that it may read from.
    assert!(differs(&[3], &|| vec![stands(&[1], &[])], RELAXED));
    assert!(differs(&[3], &|| vec![stands(&[0, 1], &[])], RELEASE));
    // What somebody may still write tells what that one sees, or is told before by what it stands at.
    assert!(!differs(&[0, 3], &|| vec![None, stands(&[1], &[0])], RELEASE));
    assert!(differs(&[2, 3], &|| vec![None, stands(&[1], &[0])], RELEASE));
    assert!(!differs(&[2, 3], &|| vec![stands(&[1], &[1]), stands(&[1], &[0])], RELEASE));
    // Semantics for other storage classes, or that do not publish plain writes.
    let elsewhere = || Some(Standing { classes: ClassSet::WORKGROUP, ..stands(&[1], &[]).unwrap() });
    assert!(differs(&[3], &|| vec![elsewhere()], RELEASE));
    let silent = || Some(Standing { publishes: false, ..stands(&[1], &[]).unwrap() });
    assert!(!differs(&[3], &|| vec![silent()], RELEASE));
    let plain = |sees: bool| [&[write(0, ATOMIC, 1, RELAXED)][..], &handed(RELEASE, sees)].concat();
    let moved = |sees: bool| {
        let mut events = plain(sees);
        events.iter_mut().flat_map(|event| &mut event.sources).for_each(|source| *source = of(1));
        events
    };
    let told = |sees: bool| {
        future_of_standing(
            &[3],
            &[Some(Standing { publishes: false, ..stands(&[2], &[]).unwrap() })],
            true,
            &moved(sees),
        )
    };
    assert_ne!(told(true), told(false));
}

#[test]
fn what_a_release_barrier_released_counts() {
    let around = |first: bool| {
        let (write, fence) = (write(3, 1, 7, RELAXED), fence(3, RELEASE));
        if first {
            vec![fence, write]
        } else {
            vec![write, fence]
        }
    };
    differ(&around(true), &around(false));
}

#[test]
fn a_write_that_was_taken_counts_only_where_somebody_looks() {
    let taken = |values: [u8; 2]| {
        [update(0, 0, Source::Initial, values[0], RELAXED), update(1, 0, of(0), values[1], RELAXED)]
    };
    let futures = |may_look| [[1, 5], [2, 5]].map(|values| future_for(&[3], may_look, &taken(values)));
    let [a, b] = futures(true);
    assert_ne!(a, b);
    let [a, b] = futures(false);
    assert!(a.is_some() && a == b);
    // Two that took the initial value, one after the other, are not there; whether one did counts.
    differ(&[write(0, 0, 1, RELAXED)], &[update(0, 0, Source::Initial, 1, RELAXED)]);
}

#[test]
fn accesses_that_may_race_count_until_everybody_is_behind_them() {
    let plain = |reads: &[Event]| [&[write(0, 2, 7, RELAXED), write(0, 0, 1, RELEASE)], reads].concat();
    differ(&plain(&[]), &plain(&[read(0, 2, of(0), RELAXED)]));
    let behind = |reads: &[Event]| [plain(reads), vec![read(3, 0, of(1), ACQUIRE)]].concat();
    let early = [write(0, 2, 7, RELAXED), read(0, 2, of(0), RELAXED), write(0, 0, 1, RELEASE)];
    let late = [&early[..], &[read(3, 0, of(2), ACQUIRE)]].concat();
    same(&behind(&[]), &late);
    // Some are behind it, others are not.
    let all = [0, 3];
    assert_ne!(future_for(&all, true, &behind(&[])), future_for(&all, true, &plain(&[])));
}

#[test]
fn other_graphs_are_not_compared() {
    let plain = [write(0, 2, 7, RELAXED), write(0, 0, 1, RELEASE)];
    assert!(future(&plain).is_some());
    let altered = |alter: &dyn Fn(&mut Event)| {
        let mut events = plain.clone();
        events.iter_mut().for_each(alter);
        future(&events)
    };
    assert_eq!(altered(&|event| event.scope = Scope::Workgroup), None);
    assert_eq!(altered(&|event| event.non_private = event.atomic), None);
    assert_eq!(altered(&|event| event.make_available = false), None);
    assert_eq!(altered(&|event| event.semantics = ClassSet::WORKGROUP), None);
    let twice = [write(0, 0, 1, RELEASE), Event { semantics: ClassSet::ALL, ..write(0, 0, 2, RELEASE) }];
    assert_eq!(future(&twice), None);
    // A plain access of an atomic place.
    assert_eq!(future(&[write(0, 0, 1, RELAXED), Event { atomic: false, ..write(0, 0, 2, RELAXED) }]), None);
    // Where nobody goes on there are final values.
    assert_eq!(future_for(&[], true, &plain), None);
}

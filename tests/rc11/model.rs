//! RC11 as a [`MemoryModel`]: Lahav, Vafeiadis, Kang, Hur, Dreyer, "Repairing Sequential Consistency in C/C++11"
//! (PLDI 2017), with its names.
//!
//! An update is one event here, where the paper has a read and a write. A fence has no location: program order from
//! or to it is in sb|≠loc. Scopes and storage classes mean nothing. Control barriers, which the paper has not, are
//! fences that synchronize with each other: what comes before one happens before what comes behind another of its
//! instance.

use spirv_tv::model::explain::Violation;
use spirv_tv::model::graph::{EventId, Graph, Kind, Source, Unit};
use spirv_tv::model::memory_model::{
    DataRace, Extent, FinalValues, LastWrites, Location, MemoryModel, Parameter, Relations,
};
use spirv_tv::model::relation::Relation;

use crate::axioms::Axioms;
use crate::cycles;

/// The model, or one of its rules broken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rc11 {
    pub weakened: Option<Weakened>,
}

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakened {
    /// NO-THIN-AIR is dropped, and reads speculate.
    NoThinAir,
    Coherence,
    Atomicity,
    /// SC is dropped.
    Sc,
    /// Of psc, only psc_F is left.
    PscBase,
    /// Of psc, only psc_base is left.
    PscF,
    /// hb at one location is no part of scb.
    ScbHbAtLocation,
    /// sb|≠loc; hb; sb|≠loc is no part of scb.
    ScbAround,
    /// The same with sb for sb|≠loc, which makes scb larger.
    ScbAroundAnywhere,
    ScbMo,
    ScbRb,
    /// Fences release nothing.
    ReleaseFences,
    /// Fences acquire nothing.
    AcquireFences,
    /// A release sequence ends at an update.
    ReleaseSequenceUpdates,
    /// A release sequence has no stores of its own invocation.
    ReleaseSequenceStores,
    /// Release stores and acquire loads do not synchronize by themselves.
    SynchronizingAccesses,
    /// A read and a write do not race.
    ReadWriteRaces,
    /// Two writes do not race.
    WriteWriteRaces,
    /// Atomic accesses race, too, with each other.
    AtomicRaces,
    /// Control barriers do not synchronize. Searches then leave out what nobody else accesses, but not what barriers
    /// would order.
    Barriers,
    /// Searches leave out what nobody else accesses.
    Unshared,
}

impl Rc11 {
    pub fn has(&self, rule: Weakened) -> bool {
        self.weakened != Some(rule)
    }
}

impl MemoryModel for Rc11 {
    fn name(&self) -> &'static str {
        "rc11"
    }

    fn title(&self) -> String {
        "RC11".to_owned()
    }

    fn parameters(&self) -> Vec<(&'static str, Parameter)> {
        self.weakened.iter().map(|rule| ("weakened", Parameter::Text(format!("{rule:?}")))).collect()
    }

    fn permits_load_buffering(&self) -> bool {
        !self.has(Weakened::NoThinAir)
    }

    fn is_local(&self) -> bool {
        false
    }

    fn depends_on_unshared(&self) -> bool {
        !matches!(self.weakened, Some(Weakened::Barriers | Weakened::Unshared))
    }

    fn relations(&self, graph: &Graph, _extent: Extent) -> Relations {
        let synchronizes_with = synchronizes_with(graph, *self);
        let happens_before = happens_before(graph, &synchronizes_with, *self);
        let mut units: Vec<Unit> =
            graph.events.iter().flat_map(|event| event.units.iter().copied()).collect();
        units.sort_unstable();
        units.dedup();
        let locations = units.into_iter().map(|unit| location(graph, unit, &happens_before)).collect();
        Relations { synchronizes_with, happens_before, locations, modification_order: None }
    }

    fn is_consistent(&self, graph: &Graph, relations: &Relations) -> bool {
        let mut is_consistent = false;
        Axioms::new(graph, relations, *self).for_each_order(&mut |_| {
            is_consistent = true;
            false
        });
        is_consistent
    }

    fn data_races(&self, graph: &Graph, relations: &Relations) -> Vec<DataRace> {
        let mut races = Vec::new();
        for location in &relations.locations {
            for (i, first) in location.events.iter().enumerate() {
                for (j, second) in location.events.iter().enumerate().skip(i + 1) {
                    let order = &location.location_ordered;
                    if self.conflict(graph, *first, *second) && !order.contains(i, j) && !order.contains(j, i)
                    {
                        races.push(DataRace { first: *first, second: *second, unit: location.unit });
                    }
                }
            }
        }
        races.sort_unstable();
        races
    }

    fn final_values(
        &self,
        graph: &Graph,
        relations: &Relations,
        observed: &dyn Fn(Unit) -> bool,
    ) -> Vec<FinalValues> {
        let axioms = Axioms::new(graph, relations, *self);
        let units = axioms.written_units();
        let mut found: Vec<(Vec<_>, LastWrites)> = Vec::new();
        axioms.for_each_order(&mut |orders| {
            let last: LastWrites = orders.iter().filter_map(|order| order.last().copied()).collect();
            let seen = units.iter().zip(&last).filter(|(unit, _)| observed(**unit));
            let left: Vec<_> =
                seen.map(|(unit, write)| graph.events[*write as usize].written_to(*unit).cloned()).collect();
            if !found.iter().any(|(other, _)| *other == left) {
                found.push((left, last));
            }
            true
        });
        let last_writes = found.into_iter().map(|(_, last)| last).collect();
        vec![FinalValues { units: units.into(), last_writes }]
    }

    fn latest_writes(&self, graph: &Graph, relations: &Relations, unit: Unit) -> Vec<EventId> {
        let axioms = Axioms::new(graph, relations, *self);
        let Some(position) = axioms.written_units().iter().position(|other| *other == unit) else {
            return Vec::new();
        };
        let mut latest = Vec::new();
        axioms.for_each_order(&mut |orders| {
            latest.extend(orders[position].last().copied());
            true
        });
        latest.sort_unstable();
        latest.dedup();
        latest
    }

    fn violation(&self, graph: &Graph, relations: &Relations) -> Option<Violation> {
        cycles::violation(&Axioms::new(graph, relations, *self))
    }
}

impl Rc11 {
    fn conflict(&self, graph: &Graph, first: EventId, second: EventId) -> bool {
        let (a, b) = (&graph.events[first as usize], &graph.events[second as usize]);
        let both_atomic = a.atomic && b.atomic && self.has(Weakened::AtomicRaces);
        let counts = match (a.writes(), b.writes()) {
            (true, true) => self.has(Weakened::WriteWriteRaces),
            (false, false) => false,
            (true, false) | (false, true) => self.has(Weakened::ReadWriteRaces),
        };
        counts && !both_atomic
    }
}

/// Whether two events access the same location.
pub fn at_one_location(graph: &Graph, a: usize, b: usize) -> bool {
    let (a, b) = (&graph.events[a].units, &graph.events[b].units);
    !a.is_empty() && a == b
}

/// The accesses of a unit, ordered by hb.
fn location(graph: &Graph, unit: Unit, happens_before: &Relation) -> Location {
    let accesses = (0..).zip(&graph.events).filter(|(_, event)| event.units.contains(&unit));
    let events: Vec<EventId> = accesses.map(|(id, _)| id).collect();
    let mut location_ordered = Relation::new(events.len());
    for (i, a) in events.iter().enumerate() {
        for (j, b) in events.iter().enumerate() {
            if happens_before.contains(*a as usize, *b as usize) {
                location_ordered.insert(i, j);
            }
        }
    }
    Location { unit, events, location_ordered }
}

/// sw: from a release, or a fence before a release sequence, to an acquire, or a fence behind a read of it.
fn synchronizes_with(graph: &Graph, model: Rc11) -> Relation {
    let events = &graph.events;
    let mut relation = Relation::new(events.len());
    let accesses_synchronize = model.has(Weakened::SynchronizingAccesses);
    for (read, event) in events.iter().enumerate().filter(|(_, event)| event.atomic && event.reads()) {
        let mut acquires = Vec::new();
        acquires.extend((event.acquires() && accesses_synchronize).then_some(read));
        if model.has(Weakened::AcquireFences) {
            let behind = (0..events.len()).filter(|fence| graph.program_ordered(read, *fence));
            acquires.extend(behind.filter(|fence| events[*fence].is_fence() && events[*fence].acquires()));
        }
        for source in &event.sources {
            let Source::Event(write) = source else { continue };
            for head in heads(graph, *write as usize, model) {
                let mut releases = Vec::new();
                releases.extend((events[head].releases() && accesses_synchronize).then_some(head));
                if model.has(Weakened::ReleaseFences) {
                    let before = (0..head).filter(|fence| graph.program_ordered(*fence, head));
                    releases.extend(
                        before.filter(|fence| events[*fence].is_fence() && events[*fence].releases()),
                    );
                }
                for release in releases {
                    acquires.iter().for_each(|acquire| relation.insert(release, *acquire));
                }
            }
        }
    }
    for (release, acquire) in barrier_pairs(graph, model) {
        relation.insert(release, acquire);
    }
    relation
}

/// The heads of the release sequences, [W]; sb|loc?; [W⊒rlx]; (rf; rmw)*, that a write is in.
fn heads(graph: &Graph, write: usize, model: Rc11) -> Vec<usize> {
    let mut heads = Vec::new();
    let mut member = write;
    while graph.events[member].atomic && !heads.contains(&member) {
        heads.push(member);
        if model.has(Weakened::ReleaseSequenceStores) {
            let own = (0..member).filter(|first| graph.program_ordered(*first, member));
            let at = own.filter(|first| at_one_location(graph, *first, member));
            heads.extend(at.filter(|first| graph.events[*first].writes()));
        }
        match (graph.events[member].kind, graph.events[member].sources.first()) {
            (Kind::Update, Some(Source::Event(source))) if model.has(Weakened::ReleaseSequenceUpdates) => {
                member = *source as usize;
            }
            _ => break,
        }
    }
    heads
}

/// Control barriers of one instance, the one that releases first.
fn barrier_pairs(graph: &Graph, model: Rc11) -> Vec<(usize, usize)> {
    let instance = |event: usize| match graph.events[event].kind {
        Kind::Barrier { instance, .. } => Some(instance),
        _ => None,
    };
    let count = graph.events.len();
    let all = (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).filter(|(a, b)| a != b);
    all.filter(|_| model.has(Weakened::Barriers))
        .filter(|(a, b)| instance(*a).is_some() && instance(*a) == instance(*b))
        .filter(|(a, b)| graph.events[*a].releases() && graph.events[*b].acquires())
        .collect()
}

/// hb: (sb ∪ sw)+, where what is before a barrier happens before what is behind another of its instance.
fn happens_before(graph: &Graph, synchronizes_with: &Relation, model: Rc11) -> Relation {
    let count = graph.events.len();
    let mut relation = synchronizes_with.clone();
    let pairs = barrier_pairs(graph, model);
    if !pairs.is_empty() {
        relation = Relation::new(count);
        for a in 0..count {
            synchronizes_with
                .row(a)
                .filter(|b| !pairs.contains(&(a, *b)))
                .for_each(|b| relation.insert(a, b));
        }
    }
    for (release, acquire) in pairs {
        for first in (0..release).filter(|first| graph.program_ordered(*first, release)) {
            let behind = (acquire + 1..count).filter(|second| graph.program_ordered(acquire, *second));
            behind.for_each(|second| relation.insert(first, second));
        }
    }
    for a in 0..count {
        (a + 1..count).filter(|b| graph.program_ordered(a, *b)).for_each(|b| relation.insert(a, b));
    }
    relation.close();
    relation
}

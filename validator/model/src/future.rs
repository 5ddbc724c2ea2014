//! What the future of a graph depends on: what is to be known of it to tell which events may be added, and what they
//! make of it.
//!
//! In the fragment of the model that this is about, happens-before orders every location: each atomic and each barrier
//! has everybody in its scope, all semantics are about the same storage classes, accesses are of these classes and
//! non-private, each location is either atomic or plain and reached by one reference, and, where something is plain,
//! releases make available and acquires make visible. Then an event to come is ordered by what its agent *sees*: what
//! happens before it, and what precedes that at each location. The same holds for what a read of a write adds by
//! acquiring it (its *message*). Of the past itself only those accesses count that may still be read, overwritten, raced
//! with or be last:
//!
//! - A write is *dead* if everybody who goes on sees a later one: nobody reads it, or comes before it.
//! - A write that a read-modify-write has read is dead where nothing to come reads its location without writing it: no other
//!   read-modify-write reads it, and what comes before it comes before the one that did.
//! - A read of an atomic location is dead at once. It is before what comes after its source, and after what its agent
//!   saw; and so is its source, as far as writes are ordered: whatever reaches a read is before its source, or a
//!   from-reads cycle closes.
//! - A read of a plain location counts while somebody to come may race with it.
//!
//! Nor does it count how much an agent sees of what its next event tells it anyway. An agent that stands at an acquiring
//! atomic read goes on with what it sees and the message of the write that it reads from. What is in all of these messages,
//! those of the writes to come included, it *foresees*: it is taken to see that already. Two invocations arrive at a
//! counter one after the other and then wait for a flag: the second has seen what the first wrote before, or the first what
//! the second wrote; whoever sets the flag has seen both. A write to come that releases has in its message what its agent
//! sees or foresees. (What happens before a read is settled in the order of happens-before, which has no cycles; so this holds
//! of all reads to come, load buffering included.)
//!
//! Who made an event does not count, but for what everybody sees. So the accesses are put in an order that hangs on what
//! they are; two graphs whose futures are alike may be told apart for want of a better one.
//!
//! Two graphs for which the same is said here have the same future. This is a stateful search's view of an execution
//! graph, like the timestamps and views by which operational models of release and acquire are defined (Kang, Hur,
//! Lahav, Vafeiadis, Dreyer, "A promising semantics for relaxed-memory concurrency", POPL 2017).

use std::hash::{BuildHasher, Hash, Hasher};

use rustc_hash::FxBuildHasher;
use siphasher::sip128::{Hasher128, SipHasher13};
use smallvec::SmallVec;

use super::coherence::Coherence;
use super::graph::{Event, EventId, Graph, Kind, Source, Unit};
use super::growing::Growing;
use super::operations::{makes_available, makes_visible};
use super::relation::EventSet;
use crate::event::{ClassSet, Scope};

/// What is known of who goes on with a graph.
pub struct Onlookers<'a> {
    /// The agents that may still have events.
    pub agents: &'a [u32],
    /// Whether a scope has everybody in it.
    pub includes_all: &'a dyn Fn(Scope) -> bool,
    /// Whether a unit is reached by one reference.
    pub has_one_reference: &'a dyn Fn(Unit) -> bool,
    /// Whether some plain access to come may race at a unit. `None`: races do not matter.
    pub may_race: Option<&'a dyn Fn(Unit) -> bool>,
    /// Whether something to come may read a unit without writing it.
    pub may_look: &'a dyn Fn(Unit) -> bool,
    /// There may be barriers to come that release or acquire.
    pub fences: bool,
    /// Of those agents that foresee something, what they stand at.
    pub standing: &'a [Option<Standing>],
}

/// What the future of a graph depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Future {
    /// A hash of it.
    pub hash: u128,
    /// The accesses that count, in an order that is the same for graphs with the same hash.
    pub accesses: Vec<EventId>,
}

/// An acquiring atomic read of one unit at which an agent stands.
pub struct Standing {
    /// The writes that it may read from, if not those to come. The initial value is none of them.
    pub sources: SmallVec<[EventId; 4]>,
    /// The agents, by their position among the onlookers, that may still write there. All of these writes release.
    pub writers: SmallVec<[usize; 8]>,
    /// Storage classes of all semantics.
    pub classes: ClassSet,
    /// The semantics of the read make visible, and those of the writes to come make available.
    pub publishes: bool,
}

/// An access that counts.
struct Access {
    id: EventId,
    /// It may be read, or overwritten.
    is_write: bool,
}

impl Growing {
    /// What the future of a graph, whose events it has, depends on; `None` where the graph is none of those that this
    /// is about.
    pub fn future_of(&self, graph: &Graph, onlookers: &Onlookers) -> Option<Future> {
        let mut hasher = SipHasher13::new();
        let accesses = self.hash_future(graph, onlookers, &mut hasher)?;
        Some(Future { hash: hasher.finish128().as_u128(), accesses })
    }

    /// Feeds a hasher what the future of a graph, whose events it has, depends on. The accesses that count, in an order that
    /// is the same for graphs of which the same was said; `None` where the graph is none of those that this is about.
    pub fn hash_future(
        &self,
        graph: &Graph,
        onlookers: &Onlookers,
        hasher: &mut impl Hasher,
    ) -> Option<Vec<EventId>> {
        // The end of an execution has no future, but final values.
        if onlookers.agents.is_empty()
            || !self.covers(graph)
            || self.data_race().is_some()
            || self.locations().any(|location| location.is_mixed(graph))
        {
            return None;
        }
        let ordering = ordering_in_fragment(graph, onlookers)?;
        let mut views: Vec<EventSet> = Vec::new();
        for agent in onlookers.agents {
            views.push(self.seen_by(graph, *agent));
            if onlookers.fences {
                views.push(self.released_by(graph, *agent));
                views.push(self.observed_by(graph, *agent));
            }
        }
        let step = if onlookers.fences { 3 } else { 1 };
        self.foresee(graph, onlookers, &ordering, &mut views, step);
        let own: Vec<&EventSet> = views.iter().step_by(step).collect();
        let accesses = self.in_order(graph, onlookers, &own);
        accesses.len().hash(hasher);
        for access in &accesses {
            let event = &graph.events[access.id as usize];
            hash_access(event, onlookers, hasher);
            access.is_write.hash(hasher);
            for source in event.sources.iter().filter(|_| event.kind == Kind::Update) {
                let source = match source {
                    Source::Event(write) => accesses.iter().position(|other| other.id == *write),
                    Source::Initial => Some(usize::MAX),
                    Source::Pending => return None,
                };
                source.hash(hasher);
            }
        }
        for view in &views {
            self.hash_view(view, &accesses, graph, hasher);
        }
        for access in &accesses {
            let event = &graph.events[access.id as usize];
            if access.is_write && event.atomic {
                let message = self.message(graph, access.id);
                self.hash_view(&message, &accesses, graph, hasher);
            }
        }
        for location in self.locations() {
            let members: SmallVec<[usize; 12]> = accesses
                .iter()
                .filter(|access| access.is_write)
                .filter_map(|access| location.events.binary_search(&access.id).ok())
                .collect();
            for a in &members {
                for b in &members {
                    location.how_ordered(*a, *b).hash(hasher);
                }
            }
        }
        Some(accesses.into_iter().map(|access| access.id).collect())
    }

    /// Adds to what agents see, each `step` of the views, what they foresee.
    fn foresee(
        &self,
        graph: &Graph,
        onlookers: &Onlookers,
        ordering: &Ordering,
        views: &mut [EventSet],
        step: usize,
    ) {
        let everything = EventSet::with(graph.events.len(), |_| true);
        // Per agent that foresees, what it sees, and the messages of what is there to be read.
        let mut standing: SmallVec<[(usize, &Standing, EventSet, EventSet); 8]> = SmallVec::new();
        for (position, stands) in onlookers.standing.iter().enumerate() {
            let Some(stands) = stands.as_ref().filter(|stands| ordering.is_kept_by(stands)) else { continue };
            let mut common = everything.clone();
            for source in &stands.sources {
                common.retain_common(&self.message(graph, *source));
            }
            let seen = std::mem::replace(&mut views[position * step], everything.clone());
            standing.push((position, stands, seen, common));
        }
        let mut changes = true;
        while std::mem::take(&mut changes) {
            for (position, stands, seen, common) in &standing {
                let mut foreseen = common.clone();
                stands.writers.iter().for_each(|writer| foreseen.retain_common(&views[writer * step]));
                foreseen.unite(seen);
                if foreseen != views[position * step] {
                    views[position * step] = foreseen;
                    changes = true;
                }
            }
        }
    }

    /// The accesses that count, in an order that hangs on what they are.
    fn in_order(&self, graph: &Graph, onlookers: &Onlookers, own: &[&EventSet]) -> Vec<Access> {
        let mut keyed: Vec<(u64, Access)> = Vec::new();
        for location in self.locations() {
            let seen: SmallVec<[EventSet; 8]> = own.iter().map(|view| location.seen(view)).collect();
            let may_look = (onlookers.may_look)(location.unit);
            let may_race = onlookers.may_race.is_some_and(|may_race| may_race(location.unit));
            for (index, id) in location.events.iter().enumerate() {
                let event = &graph.events[*id as usize];
                let is_dead = |seen: &EventSet| location.is_superseded(index, seen);
                let is_write = event.writes()
                    && (may_look || !location.is_consumed(graph, index))
                    && !seen.iter().all(is_dead);
                let is_raced = may_race && !own.iter().all(|view| view.contains(*id as usize));
                if !is_write && !is_raced {
                    continue;
                }
                if let Some((_, known)) = keyed.iter_mut().find(|(_, known)| known.id == *id) {
                    known.is_write |= is_write;
                    continue;
                }
                let mut hasher = FxBuildHasher.build_hasher();
                hash_access(event, onlookers, &mut hasher);
                for (seen, view) in seen.iter().zip(own) {
                    (seen.contains(index), view.contains(*id as usize)).hash(&mut hasher);
                }
                location.rank(index).hash(&mut hasher);
                keyed.push((hasher.finish(), Access { id: *id, is_write }));
            }
        }
        keyed.sort_by_key(|(key, access)| (*key, access.id));
        keyed.into_iter().map(|(_, access)| access).collect()
    }

    fn hash_view(&self, view: &EventSet, accesses: &[Access], graph: &Graph, hasher: &mut impl Hasher) {
        for access in accesses {
            view.contains(access.id as usize).hash(hasher);
            if access.is_write {
                for unit in &graph.events[access.id as usize].units {
                    let sees = self.location(*unit).is_some_and(|location| {
                        let index = location.events.binary_search(&access.id);
                        index.is_ok_and(|index| location.is_seen(index, view))
                    });
                    sees.hash(hasher);
                }
            }
        }
    }

    /// What happens before the next event of an agent.
    fn seen_by(&self, graph: &Graph, agent: u32) -> EventSet {
        let own = (0..graph.events.len()).filter(|id| graph.events[*id].agent == agent);
        self.up_to(graph, own)
    }

    /// What happens before what the last release barrier of an agent lets its writes to come release.
    fn released_by(&self, graph: &Graph, agent: u32) -> EventSet {
        let releases = |id: &usize| {
            let event = &graph.events[*id];
            event.agent == agent && event.is_fence() && event.releases()
        };
        self.up_to(graph, (0..graph.events.len()).filter(releases))
    }

    /// What an acquire barrier of an agent would add by what it has read.
    fn observed_by(&self, graph: &Graph, agent: u32) -> EventSet {
        let observed = self.observed().filter(|(read, _)| graph.events[*read as usize].agent == agent);
        self.up_to(graph, observed.map(|(_, release)| release as usize))
    }

    /// What an acquire adds that reads from a write.
    fn message(&self, graph: &Graph, write: EventId) -> EventSet {
        self.up_to(graph, self.releases_of(graph, write).into_iter())
    }

    /// These events and what happens before them.
    fn up_to(&self, graph: &Graph, events: impl Iterator<Item = usize>) -> EventSet {
        let mut set = EventSet::new(graph.events.len());
        for event in events {
            set.insert(event);
            self.happening_before(graph, event, &mut set);
        }
        set
    }
}

/// What an access is, whoever made it.
fn hash_access(event: &Event, onlookers: &Onlookers, hasher: &mut impl Hasher) {
    event.units.hash(hasher);
    std::mem::discriminant(&event.kind).hash(hasher);
    event.written.hash(hasher);
    event.atomic.hash(hasher);
    if onlookers.may_race.is_some_and(|may_race| event.units.iter().any(|unit| may_race(*unit))) {
        // A race is told with its instructions.
        event.inst.hash(hasher);
    }
}

/// What orders the accesses of a graph.
struct Ordering {
    /// The storage classes of all semantics; none if there are no semantics.
    semantics: ClassSet,
    /// Those of all accesses.
    classes: ClassSet,
    has_plain: bool,
}

impl Ordering {
    /// Whether what happens before a read, by what it synchronizes with, is ordered before what its agent does then.
    fn is_kept_by(&self, stands: &Standing) -> bool {
        (self.semantics.is_empty() || self.semantics == stands.classes)
            && stands.classes.contains(self.classes)
            && (stands.publishes || !self.has_plain)
    }
}

/// How a graph is ordered, if happens-before orders every location, whatever is to come.
fn ordering_in_fragment(graph: &Graph, onlookers: &Onlookers) -> Option<Ordering> {
    let mut semantics = ClassSet::default();
    let mut classes = ClassSet::default();
    let (mut has_plain, mut publishes) = (false, true);
    for event in &graph.events {
        let orders = event.releases() || event.acquires();
        if (event.atomic || event.is_fence()) && !(onlookers.includes_all)(event.scope) {
            return None;
        }
        if orders {
            if !semantics.is_empty() && semantics != event.semantics {
                return None;
            }
            semantics = event.semantics;
            publishes &=
                (!event.releases() || makes_available(event)) && (!event.acquires() || makes_visible(event));
        }
        match event.kind {
            Kind::Read | Kind::Write | Kind::Update => {
                if !event.non_private || !event.units.iter().all(|unit| (onlookers.has_one_reference)(*unit))
                {
                    return None;
                }
                has_plain |= !event.atomic;
                classes.0 |= event.class.0;
            }
            Kind::Fence => {}
            Kind::Barrier { execution, .. } => {
                if !(event.releases() && event.acquires() && (onlookers.includes_all)(execution)) {
                    return None;
                }
            }
            Kind::Availability | Kind::Visibility | Kind::DeviceAvailability | Kind::DeviceVisibility => {
                return None;
            }
        }
    }
    if has_plain && (!publishes || onlookers.may_race.is_none()) {
        return None;
    }
    let orders_all = semantics.is_empty() || semantics.contains(classes);
    orders_all.then_some(Ordering { semantics, classes, has_plain })
}

impl Coherence {
    /// Whether some accesses are atomic and others plain.
    fn is_mixed(&self, graph: &Graph) -> bool {
        let is_atomic = |id: &EventId| graph.events[*id as usize].atomic;
        let mut rest = self.events.iter().map(is_atomic);
        rest.next().is_some_and(|first| rest.any(|other| other != first))
    }

    /// The accesses, by index, that are before an event to come that happens after these events.
    fn seen(&self, past: &EventSet) -> EventSet {
        EventSet::with(self.events.len(), |index| self.is_seen(index, past))
    }

    fn is_seen(&self, index: usize, past: &EventSet) -> bool {
        let happens_before = |other: usize| past.contains(self.events[other] as usize);
        happens_before(index) || self.after(index).any(happens_before)
    }

    /// Whether who has seen these accesses, by index, is behind a write that comes after this one.
    fn is_superseded(&self, index: usize, seen: &EventSet) -> bool {
        self.writes_after(index).any(|later| seen.contains(later))
    }
}

#[cfg(test)]
mod tests;

//! Why two accesses race, and the cheapest thing that would order them.
//!
//! Repairs ([`repair`]) are tried on the graph: the model's relations are derived again,
//! and the race is gone or not. Repairs only add orderings, so that those without which all the others do
//! not suffice belong to every set that does.

use std::collections::BTreeMap;

use super::repair::{self, Change, Repair, Site};
use crate::consistency::DataRace;
use crate::event::{ClassSet, Scope};
use crate::explain::Explanation;
use crate::explain::{long, short, Names};
use crate::graph::{Event, Graph, Kind, Source, Unit};
use crate::vulkan::Variant;

/// Work for one race, in the cube of the events for each try: less than a tenth of a second. Where every
/// repair cannot be tried a few times with that, none is.
const MAX_WORK: usize = 75_000_000;

/// Tries for one race, however small its graph is.
const MAX_TRIES: usize = 1_500;

/// The most repairs that are combined beside those that are needed in any case.
const MAX_COMBINED: usize = 3;

/// Why `race` is a data race of the graph, in one sentence, and what would order it.
///
/// Never fails; where the graph is too large to try repairs the sentence says only what races.
pub fn race(graph: &Graph, race: DataRace, variant: Variant, names: &dyn Names) -> Explanation {
    let pair = [race.first as usize, race.second as usize];
    let Some((first, second)) = graph.events.get(pair[0]).zip(graph.events.get(pair[1])) else {
        return Explanation { sentence: "two accesses are not ordered".to_owned(), chain: Vec::new() };
    };
    let mut racer = Racer::new(graph, pair, variant, names);
    match racer.search() {
        Search::Repaired(repairs, related) if !repairs.is_empty() => racer.lacking(&repairs, related),
        Search::Hopeless => racer.unsynchronized(),
        Search::Repaired(..) | Search::TooLarge => Explanation {
            sentence: format!("{} and {} are not ordered", long(first, names), long(second, names)),
            chain: Vec::new(),
        },
    }
}

/// What the search for repairs comes to.
pub(super) enum Search {
    /// The cheapest that was found.
    Repaired(Vec<Repair>, Related),
    /// Nothing that is there could order the two.
    Hopeless,
    TooLarge,
}

pub(super) struct Racer<'a> {
    graph: &'a Graph,
    pair: [usize; 2],
    variant: Variant,
    names: &'a dyn Names,
    /// How many sets of repairs may still be tried.
    tries: usize,
}

/// How a pair is related once repaired.
pub(super) enum Related {
    /// The first index of the pair comes first, or the second.
    Ordered(usize),
    MutuallyOrdered,
}

impl<'a> Racer<'a> {
    pub(super) fn new(graph: &'a Graph, pair: [usize; 2], variant: Variant, names: &'a dyn Names) -> Self {
        let tries = (MAX_WORK / graph.events.len().pow(3).max(1)).min(MAX_TRIES);
        Racer { graph, pair, variant, names, tries }
    }

    fn event(&self, index: usize) -> &Event {
        &self.graph.events[self.pair[index]]
    }

    /// Looks for repairs: of what is there, then of how the program is made.
    pub(super) fn search(&mut self) -> Search {
        let common = self.common_scope();
        let semantics = repair::of_semantics(self.graph, self.pair, common, self.names);
        let structure = [semantics.clone(), self.of_structure()].concat();
        let atomics = [structure.clone(), self.of_atomicity(common)].concat();
        // Each is left out once, for each of them.
        if 2 * atomics.len() > self.tries {
            return Search::TooLarge;
        }
        let mut sets = vec![semantics, structure, atomics];
        sets.dedup();
        let mut found: Option<(u32, Vec<Repair>)> = None;
        for repairs in &sets {
            let Some(cheapest) = self.cheapest(repairs) else { continue };
            let cost = cheapest.iter().map(|repair| repair.change.cost()).sum();
            if found.as_ref().is_none_or(|(least, _)| cost < *least) {
                found = Some((cost, cheapest));
            }
        }
        let repaired = found.and_then(|(_, repairs)| {
            let related = self.related(&repairs)?;
            Some(Search::Repaired(repairs, related))
        });
        repaired.unwrap_or(Search::Hopeless)
    }

    fn short(&self, event: &Event) -> String {
        short(event, self.graph, self.names)
    }

    /// The narrowest scope whose instance holds both agents.
    fn common_scope(&self) -> Scope {
        let (a, b) = (self.event(0).agent, self.event(1).agent);
        let scopes = [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily];
        let common = scopes.into_iter().find(|scope| self.graph.in_scope_instance(a, *scope, b));
        common.unwrap_or(Scope::Device)
    }

    /// The same reference for both accesses; the same instance for the barriers next to them.
    fn of_structure(&self) -> Vec<Repair> {
        let (first, second) = (self.event(0), self.event(1));
        let mut repairs = Vec::new();
        if first.reference != second.reference {
            let change = Change::Reference { reference: first.reference, line: first.line };
            repairs.push(Repair { site: repair::site(second), change });
        }
        for (earlier, later) in [(0, 1), (1, 0)] {
            let passed = self.barrier(earlier, true).zip(self.barrier(later, false));
            let Some(((a, instance), (b, other))) = passed else { continue };
            if instance != other && repair::site(a) != repair::site(b) {
                let change = Change::Instance { instance, line: a.line };
                repairs.push(Repair { site: repair::site(b), change });
            }
        }
        repairs
    }

    /// The control barrier next to an access of the pair.
    fn barrier(&self, index: usize, after: bool) -> Option<(&Event, u32)> {
        let instance = |event: &usize| match self.graph.events[*event].kind {
            Kind::Barrier { instance, .. } => Some((self.graph.events[*event].as_ref(), instance)),
            Kind::Read
            | Kind::Write
            | Kind::Update
            | Kind::Fence
            | Kind::DeviceAvailability
            | Kind::Availability
            | Kind::Visibility
            | Kind::DeviceVisibility => None,
        };
        let access = self.pair[index];
        let own = |event: &usize| self.graph.events[*event].agent == self.graph.events[access].agent;
        match after {
            true => (access..self.graph.events.len()).filter(own).find_map(|event| instance(&event)),
            false => (0..access).rev().filter(own).find_map(|event| instance(&event)),
        }
    }

    /// Between two plain accesses that nothing synchronizes, atomics are another program.
    fn of_atomicity(&self, common: Scope) -> Vec<Repair> {
        if !self.event(0).atomic && !self.event(1).atomic {
            return Vec::new();
        }
        let plain = [self.event(0), self.event(1)].into_iter().filter(|event| !event.atomic);
        let mut repairs: Vec<Repair> =
            plain.map(|event| Repair { site: repair::site(event), change: Change::Atomic(common) }).collect();
        repairs.dedup();
        repairs
    }

    /// How the pair is related with these repairs; `None` where it still races.
    pub(super) fn related(&self, repairs: &[Repair]) -> Option<Related> {
        let repaired = repair::apply(self.graph, repairs, self.names);
        let [a, b] = self.pair;
        if repaired.mutually_ordered(a, b) {
            return Some(Related::MutuallyOrdered);
        }
        let shared = repaired.events[a].units.iter().filter(|unit| repaired.events[b].units.contains(unit));
        let shared: Vec<Unit> = shared.copied().collect();
        let mut first = None;
        for relations in crate::explain::possible(&self.variant, &repaired) {
            let forward: Vec<Unit> = relations.ordered_units(a, b).collect();
            let backward: Vec<Unit> = relations.ordered_units(b, a).collect();
            if !shared.iter().all(|unit| forward.contains(unit) || backward.contains(unit)) {
                return None;
            }
            first = first.or(Some(usize::from(forward.is_empty())));
        }
        first.map(Related::Ordered)
    }

    fn suffices(&mut self, repairs: &[Repair]) -> bool {
        self.tries = self.tries.saturating_sub(1);
        self.related(repairs).is_some()
    }

    /// The cheapest of these repairs that together end the race; `None` where all of them do not.
    fn cheapest(&mut self, all: &[Repair]) -> Option<Vec<Repair>> {
        if !self.suffices(all) {
            return None;
        }
        let without =
            |left: &Repair| -> Vec<Repair> { all.iter().filter(|repair| *repair != left).copied().collect() };
        let (mut needed, mut others) = (Vec::new(), Vec::new());
        for repair in all {
            match self.suffices(&without(repair)) {
                true => others.push(*repair),
                false => needed.push(*repair),
            }
        }
        if self.suffices(&needed) {
            return Some(needed);
        }
        for extra in subsets(&others) {
            if self.tries == 0 {
                break;
            }
            let set = [needed.clone(), extra].concat();
            if self.suffices(&set) {
                return Some(set);
            }
        }
        Some(self.reduced(all))
    }

    /// A set that no repair can be taken from, the dearest taken first.
    fn reduced(&self, all: &[Repair]) -> Vec<Repair> {
        let mut kept = all.to_vec();
        kept.sort_by_key(|repair| repair.change.cost());
        for index in (0..kept.len()).rev() {
            let mut fewer = kept.clone();
            fewer.remove(index);
            if self.related(&fewer).is_some() {
                kept = fewer;
            }
        }
        kept
    }

    fn lacking(&self, repairs: &[Repair], related: Related) -> Explanation {
        let head = match related {
            Related::Ordered(first) => format!(
                "{} is not ordered before {}",
                long(self.event(first), self.names),
                long(self.event(1 - first), self.names)
            ),
            Related::MutuallyOrdered => format!(
                "{} and {} are not mutually ordered",
                long(self.event(0), self.names),
                long(self.event(1), self.names)
            ),
        };
        let sites = repair::sites(self.graph);
        let mut changes: BTreeMap<Site, Vec<Change>> = BTreeMap::new();
        for Repair { site, change } in repairs {
            changes.entry(*site).or_default().push(*change);
        }
        let earlier = match related {
            Related::Ordered(first) => self.event(first).agent,
            Related::MutuallyOrdered => self.event(0).agent,
        };
        let mut reasons: Vec<(bool, String)> = changes
            .iter()
            .filter_map(|(site, changes)| {
                let event = sites.get(site)?;
                let far = |scope| self.far(event, scope);
                let lacks = repair::lacks(event, changes, self.names, &far);
                Some((event.agent != earlier, format!("{} {lacks}", self.short(event))))
            })
            .collect();
        // Those of the one that comes first come first.
        reasons.sort_by_key(|(later, _)| *later);
        let reasons: Vec<String> = reasons.into_iter().map(|(_, reason)| reason).collect();
        let chain = self.alternatives(repairs);
        Explanation { sentence: format!("{head}: {}", reasons.join("; ")), chain }
    }

    /// What would do instead of MakeAvailable and MakeVisible in semantics: the operands of the accesses.
    fn alternatives(&self, repairs: &[Repair]) -> Vec<String> {
        let common = self.common_scope();
        let alternative = |flag: Change, operand: Change, name: &str, index: usize| {
            let site = repair::site(self.event(index));
            let other: Vec<Repair> = repairs
                .iter()
                .filter(|repair| repair.change != flag)
                .copied()
                .chain([Repair { site, change: operand }])
                .collect();
            let replaces =
                repairs.iter().any(|repair| repair.change == flag) && self.related(&other).is_some();
            replaces.then(|| format!("{name} on {} would do instead", self.short(self.event(index))))
        };
        let found = [0, 1].into_iter().flat_map(|index| {
            let available = Change::PointerAvailable(common);
            let visible = Change::PointerVisible(common);
            let event = self.event(index);
            let image = if event.class == ClassSet::IMAGE { "Texel" } else { "Pointer" };
            let plain = !event.atomic && !self.names.declares_coherence();
            let available = (plain && event.writes()).then(|| {
                alternative(Change::MakeAvailable, available, &format!("Make{image}Available"), index)
            });
            let visible = (plain && event.reads())
                .then(|| alternative(Change::MakeVisible, visible, &format!("Make{image}Visible"), index));
            [available.flatten(), visible.flatten()]
        });
        found.flatten().collect()
    }

    /// Where the other access is, seen from an instruction that is too narrow.
    fn far(&self, event: &Event, scope: Scope) -> String {
        let agents = [self.event(0).agent, self.event(1).agent];
        let other = agents
            .into_iter()
            .find(|agent| *agent != event.agent && !self.graph.in_scope_instance(event.agent, scope, *agent));
        match other {
            Some(agent) => repair::elsewhere(scope, agent, self.names),
            None => "not all of them are in one instance of that".to_owned(),
        }
    }

    /// Nothing that is there could order the two.
    fn unsynchronized(&self) -> Explanation {
        let (first, second) = (self.event(0), self.event(1));
        let sentence = format!(
            "{} and {} are not ordered by any synchronization at all: nothing that {} does after line {} \
             synchronizes with anything that {} does before line {}, nor the other way round",
            long(first, self.names),
            long(second, self.names),
            self.names.agent(first.agent),
            first.line,
            self.names.agent(second.agent),
            second.line,
        );
        let mut chain = Vec::new();
        if first.atomic && second.atomic && first.units != second.units {
            chain.push("atomics of different sizes or places are never mutually ordered".to_owned());
        }
        let directions = [(0, 1), (1, 0)];
        let missed = directions.into_iter().find_map(|(earlier, later)| self.missed(earlier, later));
        let misplaced = || directions.into_iter().find_map(|(from, to)| self.misplaced(from, to));
        chain.extend(missed.or_else(misplaced));
        Explanation { sentence, chain }
    }

    /// A synchronization between the two invocations that the accesses do not stand around.
    fn misplaced(&self, from: usize, to: usize) -> Option<String> {
        let events = &self.graph.events;
        let (first, last) = (self.pair[from], self.pair[to]);
        let relations = crate::explain::possible(&self.variant, self.graph);
        let synchronizes_with = &relations.first()?.synchronizes_with;
        let synchronized = (0..events.len())
            .flat_map(|a| synchronizes_with.row(a).map(move |b| (a, b)))
            .find(|(a, b)| events[*a].agent == events[first].agent && events[*b].agent == events[last].agent);
        let (a, b) = synchronized?;
        let names = [a, b].map(|event| self.short(&events[event]));
        let agents = [a, b].map(|event| self.names.agent(events[event].agent));
        let head = match names[0] == names[1] {
            // One instruction of both.
            true => format!("{} of {} synchronizes with that of {}", names[0], agents[0], agents[1]),
            false => format!("{} synchronizes with {}", names[0], names[1]),
        };
        match (self.graph.program_ordered(a, first), self.graph.program_ordered(last, b)) {
            (true, _) => Some(format!("{head}, but {} comes after that", self.short(&events[first]))),
            (false, true) => Some(format!("{head}, but {} comes before that", self.short(&events[last]))),
            (false, false) => None,
        }
    }

    /// An atomic read before the later access that does not read from an atomic write after the earlier
    /// one, though it could.
    fn missed(&self, earlier: usize, later: usize) -> Option<String> {
        let (from, to) = (self.pair[earlier], self.pair[later]);
        let events = &self.graph.events;
        let read = (0..to).rev().find(|read| {
            let event = &events[*read];
            event.atomic && event.reads() && self.graph.program_ordered(*read, to)
        })?;
        let write = (from..events.len()).find(|write| {
            let event = &events[*write];
            event.atomic
                && event.writes()
                && *write != from
                && self.graph.program_ordered(from, *write)
                && self.graph.mutually_ordered(*write, read)
        })?;
        let reads = events[read].sources.contains(&Source::Event(write as u32));
        let (read, write) = (self.short(&events[read]), self.short(&events[write]));
        (!reads).then(|| format!("{read} does not read from {write} here"))
    }
}

/// Sets of at most [`MAX_COMBINED`] repairs, the cheapest first.
fn subsets(repairs: &[Repair]) -> Vec<Vec<Repair>> {
    let mut sets: Vec<Vec<Repair>> = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..MAX_COMBINED {
        let end = sets.len();
        for at in start..end {
            let next = sets[at].last().and_then(|last| repairs.iter().position(|repair| repair == last));
            for repair in &repairs[next.map_or(0, |last| last + 1)..] {
                sets.push([sets[at].clone(), vec![*repair]].concat());
            }
        }
        start = end;
    }
    sets.remove(0);
    sets.sort_by_key(|set| set.iter().map(|repair| repair.change.cost()).sum::<u32>());
    sets
}

//! An order of events for a picture, where that of the graph says nothing: by keys, as far as program order allows it, and
//! with what stands at one control barrier together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::model::graph::{Graph, Kind};

/// The place of each event in the order. An event without a key follows the one before it.
pub(super) fn rank(graph: &Graph, keys: &[Option<usize>]) -> Vec<usize> {
    let mut scheduler = Scheduler::of(graph);
    for (number, event) in graph.events.iter().enumerate() {
        let own = scheduler.behind.entry(event.agent).or_default();
        let last = own.back().map_or(0, |(key, _)| *key);
        own.push_back((keys.get(number).copied().flatten().map_or(last, |key| key.max(last)), number));
        if let Some(instance) = instance(graph, number) {
            *scheduler.expected.entry(instance).or_default() += 1;
        }
    }
    let agents: Vec<u32> = scheduler.behind.keys().copied().collect();
    agents.into_iter().for_each(|agent| scheduler.arrive(agent));
    scheduler.run();
    scheduler.rank
}

fn instance(graph: &Graph, number: usize) -> Option<u32> {
    match graph.events[number].kind {
        Kind::Barrier { instance, .. } => Some(instance),
        _ => None,
    }
}

struct Scheduler<'g> {
    graph: &'g Graph,
    rank: Vec<usize>,
    placed: usize,
    /// What each agent has not come to yet, with keys.
    behind: BTreeMap<u32, VecDeque<(usize, usize)>>,
    /// Next events that wait for nobody.
    ready: BTreeSet<(usize, usize)>,
    /// Next events that stand at a barrier.
    standing: BTreeMap<u32, Vec<(usize, usize)>>,
    /// For each barrier, how many events it has.
    expected: BTreeMap<u32, usize>,
}

impl<'g> Scheduler<'g> {
    fn of(graph: &'g Graph) -> Self {
        Scheduler {
            graph,
            rank: vec![0; graph.events.len()],
            placed: 0,
            behind: BTreeMap::new(),
            ready: BTreeSet::new(),
            standing: BTreeMap::new(),
            expected: BTreeMap::new(),
        }
    }

    /// Takes the next event of an agent in.
    fn arrive(&mut self, agent: u32) {
        let next = self.behind.get_mut(&agent).and_then(VecDeque::pop_front);
        let Some((key, number)) = next else { return };
        match instance(self.graph, number) {
            None => {
                self.ready.insert((key, number));
            }
            Some(instance) => self.standing.entry(instance).or_default().push((key, number)),
        }
    }

    fn run(&mut self) {
        loop {
            let first = self.ready.first().copied();
            let full = self.standing.iter().filter(|(instance, standing)| {
                self.expected.get(instance).is_some_and(|expected| standing.len() >= *expected)
            });
            let barrier =
                full.filter_map(|(instance, standing)| Some((*standing.iter().min()?, *instance))).min();
            match (first, barrier) {
                (Some(first), Some((at, instance))) if at < first => self.pass(instance),
                (Some(first), _) => {
                    self.ready.remove(&first);
                    self.place(first.1);
                }
                (None, Some((_, instance))) => self.pass(instance),
                // Where not everybody comes to a barrier.
                (None, None) => match self.standing.keys().next().copied() {
                    Some(instance) => self.pass(instance),
                    None => return,
                },
            }
        }
    }

    /// Everybody who stands at a barrier passes it.
    fn pass(&mut self, instance: u32) {
        for (_, number) in self.standing.remove(&instance).unwrap_or_default() {
            self.expected.entry(instance).and_modify(|expected| *expected = expected.saturating_sub(1));
            self.place(number);
        }
    }

    fn place(&mut self, number: usize) {
        self.rank[number] = self.placed;
        self.placed += 1;
        self.arrive(self.graph.events[number].agent);
    }
}

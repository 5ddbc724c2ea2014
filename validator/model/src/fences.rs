//! The memory barriers of each agent, so that what synchronizes does not look for them among all events.

use super::graph::{EventId, Graph};

/// In the place of a memory barrier.
const NONE: u32 = u32::MAX;

/// The memory barriers of a graph, or of its first events.
#[derive(Clone, Debug)]
pub(super) struct Fences {
    /// Each with the number of the one before it of the same agent.
    fences: Vec<(EventId, u32)>,
    /// The number of the last one of each agent.
    last: Vec<u32>,
}

impl Fences {
    /// None yet.
    pub(super) fn new(graph: &Graph) -> Self {
        Fences { fences: Vec::new(), last: vec![NONE; graph.agents.len()] }
    }

    /// All of a graph.
    pub(super) fn of(graph: &Graph) -> Self {
        let mut fences = Fences::new(graph);
        (0..graph.events.len()).for_each(|id| fences.push(graph, id));
        fences
    }

    /// Takes in the next event.
    pub(super) fn push(&mut self, graph: &Graph, id: usize) {
        let event = &graph.events[id];
        if event.is_fence() {
            let last = std::mem::replace(&mut self.last[event.agent as usize], self.fences.len() as u32);
            self.fences.push((id as EventId, last));
        }
    }

    /// Those of an agent, the last one first.
    pub(super) fn of_agent(&self, agent: u32) -> impl Iterator<Item = usize> + '_ {
        let fence = |number: u32| self.fences.get(number as usize).copied();
        let first = self.last.get(agent as usize).copied().unwrap_or(NONE);
        std::iter::successors(fence(first), move |(_, before)| fence(*before)).map(|(id, _)| id as usize)
    }
}

//! Explanations under the Vulkan model: why a graph is forbidden ([`forbidden()`]), why two accesses race and what would
//! order them ([`race()`]), how an ordering comes about ([`Vulkan`]). They derive what the model derives, but keep how;
//! nothing is judged by them.

mod cycle;
mod derivation;
mod forbidden;
mod lacks;
mod last;
mod race;
mod repair;

#[cfg(test)]
mod tests;

use super::{Explainer, Explanation, Ordering, Refutation, Telling, Violation};
use crate::consistency::Judge;
use crate::explain;
use crate::graph::{Graph, Unit, UnitBytes};
use crate::memory_model::Relations;
use crate::vulkan::Variant;
use cycle::{Edge, Named, Older, Orientation, Proof};
use derivation::{Derived, Deriver};
use forbidden::Teller;

pub(crate) use forbidden::forbidden;
pub(crate) use lacks::lacks;
pub(crate) use race::race;

/// The explainer of one graph.
pub(crate) struct Vulkan<'a> {
    judge: Judge<'a>,
    teller: Teller<'a>,
}

impl<'a> Vulkan<'a> {
    pub(crate) fn new(
        graph: &'a Graph,
        relations: &'a Relations,
        variant: Variant,
        telling: Telling<'a>,
    ) -> Self {
        let Telling { long, short, names } = telling;
        let teller = Teller { deriver: Deriver::new(graph, relations, variant), long, short, names };
        Vulkan { judge: Judge { graph, relations, variant }, teller }
    }
}

impl Explainer for Vulkan<'_> {
    fn ordering(&self, first: usize, second: usize, unit: Unit) -> Option<Ordering> {
        let derived: Derived = self.teller.deriver.location_ordered(first, second, unit)?;
        let path = derived.links.iter().map(|(_, event)| *event);
        let events = std::iter::once(first).chain(path).collect();
        let way = self.teller.derived(first, &derived);
        Some(Ordering { way, events, available: derived.available, visible: derived.visible })
    }

    fn refutation(&self) -> Option<Refutation> {
        let proof = cycle::refute(&self.judge)?;
        Some(Refutation {
            explanation: self.teller.proof(&proof),
            orderings: orderings(&proof),
            events: Vec::new(),
            violation: violated(&proof),
        })
    }

    fn overwritten(&self, unit: Unit, bytes: &UnitBytes) -> Option<Explanation> {
        last::overwritten(&self.judge, &self.teller, unit, bytes)
    }
}

/// The axiom that a graph violates. Where no order of writes makes it an execution, the cycle is one of them.
pub(crate) fn violation(judge: &Judge) -> Option<Violation> {
    cycle::refute(judge).map(|proof| violated(&proof))
}

fn violated(proof: &Proof) -> Violation {
    match first_cycle(proof) {
        Ok(cycle) => Violation { axiom: "acyclicity", cycle: cycle.iter().map(plain).collect() },
        Err((write, later, read)) => {
            let edge = |from, to| explain::Edge { from, to, relation: "location-ordered" };
            Violation { axiom: "visible-to", cycle: vec![edge(write, later), edge(later, read)] }
        }
    }
}

/// A cycle of a proof, or a write, the one that shadows it and the read.
fn first_cycle(proof: &Proof) -> Result<&[Edge], (usize, usize, usize)> {
    match proof {
        Proof::Cycle(cycle) => Ok(cycle),
        Proof::BothWays { forward, .. } => first_cycle(forward),
        Proof::Shadowed { write, later, read, .. } => Err((*write, *later, *read)),
    }
}

fn plain(edge: &Edge) -> explain::Edge {
    let relation = match edge.relation {
        Named::LocationOrdered(_) => "location-ordered",
        Named::ReadsFrom => "reads-from",
        Named::FromReads(_) => "from-reads",
        Named::ScopedModificationOrder(_) => "scoped modification order",
    };
    explain::Edge { from: edge.from, to: edge.to, relation }
}

/// The location-ordered pairs that a proof rests on.
fn orderings(proof: &Proof) -> Vec<(usize, usize)> {
    match proof {
        Proof::Shadowed { write, later, read, .. } => vec![(*write, *later), (*later, *read)],
        Proof::Cycle(cycle) => cycle.iter().flat_map(orderings_of_edge).collect(),
        Proof::BothWays { forward, backward, .. } => [orderings(forward), orderings(backward)].concat(),
    }
}

fn orderings_of_edge(edge: &Edge) -> Vec<(usize, usize)> {
    let reason = match &edge.relation {
        Named::LocationOrdered(_) => return vec![(edge.from, edge.to)],
        Named::FromReads(Older::LocationOrdered(write, _)) => return vec![(*write, edge.to)],
        Named::ReadsFrom | Named::FromReads(Older::Initial) => return Vec::new(),
        Named::FromReads(Older::ScopedModificationOrder(_, reason)) => reason,
        Named::ScopedModificationOrder(reason) => reason,
    };
    match reason {
        Orientation::Assumed => Vec::new(),
        Orientation::Forced(cycle) => cycle.iter().flat_map(orderings_of_edge).collect(),
    }
}

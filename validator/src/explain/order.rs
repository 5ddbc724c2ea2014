//! Orderings of before: paths from one access to another, and forbidden cycles.

use std::collections::VecDeque;

use crate::model::consistency::Judge;
use crate::model::graph::{Graph, Source};
use crate::model::vulkan::{Location, Relations, Revision, Variant};

/// How one event comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    ProgramOrder,
    SynchronizesWith,
    LocationOrdered,
    ReadsFrom,
    FromReads,
    ScopedModificationOrder,
}

/// Whether `a` is location-ordered before `b` at some unit.
pub(super) fn is_location_ordered(relations: &Relations, a: usize, b: usize) -> bool {
    relations.locations.iter().any(|location| match (index(location, a), index(location, b)) {
        (Some(i), Some(j)) => location.location_ordered.contains(i, j),
        _ => false,
    })
}

fn index(location: &Location, event: usize) -> Option<usize> {
    location.events.iter().position(|other| *other as usize == event)
}

/// A shortest way from `a` to `b` by program order and synchronizes-with: events with the step to
/// each. Empty if there is none.
pub(super) fn path(graph: &Graph, relations: &Relations, a: usize, b: usize) -> Vec<(Step, usize)> {
    let count = graph.events.len();
    let mut from: Vec<Option<(Step, usize)>> = vec![None; count];
    let mut queue = VecDeque::from([a]);
    while let Some(event) = queue.pop_front() {
        if event == b {
            break;
        }
        for (next, reached) in from.iter_mut().enumerate() {
            let step = if relations.synchronizes_with.contains(event, next) {
                Step::SynchronizesWith
            } else if graph.program_ordered(event, next) {
                Step::ProgramOrder
            } else {
                continue;
            };
            if reached.is_none() && next != a {
                *reached = Some((step, event));
                queue.push_back(next);
            }
        }
    }
    let mut path = Vec::new();
    let mut at = b;
    while let Some((step, previous)) = from[at] {
        path.push((step, at));
        at = previous;
    }
    if at != a {
        return Vec::new();
    }
    path.reverse();
    path
}

/// A shortest cycle that the axioms forbid: events, each with the step from the one before it (the
/// first from the last).
pub(super) fn shortest_cycle(
    graph: &Graph,
    relations: &Relations,
    variant: Variant,
) -> Option<Vec<(Step, usize)>> {
    if (Judge { graph, relations, variant }).is_consistent() {
        return None;
    }
    relations.locations.iter().filter_map(|location| cycle_at(graph, location, variant)).min_by_key(Vec::len)
}

fn cycle_at(graph: &Graph, location: &Location, variant: Variant) -> Option<Vec<(Step, usize)>> {
    let edges = edges(graph, location, variant);
    let count = location.events.len();
    (0..count)
        .filter_map(|start| cycle_through(&edges, count, start))
        .min_by_key(Vec::len)
        .map(|cycle| cycle.into_iter().map(|(step, index)| (step, location.events[index] as usize)).collect())
}

fn cycle_through(edges: &[(usize, usize, Step)], count: usize, start: usize) -> Option<Vec<(Step, usize)>> {
    let mut from: Vec<Option<(Step, usize)>> = vec![None; count];
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for (_, next, step) in edges.iter().filter(|(a, _, _)| *a == at) {
            if from[*next].is_none() {
                from[*next] = Some((*step, at));
                queue.push_back(*next);
            }
        }
    }
    let mut cycle = Vec::new();
    let mut at = start;
    loop {
        let (step, previous) = from[at]?;
        cycle.push((step, at));
        at = previous;
        if at == start {
            break;
        }
    }
    cycle.reverse();
    Some(cycle)
}

/// The edges of the acyclicity axiom at one location. Scoped modification order is taken where
/// location order or reads-from decides it, and where a read-modify-write follows its source.
fn edges(graph: &Graph, location: &Location, variant: Variant) -> Vec<(usize, usize, Step)> {
    let count = location.events.len();
    let event = |index: usize| &graph.events[location.events[index] as usize];
    let order = &location.location_ordered;
    let mut edges = Vec::new();
    for a in 0..count {
        edges.extend(order.row(a).map(|b| (a, b, Step::LocationOrdered)));
    }
    let mutually =
        |a: usize, b: usize| graph.mutually_ordered(location.events[a] as usize, location.events[b] as usize);
    let source = |r: usize| match event(r).source(location.unit) {
        Some(Source::Event(write)) => location.events.iter().position(|other| *other == write),
        Some(Source::Initial | Source::Pending) | None => None,
    };
    let later = |w: usize, z: usize| {
        let decided = order.contains(w, z) && (mutually(w, z) || variant.revision == Revision::R2025);
        decided || mutually(w, z) && source(z) == Some(w)
    };
    for r in (0..count).filter(|r| event(*r).reads()) {
        if let Some(w) = source(r) {
            edges.push((w, r, Step::ReadsFrom));
            for z in (0..count).filter(|z| *z != r && *z != w && event(*z).writes()) {
                if later(w, z) {
                    edges.push((r, z, Step::FromReads));
                }
                // Another read of the same agent that saw w first fixes the order of the writes.
                let seen_after =
                    (0..count).any(|q| source(q) == Some(w) && order.contains(q, r)) && source(r) == Some(z);
                if mutually(w, z) && seen_after {
                    edges.push((w, z, Step::ScopedModificationOrder));
                }
            }
        }
        if event(r).source(location.unit) == Some(Source::Initial) {
            let writes = (0..count).filter(|z| *z != r && event(*z).writes());
            edges.extend(writes.map(|z| (r, z, Step::FromReads)));
        }
    }
    edges
}

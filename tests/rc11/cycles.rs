//! The axiom of RC11 that a graph violates, with a cycle.

use spirv_tv::model::explain::{Edge, Violation};
use spirv_tv::model::relation::Relation;

use crate::axioms::{Axioms, Ordered};

/// The axiom that a graph violates. Where every modification order violates one, the cycle of the first is shown.
pub fn violation(axioms: &Axioms) -> Option<Violation> {
    let graph = axioms.graph;
    if axioms.has_thin_air() {
        let name = |a, b| if graph.program_ordered(a, b) { "sb" } else { "rf" };
        return Some(Violation { axiom: "NO-THIN-AIR", cycle: shortest_cycle(&axioms.sb_and_rf(), &name) });
    }
    let coherent = axioms.coherent_orders(true);
    if let Some(position) = coherent.iter().position(Vec::is_empty) {
        let torn =
            axioms.coherent_orders(false)[position].first().map(|order| axioms.order_unit(position, order));
        let (axiom, ordered) = match torn {
            Some(ordered) => ("ATOMICITY", ordered),
            None => ("COHERENCE", axioms.order_unit(position, &axioms.writes()[position].1)),
        };
        let mut steps = ordered.eco_steps();
        if axiom == "COHERENCE" {
            steps.unite(&axioms.happens_before_at_one_location());
        }
        return Some(Violation {
            axiom,
            cycle: shortest_cycle(&steps, &|a, b| named(axioms, &ordered, a, b)),
        });
    }
    let mut is_consistent = false;
    axioms.for_each_order(&mut |_| {
        is_consistent = true;
        false
    });
    if is_consistent {
        return None;
    }
    let first: Vec<_> = coherent.iter().map(|orders| orders[0].as_slice()).collect();
    let ordered = axioms.order_all(&first);
    let name = |a, b| named(axioms, &ordered, a, b);
    Some(Violation { axiom: "SC", cycle: shortest_cycle(&axioms.psc(&ordered), &name) })
}

/// The relation of RC11 that leads from one event to another.
fn named(axioms: &Axioms, ordered: &Ordered, a: usize, b: usize) -> &'static str {
    let named =
        [(&ordered.rf, "rf"), (&ordered.rb, "rb"), (&ordered.mo, "mo"), (axioms.happens_before, "hb")];
    match named.iter().find(|(relation, _)| relation.contains(a, b)) {
        _ if axioms.graph.program_ordered(a, b) => "sb",
        Some((_, name)) => name,
        None => "psc",
    }
}

/// A shortest cycle of a relation, edge by edge.
fn shortest_cycle(relation: &Relation, name: &dyn Fn(usize, usize) -> &'static str) -> Vec<Edge> {
    let cycles = (0..relation.len()).filter_map(|start| path(relation, start));
    let shortest = cycles.min_by_key(Vec::len).unwrap_or_default();
    let next = shortest.iter().cycle().skip(1);
    let edges = shortest.iter().zip(next);
    edges.map(|(from, to)| Edge { from: *from, to: *to, relation: name(*from, *to) }).collect()
}

/// The events of a shortest way from an event back to itself, without its end.
fn path(relation: &Relation, start: usize) -> Option<Vec<usize>> {
    let mut ways = vec![vec![start]];
    let mut reached = vec![false; relation.len()];
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in &ways {
            let last = way[way.len() - 1];
            if relation.contains(last, start) {
                return Some(way.clone());
            }
            for next in relation.row(last) {
                if !std::mem::replace(&mut reached[next], true) {
                    longer.push([way.as_slice(), &[next]].concat());
                }
            }
        }
        ways = longer;
    }
    None
}

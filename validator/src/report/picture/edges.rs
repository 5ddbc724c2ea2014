//! The edges of a picture: relations between the events that are drawn. Events of folded invocations count as those that
//! are drawn for them.

use std::collections::BTreeMap;

use super::columns::Layout;
use super::names::PictureNames;
use super::{Drawn, Edge, Relation, Subject};
use crate::model::explain::{long, Explainer, Telling};
use crate::model::graph::{Source, Unit};
use crate::model::memory_model::{Location, Relations};

/// Orderings whose way is told, of executions of so many events; of larger ones a few.
const EXPLAINED: usize = 60;
const EXPLAINED_OF_MANY: usize = 4;
const MANY: usize = 400;

/// What was found.
pub(super) struct Found {
    pub(super) edges: Vec<Edge>,
    pub(super) left_out: Vec<String>,
}

/// All edges between drawn events, at most `most` of a relation.
pub(super) fn between(subject: &Subject<'_>, layout: &Layout, drawn: &[Drawn], most: usize) -> Found {
    let mut finder = Finder {
        subject,
        layout,
        place: drawn.iter().enumerate().map(|(place, event)| (event.number, place)).collect(),
        edges: BTreeMap::new(),
        within: BTreeMap::new(),
        left_out: Vec::new(),
    };
    finder.marks();
    finder.reads_from();
    if let Some(relations) = &subject.execution.relations {
        finder.synchronizes_with(relations);
        for (read, write) in &subject.execution.from_reads {
            finder.add(*read, *write, Relation::FromReads);
        }
        finder.orderings(relations);
    }
    finder.found(most)
}

struct Finder<'a> {
    subject: &'a Subject<'a>,
    layout: &'a Layout,
    /// Of each drawn event, its place among them.
    place: BTreeMap<usize, usize>,
    edges: BTreeMap<(Relation, usize, usize), Edge>,
    /// Pairs of different invocations that share a column.
    within: BTreeMap<Relation, usize>,
    left_out: Vec<String>,
}

impl Finder<'_> {
    fn marks(&mut self) {
        for mark in self.subject.marks {
            let ends = [mark.from, mark.to].map(|number| self.place.get(&number).copied());
            let [Some(from), Some(to)] = ends else { continue };
            let (relation, label) = (mark.relation, mark.label.clone());
            let edge = Edge { from, to, relation, label, way: String::new(), alike: 1, is_mutual: false };
            self.edges.insert((relation, from, to), edge);
        }
    }

    /// Adds a pair of events of the graph, where both are drawn.
    fn add(&mut self, from: usize, to: usize, relation: Relation) {
        let drawn = |number| self.layout.representative(self.subject, number);
        let (Some(first), Some(second)) = (drawn(from), drawn(to)) else { return };
        let agent = |number: usize| self.subject.execution.events[number].invocation;
        let folded = first != from || second != to;
        if folded && agent(first) == agent(second) && agent(from) != agent(to) {
            *self.within.entry(relation).or_default() += 1;
            return;
        }
        let (Some(from), Some(to)) = (self.place.get(&first), self.place.get(&second)) else { return };
        let edge = self.edges.entry((relation, *from, *to)).or_insert_with(|| Edge {
            from: *from,
            to: *to,
            relation,
            label: String::new(),
            way: String::new(),
            alike: 0,
            is_mutual: false,
        });
        edge.alike += 1;
    }

    fn reads_from(&mut self) {
        for (number, event) in self.subject.execution.graph.events.iter().enumerate() {
            let mut sources: Vec<usize> = event
                .sources
                .iter()
                .filter_map(|source| match source {
                    Source::Event(write) => Some(*write as usize),
                    Source::Initial | Source::Pending => None,
                })
                .collect();
            sources.dedup();
            sources.into_iter().for_each(|source| self.add(source, number, Relation::ReadsFrom));
        }
    }

    fn synchronizes_with(&mut self, relations: &Relations) {
        for from in 0..self.subject.execution.events.len() {
            for to in relations.synchronizes_with.row(from) {
                self.add(from, to, Relation::SynchronizesWith);
            }
        }
    }

    /// Location order of drawn accesses of different invocations, and the chains that it rests on.
    fn orderings(&mut self, relations: &Relations) {
        let (execution, scene, agents) = (self.subject.execution, self.subject.scene, self.subject.agents);
        let names = PictureNames { execution, scene, agents };
        let graph = &*execution.graph;
        let (to_long, to_short) =
            (|event: usize| long(&graph.events[event], &names), |event: usize| names.short(event));
        let telling = Telling { long: &to_long, short: &to_short, names: &names };
        let explainer = execution.witness.model.explainer(graph, relations, telling);
        let mut explained = match graph.events.len() > MANY {
            true => EXPLAINED_OF_MANY,
            false => EXPLAINED,
        };
        let (mut unexplained, mut too_late) = (0, false);
        for location in &relations.locations {
            for (from, to) in self.pairs(location) {
                let key = (Relation::LocationOrdered, self.place[&from], self.place[&to]);
                if self.edges.contains_key(&key) {
                    continue;
                }
                self.add(from, to, Relation::LocationOrdered);
                too_late = too_late || (self.subject.is_over)();
                if explained == 0 || too_late {
                    unexplained += 1;
                    continue;
                }
                explained -= 1;
                self.chain(&*explainer, from, to, location.unit);
            }
        }
        if unexplained > 0 {
            let why = if too_late { " (--timeout)" } else { "" };
            self.left_out.push(format!("the availability chains of {unexplained} orderings{why}"));
        }
    }

    /// The pairs of drawn accesses of different invocations that are ordered at a location, one of them writing, but
    /// those that follow from two others.
    fn pairs(&self, location: &Location) -> Vec<(usize, usize)> {
        let events = &self.subject.execution.graph.events;
        let drawn: Vec<usize> = (0..location.events.len())
            .filter(|at| self.place.contains_key(&(location.events[*at] as usize)))
            .collect();
        let order = &location.location_ordered;
        let mut pairs = Vec::new();
        for (a, c) in drawn.iter().flat_map(|a| drawn.iter().map(move |c| (*a, *c))) {
            let (from, to) = (location.events[a] as usize, location.events[c] as usize);
            let counts = events[from].agent != events[to].agent
                && (events[from].writes() || events[to].writes())
                && order.contains(a, c);
            let follows = || order.row(a).any(|b| b != c && b != a && order.contains(b, c));
            if counts && !follows() {
                pairs.push((from, to));
            }
        }
        pairs
    }

    /// How an ordering comes about.
    fn chain(&mut self, explainer: &dyn Explainer, from: usize, to: usize, unit: Unit) {
        let Some(ordering) = explainer.ordering(from, to, unit) else { return };
        let key = (Relation::LocationOrdered, self.place[&from], self.place[&to]);
        if let Some(edge) = self.edges.get_mut(&key) {
            edge.way.clone_from(&ordering.way);
        }
        if ordering.available.is_empty() && ordering.visible.is_empty() {
            return;
        }
        let mut elements = vec![from];
        for element in ordering.available.into_iter().chain(ordering.visible).chain([to]) {
            let is_drawn = self.place.contains_key(&element);
            if is_drawn && elements.last() != Some(&element) {
                elements.push(element);
            }
        }
        for pair in elements.windows(2) {
            self.add(pair[0], pair[1], Relation::Availability);
        }
    }

    /// Draws what holds both ways once.
    fn join_both_ways(&mut self) {
        let keys: Vec<(Relation, usize, usize)> = self.edges.keys().copied().collect();
        let may_join =
            |(relation, from, to): &(Relation, usize, usize)| from < to && *relation != Relation::Cycle;
        for (relation, from, to) in keys.into_iter().filter(may_join) {
            if self.edges.contains_key(&(relation, from, to))
                && self.edges.remove(&(relation, to, from)).is_some()
            {
                self.edges.entry((relation, from, to)).and_modify(|edge| edge.is_mutual = true);
            }
        }
    }

    fn found(mut self, most: usize) -> Found {
        self.join_both_ways();
        let mut counts: BTreeMap<Relation, usize> = BTreeMap::new();
        self.edges.retain(|(relation, _, _), _| {
            let count = counts.entry(*relation).or_default();
            *count += 1;
            *count <= most
        });
        for (relation, count) in counts.into_iter().filter(|(_, count)| *count > most) {
            self.left_out.push(format!("{} edges of {}", count - most, relation.name()));
        }
        for (relation, count) in self.within {
            let name = relation.name();
            self.left_out.push(format!("{name} between invocations that share a column: {count} pairs"));
        }
        Found { edges: self.edges.into_values().collect(), left_out: self.left_out }
    }
}

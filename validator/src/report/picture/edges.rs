//! The edges of a picture: relations between the events that are drawn. Events of folded invocations count as those that
//! are drawn for them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::columns::Layout;
use super::names::PictureNames;
use super::{Drawn, Edge, Relation, Subject};
use crate::model::explain::{long, Explainer, Telling};
use crate::model::graph::{Kind, Source, Unit};
use crate::model::memory_model::{Location, Relations};
use crate::model::relation::Relation as BitRelation;

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
        drawn,
        drawn_for: (0..subject.execution.events.len())
            .map(|number| layout.representative(subject, number))
            .collect(),
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
    drawn: &'a [Drawn],
    /// For each event of the graph the one that is drawn for it.
    drawn_for: Vec<Option<usize>>,
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
        let (Some(first), Some(second)) = (self.drawn_for[from], self.drawn_for[to]) else { return };
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
        let related = &relations.synchronizes_with;
        let mut known: FxHashMap<(usize, usize), bool> = FxHashMap::default();
        for from in 0..self.subject.execution.events.len() {
            let Some(first) = self.drawn_for[from] else { continue };
            for to in related.row(from) {
                let Some(second) = self.drawn_for[to] else { continue };
                // Alike for all that the same events are drawn for.
                let follows =
                    *known.entry((first, second)).or_insert_with(|| self.follows(related, from, to));
                if !follows {
                    self.add(from, to, Relation::SynchronizesWith);
                }
            }
        }
    }

    /// Whether a pair follows from one of an event in between by program order, which orders at least as much.
    fn follows(&self, related: &BitRelation, from: usize, to: usize) -> bool {
        let events = &self.subject.execution.graph.events;
        let own = |number: usize| {
            let own = self.layout.of.get(&events[number].agent).map_or(&[][..], Vec::as_slice);
            (own, own.partition_point(|other| *other < number))
        };
        let covers = |nearer: usize, farther: usize| {
            let (nearer, farther) = (&events[nearer], &events[farther]);
            nearer.scope >= farther.scope && nearer.semantics.contains(farther.semantics)
        };
        let ((of_first, first), (of_second, second)) = (own(from), own(to));
        let later = of_first.iter().skip(first + 1);
        let earlier = of_second.iter().take(second);
        later.clone().any(|nearer| related.contains(*nearer, to) && covers(*nearer, from))
            || earlier.clone().any(|nearer| related.contains(from, *nearer) && covers(*nearer, to))
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

    /// Draws of a control barrier, where everybody synchronizes with everybody, only pairs of neighbours.
    fn thin_barriers(&mut self) {
        let mutual = |edges: &BTreeMap<(Relation, usize, usize), Edge>, a: usize, b: usize| {
            let key = (Relation::SynchronizesWith, a.min(b), a.max(b));
            edges.get(&key).is_some_and(|edge| edge.is_mutual)
        };
        let stands_between = |drawn: &[Drawn], from: usize, to: usize, between: usize| {
            let column = |at: usize| drawn[at].column;
            let (left, right) = (column(from).min(column(to)), column(from).max(column(to)));
            left < column(between) && column(between) < right
        };
        let before = self.edges.len();
        let all = self.edges.clone();
        self.edges.retain(|(_, from, to), edge| {
            let at_barrier =
                [*from, *to].iter().all(|at| matches!(self.drawn[*at].event.kind, Kind::Barrier { .. }));
            let goes_around = |other: usize| {
                stands_between(self.drawn, *from, *to, other)
                    && mutual(&all, *from, other)
                    && mutual(&all, other, *to)
            };
            let is_thinned = edge.is_mutual && at_barrier && (0..self.drawn.len()).any(goes_around);
            !is_thinned
        });
        let left = before - self.edges.len();
        if left > 0 {
            self.left_out.push(format!(
                "{left} edges of synchronizes-with at control barriers, between columns that are no neighbours"
            ));
        }
    }

    fn found(mut self, most: usize) -> Found {
        self.join_both_ways();
        self.thin_barriers();
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

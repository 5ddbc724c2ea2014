//! The axioms of RC11 over a graph, for every modification order.

use spirv_tv::event::Order;
use spirv_tv::model::graph::{EventId, Graph, Source, Unit};
use spirv_tv::model::memory_model::Relations;
use spirv_tv::model::relation::Relation;

use crate::model::{at_one_location, Rc11, Weakened};

/// A total order of the writes of each written unit.
pub type Orders<'o> = [&'o [EventId]];

/// A graph with what does not depend on the modification order.
pub struct Axioms<'a> {
    pub graph: &'a Graph,
    pub happens_before: &'a Relation,
    model: Rc11,
    /// Per written unit, its writes, ascending.
    writes: Vec<(Unit, Vec<EventId>)>,
    /// The part of scb that needs no modification order.
    scb: Relation,
}

/// The relations of one modification order.
pub struct Ordered {
    pub mo: Relation,
    pub rf: Relation,
    pub rb: Relation,
    /// (rf ∪ mo ∪ rb)+
    pub eco: Relation,
}

/// The composition of two relations.
fn compose(first: &Relation, second: &Relation) -> Relation {
    let mut relation = Relation::new(first.len());
    for a in 0..first.len() {
        first.row(a).for_each(|middle| relation.unite_words(a, second.words(middle)));
    }
    relation
}

/// A relation with the identity.
fn reflexive(relation: &Relation) -> Relation {
    let mut relation = relation.clone();
    (0..relation.len()).for_each(|event| relation.insert(event, event));
    relation
}

/// The pairs for which a condition holds.
fn pairs(count: usize, holds: impl Fn(usize, usize) -> bool) -> Relation {
    let mut relation = Relation::new(count);
    for a in 0..count {
        (0..count).filter(|b| holds(a, *b)).for_each(|b| relation.insert(a, b));
    }
    relation
}

/// Every order of `rest` behind `order` in which no write comes before one that must precede it, until `visit` says
/// that it is enough.
fn permutations(
    order: &mut Vec<EventId>,
    rest: &[EventId],
    precedes: &dyn Fn(EventId, EventId) -> bool,
    visit: &mut dyn FnMut(&[EventId]) -> bool,
) -> bool {
    if rest.is_empty() {
        return visit(order);
    }
    rest.iter().all(|next| {
        let others: Vec<EventId> = rest.iter().copied().filter(|other| other != next).collect();
        if others.iter().any(|other| precedes(*other, *next)) {
            return true;
        }
        order.push(*next);
        let goes_on = permutations(order, &others, precedes, visit);
        order.pop();
        goes_on
    })
}

impl<'a> Axioms<'a> {
    pub fn new(graph: &'a Graph, relations: &'a Relations, model: Rc11) -> Self {
        let happens_before = &relations.happens_before;
        let is_write = |event: &EventId| graph.events[*event as usize].writes();
        let writes = relations.locations.iter().map(|location| {
            (location.unit, location.events.iter().copied().filter(is_write).collect::<Vec<_>>())
        });
        let writes = writes.filter(|(_, writes)| !writes.is_empty()).collect();
        let count = graph.events.len();
        let mut axioms = Axioms { graph, happens_before, model, writes, scb: Relation::new(count) };
        if axioms.sequentially_consistent().next().is_some() {
            axioms.scb = axioms.scb_without_order();
        }
        axioms
    }

    pub fn writes(&self) -> &[(Unit, Vec<EventId>)] {
        &self.writes
    }

    pub fn written_units(&self) -> Vec<Unit> {
        self.writes.iter().map(|(unit, _)| *unit).collect()
    }

    pub fn happens_before_at_one_location(&self) -> Relation {
        let at = |a, b| self.happens_before.contains(a, b) && at_one_location(self.graph, a, b);
        pairs(self.graph.events.len(), at)
    }

    pub fn sequentially_consistent(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.graph.events.len())
            .filter(|event| self.graph.events[*event].order == Order::SequentiallyConsistent)
    }

    /// sb ∪ sb|≠loc; hb; sb|≠loc ∪ hb|loc
    fn scb_without_order(&self) -> Relation {
        let count = self.graph.events.len();
        let sb = pairs(count, |a, b| self.graph.program_ordered(a, b));
        let mut scb = sb.clone();
        let elsewhere = pairs(count, |a, b| {
            sb.contains(a, b)
                && (!self.model.has(Weakened::ScbAroundAnywhere) || !at_one_location(self.graph, a, b))
        });
        if self.model.has(Weakened::ScbAround) {
            scb.unite(&compose(&compose(&elsewhere, self.happens_before), &elsewhere));
        }
        if self.model.has(Weakened::ScbHbAtLocation) {
            scb.unite(&self.happens_before_at_one_location());
        }
        scb
    }

    /// Calls `visit` with every modification order that satisfies the axioms, until it says that it is enough.
    pub fn for_each_order(&self, visit: &mut dyn FnMut(&Orders) -> bool) {
        if self.has_thin_air() {
            return;
        }
        self.combine(&self.coherent_orders(true), &mut Vec::new(), &mut |orders| {
            !self.is_sc(orders) || visit(orders)
        });
    }

    /// The orders that satisfy all axioms but SC, of each written unit by itself, with or without ATOMICITY.
    pub fn coherent_orders(&self, atomicity: bool) -> Vec<Vec<Vec<EventId>>> {
        (0..self.writes.len()).map(|position| self.orders_of(position, atomicity)).collect()
    }

    fn combine<'o>(
        &self,
        each: &'o [Vec<Vec<EventId>>],
        chosen: &mut Vec<&'o [EventId]>,
        visit: &mut dyn FnMut(&Orders) -> bool,
    ) -> bool {
        let Some(orders) = each.get(chosen.len()) else { return visit(chosen) };
        orders.iter().all(|order| {
            chosen.push(order);
            let goes_on = self.combine(each, chosen, visit);
            chosen.pop();
            goes_on
        })
    }

    /// NO-THIN-AIR: sb ∪ rf has no cycle.
    pub fn has_thin_air(&self) -> bool {
        let mut causes = self.sb_and_rf();
        causes.close();
        self.model.has(Weakened::NoThinAir) && causes.is_reflexive_somewhere()
    }

    /// sb ∪ rf
    pub fn sb_and_rf(&self) -> Relation {
        let count = self.graph.events.len();
        let mut relation = pairs(count, |a, b| self.graph.program_ordered(a, b));
        for (read, event) in self.graph.events.iter().enumerate() {
            for source in &event.sources {
                if let Source::Event(write) = source {
                    relation.insert(*write as usize, read);
                }
            }
        }
        relation
    }

    /// The orders of one unit's writes that satisfy COHERENCE and ATOMICITY.
    fn orders_of(&self, position: usize, atomicity: bool) -> Vec<Vec<EventId>> {
        let coherent = self.model.has(Weakened::Coherence);
        let precedes =
            |a: EventId, b: EventId| coherent && self.happens_before.contains(a as usize, b as usize);
        let mut found = Vec::new();
        permutations(&mut Vec::new(), &self.writes[position].1, &precedes, &mut |order| {
            let ordered = self.order_unit(position, order);
            if (!coherent || self.is_coherent(&ordered)) && (!atomicity || self.is_atomic(&ordered)) {
                found.push(order.to_vec());
            }
            true
        });
        found
    }

    /// COHERENCE: hb; eco? is irreflexive. Within an update, whose read is sb-before its write, so is mo; rf.
    fn is_coherent(&self, ordered: &Ordered) -> bool {
        let against = |a: usize| {
            self.happens_before.row(a).any(|b| a == b || ordered.eco.contains(b, a))
                || ordered.mo.row(a).any(|b| ordered.rf.contains(b, a))
        };
        !(0..self.graph.events.len()).any(against)
    }

    /// ATOMICITY: rb; mo is irreflexive: an update comes right behind what it reads.
    fn is_atomic(&self, ordered: &Ordered) -> bool {
        let torn = |a: usize| ordered.rb.row(a).any(|b| ordered.mo.contains(b, a));
        !(self.model.has(Weakened::Atomicity) && (0..self.graph.events.len()).any(torn))
    }

    /// Adds the relations of one unit, whose writes are in this order.
    fn add_unit(&self, unit: Unit, order: &[EventId], to: &mut Ordered) {
        for (position, write) in order.iter().enumerate() {
            let later = order[position + 1..].iter();
            later.for_each(|later| to.mo.insert(*write as usize, *later as usize));
        }
        for (read, event) in self.graph.events.iter().enumerate() {
            let after = match event.source(unit) {
                Some(Source::Event(write)) => {
                    to.rf.insert(write as usize, read);
                    order.iter().position(|other| *other == write).map_or(order.len(), |at| at + 1)
                }
                Some(Source::Initial) => 0,
                Some(Source::Pending) | None => order.len(),
            };
            let later = order[after..].iter().map(|write| *write as usize);
            later.filter(|write| *write != read).for_each(|write| to.rb.insert(read, write));
        }
    }

    fn unordered(&self) -> Ordered {
        let none = || Relation::new(self.graph.events.len());
        Ordered { mo: none(), rf: none(), rb: none(), eco: none() }
    }

    /// The relations of the written unit at this position.
    pub fn order_unit(&self, position: usize, order: &[EventId]) -> Ordered {
        let mut ordered = self.unordered();
        self.add_unit(self.writes[position].0, order, &mut ordered);
        ordered.close_eco();
        ordered
    }

    pub fn order_all(&self, orders: &Orders) -> Ordered {
        let mut ordered = self.unordered();
        for ((unit, _), order) in self.writes.iter().zip(orders) {
            self.add_unit(*unit, order, &mut ordered);
        }
        ordered.close_eco();
        ordered
    }

    /// SC: psc has no cycle.
    fn is_sc(&self, orders: &Orders) -> bool {
        if !self.model.has(Weakened::Sc) || self.sequentially_consistent().next().is_none() {
            return true;
        }
        let mut psc = self.psc(&self.order_all(orders));
        psc.close();
        !psc.is_reflexive_somewhere()
    }

    /// scb: what is sequentially consistent before what.
    fn scb(&self, ordered: &Ordered) -> Relation {
        let mut scb = self.scb.clone();
        if self.model.has(Weakened::ScbMo) {
            scb.unite(&ordered.mo);
        }
        if self.model.has(Weakened::ScbRb) {
            scb.unite(&ordered.rb);
        }
        scb
    }

    /// psc_base ∪ psc_F
    pub fn psc(&self, ordered: &Ordered) -> Relation {
        let count = self.graph.events.len();
        let is_sc = |event: usize| self.graph.events[event].order == Order::SequentiallyConsistent;
        let is_sc_fence = |event: usize| is_sc(event) && self.graph.events[event].is_fence();
        let mut psc = Relation::new(count);
        if self.model.has(Weakened::PscBase) {
            let hb = reflexive(self.happens_before);
            let ends = |from: usize, to: usize| is_sc(to) && (from == to || is_sc_fence(to));
            let begins = |from: usize, to: usize| is_sc(from) && (from == to || is_sc_fence(from));
            let begin = pairs(count, |a, b| begins(a, b) && hb.contains(a, b));
            let end = pairs(count, |a, b| ends(a, b) && hb.contains(a, b));
            psc.unite(&compose(&compose(&begin, &self.scb(ordered)), &end));
        }
        if self.model.has(Weakened::PscF) {
            let hb = self.happens_before;
            let around = compose(&compose(hb, &ordered.eco), hb);
            let fences =
                |a, b| is_sc_fence(a) && is_sc_fence(b) && (hb.contains(a, b) || around.contains(a, b));
            psc.unite(&pairs(count, fences));
        }
        psc
    }
}

impl Ordered {
    /// rf ∪ mo ∪ rb
    pub fn eco_steps(&self) -> Relation {
        let mut steps = self.rf.clone();
        steps.unite(&self.mo);
        steps.unite(&self.rb);
        steps
    }

    fn close_eco(&mut self) {
        self.eco = self.eco_steps();
        self.eco.close();
    }
}

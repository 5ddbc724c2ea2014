//! What groups of invocations that do not communicate come to together: every combination of their outcomes. It is kept
//! as its parts until somebody wants the whole ones.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use indexmap::map::Entry;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::{Count, End, Outcome, Permuted, Places, VolatileAccess};
use crate::model::memory_model::Extent;
use crate::model::relation::Relation;
use crate::value::Byte;
use crate::witness::{Execution, Witness};

/// The outcomes of one group.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its invocations, ascending.
    pub members: Vec<usize>,
    /// As if the others did nothing, sorted.
    pub outcomes: Vec<(Outcome, Witness)>,
    /// Others, in factored form: no two have an outcome in common, and none is one of `outcomes`.
    pub permuted: Vec<Permuted>,
    /// The bytes of an outcome's memory that are the group's to write, by observed object: no other group
    /// touches them.
    pub owned: Vec<(usize, Range<usize>)>,
}

/// Outcomes that are all combinations of those of groups.
#[derive(Clone, Debug)]
pub struct Product {
    /// One part for each group; an outcome is one of each.
    pub parts: Vec<Part>,
    /// What observed memory holds at first.
    pub initial: Vec<Vec<Byte>>,
    /// Number of invocations of the dispatch.
    pub invocations: usize,
}

/// Outcomes in the order in which they are put together.
type Outcomes = IndexMap<Outcome, Witness, FxBuildHasher>;

/// An outcome of the first parts, where the others do nothing.
#[derive(Clone)]
struct Partial<'a> {
    outcome: Outcome,
    executions: u64,
    witnesses: Vec<&'a Witness>,
}

/// The same with the places that parts have in factored form.
struct Combination<'a> {
    whole: Partial<'a>,
    classes: Vec<Places>,
    /// Its executions.
    count: Count,
}

impl Part {
    pub(crate) fn new(
        members: Vec<usize>,
        mut outcomes: Vec<(Outcome, Witness)>,
        owned: Vec<(usize, Range<usize>)>,
    ) -> Part {
        for (_, witness) in &mut outcomes {
            // Wholes share it.
            let execution = std::mem::take(&mut witness.execution);
            witness.execution = Execution::Together(vec![Arc::new(execution)]);
        }
        Part { members, outcomes, permuted: Vec::new(), owned }
    }

    /// How many listed outcomes and factored forms it has.
    pub fn len(&self) -> usize {
        self.outcomes.len() + self.permuted.len()
    }

    /// Whether it has no outcome at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An outcome that is listed, or the first of a factored form.
    fn one(&self, index: usize) -> Option<(Outcome, Witness)> {
        match index.checked_sub(self.outcomes.len()) {
            None => self.outcomes.get(index).cloned(),
            Some(index) => self.permuted.get(index).map(Permuted::one),
        }
    }

    /// Visits every outcome, until `visit` says that it is enough.
    fn each(&self, mut visit: impl FnMut(&Outcome, &Witness) -> bool) -> bool {
        self.outcomes.iter().all(|(outcome, witness)| visit(outcome, witness))
            && self.permuted.iter().all(|permuted| permuted.each(&mut visit))
    }

    /// The different traces of its outcomes that end like this.
    fn traces(&self, end: End) -> BTreeSet<&[Vec<VolatileAccess>]> {
        let outcomes = self.outcomes.iter().map(|(outcome, _)| outcome);
        let all = outcomes.chain(self.permuted.iter().map(|permuted| &permuted.first));
        all.filter(|outcome| outcome.end == end).map(|outcome| outcome.volatile.as_slice()).collect()
    }

    fn count_terminated(&self) -> Count {
        let listed = self.outcomes.iter().filter(|(outcome, _)| outcome.end == End::Terminated).count();
        self.permuted.iter().fold(listed.into(), |count, permuted| count + &permuted.count())
    }
}

impl Part {
    /// A whole, of which this part did nothing yet, where it comes to one of its outcomes.
    fn join(&self, whole: &Outcome, own: &Outcome) -> Outcome {
        let mut next = whole.clone();
        match (next.end, own.end) {
            (End::Terminated, End::Terminated) => {
                for (object, range) in &self.owned {
                    next.memory[*object][range.clone()].copy_from_slice(&own.memory[*object][range.clone()]);
                }
            }
            // Who waits for ever keeps the whole from its end.
            (End::Hang, _) | (_, End::Hang) => {
                next.end = End::Hang;
                next.memory = Vec::new();
            }
        }
        for member in &self.members {
            if let Some(trace) = own.volatile.get(*member) {
                next.volatile[*member].clone_from(trace);
            }
        }
        next
    }
}

impl<'a> Partial<'a> {
    fn joined(&self, part: &Part, outcome: &Outcome, witness: &'a Witness) -> Partial<'a> {
        Partial {
            outcome: part.join(&self.outcome, outcome),
            executions: self.executions.saturating_mul(witness.executions),
            witnesses: self.witnesses.iter().copied().chain([witness]).collect(),
        }
    }
}

impl<'a> Combination<'a> {
    fn joined(
        &self,
        part: &Part,
        outcome: &Outcome,
        witness: &'a Witness,
        classes: &[Places],
        count: &Count,
    ) -> Combination<'a> {
        let whole = self.whole.joined(part, outcome, witness);
        let classes = self.classes.iter().chain(classes).cloned().collect();
        Combination { whole, classes, count: self.count.clone() * count }
    }
}

impl Product {
    /// How many outcomes there are.
    pub fn count(&self) -> Count {
        let product = |count: &dyn Fn(&Part) -> Count| {
            self.parts.iter().fold(Count::from(1_u64), |product, part| product * &count(part))
        };
        let terminated = product(&Part::count_terminated);
        // A hang has no memory: where one part hangs, the traces of all tell it from others.
        let any = product(&|part| part.traces(End::Terminated).union(&part.traces(End::Hang)).count().into());
        let never =
            product(&|part| part.traces(End::Terminated).difference(&part.traces(End::Hang)).count().into());
        terminated + &(any - &never)
    }

    /// The whole outcome in which a part comes to this one of its outcomes, and the others to their first.
    pub fn whole(&self, part: usize, index: usize) -> Option<(Outcome, Witness)> {
        let parts = self.parts.iter().enumerate();
        let ones = parts.map(|(number, other)| other.one(if number == part { index } else { 0 }));
        let ones: Vec<(Outcome, Witness)> = ones.collect::<Option<_>>()?;
        let mut whole = self.start().outcome;
        for (part, (outcome, _)) in self.parts.iter().zip(&ones) {
            whole = part.join(&whole, outcome);
        }
        let witnesses: Vec<&Witness> = ones.iter().map(|(_, witness)| witness).collect();
        let executions = witnesses.iter().map(|witness| witness.executions).fold(1, u64::saturating_mul);
        Some((finished(whole), together(&witnesses, executions)))
    }

    /// The same as one part: each combination of what is listed and of factored forms is an outcome or a form. `None` where
    /// there are more than `most`, or some part hangs.
    pub(crate) fn combined<'s>(&'s self, most: usize) -> Option<Product> {
        let count = self.parts.iter().map(Part::len).fold(1, usize::saturating_mul);
        let hangs = |part: &Part| part.outcomes.iter().any(|(outcome, _)| outcome.end == End::Hang);
        if count > most || self.parts.iter().any(hangs) {
            return None;
        }
        let mut wholes = vec![Combination { whole: self.start(), classes: Vec::new(), count: 1_u64.into() }];
        for part in &self.parts {
            let with = |whole: &Combination<'s>| {
                let listed = part.outcomes.iter().map(|(outcome, witness)| {
                    let count = Count::from(witness.executions);
                    whole.joined(part, outcome, witness, &[], &count)
                });
                let factored = part
                    .permuted
                    .iter()
                    .map(|one| whole.joined(part, &one.first, &one.witness, &one.classes, &one.executions));
                listed.chain(factored).collect::<Vec<_>>()
            };
            wholes = wholes.iter().flat_map(with).collect();
        }
        let (mut outcomes, mut permuted) = (Vec::new(), Vec::new());
        for Combination { whole, classes, count } in wholes {
            let witness = together(&whole.witnesses, whole.executions);
            let first = finished(whole.outcome);
            match classes.is_empty() {
                true => outcomes.push((first, witness)),
                false => permuted.push(Permuted { first, witness, classes, executions: count }),
            }
        }
        outcomes.sort_by(|(one, _), (other, _)| one.cmp(other));
        let owned = self.initial.iter().enumerate().map(|(object, bytes)| (object, 0..bytes.len())).collect();
        let part = Part { members: (0..self.invocations).collect(), outcomes, permuted, owned };
        Some(Product { parts: vec![part], initial: self.initial.clone(), invocations: self.invocations })
    }

    /// Puts all together, in the order of the parts' outcomes. `goes_on` hears of every outcome, and of its bytes if it is
    /// new; it says whether there is to be another one.
    pub(crate) fn multiply_out(&self, mut goes_on: impl FnMut(&Outcome, u64) -> bool) -> Outcomes {
        let mut outcomes = Outcomes::default();
        if self.parts.iter().all(|part| !part.is_empty()) {
            self.extend(&self.start(), 0, &mut |whole| {
                let outcome = finished(whole.outcome.clone());
                match outcomes.entry(outcome) {
                    Entry::Occupied(mut known) => {
                        let outcome = known.key().clone();
                        let executions = &mut known.get_mut().executions;
                        *executions = executions.saturating_add(whole.executions);
                        goes_on(&outcome, 0)
                    }
                    Entry::Vacant(slot) => {
                        let witness = together(&whole.witnesses, whole.executions);
                        let goes_on = goes_on(slot.key(), slot.key().stored_bytes(&witness));
                        slot.insert(witness);
                        goes_on
                    }
                }
            });
        }
        outcomes
    }

    /// The first outcomes, sorted, of those that terminate.
    pub fn first(&self, count: usize) -> Vec<Outcome> {
        let mut first = vec![self.start().outcome];
        for part in &self.parts {
            // The first ones of several parts are made of the first ones of each.
            let own = part.outcomes.iter().map(|(outcome, _)| outcome);
            let own = own.filter(|own| own.end == End::Terminated).take(count).cloned();
            let own: Vec<Outcome> =
                own.chain(part.permuted.iter().flat_map(|permuted| permuted.first(count))).collect();
            first = first.iter().flat_map(|whole| own.iter().map(|own| part.join(whole, own))).collect();
            first.sort_unstable();
            first.truncate(count);
        }
        first.into_iter().map(finished).collect()
    }

    fn start(&self) -> Partial<'_> {
        let volatile = vec![Vec::new(); self.invocations];
        let outcome =
            Outcome { end: End::Terminated, memory: self.initial.clone(), volatile, remarks: Vec::new() };
        Partial { outcome, executions: 1, witnesses: Vec::new() }
    }

    /// Visits every whole that begins like this one. False where there is to be no other.
    fn extend(
        &self,
        whole: &Partial<'_>,
        position: usize,
        visit: &mut dyn FnMut(&Partial<'_>) -> bool,
    ) -> bool {
        let Some(part) = self.parts.get(position) else { return visit(whole) };
        part.each(|outcome, witness| self.extend(&whole.joined(part, outcome, witness), position + 1, visit))
    }

    /// To which part each byte of an outcome's memory belongs that is one's to write: by object and first byte of a range.
    pub fn owners(&self) -> BTreeMap<(usize, usize), usize> {
        let parts = self.parts.iter().enumerate();
        parts
            .flat_map(|(number, part)| {
                part.owned.iter().map(move |(object, range)| ((*object, range.start), number))
            })
            .collect()
    }
}

/// An outcome as searches tell it.
fn finished(mut outcome: Outcome) -> Outcome {
    if outcome.volatile.iter().all(Vec::is_empty) {
        outcome.volatile = Vec::new();
    }
    outcome
}

/// The execution in which every group does what its witness says.
fn together(witnesses: &[&Witness], executions: u64) -> Witness {
    let Some(first) = witnesses.first() else { return Witness::default() };
    let parts = witnesses.iter().flat_map(|witness| match &witness.execution {
        Execution::Together(parts) => parts.clone(),
        other => vec![Arc::new(other.clone())],
    });
    Witness {
        executions,
        execution: Execution::Together(parts.collect()),
        units: first.units.clone(),
        model: first.model.clone(),
        synchronizes_with: synchronizes_with(witnesses),
    }
}

/// Where some witness's graph does not tell it: what synchronizes in each group.
fn synchronizes_with(witnesses: &[&Witness]) -> Option<Box<Relation>> {
    witnesses.iter().find(|witness| witness.synchronizes_with.is_some())?;
    let graphs: Vec<_> = witnesses.iter().map(|witness| witness.graph()).collect();
    let mut whole = Relation::new(graphs.iter().map(|graph| graph.events.len()).sum());
    let mut before = 0;
    for (witness, graph) in witnesses.iter().zip(&graphs) {
        let own = match &witness.synchronizes_with {
            Some(given) => Relation::clone(given),
            None => witness.model.relations(graph, Extent::Complete).synchronizes_with,
        };
        for from in 0..own.len() {
            own.row(from).for_each(|to| whole.insert(before + from, before + to));
        }
        before += graph.events.len();
    }
    Some(Box::new(whole))
}

#[cfg(test)]
mod tests {
    use super::super::permuted::tests::permuted;
    use super::*;

    fn outcome(end: End, memory: &[u8]) -> (Outcome, Witness) {
        let memory = match end {
            End::Terminated => vec![memory.iter().map(|byte| Byte::Known(*byte)).collect()],
            End::Hang => Vec::new(),
        };
        let (volatile, remarks) = (Vec::new(), Vec::new());
        (Outcome { end, memory, volatile, remarks }, Witness { executions: 2, ..Witness::default() })
    }

    /// A list of two slots and one outcome without it, beside a byte with two values.
    fn product(ends: [End; 2]) -> Product {
        let listed = vec![outcome(ends[0], &[9, 0, 0, 0]), outcome(ends[1], &[8, 0, 0, 0])];
        let byte = Part::new(vec![2], listed, vec![(0, 0..1)]);
        let slots = vec![(0, 1..4)];
        let none = vec![outcome(End::Terminated, &[9, 0, 0, 1])];
        let list = Part {
            permuted: vec![permuted(&[Some(1), Some(2)], &[5, 6])],
            ..Part::new(vec![0, 1], none, slots)
        };
        Product { parts: vec![list, byte], initial: vec![vec![Byte::Known(0); 4]], invocations: 3 }
    }

    #[test]
    fn parts_with_factored_forms_are_combined() {
        let product = product([End::Terminated; 2]);
        let all: BTreeMap<Outcome, u64> = product
            .multiply_out(|_, _| true)
            .into_iter()
            .map(|(it, witness)| (it, witness.executions))
            .collect();
        let one = product.combined(4).unwrap();
        assert_eq!((one.parts.len(), one.parts[0].outcomes.len(), one.parts[0].permuted.len()), (1, 2, 2));
        assert_eq!(one.count(), product.count());
        let again: BTreeMap<Outcome, u64> =
            one.multiply_out(|_, _| true).into_iter().map(|(it, witness)| (it, witness.executions)).collect();
        assert_eq!((all.len(), again), (6, all));
        assert_eq!(one.parts[0].permuted[0].executions, 4);
        assert!(product.combined(3).is_none());
    }

    #[test]
    fn a_part_that_hangs_takes_the_memory_of_all() {
        assert!(product([End::Terminated, End::Hang]).combined(4).is_none());
    }
}

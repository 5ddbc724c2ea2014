//! The partition of the invocations into groups, and how it is learned.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::explore::facts::touched::Contact;
use crate::explore::program::units::UnitKey;
use crate::explore::reductions::components::contact;
use crate::explore::state::{Context, Found};

/// A partition: invocations with equal numbers are in one group.
#[derive(Clone, Debug)]
pub(crate) struct Groups(Vec<usize>);

impl Groups {
    /// The partition that the path of a scout suggests. It is `None` if it would gain nothing, or if parts of the
    /// program may depend on each other by more than memory.
    pub(crate) fn of_scout(context: &Context, found: &Found) -> Option<Groups> {
        let waits = contact::waits_within_workgroups(context.program)?;
        let places = &context.dispatch.places;
        let mut groups = Groups((0..places.len()).collect());
        if waits {
            for together in context.workgroups.iter().chain(&context.subgroups) {
                groups.unite_all(together);
            }
        }
        groups.unite_communicating(&found.discoveries.meets);
        // Invocations that communicate with no other one have nothing to decide. They need no groups of their own.
        let mut sizes = vec![0_usize; places.len()];
        groups.0.iter().for_each(|group| sizes[*group] += 1);
        let communicates = |invocation: usize| {
            let group = groups.0[invocation];
            sizes[group] > 1
                && found.discoveries.meets.iter().any(|(_, other)| groups.0[*other as usize] == group)
        };
        let quiet: Vec<usize> = (0..places.len()).filter(|invocation| !communicates(*invocation)).collect();
        groups.unite_all(&quiet);
        let least = 2 + usize::from(!quiet.is_empty());
        (groups.members().len() >= least).then_some(groups)
    }

    /// Unites the groups of invocations that access the same word.
    fn unite_communicating(&mut self, meets: &BTreeSet<(UnitKey, u32)>) {
        let mut first: FxHashMap<UnitKey, usize> = FxHashMap::default();
        for (word, invocation) in meets {
            let first = *first.entry(*word).or_insert(*invocation as usize);
            self.unite(first, *invocation as usize);
        }
    }

    fn unite_all(&mut self, invocations: &[usize]) {
        invocations.iter().skip(1).for_each(|other| _ = self.unite(invocations[0], *other));
    }

    /// Unites the groups of two invocations. It returns false if they are one group already.
    fn unite(&mut self, a: usize, b: usize) -> bool {
        let (from, to) = (self.0[b], self.0[a]);
        if from != to {
            self.0.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
        }
        from != to
    }

    /// The groups, each ascending, in the order of their first invocations.
    pub(crate) fn members(&self) -> Vec<Vec<usize>> {
        let mut numbers: FxHashMap<usize, usize> = FxHashMap::default();
        let mut members: Vec<Vec<usize>> = Vec::new();
        for (invocation, group) in self.0.iter().enumerate() {
            let next = members.len();
            let number = *numbers.entry(*group).or_insert(next);
            if number == next {
                members.push(Vec::new());
            }
            members[number].push(invocation);
        }
        members
    }

    /// Unites groups that communicate. It returns whether there are any.
    fn learn(&mut self, context: &Context, found: &Found) -> bool {
        let mut united = false;
        let mut touched: FxHashMap<UnitKey, Contact> = FxHashMap::default();
        for (word, contact) in found.factors.iter().flat_map(|factor| &factor.touched.0) {
            let known = touched.entry(*word).or_insert(*contact);
            *known = (*contact).max(*known);
        }
        let mut meets: FxHashMap<UnitKey, usize> = FxHashMap::default();
        for factor in &found.factors {
            let Some(&own) = factor.members.first() else { continue };
            let written = |word: &&UnitKey| touched.get(*word) == Some(&Contact::Written);
            for word in factor.touched.0.keys().filter(written) {
                united |= self.unite(*meets.entry(*word).or_insert(own), own);
            }
        }
        for factor in &found.factors {
            for other in found.factors.iter().filter(|other| other.waits && other.members != factor.members) {
                let joins = |word: &UnitKey| {
                    other
                        .members
                        .iter()
                        .any(|other| context.writers.may_write(context.dispatch, *other, *word))
                };
                if factor.closed.iter().any(joins) {
                    united |= self.unite(factor.members[0], other.members[0]);
                }
            }
        }
        united
    }

    /// Whether all invocations are in one group.
    fn are_one(&self) -> bool {
        self.0.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// Learns which groups communicate. It returns whether there are any.
pub(crate) fn learn(groups: &mut Option<Groups>, context: &Context, found: &Found) -> bool {
    let Some(partition) = groups.as_mut().filter(|_| !found.factors.is_empty()) else { return false };
    let united = partition.learn(context, found);
    if partition.are_one() {
        *groups = None;
    }
    united
}

/// Unites the groups of invocations that access the same word, if there are groups.
pub(crate) fn unite_communicating(groups: &mut Option<Groups>, meets: &BTreeSet<(UnitKey, u32)>) {
    let Some(partition) = groups else { return };
    partition.unite_communicating(meets);
    if partition.are_one() {
        *groups = None;
    }
}

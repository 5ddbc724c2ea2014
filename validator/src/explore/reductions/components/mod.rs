//! Groups of invocations between which nothing passes. Each is explored apart, as if the others did nothing: the
//! executions of the whole are all combinations of theirs.
//!
//! Which groups there are is learned like everything else. The first partition is read off the path of the last
//! scout: who accesses an event of a word with others, or may stand at one barrier or subgroup operation with
//! them, is of one group. Then each group's search notes every word that it touches. Where another group
//! touches it, too, and one of them writes, they are one, and there is another round. That finds all: take an
//! execution of the whole, and in the search's order its first access by which a group meets another one. Up to
//! there all that its invocations read is their own, so that the search of their group alone comes to it.
//!
//! What a group decides alone that the search of the whole might decide otherwise is noted, too: that
//! a cycle of load buffering is closed, where others may join it by writes that nobody has seen.

pub(crate) mod factors;
pub(crate) mod product;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::behaviour::Bound;
use crate::explore::context;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::facts::touched::Contact;
use crate::explore::outcomes::found;
use crate::explore::program::units::UnitKey;
use crate::explore::search::{self, round};
use crate::explore::state::{Context, Found};
use crate::explore::step::contact;

/// Which invocations a partition puts together: equal numbers, same group.
#[derive(Clone, Debug)]
pub(crate) struct Groups(Vec<usize>);

impl Groups {
    /// The partition that a scout's path suggests; `None` where nothing is to be gained, or parts of the program
    /// may depend on each other by more than memory.
    pub(crate) fn of_scout(context: &Context, found: &Found) -> Option<Groups> {
        let settings = context.settings;
        let applies = settings.groups && settings.shortcuts && settings.axioms && settings.remark.is_none();
        if !applies || context.may_discard {
            return None;
        }
        let waits = contact::waits_within_workgroups(context.program)?;
        let places = &context.dispatch.places;
        let mut groups = Groups((0..places.len()).collect());
        if waits {
            for together in context.workgroups.iter().chain(&context.subgroups) {
                groups.unite_all(together);
            }
        }
        groups.unite_meeting(&found.discoveries.meets);
        // Whoever meets nobody has nothing to choose, and need not be alone.
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

    /// Puts those together who access one word.
    fn unite_meeting(&mut self, meets: &BTreeSet<(UnitKey, u32)>) {
        let mut first: FxHashMap<UnitKey, usize> = FxHashMap::default();
        for (word, invocation) in meets {
            let first = *first.entry(*word).or_insert(*invocation as usize);
            self.unite(first, *invocation as usize);
        }
    }

    fn unite_all(&mut self, invocations: &[usize]) {
        invocations.iter().skip(1).for_each(|other| _ = self.unite(invocations[0], *other));
    }

    /// Puts two invocations together. False where they were already.
    fn unite(&mut self, a: usize, b: usize) -> bool {
        let (from, to) = (self.0[b], self.0[a]);
        if from != to {
            self.0.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
        }
        from != to
    }

    /// The groups, each ascending, in the order of their first invocations.
    fn members(&self) -> Vec<Vec<usize>> {
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

    /// Explores each group apart.
    pub(crate) fn run(&self, context: &Context, knowledge: &Knowledge) -> Found {
        let groups = self.members();
        let share = 1.0 / groups.len() as f64;
        let mut whole = Found::default();
        // An execution of the whole has as many instructions as one of each group.
        let mut spent = 0_u64;
        let mut counts = true;
        context.budget.take_longest();
        for members in groups {
            let round = round::of_group(context, knowledge, &members);
            let mut found = search::run_from(&round, context::shared_first(context).only(&members), share);
            let factor = product::taken_from(&mut found, members);
            // What else there is to learn does not depend on it.
            let ends = !found.undefined.is_empty() && found.stop || context.budget.stopped().is_some();
            spent = spent.saturating_add(context.budget.take_longest());
            // Threads may have gone on behind the end.
            counts &= !found.stop;
            found::merge(&mut whole, found);
            whole.factors.push(factor);
            if ends {
                break;
            }
        }
        if counts && spent > context.settings.max_instructions {
            whole.bounded.get_or_insert(Bound::MaxInstructions);
        }
        whole
    }

    /// Unites the groups that meet. Returns whether there are any.
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

    /// Whether all are one group.
    fn are_one(&self) -> bool {
        self.0.windows(2).all(|pair| pair[0] == pair[1])
    }
}

/// Takes over which groups meet. Returns whether there are any.
pub(crate) fn learn(groups: &mut Option<Groups>, context: &Context, found: &Found) -> bool {
    let Some(partition) = groups.as_mut().filter(|_| !found.factors.is_empty()) else { return false };
    let united = partition.learn(context, found);
    if partition.are_one() {
        *groups = None;
    }
    united
}

/// Unites the groups of those who access one word.
pub(crate) fn unite_meeting(groups: &mut Option<Groups>, meets: &BTreeSet<(UnitKey, u32)>) {
    let Some(partition) = groups else { return };
    partition.unite_meeting(meets);
    if partition.are_one() {
        *groups = None;
    }
}

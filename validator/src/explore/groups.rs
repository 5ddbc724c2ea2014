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

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::context::Context;
use super::found::Found;
use super::knowledge::{Knowledge, UnitKey};
use super::memory::words_of;
use super::product::Factor;
use super::search::Search;
use crate::behaviour::Bound;
use crate::event::{Access, Scope};
use crate::interp::Stop;
use crate::ir::{BarrierOp, Effect, Program};

/// Which invocations a partition puts together: equal numbers, same group.
#[derive(Clone, Debug)]
pub(super) struct Groups(Vec<usize>);

/// The words that a group touched.
#[derive(Clone, Debug, Default)]
pub(super) struct Touched(FxHashMap<UnitKey, Contact>);

/// How a word was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Contact {
    Read,
    Written,
}

impl Touched {
    pub(super) fn note(&mut self, memory: u32, access: &Access, contact: Contact) {
        words_of(access).for_each(|word| self.note_word((memory, word), contact));
    }

    pub(super) fn note_word(&mut self, word: UnitKey, contact: Contact) {
        let known = self.0.entry(word).or_insert(contact);
        *known = contact.max(*known);
    }

    pub(super) fn merge(&mut self, other: Touched) {
        if self.0.is_empty() {
            self.0 = other.0;
            return;
        }
        other.0.into_iter().for_each(|(word, contact)| self.note_word(word, contact));
    }

    /// The words that were written, ascending.
    pub(super) fn written(&self) -> BTreeSet<UnitKey> {
        self.0.iter().filter(|(_, contact)| **contact == Contact::Written).map(|(word, _)| *word).collect()
    }
}

impl Groups {
    /// The partition that a scout's path suggests; `None` where nothing is to be gained, or parts of the program
    /// may depend on each other by more than memory.
    pub(super) fn of_scout(context: &Context, found: &Found) -> Option<Groups> {
        let settings = context.settings;
        let applies = settings.groups && settings.shortcuts && settings.axioms && settings.remark.is_none();
        if !applies || context.may_discard {
            return None;
        }
        let waits = waits_within_workgroups(context.program)?;
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
    pub(super) fn run(&self, context: &Context, knowledge: &Knowledge) -> Found {
        let groups = self.members();
        let share = 1.0 / groups.len() as f64;
        let mut whole = Found::default();
        // An execution of the whole has as many instructions as one of each group.
        let mut spent = 0_u64;
        let mut counts = true;
        context.budget.take_longest();
        for members in groups {
            let search = Search::of_group(context, knowledge, &members);
            let mut found = search.run_from(context.shared_first().only(&members), share);
            let factor = Factor::taken_from(&mut found, members);
            // What else there is to learn does not depend on it.
            let ends = !found.undefined.is_empty() && found.stop || context.budget.stopped().is_some();
            spent = spent.saturating_add(context.budget.take_longest());
            // Threads may have gone on behind the end.
            counts &= !found.stop;
            whole.merge(found);
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
pub(super) fn learn(groups: &mut Option<Groups>, context: &Context, found: &Found) -> bool {
    let Some(partition) = groups.as_mut().filter(|_| !found.factors.is_empty()) else { return false };
    let united = partition.learn(context, found);
    if partition.are_one() {
        *groups = None;
    }
    united
}

/// Unites the groups of those who access one word.
pub(super) fn unite_meeting(groups: &mut Option<Groups>, meets: &BTreeSet<(UnitKey, u32)>) {
    let Some(partition) = groups else { return };
    partition.unite_meeting(meets);
    if partition.are_one() {
        *groups = None;
    }
}

impl Search<'_> {
    /// Notes where an invocation stops for an event.
    pub(super) fn note_contact(&self, invocation: usize, stop: &Stop, found: &mut Found) {
        let (access, contact) = match stop {
            Stop::Read(access) => (access, Contact::Read),
            Stop::AtomicRead { access, may_write: false, .. } => (access, Contact::Read),
            Stop::AtomicRead { access, may_write: true, .. } => (access, Contact::Written),
            Stop::Write(access, _) | Stop::AtomicWrite { access, .. } => (access, Contact::Written),
            Stop::Fence(_)
            | Stop::Device(..)
            | Stop::Barrier { .. }
            | Stop::Subgroup { .. }
            | Stop::Choose { .. }
            | Stop::LoopEntry { .. }
            | Stop::Iteration { .. }
            | Stop::Finished
            | Stop::Discarded
            | Stop::Fault(_)
            | Stop::OutOfFuel
            | Stop::Unsupported { .. }
            | Stop::Forever { .. } => return,
        };
        let Some(object) = self.context.dispatch.objects.get(access.object as usize) else { return };
        if self.in_group {
            found.discoveries.touched.note(object.memory, access, contact);
        } else {
            let words = words_of(access).map(|word| ((object.memory, word), invocation as u32));
            found.discoveries.meets.extend(words);
        }
    }
}

/// Whether invocations wait for each other, or are compared, otherwise than for what they read; `None` where not only those of a workgroup or
/// subgroup may.
fn waits_within_workgroups(program: &Program) -> Option<bool> {
    let mut waits = false;
    for inst in program.functions.iter().flat_map(|function| &function.code) {
        match inst.op.effect() {
            Effect::Barrier(BarrierOp::Control { execution, .. }) if *execution <= Scope::Workgroup => {
                waits = true
            }
            Effect::Barrier(BarrierOp::Control { .. } | BarrierOp::Numbered(_) | BarrierOp::Device(_)) => {
                return None
            }
            Effect::Subgroup(_) | Effect::Cooperative(_) => waits = true,
            Effect::Barrier(BarrierOp::Memory { .. })
            | Effect::Control(_)
            | Effect::Memory(_)
            | Effect::Atomic(_)
            | Effect::Image(_)
            | Effect::None => {}
        }
    }
    Some(waits || program.modes.tangles || program.modes.descriptors)
}

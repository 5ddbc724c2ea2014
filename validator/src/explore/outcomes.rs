//! The outcomes that a search found, each with a witness.

use std::hash::BuildHasher;

use indexmap::map::raw_entry_v1::{RawEntryApiV1, RawEntryMut};
use indexmap::IndexMap;
use rayon::prelude::*;
use rustc_hash::FxBuildHasher;

use crate::behaviour::Outcome;
use crate::witness::Witness;

type Map = IndexMap<Outcome, Witness, FxBuildHasher>;

/// Outcomes with the first of their witnesses, in search order, which is that of the parts. Several parts may have
/// an outcome in common.
#[derive(Default)]
pub(super) struct Outcomes {
    earlier: Vec<Map>,
    latest: Map,
}

impl From<Map> for Outcomes {
    fn from(outcomes: Map) -> Self {
        Outcomes { earlier: Vec::new(), latest: outcomes }
    }
}

impl Outcomes {
    pub(super) fn is_empty(&self) -> bool {
        self.earlier.is_empty() && self.latest.is_empty()
    }

    /// Notes so many executions with an outcome. If it seems to be a new one: its witness, which is asked for then.
    pub(super) fn note(
        &mut self,
        outcome: &Outcome,
        executions: u64,
        witness: impl FnOnce() -> Witness,
    ) -> Option<&Witness> {
        let hash = self.latest.hasher().hash_one(outcome);
        match self.latest.raw_entry_mut_v1().from_key_hashed_nocheck(hash, outcome) {
            RawEntryMut::Occupied(mut known) => {
                let known = &mut known.get_mut().executions;
                *known = known.saturating_add(executions);
                None
            }
            RawEntryMut::Vacant(slot) => {
                let witness = Witness { executions, ..witness() };
                let (_, witness) = slot.insert_hashed_nocheck(hash, outcome.clone(), witness);
                Some(witness)
            }
        }
    }

    /// Adds what was found later.
    pub(super) fn append(&mut self, later: Outcomes) {
        if later.is_empty() {
            return;
        }
        if !self.latest.is_empty() {
            self.earlier.push(std::mem::take(&mut self.latest));
        }
        self.earlier.extend(later.earlier);
        self.latest = later.latest;
    }

    /// All of them, each once, in order; on several threads, if there are so many `parallel` is worth it.
    pub(super) fn into_sorted(self, parallel: bool) -> Vec<(Outcome, Witness)> {
        let all: Vec<(Outcome, Witness)> = self.earlier.into_iter().chain([self.latest]).flatten().collect();
        // They are large: numbers are moved instead. Those that are equal stay in search order.
        let mut order: Vec<usize> = (0..all.len()).collect();
        let compare = |a: &usize, b: &usize| (&all[*a].0, *a).cmp(&(&all[*b].0, *b));
        match parallel {
            true => order.par_sort_unstable_by(compare),
            false => order.sort_unstable_by(compare),
        }
        let mut all: Vec<Option<(Outcome, Witness)>> = all.into_iter().map(Some).collect();
        let mut sorted: Vec<(Outcome, Witness)> = Vec::with_capacity(all.len());
        for (outcome, witness) in order.into_iter().filter_map(|index| all[index].take()) {
            match sorted.last_mut().filter(|(last, _)| *last == outcome) {
                Some((_, first)) => first.executions = first.executions.saturating_add(witness.executions),
                None => sorted.push((outcome, witness)),
            }
        }
        sorted
    }
}

//! The outcomes in factored form that a search found: slots and contents instead of a list (`behaviour/permuted.rs`).

use indexmap::map::Entry;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::behaviour::{Count, Normal, Permuted};

/// Factored forms. Of equal ones, the first in search order is kept.
#[derive(Default)]
pub(crate) struct Factored(pub(crate) IndexMap<Normal, Permuted, FxBuildHasher>);

impl Factored {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps a factored form. It returns whether the form is a new one.
    pub(crate) fn add(&mut self, permuted: Permuted) -> bool {
        match self.0.entry(permuted.normal()) {
            Entry::Occupied(mut known) => {
                known.get_mut().merge(&permuted);
                false
            }
            Entry::Vacant(slot) => {
                slot.insert(permuted);
                true
            }
        }
    }

    pub(crate) fn merge(&mut self, other: Factored) {
        other.0.into_values().for_each(|permuted| _ = self.add(permuted));
    }

    /// The number of outcomes. An outcome of several forms is counted several times.
    pub(crate) fn count(&self) -> Count {
        self.0.values().fold(Count::default(), |count, one| count + &one.count())
    }
}

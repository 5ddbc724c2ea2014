//! The words that invocations touch, and whether they write them. Components and orbits use this.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::event::Access;
use crate::explore::program::units::{self, UnitKey};

/// The words that a group of invocations touched.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched(pub(crate) FxHashMap<UnitKey, Contact>);

/// How a word was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Contact {
    Read,
    Written,
}

impl Touched {
    pub(crate) fn note(&mut self, memory: u32, access: &Access, contact: Contact) {
        units::words_of(access).for_each(|word| self.note_word((memory, word), contact));
    }

    pub(crate) fn note_word(&mut self, word: UnitKey, contact: Contact) {
        let known = self.0.entry(word).or_insert(contact);
        *known = contact.max(*known);
    }

    pub(crate) fn merge(&mut self, other: Touched) {
        if self.0.is_empty() {
            self.0 = other.0;
            return;
        }
        other.0.into_iter().for_each(|(word, contact)| self.note_word(word, contact));
    }

    /// The words that were written, ascending.
    pub(crate) fn written(&self) -> BTreeSet<UnitKey> {
        self.0.iter().filter(|(_, contact)| **contact == Contact::Written).map(|(word, _)| *word).collect()
    }
}

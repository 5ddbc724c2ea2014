//! The states that a search has reached, identified by their futures, and the steps between them.

use std::hash::Hasher;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::interp::{Invocation, Pauses};
use crate::ir::InstId;

/// The number of bytes that a state's number and a step take up.
pub(crate) const STORED: u64 = 96;

/// What is known about a program to compare its states.
pub(crate) struct Comparison<'a> {
    pub(crate) pauses: &'a Pauses<'a>,
    /// For each unit, the plain accesses that may race there.
    pub(crate) racing: Vec<Vec<InstId>>,
    /// For each unit, the accesses that may read it and do not write it.
    pub(crate) looking: Vec<Vec<InstId>>,
    /// Whether invocations wait for each other at barriers.
    pub(crate) meets: bool,
}

/// For each invocation, the accesses that it has declined: it did not read from them but waited for others. Each access
/// that counts has one bit, and the first bit is for the initial value.
pub(crate) type Declined = SmallVec<[u64; 8]>;

/// The number of accesses that count, up to which states are compared.
pub(crate) const MAX_ACCESSES: usize = 63;

/// The states that a search has reached, as numbers.
#[derive(Default)]
pub(crate) struct Futures {
    pub(crate) known: IndexMap<u128, Known, FxBuildHasher>,
}

impl Comparison<'_> {
    /// Feeds a hasher with what the future of an invocation depends on. It returns false if the future depends on more
    /// than can be hashed.
    pub(crate) fn hash_invocation(&self, invocation: &Invocation, hasher: &mut impl Hasher) -> bool {
        invocation.hash_future(self.pauses, self.meets, hasher)
    }
}

/// What is known about states with one future.
#[derive(Default)]
pub(crate) struct Known {
    /// The accesses that were declined each time such a state was explored.
    declined: SmallVec<[Declined; 1]>,
    /// The numbers of the states to which steps lead.
    steps: SmallVec<[u128; 2]>,
}

impl Known {
    /// Whether such a state was explored when no other accesses than these were declined.
    fn covers(&self, declined: &Declined) -> bool {
        let is_within = |known: &Declined| known.iter().zip(declined).all(|(known, now)| known & !now == 0);
        self.declined.iter().any(is_within)
    }

    pub(crate) fn add(&mut self, declined: Declined) {
        if !self.covers(&declined) {
            self.declined.push(declined);
        }
    }
}

impl Futures {
    pub(crate) fn covers(&self, future: u128, declined: &Declined) -> bool {
        self.known.get(&future).is_some_and(|known| known.covers(declined))
    }

    /// Adds a step.
    pub(crate) fn step(&mut self, from: u128, to: u128) {
        let steps = &mut self.known.entry(from).or_default().steps;
        if !steps.contains(&to) {
            steps.push(to);
        }
    }

    pub(crate) fn merge(&mut self, other: Futures) {
        for (future, new) in other.known {
            let known = self.known.entry(future).or_default();
            new.declined.into_iter().for_each(|declined| known.add(declined));
            for to in new.steps {
                if !known.steps.contains(&to) {
                    known.steps.push(to);
                }
            }
        }
    }

    /// Whether the steps form a cycle.
    pub(crate) fn have_cycle(&self) -> bool {
        let mut incoming: Vec<u32> = vec![0; self.known.len()];
        let index = |number: &u128| self.known.get_index_of(number);
        for to in self.known.values().flat_map(|known| &known.steps).filter_map(index) {
            incoming[to] += 1;
        }
        let mut rest: Vec<usize> = (0..incoming.len()).filter(|node| incoming[*node] == 0).collect();
        let mut done = 0;
        while let Some(node) = rest.pop() {
            done += 1;
            for to in self.known[node].steps.iter().filter_map(index) {
                incoming[to] -= 1;
                if incoming[to] == 0 {
                    rest.push(to);
                }
            }
        }
        done < incoming.len()
    }
}

/// The states that are known to one branch of a batch.
pub(crate) struct Trail<'t> {
    pub(crate) before: &'t Futures,
    pub(crate) own: Futures,
}

#[cfg(test)]
mod tests {
    use smallvec::smallvec;

    use super::{Declined, Futures};

    #[test]
    fn steps_that_lead_back_go_round() {
        let mut futures = Futures::default();
        for (from, to) in [(1, 2), (2, 3), (1, 3), (3, 4)] {
            futures.step(from, to);
        }
        assert!(!futures.have_cycle());
        // The steps of two branches of a batch may form a cycle that none of them has alone.
        let mut other = Futures::default();
        other.step(4, 2);
        assert!(!other.have_cycle());
        futures.merge(other);
        assert!(futures.have_cycle());
    }

    #[test]
    fn a_state_is_known_where_no_more_was_declined() {
        let mut futures = Futures::default();
        let declined: Declined = smallvec![0b011, 0];
        futures.known.entry(7).or_default().add(declined);
        assert!(futures.covers(7, &smallvec![0b011, 0]) && futures.covers(7, &smallvec![0b111, 1]));
        assert!(!futures.covers(7, &smallvec![0b001, 0]) && !futures.covers(7, &smallvec![0b100, 1]));
        assert!(!futures.covers(8, &smallvec![0b011, 0]));
    }
}

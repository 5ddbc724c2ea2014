//! The states that a search came to, by their future, and the steps between them.

use std::hash::Hasher;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;

use crate::interp::{Invocation, Pauses};
use crate::ir::InstId;

/// Bytes that a number and a step take up.
pub(crate) const STORED: u64 = 96;

/// What is known of a program for comparisons of its states.
pub(crate) struct Comparison<'a> {
    pub(crate) pauses: &'a Pauses<'a>,
    /// Per unit, the plain accesses that may race there.
    pub(crate) racing: Vec<Vec<InstId>>,
    /// Per unit, the accesses that may read it and do not write it.
    pub(crate) looking: Vec<Vec<InstId>>,
    /// Invocations meet at barriers.
    pub(crate) meets: bool,
}

/// Per invocation, the accesses that count, by number, which it has declined: it waited for others. A bit each, the first
/// for the initial value.
pub(crate) type Declined = SmallVec<[u64; 8]>;

/// Accesses that count, up to which states are compared.
pub(crate) const MAX_ACCESSES: usize = 63;

/// The states that a search has come to, as numbers.
#[derive(Default)]
pub(crate) struct Futures {
    pub(crate) known: IndexMap<u128, Known, FxBuildHasher>,
}

impl Comparison<'_> {
    /// Feeds a hasher what the future of an invocation depends on. False where there is more to it.
    pub(crate) fn hash_invocation(&self, invocation: &Invocation, hasher: &mut impl Hasher) -> bool {
        invocation.hash_future(self.pauses, self.meets, hasher)
    }
}

/// What is known of states with one future.
#[derive(Default)]
pub(crate) struct Known {
    /// What was declined when they were explored.
    declined: SmallVec<[Declined; 1]>,
    /// The numbers that steps lead to.
    steps: SmallVec<[u128; 2]>,
}

impl Known {
    /// Whether this was explored where nothing was declined but this.
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

    /// Whether some steps lead back to where they begin.
    pub(crate) fn go_round(&self) -> bool {
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

/// What is known to one branch of a batch.
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
        assert!(!futures.go_round());
        // What two branches of a batch came to may close a cycle that none of them has.
        let mut other = Futures::default();
        other.step(4, 2);
        assert!(!other.go_round());
        futures.merge(other);
        assert!(futures.go_round());
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

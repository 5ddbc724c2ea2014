//! The outcomes that a search found, each with a witness.

use rayon::prelude::*;
use std::hash::BuildHasher;
use std::sync::{Mutex, PoisonError};

use indexmap::map::raw_entry_v1::{RawEntryApiV1, RawEntryMut};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::behaviour::{Count, Outcome};
use crate::value::Byte;
use crate::witness::Witness;

pub(crate) type Map = IndexMap<Outcome, Witness, FxBuildHasher>;

/// Outcomes, each with the first of its witnesses in search order. The parts are in search order. Several parts may
/// contain the same outcome.
#[derive(Default)]
pub(crate) struct Outcomes {
    pub(crate) earlier: Vec<Map>,
    pub(crate) latest: Map,
}

impl From<Map> for Outcomes {
    fn from(outcomes: Map) -> Self {
        Outcomes { earlier: Vec::new(), latest: outcomes }
    }
}

impl Outcomes {
    fn is_empty(&self) -> bool {
        self.earlier.is_empty() && self.latest.is_empty()
    }

    /// The number of outcomes. An outcome of several parts is counted several times.
    pub(crate) fn count(&self) -> Count {
        let earlier: usize = self.earlier.iter().map(Map::len).sum();
        (earlier + self.latest.len()).into()
    }

    /// Notes executions with an outcome. If the outcome seems to be new, `witness` is called to make its witness.
    pub(crate) fn note(
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

    /// Adds what was found later in search order.
    pub(crate) fn append(&mut self, later: Outcomes) {
        if later.is_empty() {
            return;
        }
        if !self.latest.is_empty() {
            self.earlier.push(std::mem::take(&mut self.latest));
        }
        self.earlier.extend(later.earlier);
        self.latest = later.latest;
    }

    /// All outcomes, each once and sorted. They are sorted on several threads if `parallel` is set.
    pub(crate) fn into_sorted(self, parallel: bool) -> Vec<(Outcome, Witness)> {
        let Outcomes { earlier: mut parts, latest } = self;
        if parts.is_empty() && latest.len() < FEW {
            let mut all: Vec<(Outcome, Witness)> = latest.into_iter().collect();
            all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            return all;
        }
        parts.push(latest);
        let order = in_order(&parts, parallel);
        // The outcomes are large, so each is moved only once, to its final place.
        let cells = |part: Map| part.into_iter().map(|entry| Mutex::new(Some(entry))).collect::<Vec<_>>();
        let parts = each(parts, parallel, cells);
        let take = |Entry { part, index, executions, .. }: Entry| {
            let mut cell =
                parts[part as usize][index as usize].lock().unwrap_or_else(PoisonError::into_inner);
            let (outcome, witness) = cell.take()?;
            Some((outcome, Witness { executions, ..witness }))
        };
        // Collecting into an `Option` reuses the memory, in contrast to `flatten`. There is an outcome for every entry.
        let all: Option<Vec<(Outcome, Witness)>> = each(order, parallel, take).into_iter().collect();
        all.unwrap_or_default()
    }
}

/// The number of outcomes up to which they are sorted directly.
const FEW: usize = 256;

/// The place of an outcome in the parts.
#[derive(Clone, Copy)]
struct Entry {
    /// The bytes that distinguish outcomes first, as a number. Outcomes are in the order of these numbers, as far as
    /// they differ.
    key: u128,
    part: u32,
    index: u32,
    /// The number of its executions in all parts.
    executions: u64,
}

/// Applies `work` to each item.
fn each<T: Send, R: Send>(items: Vec<T>, parallel: bool, work: impl Fn(T) -> R + Send + Sync) -> Vec<R> {
    match parallel {
        true => items.into_par_iter().map(work).collect(),
        false => items.into_iter().map(work).collect(),
    }
}

/// The outcomes of all parts, each once and sorted.
fn in_order(parts: &[Map], parallel: bool) -> Vec<Entry> {
    let telling = telling_bytes(parts, parallel);
    let entries = |(part, outcomes): (u32, &Map)| {
        let entry = |(index, (outcome, witness)): (u32, (&Outcome, &Witness))| {
            let key = key(outcome, &telling);
            Entry { key, part, index, executions: witness.executions }
        };
        (0..).zip(outcomes).map(entry).collect::<Vec<Entry>>()
    };
    let mut order = each((0..).zip(parts).collect(), parallel, entries).concat();
    let outcome = |entry: &Entry| parts[entry.part as usize].get_index(entry.index as usize);
    let outcome = |entry: &Entry| outcome(entry).map(|(outcome, _)| outcome);
    // Equal outcomes stay in search order.
    let compare = |a: &Entry, b: &Entry| {
        let numbers = a.key.cmp(&b.key);
        numbers.then_with(|| (outcome(a), a.part, a.index).cmp(&(outcome(b), b.part, b.index)))
    };
    match parallel {
        true => order.par_sort_unstable_by(compare),
        false => order.sort_unstable_by(compare),
    }
    order.dedup_by(|later, first| {
        let same = later.key == first.key && outcome(later) == outcome(first);
        if same {
            first.executions = first.executions.saturating_add(later.executions);
        }
        same
    });
    order
}

/// The number of bytes of memory in a key, and the bits for each: one more than eight, for undefined bytes.
const DIGITS: usize = 14;

const BITS: u32 = 9;

/// The first bytes of memory in which some outcomes differ, by object and index. There are none if outcomes differ in
/// something that is compared before memory.
fn telling_bytes(parts: &[Map], parallel: bool) -> Vec<(usize, usize)> {
    let Some((first, _)) = parts.iter().find_map(|part| part.first()) else { return Vec::new() };
    let differences = |part: &Map| {
        let mut differ: Vec<Vec<bool>> = first.memory.iter().map(|bytes| vec![false; bytes.len()]).collect();
        for outcome in part.keys() {
            if outcome.end != first.end || outcome.memory.len() != first.memory.len() {
                return None;
            }
            for ((differ, bytes), known) in differ.iter_mut().zip(&outcome.memory).zip(&first.memory) {
                if bytes.len() != known.len() {
                    return None;
                }
                let pairs = bytes.iter().zip(known);
                differ.iter_mut().zip(pairs).for_each(|(differ, (byte, known))| *differ |= byte != known);
            }
        }
        Some(differ)
    };
    let Some(parts) =
        each(parts.iter().collect(), parallel, differences).into_iter().collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    let places = first
        .memory
        .iter()
        .enumerate()
        .flat_map(|(object, bytes)| (0..bytes.len()).map(move |at| (object, at)));
    places.filter(|(object, at)| parts.iter().any(|differ| differ[*object][*at])).take(DIGITS).collect()
}

/// These bytes of an outcome as a number.
fn key(outcome: &Outcome, bytes: &[(usize, usize)]) -> u128 {
    bytes.iter().fold(0, |key, (object, at)| {
        let digit = match outcome.memory[*object][*at] {
            Byte::Known(value) => u128::from(value),
            Byte::Undef => 1 << (BITS - 1),
        };
        key << BITS | digit
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Map, Outcomes, DIGITS, FEW};
    use crate::behaviour::{End, Outcome};
    use crate::value::Byte;
    use crate::witness::Witness;

    /// Some of the outcomes that have so many bytes of memory in `objects` objects.
    fn part(seed: &mut u64, count: usize, lengths: &[usize], hangs: bool) -> Map {
        let mut random = |below: u64| {
            *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) % below
        };
        let outcome = |_| {
            let hang = hangs && random(8) == 0;
            let mut byte = || match random(40) {
                0 => Byte::Undef,
                value => Byte::Known((value / 37) as u8),
            };
            let memory = lengths.iter().map(|length| (0..*length).map(|_| byte()).collect()).collect();
            let outcome = Outcome { end: End::Terminated, memory, volatile: Vec::new(), remarks: Vec::new() };
            let outcome = if hang { Outcome::hang(Vec::new()) } else { outcome };
            (outcome, Witness { executions: 1 + random(3), ..Witness::default() })
        };
        (0..count).map(outcome).collect()
    }

    #[test]
    fn outcomes_of_all_parts_are_in_order() {
        let mut seed = 1;
        let mut repeated = 0;
        for (lengths, hangs) in [
            (&[4, 4][..], false),
            (&[3, 2 * DIGITS], false),
            (&[2 * DIGITS, 5], true),
            (&[], false),
            (&[1], true),
        ] {
            for parts in [1, 2, 5] {
                let parts: Vec<Map> = (0..parts).map(|_| part(&mut seed, 2 * FEW, lengths, hangs)).collect();
                let mut expected: BTreeMap<Outcome, u64> = BTreeMap::new();
                for (outcome, witness) in parts.iter().flatten() {
                    *expected.entry(outcome.clone()).or_default() += witness.executions;
                }
                repeated += parts.iter().map(Map::len).sum::<usize>() - expected.len();
                for parallel in [false, true] {
                    let mut outcomes = Outcomes::default();
                    parts.iter().for_each(|part| outcomes.append(part.clone().into()));
                    let sorted = outcomes.into_sorted(parallel).into_iter();
                    let sorted: Vec<_> =
                        sorted.map(|(outcome, witness)| (outcome, witness.executions)).collect();
                    assert_eq!(sorted, expected.clone().into_iter().collect::<Vec<_>>());
                }
            }
        }
        assert!(repeated > 300, "{repeated}");
    }

    #[test]
    fn the_first_witness_of_an_outcome_stays() {
        let part = |variant: u32| -> Map {
            let outcome = Outcome::hang(Vec::new());
            let units = vec![(variant, 0)].into();
            [(outcome, Witness { executions: 1, units, ..Witness::default() })].into_iter().collect()
        };
        for parallel in [false, true] {
            let mut outcomes = Outcomes::default();
            (1..=9).for_each(|variant| outcomes.append(part(variant).into()));
            let sorted = outcomes.into_sorted(parallel);
            let [(_, witness)] = &sorted[..] else { panic!("{sorted:?}") };
            assert_eq!((witness.executions, witness.units[0].0), (9, 1));
        }
    }
}

//! Sets of events and binary relations over them, as bits in flat memory.
//!
//! Events are numbers below a length that is given when a set or relation is made. A number that is not below it panics.

use smallvec::{smallvec, SmallVec};

use super::closure;

/// A set of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventSet {
    words: SmallVec<[u64; 4]>,
}

impl EventSet {
    /// The empty set over events `0..len`.
    #[inline]
    pub fn new(len: usize) -> Self {
        EventSet { words: smallvec![0; len.div_ceil(64)] }
    }

    /// The events for which `member` holds.
    #[inline]
    pub fn with(len: usize, member: impl Fn(usize) -> bool) -> Self {
        let mut set = EventSet::new(len);
        (0..len).filter(|event| member(*event)).for_each(|event| set.insert(event));
        set
    }

    /// Adds an event, which must be one of those that the set is over.
    #[inline]
    pub fn insert(&mut self, event: usize) {
        self.words[event / 64] |= 1 << (event % 64);
    }

    /// Takes an event away.
    #[inline]
    pub(super) fn remove(&mut self, event: usize) {
        self.words[event / 64] &= !(1 << (event % 64));
    }

    /// The events, as words of bits.
    #[inline]
    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether an event is in the set.
    #[inline]
    pub fn contains(&self, event: usize) -> bool {
        self.words[event / 64] >> (event % 64) & 1 == 1
    }

    /// Adds the events that are in both of these.
    #[inline]
    pub fn unite_both(&mut self, a: &[u64], b: &[u64]) {
        for ((word, a), b) in self.words.iter_mut().zip(a).zip(b) {
            *word |= a & b;
        }
    }

    /// Adds the events of another set.
    #[inline]
    pub fn unite(&mut self, other: &EventSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word |= other);
    }

    /// Keeps the events that are in another set, too.
    #[inline]
    pub fn retain_common(&mut self, other: &EventSet) {
        self.words.iter_mut().zip(&other.words).for_each(|(word, other)| *word &= other);
    }

    /// Whether the sets have an event in common.
    #[inline]
    pub fn intersects(&self, other: &EventSet) -> bool {
        self.words.iter().zip(&other.words).any(|(a, b)| a & b != 0)
    }

    /// The events of all three, ascending.
    #[inline]
    pub fn common<'a>(&'a self, row: &'a [u64], other: &'a [u64]) -> impl Iterator<Item = usize> + 'a {
        let words = self.words.iter().zip(row).zip(other).map(|((a, b), c)| a & b & c);
        words.enumerate().flat_map(|(index, word)| bits(index, word))
    }
}

/// Whether a set, as words of bits, has an event.
#[inline]
pub(super) fn has(words: &[u64], event: usize) -> bool {
    words[event / 64] >> (event % 64) & 1 == 1
}

/// The events of one word of a set.
#[inline]
pub(super) fn bits(index: usize, word: u64) -> impl Iterator<Item = usize> {
    let mut rest = word;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let bit = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(index * 64 + bit)
    })
}

/// A relation over events `0..len`: row `a` holds the set of `b` with `(a, b)` in the relation.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Relation {
    len: usize,
    words: usize,
    /// Row by row; relations over few events need no memory of their own.
    bits: SmallVec<[u64; 12]>,
}

impl Clone for Relation {
    #[inline]
    fn clone(&self) -> Self {
        // Of numbers, a copy of memory.
        Relation { len: self.len, words: self.words, bits: SmallVec::from_slice(&self.bits) }
    }
}

impl Relation {
    /// The empty relation over `len` events.
    #[inline]
    pub fn new(len: usize) -> Self {
        let words = len.div_ceil(64);
        Relation { len, words, bits: SmallVec::from_elem(0, len * words) }
    }

    /// Empties the relation and makes it one over `len` events, keeping its memory.
    #[inline]
    pub fn reset(&mut self, len: usize) {
        self.len = len;
        self.words = len.div_ceil(64);
        self.bits.clear();
        self.fill(len * self.words);
    }

    /// Makes it a relation over more events, of which the new ones are related to nothing.
    pub fn grow(&mut self, len: usize) {
        let words = len.div_ceil(64).max(self.words);
        if words > self.words {
            let mut bits = SmallVec::from_elem(0, len * words);
            for (row, old) in bits.chunks_exact_mut(words).zip(self.bits.chunks_exact(self.words.max(1))) {
                row[..old.len()].copy_from_slice(old);
            }
            self.bits = bits;
            self.words = words;
        }
        self.fill(len * words);
        self.len = len;
    }

    /// Adds zeros up to so many words, whole slices at a time.
    fn fill(&mut self, words: usize) {
        const ZEROS: [u64; 64] = [0; 64];
        while self.bits.len() < words {
            let more = (words - self.bits.len()).min(ZEROS.len());
            self.bits.extend_from_slice(&ZEROS[..more]);
        }
    }

    /// Relates `a` to `b` and to all that `b` is related to; whether that was new.
    #[inline]
    pub fn absorb(&mut self, a: usize, b: usize) -> bool {
        let mut changed = !self.contains(a, b);
        self.insert(a, b);
        for word in 0..self.words {
            let more = self.bits[b * self.words + word];
            let slot = &mut self.bits[a * self.words + word];
            changed |= more & !*slot != 0;
            *slot |= more;
        }
        changed
    }

    /// Relates `a` to all that `b` is related to.
    #[inline]
    pub fn unite_row(&mut self, a: usize, b: usize) {
        let words = self.words;
        for word in 0..words {
            self.bits[a * words + word] |= self.bits[b * words + word];
        }
    }

    /// Relates `a` to the events of a set, given as words of bits.
    #[inline]
    pub fn unite_words(&mut self, a: usize, set: &[u64]) {
        let words = self.words;
        for (word, more) in self.bits[a * words..(a + 1) * words].iter_mut().zip(set) {
            *word |= more;
        }
    }

    /// Number of events that the relation is over.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no pair is related.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }

    /// Relates `a` to `b`.
    #[inline]
    pub fn insert(&mut self, a: usize, b: usize) {
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
    }

    /// Whether `a` is related to `b`.
    #[inline]
    pub fn contains(&self, a: usize, b: usize) -> bool {
        self.bits[a * self.words + b / 64] >> (b % 64) & 1 == 1
    }

    /// The union with another relation over the same events.
    #[inline]
    pub fn unite(&mut self, other: &Relation) {
        for (word, more) in self.bits.iter_mut().zip(&other.bits) {
            *word |= more;
        }
    }

    /// The events related to `a` on the right, as words of bits.
    #[inline]
    pub fn words(&self, a: usize) -> &[u64] {
        &self.bits[a * self.words..(a + 1) * self.words]
    }

    /// The events related to `a` on the right, ascending.
    #[inline]
    pub fn row(&self, a: usize) -> impl Iterator<Item = usize> + '_ {
        self.words(a).iter().enumerate().flat_map(|(index, word)| bits(index, *word))
    }

    /// The events behind `a` that are related to it on the right, but not in another relation over the same events,
    /// ascending.
    #[inline]
    pub fn later_without<'a>(&'a self, a: usize, other: &'a Relation) -> impl Iterator<Item = usize> + 'a {
        let first = (a + 1) / 64;
        let words = self.words(a).iter().zip(other.words(a)).enumerate().skip(first);
        let words = words.map(move |(index, (word, other))| {
            let later = if index == first { u64::MAX << ((a + 1) % 64) } else { u64::MAX };
            (index, word & !other & later)
        });
        words.filter(|(_, word)| *word != 0).flat_map(|(index, word)| bits(index, word))
    }

    /// Relates `a` to the events of both sets that come after it.
    #[inline]
    pub fn insert_later(&mut self, a: usize, left: &EventSet, right: &EventSet) {
        let first = (a + 1) / 64;
        for index in first..self.words {
            let mut word = left.words[index] & right.words[index];
            if index == first {
                word &= u64::MAX << ((a + 1) % 64);
            }
            self.bits[a * self.words + index] |= word;
        }
    }

    /// The inverse relation.
    pub fn inverse(&self) -> Relation {
        let mut inverse = Relation::new(self.len);
        for a in 0..self.len {
            for b in self.row(a) {
                inverse.insert(b, a);
            }
        }
        inverse
    }

    /// Makes the relation transitive.
    pub fn close(&mut self) {
        if self.len > closure::FEW {
            return closure::close(self);
        }
        // Warshall, which needs no memory.
        let words = self.words;
        for middle in 0..self.len {
            for a in (0..self.len).filter(|a| *a != middle) {
                if self.contains(a, middle) {
                    for word in 0..words {
                        self.bits[a * words + word] |= self.bits[middle * words + word];
                    }
                }
            }
        }
    }

    /// Words of a row.
    pub(super) fn words_of_row(&self) -> usize {
        self.words
    }

    /// Whether some event is related to itself.
    #[inline]
    pub fn is_reflexive_somewhere(&self) -> bool {
        (0..self.len).any(|event| self.contains(event, event))
    }
}

#[cfg(test)]
mod tests {
    use super::Relation;

    #[test]
    fn closure_follows_paths_of_any_length() {
        let mut relation = Relation::new(130);
        for event in 0..129 {
            relation.insert(event + 1, event);
        }
        relation.close();
        assert!(relation.contains(129, 0));
        assert!(!relation.contains(0, 129));
        assert!(!relation.is_reflexive_somewhere());
        relation.insert(0, 129);
        relation.close();
        assert!(relation.contains(64, 64));
        assert!(relation.is_reflexive_somewhere());
    }

    /// Reachability over one event more, and one more.
    fn closed_step_by_step(mut relation: Relation) -> Relation {
        for middle in 0..relation.len() {
            for a in 0..relation.len() {
                if relation.contains(a, middle) {
                    relation.unite_row(a, middle);
                }
            }
        }
        relation
    }

    proptest::proptest! {
        #[test]
        fn closures_are_what_is_reached(
            len in 1_usize..300,
            // Few of them lead back, so that there are components of all sizes.
            pairs in proptest::collection::vec((0_usize..300, 0_usize..300, 0_u8..12), 0..500),
        ) {
            let mut relation = Relation::new(len);
            for (a, b, leads_back) in pairs {
                let (a, b) = (a % len, b % len);
                let (low, high) = (a.min(b), a.max(b));
                if leads_back == 0 { relation.insert(high, low) } else { relation.insert(low, high) }
            }
            let wanted = closed_step_by_step(relation.clone());
            let mut closed = relation.clone();
            closed.close();
            proptest::prop_assert_eq!(&closed, &wanted);
            super::closure::close(&mut relation);
            proptest::prop_assert_eq!(relation, wanted);
        }
    }

    #[test]
    fn rows_list_their_members_in_order() {
        let mut relation = Relation::new(100);
        for member in [99, 3, 64, 63] {
            relation.insert(7, member);
        }
        assert_eq!(relation.row(7).collect::<Vec<_>>(), [3, 63, 64, 99]);
        assert_eq!(relation.row(8).count(), 0);
    }
}

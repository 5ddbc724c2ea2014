//! Intervals beside the floats in memory.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use super::interval::Interval;
use super::Shade;

/// Intervals of floats in memory, by space and first byte.
#[derive(Clone, Debug, Default)]
pub struct ShadedMemory {
    /// Each with its bytes.
    shades: BTreeMap<(u32, u32), (u32, Interval)>,
}

/// The largest component of memory in bytes.
const LARGEST: u32 = 8;

impl ShadedMemory {
    /// The interval of the component that lies there; of parts of floats nothing is known.
    pub fn load(&self, space: u32, start: u32, bytes: u32) -> Shade {
        match self.shades.get(&(space, start)) {
            Some((length, interval)) if *length == bytes => Some(*interval),
            _ => self.overlapping(space, start, bytes).next().map(|_| Interval::ANY),
        }
    }

    pub fn store(&mut self, space: u32, start: u32, bytes: u32, shade: Shade) {
        let gone: Vec<(u32, u32)> = self.overlapping(space, start, bytes).collect();
        for place in gone {
            self.shades.remove(&place);
        }
        if let Some(interval) = shade {
            self.shades.insert((space, start), (bytes, interval));
        }
    }

    /// Forgets what lies in a space from a byte on.
    pub fn release(&mut self, space: u32, end: u32) {
        self.shades.retain(|(other, start), _| *other != space || *start < end);
    }

    /// Start, bytes and interval of each float of a space.
    pub fn of_space(&self, space: u32) -> impl Iterator<Item = (u32, u32, Interval)> + '_ {
        let range = (space, 0)..=(space, u32::MAX);
        self.shades.range(range).map(|((_, start), (bytes, interval))| (*start, *bytes, *interval))
    }

    /// Feeds a hasher all of it.
    pub fn feed(&self, hasher: &mut impl Hasher) {
        for (place, (bytes, interval)) in &self.shades {
            (place, bytes, interval.low.to_bits(), interval.high.to_bits()).hash(hasher);
        }
    }

    fn overlapping(&self, space: u32, start: u32, bytes: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let range = (space, start.saturating_sub(LARGEST))..(space, start.saturating_add(bytes));
        let covered = move |(place, (length, _)): (&(u32, u32), &(u32, Interval))| {
            (place.1 + length > start).then_some(*place)
        };
        self.shades.range(range).filter_map(covered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_float_are_unknown_and_writes_replace_it() {
        let third = Interval::between(0.3, 0.4);
        let mut memory = ShadedMemory::default();
        memory.store(1, 8, 4, Some(third));
        assert_eq!(memory.load(1, 8, 4), Some(third));
        assert_eq!(memory.load(0, 8, 4), None);
        for (start, bytes) in [(8, 2), (11, 1), (4, 8), (8, 8)] {
            assert_eq!(memory.load(1, start, bytes), Some(Interval::ANY), "{start} {bytes}");
        }
        for (start, bytes) in [(4, 4), (12, 4)] {
            assert_eq!(memory.load(1, start, bytes), None);
        }
        memory.store(1, 10, 1, None);
        assert_eq!(memory.load(1, 8, 4), None);
        memory.store(1, 8, 4, Some(third));
        memory.store(1, 0, 4, Some(third));
        memory.release(1, 8);
        assert_eq!(memory.of_space(1).collect::<Vec<_>>(), [(0, 4, third)]);
    }
}

//! The units of a witness in the memory of the module that is run.

use std::collections::BTreeMap;

use smallvec::SmallVec;

use super::quiet::bytes_of;
use crate::compare::ObjectMatch;
use crate::dispatch::Dispatch;
use crate::event::Access;
use crate::model::graph::{Unit, UnitBytes};
use crate::value::Byte;
use crate::witness::Witness;

/// Bytes of the longest unit.
const LONGEST: u32 = 4;

/// Units by the bytes that they have, of the memory of the dispatch that is run.
pub(super) struct Units {
    /// The memory and the first byte of each; none where the other module does not have the memory.
    places: Vec<Option<(u32, u32)>>,
    by_place: BTreeMap<(u32, u32), SmallVec<[Unit; 1]>>,
}

impl Units {
    /// Those of a witness with the dispatch `after`, in the memory of `before`.
    pub(super) fn of(witness: &Witness, after: &Dispatch, before: &Dispatch) -> Self {
        let matched = ObjectMatch::new(before, after);
        // The first object of each memory of after says which memory of before that is.
        let mut memories: BTreeMap<u32, u32> = BTreeMap::new();
        for (number, object) in after.objects.iter().enumerate().rev() {
            match before.objects.get(matched.of_after(number as u32) as usize) {
                Some(other) => memories.insert(object.memory, other.memory),
                None => memories.remove(&object.memory),
            };
        }
        let units = witness.units.iter();
        let places: Vec<Option<(u32, u32)>> =
            units.map(|(memory, offset)| Some((*memories.get(memory)?, *offset))).collect();
        let mut by_place: BTreeMap<(u32, u32), SmallVec<[Unit; 1]>> = BTreeMap::new();
        for (unit, place) in places.iter().enumerate() {
            if let Some(place) = place {
                by_place.entry(*place).or_default().push(unit as Unit);
            }
        }
        Units { places, by_place }
    }

    /// The memory and the first byte of each.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.by_place.keys().copied()
    }

    /// The first byte of a unit.
    pub(super) fn first_byte(&self, unit: Unit) -> Option<u32> {
        self.places.get(unit as usize).copied().flatten().map(|(_, first)| first)
    }

    /// The units whose first bytes an access has, in a memory, ascending.
    pub(super) fn covered(&self, memory: u32, access: &Access) -> Vec<Unit> {
        let units = bytes_of(access).filter_map(|byte| self.by_place.get(&(memory, byte)));
        let mut units: Vec<Unit> = units.flatten().copied().collect();
        units.sort_unstable();
        units.dedup();
        units
    }

    /// The bytes of each of these units out of those of an access.
    pub(super) fn bytes<A>(&self, units: &[Unit], access: &Access, bytes: &[Byte]) -> SmallVec<A>
    where
        A: smallvec::Array<Item = UnitBytes>,
    {
        let of_unit = |unit: &Unit| {
            let Some(Some((memory, first))) = self.places.get(*unit as usize).copied() else {
                return UnitBytes::new();
            };
            let mut next = self.by_place.range((memory, first + 1)..(memory, first.saturating_add(LONGEST)));
            let end = next.next().map_or(first.saturating_add(LONGEST), |((_, next), _)| *next);
            let within = bytes_of(access).zip(bytes).filter(|(byte, _)| (first..end).contains(byte));
            within.map(|(_, value)| *value).collect()
        };
        units.iter().map(of_unit).collect()
    }
}

//! What the members of a class leave in memory without events, for each place.
//!
//! For example, if each member stores its own number to `out[slot]`, where `slot` is the result of its first read, then
//! `out[k]` is left in place k, and the number depends on the member alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::explore::reductions::symmetry::replay::{Ground, OwnView};
use crate::value::Byte;

/// What the members of a class do without events in one place, until they end.
pub(crate) struct Leaf {
    pub(crate) own: Arc<Own>,
    /// The bytes at which a member writes what it places, and for each of them the index of the byte in
    /// [`Own::placed`].
    pub(crate) place: Vec<(Spot, usize)>,
    /// The words of these bytes, by memory and first byte.
    pub(crate) words: BTreeSet<(u32, u32)>,
}

/// What each member leaves, except for the location of what it places. A list that is the same for all members is kept
/// once.
pub(crate) struct Own {
    /// The observed bytes that a member writes.
    slots: Vec<Vec<Spot>>,
    /// For each member, the values that it writes there.
    contents: Vec<Vec<Byte>>,
    /// The words that the members touch, by memory and first byte, and whether they write them.
    pub(crate) touched: Vec<Vec<((u32, u32), bool)>>,
    /// For each member, the bytes that it places. All have the same number of bytes.
    pub(crate) placed: Vec<Vec<Byte>>,
}

/// An observed byte, by its object and the index there, and its initial value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    pub(crate) object: usize,
    pub(crate) index: usize,
    initial: Byte,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Patch {
    pub(crate) object: usize,
    pub(crate) index: usize,
    pub(crate) byte: Byte,
    pub(crate) initial: Byte,
}

impl Own {
    pub(crate) fn new<'a>(ground: &Ground, memories: impl Iterator<Item = &'a OwnView>) -> Self {
        let (mut slots, mut contents, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        let mut placed = Vec::new();
        for own in memories {
            let patches = patches_of(ground, own);
            slots.push(patches.iter().map(Spot::of).collect::<Vec<Spot>>());
            contents.push(patches.iter().map(|patch| patch.byte).collect::<Vec<Byte>>());
            touched.push(own.touched.iter().map(|(word, wrote)| (*word, *wrote)).collect::<Vec<_>>());
            placed.push(own.placed.iter().map(|(_, byte)| *byte).collect::<Vec<Byte>>());
        }
        Own { slots: once(slots), contents, touched: once(touched), placed }
    }

    fn patches(&self, member: usize) -> impl Iterator<Item = Patch> + Clone + '_ {
        let spots = of(&self.slots, member).iter();
        spots.zip(&self.contents[member]).map(|(spot, byte)| spot.with(*byte))
    }
}

impl Spot {
    fn of(patch: &Patch) -> Spot {
        let Patch { object, index, initial, .. } = *patch;
        Spot { object, index, initial }
    }

    fn with(self, byte: Byte) -> Patch {
        let Spot { object, index, initial } = self;
        Patch { object, index, byte, initial }
    }
}

impl Leaf {
    pub(crate) fn new<'a>(ground: &Ground, memories: impl Iterator<Item = &'a OwnView>) -> Self {
        Leaf { own: Arc::new(Own::new(ground, memories)), place: Vec::new(), words: BTreeSet::new() }
    }

    /// The leaf of a place in which a member has placed something.
    pub(crate) fn placing(ground: &Ground, own: Arc<Own>, placed: &[((u32, u32), Byte)]) -> Self {
        // The last write to a byte stays.
        let last: BTreeMap<(u32, u32), usize> =
            placed.iter().enumerate().map(|(number, (place, _))| (*place, number)).collect();
        let spots = last.iter().flat_map(|((memory, offset), number)| {
            places(ground, *memory, *offset).map(|patch| (Spot::of(&patch), *number))
        });
        let place = spots.collect();
        Leaf { own, place, words: last.keys().map(|(memory, offset)| (*memory, offset / 4 * 4)).collect() }
    }

    /// Whether all members leave the same in this place.
    pub(crate) fn is_uniform(&self) -> bool {
        let Own { slots, contents, placed, .. } = &*self.own;
        let first = placed.first();
        slots.len() == 1
            && contents.iter().all(|each| *each == contents[0])
            && placed.iter().all(|each| Some(each) == first)
    }

    pub(crate) fn patches(&self, member: usize) -> impl Iterator<Item = Patch> + Clone + '_ {
        let placed = &self.own.placed[member];
        self.own.patches(member).chain(self.place.iter().map(|(spot, number)| spot.with(placed[*number])))
    }

    pub(crate) fn all_patches(&self) -> impl Iterator<Item = Patch> + '_ {
        (0..self.own.contents.len()).flat_map(|member| self.patches(member))
    }
}

/// Reduces a list of equal elements to one element.
fn once<T: PartialEq>(mut list: Vec<T>) -> Vec<T> {
    if list.iter().all(|each| *each == list[0]) {
        list.truncate(1);
    }
    list
}

/// The element of such a list for a member.
pub(crate) fn of<T>(list: &[T], member: usize) -> &T {
    list.get(member).unwrap_or(&list[0])
}

/// The observed bytes that an invocation wrote.
pub(crate) fn patches_of(ground: &Ground, own: &OwnView) -> Vec<Patch> {
    let written = own.written.iter();
    let patches = written.flat_map(|((memory, offset), byte)| {
        places(ground, *memory, *offset).map(|place| Patch { byte: *byte, ..place })
    });
    patches.collect()
}

/// Where a byte of memory is observed, and what it is at first.
pub(crate) fn places<'a>(ground: &'a Ground, memory: u32, offset: u32) -> impl Iterator<Item = Patch> + 'a {
    let initial = ground.initial.get(memory as usize).and_then(|bytes| bytes.get(offset as usize)).copied();
    let observed = ground.dispatch.objects.iter().filter(|object| object.observed).enumerate();
    observed.filter(move |(_, object)| object.memory == memory).filter_map(move |(number, object)| {
        let index = offset.checked_sub(object.view.unwrap_or(0))? as usize;
        let initial = initial.filter(|_| index < object.initial.len())?;
        Some(Patch { object: number, index, byte: initial, initial })
    })
}

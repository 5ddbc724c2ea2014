//! What invocations of a class leave in memory without events, by place.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::explore::reductions::symmetry::replay::{Ground, OwnView};
use crate::value::Byte;

/// What the members of a class do without events in one place, to their end.
pub(crate) struct Leaf {
    pub(crate) own: Arc<Own>,
    /// Where they write what they place, and which of that is there.
    pub(crate) place: Vec<(Spot, usize)>,
    /// The words of that, by memory and first byte.
    pub(crate) words: BTreeSet<(u32, u32)>,
}

/// What each member leaves, but for where it places some of it. What is the same for all of them is there once.
pub(crate) struct Own {
    /// Observed object, index there, and what is there at first.
    slots: Vec<Vec<Spot>>,
    /// What is written there, per member.
    contents: Vec<Vec<Byte>>,
    /// The words that they touch, by memory and first byte, and whether they write them.
    pub(crate) touched: Vec<Vec<((u32, u32), bool)>>,
    /// What they place, per member: as many bytes.
    pub(crate) placed: Vec<Vec<Byte>>,
}

/// An observed byte, and what it is at first.
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

    /// The place in which somebody has placed something.
    pub(crate) fn placing(ground: &Ground, own: Arc<Own>, placed: &[((u32, u32), Byte)]) -> Self {
        // What is written last is there.
        let last: BTreeMap<(u32, u32), usize> =
            placed.iter().enumerate().map(|(number, (place, _))| (*place, number)).collect();
        let spots = last.iter().flat_map(|((memory, offset), number)| {
            places(ground, *memory, *offset).map(|patch| (Spot::of(&patch), *number))
        });
        let place = spots.collect();
        Leaf { own, place, words: last.keys().map(|(memory, offset)| (*memory, offset / 4 * 4)).collect() }
    }

    /// Whether whoever has the place leaves the same.
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

/// Once what is the same for all members.
fn once<T: PartialEq>(mut list: Vec<T>) -> Vec<T> {
    if list.iter().all(|each| *each == list[0]) {
        list.truncate(1);
    }
    list
}

/// What a member has of such a list.
pub(crate) fn of<T>(list: &[T], member: usize) -> &T {
    list.get(member).unwrap_or(&list[0])
}

/// Where in the observed objects an invocation wrote what.
pub(crate) fn patches_of(ground: &Ground, own: &OwnView) -> Vec<Patch> {
    let written = own.written.iter();
    let patches = written.flat_map(|((memory, offset), byte)| {
        places(ground, *memory, *offset).map(|place| Patch { byte: *byte, ..place })
    });
    patches.collect()
}

/// Where a byte is observed, and what it is at first.
pub(crate) fn places<'a>(ground: &'a Ground, memory: u32, offset: u32) -> impl Iterator<Item = Patch> + 'a {
    let initial = ground.initial.get(memory as usize).and_then(|bytes| bytes.get(offset as usize)).copied();
    let observed = ground.dispatch.objects.iter().filter(|object| object.observed).enumerate();
    observed.filter(move |(_, object)| object.memory == memory).filter_map(move |(number, object)| {
        let index = offset.checked_sub(object.view.unwrap_or(0))? as usize;
        let initial = initial.filter(|_| index < object.initial.len())?;
        Some(Patch { object: number, index, byte: initial, initial })
    })
}

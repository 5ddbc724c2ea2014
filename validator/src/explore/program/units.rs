//! Words of memory: aligned pieces of 4 bytes, in which the explorer keeps track of shared memory.

use crate::event::Access;

/// A unit, by its memory and first byte.
pub(crate) type UnitKey = (u32, u32);

/// The number of bytes of a word.
pub(crate) const WORD: u32 = 4;

/// The words that an access touches, by their first bytes.
pub(crate) fn words_of(access: &Access) -> impl Iterator<Item = u32> + '_ {
    grains_of(access, WORD)
}

/// The aligned pieces of `grain` bytes that an access touches, by their first bytes.
pub(crate) fn grains_of(access: &Access, grain: u32) -> impl Iterator<Item = u32> + '_ {
    let ranges = access.ranges.iter();
    ranges.flat_map(move |(offset, len)| {
        (offset / grain..(offset + len).div_ceil(grain)).map(move |piece| piece * grain)
    })
}

//! The units of an access, and the bytes of each.

use smallvec::SmallVec;

use crate::event::Access;
use crate::explore::facts::discoveries::Word;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::state::State;
use crate::model::graph::{Source, Unit, UnitBytes};
use crate::value::Byte;

/// The units of an access, ascending, each with the indices of its bytes in the access.
pub(crate) type UnitSpans = SmallVec<[(Unit, SmallVec<[u32; 4]>); 4]>;

/// The shared units that an access covers. It returns `None` if the access covers only part of a unit: that word must
/// be split first, and `split` gets it.
pub(crate) fn units_of(
    access: &Access,
    memory: u32,
    knowledge: &Knowledge,
    mut split: impl FnMut(u32),
) -> Option<UnitSpans> {
    let mut spans = UnitSpans::new();
    let mut whole = true;
    let mut index = 0;
    for (offset, len) in &access.ranges {
        for byte in *offset..offset + len {
            let unit = match knowledge.word(memory, byte) {
                Word::Unshared => None,
                Word::Whole(unit) => Some(unit),
                Word::Bytes(first) => Some(first + byte % 4),
            };
            if let Some(unit) = unit {
                match spans.last_mut() {
                    Some((last, bytes)) if *last == unit => bytes.push(index),
                    _ => spans.push((unit, SmallVec::from_slice(&[index]))),
                }
                let is_whole = matches!(knowledge.word(memory, byte), Word::Whole(_));
                let starts = byte % 4 == 0 || byte > *offset;
                let ends = byte % 4 == 3 || byte + 1 < offset + len;
                if is_whole && !(starts && ends) {
                    whole = false;
                    split(byte / 4 * 4);
                }
            }
            index += 1;
        }
    }
    spans.sort_unstable_by_key(|(unit, _)| *unit);
    whole.then_some(spans)
}

/// The bytes of each unit, taken from those of the whole access.
pub(crate) fn split_bytes<'a>(
    spans: &'a UnitSpans,
    bytes: &'a [Byte],
) -> impl Iterator<Item = UnitBytes> + 'a {
    spans.iter().map(move |(_, indices)| {
        indices.iter().map(|index| bytes.get(*index as usize).copied().unwrap_or(Byte::Undef)).collect()
    })
}

/// The bytes that a source, an event of the graph or the initial value, gives a unit.
pub(crate) fn source_bytes(
    state: &State,
    knowledge: &Knowledge,
    unit: Unit,
    len: usize,
    source: Source,
) -> UnitBytes {
    let initial = || {
        let (memory, offset) = knowledge.key(unit);
        (0..len as u32).map(|byte| state.contents.byte(memory, offset + byte)).collect()
    };
    match source {
        Source::Initial | Source::Pending => initial(),
        Source::Event(write) => {
            let event = state.graph.events.get(write as usize);
            event.and_then(|event| event.written_to(unit)).cloned().unwrap_or_else(initial)
        }
    }
}

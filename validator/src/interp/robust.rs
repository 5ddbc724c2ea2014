//! Accesses outside of buffers with robust access (Vulkan, "Features": robustBufferAccess, robustBufferAccess2;
//! docs/semantics.md, section 3.5).
//!
//! The address decides: an access is outside if it is not wholly inside of its buffer, whatever arrays its indices left
//! on the way. Offsets of pointers into buffers whose bounds are checked are signed, since an index may be negative.
//!
//! With the second version (the first one is in `strays.rs`) a read is zero, a write is lost, an atomic is lost and reads
//! an undefined value. Two ways differ from that: an access to a storage buffer may be done word by word, so that the
//! words inside are accessed; and a read of what the invocation last wrote there may see that.

use std::collections::BTreeMap;

use super::access::{bytes_of, components_of, Bytes};
use super::machine::{Components, Machine, Step};
use super::memory::Target;
use super::{Pointer, Stop};
use crate::event::StorageClass;
use crate::ir::{Leaf, LeafKind, Line, Shape};
use crate::value::{Byte, Scalar};

/// Bytes of which an invocation keeps what it wrote outside; of later ones it does not.
const MAX_KEPT: usize = 1_024;

/// Bytes of a word, in which accesses may be checked one by one.
const WORD: u32 = 4;

/// What an invocation did outside of buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct DoneOutside {
    /// What it wrote, by location space and offset: its later reads may see it.
    written: BTreeMap<(u32, u32), Byte>,
    /// In how many ways its reads may have gone, as far as they were told one by one; 0 for none.
    pub(super) ways: u32,
}

impl DoneOutside {
    /// Keeps a byte; whether that changes anything.
    fn keep(&mut self, place: (u32, u32), byte: Byte) -> bool {
        let has_room = self.written.len() < MAX_KEPT || self.written.contains_key(&place);
        has_room && self.written.insert(place, byte) != Some(byte)
    }

    /// The bytes of these places, if all of them were written.
    fn all(&self, places: impl Iterator<Item = (u32, u32)>) -> Option<Bytes> {
        match self.written.is_empty() {
            true => None,
            false => places.map(|place| self.written.get(&place).copied()).collect(),
        }
    }
}

/// An offset in a buffer whose bounds are checked, moved by so many bytes. Beyond what can be told it stays outside of
/// every buffer.
pub(super) fn moved(offset: u32, bytes: i64) -> u32 {
    let moved = i64::from(offset.cast_signed()).saturating_add(bytes);
    moved.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32 as u32
}

impl Machine<'_> {
    /// Whether accesses through the pointer are bounds-checked by robust access.
    #[inline]
    pub(super) fn is_checked(&self, pointer: Pointer) -> bool {
        let robustness = self.dispatch.robustness.as_ref();
        robustness.is_some_and(|robustness| pointer.object < robustness.buffers)
    }

    /// Whether an access of so many bytes is bounds-checked and not wholly inside of its buffer.
    #[inline]
    pub(super) fn is_outside(&self, pointer: Pointer, size: u32) -> bool {
        self.is_checked(pointer)
            && u64::from(pointer.offset) + u64::from(size) > u64::from(self.memory.size(pointer.object))
    }

    /// What a read outside of a buffer gives.
    pub(super) fn load_outside(
        &mut self,
        pointer: Pointer,
        target: Target,
        shape: &Shape,
        line: Line,
    ) -> Result<Components, Box<Stop>> {
        let own = self.last_written(pointer, target, shape);
        if self.dispatch.robustness.as_ref().is_some_and(|robustness| !robustness.second) {
            return self.load_astray(pointer, shape, own, line);
        }
        let inside = self.words_inside(pointer, target, shape);
        let ways = 1 + u32::from(own.is_some()) + u32::from(inside.is_some());
        // Zero is the usual way.
        match (self.choose(ways, line)?, own, inside) {
            (1, Some(own), _) => Ok(components_of(shape, &own)),
            (1 | 2, _, Some(inside)) => {
                // What is not read, because it lies outside, is zero.
                let plan = self.plan(pointer, target, &inside, false, line)?;
                let bytes = self.read_bytes(plan)?;
                Ok(components_of(shape, &bytes))
            }
            _ => Ok(components_of(shape, &[])),
        }
    }

    /// A write outside of a buffer is lost; the words of it that are inside may take place.
    pub(super) fn store_outside(
        &mut self,
        pointer: Pointer,
        target: Target,
        shape: &Shape,
        components: &[Scalar],
        line: Line,
    ) -> Step {
        if self.state.helper {
            self.state.advance();
            return Ok(());
        }
        let is_stray = self.note_stray_write(pointer);
        let inside = self.words_inside(pointer, target, shape).filter(|_| !is_stray);
        let takes_place = match &inside {
            Some(_) => self.choose(2, line)? != 0,
            None => false,
        };
        let mut bytes = Bytes::from_elem(Byte::Undef, shape_bytes(shape) as usize);
        bytes_of(shape, components, &mut bytes);
        self.keep_written(pointer, shape, &bytes);
        match inside.filter(|_| takes_place) {
            Some(inside) => {
                let plan = self.plan(pointer, target, &inside, true, line)?;
                bytes.truncate(shape_bytes(&inside) as usize);
                self.write_bytes(plan, bytes)
            }
            None => {
                self.state.advance();
                Ok(())
            }
        }
    }

    /// What the invocation last wrote at the place of a read, which the read may see.
    fn last_written(&self, pointer: Pointer, target: Target, shape: &Shape) -> Option<Bytes> {
        let is_volatile = target.operands.volatile || pointer.decorations.volatile;
        let space = self.dispatch.objects.get(pointer.object as usize)?.memory;
        let places = places(pointer, shape).map(|offset| (space, offset));
        if is_volatile || shape.leaves.is_empty() {
            return None;
        }
        self.state.done_outside.all(places)
    }

    fn keep_written(&mut self, pointer: Pointer, shape: &Shape, bytes: &[Byte]) {
        let Some(object) = self.dispatch.objects.get(pointer.object as usize) else { return };
        let mut changed = false;
        for (offset, byte) in places(pointer, shape).zip(bytes) {
            changed |= self.state.done_outside.keep((object.memory, offset), *byte);
        }
        self.state.activity.changes += u64::from(changed);
    }

    /// The words of an access to a storage buffer that lie inside of it, where the access consists of words; none where
    /// there are none, or where it begins outside.
    fn words_inside(&self, pointer: Pointer, target: Target, shape: &Shape) -> Option<Shape> {
        let object = self.dispatch.objects.get(pointer.object as usize)?;
        let is_storage = target.class == StorageClass::StorageBuffer || !object.constant;
        if !is_storage || !shape_bytes(shape).is_multiple_of(WORD) {
            return None;
        }
        let inside = self.memory.size(pointer.object).checked_sub(pointer.offset)? / WORD * WORD;
        let mut leaves = Vec::new();
        for leaf in shape.leaves.iter().filter(|leaf| leaf.offset < inside) {
            let bytes = leaf.kind.bytes().min(inside - leaf.offset);
            let kind = if bytes == leaf.kind.bytes() { leaf.kind } else { LeafKind::Number(bytes as u8) };
            leaves.push(Leaf { offset: leaf.offset, kind });
        }
        let size = leaves.iter().map(|leaf| leaf.offset + leaf.kind.bytes()).max()?;
        Some(Shape { leaves, size })
    }
}

/// Bytes of a shape's components.
fn shape_bytes(shape: &Shape) -> u32 {
    shape.leaves.iter().map(|leaf| leaf.kind.bytes()).sum()
}

/// The offsets of a shape's bytes, in their order.
fn places(pointer: Pointer, shape: &Shape) -> impl Iterator<Item = u32> {
    let mut leaves: Vec<Leaf> = shape.leaves.clone();
    leaves.sort_by_key(|leaf| leaf.offset);
    let offset = pointer.offset;
    leaves.into_iter().flat_map(move |leaf| {
        let start = offset.wrapping_add(leaf.offset);
        (0..leaf.kind.bytes()).map(move |byte| start.wrapping_add(byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_signed_and_stay_outside_where_they_cannot_be_told() {
        assert_eq!(moved(8, -12).cast_signed(), -4);
        assert_eq!(moved(moved(8, -12), 4), 0);
        assert_eq!(moved(0, 1 << 33).cast_signed(), i32::MAX);
        assert_eq!(moved(4, i64::MIN).cast_signed(), i32::MIN);
    }

    #[test]
    fn what_is_kept_of_writes_outside_is_bounded_and_read_as_a_whole() {
        let mut done = DoneOutside::default();
        assert!(done.keep((0, 16), Byte::Known(1)));
        assert!(!done.keep((0, 16), Byte::Known(1)));
        assert_eq!(done.all([(0, 16)].into_iter()), Some(Bytes::from_elem(Byte::Known(1), 1)));
        assert_eq!(done.all([(0, 16), (0, 17)].into_iter()), None);
        for offset in 0..2 * MAX_KEPT as u32 {
            done.keep((1, offset), Byte::Known(2));
        }
        assert_eq!(done.written.len(), MAX_KEPT);
        assert!(done.keep((0, 16), Byte::Known(3)));
    }
}

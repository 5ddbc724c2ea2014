//! The first version of robust access to buffers (Vulkan, "Features", robustBufferAccess).
//!
//! A read outside gives zero (of four components, the last may be one, or the greatest integer) or values from anywhere
//! in the buffer's memory. A write or an atomic outside is lost, or changes any of that memory; what an atomic reads is
//! undefined. Reads less than 16 bytes from where another read is outside may count as outside, too.
//!
//! Values are told one by one, in as many ways as there are, if the program never writes the buffer and the ways are
//! few. A buffer that a write outside may change is undefined as a whole, from the start: `note_outside` tells the
//! search, which begins again with that (`explore/strays.rs`).

use std::collections::BTreeSet;

use super::access::{components_of, Bytes};
use super::machine::{Components, Machine};
use super::{Outside, Pointer, Stop};
use crate::dispatch::{OutsideReads, Robustness, Stray};
use crate::event::Access;
use crate::ir::image::Dim;
use crate::ir::{Leaf, LeafKind, Line, Operand, Shape};
use crate::value::{Byte, Scalar};

/// In so many ways the reads of an invocation may go before they are told one by one no more.
const MAX_WAYS: u32 = 1 << 12;

/// A read within so many bytes of one that is outside may count as outside.
const NEAR: u32 = 16;

/// Candidate values are taken at multiples of their size, or of a word.
const WORD: u32 = 4;

/// What the last of four components may be where all others are zero: 1, the greatest integers, and 1.0.
const LAST_COMPONENTS: [u32; 4] = [1, i32::MAX as u32, u32::MAX, 0x3f80_0000];

impl Machine<'_> {
    /// Robust access in its first version, and the location space behind the pointer.
    fn first_version(&self, pointer: Pointer) -> Option<(&Robustness, u32)> {
        let robustness = self.dispatch.robustness.as_ref().filter(|robustness| !robustness.second)?;
        let object = self.dispatch.objects.get(pointer.object as usize)?;
        Some((robustness, object.memory))
    }

    /// Tells that a write is outside, which may change any byte of the memory; whether that is so.
    pub(super) fn note_stray_write(&mut self, pointer: Pointer) -> bool {
        let Some((robustness, space)) = self.first_version(pointer) else { return false };
        if !robustness.strays.get(&space).is_some_and(|stray| stray.written) {
            let written = Stray { written: true, ..Stray::default() };
            self.memory.note_outside(Outside::Stray(space, written));
        }
        true
    }

    /// The same of an atomic outside. One that only reads may make others near it count as outside, too: what those
    /// write is open in before then.
    pub(super) fn note_stray_atomic(&mut self, pointer: Pointer, may_write: bool) {
        let is_exhaustive = self.first_version(pointer).is_some_and(|(robustness, _)| robustness.exhaustive);
        if (may_write || is_exhaustive) && !self.state.helper {
            self.note_stray_write(pointer);
        }
    }

    /// The same of an atomic on a texel that the image behind the pointer does not have: a texel buffer is a buffer.
    pub(super) fn note_stray_texel(&mut self, pointer: Operand, may_write: bool) {
        let pointer = Pointer::decode([self.value(pointer), self.value(pointer.offset(1))]);
        if let Some(pointer) = pointer.filter(|pointer| self.is_texel_buffer(*pointer)) {
            self.note_stray_atomic(pointer, may_write);
        }
    }

    /// Whether the pointer is to a texel buffer.
    pub(super) fn is_texel_buffer(&self, pointer: Pointer) -> bool {
        let image = self.dispatch.objects.get(pointer.object as usize).and_then(|object| object.image);
        image.is_some_and(|layout| layout.dim == Dim::Buffer)
    }

    /// Whether reads of a texel buffer may give anything, since one of them is outside.
    pub(super) fn reads_astray(&self, pointer: Pointer) -> bool {
        let known = self.first_version(pointer).and_then(|(robustness, space)| robustness.strays.get(&space));
        known.is_some_and(|stray| stray.high.is_some())
    }

    /// Tells that a read of a texel buffer is outside: whatever is read from it may then count as outside.
    pub(super) fn note_stray_texel_read(&mut self, pointer: Pointer) {
        let Some((robustness, space)) = self.first_version(pointer) else { return };
        if robustness.exhaustive && !self.reads_astray(pointer) {
            let all = Stray { read: true, high: Some(0), ..Stray::default() };
            self.memory.note_outside(Outside::Stray(space, all));
        }
    }

    /// Whether a write outside may change what an object holds.
    #[inline]
    pub(super) fn may_be_overwritten(&self, object: u32) -> bool {
        let Some(robustness) = &self.dispatch.robustness else { return false };
        if robustness.strays.is_empty() {
            return false;
        }
        let space = self.dispatch.objects.get(object as usize).map(|object| object.memory);
        space.and_then(|space| robustness.strays.get(&space)).is_some_and(|stray| stray.written)
    }

    /// Whether accesses of an object are no events, since before permits anything there.
    #[inline]
    pub(super) fn is_left_open(&self, access: &Access) -> bool {
        if self.dispatch.open.is_empty() || access.volatile {
            return false;
        }
        let object = self.dispatch.objects.get(access.object as usize);
        object.is_some_and(|object| self.dispatch.open.contains(&object.memory))
    }

    /// Makes bytes undefined where the instruction may read or write anything.
    #[inline]
    pub(super) fn blur(&self, bytes: &mut [Byte]) {
        if self.state.uncertain {
            bytes.fill(Byte::Undef);
        }
    }

    /// Whether a read inside of a buffer is told as one outside, because it is near one that is. Where values are not
    /// told one by one it takes place, and what it gives is undefined.
    #[inline]
    pub(super) fn counts_as_outside(&mut self, pointer: Pointer, size: u32) -> bool {
        let Some(robustness) = &self.dispatch.robustness else { return false };
        if robustness.strays.is_empty() || !self.is_checked(pointer) {
            return false;
        }
        let Some((robustness, space)) = self.first_version(pointer) else { return false };
        let stray = robustness.strays.get(&space).copied().unwrap_or_default();
        let end = pointer.offset.saturating_add(size);
        if pointer.offset >= stray.low && stray.high.is_none_or(|high| end <= high) {
            return false;
        }
        let is_listed = robustness.reads == OutsideReads::Listed
            && robustness.unwritten.contains(&space)
            && !stray.written;
        if !is_listed {
            self.state.uncertain = true;
            self.memory.note_outside(Outside::Open);
        }
        is_listed
    }

    /// What a read outside of a buffer gives, where the invocation last wrote `own` there; the same for one that may
    /// count as outside.
    pub(super) fn load_astray(
        &mut self,
        pointer: Pointer,
        shape: &Shape,
        own: Option<Bytes>,
        line: Line,
    ) -> Result<Components, Box<Stop>> {
        self.note_stray_read(pointer, shape.size);
        if let Some(own) = own {
            if self.choose(2, line)? != 0 {
                return Ok(components_of(shape, &own));
            }
        }
        let Some((robustness, space)) = self.first_version(pointer) else {
            return Ok(components_of(shape, &[]));
        };
        let (reads, exhaustive) = (robustness.reads, robustness.exhaustive);
        let known = robustness.unwritten.contains(&space) && !self.may_be_overwritten(pointer.object);
        let is_listed = known && reads == OutsideReads::Listed;
        match (reads, is_listed.then(|| self.candidates(shape, space)).flatten()) {
            (OutsideReads::Zero, _) => Ok(components_of(shape, &[])),
            (OutsideReads::Listed, Some((candidates, ways))) => {
                self.memory.note_outside(Outside::Listed);
                let mut components = components_of(shape, &[]);
                for (component, candidates) in components.iter_mut().zip(&candidates) {
                    let way = self.choose(candidates.len() as u32, line)?;
                    *component = candidates.get(way as usize).copied().unwrap_or_default();
                }
                self.state.done_outside.ways = ways;
                Ok(components)
            }
            (OutsideReads::Listed | OutsideReads::Undefined, _) => {
                self.memory.note_outside(Outside::Open);
                let undefined = vec![Byte::Undef; if exhaustive { shape.size as usize } else { 0 }];
                Ok(components_of(shape, &undefined))
            }
        }
    }

    /// Tells which reads may count as outside because this one is.
    fn note_stray_read(&mut self, pointer: Pointer, size: u32) {
        if !self.is_outside(pointer, size) {
            return;
        }
        let end = self.memory.size(pointer.object);
        let Some((robustness, space)) = self.first_version(pointer) else { return };
        if !robustness.exhaustive {
            return;
        }
        let start = pointer.offset.cast_signed();
        // The last byte below the buffer, or the first byte of the access.
        let stray = if start < 0 {
            let last = start.saturating_add(size.cast_signed()).min(0).saturating_sub(1);
            let low = last.saturating_add(NEAR.cast_signed()).max(0).cast_unsigned();
            Stray { read: true, low, ..Stray::default() }
        } else {
            let high = pointer.offset.saturating_add(1).saturating_sub(NEAR);
            Stray { read: true, high: (high < end).then_some(high), ..Stray::default() }
        };
        let known = robustness.strays.get(&space).copied().unwrap_or_default();
        if known.and(stray) != known {
            self.memory.note_outside(Outside::Stray(space, stray));
        }
    }

    /// What each component of a read outside may be, zero first, and in how many ways the invocation's reads may go
    /// then; `None` where they are too many, or not known.
    fn candidates(&self, shape: &Shape, space: u32) -> Option<(Vec<Vec<Scalar>>, u32)> {
        let exhaustive = self.dispatch.robustness.as_ref()?.exhaustive;
        let mut ways = self.state.done_outside.ways.max(1);
        let mut all = Vec::new();
        for (number, leaf) in shape.leaves.iter().enumerate() {
            let mut values = self.values_in(space, *leaf)?;
            if exhaustive && number == 3 && shape.leaves.len() == 4 {
                values.extend(LAST_COMPONENTS.map(u64::from));
            }
            values.remove(&0);
            let candidates: Vec<Scalar> = std::iter::once(0).chain(values).map(Scalar::new).collect();
            ways = ways.checked_mul(candidates.len() as u32).filter(|ways| *ways <= MAX_WAYS)?;
            all.push(candidates);
        }
        Some((all, ways))
    }

    /// The values of a component's size that a location space holds from the start; `None` where some are undefined,
    /// or very many.
    fn values_in(&self, space: u32, leaf: Leaf) -> Option<BTreeSet<u64>> {
        let bytes = match leaf.kind {
            LeafKind::Number(bytes) => u32::from(bytes),
            LeafKind::Bool | LeafKind::PointerHalf | LeafKind::PhysicalTag => return None,
        };
        let mut values = BTreeSet::new();
        for object in self.dispatch.objects.iter().filter(|object| object.memory == space) {
            for window in object.initial.windows(bytes as usize).step_by(bytes.min(WORD) as usize) {
                let mut value = 0;
                for (number, byte) in window.iter().enumerate() {
                    let Byte::Known(byte) = byte else { return None };
                    value |= u64::from(*byte) << (8 * number);
                }
                values.insert(value);
                if values.len() > MAX_WAYS as usize {
                    return None;
                }
            }
        }
        Some(values)
    }
}

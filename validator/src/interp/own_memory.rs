//! The memory of one invocation that nobody else can reach: Function, Private, Input and Output
//! variables. Undefinedness is kept per bit, so that a value is the same after a round trip
//! through a variable.

use std::hash::{Hash, Hasher};

use crate::ir::{LeafKind, Shape};
use crate::value::{mask, Byte, Scalar};

/// Objects one after the other, created and released like a stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OwnMemory {
    /// Start and size of each object in bytes.
    objects: Vec<(u32, u32)>,
    /// The bytes' values; undefined bits are 0.
    bits: Vec<u8>,
    /// The bytes' undefined bits.
    undef: Vec<u8>,
}

impl OwnMemory {
    /// Adds an object of undefined bytes; returns its number.
    pub(super) fn create(&mut self, size: u32) -> u32 {
        let number = self.objects.len() as u32;
        let start = self.bits.len();
        self.objects.push((start as u32, size));
        self.bits.resize(start + size as usize, 0);
        self.undef.resize(start + size as usize, u8::MAX);
        number
    }

    /// The byte behind the last object.
    pub(super) fn end(&self) -> u32 {
        self.bits.len() as u32
    }

    /// Number of objects.
    pub(super) fn count(&self) -> u32 {
        self.objects.len() as u32
    }

    /// Releases the objects from `count` on.
    pub(super) fn release(&mut self, count: u32) {
        if let Some((start, _)) = self.objects.get(count as usize) {
            self.bits.truncate(*start as usize);
            self.undef.truncate(*start as usize);
            self.objects.truncate(count as usize);
        }
    }

    /// Feeds a hasher what the objects hold, but for those of which only the size counts.
    pub(super) fn hash_but(&self, dead: &[u32], hasher: &mut impl Hasher) {
        self.objects.hash(hasher);
        let mut dead = dead.iter().peekable();
        for (number, (start, size)) in (0..).zip(&self.objects) {
            while dead.next_if(|dead| **dead < number).is_some() {}
            if dead.peek() != Some(&&number) {
                let range = *start as usize..(*start + *size) as usize;
                self.bits[range.clone()].hash(hasher);
                self.undef[range].hash(hasher);
            }
        }
    }

    /// Where both differ: the number of an object that holds something else, but for these (ascending); the number behind
    /// the last one where the objects themselves differ. The object `likely` is looked at first.
    pub(super) fn difference(&self, dead: &[u32], other: &OwnMemory, likely: u32) -> Option<u32> {
        if self.objects != other.objects {
            return Some(self.count());
        }
        let holds_other = |number: u32| {
            self.objects.get(number as usize).is_some_and(|(start, size)| {
                let range = *start as usize..(*start + *size) as usize;
                self.bits[range.clone()] != other.bits[range.clone()]
                    || self.undef[range.clone()] != other.undef[range]
            })
        };
        let is_dead = |number: u32| dead.binary_search(&number).is_ok();
        std::iter::once(likely)
            .chain(0..self.count())
            .find(|number| !is_dead(*number) && holds_other(*number))
    }

    /// Makes an object undefined.
    pub(super) fn forget(&mut self, object: u32) {
        if let Some((start, size)) = self.objects.get(object as usize) {
            let range = *start as usize..(*start + *size) as usize;
            self.bits[range.clone()].fill(0);
            self.undef[range].fill(u8::MAX);
        }
    }

    /// The number in two words of an object, the upper one first; `None` where it is undefined.
    pub(super) fn count_of(&self, object: u32) -> Option<u64> {
        let address = self.locate(object, 0, 8)?;
        let [upper, lower] = [0, 4].map(|offset| self.load(address, offset, LeafKind::Number(4)));
        (upper.is_defined() && lower.is_defined()).then_some(upper.bits << 32 | lower.bits)
    }

    /// Sets what [`OwnMemory::count_of`] gives.
    pub(super) fn set_count(&mut self, object: u32, count: u64) {
        let Some(address) = self.locate(object, 0, 8) else { return };
        for (offset, word) in [(0, count >> 32), (4, count & mask(32))] {
            self.store(address, offset, LeafKind::Number(4), Scalar::new(word));
        }
    }

    /// Size of an object; 0 if there is none of that number (any more).
    pub(super) fn size(&self, object: u32) -> u32 {
        self.objects.get(object as usize).map_or(0, |(_, size)| *size)
    }

    /// Where `size` bytes of an object lie; `None` if they are not all inside.
    pub(super) fn locate(&self, object: u32, offset: u32, size: u32) -> Option<OwnAddress> {
        let (start, object_size) = *self.objects.get(object as usize)?;
        let end = offset.checked_add(size)?;
        (end <= object_size).then_some(OwnAddress(start + offset))
    }

    /// Reads a component.
    #[inline]
    pub(super) fn load(&self, address: OwnAddress, offset: u32, kind: LeafKind) -> Scalar {
        let start = (address.0 + offset) as usize;
        let end = start + kind.bytes() as usize;
        let number = |bytes: &[u8]| match <[u8; 4]>::try_from(bytes) {
            Ok(word) => u64::from(u32::from_le_bytes(word)),
            Err(_) => bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        };
        let bits = number(&self.bits[start..end]);
        let undef = number(&self.undef[start..end]);
        match kind {
            LeafKind::Bool if undef != 0 => Scalar::undefined(1),
            LeafKind::Bool => Scalar::new(u64::from(bits != 0)),
            LeafKind::Number(_) | LeafKind::PointerHalf | LeafKind::PhysicalTag => Scalar { bits, undef },
        }
    }

    /// Writes a component.
    #[inline]
    pub(super) fn store(&mut self, address: OwnAddress, offset: u32, kind: LeafKind, value: Scalar) {
        let start = (address.0 + offset) as usize;
        let size = kind.bytes() as usize;
        self.bits[start..start + size].copy_from_slice(&value.bits.to_le_bytes()[..size]);
        self.undef[start..start + size].copy_from_slice(&value.undef.to_le_bytes()[..size]);
    }

    /// Fills an object with components.
    pub(super) fn initialize(&mut self, object: u32, shape: &Shape, value: impl Fn(u32) -> Scalar) {
        if let Some(address) = self.locate(object, 0, shape.size) {
            for (index, leaf) in (0..).zip(&shape.leaves) {
                self.store(address, leaf.offset, leaf.kind, value(index));
            }
        }
    }

    /// Fills an object with bytes; those that it lacks stay undefined.
    pub(super) fn fill(&mut self, object: u32, bytes: &[Byte]) {
        let Some((start, size)) = self.objects.get(object as usize) else { return };
        let range = *start as usize..(*start + *size) as usize;
        let places = self.bits[range.clone()].iter_mut().zip(&mut self.undef[range]);
        for ((bits, undef), byte) in places.zip(bytes) {
            (*bits, *undef) = match byte {
                Byte::Known(value) => (*value, 0),
                Byte::Undef => (0, u8::MAX),
            };
        }
    }

    /// The bytes of an object; a byte with an undefined bit is undefined.
    pub(super) fn bytes(&self, object: u32) -> Vec<Byte> {
        let Some((start, size)) = self.objects.get(object as usize) else { return Vec::new() };
        let range = *start as usize..(*start + *size) as usize;
        let pairs = self.bits[range.clone()].iter().zip(&self.undef[range]);
        pairs.map(|(bits, undef)| if *undef == 0 { Byte::Known(*bits) } else { Byte::Undef }).collect()
    }
}

/// A place in [`OwnMemory`], checked against its object's bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnAddress(u32);

impl OwnAddress {
    /// The byte, counted over all objects.
    pub(super) const fn byte(self) -> u32 {
        self.0
    }
}

/// A component from its bytes in shared memory.
pub(super) fn from_bytes(kind: LeafKind, bytes: &[Byte]) -> Scalar {
    let mut value = Scalar::default();
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            Byte::Known(byte) => value.bits |= u64::from(*byte) << (8 * index),
            Byte::Undef => value.undef |= 0xff << (8 * index),
        }
    }
    match kind {
        LeafKind::Bool if !value.is_defined() => Scalar::undefined(1),
        LeafKind::Bool => Scalar::new(u64::from(value.bits != 0)),
        LeafKind::Number(_) | LeafKind::PointerHalf | LeafKind::PhysicalTag => value,
    }
}

/// The bytes of a component in shared memory, where a byte is defined as a whole or not at all.
pub(super) fn to_bytes(kind: LeafKind, value: Scalar, bytes: &mut [Byte]) {
    let undef = match kind {
        LeafKind::Bool if !value.is_defined() => mask(32),
        LeafKind::Bool | LeafKind::Number(_) | LeafKind::PointerHalf | LeafKind::PhysicalTag => value.undef,
    };
    for (index, byte) in bytes.iter_mut().enumerate() {
        let shift = 8 * index;
        *byte =
            if undef >> shift & 0xff == 0 { Byte::Known((value.bits >> shift) as u8) } else { Byte::Undef };
    }
}

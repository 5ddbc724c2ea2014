//! Accesses of shared memory: which bytes, and with what properties in the memory model.
//!
//! In Vulkan modules the instruction's memory operands say it all. GLSL450 and Simple modules have
//! decorations: a Coherent (or Volatile) access, and every access of Workgroup memory, is non-private
//! and is made available and visible, at the scope of a queue family or the workgroup; others are
//! private (docs/semantics.md, section 4.5).

use smallvec::{smallvec, SmallVec};

use super::machine::{fault, Components, Machine};
use super::memory::{outside, Target};
use super::own_memory::{from_bytes, to_bytes};
use super::{Pointer, Stop};
use crate::event::{Access, Ranges, Scope, StorageClass, UndefinedKind};
use crate::ir::{Leaf, Line, MemoryModel, MemoryOperands, Shape};
use crate::value::{Byte, Scalar};

/// Bytes of an access on their way.
pub(super) type Bytes = SmallVec<[Byte; 16]>;

/// A checked access.
pub(super) struct AccessPlan {
    pub(super) access: Access,
    total: u32,
}

impl AccessPlan {
    /// Room for the bytes of the ranges.
    pub(super) fn buffer(&self) -> Bytes {
        smallvec![Byte::Undef; self.total as usize]
    }
}

/// How an access behaves in the memory model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Coherence {
    pub(super) non_private: bool,
    pub(super) available: Option<Scope>,
    pub(super) visible: Option<Scope>,
}

/// Visits the leaves of a shape in the order of their bytes, each with its component's number.
#[inline]
fn for_each_by_offset(shape: &Shape, mut visit: impl FnMut(usize, Leaf)) {
    if shape.leaves.is_sorted_by_key(|leaf| leaf.offset) {
        for (component, leaf) in shape.leaves.iter().enumerate() {
            visit(component, *leaf);
        }
        return;
    }
    // Row-major matrices are out of order.
    let mut leaves: SmallVec<[(usize, Leaf); 16]> = shape.leaves.iter().copied().enumerate().collect();
    leaves.sort_by_key(|(_, leaf)| leaf.offset);
    leaves.into_iter().for_each(|(component, leaf)| visit(component, leaf));
}

/// The byte ranges of a shape at an offset; neighbours are joined.
fn ranges(shape: &Shape, offset: u32) -> Ranges {
    let mut ranges = Ranges::new();
    for_each_by_offset(shape, |_, leaf| {
        let (start, length) = (offset + leaf.offset, leaf.kind.bytes());
        match ranges.last_mut() {
            Some((last, last_length)) if *last + *last_length == start => *last_length += length,
            _ => ranges.push((start, length)),
        }
    });
    ranges
}

/// The components of a shape from the bytes of its ranges.
pub(super) fn components_of(shape: &Shape, bytes: &[Byte]) -> Components {
    let mut components = Components::from_elem(Scalar::default(), shape.leaves.len());
    set_components(shape, bytes, &mut components);
    components
}

/// Sets the components of a shape from the bytes of its ranges.
pub(super) fn set_components(shape: &Shape, bytes: &[Byte], components: &mut [Scalar]) {
    let mut rest = bytes;
    for_each_by_offset(shape, |component, leaf| {
        let (leaf_bytes, behind) = rest.split_at((leaf.kind.bytes() as usize).min(rest.len()));
        components[component] = from_bytes(leaf.kind, leaf_bytes);
        rest = behind;
    });
}

/// The bytes of a shape's ranges from its components.
pub(super) fn bytes_of(shape: &Shape, components: &[Scalar], bytes: &mut [Byte]) {
    let mut rest = bytes;
    for_each_by_offset(shape, |component, leaf| {
        let length = (leaf.kind.bytes() as usize).min(rest.len());
        let (leaf_bytes, behind) = std::mem::take(&mut rest).split_at_mut(length);
        to_bytes(leaf.kind, components[component], leaf_bytes);
        rest = behind;
    });
}

/// Whether the module fixes where the parts of an object of this class lie. Elsewhere the layout is
/// ours, and alignments that the module promises say nothing about it.
const fn has_explicit_layout(class: StorageClass) -> bool {
    match class {
        StorageClass::Uniform
        | StorageClass::PushConstant
        | StorageClass::StorageBuffer
        | StorageClass::PhysicalStorageBuffer => true,
        StorageClass::UniformConstant
        | StorageClass::Input
        | StorageClass::Output
        | StorageClass::Workgroup
        | StorageClass::CrossWorkgroup
        | StorageClass::Private
        | StorageClass::Function
        | StorageClass::AtomicCounter
        | StorageClass::Image => false,
    }
}

impl Machine<'_> {
    /// Checks an access of a shared object and says what it is.
    pub(super) fn plan(
        &self,
        pointer: Pointer,
        target: Target,
        shape: &Shape,
        write: bool,
        line: Line,
    ) -> Result<AccessPlan, Box<Stop>> {
        let object_size = self.memory.size(pointer.object);
        if u64::from(pointer.offset) + u64::from(shape.size) > u64::from(object_size) {
            return Err(outside(pointer.offset, shape.size, object_size, line));
        }
        self.check_qualifiers(pointer, write, line)?;
        if has_explicit_layout(target.class) {
            check_alignment(pointer.offset, target.operands.aligned, shape, line)?;
        }
        let coherence = self.coherence(pointer, target.class, &target.operands, write);
        let access = Access {
            object: pointer.object,
            declaration: self.state.names.root(pointer.declaration),
            ranges: ranges(shape, pointer.offset),
            class: target.class,
            non_private: coherence.non_private,
            available: coherence.available,
            visible: coherence.visible,
            volatile: target.operands.volatile || pointer.decorations.volatile,
            aliased: pointer.decorations.aliased,
            inst: self.state.frame.instruction(),
            line,
        };
        let total = access.ranges.iter().map(|(_, length)| length).sum();
        Ok(AccessPlan { access, total })
    }

    /// How an access through this pointer behaves in the memory model.
    pub(super) fn coherence(
        &self,
        pointer: Pointer,
        class: StorageClass,
        operands: &MemoryOperands,
        write: bool,
    ) -> Coherence {
        let everywhere = |scope: Scope| Coherence {
            non_private: true,
            available: write.then_some(scope),
            visible: (!write).then_some(scope),
        };
        match self.program.memory_model {
            MemoryModel::Vulkan => Coherence {
                non_private: operands.non_private,
                available: operands.make_available.filter(|_| write),
                visible: operands.make_visible.filter(|_| !write),
            },
            MemoryModel::Simple | MemoryModel::Glsl450 => {
                let decorations = pointer.decorations;
                if class == StorageClass::Workgroup {
                    everywhere(Scope::Workgroup)
                } else if decorations.coherent
                    || decorations.volatile
                    || operands.volatile
                    || self.dispatch.legacy_coherent
                {
                    everywhere(Scope::QueueFamily)
                } else {
                    Coherence::default()
                }
            }
            // OpenCL has no private accesses and no availability: memory is coherent.
            MemoryModel::OpenCl => everywhere(Scope::CrossDevice),
        }
    }

    /// What decorations, or the object itself, forbid.
    pub(super) fn check_qualifiers(
        &self,
        pointer: Pointer,
        write: bool,
        line: Line,
    ) -> Result<(), Box<Stop>> {
        let decorations = pointer.decorations;
        if write && decorations.non_writable {
            let detail = "a write goes to memory that is decorated NonWritable";
            return Err(fault(UndefinedKind::NonWritable, line, detail));
        }
        let object = self.dispatch.objects.get(pointer.object as usize);
        if write && object.is_some_and(|object| object.constant) {
            let detail = "a write goes to read-only memory";
            return Err(fault(UndefinedKind::NonWritable, line, detail));
        }
        if !write && decorations.non_readable {
            let detail = "a read comes from memory that is decorated NonReadable";
            return Err(fault(UndefinedKind::NonReadable, line, detail));
        }
        Ok(())
    }

    /// A memory scope of an atomic or a barrier as the memory model reads it.
    pub(super) fn memory_scope(&self, scope: Scope) -> Scope {
        self.program.memory_model.memory_scope(scope)
    }
}

/// Objects begin at addresses that satisfy every alignment.
fn check_alignment(offset: u32, aligned: Option<u32>, shape: &Shape, line: Line) -> Result<(), Box<Stop>> {
    if let Some(alignment) = aligned {
        if offset.checked_rem(alignment) != Some(0) {
            let detail = format!("byte {offset} of the object is not aligned to {alignment}");
            return Err(fault(UndefinedKind::Misaligned, line, detail));
        }
    }
    let misplaced =
        shape.leaves.iter().find(|leaf| !(offset + leaf.offset).is_multiple_of(leaf.kind.alignment()));
    match misplaced {
        Some(leaf) => {
            let (offset, bytes) = (offset + leaf.offset, leaf.kind.bytes());
            let detail = format!("a component of {bytes} bytes lies at byte {offset} of the object");
            Err(fault(UndefinedKind::Misaligned, line, detail))
        }
        None => Ok(()),
    }
}

//! Image instructions (SPIR-V specification 3.3.10; Vulkan, "Image Operations").
//!
//! Without robust access: a read of a texel that the image does not have gives an undefined value, a
//! write to one has no effect, and an atomic on one does both. Undefined coordinates read an undefined
//! value; a write to them is undefined behaviour, since it may go to any texel.

mod codec;
mod cube;
mod level;
mod lookup;
mod sample;
#[cfg(test)]
mod tests;
mod within;

use smallvec::SmallVec;

use super::access::Bytes;
use super::invocation::Copied;
use super::machine::{fault, Components, Machine, Step};
use super::{Invocation, Outside, Pointer, Stop};
use crate::event::{Access, Ranges, StorageClass, UndefinedKind};
use crate::ir::image::{Dim, ImageAction, ImageLayout, ImageOp, Offset, Position, Sampler};
use crate::ir::{Line, MemoryOperands, Operand};
use crate::value::{mask, Byte, Scalar};
pub(super) use codec::decode;
use codec::Texel;
pub(super) use level::sizes;
use lookup::Lookup;
pub(super) use lookup::{border_texel, compares};
pub(super) use sample::SUBTEXEL;
pub(super) use within::{Range, Texels, Whereabouts};

/// The bytes of a texel of these 32-bit components, for automatic inputs.
pub fn encode_texel(format: crate::ir::image::ImageFormat, components: [u32; 4]) -> Vec<Byte> {
    codec::encode(format, &components.map(|bits| Scalar::new(u64::from(bits)))).0.into_vec()
}

impl Machine<'_> {
    pub(super) fn image_op(&mut self, op: &ImageOp, line: Line) -> Step {
        let pointer = self.resolve(op.image, line)?;
        let layout = self.layout(pointer, line)?;
        self.state.uncertain = false;
        match op.action {
            ImageAction::Read { count } => {
                let mut texel = [Scalar::undefined(u32::from(op.ty.width)); 4];
                if let Some(position) = self.texel_position(op, layout, line)? {
                    self.memory.touch_texel(pointer.object, position);
                    if let Some(outside) = self.texel_outside(op, pointer, layout, position, line)? {
                        texel = outside;
                    } else if let [read] =
                        self.read_texels(op, pointer, layout, &[layout.offset(position)], line)?[..]
                    {
                        texel = read;
                    }
                }
                self.set_components(op.dst, &texel, count);
            }
            ImageAction::Write { texel, count } => {
                return self.write_texel(op, pointer, layout, (texel, count), line)
            }
            ImageAction::TexelPointer { sample, bytes } => {
                self.texel_pointer(op, pointer, layout, (sample, bytes), line)?;
            }
            ImageAction::Sample { projective, reference, implicit, count } => {
                let lookup = self.sampled(op, layout, (projective, reference, implicit), line)?;
                self.state.lost |= lookup.is_none();
                let result = self.filtered(op, pointer, layout, lookup, line)?;
                self.set_components(op.dst, &result, count);
            }
            ImageAction::Gather { component, reference } => {
                let lookup = self.gathered(op, layout, reference, line)?;
                self.state.lost |= lookup.is_none();
                let result = self.gather(op, pointer, layout, (lookup, component), line)?;
                self.set_components(op.dst, &result, 4);
            }
            ImageAction::QuerySize { count } => {
                let level = match op.operands.lod {
                    Some((lod, width)) => self.integer(lod, width),
                    None => Some(0),
                };
                let size =
                    level.and_then(|level| u32::try_from(level).ok()).filter(|level| *level < layout.levels);
                let mut result = SmallVec::<[Scalar; 4]>::from_elem(Scalar::undefined(32), count as usize);
                if let Some(level) = size {
                    let extent = layout.level_extent(level);
                    let of_level = extent.into_iter().take(layout.dim.dimensions());
                    let elements = op.ty.arrayed.then_some(layout.layers / layout.dim.faces());
                    for (component, size) in result.iter_mut().zip(of_level.chain(elements)) {
                        *component = Scalar::new(u64::from(size));
                    }
                }
                self.set_all(op.dst, &result);
            }
            ImageAction::QueryLevels => self.state.set(op.dst, Scalar::new(u64::from(layout.levels))),
            ImageAction::QuerySamples => self.state.set(op.dst, Scalar::new(u64::from(layout.samples))),
            ImageAction::QueryLod => self.query_lod(op, layout, line)?,
        }
        self.state.advance();
        Ok(())
    }

    fn set_components(&mut self, dst: u32, texel: &Texel, count: u32) {
        self.set_all(dst, texel.get(..count as usize).unwrap_or(texel));
    }

    /// The image behind a handle.
    fn layout(&self, pointer: Pointer, line: Line) -> Result<ImageLayout, Box<Stop>> {
        let object = self.dispatch.objects.get(pointer.object as usize);
        object
            .and_then(|object| object.image)
            .ok_or_else(|| Box::new(Stop::Unsupported { line, what: "an image without data" }))
    }

    /// The sampler behind the second handle of a sampled image.
    pub(super) fn sampler(&self, op: &ImageOp, line: Line) -> Result<Sampler, Box<Stop>> {
        let pointer = self.resolve(op.image.offset(2), line)?;
        let object = self.dispatch.objects.get(pointer.object as usize);
        object
            .and_then(|object| object.sampler)
            .ok_or_else(|| Box::new(Stop::Unsupported { line, what: "an image without a sampler" }))
    }

    /// An integer of this many bits, as a signed one; `None` if it is undefined.
    fn integer(&self, operand: Operand, width: u8) -> Option<i64> {
        let value = self.value(operand);
        let unused = 64 - u32::from(width);
        value.is_defined().then_some(((value.bits << unused) as i64) >> unused)
    }

    /// The components of a constant or dynamic offset.
    pub(super) fn texel_offset(&self, offset: Offset, from: u32) -> Option<[i64; 3]> {
        let mut result = [0; 3];
        for (component, place) in (0..offset.count).zip(&mut result) {
            *place = self.integer(offset.first.offset(from + component), offset.width)?;
        }
        Some(result)
    }

    /// The layout of an image, and the first byte of the texel that the instruction reads or writes; `None` where
    /// there is no such texel.
    pub(super) fn texel_at(&self, op: &ImageOp, image: Pointer, line: Line) -> Option<(ImageLayout, u32)> {
        let layout = self.layout(image, line).ok()?;
        let position = self.position_of(op, layout, line).ok()??;
        Some((layout, layout.offset(position)?))
    }

    /// The texel that integer coordinates name; `None` if any of them is undefined.
    fn texel_position(
        &mut self,
        op: &ImageOp,
        layout: ImageLayout,
        line: Line,
    ) -> Result<Option<Position>, Box<Stop>> {
        let position = self.position_of(op, layout, line)?;
        self.state.lost |= position.is_none();
        Ok(position)
    }

    fn position_of(
        &self,
        op: &ImageOp,
        layout: ImageLayout,
        line: Line,
    ) -> Result<Option<Position>, Box<Stop>> {
        let Some(coordinate) = op.coordinate.filter(|coordinate| !coordinate.float) else {
            return Err(Box::new(Stop::Unsupported { line, what: "texel coordinates of this type" }));
        };
        let mut numbers = SmallVec::<[i64; 4]>::new();
        for component in 0..coordinate.count {
            match self.integer(coordinate.first.offset(component), coordinate.width) {
                Some(number) => numbers.push(number),
                None => return Ok(None),
            }
        }
        let mut position = Position::default();
        let dimensions = layout.dim.dimensions();
        for (place, number) in position.at.iter_mut().zip(numbers.iter().take(dimensions)) {
            *place = *number;
        }
        // Without a sampler, the faces of a cube are layers.
        position.layer = numbers.get(dimensions).copied().unwrap_or(0);
        if let Some(offset) = op.operands.offset {
            let Some(offset) = self.texel_offset(offset, 0) else { return Ok(None) };
            position.at.iter_mut().zip(offset).for_each(|(at, by)| *at = at.saturating_add(by));
        }
        for (operand, place) in [
            (op.operands.lod, &mut position.level),
            (op.operands.sample.map(|sample| (sample, 32)), &mut position.sample),
        ] {
            if let Some((operand, width)) = operand {
                let Some(number) = self.integer(operand, width) else { return Ok(None) };
                *place = number;
            }
        }
        Ok(Some(position))
    }

    /// What robust access gives for a texel that the image does not have (Vulkan, "Texel Replacement"); `None` for one
    /// that it has, and where nothing is said: of a level or a sample that it lacks, or without robust access.
    fn texel_outside(
        &mut self,
        op: &ImageOp,
        pointer: Pointer,
        layout: ImageLayout,
        position: Position,
        line: Line,
    ) -> Result<Option<Texel>, Box<Stop>> {
        let Some(robustness) = &self.dispatch.robustness else { return Ok(None) };
        let is_there = (0..i64::from(layout.levels)).contains(&position.level)
            && (0..i64::from(layout.samples)).contains(&position.sample);
        if !is_there || layout.offset(position).is_some() {
            return Ok(None);
        }
        // Zeros, and what replaces the components that the format lacks.
        let mut texel = codec::decode(layout.format, &[], op.ty.width, op.operands.extend);
        if robustness.second {
            return Ok(Some(texel));
        }
        if layout.dim == Dim::Buffer {
            // As of any buffer, but not told value by value.
            let exhaustive = robustness.exhaustive;
            self.note_stray_texel_read(pointer);
            self.memory.note_outside(Outside::Open);
            return Ok(Some(match exhaustive {
                true => [Scalar::undefined(u32::from(op.ty.width)); 4],
                false => texel,
            }));
        }
        if self.choose(2, line)? != 0 {
            let other = if texel[3].bits == 0 { codec::one(layout.format) } else { Scalar::new(0) };
            texel[3] = other;
        }
        Ok(Some(texel))
    }

    /// An access of these bytes of an image.
    fn image_access(
        &self,
        pointer: Pointer,
        operands: &MemoryOperands,
        ranges: Ranges,
        write: bool,
        line: Line,
    ) -> Result<Access, Box<Stop>> {
        self.check_qualifiers(pointer, write, line)?;
        let coherence = self.coherence(pointer, StorageClass::Image, operands, write);
        Ok(Access {
            object: pointer.object,
            declaration: self.state.names.root(pointer.declaration),
            ranges,
            class: StorageClass::Image,
            non_private: coherence.non_private,
            available: coherence.available,
            visible: coherence.visible,
            volatile: operands.volatile || pointer.decorations.volatile,
            aliased: pointer.decorations.aliased,
            inst: self.state.frame.instruction(),
            line,
        })
    }

    /// Reads texels in one access; those without an offset are undefined.
    fn read_texels(
        &mut self,
        op: &ImageOp,
        pointer: Pointer,
        layout: ImageLayout,
        offsets: &[Option<u32>],
        line: Line,
    ) -> Result<SmallVec<[Texel; 8]>, Box<Stop>> {
        let size = layout.format.bytes();
        let mut distinct: SmallVec<[u32; 8]> = offsets.iter().copied().flatten().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let mut bytes = Bytes::new();
        if !distinct.is_empty() {
            bytes.resize(distinct.len() * size as usize, Byte::Undef);
            match self.state.copied.take() {
                Some(read) => bytes.iter_mut().zip(&read.0).for_each(|(byte, value)| *byte = to_byte(*value)),
                None => {
                    let mut ranges = Ranges::new();
                    for offset in &distinct {
                        match ranges.last_mut() {
                            Some((start, length)) if *start + *length == *offset => *length += size,
                            _ => ranges.push((*offset, size)),
                        }
                    }
                    let access = self.image_access(pointer, &op.operands.memory, ranges, false, line)?;
                    for (offset, length) in &access.ranges {
                        self.name_bytes(Pointer { offset: *offset, ..pointer }, *length, false, line)?;
                    }
                    self.state.effects += u64::from(access.volatile);
                    self.state.uncertain = self.reads_astray(pointer);
                    if !self.is_left_open(&access) && !self.memory.read(&access, None, &mut bytes) {
                        return Err(Box::new(Stop::Read(access)));
                    }
                    self.blur(&mut bytes);
                }
            }
        }
        let width = op.ty.width;
        let texel = |offset: &Option<u32>| {
            let place = offset.and_then(|offset| distinct.binary_search(&offset).ok());
            let found = place.and_then(|place| bytes.get(place * size as usize..(place + 1) * size as usize));
            match found {
                Some(bytes) => codec::decode(layout.format, bytes, width, op.operands.extend),
                None => [Scalar::undefined(u32::from(width)); 4],
            }
        };
        Ok(offsets.iter().map(texel).collect())
    }

    fn write_texel(
        &mut self,
        op: &ImageOp,
        pointer: Pointer,
        layout: ImageLayout,
        (texel, count): (Operand, u32),
        line: Line,
    ) -> Step {
        self.state.effects += 1;
        self.check_qualifiers(pointer, true, line)?;
        let Some(position) = self.texel_position(op, layout, line)? else {
            let detail = "the coordinates of a texel that is written are undefined";
            return Err(fault(UndefinedKind::UndefinedAddress, line, detail));
        };
        self.memory.touch_texel(pointer.object, position);
        let Some(offset) = layout.offset(position) else {
            if layout.dim == Dim::Buffer && !self.state.helper {
                self.note_stray_write(pointer);
            }
            self.state.advance();
            return Ok(());
        };
        let mut components = [Scalar::undefined(u32::from(op.ty.width)); 4];
        for (number, component) in (0..count).zip(&mut components) {
            *component = self.value(texel.offset(number));
        }
        let (mut bytes, exact) = codec::encode(layout.format, &components);
        self.state.uncertain = self.may_be_overwritten(pointer.object);
        self.blur(&mut bytes);
        if !exact {
            self.note_here();
        }
        let ranges = Ranges::from_elem((offset, layout.format.bytes()), 1);
        let access = self.image_access(pointer, &op.operands.memory, ranges, true, line)?;
        self.name_bytes(Pointer { offset, ..pointer }, layout.format.bytes(), true, line)?;
        self.state.advance();
        if self.state.helper || self.is_left_open(&access) {
            return Ok(());
        }
        let written = self.memory.write(&access, None, &bytes);
        if self.settle(written) {
            return Ok(());
        }
        Err(Box::new(Stop::Write(access, bytes.into_vec())))
    }

    /// OpImageTexelPointer: for atomics only. A texel that the image does not have is marked out of
    /// bounds.
    fn texel_pointer(
        &mut self,
        op: &ImageOp,
        pointer: Pointer,
        layout: ImageLayout,
        (sample, bytes): (Operand, u32),
        line: Line,
    ) -> Step {
        if layout.format.bytes() != bytes {
            return Err(Box::new(Stop::Unsupported { line, what: "an atomic on a texel of another size" }));
        }
        let position = self.texel_position(op, layout, line)?;
        let (Some(mut position), Some(sample)) = (position, self.integer(sample, 32)) else {
            self.set_all(op.dst, &[Scalar::undefined(64); 2]);
            return Ok(());
        };
        position.sample = sample;
        self.memory.touch_texel(pointer.object, position);
        let texel = match layout.offset(position) {
            Some(offset) => Pointer { offset, ..pointer },
            None => Pointer { out_of_bounds: true, ..pointer },
        };
        self.set_all(op.dst, &texel.encode());
        Ok(())
    }

    /// Reads the texels of a lookup and filters them.
    fn filtered(
        &mut self,
        op: &ImageOp,
        pointer: Pointer,
        layout: ImageLayout,
        lookup: Option<Lookup>,
        line: Line,
    ) -> Result<Texel, Box<Stop>> {
        let Some(lookup) = lookup else { return Ok([Scalar::undefined(u32::from(op.ty.width)); 4]) };
        let offsets: SmallVec<[Option<u32>; 8]> = lookup.taps.iter().map(|tap| tap.offset).collect();
        let texels = self.read_texels(op, pointer, layout, &offsets, line)?;
        let (result, exact) = lookup.filter(&texels, layout.format);
        if !exact {
            self.note_here();
        }
        Ok(result)
    }

    /// Reads four texels and takes one component of each.
    fn gather(
        &mut self,
        op: &ImageOp,
        pointer: Pointer,
        layout: ImageLayout,
        (lookup, component): (Option<Lookup>, Option<Operand>),
        line: Line,
    ) -> Result<Texel, Box<Stop>> {
        let undefined = [Scalar::undefined(u32::from(op.ty.width)); 4];
        let component = match component {
            Some(component) => self.integer(component, 32),
            None => Some(0),
        };
        let (Some(lookup), Some(component @ 0..=3)) = (lookup, component) else { return Ok(undefined) };
        let offsets: SmallVec<[Option<u32>; 8]> = lookup.taps.iter().map(|tap| tap.offset).collect();
        let texels = self.read_texels(op, pointer, layout, &offsets, line)?;
        if !lookup.exact {
            self.note_here();
        }
        let mut result = undefined;
        for (number, place) in result.iter_mut().enumerate() {
            if let Some(texel) = lookup.texel(number, &texels, layout.format) {
                *place = texel[component as usize];
            }
        }
        Ok(result)
    }
}

impl Invocation {
    /// Keeps the bytes that the image instruction waits for: it is started again.
    pub(super) fn supply_texels(&mut self, bytes: &[Byte]) {
        let scalars: Components = bytes.iter().map(|byte| from_byte(*byte)).collect();
        self.copied = Some(Box::new(Copied(scalars.into_vec())));
    }
}

fn from_byte(byte: Byte) -> Scalar {
    match byte {
        Byte::Known(value) => Scalar::new(u64::from(value)),
        Byte::Undef => Scalar::undefined(8),
    }
}

fn to_byte(value: Scalar) -> Byte {
    match value.is_defined() {
        true => Byte::Known((value.bits & mask(8)) as u8),
        false => Byte::Undef,
    }
}

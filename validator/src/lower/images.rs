//! Image types and instructions (SPIR-V specification 3.3.6, 3.3.10 and 3.14, "Image Operands").

use rspirv::spirv::{Dim as SpirvDim, ImageOperands as Mask, Op as Opcode};

use super::barriers::decode_scope;
use super::error::Problem;
use super::function::FunctionBuilder;
use super::types::{Kind, Type, TypeTable};
use super::values::{Value, Values};
use crate::event::StorageClass;
use crate::ir::image::{
    Coordinate, Dim, ImageAction, ImageFormat, ImageOp, ImageOperands, ImageType, Offset, TexelKind,
};
use crate::ir::{CompositeOp, Line, Op, Operand};
use crate::module::Instruction;

/// What OpTypeImage says.
pub(super) fn image_type(instruction: &Instruction, types: &TypeTable) -> Result<ImageType, Problem> {
    let line = instruction.line;
    let word = |position| {
        let missing = || Problem::invalid(line, "OpTypeImage lacks an operand");
        instruction.word(position).ok_or_else(missing)
    };
    let unsupported = |what: String| Err(Problem::unsupported(format!("OpTypeImage of {what}"), line));
    let dim = match SpirvDim::from_u32(word(1)?) {
        Some(SpirvDim::Dim1D) => Dim::One,
        Some(SpirvDim::Dim2D) => Dim::Two,
        Some(SpirvDim::Dim3D) => Dim::Three,
        Some(SpirvDim::DimCube) => Dim::Cube,
        Some(SpirvDim::DimRect) => Dim::Rect,
        Some(SpirvDim::DimBuffer) => Dim::Buffer,
        Some(other) => return unsupported(format!("{other:?}")),
        None => return unsupported(format!("dimension {}", word(1)?)),
    };
    let storage = match word(5)? {
        1 => false,
        2 => true,
        _ => return unsupported("unknown use (Sampled 0)".to_owned()),
    };
    let number = word(6)?;
    let format = ImageFormat::from_spirv(number);
    if format.is_none() && number != 0 {
        return unsupported(format!("format {number}"));
    }
    let sampled = word(0)?;
    if matches!(types.get(sampled, line)?, Type::Void) {
        return unsupported("void".to_owned());
    }
    let lanes = types.lanes(sampled, line)?;
    let texel = match (lanes.kind, lanes.width, lanes.count) {
        (Kind::Float, 32, 1) => TexelKind::Float,
        // Without a format, the type says the sign.
        (Kind::Int, 32 | 64, 1) => match format {
            Some(format) => format.kind(),
            None if types.is_signed(sampled) => TexelKind::Sint,
            None => TexelKind::Uint,
        },
        (_, width, _) => return unsupported(format!("{width}-bit components")),
    };
    let ty = ImageType {
        dim,
        arrayed: word(3)? != 0,
        multisampled: word(4)? != 0,
        storage,
        format,
        texel,
        width: lanes.width,
    };
    if !ty.accepts(ty.default_format()) || (lanes.kind == Kind::Float) != (texel == TexelKind::Float) {
        return Err(Problem::invalid(line, "the image's format does not fit its Sampled Type"));
    }
    Ok(ty)
}

/// The parts of an image instruction.
pub(super) struct Parts {
    pub action: ImageAction,
    pub image: Operand,
    pub ty: ImageType,
    pub coordinate: Option<Coordinate>,
    pub operands: ImageOperands,
}

impl FunctionBuilder<'_, '_> {
    /// Loads an image, sampler or sampled image: its handle is a pointer to its object.
    pub fn load_handle(
        &mut self,
        result: Value,
        pointer: Operand,
        instruction: &Instruction,
    ) -> Result<(), Problem> {
        let dst = result.operand.index();
        let op = match self.types().get(result.ty, instruction.line)? {
            Type::Image(_) | Type::Sampler => Op::Copy { dst, a: pointer, count: 2 },
            // A combined image sampler is both in one object.
            Type::SampledImage(_) => {
                Op::Composite(CompositeOp::Construct { dst, parts: vec![(pointer, 2), (pointer, 2)] })
            }
            _ => {
                let what = "OpLoad of several images or samplers at once";
                return Err(Problem::unsupported(what, instruction.line));
            }
        };
        self.emit(op, instruction);
        Ok(())
    }

    /// Lowers an image instruction; `None` if it is none.
    pub fn image(&mut self, opcode: Opcode, instruction: &Instruction) -> Option<Result<(), Problem>> {
        Some(match opcode {
            Opcode::SampledImage => self.sampled_image(instruction),
            Opcode::Image => self.image_of(instruction),
            Opcode::ImageTexelPointer => self.texel_pointer(instruction),
            Opcode::ImageRead | Opcode::ImageFetch => self.image_read(opcode, instruction),
            Opcode::ImageWrite => self.image_write(instruction),
            Opcode::ImageSampleImplicitLod => self.image_sample(instruction, true, false, false),
            Opcode::ImageSampleExplicitLod => self.image_sample(instruction, false, false, false),
            Opcode::ImageSampleDrefImplicitLod => self.image_sample(instruction, true, false, true),
            Opcode::ImageSampleDrefExplicitLod => self.image_sample(instruction, false, false, true),
            Opcode::ImageSampleProjImplicitLod => self.image_sample(instruction, true, true, false),
            Opcode::ImageSampleProjExplicitLod => self.image_sample(instruction, false, true, false),
            Opcode::ImageSampleProjDrefImplicitLod => self.image_sample(instruction, true, true, true),
            Opcode::ImageSampleProjDrefExplicitLod => self.image_sample(instruction, false, true, true),
            Opcode::ImageQueryLod if self.program.globals.fragment => self.query_lod(instruction),
            Opcode::ImageGather => self.image_gather(instruction, false),
            Opcode::ImageDrefGather => self.image_gather(instruction, true),
            Opcode::ImageQuerySize
            | Opcode::ImageQuerySizeLod
            | Opcode::ImageQueryLevels
            | Opcode::ImageQuerySamples => self.image_query(opcode, instruction),
            _ => return None,
        })
    }

    /// The handles of image and sampler, one after the other.
    fn sampled_image(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let result = self.result(instruction)?;
        let (image, sampler) = (self.operand(instruction, 0)?, self.operand(instruction, 1)?);
        let types = self.types();
        let line = instruction.line;
        match (types.get(result.ty, line)?, types.get(image.ty, line)?, types.get(sampler.ty, line)?) {
            (Type::SampledImage(wanted), Type::Image(found), Type::Sampler) if wanted == found => {}
            _ => {
                return Err(Problem::invalid(line, "OpSampledImage does not combine an image and a sampler"))
            }
        }
        let parts = vec![(image.operand, 2), (sampler.operand, 2)];
        self.emit(Op::Composite(CompositeOp::Construct { dst: result.operand.index(), parts }), instruction);
        Ok(())
    }

    /// OpImage: the image of a sampled image.
    fn image_of(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let result = self.result(instruction)?;
        let (sampled, _) = self.image_operand(instruction, true)?;
        self.emit(Op::Copy { dst: result.operand.index(), a: sampled, count: 2 }, instruction);
        Ok(())
    }

    /// The image or sampled image that the first operand is.
    pub(super) fn image_operand(
        &mut self,
        instruction: &Instruction,
        sampled: bool,
    ) -> Result<(Operand, ImageType), Problem> {
        let value = self.operand(instruction, 0)?;
        match (self.types().get(value.ty, instruction.line)?, sampled) {
            (Type::Image(ty), false) | (Type::SampledImage(ty), true) => Ok((value.operand, *ty)),
            _ => {
                let wanted = if sampled { "a sampled image" } else { "an image" };
                let message = format!("the operand of {} is not {wanted}", instruction.name());
                Err(Problem::invalid(instruction.line, message))
            }
        }
    }

    /// Texel coordinates at an operand position.
    fn coordinate(&mut self, instruction: &Instruction, position: usize) -> Result<Coordinate, Problem> {
        let value = self.operand(instruction, position)?;
        let lanes = self.types().lanes(value.ty, instruction.line)?;
        if lanes.kind == Kind::Bool {
            return Err(Problem::invalid(instruction.line, "coordinates are integers or floats"));
        }
        Ok(Coordinate {
            first: value.operand,
            count: lanes.count,
            width: lanes.width,
            float: lanes.kind == Kind::Float,
        })
    }

    /// Integer coordinates of a texel.
    fn texel_coordinate(&mut self, instruction: &Instruction, ty: ImageType) -> Result<Coordinate, Problem> {
        let coordinate = self.coordinate(instruction, 1)?;
        let layers = u32::from(ty.arrayed || ty.dim == Dim::Cube);
        if coordinate.float || coordinate.count < ty.dim.dimensions() as u32 + layers {
            let message = format!("{}: the coordinates do not fit the image", instruction.name());
            return Err(Problem::invalid(instruction.line, message));
        }
        Ok(coordinate)
    }

    /// Coordinates of a sampling instruction.
    pub(super) fn sample_coordinate(
        &mut self,
        instruction: &Instruction,
        ty: ImageType,
        projective: bool,
    ) -> Result<Coordinate, Problem> {
        let coordinate = self.coordinate(instruction, 1)?;
        if !coordinate.float {
            let what = format!("{} with integer coordinates", instruction.name());
            return Err(Problem::unsupported(what, instruction.line));
        }
        let directions = if ty.dim == Dim::Cube { 3 } else { ty.dim.dimensions() as u32 };
        if coordinate.count < directions + u32::from(ty.arrayed || projective) {
            let message = format!("{}: the coordinates do not fit the image", instruction.name());
            return Err(Problem::invalid(instruction.line, message));
        }
        Ok(coordinate)
    }

    pub(super) fn emit_image(&mut self, instruction: &Instruction, parts: Parts) -> Result<(), Problem> {
        let dst = match parts.action {
            ImageAction::Write { .. } => 0,
            _ => self.result(instruction)?.operand.index(),
        };
        let Parts { action, image, ty, coordinate, operands } = parts;
        let parts = match action {
            ImageAction::Read { .. } | ImageAction::Write { .. } => 1,
            // Image and sampler.
            ImageAction::Sample { .. } | ImageAction::Gather { .. } | ImageAction::QueryLod => 2,
            ImageAction::TexelPointer { .. }
            | ImageAction::QuerySize { .. }
            | ImageAction::QueryLevels
            | ImageAction::QuerySamples => 0,
        };
        for part in 0..parts {
            self.access_part(instruction, 0, image.offset(2 * part), part as usize);
        }
        self.emit(Op::Image(Box::new(ImageOp { action, dst, image, ty, coordinate, operands })), instruction);
        Ok(())
    }

    /// The number of components of the result, which are texel components.
    fn texel_result(&mut self, instruction: &Instruction, ty: ImageType) -> Result<u32, Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let lanes = self.types().lanes(result.ty, line)?;
        if lanes.width != ty.width || (lanes.kind == Kind::Float) != (ty.texel == TexelKind::Float) {
            let what = format!("{} with a result of another type than the image's", instruction.name());
            return Err(Problem::unsupported(what, line));
        }
        if lanes.count > 4 {
            return Err(Problem::invalid(line, "a texel has four components"));
        }
        Ok(lanes.count)
    }

    fn image_read(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        let (image, ty) = self.image_operand(instruction, false)?;
        if (opcode == Opcode::ImageRead) != ty.storage {
            let message = format!("{} of an image of the other kind", instruction.name());
            return Err(Problem::invalid(instruction.line, message));
        }
        let coordinate = Some(self.texel_coordinate(instruction, ty)?);
        let operands = self.image_operands(instruction, 2)?;
        let action = ImageAction::Read { count: self.texel_result(instruction, ty)? };
        self.emit_image(instruction, Parts { action, image, ty, coordinate, operands })
    }

    fn image_write(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let (image, ty) = self.image_operand(instruction, false)?;
        let coordinate = Some(self.texel_coordinate(instruction, ty)?);
        let texel = self.operand(instruction, 2)?;
        let lanes = self.types().lanes(texel.ty, line)?;
        if lanes.width != ty.width || (lanes.kind == Kind::Float) != (ty.texel == TexelKind::Float) {
            return Err(Problem::unsupported("OpImageWrite of another type than the image's", line));
        }
        let operands = self.image_operands(instruction, 3)?;
        let action = ImageAction::Write { texel: texel.operand, count: lanes.count.min(4) };
        self.emit_image(instruction, Parts { action, image, ty, coordinate, operands })
    }

    fn image_sample(
        &mut self,
        instruction: &Instruction,
        implicit: bool,
        projective: bool,
        compares: bool,
    ) -> Result<(), Problem> {
        let (image, ty) = self.image_operand(instruction, true)?;
        let coordinate = self.sample_coordinate(instruction, ty, projective)?;
        let reference = if compares { Some(self.reference(instruction)?) } else { None };
        let mut operands = self.image_operands(instruction, 2 + usize::from(compares))?;
        let count = self.texel_result(instruction, ty)?;
        if implicit && self.program.globals.fragment {
            operands.grad = Some(self.gradients(instruction, ty, coordinate, projective)?);
        }
        let action = ImageAction::Sample { projective, reference, implicit, count };
        self.emit_image(instruction, Parts { action, image, ty, coordinate: Some(coordinate), operands })
    }

    /// The value that depths are compared with.
    fn reference(&mut self, instruction: &Instruction) -> Result<Operand, Problem> {
        let (reference, lanes) = self.scalar(instruction, 2, Kind::Float)?;
        if lanes.width != 32 {
            return Err(Problem::invalid(instruction.line, "the reference value is a 32-bit float"));
        }
        Ok(reference.operand)
    }

    fn image_gather(&mut self, instruction: &Instruction, compares: bool) -> Result<(), Problem> {
        let (image, ty) = self.image_operand(instruction, true)?;
        let coordinate = Some(self.sample_coordinate(instruction, ty, false)?);
        let (component, reference) = if compares {
            (None, Some(self.reference(instruction)?))
        } else {
            (Some(self.scalar(instruction, 2, Kind::Int)?.0.operand), None)
        };
        let operands = self.image_operands(instruction, 3)?;
        if self.texel_result(instruction, ty)? != 4 {
            return Err(Problem::invalid(instruction.line, "a gather has four results"));
        }
        let action = ImageAction::Gather { component, reference };
        self.emit_image(instruction, Parts { action, image, ty, coordinate, operands })
    }

    fn image_query(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let (image, ty) = self.image_operand(instruction, false)?;
        let result = self.result(instruction)?;
        let lanes = self.types().lanes(result.ty, line)?;
        let mut operands = ImageOperands::default();
        let (action, wanted) = match opcode {
            Opcode::ImageQueryLevels => (ImageAction::QueryLevels, 1),
            Opcode::ImageQuerySamples => (ImageAction::QuerySamples, 1),
            _ => {
                if opcode == Opcode::ImageQuerySizeLod {
                    let (lod, lanes) = self.scalar(instruction, 1, Kind::Int)?;
                    operands.lod = Some((lod.operand, lanes.width));
                }
                let wanted = ty.dim.dimensions() as u32 + u32::from(ty.arrayed);
                (ImageAction::QuerySize { count: wanted }, wanted)
            }
        };
        if lanes.kind != Kind::Int || lanes.width != 32 || lanes.count != wanted {
            let message = format!("the result of {} does not fit the image", instruction.name());
            return Err(Problem::invalid(line, message));
        }
        self.emit_image(instruction, Parts { action, image, ty, coordinate: None, operands })
    }

    /// OpImageTexelPointer, whose first operand is a pointer to the image.
    fn texel_pointer(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let pointer = self.operand(instruction, 0)?;
        let (_, pointee) = self.types().pointer(pointer.ty, line)?;
        let ty = match self.types().get(pointee, line)? {
            Type::Image(ty) => *ty,
            _ => return Err(Problem::invalid(line, "OpImageTexelPointer does not point to an image")),
        };
        let (class, texel) = self.types().pointer(result.ty, line)?;
        let lanes = self.types().lanes(texel, line)?;
        if class != StorageClass::Image || lanes.count != 1 || lanes.width != ty.width {
            let message = "the result of OpImageTexelPointer is not a pointer to a component of the image";
            return Err(Problem::invalid(line, message));
        }
        let coordinate = Some(self.texel_coordinate(instruction, ty)?);
        let sample = self.scalar(instruction, 2, Kind::Int)?.0.operand;
        let action = ImageAction::TexelPointer { sample, bytes: u32::from(lanes.width / 8) };
        let operands = ImageOperands::default();
        self.emit_image(instruction, Parts { action, image: pointer.operand, ty, coordinate, operands })
    }

    /// Image operands from this position on.
    fn image_operands(
        &mut self,
        instruction: &Instruction,
        position: usize,
    ) -> Result<ImageOperands, Problem> {
        let line = instruction.line;
        let mut operands = ImageOperands::default();
        let Some(bits) = instruction.word(position) else { return Ok(operands) };
        let mask = Mask::from_bits_retain(bits);
        let mut next = position;
        let mut take = || {
            next += 1;
            next
        };
        // In the order of their bits.
        if mask.contains(Mask::BIAS) {
            operands.bias = Some(self.scalar(instruction, take(), Kind::Float)?.0.operand);
        }
        if mask.contains(Mask::LOD) {
            let value = self.operand(instruction, take())?;
            operands.lod = Some((value.operand, self.types().lanes(value.ty, line)?.width));
        }
        if mask.contains(Mask::GRAD) {
            let (dx, dy) = (self.operand(instruction, take())?, self.operand(instruction, take())?);
            operands.grad = Some((dx.operand, dy.operand, self.types().lanes(dx.ty, line)?.count));
        }
        for flag in [Mask::CONST_OFFSET, Mask::OFFSET] {
            if mask.contains(flag) {
                let value = self.operand(instruction, take())?;
                let lanes = self.types().lanes(value.ty, line)?;
                operands.offset =
                    Some(Offset { first: value.operand, count: lanes.count, width: lanes.width });
            }
        }
        if mask.contains(Mask::CONST_OFFSETS) {
            operands.offsets = Some(self.four_offsets(instruction, take())?);
        }
        if mask.contains(Mask::SAMPLE) {
            operands.sample = Some(self.scalar(instruction, take(), Kind::Int)?.0.operand);
        }
        if mask.contains(Mask::MIN_LOD) {
            operands.min_lod = Some(self.scalar(instruction, take(), Kind::Float)?.0.operand);
        }
        if mask.contains(Mask::MAKE_TEXEL_AVAILABLE) {
            operands.memory.make_available = Some(self.texel_scope(instruction, take(), line)?);
        }
        if mask.contains(Mask::MAKE_TEXEL_VISIBLE) {
            operands.memory.make_visible = Some(self.texel_scope(instruction, take(), line)?);
        }
        operands.memory.non_private = mask.contains(Mask::NON_PRIVATE_TEXEL);
        operands.memory.volatile = mask.contains(Mask::VOLATILE_TEXEL);
        operands.memory.nontemporal = mask.contains(Mask::NONTEMPORAL);
        operands.extend = match (mask.contains(Mask::SIGN_EXTEND), mask.contains(Mask::ZERO_EXTEND)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        };
        if mask.contains(Mask::OFFSETS) {
            return Err(Problem::unsupported("image operand Offsets", line));
        }
        let known = Mask::all();
        if !known.contains(mask) {
            let unknown = (mask & !known).bits();
            return Err(Problem::unsupported(format!("image operand {unknown:#x}"), line));
        }
        Ok(operands)
    }

    fn texel_scope(
        &self,
        instruction: &Instruction,
        position: usize,
        line: Line,
    ) -> Result<crate::event::Scope, Problem> {
        decode_scope(self.program.globals.integer(self.word(instruction, position)?, line)?, line)
    }

    /// ConstOffsets: an array of four vectors of two integers.
    fn four_offsets(&mut self, instruction: &Instruction, position: usize) -> Result<Offset, Problem> {
        let line = instruction.line;
        let value = self.operand(instruction, position)?;
        let invalid = || Problem::invalid(line, "ConstOffsets is an array of four vectors of two integers");
        let Type::Array { element, length: 4, .. } = *self.types().get(value.ty, line)? else {
            return Err(invalid());
        };
        let lanes = self.types().lanes(element, line)?;
        if lanes.kind != Kind::Int || lanes.count != 2 {
            return Err(invalid());
        }
        Ok(Offset { first: value.operand, count: 2, width: lanes.width })
    }
}

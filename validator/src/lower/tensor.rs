//! Tensor layouts and views (SPV_NV_tensor_addressing), and the loads and stores of cooperative matrices that go
//! by them (SPV_NV_cooperative_matrix2).

use rspirv::spirv::{Op as Opcode, TensorAddressingOperands, TensorClampMode};

use super::constants::ConstantTable;
use super::cooperative::strict;
use super::error::Problem;
use super::function::FunctionBuilder;
use super::layout::Placement;
use super::types::{Kind, Type, TypeTable};
use super::values::{Value, Values};
use crate::event::StorageClass;
use crate::ir::{
    Arrangement, Calls, ClampMode, CooperativeAccess, CooperativeOp, EachComponent, LayoutChange, LeafKind,
    Op, Operand, TensorAddress, TensorChange, TensorLayout, TensorOp, TensorView, Uniform, ViewChange,
    MAX_DIMENSIONS,
};
use crate::module::Instruction;

/// A type of tensor layouts or views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TensorType {
    Layout(TensorLayout),
    View(TensorView),
}

impl TensorType {
    /// Register components of a value.
    pub const fn size(self) -> u32 {
        match self {
            TensorType::Layout(layout) => layout.size(),
            TensorType::View(view) => view.size(),
        }
    }
}

/// The type that the instruction declares; `None` if it declares another.
pub(super) fn tensor_type(
    instruction: &Instruction,
    types: &TypeTable,
    constants: &ConstantTable,
) -> Result<Option<TensorType>, Problem> {
    let line = instruction.line;
    let integer = |position: usize| constants.integer(instruction.word(position).unwrap_or(0), types, line);
    let dimensions = || match integer(0)? {
        dimensions @ 1..=5 => Ok(dimensions as u32),
        other => Err(Problem::invalid(line, format!("a tensor has no {other} dimensions"))),
    };
    Ok(match instruction.op() {
        Some(Opcode::TypeTensorLayoutNV) => {
            let number = integer(1)?;
            let clamp = match u32::try_from(number).ok().and_then(TensorClampMode::from_u32) {
                Some(TensorClampMode::Undefined) => ClampMode::Undefined,
                Some(TensorClampMode::Constant) => ClampMode::Constant,
                Some(TensorClampMode::ClampToEdge) => ClampMode::ClampToEdge,
                Some(TensorClampMode::Repeat) => ClampMode::Repeat,
                Some(TensorClampMode::RepeatMirrored) => ClampMode::RepeatMirrored,
                None => return Err(Problem::unsupported(format!("tensor clamp mode {number}"), line)),
            };
            Some(TensorType::Layout(TensorLayout { dimensions: dimensions()?, clamp }))
        }
        Some(Opcode::TypeTensorViewNV) => {
            let dimensions = dimensions()?;
            let mut permutation = [0; MAX_DIMENSIONS];
            let mut seen = [false; MAX_DIMENSIONS];
            for (position, slot) in permutation.iter_mut().enumerate().take(dimensions as usize) {
                let number = integer(position + 2)?;
                let fresh = usize::try_from(number).ok().filter(|number| *number < dimensions as usize);
                match fresh.and_then(|number| seen.get_mut(number)) {
                    Some(seen) if !*seen => *seen = true,
                    Some(_) | None => return Err(Problem::invalid(line, "this is no permutation")),
                }
                *slot = number as u32;
            }
            let has_dimensions = integer(1)? != 0;
            Some(TensorType::View(TensorView { dimensions, has_dimensions, permutation }))
        }
        _ => None,
    })
}

/// The memory that a tensor instruction accesses, and what goes with it.
struct TensorAccess {
    access: CooperativeAccess,
    uniform: Vec<Uniform>,
    view: Option<(Operand, TensorView)>,
    /// Position of the id of the decode function.
    decode: Option<usize>,
}

impl FunctionBuilder<'_, '_> {
    /// Lowers an instruction that makes a tensor layout or view; `None` if it is none.
    pub fn tensor(&mut self, opcode: Opcode, instruction: &Instruction) -> Option<Result<(), Problem>> {
        Some(match opcode {
            Opcode::CreateTensorLayoutNV | Opcode::CreateTensorViewNV => self.create_tensor(instruction),
            Opcode::TensorLayoutSetBlockSizeNV => {
                self.layout_numbers(instruction, 1, LayoutChange::BlockSize)
            }
            Opcode::TensorLayoutSetDimensionNV => {
                self.layout_numbers(instruction, 1, LayoutChange::Dimension)
            }
            Opcode::TensorLayoutSetStrideNV => self.layout_numbers(instruction, 1, LayoutChange::Stride),
            Opcode::TensorLayoutSliceNV => self.layout_numbers(instruction, 2, LayoutChange::Slice),
            Opcode::TensorLayoutSetClampValueNV => self
                .number(instruction, 1)
                .and_then(|value| self.change_layout(instruction, LayoutChange::ClampValue(value))),
            Opcode::TensorViewSetDimensionNV => self.view_numbers(instruction, ViewChange::Dimension),
            Opcode::TensorViewSetStrideNV => self.view_numbers(instruction, ViewChange::Stride),
            Opcode::TensorViewSetClipNV => self.clip(instruction),
            _ => return None,
        })
    }

    fn create_tensor(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let change = match self.types().tensor(self.result(instruction)?.ty) {
            Some(TensorType::Layout(layout)) => TensorChange::CreateLayout(layout),
            Some(TensorType::View(view)) => TensorChange::CreateView(view),
            None => return Err(Problem::invalid(instruction.line, "a tensor type is expected here")),
        };
        self.emit_tensor(change, instruction)
    }

    fn emit_tensor(&mut self, change: TensorChange, instruction: &Instruction) -> Result<(), Problem> {
        let dst = self.result(instruction)?.operand.index();
        self.emit(Op::Tensor(TensorOp { dst, change }), instruction);
        Ok(())
    }

    /// The 32-bit integer at this operand position.
    fn number(&mut self, instruction: &Instruction, position: usize) -> Result<Operand, Problem> {
        let (value, lanes) = self.scalar(instruction, position, Kind::Int)?;
        if lanes.width != 32 {
            return Err(Problem::invalid(instruction.line, "a number of a tensor has 32 bits"));
        }
        Ok(value.operand)
    }

    /// The numbers from operand 1 on.
    fn numbers(&mut self, instruction: &Instruction, count: u32) -> Result<Vec<Operand>, Problem> {
        if instruction.operands.len() != count as usize + 1 {
            let message = format!("{} takes {count} numbers", instruction.name());
            return Err(Problem::invalid(instruction.line, message));
        }
        (1..=count as usize).map(|position| self.number(instruction, position)).collect()
    }

    fn layout_numbers(
        &mut self,
        instruction: &Instruction,
        each: u32,
        change: fn(Vec<Operand>) -> LayoutChange,
    ) -> Result<(), Problem> {
        let (_, layout) = self.tensor_layout(instruction, 0)?;
        let numbers = self.numbers(instruction, layout.dimensions * each)?;
        self.change_layout(instruction, change(numbers))
    }

    fn change_layout(&mut self, instruction: &Instruction, change: LayoutChange) -> Result<(), Problem> {
        let (from, layout) = self.tensor_layout(instruction, 0)?;
        self.same_type(from, instruction)?;
        self.emit_tensor(TensorChange::Layout { from: from.operand, layout, change }, instruction)
    }

    fn view_numbers(
        &mut self,
        instruction: &Instruction,
        change: fn(Vec<Operand>) -> ViewChange,
    ) -> Result<(), Problem> {
        let (from, view) = self.tensor_view(instruction, 0)?;
        let change = change(self.numbers(instruction, view.dimensions)?);
        self.same_type(from, instruction)?;
        self.emit_tensor(TensorChange::View { from: from.operand, view, change }, instruction)
    }

    fn clip(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let (from, view) = self.tensor_view(instruction, 0)?;
        let numbers = self.numbers(instruction, 4)?;
        let numbers = <[Operand; 4]>::try_from(numbers);
        let numbers = numbers.map_err(|_| Problem::invalid(instruction.line, "a clip has four numbers"))?;
        self.same_type(from, instruction)?;
        let change = TensorChange::View { from: from.operand, view, change: ViewChange::Clip(numbers) };
        self.emit_tensor(change, instruction)
    }

    fn same_type(&self, from: Value, instruction: &Instruction) -> Result<(), Problem> {
        match self.result(instruction)?.ty == from.ty {
            true => Ok(()),
            false => Err(Problem::invalid(instruction.line, "the result is not of the operand's type")),
        }
    }

    fn tensor_layout(
        &mut self,
        instruction: &Instruction,
        position: usize,
    ) -> Result<(Value, TensorLayout), Problem> {
        let value = self.operand(instruction, position)?;
        match self.types().tensor(value.ty) {
            Some(TensorType::Layout(layout)) => Ok((value, layout)),
            Some(TensorType::View(_)) | None => {
                Err(Problem::invalid(instruction.line, "a tensor layout is expected here"))
            }
        }
    }

    fn tensor_view(
        &mut self,
        instruction: &Instruction,
        position: usize,
    ) -> Result<(Value, TensorView), Problem> {
        let value = self.operand(instruction, position)?;
        match self.types().tensor(value.ty) {
            Some(TensorType::View(view)) => Ok((value, view)),
            Some(TensorType::Layout(_)) | None => {
                Err(Problem::invalid(instruction.line, "a tensor view is expected here"))
            }
        }
    }

    /// OpCooperativeMatrixLoadTensorNV: pointer, object, layout, and the two masks with their operands.
    pub(super) fn load_tensor(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let object = self.operand(instruction, 1)?;
        if object.ty != result.ty {
            return Err(Problem::invalid(line, "the object is not of the result's type"));
        }
        let TensorAccess { access, uniform, view, decode } = self.tensor_access(result.ty, instruction)?;
        let (dst, matrix) = (result.operand.index(), access.matrix);
        let load = match decode {
            None => CooperativeOp::Load { dst, access },
            Some(position) => {
                let component = self.types().part(result.ty, 0, line)?.0;
                let (function, parameters) = self.component_function(instruction, position, component)?;
                let Arrangement::Tensor(address) = &access.arrangement else {
                    return Err(Problem::invalid(line, "a decode function needs a tensor layout"));
                };
                let dimensions = address.layout.1.dimensions;
                let block_size = self.decoded_block(&parameters, dimensions, access.class, line)?;
                let calls = Calls::Decode { access, block_size };
                CooperativeOp::Each(Box::new(EachComponent { dst, function, matrix, calls }))
            }
        };
        self.meet(matrix, uniform, instruction);
        self.emit(Op::Cooperative(load), instruction);
        self.take_loaded(dst, matrix, instruction);
        if let Some(view) = view {
            let object = object.operand;
            self.emit(Op::Cooperative(CooperativeOp::Unclip { dst, object, view, matrix }), instruction);
        }
        Ok(())
    }

    /// Checks the parameters of a decode function: a pointer to a block, whose size is the result, and the
    /// coordinates of the block and within it.
    fn decoded_block(
        &self,
        parameters: &[u32],
        dimensions: u32,
        class: StorageClass,
        line: crate::ir::Line,
    ) -> Result<u32, Problem> {
        let unlike = || Problem::invalid(line, "the decode function has other parameters");
        let types = self.types();
        let [pointer, block, within] = *parameters else { return Err(unlike()) };
        for coordinates in [block, within] {
            match types.get(coordinates, line)? {
                Type::Array { element, length, .. }
                    if *length == dimensions
                        && matches!(types.get(*element, line)?, Type::Int { width: 32 }) => {}
                _ => return Err(unlike()),
            }
        }
        let (StorageClass::PhysicalStorageBuffer, pointee) = types.pointer(pointer, line)? else {
            return Err(unlike());
        };
        match class {
            StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer => {}
            _ => return Err(Problem::invalid(line, "what is decoded lies in no storage buffer")),
        }
        types.size(pointee, Placement::default(), line)
    }

    pub(super) fn store_tensor(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let object = self.operand(instruction, 1)?;
        let TensorAccess { access, uniform, decode, .. } = self.tensor_access(object.ty, instruction)?;
        if decode.is_some() {
            return Err(Problem::invalid(instruction.line, "a store has no decode function"));
        }
        self.store_matrix(object, access, uniform, instruction)
    }

    fn tensor_access(&mut self, matrix: u32, instruction: &Instruction) -> Result<TensorAccess, Problem> {
        let line = instruction.line;
        let spread = self.matrix_of(matrix, instruction)?;
        let pointer = self.operand(instruction, 0)?;
        let (class, _) = self.types().pointer(pointer.ty, line)?;
        let (layout, layout_type) = self.tensor_layout(instruction, 2)?;
        let (operands, next) = self.memory_operands(instruction, 3)?;
        let mask = TensorAddressingOperands::from_bits_retain(self.word(instruction, next)?);
        let known = TensorAddressingOperands::TENSOR_VIEW | TensorAddressingOperands::DECODE_FUNC;
        if !known.contains(mask) {
            let what = format!("tensor addressing operands {:#x}", (mask & !known).bits());
            return Err(Problem::unsupported(what, line));
        }
        let mut position = next + 1;
        let mut uniform = vec![
            strict(pointer.operand, 2, "the pointer"),
            strict(layout.operand, layout_type.size(), "the tensor layout"),
        ];
        let mut view = None;
        if mask.contains(TensorAddressingOperands::TENSOR_VIEW) {
            let (value, view_type) = self.tensor_view(instruction, position)?;
            if !view_type.has_dimensions && view_type.dimensions != layout_type.dimensions {
                let what =
                    "a tensor view without dimensions of its own on a layout of another number of them";
                return Err(Problem::unsupported(what, line));
            }
            uniform.push(strict(value.operand, view_type.size(), "the tensor view"));
            view = Some((value.operand, view_type));
            position += 1;
        }
        let decode = mask.contains(TensorAddressingOperands::DECODE_FUNC).then_some(position);
        let address = TensorAddress { layout: (layout.operand, layout_type), view };
        let width = self.types().lanes(matrix, line)?.width;
        let access = CooperativeAccess {
            pointer: pointer.operand,
            class,
            operands,
            matrix: spread,
            kind: LeafKind::Number(width / 8),
            arrangement: Arrangement::Tensor(Box::new(address)),
        };
        Ok(TensorAccess { access, uniform, view, decode })
    }
}

//! Cooperative matrices (SPV_KHR_cooperative_matrix).

use rspirv::spirv::{CooperativeMatrixLayout, CooperativeMatrixOperands, Op as Opcode};

use super::barriers::decode_scope;
use super::constants::ConstantTable;
use super::error::Problem;
use super::function::FunctionBuilder;
use super::layout::Placement;
use super::types::{Kind, TypeTable};
use super::values::{Computation, Value, Values};
use crate::event::Scope;
use crate::ir::{
    CooperativeAccess, CooperativeOp, Factor, LeafKind, MulAdd, Op, Operand, SubgroupKind, SubgroupOp,
};
use crate::module::Instruction;

/// Cooperative matrices with more rows or columns than this are refused.
const MAX_EDGE: u32 = 1 << 9;

/// A cooperative matrix, which is an array of its components, row after row, in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cooperative {
    pub rows: u32,
    pub columns: u32,
}

/// The size of a cooperative matrix of Subgroup scope.
pub(super) fn size(
    instruction: &Instruction,
    types: &TypeTable,
    constants: &ConstantTable,
) -> Result<Cooperative, Problem> {
    let line = instruction.line;
    let integer = |position: usize| constants.integer(instruction.word(position).unwrap_or(0), types, line);
    let scope = decode_scope(integer(1)?, line)?;
    if scope != Scope::Subgroup {
        let what = format!("OpTypeCooperativeMatrixKHR at scope {}", scope.name());
        return Err(Problem::unsupported(what, line));
    }
    match (u32::try_from(integer(2)?), u32::try_from(integer(3)?)) {
        (Ok(rows @ 1..=MAX_EDGE), Ok(columns @ 1..=MAX_EDGE)) => Ok(Cooperative { rows, columns }),
        _ => Err(Problem::unsupported("a cooperative matrix of this size", line)),
    }
}

/// A part of a composite that one invocation alone may hold.
pub(super) struct HeldPart {
    /// First component of the matrix, in the composite.
    pub start: u32,
    pub matrix: u32,
    pub index: u32,
}

/// The component of a matrix that the indices from operand `position` on lead to, if they do.
pub(super) fn held_part(
    computation: &Computation,
    mut ty: u32,
    position: usize,
) -> Result<Option<HeldPart>, Problem> {
    let mut start = 0;
    for &index in computation.operands.get(position..).unwrap_or(&[]) {
        if computation.types().cooperative(ty).is_some() {
            return Ok(Some(HeldPart { start, matrix: ty, index }));
        }
        let (part, offset) = computation.types().part(ty, index, computation.line)?;
        ty = part;
        start += offset;
    }
    Ok(None)
}

/// Lowers the extraction of a component that the invocation holds; `None` if it is none.
pub(super) fn extract(computation: &Computation) -> Result<Option<Op>, Problem> {
    let composite = computation.value(0)?;
    let Some(part) = held_part(computation, composite.ty, 1)? else { return Ok(None) };
    let lanes = computation.types().lanes(part.matrix, computation.line)?;
    Ok(Some(Op::Cooperative(CooperativeOp::Extract {
        dst: computation.dst,
        width: lanes.width,
        a: composite.operand.offset(part.start),
        count: lanes.count,
        index: part.index,
    })))
}

/// Lowers the insertion of a component that the invocation holds; `None` if it is none.
pub(super) fn insert(computation: &Computation) -> Result<Option<Op>, Problem> {
    let object = computation.value(0)?;
    let composite = computation.value(1)?;
    let Some(part) = held_part(computation, composite.ty, 2)? else { return Ok(None) };
    if part.matrix != composite.ty {
        let what = "OpCompositeInsert into a cooperative matrix within a composite";
        return Err(Problem::unsupported(what, computation.line));
    }
    Ok(Some(Op::Cooperative(CooperativeOp::Insert {
        dst: computation.dst,
        a: composite.operand,
        count: computation.types().lanes(part.matrix, computation.line)?.count,
        object: object.operand,
        index: part.index,
    })))
}

impl FunctionBuilder<'_, '_> {
    /// Lowers an instruction on cooperative matrices; `None` if it is none.
    pub fn cooperative(&mut self, opcode: Opcode, instruction: &Instruction) -> Option<Result<(), Problem>> {
        Some(match opcode {
            Opcode::CooperativeMatrixLengthKHR => self.cooperative_length(instruction),
            Opcode::CooperativeMatrixLoadKHR => self.cooperative_load(instruction),
            Opcode::CooperativeMatrixStoreKHR => self.cooperative_store(instruction),
            Opcode::CooperativeMatrixMulAddKHR => self.cooperative_mul_add(instruction),
            _ => return None,
        })
    }

    fn matrix_of(&self, ty: u32, instruction: &Instruction) -> Result<Cooperative, Problem> {
        self.types().cooperative(ty).ok_or_else(|| {
            let message = format!("{}: a cooperative matrix is expected here", instruction.name());
            Problem::invalid(instruction.line, message)
        })
    }

    fn cooperative_length(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let dst = self.result(instruction)?.operand.index();
        let matrix = self.matrix_of(self.word(instruction, 0)?, instruction)?;
        let count = matrix.rows * matrix.columns;
        self.emit(Op::Cooperative(CooperativeOp::Length { dst, count }), instruction);
        Ok(())
    }

    fn cooperative_load(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let result = self.result(instruction)?;
        let access = self.cooperative_access(result.ty, 0, 1, instruction)?;
        let dst = result.operand.index();
        self.emit(Op::Cooperative(CooperativeOp::Load { dst, access }), instruction);
        Ok(())
    }

    fn cooperative_store(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let object = self.operand(instruction, 1)?;
        let access = self.cooperative_access(object.ty, 0, 2, instruction)?;
        let object = object.operand;
        self.emit(Op::Cooperative(CooperativeOp::Store { object, access }), instruction);
        Ok(())
    }

    /// The memory that the operands from the layout on describe.
    fn cooperative_access(
        &mut self,
        matrix: u32,
        pointer: usize,
        layout: usize,
        instruction: &Instruction,
    ) -> Result<CooperativeAccess, Problem> {
        let line = instruction.line;
        let Cooperative { rows, columns, .. } = self.matrix_of(matrix, instruction)?;
        let pointer = self.operand(instruction, pointer)?;
        let (class, pointee) = self.types().pointer(pointer.ty, line)?;
        let number = self.program.globals.integer(self.word(instruction, layout)?, line)?;
        let known = u32::try_from(number).ok().and_then(CooperativeMatrixLayout::from_u32);
        let row_major = match known {
            Some(CooperativeMatrixLayout::RowMajorKHR) => true,
            Some(CooperativeMatrixLayout::ColumnMajorKHR) => false,
            Some(_) | None => {
                let what = format!("{} of layout {number}", instruction.name());
                return Err(Problem::unsupported(what, line));
            }
        };
        let stride = match instruction.word(layout + 1) {
            Some(_) => {
                let (value, lanes) = self.scalar(instruction, layout + 1, Kind::Int)?;
                Some((value.operand, lanes.width))
            }
            None => None,
        };
        let (operands, _) = self.memory_operands(instruction, layout + 2)?;
        let types = self.types();
        let width = types.lanes(matrix, line)?.width;
        Ok(CooperativeAccess {
            pointer: pointer.operand,
            class,
            operands,
            rows,
            columns,
            row_major,
            stride,
            unit: types.size(pointee, Placement::default(), line)?,
            kind: LeafKind::Number(width / 8),
        })
    }

    fn cooperative_mul_add(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let [a, b, c] = [0, 1, 2].map(|position| self.operand(instruction, position));
        let [a, b, c] = [a?, b?, c?];
        let sizes = [a, b, c, result].map(|value| self.matrix_of(value.ty, instruction));
        let [of_a, of_b, of_c, of_result] = sizes;
        let (of_a, of_b, of_c, of_result) = (of_a?, of_b?, of_c?, of_result?);
        let fits = of_a.columns == of_b.rows
            && [of_c, of_result].iter().all(|one| (one.rows, one.columns) == (of_a.rows, of_b.columns));
        if !fits {
            return Err(Problem::invalid(line, "the sizes of the matrices do not fit"));
        }
        let flags = CooperativeMatrixOperands::from_bits_retain(instruction.word(3).unwrap_or(0));
        let factor = |value: Value, signed: CooperativeMatrixOperands| -> Result<Factor, Problem> {
            let lanes = self.types().lanes(value.ty, line)?;
            Ok(Factor {
                value: value.operand,
                width: lanes.width,
                float: matches!(lanes.kind, Kind::Float | Kind::Encoded(_)),
                encoding: match lanes.kind {
                    Kind::Encoded(encoding) => Some(encoding),
                    Kind::Bool | Kind::Int | Kind::Float => None,
                },
                signed: flags.contains(signed),
            })
        };
        let product = MulAdd {
            m: of_a.rows,
            n: of_b.columns,
            k: of_a.columns,
            a: factor(a, CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR)?,
            b: factor(b, CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR)?,
            c: factor(c, CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR)?,
            result: factor(result, CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR)?,
            saturates: flags.contains(CooperativeMatrixOperands::SATURATING_ACCUMULATION_KHR),
        };
        if [product.a, product.b, product.c].iter().any(|factor| factor.float != product.result.float) {
            return Err(Problem::unsupported("OpCooperativeMatrixMulAddKHR of floats and integers", line));
        }
        let kind = SubgroupKind::MulAdd(Box::new(product));
        let dst = result.operand.index();
        self.emit(Op::Subgroup(SubgroupOp { kind, dst }), instruction);
        Ok(())
    }
}

/// As many copies of a scalar as the matrix has components.
pub(super) fn replicate(computation: &Computation, count: u32) -> Result<Vec<(Operand, u32)>, Problem> {
    let value = computation.value(0)?;
    computation.require(computation.operands.len() == 1, "a matrix is made of one scalar")?;
    Ok(vec![(value.operand, 1); count as usize])
}

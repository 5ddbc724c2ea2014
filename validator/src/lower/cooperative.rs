//! Cooperative matrices (SPV_KHR_cooperative_matrix), and what SPV_NV_cooperative_matrix2 does with them.

use rspirv::spirv::{
    CooperativeMatrixLayout, CooperativeMatrixOperands, CooperativeMatrixReduce, Op as Opcode,
};

use super::barriers::decode_scope;
use super::constants::ConstantTable;
use super::error::Problem;
use super::function::FunctionBuilder;
use super::layout::Placement;
use super::types::{Kind, TypeTable};
use super::values::{Computation, Value, Values};
use crate::event::Scope;
use crate::ir::{
    Arrangement, Calls, CooperativeAccess, CooperativeOp, EachComponent, ElementArgument, Factor, FunctionId,
    LeafKind, Lines, MatrixAction, MatrixScope, MatrixStep, MulAdd, Op, Operand, ReduceMode, Reduction,
    Spread, SubgroupKind, SubgroupOp, Uniform,
};
use crate::module::Instruction;

/// Cooperative matrices with more rows or columns than this are refused.
const MAX_EDGE: u32 = 1 << 9;

/// Size and scope of a cooperative matrix type. It is an array of the components that an invocation holds, at
/// most; `local_invocations` is how many there are in a workgroup.
pub(super) fn spread(
    instruction: &Instruction,
    types: &TypeTable,
    constants: &ConstantTable,
    local_invocations: Option<u32>,
) -> Result<Spread, Problem> {
    let line = instruction.line;
    let integer = |position: usize| constants.integer(instruction.word(position).unwrap_or(0), types, line);
    let scope = match decode_scope(integer(1)?, line)? {
        Scope::Subgroup => MatrixScope::Subgroup,
        Scope::Workgroup => MatrixScope::Workgroup,
        scope @ (Scope::Invocation | Scope::QueueFamily | Scope::Device | Scope::CrossDevice) => {
            let what = format!("OpTypeCooperativeMatrixKHR at scope {}", scope.name());
            return Err(Problem::unsupported(what, line));
        }
    };
    let (rows, columns) = match (u32::try_from(integer(2)?), u32::try_from(integer(3)?)) {
        (Ok(rows @ 1..=MAX_EDGE), Ok(columns @ 1..=MAX_EDGE)) => (rows, columns),
        _ => return Err(Problem::unsupported("a cooperative matrix of this size", line)),
    };
    let slots = match (scope, local_invocations) {
        (MatrixScope::Workgroup, Some(invocations)) => (rows * columns).div_ceil(invocations.max(1)),
        (MatrixScope::Workgroup, None) => {
            return Err(Problem::invalid(line, "a cooperative matrix comes before the workgroup's size"));
        }
        // A subgroup may have a single invocation.
        (MatrixScope::Subgroup, _) => rows * columns,
    };
    Ok(Spread { rows, columns, scope, slots })
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
) -> Result<Option<(HeldPart, Spread)>, Problem> {
    let mut start = 0;
    for &index in computation.operands.get(position..).unwrap_or(&[]) {
        if let Some(spread) = computation.types().cooperative(ty) {
            return Ok(Some((HeldPart { start, matrix: ty, index }, spread)));
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
    let Some((part, matrix)) = held_part(computation, composite.ty, 1)? else { return Ok(None) };
    Ok(Some(Op::Cooperative(CooperativeOp::Extract {
        dst: computation.dst,
        width: computation.types().lanes(part.matrix, computation.line)?.width,
        a: composite.operand.offset(part.start),
        matrix,
        index: part.index,
    })))
}

/// Lowers the insertion of a component that the invocation holds; `None` if it is none.
pub(super) fn insert(computation: &Computation) -> Result<Option<Op>, Problem> {
    let object = computation.value(0)?;
    let composite = computation.value(1)?;
    let Some((part, matrix)) = held_part(computation, composite.ty, 2)? else { return Ok(None) };
    if part.matrix != composite.ty {
        let what = "OpCompositeInsert into a cooperative matrix within a composite";
        return Err(Problem::unsupported(what, computation.line));
    }
    Ok(Some(Op::Cooperative(CooperativeOp::Insert {
        dst: computation.dst,
        a: composite.operand,
        matrix,
        object: object.operand,
        index: part.index,
    })))
}

/// Whether an instruction that computes values is tangled where it has to do with cooperative matrices.
const fn is_tangled(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::ConvertFToU
            | Opcode::ConvertFToS
            | Opcode::ConvertSToF
            | Opcode::ConvertUToF
            | Opcode::UConvert
            | Opcode::SConvert
            | Opcode::FConvert
            | Opcode::Bitcast
            | Opcode::SNegate
            | Opcode::FNegate
            | Opcode::IAdd
            | Opcode::FAdd
            | Opcode::ISub
            | Opcode::FSub
            | Opcode::FMul
            | Opcode::IMul
            | Opcode::FDiv
            | Opcode::SDiv
            | Opcode::UDiv
            | Opcode::MatrixTimesScalar
            | Opcode::CompositeConstruct
            | Opcode::CompositeConstructReplicateEXT
    )
}

impl FunctionBuilder<'_, '_> {
    /// Lowers an instruction on cooperative matrices; `None` if it is none.
    pub fn cooperative(&mut self, opcode: Opcode, instruction: &Instruction) -> Option<Result<(), Problem>> {
        Some(match opcode {
            Opcode::CooperativeMatrixLengthKHR => self.cooperative_length(instruction),
            Opcode::CooperativeMatrixLoadKHR => self.cooperative_load(instruction),
            Opcode::CooperativeMatrixStoreKHR => self.cooperative_store(instruction),
            Opcode::CooperativeMatrixMulAddKHR => self.cooperative_mul_add(instruction),
            Opcode::CooperativeMatrixLoadTensorNV => self.load_tensor(instruction),
            Opcode::CooperativeMatrixStoreTensorNV => self.store_tensor(instruction),
            Opcode::CooperativeMatrixPerElementOpNV => self.per_element(instruction),
            Opcode::CooperativeMatrixReduceNV => self.reduce(instruction),
            Opcode::CooperativeMatrixConvertNV => self.convert_use(instruction),
            Opcode::CooperativeMatrixTransposeNV => self.transpose_cooperative(instruction),
            _ => return None,
        })
    }

    /// Before an instruction that computes values: where it has to do with cooperative matrices, all
    /// invocations come together.
    pub fn tangle_matrices(&mut self, opcode: Opcode, instruction: &Instruction) -> Result<(), Problem> {
        if !is_tangled(opcode) {
            return Ok(());
        }
        let operands = instruction.operands.iter().filter_map(|id| self.value(*id, instruction.line).ok());
        let operands: Vec<Value> = operands.collect();
        let types = operands.iter().map(|value| value.ty).chain(instruction.result_type);
        let mut spreads = types.filter_map(|ty| self.types().cooperative(ty));
        let Some(matrix) = spreads.next() else { return Ok(()) };
        let mut uniform = Vec::new();
        for value in operands.iter().filter(|value| self.types().cooperative(value.ty).is_none()) {
            let count = self.types().components(value.ty, instruction.line)?;
            uniform.push(Uniform { value: value.operand, count, name: "the scalar", lenient: true });
        }
        self.meet(matrix, uniform, instruction);
        if matches!(opcode, Opcode::SDiv | Opcode::UDiv) {
            // What the others would divide is nobody's.
            self.emit(Op::Cooperative(CooperativeOp::IfHeld { matrix }), instruction);
        }
        Ok(())
    }

    /// All invocations of the matrix's scope come together.
    pub(super) fn meet(&mut self, matrix: Spread, uniform: Vec<Uniform>, instruction: &Instruction) {
        self.matrix_step(matrix, uniform, MatrixAction::Meet, 0, instruction);
    }

    pub(super) fn matrix_step(
        &mut self,
        matrix: Spread,
        uniform: Vec<Uniform>,
        action: MatrixAction,
        dst: u32,
        instruction: &Instruction,
    ) {
        let step = MatrixStep { scope: matrix.scope, uniform, action };
        let kind = SubgroupKind::Matrix(Box::new(step));
        self.emit(Op::Subgroup(SubgroupOp { kind, dst }), instruction);
    }

    pub(super) fn matrix_of(&self, ty: u32, instruction: &Instruction) -> Result<Spread, Problem> {
        self.types().cooperative(ty).ok_or_else(|| {
            let message = format!("{}: a cooperative matrix is expected here", instruction.name());
            Problem::invalid(instruction.line, message)
        })
    }

    fn cooperative_length(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let dst = self.result(instruction)?.operand.index();
        let matrix = self.matrix_of(self.word(instruction, 0)?, instruction)?;
        self.emit(Op::Cooperative(CooperativeOp::Length { dst, matrix }), instruction);
        Ok(())
    }

    fn cooperative_load(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let result = self.result(instruction)?;
        let (access, uniform) = self.lines_access(result.ty, 0, 1, instruction)?;
        let (dst, matrix) = (result.operand.index(), access.matrix);
        self.meet(matrix, uniform, instruction);
        self.emit(Op::Cooperative(CooperativeOp::Load { dst, access }), instruction);
        self.take_loaded(dst, matrix, instruction);
        Ok(())
    }

    /// Components go from who loaded them to who holds them.
    pub(super) fn take_loaded(&mut self, dst: u32, matrix: Spread, instruction: &Instruction) {
        let action = MatrixAction::TakeLoaded { value: Operand::register(dst), matrix };
        self.matrix_step(matrix, Vec::new(), action, dst, instruction);
    }

    fn cooperative_store(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let object = self.operand(instruction, 1)?;
        let (access, uniform) = self.lines_access(object.ty, 0, 2, instruction)?;
        self.store_matrix(object, access, uniform, instruction)
    }

    /// Stores a matrix: its components go to who stores them first.
    pub(super) fn store_matrix(
        &mut self,
        object: Value,
        access: CooperativeAccess,
        uniform: Vec<Uniform>,
        instruction: &Instruction,
    ) -> Result<(), Problem> {
        let matrix = access.matrix;
        let given = self.registers(matrix.slots, instruction.line)?;
        self.meet(matrix, uniform, instruction);
        let action = MatrixAction::GiveStored { value: object.operand, matrix };
        self.matrix_step(matrix, Vec::new(), action, given, instruction);
        let object = Operand::register(given);
        self.emit(Op::Cooperative(CooperativeOp::Store { object, access }), instruction);
        Ok(())
    }

    /// The memory that the operands from the layout on describe, and what must be uniform.
    fn lines_access(
        &mut self,
        matrix: u32,
        pointer: usize,
        layout: usize,
        instruction: &Instruction,
    ) -> Result<(CooperativeAccess, Vec<Uniform>), Problem> {
        let line = instruction.line;
        let spread = self.matrix_of(matrix, instruction)?;
        let pointer = self.operand(instruction, pointer)?;
        let (class, pointee) = self.types().pointer(pointer.ty, line)?;
        let mut uniform = vec![strict(pointer.operand, 2, "the pointer")];
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
                uniform.push(strict(value.operand, 1, "the stride"));
                Some((value.operand, lanes.width))
            }
            None => None,
        };
        let (operands, _) = self.memory_operands(instruction, layout + 2)?;
        let types = self.types();
        let lines = Lines { row_major, stride, unit: types.size(pointee, Placement::default(), line)? };
        let access = CooperativeAccess {
            pointer: pointer.operand,
            class,
            operands,
            matrix: spread,
            kind: LeafKind::Number(types.lanes(matrix, line)?.width / 8),
            arrangement: Arrangement::Lines(lines),
        };
        Ok((access, uniform))
    }

    fn cooperative_mul_add(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let [a, b, c] = [0, 1, 2].map(|position| self.operand(instruction, position));
        let flags = CooperativeMatrixOperands::from_bits_retain(instruction.word(3).unwrap_or(0));
        let factor = |value: Value, signed: CooperativeMatrixOperands| -> Result<Factor, Problem> {
            let lanes = self.types().lanes(value.ty, line)?;
            Ok(Factor {
                value: value.operand,
                matrix: self.matrix_of(value.ty, instruction)?,
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
            a: factor(a?, CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR)?,
            b: factor(b?, CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR)?,
            c: factor(c?, CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR)?,
            result: factor(result, CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR)?,
            saturates: flags.contains(CooperativeMatrixOperands::SATURATING_ACCUMULATION_KHR),
        };
        let [of_a, of_b, of_c, of_result] =
            [product.a, product.b, product.c, product.result].map(|factor| factor.matrix);
        let fits = of_a.columns == of_b.rows
            && [of_c, of_result].iter().all(|one| (one.rows, one.columns) == (of_a.rows, of_b.columns))
            && [of_a, of_b, of_c].iter().all(|one| one.scope == of_result.scope);
        if !fits {
            return Err(Problem::invalid(line, "the sizes or scopes of the matrices do not fit"));
        }
        if [product.a, product.b, product.c].iter().any(|factor| factor.float != product.result.float) {
            return Err(Problem::unsupported("OpCooperativeMatrixMulAddKHR of floats and integers", line));
        }
        let dst = result.operand.index();
        self.matrix_step(of_result, Vec::new(), MatrixAction::MulAdd(product), dst, instruction);
        Ok(())
    }

    /// OpCooperativeMatrixPerElementOpNV: operands are the matrix, the function, and what else it takes.
    fn per_element(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let matrix = self.matrix_of(result.ty, instruction)?;
        let component = self.types().part(result.ty, 0, line)?.0;
        let object = self.operand(instruction, 0)?;
        if object.ty != result.ty {
            return Err(Problem::invalid(line, "the result is not of the matrix's type"));
        }
        let (function, parameters) = self.component_function(instruction, 1, component)?;
        let mut given = vec![object];
        for position in 2..instruction.operands.len() {
            given.push(self.operand(instruction, position)?);
            if self.pointee(self.word(instruction, position)?).placement != Placement::default() {
                return Err(Problem::unsupported("a pointer into a matrix as an argument", line));
            }
        }
        let [row, column, rest @ ..] = parameters.as_slice() else {
            return Err(Problem::invalid(line, "the function lacks parameters"));
        };
        for ty in [*row, *column] {
            let lanes = self.types().lanes(ty, line)?;
            if (lanes.kind, lanes.width, lanes.count) != (Kind::Int, 32, 1) {
                return Err(Problem::invalid(line, "the row or column is no 32-bit integer"));
            }
        }
        if rest.len() != given.len() {
            return Err(Problem::invalid(line, "the function takes another number of operands"));
        }
        let mut arguments = Vec::new();
        for (parameter, value) in rest.iter().zip(&given) {
            let own = self.types().cooperative(value.ty);
            let element = own.is_some() && self.types().part(value.ty, 0, line)?.0 == *parameter;
            arguments.push(if *parameter == value.ty {
                let count = self.types().components(value.ty, line)?;
                ElementArgument::Value(value.operand, count)
            } else if element && own.is_some_and(|own| own == matrix) {
                ElementArgument::Component(value.operand)
            } else {
                return Err(Problem::invalid(line, "an argument is not of the parameter's type"));
            });
        }
        self.meet(matrix, Vec::new(), instruction);
        let calls = Calls::PerElement(arguments);
        let each = EachComponent { dst: result.operand.index(), function, matrix, calls };
        self.emit(Op::Cooperative(CooperativeOp::Each(Box::new(each))), instruction);
        Ok(())
    }

    /// The function at this operand position, which must return a component, and its parameters' types.
    pub(super) fn component_function(
        &mut self,
        instruction: &Instruction,
        position: usize,
        component: u32,
    ) -> Result<(FunctionId, Vec<u32>), Problem> {
        let line = instruction.line;
        let id = self.word(instruction, position)?;
        let (result, parameters) = self.signature(id, line)?;
        let function = self.program.function(id);
        if result != component {
            return Err(Problem::invalid(line, "the function does not return a component of the matrix"));
        }
        Ok((function, parameters))
    }

    fn reduce(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let value = self.operand(instruction, 0)?;
        let (from, to) = (self.matrix_of(value.ty, instruction)?, self.matrix_of(result.ty, instruction)?);
        let component = self.types().part(value.ty, 0, line)?.0;
        let bits = CooperativeMatrixReduce::from_bits_retain(self.word(instruction, 1)?);
        let (row, column) = (CooperativeMatrixReduce::ROW, CooperativeMatrixReduce::COLUMN);
        let mode = if bits == row {
            ReduceMode::Row
        } else if bits == column {
            ReduceMode::Column
        } else if bits == row | column {
            ReduceMode::RowAndColumn
        } else if bits == CooperativeMatrixReduce::_2X2 {
            ReduceMode::TwoByTwo
        } else {
            return Err(Problem::invalid(line, format!("there is no reduce mode {:#x}", bits.bits())));
        };
        let fits = match mode {
            ReduceMode::Row => from.rows == to.rows,
            ReduceMode::Column => from.columns == to.columns,
            ReduceMode::RowAndColumn => true,
            ReduceMode::TwoByTwo => (from.rows, from.columns) == (to.rows * 2, to.columns * 2),
        };
        let alike = from.scope == to.scope && self.types().part(result.ty, 0, line)?.0 == component;
        let (function, parameters) = self.component_function(instruction, 2, component)?;
        if !(fits && alike && parameters == [component, component]) {
            return Err(Problem::invalid(line, "the matrices or the function do not fit the reduction"));
        }
        let float = self.types().lanes(component, line)?.kind != Kind::Int;
        let reduction = Reduction { value: value.operand, from, to, mode, function, float };
        let dst = result.operand.index();
        self.matrix_step(to, Vec::new(), MatrixAction::Reduce(reduction), dst, instruction);
        Ok(())
    }

    /// OpCooperativeMatrixConvertNV: the same components, held by the same invocations.
    fn convert_use(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let value = self.operand(instruction, 0)?;
        let matrix = self.matrix_of(result.ty, instruction)?;
        let component = |ty: u32| self.types().part(ty, 0, line).map(|(part, _)| part);
        let alike = component(value.ty)? == component(result.ty)?;
        if !alike || self.matrix_of(value.ty, instruction)? != matrix {
            return Err(Problem::invalid(line, "the matrices differ in more than their use"));
        }
        self.meet(matrix, Vec::new(), instruction);
        let copy = Op::Copy { dst: result.operand.index(), a: value.operand, count: matrix.slots };
        self.emit(copy, instruction);
        Ok(())
    }

    fn transpose_cooperative(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let value = self.operand(instruction, 0)?;
        let (from, to) = (self.matrix_of(value.ty, instruction)?, self.matrix_of(result.ty, instruction)?);
        let component = |ty: u32| self.types().part(ty, 0, line).map(|(part, _)| part);
        let alike = from.scope == to.scope && component(value.ty)? == component(result.ty)?;
        if !alike || (from.rows, from.columns) != (to.columns, to.rows) {
            return Err(Problem::invalid(line, "the result is not of the type of the transposed matrix"));
        }
        let action = MatrixAction::Transpose { value: value.operand, from, to };
        self.matrix_step(to, Vec::new(), action, result.operand.index(), instruction);
        Ok(())
    }
}

/// Components that must be defined and alike.
pub(super) const fn strict(value: Operand, count: u32, name: &'static str) -> Uniform {
    Uniform { value, count, name, lenient: false }
}

/// As many copies of a scalar as a value of the matrix has components.
pub(super) fn replicate(computation: &Computation, count: u32) -> Result<Vec<(Operand, u32)>, Problem> {
    let value = computation.value(0)?;
    computation.require(computation.operands.len() == 1, "a matrix is made of one scalar")?;
    Ok(vec![(value.operand, 1); count as usize])
}

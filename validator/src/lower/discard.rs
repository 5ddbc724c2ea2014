//! What ends or demotes a fragment: its outputs are gone, and a mark of its own says so.

use super::error::Problem;
use super::function::FunctionBuilder;
use super::layout::Placement;
use super::values::Values;
use crate::event::StorageClass;
use crate::ir::{MemoryOp, MemoryOperands, Op, Operand};
use crate::module::Instruction;
use crate::value::Scalar;

impl FunctionBuilder<'_, '_> {
    /// Forgets the outputs of the fragment, and marks it as discarded.
    pub fn discard(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        for id in self.program.outputs.clone() {
            let pointer = self.value_or_address(id, line)?;
            let (class, pointee) = self.types().pointer(pointer.ty, line)?;
            let globals = &self.program.globals;
            let shape = self.program.shapes.intern(&globals.types, pointee, Placement::default(), line)?;
            let widths = globals.types.widths(pointee, line)?;
            let undefined = widths.into_iter().map(|width| Scalar::undefined(u32::from(width))).collect();
            let object = self.program.globals.constants.run(undefined, line)?;
            let operands = MemoryOperands::default();
            let store = MemoryOp::Store { pointer: pointer.operand, object, class, shape, operands };
            self.emit(Op::Memory(store), instruction);
        }
        let (variable, shape) = self.program.discard_mark(line)?;
        let dst = self.registers(2, line)?;
        self.emit(Op::Memory(MemoryOp::Variable { dst, variable }), instruction);
        let store = MemoryOp::Store {
            pointer: Operand::register(dst),
            object: self.program.globals.constants.scalar(Scalar::new(1), line)?,
            class: StorageClass::Output,
            shape,
            operands: MemoryOperands::default(),
        };
        self.emit(Op::Memory(store), instruction);
        Ok(())
    }
}

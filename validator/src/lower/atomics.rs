//! Atomic instructions on integers and floats (SPIR-V specification 3.3.18).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::function::FunctionBuilder;
use super::types::Kind;
use super::values::Values;
use crate::event::{Semantics, StorageClass};
use crate::ir::{AtomicKind, AtomicOp, Op, Operand};
use crate::module::Instruction;

/// Where the operands of an atomic instruction are.
#[derive(Clone, Copy)]
enum Form {
    /// Pointer, scope, semantics.
    Bare(AtomicKind),
    /// Pointer, scope, semantics, value.
    WithValue(fn(Operand) -> AtomicKind),
    /// Pointer, scope, two semantics, value, comparator.
    CompareExchange,
}

impl FunctionBuilder<'_, '_> {
    /// Lowers an atomic instruction; `None` if it is none.
    pub fn atomic(&mut self, opcode: Opcode, instruction: &Instruction) -> Option<Result<(), Problem>> {
        let form = match opcode {
            Opcode::AtomicLoad => Form::Bare(AtomicKind::Load),
            Opcode::AtomicIIncrement => Form::Bare(AtomicKind::IIncrement),
            Opcode::AtomicIDecrement => Form::Bare(AtomicKind::IDecrement),
            Opcode::AtomicStore => Form::WithValue(|value| AtomicKind::Store { value }),
            Opcode::AtomicExchange => Form::WithValue(|value| AtomicKind::Exchange { value }),
            Opcode::AtomicIAdd => Form::WithValue(|value| AtomicKind::IAdd { value }),
            Opcode::AtomicISub => Form::WithValue(|value| AtomicKind::ISub { value }),
            Opcode::AtomicSMin => Form::WithValue(|value| AtomicKind::SMin { value }),
            Opcode::AtomicUMin => Form::WithValue(|value| AtomicKind::UMin { value }),
            Opcode::AtomicSMax => Form::WithValue(|value| AtomicKind::SMax { value }),
            Opcode::AtomicUMax => Form::WithValue(|value| AtomicKind::UMax { value }),
            Opcode::AtomicAnd => Form::WithValue(|value| AtomicKind::And { value }),
            Opcode::AtomicOr => Form::WithValue(|value| AtomicKind::Or { value }),
            Opcode::AtomicXor => Form::WithValue(|value| AtomicKind::Xor { value }),
            Opcode::AtomicFAddEXT => Form::WithValue(|value| AtomicKind::FAdd { value }),
            Opcode::AtomicFMinEXT => Form::WithValue(|value| AtomicKind::FMin { value }),
            Opcode::AtomicFMaxEXT => Form::WithValue(|value| AtomicKind::FMax { value }),
            Opcode::AtomicCompareExchange => Form::CompareExchange,
            _ => return None,
        };
        Some(self.atomic_of(opcode, form, instruction))
    }

    fn atomic_of(&mut self, opcode: Opcode, form: Form, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let pointer = self.operand(instruction, 0)?;
        // Through an untyped pointer goes what the value or the result is.
        let accessed = match instruction.result_type {
            Some(ty) => ty,
            None => self.operand(instruction, 3)?.ty,
        };
        let (class, pointee) = self.types().pointer_to(pointer.ty, accessed, line)?;
        let lanes = self.types().lanes(pointee, line)?;
        let moves_only = matches!(opcode, Opcode::AtomicLoad | Opcode::AtomicStore | Opcode::AtomicExchange);
        let on_floats =
            matches!(opcode, Opcode::AtomicFAddEXT | Opcode::AtomicFMinEXT | Opcode::AtomicFMaxEXT);
        let wanted = match lanes.kind {
            Kind::Bool | Kind::Encoded(_) => false,
            Kind::Int => !on_floats,
            Kind::Float => on_floats || moves_only,
        };
        if lanes.count != 1 || !wanted {
            let message = format!("{} cannot access this type", instruction.name());
            return Err(Problem::invalid(line, message));
        }
        if lanes.kind == Kind::Int && lanes.width < 32 {
            let what = format!("{} on {}-bit integers", instruction.name(), lanes.width);
            return Err(Problem::unsupported(what, line));
        }
        if instruction.result_type.is_some_and(|ty| ty != pointee) {
            return Err(Problem::invalid(line, "the result is not of the type that the pointer leads to"));
        }
        let scope = self.scope(instruction, 1)?;
        let semantics = self.semantics(instruction, 2)?;
        let mut value = |position: usize| {
            let value = self.operand(instruction, position)?;
            if value.ty == pointee {
                Ok(value.operand)
            } else {
                Err(Problem::invalid(line, "a value is not of the type that the pointer leads to"))
            }
        };
        let kind = match form {
            Form::Bare(kind) => kind,
            Form::WithValue(kind) => kind(value(3)?),
            Form::CompareExchange => AtomicKind::CompareExchange { value: value(4)?, comparator: value(5)? },
        };
        let unequal = match form {
            Form::CompareExchange => self.semantics(instruction, 3)?,
            Form::Bare(_) | Form::WithValue(_) => Semantics::default(),
        };
        let dst = match opcode {
            Opcode::AtomicStore => 0,
            _ => self.result(instruction)?.operand.index(),
        };
        if matches!(class, StorageClass::Uniform | StorageClass::StorageBuffer | StorageClass::Image) {
            self.access_part(instruction, 0, pointer.operand, 0);
        }
        let op = AtomicOp {
            kind,
            dst,
            pointer: pointer.operand,
            class,
            width: lanes.width,
            scope,
            semantics,
            unequal,
            result_used: true,
        };
        self.emit(Op::Atomic(op), instruction);
        Ok(())
    }
}

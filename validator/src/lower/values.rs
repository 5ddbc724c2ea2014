//! Instructions that compute values from values alone, as their families see them.
//!
//! Function bodies and specialisation constants go through the same families; what differs is
//! where values come from ([`Values`]).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::types::{Kind, Lanes, MatrixSize, TypeTable};
use super::{arithmetic, bits, comparison, composite, conversion, integer_dot, matrix};
use crate::ir::{Line, Op, Operand};

/// A value: its type's id and where its components are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub ty: u32,
    pub operand: Operand,
}

/// Where the values that an instruction names come from.
pub(super) trait Values {
    fn types(&self) -> &TypeTable;
    fn value(&self, id: u32, line: Line) -> Result<Value, Problem>;
}

/// An instruction that computes a value from values alone.
pub(super) struct Computation<'a> {
    pub opcode: Opcode,
    pub result_type: u32,
    /// First register of the result.
    pub dst: u32,
    /// The words after result type and result.
    pub operands: &'a [u32],
    pub line: Line,
    pub values: &'a dyn Values,
}

impl Computation<'_> {
    /// Lowers the instruction; `None` if it is of no family that computes values.
    pub fn lower(&self) -> Option<Result<Op, Problem>> {
        let families = [
            arithmetic::lower,
            bits::lower,
            comparison::lower,
            conversion::lower,
            composite::lower,
            integer_dot::lower,
            matrix::lower,
        ];
        families.iter().find_map(|family| family(self))
    }

    pub fn types(&self) -> &TypeTable {
        self.values.types()
    }

    pub fn invalid(&self, message: &str) -> Problem {
        Problem::invalid(self.line, format!("Op{:?}: {message}", self.opcode))
    }

    /// The operand word at this position.
    pub fn word(&self, position: usize) -> Result<u32, Problem> {
        self.operands.get(position).copied().ok_or_else(|| self.invalid("an operand is missing"))
    }

    /// The value at this operand position.
    pub fn value(&self, position: usize) -> Result<Value, Problem> {
        self.values.value(self.word(position)?, self.line)
    }

    /// Number of components of a type.
    pub fn components(&self, ty: u32) -> Result<u32, Problem> {
        self.types().components(ty, self.line)
    }

    /// The result type as scalar or vector.
    pub fn result_lanes(&self) -> Result<Lanes, Problem> {
        self.types().lanes(self.result_type, self.line)
    }

    /// The scalar or vector at this operand position.
    pub fn lanes(&self, position: usize) -> Result<(Operand, Lanes), Problem> {
        let value = self.value(position)?;
        Ok((value.operand, self.types().lanes(value.ty, self.line)?))
    }

    /// The operand at this position, which must have exactly these components.
    pub fn expect(&self, position: usize, expected: Lanes) -> Result<Operand, Problem> {
        let (operand, lanes) = self.lanes(position)?;
        if lanes != expected {
            return Err(self.invalid("an operand has the wrong type"));
        }
        Ok(operand)
    }

    /// The scalar or vector at this position with `count` components of this kind, of any width.
    pub fn expect_kind(&self, position: usize, kind: Kind, count: u32) -> Result<(Operand, u8), Problem> {
        let (operand, lanes) = self.lanes(position)?;
        if lanes.kind != kind || lanes.count != count {
            return Err(self.invalid("an operand has the wrong type"));
        }
        Ok((operand, lanes.width))
    }

    /// The matrix at this operand position.
    pub fn matrix(&self, position: usize) -> Result<(Operand, MatrixSize), Problem> {
        let value = self.value(position)?;
        Ok((value.operand, self.types().matrix(value.ty, self.line)?))
    }

    /// The result lanes, which must be of this kind.
    pub fn result_of_kind(&self, kind: Kind) -> Result<Lanes, Problem> {
        let lanes = self.result_lanes()?;
        if lanes.kind == kind {
            Ok(lanes)
        } else {
            Err(self.invalid("the result has the wrong type"))
        }
    }

    /// Fails unless the condition holds.
    pub fn require(&self, condition: bool, message: &str) -> Result<(), Problem> {
        if condition {
            Ok(())
        } else {
            Err(self.invalid(message))
        }
    }
}

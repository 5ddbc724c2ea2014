//! Where indices lead into a variable.

use super::types::{Matrix, Types};

impl<'t> Types<'t> {
    /// The memory and the byte to which indices lead from a variable that is a block; `None` for what is no block, and where
    /// the types do not say it.
    pub(in crate::report) fn reach(&self, variable: &'t str, indices: &[u64]) -> Option<(String, usize)> {
        let key = self.key(variable)?;
        let mut ty = self.pointee(self.inst(variable)?.operands.first()?)?;
        if self.inst(ty)?.opcode != "OpTypeStruct" {
            return None;
        }
        let (mut offset, mut matrix) = (0_usize, Matrix::default());
        for index in indices {
            let at = usize::try_from(*index).ok()?;
            let inst = self.inst(ty)?;
            let element = match inst.opcode {
                "OpTypeStruct" => {
                    offset = offset.checked_add(*self.offsets(inst, ty)?.get(at)?)?;
                    matrix = self.matrix(ty, at);
                    ty = inst.operands.get(at)?;
                    continue;
                }
                _ => *inst.operands.first()?,
            };
            let stride = match inst.opcode {
                "OpTypeArray" | "OpTypeRuntimeArray" => self.stride_of(ty, element, matrix)?,
                "OpTypeMatrix" if matrix.row_major => self.size_of(self.inst(element)?.operands.first()?)?,
                "OpTypeMatrix" => matrix.stride.or_else(|| self.size_of(element))?,
                // A component of a column whose matrix has its rows one behind the other.
                "OpTypeVector" if matrix.row_major => matrix.stride?,
                "OpTypeVector" => self.size_of(element)?,
                _ => return None,
            };
            offset = offset.checked_add(stride.checked_mul(at)?)?;
            ty = element;
        }
        Some((key, offset))
    }
}

//! Implicit levels of detail in fragments: an instruction that needs one is lowered to the derivatives of its coordinates
//! within the quad, and the instruction with these (Vulkan, "Derivative Image Operations").

use super::error::Problem;
use super::function::FunctionBuilder;
use super::images::Parts;
use super::types::Kind;
use super::values::Values;
use crate::ir::image::{Coordinate, Dim, ImageAction, ImageOperands, ImageType};
use crate::ir::{BinaryOp, Contribution, Derivative, Op, Operand, SubgroupKind, SubgroupOp};
use crate::module::Instruction;

impl FunctionBuilder<'_, '_> {
    /// The derivatives of coordinates that say the level of detail, and the number of their components.
    pub(super) fn gradients(
        &mut self,
        instruction: &Instruction,
        ty: ImageType,
        coordinate: Coordinate,
        projective: bool,
    ) -> Result<(Operand, Operand, u32), Problem> {
        let line = instruction.line;
        let Coordinate { first, width, .. } = coordinate;
        let count = if ty.dim == Dim::Cube { 3 } else { ty.dim.dimensions() as u32 };
        let mut from = first;
        if projective {
            let projected = self.registers(count, line)?;
            for component in 0..count {
                let (a, b) = (first.offset(component), first.offset(count));
                let dst = projected + component;
                self.emit(Op::Binary { op: BinaryOp::FDiv, width, count: 1, dst, a, b }, instruction);
            }
            from = Operand::register(projected);
        }
        let of = Derivative::Gradients;
        let dst = self.temporaries(width, of.results() * count, line)?;
        let value = Contribution { value: from, count, width };
        self.emit(
            Op::Subgroup(SubgroupOp { kind: SubgroupKind::Derivative { of, value }, dst }),
            instruction,
        );
        Ok((Operand::register(dst), Operand::register(dst + count), count))
    }

    /// OpImageQueryLod.
    pub(super) fn query_lod(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let (image, ty) = self.image_operand(instruction, true)?;
        // There is no layer among the coordinates.
        let directions = ImageType { arrayed: false, ..ty };
        let coordinate = self.sample_coordinate(instruction, directions, false)?;
        let result = self.result(instruction)?;
        let lanes = self.types().lanes(result.ty, line)?;
        if lanes.kind != Kind::Float || lanes.width != 32 || lanes.count != 2 {
            return Err(Problem::invalid(line, "the result of OpImageQueryLod is no vector of two floats"));
        }
        let grad = Some(self.gradients(instruction, ty, coordinate, false)?);
        let operands = ImageOperands { grad, ..ImageOperands::default() };
        let action = ImageAction::QueryLod;
        self.emit_image(instruction, Parts { action, image, ty, coordinate: Some(coordinate), operands })
    }
}

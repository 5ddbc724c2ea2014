//! Ray queries (SPV_KHR_ray_query, SPV_KHR_ray_tracing_position_fetch).

use rspirv::spirv::Op as Opcode;

use super::error::Problem;
use super::function::FunctionBuilder;
use super::types::{Kind, Lanes, ScalarType, Type};
use super::values::Values;
use crate::ir::{ConvertOp, IntersectionValue, Op, Operand, RayKind, RayOp, RayParameters, RayValue};
use crate::module::Instruction;

const FLOAT: Lanes = Lanes { kind: Kind::Float, width: 32, count: 1 };
const POSITION: Lanes = Lanes { kind: Kind::Float, width: 32, count: 3 };
const INTEGER: Lanes = Lanes { kind: Kind::Int, width: 32, count: 1 };

impl FunctionBuilder<'_, '_> {
    /// Lowers an instruction on ray queries or acceleration structures; `None` if it is none.
    pub fn ray(&mut self, opcode: Opcode, instruction: &Instruction) -> Option<Result<(), Problem>> {
        Some(match opcode {
            Opcode::ConvertUToAccelerationStructureKHR => self.structure_at(instruction),
            Opcode::RayQueryInitializeKHR => self.ray_initialize(instruction),
            Opcode::RayQueryTerminateKHR => self.ray_op(instruction, RayKind::Terminate),
            Opcode::RayQueryConfirmIntersectionKHR => self.ray_op(instruction, RayKind::Confirm),
            Opcode::RayQueryGenerateIntersectionKHR => self
                .ray_operand(instruction, 1, FLOAT)
                .and_then(|t| self.ray_op(instruction, RayKind::Generate { t })),
            Opcode::RayQueryProceedKHR => self
                .ray_result(instruction, 1)
                .and_then(|dst| self.ray_op(instruction, RayKind::Proceed { dst })),
            _ => match (ray_value(opcode), intersection_value(opcode)) {
                (Some(what), _) => {
                    let components = match what {
                        RayValue::WorldDirection | RayValue::WorldOrigin => 3,
                        RayValue::TMin | RayValue::Flags | RayValue::CandidateAabbOpaque => 1,
                    };
                    self.ray_result(instruction, components)
                        .and_then(|dst| self.ray_op(instruction, RayKind::Get { dst, what }))
                }
                (None, Some(what)) => self.ray_intersection(instruction, what),
                (None, None) => return None,
            },
        })
    }

    /// OpConvertUToAccelerationStructureKHR: the handle's bits.
    fn structure_at(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let dst = self.result(instruction)?;
        let invalid = |message| Err(Problem::invalid(line, message));
        if !matches!(self.types().get(dst.ty, line)?, Type::AccelerationStructure) {
            return invalid("the result is not an acceleration structure");
        }
        let address = self.operand(instruction, 0)?;
        let (dst, a) = (dst.operand.index(), address.operand);
        let op = match self.types().lanes(address.ty, line)? {
            Lanes { kind: Kind::Int, width: 64, count: 1 } => Op::Copy { dst, a, count: 1 },
            Lanes { kind: Kind::Int, width: 32, count: 2 } => {
                Op::Convert { op: ConvertOp::Bitcast, from: 32, to: 64, count: 2, dst, a }
            }
            _ => return invalid("the address is neither a 64-bit integer nor two 32-bit integers"),
        };
        self.emit(op, instruction);
        Ok(())
    }

    fn ray_initialize(&mut self, instruction: &Instruction) -> Result<(), Problem> {
        let line = instruction.line;
        let structure = self.operand(instruction, 1)?;
        if !matches!(self.types().get(structure.ty, line)?, Type::AccelerationStructure) {
            return Err(Problem::invalid(line, "an acceleration structure is expected here"));
        }
        let parameters = RayParameters {
            structure: structure.operand,
            flags: self.ray_operand(instruction, 2, INTEGER)?,
            cull_mask: self.ray_operand(instruction, 3, INTEGER)?,
            origin: self.ray_operand(instruction, 4, POSITION)?,
            t_min: self.ray_operand(instruction, 5, FLOAT)?,
            direction: self.ray_operand(instruction, 6, POSITION)?,
            t_max: self.ray_operand(instruction, 7, FLOAT)?,
        };
        self.ray_op(instruction, RayKind::Initialize(parameters))
    }

    fn ray_intersection(
        &mut self,
        instruction: &Instruction,
        what: IntersectionValue,
    ) -> Result<(), Problem> {
        let line = instruction.line;
        let dst = self.ray_result(instruction, what.components())?;
        let intersection = self.word(instruction, 1)?;
        let committed = match self.program.globals.integer(intersection, line)? {
            0 => false,
            1 => true,
            other => {
                return Err(Problem::invalid(line, format!("there is no ray query intersection {other}")))
            }
        };
        self.ray_op(instruction, RayKind::GetIntersection { dst, what, committed })
    }

    /// Emits the operation on the query that the first operand points to.
    fn ray_op(&mut self, instruction: &Instruction, kind: RayKind) -> Result<(), Problem> {
        let line = instruction.line;
        let query = self.operand(instruction, 0)?;
        let (_, pointee) = self.types().pointer(query.ty, line)?;
        if !matches!(self.types().get(pointee, line)?, Type::RayQuery) {
            return Err(Problem::invalid(line, "a pointer to a ray query is expected here"));
        }
        self.emit(Op::Ray(RayOp { query: query.operand, kind }), instruction);
        Ok(())
    }

    fn ray_operand(
        &mut self,
        instruction: &Instruction,
        position: usize,
        expected: Lanes,
    ) -> Result<Operand, Problem> {
        let value = self.operand(instruction, position)?;
        if self.types().lanes(value.ty, instruction.line)? != expected {
            return Err(Problem::invalid(instruction.line, "an operand of the ray query has the wrong type"));
        }
        Ok(value.operand)
    }

    /// The first register of the result, which must have so many components of at most 32 bits.
    fn ray_result(&self, instruction: &Instruction, components: u32) -> Result<u32, Problem> {
        let line = instruction.line;
        let result = self.result(instruction)?;
        let mut fits = self.types().components(result.ty, line)? == components;
        self.types().for_each_scalar(result.ty, line, &mut |scalar| match scalar {
            ScalarType::Number(width) => fits &= width <= 32,
            ScalarType::Pointer | ScalarType::PhysicalPointer => fits = false,
        })?;
        match fits {
            true => Ok(result.operand.index()),
            false => Err(Problem::invalid(line, "the result of the ray query has the wrong type")),
        }
    }
}

const fn ray_value(opcode: Opcode) -> Option<RayValue> {
    Some(match opcode {
        Opcode::RayQueryGetRayTMinKHR => RayValue::TMin,
        Opcode::RayQueryGetRayFlagsKHR => RayValue::Flags,
        Opcode::RayQueryGetWorldRayDirectionKHR => RayValue::WorldDirection,
        Opcode::RayQueryGetWorldRayOriginKHR => RayValue::WorldOrigin,
        Opcode::RayQueryGetIntersectionCandidateAABBOpaqueKHR => RayValue::CandidateAabbOpaque,
        _ => return None,
    })
}

const fn intersection_value(opcode: Opcode) -> Option<IntersectionValue> {
    Some(match opcode {
        Opcode::RayQueryGetIntersectionTypeKHR => IntersectionValue::Type,
        Opcode::RayQueryGetIntersectionTKHR => IntersectionValue::T,
        Opcode::RayQueryGetIntersectionInstanceCustomIndexKHR => IntersectionValue::InstanceCustomIndex,
        Opcode::RayQueryGetIntersectionInstanceIdKHR => IntersectionValue::InstanceId,
        Opcode::RayQueryGetIntersectionInstanceShaderBindingTableRecordOffsetKHR => {
            IntersectionValue::RecordOffset
        }
        Opcode::RayQueryGetIntersectionGeometryIndexKHR => IntersectionValue::GeometryIndex,
        Opcode::RayQueryGetIntersectionPrimitiveIndexKHR => IntersectionValue::PrimitiveIndex,
        Opcode::RayQueryGetIntersectionBarycentricsKHR => IntersectionValue::Barycentrics,
        Opcode::RayQueryGetIntersectionFrontFaceKHR => IntersectionValue::FrontFace,
        Opcode::RayQueryGetIntersectionObjectRayDirectionKHR => IntersectionValue::ObjectRayDirection,
        Opcode::RayQueryGetIntersectionObjectRayOriginKHR => IntersectionValue::ObjectRayOrigin,
        Opcode::RayQueryGetIntersectionObjectToWorldKHR => IntersectionValue::ObjectToWorld,
        Opcode::RayQueryGetIntersectionWorldToObjectKHR => IntersectionValue::WorldToObject,
        Opcode::RayQueryGetIntersectionTriangleVertexPositionsKHR => IntersectionValue::VertexPositions,
        _ => return None,
    })
}

//! Operations on ray queries. A query is memory of the invocation's own, of [`RAY_QUERY_SIZE`] bytes.

use super::Operand;

/// Bytes that a ray query takes in memory.
pub const RAY_QUERY_SIZE: u32 = 88;

/// An operation on the ray query that `query` points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RayOp {
    pub query: Operand,
    pub kind: RayKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RayKind {
    Initialize(RayParameters),
    Terminate,
    /// OpRayQueryGenerateIntersectionKHR.
    Generate {
        t: Operand,
    },
    /// OpRayQueryConfirmIntersectionKHR.
    Confirm,
    Proceed {
        dst: u32,
    },
    Get {
        dst: u32,
        what: RayValue,
    },
    GetIntersection {
        dst: u32,
        what: IntersectionValue,
        /// Of the committed intersection, not of the candidate.
        committed: bool,
    },
}

/// The operands of OpRayQueryInitializeKHR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RayParameters {
    pub structure: Operand,
    pub flags: Operand,
    pub cull_mask: Operand,
    pub origin: Operand,
    pub t_min: Operand,
    pub direction: Operand,
    pub t_max: Operand,
}

/// What can be asked of a query whatever the state of its traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RayValue {
    TMin,
    Flags,
    WorldDirection,
    WorldOrigin,
    CandidateAabbOpaque,
}

/// What can be asked of an intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntersectionValue {
    Type,
    T,
    InstanceCustomIndex,
    InstanceId,
    RecordOffset,
    GeometryIndex,
    PrimitiveIndex,
    Barycentrics,
    FrontFace,
    ObjectRayDirection,
    ObjectRayOrigin,
    ObjectToWorld,
    WorldToObject,
    VertexPositions,
}

impl IntersectionValue {
    /// Components of the value.
    pub const fn components(self) -> u32 {
        match self {
            IntersectionValue::Type
            | IntersectionValue::T
            | IntersectionValue::InstanceCustomIndex
            | IntersectionValue::InstanceId
            | IntersectionValue::RecordOffset
            | IntersectionValue::GeometryIndex
            | IntersectionValue::PrimitiveIndex
            | IntersectionValue::FrontFace => 1,
            IntersectionValue::Barycentrics => 2,
            IntersectionValue::ObjectRayDirection | IntersectionValue::ObjectRayOrigin => 3,
            IntersectionValue::ObjectToWorld | IntersectionValue::WorldToObject => 12,
            IntersectionValue::VertexPositions => 9,
        }
    }
}

impl RayOp {
    /// Visits the first component of every operand.
    pub(super) fn visit_operands(&self, visit: &mut dyn FnMut(Operand)) {
        visit(self.query);
        match self.kind {
            RayKind::Initialize(RayParameters {
                structure,
                flags,
                cull_mask,
                origin,
                t_min,
                direction,
                t_max,
            }) => {
                [structure, flags, cull_mask, origin, t_min, direction, t_max].into_iter().for_each(visit);
            }
            RayKind::Generate { t } => visit(t),
            RayKind::Terminate
            | RayKind::Confirm
            | RayKind::Proceed { .. }
            | RayKind::Get { .. }
            | RayKind::GetIntersection { .. } => {}
        }
    }

    /// The first register of the result.
    pub(super) const fn destination(&self) -> Option<u32> {
        match self.kind {
            RayKind::Proceed { dst } | RayKind::Get { dst, .. } | RayKind::GetIntersection { dst, .. } => {
                Some(dst)
            }
            RayKind::Initialize(_) | RayKind::Terminate | RayKind::Generate { .. } | RayKind::Confirm => None,
        }
    }
}

//! Ray queries (SPV_KHR_ray_query; Vulkan specification, "Ray Traversal").
//!
//! The state of a query lies in the invocation's own memory ([`query`]). [`hits`] finds what a ray meets,
//! [`traversal`] the ways in which a traversal may go on.

mod hits;
mod query;
#[cfg(test)]
mod tests;
mod traversal;

use super::float;
use super::machine::{fault, Machine, Step};
use super::Stop;
use crate::acceleration::{AccelerationStructure, Instance, Primitive};
use crate::event::UndefinedKind;
use crate::ir::{Inst, IntersectionValue, Line, Operand, RayKind, RayOp, RayParameters, RayValue};
use crate::value::Scalar;
use hits::{Hit, Kind};
use query::{Committed, CommittedKind, Proceeded, Query};
use traversal::Way;

/// Ray flags (SPV_KHR_ray_query, "Ray Flags").
mod flag {
    pub const OPAQUE: u32 = 0x1;
    pub const NO_OPAQUE: u32 = 0x2;
    pub const TERMINATE_ON_FIRST_HIT: u32 = 0x4;
    pub const SKIP_CLOSEST_HIT_SHADER: u32 = 0x8;
    pub const CULL_BACK_FACING: u32 = 0x10;
    pub const CULL_FRONT_FACING: u32 = 0x20;
    pub const CULL_OPAQUE: u32 = 0x40;
    pub const CULL_NO_OPAQUE: u32 = 0x80;
    pub const SKIP_TRIANGLES: u32 = 0x100;
    pub const SKIP_AABBS: u32 = 0x200;
    pub const KNOWN: u32 = OPAQUE
        | NO_OPAQUE
        | TERMINATE_ON_FIRST_HIT
        | SKIP_CLOSEST_HIT_SHADER
        | CULL_BACK_FACING
        | CULL_FRONT_FACING
        | CULL_OPAQUE
        | CULL_NO_OPAQUE
        | SKIP_TRIANGLES
        | SKIP_AABBS;
    /// Of each of these at most one may be set.
    pub const EXCLUSIVE: [u32; 3] = [
        OPAQUE | NO_OPAQUE | CULL_OPAQUE | CULL_NO_OPAQUE,
        SKIP_TRIANGLES | CULL_BACK_FACING | CULL_FRONT_FACING,
        SKIP_TRIANGLES | SKIP_AABBS,
    ];
}

fn invalid(line: Line, detail: &str) -> Box<Stop> {
    fault(UndefinedKind::InvalidRayQuery, line, detail)
}

impl Machine<'_> {
    /// An operation on a ray query.
    pub(super) fn ray(&mut self, op: &RayOp, inst: &Inst) -> Step {
        let line = inst.line;
        let pointer = self.resolve(op.query, line)?;
        let place = pointer
            .own_object()
            .and_then(|object| self.state.own.locate(object, pointer.offset, crate::ir::RAY_QUERY_SIZE));
        let Some(place) = place else {
            return Err(invalid(line, "the pointer leads to no ray query"));
        };
        if let RayKind::Initialize(parameters) = &op.kind {
            let query = self.initialize_ray(parameters, line)?;
            query.store(&mut self.state.own, place);
            return Ok(());
        }
        let Some(mut query) = Query::load(&self.state.own, place) else {
            return Err(invalid(line, "the ray query is not initialised"));
        };
        match op.kind {
            RayKind::Initialize(_) => {}
            RayKind::Terminate => {
                if query.proceeded == Proceeded::Finished {
                    return Err(invalid(line, "a traversal that is complete cannot be terminated"));
                }
                query.terminated = true;
            }
            RayKind::Proceed { dst } => {
                if query.proceeded == Proceeded::Finished {
                    return Err(invalid(line, "the traversal is complete, it cannot proceed"));
                }
                let goes_on = self.proceed(&mut query, inst)?;
                self.state.set(dst, Scalar::new(u64::from(goes_on)));
            }
            RayKind::Confirm => {
                let hit = self.candidate(&query, line)?;
                let Kind::Triangle { .. } = hit.kind else {
                    return Err(invalid(line, "the candidate is not a triangle, it cannot be confirmed"));
                };
                if hit.t < f64::from(query.t_max) {
                    query.commit(&hit, CommittedKind::Triangle, hit.t as f32);
                }
            }
            RayKind::Generate { t } => {
                let hit = self.candidate(&query, line)?;
                let Kind::Box = hit.kind else {
                    return Err(invalid(
                        line,
                        "the candidate is not an AABB: no intersection can be generated",
                    ));
                };
                let t = self.ray_number(t, line)?;
                // False for a NaN, too.
                if !(query.t_min <= t && t <= query.t_max) {
                    let detail =
                        "Hit T is not between Ray TMin and the T of the closest hit so far, or Ray TMax";
                    return Err(invalid(line, detail));
                }
                // An equally close hit may be taken or dropped.
                if t < query.t_max || self.choose(2, line)? == 0 {
                    query.commit(&hit, CommittedKind::Generated, t);
                }
            }
            RayKind::Get { dst, what } => {
                self.ray_value(&query, what, dst, line)?;
                return Ok(());
            }
            RayKind::GetIntersection { dst, what, committed } => {
                self.intersection_value(&query, what, committed, dst, inst)?;
                return Ok(());
            }
        }
        query.store(&mut self.state.own, place);
        Ok(())
    }

    /// OpRayQueryInitializeKHR: the operands must be what Vulkan demands of them (the environment's
    /// rules 06348 to 06351 and 06889 to 06891).
    fn initialize_ray(&mut self, parameters: &RayParameters, line: Line) -> Result<Query, Box<Stop>> {
        let structure = self.value(parameters.structure);
        if !structure.is_defined() {
            let detail = "the acceleration structure is undefined";
            return Err(fault(UndefinedKind::UndefinedAddress, line, detail));
        }
        self.structure(structure.bits, line)?;
        let flags = self.value(parameters.flags);
        if !flags.is_defined() {
            return Err(fault(UndefinedKind::UndefinedOperand, line, "the ray flags are undefined"));
        }
        let flags = flags.bits as u32;
        if flag::EXCLUSIVE.iter().any(|group| (flags & group).count_ones() > 1) {
            return Err(invalid(line, "the ray flags exclude each other"));
        }
        if flags & !flag::KNOWN != 0 {
            return Err(Box::new(Stop::Unsupported { line, what: "a ray flag of another extension" }));
        }
        let mask = self.value(parameters.cull_mask);
        let mask = self.choose_bits(Scalar { bits: mask.bits & 0xff, undef: mask.undef & 0xff }, line)?;
        let origin = self.ray_vector(parameters.origin, line)?;
        let direction = self.ray_vector(parameters.direction, line)?;
        if !origin.iter().chain(&direction).all(|component| component.is_finite()) {
            return Err(invalid(line, "the origin or direction of the ray is not finite"));
        }
        let t_min = self.ray_number(parameters.t_min, line)?;
        let t_max = self.ray_number(parameters.t_max, line)?;
        if !(t_min >= 0.0 && t_max >= t_min) {
            return Err(invalid(line, "Ray TMin or TMax is negative or NaN, or TMax is less than TMin"));
        }
        Ok(Query::new(structure.bits, flags, mask.bits as u32, origin, t_min, direction, t_max))
    }

    fn ray_number(&self, operand: Operand, line: Line) -> Result<f32, Box<Stop>> {
        let value = self.value(operand);
        match value.is_defined() {
            true => Ok(f32::from_bits(value.bits as u32)),
            false => Err(fault(UndefinedKind::UndefinedOperand, line, "a parameter of the ray is undefined")),
        }
    }

    fn ray_vector(&self, operand: Operand, line: Line) -> Result<[f32; 3], Box<Stop>> {
        let component = |i| self.ray_number(operand.offset(i), line);
        Ok([component(0)?, component(1)?, component(2)?])
    }

    /// The acceleration structure with this handle.
    fn structure(&self, handle: u64, line: Line) -> Result<&AccelerationStructure, Box<Stop>> {
        let known = &self.dispatch.acceleration_structures;
        known
            .iter()
            .find(|(known, _)| *known == handle)
            .map(|(_, structure)| structure)
            .ok_or_else(|| invalid(line, "there is no acceleration structure at this address"))
    }

    /// OpRayQueryProceedKHR: whether there is a candidate to look at.
    fn proceed(&mut self, query: &mut Query, inst: &Inst) -> Result<bool, Box<Stop>> {
        if query.terminated {
            query.proceeded = Proceeded::Finished;
            return Ok(false);
        }
        let line = inst.line;
        let structure = self.structure(query.structure, line)?;
        let met = hits::along(query, structure);
        let ways = traversal::ways(query, &met.hits, structure.in_order).ok_or_else(|| {
            Box::new(Stop::Unsupported { line, what: "a ray with more than 64 orders of its candidates" })
        })?;
        if met.doubtful {
            self.record(inst);
        }
        let way = self.choose(ways.len() as u32, line)?;
        let Some(Way { commit, candidate }) = ways.get(way as usize) else {
            return Err(invalid(line, "the traversal cannot go on"));
        };
        if let Some(hit) = commit {
            query.commit(hit, CommittedKind::Triangle, hit.t as f32);
        }
        match candidate {
            Some(hit) => {
                query.proceeded = Proceeded::Candidate;
                query.candidate = hit.number;
                query.count(hit.number);
            }
            None => query.proceeded = Proceeded::Finished,
        }
        Ok(candidate.is_some())
    }

    /// The candidate that the last OpRayQueryProceedKHR came to.
    fn candidate(&self, query: &Query, line: Line) -> Result<Hit, Box<Stop>> {
        if query.proceeded != Proceeded::Candidate {
            return Err(invalid(line, "there is no candidate: OpRayQueryProceedKHR did not return true"));
        }
        self.hit(query, query.candidate, line)
    }

    fn hit(&self, query: &Query, number: u32, line: Line) -> Result<Hit, Box<Stop>> {
        let structure = self.structure(query.structure, line)?;
        hits::of(query, structure, number).ok_or_else(|| invalid(line, "there is no such primitive"))
    }

    fn ray_value(&mut self, query: &Query, what: RayValue, dst: u32, line: Line) -> Step {
        let number = |value: f32| Scalar::new(u64::from(value.to_bits()));
        match what {
            RayValue::TMin => self.state.set(dst, number(query.t_min)),
            RayValue::Flags => self.state.set(dst, Scalar::new(u64::from(query.flags))),
            RayValue::WorldOrigin => self.set_all(dst, &query.origin.map(number)),
            RayValue::WorldDirection => self.set_all(dst, &query.direction.map(number)),
            RayValue::CandidateAabbOpaque => {
                // No rule says that there must be a candidate: without one the value is undefined.
                let opaque = match query.proceeded {
                    Proceeded::Candidate => match self.hit(query, query.candidate, line)? {
                        Hit { kind: Kind::Box, opaque, .. } => Some(opaque),
                        Hit { kind: Kind::Triangle { .. }, .. } => None,
                    },
                    Proceeded::NotYet | Proceeded::Finished => None,
                };
                let value = opaque.map_or(Scalar::undefined(1), |opaque| Scalar::new(u64::from(opaque)));
                self.state.set(dst, value);
            }
        }
        Ok(())
    }

    fn intersection_value(
        &mut self,
        query: &Query,
        what: IntersectionValue,
        committed: bool,
        dst: u32,
        inst: &Inst,
    ) -> Step {
        let line = inst.line;
        let integer = |value: u32| Scalar::new(u64::from(value));
        if let (IntersectionValue::Type, true) = (what, committed) {
            self.state.set(dst, integer(query.committed_type()));
            return Ok(());
        }
        let (hit, t, is_triangle) = if committed {
            let Some(Committed { kind, primitive, t }) = query.committed else {
                return Err(invalid(line, "no intersection is committed"));
            };
            (self.hit(query, primitive, line)?, t, kind == CommittedKind::Triangle)
        } else {
            let hit = self.candidate(query, line)?;
            let is_triangle = matches!(hit.kind, Kind::Triangle { .. });
            (hit, hit.t as f32, is_triangle)
        };
        let structure = self.structure(query.structure, line)?;
        let Some(instance) = structure.instances.get(hit.instance as usize) else {
            return Err(invalid(line, "there is no such instance"));
        };
        let values: super::machine::Components = match what {
            IntersectionValue::Type => [integer(u32::from(!is_triangle))].into_iter().collect(),
            IntersectionValue::T if committed || is_triangle => [float::single(t)].into_iter().collect(),
            IntersectionValue::InstanceCustomIndex => [integer(instance.custom_index)].into_iter().collect(),
            IntersectionValue::InstanceId => [integer(hit.instance)].into_iter().collect(),
            IntersectionValue::RecordOffset => [integer(instance.record_offset)].into_iter().collect(),
            IntersectionValue::GeometryIndex => [integer(hit.geometry)].into_iter().collect(),
            IntersectionValue::PrimitiveIndex => [integer(hit.primitive)].into_iter().collect(),
            IntersectionValue::ObjectRayDirection => {
                singles(&instance.world_to_object.direction(query.direction.map(f64::from)))
            }
            IntersectionValue::ObjectRayOrigin => {
                singles(&instance.world_to_object.position(query.origin.map(f64::from)))
            }
            IntersectionValue::ObjectToWorld => columns(&instance.object_to_world.0),
            IntersectionValue::WorldToObject => columns(&instance.world_to_object.0),
            IntersectionValue::T
            | IntersectionValue::Barycentrics
            | IntersectionValue::FrontFace
            | IntersectionValue::VertexPositions => match (hit.kind, triangle(instance, &hit)) {
                (Kind::Triangle { barycentrics, front }, Some(vertices)) if is_triangle => match what {
                    IntersectionValue::Barycentrics => singles(&barycentrics),
                    IntersectionValue::FrontFace => [Scalar::new(u64::from(front))].into_iter().collect(),
                    _ => vertices.iter().flatten().map(|&value| float::single(value)).collect(),
                },
                _ => return Err(invalid(line, "the intersection is not with a triangle")),
            },
        };
        let is_inexact = match what {
            IntersectionValue::T | IntersectionValue::Barycentrics => is_triangle,
            IntersectionValue::ObjectRayDirection
            | IntersectionValue::ObjectRayOrigin
            | IntersectionValue::WorldToObject => {
                instance.object_to_world != crate::acceleration::Transform::IDENTITY
            }
            IntersectionValue::Type
            | IntersectionValue::InstanceCustomIndex
            | IntersectionValue::InstanceId
            | IntersectionValue::RecordOffset
            | IntersectionValue::GeometryIndex
            | IntersectionValue::PrimitiveIndex
            | IntersectionValue::FrontFace
            | IntersectionValue::ObjectToWorld
            | IntersectionValue::VertexPositions => false,
        };
        if is_inexact {
            self.record(inst);
        }
        self.set_all(dst, &values);
        Ok(())
    }
}

fn triangle<'i>(instance: &'i Instance, hit: &Hit) -> Option<&'i [[f32; 3]; 3]> {
    match instance.geometries.get(hit.geometry as usize)?.primitives.get(hit.primitive as usize)? {
        Primitive::Triangle(vertices) => Some(vertices),
        Primitive::Box(_) => None,
    }
}

fn singles(values: &[f64]) -> super::machine::Components {
    values.iter().map(|&value| float::single(value as f32)).collect()
}

/// A matrix of three rows, column after column.
fn columns(rows: &[[f64; 4]; 3]) -> super::machine::Components {
    (0..4).flat_map(|column| rows.iter().map(move |row| float::single(row[column] as f32))).collect()
}

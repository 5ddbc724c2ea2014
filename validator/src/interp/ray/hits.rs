//! What a ray meets: intersection candidates and their culling.
//!
//! Computed in 64 bits from the operands as they are. How precise an implementation is, is its own
//! affair; where a slightly different result would change what is met, the ray is called doubtful.

use super::flag;
use super::query::Query;
use crate::acceleration::{AccelerationStructure, Geometry, Instance, Opacity, Primitive};

/// How far from an edge, an end of the ray or a plane a ray is doubtful, relative to the sizes involved.
const MARGIN: f64 = 1e-5;

/// An intersection candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hit {
    /// Of the primitive, over the whole acceleration structure.
    pub number: u32,
    pub instance: u32,
    pub geometry: u32,
    pub primitive: u32,
    /// Of an AABB: where the ray enters it.
    pub t: f64,
    pub kind: Kind,
    pub opaque: bool,
    /// May be given to the shader twice.
    pub duplicates: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Weights of the second and the third vertex.
    Triangle {
        barycentrics: [f64; 2],
        front: bool,
    },
    Box,
}

/// What a ray meets, nearest first.
pub(super) struct Met {
    pub hits: Vec<Hit>,
    pub doubtful: bool,
}

/// How a ray stands to a primitive.
struct Meeting {
    t: f64,
    kind: Kind,
    meets: bool,
    doubtful: bool,
}

/// The candidates along the whole ray that are not culled.
pub(super) fn along(query: &Query, structure: &AccelerationStructure) -> Met {
    let mut met = Met { hits: Vec::new(), doubtful: false };
    let mut number = 0;
    for (instance_number, instance) in (0..).zip(structure.instances.iter()) {
        for (geometry_number, geometry) in (0..).zip(&instance.geometries) {
            for (primitive_number, primitive) in (0..).zip(&geometry.primitives) {
                let place = [number, instance_number, geometry_number, primitive_number];
                number += 1;
                if u32::from(instance.mask) & query.mask == 0 {
                    continue;
                }
                let Some(meeting) = meeting(query, instance, primitive) else { continue };
                let hit = hit(query, place, instance, geometry, &meeting);
                if is_culled(query, instance, &hit) {
                    continue;
                }
                met.doubtful |= meeting.doubtful;
                if meeting.meets {
                    met.hits.push(hit);
                }
            }
        }
    }
    met.hits.sort_by(|a, b| a.t.total_cmp(&b.t));
    // Which of two is closer matters where one of them sets the ray's end at its own T.
    met.doubtful |= met.hits.windows(2).any(|pair| match pair {
        [a, b] => near(a.t, b.t) && (a.kind, b.kind) != (Kind::Box, Kind::Box),
        _ => false,
    });
    met
}

/// The candidate of this number, met or not.
pub(super) fn of(query: &Query, structure: &AccelerationStructure, wanted: u32) -> Option<Hit> {
    let mut before = 0;
    for (instance_number, instance) in (0..).zip(structure.instances.iter()) {
        for (geometry_number, geometry) in (0..).zip(&instance.geometries) {
            let count = geometry.primitives.len() as u32;
            let inside = wanted - before;
            if let Some(primitive) = geometry.primitives.get(inside as usize) {
                let meeting = meeting(query, instance, primitive)?;
                let place = [wanted, instance_number, geometry_number, inside];
                return Some(hit(query, place, instance, geometry, &meeting));
            }
            before += count;
        }
    }
    None
}

fn hit(query: &Query, place: [u32; 4], instance: &Instance, geometry: &Geometry, meeting: &Meeting) -> Hit {
    let opaque = match instance.opacity {
        Some(Opacity::ForceOpaque) => true,
        Some(Opacity::ForceNoOpaque) => false,
        None => geometry.opaque,
    };
    let [number, instance, geometry_number, primitive] = place;
    Hit {
        number,
        instance,
        geometry: geometry_number,
        primitive,
        // Shaders see 32 bits, and what is compared with what they commit must be the same.
        t: f64::from(meeting.t as f32),
        kind: meeting.kind,
        opaque: (opaque || query.has_flag(flag::OPAQUE)) && !query.has_flag(flag::NO_OPAQUE),
        duplicates: geometry.duplicates,
    }
}

/// Ray primitive culling, ray face culling and ray opacity culling.
fn is_culled(query: &Query, instance: &Instance, hit: &Hit) -> bool {
    let by_kind = match hit.kind {
        Kind::Triangle { front, .. } => {
            let facing = if front { flag::CULL_FRONT_FACING } else { flag::CULL_BACK_FACING };
            query.has_flag(flag::SKIP_TRIANGLES) || query.has_flag(facing) && !instance.facing_cull_disable
        }
        Kind::Box => query.has_flag(flag::SKIP_AABBS),
    };
    by_kind || query.has_flag(if hit.opaque { flag::CULL_OPAQUE } else { flag::CULL_NO_OPAQUE })
}

/// How the ray stands to the primitive; `None` where it is far from meeting it.
fn meeting(query: &Query, instance: &Instance, primitive: &Primitive) -> Option<Meeting> {
    let origin = instance.world_to_object.position(query.origin.map(f64::from));
    let direction = instance.world_to_object.direction(query.direction.map(f64::from));
    let range = [f64::from(query.t_min), f64::from(query.ray_t_max)];
    match primitive {
        Primitive::Triangle(vertices) => {
            let mut meeting = triangle(origin, direction, range, vertices.map(|v| v.map(f64::from)))?;
            if let Kind::Triangle { front, .. } = &mut meeting.kind {
                *front ^= instance.flip_facing;
            }
            Some(meeting)
        }
        Primitive::Box(corners) => aabb(origin, direction, range, corners.map(|c| c.map(f64::from))),
    }
}

/// Ray and triangle, by the ray's place among the edges. The front is where the vertices are seen
/// clockwise in a left-handed coordinate system.
fn triangle(o: [f64; 3], d: [f64; 3], range: [f64; 2], [a, b, c]: [[f64; 3]; 3]) -> Option<Meeting> {
    let (ab, ac, ao) = (minus(b, a), minus(c, a), minus(o, a));
    let normal = cross(ab, ac);
    let volume = -dot(normal, d);
    if volume.abs() <= 1e-9 * length(normal) * length(d) {
        // The ray runs along the plane, or nowhere, or there is no plane: it meets nothing.
        let away = dot(normal, ao).abs() > MARGIN * length(normal) * (length(ao) + length(ab) + length(ac));
        let runs_in_it = !away && length(normal) > 0.0 && length(d) > 0.0;
        let kind = Kind::Triangle { barycentrics: [0.0; 2], front: false };
        return runs_in_it.then_some(Meeting { t: 0.0, kind, meets: false, doubtful: true });
    }
    let t = dot(normal, ao) / volume;
    let q = cross(ao, d);
    let second = dot(ac, q) / volume;
    let third = -dot(ab, q) / volume;
    let inside = second.min(third).min(1.0 - second - third);
    let within = (t - range[0]).min(range[1] - t);
    if inside < -MARGIN || within < 0.0 && !near(t, range[0]) && !near(t, range[1]) {
        return None;
    }
    Some(Meeting {
        t,
        kind: Kind::Triangle { barycentrics: [second, third], front: volume > 0.0 },
        meets: inside >= 0.0 && within > 0.0,
        doubtful: inside < MARGIN || near(t, range[0]) || near(t, range[1]),
    })
}

/// Ray and box: the part of the ray between each pair of planes.
fn aabb(o: [f64; 3], d: [f64; 3], range: [f64; 2], [low, high]: [[f64; 3]; 2]) -> Option<Meeting> {
    if length(d) == 0.0 {
        return None;
    }
    let size = (0..3).map(|i| (high[i] - low[i]).max(o[i].abs())).fold(0.0, f64::max);
    // How far the ray may leave each pair of planes, and how far it stays inside.
    let overlap = |margin: f64| {
        let [mut enter, mut leave] = range;
        for i in 0..3 {
            let (from, to) = (low[i] - margin - o[i], high[i] + margin - o[i]);
            if d[i] == 0.0 {
                if from > 0.0 || to < 0.0 {
                    return None;
                }
            } else {
                let (first, last) =
                    if d[i] > 0.0 { (from / d[i], to / d[i]) } else { (to / d[i], from / d[i]) };
                enter = enter.max(first);
                leave = leave.min(last);
            }
        }
        (enter <= leave).then_some(enter)
    };
    let margin = MARGIN * size;
    let (exact, wide, narrow) = (overlap(0.0), overlap(margin), overlap(-margin));
    let t = exact.or(wide)?;
    Some(Meeting { t, kind: Kind::Box, meets: exact.is_some(), doubtful: wide.is_some() != narrow.is_some() })
}

fn near(a: f64, b: f64) -> bool {
    // Nothing finite is near infinity.
    a == b || b.is_finite() && (a - b).abs() <= MARGIN * a.abs().max(b.abs()).max(MARGIN)
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn length(a: [f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

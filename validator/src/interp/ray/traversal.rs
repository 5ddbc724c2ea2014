//! How a traversal may go on until it comes to a candidate for the shader, or to its end.
//!
//! Operations on different candidates are not ordered (Vulkan specification, "Ray Intersection Candidate
//! Determination"), so that any of the remaining candidates may be next, and any of the opaque triangles
//! may have been committed before it. Only the closest of those shows. A candidate behind the closest hit
//! may have been determined before that hit was: it may be given to the shader or dropped.

use super::flag;
use super::hits::{Hit, Kind};
use super::query::Query;

/// Most ways that are told apart.
const MAX_WAYS: usize = 64;

/// One way on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Way<'h> {
    /// The opaque triangle that is the closest hit after it.
    pub commit: Option<&'h Hit>,
    /// The candidate for the shader; none where the traversal ends.
    pub candidate: Option<&'h Hit>,
}

/// The ways on, nearest first; `None` where there are too many. The hits are those along the whole ray,
/// nearest first.
pub(super) fn ways<'h>(query: &Query, hits: &'h [Hit], in_order: bool) -> Option<Vec<Way<'h>>> {
    let end = |commit| vec![Way { commit, candidate: None }];
    let first_hit = query.has_flag(flag::TERMINATE_ON_FIRST_HIT);
    if first_hit && query.committed.is_some() {
        return Some(end(None));
    }
    let opaque: Vec<&Hit> =
        hits.iter().filter(|hit| is_committed_at_once(hit) && is_closer(hit, query)).collect();
    let left = |hit: &&Hit| !is_committed_at_once(hit) && query.times_seen(hit.number) == 0;
    let again =
        |hit: &&Hit| !is_committed_at_once(hit) && hit.duplicates && query.times_seen(hit.number) == 1;
    let candidates: Vec<&Hit> = hits.iter().filter(left).chain(hits.iter().filter(again)).collect();
    let closest = opaque.first().copied();
    let t_max = closest.map_or(f64::from(query.t_max), |hit| hit.t);
    let is_in_front = |hit: &&&Hit| is_before_end(hit, t_max);
    let next = hits.iter().filter(left).find(|hit| is_in_front(&hit));
    let natural = match next {
        Some(hit) => Way { commit: None, candidate: Some(hit) },
        None => Way { commit: closest, candidate: None },
    };
    if in_order {
        return Some(vec![natural]);
    }
    let mut ways = vec![natural];
    let mut add = |way: Way<'h>| {
        if !ways.contains(&way) {
            ways.push(way);
        }
    };
    if first_hit {
        candidates.iter().for_each(|hit| add(Way { commit: None, candidate: Some(hit) }));
        opaque.iter().for_each(|hit| add(Way { commit: Some(hit), candidate: None }));
    } else {
        let commits = std::iter::once(None).chain(opaque.iter().copied().map(Some));
        for commit in commits {
            for candidate in &candidates {
                add(Way { commit, candidate: Some(candidate) });
            }
        }
    }
    (ways.len() <= MAX_WAYS).then_some(ways)
}

/// Opaque triangles are confirmed without the shader.
fn is_committed_at_once(hit: &Hit) -> bool {
    hit.opaque && matches!(hit.kind, Kind::Triangle { .. })
}

fn is_closer(hit: &Hit, query: &Query) -> bool {
    hit.t < f64::from(query.t_max)
}

/// Whether a candidate is one while the ray ends at `t_max`.
fn is_before_end(hit: &Hit, t_max: f64) -> bool {
    match hit.kind {
        Kind::Triangle { .. } => hit.t < t_max,
        Kind::Box => hit.t <= t_max,
    }
}

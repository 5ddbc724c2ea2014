//! Geometry and culling, with values worked out by hand.

use super::flag;
use super::hits::{along, of, Hit, Kind};
use super::query::{CommittedKind, Query};
use super::traversal::{ways, Way};
use crate::acceleration::text::structure;
use crate::acceleration::AccelerationStructure;

fn scene(text: &str) -> AccelerationStructure {
    structure(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// A ray from the origin along z, up to T 10.
fn ray() -> Query {
    Query::new(1, 0, 0xff, [0.0; 3], 0.0, [0.0, 0.0, 1.0], 10.0)
}

fn flagged(flags: u32) -> Query {
    Query { flags, ..ray() }
}

/// T of what the ray meets, and whether that is doubtful.
fn met(query: &Query, text: &str) -> (Vec<f64>, bool) {
    let met = along(query, &scene(text));
    (met.hits.iter().map(|hit| hit.t).collect(), met.doubtful)
}

/// Around the axis at z = 5, seen from its back by [`ray`].
const BACK: &str = "triangles:-1,-1,5,1,-1,5,0,1,5";
/// The same with two vertices exchanged.
const FRONT: &str = "triangles:-1,-1,5,0,1,5,1,-1,5";
const BOX: &str = "boxes:-1,-1,3,1,1,4";

#[test]
fn a_triangle_is_met_at_its_distance() {
    assert_eq!(met(&ray(), BACK), (vec![5.0], false));
    // T counts in lengths of the direction.
    let query = Query { direction: [0.0, 0.0, 2.0], ..ray() };
    assert_eq!(met(&query, BACK), (vec![2.5], false));
    // Behind the ray, and beside it.
    assert_eq!(met(&Query { direction: [0.0, 0.0, -1.0], ..ray() }, BACK), (vec![], false));
    assert_eq!(met(&Query { origin: [2.0, 0.0, 0.0], ..ray() }, BACK), (vec![], false));
    // A direction of no length leads nowhere.
    assert_eq!(met(&Query { direction: [0.0; 3], ..ray() }, BACK), (vec![], false));
    assert_eq!(met(&Query { direction: [0.0; 3], ..ray() }, "boxes:-1,-1,-1,1,1,1"), (vec![], false));
}

#[test]
fn barycentrics_weigh_the_second_and_the_third_vertex() {
    let query = Query { origin: [0.25, 0.5, 0.0], ..ray() };
    let hits = along(&query, &scene("triangles:0,0,5,1,0,5,0,1,5")).hits;
    let [Hit { kind: Kind::Triangle { barycentrics, .. }, .. }] = hits[..] else { panic!("{hits:?}") };
    assert_eq!(barycentrics, [0.25, 0.5]);
}

#[test]
fn the_ends_of_the_ray_are_open_for_triangles_and_closed_for_boxes() {
    let within = |t_min: f32, t_max: f32| Query { t_min, ray_t_max: t_max, t_max, ..ray() };
    assert_eq!(met(&within(4.0, 6.0), BACK).0, [5.0]);
    assert_eq!(met(&within(5.0, 6.0), BACK), (vec![], true));
    assert_eq!(met(&within(4.0, 5.0), BACK), (vec![], true));
    assert_eq!(met(&within(0.0, 4.5), BACK), (vec![], false));
    assert_eq!(met(&within(5.5, f32::INFINITY), BACK), (vec![], false));
    assert_eq!(met(&within(0.0, f32::INFINITY), BACK), (vec![5.0], false));
    assert_eq!(met(&within(0.0, 3.0), BOX), (vec![3.0], true));
    assert_eq!(met(&within(4.0, 9.0), BOX), (vec![4.0], true));
    assert_eq!(met(&within(3.5, 3.6), BOX), (vec![3.5], false));
    assert_eq!(met(&within(0.0, 2.5), BOX), (vec![], false));
}

#[test]
fn rays_near_edges_are_doubtful() {
    let at = |x: f32| Query { origin: [x, 0.0, 0.0], ..ray() };
    assert_eq!(met(&at(0.25), BACK), (vec![5.0], false));
    assert_eq!(met(&at(0.5), BACK), (vec![5.0], true));
    assert_eq!(met(&at(0.500_001), BACK), (vec![], true));
    assert_eq!(met(&at(0.75), BACK), (vec![], false));
    assert_eq!(met(&at(1.0), BOX), (vec![3.0], true));
    assert_eq!(met(&at(1.000_001), BOX), (vec![], true));
    assert_eq!(met(&at(1.5), BOX), (vec![], false));
    assert_eq!(met(&at(-1.5), BOX), (vec![], false));
    // In the triangle's plane: it has no face there, but that is a matter of precision.
    let along_plane = Query { origin: [-3.0, 0.0, 5.0], direction: [1.0, 0.0, 0.0], ..ray() };
    assert_eq!(met(&along_plane, BACK), (vec![], true));
    assert_eq!(met(&Query { origin: [-3.0, 0.0, 4.0], ..along_plane }, BACK), (vec![], false));
}

#[test]
fn equally_far_hits_are_doubtful_unless_both_are_boxes() {
    assert!(met(&ray(), &format!("{BACK} + {FRONT}")).1);
    assert!(!met(&ray(), &format!("{BOX} + {BOX}")).1);
}

#[test]
fn faces_are_culled() {
    let both = format!("{BACK}; custom:1 move:0,0,1 {FRONT}");
    let front = |query: &Query, text: &str| {
        let hits = along(query, &scene(text)).hits;
        hits.iter().map(|hit| matches!(hit.kind, Kind::Triangle { front: true, .. })).collect::<Vec<_>>()
    };
    assert_eq!(front(&ray(), &both), [false, true]);
    assert_eq!(front(&flagged(flag::CULL_BACK_FACING), &both), [true]);
    assert_eq!(front(&flagged(flag::CULL_FRONT_FACING), &both), [false]);
    assert_eq!(front(&ray(), &format!("flip-facing {FRONT}")), [false]);
    // Mirroring an instance does not turn its triangles' faces: they are seen in object space.
    assert_eq!(front(&ray(), &format!("scale:-1,1,1 {FRONT}")), [true]);
    assert_eq!(front(&flagged(flag::CULL_FRONT_FACING), &format!("cull-disable {FRONT}")), [true]);
    assert_eq!(met(&flagged(flag::CULL_BACK_FACING | flag::CULL_OPAQUE), BOX).0, [3.0]);
}

#[test]
fn kinds_opacity_and_masks_are_culled() {
    let scene = format!("mask:0x3 opaque {BACK} + {FRONT}; mask:0x4 {BOX}; mask:0x8 move:0,0,5 opaque {BOX}");
    let count = |query: Query| met(&query, &scene).0.len();
    assert_eq!(count(ray()), 4);
    assert_eq!(count(flagged(flag::SKIP_TRIANGLES)), 2);
    assert_eq!(count(flagged(flag::SKIP_AABBS)), 2);
    assert_eq!(count(flagged(flag::CULL_OPAQUE)), 2);
    assert_eq!(count(flagged(flag::CULL_NO_OPAQUE)), 2);
    for (mask, left) in [(0x1, 2), (0x2, 2), (0x4, 1), (0xc, 2), (0xf0, 0)] {
        assert_eq!(count(Query { mask, ..ray() }), left, "{mask:#x}");
    }
}

#[test]
fn opacity_is_the_rays_then_the_instances_then_the_geometrys() {
    let opaque = |flags: u32, text: &str| along(&flagged(flags), &scene(text)).hits[0].opaque;
    assert!(!opaque(0, BACK));
    assert!(opaque(0, &format!("opaque {BACK}")));
    assert!(opaque(0, &format!("force-opaque {BACK}")));
    assert!(!opaque(0, &format!("force-no-opaque opaque {BACK}")));
    assert!(opaque(flag::OPAQUE, &format!("force-no-opaque {BACK}")));
    assert!(!opaque(flag::NO_OPAQUE, &format!("force-opaque {BACK}")));
}

#[test]
fn instances_are_met_where_they_stand() {
    assert_eq!(met(&ray(), &format!("move:0,0,2 {BACK}")).0, [7.0]);
    assert!(met(&ray(), &format!("move:5,0,0 {BACK}")).0.is_empty());
    assert_eq!(met(&ray(), &format!("scale:1,1,0.5 {BACK}")).0, [2.5]);
    // Turned by a quarter about x, so that y becomes z.
    assert_eq!(met(&ray(), "transform:1,0,0,0,0,0,-1,0,0,1,0,0 boxes:-1,2,-1,1,3,1").0, [2.0]);
}

#[test]
fn primitives_are_numbered_over_the_whole_structure() {
    let text = format!("{BOX}; {BACK} + triangles:9,9,9,9,9,8,9,8,9,-1,-1,6,1,-1,6,0,1,6");
    let scene = scene(&text);
    let hits = along(&ray(), &scene).hits;
    let places: Vec<[u32; 4]> =
        hits.iter().map(|hit| [hit.number, hit.instance, hit.geometry, hit.primitive]).collect();
    assert_eq!(places, [[0, 0, 0, 0], [1, 1, 0, 0], [3, 1, 1, 1]]);
    for hit in hits {
        assert_eq!(of(&ray(), &scene, hit.number), Some(hit));
    }
    assert_eq!(of(&ray(), &scene, 4), None);
}

/// Ways on as (committed primitive, candidate).
fn on(query: &Query, text: &str) -> Vec<(Option<u32>, Option<u32>)> {
    let scene = scene(text);
    let hits = along(query, &scene).hits;
    let ways = ways(query, &hits, scene.in_order).unwrap_or_default();
    let number = |hit: &Option<&Hit>| hit.map(|hit| hit.number);
    ways.iter().map(|Way { commit, candidate }| (number(commit), number(candidate))).collect()
}

const FURTHER: &str = "triangles:-1,-1,6,1,-1,6,0,1,6";

#[test]
fn any_candidate_may_be_next() {
    let two = format!("{BACK} + {FURTHER}");
    assert_eq!(on(&ray(), "empty"), [(None, None)]);
    assert_eq!(on(&ray(), &two), [(None, Some(0)), (None, Some(1))]);
    assert_eq!(on(&ray(), &format!("in-order {two}")), [(None, Some(0))]);
    let mut query = ray();
    query.count(1);
    assert_eq!(on(&query, &two), [(None, Some(0))]);
    query.count(0);
    assert_eq!(on(&query, &two), [(None, None)]);
}

#[test]
fn opaque_triangles_may_be_committed_before_or_after() {
    let text = format!("{BACK} + opaque {FURTHER}");
    // The candidate, before or after the opaque triangle behind it.
    assert_eq!(on(&ray(), &text), [(None, Some(0)), (Some(1), Some(0))]);
    // The opaque triangle in front: the candidate may be dropped, or have been determined before.
    let text = format!("opaque {BACK} + {FURTHER}");
    assert_eq!(on(&ray(), &text), [(Some(0), None), (None, Some(1)), (Some(0), Some(1))]);
    // An opaque box is for the shader to look at all the same.
    assert_eq!(on(&ray(), &format!("opaque {BOX}")), [(None, Some(0))]);
    // Of several opaque ones the closest is left in the end.
    let text = format!("opaque {FURTHER} + opaque {BACK}");
    assert_eq!(on(&ray(), &text), [(Some(1), None)]);
}

#[test]
fn what_lies_behind_the_closest_hit_may_be_dropped() {
    let two = format!("{BACK} + {FURTHER}");
    let scene = scene(&two);
    let mut query = ray();
    query.count(0);
    query.commit(&along(&ray(), &scene).hits[0], CommittedKind::Triangle, 5.0);
    assert_eq!(on(&query, &two), [(None, None), (None, Some(1))]);
    assert_eq!(on(&query, &format!("in-order {two}")), [(None, None)]);
    // The same opaque triangle is not committed once more.
    assert_eq!(on(&query, &format!("opaque {two}")), [(None, None), (None, Some(1))]);
    // A box is met up to the very end of the ray, a triangle is not.
    let at_the_end = "boxes:-1,-1,5,1,1,6,-1,-1,5,1,1,6";
    assert_eq!(on(&query, at_the_end), [(None, Some(1))]);
    // An opaque one there changes nothing.
    assert_eq!(on(&query, &format!("{BACK} + opaque {FURTHER}")), [(None, None)]);
}

#[test]
fn the_first_hit_ends_the_traversal() {
    let query = flagged(flag::TERMINATE_ON_FIRST_HIT);
    let text = format!("opaque {FURTHER} + opaque {BACK} + {BACK}");
    assert_eq!(on(&query, &text), [(Some(1), None), (None, Some(2)), (Some(0), None)]);
    let mut query = query;
    query.commit(&along(&query, &scene(&text)).hits[0], CommittedKind::Triangle, 6.0);
    assert_eq!(on(&query, &text), [(None, None)]);
}

#[test]
fn duplicates_come_at_most_twice() {
    let text = format!("duplicates {BACK}");
    let mut query = ray();
    assert_eq!(on(&query, &text), [(None, Some(0))]);
    query.count(0);
    assert_eq!(on(&query, &text), [(None, None), (None, Some(0))]);
    query.count(0);
    assert_eq!(on(&query, &text), [(None, None)]);
}

#[test]
fn too_many_ways_are_told() {
    let many = |count: usize| {
        let corners = vec!["-1,-1,3,1,1,4"; count].join(",");
        let scene = scene(&format!("boxes:{corners}"));
        ways(&ray(), &along(&ray(), &scene).hits, false).map(|ways| ways.len())
    };
    assert_eq!(many(64), Some(64));
    let opaque = format!("opaque {BACK}; boxes:{}", vec!["-1,-1,3,1,1,4"; 40].join(","));
    let scene = scene(&opaque);
    assert_eq!(ways(&ray(), &along(&ray(), &scene).hits, false), None);
}

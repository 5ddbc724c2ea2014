//! The faces of a cube: which one a direction points to, and what lies beyond their edges.

use smallvec::SmallVec;

/// The face that a direction points to, the coordinates in it from 0 to 1, and whether every implementation
/// chooses this face.
pub(super) fn face_of(direction: [f64; 3]) -> (i64, [f64; 2], bool) {
    let [x, y, z] = direction;
    let [ax, ay, az] = direction.map(f64::abs);
    let greatest = ax.max(ay).max(az);
    let unique = [ax, ay, az].into_iter().filter(|size| *size == greatest).count() == 1;
    let (face, s, t) = if az == greatest {
        if z >= 0.0 {
            (4, x, -y)
        } else {
            (5, -x, -y)
        }
    } else if ay == greatest {
        if y >= 0.0 {
            (2, x, z)
        } else {
            (3, x, -z)
        }
    } else if x >= 0.0 {
        (0, -z, -y)
    } else {
        (1, z, -y)
    };
    let scaled = |number: f64| if greatest == 0.0 { 0.5 } else { 0.5 * number / greatest + 0.5 };
    (face, [scaled(s), scaled(t)], unique)
}

/// The faces that a direction within these ranges may point to, each with ranges of the coordinates there.
pub(super) fn candidate_faces(direction: [[f64; 2]; 3]) -> SmallVec<[(i64, [[f64; 2]; 2]); 6]> {
    let [x, y, z] = direction;
    let negate = |[least, greatest]: [f64; 2]| [-greatest, -least];
    let faces = [
        (x, [negate(z), negate(y)], [y, z]),
        (negate(x), [z, negate(y)], [y, z]),
        (y, [x, z], [x, z]),
        (negate(y), [x, negate(z)], [x, z]),
        (z, [x, negate(y)], [x, y]),
        (negate(z), [negate(x), negate(y)], [x, y]),
    ];
    let magnitude = |[least, greatest]: [f64; 2]| {
        if least <= 0.0 && greatest >= 0.0 {
            0.0
        } else {
            least.abs().min(greatest.abs())
        }
    };
    let mut found = SmallVec::new();
    for (face, ([least, greatest], coordinates, others)) in (0..).zip(faces) {
        // What points there has this component not below the magnitude of the others.
        let least = others.map(magnitude).into_iter().fold(least.max(0.0), f64::max);
        if greatest < least {
            continue;
        }
        // Divided by the component; where it may be as small as one likes, by anything.
        found.push((
            face,
            coordinates
                .map(|[from, to]| {
                    let low = if from < 0.0 { from / least } else { from / greatest };
                    let high = if to < 0.0 { to / greatest } else { to / least };
                    [low, high].map(|end| if end.is_nan() { 0.0 } else { end })
                })
                .map(|[low, high]| [low.clamp(-1.0, 1.0), high.clamp(-1.0, 1.0)].map(|end| 0.5 * end + 0.5)),
        ));
    }
    found
}

/// The direction of a point of a face, the inverse of [`face_of`]; beyond its edges, of a point beside it.
fn direction_of(face: i64, [s, t]: [f64; 2]) -> [f64; 3] {
    let (s, t) = (2.0 * s - 1.0, 2.0 * t - 1.0);
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// The texels that a position of a cube's face stands for: one, over an edge one of the next face, and at a
/// corner the three that meet there.
pub(super) fn cube_texels([i, j, _]: [i64; 3], layer: i64, size: i64) -> SmallVec<[([i64; 3], i64); 3]> {
    let inside = |index: i64| (0..size).contains(&index);
    let clamped = |index: i64| index.clamp(0, size - 1);
    let over_edge = |i: i64, j: i64| {
        let centre = |index: i64| (index as f64 + 0.5) / size as f64;
        let (face, [s, t], _) = face_of(direction_of(layer.rem_euclid(6), [centre(i), centre(j)]));
        let texel = |number: f64| clamped((number * size as f64).floor() as i64);
        ([texel(s), texel(t), 0], layer - layer.rem_euclid(6) + face)
    };
    match (inside(i), inside(j)) {
        (true, true) => SmallVec::from_elem(([i, j, 0], layer), 1),
        (false, true) | (true, false) => SmallVec::from_elem(over_edge(i, j), 1),
        (false, false) => {
            let own = ([clamped(i), clamped(j), 0], layer);
            [own, over_edge(i, clamped(j)), over_edge(clamped(i), j)].into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_choose_faces() {
        for (direction, face, at) in [
            ([2.0, 0.0, 1.0], 0, [0.25, 0.5]),
            ([-2.0, 0.0, 1.0], 1, [0.75, 0.5]),
            ([1.0, 2.0, 0.0], 2, [0.75, 0.5]),
            ([0.0, -2.0, 1.0], 3, [0.5, 0.25]),
            ([1.0, -1.0, 2.0], 4, [0.75, 0.75]),
            ([1.0, 0.0, -2.0], 5, [0.25, 0.5]),
        ] {
            assert_eq!(face_of(direction), (face, at, true));
            let back = direction_of(face, at).map(|number| number * 2.0);
            assert_eq!(back, direction);
        }
        // z wins over y, and y over x; other rules are permitted.
        assert_eq!(face_of([1.0, 1.0, 1.0]), (4, [1.0, 0.0], false));
        assert_eq!(face_of([1.0, 1.0, 0.0]).0, 2);
    }

    #[test]
    fn texels_beyond_an_edge_of_a_cube_are_those_of_the_next_face() {
        // To the right of +z lies +x, above it +y.
        assert_eq!(cube_texels([4, 1, 0], 4, 4)[..], [([0, 1, 0], 0)]);
        assert_eq!(cube_texels([1, -1, 0], 4, 4)[..], [([1, 3, 0], 2)]);
        assert_eq!(cube_texels([-1, 2, 0], 6 + 4, 4)[..], [([3, 2, 0], 6 + 1)]);
        assert_eq!(cube_texels([2, 3, 0], 4, 4)[..], [([2, 3, 0], 4)]);
        // At a corner three faces meet.
        let corner = cube_texels([4, -1, 0], 4, 4);
        assert_eq!(corner[..], [([3, 0, 0], 4), ([0, 0, 0], 0), ([3, 3, 0], 2)]);
    }
}

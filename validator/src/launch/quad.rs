//! The quad of a fragment: four invocations, what their inputs are, and which of them are helpers.
//!
//! The fragments stand at (0,0), (1,0), (0,1) and (1,1) of a block of pixels. Interpolated inputs are planes over it;
//! others are the same for all. In most inputs all four are covered; in some, one to three are helper invocations.

use std::collections::BTreeSet;

use super::uses::{Role, Uses};
use super::values::Words;
use super::{Input, Launch};
use crate::ir::InterfacePart;
use crate::value::Byte;

/// Fragments of a quad.
pub const FRAGMENTS: u32 = 4;

/// The same by rows and columns.
pub const SIZE: [u32; 3] = [2, 2, 1];

/// The key of the input that says which of them are helper invocations: a word for each.
pub const HELPER: &str = "in:HelperInvocation";

/// Every so many inputs have coordinates, or other values, that are farther apart.
const SLOPES: u32 = 3;

/// Texels of a side of the usual image.
const TEXELS: f64 = 8.0;

/// Where the first fragment of a quad stands in a texel of the level that the quad looks at, and how far the next one is
/// from it. Neither stands near a boundary or the centre of a texel, there or in the first level, and levels of detail
/// are nearer to integers than to the middle between two, whichever of the permitted approximations is taken.
const WITHIN: f64 = 13.0 / 32.0;
const STEP: f64 = 26.0 / 32.0;

/// A component over the quad: where it begins, if not where it is for a single fragment, and its slopes by x and y.
#[derive(Clone, Copy)]
struct Plane {
    start: Option<f64>,
    by: [f64; 2],
}

impl Plane {
    const fn sloping(by: [f64; 2]) -> Self {
        Plane { start: None, by }
    }
}

/// The part of a value that a fragment has. What is given for one is given for all.
pub fn of_fragment(given: &[Byte], size: u32, fragment: u32) -> &[Byte] {
    let size = size as usize;
    let start = if given.len() > size { fragment as usize * size } else { 0 };
    given.get(start..).unwrap_or(&[])
}

/// The numbers of the helper invocations of an input.
pub fn helpers(launch: &Launch, input: &Input) -> BTreeSet<u32> {
    if !launch.quad {
        return BTreeSet::new();
    }
    let given = input.interface.get(HELPER).map_or(&[][..], Vec::as_slice);
    let is_helper = |fragment: &u32| {
        let word = of_fragment(given, 4, *fragment).iter().take(4);
        word.into_iter().any(|byte| !matches!(byte, Byte::Known(0)))
    };
    (0..FRAGMENTS).filter(is_helper).collect()
}

/// Which fragments are helper invocations in an automatic input: never all of them.
pub fn automatic_helpers(launch: &Launch, words: &Words<'_>) -> Vec<Byte> {
    let turn = words.turn().filter(|_| launch.helpers);
    let mask: u32 = match turn {
        // In a quarter of the inputs.
        Some(turn) if words.is_random() => {
            if turn & 0b1_1000 != 0b1_1000 {
                0
            } else {
                turn % 7 + 1
            }
        }
        Some(turn) if turn % 4 == 2 => 1 << ((turn / 4 + 3) % FRAGMENTS),
        Some(turn) if turn % 8 == 7 => 0b0110,
        Some(_) | None => 0,
    };
    (0..FRAGMENTS).flat_map(|fragment| (mask >> fragment & 1).to_le_bytes()).map(Byte::Known).collect()
}

/// The values of a part for all four fragments, given what the first one has.
pub fn over(part: &InterfacePart, number: u64, first: &[Byte], words: &Words<'_>, uses: &Uses) -> Vec<Byte> {
    let slopes: Vec<Plane> = match (part.name.as_str(), part.varies) {
        ("FragCoord", _) => return coordinates(first),
        ("PointCoord", _) => [[0.125, 0.0], [0.0, 0.125]].map(Plane::sloping).to_vec(),
        ("BaryCoordKHR" | "BaryCoordNoPerspKHR", _) => {
            [[0.0625, 0.125], [-0.1875, 0.0], [0.125, -0.125]].map(Plane::sloping).to_vec()
        }
        (_, Some(width)) => interpolated(part, number, first, width, words, uses),
        (_, None) => Vec::new(),
    };
    let width = part.varies.unwrap_or(32);
    planes(first, width, &slopes)
}

/// Centres of pixels: of a block that begins at even ones.
fn coordinates(first: &[Byte]) -> Vec<Byte> {
    let mut corner = first.to_vec();
    for (component, bytes) in corner.chunks_mut(4).enumerate().take(2) {
        let value =
            decoded(bytes, 32).map_or(0.5, |value| if component == 0 { 2.0 * value - 0.5 } else { value });
        bytes.copy_from_slice(&encoded(value, 32));
    }
    planes(&corner, 32, &[[1.0, 0.0], [0.0, 1.0], [0.0625, 0.03125]].map(Plane::sloping))
}

/// How the components of a part change by x and y.
fn interpolated(
    part: &InterfacePart,
    number: u64,
    first: &[Byte],
    width: u8,
    words: &Words<'_>,
    uses: &Uses,
) -> Vec<Plane> {
    let Some(turn) = words.turn() else { return Vec::new() };
    let bytes = u32::from(width / 8).max(1);
    let is_coordinate = |component: u32| {
        let mut used = uses.interface(&part.name).into_iter().flat_map(|uses| uses.in_first(part.size));
        used.any(|(offset, usage)| offset == component * bytes && usage.is(Role::Coordinate))
    };
    let slope = |component: u32| -> Plane {
        let from = (component * bytes) as usize;
        let own =
            first.get(from..).and_then(|rest| decoded(rest.get(..bytes as usize)?, width)).unwrap_or(0.0);
        if is_coordinate(component) {
            return coordinate(own, turn, component);
        }
        let place = component.wrapping_add(number as u32 * 4);
        let scale = if turn % SLOPES == SLOPES - 1 { 1.0 / 64.0 } else { 0.125 };
        let by = |factor: u32, shift: u32| {
            f64::from(
                1 + place.wrapping_mul(factor).wrapping_add(turn.wrapping_mul(3)).wrapping_add(shift) % 8,
            )
        };
        let sign = if place.wrapping_add(turn) % 2 == 0 { 1.0 } else { -1.0 };
        Plane::sloping([sign * by(7, 0) * scale, -sign * by(5, 2) * scale])
    };
    (0..part.size / bytes).map(slope).collect()
}

/// A coordinate of an image: the first component changes by x, the second by y.
fn coordinate(own: f64, turn: u32, component: u32) -> Plane {
    let scale = f64::from(1_u32 << (turn % SLOPES));
    let texels = TEXELS / scale;
    let is_inside = (0.0..=1.0).contains(&own);
    let texel = (own * texels).floor().min(texels - 1.0);
    let start = is_inside.then(|| (texel + WITHIN) / texels);
    // The next one is inside, too.
    let step = if texel + 1.0 < texels { STEP / texels } else { -STEP / texels };
    let by = if component.is_multiple_of(2) { [step, 0.0] } else { [0.0, step * 0.625] };
    Plane { start, by }
}

/// Four times a value, with slopes for its first components.
fn planes(first: &[Byte], width: u8, slopes: &[Plane]) -> Vec<Byte> {
    let bytes = usize::from(width / 8).max(1);
    let mut all = Vec::with_capacity(first.len() * FRAGMENTS as usize);
    for fragment in 0..FRAGMENTS {
        let (x, y) = (f64::from(fragment % 2), f64::from(fragment / 2));
        let start = all.len();
        all.extend_from_slice(first);
        let own = all.get_mut(start..).unwrap_or(&mut []);
        for (component, plane) in own.chunks_mut(bytes).zip(slopes) {
            if let Some(value) = decoded(component, width) {
                let Plane { start, by: [by_x, by_y] } = plane;
                let moved = encoded(start.unwrap_or(value) + x * by_x + y * by_y, width);
                component.iter_mut().zip(moved).for_each(|(place, byte)| *place = byte);
            }
        }
    }
    all
}

/// The finite float that bytes are.
fn decoded(bytes: &[Byte], width: u8) -> Option<f64> {
    let mut bits = 0;
    for byte in bytes.iter().rev() {
        match byte {
            Byte::Known(byte) => bits = bits << 8 | u64::from(*byte),
            Byte::Undef => return None,
        }
    }
    crate::interp::float_value(width, bits).filter(|value| value.is_finite())
}

/// The bytes of a float.
fn encoded(value: f64, width: u8) -> Vec<Byte> {
    let bytes = usize::from(width / 8);
    let bits = super::typed::encoded(value, width / 8);
    bits.to_le_bytes().into_iter().take(bytes).map(Byte::Known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::build::tests::launch;
    use crate::launch::recipe::Recipe;
    use crate::launch::values::Kind;

    fn floats(values: &[f32]) -> Vec<Byte> {
        values.iter().flat_map(|value| value.to_le_bytes()).map(Byte::Known).collect()
    }

    fn part(name: &str, size: u32, varies: Option<u8>) -> InterfacePart {
        InterfacePart { name: name.to_owned(), offset: 0, size, varies }
    }

    fn words(kind: Kind) -> Words<'static> {
        Words::new(&Recipe::of(kind, 0), 0, &[], [2, 2, 1], false)
    }

    fn values(bytes: &[Byte]) -> Vec<f64> {
        bytes.chunks(4).filter_map(|float| decoded(float, 32)).collect()
    }

    const KINDS: [Kind; 6] = [
        Kind::Zeros,
        Kind::Distinct,
        Kind::Boundary(0),
        Kind::Boundary(1),
        Kind::Boundary(2),
        Kind::Random(7),
    ];

    #[test]
    fn what_is_given_for_one_fragment_is_given_for_all() {
        let four = floats(&[1.0, 2.0, 3.0, 4.0]);
        let of =
            |given: &[Byte], size: u32| [0, 1, 3].map(|fragment| of_fragment(given, size, fragment).to_vec());
        assert_eq!(of(&four, 16), [four.clone(), four.clone(), four.clone()]);
        assert_eq!(of(&four, 4), [four.clone(), floats(&[2.0, 3.0, 4.0]), floats(&[4.0])]);
    }

    #[test]
    fn pixels_stand_in_a_block_that_begins_at_even_ones() {
        let first = floats(&[3.5, 0.5, 0.5, 1.0]);
        let uses = Uses::default();
        let all = over(&part("FragCoord", 16, Some(32)), 0, &first, &words(Kind::Distinct), &uses);
        let corners = [[6.5, 0.5], [7.5, 0.5], [6.5, 1.5], [7.5, 1.5]];
        let found: Vec<[f64; 2]> = values(&all).chunks(4).map(|pixel| [pixel[0], pixel[1]]).collect();
        assert_eq!(found, corners);
    }

    #[test]
    fn interpolated_inputs_are_planes_and_flat_ones_are_the_same() {
        let uses = Uses::default();
        for kind in KINDS {
            let first = floats(&[0.5, -1.25]);
            let flat = over(&part("0", 8, None), 0, &first, &words(kind), &uses);
            assert_eq!(flat, [&first[..]; 4].concat(), "{kind:?}");
            let all = over(&part("0", 8, Some(32)), 0, &first, &words(kind), &uses);
            let all = values(&all);
            for component in 0..2 {
                let [a, b, c, d] = [0, 2, 4, 6].map(|corner| all[corner + component]);
                assert_eq!(d - c, b - a, "{kind:?}");
                let differs = !matches!(kind, Kind::Zeros);
                assert_eq!((b != a, c != a), (differs, differs), "{kind:?}");
            }
        }
    }

    #[test]
    fn fragments_stand_clear_of_boundaries_and_centres_of_texels() {
        let distance = |value: f64| (value - value.round()).abs();
        for (own, turn) in
            (0..16).flat_map(|own| (0..3).map(move |turn| (f64::from(own) / 16.0 + 0.031_25, turn)))
        {
            for component in [0, 1] {
                let Plane { start, by } = coordinate(own, turn, component);
                let start = start.unwrap();
                for value in [start, start + by[component as usize]] {
                    let texel = value * TEXELS;
                    let of_level = texel / f64::from(1 << turn);
                    assert!((0.0..1.0).contains(&value), "{own} {turn} {component}");
                    for place in [texel, texel - 0.5, of_level] {
                        assert!(distance(place) >= 0.0625, "{own} {turn} {component}: {texel} {of_level}");
                    }
                }
            }
        }
    }

    #[test]
    fn some_inputs_have_helpers_and_none_has_nothing_else() {
        let mut launch = launch(1, 4, 4);
        launch.quad = true;
        let count = |launch: &Launch, kind| {
            let helpers = automatic_helpers(launch, &words(kind));
            helpers.chunks(4).filter(|word| word[0] != Byte::Known(0)).count()
        };
        let kinds = KINDS.into_iter().chain((3..40).map(Kind::Boundary)).chain((8..80).map(Kind::Random));
        let counts: Vec<usize> = kinds.clone().map(|kind| count(&launch, kind)).collect();
        assert!(counts.iter().all(|helpers| *helpers < 4));
        assert!((1..4).all(|helpers| counts.contains(&helpers)), "{counts:?}");
        assert!(counts.iter().filter(|helpers| **helpers == 0).count() * 2 > counts.len());
        launch.helpers = false;
        assert!(kinds.map(|kind| count(&launch, kind)).all(|helpers| helpers == 0));
    }
}

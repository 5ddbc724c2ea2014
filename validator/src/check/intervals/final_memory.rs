//! The final memory of both sides, float by float.

use std::collections::BTreeMap;

use super::{Judgement, Seen, Tolerance};
use crate::compare::{Difference, Obstacle};
use crate::dispatch::{Dispatch, Object};
use crate::interp::{float_value, ulp, Interval};
use crate::ir::image::Encoding;
use crate::value::Byte;

/// Compares the final memory of both, object by object. Where it stays open: the first place. `relaxed`: any float of 32
/// bits may have lost precision that has no interval.
pub(super) fn compare(
    [(before, seen_before), (after, seen_after)]: [(&Dispatch, &Seen); 2],
    tolerance: Tolerance,
    relaxed: bool,
) -> Result<Judgement, Obstacle> {
    let keys = |dispatch: &Dispatch| -> BTreeMap<String, usize> {
        let observed = dispatch.objects.iter().enumerate().filter(|(_, object)| object.observed);
        observed.map(|(index, object)| (object.key.clone(), index)).collect()
    };
    let (of_before, of_after) = (keys(before), keys(after));
    if !of_before.keys().eq(of_after.keys()) {
        return Err(Obstacle::OtherObjects);
    }
    let mut open = None;
    for ((key, b), a) in of_before.iter().zip(of_after.values()) {
        let components = Components::of(&before.objects[*b]);
        let sides =
            [Memory::of(before, seen_before, *b, components), Memory::of(after, seen_after, *a, components)];
        let place = |offset| Difference { key: key.clone(), offset };
        let is_image = before.objects[*b].image.is_some();
        let slack = match (relaxed, is_image) {
            (false, _) => Slack::None,
            (true, false) => Slack::Floats,
            (true, true) => Slack::Any,
        };
        match compare_object(&sides, tolerance, slack) {
            Found::Permitted => {}
            Found::Differs(offset) => return Ok(Judgement::Violates(Some(place(offset)))),
            Found::Unbounded(offset) => {
                open.get_or_insert(Obstacle::Unbounded { place: place(offset) });
            }
            Found::Overlaps(offset) => {
                open.get_or_insert(Obstacle::Overlaps { place: place(offset) });
            }
        }
    }
    open.map_or(Ok(Judgement::Permitted), Err)
}

/// The final contents of an object.
pub(super) struct Memory<'a> {
    pub bytes: &'a [Byte],
    /// Bytes and interval of each float that may be another one, by its first byte.
    pub shades: BTreeMap<u32, (u32, Interval)>,
    pub components: Components,
    /// Intervals are as narrow as what both sides compute makes likely, and hold for numbers alone.
    pub is_beside: bool,
}

impl<'a> Memory<'a> {
    fn of(dispatch: &Dispatch, seen: &'a Seen, object: usize, components: Components) -> Self {
        let (bytes, shades) = (seen.bytes(dispatch, object), seen.shades(dispatch, object));
        Memory { bytes, shades, components, is_beside: seen.is_beside }
    }

    /// Whether a float is a number, whatever it is.
    fn is_number(&self, interval: Option<Interval>, computed: f64) -> bool {
        match interval {
            None => !Interval::point(computed).is_any(),
            Some(interval) => !interval.is_any() && !self.is_beside,
        }
    }
}

/// What is in memory where an interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Components {
    Floats,
    /// Texels, with normalised components of so many bits.
    Normalised {
        signed: bool,
    },
}

impl Components {
    pub fn of(object: &Object) -> Self {
        match object.image.map(|layout| layout.format.encoding()) {
            Some(Encoding::Unorm(_)) => Components::Normalised { signed: false },
            Some(Encoding::Snorm(_)) => Components::Normalised { signed: true },
            None
            | Some(
                Encoding::Float(_)
                | Encoding::Sint(_)
                | Encoding::Uint(_)
                | Encoding::PackedFloat
                | Encoding::PackedUnorm
                | Encoding::PackedUint,
            ) => Components::Floats,
        }
    }

    /// The number that these bytes stand for; `None` where they are none.
    pub fn number(self, bytes: &[Byte]) -> Option<f64> {
        let width = u8::try_from(8 * bytes.len()).ok()?;
        let mut bits = 0;
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                Byte::Known(byte) => bits |= u64::from(*byte) << (8 * index),
                Byte::Undef => return None,
            }
        }
        match self {
            Components::Floats => float_value(width, bits),
            Components::Normalised { signed: false } => Some(bits as f64),
            Components::Normalised { signed: true } => {
                let unused = 64 - u32::from(width);
                Some((((bits << unused) as i64) >> unused) as f64)
            }
        }
    }

    /// The distance between numbers of so many bits around a magnitude.
    fn unit(self, width: u8, magnitude: f64) -> f64 {
        match self {
            Components::Floats => ulp(width, magnitude),
            Components::Normalised { .. } => 1.0,
        }
    }
}

/// What the floats of an object come to; where, if it is not all of it.
pub(super) enum Found {
    Permitted,
    Differs(usize),
    /// There is no bound, or the two do not divide their bytes alike.
    Unbounded(usize),
    /// There are permitted results of after that before may have, too.
    Overlaps(usize),
}

/// How much what has no interval may differ all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slack {
    None,
    /// Words may be floats that lost precision.
    Floats,
    /// Texels, of which nothing is concluded.
    Any,
}

pub(super) fn compare_object([before, after]: &[Memory<'_>; 2], tolerance: Tolerance, slack: Slack) -> Found {
    if before.bytes.len() != after.bytes.len() {
        return Found::Unbounded(0);
    }
    let mut covered = vec![false; before.bytes.len()];
    let mut found = Found::Permitted;
    let starts: std::collections::BTreeSet<u32> =
        before.shades.keys().chain(after.shades.keys()).copied().collect();
    for start in starts {
        let (b, a) = (before.shades.get(&start), after.shades.get(&start));
        let lengths = [b, a].map(|shade| shade.map(|(bytes, _)| *bytes));
        let length = lengths[0].or(lengths[1]).unwrap_or(0) as usize;
        let range = start as usize..start as usize + length;
        let Some(slots) = covered.get_mut(range.clone()) else { return Found::Unbounded(range.start) };
        let alike = lengths.iter().flatten().all(|other| *other as usize == length);
        if !alike || slots.contains(&true) {
            return Found::Unbounded(range.start);
        }
        slots.fill(true);
        let intervals = [b, a].map(|shade| shade.map(|(_, it)| *it));
        match compare_float(before, after, range, intervals, tolerance, slack) {
            Found::Permitted => {}
            Found::Differs(offset) => return Found::Differs(offset),
            open @ (Found::Unbounded(_) | Found::Overlaps(_)) => found = open,
        }
    }
    let differs = |at: &usize| {
        !covered[*at] && before.bytes[*at] != Byte::Undef && before.bytes[*at] != after.bytes[*at]
    };
    for at in (0..before.bytes.len()).filter(differs) {
        if slack == Slack::None || slack == Slack::Floats && are_far(before, after, at / WORD * WORD) {
            return Found::Differs(at);
        }
        found = Found::Overlaps(at);
    }
    found
}

const WORD: usize = 4;

/// Whether the words there are no floats that may be one with less precision.
fn are_far(before: &Memory<'_>, after: &Memory<'_>, start: usize) -> bool {
    let number = |side: &Memory<'_>| side.components.number(side.bytes.get(start..start + WORD)?);
    let numbers = number(before).zip(number(after));
    numbers.is_some_and(|(a, b)| Interval::point(a).relaxed().is_disjoint(Interval::point(b).relaxed()))
}

fn compare_float(
    before: &Memory<'_>,
    after: &Memory<'_>,
    range: std::ops::Range<usize>,
    [b, a]: [Option<Interval>; 2],
    tolerance: Tolerance,
    slack: Slack,
) -> Found {
    let bytes = [&before.bytes[range.clone()], &after.bytes[range.clone()]];
    if bytes[0] == bytes[1] || bytes[0].iter().all(|byte| *byte == Byte::Undef) {
        return Found::Permitted;
    }
    let width = 8 * range.len() as u8;
    let [old, new] =
        [(before, bytes[0]), (after, bytes[1])].map(|(side, bytes)| side.components.number(bytes));
    let (Some(old), Some(new)) = (old, new) else {
        // What after leaves undefined may be any float, of which before has not all.
        let is_number = old.is_some_and(|old| before.is_number(b, old));
        return match bytes[1].contains(&Byte::Undef) && is_number {
            true => Found::Differs(range.start),
            false => Found::Unbounded(range.start),
        };
    };
    if let Tolerance::Units(units) = tolerance {
        let near =
            (old - new).abs() <= f64::from(units) * before.components.unit(width, old.abs().max(new.abs()));
        return if near || old.is_nan() && new.is_nan() {
            Found::Permitted
        } else {
            Found::Differs(range.start)
        };
    }
    // The search found a NaN where floats are as computed, which is permitted, and before has none.
    if new.is_nan() && before.is_number(b, old) {
        return Found::Differs(range.start);
    }
    let (b, a) = (b.unwrap_or(Interval::point(old)), a.unwrap_or(Interval::point(new)));
    let lose = |it: Interval| if slack != Slack::None && width == 32 { it.relaxed() } else { it };
    if lose(b).is_disjoint(lose(a)) {
        Found::Differs(range.start)
    } else if b.is_any() || a.is_any() {
        Found::Unbounded(range.start)
    } else if !b.contains(new) {
        Found::Overlaps(range.start)
    } else {
        Found::Permitted
    }
}

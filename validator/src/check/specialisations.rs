//! Which values specialisation constants take beside those that the user gave and the defaults: a function of their uses
//! and the seed.

use std::collections::BTreeMap;

use crate::lower::{NumberKind, SpecUse};
use crate::value::mask;

/// Specialisations that are tried beside the first one, at most.
pub(super) const MOST: usize = 4;

/// Sizes are not made larger than this, unless their default is.
const LARGEST_SIZE: i128 = 128;

/// Fractions for floats that are compared with no constant.
const FRACTIONS: [f64; 4] = [0.75, -1.25, 2.5, 0.5];

/// Values by SpecId, as `--spec` takes them. None has the defaults alone, and no two are alike.
pub(super) type Specialised = BTreeMap<u32, String>;

/// The specialisations that are tried: first all constants together, since sizes must fit each other, then parts of them.
pub(super) fn specialisations(uses: &[SpecUse], seed: u64) -> Vec<Specialised> {
    let values: Vec<(u32, Vec<String>)> = uses
        .iter()
        .map(|one| (one.spec_id, values(one)))
        .filter(|(_, values)| !values.is_empty())
        .map(|(id, mut values)| {
            let turn = seed.wrapping_mul(MOST as u64) % values.len() as u64;
            values.rotate_left(turn as usize);
            (id, values)
        })
        .collect();
    let of = |chosen: &dyn Fn(usize) -> bool, turn: usize| -> Specialised {
        let chosen = values.iter().enumerate().filter(|(number, _)| chosen(*number));
        chosen.filter_map(|(_, (id, values))| Some((*id, values.iter().cycle().nth(turn)?.clone()))).collect()
    };
    let all = |_| true;
    let (even, odd) = (|number| number % 2 == 0, |number| number % 2 == 1);
    let tried = match &values[..] {
        [(_, values)] => (0..values.len()).map(|turn| of(&all, turn)).collect(),
        [] | [..] => vec![of(&all, 0), of(&all, 1), of(&even, 0), of(&odd, 0)],
    };
    let mut distinct: Vec<Specialised> = Vec::new();
    for one in tried.into_iter().take(MOST) {
        if !one.is_empty() && !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// Other values of a constant, those first with which most of its comparisons end otherwise.
fn values(one: &SpecUse) -> Vec<String> {
    let mut values: Vec<String> = match one.kind {
        NumberKind::Bool => vec![(one.default == 0).to_string()],
        NumberKind::Signed | NumberKind::Unsigned => integers(one).iter().map(ToString::to_string).collect(),
        NumberKind::Float | NumberKind::Encoded(_) => floats(one).iter().map(ToString::to_string).collect(),
    };
    let mut known = vec![one.default];
    values.retain(|value| {
        let bits = one.bits(value).filter(|bits| !known.contains(bits));
        known.extend(bits);
        bits.is_some()
    });
    values
}

fn integers(one: &SpecUse) -> Vec<i128> {
    let width = one.width.clamp(1, 64);
    let signed = one.kind == NumberKind::Signed;
    let value = |bits: u64| match bits >> (width - 1) & 1 {
        1 if signed => i128::from(bits | !mask(width)) - (1 << 64),
        _ => i128::from(bits),
    };
    let default = value(one.default);
    let met: Vec<i128> = one.met.iter().map(|bits| value(*bits)).collect();
    let mut values: Vec<i128> = met.iter().flat_map(|met| [*met, met + 1, met - 1]).collect();
    if one.is_size {
        values.extend([default * 2, default / 2, 1, 2, 3, default + 1]);
        values.retain(|value| (1..=LARGEST_SIZE.max(default)).contains(value));
    } else {
        values.extend([default + 1, 1, default * 2, 0, default - 1, 2]);
    }
    let unchanged = |value: &i128| met.iter().filter(|met| value.cmp(met) == default.cmp(met)).count();
    values.sort_by_key(unchanged);
    values
}

fn floats(one: &SpecUse) -> Vec<f64> {
    let value = |bits: u64| match (one.kind, one.width) {
        (NumberKind::Float, 32) => Some(f64::from(f32::from_bits(bits as u32))),
        (NumberKind::Float, 64) => Some(f64::from_bits(bits)),
        // Fractions do for the small formats.
        _ => None,
    };
    let met: Vec<f64> =
        one.met.iter().filter_map(|bits| value(*bits)).filter(|met| met.is_finite()).collect();
    let mut values: Vec<f64> = met.iter().flat_map(|met| [*met, met + 0.5, met - 0.5]).collect();
    values.extend(FRACTIONS);
    if let Some(default) = value(one.default) {
        let unchanged =
            |value: &f64| met.iter().filter(|met| value.total_cmp(met) == default.total_cmp(met)).count();
        values.sort_by_key(unchanged);
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(spec_id: u32, kind: NumberKind, default: u64, is_size: bool, met: &[u64]) -> SpecUse {
        let width = if kind == NumberKind::Bool { 1 } else { 32 };
        SpecUse { spec_id, kind, width, default, is_size, met: met.iter().copied().collect() }
    }

    #[test]
    fn values_suit_the_type_and_differ_from_the_default() {
        let of = |kind, default, is_size, met: &[u64]| values(&constant(0, kind, default, is_size, met));
        assert_eq!(of(NumberKind::Bool, 0, false, &[]), ["true"]);
        assert_eq!(of(NumberKind::Bool, 1, false, &[]), ["false"]);
        // Below 4 by default: first what is not.
        assert_eq!(of(NumberKind::Unsigned, 3, false, &[4]), ["4", "5", "6", "1", "0", "2"]);
        assert_eq!(of(NumberKind::Unsigned, 0, false, &[]), ["1", "2"]);
        assert_eq!(of(NumberKind::Signed, 0, false, &[]), ["1", "-1", "2"]);
        assert_eq!(of(NumberKind::Signed, 0xffff_fffd, false, &[]), ["-2", "1", "-6", "0", "-4", "2"]);
        let greatest = u64::from(u32::MAX);
        assert_eq!(of(NumberKind::Unsigned, greatest, false, &[]), ["1", "0", "4294967294", "2"]);
        let half = u64::from(0.5_f32.to_bits());
        assert_eq!(of(NumberKind::Float, half, false, &[]), ["0.75", "-1.25", "2.5"]);
        assert_eq!(of(NumberKind::Float, half, false, &[half])[..2], ["1", "0"]);
    }

    #[test]
    fn sizes_are_small_and_never_zero() {
        let of = |default, met: &[u64]| values(&constant(0, NumberKind::Unsigned, default, true, met));
        assert_eq!(of(8, &[]), ["16", "4", "1", "2", "3", "9"]);
        assert_eq!(of(1, &[]), ["2", "3"]);
        assert_eq!(of(128, &[1]), ["1", "2", "64", "3"]);
        assert_eq!(of(1024, &[])[..2], ["512", "1"]);
    }

    #[test]
    fn few_specialisations_are_tried_together_and_in_parts() {
        let flag = |id| constant(id, NumberKind::Bool, 0, false, &[]);
        let number = |id| constant(id, NumberKind::Unsigned, 7, false, &[]);
        let told = |uses: &[SpecUse], seed| -> Vec<String> {
            let tell = |one: Specialised| {
                one.iter().map(|(id, value)| format!("{id}={value}")).collect::<Vec<_>>().join(" ")
            };
            specialisations(uses, seed).into_iter().map(tell).collect()
        };
        assert_eq!(told(&[], 0), [""; 0]);
        assert_eq!(told(&[flag(3)], 0), ["3=true"]);
        assert_eq!(told(&[number(3)], 0), ["3=8", "3=1", "3=14", "3=0"]);
        assert_eq!(told(&[number(3)], 1), ["3=6", "3=2", "3=8", "3=1"]);
        assert_eq!(told(&[number(3)], 1), told(&[number(3)], 1));
        assert_eq!(told(&[flag(3), number(5)], 0), ["3=true 5=8", "3=true 5=1", "3=true", "5=8"]);
        assert_eq!(
            told(&[flag(3), flag(4), flag(5)], 0),
            ["3=true 4=true 5=true", "3=true 5=true", "4=true"]
        );
    }
}

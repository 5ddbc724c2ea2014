use super::*;

fn used(width: u8, roles: &[Role]) -> Usage {
    let mut usage = Usage::default().with_width(width);
    for role in roles {
        usage.set(*role);
    }
    usage
}

fn all(usage: &Usage, kind: Kind) -> Vec<u64> {
    let mut random = Random::new(7);
    let typed = Typed::new(kind, [8, 1, 1], true, std::iter::once(usage));
    (0..64).filter_map(|place| typed.value(usage, Place { place, rank: 0 }, &mut random)).collect()
}

const KINDS: [Kind; 8] = [
    Kind::Distinct,
    Kind::Boundary(0),
    Kind::Boundary(1),
    Kind::Boundary(2),
    Kind::Boundary(3),
    Kind::Boundary(4),
    Kind::Random(3),
    Kind::Random(5),
];

#[test]
fn parts_of_coordinates_are_of_their_unit_or_texels_or_ordinary() {
    let usage = used(4, &[Role::Float, Role::PartOfCoordinate]);
    let of = |kind| -> Vec<f64> {
        all(&usage, kind).into_iter().map(|bits| f64::from(f32::from_bits(bits as u32))).collect()
    };
    assert!(of(Kind::Distinct).iter().all(|value| (0.0..1.0).contains(value)));
    let texels = of(Kind::Boundary(0));
    assert!(texels.iter().all(|value| (0.0..4.0).contains(value)));
    assert!(texels.iter().any(|value| *value > 3.0));
    assert!(of(Kind::Boundary(1)).iter().any(|value| *value < 0.0));
}

#[test]
fn floats_are_never_subnormal_and_distinct_ones_differ() {
    for width in [2, 4, 8] {
        for bits in KINDS.iter().flat_map(|kind| all(&used(width, &[Role::Float]), *kind)) {
            let value = decoded(bits, width);
            assert!(value == 0.0 || value.is_nan() || value.abs() > 0.000_061, "{value}");
        }
        let mut distinct = all(&used(width, &[Role::Float]), Kind::Distinct);
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 64);
    }
}

#[test]
fn infinities_and_nans_have_inputs_of_their_own() {
    let finite = |kind| {
        let bits = all(&used(4, &[Role::Float]), kind);
        bits.into_iter().all(|bits| decoded(bits, 4).is_finite())
    };
    assert_eq!(KINDS.map(finite), [true, true, true, true, false, true, true, true]);
}

#[test]
fn indices_stay_within_what_they_index() {
    let mut usage = used(4, &[Role::Integer]);
    usage.set_index(Some(3));
    for kind in KINDS {
        assert!(all(&usage, kind).iter().all(|index| *index < 3));
    }
}

#[test]
fn indices_to_which_a_constant_is_added_stay_within_what_they_index() {
    let mut usage = used(4, &[Role::Integer, Role::PartOfIndex]);
    usage.set_shifted_index(4, -1);
    let values = all(&usage, Kind::Distinct);
    assert!(values.iter().all(|value| (1..=4).contains(value)));
    // What tells whether there is one is met, too.
    usage.compare(0);
    let values: Vec<u64> = KINDS.iter().flat_map(|kind| all(&usage, *kind)).collect();
    assert!(values.contains(&0) && values.iter().all(|value| *value <= 4));
    // The same words are floats elsewhere.
    usage.set(Role::Float);
    let values: Vec<u64> = KINDS.iter().flat_map(|kind| all(&usage, *kind)).collect();
    assert!(values.contains(&4) && values.contains(&u64::from(0.5_f32.to_bits())));
}

#[test]
fn rows_do_not_overlap_and_indices_that_are_multiplied_stay_indices() {
    let stride = used(4, &[Role::Factor, Role::PartOfIndex]);
    let turns = {
        let mut turns = used(4, &[]);
        turns.set_turns(16);
        turns
    };
    let all_of = [&stride, &turns];
    let typed = Typed::new(Kind::Distinct, [8, 1, 1], false, all_of.into_iter());
    let mut row = Row::default();
    let ranks: Vec<u32> = (0..3).map(|word| row.rank(4 * word, &stride)).collect();
    assert_eq!((ranks, row.rank(12, &turns), row.rank(20, &turns)), (vec![0, 1, 2], 0, 0));
    let mut random = Random::new(7);
    let mut value = |rank| typed.value(&stride, Place { place: 3, rank }, &mut random);
    assert_eq!([value(0), value(1), value(2)], [Some(1), Some(64), Some(128)]);
    let mut index = used(4, &[Role::Factor, Role::PartOfIndex]);
    index.set_index(Some(3));
    assert!(KINDS.iter().all(|kind| all(&index, *kind).iter().all(|index| *index < 3)));
}

#[test]
fn words_of_atomics_are_zero_in_most_inputs() {
    let usage = used(4, &[Role::Atomic, Role::Integer]);
    // The others have the usual values.
    let zeros = KINDS.map(|kind| all(&usage, kind).iter().filter(|word| **word == 0).count());
    assert_eq!(zeros[..6], [64, 64, 64, 0, 64, 64]);
    assert!(zeros[6..].iter().all(|zeros| (32..60).contains(zeros)), "{zeros:?}");
}

#[test]
fn guards_are_met_from_both_sides_and_loops_run_a_few_turns() {
    assert!(all(&used(4, &[Role::Guard]), Kind::Distinct).iter().all(|bound| *bound == 7));
    assert!(all(&used(4, &[Role::Guard]), Kind::Boundary(0)).iter().all(|bound| *bound == 17));
    assert!(KINDS.iter().all(|kind| all(&used(4, &[Role::Turns]), *kind).iter().all(|turns| *turns < 5)));
}

#[test]
fn comparisons_with_constants_flip() {
    let mut usage = used(4, &[Role::Integer]);
    usage.compare(40);
    let values = all(&usage, Kind::Distinct);
    assert!([39, 40, 41].iter().all(|value| values.contains(value)));
    let mut usage = used(4, &[Role::Float]);
    usage.compare(u64::from(2.0_f32.to_bits()));
    let values: Vec<f64> = all(&usage, Kind::Distinct).iter().map(|bits| decoded(*bits, 4)).collect();
    assert!([1.5, 2.0, 2.5].iter().all(|value| values.contains(value)));
}

#[test]
fn entries_of_tables_are_met_all_over() {
    let usage = used(1, &[Role::Integer, Role::Packed, Role::Entry]);
    let mut values: Vec<u64> = KINDS.iter().flat_map(|kind| all(&usage, *kind)).collect();
    values.sort_unstable();
    values.dedup_by_key(|value| *value as u8);
    // Of 512 random ones, 35 of 256 are missing.
    assert!(values.len() > 200, "{}", values.len());
    // Parts of indices that may leave what they index stay small.
    let usage = used(1, &[Role::PartOfIndex, Role::Entry]);
    assert!(KINDS.iter().all(|kind| all(&usage, *kind).iter().all(|part| *part < 8)));
}

#[test]
fn what_is_divided_is_whole_ones_in_many_inputs() {
    let mut usage = used(4, &[Role::PartOfIndex]);
    usage.set_quotient(256);
    let quotients = |kind| -> Vec<u64> { all(&usage, kind).iter().map(|value| value / 256).collect() };
    assert!(quotients(Kind::Distinct).iter().all(|quotient| *quotient == 0));
    assert!(quotients(Kind::Boundary(0)).iter().all(|quotient| (1..8).contains(quotient)));
    let mut usage = used(4, &[Role::Guard]);
    usage.set_quotient(16);
    assert!(all(&usage, Kind::Distinct).iter().all(|bound| *bound == 4 * 16));
    assert!(all(&usage, Kind::Boundary(0)).iter().all(|bound| *bound == 17));
}

#[test]
fn fields_of_words_are_near_what_they_are_compared_with_and_indices() {
    let mut biased = Usage::default();
    biased.compare(0x8000);
    let mut usage = used(4, &[Role::Packed, Role::PartOfIndex]);
    for first in [0, 16] {
        usage.compare_field(Field { first, bits: 16 }, &biased);
    }
    let near = |half: u64| (0x7ffe..=0x8002).contains(&half);
    let words = all(&usage, Kind::Distinct);
    assert!(words.iter().all(|word| near(word >> 16) && near(word & 0xffff)));
    assert!(words.iter().any(|word| word >> 16 > word & 0xffff));
    // They may be used as a whole, as well.
    assert!(all(&usage, Kind::Boundary(2)).iter().all(|word| *word < 8 || word >> 16 < 8));
    let mut usage = used(4, &[Role::Packed, Role::PartOfIndex]);
    usage.set_index_field(Field { first: 4, bits: 28 });
    assert!(all(&usage, Kind::Distinct).iter().all(|word| (1..=8).contains(&(word >> 4))));
    assert!(all(&usage, Kind::Distinct).iter().any(|word| word & 0xf > 8));
}

#[test]
fn sizes_are_taken_for_negative_numbers_in_some_inputs() {
    let usage = used(4, &[Role::Divisor]);
    let large = |kind| all(&usage, kind).iter().filter(|size| **size > 1 << 31).count();
    assert_eq!(KINDS.map(large)[..6], [0, 0, 0, 15, 0, 0]);
}

//! What each strengthening makes of small shaders. That it refines them is tested on the corpus, by the validator
//! (`tests/preserving.rs`).

use super::STRENGTHENING;
use crate::module::tests::{module, shader, text, DECLARATIONS};
use crate::{Module, Mutant, Mutants};

fn made(module: &Module, mutator: &str) -> Vec<(String, String)> {
    let found = Mutants::of(module, STRENGTHENING, 0);
    assert!(found.invalid.is_empty(), "{}", found.invalid[0].1);
    let ours = found.valid.into_iter().filter(|mutant| mutant.mutator == mutator);
    ours.map(|mutant: Mutant| (mutant.name(), text(&mutant.module))).collect()
}

fn names(made: &[(String, String)]) -> Vec<&str> {
    made.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn orders_become_the_strongest() {
    let shader = shader(
        "OpAtomicStore %a %uint_2 %uint_0 %uint_1
         %x = OpAtomicLoad %uint %a %uint_2 %uint_0
         %y = OpAtomicIAdd %uint %a %uint_2 %uint_0 %uint_1
         %z = OpAtomicLoad %uint %a %uint_2 %acquire",
    );
    let made = made(&shader, "stronger-order");
    let expected = [
        "stronger-order OpAtomicStore#1: RELEASE",
        "stronger-order OpAtomicLoad#1: ACQUIRE",
        "stronger-order OpAtomicIAdd#1: ACQUIRE_RELEASE",
    ];
    assert_eq!(names(&made).len(), expected.len(), "{:?}", names(&made));
}

#[test]
fn scopes_are_widened_by_one_step() {
    let made = made(&shader("OpMemoryBarrier %uint_3 %acquire_release"), "wider-scope");
    assert_eq!(made.len(), 1);
    assert!(made[0].1.contains("OpMemoryBarrier %uint_2"), "{}", made[0].1);
    let there = shader("OpMemoryBarrier %uint_1 %acquire_release");
    assert!(names(&self::made(&there, "wider-scope")).is_empty());
}

#[test]
fn semantics_cover_more_memory() {
    let made = made(&shader("OpMemoryBarrier %uint_2 %acquire_release"), "more-classes");
    assert_eq!(made.len(), 0, "it has both");
    let narrow = DECLARATIONS.replace("0x6148", "0x6048");
    let narrow =
        module(&format!("{narrow}OpMemoryBarrier %uint_2 %acquire_release\nOpReturn\nOpFunctionEnd\n"));
    assert_eq!(self::made(&narrow, "more-classes").len(), 1);
}

#[test]
fn fences_stand_before_shared_accesses() {
    let made = made(&shader("OpStore %a %uint_1\n%x = OpLoad %uint %s"), "fences-added");
    assert_eq!(made.len(), 4, "two scopes each: {:?}", names(&made));
    assert!(made.iter().all(|(_, text)| text.matches("OpMemoryBarrier").count() == 1));
}

#[test]
fn plain_accesses_become_atomics() {
    let made = made(&shader("OpStore %a %uint_1\n%x = OpLoad %uint %s"), "plain-to-atomic");
    assert_eq!(made.len(), 2);
    assert!(made[0].1.contains("OpAtomicStore %a %uint_5 %uint_0 %uint_1"), "{}", made[0].1);
    assert!(made[1].1.contains("OpAtomicLoad %uint %s"), "{}", made[1].1);
}

#[test]
fn private_accesses_become_others() {
    let shader = shader("OpStore %a %uint_1\nOpStore %b %uint_1 NonPrivatePointer");
    let made = made(&shader, "private-to-non-private");
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].1.matches("NonPrivatePointer").count(), 2, "{}", made[0].1);
}

//! The twin on programs whose behaviours are argued by hand.

use std::collections::BTreeSet;

use super::program::{Action, Condition, Loop, Number, Program, Statement, Step};
use super::search::{behaviours, Answer, Found, Size, Undefined};
use crate::model::{Scope, Semantics, Variant};
use crate::program::{
    ControlBarrier, Instruction, Location, Shape, Space, Update, Value, BUFFER_WORDS, UNIFORM,
};

const SIZE: Size = Size {
    turns: 2,
    operations: 60,
    graphs: 100_000,
    candidates: 100_000,
    steps: 10_000_000,
    tries: 10_000_000,
};

pub const X: usize = 0;
pub const Y: usize = 1;

pub fn place(word: usize) -> Location {
    Location { space: Space::Buffer, word, words: 1 }
}

fn step(only: usize, number: Number, action: Action) -> Statement {
    Statement::Step(Step { number, only: Some(only), guard: None, action })
}

pub fn memory(only: usize, number: Number, instruction: Instruction) -> Statement {
    step_of(Some(only), number, instruction)
}

pub fn step_of(only: Option<usize>, number: Number, instruction: Instruction) -> Statement {
    let action = Action::Memory { instruction, volatile: false };
    Statement::Step(Step { number, only, guard: None, action })
}

pub fn atomic(only: usize, number: Number, word: usize, update: Update) -> Statement {
    let instruction = Instruction::Atomic {
        place: place(word),
        update,
        scope: Scope::Device,
        semantics: Semantics::default(),
    };
    memory(only, number, instruction)
}

pub fn load(only: usize, number: Number, word: usize) -> Statement {
    atomic(only, number, word, Update::Load)
}

pub fn store(only: usize, number: Number, word: usize, value: u32) -> Statement {
    atomic(only, number, word, Update::Store(Value::Constant(value)))
}

fn plain_load(only: usize, number: Number, word: usize) -> Statement {
    memory(only, number, Instruction::Load { place: place(word), non_private: true, visible: None })
}

pub fn divide(only: usize, number: Number, read: Number) -> Statement {
    step(only, number, Action::Divide(read))
}

pub fn equals(number: Number, equals: u32) -> Option<Condition> {
    Some(Condition::Register { number, equals, negated: false })
}

pub fn looped(only: Option<usize>, exit: Option<Condition>, body: Vec<Statement>) -> Statement {
    Statement::Loop(Loop { only, body, exit })
}

fn found_in(shape: (usize, usize), code: Vec<Statement>, variant: Variant) -> Answer {
    let shape = Shape { workgroups: shape.0, local_size: shape.1, subgroup_size: 1 };
    behaviours(&Program { shape, initial: [0; BUFFER_WORDS], code }, variant, SIZE)
}

/// So many workgroups of one invocation.
fn found(workgroups: usize, code: Vec<Statement>) -> Found {
    match found_in((workgroups, 1), code.clone(), Variant::NEWEST) {
        Answer::Found(found) => found,
        other => panic!("{other:?}: {code:?}"),
    }
}

/// What the reads show, in all outcomes.
fn results(found: &Found) -> BTreeSet<Vec<u32>> {
    found.outcomes.iter().map(|outcome| outcome.results.clone()).collect()
}

fn set<const N: usize, const M: usize>(rows: [[u32; N]; M]) -> BTreeSet<Vec<u32>> {
    rows.iter().map(|row| row.to_vec()).collect()
}

/// The ways to poll a word into register 1.
fn polls() -> Vec<Statement> {
    let unequal = Semantics::default();
    let fails = Update::CompareExchange { comparator: 7, value: Value::Constant(3), unequal };
    let acquire = Semantics { acquire: true, classes: UNIFORM, make_visible: true, ..Semantics::default() };
    let update = Update::Load;
    let acquiring = Instruction::Atomic { place: place(X), update, scope: Scope::Device, semantics: acquire };
    vec![
        load(1, 1, X),
        memory(1, 1, acquiring),
        atomic(1, 1, X, Update::Add(0)),
        atomic(1, 1, X, fails),
        plain_load(1, 1, X),
        memory(1, 1, Instruction::Load { place: place(X), non_private: false, visible: None }),
    ]
}

/// Whoever polls sees x = 1 in the end, however it polls: to read 0 for ever is no hang.
#[test]
fn a_stale_read_is_no_hang() {
    for poll in polls() {
        let found = found(2, vec![store(0, 0, X, 1), looped(Some(1), equals(1, 1), vec![poll.clone()])]);
        assert!(!found.hangs, "{poll:?}");
        assert_eq!(results(&found), set([[0, 1]]), "{poll:?}");
    }
}

/// Nobody writes what ends the loop. The other invocation comes to its end, and the dispatch does not.
#[test]
fn a_poll_that_nobody_ends_is_a_hang() {
    for poll in polls() {
        for others in [vec![], vec![store(0, 0, X, 2)], vec![store(0, 0, X, 1), store(0, 2, X, 0)]] {
            let ends = others.len() == 2;
            let code = [others, vec![looped(Some(1), equals(1, 1), vec![poll.clone()])]].concat();
            let found = found(2, code);
            assert!(found.hangs, "{poll:?}");
            // Where 1 is there for a while, it may be seen.
            assert_eq!(!found.outcomes.is_empty(), ends, "{poll:?}");
        }
    }
}

/// Without accesses, and without a way out or with one that may always be taken.
#[test]
fn a_loop_that_does_nothing_hangs() {
    let never = found(1, vec![store(0, 0, X, 1), looped(Some(0), None, vec![])]);
    assert!(never.hangs && never.outcomes.is_empty());
    for body in [vec![], vec![load(0, 1, X)], vec![store(0, 1, X, 1)], vec![atomic(0, 1, X, Update::Add(0))]]
    {
        let maybe = found(1, vec![looped(Some(0), Some(Condition::Undefined), body.clone())]);
        assert!(maybe.hangs && maybe.outcomes.len() == 1, "{body:?}: {maybe:?}");
    }
}

/// Each writes, and leaves when it reads its own value: the other one's may always have come between.
#[test]
fn two_may_undo_each_others_writes_for_ever() {
    let writes = |who: usize, value: u32| {
        let read = 2 * who + 1;
        looped(Some(who), equals(read, value), vec![store(who, 2 * who, X, value), load(who, read, X)])
    };
    let found = found(2, vec![writes(0, 1), writes(1, 2)]);
    assert!(found.hangs && found.shifts);
    assert_eq!(results(&found), set([[1, 0, 0, 2]]));
    assert!(found.undefined.is_empty());
}

/// Each waits for the other one's value, and overwrites it. Whoever writes last never sees it.
#[test]
fn two_that_wait_for_what_they_overwrite_hang() {
    let writes = |who: usize, value: u32| {
        let read = 2 * who + 1;
        looped(Some(who), equals(read, 3 - value), vec![store(who, 2 * who, X, value), load(who, read, X)])
    };
    let found = found(2, vec![writes(0, 1), writes(1, 2)]);
    assert!(found.hangs && found.shifts);
    assert!(found.outcomes.is_empty());
}

/// A write that comes again in every turn is seen in the end.
#[test]
fn what_is_written_in_every_turn_becomes_visible() {
    let writer = looped(Some(0), None, vec![store(0, 0, X, 1)]);
    let found = found(2, vec![writer, looped(Some(1), equals(1, 1), vec![load(1, 1, X)])]);
    // The writer alone is endless.
    assert!(found.hangs && found.outcomes.is_empty() && found.undefined.is_empty());
    let writer = looped(Some(0), equals(1, 1), vec![store(0, 0, X, 1), load(0, 1, Y)]);
    let reader = looped(Some(1), equals(2, 1), vec![load(1, 2, X)]);
    let ends = self::found(2, vec![writer, reader, store(1, 3, Y, 1)]);
    assert!(!ends.hangs, "the reader sees the write, and the writer the answer");
    assert_eq!(results(&ends), set([[1, 0, 0, 1]]));
}

/// One sends again and again until there is an answer: it comes, whatever else was written, and however often.
#[test]
fn what_is_sent_until_it_is_answered_is_answered() {
    let sender = looped(Some(0), equals(1, 1), vec![store(0, 0, X, 1), load(0, 1, Y)]);
    let receiver = looped(Some(1), equals(2, 1), vec![load(1, 2, X)]);
    let others = [
        vec![],
        vec![store(2, 4, X, 2)],
        vec![atomic(2, 4, X, Update::Exchange(Value::Constant(2)))],
        vec![store(2, 4, X, 2), store(2, 5, X, 2)],
    ];
    for other in others {
        let code = [vec![sender.clone(), receiver.clone(), store(1, 3, Y, 1)], other.clone()].concat();
        let found = found(3, code);
        assert!(!found.hangs && !found.outcomes.is_empty(), "{other:?}");
    }
}

/// A plain poll of what another one writes races, in executions that end and in endless ones.
#[test]
fn a_plain_poll_races() {
    let poll = |exit| looped(Some(1), exit, vec![plain_load(1, 1, X)]);
    for exit in [equals(1, 1), equals(1, 2), None] {
        let racy = found(2, vec![store(0, 0, X, 1), poll(exit)]);
        assert_eq!(racy.undefined, BTreeSet::from([Undefined::DataRace]));
        assert_eq!(racy.hangs, exit != equals(1, 1));
        let alone = found(2, vec![store(0, 0, Y, 1), poll(exit)]);
        assert!(alone.undefined.is_empty() && alone.hangs);
    }
}

/// An undefined condition may keep a loop going, or end it: the poll within is read at any time.
#[test]
fn an_undefined_condition_goes_both_ways() {
    let body = vec![load(1, 1, X)];
    let found = found(2, vec![store(0, 0, X, 1), looped(Some(1), Some(Condition::Undefined), body)]);
    assert!(found.hangs);
    assert_eq!(results(&found), set([[0, 0], [0, 1]]));
}

/// Turns that do something new come to an end, and are no hang.
#[test]
fn a_counted_loop_ends() {
    let counts = |ends| looped(Some(0), equals(0, ends), vec![atomic(0, 0, X, Update::Add(1))]);
    let twice = found(1, vec![counts(1)]);
    assert!(!twice.hangs && twice.outcomes.len() == 1);
    assert_eq!(found_in((1, 1), vec![counts(9)], Variant::NEWEST), Answer::Grows);
}

/// `r = x; 1 / (1 - r); y = 1` with `x = y`: in the execution in which r is 1, the division is undefined, and what comes after it
/// justifies the 1.
#[test]
fn a_fault_in_a_cycle_of_load_buffering_exists() {
    let answers = |value| vec![load(1, 3, Y), atomic(1, 4, X, Update::Store(value))];
    let copied = Value::Sum { read: 3, add: 0 };
    let asks = |after| vec![load(0, 0, X), divide(0, 1, 0), after];
    let faulty = found(2, [asks(store(0, 2, Y, 1)), answers(copied)].concat());
    assert_eq!(faulty.undefined, BTreeSet::from([Undefined::DivisionByZero]));
    assert!(faulty.load_buffering);
    // What the division decides is nothing that comes from thin air.
    let copies = atomic(0, 2, Y, Update::Store(Value::Sum { read: 0, add: 0 }));
    let sound = found(2, [asks(copies), answers(copied)].concat());
    assert!(sound.undefined.is_empty());
    assert_eq!(results(&sound), set([[0, 0, 0, 0]]));
    // In a loop, too.
    let asks = looped(Some(0), equals(0, 0), vec![load(0, 0, X), divide(0, 1, 0), store(0, 2, Y, 1)]);
    let turns = found(2, [vec![asks], answers(copied)].concat());
    assert!(turns.undefined.contains(&Undefined::DivisionByZero));
}

/// A hang may rest on load buffering.
#[test]
fn a_hang_may_need_a_cycle() {
    let asks = vec![load(0, 0, X), store(0, 1, Y, 1), looped(Some(0), equals(0, 0), vec![])];
    let copy = atomic(1, 3, X, Update::Store(Value::Sum { read: 2, add: 0 }));
    let found = found(2, [asks, vec![load(1, 2, Y), copy]].concat());
    assert!(found.hangs && found.load_buffering);
    assert_eq!(results(&found), set([[0, 0, 0, 0], [0, 0, 0, 1]]));
}

fn barrier(number: Number, only: Option<usize>) -> Statement {
    let semantics = Semantics {
        acquire: true,
        release: true,
        classes: UNIFORM,
        make_available: true,
        make_visible: true,
    };
    let control = ControlBarrier { execution: Scope::Workgroup, scope: Scope::Workgroup, semantics };
    Statement::Step(Step { number, only, guard: None, action: Action::Control(control) })
}

fn of_one_workgroup(code: Vec<Statement>) -> Found {
    match found_in((1, 2), code, Variant::NEWEST) {
        Answer::Found(found) => found,
        other => panic!("{other:?}"),
    }
}

/// Who stands at a barrier waits for whoever may come; for one that is finished nobody waits.
#[test]
fn barriers_wait_for_endless_invocations_and_not_for_finished_ones() {
    let waits = of_one_workgroup(vec![looped(Some(0), None, vec![]), barrier(0, None)]);
    assert!(waits.hangs && waits.undefined.is_empty() && waits.outcomes.is_empty());
    let apart = of_one_workgroup(vec![barrier(0, Some(0))]);
    assert_eq!(apart.undefined, BTreeSet::from([Undefined::DivergentBarrier]));
    // Each turn has a barrier of its own.
    let turns = |exit| {
        let read = Statement::Step(Step {
            number: 0,
            only: None,
            guard: None,
            action: Action::Memory {
                instruction: Instruction::Atomic {
                    place: place(X),
                    update: Update::Load,
                    scope: Scope::Device,
                    semantics: Semantics::default(),
                },
                volatile: false,
            },
        });
        of_one_workgroup(vec![store(0, 2, X, 1), looped(None, exit, vec![read, barrier(1, None)])])
    };
    // Both read 1 in the end, but perhaps not in the same turn.
    let divergent = turns(equals(0, 1));
    assert_eq!(divergent.undefined, BTreeSet::from([Undefined::DivergentBarrier]));
    let together = turns(None);
    assert!(together.hangs && together.undefined.is_empty());
}

/// Barriers of a loop order the turns: what one writes before, the other reads behind.
#[test]
fn barriers_in_a_loop_order_plain_accesses() {
    let read = memory(1, 1, Instruction::Load { place: place(X), non_private: true, visible: None });
    let write = memory(
        0,
        0,
        Instruction::Store { place: place(X), value: Value::Constant(1), non_private: true, available: None },
    );
    let ordered =
        vec![looped(None, None, vec![write.clone(), barrier(2, None), read.clone(), barrier(3, None)])];
    let ordered = of_one_workgroup(ordered);
    assert!(ordered.hangs && ordered.undefined.is_empty());
    let racy = of_one_workgroup(vec![looped(None, None, vec![write, barrier(2, None), read])]);
    assert_eq!(racy.undefined, BTreeSet::from([Undefined::DataRace]));
}

/// In the revision of 2024 a read is from-reads-before writes of scoped modification order alone; but what comes later in
/// location order becomes visible there, too.
#[test]
fn plain_writes_become_visible_in_both_revisions() {
    let store = |value, number| {
        let value = Value::Constant(value);
        memory(0, number, Instruction::Store { place: place(X), value, non_private: true, available: None })
    };
    let code = vec![store(1, 0), store(2, 1), looped(Some(1), equals(2, 2), vec![plain_load(1, 2, X)])];
    let hangs = |from_reads_by_location_order| {
        let variant = Variant { from_reads_by_location_order, ..Variant::NEWEST };
        match found_in((2, 1), code.clone(), variant) {
            Answer::Found(found) => found.hangs,
            other => panic!("{other:?}"),
        }
    };
    assert!(!hangs(true) && !hangs(false), "1 is before 2");
}

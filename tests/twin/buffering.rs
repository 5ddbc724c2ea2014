//! Load buffering whose writes only run inside of the cycle.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::model::{Scope, Semantics, Variant};
use super::program::{
    ControlBarrier, Guard, Instruction, Location, Phase, Program, Shape, Space, Step, Update, Value,
    BUFFER_WORDS, UNIFORM,
};
use super::{check, number, render, runner, shrink, Checked, ORDINARY};

fn atomic(word: usize, update: Update, semantics: Semantics) -> Instruction {
    let place = Location { space: Space::Buffer, word, words: 1 };
    Instruction::Atomic { place, update, scope: Scope::Device, semantics }
}

/// Mostly the same, so that what one stores is what another one asks for.
fn small() -> impl Strategy<Value = u32> {
    prop_oneof![4 => Just(1), 1 => Just(2)]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => small().prop_map(Value::Constant),
        1 => (0..2_usize, 0..=1_u32).prop_map(|(read, add)| Value::Sum { read, add }),
    ]
}

/// Mostly relaxed atomics, and stores mostly behind guards.
fn step(words: usize) -> impl Strategy<Value = Step> {
    let unequal = Semantics::default();
    let update = prop_oneof![
        5 => Just((Update::Load, false)),
        10 => value().prop_map(|value| (Update::Store(value), true)),
        1 => value().prop_map(|value| (Update::Exchange(value), true)),
        1 => Just((Update::Add(1), true)),
        1 => (0..=1_u32, value()).prop_map(move |(comparator, value)| {
            (Update::CompareExchange { comparator, value, unequal }, true)
        }),
    ];
    let read = prop_oneof![3 => Just(0), 1 => Just(1_usize)];
    let guard = (read, small()).prop_map(|(read, equals)| Guard { read, equals });
    (0..words, update, guard, 0..10_u32, 0..16_u32).prop_map(
        |(word, (update, writes), guard, guarded, order)| {
            let (reads, order) = (!matches!(update, Update::Store(_)), order < 1);
            let (acquire, release) = (order && reads, order && !reads);
            let classes = if order { UNIFORM } else { 0 };
            let semantics = Semantics { acquire, release, classes, ..Semantics::default() };
            let guard = Some(guard).filter(|_| guarded < if writes { 7 } else { 1 });
            Step { guard, instruction: atomic(word, update, semantics) }
        },
    )
}

/// A thread that loads a word, then does what the loads tell it, and perhaps writes the word in any case.
fn thread(word: usize, words: usize) -> impl Strategy<Value = Vec<Step>> {
    let step_at =
        |word, update| Step { guard: None, instruction: atomic(word, update, Semantics::default()) };
    let first = step_at(word, Update::Load);
    let last = prop::option::of(value().prop_map(move |value| step_at(word, Update::Store(value))));
    (vec(step(words), 1..=3), last)
        .prop_map(move |(rest, last)| std::iter::once(first).chain(rest).chain(last).collect())
}

fn barrier() -> impl Strategy<Value = ControlBarrier> {
    any::<bool>().prop_map(|orders| {
        let classes = if orders { UNIFORM } else { 0 };
        let semantics = Semantics { acquire: orders, release: orders, classes, ..Semantics::default() };
        ControlBarrier { execution: Scope::Workgroup, scope: Scope::Workgroup, semantics }
    })
}

fn programs() -> impl Strategy<Value = Program> {
    let shape = |workgroups, local_size| Shape { workgroups, local_size, subgroup_size: 1 };
    let shapes = prop::sample::select(vec![shape(2, 1), shape(2, 1), shape(1, 2), shape(3, 1), shape(4, 1)]);
    let phases = (shapes, 2..=3_usize).prop_flat_map(|(shape, words)| {
        let again = (barrier(), vec(vec(step(words), 0..=2), shape.threads()), 0..4_u32);
        let threads: Vec<_> = (0..shape.threads()).map(|index| thread(index % words, words)).collect();
        (Just(shape), threads, again)
    });
    phases.prop_map(|(shape, threads, (barrier, others, again))| {
        let again = again == 0 && shape.local_size > 1;
        let mut phases = vec![Phase { threads, barrier: Some(barrier).filter(|_| again) }];
        phases.extend(again.then_some(Phase { threads: others, barrier: None }));
        Program { shape, initial: [0; BUFFER_WORDS], phases }
    })
}

/// Compares the engines on so many programs.
fn compare(count: u64) {
    let first = number("TWIN_SEED").unwrap_or(1);
    let count = number("TWIN_COUNT").unwrap_or(count);
    let strategy = programs();
    let (mut compared, mut buffering, mut large, mut slow) = (0, 0, 0, 0);
    for seed in first..first + count {
        let tree = strategy.new_tree(&mut runner(seed)).expect("the strategy rejects nothing");
        match check(&tree.current(), Variant::NEWEST, ORDINARY, seed % 8 == 3) {
            Ok(Checked::Compared(found)) => {
                compared += 1;
                buffering += u64::from(found.load_buffering);
            }
            Ok(Checked::TooLarge) => large += 1,
            Ok(Checked::TooSlow) => slow += 1,
            Err(why) => {
                let check =
                    |program: &Program| check(program, Variant::NEWEST, ORDINARY, seed % 8 == 3).err();
                println!("seed {seed}: {why}");
                let (smallest, why) = shrink(tree, check);
                panic!("seed {seed}: {why}\n{smallest:#?}\n{}", render::render(&smallest));
            }
        }
    }
    println!("{compared} compared, {buffering} with load buffering, {large} too large, {slow} too slow");
    assert!(compared * 2 > count && buffering * 8 > compared, "{buffering} of {compared} of {count}");
}

#[test]
fn the_engines_agree_on_stores_that_loads_decide() {
    compare(600);
}

/// A store that only runs inside of a cycle of load buffering lets the one wait who reads it, though nobody was seen to
/// write there.
#[test]
fn who_reads_what_only_a_cycle_writes_may_wait() {
    const X: usize = 0;
    const Y: usize = 1;
    const Z: usize = 2;
    let step = |word, update, guard| {
        let place = Location { space: Space::Buffer, word, words: 1 };
        let instruction =
            Instruction::Atomic { place, update, scope: Scope::Device, semantics: Semantics::default() };
        Step { guard, instruction }
    };
    let load = |word| step(word, Update::Load, None);
    let store = |word, value| step(word, Update::Store(Value::Constant(value)), None);
    let if_read = |equals, step: Step| Step { guard: Some(Guard { read: 0, equals }), ..step };
    let passes_on = |from, to| vec![load(from), if_read(1, store(to, 1))];
    let answers = passes_on(Y, X);
    let asks = |write| vec![load(X), if_read(1, write), store(X, 1)];
    let adds = step(Y, Update::Add(1), None);
    let unequal = Semantics::default();
    let exchanges = Update::CompareExchange { comparator: 0, value: Value::Constant(1), unequal };
    let value = Value::Constant(1);
    let place = Location { space: Space::Buffer, word: Y, words: 1 };
    let plainly = Instruction::Store { place, value, non_private: true, available: None };
    let raised = step(Y, Update::Store(Value::Sum { read: 0, add: 1 }), None);
    let added = step(X, Update::Add(1), None);
    let programs = [
        // What it writes itself makes 1 a value of x.
        vec![asks(store(Y, 1)), answers.clone()],
        // The same, where somebody else accesses y, too.
        vec![asks(store(Y, 1)), answers.clone(), vec![store(Y, 2)]],
        // What another one writes makes it one, in a cycle that is forbidden for this read.
        vec![
            vec![load(X), if_read(1, store(Y, 1)), store(X, 2)],
            answers.clone(),
            vec![load(X), if_read(2, store(X, 1))],
        ],
        // Each half touches nothing of the other one.
        vec![asks(store(Y, 1)), answers.clone(), vec![store(X, 2)], vec![store(Y, 2)]],
        vec![asks(store(Y, 1)), passes_on(Y, Z), passes_on(Z, X)],
        vec![asks(adds), answers.clone()],
        vec![asks(step(Y, Update::Exchange(Value::Constant(1)), None)), answers.clone()],
        vec![asks(step(Y, exchanges, None)), answers.clone()],
        vec![asks(store(Y, 1)), vec![load(Y), if_read(1, added)]],
        vec![asks(store(Y, 1)), vec![adds, if_read(1, store(X, 1))]],
        // An instruction that writes another value else.
        vec![vec![load(X), raised, store(X, 1)], vec![load(Y), if_read(2, store(X, 1))]],
        // An update that could read what it wrote itself, as far as a run of its own tells.
        vec![
            vec![load(X), step(Z, Update::Add(1), None), if_read(1, store(Y, 1))],
            vec![load(Y), if_read(1, store(X, 1)), store(Y, 1)],
        ],
        // What an update would give, had it read what it writes itself.
        vec![
            vec![load(X), if_read(1, store(Y, 2))],
            vec![load(Y), if_read(2, store(X, 1)), step(Y, Update::Add(1), None)],
        ],
        // A race that only the cycle has.
        vec![asks(Step { guard: None, instruction: plainly }), answers],
    ];
    let mut missed = Vec::new();
    for threads in programs {
        for turn in 0..threads.len() {
            let mut threads = threads.clone();
            threads.rotate_left(turn);
            let shape = Shape { workgroups: threads.len(), local_size: 1, subgroup_size: 1 };
            let phases = vec![Phase { threads, barrier: None }];
            let program = Program { shape, initial: [0; BUFFER_WORDS], phases };
            match check(&program, Variant::NEWEST, ORDINARY, true) {
                Ok(Checked::Compared(found)) => assert!(found.load_buffering, "the cycle is allowed"),
                Ok(Checked::TooLarge | Checked::TooSlow) => panic!("it is small"),
                Err(why) => missed.push(format!("{} threads, turned by {turn}: {why}", shape.threads())),
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// One invocation writes before a barrier what another one of its workgroup reads behind it; who writes last of all, and to whom
/// the first listens, is in another workgroup and passes the barrier later.
#[test]
fn a_cycle_whose_writes_only_run_in_it_may_go_through_a_barrier() {
    let relaxed = |word, update| atomic(word, update, Semantics::default());
    let load = |word| Step { guard: None, instruction: relaxed(word, Update::Load) };
    let store = |word| Step { guard: None, instruction: relaxed(word, Update::Store(Value::Constant(1))) };
    let if_read = |step: Step| Step { guard: Some(Guard { read: 0, equals: 1 }), ..step };
    let semantics = Semantics {
        acquire: true,
        release: true,
        classes: UNIFORM,
        make_available: true,
        make_visible: true,
    };
    let barrier = ControlBarrier { execution: Scope::Workgroup, scope: Scope::Workgroup, semantics };
    let (x, y, z) = (0, 1, 2);
    let place = Location { space: Space::Buffer, word: y, words: 1 };
    let value = Value::Sum { read: 0, add: 0 };
    let plain = |instruction| Step { guard: None, instruction };
    let plain_store = plain(Instruction::Store { place, value, non_private: true, available: None });
    let plain_load = plain(Instruction::Load { place, non_private: true, visible: None });
    // What is only written in the cycle, and what is written anyway and has a value only there.
    for (hands_over, takes) in [(if_read(store(y)), load(y)), (plain_store, plain_load)] {
        let before = vec![vec![load(x), hands_over], vec![], vec![load(z), if_read(store(x))], vec![]];
        let behind = vec![vec![store(x)], vec![takes, if_read(store(z))], vec![], vec![]];
        let program = Program {
            shape: Shape { workgroups: 2, local_size: 2, subgroup_size: 1 },
            initial: [0; BUFFER_WORDS],
            phases: vec![
                Phase { threads: before, barrier: Some(barrier) },
                Phase { threads: behind, barrier: None },
            ],
        };
        match check(&program, Variant::NEWEST, ORDINARY, true) {
            Ok(Checked::Compared(found)) => assert!(found.load_buffering, "the cycle is allowed"),
            Ok(Checked::TooLarge | Checked::TooSlow) => panic!("it is small"),
            Err(why) => panic!("{why}\n{}", render::render(&program)),
        }
    }
}

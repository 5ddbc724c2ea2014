//! Programs with loops on which the engines once differed, in their smallest form.

use super::compare::assert_alike;
use super::handmade::{atomic, divide, equals, load, looped, memory, place, step_of, store, X, Y};
use super::program::{Action, Condition, Program, Statement, Step};
use crate::model::{Scope, Semantics, Variant};
use crate::program::{ControlBarrier, Instruction, Shape, Update, Value, BUFFER_WORDS, UNIFORM};

const Z: usize = 2;

fn shape(workgroups: usize, local_size: usize, subgroup_size: usize) -> Shape {
    Shape { workgroups, local_size, subgroup_size }
}

fn alike(shape: Shape, code: Vec<Statement>, variant: Variant) {
    assert_alike(&Program { shape, initial: [0; BUFFER_WORDS], code }, variant);
}

fn acquire() -> Semantics {
    Semantics { acquire: true, classes: UNIFORM, ..Semantics::default() }
}

fn acquire_release() -> Semantics {
    Semantics { release: true, make_available: true, make_visible: true, ..acquire() }
}

fn on(word: usize, update: Update, scope: Scope, semantics: Semantics) -> Instruction {
    Instruction::Atomic { place: place(word), update, scope, semantics }
}

fn plain_store(only: usize, number: usize, word: usize) -> Statement {
    let value = Value::Constant(1);
    memory(only, number, Instruction::Store { place: place(word), value, non_private: true, available: None })
}

/// What is written over updates that repeat is seen by them.
#[test]
fn updates_of_a_segment_see_what_is_written_once() {
    let turns = vec![store(2, 5, X, 1), atomic(2, 6, Y, Update::Add(0))];
    let code = vec![load(0, 2, X), store(1, 3, Y, 2), looped(Some(2), equals(6, 2), turns)];
    alike(shape(3, 1, 1), code, Variant::NEWEST);
}

/// Where relations depend on the order of writes, races are judged last: of a path with an idle turn, too.
#[test]
fn an_idle_turn_races() {
    let polls = memory(0, 0, on(X, Update::Load, Scope::Device, acquire()));
    let asks = memory(1, 2, on(X, Update::Add(0), Scope::Device, acquire_release()));
    let leaves = Some(Condition::Register { number: 2, equals: 0, negated: true });
    let code =
        vec![looped(Some(0), None, vec![polls]), plain_store(1, 1, X), looped(Some(1), leaves, vec![asks])];
    alike(shape(1, 3, 1), code, Variant::NEWEST);
}

/// Of two latest writes that nothing orders, one may be seen for ever: by the second read of a turn, too.
#[test]
fn the_second_read_of_a_turn_has_a_choice() {
    let first = Instruction::Load { place: place(Y), non_private: false, visible: None };
    let set = Update::Store(Value::Constant(1));
    let code = vec![
        memory(0, 1, on(X, set, Scope::Workgroup, Semantics::default())),
        looped(Some(0), equals(3, 1), vec![memory(0, 2, first), load(0, 3, X)]),
        atomic(1, 4, X, Update::Exchange(Value::Constant(2))),
    ];
    alike(shape(2, 1, 1), code, Variant::NEWEST);
}

/// Two go round by updates that change nothing, one of them writing something else besides.
#[test]
fn updates_of_a_segment_come_behind_idle_ones() {
    let exchange = Update::Exchange(Value::Constant(1));
    let update = step_of(None, 1, on(X, exchange, Scope::Device, acquire_release()));
    let code = vec![load(1, 0, Z), looped(None, None, vec![update, plain_store(0, 2, Z)])];
    alike(shape(1, 2, 2), code, Variant::NEWEST);
}

/// A read that speculates in every turn speculates no more in the second.
#[test]
fn turns_that_speculate_come_back() {
    let without_chains = Variant { chains: false, ..Variant::NEWEST };
    let private = Instruction::Load { place: place(Y), non_private: false, visible: None };
    let code = vec![
        load(0, 0, X),
        store(0, 1, Y, 1),
        looped(Some(1), None, vec![memory(1, 4, private), store(1, 5, X, 1)]),
    ];
    alike(shape(2, 1, 1), code.clone(), without_chains);
    alike(shape(2, 1, 1), code, Variant::NEWEST);
}

/// A write that comes last makes relations depend on the order of writes.
#[test]
fn orders_matter_from_the_last_write_on() {
    let release = Semantics { release: true, classes: UNIFORM, ..Semantics::default() };
    let set = |value| Update::Store(Value::Constant(value));
    let code = vec![
        memory(0, 0, on(X, Update::Load, Scope::Device, acquire())),
        store(1, 1, X, 7),
        memory(2, 2, on(X, Update::Add(1), Scope::Device, release)),
        load(3, 3, Y),
        memory(3, 4, on(X, set(5), Scope::Workgroup, Semantics::default())),
    ];
    alike(shape(2, 2, 1), code, Variant::NEWEST);
}

/// `r = x; 1 / (1 - r); y = r + 1` with `x = y`: where r is 1, y is 2, and nobody writes the 1.
#[test]
fn what_no_write_justifies_is_no_fault() {
    let more = |read, add| Update::Store(Value::Sum { read, add });
    let code = vec![
        load(0, 0, X),
        divide(0, 1, 0),
        atomic(0, 2, Y, more(0, 1)),
        load(1, 3, Y),
        atomic(1, 4, X, more(3, 0)),
    ];
    alike(shape(2, 1, 1), code, Variant::NEWEST);
}

/// Whoever passes barriers in its idle turns goes on with those who need it there.
#[test]
fn turns_with_barriers_are_not_left_out() {
    let barrier = ControlBarrier {
        execution: Scope::Workgroup,
        scope: Scope::Workgroup,
        semantics: Semantics::default(),
    };
    let meets =
        Statement::Step(Step { number: 0, only: None, guard: None, action: Action::Control(barrier) });
    let polls = step_of(None, 1, on(X, Update::Load, Scope::Device, Semantics::default()));
    let code = vec![looped(None, None, vec![meets, polls, store(1, 2, X, 1)])];
    alike(shape(1, 2, 2), code, Variant::NEWEST);
}

/// An update that changes nothing races with a read: its turn is no idle one.
#[test]
fn an_idle_update_races_with_a_read() {
    let release = Semantics { release: true, classes: UNIFORM, ..Semantics::default() };
    let both = Semantics { acquire: true, ..release };
    let asks = memory(0, 0, on(X, Update::Add(0), Scope::Device, both));
    let set = Update::Store(Value::Constant(1));
    let code = vec![
        looped(Some(0), None, vec![asks]),
        memory(1, 2, on(X, Update::Load, Scope::Workgroup, Semantics::default())),
        looped(Some(1), None, vec![memory(1, 3, on(X, set, Scope::Device, release))]),
    ];
    alike(shape(2, 1, 1), code, Variant::NEWEST);
}

/// Whoever waits in the inner loop may have read something old in the outer one, which it would not read again.
#[test]
fn an_endless_turn_is_a_whole_one() {
    let inner =
        looped(Some(1), equals(3, 0), vec![memory(1, 3, on(X, Update::Load, Scope::Device, acquire()))]);
    let outer = memory(1, 2, on(Y, Update::Load, Scope::Workgroup, Semantics::default()));
    let instruction =
        Instruction::Store { place: place(X), value: Value::Constant(1), non_private: true, available: None };
    let action = Action::Memory { instruction, volatile: false };
    let guard = Some(Condition::Undefined);
    let code = vec![
        store(0, 1, Y, 2),
        looped(Some(1), equals(2, 2), vec![outer, inner]),
        Statement::Step(Step { number: 4, only: Some(1), guard, action }),
    ];
    alike(shape(2, 1, 1), code, Variant::NEWEST);
}

/// What comes behind a fault may go on for ever.
#[test]
fn a_fault_ends_what_grows() {
    let turns = vec![atomic(1, 4, X, Update::Add(1)), divide(1, 5, 4)];
    let code = vec![atomic(0, 1, X, Update::Add(1)), looped(Some(1), equals(4, 0), turns)];
    alike(shape(2, 1, 1), code, Variant::NEWEST);
}

/// While others may still change what the second read of a turn sees, the first one may wait.
#[test]
fn the_first_read_of_a_turn_waits_for_the_second() {
    let code = vec![
        store(0, 0, Z, 1),
        looped(Some(0), equals(2, 0), vec![load(0, 1, X), load(0, 2, Y)]),
        looped(Some(1), equals(3, 1), vec![load(1, 3, Z)]),
        store(1, 4, Y, 1),
    ];
    alike(shape(2, 1, 1), code, Variant::NEWEST);
}

/// An update that changes nothing races with a read that comes later, too.
#[test]
fn an_idle_update_races_with_a_read_to_come() {
    let release = Semantics { release: true, classes: UNIFORM, ..Semantics::default() };
    let both = Semantics { acquire: true, ..release };
    let set = Update::Store(Value::Constant(1));
    let polls = memory(3, 2, on(X, Update::Load, Scope::Workgroup, Semantics::default()));
    let code = vec![
        looped(Some(0), None, vec![memory(0, 0, on(X, Update::Add(0), Scope::Device, both))]),
        store(2, 1, X, 1),
        looped(Some(3), equals(2, 0), vec![polls]),
        memory(3, 3, on(X, set, Scope::Device, release)),
    ];
    alike(shape(2, 2, 1), code, Variant::NEWEST);
}

/// A segment that reads what idle updates of another leave goes on reading that.
#[test]
fn a_segment_reads_idle_updates() {
    let release = Semantics { release: true, classes: UNIFORM, ..Semantics::default() };
    let set = on(X, Update::Store(Value::Constant(1)), Scope::Device, release);
    let polls = vec![load(1, 2, Y), memory(1, 3, set)];
    let code =
        vec![looped(Some(0), None, vec![atomic(0, 0, Y, Update::Add(0))]), looped(Some(1), None, polls)];
    alike(shape(2, 1, 1), code, Variant::NEWEST);
    let plain = Instruction::Load { place: place(Y), non_private: true, visible: None };
    let polls = vec![memory(1, 2, set), memory(1, 3, plain)];
    let exchange = atomic(0, 0, Y, Update::Exchange(Value::Constant(1)));
    let code = vec![looped(Some(0), None, vec![exchange]), looped(Some(1), None, polls)];
    alike(shape(2, 1, 1), code, Variant::NEWEST);
}

/// Among plain writes an update that leaves what it finds is a write that others may not see.
#[test]
fn an_update_among_plain_writes_is_a_turn() {
    let instruction =
        Instruction::Store { place: place(X), value: Value::Constant(1), non_private: true, available: None };
    let guard = Some(Condition::Register { number: 1, equals: 2, negated: false });
    let action = Action::Memory { instruction, volatile: false };
    let leaves = Some(Condition::Register { number: 4, equals: 1, negated: true });
    let code = vec![
        atomic(0, 0, X, Update::Add(1)),
        load(1, 1, X),
        Statement::Step(Step { number: 2, only: Some(1), guard, action }),
        looped(Some(2), leaves, vec![atomic(2, 4, X, Update::Exchange(Value::Constant(1)))]),
    ];
    alike(shape(3, 1, 1), code, Variant::NEWEST);
}

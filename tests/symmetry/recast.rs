//! Invocations of a class whose writes tell them apart.

use super::*;

/// What everybody does under a ticket lock.
fn locked(workgroups: u32, inner: Vec<Statement>) -> Body {
    let mut statements =
        vec![ticket(), Statement::Spin { to: 2, behind: None, at: Constant(1), value: Register(0, 0) }];
    statements.extend(inner);
    statements.push(Statement::AtomicStore { at: Constant(1), value: Register(0, 1), release: true });
    all(workgroups, statements)
}

fn load(to: u32, at: Expression) -> Statement {
    Statement::Load { to, results: false, at }
}

fn exchange(at: u32, value: Expression) -> Statement {
    Statement::Exchange { to: 1, at: Constant(at), value }
}

const LOCKED: Expression = Constant(2);

#[test]
fn numbers_under_a_lock_are_explored_once() {
    let note = store(false, LOCKED, Id(1));
    counts(&locked(4, vec![note.clone()]), 1, 24);
    counts(&locked(4, vec![load(1, LOCKED), note.clone(), keep(1)]), 1, 24);
    // What was there goes on to where somebody else reads it.
    let pass_on = store(false, Constant(3), Register(1, 0));
    counts(&locked(3, vec![load(1, LOCKED), note.clone(), pass_on, load(1, Constant(3)), keep(1)]), 1, 6);
    // The first read-modify-writes themselves.
    counts(&all(4, vec![exchange(0, Id(1)), keep(1)]), 1, 24);
    // Two classes, of which one tells the other.
    let other = vec![Statement::Add { to: 0, at: Constant(4), value: Constant(1) }, keep(0)];
    counts(&Body { others: Some((vec![2, 3], other)), ..locked(4, vec![note]) }, 1, 4);
}

/// Where what is done depends on the number that another wrote.
#[test]
fn numbers_that_decide_what_is_done_are_not_symmetric() {
    let note = store(false, LOCKED, Id(1));
    let with = |workgroups, more: &[Statement]| {
        let touch = Statement::Add { to: 2, at: Constant(3), value: Constant(1) };
        let mut inner = vec![touch, load(1, LOCKED), note.clone()];
        inner.extend_from_slice(more);
        locked(workgroups, inner)
    };
    let decides =
        |then: Statement| Statement::If { left: Register(1, 0), equals: Constant(2), then: vec![then] };
    // In the order of the numbers, nobody reads a 2.
    for then in [
        Statement::Add { to: 1, at: Constant(3), value: Constant(1) },
        Statement::AtomicLoad { to: 1, at: Constant(3), acquire: false },
        store(false, Constant(3), Constant(1)),
        Statement::Fence,
    ] {
        is_asymmetric(&with(2, &[decides(then)]));
    }
    // Where it is done, in memory that others touch or not: of two, it says who is first.
    is_asymmetric(&with(2, &[store(false, Register(1, 3), Constant(1))]));
    let aside = [store(true, Register(1, 3), Constant(1))];
    counts(&with(2, &aside), 1, 2);
    let (found, all) = compare(&with(3, &aside), Races::Undefined).unwrap().unwrap();
    assert_eq!(found, all);
    // Whether it writes.
    let at = Constant(3);
    let take = Statement::CompareExchange { to: 1, at, comparator: Register(1, 0), value: Constant(9) };
    is_asymmetric(&with(2, &[take]));
    let put = Statement::Exchange { to: 1, at, value: Register(0, 1) };
    let take = Statement::CompareExchange { to: 1, at, comparator: Id(1), value: Constant(9) };
    is_asymmetric(&locked(2, vec![put, take, keep(1)]));
}

/// Where the number that another wrote says where to write, among places that are all shared.
#[test]
fn numbers_that_say_where_are_not_symmetric() {
    let inner = vec![
        store(false, Constant(3), Constant(1)),
        store(false, Constant(4), Constant(1)),
        store(false, Constant(5), Constant(1)),
        load(1, LOCKED),
        store(false, LOCKED, Id(1)),
        store(false, Register(1, 3), Constant(9)),
    ];
    let (found, all) = compare(&locked(2, inner), Races::Undefined).unwrap().unwrap();
    assert_eq!(found, all);
}

/// What is left in memory in order alone.
#[test]
fn what_is_only_left_in_order_is_not_left_out_of_order() {
    let leave = |register| {
        let then = vec![store(true, Id(9), Constant(1))];
        Statement::If { left: Register(register, 0), equals: Id(0), then }
    };
    counts(&all(2, vec![ticket(), leave(0)]), 1, 2);
    let inner = |last| vec![load(1, LOCKED), store(false, LOCKED, Id(1)), last];
    counts(&locked(2, inner(leave(1))), 1, 2);
    // So many that several threads put them together.
    for body in [all(7, vec![ticket(), leave(0)]), locked(7, inner(leave(0)))] {
        let [one, two] = [1, 2].map(|jobs| {
            let Ready { program, dispatch, .. } = ready(&body);
            explore(&program, &dispatch, &Settings { jobs, ..Settings::default() })
        });
        assert_eq!((one.explored, one.executions.saturating()), (1, 5040));
        assert_eq!(answer(&one), answer(&two));
    }
}

/// A compare-exchange that reads a number: in the order of the numbers it never finds a 3, and fails.
#[test]
fn numbers_that_a_compare_exchange_reads_are_not_symmetric() {
    let take = Statement::CompareExchange { to: 1, at: LOCKED, comparator: Constant(3), value: Constant(9) };
    is_asymmetric(&locked(3, vec![take, exchange(2, Id(1)), keep(1)]));
}

/// What is given back says who gives it, in one order more than in another.
#[test]
fn locks_that_numbers_open_are_not_symmetric() {
    let spin = |behind, at, value| Statement::Spin { to: 2, behind, at: Constant(at), value };
    let open = |value| Statement::AtomicStore { at: Constant(1), value, release: true };
    // In the order of the numbers, each opens it for the next.
    is_asymmetric(&all(2, vec![ticket(), spin(None, 1, Register(0, 0)), open(Id(1))]));
    // What it waits for depends on what it read.
    for behind in [None, Some(Constant(4))] {
        let inner = vec![load(1, LOCKED), store(false, LOCKED, Id(1)), spin(behind, 1, Register(1, 0))];
        is_asymmetric(&locked(2, inner));
    }
}

/// Two who write the same in the order of the numbers, and not in another: which is last matters then.
#[test]
fn last_writes_that_differ_out_of_order_are_seen() {
    let sum = Statement::Add { to: 1, at: Constant(3), value: Id(0) };
    let leave = Statement::AtomicStore { at: Constant(4), value: Register(1, 0), release: false };
    is_asymmetric(&all(2, vec![ticket(), sum, leave.clone()]));
    // In order, both find a 0.
    let mut body = locked(2, vec![load(1, LOCKED), store(false, LOCKED, Id(0))]);
    body.statements.push(leave);
    is_asymmetric(&body);
}

/// Out of order, somebody writes what another does.
#[test]
fn what_others_touch_is_touched_in_no_order() {
    let write = store(true, Constant(11), Constant(1));
    let decides = Statement::If { left: Register(1, 0), equals: Constant(2), then: vec![write.clone()] };
    let body = locked(3, vec![load(1, LOCKED), store(false, LOCKED, Id(1)), decides]);
    is_asymmetric(&Body { others: Some((vec![2], vec![write])), ..body });
}

/// Somebody outside of the class reads who was last.
#[test]
fn numbers_that_others_read_are_not_symmetric() {
    let look = Statement::AtomicLoad { to: 1, at: LOCKED, acquire: false };
    let note = exchange(2, Id(1));
    let others = Some((vec![2], vec![look, store(true, Id(4), Register(1, 0))]));
    is_asymmetric(&Body { others, ..all(3, vec![ticket(), note]) });
}

/// A write that gives the same in the order of the numbers.
#[test]
fn what_seems_the_same_in_order_is_compared() {
    let next = Statement::Add { to: 1, at: LOCKED, value: Id(1) };
    // The sum of those before: with the numbers in order, as much as the ticket says.
    let (with, without) = compare(&locked(3, vec![next, keep(1)]), Races::Undefined).unwrap().unwrap();
    assert!(with < without, "{with} of {without}");
}

#[test]
fn witnesses_have_the_values_of_their_outcomes() {
    let inner = vec![load(1, LOCKED), store(false, LOCKED, Id(1)), keep(1)];
    let found = ready(&locked(3, inner)).explore(Races::Undefined, true, 1);
    assert_eq!((found.explored, found.outcomes.len()), (1, 6));
    for (outcome, witness) in &found.outcomes {
        let graph = witness.graph();
        let unit = |offset| witness.units.iter().position(|unit| *unit == (0, offset)).unwrap() as u32;
        let locked: Vec<_> = graph.events.iter().filter(|event| event.units[..] == [unit(8)]).collect();
        assert_eq!(locked.len(), 6);
        for event in &locked {
            let at = 4 * event.agent as usize;
            if event.reads() {
                assert_eq!(outcome.memory[1][at..at + 4], event.read[0][..]);
            } else {
                assert_eq!(event.written[0][0], Byte::Known(event.agent as u8 + 1));
            }
        }
        let last = locked.iter().rfind(|event| event.writes()).unwrap();
        assert_eq!(outcome.memory[0][8..12], last.written[0][..]);
    }
}

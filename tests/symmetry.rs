//! Invocations that may change places are explored in one order; that must change nothing but how much is explored.
//! Random small programs whose invocations look alike, and more or less are.

#[path = "symmetry/generate.rs"]
mod generate;
#[path = "symmetry/placing.rs"]
mod placing;
#[path = "symmetry/recast.rs"]
mod recast;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use spirv_tv::behaviour::{Behaviours, Bound, Count, End, Outcome, Produced, Stopped};
use spirv_tv::dispatch::Dispatch;
use spirv_tv::event::UndefinedKind;
use spirv_tv::explore::{explore, explore_until, Races, ReductionName, Reductions, Settings};
use spirv_tv::ir::Program;
use spirv_tv::launch::{build_dispatch, Input, Launch, LaunchOptions, Size3};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;

use generate::{Body, Expression, Random, Statement, RESULTS, SHARED};

/// A body run by so many workgroups.
struct Ready {
    program: Program,
    dispatch: Dispatch,
    text: String,
}

fn ready(body: &Body) -> Ready {
    ready_text(body.render(), body.workgroups)
}

fn ready_text(text: String, workgroups: u32) -> Ready {
    let module = Module::from_text(&text, "random", &ReadOptions::default());
    let module = module.unwrap_or_else(|error| panic!("{error}\n{text}"));
    let program = lower(&module, &LowerOptions::default()).unwrap();
    let size = |x| Some(Size3([x, 1, 1]));
    let options = LaunchOptions { workgroups: size(workgroups), ..LaunchOptions::default() };
    let launch = Launch::resolve(&options, &program, None).unwrap();
    let zeros = |words: u32| vec![Byte::Known(0); 4 * words as usize];
    let buffers = [("0.0".parse().unwrap(), zeros(SHARED)), ("0.1".parse().unwrap(), zeros(RESULTS))].into();
    let input = Input {
        name: "given".to_owned(),
        buffers,
        images: BTreeMap::default(),
        acceleration_structures: BTreeMap::default(),
        push: Vec::new(),
        physical: Vec::new(),
        interface: Default::default(),
    };
    let dispatch = build_dispatch(&program, &launch, &input).unwrap();
    Ready { program, dispatch, text }
}

impl Ready {
    fn explore(&self, races: Races, symmetry: bool, jobs: usize) -> Behaviours {
        self.explore_factored(races, symmetry, jobs, u64::MAX)
    }

    /// In factored form from so many executions on.
    fn explore_factored(&self, races: Races, symmetry: bool, jobs: usize, factored_from: u64) -> Behaviours {
        let without = Reductions::of(&[ReductionName::Merging, ReductionName::Components]);
        let settings = Settings {
            factored_from,
            without: if symmetry { without } else { without.with(ReductionName::Symmetry) },
            races,
            jobs,
            spin_bound: 8,
            max_executions: 2_000,
            timeout: Some(Duration::from_secs(1)),
            ..Settings::default()
        };
        explore(&self.program, &self.dispatch, &settings)
    }
}

/// What must not depend on symmetry: each outcome with the number of its executions, what is undefined, and whether that
/// is all.
#[derive(Debug, PartialEq)]
struct Answer {
    outcomes: Vec<(Outcome, u64)>,
    undefined: BTreeSet<UndefinedKind>,
    executions: Count,
    bounded: Option<Bound>,
}

fn answer(found: &Behaviours) -> Answer {
    Answer {
        outcomes: found.outcomes.iter().map(|(outcome, w)| (outcome.clone(), w.executions)).collect(),
        undefined: found.undefined.iter().map(|(undefined, _)| undefined.kind).collect(),
        executions: found.executions.clone(),
        bounded: found.bounded,
    }
}

/// Whether the same values were produced. Without symmetry more words may count as shared that nobody shares: the probe for
/// writes of cycles does not know then that another invocation of a class stands for their writer.
fn produced_alike(with: &Produced, without: &Produced) -> bool {
    with.iter().all(|(place, values)| without.get(place) == Some(values))
        && with.is_empty() == without.is_empty()
}

/// Executions explored with and without symmetry, if the answers are the same; `None` where it is too much.
fn compare(body: &Body, races: Races) -> Result<Option<(u64, u64)>, String> {
    compare_ready(&ready(body), races).map_err(|error| format!("{error}\n{body:?}"))
}

fn compare_ready(ready: &Ready, races: Races) -> Result<Option<(u64, u64)>, String> {
    let without = ready.explore(races, false, 1);
    if without.stopped.is_some() {
        return Ok(None);
    }
    let all = answer(&without);
    let mut explored = None;
    for jobs in [1, 2] {
        let with = ready.explore(races, true, jobs);
        // The time that it takes is not compared.
        if with.stopped == Some(Stopped::Timeout) {
            return Ok(None);
        }
        let found = answer(&with);
        // Where there is a race, other executions need not be told.
        let same = match all.undefined.is_empty() && found.undefined.is_empty() {
            true => {
                found == all
                    && produced_alike(&with.produced, &without.produced)
                    && with.stopped.is_none()
                    && with.undecided == without.undecided
            }
            false => found.undefined == all.undefined,
        };
        if !same {
            return Err(format!(
                "{races:?}, {jobs} jobs: {found:#?} {:?} {:?}\ninstead of {all:#?} {:?}\n{}",
                with.stopped, with.undecided, without.undecided, ready.text
            ));
        }
        explored.get_or_insert(with.explored);
        compare_factored(ready, races, jobs, &found)?;
    }
    Ok(explored.map(|explored| (explored, without.explored)))
}

/// What is kept in factored form must be what is listed without; the number of its outcomes is known before they are.
fn compare_factored(ready: &Ready, races: Races, jobs: usize, listed: &Answer) -> Result<(), String> {
    let mut factored = ready.explore_factored(races, true, jobs, 1);
    let count = factored.count();
    factored.multiply_out(u64::MAX, None, &|_| false);
    let same = answer(&factored) == *listed && count == listed.outcomes.len() as u64;
    let comparable = listed.undefined.is_empty() && factored.stopped.is_none();
    match same || !comparable {
        true => Ok(()),
        false => Err(format!(
            "factored, {races:?}, {jobs} jobs: {count} {:#?}\ninstead of {listed:#?}\n{}",
            answer(&factored),
            ready.text
        )),
    }
}

/// Compares programs of so many seeds.
fn compare_many(seeds: std::ops::Range<u64>) {
    let (mut compared, mut reduced, mut racy, mut factored, mut failures) = (0, 0, 0, 0, Vec::new());
    for seed in seeds {
        let body = Body::random(&mut Random::new(seed));
        let races = if seed % 3 == 0 { Races::Keep } else { Races::Undefined };
        match compare(&body, races) {
            Ok(None) => {}
            Ok(Some((with, without))) => {
                compared += 1;
                reduced += usize::from(with < without);
                racy += usize::from(with > without);
                factored += ready(&body).explore_factored(races, true, 1, 1).factored().count();
            }
            Err(why) => {
                let body = generate::reduce(body, |body| compare(body, races).is_err());
                let why = compare(&body, races).err().unwrap_or(why);
                failures.push(format!("seed {seed}: {why}"));
                if failures.len() == 3 {
                    break;
                }
            }
        }
    }
    println!("{compared} compared, {reduced} reduced, {racy} larger, {factored} factored forms");
    assert!(failures.is_empty(), "{}", failures.join("\n----\n"));
    assert!(reduced * 5 > compared, "{reduced} of {compared}");
    assert!(factored > 0, "none in {compared}");
}

#[test]
fn nothing_changes_but_what_is_explored() {
    compare_many(0..250);
}

/// `SYMMETRY_SEEDS` says how many.
#[test]
#[ignore = "takes long"]
fn nothing_changes_in_many_programs() {
    let seeds = std::env::var("SYMMETRY_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    compare_many(1_000..1_000 + seeds.unwrap_or(20_000));
}

use Expression::{Constant, Id, Register};

fn ticket() -> Statement {
    Statement::Add { to: 0, at: Constant(0), value: Constant(1) }
}

fn keep(register: u32) -> Statement {
    Statement::Store { results: true, at: Id(0), value: Register(register, 0) }
}

fn store(results: bool, at: Expression, value: Expression) -> Statement {
    Statement::Store { results, at, value }
}

/// All of so many workgroups do the same.
fn all(workgroups: u32, statements: Vec<Statement>) -> Body {
    Body { workgroups, others: None, volatile: false, statements }
}

/// A body must have so many executions, with so many of them explored.
fn counts(body: &Body, explored: u64, executions: u64) {
    let without = ready(body).explore(Races::Undefined, false, 1);
    assert_eq!(without.executions, executions, "{body:?}");
    let (with, _) = compare(body, Races::Undefined).unwrap_or_else(|why| panic!("{why}")).unwrap();
    assert_eq!(with, explored, "{body:?}");
}

/// A body must be explored as if there were no symmetry, with the same answers.
fn is_asymmetric(body: &Body) {
    for races in [Races::Undefined, Races::Keep] {
        let (with, without) = compare(body, races).unwrap_or_else(|why| panic!("{why}")).unwrap();
        assert_eq!(with, without, "{body:?}");
    }
}

#[test]
fn tickets_are_explored_once() {
    counts(&all(4, vec![ticket(), keep(0)]), 1, 24);
    // Whoever has the ticket leaves the same.
    counts(&all(4, vec![ticket(), store(true, Register(0, 0), Register(0, 1))]), 1, 24);
    let exchange = Statement::Exchange { to: 0, at: Constant(0), value: Constant(3) };
    counts(&all(4, vec![exchange, keep(0)]), 1, 24);
    // Two classes.
    let other = Statement::Add { to: 0, at: Constant(1), value: Constant(1) };
    let body = Body { others: Some((vec![2, 3], vec![other, keep(0)])), ..all(4, vec![ticket(), keep(0)]) };
    counts(&body, 1, 4);
}

/// A body must have so many outcomes in so many factored forms.
fn is_factored(body: &Body, forms: usize, outcomes: u64) {
    compare(body, Races::Undefined).unwrap_or_else(|why| panic!("{why}"));
    let found = ready(body).explore_factored(Races::Undefined, true, 1, 1);
    assert_eq!((found.factored().count(), found.count().saturating()), (forms, outcomes), "{body:?}");
}

#[test]
fn slots_are_filled_in_any_order() {
    let slot = |value| store(true, Register(0, 0), value);
    is_factored(&all(4, vec![ticket(), slot(Id(1))]), 1, 24);
    // Of some places nothing is left.
    let second = Statement::If { left: Register(0, 0), equals: Constant(1), then: vec![slot(Id(1))] };
    is_factored(&all(4, vec![ticket(), second]), 1, 4);
    // Where it is left depends on who has the place.
    is_factored(&all(4, vec![ticket(), keep(0)]), 0, 24);
}

/// Programs that give out slots, at random: what they leave is in them, beside them, in some of them, or all of these.
#[test]
fn slots_of_random_programs() {
    let (mut factored, mut listed) = (0, 0);
    for seed in 0..500 {
        let mut random = Random::new(9_000 + seed);
        let mut leave = || {
            let [at, value] = [0; 2].map(|_| match random.below(5) {
                0 => Constant(random.below(RESULTS)),
                1 | 2 => Id(random.below(3)),
                _ => Register(0, random.below(4)),
            });
            match random.below(3) {
                0 => {
                    let equals = Constant(random.below(3));
                    Statement::If { left: Register(0, 0), equals, then: vec![store(true, at, value)] }
                }
                _ => store(true, at, value),
            }
        };
        let statements = (0..1 + seed % 3).map(|_| leave()).collect::<Vec<_>>();
        let body = all(3 + (seed % 2) as u32, [vec![ticket()], statements].concat());
        compare(&body, Races::Undefined).unwrap_or_else(|why| panic!("{why}"));
        let found = ready(&body).explore_factored(Races::Undefined, true, 1, 1);
        factored += found.factored().count();
        listed += usize::from(found.undefined.is_empty() && found.product.is_none());
    }
    println!("{factored} factored forms, {listed} listed");
    assert!(factored > 25 && listed > 25, "{factored} factored forms, {listed} listed");
}

/// What each says of itself in memory that is shared tells them apart.
#[test]
fn numbers_in_shared_memory_are_not_symmetric() {
    let publish = Statement::AtomicStore { at: Constant(1), value: Id(0), release: false };
    let look = Statement::AtomicLoad { to: 1, at: Constant(1), acquire: false };
    is_asymmetric(&all(3, vec![ticket(), publish.clone()]));
    is_asymmetric(&all(2, vec![ticket(), publish, look, keep(1)]));
    let by_ticket = Statement::AtomicStore { at: Constant(1), value: Register(0, 1), release: false };
    let found = compare(&all(2, vec![ticket(), by_ticket]), Races::Undefined).unwrap().unwrap();
    assert!(found.0 < found.1, "{found:?}");
}

/// Each writes where its number says, and reads where its ticket says: alike as long as the tickets come in the order of
/// the numbers.
#[test]
fn a_slot_by_number_read_by_ticket_is_not_symmetric() {
    for results in [false, true] {
        let write = store(results, Id(1), Constant(7));
        let read = Statement::Load { to: 1, results, at: Register(0, 1) };
        is_asymmetric(&all(2, vec![ticket(), write, read, store(true, Id(8), Register(1, 0))]));
    }
}

/// What only the one with the number 0 does, and only with the ticket 1: never in the order of the numbers.
fn out_of_order(then: Statement) -> Statement {
    Statement::If { left: Register(0, 0), equals: Id(1), then: vec![then] }
}

#[test]
fn what_happens_out_of_order_alone_is_seen() {
    let add = Statement::Add { to: 1, at: Constant(1), value: Constant(1) };
    let load = Statement::AtomicLoad { to: 1, at: Constant(1), acquire: false };
    let write = Statement::AtomicStore { at: Constant(1), value: Constant(1), release: true };
    let others = || Some((vec![2], vec![add.clone(), store(true, Id(8), Register(1, 0))]));
    for then in [&add, &load, &write] {
        is_asymmetric(&Body { others: others(), ..all(3, vec![ticket(), out_of_order(then.clone())]) });
        let published =
            vec![ticket(), add.clone(), out_of_order(then.clone()), store(true, Id(4), Register(1, 0))];
        is_asymmetric(&all(2, published));
    }
    // Without an event, it is nobody else's concern.
    let own = out_of_order(store(true, Constant(9), Id(0)));
    counts(&all(2, vec![ticket(), own, keep(0)]), 1, 2);
}

/// Memory without events that somebody outside of the class touches, too.
#[test]
fn what_others_touch_is_no_private_memory() {
    let shared_word = Constant(11);
    let write = store(true, shared_word, Constant(1));
    let read = Statement::Load { to: 1, results: true, at: shared_word };
    let look = Statement::AtomicLoad { to: 2, at: Constant(0), acquire: false };
    for (own, other) in [(&write, &write), (&write, &read), (&read, &write)] {
        let body = all(3, vec![ticket(), out_of_order(own.clone())]);
        is_asymmetric(&Body { others: Some((vec![2], vec![other.clone()])), ..body });
        // At ends that are found apart.
        let body = all(3, vec![ticket(), look.clone(), out_of_order(own.clone())]);
        is_asymmetric(&Body { others: Some((vec![2], vec![look.clone(), other.clone()])), ..body });
    }
    // Nobody writes.
    let body = all(3, vec![ticket(), out_of_order(read.clone())]);
    counts(&Body { others: Some((vec![2], vec![read.clone()])), ..body }, 1, 2);
    // Another class, and that out of order, too.
    for (own, other) in [(&write, &write), (&write, &read), (&read, &write)] {
        let number = Statement::Add { to: 0, at: Constant(1), value: Constant(1) };
        let then = vec![other.clone()];
        let out_of_order_there = Statement::If { left: Register(0, 1), equals: Id(0), then };
        let body = all(4, vec![ticket(), out_of_order(own.clone())]);
        is_asymmetric(&Body { others: Some((vec![2, 3], vec![number, out_of_order_there])), ..body });
    }
}

/// Who does not take a ticket may come between those who do by writing where they take it.
#[test]
fn tickets_that_others_write_are_not_symmetric() {
    let write = Statement::AtomicStore { at: Constant(0), value: Constant(5), release: false };
    let body = all(3, vec![ticket(), keep(0)]);
    is_asymmetric(&Body { others: Some((vec![1], vec![write.clone()])), ..body.clone() });
    // Only if it sees something that no scout sees.
    let look = Statement::AtomicLoad { to: 0, at: Constant(0), acquire: false };
    let then = Statement::If { left: Register(0, 0), equals: Constant(2), then: vec![write] };
    is_asymmetric(&Body { others: Some((vec![1], vec![look.clone(), then])), ..body.clone() });
    // An update is in order with the others.
    let update = Statement::Add { to: 0, at: Constant(0), value: Constant(1) };
    counts(&Body { others: Some((vec![1], vec![look, update])), ..body }, 6, 12);
}

/// A loop that ends earlier where the tickets are out of order: what it is left at there, it is not left at in order.
#[test]
fn loops_that_go_on_in_order_alone_are_not_symmetric() {
    let publish = |value| Statement::AtomicStore { at: Constant(1), value: Constant(value), release: false };
    let spin = |value| Statement::Spin { to: 2, behind: None, at: Constant(1), value };
    let with = |value, more: Vec<Statement>| {
        let mut statements = vec![ticket()];
        statements.extend(more);
        statements.extend([spin(value), keep(2)]);
        Body { others: Some((vec![2], vec![publish(1), publish(2)])), ..all(3, statements) }
    };
    let in_order = vec![store(true, Id(9), Constant(1))];
    let in_order = Statement::If { left: Register(0, 0), equals: Id(0), then: in_order };
    let waits = Statement::Load { to: 1, results: true, at: Id(9) };
    is_asymmetric(&with(Register(1, 1), vec![in_order, waits]));
    is_asymmetric(&with(Id(1), Vec::new()));
    for value in [Constant(1), Register(0, 1)] {
        let (with, without) = compare(&with(value, Vec::new()), Races::Undefined).unwrap().unwrap();
        assert!(with < without, "{with} of {without}");
    }
}

/// Load buffering, in which the other takes its ticket first because it reads what is published with a later ticket.
#[test]
fn cycles_through_tickets_are_found() {
    let publish = Statement::AtomicStore { at: Constant(1), value: Constant(1), release: false };
    let look = Statement::AtomicLoad { to: 1, at: Constant(1), acquire: false };
    let other = vec![look, ticket(), store(true, Id(8), Register(1, 0))];
    let last = Statement::If { left: Register(0, 0), equals: Constant(2), then: vec![publish.clone()] };
    for then in [publish, last] {
        let body = all(3, vec![ticket(), then]);
        for who in 0..3 {
            is_asymmetric(&Body { others: Some((vec![who], other.clone())), ..body.clone() });
        }
    }
}

#[test]
fn volatile_tickets_are_not_symmetric() {
    is_asymmetric(&Body { volatile: true, ..all(3, vec![ticket(), keep(0)]) });
}

/// Each outcome's witness is an execution with that outcome.
#[test]
fn witnesses_are_those_of_their_outcomes() {
    let found = ready(&all(4, vec![ticket(), keep(0)])).explore(Races::Undefined, true, 1);
    assert_eq!((found.explored, found.outcomes.len()), (1, 24));
    for (outcome, witness) in &found.outcomes {
        let graph = witness.graph();
        assert_eq!((graph.events.len(), witness.executions), (4, 1));
        for event in &graph.events {
            let at = 4 * event.agent as usize;
            assert_eq!(outcome.memory[1][at..at + 4], event.read[0][..]);
        }
    }
}

/// The search ends at the first outcome that is looked for, and where a budget says so, among those that one execution stands
/// for, too.
#[test]
fn targets_and_budgets_count_outcomes() {
    let Ready { program, dispatch, .. } = ready(&all(5, vec![ticket(), keep(0)]));
    for jobs in [1, 2] {
        let settings = Settings { jobs, ..Settings::default() };
        let last = |outcome: &Outcome| outcome.memory[1][..4] == [4, 0, 0, 0].map(Byte::Known);
        let found = explore_until(&program, &dispatch, &settings, Some(&last));
        assert_eq!((found.ends_at_target, found.executions.saturating(), found.complete), (true, 34, false));
        let settings = Settings { max_executions: 30, ..settings };
        let found = explore(&program, &dispatch, &settings);
        assert_eq!((found.stopped, found.executions.saturating()), (Some(Stopped::MaxExecutions), 30));
        let settings = Settings { max_memory: 1 << 10, ..settings };
        assert_eq!(explore(&program, &dispatch, &settings).stopped, Some(Stopped::MaxMemory));
    }
}

/// Of those who may fail, no order is told by the graph.
#[test]
fn updates_that_may_fail_are_not_symmetric() {
    let take =
        Statement::CompareExchange { to: 0, at: Constant(0), comparator: Constant(0), value: Constant(1) };
    is_asymmetric(&all(3, vec![take, keep(0)]));
}

#[test]
fn what_updates_and_fences_do_is_compared() {
    let look = Statement::AtomicLoad { to: 1, at: Constant(0), acquire: false };
    is_asymmetric(&all(
        3,
        vec![ticket(), out_of_order(Statement::Fence), look.clone(), store(true, Id(8), Register(1, 0))],
    ));
    let (with, without) =
        compare(&all(3, vec![ticket(), Statement::Fence, look]), Races::Undefined).unwrap().unwrap();
    assert!(with < without);
}

/// Of a run that waits for ever, each order counts.
#[test]
fn hangs_are_explored_in_every_order() {
    let publish = Statement::AtomicStore { at: Constant(1), value: Constant(1), release: false };
    let spin = Statement::Spin { to: 2, behind: None, at: Constant(1), value: Constant(2) };
    let body = all(3, vec![ticket(), spin]);
    let body = Body { others: Some((vec![2], vec![publish])), ..body };
    assert_eq!(ready(&body).explore(Races::Undefined, true, 1).outcomes[0].0.end, End::Hang);
    is_asymmetric(&body);
}

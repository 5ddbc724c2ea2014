//! Pairs of programs, compared part by part and multiplied out.

use spirv_tv::check::{CheckReport, Run};
use spirv_tv::compare::{Reason, Subject, Verdict, ViolationKind};
use spirv_tv::module::Module;

use super::program::{Program, Random, Step};
use super::{alone, store_buffering};
use crate::support::Checker;

/// Checks a pair, with outcomes multiplied out up to so many.
fn checked(before: &Program, after: &Program, multiply_out: u64, more: &[&str]) -> CheckReport {
    let mut args = before.args();
    args.extend(["--inputs", "1", "--max-executions", "20000"].map(str::to_owned));
    args.extend(more.iter().map(|arg| (*arg).to_owned()));
    let mut checker = Checker::new(&args);
    checker.options.bounds.multiply_out = multiply_out;
    let module = |program: &Program| {
        let text = program.text();
        Module::from_text(&text, "pair", &checker.read).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    checker.check(&module(before), &module(after))
}

fn run(report: &CheckReport) -> &Run {
    assert_eq!(report.runs.len(), 1, "{:?} {:?}", report.unsupported, report.reasons);
    &report.runs[0]
}

/// What a report says.
fn told(report: &CheckReport) -> (Verdict, Option<ViolationKind>, Vec<Reason>) {
    let comparison = &run(report).comparison;
    (
        comparison.verdict,
        comparison.violation.as_ref().map(|violation| violation.kind),
        comparison.reasons.clone(),
    )
}

/// The verdict on a pair, which must be the same however it is come to.
fn verdict(before: &Program, after: &Program) -> Verdict {
    let (parts, whole) = (checked(before, after, 0, &[]), checked(before, after, u64::MAX, &[]));
    assert_eq!(told(&parts), told(&whole), "{before:#?}{after:#?}");
    let counts = |report: &CheckReport| {
        let run = run(report);
        let after =
            run.after.as_ref().map(|after| (after.behaviours.count(), after.behaviours.executions.clone()));
        (run.before.behaviours.count(), run.before.behaviours.executions.clone(), after)
    };
    if parts.verdict == Verdict::Refines {
        assert_eq!(counts(&parts), counts(&whole), "{before:#?}{after:#?}");
    }
    parts.verdict
}

/// A program that is nearly the same.
fn mutated(program: &Program, random: &mut Random) -> Program {
    let mut program = program.clone();
    let thread = random.below(program.threads.len() as u32) as usize;
    let other = random.below(program.threads.len() as u32) as usize;
    let steps = &mut program.threads[thread];
    if steps.is_empty() {
        return program;
    }
    let at = random.below(steps.len() as u32) as usize;
    match (random.below(5), steps[at].clone()) {
        (0, Step::Store(word, value)) => steps[at] = Step::Store(word, value % 2 + 1),
        (1, Step::Store(word, _)) => steps[at] = Step::Load(word),
        (2, Step::Store(..)) => {
            let step = steps.remove(at);
            program.threads[other].push(step);
        }
        (3, step) if at > 0 && !matches!(step, Step::Barrier) && !matches!(steps[at - 1], Step::Barrier) => {
            steps.swap(at - 1, at);
        }
        (4, Step::VolatileLoad(word)) => steps[at] = Step::Load(word),
        (_, Step::If(value, step)) => steps[at] = Step::If(value % 2 + 1, step),
        (_, Step::Load(word)) => steps[at] = Step::Exchange(word, 1),
        _ => {}
    }
    program
}

#[test]
fn random_pairs_have_the_same_verdict_part_by_part() {
    let mut verdicts = std::collections::BTreeMap::new();
    let (mut seed, mut in_parts) = (0, 0);
    while verdicts.values().sum::<usize>() < 120 {
        seed += 1;
        let before = Program::random(seed);
        let mut random = Random(seed + 77);
        let mut after = before.clone();
        for _ in 0..1 + seed % 2 {
            after = mutated(&after, &mut random);
        }
        // An undefined before says nothing.
        let parts = checked(&before, &after, 0, &[]);
        let stopped = |run: &Run| {
            let sides = std::iter::once(&run.before).chain(&run.after);
            sides.into_iter().any(|side| side.behaviours.stopped.is_some())
        };
        if parts.verdict == Verdict::Vacuous || stopped(run(&parts)) {
            continue;
        }
        let whole = checked(&before, &after, u64::MAX, &[]);
        if stopped(run(&whole)) {
            continue;
        }
        assert_eq!(told(&parts), told(&whole), "seed {seed}\n{before:#?}{after:#?}");
        *verdicts.entry(parts.verdict).or_insert(0) += 1;
        let after = run(&parts).after.as_ref();
        in_parts += usize::from(after.is_some_and(|after| after.behaviours.product.is_some()));
    }
    println!("{verdicts:?}, {in_parts} in parts");
    assert!(verdicts[&Verdict::Refines] > 20 && verdicts[&Verdict::Violates] > 20, "{verdicts:?}");
    assert!(in_parts > 30, "{in_parts}");
}

/// Two pairs of which the first decides a result and the second one a word of memory: all four combinations.
fn apart() -> Program {
    alone(&[&[Step::Store(0, 1)], &[Step::Load(0)], &[Step::Store(2, 1)], &[Step::Store(2, 2)]])
}

/// The word tells what the result is: two of them.
fn correlated() -> Program {
    alone(&[&[Step::Store(0, 1)], &[Step::Load(0), Step::StoreLast(2, 1)], &[], &[]])
}

#[test]
fn what_only_correlates_is_told_from_what_does_not() {
    assert_eq!(verdict(&apart(), &correlated()), Verdict::Refines);
    assert_eq!(verdict(&correlated(), &apart()), Verdict::Violates);
    assert_eq!(verdict(&apart(), &apart()), Verdict::Refines);
}

#[test]
fn one_part_may_have_less_and_none_more() {
    let first = alone(&[&[Step::Store(0, 1)], &[Step::Load(0)], &[Step::Store(2, 2)], &[]]);
    assert_eq!(verdict(&apart(), &first), Verdict::Refines);
    let more = alone(&[&[Step::Store(0, 1)], &[Step::Load(0)], &[Step::Store(2, 1)], &[Step::Store(2, 3)]]);
    assert_eq!(verdict(&apart(), &more), Verdict::Violates);
    // The result of a part is another one's to decide.
    let swapped =
        alone(&[&[Step::Store(2, 1)], &[Step::Load(2)], &[Step::Store(0, 1)], &[Step::Store(0, 2)]]);
    assert_eq!(verdict(&apart(), &swapped), Verdict::Violates);
}

/// The same groups, but a word that no two share is written by another of them.
#[test]
fn a_byte_that_changes_hands_is_compared() {
    let with = |thread: usize, value| {
        let mut program = apart();
        program.threads[thread].push(Step::Store(6, value));
        program
    };
    assert_eq!(verdict(&with(0, 1), &with(3, 1)), Verdict::Refines);
    assert_eq!(verdict(&with(0, 1), &with(3, 2)), Verdict::Violates);
    assert_eq!(verdict(&with(0, 1), &apart()), Verdict::Violates);
    assert_eq!(verdict(&apart(), &with(3, 1)), Verdict::Violates);
}

#[test]
fn traces_are_compared_part_by_part() {
    let reading = |steps: &[Step]| {
        let mut program = apart();
        program.threads[1] = steps.to_vec();
        program
    };
    let both = reading(&[Step::VolatileLoad(0)]);
    assert_eq!(verdict(&both, &both), Verdict::Refines);
    assert_eq!(verdict(&both, &reading(&[Step::Load(0)])), Verdict::Violates);
    let report = checked(&both, &reading(&[Step::Load(0)]), 0, &[]);
    assert_eq!(told(&report).1, Some(ViolationKind::VolatileTrace));
}

#[test]
fn who_hangs_is_compared_with_everybody() {
    let waiting = |value| {
        let mut program = apart();
        program.threads[1].push(Step::If(value, Box::new(Step::Await(9, 1))));
        program.threads[0].push(Step::VolatileStore(10, 1));
        program
    };
    assert_eq!(verdict(&waiting(0), &waiting(0)), Verdict::Refines);
    assert_eq!(verdict(&apart(), &waiting(0)), Verdict::Violates);
    assert_eq!(verdict(&waiting(2), &waiting(0)), Verdict::Violates);
}

/// What is new is told as an outcome of the whole, with an execution of everybody.
#[test]
fn a_violation_of_one_part_is_told_as_a_whole() {
    let mut before = alone(&[&[Step::Store(0, 1)], &[Step::Load(0)]]);
    before.threads.extend(store_buffering(2));
    let mut after = before.clone();
    after.threads[0] = vec![Step::Store(0, 3)];
    let report = checked(&before, &after, 0, &[]);
    assert_eq!(told(&report).1, Some(ViolationKind::NewOutcome));
    let run = run(&report);
    let violation = run.comparison.violation.as_ref().unwrap();
    assert!(matches!(violation.subject, Subject::Part(0, _)), "{:?}", violation.subject);
    let difference = violation.difference.as_ref().unwrap();
    assert_eq!((difference.key.as_str(), difference.offset), ("0.0", 0));
    let behaviours = &run.after.as_ref().unwrap().behaviours;
    let guilty = violation.subject.outcome(behaviours).unwrap();
    let (outcome, witness) = &*guilty;
    let whole = checked(&before, &after, u64::MAX, &["--all"]);
    let listed = &whole.runs[0].after.as_ref().unwrap().behaviours.outcomes;
    assert!(listed.iter().any(|(other, _)| other == outcome), "{outcome:?}");
    let events = witness.events();
    let of = |invocation| events.iter().filter(|event| event.invocation == invocation).count();
    assert_eq!([0, 1, 2, 3].map(of), [1, 1, 2, 2]);
    // Reads-from stays within a group.
    for event in &events {
        for source in event.reads_from.iter().flatten() {
            assert_eq!(
                (events[*source].invocation / 2, events[*source].location),
                (event.invocation / 2, event.location)
            );
        }
    }
    assert!(run.why.text.is_some());
    let painter = spirv_tv::report::Painter { coloured: false };
    let short = spirv_tv::report::text::check(&report, painter);
    assert!(short.contains(": before "), "{short}");
    let full = spirv_tv::report::text::check_in_full(&report, painter);
    assert!(full.contains("before allows") && !full.contains(" more\n"), "{full}");
}

/// More outcomes than anybody could multiply out, on both sides.
#[test]
fn very_many_outcomes_are_compared() {
    let group =
        |word: u32| [(1..4).map(|value| Step::Store(word, value)).collect(), vec![Step::Load(word); 6]];
    let before = Program { local_size: 1, threads: (0..8).flat_map(group).collect() };
    let mut after = before.clone();
    let report = checked(&before, &after, 4096, &[]);
    assert_eq!(
        (report.verdict, run(&report).before.behaviours.count().saturating()),
        (Verdict::Refines, 84_u64.pow(8))
    );
    after.threads[14].push(Step::Store(7, 4));
    let report = checked(&before, &after, 4096, &[]);
    assert_eq!(told(&report).1, Some(ViolationKind::NewOutcome));
    after.threads[14].pop();
    after.threads[14].remove(1);
    assert_eq!(checked(&before, &after, 4096, &[]).verdict, Verdict::Refines);
}

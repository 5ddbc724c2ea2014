//! The refinement check of one run.

use std::collections::{BTreeSet, HashSet};

use super::matching::{Difference, ObjectMatch};
use super::parts::{self, are_comparable};
use super::reason::{Cut, Names, Note, Reason};
use super::trace::Automaton;
use super::{Verdict, ViolationKind};
use crate::behaviour::{Behaviours, Bug, End, OpenReads, Outcome, Undefined};
use crate::dispatch::Dispatch;
use crate::event::UndefinedKind;
use crate::witness::Witness;

/// A module's behaviours on one launch and input, with the dispatch that they are told in.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// What messages call it.
    pub name: &'static str,
    /// What the module does.
    pub behaviours: &'a Behaviours,
    /// The objects and invocations that the behaviours are told in.
    pub dispatch: &'a Dispatch,
}

/// The choices (docs/semantics.md, section 3) that a comparison depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CompareOptions {
    /// `--races keep`: a race is not undefined.
    pub keep_races: bool,
    /// `--float spec`: what the environment leaves open in float results is taken into account.
    pub open_floats: bool,
    /// `--ignore`: kinds that are not reported.
    pub ignore: BTreeSet<ViolationKind>,
}

/// The result of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The verdict on this run.
    pub verdict: Verdict,
    /// A bound cut something on either side.
    pub bounded: bool,
    /// What kept the searches from being finished, where a budget did, or a bound that cut everything on both sides:
    /// then the input was not tried, and the verdict is inconclusive.
    pub unfinished: Option<Cut>,
    /// What is new in after, where the verdict is `violates`, or would be if before were complete.
    pub violation: Option<Violation>,
    /// Why the verdict is inconclusive, each naming what to do.
    pub reasons: Vec<Reason>,
    /// What the user should know besides.
    pub notes: Vec<Note>,
    /// Kinds that occurred and were ignored.
    pub ignored: BTreeSet<ViolationKind>,
}

/// A behaviour of after that before does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// What kind of behaviour is new.
    pub kind: ViolationKind,
    /// Which behaviour it is.
    pub subject: Subject,
    /// For a new outcome: where it differs from the closest outcome of before.
    pub difference: Option<Difference>,
}

/// Which behaviour of after is guilty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// An index into `Behaviours::undefined`.
    Undefined(usize),
    /// An index into `Behaviours::outcomes`.
    Outcome(usize),
    /// A part of `Behaviours::product`, and an index into its outcomes: whatever the other parts come to.
    Part(usize, usize),
}

impl Comparison {
    fn of(verdict: Verdict) -> Self {
        Comparison {
            verdict,
            bounded: false,
            unfinished: None,
            violation: None,
            reasons: Vec::new(),
            notes: Vec::new(),
            ignored: BTreeSet::new(),
        }
    }
}

/// The result where before is undefined, whatever after does.
pub fn vacuous(before: Side<'_>, options: &CompareOptions) -> Option<Comparison> {
    let counts = |undefined: &Undefined| !(options.keep_races && undefined.kind == UndefinedKind::DataRace);
    let is_undefined = before.behaviours.undefined.iter().any(|(undefined, _)| counts(undefined));
    is_undefined.then(|| Comparison {
        bounded: before.behaviours.bounded.is_some(),
        ..Comparison::of(Verdict::Vacuous)
    })
}

/// The result where after is the program that before is, on the same dispatch: whatever was cut, it refines it.
pub fn same_program(before: Side<'_>) -> Comparison {
    let bounded = before.behaviours.bounded.is_some();
    Comparison { bounded, notes: vec![Note::SameProgram], ..Comparison::of(Verdict::Refines) }
}

/// Decides whether after refines before.
///
/// # Errors
/// Nothing follows from a search that went wrong, nor from outcomes that cannot be compared.
pub fn refines(before: Side<'_>, after: Side<'_>, options: &CompareOptions) -> Result<Comparison, Bug> {
    if let Some(bug) = [before, after].into_iter().find_map(|side| side.behaviours.bug()) {
        return Err(bug.clone());
    }
    if let Some(vacuous) = vacuous(before, options) {
        return Ok(vacuous);
    }
    let mut comparison = Comparison {
        bounded: before.behaviours.bounded.is_some() || after.behaviours.bounded.is_some(),
        ..Comparison::of(Verdict::Refines)
    };
    if before.behaviours.open_reads != OpenReads::None {
        comparison.notes.push(Note::OpenReads);
    }
    for side in [before, after] {
        for why in &side.behaviours.undecided {
            comparison.reasons.push(Reason::Undecided { side: side.name, why: why.clone() });
        }
    }
    if !are_comparable(before, after, options) {
        return Err(Bug::NotMultipliedOut);
    }
    comparison.violation = first_violation(before, after, options, &mut comparison.ignored);
    if options.open_floats {
        if let Some(violation) = &comparison.violation {
            comparison.reasons.extend(float_reason(before, after, violation.kind));
        }
    }
    let may_race = |violation: &Violation| may_race_in_before(before, after, violation);
    if comparison.violation.as_ref().is_some_and(may_race) {
        comparison.reasons.push(Reason::ReadsOutside { names: names(before, after) });
    }
    if !comparison.reasons.is_empty() {
        comparison.verdict = Verdict::Inconclusive;
        return Ok(comparison);
    }
    let cut = |side: Side<'_>| exhausted(side.behaviours).or(side.behaviours.bounded.map(Cut::Bound));
    if let Some(violation) = &comparison.violation {
        comparison.verdict = match cut(before) {
            None => Verdict::Violates,
            Some(cut) => {
                comparison.unfinished = by_budget(cut);
                let (names, kind) = (names(before, after), violation.kind);
                comparison.reasons.push(Reason::BeforeCut { names, kind, cut });
                Verdict::Inconclusive
            }
        };
    } else if after.behaviours.count() == 0 && after.behaviours.undefined.is_empty() {
        // Every module behaves somehow: where all of it was cut, nothing follows.
        let nothing = before.behaviours.count() == 0;
        comparison.unfinished = cut(after).and_then(|cut| if nothing { Some(cut) } else { by_budget(cut) });
        comparison.reasons.push(Reason::NoBehaviour { side: after.name, cut: cut(after) });
        comparison.verdict = Verdict::Inconclusive;
    } else if let Some(cut) = exhausted(after.behaviours) {
        comparison.unfinished = by_budget(cut);
        comparison.reasons.push(Reason::Incomplete { side: after.name, cut });
        comparison.verdict = Verdict::Inconclusive;
    }
    Ok(comparison)
}

/// Whether after races where before reads outside of a buffer that is written: a read from anywhere in it may race, too.
fn may_race_in_before(before: Side<'_>, after: Side<'_>, violation: &Violation) -> bool {
    let Subject::Undefined(index) = violation.subject else { return false };
    let Some((_, witness)) = after.behaviours.undefined.get(index) else { return false };
    let read = |(memory, _): &(u32, u32)| {
        let mut objects = after.dispatch.objects.iter().filter(|object| object.memory == *memory);
        objects.any(|object| before.behaviours.read_astray.contains(&object.key))
    };
    violation.kind == ViolationKind::NewRace && witness.units.iter().any(read)
}

/// Why a new behaviour may be one of before all the same.
fn float_reason(before: Side<'_>, after: Side<'_>, kind: ViolationKind) -> Option<Reason> {
    let operations = [before, after].map(|side| side.behaviours.inexact.iter().copied().collect::<Vec<_>>());
    let any = operations.iter().any(|open| !open.is_empty());
    any.then(|| Reason::Float { names: names(before, after), kind, operations, obstacle: None })
}

/// What cut a search, if it was a budget: what a bound leaves is compared as it is.
fn by_budget(cut: Cut) -> Option<Cut> {
    match cut {
        Cut::Stopped(_) => Some(cut),
        Cut::Bound(_) | Cut::Elsewhere => None,
    }
}

fn names(before: Side<'_>, after: Side<'_>) -> Names {
    Names { before: before.name, after: after.name }
}

/// What ended the search early, where something did. What a bound cut is told apart from it: then everything
/// within the bound was seen.
fn exhausted(behaviours: &Behaviours) -> Option<Cut> {
    match behaviours.stopped {
        Some(budget) => Some(Cut::Stopped(budget)),
        None if behaviours.complete || behaviours.bounded.is_some() => None,
        None => Some(Cut::Elsewhere),
    }
}

/// The first behaviour of after that before does not allow: faults first, since what a faulty
/// execution leaves in memory means nothing, then outcomes in their order.
fn first_violation(
    before: Side<'_>,
    after: Side<'_>,
    options: &CompareOptions,
    ignored: &mut BTreeSet<ViolationKind>,
) -> Option<Violation> {
    let mut reported = |violation: Violation| {
        if options.ignore.contains(&violation.kind) {
            ignored.insert(violation.kind);
            None
        } else {
            Some(violation)
        }
    };
    for (index, (undefined, _)) in after.behaviours.undefined.iter().enumerate() {
        if options.keep_races && undefined.kind == UndefinedKind::DataRace {
            continue;
        }
        let kind = ViolationKind::of(undefined.kind);
        let found = reported(Violation { kind, subject: Subject::Undefined(index), difference: None });
        if found.is_some() {
            return found;
        }
    }
    if after.behaviours.product.is_some() {
        return parts::first_violation(before, after);
    }
    let allowed = Allowed::new(before, after.dispatch);
    for (index, outcome) in hangs_first(&after.behaviours.outcomes) {
        let Some((kind, difference)) = allowed.forbids(outcome) else { continue };
        let found = reported(Violation { kind, subject: Subject::Outcome(index), difference });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Outcomes by their numbers, hangs before others: with a new endless loop there are also new outcomes of invocations that
/// leave it, and the hang says more.
pub(super) fn hangs_first(outcomes: &[(Outcome, Witness)]) -> impl Iterator<Item = (usize, &Outcome)> {
    let all = move |hangs: bool| {
        let of = outcomes.iter().enumerate().map(|(index, (outcome, _))| (index, outcome));
        of.filter(move |(_, outcome)| (outcome.end == End::Hang) == hangs)
    };
    all(true).chain(all(false))
}

/// The outcomes that before allows after.
pub struct Allowed<'a> {
    matched: ObjectMatch<'a>,
    outcomes: &'a [(Outcome, Witness)],
    /// The same, where both modules have the same objects.
    same: HashSet<&'a Outcome>,
}

impl<'a> Allowed<'a> {
    /// What `before` allows a module with this dispatch.
    pub fn new(before: Side<'a>, after: &'a Dispatch) -> Self {
        Allowed::of(before, after, &before.behaviours.outcomes)
    }

    /// The same if before had these outcomes.
    pub(super) fn of(before: Side<'a>, after: &'a Dispatch, outcomes: &'a [(Outcome, Witness)]) -> Self {
        let matched = ObjectMatch::new(before.dispatch, after);
        let same = match matched.is_identity() {
            true => outcomes.iter().map(|(outcome, _)| outcome).collect(),
            false => HashSet::new(),
        };
        Allowed { matched, outcomes, same }
    }

    /// Why an outcome of after is not allowed; `None` where it is.
    pub fn forbids(&self, outcome: &Outcome) -> Option<(ViolationKind, Option<Difference>)> {
        // Nearly all outcomes are in both sets as they are.
        if self.same.contains(outcome) {
            return None;
        }
        forbidden(&self.matched, self.outcomes, outcome)
    }
}

/// Why before does not allow an outcome; `None` where it does.
fn forbidden(
    matched: &ObjectMatch<'_>,
    before: &[(Outcome, Witness)],
    outcome: &Outcome,
) -> Option<(ViolationKind, Option<Difference>)> {
    let mut allowed = Automaton::default();
    let mut any = false;
    let mut closest: Option<Difference> = None;
    for (candidate, _) in before {
        if candidate.end != outcome.end {
            continue;
        }
        let difference = match outcome.end {
            End::Terminated => matched.difference(candidate, outcome),
            End::Hang => None,
        };
        match difference {
            None => {
                any = true;
                allowed.add(candidate, &|object| matched.of_before(object));
            }
            Some(difference) => {
                closest.get_or_insert(difference);
            }
        }
    }
    if !any {
        return Some(match outcome.end {
            End::Terminated => (ViolationKind::NewOutcome, closest),
            End::Hang => (ViolationKind::NewHang, None),
        });
    }
    let mut traces = Automaton::default();
    traces.add(outcome, &|object| matched.of_after(object));
    (!allowed.admits(&traces)).then_some((ViolationKind::VolatileTrace, None))
}

#[cfg(test)]
mod tests {
    use rspirv::spirv::Op as Opcode;

    use super::super::matching::tests::{dispatch, outcome};
    use super::*;
    use crate::behaviour::{Bound, Stopped, Undecided, VolatileAccess};
    use crate::ir::Inexact;
    use crate::value::Byte;

    fn bytes(values: &[u8]) -> Vec<Byte> {
        values.iter().copied().map(Byte::Known).collect()
    }

    fn behaviours(outcomes: Vec<Outcome>) -> Behaviours {
        Behaviours {
            outcomes: outcomes.into_iter().map(|outcome| (outcome, Witness::default())).collect(),
            complete: true,
            ..Behaviours::default()
        }
    }

    fn values(list: &[u8]) -> Behaviours {
        behaviours(list.iter().map(|value| outcome(&[&bytes(&[*value])])).collect())
    }

    fn fault(kind: UndefinedKind) -> Behaviours {
        let undefined = Undefined { kind, lines: vec![3], detail: String::new() };
        Behaviours { undefined: vec![(undefined, Witness::default())], ..values(&[0]) }
    }

    fn hang() -> Outcome {
        Outcome::hang(Vec::new())
    }

    fn run_with(before: &Behaviours, after: &Behaviours, options: &CompareOptions) -> Comparison {
        let initial = bytes(&[0]);
        let dispatch = dispatch(&[("0.0", &initial, true)]);
        let side = |name, behaviours| Side { name, behaviours, dispatch: &dispatch };
        refines(side("before", before), side("after", after), options).unwrap()
    }

    #[test]
    fn what_an_open_float_may_explain_is_no_violation() {
        let open = CompareOptions { open_floats: true, ..CompareOptions::default() };
        let multiplication = Inexact { line: 7, opcode: Opcode::FMul as u16, extended: 0 };
        let inexact = |behaviours| Behaviours { inexact: [multiplication].into(), ..behaviours };
        let pairs =
            [(inexact(values(&[1])), values(&[2])), (values(&[1]), inexact(fault(UndefinedKind::DataRace)))];
        for (before, after) in pairs {
            let comparison = run_with(&before, &after, &open);
            assert_eq!(comparison.verdict, Verdict::Inconclusive);
            let [reason @ Reason::Float { .. }] = &comparison.reasons[..] else {
                panic!("{:?}", comparison.reasons)
            };
            assert!(reason.to_string().contains("OpFMul (line 7)"), "{reason}");
            assert_eq!(run(&before, &after).0, Verdict::Violates);
        }
        let same = run_with(&inexact(values(&[1])), &inexact(values(&[1])), &open);
        assert_eq!((same.verdict, same.reasons), (Verdict::Refines, Vec::new()));
        assert_eq!(run_with(&values(&[1]), &values(&[2]), &open).verdict, Verdict::Violates);
    }

    fn run(before: &Behaviours, after: &Behaviours) -> (Verdict, Option<ViolationKind>) {
        let comparison = run_with(before, after, &CompareOptions::default());
        (comparison.verdict, comparison.violation.map(|violation| violation.kind))
    }

    #[test]
    fn fewer_outcomes_refine_and_more_violate() {
        assert_eq!(run(&values(&[0, 1]), &values(&[1])), (Verdict::Refines, None));
        assert_eq!(
            run(&values(&[0, 1]), &values(&[0, 2])),
            (Verdict::Violates, Some(ViolationKind::NewOutcome))
        );
    }

    #[test]
    fn an_undefined_before_allows_everything() {
        let racy = fault(UndefinedKind::DataRace);
        assert_eq!(run(&racy, &values(&[9])), (Verdict::Vacuous, None));
        // Even where the rest was not explored.
        let cut = Behaviours { complete: false, stopped: Some(Stopped::Timeout), ..racy };
        assert_eq!(run(&cut, &values(&[9])), (Verdict::Vacuous, None));
    }

    #[test]
    fn new_faults_violate() {
        let kinds = [
            (UndefinedKind::DataRace, ViolationKind::NewRace),
            (UndefinedKind::OutOfBounds, ViolationKind::NewUndefined),
        ];
        for (fault_kind, kind) in kinds {
            assert_eq!(run(&values(&[0]), &fault(fault_kind)), (Verdict::Violates, Some(kind)));
        }
    }

    #[test]
    fn hangs_need_a_hang() {
        let both = behaviours(vec![outcome(&[&bytes(&[0])]), hang()]);
        assert_eq!(run(&both, &both), (Verdict::Refines, None));
        assert_eq!(run(&values(&[0]), &both), (Verdict::Violates, Some(ViolationKind::NewHang)));
        assert_eq!(
            run(&behaviours(vec![hang()]), &values(&[0])),
            (Verdict::Violates, Some(ViolationKind::NewOutcome))
        );
    }

    #[test]
    fn a_cut_before_cannot_convict() {
        let bounded = Behaviours { bounded: Some(Bound::SpinBound), ..values(&[0]) };
        let comparison = run_with(&bounded, &values(&[1]), &CompareOptions::default());
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        let [reason @ Reason::BeforeCut { cut: Cut::Bound(Bound::SpinBound), .. }] = &comparison.reasons[..]
        else {
            panic!("{:?}", comparison.reasons)
        };
        assert!(reason.to_string().ends_with("raise --spin-bound"), "{reason}");
        // What is within the bound was seen: the difference counts.
        assert_eq!(comparison.unfinished, None);
        let stopped = Behaviours { complete: false, stopped: Some(Stopped::Timeout), ..values(&[0]) };
        let comparison = run_with(&stopped, &values(&[1]), &CompareOptions::default());
        assert_eq!(comparison.unfinished, Some(Cut::Stopped(Stopped::Timeout)));
        let comparison = run_with(&bounded, &values(&[0]), &CompareOptions::default());
        assert_eq!((comparison.verdict, comparison.bounded), (Verdict::Refines, true));
        let bounded = Behaviours { complete: false, ..bounded };
        let comparison = run_with(&values(&[0]), &bounded, &CompareOptions::default());
        assert_eq!((comparison.verdict, comparison.bounded), (Verdict::Refines, true));
    }

    #[test]
    fn a_cut_after_can_convict_but_not_acquit() {
        let cut =
            |list| Behaviours { complete: false, stopped: Some(Stopped::MaxExecutions), ..values(list) };
        assert_eq!(run(&values(&[0]), &cut(&[1])).0, Verdict::Violates);
        let comparison = run_with(&values(&[0]), &cut(&[0]), &CompareOptions::default());
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        let ended = Cut::Stopped(Stopped::MaxExecutions);
        assert_eq!(comparison.reasons, [Reason::Incomplete { side: "after", cut: ended }]);
        assert_eq!(comparison.unfinished, Some(ended));
        // What an incomplete before showed is enough to acquit.
        assert_eq!(run(&cut(&[0]), &values(&[0])).0, Verdict::Refines);
    }

    #[test]
    fn an_after_without_behaviours_shows_nothing() {
        let nothing = Behaviours { bounded: Some(Bound::MaxInstructions), ..behaviours(Vec::new()) };
        let comparison = run_with(&values(&[0]), &nothing, &CompareOptions::default());
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        let cut = Some(Cut::Bound(Bound::MaxInstructions));
        assert_eq!(comparison.reasons, [Reason::NoBehaviour { side: "after", cut }]);
        // Of after alone that is told; where before has none either, the input was not tried.
        assert_eq!(comparison.unfinished, None);
        assert_eq!(run_with(&nothing, &nothing, &CompareOptions::default()).unfinished, cut);
    }

    #[test]
    fn a_search_that_went_wrong_has_no_verdict() {
        let wrong = |behaviours: Behaviours| {
            let undecided = vec![
                Undecided::Reconvergence { line: 3 },
                Undecided::Bug(Bug::Disagreement { about: "this" }),
            ];
            Behaviours { undecided, ..behaviours }
        };
        let initial = bytes(&[0]);
        let dispatch = dispatch(&[("0.0", &initial, true)]);
        let racy = fault(UndefinedKind::DataRace);
        for (before, after) in [
            (wrong(values(&[0])), values(&[0])),
            (values(&[0]), wrong(values(&[1]))),
            // Not even that anything is allowed.
            (wrong(racy.clone()), values(&[0])),
            (racy, wrong(values(&[0]))),
        ] {
            let side = |name, behaviours| Side { name, behaviours, dispatch: &dispatch };
            let compared =
                refines(side("before", &before), side("after", &after), &CompareOptions::default());
            assert_eq!(compared, Err(Bug::Disagreement { about: "this" }));
        }
    }

    #[test]
    fn undecided_runs_are_inconclusive() {
        let undecided = Behaviours { undecided: vec![Undecided::Reconvergence { line: 3 }], ..values(&[0]) };
        assert_eq!(run(&undecided, &values(&[1])).0, Verdict::Inconclusive);
        assert_eq!(run(&values(&[0]), &undecided).0, Verdict::Inconclusive);
    }

    #[test]
    fn ignored_kinds_are_named() {
        let options =
            CompareOptions { ignore: BTreeSet::from([ViolationKind::NewRace]), ..CompareOptions::default() };
        let comparison = run_with(&values(&[0]), &fault(UndefinedKind::DataRace), &options);
        assert_eq!(comparison.verdict, Verdict::Refines);
        assert_eq!(comparison.ignored, BTreeSet::from([ViolationKind::NewRace]));
    }

    #[test]
    fn kept_races_compare_outcomes() {
        let options = CompareOptions { keep_races: true, ..CompareOptions::default() };
        let racy = fault(UndefinedKind::DataRace);
        assert_eq!(run_with(&racy, &values(&[0]), &options).verdict, Verdict::Refines);
        assert_eq!(run_with(&racy, &values(&[1]), &options).verdict, Verdict::Violates);
    }

    #[test]
    fn volatile_traces_are_compared_where_memory_agrees() {
        let traced = |value| {
            let access = VolatileAccess::One {
                object: 0,
                offset: 0,
                write: true,
                atomic: false,
                bytes: bytes(&[value]),
            };
            behaviours(vec![Outcome { volatile: vec![vec![access]], ..outcome(&[&bytes(&[0])]) }])
        };
        assert_eq!(run(&traced(1), &traced(1)).0, Verdict::Refines);
        assert_eq!(run(&traced(1), &traced(2)), (Verdict::Violates, Some(ViolationKind::VolatileTrace)));
    }
}

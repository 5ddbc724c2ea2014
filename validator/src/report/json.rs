//! Reports as JSON, one object on one line. `docs/json.md` describes every field.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::account::{account_json, AccountJson};
use super::factored::{self, FactoredJson};
use super::launches;
use super::typed::Types;
use super::words::{word, words};
use crate::behaviour::{Bound, Bug, Count, End, Outcome, PathEnd, Paths, Stopped, Undefined, VolatileAccess};
use crate::check::{
    CheckOptions, CheckReport, Choices, Exercised, Explored, FrozenSpec, OutcomesReport, OutcomesRun, Role,
    Run, Source, UnsupportedConstruct, Untried,
};
use crate::compare::{
    open_operation, Comparison, Cut, Difference, Subject, Verdict, Violation, ViolationKind,
};
use crate::dispatch::Dispatch;
use crate::ir::{Inexact, Line};
use crate::launch::Input;
use crate::model::memory_model::Model;
use crate::value::Byte;
use crate::witness::Witness;

/// The schema of checks.
const CHECK_SCHEMA: &str = "spirv-tv.check/1";

/// The object of a check, schema `spirv-tv.check/1`.
pub fn check(report: &CheckReport) -> String {
    render(&check_json(report))
}

/// The same object as a value, for those who add members to it.
pub fn check_value(report: &CheckReport) -> Value {
    value(&check_json(report))
}

/// The choices of a run without a launch.
pub fn choices(options: &CheckOptions) -> Value {
    value(&Choices::of(options, Vec::new(), 0))
}

/// The object of a check that could not be made.
pub fn check_error([before, after]: [&str; 2], message: &str, options: &CheckOptions) -> Value {
    let verdict = Some(Verdict::Error.name());
    let reasons = vec![message.to_owned()];
    let choices = Choices::of(options, Vec::new(), 0);
    value(&CheckJson { verdict, reasons, ..bare(before, after, &choices) })
}

/// The object of a check in which spirv-tv went wrong.
pub fn check_bug([before, after]: [&str; 2], bug: &Bug, options: &CheckOptions) -> Value {
    let choices = Choices::of(options, Vec::new(), 0);
    value(&CheckJson { bug: Some(bug.to_string()), ..bare(before, after, &choices) })
}

/// The object of a check without a verdict.
fn bare<'a>(before: &'a str, after: &'a str, choices: &'a Choices) -> CheckJson<'a> {
    CheckJson {
        schema: CHECK_SCHEMA,
        before,
        after,
        verdict: None,
        bug: None,
        bounded: false,
        scopes_not_distinguished: Vec::new(),
        frozen: &[],
        same_program: None,
        exercised: None,
        ignored: Vec::new(),
        runs: Vec::new(),
        untried: &[],
        unsupported: Vec::new(),
        reasons: Vec::new(),
        warnings: &[],
        choices,
    }
}

fn check_json(report: &CheckReport) -> CheckJson<'_> {
    CheckJson {
        schema: CHECK_SCHEMA,
        before: &report.before.name,
        after: &report.after.name,
        verdict: Some(report.verdict.name()),
        bug: None,
        bounded: report.bounded(),
        scopes_not_distinguished: scopes(&report.undistinguished),
        frozen: &report.frozen,
        same_program: report.same_program.then_some(true),
        exercised: (report.verdict == Verdict::Refines).then_some(&report.exercised),
        ignored: report.ignored().iter().map(|kind| kind.name()).collect(),
        runs: report.runs.iter().map(|run| run_json(run, report)).collect(),
        untried: &report.untried,
        unsupported: unsupported(&report.unsupported),
        reasons: told(&report.reasons),
        warnings: &report.warnings,
        choices: &report.choices,
    }
}

/// The object of `outcomes`, schema `spirv-tv.outcomes/1`. With several inputs the fields of a run
/// stand in `runs`; those of the first stand at the top as well.
pub fn outcomes(report: &OutcomesReport) -> String {
    // What was not run has no outcomes, and is not complete.
    let nothing = Explored {
        role: Role::Module,
        behaviours: Arc::default(),
        dispatch: Dispatch::default(),
        model: Model::default(),
        declares_coherence: false,
        reused: false,
    };
    let first = match report.runs.first() {
        Some(run) => behaviours_json(&run.explored),
        None => behaviours_json(&nothing),
    };
    let runs = report.runs.iter().map(outcomes_run).collect::<Vec<_>>();
    render(&OutcomesJson {
        schema: "spirv-tv.outcomes/1",
        module: &report.module.name,
        first,
        runs: if runs.len() > 1 { runs } else { Vec::new() },
        input: report.runs.first().map(|run| input_json(&run.input)),
        untried: &report.untried,
        scopes_not_distinguished: scopes(&report.undistinguished),
        unsupported: unsupported(&report.unsupported),
        warnings: &report.warnings,
        choices: &report.choices,
    })
}

/// An input, as reports have it.
pub fn input(input: &Input) -> Value {
    value(&input_json(input))
}

/// What a result rests on, as reports have it.
pub fn rests_on(choices: &Choices) -> Value {
    value(choices)
}

/// An outcome, as reports have it.
pub fn outcome(outcome: &Outcome, dispatch: &Dispatch) -> Value {
    value(&outcome_json(outcome, dispatch))
}

fn outcomes_run(run: &OutcomesRun) -> OutcomesRunJson<'_> {
    OutcomesRunJson {
        entry: &run.entry,
        input: input_json(&run.input),
        behaviours: behaviours_json(&run.explored),
    }
}

/// Each in words.
fn told<T: ToString>(list: &[T]) -> Vec<String> {
    list.iter().map(T::to_string).collect()
}

fn value(value: &impl Serialize) -> Value {
    // See `render` for what can fail.
    serde_json::to_value(value).unwrap_or_default()
}

pub(super) fn render(value: &impl Serialize) -> String {
    // Only maps with keys that are no strings and failing Serialize implementations can fail.
    serde_json::to_string(value).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
}

#[derive(Serialize)]
struct CheckJson<'a> {
    schema: &'static str,
    before: &'a str,
    after: &'a str,
    /// Null where spirv-tv went wrong.
    verdict: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bug: Option<String>,
    bounded: bool,
    scopes_not_distinguished: Vec<[&'static str; 2]>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    frozen: &'a [FrozenSpec],
    #[serde(skip_serializing_if = "Option::is_none")]
    same_program: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exercised: Option<&'a Exercised>,
    ignored: Vec<&'static str>,
    runs: Vec<RunJson<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    untried: &'a [Untried],
    unsupported: Vec<UnsupportedJson<'a>>,
    reasons: Vec<String>,
    warnings: &'a [String],
    choices: &'a Choices,
}

#[derive(Serialize)]
struct RunJson<'a> {
    entry: &'a str,
    /// Where the entry point has two launches.
    #[serde(skip_serializing_if = "Option::is_none")]
    workgroups: Option<[u32; 3]>,
    /// Values that were chosen for it, as `--spec` takes them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    spec: Vec<String>,
    input: InputJson<'a>,
    verdict: &'static str,
    bounded: bool,
    /// What there was too much of for this input to be tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_finished: Option<&'static str>,
    before: SummaryJson<'a>,
    after: Option<SummaryJson<'a>>,
    violation: Option<ViolationJson<'a>>,
    /// `--both-ways` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    after_loses_behaviours: Option<bool>,
    /// Where before is racy only as the specification reads an older memory model.
    #[serde(skip_serializing_if = "Option::is_none")]
    legacy_coherent: Option<LegacyJson>,
    reasons: Vec<String>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct LegacyJson {
    verdict: &'static str,
    kind: Option<&'static str>,
}

#[derive(Serialize)]
struct InputJson<'a> {
    name: &'a str,
    buffers: Memory,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    images: BTreeMap<String, ImageJson>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    acceleration_structures: BTreeMap<String, String>,
    push: Vec<String>,
}

#[derive(Serialize)]
struct ImageJson {
    /// As `--image` takes it.
    layout: String,
    words: Vec<String>,
}

/// The account of a search, without the ways in which no path ended.
#[derive(Serialize)]
struct PathsJson {
    started: u64,
    #[serde(skip_serializing_if = "is_zero")]
    speculated: u64,
    ended: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    outcomes: Count,
    executions: Count,
    explored: u64,
    blocked: u64,
    discarded: u64,
    paths: PathsJson,
    complete: bool,
    bounded: Option<&'static str>,
    stopped: Option<&'static str>,
    undefined: Vec<UndefinedJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_at_violation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reused: Option<bool>,
}

#[derive(Serialize)]
struct UndefinedJson<'a> {
    kind: &'static str,
    detail: &'a str,
    /// Data races: what is missing that would order the accesses.
    why: Option<String>,
    lines: Vec<LineJson>,
}

#[derive(Serialize)]
struct LineJson {
    module: &'static str,
    line: Line,
}

#[derive(Serialize)]
struct ViolationJson<'a> {
    kind: &'static str,
    outcome: Option<OutcomeJson>,
    undefined: Option<UndefinedJson<'a>>,
    difference: Option<DifferenceJson<'a>>,
    witness: WitnessJson<'a>,
    why: Option<&'a str>,
    #[serde(flatten)]
    account: AccountJson<'a>,
}

#[derive(Serialize)]
struct DifferenceJson<'a> {
    location: &'a str,
    /// In bytes.
    offset: usize,
    /// Of the value that the byte belongs to, where the module's types say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
}

#[derive(Serialize)]
pub(super) struct OutcomeJson {
    end: &'static str,
    memory: Memory,
    volatile: Vec<Vec<VolatileJson>>,
}

/// An object from keys to words, in the order of the list: set by set, binding by binding.
struct Memory(Vec<(String, Vec<String>)>);

impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, words)| (key, words)))
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum VolatileJson {
    One { location: String, offset: u32, width: usize, kind: &'static str, atomic: bool, value: String },
    Repeated { repeated: Vec<Vec<VolatileJson>> },
}

#[derive(Serialize)]
struct WitnessJson<'a> {
    events: Vec<EventJson<'a>>,
}

#[derive(Serialize)]
struct EventJson<'a> {
    invocation: u32,
    line: Line,
    text: Option<&'a str>,
    what: String,
    location: Option<String>,
    offset: Option<u32>,
    read: Option<Vec<String>>,
    written: Option<Vec<String>>,
    reads_from: Vec<Option<usize>>,
    synchronized_by: Vec<usize>,
}

#[derive(Serialize)]
struct UnsupportedJson<'a> {
    module: &'static str,
    line: Line,
    what: &'a str,
}

#[derive(Serialize)]
struct OutcomesJson<'a> {
    schema: &'static str,
    module: &'a str,
    #[serde(flatten)]
    first: BehavioursJson<'a>,
    input: Option<InputJson<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    untried: &'a [Untried],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runs: Vec<OutcomesRunJson<'a>>,
    scopes_not_distinguished: Vec<[&'static str; 2]>,
    unsupported: Vec<UnsupportedJson<'a>>,
    warnings: &'a [String],
    choices: &'a Choices,
}

#[derive(Serialize)]
struct OutcomesRunJson<'a> {
    entry: &'a str,
    input: InputJson<'a>,
    #[serde(flatten)]
    behaviours: BehavioursJson<'a>,
}

#[derive(Serialize)]
struct BehavioursJson<'a> {
    complete: bool,
    bounded: bool,
    bound: Option<&'static str>,
    undecided: Vec<String>,
    undefined: Vec<UndefinedJson<'a>>,
    outcomes: Vec<OutcomeJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    factored: Vec<FactoredJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    open_floats: Vec<OpenFloatJson>,
    executions: Count,
    explored: u64,
    blocked: u64,
    discarded: u64,
    paths: PathsJson,
    stopped: Option<&'static str>,
}

/// A float operation that ran, and whose result the environment leaves open.
#[derive(Serialize)]
struct OpenFloatJson {
    line: Line,
    what: String,
}

impl OpenFloatJson {
    fn of(operation: &Inexact) -> Self {
        OpenFloatJson { line: operation.line, what: open_operation(operation) }
    }
}

fn run_json<'a>(run: &'a Run, report: &'a CheckReport) -> RunJson<'a> {
    let is_one_of_two = launches::is_one_of_two(&report.choices.launch, &run.entry);
    let violation = run.comparison.violation.as_ref().zip(run.after.as_ref());
    RunJson {
        entry: &run.entry,
        workgroups: is_one_of_two.then(|| run.workgroups()),
        spec: report.varied_specs(run),
        input: input_json(&run.input),
        verdict: run.comparison.verdict.name(),
        bounded: run.comparison.bounded,
        not_finished: run.comparison.unfinished.map(Cut::of_what),
        before: summary(&run.before),
        after: run.after.as_ref().map(summary),
        violation: violation.map(|(violation, explored)| violation_json(violation, explored, report, run)),
        after_loses_behaviours: run.reverse.as_ref().map(|reverse: &Comparison| reverse.violation.is_some()),
        legacy_coherent: run.legacy.map(|legacy| LegacyJson {
            verdict: legacy.verdict.name(),
            kind: legacy.kind.map(ViolationKind::name),
        }),
        reasons: told(&run.comparison.reasons),
        notes: told(&run.comparison.notes),
    }
}

fn input_json(input: &Input) -> InputJson<'_> {
    InputJson {
        name: &input.name,
        buffers: Memory(
            input
                .buffers
                .iter()
                .map(|(slot, bytes)| (slot.to_string(), words(bytes)))
                .chain(input.named().map(|(key, bytes)| (key.to_owned(), words(bytes))))
                .collect(),
        ),
        images: input
            .images
            .iter()
            .map(|(slot, image)| {
                let json = ImageJson { layout: image.layout.to_string(), words: words(&image.bytes) };
                (slot.to_string(), json)
            })
            .collect(),
        acceleration_structures: input
            .acceleration_structures
            .iter()
            .map(|(slot, structure)| (slot.to_string(), structure.text.to_string()))
            .collect(),
        push: words(&input.push),
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn paths(paths: &Paths) -> PathsJson {
    let ended = PathEnd::ALL.into_iter().map(|end| (end.name(), paths.ended(end)));
    PathsJson {
        started: paths.started(),
        speculated: paths.speculated(),
        ended: ended.filter(|(_, count)| *count > 0).collect(),
    }
}

fn summary(explored: &Explored) -> SummaryJson<'_> {
    let behaviours = &explored.behaviours;
    SummaryJson {
        outcomes: behaviours.count(),
        executions: behaviours.executions.clone(),
        explored: behaviours.explored,
        blocked: behaviours.blocked(),
        discarded: behaviours.discarded(),
        paths: paths(&behaviours.paths),
        complete: behaviours.complete,
        bounded: behaviours.bounded.map(Bound::name),
        stopped: behaviours.stopped.map(Stopped::name),
        undefined: undefined_list(explored),
        ends_at_violation: behaviours.ends_at_target.then_some(true),
        reused: explored.reused.then_some(true),
    }
}

fn undefined_list(explored: &Explored) -> Vec<UndefinedJson<'_>> {
    let found = explored.behaviours.undefined.iter();
    found.map(|(undefined, witness)| undefined_json(undefined, witness, explored)).collect()
}

fn behaviours_json(explored: &Explored) -> BehavioursJson<'_> {
    let Explored { behaviours, dispatch, .. } = explored;
    BehavioursJson {
        complete: behaviours.complete,
        bounded: behaviours.bounded.is_some(),
        bound: behaviours.bounded.map(Bound::name),
        undecided: told(&behaviours.undecided),
        undefined: undefined_list(explored),
        outcomes: behaviours.listed().iter().map(|(outcome, _)| outcome_json(outcome, dispatch)).collect(),
        factored: behaviours.factored().map(|permuted| factored::json(permuted, dispatch)).collect(),
        open_floats: behaviours.inexact.iter().map(OpenFloatJson::of).collect(),
        executions: behaviours.executions.clone(),
        explored: behaviours.explored,
        blocked: behaviours.blocked(),
        discarded: behaviours.discarded(),
        paths: paths(&behaviours.paths),
        stopped: behaviours.stopped.map(Stopped::name),
    }
}

fn undefined_json<'a>(undefined: &'a Undefined, witness: &Witness, explored: &Explored) -> UndefinedJson<'a> {
    let module = explored.role.name();
    UndefinedJson {
        kind: undefined.kind.name(),
        detail: &undefined.detail,
        why: explored.why(undefined, witness).map(|why| why.to_string()),
        lines: undefined.lines.iter().map(|&line| LineJson { module, line }).collect(),
    }
}

fn violation_json<'a>(
    violation: &'a Violation,
    explored: &'a Explored,
    report: &'a CheckReport,
    run: &'a Run,
) -> ViolationJson<'a> {
    let Explored { behaviours, dispatch, .. } = explored;
    let outcome = violation.subject.outcome(behaviours);
    let outcome = outcome.as_deref();
    let undefined = match violation.subject {
        Subject::Undefined(index) => behaviours.undefined.get(index),
        Subject::Outcome(_) | Subject::Part(..) => None,
    };
    let witness = outcome.map(|(_, witness)| witness).or(undefined.map(|(_, witness)| witness));
    let events = witness.map_or_else(Vec::new, |witness| events(witness, dispatch, &report.after));
    let of_fault = undefined.iter().flat_map(|(undefined, _)| undefined.lines.iter().copied());
    let lines: Vec<Line> = events.iter().map(|event| event.line).chain(of_fault).collect();
    ViolationJson {
        kind: violation.kind.name(),
        outcome: outcome.map(|(outcome, _)| outcome_json(outcome, dispatch)),
        undefined: undefined.map(|(undefined, witness)| undefined_json(undefined, witness, explored)),
        difference: violation.difference.as_ref().map(|difference| DifferenceJson {
            location: &difference.key,
            offset: difference.offset,
            name: value_name(&report.after, difference, dispatch),
        }),
        account: account_json(report, run, &lines),
        witness: WitnessJson { events },
        why: run.why.text.as_deref(),
    }
}

/// What people call the value in which an outcome differs.
fn value_name(module: &Source, difference: &Difference, dispatch: &Dispatch) -> Option<String> {
    let object = dispatch.objects.iter().find(|object| object.key == difference.key)?;
    if object.image.is_some() {
        return None;
    }
    let types = Types::of(&module.text);
    types.place(&difference.key, difference.offset).map(|place| place.path)
}

pub(super) fn outcome_json(outcome: &Outcome, dispatch: &Dispatch) -> OutcomeJson {
    let observed = dispatch.objects.iter().filter(|object| object.observed);
    OutcomeJson {
        end: end_name(outcome.end),
        memory: Memory(
            observed.zip(&outcome.memory).map(|(object, bytes)| (object.key.clone(), words(bytes))).collect(),
        ),
        volatile: if outcome.volatile.iter().all(Vec::is_empty) {
            Vec::new()
        } else {
            outcome.volatile.iter().map(|trace| volatile_json(trace, dispatch)).collect()
        },
    }
}

/// The name of an outcome's end.
pub(super) fn end_name(end: End) -> &'static str {
    match end {
        End::Terminated => "terminated",
        End::Hang => "hang",
    }
}

/// What a byte of an object is called.
pub(super) fn place(dispatch: &Dispatch, object: u32, offset: u32) -> String {
    let known = dispatch.objects.get(object as usize);
    known.map_or_else(|| format!("object {object}+{offset}"), |known| known.place(offset))
}

fn volatile_json(trace: &[VolatileAccess], dispatch: &Dispatch) -> Vec<VolatileJson> {
    trace
        .iter()
        .map(|access| match access {
            VolatileAccess::One { object, offset, write, atomic, bytes } => VolatileJson::One {
                location: key(dispatch, *object),
                offset: *offset,
                width: bytes.len(),
                kind: if *write { "write" } else { "read" },
                atomic: *atomic,
                value: word(bytes),
            },
            VolatileAccess::Repeated(iterations) => VolatileJson::Repeated {
                repeated: iterations.iter().map(|iteration| volatile_json(iteration, dispatch)).collect(),
            },
        })
        .collect()
}

/// The key of an object in reports.
pub(super) fn key(dispatch: &Dispatch, object: u32) -> String {
    dispatch.objects.get(object as usize).map_or_else(|| format!("object {object}"), |o| o.key.clone())
}

fn events<'a>(witness: &Witness, dispatch: &Dispatch, module: &'a Source) -> Vec<EventJson<'a>> {
    let value = |bytes: &Option<Vec<Byte>>| bytes.as_deref().map(words);
    let events = witness.events().into_iter();
    events
        .map(|event| EventJson {
            invocation: event.invocation,
            line: event.line,
            text: module.line(event.line),
            what: event.what,
            location: event.location.map(|(object, _)| key(dispatch, object)),
            offset: event.location.map(|(_, offset)| offset),
            read: value(&event.read),
            written: value(&event.written),
            reads_from: event.reads_from,
            synchronized_by: event.synchronized_by,
        })
        .collect()
}

fn unsupported(list: &[UnsupportedConstruct]) -> Vec<UnsupportedJson<'_>> {
    list.iter()
        .map(|item| UnsupportedJson { module: item.module.name(), line: item.line, what: &item.what })
        .collect()
}

fn scopes(pairs: &[(crate::event::Scope, crate::event::Scope)]) -> Vec<[&'static str; 2]> {
    pairs.iter().map(|(narrow, wide)| [narrow.name(), wide.name()]).collect()
}

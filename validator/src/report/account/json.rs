//! What is known of a violation beside its events, for programs.

use serde::Serialize;

use super::{Beginning, Branch, Code};
use crate::check::{CheckReport, Role, Run, Source};
use crate::correspondence::{Change, ChangeKind, Correspondence, Texts};
use crate::explain::{Loss, Parting, Standing, StandsAt};
use crate::ir::Line;
use crate::module::Place;
use crate::report::json::place;
use crate::report::typed::Types;
use crate::report::words::words;

/// What is known of a violation beside its events (`docs/json.md`).
#[derive(Serialize)]
pub(in crate::report) struct AccountJson<'a> {
    changes: Vec<ChangeJson>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost: Vec<LossJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_difference: Option<FirstDifferenceJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    standing: Vec<StandingJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parting: Option<PartingJson<'a>>,
    #[serde(skip_serializing_if = "FollowedJson::is_empty")]
    followed_for: FollowedJson,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    places: Vec<PlaceJson<'a>>,
}

#[derive(Serialize)]
struct ChangeJson {
    kind: &'static str,
    before: Vec<Line>,
    after: Vec<Line>,
    sentence: String,
}

#[derive(Serialize)]
struct LossJson<'a> {
    before: Line,
    after: Option<Line>,
    sentence: &'a str,
}

#[derive(Serialize)]
struct FirstDifferenceJson {
    before: Line,
    after: Line,
    text: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branch: Option<BranchJson>,
}

#[derive(Serialize)]
struct BranchJson {
    invocation: u32,
    before: Line,
    after: Line,
    to_before: Line,
    to_after: Line,
    text: String,
}

#[derive(Serialize)]
struct FaultJson<'a> {
    invocation: u32,
    calls: &'a [Line],
}

#[derive(Serialize)]
struct StandingJson {
    invocation: u32,
    line: Line,
    loop_line: Option<Line>,
    at: &'static str,
    location: Option<String>,
    value: Option<Vec<String>>,
}

#[derive(Serialize)]
struct PartingJson<'a> {
    line: Line,
    there: &'a [u32],
    there_to: Line,
    others: &'a [u32],
    others_to: Line,
}

/// The bounds at which following the modules was given up, in words.
#[derive(Serialize)]
struct FollowedJson {
    before: Option<String>,
    after: Option<String>,
}

impl FollowedJson {
    fn is_empty(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    module: &'static str,
    line: Line,
    file: Option<&'a str>,
    source_line: Option<u32>,
    text: Option<&'a str>,
    function: Option<&'a str>,
    inlined: Vec<CallJson<'a>>,
}

#[derive(Serialize)]
struct CallJson<'a> {
    file: Option<&'a str>,
    line: Option<u32>,
    caller: Option<&'a str>,
}

/// That of a run; `lines` are those of after that the violation is about.
pub(in crate::report) fn account<'a>(
    report: &'a CheckReport,
    run: &'a Run,
    lines: &[Line],
) -> AccountJson<'a> {
    let why = &run.why;
    let [before, after] = report.compared_texts();
    let texts = Texts::of(before, after);
    let correspondence = texts.matched();
    let changes = correspondence.changes();
    let first_difference = first_difference_of(report, run, &correspondence);
    let mut of_before: Vec<Line> = why.lost.iter().map(|loss| loss.before).collect();
    let mut of_after: Vec<Line> = why.lost.iter().filter_map(|loss| loss.after).collect();
    of_after.extend(lines);
    of_after.extend(why.account.standing.iter().map(|one| one.line));
    of_before.extend(first_difference.as_ref().map(|found| found.before));
    of_after.extend(first_difference.as_ref().map(|found| found.after));
    if report.diff.is_none() {
        of_before.extend(changes.iter().flat_map(|change| &change.lines_of_before));
        of_after.extend(changes.iter().flat_map(|change| &change.lines));
    }
    let places = [(Role::Before, &report.before, of_before), (Role::After, &report.after, of_after)];
    let places = places.into_iter().flat_map(|(role, module, lines)| places_of(role, module, lines));
    let dispatch = run.after.as_ref().map(|after| &after.dispatch);
    let standing = why.account.standing.iter().map(|one| {
        let (at, location, value) = match &one.at {
            StandsAt::Barrier => ("barrier", None, None),
            StandsAt::Nothing => ("nothing", None, None),
            StandsAt::Unknown(_) => ("unknown", None, None),
            StandsAt::Value { object, offset, bytes } => (
                "value",
                dispatch.map(|dispatch| place(dispatch, *object, *offset)),
                bytes.as_ref().map(|bytes| words(bytes)),
            ),
        };
        let Standing { invocation, line, loop_line, .. } = *one;
        StandingJson { invocation, line, loop_line, at, location, value }
    });
    AccountJson {
        changes: changes.into_iter().map(change).collect(),
        lost: why.lost.iter().map(loss).collect(),
        first_difference,
        fault: why
            .account
            .fault
            .as_ref()
            .map(|fault| FaultJson { invocation: fault.history.invocation, calls: &fault.calls }),
        standing: standing.collect(),
        parting: why.account.parting.as_ref().map(parting),
        followed_for: FollowedJson {
            before: why.account.cut[0].map(|bound| bound.to_string()),
            after: why.account.cut[1].map(|bound| bound.to_string()),
        },
        places: places.collect(),
    }
}

/// The lines of before and after from which on values, or the way, differ.
pub(in crate::report) fn first_difference_lines(
    report: &CheckReport,
    run: &Run,
    correspondence: &Correspondence<'_, '_>,
) -> Option<[Line; 2]> {
    first_difference_of(report, run, correspondence).map(|found| [found.before, found.after])
}

fn first_difference_of(
    report: &CheckReport,
    run: &Run,
    correspondence: &Correspondence<'_, '_>,
) -> Option<FirstDifferenceJson> {
    let types = [&report.before, &report.after].map(|module| Types::of(&module.text));
    let codes = [Code::of(&report.before, &types[0]), Code::of(&report.after, &types[1])];
    let beginning = Beginning::of(report, run, [&codes[0], &codes[1]], correspondence);
    let found = beginning.known()?;
    let text = found.lines.iter().map(|line| line.trim().to_owned()).collect();
    let branch = found.branch.as_ref().map(|Branch { invocation, at, to, sentence }| BranchJson {
        invocation: *invocation,
        before: at[0],
        after: at[1],
        to_before: to[0],
        to_after: to[1],
        text: sentence.clone(),
    });
    Some(FirstDifferenceJson { before: found.at[0], after: found.at[1], text, branch })
}

fn change(change: Change) -> ChangeJson {
    let kind = match change.kind {
        ChangeKind::Ordering => "ordering",
        ChangeKind::Access => "access",
        ChangeKind::Value => "value",
        ChangeKind::Flow => "flow",
        ChangeKind::OwnAccess => "own-access",
        ChangeKind::Interface => "interface",
        ChangeKind::Computation => "computation",
    };
    ChangeJson { kind, before: change.lines_of_before, after: change.lines, sentence: change.sentence }
}

fn loss(loss: &Loss) -> LossJson<'_> {
    LossJson { before: loss.before, after: loss.after, sentence: &loss.sentence }
}

fn parting(parting: &Parting) -> PartingJson<'_> {
    let Parting { line, there, there_to, others, others_to } = parting;
    PartingJson { line: *line, there, there_to: *there_to, others, others_to: *others_to }
}

/// Where lines of a module come from, as far as that is known.
fn places_of(role: Role, module: &Source, mut lines: Vec<Line>) -> impl Iterator<Item = PlaceJson<'_>> {
    lines.sort_unstable();
    lines.dedup();
    lines.into_iter().filter_map(move |line| {
        let Place { file, function, inlined } = module.places.at(line)?;
        Some(PlaceJson {
            module: role.name(),
            line,
            file: file.as_ref().map(|(file, _)| file.as_str()),
            source_line: file.as_ref().map(|(_, line)| *line),
            text: file.as_ref().and_then(|(file, line)| module.places.source(file, *line)),
            function: function.as_deref(),
            inlined: inlined
                .iter()
                .map(|call| CallJson {
                    file: call.at.as_ref().map(|(file, _)| file.as_str()),
                    line: call.at.as_ref().map(|(_, line)| *line),
                    caller: call.caller.as_deref(),
                })
                .collect(),
        })
    })
}

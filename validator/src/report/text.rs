//! Reports as text for a terminal: first the verdict in one line, then what is new, how after gets there, why
//! before forbids it, a diff, and the choices that all of it depends on.

use super::parts::{self, Part};
use super::remarks::{self, input_name};
use super::style::Painter;
use super::words::words;
use super::{brief, choices, factored, json, launches, violation};
use crate::behaviour::{Behaviours, Count, Outcome, PathEnd, Undefined, VolatileAccess};
use crate::check::{CheckReport, Explored};
use crate::compare::{Verdict, ViolationKind};
use crate::dispatch::Dispatch;

/// Outcomes of before that are listed beside a new one, where everything is told.
pub(super) const ALL_OUTCOMES: usize = 1_000;

/// One line: the verdict with everything that qualifies it.
pub fn check_line(report: &CheckReport, painter: Painter) -> String {
    let mut line = match report.verdict {
        Verdict::Violates | Verdict::Error => painter.bad(report.verdict.name()),
        Verdict::Inconclusive | Verdict::Vacuous => painter.warning(report.verdict.name()),
        Verdict::Refines => painter.good(report.verdict.name()),
    };
    // `refines on 9 of 16 inputs; …`
    let partly = report.verdict == Verdict::Refines && report.tried().unfinished().is_some();
    line.push_str(if partly { " " } else { ": " });
    line.push_str(&verdict_reason(report));
    for qualifier in brief::qualifiers(report) {
        line.push_str(&painter.warning(&format!("; {qualifier}")));
    }
    line
}

fn verdict_reason(report: &CheckReport) -> String {
    let decisive = report.decisive();
    match report.verdict {
        Verdict::Violates => match decisive.and_then(|run| Some((run, run.comparison.violation.as_ref()?))) {
            Some((run, violation)) => {
                format!("{}, {} ({})", violation.kind, explain(violation.kind), input_name(report, run))
            }
            None => remarks::reasons(&report.reasons).join("; "),
        },
        Verdict::Refines => {
            let tried = report.tried();
            let vacuous = report.usual().filter(|run| run.comparison.verdict == Verdict::Vacuous).count();
            let mut text = match tried.unfinished() {
                None => {
                    let inputs = counted(tried.inputs, "input");
                    format!("every behaviour of after is one of before, on {inputs}")
                }
                Some(unfinished) => {
                    let (finished, inputs) = (tried.finished, counted(tried.inputs, "input"));
                    format!("on {finished} of {inputs}; {unfinished}: every behaviour of after is one of before there")
                }
            };
            if vacuous > 0 {
                text.push_str(&format!(" (on {vacuous} of them before is undefined)"));
            }
            let others = report.specialisations();
            if others > 0 {
                text.push_str(&format!("; also at {}", counted(others, "other specialisation")));
            }
            if report.same_program {
                text.push_str("; both are the same program but for ids, names and lines");
            }
            text
        }
        Verdict::Vacuous => {
            let reason = decisive.and_then(|run| run.before.behaviours.undefined.first());
            let reason = reason.map_or_else(String::new, |(undefined, _)| format!(" ({})", fault(undefined)));
            let unfinished = report.tried().unfinished();
            let unfinished = unfinished.map_or_else(String::new, |unfinished| format!("; {unfinished}"));
            format!(
                "before is undefined on every input tried{reason}, so that anything is allowed{unfinished}"
            )
        }
        Verdict::Inconclusive | Verdict::Error => {
            let mut reasons = remarks::reasons(&report.reasons);
            reasons.extend(remarks::unsupported(&report.unsupported));
            reasons.extend(decisive.iter().flat_map(|run| &run.comparison.reasons).map(ToString::to_string));
            reasons.dedup();
            if reasons.is_empty() {
                reasons.push("no reason was recorded".to_owned());
            }
            let reasons = reasons.join("; ");
            let tried = report.tried();
            match tried.unfinished() {
                // One that was finished says more.
                Some(unfinished)
                    if tried.inputs > 1
                        && decisive.is_some_and(|run| run.comparison.unfinished.is_some()) =>
                {
                    let inputs = counted(tried.inputs, "input");
                    format!("{} of {inputs} finished; {unfinished}: {reasons}", tried.finished)
                }
                Some(_) | None => reasons,
            }
        }
    }
}

fn explain(kind: ViolationKind) -> &'static str {
    match kind {
        ViolationKind::NewRace => "after has a data race and before has none",
        ViolationKind::NewUndefined => "after has undefined behaviour and before has none",
        ViolationKind::NewOutcome => "after has an outcome that before does not allow",
        ViolationKind::NewHang => "after may never end, which before does not allow",
        ViolationKind::VolatileTrace => "after's volatile accesses are not those of before",
    }
}

pub(super) fn fault(undefined: &Undefined) -> String {
    let mut text = undefined.kind.name().to_owned();
    let mut lines: Vec<String> = undefined.lines.iter().map(ToString::to_string).collect();
    lines.dedup();
    match lines.len() {
        0 => {}
        1 => text.push_str(&format!(", line {}", lines.concat())),
        _ => text.push_str(&format!(", lines {}", lines.join(" and "))),
    }
    text
}

fn counted(number: impl Into<Count>, what: &str) -> String {
    let number = number.into();
    if number == 1 {
        format!("1 {what}")
    } else {
        format!("{number} {what}s")
    }
}

/// Lines of a report with a violation, unless it is told in full.
const MOST_LINES: usize = 60;

/// The report of a check. That of a violation is cut to what is needed; what is left out is counted.
pub fn check(report: &CheckReport, painter: Painter) -> String {
    told(report, false, true, painter)
}

/// The whole report of a check.
pub fn check_in_full(report: &CheckReport, painter: Painter) -> String {
    told(report, true, true, painter)
}

/// The report of a check in a series, which says itself what all its verdicts rest on.
pub fn check_in_series(report: &CheckReport, full: bool, painter: Painter) -> String {
    told(report, full, false, painter)
}

fn told(report: &CheckReport, full: bool, with_choices: bool, painter: Painter) -> String {
    let mut parts = vec![Part { head: vec![check_line(report, painter)], ..Part::default() }];
    let mut most = None;
    if let Some(run) = report.decisive() {
        if let Some((violation, after)) = run.comparison.violation.as_ref().zip(run.after.as_ref()) {
            most = (!full).then_some(MOST_LINES);
            parts.extend(violation::parts(report, run, violation, after, full, painter));
            parts.push(Part { tail: disassembled(report, painter), ..Part::default() });
        }
        let vacuous = match report.verdict {
            Verdict::Vacuous => Some(run),
            Verdict::Refines | Verdict::Inconclusive => report.passed_over_as_vacuous(),
            Verdict::Violates | Verdict::Error => None,
        };
        parts.extend(vacuous.map(|run| races(&run.before, painter)));
    }
    parts.push(Part::of(remarks::lines(report, painter)));
    if report.verdict != Verdict::Error {
        parts.push(Part::of(runs(report, painter)));
        parts.extend(with_choices.then(|| choices::part(&report.choices, painter)));
    }
    parts::text(parts, most)
}

/// Which lines are those of texts that the user does not have.
fn disassembled(report: &CheckReport, painter: Painter) -> Vec<String> {
    let names = match [report.before.is_disassembly, report.after.is_disassembly] {
        [false, false] => return Vec::new(),
        [true, false] => "before are those of its disassembly",
        [false, true] => "after are those of its disassembly",
        [true, true] => "both modules are those of their disassemblies",
    };
    vec![painter.faint(&format!("lines of {names} (--emit-asm DIR writes them)"))]
}

/// Why each undefined behaviour is one, where that can be said.
fn races(explored: &Explored, painter: Painter) -> Part {
    let found = explored.behaviours.undefined.iter();
    let whys = found.filter_map(|(undefined, witness)| explored.why(undefined, witness));
    let lines: Vec<String> = whys.flat_map(|why| indented(&why.to_string(), "  ")).collect();
    match lines.is_empty() {
        true => Part::default(),
        false => Part {
            head: vec![String::new(), painter.heading("Why before is undefined")],
            lines,
            tail: vec![String::new()],
        },
    }
}

pub(super) fn indented(text: &str, indent: &str) -> Vec<String> {
    text.lines().map(|line| format!("{indent}{line}")).collect()
}

/// How much there was to see: one line for all inputs on which that is the same.
fn runs(report: &CheckReport, painter: Painter) -> Vec<String> {
    let launches = &report.choices.launch;
    let several = launches.iter().any(|launch| launch.entry != launches[0].entry);
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for run in &report.runs {
        let side = |explored: &Explored| {
            let end = if explored.behaviours.ends_at_target { " up to the violation" } else { "" };
            let again = if explored.reused { " (not searched again)" } else { "" };
            format!("{}{end}{again}", size(&explored.behaviours))
        };
        let after = run.after.as_ref().map_or_else(|| "not run".to_owned(), side);
        let mut entry = if several { format!("{}: ", run.entry) } else { String::new() };
        if launches::is_one_of_two(launches, &run.entry) {
            entry.push_str(&format!("{}: ", launches::workgroups(run.workgroups())));
        }
        for spec in report.varied_specs(run) {
            entry.push_str(&format!("spec {spec}: "));
        }
        let verdict = run.comparison.verdict;
        let told = format!("{entry}{verdict}; before: {}; after: {after}", side(&run.before));
        match groups.iter_mut().find(|(other, _)| *other == told) {
            Some((_, inputs)) => inputs.push(&run.input.name),
            None => groups.push((told, vec![&run.input.name])),
        }
    }
    let line = |(told, inputs): (String, Vec<&str>)| {
        let plural = if inputs.len() == 1 { "" } else { "s" };
        painter.faint(&format!("input{plural} {}: {told}", inputs.join(", ")))
    };
    groups.into_iter().map(line).collect()
}

/// How much there is.
pub(super) fn size(behaviours: &Behaviours) -> String {
    if !behaviours.undefined.is_empty() {
        return "undefined".to_owned();
    }
    // Others lead to the same.
    let merged = behaviours.paths.ended(PathEnd::SameFuture) + behaviours.paths.ended(PathEnd::StaleTurn);
    let visited = if merged > 0 { " visited" } else { "" };
    format!(
        "{} of {}{visited}",
        counted(behaviours.count(), "outcome"),
        counted(behaviours.executions.clone(), "execution")
    )
}

pub(super) fn completeness(behaviours: &Behaviours) -> String {
    let mut text = String::new();
    if let Some(option) = &behaviours.stopped {
        text.push_str(&format!("; stopped by {option}, so that there may be more"));
    }
    if let Some(option) = &behaviours.bounded {
        text.push_str(&format!("; bounded by {option}"));
    }
    for reason in &behaviours.undecided {
        text.push_str(&format!("; undecided: {reason}"));
    }
    text
}

pub(super) fn outcome_list(explored: &Explored, most: usize, indent: &str) -> Vec<String> {
    let listed = explored.behaviours.first(most);
    let mut lines: Vec<String> = listed
        .iter()
        .flat_map(|outcome| outcome_lines(outcome, &explored.dispatch, indent, &|_| true))
        .collect();
    let more = explored.behaviours.count() - &listed.len().into();
    if more > 0 {
        lines.push(format!("{indent}and {more} more"));
    }
    for permuted in explored.behaviours.factored() {
        lines.extend(factored::text(permuted, &explored.dispatch, indent).lines().map(str::to_owned));
    }
    lines
}

/// An outcome on one line, with those objects of the dispatch that are to be shown, by number, and its volatile traces
/// on one each.
pub(super) fn outcome_lines(
    outcome: &Outcome,
    dispatch: &Dispatch,
    indent: &str,
    is_shown: &dyn Fn(usize) -> bool,
) -> Vec<String> {
    let observed = dispatch.objects.iter().enumerate().filter(|(_, object)| object.observed);
    let memory: Vec<String> = observed
        .zip(&outcome.memory)
        .filter(|((number, _), _)| is_shown(*number))
        .map(|((_, object), bytes)| format!("{} = {}", object.key, words(bytes).join(" ")))
        .collect();
    let mut lines = vec![match memory.is_empty() {
        true => format!("{indent}{}", json::end_name(outcome.end)),
        false => format!("{indent}{}: {}", json::end_name(outcome.end), memory.join(", ")),
    }];
    for (invocation, trace) in outcome.volatile.iter().enumerate() {
        if !trace.is_empty() {
            let trace = trace_text(trace, dispatch);
            lines.push(format!("{indent}  invocation {invocation}, volatile: {trace}"));
        }
    }
    lines
}

pub(super) fn trace_text(trace: &[VolatileAccess], dispatch: &Dispatch) -> String {
    let accesses: Vec<String> = trace
        .iter()
        .map(|access| match access {
            VolatileAccess::One { object, offset, write, atomic, bytes } => {
                let kind = match (write, atomic) {
                    (true, true) => "atomic write",
                    (true, false) => "write",
                    (false, true) => "atomic read",
                    (false, false) => "read",
                };
                let place = json::place(dispatch, *object, *offset);
                format!("{kind} {place} {}", words(bytes).join(" "))
            }
            VolatileAccess::Repeated(iterations) => {
                let ways: Vec<String> = iterations.iter().map(|way| trace_text(way, dispatch)).collect();
                format!("any number of ({})", ways.join(" or "))
            }
        })
        .collect();
    accesses.join(", ")
}

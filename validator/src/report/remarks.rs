//! What a report says besides its results. A message that several inputs, launches or modules give is told once, with
//! the number of those that give it.

use std::collections::BTreeSet;

use super::launches;
use super::style::Painter;
use crate::check::{CheckReport, Reason, Role, Run, UnsupportedConstruct};
use crate::compare::{Comparison, Verdict};
use crate::ir::Line;

/// Lines of one construct that are told before the rest is counted, and specialisations of one reason.
const LISTED: usize = 6;

/// Each message once, in the order in which they come first, with all that give it.
pub(super) fn grouped<M: PartialEq, S>(all: impl IntoIterator<Item = (M, S)>) -> Vec<(M, Vec<S>)> {
    let mut groups: Vec<(M, Vec<S>)> = Vec::new();
    for (message, source) in all {
        match groups.iter_mut().find(|(known, _)| *known == message) {
            Some((_, sources)) => sources.push(source),
            None => groups.push((message, vec![source])),
        }
    }
    groups
}

/// The messages that a report shows as warnings: of its runs, and of the whole. Each is told once.
pub fn warnings(report: &CheckReport) -> Vec<String> {
    let notes = report.runs.iter().flat_map(|run| run.comparison.notes.iter().map(move |note| (note, run)));
    let notes = grouped(notes).into_iter().map(|(note, runs)| format!("{}: {note}", on(report, &runs)));
    notes.chain(repeated(&report.warnings)).collect()
}

/// What `--both-ways` found.
pub(super) fn other_direction(report: &CheckReport) -> Vec<String> {
    let reverse = report.runs.iter().filter_map(|run| Some((reverse_text(run.reverse.as_ref()?), run)));
    let line = |(text, runs): (String, Vec<&Run>)| format!("{}: {text}", on(report, &runs));
    grouped(reverse).into_iter().map(line).collect()
}

/// Texts, each once: `checked at local size 1,1,1 (2 times)`.
pub(super) fn repeated(texts: &[String]) -> Vec<String> {
    let line = |(text, times): (&String, Vec<()>)| match times.len() {
        1 => text.clone(),
        times => format!("{text} ({times} times)"),
    };
    grouped(texts.iter().map(|text| (text, ()))).into_iter().map(line).collect()
}

/// The warnings as lines of a report.
pub(super) fn lines(report: &CheckReport, painter: Painter) -> Vec<String> {
    let warnings = warnings(report).into_iter();
    let warnings = warnings.map(|text| format!("{}: {text}", painter.warning("warning")));
    warnings.chain(other_direction(report)).collect()
}

/// An input with the values of specialisation constants that were chosen for its run.
pub(super) fn input_name(report: &CheckReport, run: &Run) -> String {
    format!("input '{}'{}", run.input.name, launches::specs_text(&report.varied_specs(run)))
}

/// On what: an input by its name, several by their number.
fn on(report: &CheckReport, runs: &[&Run]) -> String {
    if let [run] = runs {
        return input_name(report, run);
    }
    let launches: BTreeSet<usize> = report.runs.iter().map(|run| run.launch).collect();
    match launches.len() {
        1 => format!("on {} of {} inputs", runs.len(), report.runs.len()),
        // Inputs of the same name may be others there.
        _ => format!("in {} of {} runs", runs.len(), report.runs.len()),
    }
}

fn reverse_text(reverse: &Comparison) -> String {
    let text = match (reverse.verdict, &reverse.violation) {
        (Verdict::Violates, _) => "after lost behaviours of before, which is no violation".to_owned(),
        (Verdict::Refines, _) => "after has all behaviours of before".to_owned(),
        (Verdict::Vacuous, _) => "after is undefined, so that it has all behaviours of before".to_owned(),
        (Verdict::Inconclusive | Verdict::Error, _) => {
            let reasons: Vec<String> = reverse.reasons.iter().map(ToString::to_string).collect();
            format!("whether after lost behaviours is not known: {}", reasons.join("; "))
        }
    };
    format!("the other direction (--both-ways): {text}")
}

/// What is not supported, each construct once: `OpFoo is not supported (before, lines 5 and 9; after, line 5)`.
pub(super) fn unsupported(list: &[UnsupportedConstruct]) -> Vec<String> {
    let constructs = grouped(list.iter().map(|item| (item.what.as_str(), (item.module, item.line))));
    let text = |(what, places): (&str, Vec<(Role, Line)>)| {
        let modules = grouped(places).into_iter().map(|(module, lines)| match module {
            Role::Module => lines_text(&lines),
            Role::Before | Role::After => format!("{}, {}", module.name(), lines_text(&lines)),
        });
        format!("{what} is not supported ({})", modules.collect::<Vec<_>>().join("; "))
    };
    constructs.into_iter().map(text).collect()
}

/// `line 5`, `lines 5 and 9`, `lines 5, 6 and 12 more`.
fn lines_text(lines: &[Line]) -> String {
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("{word} {}", listed(&lines.iter().map(ToString::to_string).collect::<Vec<_>>()))
}

/// `a`, `a and b`, `a, b and 12 more`.
pub(super) fn listed(all: &[String]) -> String {
    match all {
        [] => String::new(),
        [one] => one.clone(),
        _ if all.len() > LISTED => {
            let shown = &all[..LISTED];
            format!("{} and {} more", shown.join(", "), all.len() - shown.len())
        }
        [others @ .., last] => format!("{} and {last}", others.join(", ")),
    }
}

/// Why a check is inconclusive, each reason once, with the specialisations that have it.
pub(super) fn reasons(reasons: &[Reason]) -> Vec<String> {
    let each = reasons.iter().map(|reason| match reason {
        Reason::At { specs, reason } => (reason.to_string(), format!("--spec {}", specs.join(" --spec "))),
        other => (other.to_string(), String::new()),
    });
    let text = |(reason, places): (String, Vec<String>)| {
        let places: Vec<String> = places.into_iter().filter(|place| !place.is_empty()).collect();
        match places.is_empty() {
            true => reason,
            false => format!("at {}: {reason}", listed(&places)),
        }
    };
    grouped(each).into_iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_repeats_is_told_once() {
        let texts = ["a", "b", "a", "a"].map(str::to_owned);
        assert_eq!(repeated(&texts), ["a (3 times)", "b"]);
    }

    #[test]
    fn a_construct_is_told_once_with_its_places() {
        let item = |module, line, what: &str| UnsupportedConstruct { module, line, what: what.to_owned() };
        let mut list = vec![item(Role::Before, 5, "OpFoo"), item(Role::Before, 9, "OpFoo")];
        list.extend([item(Role::Before, 6, "OpBar"), item(Role::After, 4, "OpFoo")]);
        let told = ["OpFoo is not supported (before, lines 5 and 9; after, line 4)"];
        assert_eq!(unsupported(&list)[..1], told);
        assert_eq!(unsupported(&list)[1], "OpBar is not supported (before, line 6)");
        let many: Vec<_> = (1..=20).map(|line| item(Role::Module, line, "OpFoo")).collect();
        assert_eq!(unsupported(&many), ["OpFoo is not supported (lines 1, 2, 3, 4, 5, 6 and 14 more)"]);
    }

    #[test]
    fn a_reason_is_told_once_with_its_specialisations() {
        let at = |spec: &str| Reason::At {
            specs: vec![spec.to_owned()],
            reason: Box::new(Reason::LocalSize { entry: "main".into(), sizes: [[1; 3], [2, 1, 1]] }),
        };
        let told = reasons(&[at("3=4"), at("3=5")]);
        let what = "entry point 'main' has local size 1,1,1 in before and 2,1,1 in after";
        assert_eq!(told, [format!("at --spec 3=4 and --spec 3=5: {what}")]);
    }
}

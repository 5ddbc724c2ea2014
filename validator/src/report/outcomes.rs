//! The outcomes of one module as text.

use super::remarks;
use super::style::Painter;
use super::text::{completeness, fault, indented, outcome_lines, size};
use super::{choices, factored};
use crate::behaviour::Outcome;
use crate::check::{Choices, OutcomesReport, OutcomesRun};
use crate::compare::Verdict;
use crate::dispatch::Dispatch;

/// One line for each run: how many outcomes there are.
pub fn line(report: &OutcomesReport) -> String {
    let mut text = String::new();
    for unsupported in remarks::unsupported(&report.unsupported) {
        text.push_str(&format!("{}: {unsupported}\n", report.module.name));
    }
    for untried in &report.untried {
        text.push_str(&format!("{}: {}\n", report.module.name, untried.reason()));
    }
    for OutcomesRun { entry, input, explored, .. } in &report.runs {
        let behaviours = &explored.behaviours;
        let undefined: Vec<String> = behaviours.undefined.iter().map(|(found, _)| fault(found)).collect();
        text.push_str(&format!(
            "{}: {entry}: {} on input '{}'{}{}\n",
            report.module.name,
            size(behaviours),
            input.name,
            if undefined.is_empty() { String::new() } else { format!(": {}", undefined.join("; ")) },
            completeness(behaviours),
        ));
    }
    text
}

/// An outcome on one line, as [`text()`] has it but for the indent: those objects of the dispatch that are to be shown, by
/// number. Its volatile traces follow on one each.
pub fn outcome(outcome: &Outcome, dispatch: &Dispatch, is_shown: &dyn Fn(usize) -> bool) -> Vec<String> {
    outcome_lines(outcome, dispatch, "", is_shown)
}

/// What a result rests on, as the last lines of [`text()`] have it.
pub fn rests_on(choices: &Choices) -> Vec<String> {
    choices::lines(choices)
}

/// The allowed outcomes; with `read_only` also the memory that the module never writes.
pub fn text(report: &OutcomesReport, read_only: bool, painter: Painter) -> String {
    let mut lines = Vec::new();
    let inconclusive = painter.warning(Verdict::Inconclusive.name());
    let untried = report.untried.iter().map(|untried| untried.reason().to_string());
    let missing = remarks::unsupported(&report.unsupported).into_iter().chain(untried);
    lines.extend(missing.map(|reason| format!("{inconclusive}: {reason}")));
    let runs = report.runs.iter().map(|run| (told(run, read_only, painter), run.input.name.as_str()));
    for (told, inputs) in remarks::grouped(runs) {
        let plural = if inputs.len() == 1 { "" } else { "s" };
        let inputs = inputs.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        let Told { entry, size, completeness, body } = told;
        let head = format!("{entry}: {size} on input{plural} {inputs}{completeness}");
        lines.push(painter.heading(&head));
        lines.extend(body);
    }
    if !read_only {
        lines.extend(left_out(&report.runs).map(|line| painter.faint(&line)));
    }
    let warnings = remarks::repeated(&report.warnings).into_iter();
    lines.extend(warnings.map(|warning| format!("{}: {warning}", painter.warning("warning"))));
    lines.extend(choices::lines(&report.choices).iter().map(|line| painter.faint(line)));
    lines.into_iter().map(|line| format!("{line}\n")).collect()
}

/// What is told of a run, once for all inputs of which it is the same.
#[derive(PartialEq)]
struct Told {
    entry: String,
    size: String,
    completeness: String,
    body: Vec<String>,
}

fn told(run: &OutcomesRun, read_only: bool, painter: Painter) -> Told {
    let OutcomesRun { entry, explored, unwritten, .. } = run;
    let behaviours = &explored.behaviours;
    let mut lines = Vec::new();
    for (undefined, witness) in &behaviours.undefined {
        let what = painter.bad("undefined");
        lines.push(format!("  {what}: {}: {}", fault(undefined), undefined.detail));
        if let Some(why) = explored.why(undefined, witness) {
            lines.extend(indented(&why.to_string(), "    "));
        }
    }
    let is_shown = |object: usize| read_only || !unwritten.contains(&object);
    for (outcome, _) in behaviours.listed() {
        lines.extend(outcome_lines(outcome, &explored.dispatch, "  ", &is_shown));
    }
    for permuted in behaviours.factored() {
        lines.extend(outcome_lines(&permuted.first, &explored.dispatch, "  ", &is_shown));
        lines.extend(factored::text(permuted, &explored.dispatch, "  ").lines().map(str::to_owned));
    }
    let (size, completeness) = (size(behaviours), completeness(behaviours));
    Told { entry: entry.clone(), size, completeness, body: lines }
}

/// What is left out of the outcomes, once for all runs that leave out the same.
fn left_out(runs: &[OutcomesRun]) -> impl Iterator<Item = String> + use<> {
    let hidden = runs.iter().filter_map(|run| {
        let OutcomesRun { entry, explored, unwritten, .. } = run;
        let objects = explored.dispatch.objects.iter().enumerate();
        let observed = objects.filter(|(number, object)| object.observed && unwritten.contains(number));
        let keys: Vec<String> = observed.map(|(_, object)| object.key.clone()).collect();
        let has_outcomes =
            !explored.behaviours.listed().is_empty() || explored.behaviours.factored().next().is_some();
        (has_outcomes && !keys.is_empty()).then(|| (keys, entry.clone()))
    });
    let groups = remarks::grouped(hidden);
    let several = groups.len() > 1;
    groups.into_iter().map(move |(keys, mut entries)| {
        entries.dedup();
        let of = if several { format!(" of {}", entries.join(", ")) } else { String::new() };
        let them = if keys.len() == 1 { "it" } else { "them" };
        format!(
            "not shown{of}: {}, which the module never writes (--read-only shows {them})",
            keys.join(", ")
        )
    })
}

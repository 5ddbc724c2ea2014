//! The page of a check.

use maud::{html, Markup};

use super::graphs::graphs;
use super::modules::{side_by_side, Pair};
use super::page::{page, Budget, Section};
use super::{Extent, Replay};
use crate::check::{CheckReport, Choices};
use crate::compare::Verdict;
use crate::report::exhibits::{self, PLAIN};
use crate::report::witness::Scene;
use crate::report::{choices, text};

/// Runs with a violation that a page shows.
const MOST_RUNS: usize = 3;

/// The page.
pub fn check(report: &CheckReport, extent: &Extent) -> String {
    let mut budget = Budget::new();
    let sections = sections(report, extent, &mut budget, "");
    let line = text::check_line(report, PLAIN);
    let title = format!("{}: {} → {}", report.verdict.name(), report.before.name, report.after.name);
    page(&title, &headline(report.verdict, &line), &sections, &budget.left_out)
}

/// A verdict's line, with the word of the verdict marked.
fn headline(verdict: Verdict, line: &str) -> Markup {
    let rest = line.strip_prefix(verdict.name()).unwrap_or(line);
    html! { span.bad[verdict == Verdict::Violates] { (verdict.name()) } (rest) }
}

/// What there is to say of a check; ids begin with `prefix`.
pub(super) fn sections(
    report: &CheckReport,
    extent: &Extent,
    budget: &mut Budget,
    prefix: &str,
) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut push = |id: &str, heading: &str, body: Markup| {
        let (id, heading) = (format!("{prefix}{id}"), heading.to_owned());
        sections.push(Section { id, heading, body });
    };
    let told = match extent.full {
        true => text::check_in_full(report, PLAIN),
        false => text::check(report, PLAIN),
    };
    // What is small comes first, the pictures have what is left.
    let told = budget.text("the text report", 30, &told);
    let choices = budget.first_of("choices", 30, std::iter::once(choices_list(&report.choices)));
    let replay = replay(&extent.replay, budget);
    let [before, after] = report.compared_texts();
    let pair = Pair { before: (&report.before.name, before), after: (&report.after.name, after) };
    let modules = side_by_side(&pair, budget, 35);
    for (number, (heading, body)) in executions(report, extent, budget).into_iter().enumerate() {
        push(&format!("execution{number}"), &heading, body);
    }
    push("report", "Report", told);
    let parts = [("modules", "Modules", modules), ("choices", "Choices and launch", choices)];
    for (id, heading, body) in parts.into_iter().chain([("replay", "Replay", replay)]) {
        body.into_iter().for_each(|body| push(id, heading, body));
    }
    sections
}

pub(super) fn choices_list(choices: &Choices) -> Markup {
    html! { ul { @for line in choices::lines(choices) { li { (line) } } } }
}

/// How the result is found again, where that is known and fits.
pub(super) fn replay(replay: &Replay, budget: &mut Budget) -> Option<Markup> {
    if replay.is_empty() {
        return None;
    }
    let markup = html! {
        @if !replay.given.is_empty() {
            p { "The command of this page:" }
            pre { code { (replay.given) } }
        }
        @if let Some(alone) = &replay.violation {
            p { "The first violation alone, with every choice:" }
            pre { code { (alone.command) } }
            p { code { "launch.toml" } ":" }
            pre { code { (alone.launch) } }
            @if !alone.files.is_empty() {
                p { "Files of the launch that are not on this page: " (alone.files.join(", ")) "." }
            }
        }
    };
    budget.first_of("how to replay it", 30, std::iter::once(markup))
}

/// Headings and pictures of the executions that decided.
fn executions(report: &CheckReport, extent: &Extent, budget: &mut Budget) -> Vec<(String, Markup)> {
    let mut shown = Vec::new();
    let is_over = || extent.is_over();
    let runs = exhibits::violating(report);
    for (number, (run, violation, after)) in runs.iter().take(MOST_RUNS).enumerate() {
        let share = 98 / (runs.len().min(MOST_RUNS) - number);
        let heading = format!("{} on input {}", violation.kind, run.input.name);
        let why = run.why.text.as_ref().map(|why| {
            let told = budget.text("why before does not", 90, why);
            html! { h3 { "Why before does not" } (told) }
        });
        let pictures = exhibits::with_violation(report, (run, violation, after), &is_over, |exhibits| {
            graphs(exhibits, budget, share, &is_over)
        });
        shown.extend(
            pictures.map(|pictures| (heading, html! { (pictures) @if let Some(why) = why { (why) } })),
        );
    }
    if runs.len() > MOST_RUNS {
        budget.left_out.push(format!("the executions of {} more runs that violate", runs.len() - MOST_RUNS));
    }
    let undefined = exhibits::vacuous(report);
    let undefined = undefined.and_then(|run| Some((run, run.before.behaviours.undefined.first()?)));
    if let Some((run, (undefined, witness))) = undefined {
        let scene = Scene::of(&run.before.dispatch, &report.before, false, PLAIN);
        let exhibit = exhibits::undefined("Before", undefined, witness, &scene, &is_over);
        shown.push(("Why before is undefined".to_owned(), graphs(&[exhibit], budget, 98, &is_over)));
    }
    shown
}

//! The page of the outcomes of a module.

use maud::{html, Markup};

use super::check::{choices_list, replay};
use super::graphs::graphs;
use super::page::{page, Budget, Section};
use super::Extent;
use crate::check::{OutcomesReport, OutcomesRun};
use crate::report::exhibits::{self, Exhibit, PLAIN};
use crate::report::picture::Agents;
use crate::report::witness::Scene;
use crate::report::{outcomes, text};

/// Outcomes of a run that are shown with an execution.
const MOST_OUTCOMES: usize = 12;

/// Runs whose executions are shown.
const MOST_RUNS: usize = 6;

/// The page.
pub fn outcomes(report: &OutcomesReport, extent: &Extent) -> String {
    let mut budget = Budget::new();
    let told = budget.text("the text report", 30, &outcomes::text(report, false, PLAIN));
    let replay = replay(&extent.replay, &mut budget);
    let mut sections = Vec::new();
    for (number, run) in report.runs.iter().take(MOST_RUNS).enumerate() {
        let heading = format!("{} on input {}", run.entry, run.input.name);
        let share = 100 / (report.runs.len().min(MOST_RUNS) - number);
        let mut part = budget.part(share);
        let body = executions(report, run, extent, &mut part);
        budget.join(part, &heading);
        sections.push(Section { id: format!("run{number}"), heading, body });
    }
    if report.runs.len() > MOST_RUNS {
        budget.left_out.push(format!("the executions of {} more runs", report.runs.len() - MOST_RUNS));
    }
    let section =
        |id: &str, heading: &str, body| Section { id: id.to_owned(), heading: heading.to_owned(), body };
    sections.push(section("report", "Report", told));
    sections.push(section("choices", "Choices and launch", choices_list(&report.choices)));
    sections.extend(replay.map(|body| section("replay", "Replay", body)));
    let line = outcomes::line(report);
    let title = format!("outcomes of {}", report.module.name);
    let head = html! { @for line in line.lines().take(MOST_RUNS) { (line) br; } };
    page(&title, &head, &sections, &budget.left_out)
}

/// The undefined behaviours of a run, then the first outcomes.
fn executions(report: &OutcomesReport, run: &OutcomesRun, extent: &Extent, budget: &mut Budget) -> Markup {
    let behaviours = &run.explored.behaviours;
    let scene = Scene::of(&run.explored.dispatch, &report.module, false, PLAIN);
    let is_over = || extent.is_over();
    let mut shown = Vec::new();
    for (undefined, witness) in behaviours.undefined.iter().take(MOST_OUTCOMES) {
        let exhibit = exhibits::undefined("undefined", undefined, witness, &scene, &is_over);
        let heading = exhibit.title.clone();
        shown.push((heading, graphs(&[exhibit], budget, 50, &is_over)));
    }
    let outcomes = exhibits::outcomes(behaviours, MOST_OUTCOMES);
    for (number, example) in (1..).zip(&outcomes) {
        let (outcome, witness) = &**example;
        let told = text::outcome_lines(outcome, &run.explored.dispatch, "", &|_| true);
        let title = format!("Outcome {number}");
        let mut exhibit = Exhibit::plain(title, witness, &scene, Agents::Invocations, &is_over);
        exhibit.caption = match witness.executions {
            1 => "The execution that ends so.".to_owned(),
            several => format!("The first of {several} executions that end so."),
        };
        let heading = told.first().map_or_else(String::new, |told| cut(told));
        let share = 100 / (outcomes.len() + 2 - number).max(2);
        shown.push((heading, graphs(&[exhibit], budget, share, &is_over)));
    }
    let undefined = behaviours.undefined.len().saturating_sub(MOST_OUTCOMES);
    if undefined > 0 {
        budget.left_out.push(format!("the executions of {undefined} more undefined behaviours"));
    }
    let more = behaviours.count() - &outcomes.len().into();
    if more > 0 {
        budget.left_out.push(format!("the executions of {more} more outcomes"));
    }
    html! { @for (heading, graph) in shown { h3 { code { (heading) } } (graph) } }
}

/// A heading of one line.
fn cut(text: &str) -> String {
    match text.char_indices().nth(180) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

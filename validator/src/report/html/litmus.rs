//! The page of litmus tests.

use maud::{html, Markup};

use super::check::replay;
use super::graphs::graphs;
use super::page::{page, Budget, Section};
use super::Extent;
use crate::litmus::Told;
use crate::report::exhibits::{Exhibit, PLAIN};
use crate::report::litmus::{self, Fate, LitmusReport, Solved};
use crate::report::picture::Agents;
use crate::report::witness::Scene;

/// Files whose executions are shown.
const MOST_FILES: usize = 24;

/// Final states of a file that are shown with an execution.
pub const MOST_STATES: usize = 8;

/// The page.
pub fn litmus(report: &LitmusReport, extent: &Extent) -> String {
    let mut budget = Budget::new();
    let text = litmus::text(report, false, PLAIN);
    let told = budget.text("the text report", 30, &text);
    let answered: Vec<(&str, &Solved)> = report
        .files
        .iter()
        .filter_map(|file| match &file.fate {
            Fate::Answered(solved) => Some((file.file.as_str(), &**solved)),
            Fate::Unreadable(_) | Fate::Malformed(_) | Fate::Unsupported(_) | Fate::Bug(_) => None,
        })
        .collect();
    let mut sections = Vec::new();
    for (number, (file, solved)) in answered.iter().take(MOST_FILES).enumerate() {
        let share = 100 / (answered.len().min(MOST_FILES) - number);
        let mut part = budget.part(share);
        let body = executions(solved, extent, &mut part);
        budget.join(part, file);
        sections.push(Section { id: format!("file{number}"), heading: (*file).to_owned(), body });
    }
    if answered.len() > MOST_FILES {
        budget.left_out.push(format!("the executions of {} more files", answered.len() - MOST_FILES));
    }
    let errors: Vec<String> = report.files.iter().filter_map(litmus::FileReport::error).collect();
    let body = html! { @for error in &errors { p { b { "error" } ": " (error) } } (told) };
    sections.push(Section { id: "report".to_owned(), heading: "Report".to_owned(), body });
    let body = replay(&extent.replay);
    sections.push(Section { id: "replay".to_owned(), heading: "Replay".to_owned(), body });
    let headline = text.lines().last().unwrap_or_default();
    page(&format!("litmus: {headline}"), &html! { (headline) }, &sections, &budget.left_out)
}

/// The test, what decided its expectations, and its final states.
fn executions(solved: &Solved, extent: &Extent, budget: &mut Budget) -> Markup {
    let Solved { source, test, answer } = solved;
    let is_over = || extent.is_over();
    let text = budget.text("the test", 40, &source.text);
    let decided = answer.expectations.iter().filter_map(|checked| {
        let expectation = &test.expectations[checked.index];
        let decides = if checked.found == checked.expected { "as expected" } else { "a surprise" };
        Some((format!("{} ({decides})", expectation.text), String::new(), checked.witness.as_ref()?))
    });
    let states = answer.examples.iter().map(|example| {
        let values = example.state.iter().map(|(name, value)| format!("{name}={value}"));
        (
            values.collect::<Vec<String>>().join("; "),
            "An execution that ends in this state.".to_owned(),
            &example.told,
        )
    });
    let all: Vec<(String, String, &Told)> = decided.chain(states).collect();
    let mut shown = Vec::new();
    for (number, (heading, caption, told)) in all.iter().enumerate() {
        let scene = Scene::of(&told.dispatch, source, false, PLAIN);
        let title = format!("Execution {}", number + 1);
        let mut exhibit = Exhibit::plain(title, &told.witness, &scene, Agents::Threads, &is_over).racy(&[]);
        exhibit.caption.clone_from(caption);
        let share = 100 / (all.len() - number + 1).max(2);
        shown.push((heading, graphs(&[exhibit], budget, share, &is_over)));
    }
    let more = answer.example_count.saturating_sub(answer.examples.len());
    if more > 0 {
        budget.left_out.push(format!("the executions of {more} more final states"));
    }
    let why = answer.expectations.iter().filter_map(|checked| {
        let why = checked.why.as_ref()?;
        Some(format!("{}: {why}", test.expectations[checked.index].text))
    });
    let why: Vec<String> = why.collect();
    html! {
        details { summary { "The test" } (text) }
        @for why in why { pre { (why) } }
        @for (heading, graph) in shown { h3 { code { (heading) } } (graph) }
    }
}

//! The page of litmus tests.

use maud::{html, Markup};

use super::check::replay;
use super::graphs::graphs;
use super::page::{page, Budget, Section};
use super::Extent;
use crate::litmus::{Example, Told};
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
    let replay = replay(&extent.replay, &mut budget);
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
    let section = |body| Section { id: "replay".to_owned(), heading: "Replay".to_owned(), body };
    sections.extend(replay.map(section));
    let headline = text.lines().last().unwrap_or_default();
    page(&format!("litmus: {headline}"), &html! { (headline) }, &sections, &budget.left_out)
}

/// An execution of a test.
struct Shown<'a> {
    heading: String,
    caption: String,
    told: &'a Told,
    /// It is none.
    is_forbidden: bool,
}

impl<'a> Shown<'a> {
    fn of_state(example: &'a Example) -> Shown<'a> {
        let values = example.state.iter().map(|(name, value)| format!("{name}={value}"));
        let heading = values.collect::<Vec<String>>().join("; ");
        let caption = "The first execution that ends in this state.".to_owned();
        Shown { heading, caption, told: &example.told, is_forbidden: false }
    }
}

/// The test, what decided its expectations, and its final states.
fn executions(solved: &Solved, extent: &Extent, budget: &mut Budget) -> Markup {
    let Solved { source, test, answer } = solved;
    let is_over = || extent.is_over();
    let text = budget.text("the test", 40, &source.text);
    let mut shown: Vec<Shown<'_>> = answer.examples.iter().map(Shown::of_state).collect();
    for checked in &answer.expectations {
        let text = &test.expectations[checked.index].text;
        let fate = if checked.is_met() { "as expected" } else { "a surprise" };
        let decides = format!("It decides “{text}” ({fate}).");
        if let Some(told) = &checked.witness {
            match shown.iter_mut().find(|other| other.told.witness == told.witness) {
                Some(known) => known.caption = format!("{} {decides}", known.caption),
                None => {
                    shown.push(Shown { heading: text.clone(), caption: decides, told, is_forbidden: false })
                }
            }
        }
        if let Some(told) = &checked.forbidden {
            let caption = "It would meet the condition.".to_owned();
            shown.push(Shown { heading: text.clone(), caption, told, is_forbidden: true });
        }
    }
    let mut graphs_of = Vec::new();
    for (number, Shown { heading, caption, told, is_forbidden }) in shown.iter().enumerate() {
        let scene = Scene::of(&told.dispatch, source, false, PLAIN);
        let title = format!("Execution {}", number + 1);
        let exhibit = Exhibit::plain(title, &told.witness, &scene, Agents::Threads, &is_over);
        let mut exhibit = if *is_forbidden { exhibit.forbidden() } else { exhibit.racy(&[]) };
        exhibit.caption = format!("{caption} {}", exhibit.caption).trim().to_owned();
        let share = 100 / (shown.len() - number + 1).max(2);
        graphs_of.push((heading, graphs(&[exhibit], budget, share, &is_over)));
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
        @for (heading, graph) in graphs_of { h3 { code { (heading) } } (graph) }
    }
}

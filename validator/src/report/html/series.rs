//! The page of a series of checks, as of the steps of `opt`.

use maud::html;

use super::check::{choices_list, replay, sections};
use super::page::{page, Budget, Section};
use super::Extent;
use crate::check::{CheckReport, Choices};
use crate::compare::Verdict;
use crate::report::exhibits::PLAIN;
use crate::report::text;

/// A page that steps are added to as they are known.
pub struct Series {
    budget: Budget,
    /// For each step with something to say: what it is called, and its sections.
    steps: Vec<(String, Vec<Section>)>,
    choices: Option<Choices>,
}

impl Default for Series {
    fn default() -> Self {
        Series { budget: Budget::new(), steps: Vec::new(), choices: None }
    }
}

/// A row of the table of steps: its cells.
pub type Row = Vec<String>;

impl Series {
    /// Adds a step, if there is something to say about it: a verdict that is neither `refines` nor `vacuous`.
    pub fn add(&mut self, name: &str, report: &CheckReport, extent: &Extent) {
        self.choices.get_or_insert_with(|| report.choices.clone());
        if matches!(report.verdict, Verdict::Refines | Verdict::Vacuous) {
            return;
        }
        let mut part = self.budget.part(50);
        let prefix = format!("step{}-", self.steps.len());
        let mut sections = sections(report, extent, &mut part, &prefix);
        if let Some(first) = sections.first_mut() {
            first.body = html! { p { (text::check_line(report, PLAIN)) } (first.body) };
        }
        self.budget.join(part, name);
        let heading = format!("{name}: {}", report.verdict.name());
        self.steps.push((heading, sections));
    }

    /// Adds a step that has no result, for this reason.
    pub fn note(&mut self, name: &str, error: &str) {
        self.steps.push((format!("{name}: error: {error}"), Vec::new()));
    }

    /// The page, with the table of all steps (its first row has the names of the columns) and what follows from it.
    pub fn page(mut self, title: &str, rows: &[Row], remarks: &[String], extent: &Extent) -> String {
        let table = html! {
            table {
                caption { "The passes in their order. Each was compared with the module that it was given." }
                @for (number, row) in rows.iter().enumerate() {
                    tr {
                        @for cell in row {
                            @if number == 0 { th scope="col" { (cell) } }
                            @else if cell == Verdict::Violates.name() { td { b.bad { (cell) } } }
                            @else { td { (cell) } }
                        }
                    }
                }
            }
            @for remark in remarks { p { (remark) } }
        };
        let table =
            self.budget.first_of("the table of steps", 90, std::iter::once(table)).unwrap_or_default();
        let section =
            |id: &str, heading: &str, body| Section { id: id.to_owned(), heading: heading.to_owned(), body };
        let mut all = vec![section("steps", "Steps", table)];
        for (number, (heading, sections)) in self.steps.into_iter().enumerate() {
            let body = html! {
                @for Section { id, heading, body } in sections {
                    section aria-labelledby=(id) { h3 id=(id) { (heading) } (body) }
                }
            };
            all.push(section(&format!("step{number}"), &heading, body));
        }
        if let Some(choices) = &self.choices {
            all.push(section("choices", "Choices and launch of the first step", choices_list(choices)));
        }
        let replay = replay(&extent.replay, &mut self.budget);
        all.extend(replay.map(|body| section("replay", "Replay", body)));
        page(title, &html! { (title) }, &all, &self.budget.left_out)
    }
}

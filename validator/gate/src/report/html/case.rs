//! The page of a case.

use maud::{html, Markup};

use super::page::{page, short, status};
use super::REPORT;
use crate::report::words::{cut, pass};
use crate::results::{Judgement, Results};

/// Links from the page of a case to what was saved of it, where that is there.
#[derive(Default)]
pub(super) struct Saved {
    /// The folder.
    pub(super) folder: Option<String>,
    /// The page with pictures in it.
    pub(super) page: Option<String>,
}

/// The page of a case, with links to what was saved of it. `left` is how many bytes of
/// reports all pages may still have.
pub(super) fn case(results: &Results, case: &Judgement, saved: &Saved, left: &mut usize) -> String {
    let record = &case.record;
    let name = short(&record.case);
    let place = record.file.as_ref().map(|file| match record.line {
        Some(line) if record.is_text => format!("{file}:{line}"),
        Some(line) => format!("{file}, line {line} of its disassembly"),
        None => file.clone(),
    });
    let earlier: Vec<&str> = record.earlier.iter().map(|status| status.name()).collect();
    let seconds = match record.optimizer_seconds {
        none if none <= 0.0 => format!("{:.1} s", record.seconds),
        optimizer => format!("{:.1} s, of which the optimiser took {optimizer:.1} s", record.seconds),
    };
    let facts = [
        ("Why", Some(record.detail.clone())),
        ("Meaning", Some(results.meaning(record.status).to_owned())),
        ("Bucket", record.bucket.as_ref().map(ToString::to_string)),
        ("Pass", pass(record).map(str::to_owned)),
        ("Expected", case.expected.clone()),
        ("Note", case.note.clone()),
        ("Where", place),
        ("Earlier attempts", Some(earlier.join(", "))),
        ("Inputs", (record.inputs > 0).then(|| record.inputs.to_string())),
        ("Time", Some(seconds)),
        ("From a cache", record.cached.then(|| "yes".to_owned())),
    ];
    let body = html! {
        nav aria-label="Pages" { a href="index.html" { "All cases" } }
        header { h1 { (name) ": " (status(case)) } }
        main {
            table.facts {
                @for (what, value) in facts {
                    @if let Some(value) = value.filter(|value| !value.is_empty()) {
                        tr { th scope="row" { (what) } td { (short(&value)) } }
                    }
                }
                @if let Some(folder) = &record.saved {
                    tr { th scope="row" { "Saved in" } td {
                        @match &saved.folder {
                            Some(link) => a href=(link) { (short(folder)) },
                            None => { (short(folder)) ", which is not there" },
                        }
                    } }
                }
                @if let Some(page) = &saved.page {
                    tr { th scope="row" { "Pictures" } td { a href=(page) { "the page of this case" } } }
                }
            }
            (report(record.report.as_deref(), left))
        }
    };
    page(&format!("{name}: {}", case.judged), &body, "")
}

fn report(report: Option<&str>, left: &mut usize) -> Markup {
    html! {
        h2 id="report" { "Report" }
        @match report {
            Some(report) => pre { (visible(&cut(report, REPORT, left))) },
            None => p { "There is no report of this case." },
        }
    }
}

/// Control characters are spelled out, but for the ends of lines and tabs.
fn visible(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            '\r' => {}
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
}

//! The page of the whole run.

use std::collections::BTreeMap;

use maud::{html, Markup};

use super::page::{group, page, short, status};
use super::{has_page, page_of};
use crate::report::words::{about, count, kind, meaning, outcome, pass};
use crate::results::{Judgement, Remark, Results};
use crate::status::Class;

const SCRIPT: &str = include_str!("table.js");

/// Rows of tables beside that of the cases.
const ENTRIES: usize = 100;

/// Switches of the table: a class of rows, and what it is called.
const GROUPS: [(&str, &str); 5] = [
    ("unexpected", "unexpected"),
    ("expected", "bad, as expected"),
    ("undecided", "undecided"),
    ("good", "passed"),
    ("not-run", "not run"),
];

/// The index, with these of the cases in its table.
pub(super) fn index(results: &Results, rows: &[&Judgement]) -> String {
    let title = if results.is_good() { "spirv-tv gate: passed" } else { "spirv-tv gate: failed" };
    let body = html! {
        header {
            h1 { (title) }
            p { (outcome(results)) }
            (remarks(results.remarks.iter().filter(|remark| remark.fails)))
        }
        nav aria-label="Contents" {
            ul {
                li { a href="#failures" { "What failed" } }
                li { a href="#counts" { "Counts" } }
                li { a href="#cases" { "Cases" } }
                li { a href="#about" { "About this run" } }
            }
        }
        main {
            section aria-labelledby="failures" { h2 id="failures" { "What failed" } (failures(results, rows)) }
            section aria-labelledby="counts" { h2 id="counts" { "Counts" } (counts(results)) }
            section aria-labelledby="cases" { h2 id="cases" { "Cases" } (cases(results, rows)) }
            section aria-labelledby="about" {
                h2 id="about" { "About this run" }
                table.facts {
                    @for (name, value) in about(results) { tr { th scope="row" { (name) } td { (short(&value)) } } }
                }
                (remarks(results.remarks.iter().filter(|remark| !remark.fails)))
            }
        }
    };
    page(title, &body, SCRIPT)
}

fn remarks<'r>(remarks: impl Iterator<Item = &'r Remark>) -> Markup {
    let remarks: Vec<&Remark> = remarks.collect();
    html! {
        @if !remarks.is_empty() {
            ul {
                @for remark in remarks.iter().take(ENTRIES) { li { (short(&remark.text)) } }
                @if remarks.len() > ENTRIES { li { (count(remarks.len() - ENTRIES, "remark")) " more" } }
            }
        }
    }
}

/// The buckets of unexpected failures.
fn failures(results: &Results, rows: &[&Judgement]) -> Markup {
    let buckets = results.buckets();
    let is_shown = |case: &Judgement| rows.iter().any(|row| std::ptr::eq(*row, case));
    html! {
        @if buckets.is_empty() { p { "Nothing failed that was not expected to." } }
        @else {
            div.wide {
                table {
                    thead {
                        tr { th.n scope="col" { "Cases" } th scope="col" { "Bucket" } th scope="col" { "First case" } th scope="col" { "Why" } }
                    }
                    tbody {
                        @for (bucket, cases, first) in buckets.iter().take(ENTRIES) {
                            tr {
                                td.n { (cases) } td { code { (short(bucket)) } }
                                td { (name(first, is_shown(first))) } td { (short(&first.record.detail)) }
                            }
                        }
                    }
                }
            }
            @if buckets.len() > ENTRIES {
                p.faint { (count(buckets.len() - ENTRIES, "bucket")) " more are in " code { "failures.csv" } "." }
            }
        }
    }
}

/// Cases by status, bad ones by pass and by kind.
fn counts(results: &Results) -> Markup {
    let bad = || results.cases.iter().filter(|case| case.record.status.class() == Class::Bad);
    html! {
        div.beside {
            table {
                caption { "By status" }
                thead { tr { th.n scope="col" { "Cases" } th scope="col" { "Status" } th scope="col" { "Meaning" } } }
                tbody {
                    @for (status, cases) in results.counts() {
                        tr { td.n { (cases) } td { (status) } td.faint { (meaning(results, &status)) } }
                    }
                }
            }
            (tally("By pass", "Pass", bad().map(|case| (pass(&case.record).unwrap_or("unknown"), case.unexpected))))
            (tally("By kind", "Kind", bad().map(|case| (kind(&case.record), case.unexpected))))
        }
    }
}

/// How many bad cases there are of each name, and how many of them are unexpected; the most frequent first.
fn tally<'n>(caption: &str, what: &str, names: impl Iterator<Item = (&'n str, bool)>) -> Markup {
    let mut tally: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (name, unexpected) in names {
        let entry = tally.entry(name).or_default();
        entry.0 += 1;
        entry.1 += usize::from(unexpected);
    }
    let mut tally: Vec<(&str, (usize, usize))> = tally.into_iter().collect();
    tally.sort_by(|(name, (bad, _)), (other, (of_other, _))| of_other.cmp(bad).then(name.cmp(other)));
    html! {
        @if !tally.is_empty() {
            table {
                caption { (caption) }
                thead { tr { th.n scope="col" { "Bad" } th.n scope="col" { "Unexpected" } th scope="col" { (what) } } }
                tbody {
                    @for (name, (bad, unexpected)) in tally.iter().take(ENTRIES) {
                        tr { td.n { (bad) } td.n { (unexpected) } td { (short(name)) } }
                    }
                    @if tally.len() > ENTRIES { tr { td {} td {} td.faint { (tally.len() - ENTRIES) " more" } } }
                }
            }
        }
    }
}

fn cases(results: &Results, rows: &[&Judgement]) -> Markup {
    html! {
        @if rows.len() < results.cases.len() {
            p {
                (rows.len()) " of " (count(results.cases.len(), "case")) " are in this table, the unexpected ones first; all are in "
                code { "results.csv" } "."
            }
        }
        div.cases {
            fieldset {
                legend { "Show" }
                @for (group, words) in GROUPS {
                    label { input type="checkbox" class={ "s-" (group) } checked; (words) }
                }
            }
            p #tools hidden {
                label { "Rows that contain " input #filter type="search" autocomplete="off"; }
                " " output #told for="filter" {}
            }
            div.wide {
                table #table {
                    thead {
                        tr {
                            th scope="col" { "Case" } th scope="col" { "Status" } th scope="col" { "Expected" }
                            th scope="col" { "Bucket" } th.n scope="col" { "Seconds" } th scope="col" { "Why" }
                        }
                    }
                    tbody { @for case in rows { (row(case)) } }
                }
            }
        }
    }
}

fn row(case: &Judgement) -> Markup {
    let record = &case.record;
    html! {
        tr class=(group(case)) {
            td { (name(case, true)) }
            td { (status(case)) }
            td { (short(case.expected.as_deref().unwrap_or_default())) }
            td { @if let Some(bucket) = &record.bucket { code { (short(&bucket.0)) } } }
            td.n { (format!("{:.1}", record.seconds)) }
            td { (short(&record.detail)) }
        }
    }
}

/// A case's name, with a link where there is a page of it.
fn name(case: &Judgement, is_shown: bool) -> Markup {
    let name = short(&case.record.case);
    html! {
        @if is_shown && has_page(case) { a href=(page_of(case)) { (name) } } @else { (name) }
    }
}

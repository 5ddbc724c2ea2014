//! What `gate` prints.

use std::ffi::OsString;
use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressStyle};
use spirv_tv_gate::expectation::Verdict;
use spirv_tv_gate::{Class, Judged, Judgement, Record, Results, Status};

use super::arguments::{GateArguments, GateFormat, ReportArguments};
use crate::{painter, print, CliError, ColorChoice};
use spirv_tv::report::Painter;

/// Unexpected cases that are listed at the end.
const LISTED: usize = 20;

/// Reports that are printed.
const REPORTS: usize = 1;

/// What is told while cases run.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    format: GateFormat,
    painter: Painter,
    unexpected: usize,
    /// With `--bless` nothing is unexpected.
    is_blessed: bool,
}

impl Progress {
    /// Of `all` cases so many are `done`.
    pub(super) fn new(arguments: &GateArguments, all: usize, done: usize) -> Progress {
        let wanted = match arguments.reports.color {
            ColorChoice::Never => false,
            ColorChoice::Auto | ColorChoice::Always => io::stderr().is_terminal(),
        };
        let bar = wanted.then(|| {
            let bar = ProgressBar::new(u64::try_from(all).unwrap_or(u64::MAX));
            let template = "{elapsed} [{bar:30}] {pos}/{len} {wide_msg}";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style.progress_chars("=> "));
            }
            bar.set_position(u64::try_from(done).unwrap_or(u64::MAX));
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
            bar
        });
        Progress {
            bar,
            format: arguments.reports.format,
            painter: painter(arguments.reports.color),
            unexpected: 0,
            is_blessed: arguments.expectations.bless,
        }
    }

    /// A case is done. What is unexpected is told at once.
    pub(super) fn add(&mut self, record: &Record, verdict: &Verdict) -> Result<(), CliError> {
        self.unexpected += usize::from(verdict.unexpected);
        if let Some(bar) = &self.bar {
            bar.inc(1);
            let unexpected = match self.unexpected {
                0 => String::new(),
                count => format!("{count} unexpected; "),
            };
            bar.set_message(format!("{unexpected}{}", record.case));
        }
        let text = match self.format {
            GateFormat::Json | GateFormat::Jsonl => object(record, verdict.judged, verdict.unexpected)?,
            GateFormat::Text if verdict.unexpected && !self.is_blessed => line(record, verdict, self.painter),
            GateFormat::Text => return Ok(()),
        };
        match &self.bar {
            Some(bar) => bar.suspend(|| print(&text)),
            None => print(&text),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A record as a line of JSON, with what it is judged as.
fn object(record: &Record, judged: Judged, unexpected: bool) -> Result<String, CliError> {
    let fields = serde_json::to_value(record).map_err(|error| CliError::Output(error.into()))?;
    let mut value = serde_json::json!({ "schema": "spirv-tv.gate/1" });
    if let (Some(map), serde_json::Value::Object(fields)) = (value.as_object_mut(), fields) {
        map.extend(fields);
        map.insert("judged".to_owned(), judged.to_string().into());
        map.insert("unexpected".to_owned(), unexpected.into());
    }
    Ok(format!("{value}\n"))
}

/// A case on one line, with what is known of it.
fn line(record: &Record, verdict: &Verdict, painter: Painter) -> String {
    let name = verdict.judged.to_string();
    let name = match record.status.class() {
        Class::Bad => painter.bad(&name),
        Class::Undecided => painter.warning(&name),
        Class::Good | Class::NotRun => painter.good(&name),
    };
    let bucket = record.bucket.as_ref().map_or_else(String::new, |bucket| format!(" [{bucket}]"));
    let detail = match record.detail.as_str() {
        "" => String::new(),
        detail => format!(": {detail}"),
    };
    let expected =
        verdict.expected.as_ref().map_or_else(String::new, |expected| format!(" (expected: {expected})"));
    format!("{name} {}{bucket}{detail}{expected}\n", record.case)
}

/// What a run came to.
pub(super) fn print_results(results: &Results, reports: &ReportArguments) -> Result<(), CliError> {
    if reports.format != GateFormat::Text {
        return print(&objects_at_the_end(results)?);
    }
    let painter = painter(reports.color);
    let mut text = String::new();
    if !reports.quiet {
        let counts: Vec<String> =
            results.counts().into_iter().map(|(name, count)| format!("{count} {name}")).collect();
        let plural = if results.cases.len() == 1 { "" } else { "s" };
        text.push_str(&format!(
            "\n{} case{plural} in {:.1} s: {}\n",
            results.cases.len(),
            results.seconds,
            counts.join(", ")
        ));
        text.push_str(&match results.is_run() {
            true => format!("{:.1} % have an answer\n", results.decided()),
            false => format!(
                "{:.1} % have an answer, in {:.1} % the changed code ran\n",
                results.decided(),
                results.exercised()
            ),
        });
    }
    let undecided = undecided(results);
    if !undecided.is_empty() && !reports.quiet {
        text.push_str(&format!("\n{}\n", painter.heading("Neither passed nor failed")));
        text.push_str(&undecided);
        text.push('\n');
    }
    for remark in results.remarks.iter().filter(|remark| remark.fails || !reports.quiet) {
        let word = if remark.fails { painter.bad("unexpected") } else { "note".to_owned() };
        text.push_str(&format!("{word}: {}\n", remark.text));
    }
    let buckets = results.buckets();
    if !buckets.is_empty() && !reports.quiet {
        text.push_str(&format!("\n{}\n", painter.heading("Unexpected failures by bucket")));
        for (name, count, first) in buckets.iter().take(LISTED) {
            text.push_str(&format!("{count:6}  {name}  (such as {})\n", first.record.case));
        }
        if buckets.len() > LISTED {
            text.push_str(&format!("        and {} more; results.jsonl has all\n", buckets.len() - LISTED));
        }
        let told = |case: &&Judgement| case.unexpected && case.record.report.is_some();
        for case in results.cases.iter().filter(told).take(REPORTS) {
            text.push_str(&format!("\n{}\n", painter.heading(&case.record.case)));
            text.push_str(case.record.report.as_deref().unwrap_or_default());
        }
    }
    for case in results.unexpected().filter(|case| case.record.status == Status::Missing) {
        text.push_str(&format!("{} {}: {}\n", painter.bad("Missing"), case.record.case, case.record.detail));
    }
    let verdict = match results.is_good() {
        true => painter.good("nothing unexpected"),
        false => {
            let remarks = results.remarks.iter().filter(|remark| remark.fails).count();
            painter.bad(&format!("{} unexpected", results.unexpected().count() + remarks))
        }
    };
    text.push_str(&format!("{verdict}\n"));
    print(&text)
}

/// Of each status that is neither, how many cases have it, and the first of them.
fn undecided(results: &Results) -> String {
    let mut text = String::new();
    for status in Status::ALL.into_iter().filter(|status| status.class() == Class::Undecided) {
        let mut cases = results.cases.iter().filter(|case| case.record.status == status && !case.unexpected);
        let Some(first) = cases.next() else { continue };
        let (name, detail) = (&first.record.case, &first.record.detail);
        text.push_str(&format!("{:6}  {status}  (such as {name}: {detail})\n", 1 + cases.count()));
    }
    text
}

/// Cases that nothing was run for, and what is to be known of the whole run.
fn objects_at_the_end(results: &Results) -> Result<String, CliError> {
    let not_run = |case: &&Judgement| matches!(case.record.status, Status::Missing | Status::Skip);
    let cases = results.cases.iter().filter(not_run);
    let mut text = String::new();
    for case in cases {
        text.push_str(&object(&case.record, case.judged, case.unexpected)?);
    }
    let remarks: Vec<&str> = results.remarks.iter().map(|remark| remark.text.as_str()).collect();
    let counts: serde_json::Map<String, serde_json::Value> =
        results.counts().into_iter().map(|(name, count)| (name, count.into())).collect();
    let whole = serde_json::json!({
        "schema": "spirv-tv.gate/1",
        "cases": results.cases.len(),
        "counts": counts,
        "unexpected": results.unexpected().count(),
        "good": results.is_good(),
        "decided": results.decided(),
        "exercised": (!results.is_run()).then(|| results.exercised()),
        "remarks": remarks,
    });
    text.push_str(&format!("{whole}\n"));
    Ok(text)
}

/// A command as a shell takes it.
pub(super) fn command(command_line: &[OsString]) -> String {
    let words = command_line.iter().map(|word| crate::html::quoted(&word.to_string_lossy()));
    ["spirv-tv gate".to_owned()].into_iter().chain(words).collect::<Vec<_>>().join(" ")
}

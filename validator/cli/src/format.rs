//! The form of results (`--format`): which report of the library a command prints.

use clap::ValueEnum;
use spirv_tv::check::{CheckReport, OutcomesReport};
use spirv_tv::report::litmus::{self, LitmusReport};
use spirv_tv::report::{dot, json, outcomes, text};

use super::arguments::OutputArguments;
use super::{painter, ColorChoice};

/// The form of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    /// As `json`; `opt` prints the object of a step as soon as it is known.
    Jsonl,
    /// Executions as graphs for graphviz.
    Dot,
}

/// The form of the result of a command that has no graphs and no stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    Text,
    Json,
}

/// The form of a series of checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Series {
    /// A table, and what each step says.
    Table,
    /// An object for each step, at the end.
    Objects,
    /// An object for each step, as soon as it is known.
    Stream,
}

impl Format {
    /// How `opt` prints its steps.
    pub fn series(self) -> Series {
        match self {
            Format::Text | Format::Dot => Series::Table,
            Format::Json => Series::Objects,
            Format::Jsonl => Series::Stream,
        }
    }

    /// Whether it is for programs.
    pub fn is_json(self) -> bool {
        self.series() != Series::Table
    }
}

/// The report of a check; with `full` what is left out otherwise, too.
pub(crate) fn check(report: &CheckReport, output: &OutputArguments, full: bool) -> String {
    match output.format {
        Format::Json | Format::Jsonl => json::check(report) + "\n",
        Format::Dot => dot::check(report),
        Format::Text if output.quiet => {
            let line = text::check_line(report, painter(output.color));
            format!("{} {}: {line}\n", report.before.name, report.after.name)
        }
        Format::Text if full => text::check_in_full(report, painter(output.color)),
        Format::Text => text::check(report, painter(output.color)),
    }
}

/// The outcomes of a module; with `read_only` also the memory that it never writes.
pub(crate) fn outcomes(report: &OutcomesReport, output: &OutputArguments, read_only: bool) -> String {
    match output.format {
        Format::Json | Format::Jsonl => json::outcomes(report) + "\n",
        Format::Dot => dot::outcomes(report),
        Format::Text if output.quiet => outcomes::line(report),
        Format::Text => outcomes::text(report, read_only, painter(output.color)),
    }
}

/// The answers of litmus tests.
pub(crate) fn litmus(report: &LitmusReport, format: Format, quiet: bool, color: ColorChoice) -> String {
    match format {
        Format::Json | Format::Jsonl => litmus::json(report) + "\n",
        Format::Dot => dot::litmus(report),
        Format::Text => litmus::text(report, quiet, painter(color)),
    }
}

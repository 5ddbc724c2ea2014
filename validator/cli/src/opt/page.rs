//! The page of `opt --html FILE`: the steps of all modules.

use std::path::Path;
use std::time::Instant;

use super::step::StepResult;
use crate::{html, CliError};
use spirv_tv::check::{Bounds, CheckReport};
use spirv_tv::optimise::table;
use spirv_tv::optimise::Report;
use spirv_tv::report::html::{Extent, Series};

/// What is known of the page so far.
pub(super) struct Page {
    series: Series,
    rows: Vec<Vec<String>>,
    remarks: Vec<String>,
    bounds: Bounds,
    begun: Instant,
    full: bool,
}

impl Page {
    /// A page without modules. `begun` is when the command began.
    pub(super) fn new(bounds: &Bounds, begun: Instant, full: bool) -> Self {
        let (series, rows, remarks) = (Series::default(), Vec::new(), Vec::new());
        Page { series, rows, remarks, bounds: bounds.clone(), begun, full }
    }

    /// Takes a step of a module up.
    pub(super) fn add(&mut self, module: &str, label: &str, report: &CheckReport) {
        let extent = html::extent(None, &self.bounds, self.begun, self.full);
        let extent = Extent { replay: Default::default(), ..extent };
        self.series.add(&format!("{module}: {label}"), report, &extent);
    }

    /// Takes a step up that has no report.
    pub(super) fn note(&mut self, module: &str, label: &str, error: &str) {
        self.series.note(&format!("{module}: {label}"), error);
    }

    /// Takes up the table of a module.
    pub(super) fn finish(&mut self, module: &str, report: &Report<StepResult>) {
        for (number, mut row) in table::cells(report).into_iter().enumerate() {
            let first = if number == 0 { "module" } else { module };
            row.insert(0, first.to_owned());
            if number > 0 || self.rows.is_empty() {
                self.rows.push(row);
            }
        }
        let remarks = table::failures(report).into_iter().chain(table::guilty(report));
        self.remarks.extend(remarks.map(|remark| format!("{module}: {remark}")));
    }

    /// Takes a module up that no pass could be run on.
    pub(super) fn error(&mut self, module: &str, error: &CliError) {
        self.remarks.push(format!("{module}: error: {error}"));
    }

    /// Writes it.
    pub(super) fn write(self, path: &Path, modules: &[String]) -> Result<(), CliError> {
        let extent = html::extent(None, &self.bounds, self.begun, self.full);
        let title = format!("opt {}", modules.join(" "));
        html::write(path, &self.series.page(&title, &self.rows, &self.remarks, &extent))
    }
}

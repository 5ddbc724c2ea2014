//! What a run came to: judged, written, blessed.

use std::collections::BTreeMap;
use std::path::Path;

use spirv_tv_gate::cases::Planned;
use spirv_tv_gate::expectation::{Baseline, Expectations};
use spirv_tv_gate::{drift, log, report};
use spirv_tv_gate::{About, Judgement, Record, Remark, Results, Status};

use super::arguments::{ExpectationArguments, ReportArguments};
use crate::CliError;
use spirv_tv::behaviour::Bug;

/// A run that has ended.
pub(super) struct Finished<'a> {
    pub(super) about: About,
    pub(super) command: String,
    pub(super) records: BTreeMap<String, Record>,
    /// Cases that the baseline lists and that are not there.
    pub(super) missing: Vec<String>,
    pub(super) own: &'a [Planned],
    pub(super) remarks: Vec<String>,
    pub(super) seconds: f64,
    /// Every case was run.
    pub(super) is_whole: bool,
}

/// Holds a run against what is expected.
pub(super) fn judge(
    finished: Finished<'_>,
    arguments: &ExpectationArguments,
    expectations: &Expectations,
    drift_from: Option<&Path>,
) -> Result<Results, CliError> {
    let own: BTreeMap<&str, &Planned> =
        finished.own.iter().map(|one| (one.case.name.as_str(), one)).collect();
    let missing = finished.missing.into_iter().map(|case| {
        let record = Record::new(&case, Status::Missing, "the baseline lists it");
        (case, record)
    });
    let records: BTreeMap<String, Record> = finished.records.into_iter().chain(missing).collect();
    let cases = records
        .into_values()
        .map(|record| {
            let own = own.get(record.case.as_str());
            let verdict = expectations.judge_attempts(&record, own.and_then(|one| one.expected));
            let note = own.and_then(|one| one.note.clone());
            Judgement {
                record,
                judged: verdict.judged,
                unexpected: verdict.unexpected,
                expected: verdict.expected,
                note,
            }
        })
        .collect();
    let remarks = finished.remarks.into_iter().map(|text| Remark { fails: false, text }).collect();
    let mut results = Results {
        about: finished.about,
        command: finished.command,
        cases,
        seconds: finished.seconds,
        remarks,
    };
    if finished.is_whole {
        let floors = [
            (arguments.min_decided, results.decided(), "have an answer", "--min-decided"),
            (arguments.min_exercised, results.exercised(), "ran the changed code", "--min-exercised"),
        ];
        for (least, share, what, option) in floors {
            if let Some(least) = least.filter(|least| share < *least) {
                let text = format!("only {share:.1} % of the cases {what}; {option} asks for {least} %");
                results.remarks.push(Remark { fails: true, text });
            }
        }
    }
    if let Some(path) = drift_from {
        let old = log::read(path)?;
        let records =
            results.cases.iter().map(|case| (case.record.case.clone(), case.record.clone())).collect();
        results.remarks.extend(drift::explain((&old.head, &old.records), (&results.about, &records)));
    }
    let side = &expectations.baseline.side.about;
    if !side.version.is_empty() && side.generation != results.about.generation {
        let text = format!(
            "the baseline is of spirv-tv {} (generation {}), these results of {} (generation {}): statuses may differ \
             without a change of the compiler; --explain-drift tells them apart",
            side.version, side.generation, results.about.version, results.about.generation
        );
        results.remarks.push(Remark { fails: false, text });
    }
    Ok(results)
}

/// Writes the results and the reports that are asked for.
pub(super) fn write(results: &Results, out: &Path, reports: &ReportArguments) -> Result<(), CliError> {
    report::write(&out.join("results.csv"), report::results_csv(results)?)?;
    report::write(&out.join("failures.csv"), report::failures_csv(results)?)?;
    write_reports(results, out, reports)
}

/// Writes the reports that are asked for.
pub(super) fn write_reports(
    results: &Results,
    out: &Path,
    reports: &ReportArguments,
) -> Result<(), CliError> {
    if let Some(path) = &reports.junit {
        report::write(path, report::junit(results)?)?;
    }
    if let Some(path) = &reports.summary {
        report::write(path, report::summary(results))?;
    }
    if let Some(path) = &reports.sarif {
        report::write(path, report::sarif(results)?)?;
    }
    if let Some(folder) = &reports.html {
        report::html(results, folder, out)?;
    }
    Ok(())
}

/// Writes the baseline that this run meets.
pub(super) fn bless(results: &Results, arguments: &ExpectationArguments) -> Result<u8, CliError> {
    let Some(path) = &arguments.baseline else {
        return Err(CliError::usage("--bless writes the file that --baseline names"));
    };
    let records = results.cases.iter().map(|case| &case.record);
    let fail_on = arguments.fail_on.iter().copied().collect();
    let listed = Baseline::bless(path, records, &results.about, &fail_on)?;
    crate::print(&format!("{} lists {listed} cases now\n", path.display()))?;
    Ok(0)
}

/// The exit code: whether something unexpected happened.
pub(super) fn exit_code(results: &Results) -> u8 {
    let is_bug = |case: &&Judgement| case.record.status == Status::ToolBug;
    match (results.unexpected().any(|case| is_bug(&case)), results.is_good()) {
        (true, _) => Bug::EXIT_CODE,
        (false, true) => 0,
        (false, false) => 1,
    }
}

/// The exit code for `git bisect run`: 1 where a case has the bucket, 0 where no case fails, 125 otherwise.
pub(super) fn bisect(results: &Results, bucket: &str) -> u8 {
    let has = |case: &Judgement| case.record.bucket.as_ref().is_some_and(|own| own.0 == bucket);
    let is_good = |case: &Judgement| matches!(case.record.status, Status::Pass | Status::Skip);
    match (results.cases.iter().any(has), results.cases.iter().all(is_good)) {
        (true, _) => 1,
        (false, true) => 0,
        (false, false) => 125,
    }
}

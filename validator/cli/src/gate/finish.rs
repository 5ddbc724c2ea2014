//! What a run came to: judged, written, blessed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use spirv_tv_gate::expectation::{self, Baseline, Expectations, Expected, Side};
use spirv_tv_gate::report::ReportError;
use spirv_tv_gate::{drift, log, report};
use spirv_tv_gate::{About, Class, Judgement, Record, Remark, Results, Status};

use super::arguments::{ExpectationArguments, ReportArguments};
use crate::CliError;
use spirv_tv::behaviour::Bug;

/// A run that has ended.
pub(super) struct Finished {
    pub(super) about: About,
    pub(super) command: String,
    pub(super) records: BTreeMap<String, Record>,
    /// Cases that the baseline lists and that are not there.
    pub(super) missing: Vec<String>,
    pub(super) remarks: Vec<String>,
    pub(super) seconds: f64,
    /// Every case was run.
    pub(super) is_whole: bool,
}

/// What the manifest expects of a record's case.
pub(super) fn expected(record: &Record) -> Option<Expected> {
    record.expect.as_deref().and_then(|text| text.parse().ok())
}

/// Holds a run against what is expected.
pub(super) fn judge(
    finished: Finished,
    arguments: &ExpectationArguments,
    expectations: &Expectations,
    drift_from: Option<&Path>,
) -> Result<Results, CliError> {
    let missing = finished.missing.into_iter().map(|case| {
        let record = Record::new(&case, Status::Missing, "the baseline lists it");
        (case, record)
    });
    let records: BTreeMap<String, Record> = finished.records.into_iter().chain(missing).collect();
    let cases = records
        .into_values()
        .map(|record| {
            let verdict = expectations.judge_attempts(&record, expected(&record));
            Judgement {
                judged: verdict.judged,
                unexpected: verdict.unexpected,
                expected: verdict.expected,
                note: record.note.clone(),
                record,
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
    if is_all_invalid(&results) {
        let text =
            "no case could be checked: every module is invalid, or does not go with the options".to_owned();
        results.remarks.push(Remark { fails: true, text });
    }
    let misfits: Vec<&Record> = misfits(&results).collect();
    if let Some(first) = misfits.first() {
        let count = misfits.len();
        let text = format!(
            "modules lack what the launch or the options of their case name ({count}), such as {}: {}",
            first.case, first.detail
        );
        results.remarks.push(Remark { fails: true, text });
    }
    let troubles = results.cases.iter().filter_map(|case| case.record.trouble.clone());
    let troubles: BTreeSet<String> = troubles.collect();
    results.remarks.extend(troubles.into_iter().map(|text| Remark { fails: false, text }));
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
    let failures = out.join("failures.csv");
    report::write(&failures, report::failures_csv(results)?)?;
    // With it the file can be the next baseline.
    let failing = results.cases.iter().map(|case| &case.record);
    let buckets = failing.filter_map(|record| Some((record.case.clone(), record.bucket.clone()?))).collect();
    expectation::write_side(&failures, &Side { about: results.about.clone(), buckets })?;
    write_reports(results, out, reports)
}

/// Writes the reports that are asked for.
pub(super) fn write_reports(
    results: &Results,
    out: &Path,
    reports: &ReportArguments,
) -> Result<(), CliError> {
    let of = |option: &'static str| move |error: ReportError| CliError::of_option(option, error);
    if let Some(path) = &reports.junit {
        report::write(path, report::junit(results)?).map_err(of("--junit"))?;
    }
    if let Some(path) = &reports.summary {
        report::write(path, report::summary(results)).map_err(of("--summary"))?;
    }
    if let Some(path) = &reports.sarif {
        report::write(path, report::sarif(results)?).map_err(of("--sarif"))?;
    }
    if let Some(folder) = &reports.html {
        report::html(results, folder, out).map_err(of("--html"))?;
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

/// Whether cases ran, and none of them could be checked.
fn is_all_invalid(results: &Results) -> bool {
    let ran = |case: &&Judgement| {
        case.record.status.class() != Class::NotRun && case.record.status != Status::Missing
    };
    let mut all = results.cases.iter().filter(ran).peekable();
    all.peek().is_some() && all.all(|case| case.record.status == Status::InvalidBefore)
}

/// Cases whose modules lack what their own launch or options name.
fn misfits(results: &Results) -> impl Iterator<Item = &Record> {
    results.cases.iter().map(|case| &case.record).filter(|record| record.misfit)
}

/// The exit code: whether something unexpected happened, or cases were not what the command line or a manifest says.
pub(super) fn exit_code(results: &Results) -> u8 {
    let is_bug = |case: &Judgement| case.record.status == Status::ToolBug;
    if results.unexpected().any(is_bug) {
        Bug::EXIT_CODE
    } else if is_all_invalid(results) || misfits(results).next().is_some() {
        WRONG
    } else {
        u8::from(!results.is_good())
    }
}

/// The exit code where a command line, a manifest or a launch file is wrong.
const WRONG: u8 = 2;

/// What `git bisect run` takes for a commit that cannot be tested.
pub(super) const UNTESTABLE: u8 = 125;

/// The exit code for `git bisect run`: 1 where a case has the bucket; where something else fails or was not run it cannot be
/// told; 0 otherwise.
pub(super) fn bisect(results: &Results, bucket: &str, is_whole: bool) -> u8 {
    let has = |case: &Judgement| case.record.bucket.as_ref().is_some_and(|own| own.0 == bucket);
    let is_bad = |case: &Judgement| case.record.status.class() == Class::Bad;
    let is_in_doubt = results.remarks.iter().any(|remark| remark.fails) || !is_whole;
    match (results.cases.iter().any(has), results.cases.iter().any(is_bad) || is_in_doubt) {
        (true, _) => 1,
        (false, false) => 0,
        (false, true) => UNTESTABLE,
    }
}

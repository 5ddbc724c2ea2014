//! JUnit XML, which most CI services show. A suite is a folder of the cases' files.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, Report, TestCase, TestCaseStatus, TestRerun, TestSuite};

use super::words::{about, cut, one_line};
use super::ReportError;
use crate::results::{Judgement, Results};
use crate::status::{Class, Judged, Status};

/// The suite of cases that are in no folder, and of what is wrong with the run as a whole.
const NO_FOLDER: &str = "spirv-tv gate";

/// Characters of a message, and bytes of a report.
const MESSAGE: usize = 400;
const REPORT: usize = 20_000;

/// Bytes of all reports: services refuse files of more than about 10 MB.
const REPORTS: usize = 6_000_000;

/// The run as JUnit XML. What makes the run fail is a failure, or an error where no answer could be had; what is expected
/// or undecided is skipped and says why.
///
/// # Errors
///
/// Where the XML cannot be made.
pub fn junit(results: &Results) -> Result<String, ReportError> {
    let mut suites: BTreeMap<&str, Vec<TestCase>> = BTreeMap::new();
    let mut left = REPORTS;
    for case in &results.cases {
        suites.entry(folder(case)).or_default().push(test_case(results, case, &mut left));
    }
    for remark in results.remarks.iter().filter(|remark| remark.fails) {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type("Run").set_message(one_line(&remark.text, MESSAGE));
        let mut case = TestCase::new("the whole run", status);
        case.set_classname(NO_FOLDER);
        suites.entry(NO_FOLDER).or_default().push(case);
    }
    let mut report = Report::new("spirv-tv gate");
    report.set_time(duration(results.seconds));
    let about = about(results);
    for (folder, cases) in suites {
        let mut suite = TestSuite::new(one_line(folder, MESSAGE));
        suite.set_time(cases.iter().filter_map(|case| case.time).sum());
        suite.add_test_cases(cases);
        suite.add_properties(
            about.iter().map(|(name, value)| Property::new(name.as_str(), one_line(value, MESSAGE))),
        );
        report.add_test_suite(suite);
    }
    // The schema that Jenkins holds files against has no such attribute at the root; suites have it.
    Ok(report.to_string()?.replacen(&format!(" skipped=\"{}\"", report.skipped), "", 1))
}

fn folder(case: &Judgement) -> &str {
    let folder = case.record.file.as_deref().and_then(|file| Path::new(file).parent()?.to_str());
    folder.filter(|folder| !folder.is_empty()).unwrap_or(NO_FOLDER)
}

fn test_case(results: &Results, case: &Judgement, left: &mut usize) -> TestCase {
    let mut test = TestCase::new(one_line(&case.record.case, MESSAGE), status(results, case, left));
    test.set_classname(one_line(case.record.file.as_deref().unwrap_or(NO_FOLDER), MESSAGE));
    test.set_time(duration(case.record.seconds));
    test
}

fn status(results: &Results, case: &Judgement, left: &mut usize) -> TestCaseStatus {
    let record = &case.record;
    let mut status = if case.unexpected {
        TestCaseStatus::non_success(kind(record.status))
    } else if matches!(case.judged, Judged::Flake(_)) || record.status.class() == Class::Good {
        TestCaseStatus::success()
    } else {
        TestCaseStatus::skipped()
    };
    status.set_type(case.judged.to_string()).set_message(message(results, case));
    if case.unexpected {
        if let Some(report) = &record.report {
            status.set_description(cut(report, REPORT, left));
        }
    }
    status.add_reruns(record.earlier.iter().map(|earlier| {
        let mut rerun = TestRerun::new(kind(*earlier));
        rerun.set_type(earlier.name()).set_message(results.meaning(*earlier));
        rerun
    }));
    status
}

/// A failure is an answer; an error is that there is none.
const fn kind(status: Status) -> NonSuccessKind {
    match status {
        Status::ToolBug | Status::Timeout | Status::OptimizerCrash | Status::ExecutorCrash => {
            NonSuccessKind::Error
        }
        Status::Pass
        | Status::Hollow
        | Status::Bounded
        | Status::Vacuous
        | Status::Inconclusive
        | Status::Unsupported
        | Status::InvalidBefore
        | Status::Skip
        | Status::Missing
        | Status::InvalidAfter
        | Status::Fail => NonSuccessKind::Failure,
    }
}

/// Its bucket and why, what was expected, and the note of the manifest.
fn message(results: &Results, case: &Judgement) -> String {
    let record = &case.record;
    let why = if record.detail.is_empty() { results.meaning(record.status) } else { &record.detail };
    let mut message = match &record.bucket {
        Some(bucket) => format!("{bucket}: {why}"),
        None => why.to_owned(),
    };
    if let Some(expected) = &case.expected {
        message.push_str(&format!(" (expected: {expected})"));
    }
    if let Some(note) = &case.note {
        message.push_str(&format!(" ({note})"));
    }
    one_line(&message, MESSAGE)
}

/// Zero for what is no time.
fn duration(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples::{self, NASTY};

    fn read_back(results: &Results) -> Report {
        Report::deserialize_from_str(&junit(results).unwrap()).unwrap()
    }

    fn find<'r>(report: &'r Report, name: &str) -> &'r TestCase {
        let mut cases = report.test_suites.iter().flat_map(|suite| &suite.test_cases);
        cases.find(|case| case.name.as_str() == name).unwrap()
    }

    #[test]
    fn what_makes_the_run_fail_fails_and_nothing_else() {
        let report = read_back(&samples::mixed());
        let names: Vec<&str> = report.test_suites.iter().map(|suite| suite.name.as_str()).collect();
        assert_eq!(names, ["shaders/a", "spirv-tv gate"]);
        // Two that violate, one that is better, one that is missing, and the remark; a crash and a timeout.
        assert_eq!((report.tests, report.failures, report.errors), (14, 5, 2));
        assert_eq!(report.test_suites.iter().map(|suite| suite.skipped).sum::<usize>(), 5);
        let TestCaseStatus::NonSuccess { kind, message, ty, description, .. } =
            &find(&report, "a/fail.spv").status
        else {
            panic!("it fails");
        };
        assert_eq!(*kind, NonSuccessKind::Failure);
        assert_eq!(ty.as_ref().unwrap().as_str(), "Fail");
        assert_eq!(
            message.as_ref().unwrap().as_str(),
            "licm/new-race/OpStore: after has a data race and before has none"
        );
        assert!(description.as_ref().unwrap().as_str().contains("data-race, lines 5 and 7"));
        let TestCaseStatus::NonSuccess { kind, reruns, .. } = &find(&report, "b/timeout.spv").status else {
            panic!("it has no answer");
        };
        assert_eq!((*kind, reruns.runs.len()), (NonSuccessKind::Error, 1));
        let TestCaseStatus::Skipped { message, ty, .. } = &find(&report, "a/expected.spv").status else {
            panic!("it is skipped");
        };
        assert_eq!(ty.as_ref().unwrap().as_str(), "ExpectedFail");
        assert!(message.as_ref().unwrap().as_str().ends_with("(expected: Fail) (reported as 1234)"));
        let TestCaseStatus::Success { flaky_runs } = &find(&report, "a/flake.spv").status else {
            panic!("it passed in the end");
        };
        assert_eq!(flaky_runs.len(), 1);
        assert!(matches!(find(&report, "a/hollow.spv").status, TestCaseStatus::Skipped { .. }));
        let properties: Vec<&str> =
            report.test_suites[0].properties.iter().map(|property| property.name.as_str()).collect();
        assert_eq!(properties, ["spirv-tv", "generation", "spirv-opt", "options", "command"]);
    }

    #[test]
    fn what_an_executor_ran_was_not_compared() {
        let xml = junit(&samples::run()).unwrap();
        assert!(!xml.contains("refines") && !xml.contains("compared"), "{xml}");
        let report = read_back(&samples::run());
        let TestCaseStatus::NonSuccess { reruns, .. } = &find(&report, "b/timeout.spv").status else {
            panic!("it has no answer");
        };
        assert_eq!(reruns.runs.len(), 1);
    }

    #[test]
    fn the_root_has_only_attributes_of_the_schema() {
        let xml = junit(&samples::mixed()).unwrap();
        let root = xml.lines().find(|line| line.starts_with("<testsuites")).unwrap();
        let attributes: Vec<&str> = root
            .split('"')
            .step_by(2)
            .filter_map(|text| text.split_once(' '))
            .map(|(_, name)| name)
            .collect();
        assert_eq!(attributes, ["name=", "tests=", "failures=", "errors=", "time="]);
    }

    #[test]
    fn any_text_is_read_back_and_control_characters_are_spelled_out() {
        let report = read_back(&samples::nasty());
        for name in NASTY {
            let case = find(&report, &one_line(name, MESSAGE));
            let TestCaseStatus::NonSuccess { message, .. } = &case.status else { panic!("it fails") };
            let expected = one_line(&format!("pass/new-outcome/{name}: {name}"), MESSAGE);
            assert_eq!(message.as_ref().unwrap().as_str(), expected);
        }
    }

    #[test]
    fn a_large_run_stays_a_file_that_services_take_and_says_what_it_lacks() {
        let xml = junit(&samples::many(5000)).unwrap();
        assert!(xml.len() < 10_000_000, "{} bytes", xml.len());
        assert!(xml.contains("more bytes of the report are not in this file]"));
    }
}

//! Results for the tests of reports.

use std::collections::BTreeMap;

use crate::record::{Bucket, Record};
use crate::results::{About, Judgement, Remark, Results};
use crate::status::{Judged, Status};

/// Names that mean something to CSV, XML, HTML, Markdown or a terminal.
pub(super) const NASTY: [&str; 12] = [
    "# a comment",
    "a,b \"quoted\" 'case'",
    "a & b < c > d",
    "pipe | and \\| and `code`",
    "line\nbreak\r\nand\ttab",
    "bell\u{7}escape\u{1b}[31m",
    "schädlich/シェーダー 🦀",
    "<script>alert(1)</script>",
    "@someone #12 [link](http://example.org) ![x](y)",
    "]]> --> *bold* __under__ ~~gone~~ $x$ :tada:",
    "--options",
    "a/b\\c:d?e*f%20g",
];

pub(super) fn case(name: &str, judged: Judged, unexpected: bool) -> Judgement {
    let mut record = Record::new(name, judged.status(), "");
    record.seconds = 0.5;
    Judgement { record, judged, unexpected, expected: None, note: None }
}

/// A case that fails with this bucket.
pub(super) fn failing(name: &str, bucket: &str) -> Judgement {
    let mut case = case(name, Judged::As(Status::Fail), true);
    case.record.bucket = Some(Bucket(bucket.to_owned()));
    case.record.detail = "after has a data race and before has none".to_owned();
    case.record.report = Some("violates: new-race\n\nWhat is new\n  data-race, lines 5 and 7\n".to_owned());
    case.record.pass = bucket.split('/').next().map(str::to_owned);
    case.record.file = Some(format!("shaders/{name}"));
    case.record.line = Some(7);
    case
}

/// A case for each way in which one is judged.
pub(super) fn mixed() -> Results {
    let mut flake = case("a/flake.spv", Judged::Flake(Status::Pass), false);
    flake.record.earlier = vec![Status::Timeout];
    let mut better = case("b/better.spv", Judged::UnexpectedImprovement(Status::Pass), true);
    better.expected = Some("Fail".to_owned());
    let mut timeout = case("b/timeout.spv", Judged::As(Status::Timeout), true);
    timeout.record.seconds = 60.0;
    timeout.record.earlier = vec![Status::ToolBug];
    timeout.record.detail = "more than 60 s".to_owned();
    let mut expected = case("a/expected.spv", Judged::ExpectedFail(Status::Fail), false);
    expected.expected = Some("Fail".to_owned());
    expected.note = Some("reported as 1234".to_owned());
    let mut saved = failing("a/fail.spv", "licm/new-race/OpStore");
    saved.record.saved = Some("cases/1".to_owned());
    Results {
        about: About {
            version: "0.1.0".to_owned(),
            generation: 3,
            tools: BTreeMap::from([("spirv-opt".to_owned(), "v2025.1".to_owned())]),
            options: vec!["--inputs".to_owned(), "8".to_owned()],
        },
        command: "spirv-tv gate shaders".to_owned(),
        cases: vec![
            case("a/bounded.spv", Judged::As(Status::Bounded), false),
            case("a/crash.spv", Judged::As(Status::OptimizerCrash), true),
            expected,
            saved,
            failing("a/fail2.spv", "licm/new-race/OpStore"),
            flake,
            case("a/hollow.spv", Judged::As(Status::Hollow), false),
            case("a/known.spv", Judged::KnownFlake(Status::Fail), false),
            better,
            case("b/missing.spv", Judged::As(Status::Missing), true),
            case("b/pass.spv", Judged::As(Status::Pass), false),
            case("b/skip.spv", Judged::As(Status::Skip), false),
            timeout,
        ],
        seconds: 75.25,
        remarks: vec![
            Remark { fails: true, text: "fewer than 90 % of the cases were decided".to_owned() },
            Remark { fails: false, text: "2 answers are from the cache".to_owned() },
        ],
    }
}

/// The same where an executor ran the cases.
pub(super) fn run() -> Results {
    let mut results = mixed();
    results.about.tools.insert("executor".to_owned(), "a board".to_owned());
    results
}

/// Failures whose every text is nasty.
pub(super) fn nasty() -> Results {
    let cases = NASTY
        .iter()
        .map(|name| {
            let mut case = failing(name, &format!("pass/new-outcome/{name}"));
            case.record.detail = (*name).to_owned();
            case.record.report = Some(format!("report of {name}\n]]>\nend\n"));
            case
        })
        .collect();
    let remarks = NASTY.iter().map(|name| Remark { fails: false, text: (*name).to_owned() }).collect();
    Results { cases, remarks, command: NASTY.join(" "), ..Results::default() }
}

/// Many cases, each with a bucket of its own, and every report long.
pub(super) fn many(cases: usize) -> Results {
    let cases = (0..cases)
        .map(|at| {
            let mut case = failing(&format!("folder/{at:05}.spv"), &format!("pass-{at}/new-outcome/OpIAdd"));
            case.record.detail = "what happened ".repeat(40);
            case.record.report = Some("a line of a report that says what happened\n".repeat(60));
            case
        })
        .chain(Status::ALL.into_iter().map(|status| case(status.name(), Judged::As(status), false)))
        .chain(
            Status::ALL
                .into_iter()
                .map(|status| case(&format!("better-{status}"), Judged::UnexpectedImprovement(status), true)),
        )
        .collect();
    let remarks = (0..50).map(|at| Remark { fails: at % 2 == 0, text: format!("remark {at}") }).collect();
    Results { cases, remarks, ..Results::default() }
}

//! JUnit's XML and SARIF are what other people's schemas (`tests/gate/schemas/`) say of them, whatever became of the cases.

use std::fs;
use std::process::Command;

use serde_json::Value;
use spirv_tv_gate::report::{junit, sarif};
use spirv_tv_gate::{Bucket, Judged, Judgement, Record, Remark, Results, Status};

use crate::require::{skipped, Need};
use crate::workplace::{Workplace, ROOT};

/// Names that mean something to XML, JSON and URIs.
const NAMES: [&str; 5] = [
    "a/b.spv",
    "a & b <c> \"d\" 'e'",
    "]]> \u{7}\u{1b}[31m",
    "dir with space/シェーダー#1%20.spv",
    "x\ny\tz",
];

/// Every status, judged in every way, with and without what a record may have.
fn results() -> Results {
    let mut cases = Vec::new();
    for (number, status) in Status::ALL.into_iter().enumerate() {
        let ways = [
            Judged::As(status),
            Judged::ExpectedFail(status),
            Judged::UnexpectedImprovement(status),
            Judged::KnownFlake(status),
            Judged::Flake(status),
        ];
        for (way, judged) in ways.into_iter().enumerate() {
            let name = NAMES[(number + way) % NAMES.len()];
            let mut record = Record::new(format!("{name}-{number}-{way}"), status, name);
            record.seconds = 1234.5678 * number as f64;
            if way % 2 == 0 {
                record.bucket = Some(Bucket(format!("--ccp/new-race/{name}")));
                record.report = Some(format!("violates: new-race\n{name}\n"));
                record.file = Some(name.to_owned());
                record.line = Some(7);
                record.is_text = number % 2 == 0;
                record.earlier = vec![Status::Timeout, Status::ToolBug];
            }
            let unexpected = way != 1;
            let (expected, note) = (Some("Fail".to_owned()), Some(name.to_owned()));
            cases.push(Judgement { record, judged, unexpected, expected, note });
        }
    }
    let remarks = [true, false].map(|fails| Remark { fails, text: NAMES[2].to_owned() });
    Results { cases, remarks: remarks.into(), seconds: 3.0, command: NAMES.join(" "), ..Results::default() }
}

/// What xmllint says of a file that is not what the schema says; `None` where xmllint is not there.
fn complaint(place: &Workplace, file: &str) -> Option<Result<(), String>> {
    let schema = format!("{ROOT}/tests/gate/schemas/junit-10.xsd");
    let mut command = Command::new("xmllint");
    command.args(["--noout", "--schema", &schema]).arg(place.path(file));
    match command.output() {
        Ok(output) if output.status.success() => Some(Ok(())),
        Ok(output) => Some(Err(String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => {
            skipped(Need::Xmllint, &format!("xmllint does not run ({error})"));
            None
        }
    }
}

#[test]
fn junit_is_what_jenkins_takes() {
    let place = Workplace::new();
    let xml = junit(&results()).expect("XML");
    for status in Status::ALL {
        assert!(xml.contains(&format!("\"{status}\"")), "{status}");
    }
    place.write("junit.xml", &xml);
    place.write("empty.xml", junit(&Results::default()).expect("XML"));
    // The test can fail.
    place.write("wrong.xml", xml.replacen("<testcase ", "<testcase unheard-of=\"x\" ", 1));
    let Some(all) = complaint(&place, "junit.xml") else { return };
    assert_eq!(all, Ok(()));
    assert_eq!(complaint(&place, "empty.xml"), Some(Ok(())));
    assert!(matches!(complaint(&place, "wrong.xml"), Some(Err(why)) if why.contains("unheard-of")));
}

#[test]
fn sarif_is_what_its_schema_says() {
    let text = fs::read_to_string(format!("{ROOT}/tests/gate/schemas/sarif-2.1.0.json"));
    let schema: Value = serde_json::from_str(&text.expect("the schema is there")).expect("JSON");
    let validator = jsonschema::draft7::options().should_validate_formats(true).build(&schema);
    let validator = validator.expect("it is a schema");
    for results in [results(), Results::default()] {
        let log: Value = serde_json::from_str(&sarif(&results).expect("SARIF")).expect("JSON");
        let errors: Vec<String> =
            validator.iter_errors(&log).map(|error| format!("{error} at {}", error.instance_path)).collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        assert_eq!(log["runs"][0]["results"].as_array().is_none_or(Vec::is_empty), results.cases.is_empty());
    }
    let mut log: Value = serde_json::from_str(&sarif(&results()).expect("SARIF")).expect("JSON");
    log["runs"][0]["results"][0]["level"] = "dire".into();
    assert!(!validator.is_valid(&log));
}

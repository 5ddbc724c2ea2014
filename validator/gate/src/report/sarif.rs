//! SARIF 2.1.0, which code scanning shows at the files of a repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde_json::json;
use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, Message, MultiformatMessageString, Notification,
    PhysicalLocation, Region, ReportingConfiguration, ReportingDescriptor, Result as SarifResult,
    ResultLevel, Run, Sarif, Tool, ToolComponent,
};

use super::words::{count, kind, one_line, reference};
use super::ReportError;
use crate::record::Record;
use crate::results::{Judgement, Results};
use crate::status::{Class, Status};

/// Results, at most: GitHub shows no more.
const MOST: usize = 5_000;

/// Characters of a message.
const MESSAGE: usize = 1_000;

/// The unexpected failures of cases whose file is in the repository, that is, below the working directory. What is not in
/// the log is told by its notifications.
///
/// # Errors
///
/// Where the JSON cannot be made.
pub fn sarif(results: &Results) -> Result<String, ReportError> {
    let failures: Vec<&Judgement> =
        results.unexpected().filter(|case| case.record.status.class() == Class::Bad).collect();
    let located: Vec<(&Judgement, String)> =
        failures.iter().filter_map(|case| Some((*case, uri(case.record.file.as_deref()?)?))).collect();
    let shown = located.get(..MOST).unwrap_or(&located);
    let kinds: BTreeSet<&str> = shown.iter().map(|(case, _)| kind(&case.record)).collect();
    let rules: Vec<ReportingDescriptor> = kinds.iter().map(|kind| rule(results, kind)).collect();
    let driver = ToolComponent::builder()
        .name("spirv-tv")
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .information_uri(env!("CARGO_PKG_HOMEPAGE"))
        .rules(rules)
        .build();
    let run = Run::builder()
        .tool(Tool::builder().driver(driver).build())
        .results(shown.iter().map(|(case, uri)| result(results, case, uri)).collect::<Vec<SarifResult>>())
        .invocations(vec![invocation(results, failures.len() - located.len(), located.len() - shown.len())])
        .build();
    let log = Sarif::builder()
        .version(json!("2.1.0"))
        .schema(serde_sarif::sarif::SCHEMA_URL)
        .runs(vec![run])
        .build();
    Ok(serde_json::to_string_pretty(&log)?)
}

/// A path below the working directory as a URI reference.
fn uri(file: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in Path::new(file).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!parts.is_empty() && file != "-").then(|| reference(&parts.join("/")))
}

fn result(results: &Results, case: &Judgement, uri: &str) -> SarifResult {
    let record = &case.record;
    let artifact = ArtifactLocation::builder().uri(uri).uri_base_id("%SRCROOT%").build();
    let location = match record.line.filter(|_| record.is_text) {
        Some(line) => PhysicalLocation::builder()
            .artifact_location(artifact)
            .region(Region::builder().start_line(i64::from(line)).build())
            .build(),
        None => PhysicalLocation::builder().artifact_location(artifact).build(),
    };
    SarifResult::builder()
        .rule_id(kind(record))
        .level(level(record.status))
        .message(text(message(results, record)))
        .locations(vec![Location::builder().physical_location(location).build()])
        .partial_fingerprints(fingerprints(record))
        .build()
}

fn message(results: &Results, record: &Record) -> String {
    let why = if record.detail.is_empty() { results.meaning(record.status) } else { &record.detail };
    let mut message = format!("{}: {why}", record.case);
    if let (Some(line), false) = (record.line, record.is_text) {
        message.push_str(&format!(" (line {line} of its disassembly)"));
    }
    if let Some(bucket) = &record.bucket {
        message.push_str(&format!(" [{bucket}]"));
    }
    one_line(&message, MESSAGE)
}

/// What makes it the same in another run: its case and its bucket, wherever in the file it is. GitHub goes by the first
/// name.
fn fingerprints(record: &Record) -> BTreeMap<String, String> {
    let mut hasher = blake3::Hasher::new();
    for part in [&record.case, &record.bucket.as_ref().map(ToString::to_string).unwrap_or_default()] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    let hash = hasher.finalize().to_hex();
    let hash = hash.get(..32).unwrap_or_default();
    BTreeMap::from([
        ("primaryLocationLineHash".to_owned(), format!("{hash}:1")),
        ("caseAndBucket/v1".to_owned(), hash.to_owned()),
    ])
}

/// A failure of the optimiser is an error; where spirv-tv has no answer it is a warning.
const fn level(status: Status) -> ResultLevel {
    match status {
        Status::ToolBug | Status::Timeout => ResultLevel::Warning,
        _ => ResultLevel::Error,
    }
}

fn rule(results: &Results, kind: &str) -> ReportingDescriptor {
    let (short, help) = words(results, kind);
    let status: Option<Status> = kind.parse().ok();
    ReportingDescriptor::builder()
        .id(kind)
        .name(kind)
        .short_description(string(&short))
        .full_description(string(&help))
        .help(string(&help))
        .default_configuration(
            ReportingConfiguration::builder().level(json!(status.map_or(ResultLevel::Error, level))).build(),
        )
        .build()
}

/// What a kind is called, and what it means.
fn words(results: &Results, kind: &str) -> (String, String) {
    let (short, help) = match kind {
        "new-outcome" if results.is_run() => (
            "The executor showed an outcome that is not allowed",
            "A run on the executor ended with contents of memory that no run of the shader can end with.",
        ),
        "new-outcome" => (
            "The optimised shader has a new outcome",
            "After optimisation a run can end with contents of memory that no run of the shader before can end with.",
        ),
        "new-race" => (
            "The optimised shader has a new data race",
            "After optimisation two accesses race that did not race before. A race is undefined behaviour.",
        ),
        "new-undefined" => (
            "The optimised shader has new undefined behaviour",
            "After optimisation a run is undefined although no run of the shader before is.",
        ),
        "new-hang" => (
            "The optimised shader can hang",
            "After optimisation a run does not end although every run of the shader before does.",
        ),
        "volatile-trace" => (
            "The optimised shader has other volatile accesses",
            "After optimisation the volatile accesses of an invocation are not those of any run of the shader before.",
        ),
        other => match other.parse::<Status>() {
            Ok(status) => (results.meaning(status), "The detail of the result says what happened."),
            Err(_) => ("The optimised shader does what the shader before does not", "The result has the detail."),
        },
    };
    let advice =
        "The saved case has the shader before and after, and the command that shows the report again.";
    (short.to_owned(), format!("{help} {advice}"))
}

/// Whether the run was one, and what the log does not have.
fn invocation(results: &Results, elsewhere: usize, more: usize) -> Invocation {
    let mut notes = Vec::new();
    if more > 0 {
        notes
            .push(format!("{} more are not in this log, which has the first {MOST}", count(more, "failure")));
    }
    if elsewhere > 0 {
        notes.push(format!(
            "{} without a file below the working directory are not in this log",
            count(elsewhere, "failure")
        ));
    }
    notes.extend(results.remarks.iter().filter(|remark| remark.fails).map(|remark| remark.text.clone()));
    let notes: Vec<Notification> = notes
        .into_iter()
        .map(|note| {
            Notification::builder().level(json!("warning")).message(text(one_line(&note, MESSAGE))).build()
        })
        .collect();
    Invocation::builder().execution_successful(true).tool_execution_notifications(notes).build()
}

fn text(text: String) -> Message {
    Message::builder().text(text).build()
}

fn string(text: &str) -> MultiformatMessageString {
    MultiformatMessageString::builder().text(text).build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::samples;

    fn run(results: &Results) -> Run {
        let mut log: Sarif = serde_json::from_str(&sarif(results).unwrap()).unwrap();
        assert_eq!(log.version, json!("2.1.0"));
        log.runs.remove(0)
    }

    fn notes(run: &Run) -> Vec<String> {
        let notes = run.invocations.as_ref().unwrap()[0].tool_execution_notifications.as_ref().unwrap();
        notes.iter().map(|note| note.message.text.clone().unwrap()).collect()
    }

    fn place(result: &SarifResult) -> (String, Option<i64>) {
        let place = result.locations.as_ref().unwrap()[0].physical_location.as_ref().unwrap();
        let uri = place.artifact_location.as_ref().unwrap().uri.clone().unwrap();
        (uri, place.region.as_ref().and_then(|region| region.start_line))
    }

    #[test]
    fn unexpected_failures_stand_at_their_files_and_have_a_rule() {
        let mut results = samples::mixed();
        for case in &mut results.cases {
            case.record.is_text = case.record.case == "a/fail.spv";
        }
        let run = run(&results);
        let found = run.results.as_ref().unwrap();
        let places: Vec<(String, Option<i64>)> = found.iter().map(place).collect();
        assert_eq!(
            places,
            [("shaders/a/fail.spv".to_owned(), Some(7)), ("shaders/a/fail2.spv".to_owned(), None)]
        );
        assert_eq!(
            found[1].message.text.as_deref(),
            Some(
                "a/fail2.spv: after has a data race and before has none (line 7 of its disassembly) \
                 [licm/new-race/OpStore]"
            )
        );
        let rules: Vec<&str> =
            run.tool.driver.rules.as_ref().unwrap().iter().map(|rule| rule.id.as_str()).collect();
        assert_eq!(rules, ["new-race"]);
        assert!(found.iter().all(|result| result.rule_id.as_deref() == Some("new-race")));
        // A crash, a missing case and a timeout have no file.
        assert_eq!(
            notes(&run),
            [
                "3 failures without a file below the working directory are not in this log",
                "fewer than 90 % of the cases were decided"
            ]
        );
    }

    #[test]
    fn only_paths_below_the_working_directory_are_shown() {
        assert_eq!(uri("./a b/c#.spv").as_deref(), Some("a%20b/c%23.spv"));
        for outside in ["/a.spv", "../a.spv", "a/../../b", "-", "", "."] {
            assert_eq!(uri(outside), None, "{outside}");
        }
    }

    #[test]
    fn a_fingerprint_is_that_of_the_case_and_its_bucket_alone() {
        let of = |case: &Judgement| fingerprints(&case.record);
        let one = samples::failing("a", "p/new-race/x");
        let mut moved = one.clone();
        moved.record.line = Some(99);
        moved.record.detail = "another".to_owned();
        assert_eq!(of(&one), of(&moved));
        assert_ne!(of(&one), of(&samples::failing("b", "p/new-race/x")));
        assert_ne!(of(&one), of(&samples::failing("a", "p/new-race/y")));
        assert_ne!(of(&samples::failing("ab", "c")), of(&samples::failing("a", "bc")));
    }

    #[test]
    fn a_log_has_no_more_than_is_shown_and_says_so() {
        let run = run(&samples::many(6000));
        assert_eq!(run.results.as_ref().unwrap().len(), MOST);
        assert_eq!(notes(&run)[0], "1000 failures more are not in this log, which has the first 5000");
    }

    #[test]
    fn every_kind_has_a_rule_with_words_and_any_text_is_read_back() {
        for kind in ["new-outcome", "new-race", "new-undefined", "new-hang", "volatile-trace", "Timeout", "x"]
        {
            for results in [samples::mixed(), samples::run()] {
                let rule = rule(&results, kind);
                let short = rule.short_description.unwrap().text;
                assert!(!short.is_empty(), "{kind}");
                assert!(!results.is_run() || !short.contains("refines"), "{short}");
                assert!(rule.help.unwrap().text.ends_with("shows the report again."));
            }
        }
        let results = samples::nasty();
        let run = run(&results);
        for (result, case) in run.results.unwrap().iter().zip(&results.cases) {
            assert_eq!(result.message.text, Some(message(&results, &case.record)));
            assert!(place(result).0.is_ascii());
        }
    }
}

//! What is expected of cases: baselines, skips, flakes, and what a manifest says.
//!
//! The files are deqp-runner's: a baseline is CSV of two columns, `case,Status`; skips and flakes are regular
//! expressions, one a line, with `#` comments. A baseline's buckets and what it rests on are in a side file beside it,
//! `NAME.json`.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::record::{Bucket, Record};
use crate::results::About;
use crate::status::{Class, Judged, Status};

/// Why what is expected cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ExpectationError {
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A line that is none of `case,Status`.
    #[error("{}:{line}: {why}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, 1-based.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The side file is no such JSON.
    #[error("{}: {error}", path.display())]
    Side {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: serde_json::Error,
    },
}

/// What a baseline says of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This status.
    Status(Status),
    /// `Crash`: the optimiser's, the executor's or ours.
    Crash,
    /// `Warn`: any status that decides nothing.
    Undecided,
}

impl Expected {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "Crash" => Ok(Expected::Crash),
            "Warn" => Ok(Expected::Undecided),
            other => other
                .parse()
                .map(Expected::Status)
                .map_err(|error: crate::status::UnknownStatus| error.to_string()),
        }
    }

    fn is_met_by(self, status: Status) -> bool {
        match self {
            Expected::Status(expected) => expected == status,
            Expected::Crash => {
                matches!(status, Status::OptimizerCrash | Status::ExecutorCrash | Status::ToolBug)
            }
            Expected::Undecided => status.class() == Class::Undecided,
        }
    }

    fn class(self) -> Class {
        match self {
            Expected::Status(status) => status.class(),
            Expected::Crash => Class::Bad,
            Expected::Undecided => Class::Undecided,
        }
    }

    /// Its name in baselines.
    pub const fn name(self) -> &'static str {
        match self {
            Expected::Status(status) => status.name(),
            Expected::Crash => "Crash",
            Expected::Undecided => "Warn",
        }
    }
}

/// The side file of a baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// What the baseline's run rested on.
    #[serde(flatten)]
    pub about: About,
    /// The bucket of each case that has one.
    #[serde(default)]
    pub buckets: BTreeMap<String, Bucket>,
}

/// What is expected of cases.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    cases: BTreeMap<String, Expected>,
    /// Buckets, and what the baseline rests on; the default where there is no side file.
    pub side: Side,
}

impl Baseline {
    /// Reads a baseline and the side file beside it, if there is one.
    ///
    /// # Errors
    /// See [`ExpectationError`]. Words of `failures.csv` are read as well: `ExpectedFail` is not among them, since it
    /// does not say of what.
    pub fn read(path: &Path) -> Result<Baseline, ExpectationError> {
        let io = |error| ExpectationError::Io { path: path.to_owned(), error };
        let text = std::fs::read(path).map_err(io)?;
        let mut cases = BTreeMap::new();
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .from_reader(&text[..]);
        for row in reader.records() {
            let at = |line: u64, why: String| ExpectationError::Line { path: path.to_owned(), line, why };
            let row =
                row.map_err(|error| at(error.position().map_or(0, csv::Position::line), error.to_string()))?;
            let line = row.position().map_or(0, csv::Position::line);
            let (Some(case), Some(status)) = (row.get(0), row.get(1)) else {
                return Err(at(line, "a line is CASE,STATUS".to_owned()));
            };
            // What improved is no longer expected to fail.
            if status.starts_with("UnexpectedImprovement(") {
                continue;
            }
            let expected = Expected::parse(status.trim()).map_err(|why| at(line, why))?;
            if cases.insert(case.to_owned(), expected).is_some() {
                return Err(at(line, format!("'{case}' is there twice")));
            }
        }
        let side = side_of(path);
        let side = match std::fs::read(&side) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| ExpectationError::Side { path: side, error })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Side::default(),
            Err(error) => return Err(ExpectationError::Io { path: side, error }),
        };
        Ok(Baseline { cases, side })
    }

    /// Writes a baseline that records meet, with its side file, and makes the folder that it is in. Only what fails, and
    /// what is in `fail_on`, is listed. Cases that did not run this time keep what the baseline says of them.
    ///
    /// # Errors
    /// Where a file cannot be written, or an earlier baseline cannot be read.
    pub fn bless<'a>(
        path: &Path,
        records: impl Iterator<Item = &'a Record>,
        about: &About,
        fail_on: &BTreeSet<Status>,
    ) -> Result<usize, ExpectationError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| ExpectationError::Io { path, error }
        };
        let Baseline { mut cases, side: Side { mut buckets, about: _ } } = match path.exists() {
            true => Baseline::read(path)?,
            false => Baseline::default(),
        };
        for record in records.filter(|record| record.status != Status::Skip) {
            cases.remove(&record.case);
            buckets.remove(&record.case);
            if is_failure(record.status, fail_on) && record.status != Status::Missing {
                cases.insert(record.case.clone(), Expected::Status(record.status));
                buckets.extend(record.bucket.clone().map(|bucket| (record.case.clone(), bucket)));
            }
        }
        let mut writer = csv::WriterBuilder::new().comment(Some(b'#')).from_writer(Vec::new());
        for (case, expected) in &cases {
            writer.write_record([case, expected.name()]).map_err(|error| io(path)(error.into()))?;
        }
        let bytes = writer.into_inner().map_err(|error| io(path)(error.into_error()))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        std::fs::create_dir_all(folder).map_err(io(folder))?;
        std::fs::write(path, bytes).map_err(io(path))?;
        let side = Side { about: about.clone(), buckets };
        let path = side_of(path);
        let text = serde_json::to_string_pretty(&side)
            .map_err(|error| ExpectationError::Side { path: path.clone(), error })?;
        std::fs::write(&path, text + "\n").map_err(io(&path))?;
        Ok(cases.len())
    }

    /// The names of the cases that it lists.
    pub fn cases(&self) -> impl Iterator<Item = &str> {
        self.cases.keys().map(String::as_str)
    }

    /// What it says of a case.
    pub fn expected(&self, case: &str) -> Option<Expected> {
        self.cases.get(case).copied()
    }
}

/// The side file of a baseline: `NAME.json` beside `NAME.csv`.
pub fn side_of(path: &Path) -> PathBuf {
    path.with_extension("json")
}

/// Writes the side file of a baseline.
///
/// # Errors
/// Where it cannot be written.
pub fn write_side(baseline: &Path, side: &Side) -> Result<(), ExpectationError> {
    let path = side_of(baseline);
    let text = serde_json::to_string_pretty(side)
        .map_err(|error| ExpectationError::Side { path: path.clone(), error })?;
    std::fs::write(&path, text + "\n").map_err(|error| ExpectationError::Io { path, error })
}

/// Regular expressions of case names, from a file.
#[derive(Clone, Debug, Default)]
pub struct Patterns(Vec<Regex>);

impl Patterns {
    /// Reads one expression a line; empty lines and what follows a `#` at the start of a line are left out. An
    /// expression matches whole names.
    ///
    /// # Errors
    /// Where the file cannot be read or has a line that is no expression.
    pub fn read(path: &Path) -> Result<Patterns, ExpectationError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ExpectationError::Io { path: path.to_owned(), error })?;
        let lines = text.lines().zip(1..).filter(|(line, _)| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#')
        });
        let expressions = lines.map(|(expression, line)| {
            Regex::new(&format!("^(?:{})$", expression.trim())).map_err(|error| ExpectationError::Line {
                path: path.to_owned(),
                line,
                why: error.to_string(),
            })
        });
        expressions.collect::<Result<_, _>>().map(Patterns)
    }

    /// Adds those of another file.
    pub fn extend(&mut self, other: Patterns) {
        self.0.extend(other.0);
    }

    /// Whether one of them matches a name.
    pub fn matches(&self, case: &str) -> bool {
        self.0.iter().any(|expression| expression.is_match(case))
    }
}

/// Everything that is expected.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// `--baseline`.
    pub baseline: Baseline,
    /// `--flakes`.
    pub flakes: Patterns,
    /// `--fail-on`: statuses that fail beside those that always do.
    pub fail_on: BTreeSet<Status>,
}

/// A record as it is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// In deqp-runner's words.
    pub judged: Judged,
    /// Whether it makes the run fail.
    pub unexpected: bool,
    /// What was expected, if anything was.
    pub expected: Option<String>,
}

fn is_failure(status: Status, fail_on: &BTreeSet<Status>) -> bool {
    status.class() == Class::Bad || fail_on.contains(&status)
}

impl Expectations {
    /// Judges a record. `own` is what the case itself says of its status, beside the baseline.
    pub fn judge(&self, record: &Record, own: Option<Expected>) -> Verdict {
        let status = record.status;
        let expected = self.baseline.expected(&record.case).or(own);
        let pinned = self.baseline.side.buckets.get(&record.case);
        let told = expected.map(|expected| match pinned {
            Some(bucket) => format!("{} ({bucket})", expected.name()),
            None => expected.name().to_owned(),
        });
        let verdict = |judged, unexpected| Verdict { judged, unexpected, expected: told.clone() };
        if status == Status::Skip {
            return verdict(Judged::As(status), false);
        }
        let fails = is_failure(status, &self.fail_on);
        if fails && record.is_in_reference {
            return verdict(Judged::ExpectedFail(status), false);
        }
        if let Some(expected) = expected {
            let same_bucket = pinned.is_none_or(|pinned| record.bucket.as_ref() == Some(pinned));
            if expected.is_met_by(status) && same_bucket {
                let judged = match fails {
                    true => Judged::ExpectedFail(status),
                    false => Judged::As(status),
                };
                return verdict(judged, false);
            }
            let improved = !fails && status.class() < expected.class() && status.class() != Class::Undecided;
            // What fails at times need not fail this time.
            if improved && self.flakes.matches(&record.case) {
                return verdict(Judged::KnownFlake(status), false);
            }
            if improved {
                return verdict(Judged::UnexpectedImprovement(status), true);
            }
        }
        if !fails {
            return verdict(Judged::As(status), false);
        }
        if self.flakes.matches(&record.case) {
            return verdict(Judged::KnownFlake(status), false);
        }
        verdict(Judged::As(status), true)
    }

    /// Judges the last of several attempts at a case: one that failed unexpectedly at first and does not any more is a
    /// flake.
    pub fn judge_attempts(&self, record: &Record, own: Option<Expected>) -> Verdict {
        let last = self.judge(record, own);
        let failed_before = record.earlier.iter().any(|earlier| is_failure(*earlier, &self.fail_on));
        match last.judged {
            Judged::As(status) if failed_before && !last.unexpected => {
                Verdict { judged: Judged::Flake(status), ..last }
            }
            Judged::As(_)
            | Judged::ExpectedFail(_)
            | Judged::UnexpectedImprovement(_)
            | Judged::KnownFlake(_)
            | Judged::Flake(_) => last,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectations(baseline: &str, side: Option<&str>) -> Result<Expectations, ExpectationError> {
        let folder = tempfile::tempdir().map_err(|error| ExpectationError::Io { path: "".into(), error })?;
        let path = folder.path().join("baseline.csv");
        let io = |error| ExpectationError::Io { path: "".into(), error };
        std::fs::write(&path, baseline).map_err(io)?;
        if let Some(side) = side {
            std::fs::write(side_of(&path), side).map_err(io)?;
        }
        Ok(Expectations { baseline: Baseline::read(&path)?, ..Expectations::default() })
    }

    fn record(case: &str, status: Status, bucket: Option<&str>) -> Record {
        Record { bucket: bucket.map(|bucket| Bucket(bucket.to_owned())), ..Record::new(case, status, "") }
    }

    const SIDE: &str = r#"{"version":"0","generation":1,"tools":{},"options":[],"buckets":{"a":"--ccp/new-outcome/OpIAdd"}}"#;

    #[test]
    fn another_bug_in_a_known_bad_case_fails() -> Result<(), ExpectationError> {
        let known = expectations("a,Fail\n# a comment\n\"b,c\",Crash\n", Some(SIDE))?;
        let judge = |record: &Record| known.judge(record, None);
        let same = judge(&record("a", Status::Fail, Some("--ccp/new-outcome/OpIAdd")));
        assert_eq!((same.judged, same.unexpected), (Judged::ExpectedFail(Status::Fail), false));
        let other = judge(&record("a", Status::Fail, Some("--ccp/new-race/OpLoad")));
        assert_eq!((other.judged, other.unexpected), (Judged::As(Status::Fail), true));
        let better = judge(&record("a", Status::Pass, None));
        assert_eq!(better.judged.to_string(), "UnexpectedImprovement(Pass)");
        assert!(better.unexpected);
        // A known failure that nothing decides is neither.
        assert!(!judge(&record("a", Status::Inconclusive, None)).unexpected);
        assert!(!judge(&record("b,c", Status::OptimizerCrash, None)).unexpected);
        assert!(judge(&record("d", Status::Fail, None)).unexpected);
        assert!(judge(&record("a", Status::Missing, None)).unexpected);
        Ok(())
    }

    #[test]
    fn what_was_undecided_fails_only_where_that_is_asked_for() -> Result<(), ExpectationError> {
        let mut none = expectations("", None)?;
        let hollow = record("a", Status::Hollow, None);
        assert!(!none.judge(&hollow, None).unexpected);
        none.fail_on.insert(Status::Hollow);
        assert!(none.judge(&hollow, None).unexpected);
        let own = Some(Expected::Undecided);
        assert_eq!(none.judge(&hollow, own).judged, Judged::ExpectedFail(Status::Hollow));
        Ok(())
    }

    #[test]
    fn what_fails_once_is_a_flake() -> Result<(), ExpectationError> {
        let none = expectations("", None)?;
        let again = |earlier, status| Record { earlier: vec![earlier], ..record("a", status, None) };
        let judge = |record| none.judge_attempts(&record, None);
        assert_eq!(judge(again(Status::Timeout, Status::Pass)).judged, Judged::Flake(Status::Pass));
        let both = judge(again(Status::Timeout, Status::Timeout));
        assert_eq!((both.judged, both.unexpected), (Judged::As(Status::Timeout), true));
        Ok(())
    }

    #[test]
    fn a_blessed_baseline_is_met() -> Result<(), ExpectationError> {
        let folder = tempfile::tempdir().map_err(|error| ExpectationError::Io { path: "".into(), error })?;
        let path = folder.path().join("known.csv");
        let records = [
            record("z", Status::Fail, Some("pair/new-race/OpStore")),
            record("a \"quoted\", name", Status::Timeout, None),
            record("good", Status::Pass, None),
            record("open", Status::Inconclusive, None),
        ];
        let about = About { version: "1.2.3".into(), generation: 4, ..About::default() };
        assert_eq!(Baseline::bless(&path, records.iter(), &about, &BTreeSet::new())?, 2);
        let baseline = Baseline::read(&path)?;
        assert_eq!(baseline.side.about, about);
        let expectations = Expectations { baseline, ..Expectations::default() };
        assert!(records.iter().all(|record| !expectations.judge(record, None).unexpected));
        Ok(())
    }

    #[test]
    fn what_did_not_run_stays_in_a_blessed_baseline() -> Result<(), ExpectationError> {
        let folder = tempfile::tempdir().map_err(|error| ExpectationError::Io { path: "".into(), error })?;
        let path = folder.path().join("new/folder/known.csv");
        let bless = |records: &[Record], version: &str| {
            let about = About { version: version.to_owned(), ..About::default() };
            Baseline::bless(&path, records.iter(), &about, &BTreeSet::new())
        };
        let first = [
            record("# elsewhere", Status::Fail, Some("pair/new-race/OpStore")),
            record("skipped", Status::Timeout, None),
            record("mended", Status::Fail, Some("pair/new-race/OpStore")),
            record("gone", Status::Fail, Some("pair/new-race/OpStore")),
        ];
        assert_eq!(bless(&first, "1")?, 4);
        let second = [
            record("mended", Status::Pass, None),
            record("gone", Status::Missing, None),
            record("skipped", Status::Skip, None),
            record("new", Status::OptimizerCrash, Some("-O/OptimizerCrash")),
        ];
        assert_eq!(bless(&second, "2")?, 3);
        let baseline = Baseline::read(&path)?;
        assert_eq!(baseline.cases().collect::<Vec<_>>(), ["# elsewhere", "new", "skipped"]);
        assert_eq!(baseline.side.about.version, "2");
        assert_eq!(baseline.side.buckets.keys().collect::<Vec<_>>(), ["# elsewhere", "new"]);
        Ok(())
    }

    #[test]
    fn a_known_flake_may_pass_although_it_is_known_to_fail() -> Result<(), ExpectationError> {
        let mut known = expectations("a,Fail\n", None)?;
        known.flakes = Patterns(vec![Regex::new("^a$").map_err(|_| ExpectationError::Line {
            path: "".into(),
            line: 1,
            why: String::new(),
        })?]);
        let verdict = known.judge(&record("a", Status::Pass, None), None);
        assert_eq!((verdict.judged, verdict.unexpected), (Judged::KnownFlake(Status::Pass), false));
        let fails = known.judge(&record("a", Status::Fail, None), None);
        assert_eq!(fails.judged, Judged::ExpectedFail(Status::Fail));
        Ok(())
    }

    #[test]
    fn wrong_lines_are_named() {
        let error = expectations("a,Fail\nb,Wrong\n", None).err().map(|error| error.to_string());
        assert!(error.is_some_and(|error| error.contains("baseline.csv:2: 'Wrong' is no status")));
        assert!(expectations("a\n", None).is_err());
        assert!(expectations("a,Fail\na,Pass\n", None).is_err());
    }
}

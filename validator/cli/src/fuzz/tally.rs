//! What a run comes to.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{json, Value};
use spirv_tv::report::Painter;
use spirv_tv_gate::Bucket;

use super::arguments::Kind;
use super::record::{Class, Record, Status};
use crate::interrupt;

/// Buckets that a text lists.
const LISTED: usize = 20;

/// What a run comes to.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    pub(super) records: &'a BTreeMap<String, Record>,
    /// Buckets of findings that are known.
    pub(super) known: &'a BTreeSet<Bucket>,
    /// The executor's name.
    pub(super) executor: &'a str,
    /// The user ended the run.
    pub(super) is_interrupted: bool,
}

impl Tally<'_> {
    /// Records that are findings, or that the executor did not finish, and that nobody knows yet.
    fn unknown(&self) -> impl Iterator<Item = &Record> {
        let is_bad = |record: &&Record| record.status.class() >= Class::Executor;
        let is_known =
            |record: &&Record| record.bucket.as_ref().is_some_and(|bucket| self.known.contains(bucket));
        self.records.values().filter(is_bad).filter(move |record| !is_known(record))
    }

    /// The exit code.
    pub(super) fn exit_code(&self) -> u8 {
        if self.is_interrupted {
            return interrupt::EXIT_CODE;
        }
        match self.unknown().map(|record| record.status.class()).max() {
            Some(Class::Bug) => spirv_tv::behaviour::Bug::EXIT_CODE,
            Some(Class::Wrong) => 1,
            Some(Class::Executor) => 5,
            Some(Class::Good | Class::Undecided) | None => {
                let is_judged = |record: &Record| record.status.class() != Class::Undecided;
                if self.records.values().any(is_judged) {
                    0
                } else {
                    3
                }
            }
        }
    }

    fn of(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.records.values().filter(move |record| record.case.starts_with(kind.name()))
    }

    fn statuses(&self) -> BTreeMap<&'static str, usize> {
        let mut all = BTreeMap::new();
        self.records.values().for_each(|record| *all.entry(record.status.name()).or_default() += 1);
        all
    }

    /// Findings by bucket: how many, and the first one.
    fn buckets(&self) -> BTreeMap<&Bucket, (usize, &Record)> {
        let mut all: BTreeMap<&Bucket, (usize, &Record)> = BTreeMap::new();
        for record in self.records.values() {
            if let Some(bucket) = &record.bucket {
                all.entry(bucket).or_insert((0, record)).0 += 1;
            }
        }
        all
    }

    /// Weakened programs that ran, and those whose additional outcomes were shown.
    fn weakened(&self) -> (usize, usize) {
        let weakened = || self.records.values().filter_map(|record| record.weak);
        (weakened().count(), weakened().filter(|count| *count > 0).count())
    }

    /// The same by the kind of the weakening.
    fn weakened_by_kind(&self) -> BTreeMap<&str, [u32; 2]> {
        let mut kinds: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
        for record in self.records.values() {
            let Some(weak) = record.weak else { continue };
            let name = record.treatment.trim_start_matches("weakened: ");
            let kind = name.split(' ').next().unwrap_or(name);
            let [tried, seen] = kinds.entry(kind).or_default();
            *tried += 1;
            *seen += u32::from(weak > 0);
        }
        kinds
    }

    fn outcomes(&self) -> (u64, u64) {
        let strong = self.of(Kind::Concurrent).filter(|record| record.weak.is_none() && record.instances > 0);
        strong.fold((0, 0), |(allowed, shown), record| (allowed + record.allowed, shown + record.shown))
    }

    /// The text for people.
    pub(super) fn text(&self, painter: Painter) -> String {
        let cases = self.records.len();
        let new = self.unknown().count();
        let cases = if cases == 1 { "1 case".to_owned() } else { format!("{cases} cases") };
        let is_judged = |record: &&Record| !matches!(record.status.class(), Class::Undecided);
        let judged = self.records.values().filter(is_judged).count();
        let findings = self.records.values().filter(|record| record.status.class() >= Class::Executor);
        let known = findings.count() - new;
        let first = match (new, known) {
            (0, 0) if judged == 0 => format!("{}: nothing was judged, of {cases}", self.executor),
            (0, 0) => format!("{}: nothing that is not allowed in {cases}", self.executor),
            (0, 1) => format!("{}: nothing new in {cases}: the one finding is known", self.executor),
            (0, known) => format!("{}: nothing new in {cases}: {known} findings are known", self.executor),
            (1, _) => format!("{}: 1 new finding in {cases}", self.executor),
            _ => format!("{}: {new} new findings in {cases}", self.executor),
        };
        let mut lines = vec![if new == 0 { first } else { painter.bad(&first) }];
        if self.is_interrupted {
            lines.push("  interrupted; --resume goes on".to_owned());
        }
        for kind in [Kind::Concurrent, Kind::Generated, Kind::Modules] {
            let (count, instances) =
                self.of(kind).fold((0_u64, 0_u64), |(count, all), one| (count + 1, all + one.instances));
            if count > 0 {
                let of = if kind == Kind::Concurrent { "instances" } else { "runs" };
                let cases = if count == 1 { "case" } else { "cases" };
                lines.push(format!("  {:<11} {count} {cases}, {} {of}", kind.name(), grouped(instances)));
            }
        }
        let (allowed, shown) = self.outcomes();
        if allowed > 0 {
            lines.push(format!(
                "  outcomes    {shown} of {allowed} allowed ones were seen, {} never",
                allowed.saturating_sub(shown)
            ));
        }
        let (tried, seen) = self.weakened();
        if let Some(share) = (seen * 100).checked_div(tried) {
            lines.push(format!(
                "  stress      {seen} of {tried} weakened programs ({share} %) showed what only they allow"
            ));
            let kinds = self.weakened_by_kind().into_iter();
            let kinds = kinds.map(|(kind, [tried, seen])| format!("{kind} {seen} of {tried}"));
            lines.push(format!("              {}", kinds.collect::<Vec<_>>().join(", ")));
        }
        let statuses: Vec<String> = Status::ALL
            .iter()
            .filter_map(|status| Some(format!("{} {}", self.statuses().get(status.name())?, status.name())))
            .collect();
        if !statuses.is_empty() {
            lines.push(format!("  statuses    {}", statuses.join(", ")));
        }
        let is_flaky =
            |record: &&Record| record.earlier.is_some() && record.status.class() != Class::Executor;
        let flaky = self.records.values().filter(is_flaky).count();
        if flaky > 0 {
            let told = match flaky {
                1 => "1 case was not finished at first, and was when run again".to_owned(),
                _ => format!("{flaky} cases were not finished at first, and were when run again"),
            };
            lines.push(format!("  again       {told}"));
        }
        let buckets = self.buckets();
        for (bucket, (count, record)) in buckets.iter().take(LISTED) {
            let word = if self.known.contains(*bucket) { "known" } else { "new" };
            lines.push(format!("  {count:>4} {word:<5} {bucket}"));
            lines.push(format!("             {}: {}", record.case, record.detail));
            lines.extend(record.saved.iter().map(|saved| format!("             {saved}")));
        }
        if buckets.len() > LISTED {
            lines.push(format!("  and {} more buckets, in failures.csv", buckets.len() - LISTED));
        }
        let is_told = |record: &&Record| {
            record.status.class() == Class::Undecided && record.status != Status::Redundant
        };
        let undecided = self.records.values().filter(is_told);
        let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        undecided.for_each(|record| {
            *reasons.entry((record.status.name(), record.detail.as_str())).or_default() += 1;
        });
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for ((status, detail), count) in reasons.iter().take(LISTED / 2) {
            lines.push(painter.faint(&format!("  {count:>4} {status}: {detail}")));
        }
        if reasons.len() > LISTED / 2 {
            lines.push(
                painter.faint(&format!("  and {} more reasons, in results.csv", reasons.len() - LISTED / 2)),
            );
        }
        lines.into_iter().map(|line| line + "\n").collect()
    }

    /// The object of schema `spirv-tv.fuzz/1`.
    pub(super) fn json(&self) -> Value {
        let (allowed, shown) = self.outcomes();
        let (tried, seen) = self.weakened();
        let kinds: BTreeMap<&str, Value> = { self.weakened_by_kind().into_iter() }
            .map(|(kind, [tried, seen])| (kind, json!({"tried": tried, "shown": seen})))
            .collect();
        let instances = |kind: Kind| self.of(kind).map(|record| record.instances).sum::<u64>();
        let buckets = self.buckets().into_iter().map(|(bucket, (count, record))| {
            json!({
                "bucket": bucket, "count": count, "known": self.known.contains(bucket),
                "case": record.case, "detail": record.detail, "saved": record.saved,
            })
        });
        json!({
            "schema": "spirv-tv.fuzz/1",
            "executor": self.executor,
            "interrupted": self.is_interrupted,
            "cases": self.records.len(),
            "new": self.unknown().count(),
            "instances": instances(Kind::Concurrent),
            "runs": instances(Kind::Generated) + instances(Kind::Modules),
            "outcomes": {"allowed": allowed, "shown": shown},
            "weakened": {"tried": tried, "shown": seen, "kinds": kinds},
            "statuses": self.statuses(),
            "buckets": buckets.collect::<Vec<_>>(),
        })
    }

    /// One line for each case, for programs.
    pub(super) fn csv(&self) -> String {
        let mut text =
            "case,status,bucket,program,treatment,instances,allowed,shown,weak,detail\n".to_owned();
        for record in self.records.values() {
            let weak = record.weak.map(|weak| weak.to_string()).unwrap_or_default();
            let fields = [
                record.case.clone(),
                record.status.name().to_owned(),
                record.bucket.as_ref().map(ToString::to_string).unwrap_or_default(),
                record.program.clone(),
                record.treatment.clone(),
                record.instances.to_string(),
                record.allowed.to_string(),
                record.shown.to_string(),
                weak,
                record.detail.clone(),
            ];
            text.push_str(&fields.map(|field| quoted(&field)).join(","));
            text.push('\n');
        }
        text
    }
}

/// A field of a file of values (RFC 4180).
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_owned(),
    }
}

/// A number with a mark between thousands.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut told = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            told.push(',');
        }
        told.push(digit);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        let told = [0, 12, 123, 1234, 123_456_789].map(grouped);
        assert_eq!(told, ["0", "12", "123", "1,234", "123,456,789"]);
    }

    #[test]
    fn what_was_found_decides_the_exit_code() {
        let code = |statuses: &[Status], known: &[&str]| {
            let records = statuses.iter().enumerate().map(|(number, status)| {
                let name = format!("concurrent-{number}");
                let record = Record::new(name.clone(), "p".into(), "t".into()).with(*status, "");
                (name, Record { bucket: Some(Bucket(status.name().to_owned())), ..record })
            });
            let records = records.collect();
            let known = known.iter().map(|known| Bucket((*known).to_owned())).collect();
            Tally { records: &records, known: &known, executor: "e", is_interrupted: false }.exit_code()
        };
        assert_eq!(code(&[Status::Passed, Status::NotJudged], &[]), 0);
        assert_eq!(code(&[Status::Unsupported, Status::NotJudged], &[]), 3);
        assert_eq!(code(&[], &[]), 3);
        assert_eq!(code(&[Status::Passed, Status::Crashed], &[]), 5);
        assert_eq!(code(&[Status::Crashed, Status::NewOutcome], &[]), 1);
        assert_eq!(code(&[Status::Passed, Status::NewOutcome], &["new-outcome"]), 0);
        assert_eq!(code(&[Status::NewOutcome, Status::ToolBug], &[]), 70);
    }
}

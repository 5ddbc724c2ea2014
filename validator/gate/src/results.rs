//! The results of a run as reports show them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::Record;
use crate::status::{Class, Judged, Status};

/// What results rest on beside the cases. Results and baselines keep it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The version of spirv-tv.
    pub version: String,
    /// The generation of automatic inputs and of readings of the specifications: results of one generation are
    /// comparable.
    pub generation: u32,
    /// Other tools by name, with their versions: the bundled spirv-opt, optimisers of the user.
    pub tools: BTreeMap<String, String>,
    /// The options that results depend on, as on a command line.
    pub options: Vec<String>,
}

/// A case's record beside what was expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What became of it.
    pub record: Record,
    /// The same in deqp-runner's words.
    pub judged: Judged,
    /// Whether it makes the run fail.
    pub unexpected: bool,
    /// What the baseline or the manifest says of the case, if anything.
    pub expected: Option<String>,
    /// A note of the manifest.
    pub note: Option<String>,
}

/// What a run came to.
#[derive(Clone, Debug, Default)]
pub struct Results {
    /// What it rests on.
    pub about: About,
    /// The command, for people.
    pub command: String,
    /// Every case, by name.
    pub cases: Vec<Judgement>,
    /// Wall-clock time of the run, in seconds.
    pub seconds: f64,
    /// What makes the run fail beside cases, such as too few that were decided; and what else is to be known.
    pub remarks: Vec<Remark>,
}

/// Something to be known of the whole run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Whether it makes the run fail.
    pub fails: bool,
    /// One line.
    pub text: String,
}

impl Results {
    /// The cases that make the run fail.
    pub fn unexpected(&self) -> impl Iterator<Item = &Judgement> {
        self.cases.iter().filter(|case| case.unexpected)
    }

    /// How many cases have each status as it is shown, the most frequent first.
    pub fn counts(&self) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for case in &self.cases {
            *counts.entry(case.judged.to_string()).or_default() += 1;
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.sort_by(|(name, count), (other, of_other)| of_other.cmp(count).then(name.cmp(other)));
        counts
    }

    /// Unexpected failures by bucket, with how many cases each has and the first of them; the largest first. Cases
    /// without a bucket count by their status.
    pub fn buckets(&self) -> Vec<(String, usize, &Judgement)> {
        let mut buckets: BTreeMap<String, (usize, &Judgement)> = BTreeMap::new();
        for case in self.unexpected().filter(|case| case.record.status.class() == Class::Bad) {
            let name =
                case.record.bucket.as_ref().map_or(case.record.status.name().to_owned(), ToString::to_string);
            buckets.entry(name).or_insert((0, case)).0 += 1;
        }
        let mut buckets: Vec<(String, usize, &Judgement)> =
            buckets.into_iter().map(|(name, (count, case))| (name, count, case)).collect();
        buckets.sort_by(|(name, count, _), (other, of_other, _)| of_other.cmp(count).then(name.cmp(other)));
        buckets
    }

    /// Whether an executor ran the cases. Then modules were not compared, and what code ran is not known.
    pub fn is_run(&self) -> bool {
        self.about.tools.contains_key("executor")
    }

    /// What a status means in these results, in a few words.
    pub fn meaning(&self, status: Status) -> &'static str {
        match self.is_run() {
            true => status.meaning_of_run(),
            false => status.meaning(),
        }
    }

    /// Of the cases that ran, how many of a hundred have an answer. 100 where none ran.
    pub fn decided(&self) -> f64 {
        self.share(|status| status.is_decided())
    }

    /// Of the cases that ran, in how many of a hundred the changed code ran with something observable behind it.
    pub fn exercised(&self) -> f64 {
        self.share(|status| status.is_decided() && status != Status::Hollow)
    }

    fn share(&self, counts: impl Fn(Status) -> bool) -> f64 {
        let ran = |case: &&Judgement| {
            case.record.status.class() != Class::NotRun && case.record.status != Status::Missing
        };
        let all = self.cases.iter().filter(ran).count();
        let some = self.cases.iter().filter(ran).filter(|case| counts(case.record.status)).count();
        if all == 0 {
            return 100.0;
        }
        // Far below 2^52 cases.
        100.0 * some as f64 / all as f64
    }

    /// Whether nothing unexpected happened.
    pub fn is_good(&self) -> bool {
        self.unexpected().next().is_none() && !self.remarks.iter().any(|remark| remark.fails)
    }
}

//! What comes of a case beside its record.

use super::record::Record;

/// What comes of a case.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) record: Record,
    /// What a finding is saved with.
    pub(super) evidence: Evidence,
}

/// What a finding is saved with.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// Files by name.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// What was expected and what was shown, as lines of Markdown.
    pub(super) told: Vec<String>,
}

impl Evidence {
    /// Adds a file.
    pub(super) fn add(&mut self, name: &str, contents: impl Into<Vec<u8>>) {
        self.files.push((name.to_owned(), contents.into()));
    }
}

impl From<Record> for Answer {
    fn from(record: Record) -> Self {
        Answer { record, evidence: Evidence::default() }
    }
}

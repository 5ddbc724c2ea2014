//! What is kept of a case.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::status::Status;

/// What became of a case, as results keep it: one line of JSON each (docs/gate.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The case's name, which is unique in a run.
    pub case: String,
    /// What became of it.
    pub status: Status,
    /// Which failure it is: the same for cases that fail for the same reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<Bucket>,
    /// Why it is that status, on one line; empty where there is nothing to say.
    #[serde(default)]
    pub detail: String,
    /// The pass that did it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<String>,
    /// Both modules are the same program but for ids, names and lines.
    #[serde(default)]
    pub proved: bool,
    /// Number of inputs that were run.
    #[serde(default)]
    pub inputs: u64,
    /// Wall-clock time of the case, in seconds.
    #[serde(default)]
    pub seconds: f64,
    /// Wall-clock time of the optimiser in it, in seconds.
    #[serde(default)]
    pub optimizer_seconds: f64,
    /// The statuses of earlier attempts, where it was run again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Status>,
    /// The text report, of failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<String>,
    /// The folder, relative to that of the results, which has the pair, the launch and the command to replay, of failures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// The file that the case's module is in, as the command line names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line of that file, or of the disassembly of the module in it, that is to blame; 1-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Whether that file is text, so that the line is one of its own.
    #[serde(default)]
    pub is_text: bool,
    /// The reference (`--reference`) fails in the same way.
    #[serde(default)]
    pub is_in_reference: bool,
    /// A hash of both modules without names and lines: where it is the same in two runs, the compiler did the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modules: Option<String>,
    /// What a manifest expects of the case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<String>,
    /// What a manifest notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What went wrong beside it, such as a cache that cannot be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// The module lacks what the case's own launch or options name, so that nothing was compared.
    #[serde(default)]
    pub misfit: bool,
    /// The answer is that of a cache.
    #[serde(default)]
    pub cached: bool,
}

/// Which failure it is. Its text is `PASS/KIND/WHAT`, and a baseline pins that.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bucket(pub String);

impl std::fmt::Display for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Record {
    /// The record as results in the folder `to` have it, where it was in those in `from`: what was saved stays where it is.
    pub fn moved(mut self, from: &Path, to: &Path) -> Record {
        let path = |saved: &String| {
            let path = pathdiff::diff_paths(absolute(&from.join(saved))?, absolute(to)?)?;
            let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
            Some(parts?.join("/"))
        };
        if let Some(moved) = self.saved.as_ref().and_then(path) {
            self.saved = Some(moved);
        }
        self
    }

    /// What is known before anything is.
    pub fn new(case: impl Into<String>, status: Status, detail: impl Into<String>) -> Record {
        Record {
            case: case.into(),
            status,
            bucket: None,
            detail: detail.into(),
            pass: None,
            proved: false,
            inputs: 0,
            seconds: 0.0,
            optimizer_seconds: 0.0,
            earlier: Vec::new(),
            report: None,
            saved: None,
            file: None,
            line: None,
            is_text: false,
            is_in_reference: false,
            modules: None,
            expect: None,
            note: None,
            trouble: None,
            misfit: false,
            cached: false,
        }
    }
}

/// A path from the root, without `..`.
fn absolute(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in std::path::absolute(path).ok()?.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            other => plain.push(other),
        }
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_saved_stays_where_it_is() {
        let mut record = Record::new("a", Status::Fail, "");
        record.saved = Some("failures/a-1".to_owned());
        let moved = record.moved(Path::new("shards/one"), Path::new("merged"));
        assert_eq!(moved.saved.as_deref(), Some("../shards/one/failures/a-1"));
        let again = moved.moved(Path::new("merged"), Path::new("shards"));
        assert_eq!(again.saved.as_deref(), Some("one/failures/a-1"));
    }
}

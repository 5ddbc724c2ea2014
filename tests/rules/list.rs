//! `rules.toml`: what each rule says, and which tests notice that it is broken.

use std::path::Path;

use serde::Deserialize;

use super::rule::How;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    pub rule: Vec<Entry>,
    pub outside: Vec<Outside>,
    pub consequence: Vec<Consequence>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Entry {
    pub name: String,
    /// Of the specification's appendix.
    pub section: String,
    pub says: String,
    dropped: Option<Noticed>,
    inverted: Option<Noticed>,
    pub altered_to: Option<String>,
    altered: Option<Noticed>,
}

/// Who notices that a rule is broken in some way.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum Noticed {
    By(Vec<String>),
    /// No program can, for this reason.
    Never(String),
}

/// A rule about what the tool never runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outside {
    pub section: String,
    pub says: String,
    pub why: String,
}

/// A rule that follows from the others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Consequence {
    pub says: String,
    pub tests: Vec<String>,
}

impl Entry {
    pub fn noticed(&self, how: How) -> Option<&Noticed> {
        match how {
            How::Dropped => self.dropped.as_ref(),
            How::Inverted => self.inverted.as_ref(),
            How::Altered => self.altered.as_ref(),
        }
    }
}

pub fn read() -> List {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rules/rules.toml");
    toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

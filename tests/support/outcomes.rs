//! The outcomes of a module of the corpus, in words.

use std::collections::BTreeMap;
use std::path::Path;

use spirv_tv::behaviour::Outcome;
use spirv_tv::check::{outcomes, Explored, Watch};
use spirv_tv::report::json;
use spirv_tv::value::Byte;

use super::support::{schema, Checker};

/// Words of each buffer.
pub type Words = BTreeMap<String, Vec<u32>>;

/// What the only entry point of a module does on the only input.
pub fn explored(path: &Path, args: &[String]) -> Explored {
    let checker = Checker::new(args);
    let report = outcomes(&checker.module(path), &checker.options, &Watch::default());
    let mut report = report.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // Of more outcomes than anybody reads there are others of the same form.
    if report.runs.iter().all(|run| run.explored.behaviours.listed().len() < 1_000) {
        schema::parsed(&json::outcomes(&report))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    assert_eq!((report.runs.len(), &report.unsupported[..]), (1, &[][..]), "{}", path.display());
    report.runs.remove(0).explored
}

/// The words of each observed buffer, which have no undefined byte.
pub fn words(explored: &Explored, outcome: &Outcome) -> Words {
    let word = |bytes: &[Byte]| {
        bytes.iter().rev().fold(0, |word, byte| match byte {
            Byte::Known(byte) => word << 8 | u32::from(*byte),
            Byte::Undef => panic!("an undefined byte"),
        })
    };
    let observed = explored.dispatch.objects.iter().filter(|object| object.observed);
    let memory = observed.zip(&outcome.memory);
    memory.map(|(object, bytes)| (object.key.clone(), bytes.chunks(4).map(word).collect())).collect()
}

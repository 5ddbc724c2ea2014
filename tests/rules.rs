//! No rule of the memory model is untested: each is broken in the naive twin, and the tests that
//! `rules/list.rs` names must notice it.

#[path = "twin/axioms.rs"]
mod axioms;
#[path = "twin/litmus.rs"]
mod litmus;
#[path = "twin/location_order.rs"]
mod location_order;
#[path = "twin/model.rs"]
mod model;
#[path = "twin/relation.rs"]
mod relation;
#[path = "twin/rule.rs"]
mod rule;
#[path = "twin/synchronize.rs"]
mod synchronize;

use std::collections::BTreeMap;
use std::path::Path;

use litmus::Litmus;
use model::Variant;
use rule::{Broken, How, Rule};

/// A test of the corpus, and the variant of the model that it is for.
struct Test {
    litmus: Litmus,
    variant: Variant,
}

/// The tests of a folder; those under `2024` are for that revision.
fn tests(folder: &Path) -> BTreeMap<String, Test> {
    let mut tests = BTreeMap::new();
    let revisions = [("", true), ("2024/", false)];
    for (prefix, from_reads_by_location_order) in revisions {
        let Ok(entries) = std::fs::read_dir(folder.join(prefix)) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "test") {
                let name = format!("{prefix}{}", path.file_stem().unwrap().to_string_lossy());
                let litmus = litmus::parse(&std::fs::read_to_string(&path).unwrap());
                let variant = Variant { from_reads_by_location_order, ..Variant::NEWEST };
                tests.insert(name, Test { litmus, variant });
            }
        }
    }
    tests
}

fn corpus() -> BTreeMap<String, Test> {
    tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/litmus"))
}

impl Test {
    fn notices(&self, broken: Broken) -> bool {
        let sound = self.litmus.answers(self.variant);
        sound != self.litmus.answers(Variant { broken: Some(broken), ..self.variant })
    }
}

#[test]
fn the_twin_meets_the_corpus() {
    let mut surprises = Vec::new();
    for (name, test) in corpus() {
        surprises.extend(test.litmus.surprises(test.variant).iter().map(|text| format!("{name}: {text}")));
    }
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}

/// For whoever adds a rule: which tests notice what.
#[test]
#[ignore = "prints a table: cargo test -p spirv-tv --test rules -- --ignored --nocapture"]
fn who_notices() {
    let mut tests = corpus();
    if std::env::var_os("KHRONOS").is_some() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/khronos");
        tests.extend(self::tests(&folder).into_iter().map(|(name, test)| (format!("khronos/{name}"), test)));
    }
    for &rule in Rule::ALL {
        for how in How::ALL {
            let broken = Broken { rule, how };
            let noticed =
                tests.iter().filter(|(_, test)| test.notices(broken)).map(|(name, _)| name.as_str());
            println!("{rule:?} {how:?}: {}", noticed.collect::<Vec<_>>().join(" "));
        }
    }
}

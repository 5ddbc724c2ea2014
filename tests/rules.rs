//! No rule of the memory model is untested: each is broken in the naive twin, and the tests that
//! `rules/rules.toml` names must notice it. (The engine meets the same tests: `tests/litmus.rs`;
//! which rule stands where: `docs/model.md`.)

#[allow(dead_code, reason = "final values are for tests/twin.rs")]
#[path = "twin/axioms.rs"]
mod axioms;
#[allow(dead_code, reason = "what executions show is for tests/twin.rs")]
#[path = "twin/enumerate.rs"]
mod enumerate;
#[path = "rules/list.rs"]
mod list;
#[path = "twin/litmus.rs"]
mod litmus;
#[path = "twin/location_order.rs"]
mod location_order;
#[allow(dead_code, reason = "what synchronizes is for tests/twin.rs")]
#[path = "twin/model.rs"]
mod model;
#[allow(dead_code, reason = "most programs are generated, for tests/twin.rs")]
#[path = "twin/program.rs"]
mod program;
#[path = "rules/programs.rs"]
mod programs;
#[path = "twin/relation.rs"]
mod relation;
#[path = "twin/rule.rs"]
mod rule;
#[path = "twin/synchronize.rs"]
mod synchronize;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use enumerate::Outcome;
use list::Noticed;
use litmus::Litmus;
use model::Variant;
use program::Program;
use rule::{Broken, How, Rule};

/// More candidates than any of the programs has.
const CANDIDATES: usize = 100_000;

/// A test, and the variant of the model that it is for.
struct Test {
    content: Content,
    variant: Variant,
}

enum Content {
    Litmus(Litmus),
    Program(Program),
}

/// What the twin answers to a test.
#[derive(PartialEq, Eq)]
enum Answer {
    Litmus(Vec<bool>),
    Program { outcomes: BTreeSet<Outcome>, racy: bool },
}

impl Test {
    fn answer(&self, broken: Option<Broken>) -> Answer {
        let variant = Variant { broken, ..self.variant };
        match &self.content {
            Content::Litmus(litmus) => Answer::Litmus(litmus.answers(variant)),
            Content::Program(program) => {
                let found = enumerate::enumerate(program, variant, CANDIDATES).expect("few candidates");
                Answer::Program { outcomes: found.outcomes, racy: found.racy }
            }
        }
    }

    fn notices(&self, broken: Broken) -> bool {
        self.answer(None) != self.answer(Some(broken))
    }
}

/// The revisions of the model, and the folders of the tests that are for them.
const REVISIONS: [(&str, bool); 2] = [("", true), ("2024/", false)];

fn corpus_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/litmus")
}

/// The tests of a folder by name.
fn tests_in(folder: &Path) -> BTreeMap<String, Test> {
    let mut tests = BTreeMap::new();
    for (prefix, from_reads_by_location_order) in REVISIONS {
        let Ok(entries) = std::fs::read_dir(folder.join(prefix)) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "test") {
                let name = format!("{prefix}{}", path.file_stem().unwrap().to_string_lossy());
                let litmus = litmus::parse(&std::fs::read_to_string(&path).unwrap());
                let variant = Variant { from_reads_by_location_order, ..Variant::NEWEST };
                tests.insert(name, Test { content: Content::Litmus(litmus), variant });
            }
        }
    }
    tests
}

/// All tests of ours by name.
fn tests() -> BTreeMap<String, Test> {
    let mut tests = tests_in(&corpus_folder());
    let variant = Variant::NEWEST;
    for (name, text) in programs::THREE_CLASSES {
        tests.insert(name.to_owned(), Test { content: Content::Litmus(litmus::parse(text)), variant });
    }
    for (name, program) in programs::programs() {
        tests.insert(name.to_owned(), Test { content: Content::Program(program), variant });
    }
    tests
}

#[test]
fn the_twin_meets_the_corpus() {
    let mut surprises = Vec::new();
    for (name, test) in tests() {
        if let Content::Litmus(litmus) = &test.content {
            surprises.extend(litmus.surprises(test.variant).iter().map(|text| format!("{name}: {text}")));
        }
    }
    assert!(surprises.is_empty(), "{} surprises:\n{}", surprises.len(), surprises.join("\n"));
}

/// What is wrong with what the list says of one way to break a rule.
fn complaint(tests: &BTreeMap<String, Test>, broken: Broken, noticed: Option<&Noticed>) -> Option<String> {
    match noticed {
        Some(Noticed::By(names)) if names.is_empty() => Some("no test".to_owned()),
        Some(Noticed::Never(why)) if why.is_empty() => Some("no reason".to_owned()),
        Some(Noticed::By(names)) => names.iter().find_map(|name| match tests.get(name) {
            None => Some(format!("there is no test {name}")),
            Some(test) => (!test.notices(broken)).then(|| format!("{name} does not notice it")),
        }),
        Some(Noticed::Never(_)) | None => tests
            .iter()
            .find(|(_, test)| test.notices(broken))
            .map(|(name, _)| format!("{name} notices it, and the list does not say so")),
    }
}

#[test]
fn every_broken_rule_is_noticed() {
    let list = list::read();
    let tests = tests();
    let mut complaints = Vec::new();
    for &rule in Rule::ALL {
        let name = format!("{rule:?}");
        let entries: Vec<_> = list.rule.iter().filter(|entry| entry.name == name).collect();
        let &[entry] = entries.as_slice() else {
            complaints.push(format!("{name}: {} entries in the list", entries.len()));
            continue;
        };
        if How::ALL.into_iter().all(|how| entry.noticed(how).is_none()) {
            complaints.push(format!("{name}: neither a test nor a reason"));
        }
        if entry.says.is_empty() || entry.section.is_empty() {
            complaints.push(format!("{name}: says nothing"));
        }
        if entry.altered_to.is_some() != entry.noticed(How::Altered).is_some() {
            complaints.push(format!("{name}: altered-to and altered belong together"));
        }
        for how in How::ALL {
            let complaint = complaint(&tests, Broken { rule, how }, entry.noticed(how));
            complaints.extend(complaint.map(|why| format!("{name} {how:?}: {why}")));
        }
    }
    let is_rule = |name: &str| Rule::ALL.iter().any(|rule| format!("{rule:?}") == name);
    for entry in list.rule.iter().filter(|entry| !is_rule(&entry.name)) {
        complaints.push(format!("{}: no rule", entry.name));
    }
    for rule in &list.outside {
        if rule.section.is_empty() || rule.says.is_empty() || rule.why.is_empty() {
            complaints.push(format!("{}: why is it left out?", rule.says));
        }
    }
    for rule in &list.consequence {
        if rule.tests.is_empty() || rule.tests.iter().any(|name| !tests.contains_key(name)) {
            complaints.push(format!("{}: tests are missing", rule.says));
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// For whoever adds a rule: which tests notice what.
#[test]
#[ignore = "prints a table: cargo test -p spirv-tv-cli --test rules -- --ignored --nocapture"]
fn who_notices() {
    let tests = tests();
    for &rule in Rule::ALL {
        for how in How::ALL {
            let broken = Broken { rule, how };
            let noticed =
                tests.iter().filter(|(_, test)| test.notices(broken)).map(|(name, _)| name.as_str());
            println!("{rule:?} {how:?}: {}", noticed.collect::<Vec<_>>().join(" "));
        }
    }
}

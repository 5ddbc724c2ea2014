//! The front end and the lowering on every module of the corpus, and on what is left of it after
//! random damage.

use std::path::{Path, PathBuf};

use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::module::{Module, ReadOptions};

/// The modules of the corpus, each with the environment that its pair is for.
fn corpus() -> Vec<(PathBuf, ReadOptions)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")];
    while let Some(folder) = folders.pop() {
        let mut modules = Vec::new();
        let mut options = ReadOptions::default();
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "spvasm") {
                modules.push(path);
            } else if path.file_name().is_some_and(|name| name == "pair.toml") {
                options = options_of(&std::fs::read_to_string(path).unwrap());
            }
        }
        found.extend(modules.into_iter().map(|path| (path, options.clone())));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!found.is_empty());
    found
}

fn options_of(pair: &str) -> ReadOptions {
    let pair: toml::Table = pair.parse().unwrap();
    let args: Vec<&str> = match pair.get("args") {
        Some(args) => args.as_array().unwrap().iter().filter_map(|arg| arg.as_str()).collect(),
        None => Vec::new(),
    };
    match args.iter().position(|&arg| arg == "--target-env") {
        Some(at) => ReadOptions::for_env(args[at + 1].parse().unwrap()),
        None => ReadOptions::default(),
    }
}

#[test]
fn every_module_of_the_corpus_is_read_and_lowered() {
    let mut failures = Vec::new();
    for (path, options) in corpus() {
        let name = path.to_string_lossy();
        let lowered = Module::load(&name, &options).map_err(|error| error.to_string()).and_then(|module| {
            assert!(module.instructions().all(|one| one.line != 0), "{name} has instructions without a line");
            lower(&module, &LowerOptions::default()).map_err(|error| format!("{name}: {error}"))
        });
        failures.extend(lowered.err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A generator of pseudorandom numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// Changes some words behind the header: to a small number, to another word of the module, by a bit.
fn damage(words: &[u32], random: &mut Random) -> Vec<u32> {
    let mut damaged = words.to_vec();
    for _ in 0..=random.below(4) {
        let at = 5 + random.below(damaged.len() - 5);
        damaged[at] = match random.below(4) {
            0 => random.below(80) as u32,
            1 => damaged[5 + random.below(damaged.len() - 5)],
            2 => damaged[at] ^ 1 << random.below(32),
            _ => damaged[at].wrapping_add(1),
        };
    }
    damaged
}

/// A panic would fail the test; what is wrong must come back as an error.
#[test]
fn damaged_modules_give_errors_not_panics() {
    let mut random = Random(1);
    let mut accepted = 0;
    let mut rejected = 0;
    for (path, mut options) in corpus() {
        options.lenient = true;
        let words = Module::load(&path.to_string_lossy(), &options).unwrap().words;
        for _ in 0..DAMAGED_PER_MODULE {
            let damaged = damage(&words, &mut random);
            match Module::from_words(damaged, "damaged", &options) {
                Ok(module) => match lower(&module, &LowerOptions::default()) {
                    Ok(_) => accepted += 1,
                    Err(_) => rejected += 1,
                },
                Err(_) => rejected += 1,
            }
        }
    }
    // Both ways are taken often, or the test says little.
    assert!(accepted > 100 && rejected > 100, "{accepted} accepted, {rejected} rejected");
}

const DAMAGED_PER_MODULE: usize = 10;

//! The presets' lists, run one pass at a time, give what the presets give in one run.

#![cfg(feature = "bundled")]

use std::path::Path;

use spirv_tv_toolchain::{assemble, disassemble, optimize, preset, OptimizeOptions, TargetEnv};

fn run(words: &[u32], flags: &[&str]) -> Vec<u32> {
    let flags: Vec<String> = flags.iter().map(|&flag| flag.to_owned()).collect();
    optimize(words, &flags, &OptimizeOptions::default()).expect("the optimiser runs").words
}

/// Ids in order of appearance: a single run does not reuse the ids that its own passes freed.
fn renumbered(words: &[u32]) -> String {
    disassemble(&run(words, &["--compact-ids"])).expect("a module")
}

fn assert_same(name: &str, words: &[u32]) {
    for flag in ["-O", "-Os", "--legalize-hlsl"] {
        let preset = preset(flag).expect("a preset");
        assert!(preset.covers(words));
        let at_once = run(words, &[flag]);
        let one_by_one =
            preset.passes.iter().fold(words.to_vec(), |words, pass| run(&words, std::slice::from_ref(pass)));
        assert_eq!(renumbered(&one_by_one), renumbered(&at_once), "{flag} on {name}");
    }
}

#[test]
fn one_by_one_equals_at_once_on_a_module_that_every_kind_of_pass_changes() {
    let words = assemble(include_str!("busy.spvasm"), Some(TargetEnv::Universal1_5)).expect("it assembles");
    assert_ne!(run(&words, &["-O"]), words);
    assert_same("busy.spvasm", &words);
}

#[test]
fn one_by_one_equals_at_once_on_the_corpus() {
    let pairs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/pairs");
    let mut modules = 0;
    for pair in std::fs::read_dir(pairs).expect("the corpus").flatten() {
        let path = pair.path().join("before.spvasm");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let words = assemble(&text, None).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_same(&path.display().to_string(), &words);
        modules += 1;
    }
    assert!(modules >= 10, "{modules} modules");
}

//! What the bundled optimiser does wrong: `corpus/findings/` has the results that change a module's
//! meaning, `corpus/crashes/` the modules that bring it down. A new version of the optimiser that no longer
//! does so fails here, and its entry is told apart as history.

use std::path::{Path, PathBuf};

use spirv_tv::optimise::process::DEFAULT_TIMEOUT;
use spirv_tv::optimise::{OptimiserFailure, OptimiserProcess};
use spirv_tv_toolchain::{
    assemble, disassemble_with, spirv_opt_version, validate, DisassembleOptions, OptimizeOptions, TargetEnv,
    ValidatorOptions,
};

/// Where `args` name no environment.
const CORPUS_ENVIRONMENT: TargetEnv = TargetEnv::Vulkan1_3;

fn process() -> OptimiserProcess {
    OptimiserProcess {
        program: PathBuf::from(env!("CARGO_BIN_EXE_spirv-tv")),
        options: OptimizeOptions::default(),
        timeout: DEFAULT_TIMEOUT,
    }
}

fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(folder);
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder is there")
        .map(|entry| entry.expect("a readable entry").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Assembles a module and validates it.
fn module(path: &Path, env: TargetEnv) -> Vec<u32> {
    let words = assemble(&read(path), Some(env)).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
    validate(&words, &ValidatorOptions::for_env(env))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    words
}

/// The text of a module with ids in order of appearance and without names.
fn renumbered(words: &[u32]) -> String {
    let flags = ["--strip-debug", "--compact-ids"].map(str::to_owned);
    let words = process().run(words, &flags).expect("plain passes run");
    let options = DisassembleOptions { header: false, ..DisassembleOptions::RAW };
    disassemble_with(&words, options).expect("a module")
}

#[test]
fn the_optimiser_still_writes_the_after_of_each_finding() {
    for folder in entries("findings") {
        let pair: toml::Table = toml::from_str(&read(&folder.join("pair.toml"))).expect("TOML");
        let origin = pair["origin"].as_str().expect("the origin of a finding");
        let Some(command) = origin.strip_prefix(&format!("spirv-opt {} ", spirv_opt_version())) else {
            continue;
        };
        let args = pair["args"].as_array().expect("arguments");
        let env = args
            .iter()
            .skip_while(|argument| argument.as_str() != Some("--target-env"))
            .nth(1)
            .and_then(toml::Value::as_str)
            .map_or(CORPUS_ENVIRONMENT, |name| name.parse().expect("a target environment"));
        let flags: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let written = process().run(&module(&folder.join("before.spvasm"), env), &flags);
        let written = written.unwrap_or_else(|failure| panic!("{}: {failure}", folder.display()));
        let kept = module(&folder.join("after.spvasm"), env);
        assert_eq!(renumbered(&written), renumbered(&kept), "{}", folder.display());
    }
}

#[test]
fn the_optimiser_still_crashes_on_each_module_that_crashed_it() {
    for path in entries("crashes") {
        let text = read(&path);
        let field = |name: &str| {
            let prefix = format!("; {name}: ");
            text.lines().find_map(|line| line.strip_prefix(&prefix)).map(str::to_owned).expect("a field")
        };
        if field("origin") != format!("spirv-opt {}", spirv_opt_version()) {
            continue;
        }
        let words = module(&path, CORPUS_ENVIRONMENT);
        for pass in field("passes").split(' ') {
            let result = process().run(&words, &[pass.to_owned()]);
            assert!(
                matches!(result, Err(OptimiserFailure::Crashed { .. })),
                "{} {pass}: {result:?}",
                path.display()
            );
        }
    }
}

//! The modules that exercise optimisers (`corpus/modules/`): each is defined under its launch and refines itself, and each
//! pass that is said to change executable instructions changes those that are named for it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, Checker};
use rayon::prelude::*;
use spirv_tv::compare::Verdict;
use spirv_tv::correspondence::changed;
use spirv_tv::module::Module;
use spirv_tv_toolchain::passes::{find_pass, PASSES};

#[allow(dead_code, reason = "passes are run by the command here")]
#[path = "../benches/seeded/passes.rs"]
mod passes;

use passes::Passes;

/// How many modules must show each pass.
const SHOWN: usize = 3;

fn list() -> Passes {
    Passes::load(&support::corpus("modules/passes.toml"))
}

fn checker(module: &Path) -> Checker {
    let launch = module.with_extension("toml").to_string_lossy().into_owned();
    Checker::new(&["--launch".to_owned(), launch])
}

#[test]
fn every_module_refines_itself_on_its_launch() {
    let modules = support::texts("modules");
    assert!(modules.len() >= 150, "{} modules", modules.len());
    let failures: Vec<String> = { modules.par_iter() }
        .filter_map(|path| {
            let checker = checker(path);
            let module = checker.module(path);
            let report = checker.check(&module, &module);
            let holds = report.verdict == Verdict::Refines && !report.bounded();
            (!holds).then(|| format!("{}: {:?}", path.display(), report.verdict))
        })
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_pass_is_listed_once_and_every_module_has_a_launch() {
    let list = list();
    let mut listed = BTreeSet::new();
    for flag in list.changes.keys().chain(list.none.keys()) {
        let pass = find_pass(flag).unwrap_or_else(|| panic!("{flag} is no pass"));
        assert!(listed.insert(pass.flag), "{flag} is listed twice");
    }
    let missing: Vec<&str> =
        PASSES.iter().map(|pass| pass.flag).filter(|flag| !listed.contains(flag)).collect();
    assert!(missing.is_empty(), "not listed: {missing:?}");
    for module in support::texts("modules") {
        assert!(module.with_extension("toml").exists(), "{}", module.display());
    }
}

/// What the pass makes of a module, in the words of both disassemblies.
fn texts(flag: &str, path: &Path, folder: &Path) -> Result<[String; 2], String> {
    let output =
        folder.join(format!("{flag}.{}.spv", path.file_stem().unwrap_or_default().to_string_lossy()));
    let command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"))
        .args(["opt", "-q", "--jobs", "1", "--launch"])
        .args([&path.with_extension("toml"), path])
        .args([flag, "-o"])
        .arg(&output)
        .output()
        .unwrap();
    let checker = checker(path);
    let bytes = std::fs::read(&output)
        .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&command.stderr)))?;
    let after = Module::from_bytes(&bytes, flag, &checker.read).map_err(|error| error.to_string())?;
    Ok([checker.module(path), after].map(|module| module.disassembly().unwrap_or_default()))
}

#[test]
fn every_pass_changes_the_modules_that_are_named_for_it() {
    let list = list();
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<(&String, PathBuf)> = { list.changes.iter() }
        .flat_map(|(flag, names)| {
            let distinct: BTreeSet<&String> = names.iter().collect();
            assert!(distinct.len() >= SHOWN, "{flag}: {names:?}");
            distinct.into_iter().map(move |name| (flag, support::corpus(&format!("modules/{name}.spvasm"))))
        })
        .collect();
    let failures: Vec<String> = { runs.par_iter() }
        .filter_map(|(flag, path)| {
            let complaint = match texts(flag, path, folder.path()) {
                Err(error) => error,
                Ok([before, after]) => {
                    let changed = changed(&before, &after).iter().any(|lines| !lines.is_empty());
                    return (!changed).then(|| format!("{flag} {}: nothing changed", path.display()));
                }
            };
            Some(format!("{flag} {}: {complaint}", path.display()))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} runs:\n{}", failures.len(), runs.len(), failures.join("\n"));
}

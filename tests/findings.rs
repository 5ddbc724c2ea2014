//! What the bundled optimiser does wrong: `corpus/findings/` has the results that change a module's
//! meaning, `corpus/crashes/` the modules that bring it down, or of which it
//! makes invalid ones. Every entry names the version of the optimiser that it was
//! last looked at with. With another version it fails here until somebody has looked again, and has named the new one as the
//! origin, or as the one since which the finding is gone.

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
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(folder);
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

/// How an entry stands to the bundled optimiser.
#[derive(Debug, PartialEq, Eq)]
enum Standing {
    /// It is of this version, which must still do so.
    Current,
    /// It is history, and must stay so.
    Gone,
}

/// How an entry with this `origin` (`spirv-opt VERSION …`), gone since a version or not, stands to the `bundled` version.
/// Fails where nobody has looked at it with that version.
fn standing<'a>(origin: &'a str, gone: Option<&str>, bundled: &str) -> Result<(Standing, &'a str), String> {
    let rest = origin.strip_prefix("spirv-opt ").ok_or_else(|| format!("of no known origin: '{origin}'"))?;
    let (version, flags) = rest.split_once(' ').unwrap_or((rest, ""));
    match gone {
        Some(gone) if gone == version => Err(format!("gone since the version that it is of, {version}")),
        Some(gone) if gone == bundled => Ok((Standing::Gone, flags)),
        None if version == bundled => Ok((Standing::Current, flags)),
        Some(_) | None => Err(format!(
            "last looked at with {}, and the bundled version is {bundled}: where it still goes wrong name that as the \
             origin, else as `gone`",
            gone.unwrap_or(version)
        )),
    }
}

#[test]
fn an_origin_of_another_version_is_to_be_looked_at_again() {
    let flags = "--code-sink --loop-fusion=100";
    let of_2 = format!("spirv-opt v2 {flags}");
    assert_eq!(standing(&of_2, None, "v2"), Ok((Standing::Current, flags)));
    assert_eq!(standing("spirv-opt v2", None, "v2"), Ok((Standing::Current, "")));
    assert_eq!(standing(&of_2, Some("v3"), "v3"), Ok((Standing::Gone, flags)));
    let stale =
        [(&*of_2, None, "v3"), (&of_2, None, "v20"), (&of_2, Some("v3"), "v4"), (&of_2, Some("v3"), "v2")];
    for (origin, gone, bundled) in
        stale.into_iter().chain([("opt v2 -O", None, "v2"), (&of_2, Some("v2"), "v2")])
    {
        assert!(standing(origin, gone, bundled).is_err(), "{origin} {gone:?} {bundled}");
    }
}

fn text<'a>(pair: &'a toml::Table, key: &str) -> Option<&'a str> {
    pair.get(key).map(|value| value.as_str().unwrap_or_else(|| panic!("{key} is no text")))
}

#[test]
fn the_optimiser_still_writes_the_after_of_each_finding() {
    let mut failures = Vec::new();
    for folder in entries("findings") {
        let pair: toml::Table = toml::from_str(&read(&folder.join("pair.toml"))).expect("TOML");
        let origin = text(&pair, "origin").expect("the origin of a finding");
        let (standing, flags) = match standing(
            origin,
            text(&pair, "gone"),
            &spirv_opt_version().expect("the bundled optimiser has a version"),
        ) {
            Ok(found) => found,
            Err(why) => {
                failures.push(format!("{}: {why}", folder.display()));
                continue;
            }
        };
        let args = pair["args"].as_array().expect("arguments");
        let env = args
            .iter()
            .skip_while(|argument| argument.as_str() != Some("--target-env"))
            .nth(1)
            .and_then(toml::Value::as_str)
            .map_or(CORPUS_ENVIRONMENT, |name| name.parse().expect("a target environment"));
        let flags: Vec<String> = flags.split(' ').map(str::to_owned).collect();
        let written = process().run(&module(&folder.join("before.spvasm"), env), &flags);
        let written = written.unwrap_or_else(|failure| panic!("{}: {failure}", folder.display()));
        let kept = module(&folder.join("after.spvasm"), env);
        if (renumbered(&written) == renumbered(&kept)) != (standing == Standing::Current) {
            failures.push(format!(
                "{}: {standing:?}, but the optimiser writes:\n{}",
                folder.display(),
                renumbered(&written)
            ));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_optimiser_still_crashes_on_each_module_that_crashed_it() {
    let mut failures = Vec::new();
    for path in entries("crashes") {
        let text = read(&path);
        let field = |name: &str| {
            let prefix = format!("; {name}: ");
            text.lines().find_map(|line| line.strip_prefix(&prefix))
        };
        let origin = field("origin").expect("the origin of a crash");
        let standing = match standing(
            origin,
            field("gone"),
            &spirv_opt_version().expect("the bundled optimiser has a version"),
        ) {
            Ok((standing, _)) => standing,
            Err(why) => {
                failures.push(format!("{}: {why}", path.display()));
                continue;
            }
        };
        let words = module(&path, CORPUS_ENVIRONMENT);
        for pass in field("passes").expect("passes").split(' ') {
            let result = process().run(&words, &[pass.to_owned()]);
            let options = ValidatorOptions::for_env(CORPUS_ENVIRONMENT);
            let crashed = match (field("invalid"), &result) {
                (None, result) => matches!(result, Err(OptimiserFailure::Crashed { .. })),
                // It writes a module that the validator rejects so.
                (Some(why), Ok(written)) => {
                    validate(written, &options).is_err_and(|error| error.to_string().contains(why))
                }
                (Some(_), Err(_)) => false,
            };
            if crashed != (standing == Standing::Current) {
                failures.push(format!("{} {pass}: {standing:?}, but {result:?}", path.display()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

//! Every pair and every classic program of `corpus/`, through the binary (formats: `corpus/README.md`).
//!
//! A failing entry is printed with the command that replays it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::page::complaints;
use crate::support::{complaint, reasons, schema, Checker};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use spirv_tv::check::CheckReport;
use spirv_tv::compare::{Subject, Verdict, ViolationKind};
use spirv_tv::event::UndefinedKind;
use spirv_tv::explain::Account;
use spirv_tv::report::{text, Painter};
use spirv_tv_toolchain::{assemble, validate, TargetEnv, ValidatorOptions};

/// `pair.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    description: String,
    verdict: String,
    kind: Option<String>,
    /// What the report of a violation says of the change that made it.
    cause: Option<String>,
    reason: Option<String>,
    args: Vec<String>,
    #[serde(default)]
    #[allow(dead_code, reason = "told to readers of the corpus, checked for nothing")]
    origin: Option<String>,
    /// The version of the optimiser in which a finding is gone (`tests/findings.rs`).
    #[serde(default)]
    #[allow(dead_code, reason = "what another test is about")]
    gone: Option<String>,
}

/// A word of an expected outcome.
#[derive(Deserialize)]
#[serde(untagged)]
enum Word {
    Known(u32),
    Undefined(Undefined),
}

/// A word with an undefined byte.
#[derive(Deserialize)]
enum Undefined {
    #[serde(rename = "undef")]
    Undef,
}

impl Word {
    fn value(&self) -> Option<u32> {
        match self {
            Word::Known(value) => Some(*value),
            Word::Undefined(Undefined::Undef) => None,
        }
    }
}

/// `NAME.toml` of a classic program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Classic {
    why: String,
    args: Vec<String>,
    executions: Option<u64>,
    outcomes: Option<Vec<BTreeMap<String, Vec<Word>>>>,
    undefined: Option<Vec<String>>,
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// Paths in `folder` for which `wanted` holds, sorted.
fn entries(folder: &str, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(corpus().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| wanted(path))
        .collect();
    paths.sort();
    paths
}

fn pairs() -> Vec<(PathBuf, Pair)> {
    let folders = ["pairs", "findings"].map(|folder| entries(folder, Path::is_dir));
    { folders.into_iter().flatten() }.map(|path| (path.clone(), read(&path.join("pair.toml")))).collect()
}

fn classics() -> Vec<(PathBuf, Classic)> {
    entries("classics", |path| path.extension().is_some_and(|extension| extension == "toml"))
        .into_iter()
        .map(|path| (path.with_extension("spvasm"), read(&path)))
        .collect()
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Exit code and JSON of one run of the tool; an error text with the command where it printed none.
fn run(command: &str, modules: &[&Path], args: &[String]) -> Result<(Option<i32>, Value), String> {
    let mut process = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    process.arg(command).args(modules).args(args).args(["--format", "json"]);
    let output = process.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    match schema::parsed(&text) {
        Ok(value) => Ok((output.status.code(), value)),
        Err(_) => Err(format!(
            "no JSON, {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default()
        )),
    }
}

/// The same, with what is wrong with the page that it writes.
fn run_with_page(command: &str, modules: &[&Path], args: &[String]) -> Result<(Option<i32>, Value), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let path = folder.path().join("page.html");
    let more = ["--html".to_owned(), path.to_string_lossy().into_owned()];
    let found = run(command, modules, &[args, &more].concat())?;
    let page = std::fs::read_to_string(&path).map_err(|error| format!("no page: {error}"))?;
    match &complaints(&page)[..] {
        [] => Ok(found),
        wrong => Err(format!("its page: {}\n    {}", wrong.join("; "), replay(command, modules, args))),
    }
}

fn replay(command: &str, modules: &[&Path], args: &[String]) -> String {
    let mut line = format!("spirv-tv {command}");
    for module in modules {
        let _ = write!(line, " {}", module.display());
    }
    for argument in args {
        let _ = write!(line, " {argument}");
    }
    line
}

/// Fails with all the messages at once.
fn report(failures: Vec<String>, checked: usize) {
    assert!(failures.is_empty(), "{} of {checked} failed:\n{}", failures.len(), failures.join("\n"));
}

fn check_pair(path: &Path, pair: &Pair, more_args: &[&str]) -> Result<(), String> {
    let modules = [path.join("before.spvasm"), path.join("after.spvasm")];
    let modules = [modules[0].as_path(), modules[1].as_path()];
    let args: Vec<String> =
        pair.args.iter().cloned().chain(more_args.iter().map(|&arg| arg.to_owned())).collect();
    let (exit, report) = match more_args.is_empty() {
        true => run_with_page("check", &modules, &args)?,
        false => run("check", &modules, &args)?,
    };
    let verdict = report["verdict"].as_str().unwrap_or("none");
    let kind = report["runs"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|run| run["verdict"] == "violates")
        .and_then(|run| run["violation"]["kind"].as_str());
    let expected_exit = match pair.verdict.as_str() {
        "refines" | "vacuous" => 0,
        "violates" => 1,
        _ => 3,
    };
    if verdict == pair.verdict && kind == pair.kind.as_deref() && exit == Some(expected_exit) {
        return Ok(());
    }
    let reasons = [&report["reasons"], &report["unsupported"]]
        .into_iter()
        .filter(|value| value.as_array().is_some_and(|array| !array.is_empty()))
        .map(Value::to_string)
        .collect::<String>();
    Err(format!(
        "expected {} {}, found {verdict} {} (exit code {exit:?}) {reasons}\n    {}",
        pair.verdict,
        pair.kind.as_deref().unwrap_or(""),
        kind.unwrap_or(""),
        replay("check", &modules, &args)
    ))
}

/// An outcome of the report, its words parsed; `None` where a byte is undefined.
fn memory(outcome: &Value) -> BTreeMap<String, Vec<Option<u32>>> {
    let word = |word: &Value| u32::from_str_radix(word.as_str()?.strip_prefix("0x")?, 16).ok();
    outcome["memory"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, words)| (key.clone(), words.as_array().into_iter().flatten().map(word).collect()))
        .collect()
}

fn check_classic(path: &Path, classic: &Classic) -> Result<(), String> {
    let (_, report) = run_with_page("outcomes", &[path], &classic.args)?;
    let mut failure = String::new();
    let undefined: Vec<&str> = report["undefined"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|fault| fault["kind"].as_str())
        .collect();
    let expected: Vec<&str> = classic.undefined.iter().flatten().map(String::as_str).collect();
    if undefined.first() != expected.first() || undefined.iter().any(|kind| !expected.contains(kind)) {
        let _ = write!(failure, "undefined: expected {expected:?}, found {undefined:?}; ");
    }
    if report["complete"] != true || report["bounded"] != false {
        let _ = write!(failure, "complete {}, bounded {}; ", report["complete"], report["bounded"]);
    }
    if let Some(outcomes) = &classic.outcomes {
        let wanted = |words: &Vec<Word>| words.iter().map(Word::value).collect::<Vec<_>>();
        let mut expected: Vec<_> = outcomes
            .iter()
            .map(|outcome| {
                outcome.iter().map(|(key, words)| (key.clone(), wanted(words))).collect::<BTreeMap<_, _>>()
            })
            .collect();
        let mut found: Vec<_> = report["outcomes"].as_array().into_iter().flatten().map(memory).collect();
        expected.sort();
        found.sort();
        for missing in expected.iter().filter(|outcome| !found.contains(outcome)) {
            let _ = write!(failure, "missing outcome {missing:?}; ");
        }
        for extra in found.iter().filter(|outcome| !expected.contains(outcome)) {
            let _ = write!(failure, "outcome too many {extra:?}; ");
        }
        if found.len() != report["outcomes"].as_array().map_or(0, Vec::len) {
            let _ = write!(failure, "an outcome is listed twice; ");
        }
    }
    if let Some(executions) = classic.executions {
        if report["executions"] != executions {
            let _ = write!(failure, "executions: expected {executions}, found {}; ", report["executions"]);
        }
    }
    match failure.is_empty() {
        true => Ok(()),
        false => Err(format!("{failure}\n    {}", replay("outcomes", &[path], &classic.args))),
    }
}

/// The bundled assembler's or validator's objection to a module.
fn objection(path: &Path, args: &[String]) -> Option<String> {
    let env = match args.iter().position(|argument| argument == "--target-env") {
        Some(at) => args[at + 1].parse().unwrap(),
        None => "vulkan1.3".parse::<TargetEnv>().unwrap(),
    };
    let text = std::fs::read_to_string(path).unwrap();
    let options = ValidatorOptions { target_env: env, ..ValidatorOptions::default() };
    let result = assemble(&text, Some(env)).and_then(|words| validate(&words, &options));
    result.err().map(|diagnostic| format!("{}: {diagnostic}", path.display()))
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn check_pairs(more_args: &[&str]) {
    let pairs = pairs();
    let failure = |(path, pair): &(PathBuf, Pair)| {
        check_pair(path, pair, more_args).err().map(|error| format!("{}: {error}", name(path)))
    };
    report(pairs.par_iter().filter_map(failure).collect(), pairs.len());
}

#[test]
fn pairs_get_their_verdicts() {
    check_pairs(&[]);
}

/// Each module is compared with itself first, with every shortcut off, and every judgement of the search with
/// the declared relations; the verdict stays.
#[test]
fn modules_refine_themselves() {
    check_pairs(&["--self-check", "--verify-engine"]);
}

fn checked(path: &Path, pair: &Pair) -> CheckReport {
    let checker = Checker::new(&pair.args);
    let [before, after] = ["before.spvasm", "after.spvasm"].map(|side| checker.module(&path.join(side)));
    checker.check(&before, &after)
}

/// A pair that is inconclusive is so for the reason that it names, and no other; nor does that excuse anything else.
#[test]
fn inconclusive_pairs_have_their_reasons() {
    let mut pairs = pairs();
    pairs.retain(|(_, pair)| pair.reason.is_some());
    let failure = |(path, pair): &(PathBuf, Pair)| {
        let report = checked(path, pair);
        let (expected, found) = (pair.reason.as_deref(), reasons(&report));
        let others =
            ["float", "reconvergence", "excuse"].into_iter().filter(|other| Some(*other) != expected);
        let mut wrongly_listed = others.map(Some).chain([None]);
        let as_listed = complaint(&report, expected).is_none() && found == expected.into_iter().collect();
        let as_told = as_listed && wrongly_listed.all(|listed| complaint(&report, listed).is_some());
        (!as_told).then(|| format!("{}: {found:?}, expected {expected:?}", name(path)))
    };
    assert!(!pairs.is_empty());
    report(pairs.par_iter().filter_map(failure).collect(), pairs.len());
}

/// The report of a violation fits a screen and names the change that made it; in full it leaves nothing out.
#[test]
fn reports_of_violations_are_short_and_name_the_change() {
    let mut pairs = pairs();
    pairs.retain(|(_, pair)| pair.verdict == "violates");
    let failure = |(path, pair): &(PathBuf, Pair)| {
        let report = checked(path, pair);
        let painter = Painter { coloured: false };
        let told = text::check(&report, painter);
        let count = told.lines().count();
        let cause = pair.cause.as_deref().unwrap_or_default();
        let mut wrong = Vec::new();
        wrong.extend((count > 60).then(|| format!("{count} lines")));
        wrong.extend((!told.contains(cause)).then(|| format!("does not say '{cause}':\n{told}")));
        let full = text::check_in_full(&report, painter);
        wrong.extend(full.contains("--full").then(|| "something is left out in full".to_owned()));
        wrong.extend(without_account(&report));
        (!wrong.is_empty()).then(|| format!("{}: {}", name(path), wrong.join("; ")))
    };
    report(pairs.par_iter().filter_map(failure).collect(), pairs.len());
}

/// What a report does not say of who has undefined behaviour, or who waits.
fn without_account(report: &CheckReport) -> Option<String> {
    let run = report.decisive()?;
    let violation = run.comparison.violation.as_ref()?;
    let Account { fault, standing, parting, .. } = &run.why.account;
    let Subject::Undefined(index) = violation.subject else {
        let hangs = violation.kind == ViolationKind::NewHang;
        return (hangs && standing.is_empty()).then(|| "does not say who waits".to_owned());
    };
    let (undefined, _) = run.after.as_ref()?.behaviours.undefined.get(index)?;
    match undefined.kind {
        // The first has a part of its own, the others are no fault of one invocation.
        UndefinedKind::DataRace | UndefinedKind::Aliasing | UndefinedKind::NonUniform => None,
        // Cooperative matrices are no barrier.
        UndefinedKind::DivergentBarrier if undefined.detail.contains("cooperative") => None,
        UndefinedKind::DivergentBarrier => {
            (parting.is_none() || standing.is_empty()).then(|| "does not say where they part".to_owned())
        }
        _ => fault.is_none().then(|| "does not say who has it".to_owned()),
    }
}

/// Who ran into undefined behaviour with which values, who waits for what, and what changed instructions computed.
#[test]
fn reports_account_for_what_happened() {
    let expected = [
        (
            "division-speculated",
            &[
                "  by invocation 0 (workgroup 0, subgroup 0, local 0)",
                "    line 51: %quotient = OpUDiv %uint %x %y",
                "    line 49: %y = OpLoad %uint %right = 0",
            ][..],
        ),
        (
            "float-index-out-of-bounds-beside-quotient",
            &[
                "(the index %at is 7 (line 58), the length 1)",
                "    before, line 58: %at = OpIAdd %uint %uint_0 %uint_0 = 0",
                "    after, line 58: %at = OpIAdd %uint %uint_0 %uint_7 = 7",
            ],
        ),
        ("cycle-with-fault-out-of-bounds-added", &["(the index %index is 100 (line 60), the length 4)"]),
        (
            "barrier-sunk-into-branch",
            &[
                "  invocation 0 waits at the control barrier on line 63",
                "  invocation 1 does not come there",
                "  they part on line 60: invocation 0 to the block on line 62, invocation 1 to the block on line 68",
            ],
        ),
        (
            "float-minimum-made-maximum",
            &[
                "  the values differ from here on (invocation 0):",
                "    before, line 53: %y = OpExtInst %float %glsl FMin %x %least = 1.0 (%x is 5.0, %least is 1.0)",
                "    after, line 53: %y = OpExtInst %float %glsl FMax %x %least = 5.0 (%x is 5.0, %least is 1.0)",
            ],
        ),
        ("spin-load-hoisted", &["  invocation 1: in the loop on line 68 for ever"]),
        (
            "endless-loop-of-loads-behind-acquire-added",
            &["  invocation 0: in the loop on line 68 for ever, where line 73 reads 1 from shared.0[1] (0.0+4)"],
        ),
        (
            "barrier-count-made-divergent",
            &[
                "  invocation 1 waits at the control barrier on line 63",
                "  they part on line 60: invocation 1 to the block on line 62, invocation 0 to the block on line 70",
            ],
        ),
        (
            "buffer-block-store-forwarded-to-neighbour",
            &["    before, invocation 0: stores %x = 0"],
        ),
        ("loop-on-phi-of-undefined-added", &["  invocation 0: in the loop on line 46 for ever"]),
        (
            "endless-barriers-of-two-added",
            &["  invocations 0, 1: in the loop on line 52 for ever, past the control barrier on line 57"],
        ),
    ];
    let pairs = pairs();
    for (pair, lines) in expected {
        let (path, pair) = pairs.iter().find(|(path, _)| path.ends_with(pair)).unwrap();
        let told = text::check(&checked(path, pair), Painter { coloured: false });
        for line in lines {
            assert!(told.contains(line), "{}: {line}\n{told}", name(path));
        }
    }
}

#[test]
fn no_reason_excuses_a_violation() {
    let pairs = pairs();
    let (path, pair) = pairs.iter().find(|(path, _)| path.ends_with("loop-increment-lost")).unwrap();
    let report = checked(path, pair);
    assert_eq!(report.verdict, Verdict::Violates);
    for listed in [None, Some("float"), Some("reconvergence"), Some("")] {
        assert!(complaint(&report, listed).is_some(), "{listed:?}");
    }
}

#[test]
fn classics_have_their_outcomes_and_executions() {
    let classics = classics();
    let failures = classics
        .par_iter()
        .filter_map(|(path, classic)| {
            check_classic(path, classic).err().map(|error| format!("{}: {error}", name(path)))
        })
        .collect();
    report(failures, classics.len());
}

#[test]
fn modules_are_valid() {
    let mut modules: Vec<(PathBuf, Vec<String>)> = Vec::new();
    for (path, pair) in pairs() {
        modules.push((path.join("before.spvasm"), pair.args.clone()));
        modules.push((path.join("after.spvasm"), pair.args));
    }
    modules.extend(classics().into_iter().map(|(path, classic)| (path, classic.args)));
    report(modules.par_iter().filter_map(|(path, args)| objection(path, args)).collect(), modules.len());
}

/// The corpus has pairs enough of each kind, and its files say all that they must (corpus/README.md).
#[test]
fn corpus_is_whole() {
    let pairs = pairs();
    let violating = pairs.iter().filter(|(_, pair)| pair.verdict == "violates").count();
    assert!(pairs.len() >= 64, "{} pairs", pairs.len());
    assert!(violating >= 32 && pairs.len() - violating >= 32, "{violating} of {} violate", pairs.len());
    for (path, pair) in &pairs {
        assert!(!pair.description.is_empty(), "{}: no description", path.display());
        assert_eq!(pair.kind.is_some(), pair.verdict == "violates", "{}: kind", path.display());
        assert_eq!(pair.cause.is_some(), pair.verdict == "violates", "{}: cause", path.display());
        assert_eq!(pair.reason.is_some(), pair.verdict == "inconclusive", "{}: reason", path.display());
        assert!(
            ["refines", "vacuous", "violates", "inconclusive"].contains(&pair.verdict.as_str()),
            "{}: verdict",
            path.display()
        );
        let text = |file: &str| std::fs::read_to_string(path.join(file)).unwrap();
        assert_ne!(text("before.spvasm"), text("after.spvasm"), "{}", path.display());
    }
    let classics = classics();
    assert!(classics.len() >= 28, "{} classics", classics.len());
    for (path, classic) in &classics {
        assert!(path.is_file() && !classic.why.is_empty(), "{}", path.display());
        let racy = classic.undefined.is_some();
        assert!(racy != (classic.outcomes.is_some() && classic.executions.is_some()), "{}", path.display());
    }
}

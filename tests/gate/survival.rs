//! Runs that are killed go on as if nothing had been.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::workplace::{runs_with, Workplace};

/// Cases of the run.
const CASES: usize = 16;

/// After how many milliseconds the run is killed, again and again.
const MOMENTS: [u64; 5] = [30, 350, 700, 200, 500];

#[test]
fn a_run_that_is_killed_at_any_moment_ends_as_if_it_had_not_been() {
    let place = Workplace::new();
    place.write("log", "");
    let log = place.path("log").display().to_string();
    // Each run of the optimiser leaves its flag. Some cases fail.
    let body = format!("echo $3 >> {log}; sleep 0.1; case $3 in *3) exit 1 ;; *) cp $1 $2 ;; esac");
    let command = format!("{} {{in}} {{out}}", place.script("opt", &body));
    let flags: Vec<String> = (0..CASES).map(|number| format!("flag-{number}")).collect();
    let arguments = |out| {
        let mut all =
            vec!["gate", "modules", "--optimizer", &command, "--jobs", "2", "--quiet", "--out", out];
        all.extend(flags.iter().flat_map(|flag| ["--pipeline", flag.as_str()]));
        all
    };
    place.ends(&arguments("whole"), 1);
    place.write("log", "");

    let mut resumed = arguments("killed");
    for (number, moment) in MOMENTS.into_iter().enumerate() {
        let mut run = place.command(&resumed);
        let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        std::thread::sleep(Duration::from_millis(moment));
        run.kill().expect("it is killed");
        run.wait().expect("it ends");
        if number == 0 {
            resumed.push("--resume");
        }
    }
    place.ends(&resumed, 1);
    for file in ["results.csv", "failures.csv", "failures.json"] {
        let [killed, whole] = ["killed", "whole"].map(|run| place.read(&format!("{run}/{file}")));
        assert_eq!(killed, whole, "{file}");
    }
    // Nothing is answered twice, and what is lost of work is what was being done.
    let answered = place.read("killed/results.jsonl").lines().skip(1).count();
    assert_eq!(answered, CASES);
    let mut runs: BTreeMap<String, usize> = BTreeMap::new();
    for flag in place.read("log").lines() {
        *runs.entry(flag.to_owned()).or_default() += 1;
    }
    assert_eq!(runs.len(), CASES);
    // A case that fails is run twice.
    let failing = place.table("whole/failures.csv").len();
    let all: usize = runs.values().sum();
    let most = CASES + failing + MOMENTS.len() * (2 + failing);
    assert!((CASES + failing..=most).contains(&all), "{all} runs of the optimiser: {runs:?}");

    // Once more: there is nothing to do.
    place.write("log", "");
    place.ends(&resumed, 1);
    assert_eq!(place.read("log"), "");
}

#[test]
fn results_of_another_run_are_not_gone_on_with() {
    let place = Workplace::new();
    let gate = |more: &[&str], code| {
        let all = [&["gate", "modules", "--pipeline", "--strip-debug", "--out", "results"], more].concat();
        place.ends(&all, code)
    };
    gate(&[], 0);
    let there = place.read("results/results.jsonl");
    assert!(gate(&[], 2).error.contains("--resume"));
    gate(&["--resume", "--inputs", "2"], 2);
    gate(&["--resume", "--pipeline", "--ccp"], 2);
    assert_eq!(place.read("results/results.jsonl"), there);
    gate(&["--resume"], 0);
    // A line that is torn is run again; one that is damaged is named.
    place.write("results/results.jsonl", &there[..there.len() - 10]);
    gate(&["--resume"], 0);
    assert_eq!(place.records("results").len(), 1);
    let mut lines: Vec<&str> = there.lines().collect();
    lines[1] = "rubbish";
    place.write("results/results.jsonl", lines.join("\n") + "\n");
    assert!(gate(&["--resume"], 2).error.contains("results.jsonl:2"));
}

/// Nothing that an optimiser started outlives the gate, however that ends.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_gate_leaves_no_process() {
    let place = Workplace::new();
    let nap = format!("{}", 3_000_000 + std::process::id());
    let command =
        format!("{} {{in}} {{out}}", place.script("opt", &format!("(setsid sleep {nap} &)\nsleep {nap}\n")));
    let sleeps = || runs_with(&format!("sleep {nap}"));
    let mut run = place.command(&["gate", "modules", "--optimizer", &command, "--out", "results"]);
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
    let until = |wanted: bool| {
        let begun = Instant::now();
        while sleeps() != wanted && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        sleeps() == wanted
    };
    let begun = until(true);
    run.kill().expect("it is killed");
    run.wait().expect("it ends");
    assert!(begun, "the optimiser did not begin");
    assert!(until(false), "something is left");
}

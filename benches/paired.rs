//! The table of whole processes in `docs/performance.md`, before and after a change, on one machine:
//! `PAIRED=OTHER-BINARY cargo bench --bench paired` runs `outcomes` of another build of `spirv-tv` and of this one in turns
//! on the programs of `programs/`, and, with `MODULES=FOLDER`, `opt -O` on the modules there. `PERFORMANCE=write` writes
//! the table. Nothing here fails because of a time.

#[allow(dead_code, reason = "the rest is for searches without processes")]
#[path = "programs/mod.rs"]
mod programs;

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::{TimeVal, TimeValLike};
use serde::{Deserialize, Serialize};

/// Processes that take longer are ended.
const LONGEST: Duration = Duration::from_secs(12);
/// Processes that take less are repeated so often; the fastest run counts.
const SHORT: f64 = 1.0;
const RUNS: usize = 3;

const BEGIN: &str = "<!-- begin: PERFORMANCE=write cargo bench --bench paired -->\n";
const END: &str = "<!-- end of paired -->";

/// What one process took.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Taken {
    /// User and system time, in seconds.
    seconds: f64,
    /// The most resident memory, in KiB.
    peak: i64,
    /// It ended by itself, with this exit code.
    code: Option<i32>,
}

/// The child: runs one command and prints what it took. It is a process of its own so that it has one child alone.
fn measure(command: &[String]) {
    let [binary, args @ ..] = command else { panic!("--measure BINARY ARGS…") };
    let begun = Instant::now();
    let mut child =
        Command::new(binary).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let code = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status.code(),
            None if begun.elapsed() > LONGEST => {
                child.kill().unwrap();
                child.wait().unwrap();
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let seconds = |time: TimeVal| time.num_microseconds() as f64 / 1e6;
    let taken = Taken {
        seconds: seconds(usage.user_time()) + seconds(usage.system_time()),
        peak: usage.max_rss(),
        code,
    };
    println!("{}", serde_json::to_string(&taken).unwrap());
}

fn taken(binary: &Path, args: &[String]) -> Taken {
    let mut child = Command::new(std::env::current_exe().unwrap());
    let output = child.arg("--measure").arg(binary).args(args).stderr(Stdio::inherit()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Both binaries in turns, the fastest run of each.
fn pair(binaries: [&Path; 2], args: &[String]) -> [Taken; 2] {
    let mut best = binaries.map(|binary| taken(binary, args));
    for _ in 1..RUNS {
        for (best, binary) in best.iter_mut().zip(binaries) {
            if best.seconds < SHORT {
                let again = taken(binary, args);
                if again.seconds < best.seconds {
                    *best = again;
                }
            }
        }
    }
    best
}

/// Bounded, undecided or ended too late.
fn is_cut(taken: &Taken) -> bool {
    taken.code.is_none_or(|code| code != 0)
}

fn time(taken: &Taken) -> String {
    match taken.code {
        None => format!("> {} s", LONGEST.as_secs()),
        Some(code) => format!("{:.3} s{}", taken.seconds, if code == 0 { "" } else { ", cut" }),
    }
}

fn megabytes(taken: &Taken) -> String {
    format!("{:.0} MB", taken.peak as f64 / 1024.0)
}

fn searches(text: &mut String, binaries: [&Path; 2], wanted: &str) {
    text.push_str("| search | n | before | after | times as fast | peak before | peak after |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- |\n");
    for family in programs::families().iter().filter(|family| family.name.contains(wanted)) {
        for (n, launch) in &family.sizes {
            eprintln!("{} {n}", family.name);
            let module = programs::root().join(&family.module).to_string_lossy().into_owned();
            let mut args = vec!["outcomes".to_owned(), module];
            args.extend(launch.iter().cloned());
            // A bound that cuts gives an exit code.
            args.extend(["-q", "--strict", "--jobs", "1"].map(str::to_owned));
            let [before, after] = pair(binaries, &args);
            let ratio = match is_cut(&before) || is_cut(&after) {
                true => String::new(),
                false => format!("{:.1}", before.seconds / after.seconds),
            };
            let (before_peak, after_peak) = (megabytes(&before), megabytes(&after));
            let _ = writeln!(
                text,
                "| {} | {n} | {} | {} | {ratio} | {before_peak} | {after_peak} |",
                family.name,
                time(&before),
                time(&after),
            );
        }
    }
}

/// The value that so many hundredths of all do not exceed.
fn quantile(values: &mut [f64], hundredths: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((values.len() * hundredths).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default()
}

/// `opt -O` of all modules of a folder.
fn modules(text: &mut String, binaries: [&Path; 2], folder: &Path) {
    let listing = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = listing.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "spv"));
    paths.sort();
    let mut found: [Vec<Taken>; 2] = [Vec::new(), Vec::new()];
    for path in &paths {
        eprintln!("{}", path.display());
        let args = ["opt", "-O", "-q", "--jobs", "1", &path.to_string_lossy()].map(str::to_owned);
        for (all, taken) in found.iter_mut().zip(pair(binaries, &args)) {
            all.push(taken);
        }
    }
    let _ = writeln!(
        text,
        "\n`opt -O -q` of {} real modules:\n\n\
         | | median | 95th percentile | greatest | inconclusive | not ended after {} s | greatest peak |\n\
         | --- | --- | --- | --- | --- | --- | --- |",
        paths.len(),
        LONGEST.as_secs()
    );
    for (name, all) in ["before", "after"].iter().zip(&found) {
        let mut seconds: Vec<f64> = all.iter().map(|taken| taken.seconds).collect();
        let [median, most, greatest] = [50, 95, 100].map(|hundredths| quantile(&mut seconds, hundredths));
        let undecided = all.iter().filter(|taken| taken.code == Some(3)).count();
        let late = all.iter().filter(|taken| taken.code.is_none()).count();
        let peak = all.iter().map(|taken| taken.peak).max().unwrap_or_default() / 1024;
        let _ = writeln!(
            text,
            "| {name} | {median:.3} s | {most:.3} s | {greatest:.3} s | {undecided} | {late} | {peak} MB |"
        );
    }
}

/// Of which commits the binaries are, each in its checkout, and where they ran.
fn heading(binaries: [&Path; 2]) -> String {
    let commit = |binary: &Path| {
        let folder = binary.parent().unwrap_or(Path::new("."));
        let output =
            Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(folder).output();
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let [before, after] = binaries.map(commit);
    format!("Before: commit {before}; after: {after}; {cores} cores, load {load} before it began.\n\n")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, rest)) = arguments.split_first() {
        if first == "--measure" {
            return measure(rest);
        }
    }
    let Some(other) = std::env::var_os("PAIRED").filter(|_| arguments.iter().any(|it| it == "--bench"))
    else {
        println!("the table is made by PAIRED=OTHER-BINARY cargo bench --bench paired");
        return;
    };
    let binaries = [Path::new(&other), Path::new(env!("CARGO_BIN_EXE_spirv-tv"))];
    let wanted = arguments.iter().find(|argument| !argument.starts_with("--")).map_or("", String::as_str);
    let mut text = heading(binaries);
    searches(&mut text, binaries, wanted);
    if let Some(folder) = std::env::var_os("MODULES") {
        modules(&mut text, binaries, Path::new(&folder));
    }
    if std::env::var("PERFORMANCE").is_ok_and(|value| value == "write") {
        programs::write_between(BEGIN, END, &text);
    } else {
        println!("{text}");
    }
}

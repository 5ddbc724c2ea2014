//! The table of searches in `docs/performance.md`: `PERFORMANCE=write cargo bench --bench table`, which takes about
//! ten minutes. Without `PERFORMANCE=write` it is printed, and `cargo bench --bench table -- lock` prints the rows with
//! "lock" in their name. Nothing here fails because of a time.
//!
//! Each row is measured in a process of its own, this program with `--measure`, so that its peak memory is known.

#[path = "programs/mod.rs"]
mod programs;

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use indicatif::HumanCount;
use serde::{Deserialize, Serialize};
use spirv_tv::behaviour::Behaviours;
use spirv_tv::check::{outcomes, Watch};
use spirv_tv::explore::{explore, Settings};
use spirv_tv::litmus;
use spirv_tv::module::Module;

/// Searches that take longer are cut, in seconds.
const LONGEST: u64 = 8;
/// Short searches are repeated for so long; the fastest counts.
const REPEATED: Duration = Duration::from_millis(300);

const BEGIN: &str = "<!-- begin: PERFORMANCE=write cargo bench --bench table -->\n";
const END: &str = "<!-- end -->";

/// A time of the other checker.
struct Rival {
    family: &'static str,
    n: u32,
    seconds: f64,
}

/// GenMC 0.10.3 on C programs under RC11, as a whole process on one core.
const GENMC: [Rival; 13] = [
    Rival { family: "increments, results kept", n: 8, seconds: 1.41 },
    Rival { family: "increments, then loads", n: 5, seconds: 0.17 },
    Rival { family: "SB ring", n: 16, seconds: 0.88 },
    Rival { family: "ticket lock", n: 7, seconds: 0.43 },
    Rival { family: "append by fetch-add", n: 9, seconds: 23.0 },
    Rival { family: "queue by compare-exchange", n: 3, seconds: 0.14 },
    Rival { family: "work stealing, n thieves", n: 6, seconds: 2.0 },
    Rival { family: "publication by exchange", n: 5, seconds: 18.6 },
    Rival { family: "sense-reversing barrier", n: 4, seconds: 0.11 },
    Rival { family: "seqlock with n readers", n: 3, seconds: 0.41 },
    Rival { family: "chained flags, n observers", n: 16, seconds: 9.4 },
    Rival { family: "insertion with probing", n: 3, seconds: 0.05 },
    Rival { family: "ring of two slots, n items", n: 4, seconds: 0.12 },
];

/// What one process measured.
#[derive(Serialize, Deserialize, Default)]
struct Measured {
    executions: u64,
    explored: u64,
    blocked: u64,
    racy: bool,
    complete: bool,
    seconds: f64,
    /// In KiB, where the system tells.
    peak: Option<u64>,
}

impl Measured {
    fn add(&mut self, behaviours: &Behaviours) {
        self.executions += behaviours.executions.saturating();
        self.explored += behaviours.explored;
        self.blocked += behaviours.blocked();
        self.racy |= !behaviours.undefined.is_empty();
        self.complete &= behaviours.complete;
    }
}

/// Runs something for [`REPEATED`], or once; the fastest run counts.
fn fastest(mut run: impl FnMut() -> Measured) -> Measured {
    let start = Instant::now();
    let mut best: Option<Measured> = None;
    loop {
        let one = Instant::now();
        let mut measured = run();
        measured.seconds = one.elapsed().as_secs_f64();
        if best.as_ref().is_none_or(|best| measured.seconds < best.seconds) {
            best = Some(measured);
        }
        if start.elapsed() >= REPEATED {
            return best.unwrap_or_default();
        }
    }
}

/// One search.
fn search(module: &Path, args: &[String], jobs: usize) -> Measured {
    let (program, dispatch) = programs::prepared(module, args);
    let timeout = Some(Duration::from_secs(LONGEST));
    fastest(|| {
        let settings = Settings { jobs, timeout, ..Settings::default() };
        let mut measured = Measured { complete: true, ..Measured::default() };
        measured.add(&explore(&program, &dispatch, &settings));
        measured
    })
}

/// All classic programs and both sides of the pairs, with lowering. What a budget cuts or nobody can decide counts as far as it
/// was explored.
fn corpus(jobs: usize) -> Measured {
    let modules: Vec<_> = programs::corpus()
        .into_iter()
        .map(|(path, args)| {
            let (read, mut options) = programs::options(&args);
            options.bounds.jobs = jobs;
            (Module::load(&path.to_string_lossy(), &read).unwrap_or_else(|error| panic!("{error}")), options)
        })
        .collect();
    fastest(|| {
        let mut measured = Measured { complete: true, ..Measured::default() };
        for (module, options) in &modules {
            // A pair's launch may fit its before alone.
            let Ok(report) = outcomes(module, options, &Watch::default()) else { continue };
            report.runs.iter().for_each(|run| measured.add(&run.explored.behaviours));
        }
        Measured { complete: true, racy: false, ..measured }
    })
}

/// The Khronos litmus tests, where they lie beside the checkout.
fn khronos(jobs: usize) -> Option<Measured> {
    let files = std::fs::read_dir(programs::root().join("../shared/conformance/khronos")).ok()?;
    let texts: Vec<String> =
        files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    let tests: Vec<_> = texts.iter().map(|text| litmus::parse("x.test", text).unwrap()).collect();
    Some(fastest(|| {
        let settings = Settings { jobs, ..Settings::default() };
        let mut measured = Measured { complete: true, ..Measured::default() };
        for test in &tests {
            let answer = litmus::run(test, &settings, litmus::Wanted::default()).unwrap();
            measured.executions += answer.executions;
        }
        measured
    }))
}

/// The child: `--measure JOBS WHAT ARGS…`.
fn measure(arguments: &[String]) {
    let [jobs, what, args @ ..] = arguments else { panic!("--measure JOBS WHAT ARGS…") };
    let jobs = jobs.parse().unwrap();
    let measured = match what.as_str() {
        "corpus" => Some(corpus(jobs)),
        "khronos" => khronos(jobs),
        module => Some(search(Path::new(module), args, jobs)),
    };
    let measured = measured.map(|measured| Measured { peak: peak(), ..measured });
    println!("{}", serde_json::to_string(&measured).unwrap());
}

/// The most memory that this process had, in KiB.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// Measures in a child process.
fn measured(jobs: u32, what: &str, args: &[String]) -> Option<Measured> {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--measure", &jobs.to_string(), what]).args(args).stderr(Stdio::inherit());
    let output = child.output().unwrap();
    assert!(output.status.success(), "{what} {}", args.join(" "));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn time(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{:.0} µs", seconds * 1e6),
        _ if seconds < 1e-2 => format!("{:.1} ms", seconds * 1e3),
        _ if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// The cells of a row from the executions on, and the seconds on one thread if it was complete.
fn row(what: &str, args: &[String], previous: Option<f64>) -> Option<(String, Option<f64>)> {
    let one = measured(1, what, args)?;
    if !one.complete {
        return Some((
            format!(
                "more than {} | | {} | > {LONGEST} s | | | | | |",
                HumanCount(one.executions),
                HumanCount(one.blocked)
            ),
            None,
        ));
    }
    let two = measured(2, what, args)?;
    let executions = match one.racy {
        true => format!("{} and races", HumanCount(one.executions)),
        false => HumanCount(one.executions).to_string(),
    };
    let explored = match (one.executions, one.explored) {
        (0, _) | (_, 0) => String::new(),
        (executions, explored) => format!("{:.2}", explored as f64 / executions as f64),
    };
    let growth = previous.map(|previous| format!("{:.1}", one.seconds / previous)).unwrap_or_default();
    let peak = one.peak.map(|peak| format!("{:.1} MB", peak as f64 / 1024.0)).unwrap_or_default();
    let cells = format!(
        "{executions} | {explored} | {} | {} | {growth} | {} | {} | {:.2} | {peak} |",
        HumanCount(one.blocked),
        time(one.seconds),
        HumanCount((one.explored.max(one.executions) as f64 / one.seconds) as u64),
        time(two.seconds),
        one.seconds / two.seconds,
    );
    Some((cells, Some(one.seconds)))
}

fn searches(text: &mut String, wanted: &str) {
    text.push_str(
        "| search | n | executions | explored per execution | blocked | one thread | growth | executions/s \
         | two threads | gain | peak memory |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for family in programs::families().iter().filter(|family| family.name.contains(wanted)) {
        let module = programs::root().join(&family.module);
        let mut previous = None;
        for (n, args) in &family.sizes {
            eprintln!("{} {n}", family.name);
            let Some((cells, seconds)) = row(&module.to_string_lossy(), args, previous) else { continue };
            let _ = writeln!(text, "| {} | {n} | {cells}", family.name);
            previous = seconds;
            if previous.is_none() {
                break;
            }
        }
    }
    let folders = [
        ("the Khronos litmus tests", "khronos"),
        ("the corpus: classic programs and pairs, lowered", "corpus"),
    ];
    for (name, what) in folders.iter().filter(|(name, _)| name.contains(wanted)) {
        eprintln!("{name}");
        if let Some((cells, _)) = row(what, &[], None) {
            let _ = writeln!(text, "| {name} | | {cells}");
        }
    }
}

/// The fastest of three runs of the binary, in seconds; `None` where it takes too long.
fn whole_process(module: &Path, args: &[String]) -> Option<f64> {
    let runs = (0..3).map(|_| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
        command.arg("outcomes").arg(module).args(args).args(["-q", "--jobs", "1"]);
        command.args(["--timeout", &LONGEST.to_string()]).stdout(Stdio::null());
        let start = Instant::now();
        let complete = command.status().is_ok_and(|status| status.success());
        complete.then(|| start.elapsed().as_secs_f64())
    });
    runs.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min)
}

fn rivals(text: &mut String, wanted: &str) {
    text.push_str(
        "\nThe same programs in GenMC 0.10.3 (C under RC11; measured elsewhere, on one core of a like machine), and `spirv-tv \
         outcomes -q --jobs 1`, both as whole processes:\n\n\
         | search | n | GenMC | spirv-tv |\n| --- | --- | --- | --- |\n",
    );
    let families = programs::families();
    for rival in GENMC.iter().filter(|rival| rival.family.contains(wanted)) {
        eprintln!("{} {}, whole process", rival.family, rival.n);
        let family = families.iter().find(|family| family.name == rival.family).unwrap();
        let (_, args) = family.sizes.iter().find(|(n, _)| *n == rival.n).unwrap();
        let ours = whole_process(&programs::root().join(&family.module), args);
        let ours = ours.map_or_else(|| format!("> {LONGEST} s"), time);
        let _ = writeln!(text, "| {} | {} | {} | {ours} |", rival.family, rival.n, time(rival.seconds));
    }
}

/// What it was measured on.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("an unknown processor", |(_, model)| model);
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or_default();
    let git =
        Command::new("git").args(["describe", "--always", "--dirty"]).current_dir(programs::root()).output();
    let commit =
        git.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("Commit {commit}, {build} build, {cores} cores of {model}, load {load} before it began.\n\n")
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, rest)) = arguments.split_first() {
        if first == "--measure" {
            return measure(rest);
        }
    }
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("the table is made by cargo bench --bench table");
        return;
    }
    let wanted = arguments.iter().find(|argument| !argument.starts_with("--")).map_or("", String::as_str);
    let mut text = machine();
    searches(&mut text, wanted);
    rivals(&mut text, wanted);
    if std::env::var("PERFORMANCE").is_ok_and(|value| value == "write") {
        assert!(wanted.is_empty(), "the whole table is written");
        programs::write_between(BEGIN, END, &text);
    } else {
        println!("{text}");
    }
}

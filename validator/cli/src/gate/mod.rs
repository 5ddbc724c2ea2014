//! `spirv-tv gate`: many checks against what is expected of them.

mod arguments;
mod cached;
mod case;
mod executed;
mod finish;
mod guilty;
mod make;
mod merge;
mod options;
mod plan;
mod preflight;
mod told;
pub(crate) mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use spirv_tv::check::Watch;
use spirv_tv_gate::cases::{Case, Planned};
use spirv_tv_gate::log::{self, Head, Log, LogError};
use spirv_tv_gate::pool::Pool;
use spirv_tv_gate::{Record, Status};

pub use arguments::GateArguments;
use arguments::GateCommand;
use executed::Runner;
use finish::Finished;
pub(crate) use make::{not_made, unread, NotMade};
use plan::Plan;
use told::Progress;

use crate::progress::ProgressLine;
use crate::CliError;

/// How long a worker may take beyond the time of a check, for the optimiser, reading and writing.
const GRACE: Duration = Duration::from_secs(10);

/// Runs the cases. `command_line` is what stands behind `gate`.
pub(super) fn run(arguments: &GateArguments, command_line: &[OsString]) -> Result<u8, CliError> {
    if let Some(GateCommand::Merge(merge)) = &arguments.command {
        return merge::run(merge);
    }
    let Some(bucket) = &arguments.bisect else { return run_cases(arguments, command_line) };
    // git takes other exit codes for a bad commit, or ends.
    run_cases(arguments, command_line).or_else(|error| {
        crate::complain(&format!("{error}: whether {bucket} is there cannot be told"));
        Ok(finish::UNTESTABLE)
    })
}

fn run_cases(arguments: &GateArguments, command_line: &[OsString]) -> Result<u8, CliError> {
    let begun = Instant::now();
    preflight::options(arguments)?;
    let watch = Arc::new(Watch::default());
    let planning = ProgressLine::start(&watch, arguments.reports.color);
    watch.enter("looking for cases");
    let plan = Plan::of(arguments)?;
    watch.enter("looking at the executor");
    let runner = Runner::of(&arguments.executor)?;
    watch.enter(format!("looking at the options of {} cases", plan.planned.len()));
    preflight::cases(arguments, command_line, &plan)?;
    let expectations = plan::expectations(&arguments.expectations)?;
    let mut about = plan::about(arguments, command_line)?;
    about.tools.extend(runner.iter().map(|runner| ("executor".to_owned(), runner.name().to_owned())));
    // Workers start their own.
    drop(runner);
    let head = Head::new(about, plan.hash(arguments, &watch));
    drop(planning);
    let out = &arguments.results.out;
    if arguments.bisect.is_some() {
        log::discard(out).map_err(of_out)?;
    }
    let (mut log, mut records) = match arguments.results.resume {
        true => Log::resume(out, &head).map_err(of_out)?,
        false => (Log::begin(out, &head).map_err(of_out)?, BTreeMap::new()),
    };
    for skipped in plan.skipped.iter().filter(|case| !records.contains_key(*case)) {
        log.append(&Record::new(skipped, Status::Skip, "as --skips says"))?;
    }
    let wanted: BTreeSet<&str> = plan.planned.iter().map(|one| one.case.name.as_str()).collect();
    records.retain(|case, _| wanted.contains(case.as_str()));
    let left: Vec<Case> = plan
        .planned
        .iter()
        .filter(|one| !records.contains_key(&one.case.name))
        .map(|one| one.case.clone())
        .collect();
    let manifest: BTreeMap<&str, &Planned> =
        plan.planned.iter().map(|one| (one.case.name.as_str(), one)).collect();
    let mut fails = 0;
    let stopped = AtomicBool::new(false);
    let mut progress = Progress::new(arguments, plan.planned.len(), records.len());
    let mut failed = None;
    let scratch = Scratch::new(out)?;
    pool(arguments, command_line, scratch.folder.clone())?.run(&left, &stopped, |answer| {
        // A case that will be run once more has no result yet.
        if answer.is_run_again || failed.is_some() {
            return;
        }
        let planned = manifest.get(answer.record.case.as_str());
        let record = Record {
            expect: planned.and_then(|one| one.expected).map(|expected| expected.name().to_owned()),
            note: planned.and_then(|one| one.note.clone()),
            ..answer.record
        };
        let verdict = expectations.judge_attempts(&record, finish::expected(&record));
        fails += usize::from(verdict.unexpected);
        if arguments.selected.max_fails.is_some_and(|most| fails >= most) {
            stopped.store(true, Ordering::Relaxed);
        }
        failed =
            log.append(&record).err().map(CliError::from).or_else(|| progress.add(&record, &verdict).err());
        if failed.is_some() {
            stopped.store(true, Ordering::Relaxed);
        }
        records.insert(record.case.clone(), record);
    });
    drop(progress);
    drop(scratch);
    if let Some(error) = failed {
        return Err(error);
    }
    log.sync()?;
    for skipped in &plan.skipped {
        records.insert(skipped.clone(), Record::new(skipped, Status::Skip, "as --skips says"));
    }
    let mut remarks = plan.remarks.clone();
    let not_run = plan.planned.iter().filter(|one| !records.contains_key(&one.case.name)).count();
    if not_run > 0 {
        remarks.push(format!("{not_run} cases were not run, since --max-fails was reached"));
    }
    let finished = Finished {
        about: head.about,
        command: told::command(command_line),
        records,
        missing: plan.missing(&expectations.baseline),
        remarks,
        seconds: begun.elapsed().as_secs_f64(),
        is_whole: not_run == 0,
    };
    let results = finish::judge(
        finished,
        &arguments.expectations,
        &expectations,
        arguments.reports.explain_drift.as_deref(),
    )?;
    finish::write(&results, out, &arguments.reports)?;
    if arguments.expectations.bless {
        return finish::bless(&results, &arguments.expectations);
    }
    told::print_results(&results, &arguments.reports)?;
    match &arguments.bisect {
        Some(bucket) => Ok(finish::bisect(&results, bucket, not_run == 0)),
        None => Ok(finish::exit_code(&results)),
    }
}

/// The folder of the results cannot be used.
fn of_out(error: LogError) -> CliError {
    CliError::of_option("--out", error)
}

/// The folder for what workers leave behind.
struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    /// Makes it, in the folder of the results. A run that was ended may have left one: nobody else writes there.
    fn new(out: &Path) -> Result<Scratch, CliError> {
        let fail = |error| CliError::File { path: out.to_owned(), error };
        let folder = std::path::absolute(out).map_err(fail)?.join("scratch");
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(fail(error)),
            Ok(()) | Err(_) => {}
        }
        std::fs::create_dir_all(&folder).map_err(fail)?;
        Ok(Scratch { folder })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left is removed by the next run.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn pool(arguments: &GateArguments, command_line: &[OsString], scratch: PathBuf) -> Result<Pool, CliError> {
    let memory = options::memory(arguments)?;
    let mut own = vec![OsString::from(worker::SUBCOMMAND)];
    own.extend(command_line.iter().cloned());
    let optimizers = match arguments.compilers.reference {
        Some(_) => 3,
        None => 2,
    };
    Ok(Pool {
        program: std::env::current_exe().map_err(CliError::Optimiser)?,
        arguments: own,
        jobs: options::jobs(arguments)?,
        time: (2 * options::time(arguments)
            + optimizers * arguments.compilers.choice.optimizer_timeout
            + GRACE)
            .saturating_add(options::time_of_executor(arguments)),
        // Checks keep to their own limit; what a worker holds beside them is little.
        memory: memory + memory / 4 + (256 << 20),
        scratch,
    })
}

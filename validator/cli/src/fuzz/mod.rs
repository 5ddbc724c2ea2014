//! `spirv-tv fuzz`: generated programs on a device, which must do only what they allow (docs/fuzzing.md).

mod answer;
mod arguments;
mod concurrent;
mod finding;
mod guilt;
mod mistakes;
mod plan;
mod record;
mod refused;
mod sequential;
mod sets;
mod tally;
mod treatment;
mod work;
mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use spirv_tv::check::{Bounds, Watch};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::report::html::Extent;
use spirv_tv::report::Painter;
use spirv_tv_gate::expectation::Baseline;
use spirv_tv_gate::log::{Head, Log, LogError};
use spirv_tv_gate::{hash, About, Bucket};

use arguments::Kind;
pub use arguments::{DriverArguments, FuzzArguments, FuzzCommand};
use plan::Plan;
use record::{Class, Record};
use tally::{grouped, Tally};
use world::World;

use crate::progress::ProgressLine;
use crate::{html, interrupt, painter, print, CliError, TextOrJson};

/// Files have no colours.
const PLAIN: Painter = Painter { coloured: false };

/// The generation of the cases: it is raised where a seed and a number come to another case.
const GENERATION: u32 = 1;

pub(super) fn run(arguments: &FuzzArguments) -> Result<u8, CliError> {
    match &arguments.command {
        FuzzCommand::Driver(arguments) => driver(arguments),
    }
}

/// What pages of findings rest on.
fn extent() -> Extent {
    html::extent(None, &Bounds::default(), Instant::now(), false)
}

fn driver(arguments: &DriverArguments) -> Result<u8, CliError> {
    let plan = Plan::of(arguments);
    if plan.is_empty() {
        return Err(CliError::usage("--only modules wants a MODULE"));
    }
    for path in &arguments.modules {
        Module::load(path, &ReadOptions::default())?;
    }
    let watch = Arc::new(Watch::default());
    let progress = ProgressLine::start(&watch, arguments.color);
    watch.enter("looking at the executor");
    let known = known(arguments.baseline.as_deref())?;
    let executor = arguments.start()?;
    let stop = interrupt::stopper()?;
    let world = World {
        executor: executor.1.clone(),
        time: arguments.run_timeout,
        to_explain: Duration::from_secs(arguments.explain),
        invocations: arguments.invocations,
        times: arguments.times,
        program: arguments.program.clone().unwrap_or_default(),
        modules: arguments.modules.clone(),
        sets: sets::Sets::default(),
        stress: world::Stress::default(),
    };
    if let Some(text) = &arguments.program {
        if !plan.has(Kind::Concurrent) {
            return Err(CliError::usage("--program is about concurrent cases, which --only leaves out"));
        }
        if concurrent::program(&world, &mut fastrand::Rng::with_seed(arguments.seed)).is_none() {
            let why =
                format!("--program: no litmus program that this executor can run has '{text}' in its name");
            return Err(CliError::Usage(why));
        }
    }
    let about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        generation: GENERATION,
        tools: BTreeMap::from([("executor".to_owned(), executor.1.name.clone())]),
        options: arguments.decisive(),
    };
    let out = &arguments.out;
    let head = Head::of::<Record>(about.clone(), hash(about.options.join("\n").as_bytes()));
    let (mut log, mut records) = match (arguments.case, arguments.resume) {
        (Some(_), _) => (None, BTreeMap::new()),
        (None, true) => {
            let (log, records) = Log::resume::<Record>(out, &head).map_err(of_out)?;
            (Some(log), records)
        }
        (None, false) => (Some(Log::begin(out, &head).map_err(of_out)?), BTreeMap::new()),
    };
    let mut saved = count(&records);
    let done: BTreeSet<String> = records.keys().cloned().collect();
    let (mut failed, mut new) = (None, 0);
    let mut told = Progress::of(&records);
    watch.enter(told.line());
    work::run(arguments, &plan, &world, &done, &stop, |answer| {
        let mut record = answer.record;
        if let Some(bucket) = record.bucket.clone().filter(|_| record.status.class() >= Class::Executor) {
            let count: &mut usize = saved.entry(bucket).or_default();
            *count += 1;
            if *count <= arguments.max_per_bucket {
                match finding::save(out, &record, &answer.evidence, arguments, &world) {
                    Ok(folder) => record.saved = Some(folder),
                    Err(error) => failed = Some(error),
                }
            }
        }
        if let Some(Err(error)) = log.as_mut().map(|log| log.append(&record)) {
            failed = Some(error.into());
        }
        told.add(&record);
        watch.enter(match stop.load(Ordering::SeqCst) {
            true => "interrupted: ending the cases that are being run (again: end at once)".to_owned(),
            false => told.line(),
        });
        let is_known = record.bucket.as_ref().is_some_and(|bucket| known.contains(bucket));
        new += u64::from(record.status.class() >= Class::Executor && !is_known);
        records.insert(record.case.clone(), record);
        failed.is_none() && arguments.max_findings.is_none_or(|most| new < most)
    })?;
    drop(progress);
    if let Some(error) = failed {
        return Err(error);
    }
    let is_interrupted = stop.load(Ordering::SeqCst);
    let tally = Tally { records: &records, known: &known, executor: &world.executor.name, is_interrupted };
    if let Some(log) = &mut log {
        log.sync()?;
        write(out, &tally, &about)?;
    }
    print(&match arguments.format {
        TextOrJson::Json => format!("{}\n", tally.json()),
        TextOrJson::Text => tally.text(painter(arguments.color)),
    })?;
    Ok(tally.exit_code())
}

/// The folder of the results cannot be used.
fn of_out(error: LogError) -> CliError {
    CliError::of_option("--out", error)
}

/// Buckets of findings that are known.
fn known(baseline: Option<&Path>) -> Result<BTreeSet<Bucket>, CliError> {
    let Some(path) = baseline else { return Ok(BTreeSet::new()) };
    let baseline = Baseline::read(path).map_err(|error| CliError::of_option("--baseline", error))?;
    Ok(baseline.side.buckets.into_values().collect())
}

/// How many findings of each bucket are saved.
fn count(records: &BTreeMap<String, Record>) -> BTreeMap<Bucket, usize> {
    let mut saved = BTreeMap::new();
    for record in records.values().filter(|record| record.saved.is_some()) {
        if let Some(bucket) = &record.bucket {
            *saved.entry(bucket.clone()).or_default() += 1;
        }
    }
    saved
}

/// Writes the results as files beside the log.
fn write(out: &Path, tally: &Tally<'_>, about: &About) -> Result<(), CliError> {
    let path = out.join("results.csv");
    std::fs::write(&path, tally.csv()).map_err(|error| CliError::File { path, error })?;
    let failures = out.join("failures.csv");
    match std::fs::remove_file(&failures) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(CliError::File { path: failures, error })
        }
        Ok(()) | Err(_) => {}
    }
    let records: Vec<_> = tally.records.values().map(Record::in_baseline).collect();
    Baseline::bless(&failures, records.iter(), about, &BTreeSet::new())?;
    Ok(())
}

/// What the progress line says.
struct Progress {
    cases: u64,
    instances: u64,
    findings: u64,
}

impl Progress {
    fn of(records: &BTreeMap<String, Record>) -> Progress {
        let mut progress = Progress { cases: 0, instances: 0, findings: 0 };
        records.values().for_each(|record| progress.add(record));
        progress
    }

    fn add(&mut self, record: &Record) {
        self.cases += 1;
        self.instances += record.instances;
        self.findings += u64::from(record.status.class() >= Class::Executor);
    }

    fn line(&self) -> String {
        let Progress { cases, instances, findings } = self;
        format!("{cases} cases, {} instances and runs, {findings} findings", grouped(*instances))
    }
}

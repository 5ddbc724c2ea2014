//! Answers of earlier runs: what they depend on, what is kept of them, and how they are told anew.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use spirv_tv::behaviour::Stopped;
use spirv_tv::check::{CheckOptions, CheckReport, Exercised};
use spirv_tv::compare::Cut;
use spirv_tv::launch::file;
use spirv_tv::module::{self, Module};
use spirv_tv::report::{self, brief};
use spirv_tv_gate::cache::{Cache, Entry, Launch};
use spirv_tv_gate::cases::{Case, Source};
use spirv_tv_gate::{Record, Status};

use super::arguments::GateArguments;
use super::make::Made;
use super::plan::GENERATION;
use crate::{save, CliError};

/// Answers of earlier runs.
pub(super) struct Answers {
    cache: Cache,
    /// What the program and the options of reading come to, as a hash.
    build: String,
}

impl Answers {
    /// Those that the options name, if they name some.
    pub(super) fn of(arguments: &GateArguments) -> Result<Option<Answers>, CliError> {
        let results = &arguments.results;
        let Some(folder) = &results.cache else { return Ok(None) };
        let fail = |error| CliError::File { path: folder.clone(), error };
        let cache = Cache::open(folder, results.cache_readonly).map_err(fail)?;
        // Another build may decide otherwise, whatever its version says.
        let program = std::env::current_exe().and_then(|path| spirv_tv_gate::hash_file(&path));
        let program = program.map_err(CliError::Optimiser)?;
        let read = arguments.comparison.read.command_line().join(" ");
        let map = &arguments.compilers.map;
        let build = format!("{program} {read} {map:?} {GENERATION}");
        Ok(Some(Answers { cache, build: spirv_tv_gate::hash(build.as_bytes()) }))
    }

    /// What an answer depends on beside the modules; `None` where that cannot be told.
    fn surroundings(&self, options: &CheckOptions) -> Option<String> {
        let mut own = options.clone();
        // What time or memory cut is not kept, and nothing else depends on them: machines differ in both.
        own.bounds.max_memory = 0;
        own.bounds.timeout = None;
        own.bounds.begun = None;
        own.bounds.step_timeout = None;
        let mut text =
            format!("{}\n{own:?}\n{} {:?}\n", self.build, own.model.name(), own.model.parameters());
        for path in options.launch.files() {
            // Strings can be written to without an error.
            let _ = writeln!(text, "{}", spirv_tv_gate::hash_file(path).ok()?);
        }
        Some(text)
    }

    /// The key of the answer for two modules, whatever their names and lines are; `None` where the launch names things
    /// that they name.
    pub(super) fn key(&self, made: &Made, options: &CheckOptions) -> Option<Key> {
        let by_number = options.launch.is_by_number();
        let modules = by_number.then(|| modules(&made.before.words, &made.after.words)).flatten()?;
        let text = format!("{}{modules}", self.surroundings(options)?);
        Some(Key { hash: spirv_tv_gate::hash(text.as_bytes()), is_of_files: false })
    }

    /// The key of the answer for the files of a pair, byte by byte: what was read and validated once need not be again.
    pub(super) fn key_of_files(&self, case: &Case, options: &CheckOptions) -> Option<Key> {
        let Source::Pair { before, after } = &case.source else { return None };
        let files = [before, after].map(|path| spirv_tv_gate::hash_file(path).ok());
        let [Some(before), Some(after)] = files else { return None };
        let text = format!("files\n{}{before}\n{after}", self.surroundings(options)?);
        Some(Key { hash: spirv_tv_gate::hash(text.as_bytes()), is_of_files: true })
    }

    /// The key of what a module allows; `None` where that cannot be told.
    pub(super) fn key_of_set(&self, module: &Module, options: &CheckOptions) -> Option<Key> {
        // Lines and names are among it.
        let text = format!("outcomes\n{}{:?}", self.surroundings(options)?, module.words);
        Some(Key { hash: spirv_tv_gate::hash(text.as_bytes()), is_of_files: false })
    }

    /// What a module allows, if it is kept, as text.
    pub(super) fn set(&self, key: &Key) -> Option<String> {
        self.cache.get(&key.hash)
    }

    /// Keeps what a module allows.
    pub(super) fn keep_set(&self, key: &Key, set: &str) -> Result<(), CliError> {
        self.cache.put(&key.hash, &set).map_err(not_kept)
    }

    /// What is kept with a key.
    pub(super) fn get(&self, key: &Key) -> Option<Entry> {
        self.cache.get(&key.hash)
    }

    /// Keeps what is known already with another key.
    pub(super) fn put(&self, key: &Key, entry: &Entry) -> Result<(), CliError> {
        self.cache.put(&key.hash, entry).map_err(not_kept)
    }

    /// Keeps an answer with keys, unless time or memory had a part in it.
    pub(super) fn keep(
        &self,
        keys: &[Key],
        record: &Record,
        report: &CheckReport,
        made: &Made,
    ) -> Result<(), CliError> {
        let by_machine = |cut: &Cut| match cut {
            Cut::Stopped(
                Stopped::Timeout | Stopped::StepTimeout | Stopped::MaxMemory | Stopped::Cancelled,
            ) => true,
            Cut::Stopped(Stopped::MaxExecutions | Stopped::MaxSteps) | Cut::Bound(_) | Cut::Elsewhere => {
                false
            }
        };
        if report.tried().cuts.iter().any(by_machine) || record.status == Status::Timeout {
            return Ok(());
        }
        let decisive = report.decisive().filter(|_| record.status == Status::Fail);
        let entry = Entry {
            status: record.status,
            detail: plain_detail(report),
            never_ran: never_ran(report, made),
            proved: record.proved,
            modules: record.modules.clone(),
            inputs: report.usual().map(|run| run.input.name.clone()).collect(),
            launch: decisive.map(|run| {
                let (text, files) = save::launch_file(report, run);
                Launch { input: run.input.name.clone(), text, files }
            }),
        };
        keys.iter().try_for_each(|key| match key.is_of_files {
            true => self.put(key, &told(entry.clone(), made)),
            false => self.put(key, &entry),
        })
    }
}

fn not_kept(error: std::io::Error) -> CliError {
    CliError::File { path: "answers are not kept in the cache".into(), error }
}

/// What an answer depends on.
pub(super) struct Key {
    hash: String,
    /// The bytes of files: lines are always the same.
    is_of_files: bool,
}

/// A hash of two modules without names and lines.
pub(super) fn modules(before: &[u32], after: &[u32]) -> Option<String> {
    let both = [module::canonical(before).ok()?, module::canonical(after).ok()?];
    Some(spirv_tv_gate::hash(both.join("\n\n").as_bytes()))
}

/// What stands in a detail for what was changed and never ran.
const NEVER_RAN: &str = "{never ran}";

/// Why the status is what it is, without lines.
fn plain_detail(report: &CheckReport) -> String {
    let about_lines = report::never_ran(&report.exercised);
    let about_lines = about_lines.trim_start_matches("; ");
    let plain = |text: String| if text == about_lines { NEVER_RAN.to_owned() } else { text };
    let parts = brief::qualifiers(report).into_iter().map(plain);
    std::iter::once(brief::gist(report)).chain(parts).collect::<Vec<_>>().join("; ")
}

/// What was changed and never ran of both modules, without lines.
fn never_ran(report: &CheckReport, made: &Made) -> [Vec<usize>; 2] {
    let sides = [(&report.exercised.before, &made.before), (&report.exercised.after, &made.after)];
    sides.map(|(exercised, module)| {
        let lines = module::canonical_lines(module).into_iter().enumerate();
        lines.filter(|(_, line)| exercised.changed_never_ran.contains(line)).map(|(index, _)| index).collect()
    })
}

/// An entry with the lines of these modules.
pub(super) fn told(entry: Entry, made: &Made) -> Entry {
    let lines = |module: &Module, positions: &[usize]| {
        let lines = module::canonical_lines(module);
        positions.iter().filter_map(|index| lines.get(*index).copied()).collect()
    };
    let mut exercised = Exercised::default();
    let [before, after] = &entry.never_ran;
    exercised.before.changed_never_ran = lines(&made.before, before);
    exercised.after.changed_never_ran = lines(&made.after, after);
    let text = report::never_ran(&exercised);
    Entry { detail: entry.detail.replace(NEVER_RAN, text.trim_start_matches("; ")), ..entry }
}

/// The record that an entry comes to, which is no failure.
pub(super) fn record(case: &Case, entry: Entry) -> Record {
    Record {
        modules: entry.modules,
        proved: entry.proved,
        inputs: u64::try_from(entry.inputs.len()).unwrap_or(u64::MAX),
        cached: true,
        ..Record::new(&case.name, entry.status, entry.detail)
    }
}

/// The options with which a failure that is kept is told anew: its own launch.
pub(super) fn options_of(entry: &Entry, options: &CheckOptions) -> Option<CheckOptions> {
    let Launch { input: _, text, files } = entry.launch.as_ref()?;
    let folder = tempfile::tempdir().ok()?;
    let path = folder.path().join("launch.toml");
    std::fs::write(&path, text).ok()?;
    for (name, bytes) in files {
        // Names of keys; never a path.
        let name = Path::new(name).file_name()?;
        std::fs::write(folder.path().join(name), bytes).ok()?;
    }
    let mut own = options.clone();
    own.launch = file::read(&path).ok()?.contents_read().ok()?;
    own.bounds.begun = Some(Instant::now());
    Some(own)
}

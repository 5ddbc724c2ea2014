//! Answers of earlier runs: what they depend on, what is kept of them, and how they are told anew.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use spirv_tv::behaviour::Stopped;
use spirv_tv::check::{CheckOptions, CheckReport};
use spirv_tv::compare::Cut;
use spirv_tv::launch::file;
use spirv_tv::module;
use spirv_tv::report::brief;
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
        let read = arguments.read.command_line().join(" ");
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
        Some(Key(spirv_tv_gate::hash(text.as_bytes())))
    }

    /// The key of the answer for the files of a pair, byte by byte: what was read and validated once need not be again.
    pub(super) fn key_of_files(&self, case: &Case, options: &CheckOptions) -> Option<Key> {
        let Source::Pair { before, after } = &case.source else { return None };
        let files = [before, after].map(|path| spirv_tv_gate::hash_file(path).ok());
        let [Some(before), Some(after)] = files else { return None };
        let text = format!("files\n{}{before}\n{after}", self.surroundings(options)?);
        Some(Key(spirv_tv_gate::hash(text.as_bytes())))
    }

    /// What is kept with a key.
    pub(super) fn get(&self, key: &Key) -> Option<Entry> {
        self.cache.get(&key.0)
    }

    /// Keeps what is known already with another key.
    pub(super) fn put(&self, key: &Key, entry: &Entry) -> Result<(), CliError> {
        let not_kept = |error| CliError::File { path: "answers are not kept in the cache".into(), error };
        self.cache.put(&key.0, entry).map_err(not_kept)
    }

    /// Keeps an answer with keys, unless time or memory had a part in it.
    pub(super) fn keep(&self, keys: &[Key], record: &Record, report: &CheckReport) -> Result<(), CliError> {
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
            proved: record.proved,
            modules: record.modules.clone(),
            inputs: report.usual().map(|run| run.input.name.clone()).collect(),
            launch: decisive.map(|run| {
                let (text, files) = save::launch_file(report, run);
                Launch { text, files }
            }),
        };
        keys.iter().try_for_each(|key| self.put(key, &entry))
    }
}

/// What an answer depends on, as a hash.
pub(super) struct Key(String);

/// A hash of two modules without names and lines.
pub(super) fn modules(before: &[u32], after: &[u32]) -> Option<String> {
    let both = [module::canonical(before).ok()?, module::canonical(after).ok()?];
    Some(spirv_tv_gate::hash(both.join("\n\n").as_bytes()))
}

/// Why the status is what it is, without lines.
fn plain_detail(report: &CheckReport) -> String {
    let never_ran =
        [&report.exercised.before, &report.exercised.after].map(|one| one.changed_never_ran.len());
    let mut parts = vec![brief::gist(report)];
    let is_about_lines = |text: &String| text.contains("never ran");
    parts.extend(brief::qualifiers(report).into_iter().filter(|text| !is_about_lines(text)));
    if report.exercised.is_hollow() {
        let [before, after] = never_ran;
        parts.push(format!("but changed instructions never ran ({before} of before, {after} of after)"));
    }
    parts.join("; ")
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
    let Launch { text, files } = entry.launch.as_ref()?;
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

//! What is run, and what is expected of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use spirv_tv::check::Watch;
use spirv_tv_gate::cases::{self, Finder, Kind, Listed, Pipeline, Planned, Source};
use spirv_tv_gate::expectation::{Baseline, Expectations, Patterns};
use spirv_tv_gate::fossilize::Database;
use spirv_tv_gate::program::Program;
use spirv_tv_gate::selection::{of_environment, Fraction, Partition};
use spirv_tv_gate::{manifest, About};
use spirv_tv_toolchain::passes::PASSES;

use super::arguments::{ExpectationArguments, GateArguments};
use crate::optimiser::Tool;
use crate::CliError;

/// The generation of automatic inputs and of readings of the specifications. It is raised with every change after which
/// the same case may have another status.
pub(super) const GENERATION: u32 = 1;

/// What is run.
pub(super) struct Plan {
    /// The cases that are run, by name.
    pub(super) planned: Vec<Planned>,
    /// The names of those that are not, because the user said so.
    pub(super) skipped: Vec<String>,
    /// What is to be known of them.
    pub(super) remarks: Vec<String>,
    /// The names of all cases, also those of other shards.
    all: BTreeSet<String>,
    partition: Option<Partition>,
    has_fraction: bool,
}

impl Plan {
    /// What the command line asks for.
    pub(super) fn of(arguments: &GateArguments) -> Result<Plan, CliError> {
        let selected = &arguments.selected;
        let (partition, mut remarks) = partition(selected.partition)?;
        let (found, found_remarks) = found(arguments)?;
        remarks.extend(found_remarks);
        let planned = cases::unique(found)?;
        let all: BTreeSet<String> = planned.iter().map(|one| one.case.name.clone()).collect();
        let mut skips = Patterns::default();
        for path in &selected.skips {
            skips.extend(Patterns::read(path).map_err(|error| CliError::of_option("--skips", error))?);
        }
        let fraction = match selected.fraction {
            Some(0) => return Err(CliError::usage("--fraction 0: every Nth case is run, from 1 on")),
            Some(every) => Some(Fraction { every, start: selected.fraction_start }),
            None => None,
        };
        let is_here = |index: usize, one: &Planned| {
            fraction.is_none_or(|fraction| fraction.contains(index))
                && partition.is_none_or(|partition| partition.contains(&one.case.name))
        };
        let here =
            planned.into_iter().enumerate().filter(|(index, one)| is_here(*index, one)).map(|(_, one)| one);
        let (skipped, planned): (Vec<Planned>, Vec<Planned>) =
            here.partition(|one| skips.matches(&one.case.name));
        let skipped = skipped.into_iter().map(|one| one.case.name).collect();
        Ok(Plan { planned, skipped, remarks, all, partition, has_fraction: fraction.is_some() })
    }

    /// What tells this run's cases from another's: their names and options, and the files that they are made from.
    pub(super) fn hash(&self, arguments: &GateArguments, watch: &Watch) -> String {
        let mut files = BTreeSet::new();
        let mut text = self.skipped.join("\n");
        for case in self.planned.iter().map(|one| &one.case) {
            text.push_str(&format!("{case:?}\n"));
            files.extend(case.launch.clone());
            match &case.source {
                Source::Module(path)
                | Source::Compiled(path)
                | Source::Fossil { database: path, module: _ } => {
                    files.insert(path.clone());
                }
                Source::Pair { before, after } => files.extend([before.clone(), after.clone()]),
            }
        }
        let compilers = &arguments.compilers;
        let programs =
            [&compilers.before_cmd, &compilers.after_cmd, &compilers.reference, &compilers.choice.optimizer];
        files.extend(programs.into_iter().flatten().flat_map(Program::files).map(Path::to_owned));
        files.extend(compilers.choice.spirv_opt.clone());
        let all = files.len();
        for (number, path) in (1..).zip(files) {
            watch.enter(format!("reading files: {number} of {all}"));
            text.push_str(&format!("{} {}\n", path.display(), content(&path)));
        }
        spirv_tv_gate::hash(text.as_bytes())
    }

    /// The cases of a baseline that should be here and are not. With --fraction nobody can tell.
    pub(super) fn missing(&self, baseline: &Baseline) -> Vec<String> {
        let is_here = |case: &&str| self.partition.is_none_or(|partition| partition.contains(case));
        let gone =
            baseline.cases().filter(|case| !self.all.contains(*case) && !self.has_fraction).filter(is_here);
        gone.map(str::to_owned).collect()
    }
}

/// What tells a file from what it was: its content; of a large one, its length and time.
fn content(path: &Path) -> String {
    let Ok(meta) = std::fs::metadata(path) else { return "none".to_owned() };
    if meta.len() > LARGE {
        return format!("{} {:?}", meta.len(), meta.modified().ok());
    }
    std::fs::read(path).map_or_else(|_| "none".to_owned(), |bytes| spirv_tv_gate::hash(&bytes))
}

/// The length, in bytes, from which on files are not read for that.
const LARGE: u64 = 1 << 24;

fn partition(given: Option<Partition>) -> Result<(Option<Partition>, Vec<String>), CliError> {
    if given.is_some() {
        return Ok((given, Vec::new()));
    }
    let told = of_environment(|name| std::env::var(name).ok()).map_err(CliError::usage)?;
    let Some((partition, variable)) = told else { return Ok((None, Vec::new())) };
    // Bazel takes a runner that does not touch this file for one that knows nothing of shards.
    if let Some(path) = std::env::var_os("TEST_SHARD_STATUS_FILE") {
        let path = PathBuf::from(path);
        std::fs::write(&path, "").map_err(|error| CliError::File { path, error })?;
    }
    Ok((Some(partition), vec![format!("only --partition {partition} is run, as {variable} says")]))
}

/// Every case that the command line names.
fn found(arguments: &GateArguments) -> Result<(Vec<Planned>, Vec<String>), CliError> {
    let compilers = &arguments.compilers;
    let kind = match compilers.before_cmd {
        Some(_) => Kind::Sources,
        None => Kind::Modules,
    };
    let mut paths = arguments.cases.clone();
    for list in &arguments.selected.list {
        paths.extend(cases::list(list).map_err(|error| CliError::of_option("--list", error))?);
    }
    if paths.is_empty() {
        return Err(CliError::usage(
            "no cases: give modules, folders, lists (--list), databases or a manifest",
        ));
    }
    let pipelines = pipelines(arguments)?;
    let passes: Vec<Pipeline> =
        PASSES.iter().map(|pass| Pipeline { name: pass.example(), flags: vec![pass.example()] }).collect();
    let mut finder = Finder { kind, read_database: &read_database, remarks: Vec::new() };
    let (manifests, others): (Vec<PathBuf>, Vec<PathBuf>) =
        paths.into_iter().partition(|path| is_manifest(path));
    let mut planned = cases::of_arguments(&others, &pipelines, &mut finder)?;
    for path in manifests {
        planned.extend(manifest::read(&path, &pipelines, &passes, &mut finder)?);
    }
    Ok((planned, finder.remarks))
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}

fn pipelines(arguments: &GateArguments) -> Result<Vec<Pipeline>, CliError> {
    let compilers = &arguments.compilers;
    let takes_flags = match compilers.choice.tool()? {
        Tool::Bundled => true,
        Tool::Program(program) => program.is_like_spirv_opt(),
    };
    let is_bundled = matches!(compilers.choice.tool()?, Tool::Bundled);
    match (&compilers.pipeline[..], takes_flags) {
        // The module itself is run.
        ([], _) if arguments.executor.is_given() && is_bundled => {
            Ok(vec![Pipeline { name: String::new(), flags: Vec::new() }])
        }
        ([], true) => Ok(vec![cases::pipeline("-O")?]),
        ([], false) => Ok(vec![Pipeline { name: String::new(), flags: Vec::new() }]),
        (given, _) => Ok(given.iter().map(|text| cases::pipeline(text)).collect::<Result<_, _>>()?),
    }
}

fn read_database(path: &Path) -> Result<Listed, String> {
    let database = Database::open(path).map_err(|error| error.to_string())?;
    let modules = database.cases().into_iter().map(|shader| shader.name).collect();
    Ok(Listed { modules, remarks: database.remarks().to_vec() })
}

/// What is expected.
pub(super) fn expectations(arguments: &ExpectationArguments) -> Result<Expectations, CliError> {
    let baseline = match &arguments.baseline {
        // A baseline that is to be written need not be there.
        Some(path) if arguments.bless && !path.exists() => Baseline::default(),
        Some(path) => Baseline::read(path).map_err(|error| CliError::of_option("--baseline", error))?,
        None => Baseline::default(),
    };
    let mut flakes = Patterns::default();
    for path in &arguments.flakes {
        flakes.extend(Patterns::read(path).map_err(|error| CliError::of_option("--flakes", error))?);
    }
    Ok(Expectations { baseline, flakes, fail_on: arguments.fail_on.iter().copied().collect() })
}

/// What results rest on.
pub(super) fn about(arguments: &GateArguments, command_line: &[OsString]) -> Result<About, CliError> {
    let mut tools = BTreeMap::new();
    let version = spirv_tv_toolchain::spirv_opt_version().map_err(CliError::usage)?;
    tools.insert("spirv-opt".to_owned(), version);
    if let Tool::Program(program) = arguments.compilers.choice.tool()? {
        tools.insert("optimizer".to_owned(), program.to_string());
    }
    let commands = [
        ("reference", &arguments.compilers.reference),
        ("before-cmd", &arguments.compilers.before_cmd),
        ("after-cmd", &arguments.compilers.after_cmd),
    ];
    for (name, command) in commands {
        tools.extend(command.as_ref().map(|command| (name.to_owned(), command.to_string())));
    }
    Ok(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        generation: GENERATION,
        tools,
        options: crate::help::given(command_line, &DECIDES_NOTHING),
    })
}

/// Options on which no status depends.
pub(super) const DECIDES_NOTHING: [&str; 32] = [
    "cases",
    "list",
    "fraction",
    "fraction_start",
    "partition",
    "skips",
    "max_fails",
    "pipeline",
    "optimizer",
    "spirv_opt",
    "reference",
    "before_cmd",
    "after_cmd",
    "baseline",
    "bless",
    "flakes",
    "fail_on",
    "min_decided",
    "min_exercised",
    "out",
    "resume",
    "cache",
    "cache_readonly",
    "junit",
    "sarif",
    "summary",
    "html",
    "format",
    "quiet",
    "color",
    "jobs",
    "start_timeout",
];

//! `spirv-tv litmus`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use rayon::prelude::*;

use super::arguments::{BoundArguments, ModelArguments, SHOW};
use super::memory::MemoryLimit;
use super::progress::ProgressLine;
use super::{caught, complain, format, html, print, CliError, ColorChoice, Format};
use spirv_tv::check::{Source, Watch};
use spirv_tv::explore::{ReductionName, Settings};
use spirv_tv::files;
use spirv_tv::litmus::{self, RunError, Wanted};
use spirv_tv::report;
use spirv_tv::report::html::MOST_STATES;
use spirv_tv::report::litmus::{Choices, Fate, FileReport, LitmusReport, Solved};

/// Options of `litmus`.
#[derive(Debug, Args)]
pub struct LitmusArguments {
    /// Litmus tests: Khronos .test files and herd-style .litmus files
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) model: ModelArguments,
    #[command(flatten)]
    pub(crate) bounds: BoundArguments,
    /// Print the set of final states with their numbers of executions
    #[arg(long, help_heading = SHOW)]
    pub(crate) outcomes: bool,
    /// Say of each expectation why: the race and what would order it, or the ordering that forbids it
    #[arg(long, help_heading = SHOW)]
    pub(crate) explain: bool,
    /// Text for people or one JSON object
    #[arg(long, value_enum, value_name = "text|json|jsonl", hide_possible_values = true,
        default_value_t = Format::Text, help_heading = SHOW)]
    pub(crate) format: Format,
    /// Write a page with pictures of executions and the report, for a browser
    #[arg(long, value_name = "FILE", help_heading = SHOW)]
    pub(crate) html: Option<PathBuf>,
    /// Only surprises and the last line
    #[arg(long, short, help_heading = SHOW)]
    pub(crate) quiet: bool,
    /// Colours and the progress line
    #[arg(long, value_enum, value_name = "auto|always|never", hide_possible_values = true,
        default_value_t = ColorChoice::Auto, help_heading = SHOW)]
    pub(crate) color: ColorChoice,
}

pub(super) fn run(arguments: &LitmusArguments) -> Result<u8, CliError> {
    let begun = Instant::now();
    let (model, bounds) = (arguments.model.model()?, arguments.bounds.bounds()?);
    let watch = Arc::new(Watch::default());
    let progress = ProgressLine::start(&watch, arguments.color);
    let _limit = MemoryLimit::start(&watch, bounds.max_memory);
    watch.enter(match arguments.files.len() {
        1 => arguments.files[0].clone(),
        several => format!("{several} litmus tests"),
    });
    let explore_one = |file: &String| {
        let settings = Settings {
            model: model.clone(),
            // With several files, each has a thread.
            jobs: if arguments.files.len() > 1 { 1 } else { bounds.jobs },
            // The executions of each state are counted.
            without: bounds.without.with(ReductionName::Merging),
            progress: Arc::clone(&watch.progress),
            ..bounds.settings()
        };
        FileReport { file: file.clone(), fate: fate(file, &settings, arguments) }
    };
    let files: Vec<FileReport> = if arguments.files.len() == 1 || bounds.jobs == 1 {
        arguments.files.iter().map(explore_one).collect()
    } else {
        let mut pool = rayon::ThreadPoolBuilder::new();
        pool = pool.num_threads(bounds.jobs);
        match pool.build() {
            Ok(pool) => pool.install(|| arguments.files.par_iter().map(explore_one).collect()),
            Err(_) => arguments.files.iter().map(explore_one).collect(),
        }
    };
    drop(progress);
    for error in files.iter().filter_map(FileReport::error) {
        complain(&error);
    }
    for (file, bug) in files.iter().filter_map(|file| Some((&file.file, file.bug()?))) {
        complain(&format!("{file}: {}", CliError::Bug(bug.clone())));
    }
    let report = LitmusReport { files, choices: Choices::of(&*model, &bounds) };
    if let Some(path) = &arguments.html {
        let extent = html::extent(None, &bounds, begun, false);
        html::write(path, &report::html::litmus(&report, &extent))?;
    }
    print(&format::litmus(&report, arguments.format, arguments.quiet, arguments.color))?;
    Ok(report.exit_code())
}

fn fate(file: &str, settings: &Settings, arguments: &LitmusArguments) -> Fate {
    let text = match files::read_text(Path::new(file)) {
        Ok(text) => text,
        Err(error) => return Fate::Unreadable(error.to_string()),
    };
    let name =
        Path::new(file).file_name().map_or_else(|| file.to_owned(), |name| name.to_string_lossy().into());
    match litmus::parse(&name, &text) {
        Err(error) => Fate::Malformed(error),
        Ok(test) => {
            let only_met = arguments.quiet && arguments.format == Format::Text;
            let examples = match (arguments.format, &arguments.html) {
                (Format::Dot, _) => usize::MAX,
                (_, Some(_)) => MOST_STATES,
                (_, None) => 0,
            };
            let (states, why) = (arguments.outcomes, arguments.explain);
            let wanted = Wanted { states, why, examples, only_met };
            // One file's bug leaves the others their answers.
            match caught(|| litmus::run(&test, settings, wanted)) {
                Ok(Ok(answer)) => {
                    let source = Source { name, text: text.into(), ..Source::default() };
                    Fate::Answered(Box::new(Solved { source, test, answer }))
                }
                Ok(Err(RunError::Unsupported(unsupported))) => Fate::Unsupported(unsupported),
                Ok(Err(RunError::Bug(bug))) | Err(bug) => Fate::Bug(bug),
            }
        }
    }
}

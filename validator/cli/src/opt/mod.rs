//! `spirv-tv opt`.

mod modules;
mod page;
mod run;
mod step;
mod told;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use super::arguments::{parse_limit, FAR, RUN, SHOW};
use super::optimiser::OptimiserChoice;
use super::{caught, print, CliError, ComparisonArguments, OutputArguments};
use page::Page;
use run::Command;
pub(crate) use run::Dump;
use spirv_tv::optimise::pipeline::worst;
use spirv_tv::optimise::OptimiserArguments;
use told::Sum;

/// Options of `opt`, beside the flags of spirv-opt (`-O`, `-Os`, `-Oconfig=FILE`, every pass with its
/// argument, `--preserve-interface`, `--preserve-bindings`, `--preserve-spec-constants`).
#[derive(Debug, Args)]
#[command(override_usage = "spirv-tv opt [OPTIONS] MODULE... [-O | -Os | spirv-opt pass flags ...]")]
pub struct OptArguments {
    /// The modules to optimise; a folder stands for every .spv and .spvasm file in it
    #[arg(value_name = "MODULE", required = true)]
    pub(crate) modules: Vec<String>,
    /// Leave a pass out that fails, instead of ending there
    #[arg(long, help_heading = RUN)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) optimizer: OptimiserChoice,
    /// Flags for an optimiser that is not bundled, each of which is a step, also such as the bundled one does not know
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true, help_heading = RUN)]
    pub(crate) pipeline: Vec<String>,
    #[command(flatten)]
    pub(crate) comparison: ComparisonArguments,
    /// Compare the first module with the last only, and bisect if that violates
    #[arg(long, help_heading = FAR)]
    pub(crate) ends: bool,
    /// Time for the check of each step
    #[arg(long, value_name = "SECONDS", value_parser = parse_limit, help_heading = FAR)]
    pub(crate) step_timeout: Option<Duration>,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
    /// Say how long each step took, and the whole; without it the whole is told on a terminal alone
    #[arg(long, help_heading = SHOW)]
    pub(crate) time: bool,
    /// Write the result; only with one module
    #[arg(short, long, value_name = "FILE", help_heading = SHOW)]
    pub(crate) output_file: Option<PathBuf>,
}

pub(super) fn run(arguments: &OptArguments, optimiser: &OptimiserArguments) -> Result<u8, CliError> {
    let optimiser = run::with_pipelines(arguments, optimiser)?;
    run_steps(arguments, &optimiser, None)
}

/// Runs and checks the steps; with `dumps` their modules are known already.
pub(super) fn run_steps(
    arguments: &OptArguments,
    optimiser: &OptimiserArguments,
    dumps: Option<&[Dump]>,
) -> Result<u8, CliError> {
    let begun = Instant::now();
    if arguments.modules.iter().filter(|name| *name == "-").count() > 1 {
        return Err(CliError::usage("only one MODULE can be standard input"));
    }
    let modules = modules::expand(&arguments.modules);
    if modules.several && arguments.output_file.is_some() {
        return Err(CliError::usage("-o takes the result of one module; several were given, or a folder"));
    }
    let mut options = arguments.comparison.options()?;
    options.bounds.step_timeout = arguments.step_timeout;
    let mut page = arguments
        .output
        .html
        .is_some()
        .then(|| Page::new(&options.bounds, begun, arguments.comparison.pair.full));
    let command = Command { dumps, ..Command::new(arguments, optimiser, options, modules.several) };
    let mut sum = Sum::default();
    for module in &modules.found {
        let ran = match module {
            // What goes wrong with one module leaves the others their results.
            Ok(name) => caught(|| command.run(name, page.as_mut()))
                .unwrap_or_else(|bug| Err(CliError::from(bug).into())),
            Err(reason) => Err(CliError::usage(reason).into()),
        };
        match ran {
            Ok(done) => sum.add(&done),
            Err(run::Failure::Ours(error)) => {
                let name = module.as_ref().map_or("", String::as_str);
                print(&command.told_of_error(name, &error))?;
                page.iter_mut().for_each(|page| page.error(name, &error));
                if !modules.several {
                    return Err(error);
                }
                sum.add_error(&error);
            }
            Err(run::Failure::World(error)) => return Err(error),
        }
    }
    if let Some((path, page)) = arguments.output.html.as_ref().zip(page) {
        page.write(path, &arguments.modules)?;
    }
    print(&command.told_at_the_end(&sum, begun.elapsed()))?;
    Ok(worst(&sum.codes))
}

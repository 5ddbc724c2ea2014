//! The command line: options, subcommands, exit codes.
//!
//! Only results go to standard output; errors, warnings of the tool and progress go to standard
//! error. Exit codes are those of DESIGN section 1.

mod arguments;
mod check;
mod error;
mod litmus;
mod opt;
mod outcomes;
mod progress;
mod save;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use arguments::{ChoiceArguments, ColorChoice, Format, LaunchArguments, OutputArguments, ReadArguments};
pub use check::CheckArguments;
pub use error::CliError;
pub use litmus::LitmusArguments;
pub use opt::OptArguments;
pub use outcomes::OutcomesArguments;

use crate::optimise::{child, take_optimiser_arguments, OptimiserArguments};
use crate::report::Painter;

/// Translation validation for SPIR-V under the Vulkan memory model.
///
/// Modules are .spv binaries or .spvasm text, told apart by content; `-` is standard input.
///
/// Exit codes: 0 refines or vacuous, 1 violates, 2 error, 3 inconclusive, 4 (with --strict) bounded,
/// vacuous or scopes not distinguished, 5 the optimiser failed.
#[derive(Debug, Parser)]
#[command(name = "spirv-tv", version, about, max_term_width = 110)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare two modules: does AFTER refine BEFORE?
    Check(Box<CheckArguments>),
    /// Run spirv-opt's passes one by one, check each step, name the guilty pass
    Opt(Box<OptArguments>),
    /// Run litmus tests: which of their expectations does the memory model meet?
    Litmus(Box<LitmusArguments>),
    /// Print the outcomes that a module allows
    Outcomes(Box<OutcomesArguments>),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let Some(code) = child::serve(arguments.iter().skip(1).cloned()) {
        return code;
    }
    // A bug of ours must not look like a verdict.
    let result = std::panic::catch_unwind(|| run(arguments)).unwrap_or(Err(CliError::Bug));
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            // Where standard error is closed there is nobody to tell.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(mut arguments: Vec<OsString>) -> Result<u8, CliError> {
    let mut optimiser = OptimiserArguments::default();
    if arguments.get(1).is_some_and(|command| command == "opt") {
        // spirv-opt's flags are not ours to parse: there are eighty, and passes take arguments.
        let rest = arguments.split_off(2);
        let (taken, rest) = take_optimiser_arguments(rest).map_err(CliError::usage)?;
        optimiser = taken;
        arguments.extend(rest);
    }
    let line = match CommandLine::try_parse_from(arguments) {
        Ok(line) => line,
        Err(error) => {
            let code = error.exit_code();
            // clap's own text, coloured where that is wanted; help goes to standard output.
            error.print().map_err(CliError::Output)?;
            return Ok(u8::try_from(code).unwrap_or(2));
        }
    };
    match line.command {
        Command::Check(arguments) => check::run(&arguments),
        Command::Opt(arguments) => opt::run(&arguments, &optimiser),
        Command::Litmus(arguments) => litmus::run(&arguments),
        Command::Outcomes(arguments) => outcomes::run(&arguments),
    }
}

/// Writes a result to standard output. A reader that has had enough is no error.
fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(CliError::Output),
    }
}

/// Whether to colour standard output.
fn painter(choice: ColorChoice) -> Painter {
    let coloured = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            io::stdout().is_terminal() && !refused
        }
    };
    Painter { coloured }
}

//! The command line: options, subcommands, exit codes.
//!
//! Only results go to standard output; errors, warnings of the tool and progress go to standard
//! error. Exit codes are those of docs/semantics.md, section 1.2.

#![forbid(unsafe_code)]

mod arguments;
mod asm;
mod chain;
mod check;
mod completions;
mod error;
mod format;
mod fuzz;
mod gate;
mod help;
mod html;
mod interrupt;
mod litmus;
mod man;
mod memory;
mod opt;
mod opt_wrapper;
mod optimiser;
mod outcomes;
mod progress;
mod reduce;
mod run;
mod save;
mod ticker;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use clap::{FromArgMatches, Parser, Subcommand};

use arguments::{
    ChoiceArguments, ColorChoice, ComparisonArguments, LaunchArguments, OutputArguments, ReadArguments,
};
use chain::ChainArguments;
pub use check::CheckArguments;
use completions::CompletionsArguments;
pub use error::CliError;
use format::{Format, TextOrJson};
use fuzz::FuzzArguments;
use gate::GateArguments;
use litmus::LitmusArguments;
use man::ManArguments;
use opt::OptArguments;
use opt_wrapper::WrapperArguments;
use outcomes::OutcomesArguments;
use reduce::{InterestingArguments, ReduceArguments};
use run::RunArguments;
pub use run::{case_of, script, Outcomes, ScriptFormat, Wanted};

use spirv_tv::behaviour::Bug;
use spirv_tv::optimise::{child, take_optimiser_arguments, OptimiserArguments};
use spirv_tv::report::Painter;
use spirv_tv_gate::limited;

/// Translation validation for SPIR-V under the Vulkan memory model.
///
/// Modules are .spv binaries or .spvasm text, told apart by content; `-` is standard input.
///
/// Exit codes: 0 refines or vacuous, 1 violates, 2 error, 3 inconclusive, 4 (with --strict) bounded,
/// vacuous or scopes not distinguished, 5 the optimiser or the executor failed, 70 a bug of spirv-tv.
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
    /// Check the modules that a compiler wrote after each of its passes, name the guilty one
    Chain(Box<ChainArguments>),
    /// Check modules, pairs and databases of shaders against a baseline, for CI
    Gate(Box<GateArguments>),
    /// Print the outcomes that a module allows
    Outcomes(Box<OutcomesArguments>),
    /// Run a module on a Vulkan device or another executor: is what it does allowed?
    Run(Box<RunArguments>),
    /// Make a failing module or pair smaller, while it shows the same failure
    Reduce(Box<ReduceArguments>),
    /// Say which failure a module or pair shows: exit code 0 if it is the one that is wanted, for other reducers
    Interesting(Box<InterestingArguments>),
    /// Run generated programs on a device, look for what it must not do
    Fuzz(FuzzArguments),
    /// Stand in for spirv-opt in a build and keep what it reads and writes
    OptWrapper(WrapperArguments),
    /// Print a script that completes the command line in a shell
    Completions(CompletionsArguments),
    /// Write manual pages, one for each subcommand
    Man(ManArguments),
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let own = || arguments.iter().skip(1).cloned();
    match caught(|| child::serve(own()).or_else(|| limited::serve(own())).or_else(|| run::serve(own()))) {
        Ok(None) => {}
        Ok(Some(code)) => return code,
        Err(_) => return ExitCode::from(Bug::EXIT_CODE),
    }
    ExitCode::from(exit_code(|| dispatch(arguments)))
}

/// The exit code of a command, its error told on standard error.
fn exit_code(command: impl FnOnce() -> Result<u8, CliError>) -> u8 {
    caught(command).unwrap_or_else(|bug| Err(CliError::Bug(bug))).unwrap_or_else(|error| {
        complain(&error.to_string());
        error.exit_code()
    })
}

/// Tells something on standard error.
fn tell(text: &str) {
    // Where standard error is closed there is nobody to tell.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Tells an error on standard error.
fn complain(error: &str) {
    tell(&format!("error: {error}"));
}

/// What the work comes to. A panic, whose message was printed, must not look like a verdict.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Bug> {
    // What it left half done is not looked at again.
    std::panic::catch_unwind(AssertUnwindSafe(work)).map_err(|_| Bug::Panicked)
}

fn dispatch(mut arguments: Vec<OsString>) -> Result<u8, CliError> {
    let is_worker = arguments.get(1).is_some_and(|command| command == gate::worker::SUBCOMMAND);
    if let Some(command) = arguments.get_mut(1).filter(|_| is_worker) {
        *command = "gate".into();
    }
    let behind = arguments.get(2..).unwrap_or_default().to_vec();
    let mut optimiser = OptimiserArguments::default();
    if arguments.get(1).is_some_and(|command| command == "opt") {
        // spirv-opt's flags are not ours to parse: there are eighty, and passes take arguments.
        let rest = arguments.split_off(2);
        let (taken, rest) = take_optimiser_arguments(rest).map_err(CliError::usage)?;
        optimiser = taken;
        arguments.extend(rest);
    }
    let matches = help::command().try_get_matches_from(arguments);
    let line = match matches.and_then(|matches| CommandLine::from_arg_matches(&matches)) {
        Ok(line) => line,
        Err(error) => {
            let code = error.exit_code();
            // clap's own text, coloured where that is wanted; help goes to standard output.
            error.print().map_err(CliError::Output)?;
            return Ok(u8::try_from(code).unwrap_or(2));
        }
    };
    match line.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Fuzz(arguments) => fuzz::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Opt(arguments) => opt::run(&arguments, &optimiser),
        Command::Chain(arguments) => chain::run(*arguments),
        Command::Gate(arguments) if is_worker => gate::worker::serve(&arguments, behind),
        Command::Gate(arguments) => gate::run(&arguments, &behind),
        Command::Litmus(arguments) => litmus::run(&arguments),
        Command::Outcomes(arguments) => outcomes::run(&arguments),
        Command::Reduce(arguments) => reduce::run(&arguments),
        Command::Interesting(arguments) => reduce::interesting(&arguments),
        Command::OptWrapper(arguments) => opt_wrapper::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
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

#[cfg(test)]
mod tests {
    use super::*;
    use spirv_tv::check::CheckError;

    #[test]
    fn a_bug_is_told_from_what_the_user_did() {
        let bug = || Err(CheckError::Bug(Bug::NoExecution).into());
        assert_eq!(exit_code(bug), 70);
        assert_eq!(exit_code(|| panic!("a test panics")), 70);
        assert_eq!(exit_code(|| Err(CliError::usage("nothing to do"))), 2);
        assert_eq!(exit_code(|| Ok(1)), 1);
        let told = CliError::from(CheckError::Bug(Bug::NoExecution)).to_string();
        assert!(told.contains("a bug of spirv-tv: the search found no execution; please report"), "{told}");
    }
}

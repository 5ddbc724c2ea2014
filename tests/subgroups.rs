//! Subgroup operations: their values by the specification, who takes part in them, and what they make
//! invocations wait for.

#[path = "subgroups/cooperative.rs"]
mod cooperative;
#[path = "subgroups/matrices.rs"]
mod matrices;
#[path = "subgroups/matrix_functions.rs"]
mod matrix_functions;
#[path = "subgroups/products.rs"]
mod products;
#[path = "subgroups/programs.rs"]
mod programs;
#[path = "subgroups/reconvergence.rs"]
mod reconvergence;
#[path = "subgroups/tensors.rs"]
mod tensors;
#[path = "subgroups/values.rs"]
mod values;

use std::sync::Arc;

use clap::Parser;
use spirv_tv::behaviour::Behaviours;
use spirv_tv::check::{outcomes, CheckOptions, Watch};
use spirv_tv::module::Module;
use spirv_tv::value::Byte;
use spirv_tv_cli::CheckArguments;

use programs::Program;

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    check: CheckArguments,
}

/// The options of a command line.
fn options_of(args: &[&str]) -> CheckOptions {
    let mut options = arguments(args).options().unwrap_or_else(|error| panic!("{error}"));
    options.bounds.jobs = 1;
    options
}

fn arguments(args: &[&str]) -> CheckArguments {
    let line = ["check", "BEFORE", "AFTER"].into_iter().chain(args.iter().copied());
    CommandLine::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).check
}

fn parsed(text: &str, args: &[&str]) -> Module {
    let module = Module::from_text(text, "test", &arguments(args).read_options());
    module.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What a module does.
fn explored(text: &str, args: &[&str]) -> Behaviours {
    let report = outcomes(&parsed(text, args), &options_of(args), &Watch::default());
    let mut report = report.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.unsupported, [], "{text}");
    Arc::unwrap_or_clone(report.runs.remove(0).explored.behaviours)
}

/// What a program does, with more options.
fn behaviours_with(program: &Program, args: &[&str]) -> Behaviours {
    let (size, buffer) = (program.size.to_string(), format!("0.0=undef:{}", program.local));
    let launch = ["--subgroup-size", &size, "--buffer", &buffer, "--buffer", "0.1=zeros:2"];
    let args: Vec<&str> = launch.into_iter().chain(args.iter().copied()).collect();
    explored(&program.text(), &args)
}

fn behaviours(program: &Program) -> Behaviours {
    behaviours_with(program, &[])
}

/// The words of the first buffer in each outcome; `None` for one with an undefined byte.
fn words(behaviours: &Behaviours) -> Vec<Vec<Option<u32>>> {
    assert!(behaviours.complete, "{:?} {:?}", behaviours.undecided, behaviours.bounded);
    assert_eq!(behaviours.undefined, []);
    let word = |bytes: &[Byte]| {
        let known = |byte: &Byte| match byte {
            Byte::Known(byte) => Some(*byte),
            Byte::Undef => None,
        };
        let bytes: Option<Vec<u8>> = bytes.iter().map(known).collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes)
    };
    behaviours.outcomes.iter().map(|(outcome, _)| outcome.memory[0].chunks(4).map(word).collect()).collect()
}

/// The words of the only outcome.
fn result(program: &Program) -> Vec<Option<u32>> {
    let mut found = words(&behaviours(program));
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn known(words: &[u32]) -> Vec<Option<u32>> {
    words.iter().copied().map(Some).collect()
}

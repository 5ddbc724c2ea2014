//! The command line.

use std::process::ExitCode;

use spirv_tv::optimise::child;

fn main() -> ExitCode {
    child::serve(std::env::args_os().skip(1)).unwrap_or(ExitCode::FAILURE)
}

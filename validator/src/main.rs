//! The `spirv-tv` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    spirv_tv::cli::main()
}

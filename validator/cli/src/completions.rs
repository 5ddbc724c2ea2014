//! The subcommand `completions`: a script for a shell, which completes subcommands and options.

use clap::Args;
use clap_complete::Shell;

use super::{help, print, CliError};

/// Options of `completions`.
#[derive(Debug, Args)]
pub struct CompletionsArguments {
    /// The shell that reads the script
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script.
pub(super) fn run(arguments: &CompletionsArguments) -> Result<u8, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut help::command(), "spirv-tv", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(0)
}

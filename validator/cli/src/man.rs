//! The subcommand `man`: manual pages, with every option.

use std::path::PathBuf;

use clap::{Args, Command};

use super::{help, print, CliError};

/// Options of `man`.
#[derive(Debug, Args)]
pub struct ManArguments {
    /// The folder to write the pages to; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Writes the pages, and prints the path of each.
pub(super) fn run(arguments: &ManArguments) -> Result<u8, CliError> {
    let fail = |path: &PathBuf| {
        let path = path.clone();
        move |error| CliError::File { path, error }
    };
    std::fs::create_dir_all(&arguments.out).map_err(fail(&arguments.out))?;
    let mut command = help::command().disable_help_subcommand(true);
    command.build();
    let own = |command: &Command| -> Vec<Command> {
        command.get_subcommands().filter(|one| one.get_name() != "help").cloned().collect()
    };
    let commands = own(&command);
    let nested: Vec<Command> = commands.iter().flat_map(own).collect();
    let pages = std::iter::once(&command).chain(&commands).chain(&nested);
    for page in pages {
        let name = page.get_display_name().unwrap_or_else(|| page.get_name()).to_owned();
        let path = arguments.out.join(format!("{name}.1"));
        let mut text = Vec::new();
        // Writing to memory cannot fail.
        clap_mangen::Man::new(page.clone()).render(&mut text).map_err(fail(&path))?;
        std::fs::write(&path, text).map_err(fail(&path))?;
        print(&format!("{}\n", path.display()))?;
    }
    Ok(0)
}

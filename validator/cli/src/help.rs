//! The command line with its help: `--help` lists what most users need on at most two screens, `--help-all` everything.

use clap::{Arg, ArgAction, Command, CommandFactory};

use super::arguments::SHOW;
use super::CommandLine;

/// Subcommands whose options do not fit a screen or two.
const LONG: [&str; 4] = ["check", "opt", "outcomes", "litmus"];

/// What stands below the options of a long subcommand.
const MORE: &str = "--help-all lists every option.";

/// The same of `opt`.
const PASSES: &str =
    "Passes are spirv-opt's own flags with their arguments, in order; -O and -Os stand for its lists.\n\
                      docs/passes.md lists them all. --preserve-interface, --preserve-bindings and\n\
                      --preserve-spec-constants are passed on.";

/// The command line.
pub(crate) fn command() -> Command {
    LONG.into_iter().fold(CommandLine::command(), |command, name| command.mut_subcommand(name, with_help_all))
}

fn with_help_all(command: Command) -> Command {
    let help = Arg::new("help").short('h').long("help").action(ArgAction::HelpShort).help_heading(SHOW);
    let all = Arg::new("help-all").long("help-all").action(ArgAction::HelpLong).help_heading(SHOW);
    let command = command
        .disable_help_flag(true)
        .arg(help.help("Print this help"))
        .arg(all.help("Print help on every option"));
    match command.get_name() {
        "opt" => command.after_help(format!("{PASSES}\n{MORE}")).after_long_help(PASSES),
        _ => command.after_help(MORE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of two screens.
    const LINES: usize = 100;

    /// Columns of a screen.
    const COLUMNS: usize = 100;

    fn each(test: impl Fn(&str, Command)) {
        let mut command = command().term_width(COLUMNS);
        command.build();
        let names: Vec<String> =
            command.get_subcommands().map(|subcommand| subcommand.get_name().to_owned()).collect();
        for name in names {
            if let Some(subcommand) = command.find_subcommand(&name) {
                test(&name, subcommand.clone());
            }
        }
    }

    #[test]
    fn the_help_of_each_subcommand_fits_two_screens() {
        each(|name, mut subcommand| {
            let help = subcommand.render_help().to_string();
            let (lines, widest) = (help.lines().count(), help.lines().map(|line| line.chars().count()).max());
            assert!(lines <= LINES, "{name} has {lines} lines\n{help}");
            assert!(widest <= Some(COLUMNS), "{name} is {widest:?} wide\n{help}");
        });
    }

    #[test]
    fn every_option_is_in_the_help_on_every_option() {
        each(|name, mut subcommand| {
            let all = subcommand.render_long_help().to_string();
            for option in subcommand.get_opts().filter_map(Arg::get_long) {
                assert!(all.contains(&format!("--{option}")), "{name} --{option}");
            }
            let undescribed = subcommand.get_arguments().filter(|option| option.get_help().is_none());
            let names: Vec<&str> = undescribed.map(|option| option.get_id().as_str()).collect();
            assert!(names.is_empty(), "{name}: {names:?} have no description");
        });
    }
}

//! The command line with its help: `--help` lists what most users need on at most two screens, `--help-all` everything.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command, CommandFactory};

use super::arguments::{COUNTS, FAR, MEMORY, READ, RUN, SHOW};
use super::CommandLine;

/// Subcommands whose options do not fit a screen or two.
const LONG: [&str; 9] =
    ["check", "opt", "chain", "gate", "outcomes", "litmus", "run", "reduce", "interesting"];

/// What stands below the options of a long subcommand.
const MORE: &str = "--help-all lists every option.";

/// The same of `opt`.
const PASSES: &str =
    "Passes are spirv-opt's own flags with their arguments, in order; -O and -Os stand for its lists.\n\
                      docs/passes.md lists them all. --preserve-interface, --preserve-bindings and\n\
                      --preserve-spec-constants are passed on.";

/// The command line.
pub(crate) fn command() -> Command {
    let command = CommandLine::command().bin_name("spirv-tv");
    let command = LONG.into_iter().fold(command, |command, name| command.mut_subcommand(name, with_help_all));
    // What a manifest says of its cases stands behind what the command line says of all.
    let merged =
        |gate: Command| of_gate(gate.args_override_self(true)).mut_subcommand("merge", with_help_all);
    command.mut_subcommand("gate", merged)
}

/// The options that stand behind `gate` on a command line, each in one word, without those whose ids are in `without`.
pub(crate) fn given(command_line: &[OsString], without: &[&str]) -> Vec<String> {
    let words = ["spirv-tv", "gate"].into_iter().map(OsString::from).chain(command_line.iter().cloned());
    let mut command = command();
    command.build();
    let Ok(matches) = command.clone().try_get_matches_from(words) else { return Vec::new() };
    let Some((gate, matches)) = command.find_subcommand("gate").zip(matches.subcommand_matches("gate"))
    else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for option in gate.get_arguments() {
        let id = option.get_id().as_str();
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(long) = option.get_long().filter(|_| is_given && !without.contains(&id)) else { continue };
        match matches.get_raw(id).filter(|_| option.get_action().takes_values()) {
            Some(values) => all.extend(values.map(|value| format!("--{long}={}", value.to_string_lossy()))),
            None => all.push(format!("--{long}")),
        }
    }
    all
}

/// Options of a check that `gate --help` lists.
const OF_GATE: [&str; 4] = ["launch", "timeout", "max_memory", "jobs"];

/// Options of `gate` in the groups of a check.
const OWN: [&str; 10] = [
    "pipeline",
    "map",
    "optimizer",
    "spirv_opt",
    "reference",
    "before_cmd",
    "after_cmd",
    "cache",
    "cache_readonly",
    "no_val",
];

/// What `gate` does with options of a check, of which the short help lists few.
fn of_gate(command: Command) -> Command {
    let groups = [RUN, MEMORY, COUNTS, FAR, READ];
    let command = command.mut_args(|option| {
        let is_of_check = option.get_help_heading().is_some_and(|group| groups.contains(&group));
        let id = option.get_id().as_str();
        let is_listed = OF_GATE.contains(&id) || OWN.contains(&id);
        match is_of_check && !is_listed {
            true => option.hide_short_help(true),
            false => option,
        }
    });
    command
        .mut_arg("timeout", |option| option.help("Time for the check of each case [default: 60]"))
        .mut_arg("max_memory", |option| {
            option.help("Memory of each worker's checks, in bytes, or with K, M or G [default: a share of the machine's]")
        })
        .mut_arg("jobs", |option| option.help("Workers, each with one thread [default: one per core]"))
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

/// The options among `words` whose ids are in `ids` and not in `without`.
pub(crate) fn foreign(words: &[OsString], ids: &[&str], without: &[&str]) -> Vec<String> {
    let all = ["spirv-tv", "gate"].into_iter().map(OsString::from).chain(words.iter().cloned());
    let Ok(matches) = command().try_get_matches_from(all) else { return Vec::new() };
    let Some(gate) = matches.subcommand_matches("gate") else { return Vec::new() };
    let is_given = |id: &&&str| {
        gate.try_contains_id(id).is_ok() && gate.value_source(id) == Some(ValueSource::CommandLine)
    };
    let foreign = ids.iter().filter(|id| !without.contains(id)).filter(is_given);
    foreign.map(|id| id.replace('_', "-")).collect()
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

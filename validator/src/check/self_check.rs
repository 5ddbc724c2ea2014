//! `--self-check`: compares a module with itself, once with and once without the shortcuts of the explorer.

use super::result::Role;
use crate::behaviour::{Behaviours, Bug};
use crate::compare::{refines, CompareOptions, Cut, Side, Verdict};
use crate::dispatch::Dispatch;
use crate::explore::{explore, Settings};
use crate::ir::Program;

/// A self-check without success.
pub enum Failure {
    /// A budget ran out, or something is not supported.
    Undecided(String),
    Bug(Bug),
}

/// Checks that the program refines itself in both directions, with shortcuts and without.
pub fn self_check(
    role: Role,
    program: &Program,
    dispatch: &Dispatch,
    settings: &Settings,
    options: &CompareOptions,
) -> Result<(), Failure> {
    let quick = explore(program, dispatch, &Settings { shortcuts: true, ..settings.clone() });
    let slow = explore(program, dispatch, &Settings { shortcuts: false, ..settings.clone() });
    let undecided = |why: String| {
        let module = role.name();
        Failure::Undecided(format!("the self-check of {module} was not finished: {why}"))
    };
    if let Some(option) = [&quick, &slow].into_iter().find_map(cut) {
        return Err(undecided(format!("raise {option}")));
    }
    let differs = |what: &'static str| Err(Failure::Bug(Bug::SelfCheck { module: role.name(), what }));
    // Strictly: what an endless loop or a float excuses in a pair excuses nothing in ourselves.
    let options = CompareOptions { open_floats: false, ..options.clone() };
    let side = |name, behaviours| Side { name, behaviours, dispatch };
    let forth = refines(side("with shortcuts", &quick), side("without", &slow), &options)
        .map_err(Failure::Bug)?
        .verdict;
    let back = refines(side("without shortcuts", &slow), side("with", &quick), &options)
        .map_err(Failure::Bug)?
        .verdict;
    match (forth, back) {
        (Verdict::Refines, Verdict::Refines) | (Verdict::Vacuous, Verdict::Vacuous) => Ok(()),
        (Verdict::Vacuous, _) => differs("an undefined behaviour disappears without shortcuts"),
        (_, Verdict::Vacuous) => differs("an undefined behaviour appears without shortcuts"),
        (Verdict::Violates, _) => differs("a behaviour appears without shortcuts"),
        (_, Verdict::Violates) => differs("a behaviour disappears without shortcuts"),
        (_, _) => Err(undecided("its behaviours could not be decided".to_owned())),
    }
}

fn cut(behaviours: &Behaviours) -> Option<Cut> {
    behaviours.stopped.map(Cut::Stopped).or(behaviours.bounded.map(Cut::Bound))
}

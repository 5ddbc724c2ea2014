//! `--self-check`: compares a module with itself, once with and once without the shortcuts of the explorer, and without
//! each of its reductions.

use super::result::Role;
use crate::behaviour::{Behaviours, Bug};
use crate::compare::{refines, CompareOptions, Cut, Side, Verdict};
use crate::dispatch::Dispatch;
use crate::explore::{explore, reductions_used, Settings};
use crate::ir::Program;

/// A self-check without success.
pub enum Failure {
    /// A budget ran out, or something is not supported.
    Undecided(String),
    Bug(Bug),
}

/// Checks that the program refines itself in both directions: with shortcuts and without, and without each reduction
/// that its search uses.
pub fn self_check(
    role: Role,
    program: &Program,
    dispatch: &Dispatch,
    settings: &Settings,
    options: &CompareOptions,
) -> Result<(), Failure> {
    let search =
        |shortcuts, without| explore(program, dispatch, &Settings { shortcuts, without, ..settings.clone() });
    let usual = search(true, settings.without);
    let agree_without = |what, slow: &Behaviours| agree(role, dispatch, [&usual, slow], what, options);
    agree_without("shortcuts", &search(false, settings.without))?;
    reductions_used(program, dispatch, settings)
        .iter()
        .try_for_each(|name| agree_without(name.name(), &search(true, settings.without.with(name))))
}

/// Checks that what is found refines what is found without something, and the other way round.
fn agree(
    role: Role,
    dispatch: &Dispatch,
    [quick, slow]: [&Behaviours; 2],
    without: &'static str,
    options: &CompareOptions,
) -> Result<(), Failure> {
    let undecided = |why: String| {
        let module = role.name();
        Failure::Undecided(format!("the self-check of {module} without {without} was not finished: {why}"))
    };
    if let Some(option) = [quick, slow].into_iter().find_map(cut) {
        return Err(undecided(format!("raise {option}")));
    }
    if quick.open_reads != slow.open_reads {
        return Err(undecided(
            "reads outside of buffers were told value by value in one search only".to_owned(),
        ));
    }
    let differs =
        |what: &'static str| Err(Failure::Bug(Bug::SelfCheck { module: role.name(), what, without }));
    // Strictly: what an endless loop or a float excuses in a pair excuses nothing in ourselves.
    let options = CompareOptions { open_floats: false, ..options.clone() };
    let side = |name, behaviours| Side { name, behaviours, dispatch };
    let forth = refines(side("the search", quick), side("the search without", slow), &options)
        .map_err(Failure::Bug)?
        .verdict;
    let back = refines(side("the search without", slow), side("the search", quick), &options)
        .map_err(Failure::Bug)?
        .verdict;
    match (forth, back) {
        (Verdict::Refines, Verdict::Refines) | (Verdict::Vacuous, Verdict::Vacuous) => Ok(()),
        (Verdict::Vacuous, _) => differs("an undefined behaviour disappears"),
        (_, Verdict::Vacuous) => differs("an undefined behaviour appears"),
        (Verdict::Violates, _) => differs("a behaviour appears"),
        (_, Verdict::Violates) => differs("a behaviour disappears"),
        (_, _) => Err(undecided("its behaviours could not be decided".to_owned())),
    }
}

fn cut(behaviours: &Behaviours) -> Option<Cut> {
    behaviours.stopped.map(Cut::Stopped).or(behaviours.bounded.map(Cut::Bound))
}

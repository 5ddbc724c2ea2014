//! `--self-check`: a module against itself, once with and once without the explorer's shortcuts.

use super::result::Role;
use crate::behaviour::Behaviours;
use crate::compare::{refines, CompareOptions, Side, Verdict};
use crate::dispatch::Dispatch;
use crate::explore::{explore, Settings};
use crate::ir::Program;

/// A self-check without success.
pub struct Failure {
    /// A budget ran out; otherwise it is a bug of spirv-tv.
    pub undecided: bool,
    what: String,
}

impl Failure {
    /// The sentence for the user.
    pub fn told(&self, role: Role) -> String {
        let name = role.name();
        if self.undecided {
            format!("the self-check of {name} was not finished: {}", self.what)
        } else {
            format!("the self-check of {name} failed: {} (a bug of spirv-tv; please report it)", self.what)
        }
    }
}

/// Checks that the program refines itself in both directions, with shortcuts and without.
pub fn self_check(
    program: &Program,
    dispatch: &Dispatch,
    settings: &Settings,
    options: &CompareOptions,
) -> Result<(), Failure> {
    let quick = explore(program, dispatch, &Settings { shortcuts: true, ..settings.clone() });
    let slow = explore(program, dispatch, &Settings { shortcuts: false, ..settings.clone() });
    if let Some(option) = [&quick, &slow].into_iter().find_map(cut) {
        return Err(Failure { undecided: true, what: format!("raise {option}") });
    }
    let differs = |what: &str| Err(Failure { undecided: false, what: what.to_owned() });
    // Strictly: what an endless loop or a float excuses in a pair excuses nothing in ourselves.
    let options = CompareOptions { strict_hangs: true, open_floats: false, ..options.clone() };
    let side = |name, behaviours| Side { name, behaviours, dispatch };
    let forth = refines(side("with shortcuts", &quick), side("without", &slow), &options).verdict;
    let back = refines(side("without shortcuts", &slow), side("with", &quick), &options).verdict;
    match (forth, back) {
        (Verdict::Refines, Verdict::Refines) | (Verdict::Vacuous, Verdict::Vacuous) => Ok(()),
        (Verdict::Vacuous, _) => differs("an undefined behaviour disappears without shortcuts"),
        (_, Verdict::Vacuous) => differs("an undefined behaviour appears without shortcuts"),
        (Verdict::Violates, _) => differs("a behaviour appears without shortcuts"),
        (_, Verdict::Violates) => differs("a behaviour disappears without shortcuts"),
        (_, _) => Err(Failure { undecided: true, what: "its behaviours could not be decided".to_owned() }),
    }
}

fn cut(behaviours: &Behaviours) -> Option<String> {
    behaviours.stopped.clone().or_else(|| behaviours.bounded.clone())
}

//! Which launch of an entry point a verdict rests on. Where the number of workgroups is automatic and several of them
//! decide nothing, one is tried as well (docs/semantics.md, section 1.7).

use std::fmt;

use serde::Serialize;

use super::choices::LaunchChoice;
use super::result::{Run, Untried};
use super::tried::{combined, Tried};
use crate::compare::Verdict;

/// Why the verdict does not rest on a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PassedOver {
    /// Before is undefined on every input.
    Vacuous,
    /// Before changes nothing on any input.
    Idle,
    /// Too many inputs were not finished.
    Unfinished,
    /// It does not decide, either.
    Inconclusive,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PassedOver::Vacuous => "before is undefined",
            PassedOver::Idle => "before changes nothing where it is defined",
            PassedOver::Unfinished => "not finished",
            PassedOver::Inconclusive => "inconclusive",
        })
    }
}

/// What a launch of one entry point came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Came {
    verdict: Verdict,
    too_few: bool,
    is_idle: bool,
}

impl Came {
    /// By these runs, and what there was no time for. `is_idle`: before changes nothing on any input.
    pub(super) fn of(runs: &[Run], untried: &[Untried], is_idle: bool) -> Came {
        Came { verdict: combined(runs, untried), too_few: Tried::of(runs, untried).too_few, is_idle }
    }

    /// Why it decides nothing, if so.
    pub(super) fn undecided(self) -> Option<PassedOver> {
        match self.verdict {
            Verdict::Refines if self.is_idle => Some(PassedOver::Idle),
            Verdict::Error | Verdict::Violates | Verdict::Refines => None,
            Verdict::Vacuous => Some(PassedOver::Vacuous),
            Verdict::Inconclusive if self.too_few => Some(PassedOver::Unfinished),
            Verdict::Inconclusive => Some(PassedOver::Inconclusive),
        }
    }

    /// The verdict.
    pub(super) fn verdict(self) -> Verdict {
        self.verdict
    }

    /// Whether one workgroup is tried as well. Where more time would not help, fewer workgroups are no remedy.
    pub(super) fn asks_for_another(self) -> bool {
        matches!(self.undecided(), Some(PassedOver::Vacuous | PassedOver::Idle | PassedOver::Unfinished))
    }
}

/// Why the verdict does not rest on the first of two launches, or on the second: one of them. It rests on the second
/// where that says more.
pub(super) fn passed_over(first: Came, second: Came) -> [Option<PassedOver>; 2] {
    let says_more = match (first.undecided(), second.undecided()) {
        (Some(_), None) => true,
        (Some(PassedOver::Unfinished), Some(PassedOver::Vacuous)) => true,
        (None, _) | (Some(_), Some(_)) => false,
    };
    match says_more {
        true => [first.undecided(), None],
        false => [None, second.undecided().or(Some(PassedOver::Inconclusive))],
    }
}

/// Whether the verdict rests on the launch of this number.
pub(super) fn counts(launches: &[LaunchChoice], number: usize) -> bool {
    launches.get(number).is_none_or(|launch| launch.passed_over.is_none())
}

/// Whether the launch of this number has the specialisation of the user and the defaults.
pub(super) fn is_usual(launches: &[LaunchChoice], number: usize) -> bool {
    launches.get(number).is_none_or(|launch| !launch.is_varied())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn came(verdict: Verdict, too_few: bool) -> Came {
        Came { verdict, too_few, is_idle: false }
    }

    const IDLE: Came = Came { verdict: Verdict::Refines, too_few: false, is_idle: true };

    const REFINES: Came = came(Verdict::Refines, false);
    const VIOLATES: Came = came(Verdict::Violates, false);
    const VACUOUS: Came = came(Verdict::Vacuous, false);
    const UNFINISHED: Came = came(Verdict::Inconclusive, true);
    const OPEN: Came = came(Verdict::Inconclusive, false);

    #[test]
    fn one_workgroup_is_tried_where_several_decide_nothing() {
        let asks = [REFINES, VIOLATES, VACUOUS, IDLE, UNFINISHED, OPEN].map(Came::asks_for_another);
        assert_eq!(asks, [false, false, true, true, true, false]);
        // A violation is one, whatever was not finished.
        assert!(!came(Verdict::Violates, true).asks_for_another());
    }

    #[test]
    fn the_verdict_rests_on_what_says_more() {
        use PassedOver::{Idle, Inconclusive, Unfinished, Vacuous};
        for decided in [REFINES, VIOLATES] {
            assert_eq!(passed_over(VACUOUS, decided), [Some(Vacuous), None]);
            assert_eq!(passed_over(UNFINISHED, decided), [Some(Unfinished), None]);
            assert_eq!(passed_over(IDLE, decided), [Some(Idle), None]);
        }
        assert_eq!(passed_over(UNFINISHED, VACUOUS), [Some(Unfinished), None]);
        assert_eq!(passed_over(VACUOUS, VACUOUS), [None, Some(Vacuous)]);
        assert_eq!(passed_over(VACUOUS, UNFINISHED), [None, Some(Unfinished)]);
        assert_eq!(passed_over(IDLE, VACUOUS), [None, Some(Vacuous)]);
        assert_eq!(passed_over(IDLE, IDLE), [None, Some(Idle)]);
        assert_eq!(passed_over(UNFINISHED, UNFINISHED), [None, Some(Unfinished)]);
        assert_eq!(passed_over(UNFINISHED, OPEN), [None, Some(Inconclusive)]);
    }
}

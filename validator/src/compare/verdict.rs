//! Verdicts and kinds of violations.

use std::fmt;
use std::str::FromStr;

use crate::event::UndefinedKind;

/// The verdict on a pair. Ordered: over several inputs the least wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Unreadable or invalid input, wrong usage.
    Error,
    /// After has a behaviour that before does not allow.
    Violates,
    /// A budget ran out, or something is not supported.
    Inconclusive,
    /// Every behaviour of after is one of before.
    Refines,
    /// Before is undefined on every input tried.
    Vacuous,
}

impl Verdict {
    /// The verdict over several inputs; [`Verdict::Vacuous`] over none.
    pub fn combine(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().min().unwrap_or(Verdict::Vacuous)
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Verdict::Error => "error",
            Verdict::Violates => "violates",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Refines => "refines",
            Verdict::Vacuous => "vacuous",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is new in after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ViolationKind {
    /// A data race, where before has none.
    NewRace,
    /// Another undefined behaviour.
    NewUndefined,
    /// Final memory that before does not end with.
    NewOutcome,
    /// Waiting for ever, where before always ends.
    NewHang,
    /// Volatile accesses that before does not make in this order.
    VolatileTrace,
}

impl ViolationKind {
    /// All kinds, in the order in which they are looked for.
    pub const ALL: [ViolationKind; 5] = [
        ViolationKind::NewRace,
        ViolationKind::NewUndefined,
        ViolationKind::NewHang,
        ViolationKind::NewOutcome,
        ViolationKind::VolatileTrace,
    ];

    /// The kind of an undefined behaviour that is new.
    pub const fn of(kind: UndefinedKind) -> ViolationKind {
        if matches!(kind, UndefinedKind::DataRace) {
            ViolationKind::NewRace
        } else {
            ViolationKind::NewUndefined
        }
    }

    /// Its name in reports and for `--ignore`.
    pub const fn name(self) -> &'static str {
        match self {
            ViolationKind::NewRace => "new-race",
            ViolationKind::NewUndefined => "new-undefined",
            ViolationKind::NewOutcome => "new-outcome",
            ViolationKind::NewHang => "new-hang",
            ViolationKind::VolatileTrace => "volatile-trace",
        }
    }
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ViolationKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        ViolationKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let names: Vec<&str> = ViolationKind::ALL.iter().map(|kind| kind.name()).collect();
            format!("'{text}' is none of {}", names.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_verdict_wins_and_vacuous_only_alone() {
        use Verdict::*;
        assert_eq!(Verdict::combine([Refines, Vacuous]), Refines);
        assert_eq!(Verdict::combine([Refines, Inconclusive, Vacuous]), Inconclusive);
        assert_eq!(Verdict::combine([Inconclusive, Violates]), Violates);
        assert_eq!(Verdict::combine([Violates, Error]), Error);
        assert_eq!(Verdict::combine([Vacuous, Vacuous]), Vacuous);
    }

    #[test]
    fn kinds_are_read_by_their_names() {
        for kind in ViolationKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert!("newrace".parse::<ViolationKind>().is_err());
    }
}

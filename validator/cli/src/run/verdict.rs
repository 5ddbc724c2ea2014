//! The verdict of `run`.

/// What running a module comes to, from the best to the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RunVerdict {
    /// The module is undefined: nothing can be judged.
    Vacuous,
    /// Everything that the executor did is allowed.
    #[default]
    Refines,
    /// It cannot be told.
    Inconclusive,
    /// The executor crashed, hung, lost its device, or gave no valid answer.
    ExecutorFailed,
    /// The executor showed an outcome that the module does not allow.
    Violates,
}

impl RunVerdict {
    /// The worse one of two.
    pub(super) fn worse(one: RunVerdict, other: RunVerdict) -> RunVerdict {
        one.max(other)
    }

    /// Its name in reports.
    pub(super) const fn name(self) -> &'static str {
        match self {
            RunVerdict::Vacuous => "vacuous",
            RunVerdict::Refines => "refines",
            RunVerdict::Inconclusive => "inconclusive",
            RunVerdict::ExecutorFailed => "executor-failed",
            RunVerdict::Violates => "violates",
        }
    }

    /// The exit code.
    pub(super) const fn exit_code(self, strict: bool) -> u8 {
        match self {
            RunVerdict::Vacuous if strict => 4,
            RunVerdict::Vacuous | RunVerdict::Refines => 0,
            RunVerdict::Violates => 1,
            RunVerdict::Inconclusive => 3,
            RunVerdict::ExecutorFailed => 5,
        }
    }
}

//! Bounds of what is replayed, and of what is noted while it is.

use std::fmt;

/// A bound that kept something from being told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// An invocation was followed for so many instructions.
    Instructions(u64),
    /// All invocations together were followed for so many instructions.
    InstructionsOfAll(u64),
    /// An invocation was followed for so many accesses, barriers and turns of loops.
    Stops(usize),
    /// The values of so many instructions were noted, of all invocations together.
    Watched(u64),
    /// The values of so many invocations were noted.
    Invocations(u32),
    /// The values of one instruction were noted so many times.
    Times(usize),
    /// The values of all instructions together were noted so many times.
    Values(usize),
    /// So many branches of one invocation were noted.
    Branches(usize),
    /// So many instructions of one invocation were kept, the last ones.
    Kept(usize),
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Instructions(most) => write!(f, "{most} instructions of one invocation"),
            Bound::InstructionsOfAll(most) => write!(f, "{most} instructions of all invocations"),
            Bound::Stops(most) => {
                write!(f, "{most} accesses, barriers and turns of loops of one invocation")
            }
            Bound::Watched(most) => write!(f, "the values of {most} instructions"),
            Bound::Invocations(most) => write!(f, "the values of {most} invocations"),
            Bound::Times(most) => write!(f, "the values of {most} times"),
            Bound::Values(most) => write!(f, "{most} values"),
            Bound::Branches(most) => write!(f, "{most} branches of one invocation"),
            Bound::Kept(most) => write!(f, "the last {most} instructions"),
        }
    }
}

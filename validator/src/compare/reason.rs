//! Why a comparison is inconclusive, and notes on it.

use std::fmt;

use rspirv::spirv::{GlslStd450Op, Op as Opcode};

use super::{Difference, ViolationKind};
use crate::behaviour::{Bound, Stopped, Undecided};
use crate::ir::Inexact;

/// What the two sides are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// What the side that allows behaviours is called.
    pub before: &'static str,
    /// What the side whose behaviours are judged is called.
    pub after: &'static str,
}

/// What kept a search from finding everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// A budget ended it.
    Stopped(Stopped),
    /// A bound cut it.
    Bound(Bound),
    /// It ended at what it was to find.
    Elsewhere,
}

impl Cut {
    /// What there was too much of.
    pub const fn of_what(self) -> &'static str {
        match self {
            Cut::Stopped(Stopped::MaxExecutions) => "executions",
            Cut::Stopped(Stopped::Timeout | Stopped::StepTimeout) => "time",
            Cut::Stopped(Stopped::MaxMemory) => "memory",
            Cut::Bound(Bound::MaxInstructions) => "instructions",
            Cut::Bound(Bound::SpinBound) => "spins",
            Cut::Stopped(budget) => budget.name(),
            Cut::Bound(bound) => bound.name(),
            Cut::Elsewhere => "budgets",
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Stopped(budget) => budget.fmt(f),
            Cut::Bound(bound) => bound.fmt(f),
            Cut::Elsewhere => f.write_str("the budgets"),
        }
    }
}

/// What keeps the intervals of floats from deciding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A side has several outcomes or undefined behaviours, so that one run does not stand for it.
    SeveralOutcomes {
        /// The side.
        side: &'static str,
    },
    /// The search of a side was cut.
    Unfinished {
        /// The side.
        side: &'static str,
    },
    /// What a side does to volatile memory is not followed with intervals.
    VolatileAccesses {
        /// The side.
        side: &'static str,
    },
    /// More than the value of a float hangs on one that may be another: a branch, an address, an integer.
    Depends {
        /// The side.
        side: &'static str,
        /// Where.
        at: Inexact,
    },
    /// What an instruction gives is not known in a run with intervals.
    NotFollowed {
        /// The side.
        side: &'static str,
        /// The instruction, where there is one.
        at: Option<Inexact>,
    },
    /// A side has too many instructions to be run with intervals.
    TooLong {
        /// The side.
        side: &'static str,
    },
    /// Time was over before a side was run with intervals.
    OutOfTime {
        /// The side.
        side: &'static str,
    },
    /// The run with intervals ended otherwise than the search.
    OtherEnd {
        /// The side.
        side: &'static str,
    },
    /// The sides do not have the same objects.
    OtherObjects,
    /// Of a float in memory nothing is known.
    Unbounded {
        /// The first such place.
        place: Difference,
    },
    /// A float in memory may be equal on both sides.
    Overlaps {
        /// The first such place.
        place: Difference,
    },
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::SeveralOutcomes { side } => write!(f, "{side} has several outcomes"),
            Obstacle::Unfinished { side } => write!(f, "{side} was not explored completely"),
            Obstacle::VolatileAccesses { side } => write!(f, "{side} has volatile accesses"),
            Obstacle::Depends { side, at } => {
                write!(
                    f,
                    "{side}'s {} (line {}) goes different ways for some of them",
                    open_operation(at),
                    at.line
                )
            }
            Obstacle::NotFollowed { side, at: Some(at) } => {
                write!(f, "{side}'s {} (line {}) is not followed with intervals", open_operation(at), at.line)
            }
            Obstacle::NotFollowed { side, at: None } => write!(f, "{side} is not followed with intervals"),
            Obstacle::TooLong { side } => write!(f, "{side} runs too long for intervals"),
            Obstacle::OutOfTime { side } => write!(f, "--timeout left no time for intervals of {side}"),
            Obstacle::OtherEnd { side } => write!(f, "a run of {side} with intervals ends otherwise"),
            Obstacle::OtherObjects => f.write_str("the sides have different memory"),
            Obstacle::Unbounded { place } => {
                write!(f, "there is no bound for {} from byte {} on", place.key, place.offset)
            }
            Obstacle::Overlaps { place } => {
                write!(f, "{} may be equal from byte {} on", place.key, place.offset)
            }
        }
    }
}

/// Why a verdict is inconclusive, naming what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// What a search could not decide.
    Undecided {
        /// The side of the search.
        side: &'static str,
        /// What it is.
        why: Undecided,
    },
    /// Where a float operation of either side may give another result, so may everything that follows from it.
    Float {
        /// What the sides are called.
        names: Names,
        /// What would be new.
        kind: ViolationKind,
        /// The operations of before and after.
        operations: [Vec<Inexact>; 2],
        /// What kept the intervals of results from deciding, where they were asked.
        obstacle: Option<Obstacle>,
    },
    /// What was cut from before might have admitted what is new.
    BeforeCut {
        /// What the sides are called.
        names: Names,
        /// What would be new.
        kind: ViolationKind,
        /// What cut before.
        cut: Cut,
    },
    /// A race of after may be one of before, which reads outside of the buffer.
    ReadsOutside {
        /// What the sides are called.
        names: Names,
    },
    /// Everything that the side does was cut.
    NoBehaviour {
        /// The side.
        side: &'static str,
        /// What cut it, where it was a budget or a bound.
        cut: Option<Cut>,
    },
    /// What was cut from the side may be new.
    Incomplete {
        /// The side.
        side: &'static str,
        /// What cut it.
        cut: Cut,
    },
}

impl Reason {
    /// What kind of reason it is, in a word.
    pub const fn name(&self) -> &'static str {
        match self {
            Reason::Undecided { why, .. } => why.name(),
            Reason::Float { .. } => "float",
            Reason::BeforeCut { .. } => "before-cut",
            Reason::ReadsOutside { .. } => "reads-outside",
            Reason::NoBehaviour { .. } => "no-behaviour",
            Reason::Incomplete { .. } => "incomplete",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Undecided { side, why } => write!(f, "{side}: {why}"),
            Reason::Float { names: Names { before, after }, kind, operations: [old, new], obstacle } => {
                let sides = [(*before, old), (*after, new)];
                let sides: Vec<String> = sides.into_iter().filter_map(open_operations).collect();
                write!(
                    f,
                    "float: {after} has {} that {before} does not show, but the environment leaves the results \
                     of {} open",
                    described(*kind),
                    sides.join(" and of "),
                )?;
                if let Some(obstacle) = obstacle {
                    write!(f, ", and {obstacle}")?;
                }
                f.write_str(" (--float exact compares bit by bit)")
            }
            Reason::BeforeCut { names: Names { before, after }, kind, cut } => write!(
                f,
                "{after} has {} that {before} does not show, but {before} was cut: raise {cut}",
                described(*kind),
            ),
            Reason::ReadsOutside { names: Names { before, after } } => write!(
                f,
                "{after} has a data race that {before} does not show, but {before} reads outside of a buffer that is \
                 written, and may read any of it"
            ),
            Reason::NoBehaviour { side, cut } => {
                let option = cut.map_or_else(|| "the bounds".to_owned(), |cut| cut.to_string());
                write!(f, "{side} has no behaviour within the bounds: raise {option}")
            }
            Reason::Incomplete { side, cut } => {
                write!(f, "{side} was not explored completely: raise {cut}")
            }
        }
    }
}

/// What the user should know of a comparison besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// Floats differ, as the environment permits.
    OpenFloats,
    /// Floats differ by no more units in the last place than `--float` allows.
    CloseFloats {
        /// How many units.
        units: u32,
    },
    /// A search was cut, but both are the same program.
    SameProgram,
    /// What after may compute since it lost a decoration or mode was not searched to the end.
    UntriedFloats,
    /// What reads outside of buffers give in before was not told value by value.
    OpenReads,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::SameProgram => {
                f.write_str("both are the same program but for ids, names and lines, so that what was cut makes no difference")
            }
            Note::OpenFloats => f.write_str("floats differ in bits that the environment leaves open"),
            Note::UntriedFloats => f.write_str(
                "what after may compute since it lost a decoration or mode of floats was not searched to the end",
            ),
            Note::OpenReads => f.write_str("what reads outside of buffers give in before is taken for undefined"),
            Note::CloseFloats { units } => {
                write!(f, "floats differ by at most {units} units in the last place")
            }
        }
    }
}

/// A new behaviour, in words.
fn described(kind: ViolationKind) -> &'static str {
    match kind {
        ViolationKind::NewRace => "a data race",
        ViolationKind::NewUndefined => "a fault",
        ViolationKind::NewOutcome => "an outcome",
        ViolationKind::NewHang => "a hang",
        ViolationKind::VolatileTrace => "a volatile trace",
    }
}

/// Operations that a reason names of each side.
const NAMED_OPERATIONS: usize = 4;

/// The float operations of a side that may give other results, in words.
fn open_operations((side, inexact): (&str, &Vec<Inexact>)) -> Option<String> {
    let named: Vec<String> = inexact
        .iter()
        .take(NAMED_OPERATIONS)
        .map(|operation| format!("{} (line {})", open_operation(operation), operation.line))
        .collect();
    let more = match inexact.len().saturating_sub(NAMED_OPERATIONS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!named.is_empty()).then(|| format!("{side}'s {}{more}", named.join(", ")))
}

/// What reports call a float operation whose result the environment leaves open.
pub fn open_operation(operation: &Inexact) -> String {
    match Opcode::from_u32(u32::from(operation.opcode)) {
        Some(opcode @ Opcode::ExtInst) => match GlslStd450Op::from_u32(u32::from(operation.extended)) {
            Some(function) => format!("Op{opcode:?} {function:?}"),
            None => format!("Op{opcode:?}"),
        },
        Some(Opcode::Decorate | Opcode::MemberDecorate) => "RelaxedPrecision".to_owned(),
        Some(opcode) => format!("Op{opcode:?}"),
        None => "an operation".to_owned(),
    }
}

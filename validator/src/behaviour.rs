//! Behaviours of a module on one launch and input (DESIGN section 1), as the explorer finds them
//! and the comparison and the reports use them.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::{Fault, UndefinedKind};
use crate::ir::{Inexact, Line};
use crate::model::graph::Graph;
use crate::value::Byte;

/// One behaviour that is not undefined.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Outcome {
    pub end: End,
    /// Final bytes of each observed object, in object order; empty for a hang.
    pub memory: Vec<Vec<Byte>>,
    /// Per invocation (in dispatch order), its volatile accesses.
    pub volatile: Vec<Vec<VolatileAccess>>,
    /// What the search was asked to remark on ([`Settings::remark`](crate::explore::Settings::remark)).
    pub remarks: Vec<u32>,
}

impl Outcome {
    /// A run that waits for ever, with these volatile traces.
    pub fn hang(volatile: Vec<Vec<VolatileAccess>>) -> Self {
        Outcome { end: End::Hang, memory: Vec::new(), volatile, remarks: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum End {
    Terminated,
    Hang,
}

/// An entry of a volatile trace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VolatileAccess {
    One {
        object: u32,
        offset: u32,
        write: bool,
        atomic: bool,
        bytes: Vec<Byte>,
    },
    /// Any number of failing spin iterations, with what each of them may see.
    Repeated(BTreeSet<Vec<VolatileAccess>>),
}

/// An undefined behaviour with the lines that take part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Undefined {
    pub kind: UndefinedKind,
    pub lines: Vec<Line>,
    pub detail: String,
}

impl From<Fault> for Undefined {
    fn from(fault: Fault) -> Self {
        Undefined { kind: fault.kind, lines: vec![fault.line], detail: fault.detail }
    }
}

/// Everything that the explorer found out about one module on one launch and input.
#[derive(Clone, Debug, Default)]
pub struct Behaviours {
    /// Outcomes, sorted, each with a witness (see [`Witness`]).
    pub outcomes: Vec<(Outcome, Witness)>,
    /// Undefined behaviours, sorted and distinct, each with a witness.
    pub undefined: Vec<(Undefined, Witness)>,
    /// Distinct consistent classes of (reads-from, final values).
    pub executions: u64,
    /// Complete executions that the engine visited.
    pub explored: u64,
    /// Explorations given up: dead ends.
    pub blocked: u64,
    /// Every outcome is there (no budget ended the search).
    pub complete: bool,
    /// A bound cut something (spin bound, value cap): which option to raise.
    pub bounded: Option<String>,
    /// Why the search stopped early: the budget's option.
    pub stopped: Option<String>,
    /// The line of a loop that never ends and has no volatile, atomic, barrier or memory effect:
    /// an optimiser may remove it (`--hang lenient`).
    pub removable_hang: Option<Line>,
    /// What could not be decided, e.g. `reconvergence`.
    pub undecided: Vec<String>,
    /// Values that writes produced, in the units of the search.
    pub produced: Produced,
    /// Float operations that ran and might have given other results.
    pub inexact: BTreeSet<Inexact>,
    /// Whether a read speculated: then what the other module of a pair produces counts, too.
    pub speculates: bool,
}

/// Values that writes produced, by object key and byte offset: what load buffering may speculate.
pub type Produced = BTreeMap<(String, u32), BTreeSet<Vec<Byte>>>;

/// One execution, told for people: per invocation its events in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Witness {
    /// Executions with the outcome that this one is the first of.
    pub executions: u64,
    pub events: Vec<WitnessEvent>,
    /// The execution itself: event `i` is the graph's event `i`.
    pub graph: Graph,
    /// For each unit of the graph, its memory (of the dispatch) and first byte.
    pub units: Vec<(u32, u32)>,
}

/// An event of a witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WitnessEvent {
    pub invocation: u32,
    pub line: Line,
    /// "read", "write", "read-modify-write", "memory barrier", "control barrier", with qualifiers.
    pub what: String,
    /// Object and byte offset, for accesses.
    pub location: Option<(u32, u32)>,
    pub read: Option<Vec<Byte>>,
    pub written: Option<Vec<Byte>>,
    /// Indices into `Witness::events` that this event reads from (`None` in the list: the initial value).
    pub reads_from: Vec<Option<usize>>,
    /// Indices of events that synchronize with this one.
    pub synchronized_by: Vec<usize>,
}

//! A litmus test, common to both dialects: threads of instructions over locations, and expectations about the
//! executions that the model allows.

use std::fmt;

use crate::event::{ClassSet, Order, Scope};

/// Where something stands in a litmus file; both count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

/// A litmus test that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    pub(crate) variables: Vec<Variable>,
    pub(crate) threads: Vec<Thread>,
    /// Every instruction of the first thread system-synchronizes-with every one of the second.
    pub(crate) system_synchronizes_with: Vec<(usize, usize)>,
    /// Only executions that meet it count.
    pub(crate) filter: Option<Condition>,
    pub(crate) expectations: Vec<Expectation>,
}

/// A name for a location: a reference of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// The location behind the name: variables with equal numbers are aliases. Dense, from 0.
    pub location: usize,
    /// Initial value; one for all aliases.
    pub initial: Value,
}

/// A value known before the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Value {
    Number(i32),
    /// The address of a variable.
    Address(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Dense numbers over the whole test, equal for the same instance.
    pub subgroup: u32,
    pub workgroup: u32,
    pub queue_family: u32,
    pub registers: Vec<Register>,
    pub code: Vec<Statement>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Register {
    /// Empty for one that the file does not name: the destination of a `.test` read.
    pub name: String,
    pub initial: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub position: Position,
    pub instruction: Instruction,
}

/// An operand that is read: a register of the thread, or a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    Register(usize),
    Value(Value),
}

/// What an access goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Variable(usize),
    /// The variable whose address a register holds.
    Register(usize),
}

/// Memory semantics of an atomic or a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Semantics {
    pub order: Order,
    pub classes: ClassSet,
    pub make_available: bool,
    pub make_visible: bool,
}

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    pub target: Target,
    /// Its storage class as a semantics bit: sc0 UniformMemory, sc1 WorkgroupMemory, sc2 ImageMemory,
    /// sc3 OutputMemory.
    pub class: ClassSet,
    pub kind: AccessKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Plain {
        non_private: bool,
        /// Scope of the availability operation of a store.
        available: Option<Scope>,
        /// Scope of the visibility operation of a load.
        visible: Option<Scope>,
    },
    Atomic {
        scope: Scope,
        semantics: Semantics,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    Store {
        access: Access,
        value: Operand,
    },
    Load {
        access: Access,
        register: usize,
        /// Executions in which another value is read do not count (`.test`).
        expected: Option<Value>,
    },
    Update {
        access: Access,
        operation: Operation,
        register: usize,
        value: Operand,
        /// As for a load.
        expected: Option<Value>,
    },
    MemoryBarrier {
        scope: Scope,
        semantics: Semantics,
    },
    ControlBarrier {
        execution: Scope,
        /// Memory scope.
        scope: Scope,
        semantics: Semantics,
        /// Barriers of equal numbers are one instance.
        instance: Operand,
        waits: Wait,
    },
    DeviceAvailability,
    DeviceVisibility,
    Compute {
        operation: Operation,
        register: usize,
        a: Operand,
        b: Operand,
    },
    /// Index into the thread's code; its length for a label at the end.
    Goto(usize),
    Branch {
        comparison: Comparison,
        a: Operand,
        b: Operand,
        target: usize,
    },
}

impl Instruction {
    /// The register that it sets.
    pub fn destination(&self) -> Option<usize> {
        match self {
            Instruction::Load { register, .. }
            | Instruction::Update { register, .. }
            | Instruction::Compute { register, .. } => Some(*register),
            Instruction::Store { .. }
            | Instruction::MemoryBarrier { .. }
            | Instruction::ControlBarrier { .. }
            | Instruction::DeviceAvailability
            | Instruction::DeviceVisibility
            | Instruction::Goto(_)
            | Instruction::Branch { .. } => None,
        }
    }
}

/// Whom a control barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It only orders memory (`.test`).
    Nobody,
    /// The threads of the scope instance whose code has a barrier of the same number and resource.
    Users { id: Operand },
    /// Threads that come to the barrier resource `id`, at least so many of them.
    Quorum { id: Operand, count: Operand },
}

/// What a read-modify-write, or arithmetic, computes from the old value and its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The operand itself.
    Exchange,
    Add,
    Sub,
    Mul,
    Div,
    And,
    Or,
    Xor,
}

/// Signed comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A claim about the executions of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// As it stands in the file, on one line, white space reduced to single spaces.
    pub text: String,
    pub position: Position,
    pub quantifier: Quantifier,
    pub condition: Condition,
    /// Availability and visibility chains are off (`NOCHAINS`).
    pub without_chains: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// `exists`, `SATISFIABLE`
    Exists,
    /// `~exists`, `NOSOLUTION`
    NotExists,
    /// `forall`
    ForAll,
}

impl Quantifier {
    /// Whether an execution that meets the condition decides, else one that does not.
    pub fn wants_one(self) -> bool {
        match self {
            Quantifier::Exists | Quantifier::NotExists => true,
            Quantifier::ForAll => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    True,
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Compare(Comparison, Term, Term),
    /// The axioms hold (`consistent[X]`); conditions without it are about inconsistent executions, too.
    Consistent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    Value(Value),
    /// Final value of a register: thread and index.
    Register(usize, usize),
    /// Final value of a variable.
    Variable(usize),
    /// Number of data races (`#dr`).
    DataRaces,
    /// Number of pairs of a release and a member of the release sequence that it heads, itself included (`#rs`).
    ReleaseSequences,
}

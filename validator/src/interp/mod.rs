//! The interpreter: runs one invocation of a lowered program, step by step.
//!
//! An [`Invocation`] owns its registers and its Function, Private and Input memory. It stops
//! ([`Stop`]) wherever somebody else must decide: at a shared memory access that the
//! [`SharedMemory`] does not settle at once, at a barrier, at an undefined condition, at a
//! fault. It is `Clone`: the explorer keeps copies at its branch points.

use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Fault, Fence, InstanceName, Scope};
use crate::ir::{InstId, Line, LoopId, Program};
use crate::value::Byte;

/// A pointer as two register components: `(object << 32) | offset`, then
/// `(declaration << 8) | decoration bits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer {
    /// Shared object, or with [`Pointer::OWN`] set an object of the invocation; `u32::MAX` is null.
    pub object: u32,
    /// Byte offset in the object.
    pub offset: u32,
    /// Memory object declaration: see [`Access::declaration`].
    pub declaration: u32,
    pub decorations: crate::ir::Decorations,
}

impl Pointer {
    /// Bit of `object` that marks memory of the invocation itself.
    pub const OWN: u32 = 1 << 30;
    pub const NULL: u32 = u32::MAX;
}

/// The memory that invocations share, as the interpreter sees it.
pub trait SharedMemory {
    /// Size of an object in bytes.
    fn size(&self, object: u32) -> u32;

    /// Reads without an event where the access communicates with nobody; fills `out` (one entry
    /// per byte of the ranges) and returns true. False: the invocation stops.
    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool;

    /// Writes without an event. An atomic that `read` settled is settled here too.
    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> bool;
}

/// Why an invocation stopped.
#[derive(Clone, Debug)]
pub enum Stop {
    /// A plain read: answer with [`Invocation::supply`].
    Read(Access),
    /// A plain write of these bytes (one per byte of the ranges): just run on.
    Write(Access, Vec<Byte>),
    /// An atomic instruction that reads, and perhaps writes: answer with
    /// [`Invocation::supply_atomic`].
    AtomicRead {
        access: Access,
        atomicity: Atomicity,
        may_write: bool,
    },
    /// An atomic write that does not read: just run on.
    AtomicWrite {
        access: Access,
        atomicity: Atomicity,
        bytes: Vec<Byte>,
    },
    /// A memory barrier: just run on.
    Fence(Fence),
    /// A control barrier: run on when its instance is complete.
    Barrier {
        execution: Scope,
        fence: Fence,
        name: InstanceName,
        inst: InstId,
        line: Line,
    },
    /// An undefined condition, selector or index: answer with [`Invocation::choose`] and a way
    /// below this number.
    Choose {
        ways: u32,
        line: Line,
    },
    /// About to enter a loop header over a back edge, where the iteration that ends has stopped at
    /// least once for an event. Just run on.
    Iteration {
        function_depth: u32,
        loop_id: LoopId,
    },
    Finished,
    Fault(Fault),
    /// The instruction budget is used up.
    OutOfFuel,
    /// A back edge with exactly the state of the last arrival and no event since: it never ends.
    Forever {
        line: Line,
    },
}

mod invocation;

pub use invocation::Invocation;

/// What the interpreter must provide; see `invocation.rs` for the implementation.
///
/// ```text
/// Invocation::new(program: &Program, dispatch: &Dispatch, index: u32) -> Invocation
/// run(&mut self, program, dispatch, memory: &mut dyn SharedMemory, fuel: &mut u64) -> Stop
/// supply(&mut self, program, bytes: &[Byte])                        after Stop::Read
/// supply_atomic(&mut self, program, bytes: &[Byte]) -> Option<Vec<Byte>>   after AtomicRead; the bytes written
/// choose(&mut self, way: u32)                                       after Choose
/// same_state(&self, other: &Invocation, program) -> bool            at Iteration: live registers, frames, own memory
/// position(&self) -> Vec<InstId>                                    call stack, innermost last
/// executed(&self) -> u64                                            instructions so far
/// ```
const _: fn(&Program, &Dispatch) = |_, _| ();

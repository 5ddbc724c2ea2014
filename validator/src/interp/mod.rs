//! The interpreter: runs one invocation of a lowered program, step by step.
//!
//! An [`Invocation`] owns its registers and its Function, Private and Input memory. It stops
//! ([`Stop`]) wherever somebody else must decide: at a shared memory access that the
//! [`SharedMemory`] does not settle at once, at a barrier, at an undefined condition, at a
//! fault. It is `Clone`: the explorer keeps copies at its branch points.

use crate::dispatch::Stray;
use crate::event::{Access, Atomicity, DeviceOperation, Fault, Fence, InstanceName, Scope, Wait};
use crate::ir::image::Position;
use crate::ir::{InstId, Line, LoopId};
use crate::value::Byte;

mod access;
mod arithmetic;
mod atomic;
pub(crate) mod barrier;
mod bits;
mod built_in;
mod chain;
mod compare;
mod composite;
mod control;
pub mod convergence;
mod convert;
mod cooperative;
mod covered;
pub mod descriptors;
mod encoded;
pub mod evaluate;
mod exit;
mod float;
mod future;
mod glsl;
mod image;
mod inexact;
mod integer_dot;
mod integer_functions;
mod invocation;
mod loops;
mod machine;
mod matrix;
mod memory;
mod names;
mod otherwise;
mod own_memory;
mod physical;
mod pointer;
mod ray;
mod robust;
pub mod runner;
mod shade;
mod strays;
pub mod subgroup;
mod tensor;
#[cfg(test)]
mod tests;
mod watched;

pub use convergence::Convergence;
pub use covered::is_half_covered;
pub use exit::{ActiveLoop, LeftLoop};
pub use future::Pauses;
pub use image::encode_texel;
pub use invocation::Invocation;
pub use pointer::{PhysicalPointer, Pointer};
pub use shade::{
    go_on_shaded, ulp, Common, Computations, Decisions, Following, Interval, Shaded, ShadedMemory, Shades,
};
pub use watched::{About, Compared, Enough};

/// The value of a float of 16, 32 or 64 bits; `None` for other widths.
pub fn float_value(width: u8, bits: u64) -> Option<f64> {
    float::to_double(width, bits).ok()
}

/// The memory that invocations share, as the interpreter sees it.
///
/// What a settled read returns may change only through settled writes of the same invocation, until
/// it stops for something else than a choice: a loop that nothing else happens in is told as [`Stop::Forever`].
pub trait SharedMemory {
    /// Size of an object in bytes: no access reaches beyond it.
    fn size(&self, object: u32) -> u32;

    /// Size of an object in bytes, as the program is told.
    fn told_size(&self, object: u32) -> u32 {
        self.size(object)
    }

    /// Reads without an event where the access communicates with nobody; fills `out` (one entry
    /// per byte of the ranges) and returns true. False: the invocation stops.
    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool;

    /// Writes without an event. An atomic that `read` settled is settled here too.
    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written;

    /// Hears which texel of an image an instruction names by integer coordinates, whether the image has it
    /// or not.
    fn touch_texel(&mut self, _object: u32, _position: Position) {}

    /// Hears what an access outside of a buffer is.
    fn note_outside(&mut self, _outside: Outside) {}
}

/// An access outside of a buffer, with the first version of robust access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// What it makes uncertain in a location space, where that was not known.
    Stray(u32, Stray),
    /// Its values are told one by one.
    Listed,
    /// They are not: it is undefined, or some are left out.
    Open,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It communicates: the invocation stops for it.
    Event,
    /// It was settled, and nothing can tell that it took place.
    Unchanged,
    /// It was settled.
    Changed,
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
        waits: Wait,
        inst: InstId,
        line: Line,
    },
    /// An operation on the invocations of the subgroup, or of the workgroup (cooperative matrices): answer with
    /// [`Invocation::supply_subgroup`] when those are there that execute the same dynamic instance.
    Subgroup {
        name: InstanceName,
        scope: Scope,
        line: Line,
    },
    /// An operation on the device domain: just run on.
    Device(DeviceOperation, Fence),
    /// The execution does not count.
    Discarded,
    /// An undefined condition, selector or index: answer with [`Invocation::choose`] and a way
    /// below this number.
    Choose {
        ways: u32,
        line: Line,
    },
    /// Arrived at the header of a loop that may communicate ([`crate::ir::Loop::communicates`]) from
    /// outside the loop. Just run on.
    LoopEntry {
        /// Number of callers of the function that the loop is in.
        function_depth: u32,
        loop_id: LoopId,
    },
    /// Arrived at a loop header over a back edge, where the iteration that ends has stopped at
    /// least once for an event or a choice, or is one of very many that change settled memory: φ moves are done, [`Invocation::same_state`] may be
    /// asked. Just run on.
    Iteration {
        /// Number of callers of the function that the loop is in.
        function_depth: u32,
        loop_id: LoopId,
        /// The iteration stopped for a choice at least once.
        chosen: bool,
        /// The iteration stopped for an event at least once.
        events: bool,
    },
    Finished,
    Fault(Fault),
    /// The instruction budget is used up.
    OutOfFuel,
    /// The module needs something that the interpreter does not do (a width that it does not know).
    Unsupported {
        line: Line,
        what: &'static str,
    },
    /// A back edge with exactly the state of an earlier arrival and no event since, or of a loop that nothing leads
    /// out of: it never ends. Where there were choices since, this is the way on which they go on alike.
    Forever {
        /// Number of callers of the function that the loop is in.
        function_depth: u32,
        loop_id: LoopId,
        line: Line,
        /// What repeats has effects; see [`Invocation::effects`].
        has_effects: bool,
    },
}

impl Stop {
    /// The access that it is about, and whether that may write.
    pub fn access(&self) -> Option<(&Access, bool)> {
        match self {
            Stop::Read(access) => Some((access, false)),
            Stop::AtomicRead { access, may_write, .. } => Some((access, *may_write)),
            Stop::Write(access, _) | Stop::AtomicWrite { access, .. } => Some((access, true)),
            Stop::Fence(_)
            | Stop::Device(..)
            | Stop::Barrier { .. }
            | Stop::Subgroup { .. }
            | Stop::Choose { .. }
            | Stop::LoopEntry { .. }
            | Stop::Iteration { .. }
            | Stop::Finished
            | Stop::Discarded
            | Stop::Fault(_)
            | Stop::OutOfFuel
            | Stop::Unsupported { .. }
            | Stop::Forever { .. } => None,
        }
    }
}

//! One loop that runs an invocation from stop to stop.
//!
//! Searches, trial runs and explanations run invocations by themselves. What differs is passed in as a [`Driver`]: which
//! memory the invocation has, and what becomes of each stop.

use super::{Invocation, Stop};
use crate::ir::Program;
use crate::value::Byte;

/// Runs one invocation.
pub trait Driver {
    /// What a run ends with.
    type End;

    /// Runs the invocation to its next stop.
    fn run(&mut self) -> Stop;

    /// The invocation, to be given an answer.
    fn invocation(&mut self) -> &mut Invocation;

    /// What becomes of a stop.
    fn decide(&mut self, stop: Stop) -> Decision<Self::End>;

    /// The atomic instruction that it stood at read these bytes and wrote those. `Some` ends the run.
    fn updated(&mut self, read: &[Byte], written: Vec<Byte>) -> Option<Self::End>;
}

/// How an invocation goes on.
pub enum Decision<End> {
    /// There is nothing to answer.
    GoOn,
    /// In one of the ways that [`Stop::Choose`] asks for.
    Choose(u32),
    /// A plain read has these bytes.
    Read(Vec<Byte>),
    /// An atomic instruction reads these bytes, and goes one of several ways where there are some.
    AtomicRead {
        /// What it reads.
        bytes: Vec<Byte>,
        /// Below [`Invocation::atomic_ways`]; `None` where that is one.
        way: Option<u32>,
    },
    /// Not at all.
    End(End),
}

/// Runs an invocation, on from its answer to the stop at which it stands, until its driver ends the run.
pub fn drive<D: Driver>(program: &Program, driver: &mut D, first: Decision<D::End>) -> D::End {
    let mut decision = first;
    loop {
        match decision {
            Decision::GoOn => {}
            Decision::Choose(way) => driver.invocation().choose(way),
            Decision::Read(bytes) => driver.invocation().supply(program, &bytes),
            Decision::AtomicRead { bytes, way } => {
                let invocation = driver.invocation();
                way.into_iter().for_each(|way| invocation.choose(way));
                let written = invocation.supply_atomic(program, &bytes);
                if let Some(end) = written.and_then(|written| driver.updated(&bytes, written)) {
                    return end;
                }
            }
            Decision::End(end) => return end,
        }
        let stop = driver.run();
        decision = driver.decide(stop);
    }
}

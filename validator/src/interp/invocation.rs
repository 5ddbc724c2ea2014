//! The state of one invocation and what the explorer may ask of it.

use super::{SharedMemory, Stop};
use crate::dispatch::Dispatch;
use crate::ir::{InstId, Program};
use crate::value::Byte;

/// One invocation.
#[derive(Clone, Debug)]
pub struct Invocation {
    index: u32,
    executed: u64,
}

impl Invocation {
    /// The invocation `index` of the dispatch, before its first instruction.
    pub fn new(_program: &Program, _dispatch: &Dispatch, index: u32) -> Self {
        Invocation { index, executed: 0 }
    }

    /// Runs until somebody else must decide; see [`Stop`] for how to go on after each.
    /// Takes one from `fuel` for each instruction.
    pub fn run(
        &mut self,
        _program: &Program,
        _dispatch: &Dispatch,
        _memory: &mut dyn SharedMemory,
        fuel: &mut u64,
    ) -> Stop {
        *fuel = fuel.saturating_sub(1);
        self.executed += 1;
        Stop::Finished
    }

    /// Answers [`Stop::Read`]: one byte per byte of the access's ranges.
    pub fn supply(&mut self, _program: &Program, _bytes: &[Byte]) {}

    /// How many ways [`supply_atomic`](Self::supply_atomic) may go with these bytes: 2 for a
    /// compare-exchange whose comparison is undefined (answer with [`choose`](Self::choose)
    /// first: 0 fails, 1 exchanges), else 1.
    pub fn atomic_ways(&self, _program: &Program, _bytes: &[Byte]) -> u32 {
        1
    }

    /// Answers [`Stop::AtomicRead`]. Returns the bytes that the instruction writes; `None` for a
    /// load and for a compare-exchange that fails.
    pub fn supply_atomic(&mut self, _program: &Program, _bytes: &[Byte]) -> Option<Vec<Byte>> {
        None
    }

    /// Answers [`Stop::Choose`] with a way below its number.
    pub fn choose(&mut self, _way: u32) {}

    /// Whether both behave alike from here on if they read alike: same position, registers and own
    /// memory. Iteration numbers do not count. At a loop header, where [`Stop::Iteration`] stops,
    /// only the live registers of the innermost frame do.
    pub fn same_state(&self, other: &Invocation, _program: &Program) -> bool {
        self.index == other.index
    }

    /// The call sites, outermost first, then the instruction that runs next. After `Read`,
    /// `AtomicRead`, `Choose` and faults that is the instruction that stopped; after the others the one behind it.
    pub fn position(&self) -> Vec<InstId> {
        Vec::new()
    }

    /// Instructions executed so far.
    pub fn executed(&self) -> u64 {
        self.executed
    }
}

//! Iteration numbers of loops, and loops that never end.

use super::invocation::{Activity, Invocation};
use super::machine::Step;
use super::own_memory::OwnMemory;
use super::Stop;
use crate::ir::{Line, LoopId, Program};
use crate::value::Scalar;

/// A loop of an active function.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LoopState {
    /// 0 in the first iteration.
    pub(super) iteration: u32,
    /// Effects before it was entered.
    effects: u64,
    /// Counts at the last arrival at the header.
    last: Activity,
    /// Iterations in a row in which nothing happened that others may notice.
    fruitless: u32,
}

/// Iterations without an event after which states are compared. Ordinary loops end before.
const PATIENCE: u32 = 64;

/// What decides how a fruitless loop goes on.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Index into the invocation's loops.
    index: u32,
    live: Vec<Scalar>,
    own: OwnMemory,
    effects: u64,
}

impl Invocation {
    fn loop_index(&self, id: LoopId) -> u32 {
        self.frame.loops + id.0
    }

    /// Enters a loop from outside; the position is the header already.
    pub(super) fn enter_loop(&mut self, program: &Program, id: LoopId) -> Step {
        let index = self.loop_index(id);
        self.drop_snapshot(index);
        self.loops[index as usize] =
            LoopState { last: self.activity, effects: self.effects, ..LoopState::default() };
        self.forget_dead_locals(program, id);
        if self.function(program).loops[id.0 as usize].communicates {
            let function_depth = self.callers.len() as u32;
            return Err(Box::new(Stop::LoopEntry { function_depth, loop_id: id }));
        }
        Ok(())
    }

    /// Arrives at the header over a back edge; the position is the header already.
    pub(super) fn repeat_loop(&mut self, program: &Program, id: LoopId, line: Line) -> Step {
        self.forget_dead_locals(program, id);
        let index = self.loop_index(id);
        let now = self.activity;
        let state = &mut self.loops[index as usize];
        let last = std::mem::replace(&mut state.last, now);
        state.iteration = state.iteration.wrapping_add(1);
        if now == last {
            state.fruitless = state.fruitless.saturating_add(1);
            let fruitless = state.fruitless;
            return self.look_for_cycle(program, id, fruitless, line);
        }
        state.fruitless = 0;
        self.drop_snapshot(index);
        let (events, chosen) = (now.events != last.events, now.choices != last.choices);
        if events || chosen {
            let function_depth = self.callers.len() as u32;
            return Err(Box::new(Stop::Iteration { function_depth, loop_id: id, chosen, events }));
        }
        Ok(())
    }

    /// Takes from a loop that may spin what nobody will read, so that states compare equal without it.
    fn forget_dead_locals(&mut self, program: &Program, id: LoopId) {
        let lp = &self.function(program).loops[id.0 as usize];
        if lp.communicates {
            for local in &lp.dead {
                self.own.forget(self.frame.objects + local);
            }
        }
    }

    /// Compares with the state at an earlier arrival, which is taken anew at each power of two
    /// (Brent's algorithm), so that cycles of any length are found.
    fn look_for_cycle(&mut self, program: &Program, id: LoopId, fruitless: u32, line: Line) -> Step {
        if fruitless < PATIENCE {
            return Ok(());
        }
        let index = self.loop_index(id);
        let live = &self.function(program).loops[id.0 as usize].live;
        let same = |snapshot: &&Snapshot| {
            live.iter().zip(&snapshot.live).all(|(register, value)| self.register(*register) == *value)
                && snapshot.own == self.own
        };
        let earlier = self.snapshots.iter().find(|snapshot| snapshot.index == index);
        if let Some(snapshot) = earlier.filter(same) {
            return Err(Box::new(Stop::Forever {
                function_depth: self.callers.len() as u32,
                loop_id: id,
                line,
                has_effects: self.effects != snapshot.effects,
            }));
        }
        if fruitless.is_power_of_two() {
            let values = live.iter().map(|register| self.register(*register)).collect();
            self.drop_snapshot(index);
            self.snapshots.push(Snapshot {
                index,
                live: values,
                own: self.own.clone(),
                effects: self.effects,
            });
        }
        Ok(())
    }

    /// Whether there were effects since the loop at this index was entered.
    pub(super) fn has_effects_in(&self, index: u32) -> bool {
        self.loops.get(index as usize).is_some_and(|state| state.effects != self.effects)
    }

    fn drop_snapshot(&mut self, index: u32) {
        if !self.snapshots.is_empty() {
            self.snapshots.retain(|snapshot| snapshot.index != index);
        }
    }

    /// Forgets the loops of a function that returns.
    pub(super) fn leave_loops(&mut self) {
        let first = self.frame.loops;
        self.loops.truncate(first as usize);
        if !self.snapshots.is_empty() {
            self.snapshots.retain(|snapshot| snapshot.index < first);
        }
    }
}

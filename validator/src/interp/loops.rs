//! Iteration numbers of loops, and loops that never end.

use super::invocation::{Activity, Invocation};
use super::machine::Step;
use super::own_memory::OwnMemory;
use super::Stop;
use crate::ir::{Countdown, Edge, Line, Loop, LoopId, Program};
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
    /// Iterations without an event that changed settled memory.
    busy: u32,
    /// The object in which the last state that was compared differed: the next one does so, too, most likely.
    differing: u32,
}

/// Iterations without an event after which states are compared. Ordinary loops end before.
const PATIENCE: u32 = 64;

/// The same of loops that end only in so many turns that these would rather be counted: whoever comes to such a loop stays
/// there, if not for a few turns.
const COUNTED_PATIENCE: u32 = 8;

/// Iterations that only change settled memory after which whoever knows that memory is asked whether it has been so before.
const BUSY: u32 = 4_096;

/// States kept of a loop in which nothing happens but choices.
const MAX_SNAPSHOTS: usize = 1_024;

/// What decides how a fruitless loop goes on.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    /// Index into the invocation's loops.
    index: u32,
    live: Vec<Scalar>,
    own: OwnMemory,
    helper: bool,
    effects: u64,
    choices: u64,
    atomics: u64,
    shading: u64,
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
        if self.function(program).loops[id.0 as usize].communicates {
            self.forget_dead_locals(program, id);
            self.take_snapshot(program, id);
            let function_depth = self.callers.len() as u32;
            return Err(Box::new(Stop::LoopEntry { function_depth, loop_id: id }));
        }
        Ok(())
    }

    /// Arrives at the header over a back edge; the position is the header already.
    pub(super) fn repeat_loop(&mut self, program: &Program, id: LoopId, line: Line) -> Step {
        if self.function(program).loops[id.0 as usize].communicates {
            self.forget_dead_locals(program, id);
        }
        if self.function(program).loops[id.0 as usize].exit.sealed {
            return Err(self.forever(id, line, false));
        }
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
        let (events, chosen) = (now.events != last.events, now.choices != last.choices);
        if events || now.changes != last.changes {
            self.drop_snapshot(index);
        } else {
            self.forget_dead_locals(program, id);
            self.look_for_choices_again(program, id, line)?;
        }
        if !events && now.changes != last.changes {
            let busy = &mut self.loops[index as usize].busy;
            *busy = busy.saturating_add(1);
        }
        if events || chosen || self.loops[index as usize].busy >= BUSY {
            let function_depth = self.callers.len() as u32;
            return Err(Box::new(Stop::Iteration { function_depth, loop_id: id, chosen, events }));
        }
        Ok(())
    }

    /// Takes from a loop what nobody will read, so that states compare equal without it.
    fn forget_dead_locals(&mut self, program: &Program, id: LoopId) {
        for local in &self.function(program).loops[id.0 as usize].dead {
            self.own.forget(self.frame.objects + local);
        }
    }

    /// Compares with the states since which there was nothing but choices. Each of them stood open to all choices,
    /// so the first that comes back is the end of a way.
    fn look_for_choices_again(&mut self, program: &Program, id: LoopId, line: Line) -> Step {
        if let Some(earlier) = self.snapshot_like_now(program, id) {
            return Err(self.forever(id, line, self.effects != earlier.effects));
        }
        let index = self.loop_index(id);
        if self.snapshots.iter().filter(|snapshot| snapshot.index == index).count() < MAX_SNAPSHOTS {
            self.take_snapshot(program, id);
        }
        Ok(())
    }

    fn forever(&self, loop_id: LoopId, line: Line, has_effects: bool) -> Box<Stop> {
        let function_depth = self.callers.len() as u32;
        Box::new(Stop::Forever { function_depth, loop_id, line, has_effects })
    }

    /// The state that was as it is now.
    fn snapshot_like_now(&self, program: &Program, id: LoopId) -> Option<&Snapshot> {
        let index = self.loop_index(id);
        let live = &self.function(program).loops[id.0 as usize].live;
        let same = |snapshot: &&Snapshot| {
            snapshot.index == index
                && snapshot.helper == self.helper
                && live.iter().zip(&snapshot.live).all(|(register, value)| self.register(*register) == *value)
                && snapshot.own == self.own
        };
        self.snapshots.iter().find(same)
    }

    fn take_snapshot(&mut self, program: &Program, id: LoopId) {
        let live = &self.function(program).loops[id.0 as usize].live;
        let live = live.iter().map(|register| self.register(*register)).collect();
        self.snapshots.push(Snapshot {
            index: self.loop_index(id),
            live,
            own: self.own.clone(),
            helper: self.helper,
            effects: self.effects,
            choices: self.activity.choices,
            atomics: self.atomics,
            shading: self.shading,
        });
    }

    /// The state from which on there are the turns that there are from now on.
    fn snapshot_that_turns_like_now(&mut self, program: &Program, id: LoopId) -> Option<&Snapshot> {
        let index = self.loop_index(id);
        let Loop { live, turns, .. } = &self.function(program).loops[id.0 as usize];
        let dead: Vec<u32> = turns.dead.iter().map(|local| self.frame.objects + local).collect();
        let mut differing = self.loops[index as usize].differing;
        let same = |snapshot: &Snapshot| {
            let mut values =
                live.iter().zip(&snapshot.live).filter(|(register, _)| turns.live.contains(register));
            let is_like = snapshot.index == index
                && snapshot.helper == self.helper
                && values.all(|(register, value)| self.register(*register) == *value);
            if !is_like {
                return false;
            }
            let difference = snapshot.own.difference(&dead, &self.own, differing);
            differing = difference.unwrap_or(differing);
            difference.is_none()
        };
        let found = self.snapshots.iter().position(same);
        self.loops[index as usize].differing = differing;
        self.snapshots.get(found?)
    }

    /// Compares with the state at an earlier arrival, which is taken anew at each power of two
    /// (Brent's algorithm), so that cycles of any length are found. No choice is between them, so that what the loop adds
    /// up without reading it does not count: the loop is not left.
    fn look_for_cycle(&mut self, program: &Program, id: LoopId, fruitless: u32, line: Line) -> Step {
        let is_counted = !self.function(program).loops[id.0 as usize].countdowns.is_empty();
        if fruitless < if is_counted { COUNTED_PATIENCE } else { PATIENCE } {
            return Ok(());
        }
        self.forget_dead_locals(program, id);
        let earlier = self.snapshot_that_turns_like_now(program, id).map(|earlier| earlier.effects);
        if let Some(earlier) = earlier {
            return Err(self.forever(id, line, self.effects != earlier));
        }
        self.count_on(program, id);
        if fruitless.is_power_of_two() {
            self.drop_snapshot(self.loop_index(id));
            self.take_snapshot(program, id);
        }
        Ok(())
    }

    /// Whether a loop has turns in a row, which end with the edge that is taken, that may be counted instead of run.
    pub(super) fn may_count_on(&self, program: &Program, edge: &Edge) -> bool {
        edge.repeats.is_some_and(|id| {
            let state = self.loops[self.loop_index(id) as usize];
            let countdowns = &self.function(program).loops[id.0 as usize].countdowns;
            state.fruitless + 1 >= COUNTED_PATIENCE && !countdowns.is_empty()
        })
    }

    /// Where nothing is otherwise than at an earlier arrival but what counts turns, all turns up to the last ones are like
    /// those since then: they are counted, and not run. A choice may go another way next time, and an atomic instruction may
    /// read something else.
    fn count_on(&mut self, program: &Program, id: LoopId) -> Option<()> {
        let Loop { live, countdowns, .. } = &self.function(program).loops[id.0 as usize];
        if countdowns.is_empty() {
            return None;
        }
        let index = self.loop_index(id);
        let object = |countdown: &Countdown| self.frame.objects + countdown.local;
        let counters: Vec<u32> = countdowns.iter().map(object).collect();
        let is_like = |snapshot: &&Snapshot| {
            snapshot.index == index
                && snapshot.helper == self.helper
                && snapshot.choices == self.activity.choices
                && (snapshot.atomics, snapshot.shading) == (self.atomics, self.shading)
                && live.iter().zip(&snapshot.live).all(|(register, value)| self.register(*register) == *value)
                && snapshot.own.difference(&counters, &self.own, self.frame.objects).is_none()
        };
        let earlier = self.snapshots.iter().find(is_like)?;
        let mut counts: Vec<(Countdown, u64, u64)> = Vec::new();
        for countdown in countdowns {
            let of = |own: &OwnMemory| Some(countdown.left(own.count_of(object(countdown))?));
            let (then, now) = (of(&earlier.own)?, of(&self.own)?);
            let taken = then.checked_sub(now)?;
            counts.extend((taken > 0).then_some((*countdown, now, taken)));
        }
        // One that ends changes what the turns do.
        let times = counts.iter().map(|(_, left, taken)| left.saturating_sub(1) / taken).min()?;
        for (countdown, left, taken) in counts {
            let left = left - times * taken;
            self.own.set_count(self.frame.objects + countdown.local, countdown.left(left));
        }
        if times > 0 {
            self.drop_snapshot(index);
        }
        Some(())
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

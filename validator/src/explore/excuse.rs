//! Endless loops without effects, which an optimiser may remove (`--hang lenient`): an invocation that would go round
//! one for ever may also go on at its merge block, or end where there is none to go on at. Undefined behaviour that
//! only comes after that is dropped (docs/semantics.md, section 3.3).

use std::sync::Arc;

use super::found::Found;
use super::search::{Advanced, Search};
use super::state::{State, Status};
use crate::behaviour::PathEnd;
use crate::interp::{Invocation, LeftLoop};
use crate::ir::LoopId;

/// A loop of an invocation: how many callers the function has that it is in, and which of its loops it is.
pub(super) type LoopOf = (u32, LoopId);

/// How a loop may be left: at its merge block, or by ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Exit {
    Merge(LoopOf),
    /// Nothing leads to what is behind the loop, so that it may be as good as not there.
    End(LoopOf),
}

impl Search<'_> {
    /// An invocation goes round a loop for ever: it does, or leaves the loop all the same.
    pub(super) fn never_ends(
        &self,
        state: &mut State,
        index: usize,
        endless: LoopOf,
        has_effects: bool,
        found: &mut Found,
    ) -> Advanced {
        let exits = match has_effects || state.closing.is_some() {
            true => Vec::new(),
            false => self.exits(&state.threads[index].invocation, endless),
        };
        state.threads[index].status = Status::Forever;
        if exits.is_empty() {
            return Advanced::Quiet;
        }
        let mut children = vec![state.clone()];
        let invocation = state.threads[index].invocation.clone();
        children.extend(
            exits.into_iter().filter_map(|exit| self.after_leaving(state, index, &invocation, exit, found)),
        );
        found.paths.branch(children.len());
        Advanced::Branch(children)
    }

    /// The loops by which an invocation may leave one that it goes round for ever: that one and those around it, as long
    /// as they had no effects.
    pub(super) fn exits(&self, invocation: &Invocation, endless: LoopOf) -> Vec<Exit> {
        if self.context.settings.strict_hangs {
            return Vec::new();
        }
        let active = invocation.active_loops(self.context.program);
        let around = active.into_iter().skip_while(|one| (one.function_depth, one.loop_id) != endless);
        let quiet = around.take_while(|one| !one.has_effects).map(|one| (one.function_depth, one.loop_id));
        let exits = |one: LoopOf| {
            let ends =
                invocation.is_closed_loop(self.context.program, one.0, one.1).then_some(Exit::End(one));
            std::iter::once(Exit::Merge(one)).chain(ends)
        };
        quiet.flat_map(exits).collect()
    }

    /// The state where an invocation, as it was at the header of an endless loop, has left by an exit.
    pub(super) fn after_leaving(
        &self,
        state: &State,
        index: usize,
        at_header: &Invocation,
        exit: Exit,
        found: &mut Found,
    ) -> Option<State> {
        let mut child = state.clone();
        let mut invocation = Invocation::clone(at_header);
        let (Exit::Merge((depth, loop_id)) | Exit::End((depth, loop_id))) = exit;
        let left = match exit {
            Exit::Merge(_) => invocation.leave_loop(self.context.program, depth, loop_id)?,
            Exit::End(_) => LeftLoop::Ended,
        };
        self.break_symmetries(found);
        child.excused = true;
        let thread = &mut child.threads[index];
        thread.invocation = Arc::new(invocation);
        thread.waits_since = None;
        thread.reads_unknown = None;
        thread.idle = None;
        thread.loops.retain(|arrival| (arrival.depth, arrival.loop_id) < (depth, loop_id));
        thread.status = match left {
            LeftLoop::Ended => Status::Finished,
            LeftLoop::WentOn | LeftLoop::Entered { .. } => Status::Running,
        };
        if let LeftLoop::Entered { function_depth, loop_id } = left {
            self.enter(&mut child, index, function_depth, loop_id);
        }
        Some(child)
    }

    /// Whether a read waits in a loop that its invocation may leave though nothing releases the read.
    pub(super) fn may_be_excused(&self, state: &State, index: usize) -> bool {
        let plain = matches!(&state.threads[index].status,
            Status::Reading { access, atomic: None, .. } if !access.volatile);
        plain
            && !self.context.settings.strict_hangs
            && self.reader(state, index).is_some_and(|reader| self.is_spinning(state, &reader))
    }

    /// Ends a path on which undefined behaviour comes after an endless loop was left.
    pub(super) fn drop_excused(&self, state: &State, found: &mut Found) -> bool {
        if state.excused {
            found.paths.end(PathEnd::Excused);
        }
        state.excused
    }
}

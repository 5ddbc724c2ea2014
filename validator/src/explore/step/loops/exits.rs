//! Endless loops without effects, which an optimiser may remove (`--hang lenient`): an invocation that would go round
//! one for ever may also go on at its merge block, or end where there is none to go on at. Undefined behaviour that
//! only comes after that is dropped (docs/semantics.md, section 3.3).

use std::sync::Arc;

use crate::explore::reductions::symmetry::gates;
use crate::explore::state::reader;
use crate::explore::state::{Advanced, Found, Round, State, Status};
use crate::explore::step::loops::arrivals;
use crate::explore::step::loops::turns;
use crate::interp::{Invocation, LeftLoop};
use crate::ir::LoopId;

/// A loop of an invocation: how many callers the function has that it is in, and which of its loops it is.
type LoopOf = (u32, LoopId);

/// How a loop may be left: at its merge block, or by ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    Merge(LoopOf),
    /// Nothing leads to what is behind the loop, so that it may be as good as not there.
    End(LoopOf),
}

/// An invocation goes round a loop for ever: it does, or leaves the loop all the same.
pub(crate) fn never_ends(
    round: &Round,
    state: &mut State,
    index: usize,
    endless: LoopOf,
    has_effects: bool,
    found: &mut Found,
) -> Advanced {
    let exits = match has_effects || state.closing.is_some() {
        true => Vec::new(),
        false => exits(round, &state.threads[index].invocation, endless),
    };
    state.threads[index].status = Status::Forever;
    if exits.is_empty() {
        return Advanced::Quiet;
    }
    let mut children = vec![state.clone()];
    let invocation = state.threads[index].invocation.clone();
    children.extend(
        exits.into_iter().filter_map(|exit| after_leaving(round, state, index, &invocation, exit, found)),
    );
    found.paths.branch(children.len());
    Advanced::Branch(children)
}

/// The loops by which an invocation may leave one that it goes round for ever: that one and those around it, as long
/// as they had no effects.
pub(crate) fn exits(round: &Round, invocation: &Invocation, endless: LoopOf) -> Vec<Exit> {
    if round.context.settings.strict_hangs {
        return Vec::new();
    }
    let active = invocation.active_loops(round.context.program);
    let around = active.into_iter().skip_while(|one| (one.function_depth, one.loop_id) != endless);
    let quiet = around.take_while(|one| !one.has_effects).map(|one| (one.function_depth, one.loop_id));
    let exits = |one: LoopOf| {
        let ends = invocation.is_closed_loop(round.context.program, one.0, one.1).then_some(Exit::End(one));
        std::iter::once(Exit::Merge(one)).chain(ends)
    };
    quiet.flat_map(exits).collect()
}

/// The state where an invocation, as it was at the header of an endless loop, has left by an exit.
pub(crate) fn after_leaving(
    round: &Round,
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
        Exit::Merge(_) => invocation.leave_loop(round.context.program, depth, loop_id)?,
        Exit::End(_) => LeftLoop::Ended,
    };
    gates::break_symmetries(round, found);
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
        arrivals::enter(round, &mut child, index, function_depth, loop_id);
    }
    Some(child)
}

/// Whether a read waits in a loop that its invocation may leave though nothing releases the read.
pub(crate) fn may_be_excused(round: &Round, state: &State, index: usize) -> bool {
    let plain = matches!(&state.threads[index].status,
            Status::Reading { access, atomic: None, .. } if !access.volatile);
    plain
        && !round.context.settings.strict_hangs
        && reader::reader(round, state, index).is_some_and(|reader| turns::is_spinning(round, state, &reader))
}

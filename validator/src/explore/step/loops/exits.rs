//! Exits of endless loops without effects, which an optimiser may remove (`--hang lenient`). An invocation that would
//! repeat such a loop for ever may also continue at its merge block, or end if it cannot continue there. Undefined
//! behaviour behind such an exit is dropped (docs/semantics.md, section 3.3).
//!
//! For example, `while (flag == 0) {} data = 1;` with plain reads of `flag` may write 1 to `data` although `flag`
//! stays 0.

use std::sync::Arc;

use crate::explore::reductions::symmetry::gates;
use crate::explore::state::reader;
use crate::explore::state::{Advanced, Found, Round, State, Status};
use crate::explore::step::loops::arrivals;
use crate::explore::step::loops::turns;
use crate::interp::{Invocation, LeftLoop};
use crate::ir::LoopId;

/// A loop of an invocation: the depth of its function in the call stack, and the loop.
type LoopOf = (u32, LoopId);

/// How a loop is left: at its merge block, or by ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    Merge(LoopOf),
    /// An optimiser that finds that the loop never ends removes what is behind it.
    End(LoopOf),
}

/// Handles an invocation that repeats a loop for ever: it does so, or it leaves the loop by one of its exits.
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

/// The exits by which an invocation may leave a loop that it repeats for ever: those of that loop and of the loops
/// around it, as long as these had no effects; and its end.
pub(crate) fn exits(round: &Round, invocation: &Invocation, endless: LoopOf) -> Vec<Exit> {
    if round.context.settings.strict_hangs {
        return Vec::new();
    }
    let active = invocation.active_loops(round.context.program);
    let around = active.into_iter().skip_while(|one| (one.function_depth, one.loop_id) != endless);
    let quiet = around.take_while(|one| !one.has_effects).map(|one| (one.function_depth, one.loop_id));
    let mut exits: Vec<Exit> = quiet.map(Exit::Merge).collect();
    if !exits.is_empty() && invocation.goes_on_behind(round.context.program, endless.0, endless.1) {
        exits.push(Exit::End(endless));
    }
    exits
}

/// The state in which an invocation has left by an exit. `at_header` is the invocation as it was at the header of the
/// endless loop.
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

/// Whether a read waits in a loop that its invocation may leave even if nothing releases the read.
pub(crate) fn may_be_excused(round: &Round, state: &State, index: usize) -> bool {
    let plain = matches!(&state.threads[index].status,
            Status::Reading { access, atomic: None, .. } if !access.volatile);
    plain
        && !round.context.settings.strict_hangs
        && reader::reader(round, state, index).is_some_and(|reader| turns::is_spinning(round, state, &reader))
}

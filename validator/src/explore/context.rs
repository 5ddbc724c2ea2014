//! What stays the same over all rounds of a search: the program and the dispatch, what is derived from them, the
//! budgets, and the threads.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::dispatch::Dispatch;
use crate::event::{Order, Scope};
use crate::explore::budget::Budget;
use crate::explore::program::barrier_numbers::{self, BarrierNumbers};
use crate::explore::program::instance_order::{self, InstanceOrder};
use crate::explore::program::may_write::MayWrite;
use crate::explore::program::reach::Reach;
use crate::explore::program::updates;
use crate::explore::reductions::names::Reductions;
use crate::explore::settings::Settings;
use crate::explore::state::{first, Context, State, Target};
use crate::interp::Pauses;
use crate::ir::{AtomicKind, BarrierOp, Op, Program};
use crate::model::graph::Graph;

pub(crate) fn context<'a>(
    program: &'a Program,
    dispatch: &'a Dispatch,
    settings: &'a Settings,
    target: Option<Target<'a>>,
) -> Context<'a> {
    Context {
        program,
        dispatch,
        settings,
        reach: Reach::new(program),
        writers: MayWrite::of(program),
        plain: MayWrite::plain(program),
        looking: MayWrite::looking(program),
        meetings: barrier_numbers::meetings(program),
        numbers: BarrierNumbers::new(program, dispatch),
        subgroups: instance_order::subgroups(dispatch),
        workgroups: instance_order::workgroups(dispatch),
        order: InstanceOrder::new(program),
        has_fences: has_fences(program),
        has_compare_exchanges: has_compare_exchanges(program),
        has_first_updates: updates::has_first_updates(program),
        may_discard: may_discard(program, dispatch),
        widest_scope: widest_scope(&first::empty_graph(dispatch)),
        budget: Budget::new(settings),
        pauses: Pauses::new(program),
        shared_first: OnceLock::new(),
        pool: OnceLock::new(),
        target,
        reductions: Reductions::NONE,
    }
}

/// The narrowest scope that contains all invocations.
fn widest_scope(graph: &Graph) -> Scope {
    let agents = 0..graph.agents.len() as u32;
    let has_all = |scope: &Scope| agents.clone().all(|agent| graph.in_scope_instance(0, *scope, agent));
    let scopes = [Scope::Subgroup, Scope::Workgroup, Scope::QueueFamily];
    scopes.into_iter().find(has_all).unwrap_or(Scope::Device)
}

/// Whether the program has barriers that may make atomics of several workgroups synchronize, or atomics of invocations
/// that do not wait for each other.
fn has_fences(program: &Program) -> bool {
    let code = program.functions.iter().flat_map(|function| &function.code);
    let mut barriers = code.filter_map(|inst| match &inst.op {
        Op::Barrier(barrier) => Some(barrier),
        _ => None,
    });
    barriers.any(|barrier| match barrier {
        BarrierOp::Control { execution, memory, semantics } => {
            semantics.order != Order::Relaxed && (*execution < Scope::Workgroup || *memory > Scope::Workgroup)
        }
        BarrierOp::Memory { semantics, .. } => semantics.order != Order::Relaxed,
        BarrierOp::Numbered(_) | BarrierOp::Device(_) => true,
    })
}

fn has_compare_exchanges(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(
        |inst| matches!(&inst.op, Op::Atomic(op) if matches!(op.kind, AtomicKind::CompareExchange { .. })),
    )
}

/// A new copy of the state in which every search begins, for a search that will write to all of it.
pub(crate) fn first(context: &Context) -> State {
    first::state(context.program, context.dispatch, context.settings)
}

/// The same state for many searches that write to parts of it only.
pub(crate) fn shared_first<'c>(context: &'c Context) -> &'c State {
    context.shared_first.get_or_init(|| first(context))
}

/// The threads that the settings ask for. It is `None` for the threads that all searches share.
pub(crate) fn pool<'c>(context: &'c Context) -> Option<&'c ThreadPool> {
    let build = || match context.settings.jobs {
        0 => None,
        jobs => ThreadPoolBuilder::new().num_threads(jobs).build().ok(),
    };
    context.pool.get_or_init(build).as_ref()
}

/// The same, if the search needed threads.
pub(crate) fn started_pool<'c>(context: &'c Context) -> Option<Option<&'c ThreadPool>> {
    context.pool.get().map(Option::as_ref)
}

/// Whether the dispatch may have no execution: a litmus test may exclude executions by the values that they read, and
/// system-synchronizes-with may contradict what synchronizes through barriers.
fn may_discard(program: &Program, dispatch: &Dispatch) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    !dispatch.system_synchronizes_with.is_empty() || code.any(|inst| matches!(inst.op, Op::Require { .. }))
}

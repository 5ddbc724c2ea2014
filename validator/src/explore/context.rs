//! What stays the same over all rounds of a search.

use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::barriers::BarrierNumbers;
use super::budget::Budget;
use super::reach::Reach;
use super::state::{self, State};
use super::tangles::{self, InstanceOrder};
use super::unseen::Writers;
use super::{apart, symmetry, Settings};
use crate::behaviour::Outcome;
use crate::dispatch::Dispatch;
use crate::event::{Order, Scope};
use crate::interp::Pauses;
use crate::ir::{AtomicKind, BarrierOp, InstId, Op, Program};
use crate::model::graph::Graph;
use crate::model::location_order::DOMAINS;

/// What stays the same over all rounds.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) dispatch: &'a Dispatch,
    pub(super) settings: &'a Settings,
    pub(super) reach: Reach,
    pub(super) writers: Writers,
    /// What may access shared memory without being atomic, and what may read it without writing it.
    pub(super) plain: Writers,
    pub(super) looking: Writers,
    /// The instructions at which invocations wait for each other.
    pub(super) meetings: Vec<InstId>,
    pub(super) numbers: BarrierNumbers,
    /// The invocations of each subgroup.
    pub(super) subgroups: Vec<Vec<usize>>,
    pub(super) workgroups: Vec<Vec<usize>>,
    pub(super) order: InstanceOrder<'a>,
    /// Something beside barriers of workgroups makes atomics synchronise.
    pub(super) has_fences: bool,
    pub(super) has_compare_exchanges: bool,
    /// Invocations may be symmetric.
    pub(super) has_first_updates: bool,
    /// There may be no execution.
    pub(super) may_discard: bool,
    /// The narrowest scope that has everybody in it.
    pub(super) everybody: Scope,
    pub(super) budget: Budget<'a>,
    pub(super) pauses: Pauses<'a>,
    /// Where the searches of groups begin, once there are some.
    shared_first: OnceLock<State>,
    /// Threads for large searches, once there is one.
    pool: OnceLock<Option<ThreadPool>>,
    /// An outcome of these ends the search.
    pub(super) target: Option<Target<'a>>,
}

/// Names outcomes.
pub(super) type Target<'a> = &'a (dyn Fn(&Outcome) -> bool + Sync);

impl<'a> Context<'a> {
    pub(super) fn new(
        program: &'a Program,
        dispatch: &'a Dispatch,
        settings: &'a Settings,
        target: Option<Target<'a>>,
    ) -> Self {
        Context {
            program,
            dispatch,
            settings,
            reach: Reach::new(program),
            writers: Writers::of(program),
            plain: Writers::plain(program),
            looking: Writers::looking(program),
            meetings: apart::meetings(program),
            numbers: BarrierNumbers::new(program, dispatch),
            subgroups: tangles::subgroups(dispatch),
            workgroups: tangles::workgroups(dispatch),
            order: InstanceOrder::new(program),
            has_fences: has_fences(program),
            has_compare_exchanges: has_compare_exchanges(program),
            has_first_updates: symmetry::has_first_updates(program),
            may_discard: may_discard(program, dispatch),
            everybody: everybody(&state::empty_graph(dispatch)),
            budget: Budget::new(settings),
            pauses: Pauses::new(program),
            shared_first: OnceLock::new(),
            pool: OnceLock::new(),
            target,
        }
    }
}

/// The narrowest scope that has all agents in it.
fn everybody(graph: &Graph) -> Scope {
    let agents = 0..graph.agents.len() as u32;
    let has_all = |scope: &Scope| agents.clone().all(|agent| graph.in_scope_instance(0, *scope, agent));
    DOMAINS.into_iter().find(has_all).unwrap_or(Scope::Device)
}

/// Whether the program has barriers that may make atomics of several workgroups synchronise, or those of
/// invocations that wait for nobody.
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

impl Context<'_> {
    /// Where every search begins. A new one: all of it will be written to.
    pub(super) fn first(&self) -> State {
        State::new(self.program, self.dispatch, self.settings)
    }

    /// The same, for many searches that write to parts of it.
    pub(super) fn shared_first(&self) -> &State {
        self.shared_first.get_or_init(|| self.first())
    }

    /// The threads that were asked for; `None` for those that everybody shares.
    pub(super) fn pool(&self) -> Option<&ThreadPool> {
        let build = || match self.settings.jobs {
            0 => None,
            jobs => ThreadPoolBuilder::new().num_threads(jobs).build().ok(),
        };
        self.pool.get_or_init(build).as_ref()
    }

    /// The same, if threads were needed.
    pub(super) fn started_pool(&self) -> Option<Option<&ThreadPool>> {
        self.pool.get().map(Option::as_ref)
    }
}

/// Whether there may be no execution: the program says of some that they do not count, or what synchronizes on the
/// host's word contradicts what does by barriers.
fn may_discard(program: &Program, dispatch: &Dispatch) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    !dispatch.system_synchronizes_with.is_empty() || code.any(|inst| matches!(inst.op, Op::Require { .. }))
}

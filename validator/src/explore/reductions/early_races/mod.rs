//! Races among plain accesses, found before the search learns everything that communicates.
//!
//! Where nothing but barriers of whole workgroups synchronises, two accesses are ordered by the barriers that
//! their own two invocations pass, whatever the others do and whatever reads return. The first round runs
//! every invocation on what memory holds: one interleaving, and so an execution. Where it notes a word
//! whose accesses no barrier seems to order, it is run again, with the accesses of that word and the
//! barriers as events, and the model is asked about pairs of invocations alone: a race of a thousand
//! invocations needs no graph of all of them. What is not found so is left to the search.

pub(crate) mod notes;

use crate::event::{Order, Scope};
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::search::{self, round};
use crate::explore::settings::{Races, Settings};
use crate::explore::state::{Context, Found};
use crate::ir::{BarrierOp, Op, Program};

/// A race that the interleaving of the first round has; nothing where that cannot be told cheaply.
pub(crate) fn race(context: &Context, knowledge: &Knowledge, first: &Found) -> Option<Found> {
    let Settings { suspects_from, stop_at_undefined, races, axioms, shortcuts, .. } = *context.settings;
    let applies = stop_at_undefined && races == Races::Undefined && axioms && shortcuts;
    if !applies || knowledge.has_units() || context.dispatch.places.len() < suspects_from {
        return None;
    }
    if !context.dispatch.system_synchronizes_with.is_empty() || !only_workgroups_wait(context.program) {
        return None;
    }
    let knowledge = knowledge.with_race_candidates(first.discoveries.suspect?);
    let found = search::run(&round::new(context, &knowledge));
    (!found.undefined.is_empty()).then_some(found)
}

/// Whether nothing synchronises, makes available or makes visible but barriers of whole workgroups and plain accesses.
fn only_workgroups_wait(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.all(|inst| match &inst.op {
        Op::Barrier(BarrierOp::Control { execution, .. }) => *execution == Scope::Workgroup,
        // Invocations need not execute the same ones, so that a third may order what two do.
        Op::Barrier(BarrierOp::Memory { semantics, .. }) => semantics.order == Order::Relaxed,
        Op::Barrier(BarrierOp::Numbered(_) | BarrierOp::Device(_)) => false,
        op => !matches!(op, Op::Atomic(_)),
    })
}

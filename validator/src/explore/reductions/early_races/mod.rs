//! Early races: races of plain accesses that are found before the search.
//!
//! Suppose that only barriers of whole workgroups synchronize. Then two accesses are ordered by the barriers that their
//! own two invocations pass, whatever the other invocations do and whatever reads return. The first path runs every
//! invocation on the contents of memory. It is one interleaving, and so it is an execution. If it notes a word whose
//! accesses no barrier seems to order, it is run again. This time the accesses of that word and the barriers are
//! events, and the model judges pairs of invocations alone ([`notes`]): a race of a thousand invocations needs no graph
//! of all of them. Races that are not found in this way are left to the search.
//!
//! For example, 1,024 invocations add to `sum` without atomics. The second of them races with the first.
//!
//! The search ends with that race. Its witness has the accesses of two invocations to one word, and their barriers. To
//! find the races of other interleavings from one interleaving is the idea of predictive race detection (Said, Wang,
//! Yang, Sakallah, "Generating data race witnesses by an SMT-based analysis", NFM 2011). To consider two threads of
//! many is that of GPUVerify (Betts and others, OOPSLA 2012).

pub(crate) mod notes;

use crate::event::{Order, Scope};
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::{Reduction, Search};
use crate::explore::settings::{Races, Settings};
use crate::explore::state::{Context, Found};
use crate::ir::{BarrierOp, Op, Program};

/// The reduction.
pub(crate) struct EarlyRaces;

impl Reduction for EarlyRaces {
    fn name(&self) -> ReductionName {
        ReductionName::EarlyRaces
    }

    fn is_applicable(&self, context: &Context) -> bool {
        let Settings { early_races_from, stop_at_undefined, races, axioms, .. } = *context.settings;
        stop_at_undefined
            && races == Races::Undefined
            && axioms
            && context.dispatch.places.len() >= early_races_from
            && context.dispatch.system_synchronizes_with.is_empty()
            && only_workgroups_wait(context.program)
    }

    fn ahead(&self, _: &Context, knowledge: &Knowledge, first: &Found, search: Search) -> Option<Found> {
        if knowledge.has_units() {
            return None;
        }
        let found = search(&knowledge.with_race_candidates(first.discoveries.race_candidate?));
        (!found.undefined.is_empty()).then_some(found)
    }
}

/// Whether nothing but barriers of whole workgroups synchronizes, and nothing but these barriers and plain accesses
/// makes available or visible.
fn only_workgroups_wait(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.all(|inst| match &inst.op {
        Op::Barrier(BarrierOp::Control { execution, .. }) => *execution == Scope::Workgroup,
        // Two invocations need not execute the same memory barriers, so a third invocation could order what these
        // two do.
        Op::Barrier(BarrierOp::Memory { semantics, .. }) => semantics.order == Order::Relaxed,
        Op::Barrier(BarrierOp::Numbered(_) | BarrierOp::Device(_)) => false,
        op => !matches!(op, Op::Atomic(_)),
    })
}

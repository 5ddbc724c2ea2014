//! Barrier epochs: accesses that barriers of their workgroup order are no events.
//!
//! Two accesses of one workgroup are location-ordered under two conditions. First, a control barrier lies between them
//! that is both a release and an acquire barrier for their storage class, at Workgroup scope or wider. Second, its
//! semantics or the accesses themselves perform the availability and visibility operations. The barriers that a
//! workgroup has passed are counted ([`epoch`]), and each word remembers which invocations used it last, and when
//! ([`uses`]). Words whose accesses are all ordered in this way need no events. The check errs on one side only:
//! accesses that it does not recognise as ordered become events, which the model judges.
//!
//! For example, 64 invocations each write `tile[id]`, pass a barrier, and read `tile[id + 1]`. The barrier orders each
//! write before the read, and the execution graph stays empty.
//!
//! The search has fewer events and visits the same executions. A witness does not have these accesses in its graph; an
//! explanation runs the invocations again and sees them. The idea is that of barrier intervals in verifiers of GPU
//! kernels (Betts, Chong, Donaldson, Qadeer, Thomson, "GPUVerify: a verifier for GPU kernels", OOPSLA 2012).

pub(crate) mod agents;
pub(crate) mod epoch;
pub(crate) mod uses;

use std::sync::Arc;

use crate::event::{Scope, Wait};
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::Reduction;
use crate::explore::state::{Context, Round, State, Status};

/// The reduction.
pub(crate) struct BarrierEpochs;

impl Reduction for BarrierEpochs {
    fn name(&self) -> ReductionName {
        ReductionName::BarrierEpochs
    }

    /// Under other models no epoch ends.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.model.orders_by_barriers()
    }
}

/// Starts the next epoch of each workgroup of which all invocations pass a barrier.
pub(crate) fn begin_epoch(round: &Round, state: &mut State, members: &[usize]) {
    if !round.context.uses(ReductionName::BarrierEpochs) {
        return;
    }
    let Some(Status::Barrier(arrived)) = members.first().map(|index| state.threads[*index].status.clone())
    else {
        return;
    };
    if arrived.execution < Scope::Workgroup || arrived.waits != Wait::Everybody {
        return;
    }
    let workgroup_of = |index: &usize| round.context.dispatch.places[*index].workgroup as usize;
    let mut passing: Vec<usize> = members.iter().map(workgroup_of).collect();
    passing.dedup();
    for workgroup in passing {
        if let Some(epoch) = Arc::make_mut(&mut state.epochs).get_mut(workgroup) {
            epoch.pass(&arrived);
        }
    }
}

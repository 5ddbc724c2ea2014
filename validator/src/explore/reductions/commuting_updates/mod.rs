//! Commuting updates: atomic updates that leave the same value in any order are no events.
//!
//! An update needs no event if its result is not used, if all updates of the word since it was written perform the same
//! operation, and if nothing else accesses the word in between ([`updates`]). Such updates may synchronize with each
//! other, by release sequences and by barriers around them. That does not hide a race. Suppose that two accesses are
//! ordered only by such synchronization. There is an execution in which the updates that follow from the one access
//! come after all updates that lead to the other one, and in that execution the accesses are not ordered.
//!
//! For example, 64 invocations perform `atomicAdd(histogram[value % 4], 1)`. All orders of the 64 updates leave the
//! same counts, and one of them is executed.
//!
//! The search has fewer events and orders. If it ends with only few updates whose order was left open, they become
//! events of another round ([`order_updates`]), so that a witness has them. If there are many, a witness does not have
//! them. Such updates are the independent operations of partial-order reduction (Godefroid, "Partial-Order Methods for
//! the Verification of Concurrent Systems", LNCS 1032, 1996).

pub(crate) mod updates;

use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::Reduction;
use crate::explore::state::{Context, Found, Round, State};

/// The reduction.
pub(crate) struct CommutingUpdates;

impl Reduction for CommutingUpdates {
    fn name(&self) -> ReductionName {
        ReductionName::CommutingUpdates
    }

    /// Not applicable if the model has an order of all operations, which may depend on the order of updates.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.model.is_local()
    }
}

/// Whether updates may stay without an order. Fences can make them synchronize once there are events.
pub(crate) fn may_stay_unordered(round: &Round) -> bool {
    round.context.uses(ReductionName::CommutingUpdates)
        && (!round.knowledge.has_units() || !round.context.has_fences)
}

/// Makes updates whose order was left open events of the next round, if there are only few.
pub(crate) fn order_updates(state: &State, found: &mut Found) -> bool {
    let few = state.contents.few_unordered();
    found.discoveries.shared.extend(few);
    found.stop |= !few.is_empty();
    !few.is_empty()
}

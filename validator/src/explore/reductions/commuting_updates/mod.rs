//! Commuting updates: atomic updates that leave the same value in any order are no events.
//!
//! An update needs no event if its result is not used, all that update the word since it was written do the same
//! operation, and nothing else touches the word in between ([`updates`]). Such updates may synchronise with each other, by
//! release sequences and barriers around them; but whatever is not ordered without that is not ordered in the execution
//! where the updates that the one access leads to come after all that lead to the other.
//!
//! For example, 64 invocations do `atomicAdd(histogram[value % 4], 1)`: the orders of the 64 updates leave the same counts,
//! and one of them is executed.
//!
//! A search does with fewer events and orders. Where it ends with few updates whose order was left open, they are events of
//! another round ([`order_updates`]), so that a witness has them; where there are many, a witness does not. These are the
//! independent operations of partial-order reduction (Godefroid, "Partial-Order Methods for the Verification of
//! Concurrent Systems", LNCS 1032, 1996).

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

    /// An order of all operations may depend on that of updates.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.model.is_local()
    }
}

/// Whether updates may stay without an order. Fences make them synchronise, once there are events for that.
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

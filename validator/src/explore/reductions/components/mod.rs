//! Components: groups of invocations that do not communicate with each other are searched one by one, each as if the
//! others did nothing. The executions of the whole are all combinations of theirs.
//!
//! For example, two pairs of invocations pass a message each, and each pair has three executions. The search visits six
//! executions, not nine. This is the decomposition into connected components that is known from counting models
//! (Bayardo, Pehoushek, "Counting models using connected components", AAAI 2000). Here the components are learned.
//!
//! The groups are learned in rounds like all other knowledge ([`groups`]). The first partition is that of the last
//! scout's path: invocations that access an event of one word, or that may stand at one barrier or subgroup operation,
//! are in one group. Then the search of each group notes every word that it touches. If two groups touch the same word,
//! and one of them writes it, they are united, and there is another round. This finds all communication. Proof: take an
//! execution of the whole and, in the order of the search, its first access by which a group communicates with another
//! one. Up to that access everything that the invocations of the group read is their own, so the search of the group
//! alone reaches the access.
//!
//! The search of a group also notes what it decides alone but the search of the whole might decide otherwise: that a
//! cycle of load buffering is closed which invocations of another group may join by writes that were not seen.
//!
//! A witness of the whole consists of one witness for each group ([`product`]).

pub(crate) mod contact;
pub(crate) mod factors;
pub(crate) mod groups;
pub(crate) mod product;

use crate::explore::reductions::components::groups::Groups;
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::Reduction;
use crate::explore::state::{Context, Found};

/// The reduction.
pub(crate) struct Components;

impl Reduction for Components {
    fn name(&self) -> ReductionName {
        ReductionName::Components
    }

    /// Not applicable if parts of the program may depend on each other by more than memory.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.axioms && context.settings.remark.is_none() && !context.may_discard
    }

    fn divide(&self, context: &Context, last: &Found) -> Option<Groups> {
        Groups::of_scout(context, last)
    }

    fn hand_over(&self, context: &Context, found: &mut Found) {
        product::combine(found, context);
    }
}

//! Components: groups of invocations between which nothing passes are searched one by one, each as if the others did
//! nothing. The executions of the whole are all combinations of theirs.
//!
//! For example, two pairs of invocations pass a message each, with three executions a pair: six are visited, not nine.
//! That is the decomposition into connected components, known from counting models (Bayardo, Pehoushek, "Counting models
//! using connected components", AAAI 2000), with components that are learned.
//!
//! Which groups there are is learned like everything else ([`groups`]). The first partition is read off the path of the
//! last scout: invocations that access an event of one word, or may stand at one barrier or subgroup operation, are of
//! one group. Then each group's search notes every word that it touches. Where another group touches it, too, and one of
//! them writes, they are one, and there is another round. That finds all: take an execution of the whole, and in the
//! search's order its first access by which a group meets another one. Up to there all that its invocations read is their
//! own, so that the search of their group alone comes to it.
//!
//! What a group decides alone that the search of the whole might decide otherwise is noted, too: that a cycle of load
//! buffering is closed, where others may join it by writes that nobody has seen.
//!
//! A witness of the whole is one witness of each group ([`product`]).

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

    /// Parts of the program may not depend on each other by more than memory.
    fn is_applicable(&self, context: &Context) -> bool {
        context.settings.axioms && context.settings.remark.is_none() && !context.may_discard
    }

    fn divide(&self, context: &Context, last: &Found) -> Option<Groups> {
        Groups::of_scout(context, last)
    }

    fn hand_over(&self, context: &Context, found: &mut Found) {
        product::put_together(found, context);
    }
}

//! Reductions: ways to visit fewer executions, or smaller ones, than there are.
//!
//! Each reduction has a folder or a file of its own. The head of it gives the idea, an example, the effect on the
//! search, what the reduction hands to a witness, and the paper. Each implements [`Reduction`] and has a switch
//! ([`names`]). Reductions do not know the search. The search asks them, in the order of [`all::REDUCTIONS`], at four
//! times: before a round that visits everything, where a round begins, where a path would branch, and at the end.
//!
//! Some parts of reductions belong to a data structure and work below these calls, behind the same switches. Barrier
//! epochs and commuting updates decide which accesses are events, stale reads decide which sources a read has, and an
//! [`orbit`](symmetry::orbit) says which executions a complete one stands for.

pub(crate) mod all;
pub(crate) mod barrier_epochs;
pub(crate) mod commuting_updates;
pub(crate) mod components;
pub(crate) mod dead_ends;
pub(crate) mod early_races;
pub(crate) mod independent_suffixes;
pub(crate) mod merging;
pub(crate) mod names;
pub(crate) mod stale_reads;
pub(crate) mod symmetry;

use crate::explore::facts::knowledge::Knowledge;
use crate::explore::reductions::components::groups::Groups;
use crate::explore::reductions::merging::known::Trail;
use crate::explore::reductions::names::ReductionName;
use crate::explore::search::parts::SearchPosition;
use crate::explore::state::{Context, Found, Round, State};

/// A function that searches the whole dispatch once with some knowledge.
pub(crate) type Search<'s> = &'s dyn Fn(&Knowledge) -> Found;

/// A path that would branch.
pub(crate) struct Branching<'b, 't> {
    pub(crate) state: &'b mut State,
    /// The share of the whole tree that the path makes out.
    pub(crate) share: f64,
    pub(crate) place: Option<&'b SearchPosition<'b>>,
    /// The states that this branch of a batch has reached, if states are compared.
    pub(crate) trail: Option<&'b mut Trail<'t>>,
}

/// What a reduction did with a path that would branch.
pub(crate) enum Reduced {
    /// Nothing: the path branches.
    No,
    /// The executions of the path need no visit. The path ends.
    Ended,
    /// The executions of the path were visited, and its share of the tree was counted.
    Visited,
}

/// A reduction.
pub(crate) trait Reduction: Sync {
    /// The name of its switch.
    fn name(&self) -> ReductionName;

    /// Whether settings, program and dispatch permit the reduction. The switch is checked elsewhere
    /// ([`all::applicable`]).
    fn is_applicable(&self, context: &Context) -> bool;

    /// Called after the first path and before the search. If the reduction finds all that there is to find, it returns
    /// it.
    fn ahead(&self, _: &Context, _: &Knowledge, _first: &Found, _: Search) -> Option<Found> {
        None
    }

    /// Called after the last search of one path. It returns a division of the invocations into groups that are searched
    /// one by one.
    fn divide(&self, _: &Context, _last: &Found) -> Option<Groups> {
        None
    }

    /// Prepares what the reduction keeps in a round of all invocations, or of the `members` of one group.
    fn prepare(&self, _: &mut Round, _members: Option<&[usize]>) {}

    /// Called where a path would branch.
    fn at_branch(&self, _: &Round, _: &mut Branching, _: &mut Found) -> Reduced {
        Reduced::No
    }

    /// Called at the end. It turns what the reduction kept in a form of its own into outcomes with their witnesses.
    fn hand_over(&self, _: &Context, _: &mut Found) {}
}

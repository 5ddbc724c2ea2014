//! Reductions: ways to visit fewer executions, or smaller ones, than there are.
//!
//! Each has a folder or a file of its own, whose head gives the idea, an example, what it does to a search, what it hands to
//! a witness, and the paper. Each implements [`Reduction`] and has a switch ([`names`]). Reductions do not know the search:
//! it asks them, in the order of [`all::REDUCTIONS`], ahead of a round that visits everything, where a round begins, where a
//! path would branch, and in the end.
//!
//! What belongs to a data structure works below these calls, behind the same switches: barrier epochs and commuting
//! updates decide which accesses are events at all, stale reads which sources a read has, and an [`orbit`](symmetry::orbit)
//! which executions a complete one stands for.

pub(crate) mod all;
pub(crate) mod barrier_epochs;
pub(crate) mod commuting_updates;
pub(crate) mod components;
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

/// Searches the whole dispatch once, as the knowledge says.
pub(crate) type Search<'s> = &'s dyn Fn(&Knowledge) -> Found;

/// Where a path would branch.
pub(crate) struct Branching<'b, 't> {
    pub(crate) state: &'b mut State,
    /// What the path makes out of the whole tree.
    pub(crate) share: f64,
    pub(crate) place: Option<&'b SearchPosition<'b>>,
    /// The states that this branch of a batch came to, where they are compared.
    pub(crate) trail: Option<&'b mut Trail<'t>>,
}

/// What became of a path that would branch.
pub(crate) enum Reduced {
    /// Nothing: it branches.
    No,
    /// Its executions need no visit: the path ends.
    Ended,
    /// Its executions were visited, and its share of the tree was counted.
    Visited,
}

/// A reduction.
pub(crate) trait Reduction: Sync {
    /// The name of its switch.
    fn name(&self) -> ReductionName;

    /// What makes it applicable, as far as settings, program and dispatch say. It need not ask for its switch
    /// ([`all::applicable`]).
    fn is_applicable(&self, context: &Context) -> bool;

    /// What it finds after the first path and ahead of the search: all that there is to find, if it finds that.
    fn ahead(&self, _: &Context, _: &Knowledge, _first: &Found, _: Search) -> Option<Found> {
        None
    }

    /// How the invocations are divided, to search each group by itself, after the last search of one path.
    fn divide(&self, _: &Context, _last: &Found) -> Option<Groups> {
        None
    }

    /// What a round of all invocations, or of the `members` of one group, keeps for it.
    fn prepare(&self, _: &mut Round, _members: Option<&[usize]>) {}

    /// What it does where a path would branch.
    fn at_branch(&self, _: &Round, _: &mut Branching, _: &mut Found) -> Reduced {
        Reduced::No
    }

    /// Makes outcomes with their witnesses of what it kept in parts.
    fn hand_over(&self, _: &Context, _: &mut Found) {}
}

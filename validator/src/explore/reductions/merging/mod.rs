//! Merging: states with the same future are explored once.
//!
//! Two orders of events may lead to states from which the same follows: the same invocations stand at the same places
//! with the same values, memory has the same contents, and the graphs leave the same things open
//! ([`future`](crate::model::future)). So each state at which a search branches is turned into a number of 128 bits
//! ([`states`]), and a path that reaches a known number ends there. `executions` then counts the executions that were
//! visited.
//!
//! For example, three invocations pass a lock, in six orders. Once two of them have passed, only three different states
//! are left for the third one.
//!
//! This is stateful model checking as of sequential programs (Holzmann, "The model checker SPIN", TSE 1997, with its
//! hashed states). Here the state of memory is the part of the execution graph that still matters. As there, merging
//! may lose a path that never ends, namely one that leads from a state to a state with the same future. So every step
//! from one number to the next is kept ([`known`]). If these steps have a cycle, the round is repeated without merging,
//! and lassos ([`spinning`](crate::explore::branch::spinning)) are found as usual.
//!
//! A witness is an execution that was visited, without changes.

pub(crate) mod known;
pub(crate) mod standing;
pub(crate) mod states;

use crate::behaviour::PathEnd;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::program::aliasing::Declarations;
use crate::explore::program::may_write::MayWrite;
use crate::explore::program::units::UnitKey;
use crate::explore::reductions::merging::known::Comparison;
use crate::explore::reductions::names::ReductionName;
use crate::explore::reductions::{Branching, Reduced, Reduction};
use crate::explore::state::{Context, Found, Round};
use crate::ir::InstId;

/// The reduction.
pub(crate) struct Merging;

impl Reduction for Merging {
    fn name(&self) -> ReductionName {
        ReductionName::Merging
    }

    fn is_applicable(&self, context: &Context) -> bool {
        let Context { settings, dispatch, program, .. } = *context;
        settings.axioms
            && settings.remark.is_none()
            && dispatch.system_synchronizes_with.is_empty()
            && !program.modes.tangles
            && !context.may_discard
            && Declarations::new(dispatch).are_single()
    }

    fn prepare(&self, round: &mut Round, _: Option<&[usize]>) {
        let Round { context, knowledge, .. } = *round;
        let applies = knowledge.has_units()
            && !knowledge.orders_matter
            && !knowledge.futures_form_cycle
            && knowledge.race_candidate.is_none();
        round.merging = applies.then(|| comparison(context, knowledge));
    }

    fn at_branch(&self, round: &Round, at: &mut Branching, found: &mut Found) -> Reduced {
        let Some(trail) = at.trail.take() else { return Reduced::No };
        if !states::was_there(round, at.state, trail, found) {
            return Reduced::No;
        }
        found.paths.end(PathEnd::SameFuture);
        Reduced::Ended
    }
}

/// What a round must know to compare states.
fn comparison<'a>(context: &'a Context<'a>, knowledge: &Knowledge) -> Comparison<'a> {
    // Where an access may lead depends only on the workgroup of the invocation.
    let of_unit = |accesses: &MayWrite, key: &UnitKey| {
        let word = (key.0, key.1 / 4 * 4);
        let first = context.workgroups.iter().filter_map(|members| members.first());
        let mut all: Vec<InstId> =
            first.flat_map(|index| accesses.of_word(context.dispatch, *index, word)).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    Comparison {
        pauses: &context.pauses,
        racing: knowledge.units().iter().map(|key| of_unit(&context.plain, key)).collect(),
        looking: knowledge.units().iter().map(|key| of_unit(&context.looking, key)).collect(),
        meets: !context.meetings.is_empty(),
    }
}

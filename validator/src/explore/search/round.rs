//! The kinds of rounds: a round of everything, of one path (a scout), and of one group of invocations.

use crate::explore::facts::knowledge::Knowledge;
use crate::explore::reductions::all;
use crate::explore::reductions::stale_reads::known_retries::{IdleTurns, Turns};
use crate::explore::state::outlooks::Outlooks;
use crate::explore::state::{Context, Round};

pub(crate) fn new<'a>(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Round<'a> {
    prepared(plain(context, knowledge), None)
}

/// A round with what the reductions keep for it.
fn prepared<'a>(mut round: Round<'a>, members: Option<&[usize]>) -> Round<'a> {
    all::used(round.context).for_each(|reduction| reduction.prepare(&mut round, members));
    round
}

fn plain<'a>(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Round<'a> {
    Round {
        context,
        knowledge,
        scouts: false,
        in_group: false,
        symmetry: None,
        merging: None,
        outlooks: Outlooks::default(),
        turns: Turns::default(),
        idle_turns: IdleTurns::default(),
    }
}

/// A round that follows one path.
pub(crate) fn scout<'a>(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Round<'a> {
    Round { scouts: true, ..plain(context, knowledge) }
}

/// A round of a group of invocations, as if the others did nothing.
pub(crate) fn of_group<'a>(
    context: &'a Context<'a>,
    knowledge: &'a Knowledge,
    members: &[usize],
) -> Round<'a> {
    prepared(Round { in_group: true, ..plain(context, knowledge) }, Some(members))
}

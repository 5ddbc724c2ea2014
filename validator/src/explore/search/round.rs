//! The kinds of a round: of everything, of one path (a scout), and of one component of the invocations.

use crate::explore::branch::outlooks::Outlooks;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::reductions::stale_reads::known_retries::{IdleTurns, Turns};
use crate::explore::reductions::{merging, symmetry};
use crate::explore::state::{Context, Round};

pub(crate) fn new<'a>(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Round<'a> {
    let symmetry = symmetry::find(context, knowledge, None);
    let merging = merging::new(context, knowledge);
    Round { symmetry, merging, ..plain(context, knowledge) }
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

/// A search of one path.
pub(crate) fn scout<'a>(context: &'a Context<'a>, knowledge: &'a Knowledge) -> Round<'a> {
    Round { scouts: true, ..plain(context, knowledge) }
}

/// A search of a group of invocations, apart from the others.
pub(crate) fn of_group<'a>(
    context: &'a Context<'a>,
    knowledge: &'a Knowledge,
    members: &[usize],
) -> Round<'a> {
    let symmetry = symmetry::find(context, knowledge, Some(members));
    let merging = merging::new(context, knowledge);
    Round { in_group: true, symmetry, merging, ..plain(context, knowledge) }
}

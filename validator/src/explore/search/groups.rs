//! The search of groups of invocations, one after the other ([`components`](crate::explore::reductions::components)).

use crate::behaviour::Bound;
use crate::explore::context;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::reductions::components::groups::Groups;
use crate::explore::reductions::components::product;
use crate::explore::search::{self, round};
use crate::explore::state::found;
use crate::explore::state::{Context, Found};

/// Explores each group by itself.
pub(crate) fn run(groups: &Groups, context: &Context, knowledge: &Knowledge) -> Found {
    let groups = groups.members();
    let share = 1.0 / groups.len() as f64;
    let mut whole = Found::default();
    // An execution of the whole has the instructions of one execution of each group.
    let mut spent = 0_u64;
    let mut counts = true;
    context.budget.take_longest();
    for members in groups {
        let round = round::of_group(context, knowledge, &members);
        let mut found = search::run_from(&round, context::shared_first(context).only(&members), share);
        let factor = product::taken_from(&mut found, members);
        // The rest of what could be learned does not depend on the remaining groups.
        let ends = !found.undefined.is_empty() && found.stop || context.budget.stopped().is_some();
        spent = spent.saturating_add(context.budget.take_longest());
        // Other threads may have gone on behind the point at which the search ended.
        counts &= !found.stop;
        found::merge(&mut whole, found);
        whole.factors.push(factor);
        if ends {
            break;
        }
    }
    if counts && spent > context.settings.max_instructions {
        whole.bounded.get_or_insert(Bound::MaxInstructions);
    }
    whole
}

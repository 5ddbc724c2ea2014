//! What a search found.

use crate::behaviour::{Behaviours, Bound, Bug, Undecided};
use crate::explore::context;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::state::{Context, Found};

pub(crate) fn merge(found: &mut Found, other: Found) {
    found.outcomes.append(other.outcomes);
    for (undefined, witness) in other.undefined {
        found.undefined.entry(undefined).or_insert(witness);
    }
    found.factored.merge(other.factored);
    found.executions += &other.executions;
    found.explored += other.explored;
    found.paths.merge(&other.paths);
    found.judged_anew += other.judged_anew;
    found.overfed |= other.overfed;
    found.bounded = found.bounded.take().or(other.bounded);
    found.undecided.extend(other.undecided);
    found.inexact.extend(other.inexact);
    found.discoveries.merge(other.discoveries);
    for (invocation, position) in other.first_decisions {
        found.first_decisions.entry(invocation).or_insert(position);
    }
    found.stop |= other.stop;
    found.at_target |= other.at_target;
}

/// Notes that the growing relations and the declared ones disagree.
pub(crate) fn disagree(found: &mut Found, about: &'static str) {
    found.undecided.insert(Undecided::Bug(Bug::Disagreement { about }));
}

pub(crate) fn into_behaviours(found: Found, context: &Context, knowledge: &Knowledge) -> Behaviours {
    let capped = knowledge.capped.then_some(Bound::SpeculatedValues);
    // The pool exists only if the search needed threads.
    let outcomes = match context::started_pool(context) {
        None => found.outcomes.into_sorted(false),
        Some(None) => found.outcomes.into_sorted(true),
        Some(Some(pool)) => pool.install(|| found.outcomes.into_sorted(true)),
    };
    Behaviours {
        outcomes,
        undefined: found.undefined.into_iter().collect(),
        product: found.product,
        executions: found.executions,
        explored: found.explored,
        paths: found.paths,
        bounded: found.bounded.or(capped),
        undecided: found.undecided.into_iter().collect(),
        inexact: found.inexact,
        produced: knowledge.produced_values(context.dispatch),
        ends_at_target: found.at_target,
        speculates: !found.discoveries.wanted_values.is_empty(),
        ..Behaviours::default()
    }
}

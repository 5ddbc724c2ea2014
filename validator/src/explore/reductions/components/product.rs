//! Combines what the searches of groups found into a product of outcomes.
//!
//! For example, one group has 3 outcomes and another one has 5. The product keeps two lists of 3 and 5 outcomes. It
//! becomes a list of 15 outcomes only if they are few, or if something asks for a list.

use std::ops::Range;
use std::sync::Arc;

use crate::behaviour::{Count, Normal, Part, Permuted, Product};
use crate::dispatch::Dispatch;
use crate::explore::reductions::components::factors::Factor;
use crate::explore::reductions::symmetry::factored_form::Factored;
use crate::explore::state::outcomes::Outcomes;
use crate::explore::state::{Context, Found};

/// The factored forms, if they are to be kept and no outcome is in two of them. Otherwise their outcomes are listed,
/// and there are no forms left.
fn listed_unless(
    factored: Factored,
    is_kept: bool,
    outcomes: &mut Outcomes,
    context: &Context,
) -> Vec<Permuted> {
    let Factored(forms) = factored;
    let is_apart =
        |(index, one): (usize, &Normal)| forms.keys().take(index).all(|other| one.is_apart_from(other));
    if is_kept && forms.keys().enumerate().all(is_apart) {
        return forms.into_values().collect();
    }
    for one in forms.values() {
        one.each(|outcome, witness| {
            let new = outcomes.note(outcome, witness.executions, || witness.clone());
            !context.budget.store(new.map_or(0, |witness| outcome.stored_bytes(witness)))
        });
    }
    Vec::new()
}

/// Combines the factored forms and the listed outcomes into a product of one part, or lists all outcomes.
pub(crate) fn combine_factored(found: &mut Found, context: &Context) {
    let factored = std::mem::take(&mut found.factored);
    let is_kept = factored.count() > context.settings.factored_from;
    let permuted = listed_unless(factored, is_kept, &mut found.outcomes, context);
    if !permuted.is_empty() {
        let outcomes = std::mem::take(&mut found.outcomes);
        found.product = Some(Arc::new(of_all(context.dispatch, outcomes, permuted)));
    }
}

/// The number of factored forms, and of outcomes beside them, up to which those of several groups are combined.
const MAX_COMBINED: usize = 1 << 10;

/// Takes what belongs to the group from what its search found.
pub(crate) fn taken_from(found: &mut Found, members: Vec<usize>) -> Factor {
    Factor {
        members,
        outcomes: std::mem::take(&mut found.outcomes),
        factored: std::mem::take(&mut found.factored),
        executions: std::mem::take(&mut found.executions),
        touched: std::mem::take(&mut found.discoveries.touched),
        closed: std::mem::take(&mut found.discoveries.closed),
        waits: !found.discoveries.wanted_writers.is_empty(),
    }
}

/// The bytes of an outcome's memory that the group writes, by object.
fn owned(factor: &Factor, dispatch: &Dispatch) -> Vec<(usize, Range<usize>)> {
    let mut owned = Vec::new();
    let observed = dispatch.objects.iter().filter(|object| object.observed);
    let written = factor.touched.written();
    for (index, object) in observed.enumerate() {
        let start = object.view.unwrap_or(0) as usize;
        let end = start + object.initial.len();
        let first = (object.memory, (start / 4 * 4) as u32);
        for (_, word) in written.range(first..(object.memory + 1, 0)) {
            let (from, to) = ((*word as usize).max(start), (*word as usize + 4).min(end));
            if from < to {
                owned.push((index, from - start..to - start));
            }
        }
    }
    owned
}

/// Combines what the groups found, if they were explored one by one. The outcomes are multiplied out unless there are
/// too many.
pub(crate) fn combine(found: &mut Found, context: &Context) {
    let factors = std::mem::take(&mut found.factors);
    let members: usize = factors.iter().map(|factor| factor.members.len()).sum();
    // If a search ended early, groups may be missing.
    if factors.is_empty() || members < context.dispatch.places.len() {
        return;
    }
    found.executions =
        factors.iter().fold(Count::from(1_u64), |product, factor| product * &factor.executions);
    // All outcomes of the product, with the factored forms listed.
    let all = |factor: &Factor| factor.factored.count() + &factor.outcomes.count();
    let all = factors.iter().fold(Count::from(1_u64), |product, factor| product * &all(factor));
    let is_kept = all > context.settings.factored_from;
    let part_of = |mut factor: Factor| {
        let owned = owned(&factor, context.dispatch);
        let permuted = listed_unless(factor.factored, is_kept, &mut factor.outcomes, context);
        part(factor.members, factor.outcomes, permuted, owned)
    };
    let product = Product {
        parts: factors.into_iter().map(part_of).collect(),
        initial: initial(context.dispatch),
        invocations: context.dispatch.places.len(),
    };
    let is_factored = product.parts.iter().any(|part| !part.permuted.is_empty());
    if let Some(one) = is_factored.then(|| product.combined(MAX_COMBINED)).flatten() {
        found.product = Some(Arc::new(one));
        return;
    }
    if product.count().saturating() > context.settings.multiply_out {
        found.product = Some(Arc::new(product));
        return;
    }
    let mut at_target = false;
    let outcomes = product.multiply_out(|outcome, bytes| {
        at_target = bytes > 0 && context.target.is_some_and(|target| target(outcome));
        !context.budget.store(bytes) && !at_target
    });
    found.outcomes = outcomes.into();
    found.at_target = at_target;
}

/// A product whose only part contains all invocations.
fn of_all(dispatch: &Dispatch, outcomes: Outcomes, permuted: Vec<Permuted>) -> Product {
    let initial = initial(dispatch);
    let invocations = dispatch.places.len();
    let owned = initial.iter().enumerate().map(|(object, bytes)| (object, 0..bytes.len())).collect();
    let part = part((0..invocations).collect(), outcomes, permuted, owned);
    Product { parts: vec![part], initial, invocations }
}

fn part(
    members: Vec<usize>,
    outcomes: Outcomes,
    permuted: Vec<Permuted>,
    owned: Vec<(usize, Range<usize>)>,
) -> Part {
    let mut part = Part::new(members, outcomes.into_sorted(false), owned);
    // An outcome that is both listed and in a form is counted once.
    part.outcomes.retain(|(outcome, _)| !permuted.iter().any(|permuted| permuted.contains(outcome)));
    part.permuted = permuted;
    part
}

/// The initial contents of observed memory.
fn initial(dispatch: &Dispatch) -> Vec<Vec<crate::value::Byte>> {
    let spaces = dispatch.initial_memory();
    let observed = dispatch.objects.iter().filter(|object| object.observed);
    observed
        .map(|object| {
            let space = spaces.get(object.memory as usize).map_or(&[][..], Vec::as_slice);
            let start = (object.view.unwrap_or(0) as usize).min(space.len());
            space[start..(start + object.initial.len()).min(space.len())].to_vec()
        })
        .collect()
}

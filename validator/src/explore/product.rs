//! What the searches of groups found, put together.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::context::Context;
use super::factored::Factored;
use super::found::Found;
use super::groups::Touched;
use super::knowledge::UnitKey;
use super::outcomes::Outcomes;
use crate::behaviour::{Count, Part, Permuted, Product};
use crate::dispatch::Dispatch;

/// Factored forms, and outcomes beside them, that those of several groups are put together to.
const MAX_COMBINED: usize = 1 << 10;

/// What one group's search found.
pub(super) struct Factor {
    /// Its invocations, ascending.
    pub(super) members: Vec<usize>,
    /// As if the others did nothing.
    outcomes: Outcomes,
    factored: Factored,
    executions: Count,
    pub(super) touched: Touched,
    /// Words that reads waited for where a cycle of load buffering was closed.
    pub(super) closed: BTreeSet<UnitKey>,
    /// Some read may have waited.
    pub(super) waits: bool,
}

impl Factor {
    /// Takes what is the group's own out of what was found.
    pub(super) fn taken_from(found: &mut Found, members: Vec<usize>) -> Factor {
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

    /// The bytes of an outcome's memory that are the group's to write, by object.
    fn owned(&self, dispatch: &Dispatch) -> Vec<(usize, Range<usize>)> {
        let mut owned = Vec::new();
        let observed = dispatch.objects.iter().filter(|object| object.observed);
        let written = self.touched.written();
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
}

impl Found {
    /// Puts what groups found together, where they were explored apart: multiplied out, unless there are too many.
    pub(super) fn put_together(&mut self, context: &Context) {
        let factors = std::mem::take(&mut self.factors);
        let members: usize = factors.iter().map(|factor| factor.members.len()).sum();
        // Where a search ended early, groups may be missing.
        if factors.is_empty() || members < context.dispatch.places.len() {
            return;
        }
        self.executions =
            factors.iter().fold(Count::from(1_u64), |product, factor| product * &factor.executions);
        // Few enough to list together.
        let all = |factor: &Factor| factor.factored.count() + &factor.outcomes.count();
        let all = factors.iter().fold(Count::from(1_u64), |product, factor| product * &all(factor));
        let is_kept = all > context.settings.factored_from;
        let part_of = |mut factor: Factor| {
            let owned = factor.owned(context.dispatch);
            let permuted = factor.factored.listed_unless(is_kept, &mut factor.outcomes, context);
            part(factor.members, factor.outcomes, permuted, owned)
        };
        let product = Product {
            parts: factors.into_iter().map(part_of).collect(),
            initial: initial(context.dispatch),
            invocations: context.dispatch.places.len(),
        };
        let is_factored = product.parts.iter().any(|part| !part.permuted.is_empty());
        if let Some(one) = is_factored.then(|| product.combined(MAX_COMBINED)).flatten() {
            self.product = Some(Arc::new(one));
            return;
        }
        if product.count().saturating() > context.settings.multiply_out {
            self.product = Some(Arc::new(product));
            return;
        }
        let mut at_target = false;
        let outcomes = product.multiply_out(|outcome, bytes| {
            at_target = bytes > 0 && context.target.is_some_and(|target| target(outcome));
            !context.budget.store(bytes) && !at_target
        });
        self.outcomes = outcomes.into();
        self.at_target = at_target;
    }
}

/// A product of one part, that has everybody.
pub(super) fn of_everybody(dispatch: &Dispatch, outcomes: Outcomes, permuted: Vec<Permuted>) -> Product {
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
    // What is in both is counted once.
    part.outcomes.retain(|(outcome, _)| !permuted.iter().any(|permuted| permuted.contains(outcome)));
    part.permuted = permuted;
    part
}

/// What observed memory holds at first.
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

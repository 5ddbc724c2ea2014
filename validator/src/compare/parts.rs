//! Comparison of outcomes that are not multiplied out: part by part, or as factored forms.
//!
//! Suppose that the outcomes of both sides are all combinations of the outcomes of the same groups of
//! invocations, and that the same group writes each byte in both. Then after refines before exactly if each part
//! does: outcomes differ byte by byte and trace by trace, and no part is empty. If one part has an outcome that
//! the part of before lacks, its combination with any outcome of the other parts is an outcome that before lacks.

use std::borrow::Cow;

use super::matching::{Difference, ObjectMatch};
use super::refinement::{hangs_first, Allowed, CompareOptions, Side, Subject, Violation};
use super::ViolationKind;
use crate::behaviour::{Behaviours, End, Outcome, Part, Permuted, Product};
use crate::witness::Witness;

/// Whether outcomes of both sides are told in the same objects.
pub fn has_same_objects(before: Side<'_>, after: Side<'_>) -> bool {
    ObjectMatch::new(before.dispatch, after.dispatch).is_identity()
}

/// Whether two sides can be compared as they are: multiplied out, or part by part.
pub fn are_comparable(before: Side<'_>, after: Side<'_>, options: &CompareOptions) -> bool {
    match (&before.behaviours.product, &after.behaviours.product) {
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
        (Some(old), Some(new)) => {
            // What a part may be forgiven depends on the others.
            let mut parts = old.parts.iter().zip(&new.parts);
            options.ignore.is_empty()
                && has_same_objects(before, after)
                && are_alike(old, new)
                && parts.all(|(old, new)| is_decided(before, after, old, new))
        }
    }
}

fn are_alike(before: &Product, after: &Product) -> bool {
    // Who hangs takes the memory of all with it.
    let ends = |part: &Part| {
        !part.is_empty() && part.outcomes.iter().all(|(outcome, _)| outcome.end == End::Terminated)
    };
    let is_alone = before.parts.len() == 1;
    let owners = after.owners();
    before.initial == after.initial
        && before.parts.len() == after.parts.len()
        && before.parts.iter().zip(&after.parts).all(|(old, new)| old.members == new.members)
        && (is_alone || before.parts.iter().chain(&after.parts).all(ends))
        && before.owners().iter().all(|(bytes, part)| owners.get(bytes).is_none_or(|owner| owner == part))
}

/// Whether it is seen of each factored form of after that all of it is one of before's, or that its first is not allowed.
fn is_decided(before: Side<'_>, after: Side<'_>, old: &Part, new: &Part) -> bool {
    // What they allow is more than they are.
    let is_open = |permuted: &Permuted| permuted.has_undefined_bytes() || !permuted.first.volatile.is_empty();
    if old.permuted.iter().any(is_open) {
        return new.outcomes.is_empty() && new.permuted.iter().all(|one| is_within(one, old));
    }
    let mut others = new.permuted.iter().filter(|one| !is_within(one, old)).peekable();
    if others.peek().is_none() {
        return true;
    }
    // An outcome with undefined bytes may allow the first, and not the rest.
    let allowed = Allowed::of(before, after.dispatch, &old.outcomes);
    others.all(|one| forbidden(&allowed, old, &one.first).is_some())
}

/// Why before's part does not allow an outcome of after's; `None` where it does.
fn forbidden(
    allowed: &Allowed<'_>,
    old: &Part,
    outcome: &Outcome,
) -> Option<(ViolationKind, Option<Difference>)> {
    match old.permuted.iter().any(|permuted| permuted.contains(outcome)) {
        true => None,
        false => allowed.forbids(outcome),
    }
}

/// Whether all of a factored form is one of before's.
fn is_within(one: &Permuted, old: &Part) -> bool {
    old.permuted.iter().any(|other| one.is_same(other))
}

/// The first outcome of a part of after that before's part does not allow: one that differs in memory, else in its trace.
pub(super) fn first_violation(before: Side<'_>, after: Side<'_>) -> Option<Violation> {
    let (Some(old), Some(new)) = (&before.behaviours.product, &after.behaviours.product) else { return None };
    let mut trace = None;
    for (number, (old, new)) in old.parts.iter().zip(&new.parts).enumerate() {
        let allowed = Allowed::of(before, after.dispatch, &old.outcomes);
        let matched = ObjectMatch::new(before.dispatch, after.dispatch);
        let forbidden = |outcome: &Outcome| forbidden(&allowed, old, outcome);
        let listed = hangs_first(&new.outcomes).map(|(index, outcome)| (index, forbidden(outcome)));
        let factored = new.permuted.iter().map(|one| match is_within(one, old) {
            true => None,
            false => forbidden(&one.first).map(|(kind, difference)| {
                let closest = || matched.difference(&old.permuted.first()?.first, &one.first);
                (kind, difference.or_else(closest))
            }),
        });
        for (index, forbidden) in listed.chain((new.outcomes.len()..).zip(factored)) {
            let Some((kind, difference)) = forbidden else { continue };
            let violation = Violation { kind, subject: Subject::Part(number, index), difference };
            if kind != ViolationKind::VolatileTrace {
                return Some(violation);
            }
            trace.get_or_insert(violation);
        }
    }
    trace
}

impl Subject {
    /// The guilty outcome, if it is one, with its witness.
    pub fn outcome(self, behaviours: &Behaviours) -> Option<Cow<'_, (Outcome, Witness)>> {
        match self {
            Subject::Undefined(_) => None,
            Subject::Outcome(index) => behaviours.outcomes.get(index).map(Cow::Borrowed),
            Subject::Part(part, index) => behaviours.product.as_ref()?.whole(part, index).map(Cow::Owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::matching::tests::{dispatch, outcome};
    use super::*;
    use crate::behaviour::permuted;
    use crate::value::Byte;

    /// What is one part of listed outcomes and factored forms.
    fn behaviours(outcomes: &[Outcome], permuted: Vec<Permuted>) -> Behaviours {
        let outcomes = outcomes.iter().map(|outcome| (outcome.clone(), Witness::default())).collect();
        let owned = vec![(0, 0..4)];
        let part = Part { members: vec![0, 1], outcomes, permuted, owned };
        let product = Product { parts: vec![part], initial: vec![vec![Byte::Known(0); 4]], invocations: 2 };
        Behaviours { product: Some(Arc::new(product)), complete: true, ..Behaviours::default() }
    }

    #[test]
    fn an_undefined_byte_that_allows_the_first_of_a_form_does_not_allow_the_rest() {
        let initial = [Byte::Known(0); 4];
        let dispatch = dispatch(&[("0.0", &initial, true)]);
        let known = Byte::Known;
        let form = || permuted::tests::permuted(&[Some(1), Some(2)], &[5, 6]);
        let after = behaviours(&[], vec![form()]);
        let open = outcome(&[&[known(9), Byte::Undef, known(6), known(0)]]);
        let other = outcome(&[&[known(8), Byte::Undef, known(6), known(0)]]);
        let comparable = |before: &Behaviours| {
            let [old, new] =
                [before, &after].map(|behaviours| Side { name: "", behaviours, dispatch: &dispatch });
            are_comparable(old, new, &CompareOptions::default()).then(|| first_violation(old, new).is_some())
        };
        assert_eq!(comparable(&behaviours(&[open], Vec::new())), None);
        assert_eq!(comparable(&behaviours(std::slice::from_ref(&other), Vec::new())), Some(true));
        assert_eq!(comparable(&behaviours(&[other], vec![form()])), Some(false));
    }
}

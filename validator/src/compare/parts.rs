//! Outcomes that are not multiplied out, compared part by part, and as factored forms where they are that.
//!
//! Where both sides are all combinations of what the same groups of invocations come to, and each byte is the same group's to
//! write in both, after refines before just if each part does: outcomes differ byte by byte and trace by trace, and no
//! part is empty. What one part has that before's does not is one of the whole with anything that the others do.

use std::borrow::Cow;

use super::matching::ObjectMatch;
use super::refinement::{Allowed, CompareOptions, Side, Subject, Violation};
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
            options.ignore.is_empty() && has_same_objects(before, after) && are_alike(old, new)
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
        && before.parts.iter().zip(&after.parts).all(|(old, new)| is_decided(old, new))
}

/// Whether it is seen of each factored form of after that all of it is one of before's, or that its first is none.
fn is_decided(old: &Part, new: &Part) -> bool {
    // What they allow is more than they are.
    let is_open = |permuted: &Permuted| permuted.has_undefined_bytes() || !permuted.first.volatile.is_empty();
    let plain = !old.permuted.iter().any(is_open);
    let is_listed = |one: &Permuted| old.outcomes.iter().any(|(outcome, _)| *outcome == one.first);
    let is_placed = |one: &Permuted| old.permuted.iter().any(|other| other.contains(&one.first));
    let listed_are_decided = plain || new.outcomes.is_empty();
    let is_decided = |one| is_within(one, old) || plain && !is_listed(one) && !is_placed(one);
    listed_are_decided && new.permuted.iter().all(is_decided)
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
        let forbidden = |outcome: &Outcome| {
            let is_placed = old.permuted.iter().any(|permuted| permuted.contains(outcome));
            if is_placed {
                None
            } else {
                allowed.forbids(outcome)
            }
        };
        let listed = new.outcomes.iter().map(|(outcome, _)| forbidden(outcome));
        let factored = new.permuted.iter().map(|one| match is_within(one, old) {
            true => None,
            false => forbidden(&one.first).map(|(kind, difference)| {
                let closest = || matched.difference(&old.permuted.first()?.first, &one.first);
                (kind, difference.or_else(closest))
            }),
        });
        for (index, forbidden) in listed.chain(factored).enumerate() {
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

//! Outcomes that are not multiplied out, compared part by part.
//!
//! Where both sides are all combinations of what the same groups of invocations come to, and each byte is the same group's to
//! write in both, after refines before just if each part does: outcomes differ byte by byte and trace by trace, and no
//! part is empty. What one part has that before's does not is one of the whole with anything that the others do.

use std::borrow::Cow;

use super::matching::ObjectMatch;
use super::refinement::{Allowed, CompareOptions, Side, Subject, Violation};
use super::ViolationKind;
use crate::behaviour::{Behaviours, End, Outcome, Part, Product};
use crate::witness::Witness;

/// Whether two sides can be compared as they are: multiplied out, or part by part.
pub fn are_comparable(before: Side<'_>, after: Side<'_>, options: &CompareOptions) -> bool {
    match (&before.behaviours.product, &after.behaviours.product) {
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
        (Some(old), Some(new)) => {
            // What a part may be forgiven depends on the others.
            options.ignore.is_empty()
                && ObjectMatch::new(before.dispatch, after.dispatch).is_identity()
                && are_alike(old, new)
        }
    }
}

fn are_alike(before: &Product, after: &Product) -> bool {
    // Who hangs takes the memory of all with it.
    let ends = |part: &Part| {
        !part.outcomes.is_empty() && part.outcomes.iter().all(|(outcome, _)| outcome.end == End::Terminated)
    };
    let owners = after.owners();
    before.initial == after.initial
        && before.parts.len() == after.parts.len()
        && before.parts.iter().zip(&after.parts).all(|(old, new)| old.members == new.members)
        && before.parts.iter().chain(&after.parts).all(ends)
        && before.owners().iter().all(|(bytes, part)| owners.get(bytes).is_none_or(|owner| owner == part))
}

/// The first outcome of a part of after that before's part does not allow: one that differs in memory, else in its trace.
pub(super) fn first_violation(before: Side<'_>, after: Side<'_>) -> Option<Violation> {
    let (Some(old), Some(new)) = (&before.behaviours.product, &after.behaviours.product) else { return None };
    let mut trace = None;
    for (number, (old, new)) in old.parts.iter().zip(&new.parts).enumerate() {
        let allowed = Allowed::of(before, after.dispatch, &old.outcomes);
        for (index, (outcome, _)) in new.outcomes.iter().enumerate() {
            let Some((kind, difference)) = allowed.forbids(outcome) else { continue };
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

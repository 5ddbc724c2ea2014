//! Operations of a subgroup in a run with intervals: invocations that stand at one wait for the others, and go on
//! together once nobody else can run.

use super::run::State;
use super::IntervalSide;
use crate::interp::{go_on_shaded, Following, Invocation, Shaded, Shades};

/// Lets some invocations go on that stand at one instance of an operation: those of the first one, as the code has
/// them. If others would have come there, the run does not end as the search did, and nothing follows from it.
/// False where nobody stands at one; `None` where it is not followed what the operation does.
pub(super) fn release(
    side: IntervalSide<'_>,
    following: Following<'_>,
    invocations: &mut [(Invocation, Shades, State)],
) -> Option<bool> {
    let subgroup =
        |invocation: u32| side.dispatch.places.get(invocation as usize).map(|place| place.subgroup);
    let standing = (0..).zip(&*invocations).filter(|(_, (_, _, state))| *state == State::Together);
    let named = standing.map(|(number, (invocation, ..))| {
        ((subgroup(number), invocation.instance_name(side.program)), number)
    });
    let named: Vec<_> = named.collect();
    let Some(first) = named.iter().map(|(name, _)| name).min() else { return Some(false) };
    let here: Vec<u32> = named.iter().filter(|(name, _)| name == first).map(|(_, number)| *number).collect();
    let mut members = Vec::new();
    for (number, (invocation, shades, state)) in (0..).zip(invocations) {
        if here.contains(&number) {
            *state = State::Running;
            members.push(Shaded { invocation, shades });
        }
    }
    go_on_shaded(side.program, side.dispatch, &mut members, following).then_some(true)
}

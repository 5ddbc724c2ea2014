//! Descriptors that must be the same for the invocations of a subgroup, if an operand is not decorated NonUniform.

use crate::event::{Fault, UndefinedKind};
use crate::explore::state::{Round, State};

/// The number of accesses that an invocation has noted so far.
pub(crate) fn noted_descriptors(state: &State, index: usize) -> usize {
    state.threads[index].invocation.descriptors().map_or(0, |descriptors| descriptors.count())
}

/// Compares the noted accesses of an invocation, from number `first` on, with those of the other invocations of its
/// subgroup. It returns the fault if another one accessed another descriptor at the same dynamic instance.
pub(crate) fn differing_descriptor(
    round: &Round,
    state: &State,
    index: usize,
    first: usize,
) -> Option<Fault> {
    let own = state.threads[index].invocation.descriptors().filter(|own| own.count() > first)?;
    let place = round.context.dispatch.places.get(index)?;
    let subgroup = round.context.subgroups.get(place.subgroup as usize)?;
    let others = subgroup.iter().filter(|other| **other != index);
    let mut others = others.filter_map(|other| state.threads[*other].invocation.descriptors());
    let line = others.find_map(|other| own.differs(first, other))?;
    Some(Fault {
        kind: UndefinedKind::NonUniform,
        line,
        detail: "invocations of one subgroup access different descriptors, and the operand is not decorated \
                     NonUniform"
            .to_owned(),
    })
}

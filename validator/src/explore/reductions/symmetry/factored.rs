//! Orbits in factored form. This is possible if what is left in a place depends on the member there in its contents
//! alone.
//!
//! For example, after `list[slot] = id` the slots are the elements of the list, and the contents are the numbers of the
//! invocations. One form with 64 slots and 64 contents stands for 64! outcomes.

use std::sync::Arc;

use crate::behaviour::{Count, Outcome, Permuted, Places, Slot};
use crate::explore::reductions::symmetry::leaves::{Leaf, Patch, Spot};
use crate::explore::reductions::symmetry::orbit::{Orbit, Turn};
use crate::explore::state::{Found, Round};
use crate::value::Byte;
use crate::witness::Witness;

/// The outcomes of all executions as slots and contents, if they have this form. `first` is the outcome of the visited
/// execution.
pub(crate) fn factored(orbit: &Orbit, first: &Outcome, witness: Witness) -> Option<Permuted> {
    if orbit.cast.is_some() || !orbit.finals.is_empty() {
        return None;
    }
    let mut leaves: Vec<Vec<(usize, &Leaf)>> = vec![Vec::new(); orbit.classes.len()];
    for turn in &orbit.turns {
        let Turn::Leave { class, place, leaf } = turn else { return None };
        leaves[*class].push((*place, leaf));
    }
    let classes = orbit.classes.iter().zip(&leaves).filter(|(_, leaves)| !leaves.is_empty());
    let classes = classes.map(|(members, leaves)| places(members, leaves));
    let classes: Vec<Places> = classes.collect::<Option<_>>()?;
    let ways = classes.iter().map(|class| Count::factorial(class.members.len()));
    let executions = ways.fold(orbit.count.clone(), |executions, ways| executions * &ways);
    Some(Permuted { first: first.clone(), witness, classes, executions })
}

/// The slots of a class and their contents. It is `None` if one depends on the other.
fn places(members: &[u32], leaves: &[(usize, &Leaf)]) -> Option<Places> {
    if let Some(places) = placed(members, leaves) {
        return Some(places);
    }
    let own: Vec<Vec<Patch>> = (0..members.len()).map(|member| own(leaves, member)).collect();
    let mut slots = vec![Vec::new(); members.len()];
    let mut filling: Option<Vec<Vec<Byte>>> = None;
    for (place, leaf) in leaves {
        let (slot, contents) = slot(leaf, &own)?;
        if slot.is_empty() {
            continue;
        }
        if filling.get_or_insert_with(|| contents.clone()) != &contents {
            return None;
        }
        slots[*place] = slot;
    }
    let contents = filling.unwrap_or_else(|| vec![Vec::new(); members.len()]);
    Some(Places { members: members.to_vec(), slots, contents })
}

/// The same where it is known that each member leaves the same in every place, except for the location.
fn placed(members: &[u32], leaves: &[(usize, &Leaf)]) -> Option<Places> {
    let [(_, first), others @ ..] = leaves else { return None };
    if others.is_empty() || others.iter().any(|(_, leaf)| !Arc::ptr_eq(&first.own, &leaf.own)) {
        return None;
    }
    let placed = &first.own.placed;
    let bytes = placed.first().map_or(0, Vec::len);
    let differs: Vec<bool> =
        (0..bytes).map(|number| placed.iter().any(|each| each[number] != placed[0][number])).collect();
    let mut filling: Option<Vec<usize>> = None;
    let mut slots = vec![Vec::new(); members.len()];
    for (place, leaf) in leaves {
        // Of each word all bytes or none belong to a slot.
        let word = |spot: &Spot| (spot.object, spot.index / 4);
        let belongs = |(spot, _): &&(Spot, usize)| {
            leaf.place.iter().any(|(other, number)| differs[*number] && word(other) == word(spot))
        };
        let kept: Vec<&(Spot, usize)> = leaf.place.iter().filter(belongs).collect();
        let numbers: Vec<usize> = kept.iter().map(|(_, number)| *number).collect();
        if *filling.get_or_insert_with(|| numbers.clone()) != numbers {
            return None;
        }
        slots[*place] = kept.iter().map(|(spot, _)| (spot.object, spot.index)).collect();
    }
    let filling = filling.unwrap_or_default();
    let contents = placed.iter().map(|each| filling.iter().map(|number| each[*number]).collect());
    Some(Places { members: members.to_vec(), slots, contents: contents.collect() })
}

/// What a member leaves in whatever place it is.
fn own(leaves: &[(usize, &Leaf)], member: usize) -> Vec<Patch> {
    let Some(((_, first), others)) = leaves.split_first() else { return Vec::new() };
    let mut own: Vec<Patch> = first.patches(member).collect();
    for (_, leaf) in others {
        if own.is_empty() {
            break;
        }
        own.retain(|patch| leaf.patches(member).any(|other| other == *patch));
    }
    own
}

/// The slot of a place: where a member leaves what depends on the member. The second part has what each member leaves
/// there. It is `None` if the slot depends on the member, too.
fn slot(leaf: &Leaf, own: &[Vec<Patch>]) -> Option<(Slot, Vec<Vec<Byte>>)> {
    let left = |member: usize| leaf.patches(member).filter(move |patch| !own[member].contains(patch));
    let spot = |patch: &Patch| (patch.object, patch.index);
    let spots: Slot = left(0).map(|patch| spot(&patch)).collect();
    let mut contents: Vec<Vec<Byte>> = Vec::with_capacity(own.len());
    for member in 0..own.len() {
        if !left(member).map(|patch| spot(&patch)).eq(spots.iter().copied()) {
            return None;
        }
        contents.push(left(member).map(|patch| patch.byte).collect());
    }
    let is_same = |at: usize| contents.iter().all(|each| each[at] == contents[0][at]);
    let differs: Vec<bool> = (0..spots.len()).map(|at| !is_same(at)).collect();
    // Of each word all bytes or none belong to the slot.
    let word = |(object, index): (usize, usize)| (object, index / 4);
    let belongs = |at: usize| {
        let mut others = spots.iter().zip(&differs);
        others.any(|(other, differs)| *differs && word(*other) == word(spots[at]))
    };
    let kept: Vec<usize> = (0..spots.len()).filter(|at| belongs(*at)).collect();
    let slot = kept.iter().map(|at| spots[*at]).collect();
    let contents = contents.iter().map(|each| kept.iter().map(|at| each[*at]).collect());
    Some((slot, contents.collect()))
}

/// Counts the executions of a factored form, and keeps the form if it is a new one.
pub(crate) fn keep_permuted(round: &Round, permuted: Permuted, found: &mut Found) {
    found.executions += &permuted.executions;
    let slots: usize = permuted.classes.iter().map(Places::stored_bytes).sum();
    let bytes = permuted.first.stored_bytes(&permuted.witness) + 2 * slots as u64;
    let target = round.context.target.filter(|target| !round.in_group && target(&permuted.first));
    let is_new = found.factored.add(permuted);
    round.context.budget.execution(if is_new { bytes } else { 0 });
    if is_new && target.is_some() {
        found.stop = true;
        found.at_target = true;
    }
}

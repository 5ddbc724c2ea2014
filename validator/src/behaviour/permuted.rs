//! Outcomes in factored form: those that differ in nothing but who has which place.
//!
//! Where invocations are given places in some order, by the results of an atomic say, and each leaves in the *slot* of its
//! place what does not depend on the place, every order gives an outcome. They are kept as the slots and the contents.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Count, End, Outcome, ALLOCATION};
use crate::value::Byte;
use crate::witness::{Execution, Witness};

/// Observed bytes, each by object and index there.
pub type Slot = Vec<(usize, usize)>;

/// Invocations whose places may be exchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The invocations, ascending; there are as many places.
    pub members: Vec<u32>,
    /// Per place, the bytes that whoever has it writes: as many in each slot that is not empty.
    pub slots: Vec<Slot>,
    /// Per member, what it leaves in its slot, if that is not empty.
    pub contents: Vec<Vec<Byte>>,
}

/// Outcomes that come of one another by exchanging places.
#[derive(Clone, Debug)]
pub struct Permuted {
    /// The one in which the members have the places in order. It terminates.
    pub first: Outcome,
    /// Of that one, with the number of executions in which everybody has the same places.
    pub witness: Witness,
    /// Classes of invocations, each with slots of its own.
    pub classes: Vec<Places>,
    /// How many executions there are in all.
    pub executions: Count,
}

/// What two factored forms have in common just if they are the same outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Normal {
    /// The outcome with nothing in its slots.
    pub rest: Outcome,
    pub classes: Vec<Filled>,
}

/// Slots of a class that are not empty, and contents of all members, both sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Filled {
    pub slots: Vec<Slot>,
    pub contents: Vec<Vec<Byte>>,
}

impl Normal {
    /// Whether it is seen that two that are not the same have no outcome in common.
    pub(crate) fn is_apart_from(&self, other: &Normal) -> bool {
        let alike = self.classes.iter().zip(&other.classes).all(|(one, other)| one.slots == other.slots);
        // With the same slots, each filled, the rest and what fills them say which outcome it may be.
        let has_idle_places = |class: &Filled| class.slots.len() < class.contents.len();
        self.classes.len() == other.classes.len()
            && alike
            && (self.rest != other.rest || !self.classes.iter().chain(&other.classes).any(has_idle_places))
    }
}

/// Who has which place: per class and place, the number of the member.
type Placing = Vec<Vec<usize>>;

impl Places {
    /// Whether something is in some slot.
    pub fn is_filled(&self) -> bool {
        self.slots.iter().any(|slot| !slot.is_empty())
    }

    /// Places with something in their slots, in the order of these.
    fn filled(&self) -> Vec<usize> {
        let mut filled: Vec<usize> =
            (0..self.slots.len()).filter(|place| !self.slots[*place].is_empty()).collect();
        filled.sort_unstable_by_key(|place| &self.slots[*place]);
        filled
    }

    /// Members by their contents.
    fn by_contents(&self) -> BTreeMap<&[Byte], Vec<usize>> {
        let mut members: BTreeMap<&[Byte], Vec<usize>> = BTreeMap::new();
        for (member, contents) in self.contents.iter().enumerate() {
            members.entry(contents).or_default().push(member);
        }
        members
    }

    /// About how many bytes it takes.
    pub(crate) fn stored_bytes(&self) -> usize {
        let slots = self.slots.iter().map(|slot| ALLOCATION + size_of_val(&slot[..]));
        let contents = self.contents.iter().map(|contents| ALLOCATION + size_of_val(&contents[..]));
        slots.sum::<usize>() + contents.sum::<usize>()
    }

    /// In how many ways the slots can be filled so that they differ.
    fn count(&self) -> Count {
        let slots = self.filled().len();
        let counts: Vec<usize> = self.by_contents().values().map(Vec::len).collect();
        if slots == self.slots.len() {
            let same = counts.into_iter().map(Count::factorial);
            return same.fold(Count::factorial(slots), |ways, same| ways.divided_by(&same));
        }
        if counts.iter().all(|count| *count == 1) {
            return Count::falling(self.slots.len(), slots);
        }
        // Per number of slots, in how many ways the contents so far fill them.
        let mut ways = vec![Count::default(); slots + 1];
        ways[0] += 1;
        for count in counts {
            for filled in (1..=slots).rev() {
                for more in 1..=count.min(filled) {
                    let choose = Count::falling(filled, more).divided_by(&Count::factorial(more));
                    let filled_by_others = choose * &ways[filled - more];
                    ways[filled] += &filled_by_others;
                }
            }
        }
        ways.pop().unwrap_or_default()
    }

    /// In how many ways places can be had so that all slots hold what they do here.
    fn same_ways(&self, placing: &[usize]) -> u64 {
        let falling = |from: usize, times: usize| {
            (from - times + 1..=from).fold(1_u64, |ways, n| ways.saturating_mul(n as u64))
        };
        let has_slot = |member: &&usize| {
            let place = placing.iter().position(|other| other == *member);
            place.is_some_and(|place| !self.slots[place].is_empty())
        };
        let members = self.by_contents();
        let same = members.values().map(|same| falling(same.len(), same.iter().filter(has_slot).count()));
        let idle = self.slots.iter().filter(|slot| slot.is_empty()).count();
        same.fold(falling(idle, idle), u64::saturating_mul)
    }
}

impl Permuted {
    /// How many outcomes there are.
    pub fn count(&self) -> Count {
        self.classes.iter().fold(Count::from(1_u64), |count, class| count * &class.count())
    }

    /// What tells it from others.
    pub(crate) fn normal(&self) -> Normal {
        let mut rest = self.first.clone();
        let classes = self.classes.iter().map(|class| {
            let mut slots: Vec<_> = class.slots.iter().filter(|slot| !slot.is_empty()).cloned().collect();
            slots.sort_unstable();
            for (object, index) in slots.iter().flatten() {
                rest.memory[*object][*index] = Byte::Undef;
            }
            let mut contents = class.contents.clone();
            contents.sort_unstable();
            Filled { slots, contents }
        });
        let mut classes: Vec<_> = classes.collect();
        classes.sort_unstable();
        Normal { rest, classes }
    }

    /// Counts the executions of another that has the same normal form.
    pub(crate) fn merge(&mut self, same: &Permuted) {
        self.executions += &same.executions;
        self.witness.executions = self.witness.executions.saturating_add(same.witness.executions);
    }

    /// Whether this is one of the outcomes.
    pub(crate) fn contains(&self, outcome: &Outcome) -> bool {
        if (outcome.end, &outcome.volatile, &outcome.remarks)
            != (End::Terminated, &self.first.volatile, &self.first.remarks)
            || outcome.memory.len() != self.first.memory.len()
        {
            return false;
        }
        let mut rest = outcome.memory.clone();
        for class in &self.classes {
            let mut left: BTreeMap<&[Byte], usize> = class
                .by_contents()
                .into_iter()
                .map(|(contents, members)| (contents, members.len()))
                .collect();
            for slot in class.slots.iter().filter(|slot| !slot.is_empty()) {
                let mut contents = Vec::with_capacity(slot.len());
                for (object, index) in slot {
                    let Some(byte) = rest[*object].get_mut(*index) else { return false };
                    contents.push(std::mem::replace(byte, self.first.memory[*object][*index]));
                }
                match left.get_mut(&contents[..]) {
                    Some(count) if *count > 0 => *count -= 1,
                    Some(_) | None => return false,
                }
            }
        }
        rest == self.first.memory
    }

    /// Whether some byte of some outcome is undefined.
    pub(crate) fn has_undefined_bytes(&self) -> bool {
        let contents = self.classes.iter().flat_map(|class| &class.contents);
        self.first.memory.iter().chain(contents).flatten().any(|byte| *byte == Byte::Undef)
    }

    /// Whether its outcomes are those of the other.
    pub(crate) fn is_same(&self, other: &Permuted) -> bool {
        self.normal() == other.normal()
    }

    /// Visits its outcomes, each once, in the order of the contents in the slots, until `visit` says that it is enough.
    pub(crate) fn each(&self, mut visit: impl FnMut(&Outcome, &Witness) -> bool) -> bool {
        let mut outcome = self.first.clone();
        let mut placing: Placing =
            self.classes.iter().map(|class| vec![usize::MAX; class.slots.len()]).collect();
        self.fill(0, &mut outcome, &mut placing, &mut visit)
    }

    /// Fills the slots of the classes from this one on.
    fn fill(
        &self,
        class: usize,
        outcome: &mut Outcome,
        placing: &mut Placing,
        visit: &mut dyn FnMut(&Outcome, &Witness) -> bool,
    ) -> bool {
        let Some(places) = self.classes.get(class) else {
            return visit(outcome, &self.placed(placing));
        };
        let filled = places.filled();
        let mut members: Vec<(&[Byte], Vec<usize>)> = places.by_contents().into_iter().collect();
        // What comes first is taken last.
        members.iter_mut().for_each(|(_, members)| members.reverse());
        self.fill_slots(class, &filled, &mut members, outcome, placing, visit)
    }

    fn fill_slots(
        &self,
        class: usize,
        filled: &[usize],
        members: &mut [(&[Byte], Vec<usize>)],
        outcome: &mut Outcome,
        placing: &mut Placing,
        visit: &mut dyn FnMut(&Outcome, &Witness) -> bool,
    ) -> bool {
        let Some((place, rest)) = filled.split_first() else {
            // Who has no slot has the places without.
            let mut left: Vec<usize> = members.iter().flat_map(|(_, left)| left.iter().copied()).collect();
            left.sort_unstable_by(|a, b| b.cmp(a));
            let places = &self.classes[class];
            for (place, _) in places.slots.iter().enumerate().filter(|(_, slot)| slot.is_empty()) {
                placing[class][place] = left.pop().unwrap_or(place);
            }
            return self.fill(class + 1, outcome, placing, visit);
        };
        for index in 0..members.len() {
            let (contents, left) = &mut members[index];
            let Some(member) = left.pop() else { continue };
            placing[class][*place] = member;
            for ((object, at), byte) in self.classes[class].slots[*place].iter().zip(*contents) {
                outcome.memory[*object][*at] = *byte;
            }
            let more = self.fill_slots(class, rest, members, outcome, placing, visit);
            members[index].1.push(member);
            if !more {
                return false;
            }
        }
        true
    }

    /// The witness of the outcome in which the members have these places.
    fn placed(&self, placing: &Placing) -> Witness {
        let mut witness = self.witness.clone();
        let (execution, mut agents) = match witness.execution {
            Execution::Renamed { execution, agents, values: None } => (execution, agents),
            other => {
                let most = self.classes.iter().flat_map(|class| &class.members).max().copied().unwrap_or(0);
                let agents = other.graph().events.iter().map(|event| event.agent).fold(most, u32::max);
                (Arc::new(other), (0..=agents).collect())
            }
        };
        for (class, members) in self.classes.iter().zip(placing) {
            for (place, member) in members.iter().enumerate() {
                agents[class.members[place] as usize] = class.members[*member];
            }
        }
        witness.execution = Execution::Renamed { execution, agents, values: None };
        let ways = self.classes.iter().zip(placing).map(|(class, placing)| class.same_ways(placing));
        witness.executions = ways.fold(witness.executions, u64::saturating_mul);
        witness
    }

    /// The one in which the members have the places in order.
    pub(crate) fn one(&self) -> (Outcome, Witness) {
        let placing = self.classes.iter().map(|class| (0..class.members.len()).collect()).collect();
        (self.first.clone(), self.placed(&placing))
    }

    /// The first outcomes, sorted.
    pub(crate) fn first(&self, count: usize) -> Vec<Outcome> {
        let mut first = Vec::with_capacity(count);
        if count > 0 {
            self.each(|outcome, _| {
                first.push(outcome.clone());
                first.len() < count
            });
        }
        first.sort_unstable();
        first
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::{Permuted, Places};
    use crate::behaviour::{Count, End, Outcome};
    use crate::value::Byte;
    use crate::witness::Witness;

    /// Slots of one byte each, behind a byte that is the same in all outcomes.
    pub(crate) fn permuted(slots: &[Option<usize>], contents: &[u8]) -> Permuted {
        let mut memory = vec![Byte::Known(9), Byte::Known(0), Byte::Known(0), Byte::Known(0)];
        for (slot, byte) in slots.iter().zip(contents) {
            slot.iter().for_each(|index| memory[*index] = Byte::Known(*byte));
        }
        let places = Places {
            members: (0..contents.len() as u32).collect(),
            slots: slots.iter().map(|slot| slot.iter().map(|index| (0, *index)).collect()).collect(),
            contents: contents.iter().map(|byte| vec![Byte::Known(*byte)]).collect(),
        };
        let (volatile, remarks) = (Vec::new(), Vec::new());
        Permuted {
            first: Outcome { end: End::Terminated, memory: vec![memory], volatile, remarks },
            witness: Witness { executions: 1, ..Witness::default() },
            executions: Count::factorial(contents.len()),
            classes: vec![places],
        }
    }

    /// Each order of the contents in the slots by brute force, with the number of orders that leave it.
    fn by_orders(permuted: &Permuted) -> BTreeMap<Outcome, u64> {
        fn orders(rest: Vec<usize>) -> Vec<Vec<usize>> {
            if rest.is_empty() {
                return vec![Vec::new()];
            }
            let begin = |at: usize| {
                let mut others = rest.clone();
                let first = others.remove(at);
                orders(others).into_iter().map(move |order| [vec![first], order].concat())
            };
            (0..rest.len()).flat_map(begin).collect()
        }
        let [places] = &permuted.classes[..] else { panic!("one class") };
        let mut all = BTreeMap::new();
        for order in orders((0..places.members.len()).collect()) {
            let mut outcome = permuted.first.clone();
            for (slot, member) in places.slots.iter().zip(order) {
                for ((object, index), byte) in slot.iter().zip(&places.contents[member]) {
                    outcome.memory[*object][*index] = *byte;
                }
            }
            *all.entry(outcome).or_default() += 1;
        }
        all
    }

    #[test]
    fn every_order_is_an_outcome() {
        let all = [Some(1), Some(2), Some(3)];
        for (slots, contents) in [
            (&all[..], &[5, 6, 7][..]),
            (&all, &[5, 5, 7]),
            (&[Some(2), None, Some(1)], &[5, 6, 7]),
            (&[Some(2), None, Some(1)], &[5, 6, 5]),
            (&[None, Some(3), None, None], &[5, 6, 5, 5]),
            (&[None, None], &[5, 6]),
        ] {
            let permuted = permuted(slots, contents);
            let expected = by_orders(&permuted);
            let mut found = Vec::new();
            permuted.each(|outcome, witness| {
                assert!(permuted.contains(outcome));
                found.push((outcome.clone(), witness.executions));
                true
            });
            assert_eq!(permuted.count(), found.len() as u64, "{slots:?} {contents:?}");
            found.sort_unstable();
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{slots:?} {contents:?}");
            let first: Vec<Outcome> = found.into_iter().take(2).map(|(outcome, _)| outcome).collect();
            assert_eq!(permuted.first(2), first);
        }
    }

    #[test]
    fn other_outcomes_are_none_of_a_form() {
        let form = permuted(&[Some(1), Some(2), None], &[5, 5, 7]);
        let with = |bytes: [u8; 4]| {
            let memory = vec![bytes.map(Byte::Known).to_vec()];
            Outcome { memory, ..form.first.clone() }
        };
        assert!(form.contains(&with([9, 5, 7, 0])));
        for bytes in [[9, 7, 7, 0], [9, 5, 6, 0], [8, 5, 7, 0], [9, 5, 7, 1]] {
            assert!(!form.contains(&with(bytes)), "{bytes:?}");
        }
        assert!(!form.contains(&Outcome::hang(Vec::new())));
    }

    #[test]
    fn forms_are_the_same_or_apart() {
        let form = permuted(&[Some(1), Some(2)], &[5, 6]);
        assert!(form.is_same(&permuted(&[Some(2), Some(1)], &[6, 5])));
        let apart = |other: &Permuted| !form.is_same(other) && form.normal().is_apart_from(&other.normal());
        assert!(apart(&permuted(&[Some(1), Some(2)], &[5, 7])));
        // Other slots may hold the same, and so may slots that are too few for all.
        assert!(!apart(&permuted(&[Some(1), Some(3)], &[5, 6])));
        let few = |contents: &[u8]| permuted(&[Some(1), None], contents).normal();
        assert!(!few(&[5, 6]).is_apart_from(&few(&[5, 7])));
    }
}

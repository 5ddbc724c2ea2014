//! Volatile traces (docs/semantics.md, section 2.4): is every trace of one outcome a trace of other outcomes?
//!
//! A trace is a regular expression over accesses: [`VolatileAccess::Repeated`] stands for any number of failing
//! iterations of a spin loop. An outcome has one trace for each invocation. Together they form one word,
//! invocation after invocation, so that traces stay correlated. Inclusion is decided by the subset construction,
//! on the fly.
//!
//! An undefined byte is a letter of its own, which only an undefined byte of before admits. So a violation may be
//! reported where before can show every value that the byte could have, one by one.

use std::collections::{BTreeSet, HashSet, VecDeque};

use super::matching::admits;
use crate::behaviour::{Outcome, VolatileAccess};
use crate::value::Byte;

/// An access, with its object in the numbering that both modules share.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Letter {
    invocation: u32,
    object: u32,
    offset: u32,
    write: bool,
    atomic: bool,
    bytes: Vec<Byte>,
}

impl Letter {
    fn admits(&self, after: &Letter) -> bool {
        (self.invocation, self.object, self.offset, self.write, self.atomic)
            == (after.invocation, after.object, after.offset, after.write, after.atomic)
            && self.bytes.len() == after.bytes.len()
            && self.bytes.iter().zip(&after.bytes).all(|(before, after)| admits(*before, *after))
    }
}

/// A nondeterministic automaton of volatile traces.
#[derive(Default)]
pub struct Automaton {
    /// Letter transitions of each state.
    letters: Vec<Vec<(Letter, usize)>>,
    /// Empty transitions of each state.
    empty: Vec<Vec<usize>>,
    starts: BTreeSet<usize>,
    ends: BTreeSet<usize>,
}

impl Automaton {
    /// Adds the traces of an outcome; `object` gives numbers that both modules share.
    pub fn add(&mut self, outcome: &Outcome, object: &dyn Fn(u32) -> u32) {
        let mut state = self.state();
        self.starts.insert(state);
        for (invocation, trace) in outcome.volatile.iter().enumerate() {
            state = self.sequence(state, invocation as u32, trace, object);
        }
        self.ends.insert(state);
    }

    fn state(&mut self) -> usize {
        self.letters.push(Vec::new());
        self.empty.push(Vec::new());
        self.letters.len() - 1
    }

    /// Appends a sequence to `from`; gives the state where it ends.
    fn sequence(
        &mut self,
        from: usize,
        invocation: u32,
        trace: &[VolatileAccess],
        object_of: &dyn Fn(u32) -> u32,
    ) -> usize {
        let mut state = from;
        for access in trace {
            match access {
                VolatileAccess::One { object, offset, write, atomic, bytes } => {
                    let next = self.state();
                    let letter = Letter {
                        invocation,
                        object: object_of(*object),
                        offset: *offset,
                        write: *write,
                        atomic: *atomic,
                        bytes: bytes.clone(),
                    };
                    self.letters[state].push((letter, next));
                    state = next;
                }
                VolatileAccess::Repeated(iterations) => {
                    let around = self.state();
                    self.empty[state].push(around);
                    for iteration in iterations {
                        let end = self.sequence(around, invocation, iteration, object_of);
                        self.empty[end].push(around);
                    }
                    // A way out of its own, lest what follows lead back into the repetition.
                    state = self.state();
                    self.empty[around].push(state);
                }
            }
        }
        state
    }

    fn closure(&self, states: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut work: Vec<usize> = states.iter().copied().collect();
        let mut closed = states;
        while let Some(state) = work.pop() {
            for &next in &self.empty[state] {
                if closed.insert(next) {
                    work.push(next);
                }
            }
        }
        closed
    }

    /// Whether every word of `after` is admitted by a word of this automaton.
    pub fn admits(&self, after: &Automaton) -> bool {
        let start = self.closure(self.starts.clone());
        let mut seen: HashSet<(usize, BTreeSet<usize>)> = HashSet::new();
        let mut work: VecDeque<(usize, BTreeSet<usize>)> =
            after.closure(after.starts.clone()).into_iter().map(|state| (state, start.clone())).collect();
        while let Some((state, mine)) = work.pop_front() {
            if !seen.insert((state, mine.clone())) {
                continue;
            }
            if after.ends.contains(&state) && mine.is_disjoint(&self.ends) {
                return false;
            }
            for (letter, next) in &after.letters[state] {
                let moved = mine
                    .iter()
                    .flat_map(|state| &self.letters[*state])
                    .filter(|(allowed, _)| allowed.admits(letter))
                    .map(|(_, next)| *next)
                    .collect();
                let moved = self.closure(moved);
                for next in after.closure(BTreeSet::from([*next])) {
                    work.push_back((next, moved.clone()));
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::behaviour::End;

    fn read(value: u8) -> VolatileAccess {
        access(Byte::Known(value))
    }

    fn access(byte: Byte) -> VolatileAccess {
        VolatileAccess::One { object: 0, offset: 0, write: false, atomic: true, bytes: vec![byte] }
    }

    fn repeated(iterations: &[&[VolatileAccess]]) -> VolatileAccess {
        VolatileAccess::Repeated(iterations.iter().map(|iteration| iteration.to_vec()).collect())
    }

    fn automaton(outcomes: &[Vec<Vec<VolatileAccess>>]) -> Automaton {
        let mut automaton = Automaton::default();
        for volatile in outcomes {
            let outcome = Outcome {
                end: End::Terminated,
                memory: Vec::new(),
                volatile: volatile.clone(),
                remarks: Vec::new(),
            };
            automaton.add(&outcome, &|object| object);
        }
        automaton
    }

    fn included(before: &[Vec<Vec<VolatileAccess>>], after: Vec<Vec<VolatileAccess>>) -> bool {
        automaton(before).admits(&automaton(&[after]))
    }

    #[test]
    fn traces_are_compared_in_order_and_number() {
        let before = [vec![vec![read(1), read(2)]]];
        assert!(included(&before, vec![vec![read(1), read(2)]]));
        assert!(!included(&before, vec![vec![read(2), read(1)]]));
        assert!(!included(&before, vec![vec![read(1)]]));
        assert!(!included(&before, vec![vec![read(1), read(2), read(2)]]));
    }

    #[test]
    fn repetitions_stand_for_any_number() {
        let spin = vec![vec![repeated(&[&[read(0)]]), read(1)]];
        assert!(included(std::slice::from_ref(&spin), vec![vec![read(1)]]));
        assert!(included(std::slice::from_ref(&spin), vec![vec![read(0), read(0), read(1)]]));
        assert!(included(std::slice::from_ref(&spin), spin.clone()));
        assert!(!included(std::slice::from_ref(&spin), vec![vec![read(0)]]));
        assert!(!included(&[vec![vec![read(0), read(1)]]], spin));
    }

    #[test]
    fn a_repetition_is_covered_by_several_outcomes() {
        let none = vec![vec![read(1)]];
        let some = vec![vec![read(0), repeated(&[&[read(0)]]), read(1)]];
        let spin = vec![vec![repeated(&[&[read(0)]]), read(1)]];
        assert!(included(&[none.clone(), some], spin.clone()));
        assert!(!included(&[none], spin));
    }

    #[test]
    fn what_follows_a_repetition_does_not_repeat_it() {
        // (0)* 1 (2)* is not ((0)* 1 (2)*)*.
        let trace = vec![vec![repeated(&[&[read(0)]]), repeated(&[&[read(2)]])]];
        assert!(included(std::slice::from_ref(&trace), vec![vec![read(0), read(2), read(2)]]));
        assert!(!included(&[trace], vec![vec![read(2), read(0)]]));
    }

    #[test]
    fn invocations_are_kept_apart_and_correlated() {
        let both = [vec![vec![read(0)], vec![read(1)]], vec![vec![read(1)], vec![read(0)]]];
        assert!(included(&both, vec![vec![read(1)], vec![read(0)]]));
        assert!(!included(&both, vec![vec![read(0)], vec![read(0)]]));
        assert!(!included(&both, vec![vec![read(0), read(1)], vec![]]));
    }

    #[test]
    fn undefined_bytes_admit() {
        let undefined = vec![vec![access(Byte::Undef)]];
        assert!(included(std::slice::from_ref(&undefined), vec![vec![read(7)]]));
        assert!(!included(&[vec![vec![read(7)]]], undefined));
    }
}

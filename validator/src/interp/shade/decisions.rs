//! Branches that go more than one way for the floats that an implementation may compute, and choices for undefined values.
//!
//! Such a branch splits a run: it is followed one way, and in another run the other way. What is computed on a way that
//! the computed values do not take still lies within its intervals, so that together the ways enclose all that may be.

use crate::ir::Inexact;

/// Decisions of one way, at most.
const MOST: usize = 10;

/// Ways of one choice, at most.
const MOST_CHOICES: u32 = 16;

/// One of several ways.
#[derive(Clone, Copy, Debug)]
struct Decision {
    taken: u32,
    of: u32,
    /// It is a branch that goes otherwise than as computed.
    is_flip: bool,
}

/// Which way a run takes.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// The first ones first; later ones take the first of their ways, which of a branch is as computed.
    taken: Vec<Decision>,
    /// How many were met.
    met: usize,
    /// The first branch that may go otherwise.
    first_branch: Option<Inexact>,
    /// Whether a run may be split at all.
    splits: bool,
}

impl Decisions {
    /// Every branch goes as computed.
    pub fn as_computed() -> Self {
        Decisions { splits: true, ..Decisions::default() }
    }

    fn decide(&mut self, of: u32, is_branch: bool) -> Option<u32> {
        if !self.splits || self.met == MOST {
            return None;
        }
        if self.met == self.taken.len() {
            self.taken.push(Decision { taken: 0, of, is_flip: false });
        }
        let decision = self.taken.get_mut(self.met)?;
        decision.is_flip = is_branch && decision.taken != 0;
        self.met += 1;
        Some(decision.taken)
    }

    /// Whether a branch goes otherwise than as computed; `None` where too much is decided.
    pub(super) fn flip(&mut self, at: Inexact) -> Option<bool> {
        let flip = self.decide(2, true)?;
        self.first_branch.get_or_insert(at);
        Some(flip != 0)
    }

    /// One of so many ways that are all possible; `None` where there are too many.
    pub fn choose(&mut self, of: u32) -> Option<u32> {
        if of > MOST_CHOICES {
            return None;
        }
        self.decide(of, false)
    }

    /// The first branch that splits the run.
    pub fn first_branch(&self) -> Option<Inexact> {
        self.first_branch
    }

    /// Whether a branch goes otherwise than as computed.
    pub fn is_flipped(&self) -> bool {
        self.taken.iter().take(self.met).any(|decision| decision.is_flip)
    }

    /// Whether anything was decided.
    pub fn is_split(&self) -> bool {
        self.met > 0
    }

    /// The next way, once a run has taken this one; `None` where it was the last.
    pub fn next(mut self) -> Option<Decisions> {
        self.taken.truncate(self.met);
        while self.taken.pop_if(|decision| decision.taken + 1 == decision.of).is_some() {}
        self.taken.last_mut()?.taken += 1;
        Some(Decisions { met: 0, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Inexact = Inexact { line: 1, opcode: 250, extended: 0 };

    #[test]
    fn every_way_is_taken_once() {
        let (mut ways, mut next) = (Vec::new(), Some(Decisions::as_computed()));
        while let Some(mut decisions) = next {
            // The choice is met on one side of the branch alone.
            let first = decisions.flip(AT);
            let second = if first == Some(true) { decisions.choose(3) } else { None };
            ways.push((first, second, decisions.is_flipped()));
            next = decisions.next();
        }
        let flipped = |second| (Some(true), Some(second), true);
        assert_eq!(ways, [(Some(false), None, false), flipped(0), flipped(1), flipped(2)]);
    }

    #[test]
    fn there_are_bounds_and_runs_that_are_not_split() {
        assert_eq!(Decisions::default().flip(AT), None);
        assert_eq!(Decisions::default().choose(2), None);
        let mut decisions = Decisions::as_computed();
        assert_eq!(decisions.choose(MOST_CHOICES + 1), None);
        let flips: Vec<Option<bool>> = (0..=MOST).map(|_| decisions.flip(AT)).collect();
        assert!(flips[..MOST].iter().all(|flip| *flip == Some(false)) && flips[MOST].is_none());
    }
}

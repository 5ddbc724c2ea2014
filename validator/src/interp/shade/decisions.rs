//! Branches that go more than one way for the floats that an implementation may compute.
//!
//! Such a branch splits a run: it is followed one way, and in another run the other way. What is computed on a way that
//! the computed values do not take still lies within its intervals, so that together the ways enclose all that may be.

use crate::ir::Inexact;

/// Branches of one way that may go otherwise, at most.
const MOST: usize = 10;

/// Which way a run takes at such branches.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// Whether each goes otherwise than as computed, the first ones first; later ones go as computed.
    flips: Vec<bool>,
    /// How many were met.
    met: usize,
    /// The first one.
    first: Option<Inexact>,
    /// Whether a run may be split at all.
    splits: bool,
}

impl Decisions {
    /// Every branch goes as computed.
    pub fn as_computed() -> Self {
        Decisions { splits: true, ..Decisions::default() }
    }

    /// Whether a branch goes otherwise than as computed; `None` where too many would.
    pub(super) fn flip(&mut self, at: Inexact) -> Option<bool> {
        if !self.splits || self.met == MOST {
            return None;
        }
        self.first.get_or_insert(at);
        if self.met == self.flips.len() {
            self.flips.push(false);
        }
        let flip = self.flips.get(self.met).copied();
        self.met += 1;
        flip
    }

    /// The first branch that splits the run.
    pub fn first(&self) -> Option<Inexact> {
        self.first
    }

    /// The next way, once a run has taken this one; `None` where it was the last.
    pub fn next(mut self) -> Option<Decisions> {
        self.flips.truncate(self.met);
        while self.flips.pop_if(|flip| *flip).is_some() {}
        let last = self.flips.last_mut()?;
        *last = true;
        Some(Decisions { met: 0, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_is_taken_once() {
        let at = Inexact { line: 1, opcode: 250, extended: 0 };
        let (mut ways, mut next) = (Vec::new(), Some(Decisions::as_computed()));
        while let Some(mut decisions) = next {
            // The second branch is met on one side of the first alone.
            let first = decisions.flip(at);
            let second = if first == Some(true) { decisions.flip(at) } else { None };
            ways.push((first, second));
            next = decisions.next();
        }
        assert_eq!(ways, [(Some(false), None), (Some(true), Some(false)), (Some(true), Some(true))]);
    }

    #[test]
    fn there_are_bounds_and_runs_that_are_not_split() {
        let at = Inexact { line: 1, opcode: 250, extended: 0 };
        assert_eq!(Decisions::default().flip(at), None);
        let mut decisions = Decisions::as_computed();
        let flips: Vec<Option<bool>> = (0..=MOST).map(|_| decisions.flip(at)).collect();
        assert!(flips[..MOST].iter().all(|flip| *flip == Some(false)) && flips[MOST].is_none());
    }
}

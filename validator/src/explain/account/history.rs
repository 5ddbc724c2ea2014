//! What one invocation executed up to an instruction, with the results.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::interp::Invocation;
use crate::ir::{Line, Program};
use crate::value::Scalar;

/// What an invocation executed, up to the instruction that the history is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The invocation's number in the dispatch.
    pub invocation: u32,
    /// In order; the earliest may be missing.
    pub entries: Vec<Entry>,
    /// None of them is missing.
    pub is_whole: bool,
}

/// An instruction that was executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its line.
    pub line: Line,
    /// Number of calls that it is in.
    pub depth: u32,
    /// The components of its result; none where it has none, or did not come to it.
    pub result: SmallVec<[Scalar; 4]>,
}

/// Instructions that are kept.
const KEPT: usize = 1 << 16;

/// Writes a history.
#[derive(Debug)]
pub(crate) struct Recorder {
    pub(crate) invocation: u32,
    entries: VecDeque<Entry>,
    /// Those in front of the first that is kept.
    dropped: usize,
    /// For each number of calls, the entry whose result is not known yet.
    open: Vec<Option<usize>>,
    /// The instruction that the history is about.
    about: Option<usize>,
}

impl Recorder {
    pub(crate) fn of(invocation: u32) -> Self {
        Recorder { invocation, entries: VecDeque::new(), dropped: 0, open: Vec::new(), about: None }
    }

    /// Looks at the invocation in front of its next instruction, on `line` in so many calls.
    pub(crate) fn note(&mut self, line: Line, depth: usize, program: &Program, run: &Invocation) {
        self.open.truncate(depth + 1);
        self.open.resize(depth + 1, None);
        if let Some(open) = self.open[depth] {
            let Some(entry) = open.checked_sub(self.dropped).and_then(|at| self.entries.get_mut(at)) else {
                return self.push(line, depth);
            };
            // An instruction may be started again, or be several.
            if entry.line == line {
                return;
            }
            entry.result = run.result_on(program, entry.line).into_iter().flatten().collect();
        }
        self.push(line, depth);
    }

    fn push(&mut self, line: Line, depth: usize) {
        if self.entries.len() == KEPT {
            self.entries.pop_front();
            self.dropped += 1;
        }
        self.open[depth] = Some(self.dropped + self.entries.len());
        self.entries.push_back(Entry { line, depth: depth as u32, result: SmallVec::new() });
    }

    /// The history is about the last instruction, if it `is_watched`.
    pub(crate) fn mark(&mut self, is_watched: bool) {
        let last = (self.dropped + self.entries.len()).checked_sub(1);
        self.about = last.filter(|_| is_watched);
    }

    /// What was executed up to the marked instruction.
    pub(crate) fn history(self) -> Option<History> {
        let about = self.about?.checked_sub(self.dropped)?;
        Some(self.up_to(about))
    }

    /// All that was executed.
    pub(crate) fn whole(self) -> History {
        self.up_to(usize::MAX)
    }

    fn up_to(mut self, about: usize) -> History {
        self.entries.truncate(about.saturating_add(1));
        let is_whole = self.dropped == 0;
        History { invocation: self.invocation, entries: self.entries.into(), is_whole }
    }
}

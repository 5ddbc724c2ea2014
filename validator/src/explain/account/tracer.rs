//! What is noted while invocations run, instruction by instruction.

use std::collections::BTreeMap;

use super::history::Recorder;
use crate::interp::Invocation;
use crate::ir::{Line, Program};
use crate::value::Scalar;

/// An instruction whose values are noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// Its line.
    pub line: Line,
    /// The lines of the instructions of the same function whose results it takes.
    pub operands: Vec<Line>,
}

/// What an instruction computed once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Computed {
    /// Who executed it, by the number in the dispatch.
    pub invocation: u32,
    /// The instruction's line.
    pub line: Line,
    /// What it took, by the lines of the instructions that computed it.
    pub operands: Vec<(Line, Vec<Scalar>)>,
    /// What it gave; none where it has no result or did not come to one.
    pub result: Option<Vec<Scalar>>,
}

/// A branch that an invocation took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The branch's line.
    pub(crate) line: Line,
    /// The line of the block that it went to.
    pub(crate) to: Line,
}

/// Instructions that are watched, of all invocations together.
const FUEL: u64 = 1 << 20;

/// Invocations that are watched.
const INVOCATIONS: u32 = 64;

/// Times that one instruction is noted.
const TIMES: usize = 1 << 8;

/// Branches that are noted of one invocation.
const BRANCHES: usize = 1 << 12;

/// What is noted.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    watched: BTreeMap<Line, Vec<Line>>,
    with_branches: bool,
    /// Instructions that may still be watched.
    left: u64,
    /// What every invocation does next with what it began.
    begun: BTreeMap<u32, Begun>,
    times: BTreeMap<Line, usize>,
    pub(crate) computed: Vec<Computed>,
    /// The branches of each invocation.
    pub(crate) taken: BTreeMap<u32, Vec<Taken>>,
    /// Of one invocation everything.
    pub(crate) recorder: Option<Recorder>,
}

/// What an invocation has begun, and how many calls it was in.
#[derive(Clone, Copy, Debug)]
struct Begun {
    depth: usize,
    line: Line,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Computes(usize),
    Branches,
}

impl Tracer {
    /// Notes what these compute, and perhaps which way branches go.
    pub(crate) fn of(watched: &[Watched], with_branches: bool) -> Self {
        let watched = watched.iter().map(|watched| (watched.line, watched.operands.clone())).collect();
        Tracer { watched, with_branches, left: FUEL, ..Tracer::default() }
    }

    /// Notes everything that an invocation does.
    pub(crate) fn recording(invocation: u32) -> Self {
        Tracer { left: FUEL, recorder: Some(Recorder::of(invocation)), ..Tracer::default() }
    }

    /// The invocation of which everything is noted.
    pub(crate) fn records(&self) -> Option<u32> {
        self.recorder.as_ref().map(|recorder| recorder.invocation)
    }

    /// The last instruction of the recorded invocation is the one that matters; none, where it was not watched any more.
    pub(crate) fn mark(&mut self) {
        let is_watched = self.left > 0;
        if let Some(recorder) = &mut self.recorder {
            recorder.mark(is_watched);
        }
    }

    /// Whether an invocation must be run instruction by instruction.
    pub(crate) fn watches(&self, invocation: u32) -> bool {
        if let Some(recorder) = &self.recorder {
            return recorder.invocation == invocation && self.left > 0;
        }
        let wants = self.with_branches || (!self.watched.is_empty() && invocation < INVOCATIONS);
        wants && self.left > 0
    }

    /// Looks at an invocation in front of its next instruction.
    pub(crate) fn note(&mut self, invocation: u32, program: &Program, run: &Invocation) {
        self.left -= 1;
        let position = run.position();
        let Some((at, calls)) = position.split_last() else { return };
        let Some(function) = program.functions.get(at.function.0 as usize) else { return };
        let Some(inst) = function.code.get(at.index as usize) else { return };
        let depth = calls.len();
        if let Some(recorder) = &mut self.recorder {
            return recorder.note(inst.line, depth, program, run);
        }
        if let Some(begun) = self.begun.get(&invocation).copied() {
            match begun.what {
                // An instruction may be started again, or be several.
                What::Computes(_) if begun.depth == depth && begun.line == inst.line => return,
                What::Computes(index) if begun.depth == depth => {
                    self.computed[index].result = run.result_on(program, begun.line);
                    self.begun.remove(&invocation);
                }
                What::Computes(_) => {}
                What::Branches if begun.line == inst.line => return,
                What::Branches => {
                    let block = function.blocks.iter().rev().find(|block| block.start <= at.index);
                    let taken = self.taken.entry(invocation).or_default();
                    if let Some(block) = block.filter(|_| taken.len() < BRANCHES) {
                        taken.push(Taken { line: begun.line, to: block.line });
                    }
                    self.begun.remove(&invocation);
                }
            }
        }
        if self.with_branches && inst.op.edges().len() > 1 {
            self.begun.insert(invocation, Begun { depth, line: inst.line, what: What::Branches });
        }
        let Some(operands) = self.watched.get(&inst.line) else { return };
        let times = self.times.entry(inst.line).or_default();
        if *times == TIMES {
            return;
        }
        *times += 1;
        let operands =
            operands.iter().filter_map(|line| Some((*line, run.result_on(program, *line)?))).collect();
        self.computed.push(Computed { invocation, line: inst.line, operands, result: None });
        let what = What::Computes(self.computed.len() - 1);
        self.begun.insert(invocation, Begun { depth, line: inst.line, what });
    }
}

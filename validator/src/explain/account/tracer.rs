//! What is noted while invocations run, instruction by instruction.

use std::collections::BTreeMap;

use super::bound::Bound;
use super::history::{History, Recorder};
use crate::interp::Invocation;
use crate::ir::{Line, Program};
use crate::model::graph::EventId;
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

/// Who is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Who {
    #[default]
    Nobody,
    /// Everybody, up to a bound.
    Everybody,
    /// These two, and everything that they do is noted.
    Both([u32; 2]),
    /// This one, and everything that it does is noted.
    Recorded(u32),
}

/// What watched instructions computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Computations {
    /// Of each invocation in order.
    pub all: Vec<Computed>,
    /// Behind this bound there may be more.
    pub cut: Option<Bound>,
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

/// Invocations that are watched where it is not known which one matters.
const INVOCATIONS: u32 = 64;

/// Times that one instruction is noted.
const TIMES: usize = 1 << 8;

/// Times that instructions are noted together.
const VALUES: usize = 1 << 14;

/// Branches that are noted of one invocation.
const BRANCHES: usize = 1 << 12;

/// What is noted.
#[derive(Debug, Default)]
pub(crate) struct Tracer {
    watched: BTreeMap<Line, Vec<Line>>,
    pub(crate) who: Who,
    with_branches: bool,
    /// Instructions that may still be watched.
    left: u64,
    /// What every invocation does next with what it began.
    begun: BTreeMap<u32, Begun>,
    times: BTreeMap<Line, usize>,
    pub(crate) computed: Computations,
    /// The branches of each invocation.
    pub(crate) taken: BTreeMap<u32, Vec<Taken>>,
    /// The bound behind which branches are missing.
    pub(crate) cut: Option<Bound>,
    /// Of one or two invocations everything.
    pub(crate) recorders: Vec<Recorder>,
    /// The events of the witness that histories are about.
    about: Vec<EventId>,
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
    /// Notes what these instructions compute in these invocations.
    pub(crate) fn of(watched: &[Watched], who: Who) -> Self {
        let watched = watched.iter().map(|watched| (watched.line, watched.operands.clone())).collect();
        let recorders = match who {
            Who::Recorded(invocation) => vec![Recorder::of(invocation)],
            Who::Both(both) => both.map(Recorder::of).into(),
            Who::Nobody | Who::Everybody => Vec::new(),
        };
        Tracer { watched, who, recorders, left: FUEL, ..Tracer::default() }
    }

    /// Notes also which way branches go.
    pub(crate) fn with_branches(self) -> Self {
        Tracer { with_branches: true, ..self }
    }

    /// Histories are about what makes these events of the witness.
    pub(crate) fn up_to(self, about: [EventId; 2]) -> Self {
        Tracer { about: about.into(), ..self }
    }

    /// The last instruction of an invocation makes this event of the witness.
    pub(crate) fn matched(&mut self, invocation: u32, event: EventId) {
        if self.about.contains(&event) {
            let is_watched = self.left > 0;
            let mut recorders = self.recorders.iter_mut();
            let own = recorders.find(|recorder| recorder.invocation == invocation);
            own.into_iter().for_each(|recorder| recorder.mark(is_watched));
        }
    }

    /// The invocation of which everything is noted up to one instruction.
    pub(crate) fn records(&self) -> Option<u32> {
        match self.who {
            Who::Recorded(invocation) => Some(invocation),
            Who::Nobody | Who::Everybody | Who::Both(_) => None,
        }
    }

    /// The last instruction of the recorded invocation is the one that matters; none, where it was not watched any more.
    pub(crate) fn mark(&mut self) {
        let is_watched = self.left > 0;
        self.recorders.iter_mut().for_each(|recorder| recorder.mark(is_watched));
    }

    /// What the recorded invocation executed up to the marked instruction.
    pub(crate) fn history(&mut self) -> Option<History> {
        self.recorders.pop().and_then(Recorder::history)
    }

    /// Whether an invocation must be run instruction by instruction.
    pub(crate) fn watches(&mut self, invocation: u32) -> bool {
        let is_wanted = match self.who {
            Who::Recorded(recorded) => recorded == invocation,
            _ if self.with_branches => true,
            Who::Nobody => false,
            Who::Both(both) => both.contains(&invocation),
            Who::Everybody if self.watched.is_empty() => false,
            Who::Everybody => {
                let is_first = invocation < INVOCATIONS;
                if !is_first {
                    self.computed.cut.get_or_insert(Bound::Invocations(INVOCATIONS));
                }
                is_first
            }
        };
        if is_wanted && self.left == 0 {
            self.computed.cut.get_or_insert(Bound::Watched(FUEL));
            self.cut.get_or_insert(Bound::Watched(FUEL));
        }
        is_wanted && self.left > 0
    }

    /// Looks at an invocation in front of its next instruction.
    pub(crate) fn note(&mut self, invocation: u32, program: &Program, run: &Invocation) {
        self.left -= 1;
        let position = run.position();
        let Some((at, calls)) = position.split_last() else { return };
        let Some(function) = program.functions.get(at.function.0 as usize) else { return };
        let Some(inst) = function.code.get(at.index as usize) else { return };
        let depth = calls.len();
        let recorder = self.recorders.iter_mut().find(|recorder| recorder.invocation == invocation);
        if let Some(recorder) = recorder {
            recorder.note(inst.line, depth, program, run);
        }
        if let Some(begun) = self.begun.get(&invocation).copied() {
            match begun.what {
                // An instruction may be started again, or be several.
                What::Computes(_) if begun.depth == depth && begun.line == inst.line => return,
                What::Computes(index) if begun.depth == depth => {
                    self.computed.all[index].result = run.result_on(program, begun.line);
                    self.begun.remove(&invocation);
                }
                What::Computes(_) => {}
                What::Branches if begun.line == inst.line => return,
                What::Branches => {
                    let block = function.blocks.iter().rev().find(|block| block.start <= at.index);
                    let taken = self.taken.entry(invocation).or_default();
                    if taken.len() == BRANCHES {
                        self.cut.get_or_insert(Bound::Branches(BRANCHES));
                    } else if let Some(block) = block {
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
        let bound = match (*times, self.computed.all.len()) {
            (TIMES, _) => Some(Bound::Times(TIMES)),
            (_, VALUES) => Some(Bound::Values(VALUES)),
            _ => None,
        };
        if bound.is_some() {
            self.computed.cut = self.computed.cut.or(bound);
            return;
        }
        *times += 1;
        let operands =
            operands.iter().filter_map(|line| Some((*line, run.result_on(program, *line)?))).collect();
        self.computed.all.push(Computed { invocation, line: inst.line, operands, result: None });
        let what = What::Computes(self.computed.all.len() - 1);
        self.begun.insert(invocation, Begun { depth, line: inst.line, what });
    }
}

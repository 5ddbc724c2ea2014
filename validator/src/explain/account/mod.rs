//! What happened in a witness beside its events: who ran into undefined behaviour and with which values, who waits for
//! ever and for what, where invocations parted, and what changed instructions computed in both modules.
//!
//! It is found by running the witness's invocations once more with the values that they read in it (`replay`). An account
//! tells nothing where that does not come to the end of the witness.

mod history;
mod parting;
mod tracer;

use super::replay::{self, Kin, Played};
use super::Side;
use crate::behaviour::Undefined;
use crate::dispatch::Dispatch;
use crate::event::{Fault, UndefinedKind};
use crate::interp::Invocation;
use crate::ir::{Line, Program};
use crate::value::Byte;
use crate::witness::Witness;

pub use history::{Entry, History};
pub use parting::Parting;
pub(super) use tracer::Tracer;
pub use tracer::{Computed, Watched};

/// What happened in a witness beside its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Who ran into the undefined behaviour.
    pub fault: Option<FaultAccount>,
    /// Who did not come to its end, by the invocation's number.
    pub standing: Vec<Standing>,
    /// Where invocations went different ways, of which only one leads to a control barrier.
    pub parting: Option<Parting>,
    /// What changed instructions computed with what the witness reads, in before and in after.
    pub computed: [Vec<Computed>; 2],
    /// What the invocations executed that wrote the byte that differs, up to there; in before and in after. For undefined
    /// behaviour what the invocation executes in before that has it in after.
    pub wrote: [Option<History>; 2],
}

/// An invocation that ran into undefined behaviour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultAccount {
    /// The lines of the calls that it is in, outermost first.
    pub calls: Vec<Line>,
    /// What it executed up to there.
    pub history: History,
}

/// An invocation that does not come to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its number in the dispatch.
    pub invocation: u32,
    /// The line of the instruction at which it stands.
    pub line: Line,
    /// The line of the header of the innermost loop around it.
    pub loop_line: Option<Line>,
    /// What it waits for.
    pub at: StandsAt,
    /// The lines of the conditional branches of that loop, with whether they go the first way; none where that is not
    /// defined.
    pub branches: Vec<(Line, Option<bool>)>,
}

/// What an invocation waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StandsAt {
    /// At a control barrier, for others.
    Barrier,
    /// In a loop, for another value than these bytes of an object.
    Value {
        /// The object's number in the dispatch.
        object: u32,
        /// The first byte that is read.
        offset: u32,
        /// What is there; none where that is not known.
        bytes: Option<Vec<Byte>>,
    },
    /// In a loop that reads nothing which others write.
    Nothing,
}

/// How an invocation of a replay ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It came to its end.
    Finished,
    /// At undefined behaviour.
    Fault(Fault),
    /// At a control barrier on this line, which others do not come to.
    Barrier(Line),
    /// In a loop, perhaps at a read, and with what it read last.
    Waits(Option<LastRead>),
    /// Somewhere else.
    Unknown,
}

/// What an invocation read last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastRead {
    /// The line of the instruction.
    pub(super) line: Line,
    /// The line of the innermost loop around it.
    pub(super) loop_line: Option<Line>,
    /// The object and its first byte.
    pub(super) place: (u32, u32),
    /// What it read; none where it waits there and the value is not known.
    pub(super) bytes: Option<Vec<Byte>>,
}

/// What is to be told.
#[derive(Clone, Copy, Debug)]
pub(super) enum About<'a> {
    /// An undefined behaviour that is no data race.
    Undefined(&'a Undefined),
    /// Somebody waits for ever.
    Hang,
    /// The value of a byte of an object: what the outcome has there.
    Value(Option<((u32, u32), Byte)>),
}

impl Account {
    /// Whether it says nothing of what it is about.
    pub(super) fn is_silent(&self, about: About) -> bool {
        match about {
            About::Undefined(_) => self.fault.is_none() && self.parting.is_none(),
            About::Hang => self.standing.is_empty(),
            About::Value(_) => false,
        }
    }
}

/// Of a witness on its own module, told where it comes to the same end. `watched` are lines of the module.
pub(super) fn of(
    own: Side,
    witness: &Witness,
    about: About,
    way: u32,
    watched: &[Watched],
    is_over: &dyn Fn() -> bool,
) -> Option<Account> {
    let kin = match about {
        About::Hang => Kin::OwnThatHangs,
        About::Undefined(_) | About::Value(_) => Kin::Own,
    };
    let diverges =
        matches!(about, About::Undefined(undefined) if undefined.kind == UndefinedKind::DivergentBarrier);
    let mut tracer = Tracer::of(watched, diverges);
    let target = match about {
        About::Value(target) => target.map(|(place, _)| place),
        About::Undefined(_) | About::Hang => None,
    };
    let played = Played { before: own, after: own.dispatch, witness, kin, way, target };
    let replay = replay::run(played, &mut tracer, is_over)?;
    let again = |invocation: u32, target: Option<(u32, u32)>| {
        let mut tracer = Tracer::recording(invocation);
        replay::run(Played { target, ..played }, &mut tracer, is_over)?;
        if target.is_none() {
            tracer.mark();
        }
        tracer.recorder
    };
    let mut account = Account::default();
    match about {
        About::Undefined(undefined) if diverges => {
            let is_there =
                |ended: &Ended| matches!(ended, Ended::Barrier(line) if undefined.lines.contains(line));
            let (there, others): (Vec<u32>, Vec<u32>) =
                (0..replay.runs.len() as u32).partition(|agent| is_there(&replay.runs[*agent as usize].1));
            account.parting = parting::of(&there, &others, &tracer.taken);
            account.standing = standing(own.program, &replay.runs);
        }
        About::Undefined(undefined) => {
            let is_it = |ended: &Ended| matches!(ended, Ended::Fault(fault) if Undefined::from(fault.clone()) == *undefined);
            let (invocation, (run, _)) = (0..).zip(&replay.runs).find(|(_, (_, ended))| is_it(ended))?;
            let recorder = again(invocation, None)?;
            account.fault =
                recorder.history().map(|history| FaultAccount { calls: calls(own.program, run), history });
        }
        About::Hang => account.standing = standing(own.program, &replay.runs),
        About::Value(target) => {
            // Who writes last is not decided by the replay, where several do.
            let writer = target.zip(replay.writer).filter(|((_, left), (_, byte))| left == byte);
            account.wrote[1] =
                writer.and_then(|((place, _), (writer, _))| again(writer, Some(place))?.history());
        }
    }
    account.computed = [Vec::new(), tracer.computed];
    Some(account)
}

/// The lines of the calls that an invocation is in.
fn calls(program: &Program, run: &Invocation) -> Vec<Line> {
    let position = run.position();
    let lines = position.iter().filter_map(|at| {
        let function = program.functions.get(at.function.0 as usize)?;
        Some(function.code.get(at.index as usize)?.line)
    });
    let mut calls: Vec<Line> = lines.collect();
    calls.pop();
    calls
}

/// What an invocation executes in before with what the witness reads.
pub(super) fn executed(
    before: Side,
    after: &Dispatch,
    witness: &Witness,
    invocation: u32,
    is_over: &dyn Fn() -> bool,
) -> Option<History> {
    let mut tracer = Tracer::recording(invocation);
    let played = Played { before, after, witness, kin: Kin::Other, way: 0, target: None };
    replay::run(played, &mut tracer, is_over)?;
    tracer.mark();
    tracer.recorder?.history()
}

/// What the invocation of before executed that writes a byte with what the witness reads, up to there.
pub(super) fn wrote(
    before: Side,
    after: &Dispatch,
    witness: &Witness,
    writer: u32,
    place: (u32, u32),
    is_over: &dyn Fn() -> bool,
) -> Option<History> {
    let mut tracer = Tracer::recording(writer);
    let played = Played { before, after, witness, kin: Kin::Other, way: 0, target: Some(place) };
    replay::run(played, &mut tracer, is_over)?;
    tracer.recorder?.history()
}

fn standing(program: &Program, runs: &[(Invocation, Ended)]) -> Vec<Standing> {
    let mut all = Vec::new();
    for (invocation, (run, ended)) in (0..).zip(runs) {
        let loop_line = run.loop_line(program);
        let of_instruction = run.instruction(program).map(|inst| inst.line);
        let (line, at) = match ended {
            Ended::Barrier(line) => (Some(*line), StandsAt::Barrier),
            // What was read in front of the loop says nothing.
            Ended::Waits(Some(read)) if read.loop_line == loop_line => {
                let (object, offset) = read.place;
                (Some(read.line), StandsAt::Value { object, offset, bytes: read.bytes.clone() })
            }
            Ended::Waits(_) => (of_instruction, StandsAt::Nothing),
            Ended::Finished | Ended::Fault(_) | Ended::Unknown => continue,
        };
        let branches = run.loop_branches(program).into_iter();
        let branches = branches
            .map(|(line, condition)| (line, condition.is_defined().then_some(condition.bits != 0)))
            .collect();
        all.extend(line.map(|line| Standing { invocation, line, loop_line, at, branches }));
    }
    all
}

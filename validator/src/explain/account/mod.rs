//! What happened in a witness beside its events: who ran into undefined behaviour and with which values, who waits for
//! ever and for what, where invocations parted, and what changed instructions computed in both modules.
//!
//! It is found by running the witness's invocations once more with the values that they read in it (`replay`). An account
//! says at which bound that was given up where it does not come to the end of the witness.

mod bound;
mod history;
mod parting;
mod tracer;

use super::replay::{self, Kin, Played, Replay, Until};
use super::Side;
use crate::behaviour::Undefined;
use crate::dispatch::Dispatch;
use crate::event::{Fault, UndefinedKind};
use crate::interp::Invocation;
use crate::ir::{Line, Program};
use crate::model::graph::EventId;
use crate::value::Byte;
use crate::witness::Witness;

pub use bound::Bound;
use history::Recorder;
pub use history::{Entry, History};
pub use parting::Parting;
pub use tracer::{Computations, Computed, Watched};
pub(super) use tracer::{Tracer, Who};

/// What happened in a witness beside its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Who ran into the undefined behaviour.
    pub fault: Option<FaultAccount>,
    /// Who did not come to its end, by the invocation's number.
    pub standing: Vec<Standing>,
    /// Where invocations went different ways, of which only one leads to a control barrier.
    pub parting: Option<Parting>,
    /// What changed instructions computed with what the witness reads, in before and in after: by the invocation that the
    /// account is about, if there is one.
    pub computed: [Computations; 2],
    /// What the invocations executed that wrote the byte that differs, up to there; in before and in after. For undefined
    /// behaviour what the invocation executes in before that has it in after.
    pub wrote: [Option<History>; 2],
    /// What the invocations executed that race, up to their accesses.
    pub raced: Vec<Raced>,
    /// The bound at which an invocation was given up, in before and in after: what it did from there on is not known.
    pub cut: [Option<Bound>; 2],
}

/// An invocation that races with another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raced {
    /// What it executed in after up to the access that races.
    pub after: History,
    /// What it executed in before with the values that it reads in after, up to its end.
    pub before: Option<History>,
}

/// An access of an execution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Access {
    /// Who makes it.
    pub(super) invocation: u32,
    /// Its event in the graph of the witness.
    pub(super) event: EventId,
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
    /// Perhaps nothing: it was followed up to this bound.
    Unknown(Bound),
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
    /// It was given up at a bound of the replay.
    Cut(Bound),
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
    /// A data race between these accesses.
    Race([Access; 2]),
    /// An undefined behaviour that is no data race.
    Undefined(&'a Undefined),
    /// Somebody waits for ever.
    Hang,
    /// The value of a byte of an object: what the outcome has there.
    Value(Option<((u32, u32), Byte)>),
}

impl Account {
    /// Whether it says nothing of what it is about.
    fn is_silent(&self, about: About) -> bool {
        match about {
            About::Race(_) | About::Value(_) => false,
            About::Undefined(_) => self.fault.is_none() && self.parting.is_none(),
            About::Hang => self.standing.is_empty(),
        }
    }

    /// The invocation that it is about, if it is one.
    pub(super) fn guilty(&self) -> Option<u32> {
        let fault = self.fault.as_ref().map(|fault| &fault.history);
        fault.or(self.wrote[1].as_ref()).map(|history| history.invocation)
    }
}

/// A witness on its own module. `watched` are lines of the module.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    pub(super) side: Side<'a>,
    pub(super) witness: &'a Witness,
    pub(super) watched: &'a [Watched],
    pub(super) is_over: &'a dyn Fn() -> bool,
}

/// An account, who was watched, and whether what is undefined could go another way.
struct Found {
    account: Account,
    who: Who,
    chose: bool,
}

/// Of a witness on its own module, with who was watched; `None` where time is over first.
pub(super) fn of(own: Own, about: About) -> Option<(Account, Who)> {
    let first = own.account(about, 0)?;
    // What is undefined may go either way, and only one of them may come to the witness's end.
    let found = match first.chose && first.account.is_silent(about) {
        true => Some(own.account(about, 1)?).filter(|other| !other.account.is_silent(about)).unwrap_or(first),
        false => first,
    };
    Some((found.account, found.who))
}

impl Own<'_> {
    /// The account of the execution in which what is undefined goes one way.
    fn account(&self, about: About, way: u32) -> Option<Found> {
        match about {
            About::Race(accesses) => self.race(accesses, way),
            About::Undefined(undefined) if undefined.kind == UndefinedKind::DivergentBarrier => {
                self.parting(undefined, way)
            }
            About::Undefined(undefined) => self.fault(undefined, way),
            About::Hang => {
                let mut tracer = Tracer::of(self.watched, Who::Everybody);
                let replay = self.play(&mut tracer, (Kin::OwnThatHangs, way), None, Until::End)?;
                let standing = standing(self.side.program, &replay.runs);
                let found = found(&replay, tracer);
                Some(Found { account: Account { standing, ..found.account }, ..found })
            }
            About::Value(None) => self.everybody(Tracer::of(self.watched, Who::Everybody), (Kin::Own, way)),
            About::Value(Some((place, left))) => self.value(place, left, way),
        }
    }

    fn play(
        &self,
        tracer: &mut Tracer,
        (kin, way): (Kin, u32),
        target: Option<(u32, u32)>,
        until: Until,
    ) -> Option<Replay> {
        let Own { side, witness, .. } = *self;
        let played = Played { before: side, after: side.dispatch, witness, kin, way, target, until };
        replay::run(played, tracer, self.is_over)
    }

    /// What a tracer notes of the whole witness.
    fn everybody(&self, mut tracer: Tracer, how: (Kin, u32)) -> Option<Found> {
        let replay = self.play(&mut tracer, how, None, Until::End)?;
        Some(found(&replay, tracer))
    }

    /// What two invocations do that race.
    fn race(&self, accesses: [Access; 2], way: u32) -> Option<Found> {
        let who = accesses.map(|access| access.invocation);
        let mut tracer = Tracer::of(self.watched, Who::Both(who)).up_to(accesses.map(|access| access.event));
        let replay = self.play(&mut tracer, (Kin::Own, way), None, Until::End)?;
        let of = |recorder: Recorder| Some(Raced { after: recorder.history()?, before: None });
        let raced = std::mem::take(&mut tracer.recorders).into_iter().filter_map(of).collect();
        let found = found(&replay, tracer);
        Some(Found { account: Account { raced, ..found.account }, ..found })
    }

    /// Where those part that come to a control barrier, and those that do not.
    fn parting(&self, undefined: &Undefined, way: u32) -> Option<Found> {
        let mut tracer = Tracer::of(self.watched, Who::Everybody).with_branches();
        let replay = self.play(&mut tracer, (Kin::Own, way), None, Until::End)?;
        let is_there =
            |ended: &Ended| matches!(ended, Ended::Barrier(line) if undefined.lines.contains(line));
        let (there, others): (Vec<u32>, Vec<u32>) =
            (0..replay.runs.len() as u32).partition(|agent| is_there(&replay.runs[*agent as usize].1));
        let parting = parting::of(&there, &others, &tracer.taken);
        let standing = standing(self.side.program, &replay.runs);
        let cut = replay.cut().or(tracer.cut);
        let found = found(&replay, tracer);
        let account = Account { parting, standing, cut: [None, cut], ..found.account };
        Some(Found { account, ..found })
    }

    /// Who ran into an undefined behaviour. Whose instructions are recorded is guessed first.
    fn fault(&self, undefined: &Undefined, way: u32) -> Option<Found> {
        let is_it = |ended: &Ended| matches!(ended, Ended::Fault(fault) if Undefined::from(fault.clone()) == *undefined);
        let guess = self.witness.graph().events.last().map_or(0, |event| event.agent);
        let record = |invocation: u32| {
            let mut tracer = Tracer::of(self.watched, Who::Recorded(invocation));
            let replay = self.play(&mut tracer, (Kin::Own, way), None, Until::Undefined(undefined))?;
            let it = replay.runs.iter().position(|(_, ended)| is_it(ended));
            Some((replay, tracer, it))
        };
        let (mut replay, mut tracer, mut it) = record(guess)?;
        if let Some(other) = it.filter(|it| *it as u32 != guess) {
            (replay, tracer, it) = record(other as u32)?;
        }
        let Some(it) = it else { return Some(found(&replay, Tracer::default())) };
        tracer.mark();
        let history = tracer.history();
        let calls = calls(self.side.program, &replay.runs[it].0);
        let fault = history.map(|history| FaultAccount { calls, history });
        let found = found(&replay, tracer);
        Some(Found { account: Account { fault, ..found.account }, ..found })
    }

    /// Who wrote a byte that the outcome has as it is `left`, and how it came to it.
    fn value(&self, place: (u32, u32), left: Byte, way: u32) -> Option<Found> {
        let guess = self.guess(place);
        let mut tracer = Tracer::of(self.watched, Who::Recorded(guess));
        let replay = self.play(&mut tracer, (Kin::Own, way), Some(place), Until::End)?;
        // Who writes last is not decided by the replay, where several do.
        let writer = replay.writer.filter(|(_, byte)| *byte == left).map(|(writer, _)| writer);
        let Some(writer) = writer else {
            // It is known of one invocation that it is this one.
            return match self.side.dispatch.places.len() {
                1 => Some(found(&replay, tracer)),
                _ => self.everybody(Tracer::of(self.watched, Who::Everybody), (Kin::Own, way)),
            };
        };
        if writer != guess {
            tracer = Tracer::of(self.watched, Who::Recorded(writer));
            let until = alone_where_nobody_meets(&replay, writer);
            self.play(&mut tracer, (Kin::Own, way), Some(place), until)?;
        }
        let history = tracer.history();
        let found = found(&replay, tracer);
        Some(Found { account: Account { wrote: [None, history], ..found.account }, ..found })
    }

    /// Who probably writes a byte last: who does in the witness, or the first invocation, which often writes the first byte
    /// that differs.
    fn guess(&self, (object, byte): (u32, u32)) -> u32 {
        let memory = self.side.dispatch.objects.get(object as usize).map(|object| object.memory);
        let units = self.witness.units.iter().enumerate();
        let its = units.filter(|(_, (other, first))| Some(*other) == memory && *first <= byte);
        let unit = its.max_by_key(|(_, (_, first))| *first).map(|(unit, _)| unit as u32);
        let graph = self.witness.graph();
        let writes = |unit: u32| graph.events.iter().rfind(|event| event.written_to(unit).is_some());
        unit.and_then(writes).map_or(0, |event| event.agent)
    }
}

/// What a replay and its tracer tell of any witness.
fn found(replay: &Replay, tracer: Tracer) -> Found {
    let (who, computed) = (tracer.who, [Computations::default(), tracer.computed]);
    let account = Account { computed, cut: [None, replay.cut()], ..Account::default() };
    Found { account, who, chose: replay.chose }
}

/// Where invocations act together in a replay, one of them cannot be run alone.
fn alone_where_nobody_meets<'a>(replay: &Replay, invocation: u32) -> Until<'a> {
    match replay.met {
        true => Until::End,
        false => Until::Only(invocation),
    }
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

/// A witness that is replayed on before.
#[derive(Clone, Copy)]
pub(super) struct Other<'a> {
    pub(super) before: Side<'a>,
    pub(super) after: &'a Dispatch,
    pub(super) witness: &'a Witness,
    /// Instructions of before.
    pub(super) watched: &'a [Watched],
    /// Who was watched in after.
    pub(super) who: Who,
    pub(super) is_over: &'a dyn Fn() -> bool,
}

/// Replays a witness on before. `target` is a byte of an object of before whose writer is wanted; adds what before does to
/// an account of after.
pub(super) fn replay_on_before(
    other: Other,
    target: Option<(u32, u32)>,
    account: &mut Account,
) -> Option<Replay> {
    let Other { before, after, witness, watched, who, is_over } = other;
    let guilty = account.guilty();
    let mut tracer = Tracer::of(watched, who);
    // Without events nothing but what this invocation does can be told of it.
    let until = match (&account.fault, guilty) {
        (Some(_), Some(guilty)) if witness.graph().events.is_empty() => Until::EndOf(guilty),
        _ => Until::End,
    };
    let played = Played { before, after, witness, kin: Kin::Other, way: 0, target, until };
    let replay = replay::run(played, &mut tracer, is_over)?;
    account.cut[0] = replay.cut();
    if account.fault.is_some() {
        tracer.mark();
    } else if let (Some((writer, _)), Some(guilty)) = (replay.writer, guilty) {
        if writer != guilty {
            tracer = Tracer::of(watched, Who::Recorded(writer));
            let until = alone_where_nobody_meets(&replay, writer);
            replay::run(Played { until, ..played }, &mut tracer, is_over)?;
        }
    }
    for recorder in std::mem::take(&mut tracer.recorders) {
        match account.raced.iter_mut().find(|raced| raced.after.invocation == recorder.invocation) {
            Some(raced) => raced.before = Some(recorder.whole()),
            None if guilty.is_some() => account.wrote[0] = recorder.history(),
            None => {}
        }
    }
    account.computed[0] = tracer.computed;
    Some(replay)
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
            Ended::Cut(bound) => (of_instruction, StandsAt::Unknown(*bound)),
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

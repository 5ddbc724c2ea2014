//! Writes that only cycles of load buffering come to.
//!
//! A read waits only for a write that some round has seen. A write behind a read that speculates may be one
//! that no round sees: then nothing lets the read of it wait, and nothing closes the cycle in which it runs. So when
//! rounds teach nothing more, every invocation runs by itself, over the initial memory and what it writes itself. What
//! it reads where others may write is answered in every way: with what its own memory holds, with each value that
//! reads may speculate, and with each that such a run wrote; plain reads are, too, though they may not wait. Runs are
//! repeated until nothing is new. What they write where no round saw it, and where others read, is a writer for another
//! round. Its values are none that reads may speculate before an execution has confirmed them.
//!
//! What is found too much costs time: what an invocation writes that reads values which never meet in an execution.
//! So nothing is run where the program tells that all writes were seen that may come behind a first read, and of memory
//! without events only those count of words that others read in the last round, not ordered by barriers; and nobody
//! reads what a barrier orders behind its read. Nor do writes count of an invocation of a class
//! ([`symmetry`](super::reductions::symmetry)) of which another one was seen to write there.
//!
//! Ways of an invocation that come to the same state, its own memory included, are followed once from there: a retry
//! loop has few states, though many ways lead through it.
//!
//! What would be too much to try is put together: an undefined value stands for all others where a place has many, where
//! many ways are open already, and for what a subgroup operation gives. It leads every way of a branch. Where that does not
//! help (an undefined address), and beyond the bounds below, something may be missed: then the search counts as bounded.

pub(crate) mod path;
pub(crate) mod traffic;

use std::cell::OnceCell;
use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::{Access, Atomicity, UndefinedKind};
use crate::explore::facts::discoveries::Discoveries;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::hidden_writers::path::{OwnBytes, Path};
use crate::explore::hidden_writers::traffic::{Manner, Prober};
use crate::explore::program::units::UnitKey;
use crate::explore::state::arrivals::Arrived;
use crate::explore::state::{Context, Found};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{Invocation, SharedMemory, Stop, Written};
use crate::ir::InstId;
use crate::value::Byte;

/// Invocations of a dispatch, up to which it is probed.
const MAX_INVOCATIONS: usize = 1024;

/// Ways through the program that are followed when an invocation is run.
const MAX_PATHS: usize = 4096;

/// States in which ways branch, to each way that is followed.
const STATES_OF_A_PATH: u64 = 4;

/// Ways at one instruction: more than are followed.
const MAX_WAYS: u32 = 2 * MAX_PATHS as u32;

/// Instructions of a way without branches, of a run of one invocation, and of all runs.
const MAX_PATH: u64 = 1 << 16;

const MAX_RUN: u64 = 1 << 20;

const MAX_INSTRUCTIONS: u64 = 1 << 23;

/// Times that an invocation is run.
const MAX_RUNS: u32 = 32;

/// What a round that taught nothing more did not see.
pub(crate) enum HiddenWriters {
    Nothing,
    Writes(Box<Discoveries>),
    /// Nothing as far as the bounds allow.
    Cut,
}

/// Looks for what the last round, which taught nothing more, did not see.
pub(crate) fn find(context: &Context, knowledge: &Knowledge, last: &Found) -> HiddenWriters {
    let is_complete = !last.stop && last.bounded.is_none() && last.undecided.is_empty();
    let count = context.dispatch.places.len();
    let applies = is_complete
        && count > 1
        && (!context.settings.axioms || context.settings.model.permits_load_buffering())
        && context.settings.foreseen.writers.is_empty()
        && is_open(context, knowledge, last);
    if !applies {
        return HiddenWriters::Nothing;
    }
    if count > MAX_INVOCATIONS {
        return HiddenWriters::Cut;
    }
    let mut probe = Prober {
        context,
        knowledge,
        initial: context.dispatch.initial_memory(),
        fuel: MAX_INSTRUCTIONS,
        values: FxHashMap::default(),
        updates: FxHashMap::default(),
        writes: FxHashMap::default(),
        reads: FxHashMap::default(),
        accessed: FxHashMap::default(),
        may_write: FxHashMap::default(),
        stale: (0..count as u32).collect(),
        is_crowded: false,
        is_cut: false,
        followed: FxHashSet::default(),
        last,
        symmetries: OnceCell::new(),
    };
    let mut runs = vec![0; count];
    // Of each invocation, that its last run missed something: it had all the answers of those before.
    let mut cut = vec![false; count];
    // In turns: one that gives itself new answers, as by an update, must not use up its runs while others wait.
    while !probe.stale.is_empty() {
        for index in std::mem::take(&mut probe.stale) {
            let (runs, cut) = (&mut runs[index as usize], &mut cut[index as usize]);
            *cut = *runs >= MAX_RUNS || run(&mut probe, index);
            *runs += 1;
        }
    }
    match probe.discoveries() {
        Some(writes) => HiddenWriters::Writes(Box::new(writes)),
        None if cut.contains(&true) => HiddenWriters::Cut,
        None => HiddenWriters::Nothing,
    }
}

/// Whether the program leaves open that an invocation writes what another one read, at an instruction at which no round
/// saw that.
fn is_open(context: &Context, knowledge: &Knowledge, last: &Found) -> bool {
    let count = context.dispatch.places.len() as u32;
    let found = &last.discoveries;
    // Up to its first decision an invocation does what was seen.
    let may_come_to = |index: u32, inst: InstId| {
        let first = last.first_decisions.get(&index);
        first.is_some_and(|position| context.reach.may_reach(position, inst))
            || found.read.iter().any(|(_, reader)| *reader == index)
    };
    let is_written = |unit: &UnitKey, reader: Option<u32>| {
        let word = (unit.0, unit.1 / 4 * 4);
        (0..count).filter(|index| Some(*index) != reader).any(|index| {
            let mut writes = context.writers.of_word(context.dispatch, index as usize, word);
            writes.any(|inst| !knowledge.has_writer(unit, &(index, inst)) && may_come_to(index, inst))
        })
    };
    found.wanted_writers.iter().any(|unit| is_written(unit, None))
        || found.read.iter().any(|(word, reader)| is_written(word, Some(*reader)))
}

/// What a path goes on with.
enum Answer {
    Start,
    Way(u32),
    Read(Vec<Byte>),
    Atomic { access: Access, bytes: Vec<Byte>, way: Option<u32> },
}

/// Runs an invocation, those ways first on which least is read from others. Returns whether a bound kept something
/// from being followed.
fn run(probe: &mut Prober, index: u32) -> bool {
    let Context { program, dispatch, .. } = *probe.context;
    let first = Path::new(index, Invocation::new(program, dispatch, index));
    let mut rest = VecDeque::from([(first, Answer::Start)]);
    let mut paths = 1_u64;
    // All of them come to their turn.
    let share = MAX_INSTRUCTIONS / (2 * dispatch.places.len() as u64);
    let mut left = MAX_RUN.min(share).min(probe.fuel);
    // As long as all that is left may be followed to its end.
    let most = MAX_PATHS as u64 / (dispatch.places.len() as u64).max(4);
    let mut longest = 0;
    probe.followed.clear();
    probe.is_cut = false;
    while let Some((mut path, answer)) = rest.pop_front() {
        let mut answer = Some(answer);
        let given = MAX_PATH.min(left);
        let mut fuel = given;
        while let Some(next) = answer.take() {
            let affordable = left / 2 / longest.max(given - fuel).max(1);
            let states = probe.followed.len() as u64;
            probe.is_crowded =
                paths > most || states > STATES_OF_A_PATH * most || rest.len() as u64 > affordable;
            let mut ways = follow(probe, &mut path, next, &mut fuel);
            if paths > 1 && !ways.is_empty() && was_followed(probe, &path) {
                paths -= 1;
                ways.clear();
            }
            let mut ways = ways.into_iter();
            answer = ways.next();
            let room = (MAX_PATHS as u64 - paths) as usize;
            probe.is_cut |= ways.len() > room;
            for other in ways.take(room) {
                paths += 1;
                rest.push_back((path.clone(), other));
            }
        }
        longest = longest.max(given - fuel);
        left -= given - fuel;
        probe.fuel -= given - fuel;
    }
    probe.is_cut
}

/// Follows a path to where it may go on in several ways; none at its end.
fn follow(probe: &mut Prober, path: &mut Path, answer: Answer, fuel: &mut u64) -> Vec<Answer> {
    let (first, stands_at) = match answer {
        Answer::Start => (Decision::GoOn, None),
        Answer::Way(way) => (Decision::Choose(way), None),
        Answer::Read(bytes) => {
            path.guesses |= bytes.contains(&Byte::Undef);
            (Decision::Read(bytes), None)
        }
        Answer::Atomic { access, bytes, way } => {
            path.guesses |= bytes.contains(&Byte::Undef);
            (Decision::AtomicRead { bytes, way }, Some(access))
        }
    };
    let program = probe.context.program;
    let ways = runner::drive(program, &mut Following { probe, path, fuel, stands_at }, first);
    probe.is_cut |= path.guesses && path.invocation.is_lost();
    ways
}

/// Whether another way through this run came to where this one stands, with the same future: it is followed from there.
fn was_followed(probe: &mut Prober, path: &Path) -> bool {
    path.future(&probe.context.pauses).is_some_and(|future| !probe.followed.insert(future))
}

/// A path that goes on to the next stop at which there are several ways.
struct Following<'f, 'p> {
    probe: &'f mut Prober<'p>,
    path: &'f mut Path,
    fuel: &'f mut u64,
    /// What the atomic instruction accesses that it stands at.
    stands_at: Option<Access>,
}

impl Driver for Following<'_, '_> {
    type End = Vec<Answer>;

    fn run(&mut self) -> Stop {
        let Following { probe, path, fuel, .. } = self;
        let Context { program, dispatch, .. } = *probe.context;
        let Path { index, invocation, own, changes, .. } = &mut **path;
        let mut view = View { probe, index: *index, own, changes, written: Vec::new() };
        let stop = invocation.run(program, dispatch, &mut view, fuel);
        for (access, bytes) in view.written {
            probe.note_write(path, &access, &bytes, None);
        }
        stop
    }

    fn invocation(&mut self) -> &mut Invocation {
        &mut self.path.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<Vec<Answer>> {
        let Following { probe, path, .. } = self;
        let program = probe.context.program;
        match stop {
            Stop::Read(access) => {
                let answers = probe.answers(path, &access, Manner::Plain);
                return Decision::End(answers.into_iter().map(Answer::Read).collect());
            }
            Stop::AtomicRead { access, atomicity, may_write } => {
                let manner = if may_write { Manner::Update } else { Manner::Load };
                let mut answers = probe.answers(path, &access, manner);
                if atomicity.commutes.is_some() {
                    // Nobody learns what it reads, only what it makes of that.
                    let others = answers.split_off(answers.len().min(1));
                    for bytes in others {
                        let written = path.invocation.clone().supply_atomic(program, &bytes);
                        let written = written.unwrap_or_default();
                        probe.note_write(path, &access, &written, Some(&bytes));
                    }
                }
                let ways = |bytes: Vec<Byte>| {
                    let count = path.invocation.atomic_ways(program, &bytes);
                    let ways = (0..count).map(|way| (count > 1).then_some(way));
                    let answer = |way| Answer::Atomic { access: access.clone(), bytes: bytes.clone(), way };
                    ways.map(answer).collect::<Vec<_>>()
                };
                return Decision::End(answers.into_iter().flat_map(ways).collect());
            }
            Stop::Write(access, bytes) | Stop::AtomicWrite { access, bytes, .. } => {
                probe.write(path, &access, &bytes, None);
            }
            Stop::Barrier { execution, fence, name, waits, line, .. } => {
                path.phase.pass(&Arrived { execution, fence, name, waits, line });
            }
            Stop::Choose { ways, .. } => {
                return Decision::End((0..ways.min(MAX_WAYS)).map(Answer::Way).collect());
            }
            Stop::LoopEntry { function_depth, loop_id } => path.arrive(function_depth, loop_id),
            Stop::Iteration { function_depth, loop_id, .. } => {
                if path.comes_back(program, function_depth, loop_id) {
                    return Decision::End(Vec::new());
                }
                path.arrive(function_depth, loop_id);
            }
            Stop::Fence(_) | Stop::Device(..) => {}
            Stop::Subgroup { .. } => {
                path.guesses = true;
                path.invocation.supply_undefined(program);
            }
            // It may do anything from here on: what it would have done, too.
            Stop::Fault(fault) => {
                if !goes_on_behind(probe, path, fault.kind) || !path.invocation.pass_fault(program) {
                    return Decision::End(Vec::new());
                }
            }
            Stop::Discarded => {
                probe.is_cut |= path.guesses;
                return Decision::End(Vec::new());
            }
            Stop::Finished | Stop::Forever { .. } => return Decision::End(Vec::new()),
            // What it would do behind any other stop is not found.
            _ => {
                probe.is_cut = true;
                return Decision::End(Vec::new());
            }
        }
        Decision::GoOn
    }

    fn updated(&mut self, read: &[Byte], written: Vec<Byte>) -> Option<Vec<Answer>> {
        let access = self.stands_at.take()?;
        self.probe.count_update(self.path, &access);
        self.probe.write(self.path, &access, &written, Some(read));
        None
    }
}

/// Whether a way goes on behind undefined behaviour. Where it guesses, other values than those that are tried may
/// be sound: an undefined result stands for what they give. What is undefined whatever they are may be passed once, as
/// it makes the execution undefined; after that the way is taken for one that no values lead.
fn goes_on_behind(probe: &mut Prober, path: &mut Path, kind: UndefinedKind) -> bool {
    if !may_lie_in_value(kind) {
        return !std::mem::replace(&mut path.faulted, true);
    }
    let goes_on = !path.guesses || path.invocation.only_sets_registers(probe.context.program);
    probe.is_cut |= !goes_on;
    goes_on
}

/// Whether it may be a value that makes an instruction undefined, so that another one in its place might not.
fn may_lie_in_value(kind: UndefinedKind) -> bool {
    match kind {
        UndefinedKind::UndefinedAddress
        | UndefinedKind::UndefinedOperand
        | UndefinedKind::DivisionByZero
        | UndefinedKind::SignedOverflow
        | UndefinedKind::InvalidConversion
        | UndefinedKind::FalseAssumption
        | UndefinedKind::InvalidRayQuery => true,
        UndefinedKind::DataRace
        | UndefinedKind::OutOfBounds
        | UndefinedKind::NullAccess
        | UndefinedKind::Misaligned
        | UndefinedKind::Aliasing
        | UndefinedKind::DivergentBarrier
        | UndefinedKind::Unreachable
        | UndefinedKind::NonWritable
        | UndefinedKind::NonReadable
        | UndefinedKind::NonUniform => false,
    }
}

/// Memory as an invocation by itself sees it.
struct View<'p, 'a> {
    pub(crate) probe: &'p mut Prober<'a>,
    pub(crate) index: u32,
    pub(crate) own: &'p mut OwnBytes,
    pub(crate) changes: &'p mut u64,
    pub(crate) written: Vec<(Access, Vec<Byte>)>,
}

impl SharedMemory for View<'_, '_> {
    fn size(&self, object: u32) -> u32 {
        let objects = &self.probe.context.dispatch.objects;
        objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        let object = self.probe.context.dispatch.objects.get(access.object as usize);
        let Some(object) = object else { return false };
        if !object.constant {
            let parts = traffic::parts(self.probe.knowledge, access, object.memory);
            let others_may_write = |(unit, _)| self.probe.others_may_write(self.index, unit);
            if atomicity.is_some() || parts.into_iter().any(others_may_write) {
                return false;
            }
        }
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        for (slot, offset) in out.iter_mut().zip(ranges) {
            *slot = self.probe.byte(self.own, object.memory, offset);
        }
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        let Some(memory) = self.probe.memory_of(access).filter(|_| atomicity.is_none()) else {
            return Written::Event;
        };
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        let mut changed = false;
        for (offset, byte) in ranges.zip(bytes) {
            changed |= self.probe.byte(self.own, memory, offset) != *byte;
            self.own.insert((memory, offset), *byte);
        }
        self.written.push((access.clone(), bytes.to_vec()));
        *self.changes += u64::from(changed);
        match changed {
            true => Written::Changed,
            false => Written::Unchanged,
        }
    }
}

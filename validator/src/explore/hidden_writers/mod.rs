//! Hidden writers: writes that only cycles of load buffering reach.
//!
//! A read waits only for a write that some round has seen. A write behind a read that speculates may be one that no
//! round sees. Then no read waits for it, and the cycle in which it runs is never closed. For example, one invocation
//! does `if (x == 1) { y = 1 }; barrier; y = 1`, and another one does `if (y == 1) { x = 1 }; barrier; x = 1`. The
//! barrier orders each read before the last write of its location, so the writes in front of it run only if each
//! read takes its value from the other conditional write.
//!
//! So when rounds teach nothing more, every invocation runs by itself, on the initial memory and on what it writes
//! itself. Each read of what others may write is answered in every way: with the contents of the invocation's own
//! memory, with each value that reads may speculate, and with each value that such a run wrote. Plain reads are
//! answered in this way, too, although they may not wait. Runs are repeated until they find nothing new. If a run
//! writes at an instruction at which no round saw that write, and others read there, the instruction is a writer in
//! another round. Reads may not speculate its values before an execution has confirmed them.
//!
//! Superfluous writers cost time: an invocation may have read values that never occur together in an execution. So
//! nothing is run if the program shows that all writes which may come behind a first read were seen. Of memory without
//! events, only those words count that others read in the last round without an order by barriers. No invocation reads
//! what a barrier orders behind its read. Writes of an invocation in a class
//! ([`symmetry`](crate::explore::reductions::symmetry)) do not count if another member was seen to write there.
//!
//! Ways of an invocation that reach the same state, its own memory included, are followed once from there. So a retry
//! loop has few states although many ways lead through it.
//!
//! If there is too much to try, an undefined value stands for all others: where a location has many values, where many
//! ways are open already, and for the result of a subgroup operation. A branch on it goes every way. If that does not
//! help (an undefined address), and beyond the bounds below, something may be missed. Then the search counts as
//! bounded.

pub(crate) mod path;
pub(crate) mod traffic;

use std::cell::OnceCell;
use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::{Access, Atomicity, UndefinedKind};
use crate::explore::facts::discoveries::Discoveries;
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::hidden_writers::path::{OwnBytes, Path};
use crate::explore::hidden_writers::traffic::{Manner, Traffic};
use crate::explore::program::units::UnitKey;
use crate::explore::state::arrivals::Arrived;
use crate::explore::state::{Context, Found};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{Invocation, SharedMemory, Stop, Written};
use crate::ir::InstId;
use crate::value::Byte;

/// The number of invocations of a dispatch up to which hidden writers are looked for.
const MAX_INVOCATIONS: usize = 1024;

/// The number of ways through the program that are followed when an invocation is run.
const MAX_PATHS: usize = 4096;

/// The number of states in which ways branch, for each way that may be followed.
const STATES_OF_A_PATH: u64 = 4;

/// The number of ways at one instruction. It is more than are followed.
const MAX_WAYS: u32 = 2 * MAX_PATHS as u32;

/// The numbers of instructions of a way without branches, of a run of one invocation, and of all runs.
const MAX_PATH: u64 = 1 << 16;

const MAX_RUN: u64 = 1 << 20;

const MAX_INSTRUCTIONS: u64 = 1 << 23;

/// The number of times that an invocation is run.
const MAX_RUNS: u32 = 32;

/// What a round that taught nothing more has not seen.
pub(crate) enum HiddenWriters {
    Nothing,
    Writes(Box<Discoveries>),
    /// Nothing was found, but a bound cut the search for it.
    Cut,
}

/// Looks for what the last round, which taught nothing more, has not seen.
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
    let mut traffic = Traffic {
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
    // For each invocation, whether its last run missed something. The last run had all the answers of the earlier ones.
    let mut cut = vec![false; count];
    // The invocations take turns. One that gives itself new answers, for example by an update, must not use up its runs
    // before others have run.
    while !traffic.stale.is_empty() {
        for index in std::mem::take(&mut traffic.stale) {
            let (runs, cut) = (&mut runs[index as usize], &mut cut[index as usize]);
            *cut = *runs >= MAX_RUNS || run(&mut traffic, index);
            *runs += 1;
        }
    }
    match traffic.discoveries() {
        Some(writes) => HiddenWriters::Writes(Box::new(writes)),
        None if cut.contains(&true) => HiddenWriters::Cut,
        None => HiddenWriters::Nothing,
    }
}

/// Whether the program leaves it open that an invocation writes what another one read, at an instruction at which no
/// round saw that write.
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

/// How a way continues.
enum Answer {
    Start,
    Way(u32),
    Read(Vec<Byte>),
    Atomic { access: Access, bytes: Vec<Byte>, way: Option<u32> },
}

/// Runs an invocation. Ways that read least from others come first. It returns whether a bound left something
/// unfollowed.
fn run(traffic: &mut Traffic, index: u32) -> bool {
    let Context { program, dispatch, .. } = *traffic.context;
    let first = Path::new(index, Invocation::new(program, dispatch, index));
    let mut rest = VecDeque::from([(first, Answer::Start)]);
    let mut paths = 1_u64;
    // Each invocation has a share of the instructions, so that all of them run.
    let share = MAX_INSTRUCTIONS / (2 * dispatch.places.len() as u64);
    let mut left = MAX_RUN.min(share).min(traffic.fuel);
    // This limit is such that all open ways can be followed to their ends.
    let most = MAX_PATHS as u64 / (dispatch.places.len() as u64).max(4);
    let mut longest = 0;
    traffic.followed.clear();
    traffic.is_cut = false;
    while let Some((mut path, answer)) = rest.pop_front() {
        let mut answer = Some(answer);
        let given = MAX_PATH.min(left);
        let mut fuel = given;
        while let Some(next) = answer.take() {
            let affordable = left / 2 / longest.max(given - fuel).max(1);
            let states = traffic.followed.len() as u64;
            traffic.is_crowded =
                paths > most || states > STATES_OF_A_PATH * most || rest.len() as u64 > affordable;
            let mut ways = follow(traffic, &mut path, next, &mut fuel);
            if paths > 1 && !ways.is_empty() && was_followed(traffic, &path) {
                paths -= 1;
                ways.clear();
            }
            let mut ways = ways.into_iter();
            answer = ways.next();
            let room = (MAX_PATHS as u64 - paths) as usize;
            traffic.is_cut |= ways.len() > room;
            for other in ways.take(room) {
                paths += 1;
                rest.push_back((path.clone(), other));
            }
        }
        longest = longest.max(given - fuel);
        left -= given - fuel;
        traffic.fuel -= given - fuel;
    }
    traffic.is_cut
}

/// Follows a way until it may continue in several ways, which are returned. There are none at its end.
fn follow(traffic: &mut Traffic, path: &mut Path, answer: Answer, fuel: &mut u64) -> Vec<Answer> {
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
    let program = traffic.context.program;
    let ways = runner::drive(program, &mut Following { traffic, path, fuel, stands_at }, first);
    traffic.is_cut |= path.guesses && path.invocation.is_lost();
    ways
}

/// Whether another way of this run has reached a state with the same future. Then this way need not be followed any
/// further.
fn was_followed(traffic: &mut Traffic, path: &Path) -> bool {
    path.future(&traffic.context.pauses).is_some_and(|future| !traffic.followed.insert(future))
}

/// A way that continues to the next stop at which there are several ways.
struct Following<'f, 'p> {
    traffic: &'f mut Traffic<'p>,
    path: &'f mut Path,
    fuel: &'f mut u64,
    /// The access of the atomic instruction at which the invocation stands.
    stands_at: Option<Access>,
}

impl Driver for Following<'_, '_> {
    type End = Vec<Answer>;

    fn run(&mut self) -> Stop {
        let Following { traffic, path, fuel, .. } = self;
        let Context { program, dispatch, .. } = *traffic.context;
        let Path { index, invocation, own, changes, .. } = &mut **path;
        let mut view = View { traffic, index: *index, own, changes, written: Vec::new() };
        let stop = invocation.run(program, dispatch, &mut view, fuel);
        for (access, bytes) in view.written {
            traffic.note_write(path, &access, &bytes, None);
        }
        stop
    }

    fn invocation(&mut self) -> &mut Invocation {
        &mut self.path.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<Vec<Answer>> {
        let Following { traffic, path, .. } = self;
        let program = traffic.context.program;
        match stop {
            Stop::Read(access) => {
                let answers = traffic.answers(path, &access, Manner::Plain);
                return Decision::End(answers.into_iter().map(Answer::Read).collect());
            }
            Stop::AtomicRead { access, atomicity, may_write } => {
                let manner = if may_write { Manner::Update } else { Manner::Load };
                let mut answers = traffic.answers(path, &access, manner);
                if atomicity.commutes.is_some() {
                    // The result of such an update is not used. Only what it writes matters.
                    let others = answers.split_off(answers.len().min(1));
                    for bytes in others {
                        let written = path.invocation.clone().supply_atomic(program, &bytes);
                        let written = written.unwrap_or_default();
                        traffic.note_write(path, &access, &written, Some(&bytes));
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
                traffic.write(path, &access, &bytes, None);
            }
            Stop::Barrier { execution, fence, name, waits, line, .. } => {
                path.epoch.pass(&Arrived { execution, fence, name, waits, line });
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
            // The invocation may do anything from here on, including what it would have done.
            Stop::Fault(fault) => {
                if !passes_fault(traffic, path, fault.kind) || !path.invocation.pass_fault(program) {
                    return Decision::End(Vec::new());
                }
            }
            Stop::Discarded => {
                traffic.is_cut |= path.guesses;
                return Decision::End(Vec::new());
            }
            Stop::Finished | Stop::Forever { .. } => return Decision::End(Vec::new()),
            // What it would do behind any other stop is not found.
            _ => {
                traffic.is_cut = true;
                return Decision::End(Vec::new());
            }
        }
        Decision::GoOn
    }

    fn updated(&mut self, read: &[Byte], written: Vec<Byte>) -> Option<Vec<Answer>> {
        let access = self.stands_at.take()?;
        self.traffic.count_update(self.path, &access);
        self.traffic.write(self.path, &access, &written, Some(read));
        None
    }
}

/// Whether a way continues behind undefined behaviour. If the way contains guessed values, other values than those that
/// are tried may be defined, and an undefined result stands for what they give. Behaviour that is undefined for all
/// values may be passed once, because it makes the execution undefined. After that the way counts as one to which no
/// values lead.
fn passes_fault(traffic: &mut Traffic, path: &mut Path, kind: UndefinedKind) -> bool {
    if !may_lie_in_value(kind) {
        return !std::mem::replace(&mut path.faulted, true);
    }
    let goes_on = !path.guesses || path.invocation.only_sets_registers(traffic.context.program);
    traffic.is_cut |= !goes_on;
    goes_on
}

/// Whether an instruction may be undefined because of a value, so that it might be defined with another value.
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

/// Memory as an invocation sees it when it runs by itself.
struct View<'p, 'a> {
    pub(crate) traffic: &'p mut Traffic<'a>,
    pub(crate) index: u32,
    pub(crate) own: &'p mut OwnBytes,
    pub(crate) changes: &'p mut u64,
    pub(crate) written: Vec<(Access, Vec<Byte>)>,
}

impl SharedMemory for View<'_, '_> {
    fn size(&self, object: u32) -> u32 {
        let objects = &self.traffic.context.dispatch.objects;
        objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        let object = self.traffic.context.dispatch.objects.get(access.object as usize);
        let Some(object) = object else { return false };
        if !object.constant {
            let parts = traffic::parts(self.traffic.knowledge, access, object.memory);
            let others_may_write = |(unit, _)| self.traffic.others_may_write(self.index, unit);
            if atomicity.is_some() || parts.into_iter().any(others_may_write) {
                return false;
            }
        }
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        for (slot, offset) in out.iter_mut().zip(ranges) {
            *slot = self.traffic.byte(self.own, object.memory, offset);
        }
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        let Some(memory) = self.traffic.memory_of(access).filter(|_| atomicity.is_none()) else {
            return Written::Event;
        };
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        let mut changed = false;
        for (offset, byte) in ranges.zip(bytes) {
            changed |= self.traffic.byte(self.own, memory, offset) != *byte;
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

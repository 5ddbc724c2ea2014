//! Writes that only cycles of load buffering come to.
//!
//! A read waits only for a write that some round has seen. A write behind a read that speculates may be one
//! that no round sees: then nothing lets the read of it wait, and nothing closes the cycle in which it runs. So when
//! rounds teach nothing more, every invocation runs by itself, over the initial memory and what it writes itself. What
//! it reads where others may write is answered in every way: with what its own memory holds, with each value that
//! reads may speculate, and with each that such a run wrote. Runs are repeated until nothing is new. What they write
//! where no round saw it, and where others read, is a writer for another round. Its values are none that reads may
//! speculate before an execution has confirmed them.
//!
//! What is found too much costs time: what an invocation writes that reads values which never meet in an execution.
//! So nothing is run where the program tells that all writes were seen that may come behind a first read, and of memory
//! without events only those count of words that others read in the last round, not ordered by barriers; and nobody
//! reads what a barrier orders behind its read. Nor do writes count of an invocation of a class
//! ([`symmetry`](super::symmetry)) of which another one was seen to write there.
//!
//! What is found too little are cycles that need more than the bounds below allow, the way behind a subgroup
//! operation, or a value of others in memory without events: there plain reads see what their own invocation wrote or
//! the initial value. (Where they speculate, they are answered like atomic ones.)

mod path;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use rustc_hash::FxHashMap;

use self::path::{Moment, OwnBytes, Path};
use super::context::Context;
use super::found::Found;
use super::knowledge::{Discoveries, Knowledge, UnitKey, Word};
use super::state::Arrived;
use super::symmetry::Symmetry;
use crate::event::{Access, Atomicity};
use crate::interp::{Invocation, SharedMemory, Stop, Written};
use crate::ir::InstId;
use crate::model::graph::UnitBytes;
use crate::value::Byte;

/// Invocations of a dispatch, up to which it is probed.
const MAX_INVOCATIONS: usize = 1024;
/// Ways through the program that are followed when an invocation is run.
const MAX_PATHS: usize = 4096;
/// Instructions of one way, of all ways of one invocation, and of all.
const MAX_PATH: u64 = 1 << 16;
const MAX_RUN: u64 = 1 << 20;
const MAX_INSTRUCTIONS: u64 = 1 << 22;
/// Times that an invocation is run.
const MAX_RUNS: u32 = 32;
/// Values of one place that runs add to what is known, before any value may be there, and ways to answer a read.
const MAX_NEW_VALUES: usize = 8;
const MAX_ANSWERS: usize = 64;

/// What a round that taught nothing more did not see.
pub(super) enum Unseen {
    Nothing,
    Writes(Discoveries),
    /// Nothing as far as the bounds allow.
    Cut,
}

/// Looks for what the last round, which taught nothing more, did not see.
pub(super) fn unseen(context: &Context, knowledge: &Knowledge, last: &Found) -> Unseen {
    let is_complete = !last.stop && last.bounded.is_none() && last.undecided.is_empty();
    let count = context.dispatch.places.len();
    let applies = is_complete
        && count > 1
        && context.settings.foreseen.writers.is_empty()
        && is_open(context, knowledge, last);
    if !applies {
        return Unseen::Nothing;
    }
    if count > MAX_INVOCATIONS {
        return Unseen::Cut;
    }
    let mut probe = Probe {
        context,
        knowledge,
        initial: context.dispatch.initial_memory(),
        fuel: MAX_INSTRUCTIONS,
        values: FxHashMap::default(),
        updates: FxHashMap::default(),
        writes: FxHashMap::default(),
        reads: FxHashMap::default(),
        may_write: FxHashMap::default(),
        stale: (0..count as u32).collect(),
        is_crowded: false,
        is_cut: false,
        last,
        symmetry: OnceCell::new(),
    };
    let mut runs = vec![0; count];
    // In turns: one that gives itself new answers, as by an update, must not use up its runs while others wait.
    while !probe.stale.is_empty() {
        for index in std::mem::take(&mut probe.stale) {
            match runs[index as usize] < MAX_RUNS {
                true => probe.run(index),
                false => probe.is_cut = true,
            }
            runs[index as usize] += 1;
        }
    }
    match probe.discoveries() {
        Some(writes) => Unseen::Writes(writes),
        None if probe.is_cut => Unseen::Cut,
        None => Unseen::Nothing,
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

struct Probe<'a> {
    context: &'a Context<'a>,
    knowledge: &'a Knowledge,
    /// Of each memory.
    initial: Vec<Vec<Byte>>,
    /// Instructions that are left.
    fuel: u64,
    /// What runs wrote, by memory and first byte, that nobody knew.
    values: FxHashMap<(u32, u32), BTreeMap<UnitBytes, Origin>>,
    /// How often an invocation updates a unit, at most.
    updates: FxHashMap<UnitKey, BTreeMap<u32, u32>>,
    /// Who writes a unit, at which instruction and moment.
    writes: FxHashMap<UnitKey, BTreeSet<(u32, InstId, Moment)>>,
    /// Who reads it, and when.
    reads: FxHashMap<UnitKey, BTreeSet<(u32, Moment)>>,
    /// The first two invocations that may write a word, as far as the program tells.
    may_write: FxHashMap<UnitKey, Vec<u32>>,
    /// Invocations whose reads have new answers.
    stale: BTreeSet<u32>,
    /// So many ways are followed that reads are no longer answered in every way.
    is_crowded: bool,
    /// A bound kept something from being followed.
    is_cut: bool,
    /// The last round.
    last: &'a Found,
    /// Its classes.
    symmetry: OnceCell<Option<Symmetry>>,
}

/// Where a value comes from.
struct Origin {
    /// When it is written.
    moments: BTreeSet<Moment>,
    /// The least number of updates that make it, one of another's result, from what is known or was stored. They are
    /// different ones: nobody has a value that takes more than there are.
    updates: u32,
}

/// What a path goes on with.
enum Answer {
    Start,
    Way(u32),
    Read(Vec<Byte>),
    Atomic { access: Access, bytes: Vec<Byte>, way: Option<u32> },
}

impl Probe<'_> {
    /// Runs an invocation, those ways first on which least is read from others.
    fn run(&mut self, index: u32) {
        let Context { program, dispatch, .. } = *self.context;
        let first = Path::new(index, Invocation::new(program, dispatch, index));
        let mut rest = VecDeque::from([(first, Answer::Start)]);
        let mut paths = 1_u64;
        // All of them come to their turn.
        let share = MAX_INSTRUCTIONS / (2 * dispatch.places.len() as u64);
        let mut left = MAX_RUN.min(share).min(self.fuel);
        // As long as all that is left may be followed to its end.
        let most = MAX_PATHS as u64 / 32;
        let mut longest = 0;
        while let Some((mut path, answer)) = rest.pop_front() {
            let mut answer = Some(answer);
            let given = MAX_PATH.min(left);
            let mut fuel = given;
            while let Some(next) = answer.take() {
                let affordable = left / 2 / longest.max(given - fuel).max(1);
                self.is_crowded = paths > most || rest.len() as u64 > affordable;
                let mut ways = self.follow(&mut path, next, &mut fuel).into_iter();
                answer = ways.next();
                let room = (MAX_PATHS as u64 - paths) as usize;
                self.is_cut |= ways.len() > room;
                for other in ways.take(room) {
                    paths += 1;
                    rest.push_back((path.clone(), other));
                }
            }
            longest = longest.max(given - fuel);
            left -= given - fuel;
            self.fuel -= given - fuel;
        }
    }

    /// Follows a path to where it may go on in several ways; none at its end.
    fn follow(&mut self, path: &mut Path, answer: Answer, fuel: &mut u64) -> Vec<Answer> {
        let Context { program, dispatch, .. } = *self.context;
        match answer {
            Answer::Start => {}
            Answer::Way(way) => path.invocation.choose(way),
            Answer::Read(bytes) => {
                path.guesses |= bytes.contains(&Byte::Undef);
                path.invocation.supply(program, &bytes);
            }
            Answer::Atomic { access, bytes, way } => {
                path.guesses |= bytes.contains(&Byte::Undef);
                way.into_iter().for_each(|way| path.invocation.choose(way));
                if let Some(written) = path.invocation.supply_atomic(program, &bytes) {
                    self.write(path, &access, &written, Some(&bytes));
                }
            }
        }
        loop {
            let mut view =
                View { probe: self, own: &mut path.own, changes: &mut path.changes, written: Vec::new() };
            let stop = path.invocation.run(program, dispatch, &mut view, fuel);
            for (access, bytes) in view.written {
                self.note_write(path, &access, &bytes, None);
            }
            match stop {
                Stop::Read(access) => {
                    let answers = self.answers(path, &access, false);
                    return answers.into_iter().map(Answer::Read).collect();
                }
                Stop::AtomicRead { access, atomicity, may_write } => {
                    if may_write {
                        self.count_update(path, &access);
                    }
                    let mut answers = self.answers(path, &access, may_write);
                    if atomicity.commutes.is_some() {
                        // Nobody learns what it reads, only what it makes of that.
                        for bytes in answers.drain(1..) {
                            let written = path.invocation.clone().supply_atomic(program, &bytes);
                            let written = written.unwrap_or_default();
                            self.note_write(path, &access, &written, Some(&bytes));
                        }
                    }
                    let ways = |bytes: Vec<Byte>| {
                        let count = path.invocation.atomic_ways(program, &bytes);
                        let ways = (0..count).map(|way| (count > 1).then_some(way));
                        let answer =
                            |way| Answer::Atomic { access: access.clone(), bytes: bytes.clone(), way };
                        ways.map(answer).collect::<Vec<_>>()
                    };
                    return answers.into_iter().flat_map(ways).collect();
                }
                Stop::Write(access, bytes) | Stop::AtomicWrite { access, bytes, .. } => {
                    self.write(path, &access, &bytes, None);
                }
                Stop::Barrier { execution, fence, name, waits, line, .. } => {
                    path.phase.pass(&Arrived { execution, fence, name, waits, line });
                }
                Stop::Choose { ways, .. } => return (0..ways).map(Answer::Way).collect(),
                Stop::LoopEntry { function_depth, loop_id } => path.arrive(function_depth, loop_id),
                Stop::Iteration { function_depth, loop_id, .. } => {
                    if path.comes_back(program, function_depth, loop_id) {
                        return Vec::new();
                    }
                    path.arrive(function_depth, loop_id);
                }
                Stop::Fence(_) | Stop::Device(..) => {}
                Stop::Subgroup { .. } => {
                    path.guesses = true;
                    path.invocation.supply_undefined(program);
                }
                Stop::Fault(_) => {
                    self.is_cut |= path.guesses;
                    return Vec::new();
                }
                Stop::OutOfFuel | Stop::Unsupported { .. } => {
                    self.is_cut = true;
                    return Vec::new();
                }
                Stop::Finished | Stop::Discarded | Stop::Forever { .. } => return Vec::new(),
            }
        }
    }
}

/// The parts of an access that are read and written as one: bytes where a word is split, else what it has of a
/// word; each with its unit, if it is one.
fn parts(knowledge: &Knowledge, access: &Access, memory: u32) -> Vec<(UnitKey, Range<u32>)> {
    let mut parts = Vec::new();
    for (offset, len) in &access.ranges {
        let (mut at, end) = (*offset, offset + len);
        while at < end {
            let word = at / 4 * 4;
            let (unit, next) = match knowledge.word(memory, word) {
                Word::Bytes(_) => (at, at + 1),
                Word::Whole(_) | Word::Unshared => (word, end.min(word + 4)),
            };
            parts.push(((memory, unit), at..next));
            at = next;
        }
    }
    parts
}

impl Probe<'_> {
    fn memory_of(&self, access: &Access) -> Option<u32> {
        Some(self.context.dispatch.objects.get(access.object as usize)?.memory)
    }

    fn moment(&self, path: &Path, access: &Access) -> Moment {
        let Context { dispatch, .. } = self.context;
        Moment {
            workgroup: dispatch.places[path.index as usize].workgroup,
            ordering: path.phase.orders(access.class.semantics_bit()),
            reference: dispatch.objects.get(access.object as usize).map_or(0, |object| object.reference),
            non_private: access.non_private,
        }
    }

    fn initial_byte(&self, memory: u32, offset: u32) -> Byte {
        let bytes = self.initial.get(memory as usize);
        bytes.and_then(|bytes| bytes.get(offset as usize)).copied().unwrap_or(Byte::Undef)
    }

    fn byte(&self, own: &OwnBytes, memory: u32, offset: u32) -> Byte {
        own.get(&(memory, offset)).copied().unwrap_or_else(|| self.initial_byte(memory, offset))
    }

    /// What an invocation reads if nobody else wrote.
    fn own_bytes(&self, path: &Path, access: &Access) -> Vec<Byte> {
        let memory = self.memory_of(access).unwrap_or(u32::MAX);
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        ranges.map(|offset| self.byte(&path.own, memory, offset)).collect()
    }

    /// All that a read may read, its own first; where that is much, undefined bytes stand for the rest.
    fn answers(&mut self, path: &Path, access: &Access, updates: bool) -> Vec<Vec<Byte>> {
        let Some(memory) = self.memory_of(access) else { return Vec::new() };
        let moment = self.moment(path, access);
        let mut answers: Vec<Vec<Byte>> = vec![Vec::new()];
        for (unit, part) in parts(self.knowledge, access, memory) {
            let own: Vec<Byte> = part.clone().map(|offset| self.byte(&path.own, memory, offset)).collect();
            let mut values = vec![own.clone()];
            if self.others_may_write(path.index, unit) {
                self.reads.entry(unit).or_default().insert((path.index, moment));
                let others = self.values_of_others(unit, &part, moment, updates);
                match self.is_crowded && !others.is_empty() {
                    true => values = vec![vec![Byte::Undef; part.len()]],
                    false => values.extend(others.into_iter().filter(|value| *value != own)),
                }
            }
            if values.len() * answers.len() > MAX_ANSWERS {
                values = vec![vec![Byte::Undef; part.len()]];
            }
            let extended = values.iter().flat_map(|value| {
                answers.iter().map(move |answer| answer.iter().chain(value).copied().collect())
            });
            answers = extended.collect();
        }
        answers
    }

    fn values_of_others(
        &self,
        unit: UnitKey,
        part: &Range<u32>,
        moment: Moment,
        updates: bool,
    ) -> BTreeSet<Vec<Byte>> {
        // What executions gave words without events is not known.
        let is_unshared = self.knowledge.word(unit.0, unit.1) == Word::Unshared;
        let all_updates: u32 = self.updates.get(&unit).into_iter().flatten().map(|(_, count)| count).sum();
        let may_take = |origin: &Origin| {
            (is_unshared || origin.moments.iter().any(|write| !moment.is_before(write)))
                && (!updates || origin.updates < all_updates)
        };
        let known = self.knowledge.values.get(&unit).into_iter().flatten();
        let new = self.values.get(&(unit.0, part.start)).into_iter().flatten();
        let new = new.filter(|(_, origin)| may_take(origin)).map(|(value, _)| value);
        let values: BTreeSet<Vec<Byte>> =
            known.chain(new).filter(|value| value.len() == part.len()).map(|value| value.to_vec()).collect();
        let undefined = vec![Byte::Undef; part.len()];
        match values.contains(&undefined) {
            true => BTreeSet::from([undefined]),
            false => values,
        }
    }

    /// Whether the program leaves open that another invocation writes a unit.
    fn others_may_write(&mut self, index: u32, (memory, offset): UnitKey) -> bool {
        let Context { dispatch, writers, .. } = self.context;
        let word = (memory, offset / 4 * 4);
        let known = self.may_write.entry(word).or_insert_with(|| {
            let may_write = |index: &u32| writers.may_write(dispatch, *index as usize, word);
            (0..dispatch.places.len() as u32).filter(may_write).take(2).collect()
        });
        known.iter().any(|other| *other != index)
    }

    /// Counts an update by an invocation. Who updates there too may then read what takes one more.
    fn count_update(&mut self, path: &mut Path, access: &Access) {
        let Some(memory) = self.memory_of(access) else { return };
        for (unit, _) in parts(self.knowledge, access, memory) {
            let count = path.updates.entry(unit).or_default();
            *count += 1;
            let most = self.updates.entry(unit).or_default().entry(path.index).or_default();
            if *count > *most {
                *most = *count;
                let readers = self.reads.get(&unit).into_iter().flatten();
                self.stale.extend(readers.map(|(reader, _)| *reader));
            }
        }
    }

    /// An invocation writes, by an event; an update writes what it makes of what it read.
    fn write(&mut self, path: &mut Path, access: &Access, bytes: &[Byte], read: Option<&[Byte]>) {
        path.changes += u64::from(self.own_bytes(path, access) != bytes);
        self.note_write(path, access, bytes, read);
        let Some(memory) = self.memory_of(access) else { return };
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        path.own.extend(ranges.map(|offset| (memory, offset)).zip(bytes.iter().copied()));
    }

    /// Notes who writes where and what. Who reads there has new answers.
    fn note_write(&mut self, path: &Path, access: &Access, bytes: &[Byte], read: Option<&[Byte]>) {
        let Some(memory) = self.memory_of(access) else { return };
        let moment = self.moment(path, access);
        let (mut bytes, mut read) = (bytes.iter().copied(), read.map(|read| read.iter().copied()));
        for (unit, part) in parts(self.knowledge, access, memory) {
            self.writes.entry(unit).or_default().insert((path.index, access.inst, moment));
            let mut value: UnitBytes = bytes.by_ref().take(part.len()).collect();
            let read: Option<UnitBytes> = read.as_mut().map(|read| read.by_ref().take(part.len()).collect());
            if self.knowledge.values.get(&unit).is_some_and(|values| values.contains(&value)) {
                continue;
            }
            let known = self.values.entry((memory, part.start)).or_default();
            let updates = read.map_or(0, |read| known.get(&read).map_or(0, |origin| origin.updates) + 1);
            if known.len() >= MAX_NEW_VALUES && !known.contains_key(&value) {
                value.fill(Byte::Undef);
            }
            let origin = known.entry(value).or_insert_with(|| Origin { moments: BTreeSet::new(), updates });
            let is_new = origin.moments.insert(moment) || updates < origin.updates;
            origin.updates = origin.updates.min(updates);
            if is_new {
                let readers = self.reads.get(&unit).into_iter().flatten();
                self.stale.extend(readers.map(|(reader, _)| *reader));
            }
        }
    }

    /// The writes that others read and that no round saw.
    fn discoveries(&self) -> Option<Discoveries> {
        let mut found = Discoveries::default();
        for (unit, writes) in &self.writes {
            for (writer, inst, moment) in writes {
                let readers = self.readers(unit, *writer, *moment);
                if !readers.is_empty() && !self.is_known(unit, *writer, *inst) {
                    let word = (unit.0, unit.1 / 4 * 4);
                    found.writers.entry(*unit).or_default().insert((*writer, *inst));
                    found.meets.extend(readers.into_iter().chain([*writer]).map(|index| (word, index)));
                    found.wanted_writers.insert(*unit);
                    found.shared.insert(word);
                }
            }
        }
        (!found.writers.is_empty()).then_some(found)
    }

    /// Those who may read a unit that another invocation writes at a moment. Of memory without events only those whom
    /// the last round saw there: what more there is comes to light once they wait.
    fn readers(&self, unit: &UnitKey, writer: u32, moment: Moment) -> Vec<u32> {
        let is_shared = self.knowledge.word(unit.0, unit.1) != Word::Unshared;
        let may_read = |(reader, read): &&(u32, Moment)| {
            let is_ordered = read.workgroup == moment.workgroup && read.ordering != moment.ordering;
            let was_seen = || self.last.discoveries.read.contains(&(*unit, *reader));
            *reader != writer && !read.is_before(&moment) && (is_shared || !is_ordered && was_seen())
        };
        let reads = self.reads.get(unit).into_iter().flatten();
        reads.filter(may_read).map(|(reader, _)| *reader).collect()
    }

    /// Whether a round saw the write, or one of another invocation that stands for it.
    fn is_known(&self, unit: &UnitKey, writer: u32, inst: InstId) -> bool {
        if self.knowledge.has_writer(unit, &(writer, inst)) {
            return true;
        }
        // Groups are explored without classes.
        let find =
            || self.last.factors.is_empty().then(|| Symmetry::find(self.context, self.knowledge)).flatten();
        let symmetry = self.symmetry.get_or_init(find).as_ref();
        let class = symmetry.and_then(|symmetry| symmetry.place(writer as usize));
        let members = class.map_or(&[][..], |(class, _)| &class.members);
        members.iter().any(|index| self.knowledge.has_writer(unit, &(*index, inst)))
    }
}

/// Memory as an invocation by itself sees it.
struct View<'p, 'a> {
    probe: &'p Probe<'a>,
    own: &'p mut OwnBytes,
    changes: &'p mut u64,
    written: Vec<(Access, Vec<Byte>)>,
}

impl SharedMemory for View<'_, '_> {
    fn size(&self, object: u32) -> u32 {
        let objects = &self.probe.context.dispatch.objects;
        objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        let object = self.probe.context.dispatch.objects.get(access.object as usize);
        let Some(object) = object else { return false };
        let speculates = atomicity.is_some() || self.probe.context.settings.plain_reads_speculate();
        if speculates && !object.constant {
            return false;
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

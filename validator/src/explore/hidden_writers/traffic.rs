//! What invocations that run by themselves write, and what they may read of that.
//!
//! For example, a run of invocation 0 writes 1 to `y`. Invocation 1 reads `y`, so it has a new answer, and it is run
//! again with the answers 0 and 1.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::event::Access;
use crate::explore::facts::discoveries::{Discoveries, Word};
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::hidden_writers::path::{Moment, OwnBytes, Path};
use crate::explore::program::units::UnitKey;
use crate::explore::reductions::symmetry;
use crate::explore::reductions::symmetry::classes::Symmetry;
use crate::explore::state::{Context, Found};
use crate::ir::InstId;
use crate::model::graph::UnitBytes;
use crate::value::Byte;

/// The number of values of one location that runs add to the known ones before an undefined value stands for all, and
/// the number of ways to answer a read.
const MAX_NEW_VALUES: usize = 8;

const MAX_ANSWERS: usize = 64;

pub(crate) struct Traffic<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) knowledge: &'a Knowledge,
    /// The initial contents of each memory.
    pub(crate) initial: Vec<Vec<Byte>>,
    /// The number of instructions that are left.
    pub(crate) fuel: u64,
    /// The values that runs wrote and that were not known, by memory and first byte.
    pub(crate) values: FxHashMap<(u32, u32), BTreeMap<UnitBytes, Origin>>,
    /// For each unit, how often each invocation updates it at most.
    pub(crate) updates: FxHashMap<UnitKey, BTreeMap<u32, u32>>,
    /// For each unit, the invocations that write it, the instructions, and the times.
    pub(crate) writes: FxHashMap<UnitKey, BTreeSet<(u32, InstId, Moment)>>,
    /// For each unit, the reads of it.
    pub(crate) reads: FxHashMap<UnitKey, BTreeSet<Reading>>,
    /// The bytes of a unit that are accessed as one. It is `None` if accesses differ in that.
    pub(crate) accessed: FxHashMap<UnitKey, Option<Range<u32>>>,
    /// For each word, the first two invocations that may write it, as far as the program shows.
    pub(crate) may_write: FxHashMap<UnitKey, Vec<u32>>,
    /// The invocations whose reads have new answers.
    pub(crate) stale: BTreeSet<u32>,
    /// Whether so many ways are followed that reads are no longer answered in every way.
    pub(crate) is_crowded: bool,
    /// Whether a bound left something unfollowed in this run.
    pub(crate) is_cut: bool,
    /// The states in which ways of this run branched, as numbers.
    pub(crate) followed: FxHashSet<u128>,
    /// What the last round found.
    pub(crate) last: &'a Found,
    /// The classes of the last round, for each group.
    pub(crate) symmetries: OnceCell<Vec<Symmetry>>,
}

/// The origin of a value.
pub(crate) struct Origin {
    /// The times at which the value is written.
    moments: BTreeSet<Moment>,
    /// The least number of updates that make the value, each from the result of another one, beginning with a known or
    /// stored value. An execution has different updates in that chain. What one more update would make of the last
    /// result is a value that may be speculated ([`Discoveries`]), so more updates are not needed.
    updates: u32,
}

/// How a value is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Plain,
    Load,
    Update,
}

/// A read of a unit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Reading {
    invocation: u32,
    moment: Moment,
    /// Whether the read may speculate.
    may_wait: bool,
}

/// The parts of an access that are read and written as one: single bytes if a word is split, otherwise the bytes of the
/// access in each word. Each part has its unit.
pub(crate) fn parts(knowledge: &Knowledge, access: &Access, memory: u32) -> Vec<(UnitKey, Range<u32>)> {
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

impl Traffic<'_> {
    pub(crate) fn memory_of(&self, access: &Access) -> Option<u32> {
        Some(self.context.dispatch.objects.get(access.object as usize)?.memory)
    }

    fn moment(&self, path: &Path, access: &Access) -> Moment {
        let Context { dispatch, .. } = self.context;
        let workgroup = dispatch.places[path.index as usize].workgroup;
        Moment {
            workgroup: (!path.unordered).then_some(workgroup),
            ordering: path.epoch.orders(access.class.semantics_bit()),
            reference: dispatch.objects.get(access.object as usize).map_or(0, |object| object.reference),
            non_private: access.non_private,
        }
    }

    fn initial_byte(&self, memory: u32, offset: u32) -> Byte {
        let bytes = self.initial.get(memory as usize);
        bytes.and_then(|bytes| bytes.get(offset as usize)).copied().unwrap_or(Byte::Undef)
    }

    pub(crate) fn byte(&self, own: &OwnBytes, memory: u32, offset: u32) -> Byte {
        own.get((memory, offset)).unwrap_or_else(|| self.initial_byte(memory, offset))
    }

    /// What an invocation reads if no other one has written.
    fn own_bytes(&self, path: &Path, access: &Access) -> Vec<Byte> {
        let memory = self.memory_of(access).unwrap_or(u32::MAX);
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        ranges.map(|offset| self.byte(&path.own, memory, offset)).collect()
    }

    /// All values that a read may take, with its own one first. If there are too many, undefined bytes stand for the
    /// rest.
    pub(crate) fn answers(&mut self, path: &Path, access: &Access, manner: Manner) -> Vec<Vec<Byte>> {
        let Some(memory) = self.memory_of(access) else { return Vec::new() };
        let moment = self.moment(path, access);
        let may_wait = manner != Manner::Plain || self.context.settings.plain_reads_speculate();
        let reading = Reading { invocation: path.index, moment, may_wait };
        let mut answers: Vec<Vec<Byte>> = vec![Vec::new()];
        for (unit, part) in parts(self.knowledge, access, memory) {
            let own: Vec<Byte> = part.clone().map(|offset| self.byte(&path.own, memory, offset)).collect();
            let mut values = vec![own.clone()];
            if self.others_may_write(path.index, unit) {
                self.note_part(unit, &part);
                self.reads.entry(unit).or_default().insert(reading);
                let others = self.values_of_others(unit, &part, moment, manner);
                let goes_on = manner == Manner::Update && path.keeps_updating(&unit);
                match goes_on || self.is_crowded && !others.is_empty() {
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
        manner: Manner,
    ) -> BTreeSet<Vec<Byte>> {
        // The values that executions gave to words without events are not known.
        let is_unshared = self.knowledge.word(unit.0, unit.1) == Word::Unshared;
        let counts = self.updates.get(&unit).into_iter().flatten();
        let all_updates: u64 = counts.map(|(_, count)| u64::from(*count)).sum();
        let may_take = |origin: &Origin| {
            (is_unshared || origin.moments.iter().any(|write| !moment.is_before(write)))
                && (manner != Manner::Update || u64::from(origin.updates) <= all_updates)
        };
        let known = self.knowledge.values.get(&unit).into_iter().flatten();
        let new = self.values.get(&(unit.0, part.start)).into_iter().flatten();
        let new = new.filter(|(_, origin)| may_take(origin)).map(|(value, _)| value);
        let values: BTreeSet<Vec<Byte>> =
            known.chain(new).filter(|value| value.len() == part.len()).map(|value| value.to_vec()).collect();
        let undefined = vec![Byte::Undef; part.len()];
        let is_mixed = self.accessed.get(&unit).is_some_and(Option::is_none);
        match is_mixed || values.contains(&undefined) {
            true => BTreeSet::from([undefined]),
            false => values,
        }
    }

    /// Notes the bytes of a unit that are accessed as one. If a different part of the unit is written, this part may
    /// have any value.
    fn note_part(&mut self, unit: UnitKey, part: &Range<u32>) {
        let known = self.accessed.entry(unit).or_insert_with(|| Some(part.clone()));
        if known.as_ref().is_some_and(|known| known != part) {
            *known = None;
            self.disturb(unit);
        }
    }

    /// Notes that the invocations which read a unit have new answers.
    fn disturb(&mut self, unit: UnitKey) {
        let readers = self.reads.get(&unit).into_iter().flatten();
        self.stale.extend(readers.map(|reading| reading.invocation));
    }

    /// Whether the program leaves it open that another invocation writes a unit.
    pub(crate) fn others_may_write(&mut self, index: u32, (memory, offset): UnitKey) -> bool {
        let Context { dispatch, writers, .. } = self.context;
        let word = (memory, offset / 4 * 4);
        let known = self.may_write.entry(word).or_insert_with(|| {
            let may_write = |index: &u32| writers.may_write(dispatch, *index as usize, word);
            (0..dispatch.places.len() as u32).filter(may_write).take(2).collect()
        });
        known.iter().any(|other| *other != index)
    }

    /// Counts an update by which an invocation writes. Other invocations that update the unit may then read what takes
    /// one more update.
    pub(crate) fn count_update(&mut self, path: &mut Path, access: &Access) {
        let Some(memory) = self.memory_of(access) else { return };
        for (unit, _) in parts(self.knowledge, access, memory) {
            let count = path.updates.entry(unit).or_default();
            *count = count.saturating_add(1);
            let most = self.updates.entry(unit).or_default().entry(path.index).or_default();
            if *count > *most {
                *most = *count;
                self.disturb(unit);
            }
        }
    }

    /// Handles a write of an invocation that is an event. `read` is what an update has read.
    pub(crate) fn write(&mut self, path: &mut Path, access: &Access, bytes: &[Byte], read: Option<&[Byte]>) {
        path.changes += u64::from(self.own_bytes(path, access) != bytes);
        self.note_write(path, access, bytes, read);
        let Some(memory) = self.memory_of(access) else { return };
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        ranges.zip(bytes).for_each(|(offset, byte)| path.own.insert((memory, offset), *byte));
    }

    /// Notes a write. The invocations that read there have new answers.
    pub(crate) fn note_write(&mut self, path: &Path, access: &Access, bytes: &[Byte], read: Option<&[Byte]>) {
        let Some(memory) = self.memory_of(access) else { return };
        let moment = self.moment(path, access);
        let (mut bytes, mut read) = (bytes.iter().copied(), read.map(|read| read.iter().copied()));
        for (unit, part) in parts(self.knowledge, access, memory) {
            self.note_part(unit, &part);
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
                self.disturb(unit);
            }
        }
    }

    /// The writes that others read and that no round saw.
    pub(crate) fn discoveries(&self) -> Option<Discoveries> {
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

    /// The invocations that may wait for a unit which another one writes at this time. If the unit is memory without
    /// events, only those count that the last round saw reading there; others are found once these wait.
    fn readers(&self, unit: &UnitKey, writer: u32, moment: Moment) -> Vec<u32> {
        let is_shared = self.knowledge.word(unit.0, unit.1) != Word::Unshared;
        let may_read = |reading: &&Reading| {
            let Reading { invocation, moment: read, may_wait } = **reading;
            let was_seen = || self.last.discoveries.read.contains(&(*unit, invocation));
            let may_meet = is_shared || !moment.is_before(&read) && was_seen();
            may_wait && invocation != writer && !read.is_before(&moment) && may_meet
        };
        let reads = self.reads.get(unit).into_iter().flatten();
        reads.filter(may_read).map(|reading| reading.invocation).collect()
    }

    /// Whether a round saw the write, or the write of another invocation of the same class.
    fn is_known(&self, unit: &UnitKey, writer: u32, inst: InstId) -> bool {
        if self.knowledge.has_writer(unit, &(writer, inst)) {
            return true;
        }
        let find = || {
            let find = |group| symmetry::find(self.context, self.knowledge, group);
            let groups = self.last.factors.iter().map(|factor| Some(&factor.members[..]));
            let no_groups = self.last.factors.is_empty().then_some(None);
            no_groups.into_iter().chain(groups).filter_map(find).collect()
        };
        let mut symmetries = self.symmetries.get_or_init(find).iter();
        let class = symmetries.find_map(|symmetry| symmetry.place(writer as usize));
        let members = class.map_or(&[][..], |(class, _)| &class.members);
        members.iter().any(|index| self.knowledge.has_writer(unit, &(*index, inst)))
    }
}

//! What the invocations of a probe write, and what they may read of that.

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

/// Values of one place that runs add to what is known, before any value may be there, and ways to answer a read.
const MAX_NEW_VALUES: usize = 8;

const MAX_ANSWERS: usize = 64;

pub(crate) struct Prober<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) knowledge: &'a Knowledge,
    /// Of each memory.
    pub(crate) initial: Vec<Vec<Byte>>,
    /// Instructions that are left.
    pub(crate) fuel: u64,
    /// What runs wrote, by memory and first byte, that nobody knew.
    pub(crate) values: FxHashMap<(u32, u32), BTreeMap<UnitBytes, Origin>>,
    /// How often an invocation updates a unit, at most.
    pub(crate) updates: FxHashMap<UnitKey, BTreeMap<u32, u32>>,
    /// Who writes a unit, at which instruction and moment.
    pub(crate) writes: FxHashMap<UnitKey, BTreeSet<(u32, InstId, Moment)>>,
    /// Who reads it, and when.
    pub(crate) reads: FxHashMap<UnitKey, BTreeSet<Reading>>,
    /// What of a unit is accessed as one; `None` where that differs.
    pub(crate) accessed: FxHashMap<UnitKey, Option<Range<u32>>>,
    /// The first two invocations that may write a word, as far as the program tells.
    pub(crate) may_write: FxHashMap<UnitKey, Vec<u32>>,
    /// Invocations whose reads have new answers.
    pub(crate) stale: BTreeSet<u32>,
    /// So many ways are followed that reads are no longer answered in every way.
    pub(crate) is_crowded: bool,
    /// A bound kept something from being followed in this run.
    pub(crate) is_cut: bool,
    /// The states in which ways of this run branched, as numbers.
    pub(crate) followed: FxHashSet<u128>,
    /// The last round.
    pub(crate) last: &'a Found,
    /// Its classes, of each group.
    pub(crate) symmetries: OnceCell<Vec<Symmetry>>,
}

/// Where a value comes from.
pub(crate) struct Origin {
    /// When it is written.
    moments: BTreeSet<Moment>,
    /// The least number of updates that make it, one of another's result, from what is known or was stored. Those of an
    /// execution are different ones, and what one more would make of the last result is a value to speculate
    /// ([`Discoveries`]): nothing takes more.
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
    /// The read may speculate.
    may_wait: bool,
}

/// The parts of an access that are read and written as one: bytes where a word is split, else what it has of a
/// word; each with its unit, if it is one.
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

impl Prober<'_> {
    pub(crate) fn memory_of(&self, access: &Access) -> Option<u32> {
        Some(self.context.dispatch.objects.get(access.object as usize)?.memory)
    }

    fn moment(&self, path: &Path, access: &Access) -> Moment {
        let Context { dispatch, .. } = self.context;
        let workgroup = dispatch.places[path.index as usize].workgroup;
        Moment {
            workgroup: (!path.unordered).then_some(workgroup),
            ordering: path.phase.orders(access.class.semantics_bit()),
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

    /// What an invocation reads if nobody else wrote.
    fn own_bytes(&self, path: &Path, access: &Access) -> Vec<Byte> {
        let memory = self.memory_of(access).unwrap_or(u32::MAX);
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        ranges.map(|offset| self.byte(&path.own, memory, offset)).collect()
    }

    /// All that a read may read, its own first; where that is much, undefined bytes stand for the rest.
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
                let goes_on = manner == Manner::Update && path.goes_on_updating(&unit);
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
        // What executions gave words without events is not known.
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

    /// Notes what of a unit is accessed as one. A part may have any value if another one is written.
    fn note_part(&mut self, unit: UnitKey, part: &Range<u32>) {
        let known = self.accessed.entry(unit).or_insert_with(|| Some(part.clone()));
        if known.as_ref().is_some_and(|known| known != part) {
            *known = None;
            self.disturb(unit);
        }
    }

    /// Who reads a unit has new answers.
    fn disturb(&mut self, unit: UnitKey) {
        let readers = self.reads.get(&unit).into_iter().flatten();
        self.stale.extend(readers.map(|reading| reading.invocation));
    }

    /// Whether the program leaves open that another invocation writes a unit.
    pub(crate) fn others_may_write(&mut self, index: u32, (memory, offset): UnitKey) -> bool {
        let Context { dispatch, writers, .. } = self.context;
        let word = (memory, offset / 4 * 4);
        let known = self.may_write.entry(word).or_insert_with(|| {
            let may_write = |index: &u32| writers.may_write(dispatch, *index as usize, word);
            (0..dispatch.places.len() as u32).filter(may_write).take(2).collect()
        });
        known.iter().any(|other| *other != index)
    }

    /// Counts an update that an invocation writes by. Who updates there too may then read what takes one more.
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

    /// An invocation writes, by an event; an update writes what it makes of what it read.
    pub(crate) fn write(&mut self, path: &mut Path, access: &Access, bytes: &[Byte], read: Option<&[Byte]>) {
        path.changes += u64::from(self.own_bytes(path, access) != bytes);
        self.note_write(path, access, bytes, read);
        let Some(memory) = self.memory_of(access) else { return };
        let ranges = access.ranges.iter().flat_map(|(offset, len)| *offset..offset + len);
        ranges.zip(bytes).for_each(|(offset, byte)| path.own.insert((memory, offset), *byte));
    }

    /// Notes who writes where and what. Who reads there has new answers.
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

    /// Those who may wait for a unit that another invocation writes at a moment. Of memory without events only those whom
    /// the last round saw there: what more there is comes to light once they wait.
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

    /// Whether a round saw the write, or one of another invocation that stands for it.
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

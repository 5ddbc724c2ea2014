//! Plain memory of trial runs.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::dispatch::{Dispatch, Object};
use crate::event::{Access, Atomicity};
use crate::interp::{SharedMemory, Written};
use crate::ir::image::Position;
use crate::ir::InstId;
use crate::value::Byte;

/// Plain memory that remembers how far it was touched.
pub(super) struct TrialMemory {
    /// Bytes of each location space, by its number.
    pub(super) spaces: Vec<Vec<Byte>>,
    /// Location space and size of each object.
    pub(super) objects: Vec<(u32, u32)>,
    /// What each object may be as large as, where that is more.
    pub(super) limits: Vec<u32>,
    pub(super) ends: Vec<u32>,
    /// See [`Touched::texels`].
    pub(super) texels: Vec<[u32; 4]>,
    /// The invocation that runs, as a number in the order.
    pub(super) accessor: u32,
    /// Who last wrote each byte of a location space without an atomic instruction since the last barrier; none where
    /// nobody asks.
    pub(super) writers: Vec<Vec<u32>>,
    /// The workgroup of each invocation, by its number in the order; none where nobody asks.
    pub(super) groups: Vec<u32>,
    /// The workgroup that last wrote each byte of a location space without an atomic instruction: no barrier orders it with
    /// others.
    pub(super) writing_groups: Vec<Vec<u32>>,
    /// Invocations that accessed, not atomically, what another one had written so since the last barrier, or one of another
    /// workgroup at all, and those that had written it since the last barrier.
    pub(super) conflicting: BTreeSet<u32>,
    /// More trouble (`Outlook::trouble`) ends the trial.
    pub(super) patience: usize,
    /// Instructions of the whole trial.
    pub(super) budget: u64,
    /// Of these, so many at most are left once an invocation has met undefined behaviour.
    pub(super) budget_of_others: u64,
    /// Whether outcomes show each object.
    pub(super) observed: Vec<bool>,
    /// Invocations that wrote something that outcomes show.
    pub(super) writing: BTreeSet<u32>,
    /// Who updated a word since the last barrier in a way that does not commute, by location space and first byte.
    pub(super) contenders: FxHashMap<(u32, u32), BTreeSet<u32>>,
    /// The most invocations that did so to one word.
    pub(super) contending: u32,
    /// The atomic instruction that read last.
    pub(super) updating: Option<InstId>,
    /// What was read, one after the other: object, first byte and bytes; nothing where nobody asks.
    pub(super) reads: Option<Vec<(u32, u32, u32)>>,
}

/// Instructions of a whole trial: it need not reach the end, only what is touched.
pub const BUDGET: u64 = 2_000_000;

/// Instructions that are left where one has met undefined behaviour, if that is all that counts.
pub(super) const BUDGET_OF_OTHERS: u64 = 1 << 17;

/// In the place of an invocation.
pub(super) const NOBODY: u32 = u32::MAX;

impl TrialMemory {
    pub(super) fn new(dispatch: &Dispatch) -> Self {
        let place = |object: &Object| (object.memory, object.initial.len() as u32);
        TrialMemory {
            accessor: NOBODY,
            writers: Vec::new(),
            groups: Vec::new(),
            writing_groups: Vec::new(),
            reads: None,
            conflicting: BTreeSet::new(),
            patience: usize::MAX,
            budget: BUDGET,
            budget_of_others: u64::MAX,
            writing: BTreeSet::new(),
            contenders: FxHashMap::default(),
            contending: 0,
            updating: None,
            limits: Vec::new(),
            spaces: dispatch.initial_memory(),
            objects: dispatch.objects.iter().map(place).collect(),
            observed: dispatch.objects.iter().map(|object| object.observed).collect(),
            ends: vec![0; dispatch.objects.len()],
            texels: vec![[0; 4]; dispatch.objects.len()],
        }
    }

    /// Nobody has written any byte.
    pub(super) fn nobody(dispatch: &Dispatch) -> Vec<Vec<u32>> {
        dispatch.initial_memory().iter().map(|space| vec![NOBODY; space.len()]).collect()
    }

    /// Notes who accesses what.
    fn note(&mut self, access: &Access, writes: bool) {
        let Some((space, _)) = self.objects.get(access.object as usize) else { return };
        let Some(writers) = self.writers.get_mut(*space as usize) else { return };
        if writes && self.observed.get(access.object as usize) == Some(&true) {
            self.writing.insert(self.accessor);
        }
        let limit = self.limits.get(access.object as usize).copied().unwrap_or(0);
        let group = self.groups.get(self.accessor as usize).copied().unwrap_or(NOBODY);
        let groups = self.writing_groups.get_mut(*space as usize);
        for &(start, length) in &access.ranges {
            let end = start.saturating_add(length);
            if writers.len() < end as usize && end <= limit {
                writers.resize(end as usize, NOBODY);
            }
            let Some(writers) = writers.get_mut(start as usize..end as usize) else { return };
            for writer in writers {
                if *writer != NOBODY && *writer != self.accessor {
                    self.conflicting.extend([*writer, self.accessor]);
                }
                if writes {
                    *writer = self.accessor;
                }
            }
        }
        let Some(groups) = groups.filter(|_| group != NOBODY) else { return };
        for &(start, length) in &access.ranges {
            let end = start.saturating_add(length);
            if groups.len() < end as usize && end <= limit {
                groups.resize(end as usize, NOBODY);
            }
            for last in groups.get_mut(start as usize..end as usize).into_iter().flatten() {
                if *last != NOBODY && *last != group {
                    self.conflicting.insert(self.accessor);
                }
                if writes {
                    *last = group;
                }
            }
        }
    }

    /// Notes who updates what.
    fn contend(&mut self, access: &Access) {
        let (Some((space, _)), Some((start, _))) =
            (self.objects.get(access.object as usize), access.ranges.first())
        else {
            return;
        };
        let contenders = self.contenders.entry((*space, *start)).or_default();
        contenders.insert(self.accessor);
        self.contending = self.contending.max(contenders.len() as u32);
    }

    /// Visits the ranges of an access: where the first byte is in it, and the bytes; none where the access
    /// lies outside.
    fn ranges(&mut self, access: &Access, mut visit: impl FnMut(usize, &mut [Byte])) {
        let Some((space, _)) = self.objects.get(access.object as usize) else { return };
        let Some(space) = self.spaces.get_mut(*space as usize) else { return };
        let end = access.ranges.last().map_or(0, |&(start, length)| start.saturating_add(length));
        if let Some(highest) = self.ends.get_mut(access.object as usize) {
            *highest = end.max(*highest);
        }
        if space.len() < end as usize
            && self.limits.get(access.object as usize).is_some_and(|limit| end <= *limit)
        {
            space.resize(end as usize, Byte::Known(0));
        }
        let mut first = 0;
        for &(start, length) in &access.ranges {
            let (start, length) = (start as usize, length as usize);
            if let Some(bytes) = space.get_mut(start..start + length) {
                visit(first, bytes);
            }
            first += length;
        }
    }
}

impl SharedMemory for TrialMemory {
    fn size(&self, object: u32) -> u32 {
        let limit = self.limits.get(object as usize).copied().unwrap_or(0);
        self.told_size(object).max(limit)
    }

    fn told_size(&self, object: u32) -> u32 {
        self.objects.get(object as usize).map_or(0, |(_, size)| *size)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        match atomicity {
            None => self.note(access, false),
            Some(_) => self.updating = Some(access.inst),
        }
        if let Some(reads) = &mut self.reads {
            reads.extend(access.ranges.iter().map(|(start, length)| (access.object, *start, *length)));
        }
        self.ranges(access, |first, bytes| {
            if let Some(out) = out.get_mut(first..first + bytes.len()) {
                out.copy_from_slice(bytes);
            }
        });
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, values: &[Byte]) -> Written {
        match atomicity {
            None => self.note(access, true),
            Some(atomicity) if self.updating == Some(access.inst) && atomicity.commutes.is_none() => {
                self.contend(access);
            }
            Some(_) => {}
        }
        let mut changed = false;
        self.ranges(access, |first, bytes| {
            if let Some(values) = values.get(first..first + bytes.len()) {
                changed |= bytes != values;
                bytes.copy_from_slice(values);
            }
        });
        // An atomic instruction may read what others write meanwhile.
        match changed || atomicity.is_some() {
            true => Written::Changed,
            false => Written::Unchanged,
        }
    }

    fn touch_texel(&mut self, object: u32, position: Position) {
        let Some(touched) = self.texels.get_mut(object as usize) else { return };
        let [x, y, z] = position.at;
        let numbers = [x, y, z, position.layer].map(|number| u32::try_from(number).ok());
        // One negative or absurd coordinate says nothing of the others.
        if let [Some(x), Some(y), Some(z), Some(layer)] = numbers {
            for (end, number) in touched.iter_mut().zip([x, y, z, layer]) {
                *end = (*end).max(number.saturating_add(1));
            }
        }
    }
}

//! Memory that is no event: contents of words that one invocation owns, nobody writes, or whose
//! accesses barriers order ([`phases`](super::phases)), with the detection that this was wrong.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use siphasher::sip128::{Hasher128, SipHasher13};
use smallvec::SmallVec;

use super::aliasing::Declarations;
use super::groups::Contact;
use super::knowledge::{Discoveries, Knowledge, Suspect, Word};
use super::phases::{Phase, Update, Use, WordUse};
use super::suspects::Notes;
use crate::behaviour::VolatileAccess;
use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Fault, Order, Scope};
use crate::interp::{SharedMemory, Written};
use crate::model::graph::Kind;
use crate::value::Byte;

/// Contents and use of all memories, copied on write.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    memories: Vec<Memory>,
    declarations: Declarations,
    /// The words of updates whose order is left open, while they are few.
    unordered: SmallVec<[(u32, u32); 2 * FEW]>,
    unordered_count: u32,
    /// The words without events that were touched since somebody asked for it.
    touches: Option<IndexSet<Touch, FxBuildHasher>>,
}

/// An access of a word without events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Touch {
    pub(super) memory: u32,
    /// Its first byte.
    pub(super) word: u32,
    pub(super) writes: bool,
}

/// Updates whose order is left open, up to which they are rather ordered in every way: `executions` says
/// how many ways there are where that is no great number.
const FEW: usize = 3;

#[derive(Clone, Debug)]
struct Memory {
    bytes: Arc<Vec<Byte>>,
    /// Of each word; of each byte once an access has covered part of a word, since neighbours in a word
    /// of narrow numbers are often different invocations'.
    uses: Arc<Vec<WordUse>>,
    /// Bytes that an entry of `uses` is for: 4 or 1.
    grain: u32,
    /// Reached through one reference only.
    one_reference: bool,
    /// What its future depends on, once somebody asked.
    future: OnceLock<Sum>,
    /// That sum, with the words that changed since, once somebody asked since the last change.
    summed: OnceLock<u128>,
}

/// The sum of what the words of a memory count as, so that what did not change is not looked at again.
#[derive(Clone, Debug)]
struct Sum {
    whole: u128,
    /// The words that may have changed since, with what they count as in the sum.
    changed: SmallVec<[(u32, u128); MAX_CHANGED]>,
}

/// Words that may have changed, up to which a sum is kept.
const MAX_CHANGED: usize = 12;

/// Who accesses memory, and in which phase.
#[derive(Clone, Copy)]
pub(super) struct Accessor<'a> {
    pub(super) agent: u32,
    pub(super) dispatch: &'a Dispatch,
    pub(super) knowledge: &'a Knowledge,
    /// Of every workgroup.
    pub(super) phases: &'a [Phase],
    pub(super) atomic: bool,
    pub(super) update: Option<Update>,
}

impl Accessor<'_> {
    fn workgroup_of(&self, agent: u32) -> u32 {
        self.dispatch.places.get(agent as usize).map_or(u32::MAX, |place| place.workgroup)
    }
}

impl Contents {
    pub(super) fn new(dispatch: &Dispatch) -> Self {
        let count = dispatch.objects.iter().map(|object| object.memory + 1).max().unwrap_or(0);
        let mut bytes: Vec<Vec<Byte>> = vec![Vec::new(); count as usize];
        let mut references: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
        for object in &dispatch.objects {
            let slot = &mut bytes[object.memory as usize];
            if slot.len() < object.initial.len() {
                slot.extend_from_slice(&object.initial[slot.len()..]);
            }
            let known = &mut references[object.memory as usize];
            if !known.contains(&object.reference) {
                known.push(object.reference);
            }
        }
        let memories = bytes
            .into_iter()
            .zip(references)
            .map(|(bytes, references)| Memory {
                uses: Arc::new(vec![WordUse::default(); bytes.len().div_ceil(4)]),
                grain: WORD,
                bytes: Arc::new(bytes),
                one_reference: references.len() < 2,
                future: OnceLock::new(),
                summed: OnceLock::new(),
            })
            .collect();
        let declarations = Declarations::new(dispatch);
        Contents { memories, declarations, unordered: SmallVec::new(), unordered_count: 0, touches: None }
    }

    /// Copies what other states share.
    pub(super) fn unshare(&mut self) {
        for memory in &mut self.memories {
            memory.bytes = Arc::new(memory.bytes.to_vec());
            memory.uses = Arc::new(memory.uses.to_vec());
        }
    }

    /// Notes accesses from now on.
    pub(super) fn note_touches(&mut self) {
        self.touches = Some(IndexSet::default());
    }

    /// The accesses since [`Contents::note_touches`], each once.
    pub(super) fn touches(&self) -> Vec<Touch> {
        self.touches.iter().flatten().copied().collect()
    }

    fn note(&mut self, access: &Access, memory: u32, writes: bool, knowledge: &Knowledge) {
        let Some(touches) = &mut self.touches else { return };
        let unshared = words_of(access).filter(|word| knowledge.word(memory, *word) == Word::Unshared);
        touches.extend(unshared.map(|word| Touch { memory, word, writes }));
    }

    /// How often the order of an update was left open.
    pub(super) fn unordered_count(&self) -> u32 {
        self.unordered_count
    }

    /// The words of updates whose order was left open, if there are only few.
    pub(super) fn few_unordered(&self) -> &[(u32, u32)] {
        if self.unordered_count as usize <= FEW {
            &self.unordered
        } else {
            &[]
        }
    }

    /// Notes through which declaration an access goes; the fault if it must not alias.
    pub(super) fn declare(&mut self, access: &Access, memory: u32, write: bool) -> Option<Fault> {
        self.declarations.note(access, memory, write)
    }

    /// The bytes of a memory; of shared words, the initial ones.
    pub(super) fn bytes(&self, memory: u32) -> &[Byte] {
        self.memories.get(memory as usize).map_or(&[], |memory| &memory.bytes)
    }

    /// The bytes of all memories, for comparisons.
    pub(super) fn snapshot(&self) -> Vec<Arc<Vec<Byte>>> {
        self.memories.iter().map(|memory| memory.bytes.clone()).collect()
    }

    /// Feeds a hasher what the future depends on: contents, and who used what.
    pub(super) fn hash_future(&self, hasher: &mut impl Hasher) {
        for memory in &self.memories {
            (memory.sum(), memory.grain).hash(hasher);
        }
        self.unordered.hash(hasher);
        (self.unordered_count as usize).min(FEW + 1).hash(hasher);
    }

    /// Whether a memory is reached through one reference only.
    pub(super) fn has_one_reference(&self, memory: u32) -> bool {
        self.memories.get(memory as usize).is_some_and(|memory| memory.one_reference)
    }

    /// One byte of a memory.
    pub(super) fn byte(&self, memory: u32, offset: u32) -> Byte {
        self.bytes(memory).get(offset as usize).copied().unwrap_or(Byte::Undef)
    }

    /// How a word, given by its first byte, was used.
    pub(super) fn uses(&self, memory: u32, word: u32) -> impl Iterator<Item = &WordUse> {
        let uses = self.memories.get(memory as usize).and_then(|memory| {
            let first = (word / memory.grain) as usize;
            let behind = first + (WORD / memory.grain) as usize;
            memory.uses.get(first..behind.min(memory.uses.len()))
        });
        uses.into_iter().flatten()
    }

    /// Reads the unshared bytes of an access into `out`; others are left as they are.
    pub(super) fn read(
        &mut self,
        access: &Access,
        memory: u32,
        by: Accessor,
        found: &mut Discoveries,
        out: &mut [Byte],
    ) {
        self.note(access, memory, false, by.knowledge);
        let Some(slot) = self.memories.get_mut(memory as usize) else { return };
        for_each_unshared(access, memory, by.knowledge, |index, bytes| {
            if let (Some(out), Some(values)) = (
                out.get_mut(index..index + bytes.len()),
                slot.bytes.get(bytes.start as usize..bytes.end as usize),
            ) {
                out.copy_from_slice(values);
            }
        });
        // What an update reads is nobody's concern but its own.
        if by.update.is_none() {
            slot.touch(access, memory, by, found, |word, used| word.read(used));
        }
    }

    /// Writes the unshared bytes of an access. Returns whether one of them changed.
    pub(super) fn write(
        &mut self,
        access: &Access,
        memory: u32,
        by: Accessor,
        found: &mut Discoveries,
        bytes: &[Byte],
    ) -> bool {
        self.note(access, memory, true, by.knowledge);
        let Some(slot) = self.memories.get_mut(memory as usize) else { return false };
        match by.update {
            Some(update) if slot.one_reference => {
                let mut unordered = false;
                slot.touch(access, memory, by, found, |word, used| {
                    let noted = word.update(used, update);
                    unordered |= noted == Some(true);
                    noted.is_some()
                });
                if unordered {
                    self.unordered_count = self.unordered_count.saturating_add(1);
                    if self.unordered_count as usize <= FEW {
                        self.unordered.extend(words_of(access).map(|word| (memory, word)));
                    }
                }
            }
            Some(_) => {
                slot.touch(access, memory, by, found, |word, used| word.read(used) & word.write(used));
            }
            None => slot.touch(access, memory, by, found, |word, used| word.write(used)),
        }
        slot.will_change(access);
        let contents = Arc::make_mut(&mut slot.bytes);
        let mut changed = false;
        for_each_unshared(access, memory, by.knowledge, |index, range| {
            if let (Some(slot), Some(values)) = (
                contents.get_mut(range.start as usize..range.end as usize),
                bytes.get(index..index + range.len()),
            ) {
                changed |= *slot != *values;
                slot.copy_from_slice(values);
            }
        });
        changed
    }
}

/// Calls back with runs of unshared bytes: the index of the first in the access, and where they are in memory.
fn for_each_unshared(
    access: &Access,
    memory: u32,
    knowledge: &Knowledge,
    mut visit: impl FnMut(usize, Range<u32>),
) {
    let mut index = 0;
    for (offset, len) in &access.ranges {
        if !knowledge.has_units() {
            visit(index, *offset..offset + len);
            index += *len as usize;
            continue;
        }
        for byte in *offset..offset + len {
            if knowledge.word(memory, byte) == Word::Unshared {
                visit(index, byte..byte + 1);
            }
            index += 1;
        }
    }
}

/// Bytes of a word.
const WORD: u32 = 4;

/// The words that an access touches, by their first bytes.
pub(super) fn words_of(access: &Access) -> impl Iterator<Item = u32> + '_ {
    grains_of(access, WORD)
}

/// The aligned pieces of so many bytes that an access touches, by their first bytes.
fn grains_of(access: &Access, grain: u32) -> impl Iterator<Item = u32> + '_ {
    let ranges = access.ranges.iter();
    ranges.flat_map(move |(offset, len)| {
        (offset / grain..(offset + len).div_ceil(grain)).map(move |piece| piece * grain)
    })
}

impl Memory {
    /// What its contents and uses count as.
    fn sum(&self) -> u128 {
        let all = || {
            let words = 0..self.bytes.len().div_ceil(WORD as usize) as u32;
            let whole = words.fold(0, |sum: u128, word| sum.wrapping_add(self.hash_word(word)));
            Sum { whole, changed: SmallVec::new() }
        };
        *self.summed.get_or_init(|| {
            let Sum { whole, changed } = self.future.get_or_init(all);
            changed.iter().fold(*whole, |sum, (word, before)| {
                sum.wrapping_sub(*before).wrapping_add(self.hash_word(*word))
            })
        })
    }

    /// What a word, by number, counts as.
    fn hash_word(&self, word: u32) -> u128 {
        let part = |len: usize, grain: u32| {
            let (first, behind) = (word * WORD / grain, (word + 1) * WORD / grain);
            (first as usize).min(len)..(behind as usize).min(len)
        };
        let mut hasher = SipHasher13::new();
        word.hash(&mut hasher);
        self.bytes[part(self.bytes.len(), 1)].hash(&mut hasher);
        self.uses[part(self.uses.len(), self.grain)].hash(&mut hasher);
        hasher.finish128().as_u128()
    }

    /// Notes that the words of an access may change.
    fn will_change(&mut self, access: &Access) {
        self.summed.take();
        let Some(mut sum) = self.future.take() else { return };
        for word in words_of(access).map(|first| first / WORD) {
            if sum.changed.iter().any(|(known, _)| *known == word) {
                continue;
            }
            if sum.changed.len() == MAX_CHANGED {
                return;
            }
            sum.changed.push((word, self.hash_word(word)));
        }
        self.future = OnceLock::from(sum);
    }

    /// Notes the use of every unshared word of the access; `note` says whether it communicates with nobody.
    fn touch(
        &mut self,
        access: &Access,
        memory: u32,
        by: Accessor,
        found: &mut Discoveries,
        mut note: impl FnMut(&mut WordUse, &Use) -> bool,
    ) {
        let workgroup = by.workgroup_of(by.agent);
        let phase = by.phases.get(workgroup as usize).copied().unwrap_or_default();
        let object = by.dispatch.objects.get(access.object as usize);
        let used = Use {
            agent: by.agent,
            workgroup,
            access,
            reference: object.map_or(u32::MAX, |object| object.reference),
            now: phase.of(access.class.semantics_bit()),
            one_reference: self.one_reference,
        };
        if self.grain == WORD && access.ranges.iter().any(|(offset, len)| (offset | len) % WORD != 0) {
            let each_byte = self.uses.iter().flat_map(|used| std::iter::repeat_n(*used, WORD as usize));
            self.uses = Arc::new(each_byte.collect());
            self.grain = 1;
            self.future.take();
            self.summed.take();
        }
        let grain = self.grain;
        self.will_change(access);
        let uses = Arc::make_mut(&mut self.uses);
        // Atomics do not tear, and are mutually ordered only with those of the same locations: all
        // their words are units, or none is.
        let joins = by.atomic && is_shared(access, memory, by.knowledge);
        for piece in grains_of(access, grain) {
            if by.knowledge.has_units() && by.knowledge.word(memory, piece) != Word::Unshared {
                continue;
            }
            let word = piece / WORD * WORD;
            if joins {
                found.shared.insert((memory, word));
            }
            let Some(slot) = uses.get_mut((piece / grain) as usize) else { continue };
            if !note(slot, &used) {
                found.shared.insert((memory, word));
                if !by.atomic {
                    found.suspect.get_or_insert(Suspect { memory, start: piece, len: grain });
                }
            }
        }
    }
}

/// Whether some byte of the access lies in a word that invocations share.
pub(super) fn is_shared(access: &Access, memory: u32, knowledge: &Knowledge) -> bool {
    knowledge.has_units() && words_of(access).any(|word| knowledge.word(memory, word) != Word::Unshared)
}

/// An access that communicates with nobody: unshared, and without an effect on the order of others.
pub(super) fn is_quiet(
    access: &Access,
    memory: u32,
    atomicity: Option<&Atomicity>,
    knowledge: &Knowledge,
) -> bool {
    let orders = atomicity.is_some_and(|atomicity| atomicity.semantics.order != Order::Relaxed);
    let is_event = orders && knowledge.has_units() || is_shared(access, memory, knowledge);
    !is_event
}

/// The memory as one invocation sees it between two events.
pub(super) struct View<'a> {
    pub(super) dispatch: &'a Dispatch,
    pub(super) knowledge: &'a Knowledge,
    pub(super) contents: &'a mut Contents,
    pub(super) found: &'a mut Discoveries,
    /// How often the invocation changed memory without an event.
    pub(super) changes: &'a mut u64,
    pub(super) phases: &'a [Phase],
    pub(super) agent: u32,
    /// Commuting updates may stay unordered.
    pub(super) updates_commute: bool,
    /// The invocations are explored apart from others: what they touch is noted.
    pub(super) in_group: bool,
    /// Plain reads may speculate like atomic ones.
    pub(super) plain_speculates: bool,
    pub(super) notes: Option<Notes<'a>>,
    /// What was undefined about an access.
    pub(super) fault: Option<Fault>,
}

impl<'a> View<'a> {
    fn accessor(&self, atomicity: Option<&Atomicity>) -> Accessor<'a> {
        let (agent, dispatch, knowledge, phases) = (self.agent, self.dispatch, self.knowledge, self.phases);
        let update = |atomicity: &Atomicity| {
            let wide = atomicity.scope >= Scope::Workgroup;
            let kind = atomicity.commutes.filter(|_| wide && self.updates_commute)?;
            Some(Update { kind, scope: atomicity.scope })
        };
        let update = atomicity.and_then(update);
        Accessor { agent, dispatch, knowledge, phases, atomic: atomicity.is_some(), update }
    }

    /// Volatile accesses are events, so that traces are made in one place.
    fn make_volatile_an_event(&mut self, access: &Access, memory: u32) {
        if access.volatile {
            self.found.shared.extend(words_of(access).map(|word| (memory, word)));
        }
    }
}

/// The trace entry of a volatile access.
pub(super) fn volatile_access(access: &Access, write: bool, atomic: bool, bytes: &[Byte]) -> VolatileAccess {
    let offset = access.ranges.first().map_or(0, |(offset, _)| *offset);
    VolatileAccess::One { object: access.object, offset, write, atomic, bytes: bytes.to_vec() }
}

impl SharedMemory for View<'_> {
    fn size(&self, object: u32) -> u32 {
        self.dispatch.objects.get(object as usize).map_or(0, |object| object.initial.len() as u32)
    }

    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        let Some(object) = self.dispatch.objects.get(access.object as usize) else { return false };
        if !is_quiet(access, object.memory, atomicity, self.knowledge) {
            return false;
        }
        self.fault = self.fault.take().or(self.contents.declare(access, object.memory, false));
        let by = self.accessor(atomicity);
        self.contents.read(access, object.memory, by, self.found, out);
        if self.in_group {
            self.found.touched.note(object.memory, access, Contact::Read);
        }
        let speculates = match atomicity {
            Some(atomicity) => atomicity.commutes.is_none(),
            None => self.plain_speculates,
        };
        if speculates && !object.constant {
            let words = words_of(access).map(|word| ((object.memory, word), self.agent));
            self.found.read.extend(words);
        }
        if let Some(notes) = &mut self.notes {
            notes.add(self.agent, access, object, Kind::Read, out);
        }
        self.make_volatile_an_event(access, object.memory);
        true
    }

    fn write(&mut self, access: &Access, atomicity: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        let Some(object) = self.dispatch.objects.get(access.object as usize) else { return Written::Event };
        if !is_quiet(access, object.memory, atomicity, self.knowledge) {
            return Written::Event;
        }
        self.fault = self.fault.take().or(self.contents.declare(access, object.memory, true));
        let by = self.accessor(atomicity);
        let changed = self.contents.write(access, object.memory, by, self.found, bytes);
        if self.in_group {
            self.found.touched.note(object.memory, access, Contact::Written);
        }
        if let Some(notes) = &mut self.notes {
            notes.add(self.agent, access, object, Kind::Write, bytes);
        }
        self.make_volatile_an_event(access, object.memory);
        *self.changes += u64::from(changed);
        match changed {
            true => Written::Changed,
            false => Written::Unchanged,
        }
    }
}

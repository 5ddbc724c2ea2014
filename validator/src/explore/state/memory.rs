//! Memory that is no event: the contents of words that one invocation owns, that no invocation writes, or whose
//! accesses barriers order ([`barrier_epochs`](crate::explore::reductions::barrier_epochs)). Accesses that do not fit
//! this are detected, and their words are events in the next round.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use siphasher::sip128::{Hasher128, SipHasher13};
use smallvec::SmallVec;

use crate::dispatch::Dispatch;
use crate::event::{Access, Atomicity, Fault, Order};
use crate::explore::facts::discoveries::{Discoveries, RaceCandidate, Word};
use crate::explore::facts::knowledge::Knowledge;
use crate::explore::program::aliasing::Declarations;
use crate::explore::program::units::{self, WORD};
use crate::explore::reductions::barrier_epochs::agents::Use;
use crate::explore::reductions::barrier_epochs::epoch::Epoch;
use crate::explore::reductions::barrier_epochs::uses::WordUse;
use crate::explore::reductions::commuting_updates::updates::Update;
use crate::value::Byte;

/// The contents and uses of all memories. They are copied on write.
#[derive(Clone, Debug)]
pub(crate) struct Contents {
    memories: Vec<Memory>,
    declarations: Declarations,
    /// The words of updates whose order was left open, while there are only few.
    unordered: SmallVec<[(u32, u32); 2 * FEW]>,
    unordered_count: u32,
    /// The words without events that were touched since [`Contents::note_touches`].
    touches: Option<IndexSet<Touch, FxBuildHasher>>,
}

/// An access of a word without events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Touch {
    pub(crate) memory: u32,
    /// The first byte of the word.
    pub(crate) word: u32,
    pub(crate) writes: bool,
}

/// The number of updates with open order up to which they become events and are ordered in every way. So `executions`
/// counts these orders where there are only few.
const FEW: usize = 3;

#[derive(Clone, Debug)]
struct Memory {
    bytes: Arc<Vec<Byte>>,
    /// The use of each word. Once an access has covered part of a word, there is an entry for each byte: neighbours in
    /// a word of narrow numbers often belong to different invocations.
    uses: Arc<Vec<WordUse>>,
    /// The number of bytes for which an entry of `uses` is: 4 or 1.
    grain: u32,
    /// Whether the memory is reached through one reference only.
    one_reference: bool,
    /// A sum over the words, for the future of the state. It is computed when it is first needed.
    future: OnceLock<Sum>,
    /// The sum at present: `future` with the words that have changed since. It is computed when it is needed after a
    /// change.
    summed: OnceLock<u128>,
}

/// The sum of a hash of each word of a memory. Words that did not change need not be hashed again.
#[derive(Clone, Debug)]
struct Sum {
    whole: u128,
    /// The words that may have changed since, with their hashes in the sum.
    changed: SmallVec<[(u32, u128); MAX_CHANGED]>,
}

/// The number of words that may have changed, up to which a sum is kept.
const MAX_CHANGED: usize = 12;

/// An invocation that accesses memory, and the barrier epoch in which it does.
#[derive(Clone, Copy)]
pub(crate) struct Accessor<'a> {
    pub(crate) agent: u32,
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) knowledge: &'a Knowledge,
    /// The epochs of all workgroups.
    pub(crate) epochs: &'a [Epoch],
    pub(crate) atomic: bool,
    pub(crate) update: Option<Update>,
}

impl Accessor<'_> {
    fn workgroup_of(&self, agent: u32) -> u32 {
        self.dispatch.places.get(agent as usize).map_or(u32::MAX, |place| place.workgroup)
    }
}

impl Contents {
    pub(crate) fn new(dispatch: &Dispatch) -> Self {
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

    /// Makes copies of what other states share.
    pub(crate) fn unshare(&mut self) {
        for memory in &mut self.memories {
            memory.bytes = Arc::new(memory.bytes.to_vec());
            memory.uses = Arc::new(memory.uses.to_vec());
        }
    }

    /// Notes accesses from now on.
    pub(crate) fn note_touches(&mut self) {
        self.touches = Some(IndexSet::default());
    }

    /// The accesses since [`Contents::note_touches`], each once.
    pub(crate) fn touches(&self) -> Vec<Touch> {
        self.touches.iter().flatten().copied().collect()
    }

    fn note(&mut self, access: &Access, memory: u32, writes: bool, knowledge: &Knowledge) {
        let Some(touches) = &mut self.touches else { return };
        let unshared = units::words_of(access).filter(|word| knowledge.word(memory, *word) == Word::Unshared);
        touches.extend(unshared.map(|word| Touch { memory, word, writes }));
    }

    /// The number of updates whose order was left open.
    pub(crate) fn unordered_count(&self) -> u32 {
        self.unordered_count
    }

    /// The words of updates whose order was left open, if there are only few.
    pub(crate) fn few_unordered(&self) -> &[(u32, u32)] {
        if self.unordered_count as usize <= FEW {
            &self.unordered
        } else {
            &[]
        }
    }

    /// Notes the declaration of an access. It returns the fault if the access must not alias an earlier one.
    pub(crate) fn declare(&mut self, access: &Access, memory: u32, write: bool) -> Option<Fault> {
        self.declarations.note(access, memory, write)
    }

    /// The bytes of a memory. Shared words have their initial contents.
    pub(crate) fn bytes(&self, memory: u32) -> &[Byte] {
        self.memories.get(memory as usize).map_or(&[], |memory| &memory.bytes)
    }

    /// The bytes of all memories, to compare them.
    pub(crate) fn snapshot(&self) -> Vec<Arc<Vec<Byte>>> {
        self.memories.iter().map(|memory| memory.bytes.clone()).collect()
    }

    /// Feeds a hasher with what the future of a state depends on: the contents of words, and their uses.
    pub(crate) fn hash_future(&self, hasher: &mut impl Hasher) {
        for memory in &self.memories {
            (memory.sum(), memory.grain).hash(hasher);
        }
        self.unordered.hash(hasher);
        (self.unordered_count as usize).min(FEW + 1).hash(hasher);
    }

    /// Whether a memory is reached through one reference only.
    pub(crate) fn has_one_reference(&self, memory: u32) -> bool {
        self.memories.get(memory as usize).is_some_and(|memory| memory.one_reference)
    }

    /// One byte of a memory.
    pub(crate) fn byte(&self, memory: u32, offset: u32) -> Byte {
        self.bytes(memory).get(offset as usize).copied().unwrap_or(Byte::Undef)
    }

    /// The uses of the word that begins at this byte.
    pub(crate) fn uses(&self, memory: u32, word: u32) -> impl Iterator<Item = &WordUse> {
        let uses = self.memories.get(memory as usize).and_then(|memory| {
            let first = (word / memory.grain) as usize;
            let behind = first + (WORD / memory.grain) as usize;
            memory.uses.get(first..behind.min(memory.uses.len()))
        });
        uses.into_iter().flatten()
    }

    /// Reads the unshared bytes of an access into `out`. The other bytes of `out` stay as they are.
    pub(crate) fn read(
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
        // The result of such an update is not used, so it does not matter what it reads.
        if by.update.is_none() {
            slot.touch(access, memory, by, found, |word, used| word.read(used));
        }
    }

    /// Writes the unshared bytes of an access. It returns whether one of them changed.
    pub(crate) fn write(
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
                        self.unordered.extend(units::words_of(access).map(|word| (memory, word)));
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

/// Calls back with runs of unshared bytes: the index of the first byte in the access, and the place of the run in
/// memory.
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

impl Memory {
    /// The sum of the hashes of all words.
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

    /// The hash of the contents and uses of a word, by its number.
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
        for word in units::words_of(access).map(|first| first / WORD) {
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

    /// Notes the use of every unshared word of an access. `note` returns whether the use does not communicate with
    /// another invocation.
    fn touch(
        &mut self,
        access: &Access,
        memory: u32,
        by: Accessor,
        found: &mut Discoveries,
        mut note: impl FnMut(&mut WordUse, &Use) -> bool,
    ) {
        let workgroup = by.workgroup_of(by.agent);
        let epoch = by.epochs.get(workgroup as usize).copied().unwrap_or_default();
        let object = by.dispatch.objects.get(access.object as usize);
        let used = Use {
            agent: by.agent,
            workgroup,
            access,
            reference: object.map_or(u32::MAX, |object| object.reference),
            now: epoch.of(access.class.semantics_bit()),
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
        // Atomics do not tear, and they are mutually ordered only with atomics of the same locations. So either all
        // their words are units or none is.
        let joins = by.atomic && is_shared(access, memory, by.knowledge);
        for piece in units::grains_of(access, grain) {
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
                    found.race_candidate.get_or_insert(RaceCandidate { memory, start: piece, len: grain });
                }
            }
        }
    }
}

/// Whether some byte of the access lies in a word that invocations share.
fn is_shared(access: &Access, memory: u32, knowledge: &Knowledge) -> bool {
    knowledge.has_units()
        && units::words_of(access).any(|word| knowledge.word(memory, word) != Word::Unshared)
}

/// Whether an access does not communicate: it is unshared, and it has no effect on the order of other accesses.
pub(crate) fn is_quiet(
    access: &Access,
    memory: u32,
    atomicity: Option<&Atomicity>,
    knowledge: &Knowledge,
) -> bool {
    let orders = atomicity.is_some_and(|atomicity| atomicity.semantics.order != Order::Relaxed);
    let is_event = orders && knowledge.has_units() || is_shared(access, memory, knowledge);
    !is_event
}

/// Whether an access is an event and nothing else. Then memory without events need not be copied for it.
pub(crate) fn is_all_shared(access: &Access, memory: u32, knowledge: &Knowledge) -> bool {
    knowledge.has_units()
        && units::words_of(access).all(|word| knowledge.word(memory, word) != Word::Unshared)
}

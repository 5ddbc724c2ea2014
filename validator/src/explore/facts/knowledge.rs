//! What a search knows at the start of a round. It has learned this in the rounds before.
//!
//! - *Shared words*: a word of memory is no event if only one invocation touches it, if no invocation writes it, or if
//!   barriers order its accesses. A round assumes that this holds for all words but those that it knows to be shared,
//!   and notes every word for which it does not hold.
//! - *Split words*: units of the graph are words of 4 bytes, or single bytes if an access covers only part of a word.
//! - *Writers*: the invocations that write a unit, and the instructions at which they do so. A read-modify-write that
//!   wrote nothing counts, too. A read waits for a later write only if such a write was seen. This finds every
//!   execution. Proof: take an execution that was missed, and the first of its waits that was refused. The write that
//!   the read waits for does not depend on the read (otherwise it is a speculation), so a round without the wait sees
//!   it. In that round the read may have written a value that a read-modify-write before that write must not find. Then
//!   the round sees this read-modify-write, and the next round lets the read wait.
//! - *Values* that reads may speculate: what a write of some execution gives the unit, and what a read-modify-write of
//!   some execution would give it, had it read another such value or the initial one. The second kind is needed because
//!   two read-modify-writes never read from the same write. For example, a read-modify-write that finds its source
//!   already taken in every execution so far may be the one that takes it in an execution in which the other
//!   read-modify-write speculates just what the former writes.
//! - Whether *release sequences* depend on scoped modification order in some graph. Then graphs that are not complete
//!   are judged only by what no later write can change, and races are looked for at the end.
//! - *Spinning reads*: the reads of turns of loops that change nothing and return to the same state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::behaviour::{Produced, VolatileAccess};
use crate::dispatch::Dispatch;
use crate::explore::facts::discoveries::{Discoveries, Manner, RaceCandidate, Word};
use crate::explore::program::units::UnitKey;
use crate::explore::settings::Settings;
use crate::ir::InstId;
use crate::model::graph::{Unit, UnitBytes};

/// The number of reads of a path that may speculate, once too many graphs were judged for them.
const MOST_SPECULATED: u32 = 1;

/// If executions gave one unit more values than this, cycles of load buffering seem to feed themselves.
const FED: usize = 16;

/// The numbers of graphs with speculated reads that a round may judge: in any case, for each execution that it visits,
/// and in all. Where there are two values, the first one is for cycles that do not seem to feed themselves, and the
/// second one for cycles that do.
const JUDGED_FREELY: [u64; 2] = [1 << 15, 1 << 14];

const JUDGED_EACH: u64 = 64;

const JUDGED_AT_MOST: [u64; 2] = [1 << 22, 1 << 16];

/// The number of rounds up to which a round may be ended before it has noticed everything.
const MAX_UNFINISHED: usize = 32;

/// What is known at the start of a round. It grows from round to round.
#[derive(Clone, Debug, Default)]
pub(crate) struct Knowledge {
    shared: BTreeSet<UnitKey>,
    split: BTreeSet<UnitKey>,
    writers: BTreeMap<UnitKey, BTreeSet<(u32, InstId)>>,
    /// How the writers write. There is no entry for a writer that was only foreseen.
    pub(crate) manners: BTreeMap<(u32, InstId), BTreeSet<Manner>>,
    foreseen_writers: BTreeMap<UnitKey, BTreeSet<(u32, InstId)>>,
    /// The values that reads may speculate.
    pub(crate) values: BTreeMap<UnitKey, BTreeSet<UnitBytes>>,
    /// Those of `values` that writes of executions gave.
    pub(crate) produced: BTreeMap<UnitKey, BTreeSet<UnitBytes>>,
    /// The units that reads speculate.
    speculated: BTreeSet<UnitKey>,
    /// Whether release sequences depend on scoped modification order.
    pub(crate) orders_matter: bool,
    pub(crate) spin_reads: BTreeSet<InstId>,
    /// For each invocation and first read of a turn of a spin loop, the units that these turns read.
    pub(crate) spin_units: BTreeMap<(u32, InstId), BTreeSet<UnitKey>>,
    /// Invocations that do not do the same as the other members of their class.
    pub(crate) asymmetric: BTreeSet<u32>,
    /// Instructions that write values which depend on the places of the invocations in a class.
    pub(crate) varied: BTreeSet<InstId>,
    /// The volatile accesses of failing turns, by invocation and the first instruction of the loop header.
    pub(crate) spin_traces: BTreeMap<(u32, InstId), BTreeSet<Vec<VolatileAccess>>>,
    /// Whether some writers were found only in cycles of load buffering, that is, wrote on no path so far.
    pub(crate) has_hidden_writers: bool,
    /// For each unit, the values that some write gave it on some path.
    seen: BTreeMap<UnitKey, BTreeSet<UnitBytes>>,
    /// Steps between states with the same future form a cycle. So such states are not merged.
    pub(crate) futures_form_cycle: bool,
    /// An invocation leaves an endless loop. So no invocation is assumed to see what its next read would provide.
    pub(crate) leaves_loops: bool,
    /// The number of reads of one path that may speculate, if it is limited.
    pub(crate) most_speculated: Option<u32>,
    /// Whether values were left out because there were too many.
    pub(crate) capped: bool,
    /// The number of rounds so far.
    rounds: usize,
    /// For each memory and word, how this round treats it.
    words: Vec<Vec<Word>>,
    units: Arc<[UnitKey]>,
    /// For each unit, its writers, ascending. `produced_for` has the values that writes of executions gave it,
    /// ascending.
    writers_of: Vec<Vec<(u32, InstId)>>,
    produced_for: Vec<Vec<UnitBytes>>,
    /// For each invocation, the instructions at which it was seen to write some unit.
    writes_of: Vec<BTreeSet<InstId>>,
    /// The bytes whose accesses are noted although no word is shared.
    pub(crate) race_candidate: Option<RaceCandidate>,
}

impl Knowledge {
    pub(crate) fn new(dispatch: &Dispatch, settings: &Settings) -> Self {
        let mut knowledge = Knowledge::default();
        let memories = dispatch.objects.iter().map(|object| object.memory + 1).max().unwrap_or(0);
        knowledge.words = vec![Vec::new(); memories as usize];
        for object in &dispatch.objects {
            let words = object.initial.len().div_ceil(4);
            let slot = &mut knowledge.words[object.memory as usize];
            if slot.len() < words {
                slot.resize(words, Word::Unshared);
            }
            if (!settings.shortcuts || settings.model.depends_on_unshared()) && !object.constant {
                knowledge.shared.extend((0..words as u32).map(|word| (object.memory, word * 4)));
            }
            for ((key, offset), values) in &settings.speculate {
                if *key == object.key {
                    let values = values.iter().map(|bytes| UnitBytes::from_slice(bytes));
                    let unit = (object.memory, *offset);
                    knowledge.values.entry(unit).or_default().extend(values.clone());
                    knowledge.produced.entry(unit).or_default().extend(values);
                }
            }
        }
        knowledge.shared.extend(&settings.foreseen.shared);
        knowledge.writers.clone_from(&settings.foreseen.writers);
        knowledge.foreseen_writers.clone_from(&settings.foreseen.writers);
        knowledge.number_units();
        knowledge.list_by_unit();
        knowledge
    }

    /// The instructions at which an invocation was seen to write a unit.
    pub(crate) fn writers(&self, unit: Unit, agent: u32) -> &[(u32, InstId)] {
        let all = &self.writers_of[unit as usize];
        let first = all.partition_point(|(other, _)| *other < agent);
        let count = all[first..].iter().take_while(|(other, _)| *other == agent).count();
        &all[first..first + count]
    }

    /// Whether an invocation was seen to write a unit at an instruction.
    pub(crate) fn has_writer(&self, unit: &UnitKey, writer: &(u32, InstId)) -> bool {
        self.writers.get(unit).is_some_and(|writers| writers.contains(writer))
    }

    /// The instructions at which an invocation was seen to write some unit.
    pub(crate) fn writes_of(&self, agent: u32) -> impl Iterator<Item = &InstId> {
        self.writes_of.get(agent as usize).into_iter().flatten()
    }

    /// The values that some write gave a unit on some path.
    pub(crate) fn seen(&self, unit: Unit) -> &BTreeSet<UnitBytes> {
        static NONE: BTreeSet<UnitBytes> = BTreeSet::new();
        self.seen.get(&self.key(unit)).unwrap_or(&NONE)
    }

    /// Whether a write of an execution is known to have given a unit this value.
    pub(crate) fn is_produced(&self, unit: Unit, value: &UnitBytes) -> bool {
        self.produced_for[unit as usize].binary_search(value).is_ok()
    }

    /// The values that writes of executions gave, in a form that another search can use.
    pub(crate) fn produced_values(&self, dispatch: &Dispatch) -> Produced {
        let mut produced = Produced::new();
        for ((memory, offset), values) in &self.produced {
            for object in dispatch.objects.iter().filter(|object| object.memory == *memory) {
                let into = produced.entry((object.key.clone(), *offset)).or_default();
                into.extend(values.iter().map(|bytes| bytes.to_vec()));
            }
        }
        produced
    }

    /// Whether some read speculates a value of this unit.
    pub(crate) fn is_speculated(&self, unit: Unit) -> bool {
        !self.speculated.is_empty() && self.speculated.contains(&self.key(unit))
    }

    /// Whether any read speculates.
    pub(crate) fn has_speculated(&self) -> bool {
        !self.speculated.is_empty()
    }

    /// How the word that contains this byte is treated.
    pub(crate) fn word(&self, memory: u32, offset: u32) -> Word {
        let words = self.words.get(memory as usize);
        words.and_then(|words| words.get(offset as usize / 4)).copied().unwrap_or(Word::Unshared)
    }

    /// Where a unit lies: its memory and first byte.
    pub(crate) fn key(&self, unit: Unit) -> UnitKey {
        self.units[unit as usize]
    }

    /// The number of bytes of a unit.
    pub(crate) fn unit_len(&self, unit: Unit) -> u32 {
        let (memory, offset) = self.key(unit);
        match self.word(memory, offset) {
            Word::Bytes(_) => 1,
            Word::Whole(_) | Word::Unshared => 4,
        }
    }

    /// Whether the graph has locations.
    pub(crate) fn has_units(&self) -> bool {
        !self.units.is_empty() && self.race_candidate.is_none()
    }

    /// Whether barriers are events.
    pub(crate) fn notes_barriers(&self) -> bool {
        !self.units.is_empty()
    }

    /// The same knowledge without shared words, for a round that notes the accesses of a candidate for an early race.
    pub(crate) fn with_race_candidates(&self, race_candidate: RaceCandidate) -> Knowledge {
        let units = vec![(race_candidate.memory, race_candidate.start)];
        let mut knowledge =
            Knowledge { units: units.into(), race_candidate: Some(race_candidate), ..self.clone() };
        knowledge.list_by_unit();
        knowledge
    }

    /// Where the units lie, by their numbers.
    pub(crate) fn units(&self) -> &Arc<[UnitKey]> {
        &self.units
    }

    /// Adds what a round noticed. It returns whether another round is needed.
    pub(crate) fn learn(&mut self, found: &Discoveries, max_values: usize) -> bool {
        self.rounds += 1;
        let mut again = false;
        for word in &found.split {
            again |= self.split.insert(*word);
        }
        for word in &found.shared {
            again |= self.shared.insert(*word);
        }
        if again {
            self.number_units();
            self.writers.clone_from(&self.foreseen_writers);
        }
        for (key, writers) in &found.writers {
            let known = self.writers.entry(*key).or_default();
            let before = known.len();
            known.extend(writers);
            again |= known.len() > before && found.wanted_writers.contains(key);
        }
        for (writer, manners) in &found.manners {
            let known = self.manners.entry(*writer).or_default();
            let before = known.len();
            known.extend(manners);
            // If no manner of a writer was known before, the rounds have concluded nothing from its manners.
            again |= before > 0 && known.len() > before;
        }
        for key in &found.wanted_values {
            again |= self.speculated.insert(*key);
        }
        again |= self.learn_values(&found.produced, true, max_values);
        again |= self.learn_values(&found.attempted, false, max_values);
        again |= found.orders_matter && !self.orders_matter;
        self.orders_matter |= found.orders_matter;
        again |= found.futures_form_cycle && !self.futures_form_cycle;
        for (key, values) in &found.seen {
            let known = self.seen.entry(*key).or_default();
            let before = known.len();
            known.extend(values.iter().cloned());
            again |= known.len() > before && found.relied.contains(key);
        }
        self.futures_form_cycle |= found.futures_form_cycle;
        again |= found.leaves_loops && !self.leaves_loops;
        self.leaves_loops |= found.leaves_loops;
        for read in &found.spin_reads {
            again |= self.spin_reads.insert(*read);
        }
        for invocation in &found.asymmetric {
            again |= self.asymmetric.insert(*invocation);
        }
        for inst in &found.varied {
            again |= self.varied.insert(*inst);
        }
        for (key, traces) in &found.spin_traces {
            let known = self.spin_traces.entry(*key).or_default();
            let before = known.len();
            known.extend(traces.iter().cloned());
            again |= known.len() > before;
        }
        for (key, units) in &found.spin_units {
            let known = self.spin_units.entry(*key).or_default();
            let before = known.len();
            known.extend(units);
            // If there is only one unit, it is that of the spinning read itself.
            again |= known.len() > before && known.len() > 1;
        }
        self.list_by_unit();
        again
    }

    /// Whether an unfinished round has noticed enough to be started again at once.
    pub(crate) fn is_outdated_by(&self, found: &Discoveries) -> bool {
        self.rounds < MAX_UNFINISHED && self.clone().learn(found, MAX_SPECULATED_VALUES)
    }

    /// Whether a round judges too many graphs with speculated reads for the executions that it visits. Then the next
    /// one has fewer speculated reads on a path.
    pub(crate) fn is_overfed(&self, judged_anew: u64, explored: u64) -> bool {
        judged_anew > JUDGED_FREELY[usize::from(self.is_fed())] + JUDGED_EACH * explored
    }

    /// The number of graphs with speculated reads that a round may judge.
    pub(crate) fn most_judged_anew(&self) -> u64 {
        JUDGED_AT_MOST[usize::from(self.is_fed())]
    }

    fn is_fed(&self) -> bool {
        self.produced.values().any(|values| values.len() > FED)
    }

    /// Makes the next round speculate fewer reads. What this round found does not count.
    pub(crate) fn speculate_less(&mut self) {
        self.most_speculated = Some(self.most_speculated.map_or(MOST_SPECULATED, |most| most / 2));
    }

    fn list_by_unit(&mut self) {
        let writers = |key| self.writers.get(key).into_iter().flatten().copied().collect();
        self.writers_of = self.units.iter().map(writers).collect();
        let produced = |key| self.produced.get(key).into_iter().flatten().cloned().collect();
        self.produced_for = self.units.iter().map(produced).collect();
        self.writes_of.clear();
        for (agent, inst) in self.writers_of.iter().flatten() {
            let agent = *agent as usize;
            self.writes_of.resize(self.writes_of.len().max(agent + 1), BTreeSet::new());
            self.writes_of[agent].insert(*inst);
        }
    }

    /// Adds values that may be speculated. It returns whether there are new ones for a unit that some read speculates.
    fn learn_values(
        &mut self,
        found: &BTreeMap<UnitKey, BTreeSet<UnitBytes>>,
        produced: bool,
        max_values: usize,
    ) -> bool {
        let mut again = false;
        for (key, values) in found {
            let wanted = self.speculated.contains(key);
            let known = self.values.entry(*key).or_default();
            for value in values {
                if known.len() >= max_values && !known.contains(value) {
                    self.capped |= wanted;
                    continue;
                }
                again |= known.insert(value.clone()) && wanted;
                if produced {
                    again |= self.produced.entry(*key).or_default().insert(value.clone()) && wanted;
                }
            }
        }
        again
    }

    fn number_units(&mut self) {
        let mut units = Vec::new();
        for (memory, word) in &self.shared {
            let Some(slot) =
                self.words.get_mut(*memory as usize).and_then(|words| words.get_mut(*word as usize / 4))
            else {
                continue;
            };
            let first = units.len() as Unit;
            if self.split.contains(&(*memory, *word)) {
                *slot = Word::Bytes(first);
                units.extend((0..4).map(|byte| (*memory, word + byte)));
            } else {
                *slot = Word::Whole(first);
                units.push((*memory, *word));
            }
        }
        self.units = units.into();
    }
}

/// The number of distinct values that reads of one unit may speculate. If there are more, the search counts as bounded.
pub(crate) const MAX_SPECULATED_VALUES: usize = 64;

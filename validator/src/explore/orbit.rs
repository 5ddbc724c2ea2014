//! The executions that one with a class of invocations stands for: all in which these change places.
//!
//! What is in the graph is the same in all of them, but for [varied](super::recast) writes. What is not, each invocation
//! did by itself: who has which place decides it. That it is nobody else's concern must hold for all of these executions.
//! A word that some write is touched by whoever has one place, or by one invocation in whatever place, and by nobody
//! outside of the class: then no two touch it in one execution.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::memory::{Contents, Touch};
use super::recast::{Cast, Mismatch, Parting, Written};
use super::replay::{Ground, OwnView, Run};
use super::search::{Found, Search};
use super::state::State;
use super::symmetry::Symmetry;
use crate::behaviour::Outcome;
use crate::model::graph::{EventId, Graph, Unit};
use crate::value::Byte;
use crate::witness::{Execution, Values, Witness};

/// What the members of a class do without events in one place, to their end.
pub(super) struct Leaf {
    /// Per member: observed object, index there, what it writes.
    patches: Vec<Vec<Patch>>,
    /// Per member, the words that it touches, by memory and first byte, and whether it writes them.
    touched: Vec<Vec<((u32, u32), bool)>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Patch {
    object: usize,
    index: usize,
    byte: Byte,
    initial: Byte,
}

impl Leaf {
    pub(super) fn new<'a>(ground: &Ground, memories: impl Iterator<Item = &'a OwnView>) -> Self {
        let (mut patches, mut touched) = (Vec::new(), Vec::new());
        for own in memories {
            patches.push(patches_of(ground, own));
            touched.push(own.touched.iter().map(|(word, wrote)| (*word, *wrote)).collect());
        }
        Leaf { patches, touched }
    }

    /// Whether whoever has the place leaves the same.
    fn is_uniform(&self) -> bool {
        self.patches.iter().all(|patch| *patch == self.patches[0])
    }
}

/// Where in the observed objects an invocation wrote what.
fn patches_of(ground: &Ground, own: &OwnView) -> Vec<Patch> {
    let written = own.written.iter();
    let patches = written.flat_map(|((memory, offset), byte)| {
        places(ground, *memory, *offset).map(|place| Patch { byte: *byte, ..place })
    });
    patches.collect()
}

/// Where a byte is observed, and what it is at first.
fn places<'a>(ground: &'a Ground, memory: u32, offset: u32) -> impl Iterator<Item = Patch> + 'a {
    let initial = ground.initial.get(memory as usize).and_then(|bytes| bytes.get(offset as usize)).copied();
    let observed = ground.dispatch.objects.iter().filter(|object| object.observed).enumerate();
    observed.filter(move |(_, object)| object.memory == memory).filter_map(move |(number, object)| {
        let index = offset.checked_sub(object.view.unwrap_or(0))? as usize;
        let initial = initial.filter(|_| index < object.initial.len())?;
        Some(Patch { object: number, index, byte: initial, initial })
    })
}

/// The words that an invocation touches, by memory and first byte, and whether it writes them.
type Touched = BTreeMap<(u32, u32), bool>;

/// The executions that a complete one stands for.
#[derive(Default)]
pub(super) struct Orbit {
    /// The members of the classes whose places make a difference.
    classes: Vec<Vec<u32>>,
    turns: Vec<Turn>,
    cast: Option<Cast>,
    /// What varied writes leave.
    finals: Vec<Final>,
    /// By part of the cast and member of the class.
    touched: Vec<Vec<Touched>>,
    /// Executions with the same outcome: in how many ways the others may stand.
    count: u64,
}

/// What is done next, by whoever has a place of a class.
enum Turn {
    Leave { class: usize, place: usize, leaf: Arc<Leaf> },
    Step { class: usize, place: usize, part: usize, step: usize },
}

/// An observed byte to which a varied write gives its last value.
struct Final {
    /// Numbers of the write, of the unit there, and of the byte in it.
    write: usize,
    unit: usize,
    byte: usize,
    /// Observed object, and index there.
    object: usize,
    index: usize,
}

/// A complete execution.
pub(super) struct Ended<'a> {
    /// Per invocation, all that it read.
    pub(super) histories: Vec<u32>,
    pub(super) contents: &'a Contents,
    /// What invocations did to words without events beside that.
    pub(super) touches: Vec<(usize, &'a [Touch])>,
    pub(super) graph: &'a Graph,
    /// Invocations that parted from others of their class.
    pub(super) partings: Vec<(usize, Parting)>,
    /// The last writes.
    pub(super) last: Vec<(Unit, EventId)>,
}

impl<'a> Ended<'a> {
    pub(super) fn of(state: &'a State, last: Vec<(Unit, EventId)>) -> Self {
        let State { threads, contents, graph, .. } = state;
        let histories = threads.iter().map(|thread| thread.history).collect();
        let partings = threads.iter().enumerate();
        let partings = partings.filter_map(|(index, thread)| Some((index, thread.parting?))).collect();
        Ended { histories, contents, touches: Vec::new(), graph, partings, last }
    }
}

/// Who touches a word.
struct Toucher {
    class: usize,
    place: usize,
    member: usize,
    several_places: bool,
    several_members: bool,
    several_classes: bool,
    wrote: bool,
}

/// One of the executions, as far as it is known who has which place.
struct Staging<'a> {
    orbit: &'a Orbit,
    ground: &'a Ground<'a>,
    outcome: Outcome,
    /// Who stands where, by number of the invocation.
    agents: Vec<u32>,
    /// Per class, the members that have a place.
    taken: Vec<Vec<bool>>,
    /// Per part of the cast, who plays it, and its runs after each step.
    runs: Vec<(usize, Vec<Run>)>,
    written: Vec<Written>,
    mismatch: Option<Mismatch>,
}

type Visit<'v> = &'v mut dyn FnMut(&Staging) -> bool;

impl Staging<'_> {
    /// Does the turn of this number and all behind it, with each choice of places. False: it is enough.
    fn turn(&mut self, number: usize, visit: Visit) -> bool {
        let orbit = self.orbit;
        match &orbit.turns.get(number) {
            None => {
                for Final { write, unit, byte, object, index } in &orbit.finals {
                    self.outcome.memory[*object][*index] = self.written[*write][*unit][*byte];
                }
                visit(self)
            }
            Some(Turn::Leave { class, place, leaf }) => self.cast(*class, *place, &mut |staging, member| {
                staging.leave(&leaf.patches[member], number, visit)
            }),
            Some(Turn::Step { class, place, part, step: 0 }) => {
                self.cast(*class, *place, &mut |staging, member| {
                    staging.runs[*part].0 = member;
                    staging.step(*part, 0, number, visit)
                })
            }
            Some(Turn::Step { part, step, .. }) => self.step(*part, *step, number, visit),
        }
    }

    /// Gives a place to each who has none yet.
    fn cast(&mut self, class: usize, place: usize, act: &mut dyn FnMut(&mut Self, usize) -> bool) -> bool {
        let members = &self.orbit.classes[class];
        (0..members.len()).all(|member| {
            if self.taken[class][member] {
                return true;
            }
            self.agents[members[place] as usize] = members[member];
            self.taken[class][member] = true;
            let more = act(self, member);
            self.taken[class][member] = false;
            more
        })
    }

    /// Goes on with what an invocation leaves in memory.
    fn leave(&mut self, patches: &[Patch], number: usize, visit: Visit) -> bool {
        patches.iter().for_each(|patch| self.outcome.memory[patch.object][patch.index] = patch.byte);
        let more = self.turn(number + 1, visit);
        patches.iter().for_each(|patch| self.outcome.memory[patch.object][patch.index] = patch.initial);
        more
    }

    /// Goes on with a step of a part.
    fn step(&mut self, part: usize, step: usize, number: usize, visit: Visit) -> bool {
        let Some(cast) = &self.orbit.cast else { return false };
        let parted = &cast.parts[part];
        let (member, runs) = &self.runs[part];
        let member = *member;
        let mut run = runs.last().unwrap_or_else(|| parted.begun(member)).clone();
        if let Err(mismatch) = parted.step(self.ground, step, &mut run, &mut self.written) {
            self.mismatch = Some(mismatch);
            return false;
        }
        if parted.is_last(step) {
            if run.memory().touched != self.orbit.touched[part][member] {
                self.mismatch = Some(Mismatch::Shape);
                return false;
            }
            return self.leave(&patches_of(self.ground, run.memory()), number, visit);
        }
        self.runs[part].1.push(run);
        let more = self.turn(number + 1, visit);
        self.runs[part].1.pop();
        more
    }
}

impl Orbit {
    pub(super) fn of_one() -> Self {
        Orbit { count: 1, ..Orbit::default() }
    }

    /// Whether there are others.
    pub(super) fn is_large(&self) -> bool {
        self.count > 1 || !self.turns.is_empty()
    }

    /// Adds the steps of the cast, in front, once everybody has had the place of everybody: calls back with the words
    /// that they touch.
    fn add_steps(
        &mut self,
        ground: &Ground,
        symmetry: &Symmetry,
        touch: &mut impl FnMut(usize, usize, usize, (u32, u32), bool),
    ) -> Result<(), Mismatch> {
        let Some(cast) = &self.cast else { return Ok(()) };
        let places: Vec<(usize, usize)> =
            cast.parts.iter().filter_map(|part| symmetry.place_number(part.agent as usize)).collect();
        let count = |class: usize| symmetry.classes[class].members.len();
        let most = places.iter().map(|(class, _)| count(*class)).max().unwrap_or(0);
        self.touched = places.iter().map(|(class, _)| vec![Touched::new(); count(*class)]).collect();
        for shift in 0..most {
            let mut runs: Vec<Option<Run>> = places.iter().map(|_| None).collect();
            let mut written = cast.written.clone();
            for (number, step) in &cast.order {
                let (class, place) = places[*number];
                let member = (place + shift) % count(class);
                let part = &cast.parts[*number];
                let run = runs[*number].get_or_insert_with(|| part.begun(member).clone());
                part.step(ground, *step, run, &mut written)?;
                if part.is_last(*step) {
                    self.touched[*number][member].clone_from(&run.memory().touched);
                }
            }
        }
        for ((class, place), touched) in places.iter().zip(&self.touched) {
            for (member, words) in touched.iter().enumerate() {
                words.iter().for_each(|(word, wrote)| touch(*class, *place, member, *word, *wrote));
            }
        }
        let steps = cast.order.iter().map(|(part, step)| {
            let (class, place) = places[*part];
            Turn::Step { class, place, part: *part, step: *step }
        });
        self.turns.splice(0..0, steps);
        Ok(())
    }

    /// Calls back with each execution, until `visit` says that it is enough.
    fn for_each(&self, ground: &Ground, mut outcome: Outcome, visit: Visit) -> Result<(), Mismatch> {
        let leaves = self.turns.iter().filter_map(|turn| match turn {
            Turn::Leave { leaf, .. } => Some(leaf),
            Turn::Step { .. } => None,
        });
        let patches = leaves.flat_map(|leaf| leaf.patches.iter().flatten().copied());
        let words = self.touched.iter().flatten().flatten().filter(|(_, wrote)| **wrote);
        let bytes = words.flat_map(|((memory, word), _)| (*word..word + 4).map(|byte| (*memory, byte)));
        for patch in patches.chain(bytes.flat_map(|(memory, byte)| places(ground, memory, byte))) {
            outcome.memory[patch.object][patch.index] = patch.initial;
        }
        let parts = self.cast.iter().flat_map(|cast| &cast.parts);
        let mut staging = Staging {
            orbit: self,
            ground,
            outcome,
            agents: (0..ground.dispatch.places.len() as u32).collect(),
            taken: self.classes.iter().map(|members| vec![false; members.len()]).collect(),
            runs: parts.map(|_| (0, Vec::new())).collect(),
            written: self.cast.as_ref().map_or(Vec::new(), |cast| cast.written.clone()),
            mismatch: None,
        };
        staging.turn(0, visit);
        staging.mismatch.map_or(Ok(()), Err)
    }
}

fn factorial(n: usize) -> u64 {
    (1..=n as u64).fold(1, u64::saturating_mul)
}

impl Search<'_> {
    /// The executions that a complete one stands for; `None` where the round is lost.
    pub(super) fn orbit(&self, ended: &Ended, found: &mut Found) -> Option<Orbit> {
        let mut orbit = Orbit::of_one();
        let Some(symmetry) = &self.symmetry else { return Some(orbit) };
        let ground = self.ground(symmetry);
        if !ended.partings.is_empty() {
            match Cast::new(&ground, symmetry, ended.graph, &ended.partings) {
                Ok(cast) => orbit.cast = Some(cast),
                Err(mismatch) => {
                    self.learn_mismatch(mismatch, found);
                    return None;
                }
            }
        }
        let mut touches: FxHashMap<(u32, u32), Toucher> = FxHashMap::default();
        let mut touch = |class, place, member, word: (u32, u32), wrote| {
            touches
                .entry(word)
                .and_modify(|touch| touch.add(class, place, member, wrote))
                .or_insert_with(|| Toucher::new(class, place, member, wrote));
        };
        for (number, class) in symmetry.classes.iter().enumerate() {
            let parts = |member: &u32| ended.partings.iter().any(|(parting, _)| *parting == *member as usize);
            let staying = class.members.iter().enumerate().filter(|(_, member)| !parts(member));
            let ends =
                staying.map(|(place, member)| Some((place, class.leaf(ended.histories[*member as usize])?)));
            let Some(leaves) = ends.collect::<Option<Vec<_>>>() else {
                self.break_symmetry(class, found);
                return None;
            };
            for (place, leaf) in &leaves {
                for (member, touched) in leaf.touched.iter().enumerate() {
                    touched.iter().for_each(|(word, wrote)| touch(number, *place, member, *word, *wrote));
                }
            }
            if leaves.len() == class.members.len() && leaves.iter().all(|(_, leaf)| leaf.is_uniform()) {
                orbit.count = orbit.count.saturating_mul(factorial(class.members.len()));
            } else {
                let leave = |(place, leaf)| Turn::Leave { class: number, place, leaf };
                orbit.turns.extend(leaves.into_iter().map(leave));
            }
        }
        if let Err(mismatch) = orbit.add_steps(&ground, symmetry, &mut touch) {
            self.learn_mismatch(mismatch, found);
            return None;
        }
        if let Some(cast) = &orbit.cast {
            let finals = ended.last.iter().flat_map(|last| self.finals(&ground, ended.graph, cast, *last));
            orbit.finals = finals.collect();
        }
        if orbit.is_large() {
            orbit.classes = symmetry.classes.iter().map(|class| class.members.clone()).collect();
        }
        let communicates =
            |(word, touch): (&(u32, u32), &Toucher)| communicates(symmetry, ended, *word, touch);
        let mut guilty: Vec<usize> =
            touches.iter().filter(|touch| communicates(*touch)).map(|(_, touch)| touch.class).collect();
        guilty.sort_unstable();
        guilty.dedup();
        guilty.iter().for_each(|class| self.break_symmetry(&symmetry.classes[*class], found));
        guilty.is_empty().then_some(orbit)
    }

    /// The observed bytes of a unit whose last write is a varied one.
    fn finals(
        &self,
        ground: &Ground,
        graph: &Graph,
        cast: &Cast,
        (unit, event): (Unit, EventId),
    ) -> Vec<Final> {
        let Some(write) = cast.varied.iter().position(|varied| *varied == event) else { return Vec::new() };
        let units = &graph.events[event as usize].units;
        let Some(position) = units.iter().position(|candidate| *candidate == unit) else { return Vec::new() };
        let (memory, offset) = self.knowledge.key(unit);
        let bytes = 0..self.knowledge.unit_len(unit);
        let finals = bytes.flat_map(|byte| {
            places(ground, memory, offset + byte).map(move |Patch { object, index, .. }| Final {
                write,
                unit: position,
                byte: byte as usize,
                object,
                index,
            })
        });
        finals.collect()
    }

    /// A class is not what it was taken for.
    fn learn_mismatch(&self, mismatch: Mismatch, found: &mut Found) {
        match mismatch {
            Mismatch::Shape => self.break_symmetries(found),
            Mismatch::Values(instruction) => self.learn_varied(&[instruction], found),
        }
    }

    /// Records the outcomes of all executions that one stands for.
    pub(super) fn record_orbit(&self, orbit: &Orbit, outcome: &Outcome, first: Witness, found: &mut Found) {
        let Some(symmetry) = &self.symmetry else { return };
        let Witness { executions, execution, units, variant, synchronizes_with } = first;
        let graph = execution.graph();
        let events = orbit.cast.iter().flat_map(|cast| cast.varied.iter());
        let varied: Vec<Vec<Unit>> =
            events.map(|event| graph.events[*event as usize].units.to_vec()).collect();
        let execution = Arc::new(execution);
        let renamed = |staging: &Staging| Witness {
            executions,
            execution: Execution::Renamed {
                execution: Arc::clone(&execution),
                agents: staging.agents.as_slice().into(),
                values: orbit.cast.as_ref().map(|cast| Values {
                    events: Arc::clone(&cast.varied),
                    written: staging.written.iter().flatten().flatten().copied().collect(),
                }),
            },
            units: Arc::clone(&units),
            variant,
            synchronizes_with: synchronizes_with.clone(),
        };
        let done = orbit.for_each(&self.ground(symmetry), outcome.clone(), &mut |staging| {
            found.executions = found.executions.saturating_add(orbit.count);
            for (units, written) in varied.iter().zip(&staging.written) {
                self.note_produced(units.iter().zip(written), found);
            }
            let outcome = &staging.outcome;
            let mut bytes = 0;
            if found.outcomes.note(outcome, orbit.count, || renamed(staging)) {
                bytes = outcome.memory.iter().map(Vec::len).sum::<usize>() as u64 + 256;
                if self.context.target.is_some_and(|target| target(outcome)) {
                    found.stop = true;
                    found.at_target = true;
                }
            }
            self.context.budget.execution(bytes);
            !found.stop && !self.context.budget.step()
        });
        if let Err(mismatch) = done {
            self.learn_mismatch(mismatch, found);
        }
    }
}

/// Whether some touch of a word concerns somebody else in an execution with places changed.
fn communicates(symmetry: &Symmetry, ended: &Ended, (memory, word): (u32, u32), toucher: &Toucher) -> bool {
    let members = &symmetry.classes[toucher.class].members;
    let mut uses = ended.contents.uses(memory, word);
    let others = ended.touches.iter().filter(|(other, _)| !members.contains(&(*other as u32)));
    let mut touches =
        others.flat_map(|(_, touches)| *touches).filter(|touch| (touch.memory, touch.word) == (memory, word));
    if !toucher.wrote {
        return uses.any(|used| used.is_written()) || touches.any(|touch| touch.writes);
    }
    toucher.several_classes
        || toucher.several_places && toucher.several_members
        || uses.any(|used| !used.is_only_by(|agent| members.contains(&agent)))
        || touches.next().is_some()
}

impl Toucher {
    fn new(class: usize, place: usize, member: usize, wrote: bool) -> Self {
        let (several_places, several_members, several_classes) = (false, false, false);
        Toucher { class, place, member, several_places, several_members, several_classes, wrote }
    }

    fn add(&mut self, class: usize, place: usize, member: usize, wrote: bool) {
        self.several_classes |= class != self.class;
        self.several_places |= place != self.place;
        self.several_members |= member != self.member;
        self.wrote |= wrote;
    }
}

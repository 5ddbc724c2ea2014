//! The executions that one with a class of invocations stands for: all in which these change places.
//!
//! What is in the graph is the same in all of them, but for [varied](super::recast) writes. What is not, each invocation
//! did by itself: who has which place decides it. That it is nobody else's concern must hold for all of these executions.
//! A word that some write is touched by whoever has one place, or by one invocation in whatever place, and by nobody
//! outside of the class: then no two touch it in one execution.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::found::Found;
use super::groups::Contact;
use super::memory::{Contents, Touch};
use super::recast::{Cast, Mismatch, Parting};
use super::replay::{Ground, OwnView, Run};
use super::search::Search;
use super::staging::{Final, Turn};
use super::state::State;
use super::symmetry::Symmetry;
use crate::behaviour::Count;
use crate::model::graph::{EventId, Graph, Unit};
use crate::value::Byte;

/// What the members of a class do without events in one place, to their end.
pub(super) struct Leaf {
    pub(super) own: Arc<Own>,
    /// Where they write what they place, and which of that is there.
    pub(super) place: Vec<(Spot, usize)>,
    /// The words of that, by memory and first byte.
    words: BTreeSet<(u32, u32)>,
}

/// What each member leaves, but for where it places some of it. What is the same for all of them is there once.
pub(super) struct Own {
    /// Observed object, index there, and what is there at first.
    slots: Vec<Vec<Spot>>,
    /// What is written there, per member.
    contents: Vec<Vec<Byte>>,
    /// The words that they touch, by memory and first byte, and whether they write them.
    touched: Vec<Vec<((u32, u32), bool)>>,
    /// What they place, per member: as many bytes.
    pub(super) placed: Vec<Vec<Byte>>,
}

/// An observed byte, and what it is at first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) object: usize,
    pub(super) index: usize,
    initial: Byte,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) object: usize,
    pub(super) index: usize,
    pub(super) byte: Byte,
    pub(super) initial: Byte,
}

impl Own {
    pub(super) fn new<'a>(ground: &Ground, memories: impl Iterator<Item = &'a OwnView>) -> Self {
        let (mut slots, mut contents, mut touched) = (Vec::new(), Vec::new(), Vec::new());
        let mut placed = Vec::new();
        for own in memories {
            let patches = patches_of(ground, own);
            slots.push(patches.iter().map(Spot::of).collect::<Vec<Spot>>());
            contents.push(patches.iter().map(|patch| patch.byte).collect::<Vec<Byte>>());
            touched.push(own.touched.iter().map(|(word, wrote)| (*word, *wrote)).collect::<Vec<_>>());
            placed.push(own.placed.iter().map(|(_, byte)| *byte).collect::<Vec<Byte>>());
        }
        Own { slots: once(slots), contents, touched: once(touched), placed }
    }

    fn patches(&self, member: usize) -> impl Iterator<Item = Patch> + Clone + '_ {
        let spots = of(&self.slots, member).iter();
        spots.zip(&self.contents[member]).map(|(spot, byte)| spot.with(*byte))
    }
}

impl Spot {
    fn of(patch: &Patch) -> Spot {
        let Patch { object, index, initial, .. } = *patch;
        Spot { object, index, initial }
    }

    fn with(self, byte: Byte) -> Patch {
        let Spot { object, index, initial } = self;
        Patch { object, index, byte, initial }
    }
}

impl Leaf {
    pub(super) fn new<'a>(ground: &Ground, memories: impl Iterator<Item = &'a OwnView>) -> Self {
        Leaf { own: Arc::new(Own::new(ground, memories)), place: Vec::new(), words: BTreeSet::new() }
    }

    /// The place in which somebody has placed something.
    pub(super) fn placing(ground: &Ground, own: Arc<Own>, placed: &[((u32, u32), Byte)]) -> Self {
        // What is written last is there.
        let last: BTreeMap<(u32, u32), usize> =
            placed.iter().enumerate().map(|(number, (place, _))| (*place, number)).collect();
        let spots = last.iter().flat_map(|((memory, offset), number)| {
            places(ground, *memory, *offset).map(|patch| (Spot::of(&patch), *number))
        });
        let place = spots.collect();
        Leaf { own, place, words: last.keys().map(|(memory, offset)| (*memory, offset / 4 * 4)).collect() }
    }

    /// Whether whoever has the place leaves the same.
    fn is_uniform(&self) -> bool {
        let Own { slots, contents, placed, .. } = &*self.own;
        let first = placed.first();
        slots.len() == 1
            && contents.iter().all(|each| *each == contents[0])
            && placed.iter().all(|each| Some(each) == first)
    }

    pub(super) fn patches(&self, member: usize) -> impl Iterator<Item = Patch> + Clone + '_ {
        let placed = &self.own.placed[member];
        self.own.patches(member).chain(self.place.iter().map(|(spot, number)| spot.with(placed[*number])))
    }

    pub(super) fn all_patches(&self) -> impl Iterator<Item = Patch> + '_ {
        (0..self.own.contents.len()).flat_map(|member| self.patches(member))
    }
}

/// Once what is the same for all members.
fn once<T: PartialEq>(mut list: Vec<T>) -> Vec<T> {
    if list.iter().all(|each| *each == list[0]) {
        list.truncate(1);
    }
    list
}

/// What a member has of such a list.
fn of<T>(list: &[T], member: usize) -> &T {
    list.get(member).unwrap_or(&list[0])
}

/// Where in the observed objects an invocation wrote what.
pub(super) fn patches_of(ground: &Ground, own: &OwnView) -> Vec<Patch> {
    let written = own.written.iter();
    let patches = written.flat_map(|((memory, offset), byte)| {
        places(ground, *memory, *offset).map(|place| Patch { byte: *byte, ..place })
    });
    patches.collect()
}

/// Where a byte is observed, and what it is at first.
pub(super) fn places<'a>(ground: &'a Ground, memory: u32, offset: u32) -> impl Iterator<Item = Patch> + 'a {
    let initial = ground.initial.get(memory as usize).and_then(|bytes| bytes.get(offset as usize)).copied();
    let observed = ground.dispatch.objects.iter().filter(|object| object.observed).enumerate();
    observed.filter(move |(_, object)| object.memory == memory).filter_map(move |(number, object)| {
        let index = offset.checked_sub(object.view.unwrap_or(0))? as usize;
        let initial = initial.filter(|_| index < object.initial.len())?;
        Some(Patch { object: number, index, byte: initial, initial })
    })
}

/// The words that an invocation touches, by memory and first byte, and whether it writes them.
pub(super) type Touched = BTreeMap<(u32, u32), bool>;

/// The executions that a complete one stands for.
#[derive(Default)]
pub(super) struct Orbit {
    /// The members of the classes whose places make a difference.
    pub(super) classes: Vec<Vec<u32>>,
    pub(super) turns: Vec<Turn>,
    pub(super) cast: Option<Cast>,
    /// What varied writes leave.
    pub(super) finals: Vec<Final>,
    /// By part of the cast and member of the class.
    pub(super) touched: Vec<Vec<Touched>>,
    /// Executions with the same outcome: in how many ways the others may stand.
    pub(super) count: Count,
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

impl Orbit {
    pub(super) fn of_one() -> Self {
        Orbit { count: Count::from(1_u64), ..Orbit::default() }
    }

    /// Whether there are others.
    pub(super) fn is_large(&self) -> bool {
        self.count != 1 || !self.turns.is_empty()
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
            let mut before: Option<(&Arc<Own>, usize)> = None;
            for (place, leaf) in &leaves {
                leaf.words.iter().for_each(|word| {
                    (0..2).for_each(|member| touch(number, *place, member, *word, true));
                });
                // Where what each leaves is the same in several places, two of them are as many as any.
                let times =
                    before.filter(|(own, _)| Arc::ptr_eq(own, &leaf.own)).map_or(0, |(_, times)| times);
                before = Some((&leaf.own, times + 1));
                if times >= 2 {
                    continue;
                }
                let members = 0..class.members.len();
                // Where all touch the same, two are as many as any.
                let members = members.take(if leaf.own.touched.len() == 1 { 2 } else { usize::MAX });
                for member in members {
                    let touched = of(&leaf.own.touched, member);
                    touched.iter().for_each(|(word, wrote)| touch(number, *place, member, *word, *wrote));
                }
            }
            if leaves.len() == class.members.len() && leaves.iter().all(|(_, leaf)| leaf.is_uniform()) {
                orbit.count *= &Count::factorial(class.members.len());
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
        if self.in_group {
            for (word, toucher) in &touches {
                let contact = if toucher.wrote { Contact::Written } else { Contact::Read };
                found.discoveries.touched.note_word(*word, contact);
            }
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
    pub(super) fn learn_mismatch(&self, mismatch: Mismatch, found: &mut Found) {
        match mismatch {
            Mismatch::Shape => self.break_symmetries(found),
            Mismatch::Values(instruction) => self.learn_varied(&[instruction], found),
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

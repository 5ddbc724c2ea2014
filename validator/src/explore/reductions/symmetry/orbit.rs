//! The orbit of an execution with a class of invocations: all executions in which the members of the class change
//! places.
//!
//! The graph is the same in all of them, except for varied writes
//! ([`relabelling`](crate::explore::reductions::symmetry::relabelling)). Everything else is what each invocation did by
//! itself, and the places decide that. It must not concern another invocation, in any of these executions. If some
//! touch of a word writes it, all touches must be by the members in one place, or by one member in whatever place, and
//! no invocation outside of the class may touch the word. Then no two invocations touch it in the same execution.
//!
//! For example, `list[slot] = id` writes the word of slot k by whichever member is in place k. `out[id] = slot` writes
//! the word of a member in whatever place it is. Both are allowed, but not both for the same word.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::behaviour::Count;
use crate::explore::facts::touched::Contact;
use crate::explore::reductions::symmetry::classes::Symmetry;
use crate::explore::reductions::symmetry::leaves::{self, Leaf, Own, Patch};
use crate::explore::reductions::symmetry::relabelling::{Mismatch, Relabelling};
use crate::explore::reductions::symmetry::replay::{Ground, Run};
use crate::explore::reductions::symmetry::{self, gates};
use crate::explore::state::memory::{Contents, Touch};
use crate::explore::state::{Found, Parting, Round, State};
use crate::model::graph::{EventId, Graph, Unit};

/// The words that an invocation touches, by memory and first byte, and whether it writes them.
type Touched = BTreeMap<(u32, u32), bool>;

/// The executions that a complete one stands for.
#[derive(Default)]
pub(crate) struct Orbit {
    /// The members of the classes whose places make a difference.
    pub(crate) classes: Vec<Vec<u32>>,
    pub(crate) turns: Vec<Turn>,
    pub(crate) cast: Option<Relabelling>,
    /// The observed bytes that varied writes leave.
    pub(crate) finals: Vec<Final>,
    /// What is touched by each part of the relabelling, with each member of the class in its place.
    pub(crate) touched: Vec<Vec<Touched>>,
    /// The number of executions with the same outcome: the orders of the members whose places make no difference.
    pub(crate) count: Count,
}

/// A complete execution.
pub(crate) struct Ended<'a> {
    /// For each invocation, the history of all that it read.
    pub(crate) histories: Vec<u32>,
    pub(crate) contents: &'a Contents,
    /// What invocations did to words without events beside that.
    pub(crate) touches: Vec<(usize, &'a [Touch])>,
    pub(crate) graph: &'a Graph,
    /// The invocations that parted from other members of their class.
    pub(crate) partings: Vec<(usize, Parting)>,
    /// The last writes.
    pub(crate) last: Vec<(Unit, EventId)>,
}

impl<'a> Ended<'a> {
    pub(crate) fn of(state: &'a State, last: Vec<(Unit, EventId)>) -> Self {
        let State { threads, contents, graph, .. } = state;
        let histories = threads.iter().map(|thread| thread.history).collect();
        let partings = threads.iter().enumerate();
        let partings = partings.filter_map(|(index, thread)| Some((index, thread.parting?))).collect();
        Ended { histories, contents, touches: Vec::new(), graph, partings, last }
    }
}

/// The members and places that touch a word.
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
    pub(crate) fn of_one() -> Self {
        Orbit { count: Count::from(1_u64), ..Orbit::default() }
    }

    /// Whether the orbit has more than one execution.
    pub(crate) fn is_large(&self) -> bool {
        self.count != 1 || !self.turns.is_empty()
    }

    /// Puts the steps of the relabelling in front of the other turns. Each member is run in each place once, and
    /// `touch` is called with the words that it touches.
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

/// The executions that a complete one stands for. It is `None` if the round does not count.
pub(crate) fn orbit(round: &Round, ended: &Ended, found: &mut Found) -> Option<Orbit> {
    let mut orbit = Orbit::of_one();
    let Some(symmetry) = &round.symmetry else { return Some(orbit) };
    let ground = symmetry::ground(round, symmetry);
    if !ended.partings.is_empty() {
        match Relabelling::new(&ground, symmetry, ended.graph, &ended.partings) {
            Ok(cast) => orbit.cast = Some(cast),
            Err(mismatch) => {
                learn_mismatch(round, mismatch, found);
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
            gates::break_symmetry(class, found);
            return None;
        };
        let mut before: Option<(&Arc<Own>, usize)> = None;
        for (place, leaf) in &leaves {
            leaf.words.iter().for_each(|word| {
                (0..2).for_each(|member| touch(number, *place, member, *word, true));
            });
            // If several places have the same leaf, two of these places show as much as all of them.
            let times = before.filter(|(own, _)| Arc::ptr_eq(own, &leaf.own)).map_or(0, |(_, times)| times);
            before = Some((&leaf.own, times + 1));
            if times >= 2 {
                continue;
            }
            let members = 0..class.members.len();
            // If all members touch the same words, two members show as much as all of them.
            let members = members.take(if leaf.own.touched.len() == 1 { 2 } else { usize::MAX });
            for member in members {
                let touched = leaves::of(&leaf.own.touched, member);
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
        learn_mismatch(round, mismatch, found);
        return None;
    }
    if let Some(cast) = &orbit.cast {
        let finals = ended.last.iter().flat_map(|last| finals(round, &ground, ended.graph, cast, *last));
        orbit.finals = finals.collect();
    }
    if orbit.is_large() {
        orbit.classes = symmetry.classes.iter().map(|class| class.members.clone()).collect();
    }
    if round.in_group {
        for (word, toucher) in &touches {
            let contact = if toucher.wrote { Contact::Written } else { Contact::Read };
            found.discoveries.touched.note_word(*word, contact);
        }
    }
    let communicates = |(word, touch): (&(u32, u32), &Toucher)| communicates(symmetry, ended, *word, touch);
    let mut guilty: Vec<usize> =
        touches.iter().filter(|touch| communicates(*touch)).map(|(_, touch)| touch.class).collect();
    guilty.sort_unstable();
    guilty.dedup();
    guilty.iter().for_each(|class| gates::break_symmetry(&symmetry.classes[*class], found));
    guilty.is_empty().then_some(orbit)
}

/// The observed bytes of a unit whose last write is a varied one.
fn finals(
    round: &Round,
    ground: &Ground,
    graph: &Graph,
    cast: &Relabelling,
    (unit, event): (Unit, EventId),
) -> Vec<Final> {
    let Some(write) = cast.varied.iter().position(|varied| *varied == event) else { return Vec::new() };
    let units = &graph.events[event as usize].units;
    let Some(position) = units.iter().position(|candidate| *candidate == unit) else { return Vec::new() };
    let (memory, offset) = round.knowledge.key(unit);
    let bytes = 0..round.knowledge.unit_len(unit);
    let finals = bytes.flat_map(|byte| {
        leaves::places(ground, memory, offset + byte).map(move |Patch { object, index, .. }| Final {
            write,
            unit: position,
            byte: byte as usize,
            object,
            index,
        })
    });
    finals.collect()
}

/// Notes that a class does not have the symmetry that was assumed.
pub(crate) fn learn_mismatch(round: &Round, mismatch: Mismatch, found: &mut Found) {
    match mismatch {
        Mismatch::Shape => gates::break_symmetries(round, found),
        Mismatch::Values(instruction) => gates::learn_varied(round, &[instruction], found),
    }
}

/// Whether some touch of a word concerns another invocation in an execution in which members have changed places.
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

/// What the member in a place of a class does next.
pub(crate) enum Turn {
    Leave { class: usize, place: usize, leaf: Arc<Leaf> },
    Step { class: usize, place: usize, part: usize, step: usize },
}

/// An observed byte whose last value comes from a varied write.
pub(crate) struct Final {
    /// The number of the write; then the unit in the write, and the byte in the unit.
    pub(crate) write: usize,
    pub(crate) unit: usize,
    pub(crate) byte: usize,
    /// The observed object, and the index of the byte there.
    pub(crate) object: usize,
    pub(crate) index: usize,
}

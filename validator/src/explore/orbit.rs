//! The executions that one with a class of invocations stands for: all in which these change places.
//!
//! What is in the graph is the same in all of them. What is not, each invocation did by itself: who has which place
//! decides it. That it is nobody else's concern must hold for all of these executions. A word that some write is touched
//! by whoever has one place, or by one invocation in whatever place, and by nobody outside of the class: then no
//! two touch it in one execution.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::memory::{Contents, Touch};
use super::replay::{Ground, OwnView};
use super::search::{Found, Search};
use super::state::State;
use super::symmetry::Symmetry;
use crate::behaviour::Outcome;
use crate::value::Byte;
use crate::witness::{Execution, Witness};

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
    let mut patches = Vec::new();
    let observed = ground.dispatch.objects.iter().filter(|object| object.observed).enumerate();
    for (number, object) in observed {
        let initial = ground.initial.get(object.memory as usize).map_or(&[][..], Vec::as_slice);
        let start = object.view.unwrap_or(0);
        let end = (start + object.initial.len() as u32).min(initial.len() as u32);
        let range = (object.memory, start)..(object.memory, end.max(start));
        patches.extend(own.written.range(range).map(|((_, offset), byte)| Patch {
            object: number,
            index: (offset - start) as usize,
            byte: *byte,
            initial: initial[*offset as usize],
        }));
    }
    patches
}

/// The executions that a complete one stands for.
#[derive(Default)]
pub(super) struct Orbit {
    /// Classes whose places make a difference to the outcome.
    varied: Vec<Varied>,
    /// Executions with the same outcome: in how many ways the others may stand.
    count: u64,
}

struct Varied {
    members: Vec<u32>,
    /// By place.
    leaves: Vec<Arc<Leaf>>,
}

/// A complete execution.
pub(super) struct Ended<'a> {
    /// Per invocation, all that it read.
    pub(super) histories: Vec<u32>,
    pub(super) contents: &'a Contents,
    /// What invocations did to words without events beside that.
    pub(super) touches: Vec<(usize, &'a [Touch])>,
}

impl<'a> Ended<'a> {
    pub(super) fn of(state: &'a State) -> Self {
        let histories = state.threads.iter().map(|thread| thread.history).collect();
        Ended { histories, contents: &state.contents, touches: Vec::new() }
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
        Orbit { varied: Vec::new(), count: 1 }
    }

    /// Whether there are others.
    pub(super) fn is_large(&self) -> bool {
        self.count > 1 || !self.varied.is_empty()
    }

    /// Calls back with each outcome, who stands where in it (by number of the invocation), and how many executions have
    /// it, until `visit` says that it is enough.
    fn for_each(
        &self,
        outcome: &mut Outcome,
        agents: &mut [u32],
        visit: &mut impl FnMut(&Outcome, &[u32], u64) -> bool,
    ) {
        for patch in
            self.varied.iter().flat_map(|varied| &varied.leaves).flat_map(|leaf| &leaf.patches).flatten()
        {
            outcome.memory[patch.object][patch.index] = patch.initial;
        }
        self.place(0, 0, &mut Vec::new(), outcome, agents, visit);
    }

    /// Gives the place of this number, and all behind it, to whoever has none yet. False: it is enough.
    fn place(
        &self,
        class: usize,
        place: usize,
        taken: &mut Vec<bool>,
        outcome: &mut Outcome,
        agents: &mut [u32],
        visit: &mut impl FnMut(&Outcome, &[u32], u64) -> bool,
    ) -> bool {
        let Some(varied) = self.varied.get(class) else { return visit(outcome, agents, self.count) };
        if place == varied.members.len() {
            return self.place(class + 1, 0, &mut Vec::new(), outcome, agents, visit);
        }
        taken.resize(varied.members.len(), false);
        for member in 0..varied.members.len() {
            if taken[member] {
                continue;
            }
            let patches = &varied.leaves[place].patches[member];
            patches.iter().for_each(|patch| outcome.memory[patch.object][patch.index] = patch.byte);
            agents[varied.members[place] as usize] = varied.members[member];
            taken[member] = true;
            let more = self.place(class, place + 1, taken, outcome, agents, visit);
            taken[member] = false;
            patches.iter().for_each(|patch| outcome.memory[patch.object][patch.index] = patch.initial);
            if !more {
                return false;
            }
        }
        true
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
        let mut touches: FxHashMap<(u32, u32), Toucher> = FxHashMap::default();
        for (number, class) in symmetry.classes.iter().enumerate() {
            let ends = class.members.iter().map(|member| class.leaf(ended.histories[*member as usize]));
            let Some(leaves) = ends.collect::<Option<Vec<_>>>() else {
                self.break_symmetry(class, found);
                return None;
            };
            for (place, leaf) in leaves.iter().enumerate() {
                for (member, touched) in leaf.touched.iter().enumerate() {
                    for (word, wrote) in touched {
                        touches
                            .entry(*word)
                            .and_modify(|touch| touch.add(number, place, member, *wrote))
                            .or_insert_with(|| Toucher::new(number, place, member, *wrote));
                    }
                }
            }
            if leaves.iter().all(|leaf| leaf.is_uniform()) {
                orbit.count = orbit.count.saturating_mul(factorial(class.members.len()));
            } else {
                orbit.varied.push(Varied { members: class.members.clone(), leaves });
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

    /// Records the outcomes of all executions that one stands for.
    pub(super) fn record_orbit(&self, orbit: &Orbit, outcome: &Outcome, first: Witness, found: &mut Found) {
        let Witness { executions, execution, units, variant, synchronizes_with } = first;
        let execution = Arc::new(execution);
        let renamed = |agents: &[u32]| Witness {
            executions,
            execution: Execution::Renamed { execution: Arc::clone(&execution), agents: agents.into() },
            units: Arc::clone(&units),
            variant,
            synchronizes_with: synchronizes_with.clone(),
        };
        let mut agents: Vec<u32> = (0..self.context.dispatch.places.len() as u32).collect();
        orbit.for_each(&mut outcome.clone(), &mut agents, &mut |outcome, agents, count| {
            found.executions = found.executions.saturating_add(count);
            let mut bytes = 0;
            if found.outcomes.note(outcome, count, || renamed(agents)) {
                bytes = outcome.memory.iter().map(Vec::len).sum::<usize>() as u64 + 256;
                if self.context.target.is_some_and(|target| target(outcome)) {
                    found.stop = true;
                    found.at_target = true;
                }
            }
            self.context.budget.execution(bytes);
            !found.stop && !self.context.budget.step()
        });
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

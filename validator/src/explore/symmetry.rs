//! Invocations that may change places.
//!
//! A *class* is a set of invocations that stand alike in the scopes and whose first communication is the same
//! read-modify-write of one unit. If everybody writes that unit by read-modify-writes that are mutually ordered, each
//! reads what another wrote, in one chain from the initial value. So in every execution these first
//! read-modify-writes come in some order, and where the invocations of the class do the same given the same, exchanging
//! them gives another execution. Of these only the one is visited in which they come in the order of the
//! invocations' numbers (*canonical*): none has its first read before the one in front of it (*gated*).
//!
//! That they do the same is checked. What an invocation has read so far is its *history*. Whenever an
//! invocation of a class reads, in a canonical execution, all of its class run by themselves ([`replay`](super::replay))
//! with that history: they must do the same, and come to the same read or to their end. Then every execution is
//! a canonical one with places changed: take its events in an order of program order and reads-from. Each
//! invocation of a class comes to its event by a history that the one whose place it has had in a canonical
//! execution, too; so that one does the same there, and the axioms do not tell them apart.
//!
//! Iterations of spin loops that are left out must be left out for all. Where reads speculate, this order does not
//! exist; there, and where a search comes to something that is cut or waits for ever, a round is repeated without.
//! Memory without events: [`orbit`](super::orbit). Values that tell the invocations apart: [`recast`](super::recast).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::aliasing::Declarations;
use super::context::Context;
use super::found::Found;
use super::knowledge::Knowledge;
use super::orbit::{Leaf, Own};
use super::recast::Parting;
use super::replay::{have_same_shape, Deed, End, Ground, Run};
use super::resolve::Reader;
use super::search::Search;
use super::standing::Standing;
use super::state::{self, State, UnitSpans};
use crate::ir::{placed_stores, AtomicKind, InstId, Op, Program};
use crate::model::graph::{Event, EventId, Kind, Source, Unit};
use crate::value::Byte;

/// Invocations of a dispatch, up to which classes are looked for.
const MAX_INVOCATIONS: usize = 1024;

/// Runs that the histories of a class may keep.
const MAX_RUNS: usize = 1 << 21;

/// The history of an invocation that has read nothing.
pub(super) const NOTHING: u32 = 0;

/// The history of one that has read what depends on who has which place.
const PARTED: u32 = u32::MAX;

/// Instructions that write what depends on that, up to which a class is kept.
const MAX_VARIED: usize = 16;

/// The classes of a round.
pub(super) struct Symmetry {
    pub(super) classes: Vec<Class>,
    /// Per invocation, its class and its number there.
    places: Vec<Option<(usize, usize)>>,
    /// What each memory holds at first.
    pub(super) initial: Vec<Vec<Byte>>,
}

/// Invocations that may change places.
pub(super) struct Class {
    /// Ascending.
    pub(super) members: Vec<u32>,
    /// What their first read-modify-writes are of.
    unit: Unit,
    histories: Mutex<Histories>,
}

/// What the members of a class do, by what they read so far.
struct Histories {
    nodes: Vec<History>,
    /// What follows a history when so many bytes are read.
    next: FxHashMap<(u32, SmallVec<[Byte; 8]>), u32>,
    /// The stores for which alone the result of the first read matters, as far as that is known.
    placing: Option<Placing>,
}

/// What the members do where the result of their first read decides nothing but where they place something.
struct Placing {
    stores: Vec<InstId>,
    /// Once all of them were run with one result.
    own: Option<Arc<Own>>,
}

#[derive(Default)]
struct History {
    /// Where all of them come to; `None` where they do not do the same.
    end: Option<End>,
    /// By instructions that are not known to do that they write what is not the same.
    unknown: Vec<InstId>,
    /// By others they do.
    is_varied: bool,
    runs: Arc<Vec<Run>>,
    /// What they did without events, if they are finished.
    leaf: Option<Arc<Leaf>>,
}

impl Symmetry {
    /// The classes of a program on a dispatch, as far as is known; of one group of invocations alone, if there is one.
    pub(super) fn find(
        context: &Context,
        knowledge: &Knowledge,
        group: Option<&[usize]>,
    ) -> Option<Symmetry> {
        let Context { dispatch, program, settings, .. } = *context;
        let count = dispatch.places.len();
        let applies = context.has_first_updates
            && settings.symmetry
            && settings.shortcuts
            && settings.axioms
            && settings.remark.is_none()
            && dispatch.system_synchronizes_with.is_empty()
            && !program.modes.tangles
            && !context.may_discard
            && knowledge.has_units()
            && !knowledge.has_speculated()
            && (2..=MAX_INVOCATIONS).contains(&count)
            && Declarations::new(dispatch).are_single();
        if !applies {
            return None;
        }
        let initial = dispatch.initial_memory();
        let ground = Ground::new(context, knowledge, &initial);
        let standing = Standing::new(program, dispatch);
        let mut starts: Vec<Start> = Vec::new();
        let is_of_group =
            |index: &u32| group.is_none_or(|group| group.binary_search(&(*index as usize)).is_ok());
        let candidates = (0..count as u32).filter(is_of_group);
        let candidates = candidates.filter(|index| !knowledge.asymmetric.contains(index));
        for index in candidates {
            let mut run = Run::new(&ground, index);
            let Some((deeds, end)) = run.go(&ground, Vec::new()) else { continue };
            let Some(unit) = first_update(&ground, &end) else { continue };
            let same = starts.iter_mut().find(|start| {
                (&start.deeds, &start.end) == (&deeds, &end) && standing.is_alike(start.members[0], index)
            });
            match same {
                Some(start) => {
                    start.members.push(index);
                    start.runs.push(run);
                }
                None => starts.push(Start { deeds, end, unit, members: vec![index], runs: vec![run] }),
            }
        }
        starts.retain(|start| start.members.len() > 1);
        if starts.is_empty() {
            return None;
        }
        let mut places = vec![None; count];
        for (class, start) in starts.iter().enumerate() {
            for (number, member) in start.members.iter().enumerate() {
                places[*member as usize] = Some((class, number));
            }
        }
        let classes = starts.into_iter().map(|start| Class::new(program, start)).collect();
        Some(Symmetry { classes, places, initial })
    }

    /// The class of an invocation, and its number there.
    pub(super) fn place(&self, index: usize) -> Option<(&Class, usize)> {
        let (class, number) = self.place_number(index)?;
        Some((&self.classes[class], number))
    }

    /// The number of the class of an invocation, and its number there.
    pub(super) fn place_number(&self, index: usize) -> Option<(usize, usize)> {
        self.places[index]
    }
}

/// Invocations that begin alike.
struct Start {
    deeds: Vec<Deed>,
    end: End,
    unit: Unit,
    members: Vec<u32>,
    runs: Vec<Run>,
}

impl Class {
    fn new(program: &Program, start: Start) -> Self {
        let stores = match &start.end {
            End::Reading { access, .. } => placed_stores(program, access.inst),
            End::Finished | End::Spins => None,
        };
        let placing = stores.map(|stores| Placing { stores, own: None });
        let first = History { end: Some(start.end), runs: Arc::new(start.runs), ..History::default() };
        let histories = Histories { nodes: vec![first], next: FxHashMap::default(), placing };
        Class { members: start.members, unit: start.unit, histories: Mutex::new(histories) }
    }
}

/// The unit of a read-modify-write that always writes, and that is no spin, if nobody was seen to write the unit in
/// another way.
fn first_update(ground: &Ground, end: &End) -> Option<Unit> {
    let Ground { knowledge, dispatch, program, .. } = *ground;
    let End::Reading { access, atomic: Some(_), .. } = end else { return None };
    if !always_updates(program, access.inst) || knowledge.spin_reads.contains(&access.inst) {
        return None;
    }
    let object = dispatch.objects.get(access.object as usize)?;
    let spans = state::units_of(access, object.memory, knowledge, |_| {})?;
    let [(unit, _)] = spans[..] else { return None };
    let updates = |kind: &AtomicKind| !matches!(kind, AtomicKind::Load | AtomicKind::Store { .. });
    let agents = 0..dispatch.places.len() as u32;
    let mut writers = agents.flat_map(|agent| knowledge.writers(unit, agent));
    writers.all(|(_, inst)| atomic(program, *inst).is_some_and(updates)).then_some(unit)
}

/// Whether an instruction reads and always writes.
pub(super) fn always_updates(program: &Program, inst: InstId) -> bool {
    atomic(program, inst).is_some_and(is_update)
}

fn is_update(kind: &AtomicKind) -> bool {
    !matches!(kind, AtomicKind::Load | AtomicKind::Store { .. } | AtomicKind::CompareExchange { .. })
}

/// Whether a program has atomics by which a class may begin.
pub(super) fn has_first_updates(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|inst| matches!(&inst.op, Op::Atomic(op) if is_update(&op.kind)))
}

fn atomic(program: &Program, inst: InstId) -> Option<&AtomicKind> {
    match &program.functions.get(inst.function.0 as usize)?.code.get(inst.index as usize)?.op {
        Op::Atomic(op) => Some(&op.kind),
        _ => None,
    }
}

impl Class {
    fn histories(&self) -> MutexGuard<'_, Histories> {
        // Whoever panicked, what is there is whole.
        self.histories.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What follows when these bytes are read.
    fn next(&self, ground: &Ground, history: u32, bytes: &[Byte]) -> Next {
        let mut histories = self.histories();
        let key = (history, SmallVec::from_slice(bytes));
        let next = match histories.next.get(&key) {
            Some(next) => *next,
            None => {
                if histories.nodes.len() * self.members.len() >= MAX_RUNS {
                    return Next::Different;
                }
                let next = histories.nodes.len() as u32;
                let placed = if history == NOTHING { histories.placed(ground, bytes) } else { None };
                let node =
                    placed.unwrap_or_else(|| histories.nodes[history as usize].followed_by(ground, bytes));
                histories.nodes.push(node);
                histories.next.insert(key, next);
                next
            }
        };
        let node = &histories.nodes[next as usize];
        match &node.end {
            _ if !node.unknown.is_empty() => Next::Unknown(node.unknown.clone()),
            None => Next::Different,
            Some(_) if node.is_varied => Next::Varied(next),
            Some(_) => Next::Same(next),
        }
    }

    /// The runs of the members with a history at whose end they read, and that read.
    pub(super) fn runs(&self, history: u32) -> Option<(Arc<Vec<Run>>, End)> {
        let histories = self.histories();
        let node = histories.nodes.get(history as usize)?;
        Some((node.runs.clone(), node.end.clone()?))
    }

    /// What the members do without events, to the end of a history at which they are finished.
    pub(super) fn leaf(&self, history: u32) -> Option<Arc<Leaf>> {
        self.histories().nodes.get(history as usize)?.leaf.clone()
    }

    fn spins(&self, history: u32) -> bool {
        self.histories().nodes[history as usize].end == Some(End::Spins)
    }
}

impl Histories {
    /// What follows the first read, from what one member does, and all of them with some other result.
    fn placed(&mut self, ground: &Ground, bytes: &[Byte]) -> Option<History> {
        // Where it fails once, everybody is run with every result.
        let mut placing = self.placing.take()?;
        let ground = Ground { placing: &placing.stores, ..*ground };
        let first = &self.nodes[NOTHING as usize];
        let end = first.end.as_ref()?;
        let go = |run: &Run| {
            let mut run = run.clone();
            let (deeds, end) = run.answer(&ground, end, bytes)?;
            let is_quiet = deeds.iter().all(|deed| matches!(deed, Deed::Updated(..) | Deed::Fence(_)));
            (is_quiet && end == End::Finished).then_some((run, deeds))
        };
        let (one, deeds) = go(first.runs.first()?)?;
        let own = match &placing.own {
            Some(own) => Arc::clone(own),
            None => {
                let all: Vec<(Run, Vec<Deed>)> = first.runs.iter().map(go).collect::<Option<_>>()?;
                let places =
                    |run: &Run| run.memory().placed.iter().map(|(place, _)| *place).collect::<Vec<_>>();
                let there = places(&one);
                if all.iter().any(|(run, other)| *other != deeds || places(run) != there) {
                    return None;
                }
                Arc::new(Own::new(&ground, all.iter().map(|(run, _)| run.memory())))
            }
        };
        let placed = &one.memory().placed;
        if !placed.iter().map(|(_, byte)| byte).eq(own.placed.first()?) {
            return None;
        }
        let leaf = Leaf::placing(&ground, Arc::clone(&own), placed);
        placing.own = Some(own);
        self.placing = Some(placing);
        Some(History { end: Some(End::Finished), leaf: Some(Arc::new(leaf)), ..History::default() })
    }
}

impl History {
    fn followed_by(&self, ground: &Ground, bytes: &[Byte]) -> History {
        let mut next = History::default();
        let Some(end) = &self.end else { return next };
        let mut runs = Vec::with_capacity(self.runs.len());
        let mut common: Option<(Vec<Deed>, End)> = None;
        for run in self.runs.iter() {
            let mut run = run.clone();
            let Some(done) = run.answer(ground, end, bytes) else { return next };
            let common = common.get_or_insert_with(|| done.clone());
            if !have_same_shape(common, &done) {
                return next;
            }
            let different = common.0.iter().zip(&done.0).filter(|(a, b)| a != b);
            for (inst, _) in different.filter_map(|(deed, _)| deed.write()) {
                match ground.knowledge.varied.contains(&inst) {
                    true => next.is_varied = true,
                    false => next.unknown.push(inst),
                }
            }
            runs.push(run);
        }
        next.end = common.map(|(_, end)| end);
        match next.end {
            Some(End::Finished) => {
                next.leaf = Some(Arc::new(Leaf::new(ground, runs.iter().map(Run::memory))));
            }
            Some(End::Reading { .. } | End::Spins) | None => next.runs = Arc::new(runs),
        }
        next
    }
}

/// What follows a history.
enum Next {
    Same(u32),
    /// The same but for what instructions write of which that is known.
    Varied(u32),
    /// The same but for what these write.
    Unknown(Vec<InstId>),
    Different,
}

impl Search<'_> {
    pub(super) fn ground<'s>(&'s self, symmetry: &'s Symmetry) -> Ground<'s> {
        Ground::new(self.context, self.knowledge, &symmetry.initial)
    }

    /// The rest of the round would not count: the members of a class are not alike.
    pub(super) fn break_symmetry(&self, class: &Class, found: &mut Found) {
        found.discoveries.asymmetric.extend(&class.members);
        found.stop = true;
    }

    /// The same for all classes, if there are any.
    pub(super) fn break_symmetries(&self, found: &mut Found) {
        for class in self.symmetry.iter().flat_map(|symmetry| &symmetry.classes) {
            self.break_symmetry(class, found);
        }
    }

    /// What these instructions write depends on who has which place.
    pub(super) fn learn_varied(&self, instructions: &[InstId], found: &mut Found) {
        if self.knowledge.varied.len() >= MAX_VARIED {
            return self.break_symmetries(found);
        }
        found.discoveries.varied.extend(instructions);
        found.stop = true;
    }

    /// An invocation reads these bytes, in this event.
    pub(super) fn note_history(
        &self,
        state: &mut State,
        index: usize,
        read: EventId,
        bytes: &[Byte],
        found: &mut Found,
    ) {
        let Some(symmetry) = &self.symmetry else { return };
        let events = &state.graph.events;
        let event = &events[read as usize];
        let is_varied = |source: &Source| match source {
            Source::Event(write) => self.is_varied(symmetry, &events[*write as usize]),
            Source::Initial | Source::Pending => false,
        };
        let reads_varied = event.sources.iter().any(is_varied);
        let Some((class, _)) = symmetry.place(index) else {
            if reads_varied {
                self.break_symmetries(found);
            }
            return;
        };
        let history = state.threads[index].history;
        let next = if reads_varied || history == PARTED {
            let kind = atomic(self.context.program, event.inst);
            if matches!(kind, Some(AtomicKind::CompareExchange { .. })) {
                // Whether it writes may depend on who has which place.
                return self.break_symmetry(class, found);
            }
            PARTED
        } else {
            match class.next(&self.ground(symmetry), history, bytes) {
                Next::Same(next) => {
                    state.threads[index].history = next;
                    return;
                }
                Next::Varied(next) => next,
                Next::Unknown(instructions) => return self.learn_varied(&instructions, found),
                Next::Different => return self.break_symmetry(class, found),
            }
        };
        let thread = &mut state.threads[index];
        thread.history = next;
        thread.parting.get_or_insert(Parting { history, read });
    }

    /// Whether what an event writes depends on who has which place.
    fn is_varied(&self, symmetry: &Symmetry, event: &Event) -> bool {
        self.knowledge.varied.contains(&event.inst) && symmetry.places[event.agent as usize].is_some()
    }

    /// An iteration in which an invocation reads these bytes is left out.
    pub(super) fn note_left_out(&self, state: &State, index: usize, bytes: &[Byte], found: &mut Found) {
        let Some(symmetry) = &self.symmetry else { return };
        let Some((class, _)) = symmetry.place(index) else { return };
        let history = state.threads[index].history;
        let spins = history != PARTED
            && match class.next(&self.ground(symmetry), history, bytes) {
                Next::Same(next) => class.spins(next),
                Next::Varied(_) | Next::Unknown(_) | Next::Different => false,
            };
        if !spins {
            self.break_symmetry(class, found);
        }
    }

    /// A read spins. Whether it goes on must not depend on who has which place.
    pub(super) fn check_spin(&self, state: &State, reader: &Reader, spans: &UnitSpans, found: &mut Found) {
        let Some(symmetry) = self.symmetry.as_ref().filter(|_| !self.knowledge.varied.is_empty()) else {
            return;
        };
        let of_unit = |event: &Event| spans.iter().any(|(unit, _)| event.units.contains(unit));
        let mut writes = state.graph.events.iter().filter(|event| event.writes() && of_unit(event));
        if self.has_parted(state, reader.index) || writes.any(|write| self.is_varied(symmetry, write)) {
            self.break_symmetries(found);
        }
    }

    /// Whether an invocation read what depends on who has which place.
    pub(super) fn has_parted(&self, state: &State, index: usize) -> bool {
        state.threads[index].history == PARTED
    }

    /// The write of a new event must not make the order of the first read-modify-writes of a class open.
    pub(super) fn check_first_order(&self, state: &State, id: EventId, found: &mut Found) {
        let Some(symmetry) = &self.symmetry else { return };
        let events = &state.graph.events;
        let event = &events[id as usize];
        for class in symmetry.classes.iter().filter(|class| event.units.contains(&class.unit)) {
            let mut others = events[..id as usize].iter().filter(|other| other.units.contains(&class.unit));
            let is_ordered = event.kind == Kind::Update
                && others.all(|other| !other.writes() || state.graph.order_mutually(other, event));
            if !is_ordered {
                self.break_symmetry(class, found);
            }
        }
    }

    /// Whether a read has to wait for the first ones of others of its class.
    pub(super) fn is_gated(&self, state: &State, index: usize) -> bool {
        let Some((class, number)) = self.symmetry.as_ref().and_then(|symmetry| symmetry.place(index)) else {
            return false;
        };
        let has_begun = |member: u32| state.threads[member as usize].history != NOTHING;
        number > 0 && !has_begun(index as u32) && !has_begun(class.members[number - 1])
    }

    /// Whether nothing that `later` will do to the unit of its first read comes before the first read of `index`.
    pub(super) fn follows(&self, state: &State, later: usize, index: usize) -> bool {
        let Some(symmetry) = &self.symmetry else { return false };
        let has_begun = |index: usize| state.threads[index].history != NOTHING;
        let (Some((class, number)), Some((other, last))) = (symmetry.places[index], symmetry.places[later])
        else {
            return false;
        };
        class == other && number < last && !has_begun(index)
    }

    /// The invocation for whose first read a gated one waits, and of what that is.
    pub(super) fn gate(&self, state: &State, index: usize) -> Option<(usize, Unit)> {
        let (class, _) = self.symmetry.as_ref()?.place(index)?;
        let first =
            class.members.iter().find(|member| state.threads[**member as usize].history == NOTHING)?;
        self.is_gated(state, index).then_some((*first as usize, class.unit))
    }
}

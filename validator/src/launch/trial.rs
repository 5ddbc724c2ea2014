//! Trial runs: every invocation of the module before is run concretely, one after the other, to find out how much
//! of its runtime arrays it touches.
//!
//! A trial is one interleaving and decides nothing. It is made twice, with the first and with the last invocation
//! first, so that a slot that only the first invocation to arrive takes is seen from both sides.

mod memory;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHasher};

use super::inputs::Touched;
use crate::dispatch::{Dispatch, Place};
use crate::event::{InstanceName, Scope, UndefinedKind};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{subgroup, About, Compared, Enough, Invocation, Stop};
use crate::ir::{InstId, Line, Program};
use crate::value::{Byte, Scalar};
pub use memory::BUDGET;
use memory::{TrialMemory, BUDGET_OF_OTHERS, NOBODY};

/// Instructions until the next invocation has its turn, so that spinning on another one ends.
const TURN: u64 = 4_096;

/// Instructions of an outlook, at least.
const LEAST_BUDGET: u64 = 16 * TURN;

/// What the program touches on this dispatch, where each object may be as large as its limit says; `None` where time is
/// over before that is known. What lies beyond an object's initial contents is zero. An access out of bounds ends the
/// trial where there are no images.
pub fn touched(
    program: &Program,
    dispatch: &Dispatch,
    limits: &[u32],
    is_over: &dyn Fn() -> bool,
) -> Option<Touched> {
    let mut order: Vec<u32> = (0..dispatch.places.len() as u32).rev().collect();
    // The last ones have the greatest indices.
    let last = touched_by(program, dispatch, &order, limits, is_over)?;
    if last.out_of_bounds && !has_images(dispatch) {
        return Some(last);
    }
    order.reverse();
    let mut touched = touched_by(program, dispatch, &order, limits, is_over)?;
    touched.merge(&last);
    Some(touched)
}

/// As [`touched`], by these invocations in this order alone.
pub fn touched_by(
    program: &Program,
    dispatch: &Dispatch,
    order: &[u32],
    limits: &[u32],
    is_over: &dyn Fn() -> bool,
) -> Option<Touched> {
    let mut memory = TrialMemory { limits: limits.to_vec(), ..TrialMemory::new(dispatch) };
    let ended = run(program, dispatch, order, &mut memory, has_images(dispatch), is_over, None)?;
    Some(Touched {
        ends: memory.ends,
        out_of_bounds: ended.out_of_bounds,
        texels: memory.texels,
        executed: ended.executed,
    })
}

fn has_images(dispatch: &Dispatch) -> bool {
    dispatch.objects.iter().any(|object| object.image.is_some())
}

/// Where one interleaving ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The final bytes of each location space of the dispatch.
    pub memory: Vec<Vec<Byte>>,
    /// Invocations that met undefined behaviour.
    pub faulted: u32,
    /// Whether that was an access out of bounds.
    pub out_of_bounds: bool,
    /// Whether an invocation accessed, not atomically, what another one had written so since the last barrier, or one of
    /// another workgroup at all.
    pub conflicts: bool,
    /// Invocations that did not come to their end: it took too long, or they go on forever.
    pub unfinished: u32,
    /// Whether every invocation ran to its end, as far as it was followed.
    pub whole: bool,
    /// Whether all instructions that it might take were spent.
    pub is_cut: bool,
    /// Instructions of all invocations.
    pub executed: u64,
}

/// What the program leaves in memory if these of its invocations run one after the other, for at most so many instructions and
/// not long after one of them has met undefined behaviour; `None` where time is over before that.
pub fn ended(
    program: &Program,
    dispatch: &Dispatch,
    (invocations, budget): (&[u32], u64),
    is_over: &dyn Fn() -> bool,
) -> Option<Ended> {
    let mut memory = TrialMemory {
        writers: TrialMemory::nobody(dispatch),
        writing_groups: TrialMemory::nobody(dispatch),
        groups: groups(dispatch, invocations),
        budget,
        budget_of_others: BUDGET_OF_OTHERS,
        ..TrialMemory::new(dispatch)
    };
    let ended = run(program, dispatch, invocations, &mut memory, true, is_over, None)?;
    Some(Ended { conflicts: !memory.conflicting.is_empty(), memory: memory.spaces, ..ended })
}

/// The workgroups of invocations.
fn groups(dispatch: &Dispatch, invocations: &[u32]) -> Vec<u32> {
    let group = |index: &u32| dispatch.places.get(*index as usize).map_or(NOBODY, |place| place.workgroup);
    invocations.iter().map(group).collect()
}

/// What invocations come to on a dispatch.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    /// How many met undefined behaviour.
    pub faulted: u32,
    /// How many conflict with others.
    pub conflicting: u32,
    /// How many did not come to their end: it took too long, or they go on forever.
    pub unfinished: u32,
    /// How many write something that outcomes show, or hand something on, and conflict with nobody.
    pub working: u32,
    /// What was read of shared memory, one after the other: object, first byte and bytes.
    pub reads: Vec<(u32, u32, u32)>,
    /// The most of them that update one word between two barriers in a way that does not commute.
    pub contending: u32,
    /// Instructions of all of them.
    pub executed: u64,
}

/// How much more trouble undefined behaviour is than a conflict: who conflicts comes farther. What does not come to its end
/// is still more: it costs most, and says least.
const FAULT: u32 = 2;
const UNFINISHED: u32 = 3;

impl Outlook {
    /// How much trouble there is: a conflict counts once, undefined behaviour twice, and what does not come to its end three
    /// times.
    pub fn trouble(&self) -> u32 {
        FAULT * self.faulted + UNFINISHED * self.unfinished + self.conflicting
    }
}

/// What these invocations come to, where each object may be as large as its limit says, as far as it takes for trouble
/// ([`Outlook::trouble`]) to be more than `patience`, and for so many times longer than usual; `None` where time is over before
/// that.
pub fn outlook(
    program: &Program,
    dispatch: &Dispatch,
    (limits, patience, times): (&[u32], u32, u64),
    invocations: &[u32],
    is_over: &dyn Fn() -> bool,
) -> Option<Outlook> {
    let budget = BUDGET.min(invocations.len() as u64 * TURN).max(LEAST_BUDGET).saturating_mul(times);
    let mut memory = TrialMemory {
        limits: limits.to_vec(),
        reads: Some(Vec::new()),
        writers: TrialMemory::nobody(dispatch),
        writing_groups: TrialMemory::nobody(dispatch),
        groups: groups(dispatch, invocations),
        patience: patience as usize,
        budget,
        ..TrialMemory::new(dispatch)
    };
    let ended = run(program, dispatch, invocations, &mut memory, true, is_over, None)?;
    let writing = memory.writing.difference(&memory.conflicting).count() as u32;
    // What a vertex or a fragment hands on is no memory.
    let ended_well = (invocations.len() as u32).saturating_sub(ended.faulted + ended.unfinished);
    Some(Outlook {
        faulted: ended.faulted,
        conflicting: memory.conflicting.len() as u32,
        unfinished: ended.unfinished,
        working: if dispatch.inputs.is_empty() { writing } else { ended_well },
        reads: memory.reads.unwrap_or_default(),
        contending: memory.contending,
        executed: ended.executed,
    })
}

/// Where values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The instruction.
    pub inst: InstId,
    /// Which of the pairs that it compares.
    pub number: u32,
    /// What hangs on their order.
    pub about: About,
    /// How often the invocation has compared here before: an instruction in a loop, or in a function that is called again,
    /// compares something else each time.
    pub turn: u32,
}

/// Turns of an invocation at a site that are heard of, at most.
const MOST_TURNS: u32 = 6;

/// Hears of what invocations compare.
struct Watch {
    /// What they compared at each site.
    values: BTreeMap<(Site, u32), [f64; 2]>,
    /// Turns at each site, by its first one.
    turns: BTreeMap<(Site, u32), u32>,
    /// What is waited for: a site, and who compares there.
    until: Option<(Site, u32)>,
    has_enough: bool,
}

impl Watch {
    fn hear(&mut self, invocation: u32, compared: Compared) -> Enough {
        let Compared { at: inst, number, about, values } = compared;
        let first = Site { inst, number, about, turn: 0 };
        let turns = self.turns.entry((first, invocation)).or_default();
        let site = Site { turn: *turns, ..first };
        *turns = turns.saturating_add(1);
        if site.turn < MOST_TURNS {
            self.values.insert((site, invocation), values);
        }
        self.has_enough |= self.until == Some((site, invocation));
        match self.has_enough {
            true => Enough::Yes,
            false => Enough::No,
        }
    }
}

/// What was watched of a trial.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The two values that invocations compared at each site, in their first turns there.
    pub values: BTreeMap<(Site, u32), [f64; 2]>,
    /// What was read of shared memory, one after the other: object, first byte and bytes.
    pub reads: Vec<(u32, u32, u32)>,
    /// Instructions of all invocations.
    pub executed: u64,
}

impl Watched {
    /// By how much what an invocation compares first at these sites is more than what it compares it with.
    pub fn differences(&self, sites: [Site; 2], invocation: u32) -> Option<[f64; 2]> {
        let of = |site: Site| self.values.get(&(site, invocation)).map(|[first, second]| first - second);
        Some([of(sites[0])?, of(sites[1])?])
    }
}

/// What these invocations compare and read, up to where one of them compares at a site if that is given; `None` where time
/// is over before that.
pub fn watched(
    program: &Program,
    dispatch: &Dispatch,
    invocations: &[u32],
    until: Option<(Site, u32)>,
    is_over: &dyn Fn() -> bool,
) -> Option<Watched> {
    let mut memory = TrialMemory { reads: Some(Vec::new()), ..TrialMemory::new(dispatch) };
    let mut watch = Watch { values: BTreeMap::new(), turns: BTreeMap::new(), until, has_enough: false };
    let ended = run(
        program,
        dispatch,
        invocations,
        &mut memory,
        true,
        is_over,
        Some(Observer::Compared(&mut watch)),
    )?;
    let reads = memory.reads.unwrap_or_default();
    Some(Watched { values: watch.values, reads, executed: ended.executed })
}

/// What instructions gave, by line: a hash of all results, one after the other.
pub type Results = HashMap<Line, u64, FxBuildHasher>;

/// What the instructions of these invocations give; `None` where time is over before that.
pub fn results(
    program: &Program,
    dispatch: &Dispatch,
    invocations: &[u32],
    is_over: &dyn Fn() -> bool,
) -> Option<Results> {
    let mut memory = TrialMemory::new(dispatch);
    let mut results = Results::default();
    let observer = Some(Observer::Results(&mut results));
    run(program, dispatch, invocations, &mut memory, true, is_over, observer)?;
    Some(results)
}

/// Who hears of what invocations do.
enum Observer<'o> {
    /// Of what they compare.
    Compared(&'o mut Watch),
    /// Of what their instructions give.
    Results(&'o mut Results),
}

impl Observer<'_> {
    fn has_enough(&self) -> bool {
        match self {
            Observer::Compared(watch) => watch.has_enough,
            Observer::Results(_) => false,
        }
    }

    fn reborrowed(&mut self) -> Observer<'_> {
        match self {
            Observer::Compared(watch) => Observer::Compared(watch),
            Observer::Results(results) => Observer::Results(results),
        }
    }
}

/// Adds a result to those of its line.
fn add_result(results: &mut Results, line: Line, result: &[Scalar]) {
    let mut hasher = FxHasher::default();
    let known = results.entry(line).or_insert(0);
    known.hash(&mut hasher);
    for scalar in result {
        (scalar.bits, scalar.undef).hash(&mut hasher);
    }
    *known = hasher.finish();
}

#[derive(PartialEq)]
enum State {
    Running,
    Waiting,
    /// At an operation of the subgroup or workgroup.
    Gathered(InstanceName, Scope),
    Done,
}

/// Runs invocations in this order; the memory remembers what they do. `None` where time is over before they end.
fn run(
    program: &Program,
    dispatch: &Dispatch,
    order: &[u32],
    memory: &mut TrialMemory,
    passes_faults: bool,
    is_over: &dyn Fn() -> bool,
    mut observer: Option<Observer<'_>>,
) -> Option<Ended> {
    let all = Invocation::all(program, dispatch, order.iter().copied());
    let mut invocations: Vec<(Invocation, State)> =
        all.into_iter().map(|invocation| (invocation, State::Running)).collect();
    let mut ended = Ended { whole: true, ..Ended::default() };
    let mut budget = memory.budget;
    'trial: while budget > 0 {
        let mut moved = false;
        for ((number, index), (invocation, state)) in (0..).zip(order).zip(&mut invocations) {
            if !matches!(state, State::Running) {
                continue;
            }
            moved = true;
            memory.accessor = number;
            if is_over() {
                return None;
            }
            let turn = TURN.min(budget);
            let mut fuel = turn;
            let mut turn_of = TurnOf {
                invocation,
                program,
                dispatch,
                memory: &mut *memory,
                fuel: &mut fuel,
                ended: &mut ended,
                index: *index,
                observer: observer.as_mut().map(Observer::reborrowed),
            };
            *state = runner::drive(program, &mut turn_of, Decision::GoOn);
            let trouble = (FAULT * ended.faulted) as usize + memory.conflicting.len();
            let has_enough = trouble > memory.patience || observer.as_ref().is_some_and(Observer::has_enough);
            if has_enough || ended.out_of_bounds && !passes_faults {
                break 'trial;
            }
            // A turn that used nothing still counts, so that the loop ends.
            budget = budget.saturating_sub((turn - fuel).max(1));
            if ended.faulted > 0 {
                budget = budget.min(memory.budget_of_others);
            }
        }
        if !moved && !release_subgroups(program, dispatch, order, &mut invocations) {
            // Everybody is at a barrier or done. Which instances match is not a trial's business.
            let mut released = false;
            memory.writers.iter_mut().for_each(|writers| writers.fill(NOBODY));
            memory.contenders.clear();
            for (_, state) in &mut invocations {
                if matches!(state, State::Waiting) {
                    *state = State::Running;
                    released = true;
                }
            }
            if !released {
                break;
            }
        }
    }
    let is_unfinished = |(_, state): &&(Invocation, State)| !matches!(state, State::Done);
    ended.is_cut = budget == 0;
    ended.unfinished += invocations.iter().filter(is_unfinished).count() as u32;
    ended.whole &= invocations.iter().all(|(_, state)| matches!(state, State::Done));
    ended.executed = invocations.iter().map(|(invocation, _)| invocation.executed()).sum();
    Some(ended)
}

/// Lets the invocations at subgroup operations go on, those of a subgroup at one name together, and then those at
/// operations of their workgroup. False where there are none.
fn release_subgroups(
    program: &Program,
    dispatch: &Dispatch,
    order: &[u32],
    invocations: &mut [(Invocation, State)],
) -> bool {
    let subgroup = |place: &Place| place.subgroup;
    let workgroup = |place: &Place| place.workgroup;
    release_groups(program, dispatch, order, invocations, (Scope::Subgroup, &subgroup))
        || release_groups(program, dispatch, order, invocations, (Scope::Workgroup, &workgroup))
}

/// A scope, and the number of an invocation's instance of it.
type Grouping<'g> = (Scope, &'g dyn Fn(&Place) -> u32);

fn release_groups(
    program: &Program,
    dispatch: &Dispatch,
    order: &[u32],
    invocations: &mut [(Invocation, State)],
    (scope, number): Grouping<'_>,
) -> bool {
    let group_of = |index: u32| dispatch.places.get(index as usize).map(number);
    let mut released = false;
    for group in order.iter().filter_map(|&index| group_of(index)).collect::<BTreeSet<u32>>() {
        let mut members: Vec<(u32, &mut Invocation, &mut State)> = order
            .iter()
            .zip(invocations.iter_mut())
            .filter(|(index, _)| group_of(**index) == Some(group))
            .map(|(index, (invocation, state))| (*index, invocation, state))
            .collect();
        members.sort_by_key(|(index, ..)| *index);
        let stands = |state: &State| matches!(state, State::Gathered(_, at) if *at == scope);
        while let Some(first) = members.iter().position(|(_, _, state)| stands(state)) {
            let waiting = std::mem::replace(members[first].2, State::Running);
            let here = |state: &State| *state == waiting;
            let mut tangle: Vec<(&mut &mut Invocation, &mut &mut State)> = members
                .iter_mut()
                .enumerate()
                .filter(|(at, (_, _, state))| *at == first || here(state))
                .map(|(_, (_, invocation, state))| (invocation, state))
                .collect();
            let mut together: Vec<&mut Invocation> =
                tangle.iter_mut().map(|(invocation, _)| &mut ***invocation).collect();
            let goes_on = subgroup::go_on_together(program, dispatch, &mut together);
            for (_, state) in tangle {
                **state = if goes_on { State::Running } else { State::Done };
            }
            released = true;
        }
    }
    released
}

/// A turn of one invocation.
struct TurnOf<'t> {
    invocation: &'t mut Invocation,
    program: &'t Program,
    dispatch: &'t Dispatch,
    memory: &'t mut TrialMemory,
    fuel: &'t mut u64,
    ended: &'t mut Ended,
    /// Its number in the dispatch.
    index: u32,
    observer: Option<Observer<'t>>,
}

impl Driver for TurnOf<'_> {
    type End = State;

    fn run(&mut self) -> Stop {
        let TurnOf { invocation, program, dispatch, memory, fuel, .. } = self;
        match &mut self.observer {
            None => invocation.run(program, dispatch, *memory, fuel),
            Some(Observer::Compared(watch)) => {
                let index = self.index;
                let mut hear = |compared| watch.hear(index, compared);
                invocation.run_watched(program, dispatch, *memory, fuel, &mut hear)
            }
            Some(Observer::Results(results)) => {
                let mut trace = |line, result: &[Scalar]| add_result(results, line, result);
                invocation.run_traced(program, dispatch, *memory, fuel, &mut trace)
            }
        }
    }

    fn invocation(&mut self) -> &mut Invocation {
        self.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<State> {
        match stop {
            Stop::Choose { .. } => Decision::Choose(0),
            Stop::Fence(_) | Stop::Device(..) | Stop::LoopEntry { .. } | Stop::Iteration { .. } => {
                Decision::GoOn
            }
            Stop::Barrier { .. } => Decision::End(State::Waiting),
            Stop::Subgroup { name, scope, .. } => Decision::End(State::Gathered(name, scope)),
            Stop::OutOfFuel => Decision::End(State::Running),
            Stop::Fault(fault) => {
                self.ended.out_of_bounds |= fault.kind == UndefinedKind::OutOfBounds;
                self.ended.faulted += 1;
                // It is in trouble once.
                self.memory.conflicting.remove(&self.memory.accessor);
                Decision::End(State::Done)
            }
            Stop::Finished => Decision::End(State::Done),
            Stop::Forever { .. } => {
                self.ended.whole = false;
                self.ended.unfinished += 1;
                Decision::End(State::Done)
            }
            // A trial decides nothing, so it may leave out what follows. The memory settles every access at once, so that none
            // stops an invocation.
            _ => {
                self.ended.whole = false;
                Decision::End(State::Done)
            }
        }
    }

    /// Nor does an atomic instruction.
    fn updated(&mut self, _: &[Byte], _: Vec<Byte>) -> Option<State> {
        self.ended.whole = false;
        Some(State::Done)
    }
}

#[cfg(test)]
mod tests;

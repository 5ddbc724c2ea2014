//! Runs of all invocations with the intervals of floats.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{quads, IntervalSide};
use crate::compare::Obstacle;
use crate::dispatch::{Dispatch, Object};
use crate::event::{Access, Atomicity, UndefinedKind};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{
    Computations, Decisions, Following, Interval, Invocation, ShadedMemory, Shades, SharedMemory, Stop,
    Written,
};
use crate::ir::{Inexact, Inst};
use crate::value::Byte;

/// Instructions of a whole run: some seconds.
const BUDGET: u64 = 32_000_000;

/// Ways of a run, at most.
const MOST_WAYS: usize = 64;

/// Instructions until the next invocation has its turn, so that spinning on another one ends.
const TURN: u64 = 4_096;

/// What became of a run.
pub(super) struct Run {
    end: Result<Seen, Broken>,
    /// What it computed, where that was counted.
    pub computations: Computations,
}

/// Why a run could not be followed to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Broken {
    /// More than a float's value hangs on one that may be another.
    Depends(Inexact),
    /// What follows from this instruction is not known here.
    NotFollowed(Option<Inexact>),
    /// It has too many instructions.
    TooLong,
    /// Time is over.
    OutOfTime,
}

impl Run {
    /// What it came to, if it could be followed to its end.
    pub fn end(self, side: &'static str) -> Result<Seen, Obstacle> {
        self.end.map_err(|broken| broken.on(side))
    }
}

impl Broken {
    fn on(self, side: &'static str) -> Obstacle {
        match self {
            Broken::Depends(at) => Obstacle::Depends { side, at },
            Broken::NotFollowed(at) => Obstacle::NotFollowed { side, at },
            Broken::TooLong => Obstacle::TooLong { side },
            Broken::OutOfTime => Obstacle::OutOfTime { side },
        }
    }
}

/// All ways of a run, where branches may go otherwise than as computed and undefined values may be any. Where there are
/// several, no invocation sees what another one writes: a way that nobody searched may be racy.
pub(super) struct Ways {
    pub ways: Vec<Way>,
    /// Whether some branch may go otherwise than as computed.
    pub has_flips: bool,
}

/// One way.
pub(super) struct Way {
    pub seen: Seen,
    /// All branches go as computed, so that it ends as the search did.
    pub is_as_computed: bool,
}

/// Why ways are not known.
pub(super) struct Unfollowed {
    pub obstacle: Obstacle,
    /// Up to there, nothing but values of floats hung on floats.
    pub is_as_computed: bool,
}

pub(super) fn ways(side: IntervalSide<'_>, name: &'static str) -> Result<Ways, Unfollowed> {
    let (mut ways, mut next, mut branch) = (Vec::<Way>::new(), Some(Decisions::as_computed()), None);
    let mut budget = BUDGET;
    while let Some(mut decisions) = next {
        let mut invocations = start(side);
        let end = run_all(side, Following::Alone, &mut invocations, (&mut decisions, &mut budget));
        let seen = end.map_err(|broken| Unfollowed {
            obstacle: broken.on(name),
            is_as_computed: decisions.first_branch().is_none() && !matches!(broken, Broken::Depends(_)),
        })?;
        ways.push(Way { seen, is_as_computed: !decisions.is_flipped() });
        branch = branch.or(decisions.first_branch());
        let is_split = decisions.is_split();
        next = decisions.next();
        let communicates = is_split && ways.iter().any(|way| way.seen.communicates());
        if communicates || next.is_some() && ways.len() == MOST_WAYS {
            let obstacle = match branch {
                Some(at) => Obstacle::Depends { side: name, at },
                None => Obstacle::SeveralOutcomes { side: name },
            };
            return Err(Unfollowed { obstacle, is_as_computed: branch.is_none() });
        }
    }
    Ok(Ways { ways, has_flips: branch.is_some() })
}

/// What a run with intervals came to.
pub(super) struct Seen {
    memory: PlainMemory,
    shades: ShadedMemory,
    /// The first fault, which ends the run.
    pub fault: Option<UndefinedKind>,
    /// The other side was followed, too.
    pub is_beside: bool,
}

impl Seen {
    pub fn bytes(&self, dispatch: &Dispatch, object: usize) -> &[Byte] {
        dispatch.contents(object, &self.memory.spaces)
    }

    /// Bytes and interval of each float of an object that may be another one, by its first byte there.
    pub fn shades(&self, dispatch: &Dispatch, object: usize) -> BTreeMap<u32, (u32, Interval)> {
        let Some(object) = dispatch.objects.get(object) else { return BTreeMap::new() };
        let start = object.view.unwrap_or(0);
        let end = start.saturating_add(object.initial.len() as u32);
        let within = self.shades.of_space(object.memory).filter(|(at, ..)| (start..end).contains(at));
        within.map(|(at, bytes, interval)| (at - start, (bytes, interval))).collect()
    }

    /// Whether several invocations accessed something that one of them wrote, in whatever order.
    pub fn communicates(&self) -> bool {
        self.memory.users.values().any(|(user, written)| *written && *user == User::Several)
    }

    /// The observed memory, as the outcome has it.
    pub fn outcome(&self, dispatch: &Dispatch) -> Vec<Vec<Byte>> {
        let observed = (0..dispatch.objects.len()).filter(|index| dispatch.objects[*index].observed);
        observed.map(|index| self.bytes(dispatch, index).to_vec()).collect()
    }
}

fn start(side: IntervalSide<'_>) -> Vec<(Invocation, Shades, State)> {
    let count = side.dispatch.places.len() as u32;
    let invocations = (0..count).map(|index| {
        (Invocation::new(side.program, side.dispatch, index), Shades::default(), State::Running)
    });
    invocations.collect()
}

/// Runs all invocations in turn.
pub(super) fn run(side: IntervalSide<'_>, following: Following<'_>) -> Run {
    let mut invocations = start(side);
    let mut budget = BUDGET;
    let end = run_all(side, following, &mut invocations, (&mut Decisions::default(), &mut budget));
    let mut computations = Computations::default();
    for (_, shades, _) in &invocations {
        computations.add(&shades.computations);
    }
    Run { end, computations }
}

fn run_all(
    side: IntervalSide<'_>,
    following: Following<'_>,
    invocations: &mut [(Invocation, Shades, State)],
    (decisions, budget): (&mut Decisions, &mut u64),
) -> Result<Seen, Broken> {
    let IntervalSide { program, dispatch, .. } = side;
    let counts = matches!(following, Following::Counting);
    let mut seen = Seen {
        memory: PlainMemory::new(dispatch),
        shades: ShadedMemory::default(),
        fault: None,
        is_beside: matches!(following, Following::SideBySide(_)),
    };
    loop {
        let mut moved = false;
        for (number, (invocation, shades, state)) in (0..).zip(&mut *invocations) {
            if *state != State::Running {
                continue;
            }
            moved = true;
            if side.deadline.is_some_and(|deadline| deadline.is_over()) {
                return Err(Broken::OutOfTime);
            }
            seen.memory.accessor = number;
            let turn = TURN.min(*budget);
            let mut fuel = turn;
            std::mem::swap(&mut shades.decisions, decisions);
            let mut turn_of = TurnOf {
                side,
                following,
                invocation,
                shades: &mut *shades,
                seen: &mut seen,
                fuel: &mut fuel,
            };
            let driven = runner::drive(program, &mut turn_of, Decision::GoOn);
            std::mem::swap(&mut shades.decisions, decisions);
            *state = driven?;
            if let Some(at) = shades.depends.filter(|_| !counts) {
                return Err(Broken::Depends(at));
            }
            if seen.fault.is_some() {
                return Ok(seen);
            }
            *budget = budget.checked_sub((turn - fuel).max(1)).ok_or(Broken::TooLong)?;
        }
        if !moved && !quads::release(side, following, invocations).ok_or(Broken::NotFollowed(None))? {
            // Everybody is at a barrier or done.
            let waiting = invocations.iter_mut().filter(|(_, _, state)| *state == State::Waiting);
            if waiting.map(|(_, _, state)| *state = State::Running).count() == 0 {
                return Ok(seen);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Running,
    Waiting,
    /// At an operation of its subgroup.
    Together,
    Done,
}

/// A turn of one invocation.
struct TurnOf<'t> {
    side: IntervalSide<'t>,
    following: Following<'t>,
    invocation: &'t mut Invocation,
    shades: &'t mut Shades,
    seen: &'t mut Seen,
    fuel: &'t mut u64,
}

impl TurnOf<'_> {
    fn not_followed(&self) -> Decision<Result<State, Broken>> {
        let at = self.invocation.instruction(self.side.program).map(Inst::named);
        Decision::End(Err(Broken::NotFollowed(at)))
    }
}

impl Driver for TurnOf<'_> {
    type End = Result<State, Broken>;

    fn run(&mut self) -> Stop {
        let IntervalSide { program, dispatch, .. } = self.side;
        let Seen { memory, shades: shared, .. } = &mut *self.seen;
        let fuel = &mut *self.fuel;
        self.invocation.run_shaded(program, dispatch, memory, self.shades, shared, self.following, fuel)
    }

    fn invocation(&mut self) -> &mut Invocation {
        self.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<Result<State, Broken>> {
        match stop {
            Stop::Barrier { .. } => Decision::End(Ok(State::Waiting)),
            Stop::Subgroup { .. } => Decision::End(Ok(State::Together)),
            Stop::Fence(_) | Stop::LoopEntry { .. } | Stop::Iteration { .. } => Decision::GoOn,
            Stop::OutOfFuel => Decision::End(Ok(State::Running)),
            Stop::Finished => Decision::End(Ok(State::Done)),
            Stop::Fault(fault) => {
                self.seen.fault = Some(fault.kind);
                Decision::End(Ok(State::Done))
            }
            Stop::Choose { ways, .. } => match self.shades.decisions.choose(ways) {
                Some(way) => Decision::Choose(way),
                None => self.not_followed(),
            },
            // What this memory does not settle, and ends that are no outcome are not followed.
            _ => self.not_followed(),
        }
    }

    fn updated(&mut self, _: &[Byte], _: Vec<Byte>) -> Option<Result<State, Broken>> {
        Some(Err(Broken::NotFollowed(None)))
    }
}

/// Memory that settles every access.
struct PlainMemory {
    /// Bytes of each location space, by its number.
    spaces: Vec<Vec<Byte>>,
    /// Who accessed each byte, and whether somebody wrote it.
    users: FxHashMap<(u32, u32), (User, bool)>,
    /// The invocation that runs.
    accessor: u32,
    /// Location space and size of each object.
    objects: Vec<(u32, u32)>,
}

/// Who accessed a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    One(u32),
    Several,
}

impl PlainMemory {
    fn new(dispatch: &Dispatch) -> Self {
        let place = |object: &Object| (object.memory, object.initial.len() as u32);
        PlainMemory {
            spaces: dispatch.initial_memory(),
            users: FxHashMap::default(),
            accessor: 0,
            objects: dispatch.objects.iter().map(place).collect(),
        }
    }

    fn space(&mut self, object: u32) -> Option<&mut Vec<Byte>> {
        let (space, _) = *self.objects.get(object as usize)?;
        self.spaces.get_mut(space as usize)
    }
}

impl PlainMemory {
    /// Notes who accesses what.
    fn note(&mut self, access: &Access, writes: bool) {
        let Some((space, _)) = self.objects.get(access.object as usize) else { return };
        for at in access.ranges.iter().flat_map(|&(start, length)| start..start.saturating_add(length)) {
            let (user, written) = self.users.entry((*space, at)).or_insert((User::One(self.accessor), false));
            if *user != User::One(self.accessor) {
                *user = User::Several;
            }
            *written |= writes;
        }
    }
}

impl SharedMemory for PlainMemory {
    fn size(&self, object: u32) -> u32 {
        self.objects.get(object as usize).map_or(0, |(_, size)| *size)
    }

    fn read(&mut self, access: &Access, _: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        self.note(access, false);
        let Some(space) = self.space(access.object) else { return false };
        let bytes = access.ranges.iter().flat_map(|&(start, length)| start..start.saturating_add(length));
        for (slot, at) in out.iter_mut().zip(bytes) {
            *slot = space.get(at as usize).copied().unwrap_or(Byte::Undef);
        }
        true
    }

    fn write(&mut self, access: &Access, _: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        self.note(access, true);
        let Some(space) = self.space(access.object) else { return Written::Event };
        let places = access.ranges.iter().flat_map(|&(start, length)| start..start.saturating_add(length));
        let mut changed = false;
        for (byte, at) in bytes.iter().zip(places) {
            if let Some(slot) = space.get_mut(at as usize) {
                changed |= *slot != *byte;
                *slot = *byte;
            }
        }
        match changed {
            true => Written::Changed,
            false => Written::Unchanged,
        }
    }
}

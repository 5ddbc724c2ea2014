//! Differences in floats. If floats may be the cause of a difference, both modules are run once more, with an
//! interval for every float that an implementation may compute otherwise. Then the intervals in the final memory
//! are compared.
//!
//! Such a run is one interleaving, so it is meaningful only for modules that have one outcome each. It must end
//! with that outcome, and only float values may depend on floats.

mod outside;
mod quads;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::behaviour::{Behaviours, End, Outcome};
use crate::compare::{Comparison, Difference, Subject, ViolationKind};
use crate::dispatch::{Dispatch, Object};
use crate::event::{Access, Atomicity, UndefinedKind};
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{
    float_value, ulp, Interval, Invocation, ShadedMemory, Shades, SharedMemory, Stop, Written,
};
use crate::ir::image::Encoding;
use crate::ir::Program;
use crate::value::Byte;

pub(super) use outside::Permissions;

/// Instructions of a whole run.
const BUDGET: u64 = 4_000_000;

/// Instructions until the next invocation has its turn, so that spinning on another one ends.
const TURN: u64 = 4_096;

/// One side, as it was explored.
#[derive(Clone, Copy)]
pub(super) struct IntervalSide<'a> {
    pub program: &'a Program,
    pub dispatch: &'a Dispatch,
    pub behaviours: &'a Behaviours,
}

/// Which results of floats may stand for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tolerance {
    /// What the environment permits.
    Permitted,
    /// So many units in the last place.
    Units(u32),
}

/// What the intervals say of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Every result of after is one that before may have.
    Permitted,
    /// No permitted result explains it; for memory, where.
    Violates(Option<Difference>),
    /// Nothing.
    Unknown,
}

/// Judges the violation that the comparison found.
pub(super) fn judge(
    before: IntervalSide<'_>,
    after: IntervalSide<'_>,
    comparison: &Comparison,
    tolerance: Tolerance,
) -> Judgement {
    let Some(violation) = &comparison.violation else { return Judgement::Unknown };
    let Some(first) = only_outcome(before.behaviours).filter(|_| is_whole(before.behaviours)) else {
        return Judgement::Unknown;
    };
    let Some(seen_before) = run(before).filter(|seen| seen.fault.is_none()) else {
        return Judgement::Unknown;
    };
    let Some(seen_after) = run(after) else { return Judgement::Unknown };
    if seen_before.outcome(before.dispatch) != first.memory {
        return Judgement::Unknown;
    }
    match (violation.kind, violation.subject) {
        (ViolationKind::NewOutcome, Subject::Outcome(_)) => {
            let Some(second) = only_outcome(after.behaviours).filter(|_| is_whole(after.behaviours)) else {
                return Judgement::Unknown;
            };
            let traces = first.volatile.iter().chain(&second.volatile).all(Vec::is_empty);
            if !traces || seen_after.fault.is_some() || seen_after.outcome(after.dispatch) != second.memory {
                return Judgement::Unknown;
            }
            compare(before.dispatch, &seen_before, after.dispatch, &seen_after, tolerance)
        }
        (ViolationKind::NewUndefined, Subject::Undefined(index)) => {
            let found = after.behaviours.undefined.get(index).map(|(undefined, _)| undefined.kind);
            if found.is_some() && found == seen_after.fault {
                Judgement::Violates(None)
            } else {
                Judgement::Unknown
            }
        }
        // Who races does not hang on a float.
        (ViolationKind::NewRace, Subject::Undefined(_)) if seen_after.fault.is_none() => {
            Judgement::Violates(None)
        }
        (
            ViolationKind::NewHang
            | ViolationKind::VolatileTrace
            | ViolationKind::NewOutcome
            | ViolationKind::NewUndefined
            | ViolationKind::NewRace,
            Subject::Outcome(_) | Subject::Part(..) | Subject::Undefined(_),
        ) => Judgement::Unknown,
    }
}

/// Whether nothing was cut.
fn is_whole(behaviours: &Behaviours) -> bool {
    behaviours.complete && behaviours.bounded.is_none() && behaviours.stopped.is_none()
}

fn only_outcome(behaviours: &Behaviours) -> Option<&Outcome> {
    let [(outcome, _)] = &behaviours.outcomes[..] else { return None };
    (outcome.end == End::Terminated && behaviours.undefined.is_empty()).then_some(outcome)
}

/// What a run with intervals came to.
struct Seen {
    memory: PlainMemory,
    shades: ShadedMemory,
    /// The first fault, which ends the run.
    fault: Option<UndefinedKind>,
}

impl Seen {
    fn bytes(&self, dispatch: &Dispatch, object: usize) -> &[Byte] {
        let Some(object) = dispatch.objects.get(object) else { return &[] };
        let space = self.memory.spaces.get(object.memory as usize).map_or(&[][..], Vec::as_slice);
        space.get(..object.initial.len()).unwrap_or(space)
    }

    /// The observed memory, as the outcome has it.
    fn outcome(&self, dispatch: &Dispatch) -> Vec<Vec<Byte>> {
        let observed = (0..dispatch.objects.len()).filter(|index| dispatch.objects[*index].observed);
        observed.map(|index| self.bytes(dispatch, index).to_vec()).collect()
    }
}

/// Runs all invocations in turn; `None` where that cannot be followed, or more than floats hangs on
/// a float.
fn run(side: IntervalSide<'_>) -> Option<Seen> {
    if side.program.modes.floats.always_inexact.is_some() {
        return None;
    }
    run_widely(side)
}

/// The same, where intervals hold what RelaxedPrecision permits.
fn run_widely(side: IntervalSide<'_>) -> Option<Seen> {
    let IntervalSide { program, dispatch, .. } = side;
    if program.modes.floats.unbounded {
        return None;
    }
    let mut seen = Seen { memory: PlainMemory::new(dispatch), shades: ShadedMemory::default(), fault: None };
    let count = dispatch.places.len() as u32;
    let mut invocations: Vec<(Invocation, Shades, State)> = (0..count)
        .map(|index| (Invocation::new(program, dispatch, index), Shades::default(), State::Running))
        .collect();
    let mut budget = BUDGET;
    loop {
        let mut moved = false;
        for (invocation, shades, state) in &mut invocations {
            if *state != State::Running {
                continue;
            }
            moved = true;
            let turn = TURN.min(budget);
            let mut fuel = turn;
            let mut turn_of =
                TurnOf { side, invocation, shades: &mut *shades, seen: &mut seen, fuel: &mut fuel };
            *state = runner::drive(side.program, &mut turn_of, Decision::GoOn)?;
            if shades.depends.is_some() {
                return None;
            }
            if seen.fault.is_some() {
                return Some(seen);
            }
            budget = budget.checked_sub((turn - fuel).max(1))?;
        }
        if !moved && !quads::release(side, &mut invocations)? {
            // Everybody is at a barrier or done.
            let waiting = invocations.iter_mut().filter(|(_, _, state)| *state == State::Waiting);
            if waiting.map(|(_, _, state)| *state = State::Running).count() == 0 {
                return Some(seen);
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Waiting,
    /// At an operation of its subgroup.
    Together,
    Done,
}

/// A turn of one invocation.
struct TurnOf<'t> {
    side: IntervalSide<'t>,
    invocation: &'t mut Invocation,
    shades: &'t mut Shades,
    seen: &'t mut Seen,
    fuel: &'t mut u64,
}

impl Driver for TurnOf<'_> {
    type End = Option<State>;

    fn run(&mut self) -> Stop {
        let IntervalSide { program, dispatch, .. } = self.side;
        let Seen { memory, shades: shared, .. } = &mut *self.seen;
        self.invocation.run_shaded(program, dispatch, memory, self.shades, shared, self.fuel)
    }

    fn invocation(&mut self) -> &mut Invocation {
        self.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<Option<State>> {
        match stop {
            Stop::Barrier { .. } => Decision::End(Some(State::Waiting)),
            Stop::Subgroup { .. } => Decision::End(Some(State::Together)),
            Stop::Fence(_) | Stop::LoopEntry { .. } | Stop::Iteration { .. } => Decision::GoOn,
            Stop::OutOfFuel => Decision::End(Some(State::Running)),
            Stop::Finished => Decision::End(Some(State::Done)),
            Stop::Fault(fault) => {
                self.seen.fault = Some(fault.kind);
                Decision::End(Some(State::Done))
            }
            // What this memory does not settle, choices, and ends that are no outcome are not followed.
            _ => Decision::End(None),
        }
    }

    fn updated(&mut self, _: &[Byte], _: Vec<Byte>) -> Option<Option<State>> {
        Some(None)
    }
}

/// Memory that settles every access.
struct PlainMemory {
    /// Bytes of each location space, by its number.
    spaces: Vec<Vec<Byte>>,
    /// Location space and size of each object.
    objects: Vec<(u32, u32)>,
}

impl PlainMemory {
    fn new(dispatch: &Dispatch) -> Self {
        let place = |object: &Object| (object.memory, object.initial.len() as u32);
        PlainMemory {
            spaces: dispatch.initial_memory(),
            objects: dispatch.objects.iter().map(place).collect(),
        }
    }

    fn space(&mut self, object: u32) -> Option<&mut Vec<Byte>> {
        let (space, _) = *self.objects.get(object as usize)?;
        self.spaces.get_mut(space as usize)
    }
}

impl SharedMemory for PlainMemory {
    fn size(&self, object: u32) -> u32 {
        self.objects.get(object as usize).map_or(0, |(_, size)| *size)
    }

    fn read(&mut self, access: &Access, _: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        let Some(space) = self.space(access.object) else { return false };
        let bytes = access.ranges.iter().flat_map(|&(start, length)| start..start.saturating_add(length));
        for (slot, at) in out.iter_mut().zip(bytes) {
            *slot = space.get(at as usize).copied().unwrap_or(Byte::Undef);
        }
        true
    }

    fn write(&mut self, access: &Access, _: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        let Some(space) = self.space(access.object) else { return Written::Event };
        let places = access.ranges.iter().flat_map(|&(start, length)| start..start.saturating_add(length));
        for (byte, at) in bytes.iter().zip(places) {
            if let Some(slot) = space.get_mut(at as usize) {
                *slot = *byte;
            }
        }
        Written::Changed
    }
}

/// Compares the final memory of both, object by object.
fn compare(
    before: &Dispatch,
    seen_before: &Seen,
    after: &Dispatch,
    seen_after: &Seen,
    tolerance: Tolerance,
) -> Judgement {
    let keys = |dispatch: &Dispatch| -> BTreeMap<String, usize> {
        let observed = dispatch.objects.iter().enumerate().filter(|(_, object)| object.observed);
        observed.map(|(index, object)| (object.key.clone(), index)).collect()
    };
    let (of_before, of_after) = (keys(before), keys(after));
    if !of_before.keys().eq(of_after.keys()) {
        return Judgement::Unknown;
    }
    let mut judgement = Judgement::Permitted;
    for ((key, b), a) in of_before.iter().zip(of_after.values()) {
        let shades = |dispatch: &Dispatch, seen: &Seen, index: usize| -> BTreeMap<u32, (u32, Interval)> {
            let space = dispatch.objects[index].memory;
            seen.shades.of_space(space).map(|(start, bytes, interval)| (start, (bytes, interval))).collect()
        };
        let components = Components::of(&before.objects[*b]);
        let sides = [
            Memory {
                bytes: seen_before.bytes(before, *b),
                shades: shades(before, seen_before, *b),
                components,
            },
            Memory { bytes: seen_after.bytes(after, *a), shades: shades(after, seen_after, *a), components },
        ];
        match compare_object(&sides, tolerance) {
            Found::Permitted => {}
            Found::Differs(offset) => {
                return Judgement::Violates(Some(Difference { key: key.clone(), offset }));
            }
            Found::Unknown => judgement = Judgement::Unknown,
        }
    }
    judgement
}

/// The final contents of an object.
struct Memory<'a> {
    bytes: &'a [Byte],
    /// Bytes and interval of each float that may be another one, by its first byte.
    shades: BTreeMap<u32, (u32, Interval)>,
    components: Components,
}

/// What is in memory where an interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Components {
    Floats,
    /// Texels, with normalised components of so many bits.
    Normalised {
        signed: bool,
    },
}

impl Components {
    fn of(object: &Object) -> Self {
        match object.image.map(|layout| layout.format.encoding()) {
            Some(Encoding::Unorm(_)) => Components::Normalised { signed: false },
            Some(Encoding::Snorm(_)) => Components::Normalised { signed: true },
            None
            | Some(
                Encoding::Float(_)
                | Encoding::Sint(_)
                | Encoding::Uint(_)
                | Encoding::PackedFloat
                | Encoding::PackedUnorm
                | Encoding::PackedUint,
            ) => Components::Floats,
        }
    }

    /// The number that these bytes stand for; `None` where they are none.
    fn number(self, bytes: &[Byte]) -> Option<f64> {
        let width = u8::try_from(8 * bytes.len()).ok()?;
        let mut bits = 0;
        for (index, byte) in bytes.iter().enumerate() {
            match byte {
                Byte::Known(byte) => bits |= u64::from(*byte) << (8 * index),
                Byte::Undef => return None,
            }
        }
        match self {
            Components::Floats => float_value(width, bits),
            Components::Normalised { signed: false } => Some(bits as f64),
            Components::Normalised { signed: true } => {
                let unused = 64 - u32::from(width);
                Some((((bits << unused) as i64) >> unused) as f64)
            }
        }
    }

    /// The distance between numbers of so many bits around a magnitude.
    fn unit(self, width: u8, magnitude: f64) -> f64 {
        match self {
            Components::Floats => ulp(width, magnitude),
            Components::Normalised { .. } => 1.0,
        }
    }
}

enum Found {
    Permitted,
    Differs(usize),
    Unknown,
}

fn compare_object([before, after]: &[Memory<'_>; 2], tolerance: Tolerance) -> Found {
    if before.bytes.len() != after.bytes.len() {
        return Found::Unknown;
    }
    let mut covered = vec![false; before.bytes.len()];
    let mut found = Found::Permitted;
    let starts: std::collections::BTreeSet<u32> =
        before.shades.keys().chain(after.shades.keys()).copied().collect();
    for start in starts {
        let (b, a) = (before.shades.get(&start), after.shades.get(&start));
        let lengths = [b, a].map(|shade| shade.map(|(bytes, _)| *bytes));
        let length = lengths[0].or(lengths[1]).unwrap_or(0) as usize;
        let range = start as usize..start as usize + length;
        let Some(slots) = covered.get_mut(range.clone()) else { return Found::Unknown };
        let alike = lengths.iter().flatten().all(|other| *other as usize == length);
        if !alike || slots.contains(&true) {
            return Found::Unknown;
        }
        slots.fill(true);
        match compare_float(before, after, range, [b, a].map(|shade| shade.map(|(_, it)| *it)), tolerance) {
            Found::Permitted => {}
            Found::Differs(offset) => return Found::Differs(offset),
            Found::Unknown => found = Found::Unknown,
        }
    }
    let exact = before
        .bytes
        .iter()
        .zip(after.bytes)
        .zip(&covered)
        .position(|((b, a), covered)| !covered && *b != Byte::Undef && b != a);
    exact.map_or(found, Found::Differs)
}

fn compare_float(
    before: &Memory<'_>,
    after: &Memory<'_>,
    range: std::ops::Range<usize>,
    [b, a]: [Option<Interval>; 2],
    tolerance: Tolerance,
) -> Found {
    let bytes = [&before.bytes[range.clone()], &after.bytes[range.clone()]];
    if bytes[0] == bytes[1] || bytes[0].iter().all(|byte| *byte == Byte::Undef) {
        return Found::Permitted;
    }
    let width = 8 * range.len() as u8;
    let [old, new] =
        [(before, bytes[0]), (after, bytes[1])].map(|(side, bytes)| side.components.number(bytes));
    let (Some(old), Some(new)) = (old, new) else {
        return Found::Unknown;
    };
    if let Tolerance::Units(units) = tolerance {
        let near =
            (old - new).abs() <= f64::from(units) * before.components.unit(width, old.abs().max(new.abs()));
        return if near || old.is_nan() && new.is_nan() {
            Found::Permitted
        } else {
            Found::Differs(range.start)
        };
    }
    let (b, a) = (b.unwrap_or(Interval::point(old)), a.unwrap_or(Interval::point(new)));
    if b.is_disjoint(a) {
        Found::Differs(range.start)
    } else if b.is_any() || a.is_any() || !b.contains(new) {
        Found::Unknown
    } else {
        Found::Permitted
    }
}

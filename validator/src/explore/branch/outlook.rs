//! What an invocation may still write, whatever it reads from others.
//!
//! A read waits, or speculates, for what others write later. That an instruction which was seen to write there can still
//! be reached says little where its address changes: a probe of a table that has gone past a slot does not come back.
//! So the invocation is run by itself, from where it stands: what others may write is undefined, branches on that go
//! every way, and a state that was there before is not followed again. What others were never seen to share has the
//! contents that it has; where a round finds that it is shared the next one knows, and writes that only cycles come to
//! are looked for at the end ([`hidden_writers`](crate::explore::hidden_writers)).
//! Where that is too much to follow, or leads to undefined behaviour,
//! nothing is known, and the invocation may write whatever its instructions may.

use std::hash::Hash;
use std::sync::{Arc, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::event::Access;
use crate::explore::branch::outlooks::{Outlook, Values, Writes};
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::{Found, Round, State, Status};
use crate::explore::step::run;
use crate::interp::Stop;
use crate::model::graph::{Event, Kind, Source, Unit, UnitBytes};
use crate::value::Byte;

/// States that are followed, and instructions of them all.
const MAX_STATES: usize = 256;

const MAX_INSTRUCTIONS: u64 = 1 << 15;

/// Values of a unit that are told apart.
const MAX_VALUES: usize = 16;

/// Whether an invocation that stands at a read may still write a unit, as far as a run by itself tells; `value`, if
/// there is one.
pub(crate) fn is_in_outlook(
    round: &Round,
    state: &State,
    index: usize,
    unit: Unit,
    value: Option<&UnitBytes>,
) -> bool {
    let Some(outlook) = outlook(round, state, index) else { return true };
    let Some(writes) = &*outlook else { return true };
    let Some(Writes { values, .. }) = writes.get(&unit) else { return false };
    value.is_none_or(|value| values.as_ref().is_none_or(|values| values.contains(value)))
}

/// Whether an invocation that writes a unit by compare-exchanges alone may still find there what they compare it
/// with. What an update has read no other one does.
pub(crate) fn may_exchange(round: &Round, state: &State, index: usize, unit: Unit) -> bool {
    // Without the axioms two updates may read the same write.
    if !round.context.settings.axioms {
        return true;
    }
    let outlook = outlook(round, state, index);
    let Some(Some(writes)) = outlook.as_deref() else { return true };
    let Some(Writes { needs, .. }) = writes.get(&unit) else { return false };
    let Some(needs) = needs else { return true };
    let mut events = state.graph.events.iter().filter(|event| event.units.contains(&unit));
    if !events.all(|event| event.atomic && event.scope >= round.context.everybody) {
        return true;
    }
    let sources = (0..).zip(&state.graph.events).filter(|(_, event)| event.written_to(unit).is_some());
    let sources = sources.map(|(id, _)| Source::Event(id));
    std::iter::once(Source::Initial).chain(sources).any(|source| {
        let len = round.knowledge.unit_len(unit) as usize;
        let value = accesses::source_bytes(state, round.knowledge, unit, len, source);
        let may_equal = needs.contains(&value) || value.contains(&Byte::Undef);
        may_equal && !state.graph.events.iter().any(|event| is_update_of(event, unit, source))
    })
}

/// What an invocation may still write; `None` where it does not stand at a read, or its state is not told from others.
fn outlook(round: &Round, state: &State, index: usize) -> Option<Arc<Outlook>> {
    let thread = &state.threads[index];
    // What a run requires of a value it may not require of another.
    if round.context.may_discard || !matches!(thread.status, Status::Reading { .. }) || thread.fault.is_some()
    {
        return None;
    }
    let number = number(round, state, index)?;
    let known = || round.outlooks.known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(outlook) = known().get(&number) {
        return Some(outlook.clone());
    }
    let outlook = Arc::new(look_out(round, state, index));
    known().insert(number, outlook.clone());
    Some(outlook)
}

/// What the outlook of an invocation hangs on.
fn number(round: &Round, state: &State, index: usize) -> Option<u128> {
    let thread = &state.threads[index];
    let at = thread.at.get_or_init(|| {
        let mut hasher = SipHasher13::new();
        let is_told = thread.invocation.hash_future(&round.context.pauses, false, &mut hasher);
        is_told.then(|| hasher.finish128().as_u128())
    });
    let mut hasher = SipHasher13::new();
    (index, (*at)?).hash(&mut hasher);
    state.contents.hash_future(&mut hasher);
    Some(hasher.finish128().as_u128())
}

/// Runs an invocation that stands at a read by itself.
fn look_out(round: &Round, state: &State, index: usize) -> Outlook {
    let mut found = Found::default();
    let outlook = run_alone(round, state, index, &mut found);
    let mut touched = round.outlooks.touched.lock().unwrap_or_else(PoisonError::into_inner);
    touched.merge(found.discoveries.touched);
    outlook
}

fn run_alone(round: &Round, state: &State, index: usize, found: &mut Found) -> Outlook {
    let mut first = state.without_graph();
    first.fuel = MAX_INSTRUCTIONS;
    let mut run = Run { index, writes: FxHashMap::default(), rest: Vec::new() };
    answer_with_anything(round, &mut run, first)?;
    let mut known = FxHashSet::default();
    let mut fuel = MAX_INSTRUCTIONS;
    while let Some(mut simulation) = run.rest.pop() {
        let number = number(round, &simulation, index)?;
        if !known.insert(number) {
            continue;
        }
        if known.len() > MAX_STATES {
            return None;
        }
        simulation.fuel = fuel;
        let stop = run::run_invocation(round, &mut simulation, index, found);
        fuel = simulation.fuel;
        if simulation.threads[index].invocation.is_lost() {
            return None;
        }
        match stop {
            Stop::Read(access) => {
                let status = Status::Reading { access: Arc::new(access), atomic: None, may_write: false };
                simulation.threads[index].status = status;
                answer_with_anything(round, &mut run, simulation)?;
            }
            Stop::AtomicRead { access, atomicity, may_write } => {
                let atomic = Some(atomicity);
                simulation.threads[index].status =
                    Status::Reading { access: Arc::new(access), atomic, may_write };
                answer_with_anything(round, &mut run, simulation)?;
            }
            Stop::Write(access, bytes) | Stop::AtomicWrite { access, bytes, .. } => {
                let spans = spans(round, &access)?;
                run.note(&spans, &bytes, None);
                write_beside(round, &mut simulation, index, &access, &bytes, found)?;
                run.rest.push(simulation);
            }
            Stop::Choose { ways, .. } if ways as usize <= MAX_STATES => {
                for way in 0..ways {
                    let mut child = simulation.clone();
                    Arc::make_mut(&mut child.threads[index].invocation).choose(way);
                    run.rest.push(child);
                }
            }
            Stop::Fence(_) | Stop::Device(..) | Stop::LoopEntry { .. } | Stop::Iteration { .. } => {
                run.rest.push(simulation)
            }
            Stop::Finished => {}
            // Behind a barrier memory without events has what others wrote.
            Stop::Barrier { .. }
            | Stop::Choose { .. }
            | Stop::Discarded
            | Stop::Forever { .. }
            | Stop::Subgroup { .. }
            | Stop::Fault(_)
            | Stop::OutOfFuel
            | Stop::Unsupported { .. } => return None,
        }
    }
    Some(run.writes)
}

/// Goes on behind the read at which a simulation stands, whatever it reads.
fn answer_with_anything(round: &Round, run: &mut Run, mut simulation: State) -> Option<()> {
    let status = simulation.threads[run.index].status.clone();
    let Status::Reading { access, atomic, may_write } = &status else { return None };
    let spans = spans(round, access)?;
    let len: u32 = access.ranges.iter().map(|(_, len)| len).sum();
    let mut bytes = vec![Byte::Undef; len as usize];
    let mut found = Found::default();
    let memory = round.context.dispatch.objects.get(access.object as usize)?.memory;
    if simulation.contents.declare(access, memory, *may_write).is_some() {
        return None;
    }
    let by = run::by(round, run.index, atomic.is_some());
    simulation.read_unshared(access, memory, by, &mut found.discoveries, &mut bytes);
    simulation.threads[run.index].status = Status::Running;
    let program = round.context.program;
    if atomic.is_none() {
        Arc::make_mut(&mut simulation.threads[run.index].invocation).supply(program, &bytes);
        run.rest.push(simulation);
        return Some(());
    }
    let is_wide = atomic.as_ref().is_some_and(|atomic| atomic.scope >= round.context.everybody);
    let ways = simulation.threads[run.index].invocation.atomic_ways(program, &bytes);
    for way in 0..ways {
        let mut child = simulation.clone();
        let invocation = Arc::make_mut(&mut child.threads[run.index].invocation);
        if ways > 1 {
            invocation.choose(way);
        }
        let comparator = invocation.comparator(program).filter(|_| is_wide);
        let written = invocation.supply_atomic(program, &bytes);
        if let Some(written) = written {
            run.note(&spans, &written, comparator.as_deref());
            write_beside(round, &mut child, run.index, access, &written, &mut found)?;
        }
        run.rest.push(child);
    }
    Some(())
}

fn spans(round: &Round, access: &Access) -> Option<UnitSpans> {
    let memory = round.context.dispatch.objects.get(access.object as usize)?.memory;
    accesses::units_of(access, memory, round.knowledge, |_| {})
}

/// Writes what of an access is no event.
fn write_beside(
    round: &Round,
    simulation: &mut State,
    index: usize,
    access: &Access,
    bytes: &[Byte],
    found: &mut Found,
) -> Option<()> {
    let memory = round.context.dispatch.objects.get(access.object as usize)?.memory;
    let by = run::by(round, index, true);
    simulation.write_unshared(access, memory, by, &mut found.discoveries, bytes);
    Some(())
}

/// A run of an invocation by itself.
struct Run {
    index: usize,
    writes: FxHashMap<Unit, Writes>,
    /// States that are still to be followed.
    rest: Vec<State>,
}

impl Run {
    /// Notes what an access writes, and with what it compares what it reads.
    fn note(&mut self, spans: &UnitSpans, bytes: &[Byte], comparator: Option<&[Byte]>) {
        let mut needed = comparator.map(|comparator| accesses::split_bytes(spans, comparator));
        for ((unit, _), value) in spans.iter().zip(accesses::split_bytes(spans, bytes)) {
            let writes = self.writes.entry(*unit).or_default();
            add(&mut writes.values, Some(value));
            add(&mut writes.needs, needed.as_mut().and_then(Iterator::next));
        }
    }
}

/// Adds a value that is known.
fn add(values: &mut Values, value: Option<UnitBytes>) {
    let is_known = value.as_ref().is_some_and(|value| !value.contains(&Byte::Undef));
    match (values.as_mut(), value) {
        (Some(known), Some(value)) if is_known && known.contains(&value) => {}
        (Some(known), Some(value)) if is_known && known.len() < MAX_VALUES => known.push(value),
        _ => *values = None,
    }
}

/// Whether an event reads a unit from there and writes it.
fn is_update_of(event: &Event, unit: Unit, source: Source) -> bool {
    let position = event.units.iter().position(|other| *other == unit);
    event.kind == Kind::Update && position.is_some_and(|at| event.sources.get(at) == Some(&source))
}

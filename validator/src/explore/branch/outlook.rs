//! Outlook: what an invocation may still write, whatever it reads from others.
//!
//! A read waits for a write, or speculates one, only if some invocation may still perform it. That an instruction which
//! once wrote there can still be reached says little if its address changes. For example, an insertion into a hash
//! table that has gone past a slot does not return to it. So the invocation is run by itself from where it stands. What
//! others may write is undefined, branches on it go every way, and a state that was there before is not followed again.
//! Memory that was never seen to be shared has its present contents. If a round finds that such memory is shared, the
//! next round knows, and writes that only cycles reach are looked for at the end
//! ([`hidden_writers`](crate::explore::hidden_writers)). If there is too much to follow, or a run leads to undefined
//! behaviour, nothing is concluded, and the invocation may write whatever its instructions may write.

use std::hash::Hash;
use std::sync::{Arc, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use siphasher::sip128::{Hasher128, SipHasher13};

use crate::event::Access;
use crate::explore::facts::discoveries::Discoveries;
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::outlooks::{Outlook, Values, Writes};
use crate::explore::state::{Found, Round, State, Status};
use crate::explore::step::run;
use crate::interp::runner::{self, Decision, Driver};
use crate::interp::{Invocation, Stop};
use crate::model::graph::{Event, Kind, Source, Unit, UnitBytes};
use crate::value::Byte;

/// The number of states that are followed, and of instructions in all of them.
const MAX_STATES: usize = 256;

const MAX_INSTRUCTIONS: u64 = 1 << 15;

/// The number of values of a unit that are distinguished.
const MAX_VALUES: usize = 16;

/// Whether an invocation that stands at a read may still write a unit, as far as its outlook shows. If there is a
/// `value`, it must write that value.
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

/// Whether an invocation that writes a unit only by compare-exchanges may still find there what they compare it with. A
/// value that an update has read is not read by another one.
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
    if !events.all(|event| event.atomic && event.scope >= round.context.widest_scope) {
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

/// What an invocation may still write. It is `None` if the invocation does not stand at a read, or if its state cannot
/// be expressed as a number.
fn outlook(round: &Round, state: &State, index: usize) -> Option<Arc<Outlook>> {
    let thread = &state.threads[index];
    // A litmus test may require a value of one run that it does not require of another one.
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

/// A number for what the outlook of an invocation depends on.
fn number(round: &Round, state: &State, index: usize) -> Option<u128> {
    let thread = &state.threads[index];
    let at = thread.at.get_or_init(|| {
        let mut hasher = SipHasher13::new();
        let is_comparable = thread.invocation.hash_future(&round.context.pauses, false, &mut hasher);
        is_comparable.then(|| hasher.finish128().as_u128())
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
    let mut run = Run {
        round,
        index,
        writes: FxHashMap::default(),
        rest: Vec::new(),
        known: FxHashSet::default(),
        fuel: MAX_INSTRUCTIONS,
        found,
    };
    run.answer_with_anything(state.without_graph())?;
    while let Some(mut way) = run.rest.pop() {
        let first = std::mem::replace(&mut way.first, Decision::GoOn);
        let mut following = Following { run: &mut run, way };
        if let Some(status) = runner::drive(round.context.program, &mut following, first)? {
            let mut simulation = following.way.simulation;
            simulation.threads[index].status = status;
            run.answer_with_anything(simulation)?;
        }
    }
    Some(run.writes)
}

/// One way of an invocation that runs by itself.
struct Way {
    simulation: State,
    /// How it continues.
    first: Decision<Option<Option<Status>>>,
    /// The atomic instruction at which it then stands.
    stands_at: Option<Arc<Standing>>,
}

/// What an atomic instruction accesses, and with what a compare-exchange compares that.
struct Standing {
    access: Arc<Access>,
    spans: UnitSpans,
    comparator: Option<Vec<Byte>>,
}

/// Follows a way to its end, to the next stop with several ways, or to a state from which another way was followed. It
/// ends with the read at which the invocation stands, if there is one. It ends with `None` if there is too much to
/// follow; that ends all ways.
struct Following<'r, 's, 'a> {
    run: &'r mut Run<'s, 'a>,
    way: Way,
}

impl Driver for Following<'_, '_, '_> {
    type End = Option<Option<Status>>;

    fn run(&mut self) -> Stop {
        let Following { run, way } = self;
        match run.is_new(&way.simulation) {
            Some(true) => {}
            Some(false) => return Stop::Finished,
            None => return Stop::OutOfFuel,
        }
        way.simulation.fuel = run.fuel;
        let stop = run::run_invocation(run.round, &mut way.simulation, run.index, run.found);
        run.fuel = way.simulation.fuel;
        stop
    }

    fn invocation(&mut self) -> &mut Invocation {
        Arc::make_mut(&mut self.way.simulation.threads[self.run.index].invocation)
    }

    fn decide(&mut self, stop: Stop) -> Decision<Option<Option<Status>>> {
        let reads = |access, atomic, may_write| {
            Decision::End(Some(Some(Status::Reading { access: Arc::new(access), atomic, may_write })))
        };
        if self.way.simulation.threads[self.run.index].invocation.is_lost() {
            return Decision::End(None);
        }
        match stop {
            Stop::Read(access) => reads(access, None, false),
            Stop::AtomicRead { access, atomicity, may_write } => reads(access, Some(atomicity), may_write),
            Stop::Write(access, bytes) | Stop::AtomicWrite { access, bytes, .. } => {
                let Some(spans) = spans(self.run.round, &access) else { return Decision::End(None) };
                self.run.note(&spans, &bytes, None);
                match self.run.write_beside(&mut self.way.simulation, &access, &bytes) {
                    Some(()) => Decision::GoOn,
                    None => Decision::End(None),
                }
            }
            Stop::Choose { ways, .. } if ways as usize <= MAX_STATES => {
                let way = |way| Way {
                    simulation: self.way.simulation.clone(),
                    first: Decision::Choose(way),
                    stands_at: None,
                };
                self.run.rest.extend((0..ways).map(way));
                Decision::End(Some(None))
            }
            Stop::Fence(_) | Stop::Device(..) | Stop::LoopEntry { .. } | Stop::Iteration { .. } => {
                Decision::GoOn
            }
            Stop::Finished => Decision::End(Some(None)),
            // Behind a barrier memory without events has what others wrote. Nothing is known behind other stops, either.
            _ => Decision::End(None),
        }
    }

    fn updated(&mut self, _: &[Byte], written: Vec<Byte>) -> Option<Option<Option<Status>>> {
        let standing = self.way.stands_at.take()?;
        self.run.note(&standing.spans, &written, standing.comparator.as_deref());
        match self.run.write_beside(&mut self.way.simulation, &standing.access, &written) {
            Some(()) => None,
            None => Some(None),
        }
    }
}

fn spans(round: &Round, access: &Access) -> Option<UnitSpans> {
    let memory = round.context.dispatch.objects.get(access.object as usize)?.memory;
    accesses::units_of(access, memory, round.knowledge, |_| {})
}

/// A run of an invocation by itself, along all its ways.
struct Run<'s, 'a> {
    round: &'s Round<'a>,
    index: usize,
    writes: FxHashMap<Unit, Writes>,
    /// The ways that are still to be followed.
    rest: Vec<Way>,
    /// The states that were followed, as numbers.
    known: FxHashSet<u128>,
    fuel: u64,
    found: &'s mut Found,
}

impl Run<'_, '_> {
    /// Whether a state is to be followed. It is `None` if there is too much to follow.
    fn is_new(&mut self, simulation: &State) -> Option<bool> {
        let is_new = self.known.insert(number(self.round, simulation, self.index)?);
        (!is_new || self.known.len() <= MAX_STATES).then_some(is_new)
    }

    /// Continues after the read at which a simulation stands, whatever the read takes.
    fn answer_with_anything(&mut self, mut simulation: State) -> Option<()> {
        let Run { round, index, .. } = *self;
        let program = round.context.program;
        let status = std::mem::replace(&mut simulation.threads[index].status, Status::Running);
        let Status::Reading { access, atomic, may_write } = status else { return None };
        let spans = spans(round, &access)?;
        let len: u32 = access.ranges.iter().map(|(_, len)| len).sum();
        let mut bytes = vec![Byte::Undef; len as usize];
        let memory = round.context.dispatch.objects.get(access.object as usize)?.memory;
        if simulation.contents.declare(&access, memory, may_write).is_some() {
            return None;
        }
        let by = run::by(round, index, atomic.is_some());
        simulation.read_unshared(&access, memory, by, &mut Discoveries::default(), &mut bytes);
        let Some(atomicity) = atomic else {
            self.rest.push(Way { simulation, first: Decision::Read(bytes), stands_at: None });
            return Some(());
        };
        let is_wide = atomicity.scope >= round.context.widest_scope;
        let invocation = &simulation.threads[index].invocation;
        let comparator = invocation.comparator(program).filter(|_| is_wide);
        let ways = invocation.atomic_ways(program, &bytes);
        let standing = Arc::new(Standing { access, spans, comparator });
        let way = |way| Way {
            simulation: simulation.clone(),
            first: Decision::AtomicRead { bytes: bytes.clone(), way: (ways > 1).then_some(way) },
            stands_at: Some(standing.clone()),
        };
        self.rest.extend((0..ways).map(way));
        Some(())
    }

    /// Writes those bytes of an access that are no event.
    fn write_beside(&self, simulation: &mut State, access: &Access, bytes: &[Byte]) -> Option<()> {
        let memory = self.round.context.dispatch.objects.get(access.object as usize)?.memory;
        let by = run::by(self.round, self.index, true);
        simulation.write_unshared(access, memory, by, &mut Discoveries::default(), bytes);
        Some(())
    }

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

/// Adds a value. An unknown value stands for all values.
fn add(values: &mut Values, value: Option<UnitBytes>) {
    let is_known = value.as_ref().is_some_and(|value| !value.contains(&Byte::Undef));
    match (values.as_mut(), value) {
        (Some(known), Some(value)) if is_known && known.contains(&value) => {}
        (Some(known), Some(value)) if is_known && known.len() < MAX_VALUES => known.push(value),
        _ => *values = None,
    }
}

/// Whether an event reads a unit from this source and writes it.
fn is_update_of(event: &Event, unit: Unit, source: Source) -> bool {
    let position = event.units.iter().position(|other| *other == unit);
    event.kind == Kind::Update && position.is_some_and(|at| event.sources.get(at) == Some(&source))
}

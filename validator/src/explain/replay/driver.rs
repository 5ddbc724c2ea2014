//! One invocation of a replay, from stop to stop.

use std::sync::Arc;

use super::{Kin, Replayer, Until};
use crate::behaviour::Undefined;
use crate::event::{Access, Atomicity, InstanceName, Scope};
use crate::explain::account::{Bound, Ended, LastRead};
use crate::explain::Side;
use crate::explore::events::{device_event, fence_event};
use crate::interp::runner::{Decision, Driver};
use crate::interp::{Invocation, Stop};
use crate::model::graph::{Event, Kind};
use crate::value::Byte;

/// Instructions of one invocation.
const FUEL: u64 = 1_000_000;
/// Instructions of all invocations together.
pub(super) const FUEL_OF_ALL: u64 = 1 << 25;
/// Events of one invocation that the witness does not have: it is in a loop that waits for something else.
const MAX_UNMATCHED: u32 = 8;
/// Stops of one invocation.
const MAX_STOPS: usize = 1_000;
/// The same on the witness's own module.
const MAX_STOPS_OF_OWN: usize = 100_000;

/// An invocation of before, as far as it came.
pub(super) struct Run {
    pub(super) agent: u32,
    pub(super) invocation: Invocation,
    /// How it ended; where it goes on, how it would have.
    pub(super) ended: Ended,
    pub(super) fuel: u64,
    pub(super) stops: usize,
    /// Events that the witness does not have: reads, and where it hangs all of them.
    pub(super) unmatched: u32,
    /// The bound at which it is given up.
    pub(super) given_up: Option<Bound>,
    /// Turns of loops that act on others.
    pub(super) turns: u32,
    /// How it began one of them, and how many changes of memory and events of the witness there had been.
    pub(super) arrival: Option<((u64, usize), Invocation)>,
    pub(super) barriers: u32,
    /// What the atomic instruction accesses that it stands at.
    pub(super) stands_at: Option<Access>,
    /// The operation that it stands at, and whose invocations act together there.
    pub(super) waits_at: Option<(InstanceName, Scope)>,
    /// The barrier at which it stands and from which it may go on.
    pub(super) at_barrier: Option<(InstanceName, Scope)>,
    /// It goes on when all others stand somewhere.
    pub(super) goes_on: bool,
}

impl Run {
    /// In front of its first instruction.
    pub(super) fn of(agent: u32, side: Side<'_>, goes_on: bool) -> Self {
        Run {
            agent,
            invocation: Invocation::new(side.program, side.dispatch, agent),
            ended: Ended::Unknown,
            fuel: FUEL,
            stops: 0,
            unmatched: 0,
            given_up: None,
            turns: 0,
            arrival: None,
            barriers: 0,
            stands_at: None,
            waits_at: None,
            at_barrier: None,
            goes_on,
        }
    }
}

/// One invocation on its way.
pub(super) struct Replaying<'r, 'a> {
    pub(super) replayer: &'r mut Replayer<'a>,
    pub(super) run: &'r mut Run,
}

impl Replaying<'_, '_> {
    /// What a read gives; none where the invocation waits there.
    fn read(&mut self, access: &Access, atomicity: Option<&Atomicity>) -> Option<Vec<Byte>> {
        let Replaying { replayer, run } = self;
        let event = replayer.access(run.agent, Kind::Read, access, atomicity);
        let is_shared = !event.units.is_empty();
        let (id, bytes) = replayer.read(event, access);
        let is_unmatched = replayer.of_after[id].is_none();
        run.unmatched += u32::from(is_unmatched);
        let waits = replayer.kin == Kin::OwnThatHangs && is_unmatched && is_shared;
        let program = replayer.before.program;
        let place = access.ranges.first().map(|(offset, _)| (access.object, *offset));
        let line = run.invocation.instruction(program).map(|inst| inst.line);
        if let Some((place, line)) = place.zip(line) {
            let loop_line = run.invocation.loop_line(program);
            let bytes =
                if waits { replayer.lasting(id, access, place, &run.ended) } else { Some(bytes.clone()) };
            run.ended = Ended::Waits(Some(LastRead { line, loop_line, place, bytes }));
        }
        (!waits).then_some(bytes)
    }

    fn push(&mut self, event: Event) {
        self.replayer.push(event);
        let is_unmatched = self.replayer.of_after.last().is_some_and(Option::is_none);
        self.run.unmatched += u32::from(is_unmatched && self.replayer.kin == Kin::OwnThatHangs);
    }

    /// Whether it has come back to where it was, with nothing changed since.
    fn repeats(&mut self) -> bool {
        let Replaying { replayer, run } = self;
        if replayer.kin != Kin::OwnThatHangs {
            return false;
        }
        run.turns += 1;
        let now = (replayer.memory.changes, replayer.used.len());
        let is_same = |(then, earlier): &(_, Invocation)| {
            *then == now && earlier.same_state(&run.invocation, replayer.before.program)
        };
        let repeats = run.arrival.as_ref().is_some_and(is_same);
        // So each cycle of turns is found in at most three times as many (Brent).
        if run.turns.is_power_of_two() {
            run.arrival = Some((now, run.invocation.clone()));
        }
        repeats
    }

    /// It goes on like this for ever.
    fn waits(&mut self) {
        if !matches!(self.run.ended, Ended::Waits(_)) {
            self.run.ended = Ended::Waits(None);
        }
    }
}

impl Driver for Replaying<'_, '_> {
    type End = ();

    fn run(&mut self) -> Stop {
        let Replayer { before: Side { program, dispatch }, memory, tracer, kin, left, is_over, .. } =
            &mut *self.replayer;
        let Run { agent, invocation, fuel, stops, unmatched, given_up, .. } = &mut *self.run;
        let most = if *kin == Kin::Other { MAX_STOPS } else { MAX_STOPS_OF_OWN };
        if *stops == most {
            *given_up = Some(Bound::Stops(most));
        }
        if given_up.is_some() || *unmatched > MAX_UNMATCHED || is_over() {
            return Stop::OutOfFuel;
        }
        *stops += 1;
        let allowed = (*fuel).min(*left);
        let mut unused = allowed;
        let mut stop = Stop::OutOfFuel;
        while tracer.watches(*agent) && unused > 0 && matches!(stop, Stop::OutOfFuel) {
            if tracer.records() == Some(*agent) && memory.take_write_of(*agent) {
                tracer.mark();
            }
            tracer.note(*agent, program, invocation);
            unused -= 1;
            stop = invocation.run(program, dispatch, memory, &mut 1);
        }
        if matches!(stop, Stop::OutOfFuel) {
            stop = invocation.run(program, dispatch, memory, &mut unused);
        }
        *fuel -= allowed - unused;
        *left -= allowed - unused;
        if matches!(stop, Stop::OutOfFuel) {
            let of_one =
                if *fuel == 0 { Bound::Instructions(FUEL) } else { Bound::InstructionsOfAll(FUEL_OF_ALL) };
            *given_up = Some(of_one);
        }
        stop
    }

    fn invocation(&mut self) -> &mut Invocation {
        &mut self.run.invocation
    }

    fn decide(&mut self, stop: Stop) -> Decision<()> {
        let agent = self.run.agent;
        match stop {
            Stop::Read(access) => {
                return self.read(&access, None).map_or(Decision::End(()), Decision::Read);
            }
            Stop::AtomicRead { access, atomicity, .. } => {
                let Some(bytes) = self.read(&access, Some(&atomicity)) else { return Decision::End(()) };
                let ways = self.run.invocation.atomic_ways(self.replayer.before.program, &bytes);
                self.run.stands_at = Some(access);
                return Decision::AtomicRead { bytes, way: (ways > 1).then_some(0) };
            }
            Stop::Write(access, bytes) => {
                let event = self.replayer.write(agent, &access, None, &bytes);
                self.push(event);
            }
            Stop::AtomicWrite { access, atomicity, bytes } => {
                let event = self.replayer.write(agent, &access, Some(&atomicity), &bytes);
                self.push(event);
            }
            Stop::Fence(fence) => self.push(fence_event(agent, Kind::Fence, &fence)),
            Stop::Device(operation, fence) => self.push(device_event(agent, operation, &fence)),
            Stop::Barrier { execution, fence, name, line, .. } => {
                let kind = Kind::Barrier { instance: self.run.barriers, execution };
                self.push(fence_event(agent, kind, &fence));
                self.replayer.met = true;
                self.run.barriers += 1;
                self.run.ended = Ended::Barrier(line);
                let is_matched = self.replayer.of_after.last().is_some_and(Option::is_some);
                match self.replayer.kin {
                    Kin::Other => self.run.goes_on = true,
                    Kin::Own => self.run.at_barrier = Some((name, execution)),
                    Kin::OwnThatHangs => self.run.goes_on = is_matched,
                }
                return Decision::End(());
            }
            Stop::Subgroup { name, scope, .. } => {
                self.replayer.met = true;
                self.run.waits_at = Some((name, scope));
                return Decision::End(());
            }
            Stop::Choose { ways, .. } => {
                self.replayer.chose |= ways > 1;
                return Decision::Choose(self.replayer.way.min(ways.saturating_sub(1)));
            }
            Stop::Iteration { .. } if self.repeats() => {
                self.waits();
                return Decision::End(());
            }
            Stop::LoopEntry { .. } | Stop::Iteration { .. } => {}
            // An explanation does with the events up to here.
            Stop::Finished => {
                self.run.ended = Ended::Finished;
                return Decision::End(());
            }
            Stop::Fault(fault) => {
                if let Until::Undefined(wanted) = self.replayer.until {
                    self.replayer.is_done |= Undefined::from(fault.clone()) == *wanted;
                }
                self.run.ended = Ended::Fault(fault);
                return Decision::End(());
            }
            Stop::OutOfFuel => {
                match (self.run.given_up, self.replayer.kin) {
                    (Some(bound), _) => self.run.ended = Ended::Cut(bound),
                    (None, Kin::Other | Kin::OwnThatHangs) => self.waits(),
                    // The witness ends before it comes there.
                    (None, Kin::Own) => self.run.ended = Ended::Unknown,
                }
                return Decision::End(());
            }
            Stop::Forever { .. } => {
                self.waits();
                return Decision::End(());
            }
            Stop::Discarded | Stop::Unsupported { .. } => {
                self.run.ended = Ended::Unknown;
                return Decision::End(());
            }
        }
        Decision::GoOn
    }

    fn updated(&mut self, _: &[Byte], written: Vec<Byte>) -> Option<()> {
        let access = self.run.stands_at.take()?;
        let Replayer { units, graph, .. } = &mut *self.replayer;
        if let Some(event) = graph.events.last_mut().map(Arc::make_mut) {
            event.kind = Kind::Update;
            event.written = units.bytes(&event.units, &access, &written);
        }
        self.replayer.memory.set(&access, &written);
        None
    }
}

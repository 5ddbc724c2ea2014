//! Endless runs (docs/semantics.md, section 3.2). Under fair progress one is a lasso: a finite execution, and a segment that
//! repeats.
//!
//! Who only reads in its turns waits at the first read of one ([`spin`](super::spin)). When nobody else goes on, each
//! who waits takes one more turn, in which reads see only the latest writes: every write becomes visible in the end,
//! so that no read of the segment stays from-reads-before a write. Where all come back to where they waited, the turn may
//! be repeated for ever: reads that are from-reads-before nothing close no cycle, however often they are done.
//!
//! Who writes in its turns has come to a segment when all who took part since have the same states again, and every
//! location has the same latest values. It then stays in that: its segment is put behind the graph once more when
//! the path is known to be a hang, with sources that move on by one turn, and the model is asked.

use std::collections::BTreeSet;
use std::sync::Arc;

use smallvec::SmallVec;

use super::excuse::Exit;
use super::found::Found;
use super::resolve::for_each_assignment;
use super::search::{Advanced, Search};
use super::segment::Segment;
use super::spin::{arrivals_without_accesses, own_events};
use super::state::{self, Arrival, Pending, State, Status, Threads};
use super::tangles::Released;
use crate::behaviour::{PathEnd, VolatileAccess};
use crate::interp::Invocation;
use crate::ir::InstId;
use crate::model::graph::{EventId, Source, Unit, UnitBytes};
use crate::value::Byte;

/// Where everybody stood when it was supposed that they wait for ever.
#[derive(Clone)]
pub(super) struct Closing {
    /// The events from here on are those of the turn that closes the run.
    pub(super) events: EventId,
    threads: Vec<Start>,
}

#[derive(Clone)]
struct Start {
    /// Where it waits; `None` where it is over.
    at: Option<InstId>,
    /// It waits for a write that is not its loop's to go without.
    is_blocked: bool,
    trace: Arc<Vec<VolatileAccess>>,
    /// How often it came to the header of its loop since then, and how many of these turns were whole: without accesses
    /// before.
    rounds: u32,
    whole: u32,
    passes: u64,
}

/// Turns of a closing run before it is taken for another loop than the one supposed.
const MAX_ROUNDS: u32 = 2;

/// Where a search is: what the future depends on, but for how old the writes are that are still to be seen.
#[derive(Clone)]
pub(super) struct Configuration {
    events: u32,
    /// The reads that speculate: who does which of what value. How often hangs on the turns.
    owed: BTreeSet<(u32, InstId, Unit, UnitBytes)>,
    threads: Threads,
    latest: Vec<SmallVec<[UnitBytes; 1]>>,
    memory: Vec<Arc<Vec<Byte>>>,
}

impl Search<'_> {
    /// Nobody can go on, and some who wait do so in loops: every way for them to do that for ever, which is a hang if
    /// all do. Those who have no effects in that may leave: who, and by which exits.
    pub(super) fn close(
        &self,
        state: &State,
        spinning: &[usize],
        found: &mut Found,
    ) -> BTreeSet<(usize, Exit)> {
        let mut leaves = BTreeSet::new();
        let begun = state;
        let mut first = state.clone();
        first.closing = Some(Closing::of(state, spinning));
        let mut rest = vec![first];
        while let Some(mut state) = rest.pop() {
            if found.stop || self.context.budget.step() {
                break;
            }
            match self.advance(&mut state, found) {
                Advanced::Ended(end) => found.paths.end(end),
                Advanced::Branch(children) => rest.extend(children.into_iter().rev()),
                Advanced::Quiet if state.dirty => {
                    found.stop = true;
                    found.paths.end(PathEnd::Relearned);
                }
                Advanced::Quiet if self.end_at_fault(&mut state, found) => {}
                Advanced::Quiet => match self.release_barrier(&mut state, found) {
                    Released::Some => rest.push(state),
                    Released::Ended(end) => found.paths.end(end),
                    Released::Nobody => match state.reads_next() {
                        Some(index) => rest.extend(self.read_latest(state, index, found).into_iter().rev()),
                        None if state.is_closed() => {
                            leaves.extend(self.leaves(begun, &state, spinning));
                            if state.is_blocked() {
                                found.paths.end(PathEnd::Fairness);
                                continue;
                            }
                            state.forget_turn();
                            self.hang(&mut state, found);
                        }
                        None => found.paths.end(PathEnd::Fairness),
                    },
                },
            }
        }
        leaves
    }

    /// Who had no effects in the closing turn, with the exits that it may leave by.
    fn leaves<'s>(
        &'s self,
        begun: &'s State,
        closed: &'s State,
        spinning: &'s [usize],
    ) -> impl Iterator<Item = (usize, Exit)> + 's {
        spinning.iter().flat_map(move |index| {
            let arrival = arrivals_without_accesses(begun, *index).next();
            let effects = |arrival: &&Arrival| {
                arrival.invocation.effects() != closed.threads[*index].invocation.effects()
            };
            let quiet = arrival.filter(|arrival| !effects(arrival));
            let exits = |arrival: &Arrival| self.exits(&arrival.invocation, (arrival.depth, arrival.loop_id));
            quiet.map(exits).into_iter().flatten().map(|exit| (*index, exit))
        })
    }

    /// The state where an invocation has left an endless loop that it waits in.
    pub(super) fn leave(
        &self,
        state: &State,
        (index, exit): (usize, Exit),
        found: &mut Found,
    ) -> Option<State> {
        let arrival = arrivals_without_accesses(state, index).next()?;
        self.after_leaving(state, index, &arrival.invocation, exit, found)
    }

    /// One child for each choice of latest writes that a read may see.
    fn read_latest(&self, state: State, index: usize, found: &mut Found) -> Vec<State> {
        let status = state.threads[index].status.clone();
        let Some(reader) = self.reader_of(&status, index) else { return vec![] };
        let spans = state::units_of(reader.access, reader.memory, self.knowledge, |word| {
            found.discoveries.split.insert((reader.memory, word));
        });
        let Some(spans) = spans else {
            found.stop = true;
            found.paths.end(PathEnd::Relearned);
            return Vec::new();
        };
        let latest = self.latest_writes(&state);
        let candidates: Vec<SmallVec<[(Source, UnitBytes); 4]>> = spans
            .iter()
            .map(|(unit, indices)| {
                let sources = self.lasting_sources(&state, *unit, &latest(*unit));
                let value =
                    |source| state::source_bytes(&state, self.knowledge, *unit, indices.len(), source);
                sources.into_iter().map(|source| (source, value(source))).collect()
            })
            .collect();
        drop(latest);
        let mut assignments = Vec::new();
        for_each_assignment(&candidates, &mut |assignment| {
            let assignment: SmallVec<[(Source, UnitBytes); 4]> = assignment.into();
            assignments.push(assignment);
        });
        found.paths.branch(assignments.len());
        let mut children = Vec::new();
        for assignment in assignments {
            self.answer(&mut children, state.clone(), &reader, &spans, &assignment, found);
        }
        children
    }

    /// The writes of a unit that may be seen again and again: the latest ones, or those of segments that repeat.
    fn lasting_sources(&self, state: &State, unit: Unit, latest: &[EventId]) -> SmallVec<[Source; 2]> {
        let repeated = state.segments.iter().flat_map(|segment| segment.events(&state.graph));
        let mut repeated = repeated
            .filter(|id| {
                let event = &state.graph.events[*id as usize];
                event.writes() && event.units.contains(&unit)
            })
            .peekable();
        if repeated.peek().is_some() {
            return repeated.map(Source::Event).collect();
        }
        match latest {
            [] => SmallVec::from_slice(&[Source::Initial]),
            latest => latest.iter().copied().map(Source::Event).collect(),
        }
    }

    /// Counts that an invocation of a closing run is at the header of its loop again, where it was when there were so
    /// many events. False where it has been there too often.
    pub(super) fn comes_round(&self, state: &mut State, index: usize, since: u32) -> bool {
        let Some(closing) = &state.closing else { return true };
        let before = state.graph.events.get(since as usize..closing.events as usize).unwrap_or_default();
        let is_whole = !before.iter().any(|event| event.agent as usize == index && event.accesses());
        let Some(closing) = &mut state.closing else { return true };
        let start = &mut closing.threads[index];
        start.rounds += 1;
        start.whole += u32::from(is_whole);
        start.rounds <= MAX_ROUNDS
    }

    /// The configuration of a search.
    pub(super) fn configuration(&self, state: &State) -> Configuration {
        let latest = self.latest_writes(state);
        let values = |unit: Unit| {
            let written = |write: EventId| {
                state.graph.events[write as usize].written_to(unit).cloned().unwrap_or_default()
            };
            let mut values: SmallVec<[UnitBytes; 1]> = latest(unit).into_iter().map(written).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        let owed = |pending: &Pending| {
            let read = &state.graph.events[pending.event as usize];
            (read.agent, read.inst, pending.unit, pending.value.clone())
        };
        Configuration {
            events: state.graph.events.len() as u32,
            owed: state.pending.iter().map(owed).collect(),
            threads: state.threads.clone(),
            latest: (0..self.knowledge.units().len() as Unit).map(values).collect(),
            memory: state.contents.snapshot(),
        }
    }

    /// Whether a search has come back to a configuration: then all who took part since then may go on so for ever.
    pub(super) fn repeats_from(
        &self,
        state: &State,
        earlier: &Configuration,
        now: &Configuration,
    ) -> Option<Segment> {
        let is_same = earlier.latest == now.latest
            && earlier.owed == now.owed
            && earlier.memory == now.memory
            && (0..state.threads.len()).all(|index| {
                let (before, now) = (&earlier.threads[index], &state.threads[index]);
                let (before, now): (&Invocation, &Invocation) = (&before.invocation, &now.invocation);
                std::ptr::eq(before, now) || before.same_state(now, self.context.program)
            });
        if !is_same {
            return None;
        }
        let acted = |index: &usize| {
            own_events(state, *index, earlier.events).next().is_some()
                || state.threads[*index].changes != earlier.threads[*index].changes
        };
        let members: Vec<usize> = (0..state.threads.len()).filter(acted).collect();
        let (start, end) = (earlier.events, now.events);
        let statuses = members.iter().map(|member| state.threads[*member].status.clone()).collect();
        Some(Segment { members: members.into(), start, end, statuses })
    }
}

impl Closing {
    fn of(state: &State, spinning: &[usize]) -> Self {
        let start = |index: usize| {
            let thread = &state.threads[index];
            let at = thread.invocation.position().last().copied();
            Start {
                at: at.filter(|_| !thread.status.is_over()),
                is_blocked: matches!(thread.status, Status::Reading { .. }) && !spinning.contains(&index),
                trace: thread.trace.clone(),
                rounds: 0,
                whole: 0,
                passes: thread.passes,
            }
        };
        let threads = (0..state.threads.len()).map(start).collect();
        Closing { events: state.graph.events.len() as EventId, threads }
    }
}

impl State {
    /// Whether an invocation of a closing run is back where it waited; or never left.
    fn is_back(&self, index: usize) -> bool {
        let (Some(closing), thread) = (&self.closing, &self.threads[index]) else { return false };
        let start = &closing.threads[index];
        let Some(at) = start.at else { return thread.status.is_over() };
        if start.is_blocked {
            return true;
        }
        let stands = match thread.status {
            Status::Reading { .. } => start.whole > 0,
            Status::Barrier(_) | Status::Subgroup(_) => start.whole > 0 || thread.passes == start.passes,
            Status::Running | Status::Finished | Status::Faulted | Status::Forever => false,
        };
        stands && thread.invocation.position().last() == Some(&at)
    }

    /// The invocation of a closing run that reads next.
    fn reads_next(&self) -> Option<usize> {
        let reads = |index: &usize| matches!(self.threads[*index].status, Status::Reading { .. });
        (0..self.threads.len()).filter(reads).find(|index| !self.is_back(*index))
    }

    /// Whether somebody waits who does not go round a loop.
    fn is_blocked(&self) -> bool {
        let starts = self.closing.iter().flat_map(|closing| &closing.threads);
        starts.into_iter().any(|start| start.is_blocked)
    }

    fn is_closed(&self) -> bool {
        (0..self.threads.len()).all(|index| self.is_back(index))
    }

    /// Takes the closing turn from the volatile traces: the groups that repeat have it.
    fn forget_turn(&mut self) {
        let Some(closing) = &mut self.closing else { return };
        for (index, start) in closing.threads.iter_mut().enumerate() {
            self.threads[index].trace = std::mem::take(&mut start.trace);
        }
    }
}

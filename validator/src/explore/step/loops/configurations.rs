//! Configurations of a search, which show whether a restless turn leads back to an earlier one.
//!
//! For example, two invocations pass a token back and forth for ever. After two turns of each, all invocations, the
//! latest values and the memory without events are the same again.

use smallvec::SmallVec;

use crate::explore::state::{Configuration, Promise, Round, Segment, State};
use crate::explore::step::loops::turns;
use crate::interp::Invocation;
use crate::model::graph::{EventId, Unit, UnitBytes};

/// The number of turns of a closing run, before it counts as another loop than the one that was assumed.
const MAX_ROUNDS: u32 = 2;

/// Counts that an invocation of a closing run is at the header of its loop again, where it also was when the graph had
/// `since` events. It returns false if the invocation has been there too often.
pub(crate) fn comes_round(state: &mut State, index: usize, since: u32) -> bool {
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
pub(crate) fn configuration(round: &Round, state: &State) -> Configuration {
    let latest = turns::latest_writes(round, state);
    let values = |unit: Unit| {
        let written =
            |write: EventId| state.graph.events[write as usize].written_to(unit).cloned().unwrap_or_default();
        let mut values: SmallVec<[UnitBytes; 1]> = latest(unit).into_iter().map(written).collect();
        values.sort_unstable();
        values.dedup();
        values
    };
    let promise_of = |promise: &Promise| {
        let read = &state.graph.events[promise.event as usize];
        (read.agent, read.inst, promise.unit, promise.value.clone())
    };
    Configuration {
        events: state.graph.events.len() as u32,
        promises: state.promises.iter().map(promise_of).collect(),
        threads: state.threads.clone(),
        latest: (0..round.knowledge.units().len() as Unit).map(values).collect(),
        memory: state.contents.snapshot(),
    }
}

/// The segment that leads back from a configuration to an equal one. All invocations that took part in it may repeat it
/// for ever.
pub(crate) fn repeats_from(
    round: &Round,
    state: &State,
    earlier: &Configuration,
    now: &Configuration,
) -> Option<Segment> {
    let is_same = earlier.latest == now.latest
        && earlier.promises == now.promises
        && earlier.memory == now.memory
        && (0..state.threads.len()).all(|index| {
            let (before, now) = (&earlier.threads[index], &state.threads[index]);
            let (before, now): (&Invocation, &Invocation) = (&before.invocation, &now.invocation);
            std::ptr::eq(before, now) || before.same_state(now, round.context.program)
        });
    if !is_same {
        return None;
    }
    let acted = |index: &usize| {
        turns::own_events(state, *index, earlier.events).next().is_some()
            || state.threads[*index].changes != earlier.threads[*index].changes
    };
    let members: Vec<usize> = (0..state.threads.len()).filter(acted).collect();
    let (start, end) = (earlier.events, now.events);
    let statuses = members.iter().map(|member| state.threads[*member].status.clone()).collect();
    Some(Segment { members: members.into(), start, end, statuses })
}

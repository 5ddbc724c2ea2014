//! Where reads take their values from, and which read is resolved next.
//!
//! For example, the graph has the writes 1 and 2 of `x`, and an invocation reads `x`. There is one branch for the
//! initial value, one for each of the two writes, as far as the axioms permit these, and one in which the read waits
//! for a later write.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::behaviour::PathEnd;
use crate::explore::branch::spinning::repeats;
use crate::explore::branch::waiting;
use crate::explore::branch::writers;
use crate::explore::events;
use crate::explore::oracle::{self, Judgement};
use crate::explore::outcomes::record;
use crate::explore::program::updates;
use crate::explore::reductions::symmetry::gates;
use crate::explore::reductions::{dead_ends, stale_reads};
use crate::explore::state::accesses::{self, UnitSpans};
use crate::explore::state::reader::{self, Answer, Assignment, Reader};
use crate::explore::state::{Found, Promise, Round, State, Status, Thread};
use crate::explore::step::fulfilment;
use crate::explore::step::loops::segments;
use crate::explore::step::loops::turns;
use crate::explore::step::noted_writes;
use crate::explore::step::{run, view};
use crate::interp::Invocation;
use crate::model::graph::{EventId, Kind, Source, Unit, UnitBytes};
use crate::model::memory_model::{visible_at, Admission};
use crate::value::Byte;

/// The read to resolve next. A plain read comes first if it reads only what happens before it; it is resolved at once.
/// Then come compare-exchanges that can only succeed or be stale. Then comes the first other read that has a source
/// which it has not declined yet. Reads of spin loops come after these, and first of them those that can only wait:
/// when the read that can leave its loop is resolved, the invocations that wait for it are known. Reads of invocations
/// that only read come at the very end, because no invocation waits for them, and they then have nothing left to wait
/// for.
pub(crate) fn next_reader(round: &Round, state: &mut State, found: &mut Found) -> Option<usize> {
    let plain = |state: &State, index: &usize| {
        matches!(state.threads[*index].status, Status::Reading { atomic: None, .. })
            && reader::reader(round, state, *index)
                .is_some_and(|reader| !turns::is_spinning(round, state, &reader))
    };
    if reads_in_order(round, state) {
        if let Some(index) = (0..state.threads.len()).find(|index| plain(state, index)) {
            return Some(index);
        }
    }
    // These can only continue with what they have read, so they come before others take that.
    if let Some(index) =
        (0..state.threads.len()).find(|index| stale_reads::is_committed(round, state, *index, found))
    {
        return Some(index);
    }
    let mut leaves = None;
    let mut only_reads = None;
    let mut spinning: SmallVec<[usize; 8]> = SmallVec::new();
    for index in 0..state.threads.len() {
        let Some(reader) =
            reader::reader(round, state, index).filter(|_| !gates::is_gated(round, state, index))
        else {
            continue;
        };
        let since = state.threads[index].waits_since;
        if since.is_some_and(|since| !reader::has_new_source(round, state, index, since)) {
            continue;
        }
        if writers::only_reads(round, state, index) {
            only_reads = only_reads.or(Some(index));
        } else if turns::is_spinning(round, state, &reader) {
            spinning.push(index);
        } else {
            return Some(index);
        }
    }
    if spinning.len() > 1 {
        oracle::grow(round, state);
        for index in spinning {
            if !waits_on(round, state, index, found) {
                leaves = leaves.or(Some(index));
            }
        }
        return leaves.or(only_reads);
    }
    spinning.first().copied().or(only_reads)
}

/// Lets a spinning read wait, if it has no other choice.
fn waits_on(round: &Round, state: &mut State, index: usize, found: &mut Found) -> bool {
    let status = state.threads[index].status.clone();
    let Some(reader) = reader::reader_of(round, &status, index) else { return false };
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {});
    let Some(spans) = spans else { return false };
    let waits = choices(round, state, &reader, &spans, found).is_empty();
    if waits {
        state.threads[index].waits_since = Some(state.graph.events.len() as EventId);
    }
    waits
}

/// One state for every source from which the read may take its value, and one in which it waits.
pub(crate) fn resolve(round: &Round, mut state: State, index: usize, found: &mut Found) -> Vec<State> {
    let status = state.threads[index].status.clone();
    let Some(reader) = reader::reader_of(round, &status, index) else { return Vec::new() };
    let spans = accesses::units_of(reader.access, reader.memory, round.knowledge, |word| {
        found.discoveries.split.insert((reader.memory, word));
    });
    let Some(spans) = spans else {
        // The round does not count any more. It continues for what it can still learn.
        state.dirty = true;
        let mut children = Vec::new();
        answer(round, &mut children, state, &reader, &UnitSpans::new(), &Assignment::new(), found);
        return children;
    };
    if reader.may_write {
        // This is noted even if the instruction writes with no source that is there now, like a failing
        // compare-exchange. A wait of another read here can leave it a value with which it writes.
        noted_writes::note_possible_writer(round, &reader, &spans, found);
    }
    oracle::grow(round, &mut state);
    let mut choices = choices(round, &state, &reader, &spans, found);
    let waits = may_wait(round, &state, &reader, &spans, found);
    found.paths.branch(choices.len() + usize::from(waits));
    if choices.is_empty() && !waits {
        found.paths.end(PathEnd::Fairness);
    }
    let last = if waits { None } else { choices.pop() };
    let mut children = Vec::new();
    for assignment in &choices {
        answer(round, &mut children, state.clone(), &reader, &spans, assignment, found);
        // There may be more than memory holds.
        if round.context.budget.is_used_up() {
            return children;
        }
    }
    if waits {
        state.threads[index].waits_since = Some(state.graph.events.len() as EventId);
        children.push(state);
    } else if let Some(assignment) = last {
        answer(round, &mut children, state, &reader, &spans, &assignment, found);
    }
    children
}

/// The sources that a read has not declined yet and that nothing rules out.
fn choices(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    found: &mut Found,
) -> Vec<Assignment> {
    let Thread { waits_since, reads_unknown, .. } = state.threads[reader.index];
    let event = reader.event(Kind::Read, spans);
    let admissions: SmallVec<[Box<dyn Admission + '_>; 2]> = match &state.growing {
        Some(growing) => {
            spans.iter().map(|(unit, _)| growing.admission(&state.graph, &event, *unit)).collect()
        }
        None => SmallVec::new(),
    };
    let candidates = candidates(round, state, reader, spans, &admissions);
    let mut choices = Vec::new();
    let is_new = |assignment: &[(Source, UnitBytes)], since| {
        assignment.iter().any(|(source, _)| matches!(source, Source::Event(event) if *event >= since))
    };
    let spins = turns::is_spinning(round, state, reader);
    if spins {
        gates::check_spin(round, state, reader, spans, found);
    }
    let mut stale = 0;
    let repeats = spins && writers::is_unraced(round, state, reader, &event);
    reader::for_each_assignment(&round.context.budget, &candidates, &mut |assignment| {
        if waits_since.is_some_and(|since| !is_new(assignment, since))
            || is_left_to_another(round, reads_unknown, spans, assignment)
        {
            return;
        }
        let mut admitted = admissions.iter().zip(assignment);
        if admitted.any(|(admission, (source, _))| !admission.admits_update(*source))
            && writes_with(round, state, reader, assignment)
        {
            return;
        }
        if matches!(assignment, [(source, bytes)] if stale_reads::is_stale(round, state, reader, spans, (*source, bytes)))
            || is_taken(&admissions, assignment)
                && dead_ends::is_dead_end(
                    round,
                    state,
                    reader,
                    spans,
                    (assignment[0].0, &assignment[0].1),
                    found,
                )
        {
            stale += 1;
        } else if repeats && repeats::repeats_with(round, state, reader.index, &assignment[0].1, found) {
            gates::note_left_out(round, state, reader.index, &assignment[0].1, found);
            found.paths.start();
            found.paths.end(PathEnd::IdleTurn);
        } else {
            choices.push(assignment.into());
        }
    });
    for _ in 0..stale {
        found.paths.start();
        found.paths.end(PathEnd::StaleTurn);
    }
    choices
}

/// Whether the source of a read of one unit has been taken by an update.
fn is_taken(admissions: &[Box<dyn Admission + '_>], assignment: &[(Source, UnitBytes)]) -> bool {
    matches!((admissions, assignment), ([admission], [(source, _)]) if !admission.admits_update(*source))
}

/// Whether a read-modify-write of one unit certainly writes if it reads this.
fn writes_with(round: &Round, state: &State, reader: &Reader, assignment: &[(Source, UnitBytes)]) -> bool {
    let invocation = &state.threads[reader.index].invocation;
    matches!(assignment, [(_, bytes)] if invocation.always_writes(round.context.program, bytes))
}

/// For each unit, the sources that are worth trying.
fn candidates(
    round: &Round,
    state: &State,
    reader: &Reader,
    spans: &UnitSpans,
    admissions: &[Box<dyn Admission + '_>],
) -> Vec<Assignment> {
    let visible = (reader.atomic.is_none() && reads_in_order(round, state))
        .then(|| visible_sources(round, state, reader, spans));
    // A source that a read of one unit has declined is no choice again. (Of several units, at least one source must be
    // new.)
    let declined = state.threads[reader.index].waits_since.filter(|_| spans.len() == 1).unwrap_or(0);
    let updates = updates::always_updates(round.context.program, reader.access.inst);
    spans
        .iter()
        .enumerate()
        .map(|(position, (unit, indices))| {
            let events = state.graph.events.iter().enumerate().skip(declined as usize);
            let writes = events.filter(|(_, event)| event.writes() && event.units.contains(unit));
            // An update often finds nearly all writes taken. That check is faster than the other ones.
            let taken = admissions.get(position).filter(|_| updates).map(|admission| admission.taken());
            let is_visible = |source: &Source| {
                !taken.as_ref().is_some_and(|taken| taken.contains(source))
                    && visible.as_ref().is_none_or(|visible| visible[position].contains(source))
                    && admissions.get(position).is_none_or(|admission| admission.admits(*source))
            };
            let initial = (declined == 0).then_some(Source::Initial);
            initial
                .into_iter()
                .chain(writes.map(|(id, _)| Source::Event(id as EventId)))
                .filter(is_visible)
                .map(|source| {
                    (source, accesses::source_bytes(state, round.knowledge, *unit, indices.len(), source))
                })
                .collect()
        })
        .collect()
}

/// Whether plain reads see only writes that are in the graph when they are resolved. What is visible to a read without
/// a race happens before it, unless a speculated read lies in between.
fn reads_in_order(round: &Round, state: &State) -> bool {
    !round.context.settings.plain_reads_speculate() && state.promises.is_empty()
}

/// For each unit, what a plain read may see: what is visible to it, and the writes that race with it. (A read with a
/// race must take some value, too, or the race is missed.)
fn visible_sources(round: &Round, state: &State, reader: &Reader, spans: &UnitSpans) -> Vec<Vec<Source>> {
    let mut graph = state.graph.clone();
    let mut event = reader.event(Kind::Read, spans);
    event.sources = spans.iter().map(|_| Source::Pending).collect();
    graph.events.push(Arc::new(event));
    let grown = state.growing.as_ref().filter(|_| !round.knowledge.orders_matter);
    if let Some(visible) = grown.and_then(|growing| growing.visible_sources(&graph)) {
        return visible;
    }
    let relations = oracle::relations(round, &graph);
    let visible = |(unit, _): &(Unit, _)| {
        let Some(location) = relations.locations.iter().find(|location| location.unit == *unit) else {
            return vec![Source::Initial];
        };
        let last = location.events.len() - 1;
        let before = |i: usize| location.location_ordered.contains(i, last);
        visible_at(&graph, &location.events[..last], &location.location_ordered, before)
    };
    spans.iter().map(visible).collect()
}

/// Whether the read may decline all present sources and take its value from a later write.
fn may_wait(round: &Round, state: &State, reader: &Reader, spans: &UnitSpans, found: &mut Found) -> bool {
    if turns::is_spinning(round, state, reader) {
        return waiting::can_be_released(round, state, reader.index, found)
            || repeats::may_spin_for_ever(round, state, reader, found);
    }
    if reader.atomic.is_none() && reads_in_order(round, state) {
        return false;
    }
    writers::others_may_write(round, state, reader, spans, found)
        && !stale_reads::waits_for_stale(round, state, reader, spans, found)
        && !dead_ends::others_only_end(round, state, reader, spans, found)
        && waiting::can_be_released(round, state, reader.index, found)
}

/// Gives the read its value and adds the states that are executions so far. There are several if an undefined
/// comparison goes both ways, or if the write of the read may fulfil promises.
pub(crate) fn answer(
    round: &Round,
    children: &mut Vec<State>,
    mut state: State,
    reader: &Reader,
    spans: &UnitSpans,
    assignment: &[(Source, UnitBytes)],
    found: &mut Found,
) {
    let len: u32 = reader.access.ranges.iter().map(|(_, len)| len).sum();
    let mut bytes: SmallVec<[Byte; 16]> = SmallVec::from_elem(Byte::Undef, len as usize);
    if let Some(fault) = state.contents.declare(reader.access, reader.memory, reader.may_write) {
        let thread = &mut state.threads[reader.index];
        thread.fault.get_or_insert_with(|| Arc::new(fault));
        if state.promises.is_empty() {
            thread.status = Status::Faulted;
            children.push(state);
            return;
        }
    }
    let by = run::by(round, reader.index, reader.atomic.is_some());
    state.read_unshared(reader.access, reader.memory, by, &mut found.discoveries, &mut bytes);
    for ((_, indices), (_, unit_bytes)) in spans.iter().zip(assignment) {
        for (index, byte) in indices.iter().zip(unit_bytes) {
            bytes[*index as usize] = *byte;
        }
    }
    let look = stale_reads::look(&state, reader.index, state.graph.events.len() as EventId);
    let thread = &mut state.threads[reader.index];
    thread.look = look.filter(|_| round.context.has_compare_exchanges);
    thread.status = Status::Running;
    thread.waits_since = None;
    thread.reads_unknown = None;
    let program = round.context.program;
    if reader.may_write && spans.iter().any(|(unit, _)| round.knowledge.is_speculated(*unit)) {
        note_attempts(round, &mut state, reader, spans, &bytes);
    }
    let ways = match reader.atomic {
        Some(_) => state.threads[reader.index].invocation.atomic_ways(program, &bytes),
        None => 1,
    };
    found.paths.branch(ways as usize);
    let mut last = Some(state);
    for way in 0..ways {
        let child = if way + 1 == ways { last.take() } else { last.clone() };
        let Some(mut child) = child else { break };
        let invocation = Arc::make_mut(&mut child.threads[reader.index].invocation);
        let mut written = None;
        if reader.atomic.is_some() {
            if ways > 1 {
                invocation.choose(way);
            }
            written = invocation.supply_atomic(program, &bytes);
        } else {
            invocation.supply(program, &bytes);
        }
        // This is checked before the model is asked, which costs more.
        if invocation.is_discarded(program) {
            found.paths.end(PathEnd::Discarded);
            continue;
        }
        let answer = Answer { spans, assignment, bytes: &bytes, written };
        add_read(round, children, child, reader, &answer, found);
    }
}

/// Notes what a read-modify-write would give its units, had it read the initial values or values that writes of
/// executions gave. `bytes` are those of the access, for the bytes that are no units.
fn note_attempts(round: &Round, state: &mut State, reader: &Reader, spans: &UnitSpans, bytes: &[Byte]) {
    let candidates: Vec<Assignment> = spans
        .iter()
        .map(|(unit, indices)| {
            let len = indices.len();
            let initial = accesses::source_bytes(state, round.knowledge, *unit, len, Source::Initial);
            let produced = round.knowledge.produced.get(&round.knowledge.key(*unit));
            let produced = produced.into_iter().flatten().filter(|value| value.len() == len);
            let values = std::iter::once(initial).chain(produced.cloned());
            values.map(|value| (Source::Pending, value)).collect()
        })
        .collect();
    let program = round.context.program;
    let invocation = &state.threads[reader.index].invocation;
    let mut attempted = Vec::new();
    reader::for_each_assignment(&round.context.budget, &candidates, &mut |assignment| {
        let mut bytes = bytes.to_vec();
        for ((_, indices), (_, value)) in spans.iter().zip(assignment) {
            for (index, byte) in indices.iter().zip(value) {
                bytes[*index as usize] = *byte;
            }
        }
        let ways = invocation.atomic_ways(program, &bytes);
        for way in 0..ways {
            let mut invocation = Invocation::clone(invocation);
            if ways > 1 {
                invocation.choose(way);
            }
            if let Some(written) = invocation.supply_atomic(program, &bytes) {
                let units = spans.iter().map(|(unit, _)| *unit);
                attempted.extend(units.zip(accesses::split_bytes(spans, &written)));
            }
        }
    });
    let into = Arc::make_mut(&mut state.attempted);
    into.extend(attempted);
}

/// Adds the event of a read that has its value.
fn add_read(
    round: &Round,
    children: &mut Vec<State>,
    mut child: State,
    reader: &Reader,
    answer: &Answer,
    found: &mut Found,
) {
    let Answer { spans, assignment, bytes, written } = answer;
    let mut event = reader.event(if written.is_some() { Kind::Update } else { Kind::Read }, spans);
    if let (Some(atomic), None) = (reader.atomic, written) {
        if reader.may_write {
            events::set_semantics(&mut event, atomic.unequal);
        }
    }
    event.sources = assignment.iter().map(|(source, _)| *source).collect();
    event.read = assignment.iter().map(|(_, bytes)| bytes.clone()).collect();
    if reader.access.volatile {
        let entry = view::volatile_access(reader.access, false, reader.atomic.is_some(), bytes);
        Arc::make_mut(&mut child.threads[reader.index].trace).push(entry);
    }
    if let Some(written) = written {
        event.written = accesses::split_bytes(spans, written).collect();
        let by = run::by(round, reader.index, true);
        child.write_unshared(reader.access, reader.memory, by, &mut found.discoveries, written);
        if reader.access.volatile {
            let entry = view::volatile_access(reader.access, true, true, written);
            Arc::make_mut(&mut child.threads[reader.index].trace).push(entry);
        }
    }
    let id = child.push(event);
    for ((unit, _), (source, value)) in spans.iter().zip(*assignment) {
        if *source == Source::Pending {
            child.promises.push(Promise { event: id, unit: *unit, value: value.clone() });
        }
    }
    if child.dirty {
        return children.push(child);
    }
    match oracle::judge(round, &mut child, found) {
        Judgement::Ends(end) => return found.paths.end(end),
        Judgement::Racy(race) => return record::record_race(round, &child, race, found),
        Judgement::Fine => {}
    }
    segments::turn_again(&mut child, id);
    gates::note_history(round, &mut child, reader.index, id, bytes, found);
    if written.is_some() {
        noted_writes::note_writer(round, &child, id, found);
        if let Some(matched) = fulfilment::fulfil(round, &child, id, found) {
            return children.extend(matched);
        }
    }
    children.push(child);
}

/// Whether the sources of a read belong to another branch: in this branch the read takes, from writes after `since`,
/// only values that are not known.
pub(crate) fn is_left_to_another(
    round: &Round,
    since: Option<EventId>,
    spans: &UnitSpans,
    assignment: &[(Source, UnitBytes)],
) -> bool {
    let Some(since) = since else { return false };
    spans.iter().zip(assignment).all(|((unit, _), (source, value))| match source {
        Source::Initial | Source::Pending => true,
        Source::Event(write) if *write < since => true,
        Source::Event(_) => {
            let values = round.knowledge.values.get(&round.knowledge.key(*unit));
            values.is_some_and(|values| values.contains(value))
        }
    })
}

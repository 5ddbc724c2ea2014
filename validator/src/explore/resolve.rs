//! Where reads take their values from.

use std::sync::Arc;

use smallvec::SmallVec;

use super::events;
use super::found::Found;
use super::judging::Judgement;
use super::memory::volatile_access;
use super::search::Search;
use super::stale::Look;
use super::state::{self, Pending, State, Status, Thread, UnitSpans};
use super::symmetry::always_updates;
use crate::behaviour::PathEnd;
use crate::event::{Access, Atomicity};
use crate::interp::Invocation;
use crate::model::graph::{Event, EventId, Kind, Source, Unit, UnitBytes};
use crate::model::growing::{visible_at, Admission};
use crate::value::Byte;

/// A source for every unit of a read, with the bytes it gives.
type Assignment = SmallVec<[(Source, UnitBytes); 4]>;

/// What a read gets.
struct Answer<'a> {
    spans: &'a UnitSpans,
    assignment: &'a [(Source, UnitBytes)],
    /// Of the whole access.
    bytes: &'a [Byte],
    /// What its write leaves, if it writes.
    written: Option<Vec<Byte>>,
}

/// A read about to be resolved.
pub(super) struct Reader<'a> {
    pub(super) index: usize,
    pub(super) access: &'a Access,
    pub(super) atomic: Option<&'a Atomicity>,
    pub(super) may_write: bool,
    pub(super) memory: u32,
    pub(super) reference: u32,
}

impl Search<'_> {
    /// The read to resolve next: a plain one at once if it reads only what happens before it, else the first
    /// with a source that it has not declined yet; of these, compare-exchanges that can only succeed or be stale. Those of spin loops come last, and first of them those that
    /// can only wait: when the one that can leave its loop has its turn, it is known who waits for it. Nobody waits
    /// for those who only read, so they come at the very end, when there is nothing left for them to wait for.
    pub(super) fn next_reader(&self, state: &mut State, found: &mut Found) -> Option<usize> {
        let plain = |state: &State, index: &usize| {
            matches!(state.threads[*index].status, Status::Reading { atomic: None, .. })
                && self.reader(state, *index).is_some_and(|reader| !self.is_spinning(state, &reader))
        };
        if self.reads_in_order(state) {
            if let Some(index) = (0..state.threads.len()).find(|index| plain(state, index)) {
                return Some(index);
            }
        }
        // What can only go on with what it read, before others take that.
        if let Some(index) = (0..state.threads.len()).find(|index| self.is_committed(state, *index, found)) {
            return Some(index);
        }
        let mut leaves = None;
        let mut only_reads = None;
        let mut spinning: SmallVec<[usize; 8]> = SmallVec::new();
        for index in 0..state.threads.len() {
            let Some(reader) = self.reader(state, index).filter(|_| !self.is_gated(state, index)) else {
                continue;
            };
            let since = state.threads[index].waits_since;
            if since.is_some_and(|since| !self.has_new_source(state, index, since)) {
                continue;
            }
            if self.only_reads(state, index) {
                only_reads = only_reads.or(Some(index));
            } else if self.is_spinning(state, &reader) {
                spinning.push(index);
            } else {
                return Some(index);
            }
        }
        if spinning.len() > 1 {
            self.grow(state);
            for index in spinning {
                if !self.waits_on(state, index, found) {
                    leaves = leaves.or(Some(index));
                }
            }
            return leaves.or(only_reads);
        }
        spinning.first().copied().or(only_reads)
    }

    /// Lets a spinning read wait, if it has no other choice.
    fn waits_on(&self, state: &mut State, index: usize, found: &mut Found) -> bool {
        let status = state.threads[index].status.clone();
        let Some(reader) = self.reader_of(&status, index) else { return false };
        let spans = state::units_of(reader.access, reader.memory, self.knowledge, |_| {});
        let Some(spans) = spans else { return false };
        let waits = self.choices(state, &reader, &spans, found).is_empty();
        if waits {
            state.threads[index].waits_since = Some(state.graph.events.len() as EventId);
        }
        waits
    }

    pub(super) fn has_new_source(&self, state: &State, index: usize, since: EventId) -> bool {
        let Some(reader) = self.reader(state, index) else { return false };
        let Some(spans) = state::units_of(reader.access, reader.memory, self.knowledge, |_| {}) else {
            return false;
        };
        state.graph.events[since as usize..]
            .iter()
            .any(|event| event.writes() && spans.iter().any(|(unit, _)| event.units.contains(unit)))
    }

    pub(super) fn reader<'s>(&self, state: &'s State, index: usize) -> Option<Reader<'s>> {
        self.reader_of(&state.threads[index].status, index)
    }

    pub(super) fn reader_of<'s>(&self, status: &'s Status, index: usize) -> Option<Reader<'s>> {
        let Status::Reading { access, atomic, may_write } = status else { return None };
        let object = self.context.dispatch.objects.get(access.object as usize)?;
        Some(Reader {
            index,
            access,
            atomic: atomic.as_ref(),
            may_write: *may_write,
            memory: object.memory,
            reference: object.reference,
        })
    }

    /// One child for every source that the read may take its value from, and one where it waits.
    pub(super) fn resolve(&self, mut state: State, index: usize, found: &mut Found) -> Vec<State> {
        let status = state.threads[index].status.clone();
        let Some(reader) = self.reader_of(&status, index) else { return Vec::new() };
        let spans = state::units_of(reader.access, reader.memory, self.knowledge, |word| {
            found.discoveries.split.insert((reader.memory, word));
        });
        let Some(spans) = spans else {
            // The round is lost; go on to see what else it teaches.
            state.dirty = true;
            let mut children = Vec::new();
            self.answer(&mut children, state, &reader, &UnitSpans::new(), &Assignment::new(), found);
            return children;
        };
        if reader.may_write {
            // Even if it does not with any source there is now, as a compare-exchange that fails: what
            // others would have to leave alone for it to write is what a wait here lets them.
            self.note_possible_writer(&reader, &spans, found);
        }
        self.grow(&mut state);
        let mut choices = self.choices(&state, &reader, &spans, found);
        let waits = self.may_wait(&state, &reader, &spans, found);
        found.paths.branch(choices.len() + usize::from(waits));
        if choices.is_empty() && !waits {
            found.paths.end(PathEnd::Fairness);
        }
        let last = if waits { None } else { choices.pop() };
        let mut children = Vec::new();
        for assignment in &choices {
            self.answer(&mut children, state.clone(), &reader, &spans, assignment, found);
        }
        if waits {
            state.threads[index].waits_since = Some(state.graph.events.len() as EventId);
            children.push(state);
        } else if let Some(assignment) = last {
            self.answer(&mut children, state, &reader, &spans, &assignment, found);
        }
        children
    }

    /// The sources that a read has not declined yet, and that nothing speaks against.
    fn choices(
        &self,
        state: &State,
        reader: &Reader,
        spans: &UnitSpans,
        found: &mut Found,
    ) -> Vec<Assignment> {
        let Thread { waits_since, reads_unknown, .. } = state.threads[reader.index];
        let event = reader.event(Kind::Read, spans);
        let admissions: SmallVec<[Admission; 2]> = match &state.growing {
            Some(growing) => {
                spans.iter().map(|(unit, _)| growing.admission(&state.graph, &event, *unit)).collect()
            }
            None => SmallVec::new(),
        };
        let candidates = self.candidates(state, reader, spans, &admissions);
        let mut choices = Vec::new();
        let is_new = |assignment: &[(Source, UnitBytes)], since| {
            assignment.iter().any(|(source, _)| matches!(source, Source::Event(event) if *event >= since))
        };
        let spins = self.is_spinning(state, reader);
        if spins {
            self.check_spin(state, reader, spans, found);
        }
        let mut stale = 0;
        let repeats = spins && self.is_unraced(state, reader, &event);
        for_each_assignment(&candidates, &mut |assignment| {
            if waits_since.is_some_and(|since| !is_new(assignment, since))
                || self.is_left_to_another(reads_unknown, spans, assignment)
            {
                return;
            }
            let mut admitted = admissions.iter().zip(assignment);
            if admitted.any(|(admission, (source, _))| !admission.admits_update(*source))
                && self.writes_with(state, reader, assignment)
            {
                return;
            }
            if matches!(assignment, [(source, bytes)] if self.is_stale(state, reader, spans, (*source, bytes)))
                || self.is_taken(&admissions, assignment)
                    && self.is_dead_end(state, reader, spans, (assignment[0].0, &assignment[0].1), found)
            {
                stale += 1;
            } else if repeats && self.repeats_with(state, reader.index, &assignment[0].1, found) {
                self.note_left_out(state, reader.index, &assignment[0].1, found);
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

    /// Whether what a read of one unit takes is what an update has taken.
    fn is_taken(&self, admissions: &[Admission], assignment: &[(Source, UnitBytes)]) -> bool {
        matches!((admissions, assignment), ([admission], [(source, _)]) if !admission.admits_update(*source))
    }

    /// Whether a read-modify-write of one unit writes for certain if it reads this.
    fn writes_with(&self, state: &State, reader: &Reader, assignment: &[(Source, UnitBytes)]) -> bool {
        let invocation = &state.threads[reader.index].invocation;
        matches!(assignment, [(_, bytes)] if invocation.always_writes(self.context.program, bytes))
    }

    /// Per unit, the sources that are worth trying.
    fn candidates(
        &self,
        state: &State,
        reader: &Reader,
        spans: &UnitSpans,
        admissions: &[Admission],
    ) -> Vec<Assignment> {
        let visible = (reader.atomic.is_none() && self.reads_in_order(state))
            .then(|| self.visible_sources(state, reader, spans));
        // Of one unit, what it has declined is no choice again. (Of several, one of them must be new.)
        let declined = state.threads[reader.index].waits_since.filter(|_| spans.len() == 1).unwrap_or(0);
        let updates = always_updates(self.context.program, reader.access.inst);
        spans
            .iter()
            .enumerate()
            .map(|(position, (unit, indices))| {
                let events = state.graph.events.iter().enumerate().skip(declined as usize);
                let writes = events.filter(|(_, event)| event.writes() && event.units.contains(unit));
                // Of many writes nearly all are taken, which is seen faster than what else speaks against them.
                let taken = admissions.get(position).filter(|_| updates).map(Admission::taken);
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
                        (source, state::source_bytes(state, self.knowledge, *unit, indices.len(), source))
                    })
                    .collect()
            })
            .collect()
    }

    /// Whether plain reads see only writes that are in the graph when their turn comes: what is
    /// visible to a read without a race happens before it, unless a speculated read is in between.
    fn reads_in_order(&self, state: &State) -> bool {
        !self.context.settings.plain_reads_speculate() && state.pending.is_empty()
    }

    /// Per unit, what a plain read may see: what is visible to it and the writes that it races with (in an
    /// execution with a race it must read something, too, or the race is missed).
    fn visible_sources(&self, state: &State, reader: &Reader, spans: &UnitSpans) -> Vec<Vec<Source>> {
        let mut graph = state.graph.clone();
        let mut event = reader.event(Kind::Read, spans);
        event.sources = spans.iter().map(|_| Source::Pending).collect();
        graph.events.push(Arc::new(event));
        let grown = state.growing.as_ref().filter(|_| !self.knowledge.orders_matter);
        if let Some(visible) = grown.and_then(|growing| growing.visible_sources(&graph)) {
            return visible;
        }
        let relations = self.relations(&graph);
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

    /// Whether the read may leave what is there and take a value from a later write.
    fn may_wait(&self, state: &State, reader: &Reader, spans: &UnitSpans, found: &mut Found) -> bool {
        if self.is_spinning(state, reader) {
            return self.can_be_released(state, reader.index, found)
                || self.may_spin_for_ever(state, reader, found);
        }
        if reader.atomic.is_none() && self.reads_in_order(state) {
            return false;
        }
        self.others_may_write(state, reader, spans, found)
            && !self.waits_for_stale(state, reader, spans, found)
            && !self.others_only_end(state, reader, spans, found)
            && self.can_be_released(state, reader.index, found)
    }

    /// Gives the read its value and adds the children that are executions so far (several where an undefined comparison
    /// goes both ways, or where its write is what a speculated read owes).
    pub(super) fn answer(
        &self,
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
            if state.pending.is_empty() {
                thread.status = Status::Faulted;
                children.push(state);
                return;
            }
        }
        let by = self.by(reader.index, reader.atomic.is_some());
        state.read_unshared(reader.access, reader.memory, by, &mut found.discoveries, &mut bytes);
        for ((_, indices), (_, unit_bytes)) in spans.iter().zip(assignment) {
            for (index, byte) in indices.iter().zip(unit_bytes) {
                bytes[*index as usize] = *byte;
            }
        }
        let look = Look::new(&state, reader.index, state.graph.events.len() as EventId);
        let thread = &mut state.threads[reader.index];
        thread.look = look.filter(|_| self.context.has_compare_exchanges);
        thread.status = Status::Running;
        thread.waits_since = None;
        thread.reads_unknown = None;
        let program = self.context.program;
        if reader.may_write && spans.iter().any(|(unit, _)| self.knowledge.is_speculated(*unit)) {
            self.note_attempts(&mut state, reader, spans, &bytes);
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
            // Before the model is asked.
            if invocation.is_discarded(program) {
                found.paths.end(PathEnd::Discarded);
                continue;
            }
            let answer = Answer { spans, assignment, bytes: &bytes, written };
            self.add_read(children, child, reader, &answer, found);
        }
    }

    /// Notes what a read-modify-write would give its units, had it read any values that writes of
    /// executions gave, or the initial ones. `bytes` are those of the access, for units of nobody.
    fn note_attempts(&self, state: &mut State, reader: &Reader, spans: &UnitSpans, bytes: &[Byte]) {
        let candidates: Vec<Assignment> = spans
            .iter()
            .map(|(unit, indices)| {
                let len = indices.len();
                let initial = state::source_bytes(state, self.knowledge, *unit, len, Source::Initial);
                let produced = self.knowledge.produced.get(&self.knowledge.key(*unit));
                let produced = produced.into_iter().flatten().filter(|value| value.len() == len);
                let values = std::iter::once(initial).chain(produced.cloned());
                values.map(|value| (Source::Pending, value)).collect()
            })
            .collect();
        let program = self.context.program;
        let invocation = &state.threads[reader.index].invocation;
        let mut attempted = Vec::new();
        for_each_assignment(&candidates, &mut |assignment| {
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
                    attempted.extend(units.zip(state::split_bytes(spans, &written)));
                }
            }
        });
        let into = Arc::make_mut(&mut state.attempted);
        into.extend(attempted);
    }

    /// Adds the event of a read that has its value.
    fn add_read(
        &self,
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
            let entry = volatile_access(reader.access, false, reader.atomic.is_some(), bytes);
            Arc::make_mut(&mut child.threads[reader.index].trace).push(entry);
        }
        if let Some(written) = written {
            event.written = state::split_bytes(spans, written).collect();
            let by = self.by(reader.index, true);
            child.write_unshared(reader.access, reader.memory, by, &mut found.discoveries, written);
            if reader.access.volatile {
                let entry = volatile_access(reader.access, true, true, written);
                Arc::make_mut(&mut child.threads[reader.index].trace).push(entry);
            }
        }
        let id = child.push(event);
        for ((unit, _), (source, value)) in spans.iter().zip(*assignment) {
            if *source == Source::Pending {
                child.pending.push(Pending { event: id, unit: *unit, value: value.clone() });
            }
        }
        if child.dirty {
            return children.push(child);
        }
        match self.judge(&mut child, found) {
            Judgement::Ends(end) => return found.paths.end(end),
            Judgement::Racy(race) => return self.record_race(&child, race, found),
            Judgement::Fine => {}
        }
        child.turn_again(id);
        self.note_history(&mut child, reader.index, id, bytes, found);
        if written.is_some() {
            self.note_writer(&child, id, found);
            if let Some(matched) = self.match_pending(&child, id, found) {
                return children.extend(matched);
            }
        }
        children.push(child);
    }
}

impl Reader<'_> {
    pub(super) fn event(&self, kind: Kind, spans: &UnitSpans) -> Event {
        let units = spans.iter().map(|(unit, _)| *unit);
        events::access_event(self.index as u32, kind, self.access, self.atomic, self.reference, units)
    }
}

/// All ways to pick one candidate a unit.
pub(super) fn for_each_assignment(candidates: &[Assignment], visit: &mut impl FnMut(&[(Source, UnitBytes)])) {
    fn go(
        candidates: &[Assignment],
        chosen: &mut Assignment,
        visit: &mut impl FnMut(&[(Source, UnitBytes)]),
    ) {
        match candidates.get(chosen.len()) {
            None => visit(chosen),
            Some(options) => {
                for option in options {
                    chosen.push(option.clone());
                    go(candidates, chosen, visit);
                    chosen.pop();
                }
            }
        }
    }
    go(candidates, &mut Assignment::new(), visit);
}

//! Which invocations may release a waiting read, and whether a cycle of load buffering can go through it.
//!
//! A waiting read takes its value from a write to come of an invocation that may wait itself. If no invocation that can
//! continue releases the read, the executions behind this point need a cycle of program order, reads-from and barriers
//! among the waiting invocations. [`load_buffering`](crate::explore::branch::load_buffering) says which of these cycles
//! the axioms forbid, and docs/semantics.md, section 3.6, says what load buffering may speculate.
//!
//! For example, a read of `flag` may wait while another invocation can still reach its store to `flag`. It may not wait
//! once that invocation has ended.

use smallvec::{smallvec, SmallVec};

use crate::explore::branch::load_buffering::{self, Waiting};
use crate::explore::branch::outlook;
use crate::explore::branch::writers;
use crate::explore::oracle;
use crate::explore::reductions::symmetry::gates;
use crate::explore::state::reader;
use crate::explore::state::{accesses, Found, Round, State};
use crate::explore::step::barrier_instances;
use crate::explore::step::loops::exits;
use crate::explore::step::loops::turns;
use crate::model::graph::Unit;
use crate::model::relation::Relation;

/// The waiting reads through which a cycle of load buffering may go.
pub(crate) fn buffered_loads(round: &Round, state: &State, found: &mut Found) -> Vec<usize> {
    let mut waiting = waiting(round, state, found);
    (0..state.threads.len())
        .filter(|index| waiting.reads[*index] && in_cycle(round, state, &mut waiting, *index, found))
        .collect()
}

/// Whether a read may wait: something can still release it, and all other reads that wait.
pub(crate) fn can_be_released(round: &Round, state: &State, reader: usize, found: &mut Found) -> bool {
    let mut waiting = waiting_invocations(round, state, Some(reader), found);
    let count = state.threads.len();
    let mut is_released_at_once = |index: usize| {
        (0..count)
            .any(|other| waiting.is_free[other] && may_release(round, state, &waiting, index, other, found))
    };
    // In most cases an invocation that can continue releases each of them, and no more is needed.
    if (0..count).all(|index| !waiting.reads[index] || is_released_at_once(index)) {
        return true;
    }
    relate(round, state, &mut waiting, found);
    (0..count).all(|index| {
        if !waiting.reads[index] {
            return true;
        }
        let spins = |index| {
            reader::reader(round, state, index).is_some_and(|other| turns::is_spinning(round, state, &other))
        };
        if index != reader && spins(index) {
            return true;
        }
        let releasing: Vec<usize> = std::iter::once(index).chain(waiting.released_by.row(index)).collect();
        releasing.iter().any(|other| waiting.is_free[*other])
            || releasing.iter().any(|other| in_cycle(round, state, &mut waiting, *other, found))
    })
}

/// The invocations that wait, and which may release which.
fn waiting(round: &Round, state: &State, found: &mut Found) -> Waiting {
    let mut waiting = waiting_invocations(round, state, None, found);
    relate(round, state, &mut waiting, found);
    waiting
}

/// The invocations that wait, if `also` waits, too.
fn waiting_invocations(round: &Round, state: &State, also: Option<usize>, found: &mut Found) -> Waiting {
    let count = state.threads.len();
    let mut waiting = Waiting {
        units: vec![SmallVec::new(); count],
        reads: vec![false; count],
        is_free: vec![false; count],
        directly_released_by: Relation::new(count),
        released_by: Relation::default(),
        in_cycle: vec![None; count],
    };
    for index in 0..count {
        let thread = &state.threads[index];
        let since = thread.waits_since.filter(|since| !reader::has_new_source(round, state, index, *since));
        waiting.reads[index] = since.is_some() || also == Some(index);
        let stands = waiting.reads[index]
            || barrier_instances::is_at_barrier(&thread.status)
            || thread.status.is_over();
        waiting.is_free[index] =
            !stands || waiting.reads[index] && exits::may_be_excused(round, state, index);
        if waiting.reads[index] {
            let units = reader::reader(round, state, index)
                .and_then(|reader| accesses::units_of(reader.access, reader.memory, round.knowledge, |_| {}));
            waiting.units[index] = units.into_iter().flatten().map(|(unit, _)| unit).collect();
            let keys = waiting.units[index].iter().map(|unit| round.knowledge.key(*unit));
            found.discoveries.wanted_writers.extend(keys);
        }
    }
    for index in 0..count {
        let gate = gates::gate(round, state, index).filter(|(gate, _)| !waiting.is_free[*gate]);
        if let Some((gate, unit)) = gate {
            // It cannot read before the other one has read.
            waiting.is_free[index] = false;
            waiting.reads[index] = true;
            waiting.units[index] = smallvec![unit];
            waiting.directly_released_by.insert(index, gate);
            found.discoveries.wanted_writers.insert(round.knowledge.key(unit));
        }
    }
    waiting
}

/// Adds which invocations may release which.
fn relate(round: &Round, state: &State, waiting: &mut Waiting, found: &mut Found) {
    for index in 0..state.threads.len() {
        for other in 0..state.threads.len() {
            if may_release(round, state, waiting, index, other, found) {
                waiting.directly_released_by.insert(index, other);
            }
        }
    }
    waiting.released_by = waiting.directly_released_by.clone();
    waiting.released_by.close();
}

/// Whether what `other` may still do lets `index` continue from where it stands.
fn may_release(
    round: &Round,
    state: &State,
    waiting: &Waiting,
    index: usize,
    other: usize,
    found: &mut Found,
) -> bool {
    if index == other {
        return false;
    }
    match waiting.reads[index] {
        true => {
            let may_write = |unit: &Unit| {
                writers::may_write(round, state, other, *unit, None)
                    && !load_buffering::is_ordered_by_barrier(round, state, other, (index, *unit), found)
                    && (waiting.is_free[other] || outlook::is_in_outlook(round, state, other, *unit, None))
            };
            !gates::follows(round, state, other, index) && waiting.units[index].iter().any(may_write)
        }
        // At a barrier any invocation may help that may still arrive there.
        false => {
            barrier_instances::is_at_barrier(&state.threads[index].status)
                && !state.threads[other].status.is_over()
        }
    }
}

/// Whether an invocation is in a cycle of invocations that release each other, and the axioms may allow the cycle.
fn in_cycle(round: &Round, state: &State, waiting: &mut Waiting, index: usize, found: &mut Found) -> bool {
    if let Some(known) = waiting.in_cycle[index] {
        return known;
    }
    let axioms = round.context.settings.axioms;
    if axioms && !oracle::model(round).permits_load_buffering() {
        return false;
    }
    let released_by = &waiting.released_by;
    let members = released_by.row(index).filter(|other| released_by.contains(*other, index));
    let members: Vec<usize> = members.collect();
    let reads_again = |reader: usize| {
        // Through another reference it may release itself.
        reader::reader(round, state, reader)
            .is_some_and(|reader| !writers::has_one_reference(round, reader.memory))
    };
    let answers = if waiting.reads[index] && (reads_again(index) || !axioms) {
        vec![(index, true)]
    } else if members.is_empty() || !axioms {
        vec![(index, !members.is_empty())]
    } else {
        load_buffering::all_in_open_cycles(round, state, waiting, &members, index, found)
    };
    if round.in_group && !members.is_empty() && answers.iter().any(|(_, answer)| !answer) {
        let units = waiting.units.iter().flatten();
        found.discoveries.closed.extend(units.map(|unit| {
            let (memory, offset) = round.knowledge.key(*unit);
            (memory, offset / 4 * 4)
        }));
    }
    for (member, answer) in answers {
        waiting.in_cycle[member].get_or_insert(answer || waiting.reads[member] && reads_again(member));
    }
    waiting.in_cycle[index].unwrap_or(true)
}

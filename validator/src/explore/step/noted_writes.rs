//! What a new write teaches: the invocation that writes a unit, the instruction, and how it writes.

use crate::explore::facts::discoveries::Manner;
use crate::explore::reductions::symmetry::gates;
use crate::explore::state::accesses::UnitSpans;
use crate::explore::state::reader::Reader;
use crate::explore::state::{Found, Round, State};
use crate::ir::InstId;
use crate::model::graph::{Event, EventId, Unit};

/// Notes that an invocation may write, at a read-modify-write.
pub(crate) fn note_possible_writer(round: &Round, reader: &Reader, spans: &UnitSpans, found: &mut Found) {
    let writer = (reader.index as u32, reader.access.inst);
    spans.iter().for_each(|(unit, _)| note_writer_of(round, *unit, writer, found));
    let class = reader.access.class.semantics_bit();
    let manner = Manner { reference: reader.reference, class, non_private: reader.access.non_private };
    note_manner(round, writer, manner, found);
}

/// Notes that an invocation wrote.
pub(crate) fn note_writer(round: &Round, state: &State, id: EventId, found: &mut Found) {
    gates::check_first_order(round, state, id, found);
    let event = &state.graph.events[id as usize];
    let writer = (event.agent, event.inst);
    event.units.iter().for_each(|unit| note_writer_of(round, *unit, writer, found));
    if round.context.has_compare_exchanges {
        for (unit, bytes) in event.units.iter().zip(&event.written) {
            if !round.knowledge.seen(*unit).contains(bytes) {
                let key = round.knowledge.key(*unit);
                found.discoveries.seen.entry(key).or_default().insert(bytes.clone());
            }
        }
    }
    let Event { reference, class, non_private, .. } = **event;
    let manner = Manner { reference, class, non_private };
    note_manner(round, writer, manner, found);
}

fn note_writer_of(round: &Round, unit: Unit, writer: (u32, InstId), found: &mut Found) {
    if !round.knowledge.writers(unit, writer.0).contains(&writer) {
        found.discoveries.writers.entry(round.knowledge.key(unit)).or_default().insert(writer);
    }
}

fn note_manner(round: &Round, writer: (u32, InstId), manner: Manner, found: &mut Found) {
    if !round.knowledge.manners.get(&writer).is_some_and(|manners| manners.contains(&manner)) {
        found.discoveries.manners.entry(writer).or_default().insert(manner);
    }
}

//! An execution with what its model derives from it.

use std::borrow::Cow;

use super::order;
use crate::ir::Line;
use crate::model::explain::Violation;
use crate::model::graph::Graph;
use crate::model::memory_model::{DataRace, Relations};
use crate::model::relation::Relation;
use crate::witness::{Witness, WitnessEvent};

/// Events beyond which a model's relations are not derived for a picture: their number of pairs decides the time.
const MOST_EVENTS: usize = 6_000;

/// An execution, derived once for all its pictures.
pub(in crate::report) struct Execution<'a> {
    pub(in crate::report) witness: &'a Witness,
    pub(in crate::report) graph: Cow<'a, Graph>,
    pub(in crate::report) events: Vec<WitnessEvent>,
    /// `None` where they are not derived.
    pub(super) relations: Option<Relations>,
    /// For each event its place from top to bottom.
    pub(super) rank: Vec<usize>,
    /// From-reads, ascending.
    pub(super) from_reads: Vec<(usize, usize)>,
    /// What is not derived, in words.
    pub(super) left_out: Vec<String>,
}

impl<'a> Execution<'a> {
    /// That of a witness. Relations are derived only while there is time.
    pub(in crate::report) fn of(witness: &'a Witness, is_over: &dyn Fn() -> bool) -> Execution<'a> {
        let graph = witness.graph();
        let count = graph.events.len();
        let reason = match (is_over(), count > MOST_EVENTS) {
            (true, _) => Some("because time ran out (--timeout)".to_owned()),
            (false, true) => Some(format!("of {count} events; the limit is {MOST_EVENTS}")),
            (false, false) => None,
        };
        let relations = reason.is_none().then(|| witness.relations(&graph));
        let from_reads =
            relations.as_ref().map_or(Vec::new(), |relations| witness.model.reads_before(&graph, relations));
        let events = match &relations {
            Some(relations) => witness.events_of(&graph, &relations.synchronizes_with),
            None => witness.events_of(&graph, &Relation::new(count)),
        };
        let left_out = reason.map(|reason| format!("all relations but reads-from, {reason}"));
        let (rank, left_out) = ((0..count).collect(), left_out.into_iter().collect());
        Execution { witness, graph, events, relations, rank, from_reads, left_out }
    }

    /// Draws the events in another order than that of the graph: by `keys`, as far as program order allows it, and
    /// with what stands at one control barrier together. An event without a key follows the one before it.
    pub(in crate::report) fn order_by(&mut self, keys: &[Option<usize>]) {
        self.rank = order::rank(&self.graph, keys);
    }

    /// What keeps it from being an execution.
    pub(in crate::report) fn violation(&self) -> Option<Violation> {
        self.witness.model.violation(&self.graph, self.relations.as_ref()?)
    }

    /// The data race between accesses on these lines, or else the first one.
    pub(in crate::report) fn race_on(&self, lines: &[Line]) -> Option<[usize; 2]> {
        let races = self.witness.model.data_races(&self.graph, self.relations.as_ref()?);
        let is_on = |race: &&DataRace| {
            [race.first, race.second].iter().all(|event| lines.contains(&self.events[*event as usize].line))
        };
        let race = races.iter().find(is_on).or(races.first())?;
        Some([race.first as usize, race.second as usize])
    }
}

//! Makes witnesses from executions that a search found.

use crate::explore::state::Round;
use crate::model::graph::Graph;
use crate::model::memory_model::{DataRace, MemoryModel};
use crate::model::relation::Relation;
use crate::witness::{describe, Execution, Witness};

/// A witness. It has `synchronizes_with` if the graph alone does not determine it.
pub(crate) fn witness(round: &Round, execution: Execution, synchronizes_with: Option<&Relation>) -> Witness {
    Witness {
        executions: 1,
        execution,
        units: round.knowledge.units().clone(),
        model: round.context.settings.model.clone(),
        synchronizes_with: synchronizes_with.cloned().map(Box::new),
    }
}

/// A sentence about a race, without line numbers.
pub(crate) fn race_detail(graph: &Graph, race: DataRace, model: &dyn MemoryModel) -> String {
    let (a, b) = (&graph.events[race.first as usize], &graph.events[race.second as usize]);
    format!(
        "{} by invocation {} and {} by invocation {} are not ordered",
        describe(a, model),
        a.agent,
        describe(b, model),
        b.agent
    )
}

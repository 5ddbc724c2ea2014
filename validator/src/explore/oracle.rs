//! The only door to the memory model while graphs grow: whether a graph is an execution so far, its races, and the
//! values that the host may read at the end.
//!
//! A round judges a graph by relations that grow with it, where it has them, and by the declared relations otherwise.

use std::sync::Arc;

use crate::behaviour::{Bound, PathEnd};
use crate::explore::settings::{Races, Remarkable};
use crate::explore::state::found;
use crate::explore::state::{Found, Round, State};
use crate::model::graph::{Graph, Unit};
use crate::model::memory_model::{
    own, DataRace, Extent, FinalValues, GrowingRelations, MemoryModel, Relations,
};
use crate::model::relation::Relation;

/// The judgement of the model about a graph.
pub(crate) enum Judgement {
    /// The graph is no execution, or it is not known whether it is one.
    Ends(PathEnd),
    Racy(DataRace),
    Fine,
}

/// A complete graph that is an execution. If its relations depend on scoped modification order, it has one orientation
/// of that order.
pub(crate) enum Execution {
    Grown(Arc<dyn GrowingRelations>),
    Derived(Arc<Relations>),
}

impl Execution {
    /// Synchronizes-with, if the graph alone does not determine it.
    pub(crate) fn synchronizes_with(&self) -> Option<&Relation> {
        match self {
            Execution::Grown(_) => None,
            Execution::Derived(relations) => {
                relations.modification_order.as_ref().map(|_| &relations.synchronizes_with)
            }
        }
    }
}

/// The memory model of a search.
pub(crate) fn model<'a>(round: &Round<'a>) -> &'a dyn MemoryModel {
    &*round.context.settings.model
}

/// The relations of a graph that may still grow.
pub(crate) fn relations(round: &Round, graph: &Graph) -> Relations {
    let extent = match round.knowledge.orders_matter {
        true => Extent::Beginning,
        false => Extent::Complete,
    };
    model(round).relations(graph, extent)
}

/// Whether the graph is an execution so far.
pub(crate) fn judge(round: &Round, state: &mut State, found: &mut Found) -> Judgement {
    let orders_matter = round.knowledge.orders_matter;
    if !orders_matter && model(round).depends_on_order(&state.graph) {
        let is_decided = model(round).depends_for_later_reads(&state.graph) && grow(round, state);
        if is_decided && state.growing.as_mut().is_some_and(|growing| !own(growing).is_consistent()) {
            return Judgement::Ends(PathEnd::Consistency);
        }
        found.discoveries.orders_matter = true;
        state.dirty = true;
        return Judgement::Fine;
    }
    let races_count = round.context.settings.races == Races::Undefined && !orders_matter;
    if grow(round, state) {
        return judge_grown(round, state, races_count, found);
    }
    if round.context.budget.charge(state.graph.events.len(), 0) {
        return Judgement::Ends(PathEnd::Budget);
    }
    found.judged_anew += u64::from(state.speculated > 0);
    let relations = Arc::new(relations(round, &state.graph));
    if round.context.settings.axioms && !model(round).is_consistent(&state.graph, &relations) {
        return Judgement::Ends(PathEnd::Consistency);
    }
    if races_count && state.promises.is_empty() {
        if let Some(race) = model(round).data_races(&state.graph, &relations).first() {
            return Judgement::Racy(*race);
        }
    }
    state.judged = Some((state.graph.events.len(), relations));
    Judgement::Fine
}

/// Extends the growing relations to the whole graph. It returns false if the graph has none.
pub(crate) fn grow(round: &Round, state: &mut State) -> bool {
    let Some(growing) = &mut state.growing else { return false };
    let is_grown = !round.knowledge.orders_matter && own(growing).extend(&state.graph);
    if !is_grown {
        state.growing = None;
    }
    is_grown
}

fn judge_grown(round: &Round, state: &mut State, races_count: bool, found: &mut Found) -> Judgement {
    let Some(growing) = &mut state.growing else { return Judgement::Fine };
    let judgement = match own(growing).is_consistent() {
        false => Judgement::Ends(PathEnd::Consistency),
        true => match growing.data_race().filter(|_| races_count) {
            Some(race) => Judgement::Racy(race),
            None => Judgement::Fine,
        },
    };
    if round.context.settings.verify_engine {
        verify(round, &state.graph, races_count, &judgement, found);
    }
    judgement
}

/// Compares a judgement with one by the relations as the specification declares them (`--verify-engine`).
fn verify(round: &Round, graph: &Graph, races_count: bool, judgement: &Judgement, found: &mut Found) {
    let relations = relations(round, graph);
    let is_consistent = model(round).is_consistent(graph, &relations);
    let races = || model(round).data_races(graph, &relations);
    let agrees = match judgement {
        Judgement::Ends(_) => !is_consistent,
        Judgement::Racy(race) => is_consistent && races().first() == Some(race),
        Judgement::Fine => is_consistent && (!races_count || races().is_empty()),
    };
    if !agrees {
        found::disagree(found, "whether a graph is an execution");
    }
}

/// The ways in which the graph is an execution: there are several if its relations depend on scoped modification order.
/// If the graph is no execution, the result says why the path ends.
pub(crate) fn executions(
    round: &Round,
    state: &mut State,
    found: &mut Found,
) -> Result<Vec<Execution>, PathEnd> {
    let orders_matter = round.knowledge.orders_matter;
    if let Some(relations) = judged(state).filter(|_| !orders_matter) {
        return Ok(vec![Execution::Derived(relations.clone())]);
    }
    if !orders_matter && model(round).depends_on_order(&state.graph) {
        found.discoveries.orders_matter = true;
        found.stop = true;
        return Err(PathEnd::Relearned);
    }
    if grow(round, state) {
        return match (judge_grown(round, state, false, found), &state.growing) {
            (Judgement::Fine, Some(growing)) => Ok(vec![Execution::Grown(growing.clone())]),
            _ => Err(PathEnd::Consistency),
        };
    }
    if round.context.budget.charge(state.graph.events.len(), 0) {
        return Err(PathEnd::Budget);
    }
    if !round.context.settings.axioms {
        let relations = model(round).relations(&state.graph, Extent::Complete);
        return Ok(vec![Execution::Derived(Arc::new(relations))]);
    }
    match model(round).executions(&state.graph) {
        Some(executions) if executions.is_empty() => Err(PathEnd::Consistency),
        Some(executions) => Ok(executions.into_iter().map(|r| Execution::Derived(Arc::new(r))).collect()),
        None => {
            found.bounded.get_or_insert(Bound::OrdersOfWrites);
            Err(PathEnd::OrdersOfWrites)
        }
    }
}

/// A race in one of these executions, if races count.
pub(crate) fn race(round: &Round, state: &State, executions: &[Execution]) -> Option<DataRace> {
    if round.context.settings.races == Races::Keep {
        return None;
    }
    executions.iter().find_map(|execution| match execution {
        Execution::Grown(growing) => growing.data_race(),
        // The judgement of this graph already looked for races and found none.
        Execution::Derived(_) if judged(state).is_some() && !round.knowledge.orders_matter => None,
        Execution::Derived(relations) => model(round).data_races(&state.graph, relations).first().copied(),
    })
}

/// The values that a read by the host after the dispatch may see.
pub(crate) fn final_values(
    round: &Round,
    graph: &Graph,
    execution: &Execution,
    observed: &dyn Fn(Unit) -> bool,
    found: &mut Found,
) -> Vec<FinalValues> {
    match execution {
        Execution::Derived(relations) => model(round).final_values(graph, relations, observed),
        Execution::Grown(growing) => {
            let values = growing.final_values(graph, observed);
            if round.context.settings.verify_engine {
                let relations = model(round).relations(graph, Extent::Complete);
                if values != model(round).final_values(graph, &relations, observed) {
                    found::disagree(found, "final values");
                }
            }
            values
        }
    }
}

/// The remarks on an execution.
pub(crate) fn remarks(round: &Round, graph: &Graph, execution: &Execution) -> Vec<u32> {
    let Some(remark) = round.context.settings.remark else { return Vec::new() };
    let model = model(round);
    let derived = match execution {
        Execution::Derived(relations) => relations.clone(),
        Execution::Grown(growing) if growing.data_race().is_none() => {
            return remark(&Remarkable { model, graph, races: &[], modification_order: None });
        }
        Execution::Grown(_) => Arc::new(model.relations(graph, Extent::Complete)),
    };
    let races = model.data_races(graph, &derived);
    let modification_order = derived.modification_order.as_ref();
    remark(&Remarkable { model, graph, races: &races, modification_order })
}

/// The relations of the graph, if it was judged in its present form, races included.
fn judged(state: &State) -> Option<&Arc<Relations>> {
    let (events, relations) = state.judged.as_ref()?;
    (*events == state.graph.events.len()).then_some(relations)
}

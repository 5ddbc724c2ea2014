//! Why before forbids what after does, in words.
//!
//! The guilty execution of after is replayed on before: before's invocations run with the values
//! that after's read, and its events are matched with after's ([`replay`]). Then either before has
//! an ordering that the same events of after lack, or the axioms forbid before's graph by a cycle
//! ([`order`]), or matched writes differ in value. The first of these is told, with the lines of
//! both modules ([`words`]).
//!
//! Explanations are best effort: where before and after differ too much to match events there is
//! none. They never influence a verdict.

mod order;
mod replay;
mod words;

use crate::behaviour::Witness;
use crate::dispatch::Dispatch;
use crate::ir::Program;
use crate::model::consistency::Judge;
use crate::model::graph::EventId;
use crate::model::vulkan::{self, Variant};

/// One module with its dispatch.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub program: &'a Program,
    pub dispatch: &'a Dispatch,
}

/// Says why `before` does not allow the execution `witness` of after.
pub fn why(before: Side, after: &Dispatch, witness: &Witness, variant: Variant) -> Option<String> {
    let replay = replay::run(before, after, witness);
    let told = words::Told { before: &replay.graph, after: &witness.graph, of_after: &replay.of_after };
    let relations_before = vulkan::relations(&replay.graph, variant);
    let relations_after = vulkan::relations(&witness.graph, variant);
    let judge_after = Judge { graph: &witness.graph, relations: &relations_after, variant };
    let of_before = |event: EventId| replay.of_after.iter().position(|other| *other == Some(event));
    for race in judge_after.data_races() {
        let (Some(a), Some(b)) = (of_before(race.first), of_before(race.second)) else { continue };
        for (first, second) in [(a, b), (b, a)] {
            if order::is_location_ordered(&relations_before, first, second) {
                let path = order::path(&replay.graph, &relations_before, first, second);
                return Some(told.lost_order(&path, first, second, &relations_after));
            }
        }
    }
    if let Some(cycle) = order::shortest_cycle(&replay.graph, &relations_before, variant) {
        return Some(told.cycle(&cycle, &relations_before, &relations_after));
    }
    told.different_write().or_else(|| told.unmatched())
}

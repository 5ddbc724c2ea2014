//! Why memory cannot end with a value.

use super::cycle::{self, Proof};
use super::forbidden::Teller;
use crate::consistency::Judge;
use crate::explain::Explanation;
use crate::graph::{Unit, UnitBytes};
use crate::vulkan::Location;

/// Why no write of these bytes can be the last one to the unit, in an execution. `None` where one can, or
/// where there is none.
pub(super) fn overwritten(
    judge: &Judge,
    teller: &Teller,
    unit: Unit,
    bytes: &UnitBytes,
) -> Option<Explanation> {
    let location = judge.relations.locations.iter().find(|location| location.unit == unit)?;
    let events = &judge.graph.events;
    let leaves = |write: &usize| events[*write].writes() && events[*write].written_to(unit) == Some(bytes);
    let writes = location.events.iter().map(|event| *event as usize).filter(leaves);
    let mut explanations = Vec::new();
    for write in writes {
        explanations.push(why_not_last(judge, teller, location, write)?);
    }
    let first = explanations.first()?.sentence.clone();
    Some(Explanation { sentence: first, chain: explanations.into_iter().flat_map(|one| one.chain).collect() })
}

fn why_not_last(judge: &Judge, teller: &Teller, location: &Location, write: usize) -> Option<Explanation> {
    let name = (teller.long)(write);
    let position = location.index(write)?;
    let mut later = location.location_ordered.row(position).map(|other| location.events[other] as usize);
    if let Some(later) = later.find(|other| judge.graph.events[*other].writes()) {
        let sentence =
            format!("memory cannot end as {name} leaves it: {} overwrites it", (teller.long)(later));
        return Some(Explanation {
            sentence,
            chain: vec![teller.location_ordered(write, later, location.unit)],
        });
    }
    let proof: Proof = cycle::refute_last(judge, write)?;
    let Explanation { sentence, chain } = teller.proof(&proof);
    let mut steps = vec![format!("were it the last one in scoped modification order: {sentence}")];
    steps.extend(chain.into_iter().map(|step| format!("  {step}")));
    Some(Explanation { sentence: format!("memory cannot end as {name} leaves it"), chain: steps })
}

//! Explanations, in words: why a graph is no execution ([`forbidden`]), why two accesses race and what
//! would order them ([`race`]), why before forbids what after does ([`why`]).
//!
//! The first two take a graph from wherever, with [`Names`] for what it is about. For the third the
//! guilty execution of after is replayed on before: before's invocations run with the values that
//! after's read, and its events are matched with after's ([`replay`]). Then either before has an ordering
//! that the same events of after lack, or the axioms forbid before's graph, or matched writes differ in
//! value. The first of these is told, with the lines of both modules ([`words`]).
//!
//! Explanations are best effort: where before and after differ too much to match events there is
//! none. They never influence a verdict.

mod cycle;
mod derivation;
mod forbidden;
mod last;
mod names;
mod outcome;
mod race;
mod repair;
mod replay;
mod words;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::behaviour::Outcome;
use crate::dispatch::Dispatch;
use crate::explore::Settings;
use crate::ir::{Line, Program};
use crate::model::consistency::{self, DataRace, Judge};
use crate::model::graph::{EventId, Graph, UnitBytes};
use crate::model::release_sequence;
use crate::model::vulkan::{self, Relations, Variant};
use crate::witness::Witness;

use cycle::{Edge, Named, Older, Orientation, Proof};
use derivation::{ordered_units, Deriver};
pub use forbidden::forbidden;
use forbidden::Teller;
pub use names::{DispatchNames, Names};
use outcome::Wanted;
pub use race::race;
use words::Told;

/// A sentence for a shader programmer, and the relations behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// Without a full stop.
    pub sentence: String,
    /// Named relations with the lines of instructions, one a line.
    pub chain: Vec<String>,
}

/// The sentence, then the chain, indented.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)?;
        self.chain.iter().try_for_each(|step| write!(f, "\n  {step}"))
    }
}

/// One module with its dispatch.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    pub program: &'a Program,
    pub dispatch: &'a Dispatch,
}

/// Why a witness has the data race between the accesses on these lines; its first race, where those are not
/// in its graph.
pub fn race_of(
    witness: &Witness,
    lines: &[Line],
    variant: Variant,
    names: &dyn Names,
) -> Option<Explanation> {
    let graph = &*witness.graph();
    let races: Vec<DataRace> = possible(graph, variant)
        .iter()
        .flat_map(|relations| Judge { graph, relations, variant }.data_races())
        .collect();
    let on_lines = |found: &&DataRace| {
        let line = |event: EventId| graph.events.get(event as usize).map(|event| event.line);
        [found.first, found.second].iter().all(|event| line(*event).is_some_and(|line| lines.contains(&line)))
    };
    let found = races.iter().find(on_lines).or(races.first())?;
    Some(race(graph, *found, variant, names))
}

/// The relations of a graph: several where they depend on scoped modification order. Where none of them
/// makes it an execution, as while it is not complete, those of its reads-from edges.
fn possible(graph: &Graph, variant: Variant) -> Vec<Relations> {
    let executions = match release_sequence::depend_on_order(graph) {
        true => consistency::executions(graph, variant).unwrap_or_default(),
        false => Vec::new(),
    };
    match executions.is_empty() {
        true => vec![vulkan::relations(graph, variant)],
        false => executions,
    }
}

/// What is new in after.
#[derive(Clone, Copy)]
pub enum New<'a> {
    Race,
    /// Another undefined behaviour.
    Undefined,
    Outcome(&'a Outcome),
}

/// Says why `before` does not allow what is `new` in the execution `witness` of after; `settings` are those
/// of the searches.
pub fn why(
    before: Side,
    after: &Dispatch,
    witness: &Witness,
    new: New,
    settings: &Settings,
) -> Option<String> {
    let variant = settings.variant;
    let graph = &*witness.graph();
    let replay = replay::run(before, after, witness);
    let relations = vulkan::relations(&replay.graph, variant);
    let relations_after = vulkan::relations(graph, variant);
    let names = DispatchNames::of(after, before.program);
    let told = Told { before: &replay.graph, after: graph, of_after: &replay.of_after, names: &names };
    let deriver = Deriver::new(&replay.graph, &relations, variant);
    let (long, short) = (|event: usize| told.long(event), |event: usize| told.name(event));
    let teller = Teller { deriver, long: &long, short: &short, names: &names };
    let pair = Compared { told: &told, teller: &teller, relations: &relations, after: &relations_after };
    let races = Judge { graph, relations: &relations_after, variant }.data_races();
    let in_after = |found: DataRace| format!("in after {}", race(graph, found, variant, &names));
    if let Some((found, text)) = races.iter().find_map(|found| Some((*found, pair.lost_order(*found)?))) {
        return Some(format!("{text}\n{}", in_after(found)));
    }
    let judge = Judge { graph: &replay.graph, relations: &relations, variant };
    let reason = match cycle::refute(&judge) {
        Some(proof) => Some(pair.forbidden(&proof)),
        None => told.different_write().or_else(|| match new {
            New::Outcome(outcome) => {
                let wanted = Wanted { outcome, dispatch: after };
                not_left(&judge, &teller, witness, wanted).or_else(|| {
                    let explanation = outcome::unreachable(before, wanted, settings)?;
                    Some(format!("before forbids this: {explanation}"))
                })
            }
            New::Race | New::Undefined => None,
        }),
    };
    let reason = reason.or_else(|| told.unmatched());
    let race = races.first().filter(|_| matches!(new, New::Race)).map(|found| in_after(*found));
    let parts: Vec<String> = reason.into_iter().chain(race).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

/// Why before's graph cannot leave the memory of an outcome of after.
fn not_left(judge: &Judge, teller: &Teller, witness: &Witness, wanted: Wanted) -> Option<String> {
    let Wanted { outcome, dispatch } = wanted;
    let observed = || dispatch.objects.iter().filter(|object| object.observed).zip(&outcome.memory);
    judge.relations.locations.iter().find_map(|location| {
        let (memory, offset) = *witness.units.get(location.unit as usize)?;
        let (_, bytes) = observed().find(|(object, _)| object.memory == memory)?;
        let mut events = location.events.iter().map(|event| &judge.graph.events[*event as usize]);
        let len = events.find_map(|event| event.written_to(location.unit).map(|bytes| bytes.len()))?;
        let left: UnitBytes = bytes.iter().skip(offset as usize).take(len).copied().collect();
        let explanation = last::overwritten(judge, teller, location.unit, &left)?;
        Some(format!("before forbids this: {explanation}"))
    })
}

/// Before's graph and its events in after.
struct Compared<'a> {
    told: &'a Told<'a>,
    teller: &'a Teller<'a>,
    relations: &'a Relations,
    after: &'a Relations,
}

impl Compared<'_> {
    /// The ordering of before between two accesses that race in after.
    fn lost_order(&self, race: DataRace) -> Option<String> {
        let of_before = |event: EventId| self.told.of_after.iter().position(|other| *other == Some(event));
        let (a, b) = (of_before(race.first)?, of_before(race.second)?);
        [(a, b), (b, a)].into_iter().find_map(|(first, second)| {
            let unit = ordered_units(self.relations, first, second).next()?;
            let derived = self.teller.deriver.location_ordered(first, second, unit)?;
            let (first_name, second_name) = (self.told.long(first), self.told.long(second));
            let way = self.teller.derived(first, &derived);
            let changes = self.told.changes(&derived, first, self.after);
            Some(format!("before orders {first_name} before {second_name} {way}{}", but(&changes)))
        })
    }

    /// Why before's graph is no execution, and what after changed about it.
    fn forbidden(&self, proof: &Proof) -> String {
        let text = format!("before forbids this: {}", self.teller.proof(proof));
        let lost = orderings(proof).into_iter().find_map(|(first, second)| {
            if self.told.ordered_in_after(first, second, self.after) {
                return None;
            }
            let unit = ordered_units(self.relations, first, second).next()?;
            let derived = self.teller.deriver.location_ordered(first, second, unit)?;
            Some(self.told.changes(&derived, first, self.after)).filter(|changes| !changes.is_empty())
        });
        match lost {
            Some(changes) => format!("{text}\nbut {}", changes.join(", and ")),
            None => text,
        }
    }
}

fn but(changes: &[String]) -> String {
    match changes {
        [] => String::new(),
        _ => format!("; but {}", changes.join(", and ")),
    }
}

/// The location-ordered pairs that a proof rests on.
fn orderings(proof: &Proof) -> Vec<(usize, usize)> {
    match proof {
        Proof::Shadowed { write, later, read, .. } => vec![(*write, *later), (*later, *read)],
        Proof::Cycle(cycle) => cycle.iter().flat_map(orderings_of_edge).collect(),
        Proof::BothWays { forward, backward, .. } => [orderings(forward), orderings(backward)].concat(),
    }
}

fn orderings_of_edge(edge: &Edge) -> Vec<(usize, usize)> {
    let reason = match &edge.relation {
        Named::LocationOrdered(_) => return vec![(edge.from, edge.to)],
        Named::FromReads(Older::LocationOrdered(write, _)) => return vec![(*write, edge.to)],
        Named::ReadsFrom | Named::FromReads(Older::Initial) => return Vec::new(),
        Named::FromReads(Older::ScopedModificationOrder(_, reason)) => reason,
        Named::ScopedModificationOrder(reason) => reason,
    };
    match reason {
        Orientation::Assumed => Vec::new(),
        Orientation::Forced(cycle) => cycle.iter().flat_map(orderings_of_edge).collect(),
    }
}

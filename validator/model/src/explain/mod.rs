//! What explanations say of a graph, and the words for it. A model gives at least the axiom that a graph violates with
//! a cycle ([`Violation`]); what it can say beyond that is behind [`Explainer`].

mod names;
pub(crate) mod vulkan;

use std::fmt;

use crate::graph::{Event, Graph, Source, Unit, UnitBytes};
use crate::memory_model::{DataRace, FinalValues, LastWrites, MemoryModel, Relations};

pub use names::{
    class_names, instance_name, kind_name, listed, long, order_name, ordered_kind_name, short, Names,
};

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

/// An axiom that a graph violates, and a cycle of relations that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Its name in the model's text.
    pub axiom: &'static str,
    /// Each edge begins where the one before it ends.
    pub cycle: Vec<Edge>,
}

/// Two events that a relation relates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The event that comes first, by its place in the graph.
    pub from: usize,
    /// The event that comes later, by its place in the graph.
    pub to: usize,
    /// The relation's name.
    pub relation: &'static str,
}

/// How an explanation names the events of its graph.
#[derive(Clone, Copy)]
pub struct Telling<'a> {
    /// An event with all that tells it apart.
    pub long: &'a dyn Fn(usize) -> String,
    /// An event by its line.
    pub short: &'a dyn Fn(usize) -> String,
    /// The names of places and agents.
    pub names: &'a dyn Names,
}

/// Explains the orderings of one graph.
pub trait Explainer {
    /// How a model orders one access before another at a unit; `None` where it does not.
    fn ordering(&self, first: usize, second: usize, unit: Unit) -> Option<Ordering>;

    /// Why the graph is no execution; `None` if it is one, or where that is not found.
    fn refutation(&self) -> Option<Refutation>;

    /// Why no write of these bytes can be the last one to the unit. `None` where one can, where there is none, or
    /// where that is not found.
    fn overwritten(&self, _unit: Unit, _bytes: &UnitBytes) -> Option<Explanation> {
        None
    }

    /// Why no execution with this graph leaves these bytes in all of these units, where others restrict which write is
    /// the last one to each. `None` where one does, or where that is not found.
    fn excluded(&self, _left: &[(Unit, UnitBytes)]) -> Option<Explanation> {
        None
    }
}

/// How one access is ordered before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// Begins with "by".
    pub way: String,
    /// The events on the way, the accesses included.
    pub events: Vec<usize>,
    /// Events whose availability operations form the chain that it rests on; empty where it needs none.
    pub available: Vec<usize>,
    /// Events whose visibility operations form the chain that it rests on; empty where it needs none.
    pub visible: Vec<usize>,
}

/// Why a graph is no execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// The axiom and the cycle, in words.
    pub explanation: Explanation,
    /// The ordered accesses that it rests on.
    pub orderings: Vec<(usize, usize)>,
    /// Other events that it rests on.
    pub events: Vec<usize>,
    /// The axiom, and a cycle that shows it; where no order of writes makes the graph an execution, one of several.
    pub violation: Violation,
}

/// The explainer of a model that has only [`Violation`]s.
pub struct Plain<'a, M: ?Sized> {
    /// The model whose violations are told.
    pub model: &'a M,
    /// The graph that is explained.
    pub graph: &'a Graph,
    /// What the model derives from the graph.
    pub relations: &'a Relations,
    /// How its events are named.
    pub telling: Telling<'a>,
}

impl<M: MemoryModel + ?Sized> Explainer for Plain<'_, M> {
    fn ordering(&self, first: usize, second: usize, unit: Unit) -> Option<Ordering> {
        self.relations.ordered_units(first, second).find(|other| *other == unit)?;
        let steps = self.steps(first, second);
        let way = match &steps[..] {
            [] => "by happens-before".to_owned(),
            _ => format!("by {}", self.told(&steps)),
        };
        let on_the_way = steps.split_last().map_or(&[][..], |(_, between)| between);
        let events = std::iter::once(first).chain(on_the_way.iter().map(|(_, event)| *event));
        let events = events.chain([second]).collect();
        Some(Ordering { way, events, available: Vec::new(), visible: Vec::new() })
    }

    fn refutation(&self) -> Option<Refutation> {
        let violation = self.model.violation(self.graph, self.relations)?;
        let ordered = |edge: &&Edge| self.relations.ordered_units(edge.from, edge.to).next().is_some();
        let orderings = violation.cycle.iter().filter(ordered).map(|edge| (edge.from, edge.to)).collect();
        let events = violation.cycle.iter().map(|edge| edge.from).collect();
        let explanation = violated(&violation, &self.telling);
        Some(Refutation { explanation, orderings, events, violation })
    }

    fn excluded(&self, left: &[(Unit, UnitBytes)]) -> Option<Explanation> {
        let leaves = |write: usize, unit: Unit, bytes: &UnitBytes| {
            self.graph.events[write].written_to(unit).is_some_and(|written| written == bytes)
        };
        let observed = |unit: Unit| left.iter().any(|(other, _)| *other == unit);
        let all = self.model.final_values(self.graph, self.relations, &observed);
        let FinalValues { units, .. } = all.iter().find(|values| {
            let is_left = |last: &LastWrites| {
                let mut last = values.units.iter().zip(last);
                last.all(|(unit, write)| {
                    left.iter().all(|(other, bytes)| other != unit || leaves(*write as usize, *unit, bytes))
                })
            };
            !values.last_writes.iter().any(is_left)
        })?;
        let mut last = Vec::new();
        for (unit, bytes) in left.iter().filter(|(unit, _)| units.contains(unit)) {
            let location = self.relations.location(*unit)?;
            let writes: Vec<usize> = location.events.iter().map(|event| *event as usize).collect();
            let mut writes = writes.into_iter().filter(|event| self.graph.events[*event].writes());
            let write = writes.clone().find(|write| leaves(*write, *unit, bytes))?;
            // The only write of a unit excludes nothing.
            if writes.nth(1).is_some() {
                last.push((self.telling.long)(write));
            }
        }
        let sentence = match &last[..] {
            [one] => format!("{one} is not the last write in any execution with these reads"),
            _ => format!(
                "{} are not the last writes together in any execution with these reads",
                listed(&last)
            ),
        };
        Some(Explanation { sentence, chain: Vec::new() })
    }
}

impl<M: MemoryModel + ?Sized> Plain<'_, M> {
    /// The shortest way from one event to another by program order and synchronizes-with: where each step leads, and
    /// whether it synchronizes. Empty where these do not lead there.
    fn steps(&self, first: usize, second: usize) -> Vec<(bool, usize)> {
        let count = self.graph.events.len();
        let mut come_from: Vec<Option<(bool, usize)>> = vec![None; count];
        let mut reached = vec![first];
        let mut next = 0;
        while let Some(from) = reached.get(next).copied() {
            next += 1;
            for to in (0..count).filter(|to| *to != first) {
                let synchronizes = self.relations.synchronizes_with.contains(from, to);
                if come_from[to].is_none() && (synchronizes || self.graph.program_ordered(from, to)) {
                    come_from[to] = Some((synchronizes, from));
                    reached.push(to);
                }
            }
        }
        let mut steps = Vec::new();
        let mut at = second;
        while let Some((synchronizes, from)) = come_from[at] {
            steps.push((synchronizes, at));
            at = from;
        }
        steps.reverse();
        steps
    }

    /// Such steps in words; the last event is not named again.
    fn told(&self, steps: &[(bool, usize)]) -> String {
        let last = steps.len().saturating_sub(1);
        let step = |(index, (synchronizes, event)): (usize, &(bool, usize))| {
            let name = (self.telling.short)(*event);
            match (*synchronizes, index == last) {
                (true, true) if index == 0 => "synchronizes-with".to_owned(),
                (true, true) => "which synchronizes with it".to_owned(),
                (true, false) => format!("which synchronizes with {name}"),
                (false, true) if index == 0 => "program order".to_owned(),
                (false, true) => "then program order".to_owned(),
                (false, false) => format!("program order to {name}"),
            }
        };
        let steps: Vec<String> = steps.iter().enumerate().map(step).collect();
        steps.join(", ")
    }
}

/// How the orders of two matched events differ, as a predicate of the second.
pub fn other_order(event: &Event, other: &Event) -> Option<String> {
    let (order, given) = (order_name(other.order), order_name(event.order));
    (event.order != other.order).then(|| format!("is {order} instead of {given}"))
}

/// A violation in words.
pub fn violated(violation: &Violation, telling: &Telling) -> Explanation {
    let Violation { axiom, cycle } = violation;
    let sentence = match cycle.first() {
        None => format!("{axiom} forbids it"),
        Some(edge) => {
            let around: Vec<String> = cycle.iter().map(|edge| edge.relation.to_owned()).collect();
            format!("{axiom} forbids the cycle from {} by {}", (telling.long)(edge.from), listed(&around))
        }
    };
    let step = |edge: &Edge| {
        format!("{}: {} before {}", edge.relation, (telling.short)(edge.from), (telling.short)(edge.to))
    };
    Explanation { sentence, chain: cycle.iter().map(step).collect() }
}

/// That two accesses race, without a word on what would order them.
pub fn unordered(graph: &Graph, race: DataRace, names: &dyn Names) -> Explanation {
    let events = graph.events.get(race.first as usize).zip(graph.events.get(race.second as usize));
    let sentence = match events {
        Some((first, second)) => {
            format!("{} and {} are not ordered", long(first, names), long(second, names))
        }
        None => "two accesses are not ordered".to_owned(),
    };
    Explanation { sentence, chain: Vec::new() }
}

/// From-reads: each read, and the writes of the same unit that come behind what it reads. A write comes behind the initial
/// value, behind those before it in the order of writes that the relations rest on, and with `by_location_order`
/// behind those that are location-ordered before it.
pub fn from_reads(graph: &Graph, relations: &Relations, by_location_order: bool) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for location in &relations.locations {
        for read in &location.events {
            let Some(source) = graph.events[*read as usize].source(location.unit) else { continue };
            let is_later = |at: usize| match source {
                Source::Initial => true,
                Source::Pending => false,
                Source::Event(write) => {
                    let later = location.events[at] as usize;
                    let ordered = relations.modification_order.as_ref();
                    ordered.is_some_and(|order| order.contains(write as usize, later))
                        || by_location_order
                            && location
                                .index(write as usize)
                                .is_some_and(|write| location.location_ordered.contains(write, at))
                }
            };
            let others = location.events.iter().enumerate().filter(|(at, other)| {
                *other != read && graph.events[**other as usize].writes() && is_later(*at)
            });
            pairs.extend(others.map(|(_, other)| (*read as usize, *other as usize)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The relations of a graph: several where they depend on the order of writes. Where none of them makes it an
/// execution, as while it is not complete, those that need no such order.
pub fn possible(model: &(impl MemoryModel + ?Sized), graph: &Graph) -> Vec<Relations> {
    use crate::memory_model::Extent;
    let executions = match model.depends_on_order(graph) {
        true => model.executions(graph).unwrap_or_default(),
        false => Vec::new(),
    };
    match executions.is_empty() {
        true => vec![model.relations(graph, Extent::Complete)],
        false => executions,
    }
}

/// The long and the short names of a graph's events.
pub fn tellers<'a>(
    graph: &'a Graph,
    names: &'a dyn Names,
) -> (impl Fn(usize) -> String + 'a, impl Fn(usize) -> String + 'a) {
    (move |event| long(&graph.events[event], names), move |event| short(&graph.events[event], graph, names))
}

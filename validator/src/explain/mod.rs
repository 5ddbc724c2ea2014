//! Explanations, in words: why before forbids what after does ([`why`]), and why a witness has a race ([`race_of`]).
//!
//! The model explains a graph by itself ([`MemoryModel::forbidden`], [`MemoryModel::race`]), with [`Names`] for what
//! it is about. For [`why`] the guilty execution of after is replayed on before: before's invocations run with the values that
//! after's read, and its events are matched with after's (`replay`). Then either before has an ordering
//! that the same events of after lack, or the axioms forbid before's graph, or matched writes differ in
//! value. The first of these is told, with the lines of both modules (`words`).
//!
//! Explanations are best effort: where before and after differ too much to match events there is
//! none. They never influence a verdict.

mod account;
mod names;
mod outcome;
mod replay;
mod words;

use std::time::Instant;

use crate::behaviour::{End, Outcome, Undefined};
use crate::compare::Difference;
use crate::dispatch::Dispatch;
use crate::explore::Settings;
use crate::ir::{Line, Program};
use crate::model::explain::{possible, Explainer, Refutation, Telling, Violation};
use crate::model::graph::{EventId, Graph, Unit, UnitBytes};
use crate::model::memory_model::{DataRace, Extent, MemoryModel, Relations};
use crate::value::Byte;
use crate::witness::Witness;

pub use crate::model::explain::{Explanation, Names};
use account::{About, Other, Own, Who};
pub use account::{
    Account, Bound, Computations, Computed, Entry, FaultAccount, History, Parting, Raced, Standing, StandsAt,
    Watched,
};
pub use names::DispatchNames;
use outcome::{Searched, Wanted};
use replay::Replay;
use words::Told;

pub use words::Loss;

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
    model: &dyn MemoryModel,
    names: &dyn Names,
) -> Option<Explanation> {
    let graph = &*witness.graph();
    Some(model.race(graph, find_race(graph, lines, model)?, names))
}

fn find_race(graph: &Graph, lines: &[Line], model: &dyn MemoryModel) -> Option<DataRace> {
    let possible = possible(model, graph);
    let races: Vec<DataRace> =
        possible.iter().flat_map(|relations| model.data_races(graph, relations)).collect();
    races.iter().find(|found| is_on(graph, **found, lines)).or(races.first()).copied()
}

/// Whether a race is one of accesses on these lines.
fn is_on(graph: &Graph, race: DataRace, lines: &[Line]) -> bool {
    let line = |event: EventId| graph.events.get(event as usize).map(|event| event.line);
    [race.first, race.second].iter().all(|event| line(*event).is_some_and(|line| lines.contains(&line)))
}

/// What is new in after.
#[derive(Clone, Copy)]
pub enum New<'a> {
    /// A data race between accesses on these lines.
    Race(&'a [Line]),
    /// Another undefined behaviour.
    Undefined(&'a Undefined),
    /// An outcome, with the byte in which it differs from one of before.
    Outcome(&'a Outcome, Option<&'a Difference>),
}

/// What is known of a violation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Why {
    /// Why before forbids it, in words.
    pub text: Option<String>,
    /// The accesses of a data race, by their places in the witness's graph.
    pub race: Option<[usize; 2]>,
    /// What after lost of what orders the accesses in before.
    pub lost: Vec<Loss>,
    /// What happened in the witness beside its events.
    pub account: Account,
    /// What the explanation rests on in before.
    pub counterpart: Option<Box<Counterpart>>,
}

/// The two modules, and what of them is watched.
#[derive(Clone, Copy)]
pub struct Pair<'a> {
    pub before: Side<'a>,
    pub after: Side<'a>,
    /// Instructions that were changed, in before and in after.
    pub watched: [&'a [Watched]; 2],
}

/// A graph of before that corresponds to an execution of after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterpart {
    /// Its events.
    pub graph: Graph,
    /// For each event, the event of after that it corresponds to.
    pub of_after: Vec<Option<EventId>>,
    /// How it was found.
    pub origin: Origin,
    /// The ordering of two accesses that after lost: the events on its way, the accesses included.
    pub lost: Vec<usize>,
    /// What keeps the graph from being an execution.
    pub violation: Option<Violation>,
}

/// How a graph of before was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Before ran with the values that after's reads have.
    Replayed,
    /// A search without the axioms came to after's outcome.
    Searched,
}

/// Says why `before` does not allow what is `new` in the execution `witness` of after; `settings` are those
/// of the searches, with the time that is left. Where that is over first, this is said instead.
pub fn why(pair: Pair, witness: &Witness, new: New, settings: &Settings) -> Why {
    let started = Instant::now();
    let is_over = || settings.timeout.is_some_and(|left| started.elapsed() >= left);
    let about = match new {
        // Who races is found out first.
        New::Race(_) => None,
        New::Undefined(undefined) => Some(About::Undefined(undefined)),
        New::Outcome(outcome, _) if outcome.end == End::Hang => Some(About::Hang),
        New::Outcome(outcome, difference) => Some(About::Value(
            difference.and_then(|difference| left_at(pair.after.dispatch, outcome, difference)),
        )),
    };
    let own = Own { side: pair.after, witness, watched: pair.watched[1], is_over: &is_over };
    let (account, who) = about.and_then(|about| account::of(own, about)).unwrap_or_default();
    let mut why = Why { account, ..Why::default() };
    let told = reason(pair, witness, new, settings, (&is_over, who), &mut why);
    let too_late = || format!("the explanation was not finished in time ({})", settings.timed_by);
    why.text = told.or_else(|| is_over().then(too_late));
    why
}

/// The place of a byte in a dispatch.
fn place(dispatch: &Dispatch, difference: &Difference) -> Option<(u32, u32)> {
    let object = dispatch.objects.iter().position(|object| object.key == difference.key)?;
    Some((object as u32, u32::try_from(difference.offset).ok()?))
}

/// The same with what an outcome has there.
fn left_at(dispatch: &Dispatch, outcome: &Outcome, difference: &Difference) -> Option<((u32, u32), Byte)> {
    let mut observed = dispatch.objects.iter().filter(|object| object.observed).zip(&outcome.memory);
    let (_, bytes) = observed.find(|(object, _)| object.key == difference.key)?;
    Some((place(dispatch, difference)?, *bytes.get(difference.offset)?))
}

fn reason(
    Pair { before, after: own, watched }: Pair,
    witness: &Witness,
    new: New,
    settings: &Settings,
    (is_over, mut who): (&dyn Fn() -> bool, Who),
    why: &mut Why,
) -> Option<String> {
    let after = own.dispatch;
    let in_time = || (!is_over()).then_some(());
    in_time()?;
    let model = &settings.model;
    let graph = &*witness.graph();
    // Barriers alone order nothing.
    let of_after = match has_accesses(graph) {
        true => Some(model.relations_in_time(graph, is_over)?),
        false => None,
    };
    let mut races = of_after.as_ref().map_or(Vec::new(), |relations| model.data_races(graph, relations));
    if let New::Race(lines) = new {
        races.sort_by_key(|found| !is_on(graph, *found, lines));
        why.race = races.first().map(|found| [found.first as usize, found.second as usize]);
    }
    in_time()?;
    let racing = why.race.map(|race| race.map(|event| access(graph, event)));
    if let Some(racing) = racing.filter(|_| watched.iter().any(|lines| !lines.is_empty())) {
        let own = Own { side: own, witness, watched: watched[1], is_over };
        (why.account, who) = account::of(own, About::Race(racing))?;
    }
    let target = match new {
        New::Outcome(_, Some(difference)) => place(before.dispatch, difference),
        New::Outcome(_, None) | New::Race(_) | New::Undefined(_) => None,
    };
    let other = Other { before, after, witness, watched: watched[0], who, is_over };
    let replay = account::replay_on_before(other, target, &mut why.account)?;
    if of_after.is_none() && !has_accesses(&replay.graph) {
        why.counterpart = Some(Box::new(Counterpart::replayed(&replay, Vec::new(), None)));
        let New::Outcome(outcome, _) = new else { return None };
        return unreachable(before, Wanted { outcome, dispatch: after }, settings, why);
    }
    let relations = match of_after {
        Some(relations) => relations,
        None => model.relations_in_time(graph, is_over)?,
    };
    let executions = Executions { before, after, witness, graph, relations, races, replay };
    executions.reason(new, settings, is_over, why)
}

/// An access and who makes it.
fn access(graph: &Graph, event: usize) -> account::Access {
    let of = &graph.events[event];
    account::Access { invocation: of.agent, event: event as EventId }
}

fn has_accesses(graph: &Graph) -> bool {
    graph.events.iter().any(|event| event.accesses())
}

/// An execution of after, and what it is in before.
struct Executions<'a> {
    before: Side<'a>,
    after: &'a Dispatch,
    witness: &'a Witness,
    /// That of the witness.
    graph: &'a Graph,
    relations: Relations,
    races: Vec<DataRace>,
    replay: Replay,
}

impl Executions<'_> {
    fn reason(
        &self,
        new: New,
        settings: &Settings,
        is_over: &dyn Fn() -> bool,
        why: &mut Why,
    ) -> Option<String> {
        let Executions { before, after, witness, graph, races, replay, .. } = self;
        let in_time = || (!is_over()).then_some(());
        let (model, cut) = (&settings.model, replay.cut());
        let relations = model.relations_in_time(&replay.graph, is_over)?;
        let names = DispatchNames::of(after, before.program, &**model);
        let of_after = &replay.of_after;
        let told = Told { before: &replay.graph, after: graph, of_after, names: &names, model: &**model };
        let (long, short) = (|event: usize| told.long(event), |event: usize| told.name(event));
        let telling = Telling { long: &long, short: &short, names: &names };
        let explainer = model.explainer(&replay.graph, &relations, telling);
        let pair =
            Compared { told: &told, explainer: &*explainer, relations: &relations, after: &self.relations };
        let in_after = |found: DataRace| format!("in after {}", model.race(graph, found, &names));
        let counterpart = |lost: Vec<usize>, violation: Option<Violation>| {
            Some(Box::new(Counterpart::replayed(replay, lost, violation)))
        };
        for found in races {
            in_time()?;
            if let Some(Lost { text, losses, events }) = pair.lost_order(*found) {
                why.lost = losses;
                why.race = why.race.map(|_| [found.first as usize, found.second as usize]);
                why.counterpart = counterpart(events, None);
                return Some(format!("{text}\n{}", in_after(*found)));
            }
        }
        in_time()?;
        let reason = match explainer.refutation() {
            Some(refutation) => {
                let Lost { text, losses, events } = pair.forbidden(&refutation);
                why.lost = losses;
                why.counterpart = counterpart(events, Some(refutation.violation));
                Some(text)
            }
            None => {
                why.counterpart = counterpart(Vec::new(), None);
                // What invocations write says nothing of a fault that is no race.
                if let New::Undefined(_) = new {
                    return None;
                }
                told.different_write().or_else(|| match new {
                    New::Outcome(outcome, _) => {
                        let wanted = Wanted { outcome, dispatch: after };
                        let not_left = cut.is_none().then(|| pair.not_left(witness, wanted)).flatten();
                        not_left.or_else(|| unreachable(*before, wanted, settings, why))
                    }
                    New::Race(_) | New::Undefined(_) => None,
                })
            }
        };
        let reason = reason.or_else(|| match cut {
            // What before does behind the bound may correspond.
            Some(bound) if has_accesses(graph) => Some(format!(
                "why before does not is not known: with what after reads it was followed for {bound}"
            )),
            _ => told.unmatched(),
        });
        let race = races.first().filter(|_| matches!(new, New::Race(_))).map(|found| in_after(*found));
        let parts: Vec<String> = reason.into_iter().chain(race).collect();
        (!parts.is_empty()).then(|| parts.join("\n"))
    }
}

impl Counterpart {
    fn replayed(replay: &Replay, lost: Vec<usize>, violation: Option<Violation>) -> Self {
        let (graph, of_after) = (replay.graph.clone(), replay.of_after.clone());
        Counterpart { graph, of_after, origin: Origin::Replayed, lost, violation }
    }
}

/// Why before cannot come to an outcome, by a search of its own.
fn unreachable(before: Side, wanted: Wanted, settings: &Settings, why: &mut Why) -> Option<String> {
    match outcome::unreachable(before, wanted, settings) {
        Searched::Forbidden(explanation, graph) => {
            why.counterpart = Some(Box::new(searched(graph, &*settings.model)));
            Some(format!("before forbids this: {explanation}"))
        }
        Searched::Cut(steps) => Some(format!(
            "why before does not is not known: its executions were searched for {steps} steps without the axioms"
        )),
        Searched::Nothing => None,
    }
}

/// A graph of before that a search without the axioms found.
fn searched(graph: Graph, model: &dyn MemoryModel) -> Counterpart {
    let violation = model.violation(&graph, &model.relations(&graph, Extent::Complete));
    let of_after = vec![None; graph.events.len()];
    Counterpart { graph, of_after, origin: Origin::Searched, lost: Vec::new(), violation }
}

/// An ordering of before that after lost.
struct Lost {
    text: String,
    /// What after lost of it, instruction by instruction.
    losses: Vec<Loss>,
    /// The events on its way, the accesses included; empty where none is lost.
    events: Vec<usize>,
}

/// Before's graph and its events in after.
struct Compared<'a> {
    told: &'a Told<'a>,
    explainer: &'a dyn Explainer,
    relations: &'a Relations,
    after: &'a Relations,
}

impl Compared<'_> {
    /// The ordering of before between two accesses that race in after.
    fn lost_order(&self, race: DataRace) -> Option<Lost> {
        let of_before = |event: EventId| self.told.of_after.iter().position(|other| *other == Some(event));
        let (a, b) = (of_before(race.first)?, of_before(race.second)?);
        [(a, b), (b, a)].into_iter().find_map(|(first, second)| {
            let unit = self.relations.ordered_units(first, second).next()?;
            let ordering = self.explainer.ordering(first, second, unit)?;
            let (first_name, second_name) = (self.told.long(first), self.told.long(second));
            let changes = self.told.changes(&ordering, self.after);
            let way = ordering.way;
            let text = format!("before orders {first_name} before {second_name} {way}{}", but(&changes));
            Some(Lost { text, losses: self.told.losses(&ordering.events), events: ordering.events })
        })
    }

    /// Why before's graph is no execution, and what after changed about it.
    fn forbidden(&self, refutation: &Refutation) -> Lost {
        let text = format!("before forbids this: {}", refutation.explanation);
        let lost = refutation.orderings.iter().find_map(|(first, second)| {
            let (first, second) = (*first, *second);
            if self.told.ordered_in_after(first, second, self.after) {
                return None;
            }
            let unit = self.relations.ordered_units(first, second).next()?;
            let ordering = self.explainer.ordering(first, second, unit)?;
            let changes = self.told.changes(&ordering, self.after);
            (!changes.is_empty()).then(|| (changes, self.told.losses(&ordering.events), ordering.events))
        });
        let of_events = || {
            let losses = self.told.losses(&refutation.events);
            (self.told.differences(&refutation.events), losses, Vec::new())
        };
        let (changes, losses, events) = lost.unwrap_or_else(of_events);
        let text = match &changes[..] {
            [] => text,
            _ => format!("{text}\nbut {}", changes.join(", and ")),
        };
        Lost { text, losses, events }
    }

    /// Why before's graph cannot leave the memory of an outcome of after.
    fn not_left(&self, witness: &Witness, wanted: Wanted) -> Option<String> {
        let Wanted { outcome, dispatch } = wanted;
        let observed = || dispatch.objects.iter().filter(|object| object.observed).zip(&outcome.memory);
        let left = self.relations.locations.iter().filter_map(|location| {
            let (memory, offset) = *witness.units.get(location.unit as usize)?;
            let (_, bytes) = observed().find(|(object, _)| object.memory == memory)?;
            let mut events = location.events.iter().map(|event| &self.told.before.events[*event as usize]);
            let len = events.find_map(|event| event.written_to(location.unit).map(|bytes| bytes.len()))?;
            let left: UnitBytes = bytes.iter().skip(offset as usize).take(len).copied().collect();
            Some((location.unit, left))
        });
        let left: Vec<(Unit, UnitBytes)> = left.collect();
        let overwritten = left.iter().find_map(|(unit, bytes)| self.explainer.overwritten(*unit, bytes));
        let explanation = overwritten.or_else(|| self.explainer.excluded(&left))?;
        Some(format!("before forbids this: {explanation}"))
    }
}

fn but(changes: &[String]) -> String {
    match changes {
        [] => String::new(),
        _ => format!("; but {}", changes.join(", and ")),
    }
}

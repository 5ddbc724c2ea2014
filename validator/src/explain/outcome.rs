//! Why a module cannot come to an outcome, found without another module's execution: its executions are
//! searched without the axioms, and of those that would come to the outcome the simplest is explained.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{DispatchNames, Explanation, Side};
use crate::behaviour::{End, Outcome, Stopped};
use crate::dispatch::Dispatch;
use crate::explore::{self, Races, Remarkable, Settings};
use crate::model::graph::{Graph, Source, Unit, UnitBytes};
use crate::value::Byte;
use crate::witness::Witness;

/// Choices of reads-from that are looked at.
const MAX_EXECUTIONS: u64 = 2_000;

/// Invocations of a dispatch that is searched.
const MAX_INVOCATIONS: usize = 8;

/// Instructions of one of them.
const MAX_INSTRUCTIONS: u64 = 100_000;

/// Steps of a search, dead ends included: what it finds does not depend on time.
const MAX_STEPS: u64 = 1 << 17;

/// Bytes for their outcomes.
const MAX_MEMORY: u64 = 64 << 20;

/// Those that come to the outcome among which the simplest is looked for.
const MAX_CANDIDATES: usize = 64;

/// An outcome of a dispatch.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) outcome: &'a Outcome,
    pub(super) dispatch: &'a Dispatch,
}

/// What a search without the axioms says of an outcome.
pub(super) enum Searched {
    /// Why the axioms keep the module from it, with the graph that they forbid.
    Forbidden(Explanation, Graph),
    /// It was not found in so many steps.
    Cut(u64),
    /// Nothing: the module would never come to it, or is not searched.
    Nothing,
}

/// Why the axioms keep `side` from an outcome.
pub(super) fn unreachable(side: Side, wanted: Wanted, settings: &Settings) -> Searched {
    let mut is_cut = false;
    match forbidden(side, wanted, settings, &mut is_cut) {
        Some((explanation, graph)) => Searched::Forbidden(explanation, graph),
        None if is_cut => Searched::Cut(MAX_STEPS),
        None => Searched::Nothing,
    }
}

fn forbidden(
    side: Side,
    wanted: Wanted,
    settings: &Settings,
    is_cut: &mut bool,
) -> Option<(Explanation, Graph)> {
    if wanted.outcome.end != End::Terminated || side.dispatch.places.len() > MAX_INVOCATIONS {
        return None;
    }
    let settings = Settings {
        axioms: false,
        races: Races::Keep,
        remark: Some(reads_from),
        max_executions: MAX_EXECUTIONS.min(settings.max_executions),
        max_instructions: MAX_INSTRUCTIONS.min(settings.max_instructions),
        max_steps: Some(MAX_STEPS),
        max_memory: MAX_MEMORY.min(settings.max_memory),
        stop_at_undefined: false,
        jobs: 1,
        progress: Arc::default(),
        ..settings.clone()
    };
    let names = DispatchNames::of(side.dispatch, side.program, &*settings.model);
    // What barriers separate is no event, unless nothing is left out.
    [true, false].into_iter().find_map(|shortcuts| {
        let settings = Settings { shortcuts, ..settings.clone() };
        let found = explore::explore(side.program, side.dispatch, &settings);
        *is_cut |= found.stopped == Some(Stopped::MaxSteps);
        found
            .outcomes
            .iter()
            .filter(|(outcome, witness)| wanted.is_met(side.dispatch, outcome, witness))
            .filter(|(_, witness)| has_sharing(&witness.graph()))
            .take(MAX_CANDIDATES)
            .filter_map(|(_, witness)| {
                let graph = witness.graph();
                Some((settings.model.forbidden(&graph, &names)?, graph.into_owned()))
            })
            .min_by_key(|(explanation, _)| explanation.chain.len())
    })
}

/// Whether invocations access memory of others. Where none does, what one computes is the reason, and not the order of
/// accesses.
fn has_sharing(graph: &Graph) -> bool {
    let mut of_unit: BTreeMap<Unit, u32> = BTreeMap::new();
    let accesses = graph.events.iter().filter(|event| event.accesses());
    let mut units = accesses.flat_map(|event| event.units.iter().map(|unit| (*unit, event.agent)));
    units.any(|(unit, agent)| *of_unit.entry(unit).or_insert(agent) != agent)
}

/// What tells executions apart whose outcomes, without shared memory, are the same.
fn reads_from(execution: &Remarkable) -> Vec<u32> {
    let sources = execution.graph.events.iter().flat_map(|event| &event.sources);
    let numbers = sources.map(|source| match source {
        Source::Initial => 0,
        Source::Pending => 1,
        Source::Event(write) => write + 2,
    });
    numbers.collect()
}

impl Wanted<'_> {
    /// Whether an outcome may be the wanted one: of words that are units of the graph, without axioms, any
    /// write can be the last.
    fn is_met(&self, dispatch: &Dispatch, outcome: &Outcome, witness: &Witness) -> bool {
        let graph = witness.graph();
        let observed = dispatch.objects.iter().filter(|object| object.observed);
        outcome.end == self.outcome.end
            && observed.zip(&outcome.memory).all(|(object, bytes)| {
                let Some(wanted) = self.memory(&object.key) else { return true };
                let mut expected = bytes.clone();
                for (unit, (memory, first)) in witness.units.iter().enumerate() {
                    if *memory == object.memory {
                        settle(&mut expected, *first as usize, wanted, &graph, unit as Unit);
                    }
                }
                expected.iter().zip(wanted).all(|(found, wanted)| found == wanted)
            })
    }

    fn memory(&self, key: &str) -> Option<&[Byte]> {
        let observed = self.dispatch.objects.iter().filter(|object| object.observed);
        let mut memories = observed.zip(&self.outcome.memory);
        memories.find(|(object, _)| object.key == key).map(|(_, bytes)| bytes.as_slice())
    }
}

/// Takes the wanted bytes of a unit over where one of its writes leaves them.
fn settle(bytes: &mut [Byte], first: usize, wanted: &[Byte], graph: &Graph, unit: Unit) {
    let leaves = |written: &UnitBytes| {
        let place = wanted.iter().skip(first).take(written.len());
        place.eq(written.iter())
    };
    let mut writes = graph.events.iter().filter_map(|event| event.written_to(unit));
    if let Some(written) = writes.find(|written| leaves(written)) {
        bytes.iter_mut().skip(first).zip(written).for_each(|(slot, byte)| *slot = *byte);
    }
}

//! Races among plain accesses, found before the search learns everything that communicates.
//!
//! Where nothing but barriers of whole workgroups synchronises, two accesses are ordered by the barriers that
//! their own two invocations pass, whatever the others do and whatever reads return. The first round runs
//! every invocation on what memory holds: one interleaving, and so an execution. Where it notes a word
//! whose accesses no barrier seems to order, it is run again, with the accesses of that word and the
//! barriers as events, and the model is asked about pairs of invocations alone: a race of a thousand
//! invocations needs no graph of all of them. What is not found so is left to the search.

use std::sync::Arc;

use smallvec::smallvec;

use super::context::Context;
use super::events;
use super::found::Found;
use super::knowledge::{Knowledge, Suspect};
use super::search::Search;
use super::state::State;
use super::{Races, Settings};
use crate::dispatch::Object;
use crate::event::{Access, Order, Scope};
use crate::ir::{BarrierOp, Op, Program};
use crate::model::consistency::Judge;
use crate::model::graph::{Event, Graph, Kind, Source, UnitBytes};
use crate::model::vulkan;
use crate::value::Byte;

/// Accesses of others, the latest ones, that an access is held against.
const CANDIDATES: usize = 4;

/// Events up to which the interleaving is followed.
const MAX_EVENTS: usize = 1 << 17;

/// A race that the interleaving of the first round has; nothing where that cannot be told cheaply.
pub(super) fn race(context: &Context, knowledge: &Knowledge, first: &Found) -> Option<Found> {
    let Settings { suspects_from, stop_at_undefined, races, axioms, shortcuts, .. } = *context.settings;
    let applies = stop_at_undefined && races == Races::Undefined && axioms && shortcuts;
    if !applies || knowledge.has_units() || context.dispatch.places.len() < suspects_from {
        return None;
    }
    if !context.dispatch.system_synchronizes_with.is_empty() || !only_workgroups_wait(context.program) {
        return None;
    }
    let knowledge = knowledge.suspecting(first.discoveries.suspect?);
    let found = Search::new(context, &knowledge).run();
    (!found.undefined.is_empty()).then_some(found)
}

/// Whether nothing synchronises, makes available or makes visible but barriers of whole workgroups and plain accesses.
fn only_workgroups_wait(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.all(|inst| match &inst.op {
        Op::Barrier(BarrierOp::Control { execution, .. }) => *execution == Scope::Workgroup,
        // Invocations need not execute the same ones, so that a third may order what two do.
        Op::Barrier(BarrierOp::Memory { semantics, .. }) => semantics.order == Order::Relaxed,
        Op::Barrier(BarrierOp::Numbered(_) | BarrierOp::Device(_)) => false,
        op => !matches!(op, Op::Atomic(_)),
    })
}

/// Where the accesses of a suspect are noted.
pub(super) struct Notes<'a> {
    pub(super) suspect: Suspect,
    pub(super) graph: &'a mut Graph,
}

impl Notes<'_> {
    /// Adds an event for a plain access if it covers the suspect; the bytes are those of the access.
    pub(super) fn add(&mut self, agent: u32, access: &Access, object: &Object, kind: Kind, bytes: &[Byte]) {
        if object.memory != self.suspect.memory {
            return;
        }
        let start = self.suspect.start;
        let mut value = UnitBytes::new();
        let mut index = 0;
        for (offset, len) in &access.ranges {
            for byte in *offset..offset + len {
                if (start..start + self.suspect.len).contains(&byte) {
                    value.push(bytes.get(index).copied().unwrap_or(Byte::Undef));
                }
                index += 1;
            }
        }
        if value.len() != self.suspect.len as usize {
            return;
        }
        let unit = std::iter::once(0);
        let mut event = events::access_event(agent, kind, access, None, object.reference, unit);
        match kind {
            Kind::Write => event.written = smallvec![value],
            _ => {
                event.sources = smallvec![Source::Initial];
                event.read = smallvec![value];
            }
        }
        self.graph.events.push(Arc::new(event));
    }
}

impl Search<'_> {
    /// Whether one of the events from `since` on races with an earlier one; records the race. Also where
    /// the interleaving is not worth following further.
    pub(super) fn is_convicted(&self, state: &State, since: usize, found: &mut Found) -> bool {
        let graph = &state.graph;
        if self.knowledge.suspect.is_none() || since == graph.events.len() {
            return false;
        }
        for (id, event) in graph.events.iter().enumerate().skip(since) {
            let conflicts = |other: &&Arc<Event>| {
                other.agent != event.agent && other.accesses() && (other.writes() || event.writes())
            };
            for other in graph.events[..id].iter().rev().filter(conflicts).take(CANDIDATES) {
                let pair = between(graph, id, [event.agent, other.agent]);
                let variant = self.context.settings.variant;
                let relations = vulkan::relations(&pair, variant);
                let races = Judge { graph: &pair, relations: &relations, variant }.data_races();
                if let Some(race) = races.first() {
                    let told = State { graph: pair, ..state.clone() };
                    self.record_race(&told, *race, found);
                    return true;
                }
            }
        }
        found.stop |= graph.events.len() > MAX_EVENTS;
        found.stop
    }
}

/// The events of two invocations, up to this one.
fn between(graph: &Graph, last: usize, agents: [u32; 2]) -> Graph {
    let events = graph.events[..=last].iter().filter(|event| agents.contains(&event.agent));
    Graph { events: events.cloned().collect(), agents: graph.agents.clone(), ..Graph::default() }
}

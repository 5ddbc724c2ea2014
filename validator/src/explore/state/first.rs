//! The state in which every search begins.

use std::sync::{Arc, OnceLock};

use crate::dispatch::Dispatch;
use crate::explore::reductions::barrier_epochs::epoch::Epoch;
use crate::explore::reductions::symmetry::classes::NOTHING;
use crate::explore::settings::Settings;
use crate::explore::state::memory::Contents;
use crate::explore::state::{State, Status, Thread, Threads};
use crate::interp::Invocation;
use crate::ir::Program;
use crate::model::graph::{Agent, Graph};

/// A graph without events.
pub(crate) fn empty_graph(dispatch: &Dispatch) -> Graph {
    let agents = dispatch.places.iter().map(|place| Agent {
        subgroup: place.subgroup,
        workgroup: place.workgroup,
        queue_family: place.queue_family,
    });
    Graph { agents: agents.collect(), ..Graph::default() }
}

pub(crate) fn state(program: &Program, dispatch: &Dispatch, settings: &Settings) -> State {
    let threads = Invocation::all(program, dispatch, 0..dispatch.places.len() as u32)
        .into_iter()
        .map(|invocation| {
            Arc::new(Thread {
                invocation: Arc::new(invocation),
                status: Status::Running,
                waits_since: None,
                has_decided: false,
                reads_unknown: None,
                history: NOTHING,
                parting: None,
                trace: Arc::default(),
                fault: None,
                changes: 0,
                passes: 0,
                idle: None,
                arrivals: Arc::default(),
                loops: Vec::new(),
                look: None,
                future: OnceLock::new(),
                at: OnceLock::new(),
            })
        })
        .collect();
    let graph = empty_graph(dispatch);
    let grows = settings.axioms && settings.shortcuts && dispatch.system_synchronizes_with.is_empty();
    let growing = grows.then(|| settings.model.growing(&graph)).flatten();
    let workgroups = dispatch.places.iter().map(|place| place.workgroup + 1).max().unwrap_or(0);
    State {
        threads: Threads(threads),
        graph,
        system_synchronizes_with: dispatch.system_synchronizes_with.as_slice().into(),
        contents: Contents::new(dispatch),
        promises: Vec::new(),
        speculated: 0,
        attempted: Arc::default(),
        epochs: Arc::new(vec![Epoch::default(); workgroups as usize]),
        meetings: Vec::new(),
        instances: 0,
        fuel: settings.max_instructions,
        diverged: None,
        judged: None,
        growing,
        suffixes_depend: false,
        closing: None,
        segments: Vec::new(),
        excused: false,
        future: None,
        dirty: false,
    }
}

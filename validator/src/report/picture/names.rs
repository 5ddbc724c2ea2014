//! What pictures call invocations and events.

use super::Execution;
use crate::model::explain::Names;
use crate::model::graph::Event;
use crate::report::witness::Scene;

/// Who executes the events of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Agents {
    /// Invocations of a dispatch.
    Invocations,
    /// Threads of a litmus test.
    Threads,
}

impl Agents {
    /// One of them.
    pub(in crate::report) fn one(self, agent: u32) -> String {
        match self {
            Agents::Invocations => format!("invocation {agent}"),
            Agents::Threads => format!("P{agent}"),
        }
    }

    /// Several of them, by what [`crate::report::witness::numbers`] says.
    pub(super) fn several(self, numbers: &str) -> String {
        match self {
            Agents::Invocations => format!("invocations {numbers}"),
            Agents::Threads => format!("threads {numbers}"),
        }
    }
}

/// The names in explanations of a picture's orderings.
pub(super) struct PictureNames<'a> {
    pub(super) execution: &'a Execution<'a>,
    pub(super) scene: &'a Scene<'a>,
    pub(super) agents: Agents,
}

impl PictureNames<'_> {
    /// `the store on line 66 (#1)`.
    pub(super) fn short(&self, number: usize) -> String {
        match self.execution.graph.events.get(number) {
            Some(event) => format!("the {} on line {} (#{number})", self.kind(event), event.line),
            None => format!("#{number}"),
        }
    }
}

impl Names for PictureNames<'_> {
    fn place(&self, event: &Event) -> Option<String> {
        let (object, offset) = event.place?;
        Some(self.scene.place_name(object, offset))
    }

    fn agent(&self, agent: u32) -> String {
        self.agents.one(agent)
    }

    fn kind(&self, event: &Event) -> &'static str {
        self.execution.witness.model.kind_name(event)
    }
}

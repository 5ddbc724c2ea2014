//! An execution as a picture, for pages and graphviz: which events are drawn, in which column and row, and which of the
//! model's relations lead from one to another. What is left out is said.

mod columns;
mod edges;
mod execution;
mod names;
mod order;
mod rows;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::witness::Scene;
use crate::ir::Line;
use crate::model::graph::Event;

pub(super) use columns::{Band, Column, Folding};
pub(super) use execution::Execution;
pub(super) use names::Agents;

/// How two events of a picture are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Relation {
    ReadsFrom,
    SynchronizesWith,
    FromReads,
    /// Availability and visibility chains: from a write to an access that it is available to.
    Availability,
    LocationOrdered,
    /// Two accesses that nothing orders.
    Race,
    /// The ordering of this execution that another one lacks.
    Lost,
    /// Where this execution lacks that ordering.
    Missing,
    /// A cycle that an axiom forbids.
    Cycle,
}

impl Relation {
    /// All of them, as pictures list them.
    pub(super) const ALL: [Relation; 9] = [
        Relation::ReadsFrom,
        Relation::SynchronizesWith,
        Relation::FromReads,
        Relation::Availability,
        Relation::LocationOrdered,
        Relation::Race,
        Relation::Lost,
        Relation::Missing,
        Relation::Cycle,
    ];

    /// Whether a picture shows it at first: others follow from those, or are many.
    pub(super) const fn is_first(self) -> bool {
        match self {
            Relation::ReadsFrom
            | Relation::SynchronizesWith
            | Relation::Race
            | Relation::Lost
            | Relation::Missing
            | Relation::Cycle => true,
            Relation::FromReads | Relation::Availability | Relation::LocationOrdered => false,
        }
    }

    /// Its name.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Relation::ReadsFrom => "reads-from",
            Relation::SynchronizesWith => "synchronizes-with",
            Relation::FromReads => "from-reads",
            Relation::Availability => "availability chain",
            Relation::LocationOrdered => "location-ordered",
            Relation::Race => "data race",
            Relation::Lost => "ordering that after lost",
            Relation::Missing => "missing ordering",
            Relation::Cycle => "forbidden cycle",
        }
    }

    /// A few letters for it.
    pub(super) const fn short(self) -> &'static str {
        match self {
            Relation::ReadsFrom => "rf",
            Relation::SynchronizesWith => "sw",
            Relation::FromReads => "fr",
            Relation::Availability => "av",
            Relation::LocationOrdered => "lo",
            Relation::Race => "race",
            Relation::Lost => "lost",
            Relation::Missing => "missing",
            Relation::Cycle => "cycle",
        }
    }
}

/// A relation between two events of the graph that an explanation names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) relation: Relation,
    /// What it is, in a few words.
    pub(super) label: String,
}

/// What is drawn.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) execution: &'a Execution<'a>,
    pub(super) scene: &'a Scene<'a>,
    pub(super) agents: Agents,
    /// The events that it is about, by their places in the graph.
    pub(super) wanted: &'a [usize],
    pub(super) marks: &'a [Mark],
    /// Whether time is over.
    pub(super) is_over: &'a dyn Fn() -> bool,
}

/// A picture.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    /// From left to right.
    pub(super) columns: Vec<Column>,
    /// Ascending by their places in the graph.
    pub(super) events: Vec<Drawn>,
    /// Places of events that are not drawn.
    pub(super) gaps: Vec<Gap>,
    pub(super) edges: Vec<Edge>,
    /// Number of rows.
    pub(super) rows: usize,
    /// What is not drawn, in words.
    pub(super) left_out: Vec<String>,
    /// Whether some column stands for several invocations.
    pub(super) is_folded: bool,
}

/// An event of a picture.
#[derive(Clone, Debug)]
pub(super) struct Drawn {
    /// Its place in the graph, which reports call `#N`.
    pub(super) number: usize,
    pub(super) column: usize,
    pub(super) row: usize,
    /// What it is in the graph.
    pub(super) event: Arc<Event>,
    /// What it is, in few words.
    pub(super) kind: &'static str,
    /// Where it is and what it reads or writes, in few words; empty for barriers.
    pub(super) access: String,
    /// All of it, in words.
    pub(super) told: String,
    /// Whether the report is about it.
    pub(super) is_wanted: bool,
}

impl Drawn {
    /// The line of its instruction.
    pub(super) fn line(&self) -> Line {
        self.event.line
    }
}

/// Where events of an invocation are not drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) column: usize,
    pub(super) row: usize,
    /// How many, and their lines.
    pub(super) text: String,
}

/// Two events of a picture that are related.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    /// By their places among the events of the picture.
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) relation: Relation,
    /// What a cycle's edge is, or what more there is to say.
    pub(super) label: String,
    /// How it comes about, in words; empty where the relation says it all.
    pub(super) way: String,
    /// How many pairs of events of folded invocations it stands for.
    pub(super) alike: usize,
    /// Whether it holds the other way round, too.
    pub(super) is_mutual: bool,
}

impl Picture {
    /// The picture of an execution, with at most so many events of an invocation (unless more are wanted), and so many
    /// edges of a relation.
    pub(super) fn of(subject: &Subject<'_>, folding: Folding, (events, edges): (usize, usize)) -> Picture {
        let layout = columns::lay_out(subject, folding, events);
        let mut picture = rows::place(subject, &layout);
        let edges::Found { edges, left_out } = edges::between(subject, &layout, &picture.events, edges);
        picture.edges = edges;
        picture.left_out.extend(subject.execution.left_out.clone());
        picture.left_out.extend(layout.left_out);
        picture.left_out.extend(left_out);
        picture.is_folded = layout.columns.iter().any(|column| column.invocations.len() > 1);
        picture.columns = layout.columns;
        picture
    }

    /// The relations that it has edges of.
    pub(super) fn relations(&self) -> BTreeSet<Relation> {
        self.edges.iter().map(|edge| edge.relation).collect()
    }
}

//! What a search found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smallvec::SmallVec;

use super::context::Context;
use super::factored::Factored;
use super::knowledge::{Discoveries, Knowledge};
use super::outcomes::Outcomes;
use super::product::Factor;
use super::state::State;
use crate::behaviour::{Behaviours, Bound, Bug, Count, Paths, Product, Undecided, Undefined};
use crate::ir::{Inexact, InstId};
use crate::witness::Witness;

/// What a search found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) outcomes: Outcomes,
    pub(super) undefined: BTreeMap<Undefined, Witness>,
    /// Outcomes in factored form.
    pub(super) factored: Factored,
    pub(super) executions: Count,
    pub(super) explored: u64,
    pub(super) paths: Paths,
    /// Graphs with speculated reads that were judged.
    pub(super) judged_anew: u64,
    /// Too many of them: the next round has fewer reads that speculate.
    pub(super) overfed: bool,
    pub(super) bounded: Option<Bound>,
    pub(super) undecided: BTreeSet<Undecided>,
    pub(super) inexact: BTreeSet<Inexact>,
    pub(super) discoveries: Discoveries,
    /// What groups of invocations found that were explored apart, and that put together.
    pub(super) factors: Vec<Factor>,
    pub(super) product: Option<Arc<Product>>,
    /// Nothing after this in search order counts.
    pub(super) stop: bool,
    /// It is an outcome that the search was to find.
    pub(super) at_target: bool,
    /// Where invocations first came to what is not their own to decide, by their call stacks: up to there each does the
    /// same in every execution.
    pub(super) first_decisions: BTreeMap<u32, SmallVec<[InstId; 4]>>,
    /// The branches that a scout left out, each with its share of the whole tree, the next one last.
    pub(super) left: Vec<(State, f64)>,
    /// The whole round does not go on from there: it finds ends apart on that path, or more was left out than is kept.
    pub(super) strayed: bool,
}

impl Found {
    pub(super) fn merge(&mut self, other: Found) {
        self.outcomes.append(other.outcomes);
        for (undefined, witness) in other.undefined {
            self.undefined.entry(undefined).or_insert(witness);
        }
        self.factored.merge(other.factored);
        self.executions += &other.executions;
        self.explored += other.explored;
        self.paths.merge(&other.paths);
        self.judged_anew += other.judged_anew;
        self.overfed |= other.overfed;
        self.bounded = self.bounded.take().or(other.bounded);
        self.undecided.extend(other.undecided);
        self.inexact.extend(other.inexact);
        self.discoveries.merge(other.discoveries);
        for (invocation, position) in other.first_decisions {
            self.first_decisions.entry(invocation).or_insert(position);
        }
        self.stop |= other.stop;
        self.at_target |= other.at_target;
    }

    /// Notes that the fast path and the declared relations differ.
    pub(super) fn disagree(&mut self, about: &'static str) {
        self.undecided.insert(Undecided::Bug(Bug::Disagreement { about }));
    }

    pub(super) fn into_behaviours(self, context: &Context, knowledge: &Knowledge) -> Behaviours {
        let capped = knowledge.capped.then_some(Bound::SpeculatedValues);
        // Where threads were started for the search.
        let outcomes = match context.started_pool() {
            None => self.outcomes.into_sorted(false),
            Some(None) => self.outcomes.into_sorted(true),
            Some(Some(pool)) => pool.install(|| self.outcomes.into_sorted(true)),
        };
        Behaviours {
            outcomes,
            undefined: self.undefined.into_iter().collect(),
            product: self.product,
            executions: self.executions,
            explored: self.explored,
            paths: self.paths,
            bounded: self.bounded.or(capped),
            undecided: self.undecided.into_iter().collect(),
            inexact: self.inexact,
            produced: knowledge.produced_values(context.dispatch),
            ends_at_target: self.at_target,
            speculates: !self.discoveries.wanted_values.is_empty(),
            ..Behaviours::default()
        }
    }
}

//! Explanations of the answer to an expectation of a litmus test.

use super::lower::Lowered;
use super::run::{counts, search, Checked, Final, Told};
use super::test::{Expectation, Test};
use crate::behaviour::{Behaviours, Outcome};
use crate::explain::{self, Explanation, Names};
use crate::explore::Settings;
use crate::model::graph::Event;
use crate::model::memory_model::Model;
use crate::witness::Witness;

/// Candidate executions among which the simplest reason is looked for.
const CANDIDATES: usize = 64;

/// Candidate executions that a search without the axioms visits at most.
const MAX_CANDIDATES: u64 = 10_000;

/// The names of a litmus test.
struct TestNames<'a> {
    test: &'a Test,
    model: &'a Model,
}

impl Names for TestNames<'_> {
    fn place(&self, event: &Event) -> Option<String> {
        let (object, _) = event.place?;
        self.test.variables.get(object as usize).map(|variable| variable.name.clone())
    }

    fn agent(&self, agent: u32) -> String {
        format!("P{agent}")
    }

    fn kind(&self, event: &Event) -> &'static str {
        self.model.kind_name(event)
    }
}

/// A race of the executions that meet the condition (or would, without it), or the axiom that forbids
/// what the condition asks for, with what it forbids.
pub(super) fn why(
    test: &Test,
    lowered: &Lowered,
    settings: &Settings,
    expectation: &Expectation,
    behaviours: &Behaviours,
    checked: &Checked,
) -> Option<(String, Option<Told>)> {
    let without_chains = settings.model.without_chains().filter(|_| expectation.without_chains);
    let model = without_chains.unwrap_or_else(|| settings.model.clone());
    let explainer = Explainer { test, lowered, expectation, model: model.clone() };
    if let Some(told) = &checked.witness {
        return explainer.race(&told.witness).map(|why| (why.to_string(), None));
    }
    let mut like_it = explainer.meeting(behaviours);
    if let Some((_, witness)) = like_it.next() {
        return explainer.race(witness).map(|why| (why.to_string(), None));
    }
    drop(like_it);
    let settings =
        Settings { max_executions: MAX_CANDIDATES.min(settings.max_executions), ..settings.clone() };
    let candidates = search(lowered, &settings, model.clone(), false, super::run::races);
    let names = TestNames { test, model: &model };
    let reasons = explainer
        .meeting(&candidates)
        .take(CANDIDATES)
        .filter_map(|(_, witness)| Some((model.forbidden(&witness.graph(), &names)?, witness)));
    let (why, witness) = reasons.min_by_key(|(why, _)| why.chain.len())?;
    let told = Told { witness: witness.clone(), dispatch: lowered.dispatch.clone() };
    Some((format!("forbidden: {why}"), Some(told)))
}

struct Explainer<'a> {
    test: &'a Test,
    lowered: &'a Lowered,
    expectation: &'a Expectation,
    model: Model,
}

impl<'a> Explainer<'a> {
    /// Executions that meet the condition but for what it says of races.
    fn meeting<'b>(&'b self, behaviours: &'b Behaviours) -> impl Iterator<Item = &'b (Outcome, Witness)> {
        let Explainer { test, lowered, .. } = *self;
        behaviours.outcomes.iter().filter(move |(outcome, _)| {
            let state = Final { test, lowered, outcome, only_values: true };
            counts(test, lowered, outcome) && state.holds(&self.expectation.condition)
        })
    }

    fn race(&self, witness: &Witness) -> Option<Explanation> {
        let names = TestNames { test: self.test, model: &self.model };
        explain::race_of(witness, &[], &*self.model, &names)
    }
}

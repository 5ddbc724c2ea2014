//! Runs a litmus test and evaluates its expectations under the model.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::explain::why;
use super::lower::{addressed, lower, number, Lowered, Unsupported};
use super::test::{Comparison, Condition, Expectation, Quantifier, Term, Test};
use crate::behaviour::{Behaviours, Bound, Bug, End, Outcome, Stopped, Undecided, Undefined};
use crate::dispatch::Dispatch;
use crate::explore::{self, Races, Remark, Remarkable, Settings};
use crate::model::memory_model::Model;
use crate::value::Byte;
use crate::witness::Witness;

/// What was found out about a test.
#[derive(Debug)]
pub struct Answer {
    /// Consistent executions, chains as the options have them.
    pub executions: u64,
    /// What became of each expectation, in the order of the file.
    pub expectations: Vec<Checked>,
    /// Final states, sorted, if they were asked for.
    pub states: Vec<FinalState>,
    /// The first final states, each with an execution, if they were asked for ([`Wanted::examples`]).
    pub examples: Vec<Example>,
    /// How many final states there are, if examples were asked for.
    pub example_count: usize,
    /// Executions that have no final state, each kind once.
    pub undefined: Vec<Undefined>,
    /// Executions that wait for ever, which have no final state either.
    pub hanging: u64,
    /// Why the answer may not be complete.
    pub incomplete: Vec<Incomplete>,
    /// The search ended at an execution that decides ([`Wanted::only_met`]): nothing else was counted.
    pub ended_early: bool,
}

/// Why an answer may not be complete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Incomplete {
    /// The search could not decide something.
    Undecided(Undecided),
    /// A bound cut something.
    Bounded(Bound),
    /// A budget ended the search.
    Stopped(Stopped),
}

impl fmt::Display for Incomplete {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Incomplete::Undecided(why) => why.fmt(f),
            Incomplete::Bounded(bound) => write!(f, "the search was bounded ({bound})"),
            Incomplete::Stopped(budget) => write!(f, "the search was stopped ({budget})"),
        }
    }
}

/// Why a test has no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The test needs what is not supported.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// An invariant of spirv-tv broke: the test is not at fault.
    #[error(transparent)]
    Bug(#[from] Bug),
}

/// Names of registers and variables with their final values.
pub type State = Vec<(String, String)>;

/// A final state and the executions that end in it.
#[derive(Debug)]
pub struct FinalState {
    /// The state.
    pub state: State,
    /// How many executions end in it.
    pub executions: u64,
    /// Executions among them that have a data race.
    pub racy: u64,
    /// The data races, each with the number of executions that have it.
    pub races: BTreeMap<RacingPair, u64>,
}

/// A final state with an execution that ends in it.
#[derive(Debug)]
pub struct Example {
    /// The state.
    pub state: State,
    /// The first execution that ends in it.
    pub told: Told,
}

/// Two accesses that race: their threads and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RacingPair {
    /// The threads, by their numbers in the file, from 0.
    pub threads: [u32; 2],
    /// The lines of their instructions, 1-based.
    pub lines: [u32; 2],
}

/// An expectation and what was found.
#[derive(Debug)]
pub struct Checked {
    /// Its place among the expectations of the file, from 0.
    pub index: usize,
    /// What the file claims of the condition: some execution (for `forall`: every one) meets it.
    pub expected: bool,
    /// Whether that is so.
    pub found: bool,
    /// Executions that meet the condition.
    pub meeting: u64,
    /// Executions looked at.
    pub executions: u64,
    /// What decided: an execution that meets the condition, or one that does not where all should.
    pub witness: Option<Told>,
    /// A race in it, what would order it, or why no execution meets the condition; if that was asked for.
    pub why: Option<String>,
    /// What meets the condition and is no execution, where that is why.
    pub forbidden: Option<Told>,
    /// The search behind it was complete.
    pub complete: bool,
}

/// An execution and its dispatch.
#[derive(Clone, Debug)]
pub struct Told {
    /// The execution.
    pub witness: Witness,
    /// The objects and threads that it is told in.
    pub dispatch: Dispatch,
}

impl Checked {
    /// Whether the expectation is met.
    pub fn is_met(&self) -> bool {
        self.expected == self.found
    }

    /// Whether what was found so far is all that counts: a search that was cut may have missed executions.
    pub fn is_decided(&self) -> bool {
        self.complete || self.witness.is_some()
    }
}

/// What to find out beside the expectations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// All final states.
    pub states: bool,
    /// [`Checked::why`].
    pub why: bool,
    /// So many final states with an execution each, for pictures; all states are told apart then.
    pub examples: usize,
    /// Only whether a lone expectation is met: the search ends at an execution that decides it, and nothing is counted
    /// behind that.
    pub only_met: bool,
}

/// Explores a test and checks its expectations. `settings` gives the model and the bounds.
///
/// # Errors
/// The test cannot be run, or the search went wrong.
pub fn run(test: &Test, settings: &Settings, wanted: Wanted) -> Result<Answer, RunError> {
    let states = wanted.states || wanted.examples > 0;
    let lowered = lower(test, states)?;
    let alone = match &test.expectations[..] {
        [alone] if wanted.only_met && !states && !wanted.why => Some(alone),
        _ => None,
    };
    let mut searches = Searches { test, lowered: &lowered, settings, states, alone, done: BTreeMap::new() };
    let mut expectations = Vec::new();
    for (index, expectation) in test.expectations.iter().enumerate() {
        let chains = !(expectation.without_chains && settings.model.without_chains().is_some());
        let axioms = expectation.condition.is_about_consistent();
        let behaviours = searches.search(chains, axioms);
        let mut checked = check(test, &lowered, index, expectation, behaviours);
        // A surprise without a witness needs a reason.
        if wanted.why || !checked.is_met() && checked.witness.is_none() {
            let misplaced = test.misplaced_barriers().map(|misplaced| (misplaced.to_string(), None));
            let found =
                misplaced.or_else(|| why(test, &lowered, settings, expectation, behaviours, &checked));
            (checked.why, checked.forbidden) = found.map_or((None, None), |(why, told)| (Some(why), told));
        }
        expectations.push(checked);
    }
    let known = alone.and_then(|_| searches.done.keys().next().copied());
    let (chains, axioms) = known.unwrap_or((true, true));
    searches.search(chains, axioms);
    if let Some(bug) = searches.done.values().find_map(Behaviours::bug) {
        return Err(bug.clone().into());
    }
    let behaviours = searches.search(chains, axioms);
    let states = if wanted.states { final_states(test, &lowered, behaviours) } else { Vec::new() };
    let executions = executions(test, &lowered, behaviours);
    let (examples, example_count) = examples(test, &lowered, behaviours, wanted.examples);
    let hanging = behaviours.outcomes.iter().filter(|(outcome, _)| outcome.end == End::Hang);
    let hanging = hanging.map(|(_, witness)| witness.executions).sum();
    let undefined = behaviours.undefined.iter().map(|(undefined, _)| undefined.clone()).collect();
    let ended_early = behaviours.ends_at_target;
    let mut incomplete: Vec<Incomplete> = searches.done.values().flat_map(incomplete).collect();
    incomplete.sort();
    incomplete.dedup();
    Ok(Answer {
        executions,
        expectations,
        states,
        examples,
        example_count,
        undefined,
        hanging,
        incomplete,
        ended_early,
    })
}

/// The first final states, sorted, each with an execution, and how many there are; none where none are wanted.
fn examples(test: &Test, lowered: &Lowered, behaviours: &Behaviours, most: usize) -> (Vec<Example>, usize) {
    if most == 0 {
        return (Vec::new(), 0);
    }
    let mut first: BTreeMap<State, &Witness> = BTreeMap::new();
    for (outcome, witness) in behaviours.outcomes.iter().filter(|(outcome, _)| counts(test, lowered, outcome))
    {
        first.entry(state(test, lowered, outcome)).or_insert(witness);
    }
    let count = first.len();
    let told = |witness: &Witness| Told { witness: witness.clone(), dispatch: lowered.dispatch.clone() };
    let examples =
        first.into_iter().take(most).map(|(state, witness)| Example { state, told: told(witness) });
    (examples.collect(), count)
}

/// Searches, each made once: by chains and axioms.
struct Searches<'a> {
    test: &'a Test,
    lowered: &'a Lowered,
    settings: &'a Settings,
    /// Final states are told, with their races.
    states: bool,
    /// The expectation at whose decision a search ends.
    alone: Option<&'a Expectation>,
    done: BTreeMap<(bool, bool), Behaviours>,
}

impl Searches<'_> {
    fn search(&mut self, chains: bool, axioms: bool) -> &Behaviours {
        let sequences = self.test.expectations.iter().any(|expectation| {
            let mut found = false;
            expectation.condition.visit_terms(&mut |term| found |= term == Term::ReleaseSequences);
            found
        });
        let remark = match (self.states, sequences) {
            (true, _) => told_races,
            (false, true) => races_and_sequences,
            (false, false) => races,
        };
        let without_chains = self.settings.model.without_chains().filter(|_| !chains);
        let model = without_chains.unwrap_or_else(|| self.settings.model.clone());
        let (test, lowered, settings, alone) = (self.test, self.lowered, self.settings, self.alone);
        let decides = |outcome: &Outcome| alone.is_some_and(|alone| decides(test, lowered, alone, outcome));
        self.done.entry((chains, axioms)).or_insert_with(|| match test.misplaced_barriers() {
            // There is no execution, whatever is read.
            Some(_) => Behaviours { complete: true, ..Behaviours::default() },
            None => search_until(lowered, settings, (model, axioms, remark), Some(&decides)),
        })
    }
}

/// Whether an outcome decides an expectation, whatever others there are.
fn decides(test: &Test, lowered: &Lowered, expectation: &Expectation, outcome: &Outcome) -> bool {
    let state = Final { test, lowered, outcome, only_values: false };
    counts(test, lowered, outcome) && state.meets(expectation) == expectation.quantifier.wants_one()
}

/// The executions of a test under this model, with or without its axioms.
pub(super) fn search(
    lowered: &Lowered,
    settings: &Settings,
    model: Model,
    axioms: bool,
    remark: Remark,
) -> Behaviours {
    search_until(lowered, settings, (model, axioms, remark), None)
}

fn search_until(
    lowered: &Lowered,
    settings: &Settings,
    (model, axioms, remark): (Model, bool, Remark),
    target: Option<&(dyn Fn(&Outcome) -> bool + Sync)>,
) -> Behaviours {
    let Lowered { program, dispatch, foreseen, speculate, .. } = lowered;
    let settings = Settings {
        model,
        races: Races::Keep,
        foreseen: foreseen.clone(),
        speculate: speculate.clone(),
        remark: Some(remark),
        axioms,
        ..settings.clone()
    };
    explore::explore_until(program, dispatch, &settings, target)
}

/// Number of data races.
pub(super) fn races(execution: &Remarkable) -> Vec<u32> {
    vec![execution.races.len() as u32]
}

/// Number of data races, and pairs of a release and a member of its release sequence.
fn races_and_sequences(execution: &Remarkable) -> Vec<u32> {
    let members = execution.model.release_sequence_members(execution.graph, execution.modification_order);
    vec![execution.races.len() as u32, members as u32]
}

/// The same, then of each race between two accesses their threads and lines.
fn told_races(execution: &Remarkable) -> Vec<u32> {
    let events = &execution.graph.events;
    let ends = execution.races.iter().map(|race| {
        let mut ends = [race.first, race.second].map(|id| {
            let event = &events[id as usize];
            (event.agent, event.line)
        });
        ends.sort_unstable();
        ends
    });
    let distinct: BTreeSet<[(u32, u32); 2]> = ends.collect();
    let mut remarks = races_and_sequences(execution);
    remarks.extend(distinct.into_iter().flatten().flat_map(|(agent, line)| [agent, line]));
    remarks
}

/// What [`told_races`] told.
fn racing_pairs(remarks: &[u32]) -> impl Iterator<Item = RacingPair> + '_ {
    remarks
        .get(2..)
        .unwrap_or_default()
        .chunks_exact(4)
        .map(|ends| RacingPair { threads: [ends[0], ends[2]], lines: [ends[1], ends[3]] })
}

fn incomplete(behaviours: &Behaviours) -> Vec<Incomplete> {
    let undecided = behaviours.undecided.iter().cloned().map(Incomplete::Undecided);
    let stopped = behaviours.stopped.map(Incomplete::Stopped);
    undecided.chain(stopped).chain(behaviours.bounded.map(Incomplete::Bounded)).collect()
}

/// Whether an outcome is a final state that counts.
pub(super) fn counts(test: &Test, lowered: &Lowered, outcome: &Outcome) -> bool {
    let meets = |condition: &Condition| Final { test, lowered, outcome, only_values: false }.holds(condition);
    outcome.end == End::Terminated && test.filter.as_ref().is_none_or(meets)
}

fn executions(test: &Test, lowered: &Lowered, behaviours: &Behaviours) -> u64 {
    let counted = behaviours.outcomes.iter().filter(|(outcome, _)| counts(test, lowered, outcome));
    counted.map(|(_, witness)| witness.executions).sum()
}

fn check(
    test: &Test,
    lowered: &Lowered,
    index: usize,
    expectation: &Expectation,
    behaviours: &Behaviours,
) -> Checked {
    let (mut meeting, mut executions) = (0, 0);
    let (mut example, mut counterexample) = (None, None);
    for (outcome, witness) in behaviours.outcomes.iter().filter(|(outcome, _)| counts(test, lowered, outcome))
    {
        executions += witness.executions;
        let state = Final { test, lowered, outcome, only_values: false };
        if state.meets(expectation) {
            meeting += witness.executions;
            example = example.or(Some(witness));
        } else {
            counterexample = counterexample.or(Some(witness));
        }
    }
    let (expected, found, decisive) = match expectation.quantifier {
        Quantifier::Exists => (true, example.is_some(), example),
        Quantifier::NotExists => (false, example.is_some(), example),
        Quantifier::ForAll => (true, counterexample.is_none(), counterexample),
    };
    let told = |witness: &Witness| Told { witness: witness.clone(), dispatch: lowered.dispatch.clone() };
    let (witness, complete) = (decisive.map(told), behaviours.complete);
    Checked { index, expected, found, meeting, executions, witness, why: None, forbidden: None, complete }
}

/// A final state, against which conditions are held.
pub(super) struct Final<'a> {
    pub(super) test: &'a Test,
    pub(super) lowered: &'a Lowered,
    pub(super) outcome: &'a Outcome,
    /// What a condition says of other things than values is taken as true.
    pub(super) only_values: bool,
}

impl Final<'_> {
    /// Whether the condition holds; what depends on an undefined value may.
    pub(super) fn holds(&self, condition: &Condition) -> bool {
        self.evaluate(condition).unwrap_or(true)
    }

    /// Whether it meets the condition of an expectation.
    fn meets(&self, expectation: &Expectation) -> bool {
        match expectation.quantifier {
            Quantifier::Exists | Quantifier::NotExists => self.holds(&expectation.condition),
            // With an undefined value it holds only if it does for all that this may be.
            Quantifier::ForAll => self.evaluate(&expectation.condition) == Some(true),
        }
    }

    /// In Kleene's logic: `None` for what is unknown.
    fn evaluate(&self, condition: &Condition) -> Option<bool> {
        match condition {
            Condition::True | Condition::Consistent => Some(true),
            Condition::Not(inner) => self.evaluate(inner).map(|holds| !holds),
            Condition::And(parts) => self.first_that_is(false, parts),
            Condition::Or(parts) => self.first_that_is(true, parts),
            Condition::Compare(comparison, a, b) => {
                Some(compare(*comparison, self.value(*a)? as i32, self.value(*b)? as i32))
            }
        }
    }

    /// `decisive` if one of the parts is, the opposite if all are that.
    fn first_that_is(&self, decisive: bool, parts: &[Condition]) -> Option<bool> {
        let mut known = true;
        for part in parts {
            match self.evaluate(part) {
                Some(holds) if holds == decisive => return Some(decisive),
                Some(_) => {}
                None => known = false,
            }
        }
        known.then_some(!decisive)
    }

    fn value(&self, term: Term) -> Option<u32> {
        match term {
            Term::Value(value) => Some(number(value)),
            Term::DataRaces | Term::ReleaseSequences if self.only_values => None,
            Term::DataRaces => self.outcome.remarks.first().copied(),
            Term::ReleaseSequences => self.outcome.remarks.get(1).copied(),
            Term::Register(..) | Term::Variable(_) => {
                let position = self.lowered.observed.iter().position(|other| *other == term)?;
                word(self.outcome.memory.get(position)?)
            }
        }
    }

    /// A value as a person writes it.
    fn text(&self, term: Term) -> String {
        match self.value(term) {
            None => "undefined".to_owned(),
            Some(value) => match addressed(self.test, value) {
                Some(variable) => format!("&{}", self.test.variables[variable].name),
                None => (value as i32).to_string(),
            },
        }
    }
}

fn word(bytes: &[Byte]) -> Option<u32> {
    let mut word = [0; 4];
    for (slot, byte) in word.iter_mut().zip(bytes) {
        match byte {
            Byte::Known(value) => *slot = *value,
            Byte::Undef => return None,
        }
    }
    Some(u32::from_le_bytes(word))
}

fn compare(comparison: Comparison, a: i32, b: i32) -> bool {
    match comparison {
        Comparison::Equal => a == b,
        Comparison::NotEqual => a != b,
        Comparison::Less => a < b,
        Comparison::LessEqual => a <= b,
        Comparison::Greater => a > b,
        Comparison::GreaterEqual => a >= b,
    }
}

fn final_states(test: &Test, lowered: &Lowered, behaviours: &Behaviours) -> Vec<FinalState> {
    let mut states: BTreeMap<State, FinalState> = BTreeMap::new();
    for (outcome, witness) in behaviours.outcomes.iter().filter(|(outcome, _)| counts(test, lowered, outcome))
    {
        let state = state(test, lowered, outcome);
        let told = states.entry(state.clone()).or_insert_with(|| FinalState {
            state,
            executions: 0,
            racy: 0,
            races: BTreeMap::new(),
        });
        told.executions += witness.executions;
        if outcome.remarks.first().is_some_and(|races| *races > 0) {
            told.racy += witness.executions;
        }
        for pair in racing_pairs(&outcome.remarks) {
            *told.races.entry(pair).or_default() += witness.executions;
        }
    }
    states.into_values().collect()
}

/// Registers and variables of a final state, with names.
fn state(test: &Test, lowered: &Lowered, outcome: &Outcome) -> State {
    let state = Final { test, lowered, outcome, only_values: false };
    lowered.observed.iter().map(|term| (test.term_name(*term), state.text(*term))).collect()
}

impl Test {
    /// How a register or a variable is called.
    pub fn term_name(&self, term: Term) -> String {
        match term {
            Term::Register(thread, register) => {
                let declared = self.threads.get(thread).and_then(|thread| thread.registers.get(register));
                match declared.map(|register| register.name.as_str()) {
                    Some(name) if !name.is_empty() => format!("P{thread}:{name}"),
                    Some(_) | None => format!("P{thread}:{}", self.reads_of(thread, register)),
                }
            }
            Term::Variable(variable) => {
                self.variables.get(variable).map_or_else(String::new, |variable| variable.name.clone())
            }
            Term::Value(value) => (number(value) as i32).to_string(),
            Term::DataRaces => "#dr".to_owned(),
            Term::ReleaseSequences => "#rs".to_owned(),
        }
    }

    /// A name for a register without one: the line of the read that sets it.
    fn reads_of(&self, thread: usize, register: usize) -> String {
        let code = self.threads.get(thread).map_or(&[][..], |thread| &thread.code);
        let sets = code.iter().find(|statement| statement.instruction.destination() == Some(register));
        sets.map_or_else(String::new, |statement| format!("line {}", statement.position.line))
    }
}

impl Condition {
    /// Whether inconsistent executions cannot meet it.
    fn is_about_consistent(&self) -> bool {
        match self {
            Condition::Consistent => true,
            Condition::And(parts) => parts.iter().any(Condition::is_about_consistent),
            // Conditions on values are about executions that the model allows.
            Condition::True | Condition::Not(_) | Condition::Or(_) => true,
            Condition::Compare(_, a, b) => {
                ![a, b].iter().any(|term| matches!(term, Term::DataRaces | Term::ReleaseSequences))
            }
        }
    }
}

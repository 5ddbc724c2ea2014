//! The explorer: every behaviour of a program on one dispatch, each execution visited once.
//!
//! Invocations run concretely; the accesses by which they communicate become events of an
//! execution graph, which a memory model judges. The search goes forward only: invocations run
//! until each stands at a read, a barrier or its end. Then one read is resolved, by a branch for
//! every write of the graph that it may read from, and one more in which it *waits*: its source is
//! a write that is not there yet. A waiting read is offered only writes that came after its wait,
//! so that every execution is reached by exactly one sequence of choices. Where all unfinished
//! invocations wait, program order and reads-from must form a cycle (load buffering): then one of
//! them *speculates* a value, and the execution counts only if a write added later produces it.
//!
//! What a search needs to know about the program beforehand (which locations are shared, who may
//! write what, which values to speculate, which reads spin) is learned in rounds, to a fixed point
//! ([`knowledge`]). Only the last round counts.

mod aliasing;
mod apart;
mod barriers;
mod budget;
mod complete;
mod context;
mod cycles;
mod descriptors;
pub(crate) mod events;
mod excuse;
mod factored;
mod foresight;
mod found;
mod groups;
mod judging;
mod knowledge;
mod lasso;
mod memory;
mod merging;
mod orbit;
mod outcomes;
mod outlook;
mod pending;
mod phases;
mod probe;
mod product;
mod reach;
mod recast;
mod replay;
mod resolve;
mod search;
mod segment;
mod sharing;
mod spin;
mod staging;
mod stale;
mod standing;
mod state;
mod stuck;
mod suspects;
mod symmetry;
mod tangles;
mod turns;
mod unseen;
mod waiting;
mod witness;
mod writers;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub use budget::Progress;

use self::found::Found;
use self::probe::Unseen;
use crate::behaviour::{Behaviours, Bound, Bug, Outcome, Produced, Stopped, Undecided};
use crate::dispatch::Dispatch;
use crate::ir::InstId;
use crate::ir::Program;
use crate::model::consistency::DataRace;
use crate::model::graph::Graph;
use crate::model::relation::Relation;
use crate::model::vulkan::Variant;

/// What a data race does (docs/semantics.md, section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Races {
    /// It makes the whole run undefined.
    #[default]
    Undefined,
    /// The outcomes of racy executions count like others.
    Keep,
}

impl Races {
    /// Its name in reports and for `--races`.
    pub const fn name(self) -> &'static str {
        match self {
            Races::Undefined => "undefined",
            Races::Keep => "keep",
        }
    }
}

/// What a search would otherwise have to learn about a program. Too much of it costs time, and never
/// changes a result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreseen {
    /// Words (memory and first byte) that several invocations access.
    pub shared: Vec<(u32, u32)>,
    /// Per such word, the invocations and instructions that may write it.
    pub writers: BTreeMap<(u32, u32), BTreeSet<(u32, InstId)>>,
}

/// An execution to remark on.
pub struct Remarkable<'a> {
    pub graph: &'a Graph,
    pub races: &'a [DataRace],
    /// The orientation of scoped modification order that the execution stands for, where release sequences depend on it.
    pub modification_order: Option<&'a Relation>,
}

/// What to remark on an execution.
pub type Remark = fn(&Remarkable) -> Vec<u32>;

/// The choices and bounds of a search.
#[derive(Clone, Debug)]
pub struct Settings {
    pub variant: Variant,
    pub races: Races,
    /// An endless loop without effects may not be left (`--hang strict`).
    pub strict_hangs: bool,
    /// Subgroup operations and barriers partition invocations by structure where flow diverges.
    pub structural_reconvergence: bool,
    /// Iterations of one loop with events in each before the run is cut.
    pub spin_bound: u32,
    /// Instructions of one execution, over all invocations.
    pub max_instructions: u64,
    pub max_executions: u64,
    /// Bytes for stored outcomes.
    pub max_memory: u64,
    pub timeout: Option<Duration>,
    /// The option that says so.
    pub timed_by: Stopped,
    /// Threads; 0 for as many as there are cores.
    pub jobs: usize,
    /// Stop at the first undefined behaviour.
    pub stop_at_undefined: bool,
    /// With that, from so many invocations on, races of one interleaving are looked for before anything else.
    pub suspects_from: usize,
    /// Leave out of the graph what cannot communicate, and extend relations as graphs grow. Without it every
    /// access of memory that the module may write is an event, and relations are derived anew (`--self-check`).
    pub shortcuts: bool,
    /// With shortcuts, explore invocations that may change places in one order only.
    pub symmetry: bool,
    /// With shortcuts, explore states with the same future once: `executions` then counts those visited.
    pub merges: bool,
    /// Values to speculate beside those that the program itself produces.
    pub speculate: Produced,
    /// Plain reads speculate like atomic ones though races make a run undefined: finds races that only cycles of load
    /// buffering have. Where races are kept they do anyway.
    pub speculate_plain: bool,
    /// What is known about the program beforehand.
    pub foreseen: Foreseen,
    /// What to remark on an execution, besides its final memory.
    pub remark: Option<Remark>,
    /// Without the axioms every choice of reads-from counts as an execution; outcomes are then without
    /// the memory that invocations share.
    pub axioms: bool,
    /// Explore groups of invocations that do not communicate apart. Without it, and without shortcuts, all together.
    pub groups: bool,
    /// Outcomes up to which those of groups are multiplied out ([`Behaviours::product`]).
    pub multiply_out: u64,
    /// Executions up to which those that differ in who has which place are told one by one; more are kept in
    /// factored form ([`Behaviours::product`]).
    pub factored_from: u64,
    /// Hold every judgement of extended relations against the declared ones (`--verify-engine`).
    pub verify_engine: bool,
    pub progress: Arc<Progress>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            variant: Variant::default(),
            races: Races::Undefined,
            strict_hangs: false,
            structural_reconvergence: false,
            spin_bound: 256,
            max_instructions: 50_000_000,
            max_executions: 10_000_000,
            max_memory: 8 << 30,
            timeout: None,
            timed_by: Stopped::Timeout,
            jobs: 0,
            stop_at_undefined: false,
            suspects_from: usize::MAX,
            shortcuts: true,
            symmetry: true,
            merges: true,
            speculate: Produced::new(),
            speculate_plain: false,
            foreseen: Foreseen::default(),
            remark: None,
            axioms: true,
            groups: true,
            multiply_out: u64::MAX,
            factored_from: u64::MAX,
            verify_engine: false,
            progress: Arc::default(),
        }
    }
}

impl Settings {
    fn plain_reads_speculate(&self) -> bool {
        self.speculate_plain || self.races == Races::Keep
    }
}

/// Distinct values a unit may speculate, and rounds, before the search counts as bounded.
const MAX_SPECULATED_VALUES: usize = 64;
const MAX_ROUNDS: usize = 64;
/// Rounds of one path each before the first whole one.
const MAX_SCOUTS: usize = 16;

/// Finds every behaviour of `program` on `dispatch`.
pub fn explore(program: &Program, dispatch: &Dispatch, settings: &Settings) -> Behaviours {
    explore_until(program, dispatch, settings, None)
}

/// Finds the behaviours of `program` on `dispatch`, up to the first outcome in search order that `target` names.
pub fn explore_until(
    program: &Program,
    dispatch: &Dispatch,
    settings: &Settings,
    target: Option<&(dyn Fn(&Outcome) -> bool + Sync)>,
) -> Behaviours {
    let context = context::Context::new(program, dispatch, settings, target);
    let mut knowledge = knowledge::Knowledge::new(dispatch, settings);
    let mut rounds = 0;
    let mut scouts = true;
    let mut groups = None;
    // In cycles that a probe found.
    let mut meets = BTreeSet::new();
    let mut begun = None;
    let (mut found, mut stopped, settled) = loop {
        let found = match (scouts, &groups, begun.take()) {
            (true, ..) => search::Search::scout(&context, &knowledge).run(),
            (false, Some(groups), _) => groups::Groups::run(groups, &context, &knowledge),
            (false, None, Some(begun)) => search::Search::new(&context, &knowledge).go_on(begun),
            (false, None, None) => search::Search::new(&context, &knowledge).run(),
        };
        let overfed = found.overfed
            || found.judged_anew > knowledge.most_judged_anew()
            || knowledge.is_overfed(found.judged_anew, found.explored);
        if overfed && context.budget.stopped().is_none() {
            knowledge.speculate_less();
            context.budget.start_round();
            continue;
        }
        let race = if rounds == 0 { suspects::race(&context, &knowledge, &found) } else { None };
        let stopped = context.budget.stopped();
        if let Some(race) = race {
            break (race, stopped, true);
        }
        let united = groups::learn(&mut groups, &context, &found);
        let settled = !knowledge.learn(&found.discoveries, MAX_SPECULATED_VALUES) && !united;
        rounds += 1;
        if scouts && !found.left.is_empty() && stopped.is_none() {
            // Once its path teaches nothing more, all the others.
            scouts = !settled && rounds < MAX_SCOUTS;
            if !scouts {
                groups = groups::Groups::of_scout(&context, &found);
                groups::unite_meeting(&mut groups, &meets);
                if settled && groups.is_none() && found.discoveries.writers.is_empty() {
                    begun = Some(found);
                    continue;
                }
            }
        } else if stopped.is_some() || rounds == MAX_ROUNDS {
            break (found, stopped, false);
        } else if settled {
            let unseen = match probe::unseen(&context, &knowledge, &found) {
                Unseen::Nothing => break (found, stopped, settled),
                Unseen::Cut => {
                    break (Found { bounded: Some(Bound::UnseenCycles), ..found }, stopped, settled);
                }
                Unseen::Writes(writes) => writes,
            };
            groups::unite_meeting(&mut groups, &unseen.meets);
            meets.extend(unseen.meets.iter().copied());
            knowledge.has_hidden_writers = true;
            knowledge.learn(&unseen, MAX_SPECULATED_VALUES);
        }
        context.budget.start_round();
    };
    if !found.factors.is_empty() || !found.factored.is_empty() {
        found.put_together(&context);
        found.put_factored_together(&context);
        stopped = stopped.or(context.budget.stopped());
    }
    let searched_all = stopped.is_none() && settled && !found.stop;
    let mut behaviours = found.into_behaviours(&context, &knowledge);
    behaviours.stopped = stopped;
    if !settled && stopped.is_none() {
        behaviours.bounded.get_or_insert(Bound::Rounds);
    }
    behaviours.complete = stopped.is_none()
        && behaviours.bounded.is_none()
        && behaviours.undecided.is_empty()
        && !behaviours.ends_at_target;
    if searched_all && !behaviours.paths.is_whole() {
        let (started, ended) = (behaviours.paths.started(), behaviours.paths.ended_in_all());
        behaviours.undecided.push(Undecided::Bug(Bug::PathAccount { started, ended }));
        behaviours.complete = false;
    }
    let is_empty = behaviours.count() == 0 && behaviours.undefined.is_empty();
    if behaviours.complete && is_empty && !context.may_discard {
        // Every program has an execution: nothing may be concluded from a search that lost them.
        behaviours.undecided.push(Undecided::Bug(Bug::NoExecution));
        behaviours.complete = false;
    }
    behaviours
}

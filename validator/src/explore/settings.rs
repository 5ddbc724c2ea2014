//! The choices and bounds of a search.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::behaviour::{Produced, Stopped};
use crate::explore::progress::Progress;
use crate::explore::reductions::names::Reductions;
use crate::ir::InstId;
use crate::model::graph::Graph;
use crate::model::memory_model::{DataRace, MemoryModel, Model};
use crate::model::relation::Relation;

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
    /// The model that allows it.
    pub model: &'a dyn MemoryModel,
    /// The execution.
    pub graph: &'a Graph,
    /// Its data races, ascending.
    pub races: &'a [DataRace],
    /// The orientation of scoped modification order that the execution stands for, where release sequences depend on it.
    pub modification_order: Option<&'a Relation>,
}

/// What to remark on an execution.
pub type Remark = fn(&Remarkable) -> Vec<u32>;

/// The choices and bounds of a search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What judges executions.
    pub model: Model,
    /// What a data race does.
    pub races: Races,
    /// An endless loop without effects may not be left (`--hang strict`).
    pub strict_hangs: bool,
    /// Subgroup operations and barriers partition invocations by structure where flow diverges.
    pub structural_reconvergence: bool,
    /// Iterations of one loop with events in each before the run is cut.
    pub spin_bound: u32,
    /// Instructions of one execution, over all invocations.
    pub max_instructions: u64,
    /// Executions that the search visits, at most.
    pub max_executions: u64,
    /// Bytes for stored outcomes.
    pub max_memory: u64,
    /// How long the search may take.
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
    /// Reductions that the search does without. Without shortcuts there are none.
    pub without: Reductions,
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
    /// Outcomes up to which those of groups are multiplied out ([`Behaviours::product`](crate::behaviour::Behaviours::product)).
    pub multiply_out: u64,
    /// Executions up to which those that differ in who has which place are told one by one; more are kept in
    /// factored form ([`Behaviours::product`](crate::behaviour::Behaviours::product)).
    pub factored_from: u64,
    /// Hold every judgement of extended relations against the declared ones (`--verify-engine`).
    pub verify_engine: bool,
    /// How far the search is, for other threads.
    pub progress: Arc<Progress>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            model: Model::default(),
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
            without: Reductions::NONE,
            speculate: Produced::new(),
            speculate_plain: false,
            foreseen: Foreseen::default(),
            remark: None,
            axioms: true,
            multiply_out: u64::MAX,
            factored_from: u64::MAX,
            verify_engine: false,
            progress: Arc::default(),
        }
    }
}

impl Settings {
    pub(crate) fn plain_reads_speculate(&self) -> bool {
        self.speculate_plain || self.races == Races::Keep
    }
}

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

/// Facts about a program that a search would otherwise learn in rounds. Superfluous facts cost time but never change a
/// result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreseen {
    /// Words (memory and first byte) that several invocations access.
    pub shared: Vec<(u32, u32)>,
    /// For each such word, the invocations and the instructions at which they may write it.
    pub writers: BTreeMap<(u32, u32), BTreeSet<(u32, InstId)>>,
}

/// An execution that a [`Remark`] function judges.
pub struct Remarkable<'a> {
    /// The model that allows it.
    pub model: &'a dyn MemoryModel,
    /// The execution.
    pub graph: &'a Graph,
    /// Its data races, ascending.
    pub races: &'a [DataRace],
    /// The orientation of scoped modification order that the execution stands for, if release sequences depend on it.
    pub modification_order: Option<&'a Relation>,
}

/// A function that gives the remarks on an execution, as numbers that only its caller understands.
pub type Remark = fn(&Remarkable) -> Vec<u32>;

/// The choices and bounds of a search.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The memory model, which judges executions.
    pub model: Model,
    /// What a data race does.
    pub races: Races,
    /// Whether an endless loop without effects must run for ever (`--hang strict`). Otherwise an execution may leave
    /// it.
    pub strict_hangs: bool,
    /// Whether the structure of the control flow alone determines, where flow diverges, which invocations execute a
    /// subgroup operation or barrier together (`--reconvergence structural`).
    pub structural_reconvergence: bool,
    /// The number of turns of one loop that come back to the same state but write, before the run is cut.
    pub spin_bound: u32,
    /// The number of instructions of one execution, over all invocations, before the run is cut.
    pub max_instructions: u64,
    /// The number of executions that the search may visit.
    pub max_executions: u64,
    /// The number of steps that the search may take, of all paths together; none, where other budgets bound it.
    pub max_steps: Option<u64>,
    /// The number of bytes that stored outcomes may take.
    pub max_memory: u64,
    /// The time that the search may take.
    pub timeout: Option<Duration>,
    /// The budget that a report names if `timeout` ends the search.
    pub timed_by: Stopped,
    /// The number of threads; 0 stands for as many as there are cores.
    pub jobs: usize,
    /// Whether the search stops at the first undefined behaviour.
    pub stop_at_undefined: bool,
    /// With `stop_at_undefined`: the number of invocations from which on the search first looks for races of one
    /// interleaving (the reduction `early-races`).
    pub early_races_from: usize,
    /// Whether accesses that cannot communicate stay out of the graph, and relations are extended as graphs grow.
    /// Without shortcuts every access of memory that the module may write is an event, and relations are derived anew
    /// for every graph (`--self-check`).
    pub shortcuts: bool,
    /// The reductions that the search does without. Without shortcuts there are none.
    pub without: Reductions,
    /// Values that reads may speculate beside those that the program itself produces.
    pub speculate: Produced,
    /// Whether plain reads speculate like atomic ones although races make a run undefined. This finds races that only
    /// cycles of load buffering have. Where races are kept, plain reads always speculate.
    pub speculate_plain: bool,
    /// What is known about the program before the first round.
    pub foreseen: Foreseen,
    /// The remarks on an execution that its outcome contains, besides its final memory.
    pub remark: Option<Remark>,
    /// Whether the axioms count. If they do not, every choice of reads-from counts as an execution, and outcomes do not
    /// contain the memory that invocations share.
    pub axioms: bool,
    /// The number of outcomes up to which the outcomes of several groups are multiplied out into a list. More are kept
    /// as a product ([`Behaviours::product`](crate::behaviour::Behaviours::product)).
    pub multiply_out: u64,
    /// The number of executions up to which executions that differ only in the places of invocations are listed one by
    /// one. More are kept in factored form ([`Behaviours::product`](crate::behaviour::Behaviours::product)).
    pub factored_from: u64,
    /// Whether every judgement of extended relations is compared with the judgement of the declared ones
    /// (`--verify-engine`).
    pub verify_engine: bool,
    /// The progress of the search, for other threads.
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
            max_steps: None,
            max_memory: 8 << 30,
            timeout: None,
            timed_by: Stopped::Timeout,
            jobs: 0,
            stop_at_undefined: false,
            early_races_from: usize::MAX,
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

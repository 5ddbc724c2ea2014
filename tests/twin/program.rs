//! Abstract straight-line programs: threads in workgroups and subgroups, phases separated by control
//! barriers that all threads execute.

use std::collections::BTreeMap;

use super::model::{Access, Action, Agent, Classes, Execution, Operation, Scope, Semantics, Variant};
use super::relation::Relation;

/// Words of the buffer (binding 0.0, and 0.2 as the same memory under another reference).
pub const BUFFER_WORDS: usize = 4;
/// Words of the Workgroup variable of each workgroup.
pub const WORKGROUP_WORDS: usize = 2;

/// The storage class bits of semantics that these programs use.
pub const UNIFORM: Classes = 1;
pub const WORKGROUP: Classes = 2;

/// Through what memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    Buffer,
    /// The buffer's memory through a second binding.
    Alias,
    Workgroup,
}

/// One word of a space, or an aligned pair of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub space: Space,
    pub word: usize,
    pub words: usize,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Constant(u32),
    /// What an earlier read of the thread (counted modulo their number) read, plus a constant; only
    /// the constant where nothing was read.
    Sum {
        read: usize,
        add: u32,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Load,
    Store(Value),
    Exchange(Value),
    Add(u32),
    /// With the semantics of failure.
    CompareExchange {
        comparator: u32,
        value: Value,
        unequal: Semantics,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instruction {
    Load {
        place: Place,
        non_private: bool,
        visible: Option<Scope>,
    },
    /// The second word of a pair gets `SECOND_WORD` more.
    Store {
        place: Place,
        value: Value,
        non_private: bool,
        available: Option<Scope>,
    },
    Atomic {
        place: Place,
        update: Update,
        scope: Scope,
        semantics: Semantics,
    },
    Barrier {
        scope: Scope,
        semantics: Semantics,
    },
}

/// What the second word of a stored pair has more than the first.
pub const SECOND_WORD: u32 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlBarrier {
    pub execution: Scope,
    pub scope: Scope,
    pub semantics: Semantics,
}

/// Code of each thread, then perhaps a control barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    pub threads: Vec<Vec<Instruction>>,
    pub barrier: Option<ControlBarrier>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub workgroups: usize,
    pub local_size: usize,
    pub subgroup_size: usize,
}

impl Shape {
    pub fn threads(self) -> usize {
        self.workgroups * self.local_size
    }

    pub fn agent(self, thread: usize) -> Agent {
        let workgroup = thread / self.local_size;
        let subgroups = self.local_size.div_ceil(self.subgroup_size);
        let subgroup = workgroup * subgroups + thread % self.local_size / self.subgroup_size;
        Agent { subgroup, workgroup, queue_family: 0 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub shape: Shape,
    pub phases: Vec<Phase>,
}

impl Instruction {
    pub fn place(&self) -> Option<Place> {
        match *self {
            Instruction::Load { place, .. }
            | Instruction::Store { place, .. }
            | Instruction::Atomic { place, .. } => Some(place),
            Instruction::Barrier { .. } => None,
        }
    }

    pub fn reads(&self) -> bool {
        match self {
            Instruction::Load { .. } => true,
            Instruction::Store { .. } | Instruction::Barrier { .. } => false,
            Instruction::Atomic { update, .. } => !matches!(update, Update::Store(_)),
        }
    }
}

impl Program {
    /// The instructions of a thread with their phases, in order.
    pub fn thread(&self, thread: usize) -> impl Iterator<Item = (usize, &Instruction)> {
        self.phases.iter().enumerate().flat_map(move |(number, phase)| {
            phase.threads[thread].iter().map(move |instruction| (number, instruction))
        })
    }

    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.phases.iter().flat_map(|phase| phase.threads.iter().flatten())
    }

    pub fn uses(&self, space: Space) -> bool {
        self.instructions().any(|i| i.place().is_some_and(|place| place.space == space))
    }

    pub fn compare_exchanges(&self) -> usize {
        let is = |i: &&Instruction| {
            matches!(i, Instruction::Atomic { update: Update::CompareExchange { .. }, .. })
        };
        self.instructions().filter(is).count()
    }

    /// Words that the reads of all threads give, in order of thread, instruction and word.
    pub fn result_words(&self) -> usize {
        self.instructions().filter(|i| i.reads()).filter_map(Instruction::place).map(|p| p.words).sum()
    }

    fn locations(&self, place: Place, workgroup: usize) -> Vec<usize> {
        let base = match place.space {
            Space::Buffer | Space::Alias => 0,
            Space::Workgroup => BUFFER_WORDS + workgroup * WORKGROUP_WORDS,
        };
        (base + place.word..base + place.word + place.words).collect()
    }

    /// All locations: the buffer's first.
    pub fn location_count(&self) -> usize {
        BUFFER_WORDS + self.shape.workgroups * WORKGROUP_WORDS
    }
}

/// A value as a function of what reads of the same thread read: (operation, location).
#[derive(Clone, Copy, Debug)]
pub enum Computed {
    Constant(u32),
    Sum { read: (usize, usize), add: u32 },
}

/// A program as operations of the model, for one choice of which compare-exchanges succeed.
pub struct Compiled {
    pub execution: Execution,
    /// What each write gives each of its locations.
    pub written: BTreeMap<(usize, usize), Computed>,
    /// The reads, as (operation, location), in the order of the results.
    pub results: Vec<(usize, usize)>,
    /// Compare-exchanges: (operation, location), comparator, whether assumed to succeed.
    pub comparisons: Vec<((usize, usize), u32, bool)>,
    /// For program order with barriers: the operations of each control barrier instance.
    pub barrier_instances: BTreeMap<usize, Vec<usize>>,
}

impl Program {
    /// `succeeds` has an entry for each compare-exchange, in order of thread and instruction.
    pub fn compile(&self, succeeds: &[bool], variant: Variant) -> Compiled {
        let mut builder = Builder { program: self, operations: Vec::new(), out: Parts::default() };
        let mut succeeds = succeeds.iter().copied();
        for thread in 0..self.shape.threads() {
            let mut reads: Vec<(usize, usize)> = Vec::new();
            for (number, phase) in self.phases.iter().enumerate() {
                for instruction in &phase.threads[thread] {
                    let succeeds = match instruction {
                        Instruction::Atomic { update: Update::CompareExchange { .. }, .. } => {
                            succeeds.next().expect("one for each compare-exchange")
                        }
                        _ => true,
                    };
                    builder.instruction(thread, instruction, succeeds, &mut reads);
                }
                if let Some(barrier) = phase.barrier {
                    builder.control_barrier(thread, number, barrier);
                }
            }
            builder.out.results.extend(reads);
        }
        let operations = builder.operations;
        let parts = builder.out;
        let size = operations.len();
        let program_order = Relation::of(size, |a, b| a < b && operations[a].agent == operations[b].agent);
        Compiled {
            execution: Execution {
                agents: (0..self.shape.threads()).map(|thread| self.shape.agent(thread)).collect(),
                operations,
                program_order,
                system_synchronizes_with: Relation::empty(size),
                variant,
            },
            written: parts.written,
            results: parts.results,
            comparisons: parts.comparisons,
            barrier_instances: parts.barrier_instances,
        }
    }
}

#[derive(Default)]
struct Parts {
    written: BTreeMap<(usize, usize), Computed>,
    results: Vec<(usize, usize)>,
    comparisons: Vec<((usize, usize), u32, bool)>,
    barrier_instances: BTreeMap<usize, Vec<usize>>,
}

struct Builder<'p> {
    program: &'p Program,
    operations: Vec<Operation>,
    out: Parts,
}

impl Builder<'_> {
    /// Adds an instruction with semantics, between the operations that these add.
    fn with_semantics(&mut self, agent: usize, action: Action, scope: Scope, semantics: Semantics) -> usize {
        let push = |operations: &mut Vec<Operation>, action| {
            operations.push(Operation { agent, action, scope, semantics });
            operations.len() - 1
        };
        if semantics.make_available {
            push(&mut self.operations, Action::SemanticAvailability);
        }
        let id = push(&mut self.operations, action);
        if semantics.make_visible {
            push(&mut self.operations, Action::SemanticVisibility);
        }
        id
    }

    fn control_barrier(&mut self, thread: usize, number: usize, barrier: ControlBarrier) {
        let agent = self.program.shape.agent(thread);
        let group = match barrier.execution {
            Scope::Subgroup => agent.subgroup,
            _ => agent.workgroup,
        };
        let instance = number * self.program.shape.threads() + group;
        let action = Action::Barrier { control: Some((instance, barrier.execution)) };
        let id = self.with_semantics(thread, action, barrier.scope, barrier.semantics);
        self.out.barrier_instances.entry(instance).or_default().push(id);
    }

    fn access(&self, thread: usize, place: Place) -> Access {
        let workgroup = self.program.shape.agent(thread).workgroup;
        Access {
            reads: false,
            writes: false,
            atomic: false,
            non_private: true,
            class: if place.space == Space::Workgroup { WORKGROUP } else { UNIFORM },
            reference: match place.space {
                Space::Buffer => 0,
                Space::Alias => 1,
                Space::Workgroup => 2 + workgroup,
            },
            locations: self.program.locations(place, workgroup),
            available: None,
            visible: None,
        }
    }

    fn instruction(
        &mut self,
        thread: usize,
        instruction: &Instruction,
        succeeds: bool,
        reads: &mut Vec<(usize, usize)>,
    ) {
        let computed = |value: Value, reads: &[(usize, usize)]| match value {
            Value::Constant(constant) => Computed::Constant(constant),
            Value::Sum { add, .. } if reads.is_empty() => Computed::Constant(add),
            Value::Sum { read, add } => Computed::Sum { read: reads[read % reads.len()], add },
        };
        match *instruction {
            Instruction::Barrier { scope, semantics } => {
                self.with_semantics(thread, Action::Barrier { control: None }, scope, semantics);
            }
            Instruction::Load { place, non_private, visible } => {
                let access = Access { reads: true, non_private, visible, ..self.access(thread, place) };
                let locations = access.locations.clone();
                let action = Action::Access(access);
                let id = self.with_semantics(thread, action, Scope::Invocation, Semantics::default());
                reads.extend(locations.into_iter().map(|location| (id, location)));
            }
            Instruction::Store { place, value, non_private, available } => {
                let access = Access { writes: true, non_private, available, ..self.access(thread, place) };
                let locations = access.locations.clone();
                let action = Action::Access(access);
                let id = self.with_semantics(thread, action, Scope::Invocation, Semantics::default());
                let first = computed(value, reads);
                for (word, location) in locations.into_iter().enumerate() {
                    let more = word as u32 * SECOND_WORD;
                    let value = match first {
                        Computed::Constant(constant) => Computed::Constant(constant.wrapping_add(more)),
                        Computed::Sum { read, add } => Computed::Sum { read, add: add.wrapping_add(more) },
                    };
                    self.out.written.insert((id, location), value);
                }
            }
            Instruction::Atomic { place, update, scope, semantics } => {
                let semantics = match update {
                    Update::CompareExchange { unequal, .. } if !succeeds => unequal,
                    _ => semantics,
                };
                let mut access = Access { atomic: true, ..self.access(thread, place) };
                access.reads = instruction.reads();
                access.writes = !matches!(update, Update::Load) && succeeds;
                access.available = access.writes.then_some(scope);
                access.visible = access.reads.then_some(scope);
                let location = access.locations[0];
                let writes = access.writes;
                let id = self.with_semantics(thread, Action::Access(access), scope, semantics);
                let value = match update {
                    Update::Load => None,
                    Update::Store(value) | Update::Exchange(value) => Some(computed(value, reads)),
                    Update::Add(add) => Some(Computed::Sum { read: (id, location), add }),
                    Update::CompareExchange { comparator, value, .. } => {
                        self.out.comparisons.push(((id, location), comparator, succeeds));
                        Some(computed(value, reads))
                    }
                };
                if let (true, Some(value)) = (writes, value) {
                    self.out.written.insert((id, location), value);
                }
                if instruction.reads() {
                    reads.push((id, location));
                }
            }
        }
    }
}

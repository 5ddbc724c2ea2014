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
/// Classes that nothing is accessed in.
pub const IMAGE: Classes = 4;
pub const OUTPUT: Classes = 8;

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
pub struct Location {
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
        place: Location,
        non_private: bool,
        visible: Option<Scope>,
    },
    /// The second word of a pair gets `SECOND_WORD` more.
    Store {
        place: Location,
        value: Value,
        non_private: bool,
        available: Option<Scope>,
    },
    Atomic {
        place: Location,
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

/// The words that a compare-exchange compares with: a pair that a store could have left, or zeros.
pub fn compared_words(comparator: u32, words: usize) -> Vec<u32> {
    let second = if comparator == 0 { 0 } else { comparator + SECOND_WORD };
    [comparator, second].into_iter().take(words).collect()
}

/// An instruction, perhaps executed only if an earlier read of the thread (counted modulo their
/// number) read a value; a read that was not executed counts as one of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub guard: Option<Guard>,
    pub instruction: Instruction,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    pub read: usize,
    pub equals: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlBarrier {
    pub execution: Scope,
    pub scope: Scope,
    pub semantics: Semantics,
}

/// Code of each thread, then perhaps a control barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    pub threads: Vec<Vec<Step>>,
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
    /// What the buffer holds at first; Workgroup memory holds zeros.
    pub initial: [u32; BUFFER_WORDS],
    pub phases: Vec<Phase>,
}

impl Instruction {
    pub fn place(&self) -> Option<Location> {
        match *self {
            Instruction::Load { place, .. }
            | Instruction::Store { place, .. }
            | Instruction::Atomic { place, .. } => Some(place),
            Instruction::Barrier { .. } => None,
        }
    }

    pub fn compares(&self) -> bool {
        matches!(self, Instruction::Atomic { update: Update::CompareExchange { .. }, .. })
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
    /// The same with plain accesses for atomic ones, and with barriers of whole workgroups alone.
    pub fn without_atomics(&self) -> Program {
        let plain = |instruction: Instruction| match instruction {
            Instruction::Load { .. } | Instruction::Store { .. } => Some(instruction),
            Instruction::Barrier { .. } => None,
            Instruction::Atomic { place, update, scope, .. } => Some(match update {
                Update::Store(value) | Update::Exchange(value) | Update::CompareExchange { value, .. } => {
                    Instruction::Store { place, value, non_private: true, available: Some(scope) }
                }
                Update::Load | Update::Add(_) => {
                    Instruction::Load { place, non_private: true, visible: Some(scope) }
                }
            }),
        };
        let mut program = self.clone();
        for phase in &mut program.phases {
            for steps in &mut phase.threads {
                *steps = steps
                    .iter()
                    .filter_map(|step| Some(Step { instruction: plain(step.instruction)?, ..*step }))
                    .collect();
            }
            if let Some(barrier) = &mut phase.barrier {
                barrier.execution = Scope::Workgroup;
            }
        }
        program
    }

    /// The same where each pair of threads has half of the buffer to itself, but for guarded steps.
    pub fn in_pairs(&self) -> Program {
        let mut program = self.clone();
        for phase in &mut program.phases {
            for (thread, steps) in phase.threads.iter_mut().enumerate() {
                for step in steps.iter_mut().filter(|step| step.guard.is_none()) {
                    if let Instruction::Load { place, .. }
                    | Instruction::Store { place, .. }
                    | Instruction::Atomic { place, .. } = &mut step.instruction
                    {
                        if place.space != Space::Workgroup {
                            let own = thread / 2 * 2;
                            place.word = own + if place.words == 2 { 0 } else { place.word % 2 };
                        }
                    }
                }
            }
        }
        program
    }

    /// The steps of a thread, in order.
    pub fn thread(&self, thread: usize) -> impl Iterator<Item = &Step> {
        self.phases.iter().flat_map(move |phase| &phase.threads[thread])
    }

    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.phases.iter().flat_map(|phase| phase.threads.iter().flatten()).map(|step| &step.instruction)
    }

    pub fn uses(&self, space: Space) -> bool {
        self.instructions().any(|i| i.place().is_some_and(|place| place.space == space))
    }

    /// How many conditions decide what is executed: guards, and comparisons of compare-exchanges.
    pub fn conditions(&self) -> usize {
        let steps = self.phases.iter().flat_map(|phase| phase.threads.iter().flatten());
        steps.map(|step| usize::from(step.guard.is_some()) + usize::from(step.instruction.compares())).sum()
    }

    /// Whether 64-bit atomics are used.
    pub fn uses_wide_atomics(&self) -> bool {
        self.instructions().any(|i| matches!(i, Instruction::Atomic { place, .. } if place.words == 2))
    }

    /// Words that the reads of all threads give, in order of thread, instruction and word.
    pub fn result_words(&self) -> usize {
        self.instructions().filter(|i| i.reads()).filter_map(Instruction::place).map(|p| p.words).sum()
    }

    fn locations(&self, place: Location, workgroup: usize) -> Vec<usize> {
        let base = match place.space {
            Space::Buffer | Space::Alias => 0,
            Space::Workgroup => BUFFER_WORDS + workgroup * WORKGROUP_WORDS,
        };
        (base + place.word..base + place.word + place.words).collect()
    }

    /// What a location holds at first.
    pub fn initial(&self, location: usize) -> u32 {
        self.initial.get(location).copied().unwrap_or(0)
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

/// The values of reads, (operation, location).
pub type Values = BTreeMap<(usize, usize), u32>;

impl Computed {
    /// The value; `None` where it depends on a read without one.
    pub fn value(self, read: &Values) -> Option<u32> {
        match self {
            Computed::Constant(constant) => Some(constant),
            Computed::Sum { read: from, add } => Some(read.get(&from)?.wrapping_add(add)),
        }
    }
}

/// A read-modify-write, whatever it reads: also a compare-exchange that fails.
pub struct ReadModifyWrite {
    /// What it compares with.
    pub compared: Vec<(usize, u32)>,
    /// What it gives each of its locations.
    pub words: Vec<(usize, New)>,
}

/// What a read-modify-write gives a location.
#[derive(Clone, Copy, Debug)]
pub enum New {
    Value(Computed),
    /// What it read there, plus a constant.
    Added(u32),
}

/// What the choice assumes about values: whether reads, (operation, location), read all these values.
/// A read that is not executed reads 0.
#[derive(Clone, Debug)]
pub struct Condition {
    pub reads: Vec<(Option<(usize, usize)>, u32)>,
    pub holds: bool,
}

/// A program as operations of the model, for one choice of which conditions hold.
pub struct Compiled {
    pub execution: Execution,
    /// What each write gives each of its locations.
    pub written: BTreeMap<(usize, usize), Computed>,
    pub updates: Vec<ReadModifyWrite>,
    /// The reads, as (operation, location), in the order of the results; `None` for one that is not
    /// executed.
    pub results: Vec<Option<(usize, usize)>>,
    pub conditions: Vec<Condition>,
    /// For program order with barriers: the operations of each control barrier instance.
    pub barrier_instances: BTreeMap<usize, Vec<usize>>,
}

impl Program {
    /// `choice` has an entry for each condition, in order of thread and step, guards first. `None`
    /// where it says something of a comparison that is not executed.
    pub fn compile(&self, choice: &[bool], variant: Variant) -> Option<Compiled> {
        let mut builder = Builder::new(self);
        let mut choice = choice.iter().copied();
        let mut choose = || choice.next().expect("an entry for each condition");
        for thread in 0..self.shape.threads() {
            let mut reads: Vec<Option<(usize, usize)>> = Vec::new();
            for (number, phase) in self.phases.iter().enumerate() {
                for step in &phase.threads[thread] {
                    let is_executed = match step.guard {
                        Some(guard) if !reads.is_empty() => {
                            let holds = choose();
                            let read = reads[guard.read % reads.len()];
                            builder
                                .out
                                .conditions
                                .push(Condition { reads: vec![(read, guard.equals)], holds });
                            holds
                        }
                        // Nothing to compare: executed, and the choice says so.
                        Some(_) if !choose() => return None,
                        Some(_) | None => true,
                    };
                    let succeeds = !step.instruction.compares() || choose();
                    if is_executed {
                        builder.instruction(thread, &step.instruction, succeeds, &mut reads);
                    } else if step.instruction.compares() && succeeds {
                        return None;
                    } else if let (true, Some(place)) = (step.instruction.reads(), step.instruction.place()) {
                        reads.extend(std::iter::repeat_n(None, place.words));
                    }
                }
                if let Some(barrier) = phase.barrier {
                    builder.control_barrier(thread, number, barrier);
                }
            }
            builder.out.results.extend(reads);
        }
        Some(builder.finish(variant))
    }
}

#[derive(Default)]
pub struct Parts {
    written: BTreeMap<(usize, usize), Computed>,
    updates: Vec<ReadModifyWrite>,
    results: Vec<Option<(usize, usize)>>,
    pub conditions: Vec<Condition>,
    pub barrier_instances: BTreeMap<usize, Vec<usize>>,
}

/// Makes operations of the steps that each thread executes.
pub struct Builder<'p> {
    program: &'p Program,
    pub operations: Vec<Operation>,
    pub out: Parts,
}

impl<'p> Builder<'p> {
    pub fn new(program: &'p Program) -> Self {
        Builder { program, operations: Vec::new(), out: Parts::default() }
    }

    /// The operations of each thread are in program order in the order in which they were added.
    pub fn finish(self, variant: Variant) -> Compiled {
        let Builder { program, operations, out } = self;
        let size = operations.len();
        let program_order = Relation::of(size, |a, b| a < b && operations[a].agent == operations[b].agent);
        Compiled {
            execution: Execution {
                agents: (0..program.shape.threads()).map(|thread| program.shape.agent(thread)).collect(),
                operations,
                program_order,
                system_synchronizes_with: Relation::empty(size),
                variant,
            },
            written: out.written,
            updates: out.updates,
            results: out.results,
            conditions: out.conditions,
            barrier_instances: out.barrier_instances,
        }
    }

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

    pub fn control_barrier(&mut self, thread: usize, number: usize, barrier: ControlBarrier) {
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

    fn access(&self, thread: usize, place: Location) -> Access {
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

    pub fn instruction(
        &mut self,
        thread: usize,
        instruction: &Instruction,
        succeeds: bool,
        reads: &mut Vec<Option<(usize, usize)>>,
    ) {
        let computed = |value: Value, reads: &[Option<(usize, usize)>]| match value {
            Value::Constant(constant) => Computed::Constant(constant),
            Value::Sum { add, .. } if reads.is_empty() => Computed::Constant(add),
            Value::Sum { read, add } => match reads[read % reads.len()] {
                Some(read) => Computed::Sum { read, add },
                None => Computed::Constant(add),
            },
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
                reads.extend(locations.into_iter().map(|location| Some((id, location))));
            }
            Instruction::Store { place, value, non_private, available } => {
                let access = Access { writes: true, non_private, available, ..self.access(thread, place) };
                let locations = access.locations.clone();
                let action = Action::Access(access);
                let id = self.with_semantics(thread, action, Scope::Invocation, Semantics::default());
                self.write(id, &locations, computed(value, reads));
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
                let locations = access.locations.clone();
                let writes = access.writes;
                let id = self.with_semantics(thread, Action::Access(access), scope, semantics);
                let old = locations.iter().map(|&location| Some((id, location)));
                self.out
                    .updates
                    .extend(read_modify_write(update, &locations, |value| computed(value, reads)));
                match update {
                    Update::Load => {}
                    Update::Store(value) | Update::Exchange(value) => {
                        self.write(id, &locations, computed(value, reads));
                    }
                    Update::Add(add) => {
                        // Nothing carries into the second word.
                        for (word, &location) in locations.iter().enumerate() {
                            let add = if word == 0 { add } else { 0 };
                            let sum = Computed::Sum { read: (id, location), add };
                            self.out.written.insert((id, location), sum);
                        }
                    }
                    Update::CompareExchange { comparator, value, .. } => {
                        let compared = compared_words(comparator, locations.len());
                        let compared = old.clone().zip(compared).collect();
                        self.out.conditions.push(Condition { reads: compared, holds: succeeds });
                        if writes {
                            self.write(id, &locations, computed(value, reads));
                        }
                    }
                }
                if instruction.reads() {
                    reads.extend(old);
                }
            }
        }
    }

    fn write(&mut self, id: usize, locations: &[usize], first: Computed) {
        for (location, value) in pair(locations, first) {
            self.out.written.insert((id, location), value);
        }
    }
}

/// What a write whose first word is `first` gives its locations.
fn pair(locations: &[usize], first: Computed) -> impl Iterator<Item = (usize, Computed)> + '_ {
    locations.iter().enumerate().map(move |(word, &location)| {
        let more = word as u32 * SECOND_WORD;
        let value = match first {
            Computed::Constant(constant) => Computed::Constant(constant.wrapping_add(more)),
            Computed::Sum { read, add } => Computed::Sum { read, add: add.wrapping_add(more) },
        };
        (location, value)
    })
}

/// What an atomic that reads and writes does, whatever it reads.
fn read_modify_write(
    update: Update,
    locations: &[usize],
    computed: impl Fn(Value) -> Computed,
) -> Option<ReadModifyWrite> {
    let compared = match update {
        Update::CompareExchange { comparator, .. } => compared_words(comparator, locations.len()),
        Update::Load | Update::Store(_) | Update::Exchange(_) | Update::Add(_) => Vec::new(),
    };
    let words = match update {
        Update::Load | Update::Store(_) => return None,
        Update::Exchange(value) | Update::CompareExchange { value, .. } => {
            pair(locations, computed(value)).map(|(at, value)| (at, New::Value(value))).collect()
        }
        // Nothing carries into the second word.
        Update::Add(add) => {
            let added = |(word, &at)| (at, New::Added(if word == 0 { add } else { 0 }));
            locations.iter().enumerate().map(added).collect()
        }
    };
    Some(ReadModifyWrite { compared: locations.iter().copied().zip(compared).collect(), words })
}

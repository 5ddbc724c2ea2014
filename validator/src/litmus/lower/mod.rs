//! Lowering of litmus tests to programs for the explorer.
//!
//! Each thread becomes a function, and each variable an object of one word. Aliases become the same memory
//! through a reference each. At its end a thread stores the registers that the test observes into objects that no
//! other thread touches: they are part of the outcome, and no events.

mod thread;

use std::collections::BTreeSet;

use super::test::{Condition, Instruction, Operand, Operation, Target, Term, Test, Value, Variable};
use crate::behaviour::Produced;
use crate::dispatch::{Dispatch, Object, Place};
use crate::explore::Foreseen;
use crate::ir::{
    mark_exits, Entry, FunctionId, InstId, Leaf, LeafKind, Line, MemoryModel, Modes, Program, Shape,
};
use crate::value::{Byte, Scalar};

/// A litmus test, ready to be explored.
#[derive(Debug)]
pub struct Lowered {
    pub program: Program,
    pub dispatch: Dispatch,
    pub foreseen: Foreseen,
    /// Constants of the test, which load buffering may speculate.
    pub speculate: Produced,
    /// What the memory of an outcome holds, object by object: registers and variables.
    pub observed: Vec<Term>,
}

/// A test that the explorer cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a loop with several entries (line {line}) is not supported")]
pub struct Unsupported {
    /// Line of a label by which the loop is entered.
    pub line: Line,
}

/// The number that stands for the address of variable 0; others follow it.
const FIRST_ADDRESS: u32 = 0x4000_0000;

/// The number that a value is.
pub(super) fn number(value: Value) -> u32 {
    match value {
        Value::Number(number) => number as u32,
        Value::Address(variable) => FIRST_ADDRESS.wrapping_add(variable as u32),
    }
}

/// The variable whose address a number is.
pub(super) fn addressed(test: &Test, number: u32) -> Option<usize> {
    let variable = number.checked_sub(FIRST_ADDRESS)? as usize;
    (variable < test.variables.len()).then_some(variable)
}

/// Lowers a test. An outcome tells of the registers and variables of its conditions, or with `all` of
/// everything.
///
/// # Errors
/// [`Unsupported`]: a loop has several entries.
pub fn lower(test: &Test, all: bool) -> Result<Lowered, Unsupported> {
    let observed = observed(test, all);
    let mut pool = Pool::default();
    let mut functions = Vec::new();
    let mut objects: Vec<Object> = test
        .variables
        .iter()
        .enumerate()
        .map(|(index, variable)| Object {
            key: variable.name.clone(),
            initial: bytes(number(variable.initial)),
            observed: observed.contains(&Term::Variable(index)),
            reference: index as u32,
            memory: variable.location as u32,
            view: None,
            constant: false,
            image: None,
            sampler: None,
        })
        .collect();
    let locations = test.variables.iter().map(|variable| variable.location + 1).max().unwrap_or(0) as u32;
    for (index, thread) in test.threads.iter().enumerate() {
        let mut results = Vec::new();
        for (register, declared) in thread.registers.iter().enumerate() {
            if observed.contains(&Term::Register(index, register)) {
                let (number, private) = (objects.len() as u32, objects.len() - test.variables.len());
                results.push((register, number));
                objects.push(Object {
                    key: format!("P{index}:{}", declared.name),
                    initial: bytes(0),
                    observed: true,
                    reference: number,
                    memory: locations + private as u32,
                    view: None,
                    constant: false,
                    image: None,
                    sampler: None,
                });
            }
        }
        functions.push(thread::lower(thread, index, test.variables.len(), &results, &mut pool)?);
    }
    mark_exits(&mut functions, &[]);
    let dispatch = dispatch(test, objects);
    let program = Program {
        memory_model: MemoryModel::Vulkan,
        entry: Entry {
            name: String::new(),
            function: FunctionId(0),
            execution_model: 5,
            local_size: [1; 3],
            local_size_specialised: false,
            local_size_spec_ids: [None; 3],
            line: 0,
        },
        variables: Vec::new(),
        constants: pool.scalars,
        pointees: Vec::new(),
        shapes: vec![Shape { leaves: vec![Leaf { offset: 0, kind: LeafKind::Number(4) }], size: 4 }],
        functions,
        modes: Modes::default(),
        spec_constants: Vec::new(),
        harvested: Vec::new(),
    };
    let foreseen = foreseen(test, &program, locations);
    let speculate = speculated(test);
    Ok(Lowered { program, dispatch, foreseen, speculate, observed: in_object_order(test, observed) })
}

/// The bytes of a word.
fn bytes(number: u32) -> Vec<Byte> {
    number.to_le_bytes().into_iter().map(Byte::Known).collect()
}

/// Constants of the program.
#[derive(Default)]
struct Pool {
    scalars: Vec<Scalar>,
}

impl Pool {
    /// The operand of a run of constants.
    fn constants(&mut self, scalars: &[Scalar]) -> crate::ir::Operand {
        let known = self.scalars.windows(scalars.len()).position(|run| run == scalars);
        let at = known.unwrap_or_else(|| {
            self.scalars.extend_from_slice(scalars);
            self.scalars.len() - scalars.len()
        });
        crate::ir::Operand::constant(at as u32)
    }
}

/// The registers and variables that an outcome is to tell of.
fn observed(test: &Test, all: bool) -> BTreeSet<Term> {
    let mut terms = BTreeSet::new();
    if all {
        for (index, thread) in test.threads.iter().enumerate() {
            terms.extend((0..thread.registers.len()).map(|register| Term::Register(index, register)));
        }
        terms.extend((0..test.variables.len()).map(Term::Variable));
        return terms;
    }
    let conditions = test.expectations.iter().map(|expectation| &expectation.condition);
    for condition in conditions.chain(&test.filter) {
        condition.visit_terms(&mut |term| match term {
            Term::Register(..) | Term::Variable(_) => _ = terms.insert(term),
            Term::Value(_) | Term::DataRaces | Term::ReleaseSequences => {}
        });
    }
    terms
}

/// The objects lie variables first, then registers thread by thread.
fn in_object_order(test: &Test, observed: BTreeSet<Term>) -> Vec<Term> {
    let variables = (0..test.variables.len()).map(Term::Variable);
    let registers = test.threads.iter().enumerate().flat_map(|(index, thread)| {
        (0..thread.registers.len()).map(move |register| Term::Register(index, register))
    });
    variables.chain(registers).filter(|term| observed.contains(term)).collect()
}

fn dispatch(test: &Test, objects: Vec<Object>) -> Dispatch {
    let places = test.threads.iter().enumerate().map(|(index, thread)| Place {
        workgroup: thread.workgroup,
        subgroup: thread.subgroup,
        queue_family: thread.queue_family,
        workgroup_id: [thread.workgroup, 0, 0],
        local_id: [index as u32, 0, 0],
        local_index: index as u32,
        subgroup_id: thread.subgroup,
        subgroup_lane: 0,
    });
    let pairs = test.system_synchronizes_with.iter().map(|(a, b)| (*a as u32, *b as u32));
    Dispatch {
        objects,
        object_of: Vec::new(),
        places: places.collect(),
        workgroups: [1; 3],
        local_size: [test.threads.len() as u32, 1, 1],
        subgroup_size: 1,
        entries: (0..test.threads.len() as u32).map(FunctionId).collect(),
        system_synchronizes_with: pairs.collect(),
        inputs: Default::default(),
        physical: Vec::new(),
        legacy_coherent: false,
        robustness: None,
        open: Default::default(),
        displaced: false,
        helpers: Default::default(),
        acceleration_structures: Vec::new(),
        coverage: Default::default(),
    }
}

/// Every variable is shared; who may write it stands in the code.
fn foreseen(test: &Test, program: &Program, locations: u32) -> Foreseen {
    let mut foreseen =
        Foreseen { shared: (0..locations).map(|memory| (memory, 0)).collect(), ..Foreseen::default() };
    for (agent, function) in program.functions.iter().enumerate() {
        for (index, inst) in function.code.iter().enumerate() {
            let Some(target) = thread::written(&inst.op) else { continue };
            let inst = InstId { function: FunctionId(agent as u32), index: index as u32 };
            let object =
                target.is_constant().then(|| program.constants.get(target.index() as usize)).flatten();
            let memories = match object.map(|pointer| (pointer.bits >> 32) as usize) {
                Some(object) => test
                    .variables
                    .get(object)
                    .map_or(0..0, |variable| variable.location as u32..variable.location as u32 + 1),
                None => 0..locations,
            };
            for memory in memories {
                foreseen.writers.entry((memory, 0)).or_default().insert((agent as u32, inst));
            }
        }
    }
    foreseen
}

/// Values that a location may get: the constants that are written to it, and where others are written,
/// too, every constant of the test that something is compared with.
fn speculated(test: &Test) -> Produced {
    let mut compared = BTreeSet::new();
    let conditions = test.expectations.iter().map(|expectation| &expectation.condition);
    for condition in conditions.chain(&test.filter) {
        condition.visit_terms(&mut |term| {
            if let Term::Value(value) = term {
                compared.insert(number(value));
            }
        });
    }
    let locations = test.variables.iter().map(|variable| variable.location + 1).max().unwrap_or(0);
    let mut values: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); locations];
    let mut computed = vec![false; locations];
    for statement in test.threads.iter().flat_map(|thread| &thread.code) {
        let (target, written) = match statement.instruction {
            Instruction::Store { access, value } => (access.target, constant(value)),
            Instruction::Update { access, operation, value, expected, .. } => {
                compared.extend(expected.map(number));
                (access.target, constant(value).filter(|_| operation == Operation::Exchange))
            }
            Instruction::Load { expected, .. } => {
                compared.extend(expected.map(number));
                continue;
            }
            Instruction::MemoryBarrier { .. }
            | Instruction::ControlBarrier { .. }
            | Instruction::DeviceAvailability
            | Instruction::DeviceVisibility
            | Instruction::Compute { .. }
            | Instruction::Goto(_)
            | Instruction::Branch { .. } => continue,
        };
        let written_locations = match target {
            Target::Variable(variable) => {
                test.variables[variable].location..test.variables[variable].location + 1
            }
            Target::Register(_) => 0..locations,
        };
        for location in written_locations {
            match written {
                Some(value) => _ = values[location].insert(value),
                None => computed[location] = true,
            }
        }
    }
    let bytes_of = |variable: &Variable| {
        let mut values = values[variable.location].clone();
        if computed[variable.location] {
            values.extend(&compared);
        }
        values.into_iter().map(bytes).collect()
    };
    test.variables.iter().map(|variable| ((variable.name.clone(), 0), bytes_of(variable))).collect()
}

/// The number that an operand is, if it is one.
fn constant(operand: Operand) -> Option<u32> {
    match operand {
        Operand::Value(value) => Some(number(value)),
        Operand::Register(_) => None,
    }
}

impl Condition {
    /// Visits every term.
    pub(super) fn visit_terms(&self, visit: &mut dyn FnMut(Term)) {
        match self {
            Condition::True | Condition::Consistent => {}
            Condition::Not(inner) => inner.visit_terms(visit),
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().for_each(|part| part.visit_terms(visit))
            }
            Condition::Compare(_, a, b) => [*a, *b].into_iter().for_each(visit),
        }
    }
}

//! Sequential consistency: all interleavings of a program's instructions. What the model allows beyond
//! these outcomes is weak behaviour.

use std::collections::BTreeSet;

use super::enumerate::Outcome;
use super::model::Scope;
use super::program::{
    compared_words, Guard, Instruction, Location, Program, Space, Update, Value, BUFFER_WORDS, SECOND_WORD,
    WORKGROUP_WORDS,
};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    memory: Vec<u32>,
    /// For each thread: phase, instruction in it, and what was read.
    threads: Vec<(usize, usize, Vec<u32>)>,
}

/// The outcomes of all interleavings.
pub fn interleavings(program: &Program) -> BTreeSet<Outcome> {
    let threads = program.shape.threads();
    let start = State {
        memory: (0..program.location_count()).map(|at| program.initial(at)).collect(),
        threads: vec![(0, 0, Vec::new()); threads],
    };
    let mut seen = BTreeSet::new();
    let mut pending = vec![start];
    let mut outcomes = BTreeSet::new();
    while let Some(state) = pending.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if state.threads.iter().all(|&(phase, _, _)| phase == program.phases.len()) {
            outcomes.insert(Outcome {
                memory: state.memory[..BUFFER_WORDS].to_vec(),
                results: state.threads.iter().flat_map(|(_, _, read)| read.iter().copied()).collect(),
            });
            continue;
        }
        pending.extend((0..threads).filter_map(|thread| step(program, &state, thread)));
    }
    outcomes
}

fn step(program: &Program, state: &State, thread: usize) -> Option<State> {
    let (number, position, _) = state.threads[thread];
    let phase = program.phases.get(number)?;
    let mut next = state.clone();
    if let Some(step) = phase.threads[thread].get(position) {
        let thread_state = &mut next.threads[thread];
        thread_state.1 += 1;
        let read = &mut thread_state.2;
        let holds = |guard: Guard| read.is_empty() || read[guard.read % read.len()] == guard.equals;
        if step.guard.is_none_or(holds) {
            execute(program, &mut next, thread, &step.instruction);
        } else if let (true, Some(place)) = (step.instruction.reads(), step.instruction.place()) {
            read.extend(std::iter::repeat_n(0, place.words));
        }
        return Some(next);
    }
    let arrived = |other: usize| {
        let (their, at, _) = &state.threads[other];
        *their > number || (*their == number && *at == phase.threads[other].len())
    };
    let waits_for = |other: usize, execution: Scope| {
        let (a, b) = (program.shape.agent(thread), program.shape.agent(other));
        if execution == Scope::Subgroup {
            a.subgroup == b.subgroup
        } else {
            a.workgroup == b.workgroup
        }
    };
    if let Some(barrier) = phase.barrier {
        let free = (0..program.shape.threads()).all(|o| !waits_for(o, barrier.execution) || arrived(o));
        if !free {
            return None;
        }
    }
    next.threads[thread].0 += 1;
    next.threads[thread].1 = 0;
    Some(next)
}

fn execute(program: &Program, state: &mut State, thread: usize, instruction: &Instruction) {
    let workgroup = program.shape.agent(thread).workgroup;
    let first = |place: Location| match place.space {
        Space::Buffer | Space::Alias => place.word,
        Space::Workgroup => BUFFER_WORDS + workgroup * WORKGROUP_WORDS + place.word,
    };
    let State { memory, threads } = state;
    let read = &mut threads[thread].2;
    let computed = |value: Value, read: &[u32]| match value {
        Value::Constant(constant) => constant,
        Value::Sum { add, .. } if read.is_empty() => add,
        Value::Sum { read: which, add } => read[which % read.len()].wrapping_add(add),
    };
    match *instruction {
        Instruction::Barrier { .. } => {}
        Instruction::Load { place, .. } => {
            read.extend_from_slice(&memory[first(place)..first(place) + place.words]);
        }
        Instruction::Store { place, value, .. } => {
            let value = computed(value, read);
            for word in 0..place.words {
                memory[first(place) + word] = value.wrapping_add(word as u32 * SECOND_WORD);
            }
        }
        Instruction::Atomic { place, update, .. } => {
            let range = first(place)..first(place) + place.words;
            let old = memory[range.clone()].to_vec();
            let pair =
                |value: u32| (0..place.words as u32).map(move |word| value.wrapping_add(word * SECOND_WORD));
            let new: Vec<u32> = match update {
                Update::Load => old.clone(),
                Update::Store(value) | Update::Exchange(value) => pair(computed(value, read)).collect(),
                Update::Add(add) => {
                    let mut sum = old.clone();
                    sum[0] = sum[0].wrapping_add(add);
                    sum
                }
                Update::CompareExchange { comparator, value, .. } => {
                    if old == compared_words(comparator, place.words) {
                        pair(computed(value, read)).collect()
                    } else {
                        old.clone()
                    }
                }
            };
            memory[range].copy_from_slice(&new);
            if instruction.reads() {
                read.extend(old);
            }
        }
    }
}

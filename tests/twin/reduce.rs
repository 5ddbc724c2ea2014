//! Makes failing programs small: drops instructions, barriers and attributes while the failure stays.

use super::model::{Scope, Semantics};
use super::program::{Instruction, Program, Step, Update, Value};

/// The smallest program that single simplifications reach and that still `fails`.
pub fn reduce(mut program: Program, fails: impl Fn(&Program) -> bool) -> Program {
    loop {
        let Some(simpler) = simpler(&program).into_iter().find(|candidate| fails(candidate)) else {
            return program;
        };
        program = simpler;
    }
}

fn simpler(program: &Program) -> Vec<Program> {
    let mut candidates = Vec::new();
    if program.initial.iter().any(|&word| word != 0) {
        candidates.push(Program { initial: Default::default(), ..program.clone() });
    }
    for number in 0..program.phases.len() {
        if program.phases.len() > 1 && number + 1 < program.phases.len() {
            // Joins a phase with the next.
            let mut joined = program.clone();
            let next = joined.phases.remove(number + 1);
            for (thread, code) in next.threads.into_iter().enumerate() {
                joined.phases[number].threads[thread].extend(code);
            }
            joined.phases[number].barrier = next.barrier;
            candidates.push(joined);
        }
        if program.phases[number].barrier.is_some_and(|barrier| barrier.semantics != Semantics::default()) {
            let mut weaker = program.clone();
            if let Some(barrier) = &mut weaker.phases[number].barrier {
                barrier.semantics = Semantics::default();
            }
            candidates.push(weaker);
        }
        for thread in 0..program.phases[number].threads.len() {
            for position in 0..program.phases[number].threads[thread].len() {
                let mut without = program.clone();
                without.phases[number].threads[thread].remove(position);
                candidates.push(without);
                let step = program.phases[number].threads[thread][position];
                let unguarded = step.guard.map(|_| Step { guard: None, ..step });
                let simpler_steps = simpler_instructions(&step.instruction)
                    .into_iter()
                    .map(|instruction| Step { instruction, ..step });
                for step in unguarded.into_iter().chain(simpler_steps) {
                    let mut simpler = program.clone();
                    simpler.phases[number].threads[thread][position] = step;
                    candidates.push(simpler);
                }
            }
        }
    }
    candidates
}

fn simpler_instructions(instruction: &Instruction) -> Vec<Instruction> {
    let mut simpler = Vec::new();
    let mut change = |change: &dyn Fn(&mut Instruction)| {
        let mut changed = *instruction;
        change(&mut changed);
        if changed != *instruction {
            simpler.push(changed);
        }
    };
    change(&|i| {
        if let Instruction::Atomic { update, semantics, .. } = i {
            if matches!(update, Update::Exchange(_) | Update::Add(_) | Update::CompareExchange { .. })
                && !semantics.acquire
            {
                *update = Update::Store(Value::Constant(1));
            }
        }
    });
    change(&|i| {
        if let Instruction::Atomic { update, semantics, .. } = i {
            if matches!(update, Update::Exchange(_) | Update::Add(_) | Update::CompareExchange { .. })
                && !semantics.release
            {
                *update = Update::Load;
            }
        }
    });
    change(&|i| match i {
        Instruction::Atomic { update: Update::Store(value) | Update::Exchange(value), .. }
        | Instruction::Store { value, .. } => *value = Value::Constant(1),
        _ => {}
    });
    change(&|i| match i {
        Instruction::Atomic { scope, .. } | Instruction::Barrier { scope, .. } => *scope = Scope::Device,
        Instruction::Load { visible: Some(scope), .. }
        | Instruction::Store { available: Some(scope), .. } => {
            *scope = Scope::Device;
        }
        _ => {}
    });
    change(&|i| {
        if let Instruction::Atomic { semantics, .. } = i {
            *semantics = Semantics::default();
        }
    });
    change(&|i| {
        if let Instruction::Atomic { semantics, .. } | Instruction::Barrier { semantics, .. } = i {
            semantics.make_available = false;
            semantics.make_visible = false;
        }
    });
    change(&|i| match i {
        Instruction::Load { visible, .. } => *visible = None,
        Instruction::Store { available, .. } => *available = None,
        _ => {}
    });
    change(&|i| {
        if let Instruction::Load { place, .. }
        | Instruction::Store { place, .. }
        | Instruction::Atomic { place, .. } = i
        {
            place.words = 1;
        }
    });
    simpler
}

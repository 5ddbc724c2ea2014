//! Makes failing programs with loops small.

use super::program::{Action, Condition, Program, Statement, Step};
use crate::model::{Scope, Semantics};
use crate::program::{Instruction, Update, Value};

/// The smallest program that single simplifications reach and that still `fails`.
pub fn reduce(mut program: Program, fails: impl Fn(&Program) -> bool) -> Program {
    loop {
        let simpler = simpler(&program.code).into_iter().map(|code| Program { code, ..program.clone() });
        let zeros = program
            .initial
            .iter()
            .any(|&word| word != 0)
            .then(|| Program { initial: Default::default(), ..program.clone() });
        let fewer = (program.shape.local_size == 1 && program.shape.workgroups > 1).then(|| {
            let mut fewer = program.clone();
            fewer.shape.workgroups -= 1;
            fewer
        });
        let Some(next) = fewer.into_iter().chain(simpler).chain(zeros).find(|candidate| fails(candidate))
        else {
            return program;
        };
        program = next;
    }
}

/// These statements with one thing simpler.
fn simpler(code: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for position in 0..code.len() {
        let with = |others: Vec<Statement>| {
            let mut code = code.to_vec();
            code.splice(position..=position, others);
            code
        };
        all.push(with(Vec::new()));
        match &code[position] {
            Statement::Step(step) => {
                all.extend(simpler_steps(step).into_iter().map(|step| with(vec![Statement::Step(step)])));
            }
            Statement::Loop(looped) => {
                all.push(with(looped.body.clone()));
                for body in simpler(&looped.body) {
                    let looped = super::program::Loop { body, ..looped.clone() };
                    all.push(with(vec![Statement::Loop(looped)]));
                }
                for exit in [None, Some(Condition::Undefined)] {
                    let is_simpler = match looped.exit {
                        None => false,
                        Some(Condition::Undefined) => exit.is_none(),
                        Some(Condition::Register { .. }) => true,
                    };
                    if is_simpler {
                        let looped = super::program::Loop { exit, ..looped.clone() };
                        all.push(with(vec![Statement::Loop(looped)]));
                    }
                }
            }
        }
    }
    all
}

fn simpler_steps(step: &Step) -> Vec<Step> {
    let mut all = Vec::new();
    if step.guard.is_some() {
        all.push(Step { guard: None, ..*step });
    }
    let Action::Memory { instruction, volatile } = step.action else { return all };
    if volatile {
        all.push(Step { action: Action::Memory { instruction, volatile: false }, ..*step });
    }
    let mut change = |change: &dyn Fn(&mut Instruction)| {
        let mut changed = instruction;
        change(&mut changed);
        if changed != instruction {
            all.push(Step { action: Action::Memory { instruction: changed, volatile }, ..*step });
        }
    };
    change(&|i| {
        if let Instruction::Atomic { semantics, .. } = i {
            *semantics = Semantics::default();
        }
    });
    change(&|i| {
        if let Instruction::Atomic { scope, .. } = i {
            *scope = Scope::Device;
        }
    });
    change(&|i| {
        if let Instruction::Atomic { update, .. } = i {
            if matches!(update, Update::Exchange(_) | Update::Add(_) | Update::CompareExchange { .. }) {
                *update = Update::Load;
            }
        }
    });
    change(&|i| match i {
        Instruction::Atomic { update: Update::Store(value) | Update::Exchange(value), .. }
        | Instruction::Store { value, .. } => *value = Value::Constant(1),
        Instruction::Atomic { .. } | Instruction::Load { .. } | Instruction::Barrier { .. } => {}
    });
    change(&|i| match i {
        Instruction::Load { visible, .. } => *visible = None,
        Instruction::Store { available, .. } => *available = None,
        Instruction::Atomic { .. } | Instruction::Barrier { .. } => {}
    });
    all
}

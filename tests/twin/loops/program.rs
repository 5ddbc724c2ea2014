//! Abstract programs with loops, undefined conditions, control barriers and faults. All invocations run the
//! same code, of which some parts are for one invocation alone.

use crate::program::{ControlBarrier, Instruction, Shape, Update, Value, BUFFER_WORDS};

/// The number of a step. What a step reads is kept in a register of this number, which holds 0 at first.
pub type Number = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A value that is undefined: either way.
    Undefined,
    Register {
        number: Number,
        equals: u32,
        negated: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One word; `Value::Sum` names a register by its number.
    Memory {
        instruction: Instruction,
        volatile: bool,
    },
    Control(ControlBarrier),
    /// 1 / (1 - register), which nobody uses.
    Divide(Number),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub number: Number,
    /// The one invocation that executes it.
    pub only: Option<usize>,
    pub guard: Option<Condition>,
    pub action: Action,
}

/// Turns of its body until the exit's condition holds after one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The one invocation that executes it.
    pub only: Option<usize>,
    pub body: Vec<Statement>,
    /// `None` for a loop without an exit.
    pub exit: Option<Condition>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    Step(Step),
    Loop(Loop),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    pub shape: Shape,
    /// What the buffer holds at first; Workgroup memory holds zeros.
    pub initial: [u32; BUFFER_WORDS],
    pub code: Vec<Statement>,
}

impl Statement {
    pub fn only(&self) -> Option<usize> {
        match self {
            Statement::Step(step) => step.only,
            Statement::Loop(looped) => looped.only,
        }
    }

    fn collect<'s>(&'s self, steps: &mut Vec<&'s Step>) {
        match self {
            Statement::Step(step) => steps.push(step),
            Statement::Loop(looped) => looped.body.iter().for_each(|inner| inner.collect(steps)),
        }
    }

    pub fn has_loop(&self) -> bool {
        matches!(self, Statement::Loop(_))
    }

    /// Whether it has a loop in whose turns memory may get ever new values.
    fn has_counting_loop(&self) -> bool {
        let mut steps = Vec::new();
        self.collect(&mut steps);
        self.has_loop() && steps.iter().any(|step| step.counts())
    }

    /// Whether it has a loop that may write memory.
    pub fn has_writing_loop(&self) -> bool {
        let mut steps = Vec::new();
        self.collect(&mut steps);
        self.has_loop() && steps.iter().any(|step| step.writes())
    }
}

impl Step {
    pub fn reads(&self) -> bool {
        matches!(&self.action, Action::Memory { instruction, .. } if instruction.reads())
    }

    /// Whether it may write memory.
    pub fn writes(&self) -> bool {
        self.instruction().is_some_and(|instruction| match instruction {
            Instruction::Store { .. } => true,
            Instruction::Load { .. } | Instruction::Barrier { .. } => false,
            Instruction::Atomic { update, .. } => !matches!(update, Update::Load),
        })
    }

    /// Whether what it writes may depend on what was there.
    fn counts(&self) -> bool {
        let depends = |value: &Value| matches!(value, Value::Sum { .. });
        self.instruction().is_some_and(|instruction| match instruction {
            Instruction::Store { value, .. } => depends(value),
            Instruction::Load { .. } | Instruction::Barrier { .. } => false,
            Instruction::Atomic { update, .. } => match update {
                Update::Load => false,
                Update::Add(number) => *number != 0,
                Update::Store(value) | Update::Exchange(value) | Update::CompareExchange { value, .. } => {
                    depends(value)
                }
            },
        })
    }

    pub fn instruction(&self) -> Option<&Instruction> {
        match &self.action {
            Action::Memory { instruction, .. } => Some(instruction),
            Action::Control(_) | Action::Divide(_) => None,
        }
    }
}

impl Program {
    /// All steps, in order of the text.
    pub fn steps(&self) -> Vec<&Step> {
        let mut steps = Vec::new();
        self.code.iter().for_each(|statement| statement.collect(&mut steps));
        steps
    }

    /// One more than the highest number of a step.
    pub fn registers(&self) -> usize {
        self.steps().iter().map(|step| step.number + 1).max().unwrap_or(0)
    }

    /// The numbers of the steps that read: what each invocation shows of itself.
    pub fn reads(&self) -> Vec<Number> {
        self.steps().iter().filter(|step| step.reads()).map(|step| step.number).collect()
    }

    /// Whether memory may get ever new values: then it may well be that only a bound ends the search.
    pub fn may_grow(&self) -> bool {
        self.code.iter().any(Statement::has_counting_loop)
    }

    pub fn uses_workgroup_memory(&self) -> bool {
        let is_there = |instruction: &Instruction| {
            instruction.place().is_some_and(|place| place.space == crate::program::Space::Workgroup)
        };
        self.steps().into_iter().filter_map(Step::instruction).any(is_there)
    }
}

//! What one invocation does: its loops unrolled for one sequence of choices.

use std::collections::BTreeMap;
use std::ops::Range;

use super::program::{Action, Condition, Loop, Number, Program, Statement, Step};
use crate::model::Operation;
use crate::program::{self, Builder};

/// A dynamic instance of a control barrier: the step, and the turns of the loops around it.
type Name = (Number, Vec<usize>);

/// Numbers for the names of barriers.
#[derive(Default)]
pub struct Names(BTreeMap<Name, usize>);

impl Names {
    fn number(&mut self, name: Name) -> usize {
        let next = self.0.len();
        *self.0.entry(name).or_insert(next)
    }
}

/// How an invocation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Finished,
    /// In a loop that it does not leave: the operations of each whole turn, and of the turn that it has begun, up to
    /// some write that others may read.
    Endless {
        turns: Vec<Range<usize>>,
        begun: Range<usize>,
    },
    /// At a barrier, which it does not pass.
    Standing {
        instance: usize,
    },
    /// At a fault, behind which it does nothing any more.
    Faulted,
}

/// One way through the code.
#[derive(Clone, Debug)]
pub struct Path {
    pub choices: Vec<bool>,
    pub end: End,
    pub faulted: bool,
    /// Turns of the loop with the most turns that it left.
    pub turns: usize,
    /// What each register holds in the end.
    pub registers: Vec<Option<(usize, usize)>>,
    /// The step that each of its operations belongs to, from the first of them on.
    pub steps: Vec<Number>,
}

/// How far loops are unrolled.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Most turns of a loop that is left.
    pub turns: usize,
    /// Turns of a loop that is not left, if there may be one.
    pub endless: Option<usize>,
}

/// Why a walk stops.
enum Stop {
    /// There are more choices to make.
    Undecided,
    /// A loop has too many turns.
    Cut,
    Ended(End),
}

struct Walk<'w, 'p> {
    program: &'w Program,
    thread: usize,
    bound: Bound,
    choices: &'w [bool],
    used: usize,
    builder: &'w mut Builder<'p>,
    names: &'w mut Names,
    first: usize,
    registers: Vec<Option<(usize, usize)>>,
    steps: Vec<Number>,
    /// The turns of the loops around the present step.
    turn: Vec<usize>,
    turns: usize,
    faulted: bool,
    /// The present turn is one that it begins and does not end; the operations before it.
    begun: Option<usize>,
}

/// All ways of one invocation through the code, as far as its own choices tell; `None` for more than `most`.
pub fn paths(
    program: &Program,
    thread: usize,
    bound: Bound,
    names: &mut Names,
    most: usize,
) -> Option<Vec<Path>> {
    let frame = frame(program);
    let mut pending = vec![Vec::new()];
    let mut paths = Vec::new();
    while let Some(choices) = pending.pop() {
        match walk(program, thread, bound, &choices, &mut Builder::new(&frame), names) {
            Ok(path) => paths.extend(path),
            Err(()) => pending.extend([false, true].map(|choice| [&choices[..], &[choice]].concat())),
        }
        if paths.len() + pending.len() > most {
            return None;
        }
    }
    Some(paths)
}

/// What the builder of operations needs to know of a program.
pub fn frame(program: &Program) -> program::Program {
    program::Program { shape: program.shape, initial: program.initial, phases: Vec::new() }
}

/// Adds the operations of one way through the code. `Ok(None)` where a loop has too many turns; an error where
/// there are more choices to make.
pub fn walk(
    program: &Program,
    thread: usize,
    bound: Bound,
    choices: &[bool],
    builder: &mut Builder,
    names: &mut Names,
) -> Result<Option<Path>, ()> {
    let first = builder.operations.len();
    let registers = vec![None; program.registers()];
    let mut walk = Walk {
        program,
        thread,
        bound,
        choices,
        used: 0,
        builder,
        names,
        first,
        registers,
        steps: Vec::new(),
        turn: Vec::new(),
        turns: 0,
        faulted: false,
        begun: None,
    };
    let end = match walk.statements(&program.code) {
        Ok(()) => End::Finished,
        Err(Stop::Ended(end)) => end,
        Err(Stop::Cut) => return Ok(None),
        Err(Stop::Undecided) => return Err(()),
    };
    assert_eq!(walk.used, choices.len(), "all choices are used");
    Ok(Some(Path {
        choices: choices.to_vec(),
        end,
        faulted: walk.faulted,
        turns: walk.turns,
        registers: walk.registers,
        steps: walk.steps,
    }))
}

impl Walk<'_, '_> {
    fn choose(&mut self) -> Result<bool, Stop> {
        let choice = self.choices.get(self.used).copied().ok_or(Stop::Undecided)?;
        self.used += 1;
        Ok(choice)
    }

    fn statements(&mut self, statements: &[Statement]) -> Result<(), Stop> {
        for statement in statements {
            if statement.only().is_some_and(|only| only != self.thread) {
                continue;
            }
            match statement {
                Statement::Step(step) => self.step(step)?,
                Statement::Loop(looped) => self.turns_of(looped)?,
            }
        }
        Ok(())
    }

    /// The register has this value, or has not, as is chosen.
    fn compare(&mut self, number: Number, equals: u32) -> Result<bool, Stop> {
        let Some(&Some(read)) = self.registers.get(number) else { return Ok(equals == 0) };
        let holds = self.choose()?;
        self.builder.out.conditions.push(program::Condition { reads: vec![(Some(read), equals)], holds });
        Ok(holds)
    }

    fn holds(&mut self, condition: Condition) -> Result<bool, Stop> {
        match condition {
            Condition::Undefined => self.choose(),
            Condition::Register { number, equals, negated } => Ok(self.compare(number, equals)? != negated),
        }
    }

    fn turns_of(&mut self, looped: &Loop) -> Result<(), Stop> {
        if let Some(turns) = self.bound.endless {
            if self.choose()? {
                let end = self.endless(looped, turns)?;
                return Err(Stop::Ended(end));
            }
        }
        for turn in 0..self.bound.turns {
            self.turns = self.turns.max(turn + 1);
            self.one_turn(looped, turn)?;
            if let Some(exit) = looped.exit {
                if self.holds(exit)? {
                    return Ok(());
                }
            }
        }
        Err(Stop::Cut)
    }

    fn one_turn(&mut self, looped: &Loop, turn: usize) -> Result<(), Stop> {
        self.turn.push(turn);
        self.statements(&looped.body)?;
        self.turn.pop();
        Ok(())
    }

    /// So many turns after which the loop goes on, and a part of one more. The loops within end.
    fn endless(&mut self, looped: &Loop, turns: usize) -> Result<End, Stop> {
        self.bound.endless = None;
        let mut starts = Vec::new();
        for turn in 0..turns {
            starts.push(self.builder.operations.len());
            match self.one_turn(looped, turn) {
                // Who stands at a barrier or a fault is in no endless loop.
                Err(Stop::Ended(_)) => return Err(Stop::Cut),
                result => result?,
            }
            if let Some(exit) = looped.exit {
                if self.holds(exit)? {
                    return Err(Stop::Cut);
                }
            }
        }
        let begun = self.builder.operations.len();
        if self.writes(&looped.body) && self.choose()? {
            self.begun = Some(begun);
            match self.one_turn(looped, turns) {
                Err(Stop::Ended(End::Endless { .. })) => {}
                Ok(()) | Err(Stop::Ended(_)) => return Err(Stop::Cut),
                Err(stop) => return Err(stop),
            }
        }
        let ends = starts.iter().skip(1).copied().chain([begun]);
        let turns = starts.iter().zip(ends).map(|(start, end)| *start..end).collect();
        Ok(End::Endless { turns, begun: begun..self.builder.operations.len() })
    }

    fn writes(&self, statements: &[Statement]) -> bool {
        statements.iter().any(|statement| {
            statement.only().is_none_or(|only| only == self.thread)
                && match statement {
                    Statement::Step(step) => step.writes(),
                    Statement::Loop(looped) => self.writes(&looped.body),
                }
        })
    }

    /// In a turn that is not ended, what comes after some write is left out.
    fn ends_here(&mut self) -> Result<(), Stop> {
        let Some(begun) = self.begun else { return Ok(()) };
        if self.builder.operations[begun..].last().is_some_and(Operation::writes) && self.choose()? {
            return Err(Stop::Ended(End::Endless { turns: Vec::new(), begun: begun..begun }));
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<(), Stop> {
        if let Some(guard) = step.guard {
            if !self.holds(guard)? {
                return Ok(());
            }
        }
        match &step.action {
            Action::Divide(number) => {
                if self.compare(*number, 1)? {
                    self.faulted = true;
                    if self.choose()? {
                        return Err(Stop::Ended(End::Faulted));
                    }
                }
            }
            Action::Memory { instruction, .. } => {
                let succeeds = !instruction.compares() || self.choose()?;
                let mut reads = self.registers.clone();
                self.builder.instruction(self.thread, instruction, succeeds, &mut reads);
                if instruction.reads() {
                    self.registers[step.number] = reads.pop().flatten();
                }
            }
            Action::Control(barrier) => {
                let name = self.names.number((step.number, self.turn.clone()));
                let shape = self.program.shape;
                if shape.local_size > 1 && self.choose()? {
                    let workgroup = shape.agent(self.thread).workgroup;
                    let instance = name * shape.threads() + workgroup;
                    return Err(Stop::Ended(End::Standing { instance }));
                }
                self.builder.control_barrier(self.thread, name, *barrier);
            }
        }
        self.steps.resize(self.builder.operations.len() - self.first, step.number);
        self.ends_here()
    }
}

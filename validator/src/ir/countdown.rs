//! Variables that count the turns of loops and end them after 2^64, and do nothing else: translators of WGSL put them into
//! every loop, as a loop that does not end may be taken for one that is never entered.
//!
//! Such a variable has 64 bits in two words, the upper one first. It is counted down to zero, or up to all ones.

use std::collections::{BTreeMap, BTreeSet};

use super::{BinaryOp, CompositeOp, ControlOp, Function, LoopId, MemoryOp, Op, Operand};
use crate::value::Scalar;

/// A variable that does nothing but count turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Countdown {
    /// Index into [`Function::locals`].
    pub local: u32,
    /// It is counted up.
    pub up: bool,
}

impl Countdown {
    /// Turns that are left, by the value.
    pub fn left(self, value: u64) -> u64 {
        if self.up {
            !value
        } else {
            value
        }
    }
}

/// Sets [`Loop::countdowns`](super::Loop::countdowns) in all functions.
pub fn mark_countdowns(functions: &mut [Function], constants: &[Scalar]) {
    for function in functions {
        let all: Vec<Counting> = (0..)
            .zip(&function.locals)
            .filter_map(|(local, _)| Counting::of(&Code { function, constants }, local))
            .collect();
        if all.is_empty() {
            continue;
        }
        let is_in = |at: usize, id: LoopId| function.blocks[block_of(function, at)].loops.contains(&id);
        let of_loop = |id: LoopId| {
            let counts =
                |it: &&Counting| is_in(it.step, id) && !it.other_stores.iter().any(|at| is_in(*at, id));
            all.iter().filter(counts).map(|it| it.countdown).collect::<Vec<Countdown>>()
        };
        let found: Vec<Vec<Countdown>> = (0..function.loops.len() as u32).map(LoopId).map(of_loop).collect();
        for (lp, countdowns) in function.loops.iter_mut().zip(found) {
            lp.countdowns = countdowns;
        }
    }
}

fn block_of(function: &Function, at: usize) -> usize {
    function.blocks.partition_point(|block| block.start as usize <= at).saturating_sub(1)
}

/// A countdown, and where it is stored to.
struct Counting {
    countdown: Countdown,
    /// Where it takes a step.
    step: usize,
    other_stores: Vec<usize>,
}

impl Counting {
    /// What a variable counts; `None` where it does anything else.
    fn of(code: &Code<'_>, local: u32) -> Option<Self> {
        let function = code.function;
        let variable = function.locals.get(local as usize)?;
        if variable.size != WORDS * WORD || variable.decorations.volatile {
            return None;
        }
        let is_it =
            |operand: Operand| code.run(operand).is_some_and(|run| run == code.run_of(variable.register));
        let (mut loaded, mut stores) = (None, Vec::new());
        for (at, inst) in function.code.iter().enumerate() {
            match &inst.op {
                Op::Memory(MemoryOp::Load { dst, pointer, shape, operands, .. }) if is_it(*pointer) => {
                    if loaded.is_some() || *shape != variable.shape || operands.volatile {
                        return None;
                    }
                    loaded = Some(*dst);
                }
                Op::Memory(MemoryOp::Store { pointer, object, shape, operands, .. })
                    if is_it(*pointer) && !is_it(*object) =>
                {
                    if *shape != variable.shape || operands.volatile {
                        return None;
                    }
                    stores.push((at, *object));
                }
                op if code.reads(op, &|operand| is_it(operand)) => return None,
                _ => {}
            }
        }
        let loaded = loaded?;
        let (step, up) = code.counts(loaded, &stores)?;
        let other_stores = stores.iter().map(|(at, _)| *at).filter(|at| *at != step).collect();
        Some(Counting { countdown: Countdown { local, up }, step, other_stores })
    }
}

/// Words of a countdown, and bytes of a word.
const WORDS: u32 = 2;
const WORD: u32 = 4;
const WIDTH: u8 = 32;
const ALL_ONES: u64 = u32::MAX as u64;

/// What a component is, as far as it takes to know a countdown.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    /// A word that was loaded.
    Word(u32),
    Number(u64),
    Equal(Box<[Term; 2]>),
    Select(Box<[Term; 3]>),
    Less(Box<[Term; 2]>),
    More(Box<[Term; 2]>),
}

struct Code<'f> {
    function: &'f Function,
    constants: &'f [Scalar],
}

impl Code<'_> {
    fn run_of(&self, register: u32) -> Option<usize> {
        self.function.runs.of(register)
    }

    fn run(&self, operand: Operand) -> Option<Option<usize>> {
        (!operand.is_constant()).then(|| self.run_of(operand.index()))
    }

    /// Whether an operation, or a φ behind it, reads an operand like this.
    fn reads(&self, op: &Op, is_it: &dyn Fn(Operand) -> bool) -> bool {
        let mut reads = false;
        op.visit_operands(&mut |operand| reads |= is_it(operand));
        reads || self.hands_on(op, is_it)
    }

    fn hands_on(&self, op: &Op, is_it: &dyn Fn(Operand) -> bool) -> bool {
        op.edges().iter().flat_map(|edge| &edge.moves).any(|(_, operand, _)| is_it(*operand))
    }

    /// Where what was loaded is stored as one step further, and whether that is upwards; `None` where anything else is done
    /// with it than that, and branching on whether the end is reached.
    fn counts(&self, loaded: u32, stores: &[(usize, Operand)]) -> Option<(usize, bool)> {
        let mut made: BTreeMap<usize, usize> = BTreeMap::new();
        let mut results: BTreeSet<usize> = self.run_of(loaded).into_iter().collect();
        let (mut step, mut conditions) = (None, Vec::new());
        let mut known = 0;
        // Blocks may stand before those that lead to them.
        while results.len() != known {
            known = results.len();
            (step, conditions) = (None, Vec::new());
            for (at, inst) in self.function.code.iter().enumerate() {
                let is_it =
                    |operand: Operand| self.run(operand).flatten().is_some_and(|run| results.contains(&run));
                if !self.reads(&inst.op, &is_it) {
                    continue;
                }
                match &inst.op {
                    op if self.hands_on(op, &is_it) => return None,
                    Op::Binary { width: WIDTH, dst, .. }
                    | Op::Select { dst, .. }
                    | Op::Copy { dst, .. }
                    | Op::All { dst, .. }
                    | Op::Composite(CompositeOp::Construct { dst, .. } | CompositeOp::Extract { dst, .. }) => {
                        let run = self.run_of(*dst)?;
                        results.insert(run);
                        made.insert(run, at);
                    }
                    Op::Memory(MemoryOp::Store { object, .. }) => {
                        if !stores.contains(&(at, *object)) || step.replace((at, *object)).is_some() {
                            return None;
                        }
                    }
                    Op::Control(ControlOp::BranchConditional { condition, .. }) => {
                        conditions.push(*condition);
                    }
                    _ => return None,
                }
            }
        }
        let (at, object) = step?;
        let up = [false, true].into_iter().find(|up| {
            let is_step = (0..WORDS)
                .all(|word| self.term(object.offset(word), loaded, &made) == Some(stepped(word, *up)));
            is_step
                && !conditions.is_empty()
                && conditions.iter().all(|it| self.is_end(*it, *up, loaded, &made))
        })?;
        Some((at, up))
    }

    /// Whether a condition is that the end is reached.
    fn is_end(&self, condition: Operand, up: bool, loaded: u32, made: &BTreeMap<usize, usize>) -> bool {
        let all = self.run(condition).flatten().and_then(|run| made.get(&run));
        let Some(Op::All { a, count: WORDS, .. }) = all.map(|at| &self.function.code[*at].op) else {
            return false;
        };
        (0..WORDS).all(|word| self.term(a.offset(word), loaded, made) == Some(ended(word, up)))
    }

    /// What a component is; `None` where that is not said here.
    fn term(&self, operand: Operand, loaded: u32, made: &BTreeMap<usize, usize>) -> Option<Term> {
        if operand.is_constant() {
            let constant = self.constants.get(operand.index() as usize)?;
            return constant.is_defined().then_some(Term::Number(constant.bits));
        }
        let register = operand.index();
        if self.run_of(register) == self.run_of(loaded) {
            return Some(Term::Word(register - loaded));
        }
        let term = |operand: Operand| self.term(operand, loaded, made);
        let op = &self.function.code[*made.get(&self.run_of(register)?)?].op;
        let component = register - op.destination()?;
        match op {
            Op::Copy { a, .. } => term(a.offset(component)),
            Op::Composite(CompositeOp::Extract { a, start, .. }) => term(a.offset(start + component)),
            Op::Composite(CompositeOp::Construct { parts, .. }) => {
                let mut before = 0;
                let (part, first) = parts.iter().find_map(|(part, count)| {
                    let first = before;
                    before += count;
                    (component < before).then_some((*part, first))
                })?;
                term(part.offset(component - first))
            }
            Op::Select { condition, scalar_condition, a, b, .. } => {
                let condition = if *scalar_condition { *condition } else { condition.offset(component) };
                let parts = [term(condition)?, term(a.offset(component))?, term(b.offset(component))?];
                Some(Term::Select(Box::new(parts)))
            }
            Op::Binary { op, a, b, .. } => {
                let (a, b) = (term(a.offset(component))?, term(b.offset(component))?);
                // What may stand on either side is told in one order.
                let sorted = |a: Term, b: Term| match (&a, &b) {
                    (Term::Number(_), _) => Box::new([b, a]),
                    _ => Box::new([a, b]),
                };
                match op {
                    BinaryOp::IEqual => Some(Term::Equal(sorted(a, b))),
                    BinaryOp::IAdd => Some(Term::More(sorted(a, b))),
                    BinaryOp::ISub => Some(Term::Less(Box::new([a, b]))),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// That a word is as at the end.
fn ended(word: u32, up: bool) -> Term {
    let end = if up { ALL_ONES } else { 0 };
    Term::Equal(Box::new([Term::Word(word), Term::Number(end)]))
}

/// A word after one step: the upper one takes what the lower one carries.
fn stepped(word: u32, up: bool) -> Term {
    let lower = WORDS - 1;
    let by = if word == lower {
        Term::Number(1)
    } else {
        Term::Select(Box::new([ended(lower, up), Term::Number(1), Term::Number(0)]))
    };
    let both = Box::new([Term::Word(word), by]);
    if up {
        Term::More(both)
    } else {
        Term::Less(both)
    }
}

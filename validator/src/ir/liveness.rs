//! Which registers and Function variables hold values that may still be read, at the header of each loop.
//!
//! A backward dataflow analysis on values (runs of registers), φ moves being done on the edges. The run of
//! a variable's address stands for the variable's contents: the address itself never changes in a frame.
//! What only goes into values that are dead themselves is dead: a counter that nothing but its next value depends on.
//!
//! Of a loop it is also known what is live as long as nobody leaves it: a sum that is only read behind the loop is not, so
//! that a loop goes on for ever whatever it adds up.

use super::{
    BinaryKind, Block, CompositeOp, ConvertOp, Edge, Exit, Function, Inst, Local, Loop, LoopId, MemoryOp, Op,
    Operand, ShapeId, Turns, UnaryOp,
};

/// The values of a function: runs of registers, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    runs: Vec<(u32, u32)>,
}

impl Runs {
    /// Takes up a run of `count` registers from `start`, behind all earlier ones.
    pub fn push(&mut self, start: u32, count: u32) {
        if count != 0 {
            self.runs.push((start, count));
        }
    }

    pub(super) fn count(&self) -> usize {
        self.runs.len()
    }

    /// The number of the run that a register is in.
    pub(super) fn of(&self, register: u32) -> Option<usize> {
        let after = self.runs.partition_point(|&(start, _)| start <= register);
        let index = after.checked_sub(1)?;
        let &(start, count) = self.runs.get(index)?;
        (register - start < count).then_some(index)
    }

    fn of_operand(&self, operand: Operand) -> Option<usize> {
        if operand.is_constant() {
            None
        } else {
            self.of(operand.index())
        }
    }
}

/// A set of small numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Set(Vec<u64>);

impl Set {
    fn new(size: usize) -> Self {
        Set(vec![0; size.div_ceil(64)])
    }

    fn change(&mut self, number: Option<usize>, present: bool) {
        let Some(number) = number else { return };
        if let Some(word) = self.0.get_mut(number / 64) {
            let bit = 1 << (number % 64);
            *word = if present { *word | bit } else { *word & !bit };
        }
    }

    pub(super) fn contains(&self, number: usize) -> bool {
        self.0.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
    }

    fn remove(&mut self, other: &Set) {
        for (word, less) in self.0.iter_mut().zip(&other.0) {
            *word &= !less;
        }
    }

    fn unite(&mut self, other: &Set) {
        for (word, more) in self.0.iter_mut().zip(&other.0) {
            *word |= more;
        }
    }
}

/// What is live before each block of a function.
#[derive(Debug)]
pub(crate) struct Liveness {
    live: Vec<Set>,
    escaping: Set,
}

/// What holds no value that may still be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pause {
    /// Registers (components) that do, without those that never change.
    pub(crate) live: Vec<u32>,
    /// Indices into [`Function::locals`] of those that do not.
    pub(crate) dead: Vec<u32>,
}

/// A function as far as liveness goes: registers in `fixed` (addresses of module-scope variables, which never change)
/// are left out.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    pub(crate) blocks: &'a [Block],
    pub(crate) code: &'a [Inst],
    pub(crate) runs: &'a Runs,
    pub(crate) fixed: &'a [u32],
    pub(crate) locals: &'a [Local],
}

impl<'a> From<&'a Function> for Body<'a> {
    fn from(function: &'a Function) -> Self {
        let Function { blocks, code, runs, fixed, locals, .. } = function;
        Body { blocks, code, runs, fixed, locals }
    }
}

impl<'a> Body<'a> {
    fn code_of(&self, index: usize) -> &'a [Inst] {
        let start = self.blocks.get(index).map_or(self.code.len(), |block| block.start as usize);
        let end = self.blocks.get(index + 1).map_or(self.code.len(), |block| block.start as usize);
        self.code.get(start..end).unwrap_or(&[])
    }

    /// Takes a set of values apart.
    fn pause(&self, set: &Set, escaping: &Set) -> Pause {
        let Body { runs, fixed, locals, .. } = *self;
        let run_of_local = |local: &Local| runs.of(local.register);
        let fixed = fixed.iter().filter_map(|&register| runs.of(register));
        let fixed: Vec<usize> = fixed.chain(locals.iter().filter_map(run_of_local)).collect();
        let live = (0..runs.runs.len()).filter(|number| set.contains(*number) && !fixed.contains(number));
        let is_dead = |local: &Local| {
            run_of_local(local).is_some_and(|number| !set.contains(number) && !escaping.contains(number))
        };
        Pause {
            live: live
                .filter_map(|number| runs.runs.get(number))
                .flat_map(|&(start, count)| start..start + count)
                .collect(),
            dead: (0..).zip(locals).filter(|(_, local)| is_dead(local)).map(|(index, _)| index).collect(),
        }
    }
}

impl Liveness {
    /// That of a function whose loops have these headers and exits.
    pub(crate) fn of<'e>(body: Body, headers: impl Iterator<Item = (u32, &'e Exit)>) -> Self {
        let Body { blocks, code, runs, locals, .. } = body;
        let headers: Vec<(u32, &Exit)> = headers.collect();
        let escaping = escaping(code, runs);
        let overwritten: Vec<Set> = (0..headers.len())
            .map(|id| {
                let inside = |block: &Block| block.loops.contains(&LoopId(id as u32));
                let inside = (0..).zip(blocks).filter(|(_, block)| inside(block)).map(|(index, _)| index);
                locals_stored_to(inside.flat_map(|index| body.code_of(index)), runs, locals)
            })
            .collect();
        // At a header, any loop around may be left.
        let exits_at = |index: usize| {
            let is_header = headers.iter().any(|(header, _)| *header as usize == index);
            let around = blocks.get(index).filter(|_| is_header).map_or(&[][..], |block| &block.loops);
            let exit = |id: &LoopId| Some((headers.get(id.0 as usize)?.1, overwritten.get(id.0 as usize)?));
            around.iter().filter_map(exit).collect::<Vec<_>>()
        };
        let mut live = vec![Set::new(runs.runs.len()); blocks.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for index in (0..blocks.len()).rev() {
                let mut before = live_before(body.code_of(index), &live, runs, (locals, &escaping));
                for (exit, overwritten) in exits_at(index) {
                    if let Some(behind) = live_behind(exit, overwritten, &live, runs) {
                        before.unite(&behind);
                    }
                }
                if let Some(known) = live.get_mut(index) {
                    changed |= *known != before;
                    *known = before;
                }
            }
        }
        Liveness { live, escaping }
    }

    /// What is live before an instruction.
    pub(crate) fn before(&self, body: Body, pc: u32) -> Pause {
        let block = body.blocks.partition_point(|block| block.start <= pc).saturating_sub(1);
        let code = body.code_of(block);
        let start = body.blocks.get(block).map_or(0, |block| block.start);
        let rest = code.get((pc - start) as usize..).unwrap_or(&[]);
        let set = live_before(rest, &self.live, body.runs, (body.locals, &self.escaping));
        body.pause(&set, &self.escaping)
    }
}

/// The loops with these headers and exits: what is live there after the φ moves of the edge that led there, and
/// which locals are dead.
pub(crate) fn loops(headers: Vec<(u32, Exit)>, body: Body) -> Vec<Loop> {
    if headers.is_empty() {
        return Vec::new();
    }
    let liveness = Liveness::of(body, headers.iter().map(|(header, exit)| (*header, exit)));
    let nothing = Set::new(body.runs.runs.len());
    let found = |(id, (header, exit)): (u32, (u32, Exit))| {
        let set = liveness.live.get(header as usize).unwrap_or(&nothing);
        let Pause { live, dead } = body.pause(set, &liveness.escaping);
        let inside =
            body.pause(&live_inside(body, LoopId(id), header, &liveness.escaping), &liveness.escaping);
        let turns = Turns { live: inside.live, dead: inside.dead };
        Loop { header, live, dead, turns, countdowns: Vec::new(), communicates: false, exit }
    };
    (0..).zip(headers).map(found).collect()
}

/// What is live at the header of a loop that nobody leaves.
fn live_inside(body: Body, id: LoopId, header: u32, escaping: &Set) -> Set {
    let Body { blocks, runs, locals, .. } = body;
    let targets = |index: usize| {
        let edges = body.code_of(index).iter().flat_map(|inst| inst.op.edges());
        edges.map(|edge| edge.target as usize).collect::<Vec<_>>()
    };
    // The blocks that come to the header again.
    let mut inside: Vec<usize> = Vec::new();
    let mut changed = true;
    while changed {
        changed = false;
        for (index, _) in blocks.iter().enumerate().rev().filter(|(_, block)| block.loops.contains(&id)) {
            let returns = |target: &usize| *target == header as usize || inside.contains(target);
            if !inside.contains(&index) && targets(index).iter().any(returns) {
                inside.push(index);
                changed = true;
            }
        }
    }
    let mut live = vec![Set::new(runs.runs.len()); blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for index in &inside {
            let before = live_before(body.code_of(*index), &live, runs, (locals, escaping));
            if let Some(known) = live.get_mut(*index) {
                changed |= *known != before;
                *known = before;
            }
        }
    }
    live.swap_remove(header as usize)
}

/// The values that are used otherwise than as the address of a load or a store.
pub(super) fn escaping(code: &[Inst], runs: &Runs) -> Set {
    let mut set = Set::new(runs.runs.len());
    for inst in code {
        let mut escape = |operand| set.change(runs.of_operand(operand), true);
        match &inst.op {
            Op::Memory(MemoryOp::Load { .. }) => {}
            Op::Memory(MemoryOp::Store { object, .. }) => escape(*object),
            op => {
                op.visit_operands(&mut escape);
                for edge in op.edges() {
                    edge.moves.iter().for_each(|&(_, operand, _)| escape(operand));
                }
            }
        }
    }
    set
}

/// The locals that some of these instructions overwrite, in whole or in part, by their own address.
fn locals_stored_to<'c>(code: impl Iterator<Item = &'c Inst>, runs: &Runs, locals: &[Local]) -> Set {
    let mut set = Set::new(runs.runs.len());
    for inst in code {
        let Op::Memory(MemoryOp::Store { pointer, .. }) = &inst.op else { continue };
        if locals.iter().any(|local| !pointer.is_constant() && local.register == pointer.index()) {
            set.change(runs.of_operand(*pointer), true);
        }
    }
    set
}

/// What is live where an invocation leaves a loop by its exit: not what is undefined from there on.
fn live_behind(exit: &Exit, overwritten: &Set, live: &[Set], runs: &Runs) -> Option<Set> {
    let mut set = live_along(exit.edge.as_ref()?, live, runs)?;
    for &(register, _) in &exit.undefined {
        set.change(runs.of(register), false);
    }
    set.remove(overwritten);
    Some(set)
}

/// What is live before the φ moves of an edge.
fn live_along(edge: &Edge, live: &[Set], runs: &Runs) -> Option<Set> {
    let mut before = live.get(edge.target as usize)?.clone();
    let wanted: Vec<Operand> = edge
        .moves
        .iter()
        .filter(|(register, _, _)| runs.of(*register).is_some_and(|run| before.contains(run)))
        .map(|(_, operand, _)| *operand)
        .collect();
    for &(register, _, _) in &edge.moves {
        before.change(runs.of(register), false);
    }
    for operand in wanted {
        before.change(runs.of_operand(operand), true);
    }
    Some(before)
}

/// What is live before a block's instructions, given what is live before its successors.
fn live_before(code: &[Inst], live: &[Set], runs: &Runs, (locals, escaping): (&[Local], &Set)) -> Set {
    let mut set = Set::new(runs.runs.len());
    for inst in code.iter().rev() {
        for edge in inst.op.edges() {
            if let Some(before) = live_along(edge, live, runs) {
                set.unite(&before);
            }
        }
        let result = inst.op.destination().and_then(|register| runs.of(register));
        let contents = local_stored_to(&inst.op, locals).and_then(|register| runs.of(register));
        let goes_nowhere = match contents {
            Some(contents) => !set.contains(contents) && !escaping.contains(contents),
            None => is_inert(&inst.op, locals) && result.is_some_and(|result| !set.contains(result)),
        };
        if goes_nowhere {
            continue;
        }
        set.change(result, false);
        inst.op.visit_operands(&mut |operand| set.change(runs.of_operand(operand), true));
        set.change(contents, false);
    }
    set
}

/// The register with the address of the local that an operation overwrites as a whole.
fn local_stored_to(op: &Op, locals: &[Local]) -> Option<u32> {
    let Op::Memory(MemoryOp::Store { pointer, shape, .. }) = op else { return None };
    is_whole_local(*pointer, *shape, locals).then_some(pointer.index())
}

pub(super) fn is_whole_local(pointer: Operand, shape: ShapeId, locals: &[Local]) -> bool {
    let is_it = |local: &Local| local.register == pointer.index() && local.shape == shape;
    !pointer.is_constant() && locals.iter().any(is_it)
}

/// Whether the operation does nothing but set registers, without a fault or a choice, whatever it reads.
pub(super) fn is_inert(op: &Op, locals: &[Local]) -> bool {
    match op {
        Op::Unary { op, .. } => *op != UnaryOp::QuantizeToF16,
        Op::Binary { op, .. } => op.kind() != BinaryKind::IntegerDivision,
        Op::Convert { op, .. } => !matches!(op, ConvertOp::ConvertFToU | ConvertOp::ConvertFToS),
        Op::Composite(op) => match op {
            CompositeOp::Construct { .. }
            | CompositeOp::Extract { .. }
            | CompositeOp::Insert { .. }
            | CompositeOp::Shuffle { .. } => true,
            CompositeOp::ExtractDynamic { .. } | CompositeOp::InsertDynamic { .. } => false,
        },
        Op::Memory(MemoryOp::Load { pointer, shape, .. }) => is_whole_local(*pointer, *shape, locals),
        Op::Extended { .. }
        | Op::BitField(_)
        | Op::IntegerDot(_)
        | Op::Copy { .. }
        | Op::Undef { .. }
        | Op::Any { .. }
        | Op::All { .. } => true,
        // These may choose, fail or reach memory, or are too rare to ask.
        Op::Select { .. }
        | Op::Glsl(_)
        | Op::Encoded(_)
        | Op::Matrix(_)
        | Op::Control(_)
        | Op::Memory(_)
        | Op::Atomic(_)
        | Op::Image(_)
        | Op::Barrier(_)
        | Op::Subgroup(_)
        | Op::Cooperative(_)
        | Op::Tensor(_)
        | Op::Ray(_)
        | Op::Assume { .. }
        | Op::Require { .. }
        | Op::Nop => false,
    }
}

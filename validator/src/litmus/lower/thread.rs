//! Lowering of the code of one thread.

use super::super::test::{self, AccessKind, Comparison, Instruction, Operation, Target, Thread};
use super::{number, Pool, Unsupported, FIRST_ADDRESS};
use crate::event::{ClassSet, Order, Scope, Semantics, StorageClass};
use crate::interp::Pointer;
use crate::ir::flow::{Flow, NaturalLoop, Node};
use crate::ir::liveness::{self, Runs};
use crate::ir::{
    AtomicKind, AtomicOp, BarrierOp, BinaryOp, Block, Bound, Chain, ChainIndex, ControlOp, Decorations, Edge,
    Exit, Function, Inst, Line, Loop, LoopId, MemoryOp, MemoryOperands, NumberedBarrier, NumberedWait, Op,
    Operand, ShapeId,
};
use crate::value::Scalar;

/// The word that every access touches.
const WORD: ShapeId = ShapeId(0);
/// Width of values in bits.
const WIDTH: u8 = 32;

/// Lowers a thread. `results` are registers with the objects that take their final values.
pub(super) fn lower(
    thread: &Thread,
    index: usize,
    variables: usize,
    results: &[(usize, u32)],
    pool: &mut Pool,
) -> Result<Function, Unsupported> {
    let starts = block_starts(thread);
    let nodes = nodes(thread, &starts);
    let flow = Flow::new(&nodes);
    if let Some(block) = flow.irreducible {
        return Err(Unsupported { line: line_of(thread, starts.get(block).copied().unwrap_or(0)) });
    }
    let mut builder = Builder {
        thread,
        variables,
        pool,
        starts,
        flow,
        code: Vec::new(),
        blocks: Vec::new(),
        registers: thread.registers.len() as u32,
        runs: Runs::default(),
    };
    for register in 0..builder.registers {
        builder.runs.push(register, 1);
    }
    builder.blocks(results);
    let header = |lp: &NaturalLoop| (lp.header as u32, Exit::default());
    let headers: Vec<(u32, Exit)> = builder.flow.loops.iter().map(header).collect();
    let Builder { blocks, code, runs, .. } = &builder;
    let loops = liveness::loops(headers, liveness::Body { blocks, code, runs, fixed: &[], locals: &[] });
    let loops = loops.into_iter().map(|lp| Loop { communicates: true, ..lp });
    Ok(Function {
        name: Some(format!("P{index}")),
        id: index as u32,
        code: builder.code,
        blocks: builder.blocks,
        registers: builder.registers,
        parameters: Vec::new(),
        locals: Vec::new(),
        loops: loops.collect(),
        results: Default::default(),
        runs: builder.runs,
        fixed: Vec::new(),
        definitions: Vec::new(),
        line: line_of(thread, 0),
    })
}

/// The operand with the address of what an instruction may write of memory that threads share.
pub(super) fn written(op: &Op) -> Option<Operand> {
    match op {
        Op::Memory(MemoryOp::Store { pointer, .. }) => Some(*pointer),
        Op::Atomic(AtomicOp { kind: AtomicKind::Load, .. }) => None,
        Op::Atomic(atomic) => Some(atomic.pointer),
        _ => None,
    }
}

fn line_of(thread: &Thread, statement: usize) -> Line {
    thread.code.get(statement).or(thread.code.last()).map_or(0, |statement| statement.position.line)
}

/// Where basic blocks begin. The first block, without statements, sets the registers; the last one,
/// behind the code, stores them.
fn block_starts(thread: &Thread) -> Vec<usize> {
    let mut starts = vec![0, thread.code.len()];
    for (index, statement) in thread.code.iter().enumerate() {
        if let Some(target) = target_of(&statement.instruction) {
            starts.extend([target, index + 1]);
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts.insert(0, 0);
    starts
}

/// The statement that an instruction may jump to.
fn target_of(instruction: &Instruction) -> Option<usize> {
    match instruction {
        Instruction::Goto(target) | Instruction::Branch { target, .. } => Some(*target),
        Instruction::Store { .. }
        | Instruction::Load { .. }
        | Instruction::Update { .. }
        | Instruction::MemoryBarrier { .. }
        | Instruction::ControlBarrier { .. }
        | Instruction::DeviceAvailability
        | Instruction::DeviceVisibility
        | Instruction::Compute { .. } => None,
    }
}

/// The block that begins at a statement; never the first one.
fn block_at(starts: &[usize], statement: usize) -> usize {
    starts.iter().skip(1).position(|start| *start == statement).map_or(starts.len() - 1, |index| index + 1)
}

fn nodes(thread: &Thread, starts: &[usize]) -> Vec<Node> {
    let node = |block: usize| {
        let mut successors = Vec::new();
        let last = match (block, starts.get(block + 1)) {
            (0, _) | (_, None) => None,
            (_, Some(end)) => end.checked_sub(1).and_then(|last| thread.code.get(last)),
        };
        let jump = last.and_then(|statement| target_of(&statement.instruction));
        successors.extend(jump.map(|target| block_at(starts, target)));
        let falls = !last.is_some_and(|statement| matches!(statement.instruction, Instruction::Goto(_)));
        if falls && block + 1 < starts.len() && !successors.contains(&(block + 1)) {
            successors.push(block + 1);
        }
        Node { successors, ..Node::default() }
    };
    (0..starts.len()).map(node).collect()
}

struct Builder<'a> {
    thread: &'a Thread,
    variables: usize,
    pool: &'a mut Pool,
    /// First statement of each block.
    starts: Vec<usize>,
    flow: Flow,
    code: Vec<Inst>,
    blocks: Vec<Block>,
    registers: u32,
    runs: Runs,
}

impl Builder<'_> {
    /// New registers.
    fn temporary(&mut self, count: u32) -> u32 {
        let first = self.registers;
        self.registers += count;
        self.runs.push(first, count);
        first
    }

    fn emit(&mut self, op: Op, line: Line) {
        self.code.push(Inst::plain(op, line));
    }

    fn begin_block(&mut self, block: usize, line: Line) {
        let loops = self.flow.loops_around(block).map(|index| LoopId(index as u32)).collect();
        self.blocks.push(Block {
            label: block as u32,
            start: self.code.len() as u32,
            loops,
            construct: None,
            line,
        });
    }

    fn blocks(&mut self, results: &[(usize, u32)]) {
        self.begin_block(0, line_of(self.thread, 0));
        for (register, declared) in self.thread.registers.iter().enumerate() {
            let initial = self.constant(number(declared.initial));
            self.emit(Op::Copy { dst: register as u32, a: initial, count: 1 }, 0);
        }
        let first = self.edge(0, 1);
        self.emit(Op::Control(ControlOp::Branch(first)), 0);
        for block in 1..self.starts.len() {
            let (start, end) = (self.starts[block], self.starts.get(block + 1).copied());
            let line = line_of(self.thread, start);
            self.begin_block(block, line);
            let Some(end) = end else {
                self.results(results, line);
                break;
            };
            let mut ended = false;
            for statement in &self.thread.code[start..end] {
                ended = self.statement(&statement.instruction, block, statement.position.line);
            }
            if !ended {
                let next = self.edge(block, block + 1);
                self.emit(Op::Control(ControlOp::Branch(next)), line);
            }
        }
    }

    /// Stores final registers.
    fn results(&mut self, results: &[(usize, u32)], line: Line) {
        for (register, object) in results {
            let pointer = self.pointer_to(*object);
            self.emit(
                Op::Memory(MemoryOp::Store {
                    pointer,
                    object: Operand::register(*register as u32),
                    class: StorageClass::StorageBuffer,
                    shape: WORD,
                    operands: MemoryOperands::default(),
                }),
                line,
            );
        }
        self.emit(Op::Control(ControlOp::Return), line);
    }

    /// Returns whether the block ends here.
    fn statement(&mut self, instruction: &Instruction, block: usize, line: Line) -> bool {
        match *instruction {
            Instruction::Store { access, value } => {
                let (pointer, value) = (self.pointer(access.target, line), self.operand(value));
                let op = match access.kind {
                    AccessKind::Plain { .. } => Op::Memory(MemoryOp::Store {
                        pointer,
                        object: value,
                        class: class(access.class),
                        shape: WORD,
                        operands: memory_operands(access.kind),
                    }),
                    AccessKind::Atomic { scope, semantics } => {
                        atomic(AtomicKind::Store { value }, 0, pointer, access.class, scope, semantics)
                    }
                };
                self.emit(op, line);
            }
            Instruction::Load { access, register, expected } => {
                let (pointer, dst) = (self.pointer(access.target, line), register as u32);
                let op = match access.kind {
                    AccessKind::Plain { .. } => Op::Memory(MemoryOp::Load {
                        dst,
                        pointer,
                        class: class(access.class),
                        shape: WORD,
                        operands: memory_operands(access.kind),
                    }),
                    AccessKind::Atomic { scope, semantics } => {
                        atomic(AtomicKind::Load, dst, pointer, access.class, scope, semantics)
                    }
                };
                self.emit(op, line);
                self.require(register, expected, line);
            }
            Instruction::Update { access, operation, register, value, expected } => {
                let (pointer, value) = (self.pointer(access.target, line), self.operand(value));
                let (scope, semantics) = match access.kind {
                    AccessKind::Atomic { scope, semantics } => (scope, semantics),
                    AccessKind::Plain { .. } => (Scope::Invocation, test::Semantics::default()),
                };
                let kind = update(operation, value);
                self.emit(atomic(kind, register as u32, pointer, access.class, scope, semantics), line);
                self.require(register, expected, line);
            }
            Instruction::MemoryBarrier { scope, semantics: given } => {
                self.emit(Op::Barrier(BarrierOp::Memory { scope, semantics: semantics(given) }), line);
            }
            Instruction::ControlBarrier { execution, scope, semantics: given, instance, waits } => {
                let waits = match waits {
                    test::Wait::Nobody => NumberedWait::Nobody,
                    test::Wait::Users { id } => NumberedWait::Users { id: self.operand(id) },
                    test::Wait::Quorum { id, count } => {
                        NumberedWait::Quorum { id: self.operand(id), count: self.operand(count) }
                    }
                };
                let (number, semantics) = (self.operand(instance), semantics(given));
                let barrier = NumberedBarrier { execution, scope, semantics, number, waits };
                self.emit(Op::Barrier(BarrierOp::Numbered(barrier)), line);
            }
            Instruction::DeviceAvailability => {
                self.emit(Op::Barrier(BarrierOp::Device(crate::event::DeviceOperation::Availability)), line);
            }
            Instruction::DeviceVisibility => {
                self.emit(Op::Barrier(BarrierOp::Device(crate::event::DeviceOperation::Visibility)), line);
            }
            Instruction::Compute { operation, register, a, b } => {
                let (a, b, dst) = (self.operand(a), self.operand(b), register as u32);
                match arithmetic(operation) {
                    Some(op) => self.emit(Op::Binary { op, width: WIDTH, count: 1, dst, a, b }, line),
                    None => self.emit(Op::Copy { dst, a: b, count: 1 }, line),
                }
            }
            Instruction::Goto(target) => {
                let edge = self.edge(block, block_at(&self.starts, target));
                self.emit(Op::Control(ControlOp::Branch(edge)), line);
                return true;
            }
            Instruction::Branch { comparison, a, b, target } => {
                let (a, b, condition) = (self.operand(a), self.operand(b), self.temporary(1));
                let op = compare(comparison);
                self.emit(Op::Binary { op, width: WIDTH, count: 1, dst: condition, a, b }, line);
                let yes = self.edge(block, block_at(&self.starts, target));
                let no = self.edge(block, block + 1);
                let condition = Operand::register(condition);
                self.emit(Op::Control(ControlOp::BranchConditional { condition, yes, no }), line);
                return true;
            }
        }
        false
    }

    fn require(&mut self, register: usize, expected: Option<test::Value>, line: Line) {
        if let Some(expected) = expected {
            let b = self.constant(number(expected));
            self.emit(Op::Require { a: Operand::register(register as u32), b }, line);
        }
    }

    fn constant(&mut self, number: u32) -> Operand {
        self.pool.constants(&[Scalar::new(u64::from(number))])
    }

    fn operand(&mut self, operand: test::Operand) -> Operand {
        match operand {
            test::Operand::Register(register) => Operand::register(register as u32),
            test::Operand::Value(value) => self.constant(number(value)),
        }
    }

    fn pointer_to(&mut self, object: u32) -> Operand {
        let decorations = Decorations { aliased: true, ..Decorations::default() };
        self.pool.constants(&Pointer::to_object(object, u32::MAX >> 8, decorations).encode())
    }

    fn pointer(&mut self, target: Target, line: Line) -> Operand {
        let register = match target {
            Target::Variable(variable) => return self.pointer_to(variable as u32),
            Target::Register(register) => Operand::register(register as u32),
        };
        let (base, first) = (self.pointer_to(0), self.constant(FIRST_ADDRESS));
        let (index, dst) = (self.temporary(1), self.temporary(2));
        self.emit(
            Op::Binary { op: BinaryOp::ISub, width: WIDTH, count: 1, dst: index, a: register, b: first },
            line,
        );
        let bound = Bound::Descriptor(self.variables as u32);
        let step = ChainIndex { index: Operand::register(index), width: WIDTH, stride: 0, bound };
        let chain = Chain {
            dst,
            base,
            offset: 0,
            indices: vec![step],
            decorations: Decorations::default(),
            physical: false,
        };
        self.emit(Op::Memory(MemoryOp::Chain(chain)), line);
        Operand::register(dst)
    }

    fn edge(&self, source: usize, target: usize) -> Edge {
        let (enters, repeats) = self.flow.crossed(source, target);
        Edge { target: target as u32, moves: Vec::new(), enters, repeats }
    }
}

/// A storage class with this semantics bit.
fn class(bit: ClassSet) -> StorageClass {
    match bit {
        ClassSet::WORKGROUP => StorageClass::Workgroup,
        ClassSet::IMAGE => StorageClass::Image,
        ClassSet::OUTPUT => StorageClass::Output,
        _ => StorageClass::StorageBuffer,
    }
}

fn semantics(given: test::Semantics) -> Semantics {
    let test::Semantics { order, classes, make_available, make_visible } = given;
    Semantics { order, classes, make_available, make_visible, volatile: false }
}

fn memory_operands(kind: AccessKind) -> MemoryOperands {
    match kind {
        AccessKind::Plain { non_private, available, visible } => MemoryOperands {
            non_private,
            make_available: available,
            make_visible: visible,
            ..MemoryOperands::default()
        },
        AccessKind::Atomic { .. } => MemoryOperands::default(),
    }
}

fn atomic(
    kind: AtomicKind,
    dst: u32,
    pointer: Operand,
    bit: ClassSet,
    scope: Scope,
    given: test::Semantics,
) -> Op {
    let unequal = Semantics { order: Order::Relaxed, ..Semantics::default() };
    let (class, semantics) = (class(bit), semantics(given));
    Op::Atomic(AtomicOp {
        kind,
        dst,
        pointer,
        class,
        width: WIDTH,
        scope,
        semantics,
        unequal,
        result_used: true,
    })
}

fn update(operation: Operation, value: Operand) -> AtomicKind {
    match operation {
        Operation::Exchange => AtomicKind::Exchange { value },
        Operation::Add => AtomicKind::IAdd { value },
        Operation::Sub => AtomicKind::ISub { value },
        Operation::Mul => AtomicKind::IMul { value },
        Operation::Div => AtomicKind::SDiv { value },
        Operation::And => AtomicKind::And { value },
        Operation::Or => AtomicKind::Or { value },
        Operation::Xor => AtomicKind::Xor { value },
    }
}

/// The instruction of an operation; none for that which just takes its second operand.
fn arithmetic(operation: Operation) -> Option<BinaryOp> {
    match operation {
        Operation::Exchange => None,
        Operation::Add => Some(BinaryOp::IAdd),
        Operation::Sub => Some(BinaryOp::ISub),
        Operation::Mul => Some(BinaryOp::IMul),
        Operation::Div => Some(BinaryOp::SDiv),
        Operation::And => Some(BinaryOp::BitwiseAnd),
        Operation::Or => Some(BinaryOp::BitwiseOr),
        Operation::Xor => Some(BinaryOp::BitwiseXor),
    }
}

fn compare(comparison: Comparison) -> BinaryOp {
    match comparison {
        Comparison::Equal => BinaryOp::IEqual,
        Comparison::NotEqual => BinaryOp::INotEqual,
        Comparison::Less => BinaryOp::SLessThan,
        Comparison::LessEqual => BinaryOp::SLessThanEqual,
        Comparison::Greater => BinaryOp::SGreaterThan,
        Comparison::GreaterEqual => BinaryOp::SGreaterThanEqual,
    }
}

//! The state of one invocation and what the explorer may ask of it.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::descriptors::Descriptors;
use super::inexact::Recorded;
use super::loops::{LoopState, Snapshot};
use super::machine::Machine;
use super::names::Names;
use super::own_memory::OwnMemory;
use super::robust::DoneOutside;
use super::{built_in, Convergence, Pointer, SharedMemory, Stop};
use crate::dispatch::Dispatch;
use crate::ir::{
    ControlOp, Definition, Effect, Function, FunctionId, Inexact, Inst, InstId, Line, Op, Operand, Program,
};
use crate::value::{Byte, Scalar};

/// One invocation. Cheap to clone: a handful of flat vectors.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub(super) index: u32,
    pub(super) workgroup: u32,
    /// The function that runs.
    pub(super) frame: Frame,
    /// Its callers, the entry point first.
    pub(super) callers: Vec<Frame>,
    /// Register components of all frames, one frame after the other.
    pub(super) registers: Vec<Scalar>,
    /// Loops of all frames, one frame after the other.
    pub(super) loops: Vec<LoopState>,
    /// States at loop headers that were reached again and again without an event.
    pub(super) snapshots: Vec<Snapshot>,
    /// Objects: one for each variable of the program (empty for a shared one), then locals.
    pub(super) own: OwnMemory,
    /// What the instruction that runs has already read.
    pub(super) copied: Option<Box<Copied>>,
    /// Ways chosen for the instruction that runs, which is started again after each choice.
    pub(super) choices: SmallVec<[u32; 4]>,
    /// How many of them this start has used.
    pub(super) used_choices: usize,
    pub(super) executed: u64,
    /// Stops for events and for choices, and changes of shared memory settled on the way, so far.
    pub(super) activity: Activity,
    /// What a loop must not be removed for; see [`Invocation::effects`].
    pub(super) effects: u64,
    /// Atomic instructions so far.
    pub(super) atomics: u64,
    /// Where it runs with intervals: what tells those of now from others.
    pub(super) shading: u64,
    pub(super) finished: bool,
    /// Demoted to a helper invocation: its writes are lost.
    pub(super) helper: bool,
    /// An undefined index or place of a texel was followed nowhere.
    pub(super) lost: bool,
    /// Float operations that might have given other results, since they were last taken.
    pub(super) inexact: BTreeSet<Inexact>,
    /// The way through the module's constructs; only where something acts on tangles.
    pub(super) convergence: Option<Box<Convergence>>,
    pub(super) recorded: Recorded,
    /// What pointer parameters name.
    pub(super) names: Names,
    pub(super) done_outside: DoneOutside,
    /// What the instruction that runs reads or writes may be anything, because of accesses outside of the buffer.
    pub(super) uncertain: bool,
    /// Only where something must be the same for the subgroup.
    pub(super) descriptors: Option<Box<Descriptors>>,
}

/// The components that an OpCopyMemory has read and must still write, or the bytes that an image instruction
/// has read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Copied(pub(super) Vec<Scalar>);

/// Counts of what may tell one iteration of a loop from the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Activity {
    pub(super) events: u64,
    pub(super) choices: u64,
    /// Settled writes that changed something.
    pub(super) changes: u64,
}

/// Components of a result that is told to people: larger ones would fill the memory of who notes them.
const MOST_COMPONENTS: u32 = 64;

/// A function's activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Frame {
    pub(super) function: FunctionId,
    /// Index of the instruction to run next; in callers, of the call.
    pub(super) pc: u32,
    /// Where its registers begin.
    pub(super) registers: u32,
    /// Where its loops begin.
    pub(super) loops: u32,
    /// Number of own objects before its locals.
    pub(super) objects: u32,
    /// Components done of an instruction that calls a function for each.
    pub(super) element: u32,
}

impl Invocation {
    /// The invocation `index` of the dispatch, before its first instruction.
    pub fn new(program: &Program, dispatch: &Dispatch, index: u32) -> Self {
        let place = &dispatch.places[index as usize];
        let entry = dispatch.entries.get(index as usize).copied().unwrap_or(program.entry.function);
        let frame = Frame { function: entry, pc: 0, registers: 0, loops: 0, objects: 0, element: 0 };
        let mut invocation = Invocation {
            index,
            workgroup: place.workgroup,
            frame,
            callers: Vec::new(),
            registers: Vec::new(),
            loops: Vec::new(),
            snapshots: Vec::new(),
            own: OwnMemory::default(),
            copied: None,
            choices: SmallVec::new(),
            used_choices: 0,
            executed: 0,
            activity: Activity::default(),
            effects: 0,
            atomics: 0,
            shading: 0,
            finished: false,
            helper: dispatch.helpers.contains(&index),
            lost: false,
            inexact: BTreeSet::new(),
            convergence: program.modes.tangles.then(|| Box::new(Convergence::new(program))),
            recorded: Recorded::default(),
            names: Names::default(),
            done_outside: DoneOutside::default(),
            uncertain: false,
            descriptors: program.modes.descriptors.then(Box::default),
        };
        for (number, variable) in program.variables.iter().enumerate() {
            let shared = dispatch.object(number as u32, index).is_some();
            let shape = &program.shapes[variable.shape.0 as usize];
            let size = if shared { 0 } else { variable.size.max(shape.size) };
            let object = invocation.own.create(size);
            if shared {
                continue;
            }
            if let Some(initializer) = variable.initializer {
                invocation.own.initialize(object, shape, |component| {
                    program.constants[initializer.offset(component).index() as usize]
                });
            } else if let Some(bytes) = dispatch.input(number as u32, index) {
                invocation.own.fill(object, bytes);
            }
        }
        invocation.set_built_ins(program, dispatch);
        invocation.enter(program, entry);
        dispatch.coverage.enter(entry);
        invocation
    }

    /// The invocations of these numbers, before their first instructions.
    pub fn all(
        program: &Program,
        dispatch: &Dispatch,
        indices: impl IntoIterator<Item = u32>,
    ) -> Vec<Invocation> {
        let mut invocations: Vec<Invocation> = Vec::new();
        for index in indices {
            let entry = dispatch.entries.get(index as usize).copied().unwrap_or(program.entry.function);
            let workgroup = dispatch.places[index as usize].workgroup;
            let last = invocations.last();
            // In a workgroup only built-ins differ, but in a quad inputs do.
            let alike =
                dispatch.helpers.is_empty() && dispatch.inputs.values().all(|values| values.len() < 2);
            let like =
                last.filter(|last| alike && last.frame.function == entry && last.workgroup == workgroup);
            let invocation = match like {
                Some(like) => {
                    let mut invocation = Invocation { index, ..like.clone() };
                    invocation.set_built_ins(program, dispatch);
                    invocation
                }
                None => Invocation::new(program, dispatch, index),
            };
            invocations.push(invocation);
        }
        invocations
    }

    /// Gives the variables that nothing else initialises the values of their built-ins.
    fn set_built_ins(&mut self, program: &Program, dispatch: &Dispatch) {
        let place = &dispatch.places[self.index as usize];
        for (number, variable) in program.variables.iter().enumerate() {
            let Some(built_in) = variable.built_in else { continue };
            let number = number as u32;
            let shared = dispatch.object(number, self.index).is_some();
            if shared || variable.initializer.is_some() || dispatch.inputs.contains_key(&number) {
                continue;
            }
            let value = built_in::value(built_in, dispatch, place);
            let shape = &program.shapes[variable.shape.0 as usize];
            self.own.initialize(number, shape, |component| {
                Scalar::new(u64::from(value.get(component as usize).copied().unwrap_or(0)))
            });
        }
    }

    /// Makes the frame of a function and its locals; arguments are not set yet.
    pub(super) fn enter(&mut self, program: &Program, function: FunctionId) {
        let code = &program.functions[function.0 as usize];
        self.frame = Frame {
            function,
            pc: 0,
            registers: self.registers.len() as u32,
            loops: self.loops.len() as u32,
            objects: self.own.count(),
            element: 0,
        };
        self.registers.resize(self.registers.len() + code.registers as usize, Scalar::default());
        self.loops.resize(self.loops.len() + code.loops.len(), LoopState::default());
        for local in &code.locals {
            let shape = &program.shapes[local.shape.0 as usize];
            let object = self.own.create(local.size.max(shape.size));
            if let Some(initializer) = local.initializer {
                self.own.initialize(object, shape, |component| {
                    program.constants[initializer.offset(component).index() as usize]
                });
            }
            let pointer = Pointer::to_object(Pointer::OWN | object, Pointer::LOCAL, local.decorations);
            let register = (self.frame.registers + local.register) as usize;
            self.registers[register..register + 2].copy_from_slice(&pointer.encode());
        }
    }

    /// Runs until somebody else must decide; see [`Stop`] for how to go on after each.
    /// Takes one from `fuel` for each instruction. After `Finished` it stays finished; after a
    /// fault, `Forever` and `Unsupported` there is nothing to go on with.
    pub fn run(
        &mut self,
        program: &Program,
        dispatch: &Dispatch,
        memory: &mut dyn SharedMemory,
        fuel: &mut u64,
    ) -> Stop {
        if self.finished {
            return Stop::Finished;
        }
        let mut machine = Machine { state: self, program, dispatch, memory };
        let before = *fuel;
        let stop = loop {
            if *fuel == 0 {
                break Stop::OutOfFuel;
            }
            *fuel -= 1;
            if let Err(stop) = machine.step() {
                break *stop;
            }
        };
        self.executed += before - *fuel;
        match stop {
            Stop::Read(_)
            | Stop::Write(..)
            | Stop::AtomicRead { .. }
            | Stop::AtomicWrite { .. }
            | Stop::Fence(_)
            | Stop::Device(..)
            | Stop::Barrier { .. }
            | Stop::Subgroup { .. } => self.activity.events += 1,
            Stop::Choose { .. } => self.activity.choices += 1,
            Stop::Finished => self.finished = true,
            Stop::LoopEntry { .. }
            | Stop::Iteration { .. }
            | Stop::Fault(_)
            | Stop::OutOfFuel
            | Stop::Unsupported { .. }
            | Stop::Discarded
            | Stop::Forever { .. } => {}
        }
        stop
    }

    /// Whether the next instruction says that the execution does not count.
    pub fn is_discarded(&self, program: &Program) -> bool {
        match self.function(program).code.get(self.frame.pc as usize).map(|inst| &inst.op) {
            Some(Op::Require { a, b }) => self.operand(program, *a) != self.operand(program, *b),
            Some(_) | None => false,
        }
    }

    /// Answers [`Stop::Choose`] with a way below its number.
    pub fn choose(&mut self, way: u32) {
        self.choices.push(way);
    }

    /// Whether both behave alike from here on if they read alike: same position, registers and own
    /// memory. Iteration numbers do not count. At a loop header, where [`Stop::Iteration`] stops,
    /// only the live registers of the innermost frame do.
    pub fn same_state(&self, other: &Invocation, program: &Program) -> bool {
        let same_frame = |a: &Frame, b: &Frame| {
            (a.function, a.pc, a.registers, a.element) == (b.function, b.pc, b.registers, b.element)
        };
        let same_registers = || {
            let base = self.frame.registers as usize;
            if self.registers[..base] != other.registers[..base] {
                return false;
            }
            match self.live_at_header(program) {
                Some(live) => {
                    live.iter().all(|register| self.register(*register) == other.register(*register))
                }
                None => self.registers[base..] == other.registers[base..],
            }
        };
        self.index == other.index
            && self.finished == other.finished
            && self.helper == other.helper
            && same_frame(&self.frame, &other.frame)
            && self.callers.len() == other.callers.len()
            && self.callers.iter().zip(&other.callers).all(|(a, b)| same_frame(a, b))
            && self.choices == other.choices
            && self.copied == other.copied
            && self.done_outside == other.done_outside
            && same_registers()
            && self.own == other.own
    }

    /// Goes on behind an instruction that stopped for a [`Stop::Fault`], with an undefined result. False where nothing
    /// says how control would go on.
    pub fn pass_fault(&mut self, program: &Program) -> bool {
        let function = self.function(program);
        let Some(inst) = function.code.get(self.frame.pc as usize) else { return false };
        if matches!(inst.op, Op::Control(_)) {
            return false;
        }
        if let Some(first) = inst.op.destination() {
            let Some(results) = function.results.of(first) else { return false };
            for (register, width) in results {
                self.set(register, Scalar::undefined(u32::from(width)));
            }
        }
        self.copied = None;
        self.frame.element = 0;
        self.advance();
        true
    }

    /// Whether the next instruction is one without effects.
    pub fn only_sets_registers(&self, program: &Program) -> bool {
        let next = self.function(program).code.get(self.frame.pc as usize);
        next.is_some_and(|inst| matches!(inst.op.effect(), Effect::None))
    }

    /// The live registers if the next instruction begins a loop header.
    fn live_at_header<'a>(&self, program: &'a Program) -> Option<&'a [u32]> {
        let function = self.function(program);
        let at_header = function
            .loops
            .iter()
            .find(|candidate| function.blocks[candidate.header as usize].start == self.frame.pc)?;
        Some(&at_header.live)
    }

    /// The instruction at which it stands.
    pub fn instruction<'p>(&self, program: &'p Program) -> Option<&'p Inst> {
        self.function(program).code.get(self.frame.pc as usize)
    }

    /// The call sites, outermost first, then the instruction that runs next. After `Read`,
    /// `AtomicRead`, `Choose` and faults that is the instruction that stopped; after the others
    /// the one behind it.
    pub fn position(&self) -> SmallVec<[InstId; 4]> {
        self.callers.iter().chain([&self.frame]).map(Frame::instruction).collect()
    }

    /// The result that an instruction on this line of the innermost function gave last; of one that did not run yet, anything.
    pub fn result_on(&self, program: &Program, line: Line) -> Option<Vec<Scalar>> {
        let definitions = &self.function(program).definitions;
        let at = definitions.binary_search_by_key(&line, |definition| definition.line).ok()?;
        let definition = definitions.get(at).filter(|definition| definition.count <= MOST_COMPONENTS)?;
        Some(self.components_of(program, definition))
    }

    fn components_of(&self, program: &Program, definition: &Definition) -> Vec<Scalar> {
        let components = (0..definition.count).map(|component| definition.operand.offset(component));
        components.map(|operand| self.operand(program, operand)).collect()
    }

    /// The line of the header of the innermost loop that it is in.
    pub fn loop_line(&self, program: &Program) -> Option<Line> {
        [&self.frame].into_iter().chain(self.callers.iter().rev()).find_map(|frame| {
            let function = program.functions.get(frame.function.0 as usize)?;
            let block = function.blocks.iter().rev().find(|block| block.start <= frame.pc)?;
            let header = function.loops.get(block.loops.last()?.0 as usize)?.header;
            function.blocks.get(header as usize).map(|block| block.line)
        })
    }

    /// The conditional branches of the innermost loop of the function that runs, by their lines, with the values that their
    /// conditions have now.
    pub fn loop_branches(&self, program: &Program) -> Vec<(Line, Scalar)> {
        let function = self.function(program);
        let block = function.blocks.iter().rev().find(|block| block.start <= self.frame.pc);
        let Some(innermost) = block.and_then(|block| block.loops.last()) else { return Vec::new() };
        let ends = function.blocks.iter().skip(1).map(|block| block.start);
        let ends = ends.chain([function.code.len() as u32]);
        let own = function.blocks.iter().zip(ends).filter(|(block, _)| block.loops.contains(innermost));
        own.filter_map(|(block, end)| {
            let inst = function.code.get(block.start as usize..end as usize)?.last()?;
            match &inst.op {
                Op::Control(ControlOp::BranchConditional { condition, .. }) => {
                    Some((inst.line, self.operand(program, *condition)))
                }
                _ => None,
            }
        })
        .collect()
    }

    /// Takes the float operations that ran since the last call and might have given other results.
    pub fn take_inexact(&mut self) -> BTreeSet<Inexact> {
        std::mem::take(&mut self.inexact)
    }

    /// The way that the invocation took; none where nothing in the module depends on it.
    pub fn convergence(&self) -> Option<&Convergence> {
        self.convergence.as_deref()
    }

    /// What it accessed of descriptors that must be the same for its subgroup; none where there are none.
    pub fn descriptors(&self) -> Option<&Descriptors> {
        self.descriptors.as_deref()
    }

    /// Whether an undefined index or place of a texel was taken for one that leads nowhere, though some of its values may
    /// lead to memory.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Instructions executed so far.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// The contents of a variable that no invocation shares (index into `Program::variables`), as
    /// they are now; empty for a shared one.
    pub fn own_variable(&self, variable: u32) -> Vec<Byte> {
        self.own.bytes(variable)
    }

    pub(super) fn function<'a>(&self, program: &'a Program) -> &'a Function {
        &program.functions[self.frame.function.0 as usize]
    }

    /// A constant, or a register component of the innermost frame.
    pub(super) fn operand(&self, program: &Program, operand: Operand) -> Scalar {
        match operand.is_constant() {
            true => program.constants[operand.index() as usize],
            false => self.register(operand.index()),
        }
    }

    /// A register component of the innermost frame.
    #[inline]
    pub(super) fn register(&self, register: u32) -> Scalar {
        self.registers[(self.frame.registers + register) as usize]
    }

    #[inline]
    pub(super) fn set(&mut self, register: u32, value: Scalar) {
        self.registers[(self.frame.registers + register) as usize] = value;
    }

    /// The instruction that ran is complete: the next one is behind it.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.frame.pc += 1;
        self.forget_choices();
    }

    /// Drops the choices of an instruction that is complete.
    #[inline]
    pub(super) fn forget_choices(&mut self) {
        if !self.choices.is_empty() {
            self.choices.clear();
        }
    }
}

impl Frame {
    pub(super) fn instruction(&self) -> InstId {
        InstId { function: self.function, index: self.pc }
    }
}

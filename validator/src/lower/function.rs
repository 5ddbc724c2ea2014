//! Lowers one function: registers for its values, code for its reachable blocks, its loops.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use rspirv::spirv::Op as Opcode;

use super::body::{BasicBlock, Body};
use super::decorations::Decoration;
use super::error::Problem;
use super::layout::Placement;
use super::program::{decorations_of, ProgramBuilder};
use super::types::{Type, TypeTable};
use super::values::{Value, Values};
use crate::ir::flow::{Flow, NaturalLoop, Node};
use crate::ir::liveness::{self, Runs};
use crate::ir::{
    Block, Construct, Decorations, Definition, EncodedOp, Exit, Function, Inst, Line, Local, LoopId,
    MemoryOp, Op, Operand, Parameter, Results,
};
use crate::module::Instruction;

/// A frame of more register components than this is refused.
const MAX_REGISTERS: u32 = 1 << 24;

/// A function under construction.
pub(super) struct FunctionBuilder<'b, 'm> {
    pub program: &'b mut ProgramBuilder<'m>,
    pub body: Body<'m>,
    pub flow: Flow,
    /// Index in the lowered function of each block; `None` for unreachable ones.
    pub block_numbers: Vec<Option<u32>>,
    /// Where pointers lead, where that is not the start of an object.
    pub pointees: HashMap<u32, Pointee>,
    /// The result type of the function.
    pub result_type: u32,
    pub locals: Vec<Local>,
    /// Ids of the function's own variables.
    pub local_ids: HashSet<u32>,
    /// Where the results of the reachable blocks are made.
    pub definitions: HashMap<u32, usize>,
    /// `None` for values that could not be lowered.
    values: HashMap<u32, Option<Value>>,
    registers: u32,
    runs: Runs,
    results: Results,
    code: Vec<Inst>,
    /// What the current instruction used of the module's scope; [`Values`] shares `self`.
    used: RefCell<Used>,
    /// Registers with the addresses of module-scope variables, by id.
    addresses: HashMap<u32, Value>,
    prologue: Vec<Inst>,
}

/// Where a pointer leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pointee {
    /// How it lies in memory beyond what its type says.
    pub placement: Placement,
    /// Bytes from the start of the object, where that is a constant.
    pub start: Option<u64>,
}

impl Pointee {
    const OBJECT: Pointee =
        Pointee { placement: Placement { matrix: None, component_stride: None }, start: Some(0) };

    /// A pointer of which only its type is known.
    pub fn unknown() -> Self {
        Pointee { start: None, ..Pointee::OBJECT }
    }
}

/// Uses of the module's scope that were not yet taken up.
#[derive(Debug, Default)]
struct Used {
    constants: Vec<Value>,
}

impl Values for FunctionBuilder<'_, '_> {
    fn types(&self) -> &TypeTable {
        &self.program.globals.types
    }

    fn value(&self, id: u32, line: Line) -> Result<Value, Problem> {
        match self.values.get(&id) {
            Some(Some(value)) => return Ok(*value),
            Some(None) => return Err(Problem::reported()),
            None => {}
        }
        if let Some(address) = self.addresses.get(&id) {
            return Ok(*address);
        }
        if self.program.globals.constants.contains(id) {
            let value = self.program.globals.constants.value(id, line)?;
            self.used.borrow_mut().constants.push(value);
            return Ok(value);
        }
        Err(Problem::invalid(line, format!("%{id} is no value here")))
    }
}

/// Lowers the function with this id; `None` where problems were found.
pub(super) fn lower(program: &mut ProgramBuilder, id: u32, call_line: Line) -> Option<Function> {
    let Some(range) = program.globals.index.function(id) else {
        program.problems.add(Problem::invalid(call_line, format!("%{id} is not a function")));
        return None;
    };
    let body = Body::new(program.globals.module, &program.globals.index, range);
    let body = program.problems.keep(body)?;
    let line = body.head.line;
    if body.blocks.is_empty() {
        program.problems.add(Problem::unsupported("an imported function", line));
        return None;
    }
    let nodes: Vec<Node> = body
        .blocks
        .iter()
        .map(|block| Node {
            successors: block.successors.clone(),
            loop_merge: block.loop_merge,
            unreachable: block.unreachable,
        })
        .collect();
    let flow = Flow::new(&nodes);
    if let Some(block) = flow.irreducible {
        let line = body.blocks.get(block).map_or(line, |block| block.line);
        program.problems.add(Problem::unsupported("a loop with several entries", line));
    }
    let mut builder = FunctionBuilder::new(program, body, flow);
    let parameters = builder.parameters();
    let parameters = builder.program.problems.keep(parameters).unwrap_or_default();
    builder.allocate();
    Some(builder.finish(id, parameters))
}

impl<'b, 'm> FunctionBuilder<'b, 'm> {
    fn new(program: &'b mut ProgramBuilder<'m>, body: Body<'m>, flow: Flow) -> Self {
        let mut block_numbers = vec![None; body.blocks.len()];
        let mut reachable = flow.order.clone();
        // Blocks stay in module order.
        reachable.sort_unstable();
        for (number, &block) in reachable.iter().enumerate() {
            if let Some(slot) = block_numbers.get_mut(block) {
                *slot = Some(number as u32);
            }
        }
        FunctionBuilder {
            program,
            body,
            flow,
            block_numbers,
            pointees: HashMap::new(),
            result_type: 0,
            locals: Vec::new(),
            local_ids: HashSet::new(),
            definitions: HashMap::new(),
            values: HashMap::new(),
            registers: 0,
            runs: Runs::default(),
            results: Results::default(),
            code: Vec::new(),
            used: RefCell::default(),
            addresses: HashMap::new(),
            prologue: Vec::new(),
        }
    }

    /// A new run of registers for a value of this type.
    pub fn register(&mut self, ty: u32, line: Line) -> Result<u32, Problem> {
        let count = self.types().components(ty, line)?;
        let start = self.registers(count, line)?;
        let widths = self.types().widths(ty, line)?;
        if widths.len() == count as usize {
            self.results.push(start, &widths);
        }
        Ok(start)
    }

    /// A new run of registers.
    pub fn registers(&mut self, count: u32, line: Line) -> Result<u32, Problem> {
        let start = self.registers;
        self.registers = start.saturating_add(count);
        if self.registers > MAX_REGISTERS {
            let what = format!("a function with values of more than {MAX_REGISTERS} components");
            return Err(Problem::unsupported(what, line));
        }
        self.runs.push(start, count);
        Ok(start)
    }

    /// Registers for components of this width that an instruction leaves to its other half.
    pub fn temporaries(&mut self, width: u8, count: u32, line: Line) -> Result<u32, Problem> {
        let start = self.registers(count, line)?;
        self.results.push(start, &vec![width; count as usize]);
        Ok(start)
    }

    /// Appends an instruction to the current block.
    pub fn emit(&mut self, mut op: Op, instruction: &Instruction) {
        let decorations = &self.program.globals.decorations;
        let is = |decoration| instruction.result.is_some_and(|id| decorations.has(id, decoration));
        let no_contraction = is(Decoration::NoContraction);
        let relaxed = is(Decoration::RelaxedPrecision);
        let fast_math = instruction.result.and_then(|id| {
            decorations.find(id, |decoration| match decoration {
                Decoration::FastMath(mode) => Some(*mode),
                _ => None,
            })
        });
        if let Op::Encoded(EncodedOp::Convert { saturates, .. }) = &mut op {
            *saturates = is(Decoration::SaturatedConversion);
        }
        let plain = Inst::plain(op, instruction.line);
        self.code.push(Inst { opcode: instruction.opcode, no_contraction, relaxed, fast_math, ..plain });
    }

    /// What is known about where a pointer leads.
    pub fn pointee(&self, id: u32) -> Pointee {
        let made = |id| self.program.globals.variable(id).is_some() || self.local_ids.contains(&id);
        self.pointees.get(&id).copied().unwrap_or_else(|| match made(id) {
            true => Pointee::OBJECT,
            false => Pointee::unknown(),
        })
    }

    /// The operand word of an instruction.
    pub fn word(&self, instruction: &Instruction, position: usize) -> Result<u32, Problem> {
        let missing =
            || Problem::invalid(instruction.line, format!("{} lacks an operand", instruction.name()));
        instruction.word(position).ok_or_else(missing)
    }

    /// The value at this operand position, a module-scope variable among them.
    pub fn operand(&mut self, instruction: &Instruction, position: usize) -> Result<Value, Problem> {
        let id = self.word(instruction, position)?;
        self.value_or_address(id, instruction.line)
    }

    /// The value with this id; the address of a module-scope variable is made at the start of the
    /// function.
    pub fn value_or_address(&mut self, id: u32, line: Line) -> Result<Value, Problem> {
        if let (Some(at), false) = (self.program.globals.variable(id), self.addresses.contains_key(&id)) {
            let variable = self.program.variable(id, at)?;
            let (ty, declared) = match self.program.globals.module.instruction(at) {
                Some(declaration) => (declaration.result_type.unwrap_or(0), declaration.line),
                None => (0, line),
            };
            let dst = self.register(ty, line)?;
            let op = Op::Memory(MemoryOp::Variable { dst, variable });
            self.prologue.push(Inst { opcode: Opcode::Variable as u16, ..Inst::plain(op, declared) });
            self.addresses.insert(id, Value { ty, operand: Operand::register(dst) });
        }
        self.value(id, line)
    }

    /// The registers that the instruction's result was given.
    pub fn result(&self, instruction: &Instruction) -> Result<Value, Problem> {
        match instruction.result.map(|id| self.values.get(&id)) {
            Some(Some(Some(value))) => Ok(*value),
            Some(Some(None)) => Err(Problem::reported()),
            Some(None) | None => Err(Problem::invalid(instruction.line, "the instruction lacks a result")),
        }
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, Problem> {
        let line = self.body.head.line;
        let function_type = self.body.head.word(1).unwrap_or(0);
        let (result, wanted) = match self.types().get(function_type, line)? {
            Type::Function { result, parameters } => (*result, parameters.clone()),
            _ => return Err(Problem::invalid(line, "OpFunction does not name a function type")),
        };
        self.result_type = result;
        if wanted.len() != self.body.parameters.len() {
            return Err(Problem::invalid(line, "the parameters do not match the function's type"));
        }
        let mut parameters = Vec::with_capacity(wanted.len());
        for (instruction, &ty) in self.body.parameters.clone().iter().zip(wanted.iter()) {
            let Some(id) = instruction.result else { continue };
            let parameter = self.parameter(id, instruction, ty);
            let parameter = self.program.problems.keep(parameter);
            let operand = parameter.map(|parameter| Operand::register(parameter.register));
            self.values.insert(id, operand.map(|operand| Value { ty, operand }));
            parameters.extend(parameter);
        }
        Ok(parameters)
    }

    fn parameter(&mut self, id: u32, instruction: &Instruction, ty: u32) -> Result<Parameter, Problem> {
        let line = instruction.line;
        if instruction.result_type != Some(ty) {
            return Err(Problem::invalid(line, "a parameter does not match the function's type"));
        }
        // Physical pointers are no declarations' own.
        let declares = self.types().is_pointer(ty) && !self.types().is_physical(ty);
        let declaration = declares.then(|| self.program.declare_parameter());
        Ok(Parameter {
            register: self.register(ty, line)?,
            count: self.types().components(ty, line)?,
            declaration,
            decorations: match self.types().is_pointer(ty) {
                true => decorations_of(&self.program.globals, id),
                false => Decorations::default(),
            },
        })
    }

    /// Gives every result of the reachable blocks its registers: uses may come before definitions
    /// in φ instructions.
    fn allocate(&mut self) {
        for block in self.reachable_blocks() {
            for at in self.instructions_of(block) {
                let Some(instruction) = self.program.globals.module.instruction(at) else { continue };
                let (Some(ty), Some(id)) = (instruction.result_type, instruction.result) else { continue };
                if instruction.op() == Some(Opcode::ExtInst) && self.is_non_semantic(&instruction) {
                    continue;
                }
                self.definitions.insert(id, at);
                let register = self.register(ty, instruction.line);
                let register = self.program.problems.keep(register);
                let value = register.map(|register| Value { ty, operand: Operand::register(register) });
                self.values.insert(id, value);
            }
        }
    }

    fn reachable_blocks(&self) -> Vec<usize> {
        let numbers = self.block_numbers.iter().enumerate();
        numbers.filter(|(_, number)| number.is_some()).map(|(block, _)| block).collect()
    }

    pub fn instructions_of(&self, block: usize) -> std::ops::Range<usize> {
        self.body.blocks.get(block).map_or(0..0, |block| block.instructions.clone())
    }

    /// Whether this OpExtInst is of a set without meaning for execution.
    pub fn is_non_semantic(&self, instruction: &Instruction) -> bool {
        let set = instruction.word(0).and_then(|id| self.program.globals.index.import(id));
        set.is_some_and(|name| {
            name.starts_with("NonSemantic.") || matches!(name, "DebugInfo" | "OpenCL.DebugInfo.100")
        })
    }

    fn finish(mut self, id: u32, parameters: Vec<Parameter>) -> Function {
        let mut blocks = Vec::new();
        for at in self.reachable_blocks() {
            let loops = self.flow.loops_around(at).map(|index| LoopId(index as u32)).collect();
            let Some(&BasicBlock { label, line, construct, .. }) = self.body.blocks.get(at) else { continue };
            let number = |block: usize| self.block_numbers.get(block).copied().flatten();
            let construct = construct.map(|(merge, continue_target)| Construct {
                merge: number(merge),
                continue_target: continue_target.and_then(number),
                is_loop: continue_target.is_some(),
            });
            blocks.push(Block { label, start: self.code.len() as u32, loops, construct, line });
            for instruction in self.instructions_of(at) {
                let Some(instruction) = self.program.globals.module.instruction(instruction) else {
                    continue;
                };
                let lowered = self.instruction(&instruction, at);
                self.program.problems.keep(lowered);
                for constant in std::mem::take(&mut self.used.borrow_mut().constants) {
                    self.program.harvest(constant, instruction.line);
                }
            }
        }
        self.prepend_prologue(&mut blocks);
        let header = |lp: &NaturalLoop| self.block_numbers.get(lp.header).copied().flatten().unwrap_or(0);
        let headers: Vec<(u32, Exit)> =
            self.flow.loops.iter().map(|lp| (header(lp), self.exit(lp))).collect();
        let mut fixed: Vec<u32> = self.addresses.values().map(|address| address.operand.index()).collect();
        fixed.sort_unstable();
        let body = liveness::Body {
            blocks: &blocks,
            code: &self.code,
            runs: &self.runs,
            fixed: &fixed,
            locals: &self.locals,
        };
        let loops = liveness::loops(headers, body);
        let definitions = self.lines_of_results();
        Function {
            name: self.program.globals.index.any_name(id).map(str::to_owned),
            id,
            code: self.code,
            blocks,
            registers: self.registers,
            parameters,
            locals: self.locals,
            loops,
            results: self.results,
            runs: self.runs,
            fixed,
            definitions,
            line: self.body.head.line,
        }
    }

    /// Where each result is, by the lines of their instructions.
    fn lines_of_results(&self) -> Vec<Definition> {
        let module = self.program.globals.module;
        let defined =
            self.definitions.iter().filter_map(|(id, at)| Some((*id, module.instruction(*at)?.line)));
        let parameters =
            self.body.parameters.iter().filter_map(|parameter| Some((parameter.result?, parameter.line)));
        let mut definitions: Vec<Definition> = defined
            .chain(parameters)
            .filter_map(|(id, line)| {
                let Value { ty, operand } = self.values.get(&id).copied().flatten()?;
                Some(Definition { line, operand, count: self.types().components(ty, line).ok()? })
            })
            .collect();
        definitions.sort_unstable_by_key(|definition| definition.line);
        definitions
    }

    /// Puts the addresses of variables before the entry block's code.
    fn prepend_prologue(&mut self, blocks: &mut [Block]) {
        let added = self.prologue.len() as u32;
        for block in blocks.iter_mut().skip(1) {
            block.start += added;
        }
        let code = std::mem::take(&mut self.code);
        self.code = std::mem::take(&mut self.prologue).into_iter().chain(code).collect();
    }
}

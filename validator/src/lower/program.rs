//! The program under construction: what its functions share.

use std::collections::{BTreeSet, HashMap};

use super::decorations::{memory_decorations, Decoration};
use super::error::{Problem, Problems};
use super::globals::Globals;
use super::layout::ShapeTable;
use super::physical::Pointees;
use super::types::{BlockKind, Type};
use super::values::Value;
use super::variables;
use crate::event::StorageClass;
use crate::ir::{Function, FunctionId, Line, MemoryModel, MemoryOp, Op, PointerMember, ShapeId, Variable};
use crate::value::Scalar;

/// What lowering has gathered so far.
#[derive(Debug)]
pub(super) struct ProgramBuilder<'m> {
    pub globals: Globals<'m>,
    pub memory_model: MemoryModel,
    pub shapes: ShapeTable,
    pub problems: Problems,
    pub harvested: BTreeSet<u32>,
    pub pointees: Pointees,
    /// Integers that become physical pointers, by the variable that holds them.
    pub addresses: HashMap<u32, Vec<PointerMember>>,
    /// Output variables of a vertex or fragment entry point, by id.
    pub outputs: Vec<u32>,
    /// Number and shape of the mark that a fragment was discarded.
    discard_mark: Option<(u32, ShapeId)>,
    /// Numbers of the variables in use, by id, in order of first use.
    numbers: HashMap<u32, u32>,
    /// The variables in use with the places of their declarations.
    variables: Vec<(usize, Variable)>,
    /// Ids of the functions in use, in order of first use.
    functions: Vec<u32>,
    /// Some array of descriptors is indexed by what is no constant.
    pub indexes_descriptors: bool,
    /// Number of pointer parameters so far.
    pointer_parameters: u32,
}

impl<'m> ProgramBuilder<'m> {
    pub fn new(globals: Globals<'m>, memory_model: MemoryModel, problems: Problems) -> Self {
        ProgramBuilder {
            globals,
            memory_model,
            shapes: ShapeTable::default(),
            problems,
            harvested: BTreeSet::new(),
            pointees: Pointees::default(),
            addresses: HashMap::new(),
            outputs: Vec::new(),
            discard_mark: None,
            numbers: HashMap::new(),
            variables: Vec::new(),
            functions: Vec::new(),
            indexes_descriptors: false,
            pointer_parameters: 0,
        }
    }

    /// The number of a module-scope variable, provisional until [`Self::settle`].
    pub fn variable(&mut self, id: u32, at: usize) -> Result<u32, Problem> {
        if let Some(&number) = self.numbers.get(&id) {
            return Ok(number);
        }
        let variable = variables::lower(&self.globals, &mut self.shapes, &mut self.pointees, id, at)?;
        let number = self.variables.len() as u32;
        self.variables.push((at, variable));
        self.numbers.insert(id, number);
        Ok(number)
    }

    /// Takes up the Output variables of a vertex or fragment entry point, used or not: what it leaves
    /// unwritten is part of the outcome, too.
    pub fn find_outputs(&mut self, interface: &[u32]) {
        if !self.globals.graphics {
            return;
        }
        for &id in interface {
            let Some(at) = self.globals.variable(id) else { continue };
            let declared = self.globals.module.instruction(at);
            let ty = declared.and_then(|declared| declared.result_type).unwrap_or(0);
            if self.globals.types.pointer_class(ty) == Some(StorageClass::Output) {
                let known = self.variable(id, at);
                self.problems.keep(known);
                self.outputs.push(id);
            }
        }
    }

    /// The variable that says whether a fragment was discarded.
    pub fn discard_mark(&mut self, line: Line) -> Result<(u32, ShapeId), Problem> {
        if let Some(known) = self.discard_mark {
            return Ok(known);
        }
        let shape = self.shapes.word();
        let initializer = self.globals.constants.scalar(Scalar::new(0), line)?;
        let number = self.variables.len() as u32;
        self.variables.push((usize::MAX, variables::discard_mark(shape, initializer, line)));
        self.discard_mark = Some((number, shape));
        Ok((number, shape))
    }

    /// The number of a function, which will be lowered if it was not yet in use.
    pub fn function(&mut self, id: u32) -> FunctionId {
        let known = self.functions.iter().position(|&known| known == id);
        let number = known.unwrap_or_else(|| {
            self.functions.push(id);
            self.functions.len() - 1
        });
        FunctionId(number as u32)
    }

    /// The id of the function with this number.
    pub fn function_id(&self, number: usize) -> Option<u32> {
        self.functions.get(number).copied()
    }

    /// A new memory object declaration: a pointer parameter.
    pub fn declare_parameter(&mut self) -> u32 {
        self.pointer_parameters += 1;
        self.pointer_parameters - 1
    }

    /// Notes an integer constant that the program uses.
    pub fn harvest(&mut self, value: Value, line: Line) {
        /// Larger composites are tables, whose entries make poor inputs.
        const MAX_HARVESTED: usize = 16;
        let Globals { constants, types, .. } = &self.globals;
        let width = match types.lanes(value.ty, line) {
            Ok(lanes) if lanes.kind == super::types::Kind::Int => lanes.width,
            Ok(_) | Err(_) => return,
        };
        let components = constants.components(value, types, line).unwrap_or(&[]);
        for scalar in components.iter().take(MAX_HARVESTED).filter(|scalar| scalar.is_defined()) {
            self.harvested.extend(input_words(scalar.bits, width));
        }
    }

    /// Puts the variables into module order, and numbers declarations for good.
    pub fn settle(&mut self, functions: &mut [Function]) -> Vec<Variable> {
        let mut order: Vec<usize> = (0..self.variables.len()).collect();
        order.sort_by_key(|&number| self.variables.get(number).map(|(at, _)| *at));
        let mut settled = vec![0; order.len()];
        for (place, &number) in order.iter().enumerate() {
            if let Some(slot) = settled.get_mut(number) {
                *slot = place as u32;
            }
        }
        for function in functions {
            for inst in &mut function.code {
                if let Op::Memory(MemoryOp::Variable { variable, .. }) = &mut inst.op {
                    *variable = settled.get(*variable as usize).copied().unwrap_or(*variable);
                }
            }
            for declaration in function.parameters.iter_mut().filter_map(|one| one.declaration.as_mut()) {
                *declaration += settled.len() as u32;
            }
        }
        self.variables.sort_by_key(|(at, _)| *at);
        let mut variables: Vec<Variable> =
            std::mem::take(&mut self.variables).into_iter().map(|(_, variable)| variable).collect();
        for variable in &mut variables {
            for member in self.addresses.remove(&variable.id).unwrap_or_default() {
                let known = variable.pointers.iter().any(|known| known.offset == member.offset);
                if !known {
                    variable.pointers.push(member);
                }
            }
        }
        variables
    }
}

/// The 32-bit words that make memory hold an integer: a narrow one at every place of the word, a
/// wide one in halves.
pub(super) fn input_words(bits: u64, width: u8) -> impl Iterator<Item = u32> {
    let low = bits as u32;
    let (first, second) = match width {
        8 => (low.wrapping_mul(0x0101_0101), None),
        16 => (low.wrapping_mul(0x0001_0001), None),
        64 => (low, Some((bits >> 32) as u32)),
        _ => (low, None),
    };
    std::iter::once(first).chain(second)
}

/// What a variable's pointee is in terms of descriptors: the type of one object, and the number of
/// objects for an array of descriptors; that of a runtime array is the launch's.
pub(super) fn descriptor_array(
    globals: &Globals,
    pointee: u32,
    line: Line,
) -> Result<Option<(u32, u32)>, Problem> {
    let (element, length) = match globals.types.get(pointee, line)? {
        Type::Array { element, length, .. } => (*element, *length),
        Type::RuntimeArray { element, .. } => (*element, globals.runtime_descriptors),
        _ => return Ok(None),
    };
    Ok(match globals.types.get(element, line)? {
        Type::Struct { block: BlockKind::Block | BlockKind::BufferBlock, .. }
        | Type::AccelerationStructure
        | Type::Image(_)
        | Type::Sampler
        | Type::SampledImage(_) => Some((element, length)),
        _ => None,
    })
}

/// The memory decorations of an id.
pub(super) fn decorations_of(globals: &Globals, id: u32) -> crate::ir::Decorations {
    memory_decorations(globals.decorations.of(id))
}

/// The literal of a decoration of an id.
pub(super) fn decoration_literal(
    globals: &Globals,
    id: u32,
    pick: impl Fn(Decoration) -> Option<u32>,
) -> Option<u32> {
    globals.decorations.find(id, |&decoration| pick(decoration))
}

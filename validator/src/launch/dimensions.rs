//! In which dimensions a program tells workgroups apart (docs/semantics.md, section 1.7).
//!
//! This is a static survey of what the entry point reaches, for the default number of workgroups. It follows the
//! components of WorkgroupId, NumWorkgroups and GlobalInvocationId through vectors, own variables and calls, whatever
//! the path is. A component counts as read where it is loaded or extracted alone, or used in a computation with one
//! result. Where a whole vector goes where the survey does not follow it, the dimensions count in which a workgroup
//! extends, and x.

use std::collections::{BTreeMap, BTreeSet};

use crate::event::StorageClass;
use crate::ir::{
    BuiltIn, Chain, CompositeOp, ControlOp, FunctionId, Leaf, MemoryOp, Op, Operand, Program, ShapeId,
};

/// Dimensions, as bits: x is 1, y is 2, z is 4.
type Mask = u8;

const X: Mask = 1;
const ALL: Mask = 7;

/// Most registers of a value that is followed.
const VECTOR: u32 = 4;

/// In which of x, y and z the program tells workgroups apart.
pub fn dimensions(program: &Program) -> [bool; 3] {
    let mut survey = Survey::new(program);
    while survey.changed {
        survey.changed = false;
        for function in survey.reached.clone() {
            survey.function(function);
        }
    }
    let extends =
        (0..3).filter(|&axis| program.entry.local_size[axis] > 1).fold(X, |mask, axis| mask | 1 << axis);
    let read = survey.read | survey.escaped & extends;
    std::array::from_fn(|axis| read >> axis & 1 != 0)
}

/// Memory that no other invocation accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Cell {
    Variable(u32),
    Local(FunctionId, u32),
}

/// Where a pointer leads: the bytes from the start of the cell are `None` where they are not constant.
type Target = (Cell, Option<u32>);

struct Survey<'p> {
    program: &'p Program,
    reached: BTreeSet<FunctionId>,
    /// What is in registers, and at offsets of cells.
    registers: BTreeMap<(FunctionId, u32), Mask>,
    pointers: BTreeMap<(FunctionId, u32), BTreeSet<Target>>,
    cells: BTreeMap<(Cell, u32), Mask>,
    /// What is read component by component.
    read: Mask,
    /// What goes where the survey does not follow it.
    escaped: Mask,
    changed: bool,
}

impl<'p> Survey<'p> {
    fn new(program: &'p Program) -> Self {
        let mut cells = BTreeMap::new();
        for (index, variable) in (0..).zip(&program.variables) {
            let tells = matches!(
                variable.built_in,
                Some(BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups | BuiltIn::GlobalInvocationId)
            );
            if tells && variable.class == StorageClass::Input {
                cells.extend((0..3).map(|axis| ((Cell::Variable(index), 4 * axis), 1 << axis)));
            }
        }
        Survey {
            program,
            reached: BTreeSet::from([program.entry.function]),
            registers: BTreeMap::new(),
            pointers: BTreeMap::new(),
            changed: !cells.is_empty(),
            cells,
            read: 0,
            escaped: 0,
        }
    }

    fn function(&mut self, id: FunctionId) {
        let program = self.program;
        let Some(function) = program.functions.get(id.0 as usize) else { return };
        for (index, local) in (0..).zip(&function.locals) {
            self.point((id, local.register), (Cell::Local(id, index), Some(0)));
        }
        for inst in &function.code {
            self.instruction(id, &inst.op);
            for &(register, operand, count) in inst.op.edges().into_iter().flat_map(|edge| &edge.moves) {
                self.copy((id, register), (id, operand), count);
            }
            if let Some(callee) = inst.op.callee() {
                self.changed |= self.reached.insert(callee);
            }
        }
    }

    fn instruction(&mut self, id: FunctionId, op: &Op) {
        match op {
            Op::Memory(op) => self.memory(id, op),
            Op::Copy { dst, a, count } => self.copy((id, *dst), (id, *a), *count),
            Op::Unary { count, dst, a, .. } | Op::Convert { count, dst, a, .. } => {
                self.component_wise(id, *dst, &[*a], *count);
            }
            Op::Binary { count, dst, a, b, .. } => self.component_wise(id, *dst, &[*a, *b], *count),
            Op::Select { dst, a, b, count, .. } => self.component_wise(id, *dst, &[*a, *b], *count),
            Op::Any { a, count, .. } | Op::All { a, count, .. } => self.read_all(id, *a, *count),
            Op::Composite(op) => self.composite(id, op),
            Op::Control(ControlOp::Call { function, arguments, .. }) => self.call(id, *function, arguments),
            _ => op.visit_operands(&mut |operand| self.escape(id, operand)),
        }
    }

    fn memory(&mut self, id: FunctionId, op: &MemoryOp) {
        match op {
            MemoryOp::Variable { dst, variable } => {
                let is_own = self.program.variables.get(*variable as usize).is_some_and(|variable| {
                    matches!(variable.class, StorageClass::Input | StorageClass::Private)
                });
                if is_own {
                    self.point((id, *dst), (Cell::Variable(*variable), Some(0)));
                }
            }
            MemoryOp::Chain(chain) => self.chain(id, chain),
            MemoryOp::Load { dst, pointer, shape, .. } => self.load(id, *dst, *pointer, *shape),
            MemoryOp::Store { pointer, object, shape, .. } => {
                let components =
                    (0..).zip(self.leaves(*shape)).map(|(number, _)| self.mask(id, object.offset(number)));
                self.write(id, *pointer, *shape, components.collect());
            }
            MemoryOp::Copy { source, source_shape, target, target_shape, .. } => {
                let components = self.loaded(id, *source, *source_shape);
                self.write(id, *target, *target_shape, components);
            }
            MemoryOp::Uniform { .. } | MemoryOp::ArrayLength { .. } | MemoryOp::Difference { .. } => {}
        }
    }

    fn chain(&mut self, id: FunctionId, chain: &Chain) {
        for (cell, offset) in self.targets(id, chain.base) {
            let offset =
                offset.filter(|_| chain.indices.is_empty()).map(|offset| offset.saturating_add(chain.offset));
            self.point((id, chain.dst), (cell, offset));
        }
        for index in &chain.indices {
            self.read |= self.mask(id, index.index);
        }
    }

    fn load(&mut self, id: FunctionId, dst: u32, pointer: Operand, shape: ShapeId) {
        let components = self.loaded(id, pointer, shape);
        match components[..] {
            [one] => self.read |= one,
            _ => {
                for (register, mask) in (dst..).zip(components) {
                    self.hold((id, register), mask);
                }
            }
        }
    }

    /// What an access of this shape loads, component by component.
    fn loaded(&self, id: FunctionId, pointer: Operand, shape: ShapeId) -> Vec<Mask> {
        let targets = self.targets(id, pointer);
        let of = |leaf: u32| {
            targets.iter().fold(0, |all, (cell, offset)| match offset {
                Some(offset) => {
                    all | self.cells.get(&(*cell, offset.saturating_add(leaf))).copied().unwrap_or(0)
                }
                None => {
                    self.cells.range((*cell, 0)..=(*cell, u32::MAX)).fold(all, |all, (_, mask)| all | mask)
                }
            })
        };
        self.leaves(shape).iter().map(|leaf| of(leaf.offset)).collect()
    }

    /// Writes components of a value in this shape.
    fn write(&mut self, id: FunctionId, pointer: Operand, shape: ShapeId, components: Vec<Mask>) {
        let targets = self.targets(id, pointer);
        for (leaf, mask) in self.leaves(shape).iter().zip(components).filter(|(_, mask)| *mask != 0) {
            if targets.is_empty() {
                self.escaped |= mask;
            }
            for (cell, offset) in &targets {
                let Some(offset) = offset else {
                    self.escaped |= mask;
                    continue;
                };
                let held = self.cells.entry((*cell, offset.saturating_add(leaf.offset))).or_default();
                self.changed |= *held | mask != *held;
                *held |= mask;
            }
        }
    }

    fn leaves(&self, shape: ShapeId) -> &'p [Leaf] {
        let program = self.program;
        program.shapes.get(shape.0 as usize).map_or(&[], |shape| &shape.leaves)
    }

    fn composite(&mut self, id: FunctionId, op: &CompositeOp) {
        match op {
            CompositeOp::Construct { dst, parts } => {
                let mut register = *dst;
                for &(part, count) in parts {
                    self.copy((id, register), (id, part), count);
                    register += count;
                }
            }
            CompositeOp::Extract { dst, a, start, count } => {
                let from = a.offset(*start);
                match count {
                    1 => self.read |= self.mask(id, from),
                    _ => self.copy((id, *dst), (id, from), *count),
                }
            }
            CompositeOp::Insert { dst, a, total, object, start, count } => {
                self.copy((id, *dst), (id, *a), *total);
                self.copy((id, *dst + start), (id, *object), *count);
            }
            CompositeOp::Shuffle { dst, components, .. } => {
                for (register, component) in (*dst..).zip(components) {
                    if let Some(component) = component {
                        self.copy((id, register), (id, *component), 1);
                    }
                }
            }
            CompositeOp::ExtractDynamic { a, count, .. } => {
                self.read_all(id, *a, *count);
            }
            CompositeOp::InsertDynamic { dst, a, count, .. } => self.copy((id, *dst), (id, *a), *count),
        }
    }

    fn read_all(&mut self, id: FunctionId, a: Operand, count: u32) {
        self.read |= (0..count).fold(0, |all, number| all | self.mask(id, a.offset(number)));
    }

    fn component_wise(&mut self, id: FunctionId, dst: u32, operands: &[Operand], count: u32) {
        for &operand in operands {
            match count {
                1 => self.read |= self.mask(id, operand),
                _ => self.copy((id, dst), (id, operand), count),
            }
        }
    }

    fn call(&mut self, id: FunctionId, callee: FunctionId, arguments: &[Operand]) {
        let program = self.program;
        let Some(function) = program.functions.get(callee.0 as usize) else { return };
        for (parameter, argument) in function.parameters.iter().zip(arguments) {
            self.copy((callee, parameter.register), (id, *argument), parameter.count);
        }
    }

    /// An operation that the survey does not follow uses a value that begins here.
    fn escape(&mut self, id: FunctionId, operand: Operand) {
        for number in 0..VECTOR {
            match self.mask(id, operand.offset(number)) {
                0 => break,
                mask => self.escaped |= mask,
            }
        }
        for (cell, _) in self.targets(id, operand) {
            let held = self.cells.range((cell, 0)..=(cell, u32::MAX));
            self.escaped |= held.fold(0, |all, (_, mask)| all | mask);
        }
    }

    /// Values and pointers alike.
    fn copy(
        &mut self,
        (to, register): (FunctionId, u32),
        (from, operand): (FunctionId, Operand),
        count: u32,
    ) {
        for number in 0..count {
            let mask = self.mask(from, operand.offset(number));
            self.hold((to, register + number), mask);
        }
        for target in self.targets(from, operand) {
            self.point((to, register), target);
        }
    }

    fn mask(&self, id: FunctionId, operand: Operand) -> Mask {
        match operand.is_constant() {
            true => 0,
            false => self.registers.get(&(id, operand.index())).copied().unwrap_or(0),
        }
    }

    fn targets(&self, id: FunctionId, operand: Operand) -> BTreeSet<Target> {
        match operand.is_constant() {
            true => BTreeSet::new(),
            false => self.pointers.get(&(id, operand.index())).cloned().unwrap_or_default(),
        }
    }

    fn hold(&mut self, at: (FunctionId, u32), mask: Mask) {
        if mask != 0 {
            let held = self.registers.entry(at).or_default();
            self.changed |= *held | mask != *held;
            *held |= mask & ALL;
        }
    }

    fn point(&mut self, at: (FunctionId, u32), target: Target) {
        self.changed |= self.pointers.entry(at).or_default().insert(target);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{self, LowerOptions};
    use crate::module::{Module, ReadOptions};

    /// An entry point with `body`, where %zero, %one and %two are numbers, and a function that returns the y of what
    /// it is given by pointer.
    fn found(local_size: &str, built_in: &str, body: &str) -> [bool; 3] {
        let text = format!(
            "OpCapability Shader
%glsl = OpExtInstImport \"GLSL.std.450\"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %id
OpExecutionMode %main LocalSize {local_size}
OpDecorate %id BuiltIn {built_in}
OpDecorate %words ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
%void = OpTypeVoid
%nothing = OpTypeFunction %void
%bool = OpTypeBool
%bool3 = OpTypeVector %bool 3
%uint = OpTypeInt 32 0
%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%words = OpTypeRuntimeArray %uint
%block = OpTypeStruct %words
%p_block = OpTypePointer StorageBuffer %block
%p_word = OpTypePointer StorageBuffer %uint
%p_input = OpTypePointer Input %uint3
%p_component = OpTypePointer Input %uint
%p_local = OpTypePointer Function %uint3
%p_part = OpTypePointer Function %uint
%of_pointer = OpTypeFunction %uint %p_local
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%two = OpConstant %uint 2
%ones = OpConstantComposite %uint3 %one %one %one
%id = OpVariable %p_input Input
%buffer = OpVariable %p_block StorageBuffer
%main = OpFunction %void None %nothing
%entry = OpLabel
%local = OpVariable %p_local Function
{body}
OpReturn
OpFunctionEnd
%second = OpFunction %uint None %of_pointer
%given = OpFunctionParameter %p_local
%start = OpLabel
%given_y = OpAccessChain %p_part %given %one
%y_of_it = OpLoad %uint %given_y
OpReturnValue %y_of_it
OpFunctionEnd
"
        );
        let module = Module::from_text(&text, "module", &ReadOptions::default()).unwrap();
        dimensions(&lower::lower(&module, &LowerOptions::default()).unwrap())
    }

    const WHOLE: &str = "%whole = OpLoad %uint3 %id\n";
    const NONE: [bool; 3] = [false; 3];

    #[test]
    fn a_component_is_told_from_the_others() {
        let one = |component: &str| {
            let body = format!("%c = OpAccessChain %p_component %id {component}\n%i = OpLoad %uint %c");
            found("1 1 1", "WorkgroupId", &body)
        };
        assert_eq!(one("%zero"), [true, false, false]);
        assert_eq!(one("%one"), [false, true, false]);
        assert_eq!(one("%two"), [false, false, true]);
        let extracts = |built_in, rest: &str| found("1 1 1", built_in, &format!("{WHOLE}{rest}"));
        let both = "%x = OpCompositeExtract %uint %whole 0\n%y = OpCompositeExtract %uint %whole 1";
        for built_in in ["WorkgroupId", "NumWorkgroups", "GlobalInvocationId"] {
            assert_eq!(extracts(built_in, both), [true, true, false], "{built_in}");
        }
        assert_eq!(extracts("LocalInvocationId", both), NONE);
    }

    #[test]
    fn what_is_not_read_does_not_count() {
        assert_eq!(found("8 8 1", "WorkgroupId", ""), NONE);
        assert_eq!(found("8 8 1", "WorkgroupId", WHOLE), NONE);
    }

    #[test]
    fn components_are_followed_through_vectors() {
        let body = format!(
            "{WHOLE}%sum = OpIAdd %uint3 %whole %ones
%swapped = OpVectorShuffle %uint2 %sum %sum 2 1
%z = OpCompositeExtract %uint %swapped 0"
        );
        assert_eq!(found("1 1 1", "WorkgroupId", &body), [false, false, true]);
        let body = format!("{WHOLE}%same = OpIEqual %bool3 %whole %ones\n%all = OpAll %bool %same");
        assert_eq!(found("1 1 1", "WorkgroupId", &body), [true; 3]);
    }

    #[test]
    fn components_are_followed_through_variables_and_calls() {
        let body = format!(
            "{WHOLE}OpStore %local %whole
%part = OpAccessChain %p_part %local %two
%z = OpLoad %uint %part"
        );
        assert_eq!(found("1 1 1", "WorkgroupId", &body), [false, false, true]);
        let body = format!("{WHOLE}OpStore %local %whole\n%y = OpFunctionCall %uint %second %local");
        assert_eq!(found("1 1 1", "WorkgroupId", &body), [false, true, false]);
        let body = "OpCopyMemory %local %id\n%y = OpFunctionCall %uint %second %local";
        assert_eq!(found("1 1 1", "WorkgroupId", body), [false, true, false]);
    }

    #[test]
    fn an_unknown_index_reads_all_and_a_vector_that_escapes_those_in_which_the_workgroup_extends() {
        let body = "%any = OpArrayLength %uint %buffer 0
%c = OpAccessChain %p_component %id %any
%i = OpLoad %uint %c";
        assert_eq!(found("1 1 1", "WorkgroupId", body), [true; 3]);
        let body = format!("{WHOLE}%least = OpExtInst %uint3 %glsl UMin %whole %ones");
        let escapes = |size| found(size, "WorkgroupId", &body);
        assert_eq!(escapes("8 1 1"), [true, false, false]);
        assert_eq!(escapes("4 4 1"), [true, true, false]);
    }
}

//! Tests of the interpreter on programs built by hand.

mod atomics;
mod coherence;
mod composites;
mod control;
mod copies;
mod countdowns;
mod encoded;
mod exits;
mod float_formats;
mod floats;
mod glsl;
mod inexact;
mod integer_dots;
mod integers;
mod loops;
mod memory;
mod otherwise;
mod physical;
mod shades;

use super::*;
use crate::dispatch::{Dispatch, Object, Place};
use crate::event::{ClassSet, Order, Semantics, StorageClass, UndefinedKind};
use crate::ir::*;
use crate::value::Scalar;

/// Builds a program with one function at first, whose blocks are added in order.
pub(super) struct Builder {
    pub(super) program: Program,
    pub(super) dispatch: Dispatch,
}

impl Builder {
    /// An entry point with this many registers, in the Vulkan memory model.
    pub(super) fn new(registers: u32) -> Self {
        let entry = Entry {
            name: "main".to_owned(),
            function: FunctionId(0),
            execution_model: 5,
            local_size: [2, 1, 1],
            local_size_specialised: false,
            local_size_spec_ids: [None; 3],
            line: 1,
        };
        let program = Program {
            memory_model: MemoryModel::Vulkan,
            entry,
            variables: Vec::new(),
            constants: Vec::new(),
            pointees: Vec::new(),
            shapes: Vec::new(),
            functions: vec![function(registers)],
            modes: Modes::default(),
            spec_constants: Vec::new(),
            harvested: Vec::new(),
        };
        let place = |index: u32| Place {
            workgroup: 0,
            subgroup: 0,
            queue_family: 0,
            workgroup_id: [5, 1, 0],
            local_id: [index, 0, 0],
            local_index: index,
            subgroup_id: 0,
            subgroup_lane: index,
        };
        let dispatch = Dispatch {
            entries: Vec::new(),
            system_synchronizes_with: Vec::new(),
            objects: Vec::new(),
            object_of: Vec::new(),
            places: vec![place(0), place(1)],
            workgroups: [7, 2, 1],
            local_size: [2, 1, 1],
            subgroup_size: 2,
            inputs: Default::default(),
            helpers: Default::default(),
            physical: Vec::new(),
            legacy_coherent: false,
            robustness: None,
            open: Default::default(),
            displaced: false,
            acceleration_structures: Vec::new(),
            coverage: Default::default(),
        };
        Builder { program, dispatch }
    }

    pub(super) fn constant(&mut self, value: Scalar) -> Operand {
        self.constants(&[value])
    }

    pub(super) fn number(&mut self, value: u64) -> Operand {
        self.constant(Scalar::new(value))
    }

    pub(super) fn constants(&mut self, values: &[Scalar]) -> Operand {
        let first = self.program.constants.len() as u32;
        self.program.constants.extend_from_slice(values);
        Operand::constant(first)
    }

    pub(super) fn shape(&mut self, leaves: &[(u32, LeafKind)]) -> ShapeId {
        let leaves: Vec<Leaf> =
            leaves.iter().map(|(offset, kind)| Leaf { offset: *offset, kind: *kind }).collect();
        let size = leaves.iter().map(|leaf| leaf.offset + leaf.kind.bytes()).max().unwrap_or(0);
        self.program.shapes.push(Shape { leaves, size });
        ShapeId(self.program.shapes.len() as u32 - 1)
    }

    pub(super) fn word_shape(&mut self) -> ShapeId {
        self.shape(&[(0, LeafKind::Number(4))])
    }

    /// A variable that the invocation owns.
    pub(super) fn own(&mut self, class: StorageClass, shape: ShapeId) -> &mut Variable {
        let number = self.program.variables.len() as u32;
        let size = self.program.shapes[shape.0 as usize].size;
        self.program.variables.push(Variable {
            id: number,
            name: None,
            type_name: None,
            class,
            binding: None,
            descriptors: None,
            built_in: None,
            resource: None,
            decorations: Decorations::default(),
            size,
            runtime_stride: None,
            shape,
            initializer: None,
            block: false,
            interface: Vec::new(),
            pointers: Vec::new(),
            constant: false,
            line: 0,
        });
        self.dispatch.object_of.push(vec![None]);
        &mut self.program.variables[number as usize]
    }

    /// A shared variable whose object has `size` bytes; objects and variables have equal numbers
    /// as long as nothing else is declared.
    pub(super) fn shared(&mut self, class: StorageClass, shape: ShapeId, size: u32) -> &mut Variable {
        let object = self.dispatch.objects.len() as u32;
        self.own(class, shape);
        if let Some(places) = self.dispatch.object_of.last_mut() {
            places[0] = Some(object);
        }
        self.object(size);
        let last = self.program.variables.len() - 1;
        &mut self.program.variables[last]
    }

    pub(super) fn object(&mut self, size: u32) {
        let object = self.dispatch.objects.len() as u32;
        self.dispatch.objects.push(Object {
            key: format!("0.{object}"),
            initial: vec![Byte::Undef; size as usize],
            observed: true,
            reference: object,
            memory: object,
            view: None,
            constant: false,
            image: None,
            sampler: None,
        });
    }

    /// Adds a block to a function; its line numbers count the function's instructions from 10.
    pub(super) fn block(&mut self, function: usize, loops: &[u32], ops: Vec<Op>) {
        let function = &mut self.program.functions[function];
        function.blocks.push(Block {
            label: 0,
            start: function.code.len() as u32,
            loops: loops.iter().map(|id| LoopId(*id)).collect(),
            construct: None,
            line: 0,
        });
        for op in ops {
            let line = 10 + function.code.len() as u32;
            function.code.push(Inst::plain(op, line));
        }
    }

    /// The entry point's only block; a return is added.
    pub(super) fn body(&mut self, mut ops: Vec<Op>) {
        ops.push(Op::Control(ControlOp::Return));
        self.block(0, &[], ops);
    }

    pub(super) fn start(&self) -> Invocation {
        Invocation::new(&self.program, &self.dispatch, 0)
    }

    pub(super) fn memory(&self, settle: bool) -> TestMemory {
        let objects = self.dispatch.objects.iter().map(|object| object.initial.clone()).collect();
        TestMemory { objects, settle }
    }

    /// Runs on to the next stop, with plenty of fuel.
    pub(super) fn run(&self, invocation: &mut Invocation, memory: &mut TestMemory) -> Stop {
        invocation.run(&self.program, &self.dispatch, memory, &mut 1_000_000)
    }

    /// Runs from the start on unsettled memory to the first stop.
    pub(super) fn first_stop(&self) -> (Invocation, Stop) {
        let mut invocation = self.start();
        let stop = self.run(&mut invocation, &mut self.memory(false));
        (invocation, stop)
    }

    /// Runs to the end, where it must finish; returns the registers of the entry point.
    pub(super) fn finish(&self) -> Vec<Scalar> {
        let (invocation, stop) = self.first_stop();
        assert!(matches!(stop, Stop::Finished), "{stop:?}");
        invocation.registers
    }

    /// Runs to the end by every way; returns one register for each, in order.
    pub(super) fn every_way(&self, register: usize) -> Vec<Scalar> {
        let mut results = Vec::new();
        let mut open = vec![self.start()];
        while let Some(mut invocation) = open.pop() {
            match self.run(&mut invocation, &mut self.memory(false)) {
                Stop::Choose { ways, .. } => {
                    for way in (0..ways).rev() {
                        let mut copy = invocation.clone();
                        copy.choose(way);
                        open.push(copy);
                    }
                }
                Stop::Finished => results.push(invocation.registers[register]),
                other => panic!("{other:?}"),
            }
        }
        results
    }
}

pub(super) fn function(registers: u32) -> Function {
    Function {
        name: None,
        id: 0,
        code: Vec::new(),
        blocks: Vec::new(),
        registers,
        parameters: Vec::new(),
        locals: Vec::new(),
        loops: Vec::new(),
        results: Default::default(),
        runs: Default::default(),
        fixed: Vec::new(),
        definitions: Vec::new(),
        line: 0,
    }
}

/// Shared memory that settles everything, or nothing.
pub(super) struct TestMemory {
    pub(super) objects: Vec<Vec<Byte>>,
    pub(super) settle: bool,
}

impl SharedMemory for TestMemory {
    fn size(&self, object: u32) -> u32 {
        self.objects[object as usize].len() as u32
    }

    fn read(&mut self, access: &Access, _: Option<&Atomicity>, out: &mut [Byte]) -> bool {
        if !self.settle {
            return false;
        }
        let object = &self.objects[access.object as usize];
        let bytes = access.ranges.iter().flat_map(|(start, length)| *start..*start + *length);
        for (slot, byte) in out.iter_mut().zip(bytes) {
            *slot = object[byte as usize];
        }
        true
    }

    fn write(&mut self, access: &Access, _: Option<&Atomicity>, bytes: &[Byte]) -> Written {
        if !self.settle {
            return Written::Event;
        }
        let mut result = Written::Unchanged;
        let object = &mut self.objects[access.object as usize];
        let places = access.ranges.iter().flat_map(|(start, length)| *start..*start + *length);
        for (byte, place) in bytes.iter().zip(places) {
            if std::mem::replace(&mut object[place as usize], *byte) != *byte {
                result = Written::Changed;
            }
        }
        result
    }
}

pub(super) fn register(index: u32) -> Operand {
    Operand::register(index)
}

pub(super) fn word(value: u32) -> Vec<Byte> {
    value.to_le_bytes().map(Byte::Known).to_vec()
}

pub(super) fn jump(target: u32) -> Edge {
    Edge { target, moves: Vec::new(), enters: Vec::new(), repeats: None }
}

pub(super) fn branch(edge: Edge) -> Op {
    Op::Control(ControlOp::Branch(edge))
}

pub(super) fn variable(dst: u32, variable: u32) -> Op {
    Op::Memory(MemoryOp::Variable { dst, variable })
}

pub(super) fn load(dst: u32, pointer: u32, class: StorageClass, shape: ShapeId) -> Op {
    let operands = MemoryOperands::default();
    Op::Memory(MemoryOp::Load { dst, pointer: register(pointer), class, shape, operands })
}

pub(super) fn store(pointer: u32, object: Operand, class: StorageClass, shape: ShapeId) -> Op {
    let operands = MemoryOperands::default();
    Op::Memory(MemoryOp::Store { pointer: register(pointer), object, class, shape, operands })
}

pub(super) fn binary(op: BinaryOp, dst: u32, a: Operand, b: Operand) -> Op {
    Op::Binary { op, width: 32, count: 1, dst, a, b }
}

pub(super) fn release(class: ClassSet) -> Semantics {
    Semantics { order: Order::Release, classes: class, ..Semantics::default() }
}

/// The kind and line of a fault.
pub(super) fn fault_of(stop: &Stop) -> Option<(UndefinedKind, Line)> {
    match stop {
        Stop::Fault(fault) => Some((fault.kind, fault.line)),
        _ => None,
    }
}

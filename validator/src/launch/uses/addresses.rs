//! What pointers may lead to.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use crate::ir::{Bound, Chain, CompositeOp, ControlOp, LeafKind, MemoryOp, Op, Operand, Program};

/// Addresses that are kept of one pointer: what it leads to beside them counts as unknown.
const MAX_ADDRESSES: usize = 8;

/// Strides of one address: indices beyond them count as 0.
const MAX_STRIDES: usize = 6;

/// Rounds over the program, in which pointers go on.
const MAX_ROUNDS: usize = 8;

/// A piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// A module-scope variable; of an array of descriptors, any element.
    Variable(u32),
    /// A Function variable: function, number.
    Local(u32, u32),
    /// What physical pointers of a type lead to.
    Pointee(u32),
}

/// Where a pointer may lead: `offset` + Σ k × stride, with k below the number of elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub object: Object,
    pub offset: u32,
    /// Stride and number of elements of each index; none where that is unknown.
    pub strides: Vec<(u32, Option<u32>)>,
}

impl Address {
    fn of(object: Object) -> Self {
        Address { object, offset: 0, strides: Vec::new() }
    }

    /// Behind a chain. A constant index adds to the offset.
    fn behind(&self, program: &Program, chain: &Chain) -> Self {
        let mut address = self.clone();
        address.offset = address.offset.wrapping_add(chain.offset);
        for index in &chain.indices {
            let count = match index.bound {
                Bound::Descriptor(_) => continue,
                Bound::Elements(count) => Some(count),
                Bound::RuntimeArray { .. } | Bound::Unbounded | Bound::Held(_) => None,
            };
            match constant(program, index.index) {
                Some(value) => {
                    address.offset = address.offset.wrapping_add((value as u32).wrapping_mul(index.stride));
                }
                None if address.strides.len() < MAX_STRIDES => address.strides.push((index.stride, count)),
                None => {}
            }
        }
        address
    }
}

/// The bits of a constant operand.
pub fn constant(program: &Program, operand: Operand) -> Option<u64> {
    if !operand.is_constant() {
        return None;
    }
    program.constants.get(operand.index() as usize).map(|scalar| scalar.bits)
}

/// What the pointers of a program may lead to, by function and first register.
#[derive(Debug, Default)]
pub struct Pointers {
    known: HashMap<(u32, u32), Vec<Address>, FxBuildHasher>,
}

impl Pointers {
    /// Follows all pointers.
    pub fn of(program: &Program) -> Self {
        let mut pointers = Pointers::default();
        for (number, function) in (0..).zip(&program.functions) {
            for (local, one) in (0..).zip(&function.locals) {
                pointers.add((number, one.register), [Address::of(Object::Local(number, local))]);
            }
        }
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            for (number, function) in (0..).zip(&program.functions) {
                for inst in &function.code {
                    changed |= pointers.follow(program, number, &inst.op);
                }
            }
            if !changed {
                break;
            }
        }
        pointers
    }

    /// What an operand of a function may lead to.
    pub fn at(&self, function: u32, operand: Operand) -> &[Address] {
        if operand.is_constant() {
            return &[];
        }
        self.known.get(&(function, operand.index())).map_or(&[], |known| known.as_slice())
    }

    fn add(&mut self, pointer: (u32, u32), addresses: impl IntoIterator<Item = Address>) -> bool {
        let known = self.known.entry(pointer).or_default();
        let before = known.len();
        for address in addresses {
            if known.len() < MAX_ADDRESSES && !known.contains(&address) {
                known.push(address);
            }
        }
        known.len() != before
    }

    fn copy(&mut self, function: u32, from: Operand, to: u32) -> bool {
        let addresses = self.at(function, from).to_vec();
        !addresses.is_empty() && self.add((function, to), addresses)
    }

    /// What one operation adds; true where it is new.
    fn follow(&mut self, program: &Program, function: u32, op: &Op) -> bool {
        match op {
            Op::Memory(MemoryOp::Variable { dst, variable }) => {
                self.add((function, *dst), [Address::of(Object::Variable(*variable))])
            }
            Op::Memory(MemoryOp::Chain(chain)) => {
                let bases = self.at(function, chain.base);
                let behind: Vec<Address> = bases.iter().map(|base| base.behind(program, chain)).collect();
                !behind.is_empty() && self.add((function, chain.dst), behind)
            }
            Op::Memory(MemoryOp::Load { dst, pointer, shape, .. }) => {
                let shape = program.shapes.get(shape.0 as usize);
                let mut changed = false;
                for (component, leaf) in (0..).zip(shape.into_iter().flat_map(|shape| &shape.leaves)) {
                    if leaf.kind == LeafKind::PointerHalf {
                        let led = self.led_to(program, function, *pointer, leaf.offset);
                        changed |= self.add((function, dst + component), led);
                    }
                }
                changed
            }
            Op::Copy { dst, a, count } => {
                let mut changed = false;
                for component in 0..*count {
                    changed |= self.copy(function, a.offset(component), dst + component);
                }
                changed
            }
            Op::Composite(CompositeOp::Extract { dst, a, start, count }) => {
                let mut changed = false;
                for component in 0..*count {
                    changed |= self.copy(function, a.offset(start + component), dst + component);
                }
                changed
            }
            Op::Select { dst, a, b, .. } => self.copy(function, *a, *dst) | self.copy(function, *b, *dst),
            Op::Control(ControlOp::Call { function: callee, arguments, .. }) => {
                let parameters =
                    program.functions.get(callee.0 as usize).map(|callee| callee.parameters.clone());
                let mut changed = false;
                for (parameter, argument) in parameters.into_iter().flatten().zip(arguments) {
                    let addresses = self.at(function, *argument).to_vec();
                    changed |= !addresses.is_empty() && self.add((callee.0, parameter.register), addresses);
                }
                changed
            }
            // Results of other operations are no pointers that are followed; φs are moves of edges.
            _ => {
                let mut changed = false;
                for edge in op.edges() {
                    for (to, from, _) in &edge.moves {
                        changed |= self.copy(function, *from, *to);
                    }
                }
                changed
            }
        }
    }

    /// Where the physical pointers lead that lie `offset` bytes behind a pointer.
    fn led_to(&self, program: &Program, function: u32, pointer: Operand, offset: u32) -> Vec<Address> {
        let mut led = Vec::new();
        for address in self.at(function, pointer) {
            let held = match address.object {
                Object::Variable(number) => {
                    program.variables.get(number as usize).map(|variable| &variable.pointers)
                }
                Object::Pointee(number) => {
                    program.pointees.get(number as usize).map(|pointee| &pointee.pointers)
                }
                Object::Local(..) => None,
            };
            let at = address.offset.wrapping_add(offset);
            for member in held.into_iter().flatten() {
                let repeats = member.stride.filter(|stride| *stride != 0 && at >= member.offset);
                let is_there = match repeats {
                    Some(stride) => (at - member.offset) % stride == 0,
                    None => at == member.offset,
                };
                if is_there {
                    led.push(Address::of(Object::Pointee(member.pointee)));
                }
            }
        }
        led
    }
}

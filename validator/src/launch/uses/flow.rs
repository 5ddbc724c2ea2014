//! The flow of values of a program, and what its instructions use them as.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxBuildHasher;

use super::addresses::{constant, Address, Object, Pointers};
use super::graph::{Graph, Node, Step};
use super::ranges::{self, Ranges};
use super::{folded, roles, Role, Usage};
use crate::ir::{
    AtomicKind, AtomicOp, BuiltIn, CompositeOp, ControlOp, FunctionId, LeafKind, MatrixOp, MemoryOp, Op,
    Operand, Program, ShapeId, SubgroupKind,
};

/// Places that one access with indices may touch, at most: those beyond them count as untouched.
const MAX_PLACES: usize = 1 << 10;

/// Different steps of counters that are told apart.
const MAX_STEP_SIZES: usize = 4;

/// Steps in which a counter has to come back to itself.
const MAX_STEPS: usize = 64;

/// Every place of memory that is accessed, with the uses of the values there.
pub fn places(program: &Program) -> BTreeMap<Object, BTreeMap<u32, Usage>> {
    let mut flow = Flow::new(program);
    for (number, function) in (0..).zip(&program.functions) {
        for inst in &function.code {
            flow.instruction(number, &inst.op);
        }
    }
    flow.sizes();
    let filled = flow.places.iter().filter(|((object, _), _)| ranges::is_filled(program, *object));
    let filled: Vec<(Node, u8)> = filled.map(|(_, filled)| *filled).collect();
    std::mem::take(&mut flow.ranges).settle(&mut flow.graph, filled.into_iter());
    flow.graph.propagate();
    let mut found: BTreeMap<Object, BTreeMap<u32, Usage>> = BTreeMap::new();
    for ((object, offset), (node, width)) in std::mem::take(&mut flow.places) {
        let usage = flow.graph.usage(node).clone().with_width(width);
        if !usage.is_unknown() {
            found.entry(object).or_default().insert(offset, usage);
        }
    }
    found
}

/// Builds the graph.
pub struct Flow<'p> {
    pub program: &'p Program,
    pub graph: Graph,
    pub ranges: Ranges,
    pointers: Pointers,
    /// The first node of each function's registers.
    registers: Vec<Node>,
    /// Node and bytes of each place.
    places: HashMap<(Object, u32), (Node, u8), FxBuildHasher>,
    /// Nodes of accesses that were seen, by address and offset from there.
    accessed: HashMap<(Address, u32), Node, FxBuildHasher>,
    /// Where results of each function go: caller, first register.
    callers: Vec<Vec<(u32, u32)>>,
    /// Results of additions, with what is added to by how much: counters, if one leads to the other.
    steps: Vec<(Node, Node, Option<u32>)>,
    /// Integers that are compared with each other.
    compared: Vec<[Node; 2]>,
}

impl<'p> Flow<'p> {
    fn new(program: &'p Program) -> Self {
        let mut graph = Graph::default();
        let registers = program.functions.iter().map(|function| graph.nodes(function.registers)).collect();
        let mut callers = vec![Vec::new(); program.functions.len()];
        for (number, function) in (0..).zip(&program.functions) {
            for inst in &function.code {
                if let Op::Control(ControlOp::Call { function: callee, dst, .. }) = &inst.op {
                    if let Some(callers) = callers.get_mut(callee.0 as usize) {
                        callers.push((number, *dst));
                    }
                }
            }
        }
        Flow {
            program,
            graph,
            ranges: Ranges::default(),
            pointers: Pointers::of(program),
            registers,
            places: HashMap::default(),
            accessed: HashMap::default(),
            callers,
            steps: Vec::new(),
            compared: Vec::new(),
        }
    }

    /// The node of an operand; none of a constant.
    pub fn node(&self, function: u32, operand: Operand) -> Option<Node> {
        let first = self.registers.get(function as usize)?;
        (!operand.is_constant()).then(|| first.saturating_add(operand.index()))
    }

    /// `count` components are used as something.
    pub fn role(&mut self, function: u32, operand: Operand, count: u32, role: Role) {
        for component in 0..count {
            if let Some(node) = self.node(function, operand.offset(component)) {
                self.graph.usage(node).set(role);
            }
        }
    }

    /// An operand is an index.
    pub fn index(&mut self, function: u32, operand: Operand, limit: Option<u32>) {
        match (self.node(function, operand), limit) {
            (Some(node), Some(limit)) => self.ranges.index(node, limit),
            (Some(node), None) => self.graph.usage(node).set_index(None),
            (None, _) => {}
        }
    }

    /// `count` components go from an operand to registers.
    pub fn flow(&mut self, function: u32, from: Operand, to: u32, count: u32, step: Step) {
        for component in 0..count {
            let target = self.node(function, Operand::register(to.saturating_add(component)));
            if let (Some(from), Some(to)) = (self.node(function, from.offset(component)), target) {
                self.graph.flows(from, to, step);
            }
        }
    }

    /// Two operands are compared.
    pub fn compare(&mut self, function: u32, operands: [Operand; 2], count: u32) {
        for component in 0..count {
            let [a, b] = operands.map(|operand| operand.offset(component));
            match (self.node(function, a), self.node(function, b)) {
                (Some(a), Some(b)) => self.compared.push([a, b]),
                (Some(node), None) => self.compare_constant(node, constant(self.program, b)),
                (None, Some(node)) => self.compare_constant(node, constant(self.program, a)),
                (None, None) => {}
            }
        }
    }

    fn compare_constant(&mut self, node: Node, value: Option<u64>) {
        if let Some(value) = value {
            self.graph.usage(node).compare(value);
        }
    }

    /// `b` is added to `a`, or subtracted.
    pub fn step(&mut self, function: u32, [a, b]: [Operand; 2], dst: u32) {
        let dst = self.node(function, Operand::register(dst));
        if let (Some(from), Some(dst)) = (self.node(function, a), dst) {
            let by = constant(self.program, b).map(|by| (by as u32 as i32).unsigned_abs());
            self.steps.push((dst, from, by));
        }
    }

    /// The node of what is at `offset` bytes behind a pointer; places that it may be become one.
    fn place(&mut self, function: u32, pointer: Operand, offset: u32, width: u8) -> Option<Node> {
        let mut found: Option<Node> = None;
        for address in self.pointers.at(function, pointer).to_vec() {
            let node = self.accessed(&address, offset, width);
            match found {
                Some(other) => self.graph.unite(other, node),
                None => found = Some(node),
            }
        }
        found
    }

    fn accessed(&mut self, address: &Address, offset: u32, width: u8) -> Node {
        if let Some(&node) = self.accessed.get(&(address.clone(), offset)) {
            return node;
        }
        let mut offsets = vec![address.offset.wrapping_add(offset)];
        for &(stride, count) in &address.strides {
            let count = count.unwrap_or(1).max(1) as usize;
            let room = (MAX_PLACES / offsets.len()).max(1);
            let starts = std::mem::take(&mut offsets);
            for element in 0..count.min(room) as u32 {
                offsets.extend(starts.iter().map(|start| start.wrapping_add(element.wrapping_mul(stride))));
            }
        }
        let mut node: Option<Node> = None;
        for offset in offsets {
            let key = (address.object, folded(self.program, address, offset));
            let graph = &mut self.graph;
            let (own, known) = self.places.entry(key).or_insert_with(|| (graph.nodes(1), width));
            *known = width.max(*known);
            match node {
                Some(node) => self.graph.unite(node, *own),
                None => node = Some(*own),
            }
        }
        let node = node.unwrap_or_else(|| self.graph.nodes(1));
        self.accessed.insert((address.clone(), offset), node);
        node
    }

    /// Values go between memory and registers.
    fn access(&mut self, function: u32, pointer: Operand, shape: ShapeId, registers: Operand, stores: bool) {
        let Some(shape) = self.program.shapes.get(shape.0 as usize) else { return };
        for (component, leaf) in (0..).zip(&shape.leaves) {
            let LeafKind::Number(width) = leaf.kind else { continue };
            let place = self.place(function, pointer, leaf.offset, width);
            if let (Some(place), Some(register)) = (place, self.node(function, registers.offset(component))) {
                match stores {
                    true => self.graph.flows(register, place, Step::Copy),
                    false => self.graph.flows(place, register, Step::Copy),
                }
            }
        }
    }

    fn instruction(&mut self, function: u32, op: &Op) {
        match op {
            Op::Memory(op) => self.memory(function, op),
            Op::Atomic(op) => self.atomic(function, op),
            Op::Control(op) => self.control(function, op),
            Op::Composite(op) => self.composite(function, op),
            Op::Copy { dst, a, count } => self.flow(function, *a, *dst, *count, Step::Copy),
            Op::Select { dst, count, a, b, .. } => {
                self.flow(function, *a, *dst, *count, Step::Copy);
                self.flow(function, *b, *dst, *count, Step::Copy);
            }
            Op::Matrix(MatrixOp::Transpose { dst, rows, columns, a }) => {
                for (row, column) in (0..*rows).flat_map(|row| (0..*columns).map(move |column| (row, column)))
                {
                    let to = dst.saturating_add(row * columns + column);
                    self.flow(function, a.offset(column * rows + row), to, 1, Step::Copy);
                }
            }
            Op::Subgroup(op) => {
                if let SubgroupKind::Broadcast { value, .. }
                | SubgroupKind::BroadcastFirst { value }
                | SubgroupKind::Shuffle { value, .. }
                | SubgroupKind::QuadBroadcast { value, .. }
                | SubgroupKind::QuadSwap { value, .. } = &op.kind
                {
                    self.flow(function, value.value, op.dst, value.count, Step::Copy);
                }
                roles::of_subgroup(self, function, &op.kind);
            }
            Op::Unary { .. }
            | Op::Binary { .. }
            | Op::Extended { .. }
            | Op::Convert { .. }
            | Op::BitField(_)
            | Op::IntegerDot(_)
            | Op::Glsl(_)
            | Op::Encoded(_)
            | Op::Matrix(_)
            | Op::Image(_) => roles::of_computation(self, function, op),
            // What these use is of no one type, or of no memory that the host fills.
            Op::Undef { .. }
            | Op::Any { .. }
            | Op::All { .. }
            | Op::Barrier(_)
            | Op::Cooperative(_)
            | Op::Tensor(_)
            | Op::Ray(_)
            | Op::Assume { .. }
            | Op::Require { .. }
            | Op::Nop => {}
        }
        for edge in op.edges() {
            for (to, from, count) in &edge.moves {
                self.flow(function, *from, *to, *count, Step::Copy);
            }
        }
    }

    fn memory(&mut self, function: u32, op: &MemoryOp) {
        match op {
            MemoryOp::Load { dst, pointer, shape, .. } => {
                self.access(function, *pointer, *shape, Operand::register(*dst), false);
            }
            MemoryOp::Store { pointer, object, shape, .. } => {
                self.access(function, *pointer, *shape, *object, true);
            }
            MemoryOp::Copy { target, target_shape, source, source_shape, .. } => {
                let shapes = [source_shape, target_shape].map(|id| self.program.shapes.get(id.0 as usize));
                let [Some(from), Some(to)] = shapes else { return };
                for (from, to) in from.leaves.iter().zip(&to.leaves) {
                    let (LeafKind::Number(width), LeafKind::Number(_)) = (from.kind, to.kind) else {
                        continue;
                    };
                    let read = self.place(function, *source, from.offset, width);
                    let written = self.place(function, *target, to.offset, width);
                    if let (Some(read), Some(written)) = (read, written) {
                        self.graph.flows(read, written, Step::Copy);
                    }
                }
            }
            MemoryOp::Chain(chain) => roles::of_chain(self, function, chain),
            MemoryOp::Variable { .. }
            | MemoryOp::Uniform { .. }
            | MemoryOp::ArrayLength { .. }
            | MemoryOp::Difference { .. } => {}
        }
    }

    fn atomic(&mut self, function: u32, op: &AtomicOp) {
        let Some(place) = self.place(function, op.pointer, 0, op.width / 8) else { return };
        self.graph.usage(place).set(Role::Atomic);
        if !matches!(op.kind, AtomicKind::Store { .. }) {
            if let Some(result) = self.node(function, Operand::register(op.dst)) {
                self.graph.flows(place, result, Step::Copy);
            }
        }
        let (value, role) = match op.kind {
            AtomicKind::Load => (None, None),
            AtomicKind::IIncrement | AtomicKind::IDecrement => (None, Some(Role::Integer)),
            AtomicKind::Store { value } | AtomicKind::Exchange { value } => (Some(value), None),
            AtomicKind::CompareExchange { value, comparator } => {
                self.compare_constant(place, constant(self.program, comparator));
                (Some(value), None)
            }
            AtomicKind::IAdd { value }
            | AtomicKind::ISub { value }
            | AtomicKind::SMin { value }
            | AtomicKind::UMin { value }
            | AtomicKind::SMax { value }
            | AtomicKind::UMax { value }
            | AtomicKind::And { value }
            | AtomicKind::Or { value }
            | AtomicKind::Xor { value }
            | AtomicKind::IMul { value }
            | AtomicKind::SDiv { value } => (Some(value), Some(Role::Integer)),
            AtomicKind::FAdd { value } | AtomicKind::FMin { value } | AtomicKind::FMax { value } => {
                (Some(value), Some(Role::Float))
            }
        };
        if let Some(value) = value.and_then(|value| self.node(function, value)) {
            self.graph.flows(value, place, Step::Copy);
        }
        if let Some(role) = role {
            self.graph.usage(place).set(role);
        }
    }

    fn control(&mut self, function: u32, op: &ControlOp) {
        match op {
            ControlOp::Call { function: FunctionId(callee), arguments, .. } => {
                let Some(called) = self.program.functions.get(*callee as usize) else { return };
                for (parameter, argument) in called.parameters.iter().zip(arguments) {
                    for component in 0..parameter.count {
                        let from = self.node(function, argument.offset(component));
                        let to = self.node(*callee, Operand::register(parameter.register + component));
                        if let (Some(from), Some(to)) = (from, to) {
                            self.graph.flows(from, to, Step::Copy);
                        }
                    }
                }
            }
            ControlOp::ReturnValue { value, count } => {
                for (caller, dst) in self.callers.get(function as usize).cloned().unwrap_or_default() {
                    for component in 0..*count {
                        let from = self.node(function, value.offset(component));
                        let to = self.node(caller, Operand::register(dst.saturating_add(component)));
                        if let (Some(from), Some(to)) = (from, to) {
                            self.graph.flows(from, to, Step::Copy);
                        }
                    }
                }
            }
            ControlOp::Switch { selector, cases, .. } => {
                self.role(function, *selector, 1, Role::Integer);
                if let Some(node) = self.node(function, *selector) {
                    for (value, _) in cases {
                        self.compare_constant(node, Some(*value));
                    }
                }
            }
            ControlOp::Branch(_)
            | ControlOp::BranchConditional { .. }
            | ControlOp::Return
            | ControlOp::Unreachable
            | ControlOp::Kill
            | ControlOp::Demote
            | ControlOp::IsHelper { .. } => {}
        }
    }

    fn composite(&mut self, function: u32, op: &CompositeOp) {
        match op {
            CompositeOp::Construct { dst, parts } => {
                let mut to = *dst;
                for (part, count) in parts {
                    self.flow(function, *part, to, *count, Step::Copy);
                    to = to.saturating_add(*count);
                }
            }
            CompositeOp::Extract { dst, a, start, count } => {
                self.flow(function, a.offset(*start), *dst, *count, Step::Copy);
            }
            CompositeOp::Insert { dst, a, total, object, start, count } => {
                self.flow(function, *a, *dst, *total, Step::Copy);
                self.flow(function, *object, dst.saturating_add(*start), *count, Step::Copy);
            }
            CompositeOp::Shuffle { dst, components, .. } => {
                for (to, component) in (*dst..).zip(components) {
                    if let Some(component) = component {
                        self.flow(function, *component, to, 1, Step::Copy);
                    }
                }
            }
            CompositeOp::ExtractDynamic { dst, a, count, index, .. } => {
                self.index(function, *index, Some(*count));
                for component in 0..*count {
                    self.flow(function, a.offset(component), *dst, 1, Step::Copy);
                }
            }
            CompositeOp::InsertDynamic { dst, a, object, count, index, .. } => {
                self.index(function, *index, Some(*count));
                self.flow(function, *a, *dst, *count, Step::Copy);
                for component in 0..*count {
                    self.flow(function, *object, dst.saturating_add(component), 1, Step::Copy);
                }
            }
        }
    }

    /// Finds counters, and the numbers of invocations, and what both are compared with.
    fn sizes(&mut self) {
        let mut strided = Vec::new();
        // By how much they count; of those that differ, the largest ones.
        let mut counters: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
        for step in std::mem::take(&mut self.steps) {
            if let Some(node) = self.counter((step.0, step.1)) {
                // A step that is no constant is mostly the number of invocations.
                let numbered = step.2.is_none();
                counters.entry(step.2.unwrap_or(1)).or_default().push(node);
                strided.extend(numbered.then_some(node));
            }
        }
        let mut numbers = Vec::new();
        for ((object, _), (node, _)) in &self.places {
            let Object::Variable(number) = object else { continue };
            let variable = self.program.variables.get(*number as usize);
            if variable
                .and_then(|variable| variable.built_in)
                .is_some_and(BuiltIn::differs_between_invocations)
            {
                numbers.push(*node);
            }
        }
        numbers.extend(strided);
        let numbered = self.graph.reached(numbers);
        let counted: Vec<(u32, Vec<bool>)> = counters
            .into_iter()
            .rev()
            .take(MAX_STEP_SIZES)
            .map(|(by, nodes)| (by, self.graph.reached(nodes)))
            .collect();
        let is = |of: &[bool], node: Node| of.get(node as usize) == Some(&true);
        for [a, b] in std::mem::take(&mut self.compared) {
            for (own, other) in [(a, b), (b, a)] {
                let (own, other) = (self.graph.find(own), self.graph.find(other));
                if is(&numbered, own) || counted.iter().any(|(_, of)| is(of, own)) {
                    continue;
                }
                for (by, of) in &counted {
                    if is(of, other) {
                        self.graph.usage(own).set_turns(*by);
                    }
                }
                if is(&numbered, other) {
                    self.graph.usage(own).set(Role::Guard);
                }
            }
        }
    }

    /// What something is added to, if the sum comes back there by copies.
    fn counter(&mut self, (sum, operand): (Node, Node)) -> Option<Node> {
        let operand = self.graph.find(operand);
        let mut seen = vec![self.graph.find(sum)];
        let mut next = 0;
        while let Some(&node) = seen.get(next).filter(|_| next < MAX_STEPS) {
            next += 1;
            if node == operand {
                return Some(operand);
            }
            for target in self.graph.copies(node) {
                let target = self.graph.find(target);
                if !seen.contains(&target) {
                    seen.push(target);
                }
            }
        }
        None
    }
}

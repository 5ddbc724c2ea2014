use rspirv::dr::Operand;
use rspirv::spirv::{Op, Scope, Word};

use crate::generate::interface::COUNTERS;
use crate::generate::kernel::Kernel;
use crate::generate::types::{Ty, UINT};

/// What is done to each counter, by its number: operations of one kind commute with each other.
const KINDS: [&[Op]; COUNTERS as usize] = [
    &[Op::AtomicIAdd, Op::AtomicISub, Op::AtomicIIncrement, Op::AtomicIDecrement],
    &[Op::AtomicUMin],
    &[Op::AtomicUMax],
    &[Op::AtomicSMin],
    &[Op::AtomicSMax],
    &[Op::AtomicAnd],
    &[Op::AtomicOr],
    &[Op::AtomicXor],
];

impl Kernel {
    /// Changes a counter of the dispatch. Nobody reads it before the end.
    pub(super) fn count(&mut self) {
        let kind = self.random.usize(..KINDS.len());
        let opcode = self.pick(KINDS[kind]);
        let number = self.b.uint(kind as u32);
        let counter = self.word(self.interface.counters, number);
        // Scope Device needs a feature of its own in Vulkan's memory model.
        let scope = if self.b.is_vulkan() { Scope::QueueFamily } else { Scope::Device };
        self.update(opcode, counter, scope);
    }

    /// All invocations change a Workgroup variable between barriers, then all read it.
    pub(super) fn tally(&mut self) {
        let tally = self.interface.tally;
        let zero = self.b.uint(0);
        let is_first = self.b.op(Op::IEqual, &Ty::Bool, &[self.local, zero]);
        let initial = self.constant(&UINT);
        self.guarded(is_first, |kernel| kernel.store_shared(tally, initial));
        self.workgroup_barrier();
        let kind = self.random.usize(..KINDS.len());
        for _ in 0..self.random.u32(1..3) {
            let opcode = self.pick(KINDS[kind]);
            self.update(opcode, tally, Scope::Workgroup);
        }
        self.workgroup_barrier();
        let value = self.load_shared(&UINT, tally);
        self.workgroup_barrier();
        self.scope.uniforms.push(value);
        self.scope.values.push((value, UINT));
    }

    /// A relaxed read-modify-write whose result nobody uses.
    fn update(&mut self, opcode: Op, pointer: Word, scope: Scope) {
        let uint = self.b.ty(&UINT);
        let (scope, relaxed) = (self.b.uint(scope as u32), self.b.uint(0));
        let mut operands =
            vec![Operand::IdRef(pointer), Operand::IdScope(scope), Operand::IdMemorySemantics(relaxed)];
        if !matches!(opcode, Op::AtomicIIncrement | Op::AtomicIDecrement) {
            let value = self.value(&UINT, 2);
            operands.push(Operand::IdRef(value));
        }
        self.b.result(opcode, uint, operands);
    }
}

use rspirv::dr::Operand;
use rspirv::spirv::{MemoryAccess, Op, Scope, StorageClass, Word};

use crate::generate::kernel::Kernel;
use crate::generate::types::{Ty, UINT};

/// AcquireRelease, and what it makes available and visible in Vulkan's memory model.
const ACQUIRE_RELEASE: u32 = 0x8;
const AVAILABLE_AND_VISIBLE: u32 = 0x6000;
const UNIFORM_MEMORY: u32 = 0x40;
const WORKGROUP_MEMORY: u32 = 0x100;

impl Kernel {
    /// Every invocation hands a value to another one: all write their own, and read another behind a barrier. A second
    /// barrier keeps what is written next from those who still read.
    pub(super) fn exchange(&mut self) {
        if self.random.u32(..3) == 0 {
            return self.exchange_in_buffer();
        }
        let (array, ty) = self.pick_shared();
        let pointer = self.b.pointer(StorageClass::Workgroup, &ty);
        let place = |kernel: &mut Kernel, index: Word| {
            kernel.b.result(Op::AccessChain, pointer, [array, index].map(Operand::IdRef).to_vec())
        };
        let (value, own) = (self.value(&ty, 2), place(self, self.local));
        self.store_shared(own, value);
        self.barrier(WORKGROUP_MEMORY);
        for _ in 0..self.random.u32(1..3) {
            let index = self.another();
            let other = place(self, index);
            let value = self.load_shared(&ty, other);
            if let Some((target, _)) = self.place(&ty) {
                self.store(target, value);
            }
        }
        // What one invocation wrote is the same for all.
        if ty == UINT {
            let leader = self.random.u32(..self.local_size);
            let leader = self.b.uint(leader);
            let leader = place(self, leader);
            let value = self.load_shared(&ty, leader);
            self.scope.uniforms.push(value);
            self.scope.values.push((value, UINT));
        }
        self.barrier(WORKGROUP_MEMORY);
    }

    fn pick_shared(&mut self) -> (Word, Ty) {
        let index = self.random.usize(..self.interface.shared.len());
        self.interface.shared[index].clone()
    }

    /// The same through a buffer, of words.
    fn exchange_in_buffer(&mut self) {
        let buffer = self.interface.exchanged;
        let (value, own) = (self.value(&UINT, 2), self.word(buffer, self.invocation));
        self.store_shared(own, value);
        self.barrier(UNIFORM_MEMORY);
        let (start, index) = (self.b.op(Op::ISub, &UINT, &[self.invocation, self.local]), self.another());
        let index = self.b.op(Op::IAdd, &UINT, &[start, index]);
        let other = self.word(buffer, index);
        let value = self.load_shared(&UINT, other);
        if let Some((target, _)) = self.place(&UINT) {
            self.store(target, value);
        }
        self.barrier(UNIFORM_MEMORY);
    }

    /// The number of another invocation of the workgroup, or of any.
    fn another(&mut self) -> Word {
        if self.random.bool() {
            return self.below(self.local_size, 1);
        }
        let distance = self.random.u32(1..self.local_size);
        let (distance, mask) = (self.b.uint(distance), self.b.uint(self.local_size - 1));
        let index = self.b.op(Op::IAdd, &UINT, &[self.local, distance]);
        self.b.op(Op::BitwiseAnd, &UINT, &[index, mask])
    }

    /// A store to memory that other invocations read.
    pub(super) fn store_shared(&mut self, pointer: Word, value: Word) {
        let operands = [pointer, value].map(Operand::IdRef).into_iter().chain(self.non_private()).collect();
        self.b.emit(Op::Store, operands);
    }

    /// A load from memory that other invocations write.
    pub(super) fn load_shared(&mut self, ty: &Ty, pointer: Word) -> Word {
        let of_type = self.b.ty(ty);
        let operands = [Operand::IdRef(pointer)].into_iter().chain(self.non_private()).collect();
        self.b.result(Op::Load, of_type, operands)
    }

    fn non_private(&self) -> Option<Operand> {
        let access = Operand::MemoryAccess(MemoryAccess::NON_PRIVATE_POINTER);
        self.b.is_vulkan().then_some(access)
    }

    /// A barrier for the workgroup and its memory of this kind.
    pub(super) fn barrier(&mut self, memory: u32) {
        let more = if self.b.is_vulkan() { AVAILABLE_AND_VISIBLE } else { 0 };
        let scope = self.b.uint(Scope::Workgroup as u32);
        let semantics = self.b.uint(ACQUIRE_RELEASE | more | memory);
        let operands =
            vec![Operand::IdScope(scope), Operand::IdScope(scope), Operand::IdMemorySemantics(semantics)];
        self.b.emit(Op::ControlBarrier, operands);
    }

    /// A barrier for the workgroup and its Workgroup variables.
    pub(super) fn workgroup_barrier(&mut self) {
        self.barrier(WORKGROUP_MEMORY);
    }
}

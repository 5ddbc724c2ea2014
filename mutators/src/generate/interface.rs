//! What a kernel has from outside: built-ins, buffers of words, push constants, specialisation constants.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Capability, Decoration, Op, StorageClass, Word};

use super::build::Builder;
use super::kernel::Kernel;
use super::structured::Features;
use super::types::{Ty, INT, UINT};
use super::{words, Buffer};

/// The number of invocations in a subgroup, of programs that depend on it.
pub(super) const SUBGROUP: u32 = 8;

/// Words of the input buffer; a power of two.
const INPUTS: u32 = 64;

/// Push constants, in words.
const PUSHED: u32 = 4;

/// Counters in a buffer, words each.
pub(super) const COUNTERS: u32 = 8;

/// The variables of the interface, and what the launch gives them. Those that the features don't ask for are not
/// declared, and 0.
pub(super) struct Interface {
    global_id: Word,
    workgroup_id: Word,
    local_index: Word,
    /// SubgroupId and SubgroupLocalInvocationId.
    subgroup: [Word; 2],
    input: Word,
    pub output: Word,
    /// A buffer with a word of each invocation that others read.
    pub exchanged: Word,
    pub counters: Word,
    /// A Workgroup variable that is counted in.
    pub tally: Word,
    /// Workgroup arrays with a value of each invocation, by the types of these values.
    pub shared: Vec<(Word, Ty)>,
    pushed: Word,
    /// Specialisation constants, and operations on them.
    specialised: Vec<(Word, Ty)>,
    pub buffers: Vec<Buffer>,
    pub push_constants: Vec<u8>,
    pub specialisation: Vec<(u32, u32)>,
}

impl Interface {
    /// The built-ins.
    pub(super) fn new(b: &mut Builder, features: Features) -> Self {
        let three = Ty::vector(UINT, 3);
        let subgroup = if features.subgroups {
            b.capability(Capability::GroupNonUniform);
            [BuiltIn::SubgroupId, BuiltIn::SubgroupLocalInvocationId]
                .map(|built_in| b.built_in(built_in, &UINT))
        } else {
            [0; 2]
        };
        Interface {
            global_id: b.built_in(BuiltIn::GlobalInvocationId, &three),
            workgroup_id: b.built_in(BuiltIn::WorkgroupId, &three),
            local_index: b.built_in(BuiltIn::LocalInvocationIndex, &UINT),
            subgroup,
            input: 0,
            output: 0,
            exchanged: 0,
            counters: 0,
            tally: 0,
            shared: Vec::new(),
            pushed: 0,
            specialised: Vec::new(),
            buffers: Vec::new(),
            push_constants: Vec::new(),
            specialisation: Vec::new(),
        }
    }

    /// Gives a buffer its first contents.
    pub(super) fn fill(&mut self, binding: u32, bytes: Vec<u8>) {
        if let Some(buffer) = self.buffers.iter_mut().find(|buffer| buffer.binding == binding) {
            buffer.bytes = bytes;
        }
    }
}

impl Kernel {
    /// Declares the memory that the features ask for.
    pub(super) fn declare_memory(&mut self) {
        let invocations = self.local_size * self.workgroups;
        self.interface.input = self.words_buffer(0, INPUTS, false);
        self.interface.output = self.words_buffer(words::OUTPUT, 0, false);
        if self.features.memory {
            self.declare_elements(2);
        }
        if self.features.exchange {
            self.interface.exchanged = self.words_buffer(3, invocations, true);
            let ty = self.any_scalar_or_vector();
            for ty in [UINT, ty] {
                let array = Ty::Array(Box::new(ty.clone()), self.local_size);
                let variable = self.workgroup_variable(&array);
                self.interface.shared.push((variable, ty));
            }
        }
        if self.features.atomics {
            self.interface.counters = self.words_buffer(4, COUNTERS, false);
            self.interface.tally = self.workgroup_variable(&UINT);
        }
        if self.features.constants {
            self.declare_constants();
        }
    }

    fn any_scalar_or_vector(&mut self) -> Ty {
        let types: Vec<Ty> = self.pool.iter().filter(|ty| ty.shape().is_some()).cloned().collect();
        self.random.choice(types).unwrap_or(UINT)
    }

    fn workgroup_variable(&mut self, ty: &Ty) -> Word {
        let pointer = self.b.pointer(StorageClass::Workgroup, ty);
        self.b.variable(StorageClass::Workgroup, pointer, None)
    }

    /// A storage buffer in set 0, a runtime array of words. One that invocations communicate through is coherent; in
    /// Vulkan's memory model its accesses say so instead.
    fn words_buffer(&mut self, binding: u32, count: u32, is_coherent: bool) -> Word {
        let uint = self.b.ty(&UINT);
        let array = self.b.own_global(Op::TypeRuntimeArray, None, vec![Operand::IdRef(uint)]);
        self.b.decorate(array, Decoration::ArrayStride, &[4]);
        let bytes = (0..count).flat_map(|_| self.input_word().to_le_bytes()).collect();
        let variable = self.block_of(binding, array, bytes);
        if is_coherent && !self.b.is_vulkan() {
            self.b.decorate(variable, Decoration::Coherent, &[]);
        }
        variable
    }

    /// A storage buffer whose block has this array (an id) as its only member.
    pub(super) fn block_of(&mut self, binding: u32, array: Word, bytes: Vec<u8>) -> Word {
        let block = self.b.own_global(Op::TypeStruct, None, vec![Operand::IdRef(array)]);
        self.b.decorate(block, Decoration::Block, &[]);
        self.b.decorate_member(block, 0, Decoration::Offset, 0);
        let class = Operand::StorageClass(StorageClass::StorageBuffer);
        let pointer = self.b.global(Op::TypePointer, None, vec![class, Operand::IdRef(block)]);
        let variable = self.b.variable(StorageClass::StorageBuffer, pointer, None);
        self.b.decorate(variable, Decoration::DescriptorSet, &[0]);
        self.b.decorate(variable, Decoration::Binding, &[binding]);
        self.interface.buffers.push(Buffer { set: 0, binding, bytes });
        variable
    }

    /// A word on which operations differ: an edge, a small one, any.
    pub(super) fn input_word(&mut self) -> u32 {
        const EDGES: [u32; 8] = [0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF, 0x80];
        match self.random.u32(..3) {
            0 => EDGES[self.random.usize(..EDGES.len())],
            1 => self.random.u32(..64),
            _ => self.random.u32(..),
        }
    }

    /// The pointer to a word of a buffer of words.
    pub(super) fn word(&mut self, buffer: Word, index: Word) -> Word {
        let pointer = self.b.pointer(StorageClass::StorageBuffer, &UINT);
        let zero = self.b.uint(0);
        self.b.result(Op::AccessChain, pointer, [buffer, zero, index].map(Operand::IdRef).to_vec())
    }

    /// Loads a word of the input, any one.
    pub(super) fn input(&mut self) -> Word {
        let (offset, mask) = (self.random.u32(..INPUTS), self.b.uint(INPUTS - 1));
        let offset = self.b.uint(offset);
        let index = self.b.op(Op::IAdd, &UINT, &[self.invocation, offset]);
        let index = self.b.op(Op::BitwiseAnd, &UINT, &[index, mask]);
        let pointer = self.word(self.interface.input, index);
        self.b.op(Op::Load, &UINT, &[pointer])
    }

    /// Loads the invocation's number in its workgroup and in the dispatch. Where subgroups matter they follow from its
    /// place in its subgroup, so that it does not matter how subgroups are formed.
    pub(super) fn numbers(&mut self) -> (Word, Word) {
        if !self.features.subgroups {
            let local = self.b.op(Op::Load, &UINT, &[self.interface.local_index]);
            let global = self.first(self.interface.global_id);
            return (local, global);
        }
        let [subgroup, own] = self.interface.subgroup.map(|variable| self.b.op(Op::Load, &UINT, &[variable]));
        let (subgroup_size, local_size) = (self.b.uint(SUBGROUP), self.b.uint(self.local_size));
        let before = self.b.op(Op::IMul, &UINT, &[subgroup, subgroup_size]);
        let local = self.b.op(Op::IAdd, &UINT, &[before, own]);
        let workgroup = self.first(self.interface.workgroup_id);
        let before = self.b.op(Op::IMul, &UINT, &[workgroup, local_size]);
        (local, self.b.op(Op::IAdd, &UINT, &[before, local]))
    }

    /// The first component of a built-in.
    fn first(&mut self, variable: Word) -> Word {
        let all = self.b.op(Op::Load, &Ty::vector(UINT, 3), &[variable]);
        self.b.op_with(Op::CompositeExtract, &UINT, &[all], &[0])
    }

    /// Words that are the same in the whole workgroup: the number of the workgroup, the push constants.
    pub(super) fn workgroup_values(&mut self) -> Vec<Word> {
        let mut values = vec![self.first(self.interface.workgroup_id)];
        if self.features.constants {
            let pointer = self.b.pointer(StorageClass::PushConstant, &UINT);
            for member in 0..PUSHED {
                let index = self.b.uint(member);
                let chain = [self.interface.pushed, index].map(Operand::IdRef).to_vec();
                let place = self.b.result(Op::AccessChain, pointer, chain);
                values.push(self.b.op(Op::Load, &UINT, &[place]));
            }
            let specialised = self.interface.specialised.iter();
            values.extend(specialised.filter(|(_, ty)| *ty == UINT).map(|(id, _)| *id));
        }
        self.scope.values.extend(values.iter().map(|value| (*value, UINT)));
        values
    }

    /// Push constants and specialisation constants.
    fn declare_constants(&mut self) {
        let uint = self.b.ty(&UINT);
        let members = vec![Operand::IdRef(uint); PUSHED as usize];
        let block = self.b.own_global(Op::TypeStruct, None, members);
        self.b.decorate(block, Decoration::Block, &[]);
        (0..PUSHED).for_each(|member| self.b.decorate_member(block, member, Decoration::Offset, 4 * member));
        let class = Operand::StorageClass(StorageClass::PushConstant);
        let pointer = self.b.global(Op::TypePointer, None, vec![class, Operand::IdRef(block)]);
        self.interface.pushed = self.b.variable(StorageClass::PushConstant, pointer, None);
        self.interface.push_constants = (0..PUSHED).flat_map(|_| self.input_word().to_le_bytes()).collect();

        for (number, ty) in [(1, UINT), (2, UINT), (5, INT), (7, Ty::Bool)] {
            let of_type = self.b.ty(&ty);
            let default = self.random.u32(..10);
            let id = match ty {
                Ty::Bool if default < 5 => self.b.own_global(Op::SpecConstantTrue, Some(of_type), vec![]),
                Ty::Bool => self.b.own_global(Op::SpecConstantFalse, Some(of_type), vec![]),
                _ => {
                    let literal = vec![Operand::LiteralBit32(default)];
                    self.b.own_global(Op::SpecConstant, Some(of_type), literal)
                }
            };
            self.b.decorate(id, Decoration::SpecId, &[number]);
            if self.random.bool() {
                let value = if ty == Ty::Bool { self.random.u32(..2) } else { self.input_word() };
                self.interface.specialisation.push((number, value));
            }
            self.interface.specialised.push((id, ty));
        }
        self.combine_constants(uint);
    }

    /// Operations on specialisation constants.
    fn combine_constants(&mut self, uint: Word) {
        for _ in 0..3 {
            let known: Vec<Word> = { self.interface.specialised.iter() }
                .filter(|(_, ty)| *ty == UINT)
                .map(|(id, _)| *id)
                .collect();
            let (first, second) = (self.pick(&known), self.pick(&known));
            let opcode = self.pick(&[Op::IAdd, Op::IMul, Op::BitwiseXor, Op::ISub, Op::BitwiseOr]);
            let operation = Operand::LiteralSpecConstantOpInteger(opcode);
            let operands = [operation].into_iter().chain([first, second].map(Operand::IdRef)).collect();
            let id = self.b.own_global(Op::SpecConstantOp, Some(uint), operands);
            self.interface.specialised.push((id, UINT));
        }
        let pair = Ty::vector(UINT, 2);
        let of_type = self.b.ty(&pair);
        let parts = [0, 1].map(|index| Operand::IdRef(self.interface.specialised[index].0)).to_vec();
        let id = self.b.own_global(Op::SpecConstantComposite, Some(of_type), parts);
        self.interface.specialised.push((id, pair));
    }

    /// A specialisation constant of a type.
    pub(super) fn specialised(&mut self, ty: &Ty) -> Option<Word> {
        let fitting: Vec<Word> =
            { self.interface.specialised.iter() }.filter(|(_, of)| of == ty).map(|(id, _)| *id).collect();
        self.random.choice(fitting)
    }
}

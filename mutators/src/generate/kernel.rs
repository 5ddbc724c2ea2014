//! A kernel under construction: its frame around the statements, which read inputs and write results.

use fastrand::Rng;
use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass, Word};

use super::build::Builder;
use super::statement::Callee;
use super::structured::Features;
use super::types::{Ty, UINT};
use super::{words, Buffer, Program};

/// Words of the input buffer; a power of two.
const INPUTS: u32 = 64;

/// What can be read and written where a statement stands.
#[derive(Default)]
pub(super) struct Scope {
    /// Pointers to whole variables of the invocation, with what they hold.
    pub variables: Vec<Variable>,
    /// Results that dominate the open block, with their types.
    pub values: Vec<(Word, Ty)>,
    /// Those of 32 bits that are the same in the whole workgroup.
    pub uniforms: Vec<Word>,
    /// How often the open block may run, at most, per call of the function.
    pub turns: u32,
    /// The most that a block may run per call, called functions included.
    pub cost: u32,
    /// In a function that is not the entry point: what it returns.
    pub returns: Option<Ty>,
}

/// A variable that only its invocation sees.
#[derive(Clone)]
pub(super) struct Variable {
    pub pointer: Word,
    pub class: StorageClass,
    pub ty: Ty,
}

/// A kernel under construction.
pub(super) struct Kernel {
    pub b: Builder,
    pub random: Rng,
    pub features: Features,
    /// Types of variables.
    pub pool: Vec<Ty>,
    pub scope: Scope,
    /// Functions that can be called.
    pub callees: Vec<Callee>,
    /// Variables of the whole module that only their invocation sees.
    pub privates: Vec<Variable>,
    /// Statements left in this function.
    pub budget: u32,
    pub local_size: u32,
    pub workgroups: u32,
    /// The invocation's number in the dispatch.
    pub invocation: Word,
    ids: Word,
    input: Word,
    output: Word,
    specialisation: Vec<(u32, u32)>,
}

impl Kernel {
    /// The program of a seed with these features.
    pub(super) fn program(features: Features, seed: u64) -> Program {
        let mut random = Rng::with_seed(seed);
        let b = Builder::new(random.bool());
        let mut kernel = Kernel {
            b,
            features,
            pool: Vec::new(),
            scope: Scope::default(),
            callees: Vec::new(),
            privates: Vec::new(),
            ids: 0,
            budget: 0,
            local_size: [4, 8, 16][random.usize(..3)],
            workgroups: random.u32(1..3),
            invocation: 0,
            input: 0,
            output: 0,
            specialisation: Vec::new(),
            random,
        };
        kernel.pool = kernel.types();
        kernel.input = kernel.buffer(0);
        kernel.output = kernel.buffer(1);
        let (main, results) = kernel.main();
        let invocations = kernel.local_size * kernel.workgroups;
        let inputs = (0..INPUTS).flat_map(|_| kernel.input_word().to_le_bytes()).collect();
        Program {
            words: kernel.b.finish(main, [kernel.local_size, 1, 1]),
            workgroups: [kernel.workgroups, 1, 1],
            subgroup_size: None,
            buffers: vec![
                Buffer { set: 0, binding: 0, bytes: inputs },
                Buffer { set: 0, binding: 1, bytes: vec![0; (4 * results * invocations) as usize] },
            ],
            push_constants: Vec::new(),
            specialisation: kernel.specialisation,
        }
    }

    /// A word on which operations differ: an edge, a small one, any.
    fn input_word(&mut self) -> u32 {
        const EDGES: [u32; 8] = [0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF, 0x80];
        match self.random.u32(..3) {
            0 => EDGES[self.random.usize(..EDGES.len())],
            1 => self.random.u32(..64),
            _ => self.random.u32(..),
        }
    }

    /// A storage buffer in set 0: a runtime array of words.
    fn buffer(&mut self, binding: u32) -> Word {
        let uint = self.b.ty(&UINT);
        let fresh = |b: &mut Builder| {
            let array = b.own_global(Op::TypeRuntimeArray, None, vec![Operand::IdRef(uint)]);
            b.decorate(array, Decoration::ArrayStride, &[4]);
            let block = b.own_global(Op::TypeStruct, None, vec![Operand::IdRef(array)]);
            b.decorate(block, Decoration::Block, &[]);
            b.decorate_member(block, 0, Decoration::Offset, 0);
            block
        };
        let block = fresh(&mut self.b);
        let class = Operand::StorageClass(StorageClass::StorageBuffer);
        let pointer = self.b.global(Op::TypePointer, None, vec![class, Operand::IdRef(block)]);
        let variable = self.b.variable(StorageClass::StorageBuffer, pointer, None);
        self.b.decorate(variable, Decoration::DescriptorSet, &[0]);
        self.b.decorate(variable, Decoration::Binding, &[binding]);
        variable
    }

    /// The pointer to a word of a buffer.
    fn word(&mut self, buffer: Word, index: Word) -> Word {
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
        let pointer = self.word(self.input, index);
        self.b.op(Op::Load, &UINT, &[pointer])
    }

    /// Opens the scope of a function that was just begun.
    pub(super) fn enter(&mut self, returns: Option<Ty>) {
        let all = self.b.op(Op::Load, &Ty::vector(UINT, 3), &[self.ids]);
        self.invocation = self.b.op_with(Op::CompositeExtract, &UINT, &[all], &[0]);
        self.scope = Scope {
            variables: self.privates.clone(),
            values: vec![(self.invocation, UINT)],
            uniforms: Vec::new(),
            turns: 1,
            cost: 1,
            returns,
        };
    }

    /// The entry point. Gives its id and how many words each invocation writes.
    fn main(&mut self) -> (Word, u32) {
        let void = self.b.global(Op::TypeVoid, None, vec![]);
        self.ids = self.b.built_in(BuiltIn::GlobalInvocationId, &Ty::vector(UINT, 3));
        let groups = self.b.built_in(BuiltIn::WorkgroupId, &Ty::vector(UINT, 3));
        if self.features.functions {
            self.declare_privates();
            (0..self.random.u32(1..4)).for_each(|_| self.function());
        }
        let (main, _) = self.b.begin(void, &[]);
        self.enter(None);
        let all = self.b.op(Op::Load, &Ty::vector(UINT, 3), &[groups]);
        let group = self.b.op_with(Op::CompositeExtract, &UINT, &[all], &[0]);
        self.scope.uniforms.push(group);
        let mut variables = self.privates.clone();
        for ty in self.pool.clone() {
            let pointer = self.b.local(&ty, None);
            variables.push(Variable { pointer, class: StorageClass::Function, ty });
        }
        for Variable { pointer, ty, .. } in variables.clone() {
            let value = self.unflatten(&ty, &mut Kernel::input);
            self.b.emit(Op::Store, [pointer, value].map(Operand::IdRef).to_vec());
        }
        self.scope.variables = variables;
        self.budget = self.features.statements;
        self.body();
        let results = self.results();
        self.b.emit(Op::Return, vec![]);
        self.b.end();
        (main, results)
    }

    /// Writes every variable to the invocation's part of the output.
    fn results(&mut self) -> u32 {
        let variables = self.scope.variables.clone();
        let count: u32 = variables.iter().map(|variable| words::count(&variable.ty)).sum();
        let stride = self.b.uint(count);
        let start = self.b.op(Op::IMul, &UINT, &[self.invocation, stride]);
        let mut offset = 0;
        for Variable { pointer, ty, .. } in variables {
            let value = self.b.op(Op::Load, &ty, &[pointer]);
            for word in self.flatten(value, &ty) {
                let index = self.b.uint(offset);
                let index = self.b.op(Op::IAdd, &UINT, &[start, index]);
                let place = self.word(self.output, index);
                self.b.emit(Op::Store, [place, word].map(Operand::IdRef).to_vec());
                offset += 1;
            }
        }
        count
    }
}

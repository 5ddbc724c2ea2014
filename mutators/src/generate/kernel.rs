//! A kernel under construction: its frame around the statements, which read inputs and write results.

use fastrand::Rng;
use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};

use super::build::Builder;
use super::interface::{Interface, SUBGROUP};
use super::layout::Elements;
use super::statement::Callee;
use super::structured::Features;
use super::types::{Ty, UINT};
use super::{words, Program};

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
    /// The invocation's number in the dispatch, and in its workgroup.
    pub invocation: Word,
    pub local: Word,
    pub interface: Interface,
    pub elements: Elements,
}

impl Kernel {
    /// The program of a seed with these features.
    pub(super) fn program(features: Features, seed: u64) -> Program {
        let mut random = Rng::with_seed(seed);
        let mut b = Builder::new(random.bool());
        let interface = Interface::new(&mut b, features);
        let sizes: &[u32] = if features.subgroups { &[8, 16] } else { &[4, 8, 16] };
        let mut kernel = Kernel {
            b,
            features,
            pool: Vec::new(),
            scope: Scope::default(),
            callees: Vec::new(),
            privates: Vec::new(),
            budget: 0,
            local_size: sizes[random.usize(..sizes.len())],
            workgroups: random.u32(1..3),
            invocation: 0,
            local: 0,
            interface,
            elements: Elements::default(),
            random,
        };
        kernel.pool = kernel.types();
        kernel.declare_memory();
        let (main, results) = kernel.main();
        let invocations = kernel.local_size * kernel.workgroups;
        kernel.interface.fill(words::OUTPUT, vec![0; (4 * results * invocations) as usize]);
        let Interface { buffers, push_constants, specialisation, .. } = kernel.interface;
        Program {
            words: kernel.b.finish(main, [kernel.local_size, 1, 1]),
            workgroups: [kernel.workgroups, 1, 1],
            subgroup_size: features.subgroups.then_some(SUBGROUP),
            buffers,
            push_constants,
            specialisation,
        }
    }

    /// Opens the scope of a function that was just begun.
    pub(super) fn enter(&mut self, returns: Option<Ty>) {
        (self.local, self.invocation) = self.numbers();
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
        if self.features.functions {
            self.declare_privates();
            (0..self.random.u32(1..4)).for_each(|_| self.function());
        }
        let void = self.b.global(Op::TypeVoid, None, vec![]);
        let (main, _) = self.b.begin(void, &[]);
        self.enter(None);
        self.scope.uniforms = self.workgroup_values();
        let mut variables = self.privates.clone();
        for ty in self.pool.clone() {
            let pointer = self.b.local(&ty, None);
            variables.push(Variable { pointer, class: StorageClass::Function, ty });
        }
        for Variable { pointer, ty, .. } in variables.clone() {
            let value = self.unflatten(&ty, &mut Kernel::input);
            self.store(pointer, value);
        }
        self.scope.variables = variables;
        self.budget = self.features.statements;
        self.body();
        let results = self.results();
        self.b.emit(Op::Return, vec![]);
        self.b.end();
        (main, results)
    }

    pub(super) fn store(&mut self, pointer: Word, value: Word) {
        self.b.emit(Op::Store, [pointer, value].map(Operand::IdRef).to_vec());
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
                let place = self.word(self.interface.output, index);
                self.store(place, word);
                offset += 1;
            }
        }
        count
    }
}

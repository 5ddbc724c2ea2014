use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};

use super::flow::TURNS;
use crate::generate::kernel::{Kernel, Variable};
use crate::generate::types::Ty;

/// A function that can be called.
#[derive(Clone)]
pub(in crate::generate) struct Callee {
    id: Word,
    parameters: Vec<Parameter>,
    returns: Ty,
    /// How often a block of it may run per call.
    cost: u32,
}

#[derive(Clone)]
struct Parameter {
    ty: Ty,
    /// A pointer to a variable of the type, or a value of it.
    is_pointer: bool,
}

impl Kernel {
    /// Declares variables of the whole module, some with initial values.
    pub(in crate::generate) fn declare_privates(&mut self) {
        for _ in 0..2 {
            let ty = self.any_type();
            let pointer = self.b.pointer(StorageClass::Private, &ty);
            let initial = self.random.bool().then(|| self.constant(&ty));
            let pointer = self.b.variable(StorageClass::Private, pointer, initial);
            self.privates.push(Variable { pointer, class: StorageClass::Private, ty });
        }
    }

    /// A type of the pool.
    pub(in crate::generate) fn any_type(&mut self) -> Ty {
        let index = self.random.usize(..self.pool.len());
        self.pool[index].clone()
    }

    /// A function, which may call those before it.
    pub(in crate::generate) fn function(&mut self) {
        let parameters: Vec<Parameter> = (0..self.random.u32(1..5))
            .map(|_| Parameter { ty: self.any_type(), is_pointer: self.random.bool() })
            .collect();
        let returns = self.any_type();
        let mut types = Vec::new();
        for Parameter { ty, is_pointer } in &parameters {
            types.push(match is_pointer {
                true => self.b.pointer(StorageClass::Function, ty),
                false => self.b.ty(ty),
            });
        }
        let result = self.b.ty(&returns);
        let (id, ids) = self.b.begin(result, &types);
        self.enter(Some(returns.clone()));
        for (&id, Parameter { ty, is_pointer }) in ids.iter().zip(&parameters) {
            if *is_pointer {
                let ty = ty.clone();
                self.scope.variables.push(Variable { pointer: id, class: StorageClass::Function, ty });
            } else {
                self.scope.values.push((id, ty.clone()));
            }
        }
        for _ in 0..2 {
            let ty = self.any_type();
            let initial = self.constant(&ty);
            let pointer = self.b.local(&ty, Some(initial));
            self.scope.variables.push(Variable { pointer, class: StorageClass::Function, ty });
        }
        self.budget = self.random.u32(2..8);
        self.body();
        let value = self.value(&returns, 2);
        self.b.emit(Op::ReturnValue, vec![Operand::IdRef(value)]);
        self.b.end();
        self.callees.push(Callee { id, parameters, returns, cost: self.scope.cost });
    }

    /// The result of a call of a function that returns this type.
    pub(in crate::generate) fn call(&mut self, ty: &Ty) -> Option<Word> {
        let turns = self.scope.turns;
        let fitting: Vec<Callee> = { self.callees.iter() }
            .filter(|callee| callee.returns == *ty && turns * callee.cost <= TURNS)
            .cloned()
            .collect();
        let callee = self.random.choice(fitting)?;
        self.scope.cost = self.scope.cost.max(turns * callee.cost);
        let mut operands = vec![Operand::IdRef(callee.id)];
        let mut passed = Vec::new();
        for Parameter { ty, is_pointer } in &callee.parameters {
            let argument = if *is_pointer { self.pointer_argument(ty, &passed) } else { self.leaf(ty) };
            passed.push(argument);
            operands.push(Operand::IdRef(argument));
        }
        let result = self.b.ty(ty);
        Some(self.b.result(Op::FunctionCall, result, operands))
    }

    /// A variable to pass by pointer, no other of which is passed by the same call: writes through one pointer must not
    /// change what another one leads to.
    fn pointer_argument(&mut self, ty: &Ty, passed: &[Word]) -> Word {
        let fitting: Vec<Word> = { self.scope.variables.iter() }
            .filter(|variable| variable.class == StorageClass::Function && variable.ty == *ty)
            .map(|variable| variable.pointer)
            .filter(|pointer| !passed.contains(pointer))
            .collect();
        if let Some(pointer) = self.random.choice(fitting) {
            return pointer;
        }
        let pointer = self.b.local(ty, None);
        let value = self.leaf(ty);
        self.store(pointer, value);
        pointer
    }
}

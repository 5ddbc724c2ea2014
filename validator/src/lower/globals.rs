//! What a module says outside of functions, resolved in module order.

use std::collections::HashMap;

use rspirv::spirv::{BuiltIn, Op as Opcode};

use super::constants::ConstantTable;
use super::decorations::{Decoration, DecorationTable};
use super::error::Problem;
use super::index::Index;
use super::types::TypeTable;
use crate::ir::SpecConstant;
use crate::module::Module;
use crate::value::Scalar;

/// Types, constants and the places of variables.
#[derive(Debug)]
pub(super) struct Globals<'m> {
    pub module: &'m Module,
    pub index: Index,
    pub decorations: DecorationTable,
    pub types: TypeTable,
    pub constants: ConstantTable,
    /// The OpVariable of each module-scope variable, by its id.
    variables: HashMap<u32, usize>,
}

/// The constant that is decorated WorkgroupSize.
pub(super) fn workgroup_size(decorations: &DecorationTable) -> Option<u32> {
    decorations.carriers(Decoration::BuiltIn(BuiltIn::WorkgroupSize as u32)).min()
}

impl<'m> Globals<'m> {
    /// Resolves everything; problems stay with what has them, until it is used.
    pub fn new(
        module: &'m Module,
        index: Index,
        decorations: DecorationTable,
        specialised: &[SpecConstant],
        local_size: Option<[u32; 3]>,
    ) -> Self {
        let workgroup_size = workgroup_size(&decorations);
        let mut globals = Globals {
            module,
            index,
            decorations,
            types: TypeTable::default(),
            constants: ConstantTable::default(),
            variables: HashMap::new(),
        };
        for at in globals.index.module_scope.clone() {
            let Some(instruction) = module.instruction(at) else { break };
            let Globals { decorations, types, constants, .. } = &mut globals;
            if matches!(instruction.op(), Some(Opcode::Variable | Opcode::UntypedVariableKHR)) {
                if let Some(id) = instruction.result {
                    globals.variables.insert(id, at);
                }
            } else if !constants.declare(&instruction, types, specialised) {
                types.declare(&instruction, decorations, constants);
            } else if instruction.result == workgroup_size {
                if let (Some(id), Some(size)) = (instruction.result, local_size) {
                    let components = size.iter().map(|&extent| Scalar::new(u64::from(extent))).collect();
                    constants.replace(id, components, instruction.line);
                }
            }
        }
        globals
    }

    /// The index of the OpVariable of a module-scope variable.
    pub fn variable(&self, id: u32) -> Option<usize> {
        self.variables.get(&id).copied()
    }

    /// The value of a scalar constant.
    pub fn integer(&self, id: u32, line: crate::ir::Line) -> Result<u64, Problem> {
        self.constants.integer(id, &self.types, line)
    }
}

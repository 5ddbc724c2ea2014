//! What a module says outside of functions, resolved in module order.

use std::collections::HashMap;

use rspirv::spirv::{BuiltIn, Op as Opcode};

use super::constants::ConstantTable;
use super::decorations::{Decoration, DecorationTable};
use super::entry::LocalSize;
use super::error::Problem;
use super::index::Index;
use super::types::TypeTable;
use super::LowerOptions;
use crate::ir::SpecConstant;
use crate::module::Module;
use crate::value::Scalar;

/// Descriptors of a runtime array where the launch names none.
const USUAL_DESCRIPTORS: u32 = 4;

/// Types, constants and the places of variables.
#[derive(Debug)]
pub(super) struct Globals<'m> {
    pub module: &'m Module,
    pub index: Index,
    pub decorations: DecorationTable,
    pub types: TypeTable,
    pub constants: ConstantTable,
    /// Number of descriptors of a runtime array of them.
    pub runtime_descriptors: u32,
    /// The entry point is of a stage of the graphics pipeline.
    pub graphics: bool,
    /// It is a fragment shader.
    pub fragment: bool,
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
        options: &LowerOptions,
        local_size: &LocalSize,
    ) -> Self {
        let workgroup_size = workgroup_size(&decorations);
        let mut globals = Globals {
            module,
            index,
            decorations,
            types: TypeTable::default(),
            constants: ConstantTable::default(),
            runtime_descriptors: options.runtime_descriptors.unwrap_or(USUAL_DESCRIPTORS),
            graphics: false,
            fragment: false,
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
                if instruction.op() == Some(Opcode::TypeCooperativeMatrixKHR) {
                    let size = options.local_size.or_else(|| local_size.value(types, constants).ok());
                    types.local_invocations = size.and_then(|size| {
                        size.iter().try_fold(1, |product: u32, extent| product.checked_mul(*extent))
                    });
                }
                types.declare(&instruction, decorations, constants);
            } else if instruction.result == workgroup_size {
                if let (Some(id), Some(size)) = (instruction.result, options.local_size) {
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

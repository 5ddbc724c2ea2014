//! Where integers that become physical pointers come from: memory that the host fills. Automatic inputs
//! put addresses there, as they do for what the module declares as pointers.

use rspirv::spirv::Op as Opcode;

use super::function::FunctionBuilder;
use super::values::Values;
use crate::event::StorageClass;
use crate::ir::{Line, PointerMember};
use crate::module::Instruction;

/// Instructions that are followed backwards.
const MAX_STEPS: u32 = 32;

impl FunctionBuilder<'_, '_> {
    /// Notes that the integer `id` becomes a pointer of this type.
    pub fn note_address(&mut self, id: u32, pointer_type: u32, line: Line) {
        let mut steps = MAX_STEPS;
        let Some((variable, offset)) = self.source_of(id, &mut steps) else { return };
        let Ok((_, pointee)) = self.types().pointer(pointer_type, line) else { return };
        let pointee = self.program.pointees.number(pointee);
        let member = PointerMember { offset, stride: None, name: None, pointee };
        self.program.addresses.entry(variable).or_default().push(member);
    }

    /// The variable and the byte in it that an integer was loaded from; of a sum, the first part that
    /// was.
    fn source_of(&self, id: u32, steps: &mut u32) -> Option<(u32, u32)> {
        *steps = steps.checked_sub(1)?;
        let made = self.definition(id)?;
        match made.op()? {
            Opcode::IAdd => made.operands.iter().take(2).find_map(|&part| self.source_of(part, steps)),
            Opcode::Bitcast | Opcode::CopyObject | Opcode::UConvert => self.source_of(made.word(0)?, steps),
            Opcode::Load => {
                let pointer = made.word(0)?;
                match self.local_ids.contains(&pointer) {
                    true => self.source_of(self.only_value_of(pointer)?, steps),
                    false => self.place_of(pointer),
                }
            }
            _ => None,
        }
    }

    /// The module-scope variable that the host fills, and the constant offset, that a pointer leads to.
    fn place_of(&self, pointer: u32) -> Option<(u32, u32)> {
        let offset = u32::try_from(self.pointee(pointer).start?).ok()?;
        let mut id = pointer;
        for _ in 0..MAX_STEPS {
            if let Some(at) = self.program.globals.variable(id) {
                let declared = self.program.globals.module.instruction(at)?;
                let class = self.types().pointer_class(declared.result_type?)?;
                let filled = matches!(
                    class,
                    StorageClass::PushConstant | StorageClass::Uniform | StorageClass::StorageBuffer
                );
                return filled.then_some((id, offset));
            }
            let made = self.definition(id)?;
            match made.op()? {
                Opcode::AccessChain | Opcode::InBoundsAccessChain => id = made.word(0)?,
                _ => return None,
            }
        }
        None
    }

    /// What is stored to a variable of the function's own, where that is one value.
    fn only_value_of(&self, variable: u32) -> Option<u32> {
        let module = self.program.globals.module;
        let instructions = self.body.blocks.iter().flat_map(|block| block.instructions.clone());
        let mut stores = instructions
            .filter_map(|at| module.instruction(at))
            .filter(|one| one.op() == Some(Opcode::Store) && one.word(0) == Some(variable));
        match (stores.next(), stores.next()) {
            (Some(only), None) => only.word(1),
            _ => None,
        }
    }

    /// The instruction of this function that makes a value.
    pub fn definition(&self, id: u32) -> Option<Instruction<'_>> {
        self.program.globals.module.instruction(*self.definitions.get(&id)?)
    }
}

//! Copies a function of another module, with all that it needs.

use std::collections::BTreeMap;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Capability, Op, Word};

use super::safe::callees;
use crate::Module;

/// Copies the function `id` of the donor. Gives its id in the module.
pub(super) fn import(module: &mut Module, donor: &Module, id: Word) -> Option<Word> {
    let mut copy = Import { module, donor, known: BTreeMap::new() };
    copy.capabilities();
    let id = copy.function(id)?;
    copy.decorations();
    Some(id)
}

struct Import<'m> {
    module: &'m mut Module,
    donor: &'m Module,
    /// The copies, by the donor's ids.
    known: BTreeMap<Word, Word>,
}

impl Import<'_> {
    /// What the donor may use, but for what belongs to its memory model.
    fn capabilities(&mut self) {
        let of_models = [Capability::VulkanMemoryModel, Capability::VulkanMemoryModelDeviceScope]
            .map(Operand::Capability);
        for inst in &self.donor.data.capabilities {
            let is_there = self.module.data.capabilities.iter().any(|own| own.operands == inst.operands);
            if !is_there && !inst.operands.iter().any(|operand| of_models.contains(operand)) {
                self.module.data.capabilities.push(inst.clone());
            }
        }
        for inst in &self.donor.data.extensions {
            if !self.module.data.extensions.iter().any(|own| own.operands == inst.operands) {
                self.module.data.extensions.push(inst.clone());
            }
        }
    }

    /// The copy of a function, behind the copies of those that it calls.
    fn function(&mut self, id: Word) -> Option<Word> {
        if let Some(copy) = self.known.get(&id) {
            return Some(*copy);
        }
        let donor = self.donor;
        let function = donor.data.functions.iter().find(|function| function.def_id() == Some(id))?;
        for callee in callees(function) {
            self.function(callee)?;
        }
        let own: Vec<Word> = function.all_inst_iter().filter_map(|inst| inst.result_id).collect();
        for id in own {
            let copy = self.module.fresh_id();
            self.known.insert(id, copy);
        }
        let mut copied = function.clone();
        for inst in copied.all_inst_iter_mut() {
            self.translate(inst)?;
            if let Some(id) = &mut inst.result_id {
                *id = *self.known.get(id)?;
            }
        }
        // Lines refer to files of the donor.
        for block in &mut copied.blocks {
            block.instructions.retain(|inst| !matches!(inst.class.opcode, Op::Line | Op::NoLine));
        }
        self.module.data.functions.push(copied);
        self.known.get(&id).copied()
    }

    /// The instruction with the copies of what it names.
    fn translate(&mut self, inst: &mut Instruction) -> Option<()> {
        if let Some(id) = &mut inst.result_type {
            *id = self.global(*id)?;
        }
        for id in inst.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
            *id = self.global(*id)?;
        }
        Some(())
    }

    /// The copy of a declaration: an equal one of the module where it must be the only one.
    fn global(&mut self, id: Word) -> Option<Word> {
        if let Some(copy) = self.known.get(&id) {
            return Some(*copy);
        }
        let donor = self.donor;
        let import = donor.data.ext_inst_imports.iter().find(|inst| inst.result_id == Some(id));
        let copy = match import {
            Some(import) => self.import_set(import),
            None => {
                let mut inst = donor.global(id)?.clone();
                self.translate(&mut inst)?;
                // The values of the donor's specialisation are its defaults.
                let opcode = match inst.class.opcode {
                    Op::SpecConstant => Op::Constant,
                    Op::SpecConstantTrue => Op::ConstantTrue,
                    Op::SpecConstantFalse => Op::ConstantFalse,
                    Op::SpecConstantComposite => Op::ConstantComposite,
                    opcode => opcode,
                };
                match opcode {
                    Op::Variable => {
                        let copy = self.module.declare(opcode, inst.result_type, inst.operands);
                        self.list(copy);
                        copy
                    }
                    // These may be there several times, with decorations of their own.
                    Op::TypeStruct | Op::TypeArray => self.module.declare(opcode, None, inst.operands),
                    _ if inst.result_type.is_none() => self.module.type_id(opcode, inst.operands),
                    _ => self.module.declare(opcode, inst.result_type, inst.operands),
                }
            }
        };
        self.known.insert(id, copy);
        Some(copy)
    }

    /// Lists a variable in the interfaces, where they have all of them.
    fn list(&mut self, variable: Word) {
        let version = self.module.data.header.as_ref().map_or((1, 0), |header| header.version());
        if version >= (1, 4) {
            let entries = self.module.data.entry_points.iter_mut();
            entries.for_each(|entry| entry.operands.push(Operand::IdRef(variable)));
        }
    }

    fn import_set(&mut self, import: &Instruction) -> Word {
        let existing =
            { self.module.data.ext_inst_imports.iter() }.find(|own| own.operands == import.operands);
        match existing.and_then(|inst| inst.result_id) {
            Some(id) => id,
            None => {
                let id = self.module.fresh_id();
                let inst = Instruction::new(Op::ExtInstImport, None, Some(id), import.operands.clone());
                self.module.data.ext_inst_imports.push(inst);
                id
            }
        }
    }

    /// Copies the decorations of what is new, but for those that tie it to the outside.
    fn decorations(&mut self) {
        let is_own = |id: Word| {
            self.donor
                .global(id)
                .is_none_or(|inst| matches!(inst.class.opcode, Op::TypeStruct | Op::TypeArray))
        };
        let mut copies = Vec::new();
        for inst in &self.donor.data.annotations {
            let target = inst.operands.first().and_then(Operand::id_ref_any);
            let Some((target, copy)) = target.and_then(|id| Some((id, *self.known.get(&id)?))) else {
                continue;
            };
            if is_own(target) && matches!(inst.class.opcode, Op::Decorate | Op::MemberDecorate) {
                let mut inst = inst.clone();
                inst.operands[0] = Operand::IdRef(copy);
                copies.push(inst);
            }
        }
        self.module.data.annotations.extend(copies);
    }
}

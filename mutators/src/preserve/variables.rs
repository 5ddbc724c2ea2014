use std::collections::BTreeSet;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, StorageClass, Word};

use super::edit::{once, uses, with_ids};
use crate::flow::tail;
use crate::{Module, Mutant, Mutator};

/// Carries values over branches in variables in place of OpPhi.
pub struct PhiToVariable;

/// Passes values to functions through pointers to variables of the caller.
pub struct ParametersByPointer;

impl Mutator for PhiToVariable {
    fn name(&self) -> &'static str {
        "phi-to-variable"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| {
            for function in 0..changed.data.functions.len() {
                while let Some((block, at)) = next_phi(changed, function) {
                    carried(changed, function, block, at);
                }
            }
        })
    }
}

/// The next OpPhi of a value that variables can hold.
fn next_phi(module: &Module, function: usize) -> Option<(usize, usize)> {
    let blocks = module.data.functions[function].blocks.iter().enumerate();
    blocks
        .flat_map(|(block, code)| {
            code.instructions.iter().enumerate().map(move |(at, inst)| (block, at, inst))
        })
        .find(|(_, _, inst)| {
            inst.class.opcode == Op::Phi
                && inst.result_type.is_some_and(|of_type| is_storable(module, of_type))
        })
        .map(|(block, at, _)| (block, at))
}

/// Whether variables of a function can hold the type: it has no pointer, image or other handle.
fn is_storable(module: &Module, of_type: Word) -> bool {
    module.global(of_type).is_some_and(|inst| match inst.class.opcode {
        Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeMatrix => true,
        Op::TypeArray => {
            inst.operands.first().and_then(Operand::id_ref_any).is_some_and(|of| is_storable(module, of))
        }
        Op::TypeStruct => {
            let mut members = inst.operands.iter().filter_map(Operand::id_ref_any);
            members.all(|member| is_storable(module, member))
        }
        _ => false,
    })
}

/// Declares a variable of a function.
fn local(module: &mut Module, function: usize, of_type: Word) -> Word {
    let class = Operand::StorageClass(StorageClass::Function);
    let pointer = module.type_id(Op::TypePointer, vec![class.clone(), Operand::IdRef(of_type)]);
    let id = module.fresh_id();
    if let Some(entry) = module.data.functions[function].blocks.first_mut() {
        entry.instructions.insert(0, Instruction::new(Op::Variable, Some(pointer), Some(id), vec![class]));
    }
    id
}

fn carried(module: &mut Module, function: usize, block: usize, at: usize) {
    let phi = module.data.functions[function].blocks[block].instructions.remove(at);
    let Some(of_type) = phi.result_type else { return };
    let variable = local(module, function, of_type);
    // The variable may have been declared in this very block, and moves all others.
    let blocks = &mut module.data.functions[function].blocks;
    let load = with_ids(Op::Load, Some(of_type), phi.result_id, &[variable]);
    let code = &mut blocks[block].instructions;
    let behind = code.iter().rposition(|inst| matches!(inst.class.opcode, Op::Phi | Op::Variable));
    code.insert(behind.map_or(0, |last| last + 1), load);
    for pair in phi.operands.chunks(2) {
        let [Some(value), Some(from)] =
            [pair.first(), pair.get(1)].map(|id| id.and_then(Operand::id_ref_any))
        else {
            continue;
        };
        if let Some(source) = blocks.iter_mut().find(|block| block.label_id() == Some(from)) {
            let end = tail(source);
            source.instructions.insert(end, with_ids(Op::Store, None, None, &[variable, value]));
        }
    }
}

impl Mutator for ParametersByPointer {
    fn name(&self) -> &'static str {
        "parameters-by-pointer"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| {
            // Entry points, and functions that other instructions than calls take.
            let others = { module.data.all_inst_iter() }
                .filter(|inst| !matches!(inst.class.opcode, Op::FunctionCall | Op::Name | Op::Decorate));
            let others: BTreeSet<Word> = others.flat_map(uses).collect();
            for function in 0..changed.data.functions.len() {
                let Some(id) = changed.data.functions[function].def_id() else { continue };
                if !others.contains(&id) {
                    for parameter in 0..changed.data.functions[function].parameters.len() {
                        by_pointer(changed, function, id, parameter);
                    }
                }
            }
        })
    }
}

/// Makes a parameter a pointer, from which the function loads the value when it begins.
fn by_pointer(module: &mut Module, function: usize, callee: Word, parameter: usize) -> Option<()> {
    let old = module.data.functions[function].parameters[parameter].clone();
    let (of_type, id) = (old.result_type?, old.result_id?);
    let is_decorated =
        { module.data.annotations.iter() }.any(|inst| inst.operands.first() == Some(&Operand::IdRef(id)));
    if is_decorated || !is_storable(module, of_type) {
        return None;
    }
    let class = Operand::StorageClass(StorageClass::Function);
    let pointer = module.type_id(Op::TypePointer, vec![class, Operand::IdRef(of_type)]);
    let passed = module.fresh_id();
    // The function gets a type of its own, since others may have the old one.
    let body = &module.data.functions[function];
    let returns = body.def.as_ref()?.result_type?;
    let mut types: Vec<Operand> = vec![Operand::IdRef(returns)];
    types.extend(body.parameters.iter().filter_map(|inst| inst.result_type).map(Operand::IdRef));
    types[parameter + 1] = Operand::IdRef(pointer);
    let signature = module.type_id(Op::TypeFunction, types);
    let body = &mut module.data.functions[function];
    *body.def.as_mut()?.operands.last_mut()? = Operand::IdRef(signature);
    body.parameters[parameter] = Instruction::new(Op::FunctionParameter, Some(pointer), Some(passed), vec![]);
    let entry = body.blocks.first_mut()?;
    let at = crate::flow::head(entry);
    entry.instructions.insert(at, with_ids(Op::Load, Some(of_type), Some(id), &[passed]));

    for caller in 0..module.data.functions.len() {
        for block in 0..module.data.functions[caller].blocks.len() {
            let mut at = 0;
            while let Some(inst) = module.data.functions[caller].blocks[block].instructions.get(at).cloned() {
                at += 1;
                if inst.class.opcode != Op::FunctionCall
                    || inst.operands.first() != Some(&Operand::IdRef(callee))
                {
                    continue;
                }
                let value = inst.operands.get(parameter + 1)?.id_ref_any()?;
                let variable = local(module, caller, of_type);
                // A variable in the same block stands before the call now.
                at += usize::from(block == 0);
                let code = &mut module.data.functions[caller].blocks[block].instructions;
                code[at - 1].operands[parameter + 1] = Operand::IdRef(variable);
                code.insert(at - 1, with_ids(Op::Store, None, None, &[variable, value]));
                at += 1;
            }
        }
    }
    Some(())
}

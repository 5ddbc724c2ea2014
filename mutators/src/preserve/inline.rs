use std::collections::{BTreeMap, BTreeSet};

use rspirv::dr::{Block, Function, Instruction, Operand};
use rspirv::spirv::{Op, Word};

use super::edit::{branch, replace_uses};
use crate::flow::{combines_image, is_loop_header, rename_phi_sources};
use crate::{Module, Mutant, Mutator, Site};

/// Replaces one call by the body of the function.
///
/// The function must return in one place, its last block; the call must not stand in a block that
/// begins a loop, which could not be split; parameters and variables with decorations stay. Variables of the body move to the caller's entry; where
/// the call was, they get their initial value again, be it an undefined one.
pub struct Inline;

impl Mutator for Inline {
    fn name(&self) -> &'static str {
        "inline"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let calls = module.sites().into_iter().filter(|(site, _)| site.opcode == Op::FunctionCall);
        Box::new(calls.filter_map(|(site, call)| {
            let module = inlined(module, site, call)?;
            Some(Mutant { mutator: self.name(), site: Some(site), what: String::new(), module })
        }))
    }
}

/// Whether a parameter or variable of the function is decorated: what that says of the accesses through it
/// would have no place in the caller.
fn is_decorated(module: &Module, callee: &Function) -> bool {
    let variables = callee.all_inst_iter().filter(|inst| inst.class.opcode == Op::Variable);
    let own: BTreeSet<Word> =
        callee.parameters.iter().chain(variables).filter_map(|inst| inst.result_id).collect();
    let targets = module.data.annotations.iter().filter_map(|inst| inst.operands.first()?.id_ref_any());
    targets.into_iter().any(|target| own.contains(&target))
}

fn inlined(module: &Module, site: Site, call: &Instruction) -> Option<Module> {
    let mut arguments = call.operands.iter().filter_map(Operand::id_ref_any);
    let callee = arguments.next()?;
    let callee = module.data.functions.iter().find(|function| function.def_id() == Some(callee))?;
    let caller = module.data.functions.get(site.function)?;
    let block = caller.blocks.get(site.block)?;
    if is_loop_header(block) || combines_image(block) || caller.def_id() == callee.def_id() {
        return None;
    }
    if is_decorated(module, callee) {
        return None;
    }
    let result = only_return(callee)?;
    let mut changed = module.clone();
    let mut body = Body::of(&mut changed, callee, arguments);
    let entry = body.blocks.first()?.label_id()?;

    // The call's block ends before the call; the rest follows the body.
    let continuation = changed.fresh_id();
    let function = changed.data.functions.get_mut(site.function)?;
    let before = function.blocks.get_mut(site.block)?;
    let label = before.label_id()?;
    let mut rest = before.instructions.split_off(site.index);
    rest.remove(0);
    before.instructions.push(branch(entry));
    rename_phi_sources(&mut function.blocks, label, continuation);

    let last = body.blocks.last_mut()?;
    last.instructions.pop();
    last.instructions.push(branch(continuation));
    let rest = Block {
        label: Some(Instruction::new(Op::Label, None, Some(continuation), vec![])),
        instructions: rest,
    };
    let inserted = body.blocks.into_iter().chain([rest]);
    function.blocks.splice(site.block + 1..site.block + 1, inserted);
    function.blocks.first_mut()?.instructions.splice(0..0, body.variables);
    if let (Some(call_result), Some(result)) = (call.result_id, result) {
        let result = body.ids.get(&result).copied().unwrap_or(result);
        replace_uses(function, call_result, result);
        forget(&mut changed, call_result);
    }
    if let Some(call_result) = call.result_id.filter(|_| result.is_none()) {
        forget(&mut changed, call_result);
    }
    Some(changed)
}

/// The value returned (`Some(None)` for none) if the last block has the only return, and no other
/// block ends the invocation.
fn only_return(function: &Function) -> Option<Option<Word>> {
    let (last, others) = function.blocks.split_last()?;
    let ends = |block: &Block| {
        let terminator = block.instructions.last().map(|inst| inst.class.opcode);
        !matches!(terminator, Some(Op::Branch | Op::BranchConditional | Op::Switch | Op::Unreachable))
    };
    if others.iter().any(ends) {
        return None;
    }
    let terminator = last.instructions.last()?;
    match terminator.class.opcode {
        Op::Return => Some(None),
        Op::ReturnValue => Some(Some(terminator.operands.first()?.id_ref_any()?)),
        _ => None,
    }
}

/// A copy of a function's body under new ids.
struct Body {
    ids: BTreeMap<Word, Word>,
    variables: Vec<Instruction>,
    blocks: Vec<Block>,
}

impl Body {
    fn of(module: &mut Module, callee: &Function, arguments: impl Iterator<Item = Word>) -> Self {
        let parameters = callee.parameters.iter().filter_map(|inst| inst.result_id);
        let mut ids: BTreeMap<Word, Word> = parameters.zip(arguments).collect();
        for inst in callee.blocks.iter().flat_map(|block| block.label.iter().chain(&block.instructions)) {
            if let Some(id) = inst.result_id {
                ids.insert(id, module.fresh_id());
            }
        }
        let copy = |inst: &Instruction| {
            let mut inst = inst.clone();
            let operands = inst.operands.iter_mut().filter_map(Operand::id_ref_any_mut);
            for id in inst.result_id.iter_mut().chain(operands) {
                *id = ids.get(id).copied().unwrap_or(*id);
            }
            inst
        };
        let mut blocks: Vec<Block> = { callee.blocks.iter() }
            .map(|block| Block {
                label: block.label.as_ref().map(copy),
                instructions: block.instructions.iter().map(copy).collect(),
            })
            .collect();
        let mut variables = Vec::new();
        if let Some(entry) = blocks.first_mut() {
            let (mut moved, code): (Vec<_>, Vec<_>) =
                entry.instructions.drain(..).partition(|inst| inst.class.opcode == Op::Variable);
            entry.instructions = moved.iter_mut().flat_map(|inst| initialised(module, inst)).collect();
            entry.instructions.extend(code);
            variables = moved;
        }
        copy_decorations(module, &ids, callee);
        Body { ids, variables, blocks }
    }
}

/// Takes the initialiser from a variable, and gives the instructions that have its effect.
fn initialised(module: &mut Module, variable: &mut Instruction) -> Vec<Instruction> {
    let (Some(id), Some(pointer)) = (variable.result_id, variable.result_type) else { return Vec::new() };
    let pointee = module.global(pointer).and_then(|inst| inst.operands.get(1)?.id_ref_any());
    let mut code = Vec::new();
    let value = variable.operands.drain(1..).next().and_then(|operand| operand.id_ref_any());
    let value = value.or_else(|| {
        let undefined = module.fresh_id();
        code.push(Instruction::new(Op::Undef, Some(pointee?), Some(undefined), vec![]));
        Some(undefined)
    });
    let operands = [Some(id), value].into_iter().flatten().map(Operand::IdRef).collect();
    code.push(Instruction::new(Op::Store, None, None, operands));
    code
}

/// Decorates the copies like what they are copies of.
fn copy_decorations(module: &mut Module, ids: &BTreeMap<Word, Word>, callee: &Function) {
    let parameters: BTreeSet<Word> = callee.parameters.iter().filter_map(|inst| inst.result_id).collect();
    let copies: Vec<Instruction> = { module.data.annotations.iter() }
        .filter_map(|inst| {
            let target = inst.operands.first()?.id_ref_any()?;
            let copy = *ids.get(&target).filter(|_| !parameters.contains(&target))?;
            let mut inst = inst.clone();
            *inst.operands.first_mut()? = Operand::IdRef(copy);
            Some(inst)
        })
        .collect();
    module.data.annotations.extend(copies);
}

/// Removes names and decorations of an id that is gone.
fn forget(module: &mut Module, id: Word) {
    let other = |inst: &Instruction| inst.operands.first() != Some(&Operand::IdRef(id));
    module.data.debug_names.retain(other);
    module.data.annotations.retain(other);
}

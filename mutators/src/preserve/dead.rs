use fastrand::Rng;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::edit::{block, branch, conditional, cut, once, with_ids};
use super::opaque::Opaque;
use crate::flow::{combines_image, continue_constructs, head, is_loop_header, tail};
use crate::memory::accesses_shared;
use crate::{Module, Mutant, Mutator};

/// Adds code that never runs, behind conditions that are always false: stores and atomics that the block has, once
/// more, or the end of the invocation.
pub struct DeadCode;

/// Runs the rest of a block in a selection whose other way is unreachable.
pub struct UnreachableElse;

/// Runs a part of a block in a loop that turns once.
pub struct LoopOnce;

impl Mutator for DeadCode {
    fn name(&self) -> &'static str {
        "dead-code"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        at_some_blocks(self.name(), module, seed, |module, opaque, function, index, at, random| {
            let (code, condition) = opaque.condition(module, false);
            let (then, merge) = (module.fresh_id(), cut(module, function, index, at)?);
            let returns_value = module.data.functions[function].def.as_ref()?.result_type;
            let is_void = returns_value.and_then(|id| module.global(id)).map(|inst| inst.class.opcode);
            let mut dead = effects(module, function, index);
            let end = match random.u32(..3) {
                0 => Instruction::new(Op::Unreachable, None, None, vec![]),
                1 if is_void == Some(Op::TypeVoid) => Instruction::new(Op::Return, None, None, vec![]),
                _ => branch(merge),
            };
            dead.push(end);
            let blocks = &mut module.data.functions[function].blocks;
            blocks[index].instructions.extend(code);
            blocks[index].instructions.extend(conditional(merge, condition, then, merge));
            blocks.insert(index + 1, block(then, dead));
            Some(())
        })
    }
}

/// The stores and atomics of a block's first part under new results, as far as the same values are there where it ends.
fn effects(module: &mut Module, function: usize, index: usize) -> Vec<Instruction> {
    let code = module.data.functions[function].blocks[index].instructions.clone();
    let mut copies = Vec::new();
    for inst in code {
        let is_atomic = crate::memory::is_atomic(inst.class.opcode);
        if inst.class.opcode == Op::Store || (is_atomic && accesses_shared(module, &inst)) {
            let mut copy = inst.clone();
            copy.result_id = inst.result_id.map(|_| module.fresh_id());
            copies.push(copy);
        }
    }
    copies
}

impl Mutator for UnreachableElse {
    fn name(&self) -> &'static str {
        "unreachable-else"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        at_some_blocks(self.name(), module, seed, |module, opaque, function, index, at, random| {
            let runs_if = random.bool();
            let (code, condition) = opaque.condition(module, runs_if);
            let end = tail(&module.data.functions[function].blocks[index]);
            let merge = cut(module, function, index, end)?;
            let then = cut(module, function, index, at)?;
            let other = module.fresh_id();
            let (yes, no) = if runs_if { (then, other) } else { (other, then) };
            let blocks = &mut module.data.functions[function].blocks;
            blocks[index].instructions.extend(code);
            blocks[index].instructions.extend(conditional(merge, condition, yes, no));
            blocks[index + 1].instructions.push(branch(merge));
            let unreachable = Instruction::new(Op::Unreachable, None, None, vec![]);
            blocks.insert(index + 1, block(other, vec![unreachable]));
            Some(())
        })
    }
}

impl Mutator for LoopOnce {
    fn name(&self) -> &'static str {
        "loop-once"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        at_some_blocks(self.name(), module, seed, |module, opaque, function, index, at, _| {
            let (code, condition) = opaque.condition(module, false);
            let end = tail(&module.data.functions[function].blocks[index]);
            let merge = cut(module, function, index, end)?;
            let body = cut(module, function, index, at)?;
            let (header, next) = (module.fresh_id(), module.fresh_id());
            let blocks = &mut module.data.functions[function].blocks;
            blocks[index].instructions.push(branch(header));
            blocks[index + 1].instructions.push(branch(next));
            let control = Operand::LoopControl(rspirv::spirv::LoopControl::NONE);
            let targets = vec![Operand::IdRef(merge), Operand::IdRef(next), control];
            let head = vec![Instruction::new(Op::LoopMerge, None, None, targets), branch(body)];
            let again = with_ids(Op::BranchConditional, None, None, &[condition, header, merge]);
            let again = code.into_iter().chain([again]).collect();
            blocks.insert(index + 2, block(next, again));
            blocks.insert(index + 1, block(header, head));
            Some(())
        })
    }
}

/// A change of a block, cut at an instruction.
type AtBlock = fn(&mut Module, &Opaque, usize, usize, usize, &mut Rng) -> Option<()>;

/// Changes some blocks of compute modules, each between its head and its tail.
fn at_some_blocks<'m>(
    name: &'static str,
    module: &'m Module,
    seed: u64,
    change: AtBlock,
) -> Box<dyn Iterator<Item = Mutant> + 'm> {
    once(name, module, move |changed| {
        let mut random = Rng::with_seed(seed);
        let Some(opaque) = Opaque::new(changed) else { return };
        for function in 0..module.data.functions.len() {
            // A loop that never ends may be left where nothing but what is unreachable follows it: none may be added.
            let body = &module.data.functions[function];
            if body.all_inst_iter().any(|inst| inst.class.opcode == Op::Unreachable) {
                continue;
            }
            let continued = continue_constructs(body);
            for index in (0..module.data.functions[function].blocks.len()).rev() {
                let block = &changed.data.functions[function].blocks[index];
                let (head, tail) = (head(block), tail(block));
                let is_continued = block.label_id().is_some_and(|label| continued.contains(&label));
                let is_whole = is_loop_header(block) || is_continued || combines_image(block);
                if is_whole || head > tail || random.u32(..3) == 0 {
                    continue;
                }
                let at = random.usize(head..=tail);
                change(changed, &opaque, function, index, at, &mut random);
            }
        }
    })
}

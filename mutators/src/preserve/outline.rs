use std::collections::BTreeSet;

use fastrand::Rng;
use rspirv::dr::{Function, Instruction, Operand};
use rspirv::spirv::{FunctionControl, Op, Word};

use super::edit::{block, once, replace_uses, uses, with_ids};
use crate::flow::{head, tail};
use crate::{Module, Mutant, Mutator};

/// Moves runs of instructions that only compute to functions of their own, which return the last result.
pub struct Outline;

impl Mutator for Outline {
    fn name(&self) -> &'static str {
        "outline"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mut random = Rng::with_seed(seed);
        once(self.name(), module, move |changed| {
            for function in 0..module.data.functions.len() {
                for block in 0..module.data.functions[function].blocks.len() {
                    outline(changed, function, block, &mut random);
                }
            }
        })
    }
}

/// Outlines one run of a block: a result, with those before it that only the run uses.
fn outline(module: &mut Module, function: usize, index: usize, random: &mut Rng) -> Option<()> {
    let body = &module.data.functions[function];
    let code = &body.blocks[index];
    let (head, tail) = (head(code), tail(code));
    let candidates: Vec<usize> =
        (head..tail).filter(|at| is_movable(module, &code.instructions[*at])).collect();
    let last = random.choice(candidates)?;
    let first = (head..=last).rev().take_while(|at| is_movable(module, &code.instructions[*at])).last()?;
    // Of the run only the last result may be used outside.
    let run = chosen(body, index, first, last);
    let inside: BTreeSet<Word> =
        run.iter().filter_map(|at| body.blocks[index].instructions[*at].result_id).collect();
    let moved: Vec<Instruction> = run.iter().map(|at| body.blocks[index].instructions[*at].clone()).collect();
    let mut arguments: Vec<Word> = Vec::new();
    for id in moved.iter().flat_map(uses) {
        if !inside.contains(&id)
            && module.global(id).is_none()
            && !is_import(module, id)
            && !arguments.contains(&id)
        {
            arguments.push(id);
        }
    }
    let types: Vec<Word> = arguments.iter().map(|id| module.type_of(*id)).collect::<Option<_>>()?;
    let result = moved.last()?.clone();
    let returns = result.result_type?;
    let (id, label, called) = (module.fresh_id(), module.fresh_id(), module.fresh_id());
    let signature: Vec<Operand> =
        [returns].into_iter().chain(types.iter().copied()).map(Operand::IdRef).collect();
    let signature = module.type_id(Op::TypeFunction, signature);
    let parameters: Vec<Word> = arguments.iter().map(|_| module.fresh_id()).collect();

    let blocks = &mut module.data.functions[function].blocks;
    let call = [id].into_iter().chain(arguments.iter().copied()).collect::<Vec<_>>();
    blocks[index].instructions[last] = with_ids(Op::FunctionCall, Some(returns), Some(called), &call);
    for at in run.iter().rev().filter(|at| **at != last) {
        blocks[index].instructions.remove(*at);
    }
    replace_uses(&mut module.data.functions[function], result.result_id?, called);

    let control = Operand::FunctionControl(FunctionControl::NONE);
    let mut instructions = moved;
    instructions.push(with_ids(Op::ReturnValue, None, None, &[result.result_id?]));
    let mut outlined = Function {
        def: Some(Instruction::new(
            Op::Function,
            Some(returns),
            Some(id),
            vec![control, Operand::IdRef(signature)],
        )),
        end: Some(Instruction::new(Op::FunctionEnd, None, None, vec![])),
        parameters: { parameters.iter().zip(&types) }
            .map(|(id, of_type)| Instruction::new(Op::FunctionParameter, Some(*of_type), Some(*id), vec![]))
            .collect(),
        blocks: vec![block(label, instructions)],
    };
    for (argument, parameter) in arguments.iter().zip(&parameters) {
        replace_uses(&mut outlined, *argument, *parameter);
    }
    module.data.functions.push(outlined);
    Some(())
}

/// The instructions from `first` to `last` that move: `last`, and all that only they use.
fn chosen(body: &Function, index: usize, first: usize, last: usize) -> Vec<usize> {
    let code = &body.blocks[index].instructions;
    let mut run = vec![last];
    for at in (first..last).rev() {
        let Some(id) = code[at].result_id else { continue };
        let is_used = |inst: &Instruction| uses(inst).any(|used| used == id);
        let elsewhere = body.blocks.iter().enumerate().any(|(other, block)| {
            let users = block.instructions.iter().enumerate();
            users.filter(|(user, _)| other != index || !run.contains(user)).any(|(_, inst)| is_used(inst))
        });
        if !elsewhere && run.iter().any(|user| is_used(&code[*user])) {
            run.insert(0, at);
        }
    }
    run
}

fn is_import(module: &Module, id: Word) -> bool {
    module.data.ext_inst_imports.iter().any(|inst| inst.result_id == Some(id))
}

/// Whether the instruction only computes with values that functions can take and return.
fn is_movable(module: &Module, inst: &Instruction) -> bool {
    let is_value = |id: Word| {
        let opcode = module.global(id).map(|inst| inst.class.opcode);
        let scalar = matches!(
            opcode,
            Some(Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeMatrix)
        );
        scalar || matches!(opcode, Some(Op::TypeArray | Op::TypeStruct))
    };
    let mut types = uses(inst).filter_map(|id| module.type_of(id));
    crate::pure::is_pure(inst.class.opcode)
        && inst.class.opcode != Op::Undef
        && inst.result_type.is_some_and(is_value)
        && types.all(is_value)
}

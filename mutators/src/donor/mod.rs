//! Splices functions of other modules into a module: called behind a condition that is always false or, where they
//! can do no harm, for a result that changes nothing.

mod import;
mod safe;

use fastrand::Rng;
use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use crate::flow::{combines_image, continue_constructs, head, is_loop_header, tail};
use crate::preserve::edit::{block, branch, conditional, cut, with_ids};
use crate::preserve::opaque::Opaque;
use crate::{Module, Mutant, Mutator};

/// A preserving rewrite of compute modules that takes functions from donors.
///
/// A function can be taken if, with all that it calls, it uses no variables outside of functions but Private ones, and
/// neither communicates nor ends the invocation. Where it has no loop, no division and no index that is not constant,
/// it is also called for real, with zeros as its arguments.
pub struct Splice {
    donors: Vec<Module>,
}

impl Splice {
    /// Takes functions from these modules.
    pub fn new(donors: Vec<Module>) -> Self {
        Splice { donors }
    }
}

impl Mutator for Splice {
    fn name(&self) -> &'static str {
        "splice"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let functions = self.donors.iter().enumerate().flat_map(|(donor, from)| {
            let functions = from.data.functions.iter().filter_map(|function| function.def_id());
            functions.enumerate().map(move |(number, id)| (donor, from, number, id))
        });
        Box::new(functions.flat_map(move |(donor, from, number, id)| {
            let runs: &[bool] = match safe::kind(from, id) {
                safe::Kind::Never => &[],
                safe::Kind::Dead => &[false],
                safe::Kind::Live => &[false, true],
            };
            runs.iter().filter_map(move |is_live| {
                let module = spliced(module, from, id, *is_live, seed)?;
                let way = if *is_live { "called" } else { "never called" };
                let what = format!("function {number} of donor {donor}, {way}");
                Some(Mutant { mutator: "splice", site: None, what, module })
            })
        }))
    }
}

/// The module with a call of a donor's function.
fn spliced(module: &Module, donor: &Module, function: Word, is_live: bool, seed: u64) -> Option<Module> {
    let mut random = Rng::with_seed(seed);
    let mut changed = module.clone();
    let opaque = Opaque::new(&mut changed)?;
    let callee = import::import(&mut changed, donor, function)?;
    let (caller, index) = place(module, &mut random)?;
    let code = &changed.data.functions.get(caller)?.blocks.get(index)?;
    let at = random.usize(head(code)..=tail(code));
    let call = call(&mut changed, caller, callee)?;
    // Variables may have been declared in this block.
    let code = &mut changed.data.functions.get_mut(caller)?.blocks.get_mut(index)?;
    let at = at.max(head(code)).min(tail(code));
    if is_live {
        code.instructions.splice(at..at, call);
        return Some(changed);
    }
    let (condition, id) = opaque.condition(&mut changed, false);
    let (then, merge) = (changed.fresh_id(), cut(&mut changed, caller, index, at)?);
    let blocks = &mut changed.data.functions.get_mut(caller)?.blocks;
    blocks
        .get_mut(index)?
        .instructions
        .extend(condition.into_iter().chain(conditional(merge, id, then, merge)));
    blocks.insert(index + 1, block(then, call.into_iter().chain([branch(merge)]).collect()));
    Some(changed)
}

/// A block of a function of the module that can be cut.
fn place(module: &Module, random: &mut Rng) -> Option<(usize, usize)> {
    let mut places = Vec::new();
    for (number, function) in module.data.functions.iter().enumerate() {
        let continued = continue_constructs(function);
        for (index, block) in function.blocks.iter().enumerate() {
            let is_continued = block.label_id().is_some_and(|label| continued.contains(&label));
            let is_whole = is_loop_header(block) || is_continued || combines_image(block);
            if !is_whole && head(block) <= tail(block) {
                places.push((number, index));
            }
        }
    }
    random.choice(places)
}

/// A call with zeros, and with variables that hold zeros where pointers are taken.
fn call(module: &mut Module, caller: usize, callee: Word) -> Option<Vec<Instruction>> {
    let function = module.data.functions.iter().find(|function| function.def_id() == Some(callee))?;
    let returns = function.def.as_ref()?.result_type;
    let parameters: Vec<Word> = function.parameters.iter().filter_map(|inst| inst.result_type).collect();
    let mut operands = vec![callee];
    let mut code = Vec::new();
    for of_type in parameters {
        let pointee = module.global(of_type).filter(|inst| inst.class.opcode == Op::TypePointer);
        match pointee.map(|inst| inst.operands.clone()) {
            None => operands.push(module.declare_null(Some(of_type))),
            Some(pointer) => {
                let zero = module.declare_null(Some(pointer.get(1)?.id_ref_any()?));
                let id = module.fresh_id();
                let class: Vec<Operand> = pointer.into_iter().take(1).collect();
                let variable = Instruction::new(Op::Variable, Some(of_type), Some(id), class);
                module.data.functions.get_mut(caller)?.blocks.first_mut()?.instructions.insert(0, variable);
                code.push(with_ids(Op::Store, None, None, &[id, zero]));
                operands.push(id);
            }
        }
    }
    let id = module.fresh_id();
    code.push(with_ids(Op::FunctionCall, returns, Some(id), &operands));
    Some(code)
}

#[cfg(test)]
mod tests;

//! What a function may do to a module that it is spliced into.

use std::collections::BTreeSet;

use rspirv::dr::{Function, Instruction, Operand};
use rspirv::spirv::{Op, StorageClass, Word};

use crate::pure::{is_pure, is_total};
use crate::Module;

/// Whether a function can be taken.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Kind {
    /// It uses what another module has not.
    Never,
    /// It may be there, but not run.
    Dead,
    /// It runs to its end with any arguments, and changes nothing but what its pointers lead to.
    Live,
}

/// The kind of a function, with all functions that it calls.
pub(super) fn kind(module: &Module, function: Word) -> Kind {
    let mut seen = BTreeSet::new();
    let mut left = vec![function];
    let mut kind = Kind::Live;
    while let Some(id) = left.pop() {
        if !seen.insert(id) {
            continue;
        }
        let Some(function) = module.data.functions.iter().find(|function| function.def_id() == Some(id))
        else {
            return Kind::Never;
        };
        kind = kind.min(own_kind(module, function));
        left.extend(callees(function));
    }
    kind
}

/// The functions that a function calls.
pub(super) fn callees(function: &Function) -> impl Iterator<Item = Word> + '_ {
    let calls = function.all_inst_iter().filter(|inst| inst.class.opcode == Op::FunctionCall);
    calls.filter_map(|inst| inst.operands.first()?.id_ref_any())
}

fn own_kind(module: &Module, function: &Function) -> Kind {
    let parameters = function.parameters.iter().all(|inst| is_plain(module, inst.result_type));
    let types = function.def.iter().all(|inst| is_plain(module, inst.result_type));
    let code = function.blocks.iter().flat_map(|block| &block.instructions);
    let kinds = code.map(|inst| instruction(module, inst));
    let own = if parameters && types { Kind::Live } else { Kind::Never };
    kinds.min().unwrap_or(Kind::Live).min(own)
}

/// Whether the type has a null, or is a pointer of the function to such a type, or void.
fn is_plain(module: &Module, of_type: Option<Word>) -> bool {
    let Some(inst) = of_type.and_then(|id| module.global(id)) else { return false };
    let of = |operand: &Operand| is_plain(module, operand.id_ref_any());
    match inst.class.opcode {
        Op::TypeVoid | Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeMatrix => true,
        Op::TypeArray => inst.operands.first().is_some_and(of),
        Op::TypeStruct => inst.operands.iter().all(of),
        Op::TypePointer => {
            inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Function))
                && inst.operands.get(1).is_some_and(of)
        }
        _ => false,
    }
}

fn instruction(module: &Module, inst: &Instruction) -> Kind {
    let mut globals = inst.operands.iter().filter_map(|operand| module.global(operand.id_ref_any()?));
    let is_foreign = |inst: &Instruction| {
        let is_private = inst.operands.first() == Some(&Operand::StorageClass(StorageClass::Private));
        let is_variable = inst.class.opcode == Op::Variable && !is_private;
        is_variable || inst.class.opcode == Op::SpecConstantOp
    };
    if globals.any(is_foreign) {
        return Kind::Never;
    }
    match inst.class.opcode {
        Op::Label | Op::Variable | Op::Load | Op::Store | Op::Phi | Op::FunctionCall => Kind::Live,
        Op::Branch | Op::BranchConditional | Op::Switch | Op::SelectionMerge => Kind::Live,
        Op::Return | Op::ReturnValue => Kind::Live,
        // Other arguments may turn a loop for ever.
        Op::LoopMerge | Op::CopyMemory | Op::Unreachable => Kind::Dead,
        Op::VectorExtractDynamic | Op::VectorInsertDynamic => Kind::Dead,
        Op::AccessChain | Op::InBoundsAccessChain => {
            let mut indices = inst.operands.iter().skip(1).filter_map(Operand::id_ref_any);
            if indices.all(|index| module.constant_value(index).is_some()) {
                Kind::Live
            } else {
                Kind::Dead
            }
        }
        opcode if is_total(opcode) => Kind::Live,
        opcode if is_pure(opcode) => Kind::Dead,
        _ => Kind::Never,
    }
}

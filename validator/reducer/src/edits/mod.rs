//! What can be made smaller, in families: from what takes most away to what takes least.

mod constants;
mod declarations;
mod flow;
mod functions;
mod masks;
mod members;
mod operands;
mod sizes;
mod values;

#[cfg(test)]
mod tests;

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use crate::module::{is_annotation, is_name, Key, Module};

/// A change of one place of a module, which is named by what stays when other places are changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Edit {
    /// An instruction that nothing depends on but names and decorations.
    Remove(Key),
    /// The code of a function: it returns at once, zero if it has a result.
    EmptyFunction(Key),
    /// A call of a function that has one block, whose code takes its place.
    Inline(Key),
    /// A parameter of a function that it does not take, with its arguments.
    RemoveParameter(Key),
    /// A construct: its header goes to its merge block. The header is named by its label.
    SkipConstruct(Key),
    /// A branch: the block with this label goes to the target of this number only.
    Take(Key, usize),
    /// A loop: the one with this header is gone through once.
    Once(Key),
    /// What comes behind the block with this label: it returns.
    Return(Key),
    /// A case of the switch with this key, by its number from 0.
    RemoveCase(Key, usize),
    /// The block with this label and the one that it alone goes to are one.
    MergeBlocks(Key),
    /// A block that only goes on: who goes to it goes where it goes.
    Forward(Key),
    /// A value: who takes it takes zero.
    Zero(Key),
    /// A value: who takes it takes an undefined one.
    Undefine(Key),
    /// A value: who takes it takes the operand of this number.
    Bypass(Key, usize),
    /// A value: who takes it takes the earlier value with this id, which is of the same type.
    Alias(Key, Word),
    /// An operand, which becomes zero.
    ZeroOperand(Key, usize),
    /// Bits of a mask, with the operands that belong to them.
    ClearBits(Key, usize, u32),
    /// A scope or memory semantics, which become a constant of this value.
    SetScalar(Key, usize, u32),
    /// An atomic load or store, which becomes a plain one.
    Plain(Key),
    /// A literal of a constant or of a mode.
    SetLiteral(Key, usize, u64),
    /// A type or constant: who takes it takes the one in front of it that is the same.
    Share(Key),
    /// A specialisation constant, which becomes a constant.
    Freeze(Key),
    /// A member of a struct that nothing leads to.
    RemoveMember(Key, usize),
    /// A variable that an entry point lists.
    Unlist(Key, Word),
}

/// Edits that are tried together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Names, lines, sources and debug information.
    Debug,
    /// Entry points and functions.
    Functions,
    /// Selections and loops.
    Constructs,
    /// Instructions with effects, and values, from the last.
    Instructions,
    /// Values for which an operand or an earlier value can stand.
    Bypasses,
    /// Branches, cases and blocks.
    Blocks,
    /// Operands.
    Operands,
    /// Masks, semantics, scopes, and whether an access is atomic.
    Masks,
    /// Parameters of functions.
    Parameters,
    /// Local sizes.
    Sizes,
    /// What is declared: decorations, modes, capabilities, what nothing uses.
    Declarations,
    /// Members of structs.
    Members,
    /// Values of constants, and lengths of arrays.
    Constants,
}

impl Family {
    /// All, in the order in which they are tried.
    pub const ALL: [Family; 13] = [
        Family::Debug,
        Family::Functions,
        Family::Constructs,
        Family::Instructions,
        Family::Blocks,
        Family::Bypasses,
        Family::Operands,
        Family::Masks,
        Family::Parameters,
        Family::Sizes,
        Family::Declarations,
        Family::Members,
        Family::Constants,
    ];

    /// What it is called in logs.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Debug => "debug information",
            Family::Functions => "functions",
            Family::Constructs => "constructs",
            Family::Instructions => "instructions",
            Family::Bypasses => "values",
            Family::Blocks => "blocks",
            Family::Operands => "operands",
            Family::Masks => "masks and scopes",
            Family::Parameters => "parameters",
            Family::Sizes => "sizes",
            Family::Declarations => "declarations",
            Family::Members => "members",
            Family::Constants => "constants",
        }
    }

    /// What can be tried in a module.
    pub(crate) fn edits(self, module: &Module) -> Vec<Edit> {
        match self {
            Family::Debug => declarations::debug(module),
            Family::Functions => functions::functions(module),
            Family::Constructs => flow::constructs(module),
            Family::Instructions => values::instructions(module),
            Family::Bypasses => values::bypasses(module),
            Family::Blocks => flow::blocks(module),
            Family::Operands => operands::operands(module),
            Family::Masks => masks::masks(module),
            Family::Parameters => functions::parameters(module),
            Family::Sizes => sizes::sizes(module),
            Family::Declarations => declarations::declarations(module),
            Family::Members => members::members(module),
            Family::Constants => constants::constants(module),
        }
    }
}

impl Edit {
    /// Whether it changes which blocks are executed.
    pub(crate) fn changes_flow(&self) -> bool {
        matches!(
            self,
            Edit::EmptyFunction(_)
                | Edit::Inline(_)
                | Edit::SkipConstruct(_)
                | Edit::Take(..)
                | Edit::Once(_)
                | Edit::Return(_)
                | Edit::RemoveCase(..)
        )
    }

    /// Makes the change; false where the module has no such place, or not any more.
    pub(crate) fn apply(&self, module: &mut Module) -> bool {
        let made = match *self {
            Edit::Remove(key) => declarations::remove(module, key),
            Edit::EmptyFunction(key) => functions::empty(module, key),
            Edit::Inline(key) => functions::inline(module, key),
            Edit::RemoveParameter(key) => functions::remove_parameter(module, key),
            Edit::SkipConstruct(key) => flow::skip(module, key),
            Edit::Take(key, number) => flow::take(module, key, number),
            Edit::Once(key) => flow::once(module, key),
            Edit::Return(key) => flow::end(module, key),
            Edit::RemoveCase(key, number) => flow::remove_case(module, key, number),
            Edit::MergeBlocks(key) => flow::merge(module, key),
            Edit::Forward(key) => flow::forward(module, key),
            Edit::Zero(key) => values::zero(module, key),
            Edit::Undefine(key) => values::undefine(module, key),
            Edit::Bypass(key, number) => values::bypass(module, key, number),
            Edit::Alias(key, id) => values::alias(module, key, id),
            Edit::ZeroOperand(key, number) => operands::zero(module, key, number),
            Edit::ClearBits(key, number, bits) => masks::clear(module, key, number, bits),
            Edit::SetScalar(key, number, value) => masks::set_scalar(module, key, number, value),
            Edit::Plain(key) => masks::plain(module, key),
            Edit::SetLiteral(key, number, value) => constants::set(module, key, number, value),
            Edit::Share(key) => constants::share(module, key),
            Edit::Freeze(key) => constants::freeze(module, key),
            Edit::RemoveMember(key, member) => members::remove(module, key, member),
            Edit::Unlist(key, id) => declarations::unlist(module, key, id),
        };
        made.is_some()
    }
}

/// Every use of an id takes another one instead, names and decorations apart.
fn replace_uses(module: &mut Module, id: Word, by: Word) {
    for inst in &mut module.insts {
        let op = inst.op();
        if is_name(op) || is_annotation(op) {
            continue;
        }
        for operand in inst.code.operands.iter_mut().filter_map(Operand::id_ref_any_mut) {
            if *operand == id {
                *operand = by;
            }
        }
    }
}

/// The same, types of results among the uses.
fn replace_everywhere(module: &mut Module, id: Word, by: Word) {
    replace_uses(module, id, by);
    for inst in module.insts.iter_mut().filter(|inst| inst.code.result_type == Some(id)) {
        inst.code.result_type = Some(by);
    }
}

/// Whether something but names, decorations and interfaces takes an id.
fn is_used(module: &Module, id: Word) -> bool {
    module.insts.iter().any(|inst| {
        let op = inst.op();
        let tells = is_name(op) || is_annotation(op);
        // The function of an entry point comes first.
        let count = if op == Op::EntryPoint { 1 } else { usize::MAX };
        let takes = || inst.code.result_type == Some(id) || inst.ids().take(count).any(|other| other == id);
        !tells && takes()
    })
}

//! What can be made smaller, in families: from what takes most away to what takes least.

mod barriers;
mod branching;
mod components;
mod constants;
mod copies;
mod declarations;
mod earlier;
mod flow;
mod functions;
mod inline;
mod masks;
mod members;
mod operands;
mod parameters;
mod promote;
pub(crate) mod sizes;
mod values;

#[cfg(test)]
mod tests;

use rspirv::dr::Operand;
use rspirv::spirv::{Op, Word};

use crate::module::{is_annotation, is_name, Key, Module};
use crate::twins::Twins;

/// A change of one place of a module, which is named by what stays when other places are changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Edit {
    /// An instruction that nothing depends on but names and decorations.
    Remove(Key),
    /// The code of a function: it returns at once, zero if it has a result.
    EmptyFunction(Key),
    /// A call of a function, whose code takes its place.
    Inline(Key),
    /// A parameter of a function that it does not take, with its arguments.
    RemoveParameter(Key),
    /// A parameter: who takes it takes the constant or variable of the module with this id.
    Resolve(Key, Word),
    /// A variable of a function that is only loaded and stored: what was stored takes its place.
    Promote(Key),
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
    /// What the block with this label branches on, which becomes the truth value with this id; where it is set, the two ways
    /// change places.
    Decide(Key, Word, bool),
    /// A comparison with a constant that the block with this label branches on: it branches on the number itself.
    Compare(Key),
    /// The merge instruction of the selection whose header has this label.
    Unmerge(Key),
    /// Where the construct whose header has this label merges: it does so at another block.
    MergeAt(Key, Word),
    /// A value: who takes it takes zero.
    Zero(Key),
    /// A value: who takes it takes one, or true.
    One(Key),
    /// A value: who takes it takes an undefined one.
    Undefine(Key),
    /// A value: who takes it takes the operand of this number.
    Bypass(Key, usize),
    /// A value: who takes it takes the earlier value with this id, which is of the same type.
    Alias(Key, Word),
    /// A value that nobody takes, which becomes a copy of the operand of this number.
    Copy(Key, usize),
    /// An operand, which becomes zero.
    ZeroOperand(Key, usize),
    /// An operand, which becomes the constant with this id.
    SetOperand(Key, usize, Word),
    /// Bits of a mask, with the operands that belong to them.
    ClearBits(Key, usize, u32),
    /// A scope or memory semantics, which become a constant of this value.
    SetScalar(Key, usize, u32),
    /// An atomic load or store, which becomes a plain one.
    Plain(Key),
    /// A read-modify-write, which becomes a load, or a store.
    Halve(Key, bool),
    /// A memory barrier, whose semantics the next barrier of its block takes over, or else the last one before it.
    Absorb(Key, bool),
    /// A literal of a constant or of a mode.
    SetLiteral(Key, usize, u64),
    /// The decoration of a variable as a built-in: it holds one that tells fewer invocations apart.
    Localise(Key),
    /// A type or constant: who takes it takes the one in front of it that is the same.
    Share(Key),
    /// A specialisation constant, which becomes a constant.
    Freeze(Key),
    /// A member of a struct that nothing leads to.
    RemoveMember(Key, usize),
    /// A type of vectors, or an array or struct of one part: the component of this number stands for each value of it.
    Component(Key, u32),
    /// A type of signed numbers: unsigned ones stand for them.
    Unsign(Key),
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
    /// Local sizes, and built-ins that tell invocations apart.
    Sizes,
    /// What is declared: decorations, modes, capabilities, what nothing uses.
    Declarations,
    /// Members of structs.
    Members,
    /// Values of constants, and lengths of arrays.
    Constants,
    /// Barriers and atomic operations.
    Barriers,
    /// Variables of functions.
    Variables,
    /// Types that can be smaller: vectors, arrays and structs of one part, signed numbers.
    Components,
    /// Where selections merge.
    Merges,
    /// What branches depend on.
    Conditions,
    /// Values for which any earlier value can stand.
    Earlier,
    /// Values that are needed for an operand alone.
    Copies,
    /// Operands for which a constant can stand.
    ConstantOperands,
}

impl Family {
    /// Those that are tried in chunks, in their order.
    pub const CHUNKED: [Family; 16] = [
        Family::Debug,
        Family::Functions,
        Family::Constructs,
        Family::Instructions,
        Family::Blocks,
        Family::Variables,
        Family::Bypasses,
        Family::Operands,
        Family::Masks,
        Family::Barriers,
        Family::Parameters,
        Family::Sizes,
        Family::Declarations,
        Family::Members,
        Family::Components,
        Family::Constants,
    ];

    /// Those whose edits are tried one by one, once no other makes the case smaller.
    pub const SINGLE: [Family; 5] =
        [Family::Merges, Family::Conditions, Family::Copies, Family::ConstantOperands, Family::Earlier];

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
            Family::Barriers => "barriers",
            Family::Variables => "variables",
            Family::Components => "types",
            Family::Merges => "merges",
            Family::Conditions => "conditions",
            Family::Earlier => "earlier values",
            Family::Copies => "copies",
            Family::ConstantOperands => "constant operands",
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
            Family::Parameters => parameters::parameters(module),
            Family::Sizes => sizes::sizes(module),
            Family::Declarations => declarations::declarations(module),
            Family::Members => members::members(module),
            Family::Constants => constants::constants(module),
            Family::Barriers => barriers::barriers(module),
            Family::Variables => promote::variables(module),
            Family::Components => components::components(module),
            Family::Merges => branching::merges(module),
            Family::Conditions => branching::conditions(module),
            Family::Earlier => earlier::many(module),
            Family::Copies => copies::copies(module),
            Family::ConstantOperands => operands::constants(module),
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
                | Edit::Decide(..)
        )
    }

    /// Makes the change; false where the module has no such place, or not any more.
    /// Both modules of a pair are edited with the same `twins`.
    pub(crate) fn apply(&self, module: &mut Module, twins: &mut Twins) -> bool {
        let made = match *self {
            Edit::Remove(key) => declarations::remove(module, key),
            Edit::EmptyFunction(key) => functions::empty(module, key),
            Edit::Inline(key) => inline::inline(module, key, twins),
            Edit::RemoveParameter(key) => parameters::remove(module, key),
            Edit::Resolve(key, id) => parameters::resolve(module, key, id),
            Edit::Promote(key) => promote::promote(module, key, twins),
            Edit::SkipConstruct(key) => flow::skip(module, key),
            Edit::Take(key, number) => flow::take(module, key, number),
            Edit::Once(key) => flow::once(module, key),
            Edit::Return(key) => flow::end(module, key),
            Edit::RemoveCase(key, number) => flow::remove_case(module, key, number),
            Edit::MergeBlocks(key) => flow::merge(module, key),
            Edit::Forward(key) => flow::forward(module, key),
            Edit::Decide(key, id, is_turned) => branching::decide(module, key, id, is_turned),
            Edit::Compare(key) => branching::compare(module, key),
            Edit::Unmerge(key) => branching::unmerge(module, key),
            Edit::MergeAt(key, label) => branching::merge_at(module, key, label),
            Edit::Zero(key) => values::zero(module, key),
            Edit::One(key) => values::one(module, key),
            Edit::Undefine(key) => values::undefine(module, key),
            Edit::Bypass(key, number) => values::bypass(module, key, number),
            Edit::Alias(key, id) => values::alias(module, key, id),
            Edit::Copy(key, number) => copies::copy(module, key, number),
            Edit::ZeroOperand(key, number) => operands::zero(module, key, number),
            Edit::SetOperand(key, number, id) => operands::set(module, key, number, id),
            Edit::ClearBits(key, number, bits) => masks::clear(module, key, number, bits),
            Edit::SetScalar(key, number, value) => masks::set_scalar(module, key, number, value),
            Edit::Plain(key) => masks::plain(module, key),
            Edit::Halve(key, loads) => barriers::halve(module, key, loads),
            Edit::Absorb(key, next) => barriers::absorb(module, key, next),
            Edit::SetLiteral(key, number, value) => constants::set(module, key, number, value),
            Edit::Localise(key) => sizes::localise(module, key),
            Edit::Share(key) => constants::share(module, key),
            Edit::Freeze(key) => constants::freeze(module, key),
            Edit::RemoveMember(key, member) => members::remove(module, key, member),
            Edit::Component(key, number) => components::narrow(module, key, number),
            Edit::Unsign(key) => components::unsign(module, key),
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

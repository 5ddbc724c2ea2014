//! How large a module is: what makes reduction end, since every accepted edit lessens it.

use rspirv::dr::Operand;
use rspirv::spirv::{BuiltIn, Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::module::{is_annotation, is_constant, is_name, Inst, Module};

/// An instruction of a function, and another one: what stands in front of functions is read more easily.
const CODE: u64 = 32;
const DECLARATION: u64 = 12;

/// A constant that is declared: less than an operand that needs nothing to be computed saves.
const CONSTANT: u64 = 3;

/// An operand of an instruction that is computed somewhere.
const COMPUTED: u64 = 8;

/// A bit of memory semantics, and a step in the width of a scope: more than the constant that may be needed for less.
const SEMANTICS: u64 = 24;

/// An atomic instruction, more than its plain counterpart.
const ATOMIC: u64 = 4;

/// The cost of a module.
pub(crate) fn of(module: &Module) -> u64 {
    let begins = module.code_begins();
    let constants: FxHashSet<Word> =
        module.insts.iter().take(begins).filter_map(|inst| inst.code.result_id).collect();
    let declarations = module.insts.iter().take(begins).map(declaration);
    let values: FxHashMap<Word, u32> = module
        .insts
        .iter()
        .take(begins)
        .filter_map(|inst| Some((inst.code.result_id?, constant(inst)?)))
        .collect();
    let code = module.insts.iter().skip(begins).map(|inst| instruction(inst, &constants, &values));
    declarations.chain(code).sum()
}

fn declaration(inst: &Inst) -> u64 {
    let base = match inst.op() {
        op if is_constant(op) => CONSTANT,
        op if is_annotation(op) || is_name(op) => DECLARATION / 2,
        _ => DECLARATION,
    };
    base + inst.code.operands.iter().map(literal).sum::<u64>() + specialised(inst.op())
}

/// A constant that may be specialised is larger than one that may not.
fn specialised(op: Op) -> u64 {
    let is_one = matches!(
        op,
        Op::SpecConstant
            | Op::SpecConstantTrue
            | Op::SpecConstantFalse
            | Op::SpecConstantComposite
            | Op::SpecConstantOp
    );
    u64::from(is_one) * 2
}

fn instruction(inst: &Inst, globals: &FxHashSet<Word>, values: &FxHashMap<Word, u32>) -> u64 {
    let value = |id: &Word| values.get(id).copied();
    let atomic = match format!("{:?}", inst.op()).starts_with("Atomic") {
        true => ATOMIC,
        false => 0,
    };
    let operands = inst.code.operands.iter().map(|operand| match operand {
        Operand::IdScope(id) => value(id).map_or(COMPUTED, |scope| SEMANTICS * scope_rank(scope)),
        Operand::IdMemorySemantics(id) => value(id).map_or(COMPUTED, |value| SEMANTICS * bits_of(value)),
        other => match other.id_ref_any() {
            Some(id) if globals.contains(&id) => 1,
            Some(_) => COMPUTED,
            None => literal(other),
        },
    });
    CODE + atomic + operands.sum::<u64>()
}

/// How wide a scope is, from Invocation.
pub(crate) fn scope_rank(scope: u32) -> u64 {
    match scope {
        4 => 0,
        3 => 1,
        2 => 2,
        5 => 3,
        1 => 4,
        _ => 5,
    }
}

/// The bits of memory semantics; what is an acquire and a release counts as two.
fn bits_of(semantics: u32) -> u64 {
    u64::from(semantics.count_ones() + u32::from(semantics & 0x18 != 0))
}

/// The value of a constant of 32 bits.
fn constant(inst: &Inst) -> Option<u32> {
    match (inst.op(), inst.code.operands.first()) {
        (Op::Constant, Some(Operand::LiteralBit32(value))) => Some(*value),
        (Op::ConstantNull, _) => Some(0),
        _ => None,
    }
}

/// The value of the constant of 32 bits with this id.
pub(crate) fn value_of(module: &Module, id: Word) -> Option<u32> {
    constant(module.definition(id)?)
}

/// What an operand that is no id counts: masks by their bits, numbers by their lengths.
fn literal(operand: &Operand) -> u64 {
    let bits = |bits: u32| u64::from(bits.count_ones());
    match operand {
        Operand::LiteralBit32(value) => u64::from(u32::BITS - value.leading_zeros()) + bits(*value) + 1,
        Operand::LiteralBit64(value) => u64::from(u64::BITS - value.leading_zeros() + value.count_ones()) + 1,
        Operand::MemoryAccess(mask) => 1 + bits(mask.bits()),
        Operand::ImageOperands(mask) => 1 + bits(mask.bits()),
        Operand::FunctionControl(mask) => bits(mask.bits()),
        Operand::LoopControl(mask) => bits(mask.bits()),
        Operand::SelectionControl(mask) => bits(mask.bits()),
        Operand::FPFastMathMode(mask) => bits(mask.bits()),
        // What tells more invocations apart is read less easily.
        Operand::BuiltIn(BuiltIn::WorkgroupId) => 3,
        Operand::BuiltIn(BuiltIn::GlobalInvocationId) => 2,
        _ => 1,
    }
}

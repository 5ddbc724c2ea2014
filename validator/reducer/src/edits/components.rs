//! Vectors of which one component is enough.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Op, Word};

use super::constants::share_all;
use super::{replace_everywhere, replace_uses, Edit};
use crate::module::{Key, Module};

/// Each type of vectors, and which component may stand for a vector: the first one of all types, then the second ones.
pub(super) fn components(module: &Module) -> Vec<Edit> {
    let vectors: Vec<(Key, u32)> = module
        .insts
        .iter()
        .filter(|inst| inst.op() == Op::TypeVector)
        .filter_map(|inst| match inst.code.operands.get(1) {
            Some(Operand::LiteralBit32(count)) => Some((inst.key, *count)),
            _ => None,
        })
        .collect();
    let most = vectors.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let with = |number: u32| vectors.iter().filter(move |(_, count)| number < *count);
    (0..most).flat_map(|number| with(number).map(move |(key, _)| Edit::Component(*key, number))).collect()
}

/// Inputs that are vectors, and one that is a number.
const VECTORS: [BuiltIn; 5] = [
    BuiltIn::WorkgroupId,
    BuiltIn::GlobalInvocationId,
    BuiltIn::LocalInvocationId,
    BuiltIn::NumWorkgroups,
    BuiltIn::WorkgroupSize,
];

/// Puts one component in the place of each vector of a type, wherever it is. Inputs that can only be vectors become the index
/// of the invocation in its workgroup.
pub(super) fn narrow(module: &mut Module, key: Key, number: u32) -> Option<()> {
    let vector = module.keyed(key).filter(|inst| inst.op() == Op::TypeVector)?;
    let (own, element) = (vector.code.result_id?, vector.id(0)?);
    let number = usize::try_from(number).ok()?;
    let inputs = inputs(module, own);
    let keys: Vec<Key> = module.insts.iter().map(|inst| inst.key).collect();
    for key in keys {
        let Some(change) = change(module, key, own, number)? else { continue };
        let at = module.index(key)?;
        match change {
            Change::Alias(id) => {
                let old = module.insts.remove(at).code.result_id?;
                replace_uses(module, old, id);
            }
            Change::Code(code) => module.insts.get_mut(at)?.code = code,
        }
    }
    let at = module.index(key)?;
    module.insts.remove(at);
    replace_everywhere(module, own, element);
    for inst in module.insts.iter_mut().filter(|inst| inst.op() == Op::Decorate) {
        let is_input = inst.id(0).is_some_and(|id| inputs.contains(&id));
        if let Some(Operand::BuiltIn(built_in)) = inst.code.operands.get_mut(2).filter(|_| is_input) {
            *built_in = if VECTORS.contains(built_in) { BuiltIn::LocalInvocationIndex } else { *built_in };
        }
    }
    share_all(module);
    Some(())
}

/// The variables that point to vectors of a type and are decorated as inputs.
fn inputs(module: &Module, own: Word) -> Vec<Word> {
    let decorated = module.insts.iter().filter(|inst| {
        inst.op() == Op::Decorate
            && inst.code.operands.get(1) == Some(&Operand::Decoration(Decoration::BuiltIn))
    });
    let points = |id: &Word| {
        let ty = module.definition(*id).and_then(|inst| module.definition(inst.code.result_type?));
        ty.is_some_and(|ty| ty.op() == Op::TypePointer && ty.id(1) == Some(own))
    };
    decorated.filter_map(|inst| inst.id(0)).filter(points).collect()
}

/// What an instruction becomes.
enum Change {
    /// It goes; this value takes its place.
    Alias(Word),
    Code(Instruction),
}

/// What becomes of an instruction where a component stands for each vector of the type `own`, if anything. No answer where that
/// cannot be.
fn change(module: &Module, key: Key, own: Word, number: usize) -> Option<Option<Change>> {
    let inst = module.keyed(key)?;
    let code = &inst.code;
    let type_of = |id: Word| module.definition(id).and_then(|inst| inst.code.result_type);
    let is_own = |place: usize| inst.id(place).and_then(type_of) == Some(own);
    let makes = code.result_type == Some(own);
    let alias = |place: usize| Some(Some(Change::Alias(inst.id(place)?)));
    match inst.op() {
        Op::ConstantComposite | Op::SpecConstantComposite | Op::CompositeConstruct if makes => {
            let is_one_each = inst.ids().all(|id| {
                let ty = type_of(id).and_then(|ty| module.definition(ty));
                ty.is_some_and(|ty| ty.op() != Op::TypeVector)
            });
            // A vector of vectors that are joined: none of them is one component.
            is_one_each.then_some(())?;
            alias(number)
        }
        Op::TypeMatrix if inst.id(0) == Some(own) => None,
        Op::VectorShuffle if makes => {
            let Operand::LiteralBit32(component) = code.operands.get(number + 2)? else { return None };
            let of_first = module.definition(type_of(inst.id(0)?)?)?.code.operands.get(1)?;
            let Operand::LiteralBit32(of_first) = of_first else { return None };
            let (place, component) = match component.checked_sub(*of_first) {
                None => (0, *component),
                Some(component) => (1, component),
            };
            if is_own(place) {
                return alias(place);
            }
            let operands = vec![Operand::IdRef(inst.id(place)?), Operand::LiteralBit32(component)];
            let element = module.definition(own)?.id(0)?;
            let code = Instruction::new(Op::CompositeExtract, Some(element), code.result_id, operands);
            Some(Some(Change::Code(code)))
        }
        Op::VectorShuffle if is_own(0) || is_own(1) => None,
        Op::VectorExtractDynamic if is_own(0) => alias(0),
        Op::VectorInsertDynamic if makes => alias(1),
        Op::Any | Op::All if is_own(0) => alias(0),
        Op::VectorTimesScalar | Op::Dot if is_own(0) => {
            let ty = if makes { own } else { code.result_type? };
            let code = Instruction::new(Op::FMul, Some(ty), code.result_id, code.operands.clone());
            Some(Some(Change::Code(code)))
        }
        Op::CompositeExtract | Op::CompositeInsert | Op::AccessChain | Op::InBoundsAccessChain => {
            shorter(module, key, own, number)
        }
        _ => Some(None),
    }
}

/// The instruction without the step into a vector, where it has one.
fn shorter(module: &Module, key: Key, own: Word, number: usize) -> Option<Option<Change>> {
    let inst = module.keyed(key)?;
    let (base, first) = if inst.op() == Op::CompositeInsert { (1, 2) } else { (0, 1) };
    let mut ty = module.definition(inst.id(base)?)?.code.result_type?;
    let pointer = module.definition(ty)?;
    if pointer.op() == Op::TypePointer {
        ty = pointer.id(1)?;
    }
    let mut place = first;
    while ty != own {
        let Some(step) = inst.code.operands.get(place) else { return Some(None) };
        let inside = module.definition(ty)?;
        let member = match (inside.op(), step) {
            (Op::TypeStruct, Operand::LiteralBit32(member)) => *member,
            (Op::TypeStruct, other) => crate::cost::value_of(module, other.id_ref_any()?)?,
            _ => 0,
        };
        ty = inside.id(usize::try_from(member).ok()?)?;
        place += 1;
    }
    let Some(step) = inst.code.operands.get(place) else { return Some(None) };
    if let (Op::CompositeInsert, Operand::LiteralBit32(step)) = (inst.op(), step) {
        // Another component is set: the one that is left stays as it is.
        if usize::try_from(*step) != Ok(number) {
            return Some(Some(Change::Alias(inst.id(1)?)));
        }
    }
    let mut code = inst.code.clone();
    code.operands.remove(place);
    // Without a step it is the object, the composite or the pointer itself.
    let is_whole = code.operands.len() == first;
    Some(Some(if is_whole { Change::Alias(inst.id(0)?) } else { Change::Code(code) }))
}

//! Types for which smaller ones can stand: one component for a vector, the only part for an array or a struct, unsigned numbers
//! for signed ones.

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Op, Word};

use super::constants::share_all;
use super::{replace_everywhere, replace_uses, Edit};
use crate::cost::value_of;
use crate::module::{Inst, Key, Module};

/// Each type of numbers with a sign; each type of vectors, and which component may stand for a vector: the first one of all types,
/// then the second ones; and types with one part.
pub(super) fn components(module: &Module) -> Vec<Edit> {
    let types = || module.insts.iter().take(module.code_begins());
    let mut edits: Vec<Edit> =
        types().filter(|inst| is_signed(inst)).map(|inst| Edit::Unsign(inst.key)).collect();
    let vectors: Vec<(Key, u32)> = types()
        .filter(|inst| inst.op() == Op::TypeVector)
        .filter_map(|inst| match inst.code.operands.get(1) {
            Some(Operand::LiteralBit32(count)) => Some((inst.key, *count)),
            _ => None,
        })
        .collect();
    let most = vectors.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let with = |number: u32| vectors.iter().filter(move |(_, count)| number < *count);
    edits
        .extend((0..most).flat_map(|number| with(number).map(move |(key, _)| Edit::Component(*key, number))));
    let single = types().filter(|inst| has_one_part(module, inst));
    edits.extend(single.map(|inst| Edit::Component(inst.key, 0)));
    edits
}

fn is_signed(inst: &Inst) -> bool {
    inst.op() == Op::TypeInt && inst.code.operands.get(1) == Some(&Operand::LiteralBit32(1))
}

/// Whether a type is an array or a struct of one part.
fn has_one_part(module: &Module, inst: &Inst) -> bool {
    match inst.op() {
        Op::TypeStruct => inst.code.operands.len() == 1,
        Op::TypeArray => inst.id(1).and_then(|length| value_of(module, length)) == Some(1),
        _ => false,
    }
}

/// Makes a type of signed numbers one of unsigned numbers.
pub(super) fn unsign(module: &mut Module, key: Key) -> Option<()> {
    let at = module.index(key).filter(|at| module.insts.get(*at).is_some_and(is_signed))?;
    *module.insts.get_mut(at)?.code.operands.get_mut(1)? = Operand::LiteralBit32(0);
    let width = module.insts.get(at)?.code.operands.first()?.clone();
    let like = vec![width, Operand::LiteralBit32(0)];
    let id = module.insts.get(at)?.code.result_id?;
    let mut others =
        module.insts.iter().filter(|inst| inst.op() == Op::TypeInt && inst.code.operands == like);
    // The one that is declared first stays.
    let first = others.find_map(|inst| inst.code.result_id).filter(|first| *first != id);
    match first {
        Some(first) => {
            module.insts.remove(at);
            replace_everywhere(module, id, first);
        }
        None => {
            let later = module
                .insts
                .iter()
                .skip(at + 1)
                .find(|inst| inst.op() == Op::TypeInt && inst.code.operands == like);
            if let Some((key, later)) = later.and_then(|inst| Some((inst.key, inst.code.result_id?))) {
                let at = module.index(key)?;
                module.insts.remove(at);
                replace_everywhere(module, later, id);
            }
        }
    }
    share_all(module);
    Some(())
}

/// Inputs that are vectors, and one that is a number.
const VECTORS: [BuiltIn; 5] = [
    BuiltIn::WorkgroupId,
    BuiltIn::GlobalInvocationId,
    BuiltIn::LocalInvocationId,
    BuiltIn::NumWorkgroups,
    BuiltIn::WorkgroupSize,
];

/// Puts one component in the place of each vector of a type, wherever it is, or the only part in that of arrays and structs. Inputs that can only be vectors become the index
/// of the invocation in its workgroup.
pub(super) fn narrow(module: &mut Module, key: Key, number: u32) -> Option<()> {
    let vector = module.keyed(key)?;
    (vector.op() == Op::TypeVector || has_one_part(module, vector)).then_some(())?;
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
            let element = module.definition(own)?.id(0);
            // A vector of vectors that are joined: none of them is one component.
            inst.ids().all(|id| type_of(id) == element).then_some(())?;
            alias(number)
        }
        Op::TypeMatrix if inst.id(0) == Some(own) => None,
        Op::ArrayLength | Op::PtrAccessChain | Op::InBoundsPtrAccessChain => None,
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
            (Op::TypeStruct, other) => value_of(module, other.id_ref_any()?)?,
            _ => 0,
        };
        ty = inside.id(usize::try_from(member).ok()?)?;
        place += 1;
    }
    let Some(step) = inst.code.operands.get(place) else { return Some(None) };
    let is_vector = module.definition(own)?.op() == Op::TypeVector;
    if let (Op::CompositeInsert, Operand::LiteralBit32(step), true) = (inst.op(), step, is_vector) {
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

#[cfg(test)]
mod tests {
    use super::super::tests::edited;
    use super::super::Family;
    use super::*;
    use crate::module::tests::{module, DECLARATIONS};

    fn with_types(types: &str, code: &str) -> Module {
        let text = DECLARATIONS.replace("%main = OpFunction", &format!("{types}\n%main = OpFunction"));
        let variable = if types.contains("%p = ") { " %p\n" } else { "\n" };
        let text = text.replace("%buffer %s\n", &format!("%buffer %s{variable}"));
        module(&format!("{text}{code}\nOpReturn\nOpFunctionEnd\n"))
    }

    #[test]
    fn a_component_stands_for_a_vector() {
        let module = with_types(
            "%vec3 = OpTypeVector %uint 3
            %many = OpConstantComposite %vec3 %uint_1 %uint_2 %uint_100",
            "%x = OpLoad %uint %b
            %y = OpCompositeConstruct %vec3 %x %uint_1 %x
            %sum = OpIAdd %vec3 %y %many
            %turned = OpVectorShuffle %vec3 %sum %many 2 0 5
            %z = OpCompositeExtract %uint %turned 1
            OpStore %a %z",
        );
        let text = edited(&module, Family::Components, |edit| matches!(edit, Edit::Component(_, 0)));
        assert!(!text.contains("OpTypeVector") && !text.contains("OpComposite"), "{text}");
        let sum = text.lines().find(|line| line.contains("OpIAdd %uint")).unwrap();
        assert!(sum.ends_with(" %uint_1"), "{text}");
        let second = edited(&module, Family::Components, |edit| matches!(edit, Edit::Component(_, 1)));
        assert!(second.contains("OpIAdd %uint %uint_1 %uint_2"), "{second}");
    }

    #[test]
    fn inputs_become_numbers() {
        let text = DECLARATIONS
            .replace("%buffer %s\n", "%buffer %s %id\n")
            .replace(
                "OpDecorate %Block Block",
                "OpDecorate %Block Block\nOpDecorate %id BuiltIn LocalInvocationId",
            )
            .replace(
                "%main = OpFunction",
                "%vec3 = OpTypeVector %uint 3
                %input = OpTypePointer Input %vec3
                %single = OpTypePointer Input %uint
                %id = OpVariable %input Input
                %main = OpFunction",
            );
        let module = module(&format!(
            "{text}%all = OpLoad %vec3 %id
            %x = OpCompositeExtract %uint %all 0
            %at = OpAccessChain %single %id %uint_1
            %y = OpLoad %uint %at
            OpStore %a %x
            OpStore %b %y
            OpReturn
            OpFunctionEnd"
        ));
        let text = edited(&module, Family::Components, |edit| matches!(edit, Edit::Component(_, 0)));
        assert!(text.contains("BuiltIn LocalInvocationIndex") && !text.contains("OpTypeVector"), "{text}");
        assert_eq!(text.matches("OpTypePointer Input").count(), 1, "{text}");
    }

    #[test]
    fn what_has_one_part_is_it_and_signs_go() {
        let module = with_types(
            "%int = OpTypeInt 32 1
            %zero = OpConstant %int 0
            %one_each = OpTypeArray %uint %uint_1
            %array = OpTypePointer Private %one_each
            %private = OpTypePointer Private %uint
            %p = OpVariable %array Private",
            "%at = OpAccessChain %private %p %zero
            %x = OpLoad %uint %at
            OpStore %a %x",
        );
        let text = edited(&module, Family::Components, |edit| matches!(edit, Edit::Component(..)));
        assert!(!text.contains("OpTypeArray") && text.contains("OpLoad %uint %"), "{text}");
        let text = edited(&module, Family::Components, |edit| matches!(edit, Edit::Unsign(_)));
        assert!(!text.contains("OpTypeInt 32 1"), "{text}");
        assert_eq!(text.matches("OpTypeInt").count(), 1, "{text}");
    }
}

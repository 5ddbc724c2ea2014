use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass, Word};

use super::each_instruction;
use crate::{Module, Mutant, Mutator};

/// A load of a built-in input gives zero.
pub struct BuiltInZero;

/// One built-in in place of another one of the same type, wherever the variable is read.
pub struct WrongBuiltIn;

const GROUPS: &[&[BuiltIn]] = &[
    &[BuiltIn::GlobalInvocationId, BuiltIn::LocalInvocationId, BuiltIn::WorkgroupId, BuiltIn::NumWorkgroups],
    &[BuiltIn::LocalInvocationIndex, BuiltIn::SubgroupLocalInvocationId],
    &[BuiltIn::SubgroupId, BuiltIn::NumSubgroups, BuiltIn::SubgroupLocalInvocationId, BuiltIn::SubgroupSize],
    &[
        BuiltIn::SubgroupEqMask,
        BuiltIn::SubgroupGeMask,
        BuiltIn::SubgroupGtMask,
        BuiltIn::SubgroupLeMask,
        BuiltIn::SubgroupLtMask,
    ],
    &[BuiltIn::VertexIndex, BuiltIn::InstanceIndex],
    &[BuiltIn::BaseVertex, BuiltIn::BaseInstance, BuiltIn::DrawIndex],
    &[BuiltIn::FrontFacing, BuiltIn::HelperInvocation],
    &[BuiltIn::SampleId, BuiltIn::Layer, BuiltIn::PrimitiveId, BuiltIn::ViewportIndex, BuiltIn::ViewIndex],
    &[BuiltIn::ClipDistance, BuiltIn::CullDistance],
];

/// The built-in that an annotation gives a variable.
fn built_in(inst: &Instruction) -> Option<(Word, BuiltIn)> {
    match inst.operands.as_slice() {
        [Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(built_in)]
            if inst.class.opcode == Op::Decorate =>
        {
            Some((*id, *built_in))
        }
        _ => None,
    }
}

impl Mutator for BuiltInZero {
    fn name(&self) -> &'static str {
        "built-in-zero"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        each_instruction(self.name(), module, |site, inst| {
            let loaded = inst.operands.first().and_then(Operand::id_ref_any);
            let (Op::Load, Some(id), Some(of_type)) = (inst.class.opcode, loaded, inst.result_type) else {
                return Vec::new();
            };
            let variable = base(module, id);
            let mut built_ins = module.data.annotations.iter().filter_map(built_in);
            let Some((_, built_in)) = built_ins.find(|(id, _)| *id == variable) else { return Vec::new() };
            if !matches!(module.pointer(variable), Some((StorageClass::Input, _))) {
                return Vec::new();
            }
            let mut changed = module.clone();
            let zero = changed.declare(Op::ConstantNull, Some(of_type), Vec::new());
            let operands = vec![Operand::IdRef(zero)];
            let copy = Instruction::new(Op::CopyObject, inst.result_type, inst.result_id, operands);
            vec![(format!("{built_in:?}"), changed.replacing(site, vec![copy]))]
        })
    }
}

/// What an access chain begins with; the id itself where it is none.
fn base(module: &Module, id: Word) -> Word {
    let chain = { module.definition(id) }
        .filter(|inst| matches!(inst.class.opcode, Op::AccessChain | Op::InBoundsAccessChain));
    chain.and_then(|inst| inst.operands.first()?.id_ref_any()).unwrap_or(id)
}

impl Mutator for WrongBuiltIn {
    fn name(&self) -> &'static str {
        "wrong-built-in"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let annotations = module.data.annotations.iter().enumerate();
        Box::new(annotations.flat_map(move |(index, inst)| {
            let found = built_in(inst).into_iter();
            let others = found.flat_map(|(id, of)| {
                let groups = GROUPS.iter().filter(move |group| group.contains(&of));
                let others = groups.flat_map(|group| group.iter()).filter(move |other| **other != of);
                others.map(move |other| (id, of, *other))
            });
            others.map(move |(id, of, other)| {
                let mut changed = module.clone();
                let annotation = changed.data.annotations.get_mut(index);
                if let Some(operand) = annotation.and_then(|inst| inst.operands.last_mut()) {
                    *operand = Operand::BuiltIn(other);
                }
                let what = format!("{of:?} to {other:?} in {}", nth(module, id));
                Mutant { mutator: self.name(), site: None, what, module: changed }
            })
        }))
    }
}

/// Which of the module's built-in variables it is: several may have the same built-in.
fn nth(module: &Module, id: Word) -> usize {
    let mut built_ins = module.data.annotations.iter().filter_map(built_in);
    built_ins.position(|(other, _)| other == id).unwrap_or_default()
}

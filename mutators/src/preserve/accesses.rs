use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, StorageClass, Word};

use super::edit::{ids, once, replace_each, with_ids};
use crate::{Module, Mutant, Mutator};

/// Loads and stores composites of one's own variables member by member.
pub struct AccessesSplit;

impl Mutator for AccessesSplit {
    fn name(&self) -> &'static str {
        "accesses-split"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        once(self.name(), module, |changed| replace_each(changed, split))
    }
}

/// The types of the members of a composite, at most as many as vectors have.
fn members(module: &Module, of_type: Word) -> Option<Vec<Word>> {
    let inst = module.global(of_type)?;
    let first = inst.operands.first().and_then(Operand::id_ref_any);
    let members = match (inst.class.opcode, inst.operands.get(1)) {
        (Op::TypeVector | Op::TypeMatrix, Some(Operand::LiteralBit32(count))) => {
            vec![first?; *count as usize]
        }
        (Op::TypeArray, Some(count)) => vec![first?; module.constant_value(count.id_ref_any()?)? as usize],
        (Op::TypeStruct, _) => inst.operands.iter().filter_map(Operand::id_ref_any).collect(),
        _ => return None,
    };
    (1..=4).contains(&members.len()).then_some(members)
}

fn split(module: &mut Module, inst: &Instruction) -> Option<Vec<Instruction>> {
    let pointer = inst.operands.first()?.id_ref_any()?;
    let (class, of_type) = module.pointer(pointer)?;
    let value = match (inst.class.opcode, inst.operands.as_slice()) {
        (Op::Load, [_]) => None,
        (Op::Store, [_, value]) => Some(value.id_ref_any()?),
        _ => return None,
    };
    if !matches!(class, StorageClass::Function | StorageClass::Private) {
        return None;
    }
    let members = members(module, of_type)?;
    let uint = module.type_id(Op::TypeInt, [32, 0].map(Operand::LiteralBit32).to_vec());
    let (mut code, mut parts) = (Vec::new(), Vec::new());
    for (index, member) in (0..).zip(members) {
        let operands = vec![Operand::StorageClass(class), Operand::IdRef(member)];
        let member_pointer = module.type_id(Op::TypePointer, operands);
        let (place, part, number) = (module.fresh_id(), module.fresh_id(), module.constant(uint, index));
        let chain = [pointer, number];
        code.push(with_ids(Op::AccessChain, Some(member_pointer), Some(place), &chain));
        match value {
            None => code.push(with_ids(Op::Load, Some(member), Some(part), &[place])),
            Some(value) => {
                let operands = [ids(&[value]), vec![Operand::LiteralBit32(index)]].concat();
                code.push(Instruction::new(Op::CompositeExtract, Some(member), Some(part), operands));
                code.push(with_ids(Op::Store, None, None, &[place, part]));
            }
        }
        parts.push(part);
    }
    if value.is_none() {
        code.push(with_ids(Op::CompositeConstruct, inst.result_type, inst.result_id, &parts));
    }
    Some(code)
}

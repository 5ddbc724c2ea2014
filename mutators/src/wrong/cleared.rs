use std::collections::BTreeMap;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Op, Word};

use crate::site::Site;
use crate::{Module, Mutant, Mutator};

/// Gives zeros in the place of what all instructions of an opcode compute. What a compiler does with the rest tells whether it is
/// about these instructions that it fails.
pub struct Cleared;

impl Mutator for Cleared {
    fn name(&self) -> &'static str {
        "cleared"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mut sites: BTreeMap<u32, Vec<Site>> = BTreeMap::new();
        for (site, inst) in module.sites() {
            if inst.result_type.is_some_and(|ty| is_plain(module, ty)) && !is_fixed(site.opcode) {
                sites.entry(site.opcode as u32).or_default().push(site);
            }
        }
        let mutants = sites.into_values().filter_map(|sites| {
            let what = format!("Op{:?}", sites.first()?.opcode);
            let mut changed = module.clone();
            sites.iter().for_each(|site| clear(&mut changed, *site));
            Some(Mutant { mutator: "cleared", site: None, what, module: changed })
        });
        Box::new(mutants)
    }
}

/// Instructions that have to stay what they are, or compute nothing.
fn is_fixed(opcode: Op) -> bool {
    matches!(opcode, Op::Phi | Op::FunctionParameter | Op::Variable | Op::Undef | Op::CopyObject)
}

/// Whether there is a null of the type that may stand wherever a value of it does.
fn is_plain(module: &Module, ty: Word) -> bool {
    let opcode = module.global(ty).map(|inst| inst.class.opcode);
    matches!(opcode, Some(Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector | Op::TypeMatrix))
}

fn clear(module: &mut Module, site: Site) {
    let Some(inst) = module.block(site).get(site.index) else { return };
    let (ty, id) = (inst.result_type, inst.result_id);
    let null = module.declare_null(ty);
    let copy = Instruction::new(Op::CopyObject, ty, id, vec![Operand::IdRef(null)]);
    if let Some(place) = module.block_mut(site).and_then(|block| block.get_mut(site.index)) {
        *place = copy;
    }
}

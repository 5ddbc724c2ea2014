use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::{Decoration, Op, Word};

use crate::{Module, Mutant, Mutator};

/// Drops one Coherent or Volatile decoration, by which the older memory models know non-private and
/// volatile accesses.
pub struct DecorationDropped;

impl Mutator for DecorationDropped {
    fn name(&self) -> &'static str {
        "decoration"
    }

    fn mutants<'m>(&'m self, module: &'m Module, _: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let annotations = module.data.annotations.iter().enumerate();
        Box::new(annotations.filter_map(|(index, inst)| {
            let (target, decoration) = decorated(module, inst)?;
            let mut changed = module.clone();
            changed.data.annotations.remove(index);
            let what = format!("no {decoration:?} on {target}");
            Some(Mutant { mutator: self.name(), site: None, what, module: changed })
        }))
    }
}

/// What is decorated so, in words.
fn decorated(module: &Module, inst: &Instruction) -> Option<(String, Decoration)> {
    let (target, decoration) = match (inst.class.opcode, inst.operands.as_slice()) {
        (Op::Decorate, [Operand::IdRef(id), Operand::Decoration(decoration), ..]) => {
            (named(module, *id), *decoration)
        }
        (
            Op::MemberDecorate,
            [Operand::IdRef(id), Operand::LiteralBit32(member), Operand::Decoration(decoration), ..],
        ) => (format!("member {member} of {}", named(module, *id)), *decoration),
        _ => return None,
    };
    matches!(decoration, Decoration::Coherent | Decoration::Volatile).then_some((target, decoration))
}

/// The debug name of an id, or its number.
fn named(module: &Module, id: Word) -> String {
    let mut names = module.data.debug_names.iter().filter(|inst| inst.class.opcode == Op::Name);
    let name = names.find_map(|inst| match inst.operands.as_slice() {
        [Operand::IdRef(target), Operand::LiteralString(name)] if *target == id => Some(name.clone()),
        _ => None,
    });
    name.unwrap_or_else(|| format!("%{id}"))
}

use rspirv::dr::Operand;
use rspirv::spirv::Word;

use crate::{Module, Mutant, Mutator};

/// Gives every id another number, by a permutation of all of them.
pub struct Renumber;

impl Mutator for Renumber {
    fn name(&self) -> &'static str {
        "renumber"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        Box::new(std::iter::once_with(move || Mutant {
            mutator: self.name(),
            site: None,
            what: String::new(),
            module: renumbered(module, seed),
        }))
    }
}

fn renumbered(module: &Module, seed: u64) -> Module {
    let bound = module.data.header.as_ref().map_or(0, |header| header.bound);
    let mut numbers: Vec<Word> = (1..bound).collect();
    fastrand::Rng::with_seed(seed).shuffle(&mut numbers);
    let renumber = |id: &mut Word| {
        let index = usize::try_from(*id).ok().and_then(|id| id.checked_sub(1));
        if let Some(number) = index.and_then(|index| numbers.get(index)) {
            *id = *number;
        }
    };
    let mut changed = module.clone();
    for inst in changed.data.all_inst_iter_mut() {
        { inst.result_type.iter_mut() }
            .chain(&mut inst.result_id)
            .chain(inst.operands.iter_mut().filter_map(Operand::id_ref_any_mut))
            .for_each(renumber);
    }
    changed
}

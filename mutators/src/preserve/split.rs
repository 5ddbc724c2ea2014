use rspirv::dr::{Block, Function, Instruction};
use rspirv::spirv::{Op, Word};

use super::edit::branch;
use crate::flow::{combines_image, head, is_loop_header, rename_phi_sources, tail};
use crate::{Module, Mutant, Mutator};

/// Splits every block that begins no loop and combines no image with a sampler in two, with a branch between.
pub struct BlocksSplit;

impl Mutator for BlocksSplit {
    fn name(&self) -> &'static str {
        "blocks-split"
    }

    fn mutants<'m>(&'m self, module: &'m Module, seed: u64) -> Box<dyn Iterator<Item = Mutant> + 'm> {
        let mutants = std::iter::once_with(move || {
            let mut changed = module.clone();
            let mut random = fastrand::Rng::with_seed(seed);
            for function in 0..changed.data.functions.len() {
                for block in (0..module.data.functions[function].blocks.len()).rev() {
                    let label = changed.fresh_id();
                    split(&mut changed.data.functions[function], block, label, &mut random);
                }
            }
            Mutant { mutator: self.name(), site: None, what: String::new(), module: changed }
        });
        Box::new(mutants.filter(|mutant| mutant.module.words().len() != module.words().len()))
    }
}

/// Splits one block somewhere between its head and its tail.
fn split(function: &mut Function, index: usize, label: Word, random: &mut fastrand::Rng) {
    let Some(block) = function.blocks.get_mut(index) else { return };
    let Some(old_label) = block.label_id() else { return };
    let (head, tail) = (head(block), tail(block));
    if is_loop_header(block) || combines_image(block) || head > tail {
        return;
    }
    let behind = block.instructions.split_off(random.usize(head..=tail));
    block.instructions.push(branch(label));
    let second =
        Block { label: Some(Instruction::new(Op::Label, None, Some(label), vec![])), instructions: behind };
    rename_phi_sources(&mut function.blocks, old_label, label);
    function.blocks.insert(index + 1, second);
}

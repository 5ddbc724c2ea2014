//! Where in a module an instruction stands.

use std::collections::BTreeMap;
use std::fmt;

use rspirv::dr::Instruction;
use rspirv::spirv::Op;

use crate::module::Module;

/// The position of an instruction in a block of a function, with what people call it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Site {
    pub(crate) function: usize,
    pub(crate) block: usize,
    pub(crate) index: usize,
    /// The instruction's opcode.
    pub opcode: Op,
    /// Its number among the instructions of this opcode in the module, from 1.
    pub ordinal: usize,
    /// Its number among all instructions in blocks, labels not counted, from 0.
    pub position: usize,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Op{:?}#{}", self.opcode, self.ordinal)
    }
}

impl Module {
    /// Every instruction in a block, in the module's order.
    pub(crate) fn sites(&self) -> Vec<(Site, &Instruction)> {
        let mut ordinals = BTreeMap::<u32, usize>::new();
        let mut sites = Vec::new();
        for (function, body) in self.data.functions.iter().enumerate() {
            for (block, code) in body.blocks.iter().enumerate() {
                for (index, inst) in code.instructions.iter().enumerate() {
                    let opcode = inst.class.opcode;
                    let ordinal = ordinals.entry(opcode as u32).or_default();
                    *ordinal += 1;
                    let position = sites.len();
                    let site = Site { function, block, index, opcode, ordinal: *ordinal, position };
                    sites.push((site, inst));
                }
            }
        }
        sites
    }

    /// The instructions of the block around a site.
    pub(crate) fn block(&self, site: Site) -> &[Instruction] {
        let block = self.data.functions.get(site.function).and_then(|body| body.blocks.get(site.block));
        block.map_or(&[], |block| &block.instructions)
    }

    /// The same, to be changed.
    pub(crate) fn block_mut(&mut self, site: Site) -> Option<&mut Vec<Instruction>> {
        let body = self.data.functions.get_mut(site.function)?;
        body.blocks.get_mut(site.block).map(|block| &mut block.instructions)
    }

    /// A copy with other instructions in place of the one at `site`.
    pub(crate) fn replacing(&self, site: Site, instructions: Vec<Instruction>) -> Module {
        let mut changed = self.clone();
        if let Some(block) = changed.block_mut(site).filter(|block| site.index < block.len()) {
            block.splice(site.index..=site.index, instructions);
        }
        changed
    }
}

//! Stores that after lacks, of what the same invocation overwrites before the end.
//!
//! Nothing in the module reads the variable, so that only the last value of each element is seen, and of two stores of one
//! invocation the first one is never the last. Other variables are no names of the same memory unless they say so (SPIR-V,
//! "Aliasing").

use std::collections::HashSet;

use rspirv::dr::Operand;
use rspirv::spirv::{Op, StorageClass, Word};

use super::super::evaluate::ids;
use super::super::graph::Graph;
use super::super::value::Value;
use super::turns::{Deeds, Run, BLOCKS};
use super::{Demand, Lockstep, Place};

impl Lockstep<'_, '_> {
    /// Whether a store of before is overwritten.
    pub(super) fn is_overwritten(
        &mut self,
        (function, block, store): Place,
        graphs: &(Graph, Graph),
    ) -> bool {
        let inst = &self.functions[function].0.blocks[block].instructions[store];
        let Some(pointer) = ids(inst).next() else { return false };
        let Some(value) = self.before.value(pointer, self.terms) else { return false };
        let graph = &graphs.1;
        if inst.operands.len() > 2 || !self.is_written_only(pointer) || self.varies(function, &value, graph) {
            return false;
        }
        let blocks = 0..self.functions[function].1.blocks.len();
        let mut after = blocks.filter(|end| graph.must_pass(block, *end) && !graph.is_in_loop(*end));
        after.any(|end| self.stores_next((function, end), &value, graphs) == Some(true))
    }

    /// Whether a pointer leads into a buffer that nothing in the module reads.
    fn is_written_only(&self, pointer: Word) -> bool {
        let mut root = pointer;
        while let Some(inst) = self.before.instructions.get(&root) {
            match inst.class.opcode {
                Op::AccessChain | Op::InBoundsAccessChain => match ids(inst).next() {
                    Some(base) => root = base,
                    None => return false,
                },
                Op::Variable => break,
                _ => return false,
            }
        }
        let Some(variable) = self.before.instructions.get(&root) else { return false };
        let is_buffer =
            variable.operands.first() == Some(&Operand::StorageClass(StorageClass::StorageBuffer));
        let mut pointers = HashSet::from([root]);
        for (_, other) in &self.functions {
            for inst in other.blocks.iter().flat_map(|block| &block.instructions) {
                let uses = ids(inst).filter(|id| pointers.contains(id)).count();
                match inst.class.opcode {
                    _ if uses == 0 => {}
                    Op::AccessChain | Op::InBoundsAccessChain => pointers.extend(inst.result_id),
                    Op::Store if uses == 1 && inst.operands.len() == 2 => {}
                    _ => return false,
                }
            }
        }
        is_buffer && !self.before.is_shared
    }

    /// Whether a value may be another one each time that control comes by.
    fn varies(&mut self, function: usize, value: &Value, graph: &Graph) -> bool {
        let blocks = 0..self.functions[function].0.blocks.len();
        let inside: Vec<String> = { blocks.filter(|block| graph.is_in_loop(*block)) }
            .map(|block| format!("result {function} {block} "))
            .collect();
        let names = self.terms.names(&value.leaves());
        names.iter().any(|name| name.contains("undefined") || inside.iter().any(|own| name.contains(own)))
    }

    /// Whether what follows a block stores there first of all.
    fn stores_next(
        &mut self,
        (function, block): (usize, usize),
        to: &Value,
        graphs: &(Graph, Graph),
    ) -> Option<bool> {
        let [next] = *graphs.1.successors(block) else { return None };
        let place =
            Demand { function, block, segment: 0, edge: None, pairs: Vec::new(), phi: None, crosses: None };
        let known = self.known(&place, &graphs.0);
        let inside = (0..self.functions[function].1.blocks.len()).collect();
        let run = Run { function, inside, known, join: None };
        let mut deeds = Deeds { reads: true, ..Deeds::default() };
        let (values, mut way, mut left) = (self.after.values(), run.known.clone(), BLOCKS);
        _ = self.run(&run, (next, block), &mut way, &mut left, (&mut deeds, graphs));
        self.after.restore(values);
        let (_, pointer, _, _) = deeds.stores.first()?;
        let mut pairs = Vec::new();
        to.pairs(pointer, &mut pairs)?;
        Some(self.terms.agree(&run.known, &pairs))
    }
}

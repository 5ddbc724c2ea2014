//! What before goes on to do: a branch that certainly leads to undefined behaviour is one that nothing is demanded of.
//!
//! Nothing stands between a block and those that follow it closely, if no barrier or call is in them and no way leads back: they
//! are reached, and what an access there says of its index was known all along.

use rspirv::spirv::Op;

use super::super::graph::Graph;
use super::super::terms::Term;
use super::{Demand, Lockstep};

/// How many blocks further.
const BLOCKS: usize = 3;

impl Lockstep<'_, '_> {
    /// What holds of blocks that follow a demand, each where control comes to it.
    pub(super) fn ahead(&mut self, demand: &Demand, graph: &Graph) -> Vec<Term> {
        let mut found = Vec::new();
        let is_on_edge = demand.edge.is_some() || demand.phi.is_some();
        if !is_on_edge && demand.segment == self.waits(demand.function, demand.block) {
            self.follow((demand.function, demand.block), &mut Vec::new(), graph, BLOCKS, &mut found);
        }
        found
    }

    /// How often a block waits for others, or calls what may.
    fn waits(&self, function: usize, block: usize) -> usize {
        let code = &self.functions[function].0.blocks[block].instructions;
        code.iter().filter(|inst| waits(inst.class.opcode)).count()
    }

    fn follow(
        &mut self,
        (function, block): (usize, usize),
        way: &mut Vec<Term>,
        graph: &Graph,
        left: usize,
        found: &mut Vec<Term>,
    ) {
        for next in graph.successors(block).to_vec() {
            let condition = self.edge(function, block, next, graph);
            let is_certain = graph.successors(block).len() == 1 || condition.is_some();
            if left == 0 || !is_certain || graph.dominating(block).any(|up| up == next) {
                continue;
            }
            let known = way.len();
            way.extend(condition);
            let taken = self.terms.all(way);
            let facts = self.facts.get(&(function, next)).map_or(&[][..], Vec::as_slice);
            let facts: Vec<Term> =
                facts.iter().filter(|fact| fact.segment == 0).map(|fact| fact.term).collect();
            for fact in facts {
                found.push(self.terms.apply("=>", &[taken, fact], 0));
            }
            if self.waits(function, next) == 0 {
                self.follow((function, next), way, graph, left - 1, found);
            }
            way.truncate(known);
        }
    }
}

/// Whether another invocation may end everything at an instruction.
pub(super) fn waits(opcode: Op) -> bool {
    matches!(opcode, Op::ControlBarrier | Op::FunctionCall)
}

//! A further turn of a loop that comes to nothing.
//!
//! After stays in a loop where before leaves it, but the turn that it takes only computes what nobody reads, and then it leaves,
//! too. In such a turn it may wait for its workgroup and store again what it stored last ([`again`](super::again)).

use std::collections::HashSet;

use rspirv::dr::Instruction;
use rspirv::spirv::Op;

use super::super::evaluate::{evaluate, ids, Asides, Meaning};
use super::super::graph::Graph;
use super::super::terms::Term;
use super::super::value::Value;
use super::align::{align, Pair};
use super::{Demand, Lockstep};

/// How many blocks a turn may have, on all ways.
pub(super) const BLOCKS: usize = 64;

/// Where after runs alone.
pub(super) struct Run {
    pub function: usize,
    /// The blocks that it may come to.
    pub inside: HashSet<usize>,
    /// What is known where it begins.
    pub known: Vec<Term>,
    /// What before has where it comes out.
    pub join: Option<Join>,
}

/// Where before is, and its values that are read from there on.
pub(super) struct Join {
    /// With the block that it came from.
    at: (usize, usize),
    /// Those of a loop that are read outside of it, other than by OpPhi.
    read: Vec<(u32, Value)>,
    /// What comes to each OpPhi there.
    brought: Vec<Value>,
}

/// A loop with a branch that leaves it in before only.
pub(super) struct Turn {
    pub run: Run,
    pub header: usize,
    pub latch: usize,
    /// The branch is at the end of this block.
    pub block: usize,
    /// Where after goes.
    stays: usize,
    /// That they part, which is known in the run, and that they do so in the other direction.
    pub parts: Term,
    reversed: Term,
}

/// What after does in a run.
#[derive(Default)]
pub(super) struct Deeds {
    pub waits: bool,
    /// It may read what may be anything.
    pub reads: bool,
    /// How often it did.
    pub count: usize,
    /// Stores: block, pointer, what is stored, and the ids of these.
    pub stores: Vec<(usize, Value, Value, (u32, u32))>,
}

impl Lockstep<'_, '_> {
    /// Whether a demand is the condition of a branch by which after takes one turn more, and that turn comes to nothing.
    pub(super) fn idles(&mut self, demand: &Demand, graphs: &(Graph, Graph)) -> bool {
        let Some(turn) = self.parting(demand, graphs) else { return false };
        let (known, truth) = (self.known(demand, &graphs.0), self.terms.truth(false));
        if !self.terms.agree(&known, &[(turn.reversed, truth)]) {
            return false;
        }
        let values = self.after.values();
        let (mut deeds, mut left) = (Deeds::default(), BLOCKS);
        let mut way = turn.run.known.clone();
        let ends = self.run(&turn.run, (turn.stays, turn.block), &mut way, &mut left, (&mut deeds, graphs));
        self.after.restore(values);
        ends.is_some() && self.repeats(&turn, &deeds, graphs)
    }

    /// The loop that the branch may leave.
    fn parting(&mut self, demand: &Demand, graphs: &(Graph, Graph)) -> Option<Turn> {
        let (function, block, graph) = (demand.function, demand.block, &graphs.1);
        let (condition, opposite) =
            (*self.conditions.get(&(function, block))?, *self.opposites.get(&(function, block))?);
        if demand.pairs != [(condition, opposite)] || demand.phi.is_some() {
            return None;
        }
        let mut loops = graph.dominating(block).filter_map(|up| Some((up, graph.natural_loop(up)?)));
        let (header, (latch, inside)) = loops.find(|(_, (_, inside))| inside.contains(&block))?;
        let [holds, fails] = *graph.successors(block) else { return None };
        let (stays, leaves, ours, theirs) = if inside.contains(&holds) {
            (holds, fails, condition, opposite)
        } else {
            (fails, holds, self.terms.not(condition), self.terms.not(opposite))
        };
        if inside.contains(&leaves) || !inside.contains(&stays) {
            return None;
        }
        let (ends, goes_on) = (self.terms.not(ours), self.terms.not(theirs));
        let parts = self.terms.apply("and", &[theirs, ends], 0);
        let reversed = self.terms.apply("and", &[ours, goes_on], 0);
        let mut known = self.known(demand, &graphs.0);
        known.push(parts);
        let read = self.read_outside(function, &inside)?;
        let join = self.skip(function, (leaves, block), graph);
        let mut brought = Vec::new();
        for phi in self.functions[function].1.blocks[join.0].instructions.iter() {
            if phi.class.opcode != Op::Phi {
                break;
            }
            let id = brought_by(phi, join.1, graph)?;
            brought.push(self.before.value(id, self.terms)?);
        }
        let join = Some(Join { at: join, read, brought });
        let run = Run { function, inside, known, join };
        Some(Turn { run, header, latch, block, stays, parts, reversed })
    }

    /// Values of a loop that are read outside of it, other than by OpPhi.
    fn read_outside(&mut self, function: usize, inside: &HashSet<usize>) -> Option<Vec<(u32, Value)>> {
        let code = &self.functions[function].1.blocks;
        let own = inside.iter().flat_map(|block| &code[*block].instructions);
        let own: HashSet<u32> = own.filter_map(|inst| inst.result_id).collect();
        let others = code.iter().enumerate().filter(|(block, _)| !inside.contains(block));
        let others = others.flat_map(|(_, block)| &block.instructions);
        let others = others.filter(|inst| inst.class.opcode != Op::Phi);
        let read: HashSet<u32> = others.flat_map(ids).filter(|id| own.contains(id)).collect();
        read.into_iter().map(|id| Some((id, self.before.value(id, self.terms)?))).collect()
    }

    /// The first block on a way that does more than to go on, and from where it is entered.
    fn skip(&self, function: usize, (mut at, mut from): (usize, usize), graph: &Graph) -> (usize, usize) {
        for _ in 0..BLOCKS {
            match (&self.functions[function].1.blocks[at].instructions[..], graph.successors(at)) {
                ([end], [next]) if end.class.opcode == Op::Branch => (at, from) = (*next, at),
                _ => break,
            }
        }
        (at, from)
    }

    /// Runs after from the beginning of a block to where before is.
    pub(super) fn run(
        &mut self,
        run: &Run,
        (at, from): (usize, usize),
        way: &mut Vec<Term>,
        left: &mut usize,
        (deeds, graphs): (&mut Deeds, &(Graph, Graph)),
    ) -> Option<()> {
        if !run.inside.contains(&at) {
            return self.is_joined(run, (at, from), way, &graphs.1);
        }
        *left = left.checked_sub(1)?;
        let (one, other) = self.functions[run.function];
        let code = align(&one.blocks[at].instructions, &other.blocks[at].instructions);
        // Whether all invocations that are here came the same way.
        let is_only_way = way.len() == run.known.len();
        let mut chosen = Vec::new();
        for (place, pair) in code.into_iter().enumerate() {
            let inst = match pair {
                Pair::Both(_, inst) | Pair::After(inst) => inst,
                Pair::Before(_) => continue,
            };
            self.after.enter(&format!("{} {at} {place}", run.function));
            if inst.class.opcode == Op::Phi {
                chosen.push((
                    inst.result_id?,
                    self.after.value(brought_by(inst, from, &graphs.1)?, self.terms)?,
                ));
                continue;
            }
            // All values of OpPhi change at once.
            chosen.drain(..).for_each(|(id, value)| self.after.set(id, value));
            match inst.class.opcode {
                Op::LoopMerge | Op::SelectionMerge | Op::Branch | Op::BranchConditional => {}
                // Others may have read what was stored before they waited.
                Op::ControlBarrier if is_only_way && deeds.stores.is_empty() => deeds.waits = true,
                // Another operand may be there: that the memory is volatile.
                Op::Store if is_only_way && inst.operands.len() == 2 => {
                    let [to, what] = ids(inst).collect::<Vec<_>>()[..] else { return None };
                    let (pointer, value) =
                        (self.after.value(to, self.terms)?, self.after.value(what, self.terms)?);
                    deeds.stores.push((at, pointer, value, (to, what)));
                }
                Op::Load if deeds.reads && inst.operands.len() == 1 => {
                    let shape = self.after.shape(inst.result_type?)?;
                    deeds.count += 1;
                    let value = self.symbols(&format!("{} of a run", deeds.count), &shape);
                    self.after.set(inst.result_id?, value);
                }
                _ => self.compute(inst, way)?,
            }
        }
        let end = other.blocks[at].instructions.last()?;
        match *graphs.1.successors(at) {
            [next] => self.run(run, (next, at), way, left, (deeds, graphs)),
            [holds, fails] if end.class.opcode == Op::BranchConditional => {
                let condition = self.after.value(ids(end).next()?, self.terms)?.one()?;
                let (yes, no) = (self.terms.truth(true), self.terms.truth(false));
                let ways = [(holds, yes, no), (fails, no, yes)].map(|(next, goes, never)| {
                    (!self.terms.agree(way, &[(condition, never)])).then_some((next, goes))
                });
                if let [Some((next, _)), None] | [None, Some((next, _))] = ways {
                    return self.run(run, (next, at), way, left, (deeds, graphs));
                }
                let values = self.after.values();
                for (next, goes) in ways.into_iter().flatten() {
                    way.push(self.terms.apply("=", &[condition, goes], 0));
                    self.run(run, (next, at), way, left, (deeds, graphs))?;
                    way.pop();
                    self.after.restore(values.clone());
                }
                Some(())
            }
            _ => None,
        }
    }

    /// Evaluates what only computes, and is defined.
    fn compute(&mut self, inst: &Instruction, way: &[Term]) -> Option<()> {
        let mut asides = Asides::default();
        let Meaning::Value(value) = evaluate(inst, &mut self.after, self.terms, &mut asides)? else {
            return None;
        };
        let holds = self.terms.truth(true);
        let defined: Vec<(Term, Term)> = asides.defined.into_iter().map(|term| (term, holds)).collect();
        self.after.set(inst.result_id?, value);
        self.terms.agree(way, &defined).then_some(())
    }

    /// Whether after comes to where before is, with the values that before has.
    fn is_joined(
        &mut self,
        run: &Run,
        (at, from): (usize, usize),
        way: &[Term],
        graph: &Graph,
    ) -> Option<()> {
        let (at, from) = self.skip(run.function, (at, from), graph);
        let join = run.join.as_ref().filter(|join| join.at.0 == at)?;
        let mut pairs = Vec::new();
        for (id, value) in &join.read {
            self.after.value(*id, self.terms)?.pairs(value, &mut pairs)?;
        }
        let code = &self.functions[run.function].1.blocks[at].instructions;
        let phis = code.iter().take_while(|inst| inst.class.opcode == Op::Phi);
        for (phi, value) in phis.zip(&join.brought) {
            self.after.value(brought_by(phi, from, graph)?, self.terms)?.pairs(value, &mut pairs)?;
        }
        self.terms.agree(way, &pairs).then_some(())
    }
}

/// What an OpPhi has for a block.
fn brought_by(phi: &Instruction, from: usize, graph: &Graph) -> Option<u32> {
    let operands: Vec<u32> = ids(phi).collect();
    let mut pairs = operands.chunks_exact(2);
    pairs.find(|pair| graph.labels.get(&pair[1]) == Some(&from)).map(|pair| pair[0])
}

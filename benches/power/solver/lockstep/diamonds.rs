//! Branches that only choose between values: both ways lead to one block, and compute on the way without any other effect.
//!
//! There the modules need not go the same way: what reaches the block is a choice by each module's own condition. After has
//! to be defined on the way that it takes, whichever way before takes. The block is declared to be where invocations meet
//! again (SPIR-V, "Structured Control Flow"), so that nobody sees which way one went.

use rspirv::dr::Instruction;
use rspirv::spirv::Op;

use super::super::evaluate::ids;
use super::super::graph::Graph;
use super::super::terms::Term;
use super::super::value::{each, Value};
use super::{Demand, Fact, Lockstep, Place};

/// A branch and where its ways meet.
#[derive(Clone)]
pub(super) struct Diamond {
    pub head: usize,
    /// Where both ways come from: a block of their own, or the branch.
    ways: [usize; 2],
    pub end: usize,
}

impl Lockstep<'_, '_> {
    /// The branch by which a block ends, if that and its ways are such ones.
    pub(super) fn diamond(&self, function: usize, head: usize, graphs: &(Graph, Graph)) -> Option<Diamond> {
        let graph = &graphs.0;
        let [one, other] = *graph.successors(head) else { return None };
        if one == other {
            return None;
        }
        let next = |way: usize| match (graph.predecessors(way), graph.successors(way)) {
            ([from], [to]) if *from == head => Some(*to),
            _ => None,
        };
        let end = match (next(one), next(other)) {
            (Some(end), Some(same)) if end == same => end,
            (Some(end), _) if end == other => end,
            (_, Some(end)) if end == one => end,
            _ => return None,
        };
        let ways = [one, other].map(|way| if way == end { head } else { way });
        let is_first = ways.iter().all(|way| (head..end).contains(way));
        let (code, _) = self.functions[function];
        let meets = |block: usize| {
            let code = &code.blocks[block].instructions;
            let mut merges = code.iter().filter(|inst| inst.class.opcode == Op::SelectionMerge);
            merges.any(|merge| ids(merge).next().and_then(|id| graph.labels.get(&id)) == Some(&end))
        };
        let is_whole = graph.predecessors(end).len() == 2 && graph.dominating(head).any(meets);
        (is_first && is_whole).then_some(Diamond { head, ways, end })
    }

    /// At the beginning of a block: where the ways of a branch meet here and did nothing but compute, it is not demanded
    /// that both modules went the same one.
    pub(super) fn meet(&mut self, function: usize, block: usize) -> Option<Diamond> {
        let diamond = self.open.get(&(function, block)).filter(|one| one.end == block)?.clone();
        let own: Vec<usize> = diamond.ways.into_iter().filter(|way| *way != diamond.head).collect();
        if own.iter().any(|way| self.effects.contains(&(function, *way))) {
            return None;
        }
        let (condition, opposite) = self.choices(function, &diamond)?;
        self.demands.retain(|demand| demand.crosses != Some((function, diamond.head)));
        for way in own {
            let (mut taken, mut crossed) = (condition, opposite);
            if diamond.ways[1] == way {
                (taken, crossed) = (self.terms.not(condition), self.terms.not(opposite));
            }
            self.crossed.insert((function, way), crossed);
            for fact in self.facts.remove(&(function, way)).unwrap_or_default() {
                let term = self.terms.apply("=>", &[taken, fact.term], 0);
                let segment = usize::MAX;
                self.facts.entry((function, diamond.head)).or_default().push(Fact { segment, term });
            }
        }
        Some(diamond)
    }

    /// The conditions of both modules.
    fn choices(&self, function: usize, diamond: &Diamond) -> Option<(Term, Term)> {
        let place = (function, diamond.head);
        Some((*self.conditions.get(&place)?, *self.opposites.get(&place)?))
    }

    /// Sets a value of OpPhi to what each module's condition chooses.
    pub(super) fn chosen(
        &mut self,
        place: Place,
        diamond: &Diamond,
        (one, other): (&Instruction, &Instruction),
        graphs: &(Graph, Graph),
    ) -> Option<()> {
        let (function, block, _) = place;
        let (condition, opposite) = self.choices(function, diamond)?;
        let from = |phi: &Instruction, graph: &Graph, way: usize| {
            let operands: Vec<u32> = ids(phi).collect();
            let mut pairs =
                operands.chunks_exact(2).map(|pair| (pair[0], graph.labels.get(&pair[1]).copied()));
            pairs.find(|(_, label)| *label == Some(way)).map(|(id, _)| id)
        };
        let values = |phi: &Instruction, graph: &Graph| -> Option<Vec<u32>> {
            diamond.ways.iter().map(|way| from(phi, graph, *way)).collect()
        };
        let ours = values(one, &graphs.0)?.into_iter().map(|id| self.before.value(id, self.terms));
        let ours = ours.collect::<Option<Vec<Value>>>()?;
        let theirs = values(other, &graphs.1)?.into_iter().map(|id| self.after.value(id, self.terms));
        let theirs = theirs.collect::<Option<Vec<Value>>>()?;
        let mut choose = |condition: Term, of: &[Value]| {
            let of: Vec<&Value> = of.iter().collect();
            each(self.terms, &of, &mut |terms, of| Some(terms.choose(condition, of[0], of[1])))
        };
        let (ours, mut theirs) = (choose(condition, &ours)?, choose(opposite, &theirs)?);
        if self.alike.contains(&place) {
            theirs = ours.clone();
        } else {
            let mut pairs = Vec::new();
            ours.pairs(&theirs, &mut pairs)?;
            self.origins.push((
                place,
                Demand { function, block, segment: 0, edge: None, pairs, phi: None, crosses: None },
            ));
        }
        self.before.set(one.result_id?, ours);
        self.after.set(other.result_id?, theirs);
        Some(())
    }
}

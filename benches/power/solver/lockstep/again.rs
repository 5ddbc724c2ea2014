//! A further turn of a loop in which invocations wait for each other and store again what they stored last.
//!
//! All invocations of a workgroup take such a turn, since it depends on how often they went around only, and they went around
//! together: a turn before waited, too. Between the store of that turn and the one that repeats it, no invocation does
//! anything but to wait and to repeat: what would see a difference would have been a race without the further turn.

use std::collections::HashSet;

use rspirv::spirv::Op;

use super::super::evaluate::ids;
use super::super::graph::Graph;
use super::super::terms::{Symbol, Term};
use super::super::value::Value;
use super::turns::{Deeds, Turn};
use super::Lockstep;

impl Lockstep<'_, '_> {
    /// Whether nobody notices what a further turn does.
    pub(super) fn repeats(&mut self, turn: &Turn, deeds: &Deeds, graphs: &(Graph, Graph)) -> bool {
        if !deeds.waits && deeds.stores.is_empty() {
            return true;
        }
        self.is_later(turn, &graphs.1) == Some(true)
            && (!deeds.waits || self.is_common(turn, &graphs.1) == Some(true))
            && (deeds.stores.is_empty() || self.is_stored(turn, deeds, &graphs.1) == Some(true))
    }

    /// OpPhi at the beginning of a loop: what they are, and what they are at first and after a turn.
    fn carried(&mut self, turn: &Turn, graph: &Graph) -> Option<Vec<[Value; 3]>> {
        let code = &self.functions[turn.run.function].1.blocks[turn.header].instructions;
        let mut carried = Vec::new();
        for phi in code.iter().take_while(|inst| inst.class.opcode == Op::Phi) {
            let operands: Vec<u32> = ids(phi).collect();
            let [one, other] = operands.chunks_exact(2).collect::<Vec<_>>()[..] else { return None };
            let is_back = |pair: &[u32]| graph.labels.get(&pair[1]) == Some(&turn.latch);
            let (first, next) = if is_back(one) { (other, one) } else { (one, other) };
            let mut value = |id: u32| self.after.value(id, self.terms);
            carried.push([value(phi.result_id?)?, value(first[0])?, value(next[0])?]);
        }
        Some(carried)
    }

    /// Whether the further turn is never the first one.
    fn is_later(&mut self, turn: &Turn, graph: &Graph) -> Option<bool> {
        let mut known = turn.run.known.clone();
        for [value, first, _] in self.carried(turn, graph)? {
            let mut pairs = Vec::new();
            value.pairs(&first, &mut pairs)?;
            known.extend(pairs.into_iter().map(|(one, other)| self.terms.apply("=", &[one, other], 0)));
        }
        let never = self.terms.truth(false);
        Some(self.terms.agree(&known, &[(turn.parts, never)]))
    }

    /// Whether all invocations take the further turn together.
    fn is_common(&mut self, turn: &Turn, graph: &Graph) -> Option<bool> {
        let mut counters = self.carried(turn, graph)?;
        let symbols = |value: &Value, terms: &mut super::Terms| terms.symbols(&value.leaves());
        counters.retain(|[_, first, _]| symbols(first, self.terms).is_empty());
        loop {
            let known = self.counted(&counters);
            let before = counters.len();
            counters.retain(|[_, _, next]| symbols(next, self.terms).is_subset(&known));
            if counters.len() == before {
                break;
            }
        }
        let known = self.counted(&counters);
        let mut conditions = vec![turn.parts];
        for block in &turn.run.inside {
            if graph.successors(*block).iter().any(|to| !turn.run.inside.contains(to)) {
                let place = (turn.run.function, *block);
                conditions.extend([*self.conditions.get(&place)?, *self.opposites.get(&place)?]);
            }
        }
        let waits = |block: usize| {
            let code = &self.functions[turn.run.function].0.blocks[block].instructions;
            code.iter().any(|inst| inst.class.opcode == Op::ControlBarrier)
        };
        let waited =
            graph.dominating(turn.latch).take_while(|block| turn.run.inside.contains(block)).any(waits);
        Some(waited && self.terms.symbols(&conditions).is_subset(&known))
    }

    /// The symbols of values of OpPhi.
    fn counted(&mut self, counters: &[[Value; 3]]) -> HashSet<Symbol> {
        let values: Vec<Term> = counters.iter().flat_map(|[value, _, _]| value.leaves()).collect();
        self.terms.symbols(&values)
    }

    /// Whether there is one store, which every turn ends with, and it stores what it stored in the turn before.
    fn is_stored(&mut self, turn: &Turn, deeds: &Deeds, graph: &Graph) -> Option<bool> {
        let [(block, pointer, value, (to, what))] = &deeds.stores[..] else { return Some(false) };
        let inner = |block: usize| -> Vec<usize> {
            graph.successors(block).iter().copied().filter(|next| turn.run.inside.contains(next)).collect()
        };
        // From there every turn comes the same way to where after goes on.
        let mut at = *block;
        for _ in 0..turn.run.inside.len() {
            let [next] = inner(at)[..] else { return Some(false) };
            at = next;
            if at == turn.block {
                break;
            }
        }
        if at != turn.block || !graph.dominating(turn.latch).any(|up| up == *block) {
            return Some(false);
        }
        let (kept, last) = (self.after.value(*to, self.terms)?, self.after.value(*what, self.terms)?);
        if *pointer != kept || self.changes(turn, &kept) {
            return Some(false);
        }
        let carried = self.carried(turn, graph)?;
        let mut pairs = Vec::new();
        for (last, now) in last.leaves().into_iter().zip(value.leaves()) {
            let leaf = carried.iter().find_map(|[here, _, next]| {
                let mut leaves = here.leaves().into_iter().zip(next.leaves());
                leaves.find(|(_, next)| *next == last).map(|(here, _)| here)
            });
            pairs.push((leaf?, now));
        }
        Some(self.terms.agree(&turn.run.known, &pairs))
    }

    /// Whether a value may be another one in another turn.
    fn changes(&mut self, turn: &Turn, value: &Value) -> bool {
        let own: Vec<String> =
            turn.run.inside.iter().map(|block| format!("result {} {block} ", turn.run.function)).collect();
        self.terms
            .names(&value.leaves())
            .iter()
            .any(|name| name.contains("undefined") || own.iter().any(|own| name.contains(own.as_str())))
    }
}

//! What has an effect: operands of instructions, conditions of branches, and values that go to OpPhi.

use std::collections::HashMap;

use rspirv::dr::{Instruction, Operand};
use rspirv::spirv::Op;

use super::super::evaluate::ids;
use super::super::graph::Graph;
use super::super::side::Extent;
use super::super::terms::Term;
use super::super::value::Value;
use super::{Demand, Fact, Lockstep};

impl Lockstep<'_, '_> {
    /// What must be equal for two instructions to have the same effect.
    pub(super) fn operands(
        &mut self,
        one: &Instruction,
        other: &Instruction,
        place: (usize, usize),
        graphs: &(Graph, Graph),
    ) -> Option<Vec<(Term, Term)>> {
        if one.class.opcode != other.class.opcode || one.operands.len() != other.operands.len() {
            return None;
        }
        let mut pairs = Vec::new();
        let mut other = other.clone();
        if one.class.opcode == Op::BranchConditional {
            let label = |graph: &Graph, inst: &Instruction| {
                ids(inst).nth(1).and_then(|id| graph.labels.get(&id).copied())
            };
            let condition = self.before.value(ids(one).next()?, self.terms)?.one()?;
            let mut opposite = self.after.value(ids(&other).next()?, self.terms)?.one()?;
            if label(&graphs.0, one) != label(&graphs.1, &other) {
                opposite = self.terms.not(opposite);
                other.operands.swap(1, 2);
            }
            self.opposites.insert(place, opposite);
            pairs.push((condition, opposite));
            *other.operands.first_mut()? = one.operands.first()?.clone();
        }
        let skipped = usize::from(one.class.opcode == Op::BranchConditional);
        for (one, other) in one.operands.iter().zip(&other.operands).skip(skipped) {
            let (id, opposite) = match (one, other) {
                (Operand::IdRef(id), Operand::IdRef(opposite))
                | (Operand::IdScope(id), Operand::IdScope(opposite))
                | (Operand::IdMemorySemantics(id), Operand::IdMemorySemantics(opposite)) => (*id, *opposite),
                _ if one == other => continue,
                _ => return None,
            };
            match (graphs.0.labels.get(&id), graphs.1.labels.get(&opposite)) {
                (Some(label), Some(target)) if label == target => continue,
                (None, None) => {}
                _ => return None,
            }
            match (self.before.value(id, self.terms), self.after.value(opposite, self.terms)) {
                (Some(value), Some(opposite)) => value.pairs(&opposite, &mut pairs)?,
                // A function, or what has no value: the same id is the same in both.
                (None, None) if id == opposite => {}
                _ => return None,
            }
        }
        Some(pairs)
    }

    /// Notes conditions of branches, and what follows from an access of before being within bounds.
    pub(super) fn access(&mut self, inst: &Instruction, block: (usize, usize), segment: usize) {
        let operands: Vec<Value> =
            ids(inst).take(2).filter_map(|id| self.before.value(id, self.terms)).collect();
        let pointers = match inst.class.opcode {
            Op::BranchConditional => {
                let condition = operands.first().and_then(Value::one);
                self.conditions.extend(condition.map(|condition| (block, condition)));
                return;
            }
            Op::Load | Op::Store => 1,
            Op::CopyMemory => 2,
            opcode if is_atomic(opcode) => 1,
            _ => return,
        };
        for pointer in operands.iter().take(pointers) {
            for (index, extent) in self.before.extents(pointer, self.terms).into_iter().flatten() {
                let Extent::Elements(count) = extent else { continue };
                if count > u64::from(u32::MAX) || self.terms.literal(index).is_some() {
                    continue;
                }
                let count = self.terms.number(32, count);
                let term = self.terms.apply("bvult", &[index, count], 0);
                self.facts.entry(block).or_default().push(Fact { segment, term });
            }
        }
    }

    /// What blocks bring to the values of OpPhi of their successors.
    pub(super) fn incoming(&mut self, function: usize, graphs: &(Graph, Graph)) -> Option<()> {
        let (before, after) = self.functions[function];
        for (block, (one, other)) in before.blocks.iter().zip(&after.blocks).enumerate() {
            if self.met.contains(&(function, block)) {
                continue;
            }
            for (at, (one, other)) in one.instructions.iter().zip(&other.instructions).enumerate() {
                if one.class.opcode != Op::Phi {
                    break;
                }
                let place = (function, block, at);
                let theirs: HashMap<usize, u32> = pairs_of(other, &graphs.1)?.into_iter().collect();
                let ours = pairs_of(one, &graphs.0)?;
                if ours.len() != theirs.len() {
                    return None;
                }
                for (from, id) in ours {
                    let name = format!("{function} {block} {at} from {from}");
                    self.before.enter(&name);
                    self.after.enter(&name);
                    let value = self.before.value(id, self.terms)?;
                    let opposite = self.after.value(*theirs.get(&from)?, self.terms)?;
                    if self.apart.contains(&place) {
                        continue;
                    }
                    let mut pairs = Vec::new();
                    value.pairs(&opposite, &mut pairs)?;
                    let edge = self.edge(function, from, block, &graphs.0);
                    let phi = Some(place);
                    self.demands.push(Demand {
                        function,
                        block: from,
                        segment: usize::MAX,
                        edge,
                        pairs,
                        phi,
                        crosses: None,
                    });
                }
            }
        }
        Some(())
    }
}

/// The blocks that an OpPhi has values for, and these.
fn pairs_of(phi: &Instruction, graph: &Graph) -> Option<Vec<(usize, u32)>> {
    let operands: Vec<u32> = ids(phi).collect();
    operands.chunks_exact(2).map(|pair| Some((*graph.labels.get(&pair[1])?, pair[0]))).collect()
}

fn is_atomic(opcode: Op) -> bool {
    matches!(
        opcode,
        Op::AtomicLoad
            | Op::AtomicStore
            | Op::AtomicExchange
            | Op::AtomicCompareExchange
            | Op::AtomicIIncrement
            | Op::AtomicIDecrement
            | Op::AtomicIAdd
            | Op::AtomicISub
            | Op::AtomicSMin
            | Op::AtomicUMin
            | Op::AtomicSMax
            | Op::AtomicUMax
            | Op::AtomicAnd
            | Op::AtomicOr
            | Op::AtomicXor
    )
}

//! Broadcasts, shuffles and quads.

use super::super::machine::fault;
use super::{undefined, Components, Stop, Tangle};
use crate::event::UndefinedKind;
use crate::ir::{Contribution, Operand, ShuffleWay};
use crate::value::Scalar;

/// Whose value each invocation of a tangle gets, by the position there; `None` where the result is undefined.
pub type Sources = Vec<Option<usize>>;

impl Tangle<'_> {
    /// What each gets of what the others bring.
    pub(super) fn moved(&self, value: Contribution, sources: Sources) -> Vec<Components> {
        let moved = |source: Option<usize>| source.map_or_else(|| undefined(value), |at| self.of(at, value));
        sources.into_iter().map(moved).collect()
    }

    pub(super) fn broadcast(&self, id: Operand, strict: bool) -> Result<Sources, Box<Stop>> {
        match self.uniform(id) {
            Some(id) => Ok(vec![self.position(Some(id.bits)); self.members.len()]),
            None if strict => Err(self.not_uniform("the id")),
            None => Ok(vec![None; self.members.len()]),
        }
    }

    pub(super) fn broadcast_first(&self) -> Sources {
        vec![Some(0); self.members.len()]
    }

    pub(super) fn quad_broadcast(&self, index: Operand) -> Result<Sources, Box<Stop>> {
        let index = self.uniform(index).ok_or_else(|| self.not_uniform("the index"))?;
        let source = |lane: u32| (index.bits < 4).then_some(u64::from(lane / 4 * 4) + index.bits);
        Ok(self.lanes().map(|lane| self.position(source(lane))).collect())
    }

    pub(super) fn quad_swap(&self, flip: u32) -> Sources {
        self.lanes().map(|lane| self.position(Some(u64::from(lane ^ flip)))).collect()
    }

    pub(super) fn shuffle(&self, way: ShuffleWay, operand: Operand) -> Result<Sources, Box<Stop>> {
        let cluster = match way {
            ShuffleWay::Rotate { cluster } => {
                self.uniform(operand).ok_or_else(|| self.not_uniform("the delta"))?;
                cluster.map_or(Ok(self.size()), |size| self.cluster_size(size))?
            }
            ShuffleWay::Index | ShuffleWay::Xor | ShuffleWay::Up | ShuffleWay::Down => self.size(),
        };
        let sources = (0..self.members.len()).map(|member| {
            let (lane, operand) = (u64::from(self.lane(member)), self.scalar(member, operand));
            if !operand.is_defined() {
                return None;
            }
            let source = match way {
                ShuffleWay::Index => Some(operand.bits),
                ShuffleWay::Xor => Some(lane ^ operand.bits),
                ShuffleWay::Up => lane.checked_sub(operand.bits),
                ShuffleWay::Down => lane.checked_add(operand.bits),
                ShuffleWay::Rotate { .. } => {
                    let within = u64::from(cluster) - 1;
                    Some(lane.wrapping_add(operand.bits) & within | lane & !within)
                }
            };
            self.position(source)
        });
        Ok(sources.collect())
    }

    /// The member of this number, if it is in the tangle.
    fn position(&self, lane: Option<u64>) -> Option<usize> {
        let lane = lane?;
        self.lanes().position(|other| u64::from(other) == lane)
    }

    /// A cluster's size, which is a power of two up to the subgroup's size.
    pub(super) fn cluster_size(&self, size: Operand) -> Result<u32, Box<Stop>> {
        let fits = |size: &Scalar| size.bits.is_power_of_two() && size.bits <= u64::from(self.size());
        match self.uniform(size).filter(fits) {
            Some(size) => Ok(size.bits as u32),
            None => {
                let detail = "the size of the clusters is no power of two up to the subgroup's size";
                Err(fault(UndefinedKind::UndefinedOperand, self.line, detail))
            }
        }
    }
}

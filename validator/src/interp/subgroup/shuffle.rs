//! Broadcasts, shuffles and quads.

use super::super::machine::fault;
use super::{undefined, Components, Stop, Tangle};
use crate::event::UndefinedKind;
use crate::ir::{Contribution, Operand, ShuffleWay};
use crate::value::Scalar;

impl Tangle<'_> {
    pub(super) fn broadcast(
        &self,
        value: Contribution,
        id: Operand,
        strict: bool,
    ) -> Result<Vec<Components>, Box<Stop>> {
        match self.uniform(id) {
            Some(id) => Ok(self.alike(self.at_bits(Some(id.bits), value))),
            None if strict => Err(self.not_uniform("the id")),
            None => Ok(self.alike(undefined(value))),
        }
    }

    pub(super) fn quad_broadcast(
        &self,
        value: Contribution,
        index: Operand,
    ) -> Result<Vec<Components>, Box<Stop>> {
        let index = self.uniform(index).ok_or_else(|| self.not_uniform("the index"))?;
        Ok(self.each(|lane| {
            let source = (index.bits < 4).then_some(u64::from(lane / 4 * 4) + index.bits);
            self.at_bits(source, value)
        }))
    }

    pub(super) fn shuffle(
        &self,
        way: ShuffleWay,
        value: Contribution,
        operand: Operand,
    ) -> Result<Vec<Components>, Box<Stop>> {
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
                return undefined(value);
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
            self.at_bits(source, value)
        });
        Ok(sources.collect())
    }

    /// What the invocation of this number brings; undefined where there is none.
    fn at_bits(&self, lane: Option<u64>, value: Contribution) -> Components {
        match lane.filter(|lane| *lane < u64::from(self.size())) {
            Some(lane) => self.at(lane as u32, value),
            None => undefined(value),
        }
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

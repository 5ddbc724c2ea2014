//! Ballots: four words with a bit for each invocation of the subgroup.

use super::super::{arithmetic, bits};
use super::{one, Components, Stop, Tangle};
use crate::ir::{BallotCount, Contribution, Operand};
use crate::value::{mask, Scalar};

/// The bit of a ballot.
fn bit(ballot: &[Scalar], lane: u32) -> Scalar {
    let word = ballot.get(lane as usize / 32).copied().unwrap_or_default();
    let one = |bits: u64| bits >> (lane % 32) & 1;
    Scalar { bits: one(word.bits), undef: one(word.undef) }
}

fn set_bit(ballot: &mut [Scalar], lane: u32, value: Scalar) {
    if let Some(word) = ballot.get_mut(lane as usize / 32) {
        word.bits |= value.bits << (lane % 32);
        word.undef |= value.undef << (lane % 32);
    }
}

/// OpGroupNonUniformBallotBitExtract.
pub(super) fn bit_extract(ballot: [Scalar; 4], index: Scalar, size: u32) -> Scalar {
    if index.is_defined() && index.bits < u64::from(size) {
        bit(&ballot, index.bits as u32)
    } else {
        Scalar::undefined(1)
    }
}

/// OpGroupNonUniformBallotBitCount, for the invocation `lane` of a subgroup.
pub(super) fn bit_count(
    ballot: [Scalar; 4],
    operation: BallotCount,
    width: u8,
    lane: u32,
    size: u32,
) -> Scalar {
    let end = match operation {
        BallotCount::Reduce => size,
        BallotCount::InclusiveScan => lane + 1,
        BallotCount::ExclusiveScan => lane,
    };
    let width = u32::from(width);
    (0..4).zip(ballot).fold(Scalar::new(0), |sum, (number, word)| {
        let considered = match end.saturating_sub(number * 32).min(32) {
            0 => 0,
            count => mask(count),
        };
        let word = Scalar { bits: word.bits & considered, undef: word.undef & considered };
        arithmetic::add(width, sum, bits::count(word))
    })
}

/// OpGroupNonUniformBallotFindLSB and OpGroupNonUniformBallotFindMSB.
pub(super) fn find(ballot: [Scalar; 4], most: bool, width: u8, size: u32) -> Scalar {
    let mut lanes: Vec<u32> = (0..size).collect();
    if most {
        lanes.reverse();
    }
    let decisive = lanes.into_iter().find(|lane| bit(&ballot, *lane) != Scalar::new(0));
    match decisive {
        Some(lane) if bit(&ballot, lane).is_defined() => Scalar::new(u64::from(lane)),
        Some(_) | None => Scalar::undefined(u32::from(width)),
    }
}

impl Tangle<'_> {
    pub(super) fn ballot(&self, value: Operand) -> Components {
        let mut ballot = Components::from_elem(Scalar::new(0), 4);
        for member in 0..self.members.len() {
            set_bit(&mut ballot, self.lane(member), self.scalar(member, value));
        }
        ballot
    }

    pub(super) fn inverse_ballot(&self, value: Operand) -> Result<Vec<Components>, Box<Stop>> {
        let words = [0, 1, 2, 3].map(|word| self.uniform(value.offset(word)));
        let words: Option<Vec<Scalar>> = words.into_iter().collect();
        let ballot = words.ok_or_else(|| self.not_uniform("the ballot"))?;
        Ok(self.each(|lane| one(bit(&ballot, lane))))
    }

    /// Ballots of the invocations with equal values. A NaN may be alone.
    pub(super) fn partition(&self, value: Contribution, float: bool) -> Result<Vec<Components>, Box<Stop>> {
        let mut results = Vec::with_capacity(self.members.len());
        for member in 0..self.members.len() {
            let own = self.of(member, value);
            let mut ballot = Components::from_elem(Scalar::new(0), 4);
            for other in 0..self.members.len() {
                let same = match other == member {
                    true => Scalar::new(1),
                    false => self.equal(&own, &self.of(other, value), value.width, float)?,
                };
                set_bit(&mut ballot, self.lane(other), same);
            }
            results.push(ballot);
        }
        Ok(results)
    }

    /// For each member, the members whose bits are set in its ballot; `None` unless these are the subsets of
    /// a partition.
    pub(super) fn subsets(&self, ballot: Operand) -> Option<Vec<Vec<usize>>> {
        let words = |member: usize| [0, 1, 2, 3].map(|word| self.scalar(member, ballot.offset(word)));
        let ballots: Vec<[Scalar; 4]> = (0..self.members.len()).map(words).collect();
        if ballots.iter().flatten().any(|word| !word.is_defined()) {
            return None;
        }
        let subset = |own: &[Scalar; 4]| -> Vec<usize> {
            (0..self.members.len()).filter(|other| bit(own, self.lane(*other)) == Scalar::new(1)).collect()
        };
        let subsets: Vec<Vec<usize>> = ballots.iter().map(subset).collect();
        let valid = subsets.iter().enumerate().all(|(member, subset)| {
            subset.contains(&member) && subset.iter().all(|other| subsets.get(*other) == Some(subset))
        });
        valid.then_some(subsets)
    }
}

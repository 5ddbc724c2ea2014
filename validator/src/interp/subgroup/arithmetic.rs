//! Reductions and scans. They go by ascending number of the invocations; which order an implementation takes
//! shows in floats only, which are recorded as inexact where another order could give something else.

use super::super::inexact::{is_free_operand, is_free_result, is_tame};
use super::super::machine::fault;
use super::super::{arithmetic, compare, evaluate as scalar, float};
use super::{Components, Stop, SubgroupResult, Tangle};
use crate::event::UndefinedKind;
use crate::ir::{BinaryOp, Contribution, GroupOperation, Scan, SubgroupArithmetic};
use crate::value::{mask, Scalar};

impl Tangle<'_> {
    pub(super) fn arithmetic(
        &self,
        op: SubgroupArithmetic,
        operation: GroupOperation,
        value: Contribution,
    ) -> Result<SubgroupResult, Box<Stop>> {
        let (groups, scan) = self.groups(operation)?;
        let mut result = SubgroupResult {
            values: vec![Components::from_elem(Scalar::default(), value.count as usize); self.members.len()],
            inexact: false,
        };
        for group in &groups {
            for component in 0..value.count {
                self.component(op, scan, value, component, group, &mut result)?;
            }
        }
        Ok(result)
    }

    /// Whose values are combined with each other, and which of them each result has.
    fn groups(&self, operation: GroupOperation) -> Result<(Vec<Vec<usize>>, Scan), Box<Stop>> {
        let everybody = || vec![(0..self.members.len()).collect::<Vec<usize>>()];
        Ok(match operation {
            GroupOperation::Reduce => (everybody(), Scan::Whole),
            GroupOperation::InclusiveScan => (everybody(), Scan::Inclusive),
            GroupOperation::ExclusiveScan => (everybody(), Scan::Exclusive),
            GroupOperation::ClusteredReduce { size } => {
                (self.clusters(self.cluster_size(size)?), Scan::Whole)
            }
            GroupOperation::Partitioned { scan, ballot } => {
                let Some(mut subsets) = self.subsets(ballot) else {
                    let detail = "the ballots are no partition of the invocations";
                    return Err(fault(UndefinedKind::UndefinedOperand, self.line, detail));
                };
                subsets.sort();
                subsets.dedup();
                (subsets, scan)
            }
        })
    }

    /// For each the members whose values its result combines.
    pub(super) fn combined(&self, operation: GroupOperation) -> Result<Vec<Vec<usize>>, Box<Stop>> {
        let (groups, scan) = self.groups(operation)?;
        let mut combined = vec![Vec::new(); self.members.len()];
        for group in &groups {
            for (place, member) in group.iter().enumerate() {
                let end = match scan {
                    Scan::Whole => group.len(),
                    Scan::Inclusive => place + 1,
                    Scan::Exclusive => place,
                };
                if let (Some(slot), Some(members)) = (combined.get_mut(*member), group.get(..end)) {
                    *slot = members.to_vec();
                }
            }
        }
        Ok(combined)
    }

    fn clusters(&self, size: u32) -> Vec<Vec<usize>> {
        let mut clusters: Vec<Vec<usize>> = vec![Vec::new(); self.size().div_ceil(size) as usize];
        for member in 0..self.members.len() {
            if let Some(cluster) = clusters.get_mut((self.lane(member) / size) as usize) {
                cluster.push(member);
            }
        }
        clusters
    }

    /// One component of a group's results.
    fn component(
        &self,
        op: SubgroupArithmetic,
        scan: Scan,
        value: Contribution,
        component: u32,
        group: &[usize],
        result: &mut SubgroupResult,
    ) -> Result<(), Box<Stop>> {
        let width = value.width;
        let operand = |member: usize| self.scalar(member, value.value.offset(component));
        let mut sum: Option<Scalar> = None;
        for member in group {
            let before = sum;
            let own = operand(*member);
            let behind = match before {
                Some(before) => self.combine(op, width, before, own)?,
                None => own,
            };
            sum = Some(behind);
            let scanned = match scan {
                Scan::Whole => continue,
                Scan::Inclusive => behind,
                Scan::Exclusive => match before {
                    Some(before) => before,
                    None => self.identity(op, width)?,
                },
            };
            if let Some(slot) = slot(result, *member, component) {
                *slot = self.settled(op, width, scanned);
            }
        }
        if let (Scan::Whole, Some(sum)) = (scan, sum) {
            for member in group {
                if let Some(slot) = slot(result, *member, component) {
                    *slot = self.settled(op, width, sum);
                }
            }
        }
        let operands: Vec<Scalar> = group.iter().map(|member| operand(*member)).collect();
        let mut results = Vec::with_capacity(group.len());
        for member in group {
            results.extend(slot(result, *member, component).copied());
        }
        result.inexact |= self.is_open(op, width, &operands, &results);
        Ok(())
    }

    fn combine(&self, op: SubgroupArithmetic, width: u8, a: Scalar, b: Scalar) -> Result<Scalar, Box<Stop>> {
        let bits = u32::from(width);
        let pick = |less: Scalar, first: Scalar, second: Scalar| match less.is_defined() {
            false => arithmetic::join(first, second),
            true if less.bits != 0 => first,
            true => second,
        };
        Ok(match op {
            SubgroupArithmetic::Binary(op) => self.evaluated(scalar::binary(op, width, a, b))?,
            SubgroupArithmetic::SMin => pick(compare::signed_less(bits, a, b), a, b),
            SubgroupArithmetic::UMin => pick(compare::unsigned_less(a, b), a, b),
            SubgroupArithmetic::SMax => pick(compare::signed_less(bits, a, b), b, a),
            SubgroupArithmetic::UMax => pick(compare::unsigned_less(a, b), b, a),
            SubgroupArithmetic::FMin | SubgroupArithmetic::FMax => {
                // Of a NaN and a number the number is chosen.
                let [a_nan, b_nan] = [a, b].map(|value| self.evaluated(float::is_nan(width, value)));
                match (a_nan?, b_nan?) {
                    (Scalar { bits: 1, .. }, _) => b,
                    (_, Scalar { bits: 1, .. }) => a,
                    _ => {
                        let less = self.evaluated(scalar::binary(BinaryOp::FOrdLessThan, width, a, b))?;
                        if op == SubgroupArithmetic::FMin {
                            pick(less, a, b)
                        } else {
                            pick(less, b, a)
                        }
                    }
                }
            }
        })
    }

    /// Where all values are NaNs, a minimum or maximum is undefined.
    fn settled(&self, op: SubgroupArithmetic, width: u8, value: Scalar) -> Scalar {
        let picks = matches!(op, SubgroupArithmetic::FMin | SubgroupArithmetic::FMax);
        if picks && float::is_nan(width, value) == Ok(Scalar::new(1)) {
            Scalar::undefined(u32::from(width))
        } else {
            value
        }
    }

    fn identity(&self, op: SubgroupArithmetic, width: u8) -> Result<Scalar, Box<Stop>> {
        let bits = u32::from(width);
        let float = |value| self.evaluated(float::from_double(width, value));
        Ok(match op {
            SubgroupArithmetic::Binary(BinaryOp::FAdd) => float(0.0)?,
            SubgroupArithmetic::Binary(BinaryOp::FMul) => float(1.0)?,
            SubgroupArithmetic::Binary(BinaryOp::IMul) => Scalar::new(1),
            SubgroupArithmetic::Binary(BinaryOp::BitwiseAnd | BinaryOp::LogicalAnd)
            | SubgroupArithmetic::UMin => Scalar::new(mask(bits)),
            SubgroupArithmetic::Binary(_) | SubgroupArithmetic::UMax => Scalar::new(0),
            SubgroupArithmetic::SMin => Scalar::new(mask(bits) >> 1),
            SubgroupArithmetic::SMax => Scalar::new(1 << (bits - 1)),
            SubgroupArithmetic::FMin => float(f64::INFINITY)?,
            SubgroupArithmetic::FMax => float(f64::NEG_INFINITY)?,
        })
    }

    /// Whether the environment leaves open what comes out.
    fn is_open(&self, op: SubgroupArithmetic, width: u8, operands: &[Scalar], results: &[Scalar]) -> bool {
        let modes = self.program.modes.floats;
        let free = || operands.iter().any(|value| is_free_operand(modes, width, *value));
        let free_result = || results.iter().any(|value| is_free_result(modes, width, *value));
        match op {
            SubgroupArithmetic::Binary(BinaryOp::FAdd) => {
                let tame = operands.len() == 1 || operands.iter().all(|value| is_tame(width, *value));
                !tame || free() || free_result()
            }
            SubgroupArithmetic::Binary(BinaryOp::FMul) => {
                let tame = operands.len() == 1 || multiplies_exactly(width, operands);
                !tame || free() || free_result()
            }
            SubgroupArithmetic::Binary(_)
            | SubgroupArithmetic::SMin
            | SubgroupArithmetic::UMin
            | SubgroupArithmetic::SMax
            | SubgroupArithmetic::UMax => false,
            SubgroupArithmetic::FMin | SubgroupArithmetic::FMax => {
                let double = |value: &Scalar| float::to_double(width, value.bits).unwrap_or(f64::NAN);
                let zero = |negative| {
                    move |value: &Scalar| double(value) == 0.0 && double(value).is_sign_negative() == negative
                };
                operands.iter().any(zero(true)) && operands.iter().any(zero(false)) || free()
            }
        }
    }
}

fn slot(result: &mut SubgroupResult, member: usize, component: u32) -> Option<&mut Scalar> {
    result.values.get_mut(member)?.get_mut(component as usize)
}

/// Whether the product is exact in any order: all but one of the values are powers of two of moderate size.
fn multiplies_exactly(width: u8, operands: &[Scalar]) -> bool {
    let most = if width == 16 { 6.0 } else { 60.0 };
    let mut logarithms = 0.0;
    let mut others = 0;
    for operand in operands {
        let Ok(value) = float::to_double(width, operand.bits) else { return false };
        let logarithm = value.abs().log2();
        if logarithm.fract() == 0.0 {
            logarithms += logarithm.abs();
        } else {
            others += 1;
            logarithms += logarithm.abs();
        }
    }
    others <= 1 && logarithms <= most
}

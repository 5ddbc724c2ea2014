//! OpCooperativeMatrixMulAddKHR: the matrices put together from what each invocation holds.

use super::super::cooperative::Held;
use super::super::encoded::{decode, encode};
use super::super::float::{from_double, to_double};
use super::super::machine::fault;
use super::{Components, Stop, SubgroupResult, Tangle};
use crate::event::UndefinedKind;
use crate::ir::{Factor, MulAdd};
use crate::value::{mask, Scalar};

impl Tangle<'_> {
    pub(super) fn mul_add(&self, product: &MulAdd) -> Result<SubgroupResult, Box<Stop>> {
        let MulAdd { m, n, k, a, b, c, .. } = product;
        let held = self.held();
        if held.first().is_none_or(|held| held.step as usize != self.members.len()) {
            let detail = "not every invocation of the subgroup multiplies the cooperative matrices";
            return Err(fault(UndefinedKind::DivergentBarrier, self.line, detail));
        }
        let [a, b, c] = [(a, m * k), (b, k * n), (c, m * n)].map(|(one, count)| self.whole(one, count));
        let mut result = Components::with_capacity((m * n) as usize);
        let mut inexact = false;
        for row in 0..*m {
            for column in 0..*n {
                let pairs =
                    (0..*k).map(|inner| (a[(row * k + inner) as usize], b[(inner * n + column) as usize]));
                let added = c[(row * n + column) as usize];
                let (value, open) = match product.result.float {
                    true => self.float_sum(product, pairs, added)?,
                    false => (integer_sum(product, pairs, added), false),
                };
                result.push(value);
                inexact |= open;
            }
        }
        let values = held.iter().map(|held| {
            let mut own = result.clone();
            held.fill(&mut own);
            own
        });
        Ok(SubgroupResult { values: values.collect(), inexact })
    }

    fn held(&self) -> Vec<Held> {
        let place = |member: usize| &self.dispatch.places[self.members[member].index as usize];
        (0..self.members.len()).map(|member| Held::by(self.dispatch, place(member))).collect()
    }

    /// A matrix, row after row.
    fn whole(&self, factor: &Factor, count: u32) -> Components {
        let members = self.members.len() as u32;
        (0..count)
            .map(|component| self.scalar((component % members) as usize, factor.value.offset(component)))
            .collect()
    }

    /// A component of a product of floats, and whether another order or precision could give another one.
    fn float_sum(
        &self,
        product: &MulAdd,
        pairs: impl Iterator<Item = (Scalar, Scalar)>,
        added: Scalar,
    ) -> Result<(Scalar, bool), Box<Stop>> {
        let MulAdd { a, b, c, result, .. } = product;
        let undefined = (Scalar::undefined(u32::from(result.width)), false);
        if !added.is_defined() {
            return Ok(undefined);
        }
        let mut sum = self.double(c, added)?;
        let mut magnitude = sum.abs();
        let mut tame = is_round(sum);
        for (left, right) in pairs {
            if !(left.is_defined() && right.is_defined()) {
                return Ok(undefined);
            }
            let (left, right) = (self.double(a, left)?, self.double(b, right)?);
            tame &= is_round(left) && is_round(right);
            sum += left * right;
            magnitude += (left * right).abs();
        }
        // Terms are multiples of 1/64: sums are exact in every order while they fit the result's precision.
        let most = match (result.encoding, result.width) {
            (Some(_), _) => 0.25,
            (None, 16) => 32.0,
            (None, _) => 262_144.0,
        };
        let value = match result.encoding {
            Some(encoding) => Scalar::new(encode(encoding, sum, false)),
            None => self.evaluated(from_double(result.width, sum))?,
        };
        Ok((value, !tame || magnitude > most))
    }

    fn double(&self, factor: &Factor, value: Scalar) -> Result<f64, Box<Stop>> {
        if let Some(encoding) = factor.encoding {
            return Ok(decode(encoding, value.bits));
        }
        to_double(factor.width, value.bits).map_err(|_| {
            let what = "a cooperative matrix of floats of this width";
            Box::new(Stop::Unsupported { line: self.line, what })
        })
    }
}

/// Whether the value is a multiple of 1/8 of moderate size.
fn is_round(value: f64) -> bool {
    value.abs() <= 128.0 && (value * 8.0).fract() == 0.0
}

fn extended(factor: &Factor, value: Scalar) -> i128 {
    let unused = 64 - u32::from(factor.width);
    match factor.signed {
        true => i128::from(((value.bits << unused) as i64) >> unused),
        false => i128::from(value.bits),
    }
}

/// A component of a product of integers: the low bits of the exact sum, or the sum of the product and the
/// matrix to add, which saturates.
fn integer_sum(product: &MulAdd, mut pairs: impl Iterator<Item = (Scalar, Scalar)>, added: Scalar) -> Scalar {
    let MulAdd { a, b, c, result, saturates, .. } = product;
    let width = u32::from(result.width);
    let sum = pairs.try_fold(0_i128, |sum, (left, right)| {
        let defined = left.is_defined() && right.is_defined();
        defined.then(|| sum.wrapping_add(extended(a, left).wrapping_mul(extended(b, right))))
    });
    let (Some(sum), true) = (sum, added.is_defined()) else { return Scalar::undefined(width) };
    let total = sum.wrapping_add(extended(c, added));
    if !saturates {
        return Scalar::new(total as u64 & mask(width));
    }
    let (least, greatest) = match result.signed {
        true => (-(1_i128 << (width - 1)), (1_i128 << (width - 1)) - 1),
        false => (0, i128::from(mask(width))),
    };
    // Where the product alone overflows, the result is undefined.
    if !(least..=greatest).contains(&sum) {
        return Scalar::undefined(width);
    }
    Scalar::new(total.clamp(least, greatest) as u64 & mask(width))
}

//! Instructions that the set, or the environment's table of precisions, gives a formula for.

use super::super::evaluate::{Evaluated, EvaluationError};
use super::super::float::{self, from_double, to_double};
use super::super::machine::Components;
use super::exactly;
use crate::value::Scalar;

type Vector = Result<Components, EvaluationError>;

/// Arithmetic of one width in bits; every step is rounded.
#[derive(Clone, Copy)]
pub(super) struct Steps(pub(super) u8);

impl Steps {
    fn undefined(self) -> Scalar {
        Scalar::undefined(u32::from(self.0))
    }

    fn constant(self, value: f64) -> Evaluated {
        from_double(self.0, value)
    }

    fn add(self, a: Scalar, b: Scalar) -> Evaluated {
        float::add(self.0, a, b)
    }

    pub(super) fn subtract(self, a: Scalar, b: Scalar) -> Evaluated {
        float::subtract(self.0, a, b)
    }

    fn multiply(self, a: Scalar, b: Scalar) -> Evaluated {
        float::multiply(self.0, a, b)
    }

    /// Radians, Degrees: by a factor that is rounded itself.
    pub(super) fn scale(self, a: Scalar, factor: f64) -> Evaluated {
        self.multiply(a, self.constant(factor)?)
    }

    /// The number that a scalar is; `None` where it is undefined.
    fn number(self, a: Scalar) -> Result<Option<f64>, EvaluationError> {
        Ok(if a.is_defined() { Some(to_double(self.0, a.bits)?) } else { None })
    }

    /// Sum of the products, in the order of the components.
    fn dot(self, a: &[Scalar], b: &[Scalar]) -> Evaluated {
        let mut sum = None;
        for (a, b) in a.iter().zip(b) {
            let product = self.multiply(*a, *b)?;
            sum = Some(match sum {
                None => product,
                Some(sum) => self.add(sum, product)?,
            });
        }
        Ok(sum.unwrap_or(Scalar::new(0)))
    }

    fn each(a: &[Scalar], b: &[Scalar], operation: impl Fn(Scalar, Scalar) -> Evaluated) -> Vector {
        a.iter().zip(b).map(|(a, b)| operation(*a, *b)).collect()
    }

    /// FMix.
    pub(super) fn mix(self, [x, y, weight]: [Scalar; 3]) -> Evaluated {
        let rest = self.subtract(self.constant(1.0)?, weight)?;
        self.add(self.multiply(x, rest)?, self.multiply(y, weight)?)
    }

    /// Fma, which need not be fused.
    pub(super) fn multiply_add(self, [a, b, c]: [Scalar; 3]) -> Evaluated {
        self.add(self.multiply(a, b)?, c)
    }

    /// SmoothStep: undefined where the first edge is not below the second.
    pub(super) fn smooth_step(self, [first, second, x]: [Scalar; 3]) -> Evaluated {
        match (self.number(first)?, self.number(second)?) {
            (Some(first), Some(second)) if first >= second => return Ok(self.undefined()),
            _ => {}
        }
        let share = float::divide(self.0, self.subtract(x, first)?, self.subtract(second, first)?)?;
        let share = match self.number(share)? {
            Some(share) if share < 0.0 => self.constant(0.0)?,
            Some(share) if share > 1.0 => self.constant(1.0)?,
            Some(_) | None => share,
        };
        let rest = self.subtract(self.constant(3.0)?, self.multiply(self.constant(2.0)?, share)?)?;
        self.multiply(self.multiply(share, share)?, rest)
    }

    /// Length.
    pub(super) fn length(self, a: &[Scalar]) -> Evaluated {
        exactly(self.0, self.dot(a, a)?, f64::sqrt)
    }

    /// Distance.
    pub(super) fn distance(self, a: &[Scalar], b: &[Scalar]) -> Evaluated {
        self.length(&Self::each(a, b, |a, b| self.subtract(a, b))?)
    }

    /// Cross.
    pub(super) fn cross(self, a: &[Scalar], b: &[Scalar]) -> Vector {
        let (&[a0, a1, a2], &[b0, b1, b2]) = (a, b) else {
            return Err(EvaluationError::Unsupported("a cross product of other than three components"));
        };
        let difference = |a: Scalar, b: Scalar, c: Scalar, d: Scalar| {
            self.subtract(self.multiply(a, b)?, self.multiply(c, d)?)
        };
        [difference(a1, b2, b1, a2), difference(a2, b0, b2, a0), difference(a0, b1, b0, a1)]
            .into_iter()
            .collect()
    }

    /// Normalize: a vector without a length has no direction.
    pub(super) fn normalize(self, a: &[Scalar]) -> Vector {
        let mut zero = true;
        for component in a {
            zero &= self.number(*component)? == Some(0.0);
        }
        if zero {
            return Ok(a.iter().map(|_| self.undefined()).collect());
        }
        let length = self.length(a)?;
        a.iter().map(|component| float::divide(self.0, *component, length)).collect()
    }

    /// FaceForward: a dot product that is undefined leaves either.
    pub(super) fn face_forward(self, n: &[Scalar], i: &[Scalar], reference: &[Scalar]) -> Vector {
        let facing = self.number(self.dot(reference, i)?)?.map(|dot| dot < 0.0);
        n.iter()
            .map(|component| {
                let negated = float::negate(self.0, *component)?;
                Ok(match facing {
                    Some(true) => *component,
                    Some(false) => negated,
                    None => super::super::arithmetic::join(*component, negated),
                })
            })
            .collect()
    }

    /// Reflect.
    pub(super) fn reflect(self, i: &[Scalar], n: &[Scalar]) -> Vector {
        let twice = self.multiply(self.constant(2.0)?, self.dot(n, i)?)?;
        Self::each(i, n, |i, n| self.subtract(i, self.multiply(twice, n)?))
    }

    /// Refract: zeros where all light is reflected.
    pub(super) fn refract(self, i: &[Scalar], n: &[Scalar], eta: Scalar) -> Vector {
        let one = self.constant(1.0)?;
        let dot = self.dot(n, i)?;
        let square = self.subtract(one, self.multiply(dot, dot)?)?;
        let k = self.subtract(one, self.multiply(self.multiply(eta, eta)?, square)?)?;
        if self.number(k)?.is_some_and(|k| k < 0.0) {
            let zero = self.constant(0.0)?;
            return Ok(i.iter().map(|_| zero).collect());
        }
        let factor = self.add(self.multiply(eta, dot)?, exactly(self.0, k, f64::sqrt)?)?;
        Self::each(i, n, |i, n| self.subtract(self.multiply(eta, i)?, self.multiply(factor, n)?))
    }
}

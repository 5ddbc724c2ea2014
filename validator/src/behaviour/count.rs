//! How many there are, however many.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Mul, MulAssign, Sub};

use num_bigint::BigUint;
use serde::{Serialize, Serializer};

/// The largest number up to which each is the same in every JSON reader: 2^53.
const MAX_JSON: u64 = 1 << 53;

/// Digits up to which a number is told with all of them.
const MAX_DIGITS: usize = 20;

/// A number of outcomes or executions.
///
/// In JSON it is a number up to 2^53, and a decimal string beyond.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(BigUint);

impl Count {
    /// The product of the numbers from 1 to `n`.
    pub(crate) fn factorial(n: usize) -> Count {
        Count::falling(n, n)
    }

    /// The product of `times` numbers from `n` on downwards.
    pub(crate) fn falling(n: usize, times: usize) -> Count {
        Count((n - times + 1..=n).fold(BigUint::from(1_u32), |product, factor| product * factor))
    }

    /// The number, or the most that 64 bits can say.
    pub fn saturating(&self) -> u64 {
        u64::try_from(&self.0).unwrap_or(u64::MAX)
    }

    /// The quotient without its rest.
    pub(crate) fn divided_by(self, divisor: &Count) -> Count {
        Count(self.0 / &divisor.0)
    }
}

impl From<u64> for Count {
    fn from(number: u64) -> Self {
        Count(number.into())
    }
}

impl From<usize> for Count {
    fn from(number: usize) -> Self {
        Count(number.into())
    }
}

impl PartialEq<u64> for Count {
    fn eq(&self, other: &u64) -> bool {
        u64::try_from(&self.0) == Ok(*other)
    }
}

impl PartialOrd<u64> for Count {
    fn partial_cmp(&self, other: &u64) -> Option<Ordering> {
        self.0.partial_cmp(&BigUint::from(*other))
    }
}

impl AddAssign<&Count> for Count {
    fn add_assign(&mut self, other: &Count) {
        self.0 += &other.0;
    }
}

impl AddAssign<u64> for Count {
    fn add_assign(&mut self, other: u64) {
        self.0 += other;
    }
}

impl MulAssign<&Count> for Count {
    fn mul_assign(&mut self, other: &Count) {
        self.0 *= &other.0;
    }
}

impl Add<&Count> for Count {
    type Output = Count;

    fn add(mut self, other: &Count) -> Count {
        self += other;
        self
    }
}

impl Mul<&Count> for Count {
    type Output = Count;

    fn mul(mut self, other: &Count) -> Count {
        self *= other;
        self
    }
}

/// Nothing where it would be less.
impl Sub<&Count> for Count {
    type Output = Count;

    fn sub(self, other: &Count) -> Count {
        match self <= *other {
            true => Count::default(),
            false => Count(self.0 - &other.0),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        if digits.len() <= MAX_DIGITS {
            return f.write_str(&digits);
        }
        write!(f, "about {}.{} * 10^{}", &digits[..1], &digits[1..3], digits.len() - 1)
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match u64::try_from(&self.0) {
            Ok(number) if number <= MAX_JSON => serializer.serialize_u64(number),
            Ok(_) | Err(_) => serializer.serialize_str(&self.0.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Count;

    #[test]
    fn a_large_number_is_a_string() {
        let json = |count: &Count| serde_json::to_string(count).unwrap();
        assert_eq!(json(&Count::from(1_u64 << 53)), "9007199254740992");
        assert_eq!(json(&Count::from((1_u64 << 53) + 1)), "\"9007199254740993\"");
        assert_eq!(json(&Count::factorial(25)), "\"15511210043330985984000000\"");
    }

    #[test]
    fn text_tells_how_large_it_is() {
        assert_eq!(Count::factorial(20).to_string(), "2432902008176640000");
        assert_eq!(Count::factorial(25).to_string(), "about 1.55 * 10^25");
    }

    #[test]
    fn products_of_some_numbers() {
        assert_eq!(Count::falling(5, 2), 20);
        assert_eq!(Count::falling(5, 0), 1);
        assert_eq!(Count::factorial(5).divided_by(&Count::factorial(3)), 20);
        assert_eq!(Count::factorial(25).saturating(), u64::MAX);
    }
}

//! Where the driver is wrong by the specification.

use super::case::{Case, Lane};
use super::text::Scalar;
use super::tolerance::value;
use super::values::{format, is_denormal};

/// What is known of a driver.
#[derive(Clone, Copy, Debug)]
pub struct Driver {
    pub is_lavapipe: bool,
    /// It keeps the sign where it rounds a double to a zero. Where the CPU lacks an instruction for vectors of
    /// doubles (x86 without AVX2), lavapipe rounds by way of integers.
    pub rounds_doubles: bool,
}

/// Where the exceptions of every CPU apply, and no other.
pub const LAVAPIPE: Driver = Driver { is_lavapipe: true, rounds_doubles: true };

/// A deviation of lavapipe.
struct Exception {
    /// The drivers that have it.
    drivers: fn(Driver) -> bool,
    /// Cases whose names start with this.
    cases: &'static str,
    /// What the specification says.
    why: &'static str,
    /// The lanes that it concerns.
    applies: fn(&Case, &Lane) -> bool,
}

/// All were seen in Mesa 22.3.6.
const EXCEPTIONS: [Exception; 6] = [Exception {
    drivers: |driver| driver.is_lavapipe,
    cases: "OpSMod ",
    why: "the result of OpSMod has the sign of the divisor; lavapipe computes OpSRem",
    applies: |case, lane| {
        let is_negative = |bits: u64| match case.operands[0].scalar {
            Scalar::Signed(width) => bits >> (width - 1) & 1 == 1,
            _ => false,
        };
        lane[0].iter().zip(&lane[1]).any(|(a, b)| is_negative(*a) != is_negative(*b))
    },
}, Exception {
    drivers: |driver| driver.is_lavapipe,
    cases: "Modf",
    why: "both parts have the sign of the operand; lavapipe gives x - trunc(x), which is 0 for -1 and NaN for infinity",
    applies: |case, lane| {
        let Scalar::Float(width) = case.operands[0].scalar else { return false };
        let (sign, exponent, _) = format(width);
        lane[0].iter().any(|bits| {
            let is_whole = value(width, *bits).trunc() == value(width, *bits);
            // What is flushed is whole.
            let is_whole = is_whole || is_denormal(width, *bits);
            bits & sign != 0 && is_whole || bits & !sign == exponent
        })
    },
}, Exception {
    drivers: |driver| driver.is_lavapipe,
    cases: "Frexp",
    why: "denormals are kept or flushed; lavapipe takes the fields of their encoding",
    applies: |case, lane| {
        let Scalar::Float(width) = case.operands[0].scalar else { return false };
        lane[0].iter().any(|bits| is_denormal(width, *bits))
    },
}, Exception {
    drivers: rounds_by_integers,
    cases: "Trunc f64",
    why: "zeros keep their sign; lavapipe converts to integers and back",
    applies: |_, lane| lane[0].iter().any(|bits| is_small_negative(*bits, 1.0)),
}, Exception {
    drivers: rounds_by_integers,
    cases: "Round f64",
    why: ROUNDED,
    applies: is_rounded_wrongly,
}, Exception {
    drivers: rounds_by_integers,
    cases: "RoundEven f64",
    why: ROUNDED,
    applies: is_rounded_wrongly,
}];

const ROUNDED: &str =
    "zeros keep their sign, and a tie goes to the even neighbour; lavapipe converts to integers and back";

fn rounds_by_integers(driver: Driver) -> bool {
    driver.is_lavapipe && !driver.rounds_doubles
}

fn is_rounded_wrongly(_: &Case, lane: &Lane) -> bool {
    lane[0].iter().any(|bits| {
        let is_tie = f64::from_bits(*bits).fract().abs() == 0.5;
        is_tie || is_small_negative(*bits, 0.5)
    })
}

/// Whether a double is a zero or more than `-limit`, with the sign bit.
fn is_small_negative(bits: u64, limit: f64) -> bool {
    let value = f64::from_bits(bits);
    value.is_sign_negative() && value > -limit
}

/// Instructions that real modules use, and why they are not tested as others are.
pub const UNTESTED: [(&str, &str); 5] = [
    ("FDot2MixAcc32VALVE", UNKNOWN),
    ("IMix", "reserved: no module may use it"),
    ("InterpolateAtCentroid", INTERPOLANTS),
    ("InterpolateAtSample", INTERPOLANTS),
    ("InterpolateAtOffset", INTERPOLANTS),
];

const UNKNOWN: &str = "neither the bundled SPIRV-Tools nor rspirv know the opcode";
const INTERPOLANTS: &str = "fragment modules only; their inputs are given without the primitive";

/// Why a lane of a case is not compared.
pub fn exception(driver: Driver, case: &Case, lane: &Lane) -> Option<&'static str> {
    let concerns =
        |exception: &&Exception| case.name.starts_with(exception.cases) && (exception.applies)(case, lane);
    EXCEPTIONS
        .iter()
        .filter(|exception| (exception.drivers)(driver))
        .find(concerns)
        .map(|exception| exception.why)
}

//! Where the driver is wrong by the specification.

use super::case::{Case, Lane};
use super::text::Scalar;
use super::tolerance::value;
use super::values::{format, is_denormal};

/// A deviation of lavapipe.
struct Exception {
    /// Cases whose names start with this.
    cases: &'static str,
    /// What the specification says.
    why: &'static str,
    /// The lanes that it concerns.
    applies: fn(&Case, &Lane) -> bool,
}

/// All were seen in Mesa 22.3.6.
const EXCEPTIONS: [Exception; 3] = [Exception {
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
    cases: "Frexp",
    why: "denormals are kept or flushed; lavapipe takes the fields of their encoding",
    applies: |case, lane| {
        let Scalar::Float(width) = case.operands[0].scalar else { return false };
        lane[0].iter().any(|bits| is_denormal(width, *bits))
    },
}];

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
pub fn exception(is_lavapipe: bool, case: &Case, lane: &Lane) -> Option<&'static str> {
    let concerns =
        |exception: &&Exception| case.name.starts_with(exception.cases) && (exception.applies)(case, lane);
    EXCEPTIONS.iter().filter(|_| is_lavapipe).find(concerns).map(|exception| exception.why)
}

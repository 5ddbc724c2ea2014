//! Atomics of one invocation on a buffer and on Workgroup memory: what they return, and what they leave.

use super::case::Case;
use super::text::{Scalar, Type};
use super::tolerance::Tolerance;
use super::values::{combinations, exact_floats, integers, lanes, thin};

/// An atomic with its operands beside pointer, scope and semantics, `{}` for the value and `{c}` for the
/// comparator.
const INTEGER: [(&str, &str); 13] = [
    ("OpAtomicExchange", "{v}"),
    ("OpAtomicCompareExchange", "{s} {v} {c}"),
    ("OpAtomicIIncrement", ""),
    ("OpAtomicIDecrement", ""),
    ("OpAtomicIAdd", "{v}"),
    ("OpAtomicISub", "{v}"),
    ("OpAtomicSMin", "{v}"),
    ("OpAtomicUMin", "{v}"),
    ("OpAtomicSMax", "{v}"),
    ("OpAtomicUMax", "{v}"),
    ("OpAtomicAnd", "{v}"),
    ("OpAtomicOr", "{v}"),
    ("OpAtomicXor", "{v}"),
];

/// Atomics on integers of 32 and 64 bits, and on floats.
pub fn atomics() -> Vec<Case> {
    let mut cases = Vec::new();
    for width in [32, 64] {
        let values = integers(width);
        let triples = thin(combinations(&[values.clone(), values.clone(), values.clone()]), 160);
        // Let compare-exchanges succeed, too.
        let equal = values.iter().map(|value| vec![*value, value ^ 5, *value]);
        let triples: Vec<_> = triples.into_iter().chain(equal).collect();
        for (opcode, operands) in INTEGER {
            cases.push(atomic(opcode, operands, Scalar::Unsigned(width), &triples));
        }
        cases.push(atomic("OpAtomicSMin", "{v}", Scalar::Signed(width), &triples));
        cases.push(atomic("OpAtomicUMax", "{v}", Scalar::Signed(width), &triples));
    }
    let values = exact_floats(32);
    let triples = combinations(&[values.clone(), values, vec![0]]);
    cases.push(atomic("OpAtomicExchange", "{v}", Scalar::Float(32), &triples));
    cases.push(atomic("OpAtomicFAddEXT", "{v}", Scalar::Float(32), &triples));
    cases
}

/// Initialises an element of a Private-like Workgroup array with OpAtomicStore, performs the atomic on it
/// and reads it with OpAtomicLoad: the result is what the atomic returned, and what it left.
fn atomic(opcode: &'static str, operands: &'static str, scalar: Scalar, values: &[Vec<u64>]) -> Case {
    let ty = Type::new(scalar, 1);
    Case {
        name: format!("{opcode} {ty}"),
        operands: vec![ty, ty, ty],
        results: vec![ty, ty],
        lanes: lanes(&[ty, ty, ty], values),
        tolerance: Tolerance::Exact,
        body: Box::new(move |text, ids| {
            if scalar.width() == 64 {
                text.capability("Int64Atomics");
            }
            if opcode == "OpAtomicFAddEXT" {
                text.capability("AtomicFloat32AddEXT");
                text.extension("SPV_EXT_shader_atomic_float_add");
            }
            let value = text.ty(ty);
            let length = text.constant(super::case::LOCAL_SIZE);
            let array = text.global(&format!("OpTypeArray {value} {length}"));
            let variable = text.variable("Workgroup", &array);
            let index = text.built_in("LocalInvocationIndex", Type::new(super::text::U32, 1));
            let pointer = text.global(&format!("OpTypePointer Workgroup {value}"));
            let pointer = text.op(&pointer, "OpAccessChain", &format!("{variable} {index}"));
            let (scope, relaxed) = (text.constant(2), text.constant(0));
            text.emit(&format!("OpAtomicStore {pointer} {scope} {relaxed} {}", ids[0]));
            let operands = operands.replace("{v}", &ids[1]).replace("{c}", &ids[2]).replace("{s}", &relaxed);
            let old = text.op(&value, opcode, &format!("{pointer} {scope} {relaxed} {operands}"));
            let left = text.op(&value, "OpAtomicLoad", &format!("{pointer} {scope} {relaxed}"));
            vec![old, left]
        }),
    }
}

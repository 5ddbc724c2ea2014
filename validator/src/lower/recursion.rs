//! Calls must not be recursive (SPIR-V specification 2.16.1, "Universal Validation Rules").

use super::error::{Problem, Problems};
use crate::ir::{Function, FunctionId};

/// Reports functions that call themselves, directly or through others.
pub(super) fn refuse(functions: &[Function], problems: &mut Problems) {
    let calls: Vec<Vec<usize>> = functions.iter().map(callees).collect();
    // Takes away what calls nothing that is left; what stays reaches a cycle.
    let mut left: Vec<bool> = vec![true; functions.len()];
    let is_left = |left: &[bool], at: usize| left.get(at).copied().unwrap_or(false);
    loop {
        let leaf = (0..functions.len()).find(|&at| {
            let calls = calls.get(at).map_or(&[][..], Vec::as_slice);
            is_left(&left, at) && !calls.iter().any(|&callee| is_left(&left, callee))
        });
        match leaf.and_then(|at| left.get_mut(at)) {
            Some(slot) => *slot = false,
            None => break,
        }
    }
    // The deepest one left is on a cycle or leads straight to one.
    let last = (0..functions.len()).rev().find(|&at| is_left(&left, at));
    if let Some(function) = last.and_then(|at| functions.get(at)) {
        let name = function.name.clone().unwrap_or_else(|| function.id.to_string());
        problems.add(Problem::invalid(function.line, format!("%{name} is called recursively")));
    }
}

fn callees(function: &Function) -> Vec<usize> {
    let mut callees = Vec::new();
    for inst in &function.code {
        callees.extend(inst.op.callee().map(|FunctionId(number)| number as usize));
    }
    callees.sort_unstable();
    callees.dedup();
    callees
}

//! An invocation that ran into undefined behaviour: who it is, and the values that led there.

use std::collections::BTreeSet;

use super::Code;
use crate::correspondence::Inst;
use crate::dispatch::Dispatch;
use crate::explain::FaultAccount;
use crate::ir::Line;
use crate::report::witness;

/// Instructions that are told, from the one with the fault to what it takes.
const STEPS: usize = 6;

/// The instructions that led to a fault on `line`, with their values; `full`: all of them.
pub(in crate::report) fn lines(
    fault: &FaultAccount,
    line: Line,
    code: &Code<'_>,
    dispatch: &Dispatch,
    full: bool,
) -> Vec<String> {
    let mut told = vec![format!("  by {}", witness::invocation(dispatch, fault.invocation))];
    if let Some(last) = fault.calls.last() {
        let calls: Vec<String> = fault.calls.iter().map(ToString::to_string).collect();
        let plural = if calls.len() == 1 { "" } else { "s" };
        told.push(format!("  called on line{plural} {}: {}", calls.join(", "), code.line(*last)));
    }
    let function = code.function_of(line);
    let mut seen = BTreeSet::from([line]);
    let mut next = vec![line];
    let mut steps = Vec::new();
    while let Some(line) = (!next.is_empty()).then(|| next.remove(0)) {
        let Some(inst) = code.on(line) else { continue };
        steps.push(line);
        for operand in taken(inst) {
            let of_function = code
                .defines(operand)
                .filter(|other| code.function_of(other.line) == function && function.is_some());
            let of_function =
                of_function.filter(|other| other.opcode != "OpVariable" && other.opcode != "OpLabel");
            if let Some(other) = of_function.filter(|other| seen.insert(other.line)) {
                next.push(other.line);
            }
        }
    }
    let most = if full { usize::MAX } else { STEPS };
    for line in steps.iter().take(most) {
        // The faulty one gave nothing.
        let results = fault.results.get(line).filter(|_| steps.first() != Some(line));
        let value = results.and_then(|components| code.value(*line, components));
        let value = value.map_or_else(String::new, |value| format!(" = {value}"));
        let remarks = remarks(fault, *line, code, dispatch);
        told.push(format!("    line {line}: {}{value}{remarks}{}", code.text(*line), code.place(*line)));
    }
    if steps.len() > most {
        told.push(format!(
            "    … {} more instructions that these values come from (--full)",
            steps.len() - most
        ));
    }
    told
}

/// The ids that an instruction takes, without its type; of a phi none, as it takes one of several.
fn taken<'c, 't>(inst: &'c Inst<'t>) -> impl Iterator<Item = &'t str> + 'c {
    let types = usize::from(inst.result.is_some());
    let most = if inst.opcode == "OpPhi" { 0 } else { usize::MAX };
    inst.operands.iter().skip(types).take(most).filter(|operand| operand.starts_with('%')).copied()
}

/// What the text of an instruction does not say: constants, built-ins, and indices beyond what they index.
fn remarks(fault: &FaultAccount, line: Line, code: &Code<'_>, dispatch: &Dispatch) -> String {
    let Some(inst) = code.on(line) else { return String::new() };
    let mut remarks = Vec::new();
    for operand in taken(inst) {
        // Of accesses they are scopes and the like.
        let is_value = !inst.opcode.starts_with("OpAtomic") && inst.opcode != "OpLoad";
        remarks
            .extend(code.constant(operand).filter(|_| is_value).map(|value| format!("{operand} is {value}")));
        remarks.extend(code.built_in(operand).map(|name| format!("{operand} is {name}")));
    }
    if inst.opcode.ends_with("AccessChain") {
        remarks.extend(beyond(fault, inst, code, dispatch));
    }
    match remarks.is_empty() {
        true => String::new(),
        false => format!(" ({})", remarks.join(", ")),
    }
}

/// Indices of an access chain that are not below the length of the array, vector or matrix that they index.
fn beyond(fault: &FaultAccount, inst: &Inst<'_>, code: &Code<'_>, dispatch: &Dispatch) -> Vec<String> {
    let Some(base) = inst.operands.get(1) else { return Vec::new() };
    let pointer = code.defines(base).and_then(|base| base.operands.first().copied());
    let mut ty = pointer.and_then(|pointer| code.types().pointee(pointer));
    let key = code.types().key(base);
    let mut found = Vec::new();
    for index in inst.operands.iter().skip(2) {
        let Some(indexed) = ty else { break };
        let of_function = || {
            let line = code.defines(index)?.line;
            let [component] = fault.results.get(&line)?[..] else { return None };
            (component.undef == 0).then_some(component.bits)
        };
        let constant = || {
            code.defines(index)
                .filter(|inst| inst.opcode.ends_with("Constant"))?
                .operands
                .get(1)?
                .parse()
                .ok()
        };
        let value: Option<u64> = of_function().or_else(constant);
        let of_runtime = || {
            let size =
                dispatch.objects.iter().find(|object| Some(&object.key) == key.as_ref())?.initial.len();
            code.types().runtime_length(base, indexed, size)
        };
        if let (Some(value), Some(length)) = (value, code.types().length(indexed).or_else(of_runtime)) {
            if value >= length {
                found.push(format!("the index {index} is {value}, the length {length}"));
            }
        }
        ty = code.types().part(indexed, value);
    }
    found
}

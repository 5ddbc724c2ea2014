//! An invocation that ran into undefined behaviour: who it is, and the values that led there.

use std::collections::{BTreeSet, VecDeque};

use super::descent::Branch;
use super::flow::{Flow, Origin};
use super::Code;
use crate::correspondence::Inst;
use crate::dispatch::Dispatch;
use crate::explain::FaultAccount;
use crate::report::elision::some_of;
use crate::report::witness;

/// Instructions that are told, from the one with the fault to what it takes.
const STEPS: usize = 6;

/// Access chains in each other that are looked through.
const CHAINS: usize = 16;

/// The instructions that led to a fault, with their values; `full`: all of them. Where the invocation came there by a branch
/// that goes another way in before, that is said, and of what it computed only where the access goes.
pub(in crate::report) fn lines(
    fault: &FaultAccount,
    code: &Code<'_>,
    dispatch: &Dispatch,
    branch: Option<&Branch>,
    full: bool,
) -> Vec<String> {
    let mut told = vec![format!("  by {}", witness::invocation(dispatch, fault.history.invocation))];
    told.extend(branch.map(|branch| format!("  because {}", branch.sentence)));
    if let Some(last) = fault.calls.last() {
        let calls: Vec<String> = fault.calls.iter().map(ToString::to_string).collect();
        let plural = if calls.len() == 1 { "" } else { "s" };
        told.push(format!("  called on line{plural} {}: {}", calls.join(", "), code.line(*last)));
    }
    let flow = Flow { code, history: &fault.history };
    let first = fault.history.entries.len().saturating_sub(1);
    let (mut seen, mut next) = (BTreeSet::from([first]), VecDeque::from([first]));
    let mut steps = Vec::new();
    while let Some(at) = next.pop_front() {
        let Some(inst) = flow.inst(at) else { continue };
        steps.push(at);
        // Where an access goes says why it goes wrong, and not what it writes.
        let writes = at == first && inst.result.is_none();
        for operand in taken(inst).take(if writes { 1 } else { usize::MAX }) {
            if let Origin::Instance(at) = flow.origin(at, operand) {
                if seen.insert(at) {
                    next.push_back(at);
                }
            }
        }
    }
    let is_place = |at: &&usize| {
        **at == first || flow.inst(**at).is_some_and(|inst| inst.opcode.ends_with("AccessChain"))
    };
    let places = steps.iter().take_while(is_place).count();
    let most = match (full, branch) {
        (true, _) => usize::MAX,
        (false, Some(_)) if places > 1 => places,
        (false, _) => some_of(steps.len(), STEPS),
    };
    for at in steps.iter().take(most) {
        // The faulty one gave nothing.
        let value = flow.short(Origin::Instance(*at)).filter(|_| *at != first);
        let value = value.map_or_else(String::new, |value| format!(" = {value}"));
        let (line, remarks) = (flow.line(*at), remarks(&flow, *at, dispatch));
        told.push(format!("    line {line}: {}{value}{remarks}{}", code.text(line), code.place(line)));
    }
    if steps.len() > most {
        let more = steps.len() - most;
        told.push(format!("    … {more} more instructions that these values come from (--full)"));
    }
    told
}

/// Which index of an access chain went beyond what it indexes, where the instruction with the fault takes a pointer of it.
pub(in crate::report) fn index_beyond(
    fault: &FaultAccount,
    code: &Code<'_>,
    dispatch: &Dispatch,
) -> Option<String> {
    let flow = Flow { code, history: &fault.history };
    let first = fault.history.entries.len().checked_sub(1)?;
    taken(flow.inst(first)?).find_map(|pointer| {
        let mut origin = flow.origin(first, pointer);
        for _ in 0..CHAINS {
            let Origin::Instance(at) = origin else { return None };
            let chain = flow.inst(at).filter(|inst| inst.opcode.ends_with("AccessChain"))?;
            let found = beyond(&flow, at, chain, dispatch);
            if !found.is_empty() {
                return Some(format!("{} (line {})", found.join(", "), flow.line(at)));
            }
            origin = flow.origin(at, chain.operands.get(1)?);
        }
        None
    })
}

/// The ids that an instruction takes, without its type; of a phi none, as it takes one of several.
fn taken<'c, 't>(inst: &'c Inst<'t>) -> impl Iterator<Item = &'t str> + 'c {
    let types = usize::from(inst.result.is_some());
    let most = if inst.opcode == "OpPhi" { 0 } else { usize::MAX };
    inst.operands.iter().skip(types).take(most).filter(|operand| operand.starts_with('%')).copied()
}

/// What the text of an instruction does not say: constants, built-ins, and indices beyond what they index.
fn remarks(flow: &Flow<'_, '_>, at: usize, dispatch: &Dispatch) -> String {
    let Some(inst) = flow.inst(at) else { return String::new() };
    let code = flow.code;
    let is_chain = inst.opcode.ends_with("AccessChain");
    let too_large = if is_chain { beyond(flow, at, inst, dispatch) } else { Vec::new() };
    let mut remarks = Vec::new();
    for operand in taken(inst) {
        // Of accesses they are scopes and the like.
        let is_value = !inst.opcode.starts_with("OpAtomic") && inst.opcode != "OpLoad";
        let constant = code.constant(operand).filter(|_| is_value);
        remarks.extend(constant.map(|value| format!("{operand} is {value}")));
        remarks.extend(code.built_in(operand).map(|name| format!("{operand} is {name}")));
        if let Origin::Instance(other) = flow.origin(at, operand) {
            // Moved from where it is told.
            let moved = flow.inst(other).is_some_and(|inst| inst.result != Some(operand));
            // Of an index that is out of bounds the value is told below.
            let is_told = too_large.iter().any(|told| told.contains(&format!(" {operand} ")));
            let value = flow.short(Origin::Instance(other)).filter(|_| moved && !is_told);
            remarks.extend(value.map(|value| format!("{operand} is {value}, of line {}", flow.line(other))));
        }
    }
    remarks.extend(too_large);
    match remarks.is_empty() {
        true => String::new(),
        false => format!(" ({})", remarks.join(", ")),
    }
}

/// Indices of an access chain that are not below the length of the array, vector or matrix that they index.
fn beyond<'t>(flow: &Flow<'_, 't>, at: usize, inst: &Inst<'t>, dispatch: &Dispatch) -> Vec<String> {
    let code = flow.code;
    let Some(base) = inst.operands.get(1) else { return Vec::new() };
    let pointer = code.defines(base).and_then(|base| base.operands.first().copied());
    let mut ty = pointer.and_then(|pointer| code.types().pointee(pointer));
    let key = code.types().key(base);
    let mut found = Vec::new();
    for index in inst.operands.iter().skip(2) {
        let Some(indexed) = ty else { break };
        let components = flow.components(flow.origin(at, index));
        let value = match components.as_deref() {
            Some([component]) if component.undef == 0 => Some(component.bits),
            Some(_) | None => None,
        };
        let of_runtime = || {
            let size =
                dispatch.objects.iter().find(|object| Some(&object.key) == key.as_ref())?.initial.len();
            code.types().runtime_length(base, indexed, size)
        };
        if let (Some(value), Some(length)) = (value, code.types().length(indexed).or_else(of_runtime)) {
            if value >= length {
                let origin = match flow.origin(at, index) {
                    Origin::Instance(other) => format!(" (line {})", flow.line(other)),
                    Origin::Constant(_) | Origin::Other(_) => String::new(),
                };
                found.push(format!("the index {index} is {value}{origin}, the length {length}"));
            }
        }
        ty = code.types().part(indexed, value);
    }
    found
}

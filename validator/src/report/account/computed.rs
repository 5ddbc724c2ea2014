//! What a changed instruction computed in both modules.

use super::flow::without_bits;
use super::{Code, VALUES};
use crate::correspondence::Inst;
use crate::explain::{Bound, Computations, Computed};
use crate::ir::Line;
use crate::value::Scalar;

/// What the instructions on these lines of before and after computed, where that differs, for one invocation: for `guilty`
/// where it executed them. One line for each module that has the instruction.
pub(in crate::report) fn values(
    computed: &[Computations; 2],
    lines: [Option<Line>; 2],
    codes: [&Code<'_>; 2],
    guilty: Option<u32>,
) -> Vec<String> {
    let on = |side: usize| {
        computed[side].all.iter().filter(|one| Some(one.line) == lines[side]).collect::<Vec<&Computed>>()
    };
    let (old, new) = (on(0), on(1));
    // More may have been computed behind a bound.
    let cut = |side: usize, noted: usize| {
        computed[side].cut.filter(|bound| match bound {
            Bound::Times(most) => noted == *most,
            // Declarations compute nothing.
            _ => lines[side].is_some_and(|line| codes[side].function_of(line).is_some()),
        })
    };
    let cut = cut(0, old.len()).or(cut(1, new.len()));
    let not_told = |what: &str| cut.map(|bound| format!("  {what}: noted are {bound}")).into_iter().collect();
    let Some(invocation) = chosen(&old, &new, guilty) else {
        return not_told("what it computes is not known");
    };
    let of = |all: &[&Computed]| {
        all.iter().filter(|one| one.invocation == invocation).copied().cloned().collect::<Vec<Computed>>()
    };
    let (old, new) = (of(&old), of(&new));
    let differing = old.iter().zip(&new).position(|(a, b)| differ(a, b));
    // What is the same says nothing.
    if differing.is_none() && !old.is_empty() && !new.is_empty() {
        return not_told("whether it computes something else later is not known");
    }
    let at = differing.unwrap_or(0);
    let tell = |side: usize, all: &[Computed]| {
        let told = sentence(all.get(at)?, codes[side]);
        (!told.is_empty()).then(|| {
            let module = if side == 0 { "before" } else { "after" };
            let times = if at == 0 { String::new() } else { format!(", time {}", at + 1) };
            format!("  {module}, invocation {invocation}{times}: {told}")
        })
    };
    [tell(0, &old), tell(1, &new)].into_iter().flatten().collect()
}

/// The invocation that is told: the guilty one, or the first for which the values differ, or the first.
fn chosen(old: &[&Computed], new: &[&Computed], guilty: Option<u32>) -> Option<u32> {
    let executes = |invocation: &u32| old.iter().chain(new).any(|one| one.invocation == *invocation);
    let differs = || {
        let of = |invocation: u32| move |one: &&&Computed| one.invocation == invocation;
        new.iter().map(|one| one.invocation).find(|invocation| {
            let pairs = old.iter().filter(of(*invocation)).zip(new.iter().filter(of(*invocation)));
            pairs.into_iter().any(|(a, b)| differ(a, b))
        })
    };
    guilty.filter(executes).or_else(differs).or_else(|| new.first().or(old.first()).map(|one| one.invocation))
}

/// Whether results differ, or what was taken where there is none. Lines are of two modules and say nothing.
fn differ(a: &Computed, b: &Computed) -> bool {
    let taken =
        |one: &Computed| one.operands.iter().map(|(_, value)| value.clone()).collect::<Vec<Vec<Scalar>>>();
    a.result != b.result || (a.result.is_none() && taken(a) != taken(b))
}

/// `3 from %a = 1, %b = 3`.
fn sentence(computed: &Computed, code: &Code<'_>) -> String {
    let result = computed.result.as_ref().and_then(|result| code.value(computed.line, result));
    let operand = |(line, value): &(Line, Vec<Scalar>)| {
        Some(format!("{} = {}", code.on(*line)?.result?, code.value(*line, value)?))
    };
    let mut operands: Vec<String> = computed.operands.iter().filter_map(operand).collect();
    // Of accesses and barriers they are scopes and semantics.
    let computes = |inst: &&Inst<'_>| {
        !["OpAtomic", "OpControl", "OpMemory", "OpGroup", "OpLoad"]
            .iter()
            .any(|kind| inst.opcode.starts_with(kind))
    };
    let constants = code.on(computed.line).filter(computes).into_iter().flat_map(|inst| &inst.operands);
    operands.extend(constants.filter_map(|id| Some(format!("{id} = {}", code.constant(id)?))));
    operands.truncate(VALUES);
    let result = result.map(|result| without_bits(&result));
    operands.iter_mut().for_each(|operand| *operand = without_bits(operand));
    match (result, operands.is_empty()) {
        (Some(result), true) => format!("gives {result}"),
        (Some(result), false) => format!("gives {result} from {}", operands.join(", ")),
        (None, true) => String::new(),
        (None, false) => {
            let verb = code.on(computed.line).map_or("takes", |inst| verb(inst.opcode));
            format!("{verb} {}", operands.join(", "))
        }
    }
}

/// What an instruction without a result does with what it takes.
fn verb(opcode: &str) -> &'static str {
    match opcode {
        "OpStore" | "OpAtomicStore" => "stores",
        "OpImageWrite" => "writes",
        "OpReturnValue" => "returns",
        "OpBranchConditional" | "OpSwitch" => "goes by",
        _ => "takes",
    }
}

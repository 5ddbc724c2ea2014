//! Edits that permit more float results. After may have lost a decoration or mode of floats that before has, or
//! be decorated RelaxedPrecision. If an evaluation that this permits has a result that before does not permit,
//! that is a violation.
//!
//! A lost decoration alone is no violation: the instruction may be folded, or dead. So after is searched once
//! more, and computed as an implementation may that uses the new freedom. The result is compared with what before
//! permits: its outcomes, or the intervals of its floats where the environment leaves those open.

use std::collections::BTreeMap;

use super::intervals::{IntervalSide, Permissions};
use crate::behaviour::{Behaviours, Bug, End};
use crate::compare::{refines, CompareOptions, Comparison, Difference, Note, Side, Verdict, ViolationKind};
use crate::ir::{
    single_results, BinaryKind, FloatBinary, Inst, Line, MatrixOp, Op, Program, Rounding, Specials, Way,
};

/// An evaluation of after that before does not permit.
pub(super) struct Widened {
    /// What after does then.
    pub behaviours: Behaviours,
    pub comparison: Comparison,
    /// Which freedom that takes.
    pub why: String,
}

/// A freedom that after has and before has not.
struct Freedom {
    way: Way,
    /// For floats of these widths.
    widths: u32,
    /// What became of what forbade it.
    cause: String,
}

/// Widths of floats.
const WIDTHS: [u8; 3] = [16, 32, 64];

/// Lines that a reason names.
const NAMED_LINES: usize = 4;

/// Looks for an evaluation of after that before does not permit; `search` runs a program on after's dispatch. What
/// could not be searched to the end is told in `notes`.
pub(super) fn find(
    [before, after]: [IntervalSide<'_>; 2],
    options: &CompareOptions,
    search: impl Fn(&Program) -> Behaviours,
    notes: &mut Vec<Note>,
) -> Result<Option<Widened>, Bug> {
    let settled = |side: IntervalSide<'_>| is_settled(side.behaviours);
    if !settled(before) || !settled(after) || !before.behaviours.undefined.is_empty() {
        return Ok(None);
    }
    let exact = CompareOptions { open_floats: false, ..options.clone() };
    let mut permissions: Option<Option<Permissions<'_>>> = None;
    for Freedom { way, widths, cause } in freedoms(before.program, after.program) {
        let (behaviours, lines) = match way {
            Way::AsWritten => (after.behaviours.clone(), Vec::new()),
            _ => match after.program.computed(way, widths) {
                Some((program, lines)) => (search(&program), lines),
                None => continue,
            },
        };
        let old = Side { name: "before", behaviours: before.behaviours, dispatch: before.dispatch };
        let new = Side { name: "after", behaviours: &behaviours, dispatch: after.dispatch };
        if let Some(bug) = behaviours.bug() {
            return Err(bug.clone());
        }
        if !is_settled(&behaviours) {
            if !notes.contains(&Note::UntriedFloats) {
                notes.push(Note::UntriedFloats);
            }
            continue;
        }
        let mut comparison = refines(old, new, &exact)?;
        if comparison.verdict != Verdict::Violates {
            continue;
        }
        if !before.behaviours.inexact.is_empty() {
            let permissions = permissions.get_or_insert_with(|| Permissions::of(before));
            let difference = outside(permissions.as_ref(), after, &behaviours);
            match (&mut comparison.violation, difference) {
                (Some(violation), Some(difference)) if violation.kind == ViolationKind::NewOutcome => {
                    violation.difference = Some(difference);
                }
                _ => continue,
            }
        }
        let why = format!("{cause}; so {}, which before does not permit", told(way, &lines));
        return Ok(Some(Widened { behaviours, comparison, why }));
    }
    Ok(None)
}

/// Whether everything was seen, and nothing rests on a cycle of load buffering.
fn is_settled(behaviours: &Behaviours) -> bool {
    behaviours.complete
        && behaviours.bounded.is_none()
        && behaviours.stopped.is_none()
        && behaviours.undecided.is_empty()
        && !behaviours.ends_at_target
        && !behaviours.speculates
}

/// Where the only outcome lies outside of what before permits.
fn outside(
    permissions: Option<&Permissions<'_>>,
    after: IntervalSide<'_>,
    computed: &Behaviours,
) -> Option<Difference> {
    let [(written, _)] = &after.behaviours.outcomes[..] else { return None };
    let [(outcome, _)] = &computed.outcomes[..] else { return None };
    let ends = outcome.end == End::Terminated && written.end == End::Terminated;
    if !ends || !computed.undefined.is_empty() || !after.behaviours.undefined.is_empty() {
        return None;
    }
    permissions?.forbid(after.dispatch, outcome, written)
}

/// What after may do and before may not.
fn freedoms(before: &Program, after: &Program) -> Vec<Freedom> {
    let (old, new) = (before.modes.floats, after.modes.floats);
    let mut freedoms = Vec::new();
    let mut add = |way: Way, widths: u32, cause: &str| {
        freedoms.push(Freedom { way, widths, cause: cause.to_owned() });
    };
    let [had, has] = [before, after]
        .map(|program| numbers(program, |inst| is_sum_or_product(&inst.op).then_some(inst.no_contraction)));
    let lost = had.iter().any(|(opcode, (decorated, plain))| {
        let (still, others) = has.get(opcode).copied().unwrap_or_default();
        *decorated > 0 && (still < *decorated || others > *plain)
    });
    if lost && !old.fast_math {
        let cause = "after does not decorate NoContraction all that before does";
        for first in [true, false] {
            add(Way::Fused { first }, u32::MAX, cause);
        }
    }
    for width in WIDTHS {
        let bit = u32::from(width);
        let lost = |mode: &str| format!("after has no {mode} {width} as before has");
        if !after.computes(width) {
            continue;
        }
        let rounding = [
            ("RoundingModeRTE", old.rounds_to_even(width), new.rounds_to_even(width)),
            ("RoundingModeRTZ", old.rounds_to_zero(width), new.rounds_to_zero(width)),
        ];
        for (mode, had, has) in rounding {
            if had && !has {
                let cause = lost(mode);
                add(Way::AsWritten, bit, &cause);
                for direction in [Rounding::TowardZero, Rounding::Upward, Rounding::Downward] {
                    add(Way::Rounded(direction), bit, &cause);
                }
            }
        }
        if old.flushes_denormals(width) && !new.flushes_denormals(width) {
            add(Way::AsWritten, bit, &lost("DenormFlushToZero"));
        }
        if old.preserves_denormals(width) && !new.preserves_denormals(width) {
            let cause = lost("DenormPreserve");
            add(Way::AsWritten, bit, &cause);
            add(Way::Flushed, bit, &cause);
        }
        if old.preserves_special_values(width) && !old.fast_math {
            let cause = match new.preserves_special_values(width) {
                false => lost("SignedZeroInfNanPreserve"),
                true => "after is decorated FPFastMathMode as before is not".to_owned(),
            };
            for specials in [Specials::PositiveZeros, Specials::Finite] {
                add(Way::Specials(specials), bit, &cause);
            }
        }
    }
    let [had, has] = [before, after]
        .map(|program| numbers(program, |inst| single_results(&inst.op).map(|_| inst.relaxed)));
    // Where all of before is decorated so, nothing is gained.
    let firm = had.values().any(|(_, plain)| *plain > 0);
    let gained = has.iter().any(|(opcode, (relaxed, _))| {
        let (before, _) = had.get(opcode).copied().unwrap_or_default();
        *relaxed > before
    });
    if firm && gained {
        add(Way::Half, 32, "after decorates more operations RelaxedPrecision");
    }
    freedoms
}

/// How many instructions of each opcode are decorated, and how many are not; `decorated` says which, of those that it
/// is about.
fn numbers(program: &Program, decorated: impl Fn(&Inst) -> Option<bool>) -> BTreeMap<u16, (usize, usize)> {
    let mut numbers = BTreeMap::<u16, (usize, usize)>::new();
    for inst in program.functions.iter().flat_map(|function| &function.code) {
        if let Some(decorated) = decorated(inst) {
            let (with, without) = numbers.entry(inst.opcode).or_default();
            *if decorated { with } else { without } += 1;
        }
    }
    numbers
}

fn is_sum_or_product(op: &Op) -> bool {
    match op {
        Op::Binary { op, .. } => matches!(
            op.kind(),
            BinaryKind::Float(FloatBinary::Add | FloatBinary::Subtract | FloatBinary::Multiply)
        ),
        Op::Matrix(MatrixOp::TimesScalar { .. }) => true,
        _ => false,
    }
}

/// What an implementation may do, in words.
fn told(way: Way, lines: &[Line]) -> String {
    let mut places: Vec<String> = lines.iter().take(NAMED_LINES).map(Line::to_string).collect();
    if lines.len() > NAMED_LINES {
        places.push("…".to_owned());
    }
    let at = match places.len() {
        0 => String::new(),
        1 => format!(" (line {})", places.concat()),
        _ => format!(" (lines {})", places.join(", ")),
    };
    match way {
        Way::AsWritten => "this is its result".to_owned(),
        Way::Fused { .. } => format!("products may be fused with the sums that add them{at}"),
        Way::Rounded(Rounding::TowardZero) => format!("results may be rounded towards zero{at}"),
        Way::Rounded(Rounding::Upward) => format!("results may be rounded upwards{at}"),
        Way::Rounded(Rounding::Downward) => format!("results may be rounded downwards{at}"),
        Way::Rounded(Rounding::NearestEven) => format!("results may be rounded to nearest even{at}"),
        Way::Flushed => format!("denormals may become zeros{at}"),
        Way::Specials(Specials::PositiveZeros) => format!("zeros may lose their sign{at}"),
        Way::Specials(Specials::Finite | Specials::Kept) => {
            format!("it may be computed as if there were no NaNs and infinities{at}")
        }
        Way::Half => format!("they may be computed with 16 bits{at}"),
    }
}

//! The instruction from which on both modules compute different values: from the write of a value that differs, back
//! through what it was computed from, as long as one operand differs.

use super::flow::{Flow, Origin};
use super::{Code, VALUES};
use crate::correspondence::Inst;
use crate::explain::History;
use crate::ir::Line;

/// Instructions that are gone through.
const STEPS: usize = 4_096;

/// Access chains in each other whose indices are compared.
const POINTERS: usize = 16;

/// The instructions where the values begin to differ that lead to a write of before and one of after, in words.
pub(super) fn first_difference(wrote: [&History; 2], codes: [&Code<'_>; 2]) -> Option<Difference> {
    let [old, new] = [0, 1].map(|side| Flow { code: codes[side], history: wrote[side] });
    from(&old, &new, [wrote[0], wrote[1]].map(|history| history.entries.len().saturating_sub(1)))
}

/// The same of where two accesses go, and not of what they write.
pub(super) fn of_place(old: &Flow<'_, '_>, new: &Flow<'_, '_>, at: [usize; 2]) -> Option<Difference> {
    let writes = |inst: &&Inst<'_>| matches!(inst.opcode, "OpStore" | "OpAtomicStore");
    let pointer = |flow: &Flow<'_, '_>, at: usize| match flow.inst(at).filter(writes) {
        Some(store) => match flow.origin(at, store.operands.first()?) {
            Origin::Instance(chain) => Some(chain),
            Origin::Constant(_) | Origin::Other(_) => None,
        },
        None => Some(at),
    };
    from(old, new, [pointer(old, at[0])?, pointer(new, at[1])?])
}

/// The same from two instructions on, by their places in the histories.
pub(super) fn from(old: &Flow<'_, '_>, new: &Flow<'_, '_>, mut at: [usize; 2]) -> Option<Difference> {
    for _ in 0..STEPS {
        match step(old, new, at, POINTERS) {
            Step::On(next) => at = next,
            Step::Here => break,
            Step::Unknown => return None,
        }
    }
    // That reads differ is told by what orders them.
    if [old.inst(at[0])?, new.inst(at[1])?].iter().any(|inst| is_read(inst.opcode)) {
        return None;
    }
    let lines = [sentence(old, at[0])?, sentence(new, at[1])?];
    let [before, after] = lines;
    let is_inserted = is_inserted(old, new, at) || is_inserted(new, old, [at[1], at[0]]);
    let is_origin = is_inserted || takes_the_same(old, new, at);
    let least = if is_origin { "" } else { "at least " };
    Some(Difference {
        is_origin,
        entries: at,
        branch: None,
        lines: vec![
            format!("the values differ {least}from here on (invocation {}):", new.history.invocation),
            format!("  before, line {}: {before}", old.line(at[0])),
            format!("  after, line {}: {after}", new.line(at[1])),
        ],
        at: [old.line(at[0]), new.line(at[1])],
    })
}

/// Where values begin to differ.
pub(in crate::report) struct Difference {
    /// In words.
    pub(in crate::report) lines: Vec<String>,
    /// The lines of the instructions of before and after.
    pub(in crate::report) at: [Line; 2],
    /// Their places in the histories.
    pub(super) entries: [usize; 2],
    /// What the instructions take is the same: nothing in front of them differs.
    pub(super) is_origin: bool,
    /// The branch at which the ways part for that reason, if they do.
    pub(in crate::report) branch: Option<Branch>,
}

impl Difference {
    /// The place of the instruction of after in its history.
    pub(in crate::report) fn place_in_after(&self) -> usize {
        self.entries[1]
    }

    /// The branch, where it says more than the lines: they are not about itself.
    pub(super) fn way(&self) -> Option<String> {
        let Branch { invocation, at, sentence, .. } = self.branch.as_ref()?;
        let tells = *at != self.at;
        tells.then(|| format!("invocation {invocation} goes another way than in before: {sentence}"))
    }
}

/// A branch at which an invocation goes another way in after than in before.
pub(in crate::report) struct Branch {
    /// Who goes another way.
    pub(in crate::report) invocation: u32,
    /// Its lines in before and after.
    pub(in crate::report) at: [Line; 2],
    /// The lines of the blocks that it leads to.
    pub(in crate::report) to: [Line; 2],
    /// In words.
    pub(in crate::report) sentence: String,
}

fn is_read(opcode: &str) -> bool {
    let stores = matches!(opcode, "OpAtomicStore" | "OpAtomicFlagClear");
    matches!(opcode, "OpLoad" | "OpImageRead") || (opcode.starts_with("OpAtomic") && !stores)
}

/// Whether the second of two instructions takes what the first computes, from an instruction of the same kind: it was
/// inserted.
fn is_inserted(one: &Flow<'_, '_>, other: &Flow<'_, '_>, at: [usize; 2]) -> bool {
    let results = [one.components(Origin::Instance(at[0])), other.components(Origin::Instance(at[1]))];
    let [Some(first), Some(second)] = results else { return false };
    let Some((inst, takes)) = one.inst(at[0]).zip(other.inst(at[1])) else { return false };
    let mut operands = takes.operands.iter().skip(1).filter(|operand| operand.starts_with('%'));
    // Zeros are equal by chance.
    let is_telling = first.iter().any(|component| component.bits != 0);
    is_telling
        && first != second
        && operands.any(|id| match other.origin(at[1], id) {
            Origin::Instance(origin) => {
                other.inst(origin).is_some_and(|other| other.opcode == inst.opcode)
                    && other.components(Origin::Instance(origin)).as_ref() == Some(&first)
                    && takes_the_same(one, other, [at[0], origin])
            }
            Origin::Constant(_) | Origin::Other(_) => false,
        })
}

/// Whether every value that one of two instructions takes from others is one that the other takes; constants may differ.
fn takes_the_same(old: &Flow<'_, '_>, new: &Flow<'_, '_>, at: [usize; 2]) -> bool {
    let taken = |flow: &Flow<'_, '_>, at: usize| {
        let inst = flow.inst(at);
        let operands =
            inst.into_iter().flat_map(|inst| inst.operands.iter().skip(usize::from(inst.result.is_some())));
        let ids = operands.filter(|operand| operand.starts_with('%'));
        let origins = ids.map(|id| flow.origin(at, id));
        origins
            .filter(|origin| matches!(origin, Origin::Instance(_)))
            .filter_map(|origin| flow.components(origin))
            .collect::<Vec<_>>()
    };
    let (mut one, mut other) = (taken(old, at[0]), taken(new, at[1]));
    if one.is_empty() || other.is_empty() {
        return true;
    }
    one.retain(|value| match other.iter().position(|known| known == value) {
        Some(position) => {
            other.remove(position);
            false
        }
        None => true,
    });
    one.is_empty() || other.is_empty()
}

/// The values that an instruction takes, component by component, with what of them is not defined.
type Taken = Vec<Vec<(u64, u64)>>;

fn taken(flow: &Flow<'_, '_>, at: usize) -> Taken {
    let Some(inst) = flow.inst(at) else { return Taken::new() };
    let operands = inst.operands.iter().skip(usize::from(inst.result.is_some()));
    let ids = operands.filter(|operand| operand.starts_with('%'));
    let values = ids.filter_map(|id| flow.components(flow.origin(at, id)));
    values.map(|value| value.iter().map(|one| (one.bits, one.undef)).collect()).collect()
}

/// Whether two instructions take the same values, constants included.
pub(super) fn takes_equal_values(old: &Flow<'_, '_>, new: &Flow<'_, '_>, at: [usize; 2]) -> bool {
    taken(old, at[0]) == taken(new, at[1])
}

/// Whether two instructions take the same values in another order.
fn swaps(old: &Flow<'_, '_>, new: &Flow<'_, '_>, at: [usize; 2]) -> bool {
    let (mut one, mut other) = (taken(old, at[0]), taken(new, at[1]));
    if one == other {
        return false;
    }
    one.sort_unstable();
    other.sort_unstable();
    one == other
}

enum Step {
    /// An operand differs, which these instructions computed.
    On([usize; 2]),
    /// Nothing that the instructions take differs, or not by instructions.
    Here,
    /// Nothing differs.
    Unknown,
}

fn step(old: &Flow<'_, '_>, new: &Flow<'_, '_>, at: [usize; 2], pointers: usize) -> Step {
    let Some((one, other)) = old.inst(at[0]).zip(new.inst(at[1])) else { return Step::Unknown };
    if is_inserted(old, new, at) || is_inserted(new, old, [at[1], at[0]]) {
        return Step::Here;
    }
    if one.opcode != other.opcode || one.operands.len() != other.operands.len() || swaps(old, new, at) {
        return Step::Here;
    }
    let types = usize::from(one.result.is_some());
    let pairs = one.operands.iter().zip(&other.operands).skip(types);
    for (a, b) in pairs {
        let is_id = a.starts_with('%') && b.starts_with('%');
        if !is_id {
            if a != b {
                return Step::Here;
            }
            continue;
        }
        let (a, b) = (old.origin(at[0], a), new.origin(at[1], b));
        let (left, right) = (old.components(a), new.components(b));
        match (a, b) {
            (Origin::Instance(a), Origin::Instance(b)) => {
                let (left, right) = match (left, right) {
                    (Some(left), Some(right)) => (left, right),
                    // Pointers: their indices may differ. Values of other types have no words here.
                    (None, None) if pointers > 0 && is_chain(old, a) && is_chain(new, b) => {
                        match step(old, new, [a, b], pointers - 1) {
                            Step::On(next) => return Step::On(next),
                            Step::Here if differs_by_itself(old, new, [a, b]) => return Step::On([a, b]),
                            Step::Here | Step::Unknown => continue,
                        }
                    }
                    (None, None) if is_chain(old, a) || is_chain(new, b) => continue,
                    (None, None) => {
                        (old.history.entries[a].result.to_vec(), new.history.entries[b].result.to_vec())
                    }
                    (Some(_), None) | (None, Some(_)) => return Step::Here,
                };
                if left != right {
                    return Step::On([a, b]);
                }
            }
            // What was read in one and is known in the other differs by what is read.
            (Origin::Instance(a), _)
                if left != right && old.inst(a).is_some_and(|inst| is_read(inst.opcode)) =>
            {
                return Step::Unknown;
            }
            _ if left.is_some() && right.is_some() && left != right => return Step::Here,
            _ => {}
        }
    }
    let results = [old.components(Origin::Instance(at[0])), new.components(Origin::Instance(at[1]))];
    match (&results[0], &results[1]) {
        (Some(a), Some(b)) if a != b => Step::Here,
        // Of a store whose value could not be followed nothing is known.
        _ => Step::Unknown,
    }
}

fn is_chain(flow: &Flow<'_, '_>, at: usize) -> bool {
    flow.inst(at).is_some_and(|inst| inst.opcode.ends_with("AccessChain"))
}

/// Whether two instructions without values are of different kinds, or have other constants.
fn differs_by_itself(old: &Flow<'_, '_>, new: &Flow<'_, '_>, at: [usize; 2]) -> bool {
    let Some((one, other)) = old.inst(at[0]).zip(new.inst(at[1])) else { return false };
    one.opcode == other.opcode
        && one.operands.iter().zip(&other.operands).skip(1).any(|(a, b)| {
            let (a, b) = (old.components(old.origin(at[0], a)), new.components(new.origin(at[1], b)));
            a.is_some() && b.is_some() && a != b
        })
}

/// An instruction with its values, and where it comes from.
pub(super) fn sentence(flow: &Flow<'_, '_>, at: usize) -> Option<String> {
    let inst = flow.inst(at)?;
    let result = flow.short(Origin::Instance(at)).map_or_else(String::new, |value| format!(" = {value}"));
    let operands = inst.operands.iter().skip(usize::from(inst.result.is_some()));
    let is_atomic = inst.opcode.starts_with("OpAtomic");
    let values = operands.filter(|operand| operand.starts_with('%')).filter_map(|id| {
        let origin = flow.origin(at, id);
        // Scopes and semantics.
        if is_atomic && matches!(origin, Origin::Constant(_)) {
            return None;
        }
        let value = flow.short(origin)?;
        (!id.ends_with(&format!("_{value}"))).then(|| format!("{id} is {value}"))
    });
    let mut values: Vec<String> = values.collect();
    values.dedup();
    values.truncate(VALUES);
    let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
    let line = flow.line(at);
    Some(format!("{}{result}{values}{}", flow.code.text(line), flow.code.place(line)))
}

//! What was changed from one module to another, change by change, in words: a scope of a barrier, a bit of semantics, an
//! operand of an access, a decoration, an access that is missing or moved, an operation that computes something else.

mod aligned;
mod globals;
mod inlined;
mod moved;
mod operands;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use rustc_hash::FxBuildHasher;

use super::listing::{Function, Inst, Listing};
use super::renaming::Renaming;
use super::Correspondence;
use crate::ir::Line;
use aligned::{Aligned, Named};
use inlined::{Left, Modules};

/// A change. Ordered by what it may do: what orders accesses first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// What it is about.
    pub kind: ChangeKind,
    /// The lines of after that it is about, or those of before where after has none.
    pub lines: Vec<Line>,
    /// The same in before.
    pub lines_of_before: Vec<Line>,
    /// What was changed, without a full stop.
    pub sentence: String,
}

/// What a change is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeKind {
    /// What orders accesses or says how they are made: barriers, atomics, operands of accesses, decorations.
    Ordering,
    /// An access that is missing, added or moved.
    Access,
    /// What computes a value.
    Value,
    /// Where invocations go.
    Flow,
    /// An access of a variable that an invocation has for itself: such variables come and go.
    OwnAccess,
    /// The interface of the module, and its declarations.
    Interface,
    /// A computation that only one of the modules has.
    Computation,
}

/// Two functions that correspond.
pub(super) struct PairOfFunctions<'l, 't> {
    old: &'l Function<'t>,
    new: &'l Function<'t>,
    /// None where they are too long to be compared.
    aligned: Option<Aligned<'l, 't>>,
}

impl<'l, 't> Correspondence<'l, 't> {
    fn pairs(&self) -> &[PairOfFunctions<'l, 't>] {
        self.pairs.get_or_init(|| {
            let [before, after] = self.listings();
            let pairs = self.renaming.functions.iter().filter_map(|(at, other)| {
                let (old, new) = (before.functions.get(*at)?, after.functions.get(*other)?);
                let aligned = Aligned::of(&old.code, &new.code, &self.renaming);
                Some(PairOfFunctions { old, new, aligned })
            });
            pairs.collect()
        })
    }

    /// All changes, the most important kind first.
    pub fn changes(&self) -> Vec<Change> {
        let (listings, renaming) = (self.listings(), &self.renaming);
        let mut found = globals::changes(self.texts.texts, listings, renaming);
        let constants = operands::Constants::of(listings, renaming);
        for PairOfFunctions { old, new, aligned } in self.pairs() {
            let Some(aligned) = aligned else {
                found.extend(too_long(old, new));
                continue;
            };
            let own = [Own::of(listings[0], old), Own::of(listings[1], new)];
            let modules = Modules { listings, renaming, constants: &constants, own };
            let mut left = Left::of(aligned);
            found.extend(modules.changes(aligned, &mut left));
            let changed =
                left.changed.iter().map(|(at, other)| (&aligned.before[*at], &aligned.after[*other]));
            found.extend(changed.flat_map(|(old, new)| operands::changes(old, new, &constants)));
            found.extend(moved::changes(aligned));
            let own = &modules.own;
            found.extend(left.gone.iter().map(|at| gone(&aligned.before[*at], &own[0])));
            found.extend(left.added.iter().map(|at| added(&aligned.after[*at], &own[1])));
        }
        found.extend(whole_functions(listings, renaming));
        found.sort_by_key(|change| (change.kind, change.lines.first().copied()));
        found.dedup_by(|one, other| one.sentence == other.sentence);
        found
    }

    /// For lines of after, the lines of before to which they correspond, changed or moved ones included.
    pub fn counterparts(&self) -> BTreeMap<Line, Line> {
        let all = self.pairs().iter().filter_map(|pair| pair.aligned.as_ref()).flat_map(|aligned| {
            let all = aligned.same.iter().chain(&aligned.changed).chain(&aligned.moved);
            all.map(|(old, new)| (aligned.after[*new].inst.line, aligned.before[*old].inst.line))
        });
        all.collect()
    }
}

/// A pair of functions that is not compared.
fn too_long(old: &Function<'_>, new: &Function<'_>) -> Option<Change> {
    let line = |function: &Function<'_>| function.code.first().map(|inst| inst.line);
    let (old, new) = (line(old)?, line(new)?);
    Some(Change {
        kind: ChangeKind::Flow,
        lines: vec![new],
        lines_of_before: vec![old],
        sentence: format!("the function on line {new} (before: line {old}) is too long to be compared"),
    })
}

fn gone(one: &Named<'_, '_>, own: &Own<'_>) -> Change {
    Change {
        kind: own.kind_of(one.inst),
        lines: Vec::new(),
        lines_of_before: vec![one.inst.line],
        sentence: format!(
            "after lacks the {} on line {} of before: {}",
            noun(one.inst.opcode),
            one.inst.line,
            one.own_text()
        ),
    }
}

fn added(one: &Named<'_, '_>, own: &Own<'_>) -> Change {
    Change {
        kind: own.kind_of(one.inst),
        lines: vec![one.inst.line],
        lines_of_before: Vec::new(),
        sentence: format!(
            "after adds the {} on line {}: {}",
            noun(one.inst.opcode),
            one.inst.line,
            one.own_text()
        ),
    }
}

/// The pointers of a function to variables that an invocation has for itself.
struct Own<'t>(HashSet<&'t str, FxBuildHasher>);

impl<'t> Own<'t> {
    fn of(listing: &Listing<'t>, function: &Function<'t>) -> Self {
        let is_class = |class: Option<&&str>| matches!(class, Some(&"Function" | &"Private"));
        let types = listing.definitions.iter().filter(|inst| inst.opcode == "OpTypePointer");
        let types: HashSet<&str, FxBuildHasher> =
            types.filter(|inst| is_class(inst.operands.first())).filter_map(|inst| inst.result).collect();
        let mut own: HashSet<&'t str, FxBuildHasher> = HashSet::default();
        for inst in listing.definitions.iter().chain(&function.code) {
            let is_own = match inst.opcode {
                "OpVariable" => is_class(inst.operands.get(1)),
                "OpFunctionParameter" => inst.operands.first().is_some_and(|ty| types.contains(ty)),
                "OpAccessChain" | "OpInBoundsAccessChain" => {
                    inst.operands.get(1).is_some_and(|base| own.contains(base))
                }
                _ => false,
            };
            own.extend(inst.result.filter(|_| is_own));
        }
        Own(own)
    }

    fn kind_of(&self, inst: &Inst<'t>) -> ChangeKind {
        let pointer = match inst.opcode {
            "OpLoad" => inst.operands.get(1),
            "OpStore" => inst.operands.first(),
            _ => None,
        };
        match pointer.is_some_and(|pointer| self.0.contains(pointer)) {
            true => ChangeKind::OwnAccess,
            false => kind_of(inst.opcode),
        }
    }
}

/// Functions that only one of the modules has.
fn whole_functions<'t>([old, new]: [&Listing<'t>; 2], renaming: &Renaming<'t>) -> Vec<Change> {
    let gone = alone(old, |at| renaming.functions.iter().all(|(old, _)| *old != at));
    let gone = gone.map(|(line, name)| Change {
        kind: ChangeKind::Computation,
        lines: Vec::new(),
        lines_of_before: vec![line],
        sentence: format!("after lacks the function {name} on line {line} of before"),
    });
    let added = alone(new, |at| renaming.functions.iter().all(|(_, new)| *new != at));
    let added = added.map(|(line, name)| Change {
        kind: ChangeKind::Computation,
        lines: vec![line],
        lines_of_before: Vec::new(),
        sentence: format!("after adds the function {name} on line {line}"),
    });
    gone.chain(added).collect()
}

/// The lines and names of functions that are not paired.
fn alone<'l, 't>(
    listing: &'l Listing<'t>,
    is_alone: impl Fn(usize) -> bool + 'l,
) -> impl Iterator<Item = (Line, &'t str)> + 'l {
    let functions = listing.functions.iter().enumerate().filter(move |(at, _)| is_alone(*at));
    functions.filter_map(|(_, function)| Some((function.code.first()?.line, name_of(listing, function))))
}

/// What people call a function: without types, which front ends put behind its name.
fn name_of<'t>(listing: &Listing<'t>, function: &Function<'t>) -> &'t str {
    let name = listing.name(function.id).unwrap_or(function.id);
    name.split('(').next().filter(|name| !name.is_empty()).unwrap_or(name)
}

/// What an instruction is, in the field's words.
fn noun(opcode: &str) -> &str {
    match opcode {
        "OpLoad" => "load",
        "OpStore" => "store",
        "OpCopyMemory" => "copy",
        "OpAtomicLoad" => "atomic load",
        "OpAtomicStore" => "atomic store",
        "OpControlBarrier" => "control barrier",
        "OpMemoryBarrier" => "memory barrier",
        "OpFunctionCall" => "call",
        "OpBranchConditional" => "conditional branch",
        "OpSwitch" => "switch",
        "OpLoopMerge" => "loop",
        "OpKill" | "OpTerminateInvocation" | "OpDemoteToHelperInvocation" => "discard",
        other => other,
    }
}

fn kind_of(opcode: &str) -> ChangeKind {
    match opcode {
        "OpControlBarrier" | "OpMemoryBarrier" => ChangeKind::Ordering,
        "OpLoopMerge" | "OpBranchConditional" | "OpSwitch" | "OpUnreachable" => ChangeKind::Flow,
        _ if is_access(opcode) => ChangeKind::Access,
        // Labels, branches and merges come and go with what is between them.
        _ => ChangeKind::Computation,
    }
}

/// Whether an instruction does something beside computing its result.
fn is_access(opcode: &str) -> bool {
    matches!(
        opcode,
        "OpLoad"
            | "OpStore"
            | "OpCopyMemory"
            | "OpCopyMemorySized"
            | "OpImageRead"
            | "OpImageWrite"
            | "OpFunctionCall"
            | "OpArrayLength"
            | "OpKill"
            | "OpTerminateInvocation"
            | "OpDemoteToHelperInvocation"
            | "OpImageSparseRead"
    ) || opcode.starts_with("OpAtomic")
        || opcode.starts_with("OpGroup")
        || opcode.starts_with("OpImageSample")
        || opcode.starts_with("OpImageFetch")
        || opcode.starts_with("OpDPd")
        || opcode.starts_with("OpFwidth")
        || (opcode.starts_with("OpCooperative") && (opcode.contains("Load") || opcode.contains("Store")))
        || opcode.starts_with("OpRayQuery")
}

fn is_flow(opcode: &str) -> bool {
    matches!(
        opcode,
        "OpBranch"
            | "OpBranchConditional"
            | "OpSwitch"
            | "OpLabel"
            | "OpPhi"
            | "OpLoopMerge"
            | "OpSelectionMerge"
            | "OpReturn"
            | "OpReturnValue"
            | "OpUnreachable"
            | "OpFunction"
            | "OpFunctionParameter"
            | "OpVariable"
    )
}

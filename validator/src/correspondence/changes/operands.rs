//! What the operands of an instruction lost or gained.

use std::collections::HashMap;

use rspirv::spirv::{MemorySemantics, Scope};
use rustc_hash::FxBuildHasher;

use super::super::listing::Listing;
use super::super::renaming::Renaming;
use super::aligned::Named;
use super::{is_access, is_flow, noun, Change, ChangeKind};

/// The literals of constants, by before's names, and the named variables that before's loads read, by their results.
pub(super) struct Constants {
    literals: HashMap<String, String, FxBuildHasher>,
    loads: HashMap<String, String, FxBuildHasher>,
}

impl Constants {
    pub(super) fn of<'t>([old, new]: [&Listing<'t>; 2], renaming: &Renaming<'t>) -> Constants {
        let value = |inst: &super::Inst<'t>| match inst.opcode {
            "OpConstant" | "OpSpecConstant" => inst.operands.get(1).map(|value| (*value).to_owned()),
            _ => None,
        };
        let named = |name: String, inst: &super::Inst<'t>| Some((name, value(inst)?));
        let of_old = old.definitions.iter().filter_map(|inst| named(inst.result?.to_owned(), inst));
        let of_new =
            new.definitions.iter().filter_map(|inst| named(renaming.name(inst.result?).into_owned(), inst));
        let code = old.functions.iter().flat_map(|function| &function.code);
        let loads = code.filter(|inst| inst.opcode == "OpLoad").filter_map(|inst| {
            let variable = *inst.operands.get(1)?;
            let is_number = variable.trim_start_matches('%').bytes().all(|byte| byte.is_ascii_digit());
            (!is_number).then(|| Some((inst.result?.to_owned(), variable.to_owned())))?
        });
        Constants { literals: of_new.chain(of_old).collect(), loads: loads.collect() }
    }

    fn number(&self, id: &str) -> Option<u32> {
        let text = self.literals.get(id)?;
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    fn scope(&self, id: &str) -> String {
        let scope = self.number(id).and_then(Scope::from_u32);
        scope.map_or_else(|| id.to_owned(), |scope| format!("{scope:?}"))
    }

    /// Which variables these values of before are loaded from: ` (in before %115 is loaded from %model)`.
    fn loads<'a>(&self, ids: impl Iterator<Item = &'a String>) -> String {
        let named = ids.filter_map(|id| Some(format!("{id} is loaded from {}", self.loads.get(id)?)));
        let named: Vec<String> = named.collect();
        match named.is_empty() {
            true => String::new(),
            false => format!(" (in before {})", named.join(", ")),
        }
    }

    /// An operand by the name that people find it by; with its value, where a number names a constant.
    fn told(&self, id: &str, shown: &str) -> String {
        match self.literals.get(id) {
            Some(value) if !shown.contains(value.as_str()) => format!("{shown} ({value})"),
            Some(_) | None => shown.to_owned(),
        }
    }
}

/// What is different about an instruction that both modules have.
pub(super) fn changes(old: &Named<'_, '_>, new: &Named<'_, '_>, constants: &Constants) -> Vec<Change> {
    let change = |kind: ChangeKind, sentence: String| Change {
        kind,
        lines: vec![new.inst.line],
        lines_of_before: vec![old.inst.line],
        sentence,
    };
    let (noun, line) = (noun(new.inst.opcode), new.inst.line);
    if old.inst.opcode != new.inst.opcode {
        let accesses = is_access(old.inst.opcode) || is_access(new.inst.opcode);
        let atomic = [old, new].map(|one| one.inst.opcode.starts_with("OpAtomic"));
        let kind = match (accesses, atomic[0] != atomic[1]) {
            (true, true) => ChangeKind::Ordering,
            (true, false) => ChangeKind::Access,
            (false, _) => ChangeKind::Value,
        };
        return vec![change(
            kind,
            format!("line {line} is {} instead of {}", new.own_text(), old.own_text()),
        )];
    }
    let layout = Layout::of(new.inst.opcode);
    let mut found = Vec::new();
    let mut rest = Vec::new();
    let pairs = old.operands.iter().zip(&new.operands).enumerate();
    for (at, (was, is)) in
        pairs.filter(|(at, (was, is))| was != is && Some(*at) < layout.memory_operands.or(Some(usize::MAX)))
    {
        let role = layout.role(at);
        match role {
            Some(Role::Scope(what)) => {
                let (was, is) = (constants.scope(was), constants.scope(is));
                found.push(format!("has {what} {is} instead of {was}"));
            }
            Some(Role::Semantics(what)) => {
                found.extend(
                    semantics(constants.number(was), constants.number(is), what)
                        .unwrap_or_else(|| vec![format!("has semantics {is} instead of {was}")]),
                );
            }
            None => rest.push((at, was, is)),
        }
    }
    if let Some(at) = layout.memory_operands {
        let [was, is] = [old, new].map(|one| one.operands.get(at..).unwrap_or_default());
        found.extend(memory_operands(was, is, constants));
    } else if old.operands.len() != new.operands.len() {
        let kind = if is_flow(new.inst.opcode) { ChangeKind::Flow } else { ChangeKind::Value };
        return vec![change(
            kind,
            format!("line {line} is {} instead of {}", new.own_text(), old.own_text()),
        )];
    }
    let mut changes = Vec::new();
    if !found.is_empty() {
        changes.push(change(
            ChangeKind::Ordering,
            format!("the {noun} on line {line} {}", found.join(", and ")),
        ));
    }
    // Where labels are paired in another way than they are named, nothing was changed.
    let is_same = is_flow(new.inst.opcode) && old.own_text() == new.own_text();
    if !rest.is_empty() && !is_same {
        let kind = match is_flow(new.inst.opcode) {
            true => ChangeKind::Flow,
            false => ChangeKind::Value,
        };
        let operands = rest.iter().map(|(at, was, is)| {
            // One name for two things says nothing.
            let own = new.inst.operands.get(*at).copied().filter(|own| own != *was).unwrap_or(is);
            format!("{} instead of {}", constants.told(is, own), constants.told(was, was))
        });
        let own = new.own_text();
        let has = match swapped(new, &rest, constants) {
            Some(what) => {
                let loads = constants.loads(rest.iter().map(|(_, was, _)| *was));
                format!("{what}: before {}, after {own}{loads}", old.own_text())
            }
            None => format!("{}: {own}", operands.collect::<Vec<String>>().join(", ")),
        };
        changes.push(change(kind, format!("the {noun} on line {line} has {has}")));
    }
    changes
}

/// Operands that have other places: `its operands swapped`; `None` where others came.
fn swapped(new: &Named<'_, '_>, rest: &[(usize, &String, &String)], constants: &Constants) -> Option<String> {
    let mut were: Vec<&String> = rest.iter().map(|(_, was, _)| *was).collect();
    let mut are: Vec<&String> = rest.iter().map(|(_, _, is)| *is).collect();
    were.sort_unstable();
    are.sort_unstable();
    if rest.len() < 2 || were != are {
        return None;
    }
    let (what, first) = match new.inst.opcode {
        "OpBranchConditional" => ("targets", 1),
        "OpSwitch" => ("targets", 1),
        "OpPhi" => ("values", 1),
        "OpCompositeConstruct" => ("components", 1),
        "OpVectorShuffle" => ("components", 3),
        "OpSelect" => ("values", 2),
        "OpExtInst" => ("operands", 3),
        _ => ("operands", usize::from(new.inst.result.is_some())),
    };
    let operands = new.operands.len().saturating_sub(first);
    Some(match rest {
        [_, _] if operands == 2 => format!("its {what} swapped"),
        [(_, was, _), (_, other, _)] => {
            format!("its {what} {} and {} swapped", constants.told(was, was), constants.told(other, other))
        }
        _ => format!("its {what} in another order"),
    })
}

/// What an operand is.
enum Role {
    Scope(&'static str),
    Semantics(&'static str),
}

/// Where an instruction has its scopes, semantics and memory operands.
struct Layout {
    scopes: &'static [(usize, &'static str)],
    semantics: &'static [(usize, &'static str)],
    memory_operands: Option<usize>,
}

impl Layout {
    fn of(opcode: &str) -> Layout {
        type Places = &'static [(usize, &'static str)];
        let (scopes, semantics, memory_operands): (Places, Places, Option<usize>) = match opcode {
            "OpControlBarrier" => (&[(0, "execution scope"), (1, "memory scope")], &[(2, "")], None),
            "OpMemoryBarrier" => (&[(0, "memory scope")], &[(1, "")], None),
            // Without a result.
            "OpAtomicStore" | "OpAtomicFlagClear" => (&[(1, "memory scope")], &[(2, "")], None),
            "OpAtomicCompareExchange" | "OpAtomicCompareExchangeWeak" => {
                (&[(2, "memory scope")], &[(3, ""), (4, " where the values are unequal")], None)
            }
            _ if opcode.starts_with("OpAtomic") => (&[(2, "memory scope")], &[(3, "")], None),
            "OpLoad" | "OpStore" | "OpCopyMemory" | "OpImageWrite" => (
                &[],
                &[],
                Some(match opcode {
                    "OpImageWrite" => 3,
                    _ => 2,
                }),
            ),
            "OpImageRead" | "OpCopyMemorySized" | "OpImageSparseRead" => (&[], &[], Some(3)),
            "OpCooperativeMatrixStoreTensorNV" => (&[], &[], Some(3)),
            "OpCooperativeMatrixLoadKHR"
            | "OpCooperativeMatrixStoreKHR"
            | "OpCooperativeMatrixLoadTensorNV" => (&[], &[], Some(4)),
            "OpCooperativeVectorLoadNV" | "OpCooperativeVectorStoreNV" => (&[], &[], Some(3)),
            _ if opcode.starts_with("OpGroupNonUniform") => (&[(1, "execution scope")], &[], None),
            _ => (&[], &[], None),
        };
        Layout { scopes, semantics, memory_operands }
    }

    fn role(&self, at: usize) -> Option<Role> {
        let scope = self.scopes.iter().find(|(place, _)| *place == at).map(|(_, what)| Role::Scope(what));
        scope.or_else(|| {
            self.semantics.iter().find(|(place, _)| *place == at).map(|(_, what)| Role::Semantics(what))
        })
    }
}

/// The orders of semantics.
const ORDERS: [(MemorySemantics, &str); 4] = [
    (MemorySemantics::ACQUIRE, "Acquire"),
    (MemorySemantics::RELEASE, "Release"),
    (MemorySemantics::ACQUIRE_RELEASE, "AcquireRelease"),
    (MemorySemantics::SEQUENTIALLY_CONSISTENT, "SequentiallyConsistent"),
];

/// The other bits of semantics.
const BITS: [(MemorySemantics, &str); 9] = [
    (MemorySemantics::UNIFORM_MEMORY, "UniformMemory"),
    (MemorySemantics::SUBGROUP_MEMORY, "SubgroupMemory"),
    (MemorySemantics::WORKGROUP_MEMORY, "WorkgroupMemory"),
    (MemorySemantics::CROSS_WORKGROUP_MEMORY, "CrossWorkgroupMemory"),
    (MemorySemantics::IMAGE_MEMORY, "ImageMemory"),
    (MemorySemantics::OUTPUT_MEMORY, "OutputMemory"),
    (MemorySemantics::MAKE_AVAILABLE, "MakeAvailable"),
    (MemorySemantics::MAKE_VISIBLE, "MakeVisible"),
    (MemorySemantics::VOLATILE, "Volatile"),
];

/// How two masks of semantics differ, as predicates of the second.
fn semantics(was: Option<u32>, is: Option<u32>, what: &str) -> Option<Vec<String>> {
    let [was, is] = [was?, is?].map(MemorySemantics::from_bits_truncate);
    let order = |mask: MemorySemantics| {
        ORDERS.iter().find(|(bit, _)| mask.contains(*bit)).map_or("Relaxed", |(_, name)| name)
    };
    let mut found = Vec::new();
    if order(was) != order(is) {
        found.push(format!("is {} instead of {}{what}", order(is), order(was)));
    }
    // Relaxed semantics order nothing, whatever else they say.
    if order(is) != "Relaxed" || order(was) == order(is) {
        for (bit, name) in BITS {
            match (was.contains(bit), is.contains(bit)) {
                (true, false) => found.push(format!("lost {name} in its semantics{what}")),
                (false, true) => found.push(format!("gained {name} in its semantics{what}")),
                (true, true) | (false, false) => {}
            }
        }
    }
    Some(found)
}

/// How two lists of memory or image operands differ, as predicates of the second.
fn memory_operands(was: &[String], is: &[String], constants: &Constants) -> Vec<String> {
    let [was, is] = [was, is].map(|operands| bits(operands, constants));
    let mut found = Vec::new();
    for (name, value) in &was {
        match is.iter().find(|(other, _)| other == name) {
            None => found.push(format!("lost {name}")),
            Some((_, other)) if other != value => {
                found.push(format!("has {name} {other} instead of {value}"));
            }
            Some(_) => {}
        }
    }
    let gained = is.iter().filter(|(name, _)| was.iter().all(|(other, _)| other != name));
    found.extend(gained.map(|(name, _)| format!("gained {name}")));
    found
}

/// Memory operands in the order of their bits, and whether something is given with each.
const MEMORY_OPERANDS: [(&str, bool); 8] = [
    ("Volatile", false),
    ("Aligned", true),
    ("Nontemporal", false),
    ("MakePointerAvailable", true),
    ("MakePointerVisible", true),
    ("NonPrivatePointer", false),
    ("AliasScopeINTELMask", true),
    ("NoAliasINTELMask", true),
];

/// Image operands to which a scope is given, behind all others that the tool reads.
const TEXEL_OPERANDS: [&str; 2] = ["MakeTexelAvailable", "MakeTexelVisible"];

/// The bits of a mask with what is given with each. What follows them keeps its own words.
fn bits(operands: &[String], constants: &Constants) -> Vec<(String, String)> {
    let Some(at) = operands.iter().position(|operand| !operand.starts_with('%')) else { return Vec::new() };
    let mut given = operands[at + 1..].iter();
    let mask = &operands[at];
    let number = mask.strip_prefix("!0x").and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let has = |bit: usize, name: &str| match number {
        Some(number) => number >> bit & 1 == 1,
        None => mask.split('|').any(|word| word == name),
    };
    let mut found = Vec::new();
    let given_bits = MEMORY_OPERANDS.into_iter().enumerate().filter(|(bit, (name, _))| has(*bit, name));
    for (_, (name, takes)) in given_bits {
        let value = match takes.then(|| given.next()).flatten() {
            Some(id) if name.starts_with("MakePointer") => format!("at {} scope", constants.scope(id)),
            Some(word) => word.clone(),
            None => String::new(),
        };
        found.push((name.to_owned(), value));
    }
    let others = mask.split('|').filter(|word| {
        let known = MEMORY_OPERANDS.iter().any(|(name, _)| name == word);
        !known && *word != "None" && number.is_none()
    });
    let others: Vec<&str> = others.collect();
    let scoped = others.iter().filter(|name| TEXEL_OPERANDS.contains(name)).count();
    let mut rest: Vec<&String> = given.collect();
    // Scopes come last.
    let scopes = rest.split_off(rest.len().saturating_sub(scoped));
    let mut scopes = scopes.into_iter();
    for name in others {
        let scope = TEXEL_OPERANDS.contains(&name).then(|| scopes.next()).flatten();
        let scope = scope.map(|id| format!("at {} scope", constants.scope(id)));
        found.push((name.to_owned(), scope.unwrap_or_default()));
    }
    let said = rest.into_iter().filter(|word| *word != "None" && *word != "!0");
    found.extend(said.map(|word| (word.clone(), String::new())));
    found
}

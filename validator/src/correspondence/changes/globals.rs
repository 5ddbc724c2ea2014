//! What was changed in front of the functions: decorations, execution modes, variables.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;

use super::aligned::Named;
use super::{Change, ChangeKind, Inst};
use crate::correspondence::listing::{insts, Listing};
use crate::correspondence::renaming::Renaming;

/// Decorations that order accesses, say how they are made, or how values are computed.
const EFFECTIVE: [&str; 13] = [
    "Coherent",
    "Volatile",
    "NonWritable",
    "NonReadable",
    "Aliased",
    "Restrict",
    "AliasedPointer",
    "RestrictPointer",
    "NoContraction",
    "RelaxedPrecision",
    "FPFastMathMode",
    "FPRoundingMode",
    "NonUniform",
];

/// Decorations that say which value is where.
const PLACING: [&str; 12] = [
    "BuiltIn",
    "Offset",
    "ArrayStride",
    "MatrixStride",
    "RowMajor",
    "ColMajor",
    "Location",
    "Component",
    "Index",
    "DescriptorSet",
    "Binding",
    "SpecId",
];

/// A line in front of the functions.
struct Item<'t> {
    inst: Inst<'t>,
    /// With before's names.
    text: String,
    operands: Vec<String>,
    result: Option<String>,
    /// Whether the other module has what it is about.
    known: bool,
}

/// The changes in front of the functions of two texts.
pub(super) fn changes<'t>(
    texts: [&'t str; 2],
    listings: [&Listing<'t>; 2],
    renaming: &Renaming<'t>,
) -> Vec<Change> {
    let [common_of_old, common_of_new] = renaming.common();
    let old = items(texts[0], None, |id| common_of_old.contains(id));
    let new = items(texts[1], Some(renaming), |id| common_of_new.contains(id));
    let mut counts: HashMap<&str, isize, FxBuildHasher> = HashMap::default();
    old.iter().for_each(|item| *counts.entry(&item.text).or_default() += 1);
    new.iter().for_each(|item| *counts.entry(&item.text).or_default() -= 1);
    let alone = |items: &'_ [Item<'t>]| -> Vec<usize> {
        (0..items.len()).filter(|at| counts.get(items[*at].text.as_str()) != Some(&0)).collect()
    };
    let (gone, mut added) = (alone(&old), alone(&new));
    let mut found = Vec::new();
    for at in gone {
        let item = &old[at];
        let other = added.iter().position(|other| new[*other].is_about(item));
        let other = other.map(|position| &new[added.remove(position)]);
        found.extend(change(Some(item), other, listings));
    }
    found.extend(added.into_iter().filter_map(|at| change(None, Some(&new[at]), listings)));
    found
}

fn items<'t>(
    text: &'t str,
    renaming: Option<&Renaming<'t>>,
    is_common: impl Fn(&str) -> bool,
) -> Vec<Item<'t>> {
    let globals = insts(text).take_while(|inst| inst.opcode != "OpFunction").filter(|inst| !inst.is_debug);
    globals
        .map(|inst| {
            let Named { result, operands, text, .. } = Named::of(&inst, renaming);
            let target = inst.result.or(inst.operands.first().copied().filter(|id| id.starts_with('%')));
            let known = target.is_none_or(&is_common);
            Item { text, operands, result, known, inst }
        })
        .collect()
}

impl Item<'_> {
    /// Whether this says something else about what another one is about.
    fn is_about(&self, other: &Item<'_>) -> bool {
        let same = |at: usize| self.operands.get(at) == other.operands.get(at);
        self.inst.opcode == other.inst.opcode
            && match self.inst.opcode {
                "OpDecorate" | "OpDecorateId" => same(0) && same(1),
                "OpMemberDecorate" => same(0) && same(1) && same(2),
                "OpExecutionMode" | "OpExecutionModeId" => {
                    let width = self.inst.opcode == "OpExecutionMode" && self.operands.len() > 2;
                    same(0) && same(1) && (!width || self.operands[1].starts_with("LocalSize") || same(2))
                }
                "OpEntryPoint" => same(0) && same(1),
                "OpMemoryModel" => true,
                _ => self.result.is_some() && self.result == other.result,
            }
    }
}

fn change(
    old: Option<&Item<'_>>,
    new: Option<&Item<'_>>,
    [before, after]: [&Listing<'_>; 2],
) -> Option<Change> {
    let item = new.or(old)?;
    let name = match new {
        Some(item) => named(item, after),
        None => named(item, before),
    };
    let (kind, what) = match item.inst.opcode {
        "OpDecorate" | "OpDecorateId" | "OpMemberDecorate" => {
            let decoration = if item.inst.opcode == "OpMemberDecorate" { 2 } else { 1 };
            let kind = match item.inst.operands.get(decoration).copied()? {
                decoration if EFFECTIVE.contains(&decoration) => ChangeKind::Ordering,
                decoration if PLACING.contains(&decoration) => ChangeKind::Value,
                _ => ChangeKind::Interface,
            };
            (kind, item.known.then_some(format!("the decoration {}", rest(item, decoration)))?)
        }
        "OpExecutionMode" | "OpExecutionModeId" => {
            (ChangeKind::Ordering, format!("the execution mode {}", rest(item, 1)))
        }
        "OpMemoryModel" => (ChangeKind::Ordering, format!("the memory model {}", rest(item, 0))),
        "OpVariable" => {
            let class = item.operands.get(1).map_or("", String::as_str);
            (ChangeKind::Interface, format!("its declaration in storage class {class}"))
        }
        "OpSpecConstant" | "OpSpecConstantTrue" | "OpSpecConstantFalse" => {
            (ChangeKind::Value, format!("the value {}", rest(item, 1)))
        }
        "OpEntryPoint" => (ChangeKind::Interface, format!("the interface {}", rest(item, 2))),
        opcode if opcode.starts_with("OpType") && old.is_some() && new.is_some() => {
            (ChangeKind::Interface, format!("the form {}", rest(item, 0)))
        }
        // What only one of the modules declares matters where it is used.
        opcode if opcode.starts_with("OpType") || opcode.starts_with("OpConstant") => return None,
        "OpUndef" | "OpExtInstImport" => return None,
        _ => (ChangeKind::Interface, item.text.clone()),
    };
    let sentence = match (old, new) {
        (Some(old), Some(_)) => format!("{name} has {what} instead of {}", other(old)),
        (Some(_), None) => format!("{name} lost {what}"),
        (None, _) => format!("{name} gained {what}"),
    };
    let line = |item: Option<&Item<'_>>| item.map(|item| item.inst.line).into_iter().collect();
    Some(Change { kind, lines: line(new), lines_of_before: line(old), sentence })
}

/// What a line is about.
fn named(item: &Item<'_>, listing: &Listing<'_>) -> String {
    let id = item.inst.result.or(item.inst.operands.first().copied().filter(|id| id.starts_with('%')));
    let called = |id: &str| {
        let shown = match item.inst.result {
            Some(_) => item.result.as_deref(),
            None => item.operands.first().map(String::as_str),
        };
        let shown = shown.unwrap_or(id);
        match listing.names_of(id).filter(|name| shown.trim_start_matches('%') != *name) {
            Some(name) => format!("{shown} \"{name}\""),
            None => shown.to_owned(),
        }
    };
    match (item.inst.opcode, id) {
        ("OpMemberDecorate", Some(id)) => {
            let member = item.inst.operands.get(1).copied().unwrap_or_default();
            format!("member {member} of {}", called(id))
        }
        ("OpExecutionMode" | "OpExecutionModeId", Some(id)) => format!("the entry point {}", called(id)),
        (_, Some(id)) => called(id),
        (_, None) => "the module".to_owned(),
    }
}

/// Everything from an operand on.
fn rest(item: &Item<'_>, from: usize) -> String {
    item.operands.get(from..).unwrap_or_default().join(" ")
}

/// What an instruction said before.
fn other(item: &Item<'_>) -> String {
    match item.inst.opcode {
        "OpDecorate" | "OpDecorateId" => rest(item, 2),
        "OpMemberDecorate" => rest(item, 3),
        "OpExecutionMode" | "OpExecutionModeId" | "OpSpecConstant" => rest(item, 1),
        "OpEntryPoint" => rest(item, 2),
        _ => item.text.clone(),
    }
}

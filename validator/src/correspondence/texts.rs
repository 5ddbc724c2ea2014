//! The texts of two modules as a diff shows them: one name for what is the same, in the order of before.

use std::collections::{BTreeMap, HashMap, HashSet};

use rustc_hash::FxBuildHasher;

use super::listing::{insts, Inst, Listing};
use super::renaming::{is_constant, Renaming};
use super::Correspondence;
use crate::ir::Line;

/// Two texts for a diff.
#[derive(Debug)]
pub struct Told {
    /// Their lines, before first.
    pub lines: [Vec<Written>; 2],
    /// Comments, names and debug information that one of them has alone and that are not in `lines`.
    pub remarks: usize,
    /// Types and constants, with their decorations, that one of them has alone, that no changed instruction needs, and
    /// that are not in `lines`.
    pub declarations: usize,
    /// Pairs of functions that are too long to be matched, so that their ids have the names of each module.
    pub too_long: usize,
}

/// A line of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Written {
    /// Its number in the module's own text.
    pub line: Line,
    /// With the names of before.
    pub text: String,
}

/// What a line is to a diff.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing that is executed depends on it.
    Remark,
    /// A type, a constant, or a decoration, of what the other module does not have.
    Declaration,
    Code,
}

/// A line on its way.
struct Item<'t> {
    written: Written,
    kind: Kind,
    inst: Option<Inst<'t>>,
    /// The number of the function that it belongs to; 0 in front of the first.
    part: usize,
    /// Whether the other text has it as often.
    common: bool,
}

impl Correspondence<'_, '_> {
    /// Both texts with before's names for what is the same, after's functions and declarations in before's order. Unless
    /// `everything` is wanted, what does nothing by itself is left out where only one of them has it.
    pub fn in_names_of_before(&self, everything: bool) -> Told {
        let ([before, after], [old, new]) = (self.texts.texts, self.listings());
        let renaming = &self.renaming;
        let [common_of_old, common_of_new] = renaming.common();
        let old = items(before, old, &common_of_old, None);
        let new = in_order_of(&old, items(after, new, &common_of_new, Some(renaming)), renaming);
        let mut both = [old, new];
        note_what_is_common(&mut both);
        let (mut remarks, mut declarations) = (0, 0);
        if !everything {
            for items in &mut both {
                let changed = items.iter().filter(|item| item.kind == Kind::Code && !item.common);
                let of_changed = changed.filter_map(|item| item.inst.as_ref());
                let needed: HashSet<&str, FxBuildHasher> =
                    of_changed.flat_map(|inst| inst.operands.iter().copied()).collect();
                items.retain(|item| match item.kind {
                    Kind::Remark => {
                        remarks += usize::from(!item.common && !item.written.text.is_empty());
                        false
                    }
                    Kind::Declaration => {
                        let constant = item.inst.as_ref().filter(|inst| is_constant(inst));
                        let is_needed =
                            constant.and_then(|inst| inst.result).is_some_and(|id| needed.contains(id));
                        declarations += usize::from(!item.common && !is_needed);
                        item.common || is_needed
                    }
                    Kind::Code => true,
                });
            }
        }
        let lines = both.map(|items| items.into_iter().map(|item| item.written).collect());
        Told { lines, remarks, declarations, too_long: renaming.too_long }
    }
}

/// The lines of a text. `common` has the ids that the other text has, too.
fn items<'t>(
    text: &'t str,
    listing: &Listing<'t>,
    common: &HashSet<&'t str, FxBuildHasher>,
    renaming: Option<&Renaming<'t>>,
) -> Vec<Item<'t>> {
    let variables = listing.definitions.iter().filter(|inst| inst.opcode == "OpVariable");
    let variables: HashSet<&str, FxBuildHasher> = variables.filter_map(|inst| inst.result).collect();
    let first = listing.functions.first().and_then(|function| function.code.first());
    let mut part = 0;
    let mut items = Vec::new();
    let mut parsed = insts(text).peekable();
    for (line, text) in (1..).zip(text.lines()) {
        part = part.max(usize::from(first.is_some_and(|first| line >= first.line)));
        let inst = parsed.next_if(|inst| inst.line == line);
        let kind = match &inst {
            None => Kind::Remark,
            Some(inst) if inst.is_debug => Kind::Remark,
            Some(inst) if part == 0 => kind_of_global(inst, common, &variables),
            Some(_) => Kind::Code,
        };
        let text = match &inst {
            None => text.trim().to_owned(),
            Some(inst) => in_names(inst, renaming),
        };
        let ends = inst.as_ref().is_some_and(|inst| inst.opcode == "OpFunctionEnd");
        items.push(Item { written: Written { line, text }, kind, inst, part, common: false });
        part += usize::from(ends);
    }
    items
}

fn kind_of_global(
    inst: &Inst<'_>,
    common: &HashSet<&str, FxBuildHasher>,
    variables: &HashSet<&str, FxBuildHasher>,
) -> Kind {
    let is_known = |id: &str| common.contains(id) || variables.contains(id);
    let declares = match inst.result {
        Some(id) => (inst.opcode.starts_with("OpType") || is_constant(inst)) && !is_known(id),
        None => {
            let is_decoration = inst.opcode.contains("Decorate");
            is_decoration && inst.operands.first().is_some_and(|target| !is_known(target))
        }
    };
    if declares {
        Kind::Declaration
    } else {
        Kind::Code
    }
}

/// An instruction with one space between its words.
pub(super) fn in_names<'t>(inst: &Inst<'t>, renaming: Option<&Renaming<'t>>) -> String {
    let mut text = String::new();
    let mut push = |word: &'t str| match renaming.filter(|_| word.starts_with('%')) {
        Some(renaming) => text.push_str(&renaming.name(word)),
        None => text.push_str(word),
    };
    if let Some(result) = inst.result {
        push(result);
        push(" = ");
    }
    push(inst.opcode);
    for operand in &inst.operands {
        push(" ");
        push(operand);
    }
    text
}

fn note_what_is_common(both: &mut [Vec<Item<'_>>; 2]) {
    let mut counts: HashMap<&str, [usize; 2], FxBuildHasher> = HashMap::default();
    for (side, items) in both.iter().enumerate() {
        for item in items {
            counts.entry(&item.written.text).or_default()[side] += 1;
        }
    }
    let common = |item: &Item<'_>| counts.get(item.written.text.as_str()).is_none_or(|[old, new]| old == new);
    let flags: Vec<Vec<bool>> = both.iter().map(|items| items.iter().map(common).collect()).collect();
    for (item, flag) in both.iter_mut().flatten().zip(flags.into_iter().flatten()) {
        item.common = flag;
    }
}

/// The lines of after in the order of before: functions as they are paired, and in front of them lines that are the same.
/// Everything else stays behind what it stands behind.
fn in_order_of<'t>(old: &[Item<'t>], mut new: Vec<Item<'t>>, renaming: &Renaming<'_>) -> Vec<Item<'t>> {
    let part_of_old: BTreeMap<usize, usize> =
        renaming.functions.iter().map(|(old, new)| (new + 1, old + 1)).collect();
    let mut lines_of_old: HashMap<&str, Vec<usize>, FxBuildHasher> = HashMap::default();
    let globals = old.iter().enumerate().take_while(|(_, item)| item.part == 0);
    for (at, item) in globals.collect::<Vec<_>>().into_iter().rev() {
        lines_of_old.entry(&item.written.text).or_default().push(at);
    }
    let (mut part, mut last) = (0, 0);
    let mut places: Vec<(usize, usize)> = Vec::with_capacity(new.len());
    for item in &new {
        if item.part == 0 {
            let same = lines_of_old.get_mut(item.written.text.as_str()).and_then(Vec::pop);
            last = same.map_or(last, |at| at + 1);
            places.push((0, last));
        } else {
            part = part_of_old.get(&item.part).copied().unwrap_or(part);
            // Functions that have no counterpart come behind the one that they stand behind.
            places.push((part.max(1), item.part * usize::from(!part_of_old.contains_key(&item.part))));
        }
    }
    let mut order: Vec<usize> = (0..new.len()).collect();
    order.sort_by_key(|at| places[*at]);
    let mut taken: Vec<Option<Item<'t>>> = new.drain(..).map(Some).collect();
    order.into_iter().filter_map(|at| taken[at].take()).collect()
}

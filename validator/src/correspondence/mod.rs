//! Which instructions of two modules correspond. Ids shift from one to the other, so that they say nothing.
//!
//! Types, constants and global variables are what they are made of, with their decorations. Functions are matched by their
//! entry points, then by content, then in their order. Inside of two functions instructions are matched as a sequence, by
//! opcode, literals and what is global of their operands (`matching.rs`). [`changed`] says what has no counterpart: those
//! whose other operands do not correspond count, too. A [`Correspondence`] writes both texts for a diff, with one name
//! for what is the same (`renaming.rs`), and says in words what was changed ([`Correspondence::changes`]).

mod changes;
mod listing;
mod literals;
mod matching;
mod renaming;
mod texts;

#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use rustc_hash::FxBuildHasher;

use crate::ir::Line;
use listing::Listing;
use matching::{keys, matched, matched_functions, Key};

use changes::PairOfFunctions;
use renaming::Renaming;

pub use changes::{Change, ChangeKind};
pub(crate) use listing::{insts, Inst};
pub(crate) use literals::bits;
pub use texts::{Told, Written};

/// The texts of two modules, before first, in parts.
pub struct Texts<'t> {
    texts: [&'t str; 2],
    listings: [Listing<'t>; 2],
}

impl<'t> Texts<'t> {
    /// Takes two texts apart.
    pub fn of(before: &'t str, after: &'t str) -> Self {
        Texts { texts: [before, after], listings: [Listing::of(before), Listing::of(after)] }
    }

    /// Finds out what corresponds.
    pub fn matched(&self) -> Correspondence<'_, 't> {
        let [before, after] = &self.listings;
        Correspondence { texts: self, renaming: Renaming::of(before, after), pairs: OnceCell::new() }
    }
}

/// What corresponds in two texts.
pub struct Correspondence<'l, 't> {
    texts: &'l Texts<'t>,
    renaming: Renaming<'t>,
    /// The functions that correspond, instruction by instruction; found when they are asked for.
    pairs: OnceCell<Vec<PairOfFunctions<'l, 't>>>,
}

impl<'l, 't> Correspondence<'l, 't> {
    fn listings(&self) -> [&'l Listing<'t>; 2] {
        self.texts.listings.each_ref()
    }
}

/// The lines in functions of each of two texts to which nothing in the other corresponds.
pub fn changed(before: &str, after: &str) -> [BTreeSet<Line>; 2] {
    changed_in(&Listing::of(before), &Listing::of(after))
}

/// The same, each with the lines of the instructions of the same function whose results it takes.
pub fn changed_with_operands(before: &str, after: &str) -> [Vec<(Line, Vec<Line>)>; 2] {
    let (before, after) = (Listing::of(before), Listing::of(after));
    let [gone, new] = changed_in(&before, &after);
    [operands(&before, &gone), operands(&after, &new)]
}

fn changed_in(before: &Listing<'_>, after: &Listing<'_>) -> [BTreeSet<Line>; 2] {
    let mut changed = [BTreeSet::new(), BTreeSet::new()];
    let pairs = matched_functions(before, after);
    let ids: HashMap<&str, &str, FxBuildHasher> = pairs
        .iter()
        .filter_map(|(old, new)| Some((before.functions.get(*old)?.id, after.functions.get(*new)?.id)))
        .collect();
    for (old, new) in &pairs {
        if let (Some(old), Some(new)) = (before.functions.get(*old), after.functions.get(*new)) {
            let (old, new) = (keys(old, before, &before.globals), keys(new, after, &after.globals));
            compare(&old, &new, &ids, &mut changed);
        }
    }
    let [gone, new] = &mut changed;
    let (old_of, new_of): (BTreeSet<usize>, BTreeSet<usize>) = pairs.into_iter().unzip();
    for (listing, known, changed) in [(before, &old_of, gone), (after, &new_of, new)] {
        let others = listing.functions.iter().enumerate().filter(|(number, _)| !known.contains(number));
        changed.extend(others.flat_map(|(_, function)| &function.code).map(|inst| inst.line));
    }
    changed
}

/// For each of these lines in functions, the lines of the instructions of the same function whose results it takes.
fn operands(listing: &Listing<'_>, lines: &BTreeSet<Line>) -> Vec<(Line, Vec<Line>)> {
    let mut found = Vec::new();
    for function in &listing.functions {
        let defined: HashMap<&str, Line, FxBuildHasher> =
            function.code.iter().filter_map(|inst| Some((inst.result?, inst.line))).collect();
        for inst in function.code.iter().filter(|inst| lines.contains(&inst.line)) {
            let mut operands: Vec<Line> =
                inst.operands.iter().filter_map(|operand| defined.get(operand).copied()).collect();
            operands.dedup();
            found.push((inst.line, operands));
        }
    }
    found
}

/// Adds the lines of two functions that do not correspond.
fn compare<'t>(
    before: &[Key<'_, 't>],
    after: &[Key<'_, 't>],
    functions: &HashMap<&'t str, &'t str, FxBuildHasher>,
    [gone, new]: &mut [BTreeSet<Line>; 2],
) {
    let matched = matched(before, after).unwrap_or_default();
    let mut ids: HashMap<&str, &str, FxBuildHasher> = functions.clone();
    for (old, new) in &matched {
        if let (Some(old), Some(new)) = (before[*old].inst.result, after[*new].inst.result) {
            ids.insert(old, new);
        }
    }
    let targets: BTreeSet<&str> = ids.values().copied().collect();
    let mut kept = [BTreeSet::new(), BTreeSet::new()];
    for (old, new) in matched {
        let (old, new) = (&before[old], &after[new]);
        let mut operands = old.local.iter().zip(&new.local);
        // What is new on both sides may take each other's place.
        let corresponds = operands.all(|(old, new)| match ids.get(old) {
            Some(known) => known == new,
            None => !targets.contains(new),
        });
        if corresponds && old.local.len() == new.local.len() {
            kept[0].insert(old.inst.line);
            kept[1].insert(new.inst.line);
        }
    }
    gone.extend(before.iter().map(|key| key.inst.line).filter(|line| !kept[0].contains(line)));
    new.extend(after.iter().map(|key| key.inst.line).filter(|line| !kept[1].contains(line)));
}

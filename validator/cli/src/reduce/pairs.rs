//! Which instructions of a pair correspond, as the reducer takes it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use similar::{capture_diff_slices, Algorithm, DiffOp};
use spirv_tv::correspondence::{Texts, Written};
use spirv_tv::module::Module;

/// The indices of instructions that correspond, of before first.
pub(super) fn corresponding(before: &Module, after: &Module) -> Vec<(usize, usize)> {
    let texts = Texts::of(before.text.as_str(), after.text.as_str());
    let [old, new] = texts.matched().in_names_of_before(true).lines;
    let lines = [by_line(before), by_line(after)];
    let index = |side: usize, written: &Written| lines.get(side)?.get(&written.line).copied();
    let words = |all: &[Written]| all.iter().map(|written| written.text.clone()).collect::<Vec<_>>();
    let mut pairs: BTreeMap<usize, usize> = BTreeMap::new();
    for op in capture_diff_slices(Algorithm::Myers, &words(&old), &words(&new)) {
        let DiffOp::Equal { old_index, new_index, len } = op else { continue };
        let both = old.iter().skip(old_index).zip(new.iter().skip(new_index)).take(len);
        pairs.extend(both.filter_map(|(old, new)| Some((index(0, old)?, index(1, new)?))));
    }
    // What was moved has the same text in another place.
    let mut taken: BTreeSet<usize> = pairs.values().copied().collect();
    let mut elsewhere: HashMap<&str, Vec<usize>> = HashMap::new();
    for written in old.iter().rev() {
        if let Some(index) = index(0, written).filter(|index| !pairs.contains_key(index)) {
            elsewhere.entry(&written.text).or_default().push(index);
        }
    }
    for written in &new {
        let Some(own) = index(1, written).filter(|own| !taken.contains(own)) else { continue };
        if let Some(theirs) = elsewhere.get_mut(written.text.as_str()).and_then(Vec::pop) {
            pairs.insert(theirs, own);
            taken.insert(own);
        }
    }
    // What has one name is the same, even if its operands differ.
    let mut named: HashMap<(&str, &str), usize> = HashMap::new();
    for written in &old {
        if let (Some(name), Some(index)) = (result(&written.text), index(0, written)) {
            named.insert(name, index);
        }
    }
    for written in &new {
        let (Some(name), Some(own)) = (result(&written.text), index(1, written)) else { continue };
        let Some(theirs) = named.get(&name).copied() else { continue };
        if !pairs.contains_key(&theirs) && taken.insert(own) {
            pairs.insert(theirs, own);
        }
    }
    pairs.into_iter().collect()
}

/// Instructions by their lines.
fn by_line(module: &Module) -> HashMap<spirv_tv::ir::Line, usize> {
    (0..module.len()).map(|index| (module.line(index), index)).collect()
}

/// The result that a line has, with its opcode.
fn result(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(" = ")?;
    Some((name, rest.split(' ').next()?))
}

//! Functions and instructions of two modules that are alike.

use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHasher};
use similar::{Algorithm, DiffOp};

use super::listing::{Function, Globals, Inst, Listing};
use super::literals::canonical;

/// Lines of a pair of functions beyond which they are compared by length alone: matching takes as long as both together
/// times what differs.
pub(super) const MOST_LINES: usize = 20_000;

/// How far back an instruction's operands are followed to tell it from others.
const DEPTH: usize = 3;

/// An instruction as it is compared.
pub(super) struct Key<'f, 't> {
    pub(super) inst: &'f Inst<'t>,
    /// Of everything that means the same in both modules.
    pub(super) hash: u64,
    /// Also of what computes its other operands.
    pub(super) deep: u64,
    /// Also of the result's name, if it has one.
    pub(super) named: Option<u64>,
    /// The other operands.
    pub(super) local: Vec<&'t str>,
}

/// The instructions of a function, where `globals` says what means the same.
pub(super) fn keys<'f, 't>(
    function: &'f Function<'t>,
    listing: &Listing<'t>,
    globals: &Globals<'_>,
) -> Vec<Key<'f, 't>> {
    let key = |inst: &'f Inst<'t>| {
        let mut hasher = FxHasher::default();
        inst.opcode.hash(&mut hasher);
        inst.result.is_some().hash(&mut hasher);
        let mut local = Vec::new();
        for operand in &inst.operands {
            match globals.get(operand) {
                Some(content) => content.hash(&mut hasher),
                None if operand.starts_with('%') => {
                    "%".hash(&mut hasher);
                    local.push(*operand);
                }
                None => canonical(operand).hash(&mut hasher),
            }
        }
        let hash = hasher.finish();
        let named = inst.result.and_then(|id| listing.name(id)).map(|name| {
            name.hash(&mut hasher);
            hasher.finish()
        });
        Key { inst, hash, deep: hash, named, local }
    };
    let mut keys: Vec<Key<'f, 't>> = function.code.iter().map(key).collect();
    for _ in 0..DEPTH {
        let of_result: Globals<'_> =
            keys.iter().filter_map(|key| Some((key.inst.result?, key.deep))).collect();
        for key in &mut keys {
            let mut hasher = FxHasher::default();
            key.hash.hash(&mut hasher);
            key.local.iter().for_each(|id| of_result.get(id).hash(&mut hasher));
            key.deep = hasher.finish();
        }
    }
    keys
}

/// Of all keys of a function.
fn content(function: &Function<'_>, listing: &Listing<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    keys(function, listing, &listing.globals).iter().for_each(|key| key.hash.hash(&mut hasher));
    hasher.finish()
}

/// Pairs of functions, as indices.
pub(super) fn matched_functions(before: &Listing<'_>, after: &Listing<'_>) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let [entry_of_old, entry_of_new] = [before, after].map(|listing| {
        let entry = |function: &Function<'_>| listing.entries.get(function.id).copied();
        listing.functions.iter().map(entry).collect::<Vec<_>>()
    });
    let [content_of_old, content_of_new] = [before, after].map(|listing| {
        let functions = listing.functions.iter();
        functions.map(|function| Some(content(function, listing))).collect::<Vec<_>>()
    });
    pair_up(&entry_of_old, &entry_of_new, &mut pairs);
    pair_up(&content_of_old, &content_of_new, &mut pairs);
    let free = |number: &usize, used: &dyn Fn(&(usize, usize)) -> usize| {
        pairs.iter().all(|pair| used(pair) != *number)
    };
    let old: Vec<usize> = (0..before.functions.len()).filter(|number| free(number, &|pair| pair.0)).collect();
    let new: Vec<usize> = (0..after.functions.len()).filter(|number| free(number, &|pair| pair.1)).collect();
    // What is left of as many: in their order.
    if old.len() == new.len() {
        pairs.extend(old.into_iter().zip(new));
    }
    pairs
}

/// Pairs the first of each that have the same and are not paired.
fn pair_up<T: PartialEq>(old: &[Option<T>], new: &[Option<T>], pairs: &mut Vec<(usize, usize)>) {
    for (number, value) in old.iter().enumerate().filter(|(_, value)| value.is_some()) {
        if pairs.iter().any(|(known, _)| *known == number) {
            continue;
        }
        let is_free = |other: usize| pairs.iter().all(|(_, known)| *known != other);
        let other = new.iter().enumerate().find(|(other, own)| *own == value && is_free(*other));
        if let Some((other, _)) = other {
            pairs.push((number, other));
        }
    }
}

/// Instructions of two sequences that are alike, as indices, in the order of both; `None` where they are too long to
/// be compared. First those with the same ids, where most have them, and those with one name; between these those whose operands are computed alike, too; then the others.
pub(super) fn matched(before: &[Key<'_, '_>], after: &[Key<'_, '_>]) -> Option<Vec<(usize, usize)>> {
    let equal = before.len() == after.len()
        && before.iter().zip(after).all(|(old, new)| (old.hash, old.deep) == (new.hash, new.deep));
    if before.len().max(after.len()) > MOST_LINES && !equal {
        return None;
    }
    // Where ids do not shift, what has the same ids is the same.
    let matched = match have_ids_in_common(before, after) {
        true => refined(before, after, &[], |key| Some(with_ids(key))),
        false => Vec::new(),
    };
    let matched = refined(before, after, &matched, |key| key.named);
    let matched = refined(before, after, &matched, |key| Some(key.deep));
    Some(refined(before, after, &matched, |key| Some(key.hash)))
}

/// Of an instruction with its ids, and with what computes its operands.
fn with_ids(key: &Key<'_, '_>) -> u64 {
    let mut hasher = FxHasher::default();
    (key.deep, key.inst.result, &key.inst.operands).hash(&mut hasher);
    hasher.finish()
}

/// Whether most instructions of the shorter one of two sequences are in the other one, with the same ids.
fn have_ids_in_common(before: &[Key<'_, '_>], after: &[Key<'_, '_>]) -> bool {
    let (short, long) = if before.len() < after.len() { (before, after) } else { (after, before) };
    let known: HashSet<u64, FxBuildHasher> = long.iter().map(with_ids).collect();
    let common = short.iter().filter(|key| known.contains(&with_ids(key))).count();
    common * 4 > short.len() * 3
}

/// `matched`, and what is alike between that: a longest common subsequence of what `value` says.
fn refined(
    before: &[Key<'_, '_>],
    after: &[Key<'_, '_>],
    matched: &[(usize, usize)],
    value: impl Fn(&Key<'_, '_>) -> Option<u64>,
) -> Vec<(usize, usize)> {
    let valued = |keys: &[Key<'_, '_>], first: usize| -> Vec<(u64, usize)> {
        (first..).zip(keys).filter_map(|(at, key)| Some((value(key)?, at))).collect()
    };
    let mut all = Vec::with_capacity(before.len().min(after.len()));
    let (mut old, mut new) = (0, 0);
    for pair in matched.iter().copied().map(Some).chain([None]) {
        let (next_old, next_new) = pair.unwrap_or((before.len(), after.len()));
        let (olds, news) = (valued(&before[old..next_old], old), valued(&after[new..next_new], new));
        all.extend(common(&olds, &news, |(value, _)| *value).map(|(at, other)| (olds[at].1, news[other].1)));
        all.extend(pair);
        (old, new) = (next_old + 1, next_new + 1);
    }
    all
}

/// A longest common subsequence of what `value` says of two parts, as indices.
pub(super) fn common<T, V: Hash + Ord>(
    before: &[T],
    after: &[T],
    value: impl Fn(&T) -> V,
) -> impl Iterator<Item = (usize, usize)> {
    let [old, new] = [before, after].map(|part| part.iter().map(&value).collect::<Vec<V>>());
    let ops = match old.is_empty() || new.is_empty() {
        true => Vec::new(),
        false => similar::capture_diff_slices(Algorithm::Myers, &old, &new),
    };
    ops.into_iter().flat_map(|op| {
        let len = if let DiffOp::Equal { len, .. } = op { len } else { 0 };
        op.old_range().zip(op.new_range()).take(len)
    })
}

/// What each id of one map means, by the ids of the other.
pub(super) type Ids<'t> = HashMap<&'t str, &'t str, FxBuildHasher>;

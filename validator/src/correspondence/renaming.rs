//! Before's names for what after has of it.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxBuildHasher, FxHasher};

use super::listing::{Globals, Inst, Listing};
use super::matching::{common, keys, matched, matched_functions, Ids, Key};

/// Names of before for ids of after.
pub(super) struct Renaming<'t> {
    /// By the id of after.
    of_after: Ids<'t>,
    /// All ids of before.
    taken: HashSet<&'t str, FxBuildHasher>,
    /// Pairs of functions, as indices.
    pub(super) functions: Vec<(usize, usize)>,
    /// How many of these pairs are too long to be matched.
    pub(super) too_long: usize,
}

impl<'t> Renaming<'t> {
    pub(super) fn of(before: &Listing<'t>, after: &Listing<'t>) -> Self {
        let functions = matched_functions(before, after);
        let mut pairs = Pairs { before, after, of_after: Ids::default(), used: HashSet::default() };
        for (old, new) in &functions {
            pairs.pair(before.functions[*old].id, after.functions[*new].id);
        }
        pairs.globals_of_one_content();
        pairs.globals_of_one_form();
        let too_long = pairs.bodies(&functions);
        pairs.globals_of_one_form();
        pairs.globals_in_order();
        let of_after = pairs.of_after;
        let results = |listing: &Listing<'t>| {
            let code = listing.functions.iter().flat_map(|function| &function.code);
            let all = listing.definitions.iter().chain(code);
            all.filter_map(|inst| inst.result).collect::<HashSet<&'t str, FxBuildHasher>>()
        };
        Renaming { of_after, taken: results(before), functions, too_long }
    }

    /// What an id of after is called.
    pub(super) fn name(&self, id: &'t str) -> Cow<'t, str> {
        match self.of_after.get(id) {
            Some(name) => Cow::Borrowed(name),
            None if self.taken.contains(id) => Cow::Owned(format!("%after_{}", id.trim_start_matches('%'))),
            None => Cow::Borrowed(id),
        }
    }

    /// The ids of each module that the other has, too.
    pub(super) fn common(&self) -> [HashSet<&'t str, FxBuildHasher>; 2] {
        [self.of_after.values().copied().collect(), self.of_after.keys().copied().collect()]
    }
}

/// Constants are what they are made of: another value is never the same constant.
pub(super) fn is_constant(inst: &Inst<'_>) -> bool {
    inst.opcode.starts_with("OpConstant") || inst.opcode == "OpUndef"
}

/// What is paired so far.
struct Pairs<'l, 't> {
    before: &'l Listing<'t>,
    after: &'l Listing<'t>,
    of_after: Ids<'t>,
    /// Ids of before that are paired.
    used: HashSet<&'t str, FxBuildHasher>,
}

impl<'l, 't> Pairs<'l, 't> {
    /// Pairs two ids that are not paired. Returns whether that was so.
    fn pair(&mut self, old: &'t str, new: &'t str) -> bool {
        let free = !self.used.contains(old) && !self.of_after.contains_key(new);
        if free {
            self.used.insert(old);
            self.of_after.insert(new, old);
        }
        free
    }

    fn pair_each(&mut self, pairs: impl Iterator<Item = (&'t str, &'t str)>) {
        for (old, new) in pairs {
            self.pair(old, new);
        }
    }

    /// The global definitions of both that are not paired.
    fn left(&self) -> [Vec<&'l Inst<'t>>; 2] {
        let is_old = |inst: &&Inst<'t>| inst.result.is_some_and(|id| !self.used.contains(id));
        let is_new = |inst: &&Inst<'t>| inst.result.is_some_and(|id| !self.of_after.contains_key(id));
        [
            self.before.definitions.iter().filter(is_old).collect(),
            self.after.definitions.iter().filter(is_new).collect(),
        ]
    }

    /// Those made of the same: with the same name, else in order, where both have as many.
    fn globals_of_one_content(&mut self) {
        let mut groups: HashMap<u64, [Vec<&'t str>; 2], FxBuildHasher> = HashMap::default();
        let mut order = Vec::new();
        for (side, listing) in [self.before, self.after].into_iter().enumerate() {
            for id in listing.definitions.iter().filter_map(|inst| inst.result) {
                let Some(content) = listing.globals.get(id) else { continue };
                let group = groups.entry(*content).or_insert_with(|| {
                    order.push(*content);
                    Default::default()
                });
                group[side].push(id);
            }
        }
        for content in order {
            let Some([old, new]) = groups.get(&content) else { continue };
            if old.len().max(new.len()) > 1 {
                self.of_one_name(old, new);
            }
            let old: Vec<&str> = old.iter().copied().filter(|id| !self.used.contains(id)).collect();
            let new: Vec<&str> = new.iter().copied().filter(|id| !self.of_after.contains_key(id)).collect();
            if old.len() == new.len() {
                self.pair_each(old.into_iter().zip(new));
            }
        }
    }

    fn of_one_name(&mut self, old: &[&'t str], new: &[&'t str]) {
        for new in new {
            let Some(name) = self.after.name(new) else { continue };
            let same = old.iter().find(|old| self.before.name(old) == Some(name));
            if let Some(old) = same {
                self.pair(old, new);
            }
        }
    }

    /// Those that are the same where what they are made of is called by before's names, or that have one name.
    fn globals_of_one_form(&mut self) {
        loop {
            let [old, new] = self.left();
            let mut of_form: HashMap<Vec<&str>, Vec<&Inst<'t>>, FxBuildHasher> = HashMap::default();
            for inst in old.iter().rev() {
                let form: Vec<&str> =
                    std::iter::once(inst.opcode).chain(inst.operands.iter().copied()).collect();
                of_form.entry(form).or_default().push(inst);
            }
            let mut found = false;
            for inst in &new {
                let operands = inst.operands.iter().map(|operand| match operand.starts_with('%') {
                    true => self.of_after.get(operand).copied(),
                    false => Some(*operand),
                });
                let form: Option<Vec<&str>> = std::iter::once(Some(inst.opcode)).chain(operands).collect();
                let other = form.and_then(|form| of_form.get_mut(&form)?.pop());
                if let Some((old, new)) = other.and_then(|other| other.result).zip(inst.result) {
                    found |= self.pair(old, new);
                }
            }
            for inst in new.iter().filter(|inst| !is_constant(inst)) {
                let Some((id, name)) = inst.result.and_then(|id| Some((id, self.after.name(id)?))) else {
                    continue;
                };
                let named = |old: &&&Inst<'t>| {
                    let other = old.result.and_then(|id| self.before.name(id));
                    old.opcode == inst.opcode && other == Some(name)
                };
                if let Some(old) = old.iter().find(named).and_then(|old| old.result) {
                    found |= self.pair(old, id);
                }
            }
            if !found {
                return;
            }
        }
    }

    /// Structures and variables that are left over, if they are as many.
    fn globals_in_order(&mut self) {
        for opcode in ["OpTypeStruct", "OpVariable"] {
            let [old, new] = self.left().map(|left| {
                let like = left.into_iter().filter(|inst| inst.opcode == opcode);
                like.filter_map(|inst| inst.result).collect::<Vec<&'t str>>()
            });
            if old.len() == new.len() {
                self.pair_each(old.into_iter().zip(new));
                self.globals_of_one_form();
            }
        }
    }

    /// What means the same in both modules, by the ids of each: paired globals, and what those that are not are made of.
    fn meanings(&self) -> [Globals<'t>; 2] {
        let hash = |id: &str| {
            let mut hasher = FxHasher::default();
            id.hash(&mut hasher);
            hasher.finish()
        };
        let meaning = |listing: &Listing<'t>, name: &dyn Fn(&'t str) -> Option<&'t str>| {
            let of = |(id, content): (&&'t str, &u64)| (*id, name(id).map_or(*content, hash));
            let mut meanings: Globals<'t> = listing.globals.iter().map(of).collect();
            let functions = listing.functions.iter().map(|function| function.id);
            meanings.extend(functions.filter_map(|id| Some((id, hash(name(id)?)))));
            meanings
        };
        [
            meaning(self.before, &|id| self.used.contains(id).then_some(id)),
            meaning(self.after, &|id| self.of_after.get(id).copied()),
        ]
    }

    /// The results of functions. Returns how many pairs are too long to be matched.
    fn bodies(&mut self, functions: &[(usize, usize)]) -> usize {
        let (before, after) = (self.before, self.after);
        let [meaning_of_old, meaning_of_new] = self.meanings();
        let mut too_long = 0;
        let (mut alike, mut moved) = (Vec::<[&'l Inst<'t>; 2]>::new(), Vec::new());
        let mut gaps: Vec<[Vec<&'l Inst<'t>>; 2]> = Vec::new();
        for (old, new) in functions {
            let old = keys(&before.functions[*old], before, &meaning_of_old);
            let new = keys(&after.functions[*new], after, &meaning_of_new);
            let Some(matched) = matched(&old, &new) else {
                too_long += 1;
                continue;
            };
            gaps.extend(between(&old, &new, &matched));
            moved.extend(elsewhere(&old, &new, &matched));
            alike.extend(matched.into_iter().map(|(at, other)| [old[at].inst, new[other].inst]));
        }
        alike.extend(moved);
        for [old, new] in &gaps {
            let paired = common(old, new, |inst| inst.opcode);
            alike.extend(paired.map(|(at, other)| [old[at], new[other]]));
        }
        self.pair_each(alike.iter().filter_map(|[old, new]| old.result.zip(new.result)));
        self.by_use(&alike);
        for [old, new] in gaps {
            // A block never takes the name of a value.
            for labels in [true, false] {
                let is_one = |inst: &&Inst<'t>| (inst.opcode == "OpLabel") == labels;
                let old = old.iter().copied().filter(is_one);
                let new = new.iter().copied().filter(is_one);
                let is_free = |inst: &&Inst<'t>| inst.result.is_some_and(|id| !self.used.contains(id));
                let old: Vec<&Inst<'t>> = old.filter(is_free).collect();
                let is_free =
                    |inst: &&Inst<'t>| inst.result.is_some_and(|id| !self.of_after.contains_key(id));
                let new: Vec<&Inst<'t>> = new.filter(is_free).collect();
                // Nor does a value take the name of one of another type, or of another instruction that takes nothing of
                // what it takes.
                let is_like = |(old, new): &(&Inst<'t>, &Inst<'t>)| {
                    let ty = new.operands.first().and_then(|ty| self.of_after.get(ty));
                    labels
                        || (ty == old.operands.first() && (old.opcode == new.opcode || self.shares(old, new)))
                };
                if old.len() == new.len() {
                    let pairs = old.into_iter().zip(new).filter(is_like);
                    let pairs: Vec<_> = pairs.filter_map(|(old, new)| old.result.zip(new.result)).collect();
                    self.pair_each(pairs.into_iter());
                }
            }
        }
        too_long
    }

    /// Whether two instructions take one value that functions compute.
    fn shares(&self, old: &Inst<'t>, new: &Inst<'t>) -> bool {
        let taken = |inst: &Inst<'t>| inst.operands.iter().skip(1).copied().collect::<Vec<&'t str>>();
        let known = taken(old);
        let is_local = |id: &&'t str| !self.before.globals.contains_key(id);
        let mut names = taken(new).into_iter().filter_map(|id| self.of_after.get(id).copied());
        names.any(|name| is_local(&name) && known.contains(&name))
    }

    /// What is used in one place: the pair that most instructions use in one place first.
    fn by_use(&mut self, alike: &[[&'l Inst<'t>; 2]]) {
        let constants = |listing: &'l Listing<'t>| {
            let definitions = listing.definitions.iter().filter(|inst| is_constant(inst));
            definitions.filter_map(|inst| inst.result)
        };
        let constants: HashSet<&str, FxBuildHasher> =
            constants(self.before).chain(constants(self.after)).collect();
        let [before, after] = [self.before, self.after].map(declared);
        let kind = |side: usize, id: &str| [&before, &after][side].get(id).copied();
        let mut votes: HashMap<(&'t str, &'t str), (usize, usize), FxBuildHasher> = HashMap::default();
        for [old, new] in alike.iter().filter(|[old, new]| old.operands.len() == new.operands.len()) {
            for (old, new) in old.operands.iter().copied().zip(new.operands.iter().copied()) {
                let are_ids = old.starts_with('%') && new.starts_with('%');
                let fixed =
                    constants.contains(old) || constants.contains(new) || kind(0, old) != kind(1, new);
                if are_ids && !fixed && !self.used.contains(old) && !self.of_after.contains_key(new) {
                    let first = votes.len();
                    votes.entry((old, new)).or_insert((0, first)).0 += 1;
                }
            }
        }
        let mut votes: Vec<_> = votes.into_iter().collect();
        votes.sort_by_key(|(_, (count, first))| (std::cmp::Reverse(*count), *first));
        self.pair_each(votes.into_iter().map(|(pair, _)| pair));
    }
}

/// What ids are declared as, which are no values: one never takes the name of another.
fn declared<'t>(listing: &Listing<'t>) -> HashMap<&'t str, &'t str, FxBuildHasher> {
    let code = listing.functions.iter().flat_map(|function| &function.code);
    let is_declaration = |inst: &&Inst<'t>| {
        matches!(inst.opcode, "OpVariable" | "OpLabel" | "OpFunctionParameter" | "OpFunction")
            || inst.opcode.starts_with("OpType")
    };
    let all = listing.definitions.iter().chain(code).filter(is_declaration);
    all.filter_map(|inst| Some((inst.result?, inst.opcode))).collect()
}

/// What lies between matched instructions, where both functions have something there.
fn between<'f, 't>(
    before: &[Key<'f, 't>],
    after: &[Key<'f, 't>],
    matched: &[(usize, usize)],
) -> Vec<[Vec<&'f Inst<'t>>; 2]> {
    let mut gaps = Vec::new();
    let (mut old, mut new) = (0, 0);
    for (next_old, next_new) in matched.iter().copied().chain([(before.len(), after.len())]) {
        if old < next_old && new < next_new {
            let part = |keys: &[Key<'f, 't>]| keys.iter().map(|key| key.inst).collect::<Vec<_>>();
            gaps.push([part(&before[old..next_old]), part(&after[new..next_new])]);
        }
        (old, new) = (next_old + 1, next_new + 1);
    }
    gaps
}

/// Instructions that are not matched and that moved: each the only one that is like the other.
fn elsewhere<'f, 't>(
    before: &[Key<'f, 't>],
    after: &[Key<'f, 't>],
    matched: &[(usize, usize)],
) -> Vec<[&'f Inst<'t>; 2]> {
    let (old_of, new_of): (HashSet<usize>, HashSet<usize>) = matched.iter().copied().unzip();
    let mut found: Vec<[&'f Inst<'t>; 2]> = Vec::new();
    for value in [|key: &Key<'_, '_>| key.named, |key: &Key<'_, '_>| Some(key.deep)] {
        let mut alike: HashMap<u64, [Vec<&'f Inst<'t>>; 2], FxBuildHasher> = HashMap::default();
        for (side, keys, known) in [(0, before, &old_of), (1, after, &new_of)] {
            let left = keys.iter().enumerate().filter(|(at, _)| !known.contains(at));
            for (value, key) in left.filter_map(|(_, key)| Some((value(key)?, key))) {
                alike.entry(value).or_default()[side].push(key.inst);
            }
        }
        let mut pairs: Vec<[&Inst<'_>; 2]> = alike
            .into_values()
            .filter_map(|both| match both.each_ref().map(Vec::as_slice) {
                [[old], [new]] => Some([*old, *new]),
                _ => None,
            })
            .collect();
        pairs.sort_by_key(|[old, _]| old.line);
        found.extend(pairs);
    }
    found
}

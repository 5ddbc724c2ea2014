//! Two functions, instruction by instruction.

use std::collections::{HashMap, HashSet};

use rustc_hash::FxBuildHasher;
use similar::{Algorithm, DiffOp};

use super::super::listing::Inst;
use super::super::matching::{common, MOST_LINES};
use super::super::renaming::Renaming;
use super::super::texts::in_names;

/// An instruction with before's names.
pub(super) struct Named<'f, 't> {
    pub(super) inst: &'f Inst<'t>,
    pub(super) result: Option<String>,
    pub(super) operands: Vec<String>,
    pub(super) text: String,
}

impl<'f, 't> Named<'f, 't> {
    pub(super) fn of(inst: &'f Inst<'t>, renaming: Option<&Renaming<'t>>) -> Self {
        let name = |id: &'t str| match renaming.filter(|_| id.starts_with('%')) {
            Some(renaming) => renaming.name(id).into_owned(),
            None => id.to_owned(),
        };
        let result = inst.result.map(name);
        let operands: Vec<String> = inst.operands.iter().map(|operand| name(operand)).collect();
        Named { inst, result, operands, text: in_names(inst, renaming) }
    }

    /// The instruction in the names of its own module, where people find it.
    pub(super) fn own_text(&self) -> String {
        in_names(self.inst, None)
    }
}

/// Two functions whose instructions are told apart; all numbers are places in `before` and `after`.
pub(super) struct Aligned<'f, 't> {
    pub(super) before: Vec<Named<'f, 't>>,
    pub(super) after: Vec<Named<'f, 't>>,
    /// The same in both.
    pub(super) same: Vec<(usize, usize)>,
    /// Changed in place.
    pub(super) changed: Vec<(usize, usize)>,
    /// The same in both, but somewhere else.
    pub(super) moved: Vec<(usize, usize)>,
    /// In before alone.
    pub(super) gone: Vec<usize>,
    /// In after alone.
    pub(super) added: Vec<usize>,
}

impl<'f, 't> Aligned<'f, 't> {
    /// `None` where they are too long to be compared.
    pub(super) fn of(before: &'f [Inst<'t>], after: &'f [Inst<'t>], renaming: &Renaming<'t>) -> Option<Self> {
        let before: Vec<Named<'_, '_>> = before.iter().map(|inst| Named::of(inst, None)).collect();
        let after: Vec<Named<'_, '_>> = after.iter().map(|inst| Named::of(inst, Some(renaming))).collect();
        let [old, new] =
            [&before, &after].map(|code| code.iter().map(|one| one.text.as_str()).collect::<Vec<_>>());
        if old.len().max(new.len()) > MOST_LINES && old != new {
            return None;
        }
        let (mut same, mut changed) = (Vec::new(), Vec::new());
        for op in similar::capture_diff_slices(Algorithm::Myers, &old, &new) {
            let (olds, news) = (op.old_range(), op.new_range());
            if let DiffOp::Equal { .. } = op {
                same.extend(olds.zip(news));
                continue;
            }
            let mut of_result: HashMap<&str, usize, FxBuildHasher> = HashMap::default();
            of_result.extend(news.clone().filter_map(|at| Some((after[at].result.as_deref()?, at))));
            let same_result = |at: usize| of_result.get(before[at].result.as_deref()?).copied();
            let own: Vec<(usize, usize)> =
                olds.clone().filter_map(|at| Some((at, same_result(at)?))).collect();
            let (of_old, of_new): (HashSet<usize>, HashSet<usize>) = own.iter().copied().unzip();
            let left_of_old: Vec<usize> = olds.filter(|at| !of_old.contains(at)).collect();
            let left_of_new: Vec<usize> = news.filter(|at| !of_new.contains(at)).collect();
            let opcodes = |left: &[usize], code: &[Named<'f, 't>]| {
                left.iter().map(|at| code[*at].inst.opcode).collect::<Vec<&str>>()
            };
            let pairs =
                common(&opcodes(&left_of_old, &before), &opcodes(&left_of_new, &after), |opcode| *opcode);
            let pairs = pairs.map(|(at, other)| (left_of_old[at], left_of_new[other]));
            changed.extend(own);
            changed.extend(pairs.filter(|(at, other)| before[*at].result == after[*other].result));
        }
        let mut aligned =
            Aligned { before, after, same, changed, moved: Vec::new(), gone: Vec::new(), added: Vec::new() };
        aligned.sort_out();
        Some(aligned)
    }

    /// What is neither the same nor changed: moved, gone or added.
    fn sort_out(&mut self) {
        let known = |side: fn(&(usize, usize)) -> usize, pairs: [&[(usize, usize)]; 2]| {
            pairs.into_iter().flatten().map(side).collect::<HashSet<usize, FxBuildHasher>>()
        };
        let pairs = [&self.same[..], &self.changed[..]];
        let (of_old, of_new) = (known(|pair| pair.0, pairs), known(|pair| pair.1, pairs));
        let mut elsewhere: HashMap<&str, Vec<usize>, FxBuildHasher> = HashMap::default();
        for at in (0..self.after.len()).rev().filter(|at| !of_new.contains(at)) {
            elsewhere.entry(&self.after[at].text).or_default().push(at);
        }
        let mut taken = HashSet::new();
        for at in (0..self.before.len()).filter(|at| !of_old.contains(at)) {
            match elsewhere.get_mut(self.before[at].text.as_str()).and_then(Vec::pop) {
                Some(other) => {
                    taken.insert(other);
                    self.moved.push((at, other));
                }
                None => self.gone.push(at),
            }
        }
        let added = (0..self.after.len()).filter(|at| !of_new.contains(at) && !taken.contains(at));
        self.added = added.collect();
    }
}

//! Functions that one module calls where the other has their code.

use rustc_hash::FxHashSet;

use super::super::listing::{Function, Inst, Listing};
use super::super::matching::common;
use super::super::renaming::Renaming;
use super::super::texts::in_names;
use super::aligned::{Aligned, Named};
use super::operands::{self, Constants};
use super::{is_flow, kind_of, name_of, noun, Change, ChangeKind, Own};
use crate::ir::Line;

/// Calls in each other that are followed.
const CALLS: usize = 8;

/// What of two functions nothing is told of yet, as places in them.
pub(super) struct Left {
    /// In before alone.
    pub(super) gone: Vec<usize>,
    /// In after alone.
    pub(super) added: Vec<usize>,
    /// Changed in place.
    pub(super) changed: Vec<(usize, usize)>,
}

impl Left {
    /// Everything that differs; a call is never the changed form of something else.
    pub(super) fn of(aligned: &Aligned<'_, '_>) -> Self {
        let is_call = |one: &Named<'_, '_>| one.inst.opcode == "OpFunctionCall";
        let is_pair =
            |(at, other): &(usize, usize)| is_call(&aligned.before[*at]) == is_call(&aligned.after[*other]);
        let (changed, apart): (Vec<_>, Vec<_>) = aligned.changed.iter().copied().partition(is_pair);
        let (old, new): (Vec<usize>, Vec<usize>) = apart.into_iter().unzip();
        let mut left = Left {
            gone: [&aligned.gone[..], &old].concat(),
            added: [&aligned.added[..], &new].concat(),
            changed,
        };
        left.gone.sort_unstable();
        left.added.sort_unstable();
        left
    }

    /// What only one side has: before, or after.
    fn alone(&mut self, side: usize) -> &mut Vec<usize> {
        match side {
            0 => &mut self.gone,
            _ => &mut self.added,
        }
    }

    /// Places of one side that may be code of a function: what it has alone, and what is paired with something else. With the
    /// place of the other side that it is paired with.
    fn of_side(&self, side: usize, is_pair: impl Fn(&(usize, usize)) -> bool) -> Vec<(usize, Option<usize>)> {
        let alone = if side == 0 { &self.gone } else { &self.added };
        let paired = self.changed.iter().filter(|pair| !is_pair(pair));
        let paired = paired.map(|(old, new)| if side == 0 { (*old, Some(*new)) } else { (*new, Some(*old)) });
        let mut all: Vec<_> = alone.iter().map(|at| (*at, None)).chain(paired).collect();
        all.sort_unstable();
        all
    }

    /// Takes the code of a function of one side out; what it was paired with is alone.
    fn take(&mut self, side: usize, code: &[(usize, Option<usize>)]) {
        let taken: FxHashSet<usize> = code.iter().map(|(at, _)| *at).collect();
        self.alone(side).retain(|at| !taken.contains(at));
        self.changed.retain(|(old, new)| !taken.contains(if side == 0 { old } else { new }));
        let others = self.alone(1 - side);
        others.extend(code.iter().filter_map(|(_, other)| *other));
        others.sort_unstable();
    }
}

/// Both modules.
pub(super) struct Modules<'a, 't> {
    pub(super) listings: [&'a Listing<'t>; 2],
    pub(super) renaming: &'a Renaming<'t>,
    pub(super) constants: &'a Constants,
    /// What the invocations of the two functions have for themselves.
    pub(super) own: [Own<'t>; 2],
}

/// An instruction of a callee or of the code in its place: what it is beside the values of its function.
struct Form {
    words: String,
    opcode: String,
}

impl<'a, 't> Modules<'a, 't> {
    /// What differs between functions that are called and their code in the other module. Takes both out of `left`.
    pub(super) fn changes(&self, aligned: &Aligned<'a, 't>, left: &mut Left) -> Vec<Change> {
        let mut found = Vec::new();
        for side in [0, 1] {
            let code = [&aligned.before, &aligned.after][side];
            let is_call = |at: &usize| code[*at].inst.opcode == "OpFunctionCall";
            let calls: Vec<usize> = left.alone(side).iter().copied().filter(is_call).collect();
            for call in calls {
                found.extend(self.inlined(aligned, side, call, left).into_iter().flatten());
            }
        }
        found
    }

    fn inlined(
        &self,
        aligned: &Aligned<'a, 't>,
        side: usize,
        call: usize,
        left: &mut Left,
    ) -> Option<Vec<Change>> {
        let sides = [&aligned.before, &aligned.after];
        let (caller, code) = (&sides[side][call], sides[1 - side]);
        let callee = self.function(side, caller.inst.operands.get(1)?)?;
        let mut body = Vec::new();
        self.collect(side, callee, CALLS, &mut body);
        let (first, end) = surroundings(aligned, side, call);
        let mut region = left.of_side(1 - side, |pair| self.is_pair(aligned, *pair));
        region.retain(|(at, _)| (first..end).contains(at));
        // Parameters and variables become variables of the caller; that is told behind everything else.
        let is_own = |at: usize| self.own[1 - side].kind_of(code[at].inst) == ChangeKind::OwnAccess;
        region.retain(|(at, _)| !is_own(*at));
        let forms = |insts: &[&Inst<'t>], side: usize| {
            insts.iter().map(|inst| self.form(inst, side)).collect::<Vec<Form>>()
        };
        let region_insts: Vec<&Inst<'t>> = region.iter().map(|(at, _)| code[*at].inst).collect();
        let (of_body, of_region) = (forms(&body, side), forms(&region_insts, 1 - side));
        let alike: Vec<(usize, usize)> = common(&of_body, &of_region, |form| form.words.clone()).collect();
        let mut pairs = between(&alike, &of_body, &of_region, |olds, news| {
            common(olds, news, |form| form.opcode.clone()).collect()
        });
        if body.is_empty() || pairs.len() * 3 < body.len() * 2 {
            return None;
        }
        // Where one instruction of each is left in one place, one was changed to the other.
        pairs = between(&pairs, &of_body, &of_region, |olds, news| match (olds, news) {
            ([old], [new]) if kind_of(&old.opcode) == kind_of(&new.opcode) => vec![(0, 0)],
            _ => Vec::new(),
        });
        let name = name_of(self.listings[side], callee);
        let mut inline: Vec<Line> = pairs.iter().map(|(_, other)| region_insts[*other].line).collect();
        inline.sort_unstable();
        let (from, to) = (*inline.first()?, *inline.last()?);
        let call_line = caller.inst.line;
        let kind = ChangeKind::Computation;
        let mut found = vec![match side {
            0 => Change {
                kind,
                lines: inline,
                lines_of_before: vec![call_line],
                sentence: format!(
                    "the call of {name} on line {call_line} of before is inlined: lines {from} to {to}"
                ),
            },
            _ => Change {
                kind,
                lines: vec![call_line],
                lines_of_before: inline,
                sentence: format!(
                    "the call of {name} on line {call_line} stands for code of before: lines {from} to {to} there"
                ),
            },
        }];
        for (at, other) in &pairs {
            found.extend(self.differing(body[*at], region_insts[*other], side));
        }
        let known: FxHashSet<usize> = pairs.iter().map(|(at, _)| *at).collect();
        let own = Own::of(self.listings[side], callee);
        let missing = body.iter().enumerate().filter(|(at, _)| !known.contains(at));
        found.extend(missing.map(|(_, inst)| missing_of(inst, side, name, own.kind_of(inst))));
        let taken: Vec<_> = pairs.iter().map(|(_, other)| region[*other]).collect();
        left.take(1 - side, &taken);
        left.alone(side).retain(|at| *at != call);
        Some(found)
    }

    /// Whether two instructions that are paired may be the same one, changed: they are of a kind, and both or neither access
    /// what an invocation has for itself.
    fn is_pair(&self, aligned: &Aligned<'a, 't>, (at, other): (usize, usize)) -> bool {
        let (old, new) = (aligned.before[at].inst, aligned.after[other].inst);
        let is_own = |inst: &Inst<'t>, side: usize| self.own[side].kind_of(inst) == ChangeKind::OwnAccess;
        old.opcode == new.opcode && is_own(old, 0) == is_own(new, 1)
    }

    fn function(&self, side: usize, id: &str) -> Option<&'a Function<'t>> {
        self.listings[side].functions.iter().find(|function| function.id == id)
    }

    /// What a function does, with the functions that it calls; its own variables, which come and go, left out.
    fn collect(&self, side: usize, function: &'a Function<'t>, depth: usize, body: &mut Vec<&'a Inst<'t>>) {
        let own = Own::of(self.listings[side], function);
        for inst in &function.code {
            let callee = match inst.opcode {
                "OpFunctionCall" => inst.operands.get(1).and_then(|id| self.function(side, id)),
                _ => None,
            };
            match (callee, depth.checked_sub(1)) {
                (Some(callee), Some(depth)) => self.collect(side, callee, depth, body),
                _ if is_structure(inst.opcode) || own.kind_of(inst) == ChangeKind::OwnAccess => {}
                _ => body.push(inst),
            }
        }
    }

    fn is_local(&self, id: &str, side: usize) -> bool {
        id.starts_with('%') && !self.listings[side].globals.contains_key(id)
    }

    fn named<'f>(&self, inst: &'f Inst<'t>, side: usize) -> Named<'f, 't> {
        Named::of(inst, (side == 1).then_some(self.renaming))
    }

    fn form(&self, inst: &Inst<'t>, side: usize) -> Form {
        let named = self.named(inst, side);
        let operands = inst.operands.iter().zip(&named.operands);
        let operands = operands.map(|(own, name)| if self.is_local(own, side) { "%" } else { name.as_str() });
        let words = std::iter::once(inst.opcode).chain(operands).collect::<Vec<&str>>().join(" ");
        Form { words, opcode: inst.opcode.to_owned() }
    }

    /// What differs about an instruction of a callee and the one in its place, beside the values of the function.
    fn differing(&self, of_body: &Inst<'t>, of_code: &Inst<'t>, side: usize) -> Vec<Change> {
        let body = self.named(of_body, side);
        let mut code = self.named(of_code, 1 - side);
        // What a function computes or is given has other names, or is known.
        let local = of_body.operands.iter().enumerate().filter(|(_, own)| self.is_local(own, side));
        for (at, _) in local {
            if let Some(operand) = code.operands.get_mut(at).filter(|operand| operand.starts_with('%')) {
                operand.clone_from(&body.operands[at]);
            }
        }
        match side {
            0 => operands::changes(&body, &code, self.constants),
            _ => operands::changes(&code, &body, self.constants),
        }
    }
}

/// Instructions that come and go with the function around them.
fn is_structure(opcode: &str) -> bool {
    is_flow(opcode) && !matches!(opcode, "OpBranchConditional" | "OpSwitch" | "OpUnreachable")
}

/// An instruction of a callee that its code in the other module does not have.
fn missing_of(inst: &Inst<'_>, side: usize, name: &str, kind: ChangeKind) -> Change {
    let (noun, line, text) = (noun(inst.opcode), inst.line, in_names(inst, None));
    match side {
        0 => Change {
            kind,
            lines: Vec::new(),
            lines_of_before: vec![line],
            sentence: format!("after's code of {name} lacks the {noun} on line {line} of before: {text}"),
        },
        _ => Change {
            kind,
            lines: vec![line],
            lines_of_before: Vec::new(),
            sentence: format!(
                "after adds the {noun} on line {line}, which before's code of {name} lacks: {text}"
            ),
        },
    }
}

/// The places of the other function that lie between what corresponds to the instructions around a call.
fn surroundings(aligned: &Aligned<'_, '_>, side: usize, call: usize) -> (usize, usize) {
    let pairs = aligned.same.iter().map(|(old, new)| if side == 0 { (*old, *new) } else { (*new, *old) });
    let (mut first, mut end) = (0, usize::MAX);
    for (own, other) in pairs.filter(|(own, _)| *own != call) {
        if own < call {
            first = first.max(other + 1);
        } else {
            end = end.min(other);
        }
    }
    (first, end)
}

/// `pairs`, and what `more` finds in the gaps between them.
fn between(
    pairs: &[(usize, usize)],
    olds: &[Form],
    news: &[Form],
    more: impl Fn(&[Form], &[Form]) -> Vec<(usize, usize)>,
) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let (mut old, mut new) = (0, 0);
    for pair in pairs.iter().copied().map(Some).chain([None]) {
        let (next_old, next_new) = pair.unwrap_or((olds.len(), news.len()));
        let found = more(&olds[old..next_old], &news[new..next_new]);
        all.extend(found.into_iter().map(|(at, other)| (at + old, other + new)));
        all.extend(pair);
        (old, new) = (next_old + 1, next_new + 1);
    }
    all
}

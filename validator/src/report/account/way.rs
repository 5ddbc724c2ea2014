//! Where an invocation goes another way in after than in before, or comes to an instruction with other values.
//!
//! Ways are compared by the blocks that were entered and that both modules have. Where they part, the branch in front says
//! why. Blocks of one module alone are passed over: then ways may part only because code was rearranged, which `is_exact`
//! tells.

use std::collections::{BTreeMap, BTreeSet};

use super::descent::{sentence, Branch, Difference};
use super::flow::{Flow, Origin};
use super::{descent, turns, Code};
use crate::correspondence::Inst;
use crate::explain::History;
use crate::ir::Line;

/// For lines of after those of before that correspond to them.
pub(super) type Counterparts = BTreeMap<Line, Line>;

/// How the ways of two histories compare.
pub(super) enum Ways {
    /// As far as both are known, they are the same.
    Same,
    /// They part at a branch.
    Part(Parting),
    /// They are not the same from these places in the histories on, and no branch that both have says why.
    Differ([usize; 2]),
}

/// Where two ways part.
pub(super) struct Parting {
    /// The branches in both histories.
    pub(super) at: [usize; 2],
    /// The lines of the blocks that they lead to.
    to: [Line; 2],
    /// Both modules have all branches up to there.
    pub(super) is_exact: bool,
}

/// Two histories of one invocation, in before and in after, with what corresponds.
pub(super) struct Both<'a, 't> {
    old: Flow<'a, 't>,
    new: Flow<'a, 't>,
    counterparts: &'a Counterparts,
    known: BTreeSet<Line>,
}

/// A block that was entered, by its place in the history, and the line of its label.
type Entered = (usize, Line);

impl<'a, 't> Both<'a, 't> {
    pub(super) fn of(
        [old, new]: [&'a History; 2],
        codes: [&'a Code<'t>; 2],
        counterparts: &'a Counterparts,
    ) -> Self {
        let known = counterparts.values().copied().collect();
        let [old, new] = [Flow { code: codes[0], history: old }, Flow { code: codes[1], history: new }];
        Both { old, new, counterparts, known }
    }

    /// Where the ways part. `ends`: before's history is whole, so that after comes to nothing that is not in it.
    pub(super) fn ways(&self, ends: bool) -> Ways {
        let Both { old, new, counterparts, known } = self;
        if !old.history.is_whole || !new.history.is_whole {
            return Ways::Same;
        }
        let (of_old, of_new) = (entered(old), entered(new));
        let mut old_left = of_old.iter().filter(|(_, line)| known.contains(line));
        let mut last: Option<[usize; 2]> = None;
        for (other, line) in &of_new {
            let Some(its) = counterparts.get(line) else { continue };
            match old_left.next() {
                Some((at, line)) if line == its => last = Some([*at, *other]),
                Some((at, _)) => return self.part(last, [*at, *other], [&of_old, &of_new]),
                None if ends => return self.part(last, [usize::MAX, *other], [&of_old, &of_new]),
                None => return Ways::Same,
            }
        }
        Ways::Same
    }

    /// The branch behind the last blocks that both have.
    fn part(&self, last: Option<[usize; 2]>, differ: [usize; 2], entered: [&[Entered]; 2]) -> Ways {
        let flows = [&self.old, &self.new];
        let after = |side: usize| last.map_or(0, |last| last[side]);
        let next = |side: usize| entered[side].iter().find(|(place, _)| *place > after(side));
        // What is in front of the next block leads to it, whether in the block that was entered last or behind a call in it.
        let found = next(0).zip(next(1)).and_then(|((old, to_old), (new, to_new))| {
            let at = [old.checked_sub(1)?, new.checked_sub(1)?];
            let leads_on =
                |side: usize| flows[side].inst(at[side]).is_some_and(|inst| is_branch(inst.opcode));
            let decides = decides(flows[0], at[0]) || decides(flows[1], at[1]);
            (decides && leads_on(0) && leads_on(1)).then_some((at, [*to_old, *to_new]))
        });
        let Some((at, to)) = found else { return Ways::Differ(differ) };
        let alone = |side: usize, is_common: &dyn Fn(Line) -> bool| {
            let mut alone =
                entered[side].iter().filter(|(place, line)| *place < at[side] && !is_common(*line));
            alone.any(|(place, _)| {
                end_of_block(flows[side], *place).is_some_and(|at| decides(flows[side], at))
            })
        };
        let is_exact = !alone(0, &|line| self.known.contains(&line))
            && !alone(1, &|line| self.counterparts.contains_key(&line));
        Ways::Part(Parting { at, to, is_exact })
    }

    /// A parting in words: the branch, then from where on its condition differs.
    pub(super) fn told(&self, parting: &Parting) -> Option<Difference> {
        let Both { old, new, .. } = self;
        let Parting { at, .. } = *parting;
        let who = new.history.invocation;
        let way = self.branch(parting);
        let decide = decides(old, at[0]) && decides(new, at[1]);
        let origin = descent::from(old, new, at).filter(|_| decide);
        let origin = origin.filter(|found| found.is_origin && found.entries != at);
        let (lines, lines_of_both, entries) = match origin {
            Some(found) => (found.lines, found.at, found.entries),
            None => {
                let lines = vec![
                    format!("before goes another way from here on (invocation {who}):"),
                    format!("  before, line {}: {}", old.line(at[0]), sentence(old, at[0])?),
                    format!("  after, line {}: {}", new.line(at[1]), sentence(new, at[1])?),
                ];
                (lines, [old.line(at[0]), new.line(at[1])], at)
            }
        };
        let branches = [old.line(at[0]), new.line(at[1])];
        let branch = Branch { invocation: who, at: branches, to: parting.to, sentence: way };
        Some(Difference { lines, at: lines_of_both, entries, is_origin: true, branch: Some(branch) })
    }

    /// `the branch on line 258 goes to the block on line 263 (before: line 260), as its condition %100, computed on line
    /// 256, is true in after and false in before`.
    fn branch(&self, Parting { at, to, .. }: &Parting) -> String {
        let Both { old, new, .. } = self;
        let (line, its) = (new.line(at[1]), old.line(at[0]));
        let its = if its == line { String::new() } else { format!(" (before: line {its})") };
        let what = if decides(new, at[1]) { "branch" } else { "unconditional branch" };
        let turn = turns::told(new, at[1]).map_or_else(String::new, |turn| format!(", {turn}"));
        let way = format!(
            "the {what} on line {line}{its} goes to the block on line {}, in before to the one on line {}{turn}",
            to[1], to[0]
        );
        let conditions = [condition(old, at[0]), condition(new, at[1])];
        match conditions {
            [Some(was), Some(is)] if was.value == is.value => {
                format!("{way} ({} is {} in both)", is.told(), is.value)
            }
            [Some(was), Some(is)] => {
                format!("{way} ({} is {} in after, {} in before)", is.told(), is.value, was.value)
            }
            [Some(was), None] if !decides(new, at[1]) => {
                format!("{way}, where {} is {}", was.told(), was.value)
            }
            _ => way,
        }
    }

    /// Whether two instructions that correspond were executed in different turns: for another time of before than of after.
    pub(super) fn is_other_turn(&self, at: [usize; 2]) -> bool {
        let Both { old, new, counterparts, .. } = self;
        let times = |flow: &Flow<'_, '_>, at: usize| {
            let line = flow.line(at);
            flow.history.entries.iter().take(at + 1).filter(|entry| entry.line == line).count()
        };
        counterparts.get(&new.line(at[1])) == Some(&old.line(at[0])) && times(old, at[0]) != times(new, at[1])
    }

    /// Whether two instructions take the same values, constants included.
    pub(super) fn takes_the_same(&self, at: [usize; 2]) -> bool {
        descent::takes_equal_values(&self.old, &self.new, at)
    }

    /// Where what the last instruction of after's history takes begins to differ, at the same instruction of before, which
    /// has come to it as often; of an access where its place begins to differ.
    pub(super) fn end(&self) -> Option<Difference> {
        let Both { old, new, counterparts, .. } = self;
        let end = new.history.entries.len().checked_sub(1)?;
        let line = new.line(end);
        let at = match counterparts.get(&line) {
            None => same_access(old, new, end),
            Some(its) => {
                let times = new.history.entries.iter().filter(|entry| entry.line == line).count();
                let mut places =
                    old.history.entries.iter().enumerate().filter(|(_, entry)| entry.line == *its);
                places.nth(times.checked_sub(1)?).map(|(at, _)| at)
            }
        };
        descent::of_place(old, new, [at?, end])
    }
}

/// What decides a branch.
struct Condition<'t> {
    id: &'t str,
    line: Option<Line>,
    value: String,
}

impl Condition<'_> {
    fn told(&self) -> String {
        let Condition { id, line, .. } = self;
        match line {
            Some(line) => format!("its condition {id}, computed on line {line},"),
            None => format!("its condition {id}"),
        }
    }
}

fn condition<'t>(flow: &Flow<'_, 't>, at: usize) -> Option<Condition<'t>> {
    let id = *flow.inst(at).filter(|_| decides(flow, at))?.operands.first()?;
    let origin = flow.origin(at, id);
    let line = match origin {
        Origin::Instance(at) => Some(flow.line(at)),
        Origin::Constant(_) | Origin::Other(_) => None,
    };
    Some(Condition { id, line, value: flow.short(origin)? })
}

/// The blocks that were entered, in order.
pub(super) fn entered(flow: &Flow<'_, '_>) -> Vec<Entered> {
    let entries = &flow.history.entries;
    let begins = |at: usize| match at.checked_sub(1) {
        None => true,
        Some(last) => {
            entries[last].depth < entries[at].depth
                || (entries[last].depth == entries[at].depth
                    && flow.inst(last).is_some_and(|inst| is_branch(inst.opcode)))
        }
    };
    let label = |at: usize| {
        let line = entries[at].line;
        // What stands in front of all blocks is the function's own.
        let is_function = flow.inst(at).is_none_or(|inst| inst.opcode == "OpFunction");
        Some((at, if is_function { line } else { flow.code.block_of(line)?.0 }))
    };
    (0..entries.len()).filter(|at| begins(*at)).filter_map(label).collect()
}

/// The instruction that ends the block in which a place of the history is.
fn end_of_block(flow: &Flow<'_, '_>, at: usize) -> Option<usize> {
    let depth = flow.history.entries.get(at)?.depth;
    let entries = flow.history.entries.iter().enumerate().skip(at);
    let mut own =
        entries.take_while(|(_, entry)| entry.depth >= depth).filter(|(_, entry)| entry.depth == depth);
    let ends =
        |inst: &Inst<'_>| is_branch(inst.opcode) || matches!(inst.opcode, "OpReturn" | "OpReturnValue");
    own.find(|(at, _)| flow.inst(*at).is_some_and(ends)).map(|(at, _)| at)
}

fn is_branch(opcode: &str) -> bool {
    matches!(opcode, "OpBranch" | "OpBranchConditional" | "OpSwitch")
}

fn decides(flow: &Flow<'_, '_>, at: usize) -> bool {
    flow.inst(at).is_some_and(|inst| matches!(inst.opcode, "OpBranchConditional" | "OpSwitch"))
}

/// The access of before that corresponds to one of after in other code: as many of its kind go to the same variable up to
/// there.
fn same_access(old: &Flow<'_, '_>, new: &Flow<'_, '_>, end: usize) -> Option<usize> {
    let wanted = access(new, end)?;
    let times = (0..=end).filter(|at| access(new, *at).as_ref() == Some(&wanted)).count();
    let mut places = (0..old.history.entries.len()).filter(|at| access(old, *at).as_ref() == Some(&wanted));
    places.nth(times.checked_sub(1)?)
}

/// The opcode of an access and the memory that it goes to.
fn access<'t>(flow: &Flow<'_, 't>, at: usize) -> Option<(&'t str, String)> {
    let inst = flow.inst(at)?;
    let pointer = match inst.opcode {
        "OpStore" | "OpAtomicStore" => inst.operands.first()?,
        "OpLoad" => inst.operands.get(1)?,
        opcode if opcode.starts_with("OpAtomic") => inst.operands.get(1)?,
        _ => return None,
    };
    Some((inst.opcode, flow.code.types().key(flow.variable(at, pointer)?)?))
}

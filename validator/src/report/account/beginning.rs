//! Where what an invocation does begins to differ from before: in values, or in the way that it goes.

use super::descent::{self, Difference};
use super::way::{self, Both, Ways};
use super::Code;
use crate::check::{CheckReport, Run};
use crate::correspondence::Correspondence;
use crate::explain::{Account, Bound, History};
use crate::ir::Line;

/// What is known of where the modules begin to differ.
pub(in crate::report) enum Beginning {
    /// The instructions from which on they do.
    Known(Difference),
    /// A bound keeps that from being known; in words.
    Unknown(String),
    /// Nothing is known.
    Nothing,
}

impl Beginning {
    /// That of a run, with the modules of its report.
    pub(in crate::report) fn of(
        report: &CheckReport,
        run: &Run,
        codes: [&Code<'_>; 2],
        correspondence: &Correspondence<'_, '_>,
    ) -> Beginning {
        let Account { wrote, fault, raced, cut, .. } = &run.why.account;
        // Where one module is the user's own text, what corresponds has no lines here.
        let counterparts = match report.diff {
            None => correspondence.counterparts(),
            Some(_) => way::Counterparts::new(),
        };
        let to_the_end = |old: &History, new: &History| {
            let both = Both::of([old, new], codes, &counterparts);
            match both.ways(cut[0].is_none()) {
                Ways::Part(parting) if parting.is_exact => both.told(&parting),
                Ways::Part(parting) => {
                    both.end().filter(|found| found.is_origin).or_else(|| both.told(&parting))
                }
                Ways::Same | Ways::Differ(_) => both.end(),
            }
        };
        let found = match (wrote, fault) {
            ([Some(old), Some(new)], _) => {
                let found = descent::first_difference([old, new], codes);
                let both = Both::of([old, new], codes, &counterparts);
                first(found, both.ways(false), &both, codes)
            }
            ([Some(old), None], Some(fault)) => to_the_end(old, &fault.history),
            _ => {
                let found = raced.iter().filter_map(|raced| to_the_end(raced.before.as_ref()?, &raced.after));
                // An access of another shape says less than how it was changed.
                let shape = |side: usize, line: Line| {
                    codes[side].on(line).map(|inst| (inst.opcode, inst.operands.len()))
                };
                let tells = |found: &Difference| {
                    found.branch.is_some() || shape(0, found.at[0]) == shape(1, found.at[1])
                };
                found.filter(tells).min_by_key(|found| found.branch.is_none())
            }
        };
        let violation = run.comparison.violation.as_ref();
        let is_sought = fault.is_some() || violation.is_some_and(|violation| violation.difference.is_some());
        match (found, bound(&run.why.account).filter(|_| is_sought)) {
            (Some(found), _) => Beginning::Known(found),
            (None, Some((module, bound))) => Beginning::Unknown(format!(
                "where the values begin to differ is not known: {module} was followed for {bound}"
            )),
            (None, None) => Beginning::Nothing,
        }
    }

    /// What is known.
    pub(in crate::report) fn known(&self) -> Option<&Difference> {
        match self {
            Beginning::Known(found) => Some(found),
            Beginning::Unknown(_) | Beginning::Nothing => None,
        }
    }

    /// In lines; `with_way`: also the branch at which ways part for that reason, which comes later.
    pub(in crate::report) fn lines(self, with_way: bool) -> Vec<String> {
        match self {
            Beginning::Known(found) => {
                let way = found.way().filter(|_| with_way);
                found.lines.into_iter().chain(way).collect()
            }
            Beginning::Unknown(why) => vec![why],
            Beginning::Nothing => Vec::new(),
        }
    }
}

/// What comes first: values that differ by themselves, or a branch that goes another way.
fn first(
    found: Option<Difference>,
    ways: Ways,
    both: &Both<'_, '_>,
    codes: [&Code<'_>; 2],
) -> Option<Difference> {
    // What is computed in another turn of a loop is no pair, unless it takes the same.
    let is_pair =
        |found: &Difference| !both.is_other_turn(found.entries) || both.takes_the_same(found.entries);
    let found = match ways {
        Ways::Same => found,
        Ways::Part(_) | Ways::Differ(_) => found.filter(is_pair),
    };
    match (ways, found) {
        (Ways::Part(parting), Some(found)) if found.is_origin => {
            let is_earlier = (0..2).all(|side| found.entries[side] < parting.at[side]);
            let told = if is_earlier || !parting.is_exact { None } else { both.told(&parting) };
            told.or(Some(found))
        }
        (Ways::Part(parting), found) => both.told(&parting).or(found),
        // Results of other instructions on other ways are no pair.
        (Ways::Differ(places), Some(found)) => {
            let opcode = |side: usize| codes[side].on(found.at[side]).map(|inst| inst.opcode);
            let is_behind = (0..2).any(|side| found.entries[side] >= places[side]);
            (found.is_origin || !is_behind || opcode(0) == opcode(1)).then_some(found)
        }
        (Ways::Same | Ways::Differ(_), found) => found,
    }
}

/// The bound that kept an account from following one of the modules as far as is needed.
fn bound(account: &Account) -> Option<(&'static str, Bound)> {
    let Account { wrote, fault, cut, .. } = account;
    let of_fault = fault.as_ref().map(|fault| &fault.history);
    let histories = [wrote[0].as_ref(), of_fault.or(wrote[1].as_ref())];
    let kept = |history: &History| (!history.is_whole).then_some(Bound::Kept(history.entries.len()));
    let of_side = |side: usize| match histories[side] {
        Some(history) => kept(history),
        None => cut[side],
    };
    let names = ["before", "after"];
    (0..2).find_map(|side| Some((names[side], of_side(side)?)))
}

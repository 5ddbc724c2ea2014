//! Where what an invocation does begins to differ from before: in values, or in the way that it goes.

use super::descent::{self, Difference};
use super::{way, Code};
use crate::check::{CheckReport, Run};
use crate::correspondence::Correspondence;
use crate::explain::{Account, Bound, History};

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
        let Account { wrote, fault, .. } = &run.why.account;
        let other_way = |histories: [&History; 2], to_the_end: bool| {
            // Where one module is the user's own text, what corresponds has no lines here.
            let counterparts = report.diff.is_none().then(|| correspondence.counterparts())?;
            way::other_way(histories, codes, &counterparts, to_the_end)
        };
        let found = match (wrote, fault) {
            ([Some(old), Some(new)], _) => {
                let found = descent::first_difference([old, new], codes);
                // Where something differs in front of it, control flow may say more.
                let is_origin = found.as_ref().is_some_and(|found| found.is_origin);
                let way = if is_origin { None } else { other_way([old, new], false) };
                way.or(found)
            }
            ([Some(old), None], Some(fault)) => other_way([old, &fault.history], true),
            _ => None,
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

    /// In lines.
    pub(in crate::report) fn lines(self) -> Vec<String> {
        match self {
            Beginning::Known(found) => found.lines,
            Beginning::Unknown(why) => vec![why],
            Beginning::Nothing => Vec::new(),
        }
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

//! Inputs that are worth a search: both modules run once, one invocation after the other, on more inputs than are
//! searched. An input on which they end differently is searched, too.
//!
//! Such a run is one interleaving and decides nothing. That a change of what each invocation computes shows in it is
//! likely, and it costs a fraction of a search.

use super::run::Pair;
use crate::dispatch::Dispatch;
use crate::launch::trial::{self, Ended};
use crate::value::Byte;

/// Inputs that are looked at beyond those that may be searched.
pub(super) const SCOUTED: u32 = 48;

/// Instructions of all such runs of a pair.
pub(super) const FUEL: u64 = 8_000_000;

/// Inputs that are searched since both end differently on them, at most: where all of them turn out to be permitted, as
/// floats are, others are likely to be.
pub(super) const MOST_SEARCHED: u32 = 6;

/// Of these, how many that are decided are enough.
pub(super) const ENOUGH: u32 = 2;

/// How both end on an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Alike,
    Differently,
    /// Before meets undefined behaviour.
    Undefined,
}

/// Looks at how both end, and what that cost in instructions; `None` where there is no time or it cannot be seen.
pub(super) fn look(pair: &Pair<'_>, is_over: &dyn Fn() -> bool) -> Option<(Look, u64)> {
    let before = trial::ended(pair.before, &pair.before_dispatch, is_over)?;
    if before.faulted {
        return Some((Look::Undefined, before.executed));
    }
    let after = trial::ended(pair.after, &pair.after_dispatch, is_over)?;
    let cost = before.executed.saturating_add(after.executed);
    if !before.whole || !after.whole && !after.faulted {
        return None;
    }
    let differ = after.faulted || differs(&pair.before_dispatch, &before, &pair.after_dispatch, &after);
    Some((if differ { Look::Differently } else { Look::Alike }, cost))
}

/// Whether after leaves something that before does not, in an object that outcomes show.
fn differs(before: &Dispatch, ended: &Ended, after: &Dispatch, other: &Ended) -> bool {
    let shown = before.objects.iter().enumerate().filter(|(_, object)| object.observed);
    shown.into_iter().any(|(index, object)| {
        let matching = after.objects.iter().position(|other| other.observed && other.key == object.key);
        // What after does not have is not compared here.
        matching.is_some_and(|matching| {
            let (old, new) = (bytes(before, ended, index), bytes(after, other, matching));
            old.iter().zip(new).any(|(old, new)| *old != Byte::Undef && old != new)
        })
    })
}

/// The final contents of an object.
fn bytes<'e>(dispatch: &Dispatch, ended: &'e Ended, object: usize) -> &'e [Byte] {
    let Some(object) = dispatch.objects.get(object) else { return &[] };
    let space = ended.memory.get(object.memory as usize).map_or(&[][..], Vec::as_slice);
    let start = object.view.unwrap_or(0) as usize;
    space.get(start..start + object.initial.len()).unwrap_or_default()
}

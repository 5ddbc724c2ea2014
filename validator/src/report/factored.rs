//! Outcomes in factored form: slots, and the contents that fill them in some order.

use serde::Serialize;

use super::json::{outcome_json, OutcomeJson};
use super::words::words;
use crate::behaviour::{Count, Permuted, Places};
use crate::dispatch::Dispatch;

/// What a list is told with, before its last.
const LISTED: usize = 7;

/// The slots of each class, and what fills them in some order.
pub(super) fn text(permuted: &Permuted, dispatch: &Dispatch, indent: &str) -> String {
    let class = |class: &Places| {
        let observed: Vec<_> = dispatch.objects.iter().filter(|object| object.observed).collect();
        let place = |(object, index): (usize, usize)| format!("{} at {index}", observed[object].key);
        let slot = |slot: &Vec<(usize, usize)>| {
            let mut parts = runs(slot).into_iter().map(|run| place(run[0]));
            parts.next().map(|first| parts.fold(first, |told, next| format!("{told} and {next}")))
        };
        let slots = class.slots.iter().filter_map(slot);
        let mut contents: Vec<String> = class.contents.iter().map(|bytes| words(bytes).join(" ")).collect();
        contents.sort_unstable();
        let (slots, contents) = (some_of(slots.collect()), some_of(contents));
        let idle = class.slots.iter().filter(|slot| slot.is_empty()).count();
        let what = if idle == 0 { "each permutation" } else { "each choice and permutation" };
        format!("{indent}slots {slots}: {what} of {contents}\n")
    };
    permuted.classes.iter().filter(|class| class.is_filled()).map(class).collect()
}

/// Parts of a slot that lie side by side.
fn runs(slot: &[(usize, usize)]) -> Vec<&[(usize, usize)]> {
    slot.chunk_by(|(object, index), next| (*object, index + 1) == *next).collect()
}

/// The first of a list, and the last.
fn some_of(list: Vec<String>) -> String {
    match &list[..] {
        [first @ .., last] if first.len() > LISTED => {
            format!("{}, …, {last} ({} in all)", first[..LISTED].join(", "), list.len())
        }
        _ => list.join(", "),
    }
}

#[derive(Serialize)]
pub(super) struct FactoredJson {
    /// Outcomes of this form.
    count: Count,
    executions: Count,
    /// One of them.
    first: OutcomeJson,
    classes: Vec<PlacesJson>,
}

/// Each slot is filled with one of the contents, and none is used twice.
#[derive(Serialize)]
struct PlacesJson {
    slots: Vec<Vec<SlotJson>>,
    contents: Vec<Vec<String>>,
}

/// Bytes that lie side by side.
#[derive(Serialize)]
struct SlotJson {
    object: String,
    offset: usize,
    bytes: usize,
}

pub(super) fn json(permuted: &Permuted, dispatch: &Dispatch) -> FactoredJson {
    let observed: Vec<_> = dispatch.objects.iter().filter(|object| object.observed).collect();
    let slot = |run: &[(usize, usize)]| SlotJson {
        object: observed[run[0].0].key.clone(),
        offset: run[0].1,
        bytes: run.len(),
    };
    let class = |class: &Places| {
        let filled = class.slots.iter().filter(|slot| !slot.is_empty());
        let mut contents: Vec<Vec<String>> = class.contents.iter().map(|bytes| words(bytes)).collect();
        contents.sort_unstable();
        PlacesJson {
            slots: filled.map(|list| runs(list).into_iter().map(slot).collect()).collect(),
            contents,
        }
    };
    FactoredJson {
        count: permuted.count(),
        executions: permuted.executions.clone(),
        first: outcome_json(&permuted.first, dispatch),
        classes: permuted.classes.iter().filter(|class| class.is_filled()).map(class).collect(),
    }
}

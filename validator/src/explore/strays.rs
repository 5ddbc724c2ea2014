//! Searches with the first version of robust access to buffers (`interp/strays.rs`).
//!
//! What an access outside makes uncertain is so from the start of the dispatch: whoever reads a byte that a write
//! outside may have changed need not be ordered behind that write. A search that comes to such an access is begun again
//! with what it found. That ends, since what is uncertain only grows.
//!
//! Reads outside are told value by value, as long as that takes few executions; else in before they are undefined, and
//! in after zero alone, which is a bound.

use std::collections::BTreeSet;

use crate::behaviour::{Behaviours, Bound, OpenReads, Stopped};
use crate::dispatch::{Dispatch, Object, OutsideReads, Robustness};
use crate::explore::facts::discoveries::SeenOutside;
use crate::explore::program::may_write::MayWrite;
use crate::explore::settings::Settings;
use crate::ir::Program;
use crate::value::Byte;

/// Executions of a search in which reads outside are told value by value.
const MAX_LISTED: u64 = 1 << 12;

/// The search on a dispatch with what is known of accesses outside.
pub(super) fn search(
    program: &Program,
    dispatch: &Dispatch,
    robustness: &Robustness,
    settings: &Settings,
    search: &dyn Fn(&Dispatch, &Settings) -> (Behaviours, SeenOutside),
) -> Behaviours {
    let unwritten = unwritten(program, dispatch, robustness);
    let mut known = Robustness { reads: OutsideReads::Listed, unwritten, ..robustness.clone() };
    let mut max_executions = settings.max_executions.min(MAX_LISTED);
    loop {
        let strayed = strayed(dispatch, &known);
        let (mut behaviours, seen) = search(&strayed, &Settings { max_executions, ..settings.clone() });
        if !seen.strays.is_empty() {
            for (space, stray) in seen.strays {
                let before = known.strays.entry(space).or_default();
                *before = before.and(stray);
            }
            continue;
        }
        if behaviours.stopped == Some(Stopped::MaxExecutions) && max_executions < settings.max_executions {
            max_executions = settings.max_executions;
            known.reads = match (seen.listed, known.exhaustive) {
                (false, _) => OutsideReads::Listed,
                (true, true) => OutsideReads::Undefined,
                (true, false) => OutsideReads::Zero,
            };
            continue;
        }
        let is_open = seen.open || known.reads != OutsideReads::Listed;
        for object in &dispatch.objects {
            let stray = known.strays.get(&object.memory).copied().unwrap_or_default();
            if stray.written {
                behaviours.written_astray.insert(object.key.clone());
            }
            if stray.read && !known.unwritten.contains(&object.memory) {
                behaviours.read_astray.insert(object.key.clone());
            }
        }
        behaviours.has_strays = is_open || seen.listed || !known.strays.is_empty();
        if is_open && known.exhaustive {
            behaviours.open_reads = match known.reads {
                OutsideReads::Listed => OpenReads::Some,
                OutsideReads::Zero | OutsideReads::Undefined => OpenReads::All,
            };
        } else if is_open {
            behaviours.bounded.get_or_insert(Bound::ReadsOutside);
            behaviours.complete = false;
        }
        return behaviours;
    }
}

/// The dispatch with what is known; what a write outside may change is undefined.
fn strayed(dispatch: &Dispatch, known: &Robustness) -> Dispatch {
    let mut dispatch = Dispatch { robustness: Some(known.clone()), ..dispatch.clone() };
    for object in &mut dispatch.objects {
        if known.strays.get(&object.memory).is_some_and(|stray| stray.written) {
            object.initial.fill(Byte::Undef);
        }
    }
    dispatch
}

/// The location spaces of buffers that no instruction may write.
fn unwritten(program: &Program, dispatch: &Dispatch, robustness: &Robustness) -> BTreeSet<u32> {
    let writers = MayWrite::of(program);
    // Every invocation has the same buffers.
    let is_written = |object: &&Object| {
        let bytes = 0..object.initial.len() as u64;
        let mut writers = writers.0.iter();
        !object.constant && writers.any(|writer| writer.may_touch(dispatch, 0, object.memory, bytes.clone()))
    };
    let buffers = || dispatch.objects.iter().take(robustness.buffers as usize);
    let written: BTreeSet<u32> = buffers().filter(is_written).map(|object| object.memory).collect();
    buffers().map(|object| object.memory).filter(|space| !written.contains(space)).collect()
}

//! The input that shows a violation: of each memory the values that its invocation read, or the first ones.

use std::collections::BTreeMap;

use super::Told;
use crate::explain::{Account, History};
use crate::report::account::{self, Beginning, Code};
use crate::report::elision::some_of;
use crate::report::typed::{Place, Types};
use crate::report::words::words;
use crate::value::Byte;

/// Values of one memory that are told.
const VALUES: usize = 8;

/// Memory at the beginning.
struct Memory<'a> {
    key: &'a str,
    bytes: &'a [Byte],
    is_image: bool,
}

/// The input in lines, one for each memory that is not all zero.
pub(super) fn lines(told: &Told<'_>, code: &Code<'_>, beginning: &Beginning) -> Vec<String> {
    let history = followed(&told.run.why.account);
    let until = beginning.known().map(|found| found.place_in_after());
    let mut read: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (key, offset) in history.into_iter().flat_map(|history| account::reads(history, code, until)) {
        read.entry(key).or_default().push(offset);
    }
    let (mut lines, mut zero, mut unread) = (Vec::new(), Vec::new(), Vec::new());
    let (types, most) = (&told.scene.types, told.at_most(VALUES));
    let is_zero = |bytes: &[Byte]| bytes.iter().all(|byte| *byte == Byte::Known(0));
    for (key, bytes) in &told.run.input.interface {
        match is_zero(bytes) {
            true => zero.push(key.clone()),
            false => lines.push(passed(key, bytes, types, most)),
        }
    }
    for memory in memories(told) {
        let own = read.get(memory.key).map_or(&[][..], Vec::as_slice);
        // What a block holds that was not read does not matter.
        let is_unread = own.is_empty() && !read.is_empty() && types.is_block(memory.key);
        if is_zero(memory.bytes) {
            zero.push(memory.key.to_owned());
        } else if is_unread && !told.scene.full {
            unread.push(memory.key);
        } else {
            lines.push(line(&memory, own, types, most));
        }
    }
    if !zero.is_empty() {
        lines.push(format!("  all 0: {}", zero.join(", ")));
    }
    if let Some(history) = history.filter(|_| !unread.is_empty()) {
        let who = history.invocation;
        lines.push(format!("  not read there by invocation {who}: {} (--full)", unread.join(", ")));
    }
    lines
}

/// What the invocation executed in after that the violation is about.
fn followed(account: &Account) -> Option<&History> {
    let of_fault = account.fault.as_ref().map(|fault| &fault.history);
    let of_race = || account.raced.first().map(|raced| &raced.after);
    of_fault.or(account.wrote[1].as_ref()).or_else(of_race)
}

/// The buffers and images that after begins with.
fn memories<'a>(told: &Told<'a>) -> impl Iterator<Item = Memory<'a>> {
    let objects = told.dispatch().objects.iter();
    // Outputs and Workgroup memory begin in the same way on each input.
    let given = objects.filter(|object| {
        let is_own = object.key.starts_with("out:") || object.key.starts_with('%');
        !is_own && object.view.is_none() && !object.initial.is_empty()
    });
    given.map(|object| Memory { key: &object.key, bytes: &object.initial, is_image: object.image.is_some() })
}

/// `p (push): ne = 2, ne00 = 1, … (of 128 bytes)`.
fn line(memory: &Memory<'_>, read: &[usize], types: &Types<'_>, most: usize) -> String {
    let typed = |offset: usize| match memory.is_image {
        true => None,
        false => types.place(memory.key, offset),
    };
    // What was read behind the end is not there.
    let is_there = |start: &usize| *start < memory.bytes.len() && typed(*start).is_some();
    let known: Vec<usize> = read.iter().copied().filter(is_there).collect();
    let most_known = some_of(known.len(), most);
    let mut starts: Vec<usize> = known.into_iter().take(most_known).collect();
    starts.sort_unstable();
    if starts.is_empty() || most == usize::MAX {
        starts = first(memory, &typed, most);
    }
    let mut name = String::new();
    let mut values = Vec::new();
    for start in &starts {
        let value = |size: usize| memory.bytes.get(*start..(start + size).min(memory.bytes.len()));
        let Some(place) = typed(*start).filter(|place| place.start == *start) else {
            values.extend(value(4).map(|bytes| words(bytes).concat()));
            continue;
        };
        let Some(bytes) = value(place.size) else { continue };
        let told = account::without_bits(&place.scalar.told(bytes));
        let variable = place.path.find(['.', '[']).unwrap_or(place.path.len());
        let (variable, member) = place.path.split_at(variable);
        let is_named = !variable.starts_with('%') && !member.is_empty();
        if is_named {
            name = variable.to_owned();
        }
        values.push(match is_named {
            true => format!("{} = {told}", member.trim_start_matches('.')),
            false => format!("{} = {told}", place.path),
        });
    }
    let all = memory.bytes.len().div_ceil(4) <= starts.len();
    let rest = if all { String::new() } else { format!(", … (of {} bytes)", memory.bytes.len()) };
    let values = values.join(", ");
    match name.is_empty() {
        true => format!("  {}: {values}{rest}", memory.key),
        false => format!("  {name} ({}): {values}{rest}", memory.key),
    }
}

/// Where the first values begin.
fn first(memory: &Memory<'_>, typed: &dyn Fn(usize) -> Option<Place>, most: usize) -> Vec<usize> {
    let (mut starts, mut at) = (Vec::new(), 0);
    // Two more say whether more than two would be missing.
    while at < memory.bytes.len() && starts.len() <= most.saturating_add(2) {
        starts.push(at);
        at += typed(at).filter(|place| place.start == at).map_or(4, |place| place.size.max(1));
    }
    starts.truncate(some_of(starts.len(), most));
    starts
}

/// `input position at location 0: (-4.0, 0.625, 5.25)`, one value for all invocations or one for each.
fn passed(key: &str, bytes: &[Byte], types: &Types<'_>, most: usize) -> String {
    let Some((label, size)) = types.passed_as(key) else {
        return format!("  {key}: {}", words(bytes).join(" "));
    };
    let value = |bytes: &[Byte]| {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let Some(place) = types.place(key, at).filter(|place| place.start == at) else { break };
            let own = bytes.get(at..(at + place.size).min(bytes.len())).unwrap_or_default();
            parts.push(account::without_bits(&place.scalar.told(own)));
            at += place.size.max(1);
        }
        if let [one] = &parts[..] {
            return one.clone();
        }
        format!("({})", parts.join(", "))
    };
    let values = bytes.chunks(size.max(1));
    let most = some_of(values.len(), most);
    let values: Vec<String> = values.take(most).map(value).collect();
    let first = bytes.get(..size).unwrap_or(bytes);
    if bytes.chunks(size.max(1)).all(|other| other == first) {
        return format!("  {label}: {}", value(first));
    }
    let more = bytes.len().div_ceil(size.max(1)) - values.len();
    let rest = if more > 0 { format!(", … {more} more (--full)") } else { String::new() };
    format!("  {label}, invocation by invocation: {}{rest}", values.join(", "))
}

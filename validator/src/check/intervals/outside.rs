//! What before permits of each byte of its final memory, and the first byte of an outcome that it does not permit.

use std::collections::BTreeMap;

use super::final_memory::Components;
use super::{outcome_of, run, IntervalSide, Seen};
use crate::behaviour::Outcome;
use crate::compare::Difference;
use crate::dispatch::Dispatch;
use crate::interp::{Following, Interval};
use crate::ir::Program;
use crate::value::Byte;

/// The permitted results of before, with the intervals of its floats.
pub(in crate::check) struct Permissions<'a> {
    dispatch: &'a Dispatch,
    seen: Seen,
    /// The same if nothing were contracted and rearranged.
    strict: Seen,
}

impl<'a> Permissions<'a> {
    /// `None` where they are not known.
    pub fn of(before: IntervalSide<'a>) -> Option<Self> {
        let outcome = outcome_of(before, "before").ok()?;
        let seen_of = |side| run::run(side, Following::Alone).end("before").ok();
        let seen = seen_of(before).filter(|seen| seen.fault.is_none())?;
        if !outcome.volatile.iter().all(Vec::is_empty) || seen.outcome(before.dispatch) != outcome.memory {
            return None;
        }
        let program = uncontracted(before.program);
        let strict = seen_of(IntervalSide { program: &program, ..before })?;
        Some(Permissions { dispatch: before.dispatch, seen, strict })
    }

    /// Where an outcome that after permits lies outside. `written` is after's outcome as it is computed by default.
    ///
    /// What before permits where it may rearrange is known for expressions as they stand, not for all that an
    /// optimiser may make of them: there, an outcome counts only if the default one is permitted, and it lies far
    /// outside.
    pub fn forbid(&self, after: &Dispatch, outcome: &Outcome, written: &Outcome) -> Option<Difference> {
        let contents = |outcome: &'_ Outcome| -> Option<BTreeMap<String, Vec<Byte>>> {
            let observed = after.objects.iter().filter(|object| object.observed);
            let all: BTreeMap<String, Vec<Byte>> = observed
                .zip(&outcome.memory)
                .map(|(object, bytes)| (object.key.clone(), bytes.clone()))
                .collect();
            (outcome.memory.len() == all.len()).then_some(all)
        };
        let (news, defaults) = (contents(outcome)?, contents(written)?);
        let observed = self.dispatch.objects.iter().enumerate().filter(|(_, object)| object.observed);
        for (index, object) in observed {
            let (Some(new), Some(default)) = (news.get(&object.key), defaults.get(&object.key)) else {
                return None;
            };
            let old = self.seen.bytes(self.dispatch, index);
            if old.len() != new.len() || old.len() != default.len() {
                return None;
            }
            let [wide, strict] = [&self.seen, &self.strict].map(|seen| seen.shades(self.dispatch, index));
            let components = Components::of(object);
            let mut at = 0;
            while at < old.len() {
                let key = at as u32;
                let shade = wide.get(&key).copied();
                let length = shade.map_or(1, |(length, _)| length as usize);
                let range = at..(at + length).min(old.len());
                let within =
                    |bytes: &[Byte]| permits(components, &old[range.clone()], bytes, shade.map(|(_, it)| it));
                let firm = strict.get(&key).copied() == shade;
                let far = shade.map(|(_, interval)| interval.widen(FAR * (interval.high - interval.low)));
                let outside = match firm {
                    true => !within(&new[range.clone()]),
                    false => {
                        let near = permits(components, &old[range.clone()], &new[range.clone()], far);
                        within(&default[range.clone()]) && !near
                    }
                };
                if outside {
                    return Some(Difference { key: object.key.clone(), offset: at });
                }
                at = range.end;
            }
        }
        None
    }
}

/// How far outside of an interval far is, in its widths.
const FAR: f64 = 1.0;

/// Whether these bytes may be where before has `old`.
fn permits(components: Components, old: &[Byte], new: &[Byte], interval: Option<Interval>) -> bool {
    let undefined = |byte: &Byte| *byte == Byte::Undef;
    if old == new || old.iter().all(undefined) {
        return true;
    }
    match interval {
        None => old.iter().zip(new).all(|(old, new)| undefined(old) || old == new),
        Some(interval) => {
            interval.is_any() || components.number(new).is_none_or(|number| interval.contains(number))
        }
    }
}

/// The program with every operation decorated NoContraction.
fn uncontracted(program: &Program) -> Program {
    let mut program = program.clone();
    program.modes.floats.fast_math = false;
    for inst in program.functions.iter_mut().flat_map(|function| &mut function.code) {
        inst.no_contraction = true;
    }
    program
}

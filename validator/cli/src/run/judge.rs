//! What an executor did, held against what the module allows.

use std::collections::BTreeSet;
use std::ops::Range;

use spirv_tv::behaviour::{End, Outcome};
use spirv_tv::dispatch::{Dispatch, Object};
use spirv_tv::value::Byte;
use spirv_tv_executor::case::{Case, Kind, Resource};
use spirv_tv_executor::{Execution, Executor, Observation};

use super::allowed::Allowed;
use super::verdict::RunVerdict;

/// How many different outcomes of a run are kept: whoever shows more shows a new one nearly every time.
const MOST_KEPT: usize = 1 << 12;

/// An outcome that an executor showed.
#[derive(Debug)]
pub(super) struct Seen {
    /// What memory held at the end.
    pub(super) outcome: Outcome,
    /// How often.
    pub(super) count: u32,
    /// Whether the module allows it.
    pub(super) is_allowed: bool,
}

/// What came of one entry point on one input.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// What the executor showed: first what is not allowed, then the most frequent.
    pub(super) seen: Vec<Seen>,
    /// The numbers of listed outcomes that were seen.
    pub(super) seen_listed: BTreeSet<usize>,
    /// Outcomes that are not among those that were found may be allowed.
    pub(super) is_open: bool,
    /// How the executor failed, if it did.
    pub(super) failure: Option<Execution>,
    /// Why there is no better verdict.
    pub(super) reasons: Vec<String>,
    /// The verdict.
    pub(super) verdict: RunVerdict,
}

impl Judged {
    /// A run of which nothing is known, for a reason.
    pub(super) fn unknown(reason: String) -> Judged {
        Judged { reasons: vec![reason], verdict: RunVerdict::Inconclusive, ..Judged::default() }
    }

    /// How often the executor came to an end.
    pub(super) fn times(&self) -> u64 {
        self.seen.iter().map(|seen| u64::from(seen.count)).sum()
    }
}

/// Runs a case and judges what comes of it.
pub(super) fn judge(
    executor: &dyn Executor,
    case: &Case,
    allowed: &Allowed,
    dispatch: &Dispatch,
    open_floats: bool,
) -> Judged {
    if !allowed.undefined.is_empty() {
        let what = allowed.undefined.join("; ");
        let reason = format!("the module is undefined, so whatever an executor does is allowed: {what}");
        return Judged { reasons: vec![reason], verdict: RunVerdict::Vacuous, ..Judged::default() };
    }
    let places = match places(case, dispatch) {
        Ok(places) => places,
        Err(why) => return Judged::unknown(why),
    };
    let (observed, failure) = observe(executor, case, dispatch, &places, allowed);
    let mut judged = Judged { seen: observed, ..Judged::default() };
    for seen in &judged.seen {
        judged.seen_listed.extend(allowed.admitting(&seen.outcome).0);
    }
    judged.seen.sort_by(|one, other| {
        let order = |seen: &Seen| (seen.is_allowed, std::cmp::Reverse(seen.count));
        order(one).cmp(&order(other)).then_with(|| one.outcome.cmp(&other.outcome))
    });
    if judged.seen.iter().any(|seen| !seen.is_allowed) {
        judged.verdict = match (&allowed.cut, &allowed.open_floats[..]) {
            (Some(cut), _) => {
                judged.reasons.push(format!(
                    "an outcome is not among those that were found, but others may be allowed: {cut}"
                ));
                RunVerdict::Inconclusive
            }
            (None, [first, more @ ..]) if open_floats => {
                let more = match more.len() {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                judged.reasons.push(format!(
                    "float: an outcome is not among those that were found, but the environment leaves the results of \
                     {first}{more} open (--float exact compares bit by bit)"
                ));
                RunVerdict::Inconclusive
            }
            _ => RunVerdict::Violates,
        };
        judged.is_open = judged.verdict != RunVerdict::Violates;
    }
    if let Some(failure) = failure {
        let (verdict, reason) = of_failure(&failure, allowed);
        judged.reasons.push(reason);
        judged.verdict = RunVerdict::worse(judged.verdict, verdict);
        judged.failure = Some(failure);
    }
    judged
}

/// What a failure comes to.
fn of_failure(failure: &Execution, allowed: &Allowed) -> (RunVerdict, String) {
    match failure {
        Execution::Unsupported(_) => (RunVerdict::Inconclusive, failure.to_string()),
        Execution::TimedOut(_) if allowed.hangs => {
            (RunVerdict::Refines, format!("{failure}; the module may run for ever"))
        }
        Execution::TimedOut(_) if allowed.cut.is_some() => {
            let cut = allowed.cut.as_deref().unwrap_or_default();
            (RunVerdict::Inconclusive, format!("{failure}; the module may run for ever, since {cut}"))
        }
        _ => (RunVerdict::ExecutorFailed, failure.to_string()),
    }
}

/// Runs the case until it was run as often as is wanted, or the executor fails.
fn observe(
    executor: &dyn Executor,
    case: &Case,
    dispatch: &Dispatch,
    places: &Places,
    allowed: &Allowed,
) -> (Vec<Seen>, Option<Execution>) {
    let mut seen: Vec<Seen> = Vec::new();
    let mut left = case.times;
    while left > 0 {
        let observations = match executor.execute(&Case { times: left, ..case.clone() }) {
            Execution::Finished(observations) => observations,
            failure => return (seen, Some(failure)),
        };
        let total = observations.iter().fold(0, |total: u32, one| total.saturating_add(one.count));
        // Who runs nothing would be asked for ever.
        if total == 0 || total > left {
            return (
                seen,
                Some(Execution::Invalid(format!("{total} runs are told where 1 to {left} were wanted"))),
            );
        }
        left -= total;
        for observation in observations {
            let outcome = match told(&observation, case, dispatch, places, allowed) {
                Ok(outcome) => outcome,
                Err(why) => return (seen, Some(Execution::Invalid(why))),
            };
            let count = observation.count;
            match seen.iter().position(|known| known.outcome == outcome) {
                Some(known) => seen[known].count += count,
                None if seen.len() < MOST_KEPT => {
                    let is_allowed = is_allowed(&outcome, allowed);
                    seen.push(Seen { outcome, count, is_allowed });
                }
                None => {
                    let why = format!("more than {MOST_KEPT} different outcomes");
                    return (seen, Some(Execution::Failed(why)));
                }
            }
        }
    }
    (seen, None)
}

fn is_allowed(outcome: &Outcome, allowed: &Allowed) -> bool {
    let (listed, factored) = allowed.admitting(outcome);
    !listed.is_empty() || factored
}

/// Where an executor tells the contents of each observed object: the number of the resource, and the bytes of it.
pub(super) type Places = Vec<(usize, Range<usize>)>;

/// # Errors
/// What no executor tells.
pub(super) fn places(case: &Case, dispatch: &Dispatch) -> Result<Places, String> {
    let memory_of =
        |name: &str| dispatch.objects.iter().find(|object| object.key == name).map(|object| object.memory);
    let place = |object: &Object| {
        let is_it = |resource: &Resource| {
            let has_contents = !matches!(resource.kind, Kind::SameAs { .. } | Kind::Sampler { .. });
            has_contents && memory_of(&resource.name) == Some(object.memory)
        };
        let start = object.view.unwrap_or(0) as usize;
        let bytes = start..start + object.initial.len();
        let number = case.resources.iter().position(is_it);
        let number =
            number.filter(|number| case.resources.get(*number).is_some_and(|it| bytes.end <= it.bytes.len()));
        number
            .map(|number| (number, bytes))
            .ok_or_else(|| format!("executors do not tell what {} holds", object.key))
    };
    dispatch.objects.iter().filter(|object| object.observed).map(place).collect()
}

/// What an executor showed, as an outcome of the dispatch: where it has addresses of the executor and is not allowed so,
/// those of the dispatch stand in their places.
fn told(
    observation: &Observation,
    case: &Case,
    dispatch: &Dispatch,
    places: &Places,
    allowed: &Allowed,
) -> Result<Outcome, String> {
    let mut memory = Vec::new();
    for ((number, range), object) in
        places.iter().zip(dispatch.objects.iter().filter(|object| object.observed))
    {
        memory.push(match observation.memory.get(*number) {
            Some(Some(bytes)) => {
                let bytes = bytes.get(range.clone());
                let bytes = bytes.ok_or_else(|| format!("there are too few contents of {}", object.key))?;
                bytes.iter().copied().map(Byte::Known).collect()
            }
            // What the module cannot write holds what it held.
            Some(None) | None => object.initial.clone(),
        });
    }
    let outcome = Outcome { end: End::Terminated, memory, volatile: Vec::new(), remarks: Vec::new() };
    if is_allowed(&outcome, allowed) {
        return Ok(outcome);
    }
    let mut translated = outcome.clone();
    translated.memory.iter_mut().for_each(|bytes| translate(bytes, observation, case, dispatch));
    Ok(if is_allowed(&translated, allowed) { translated } else { outcome })
}

/// Bytes of an address.
const ADDRESS: usize = 8;

/// Replaces addresses in the executor's buffers by those in the dispatch's.
fn translate(bytes: &mut [Byte], observation: &Observation, case: &Case, dispatch: &Dispatch) {
    let buffers: Vec<(u64, u64, u64)> = case
        .resources
        .iter()
        .zip(&observation.addresses)
        .filter_map(|(resource, address)| {
            let object = dispatch.objects.iter().position(|object| object.key == resource.name)?;
            let ours = dispatch.address_of(u32::try_from(object).ok()?)?;
            Some(((*address)?, resource.bytes.len() as u64, ours))
        })
        .collect();
    let mut at = 0;
    while let Some(place) = bytes.get_mut(at..at + ADDRESS) {
        let value = place.iter().rev().fold(0, |value, byte| match byte {
            Byte::Known(byte) => value << 8 | u64::from(*byte),
            Byte::Undef => value << 8,
        });
        let inside = buffers.iter().find(|(theirs, size, _)| value >= *theirs && value - theirs <= *size);
        at += match inside {
            Some((theirs, _, ours)) => {
                let value = ours.wrapping_add(value - theirs);
                place
                    .iter_mut()
                    .zip(value.to_le_bytes())
                    .for_each(|(byte, value)| *byte = Byte::Known(value));
                ADDRESS
            }
            None => ADDRESS / 2,
        };
    }
}

#[cfg(test)]
mod tests;

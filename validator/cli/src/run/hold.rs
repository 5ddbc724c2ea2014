//! Runs a module that is known, or what somebody made of it, and holds it against what the module allows.

use std::time::Duration;

use spirv_tv::behaviour::Outcome;
use spirv_tv::check::{outcomes, CheckOptions, Floats, Watch};
use spirv_tv::module::Module;
use spirv_tv::report::{json, Painter};
use spirv_tv_executor::{Case, Description, Execution, Executor};

use super::allowed::{Allowed, OutcomesFile};
use super::case::{case_of, Wanted};
use super::judge::{judge, Judged};
use super::report::Told;
use super::verdict::RunVerdict;
use super::{nothing_runs, whole};
use crate::CliError;

/// What came of running a module.
#[derive(Debug)]
pub(crate) struct Held {
    /// The worst verdict of all inputs.
    pub(crate) verdict: RunVerdict,
    /// It in a line.
    pub(crate) line: String,
    /// The whole report.
    pub(crate) text: String,
    /// How the executor failed, if it did.
    pub(crate) failure: Option<Execution>,
    /// How often the module ran.
    pub(crate) times: u64,
    /// What was shown and is not allowed: the first such outcome.
    pub(crate) wrong: Option<Outcome>,
    /// Nothing can be said of what was shown, but the module itself always showed another outcome.
    pub(crate) disagrees: bool,
    /// Allowed outcomes that are listed.
    pub(crate) allowed: u64,
    /// Those of them that were shown.
    pub(crate) shown: u64,
}

/// Runs `words`, which is to do no more than `module` does, on the launch that the options say.
///
/// # Errors
/// The module cannot be launched so.
pub(crate) fn hold(
    module: &Module,
    words: &[u32],
    options: &CheckOptions,
    executor: &dyn Executor,
    description: &Description,
    (times, time): (u32, Duration),
) -> Result<Held, CliError> {
    let found = outcomes(module, options, &Watch::default())?;
    let set = OutcomesFile::read(&json::outcomes(&found)).map_err(nothing_runs)?;
    let open_floats = options.floats != Floats::Exact;
    let (mut runs, mut disagrees) = (Vec::new(), false);
    for (run, json) in found.runs.iter().zip(set.runs()) {
        let dispatch = &run.explored.dispatch;
        let allowed = Allowed::of(json, dispatch).map_err(nothing_runs)?;
        let wanted = Wanted { launch: &options.launch, out_of_bounds: options.out_of_bounds, times, time };
        let judged = match case_of(module, &run.program, dispatch, wanted) {
            Ok(own) => {
                let case = Case { words: words.to_vec(), ..own.clone() };
                let judged = judge(executor, &case, &allowed, dispatch, open_floats);
                // Where the environment leaves results of floats open, both may be right.
                let is_open = allowed.open_floats.is_empty() || !open_floats;
                let is_unknown = judged.verdict == RunVerdict::Inconclusive && judged.failure.is_none();
                if is_open && is_unknown && words != module.words {
                    let itself = judge(executor, &own, &allowed, dispatch, open_floats);
                    disagrees |= are_apart(&judged, &itself);
                }
                judged
            }
            Err(why) => Judged::unknown(why),
        };
        runs.push(Told { run, allowed, judged });
    }
    let failure = runs.iter().find_map(|told| told.judged.failure.clone());
    let seen = runs.iter().flat_map(|told| &told.judged.seen);
    let wrong = seen.filter(|seen| !seen.is_allowed).map(|seen| seen.outcome.clone()).next();
    let allowed: usize = runs.iter().map(|told| told.allowed.listed.len()).sum();
    let shown: usize = runs.iter().map(|told| told.judged.seen_listed.len()).sum();
    let times = runs.iter().map(|told| told.judged.times()).sum();
    let report = whole(&found, description.clone(), runs);
    Ok(Held {
        verdict: report.verdict,
        line: report.line(),
        text: report.text(false, Painter { coloured: false }),
        failure,
        times,
        wrong,
        disagrees,
        allowed: u64::try_from(allowed).unwrap_or(u64::MAX),
        shown: u64::try_from(shown).unwrap_or(u64::MAX),
    })
}

/// Whether each showed one outcome, all the time, and not the same.
fn are_apart(one: &Judged, other: &Judged) -> bool {
    match (&one.seen[..], &other.seen[..]) {
        ([one], [other]) => one.outcome != other.outcome,
        _ => false,
    }
}

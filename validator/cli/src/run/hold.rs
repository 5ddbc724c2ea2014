//! Runs a module, or what somebody made of it, and holds it against what the module allows: for whoever asks about many.

use std::sync::Arc;
use std::time::Duration;

use spirv_tv::behaviour::Outcome;
use spirv_tv::check::{dispatches, outcomes, CheckOptions, Floats, OutcomesReport, Watch};
use spirv_tv::module::Module;
use spirv_tv::report::{json, Painter};
use spirv_tv_executor::{Case, Description, Execution, Executor};

use super::allowed::{Allowed, OutcomesFile};
use super::case::{case_of, Wanted};
use super::judge::{judge, Judged};
use super::report::{RunReport, Told};
use super::signature::what;
use super::verdict::RunVerdict;
use super::{nothing_runs, whole};
use crate::memory::MemoryLimit;
use crate::CliError;

/// What is run, on what.
pub(crate) struct Question<'a> {
    /// What says what is allowed.
    pub(crate) module: &'a Module,
    /// What is run, and is to do no more: often the module's own words.
    pub(crate) words: &'a [u32],
    /// The launch, and how outcomes are searched.
    pub(crate) options: &'a CheckOptions,
    /// What runs it.
    pub(crate) executor: &'a dyn Executor,
    /// What that is.
    pub(crate) description: &'a Description,
    /// How often it is run on each input.
    pub(crate) times: u32,
    /// How long a request may take.
    pub(crate) time: Duration,
    /// What the module allows, as `outcomes --format json` tells it, where that is known.
    pub(crate) allowed: Option<&'a str>,
}

/// What came of running a module.
#[derive(Debug)]
pub(crate) struct Held {
    /// The worst verdict of all inputs.
    pub(crate) verdict: RunVerdict,
    /// It in a line.
    pub(crate) line: String,
    /// The whole report.
    pub(crate) text: String,
    /// Which failure it is, `KIND/WHAT`, and the number of the run that shows it.
    pub(crate) failed: Option<(String, usize)>,
    /// How the executor failed, if it did.
    pub(crate) failure: Option<Execution>,
    /// How often the module ran.
    pub(crate) times: u64,
    /// What was shown and is not allowed: the first such outcome.
    pub(crate) wrong: Option<Outcome>,
    /// No executor can run it on some input: a graphics stage, say.
    pub(crate) is_beyond: bool,
    /// Nothing can be said of what was shown, but the module itself always showed another outcome.
    pub(crate) disagrees: bool,
    /// Allowed outcomes that are listed.
    pub(crate) allowed: u64,
    /// Those of them that were shown.
    pub(crate) shown: u64,
    /// The launches and inputs, and what was found of the module.
    pub(crate) found: OutcomesReport,
    /// What the module allows, as text that a later question may bring, where all of it is known.
    pub(crate) set: Option<String>,
}

/// Runs what is asked for.
///
/// # Errors
/// The module cannot be launched so.
pub(crate) fn hold(question: &Question<'_>) -> Result<Held, CliError> {
    let Question { module, options, description, .. } = question;
    let watch = Arc::new(Watch::default());
    let _limit = MemoryLimit::start(&watch, options.bounds.max_memory);
    let (found, text) = match question.allowed {
        Some(text) => (dispatches(module, options, &watch)?, text.to_owned()),
        None => {
            let found = outcomes(module, options, &watch)?;
            let text = json::outcomes(&found);
            (found, text)
        }
    };
    let set = OutcomesFile::read(&text).map_err(nothing_runs)?;
    let open_floats = options.floats != Floats::Exact;
    let (mut runs, mut disagrees, mut is_beyond) = (Vec::new(), false, false);
    let mut failed = None;
    for (number, (run, json)) in found.runs.iter().zip(set.runs()).enumerate() {
        let dispatch = &run.explored.dispatch;
        let allowed = Allowed::of(json, dispatch).map_err(nothing_runs)?;
        let wanted = Wanted {
            launch: &options.launch,
            out_of_bounds: options.out_of_bounds,
            times: question.times,
            time: question.time,
        };
        let judged = match case_of(module, &run.program, dispatch, wanted) {
            Ok(own) => {
                let (judged, is_apart) = question.judged(&own, &allowed, dispatch, open_floats);
                disagrees |= is_apart;
                judged
            }
            Err(why) => {
                is_beyond = true;
                Judged::unknown(why)
            }
        };
        failed = failed.or_else(|| what(&judged, &allowed, run).map(|what| (what, number)));
        runs.push(Told { run, allowed, judged });
    }
    let is_known = found.unsupported.is_empty()
        && found.untried.is_empty()
        && runs.iter().all(|told| told.allowed.cut.is_none());
    let failure = runs.iter().find_map(|told| told.judged.failure.clone());
    let seen = runs.iter().flat_map(|told| &told.judged.seen);
    let wrong = seen.filter(|seen| !seen.is_allowed).map(|seen| seen.outcome.clone()).next();
    let allowed: usize = runs.iter().map(|told| told.allowed.listed.len()).sum();
    let shown: usize = runs.iter().map(|told| told.judged.seen_listed.len()).sum();
    let times = runs.iter().map(|told| told.judged.times()).sum();
    let report: RunReport<'_> = whole(&found, (*description).clone(), runs);
    let (verdict, line) = (report.verdict, report.line());
    let full = report.text(false, Painter { coloured: false });
    Ok(Held {
        verdict,
        line,
        text: full,
        failed,
        failure,
        times,
        wrong,
        is_beyond,
        disagrees,
        allowed: u64::try_from(allowed).unwrap_or(u64::MAX),
        shown: u64::try_from(shown).unwrap_or(u64::MAX),
        found,
        set: is_known.then_some(text),
    })
}

impl Question<'_> {
    /// What comes of the case, and whether that is not what always comes of the module itself, where no more is known.
    fn judged(
        &self,
        own: &Case,
        allowed: &Allowed,
        dispatch: &spirv_tv::dispatch::Dispatch,
        open_floats: bool,
    ) -> (Judged, bool) {
        if self.words == self.module.words {
            return (judge(self.executor, own, allowed, dispatch, open_floats), false);
        }
        let case = Case { words: self.words.to_vec(), ..own.clone() };
        let judged = judge(self.executor, &case, allowed, dispatch, open_floats);
        // Where the environment leaves results of floats open, both may be right.
        let is_open = allowed.open_floats.is_empty() || !open_floats;
        let is_unknown = judged.verdict == RunVerdict::Inconclusive && judged.failure.is_none();
        let is_apart = is_open
            && is_unknown
            && are_apart(&judged, &judge(self.executor, own, allowed, dispatch, open_floats));
        (judged, is_apart)
    }
}

/// Whether each showed one outcome, all the time, and not the same.
fn are_apart(one: &Judged, other: &Judged) -> bool {
    match (&one.seen[..], &other.seen[..]) {
        ([one], [other]) => one.outcome != other.outcome,
        _ => false,
    }
}

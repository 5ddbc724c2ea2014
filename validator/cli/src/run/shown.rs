//! What an executor does wrong with a module, for whoever asks about many modules.

use std::sync::Arc;
use std::time::Duration;

use spirv_tv::check::{outcomes, CheckOptions, Floats, OutcomesReport, OutcomesRun, Watch};
use spirv_tv::module::Module;
use spirv_tv::report::json;
use spirv_tv_executor::{Description, Execution, Executor};
use spirv_tv_gate::signature;

use super::allowed::{Allowed, OutcomesFile};
use super::case::{case_of, Wanted};
use super::judge::{self, Judged};
use super::verdict::RunVerdict;
use super::{nothing_runs, with_subgroups};
use crate::memory::MemoryLimit;
use crate::CliError;

/// What came of a module.
pub(crate) enum Shown {
    /// It showed something that is wrong: which failure it is (`KIND/WHAT`), and on which run of the report.
    Wrong { what: String, report: Box<OutcomesReport>, run: usize },
    /// Nothing, and why.
    Nothing(String),
}

/// Runs a module on an executor as often as is wanted, and says what it does wrong: an outcome that the module does not
/// allow, all of whose outcomes are known and which is defined; or that it fails.
///
/// # Errors
/// A bug of spirv-tv; an executor that cannot be started.
pub(crate) fn shown(
    module: &Module,
    options: &CheckOptions,
    executor: &dyn Executor,
    description: &Description,
    times: u32,
    time: Duration,
) -> Result<Shown, CliError> {
    let options = with_subgroups(options.clone(), None, description);
    let watch = Arc::new(Watch::default());
    let found = {
        let _limit = MemoryLimit::start(&watch, options.bounds.max_memory);
        match outcomes(module, &options, &watch).map_err(CliError::from) {
            Ok(found) => found,
            Err(error) if error.bug().is_some() => return Err(error),
            Err(error) => return Ok(Shown::Nothing(error.to_string())),
        }
    };
    let set = OutcomesFile::read(&json::outcomes(&found)).map_err(nothing_runs)?;
    let is_open = options.floats != Floats::Exact && !set.is_exact();
    let mut reasons = Vec::new();
    for (number, (run, json)) in found.runs.iter().zip(set.runs()).enumerate() {
        let allowed = Allowed::of(json, &run.explored.dispatch).map_err(nothing_runs)?;
        let wanted = Wanted { launch: &options.launch, out_of_bounds: options.out_of_bounds, times, time };
        let judged = match case_of(module, &run.program, &run.explored.dispatch, wanted) {
            Ok(case) => judge::judge(executor, &case, &allowed, &run.explored.dispatch, is_open),
            Err(why) => Judged::unknown(why),
        };
        if let Some(Execution::NotRun(why)) = &judged.failure {
            return Err(nothing_runs(why));
        }
        if let Some(what) = what(&judged, &allowed, run) {
            return Ok(Shown::Wrong { what, report: Box::new(found), run: number });
        }
        reasons.extend(judged.reasons.into_iter().next());
    }
    let missing = found.unsupported.iter().map(|one| format!("{} is not supported", one.what));
    let why = reasons.into_iter().chain(missing).next();
    Ok(Shown::Nothing(why.unwrap_or_else(|| "every outcome is allowed".to_owned())))
}

/// Which failure it is.
fn what(judged: &Judged, allowed: &Allowed, run: &OutcomesRun) -> Option<String> {
    match judged.verdict {
        RunVerdict::Violates => {
            let seen = judged.seen.iter().find(|seen| !seen.is_allowed)?;
            // The kind of memory where it differs from the nearest outcome that is allowed.
            let (_, different) = allowed.nearest(&seen.outcome).unwrap_or((&seen.outcome, Vec::new()));
            let mut observed = run.explored.dispatch.objects.iter().filter(|object| object.observed);
            let key =
                different.first().and_then(|(object, _)| observed.nth(*object)).map(|object| &object.key);
            let memory = key.map_or("", |key| key.split_once(':').map_or("buffer", |(prefix, _)| prefix));
            Some(
                ["new-outcome", memory]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join("/"),
            )
        }
        RunVerdict::ExecutorFailed => {
            let failure = judged.failure.as_ref()?;
            let said = match failure {
                Execution::Crashed(said)
                | Execution::DeviceLost(said)
                | Execution::OutOfMemory(said)
                | Execution::Failed(said)
                | Execution::Invalid(said) => said.as_str(),
                Execution::Finished(_)
                | Execution::Unsupported(_)
                | Execution::TimedOut(_)
                | Execution::NotRun(_) => "",
            };
            let told = signature::of_said(said).unwrap_or_else(|| signature::of_message(said));
            Some(
                [failure.name(), &told]
                    .into_iter()
                    .filter(|part| !part.is_empty())
                    .collect::<Vec<_>>()
                    .join("/"),
            )
        }
        RunVerdict::Vacuous | RunVerdict::Refines | RunVerdict::Inconclusive => None,
    }
}

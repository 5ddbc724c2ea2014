//! Which failure it is that an executor shows: the same for modules that fail for the same reason.

use spirv_tv::check::OutcomesRun;
use spirv_tv_executor::Execution;
use spirv_tv_gate::signature;

use super::allowed::Allowed;
use super::judge::Judged;
use super::verdict::RunVerdict;

/// The failure of a run, `KIND/WHAT`; `None` where it is none.
pub(super) fn what(judged: &Judged, allowed: &Allowed, run: &OutcomesRun) -> Option<String> {
    match judged.verdict {
        RunVerdict::Violates => {
            let seen = judged.seen.iter().find(|seen| !seen.is_allowed)?;
            // The kind of memory where it differs from the nearest outcome that is allowed.
            let (_, different) = allowed.nearest(&seen.outcome).unwrap_or((&seen.outcome, Vec::new()));
            let mut observed = run.explored.dispatch.objects.iter().filter(|object| object.observed);
            let key =
                different.first().and_then(|(object, _)| observed.nth(*object)).map(|object| &object.key);
            let memory = key.map_or("", |key| key.split_once(':').map_or("buffer", |(prefix, _)| prefix));
            Some(joined("new-outcome", memory))
        }
        RunVerdict::ExecutorFailed => {
            let failure = judged.failure.as_ref()?;
            Some(joined(failure.name(), &said(failure)))
        }
        RunVerdict::Vacuous | RunVerdict::Refines | RunVerdict::Inconclusive => None,
    }
}

fn joined(kind: &str, what: &str) -> String {
    match what {
        "" => kind.to_owned(),
        what => format!("{kind}/{what}"),
    }
}

/// What an executor said, without what differs from run to run; empty where it said nothing.
pub(crate) fn said(failure: &Execution) -> String {
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
    signature::of_said(said).unwrap_or_else(|| signature::of_message(said))
}

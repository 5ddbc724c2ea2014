//! A check in a few words, for the rows of a table of many.

use super::remarks::{self, input_name};
use super::{choices, launches};
use crate::check::{CheckReport, LaunchChoice, Reason};
use crate::compare::{self, Verdict};

/// What stands beside the verdict: the kind of violation and its input, why there is no answer, or on how many inputs
/// after refines before; `proved` where both are the same program but for ids, names and lines.
pub fn gist(report: &CheckReport) -> String {
    let decisive = report.decisive();
    match report.verdict {
        Verdict::Refines | Verdict::Vacuous if report.same_program => "proved".to_owned(),
        Verdict::Violates => {
            let violation = decisive.and_then(|run| Some((run, run.comparison.violation.as_ref()?)));
            match violation {
                Some((run, violation)) => format!("{} ({})", violation.kind, input_name(report, run)),
                None => remarks::reasons(&report.reasons).join("; "),
            }
        }
        Verdict::Refines => {
            let tried = report.tried();
            let plural = if tried.inputs == 1 { "" } else { "s" };
            let mut text = match tried.unfinished() {
                None => format!("{} input{plural}", tried.inputs),
                Some(unfinished) => {
                    format!("{} of {} input{plural}; {unfinished}", tried.finished, tried.inputs)
                }
            };
            let vacuous = report.usual().filter(|run| run.comparison.verdict == Verdict::Vacuous).count();
            if vacuous > 0 {
                text.push_str(&format!("; before is undefined on {vacuous}"));
            }
            text
        }
        Verdict::Vacuous => {
            let undefined = decisive.and_then(|run| run.before.behaviours.undefined.first());
            let kind =
                undefined.map_or_else(String::new, |(undefined, _)| format!(" ({})", undefined.kind.name()));
            format!("before is undefined{kind}")
        }
        Verdict::Inconclusive | Verdict::Error => causes(report).join(", "),
    }
}

/// Why there is no answer, each kind of reason by its name and what is not supported by its own: without lines and
/// numbers, so that checks that have the same causes can be told together.
pub fn causes(report: &CheckReport) -> Vec<String> {
    let unsupported = report.unsupported.iter().map(|item| item.what.clone());
    let own = report.reasons.iter().map(Reason::name);
    let of_run = report.decisive().into_iter().flat_map(|run| &run.comparison.reasons);
    let names = own.chain(of_run.map(compare::Reason::name)).map(str::to_owned);
    let causes = remarks::grouped(unsupported.chain(names).map(|cause| (cause, ())));
    causes.into_iter().map(|(cause, _)| cause).collect()
}

/// What the verdict rests on, in lines: the model with the choices, the launches without those that vary specialisation
/// constants, and the bounds. The inputs are not among it.
pub fn rests_on(report: &CheckReport) -> [Vec<String>; 3] {
    let counts = |launch: &&LaunchChoice| !launch.is_varied() && launch.passed_over.is_none();
    let launches = report.choices.launch.iter().filter(counts).map(choices::launch).collect();
    [vec![choices::model(&report.choices)], launches, vec![choices::bounds(&report.choices)]]
}

/// What qualifies the verdict: bounds, scopes that were not distinguished, a later launch, frozen specialisation
/// constants, changes that never ran, violations that are ignored.
pub fn qualifiers(report: &CheckReport) -> Vec<String> {
    let mut all = Vec::new();
    let bounds: Vec<&str> = report.bounds_hit().into_iter().map(crate::behaviour::Bound::name).collect();
    let partly = report.verdict == Verdict::Refines && report.tried().unfinished().is_some();
    if !bounds.is_empty() {
        all.push(format!("bounded ({})", bounds.join(", ")));
    } else if partly {
        all.push("bounded".to_owned());
    }
    if !report.undistinguished.is_empty() {
        let pairs = report.undistinguished.iter();
        let pairs: Vec<String> =
            pairs.map(|(narrow, wide)| format!("{} and {}", narrow.name(), wide.name())).collect();
        all.push(format!("scopes not distinguished ({})", pairs.join(", ")));
    }
    all.push(launches::rests_text(&report.choices.launch));
    // Where something is found or open, it matters little what else was not compared.
    if matches!(report.verdict, Verdict::Refines | Verdict::Vacuous) {
        all.push(launches::frozen_text(&report.frozen));
    }
    all.push(super::exercised::text(&report.exercised));
    let ignored: Vec<&str> = report.ignored().iter().map(|kind| kind.name()).collect();
    if !ignored.is_empty() {
        all.push(format!("ignored: {}", ignored.join(", ")));
    }
    all.retain(|text| !text.is_empty());
    all.into_iter().map(|text| text.trim_start_matches("; ").to_owned()).collect()
}

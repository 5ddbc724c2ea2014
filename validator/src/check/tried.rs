//! The verdict over the inputs of a check. An input whose search was not finished counts as not tried
//! (docs/semantics.md, section 1.5).

use std::collections::{BTreeMap, BTreeSet};

use super::result::{Run, Untried};
use crate::compare::{Cut, Verdict};

/// How many inputs were tried.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tried {
    /// Inputs that there are to try, over all entry points.
    pub inputs: usize,
    /// Inputs among them whose searches were finished.
    pub finished: usize,
    /// What kept the others from being finished.
    pub cuts: BTreeSet<Cut>,
    /// Of some entry point fewer than half were.
    pub too_few: bool,
}

impl Tried {
    /// The inputs of these runs, and those that were not tried.
    pub fn of<'a>(
        runs: impl IntoIterator<Item = &'a Run>,
        untried: impl IntoIterator<Item = &'a Untried>,
    ) -> Tried {
        let runs = runs.into_iter();
        let searches = runs.map(|run| (run.entry.as_str(), run.own_input(), run.comparison.unfinished));
        Tried::of_searches(searches, &untried.into_iter().collect::<Vec<_>>())
    }

    /// The same of entry points, inputs, and what kept a search from being finished.
    fn of_searches<'a>(
        searches: impl Iterator<Item = (&'a str, &'a str, Option<Cut>)>,
        untried: &[&'a Untried],
    ) -> Tried {
        let mut entries: BTreeMap<&str, BTreeMap<&str, bool>> = BTreeMap::new();
        let mut tried = Tried::default();
        for (entry, input, unfinished) in searches {
            // One input may have several runs.
            *entries.entry(entry).or_default().entry(input).or_insert(true) &= unfinished.is_none();
            tried.cuts.extend(unfinished);
        }
        for one in untried {
            entries.entry(&one.entry).or_default();
            tried.cuts.extend(one.cuts());
        }
        for (entry, inputs) in entries {
            let finished = inputs.values().filter(|finished| **finished).count();
            let others = untried.iter().filter(|one| one.entry == entry).map(|one| one.inputs);
            let all = inputs.len() + others.sum::<usize>();
            tried.inputs += all;
            tried.finished += finished;
            tried.too_few |= 2 * finished < all;
        }
        tried
    }

    /// The inputs that were not finished, and why: `7 not finished (executions)`.
    pub fn unfinished(&self) -> Option<String> {
        let count = self.inputs - self.finished;
        let cuts: Vec<&str> = self.cuts.iter().map(|cut| cut.of_what()).collect();
        (count > 0).then(|| format!("{count} not finished ({})", cuts.join(", ")))
    }
}

/// The verdict over these runs.
pub(super) fn combined<'a>(
    runs: impl IntoIterator<Item = &'a Run>,
    untried: impl IntoIterator<Item = &'a Untried>,
) -> Verdict {
    let runs: Vec<&Run> = runs.into_iter().collect();
    let finished = runs.iter().filter(|run| run.comparison.unfinished.is_none());
    let verdict = Verdict::combine(finished.map(|run| run.comparison.verdict));
    match runs.is_empty() || Tried::of(runs, untried).too_few {
        true => verdict.min(Verdict::Inconclusive),
        false => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::Missed;
    use super::*;
    use crate::behaviour::Stopped;

    const CUT: Option<Cut> = Some(Cut::Stopped(Stopped::MaxExecutions));

    fn tried(entries: &[(&str, usize, usize)]) -> Tried {
        let names: Vec<String> = (0..32).map(|number| number.to_string()).collect();
        let searches = entries.iter().flat_map(|&(entry, finished, inputs)| {
            let inputs = names.iter().take(inputs).enumerate();
            inputs.map(move |(number, name)| (entry, name.as_str(), CUT.filter(|_| number >= finished)))
        });
        Tried::of_searches(searches, &[])
    }

    #[test]
    fn half_of_the_inputs_of_each_entry_point_are_enough() {
        let nine = tried(&[("main", 9, 16)]);
        assert_eq!((nine.inputs, nine.finished, nine.too_few), (16, 9, false));
        assert_eq!(nine.unfinished().as_deref(), Some("7 not finished (executions)"));
        assert!(!tried(&[("main", 8, 16)]).too_few);
        assert!(tried(&[("main", 7, 16)]).too_few);
        assert!(tried(&[("main", 0, 1)]).too_few);
        // One whose inputs all were finished is no excuse for another one.
        assert!(tried(&[("main", 16, 16), ("other", 1, 3)]).too_few);
        assert_eq!(tried(&[("main", 3, 3)]).unfinished(), None);
    }

    #[test]
    fn what_there_was_no_time_for_was_not_finished() {
        let runs = [("main", "zeros", None), ("main", "distinct", None)];
        let of = |inputs, why: &Missed| {
            let entry = "main".to_owned();
            let untried = Untried { entry, launch: 0, inputs, why: why.clone() };
            let tried = Tried::of_searches(runs.into_iter(), &[&untried]);
            (tried.inputs, tried.finished, tried.too_few, tried.unfinished())
        };
        let no_time = Missed::NoTime(Stopped::Timeout);
        assert_eq!(of(2, &no_time), (4, 2, false, Some("2 not finished (time)".to_owned())));
        assert_eq!(of(3, &no_time), (5, 2, true, Some("3 not finished (time)".to_owned())));
        let step_before = Missed::StepBefore(CUT.into_iter().collect());
        assert_eq!(of(3, &step_before), (5, 2, true, Some("3 not finished (executions)".to_owned())));
    }

    #[test]
    fn an_input_is_finished_if_all_its_runs_are() {
        let runs = [("main", "zeros", None), ("main", "zeros", CUT), ("main", "distinct", None)];
        let tried = Tried::of_searches(runs.into_iter(), &[]);
        assert_eq!((tried.inputs, tried.finished, tried.too_few), (2, 1, false));
    }
}

//! Which mistake explains an outcome: the module with it ends as it was seen to.

use std::time::{Duration, Instant};

use spirv_tv::behaviour::Outcome;
use spirv_tv::check::{self, CheckOptions};
use spirv_tv::module::Module;
use spirv_tv_mutators::{self as mutators, Mutant, SIGNED_ZERO, WEAKENINGS, WRONG};

use super::sets;
use super::treatment::ENV;

/// Mistakes that a report lists.
const LISTED: usize = 10;

/// Mistakes that explain an outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Mistakes {
    /// What the bucket says; `None` where nothing explains it.
    pub(super) what: Option<String>,
    /// Their names: each by itself explains the outcome, or all together.
    names: Vec<String>,
    are_together: bool,
}

impl Mistakes {
    /// In words, as a report has it.
    pub(super) fn told(&self) -> Vec<String> {
        let head = match (&self.what, self.are_together) {
            (None, _) => return Vec::new(),
            (Some(_), true) => "It is what the module would do with these mistakes together:",
            (Some(_), false) => "It is what the module would do with one of these mistakes:",
        };
        let names = self.names.iter().map(|name| format!("- {name}"));
        std::iter::once(format!("\n{head}")).chain(names).collect()
    }
}

/// What is searched.
pub(super) struct Search<'a> {
    /// What was run.
    pub(super) words: &'a [u32],
    /// The launch, on which it has one outcome.
    pub(super) options: &'a CheckOptions,
    /// How long is searched.
    pub(super) time: Duration,
}

impl Search<'_> {
    /// The mistakes that explain an outcome.
    pub(super) fn mistakes(&self, wrong: &Outcome) -> Mistakes {
        let begun = Instant::now();
        let Ok(module) = mutators::Module::load(self.words, ENV) else { return Mistakes::default() };
        if let Some(names) = self.lost_signs(&module, wrong, begun) {
            let what = Some(SIGNED_ZERO.name().to_owned());
            return Mistakes { what, are_together: names.len() > 1, names };
        }
        let mutants = WRONG.iter().chain(WEAKENINGS).flat_map(|mutator| mutator.mutants(&module, 0));
        let in_time = mutants.take_while(|_| begun.elapsed() < self.time);
        let explains = |mutant: &Mutant| self.distance(&mutant.module.words(), wrong) == Some(0);
        let names: Vec<String> = in_time.filter(explains).map(|mutant| mutant.name()).take(LISTED).collect();
        // Sites are numbered; the same mistake elsewhere is the same.
        let what = |name: &String| name.split('#').next().unwrap_or(name).replace(' ', "-");
        Mistakes { what: names.first().map(what), names, are_together: false }
    }

    /// Lost signs of zeros that together make the module end so; `None` where there are none. A compiler loses them wherever it
    /// sees a zero, so that one alone may not explain what was seen, nor bring the module nearer to it.
    fn lost_signs(&self, module: &mutators::Module, wrong: &Outcome, begun: Instant) -> Option<Vec<String>> {
        let is_late = || begun.elapsed() >= self.time;
        // Places keep their numbers: no operation is added.
        let nth = |module: &mutators::Module, place: usize| SIGNED_ZERO.mutants(module, 0).nth(place);
        let (mut made, mut chosen) = (module.clone(), Vec::new());
        let mut left = self.distance(self.words, wrong)?;
        for place in 0..SIGNED_ZERO.mutants(module, 0).count() {
            if left == 0 {
                break;
            }
            if is_late() {
                return None;
            }
            let mutant = nth(&made, place)?;
            if let Some(distance) = self.distance(&mutant.module.words(), wrong).filter(|it| *it <= left) {
                chosen.push(place);
                (made, left) = (mutant.module, distance);
            }
        }
        if left > 0 || chosen.is_empty() {
            return None;
        }
        // Those that are not needed.
        for index in (0..chosen.len()).rev() {
            let mut fewer = chosen.clone();
            fewer.remove(index);
            let made = fewer.iter().try_fold(module.clone(), |made, place| Some(nth(&made, *place)?.module));
            if !is_late() && self.distance(&made?.words(), wrong) == Some(0) {
                chosen = fewer;
            }
        }
        chosen.into_iter().map(|place| Some(nth(module, place)?.name())).collect()
    }

    /// In how many bytes the module ends otherwise, in the nearest of its outcomes; `None` where it has none.
    fn distance(&self, words: &[u32], wrong: &Outcome) -> Option<usize> {
        let mut options = self.options.clone();
        // A mistake may make an endless loop.
        options.bounds.timeout = Some(self.time);
        let made = Module::from_words(words.to_vec(), "mistake", &sets::reading()).ok()?;
        let found = check::outcomes(&made, &options, &check::Watch::default()).ok()?;
        let outcomes = found.runs.iter().flat_map(|run| run.explored.behaviours.listed());
        let distance = |outcome: &Outcome| {
            let pairs = outcome.memory.iter().flatten().zip(wrong.memory.iter().flatten());
            pairs.filter(|(one, other)| one != other).count()
        };
        let comparable = outcomes.map(|(outcome, _)| outcome).filter(|outcome| {
            let sizes = |outcome: &Outcome| outcome.memory.iter().map(Vec::len).collect::<Vec<_>>();
            sizes(outcome) == sizes(wrong)
        });
        comparable.map(distance).min()
    }
}

//! Which mistake explains an outcome: the module with it ends as it was seen to.

use std::time::{Duration, Instant};

use spirv_tv::behaviour::Outcome;
use spirv_tv::check::{self, CheckOptions};
use spirv_tv::module::Module;
use spirv_tv::value::Byte;
use spirv_tv_mutators::{
    self as mutators, Mutant, Mutator, SIGNED_ZERO, WEAKENINGS, WIDENED_COMPARISON, WRONG,
};

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
    /// What was seen has other signs of zeros than allowed, and is else as it must be.
    are_signs: bool,
}

/// Mistakes that a compiler makes wherever it can, so that one alone may not explain what was seen, nor bring the module nearer to it.
const TOGETHER: [&dyn Mutator; 2] = [SIGNED_ZERO, WIDENED_COMPARISON];

impl Mistakes {
    /// In words, as a report has it.
    pub(super) fn told(&self) -> Vec<String> {
        let signs = self.are_signs.then(|| "\nAll that is wrong is the sign of zeros.".to_owned());
        let head = match (&self.what, self.are_together) {
            _ if self.names.is_empty() => None,
            (None, _) => None,
            (Some(_), true) => Some("It is what the module would do with these mistakes together:"),
            (Some(_), false) => Some("It is what the module would do with one of these mistakes:"),
        };
        let names = self.names.iter().map(|name| format!("- {name}"));
        signs.into_iter().chain(head.map(|head| format!("\n{head}"))).chain(names).collect()
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
        let are_signs = self.are_signs(&module, wrong);
        let known = TOGETHER
            .iter()
            .find_map(|mutator| Some((mutator, self.together(*mutator, &module, wrong, begun)?)));
        if let Some((mutator, names)) = known {
            let what = Some(mutator.name().to_owned());
            return Mistakes { what, are_together: names.len() > 1, names, are_signs };
        }
        if are_signs {
            let what = Some(SIGNED_ZERO.name().to_owned());
            return Mistakes { what, are_signs, ..Mistakes::default() };
        }
        let mutants = WRONG.iter().chain(WEAKENINGS).flat_map(|mutator| mutator.mutants(&module, 0));
        let in_time = mutants.take_while(|_| begun.elapsed() < self.time);
        let explains = |mutant: &Mutant| self.distance(&mutant.module.words(), wrong) == Some(0);
        let names: Vec<String> = in_time.filter(explains).map(|mutant| mutant.name()).take(LISTED).collect();
        // Sites are numbered; the same mistake elsewhere is the same.
        let what = |name: &String| name.split('#').next().unwrap_or(name).replace(' ', "-");
        Mistakes { what: names.first().map(what), names, ..Mistakes::default() }
    }

    /// Whether nothing is wrong but the sign of zeros that the module writes: each byte that differs is one that it has where all of
    /// them have one sign, and does not have where they have the other one.
    fn are_signs(&self, module: &mutators::Module, wrong: &Outcome) -> bool {
        let with =
            |are_negative: bool| self.outcomes(&mutators::with_zeros(module, are_negative).words(), wrong);
        let outcomes = self.outcomes(self.words, wrong);
        let ([right], [positive], [negative]) = (&outcomes[..], &with(false)[..], &with(true)[..]) else {
            return false;
        };
        let bytes = |outcome: &Outcome| outcome.memory.iter().flatten().copied().collect::<Vec<Byte>>();
        let [right, wrong, positive, negative] = [right, wrong, positive, negative].map(bytes);
        right != wrong
            && (0..right.len()).filter(|at| right[*at] != wrong[*at]).all(|at| {
                let signs = [positive[at], negative[at]];
                signs == [right[at], wrong[at]] || signs == [wrong[at], right[at]]
            })
    }

    /// Mistakes of one kind that together make the module end so; `None` where there are none.
    fn together(
        &self,
        mutator: &dyn Mutator,
        module: &mutators::Module,
        wrong: &Outcome,
        begun: Instant,
    ) -> Option<Vec<String>> {
        let is_late = || begun.elapsed() >= self.time;
        // Places before one that was changed keep their numbers.
        let nth = |module: &mutators::Module, place: usize| mutator.mutants(module, 0).nth(place);
        let (mut made, mut chosen) = (module.clone(), Vec::new());
        let mut left = self.distance(self.words, wrong)?;
        for place in (0..mutator.mutants(module, 0).count()).rev() {
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
        let distance = |outcome: &Outcome| {
            let pairs = outcome.memory.iter().flatten().zip(wrong.memory.iter().flatten());
            pairs.filter(|(one, other)| one != other).count()
        };
        self.outcomes(words, wrong).iter().map(distance).min()
    }

    /// The outcomes of a module with memory as large as that of `wrong`.
    fn outcomes(&self, words: &[u32], wrong: &Outcome) -> Vec<Outcome> {
        let mut options = self.options.clone();
        // A mistake may make an endless loop.
        options.bounds.timeout = Some(self.time);
        let found = Module::from_words(words.to_vec(), "mistake", &sets::reading())
            .ok()
            .and_then(|made| check::outcomes(&made, &options, &check::Watch::default()).ok());
        let runs = found.iter().flat_map(|found| &found.runs);
        let outcomes = runs.flat_map(|run| run.explored.behaviours.listed()).map(|(outcome, _)| outcome);
        let sizes = |outcome: &Outcome| outcome.memory.iter().map(Vec::len).collect::<Vec<_>>();
        outcomes.filter(|outcome| sizes(outcome) == sizes(wrong)).cloned().collect()
    }
}

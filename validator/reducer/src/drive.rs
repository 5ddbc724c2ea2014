//! Delta debugging: chunks of edits, halved, until no single edit is left that the oracle accepts.

use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::case::{Case, Launch, Size};
use crate::edits::{Edit, Family};
use crate::module::Module;

/// What an oracle says of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The case still shows what it is about.
    Interesting,
    /// It does not.
    Uninteresting,
    /// A module is not valid.
    Invalid,
}

/// Says whether a case still shows what it is about.
pub trait Oracle<L>: Sync {
    /// The answer; it must be the same each time, and may be asked from several threads.
    fn answer(&self, case: &Case<L>) -> Answer;
}

/// What wants to know how the reduction goes. All methods are called from one thread.
pub trait Observer<L> {
    /// An answer that is known already, from an earlier run; by the hash of the case.
    fn known(&mut self, hash: u128) -> Option<Answer> {
        let _ = hash;
        None
    }

    /// The oracle answered.
    fn answered(&mut self, hash: u128, answer: Answer) {
        let _ = (hash, answer);
    }

    /// The case became smaller.
    fn accepted(&mut self, case: &Case<L>, counts: &Counts) {
        let _ = (case, counts);
    }

    /// A family is tried.
    fn tries(&mut self, what: &str, counts: &Counts) {
        let _ = (what, counts);
    }

    /// Whether to end now.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// For nobody.
impl<L> Observer<L> for () {}

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many cases the oracle is asked about at once; it changes no result.
    pub jobs: usize,
    /// When to end.
    pub until: Option<Instant>,
    /// How many answers of the oracle to take at most.
    pub checks: Option<u64>,
}

/// Why a reduction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// No edit is left that makes the case smaller and that the oracle accepts.
    Minimal,
    /// The time is over.
    Time,
    /// The oracle was asked as often as it may be.
    Checks,
    /// The observer said so.
    Interrupted,
}

/// What was done. The numbers do not depend on the number of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Answers of the oracle that were taken.
    pub checks: u64,
    /// Those of them that said that a module is not valid.
    pub invalid: u64,
    /// Those of them that were accepted.
    pub accepted: u64,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Reduced<L> {
    /// The smallest case.
    pub case: Case<L>,
    /// Why there is no smaller one.
    pub stopped: Stopped,
    /// What was done.
    pub counts: Counts,
}

/// Makes an interesting case smaller.
pub fn reduce<L: Launch>(
    case: Case<L>,
    oracle: &dyn Oracle<L>,
    limits: Limits,
    observer: &mut dyn Observer<L>,
) -> Reduced<L> {
    let tried = FxHashSet::from_iter([case.hash()]);
    let mut driver = Driver {
        best_size: case.size(),
        best: case,
        oracle,
        limits,
        observer,
        tried,
        counts: Counts::default(),
    };
    let stopped = driver.run().err().unwrap_or(Stopped::Minimal);
    Reduced { case: driver.best, stopped, counts: driver.counts }
}

/// How edits are made.
struct Way {
    /// The modules in which they are.
    places: Vec<usize>,
    /// Whether values stay that nobody takes any more.
    keeps_values: bool,
}

struct Driver<'a, L> {
    best: Case<L>,
    best_size: Size,
    oracle: &'a dyn Oracle<L>,
    limits: Limits,
    observer: &'a mut dyn Observer<L>,
    /// The hashes of what was tried.
    tried: FxHashSet<u128>,
    counts: Counts,
}

impl<L: Launch> Driver<'_, L> {
    fn run(&mut self) -> Result<(), Stopped> {
        loop {
            let begun = self.counts.accepted;
            // Less that runs makes all checks shorter; the rest of the launch is of no importance while modules are large.
            self.launches(L::shorter)?;
            for family in Family::CHUNKED {
                self.family(family)?;
            }
            self.launches(L::smaller)?;
            self.gather()?;
            if self.counts.accepted == begun {
                for family in Family::SINGLE {
                    self.singly(family)?;
                }
            }
            if self.counts.accepted == begun {
                self.compact()?;
                return Ok(());
            }
        }
    }

    /// All edits of a family, in chunks.
    fn family(&mut self, family: Family) -> Result<(), Stopped> {
        self.observer.tries(family.name(), &self.counts);
        let edits = self.edits(family);
        let mut size = edits.len();
        // Edits that were made stay in the list: they find nothing to do.
        while size > 0 {
            let chunks: Vec<Range<usize>> =
                (0..edits.len()).step_by(size).map(|begin| begin..(begin + size).min(edits.len())).collect();
            let ways = self.ways(size);
            let all: Vec<(Range<usize>, &Way)> = chunks
                .into_iter()
                .flat_map(|chunk| ways.iter().map(move |way| (chunk.clone(), way)))
                .collect();
            self.each(all.len(), |best, index| {
                let (chunk, way) = all.get(index)?;
                best.edited(edits.get(chunk.clone())?, &way.places, way.keeps_values)
            })?;
            size /= 2;
        }
        Ok(())
    }

    /// All edits of a family, one by one.
    fn singly(&mut self, family: Family) -> Result<(), Stopped> {
        self.observer.tries(family.name(), &self.counts);
        let edits = self.edits(family);
        let ways: Vec<Way> = self.ways(1).into_iter().filter(|way| !way.keeps_values).collect();
        self.each(edits.len() * ways.len(), |best, index| {
            let (edit, way) = (edits.get(index / ways.len())?, ways.get(index % ways.len())?);
            best.edited(std::slice::from_ref(edit), &way.places, way.keeps_values)
        })
    }

    /// The edits of all modules, each once.
    fn edits(&self, family: Family) -> Vec<Edit> {
        let mut known = FxHashSet::default();
        let all = self.best.modules.iter().flat_map(|module| family.edits(module));
        all.filter(|edit| known.insert(edit.clone())).collect()
    }

    /// How a chunk of this size is made: in all modules, and single edits also in each alone, and without what they make
    /// needless.
    fn ways(&self, size: usize) -> Vec<Way> {
        let count = self.best.modules.len();
        let whole = |keeps_values| Way { places: (0..count).collect(), keeps_values };
        if size > 1 {
            return vec![whole(false)];
        }
        let alone =
            (0..count).filter(|_| count > 1).map(|place| Way { places: vec![place], keeps_values: false });
        [whole(false), whole(true)].into_iter().chain(alone).collect()
    }

    /// Smaller launches, as long as there are some.
    fn launches(&mut self, smaller: fn(&L) -> Vec<L>) -> Result<(), Stopped> {
        self.observer.tries("launch", &self.counts);
        loop {
            let begun = self.counts.accepted;
            let smaller = smaller(&self.best.launch);
            let from = self.best.launch.text();
            self.each(smaller.len(), |best, index| {
                // They are about the launch that they were made from.
                let launch = smaller.get(index).filter(|_| best.launch.text() == from)?.clone();
                Some(Case { modules: best.modules.clone(), launch })
            })?;
            if self.counts.accepted == begun {
                return Ok(());
            }
        }
    }

    /// One workgroup in the place of several, with as many invocations.
    fn gather(&mut self) -> Result<(), Stopped> {
        self.observer.tries("workgroups", &self.counts);
        let gathered = self.best.launch.gathered();
        let from = self.best.launch.text();
        self.each(gathered.len(), |best, index| {
            // They are about the launch that they were made from.
            let (launch, factors) = gathered.get(index).filter(|_| best.launch.text() == from)?;
            best.gathered(launch, *factors)
        })
    }

    /// Numbers the ids anew, without gaps.
    fn compact(&mut self) -> Result<(), Stopped> {
        let mut case = self.best.clone();
        Module::compact(&mut case.modules);
        let hash = case.hash();
        if hash == self.best.hash() {
            return Ok(());
        }
        if self.answers(&[(hash, case.clone())])?.first() == Some(&Answer::Interesting) {
            self.best = case;
            self.observer.accepted(&self.best, &self.counts);
        }
        Ok(())
    }

    /// Tries `count` candidates in their order, each made from the best case so far. Several are asked about at once; what
    /// stands behind one that is accepted is made again.
    fn each(
        &mut self,
        count: usize,
        candidate: impl Fn(&Case<L>, usize) -> Option<Case<L>> + Sync,
    ) -> Result<(), Stopped> {
        let jobs = self.limits.jobs.max(1);
        let mut next = 0;
        while next < count {
            let mut wave: Vec<(usize, u128, Case<L>)> = Vec::new();
            while next < count && wave.len() < jobs {
                let made =
                    candidate(&self.best, next).filter(|case| case.size().is_less_than(self.best_size));
                if let Some(case) = made {
                    let hash = case.hash();
                    let is_new =
                        !self.tried.contains(&hash) && wave.iter().all(|(_, other, _)| *other != hash);
                    if is_new {
                        wave.push((next, hash, case));
                    }
                }
                next += 1;
            }
            let asked: Vec<(u128, Case<L>)> =
                wave.iter().map(|(_, hash, case)| (*hash, case.clone())).collect();
            let answers = self.answers(&asked)?;
            if let Some(first) = answers.iter().position(|answer| *answer == Answer::Interesting) {
                if let Some((index, _, case)) = wave.into_iter().nth(first) {
                    (self.best_size, self.best) = (case.size(), case);
                    self.counts.accepted += 1;
                    self.observer.accepted(&self.best, &self.counts);
                    next = index + 1;
                }
            }
        }
        Ok(())
    }

    /// What the oracle says of cases, up to the first that is interesting.
    fn answers(&mut self, cases: &[(u128, Case<L>)]) -> Result<Vec<Answer>, Stopped> {
        let known: FxHashMap<u128, Answer> =
            cases.iter().filter_map(|(hash, _)| Some((*hash, self.observer.known(*hash)?))).collect();
        let oracle = self.oracle;
        // One that is known to be interesting ends the wave.
        let wanted = cases.iter().position(|(hash, _)| known.get(hash) == Some(&Answer::Interesting));
        let wanted = wanted.map_or(cases.len(), |index| index + 1);
        let cases = cases.get(..wanted).unwrap_or_default();
        let answers: Vec<Answer> = match cases {
            [(hash, case)] => vec![known.get(hash).copied().unwrap_or_else(|| oracle.answer(case))],
            _ => cases
                .par_iter()
                .map(|(hash, case)| known.get(hash).copied().unwrap_or_else(|| oracle.answer(case)))
                .collect(),
        };
        let mut taken = Vec::new();
        for ((hash, _), answer) in cases.iter().zip(answers) {
            // What came after the end is not trusted: it may have been cut.
            if self.observer.is_stopped() {
                return Err(Stopped::Interrupted);
            }
            if self.limits.until.is_some_and(|until| Instant::now() >= until) {
                return Err(Stopped::Time);
            }
            if self.limits.checks.is_some_and(|most| self.counts.checks >= most) {
                return Err(Stopped::Checks);
            }
            self.counts.checks += 1;
            self.counts.invalid += u64::from(answer == Answer::Invalid);
            self.tried.insert(*hash);
            if !known.contains_key(hash) {
                self.observer.answered(*hash, answer);
            }
            taken.push(answer);
            if answer == Answer::Interesting {
                break;
            }
        }
        Ok(taken)
    }
}

#[cfg(test)]
mod tests;

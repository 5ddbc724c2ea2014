//! Reuse of searches within a check and along a pipeline. The search of after is reused if its program is that of
//! before except for ids, names and lines. The search of before is reused if the previous step of the pipeline
//! had the module as after.
//!
//! Reuse changes only the time, and what reports say about reuse. A search is kept only if it holds what every
//! search of the program would find: it is complete, and the program is not undefined.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::behaviour::Behaviours;
use crate::compare::Cut;
use crate::dispatch::{Dispatch, Object};
use crate::explore::Settings;
use crate::ir::{Anonymous, Inexact, Line, Program};
use crate::launch::inputs::Chosen;
use crate::launch::kept::Kept;
use crate::witness;

/// Instructions for looks at further inputs that the steps of a pipeline share, beside those that each of them has.
const SHARED: u64 = 1_000_000;

/// The part of what is left of them that is given out at a time.
const PART: u64 = 4;

/// A program as [`Searches`] know it.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// Programs that are the same but for ids, names and lines have the same number.
    number: usize,
    program: Rc<Anonymous>,
}

impl Known {
    /// Whether both programs are the same but for ids, names and lines.
    pub(super) fn is_same(&self, other: &Known) -> bool {
        self.number == other.number
    }
}

/// What was found, and where.
#[derive(Debug)]
struct Search {
    program: Known,
    dispatch: Dispatch,
    settings: Settings,
    behaviours: Arc<Behaviours>,
    /// The check that last had it.
    check: u64,
}

/// What is known of searches in a series of checks.
#[derive(Debug, Default)]
pub struct Searches {
    programs: Vec<Rc<Anonymous>>,
    done: Vec<Search>,
    check: u64,
    /// What was chosen for the inputs of the checks so far.
    chosen: Chosen,
    /// Inputs of the checks before.
    pub(super) kept: Kept,
    /// What has kept searches of the inputs of an entry point from being finished.
    cuts: BTreeMap<String, BTreeSet<Cut>>,
    /// Instructions for looks that are left of what the checks share, if they do.
    shared: Option<u64>,
    /// Searches that need not be done, so far.
    spared: u64,
}

impl Searches {
    /// How many searches were not done because what they find was known.
    pub fn spared(&self) -> u64 {
        self.spared
    }

    /// From now on checks share their looks at further inputs, as the steps of a pipeline do.
    pub fn share_looks(&mut self) {
        self.shared.get_or_insert(SHARED);
    }

    /// Whether they do.
    pub(super) fn shares_looks(&self) -> bool {
        self.shared.is_some()
    }

    /// So many instructions for looks, or what there is of them.
    pub(super) fn draw(&mut self, wanted: u64) -> u64 {
        let Some(left) = &mut self.shared else { return wanted };
        let share = wanted.min(*left / PART);
        *left -= share;
        share
    }

    /// A search of an input of this entry point was not finished.
    pub(super) fn cut(&mut self, entry: &str, cut: Cut) {
        self.cuts.entry(entry.to_owned()).or_default().insert(cut);
    }

    /// Why searches of its inputs were not.
    pub(super) fn cuts(&self, entry: &str) -> BTreeSet<Cut> {
        self.cuts.get(entry).cloned().unwrap_or_default()
    }

    /// What was chosen for the inputs of the checks before.
    pub(super) fn chosen(&self) -> Chosen {
        self.chosen.clone()
    }

    /// Keeps what was chosen.
    pub(super) fn choose(&mut self, chosen: Chosen) {
        self.chosen = chosen;
    }

    /// A new check begins: what neither it nor the one before it has is forgotten.
    pub(super) fn start_check(&mut self) {
        let last = self.check;
        self.done.retain(|search| search.check == last);
        self.check += 1;
    }

    pub(super) fn known(&mut self, program: &Program) -> Known {
        let program = Rc::new(Anonymous::new(program));
        let number = self.programs.iter().position(|known| known.is_same(&program));
        let number = number.unwrap_or_else(|| {
            self.programs.push(Rc::clone(&program));
            self.programs.len() - 1
        });
        Known { number, program }
    }

    /// What a search of the program would find, told with its lines.
    pub(super) fn find(
        &mut self,
        program: &Known,
        dispatch: &Dispatch,
        settings: &Settings,
    ) -> Option<Arc<Behaviours>> {
        let found = self.done.iter_mut().find_map(|search| {
            let same = search.program.number == program.number
                && is_same_dispatch(&search.dispatch, dispatch)
                && finds_the_same(&search.settings, settings);
            let behaviours = if same { search.told_for(program, dispatch) } else { None };
            if behaviours.is_some() {
                search.check = self.check;
                dispatch.coverage.add(&search.dispatch.coverage);
            }
            behaviours
        });
        self.spared += u64::from(found.is_some());
        found
    }

    /// Keeps what a search found, where that is all there is.
    pub(super) fn keep(
        &mut self,
        program: &Known,
        dispatch: &Dispatch,
        settings: Settings,
        behaviours: &Arc<Behaviours>,
    ) {
        if behaviours.complete && behaviours.undefined.is_empty() {
            self.done.push(Search {
                program: program.clone(),
                dispatch: dispatch.clone(),
                settings,
                behaviours: Arc::clone(behaviours),
                check: self.check,
            });
        }
    }
}

impl Search {
    /// The behaviours with the lines and keys of another program that is the same; `None` where a line is
    /// that of several others.
    fn told_for(&self, program: &Known, dispatch: &Dispatch) -> Option<Arc<Behaviours>> {
        let (from, to) = (self.program.program.lines(), program.program.lines());
        let same_keys = keys(&self.dispatch).eq(keys(dispatch));
        if from == to && same_keys {
            return Some(Arc::clone(&self.behaviours));
        }
        let mut lines = BTreeMap::new();
        for (from, to) in from.iter().zip(to) {
            if lines.insert(*from, *to).is_some_and(|known| known != *to) {
                return None;
            }
        }
        let mut behaviours = Behaviours::clone(&self.behaviours);
        tell(&mut behaviours, &|line| lines.get(&line).copied().unwrap_or(0));
        behaviours.produced = BTreeMap::new();
        for ((key, offset), values) in &self.behaviours.produced {
            for (_, to) in keys(&self.dispatch).zip(keys(dispatch)).filter(|(from, _)| from == key) {
                let into = behaviours.produced.entry((to.to_owned(), *offset)).or_default();
                into.extend(values.iter().cloned());
            }
        }
        Some(Arc::new(behaviours))
    }
}

/// Gives everything that was found other lines.
fn tell(behaviours: &mut Behaviours, line: &dyn Fn(Line) -> Line) {
    let Behaviours {
        outcomes,
        product,
        forgotten: _,
        inexact,
        // There are none among what is kept.
        undefined: _,
        undecided: _,
        executions: _,
        explored: _,
        paths: _,
        complete: _,
        bounded: _,
        ends_at_target: _,
        stopped: _,
        produced: _,
        speculates: _,
        has_strays: _,
        // Of buffers, which have the same keys in both.
        written_astray: _,
        read_astray: _,
        open_reads: _,
    } = behaviours;
    let parts = product.iter_mut().flat_map(|product| &mut Arc::make_mut(product).parts);
    let outcomes = outcomes.iter_mut().chain(parts.flat_map(|part| &mut part.outcomes));
    witness::relocate(outcomes.map(|(_, witness)| witness), line);
    *inexact = inexact.iter().map(|place| Inexact { line: line(place.line), ..*place }).collect();
}

fn keys(dispatch: &Dispatch) -> impl Iterator<Item = &str> {
    dispatch.objects.iter().map(|object| object.key.as_str())
}

/// Whether two dispatches are the same, but for the names of Workgroup variables that nobody observes.
pub(super) fn is_same_dispatch(a: &Dispatch, b: &Dispatch) -> bool {
    if a.objects.len() != b.objects.len() || a.places.len() != b.places.len() {
        return false;
    }
    let is_anonymous = |object: &Object| object.key.starts_with('%') && !object.observed;
    let anonymous = |dispatch: &Dispatch| {
        let mut dispatch = dispatch.clone();
        dispatch.objects.iter_mut().filter(|it| is_anonymous(it)).for_each(|it| it.key.truncate(1));
        dispatch
    };
    // Copies are dear.
    a == b || a.objects.iter().any(is_anonymous) && anonymous(a) == anonymous(b)
}

/// Whether a search with `wanted` finds what one with `had` found, where that was everything.
fn finds_the_same(had: &Settings, wanted: &Settings) -> bool {
    let Settings {
        model,
        races,
        strict_hangs,
        structural_reconvergence,
        spin_bound,
        max_instructions,
        max_executions,
        max_steps,
        max_memory,
        shortcuts,
        without,
        speculate,
        speculate_plain,
        foreseen,
        remark,
        axioms,
        multiply_out,
        factored_from,
        verify_engine,
        // How an undefined behaviour is found, and what follows, where there is one.
        stop_at_undefined: _,
        early_races_from: _,
        // Where it ends before its time, who does the work, and who watches.
        timeout: _,
        timed_by: _,
        jobs: _,
        progress: _,
    } = had;
    *model == wanted.model
        && *races == wanted.races
        && *strict_hangs == wanted.strict_hangs
        && *structural_reconvergence == wanted.structural_reconvergence
        && *spin_bound == wanted.spin_bound
        && *max_instructions == wanted.max_instructions
        && *max_executions == wanted.max_executions
        && *max_steps == wanted.max_steps
        && *max_memory == wanted.max_memory
        && *shortcuts == wanted.shortcuts
        && *without == wanted.without
        && *speculate_plain == wanted.speculate_plain
        && *foreseen == wanted.foreseen
        && remark.is_none()
        && wanted.remark.is_none()
        && *axioms == wanted.axioms
        && *multiply_out == wanted.multiply_out
        && *factored_from == wanted.factored_from
        && *verify_engine == wanted.verify_engine
        && *speculate == wanted.speculate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_that_share_their_looks_get_less_and_less() {
        let mut searches = Searches::default();
        assert_eq!([searches.draw(7 * SHARED), searches.draw(1)], [7 * SHARED, 1]);
        searches.share_looks();
        let first = searches.draw(7 * SHARED);
        searches.share_looks();
        assert_eq!([first, searches.draw(7 * SHARED)], [SHARED / PART, (SHARED - SHARED / PART) / PART]);
        assert_eq!(searches.draw(5), 5);
    }
}

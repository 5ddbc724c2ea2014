//! Inputs that are worth a search: both modules run once, one invocation after the other, on more inputs than are
//! searched. An input on which they end differently is searched, too.
//!
//! Such a run is one interleaving and decides nothing. That a change of what each invocation computes shows in it is
//! likely, and it costs a fraction of a search.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::error::CheckError;
use super::launched::Plan;
use super::pair::{timed_by, Checker, Programs};
use super::prepare;
use super::result::{Missed, Role, Run, Untried};
use super::scout::{Ends, Look, Plain, Scout, Seen, LOOK};
use super::scouted::{Scouted, DEEP, ENOUGH};
use super::shares::{Lasting, Rarely};
use super::solving::{Broken, Repairing, Runs, Tried, MOST_REPAIRING, REPAIRING, SOLVING};
use crate::behaviour::Deadline;
use crate::compare::{Note, Reason, Verdict};
use crate::correspondence::Texts;
use crate::coverage;
use crate::dispatch::Dispatch;
use crate::ir::{Line, Program};
use crate::launch::inputs::{Inputs, Next, Touched, Trial};
use crate::launch::patch::Patch;
use crate::launch::trial::{self, BUDGET};
use crate::launch::values::Kind;
use crate::launch::{Input, Launch};

/// Inputs that are looked at beyond those that may be searched.
pub(super) const SCOUTED: u32 = 4096;

/// Instructions of all such runs of a pair, if there are so many.
pub(super) const FUEL: u64 = 46_000_000;

/// So many of them cost no looks, if each has one execution; others cost as much as so many looks.
const FREE_SEARCHES: u32 = 24;
const LOOKS_OF_SEARCH: u64 = 8;

/// What a search costs, in looks, beside one for each execution: more where there are several.
const SEARCH: u64 = 8;
const PLAIN_SEARCH: u64 = 3;

/// Inputs that were solved for and are repaired, at most, without what they were solved for being changed again: as a whole,
/// and by what was read last before undefined behaviour.
const HELD_REPAIRS: u32 = 3;
const HELD_CHASES: u32 = 48;

/// Inputs on which it costs more instructions to look at both are not followed instruction by instruction.
const DEAR_TO_FOLLOW: u64 = 1 << 18;

/// None are where looks may take fewer instructions than this in all.
const LEAST_TO_FOLLOW: u64 = 1 << 19;

/// Looks after which inputs are solved for.
const SOLVED_AFTER: [u32; 2] = [24, 120];

/// On one of so many inputs the last workgroup runs, too, and on all that were solved for, or where nothing is searched: what it
/// does may be what shows.
const BOTH_EVERY: u32 = 4;

/// The part of the instructions that are left that inputs with parameters at the ends of their range may cost.
const SWEEPING: u64 = 4;

/// Where nothing has served yet in a launch with such looks, other looks may take so many times less.
const HASTE: u64 = 8;

/// How often inputs are solved for from one on which what was changed goes farther than on those before.
const STEPS: u32 = 8;

/// How often inputs are solved for once more, as those that were solved for have reached something new.
const ROUNDS: u32 = 6;

/// How the next input is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Making {
    Plain,
    Graft,
    Solved,
}

impl Checker<'_> {
    /// Looks at further inputs, and searches those on which both modules end differently. `first`: the number of the
    /// first run of this launch.
    pub(super) fn scout(
        &mut self,
        programs: &Programs,
        launch: &Launch,
        inputs: &mut Inputs<'_>,
        first: usize,
        plan: &Plan,
    ) -> Result<(), CheckError> {
        let [before, after] = &programs.known;
        if before.is_same(after) {
            return Ok(());
        }
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        inputs.extend(plan.scouted);
        let scout = Scout::of(programs);
        if scout.communicate {
            // It takes whole workgroups to find out their sizes.
            inputs.guess_images();
        }
        let runs = |dispatch: &Dispatch| (scout.invocations(dispatch, Ends::Both), scout.communicate);
        let handful = |dispatch: &Dispatch| (Scout::handful(dispatch), scout.communicate);
        let few = |dispatch: &Dispatch| (Scout::few(dispatch), scout.communicate);
        let all = |dispatch: &Dispatch| (Scout::widely(dispatch), scout.communicate);
        let sizing = Cell::new(0_u64);
        // That all take too long to find out what they touch.
        let is_dear = Cell::new(false);
        let mut trial = |dispatch: &Dispatch, limits: &[u32]| {
            // The last ones have the greatest indices.
            let is_known_dear = is_dear.get();
            let mut order = match is_known_dear {
                true => Scout::few(dispatch),
                false => scout.invocations(dispatch, Ends::Both),
            };
            order.reverse();
            let mut touched = trial::touched_by(&programs.before, dispatch, &order, limits, &is_over)?;
            if !is_known_dear {
                is_dear.set(touched.executed >= BUDGET);
                touched = with_few(&programs.before, dispatch, limits, touched, &is_over)?;
            }
            sizing.set(sizing.get().saturating_add(touched.executed));
            Some(touched)
        };
        let lines = self.changed();
        let changed = [(&programs.before, &lines[0]), (&programs.after, &lines[1])]
            .map(|(program, lines)| coverage::blocks_on(program, lines));
        let mut scouted = Scouted {
            programs,
            launch,
            plan,
            scout: &scout,
            first,
            fuel: plan.fuel,
            sizing: &sizing,
            looks: 0,
            ends: Ends::Both,
            deep: 0,
            haste: 1,
            deep_fuel: plan.deep_fuel,
            searched: 0,
            decided: 0,
            permitted: 0,
            open: None,
            plain: Plain::default(),
            changed,
            counterparts: match plan.fuel < LEAST_TO_FOLLOW {
                true => BTreeMap::new(),
                false => Texts::of(&self.before.text, &self.after.text).matched().counterparts(),
            },
            differing: BTreeSet::new(),
            broken: Vec::new(),
            repairs: 0,
            held_repairs: 0,
            whole_repairs: 0,
            repaired: 0,
            has_solved_new: false,
            has_gone_farther: false,
            following: Rarely::default(),
            resizing: Rarely::default(),
            lasting: Lasting::default(),
            late: None,
            later: 0,
        };
        let (mut solved, mut tried) = (VecDeque::new(), Tried::default());
        let (mut next_solving, mut rounds, mut steps) = (SOLVED_AFTER[0], 0, 0);
        let (mut swept, mut has_swept, mut unswept) = (VecDeque::new(), false, 0);
        while !scouted.has_enough() && !is_over() {
            let is_last = inputs.left() == 0;
            if solved.is_empty() && inputs.has_served() {
                let again = rounds < ROUNDS && std::mem::take(&mut scouted.has_solved_new);
                if again || scouted.looks >= next_solving || is_last && next_solving < u32::MAX {
                    rounds += u32::from(again);
                    let later = SOLVED_AFTER.into_iter().find(|after| *after > scouted.looks && !is_last);
                    next_solving = later.unwrap_or(u32::MAX);
                    let (found, cost) = self.solve(
                        (programs, &lines),
                        launch,
                        inputs,
                        &runs,
                        (&mut tried, scouted.fuel / SOLVING),
                    )?;
                    scouted.fuel = scouted.fuel.saturating_sub(cost);
                    solved.extend(found.into_iter().map(|found| (found, 0)));
                } else if steps < STEPS && std::mem::take(&mut scouted.has_gone_farther) {
                    steps += 1;
                    let sides = (programs, &scouted.counterparts);
                    let (found, cost) =
                        self.solve_from_last(sides, launch, inputs, &runs, scouted.fuel / SOLVING)?;
                    scouted.fuel = scouted.fuel.saturating_sub(cost);
                    solved.extend(found.into_iter().map(|found| (found, 0)));
                } else if !has_swept
                    && (next_solving == u32::MAX || scouted.looks >= SOLVED_AFTER[0] && inputs.has_telling())
                {
                    has_swept = true;
                    let (found, cost) = self.swept(programs, launch, inputs)?;
                    scouted.fuel = scouted.fuel.saturating_sub(cost);
                    unswept = scouted.fuel - scouted.fuel / SWEEPING;
                    swept.extend(found.into_iter().map(|found| (found, 0)));
                }
            }
            // What costs more comes later.
            let is_next = |broken: &Broken| broken.held.is_empty() || broken.how == Repairing::Chase;
            let next = scouted.broken.iter().rposition(|broken| solved.is_empty() || is_next(broken));
            if let Some(broken) = next.map(|next| scouted.broken.remove(next)) {
                let seed = u64::from(inputs.begun());
                let deep = if broken.held.is_empty() { scouted.deep(inputs) } else { 0 };
                let fuel = match broken.held.is_empty() {
                    true if deep > 0 => scouted.deep_fuel / DEEP,
                    true => {
                        let part = REPAIRING * u64::from(scouted.repairs);
                        scouted.fuel / part.clamp(REPAIRING, MOST_REPAIRING)
                    }
                    false => scouted.fuel / MOST_REPAIRING,
                };
                let runs: [Runs<'_>; 3] = [&handful, &few, &all];
                let (found, cost) =
                    self.repair(&programs.before, launch, inputs, (runs, deep), &broken, (seed, fuel))?;
                scouted.pay(deep > 0, cost);
                scouted.repaired += u32::from(found.is_some() && broken.held.is_empty());
                let is_whole_next = found.is_none() && broken.how == Repairing::Chase;
                if is_whole_next && scouted.whole_repairs < HELD_REPAIRS {
                    scouted.whole_repairs += 1;
                    scouted.broken.push(Broken { how: Repairing::Whole, ..broken });
                }
                solved.extend(found.map(|found| (found, deep)));
            }
            let mut held = Vec::new();
            scouted.deep = 0;
            let sweeps = solved.is_empty() && scouted.fuel > unswept;
            let (making, next) = match solved.pop_front().or_else(|| swept.pop_front().filter(|_| sweeps)) {
                Some(((recipe, patches), deep)) => {
                    scouted.deep = deep;
                    held.clone_from(&patches);
                    (Making::Solved, inputs.patched(&recipe, patches, &mut trial))
                }
                None if is_last => break,
                None if inputs.has_served() && scouted.plain.asks_for_grafts(inputs.begun()) => {
                    (Making::Graft, inputs.grafted(&mut trial))
                }
                None => (Making::Plain, inputs.next(&mut trial)),
            };
            scouted.pay_sizing();
            let input = match prepare::supported(next, Role::Before)? {
                Ok(Next::Input(input)) => input,
                // It is like one before, or there are no more of its kind.
                Ok(Next::Over) => continue,
                Ok(Next::OutOfTime) | Err(_) => break,
            };
            if !self.consider(&mut scouted, inputs, (input, making, held), &mut trial)? {
                return Ok(());
            }
        }
        let is_undecided = scouted.decided + scouted.permitted == 0;
        if let Some((input, cost)) = scouted.late.take() {
            if is_over() {
                let entry = programs.before.entry.name.clone();
                let (launch, why) = (self.found.launches.len() - 1, Missed::NoTime(timed_by(deadline)));
                self.found.untried.push(Untried { entry, launch, inputs: 1, why });
            } else {
                if plan.is_only_looked_at() {
                    // Others are looked at after it.
                    self.runner.deadline = deadline.map(Deadline::sooner);
                }
                let goes_on = self.search(&mut scouted, input, cost)?;
                self.runner.deadline = deadline;
                if !goes_on {
                    return Ok(());
                }
            }
        }
        self.found.later += scouted.later;
        match scouted.open {
            Some(run) if is_undecided && !plan.is_only_looked_at() => {
                (self.each)(&run);
                self.found.runs.push(run);
            }
            Some(run) => self.found.warnings.push(format!(
                "{}: nothing is decided on input '{}', on which both modules end differently where their invocations run \
                 one after the other; others were tried",
                run.entry, run.input.name
            )),
            None => {}
        }
        Ok(())
    }

    /// Looks at an input, and searches it if that is worth it; false where the check is at its end.
    fn consider(
        &mut self,
        scouted: &mut Scouted<'_>,
        inputs: &mut Inputs<'_>,
        (mut input, making, held): (Input, Making, Vec<Patch>),
        trial: &mut Trial<'_>,
    ) -> Result<bool, CheckError> {
        let is_both = making == Making::Solved
            || scouted.plan.is_only_looked_at()
            || scouted.looks % BOTH_EVERY == BOTH_EVERY - 1;
        // Where looks may take long, what is left for repairs counts more than what others show.
        scouted.haste = if scouted.deep(inputs) > 0 { HASTE } else { 1 };
        scouted.ends = if is_both { Ends::Both } else { Ends::First };
        let Scouted { programs, launch, plan, .. } = *scouted;
        let mut look = self.look(scouted, &input)?;
        let is_undefined =
            |look: &Option<Looked>| look.as_ref().is_some_and(|it| it.seen.look == Look::Undefined);
        if is_undefined(&look) && (making == Making::Solved || scouted.resizing.is_due(scouted.spent())) {
            let resized = prepare::supported(inputs.resized(trial), Role::Before)?;
            let mut cost = scouted.pay_sizing();
            if let Ok(Next::Input(larger)) = resized {
                scouted.fuel = scouted.fuel.saturating_sub(look.map_or(0, |looked| looked.seen.cost));
                input = larger;
                look = self.look(scouted, &input)?;
                cost = cost.saturating_add(look.as_ref().map_or(0, |looked| looked.seen.cost));
            }
            let serves = look.as_ref().is_some_and(|looked| looked.seen.look.is_defined());
            scouted.resizing.note(serves, cost);
        }
        let Some(Looked { seen, is_new, leads_on, is_changed }) = look else {
            scouted.fuel = 0;
            return Ok(true);
        };
        let Seen { look, works, is_cut, cost } = seen;
        if scouted.deep > 0 {
            // What it costs more than others is paid at once.
            scouted.pay(true, cost.saturating_sub(BUDGET));
        }
        self.found.looked_at += 1;
        scouted.looks += 1;
        scouted.lasting.note(is_cut, cost);
        scouted.later += u32::from(look == Look::Late);
        let is_defined = look.is_defined();
        let has_worked = self.works.unwrap_or(false) || works || look.is_cut();
        self.works = Some(has_worked);
        let goes_farther = look == Look::Alike && is_changed && self.goes_farther(scouted, &input, cost)?;
        if is_defined {
            inputs.serve(
                is_new || goes_farther,
                works && is_changed && scouted.differing.is_empty() || goes_farther,
            );
        }
        scouted.has_gone_farther |= goes_farther;
        scouted.has_solved_new |= making == Making::Solved && is_defined && (is_new || goes_farther);
        if making == Making::Plain {
            let serves = is_defined && works;
            scouted.plain.note(serves);
            let is_broken = !serves && !matches!(look, Look::Late | Look::Unseen);
            if is_broken && scouted.plain.are_mostly_undefined() && scouted.may_repair() {
                scouted.repairs += 1;
                scouted.break_off(inputs, input.clone(), Vec::new(), Repairing::Whole);
            }
        }
        // What it was solved for leads to something new, if before gets over the rest.
        if making == Making::Solved && leads_on && scouted.held_repairs < HELD_CHASES {
            scouted.held_repairs += 1;
            scouted.break_off(inputs, input.clone(), held, Repairing::Chase);
        }
        let is_vacuous = |run: &Run| run.comparison.verdict == Verdict::Vacuous;
        // Zeros show least.
        let says_little = |run: &Run| is_vacuous(run) || run.input.name == Kind::Zeros.name();
        let none_decided = || self.found.runs.iter().skip(scouted.first).all(says_little);
        let is_wanted = || !plan.is_only_looked_at() && none_decided();
        if look == Look::Differently || look == Look::Alike && is_wanted() {
            if self.conflicts(scouted, &input)? {
                if scouted.may_repair() {
                    scouted.repairs += 1;
                    scouted.break_off(inputs, input, Vec::new(), Repairing::Whole);
                }
                scouted.fuel = scouted.fuel.saturating_sub(cost);
                return Ok(true);
            }
            if is_cut {
                let is_enough =
                    plan.is_only_looked_at() && self.found.runs.iter().any(|it| it.comparison.bounded);
                match scouted.late {
                    None if !is_enough => scouted.late = Some((input, cost)),
                    None | Some(_) => scouted.later += 1,
                }
                scouted.fuel = scouted.fuel.saturating_sub(cost);
                return Ok(true);
            }
            input = self.calmed(programs, launch, inputs, input, trial)?;
            inputs.distrust();
            let deadline = self.runner.deadline;
            let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
            let mut whole = |dispatch: &Dispatch, limits: &[u32]| {
                let touched = trial::touched(&programs.before, dispatch, limits, &is_over)?;
                with_few(&programs.before, dispatch, limits, touched, &is_over)
            };
            if let Ok(Next::Input(larger)) = prepare::supported(inputs.resized(&mut whole), Role::Before)? {
                input = larger;
            }
            if !self.search(scouted, input, cost)? {
                return Ok(false);
            }
        }
        scouted.fuel = scouted.fuel.saturating_sub(cost);
        Ok(true)
    }

    /// Searches an input at which it cost so many instructions to look; false where the check is at its end.
    fn search(&mut self, scouted: &mut Scouted<'_>, input: Input, cost: u64) -> Result<bool, CheckError> {
        let Scouted { programs, launch, .. } = *scouted;
        let is_vacuous = |run: &Run| run.comparison.verdict == Verdict::Vacuous;
        scouted.searched += 1;
        let known = self.found.runs.len();
        let ended = self.input(programs, launch, input)?;
        let explored = self.found.runs.get(known).map_or(1, Run::explored);
        let beside = if explored <= 1 { PLAIN_SEARCH } else { SEARCH };
        let searching = explored.saturating_add(beside).saturating_mul(cost.saturating_sub(LOOK));
        let is_free = scouted.searched <= FREE_SEARCHES;
        let searching = searching.saturating_add(if is_free { 0 } else { LOOKS_OF_SEARCH * LOOK });
        scouted.fuel = scouted.fuel.saturating_sub(searching);
        match self.found.runs.get(known) {
            // Another input may show what floats leave open here.
            Some(run) if hangs_on_floats(run) => {
                let run = self.found.runs.drain(known..).next();
                scouted.open = scouted.open.take().or(run);
            }
            Some(run) if is_vacuous(run) => self.found.runs.truncate(known),
            Some(run) if is_permitted(run) && scouted.permitted >= ENOUGH => {
                self.found.runs.truncate(known);
            }
            run => {
                match run.is_some_and(is_permitted) {
                    true => scouted.permitted += 1,
                    false => scouted.decided += 1,
                }
                self.found.runs.iter().skip(known).for_each(&mut *self.each);
            }
        }
        Ok(!ended)
    }

    /// Whether instructions that correspond give something else on this input that gave the same on all others: what was
    /// changed goes farther towards an outcome.
    fn goes_farther(
        &mut self,
        scouted: &mut Scouted<'_>,
        input: &Input,
        cost: u64,
    ) -> Result<bool, CheckError> {
        if cost > DEAR_TO_FOLLOW
            || scouted.counterparts.is_empty()
            || !scouted.following.is_due(scouted.spent())
        {
            return Ok(false);
        }
        let Scouted { programs, launch, scout, ends, .. } = *scouted;
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let mut results = Vec::new();
        for (program, role) in [(&programs.before, Role::Before), (&programs.after, Role::After)] {
            let Ok(dispatch) = prepare::dispatch_of(program, role, launch, input)? else { return Ok(false) };
            let invocations = scout.invocations(&dispatch, ends);
            let Some(given) = trial::results(program, &dispatch, &invocations, &is_over) else {
                return Ok(false);
            };
            results.push(given);
        }
        let [before, after] = &results[..] else { return Ok(false) };
        scouted.fuel = scouted.fuel.saturating_sub(cost);
        let differing = scouted.counterparts.iter().filter(|(new, old)| {
            after.get(new).zip(before.get(old)).is_some_and(|(after, before)| after != before)
        });
        let known = scouted.differing.len();
        let differing: Vec<Line> = differing.map(|(line, _)| *line).collect();
        scouted.differing.extend(differing);
        let goes_farther = scouted.differing.len() > known;
        scouted.following.note(goes_farther, cost);
        Ok(goes_farther)
    }

    /// Whether any invocations of before conflict on an input on which few of them do not.
    fn conflicts(&self, scouted: &mut Scouted<'_>, input: &Input) -> Result<bool, CheckError> {
        let Scouted { programs, launch, scout, .. } = *scouted;
        if scout.synchronizes {
            return Ok(false);
        }
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let Ok(dispatch) = prepare::dispatch_of(&programs.before, Role::Before, launch, input)? else {
            return Ok(false);
        };
        let invocations = Scout::widely(&dispatch);
        let Some(ended) = trial::ended(&programs.before, &dispatch, (&invocations, BUDGET), &is_over) else {
            return Ok(false);
        };
        scouted.fuel = scouted.fuel.saturating_sub(ended.executed.saturating_add(LOOK));
        Ok(ended.conflicts || ended.faulted > 0)
    }

    /// How both end on an input; `None` where something in it is not supported, or time is over.
    fn look(&mut self, scouted: &Scouted<'_>, input: &Input) -> Result<Option<Looked>, CheckError> {
        let Scouted { programs, launch, scout, ends, .. } = scouted;
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let Some(pair) = self.pair(programs, launch, input, String::new())? else { return Ok(None) };
        let budget = match scouted.deep {
            0 => scouted.lasting.allowance(scouted.spent()) / scouted.haste,
            deep => deep.max(BUDGET),
        };
        let Some(seen) = scout.look(&pair, (*ends, budget), &is_over) else { return Ok(None) };
        let is_defined = seen.look.is_defined();
        let [of_before, of_after] = &scouted.changed;
        let is_changed = is_defined
            && (pair.before_dispatch.coverage.reaches(&programs.before, of_before)
                || pair.after_dispatch.coverage.reaches(&programs.after, of_after));
        // What a stage before hands over is no parameter.
        let leads_on = seen.look == Look::Undefined
            && pair.before_dispatch.inputs.is_empty()
            && self.covered[0].lacks_of(&pair.before_dispatch.coverage);
        let is_new = is_defined && self.cover(&pair);
        Ok(Some(Looked { seen, is_new, leads_on, is_changed }))
    }
}

/// What a look came to.
struct Looked {
    seen: Seen,
    /// Something was reached for the first time.
    is_new: bool,
    /// Before meets undefined behaviour, but reaches something for the first time.
    leads_on: bool,
    /// Something that was changed was executed.
    is_changed: bool,
}

/// What was touched, with what few invocations touch where it took too long to follow all: so many do not come far.
fn with_few(
    program: &Program,
    dispatch: &Dispatch,
    limits: &[u32],
    mut touched: Touched,
    is_over: &dyn Fn() -> bool,
) -> Option<Touched> {
    if touched.executed >= BUDGET {
        let mut order = Scout::few(dispatch);
        order.reverse();
        touched.merge(&trial::touched_by(program, dispatch, &order, limits, is_over)?);
    }
    Some(touched)
}

/// Whether both differ by no more than floats may.
fn is_permitted(run: &Run) -> bool {
    let mut notes = run.comparison.notes.iter();
    run.comparison.verdict == Verdict::Refines
        && notes.any(|note| matches!(note, Note::OpenFloats | Note::CloseFloats { .. }))
}

/// Whether floats alone keep a run from deciding.
fn hangs_on_floats(run: &Run) -> bool {
    let mut reasons = run.comparison.reasons.iter();
    run.comparison.verdict == Verdict::Inconclusive
        && reasons.all(|reason| matches!(reason, Reason::Float { .. }))
}

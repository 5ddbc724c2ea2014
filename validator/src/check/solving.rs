//! Inputs that are solved for: on which an instruction that was changed compares equal values, or a branch goes where it
//! has not gone yet.
//!
//! What is random seldom meets a bound exactly, and never a magic number. So comparisons are followed back to what they
//! compare: from an input on which both modules ran, to one on which the two values are equal, or the other way round.

use std::collections::{BTreeMap, BTreeSet};

use super::conjunctions::Conjunctions;
use super::diverging::{diverging, Diverging};
use super::error::CheckError;
use super::pair::{Checker, Programs};
use super::prepare;
use super::result::Role;
use super::scout::Scout;
use crate::correspondence;
use crate::coverage::Coverage;
use crate::dispatch::Dispatch;
use crate::interp::{is_half_covered, About};
use crate::ir::{FunctionId, Line, Op, Program};
use crate::launch::inputs::Inputs;
use crate::launch::patch::Patch;
use crate::launch::recipe::Recipe;
use crate::launch::repair::Repair;
use crate::launch::solver::{Solver, Wanted};
use crate::launch::trial::{self, Site, Watched};
use crate::launch::{Input, Launch};

/// The parts of the instructions that are left that solving may cost for each module, each time, and the first repair; the
/// second may cost half as much, later ones a third or less.
pub(super) const SOLVING: u64 = 16;
pub(super) const REPAIRING: u64 = 3;
pub(super) const MOST_REPAIRING: u64 = 12;

/// Inputs that are solved for, of each module and each time, at most.
const MOST: usize = 16;

/// Inputs that are taken on, of those that served: the latest, and fewer where these take more than a part of the fuel.
const BASES: usize = 24;
const OF_BASES: u64 = 4;

/// Where there are so many times more invocations than a handful, it may be a handful that is watched.
const LEAST_TIMES: u64 = 4;

/// So many of the others are given what was solved for at what was changed, too: where it was found, it may not show.
const ELSEWHERE: usize = 6;

/// Inputs on which several comparisons are solved for together: the latest.
const TOGETHER: usize = 3;

/// What was solved for, or tried to, by module.
#[derive(Default)]
pub(super) struct Tried(BTreeSet<(usize, Site, Wanted)>);

/// Which inputs are taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    /// Those that served.
    Served,
    /// The last of them; first of all, it is solved for where what was changed shows.
    Last,
}

impl From {
    const fn bases(self) -> usize {
        match self {
            From::Served => BASES,
            From::Last => 1,
        }
    }
}

/// An input on which before is undefined, or does nothing.
pub(super) struct Broken {
    pub(super) recipe: Recipe,
    pub(super) input: Input,
    /// What stays as it is in a repair.
    pub(super) held: Vec<Patch>,
    pub(super) how: Repairing,
}

/// How an input is repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repairing {
    /// By what was read last before undefined behaviour alone, which costs little.
    Chase,
    Whole,
}

/// An input, and what is put into it.
pub(super) type Solved = (Recipe, Vec<Patch>);

/// Both modules, the lines of each to which none of the other one corresponds, and for other lines of after those of before.
type Sides<'s> = (&'s Programs, &'s [BTreeSet<Line>; 2], &'s BTreeMap<Line, Line>);

/// Who runs on a dispatch, and whether only together.
pub(super) type Runs<'r> = &'r dyn Fn(&Dispatch) -> (Vec<u32>, bool);

/// An invocation that compares at a site, what it compares, and the input on which it does.
#[derive(Clone, Copy)]
struct Met {
    base: usize,
    invocation: u32,
    difference: f64,
}

impl Checker<'_> {
    /// Values of inputs that served, for which a comparison comes out as it has not yet, and what that cost in
    /// instructions.
    pub(super) fn solve(
        &mut self,
        (programs, changed): (&Programs, &[BTreeSet<Line>; 2]),
        launch: &Launch,
        inputs: &Inputs<'_>,
        runs: Runs<'_>,
        (tried, fuel): (&mut Tried, u64),
    ) -> Result<(Vec<Solved>, u64), CheckError> {
        let none = BTreeMap::new();
        self.solve_for((programs, changed, &none), launch, (inputs, From::Served), runs, (tried, fuel))
    }

    /// Values of the last input that served, for which any one comparison comes out otherwise, and what that cost in
    /// instructions: what a single step does not show may show behind several. `counterparts`: for lines of after, those of
    /// before.
    pub(super) fn solve_from_last(
        &mut self,
        (programs, counterparts): (&Programs, &BTreeMap<Line, Line>),
        launch: &Launch,
        inputs: &Inputs<'_>,
        runs: Runs<'_>,
        fuel: u64,
    ) -> Result<(Vec<Solved>, u64), CheckError> {
        let sides = (programs, &Default::default(), counterparts);
        self.solve_for(sides, launch, (inputs, From::Last), runs, (&mut Tried::default(), fuel))
    }

    fn solve_for(
        &mut self,
        (programs, changed, counterparts): Sides<'_>,
        launch: &Launch,
        (inputs, from): (&Inputs<'_>, From),
        runs: Runs<'_>,
        (tried, fuel): (&mut Tried, u64),
    ) -> Result<(Vec<Solved>, u64), CheckError> {
        let mut solved: Vec<Solved> = Vec::new();
        let mut spent = 0;
        let sides = [(&programs.before, Role::Before), (&programs.after, Role::After)];
        let mut bases = [Vec::new(), Vec::new()];
        for ((program, role), bases) in sides.into_iter().zip(&mut bases) {
            for (recipe, input) in inputs.serving().iter().rev().take(from.bases()) {
                match prepare::dispatch_of(program, role, launch, input)? {
                    Ok(dispatch) => bases.push((recipe, dispatch)),
                    Err(_) => return Ok((solved, spent)),
                }
            }
        }
        let mut diverges = Diverging::default();
        if let (From::Last, [Some((_, before)), Some((_, after))]) =
            (from, [&bases[0], &bases[1]].map(|all| all.first()))
        {
            let deadline = self.runner.deadline;
            let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
            let who = |dispatch: &Dispatch| runs(dispatch).0;
            let both = [(&programs.before, before), (&programs.after, after)];
            let Some((found, cost)) = diverging(both, counterparts, &who, &is_over) else {
                return Ok((solved, spent));
            };
            diverges = found;
            spent += cost;
        }
        for (side, ((program, role), bases)) in sides.into_iter().zip(bases).enumerate() {
            let covered = &self.covered[side];
            let half_taken = covered.half_taken(program);
            let rank = |site: Site, invocation: u32| match from {
                From::Served => rank(program, &changed[side], (covered, &half_taken), site),
                From::Last if diverges[side].contains(&(site, invocation)) => Some(0),
                // What comes last is nearest to the outcome.
                From::Last if site.about == About::Quotient => None,
                From::Last => Some(u32::MAX - site.inst.index),
            };
            let (mut found, left) =
                self.solve_side(program, &bases, inputs, runs, (side, tried, fuel), &rank);
            spent += fuel - left;
            // What was changed may be reached in after alone.
            if role == Role::Before || from == From::Last {
                let deadline = self.runner.deadline;
                let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
                let is_free = |key: &str| inputs.makes(key);
                let mut conjunctions =
                    Conjunctions { program, runs, is_free: &is_free, is_over: &is_over, fuel };
                let together = bases.iter().take(TOGETHER);
                let together = together.flat_map(|(recipe, dispatch)| conjunctions.solve(recipe, dispatch));
                let together: Vec<Solved> = together.collect();
                found.splice(0..0, together);
                spent += fuel - conjunctions.fuel;
            }
            for found in found {
                if !solved.contains(&found) {
                    solved.push(found);
                }
            }
        }
        Ok((solved, spent))
    }

    /// Values with which before is defined and works on an input on which it is not, or does nothing, and what that cost in
    /// instructions. `runs`: a handful of invocations, few, and all that count; `deep`: what all may take in a look where that
    /// is much.
    pub(super) fn repair(
        &self,
        program: &Program,
        launch: &Launch,
        inputs: &Inputs<'_>,
        (runs, deep): ([Runs<'_>; 3], u64),
        Broken { recipe, input, held, how }: &Broken,
        (seed, fuel): (u64, u64),
    ) -> Result<(Option<Solved>, u64), CheckError> {
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let mut dispatches = Vec::new();
        // What was read last needs no other values.
        let others = if *how == Repairing::Chase { 0 } else { usize::MAX };
        for input in inputs.with_room(recipe, input, others)? {
            dispatches.extend(prepare::dispatch_of(program, Role::Before, launch, &input)?);
        }
        let Some((dispatch, others)) = dispatches.split_first() else { return Ok((None, 0)) };
        let (limits, runs) = (inputs.limits(dispatch), runs.map(|runs| runs(dispatch)));
        let [(handful, _), (few, _), (all, _)] = runs;
        let mut repair = Repair {
            program,
            dispatch: dispatch.clone(),
            limits: &limits,
            invocations: [&handful, &few, &all],
            others,
            held,
            is_free: &|key| inputs.makes(key),
            deep,
            is_over: &is_over,
            fuel,
        };
        let patches = match *how {
            Repairing::Chase => repair.run_chase(),
            Repairing::Whole => repair.run(seed),
        };
        let spent = fuel - repair.fuel;
        Ok((patches.map(|patches| (recipe.clone(), patches)), spent))
    }

    /// As [`Checker::solve`], for one module; with the fuel that is left.
    fn solve_side(
        &self,
        program: &Program,
        bases: &[(&Recipe, Dispatch)],
        inputs: &Inputs<'_>,
        runs: Runs<'_>,
        (side, tried, whole): (usize, &mut Tried, u64),
        rank: &dyn Fn(Site, u32) -> Option<u32>,
    ) -> (Vec<Solved>, u64) {
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let mut fuel = whole;
        let mut met: BTreeMap<(u32, Site), Met> = BTreeMap::new();
        let mut known: BTreeSet<(u32, Site, Wanted)> = BTreeSet::new();
        for (base, (_, dispatch)) in bases.iter().enumerate() {
            let (who, _) = runs(dispatch);
            if fuel < whole - whole / OF_BASES {
                break;
            }
            let Some((watched, cost)) = watched_by(program, dispatch, &who, whole, &is_over) else { break };
            fuel = fuel.saturating_sub(cost);
            for ((site, invocation), [first, second]) in watched.values {
                let difference = first - second;
                // Of what was not changed, the first turn alone, and no signs.
                let is_plain = site.about != About::Sign && site.turn == 0;
                let rank = rank(site, invocation).filter(|rank| *rank == 0 || is_plain);
                let Some(rank) = rank else { continue };
                known.insert((rank, site, Wanted::of(difference)));
                let here = Met { base, invocation, difference };
                let nearest = met.entry((rank, site)).or_insert(here);
                if here.difference.abs() < nearest.difference.abs() {
                    *nearest = here;
                }
            }
        }
        let (mut solved, mut elsewhere) = (Vec::new(), Vec::new());
        let is_free = |key: &str| inputs.makes(key);
        for ((rank, site), met) in met {
            let Some((recipe, dispatch)) = bases.get(met.base) else { continue };
            let (who, together) = runs(dispatch);
            let is_known = |wanted: Wanted| known.contains(&(rank, site, wanted));
            for wanted in wanted_of(program, site, is_known) {
                if fuel == 0 || solved.len() >= MOST || !tried.0.insert((side, site, wanted)) {
                    continue;
                }
                let together = together.then_some(&who[..]);
                let is_free: &dyn Fn(&str) -> bool = &is_free;
                let is_over: &dyn Fn() -> bool = &is_over;
                let (kept, nearest) = (&[][..], None);
                let mut solver =
                    Solver { program, dispatch, together, is_free, kept, is_over, fuel, nearest };
                let solve = |solver: &mut Solver<'_>| solver.solve(site, met.invocation, wanted);
                // For what was changed, several values are sought.
                let patches = match rank {
                    0 => solver.solve_besides(&solve),
                    _ => solve(&mut solver).into_iter().collect(),
                };
                fuel = solver.fuel;
                if let [found] = &patches[..] {
                    let nearby = nearby(found, site).into_iter();
                    if rank == 0 {
                        let others = bases.iter().step_by(bases.len().div_ceil(ELSEWHERE).max(1));
                        let others = others.filter(|(other, _)| !std::ptr::eq(*other, *recipe));
                        let put = |(other, _): &(&Recipe, Dispatch)| {
                            let nearby = nearby.clone().step_by(NEARBY.len() - 1);
                            nearby.map(|patch| ((*other).clone(), vec![patch])).collect::<Vec<Solved>>()
                        };
                        elsewhere.extend(others.flat_map(put));
                    }
                    solved.extend(nearby.map(|patch| ((*recipe).clone(), vec![patch])));
                } else if !patches.is_empty() {
                    solved.push(((*recipe).clone(), patches));
                }
            }
        }
        solved.extend(elsewhere);
        (solved, fuel)
    }

    /// The lines of both modules to which nothing in the other one corresponds.
    pub(super) fn changed(&self) -> [BTreeSet<Line>; 2] {
        let texts = [self.before, self.after].map(|module| module.text.as_str());
        self.changed.get_or_init(|| correspondence::changed(texts[0], texts[1])).clone()
    }
}

/// What these invocations compare, or a handful of them where all take more than a part of so many instructions; with what
/// that cost. `None` where time is over.
pub(super) fn watched_by(
    program: &Program,
    dispatch: &Dispatch,
    who: &[u32],
    fuel: u64,
    is_over: &dyn Fn() -> bool,
) -> Option<(Watched, u64)> {
    let handful: Vec<u32> =
        Scout::handful(dispatch).into_iter().filter(|index| who.contains(index)).collect();
    let times = (who.len() / handful.len().max(1)) as u64;
    let mut cost = 0;
    if times >= LEAST_TIMES {
        let watched = trial::watched(program, dispatch, &handful, None, is_over)?;
        cost = watched.executed;
        if cost.saturating_mul(times) > fuel / OF_BASES {
            return Some((watched, cost));
        }
    }
    let watched = trial::watched(program, dispatch, who, None, is_over)?;
    cost = cost.saturating_add(watched.executed);
    Some((watched, cost))
}

/// What is added to a negative number that was found: what division leaves of some of them is the same whether they are taken
/// for negative or not.
const NEARBY: [u32; 3] = [0, 1, 0x0001_2347];

/// The negative number that is most unlike itself where it is taken for no negative one: what is divided by it.
const MINUS_ONE: u32 = u32::MAX;

/// The value that was found, and others like it where its sign is what matters.
fn nearby(found: &Patch, site: Site) -> Vec<Patch> {
    let Some(word) = found.word() else { return vec![found.clone()] };
    let is_sign = site.about == About::Sign;
    let steps = if is_sign { &NEARBY[..] } else { &NEARBY[..1] };
    let words = steps.iter().map(|step| word.wrapping_add(*step)).chain(is_sign.then_some(MINUS_ONE));
    words.map(|word| Patch::of_word(&found.place, word)).collect()
}

/// What is still to be met at a site.
fn wanted_of(program: &Program, site: Site, is_known: impl Fn(Wanted) -> bool) -> Vec<Wanted> {
    let code = program.functions.get(site.inst.function.0 as usize).map(|function| &function.code);
    let Some(inst) = code.and_then(|code| code.get(site.inst.index as usize)) else { return Vec::new() };
    let all = match &inst.op {
        _ if site.about == About::Sign => &[Wanted::Less][..],
        // Whether the quotient is zero counts, not what exactly it is.
        _ if site.about == About::Quotient => match is_known(Wanted::Equal) {
            true => &[Wanted::Less][..],
            false => &[Wanted::Greater, Wanted::Less],
        },
        Op::Control(_) => &[Wanted::Equal],
        Op::Binary { op, .. } if op.compares_equality() => match is_known(Wanted::Less) {
            true => &[Wanted::Equal][..],
            false => &[Wanted::Equal, Wanted::Greater],
        },
        _ => &[Wanted::Equal, Wanted::Less, Wanted::Greater],
    };
    all.iter().copied().filter(|wanted| !is_known(*wanted)).collect()
}

/// What is solved for first: what was changed, then what decides a branch that went one way only, then what has come out one
/// way only, and quotients; nothing else.
fn rank(
    program: &Program,
    changed: &BTreeSet<Line>,
    (covered, half_taken): (&Coverage, &[(FunctionId, std::ops::Range<u32>)]),
    site: Site,
) -> Option<u32> {
    let inst = site.inst;
    let code = &program.functions.get(inst.function.0 as usize)?.code;
    let inst_of = code.get(inst.index as usize)?;
    if changed.contains(&inst_of.line) {
        return Some(0);
    }
    if site.about == About::Quotient {
        return Some(3);
    }
    let decides = !matches!(inst_of.op, Op::Glsl(_))
        && half_taken
            .iter()
            .any(|(function, range)| *function == inst.function && range.contains(&inst.index));
    match decides {
        true => Some(1),
        false => is_half_covered(covered, inst, &inst_of.op).then_some(2),
    }
}

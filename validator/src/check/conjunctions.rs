//! Inputs on which all comparisons of a block hold at once, and all values in it are within the bounds that they are clamped
//! to: what is computed without branches, such as whether a point lies in a rectangle, asks for that.

use std::collections::BTreeMap;

use super::solving::{watched_by, Runs, Solved};
use crate::coverage;
use crate::dispatch::Dispatch;
use crate::interp::About;
use crate::ir::{BinaryOp, FloatFunction3, FunctionId, GlslFunction, InstId, Op, Program};
use crate::launch::patch::Patch;
use crate::launch::recipe::Recipe;
use crate::launch::solver::{Solver, Wanted};
use crate::launch::trial::{self, Site};

/// Inputs that are solved for from one, at most.
const MOST: usize = 4;

/// How often what does not hold yet in a block is solved for.
const ROUNDS: u32 = 3;

/// A block, by its function and number, and who comes to it.
type Place = (FunctionId, u32, u32);

/// Solves for the comparisons of blocks.
pub(super) struct Conjunctions<'c> {
    pub(super) program: &'c Program,
    pub(super) runs: Runs<'c>,
    pub(super) is_free: &'c dyn Fn(&str) -> bool,
    pub(super) is_over: &'c dyn Fn() -> bool,
    /// Instructions that are left.
    pub(super) fuel: u64,
}

impl Conjunctions<'_> {
    /// What is to be put into an input, for each block in which several comparisons do not hold.
    pub(super) fn solve(&mut self, recipe: &Recipe, dispatch: &Dispatch) -> Vec<Solved> {
        let (who, together) = (self.runs)(dispatch);
        let watched = watched_by(self.program, dispatch, &who, self.fuel, self.is_over);
        let Some((watched, cost)) = watched else { return Vec::new() };
        self.fuel = self.fuel.saturating_sub(cost);
        let mut solved: Vec<Solved> = Vec::new();
        let mut last = None;
        for (place, sites) in self.all_failing(&watched) {
            let is_one = matches!(sites[..], [Failing::Ordered(..)]);
            let block = (place.0, place.1);
            if is_one || last == Some(block) {
                continue;
            }
            last = Some(block);
            let patches = self.meet(dispatch, place, sites, (&who, together));
            if !patches.is_empty() {
                solved.push((recipe.clone(), patches));
            }
            if solved.len() == MOST || self.fuel == 0 {
                break;
            }
        }
        solved
    }

    /// What does not hold in each block, by who comes to it first.
    fn all_failing(&self, watched: &trial::Watched) -> BTreeMap<Place, Vec<Failing>> {
        let mut failing: BTreeMap<Place, Vec<Failing>> = BTreeMap::new();
        for ((site, invocation), [first, second]) in &watched.values {
            if let Some((block, met)) = self.failing(*site, *invocation, first - second, watched) {
                failing.entry((site.inst.function, block, *invocation)).or_default().push(met);
            }
        }
        failing
    }

    /// Values with which all that does not hold in a block does, as far as they are found. What holds at first may not do so
    /// with what was found for the rest.
    fn meet(
        &mut self,
        dispatch: &Dispatch,
        place: Place,
        mut sites: Vec<Failing>,
        (who, together): (&[u32], bool),
    ) -> Vec<Patch> {
        let invocation = place.2;
        let mut scratch = dispatch.clone();
        let mut patches = Vec::new();
        for _ in 0..ROUNDS {
            let known = patches.len();
            for failing in &sites {
                let mut solve = |kept: &[Patch]| {
                    let mut solver = Solver {
                        program: self.program,
                        dispatch: &scratch,
                        together: together.then_some(who),
                        is_free: self.is_free,
                        kept,
                        is_over: self.is_over,
                        fuel: self.fuel,
                        nearest: None,
                    };
                    let found = solver.solve_besides(&|solver| match failing {
                        Failing::Ordered(site, wanted) => solver.solve(*site, invocation, *wanted),
                        Failing::Outside(sites) => solver.solve_within(*sites, invocation),
                    });
                    self.fuel = solver.fuel;
                    found
                };
                // What was found for another one stays, unless nothing else helps.
                let mut found = solve(&patches);
                if found.is_empty() && !patches.is_empty() {
                    found = solve(&[]);
                }
                for patch in found {
                    patch.put_into(self.program, &mut scratch);
                    patches.retain(|known: &Patch| known.place != patch.place);
                    patches.push(patch);
                }
            }
            if patches.len() == known || self.fuel == 0 {
                break;
            }
            let watched = watched_by(self.program, &scratch, who, self.fuel, self.is_over);
            let Some((watched, cost)) = watched else { break };
            self.fuel = self.fuel.saturating_sub(cost);
            match self.all_failing(&watched).remove(&place) {
                Some(failing) => sites = failing,
                None => break,
            }
        }
        patches
    }

    /// The block of a comparison that does not hold.
    fn failing(
        &self,
        site: Site,
        invocation: u32,
        difference: f64,
        watched: &trial::Watched,
    ) -> Option<(u32, Failing)> {
        if site.about != About::Order || site.turn > 0 {
            return None;
        }
        let InstId { function, index } = site.inst;
        let code = self.program.functions.get(function.0 as usize)?;
        let failing = match &code.code.get(index as usize)?.op {
            Op::Binary { op, .. } => {
                let held = held(*op)?;
                (!held.contains(&Wanted::of(difference))).then_some(Failing::Ordered(site, held[0]))
            }
            Op::Glsl(op) if has_bounds(&op.function) && site.number < op.count => {
                let sites = [site, Site { number: site.number + op.count, ..site }];
                let [a, b] = watched.differences(sites, invocation)?;
                (a * b >= 0.0).then_some(Failing::Outside(sites))
            }
            // The others compare nothing that could be solved for together.
            _ => None,
        };
        Some((coverage::block_at(code, index)?, failing?))
    }
}

/// What does not hold.
enum Failing {
    /// Two values are to be in this order.
    Ordered(Site, Wanted),
    /// A value is to be between two others, which it is clamped to.
    Outside([Site; 2]),
}

/// Whether the first two things that a function compares are a value with two bounds.
fn has_bounds(function: &GlslFunction) -> bool {
    matches!(
        function,
        GlslFunction::Float3(FloatFunction3::Clamp | FloatFunction3::NClamp | FloatFunction3::SmoothStep, _)
            | GlslFunction::Clamp { .. }
    )
}

/// How what a comparison compares is ordered where it holds: what is easiest to meet comes first.
fn held(op: BinaryOp) -> Option<&'static [Wanted]> {
    use Wanted::{Equal, Greater, Less};
    match op {
        BinaryOp::IEqual | BinaryOp::FOrdEqual | BinaryOp::FUnordEqual => Some(&[Equal]),
        BinaryOp::INotEqual | BinaryOp::FOrdNotEqual | BinaryOp::FUnordNotEqual => Some(&[Greater, Less]),
        BinaryOp::ULessThan | BinaryOp::SLessThan | BinaryOp::FOrdLessThan | BinaryOp::FUnordLessThan => {
            Some(&[Less])
        }
        BinaryOp::ULessThanEqual
        | BinaryOp::SLessThanEqual
        | BinaryOp::FOrdLessThanEqual
        | BinaryOp::FUnordLessThanEqual => Some(&[Less, Equal]),
        BinaryOp::UGreaterThan
        | BinaryOp::SGreaterThan
        | BinaryOp::FOrdGreaterThan
        | BinaryOp::FUnordGreaterThan => Some(&[Greater]),
        BinaryOp::UGreaterThanEqual
        | BinaryOp::SGreaterThanEqual
        | BinaryOp::FOrdGreaterThanEqual
        | BinaryOp::FUnordGreaterThanEqual => Some(&[Greater, Equal]),
        // It computes a number, or compares what is no number.
        _ => None,
    }
}

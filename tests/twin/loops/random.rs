//! What random programs with loops show, by the twin alone.

use std::time::Instant;

use super::generate;
use super::program::{Action, Condition, Program, Statement};
use super::search::{behaviours, Answer, Found, Size, Undefined};
use crate::model::Variant;
use crate::number;

pub const ORDINARY: Size =
    Size { turns: 2, operations: 44, graphs: 1_200, candidates: 3_000, steps: 60_000, tries: 200_000 };

/// What share of the programs shows what.
#[derive(Debug, Default)]
pub struct Counters {
    pub compared: usize,
    pub too_large: usize,
    pub grows: usize,
    pub too_slow: usize,
    /// Cut by the engine, though the twin sees that growing makes no difference.
    pub grows_in_engine: usize,
    with_loop: usize,
    hangs: usize,
    hangs_and_ends: usize,
    /// Where the endless read what is written anew in every turn.
    shifts: usize,
    race_free: usize,
    load_buffering: usize,
    faults: usize,
    divergent: usize,
    undefined_conditions: usize,
    volatile: usize,
    barriers: usize,
    invocations: [usize; 3],
}

/// The variant of the model that a seed's program is run under.
pub fn variant_of(seed: u64) -> Variant {
    Variant { from_reads_by_location_order: seed % 4 != 1, chains: seed % 8 != 2, ..Variant::NEWEST }
}

impl Counters {
    pub fn note(&mut self, program: &Program, found: &Found) {
        self.compared += 1;
        self.with_loop += usize::from(program.code.iter().any(Statement::has_loop));
        self.hangs += usize::from(found.hangs);
        self.hangs_and_ends += usize::from(found.hangs && !found.outcomes.is_empty());
        self.shifts += usize::from(found.shifts);
        self.race_free += usize::from(!found.undefined.contains(&Undefined::DataRace));
        self.load_buffering += usize::from(found.load_buffering);
        self.faults += usize::from(found.undefined.contains(&Undefined::DivisionByZero));
        self.divergent += usize::from(found.undefined.contains(&Undefined::DivergentBarrier));
        self.undefined_conditions += usize::from(has_undefined_condition(&program.code));
        let steps = program.steps();
        let is_volatile = |action: &Action| matches!(action, Action::Memory { volatile: true, .. });
        self.volatile += usize::from(steps.iter().any(|step| is_volatile(&step.action)));
        self.barriers += usize::from(steps.iter().any(|step| matches!(step.action, Action::Control(_))));
        self.invocations[program.shape.threads() - 1] += 1;
    }

    /// There must be enough of each kind.
    pub fn assert_shares(&self) {
        let (tenth, rare) = (self.compared / 10, self.compared / 40);
        let [one, two, three] = self.invocations;
        for share in [self.with_loop, self.hangs, self.race_free, two] {
            assert!(share >= 2 * tenth, "{self:?}");
        }
        for share in [self.hangs_and_ends, self.undefined_conditions, one] {
            assert!(share >= tenth, "{self:?}");
        }
        for share in [self.load_buffering, self.faults, self.shifts, self.volatile, self.barriers, three] {
            assert!(share >= rare, "{self:?}");
        }
        assert!(self.divergent >= self.compared / 200, "{self:?}");
        assert!(self.grows_in_engine + self.too_slow <= 1 + self.compared / 100, "{self:?}");
    }
}

fn has_undefined_condition(code: &[Statement]) -> bool {
    code.iter().any(|statement| match statement {
        Statement::Step(step) => step.guard == Some(Condition::Undefined),
        Statement::Loop(looped) => {
            looped.exit == Some(Condition::Undefined) || has_undefined_condition(&looped.body)
        }
    })
}

/// Without the fast engine: random programs show each kind of behaviour.
#[test]
fn random_programs_with_loops_show_everything() {
    let count = number("TWIN_COUNT").unwrap_or(300) as usize;
    let mut counters = Counters::default();
    let (mut seed, mut slowest) = (number("TWIN_SEED").unwrap_or(1), (0.0, 0));
    while counters.compared < count {
        let program = generate::program(seed);
        let started = Instant::now();
        match behaviours(&program, variant_of(seed), ORDINARY) {
            Answer::TooLarge => counters.too_large += 1,
            Answer::Grows => counters.grows += 1,
            Answer::Found(found) => counters.note(&program, &found),
        }
        let took = started.elapsed().as_secs_f64();
        if took > slowest.0 {
            slowest = (took, seed);
        }
        seed += 1;
    }
    println!("{counters:?}; slowest {slowest:?}");
    counters.assert_shares();
}

use std::sync::atomic::{AtomicU64, Ordering};

use rspirv::dr::Operand;
use rspirv::spirv::Op;

use super::*;
use crate::module::tests::{is_valid, shader, text};

/// Valid cases whose modules all have an addition and a store.
struct Adds(AtomicU64);

impl<L> Oracle<L> for Adds {
    fn answer(&self, case: &Case<L>) -> Answer {
        self.0.fetch_add(1, Ordering::Relaxed);
        let has = |module: &Module, op: Op| module.insts.iter().any(|inst| inst.op() == op);
        match case.modules.iter().all(is_valid) {
            false => Answer::Invalid,
            true if case.modules.iter().all(|module| has(module, Op::IAdd) && has(module, Op::Store)) => {
                Answer::Interesting
            }
            true => Answer::Uninteresting,
        }
    }
}

const CODE: &str = "
    %x = OpLoad %uint %b
    %y = OpIMul %uint %x %uint_100
    OpSelectionMerge %merge None
    OpBranchConditional %true %then %merge
    %then = OpLabel
    %sum = OpIAdd %uint %y %x
    OpStore %a %sum
    OpBranch %merge
    %merge = OpLabel
    OpStore %b %uint_2";

fn limits(jobs: usize) -> Limits {
    Limits { jobs, until: None, checks: None }
}

#[test]
fn what_is_left_is_what_the_oracle_wants() {
    let case = Case { modules: vec![shader(CODE)], launch: () };
    let reduced = reduce(case, &Adds(AtomicU64::new(0)), limits(1), &mut ());
    let text = text(&reduced.case.modules[0]);
    assert_eq!(reduced.stopped, Stopped::Minimal);
    assert!(!text.contains("OpBranch") && !text.contains("OpIMul") && !text.contains("OpLoad"), "{text}");
    assert!(!text.contains("LocalSize 8") && !text.contains("OpName"), "{text}");
    assert!(reduced.case.instructions()[0] <= 24, "{text}");
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let reduced = |jobs: usize| {
        let case = Case { modules: vec![shader(CODE)], launch: () };
        reduce(case, &Adds(AtomicU64::new(0)), limits(jobs), &mut ())
    };
    let (one, four) = (reduced(1), reduced(4));
    assert_eq!(one.case.hash(), four.case.hash());
    assert_eq!(one.counts, four.counts);
}

/// Keeps answers.
#[derive(Default)]
struct Log {
    answers: FxHashMap<u128, Answer>,
    sizes: Vec<u64>,
}

impl<L: Launch> Observer<L> for Log {
    fn known(&mut self, hash: u128) -> Option<Answer> {
        self.answers.get(&hash).copied()
    }

    fn answered(&mut self, hash: u128, answer: Answer) {
        self.answers.insert(hash, answer);
    }

    fn accepted(&mut self, case: &Case<L>, _: &Counts) {
        self.sizes.push(case.size().cost);
    }
}

#[test]
fn a_reduction_that_was_ended_goes_on_with_what_it_knows() {
    let case = || Case { modules: vec![shader(CODE)], launch: () };
    let whole = reduce(case(), &Adds(AtomicU64::new(0)), limits(1), &mut ());
    let mut log = Log::default();
    let begun = reduce(case(), &Adds(AtomicU64::new(0)), Limits { checks: Some(10), ..limits(1) }, &mut log);
    assert_eq!(begun.stopped, Stopped::Checks);
    let oracle = Adds(AtomicU64::new(0));
    let ended = reduce(case(), &oracle, limits(1), &mut log);
    assert_eq!(ended.case.hash(), whole.case.hash());
    assert_eq!(ended.counts, whole.counts);
    assert_eq!(oracle.0.load(Ordering::Relaxed), whole.counts.checks - 10);
}

#[test]
fn every_accepted_case_is_smaller() {
    let mut log = Log::default();
    let case = Case { modules: vec![shader(CODE)], launch: () };
    reduce(case, &Adds(AtomicU64::new(0)), limits(1), &mut log);
    assert!(log.sizes.len() > 3 && log.sizes.windows(2).all(|pair| pair[1] <= pair[0]), "{:?}", log.sizes);
}

#[test]
fn a_pair_is_edited_in_both_modules() {
    let before = shader(CODE);
    // After lacks the multiplication, which x stands for.
    let after = {
        let mut after =
            shader(&CODE.replace("%y = OpIMul %uint %x %uint_100\n", "").replace("%y %x", "%x %x"));
        let gone = before.insts.iter().position(|inst| inst.op() == Op::IMul).unwrap();
        let pairs: Vec<(usize, usize)> =
            (0..before.len()).filter(|at| *at != gone).zip(0..after.len()).collect();
        after = after.numbered_as(&before, &pairs);
        after
    };
    let reduced = reduce(
        Case { modules: vec![before, after], launch: () },
        &Adds(AtomicU64::new(0)),
        limits(2),
        &mut (),
    );
    let [before, after] = &reduced.case.modules[..] else { panic!("two") };
    assert_eq!(text(before), text(after));
}

/// A launch of one number, of which a half is enough.
#[derive(Clone, Debug)]
struct Number(u64);

impl Launch for Number {
    fn smaller(&self) -> Vec<Number> {
        (0..self.0).map(Number).collect()
    }

    fn shorter(&self) -> Vec<Number> {
        self.smaller().into_iter().take(1).collect()
    }

    fn cost(&self) -> u64 {
        self.0
    }

    fn text(&self) -> String {
        self.0.to_string()
    }
}

struct AtLeast(u64);

impl Oracle<Number> for AtLeast {
    fn answer(&self, case: &Case<Number>) -> Answer {
        let stores = case.modules[0].insts.iter().any(|inst| {
            inst.op() == Op::Store
                && inst.code.operands.iter().all(|operand| matches!(operand, Operand::IdRef(_)))
        });
        match case.launch.0 >= self.0 && stores && is_valid(&case.modules[0]) {
            true => Answer::Interesting,
            false => Answer::Uninteresting,
        }
    }
}

#[test]
fn launches_become_smaller() {
    let case = Case { modules: vec![shader("OpStore %a %uint_1")], launch: Number(7) };
    assert_eq!(reduce(case, &AtLeast(3), limits(1), &mut ()).case.launch.0, 3);
}

/// So many workgroups, of which each costs four.
#[derive(Clone, Debug)]
struct Workgroups(u32);

impl Launch for Workgroups {
    fn smaller(&self) -> Vec<Self> {
        (1..self.0).map(Workgroups).collect()
    }

    fn gathered(&self) -> Vec<(Self, [u32; 3])> {
        if self.0 > 1 {
            vec![(Workgroups(1), [self.0, 1, 1])]
        } else {
            Vec::new()
        }
    }

    fn cost(&self) -> u64 {
        4 * u64::from(self.0)
    }

    fn text(&self) -> String {
        self.0.to_string()
    }
}

/// Cases with six invocations or more.
struct SixRun;

impl Oracle<Workgroups> for SixRun {
    fn answer(&self, case: &Case<Workgroups>) -> Answer {
        let size = case.modules[0].insts.iter().find_map(|inst| match inst.code.operands.get(2) {
            Some(Operand::LiteralBit32(size)) if inst.op() == Op::ExecutionMode => Some(*size),
            _ => None,
        });
        match size.is_some_and(|size| size * case.launch.0 >= 6) && is_valid(&case.modules[0]) {
            true => Answer::Interesting,
            false => Answer::Uninteresting,
        }
    }
}

#[test]
fn workgroups_are_gathered() {
    let module = shader("OpStore %a %uint_1");
    let mut small = module.clone();
    let edits = Family::Sizes.edits(&small);
    let one = edits.iter().find(|edit| matches!(edit, Edit::SetLiteral(_, _, 1))).unwrap();
    assert!(one.apply(&mut small, &mut crate::twins::Twins::default()));
    let case = Case { modules: vec![small], launch: Workgroups(6) };
    let reduced = reduce(case, &SixRun, limits(1), &mut ());
    let text = text(&reduced.case.modules[0]);
    assert!(text.contains("LocalSize 6 1 1") && reduced.case.launch.0 == 1, "{text}");
}

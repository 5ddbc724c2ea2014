//! Which pass of a pipeline did it. The passes are run one by one, and the first module is compared with each result, by
//! bisection. Where no pass does it by itself, one that uses what another left behind may: then the modules of a whole run
//! are looked at, where the optimiser prints them.

use std::time::Instant;

use serde_json::Value;
use spirv_tv::check::{check, settle, CheckOptions, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::optimise::pipeline::first_violating;
use spirv_tv::optimise::plan::plan;
use spirv_tv::optimise::{CheckResult, Mode, Outcome, Pipeline, Step};
use spirv_tv_gate::cases::Case;
use spirv_tv_toolchain::Validator;

use super::make::{flags_of, Made, Maker};

/// What stands for a pass where no pass does it by itself.
const WHOLE: &str = "only in a whole run";

struct Judged(Verdict);

impl CheckResult for Judged {
    fn verdict(&self) -> Option<Verdict> {
        Some(self.0)
    }

    fn exit_code(&self) -> u8 {
        u8::from(self.0 == Verdict::Violates)
    }

    fn check_object(&self) -> Value {
        Value::Null
    }

    fn gist(&self) -> String {
        String::new()
    }

    fn is_proved(&self) -> bool {
        false
    }

    fn inputs(&self) -> usize {
        0
    }
}

/// The pass of a case's pipeline that fails by itself, or what stands for it. `None` for cases without spirv-opt's passes.
pub(super) fn failing(case: &Case, maker: &mut Maker<'_>) -> Option<String> {
    let flags = flags_of(&case.pipeline).ok().filter(|flags| !flags.passes.is_empty())?;
    let (before, _) = maker.optimised(case).ok().flatten()?;
    let plan = plan(&flags.passes, &before.words);
    if let [only] = &plan[..] {
        return Some(only.label.clone());
    }
    let timeout = maker.compilers.choice.optimizer_timeout;
    let read = maker.read.clone();
    let begun = Instant::now();
    let pipeline = Pipeline {
        plan: &plan,
        timeout,
        validate: (!read.lenient).then_some(&read.validator),
        validator: &read.validate_with,
        mode: Mode::Ends,
        keep_going: false,
        whole: None,
    };
    // Nothing is compared here.
    let mut checker = |_: &[u32], _: &[u32], _: &str| Judged(Verdict::Inconclusive);
    let report = {
        let mut optimiser = maker.optimiser(&flags).ok()?;
        let left = || Some(timeout.saturating_sub(begun.elapsed()));
        pipeline.run(&before.words, &mut *optimiser, &mut checker, &left)
    };
    let failed =
        |step: &&Step<Judged>| matches!(&step.outcome, Outcome::Failed(failure) if failure.is_optimisers());
    if let Some(step) = report.steps.iter().find(failed) {
        return Some(step.pass.clone());
    }
    let ran = |step: &Step<Judged>| matches!(step.outcome, Outcome::Unchanged | Outcome::NotChecked);
    report.steps.iter().all(ran).then(|| format!("{} ({WHOLE})", case.pipeline.join(" ")))
}

/// The pass of a case's pipeline that makes it violate, where the pipeline is one of spirv-opt's passes. `None` for other
/// cases, and where there is no time to find out.
pub(super) fn pass(
    case: &Case,
    made: &Made,
    options: &CheckOptions,
    maker: &mut Maker<'_>,
) -> Option<String> {
    let flags = flags_of(&case.pipeline).ok().filter(|flags| !flags.passes.is_empty())?;
    let first = &made.before.words;
    let plan = plan(&flags.passes, first);
    if let [only] = &plan[..] {
        return Some(only.label.clone());
    }
    // What passes make of the module has other ids, and what --map names need not be there yet.
    let mut options = settle(&made.before, options).ok().filter(|_| maker.compilers.map.is_empty())?;
    options.bounds.begun = Some(Instant::now());
    let read = ReadOptions { lenient: true, ..maker.read.clone() };
    let timeout = maker.compilers.choice.optimizer_timeout;
    let verdict = |before: &[u32], after: &[u32]| {
        let load = |words: &[u32], name| Module::from_words(words.to_vec(), name, &read).ok();
        let verdict = load(before, "before").zip(load(after, "after")).and_then(|(before, after)| {
            check(&before, &after, &options, &Watch::default()).ok().map(|report| report.verdict)
        });
        verdict.unwrap_or(Verdict::Inconclusive)
    };
    let mut checker = |before: &[u32], after: &[u32], _: &str| Judged(verdict(before, after));
    let mode = Mode::Ends;
    let validator = &Validator::Nothing;
    let pipeline =
        Pipeline { plan: &plan, timeout, validate: None, validator, mode, keep_going: true, whole: None };
    let report = {
        let mut optimiser = maker.optimiser(&flags).ok()?;
        pipeline.run(first, &mut *optimiser, &mut checker, &|| options.bounds.left())
    };
    if let Some(step) = report.guilty().next() {
        return Some(step.pass.clone());
    }
    // Only where the passes one by one do nothing wrong it is the whole that does.
    let ran = |step: &Step<Judged>| !matches!(step.outcome, Outcome::OutOfTime | Outcome::Failed(_));
    let refines =
        report.ends.as_ref().is_none_or(|ends| matches!(ends.0, Verdict::Refines | Verdict::Vacuous));
    if !refines || !report.steps.iter().all(ran) {
        return None;
    }
    let dumps = maker.dumps(first, &case.pipeline);
    let changes: Vec<(usize, Vec<u32>)> = dumps.iter().map(|(_, words)| words.clone()).enumerate().collect();
    let violates = changes.last().is_some_and(|(_, last)| verdict(first, last) == Verdict::Violates);
    let guilty =
        violates.then(|| first_violating(&changes, |_, words| Some(verdict(first, words)))).flatten();
    Some(match guilty.and_then(|index| dumps.get(index)) {
        Some((pass, _)) => format!("--{pass} ({WHOLE})"),
        None => format!("{} ({WHOLE})", case.pipeline.join(" ")),
    })
}

//! Which pass of a pipeline did it: the passes are run one by one, and the first module is compared with each result.

use serde_json::Value;
use spirv_tv::check::{check, CheckOptions, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::optimise::plan::plan;
use spirv_tv::optimise::{CheckResult, Mode, Pipeline};
use spirv_tv_gate::cases::Case;
use spirv_tv_toolchain::Validator;

use super::make::{flags_of, Made, Maker};

/// What stands for a pass where no pass does it by itself.
const WHOLE: &str = "only as a whole: ";

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

/// The pass of a case's pipeline that makes it violate, where the pipeline is one of passes. `None` for other cases.
pub(super) fn pass(
    case: &Case,
    made: &Made,
    options: &CheckOptions,
    maker: &mut Maker<'_>,
) -> Option<String> {
    let flags = flags_of(&case.pipeline).ok().filter(|flags| !flags.passes.is_empty())?;
    let plan = plan(&flags.passes, &made.before.words);
    if let [only] = &plan[..] {
        return Some(only.label.clone());
    }
    let read = ReadOptions { lenient: true, ..maker.read.clone() };
    let timeout = maker.compilers.choice.optimizer_timeout;
    let mut checker = |before: &[u32], after: &[u32], _: &str| {
        let load = |words: &[u32], name| Module::from_words(words.to_vec(), name, &read).ok();
        let verdict = load(before, "before").zip(load(after, "after")).and_then(|(before, after)| {
            check(&before, &after, options, &Watch::default()).ok().map(|report| report.verdict)
        });
        Judged(verdict.unwrap_or(Verdict::Inconclusive))
    };
    let pipeline = Pipeline {
        plan: &plan,
        timeout,
        validate: None,
        validator: &Validator::Nothing,
        mode: Mode::Ends,
        keep_going: true,
    };
    let mut optimiser = maker.optimiser(&flags).ok()?;
    let report = pipeline.run(&made.before.words, &mut *optimiser, &mut checker, &|| options.bounds.left());
    let guilty = report.guilty().next().map(|step| step.pass.clone());
    Some(guilty.unwrap_or_else(|| format!("{WHOLE}{}", case.pipeline.join(" "))))
}

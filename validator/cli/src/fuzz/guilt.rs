//! Whether the optimiser is to blame for what a device did, and which of its passes.

use spirv_tv::check::{self, CheckOptions, Watch};
use spirv_tv::compare::Verdict;
use spirv_tv::module::Module;
use spirv_tv::optimise::plan::plan;
use spirv_tv::report;

use super::sets;
use super::treatment::SpirvOpt;

/// What stands for a pass where none does wrong by itself.
const TOGETHER: &str = "passes-together";

/// What the optimiser did wrong.
#[derive(Clone, Debug)]
pub(super) struct Guilt {
    /// The verdict on the module before and after, in a line.
    pub(super) verdict: String,
    /// The first pass that does wrong by itself, or what stands for it.
    pub(super) pass: String,
}

impl Guilt {
    /// The bucket of it.
    pub(super) fn bucket(&self) -> String {
        format!("spirv-opt/new-outcome/{}", self.pass)
    }

    /// In words, as a report has it.
    pub(super) fn told(&self) -> String {
        let by = match self.pass.as_str() {
            TOGETHER => "no pass was found that does it by itself".to_owned(),
            pass => format!("the pass is `{pass}`"),
        };
        format!("\nspirv-tv says of the optimised module: {}; {by}.", self.verdict)
    }
}

/// What is wrong with a module that was optimised; `None` where it does no more than before.
pub(super) fn guilt(
    before: &Module,
    after: &[u32],
    flags: &[String],
    options: &CheckOptions,
    optimiser: &mut SpirvOpt,
) -> Option<Guilt> {
    let verdict = violated(before, after, options)?;
    let pass = pass(before, flags, options, optimiser).unwrap_or_else(|| TOGETHER.to_owned());
    Some(Guilt { verdict, pass })
}

/// The verdict in a line, if it is that something is violated.
fn violated(before: &Module, after: &[u32], options: &CheckOptions) -> Option<String> {
    let after = Module::from_words(after.to_vec(), "after", &sets::reading()).ok()?;
    let report = check::check(before, &after, options, &Watch::default()).ok()?;
    (report.verdict == Verdict::Violates).then(|| report::text::check_line(&report, super::PLAIN))
}

fn pass(
    before: &Module,
    flags: &[String],
    options: &CheckOptions,
    optimiser: &mut SpirvOpt,
) -> Option<String> {
    let mut words = before.words.clone();
    for planned in plan(flags, &words) {
        let next = optimiser.optimise(&words, &planned.flags).ok()?.words;
        if next != words {
            let before = Module::from_words(words, "before", &sets::reading()).ok()?;
            if violated(&before, &next, options).is_some() {
                return Some(planned.label);
            }
        }
        words = next;
    }
    None
}

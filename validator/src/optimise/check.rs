//! A check's report as the result of a step.

use serde_json::Value;

use super::pipeline::CheckResult;
use crate::check::CheckReport;
use crate::compare::Verdict;
use crate::report::json;

/// The report on one step.
#[derive(Clone, Debug)]
pub struct CheckedStep {
    pub report: CheckReport,
    /// `--strict`, which the exit code depends on.
    pub strict: bool,
}

impl CheckResult for CheckedStep {
    fn verdict(&self) -> Verdict {
        self.report.verdict
    }

    fn exit_code(&self) -> u8 {
        self.report.exit_code(self.strict)
    }

    fn check_object(&self) -> Value {
        json::check_value(&self.report)
    }
}

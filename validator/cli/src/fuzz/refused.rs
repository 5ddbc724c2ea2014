//! About which instructions an executor fails that crashes or refuses a module: where these give zeros it does not.

use std::time::{Duration, Instant};

use spirv_tv_executor::Execution;
use spirv_tv_mutators::{self as mutators, CLEARED};

use super::treatment::ENV;
use crate::run::{hold, Held, Question};

/// Opcodes that a bucket names.
const NAMED: usize = 3;

/// Opcodes of which each by itself is the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct About(Vec<String>);

impl About {
    /// What a bucket says of it, behind the rest.
    pub(super) fn in_bucket(&self) -> String {
        match &self.0[..] {
            [] => String::new(),
            names => format!("/{}", names.iter().take(NAMED).cloned().collect::<Vec<_>>().join("+")),
        }
    }

    /// In words, as a report has it.
    pub(super) fn told(&self) -> Option<String> {
        let names: Vec<String> = self.0.iter().map(|name| format!("`{name}`")).collect();
        let what = "\nIt does not fail where all instructions of one of these kinds give zeros: ";
        (!names.is_empty()).then(|| format!("{what}{}.", names.join(", ")))
    }
}

/// Looks for the instructions for so long; there are none where it fails by time, or whatever is taken out.
pub(super) fn about(question: &Question<'_>, held: &Held, time: Duration) -> About {
    let begun = Instant::now();
    let (Some(Execution::Crashed(_) | Execution::Failed(_)), Some(set)) = (&held.failure, &held.set) else {
        return About::default();
    };
    let Ok(module) = mutators::Module::load(question.words, ENV) else { return About::default() };
    let fails = |words: &[u32]| {
        let question = Question { words, times: 1, allowed: Some(set), ..*question };
        hold(&question).map_or(true, |held| held.failure.is_some())
    };
    // What fails at times is about nothing in the module.
    if !fails(question.words) {
        return About::default();
    }
    let mutants = CLEARED.mutants(&module, 0).take_while(|_| begun.elapsed() < time);
    let valid = mutants.filter(|mutant| mutant.module.validate().is_ok());
    About(valid.filter(|mutant| !fails(&mutant.module.words())).map(|mutant| mutant.what).collect())
}

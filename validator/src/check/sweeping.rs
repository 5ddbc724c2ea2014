//! Inputs with parameters at the ends of their range: each in turn becomes zero, the greatest number, and the first that has
//! a sign bit.
//!
//! A size or a stride that no ordinary launch would have may still be one on which both modules are defined: what only
//! divides, or is compared, can be any number. Signs that are taken the wrong way show there alone.

use super::error::CheckError;
use super::pair::{Checker, Programs};
use super::prepare;
use super::result::Role;
use super::scout::Scout;
use super::solving::Solved;
use crate::launch::inputs::Inputs;
use crate::launch::patch::{word_at, Patch, Place};
use crate::launch::repair::parameters;
use crate::launch::trial;
use crate::launch::Launch;

/// What parameters become.
const ENDS: [u32; 3] = [u32::MAX, 1 << 31, 0];

/// Parameters of an input, at most: the first that are read.
const MOST_WORDS: usize = 40;

impl Checker<'_> {
    /// The inputs that show most of what was changed, with each of their parameters at each end of its range, and what it
    /// cost in instructions to find the parameters.
    pub(super) fn swept(
        &self,
        programs: &Programs,
        launch: &Launch,
        inputs: &Inputs<'_>,
    ) -> Result<(Vec<Solved>, u64), CheckError> {
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let program = &programs.before;
        let (mut swept, mut cost) = (Vec::new(), 0_u64);
        for (recipe, input) in inputs.telling() {
            let Ok(dispatch) = prepare::dispatch_of(program, Role::Before, launch, input)? else { break };
            let handful = Scout::handful(&dispatch);
            let Some(watched) = trial::watched(program, &dispatch, &handful, None, &is_over) else { break };
            cost = cost.saturating_add(watched.executed);
            let words = parameters(&dispatch, &watched.reads, &|key| inputs.makes(key));
            for (object, offset, key) in words.into_iter().take(MOST_WORDS) {
                let own = dispatch.objects.get(object as usize).and_then(|it| word_at(&it.initial, offset));
                let place = Place::Object { key, offset };
                let others = ENDS.into_iter().filter(|end| Some(*end) != own);
                swept.extend(others.map(|end| (recipe.clone(), vec![Patch::of_word(&place, end)])));
            }
        }
        Ok((swept, cost))
    }
}

//! Few contenders: updates of one word by many invocations have more orders than a search can visit. An automatic input with
//! many is given a parameter with which a few invocations do the same, where there is such a parameter.
//!
//! For example, `slot = atomicAdd(count, 1)` by each of the first `n` invocations has `n!` orders; it is searched with an
//! `n` of three.

use super::error::CheckError;
use super::pair::{Checker, Programs};
use super::prepare;
use super::result::Role;
use super::scout::Scout;
use crate::ir::{Op, Program};
use crate::launch::inputs::{Inputs, Next, Trial};
use crate::launch::repair::Repair;
use crate::launch::{Input, Launch};

/// The orders of so many contenders are searched.
const MOST_CONTENDERS: u32 = 5;

/// So many are left of more.
const CALM: u32 = 3;

/// Instructions that looking for a parameter may cost.
const FUEL: u64 = 12_000_000;

/// Whether some instruction uses what an atomic instruction found.
fn uses_updates(program: &Program) -> bool {
    let mut code = program.functions.iter().flat_map(|function| &function.code);
    code.any(|inst| matches!(&inst.op, Op::Atomic(op) if op.result_used))
}

impl Checker<'_> {
    /// The last input, or one like it on which few invocations contend.
    pub(super) fn calmed(
        &self,
        programs: &Programs,
        launch: &Launch,
        inputs: &mut Inputs<'_>,
        input: Input,
        trial: &mut Trial<'_>,
    ) -> Result<Input, CheckError> {
        let program = &programs.before;
        if inputs.left() == 0 || !uses_updates(program) {
            return Ok(input);
        }
        let deadline = self.runner.deadline;
        let is_over = move || deadline.is_some_and(|deadline| deadline.is_over());
        let Ok(dispatch) = prepare::dispatch_of(program, Role::Before, launch, &input)? else {
            return Ok(input);
        };
        let (limits, all) = (inputs.limits(&dispatch), Scout::widely(&dispatch));
        let patches = {
            let mut repair = Repair {
                program,
                dispatch,
                limits: &limits,
                invocations: [&[], &[], &all],
                others: &[],
                held: &[],
                is_free: &|key| inputs.makes(key),
                deep: 0,
                is_over: &is_over,
                fuel: FUEL,
            };
            match repair.contending() > Some(MOST_CONTENDERS) {
                true => repair.calm(CALM),
                false => None,
            }
        };
        let Some(patches) = patches else { return Ok(input) };
        match prepare::supported(inputs.calmed(patches, trial), Role::Before)? {
            Ok(Next::Input(calm)) => Ok(calm),
            Ok(Next::Over | Next::OutOfTime) | Err(_) => Ok(input),
        }
    }
}

//! What the runs executed that a verdict rests on, and what they did not: an instruction that never ran was not compared.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::coverage::Executed;
use crate::ir::Line;

/// What of both modules was executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exercised {
    /// Of the module before.
    pub before: ExercisedModule,
    /// Of the module after.
    pub after: ExercisedModule,
}

/// What of one module was not executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ExercisedModule {
    /// Lines that never ran, of instructions to which none in the other module corresponds.
    pub changed_never_ran: Vec<Line>,
    /// Lines of all instructions that never ran.
    pub never_ran: Vec<Line>,
    /// Lines of branches that ran, but never to all their targets.
    pub never_taken: Vec<Line>,
}

impl Exercised {
    /// By what each launch that counts executed of both modules, and the lines that were changed.
    pub(super) fn of(launches: &[&[Executed; 2]], changed: impl Fn() -> [BTreeSet<Line>; 2]) -> Exercised {
        let [before, after] = [0, 1].map(|side| module(launches.iter().filter_map(|both| both.get(side))));
        let mut exercised = Exercised { before, after };
        if exercised.before.never_ran.is_empty() && exercised.after.never_ran.is_empty() {
            return exercised;
        }
        for (module, changed) in [&mut exercised.before, &mut exercised.after].into_iter().zip(changed()) {
            let never = module.never_ran.iter().copied();
            module.changed_never_ran = never.filter(|line| changed.contains(line)).collect();
        }
        exercised
    }

    /// Whether something that was changed never ran.
    pub fn is_hollow(&self) -> bool {
        !self.before.changed_never_ran.is_empty() || !self.after.changed_never_ran.is_empty()
    }
}

fn module<'e>(launches: impl Iterator<Item = &'e Executed>) -> ExercisedModule {
    let (mut ran, mut not_ran) = (BTreeSet::new(), BTreeSet::new());
    let (mut taken, mut not_taken) = (BTreeSet::new(), BTreeSet::new());
    for executed in launches {
        ran.extend(&executed.ran);
        not_ran.extend(&executed.not_ran);
        taken.extend(&executed.taken);
        not_taken.extend(&executed.not_taken);
    }
    let never_taken: BTreeSet<Line> = not_taken.difference(&taken).map(|(line, _)| *line).collect();
    ExercisedModule {
        changed_never_ran: Vec::new(),
        never_ran: not_ran.difference(&ran).copied().collect(),
        never_taken: never_taken.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executed(
        ran: &[Line],
        not_ran: &[Line],
        taken: &[(Line, u32)],
        not_taken: &[(Line, u32)],
    ) -> Executed {
        Executed {
            ran: ran.iter().copied().collect(),
            not_ran: not_ran.iter().copied().collect(),
            taken: taken.iter().copied().collect(),
            not_taken: not_taken.iter().copied().collect(),
        }
    }

    #[test]
    fn what_one_launch_executes_counts() {
        let first = executed(&[1, 2], &[3, 4], &[(2, 0)], &[(2, 1)]);
        let second = executed(&[1, 2, 3], &[4], &[(2, 1), (3, 0)], &[(2, 0), (3, 1)]);
        let both = module([&first, &second].into_iter());
        assert_eq!((both.never_ran, both.never_taken), (vec![4], vec![3]));
    }
}

//! Control barrier instances of tests in which barriers do not wait (`.test`), and where they are in the threads.
//! As in the Alloy model, a thread reaches an instance once, and all threads reach two instances in the same
//! order.

use std::fmt;

use super::test::{Instruction, Operand, Test, Value, Wait};
use crate::ir::Line;

/// Control barriers that no execution has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misplaced {
    /// One thread comes to one instance twice, in these lines.
    Twice { instance: i32, lines: [Line; 2] },
    /// Two threads come to two instances in different order, the first one in these lines.
    Crossed { instances: [i32; 2], lines: [Line; 2] },
}

impl fmt::Display for Misplaced {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misplaced::Twice { instance, lines: [first, second] } => {
                write!(formatter, "no execution: barrier instance {instance} comes twice in one thread, ")?;
                write!(formatter, "lines {first} and {second}")
            }
            Misplaced::Crossed { instances: [a, b], lines: [first, second] } => {
                write!(
                    formatter,
                    "no execution: barrier instances {a} and {b} come in different order in two "
                )?;
                write!(formatter, "threads, lines {first} and {second}")
            }
        }
    }
}

impl Test {
    /// The first control barriers on account of which there is no execution. Where barriers wait for others,
    /// running tells.
    pub(super) fn misplaced_barriers(&self) -> Option<Misplaced> {
        let threads: Vec<Vec<(i32, Line)>> =
            self.threads.iter().map(|thread| barriers(&thread.code)).collect();
        for thread in &threads {
            for (at, (instance, second)) in thread.iter().enumerate() {
                if let Some((_, first)) = thread[..at].iter().find(|(other, _)| other == instance) {
                    return Some(Misplaced::Twice { instance: *instance, lines: [*first, *second] });
                }
            }
        }
        let place =
            |thread: &[(i32, Line)], instance: i32| thread.iter().position(|(other, _)| *other == instance);
        for (index, thread) in threads.iter().enumerate() {
            for (at, (a, first)) in thread.iter().enumerate() {
                for (b, _) in &thread[at + 1..] {
                    for other in &threads[index + 1..] {
                        match (place(other, *a), place(other, *b)) {
                            (Some(of_a), Some(of_b)) if of_b < of_a => {
                                let lines = [*first, other[of_a].1];
                                return Some(Misplaced::Crossed { instances: [*a, *b], lines });
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
        None
    }
}

/// The instances of barriers that wait for nobody, in program order, with their lines.
fn barriers(code: &[super::test::Statement]) -> Vec<(i32, Line)> {
    let instance = |statement: &super::test::Statement| match statement.instruction {
        Instruction::ControlBarrier {
            instance: Operand::Value(Value::Number(instance)),
            waits: Wait::Nobody,
            ..
        } => Some((instance, statement.position.line)),
        _ => None,
    };
    code.iter().filter_map(instance).collect()
}

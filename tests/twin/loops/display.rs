//! Programs with loops in a few lines, for messages.

use std::fmt;

use super::program::{Action, Condition, Program, Statement, Step};
use crate::model::{Scope, Semantics};
use crate::program::{Instruction, Location, Space, Update, Value};

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.shape;
        writeln!(
            f,
            "{} workgroups of {}, subgroups of {}, initially {:?}",
            shape.workgroups, shape.local_size, shape.subgroup_size, self.initial
        )?;
        statements(f, &self.code, 0)
    }
}

fn statements(f: &mut fmt::Formatter<'_>, code: &[Statement], depth: usize) -> fmt::Result {
    for statement in code {
        let who = statement.only().map_or("all".to_owned(), |only| only.to_string());
        write!(f, "{who:>4}: {}", "  ".repeat(depth))?;
        match statement {
            Statement::Step(step) => writeln!(f, "{}", text(step))?,
            Statement::Loop(looped) => {
                let exit = looped.exit.map_or("never".to_owned(), |exit| format!("if {}", condition(exit)));
                writeln!(f, "loop, leave {exit}:")?;
                statements(f, &looped.body, depth + 1)?;
            }
        }
    }
    Ok(())
}

fn condition(condition: Condition) -> String {
    match condition {
        Condition::Undefined => "undef".to_owned(),
        Condition::Register { number, equals, negated } => {
            format!("r{number} {} {equals}", if negated { "!=" } else { "==" })
        }
    }
}

fn place(place: Location) -> String {
    match place.space {
        Space::Buffer | Space::Alias => format!("x{}", place.word),
        Space::Workgroup => format!("local{}", place.word),
    }
}

fn value(value: Value) -> String {
    match value {
        Value::Constant(constant) => constant.to_string(),
        Value::Sum { read, add: 0 } => format!("r{read}"),
        Value::Sum { read, add } => format!("r{read} + {add}"),
    }
}

fn semantics(semantics: Semantics) -> String {
    let order = match (semantics.acquire, semantics.release) {
        (false, false) => return "relaxed".to_owned(),
        (true, false) => "acquire",
        (false, true) => "release",
        (true, true) => "acquire-release",
    };
    let made = semantics.make_available || semantics.make_visible;
    format!("{order}{}", if made { " (available/visible)" } else { "" })
}

fn private(non_private: bool, scope: Option<Scope>) -> String {
    match (non_private, scope) {
        (_, Some(scope)) => format!("non-private, available/visible at {scope:?}"),
        (true, None) => "non-private".to_owned(),
        (false, None) => "private".to_owned(),
    }
}

fn text(step: &Step) -> String {
    let guard = step.guard.map_or(String::new(), |guard| format!("if {}: ", condition(guard)));
    let number = step.number;
    let action = match step.action {
        Action::Divide(number) => format!("1 / (1 - r{number})"),
        Action::Control(barrier) => format!("control barrier ({})", semantics(barrier.semantics)),
        Action::Memory { instruction, volatile } => {
            let text = match instruction {
                Instruction::Barrier { semantics: made, .. } => format!("fence ({})", semantics(made)),
                Instruction::Load { place: from, non_private, visible } => {
                    format!("r{number} = {} (plain, {})", place(from), private(non_private, visible))
                }
                Instruction::Store { place: to, value: stored, non_private, available } => {
                    format!("{} = {} (plain, {})", place(to), value(stored), private(non_private, available))
                }
                Instruction::Atomic { place: at, update, scope, semantics: made } => {
                    let at = place(at);
                    let operation = match update {
                        Update::Load => format!("r{number} = {at}"),
                        Update::Store(stored) => format!("{at} = {}", value(stored)),
                        Update::Exchange(stored) => format!("r{number} = exchange({at}, {})", value(stored)),
                        Update::Add(add) => format!("r{number} = add({at}, {add})"),
                        Update::CompareExchange { comparator, value: stored, .. } => {
                            format!("r{number} = compare_exchange({at}, {comparator} -> {})", value(stored))
                        }
                    };
                    format!("{operation} (atomic, {scope:?}, {})", semantics(made))
                }
            };
            format!("{text}{}", if volatile { ", volatile" } else { "" })
        }
    };
    format!("{guard}{action}")
}

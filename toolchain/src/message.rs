//! Reads the first error that a program writes to standard error.

use crate::diagnostic::{Diagnostic, Position};

#[cfg(not(feature = "bundled"))]
/// An error of spirv-as: `error: LINE: COLUMN: …`.
pub fn of_text(messages: &str) -> Diagnostic {
    let message = without_level(messages);
    let place = message.split_once(": ").and_then(|(line, rest)| {
        let (column, rest) = rest.split_once(": ")?;
        Some((Position::Text { line: line.parse().ok()?, column: column.parse().ok()? }, rest))
    });
    at(place, message)
}

/// An error of spirv-dis (`error: INSTRUCTION: …`) or of spirv-val (`error: line INSTRUCTION: …`).
pub fn of_binary(messages: &str) -> Diagnostic {
    let message = without_level(messages);
    let place = message.split_once(": ").and_then(|(number, rest)| {
        let number = number.strip_prefix("line ").unwrap_or(number).parse().ok()?;
        Some((if number == 0 { Position::Unknown } else { Position::Instruction(number) }, rest))
    });
    at(place, message)
}

fn without_level(messages: &str) -> &str {
    messages.strip_prefix("error: ").unwrap_or(messages)
}

fn at(place: Option<(Position, &str)>, message: &str) -> Diagnostic {
    match place {
        Some((position, rest)) => Diagnostic::at(position, rest),
        None if message.is_empty() => Diagnostic::message("SPIRV-Tools failed without a message"),
        None => Diagnostic::message(message),
    }
}

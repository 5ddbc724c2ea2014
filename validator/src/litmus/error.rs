//! Errors in litmus files.

use thiserror::Error;

use super::lexer::Token;
use super::test::Position;

/// The first mistake in a litmus file. Displayed as `line:column: message`, without the file's name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{position}: {message}")]
pub struct ParseError {
    /// Where the offending token starts.
    pub position: Position,
    /// The offending token as the file spells it; empty at the end of a line or of the file.
    pub token: String,
    /// What is wrong with it and what was expected, the token included.
    pub message: String,
}

impl ParseError {
    /// A mistake at `token`; the message has to name the token itself.
    pub(super) fn new(token: Token<'_>, message: impl Into<String>) -> ParseError {
        ParseError {
            position: token.position,
            token: token.text.trim_end_matches(['\r', '\n']).to_owned(),
            message: message.into(),
        }
    }

    /// `token` cannot stand where it stands.
    pub(super) fn unexpected(token: Token<'_>, expected: &str) -> ParseError {
        ParseError::new(token, format!("unexpected {token}: expected {expected}"))
    }
}

//! Litmus tests: the Khronos `.test` files and the herd-style `.litmus` dialect.

mod cursor;
mod error;
mod explain;
mod herd;
mod instances;
mod khronos;
mod lexer;
mod lower;
mod mnemonic;
mod names;
mod run;
pub(crate) mod test;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use error::ParseError;
pub use lower::Unsupported;
pub use run::{
    run, Answer, Checked, Example, FinalState, Incomplete, RacingPair, RunError, State, Told, Wanted,
};
pub use test::Test;

/// The two languages that litmus tests are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Dialect {
    /// `.test`
    Khronos,
    /// `.litmus`
    Herd,
}

/// Reads the litmus test `text` of the file `name`, whose extension (`.test` or `.litmus`) says which dialect
/// it is in; for another extension the content decides.
///
/// # Errors
/// The first mistake of the file, with its place.
pub fn parse(name: &str, text: &str) -> Result<Test, ParseError> {
    match dialect(name, text) {
        Dialect::Khronos => khronos::parse(text),
        Dialect::Herd => herd::parse(text),
    }
}

fn dialect(name: &str, text: &str) -> Dialect {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str());
    match extension {
        Some(extension) if extension.eq_ignore_ascii_case("test") => Dialect::Khronos,
        Some(extension) if extension.eq_ignore_ascii_case("litmus") => Dialect::Herd,
        // Every Khronos test opens threads, each on a line of its own, and no other dialect has such lines.
        _ if text.lines().any(|line| line.trim_start().starts_with("NEW")) => Dialect::Khronos,
        _ => Dialect::Herd,
    }
}

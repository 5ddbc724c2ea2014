//! Modules made from texts of the corpus.

use crate::support::Checker;

/// A checker with these arguments.
pub fn checker(args: &[&str]) -> Checker {
    Checker::new(&args.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>())
}

/// A text with every `from` as `to`, which must be there.
pub fn with(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "no {from} in\n{text}");
    text.replace(from, to)
}

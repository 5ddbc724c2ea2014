//! Tests of the readers.

mod conformance;
mod garbled;
mod herd;
mod herd_errors;
mod khronos;
mod khronos_errors;
mod random;

use super::parse;

/// What the reader complains about in the file: line, column and token.
#[track_caller]
fn complaint(name: &str, text: &str) -> (u32, u32, String) {
    let error = parse(name, text).expect_err("the file has a mistake");
    assert!(error.to_string().contains("expected") || error.to_string().contains("no meaning"), "{error}");
    (error.position.line, error.position.column, error.token)
}

//! Tests of the readers.

mod conformance;

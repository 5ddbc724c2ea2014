//! Promises: a read of a cycle of load buffering speculates the value of a write that is not in the graph yet.
//!
//! For example, in `r = x; y = 1` beside `s = y; x = s`, `r` may be 1. No order of the events has the write of `x`
//! before its read. So one read of the cycle takes a promised value, and the path counts only if a write that is added
//! later *fulfils* the promise. These are the promises of the promising semantics (Kang, Hur, Lahav, Vafeiadis, Dreyer,
//! "A promising semantics for relaxed-memory concurrency", POPL 2017), with one difference: the axioms decide which
//! cycles are allowed, not a certification by one thread alone.

pub(crate) mod certification;

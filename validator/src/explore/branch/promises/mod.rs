//! Promises: reads of a cycle of load buffering that speculate the value of a write that is not in the graph yet.
//!
//! In `r = x; y = 1` beside `s = y; x = s`, `r` may be 1. No order of the events visits the write of `x` before its read, so
//! one read of the cycle takes a promised value, and the path counts only if a write that is added later *fulfils* the
//! promise. Promises are those of the promising semantics (Kang, Hur, Lahav, Vafeiadis, Dreyer, "A promising semantics for
//! relaxed-memory concurrency", POPL 2017), with the difference that the axioms, and no certification by one thread alone,
//! say which cycles are allowed.

pub(crate) mod certification;

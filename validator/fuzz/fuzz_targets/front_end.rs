//! Any bytes, read leniently and lowered: errors, never a panic.
//!
//! `cargo +nightly fuzz run front_end` in `validator/`; seeds are the corpus's modules.

#![no_main]

use libfuzzer_sys::fuzz_target;
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::module::{Module, ReadOptions};

fuzz_target!(|bytes: &[u8]| {
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    if let Ok(module) = Module::from_bytes(bytes, "fuzz", &options) {
        let _ = lower(&module, &LowerOptions::default());
    }
});

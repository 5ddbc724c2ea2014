//! Checks whether one module refines another, and prints the report.
//!
//! ```sh
//! cargo run --release --example check -- before.spvasm after.spvasm
//! ```

use std::error::Error;

use spirv_tv::check::{check, CheckOptions, Watch};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::report::{text, Painter};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [before, after] = arguments.as_slice() else {
        return Err("usage: check BEFORE AFTER".into());
    };
    // Text or binaries; spirv-val judges them by the rules of their SPIR-V version.
    let before = Module::load(before, &ReadOptions::default())?;
    let after = Module::load(after, &ReadOptions::default())?;
    // The default launch, automatic inputs, the default bounds. Another thread may show `Watch::message` meanwhile.
    let report = check(&before, &after, &CheckOptions::default(), &Watch::default())?;
    print!("{}", text::check(&report, Painter { coloured: false }));
    std::process::exit(report.exit_code(false).into())
}

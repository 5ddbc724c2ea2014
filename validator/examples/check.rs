//! Checks whether one module refines another: prints the verdict of each input as it comes, then the report.
//!
//! ```sh
//! cargo run --release -p spirv-tv --example check -- before.spvasm after.spvasm
//! ```

use std::error::Error;

use spirv_tv::report::{text, Painter};
use spirv_tv::Options;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [before, after] = arguments.as_slice() else {
        return Err("usage: check BEFORE AFTER".into());
    };
    // Text or binaries. The default launch, automatic inputs, the default bounds.
    let (before, after) = (std::fs::read(before)?, std::fs::read(after)?);
    let report = spirv_tv::check_each(before, after, &Options::default(), |run| {
        eprintln!("{}, input {}: {}", run.entry, run.input.name, run.comparison.verdict);
    })?;
    print!("{}", text::check(&report, Painter { coloured: false }));
    std::process::exit(report.exit_code(false).into())
}

//! Lists what one module may do on each input: how many outcomes it has, and its undefined behaviours.
//!
//! ```sh
//! cargo run --release --example outcomes -- module.spvasm
//! ```

use std::error::Error;

use spirv_tv::check::{outcomes, CheckOptions, Watch};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::report::{text, Painter};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: outcomes MODULE")?;
    let module = Module::load(&path, &ReadOptions::default())?;
    let report = outcomes(&module, &CheckOptions::default(), &Watch::default())?;
    for run in &report.runs {
        let found = &run.explored.behaviours;
        println!("{}: {} executions were visited", run.entry, found.explored);
    }
    print!("{}", text::outcomes(&report, Painter { coloured: false }));
    Ok(())
}

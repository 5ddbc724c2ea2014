//! Lists what one module may do on each input: how many outcomes it has, and its undefined behaviours.
//!
//! ```sh
//! cargo run --release -p spirv-tv --example outcomes -- module.spvasm
//! ```

use std::error::Error;

use spirv_tv::report::{outcomes, Painter};
use spirv_tv::Options;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: outcomes MODULE")?;
    let report = spirv_tv::outcomes(std::fs::read(path)?, &Options::default())?;
    for run in &report.runs {
        let found = &run.explored.behaviours;
        println!("{}: {} executions were visited", run.entry, found.explored);
    }
    print!("{}", outcomes::text(&report, false, Painter { coloured: false }));
    Ok(())
}

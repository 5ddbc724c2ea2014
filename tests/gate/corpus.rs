//! The gate of the bundled optimiser on the corpus: a part of it here, all of it as a user runs it.

use crate::workplace::{Workplace, ROOT};

/// One case of so many.
const FRACTION: &str = "24";

#[test]
fn the_bundled_optimiser_meets_its_baseline() {
    if !cfg!(feature = "bundled") {
        println!("skipped: the optimiser of the PATH has other bugs");
        return;
    }
    let place = Workplace::new();
    let path = |name: &str| format!("{ROOT}/corpus/{name}");
    let (manifest, baseline) = (path("gate.toml"), path("gate.csv"));
    let arguments = ["gate", &manifest, "--baseline", &baseline, "--fraction", FRACTION, "--out", "out"];
    let ran = place.ends(&arguments, 0);
    assert!(ran.out.contains("nothing unexpected"), "{}", ran.out);
    let results = place.table("out/results.csv");
    assert!(results.len() > 500, "{}", results.len());
    assert!(results.values().any(|status| status == "ExpectedFail"), "the part has a known failure");
}

//! The interpreter against a Vulkan driver: generated modules run on both, and the driver's result must be
//! in the interpreter's outcome set.
//!
//! Without a Vulkan device these tests say so and pass (`SPIRV_TV_REQUIRE=device`: they fail). With `DRIVER_TEXT=1 … -- --nocapture` they print
//! the modules.

#[path = "driver/atomics.rs"]
mod atomics;
#[path = "driver/case.rs"]
mod case;
#[path = "driver/composites.rs"]
mod composites;
#[path = "driver/coverage.rs"]
mod coverage;
#[path = "driver/exceptions.rs"]
mod exceptions;
#[path = "driver/floats.rs"]
mod floats;
#[path = "driver/formats.rs"]
mod formats;
#[path = "driver/glsl.rs"]
mod glsl;
#[path = "driver/integers.rs"]
mod integers;
#[path = "support/generated.rs"]
mod launched;
#[path = "driver/oracle.rs"]
mod oracle;
#[path = "driver/programs.rs"]
mod programs;
#[path = "support/require.rs"]
mod require;
#[path = "driver/subgroups.rs"]
mod subgroups;
#[allow(dead_code, reason = "most of it is for tests over the corpus")]
#[path = "support/mod.rs"]
mod support;
#[path = "driver/text.rs"]
mod text;
#[path = "driver/tolerance.rs"]
mod tolerance;
#[path = "driver/values.rs"]
mod values;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Instant;

use rayon::prelude::*;

use case::{count_batch, run_batch, Case, Findings};
use spirv_tv_driver::Device;

/// Cases of one module: more make compiling it slower than running it.
const BATCH: usize = 24;

/// Seeds of each generator.
const SEEDS: std::ops::Range<u64> = 1..9;

/// Threads that run batches. The driver's compiler goes deep on long functions.
fn pool() -> &'static rayon::ThreadPool {
    static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
    POOL.get_or_init(|| {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(2).stack_size(256 << 20);
        builder.build().unwrap_or_else(|error| panic!("{error}"))
    })
}

/// `DRIVER_BATCH=1` tells which case of a module the driver refuses.
fn batch_size() -> usize {
    let given = std::env::var("DRIVER_BATCH").ok().and_then(|size| size.parse().ok());
    given.filter(|&size| size > 0).unwrap_or(BATCH)
}

/// A family's name and its cases.
type Family = (&'static str, fn() -> Vec<Case>);

/// Every family of generated cases.
const FAMILIES: [Family; 20] = [
    ("integer arithmetic", integers::arithmetic),
    ("integer comparisons", integers::comparisons),
    ("shifts", integers::shifts),
    ("bits", integers::bits),
    ("two results", integers::extended),
    ("float arithmetic", floats::arithmetic),
    ("float comparisons", floats::comparisons),
    ("conversions", floats::conversions),
    ("products", floats::products),
    ("integer dots", floats::integer_dots),
    ("logic", composites::logic),
    ("selections", composites::selections),
    ("composites", composites::composites),
    ("atomics", atomics::atomics),
    ("GLSL.std.450, exact", glsl::exact),
    ("GLSL.std.450, approximate", glsl::approximate),
    ("GLSL.std.450, packing", glsl::packing),
    ("GLSL.std.450, geometric", glsl::geometric),
    ("GLSL.std.450, parts", glsl::parts),
    ("subgroups", subgroups::subgroups),
];

/// A name for a batch: the case's own where there is one.
fn title(family: &str, number: usize, batch: &[Case]) -> String {
    match batch {
        [case] => format!("{family}: {}", case.name),
        _ => format!("{family} {number}"),
    }
}

/// Says what was compared; gives what is wrong.
fn report(name: &str, count: usize, start: Instant, findings: Findings) -> Vec<String> {
    let Findings { mut complaints, compared, lacking, .. } = findings;
    println!("{name}: {count} cases, {compared} components, {:?}", start.elapsed());
    lacking.iter().for_each(|module| println!("skipped: the device lacks capabilities of {module}"));
    if compared == 0 {
        complaints.push(format!("{name}: nothing was compared"));
    }
    // `docs/coverage.md` counts on lavapipe.
    if oracle::device().is_some_and(Device::is_lavapipe) {
        complaints
            .extend(lacking.into_iter().map(|module| format!("{module}: lavapipe lacks its capabilities")));
    }
    complaints
}

fn merged(all: Vec<Findings>) -> Findings {
    let mut findings = Findings::default();
    all.into_iter().for_each(|one| findings.add(one));
    findings
}

#[test]
fn families() {
    let Some(device) = oracle::device() else { return };
    let only = std::env::var("DRIVER_FAMILY").unwrap_or_default();
    let mut failed = Vec::new();
    for (name, cases) in FAMILIES.iter().filter(|(name, _)| name.contains(&only)) {
        let start = Instant::now();
        let cases = cases();
        let batches: Vec<(usize, &[Case])> = cases.chunks(batch_size()).enumerate().collect();
        let run = |(number, batch): &(usize, &[Case])| run_batch(device, &title(name, *number, batch), batch);
        let findings = merged(pool().install(|| batches.par_iter().map(run).collect()));
        failed.extend(report(name, cases.len(), start, findings));
    }
    assert!(failed.is_empty(), "{} complaints:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn whole_programs() {
    let Some(device) = oracle::device() else { return };
    let start = Instant::now();
    let paths = programs::paths();
    let found = pool().install(|| paths.par_iter().map(|path| programs::run(device, path)).collect());
    let failed = report("programs", paths.len(), start, merged(found));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn image_formats() {
    let Some(device) = oracle::device() else { return };
    let start = Instant::now();
    let formats = formats::all();
    let found = pool().install(|| formats.par_iter().map(|&format| formats::run(device, format)).collect());
    let failed = report("image formats", formats.len(), start, merged(found));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn generated_programs() {
    let Some(device) = oracle::device() else { return };
    let start = Instant::now();
    let programs = programs::generated(SEEDS);
    let run = |(generator, seed): &programs::Generated| programs::run_generated(device, *generator, *seed);
    let found = pool().install(|| programs.par_iter().map(run).collect());
    let failed = report("generated programs", programs.len(), start, merged(found));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn coverage_document_is_up_to_date() {
    let count = |(name, cases): &Family| {
        let cases = cases();
        let batches: Vec<&[Case]> = cases.chunks(BATCH).collect();
        merged(pool().install(|| batches.par_iter().map(|batch| count_batch(name, batch)).collect()))
    };
    let mut compared = merged(FAMILIES.iter().map(count).collect());
    compared.add(merged(programs::generated(SEEDS).into_iter().map(programs::count_generated).collect()));
    compared.add(merged(formats::all().into_iter().map(formats::count).collect()));
    compared.add(merged(programs::paths().iter().map(|path| programs::count(path)).collect()));
    assert!(compared.complaints.is_empty(), "{}", compared.complaints.join("\n"));
    let corpus = merged(support::subjects().iter().map(|subject| programs::count(&subject.path)).collect());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/driver/census.toml");
    let census = support::toml(&path);
    let coverage = coverage::coverage(&compared, &corpus, &census);
    let excused: BTreeMap<&str, &str> = exceptions::UNTESTED.into_iter().collect();
    let missing = coverage::missing(&coverage, &excused);
    assert!(missing.is_empty(), "{}", missing.join("\n"));
    let text = coverage::document(&coverage, &census);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coverage.md");
    if std::env::var_os("COVERAGE").is_some() {
        std::fs::write(&path, &text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        known == text,
        "docs/coverage.md is out of date: COVERAGE=write cargo test -p spirv-tv-cli --test driver coverage"
    );
}

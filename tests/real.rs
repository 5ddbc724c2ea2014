//! Real shaders: modules that come inside published packages, compiled from WGSL by naga and from GLSL by
//! glslang, each executed at its declared local size, checked against itself and against its `-O` result.
//!
//! The list is `tests/real/modules.toml`. Nothing of the packages is kept here: `cargo metadata` downloads
//! them (`tests/real/packages`). Without a network or without glslang the test says what it skips
//! (`SPIRV_TV_REQUIRE=glslang`: without glslang it fails).
//!
//! ```text
//! cargo test -p spirv-tv-cli --test real -- --nocapture                          # prints the table
//! cargo test -p spirv-tv-cli --test real -- --nocapture --ignored                # the ones that take long
//! REAL_KEEP=DIR REAL_ONLY=part,part cargo test -p spirv-tv-cli --test real …     # keeps the compiled modules
//! ```

#[path = "real/catalogue.rs"]
mod catalogue;
#[path = "real/glsl.rs"]
mod glsl;
#[path = "real/packages.rs"]
mod packages;
#[path = "support/require.rs"]
mod require;
#[allow(dead_code, reason = "most of it is for tests/schema.rs")]
#[path = "support/schema.rs"]
mod schema;
#[path = "real/verdict.rs"]
mod verdict;
#[path = "real/wgsl.rs"]
mod wgsl;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use catalogue::{Catalogue, Entry};
use packages::Packages;
use rayon::prelude::*;
use require::{skipped, Need};
use verdict::Judged;

/// How many modules may be inconclusive, of all.
const MOST_INCONCLUSIVE: usize = 5;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/real")
}

/// What became of an entry.
enum Fate {
    Skipped(String),
    Failed(String),
    Judged(Judged),
}

/// Compiles an entry and runs the tool on it.
fn run(entry: &Entry, packages: &Packages, scratch: &Path) -> Fate {
    let Some(root) = packages.root(&entry.package.name) else {
        return Fate::Failed(format!("no package {}", entry.package.name));
    };
    let source = root.join(&entry.package.folder).join(&entry.file);
    let compiled = match source.extension().and_then(|extension| extension.to_str()) {
        Some("wgsl") => wgsl::compile(&source, entry, root),
        Some("comp") if !glsl::is_installed() => {
            let why = "glslangValidator is missing";
            skipped(Need::Glslang, &format!("{}: {why}", entry.name));
            return Fate::Skipped(why.to_owned());
        }
        Some("comp") => glsl::compile(&source, entry, scratch),
        _ => Err("of no known language".to_owned()),
    };
    let words = match compiled {
        Ok(words) => words,
        Err(message) => return Fate::Failed(message),
    };
    let module = scratch.join(format!("{}.spv", entry.name.replace('/', "-")));
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if let Err(error) = std::fs::write(&module, bytes) {
        return Fate::Failed(format!("{}: {error}", module.display()));
    }
    match verdict::of(&module, &entry.args, entry.limited) {
        Ok(judged) => Fate::Judged(judged),
        Err(message) => Fate::Failed(message),
    }
}

/// Runs all entries that are heavy, or all that are not, and prints the table.
fn run_all(heavy: bool) {
    let catalogue = Catalogue::load(&folder().join("modules.toml"));
    let only = std::env::var("REAL_ONLY").unwrap_or_default();
    let wanted = |entry: &&Entry| {
        entry.heavy == heavy && (only.is_empty() || only.split(',').any(|part| entry.name.contains(part)))
    };
    let entries: Vec<&Entry> = catalogue.entries.iter().filter(wanted).collect();
    let packages = match Packages::locate(&folder().join("packages")) {
        Ok(packages) => packages,
        Err(message) => {
            println!("skipped: the packages cannot be downloaded: {message}");
            return;
        }
    };
    let temporary = tempfile::tempdir().unwrap();
    let scratch = std::env::var_os("REAL_KEEP").map_or(temporary.path().to_owned(), PathBuf::from);
    std::fs::create_dir_all(&scratch).unwrap();
    let fates: Vec<Fate> = entries.par_iter().map(|entry| run(entry, &packages, &scratch)).collect();

    let mut table = verdict::header();
    let mut failures = String::new();
    let (mut judged, mut skipped, mut inconclusive, mut limited, mut vacuous) = (0, 0, 0, 0, 0);
    for (entry, fate) in entries.iter().zip(&fates) {
        match fate {
            Fate::Skipped(why) => {
                skipped += 1;
                _ = writeln!(table, "| {} | skipped: {why} |", entry.name);
            }
            Fate::Failed(why) => _ = writeln!(failures, "{}: {why}", entry.name),
            Fate::Judged(found) => {
                judged += 1;
                inconclusive += usize::from(found.optimised == "inconclusive" && !entry.limited);
                limited += usize::from(found.optimised == "inconclusive" && entry.limited);
                vacuous += usize::from(found.optimised == "vacuous");
                _ = writeln!(table, "{}", found.row(&entry.name));
                if let Some(complaint) = found.complaint(&entry.verdict, entry.limited) {
                    _ = writeln!(failures, "{}: {complaint}", entry.name);
                }
            }
        }
    }
    println!("{table}");
    println!(
        "{judged} judged, {inconclusive} inconclusive, {limited} out of time as foreseen, {vacuous} vacuous, \
         {skipped} skipped"
    );
    assert!(failures.is_empty(), "\n{failures}");
    assert!(inconclusive <= MOST_INCONCLUSIVE, "{inconclusive} are inconclusive");
}

#[test]
fn real_modules_are_judged() {
    run_all(false);
}

#[test]
#[ignore = "takes minutes"]
fn heavy_real_modules_are_judged() {
    run_all(true);
}

#[test]
fn the_ordinary_modules_are_many() {
    let catalogue = Catalogue::load(&folder().join("modules.toml"));
    let entries: Vec<&Entry> = catalogue.entries.iter().filter(|entry| !entry.heavy).collect();
    let packages: BTreeSet<&str> = entries.iter().map(|entry| entry.package.name.as_str()).collect();
    assert!(entries.len() >= 60 && packages.len() >= 6, "{} modules of {packages:?}", entries.len());
    assert!(entries.iter().all(|entry| !entry.limited));
}

//! Whole programs on both: the driver's final memory must be one of our outcomes.
//!
//! `programs/` has them as `.comp` in GLSL, whose first line says how they are launched, and as the
//! `.spvasm` that glslang made of it (`programs/README.md`).

use std::path::{Path, PathBuf};

use spirv_tv::check::CheckOptions;
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv::value::Byte;
use spirv_tv_driver::Device;
use spirv_tv_mutators::generate::{Generator, Program, GENERATORS};
use spirv_tv_toolchain::{optimize, OptimizeOptions, TargetEnv};

use super::case::Findings;
use super::launched::launch;
use super::oracle::{self, Memory};
use super::support::Checker;

/// The programs of the folder.
pub fn paths() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/driver/programs");
    let listing = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = listing.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "spvasm"));
    paths.sort();
    paths
}

/// Counts a program's instructions without running it.
pub fn count(path: &Path) -> Findings {
    let mut findings = Findings::default();
    match Module::load(&path.to_string_lossy(), &ReadOptions { lenient: true, ..ReadOptions::default() }) {
        Ok(module) => findings.count(&module),
        Err(error) => findings.complaints.push(error.to_string()),
    }
    findings
}

/// Runs a program of the folder.
pub fn run(device: &Device, path: &Path) -> Findings {
    let mut findings = Findings::default();
    if let Err(error) = try_run(device, path, &mut findings) {
        findings.complaints.push(format!("{}: {error}", path.display()));
    }
    findings
}

fn try_run(device: &Device, path: &Path, findings: &mut Findings) -> Result<(), String> {
    let source = std::fs::read_to_string(path.with_extension("comp")).map_err(|error| error.to_string())?;
    let launch = source.lines().next().and_then(|line| line.strip_prefix("// launch:"));
    let launch = launch.ok_or("the first line of the source does not say how to launch it")?;
    let arguments: Vec<String> = launch.split_whitespace().map(str::to_owned).collect();
    let checker = Checker::new(&arguments);
    let module = Module::load(&path.to_string_lossy(), &ReadOptions::default()).map_err(|e| e.to_string())?;
    let tolerance = source.lines().find_map(|line| line.strip_prefix("// tolerance:"));
    let tolerance =
        tolerance.map(|text| text.trim().parse().map_err(|_| "a tolerance is a number")).transpose()?;
    compare(device, &module, &checker.options, tolerance, &path.display().to_string(), findings)
}

/// A generator and a seed.
pub type Generated = (&'static dyn Generator, u64);

/// The generator whose programs lavapipe lacks a capability for.
const LACKING: &str = "clusters";

/// Programs of every other generator.
pub fn generated(seeds: std::ops::Range<u64>) -> Vec<Generated> {
    let generators = GENERATORS.iter().filter(|generator| generator.name() != LACKING);
    generators.flat_map(|generator| seeds.clone().map(|seed| (*generator, seed))).collect()
}

fn read(name: &str, program: &Program) -> Result<Module, String> {
    let options = ReadOptions::for_env(TargetEnv::Vulkan1_3);
    Module::from_words(program.words.clone(), name, &options).map_err(|error| error.to_string())
}

/// Counts a generated program's instructions.
pub fn count_generated((generator, seed): Generated) -> Findings {
    let mut findings = Findings::default();
    match read(generator.name(), &generator.generate(seed)) {
        Ok(module) => findings.count(&module),
        Err(error) => findings.complaints.push(error),
    }
    findings
}

/// The generator whose programs spirv-opt -O neither fails on nor breaks: its --ccp does so for integers of other widths
/// than 32 bits.
const OPTIMISED: &str = "control-flow";

/// Runs a generated program; those of one generator and even seeds as spirv-opt leaves them.
pub fn run_generated(device: &Device, generator: &dyn Generator, seed: u64) -> Findings {
    let mut findings = Findings::default();
    let name = format!("{} {seed}", generator.name());
    let program = generator.generate(seed);
    if program.subgroup_size.is_some_and(|size| size != device.subgroup_size()) {
        println!("skipped: {name} is for subgroups of another size than the device's");
        return findings;
    }
    let options = CheckOptions { launch: launch(&program), ..CheckOptions::default() };
    let result = read(&name, &program).and_then(|module| {
        let is_optimised = generator.name() == OPTIMISED && seed.is_multiple_of(2);
        let module = if is_optimised { optimised(&module)? } else { module };
        compare(device, &module, &options, None, &name, &mut findings)
    });
    if let Err(error) = result {
        findings.complaints.push(format!("{name}: {error}"));
    }
    findings
}

/// The module after the passes of -O.
fn optimised(module: &Module) -> Result<Module, String> {
    let options = OptimizeOptions::default();
    let done = optimize(&module.words, &["-O".to_owned()], &options).map_err(|error| error.to_string())?;
    let options = ReadOptions::for_env(TargetEnv::Vulkan1_3);
    Module::from_words(done.words, &module.name, &options).map_err(|error| error.to_string())
}

/// Compares the driver's result with the interpreter's outcomes.
pub fn compare(
    device: &Device,
    module: &Module,
    options: &CheckOptions,
    tolerance: Option<f64>,
    name: &str,
    findings: &mut Findings,
) -> Result<(), String> {
    let ran = oracle::run(device, module, options)?;
    let Some(theirs) = ran.theirs else {
        findings.lacking.push(name.to_owned());
        return Ok(());
    };
    findings.count(module);
    findings.compared += theirs.values().map(|bytes| bytes.len() as u64 / 4).sum::<u64>();
    if ran.ours.iter().any(|ours| differences(ours, &theirs, tolerance).is_empty()) {
        return Ok(());
    }
    let nearest = ran.ours.iter().map(|ours| differences(ours, &theirs, tolerance)).min_by_key(Vec::len);
    let nearest = nearest.ok_or("we have no outcome")?;
    let told = &nearest[..nearest.len().min(8)];
    Err(format!(
        "of {} outcomes the nearest differs in {} words: {}",
        ran.ours.len(),
        nearest.len(),
        told.join("; ")
    ))
}

/// The words of buffers and images that differ. With a tolerance, words of buffers may differ that are floats
/// so near to each other.
fn differences(ours: &Memory<Byte>, theirs: &Memory<u8>, tolerance: Option<f64>) -> Vec<String> {
    let mut all = Vec::new();
    for (key, ours) in ours {
        let Some(theirs) = theirs.get(key) else { continue };
        let tolerance = tolerance.filter(|_| !key.starts_with("image:"));
        for (word, (ours, theirs)) in ours.chunks(4).zip(theirs.chunks(4)).enumerate() {
            let known = |(ours, theirs): (&Byte, &u8)| match ours {
                Byte::Known(value) => *value,
                Byte::Undef => *theirs,
            };
            let expected: Vec<u8> = ours.iter().zip(theirs).map(known).collect();
            // Small integers look like denormals.
            let is_near = tolerance.is_some_and(|tolerance| {
                let value = |bytes: &[u8]| bytes.try_into().map_or(f32::NAN, f32::from_le_bytes);
                let (ours, theirs) = (value(&expected), value(theirs));
                let are_normal = [ours, theirs].iter().all(|value| value.is_normal() || *value == 0.0);
                are_normal && f64::from((ours - theirs).abs()) <= tolerance
            });
            if expected != theirs && !is_near {
                all.push(format!("{key} word {word}: we {}, driver {}", show(&expected), show(theirs)));
            }
        }
    }
    all
}

/// A word as a number, and as a float.
fn show(bytes: &[u8]) -> String {
    match bytes.try_into().map(u32::from_le_bytes) {
        Ok(word) => format!("{word:#010x} ({})", f32::from_bits(word)),
        Err(_) => format!("{bytes:x?}"),
    }
}

//! Every pass that promises to preserve or refine, on the corpus's modules: no accusation, and no
//! crash but the known ones.

use std::path::{Path, PathBuf};
use std::process::Command;

use rayon::prelude::*;
use spirv_tv_toolchain::passes::{Argument, Class, Pass, PASSES};

/// Passes of the bundled version that fail assertions on valid modules (`corpus/crashes`).
const CRASHING: [&str; 4] = ["--amd-ext-to-khr", "--interpolate-fixup", "--loop-fusion", "--loop-peeling"];

/// Modules that some passes get wrong, and the kind of the violation: `corpus/findings` says why. Without their endless loops
/// the last ones come to what is undefined, which the loops do not excuse; the one before has an effect, a volatile load.
const ACCUSED: [(&str, &str); 9] = [
    ("glsl-coherent-parameter-dropped", "new-race"),
    ("image-volatile-read-removed", "volatile-trace"),
    ("endless-loop-with-volatile-load-removed", "new-outcome"),
    ("endless-loop-in-front-of-what-others-wait-for", "new-undefined"),
    ("endless-loop-in-front-of-what-others-wait-for-strict", "new-undefined"),
    ("endless-loop-unreachable-behind-branches", "new-undefined"),
    ("endless-loop-unreachable-behind-branches-strict", "new-undefined"),
    ("poll-of-what-stays-by-nonprivate-load-removed", "new-race"),
    ("poll-of-what-stays-by-nonprivate-load-removed-strict", "new-race"),
];

/// Modules of which a pass makes invalid ones: it takes untyped variables, which it does not know, out of the interface.
const BROKEN: (&str, &str) = ("untyped-", "--remove-unused-interface-variables: optimiser-failed: ");

/// Whether what was told is no accusation, or the known violation or failure of this module.
fn is_excused(module: &Path, told: &str) -> bool {
    let name = module.file_name().unwrap_or_default().to_string_lossy();
    if name.starts_with(BROKEN.0) && told.contains(BROKEN.1) {
        return true;
    }
    // A pass may rearrange floats; where no interval bounds the results, nothing is decided.
    if told.contains(": inconclusive: float: ") {
        return true;
    }
    // Loops that run for ever on most inputs leave too few to tell.
    if told.contains(" not finished (instructions)") {
        return true;
    }
    let mut known = ACCUSED.iter().filter(|(name, _)| module.iter().any(|part| part == *name));
    known.any(|(_, kind)| told.contains(&format!(": violates: {kind}, ")))
}

fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(folder);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn flag(pass: &Pass) -> String {
    match pass.argument {
        Argument::None | Argument::Optional { .. } => pass.flag.to_owned(),
        Argument::Required { example, .. } => format!("{}={example}", pass.flag),
    }
}

/// Runs the passes on the modules for whose numbers `chosen` holds.
fn sweep(chosen: impl Fn(usize, usize) -> bool + Sync) {
    let mut modules = entries("classics");
    modules.retain(|path| path.extension().is_some_and(|extension| extension == "spvasm"));
    modules.extend(entries("pairs").into_iter().map(|pair| pair.join("before.spvasm")));
    let promising = |pass: &&Pass| !matches!(pass.class, Class::Changing) && !CRASHING.contains(&pass.flag);
    let passes: Vec<&Pass> = PASSES.iter().filter(promising).collect();
    let runs: Vec<(usize, usize)> = (0..modules.len())
        .flat_map(|module| (0..passes.len()).map(move |pass| (module, pass)))
        .filter(|(module, pass)| chosen(*module, *pass))
        .collect();
    assert!(runs.len() > 500, "{} runs", runs.len());
    let accusations: Vec<String> = runs
        .par_iter()
        .filter_map(|(module, pass)| {
            let (module, flag) = (&modules[*module], flag(passes[*pass]));
            let arguments = ["--jobs", "1", "-q"];
            let output = Command::new(env!("CARGO_BIN_EXE_spirv-tv"))
                .arg("opt")
                .args(arguments)
                .arg(module)
                .arg(&flag)
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stdout).into_owned()
                + &String::from_utf8_lossy(&output.stderr);
            let accused = !output.status.success() && !is_excused(module, &told);
            accused.then(|| format!("{} {flag}: {told}", module.display()))
        })
        .collect();
    assert!(
        accusations.is_empty(),
        "{} of {} runs:\n{}",
        accusations.len(),
        runs.len(),
        accusations.join("\n")
    );
}

#[test]
fn passes_that_promise_to_preserve_are_not_accused() {
    sweep(|module, pass| (module + pass) % 16 == 0);
}

#[test]
#[ignore = "15,000 runs of the optimiser: some minutes"]
fn no_pass_is_accused_on_any_module() {
    sweep(|_, _| true);
}

//! How many planted mistakes the tool notices: wrong changes (`spirv_tv_mutators::WRONG`) of real compute, fragment and
//! vertex shaders, each checked against the module that it was made from.
//!
//! ```text
//! cargo bench --bench power -- --results FILE [--binary SPIRV-TV] [--each 13] [--seed 0] [--only PART] [--jobs 2]
//!     [--keep FOLDER]
//! ```
//!
//! The modules are `power/modules.toml`, and those of `tests/real/modules.toml` that `power/real.toml` names; their
//! packages are downloaded. The same list and seed give the same mutants, so that two binaries can be compared. FILE has
//! one JSON object a mutant; what is in it already is not run again. FOLDER gets both modules of each mutant that is not
//! flagged. Without `--results` nothing is done.
//!
//! A mutant that means the same as its module is not told from one that the tool fails to notice, except where that is
//! proved: where `spirv-opt -O` makes the same words of both and what was changed divides nothing, by
//! `power/equivalent.rs`, or by a solver (`power/solver/`; `apt-get install z3`). Those are counted apart.

#[allow(dead_code, reason = "verdicts are for tests/real.rs")]
#[path = "../tests/real/catalogue.rs"]
mod catalogue;
#[path = "power/check.rs"]
mod check;
#[path = "power/compile.rs"]
mod compile;
#[path = "power/draw.rs"]
mod draw;
mod drawing;
#[path = "power/equivalent.rs"]
mod equivalent;
#[allow(dead_code, reason = "here, glslang must be installed")]
#[path = "../tests/real/glsl.rs"]
mod glsl;
#[path = "power/host.rs"]
mod host;
#[path = "../tests/real/packages.rs"]
mod packages;
#[path = "power/solver/mod.rs"]
mod solver;
#[path = "power/table.rs"]
mod table;
#[path = "../tests/real/wgsl.rs"]
mod wgsl;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use catalogue::{Catalogue, Entry};
use packages::Packages;
use rayon::prelude::*;
use serde::Deserialize;
use spirv_tv_mutators::Module;
use table::Line;

/// What the command line says.
struct Options {
    results: PathBuf,
    binary: PathBuf,
    each: usize,
    seed: u64,
    only: String,
    jobs: usize,
    keep: Option<PathBuf>,
}

impl Options {
    /// None without `--results`.
    fn of(args: &[String]) -> Option<Self> {
        let value = |name: &str| {
            let position = args.iter().position(|arg| arg == name)?;
            args.get(position + 1).cloned()
        };
        let number = |name: &str, default: usize| value(name).map_or(default, |text| text.parse().unwrap());
        Some(Options {
            results: value("--results")?.into(),
            binary: value("--binary").unwrap_or_else(|| env!("CARGO_BIN_EXE_spirv-tv").to_owned()).into(),
            each: number("--each", 13),
            seed: number("--seed", 0) as u64,
            only: value("--only").unwrap_or_default(),
            jobs: number("--jobs", 2),
            keep: value("--keep").map(PathBuf::from),
        })
    }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    modules: BTreeSet<String>,
}

/// All modules of the list.
fn entries() -> Vec<Entry> {
    let text = std::fs::read_to_string(folder("benches/power/real.toml")).unwrap();
    let names: Names = toml::from_str(&text).unwrap();
    let mut entries = Catalogue::load(&folder("tests/real/modules.toml")).entries;
    entries.retain(|entry| names.modules.contains(&entry.name));
    assert_eq!(entries.len(), names.modules.len(), "power/real.toml names what tests/real does not have");
    entries.extend(Catalogue::load(&folder("benches/power/modules.toml")).entries);
    entries
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if check::form(&args) {
        return;
    }
    let Some(options) = Options::of(&args) else {
        println!("skipped: --results FILE says where results go");
        return;
    };
    let real = Packages::locate(&folder("tests/real/packages")).unwrap();
    let drawing = Packages::locate(&folder("benches/power/packages")).unwrap();
    let known = table::read(&options.results);
    let done: BTreeSet<(&str, &str)> = known.iter().map(|line| (&*line.module, &*line.mutant)).collect();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&options.results).unwrap();
    let file = Mutex::new(file);
    let scratch = tempfile::tempdir().unwrap();
    let mut entries = entries();
    entries.retain(|entry| entry.name.contains(&options.only));

    let solves = solver::is_installed();
    if !solves {
        println!("z3 is not installed: no proof by a solver");
    }

    let judge = |entry: &Entry| {
        let root = { [&real, &drawing] }.into_iter().find_map(|packages| packages.root(&entry.package.name));
        let Some(root) = root else { return println!("{}: no package", entry.name) };
        let words = match compile::words(entry, root, scratch.path()) {
            Ok(words) => words,
            Err(message) => {
                return println!("{}: {}", entry.name, message.lines().next().unwrap_or_default())
            }
        };
        let module = match Module::load(&words, Default::default()) {
            Ok(module) => module,
            Err(error) => return println!("{}: {error}", entry.name),
        };
        let stage = compile::stage(&words);
        let data = rspirv::dr::load_words(module.words()).unwrap();
        let pair = check::Pair::new(scratch.path(), &entry.name, &module.words(), &entry.args, solves);
        for mutant in draw::draw(&module, &entry.name, options.each, options.seed) {
            let name = mutant.name();
            if done.contains(&(&*entry.name, &*name)) {
                continue;
            }
            let proof = (equivalent::proof(&data, &mutant), check::divides(&mutant));
            let found = pair.check(&options.binary, &mutant.module.words(), proof);
            let line = Line {
                stage: stage.to_owned(),
                module: entry.name.clone(),
                mutator: mutant.mutator.to_owned(),
                mutant: name,
                verdict: found.verdict,
                reason: found.reason,
                equal: found.equal.unwrap_or_default().to_owned(),
                milliseconds: found.milliseconds,
            };
            if let Some(folder) = options.keep.as_ref().filter(|_| line.verdict != table::FLAGGED) {
                pair.keep(&folder.join(format!("{}.{}", line.module, line.mutant).replace(['/', ' '], "-")));
            }
            let text = serde_json::to_string(&line).unwrap();
            writeln!(file.lock().unwrap(), "{text}").unwrap();
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().unwrap();
    pool.install(|| entries.par_iter().with_max_len(1).for_each(judge));
    println!("{}", table::render(&table::read(&options.results)));
}

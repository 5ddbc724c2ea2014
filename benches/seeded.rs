//! Whether `corpus/modules/` reveals mistakes of each pass: the result of a pass is changed for the worse where the pass
//! changed something, by one wrong change or weakening (`spirv_tv_mutators`), and checked against the module before
//! the pass.
//!
//! ```text
//! cargo bench --bench seeded -- --results FILE [--each 3] [--cap 60] [--seed 0] [--pass PART] [--module PART]
//!     [--jobs 2] [--keep FOLDER]
//! ```
//!
//! EACH is the number of mistakes for a pass and a module, CAP that for a pass. Modules and mistakes are drawn by
//! chance, the same for the same seed. FILE has one JSON object a mistake; what is in it already is not run again. FOLDER
//! gets the pairs that are not flagged. Without `--results` nothing is done.
//!
//! Weakenings are planted only where more than one invocation runs: nobody can notice how one that is alone is ordered.
//!
//! Where the result of the pass does not refine the module (the interface changes by contract, or the pass has a known
//! bug), the mistake is checked against the result. Mistakes that mean nothing are counted apart
//! (`seeded/equivalent.rs`).

#[path = "seeded/commuting.rs"]
mod commuting;
#[path = "seeded/draw.rs"]
mod draw;
mod drawing;
#[path = "seeded/equivalent.rs"]
mod equivalent;
#[allow(dead_code, reason = "the modules that show a pass are for tests/modules.rs")]
#[path = "seeded/passes.rs"]
mod passes;
#[path = "seeded/places.rs"]
mod places;
#[path = "power/equivalent.rs"]
mod proofs;
#[path = "seeded/subject.rs"]
mod subject;
#[path = "seeded/table.rs"]
mod table;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use equivalent::Equivalents;
use passes::Optimiser;
use rayon::prelude::*;
use spirv_tv_mutators::Mutant;
use subject::{Finding, Subject};
use table::Line;

/// What the command line says.
struct Options {
    results: PathBuf,
    each: usize,
    cap: usize,
    seed: u64,
    pass: String,
    module: String,
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
            each: number("--each", 3),
            cap: number("--cap", 60),
            seed: number("--seed", 0) as u64,
            pass: value("--pass").unwrap_or_default(),
            module: value("--module").unwrap_or_default(),
            jobs: number("--jobs", 2),
            keep: value("--keep").map(PathBuf::from),
        })
    }
}

/// A path in the repository.
fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// The result of a pass on a module, and what mistakes are checked against.
struct Pair<'s> {
    subject: &'s Subject,
    result: spirv_tv::module::Module,
    /// The module itself, or the result where that does not refine it.
    of_result: bool,
}

impl<'s> Pair<'s> {
    /// None, which is printed, where the pass gives no valid module.
    fn of(subject: &'s Subject, flag: &str, optimiser: &Optimiser) -> Option<Self> {
        let Some(words) = optimiser.run(&subject.module.words, &[flag]) else {
            println!("left out: {flag} {}: the pass fails", subject.name);
            return None;
        };
        let result = match subject.made(words) {
            Ok(result) => result,
            Err(error) => {
                println!("left out: {flag} {}: {error}", subject.name);
                return None;
            }
        };
        let verdict = subject.check(flag, &subject.module, &result).verdict;
        let of_result = ![table::REFINES, table::HOLLOW].contains(&&*verdict);
        Some(Pair { subject, result, of_result })
    }

    fn mutants(&self, flag: &str, options: &Options) -> Vec<Mutant> {
        let places = places::places(&self.subject.module, &self.result);
        if places.is_empty() {
            return Vec::new();
        }
        let name = format!("{flag} {}", self.subject.name);
        let mutable = match self.subject.to_mutate(&self.result) {
            Ok(mutable) => mutable,
            Err(error) => {
                println!("left out: {name}: {error}");
                return Vec::new();
            }
        };
        draw::draw(&mutable, &places, self.subject.is_alone, &name, options)
    }

    /// What is said of a mistake.
    fn check(&self, flag: &str, mutant: &Mutant) -> Finding {
        let base = if self.of_result { &self.result } else { &self.subject.module };
        match self.subject.made(mutant.module.words()) {
            Ok(changed) => self.subject.check(flag, base, &changed),
            Err(error) => Finding { verdict: "error".to_owned(), reason: error.to_string() },
        }
    }

    /// Writes what is compared to a folder.
    fn keep(&self, mutant: &Mutant, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        passes::write(&folder.join("before.spv"), &self.subject.module.words);
        passes::write(&folder.join("result.spv"), &self.result.words);
        passes::write(&folder.join("after.spv"), &mutant.module.words());
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((passes::OPTIMISE, [input, output, flags @ ..])) = args.split_first().map(|(a, b)| (&**a, b))
    {
        passes::child(Path::new(input), Path::new(output), flags);
        return;
    }
    let Some(options) = Options::of(&args) else {
        println!("skipped: --results FILE says where results go");
        return;
    };
    let known = table::read(&options.results);
    let done: BTreeSet<(&str, &str, &str)> =
        known.iter().map(|line| (&*line.pass, &*line.module, &*line.mutant)).collect();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&options.results).unwrap();
    let file = Mutex::new(file);
    let optimiser = Optimiser::new();
    let equivalents = Equivalents::load(&repository("benches/seeded/equivalent.toml"));
    let mut subjects = Subject::all(&repository("corpus/modules"));
    subjects.retain(|subject| subject.name.contains(&options.module));
    let mut flags = passes::Passes::load(&repository("corpus/modules/passes.toml")).changing();
    flags.retain(|flag| flag.contains(&options.pass));

    let judge = |flag: &String| {
        let mut order: Vec<&Subject> = subjects.iter().collect();
        draw::shuffle(&mut order, flag, options.seed);
        let mut seeded = 0;
        for subject in order {
            if seeded >= options.cap {
                return;
            }
            let Some(pair) = Pair::of(subject, flag, &optimiser) else { continue };
            for mutant in pair.mutants(flag, &options) {
                seeded += 1;
                let name = mutant.name();
                if done.contains(&(&**flag, &*subject.name, &*name)) {
                    continue;
                }
                let found = pair.check(flag, &mutant);
                let is_flagged = found.verdict == table::FLAGGED;
                let proof = || equivalents.reason(flag, &pair.result, &subject.name, &mutant, &optimiser);
                let line = Line {
                    pass: flag.clone(),
                    module: subject.name.clone(),
                    mutator: mutant.mutator.to_owned(),
                    mutant: name,
                    of_result: pair.of_result,
                    verdict: found.verdict,
                    reason: found.reason,
                    equal: if is_flagged { String::new() } else { proof().unwrap_or_default() },
                };
                if let Some(folder) = options.keep.as_ref().filter(|_| !is_flagged && line.equal.is_empty()) {
                    let name = format!("{flag}.{}.{}", line.module, line.mutant).replace(['/', ' '], "_");
                    pair.keep(&mutant, &folder.join(name));
                }
                let text = serde_json::to_string(&line).unwrap();
                writeln!(file.lock().unwrap(), "{text}").unwrap();
            }
        }
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().unwrap();
    pool.install(|| flags.par_iter().with_max_len(1).for_each(judge));
    println!("{}", table::render(&table::read(&options.results), &equivalents));
}

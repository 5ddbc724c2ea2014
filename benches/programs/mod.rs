//! The programs that `explore.rs` and `table.rs` measure, and how they come before the explorer.

use std::path::{Path, PathBuf};

use clap::Parser;
use mimalloc::MiMalloc;
use serde::Deserialize;
use spirv_tv::check::CheckOptions;
use spirv_tv::dispatch::Dispatch;
use spirv_tv::ir::Program;
use spirv_tv::launch::{build_dispatch, inputs, trial, Launch};
use spirv_tv::lower::{lower, LowerOptions};
use spirv_tv::module::{Module, ReadOptions};
use spirv_tv_cli::CheckArguments;

/// What the `spirv-tv` command allocates with.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

/// A program at several sizes.
pub struct Family {
    pub name: &'static str,
    /// From the root of the repository.
    pub module: String,
    /// Each with its launch.
    pub sizes: Vec<(u32, Vec<String>)>,
}

impl Family {
    fn new(name: &'static str, module: &str, sizes: &[u32], launch: impl Fn(u32) -> Launched) -> Family {
        let sizes = sizes.iter().map(|&n| (n, launch(n).0)).collect();
        Family { name, module: format!("{module}.spvasm"), sizes }
    }
}

/// Arguments of a launch.
struct Launched(Vec<String>);

impl Launched {
    fn workgroups(n: u32) -> Self {
        Launched(vec!["--workgroups".to_owned(), n.to_string()])
    }

    fn zeros(self, binding: &str, words: u32) -> Self {
        self.with("--buffer", format!("{binding}=zeros:{words}"))
    }

    fn spec(self, id: u32, value: u32) -> Self {
        self.with("--spec", format!("{id}={value}"))
    }

    fn with(mut self, option: &str, value: String) -> Self {
        self.0.extend([option.to_owned(), value]);
        self
    }
}

/// Everything that is measured at growing sizes; `n` is the number of invocations where nothing else is said.
pub fn families() -> Vec<Family> {
    let counters = |n| Launched::workgroups(n).zeros("0.0", n).zeros("0.1", 2 * n);
    let bench = |name, file: &str, sizes: &[u32], launch: &dyn Fn(u32) -> Launched| {
        Family::new(name, &format!("benches/modules/{file}"), sizes, launch)
    };
    let lock = |name, file: &str, sizes: &[u32]| {
        Family::new(name, &format!("corpus/synchronisation/{file}"), sizes, Launched::workgroups)
    };
    let synchronised = |name, file: &str, sizes: &[u32], launch: &dyn Fn(u32) -> Launched| {
        Family::new(name, &format!("corpus/synchronisation/{file}"), sizes, launch)
    };
    let classic = |name, file: &str, n| {
        let launch = |n| Launched::workgroups(n).zeros("0.0", 3).zeros("0.1", 4);
        Family::new(name, &format!("corpus/classics/{file}"), &[n], launch)
    };
    // The first word is what the shape begins with; the others are zeros.
    let shape = |name, file: &str, sizes: &[u32], launch: &dyn Fn(u32) -> Launched| {
        let first = match file {
            "chain" | "rotate" => 1,
            "steal" => 3 << 8,
            _ => 0,
        };
        let words = format!("0.0=words:{first}{}", ",0".repeat(99));
        let launch = |n| launch(n).spec(0, n).with("--buffer", words.clone()).zeros("0.1", 64);
        Family::new(name, &format!("benches/modules/shapes/{file}"), sizes, launch)
    };
    vec![
        classic("SB", "sb-relaxed", 2),
        classic("LB", "lb-relaxed", 2),
        classic("MP, plain data", "mp-plain-release-acquire", 2),
        classic("2+2W", "2+2w-relaxed", 2),
        classic("WRC", "wrc-relaxed", 3),
        classic("ISA2", "isa2-relaxed", 3),
        classic("IRIW", "iriw-relaxed", 4),
        bench("increments, results kept", "counter", &[2, 3, 4, 5, 6, 7, 8, 9], &counters),
        bench("increments, then loads", "increment-load", &[2, 3, 4, 5], &counters),
        bench("n writers, n readers of a word", "writers-readers", &[1, 2, 3, 4, 5], &|n| counters(2 * n)),
        bench("SB ring", "store-buffering-ring", &[4, 8, 12, 16], &counters),
        bench("LB ring", "load-buffering-ring", &[2, 3, 4, 5, 6, 8], &counters),
        bench("IRIW, n readers", "independent-reads", &[2, 3, 4, 5, 6], &|n| {
            Launched::workgroups(n + 2).zeros("0.0", 2).zeros("0.1", 2 * n)
        }),
        bench("n independent SB", "pairs", &[2, 4, 6, 8], &|n| counters(2 * n)),
        bench("histogram", "histogram", &[64, 256], &|n| Launched::workgroups(n / 64).zeros("0.0", 8)),
        bench("reduction with barriers", "reduction", &[64, 256], &|n| Launched::workgroups(1).spec(0, n)),
        bench("a late race", "late-race", &[3, 4, 5, 6], &|n| {
            Launched::workgroups(n).zeros("0.0", n + 1).zeros("0.1", n)
        }),
        lock("test-and-set lock", "test-and-set-lock", &[2, 3, 4, 5]),
        lock("compare-exchange lock", "compare-exchange-lock", &[2, 3, 4, 5]),
        lock("ticket lock", "ticket-lock", &[2, 3, 4, 5, 6, 7]),
        lock("two locks", "two-locks", &[2, 3, 4]),
        synchronised("reader-writer lock", "reader-writer-lock", &[2, 3, 4], &|n| {
            Launched::workgroups(n).zeros("0.1", n)
        }),
        synchronised("seqlock", "seqlock", &[2, 3, 4], &|n| Launched::workgroups(n).zeros("0.1", n)),
        synchronised("XF barrier", "xf-barrier", &[2, 3, 4, 6], &|n| {
            Launched::workgroups(n).zeros("0.0", 8 + n).zeros("0.1", n)
        }),
        synchronised("XF barrier, n workgroups of n", "xf-barrier-workgroups", &[2, 3, 4], &|n| {
            Launched::workgroups(n).spec(0, n).zeros("0.0", 8 + n * n).zeros("0.1", n * n)
        }),
        synchronised("sense-reversing barrier, 2 rounds", "sense-reversing-barrier", &[2, 3, 4], &|n| {
            Launched::workgroups(n).zeros("0.0", 2 + 2 * n).zeros("0.1", 2 * n)
        }),
        synchronised("look-back scan", "look-back", &[2, 3, 4, 5], &|n| {
            Launched::workgroups(n).zeros("0.1", n)
        }),
        synchronised("look-back scan with tickets", "look-back-ticket", &[2, 3, 4], &|n| {
            Launched::workgroups(n).zeros("0.1", n)
        }),
        shape("append by fetch-add", "slots", &[7, 8, 9], &Launched::workgroups),
        shape("queue by compare-exchange", "msqueue", &[2, 3], &Launched::workgroups),
        shape("work stealing, n thieves", "steal", &[4, 5, 6], &|n| Launched::workgroups(n + 1)),
        shape("publication by exchange", "publish", &[3, 4, 5], &|n| Launched::workgroups(2 * n)),
        shape("sense-reversing barrier", "sense", &[3, 4], &Launched::workgroups),
        shape("seqlock with n readers", "seqlock", &[2, 3, 4], &|n| Launched::workgroups(n + 1)),
        shape("chained flags, n observers", "chain", &[10, 12, 14, 16], &|n| Launched::workgroups(2 * n)),
        shape("insertion with probing", "hash", &[2, 3], &Launched::workgroups),
        shape("ring of two slots, n items", "ring", &[2, 3, 4], &|_| Launched::workgroups(3)),
        shape("stack by compare-exchange", "treiber", &[2, 3], &Launched::workgroups),
        shape("first and last word set", "firstlast", &[3, 6, 9], &|n| Launched::workgroups(n + 2)),
        shape("rotation by compare-exchange", "rotate", &[4, 5, 6], &Launched::workgroups),
        shape("lowest free bit by compare-exchange", "bitmap", &[4, 5, 6], &Launched::workgroups),
        shape("maximum by compare-exchange", "casmax", &[5, 7, 8], &Launched::workgroups),
        shape("dissemination barrier", "dissemination", &[4, 6, 8], &Launched::workgroups),
        shape("combining-tree barrier", "combining", &[4, 6, 8], &Launched::workgroups),
        shape("counting barrier, 2 rounds", "monotone", &[2, 3, 4], &Launched::workgroups),
        shape("reader-writer lock, one counter", "rwlock", &[4, 5, 6], &Launched::workgroups),
        shape("MCS lock", "mcs", &[3, 4, 5], &Launched::workgroups),
        shape("CLH lock", "clh", &[5, 6, 7], &Launched::workgroups),
        shape("filter lock", "filter", &[2, 3], &Launched::workgroups),
        shape("ticket lock with data", "ticketdata", &[6, 7, 8], &Launched::workgroups),
        shape("semaphore of two", "semaphore", &[2, 3, 4], &Launched::workgroups),
        shape("queue with numbered slots", "mpmc", &[2, 3], &|n| Launched::workgroups(2 * n)),
        shape("list linked by exchange", "exchangelist", &[4, 5, 6], &Launched::workgroups),
        shape("slots taken by compare-exchange", "claim", &[4, 5, 6], &Launched::workgroups),
        shape("tasks taken by fetch-add", "tasks", &[3, 4, 5], &Launched::workgroups),
        shape("double-checked initialisation", "once", &[4, 5, 6], &Launched::workgroups),
        shape("readers of an epoch", "epoch", &[1, 2], &|n| Launched::workgroups(n + 1)),
        shape("union-find", "unionfind", &[2, 3], &Launched::workgroups),
        shape("frontier of a search", "bfs", &[2, 3, 4], &Launched::workgroups),
        shape("reduction by the last one done", "lastblock", &[5, 7, 9], &Launched::workgroups),
        shape("token that goes round twice", "token", &[4, 6, 8], &Launched::workgroups),
        synchronised("work queue", "work-queue", &[2, 4, 6], &|n| {
            Launched::workgroups(n).zeros("0.1", n / 2)
        }),
    ]
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[derive(Parser)]
struct CommandLine {
    #[command(flatten)]
    check: CheckArguments,
}

/// What the command line makes of a launch's arguments.
pub fn options(args: &[String]) -> (ReadOptions, CheckOptions) {
    let line = ["check", "BEFORE", "AFTER"].into_iter().chain(args.iter().map(String::as_str));
    let arguments = CommandLine::try_parse_from(line).unwrap_or_else(|error| panic!("{error}")).check;
    (arguments.read_options(), arguments.options().unwrap_or_else(|error| panic!("{error}")))
}

/// A program and its dispatch on its first automatic input.
pub fn prepared(module: &Path, args: &[String]) -> (Program, Dispatch) {
    let (read, options) = options(args);
    let module = Module::load(&module.to_string_lossy(), &read).unwrap_or_else(|error| panic!("{error}"));
    let specialisations = options.launch.spec.clone();
    let lower_options = LowerOptions { specialisations, ..LowerOptions::default() };
    let program = lower(&module, &lower_options).unwrap_or_else(|error| panic!("{error}"));
    let launch = Launch::resolve(&options.launch, &program, None).unwrap_or_else(|error| panic!("{error}"));
    let mut touched =
        |dispatch: &Dispatch, limits: &[u32]| trial::touched(&program, dispatch, limits, &|| false);
    let inputs = inputs::inputs(&program, None, &launch, 1, 0, &mut touched).unwrap();
    let dispatch = build_dispatch(&program, &launch, &inputs[0]).unwrap();
    (program, dispatch)
}

/// Puts a text between two marks of `docs/performance.md`.
pub fn write_between(begin: &str, end: &str, text: &str) {
    let path = root().join("docs/performance.md");
    let document = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = document.split_once(begin).expect("docs/performance.md has the place for it");
    let (_, after) = rest.split_once(end).expect("docs/performance.md has the end of it");
    std::fs::write(&path, format!("{before}{begin}{text}{end}{after}")).unwrap();
}

/// What the files beside classic programs and pairs have in common.
#[derive(Deserialize)]
struct Beside {
    args: Vec<String>,
}

/// The classic programs and both sides of the pairs of the corpus, with their launches.
pub fn corpus() -> Vec<(PathBuf, Vec<String>)> {
    let mut modules = Vec::new();
    for (folder, file, sides) in
        [("classics", None, &[][..]), ("pairs", Some("pair.toml"), &["before.spvasm", "after.spvasm"][..])]
    {
        let listing = std::fs::read_dir(root().join("corpus").join(folder)).unwrap();
        for path in listing.map(|entry| entry.unwrap().path()) {
            let toml = match file {
                Some(file) => path.join(file),
                None if path.extension().is_some_and(|extension| extension == "toml") => path.clone(),
                None => continue,
            };
            let Beside { args } = toml::from_str(&std::fs::read_to_string(&toml).unwrap()).unwrap();
            match file {
                Some(_) => modules.extend(sides.iter().map(|side| (path.join(side), args.clone()))),
                None => modules.push((path.with_extension("spvasm"), args)),
            }
        }
    }
    modules.sort();
    modules
}

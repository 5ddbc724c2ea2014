//! A folder with modules and scripts in which `spirv-tv` is run.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// The root of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A module with three control barriers, which races without them.
const EXCHANGE: &str = "corpus/mutants/barrier-exchange.spvasm";

/// Variables by which systems that run jobs ask for a part of the cases: tests may be run by one.
const SHARDS: [&str; 9] = [
    "CI_NODE_INDEX",
    "CI_NODE_TOTAL",
    "GTEST_SHARD_INDEX",
    "GTEST_TOTAL_SHARDS",
    "TEST_SHARD_INDEX",
    "TEST_TOTAL_SHARDS",
    "SLURM_ARRAY_TASK_ID",
    "SLURM_ARRAY_TASK_COUNT",
    "SLURM_ARRAY_TASK_MIN",
];

/// A folder of its own for a test.
pub struct Workplace(TempDir);

/// How a command ended, and what it printed.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub error: String,
}

impl Workplace {
    /// With the module of three barriers in `modules/exchange.spvasm`.
    pub fn new() -> Workplace {
        let place = Workplace(tempfile::tempdir().expect("a folder"));
        place.write("modules/exchange.spvasm", exchange());
        place
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, with the folders that it is in.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder is made");
        fs::write(path, content).expect("a file is written");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Writes a script of a shell; its absolute path.
    pub fn script(&self, name: &str, body: &str) -> String {
        self.write(name, format!("#!/bin/sh\n{body}\n"));
        let path = self.path(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a script may be run");
        path.to_str().expect("folders for tests have plain names").to_owned()
    }

    /// Copies a pair of the corpus to `pairs/NAME`.
    pub fn pair(&self, of_corpus: &str, name: &str) {
        for file in ["before.spvasm", "after.spvasm"] {
            let path = format!("{ROOT}/corpus/pairs/{of_corpus}/{file}");
            let text = fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
            self.write(&format!("pairs/{name}/{file}"), text);
        }
    }

    /// A command, which has yet to be run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
        command.args(arguments).current_dir(self.0.path());
        for variable in SHARDS {
            command.env_remove(variable);
        }
        command
    }

    /// Runs `spirv-tv`.
    pub fn run(&self, arguments: &[&str]) -> Ran {
        ran(self.command(arguments).output().expect("the program runs"))
    }

    /// The same, where it must end with a code.
    pub fn ends(&self, arguments: &[&str], code: i32) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments:?}\n{}{}", ran.out, ran.error);
        ran
    }

    /// The rows of a table without names that need quotes.
    pub fn table(&self, name: &str) -> BTreeMap<String, String> {
        let text = self.read(name);
        let rows = text.lines().map(|line| line.rsplit_once(',').unwrap_or_else(|| panic!("{name}: {line}")));
        rows.map(|(case, status)| (case.to_owned(), status.to_owned())).collect()
    }

    /// The records of a run, by case, each of which must be what the schema says.
    pub fn records(&self, out: &str) -> BTreeMap<String, Value> {
        let text = self.read(&format!("{out}/results.jsonl"));
        let mut lines = text.lines().map(held);
        assert_eq!(lines.next().expect("there is a head")["schema"], "spirv-tv.gate/1");
        lines.map(|record| (record["case"].as_str().expect("a name").to_owned(), record)).collect()
    }
}

/// The text of the module with three barriers.
pub fn exchange() -> String {
    let text = fs::read_to_string(format!("{ROOT}/{EXCHANGE}")).expect("the module is there");
    assert!(text.matches("OpControlBarrier").count() >= 3);
    text
}

/// Without its barriers.
pub fn without_barriers(text: &str) -> String {
    text.lines().filter(|line| !line.contains("OpControlBarrier")).map(|line| format!("{line}\n")).collect()
}

pub fn ran(output: Output) -> Ran {
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    Ran { code: output.status.code(), out: text(output.stdout), error: text(output.stderr) }
}

/// A line of JSON, which must be what the schema of the gate says.
pub fn held(line: &str) -> Value {
    thread_local! {
        static SCHEMA: jsonschema::Validator = {
            let text = include_str!("../../docs/schema/gate.json");
            let schema: Value = serde_json::from_str(text).expect("the schema is JSON");
            jsonschema::draft202012::meta::validate(&schema).expect("the schema is one");
            jsonschema::draft202012::new(&schema).expect("the schema is one")
        };
    }
    let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    SCHEMA.with(|schema| {
        if let Some(error) = schema.iter_errors(&value).next() {
            panic!("not what docs/schema/gate.json describes: {error} in {line}");
        }
    });
    value
}

/// Whether a process whose arguments end with this word runs.
pub fn runs_with(word: &str) -> bool {
    let listed = Command::new("ps").args(["-A", "-o", "args"]).output().expect("ps is there");
    String::from_utf8_lossy(&listed.stdout).lines().any(|line| line.ends_with(word))
}

/// The files below a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

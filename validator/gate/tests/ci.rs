//! What is in `ci/` for users: its scripts run here as they are, with programs in the place of those that they call.

#![cfg(unix)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_yaml_ng::Value;
use tempfile::TempDir;

fn ci() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ci")
}

fn text(file: &str) -> String {
    fs::read_to_string(ci().join(file)).unwrap()
}

fn yaml(file: &str) -> Value {
    serde_yaml_ng::from_str(&text(file)).unwrap()
}

const FILES: [&str; 5] =
    ["github/action.yml", "github/gate.yml", "github/comment.yml", "github/release.yml", "gitlab/gate.yml"];

/// Every step of a workflow or an action.
fn steps(file: &str) -> Vec<Value> {
    let document = yaml(file);
    let jobs = document.get("jobs").and_then(Value::as_mapping).into_iter().flat_map(|jobs| jobs.values());
    let lists = jobs.chain(document.get("runs")).filter_map(|job| job.get("steps"));
    lists.filter_map(Value::as_sequence).flatten().cloned().collect()
}

/// The script of the step with this id or name.
fn script(file: &str, step: &str) -> String {
    let is_it =
        |found: &Value| ["id", "name"].iter().any(|key| found.get(key).and_then(Value::as_str) == Some(step));
    let found = steps(file).into_iter().find(is_it).unwrap();
    found.get("run").and_then(Value::as_str).unwrap().to_owned()
}

/// A folder to run scripts in. `bin` is the first folder of their PATH.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("bin")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, contents: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), contents).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// A program that notes its arguments, one a line, and then does this.
    fn program(&self, name: &str, then: &str) {
        let name = format!("bin/{name}");
        self.write(&name, &format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >>\"$NOTED\"\n{then}\n"));
        fs::set_permissions(self.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs a script as GitHub does.
    fn run<V: AsRef<OsStr>>(&self, shell: &[&str], script: &str, environment: &[(&str, V)]) -> Output {
        self.write("script", script);
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(shell[0]);
        command.args(&shell[1..]).arg(self.path("script")).current_dir(self.0.path());
        command.env("PATH", path).env("NOTED", self.path("noted"));
        for file in ["GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"] {
            command.env(file, self.path(file));
        }
        for (name, value) in environment {
            command.env(name, value);
        }
        command.output().unwrap()
    }
}

const BASH: &[&str] = &["bash", "--noprofile", "--norc", "-e", "-o", "pipefail"];

fn success(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn scripts_take_values_from_their_environment_only_and_actions_are_pinned() {
    for file in FILES {
        assert!(yaml(file).is_mapping(), "{file}");
        for step in steps(file) {
            let Some(script) = step.get("run").and_then(Value::as_str) else {
                let action = step.get("uses").and_then(Value::as_str).unwrap();
                let (_, version) = action.rsplit_once("@v").unwrap();
                assert!(version.chars().all(|digit| digit.is_ascii_digit()), "{file}: {action}");
                continue;
            };
            assert!(!script.contains("${{"), "{file}: {script}");
            assert!(script.starts_with("set -eu\n"), "{file}: {script}");
            assert_eq!(step.get("shell").and_then(Value::as_str), Some("bash"), "{file}: {script}");
        }
    }
}

#[test]
fn the_job_that_may_comment_has_nothing_of_the_pull_request_but_the_summary() {
    let uses: Vec<String> = steps("github/comment.yml")
        .iter()
        .filter_map(|step| step.get("uses").and_then(Value::as_str).map(str::to_owned))
        .collect();
    assert_eq!(uses, ["actions/download-artifact@v7"]);
    let document = yaml("github/comment.yml");
    assert_eq!(document["permissions"], Value::Mapping(Default::default()));
    let workflow = document["on"]["workflow_run"]["workflows"][0].as_str();
    assert_eq!(workflow, yaml("github/gate.yml")["name"].as_str());
    let uploaded = steps("github/gate.yml");
    let names = uploaded.iter().filter_map(|step| step.get("with")?.get("name")?.as_str());
    assert!(names.into_iter().any(|name| name == "gate-summary"));
}

/// The environment of the step that runs the gate, changed by these.
fn gate(place: &Place, changed: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let names = [
        "CASES",
        "MERGE",
        "ARGUMENTS",
        "BASELINE",
        "CACHE",
        "CACHE_READONLY",
        "PARTITION",
        "JOBS",
        "REPORT_ONLY",
    ];
    let mut environment: Vec<(&'static str, String)> = names.map(|name| (name, String::new())).to_vec();
    environment.push(("OUT", "the results".to_owned()));
    environment.push(("PROGRAM", place.path("bin/spirv-tv").display().to_string()));
    environment.extend(changed.iter().map(|(name, value)| (*name, (*value).to_owned())));
    environment
}

const REPORTS: [&str; 10] = [
    "--out",
    "the results",
    "--junit",
    "the results/junit.xml",
    "--summary",
    "the results/summary.md",
    "--sarif",
    "the results/gate.sarif",
    "--html",
    "the results/html",
];

#[test]
fn the_action_gives_the_gate_its_inputs_whatever_they_have_in_them() {
    let place = Place::new();
    place.program("spirv-tv", "");
    let environment = gate(
        &place,
        &[
            ("CASES", "a folder/x.spv\n\n$(touch broken) `touch broken` *\"'\n"),
            ("ARGUMENTS", "--pipeline\n-O --foo\n"),
            ("BASELINE", "my baseline.csv"),
            ("CACHE", "c"),
            ("CACHE_READONLY", "true"),
            ("PARTITION", "hash:2/4"),
            ("JOBS", "3"),
        ],
    );
    success(&place.run(BASH, &script("github/action.yml", "gate"), &environment));
    let mut expected =
        vec!["gate", "--cache", "c", "--cache-readonly", "--partition", "hash:2/4", "--jobs", "3"];
    expected.extend(["--baseline", "my baseline.csv"]);
    expected.extend(REPORTS);
    expected.extend(["--pipeline", "-O --foo", "a folder/x.spv", "$(touch broken) `touch broken` *\"'"]);
    assert_eq!(place.read("noted").lines().collect::<Vec<&str>>(), expected);
    assert!(!place.path("broken").exists());
    assert_eq!(place.read("GITHUB_OUTPUT"), "exit-code=0\n");
}

#[test]
fn the_action_joins_every_shard() {
    let place = Place::new();
    place.program("spirv-tv", "");
    for shard in ["shards/gate-shard-1", "shards/gate shard 2"] {
        fs::create_dir_all(place.path(shard)).unwrap();
    }
    let environment = gate(&place, &[("MERGE", "shards"), ("BASELINE", "b.csv"), ("CACHE", "unused")]);
    success(&place.run(BASH, &script("github/action.yml", "gate"), &environment));
    let mut expected =
        vec!["gate", "merge", "shards/gate shard 2", "shards/gate-shard-1", "--baseline", "b.csv"];
    expected.extend(REPORTS);
    assert_eq!(place.read("noted").lines().collect::<Vec<&str>>(), expected);
}

#[test]
fn the_action_shows_the_summary_and_ends_as_the_gate_does() {
    for (code, report_only, expected) in
        [(0, "true", 0), (1, "false", 1), (1, "true", 0), (2, "true", 2), (70, "true", 70)]
    {
        let place = Place::new();
        place.program(
            "spirv-tv",
            &format!("mkdir 'the results'; echo '## summary' >'the results/summary.md'; exit {code}"),
        );
        let environment = gate(&place, &[("CASES", "x.spv"), ("REPORT_ONLY", report_only)]);
        let output = place.run(BASH, &script("github/action.yml", "gate"), &environment);
        assert_eq!(output.status.code(), Some(expected), "{code} {report_only}");
        assert_eq!(place.read("GITHUB_STEP_SUMMARY"), "## summary\n");
        assert_eq!(place.read("GITHUB_OUTPUT"), format!("exit-code={code}\n"));
    }
}

/// A release as the workflow packs it, and the environment of the step that installs it.
fn release(place: &Place) -> Vec<(&'static str, String)> {
    let program = "target/x86_64-unknown-linux-gnu/release/spirv-tv";
    place.write(program, "#!/bin/sh\necho version of the release\n");
    fs::set_permissions(place.path(program), fs::Permissions::from_mode(0o755)).unwrap();
    for file in ["README.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        place.write(file, "");
    }
    place.program("readelf", "echo there is no dynamic section");
    let environment = [("TARGET", "x86_64-unknown-linux-gnu"), ("RUNS", "true")];
    success(&place.run(BASH, &script("github/release.yml", "Pack"), &environment));
    fs::create_dir_all(place.path("releases/download")).unwrap();
    fs::rename(place.path("dist"), place.path("releases/download/v0.1.0")).unwrap();
    vec![
        ("PROGRAM", String::new()),
        ("VERSION", "v0.1.0".to_owned()),
        ("RELEASES", format!("file://{}", place.path("releases").display())),
        ("PLATFORM", "Linux-X64".to_owned()),
        ("FOLDER", place.path("a folder").display().to_string()),
    ]
}

#[test]
fn the_action_installs_what_the_release_workflow_packs() {
    let place = Place::new();
    let mut environment = release(&place);
    let install = script("github/action.yml", "install");
    let output = place.run(BASH, &install, &environment);
    success(&output);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "version of the release\n");
    let program = place.path("a folder").canonicalize().unwrap().join("spirv-tv/spirv-tv");
    assert_eq!(place.read("GITHUB_OUTPUT"), format!("program={}\n", program.display()));
    // The latest release has another address.
    fs::create_dir(place.path("releases/latest")).unwrap();
    fs::rename(place.path("releases/download/v0.1.0"), place.path("releases/latest/download")).unwrap();
    assert!(!place.run(BASH, &install, &environment).status.success());
    environment.push(("VERSION", "latest".to_owned()));
    success(&place.run(BASH, &install, &environment));
    environment.push(("PLATFORM", "Linux-RISCV64".to_owned()));
    let output = place.run(BASH, &install, &environment);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("no release of spirv-tv for Linux-RISCV64"));
}

#[test]
fn the_action_does_not_run_what_is_damaged_and_may_use_an_installed_program() {
    let place = Place::new();
    let mut environment = release(&place);
    let install = script("github/action.yml", "install");
    let archive = place.path("releases/download/v0.1.0/spirv-tv-x86_64-unknown-linux-gnu.tar.gz");
    let mut bytes = fs::read(&archive).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&archive, bytes).unwrap();
    let output = place.run(BASH, &install, &environment);
    assert!(!output.status.success());
    assert!(output.stdout.is_empty() || !String::from_utf8_lossy(&output.stdout).contains("version of"));
    assert_eq!(place.read("GITHUB_OUTPUT"), "");
    environment.push(("PROGRAM", "/opt/spirv-tv".to_owned()));
    success(&place.run(BASH, &install, &environment));
    assert_eq!(place.read("GITHUB_OUTPUT"), "program=/opt/spirv-tv\n");
}

#[test]
fn a_release_for_linux_needs_no_library() {
    let place = Place::new();
    place.write("target/aarch64-unknown-linux-gnu/release/spirv-tv", "");
    place.program("readelf", "echo ' 0x1 (NEEDED) Shared library: [libstdc++.so.6]'");
    let environment = [("TARGET", "aarch64-unknown-linux-gnu"), ("RUNS", "false")];
    let output = place.run(BASH, &script("github/release.yml", "Pack"), &environment);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("libstdc++.so.6"));
}

const COMMENT: [(&str, &str); 4] = [
    ("REPOSITORY", "owner/repository"),
    ("HEAD", "someone:branch"),
    ("HEAD_SHA", "abc"),
    ("RUN", "https://github.com/owner/repository/actions/runs/1"),
];

/// In the place of GitHub's program: the pull request is 12, and `comments` is what it says of comments.
fn gh(place: &Place, pull: &str, comments: &str) {
    place.program(
        "gh",
        &format!(
            "case \"$*\" in *body=*) cp comment.md posted ;; *pulls*) echo '{pull}' ;; *comments*) echo '{comments}' ;; esac"
        ),
    );
}

#[test]
fn a_pull_request_gets_one_comment_that_calls_nobody() {
    for (comments, method, address) in [
        ("", "POST", "repos/owner/repository/issues/12/comments"),
        ("77", "PATCH", "repos/owner/repository/issues/comments/77"),
    ] {
        let place = Place::new();
        gh(&place, "12", comments);
        place.write("summary/summary.md", "## failed\n@someone\n");
        success(&place.run(BASH, &script("github/comment.yml", "Comment"), &COMMENT));
        let noted = place.read("noted");
        assert!(noted.contains("head=someone:branch\n"), "{noted}");
        assert!(noted.ends_with(&format!("{method}\n{address}\n-F\nbody=@comment.md\n")), "{noted}");
        assert_eq!(
            place.read("posted"),
            "<!-- spirv-tv gate -->\n## failed\n@\u{200b}someone\n\n\
             [All results](https://github.com/owner/repository/actions/runs/1)\n"
        );
    }
}

#[test]
fn a_comment_stays_small_and_needs_a_pull_request() {
    let place = Place::new();
    gh(&place, "12", "");
    place.write("summary/summary.md", &format!("x{}", "ä".repeat(100_000)));
    success(&place.run(BASH, &script("github/comment.yml", "Comment"), &COMMENT));
    let posted = place.read("posted");
    assert!(posted.contains("[All results]"), "it ends before its end");
    assert!(posted.len() < 65_536 && posted.contains('ä'), "{} bytes", posted.len());

    let place = Place::new();
    gh(&place, "", "");
    place.write("summary/summary.md", "x");
    success(&place.run(BASH, &script("github/comment.yml", "Comment"), &COMMENT));
    assert!(!place.path("posted").exists());

    let place = Place::new();
    gh(&place, "12", "");
    success(&place.run(BASH, &script("github/comment.yml", "Comment"), &COMMENT));
    assert_eq!(place.read("noted"), "");
}

#[test]
fn results_that_lack_a_shard_fail() {
    let script = script("github/gate.yml", "Every shard has results");
    let place = Place::new();
    success(&place.run(BASH, &script, &[("SHARDS", "success")]));
    assert!(!place.run(BASH, &script, &[("SHARDS", "failure")]).status.success());
}

#[test]
fn gitlab_runs_shards_and_joins_them() {
    let document = yaml("gitlab/gate.yml");
    let script = |job: &str| document[job]["script"][0].as_str().unwrap().to_owned();
    let place = Place::new();
    place.program("spirv-tv", "");
    let mut environment = vec![
        ("CI_NODE_INDEX", "2"),
        ("CI_NODE_TOTAL", "4"),
        ("CI_DEFAULT_BRANCH", "main"),
        ("SPIRV_TV_CASES", "a folder\n$(touch broken)"),
        ("SPIRV_TV_ARGUMENTS", "--jobs\n2"),
        ("SPIRV_TV_BASELINE", "b.csv"),
    ];
    // POSIX only: images have no other shell.
    success(&place.run(&["sh", "-e"], &script("spirv-tv-gate"), &environment));
    let noted = place.read("noted");
    let expected = [
        "gate",
        "--out",
        "gate-results-2",
        "--partition",
        "hash:2/4",
        "--cache",
        "spirv-tv-cache",
        "--cache-readonly",
        "--baseline",
        "b.csv",
        "--jobs",
        "2",
        "a folder",
        "$(touch broken)",
    ];
    assert_eq!(noted.lines().collect::<Vec<&str>>(), expected);
    environment.push(("CI_COMMIT_BRANCH", "main"));
    success(&place.run(&["sh", "-e"], &script("spirv-tv-gate"), &environment));
    assert_eq!(place.read("noted").matches("--cache-readonly").count(), 1);

    fs::write(place.path("noted"), "").unwrap();
    for shard in ["gate-results-1", "gate-results-2"] {
        fs::create_dir_all(place.path(shard)).unwrap();
    }
    success(&place.run(&["sh", "-e"], &script("spirv-tv-gate-results"), &environment));
    let noted = place.read("noted");
    assert!(
        noted.starts_with("gate\nmerge\n--out\nmerged\n--baseline\nb.csv\n--junit\nmerged/junit.xml\n"),
        "{noted}"
    );
    assert!(noted.ends_with("gate-results-1\ngate-results-2\n"), "{noted}");
    let junit = document["spirv-tv-gate-results"]["artifacts"]["reports"]["junit"].as_str();
    assert_eq!(junit, Some("merged/junit.xml"));
}

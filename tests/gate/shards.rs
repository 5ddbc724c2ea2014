//! Shards of a run, joined, are the run.

use super::workplace::Workplace;

/// Pairs of the corpus: those that refine, and those that do not.
const PAIRS: [&str; 14] = [
    "acquire-fence-sunk-below-load",
    "acquire-weakened-to-relaxed",
    "aliased-dropped",
    "aliased-kept-on-one",
    "aliased-store-forgotten",
    "atomic-adds-merged",
    "atomic-load-duplicated",
    "atomic-load-made-plain",
    "atomic-store-sunk-below-release",
    "barrier-function-inlined-in-uniform-arms",
    "barrier-removed",
    "barrier-semantics-dropped",
    "constant-branch-removed",
    "release-weakened-to-relaxed",
];

fn pairs() -> Workplace {
    let place = Workplace::new();
    for pair in PAIRS {
        place.pair(pair, pair);
    }
    place
}

/// A manifest expects what only it knows; a baseline lists a case that is there, and one that is gone.
#[test]
fn four_shards_joined_are_one_run() {
    let place = pairs();
    place.write(
        "gate.toml",
        "[[cases]]\npairs = [\"pairs/*\", \"!pairs/aliased-*\"]\n\
         [[cases]]\npairs = \"pairs/aliased-*\"\nexpect = \"Fail\"\nnote = \"issue 7\"\n",
    );
    place.write("known.csv", "pairs/barrier-removed,Fail\npairs/gone,Timeout\n");
    let files = ["junit.xml", "summary.md"];
    let reports = |out: &str| files.map(|file| format!("{out}/{file}"));
    let gate = |words: &[&str], out: &str, code| {
        let [junit, summary] = reports(out);
        let end = ["--baseline", "known.csv", "--out", out, "--junit", &junit, "--summary", &summary];
        place.ends(&[words, &end].concat(), code)
    };
    gate(&["gate", "gate.toml"], "one", 1);
    let shards: Vec<String> = (1..=4).map(|number| format!("shard-{number}")).collect();
    let mut cases = 0;
    for (shard, number) in shards.iter().zip(1..) {
        let partition = format!("hash:{number}/4");
        let ran = place.run(&["gate", "gate.toml", "--partition", &partition, "--out", shard]);
        assert!(matches!(ran.code, Some(0 | 1)), "{}{}", ran.out, ran.error);
        let own = place.records(shard).len();
        assert!(own < PAIRS.len());
        cases += own;
    }
    assert_eq!(cases, PAIRS.len());
    let names: Vec<&str> = shards.iter().map(String::as_str).collect();
    gate(&[&["gate", "merge"], &names[..]].concat(), "joined", 1);
    for file in ["results.csv", "failures.csv", "failures.json"] {
        assert_eq!(place.read(&format!("joined/{file}")), place.read(&format!("one/{file}")), "{file}");
    }
    let table = place.table("joined/results.csv");
    let judged = |pair: &str| table[&format!("pairs/{pair}")].as_str();
    assert_eq!(judged("aliased-dropped"), "ExpectedFail");
    assert_eq!(judged("aliased-kept-on-one"), "UnexpectedImprovement(Pass)");
    assert_eq!(judged("barrier-removed"), "ExpectedFail");
    assert_eq!(judged("barrier-semantics-dropped"), "Fail");
    assert_eq!(judged("gone"), "Missing");
    let [junit, _] = reports("joined");
    assert!(place.read(&junit).contains("issue 7"));

    // Joined results can be joined again; results of other options cannot.
    place.ends(&["gate", "merge", "joined"], 1);
    place.ends(&["gate", "pairs", "--inputs", "2", "--fraction", "7", "--out", "other"], 1);
    let refused = place.ends(&["gate", "merge", "joined", "other"], 2);
    assert!(refused.error.contains("joined") && refused.error.contains("other"), "{}", refused.error);
    place.ends(&["gate", "merge", "joined", "nowhere"], 2);
}

#[test]
fn systems_that_run_jobs_say_which_part() {
    let place = pairs();
    let run = |out: &str, index: &str, of: &str, variables: [&str; 2]| {
        let mut command = place.command(&["gate", "pairs", "--out", out]);
        let output = command.envs(variables.into_iter().zip([index, of])).output().expect("it runs");
        assert!(matches!(output.status.code(), Some(0 | 1)), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains(variables[0]), "{output:?}");
        place.read(&format!("{out}/results.csv"))
    };
    let gitlab = run("gitlab", "2", "2", ["CI_NODE_INDEX", "CI_NODE_TOTAL"]);
    let bazel = run("bazel", "1", "2", ["TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS"]);
    assert_eq!(gitlab, bazel);
    let part = place.run(&["gate", "pairs", "--partition", "hash:2/2", "--out", "part"]);
    assert!(matches!(part.code, Some(0 | 1)), "{part:?}");
    assert_eq!(place.read("part/results.csv"), gitlab);
}

#[test]
fn fractions_are_every_nth_case() {
    let place = pairs();
    let cases = |start: &str| {
        let out = format!("from-{start}");
        let words = ["gate", "pairs", "--fraction", "3", "--fraction-start", start, "--out", &out];
        let ran = place.run(&words);
        assert!(matches!(ran.code, Some(0 | 1)), "{ran:?}");
        place.table(&format!("{out}/results.csv")).into_keys().collect::<Vec<_>>()
    };
    let named = |numbers: [usize; 5]| {
        numbers.iter().filter_map(|number| PAIRS.get(*number)).map(|pair| format!("pairs/{pair}")).collect()
    };
    let expected: [Vec<String>; 3] =
        [named([0, 3, 6, 9, 12]), named([1, 4, 7, 10, 13]), named([2, 5, 8, 11, 14])];
    assert_eq!(["1", "2", "3"].map(cases), expected);
}

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

/// Two shards that were given the same case and do not agree, and pages that link to what the shards saved.
#[test]
fn contradicting_shards_are_told_and_pages_lead_to_what_was_saved() {
    let place = Workplace::new();
    place.pair("aliased-dropped", "pair");
    place.pair("barrier-removed", "other");
    place.ends(&["gate", "pairs", "--html", "html", "--out", "shards/one"], 1);
    for file in ["before.spvasm", "after.spvasm"] {
        place.write(&format!("pairs/pair/{file}"), place.read("pairs/pair/before.spvasm"));
    }
    place.ends(&["gate", "pairs", "--out", "shards/two"], 1);
    let merge = |first: &str, second: &str, out: &str| {
        let html = format!("{out}/html");
        place.ends(&["gate", "merge", first, second, "--out", out, "--html", &html], 1)
    };
    let ran = merge("shards/one", "shards/two", "joined");
    let told: Vec<&str> = ran.out.lines().filter(|line| line.contains("in one of the results")).collect();
    let expected = "note: pairs/pair is Fail in one of the results and Pass in another; the first counts";
    assert_eq!(told, [expected], "{}", ran.out);
    assert_eq!(place.table("joined/results.csv")["pairs/pair"], "Fail");
    let ran = merge("shards/two", "shards/one", "turned");
    assert!(ran.out.contains("pairs/pair is Pass in one of the results and Fail in another"), "{}", ran.out);
    assert_eq!(place.table("turned/results.csv")["pairs/pair"], "Pass");

    let saved = place.records("joined")["pairs/pair"]["saved"].as_str().expect("it is saved").to_owned();
    assert!(saved.starts_with("../shards/one/failures/"), "{saved}");
    assert!(place.path(&format!("joined/{saved}/before.spvasm")).is_file());
    let mut pages = super::workplace::files(&place.path("joined/html")).into_iter();
    let link = format!("href=\"../{saved}/report.html\"");
    assert!(pages.any(|page| std::fs::read_to_string(page).is_ok_and(|page| page.contains(&link))), "{link}");
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

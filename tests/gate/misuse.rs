//! What cannot be right is an error before anything runs, with the exit code 2: a gate that checks nothing must not pass.

use super::workplace::Workplace;

/// Command lines, and what the message says.
const WRONG: [(&str, &str); 34] = [
    ("", "no cases"),
    ("nowhere", "nowhere"),
    ("modules/nowhere.spv", "nowhere.spv"),
    ("-", "-"),
    ("empty", "nothing in this folder is a case"),
    ("nowhere.toml", "nowhere.toml"),
    ("--list nowhere", "nowhere"),
    ("modules --baseline nowhere.csv", "nowhere.csv"),
    ("modules --baseline empty", "empty"),
    ("modules --baseline words.csv", "words.csv:1"),
    ("modules --baseline twice.csv", "twice.csv:2"),
    ("modules --baseline side.csv", "side.json"),
    ("modules --skips nowhere", "nowhere"),
    ("modules --skips expressions", "expressions:2"),
    ("modules --flakes expressions", "expressions:2"),
    ("modules --bless", "--baseline"),
    ("modules --fail-on Good", "'Good' is no status"),
    ("modules --partition 1/4", "hash:I/N"),
    ("modules --partition hash:5/4", "hash:I/N"),
    ("modules --fraction 0", "--fraction"),
    ("modules --jobs 0", "--jobs"),
    ("modules --inputs 0", "--inputs"),
    ("modules --min-decided nan", "--min-decided"),
    ("modules --launch nowhere.toml", "nowhere.toml"),
    ("modules --pipeline --no-such-pass", "--no-such-pass"),
    ("modules --optimizer no-such-program", "no-such-program"),
    ("modules --spirv-opt nowhere/spirv-opt", "nowhere/spirv-opt"),
    ("modules --reference no-such-program", "no-such-program"),
    ("modules --before-cmd cp --after-cmd no-such-program", "no-such-program"),
    ("modules --before-cmd cp", "--after-cmd"),
    ("modules --cache modules/exchange.spvasm", "exchange.spvasm"),
    ("modules --cache-readonly", "--cache"),
    ("modules --explain-drift nowhere", "nowhere"),
    ("merge", "RESULTS"),
];

/// Manifests, and what the message says.
const MANIFESTS: [(&str, &str); 10] = [
    ("cases = 3", "line 1"),
    ("[[case]]\nmodules = \"x\"", "unknown field `case`"),
    ("[[cases]]\nmodules = \"none/*\"", "number 1"),
    ("[[cases]]\nmodules = \"modules/*.none\"", "matches nothing"),
    ("[[cases]]\nmodules = \"modules/*\"\nexpect = \"Good\"", "'Good' is no status"),
    ("[[cases]]\nmodules = \"modules/*\"\nlaunch = \"{stem}.toml\"", "exchange.toml"),
    ("[[cases]]\nmodules = \"modules/*\"\noptions = \"--bogus 3\"", "--bogus"),
    ("[[cases]]\nmodules = \"modules/*\"\noptions = \"--races bogus\"", "bogus"),
    ("[[cases]]\nmodules = \"modules/*\"\noptions = \"--out elsewhere\"", "--out"),
    ("[[cases]]\nmodules = \"modules/*\"\npipelines = \"--no-such-pass\"", "--no-such-pass"),
];

#[test]
fn what_cannot_be_right_is_an_error() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("empty")).expect("a folder");
    place.write("words.csv", "a,Good\n");
    place.write("twice.csv", "a,Fail\na,Fail\n");
    place.write("side.csv", "a,Fail\n");
    place.write("side.json", "{");
    place.write("expressions", "# a comment\n(\n");
    let refused = |words: &[&str], told: &str| {
        let ran = place.ends(&[&["gate", "--out", "results"], words].concat(), 2);
        assert!(ran.error.contains(told), "{words:?}: {}", ran.error);
        assert!(!place.path("results/results.csv").exists(), "{words:?} has results");
        assert!(ran.error.starts_with("error: "), "{words:?}: {}", ran.error);
    };
    for (line, told) in WRONG {
        match line.strip_prefix("merge") {
            Some(_) => {
                let ran = place.ends(&["gate", "merge"], 2);
                assert!(ran.error.contains(told), "{}", ran.error);
            }
            None => refused(&line.split_whitespace().collect::<Vec<_>>(), told),
        }
    }
    for (manifest, told) in MANIFESTS {
        place.write("gate.toml", manifest);
        refused(&["gate.toml"], told);
    }
}

/// Every case is invalid: nothing was checked, so the run fails.
#[test]
fn a_run_that_checks_nothing_fails() {
    let place = Workplace::new();
    place.pair("aliased-kept-on-one", "pair");
    let ran = place.ends(&["gate", "pairs", "--entry", "nowhere", "--out", "entry"], 2);
    assert!(ran.out.contains("no case could be checked"), "{}", ran.out);
    place.write("invalid/a.spvasm", "no module");
    place.ends(&["gate", "invalid", "--out", "invalid-out"], 2);
    assert_eq!(place.table("invalid-out/results.csv")["invalid/a.spvasm@-O"], "InvalidBefore");
    // Beside a good one it is one of the cases that decide nothing.
    place.ends(&["gate", "invalid", "modules", "--pipeline", "--strip-debug", "--out", "both"], 0);
}

/// Also where the optimiser changed nothing, so that nothing had to be compared.
#[test]
fn what_options_and_launches_name_must_be_there() {
    let place = Workplace::new();
    let same = ["gate", "modules", "--optimizer", "cp {in} {out}"];
    for (out, option) in [("entry", "--entry=nowhere"), ("buffer", "--buffer=nothing=zeros:1")] {
        let ran = place.ends(&[&same[..], &[option, "--out", out]].concat(), 2);
        assert!(ran.out.contains("no case could be checked"), "{}", ran.out);
    }
    // Beside cases that are right, one whose own launch is not is no case of which nothing is known.
    place.write("right.toml", "entry = \"main\"\n");
    place.write("wrong.toml", "entry = \"nowhere\"\n");
    place.write(
        "gate.toml",
        "[[cases]]\nmodules = \"modules/*\"\nlaunch = [\"right.toml\", \"wrong.toml\"]\n",
    );
    let ran = place.ends(&["gate", "gate.toml", "--optimizer", "cp {in} {out}", "--out", "manifest"], 2);
    let told = ran.out.lines().find(|line| line.contains("modules lack what"));
    assert!(told.is_some_and(|line| line.contains("wrong") && line.contains("`nowhere`")), "{}", ran.out);
    let table = place.table("manifest/results.csv");
    assert!(table.values().any(|status| status == "Pass"), "{table:?}");
    // What the command line asks of all modules, some may lack.
    place.write("modules/other.spvasm", super::workplace::exchange().replace("\"main\"", "\"other\""));
    place.ends(&[&same[..], &["--entry", "other", "--out", "some"]].concat(), 0);
}

#[test]
fn help_is_there_for_every_command() {
    let place = Workplace::new();
    for words in
        [&["gate", "--help"][..], &["gate", "--help-all"], &["gate", "merge", "--help"], &["chain", "--help"]]
    {
        let ran = place.ends(words, 0);
        assert!(ran.out.contains("Usage: spirv-tv"), "{words:?}: {}", ran.out);
    }
}

/// Names with spaces, commas, quotes and letters of other scripts are names as any.
#[test]
fn names_are_kept_as_they_are() {
    let place = Workplace::new();
    let name = "möd ules/a, \"b\" & <c>.spvasm";
    place.write(name, super::workplace::exchange());
    let words = ["gate", "möd ules", "--pipeline", "--strip-debug", "--out", "ré sults"];
    place.ends(&[&words[..], &["--junit", "j.xml", "--html", "pa ges", "--summary", "s.md"]].concat(), 0);
    let case = format!("{name}@--strip-debug");
    let quoted = format!("\"{}\",Pass\n", case.replace('"', "\"\""));
    assert_eq!(place.read("ré sults/results.csv"), quoted);
    assert_eq!(place.records("ré sults")[&case]["file"], name);
    place.write("known.csv", &quoted);
    place.ends(&[&words[..5], &["again", "--baseline", "known.csv"]].concat(), 0);
}

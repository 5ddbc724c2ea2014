//! Executors that crash, hang, lie, and leave things behind.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{object, printed, MODULE};

/// What each of these executors begins with: it says what it is, and has a case's folder in `$f`.
const HEAD: &str = r#"
describe() {
    echo '{"protocol":"spirv-tv.executor/1","status":"described","device":{"name":"hostile"}}' > "$f/answer.json"
}
finished() {
    printf "$1" > "$f/a.bin"; printf "$2" > "$f/b.bin"
    echo '{"protocol":"spirv-tv.executor/1","status":"finished","runs":[{"count":1,"memory":["a.bin","b.bin"]}]}' > "$f/answer.json"
}
good() { finished '\1\0\0\0\1\0\0\0' '\1\0\0\0'; }
"#;

/// An executor that does this with a case, as a script; started anew for each request, or once.
fn script(folder: &Path, name: &str, what: &str, is_started_anew: bool) -> String {
    let path: PathBuf = folder.join(name);
    let body = format!("if grep -q '\"describe\"' \"$f/request.json\"; then describe; else\n{what}\nfi");
    let text = match is_started_anew {
        true => format!("{HEAD}\nf=$1\n{body}\n"),
        false => format!("{HEAD}\nwhile read -r f; do\n{body}\necho 'spirv-tv.executor done'\ndone\n"),
    };
    std::fs::write(&path, text).unwrap();
    let folder = if is_started_anew { " {folder}" } else { "" };
    format!("bash {}{folder}", path.display())
}

/// What comes of an executor.
fn run(command: &str) -> (Value, Option<i32>) {
    object(&["run", MODULE, "--executor", command, "--run-timeout", "1", "--times", "1"])
}

#[test]
fn whatever_an_executor_does_is_a_status() {
    let folder = tempfile::tempdir().unwrap();
    let outside = folder.path().join("outside");
    std::fs::write(&outside, [1, 0, 0, 0, 1, 0, 0, 0]).unwrap();
    let link = format!("good; ln -sf {} \"$f/a.bin\"", outside.display());
    let elsewhere = format!(
        "good; cp -r \"$f\" {0}; rm -r \"$f\"; ln -s {0} \"$f\"",
        folder.path().join("copy").display()
    );
    let deep = r#"{ printf '{"protocol":"x","status":'; head -c 1000000 /dev/zero | tr '\0' '['; } > "$f/answer.json""#;
    let cases: [(&str, &str, &str, &str); 21] = [
        ("good", "good", "finished", ""),
        ("hang", "sleep 60", "timed-out", "after 1 s"),
        ("crash", "kill -SEGV $$", "crashed", "signal 11"),
        ("exit", "echo 'out of luck' >&2; exit 3", "crashed", "exit code 3: out of luck"),
        ("rubbish", "head -c 100 /dev/urandom > \"$f/answer.json\"", "invalid-answer", "answer.json"),
        ("empty", ": > \"$f/answer.json\"", "invalid-answer", "answer.json"),
        ("deep", deep, "invalid-answer", "recursion limit"),
        ("nothing", "true", "invalid-answer", "answer.json: No such file"),
        (
            "version",
            "good; sed -i s/executor.1/executor\\\\/9/ \"$f/answer.json\"",
            "invalid-answer",
            "executor/9",
        ),
        ("short", "finished '\\1\\0\\0\\0' '\\1\\0\\0\\0'", "invalid-answer", "a.bin has 4 bytes and not 8"),
        (
            "long",
            "finished '\\1\\0\\0\\0\\1\\0\\0\\0\\0' '\\1\\0\\0\\0'",
            "invalid-answer",
            "a.bin has 9 bytes and not 8",
        ),
        ("huge", "good; truncate -s 900M \"$f/a.bin\"", "invalid-answer", "a.bin has 943718400 bytes"),
        (
            "endless",
            "good; truncate -s 900M \"$f/answer.json\"",
            "invalid-answer",
            "answer.json has 943718400 bytes",
        ),
        ("missing", "good; rm \"$f/b.bin\"", "invalid-answer", "b.bin: No such file"),
        ("link", &link, "invalid-answer", "a.bin: "),
        ("elsewhere", &elsewhere, "invalid-answer", "the folder is no folder any more"),
        (
            "outside",
            "good; sed -i 's/\"a.bin\"/\"..\\/..\\/a.bin\"/' \"$f/answer.json\"",
            "invalid-answer",
            "is not the name of a file",
        ),
        ("pipe", "good; rm \"$f/a.bin\"; mkfifo \"$f/a.bin\"", "invalid-answer", "no plain file"),
        (
            "many",
            "good; sed -i 's/\"count\":1/\"count\":2/' \"$f/answer.json\"",
            "invalid-answer",
            "2 runs are told",
        ),
        ("gone", "rm -r \"$f\"", "invalid-answer", ""),
        ("daemon", "(setsid sleep 4329 > /dev/null 2>&1 &) ; good", "finished", ""),
    ];
    for (name, what, status, detail) in cases {
        for is_started_anew in [true, false] {
            let _ = std::fs::remove_dir_all(folder.path().join("copy"));
            let command = script(folder.path(), name, what, is_started_anew);
            let (object, code) = run(&command);
            let told = &object["runs"][0];
            if status == "finished" {
                assert_eq!((code, &object["verdict"]), (Some(0), &"refines".into()), "{name}: {object}");
                continue;
            }
            assert_eq!((code, &object["verdict"]), (Some(5), &"executor-failed".into()), "{name}: {object}");
            assert_eq!(told["failure"]["status"], status, "{name}: {object}");
            let message = told["failure"]["message"].as_str().unwrap();
            assert!(message.contains(detail), "{name}: {message}");
        }
    }
    #[cfg(target_os = "linux")]
    {
        let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = processes.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
        let left = lines.filter(|line| line.starts_with(b"sleep\x004329")).count();
        assert_eq!(left, 0, "daemons are left");
    }
}

#[test]
fn an_executor_that_says_what_happened_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let say = |status: &str| {
        format!("echo '{{\"protocol\":\"spirv-tv.executor/1\",{status}}}' > \"$f/answer.json\"")
    };
    let cases = [
        ("\"status\":\"device-lost\",\"message\":\"gone\"", "device-lost", 5),
        ("\"status\":\"out-of-memory\",\"message\":\"\"", "out-of-memory", 5),
        ("\"status\":\"failed\",\"message\":\"no compiler\"", "failed", 5),
        ("\"status\":\"crashed\",\"message\":\"signal 6\"", "crashed", 5),
        ("\"status\":\"timed-out\"", "timed-out", 5),
        ("\"status\":\"unsupported\",\"missing\":[\"Int64\"]", "unsupported", 3),
    ];
    for (number, (answer, status, exit)) in cases.into_iter().enumerate() {
        let (object, code) = run(&script(folder.path(), &number.to_string(), &say(answer), false));
        assert_eq!(code, Some(exit), "{object}");
        assert_eq!(object["runs"][0]["failure"]["status"], status, "{object}");
    }
}

#[test]
fn a_wrong_outcome_violates_and_is_told_with_what_is_wrong_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let command = script(folder.path(), "wrong", "finished '\\1\\0\\0\\0\\1\\0\\0\\0' '\\7\\0\\0\\0'", false);
    let (text, code) = printed(&["run", MODULE, "--executor", &command]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.starts_with(
            "violates: new-outcome, hostile showed an outcome that is not allowed, in 1 of 1 run"
        ),
        "{text}"
    );
    assert!(
        text.contains("NOT ALLOWED  terminated: 0.0 = 0x00000001 0x00000001, 0.1 = 0x00000007"),
        "{text}"
    );
    assert!(text.contains("0.1+0 0x00000007 instead of 0x0000000"), "{text}");
    let (object, _) = run(&command);
    assert_eq!(object["runs"][0]["seen"][0]["allowed"], false);
    assert_eq!(object["runs"][0]["never_seen"].as_array().unwrap().len(), 2);
}

/// What was seen before is not forgotten, and an executor that ended is started again for the next input.
#[test]
fn the_next_input_is_run_though_the_executor_ended() {
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let what =
        format!("echo . >> {0}; if [ $(wc -l < {0}) = 1 ]; then kill -KILL $$; fi; good", count.display());
    let command = script(folder.path(), "once", &what, false);
    let (object, code) =
        object(&["run", MODULE, "--executor", &command, "--inputs", "2", "--buffer", "0.0=words:0,0"]);
    assert_eq!(code, Some(5), "{object}");
    let verdicts: Vec<&Value> =
        object["runs"].as_array().unwrap().iter().map(|run| &run["verdict"]).collect();
    assert_eq!(verdicts[0], "executor-failed");
    assert_ne!(verdicts.get(1), Some(&&"executor-failed".into()), "{object}");
    assert!(verdicts.len() == 2, "{object}");
}

#[test]
fn who_does_not_say_what_it_is_runs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mute");
    for (body, expected) in [
        ("exit 4", "exit code 4"),
        ("kill -ABRT $$", "signal 6"),
        ("read -r f; echo 'spirv-tv.executor done'", "answer.json"),
    ] {
        std::fs::write(&path, format!("{body}\n")).unwrap();
        let (text, code) = printed(&["run", MODULE, "--executor", &format!("bash {}", path.display())]);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.starts_with("error: nothing can be run: ") && text.contains(expected), "{text}");
    }
}

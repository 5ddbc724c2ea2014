//! Executors that crash, hang and lie: each is a status, and the run goes on to its end.

use std::path::Path;

use crate::run::object;

/// What each of these executors begins with: it says what it is, and has a case's folder in `$f`.
const HEAD: &str = r#"
say() { echo "{\"protocol\":\"spirv-tv.executor/1\",$1}" > "$f/answer.json"; }
describe() { say '"status":"described","device":{"name":"hostile"}'; }
"#;

/// An executor that does this with a case, as a command.
pub fn script(folder: &Path, name: &str, what: &str) -> String {
    let path = folder.join(name);
    let body = format!("if grep -q '\"describe\"' \"$f/request.json\"; then describe; else\n{what}\nfi");
    let text = format!("{HEAD}\nwhile read -r f; do\n{body}\necho 'spirv-tv.executor done'\ndone\n");
    std::fs::write(&path, text).unwrap();
    format!("bash {}", path.display())
}

pub fn whatever_an_executor_does_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    // It answers for each resource with a file of the size that it was given, and a count that is none.
    let zeros = r#"m=''; for i in 0 1 2 3 4 5 6 7 8; do if [ -e "$f/$i.bin" ]; then cp "$f/$i.bin" "$f/o$i"; m="$m,\"o$i\""; fi; done
        say "\"status\":\"finished\",\"runs\":[{\"count\":1,\"memory\":[${m#,}]}]""#;
    let short = zeros.replace("cp \"$f/$i.bin\" \"$f/o$i\"", "echo > \"$f/o$i\"");
    let cases: [(&str, &str, &str, i32); 9] = [
        ("crash", "kill -SEGV $$", "crashed", 5),
        ("exit", "echo 'assertion failed: x' >&2; exit 3", "crashed", 5),
        ("hang", "sleep 60", "timed-out", 5),
        ("lost", r#"say '"status":"device-lost","message":"vkQueueSubmit"'"#, "device-lost", 5),
        ("memory", r#"say '"status":"out-of-memory","message":"vkAllocateMemory"'"#, "out-of-memory", 3),
        ("lacks", r#"say '"status":"unsupported","missing":["Shader"]'"#, "unsupported", 3),
        ("rubbish", "head -c 100 /dev/urandom > \"$f/answer.json\"", "invalid-answer", 5),
        ("short", &short, "invalid-answer", 5),
        // Nothing is counted: no instance can have run.
        ("zeros", zeros, "miscounted", 1),
    ];
    for (name, what, status, code) in cases {
        let command = script(folder.path(), name, what);
        let out = folder.path().join(format!("{name}.out"));
        let words = ["--executor", &command, "--count", "4", "--run-timeout", "1", "--invocations", "8"];
        let own = ["--only", "concurrent", "--program", "sb-relaxed-buffer-queue-family", "--times", "1"];
        let (object, exit) = object(&[&words[..], &own].concat(), &out);
        assert_eq!(exit, Some(code), "{name}: {object}");
        assert_eq!(object["cases"], 4, "{name}: {object}");
        assert!(object["statuses"][status].as_u64() >= Some(1), "{name}: {object}");
        let is_finding = code != 3;
        let buckets = object["buckets"].as_array().unwrap();
        assert_eq!(buckets.is_empty(), !is_finding, "{name}: {object}");
        if is_finding {
            let saved = out.join(buckets[0]["saved"].as_str().unwrap());
            for file in ["report.md", "record.json", "module.spv"] {
                assert!(saved.join(file).exists(), "{name}: {file}");
            }
        }
    }
}

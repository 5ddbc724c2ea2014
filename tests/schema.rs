//! `docs/schema/spirv-tv.json` describes everything that is printed as JSON, and nothing else. Objects of pairs and
//! classic programs are held against it where `corpus.rs` runs them; these are the others.

use std::process::Command;

use serde::Deserialize;
use serde_json::{json, Map, Value};
use spirv_tv::behaviour::PathEnd;
use spirv_tv::compare::ViolationKind;

use crate::support::schema::{schema, series, Schema};
use crate::support::{corpus, toml};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// What a command prints, held against the schema.
fn printed(words: &str) -> Vec<Value> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    printed_by(&words)
}

fn printed_by(words: &[String]) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spirv-tv"));
    let output = command.args(words).args(["--format", "json"]).current_dir(ROOT).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let objects = series(&text).unwrap_or_else(|error| panic!("{words:?}: {error}\n{text}"));
    assert!(!objects.is_empty(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    objects
}

/// The JSON in the sessions of `tests/cli/`.
fn transcribed() -> Vec<Value> {
    let mut sessions: Vec<_> =
        std::fs::read_dir(format!("{ROOT}/tests/cli")).unwrap().map(|entry| entry.unwrap().path()).collect();
    sessions.retain(|path| path.extension().is_some_and(|extension| extension == "trycmd"));
    sessions.sort();
    let texts = sessions.iter().map(|path| std::fs::read_to_string(path).unwrap());
    let lines: Vec<String> = texts
        .flat_map(|text| {
            text.lines().filter(|line| line.starts_with("{\"schema\"")).map(str::to_owned).collect::<Vec<_>>()
        })
        .collect();
    assert!(lines.len() > 10, "{}", lines.len());
    series(&lines.join("\n")).unwrap()
}

/// Commands that print what few others do.
const COMMANDS: [&str; 25] = [
    // Passes that are proved, checked, refuse their module or fail on it; modules that cannot be read.
    "opt tests/cli --ccp --strip-debug --eliminate-dead-branches",
    "opt corpus/crashes --loop-peeling --interpolate-fixup --keep-going --inputs 1",
    "opt tests/cli/shared.spvasm --set-spec-const-default-value=7:0 --freeze-spec-const",
    "opt tests/cli/shared.spvasm --ends --set-spec-const-default-value=7:0 --freeze-spec-const",
    "opt corpus/findings/aliased-loads-merged/before.spvasm --step-timeout 500 -O",
    "opt tests/cli/copy.spvasm --timeout 0 --strip-debug",
    "check tests/cli/two-entries.spvasm tests/cli/two-entries-wrong.spvasm --spec-may-freeze no --ignore new-hang",
    "check tests/cli/copy.spvasm tests/cli/copy.spvasm --both-ways --out-of-bounds robust --after-out-of-bounds undefined",
    "check tests/cli/copy.spvasm tests/cli/nothing.spvasm",
    "check tests/cli/image.spvasm tests/cli/image.spvasm",
    "check tests/cli/pointers.spvasm tests/cli/pointers.spvasm",
    "check tests/cli/fragment.spvasm tests/cli/fragment.spvasm",
    "check tests/cli/shared.spvasm tests/cli/shared.spvasm --alias 0.3=0.3",
    "check tests/cli/copy.spvasm tests/cli/copy.spvasm --timeout 0",
    "check corpus/classics/message-passing.spvasm corpus/classics/message-passing.spvasm --max-executions 1",
    "outcomes benches/modules/idioms/append.spvasm --spec 0=64 --workgroups 1 --buffer 0.1=zeros:64",
    "outcomes tests/cli/copy.spvasm --inputs 2",
    "outcomes tests/cli/copy.spvasm --timeout 0",
    "check tests/reports/functions.spvasm tests/reports/inlined.spvasm --inputs 2",
    "check tests/reports/ways.spvasm tests/reports/ways-after.spvasm --workgroups 1 --buffer 0.0=words:3,0,0,0",
    "check tests/reports/long.spvasm tests/reports/long-hang.spvasm --inputs 1",
    "litmus tests/cli/nothing.litmus tests/cli/copy.spvasm",
    "litmus corpus/litmus/thin-air-allowed.litmus --max-executions 1",
    "check corpus/pairs/racy-before/before.spvasm corpus/pairs/racy-before/before.spvasm",
    "check tests/cli/turns.spvasm tests/cli/turns-sum.spvasm --workgroups 2 --max-executions 5 --inputs 16",
];

/// Pairs of the corpus that print what few others do: volatile traces, quads, pointers, events, two readings of an older
/// module, samplers; who has undefined behaviour, who waits, where invocations part, what was lost.
const PAIRS: [&str; 10] = [
    "endless-loop-with-volatile-load-added",
    "fragment-derivative-of-other-direction",
    "physical-chain-to-arithmetic",
    "store-sunk-below-release",
    "glsl-buffer-behind-barrier",
    "image-linear-sample-moved-a-little",
    "division-speculated",
    "barrier-count-made-divergent",
    "endless-loop-of-loads-behind-acquire-added",
    "release-weakened-to-relaxed",
];

/// Classic programs of which the same holds: load buffering, ray queries.
const CLASSICS: [&str; 2] = ["lb-add-across-barrier", "ray-query-closest-opaque"];

/// Arguments of a pair or program.
#[derive(Deserialize)]
struct Launched {
    args: Vec<String>,
}

/// What is printed of these pairs and programs.
fn of_corpus() -> Vec<Value> {
    let with_args = |words: String, path: String| {
        let words = words.split_whitespace().map(str::to_owned);
        printed_by(&words.chain(toml::<Launched>(&corpus(&path)).args).collect::<Vec<_>>())
    };
    let pairs = PAIRS.iter().map(|pair| {
        let folder = format!("corpus/pairs/{pair}");
        let words = format!("check {folder}/before.spvasm {folder}/after.spvasm");
        with_args(words, format!("pairs/{pair}/pair.toml"))
    });
    let classics = CLASSICS.iter().map(|name| {
        with_args(format!("outcomes corpus/classics/{name}.spvasm"), format!("classics/{name}.toml"))
    });
    pairs.chain(classics).flatten().collect()
}

fn sample() -> Vec<Value> {
    let mut objects = transcribed();
    objects.extend(COMMANDS.iter().flat_map(|words| printed(words)));
    objects.extend(of_corpus());
    objects.extend(litmus());
    objects
}

/// All litmus tests of the corpus.
fn litmus() -> Vec<Value> {
    let tests = std::fs::read_dir(format!("{ROOT}/corpus/litmus")).unwrap();
    let mut paths: Vec<String> = tests
        .map(|entry| format!("corpus/litmus/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    paths.retain(|path| path.ends_with(".test") || path.ends_with(".litmus"));
    paths.sort();
    assert!(paths.len() > 100);
    printed(&format!("litmus --outcomes --explain {}", paths.join(" ")))
}

#[test]
fn what_opt_prints_over_the_corpus_is_described() {
    let bounds = "--inputs 2 --max-executions 2000";
    for folder in ["mutants", "findings", "crashes"] {
        let objects = printed(&format!("opt corpus/{folder} -O {bounds}"));
        assert!(objects.iter().any(|object| object["changed"] == true), "{folder}");
    }
    let ends = printed(&format!("opt corpus/findings --ends -O {bounds}"));
    assert!(ends.iter().any(|object| object["pass"] == "all passes"));
}

/// Every property of the schema, as the name of its definition and the path to it.
fn properties(of: &Value, path: &str, all: &mut Vec<String>) {
    match of {
        Value::Object(map) => {
            for (key, value) in map {
                let path = format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
                if key == "properties" {
                    all.extend(
                        value.as_object().into_iter().flatten().map(|(name, _)| format!("{path}/{name}")),
                    );
                }
                properties(value, &path, all);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                properties(value, &format!("{path}/{index}"), all);
            }
        }
        _ => {}
    }
}

/// The schema without a property.
fn without(schema: &Value, property: &str) -> Value {
    let mut schema = schema.clone();
    let (properties, name) = property.rsplit_once('/').unwrap();
    let holder = properties.strip_suffix("/properties").unwrap();
    let holder = schema.pointer_mut(holder).unwrap();
    holder["properties"].as_object_mut().unwrap().remove(name);
    if let Some(required) = holder.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|required| required != name);
    }
    schema
}

/// Properties that only a bug of spirv-tv prints.
const OURS: [&str; 3] = [
    "/$defs/checkFields/properties/bug",
    "/$defs/bareFields/properties/bug",
    "/$defs/litmusFile/properties/bug",
];

#[test]
fn each_property_is_printed_and_nothing_is_valid_without_it() {
    let (schema, objects) = (schema(), sample());
    let mut all = Vec::new();
    properties(&schema["$defs"], "/$defs", &mut all);
    assert!(all.len() > 150, "{}", all.len());
    all.retain(|property| !OURS.contains(&property.as_str()));
    let superfluous: Vec<&String> = all
        .iter()
        .filter(|property| {
            let less = Schema::of(&without(&schema, property));
            objects.iter().all(|object| less.is_valid(object))
        })
        .collect();
    assert!(superfluous.is_empty(), "nothing prints {superfluous:#?}");
}

/// The object with one more field in each of its objects, one after the other. In maps, such as those from keys to words,
/// a field of another type is no entry either.
fn with_one_more(object: &Value) -> Vec<Value> {
    let mut all = Vec::new();
    let mut paths = vec![String::new()];
    while let Some(path) = paths.pop() {
        let children: Vec<String> = match object.pointer(&path) {
            Some(Value::Object(map)) => {
                let mut more = object.clone();
                if let Some(Value::Object(place)) = more.pointer_mut(&path) {
                    place.insert("surprise".to_owned(), json!([[null]]));
                }
                all.push(more);
                map.keys().map(|key| key.replace('~', "~0").replace('/', "~1")).collect()
            }
            Some(Value::Array(list)) => (0..list.len().min(2)).map(|index| index.to_string()).collect(),
            _ => Vec::new(),
        };
        paths.extend(children.into_iter().map(|child| format!("{path}/{child}")));
    }
    all
}

#[test]
fn a_field_that_is_not_described_is_refused_everywhere() {
    let committed = Schema::committed();
    let mut seen = 0;
    for object in transcribed() {
        for more in with_one_more(&object) {
            assert!(!committed.is_valid(&more), "{more}");
            seen += 1;
        }
    }
    assert!(seen > 200, "{seen}");
}

#[test]
fn words_that_the_schema_does_not_list_are_refused() {
    let committed = Schema::committed();
    let objects = transcribed();
    let check = objects.iter().find(|object| object["verdict"] == "violates" && object.get("step").is_none());
    for path in ["/verdict", "/runs/0/verdict", "/choices/races", "/schema"] {
        let mut wrong = check.unwrap().clone();
        *wrong.pointer_mut(path).unwrap() = "other".into();
        assert!(!committed.is_valid(&wrong), "{path}");
    }
}

#[test]
fn enumerations_are_those_of_the_code() {
    let schema = schema();
    let listed = |name: &str| schema["$defs"][name]["enum"].as_array().unwrap().clone();
    assert_eq!(listed("violationKind"), ViolationKind::ALL.map(|kind| Value::from(kind.name())));
    assert_eq!(listed("pathEnd"), PathEnd::ALL.map(|end| Value::from(end.name())));
}

/// The page that says what fields mean names every one of them, and every kind.
#[test]
fn the_page_names_every_field() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/json.md")).unwrap();
    let schema = schema();
    let mut all = Vec::new();
    properties(&schema["$defs"], "/$defs", &mut all);
    let mut names: Vec<&str> = all.iter().filter_map(|path| path.rsplit('/').next()).collect();
    let kinds = ["verdict", "violationKind", "undefinedKind", "pathEnd"];
    let kinds: Vec<&Value> =
        kinds.iter().flat_map(|name| schema["$defs"][name]["enum"].as_array().unwrap()).collect();
    names.extend(kinds.iter().filter_map(|kind| kind.as_str()));
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !page.contains(&format!("`{name}`")));
    assert!(names.is_empty(), "docs/json.md does not name {names:?}");
}

/// What users hand to a validator: the whole file takes each kind of object by itself.
#[test]
fn the_whole_file_tells_the_kinds_apart() {
    let whole = jsonschema::draft202012::new(&schema()).unwrap();
    jsonschema::meta::validate(&schema()).unwrap();
    for object in transcribed() {
        assert!(whole.is_valid(&object), "{object}");
        let Value::Object(mut map) = object else { panic!("no object") };
        map.remove("choices");
        assert!(!whole.is_valid(&Value::Object(map)));
    }
    assert!(!whole.is_valid(&Value::Object(Map::new())));
}

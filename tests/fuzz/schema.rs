//! `docs/schema/fuzz.json` describes what `fuzz driver --format json` prints, and nothing else.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use crate::run::ROOT;

fn schema() -> Value {
    let text = std::fs::read_to_string(format!("{ROOT}/docs/schema/fuzz.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Fails where the schema does not describe the object.
pub fn assert_described(object: &Value) {
    static SCHEMA: OnceLock<Validator> = OnceLock::new();
    let validator = SCHEMA.get_or_init(|| jsonschema::validator_for(&schema()).unwrap());
    let errors: Vec<String> =
        validator.iter_errors(object).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{}\n{object}", errors.join("\n"));
}

/// Every property of the schema is told in the page.
pub fn the_page_names_every_field() {
    let page = std::fs::read_to_string(format!("{ROOT}/docs/fuzzing.md")).unwrap();
    let schema = schema();
    let objects = [&schema, &schema["properties"]["buckets"]["items"]];
    let names = objects.map(|object| object["properties"].as_object().unwrap().keys().cloned());
    let names: Vec<String> = names.into_iter().flatten().collect();
    assert!(names.len() > 12);
    for name in names {
        assert!(page.contains(&format!("`{name}`")), "docs/fuzzing.md does not name {name}");
    }
}

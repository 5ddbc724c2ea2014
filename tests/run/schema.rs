//! `docs/schema/run.json` describes what `run --format json` prints, and nothing else.

use std::sync::OnceLock;

use jsonschema::Validator;
use serde_json::Value;

use super::ROOT;

/// Fails where the schema does not describe the object.
pub fn assert_described(object: &Value) {
    static SCHEMA: OnceLock<Validator> = OnceLock::new();
    let schema = SCHEMA.get_or_init(|| {
        let read = |name: &str| -> Value {
            let text = std::fs::read_to_string(format!("{ROOT}/docs/schema/{name}.json")).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        // What outcomes, inputs and choices are, the other schema says.
        let mut schema = read("run");
        let definitions = read("spirv-tv")["$defs"].clone();
        for (name, definition) in definitions.as_object().unwrap() {
            schema["$defs"][name] = definition.clone();
        }
        jsonschema::validator_for(&schema).unwrap()
    });
    let errors: Vec<String> =
        schema.iter_errors(object).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{}\n{object}", errors.join("\n"));
}

/// Every property of the schema is told in the page, and is required or printed sometimes.
#[test]
fn the_page_names_every_field() {
    let read = |name: &str| std::fs::read_to_string(format!("{ROOT}/docs/{name}")).unwrap();
    let schema: Value = serde_json::from_str(&read("schema/run.json")).unwrap();
    let page = read("json.md");
    let (_, section) = page.split_once("## `spirv-tv.run/1`").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let objects =
        [&schema, &schema["$defs"]["judged"], &schema["$defs"]["seen"], &schema["$defs"]["failure"]];
    let mut fields = 0;
    for properties in objects.map(|object| object["properties"].as_object().unwrap()) {
        for name in properties.keys() {
            fields += 1;
            assert!(section.contains(&format!("`{name}`")), "docs/json.md does not name {name}");
        }
    }
    assert!(fields > 20, "{fields}");
}

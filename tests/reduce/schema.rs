//! `docs/schema/reduce.json` describes what `reduce --format json` prints, and nothing else.

use serde_json::Value;

use super::ROOT;

fn read(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/docs/{name}")).unwrap()
}

/// Fails where the schema does not describe the object.
pub fn assert_described(object: &Value) {
    let schema: Value = serde_json::from_str(&read("schema/reduce.json")).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        schema.iter_errors(object).map(|error| format!("{}: {error}", error.instance_path)).collect();
    assert!(errors.is_empty(), "{}\n{object}", errors.join("\n"));
}

#[test]
fn the_page_names_every_field() {
    let schema: Value = serde_json::from_str(&read("schema/reduce.json")).unwrap();
    let page = read("json.md");
    let (_, section) = page.split_once("## `spirv-tv.reduce/1`").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let objects = [&schema["properties"], &schema["$defs"]["module"]["properties"]];
    let names: Vec<&String> = objects.iter().flat_map(|object| object.as_object().unwrap().keys()).collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        assert!(section.contains(&format!("`{name}`")), "docs/json.md does not name {name}");
    }
}

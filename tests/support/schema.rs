//! The place through which tests take JSON that spirv-tv prints: each object must be what `docs/schema/spirv-tv.json`
//! says. That file is strict, so a field that it does not describe fails the test that prints it.

use jsonschema::Validator;
use serde_json::{json, Value};

/// The schema's text.
const SCHEMA: &str = include_str!("../../docs/schema/spirv-tv.json");

/// The schema as an object.
pub fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap_or_else(|error| panic!("docs/schema/spirv-tv.json: {error}"))
}

/// What a schema says of objects of all kinds.
pub struct Schema([(&'static str, Validator); 4]);

impl Schema {
    /// As it is committed.
    pub fn committed() -> Schema {
        Schema::of(&schema())
    }

    /// Of this text.
    pub fn of(schema: &Value) -> Schema {
        let validator = |name: &'static str| {
            let part = json!({
                "$schema": schema["$schema"],
                "$ref": format!("#/$defs/{name}"),
                "$defs": schema["$defs"],
            });
            let built = jsonschema::draft202012::new(&part);
            (name, built.unwrap_or_else(|error| panic!("{name}: {error}")))
        };
        Schema(["check", "opt", "outcomes", "litmus"].map(validator))
    }

    /// Whether an object is what the schema says of its kind.
    pub fn is_valid(&self, object: &Value) -> bool {
        self.of_kind(object).is_valid(object)
    }

    /// The first thing that is wrong with an object.
    pub fn complaint(&self, object: &Value) -> Option<String> {
        let first = self.of_kind(object).iter_errors(object).next()?;
        let told: String = first.to_string().chars().take(400).collect();
        Some(format!("{}: {told} (at {} of the schema)", first.instance_path, first.schema_path))
    }

    fn of_kind(&self, object: &Value) -> &Validator {
        let kind = match object["schema"].as_str() {
            Some("spirv-tv.outcomes/1") => "outcomes",
            Some("spirv-tv.litmus/1") => "litmus",
            // Objects of `opt` name their module.
            _ if object.get("module").is_some() => "opt",
            _ => "check",
        };
        let known = self.0.iter().find(|(name, _)| *name == kind);
        &known.expect("there is one for each kind").1
    }
}

thread_local! {
    static COMMITTED: Schema = Schema::committed();
}

/// An object that was printed.
///
/// # Errors
/// It is no JSON.
///
/// # Panics
/// It is not what the schema says.
pub fn parsed(text: &str) -> serde_json::Result<Value> {
    Ok(held(serde_json::from_str(text)?))
}

/// The objects of a series, one on each line.
pub fn series(text: &str) -> serde_json::Result<Vec<Value>> {
    text.lines().map(parsed).collect()
}

/// The object, which must be what the schema says.
pub fn held(object: Value) -> Value {
    if let Some(complaint) = COMMITTED.with(|schema| schema.complaint(&object)) {
        panic!("not what docs/schema/spirv-tv.json describes: {complaint}");
    }
    object
}

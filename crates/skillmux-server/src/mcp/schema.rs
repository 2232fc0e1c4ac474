//! Schemas as clients want them: short, without `$ref`, which some do not resolve, and without the
//! formats of Rust's numbers, which no other language knows.
//!
//! A model pays for each word of the list of tools. So what a tool gives is told no deeper than its
//! members, and without those that may be absent.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Value, json};

/// Returns the schema of what a tool takes.
pub(super) fn input_schema<T: JsonSchema>() -> Arc<JsonObject> {
    Arc::new(schema_of::<T>(SchemaSettings::draft2020_12()))
}

/// Returns the schema of what a tool gives: the members that are always there, with their types. It
/// does not say that they are required, for that would name each of them twice.
pub(super) fn output_schema<T: JsonSchema>() -> Arc<JsonObject> {
    let whole = schema_of::<T>(SchemaSettings::draft2020_12().for_serialize());
    let required = whole.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut members = JsonObject::new();
    for name in required.filter_map(Value::as_str) {
        // A choice of words has no type of its own.
        let kind =
            whole["properties"][name].get("type").cloned().unwrap_or_else(|| json!("string"));
        members.insert(name.to_owned(), json!({ "type": kind }));
    }
    let mut schema = JsonObject::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(members));
    Arc::new(schema)
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let mut settings = settings.with_transform(RecursiveTransform(without_format));
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The tool has texts of its own; these are for readers of the code.
    schema.remove("title");
    schema.remove("description");
    match schema.to_value() {
        Value::Object(object) => object,
        // The schema `true` says no more than an empty object.
        _ => JsonObject::new(),
    }
}

fn without_format(schema: &mut Schema) {
    schema.remove("format");
}

//! Schemas as clients want them: without `$ref`, which some do not resolve, and without the formats
//! of Rust's numbers, which no other language knows.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::Value;

/// Returns the schema of what a tool takes.
pub(super) fn input_schema<T: JsonSchema>() -> Arc<JsonObject> {
    schema_of::<T>(SchemaSettings::draft2020_12())
}

/// Returns the schema of what a tool gives.
pub(super) fn output_schema<T: JsonSchema>() -> Arc<JsonObject> {
    schema_of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

fn schema_of<T: JsonSchema>(settings: SchemaSettings) -> Arc<JsonObject> {
    let mut settings = settings.with_transform(RecursiveTransform(without_format));
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    // The tool has texts of its own; these are for readers of the code.
    schema.remove("title");
    schema.remove("description");
    match schema.to_value() {
        Value::Object(object) => Arc::new(object),
        // The schema `true` says no more than an empty object.
        _ => Arc::default(),
    }
}

fn without_format(schema: &mut Schema) {
    schema.remove("format");
}

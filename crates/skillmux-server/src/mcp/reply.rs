//! [`Reply`]: an answer in both forms, and the schema of the structured one.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::Value;

use super::failure::Failure;

/// What a tool answers: a value for programs and a text for models.
#[derive(Debug)]
pub(super) struct Reply {
    structured: Value,
    text: String,
}

impl Reply {
    /// Returns the reply that carries `answer` and says the same in `text`.
    pub(super) fn new<A: Serialize>(answer: &A, text: String) -> Result<Self, Failure> {
        let structured = serde_json::to_value(answer).map_err(|_| Failure::bug())?;
        Ok(Self { structured, text })
    }

    /// Returns the result that goes over the wire.
    pub(super) fn into_result(self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text(self.text)]);
        result.structured_content = Some(self.structured);
        result
    }
}

/// The texts of a tool that a model reads before it calls it.
pub(super) struct Label {
    /// Name that calls it.
    pub(super) name: &'static str,
    /// Name that people read.
    pub(super) title: &'static str,
    /// When to call it, and what comes back.
    pub(super) description: &'static str,
}

/// Returns the definition of a tool that only reads the library and answers with an `A`.
pub(super) fn reading_tool<A: JsonSchema>(label: &Label, input: Value) -> Tool {
    let annotations = ToolAnnotations::with_title(label.title)
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(false);
    Tool::new(label.name, label.description, object(input))
        .with_title(label.title)
        .with_annotations(annotations)
        .with_raw_output_schema(Arc::new(output_schema::<A>()))
}

/// Returns the schema of a serialized `A`, without `$ref`, which some clients do not resolve.
fn output_schema<A: JsonSchema>() -> JsonObject {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    schema.remove("description");
    object(schema.to_value())
}

/// Returns the object of a schema; the schema `true` says no more than an empty object.
fn object(schema: Value) -> JsonObject {
    match schema {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Returns a score or probability with four decimals, as a model wants to read it.
pub(super) fn rounded(value: f32) -> f64 {
    (f64::from(value) * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_at_most_four_decimals() {
        assert_eq!(rounded(0.87).to_string(), "0.87");
        assert_eq!(rounded(12.345_678).to_string(), "12.3457");
    }
}

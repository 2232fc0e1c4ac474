//! [`Arguments`]: what a model passed to a tool, checked against the schema that it was shown.

use rmcp::{
    ErrorData, ServerHandler,
    handler::server::{common::FromContextPart, tool::ToolCallContext},
    model::JsonObject,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::status::Failure;

/// The arguments of one call, or what is wrong with them.
///
/// A mistake is a failure of the tool, which a model reads and corrects, not a protocol error,
/// which clients keep to themselves (MCP 2025-11-25, tools, error handling). What serde says of it
/// names no limit and no default, so the schema of the tool is what the arguments are held
/// against: it names both, and is all that the model knows.
pub(super) struct Arguments<T>(Result<T, Failure>);

impl<T> Arguments<T> {
    /// Returns the arguments.
    pub(super) fn checked(self) -> Result<T, Failure> {
        self.0
    }
}

impl<S: ServerHandler, T: DeserializeOwned> FromContextPart<ToolCallContext<'_, S>>
    for Arguments<T>
{
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        let values = context.arguments.take().unwrap_or_default();
        let tool = context.service.get_tool(&context.name);
        let schema = tool.map(|tool| tool.input_schema).unwrap_or_default();
        Ok(Self(conforming(values, &schema).and_then(read)))
    }
}

fn read<T: DeserializeOwned>(values: JsonObject) -> Result<T, Failure> {
    serde_json::from_value(Value::Object(values)).map_err(|error| {
        Failure::invalid(error.to_string(), "call again with arguments that fit the schema")
    })
}

/// Returns the values as the schema wants them: without null, which means absent, and with whole
/// numbers written as such.
fn conforming(mut values: JsonObject, schema: &JsonObject) -> Result<JsonObject, Failure> {
    let none = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    if let Some(name) = values.keys().find(|name| !properties.contains_key(*name)) {
        let known: Vec<_> = properties.keys().map(String::as_str).collect();
        let hint = format!("the arguments are {}", known.join(", "));
        return Err(Failure::invalid(format!("there is no argument `{name}`"), hint));
    }
    values.retain(|_, value| !value.is_null());
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if !values.contains_key(name) {
            let message = format!("`{name}` is missing");
            return Err(Failure::invalid(message, format!("call again with `{name}`")));
        }
    }
    for (name, value) in &mut values {
        let property = &properties[name];
        match property["type"].as_str() {
            Some("string") if !value.is_string() => return Err(no_string(name, value)),
            Some("array") => read_strings(name, value)?,
            Some("integer") => match whole_number(value).filter(|n| is_within(*n, property)) {
                Some(number) => *value = Value::from(number),
                None => return Err(no_such_number(name, value, property)),
            },
            _ => {}
        }
    }
    Ok(values)
}

/// Checks that a value is an array of strings. Models often pass a single string where there is but
/// one.
fn read_strings(name: &str, value: &mut Value) -> Result<(), Failure> {
    if value.is_string() {
        *value = Value::Array(vec![value.take()]);
    }
    match value.as_array() {
        Some(values) if values.iter().all(Value::is_string) => Ok(()),
        _ => Err(Failure::invalid(
            format!("`{name}` must be an array of strings"),
            format!("call again with `{name}` as an array of strings"),
        )),
    }
}

fn no_string(name: &str, value: &Value) -> Failure {
    Failure::invalid(
        format!("`{name}` is {}, but must be a string", kind_of(value)),
        format!("call again with `{name}` as a string"),
    )
}

fn no_such_number(name: &str, value: &Value, property: &Value) -> Failure {
    let found = if value.is_number() { value.to_string() } else { kind_of(value).to_owned() };
    let (first, last) = (&property["minimum"], &property["maximum"]);
    let default = property.get("default").map(|default| format!(" for {default}"));
    Failure::invalid(
        format!("`{name}` is {found}, but must be a whole number from {first} to {last}"),
        format!(
            "call again with `{name}` from {first} to {last}, or without it{}",
            default.unwrap_or_default()
        ),
    )
}

/// Returns the number; JSON has one kind of number, so 5.0 is a whole one too.
fn whole_number(value: &Value) -> Option<u64> {
    // What is added takes the sign of a zero off, which would be written.
    let float = || value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number + 0.0);
    value.as_u64().or_else(|| format!("{:.0}", float()?).parse().ok())
}

fn is_within(number: u64, property: &Value) -> bool {
    let first = property["minimum"].as_u64().unwrap_or(u64::MIN);
    let last = property["maximum"].as_u64().unwrap_or(u64::MAX);
    (first..=last).contains(&number)
}

/// Returns what a JSON value is, with its article.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    use super::*;
    use crate::mcp::schema::input_schema;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        name: String,
        #[serde(default = "five")]
        #[schemars(range(min = 1, max = 20))]
        k: u32,
    }

    fn five() -> u32 {
        5
    }

    fn sample(values: Value) -> Result<Sample, Failure> {
        let Value::Object(values) = values else { panic!("arguments are an object") };
        conforming(values, &input_schema::<Sample>()).and_then(read)
    }

    fn k(value: &Value) -> Result<u32, Failure> {
        sample(json!({ "name": "a", "k": value })).map(|sample| sample.k)
    }

    #[test]
    fn a_number_may_be_absent_null_or_written_as_a_float() {
        assert_eq!(sample(json!({ "name": "a" })), Ok(Sample { name: "a".to_owned(), k: 5 }));
        assert_eq!(k(&Value::Null), Ok(5));
        assert_eq!(k(&json!(20)), Ok(20));
        assert_eq!(k(&json!(3.0)), Ok(3));
        assert_eq!(whole_number(&json!(-0.0)), Some(0));
    }

    #[test]
    fn a_number_out_of_range_names_the_range_and_the_default() {
        for value in [json!(0), json!(21), json!(-1), json!(1.5), json!(1e300), json!("5")] {
            let failure = k(&value).unwrap_err();
            assert!(failure.message.ends_with(" a whole number from 1 to 20"), "{failure:?}");
            assert!(failure.hint.as_ref().unwrap().ends_with("without it for 5"), "{failure:?}");
        }
    }

    #[test]
    fn a_required_argument_that_is_null_is_missing() {
        for values in [json!({}), json!({ "name": null, "k": 50 })] {
            assert_eq!(sample(values).unwrap_err().message, "`name` is missing");
        }
    }
}

//! [`Arguments`]: reads what a model passed, and says exactly what is wrong with it.

use std::ops::RangeInclusive;

use rmcp::model::JsonObject;
use serde_json::Value;

use super::failure::Failure;

/// The arguments of one call; every reader takes its argument out.
///
/// Mistakes become failures that a model reads and corrects, not protocol errors, which clients
/// keep to themselves (MCP 2025-11-25, tools, error handling).
pub(super) struct Arguments(JsonObject);

impl Arguments {
    /// Returns the arguments, if all of them are `known`.
    pub(super) fn new(values: JsonObject, known: &[&str]) -> Result<Self, Failure> {
        if let Some(name) = values.keys().find(|name| !known.contains(&name.as_str())) {
            let message = format!("there is no argument `{name}`");
            return Err(Failure::new(message, format!("the arguments are {}", known.join(", "))));
        }
        Ok(Self(values))
    }

    /// Takes a text that must be there.
    pub(super) fn text(&mut self, name: &str) -> Result<String, Failure> {
        self.optional_text(name)?.ok_or_else(|| {
            Failure::new(format!("`{name}` is missing"), format!("pass `{name}` as a string"))
        })
    }

    /// Takes a text that may be absent or null.
    pub(super) fn optional_text(&mut self, name: &str) -> Result<Option<String>, Failure> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(Failure::new(
                format!("`{name}` is {}, but must be a string", kind_of(&other)),
                format!("call again with `{name}` as a string"),
            )),
        }
    }

    /// Takes a whole number in `range`, or `default` where it is absent or null.
    pub(super) fn number(
        &mut self,
        name: &str,
        range: &RangeInclusive<u32>,
        default: u32,
    ) -> Result<u32, Failure> {
        let value = match self.0.remove(name) {
            None | Some(Value::Null) => return Ok(default),
            Some(value) => value,
        };
        let (first, last) = (range.start(), range.end());
        let fits = whole_number(&value).and_then(|n| u32::try_from(n).ok());
        if let Some(number) = fits.filter(|number| range.contains(number)) {
            return Ok(number);
        }
        let found = if value.is_number() { value.to_string() } else { kind_of(&value).to_owned() };
        Err(Failure::new(
            format!("`{name}` is {found}, but must be a whole number from {first} to {last}"),
            format!("call again with `{name}` from {first} to {last}, or without it for {default}"),
        ))
    }
}

/// Returns the number; JSON has one kind of number, so 5.0 is a whole one too.
fn whole_number(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|number| number.fract() == 0.0);
    value.as_u64().or_else(|| format!("{:.0}", float()?).parse().ok())
}

/// Returns what a JSON value is, with its article.
fn kind_of(value: &Value) -> &'static str {
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
    use serde_json::json;

    use super::*;

    fn number(value: Value) -> Result<u32, Failure> {
        let values = JsonObject::from_iter([("k".to_owned(), value)]);
        Arguments::new(values, &["k"])?.number("k", &(1..=20), 5)
    }

    #[test]
    fn a_number_may_be_absent_null_or_written_as_a_float() {
        assert_eq!(Arguments(JsonObject::new()).number("k", &(1..=20), 5), Ok(5));
        assert_eq!(number(Value::Null), Ok(5));
        assert_eq!(number(json!(20)), Ok(20));
        assert_eq!(number(json!(3.0)), Ok(3));
    }

    #[test]
    fn a_number_out_of_range_names_the_range() {
        for value in [json!(0), json!(21), json!(-1), json!(1.5), json!(1e300), json!("5")] {
            let failure = number(value).unwrap_err();
            assert!(format!("{failure:?}").contains("from 1 to 20"), "{failure:?}");
        }
    }
}

//! [`Entries`]: a JSON object as it is written, also the keys that occur again.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::{Map, Value};

/// The keys of an object with their values, in order.
///
/// A map would keep the last of two values of one key, and lose the first without a word.
pub(super) struct Entries<V>(pub(super) Vec<(String, V)>);

/// A value whose objects have all their keys.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum Written {
    Object(Entries<Self>),
    List(Vec<Self>),
    Other(Value),
}

impl Written {
    /// Returns the value.
    ///
    /// # Errors
    /// The first key that an object has twice.
    pub(super) fn into_value(self) -> Result<Value, String> {
        match self {
            Self::Object(entries) => {
                let mut fields = Map::new();
                for (key, value) in entries.0 {
                    if fields.contains_key(&key) {
                        return Err(key);
                    }
                    fields.insert(key, value.into_value()?);
                }
                Ok(Value::Object(fields))
            }
            Self::List(list) => {
                let values: Result<_, _> = list.into_iter().map(Self::into_value).collect();
                values.map(Value::Array)
            }
            Self::Other(value) => Ok(value),
        }
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Entries<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for EntriesVisitor<V> {
    type Value = Entries<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Entries(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_occurs_again_is_told_at_any_depth() {
        let value = |text: &str| serde_json::from_str::<Written>(text).unwrap().into_value();
        assert_eq!(
            value(r#"{"a":1,"b":{"c":[1.5,null,"d"]}}"#),
            Ok(serde_json::json!({"a": 1, "b": {"c": [1.5, null, "d"]}}))
        );
        assert_eq!(value(r#"{"a":1,"a":1}"#), Err("a".to_owned()));
        assert_eq!(value(r#"{"a":[{"b":{},"c":1,"b":2}]}"#), Err("b".to_owned()));
        let entries: Entries<u8> = serde_json::from_str(r#"{"a":1,"a":2}"#).unwrap();
        assert_eq!(entries.0, [("a".to_owned(), 1), ("a".to_owned(), 2)]);
    }
}

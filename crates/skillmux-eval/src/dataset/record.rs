//! [`Record`]: one JSON object of a dataset's files, and what its fields hold.

use std::{collections::HashSet, path::Path};

use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use skillmux::skill::SkillId;

use crate::{
    error::Error,
    fault::{Fault, Place},
    file::{for_each_line, parse_line},
};

/// A JSON object, and where it stands.
pub(super) struct Record {
    pub(super) place: Place,
    fields: Map<String, Value>,
}

impl Record {
    fn of_line(path: &Path, line: usize, text: &[u8]) -> Result<Self, Error> {
        let value = parse_line(path, line, text)?;
        Self::of_value(Place::Line { path: path.to_owned(), line }, value)
    }

    /// Returns the record of a value, if it is an object.
    pub(super) fn of_value(place: Place, value: Value) -> Result<Self, Error> {
        match value {
            Value::Object(fields) => Ok(Self { place, fields }),
            _ => Err(Error::Malformed { place, fault: Fault::NotAnObject }),
        }
    }

    /// Returns an error at this record.
    pub(super) fn fault(&self, fault: Fault) -> Error {
        Error::Malformed { place: self.place.clone(), fault }
    }

    /// Returns whether a field is there, and not null.
    pub(super) fn has(&self, field: &str) -> bool {
        self.fields.get(field).is_some_and(|value| !value.is_null())
    }

    /// Returns a field of any kind.
    pub(super) fn value(&self, field: &'static str) -> Result<&Value, Error> {
        let value = self.fields.get(field).filter(|value| !value.is_null());
        value.ok_or_else(|| self.fault(Fault::FieldMissing { field }))
    }

    fn wrong_kind(&self, field: &'static str, expected: &'static str) -> Error {
        self.fault(Fault::FieldKind { field, expected })
    }

    /// Returns a text that is not blank.
    pub(super) fn text(&self, field: &'static str) -> Result<&str, Error> {
        let text = self.value(field)?.as_str();
        let text = text.ok_or_else(|| self.wrong_kind(field, "a text"))?;
        if text.trim().is_empty() {
            return Err(self.fault(Fault::FieldEmpty { field }));
        }
        Ok(text)
    }

    /// Returns a text that may be absent, null or blank.
    pub(super) fn optional_text(&self, field: &'static str) -> Result<Option<&str>, Error> {
        match self.fields.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.trim()).filter(|text| !text.is_empty())),
            Some(_) => Err(self.wrong_kind(field, "a text")),
        }
    }

    /// Returns true or false.
    pub(super) fn flag(&self, field: &'static str) -> Result<bool, Error> {
        let flag = self.value(field)?.as_bool();
        flag.ok_or_else(|| self.wrong_kind(field, "true or false"))
    }

    /// Returns a number of bytes.
    pub(super) fn number(&self, field: &'static str) -> Result<u32, Error> {
        let number = self.value(field)?.as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.wrong_kind(field, "a whole number below 2^32"))
    }

    /// Returns a list.
    pub(super) fn list(&self, field: &'static str) -> Result<&Vec<Value>, Error> {
        let list = self.value(field)?.as_array();
        list.ok_or_else(|| self.wrong_kind(field, "a list"))
    }

    /// Returns an object.
    pub(super) fn object(&self, field: &'static str) -> Result<&Map<String, Value>, Error> {
        let object = self.value(field)?.as_object();
        object.ok_or_else(|| self.wrong_kind(field, "an object"))
    }

    /// Returns the id of a skill, as the engine writes it.
    pub(super) fn id(&self, field: &'static str) -> Result<String, Error> {
        let id = id_of(self.value(field)?);
        let id = id.ok_or_else(|| self.wrong_kind(field, "an id"))?;
        if id.is_empty() {
            return Err(self.fault(Fault::FieldEmpty { field }));
        }
        Ok(id)
    }

    /// Returns the ids of a list: one at least, each once.
    pub(super) fn ids(&self, field: &'static str) -> Result<Vec<String>, Error> {
        let list = self.list(field)?;
        if list.is_empty() {
            return Err(self.fault(Fault::FieldEmpty { field }));
        }
        let mut ids = Vec::with_capacity(list.len());
        let mut seen = HashSet::with_capacity(list.len());
        for value in list {
            let id = id_of(value).filter(|id| !id.is_empty());
            let id = id.ok_or_else(|| self.wrong_kind(field, "a list of ids"))?;
            if !seen.insert(id.clone()) {
                return Err(self.fault(Fault::SkillRepeated { id }));
            }
            ids.push(id);
        }
        Ok(ids)
    }
}

/// Calls `f` with the record of every line.
pub(super) fn for_each_record(
    path: &Path,
    f: &mut dyn FnMut(Record) -> Result<(), Error>,
) -> Result<(), Error> {
    for_each_line(path, &mut |line, text| {
        f(Record::of_line(path, line, text)?)?;
        Ok(true)
    })
}

/// Returns the first record of a file of JSON Lines; `None` if its first line does not begin as an
/// object, or not end as one, as in JSON over several lines.
pub(super) fn first_record(path: &Path) -> Result<Option<Record>, Error> {
    let mut first = None;
    for_each_line(path, &mut |line, text| {
        let begun = serde_json::from_slice::<IgnoredAny>(text);
        let is_cut = begun.is_err_and(|error| error.is_eof());
        if text.starts_with(b"{") && !is_cut {
            first = Some(Record::of_line(path, line, text)?);
        }
        Ok(false)
    })?;
    Ok(first)
}

/// Returns the id that a text or a whole number is.
fn id_of(value: &Value) -> Option<String> {
    match value {
        Value::String(id) => Some(skill_id(id)),
        Value::Number(id) if id.is_u64() => Some(id.to_string()),
        _ => None,
    }
}

/// Returns an id as the engine writes it: without blanks around it and control characters.
pub(super) fn skill_id(id: &str) -> String {
    SkillId::new(id.trim()).as_str().to_owned()
}

//! [`Field`]: the texts of a skill that are searched, and how much of each.

use serde::{Deserialize, Serialize};

/// A searched field of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Field {
    /// The skill's name.
    Name,
    /// What it does and when to use it.
    Description,
    /// The Markdown text.
    Body,
}

impl Field {
    /// All fields, in the order of [`Field::position`].
    pub const ALL: [Self; 3] = [Self::Name, Self::Description, Self::Body];

    /// Returns the name in the schema, in features and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Description => "description",
            Self::Body => "body",
        }
    }

    /// Returns the position in [`Field::ALL`].
    pub fn position(self) -> usize {
        self as usize
    }
}

/// How many bytes of each field are indexed; the rest is stored and paged, but not searched.
///
/// A cap bounds what a skill can gain by being long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldCaps {
    /// Cap of the name.
    pub name_bytes: usize,
    /// Cap of the description.
    pub description_bytes: usize,
    /// Cap of the body.
    pub body_bytes: usize,
}

impl Default for FieldCaps {
    /// Four times what the Agent Skills specification allows for a name and a description, and
    /// about six times the 5,000 tokens that it recommends for a body.
    fn default() -> Self {
        Self { name_bytes: 256, description_bytes: 4 << 10, body_bytes: 128 << 10 }
    }
}

impl FieldCaps {
    /// Returns the part of a field's text that is indexed.
    pub fn capped(self, field: Field, text: &str) -> &str {
        let cap = match field {
            Field::Name => self.name_bytes,
            Field::Description => self.description_bytes,
            Field::Body => self.body_bytes,
        };
        &text[..text.floor_char_boundary(cap)]
    }
}

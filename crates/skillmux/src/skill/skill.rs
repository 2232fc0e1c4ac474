//! [`Skill`]: what its author wrote.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::id::SkillId;

/// One skill as its author wrote it: untrusted text that is stored, ranked and quoted, never run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skill {
    /// Identifier, unique in its library.
    pub id: SkillId,
    /// Name the author gave, or the folder's name where there is none.
    pub name: String,
    /// What the skill does and when to use it; may be empty.
    pub description: String,
    /// Markdown after the front matter, with `\n` line ends.
    pub body: String,
    /// Where the skill comes from: a repository, a marketplace, or the root folder it lay under.
    pub source: String,
}

/// Hash of what a skill says: its name, description and body, but not its id or source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash([u8; 16]);

impl ContentHash {
    /// Returns the hash from its bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Returns the first 128 bits of the BLAKE3 hash.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        // Only what `Display` writes.
        let number = u128::from_str_radix(&text, 16).ok().filter(|_| text.len() == 32);
        let hash = number.map(|number| Self(number.to_be_bytes()));
        hash.filter(|hash| hash.to_string() == text).ok_or("a hash has 32 hexadecimal digits")
    }
}

impl Skill {
    /// Returns the hash of name, description and body.
    pub fn content_hash(&self) -> ContentHash {
        let mut hasher = blake3::Hasher::new();
        for field in [&self.name, &self.description, &self.body] {
            // A length prefix keeps ("ab", "c") apart from ("a", "bc").
            hasher.update(&(field.len() as u64).to_le_bytes());
            hasher.update(field.as_bytes());
        }
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
        ContentHash(bytes)
    }
}

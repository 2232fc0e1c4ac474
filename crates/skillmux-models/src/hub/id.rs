//! [`ModelId`]: what a model is called on a hub.

use std::{fmt, str::FromStr};

/// Longest owner, name or revision.
const MAX_CHARS: usize = 96;

/// The revision that is meant where none is named.
const MAIN: &str = "main";

/// An owner, the name of a model, and perhaps a revision: `OWNER/NAME` or `OWNER/NAME@REVISION`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelId {
    owner: String,
    name: String,
    revision: String,
}

impl ModelId {
    /// Returns the owner and the name, with a slash between them.
    pub fn repository(&self) -> String {
        format!("{}/{}", self.owner, self.name)
    }

    /// Returns the branch, the tag or the commit; `main` where none was named.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// Returns the name of its folder in a cache.
    pub(super) fn folder(&self) -> String {
        format!("models--{}--{}", self.owner, self.name)
    }
}

impl fmt::Display for ModelId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.owner, self.name)?;
        if self.revision == MAIN { Ok(()) } else { write!(f, "@{}", self.revision) }
    }
}

impl FromStr for ModelId {
    type Err = ModelIdMalformed;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (repository, revision) = text.split_once('@').unwrap_or((text, MAIN));
        let (owner, name) = repository.split_once('/').ok_or(ModelIdMalformed)?;
        let is_revision = revision.split('/').all(is_part) && revision.len() <= MAX_CHARS;
        if !(is_part(owner) && is_part(name) && is_revision) {
            return Err(ModelIdMalformed);
        }
        let (owner, name) = (owner.to_owned(), name.to_owned());
        Ok(Self { owner, name, revision: revision.to_owned() })
    }
}

/// Returns whether a text may be an owner or a name, and be part of a path.
fn is_part(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
    begins_well
        && text.len() <= MAX_CHARS
        && text.chars().all(is_plain)
        && !text.contains("..")
        && !text.contains("--")
}

/// A text is no id of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not of the form OWNER/NAME or OWNER/NAME@REVISION")]
pub struct ModelIdMalformed;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_told_from_paths() {
        for text in ["BAAI/bge-m3", "a/b", "Qwen/Qwen3-Embedding-0.6B@refs/pr/7", "a/b@v1.0"] {
            assert_eq!(text.parse::<ModelId>().unwrap().to_string(), text);
        }
        assert_eq!("a/b@main".parse::<ModelId>().unwrap().to_string(), "a/b");
        for text in [
            "", "bge-m3", "/a/b", "./a", "../a", "a/..", "a/b/c", "a/", "/a", "~/a", "a b/c",
            "a/b@", "a/b@../c", "a/b@c//d", "a--b/c", ".a/b", "表/格", "C:\\a/b", "a/b@c@d",
        ] {
            assert!(text.parse::<ModelId>().is_err(), "{text}");
        }
        assert!(format!("a/{}", "b".repeat(97)).parse::<ModelId>().is_err());
    }
}

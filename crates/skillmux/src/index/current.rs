//! [`Current`]: which generation an index is at.

use std::fmt;

use super::layout;

/// What the file `CURRENT` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Current {
    /// Number of the generation.
    pub(crate) generation: u64,
    /// BLAKE3 hash of its manifest in hexadecimal.
    pub(crate) manifest_hash: String,
}

impl Current {
    /// Returns what names a generation with these bytes as its manifest.
    pub(crate) fn of(generation: u64, manifest: &[u8]) -> Self {
        Self { generation, manifest_hash: blake3::hash(manifest).to_hex().to_string() }
    }

    /// Reads the text of the file; `None` if it names no generation.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, hash) = text.trim_end().split_once(' ')?;
        let is_hash = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hash.then_some(())?;
        let generation = layout::parse_generation(name)?;
        Some(Self { generation, manifest_hash: hash.to_owned() })
    }
}

impl fmt::Display for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", layout::generation_name(self.generation), self.manifest_hash)
    }
}

//! [`InferencePrecision`]: in what numbers a network is computed.

use serde::Deserialize;

use super::config::Config;

/// In what numbers the products of a network are computed that is not tuned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[non_exhaustive]
pub enum InferencePrecision {
    /// 32 bits.
    #[default]
    #[serde(rename = "f32")]
    Single,
    /// Bytes: faster, and a quarter of the memory for the layers. Sixty-four weights share a scale,
    /// and so do as many of the numbers that they are multiplied by. How near vectors are to those
    /// of 32 bits stands in docs/published-models.md; on an x86 processor without AVX-512 VNNI they
    /// are less near.
    #[serde(rename = "int8")]
    Int8,
}

impl InferencePrecision {
    /// Returns what tells models of this precision from those of 32 bits.
    pub(super) fn mark(self) -> Option<&'static str> {
        match self {
            Self::Single => None,
            Self::Int8 => Some("int8"),
        }
    }

    /// Returns the name of a network that is computed so.
    pub(super) fn name_of(self, config: &Config) -> String {
        let name = config.name();
        match self.mark() {
            Some(mark) => format!("{name}-{mark}"),
            None => name,
        }
    }
}

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
    /// Bytes: faster, and a quarter of the memory for the layers. Sixty-four weights share a
    /// scale, and so do as many of the numbers that they are multiplied by. Vectors have a cosine of some .9996 to those of
    /// 32 bits (docs/published-models.md); less on an x86 processor without AVX-512 VNNI.
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
        [Some(config.name().as_str()), self.mark()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join("-")
    }
}

//! [`LexicalModel`]: which BM25 is measured.

use skillmux::retrieve::Bm25Config;

/// Which lexical model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LexicalModel {
    /// BM25 over the joined text.
    Joined,
    /// BM25 over weighted fields.
    Fielded,
}

impl LexicalModel {
    /// Returns the name in a spec.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Joined => "bm25",
            Self::Fielded => "fielded",
        }
    }

    /// Returns the constants of the model.
    pub(super) fn config(self) -> Bm25Config {
        match self {
            Self::Joined => Bm25Config::joined_text(),
            Self::Fielded => Bm25Config::default(),
        }
    }
}

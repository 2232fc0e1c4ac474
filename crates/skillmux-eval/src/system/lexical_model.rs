//! [`LexicalModel`]: which BM25 is measured.

use skillmux::{
    index::Field,
    retrieve::{Bm25Config, FieldWeights, QueryRepetition, TermSaturation},
};

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

/// Returns the constants of BM25 as text.
pub(super) fn bm25_config(config: &Bm25Config) -> String {
    let saturation = match config.saturation {
        TermSaturation::PerField => "per-field",
        TermSaturation::Joint => "joint",
        _ => "other",
    };
    let repetition = match config.repetition {
        QueryRepetition::Linear => "linear",
        QueryRepetition::Logarithmic => "logarithmic",
        _ => "other",
    };
    let fields = Field::ALL.map(|field| {
        let FieldWeights { weight, k1, b } = config.fields[field.position()];
        format!("{}={weight}/{k1}/{b}", field.as_str())
    });
    format!("bm25 weight/k1/b {} saturation={saturation} repetition={repetition}", fields.join(" "))
}

//! [`QueryTraits`]: what the weights of features depend on.

use super::FeatureWeight;
use crate::retrieve::{QUERY_LENGTH, QUERY_LIBRARY, QUERY_SPACELESS, QUERY_UNCOVERED, Signals};

/// What is known of a query before its candidates are ranked; each in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct QueryTraits {
    /// 0 for a sentence, 1 for a task of several paragraphs.
    pub length: f32,
    /// 1 for writing without spaces, else 0.
    pub spaceless: f32,
    /// Share of the query that no skill has: high for a task in other words than the skills'.
    pub uncovered: f32,
    /// Size of the library, by its logarithm; 1 for 100,000 skills.
    pub library: f32,
}

/// [`QueryTraits::library`] of 10,000 skills.
const LIBRARY_OF_10_000: f32 = 0.8;

impl QueryTraits {
    /// Returns the traits that the signals of any candidate of the query tell; 0 for those that
    /// they do not.
    pub fn of(signals: &Signals) -> Self {
        let of = |name| signals.get(name).unwrap_or(0.0);
        Self {
            length: of(QUERY_LENGTH),
            spaceless: of(QUERY_SPACELESS),
            uncovered: of(QUERY_UNCOVERED),
            library: of(QUERY_LIBRARY),
        }
    }

    /// Returns how far the library is above 10,000 skills, by its logarithm: 0 up to there, 1 for
    /// 100,000.
    pub fn crowd(&self) -> f32 {
        (self.library - LIBRARY_OF_10_000).max(0.0) / (1.0 - LIBRARY_OF_10_000)
    }

    /// Returns what the parts of a [`FeatureWeight`] are multiplied by, in the order of its fields.
    pub fn factors(&self) -> [f32; FeatureWeight::N] {
        let Self { length, spaceless, uncovered, library } = *self;
        let crowd = self.crowd();
        let factors = FeatureWeight {
            base: 1.0,
            length,
            spaceless,
            uncovered,
            library,
            long_uncovered: length * uncovered,
            long_library: length * library,
            crowd,
            long_crowd: length * crowd,
        };
        factors.to_array()
    }
}

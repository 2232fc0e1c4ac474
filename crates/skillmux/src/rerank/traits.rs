//! [`QueryTraits`]: what the weights of features depend on.

use super::FeatureWeight;
use crate::retrieve::{
    QUERY_LENGTH, QUERY_LIBRARY, QUERY_SPACELESS, QUERY_TRANSFORMER, QUERY_UNCOVERED, Signals,
};

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
    /// How much of it a transformer read; 0 without one.
    pub read: f32,
}

/// [`QueryTraits::library`] of 1,000 skills.
const LIBRARY_OF_1_000: f32 = 0.6;

/// [`QueryTraits::library`] of 10,000 skills.
const LIBRARY_OF_10_000: f32 = 0.8;

/// [`QueryTraits::transformer_share`] in a library of 100,000 skills, for a query that was read as a
/// whole. Set by hand.
const TRANSFORMER_SHARE_OF_LARGEST: f32 = 0.7;

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
            read: of(QUERY_TRANSFORMER),
        }
    }

    /// Returns how far the weights with a transformer count beside those without one, in `[0, 1]`.
    ///
    /// In a library of up to 1,000 skills it is 1, and in one of 100,000 it is 0.7 times the share
    /// of the query that was read; between them it goes over with the logarithm of the size. Among
    /// many skills chance finds texts near to anything, and what was not read may matter.
    pub fn transformer_share(&self) -> f32 {
        if self.read <= 0.0 {
            return 0.0;
        }
        1.0 - self.beyond(LIBRARY_OF_1_000) * (1.0 - TRANSFORMER_SHARE_OF_LARGEST * self.read)
    }

    /// Returns how far the library is above 10,000 skills, by its logarithm: 0 up to there, 1 for
    /// 100,000.
    pub fn crowd(&self) -> f32 {
        self.beyond(LIBRARY_OF_10_000)
    }

    /// Returns how far the library is above one of this [`library`](Self::library): 0 up to there,
    /// 1 for 100,000 skills.
    fn beyond(&self, start: f32) -> f32 {
        (self.library - start).max(0.0) / (1.0 - start)
    }

    /// Returns what the parts of a [`FeatureWeight`] are multiplied by, in the order of its fields.
    pub fn factors(&self) -> [f32; FeatureWeight::N] {
        let Self { length, spaceless, uncovered, library, read: _ } = *self;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transformer_counts_less_in_a_large_library_and_for_what_it_did_not_read() {
        let of = |n_skills: f32, read| {
            let traits =
                QueryTraits { library: n_skills.log10() / 5.0, read, ..Default::default() };
            traits.transformer_share()
        };
        for (n_skills, read, share) in [
            (100.0, 0.0, 0.0),
            (100_000.0, 0.0, 0.0),
            (100.0, 1.0, 1.0),
            (100.0, 0.2, 1.0),
            (1_000.0, 0.5, 1.0),
            (10_000.0, 1.0, 0.85),
            (10_000.0, 0.5, 0.675),
            (100_000.0, 1.0, 0.7),
            (100_000.0, 0.5, 0.35),
        ] {
            let found = of(n_skills, read);
            assert!((found - share).abs() < 1e-5, "{n_skills} skills, {read} read: {found}");
        }
    }
}

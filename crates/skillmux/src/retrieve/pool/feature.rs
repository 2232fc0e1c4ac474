//! [`Feature`]: what is measured of a candidate.

/// Signal of the length of a query: 0 for a sentence, 1 for a task of several paragraphs, in `[0,
/// 1]`.
pub const QUERY_LENGTH: &str = "query.length";

/// Signal of the writing of a query: 1 for one without spaces, else 0.
pub const QUERY_SPACELESS: &str = "query.spaceless";

/// Signal of how much of a query no skill has: 1 minus the highest [`Feature::Coverage`], in `[0,
/// 1]`.
pub const QUERY_UNCOVERED: &str = "query.uncovered";

/// Signal of the size of the library: the logarithm to base 10 of 1 plus the number of skills, as a
/// share of 5, in `[0, 1]`; 1 for 100,000 skills and more.
pub const QUERY_LIBRARY: &str = "query.library";

/// Signal of the highest mean cosine of a query with a candidate's parts; 0 without vectors.
pub(crate) const BEST_COSINE: &str = "query.best_cosine";

/// Signal of how far that is above the mean over all candidates.
pub(crate) const COSINE_RISE: &str = "query.cosine_rise";

/// Signal of how much of the query the transformer read, in `[0, 1]`: 0 without one, and for a
/// query in a writing that it does not know.
pub const QUERY_TRANSFORMER: &str = "query.transformer";

/// Signal of the highest cosine of a query with a candidate's text by the transformer; 0 without
/// one.
pub(crate) const BEST_TEXT_COSINE: &str = "query.best_text_cosine";

/// Signal of how far that is above the mean over all candidates.
pub(crate) const TEXT_COSINE_RISE: &str = "query.text_cosine_rise";

/// Signal of how likely the query asks for work: the log-odds of
/// [`WorkWeights`](crate::retrieve::WorkWeights) as a share of their limit, in `[-1, 1]`; 0 without
/// such weights.
pub(crate) const QUERY_WORK: &str = "query.work";

/// The features of one candidate, in the order of [`Feature::ALL`].
pub(super) type FeatureRow = [f32; Feature::ALL.len()];

/// Signals that are the same for all candidates of a query.
#[derive(Debug, Clone, Copy)]
pub(super) struct OfQuery {
    pub(super) length: f32,
    pub(super) spaceless: f32,
    pub(super) best_cosine: f32,
    pub(super) cosine_rise: f32,
    pub(super) read_share: f32,
    pub(super) best_text_cosine: f32,
    pub(super) text_cosine_rise: f32,
    pub(super) uncovered: f32,
    pub(super) library: f32,
    pub(super) work: f32,
}

impl OfQuery {
    const NAMES: [&str; 10] = [
        QUERY_LENGTH,
        QUERY_SPACELESS,
        BEST_COSINE,
        COSINE_RISE,
        QUERY_TRANSFORMER,
        BEST_TEXT_COSINE,
        TEXT_COSINE_RISE,
        QUERY_UNCOVERED,
        QUERY_LIBRARY,
        QUERY_WORK,
    ];

    /// Returns the values, in the order of their names.
    pub(super) fn values(self) -> [f32; Self::NAMES.len()] {
        [
            self.length,
            self.spaceless,
            self.best_cosine,
            self.cosine_rise,
            self.read_share,
            self.best_text_cosine,
            self.text_cosine_rise,
            self.uncovered,
            self.library,
            self.work,
        ]
    }
}

/// Returns the names of both, those of candidates first.
const fn joined<const N: usize, const M: usize, const ALL: usize>(
    of_candidate: [&'static str; N],
    of_query: [&'static str; M],
) -> [&'static str; ALL] {
    let mut all = [""; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < N { of_candidate[at] } else { of_query[at - N] };
        at += 1;
    }
    all
}

macro_rules! candidate_features {
    ($($(#[$doc:meta])* $variant:ident: $name:literal, $group:ident;)*) => {
        /// A number about a candidate, compared with the other candidates of the query where it is
        /// called relative. All are within `[-1, 2]`, most of them within `[0, 1]`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Feature {
            $($(#[$doc])* $variant,)*
        }

        impl Feature {
            /// All features, in the order of signals.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// Returns the name in weights, explanations and JSON.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// Returns the group with which it is switched off.
            pub fn group(self) -> FeatureGroup {
                match self {
                    $(Self::$variant => FeatureGroup::$group,)*
                }
            }
        }

        /// Names of all signals of a candidate: its features, and what is the same for all
        /// candidates.
        pub(super) const SIGNALS: [&str; Feature::ALL.len() + OfQuery::NAMES.len()] =
            joined([$($name),*], OfQuery::NAMES);
    };
}

candidate_features! {
    /// BM25 of the whole query, relative to the best candidate.
    Bm25: "bm25", Words;
    /// BM25 of the whole query as a share of the most that its terms could give.
    Bm25Share: "bm25.share", Words;
    /// Place by BM25: 1 for the first, falling with its logarithm.
    Bm25Rank: "bm25.rank", Words;
    /// BM25 of the name, relative.
    Name: "bm25.name", Fields;
    /// BM25 of the description, relative.
    Description: "bm25.description", Fields;
    /// BM25 of the body, relative.
    Body: "bm25.body", Fields;
    /// BM25 of the description as a share of the most that the terms could give there.
    DescriptionShare: "bm25.description_share", Fields;
    /// The same of the body.
    BodyShare: "bm25.body_share", Fields;
    /// BM25 of name and description where a term counts more the more it is said in descriptions
    /// than in bodies, relative: such words are about the work, others about its circumstances.
    TaskWordsHeadline: "task_words.headline", TaskWords;
    /// The same of the body.
    TaskWordsBody: "task_words.body", TaskWords;
    /// Share of the query's terms that the skill holds, by weight.
    Coverage: "coverage", Coverage;
    /// Share of the query's terms that name and description hold, by weight.
    HeadlineCoverage: "coverage.headline", Coverage;
    /// Share of the five weightiest terms that the skill holds, by weight.
    RareCoverage: "coverage.rare", Coverage;
    /// Share of the name's terms that the query holds.
    NamePrecision: "name.precision", Names;
    /// Whether the query holds all terms of a name of two and more.
    NameWhole: "name.whole", Names;
    /// Share of the query's neighbouring terms that are neighbours in the name, by weight.
    NamePhrases: "phrases.name", Phrases;
    /// The same in the description.
    DescriptionPhrases: "phrases.description", Phrases;
    /// Share of the description's terms that are the query's.
    DescriptionPrecision: "description.precision", Phrases;
    /// How far the description is in the writing of the query: 1 minus the difference of their
    /// shares of Chinese, kana and Hangul.
    SameWriting: "same_writing", Language;
    /// The best relative score that the skill has for a clause, times the clause's weight.
    ClauseBest: "clauses.best", Clauses;
    /// Weight of the clauses for which the skill is the first, at most 2, halved.
    ClauseWins: "clauses.wins", Clauses;
    /// Mean reciprocal place over the clauses, by weight.
    ClauseVotes: "clauses.votes", Clauses;
    /// BM25 of the clauses that are about the work itself, added, relative.
    ClauseFocus: "clauses.focus", Clauses;
    /// The best cosine with a clause, times the clause's weight.
    ClauseCosine: "clauses.cosine", DenseClauses;
    /// The best score of words and cosine for a clause, both relative, times the clause's weight.
    ClauseHybridBest: "clauses.hybrid_best", DenseClauses;
    /// Mean reciprocal place by that score over the clauses, by weight.
    ClauseHybridVotes: "clauses.hybrid_votes", DenseClauses;
    /// Cosine of name and description with the query, if above 0.
    DenseDescription: "dense.description", Dense;
    /// Cosine of the body with the query, if above 0.
    DenseBody: "dense.body", Dense;
    /// Mean of both cosines, relative.
    Dense: "dense", Dense;
    /// Place by the mean of both cosines, as for BM25.
    DenseRank: "dense.rank", Dense;
    /// Score share of BM25 plus a fifth of the mean cosine, relative: agreement of both.
    Hybrid: "hybrid", Dense;
    /// How far the description is in another writing than the query: 1 minus `same_writing`. Words
    /// tell little then, and the following features take their place.
    Crossing: "crossing", Crossing;
    /// [`Feature::DenseDescription`] times [`Feature::Crossing`].
    CrossingDescription: "crossing.dense_description", Crossing;
    /// [`Feature::DenseBody`] times [`Feature::Crossing`].
    CrossingBody: "crossing.dense_body", Crossing;
    /// [`Feature::Dense`] times [`Feature::Crossing`].
    CrossingDense: "crossing.dense", Crossing;
    /// [`Feature::DenseRank`] times [`Feature::Crossing`].
    CrossingRank: "crossing.dense_rank", Crossing;
    /// [`Feature::Transformer`] times [`Feature::Crossing`].
    CrossingTransformer: "crossing.transformer", Crossing;
    /// [`Feature::TransformerGap`] times [`Feature::Crossing`].
    CrossingTransformerGap: "crossing.transformer_gap", Crossing;
    /// [`Feature::TransformerRank`] times [`Feature::Crossing`].
    CrossingTransformerRank: "crossing.transformer_rank", Crossing;
    /// Cosine of the text with the query by the transformer, if above 0; the mean of the others for
    /// a text in a writing that it does not know.
    Transformer: "transformer", Transformer;
    /// How far that is below the best candidate's, from -1.
    TransformerGap: "transformer.gap", Transformer;
    /// Place by it, as for BM25.
    TransformerRank: "transformer.rank", Transformer;
    /// Whether it is the best by it.
    TransformerFirst: "transformer.first", Transformer;
}

/// Features that are switched off together, to see what they are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FeatureGroup {
    /// BM25 of the whole query.
    Words,
    /// BM25 field by field.
    Fields,
    /// BM25 of the words that tell tasks apart.
    TaskWords,
    /// How many of the query's terms a skill holds.
    Coverage,
    /// How many of the name's terms the query holds.
    Names,
    /// Neighbouring words in name and description.
    Phrases,
    /// The writing of query and skill.
    Language,
    /// Words of the clauses.
    Clauses,
    /// Cosines of the clauses.
    DenseClauses,
    /// Cosines of the whole query.
    Dense,
    /// Cosines of skills in another writing.
    Crossing,
    /// Cosines by the transformer.
    Transformer,
}

impl FeatureGroup {
    /// All groups.
    pub const ALL: [Self; 12] = [
        Self::Words,
        Self::Fields,
        Self::TaskWords,
        Self::Coverage,
        Self::Names,
        Self::Phrases,
        Self::Language,
        Self::Clauses,
        Self::DenseClauses,
        Self::Dense,
        Self::Crossing,
        Self::Transformer,
    ];

    /// Returns the name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Fields => "fields",
            Self::TaskWords => "task-words",
            Self::Coverage => "coverage",
            Self::Names => "names",
            Self::Phrases => "phrases",
            Self::Language => "language",
            Self::Clauses => "clauses",
            Self::DenseClauses => "dense-clauses",
            Self::Dense => "dense",
            Self::Crossing => "crossing",
            Self::Transformer => "transformer",
        }
    }

    /// Returns whether it needs the vectors of the small encoder.
    pub fn needs_vectors(self) -> bool {
        matches!(self, Self::Dense | Self::DenseClauses | Self::Crossing)
    }
}

impl Feature {
    /// Sets the value of the feature in a row.
    pub(super) fn set(self, row: &mut FeatureRow, value: f32) {
        row[self as usize] = value;
    }
}

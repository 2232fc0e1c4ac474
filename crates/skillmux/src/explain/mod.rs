//! Why a skill has its place in a ranking.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Feature of a skill that the task names.
pub(crate) const EXACT_NAME: &str = "exact_name";

/// One summand of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contribution {
    /// Name of the feature, such as `bm25.description` or `exact_name`.
    pub feature: String,
    /// What it adds to the score.
    pub value: f32,
}

/// The reasons for a score.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Summands of the score; they add up to it within rounding.
    pub contributions: Vec<Contribution>,
    /// Words of the task that occur in the skill, rarest first, as the task writes them.
    pub matched: Vec<String>,
    /// Words of the task that do not occur in the skill, rarest first. Chinese that no skill of
    /// the library holds is left out: two neighbouring characters are mostly no word.
    pub missing: Vec<String>,
    /// Share of the task's words that occur in the skill, weighted by rarity, in `[0, 1]`. What
    /// [`missing`](Self::missing) leaves out is no word here.
    pub coverage: f32,
    /// What the words of the task add to the score, as a share of the most that they could, in
    /// `[0, 1)`. All words count, and a name in the task does not.
    pub score_share: f32,
    /// Share of what the words of the task add that comes from name and description, in `[0, 1]`.
    pub headline_share: f32,
    /// Number of distinct terms of the task.
    pub n_terms: u32,
    /// What the confidence rests on besides.
    #[serde(default)]
    pub grounds: Grounds,
}

/// What says whether a skill helps, beside the words that it shares with the task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Grounds {
    /// The most that a clause of the task has of the score that its terms could give, times
    /// `ln(1 + terms)` of it and its weight: what surrounds a request does not lower it.
    pub clause_mass: f32,
    /// Terms of the body, as the index counts them.
    pub body_terms: u32,
    /// Highest mean of the cosines of the task with name and description and with the body, over
    /// all candidates; 0 without vectors.
    pub best_cosine: f32,
    /// How far that is above the mean over all candidates.
    pub cosine_rise: f32,
    /// Place of the skill by that mean: 1 for the first, falling to 0 near the four hundredth; 0
    /// without vectors.
    pub vector_rank: f32,
}

//! [`Explanation`]: why a skill has its place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::retrieve::{BEST_COSINE, COSINE_RISE, Candidate, Contribution, Feature};

/// Feature of a skill that the task names.
pub(crate) const EXACT_NAME: &str = "exact_name";

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
    /// Share of the subjects that the task names which the skill lacks, in `[0, 1)`.
    #[serde(default)]
    pub subjects_lacked: f32,
    /// Log-odds that the skill serves the task, as a verifier says that read both; 0 where none was
    /// asked.
    #[serde(default)]
    pub serves: f32,
}

impl Explanation {
    /// Returns the explanation of a candidate whose words were read.
    pub(crate) fn of(candidate: &Candidate, contributions: Vec<Contribution>) -> Self {
        let words = candidate.signals.words.clone().unwrap_or_default();
        let headline_share = words.headline_share();
        Self {
            contributions,
            headline_share,
            matched: words.matched,
            missing: words.missing,
            coverage: words.coverage,
            score_share: words.score_share,
            n_terms: words.n_terms,
            grounds: Grounds::of(candidate),
        }
    }

    /// Returns what the contributions add up to.
    pub fn total(&self) -> f32 {
        self.contributions.iter().map(|part| part.value).sum()
    }
}

impl Grounds {
    /// Returns the grounds of a candidate whose words were read; what was not measured is 0.
    pub(crate) fn of(candidate: &Candidate) -> Self {
        let measured = |name| candidate.signals.get(name).unwrap_or(0.0);
        let words = candidate.signals.words.as_ref();
        Self {
            clause_mass: words.map_or(0.0, |words| words.clause_mass),
            body_terms: words.map_or(0, |words| words.body_terms),
            best_cosine: measured(BEST_COSINE),
            cosine_rise: measured(COSINE_RISE),
            vector_rank: measured(Feature::DenseRank.as_str()),
            subjects_lacked: words.map_or(0.0, |words| words.subjects_lacked),
            serves: candidate.signals.serves.unwrap_or(0.0),
        }
    }
}

//! Scores of held-out queries, before and after they are ranked again.

use serde::Serialize;
use skillmux::{rerank::FeatureWeights, retrieve::Feature, skill::SkillId};

use super::data::{FeatureRow, List, Lists};
use crate::split::Fold;

/// How one query was answered.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct RankerScores {
    /// Whether a right skill is the first.
    pub hit_at_1: f32,
    /// One by the place of the first right skill, if that is within ten.
    pub mrr_at_10: f32,
    /// Share of the right skills within ten.
    pub recall_at_10: f32,
    /// Whether all right skills are within ten.
    pub full_coverage_at_10: f32,
}

/// A query whose skills are in another writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Across {
    /// The description of a skill, whose twin is right.
    Description,
    /// A task.
    Task,
}

/// The scores of one held-out query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueryScores {
    /// The query.
    pub query: String,
    /// Whether it is a task of several sentences.
    pub is_long: bool,
    /// Whether it is written without spaces.
    pub is_spaceless: bool,
    /// What it is, if all right skills are in another writing than the query.
    pub across: Option<Across>,
    /// The right skills.
    pub right: Vec<SkillId>,
    /// Share of the right skills that are candidates: what ranking cannot exceed.
    pub candidates: f32,
    /// BM25 alone.
    pub bm25: RankerScores,
    /// BM25 and cosines, added.
    pub hybrid: RankerScores,
    /// The ranker with vectors.
    pub ranker: RankerScores,
    /// The ranker with words alone.
    pub ranker_without_vectors: RankerScores,
}

/// A part of the held-out queries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QuerySlice {
    /// One or a few sentences.
    Short,
    /// A task of several sentences that one skill answers.
    LongOneSkill,
    /// A task of several sentences that needs several skills.
    LongSeveral,
    /// A Chinese description, whose English skill is right.
    ChineseToEnglish,
    /// An English description, whose Chinese skill is right.
    EnglishToChinese,
    /// A Chinese task for English skills.
    ChineseForEnglish,
    /// An English task for Chinese skills.
    EnglishForChinese,
    /// Short, and written without spaces.
    ShortSpaceless,
    /// A task of several sentences, written without spaces.
    LongSpaceless,
}

impl QuerySlice {
    /// Every slice, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::Short,
        Self::LongOneSkill,
        Self::LongSeveral,
        Self::ChineseToEnglish,
        Self::EnglishToChinese,
        Self::ChineseForEnglish,
        Self::EnglishForChinese,
        Self::ShortSpaceless,
        Self::LongSpaceless,
    ];

    /// Returns the name, such as `long, one skill`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::LongOneSkill => "long, one skill",
            Self::LongSeveral => "long, several",
            Self::ChineseToEnglish => "Chinese to English",
            Self::EnglishToChinese => "English to Chinese",
            Self::ChineseForEnglish => "Chinese, English skill",
            Self::EnglishForChinese => "English, Chinese skill",
            Self::ShortSpaceless => "short, no spaces",
            Self::LongSpaceless => "long, no spaces",
        }
    }

    /// Returns whether a query is in the slice.
    pub fn has(self, scores: &QueryScores) -> bool {
        let QueryScores { is_long, is_spaceless, across, .. } = *scores;
        let is_task = is_long && across.is_none();
        let is_short = !is_long && across.is_none();
        let is_description_across = across == Some(Across::Description);
        let is_task_across = across == Some(Across::Task);
        match self {
            Self::Short => is_short,
            Self::LongOneSkill => is_task && scores.right.len() == 1,
            Self::LongSeveral => is_task && scores.right.len() > 1,
            Self::ChineseToEnglish => is_description_across && is_spaceless,
            Self::EnglishToChinese => is_description_across && !is_spaceless,
            Self::ChineseForEnglish => is_task_across && is_spaceless,
            Self::EnglishForChinese => is_task_across && !is_spaceless,
            Self::ShortSpaceless => is_short && is_spaceless,
            Self::LongSpaceless => is_task && is_spaceless,
        }
    }
}

impl RankerScores {
    /// Returns the scores of a list in the order of falling numbers; ties keep their order.
    fn of(list: &List, number: impl Fn(&FeatureRow) -> f32) -> Self {
        let numbers: Vec<f32> = list.rows.iter().map(number).collect();
        let mut order: Vec<usize> = (0..numbers.len()).collect();
        order.sort_by(|a, b| numbers[*b].total_cmp(&numbers[*a]));
        let is_right = |at: &usize| list.right.contains(at);
        let first = order.iter().take(10).position(is_right);
        let n_found = order.iter().take(10).filter(|at| is_right(at)).count();
        Self {
            hit_at_1: f32::from(u8::from(first == Some(0))),
            mrr_at_10: first.map_or(0.0, |place| 1.0 / (place as f32 + 1.0)),
            recall_at_10: n_found as f32 / list.n_right() as f32,
            full_coverage_at_10: f32::from(u8::from(n_found == list.n_right())),
        }
    }

    /// Returns the means; all 0 for no scores.
    pub fn mean(scores: &[Self]) -> Self {
        let n = f32::max(scores.len() as f32, 1.0);
        let of = |number: fn(&Self) -> f32| scores.iter().map(number).sum::<f32>() / n;
        Self {
            hit_at_1: of(|scores| scores.hit_at_1),
            mrr_at_10: of(|scores| scores.mrr_at_10),
            recall_at_10: of(|scores| scores.recall_at_10),
            full_coverage_at_10: of(|scores| scores.full_coverage_at_10),
        }
    }
}

/// Scores the lists that are held out.
pub(super) fn scores(lists: &Lists, weights: &FeatureWeights) -> Vec<QueryScores> {
    let score = |list: &List| {
        let weights = Feature::ALL.map(|feature| weights.get(feature.as_str()).of(&list.traits));
        let ranked = |row: &FeatureRow| row.iter().zip(&weights).map(|(x, w)| x * w).sum();
        let kind = if list.is_translation() { Across::Description } else { Across::Task };
        QueryScores {
            query: list.query.clone(),
            is_long: list.is_long(),
            is_spaceless: list.is_spaceless(),
            across: list.is_across.then_some(kind),
            right: list.right_ids.clone(),
            candidates: list.right.len() as f32 / list.n_right() as f32,
            bm25: RankerScores::of(list, |row| row[Feature::Bm25 as usize]),
            hybrid: RankerScores::of(list, |row| row[Feature::Hybrid as usize]),
            ranker: RankerScores::of(list, ranked),
            ranker_without_vectors: RankerScores::default(),
        }
    };
    lists.fold(Fold::HeldOut).map(score).collect()
}

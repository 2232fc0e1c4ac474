//! [`AskingWeights`]: tells the pieces of a task that ask for something from those that tell what
//! happened, where things are, or how the result is judged.

mod piece;

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::has_many_words;
use crate::model::probability;

pub use piece::{N_ASKING_FEATURES, Piece, pieces};

/// Weights of a logistic regression, in hundredths, over [`Piece::features`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<i16>", into = "Vec<i16>")]
pub struct AskingWeights(Vec<i16>);

impl AskingWeights {
    /// Returns the model of weights; `None` unless there are [`N_ASKING_FEATURES`].
    pub fn new(weights: Vec<i16>) -> Option<Self> {
        (weights.len() == N_ASKING_FEATURES).then_some(Self(weights))
    }

    /// Returns how likely a piece with these features asks for something, in `[0, 1]`. Features that
    /// are too large are passed over.
    pub fn probability(&self, features: &[u16]) -> f32 {
        let weights = features.iter().filter_map(|at| self.0.get(usize::from(*at)));
        let hundredths: i32 = weights.map(|weight| i32::from(*weight)).sum();
        probability(hundredths as f32 / 100.0)
    }
}

/// Probability above which a piece likely asks for something. This and the next two were chosen on
/// one half of `long-requests.jsonl` of `datasets/`, with weights that were fitted to the other half,
/// and the other way round.
const ASKS: f32 = 0.5;

/// If more pieces than this likely ask, the task is taken for a specification, all of which is wanted.
const MAX_ASKING: usize = 8;

/// The same if they have more than this share of its bytes.
const MAX_ASKING_SHARE: f32 = 0.4;

/// Least probability of a piece that begins with words of a wish.
const WISH: f32 = 0.6;

/// Beginnings of a wish, and those that only look so: `please find attached`.
static WISH_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*((so|and|but|then|now)\W+)?(please|(can|could|would|will) you( please)?|i(['’]d| would) like you to|i (need|want) you to)\s+\w|^\W*(请你?|請你?|麻烦你?|麻煩你?|劳烦|帮我|幫我|帮忙|幫忙)",
    )
});
static NO_WISH_WORDS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^\W*((so|and|but|then|now)\W+)?(please|(can|could|would|will) you( please)?)\s+(be|bear|contact|delete|do not|don['’]t|excuse|feel|find|forgive|imagine|keep|let|never|not|note|notify|refer|remember|reply|see)\b|^\W*(请|請)(问|問|勿|不|您|知悉|见|見|查收|注意|放心|各|大家)",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is right")
}

fn begins_with_wish(text: &str) -> bool {
    WISH_WORDS.is_match(text) && !NO_WISH_WORDS.is_match(text)
}

/// A piece of a task, and how likely it asks for something.
pub(crate) type Judged = (Piece, f32);

/// Returns the pieces of a long task of which most is background, and how likely each asks for
/// something; `None` for a task that is not long, that asks for nothing, or much of which asks.
pub(crate) fn judged(task: &str, weights: &AskingWeights) -> Option<Vec<Judged>> {
    if !has_many_words(task) {
        return None;
    }
    let judge = |piece: Piece| {
        let probability = weights.probability(&piece.features);
        let is_wish = begins_with_wish(&task[piece.range.clone()]);
        (piece, if is_wish { probability.max(WISH) } else { probability })
    };
    let judged: Vec<Judged> = pieces(task).into_iter().map(judge).collect();
    let (mut n_asking, mut n_bytes) = (0, 0);
    for (piece, _) in judged.iter().filter(|(_, asks)| likely_asks(*asks)) {
        n_asking += 1;
        n_bytes += piece.range.len();
    }
    let is_little = n_bytes as f32 <= MAX_ASKING_SHARE * task.len() as f32;
    ((1..=MAX_ASKING).contains(&n_asking) && is_little).then_some(judged)
}

/// Returns whether what asks for something with this probability likely does.
pub(crate) fn likely_asks(probability: f32) -> bool {
    probability > ASKS
}

impl TryFrom<Vec<i16>> for AskingWeights {
    type Error = String;

    fn try_from(weights: Vec<i16>) -> Result<Self, String> {
        Self::new(weights).ok_or_else(|| format!("there must be {N_ASKING_FEATURES} weights"))
    }
}

impl From<AskingWeights> for Vec<i16> {
    fn from(AskingWeights(weights): AskingWeights) -> Self {
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_wish_are_told_from_courtesy() {
        for wish in
            ["Please make slides.", "So, could you please merge these?", "- 请你整理这份报告"]
        {
            assert!(begins_with_wish(wish), "{wish}");
        }
        for other in
            ["Please find the plan attached.", "请勿回复", "You can see it.", "Can you see it?"]
        {
            assert!(!begins_with_wish(other), "{other}");
        }
        let story = "The harbour has nine piers. ".repeat(50);
        let task = format!("{story}Please count the ships.");
        let silent = AskingWeights::new(vec![-100; N_ASKING_FEATURES]).unwrap();
        let asking: Vec<f32> = judged(&task, &silent).unwrap().into_iter().map(|it| it.1).collect();
        assert!(asking[..50].iter().all(|asks| *asks < 0.1), "{asking:?}");
        assert_eq!(asking[50..], [WISH]);
    }

    #[test]
    fn a_probability_is_that_of_the_sum_of_the_weights() {
        let mut weights = vec![0; N_ASKING_FEATURES];
        (weights[0], weights[7]) = (-100, 300);
        let weights = AskingWeights::new(weights).unwrap();
        assert!((weights.probability(&[0]) - 0.268_941).abs() < 1e-5);
        assert!((weights.probability(&[0, 7]) - 0.880_797).abs() < 1e-5);
        assert_eq!(AskingWeights::new(vec![0; 3]), None);
        assert!(serde_json::from_str::<AskingWeights>("[1, 2]").is_err());
    }
}

//! [`RankerOptions`]: how weights are fitted.

use serde::{Deserialize, Serialize};
use skillmux::retrieve::FeatureGroup;

/// What is made small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RankerLoss {
    /// Minus the log of the share of a right skill in the softmax over its list (`SkillRouter`
    /// Eq. 2); of several right skills each has a softmax of its own, without the others.
    Listwise,
    /// Binary cross-entropy of each candidate by itself (`SkillRouter` Eq. 3).
    Pointwise,
}

/// How candidates count that nearly repeat a right skill.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NearDuplicates {
    /// As wrong.
    Wrong,
    /// Not at all.
    LeftOut,
    /// As right, with this grade beside 1 for the skill itself (R3 grades what was rejected, too).
    Graded(f32),
}

impl NearDuplicates {
    /// A grade of 0.2.
    pub const GRADED: Self = Self::Graded(0.2);
}

/// How the weights are fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct RankerOptions {
    /// What is made small.
    pub loss: RankerLoss,
    /// How near-duplicates of right skills count.
    pub near_duplicates: NearDuplicates,
    /// Penalty on the squares of standardised weights.
    pub penalty: f32,
    /// Most steps of the optimiser; the best on the validation part are kept.
    pub n_steps: usize,
    /// Size of the first step.
    pub learning_rate: f32,
    /// Groups of features that get no weight.
    pub without: Vec<FeatureGroup>,
}

impl Default for RankerOptions {
    /// Chosen on queries that were not held out; see `docs/ranking.md`.
    fn default() -> Self {
        Self {
            loss: RankerLoss::Listwise,
            near_duplicates: NearDuplicates::Wrong,
            penalty: 0.01,
            n_steps: 300,
            learning_rate: 0.05,
            without: Vec::new(),
        }
    }
}

impl RankerOptions {
    /// Returns what shows the worth of each part, by name: without each group of features, with the
    /// other loss, and with near-duplicates counted otherwise.
    pub fn ablations(&self) -> Vec<(String, Self)> {
        let mut variants = Vec::new();
        for group in FeatureGroup::ALL {
            let without = [self.without.as_slice(), &[group]].concat();
            variants
                .push((format!("without {}", group.as_str()), Self { without, ..self.clone() }));
        }
        let pointwise = Self { loss: RankerLoss::Pointwise, ..self.clone() };
        variants.push(("pointwise loss".to_owned(), pointwise));
        for (name, near_duplicates) in [
            ("near-duplicates left out", NearDuplicates::LeftOut),
            ("near-duplicates graded", NearDuplicates::GRADED),
        ] {
            variants.push((name.to_owned(), Self { near_duplicates, ..self.clone() }));
        }
        variants
    }
}

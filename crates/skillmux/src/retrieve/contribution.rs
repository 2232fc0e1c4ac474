//! [`Contribution`]: one summand of a score.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One summand of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Contribution {
    /// Name of the feature, such as `bm25.description` or `exact_name`.
    pub feature: String,
    /// What it adds to the score.
    pub value: f32,
}

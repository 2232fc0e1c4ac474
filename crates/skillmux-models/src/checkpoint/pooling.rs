//! [`Pooling`]: how states of tokens become a vector.

use serde::Deserialize;

/// Which states of tokens become the vector of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Pooling {
    #[serde(alias = "cls")]
    First,
    Mean,
    #[serde(alias = "lasttoken")]
    Last,
}

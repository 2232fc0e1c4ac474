//! [`EpochLine`]: a line of the log.

use serde::{Deserialize, Serialize};

/// What an epoch did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochLine {
    /// Number of the epoch, from 1.
    pub epoch: usize,
    /// Mean loss of its steps.
    pub loss: f32,
    /// Set F1 of the validation tasks, with weights of Eq. 4.4 that are not fitted yet.
    pub set_f1: f64,
}

//! What models of plain numbers have in common.

use serde::Serialize;

/// Returns the probability in `[0, 1]` whose log-odds these are.
pub(crate) fn probability(log_odds: f32) -> f32 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Returns a short text that tells these weights from others: 16 digits of a hash of their JSON.
pub(crate) fn fingerprint(weights: &impl Serialize) -> String {
    // What does not serialise has no number to tell it by.
    let json = serde_json::to_vec(weights).unwrap_or_default();
    blake3::hash(&json).to_hex()[..16].to_owned()
}

//! Division that knows nothing as 0.

/// Returns a part as a share of the whole; 0 of nothing.
pub(super) fn ratio(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

//! How repetitions of a term stop to count.

/// Returns `tf / (tf + k1)`, in `[0, 1]`, growing with `tf`; 0 if the term does not count.
pub(crate) fn saturate(frequency: f32, k1: f32) -> f32 {
    if frequency > 0.0 { frequency / (frequency + k1) } else { 0.0 }
}

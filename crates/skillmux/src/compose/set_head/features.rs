//! [`SetFeatures`]: what the rankings of a task and of its parts say of a skill beside those that are
//! chosen already.

use crate::features::features;

features! {
    /// One number for each feature: its values for a skill, or the weights of a
    /// [`SetWeights`](super::SetWeights).
    pub struct SetFeatures {
        /// Share in the ranking of the whole task, in `[0, 1]`; the shares of a ranking add up to 1.
        share,
        /// How far the log-odds for the whole task are below those of the best skill, in `[-1, 0]`; -1 is 8 or more, or
        /// not found.
        below_best,
        /// Log-odds for the whole task, tenths, in `[-0.4, 1.5]`; -0.4 is -4 or less, or not found. What is better than 0 is
        /// likely right even where another one is far better.
        log_odds,
        /// Share in the ranking of the part that it serves best, times the confidence of that part.
        best_part,
        /// The sum of shares times confidences over all parts.
        all_parts,
        /// In how many of the parts it comes first, in `[0, 1]`.
        leads,
        /// Number of parts over 8, in `[0, 1]`.
        n_parts,
        /// 1 if the task has no parts.
        is_whole,
        /// `ln(1 + skills)` of the library, tenths.
        library_size,
        /// Confidence for the whole task, in `[0, 1]`.
        confidence,
        /// How much it serves the same parts as a chosen skill, in `[0, 1]`: the highest cosine of their shares.
        overlap,
        /// `best_part`, where no chosen skill serves the same parts.
        new_best_part,
        /// 1 if it comes first in a part, where no chosen skill serves the same parts.
        new_lead,
    }
}

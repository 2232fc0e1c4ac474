//! [`SetFeatures`]: what the rankings of a task and of its parts say of a skill beside those that are
//! chosen already.

use crate::features::features;

features! {
    /// One number for each feature of a skill.
    ///
    /// A skill *serves* a part if it comes first there, or has a share of more than 0.3. A part is
    /// *open* if no chosen skill serves it.
    pub struct SetFeatures {
        /// Share in the ranking of the whole task, in `[0, 1]`; the shares of a ranking add up to
        /// 1.
        share,
        /// How far the log-odds for the whole task are below those of the best skill, in `[-1, 0]`;
        /// -1 is 8 or more, or not found.
        below_best,
        /// Log-odds for the whole task, tenths, in `[-0.4, 1.5]`; -0.4 is -4 or less, or not found.
        /// What is better than 0 is likely right even where another one is far better.
        log_odds,
        /// Its largest share in a part, times the confidence of that part.
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
        /// How much it serves the same parts as a chosen skill, in `[0, 1]`: the highest cosine of
        /// their shares.
        overlap,
        /// `best_part`, where no chosen skill serves the same parts.
        new_best_part,
        /// 1 if it comes first in a part, where no chosen skill serves the same parts.
        new_lead,
        /// One over its place in the ranking of the whole task, in `[0, 1]`; 0 if it is not found
        /// there.
        place,
        /// Its highest log-odds for a part, as `log_odds`.
        part_log_odds,
        /// How far its log-odds are below those of the best skill of a part, where that is least;
        /// as `below_best`.
        below_best_of_part,
        /// Confidence of the surest part in which it comes first, in `[0, 1]`; 0 if it comes first
        /// in none.
        led_confidence,
        /// Its highest share in a part, in `[0, 1]`.
        part_share,
        /// The share of the best skill in the ranking of the whole task, in `[0, 1]`.
        top_share,
        /// Number of parts that are surer of a skill than not, over 8.
        n_sure_parts,
        /// Number of chosen skills, over 6.
        n_chosen,
        /// Number of open parts, over 8.
        n_open_parts,
        /// Its largest share times confidence in an open part.
        open_part,
        /// Its highest log-odds for an open part, as `log_odds`.
        open_log_odds,
        /// How likely the part asks for something in which it comes first, in `[0, 1]`; of several
        /// parts, the one where the product of that and the confidence is highest; 0 if it comes
        /// first in none. Where no model tells, 1 if the part asks by its first words, is a question
        /// or the next thing of a list, else 0.
        leads_asking,
        /// That product.
        asking_confidence,
        /// `leads_asking`, if that part is open, else 0.
        leads_open_asking,
        /// How many parts are expected to ask for something, over 8, in `[0, 1]`.
        n_asking,
        /// 1 if a model told how likely the parts ask for something, as it does in a long task of
        /// which few sentences ask; else 0.
        is_long,
    }
}

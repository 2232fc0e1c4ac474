//! [`Evidence`]: what a calibration weighs.

use rustc_hash::FxHashSet;

use super::words::words as words_of;
use crate::{
    decompose::asks_anywhere,
    explain::Grounds,
    features::features,
    retrieve::{BEST_TEXT_COSINE, Candidate, Feature, QUERY_WORK, TEXT_COSINE_RISE, WordMatch},
    text::{is_spaceless, is_stop_word},
};

/// A smaller library counts as one of this size, the smallest that calibrations were fitted with.
const MIN_SKILLS: usize = 50;

/// Most terms of a task that is a few words of a name. Chinese has a term for two neighbouring
/// characters.
const MAX_KEYWORDS: u32 = 4;

/// Most words of a task that is a few words.
const MAX_FEW_WORDS: usize = 4;

/// Most characters of such a task in writing without spaces.
const MAX_FEW_CHARACTERS: usize = 8;

/// What speaks for and against loading the best skill of a ranking. Every number is finite.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Whether the task names the best skill; nothing else counts then.
    pub is_named: bool,
    /// Whether the task is nothing but words of the name of the best skill: four terms at most,
    /// none a stop word.
    pub is_of_name: bool,
    /// What the calibration weighs.
    pub features: Features,
}

/// Declares [`Features`] with whether more of each is more of a match.
macro_rules! evidence_features {
    ($($(#[$attribute:meta])* $name:ident: $is_match:literal,)*) => {
        features! {
            /// One number for each feature of [`Evidence`]: its values, or the weights of a
            /// [`Calibration`](super::Calibration).
            pub struct Features {
                $($(#[$attribute])* $name,)*
            }
        }

        impl Features {
            /// Whether more of a feature is more of a match, in the order of
            /// [`Features::to_array`]. Such a feature must not count against a skill.
            pub const IS_MATCH: [bool; Self::N] = [$($is_match),*];
        }
    };
}

evidence_features! {
    /// Score of the best skill by words, as a share `s` of the most that any skill could reach,
    /// times `ln(1 + terms)`: the same share of a long task is the stronger sign.
    score_mass: true,
    /// The same of the clause of the task that the best skill answers best.
    clause_mass: true,
    /// `ln(1 + words)` of the words that the best skill shares with the task.
    matched_words: true,
    /// Share of the score by words that comes from name and description, over `ln(1 + skills)`: in
    /// a large library some headline holds any word.
    headline_share: true,
    /// How near the nearest candidate is by its vectors, in `[0, 1]`; 0 without vectors.
    best_cosine: true,
    /// How far that is above the mean of the candidates, in `[0, 1]`; 0 without vectors.
    cosine_rise: true,
    /// 1 if the best skill is the nearest by its vectors as well, falling with the logarithm of
    /// its place; 0 without vectors.
    vector_rank: true,
    /// Share of Chinese, kana and Hangul characters among the task's characters of this kind and
    /// other words, in `[0, 1]`: their terms are pairs of characters and say less.
    character_share: false,
    /// `ln(distinct terms / words)`, weighted by the share of words: small talk is made of stop
    /// words, and repeats itself.
    term_density: false,
    /// `ln(1 + terms)` of the body, tenths: a skill of one line can hold few of a task's words, a
    /// long one holds some of any task's.
    body_length: false,
    /// `ln(1 + skills)` of the library: chance finds some match among many.
    library_size: false,
    /// How near the nearest candidate's text is by the transformer, in `[0, 1]`; 0 without one.
    #[serde(default)]
    best_text_cosine: true,
    /// How far that is above the mean of the candidates, in `[0, 1]`; 0 without one.
    #[serde(default)]
    text_cosine_rise: true,
    /// 1 if the best skill is the nearest by the transformer as well, falling with the logarithm of
    /// its place; 0 without one.
    #[serde(default)]
    text_rank: true,
    /// How likely the task asks for work at all, in `[-1, 1]`; 0 if nothing tells it.
    #[serde(default)]
    work: true,
    /// 1 if a part of the task, or of its translation, asks for something by its words, else 0: a
    /// statement about the subject of a skill does not.
    #[serde(default)]
    asks: true,
    /// 1 if the task is at most four words or eight characters of writing without spaces, as people
    /// type into a search box, else 0.
    #[serde(default)]
    few_words: false,
    /// How likely the task only tells something, in `[0, 1]`: how far `work` is below 0 where the
    /// task is more than a few words and does not ask; else 0.
    #[serde(default)]
    tells: false,
    /// Share of the subjects that the task names which the best skill lacks, in `[0, 1)`.
    #[serde(default)]
    subjects_lacked: false,
    /// Log-odds that the best skill serves the task, as a verifier says that read both; 0 where none
    /// was asked.
    #[serde(default)]
    serves: true,
    /// 1 if a verifier was asked, else 0: what its log-odds are counted from.
    #[serde(default)]
    verified: false,
}

impl Evidence {
    /// Returns the evidence for the best candidate of a ranking in a library of `n_skills`; what
    /// was not measured of it counts 0, its words too. A candidate that a translation of the task
    /// found is held against that.
    pub fn of(task: &str, n_skills: usize, best: &Candidate) -> Self {
        let read = best.signals.translation.as_ref().map_or(task, |found| found.text.as_str());
        let unread = WordMatch::default();
        let words = best.signals.words.as_ref().unwrap_or(&unread);
        let Grounds {
            clause_mass,
            body_terms,
            best_cosine,
            cosine_rise,
            vector_rank,
            subjects_lacked,
            serves,
        } = Grounds::of(best);
        let signal = |name: &str| best.signals.get(name).unwrap_or(0.0);
        let n_terms = words.n_terms as f32;
        let n_matched = words.matched.len() as f32;
        let Units { n_characters, n_words } = Units::of(read);
        let n_units = f32::max((n_characters + n_words) as f32, 1.0);
        let character_share = n_characters as f32 / n_units;
        let density = f32::max(n_terms, 1.0) / n_units;
        let asks = asks_anywhere(task) || read != task && asks_anywhere(read);
        let (work, is_few) = (signal(QUERY_WORK), is_few(task));
        let library_size = (usize::max(n_skills, MIN_SKILLS) as f32).ln_1p();
        let features = Features {
            score_mass: words.score_share * n_terms.ln_1p(),
            clause_mass,
            matched_words: n_matched.ln_1p(),
            headline_share: words.headline_share().clamp(0.0, 1.0) / library_size,
            best_cosine,
            cosine_rise,
            vector_rank,
            character_share,
            term_density: (1.0 - character_share) * density.ln(),
            body_length: (body_terms as f32).ln_1p() / 10.0,
            library_size,
            best_text_cosine: signal(BEST_TEXT_COSINE),
            text_cosine_rise: signal(TEXT_COSINE_RISE),
            text_rank: signal(Feature::TransformerRank.as_str()),
            work,
            asks: f32::from(u8::from(asks)),
            few_words: f32::from(u8::from(is_few)),
            tells: if asks || is_few { 0.0 } else { f32::max(-work, 0.0) },
            subjects_lacked,
            serves,
            verified: f32::from(u8::from(best.signals.serves.is_some())),
        };
        // With a stop word it may be a question: `what is docker`.
        let is_of_name = (1..=MAX_KEYWORDS).contains(&words.n_terms)
            && words.n_terms_in_name == words.n_terms
            && !words_of(read).any(|word| is_stop_word(&word));
        Self { is_named: best.signals.is_named, is_of_name, features }
    }

    /// Returns the evidence for a part of a task that asks for something, whatever the part says by itself.
    #[must_use]
    pub fn asked_for(self) -> Self {
        let features = Features { asks: 1.0, tells: 0.0, ..self.features };
        Self { features, ..self }
    }
}

/// Returns whether a task is a few words.
fn is_few(task: &str) -> bool {
    let n_characters = task.chars().filter(|c| is_spaceless(*c)).count();
    let n_words = task.split_whitespace().count();
    if n_characters > 0 { n_characters <= MAX_FEW_CHARACTERS } else { n_words <= MAX_FEW_WORDS }
}

/// What a text is made of.
struct Units {
    /// Characters of writing without spaces.
    n_characters: usize,
    /// Distinct runs of other letters and digits, so that repetition says nothing.
    n_words: usize,
}

impl Units {
    fn of(text: &str) -> Self {
        let n_characters = text.chars().filter(|c| is_spaceless(*c)).count();
        Self { n_characters, n_words: words_of(text).collect::<FxHashSet<_>>().len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{retrieve::Signals, skill::SkillId};

    /// Returns a candidate whose name, description and body add these scores.
    fn candidate(field_scores: [f32; 3]) -> Candidate {
        let words = WordMatch {
            field_scores,
            matched: vec!["form".to_owned()],
            coverage: 0.5,
            score_share: 0.25,
            n_terms: 4,
            clause_mass: 0.75,
            body_terms: 99,
            ..WordMatch::default()
        };
        let mut signals = Signals::new(&["query.best_cosine"], vec![0.5]);
        signals.words = Some(words);
        Candidate { skill: SkillId::new("a"), score: 6.0, signals }
    }

    #[test]
    fn evidence_is_what_the_ranking_says() {
        let best = candidate([1.0, 2.0, 3.0]);
        let of = |n_skills| Evidence::of("fill in the form 表格", n_skills, &best).features;
        let features = of(1000);
        let near = |a: f32, b: f32| assert!((a - b).abs() < 1e-6, "{a} {b}");
        near(features.headline_share, 0.5 / 1001_f32.ln());
        near(features.score_mass, 0.25 * 5_f32.ln());
        near(features.clause_mass, 0.75);
        near(features.best_cosine, 0.5);
        near(features.body_length, 100_f32.ln() / 10.0);
        // Four words and two characters for four terms.
        near(features.term_density, (4.0 / 6.0) * (4.0_f32 / 6.0).ln());
        assert_eq!(of(3), of(50));
    }

    #[test]
    fn evidence_is_finite_even_where_nothing_counts() {
        let unread = Candidate::new(SkillId::new("a"), 0.0);
        let evidence = Evidence::of("", 0, &unread);
        assert!(evidence.features.to_array().iter().all(|number| number.is_finite()));
    }

    #[test]
    fn features_keep_their_places() {
        let numbers = std::array::from_fn(|n| n as f32);
        let features = Features::from_array(numbers);
        assert_eq!(features.to_array().map(f32::to_bits), numbers.map(f32::to_bits));
    }
}

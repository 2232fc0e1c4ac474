//! [`Calibration`]: from what speaks for the best skill to how likely it helps.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::PlannedSkill;
use crate::{
    explain::{EXACT_NAME, Grounds},
    text::is_spaceless,
};

/// A smaller library counts as one of this size, the smallest that calibrations were fitted with.
const MIN_SKILLS: usize = 50;

/// What speaks for and against loading the best skill of a ranking. Every number is finite.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Whether the task names the best skill; nothing else counts then.
    pub is_named: bool,
    /// What the calibration weighs.
    pub features: Features,
}

macro_rules! features {
    ($($(#[$doc:meta])* $name:ident: $is_match:literal,)*) => {
        /// One number for each feature of [`Evidence`]: its values, or the weights of a [`Calibration`].
        #[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Features {
            $($(#[$doc])* pub $name: f32,)*
        }

        impl Features {
            /// Number of features.
            pub const N: usize = [$($is_match),*].len();

            /// Whether more of a feature is more of a match, in the order of [`Features::to_array`].
            /// Such a feature must not count against a skill.
            pub const IS_MATCH: [bool; Self::N] = [$($is_match),*];

            /// Names of the features, in the order of [`Features::to_array`].
            pub const NAMES: [&'static str; Self::N] = [$(stringify!($name)),*];

            /// Returns the numbers in the order of the fields.
            pub fn to_array(self) -> [f32; Self::N] {
                [$(self.$name),*]
            }

            /// Returns the features with these numbers, in the order of the fields.
            pub fn from_array(numbers: [f32; Self::N]) -> Self {
                let [$($name),*] = numbers;
                Self { $($name),* }
            }
        }
    };
}

features! {
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
}

impl Evidence {
    /// Returns the evidence of a ranking, best skill first, of a library of `n_skills`; `None` if
    /// nothing was found.
    ///
    /// Looks at the best skill only, so that it does not depend on how many were asked for.
    pub fn of(task: &str, n_skills: usize, found: &[PlannedSkill]) -> Option<Self> {
        let best = found.first()?;
        let explanation = &best.explanation;
        let Grounds { clause_mass, body_terms, best_cosine, cosine_rise, vector_rank } =
            explanation.grounds;
        let n_terms = explanation.n_terms as f32;
        let n_matched = explanation.matched.len() as f32;
        let Units { n_characters, n_words } = Units::of(task);
        let n_units = f32::max((n_characters + n_words) as f32, 1.0);
        let character_share = n_characters as f32 / n_units;
        let density = f32::max(n_terms, 1.0) / n_units;
        let library_size = (usize::max(n_skills, MIN_SKILLS) as f32).ln_1p();
        let features = Features {
            score_mass: explanation.score_share * n_terms.ln_1p(),
            clause_mass,
            matched_words: n_matched.ln_1p(),
            headline_share: explanation.headline_share.clamp(0.0, 1.0) / library_size,
            best_cosine,
            cosine_rise,
            vector_rank,
            character_share,
            term_density: (1.0 - character_share) * density.ln(),
            body_length: (body_terms as f32).ln_1p() / 10.0,
            library_size,
        };
        Some(Self { is_named: is_named(best), features })
    }
}

/// How likely the best skill helps, by logistic regression over [`Evidence`].
///
/// Plain numbers: `skillmux train abstention` fits them, and any program may store them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Log-odds without any evidence.
    pub bias: f32,
    /// What one unit of each feature adds to the log-odds.
    pub weights: Features,
    /// A plan abstains below this confidence, in `[0, 1]`.
    pub threshold: f32,
}

/// The embedded calibrations, rounded.
const DEFAULT: Calibrations = Calibrations {
    with_vectors: Calibration {
        bias: -4.79,
        weights: Features {
            score_mass: 5.18,
            clause_mass: 1.54,
            matched_words: 0.39,
            headline_share: 16.81,
            best_cosine: 4.98,
            cosine_rise: 6.11,
            vector_rank: 1.11,
            character_share: 1.33,
            term_density: 2.43,
            body_length: -2.19,
            library_size: -0.09,
        },
        threshold: 0.39,
    },
    without_vectors: Calibration {
        bias: -0.83,
        weights: Features {
            score_mass: 6.56,
            clause_mass: 2.19,
            matched_words: 0.73,
            headline_share: 13.8,
            best_cosine: 0.0,
            cosine_rise: 0.0,
            vector_rank: 0.0,
            character_share: 1.1,
            term_density: 2.61,
            body_length: -3.32,
            library_size: -0.14,
        },
        threshold: 0.34,
    },
};

/// A [`Calibration`] for each kind of ranking.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibrations {
    /// For a [`Ranker`](crate::rerank::Ranker) with an encoder.
    pub with_vectors: Calibration,
    /// For words alone.
    pub without_vectors: Calibration,
}

impl Default for Calibrations {
    /// The embedded calibrations of the `skillmux` binary, rounded to two digits, for programs that
    /// bring none of their own. See `docs/abstention.md`.
    fn default() -> Self {
        DEFAULT
    }
}

impl Default for Calibration {
    /// The default for words alone.
    fn default() -> Self {
        Calibrations::default().without_vectors
    }
}

impl Calibration {
    /// Returns the estimate in `[0, 1]` that the best skill helps, where as many tasks need a
    /// skill as need none; 1 for a skill that the task names.
    pub fn confidence(&self, evidence: &Evidence) -> f32 {
        if evidence.is_named {
            return 1.0;
        }
        let weights = self.weights.to_array();
        let summands = weights.iter().zip(evidence.features.to_array()).map(|(w, f)| w * f);
        let log_odds = self.bias + summands.sum::<f32>();
        1.0 / (1.0 + (-log_odds).exp())
    }
}

/// Returns whether the task names the skill.
pub(super) fn is_named(skill: &PlannedSkill) -> bool {
    skill.explanation.contributions.iter().any(|part| part.feature == EXACT_NAME)
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
        Self { n_characters, n_words: words(text).collect::<FxHashSet<_>>().len() }
    }
}

/// Returns the runs of letters and digits other than Chinese, kana and Hangul, lower-cased.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric() || is_spaceless(c))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Words that greet, thank, agree or steer the conversation; sorted.
const SMALL_TALK: [&str; 63] = [
    "again", "alright", "and", "awesome", "bye", "carry", "cheers", "continue", "cool", "do",
    "evening", "everyone", "fine", "go", "good", "goodbye", "great", "haha", "hello", "hey", "hi",
    "how", "i", "is", "it", "job", "just", "keep", "lol", "lot", "m", "makes", "morning", "much",
    "nice", "night", "no", "nope", "now", "ok", "okay", "on", "perfect", "please", "right", "s",
    "see", "sense", "so", "sorry", "stop", "sure", "thank", "thanks", "that", "there", "very",
    "wait", "well", "worked", "works", "yes", "you",
];

/// The same in Chinese, without punctuation; sorted.
const CHINESE_SMALL_TALK: [&str; 20] = [
    "你好",
    "停",
    "停下",
    "再见",
    "可以",
    "哈哈",
    "嗯",
    "好",
    "好吧",
    "好的",
    "对",
    "对的",
    "您好",
    "收到",
    "早上好",
    "晚安",
    "没事",
    "继续",
    "谢谢",
    "谢谢你",
];

/// Returns whether a task is made of greetings, thanks and the like alone: it asks for nothing, but
/// as a command, such as `/next`.
pub(super) fn is_small_talk(task: &str) -> bool {
    if task.trim_start().starts_with('/') {
        return false;
    }
    let characters: String = task.chars().filter(|c| is_spaceless(*c)).collect();
    let is_chinese_talk =
        characters.is_empty() || CHINESE_SMALL_TALK.binary_search(&characters.as_str()).is_ok();
    is_chinese_talk && words(task).all(|word| SMALL_TALK.binary_search(&word.as_str()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        explain::{Contribution, Explanation},
        skill::SkillId,
    };

    #[test]
    fn greetings_and_thanks_are_small_talk() {
        assert!(SMALL_TALK.is_sorted() && CHINESE_SMALL_TALK.is_sorted());
        for talk in ["hi", "Good morning!", "thanks, that works great", "ok, go on"] {
            assert!(is_small_talk(talk), "{talk}");
        }
        for talk in ["好的", "继续", "谢谢！"] {
            assert!(is_small_talk(talk), "{talk}");
        }
        for task in ["stop the server", "good morning email", "继续写周报", "pdf", "/hi"] {
            assert!(!is_small_talk(task), "{task}");
        }
    }

    /// Returns a skill whose name, description and body add these scores.
    fn skill(parts: [f32; 3]) -> PlannedSkill {
        let names = ["bm25.name", "bm25.description", "bm25.body"];
        let contributions = names.into_iter().zip(parts);
        PlannedSkill {
            id: SkillId::new("a"),
            name: "a".to_owned(),
            description: String::new(),
            source: String::new(),
            score: parts.iter().sum(),
            explanation: Explanation {
                contributions: contributions
                    .map(|(feature, value)| Contribution { feature: feature.to_owned(), value })
                    .collect(),
                matched: vec!["form".to_owned()],
                coverage: 0.5,
                score_share: 0.25,
                headline_share: (parts[0] + parts[1]) / parts.iter().sum::<f32>(),
                n_terms: 4,
                ..Explanation::default()
            },
        }
    }

    #[test]
    fn evidence_is_what_the_ranking_says() {
        let mut found = vec![skill([1.0, 2.0, 3.0])];
        found[0].explanation.grounds =
            Grounds { clause_mass: 0.75, body_terms: 99, best_cosine: 0.5, ..Grounds::default() };
        let of =
            |n_skills| Evidence::of("fill in the form 表格", n_skills, &found).unwrap().features;
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
        let mut empty = skill([0.0; 3]);
        empty.explanation = Explanation::default();
        let evidence = Evidence::of("", 0, &[empty]).unwrap();
        assert!(evidence.features.to_array().iter().all(|number| number.is_finite()));
        assert_eq!(Evidence::of("fill in the form", 50, &[]), None);
    }

    #[test]
    fn evidence_does_not_depend_on_how_many_skills_were_asked_for() {
        let found: Vec<PlannedSkill> = (0..30).map(|n| skill([0.0, 9.0, n as f32])).rev().collect();
        let of_first = |n: usize| Evidence::of("fill in the form", 50, &found[..n]);
        assert_eq!(of_first(10), of_first(30));
    }

    #[test]
    fn a_named_skill_is_certain() {
        let mut named = skill([0.0; 3]);
        let feature = EXACT_NAME.to_owned();
        named.explanation.contributions.push(Contribution { feature, value: 1.0 });
        let evidence = Evidence::of("a", 50, &[named]).unwrap();
        assert!((Calibration::default().confidence(&evidence) - 1.0).abs() < f32::EPSILON);
    }

    #[test]
    fn by_default_a_better_match_is_never_less_sure() {
        let calibration = Calibration::default();
        let weights = calibration.weights.to_array().into_iter().zip(Features::IS_MATCH);
        assert!(weights.filter(|(_, is_match)| *is_match).all(|(weight, _)| weight >= 0.0));
        let far = Evidence { is_named: false, features: Features::from_array([1e6; Features::N]) };
        assert!((0.0..=1.0).contains(&calibration.confidence(&far)));
    }

    #[test]
    fn features_keep_their_places() {
        let numbers = std::array::from_fn(|n| n as f32);
        let features = Features::from_array(numbers);
        assert_eq!(features.to_array().map(f32::to_bits), numbers.map(f32::to_bits));
    }
}

//! [`Calibration`]: from what speaks for the best skill to how likely it helps.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::PlannedSkill;
use crate::{explain::EXACT_NAME, index::is_spaceless};

/// Position of the skill that the best one is compared with.
const MARGIN_POSITION: usize = 9;

/// What speaks for and against loading the best skill of a ranking. Every number is finite.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Whether the task names the best skill; nothing else counts then.
    pub is_named: bool,
    /// What the calibration weighs.
    pub features: Features,
}

/// One number for each feature of [`Evidence`]: its values, or the weights of a [`Calibration`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Features {
    /// Share of the task's words that the best skill holds, weighted by rarity, in `[0, 1]`.
    pub coverage: f32,
    /// Score of the best skill as a share of the most that any skill could reach, in `[0, 1)`.
    pub score_share: f32,
    /// `score_share · ln(1 + terms)`: the same share of a long task is the stronger sign.
    pub score_mass: f32,
    /// `ln(1 + words)` of the words that the best skill shares with the task.
    pub matched_words: f32,
    /// How far the best score is above the tenth, as a share of it, in `[0, 1]`.
    pub margin: f32,
    /// Share of the score that comes from name and description, in `[0, 1]`.
    pub headline_share: f32,
    /// Share of Chinese, kana and Hangul characters among the task's characters of this kind and
    /// other words, in `[0, 1]`: their terms are pairs of characters and say less.
    pub character_share: f32,
    /// `ln(distinct terms / words)`, weighted by the share of words: small talk is made of stop
    /// words, and repeats itself.
    pub term_density: f32,
    /// `ln(1 + skills)` of the library: chance finds some match among many.
    pub library_size: f32,
}

impl Features {
    /// Number of features.
    pub const N: usize = 9;

    /// Whether more of a feature is more of a match, in the order of [`Features::to_array`]. Such
    /// a feature must not count against a skill.
    pub const IS_MATCH: [bool; Self::N] = [true, true, true, true, true, true, false, false, false];

    /// Returns the numbers in the order of the fields.
    pub fn to_array(self) -> [f32; Self::N] {
        [
            self.coverage,
            self.score_share,
            self.score_mass,
            self.matched_words,
            self.margin,
            self.headline_share,
            self.character_share,
            self.term_density,
            self.library_size,
        ]
    }

    /// Returns the features with these numbers, in the order of the fields.
    pub fn from_array(numbers: [f32; Self::N]) -> Self {
        let [
            coverage,
            score_share,
            score_mass,
            matched_words,
            margin,
            headline_share,
            character_share,
            term_density,
            library_size,
        ] = numbers;
        Self {
            coverage,
            score_share,
            score_mass,
            matched_words,
            margin,
            headline_share,
            character_share,
            term_density,
            library_size,
        }
    }
}

impl Evidence {
    /// Returns the evidence of a ranking, best skill first, of a library of `n_skills`; `None` if
    /// nothing was found.
    ///
    /// Looks at the first ten skills only, so that it does not depend on how many were asked for.
    pub fn of(task: &str, n_skills: usize, found: &[PlannedSkill]) -> Option<Self> {
        let best = found.first()?;
        let explanation = &best.explanation;
        let score = word_score(best);
        let tenth = found.get(MARGIN_POSITION).map_or(0.0, word_score);
        let n_terms = explanation.n_terms as f32;
        let n_matched = explanation.matched.len() as f32;
        let Units { n_characters, n_words } = Units::of(task);
        let n_units = f32::max((n_characters + n_words) as f32, 1.0);
        let character_share = n_characters as f32 / n_units;
        let density = f32::max(n_terms, 1.0) / n_units;
        let features = Features {
            coverage: explanation.coverage,
            score_share: explanation.score_share,
            score_mass: explanation.score_share * n_terms.ln_1p(),
            matched_words: n_matched.ln_1p(),
            margin: share(score - tenth, score),
            headline_share: explanation.headline_share.clamp(0.0, 1.0),
            character_share,
            term_density: (1.0 - character_share) * density.ln(),
            library_size: (n_skills as f32).ln_1p(),
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

impl Default for Calibration {
    /// The embedded calibration of the `skillmux` binary, rounded to two digits, for programs that
    /// bring none of their own. See `docs/abstention.md`.
    fn default() -> Self {
        Self {
            bias: -3.33,
            weights: Features {
                coverage: 0.0,
                score_share: 4.24,
                score_mass: 9.15,
                matched_words: 1.96,
                margin: 0.0,
                headline_share: 3.01,
                character_share: 1.12,
                term_density: 5.02,
                library_size: -0.37,
            },
            threshold: 0.44,
        }
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

/// Returns the score without what a name in the task adds.
fn word_score(skill: &PlannedSkill) -> f32 {
    let parts = skill.explanation.contributions.iter();
    parts.filter(|part| part.feature != EXACT_NAME).map(|part| part.value).sum()
}

/// Returns a part as a share of the whole, in `[0, 1]`.
fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { (part / whole).clamp(0.0, 1.0) } else { 0.0 }
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

/// Returns whether a task is made of greetings, thanks and the like alone: it asks for nothing.
pub(super) fn is_small_talk(task: &str) -> bool {
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
        library::SkillId,
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
        for task in ["stop the server", "good morning email", "继续写周报", "pdf"] {
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
        found.extend((0..11).map(|_| skill([0.0, 0.0, 1.5])));
        let Features { score_mass, margin, headline_share, term_density, .. } =
            Evidence::of("fill in the form 表格", 50, &found).unwrap().features;
        assert!((margin - 0.75).abs() < 1e-6);
        assert!((headline_share - 0.5).abs() < 1e-6);
        assert!((score_mass - 0.25 * 5_f32.ln()).abs() < 1e-6);
        // Four words and two characters for four terms.
        assert!((term_density - (4.0 / 6.0) * (4.0_f32 / 6.0).ln()).abs() < 1e-6);
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

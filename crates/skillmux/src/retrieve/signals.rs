//! [`Signals`]: the evidence that a candidate carries.

use std::sync::Arc;

use super::RankingIdentity;
use crate::{
    model::{Kind, SubjectWords},
    skill::SkillId,
};

/// What is known of a candidate for a query: named numbers, the words that both share, and whether
/// the query names the skill.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signals {
    /// Whether the query names the skill; set once a ranking is pinned.
    pub is_named: bool,
    /// Words matched and missed; read for candidates that are judged or shown, for it costs reading
    /// the skill.
    pub words: Option<WordMatch>,
    /// Log-odds that the skill serves the query, as a verifier says that read both; `None` where
    /// none was asked.
    pub serves: Option<f32>,
    /// What trust took off its score; see `docs/trust.md`.
    pub lowered: f32,
    /// What other readings of a task change of its score: of one with something pasted, or a long
    /// one.
    pub of_readings: f32,
    /// Log-odds that trust takes off the confidence.
    pub trust_penalty: f32,
    /// The skill that it was put behind, as it passes for that one.
    pub behind: Option<Behind>,
    /// What found it, if that is a translation of the query.
    pub translation: Option<Arc<Translation>>,
    names: &'static [&'static str],
    values: Vec<f32>,
}

/// The skill behind which another one stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behind {
    /// The skill that is trusted more, or has fewer risks.
    pub skill: SkillId,
    /// Whether the other one is a copy of it; else it has its name only.
    pub is_copy: bool,
}

/// A translation of a query that was ranked.
#[derive(Debug, Clone, PartialEq)]
pub struct Translation {
    /// The text.
    pub text: String,
    /// Who ranked: a calibration of this ranking judges what it found.
    pub ranking: RankingIdentity,
    /// What the log-odds of a skill lose that it found.
    pub discount: f32,
}

/// Weight of a subject that a skill is taken to have without a word for it: one missing word of
/// little weight is no missing subject.
const SPARE_SUBJECT: f32 = 0.1;

/// Weight of a subject of which the skill has a rival.
const RIVAL: f32 = 1.0;

/// How the words of a query and of a skill meet.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WordMatch {
    /// Words of the query that occur in the skill, rarest first, as the query writes them. Of a long
    /// task, those of what asks for something come before the others, here and in `missing`.
    pub matched: Vec<String>,
    /// Words of the query that do not occur in the skill, rarest first. Chinese that no skill of
    /// the library holds is left out: two neighbouring characters are mostly no word.
    pub missing: Vec<String>,
    /// Share of the subjects that the query names which do not occur in the skill, weighted by how
    /// much each word names one, in `[0, 1)`; 0 where the query names none or nothing tells it.
    pub subjects_lacked: f32,
    /// Share of the query's words that occur in the skill, weighted by rarity, in `[0, 1]`.
    pub coverage: f32,
    /// BM25 of the words as a share of the most that they could give, in `[0, 1)`.
    pub score_share: f32,
    /// BM25 of the words in each field, by [`Field::position`](crate::index::Field::position).
    pub field_scores: [f32; 3],
    /// Number of distinct terms of the query.
    pub n_terms: u32,
    /// How many of these the name of the skill has.
    pub n_terms_in_name: u32,
    /// The most that a clause of the query has of the score that its terms could give, times
    /// `ln(1 + terms)` of it and its weight: what surrounds a request does not lower it.
    pub clause_mass: f32,
    /// Terms of the body, as the index counts them.
    pub body_terms: u32,
}

impl WordMatch {
    /// Puts the words that a text has before the others.
    pub(crate) fn put_first(&mut self, text: &str) {
        for words in [&mut self.matched, &mut self.missing] {
            words.sort_by_key(|word| !text.contains(word.as_str()));
        }
    }

    /// Returns the share of the score by words that comes from name and description, in `[0, 1]`.
    pub fn headline_share(&self) -> f32 {
        let [name, description, _] = self.field_scores;
        (name + description) / f32::max(self.field_scores.iter().sum(), f32::MIN_POSITIVE)
    }

    /// Returns the match with the share of the subjects that the skill lacks. `headline` is its name
    /// and description.
    ///
    /// A name that the skill lacks weighs most if its headline names one rival instead, and the query
    /// does not: a skill for Postgres and a task for `MySQL`.
    #[must_use]
    pub(crate) fn with_subjects(self, subjects: &dyn SubjectWords, headline: &str) -> Self {
        let kinds_of = |text: &str| -> Vec<Kind> {
            let text = text.to_ascii_lowercase();
            let words = text.split(|c: char| !c.is_ascii_alphanumeric());
            words.filter_map(|word| subjects.kind(word)).collect()
        };
        let wanted: Vec<Kind> = self.missing.iter().flat_map(|word| kinds_of(word)).collect();
        let had: Vec<Kind> = self.matched.iter().flat_map(|word| kinds_of(word)).collect();
        let has_rival = |wanted: &Kind| {
            let mut of_skill = kinds_of(headline);
            of_skill.retain(|of_skill| of_skill.kind == wanted.kind);
            let is_known = had.iter().any(|had| had.kind == wanted.kind);
            !is_known
                && of_skill.first().is_some_and(|first| {
                    first.is_rival_of(*wanted) && of_skill.iter().all(|other| other == first)
                })
        };
        let of_rivals = if wanted.iter().any(has_rival) { RIVAL } else { 0.0 };
        let of_part = |part: &str| {
            if part.bytes().any(|c| c.is_ascii_alphabetic()) { subjects.weight(part) } else { 0.0 }
        };
        let of_word = |word: &String| {
            let word = word.to_ascii_lowercase();
            word.split(|c: char| !c.is_ascii_alphanumeric()).map(of_part).fold(0.0, f32::max)
        };
        let of = |words: &[String]| words.iter().map(of_word).sum::<f32>();
        let (matched, missing) = (of(&self.matched), of(&self.missing) + of_rivals);
        Self { subjects_lacked: missing / (matched + missing + SPARE_SUBJECT), ..self }
    }
}

impl Signals {
    /// Returns signals with these values, each by the name at its place; all must be finite.
    ///
    /// # Panics
    /// If there are not as many values as names.
    pub fn new(names: &'static [&'static str], values: Vec<f32>) -> Self {
        assert_eq!(names.len(), values.len(), "every value has a name");
        Self { names, values, ..Self::default() }
    }

    /// Returns a value by its name; `None` if it was not measured.
    pub fn get(&self, name: &str) -> Option<f32> {
        let position = self.names.iter().position(|known| *known == name)?;
        Some(self.values[position])
    }

    /// Changes a value that was measured.
    pub(super) fn set(&mut self, name: &str, value: f32) {
        if let Some(position) = self.names.iter().position(|known| *known == name) {
            self.values[position] = value;
        }
    }

    /// Returns the names, in the order of the values.
    pub fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// Returns the values, in the order of the names.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns whether anything was measured of the candidate.
    pub fn is_measured(&self) -> bool {
        !self.values.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knows two tools.
    struct Tools;

    impl SubjectWords for Tools {
        fn weight(&self, word: &str) -> f32 {
            if ["kicad", "k8s"].contains(&word) { 0.4 } else { 0.0 }
        }

        fn kind(&self, word: &str) -> Option<Kind> {
            let thing = ["vue", "react", "svelte"].iter().position(|known| *known == word)?;
            Some(Kind { kind: 0, thing: u16::try_from(thing).unwrap() })
        }
    }

    #[test]
    fn what_is_lacked_is_a_share_of_the_subjects_that_the_query_names() {
        let lacked = |matched: &[&str], missing: &[&str]| {
            let [matched, missing] =
                [matched, missing].map(|words| words.iter().map(ToString::to_string).collect());
            let words = WordMatch { matched, missing, ..WordMatch::default() };
            words.with_subjects(&Tools, "").subjects_lacked
        };
        for (matched, missing, expected) in [
            (&["board"][..], &["layout"][..], 0.0),
            (&["board"], &["KiCad"], 0.8),
            (&["kicad"], &["board"], 0.0),
            (&["k8s"], &["kicad"], 4.0 / 9.0),
            (&[], &["my-kicad-k8s"], 0.8),
            (&[], &["表格"], 0.0),
        ] {
            let found = lacked(matched, missing);
            assert!((found - expected).abs() < 1e-6, "{matched:?} {missing:?}: {found}");
        }
    }

    #[test]
    fn a_skill_lacks_the_subject_if_it_is_for_a_rival() {
        let lacked = |matched: &[&str], missing: &[&str], headline: &str| {
            let [matched, missing] =
                [matched, missing].map(|words| words.iter().map(ToString::to_string).collect());
            let words = WordMatch { matched, missing, ..WordMatch::default() };
            words.with_subjects(&Tools, headline).subjects_lacked > 0.5
        };
        assert!(lacked(&["page"], &["React"], "vue-pages: Writes Vue.js pages"));
        assert!(!lacked(&["page"], &["React"], "pages: Writes pages"));
        assert!(!lacked(&["page"], &["React"], "pages: Writes pages in Vue or Svelte"));
        assert!(!lacked(&["Vue"], &["React"], "vue-pages: Writes Vue.js pages"));
        assert!(!lacked(&["page"], &["React"], "react-pages: Writes pages"));
    }

    #[test]
    fn words_that_a_text_has_come_before_the_others() {
        let words = |words: [&str; 3]| words.map(str::to_owned).to_vec();
        let (matched, missing) = (words(["ship", "PDF", "merge"]), words(["sea", "crew", "page"]));
        let mut found = WordMatch { matched, missing, ..WordMatch::default() };
        found.put_first("merge the PDF by page");
        assert_eq!(found.matched, ["PDF", "merge", "ship"]);
        assert_eq!(found.missing, ["page", "sea", "crew"]);
    }

    #[test]
    fn values_are_found_by_name() {
        let signals = Signals::new(&["bm25", "dense"], vec![0.5, 0.25]);
        assert_eq!(signals.get("dense"), Some(0.25));
        assert_eq!(signals.get("length"), None);
        assert!(signals.is_measured() && !Signals::default().is_measured());
    }

    #[test]
    fn the_headline_share_of_no_match_is_zero() {
        assert!(WordMatch::default().headline_share().abs() < f32::EPSILON);
        let found = WordMatch { field_scores: [1.0, 2.0, 3.0], ..WordMatch::default() };
        assert!((found.headline_share() - 0.5).abs() < f32::EPSILON);
    }
}

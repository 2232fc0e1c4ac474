//! [`DistractorAssignment`]: one distractor to ask for, and whether an answer is one.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};
use skillmux::{
    index::Index,
    model::ChatMessage,
    query::Query,
    skill::{NodeTree, Skill},
};

use super::{
    options::Strategy,
    row::{DUPLICATE_UNITS, DistractorRow, MAX_SIMILARITY, mark},
};
use crate::{
    error::Result,
    lexical::find_by_words,
    synth::{
        answer::{check_runs, check_size, clean, last_json},
        name::{Names, name_key},
        prompt::{self, MAX_BODY_BYTES, Shown, filled},
        refusal::{Checked, Refusal},
        text::{Language, Shingles, units},
        work::{Assignment, Draft},
    },
};

/// Longest name in characters, and the form of one: the specification of Agent Skills.
const MAX_NAME_CHARS: usize = 64;

/// Words or characters of a description.
const DESCRIPTION_UNITS: (usize, usize) = (8, 150);

/// Sections with a heading in a body.
const MIN_SECTIONS: usize = 2;

/// Longest run of units that a body and the reference have in common: a command or a path may be
/// the same in both, a paragraph may not.
const MAX_RUN: usize = 25;

/// Descriptions that have more of their distinct words in common, in Jaccard similarity, say the
/// same.
const MAX_SAME_WORDS: f64 = 0.6;

/// Words that a distractor and the reference share at least, in name and description.
const MIN_COMMON_WORDS: usize = 2;

/// Shorter words say nothing about the subject.
const MIN_WORD_CHARS: usize = 4;

/// Skills of the library that a distractor is compared with: those that are best for its own text.
const N_NEAREST: usize = 10;

/// Most tokens of an answer. A body of 1,200 words has 2,000; models that think aloud need the
/// rest.
const MAX_TOKENS: u32 = 10_000;

const FORM: &str = r#"{"name": "...", "description": "...", "body": "..."}"#;

/// Where a distractor comes from, as its row says.
const SOURCE: &str = "skillmux synth distractors";

/// One distractor to ask for.
pub(super) struct DistractorAssignment<'i> {
    pub(super) key: String,
    pub(super) reference: Arc<Skill>,
    /// What the reference is called.
    pub(super) names: Names,
    pub(super) strategy: Strategy,
    pub(super) index: &'i Index,
    pub(super) model_name: String,
}

/// What the model is shown.
#[derive(Serialize)]
struct Documents<'s> {
    reference: Shown<'s>,
}

/// What the model writes.
#[derive(Deserialize)]
struct Written {
    name: String,
    description: String,
    body: String,
}

/// Returns how many words or characters a body is asked for with (`SkillRouter` table 10).
fn wanted(language: Language) -> (usize, usize) {
    match language {
        Language::En => (400, 1_200),
        Language::Zh => (600, 1_800),
    }
}

impl DistractorAssignment<'_> {
    fn language(&self) -> Language {
        Language::of(&format!("{}\n{}", self.reference.description, self.reference.body))
    }

    /// Returns the distractor of an answer, if it is one by its own text and the reference.
    fn read(&self, answer: &str) -> Result<Written, Refusal> {
        let Written { name, description, body } = last_json(answer, FORM)?;
        let (name, description) = (clean(&name)?, clean(&description)?);
        let written = Written { name, description, body: clean(&body)? };
        let Written { name, description, body } = &written;
        if !is_name(name) {
            return Err(Refusal::NameForm { name: name.clone() });
        }
        if words_of(name) == words_of(&self.reference.name) {
            return Err(Refusal::NameTaken { name: name.clone() });
        }
        let language = self.language();
        check_size("description", description, language, DESCRIPTION_UNITS)?;
        let (min, max) = wanted(language);
        check_size("body", body, language, (min / 2, max * 2))?;
        if body.starts_with("---") {
            return Err(Refusal::FrontMatter);
        }
        let n_sections = NodeTree::parse(body).sections.len();
        if n_sections < MIN_SECTIONS {
            return Err(Refusal::Sections { n: n_sections, min: MIN_SECTIONS });
        }
        let headline = format!("{name}\n{description}");
        let said = units(&format!("{headline}\n{body}"));
        if let Some(name) = self.names.said_in(&said) {
            return Err(Refusal::Name { name });
        }
        let reference = format!("{}\n{}", self.reference.name, self.reference.description);
        let n_common = words_of(&headline).intersection(&words_of(&reference)).count();
        if n_common < MIN_COMMON_WORDS {
            return Err(Refusal::Unrelated);
        }
        check_runs(&units(body), &units(&self.reference.body), MAX_RUN)?;
        check_apart(&written, &self.reference)?;
        Ok(written)
    }

    /// Checks a distractor against the skills of the library that are nearest to it.
    fn check_nearest(&self, written: Written) -> Result<Checked<Written>> {
        let Ok(query) = Query::new(format!("{}\n{}", written.name, written.description)) else {
            return Ok(Checked::Accepted(written));
        };
        for hit in find_by_words(self.index, &query, N_NEAREST)? {
            let skill = self.index.skill(hit.skill)?.skill;
            if name_key(&skill.name) == name_key(&written.name) {
                return Ok(Checked::Refused(Refusal::NameTaken { name: written.name }));
            }
            if let Err(refusal) = check_apart(&written, &skill) {
                return Ok(Checked::Refused(refusal));
            }
        }
        Ok(Checked::Accepted(written))
    }

    fn draft(&self, Written { name, description, body }: Written) -> Draft {
        let mark = mark(&name, &body);
        let row = DistractorRow {
            // Says nothing of where it comes from: models that judge skills see ids.
            skill_id: format!("{}/{name}", self.key),
            name,
            description,
            body,
            source: SOURCE.to_owned(),
            distractor_of: self.reference.id.clone(),
            strategy: self.strategy,
            model: self.model_name.clone(),
            prompt: prompt::VERSION,
        };
        Draft { row: serde_json::to_vec(&row).expect("a row has string keys only"), mark }
    }
}

impl Assignment for DistractorAssignment<'_> {
    fn key(&self) -> &str {
        &self.key
    }

    fn max_tokens(&self) -> u32 {
        MAX_TOKENS
    }

    fn messages(&self) -> Vec<ChatMessage> {
        let language = self.language();
        let (min, max) = wanted(language);
        let values = [
            ("strategy", self.strategy.instruction()),
            ("min", &min.to_string()),
            ("max", &max.to_string()),
            ("unit", language.unit()),
            ("sections", "three"),
            ("language", language.name()),
        ];
        let documents = Documents { reference: Shown::of(&self.reference, None, MAX_BODY_BYTES) };
        prompt::messages(&filled(prompt::DISTRACTOR, &values), &documents, FORM)
    }

    fn check(&self, answer: &str) -> Result<Checked<Draft>> {
        let checked = match self.read(answer) {
            Ok(written) => self.check_nearest(written)?,
            Err(refusal) => Checked::Refused(refusal),
        };
        Ok(checked.map(|written| self.draft(written)))
    }
}

/// Checks that a distractor is neither a version of a skill nor says that it does the same.
fn check_apart(written: &Written, skill: &Skill) -> Result<(), Refusal> {
    let same = Refusal::SameFunction { name: skill.name.clone() };
    let (own, other) = (words_of(&written.description), words_of(&skill.description));
    let n_common = own.intersection(&other).count();
    let n_all = own.len() + other.len() - n_common;
    if n_common as f64 > MAX_SAME_WORDS * n_all as f64 {
        return Err(same);
    }
    let shingles = |text: &str| Shingles::of(&units(text), DUPLICATE_UNITS);
    let similarity = shingles(&written.body).similarity(&shingles(&skill.body));
    if similarity > MAX_SIMILARITY { Err(same) } else { Ok(()) }
}

/// Returns the distinct words of a text that say something about its subject; for Chinese pairs of
/// characters.
fn words_of(text: &str) -> BTreeSet<String> {
    let units = units(text);
    let is_one_character = |unit: &String| !unit.is_ascii() && unit.chars().count() == 1;
    let pairs = units.windows(2).filter(|pair| pair.iter().all(is_one_character));
    let pairs = pairs.map(<[String]>::concat);
    let words = units.iter().filter(|unit| unit.chars().count() >= MIN_WORD_CHARS).cloned();
    words.chain(pairs).collect()
}

/// Returns whether a name has the form that the specification of Agent Skills asks for.
fn is_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    name.len() <= MAX_NAME_CHARS && name.split('-').all(is_part)
}

#[cfg(test)]
mod tests;

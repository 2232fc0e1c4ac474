//! Distractors: skills that look like one of the library and do something else, after `SkillRouter`
//! appendix B, table 10.

mod assignment;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use skillmux::{
    index::Index,
    model::ChatModel,
    retrieve::{Bm25Config, Bm25Retriever},
    skill::{Skill, SkillId},
};

use super::{
    name::{Names, name_key},
    out::OutFile,
    sample::{Sampler, key},
    text::{Shingles, units},
    work::{Assignments, Mark, Rows, WorkOptions, WorkReport, work},
};
use crate::error::Result;
use assignment::DistractorAssignment;

/// Distractors whose bodies are more alike are duplicates: near-duplicates from `docs/datasets.md`.
const MAX_SIMILARITY: f64 = 0.4;
const DUPLICATE_UNITS: usize = 4;

/// How a distractor misses what the reference does (`SkillRouter` appendix B).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Strategy {
    /// The same technical field, and another task.
    SameDomainDifferentProblem,
    /// The same technology, and another use of it.
    SameTechDifferentUse,
    /// Broader, without the capability that the reference has.
    OverGeneralized,
}

impl Strategy {
    /// Every strategy, in the order in which they are used.
    pub const ALL: [Self; 3] =
        [Self::SameDomainDifferentProblem, Self::SameTechDifferentUse, Self::OverGeneralized];

    /// Returns the name, such as `over-generalized`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SameDomainDifferentProblem => "same-domain-different-problem",
            Self::SameTechDifferentUse => "same-tech-different-use",
            Self::OverGeneralized => "over-generalized",
        }
    }

    fn instruction(self) -> &'static str {
        match self {
            Self::SameDomainDifferentProblem => {
                "It belongs to the same technical field as the reference, and solves another problem of it."
            }
            Self::SameTechDifferentUse => {
                "It is built on the same technologies, formats or tools as the reference, and uses them \
                 for another purpose."
            }
            Self::OverGeneralized => {
                "It covers a wider field, of which the reference is a small part, and lacks just the \
                 capability that the reference has: it stays general there."
            }
        }
    }
}

/// Which distractors are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistractorOptions {
    /// Distractors of each skill, one a strategy: 1 to 3.
    pub n_per_skill: usize,
}

/// Asks a model for skills that look like those of an index and do something else, and appends those that
/// pass all checks to a shard that [`skillmux::library::Library`] reads; goes on where an earlier run
/// stopped. `docs/synth.md` has the rules.
///
/// The paper asks for three to five distractors at once; here each strategy has a request of its own, so
/// that a bad one loses no other.
///
/// # Errors
/// As for [`write_queries`](super::write_queries).
pub fn write_distractors(
    index: &Index,
    model: &dyn ChatModel,
    options: &DistractorOptions,
    work_options: &WorkOptions<'_>,
) -> Result<WorkReport> {
    let (rows, out) = OutFile::open::<DistractorRow>(work_options.out, "{\"skill_id\":\"")?;
    let rows = Rows {
        out,
        keys: rows.iter().map(|row| key_of(&row.distractor_of, row.strategy)).collect(),
        marks: rows.iter().map(|row| mark(&row.name, &row.body)).collect(),
        n_before: rows.len(),
        max_similarity: MAX_SIMILARITY,
    };
    let plan = Plan {
        retriever: Arc::new(Bm25Retriever::new(index, Bm25Config::default())),
        index,
        sampler: Sampler::new(index, work_options.seed)?,
        n_per_skill: options.n_per_skill.clamp(1, Strategy::ALL.len()),
        present: None,
        model_name: work_options.model_name.to_owned(),
    };
    Ok(work(model, plan, rows, work_options))
}

/// Returns the name by which a distractor is known in every run.
fn key_of(reference: &SkillId, strategy: Strategy) -> String {
    key(&["distractor", reference.as_str(), strategy.as_str()])
}

/// Returns what a distractor is told from others by.
fn mark(name: &str, body: &str) -> Mark {
    let shingles = Shingles::of(&units(body), DUPLICATE_UNITS);
    Mark { shingles, name_key: Some(name_key(name)) }
}

/// A distractor, as a library reads it, and where it comes from.
#[derive(Debug, Serialize, Deserialize)]
struct DistractorRow {
    // First: a row that was cut is known by it.
    skill_id: String,
    name: String,
    description: String,
    body: String,
    source: String,
    distractor_of: SkillId,
    strategy: Strategy,
    #[serde(default)]
    model: String,
    /// Version of the instructions.
    #[serde(default)]
    prompt: u32,
}

/// The distractors to ask for: all of one skill, then those of the next.
struct Plan<'i> {
    index: &'i Index,
    retriever: Arc<Bm25Retriever<'i>>,
    sampler: Sampler<'i>,
    n_per_skill: usize,
    /// The present skill, and the number of its distractors that were given.
    present: Option<(Arc<Skill>, usize)>,
    model_name: String,
}

impl<'i> Assignments for Plan<'i> {
    type Item = DistractorAssignment<'i>;

    fn next(&mut self) -> Result<Option<DistractorAssignment<'i>>> {
        let (reference, n_given) = match self.present.take() {
            Some((reference, n_given)) if n_given < self.n_per_skill => (reference, n_given),
            _ => match self.sampler.next()? {
                Some(skill) => (Arc::new(skill), 0),
                None => return Ok(None),
            },
        };
        self.present = Some((Arc::clone(&reference), n_given + 1));
        let strategy = Strategy::ALL[n_given];
        Ok(Some(DistractorAssignment {
            key: key_of(&reference.id, strategy),
            names: Names::of_several_words(&reference),
            reference,
            strategy,
            index: self.index,
            retriever: Arc::clone(&self.retriever),
            model_name: self.model_name.clone(),
        }))
    }

    fn n_passed_over(&self) -> (usize, usize) {
        self.sampler.n_passed_over()
    }
}

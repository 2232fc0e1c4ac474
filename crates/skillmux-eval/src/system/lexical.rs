//! [`Lexical`]: the engine's BM25 as a system.

use std::{
    fs::File,
    io::{BufWriter, Write},
    sync::Arc,
};

use rayon::prelude::*;
use skillmux::{
    index::{Field, Index, UpdateOptions},
    library::Library,
    retrieve::{
        Bm25Config, Bm25Retriever, FieldWeights, QueryRepetition, Ranking, Retriever,
        TermSaturation,
    },
};
use tempfile::TempDir;

use super::{
    System, SystemContext,
    engine::{all_skills, query_of, scored_ids},
    spec::SkillText,
};
use crate::{answer::Answer, dataset::shard::shard_line, error::Error, task::Task};

/// BM25 as the engine computes it, over the index or over one without bodies.
///
/// As in the engine, a skill that the task names comes first. That is not part of the usual BM25
/// and makes this baseline a little stronger than that of others.
pub(super) struct Lexical<'a> {
    name: String,
    config: Bm25Config,
    text: SkillText,
    library: Searched<'a>,
}

/// What is searched.
enum Searched<'a> {
    Whole(&'a Index),
    WithoutBodies(Arc<BodilessIndex>),
}

/// An index of the same skills without their bodies, in a folder that goes with it.
pub(super) struct BodilessIndex {
    index: Index,
    _folder: TempDir,
}

impl<'a> Lexical<'a> {
    /// Opens the system; without bodies, the other fields are indexed again, so that all
    /// statistics are those of a library that has no bodies.
    pub(super) fn open(
        name: String,
        config: Bm25Config,
        text: SkillText,
        context: &SystemContext<'a>,
    ) -> Result<Self, Error> {
        let library = match text {
            SkillText::Full => Searched::Whole(context.index()),
            SkillText::NameDescription => Searched::WithoutBodies(context.bodiless()?),
        };
        Ok(Self { name, config, text, library })
    }
}

impl System for Lexical<'_> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn config(&self) -> String {
        format!("{} text={}", bm25_config(&self.config), self.text.as_str())
    }

    fn answer(&self, task: &Task, depth: usize) -> Result<Answer, Error> {
        let query = query_of(task)?;
        let search = |index| Bm25Retriever::new(index, self.config).retrieve(&query, depth);
        let scored = match &self.library {
            Searched::Whole(index) => scored_ids(index, &search(index)?)?,
            Searched::WithoutBodies(bodiless) => {
                bodiless.scored_ids(&search(&bodiless.index)?, depth)?
            }
        };
        Ok(Answer::of_ranking(scored))
    }
}

/// Returns the constants of BM25 as text.
pub(super) fn bm25_config(config: &Bm25Config) -> String {
    let saturation = match config.saturation {
        TermSaturation::PerField => "per-field",
        TermSaturation::Joint => "joint",
        _ => "other",
    };
    let repetition = match config.repetition {
        QueryRepetition::Linear => "linear",
        QueryRepetition::Logarithmic => "logarithmic",
        _ => "other",
    };
    let fields = Field::ALL.map(|field| {
        let FieldWeights { weight, k1, b } = config.fields[field.position()];
        format!("{}={weight}/{k1}/{b}", field.as_str())
    });
    format!("bm25 weight/k1/b {} saturation={saturation} repetition={repetition}", fields.join(" "))
}

impl BodilessIndex {
    /// Writes the skills without their bodies and indexes them.
    pub(super) fn build(index: &Index) -> Result<Self, Error> {
        let folder = tempfile::Builder::new().prefix("skillmux-eval-").tempdir();
        let folder =
            folder.map_err(|source| Error::Write { path: tempfile::env::temp_dir(), source })?;
        let shard = folder.path().join("skills.jsonl");
        let cannot_write = |source| Error::Write { path: shard.clone(), source };
        let mut out = BufWriter::new(File::create(&shard).map_err(cannot_write)?);
        for lines in read_lines(index) {
            out.write_all(&lines?).map_err(cannot_write)?;
        }
        out.flush().map_err(cannot_write)?;
        drop(out);
        let path = folder.path().join("index");
        let library = Library::open([&shard])?;
        Index::update(&path, &library, &UpdateOptions::default(), &mut |_| {})?;
        Ok(Self { index: Index::open(&path)?, _folder: folder })
    }

    /// Returns the ids of a ranking's skills with their scores.
    ///
    /// Skills that differ in their bodies alone are one in this index, but not in the library: each
    /// of them has its place, with the same score, after the one that this index kept.
    fn scored_ids(&self, ranking: &Ranking, depth: usize) -> Result<Vec<(String, f32)>, Error> {
        let mut scored = Vec::with_capacity(ranking.candidates().len());
        for found in ranking.candidates() {
            let ids = self.index.all_ids(found.skill)?;
            scored.extend(ids.into_iter().map(|id| (id.as_str().to_owned(), found.score)));
        }
        scored.truncate(depth);
        Ok(scored)
    }
}

/// Returns the lines of all skills without bodies, in order, some skills at a time.
fn read_lines(index: &Index) -> Vec<Result<Vec<u8>, Error>> {
    let caps = index.manifest().field_caps;
    let skills: Vec<_> = all_skills(index).collect();
    let lines_of = |chunk: &[_]| -> Result<Vec<u8>, Error> {
        let mut lines = Vec::new();
        for idx in chunk {
            let mut skill = index.skill(*idx)?.skill;
            skill.body.clear();
            let description = caps.capped(Field::Description, &skill.description);
            // A skill that has neither description nor body is not read; its name says what there
            // is to say.
            let is_blank = description.trim().is_empty();
            skill.description = if is_blank { &skill.name } else { description }.to_owned();
            lines.extend(shard_line(&skill));
        }
        Ok(lines)
    };
    skills.par_chunks(512).map(lines_of).collect()
}

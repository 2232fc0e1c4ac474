//! [`BodilessIndex`]: the same skills without their bodies.

use std::{
    fs::File,
    io::{BufWriter, Write},
};

use rayon::prelude::*;
use skillmux::{
    index::{Field, Index, UpdateOptions},
    library::Library,
    retrieve::Ranking,
};
use tempfile::TempDir;

use crate::{dataset::shard::shard_line, error::Error};

/// An index of the same skills without their bodies, in a folder that goes with it.
pub(super) struct BodilessIndex {
    index: Index,
    _folder: TempDir,
}

impl BodilessIndex {
    /// Returns what is searched.
    pub(super) fn index(&self) -> &Index {
        &self.index
    }

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
    pub(super) fn scored_ids(
        &self,
        ranking: &Ranking,
        depth: usize,
    ) -> Result<Vec<(String, f32)>, Error> {
        let mut scored = Vec::with_capacity(ranking.candidates.len());
        for found in &ranking.candidates {
            let ids = self.index.all_ids(self.index.find(&found.skill)?)?;
            scored.extend(ids.into_iter().map(|id| (id.as_str().to_owned(), found.score)));
        }
        scored.truncate(depth);
        Ok(scored)
    }
}

/// Returns the lines of all skills without bodies, in order, some skills at a time.
fn read_lines(index: &Index) -> Vec<Result<Vec<u8>, Error>> {
    let caps = index.manifest().field_caps;
    let skills: Vec<_> = index.skills().collect();
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

//! [`Builder`]: makes the next generation of the skills that it is given.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::{
    before::Before,
    options::{UpdateOptions, UpdateOutcome, UpdateReport},
    previous::Previous,
    texts::TextVectors,
    vectors::VectorBuilder,
    written::Written,
};
use crate::{
    error::Result,
    index::{
        draft::{Draft, Kept},
        folder::{IndexFolder, WriterLock},
        lexical::{FieldCaps, WriterResources},
        manifest::{FORMAT_VERSION, IndexManifest},
        sketch::Sketch,
        table::{self, Origins, Row, Slot},
    },
    library::{ScanReport, ScannedSkill},
    skill::{ContentHash, Skill, risk::Risks},
};

/// The generation that an update makes.
pub(super) struct Builder<'l> {
    folder: &'l IndexFolder,
    lock: &'l WriterLock,
    resources: WriterResources,
    previous: Option<Previous>,
    /// A generation that is not built upon, and whose vectors are taken over all the same.
    vectors_of: Option<Previous>,
    /// Begun with the first change, so that an update without one writes nothing.
    written: Option<Written>,
    rows: Vec<Row>,
    vectors: Option<VectorBuilder>,
    text_vectors: Option<TextVectors>,
    kept_slots: FxHashSet<u32>,
    next_slot: u32,
}

impl<'l> Builder<'l> {
    /// Returns a builder upon a generation, if there is one.
    pub(super) fn new(
        folder: &'l IndexFolder,
        lock: &'l WriterLock,
        previous: Option<Previous>,
        options: &UpdateOptions,
    ) -> Self {
        let resources =
            WriterResources { n_threads: options.n_threads, memory_bytes: options.memory_bytes };
        let next_slot = previous.as_ref().map_or(0, |previous| previous.table.n_slots());
        Self {
            folder,
            lock,
            resources,
            previous,
            vectors_of: None,
            written: None,
            rows: Vec::new(),
            vectors: VectorBuilder::new(options),
            text_vectors: options.transformer.clone().map(TextVectors::new),
            kept_slots: FxHashSet::default(),
            next_slot,
        }
    }

    /// Returns the builder, which takes the vectors of known texts over from a generation of the same
    /// encoder and kind of vectors: they take longest to make.
    pub(super) fn with_vectors_of(self, other: Previous) -> Self {
        Self { vectors_of: Some(other), ..self }
    }

    /// Returns the number of skills so far.
    pub(super) fn n_skills(&self) -> usize {
        self.rows.len()
    }

    /// Takes a skill over from the previous generation, or indexes it.
    pub(super) fn add(&mut self, scanned: ScannedSkill) -> Result<()> {
        let ScannedSkill { skill, background } = scanned;
        let hash = skill.content_hash();
        let source = skill.source.clone();
        let origins = Origins { source, background, copies: Vec::new() };
        let known = self.previous.as_ref().and_then(|previous| {
            let idx = previous.position(&hash)?;
            Some((previous, idx, previous.find(idx)?))
        });
        let row = match known {
            Some((previous, idx, (row, vector_row))) => {
                if let Some(vectors) = &mut self.text_vectors {
                    vectors.keep(row.slot, previous, idx);
                }
                self.kept_slots.insert(row.slot.0);
                if let (Some(vectors), Some(vector_row)) = (&mut self.vectors, vector_row) {
                    vectors.keep(row.slot, vector_row);
                }
                Row { id: skill.id, origins, ..row }
            }
            None => self.index(&skill, hash, origins)?,
        };
        self.rows.push(row);
        Ok(())
    }

    fn index(&mut self, skill: &Skill, hash: ContentHash, origins: Origins) -> Result<Row> {
        let slot = Slot(self.next_slot);
        self.next_slot += 1;
        let written = if let Some(written) = &mut self.written {
            written
        } else {
            let previous = self.previous.as_ref();
            let written = Written::start(self.folder, self.lock, previous, self.resources)?;
            self.written.insert(written)
        };
        let address = written.add(slot, skill)?;
        let known = self.vectors_of.as_ref().and_then(|other| {
            let idx = other.position(&hash)?;
            Some((other, idx, other.find(idx)?.1))
        });
        if let (Some(vectors), Some((other, idx, _))) = (&mut self.text_vectors, &known) {
            vectors.keep(slot, other, *idx);
        }
        match (&mut self.vectors, known) {
            (Some(vectors), Some((_, _, Some(row)))) => vectors.keep(slot, row),
            (Some(vectors), _) => vectors.add(slot, skill)?,
            (None, _) => {}
        }
        Ok(Row {
            id: skill.id.clone(),
            origins,
            slot,
            address,
            hash,
            sketch: Sketch::of(&skill.body),
            risks: Risks::of(&skill.name, &skill.description, &skill.body),
        })
    }

    /// Commits the generation, unless it says the same as the one before, which then stays as it
    /// is; the account compares it with what the index held, whether or not that is built upon.
    pub(super) fn finish(
        mut self,
        scan: ScanReport,
        before: &Before,
        options: &UpdateOptions,
    ) -> Result<UpdateReport> {
        self.rows.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        self.note_copies(&scan);
        let (n_unchanged, n_removed) = before.n_unchanged_and_removed(&self.rows);
        let n_added = self.rows.len() - n_unchanged;
        let n_lost = before.n_lost(&self.rows);
        let report = |outcome, generation| UpdateReport {
            scan,
            outcome,
            generation,
            n_before: before.n_skills(),
            n_added,
            n_removed,
            n_unchanged,
            n_lost,
        };
        if let Some(generation) = self.unchanged_generation(options) {
            // What cannot be removed now is removed by a writer.
            let _ = Draft::clear(self.folder, self.lock);
            return Ok(report(UpdateOutcome::Unchanged, generation));
        }
        let removed = self.removed_slots();
        let previous = self.previous.as_ref();
        let mut written = match self.written {
            Some(written) => written,
            None => Written::start(self.folder, self.lock, previous, self.resources)?,
        };
        for slot in removed {
            written.lexical.remove(slot);
        }
        written.finish_store(&mut self.rows, previous)?;
        let files = written.inherited(previous);
        let store_files = std::mem::take(&mut written.store_files);
        let draft = written.finish_lexical()?;
        table::write(&draft.path, &self.rows, self.next_slot)?;
        let encoder = match self.vectors {
            Some(vectors) => {
                vectors.write(&draft.path, &self.rows)?;
                options.encoder.as_ref().map(|encoder| encoder.identity().clone())
            }
            None => None,
        };
        let transformer = match self.text_vectors {
            Some(vectors) => vectors.write(&draft.path, &self.rows)?,
            None => None,
        };
        let generation = draft.generation;
        let manifest = IndexManifest {
            format: FORMAT_VERSION,
            generation,
            field_caps: FieldCaps::default(),
            encoder,
            vectors: options.vectors.unwrap_or_default(),
            transformer,
            n_skills: u32::try_from(self.rows.len()).expect("slots are 32-bit numbers"),
            n_slots: self.next_slot,
            sources: options.sources.clone(),
            origins: counted(self.rows.iter().map(|row| row.origins.background.origin)),
            risks: counted(self.rows.iter().flat_map(|row| row.risks.iter())),
            store_files,
            files,
        };
        draft.commit(manifest, Kept::Previous)?;
        Ok(report(UpdateOutcome::Committed, generation))
    }

    /// Adds the provenance of exact duplicates to the rows, which are sorted by id.
    fn note_copies(&mut self, scan: &ScanReport) {
        for merged in &scan.merged {
            if let Ok(at) = self.rows.binary_search_by(|row| row.id.cmp(&merged.kept)) {
                self.rows[at].origins.copies.push(merged.copy.clone());
            }
        }
    }

    fn removed_slots(&self) -> Vec<Slot> {
        let Some(previous) = &self.previous else { return Vec::new() };
        previous.slots().filter(|slot| !self.kept_slots.contains(&slot.0)).collect()
    }

    /// Returns the number of the previous generation if the new one would say the same.
    fn unchanged_generation(&self, options: &UpdateOptions) -> Option<u64> {
        let previous = self.previous.as_ref()?;
        let transformer = previous.generation.manifest.transformer.as_ref();
        let same = self.written.is_none()
            && previous.generation.manifest.sources == options.sources
            && transformer.is_none_or(|found| Some(&found.encoder) == options.transformer.as_ref())
            && previous.has_rows(&self.rows);
        same.then_some(previous.generation.manifest.generation)
    }
}

/// Returns how often each thing is there.
fn counted<T: Ord>(all: impl Iterator<Item = T>) -> BTreeMap<T, u32> {
    let mut counts = BTreeMap::new();
    for thing in all {
        *counts.entry(thing).or_default() += 1;
    }
    counts
}

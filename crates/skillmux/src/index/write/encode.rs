//! Makes the vectors of whole texts that an index lacks.

use std::path::Path;

use super::{
    previous::Previous,
    texts::{TextVectors, whole_text},
};
use crate::{
    error::{Error, Result},
    index::{
        damage::PartError,
        draft::{Draft, Kept},
        files,
        folder::{IndexFolder, WriterLock},
        layout::TRANSFORMER,
        read::Index,
        store::{Decompressor, Store},
        table::{SkillIdx, SkillTable, Slot},
        vector_kind::VectorKind,
        vectors::{self, VectorRow},
    },
    model::Encoder,
};

/// Skills that are encoded at a time.
const N_AT_A_TIME: usize = 64;

/// What to do next while texts are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeStep {
    /// Go on.
    Continue,
    /// Make what is done so far durable, so that it is not lost if the program is killed, and go
    /// on.
    Commit,
    /// Make what is done so far durable, and stop.
    Stop,
}

/// What [`Index::encode`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodeReport {
    /// Skills whose texts were encoded.
    pub n_encoded: usize,
    /// Skills whose vectors another index had.
    pub n_known: usize,
    /// Skills that lack a vector still.
    pub n_missing: usize,
}

impl Index {
    /// Makes the vectors of whole texts that the index at `path` lacks, and takes over those that
    /// another index has of the same texts.
    ///
    /// `progress` is told how many of how many texts are encoded, from time to time, and says how
    /// to go on. Each commit is a generation of its own, so that readers may use the words of an
    /// index meanwhile, and a call that was stopped goes on where the last commit was. The
    /// generation before the one that is encoded stays the one to go back to.
    ///
    /// # Errors
    /// As for [`Index::update`]; [`Error::IndexMissing`]; and those of the encoder.
    pub fn encode(
        path: &Path,
        encoder: &dyn Encoder,
        known: Option<&Index>,
        progress: &mut dyn FnMut(usize, usize) -> EncodeStep,
    ) -> Result<EncodeReport> {
        let folder = IndexFolder::new(path);
        let lock = folder.lock()?;
        let missing_index = || Error::IndexMissing { path: path.to_owned() };
        let mut previous = Previous::open(&folder)?.ok_or_else(missing_index)?;
        let mut texts = Texts::of(&previous, encoder);
        let n_known = texts.take_over(&previous, encoder, known);
        let store = previous.generation.store();
        let number = previous.generation.manifest.generation;
        let store = store.map_err(|error| folder.error_of(Some(number), error))?;
        let waiting = std::mem::take(&mut texts.waiting);
        let (mut n_encoded, mut n_committed) = (0, 0);
        let is_other = is_other(&previous, encoder);
        for skills in waiting.chunks(N_AT_A_TIME) {
            let read = |error| folder.error_of(Some(number), error);
            let bodies = read_texts(&previous, &store, skills).map_err(read)?;
            let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
            for (skill, vector) in skills.iter().zip(vectors::encode(encoder, &bodies)?) {
                texts.vectors.add(skill.1, VectorRow::of(VectorKind::Int8, &[vector]));
            }
            n_encoded += skills.len();
            let step = progress(n_encoded, waiting.len());
            if step != EncodeStep::Continue && n_encoded < waiting.len() {
                texts.commit(&folder, &lock, &mut previous)?;
                n_committed = n_encoded;
            }
            if step == EncodeStep::Stop {
                break;
            }
        }
        if n_encoded > n_committed || n_committed == 0 && (n_known > 0 || is_other) {
            texts.commit(&folder, &lock, &mut previous)?;
        }
        Ok(EncodeReport { n_encoded, n_known, n_missing: waiting.len() - n_encoded })
    }
}

/// The vectors of whole texts, and what lacks one.
struct Texts {
    /// The slot of each skill, in the order of the table.
    slots: Vec<Slot>,
    vectors: TextVectors,
    waiting: Vec<(SkillIdx, Slot)>,
}

impl Texts {
    fn of(previous: &Previous, encoder: &dyn Encoder) -> Self {
        let mut vectors = TextVectors::new(encoder.identity().clone());
        let (mut slots, mut waiting) = (Vec::new(), Vec::new());
        for (idx, slot) in (0..).map(SkillIdx).zip(previous.slots()) {
            slots.push(slot);
            match previous.text_vector(idx, encoder.identity()) {
                Some(row) => vectors.add(slot, row),
                None => waiting.push((idx, slot)),
            }
        }
        Self { slots, vectors, waiting }
    }

    /// Takes over the vectors of texts that another index holds; returns how many.
    fn take_over(
        &mut self,
        previous: &Previous,
        encoder: &dyn Encoder,
        known: Option<&Index>,
    ) -> usize {
        let Some(known) = known else { return 0 };
        let rows = known.text_vectors_by_hash(encoder.identity());
        let (n_before, mut waiting) = (self.waiting.len(), Vec::new());
        for (idx, slot) in std::mem::take(&mut self.waiting) {
            match previous.table.hash(idx).and_then(|hash| rows.get(&hash)) {
                Some(row) => self.vectors.add(slot, row.clone()),
                None => waiting.push((idx, slot)),
            }
        }
        self.waiting = waiting;
        n_before - self.waiting.len()
    }

    /// Makes a generation that has the vectors so far.
    fn commit(
        &self,
        folder: &IndexFolder,
        lock: &WriterLock,
        previous: &mut Previous,
    ) -> Result<()> {
        let draft = Draft::start(folder, lock)?;
        let mut manifest = previous.generation.manifest.clone();
        manifest.files.remove(TRANSFORMER);
        for name in manifest.files.keys() {
            let to = draft.path.join(name);
            if let Some(parent) = to.parent() {
                std::fs::create_dir_all(parent).map_err(files::write_error(parent))?;
            }
            files::link_or_copy(&previous.generation.path.join(name), &to)?;
        }
        manifest.transformer = Some(self.vectors.write_slots(&draft.path, &self.slots)?);
        draft.commit(manifest, Kept::BeforePrevious)?;
        *previous = Previous::open(folder)?.expect("a generation was just committed");
        Ok(())
    }
}

/// Returns whether the index is of another transformer, or of none.
fn is_other(previous: &Previous, encoder: &dyn Encoder) -> bool {
    let found = previous.generation.manifest.transformer.as_ref();
    found.map(|found| &found.encoder) != Some(encoder.identity())
}

/// Returns what the transformer reads of skills.
fn read_texts(
    previous: &Previous,
    store: &Store,
    skills: &[(SkillIdx, Slot)],
) -> Result<Vec<String>, PartError> {
    let path = &previous.generation.path;
    let mut decompressor =
        Decompressor::new().map_err(|source| PartError::of_io("store", path, source))?;
    let mut texts = Vec::with_capacity(skills.len());
    for (idx, _) in skills {
        let address = previous.table.address(*idx).ok_or_else(|| SkillTable::bad_row(*idx))?;
        let text = store.read(address, &mut decompressor)?;
        texts.push(whole_text(&text.name, &text.description, &text.body));
    }
    Ok(texts)
}

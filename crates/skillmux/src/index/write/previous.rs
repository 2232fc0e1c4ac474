//! [`Previous`]: the generation that an update builds upon.

use rustc_hash::FxHashMap;

use super::options::UpdateOptions;
use crate::{
    error::Result,
    index::{
        damage::PartError,
        folder::IndexFolder,
        generation::Generation,
        lexical::FieldCaps,
        manifest::{Check, IndexManifest},
        table::{Row, SkillIdx, SkillTable, Slot},
        vectors::{N_PARTS, VectorRow, Vectors},
    },
    model::EncoderIdentity,
    skill::ContentHash,
};

/// An index with more freed slots than this times its skills is rebuilt from scratch.
const MAX_SLOTS_PER_SKILL: u64 = 4;

/// The generation that an update builds upon.
pub(super) struct Previous {
    pub(super) generation: Generation,
    pub(super) table: SkillTable,
    vectors: Option<Vectors<N_PARTS>>,
    text_vectors: Option<Vectors<1>>,
    by_hash: FxHashMap<ContentHash, SkillIdx>,
}

impl Previous {
    /// Opens the current generation, if there is one.
    pub(super) fn open(folder: &IndexFolder) -> Result<Option<Self>> {
        if folder.current()?.is_none() {
            return Ok(None);
        }
        folder.open_current(Self::of).map(Some)
    }

    fn of(generation: Generation) -> Result<Self, PartError> {
        generation.check(Check::Open)?;
        let table = generation.table()?;
        let vectors = generation.vectors()?;
        let text_vectors = generation.text_vectors()?;
        let mut by_hash = FxHashMap::default();
        for idx in table.skills() {
            let hash = table.hash(idx).ok_or_else(|| SkillTable::bad_row(idx))?;
            by_hash.insert(hash, idx);
        }
        Ok(Self { generation, table, vectors, text_vectors, by_hash })
    }

    /// Returns whether an update of it gives what a rebuild gives.
    pub(super) fn can_be_built_upon(&self, options: &UpdateOptions) -> bool {
        let IndexManifest { field_caps, encoder, vectors, .. } = &self.generation.manifest;
        let given = options.encoder.as_ref().map(|encoder| encoder.identity());
        // Texts that were indexed under other caps, or encoded otherwise, would stay as they are.
        *field_caps == FieldCaps::default()
            && encoder.as_ref() == given
            && options.vectors.is_none_or(|kind| kind == *vectors)
    }

    /// Returns whether it is mostly slots that were freed.
    pub(super) fn is_worn_out(&self) -> bool {
        let allowed = u64::from(self.table.n_skills()) * MAX_SLOTS_PER_SKILL + 1000;
        u64::from(self.table.n_slots()) > allowed
    }

    /// Returns where it holds a text.
    pub(super) fn position(&self, hash: &ContentHash) -> Option<SkillIdx> {
        self.by_hash.get(hash).copied()
    }

    /// Returns the vector of a whole text, if it was made by this transformer.
    pub(super) fn text_vector(
        &self,
        idx: SkillIdx,
        transformer: &EncoderIdentity,
    ) -> Option<VectorRow<1>> {
        let found = self.generation.manifest.transformer.as_ref()?;
        let vectors = self.text_vectors.as_ref().filter(|_| found.encoder == *transformer)?;
        vectors.row(idx).filter(|row| !row.is_missing())
    }

    /// Returns the row and the vectors of a text that it holds.
    pub(super) fn find(&self, idx: SkillIdx) -> Option<(Row, Option<VectorRow<N_PARTS>>)> {
        let vector_row = match &self.vectors {
            Some(vectors) => Some(vectors.row(idx)?),
            None => None,
        };
        Some((self.table.row(idx)?, vector_row))
    }

    /// Returns the slots of all its texts.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> {
        (0..self.table.n_skills()).filter_map(|idx| self.table.slot(SkillIdx(idx)))
    }

    /// Returns whether it has exactly these rows.
    pub(super) fn has_rows(&self, rows: &[Row]) -> bool {
        let idxs = (0..).map(SkillIdx);
        self.table.n_skills() as usize == rows.len()
            && idxs.zip(rows).all(|(idx, row)| self.table.row(idx).as_ref() == Some(row))
    }
}

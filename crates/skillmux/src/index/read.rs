//! [`Index`]: one generation, open for reading.

use std::{cmp::Ordering, collections::BTreeSet, path::Path, sync::OnceLock};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{
    current::Current,
    damage::{Damage, PartError},
    files,
    folder::IndexFolder,
    generation::Generation,
    layout::TABLE,
    lexical::{Field, LexicalReader, TermPostings},
    manifest::{Check, IndexManifest},
    sketch::Sketch,
    store::{Decompressor, Headline, Store, StoredText},
    table::{Origins, SkillIdx, SkillTable, Slot},
    vectors::{N_PARTS, VectorRow, Vectors},
};
use crate::{
    error::{Error, Result},
    library::{Background, Provenance},
    model::{Encoder, EncoderIdentity},
    skill::{ContentHash, NodeTree, Skill, SkillId, risk::Risks},
};

/// Ids offered instead of an unknown one.
const MAX_NEAREST: usize = 3;

/// Nothing is similar to a longer id, in bytes: the comparison takes time by its length, for each
/// skill.
const MAX_NEAREST_BYTES: usize = 1_000;

/// Ids less similar than this (Jaro-Winkler, in `[0, 1]`) are not offered.
const MIN_NEAREST_SIMILARITY: f64 = 0.8;

/// Skills that one thread reads at a time, where all are read.
const N_READ_TOGETHER: usize = 256;

/// One generation of an index, open for reading. It never changes while it is open, and any
/// number of threads and processes can read it at once.
pub struct Index {
    folder: IndexFolder,
    generation: Generation,
    table: SkillTable,
    store: Store,
    lexical: LexicalReader,
    vectors: Option<Vectors<N_PARTS>>,
    text_vectors: Option<Vectors<1>>,
    headline_words: OnceLock<Vec<String>>,
}

/// A skill as the index holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexedSkill {
    /// The skill.
    pub skill: Skill,
    /// Where it comes from.
    pub background: Background,
    /// What speaks against it.
    pub risks: Risks,
    /// Exact duplicates that were merged into it.
    pub copies: Vec<Provenance>,
    /// Its body, split for paging.
    pub nodes: NodeTree,
}

impl Index {
    /// Opens the current generation of the index in a folder.
    ///
    /// # Errors
    /// [`Error::IndexMissing`], [`Error::IndexForeign`], [`Error::IndexFormat`],
    /// [`Error::IndexCorrupt`] with the previous generation if that is whole, [`Error::Read`] where
    /// the system does not let a file be read, and [`Error::IndexLocked`] while writers commit
    /// faster than it can be opened.
    pub fn open(path: &Path) -> Result<Self> {
        let folder = IndexFolder::new(path);
        folder.open_current(|generation| Self::open_parts(folder.clone(), generation))
    }

    fn open_parts(folder: IndexFolder, generation: Generation) -> Result<Self, PartError> {
        generation.check(Check::Open)?;
        let table = generation.table()?;
        let vectors = generation.vectors()?;
        let text_vectors = generation.text_vectors()?;
        let store = generation.store()?;
        let skill_of_slot = skills_by_slot(&table)?;
        let skill_of = |Slot(slot): Slot| skill_of_slot.get(slot as usize).copied().flatten();
        let lexical = LexicalReader::open(&generation.path, skill_of)?;
        let headline_words = OnceLock::new();
        Ok(Self {
            folder,
            generation,
            table,
            store,
            lexical,
            vectors,
            text_vectors,
            headline_words,
        })
    }

    /// Returns what the generation was made with.
    pub fn manifest(&self) -> &IndexManifest {
        &self.generation.manifest
    }

    /// Returns the folder of the index.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the number of skills.
    pub fn n_skills(&self) -> usize {
        self.table.n_skills() as usize
    }

    /// Returns all skills, in the order of their ids.
    pub fn skills(&self) -> impl Iterator<Item = SkillIdx> + use<> {
        self.table.skills()
    }

    /// Returns whether this is still the current generation of its folder.
    pub fn is_current(&self) -> Result<bool> {
        Ok(self.current()?.is_some_and(|current| current == *self.generation.name()))
    }

    /// Returns which generation of the folder is the current one.
    pub(crate) fn current(&self) -> Result<Option<Current>> {
        self.folder.current()
    }

    /// Returns whether this and another one are the same generation of one folder. Its number alone
    /// does not tell: after [`restore`](Self::restore) it is given again.
    pub fn is_same(&self, other: &Self) -> bool {
        self.path() == other.path() && self.generation.name() == other.generation.name()
    }

    /// Compares every byte of the generation with what was written.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`] says which file differs, [`Error::Read`] which one cannot be read.
    pub fn verify(&self) -> Result<()> {
        self.generation.check(Check::Full).map_err(|error| self.error_of(error))
    }

    /// Makes the newest whole generation before the current one the current one, and returns its
    /// number, or `None` if there is none.
    ///
    /// # Errors
    /// [`Error::IndexMissing`], [`Error::IndexForeign`] and [`Error::IndexLocked`]; [`Error::Read`]
    /// if none is known to be whole because the system does not let one be read.
    pub fn restore(path: &Path) -> Result<Option<u64>> {
        let folder = IndexFolder::new(path);
        if folder.current().is_ok_and(|current| current.is_none()) {
            return Err(Error::IndexMissing { path: path.to_owned() });
        }
        let lock = folder.lock()?;
        folder.restore(&lock)
    }

    /// Removes the index at `path`, with its folder and all generations.
    ///
    /// An [`Index`] that is open may still be used where the system lets files be removed that
    /// somebody reads.
    ///
    /// # Errors
    /// [`Error::IndexForeign`] if the folder holds anything else, [`Error::IndexLocked`] while
    /// another process writes, [`Error::IndexMissing`], and errors of reading or writing.
    pub fn remove(path: &Path) -> Result<()> {
        if !path.is_dir() {
            return Err(Error::IndexMissing { path: path.to_owned() });
        }
        let folder = IndexFolder::new(path);
        // Before the lock, which writes a file into the folder.
        folder.refuse_others()?;
        let lock = folder.lock()?;
        folder.remove(&lock)
    }

    /// Returns the position of a skill.
    ///
    /// # Errors
    /// [`Error::SkillUnknown`] with ids that look alike, and [`Error::IndexCorrupt`].
    pub fn find(&self, id: &SkillId) -> Result<SkillIdx> {
        self.search(id)?.map_err(|_| self.unknown(id))
    }

    /// Returns the error of an id that no skill has. It looks at every skill for ids that look
    /// alike.
    pub(crate) fn unknown(&self, id: &SkillId) -> Error {
        Error::SkillUnknown { id: id.clone(), nearest: self.nearest(id) }
    }

    /// Returns the position of a skill; where there is none, that of the first one with a greater
    /// id, in `Err`. Unlike [`find`](Self::find), it looks for no ids that look alike.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn search(&self, id: &SkillId) -> Result<Result<SkillIdx, SkillIdx>> {
        self.table.search(id.as_str()).map_err(|damage| self.corrupt(&damage))
    }

    /// Returns the id of a skill.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn id(&self, idx: SkillIdx) -> Result<SkillId> {
        self.table.id(idx).map(SkillId::new).ok_or_else(|| self.bad_row(idx))
    }

    /// Returns the ids of all skills, in order.
    pub fn ids(&self) -> impl Iterator<Item = Result<SkillId>> {
        self.skills().map(|idx| self.id(idx))
    }

    /// Returns the id of a skill, and those of the exact duplicates that were merged into it.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn all_ids(&self, idx: SkillIdx) -> Result<Vec<SkillId>> {
        let row = self.table.row(idx).ok_or_else(|| self.bad_row(idx))?;
        let copies = row.origins.copies.into_iter().map(|copy| copy.id);
        Ok(std::iter::once(row.id).chain(copies).collect())
    }

    /// Returns the skill into which an exact duplicate of this id was merged; `None` if there is no
    /// such. It looks at every skill.
    pub(crate) fn original_of(&self, id: &SkillId) -> Result<Option<SkillId>> {
        for idx in self.skills() {
            let origins = self.table.origins(idx).ok_or_else(|| self.bad_row(idx))?;
            if origins.copies.iter().any(|copy| copy.id == *id) {
                return self.id(idx).map(Some);
            }
        }
        Ok(None)
    }

    /// Returns where a skill comes from.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn background(&self, idx: SkillIdx) -> Result<Background> {
        let origins = self.table.origins(idx).ok_or_else(|| self.bad_row(idx))?;
        Ok(origins.background)
    }

    /// Returns [`Skill::source`] of a skill.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn source(&self, idx: SkillIdx) -> Result<String> {
        let origins = self.table.origins(idx).ok_or_else(|| self.bad_row(idx))?;
        Ok(origins.source)
    }

    /// Returns the hash of name, description and body of a skill.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn content_hash(&self, idx: SkillIdx) -> Result<ContentHash> {
        self.table.hash(idx).ok_or_else(|| self.bad_row(idx))
    }

    /// Returns what speaks against a skill.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn risks(&self, idx: SkillIdx) -> Result<Risks> {
        self.table.risks(idx).ok_or_else(|| self.bad_row(idx))
    }

    /// Reads a skill from the store.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn skill(&self, idx: SkillIdx) -> Result<IndexedSkill> {
        let row = self.table.row(idx).ok_or_else(|| self.bad_row(idx))?;
        let text = self.store.read(row.address, &mut self.decompressor()?);
        let StoredText { name, description, body, nodes } =
            text.map_err(|damage| self.corrupt(&damage))?;
        let Origins { source, background, copies } = row.origins;
        let skill = Skill { id: row.id, name, description, body, source };
        Ok(IndexedSkill { skill, background, risks: row.risks, copies, nodes })
    }

    /// Returns the words in English letters that names and descriptions have: small, each once, in
    /// order. The first call reads all skills, so ask it of small libraries only.
    pub(crate) fn headline_words(&self) -> Result<&[String]> {
        if let Some(words) = self.headline_words.get() {
            return Ok(words);
        }
        let skills: Vec<SkillIdx> = self.skills().collect();
        let words_of = |skills: &[SkillIdx]| -> Result<BTreeSet<String>> {
            let mut words = BTreeSet::new();
            for idx in skills {
                let Headline { name, description } = self.headline(*idx)?;
                for text in [name, description] {
                    let all = text.split(|c: char| !c.is_ascii_alphabetic());
                    words.extend(all.filter(|word| !word.is_empty()).map(str::to_ascii_lowercase));
                }
            }
            Ok(words)
        };
        let parts: Vec<_> =
            skills.par_chunks(N_READ_TOGETHER).map(words_of).collect::<Result<_>>()?;
        let words: BTreeSet<String> = parts.into_iter().flatten().collect();
        Ok(self.headline_words.get_or_init(|| words.into_iter().collect()))
    }

    /// Returns the name and the description of a skill.
    pub(crate) fn headline(&self, idx: SkillIdx) -> Result<Headline<'_>> {
        let address = self.table.address(idx).ok_or_else(|| self.bad_row(idx))?;
        self.store.headline(address).map_err(|damage| self.corrupt(&damage))
    }

    /// Returns what unpacks texts, for which there may be too little memory.
    fn decompressor(&self) -> Result<Decompressor> {
        Decompressor::new().map_err(files::read_error(&self.generation.path))
    }

    /// Returns the estimated share of four-word sequences that two bodies have in common, in `[0,
    /// 1]`.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn similarity(&self, a: SkillIdx, b: SkillIdx) -> Result<f32> {
        Ok(self.sketch(a)?.similarity(&self.sketch(b)?))
    }

    /// Returns the inverse document frequency of the term that has these postings.
    ///
    /// The number of skills that hold it is taken from the field in which it is most frequent;
    /// counting skills that hold it in any field would cost a second pass, and differs little.
    pub(crate) fn idf_of(&self, postings: &[TermPostings<'_>; 3]) -> f32 {
        self.rarity(postings.iter().map(|postings| postings.n_skills).max().unwrap_or(0))
    }

    /// Returns the inverse document frequency of a term over bodies alone, which is cheaper.
    ///
    /// # Errors
    /// [`Error::IndexCorrupt`].
    pub fn body_idf(&self, term: &str) -> Result<f32> {
        let n_skills = self.lexical.n_with_body_term(term);
        Ok(self.rarity(n_skills.map_err(|error| self.error_of(error))?))
    }

    /// Returns `ln(1 + (N - n + ½) / (n + ½))` for `N` skills of which `n` hold the term (Robertson
    /// and Zaragoza 2009, §3.3, kept positive).
    fn rarity(&self, n_skills_with_term: u32) -> f32 {
        let n = self.table.n_skills() as f32;
        let with = n_skills_with_term as f32;
        (1.0 + (n - with + 0.5) / (with + 0.5)).ln()
    }

    /// Returns the fingerprint of a skill's body.
    pub(crate) fn sketch(&self, idx: SkillIdx) -> Result<Sketch> {
        self.table.sketch(idx).ok_or_else(|| self.bad_row(idx))
    }

    pub(crate) fn lexical(&self) -> &LexicalReader {
        &self.lexical
    }

    /// Returns the vectors of the skills, after a check that they are of this encoder.
    ///
    /// # Errors
    /// [`Error::EncoderMismatch`].
    pub(crate) fn vectors_of(&self, encoder: &dyn Encoder) -> Result<&Vectors<N_PARTS>> {
        let found = self.manifest().encoder.as_ref();
        match &self.vectors {
            Some(vectors) if found == Some(encoder.identity()) => Ok(vectors),
            _ => Err(Error::EncoderMismatch {
                path: self.path().to_owned(),
                found: found.cloned().map(Box::new),
                given: Box::new(encoder.identity().clone()),
            }),
        }
    }

    /// Returns whether every skill has a vector of its text by this transformer.
    pub fn is_encoded_by(&self, transformer: &EncoderIdentity) -> bool {
        let found = self.manifest().transformer.as_ref();
        found.is_some_and(|found| found.encoder == *transformer && found.n_missing == 0)
    }

    /// Returns the vectors that a transformer made of whole texts, by the hash of the skill.
    pub(crate) fn text_vectors_by_hash(
        &self,
        transformer: &EncoderIdentity,
    ) -> FxHashMap<ContentHash, VectorRow<1>> {
        let found = self.manifest().transformer.as_ref();
        let is_same = found.is_some_and(|found| found.encoder == *transformer);
        let Some(vectors) = self.text_vectors.as_ref().filter(|_| is_same) else {
            return FxHashMap::default();
        };
        let skills = self.skills();
        let row = |idx| Some((self.table.hash(idx)?, vectors.row(idx)?));
        skills.filter_map(row).filter(|(_, row)| !row.is_missing()).collect()
    }

    /// Returns the vectors of whole texts by a transformer, if every skill has one.
    pub(crate) fn text_vectors_of(&self, transformer: &dyn Encoder) -> Option<&Vectors<1>> {
        let is_whole = self.is_encoded_by(transformer.identity());
        self.text_vectors.as_ref().filter(|_| is_whole)
    }

    /// Returns the postings of a term in each field.
    pub(crate) fn postings(&self, term: &str) -> Result<[TermPostings<'_>; 3]> {
        let [name, description, body] = Field::ALL.map(|field| self.lexical.postings(field, term));
        let wrap = |error| self.error_of(error);
        Ok([name.map_err(wrap)?, description.map_err(wrap)?, body.map_err(wrap)?])
    }

    pub(crate) fn named(&self, key: &str) -> Result<Vec<SkillIdx>> {
        self.lexical.named(key).map_err(|error| self.error_of(error))
    }

    fn bad_row(&self, idx: SkillIdx) -> Error {
        self.corrupt(&SkillTable::bad_row(idx))
    }

    fn corrupt(&self, damage: &Damage) -> Error {
        self.folder.corrupt(Some(self.generation.manifest.generation), damage)
    }

    fn error_of(&self, error: PartError) -> Error {
        self.folder.error_of(Some(self.generation.manifest.generation), error)
    }

    /// Returns ids that look like `id`, best first.
    fn nearest(&self, id: &SkillId) -> Vec<SkillId> {
        if id.as_str().len() > MAX_NEAREST_BYTES {
            return Vec::new();
        }
        let wanted = id.as_str().to_lowercase();
        let mut found: Vec<(f64, &str)> = (0..self.table.n_skills())
            .filter_map(|idx| self.table.id(SkillIdx(idx)))
            .map(|id| (alikeness(&wanted, &id.to_lowercase()), id))
            .filter(|(alike, _)| *alike >= MIN_NEAREST_SIMILARITY)
            .collect();
        let best_first = |a: &(f64, &str), b: &(f64, &str)| -> Ordering {
            b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1))
        };
        found.sort_unstable_by(best_first);
        found.truncate(MAX_NEAREST);
        found.into_iter().map(|(_, id)| SkillId::new(id)).collect()
    }
}

/// Compares whole ids, and their last parts, by which people remember a skill.
fn alikeness(wanted: &str, id: &str) -> f64 {
    strsim::jaro_winkler(wanted, id).max(strsim::jaro_winkler(last_part(wanted), last_part(id)))
}

fn last_part(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or_default()
}

/// Returns the skill of each slot.
fn skills_by_slot(table: &SkillTable) -> Result<Vec<Option<SkillIdx>>, Damage> {
    let mut skill_of_slot = vec![None; table.n_slots() as usize];
    for idx in table.skills() {
        let place = table.slot(idx).and_then(|Slot(slot)| skill_of_slot.get_mut(slot as usize));
        match place {
            Some(place) => *place = Some(idx),
            None => return Err(Damage::new(TABLE, format!("has no slot in row {}", idx.0))),
        }
    }
    Ok(skill_of_slot)
}

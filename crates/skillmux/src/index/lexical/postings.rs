//! Reads postings, lengths and frequencies.

use std::path::{Path, PathBuf};

use tantivy::{
    SegmentReader, TantivyError, Term, postings::BlockSegmentPostings, schema::IndexRecordOption,
};

use super::{
    failure::part_error,
    field::Field,
    schema::{Fields, schema},
};
use crate::index::{
    damage::PartError,
    layout::LEXICAL,
    table::{SkillIdx, Slot},
};

/// Reads the postings of one generation.
pub(crate) struct LexicalReader {
    path: PathBuf,
    segments: Vec<Segment>,
    fields: Fields,
    n_documents: u32,
    average_lengths: [f32; 3],
}

/// One segment of the postings.
pub(crate) struct Segment {
    reader: SegmentReader,
    /// Position of the first document of the segment among the documents of all segments.
    base: u32,
    /// Skill of each document; `None` where it was deleted.
    skills: Vec<Option<SkillIdx>>,
    /// Quantised length of each document, by field.
    length_ids: [Vec<u8>; 3],
}

/// Documents that hold a term.
#[derive(Clone)]
pub(crate) struct TermPostings<'a> {
    segments: Vec<(&'a Segment, BlockSegmentPostings)>,
    /// Number of skills that hold the term, without deleted ones.
    pub(crate) n_skills: u32,
}

impl LexicalReader {
    /// Opens the lexical index of the generation in `folder`; `skill_of` tells the skill that has a
    /// slot.
    pub(crate) fn open(
        folder: &Path,
        skill_of: impl Fn(Slot) -> Option<SkillIdx>,
    ) -> Result<Self, PartError> {
        let path = folder.join(LEXICAL);
        Self::open_at(&path, skill_of).map_err(|source| part_error(&path, source))
    }

    fn open_at(
        path: &Path,
        skill_of: impl Fn(Slot) -> Option<SkillIdx>,
    ) -> Result<Self, TantivyError> {
        let index = tantivy::Index::open_in_dir(path)?;
        let (expected, fields) = schema();
        if index.schema() != expected {
            return Err(TantivyError::SchemaError("another schema".to_owned()));
        }
        let mut segments = Vec::new();
        let mut base = 0;
        for segment in index.searchable_segments()? {
            let reader = SegmentReader::open(&segment)?;
            let max_doc = reader.max_doc();
            segments.push(Segment::read(reader, base, fields, &skill_of)?);
            base += max_doc;
        }
        let path = path.to_owned();
        let average_lengths = [0.0; 3];
        let mut lexical = Self { path, segments, fields, n_documents: base, average_lengths };
        lexical.average_lengths = Field::ALL.map(|field| lexical.average_length(field));
        Ok(lexical)
    }

    /// Returns the number of documents, deleted ones included: the size of a score accumulator.
    pub(crate) fn n_documents(&self) -> usize {
        self.n_documents as usize
    }

    /// Returns the mean length of a field in terms, over the skills that are not deleted.
    pub(crate) fn average_len(&self, field: Field) -> f32 {
        self.average_lengths[field.position()]
    }

    /// Returns the skill of each document, in document order.
    pub(crate) fn skills(&self) -> impl Iterator<Item = Option<SkillIdx>> {
        self.segments.iter().flat_map(|segment| segment.skills.iter().copied())
    }

    /// Returns the quantised length of a field of a document; 0 if there is no such document.
    pub(crate) fn length_id(&self, field: Field, document: usize) -> u8 {
        let after = self.segments.partition_point(|segment| segment.base() <= document);
        let segment = after.checked_sub(1).and_then(|at| self.segments.get(at));
        let length =
            |segment: &Segment| segment.length_ids(field).get(document - segment.base()).copied();
        segment.and_then(length).unwrap_or(0)
    }

    /// Returns the documents whose field holds a term.
    pub(crate) fn postings(&self, field: Field, term: &str) -> Result<TermPostings<'_>, PartError> {
        self.term_postings(&Term::from_field_text(self.fields.text[field.position()], term))
    }

    /// Returns the number of skills whose body holds a term, without deleted ones.
    pub(crate) fn n_with_body_term(&self, term: &str) -> Result<u32, PartError> {
        let term = Term::from_field_text(self.fields.text[Field::Body.position()], term);
        if self.segments.iter().any(|segment| segment.reader.has_deletes()) {
            return Ok(self.term_postings(&term)?.n_skills);
        }
        let count = |segment: &Segment| -> Result<u32, TantivyError> {
            Ok(segment.reader.inverted_index(term.field())?.doc_freq(&term)?)
        };
        let counts = self.segments.iter().map(count);
        counts.sum::<Result<u32, _>>().map_err(|source| part_error(&self.path, source))
    }

    /// Returns the skills whose name has this key, in `SkillIdx` order.
    pub(crate) fn named(&self, key: &str) -> Result<Vec<SkillIdx>, PartError> {
        let mut named = Vec::new();
        let mut postings = self.term_postings(&Term::from_field_text(self.fields.name_key, key))?;
        postings.for_each_block(|segment, documents, _| {
            named.extend(documents.iter().filter_map(|document| segment.skill(*document)));
        });
        named.sort_unstable();
        Ok(named)
    }

    fn term_postings(&self, term: &Term) -> Result<TermPostings<'_>, PartError> {
        self.find_postings(term).map_err(|source| part_error(&self.path, source))
    }

    fn find_postings(&self, term: &Term) -> Result<TermPostings<'_>, TantivyError> {
        let mut found = TermPostings { segments: Vec::new(), n_skills: 0 };
        for segment in &self.segments {
            let inverted = segment.reader.inverted_index(term.field())?;
            let Some(info) = inverted.get_term_info(term)? else { continue };
            let read =
                || inverted.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs);
            found.n_skills +=
                if segment.reader.has_deletes() { segment.n_alive(read()?) } else { info.doc_freq };
            found.segments.push((segment, read()?));
        }
        Ok(found)
    }

    fn average_length(&self, field: Field) -> f32 {
        let mut n_terms = 0_u64;
        let mut n_skills = 0_u64;
        for segment in &self.segments {
            let lengths = &segment.length_ids[field.position()];
            for (skill, length_id) in segment.skills.iter().zip(lengths) {
                if skill.is_some() {
                    n_terms += u64::from(length_of(*length_id));
                    n_skills += 1;
                }
            }
        }
        n_terms as f32 / n_skills.max(1) as f32
    }
}

/// Returns the length that a quantised length stands for.
pub(crate) fn length_of(length_id: u8) -> u32 {
    tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(length_id)
}

/// Returns the quantised length of a field with `n_terms` terms.
pub(crate) fn length_id_of(n_terms: u32) -> u8 {
    tantivy::fieldnorm::FieldNormReader::fieldnorm_to_id(n_terms)
}

impl Segment {
    fn read(
        reader: SegmentReader,
        base: u32,
        fields: Fields,
        skill_of: &impl Fn(Slot) -> Option<SkillIdx>,
    ) -> Result<Self, TantivyError> {
        let slots = reader.fast_fields().u64("slot")?;
        let alive = reader.alive_bitset();
        let skills = (0..reader.max_doc())
            .map(|document| {
                let slot = slots.first(document).and_then(|slot| u32::try_from(slot).ok())?;
                let is_alive = alive.is_none_or(|alive| alive.is_alive(document));
                is_alive.then(|| skill_of(Slot(slot))).flatten()
            })
            .collect();
        let mut length_ids = [const { Vec::new() }; 3];
        for (ids, field) in length_ids.iter_mut().zip(fields.text) {
            let lengths = reader.get_fieldnorms_reader(field)?;
            *ids = (0..reader.max_doc()).map(|document| lengths.fieldnorm_id(document)).collect();
        }
        Ok(Self { reader, base, skills, length_ids })
    }

    /// Returns the position of the segment's first document among those of all segments.
    pub(crate) fn base(&self) -> usize {
        self.base as usize
    }

    /// Returns the quantised lengths of a field, by document.
    pub(crate) fn length_ids(&self, field: Field) -> &[u8] {
        &self.length_ids[field.position()]
    }

    /// Returns the skill of a document; `None` where it was deleted, or where damaged postings,
    /// which are not hashed when they are large, name a document that is not there.
    fn skill(&self, document: u32) -> Option<SkillIdx> {
        self.skills.get(document as usize).copied().flatten()
    }

    fn n_alive(&self, mut postings: BlockSegmentPostings) -> u32 {
        let mut n_alive = 0;
        while postings.block_len() > 0 {
            for document in postings.docs() {
                n_alive += u32::from(self.skill(*document).is_some());
            }
            postings.advance();
        }
        n_alive
    }
}

impl TermPostings<'_> {
    /// Calls `f` with a segment and a block of its documents and their term frequencies.
    ///
    /// A block of damaged postings that names documents that are not there is passed over, so that
    /// `f` can index by document. Deleted documents are among them; the frequencies of a name key
    /// are meaningless.
    pub(crate) fn for_each_block(&mut self, mut f: impl FnMut(&Segment, &[u32], &[u32])) {
        for (segment, postings) in &mut self.segments {
            while postings.block_len() > 0 {
                let documents = postings.docs();
                // The maximum, for it costs no branch a document.
                let last = documents.iter().copied().fold(0, u32::max);
                if (last as usize) < segment.skills.len() {
                    f(segment, documents, postings.freqs());
                }
                postings.advance();
            }
        }
    }
}

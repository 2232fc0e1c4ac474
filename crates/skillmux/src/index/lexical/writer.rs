//! Adds and removes documents, and merges segments.

use std::path::{Path, PathBuf};

use tantivy::{
    IndexWriter, TantivyDocument, TantivyError, Term, directory::MmapDirectory, index::SegmentId,
    indexer::NoMergePolicy,
};

use super::{
    failure::write_error,
    field::{Field, FieldCaps},
    schema::{Fields, TOKENIZER, name_key, schema},
    tokenizer::TantivyTokenizer,
};
use crate::{error::Result, index::table::Slot, text::TermReader};

/// Adds and removes documents of one lexical index.
pub(crate) struct LexicalWriter {
    path: PathBuf,
    writer: IndexWriter,
    fields: Fields,
    caps: FieldCaps,
}

/// How much a lexical writer may use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WriterResources {
    /// Threads; 0 counts as 1.
    pub(crate) n_threads: usize,
    /// Memory over all threads; what is too little or too much for a thread is adjusted.
    pub(crate) memory_bytes: usize,
}

/// Least memory of a thread that tantivy 0.27 accepts (`MEMORY_BUDGET_NUM_BYTES_MIN`).
const MIN_THREAD_BYTES: usize = 15_000_000;

/// Most memory of a thread; tantivy 0.27 refuses about `u32::MAX` (`MEMORY_BUDGET_NUM_BYTES_MAX`).
const MAX_THREAD_BYTES: usize = 4_000_000_000;

/// A segment in which more than this share of documents is deleted is rewritten.
const MAX_DELETED_SHARE: f32 = 0.2;

/// More segments than this are merged, all but the largest.
const MAX_SEGMENTS: usize = 8;

impl WriterResources {
    /// Returns threads, and memory over all of them, that tantivy accepts.
    fn adjusted(self) -> (usize, usize) {
        let n_threads = self.n_threads.max(1);
        let thread_bytes =
            (self.memory_bytes / n_threads).clamp(MIN_THREAD_BYTES, MAX_THREAD_BYTES);
        (n_threads, thread_bytes.saturating_mul(n_threads))
    }
}

impl LexicalWriter {
    /// Opens the lexical index in a folder, or starts one.
    pub(crate) fn open(path: &Path, caps: FieldCaps, resources: WriterResources) -> Result<Self> {
        let wrap = |source: TantivyError| write_error(path, source);
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(path).map_err(|e| wrap(e.into()))?;
        let index = tantivy::Index::open_or_create(directory, schema).map_err(wrap)?;
        let reader = TermReader::new();
        index.tokenizers().register(TOKENIZER, TantivyTokenizer { reader });
        let (n_threads, memory_bytes) = resources.adjusted();
        let writer = index.writer_with_num_threads(n_threads, memory_bytes).map_err(wrap)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { path: path.to_owned(), writer, fields, caps })
    }

    pub(crate) fn add(
        &mut self,
        slot: Slot,
        name: &str,
        description: &str,
        body: &str,
    ) -> Result<()> {
        let mut document = TantivyDocument::default();
        document.add_u64(self.fields.slot, u64::from(slot.0));
        document.add_text(self.fields.name_key, name_key(name));
        for (field, text) in Field::ALL.into_iter().zip([name, description, body]) {
            document.add_text(self.fields.text[field.position()], self.caps.capped(field, text));
        }
        let added = self.writer.add_document(document);
        added.map(drop).map_err(|error| {
            // A thread of the writer has ended; only a commit tells with which error.
            let cause = self.writer.commit().err();
            write_error(&self.path, cause.unwrap_or(error))
        })
    }

    pub(crate) fn remove(&self, slot: Slot) {
        self.writer.delete_term(Term::from_field_u64(self.fields.slot, u64::from(slot.0)));
    }

    /// Commits, merges what is worth merging, and closes the index.
    pub(crate) fn finish(mut self) -> Result<()> {
        let path = self.path.clone();
        let wrap = |source: TantivyError| write_error(&path, source);
        self.writer.commit().map_err(wrap)?;
        let segments = self.writer.index().searchable_segment_metas().map_err(wrap)?;
        let mut sizes: Vec<(u32, SegmentId)> =
            segments.iter().map(|segment| (segment.num_docs(), segment.id())).collect();
        sizes.sort_unstable();
        let stale = segments.iter().filter(|segment| {
            segment.num_deleted_docs() as f32 > MAX_DELETED_SHARE * segment.max_doc() as f32
        });
        let mut merge: Vec<SegmentId> = stale.map(tantivy::SegmentMeta::id).collect();
        if sizes.len() > MAX_SEGMENTS {
            merge = sizes[..sizes.len() - 1].iter().map(|(_, id)| *id).collect();
        }
        // tantivy keeps the files of every segment that someone still holds.
        drop(segments);
        if !merge.is_empty() {
            self.writer.merge(&merge).wait().map_err(wrap)?;
        }
        self.writer.garbage_collect_files().wait().map_err(wrap)?;
        self.writer.wait_merging_threads().map_err(wrap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_resources_open_a_writer() {
        for (n_threads, memory_bytes) in [(0, 0), (0, 16 << 20), (2, 1), (1, usize::MAX)] {
            let dir = tempfile::tempdir().unwrap();
            let resources = WriterResources { n_threads, memory_bytes };
            let writer = LexicalWriter::open(dir.path(), FieldCaps::default(), resources).unwrap();
            writer.finish().unwrap();
        }
    }
}
